"""Statements withheld by rounds: nested views whose delta is the truth (K6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from error_texts import check_text, raises
from hand_chat import HandChat, script
from query_samples import HandRetriever, triple, triplets

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import RetrievalResult, Strategy
from graph_service.model.view_spec import Method, ViewSpec
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Setting
from queries.llm import Usage
from queries.score.entailment import Judgement, Pair, WordOverlap
from queries.score.report import lines_of
from queries.score.withholding import (
    QuestionSetup,
    answer_withheld,
    plan_rounds,
    score_rounds,
    withheld_order,
)

TRIPLES = {f"s{i}": triple(f"s{i}", "Q1", f"relation {i}", f"value {i}") for i in range(1, 5)}
THREE = GoldQuestion("three", "Who?", entity_ids=("Q1",), statement_ids=("s1", "s2", "s3"))
ONE = GoldQuestion("one", "What?", entity_ids=("Q1",), statement_ids=("s4",))
LACKING = GoldQuestion("none", "Why?", entity_ids=("Q1",), lacking=True)


def find(_: str, view: ViewRef | None) -> RetrievalResult:
    gone: set[str] = set()
    if view is not None:
        assert view.spec is not None
        assert view.spec.method is Method.WITHHOLDING
        gone = set(view.spec.statement_ids[: view.spec.count])
    return triplets([(item, 1.0) for id_, item in TRIPLES.items() if id_ not in gone])


def test_rounds_are_nested_and_scored_against_the_full_minimum_set_k6() -> None:
    retriever = HandRetriever(find)
    found = score_rounds(
        [THREE, ONE, LACKING],
        retriever=retriever,
        statements=lambda ids: {id_: TRIPLES[id_] for id_ in ids},
        entailment=WordOverlap(),
    )
    # The base and round 1 have both questions; rounds 2 and 3 the one with three statements.
    assert [(item.withheld, item.questions) for item in found] == [(0, 2), (1, 2), (2, 1), (3, 1)]
    assert found[0].not_available is None
    # The template sentences cite all that is left: 4 of 4, then 2 of 3 with 0 of 1, 1 of 3, none.
    recalls = [item.citations.score("recall_micro").value for item in found]
    assert recalls == [1.0, 0.5, pytest.approx(1 / 3), 0.0]
    absent = [item.not_available.recall.n for item in found if item.not_available is not None]
    assert absent == [2, 2, 3]
    views = [view.spec.statement_ids[: view.spec.count] for _, _, view, _ in retriever.calls
             if view is not None and view.spec is not None and len(view.spec.statement_ids) == 3]  # fmt: skip
    assert [len(view) for view in views] == [1, 2, 3]
    assert views[0] == views[1][:1] == views[2][:1]
    assert all(entities == ("Q1",) for _, _, _, entities in retriever.calls)
    assert "[NA] recall" in "\n".join(lines_of([found[1].section()]))


def test_the_order_is_drawn_by_seed_question_and_statement() -> None:
    assert sorted(withheld_order(THREE)) == ["s1", "s2", "s3"]
    assert withheld_order(THREE) == withheld_order(THREE)
    orders = {withheld_order(THREE, random_seed=seed) for seed in range(20)}
    assert len(orders) > 1


def test_what_can_not_be_withheld_is_told() -> None:
    class Never:
        name = "never"
        notes = ()

        def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
            raise AssertionError

    for questions, rounds, message in (
        ([LACKING], 3, "no question has a minimum set"),
        ([ONE], 0, "at least one round"),
    ):
        with pytest.raises(InputError, match=message):
            score_rounds(
                questions,
                retriever=HandRetriever(find),
                statements=lambda ids: TRIPLES,
                entailment=Never(),
                rounds=rounds,
            )


def test_how_the_rounds_are_asked_is_told() -> None:
    check_text(QuestionSetup().label)
    model = HandChat(script("x"))
    setup = QuestionSetup(model, Setting.KALMA, "demo", Strategy.PATHS, "okgqa", 7)
    assert setup.label == "hand-1, kalma, graph demo, paths, preset okgqa, limit 7"
    for setting in (Setting.LTGEN_PASSAGES, Setting.LTGEN_BOTH, Setting.LTGEN_NONE):
        with raises(InputError) as caught:
            QuestionSetup(setting=setting)
        assert caught.value.argument == "setting"


def test_a_question_is_asked_as_it_is_told_to_be() -> None:
    case = plan_rounds([replace(THREE, kind="hop")], rounds=2)[2]
    assert (case.id, case.withheld, case.absent) == ("three#2", 2, case.order[:2])
    seen: list[dict[str, Any]] = []

    class Keeps(HandRetriever):
        def retrieve(self, strategy: Strategy, question: str, /, **options: Any) -> Any:
            seen.append({"strategy": strategy, "question": question, **options})
            return super().retrieve(strategy, question, **options)

    setup = QuestionSetup(None, graph="demo", strategy=Strategy.TRIPLETS, preset="okgqa", limit=7)
    row = answer_withheld(case, retriever=Keeps(find), setup=setup)
    spec = ViewSpec(Method.WITHHOLDING, count=2, statement_ids=case.order)
    assert [{name: value for name, value in one.items() if value is not None} for one in seen] == [
        {"question": "Who?", "strategy": Strategy.TRIPLETS, "graph": "demo", "preset": "okgqa",
         "view": ViewRef(spec=spec), "entity_ids": ("Q1",), "limit": 7}
    ]  # fmt: skip
    assert (row.id, row.groups.kind, row.withheld, row.absent) == ("three#2", "hop", 2, case.absent)
    assert (row.usage, row.failure) == (Usage(), None)
    assert (row.read().question_id, row.read().kind) == ("three", "hop")


def test_a_round_is_shown_with_its_figures() -> None:
    rounds = score_rounds(
        [THREE, ONE],
        retriever=HandRetriever(find),
        statements=lambda ids: {id_: TRIPLES[id_] for id_ in ids},
        entailment=WordOverlap(),
        is_off_question=lambda question, sentence: True,
        rounds=1,
    )
    assert not any(one.has_failed for one in rounds)
    shown = ["\n".join(lines_of([one.section()])) for one in rounds]
    check_text(shown, "0 withheld", "1 withheld", "2 questions")
