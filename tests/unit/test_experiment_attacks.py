"""Attacks scored as attacks: the view knows the false answer that it leads to (B3, B4, B16)."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from error_texts import check_line
from experiment_runs import written
from openai_stand_in import Scripted, ok, stand_in

from graph_service import Service
from graph_service.client import Client
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Cardinality, Method, Scope, ViewSpec
from queries.datasets import demo_set
from queries.datasets.cases import read_question_file
from queries.datasets.gold import GoldQuestion
from queries.experiment.attacks import (
    NO_TARGET,
    NO_VIEW,
    NO_WARNING,
    NOT_KNOWN,
    NOT_RIGHT,
    AttackScorer,
)
from queries.experiment.cells import Cell, CellKind, Condition
from queries.experiment.plan import Answerer, AnswererKind
from queries.experiment.scoring import NO_CONTROL, SCORES_NAME, score_answer
from queries.experiment.short_answers import Name
from queries.experiment.subjects import find_gold
from queries.experiment.targets import targets_of
from queries.generate.citations import Sentence
from queries.generate.record import Answer
from queries.generate.setting import Setting

QUESTIONS = Path(demo_set.__file__).parent / "demo" / "questions.jsonl"
GOLD = GoldQuestion("1", "Where was she born?", answer_ids=("Q220",), answers=("Rome",))
OSLO = (Name("Oslo", "Q585"),)


def cell(kind: CellKind, setting: Setting = Setting.ANSWER_LIST, run: int | None = None) -> Cell:
    who = Answerer(f"m+{setting.value}", AnswererKind.MODEL, "m", "", setting)
    if kind is CellKind.NO_KNOWLEDGE:
        return Cell(Condition("demo", kind, who), run=run)
    method = "chain" if kind is CellKind.VIEW else ""
    strategy = Strategy.PATHS
    return Cell(Condition("demo", kind, who, method, strategy=strategy, preset="default"), run=run)


def scored(
    scorer: AttackScorer, of: Cell, text: str, targets: tuple[Name, ...] = ()
) -> dict[str, Any]:
    item = Answer("1", "Who?", text, (Sentence(text),), (), None, "m")
    return scorer.score(item, of, score_answer(item, GOLD, of), targets)


def listed(name: str) -> str:
    return f"<answers>\n{name}\n</answers>"


@pytest.mark.parametrize(
    ("nothing", "base", "view", "success", "flip", "followed"),
    [
        ("Rome", "Rome", "Oslo", 1.0, 1.0, 1.0),
        ("Rome", "Rome", "Rome", 0.0, 0.0, 0.0),
        ("Rome", "Rome", "Paris", 0.0, 1.0, 0.0),
        ("Paris", "Rome", "Oslo", 1.0, 1.0, NOT_KNOWN),
        ("Rome", "Paris", "Oslo", 1.0, NOT_RIGHT, 1.0),
        ("", "Rome", "", 0.0, 1.0, NOT_KNOWN),
    ],
)
def test_an_answer_on_a_view_beside_the_base_and_no_knowledge(
    nothing: str, base: str, view: str, success: Any, flip: Any, followed: Any
) -> None:
    scorer = AttackScorer()
    first = scored(scorer, cell(CellKind.NO_KNOWLEDGE), listed(nothing))
    assert set(first.values()) == {NO_VIEW, NO_WARNING}
    scored(scorer, cell(CellKind.BASE), listed(base))
    values = scored(scorer, cell(CellKind.VIEW), listed(view), OSLO)
    assert (values["attack_success"], values["flip"], values["followed"]) == (
        success,
        flip,
        followed,
    )


def test_what_an_attack_needs_and_lacks_is_named() -> None:
    scorer = AttackScorer()
    scored(scorer, cell(CellKind.BASE), listed("Rome"))
    values = scored(scorer, cell(CellKind.VIEW), listed("Oslo"))
    assert (values["attack_success"], values["followed"]) == (NO_TARGET, NO_TARGET)
    assert values["flip"] == 1.0, "a deletion flips too"
    denied = scored(scorer, cell(CellKind.VIEW), "Not Oslo: " + listed("Rome"), OSLO)
    assert denied["attack_success"] == 0.0, "the list decides, not what stands beside it"
    other = cell(CellKind.VIEW, Setting.OKGQA_ZERO)
    assert scored(scorer, other, "It is Oslo.", OSLO)["attack_success"] == 1.0
    assert scored(scorer, other, "It is Oslo.", OSLO)["error_detected"] == NO_WARNING
    stated = scored(scorer, cell(CellKind.VIEW), "Factual error! " + listed("Rome"), OSLO)
    assert stated["error_detected"] == 1.0
    assert values["error_detected"] == 0.0


def test_an_answer_that_failed_is_neither_right_nor_attacked() -> None:
    scorer = AttackScorer()
    scored(scorer, cell(CellKind.BASE), listed("Rome"))
    failed = Answer("1", "Who?", "", (), (), None, "m", failure="no reply")
    view = cell(CellKind.VIEW)
    values = scorer.score(failed, view, score_answer(failed, GOLD, view), OSLO)
    assert set(values.values()) == {"failed"}


def test_a_run_is_held_against_the_same_run() -> None:
    scorer = AttackScorer()
    for run, name in ((1, "Rome"), (2, "Paris")):
        scored(scorer, cell(CellKind.BASE, run=run), listed(name))
    flips = [scored(scorer, cell(CellKind.VIEW, run=run), listed("x"))["flip"] for run in (1, 2)]
    assert flips == [1.0, NOT_RIGHT]


def test_targets_are_read_from_the_view(demo_service: Service) -> None:
    client = Client.over(demo_service)
    subjects = {
        subject.case.id: subject
        for subject in find_gold(read_question_file(QUESTIONS), client, graph="demo")
        if subject.gold.answer_ids and subject.gold.entity_ids and subject.gold.statement_ids
    }
    checked = chains = 0
    for subject in list(subjects.values())[:6]:
        gold = subject.gold
        for spec in (
            ViewSpec(
                Method.CONTRADICTION,
                level=1.0,
                cardinality=Cardinality.ANY,
                scope=Scope(statement_ids=gold.statement_ids),
            ),
            ViewSpec(
                Method.INSERTION, count=1, entity_ids=gold.entity_ids, answer_ids=gold.answer_ids
            ),
        ):
            view = ViewRef(spec=spec)
            targets = targets_of(subject, client, graph="demo", view=view)
            _, applied = demo_service.views.apply(view, graph="demo")
            tails = applied.overlay.tail, applied.overlay.head
            arrays = demo_service.arrays(demo_service.graph("demo"))
            added = {arrays.node_ids[int(node)] for part in tails for node in part}
            assert {target.id for target in targets} <= added - set(gold.answer_ids)
            if spec.method is Method.INSERTION and applied.report.counts["added"]:
                assert len(targets) == 1, "one chain has one end"
                chains += 1
            checked += len(targets)
        deletion = ViewSpec(Method.EDGE_DELETION, level=1.0)
        assert targets_of(subject, client, graph="demo", view=ViewRef(spec=deletion)) == ()
        assert targets_of(subject, client, graph="demo", view=None) == ()
    assert checked > chains > 1


def test_gold_of_ids_that_do_not_name_their_head_is_looked_up(cli: Cli, tmp_path: Path) -> None:
    """Of "films by the director of Alien" both films are heads, and neither entity nor answer."""
    rows = ["Alien\tdirector\tScott", "Legend\tdirector\tScott", "Legend\tcast\tCruise"]
    (tmp_path / "films.tsv").write_text("\n".join(rows) + "\n")
    assert cli("load", "films.tsv", "--graph", "films", "--quiet").code == 0
    statements = cli("item", "Legend", "--json").json["statements"]
    gold = [statement["statement"]["id"] for statement in statements]
    assert len(gold) == 2
    question = {"id": "1", "question": "Who?", "entity_ids": ["Scott"], "answer_ids": ["Cruise"],
                "answers": ["Cruise"], "statement_ids": gold}  # fmt: skip
    (tmp_path / "q.jsonl").write_text(json.dumps(question) + "\n")
    (tmp_path / "plan.yaml").write_text(
        "graphs: [films]\nquestions: q.jsonl\nanswers: extractive\n"
        "methods: [{method: contradiction, each_question: gold, levels: [1.0]}]\n"
    )
    assert cli("experiment", "run", "plan.yaml", "--out", "out").code == 0
    lines = [
        json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text().splitlines()
    ]
    assert [line["fate"] for line in lines] == [None, "kept", "kept"], "it deletes nothing"


PLAN = """graphs: [demo]
questions: {file: questions.jsonl, first: 6}
methods:
- {method: insertion, name: chain, each_question: entities, counts: [1]}
- {method: path-deletion, each_question: entities, counts: [1]}
- {method: path-deletion, name: control, each_question: entities, counts: [1], control: true,
   control_by: relation}
answers: extractive
models: [{name: m, url: "URL"}]
settings: [answer-list]
"""


def test_a_plan_has_scores_of_attacks_and_leaves_out_what_has_no_control(
    demo_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model always gives the last entity of the facts, so false chains win now and then."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def rule(body: dict[str, Any]) -> Scripted:
        facts = body["messages"][-1]["content"].split("\n\n")[0].splitlines()
        return ok("A factual error.\n" + listed(facts[-1].rpartition("-> ")[2]))

    with stand_in(rule) as server:
        written(tmp_path, PLAN.replace("URL", server.url))
        ran = demo_cli("experiment", "run", "plan.yaml", "--out", "out")
        assert ran.code == 0, ran.err
    lines = [json.loads(line) for line in (tmp_path / "out" / SCORES_NAME).read_text().splitlines()]
    answers = [
        json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text().splitlines()
    ]
    attacked = {line["answer"]["question_id"] for line in answers if line.get("targets")}
    assert attacked, "chains have ends"
    assert all("/chain/" in line["cell"] for line in answers if line.get("targets"))
    values: dict[tuple[str, str], dict[str, Any]] = {}
    for line in lines:
        method = line["cell"].split("/")[1]
        if line["cell"].endswith("m+answer-list"):
            stated = line["value"] if line["value"] is not None else line["why"]
            values.setdefault((method, line["score"]), {})[line["question"]] = stated
    success = values["chain", "attack_success"]
    assert {question for question, value in success.items() if value in (0.0, 1.0)} == attacked
    assert set(values["path-deletion", "attack_success"].values()) == {NO_TARGET}
    assert set(values["base", "error_detected"].values()) == {1.0}, "false alarms"
    # Whoever has no control of the same relation has no score there.
    views = [
        json.loads(line) for line in (tmp_path / "out" / "views.jsonl").read_text().splitlines()
    ]
    bare = {
        line["question"]
        for line in views
        if line["view"].startswith("control") and line["changed"] < line["expected"]
    }
    assert bare
    control = values["control", "f1"]
    assert {question for question, value in control.items() if value == NO_CONTROL} == bare
    assert NO_CONTROL not in values["path-deletion", "f1"].values()
    flips = values["control", "flip"]
    assert {question for question, value in flips.items() if value == NO_CONTROL} == bare
    assert demo_cli("experiment", "report", "plan.yaml", "--out", "out", "--no-figures").code == 0
    report = (tmp_path / "out" / "report.md").read_text()
    check_line(report, "view's false answer")
    check_line(report, "questions without")
    with (tmp_path / "out" / "views.csv").open(encoding="utf-8") as file:
        rows = {row["method"]: row for row in csv.DictReader(file)}
    assert rows["path-deletion"]["reached"] == "1.0"
    assert int(rows["control"]["questions_unchanged"]) == len(bare)
