"""What a result says beside its items: of what kind its answer is, and which constraints were read."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MOST_READINGS = 10
"""Queries that an interpretation lists."""


class AnswerKind(StrEnum):
    """What an answer tells: entities or values, how many, yes or no, the first by a value, what
    numbers come to: their average or their total; or a number of each of some things.
    """

    ENTITIES = "entities"
    COUNT = "count"
    YES_NO = "yes-no"
    SUPERLATIVE = "superlative"
    AVERAGE = "average"
    TOTAL = "total"
    GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class AnswerMeasure:
    """What an average or a total is made of.

    Attributes:
        unit: Label of the unit of its numbers; None for none.
        values: How many numbers it is made of.
        missing: Things that were asked about and have no such number.
    """

    unit: str | None
    values: int
    missing: int


class ConstraintKind(StrEnum):
    """What a constraint asks for: a date in a span, a value or type, or another named entity."""

    DATE = "date"
    VALUE = "value"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class ReadConstraint:
    """A constraint that the question was read to state.

    Attributes:
        text: As the question says it.
        met: Of a result, whether anything found meets it; of an item, whether this one does.
    """

    text: str
    kind: ConstraintKind
    met: bool


@dataclass(frozen=True, slots=True)
class RankedReading:
    """One of the queries that a question may mean: a start and its relations, in words.

    Attributes:
        score: What the paths of its answers score before constraints, at most 1.
    """

    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Interpretation:
    """How a question was read: the query whose answers come first, in words and in code.

    Attributes:
        text: One line of English, with labels of the graph.
        cypher: On the graph in Neo4j, as docs/how-to/cypher.md lays it out.
        sparql: None where an id of the query is neither Wikidata's nor an IRI.
        unread: Content words of the question that nothing in the query accounts for, in order.
        ranked: The best queries without what constrains them, at most ``MOST_READINGS``, best
            first.
    """

    text: str
    cypher: str
    sparql: str | None
    unread: tuple[str, ...] = ()
    ranked: tuple[RankedReading, ...] = ()
