"""Sets of readings that are calibrated on a graph's own questions (B12)."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.model.values import decode_value, plain_value
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.confidence import shipped_confidence
from graph_service.retrieve.learned.network import (
    CandidateScorer,
    decode_candidate_scorer,
    encode_candidate_scorer,
    shipped_scorer,
)
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.retrieve.learned.reading import with_reading
from graph_service.service import Service
from queries.training.examples import AnsweredQuestion
from queries.training.set_calibration import (
    LEAST_QUESTIONS,
    calibrate_sets,
    gap_of_right,
)
from queries.training.walks import make_walk_questions


@pytest.fixture(scope="module")
def walks(demo_service: Service) -> list[AnsweredQuestion]:
    info = demo_service.graph("demo")
    arrays = demo_service.arrays(info)
    return make_walk_questions(
        arrays,
        Labels(arrays, None, ("en",), Deadline.none()),
        demo_service.relation_aliases(info, ("en",)),
        name="demo",
        family="walks",
        counts={1: 24},
        random_seed=3,
    )


@pytest.fixture(scope="module")
def calibrated(demo_service: Service, walks: list[AnsweredQuestion]) -> CandidateScorer:
    sets = calibrate_sets(demo_service, shipped_scorer(), walks)
    assert LEAST_QUESTIONS <= sets.questions <= len(walks)
    return replace(shipped_scorer(), gaps=sets.gaps)


def test_gaps_travel_with_the_weights(calibrated: CandidateScorer) -> None:
    read = decode_candidate_scorer(encode_candidate_scorer(calibrated))
    assert read.gaps == calibrated.gaps
    assert NetworkRanker(read).calibration.gaps == calibrated.gaps
    assert NetworkRanker(shipped_scorer()).calibration == shipped_confidence()


def ends(graph: KnowledgeGraph, question: AnsweredQuestion) -> set[str]:
    """Returns what a question of one step leads to, as sets list it."""
    ((start, ((relation, backward),)),) = question.chains
    node = graph.find_node(start)
    assert node is not None
    edges = (graph.in_edges if backward else graph.out_edges).of(node).tolist()
    others = graph.head if backward else graph.tail
    nodes = [int(others[edge]) for edge in edges if graph.relation_ids[graph.rel[edge]] == relation]
    return {
        graph.node_ids[node]
        if node < graph.entity_count
        else plain_value(decode_value(graph.node_ids[node]))
        for node in nodes
    }


def test_sets_hold_the_right_answer_of_the_questions_that_calibrated_them(
    demo_service: Service, walks: list[AnsweredQuestion], calibrated: CandidateScorer
) -> None:
    graph = demo_service.arrays(demo_service.graph("demo"))
    share = max(calibrated.gaps)
    held = []
    ranker = with_reading(NetworkRanker(calibrated), demo_service.vectors.embedder)
    with demo_service.ranking_by(ranker):
        for question in walks:
            request = RetrieveRequest(
                question.text, Strategy.PATHS, graph="demo", limit=1, coverage=share
            )
            result = demo_service.retrieve(request)
            assert isinstance(result, PathsResult)
            if result.answer_set is not None:
                assert result.answer_set.is_attained
                held.append(math.isfinite(gap_of_right(result, ends(graph, question)) or 0.0))
    assert len(held) >= LEAST_QUESTIONS
    # Of n questions the gap of rank (n + 1) times the share was taken.
    assert sum(held) >= math.ceil((len(held) + 1) * share)


def test_few_questions_calibrate_nothing(
    demo_service: Service, walks: list[AnsweredQuestion]
) -> None:
    sets = calibrate_sets(demo_service, shipped_scorer(), walks[:3])
    assert sets.questions <= 3
    assert not sets.gaps
    assert sets.notes() == {"questions": sets.questions, "gaps": {}}
