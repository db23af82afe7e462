"""Whether values in other units than a query compares may tell something else."""

from __future__ import annotations

from collections.abc import Sequence

from graph_service.query.algebra import (
    Comparable,
    Number,
    Relation,
    conditions_of,
    filters_of,
)
from graph_service.query.readings import Amount, amount_of
from graph_service.query.result import QueryResult
from graph_service.retrieve.classes.ranking import RankedReading
from graph_service.retrieve.units import in_base


def leaves_other_units(best: RankedReading, result: QueryResult, /) -> bool:
    """Returns whether values in other units than are compared may tell something else: the longest
    in kilometres, where the length of another is in metres and more.
    """
    query = best.scored.query
    for filter in filters_of(query):
        for condition in conditions_of(filter):
            test = condition.test
            if isinstance(test, Number) and _in_other_units(best, condition.path, test.unit):
                return True
    order = query.order
    if order is None or order.kind is Comparable.DATES or order.fold is not None:
        return False
    others = _in_other_units(best, order.path, order.unit)
    if not others:
        return False
    first = [amount_of(row.ordered_by) for row in result.rows if row.ordered_by is not None]
    winner = first[0] if len(first) == 1 and order.rank == 1 else None
    own = None if winner is None else in_base(winner.number, winner.unit)
    for amount in others:
        other = in_base(amount.number, amount.unit)
        if own is None or other is None or own[0] != other[0]:
            return True
        if other[1] >= own[1] if order.descending else other[1] <= own[1]:
            return True
    return False


def _in_other_units(
    best: RankedReading, path: Sequence[Relation], unit: str | None
) -> list[Amount]:
    """Returns the numbers of other units than one among the values of a relation."""
    if unit is None or not path:
        return []
    values = [
        value
        for profile in best.reading.words.profiles
        if profile.id == path[-1].id
        for value in profile.values
    ]
    amounts = [amount for amount in map(amount_of, values) if amount is not None]
    return [amount for amount in amounts if amount.unit not in (None, unit)]
