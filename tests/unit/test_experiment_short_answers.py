"""Answers as lists: what is named and nothing beside, of models, templates and the rule (B3, B4)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from experiment_runs import written
from openai_stand_in import Scripted, by_rule, ok, stand_in

from graph_service.model.result import Strategy
from queries.datasets.gold import GoldQuestion
from queries.experiment.cells import Cell, CellKind, Condition
from queries.experiment.plan import Answerer, AnswererKind
from queries.experiment.scoring import NO_HARD, NO_LIST, NO_TAGS, SCORES_NAME, score_answer
from queries.generate.answer_list import parse_answer_list
from queries.generate.citations import Sentence
from queries.generate.record import Answer
from queries.generate.setting import Setting

ROME = GoldQuestion("1", "Where was she born?", answer_ids=("Q220",), answers=("Rome",))
TWO = GoldQuestion("1", "Which films?", answers=("Alien", "1979-05-25"))


def cell(setting: Setting = Setting.ANSWER_LIST) -> Cell:
    who = Answerer(f"m+{setting.value}", AnswererKind.MODEL, "m", "", setting)
    return Cell(Condition("demo", CellKind.BASE, who, strategy=Strategy.PATHS, preset="default"))


def reply(text: str) -> Answer:
    return Answer("1", "Who?", text, (Sentence(text),), (), None, "m")


def scores(text: str, gold: GoldQuestion, of: Cell | None = None) -> dict[str, Any]:
    return score_answer(reply(text), gold, of or cell())


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("<answers>\nRome\n</answers>", ("Rome",)),
        ("<ANSWERS>Rome</ANSWERS> as I said", ("Rome",)),
        ("<answers>a</answers> no: <answers>\n2) b\n* **c**\n3. B\n</answers>", ("b", "c")),
        ("<answers>\n2001\n1941 (film)\n</answers>", ("2001", "1941 (film)")),
        ("<answers>\nnone\n</answers>", ()),
        ("<answers>\n\n</answers>", ()),
        ("<answers>\nRome", None),
        ("Rome", None),
    ],
)
def test_the_last_list_of_a_reply_is_read(text: str, names: tuple[str, ...] | None) -> None:
    assert parse_answer_list(text) == names


def test_a_name_that_is_mentioned_or_denied_is_no_answer() -> None:
    denied = scores("She was not born in Rome.\n<answers>\nnot Rome\nParis\n</answers>", ROME)
    assert denied["answer_named"] == 1.0, "the text has the name"
    assert (denied["hits_at_1"], denied["set_f1"], denied["exact"]) == (0.0, 0.0, 0.0)
    five = scores("<answers>\nOslo\nRome\nParis\nBonn\nBern\n</answers>", ROME)
    assert five["answer_named"] == 1.0
    assert (five["hits_at_1"], five["exact"]) == (0.0, 0.0)
    # One of five is right: precision 1/5, recall 1, F1 2/5 over 6/5.
    assert (five["set_precision"], five["set_recall"]) == (0.2, 1.0)
    assert five["set_f1"] == pytest.approx(1 / 3)


def test_all_of_several_answers_are_looked_for() -> None:
    half = scores("<answers>\nalien\n</answers>", TWO)
    assert (half["hits_at_1"], half["exact"], half["set_precision"]) == (1.0, 0.0, 1.0)
    assert (half["set_recall"], half["rkm"], half["ekm"]) == (0.5, 0.5, 0.0)
    both = scores("<answers>\n25 May 1979\nAlien\n</answers>", TWO)
    assert (both["exact"], both["set_f1"], both["ekm"]) == (1.0, 1.0, 1.0)
    assert both["listed"] == 1.0


def test_hits_at_hard_is_of_the_hard_answers_alone() -> None:
    films = GoldQuestion(
        "1", "Which films?", answer_ids=("Q1", "Q2"), answers=("Alien", "Aliens"),
        hard_answers=("Q2",),
    )  # fmt: skip
    easy = scores("<answers>\nHeat\nAlien\n</answers>", films)
    assert (easy["hits_at_1"], easy["hits_at_any"], easy["hits_at_hard"]) == (0.0, 1.0, 0.0)
    hard = scores("<answers>\nAliens\n</answers>", films)
    assert (hard["hits_at_any"], hard["hits_at_hard"]) == (1.0, 1.0)
    assert scores("<answers>\nAlien\n</answers>", TWO)["hits_at_hard"] == NO_HARD
    other = scores("Aliens", films, cell(Setting.OKGQA_ZERO))
    assert (other["hits_at_any"], other["hits_at_hard"]) == (NO_LIST, NO_LIST)


def test_a_reply_without_tags_is_counted_and_wrong() -> None:
    bare = scores("Rome", ROME)
    assert (bare["listed"], bare["hits_at_1"], bare["set_f1"]) == (0.0, 0.0, 0.0)
    assert (bare["abstained"], bare["answer_named"]) == (0.0, 1.0)
    other = scores("Rome", ROME, cell(Setting.OKGQA_ZERO))
    assert (other["listed"], other["hits_at_1"], other["exact"]) == (NO_TAGS, NO_LIST, NO_LIST)


def test_an_empty_list_is_a_refusal() -> None:
    empty = scores("I cannot tell.\n<answers>\n</answers>", ROME)
    assert (empty["abstained"], empty["listed"], empty["set_f1"]) == (1.0, 1.0, 0.0)
    assert scores("<answers>\nRome\n</answers>", ROME)["abstained"] == 0.0


PLAN = """graphs: [demo]
questions: {file: questions.jsonl, first: 3}
retrieval: {max_hops: 1}
answers: [verbaliser, extractive]
models: [{name: m, url: "URL"}]
settings: [answer-list]
"""


def test_models_templates_and_the_rule_have_the_same_scores(
    demo_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")

    def rule(body: dict[str, Any]) -> Scripted:
        facts = "Facts that may bear on the question:" in body["messages"][-1]["content"]
        return by_rule(body) if facts else ok("I know of Maria Shriver.")

    with stand_in(rule) as server:
        written(tmp_path, PLAN.replace("URL", server.url))
        assert demo_cli("experiment", "run", "plan.yaml", "--out", "out").code == 0
        sent = server.requests[-1]["messages"]
        assert "<answers>" in sent[0]["content"]
    lines = [json.loads(line) for line in (tmp_path / "out" / SCORES_NAME).read_text().splitlines()]
    values: dict[tuple[str, str], list[float | None]] = {}
    for line in lines:
        values.setdefault((line["cell"], line["score"]), []).append(line["value"])
    base = "demo/base/paths/default"
    # The rule and the stand-in both take the end of the best path.
    for score in ("hits_at_1", "exact", "set_precision", "set_recall", "set_f1"):
        assert values[f"{base}/extractive", score] == values[f"{base}/m+answer-list", score]
    assert sum(filter(None, values[f"{base}/extractive", "hits_at_1"])) > 0
    assert values[f"{base}/verbaliser", "set_recall"] == [1.0, 1.0, 1.0]
    assert values["demo/no-knowledge/m+answer-list", "listed"] == [0.0] * 3
    assert values["demo/no-knowledge/extractive", "abstained"] == [1.0] * 3
    assert values[f"{base}/verbaliser", "listed"] == [None] * 3
