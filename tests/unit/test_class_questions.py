"""Questions that name no entity but a class: what is read, answered and refused (B13)."""

from __future__ import annotations

import pytest
from catalogue_graph import LABELS, TRIPLES
from graph_builder import build_graph
from word_vectors import WordVectors

from graph_service.model.answer import AnswerKind
from graph_service.model.limits import Deadline
from graph_service.model.result import Strategy
from graph_service.query.algebra import Comparison
from graph_service.query.english import Names, render_english
from graph_service.retrieve.classes.amounts import read_amounts
from graph_service.retrieve.classes.request import ClassRequest
from graph_service.retrieve.classes.strategy import (
    ClassAnswer,
    answer_class_question,
)

GRAPH = build_graph(TRIPLES, labels=LABELS)


def answer(question: str, strategy: Strategy = Strategy.PATHS, limit: int = 10) -> ClassAnswer:
    answered = answer_class_question(
        ClassRequest(
            question=question,
            graph=GRAPH,
            overlay=None,
            ranks=(0, 1),
            languages=("en",),
            encode=WordVectors().encode,
            strategy=strategy,
            limit=limit,
            min_confidence=0.7,
            deadline=Deadline.none(),
        )
    )
    assert answered is not None, question
    return answered


def values(answered: ClassAnswer) -> set[str]:
    picked = answered.selection.answer
    assert picked is not None
    if picked.value is not None:
        return {picked.value}
    return {GRAPH.node_ids[node] for node in picked.nodes}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many suppliers are there?", {"3"}),
        ("What is the total number of parts?", {"5"}),
        ("Which part is the most expensive?", {"motor"}),
        ("What is the second cheapest part?", {"rope"}),
        ("Which supplier has the most employees?", {"acme"}),
        ("Which is the oldest supplier?", {"acme"}),
        ("Which parts are out of stock?", {"rope", "lamp"}),
        ("Which black parts are still in stock?", {"motor"}),
        ("Which parts are discontinued?", {"lamp", "bell"}),
        ("Which parts are not discontinued?", {"rope", "hook", "motor"}),
        ("Which parts cost less than 15 euros?", {"rope", "lamp"}),
        ("Which parts cost between 12 and 40 euros?", {"rope", "hook", "bell"}),
        ("Which parts weigh over 0.5 kg?", {"hook", "motor"}),
        ("How many parts were introduced before 2010?", {"2"}),
        ("Which suppliers were founded after 1950?", {"bolt", "carl"}),
        ("List all suppliers from Germany", {"acme", "carl"}),
        ("Which suppliers are not from Germany?", {"bolt"}),
        ("Which parts are supplied by Acme?", {"hook", "motor"}),
        ("Are there any parts without a supplier?", {"yes"}),
        ("Which suppliers have no email?", {"bolt"}),
        ("Are there any red parts over 100 euros?", {"no"}),
        ("How many red parts are there?", {"2"}),
        ("Which parts have at least 7 units in stock?", {"hook", "bell"}),
        ("How many parts have units in stock of exactly 0?", {"2"}),
        ("Which is the priciest red part?", {"hook"}),
        ("What are the three cheapest parts?", {"rope", "lamp", "bell"}),
    ],
)
def test_what_a_question_about_a_class_is_answered(question: str, expected: set[str]) -> None:
    answered = answer(question)
    assert answered.is_sure
    assert values(answered) == expected
    assert answered.selection.answer is not None
    assert answered.selection.answer.edges


@pytest.mark.parametrize(
    "question",
    [
        "Which parts were recalled in 2021?",
        "Which parts cost less than 15 dollars?",
        "Which suppliers are from Germany and Norway?",
        "Is every part in stock?",
        "Which parts are heavier than the Crane Hook?",
        "Which parts have more than 5?",
        "Which supplier has the best reputation?",
        "Which parts do we only sell in Norway?",
        # The days when parts were introduced are no parts.
        "Which parts are introduced?",
    ],
)
def test_what_is_not_read_is_not_answered_for_sure(question: str) -> None:
    answered = answer(question)
    assert not answered.is_sure
    assert answered.selection.answer is None
    assert not answered.selection.confident


def test_an_answer_names_its_statements_and_its_query() -> None:
    answered = answer("Which parts cost less than 10 euros?")
    selection = answered.selection
    assert selection.answer is not None
    assert selection.answer.kind is AnswerKind.ENTITIES
    shown = [
        (GRAPH.node_ids[int(GRAPH.head[edge])], GRAPH.relation_ids[int(GRAPH.rel[edge])])
        for edge in selection.answer.edges
    ]
    assert ("lamp", "price") in shown
    assert selection.read is not None
    names = Names(lambda id_: LABELS.get(id_, id_), str)
    assert render_english(selection.read.query, names) == "parts whose price is under 10 EUR"
    assert [path.edges for path in selection.paths] == [
        (edge,) for edge in selection.answer.edges[1:]
    ]
    (mention,) = answered.mentions
    assert "parts" in "Which parts cost less than 10 euros?"[mention.start : mention.end]


@pytest.mark.parametrize("strategy", list(Strategy))
def test_items_stay_within_the_limit(strategy: Strategy) -> None:
    selection = answer("List all parts", strategy, limit=2).selection
    assert len(selection.paths or selection.triples) == 2
    (cut,) = selection.cuts
    assert (cut.what, cut.total) == ("items", 5)


def test_a_question_without_a_class_is_none_of_these() -> None:
    request = ClassRequest(
        question="Where is Acme based?",
        graph=GRAPH,
        overlay=None,
        ranks=(0, 1),
        languages=("en",),
        encode=WordVectors().encode,
        strategy=Strategy.PATHS,
        limit=5,
        min_confidence=0.7,
        deadline=Deadline.none(),
    )
    assert answer_class_question(request) is None


def test_amounts_are_read_with_their_units() -> None:
    (said,) = read_amounts("between 1,500 and 2,000.5 kg of steel")
    assert [(bound.value, str(number)) for bound, number in said.bounds] == [
        (">=", "1500"),
        ("<=", "2000.5"),
    ]
    assert [unit.measures for unit in said.units] == ["mass"]
    (price,) = read_amounts("for \u20ac 20 or less")
    assert price.bounds[0][0] is Comparison.AT_MOST
    assert not read_amounts("Motor M-40")
