"""What the instances of a class have: their relations, and what kind of values each leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int64
from graph_service.model.values import EntityValue, Quantity, StringValue, Value
from graph_service.query.algebra import Relation
from graph_service.query.readings import amount_of, days_of_value, text_of
from graph_service.query.walking import Walker, Walks
from graph_service.text.fold import fold

MOST_INSTANCES = 2_000
"""Instances whose values are looked at, those of the smallest numbers."""
MOST_VALUES = 300
"""Distinct values of a relation that are looked at."""
_FLAGS = {
    "true": True, "yes": True, "y": True, "1": True,
    "false": False, "no": False, "n": False, "0": False,
}  # fmt: skip
_YEARS = range(1000, 2200)


class ValueKind(StrEnum):
    """What the values of a relation are: most of those that were looked at."""

    NUMBER = "number"
    DATE = "date"
    FLAG = "flag"
    TEXT = "text"
    ENTITY = "entity"


@dataclass(frozen=True, slots=True)
class RelationProfile:
    """What a relation of a class's instances leads to.

    Attributes:
        id, label: Of the relation; the label in words.
        kind: Of its values.
        values: Some of them, each once.
        is_complete: Whether these are all.
        unit: Id of the unit of its numbers; None for none.
        are_years: Whether its numbers may be years.
    """

    id: str
    label: str
    kind: ValueKind
    values: tuple[Value, ...]
    is_complete: bool
    unit: str | None = None
    are_years: bool = False

    def flag(self, holds: bool, /) -> Value | None:
        """Returns the value that says yes, or the one that says no; None where there is none."""
        return next((each for each in self.values if _flag_of(each) is holds), None)


def profile_relations(
    walker: Walker, nodes: Int64, labels: dict[str, str], /
) -> list[RelationProfile]:
    """Returns the relations from some distinct nodes, which ascend, by id.

    Args:
        walker: Of the graph or view.
        nodes: The instances.
        labels: Words of each relation by id.
    """
    some = nodes[:MOST_INSTANCES]
    profiles: list[RelationProfile] = []
    for relation in walker.relations_at(some):
        if relation.backward or relation.id in INSTANCE_RELATIONS:
            continue
        targets = np.unique(walker.follow(Walks.at(some), Relation(relation.id)).targets)
        values = tuple(walker.value(node) for node in targets[:MOST_VALUES].tolist())
        if not values:
            continue
        is_complete = len(some) == len(nodes) and len(targets) <= MOST_VALUES
        profiles.append(_profile(relation.id, labels[relation.id], values, is_complete))
    return profiles


def _profile(id_: str, label: str, values: tuple[Value, ...], is_complete: bool) -> RelationProfile:
    amounts = [amount for value in values if (amount := amount_of(value)) is not None]
    dates = [value for value in values if days_of_value(value) is not None]
    units = [amount.unit for amount in amounts]
    unit = max(sorted(set(units), key=str), key=units.count) if units else None
    flags = {_flag_of(value) for value in values}
    half = len(values) / 2
    kind = ValueKind.TEXT
    if None not in flags and (len(flags) == 2 or not amounts):
        kind = ValueKind.FLAG
    elif sum(isinstance(value, Quantity) for value in values) > half:
        kind = ValueKind.NUMBER
    elif len(dates) > half:
        kind = ValueKind.DATE
    elif len(amounts) > half:
        kind = ValueKind.NUMBER
    elif sum(isinstance(value, EntityValue) for value in values) > half:
        kind = ValueKind.ENTITY
    are_years = kind is ValueKind.NUMBER and unit is None
    are_years = are_years and all(
        amount.number == int(amount.number) and int(amount.number) in _YEARS for amount in amounts
    )
    return RelationProfile(id_, label, kind, values, is_complete, unit, are_years)


def texts_of(profile: RelationProfile, /) -> Sequence[tuple[str, str]]:
    """Returns the texts that are values of a relation, each folded and as it stands."""
    texts = [text for value in profile.values if (text := text_of(value)) is not None]
    return [(fold(text), text) for text in texts]


def _flag_of(value: Value) -> bool | None:
    if isinstance(value, StringValue):
        return _FLAGS.get(fold(value.text))
    if isinstance(value, Quantity) and value.unit is None:
        return _FLAGS.get(value.amount)
    return None
