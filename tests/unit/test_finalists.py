"""Whether a right sequence is among the first that are ranked (B5)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from demo_graph import MARIA

from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.quality.finalists import FinalistRecorder
from graph_service.quality.question_sets import Step
from graph_service.service import Service

REQUEST = RetrieveRequest("Who is the mother of Maria Shriver?", Strategy.PATHS, limit=3)
MOTHER = (MARIA, (("P25", False),))


def test_a_recorder_sees_the_ranking_and_changes_nothing(demo_service: Service) -> None:
    finalists = FinalistRecorder()
    with demo_service.noting_rankings(finalists.note):
        noted = demo_service.retrieve(REQUEST)
    assert noted.id == demo_service.retrieve(REQUEST).id
    assert finalists.sequences[0] == MOTHER
    assert len(set(finalists.sequences)) == len(finalists.sequences) == 40


@pytest.mark.parametrize(
    ("right_at", "figures"),
    [
        (0, {"right among 5": 1.0, "right among 40": 1.0}),
        (4, {"right among 5": 1.0, "right among 40": 1.0}),
        (5, {"right among 5": 0.0, "right among 40": 1.0}),
        (40, {"right among 5": 0.0, "right among 40": 0.0}),
    ],
)
def test_a_right_sequence_is_among_the_first(right_at: int, figures: dict[str, float]) -> None:
    finalists = FinalistRecorder()
    assert finalists.figures(is_of("e0")) == {}
    finalists.sequences = [(f"e{number}", ()) for number in range(40)]
    assert finalists.figures(is_of(f"e{right_at}")) == figures


def is_of(start: str) -> Callable[[tuple[str, tuple[Step, ...]]], bool]:
    return lambda sequence: sequence[0] == start
