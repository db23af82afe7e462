"""Typed cells of workbooks, Parquet, JSON and DataFrames as text.

Dates come as ISO dates and numbers with a decimal point that is no mark of groups, so that nothing
in them may be two things.
"""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal

from loaders.tables.cells import NESTED


def cell_text(value: object, /) -> str:
    """Returns a typed cell as text that can be read in one way only.

    >>> cell_text(1.125), cell_text(datetime(2024, 4, 3)), cell_text(True), cell_text(None)
    ('1.1250', '2024-04-03', 'true', '')
    >>> cell_text(["red; dark", 2])
    '["red; dark", "2"]'

    An object, and a list that holds objects or lists, is no value: its text is ``NESTED``.
    """
    if getattr(value, "ndim", 0) == 1:
        # An array of numpy, as pandas reads lists of Parquet.
        value = value.tolist()  # type: ignore[attr-defined]
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() | Decimal():
            return _decimal_text(value)
        case datetime():
            text = value.isoformat(sep=" ")
            return text.removesuffix(" 00:00:00")
        case date():
            return value.isoformat()
        case dict():
            return NESTED
        case list() | tuple() | set() | frozenset():
            if any(isinstance(part, dict | list | tuple) for part in value):
                return NESTED
            # As JSON, whose values may hold any separator.
            parts = [None if part is None else cell_text(part) for part in value]
            return json.dumps(parts if isinstance(value, list | tuple) else sorted(map(str, parts)))
        case _:
            return str(value)


def _decimal_text(value: float | Decimal) -> str:
    number = Decimal(repr(value)) if isinstance(value, float) else value
    if not number.is_finite():
        return ""
    text = format(number, "f")
    integer, point, rest = text.partition(".")
    if point and not rest.strip("0"):
        return integer
    # Three digits after the point may be taken for a group.
    return f"{text}0" if len(rest) == 3 else text
