"""When statements began to hold, by their qualifiers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from graph_service.model.statement import Statement
from graph_service.model.values import Time

StatementReader = Callable[[Sequence[str]], Mapping[str, Statement]]
"""Gives whole statements by id; unknown ones are absent."""

BEGINS = ("P580", "P585", "P582")
"""Qualifiers that say when, the first that is there: start time, point in time, end time."""

UNTIMED = -(2**62)
"""The time of a statement that has none: before all others."""

_DATE = re.compile(r"([+-]?)(\d{4,})-(\d\d)-(\d\d)")


def begin_of(statement: Statement, /) -> int:
    """Returns when a statement began to hold, as a number that orders dates; else ``UNTIMED``.

    >>> from graph_service.model.statement import Snak
    >>> from graph_service.model.values import EntityValue
    >>> spouse = EntityValue("Q2")
    >>> since = Snak("P580", Time("1986-04-26T00:00:00Z"))
    >>> begin_of(Statement("S1", "Q1", "P26", spouse, qualifiers=(since,)))
    19860426
    >>> begin_of(Statement("S1", "Q1", "P26", spouse)) == UNTIMED
    True
    """
    for relation in BEGINS:
        times = [
            _ordered(snak.value.time)
            for snak in statement.qualifiers
            if snak.relation == relation and isinstance(snak.value, Time)
        ]
        known = [time for time in times if time != UNTIMED]
        if known:
            return min(known)
    return UNTIMED


def _ordered(time: str) -> int:
    date = _DATE.match(time)
    if date is None or len(date[2]) > 14:
        return UNTIMED
    year = int(date[2]) * (-1 if date[1] == "-" else 1)
    return year * 10_000 + int(date[3]) * 100 + int(date[4])
