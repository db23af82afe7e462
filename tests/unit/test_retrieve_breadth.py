"""Questions that ask for an account are answered by statements of many kinds."""

from __future__ import annotations

from collections import Counter

import pytest

from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy, TripletsResult
from graph_service.retrieve.learned.breadth import mixed
from graph_service.retrieve.sequences.picking import Walk
from graph_service.service import Service


def test_an_account_takes_the_best_of_each_relation_first(demo_service: Service) -> None:
    found = demo_service.retrieve(
        RetrieveRequest(
            "Describe the life of Arnold Schwarzenegger.",
            Strategy.TRIPLETS,
            preset="default-6",
            limit=10,
        )
    )
    assert isinstance(found, TripletsResult)
    relations = [item.triple.relation.id for item in found.items]
    assert len(set(relations)) >= 7
    # The same of a question for one relation are that relation's statements.
    films = demo_service.retrieve(
        RetrieveRequest(
            "What films is Arnold Schwarzenegger a cast member of?",
            Strategy.TRIPLETS,
            preset="default-6",
            limit=10,
        )
    )
    assert isinstance(films, TripletsResult)
    assert Counter(item.triple.relation.id for item in films.items).most_common(1)[0][1] >= 5


def test_the_score_of_a_path_says_what_repeating_costs(demo_service: Service) -> None:
    found = demo_service.retrieve(
        RetrieveRequest(
            "Describe the life of Arnold Schwarzenegger.",
            Strategy.PATHS,
            preset="default-6",
            limit=20,
        )
    )
    assert isinstance(found, PathsResult)
    scores = [item.score for item in found.items]
    assert scores == sorted(scores, reverse=True)
    repeats = 0
    seen: set[str] = set()
    for item in found.items:
        assert sum(part.amount for part in item.parts) == pytest.approx(item.score, abs=2e-5)
        told = {part.name for part in item.parts}
        repeats += "repeats" in told
        seen |= told
    assert repeats
    assert {"relevance", "repeats"} <= seen


def test_further_walks_of_an_unsure_sequence_come_after_the_first_ones_of_others() -> None:
    walks = [
        *(Walk((0, node), (node,), (False,), sequence=0, score=0.5) for node in range(1, 10)),
        *(Walk((0, node), (node,), (False,), sequence=1, score=0.2) for node in range(10, 12)),
    ]
    found = mixed(walks)
    scores = [walk.score for walk in found]
    assert scores == sorted(scores, reverse=True)
    assert [walk.sequence for walk in found[:5]] == [0] * 5
    assert [walk.edges for walk in found if walk.sequence == 0] == [(n,) for n in range(1, 10)]
    # .5 * .5 ** 2 is less than .2
    assert [walk.sequence for walk in found] == [*[0] * 5, 1, 1, *[0] * 4]
    assert found[5].parts == ()
    (waiting,) = found[4].parts
    assert waiting.amount == pytest.approx(0.5 * 0.5 - 0.5)
