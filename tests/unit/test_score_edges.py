"""Edges of scores that a wrong line would pass by: who is asked, what is drawn, what counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hand_chat import HandChat, script
from query_samples import triple, triplets

from graph_service.model.result import EntityRef, LinkedEntity
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer
from queries.generate.reader import parse_answer
from queries.score.agreement import RatedCase, agreement, cohen_kappa
from queries.score.case import TextCase
from queries.score.citation import citation_row
from queries.score.entailment import Judgement, Pair
from queries.score.fact_check import FactChecker, check_facts
from queries.score.judge import Judge
from queries.score.knowledge import match_knowledge
from queries.score.not_available import score_not_available


class Entails:
    """Entails where the premise is one of some texts; keeps what it was asked."""

    name = "by hand"
    notes = ()

    def __init__(self, *premises: str) -> None:
        self._premises = premises
        self.asked: list[Pair] = []

    def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
        self.asked.extend(pairs)
        return [Judgement(one.premise in self._premises, 1.0) for one in pairs]


# --- agreement ------------------------------------------------------------------------------

FIRST, SECOND = 2 * [1, 1, 1, 0, 0, 0, 1, 0], 2 * [1, 1, 1, 0, 1, 1, 0, 0]


def rated(groups: str) -> list[RatedCase]:
    """Sixteen cases of two raters, each of the group of its letter; ``-`` is a case of its own."""
    return [
        RatedCase(str(place), {"a": one, "b": two}, "" if group == "-" else group)
        for place, (one, two, group) in enumerate(zip(FIRST, SECOND, groups, strict=True))
    ]


def test_the_interval_of_an_agreement_draws_whole_groups() -> None:
    grouped = agreement(rated(2 * "xxxxyyyy")).pairs[0].scores["kappa"]
    alone = agreement(rated(16 * "-")).pairs[0].scores["kappa"]
    by_hand = cohen_kappa(FIRST, SECOND, clusters=list(2 * "xxxxyyyy"))
    assert (grouped.low, grouped.high) == (by_hand.low, by_hand.high)
    # Of x alone kappa is 1, of y alone -.5: whole groups swing further than cases do.
    assert grouped.value == alone.value
    assert (grouped.low, grouped.high) != (alone.low, alone.high)


# --- [NA] -----------------------------------------------------------------------------------


def test_a_sentence_that_is_right_is_not_counted_as_beside_the_question_too_k6() -> None:
    text = "The place is unknown [NA]. She liked tea [NA]. Nobody knows [NA]."
    item = Answer("a", "Where?", text, parse_answer(text, ()), (), None, "hand")
    asked: list[str] = []

    def beside(question: str, sentence: str) -> bool:
        asked.append(sentence)
        return "tea" not in sentence

    report = score_not_available(
        [item],
        {"a": [triple("k1", "Q1", "place", "Rome")]},
        entailment=Entails("The place is unknown."),
        is_off_question=beside,
    )
    # Right: the first. Beside the question: the third. Neither: the second. 2 of 3.
    assert asked == ["She liked tea.", "Nobody knows."]
    (row,) = report.rows
    assert (row.sentences, row.right, row.beside) == (3, 1, 1)
    assert report.precision_strict.value == pytest.approx(1 / 3)
    assert report.precision_lenient.value == pytest.approx(2 / 3)


# --- facts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("passages", [1, 2, 3])
def test_a_fact_is_checked_against_as_many_passages_as_are_asked_for_o9(passages: int) -> None:
    best = "Ada wrote notes on the engine."
    evidence = (best, "Ada wrote notes.", "Ada wrote.", "Charles built.", "Ada slept.")
    verifier = Entails()
    checker = FactChecker(
        Judge(HandChat(script(f"- {best}"))), verifier=verifier, passages=passages
    )
    case = TextCase("1", "Who was Ada?", best, evidence=evidence)
    check_facts(case, by=checker)
    assert verifier.asked == [Pair(" ".join(evidence[:passages]), best)]


# --- citations ------------------------------------------------------------------------------


def test_linked_entities_are_counted_where_the_question_was_linked_k2() -> None:
    result = triplets([(triple("k1", "Q1", "place", "Rome"), 1.0)])
    gold = GoldQuestion("a", "Who?", entity_ids=("Q1", "Q2"))

    def count(*mentions: str) -> int | None:
        entities = tuple(
            LinkedEntity(EntityRef(f"Q{place + 1}", "x"), mention, 0, len(mention), 1.0)
            for place, mention in enumerate(mentions)
        )
        item = Answer("a", "Who?", "", (), (), replace(result, linked=entities), "hand")
        return citation_row(item, gold).linked

    # No entity found in the words: none of the two. Both given by the caller: not measured.
    assert count() == 0
    assert count("", "") is None
    assert count("one", "") == 2
    assert count("one") == 1


# --- knowledge ------------------------------------------------------------------------------


def test_an_answer_entity_without_a_name_is_none_l8() -> None:
    match = match_knowledge("She was born in Rome.", [["Rome"], [""], [], ["", "Pisa"]])
    assert match.found == (True, False)
    assert (match.km, match.rkm, match.ekm) == (1.0, 0.5, 0.0)
    nameless = match_knowledge("Rome", [[""], []])
    assert (nameless.km, nameless.rkm, nameless.ekm) == (None, None, None)
