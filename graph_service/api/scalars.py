"""Scalars of the GraphQL schema beside GraphQL's own."""

from __future__ import annotations

from collections.abc import Mapping

import strawberry
from strawberry.types.scalar import ScalarDefinition

from graph_service.errors import InputError
from graph_service.model.contract import BigInt, DateTime

MAX_EXACT = 2**53 - 1
"""The largest whole number that a double has exactly, and with it JavaScript."""


def _written(number: int) -> int | str:
    return number if abs(number) <= MAX_EXACT else str(number)


def _read(value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= 20:
        digits = value.removeprefix("-")
        if digits.isascii() and digits.isdigit():
            return int(value)
    raise InputError(f"expected a whole number, got {str(value)[:40]!r}")


SCALARS: Mapping[object, ScalarDefinition] = {
    DateTime: strawberry.scalar(
        name="DateTime",
        description="A moment as RFC 3339 writes it, in UTC: 2026-11-22T20:18:55Z.",
        specified_by_url="https://scalars.graphql.org/andimarek/date-time",
        serialize=str,
        parse_value=str,
    ),
    BigInt: strawberry.scalar(
        name="BigInt",
        description="A whole number of up to 64 bits: a JSON number as far as 2^53 - 1 from 0, "
        "beyond that a text of digits, which no client rounds. Both are taken.",
        serialize=_written,
        parse_value=_read,
    ),
}
"""How the schema writes and reads each."""
