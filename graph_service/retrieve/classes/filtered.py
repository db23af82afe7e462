"""The instances of a class that a question means, by all that it says of them."""

from __future__ import annotations

from dataclasses import replace

from graph_service.query.algebra import Fold, Instances
from graph_service.query.enumeration import (
    EnumerationBudget,
    QuestionParts,
    ScoredQuery,
    enumerate_queries,
)
from graph_service.query.walking import Walker

_AHEAD = 100.0
"""Added to the score of the class, so that no entity of a filter comes before it as a start."""


def filtered_instances(parts: QuestionParts, walker: Walker, /) -> list[ScoredQuery]:
    """Returns the queries that list the instances of the class of some parts with filters, best first.

    Args:
        parts: Their orders and their fold are left out.
        walker: Of the graph or view.
    """
    things = [
        replace(each, score=each.score + _AHEAD) if each.is_class else each for each in parts.things
    ]
    classes = sum(each.is_class for each in things)
    enumeration = enumerate_queries(
        replace(parts, things=things, degrees=(), fold=Fold.LIST, used=()),
        walker.graph,
        overlay=walker.overlay,
        budget=EnumerationBudget(beam=1, constrained=classes, options=3, queries=40, steps=0),
    )
    return [
        replace(each, score=each.score - _AHEAD)
        for each in enumeration.queries
        if isinstance(each.query.start, Instances) and not each.query.path
    ]
