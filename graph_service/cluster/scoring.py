"""The counting scorer as expressions of columns: ``views.scorer.counting.CountScorer``."""

from __future__ import annotations

from typing import Any

_BELOW_ONE = 1.0 - 2.0**-53


def lift(rows: Any, degree: Any, held: Any, /, *, total: float) -> Any:
    """Returns by which factor a relation makes an end likelier.

    Args:
        rows: A column: how many edges of the relation have the end.
        degree: A column: how many edges have it.
        held: A column: how many edges the relation has, and 1 more.
        total: Edges and linked entities together.
    """
    share = (degree.cast("double") + 1.0) / total
    return (rows.cast("double") / share + 1.0) / held.cast("double")


def lift_without_edge(held: Any, /) -> Any:
    """Returns the lift of an end that no edge of the relation has."""
    return 1.0 / held.cast("double")


def posterior(odds: Any, /) -> Any:
    """Returns the score of a column of odds, below 1."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.least(odds / (1.0 + odds), F.lit(_BELOW_ONE))
