"""The surest entities of a question: LTGen's tagger (L4)."""

from __future__ import annotations

from graph_service.link import Candidate, Mention, surest_entities
from graph_service.model.limits import Cut, CutReason


def mention(start: int, *candidates: tuple[int, float]) -> Mention:
    return Mention(
        f"name {start}",
        start,
        start + 6,
        tuple(Candidate(node, score, "", False, 0) for node, score in candidates),
    )


def test_the_five_best_of_at_least_the_confidence_are_kept_l4() -> None:
    scores = [0.9, 0.21, 0.22, 0.5, 0.6, 0.7, 0.8]
    mentions = [mention(10 * i, (i, score), (90, 0.1)) for i, score in enumerate(scores)]
    kept, cuts = surest_entities(mentions, min_score=0.22, most=5)
    # Number 1 is not sure enough, and of the other six number 2 is the least sure.
    assert [one.candidates[0].node for one in kept] == [0, 3, 4, 5, 6]
    assert cuts == (
        Cut("entities", CutReason.MIN_SCORE, 0.22, 6, 7),
        Cut("entities", CutReason.LIMIT, 5, 5, 6),
    )
    assert surest_entities(mentions, min_score=0.0, most=7) == (tuple(mentions), ())


def test_an_entity_counts_once_by_its_surest_mention_and_ties_go_by_node() -> None:
    twice = [mention(0, (4, 0.3)), mention(10, (4, 0.8)), mention(20, (4, 0.8))]
    kept, cuts = surest_entities([*twice, mention(30, (2, 0.4))], min_score=0.35, most=2)
    assert kept == (twice[1], mention(30, (2, 0.4)))
    assert cuts == ()
    ties = [mention(0, (9, 0.5)), mention(10, (3, 0.5)), mention(20, (7, 0.5))]
    assert surest_entities(ties, min_score=0.0, most=2)[0] == (ties[1], ties[2])
    assert surest_entities([], min_score=0.5, most=1) == ((), ())
