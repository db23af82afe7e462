"""The answers of a query, and the limits that it ran under."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from graph_service.model.limits import Cut
from graph_service.model.values import Value


@dataclass(frozen=True, slots=True)
class QueryLimits:
    """How much work a query may be, and how much of its answers it returns.

    Attributes:
        statements: Statements looked at, of all relations of the entities walked through.
        walks: Ways from the start to answers.
        rows: Answers returned; all are counted.
        evidence: Statements named for each answer.
    """

    statements: int = 2_000_000
    walks: int = 200_000
    rows: int = 1_000
    evidence: int = 20


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer.

    Attributes:
        value: An entity or another value.
        statements: Ids of the statements that it rests on: the ways that lead to it, what filters
            saw, and the value that orders it.
        ordered_by: The value that it is ordered by, if the query has an order.
        node: Its number in the arrays that were queried.
        edges: Numbers there of ``statements``, in their order.
    """

    value: Value
    statements: tuple[str, ...] = ()
    ordered_by: Value | None = None
    node: int = field(default=-1, compare=False, repr=False)
    edges: tuple[int, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """What the numbers of the answers come to: their mean or their sum.

    Attributes:
        number: None where there are no numbers, or where they are of several units.
        unit: Id of the unit of all numbers; None for none.
        values: How many numbers it is made of.
        units: Ids of their units, each once; None for numbers without one.
    """

    number: Decimal | None
    unit: str | None
    values: int
    units: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The answers of a query.

    Attributes:
        rows: In the query's order, else entities by key and then other values.
        count: All answers, those not in ``rows`` too; at least so many where the work was cut.
        truth: Of ``EXISTS`` and ``COMPARE``: None where the graph does not say, that is where the
            path leads nowhere, or one of the two has no value.
        unordered: Answers left out because they have no value to be ordered by, or measured.
        truncated: What limits left out.
        measure: Of ``MEAN`` and ``SUM``.
    """

    rows: tuple[AnswerRow, ...]
    count: int
    truth: bool | None = None
    unordered: int = 0
    truncated: tuple[Cut, ...] = ()
    measure: Measure | None = None

    @property
    def is_complete(self) -> bool:
        """Whether no limit changed the answers, their number or the truth value."""
        return all(cut.what == "items" for cut in self.truncated)
