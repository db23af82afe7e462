"""Plans of experiments: what a file asks, the cells of it, and errors with their lines (B4, S7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method
from queries.experiment.cells import cells_of
from queries.experiment.plan import Answerer, AnswererKind, Plan
from queries.experiment.plan_file import parse_plan, read_plan
from queries.experiment.scoring import SCORES
from queries.experiment.subjects import questions_of, split_questions
from queries.generate.setting import Setting

SMALL = "graphs: [demo]\nquestions: q.jsonl\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "q.jsonl").write_text('{"id": "1", "question": "Who?"}\n')
    (tmp_path / "p.jsonl").write_text('{"id": "9", "passages": "Ada sang."}\n')
    return tmp_path


def parsed(text: str, folder: Path) -> Plan:
    return parse_plan(text, source="plan.yaml", folder=folder, scores=SCORES)


def test_a_base_and_a_no_knowledge_cell_are_always_there_s7(folder: Path) -> None:
    plan = parsed(SMALL, folder)
    assert [cell.id for cell in cells_of(plan)] == [
        "demo/no-knowledge/verbaliser",
        "demo/no-knowledge/extractive",
        "demo/base/paths/default/verbaliser",
        "demo/base/paths/default/extractive",
    ]


def test_every_method_level_seed_strategy_preset_and_model_is_a_cell_s7(folder: Path) -> None:
    plan = parsed(
        SMALL
        + """
methods: [rr, {method: ed, counts: [4], random_seeds: [7], name: few gone}]
levels: [0.1, 0.3]
random_seeds: 0-1
strategies: [paths, subgraph]
presets: [default, okgqa]
answers: verbaliser
models: [m, {name: other, url: "http://localhost:1", settings: okgqa-cot}]
settings: [kalma]
generation: {temperature: 0.5}
""",
        folder,
    )
    cells = cells_of(plan)
    # 3 answerers; 2 strategies x 2 presets; the base and 2 levels x 2 seeds + 1 count x 1 seed.
    assert len(cells) == 3 + 3 * 4 * (1 + 5)
    assert len({cell.id for cell in cells}) == len(cells)
    assert cells[-1].id == "demo/few gone/n4/7/subgraph/okgqa/other+okgqa-cot"
    assert plan.views[0].specs[1].random_seed == 1
    assert [spec.level for spec in plan.views[0].specs] == [0.1, 0.1, 0.3, 0.3]
    assert plan.views[1].specs[0].method is Method.EDGE_DELETION
    assert plan.views[1].specs[0].level is None
    assert plan.strategies == (Strategy.PATHS, Strategy.SUBGRAPH)
    assert plan.answerers[2] == Answerer(
        "other+okgqa-cot", AnswererKind.MODEL, "other", "http://localhost:1", Setting.OKGQA_COT
    )
    assert plan.generation_of(Setting.KALMA).temperature == 0.5


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("graphs: [demo]\n", 1),
        ("graphs: []\nquestions: q.jsonl\n", 1),
        ("graphs: [demo]\nquestions: none.jsonl\n", 2),
        (SMALL + "methods: [{method: ed, levels: [1], each_question: yes}]\n", 3),
        (SMALL + "judges: [{score: talec}]\n", 3),
        (SMALL + "judges: [{score: bleu, model: m}]\n", 3),
        (SMALL + "judges: [{score: geval, model: m, method: joint}]\n", 3),
        (SMALL + "judges: [{score: talec, model: m, criteria: none.yaml}]\n", 3),
        (SMALL + "judges:\n- {score: talec, model: m}\n- {score: talec, model: n}\n", 5),
        (SMALL + "judges: [{score: geval, model: m, passages: p.jsonl}]\n", 3),
        (SMALL + "judges: [{score: safe, model: m, passages: none.jsonl}]\n", 3),
        (SMALL + "judges:\n- {score: safe, model: m,\n   passages: q.jsonl}\n", 5),
        (SMALL + "judges: [{score: factscore, model: m, passages: p.jsonl}]\n", 3),
        (SMALL + "method: rr\n", 3),
        (SMALL + "methods: [shuffle]\nlevels: [1]\n", 3),
        (SMALL + "methods: [rr]\n", 3),
        (SMALL + "methods: [rr]\nlevels: [0.1,\n  1.5]\n", 5),
        (SMALL + "methods: [rr]\nlevels: [0.1]\nrandom_seeds: 5-2\n", 5),
        (SMALL + "methods: [rr]\nlevels: [0.1]\nrandom_seeds: [1, 1]\n", 5),
        (SMALL + "methods: [rr, rr]\nlevels: [0.1]\n", 3),
        (SMALL + "methods: [{method: rr, scorrer: x}]\n", 3),
        (SMALL + "methods: [rr]\nlevels: [0.1]\nscope: {hops: a}\n", 4),
        (SMALL + "strategies: [path]\n", 3),
        (SMALL + "graphs: [b]\n", 3),
        (SMALL + "retrieval: {max_hops: many}\n", 3),
        (SMALL + "retrieval: {view: x}\n", 3),
        (SMALL + "settings: [kalma]\n", 3),
        (SMALL + "models: [m]\nsettings: [okgqa-ircot]\n", 4),
        (SMALL + "extractive: {min_score: 1, calibrate: {share: 0.5}}\n", 3),
        (SMALL + "extractive: {calibrate: {share: 1}}\n", 3),
        (SMALL + "scores: [f2]\n", 3),
        (SMALL + "budget: {requests: 0}\n", 3),
        (SMALL + "models: [m]\nbudget: {prices: {m: 2}}\n", 4),
        (SMALL + "models: [m]\nbudget: {prices: {m: {prompt: 2}}}\n", 4),
        (SMALL + "models: [m]\nbudget: {prices: {n: {prompt: 2, reply: 1}}}\n", 4),
        (SMALL + "generation: {temperature: 9}\n", 3),
        ("graphs: [demo\nquestions: q\n", 2),
    ],
)
def test_an_error_names_its_line(folder: Path, text: str, line: int) -> None:
    with raises(InputError) as caught:
        parsed(text, folder)
    assert caught.value.message.startswith(f"plan.yaml, line {line}"), caught.value.message


def test_files_are_found_from_the_plans_folder(folder: Path) -> None:
    (folder / "plan.yaml").write_text(SMALL)
    assert read_plan(folder / "plan.yaml").questions[0].path == folder / "q.jsonl"
    with raises(InputError):
        read_plan(folder / "other.yaml")


def test_questions_of_several_files_keep_apart(folder: Path) -> None:
    (folder / "r.txt").write_text("Q1\tP19\tQ2\twhere was Ada born\nQ3\tR57\tQ4\tfilms by Bea\n")
    plan = parsed(
        "graphs: [demo, other]\nquestions: [q.jsonl, {file: r.txt, first: 1, graph: other}]\n",
        folder,
    )
    assert [case.id for case in questions_of(plan, "demo")] == ["q:1"]
    assert [case.id for case in questions_of(plan, "other")] == ["q:1", "r:1"]
    cases = questions_of(plan, "other")
    apart, measured = split_questions(cases, share=0.1, random_seed=1)
    assert len(apart) == len(measured) == 1
    assert {*apart, *measured} == {*cases}
    assert split_questions(cases, share=0.0, random_seed=1) == ((), cases)
