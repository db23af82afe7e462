"""Experiments as GraphQL types: the fields that take a score."""

from __future__ import annotations

from typing import Annotated

import strawberry

from graph_service.api.derive import output
from graph_service.model.experiment import ConditionRow, Experiment, PartRow, ScoreCurve

OfScore = Annotated[
    str | None, strawberry.argument(description="Only of this score; null for all scores.")
]


@output(Experiment)
class ExperimentType:
    """An experiment; its figures can be had of one score alone."""

    model: strawberry.Private[Experiment]

    def rows(self, score: OfScore = None) -> tuple[ConditionRow, ...]:
        """Returns every score of every condition."""
        return tuple(row for row in self.model.rows if score in (None, row.score))

    def curves(self, score: OfScore = None) -> tuple[ScoreCurve, ...]:
        """Returns every score over the levels of every method."""
        return tuple(curve for curve in self.model.curves if score in (None, curve.score))

    def parts(self, score: OfScore = None) -> tuple[PartRow, ...]:
        """Returns every score over parts of the answers."""
        return tuple(part for part in self.model.parts if score in (None, part.score))
