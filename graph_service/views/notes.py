"""What a report of a view says where fewer statements change than were requested."""

from __future__ import annotations

NOTHING_LEFT = "for the others nothing is left that the base does not say"
NO_SECOND_RELATION = "the graph has no second relation"


def shortfall(things: str, requested: int, able: str, count: int, reason: str = "", /) -> str:
    """Returns how many things were requested, and how many there are, in a form that fits any number.

    >>> shortfall("edges", 1, "in scope", 0)
    'edges requested: 1, in scope: 0'

    Args:
        things: What is counted, in the plural.
        requested: How many were requested.
        able: What is true of those that there are.
        count: How many these are.
        reason: Why they are not more.
    """
    return f"{things} requested: {requested}, {able}: {count}" + (reason and f"; {reason}")
