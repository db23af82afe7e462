"""Which walks of a question's candidates meet its constraints, by the statements around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache

import numpy as np

from graph_service.model.answer import ConstraintKind
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.days import Days, days_of, days_of_text
from graph_service.model.graph import Bool, Int64
from graph_service.model.region import Region
from graph_service.model.values import EntityValue, Quantity, StringValue, Value, stored_value
from graph_service.query.readings import amount_of_text
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.reading import (
    kin_of,
)
from graph_service.retrieve.constraints.reading_dates import DateConstraint
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.relation_names import stem
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular

Constraint = DateConstraint | NamedNodes
MOST_DATED = 20_000
"""Values that are looked at for dates."""


def kind_of(constraint: Constraint, /) -> ConstraintKind:
    """Returns what a constraint asks for."""
    if isinstance(constraint, DateConstraint):
        return ConstraintKind.DATE
    return ConstraintKind.ENTITY if constraint.is_entity else ConstraintKind.VALUE


_TIME = frozenset({"year", "date", "decade", "day", "time", "born", "died", "founded"})
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with its text, and the id of its unit, empty for none."""

    number: Decimal
    text: str
    unit: str


@dataclass(frozen=True, slots=True, eq=False)
class CandidateWalks:
    """The walks of one candidate, ``w`` walks of ``s`` steps.

    Attributes:
        number: The candidate's.
        start: Place of its start among the region's start entities.
        edges: Global edge numbers, int64 [w, s].
        nodes: Nodes of the surroundings, its start first, int64 [w, s + 1].
        relations: Global numbers of its relations.
        backward: Whether each step is walked from tail to head.
    """

    number: int
    start: int
    edges: Int64
    nodes: Int64
    relations: tuple[int, ...]
    backward: tuple[bool, ...]

    @property
    def end_nodes(self) -> Int64:
        """The end of each walk, int64 [w]."""
        end_nodes: Int64 = self.nodes[:, -1]
        return end_nodes


@dataclass(frozen=True, slots=True, eq=False)
class Met:
    """How the walks of a candidate meet one constraint.

    Attributes:
        walks: Whether each does, bool [w].
        column: Place of the node that does, in ``CandidateWalks.nodes``.
        relations: Relations of the statements that say so; None for any.
        by_end: Whether the walks' own ends are what is named.
        is_open: Whether those do too whose end has no class, where a class is named: that they are of
            another the graph does not say.
    """

    walks: Bool
    column: int
    relations: frozenset[int] | None = None
    by_end: bool = False
    is_open: bool = False


class Surroundings:
    """The statements around a question's entities, as constraints look at them.

    Args:
        region: Before PageRank cut it.
        labels: Of the graph or the view.
        texts: Words of its relations, by global number.
    """

    def __init__(self, region: Region, labels: Labels, texts: Mapping[int, str], /) -> None:
        self.region = region
        self._labels = labels
        self._texts = texts
        self._days: dict[int, Days | None] = {}
        self._around: dict[bytes, Bool] = {}

    def around(self, nodes: Int64, /) -> Bool:
        """Returns which nodes a statement joins to one of some nodes, bool [n]."""
        key = nodes.tobytes()
        if key not in self._around:
            region = self.region
            named = np.zeros(region.node_count, dtype=bool)
            named[nodes] = True
            is_near = np.zeros(region.node_count, dtype=bool)
            is_near[region.tail[np.flatnonzero(named[region.head])]] = True
            is_near[region.head[np.flatnonzero(named[region.tail])]] = True
            self._around[key] = is_near
        return self._around[key]

    def joining(self, end_nodes: Int64, nodes: Int64, /) -> Int64:
        """Returns the local edges between any of some ends and any of some nodes, in order."""
        region = self.region
        left = np.zeros(region.node_count, dtype=bool)
        right = left.copy()
        left[end_nodes], right[nodes] = True, True
        forth = left[region.head] & right[region.tail]
        return np.flatnonzero(forth | (right[region.head] & left[region.tail]))

    def statements_of(self, nodes: Int64, /) -> Int64:
        """Returns the local edges whose heads are some nodes, in order."""
        is_head = np.zeros(self.region.node_count, dtype=bool)
        is_head[nodes] = True
        return np.flatnonzero(is_head[self.region.head])

    def days(self, node: int, /) -> Days | None:
        """Returns the days that a node means, where it is a date or a year."""
        if node not in self._days:
            self._days[node] = self._read_days(node)
        return self._days[node]

    def value(self, node: int, /) -> Value:
        """Returns what a node is: a literal's value, or an entity."""
        graph, overlay = self._labels.graph, self._labels.overlay
        number = int(self.region.nodes[node])
        if number < graph.entity_count:
            return EntityValue(graph.node_ids[number])
        if number < graph.node_count:
            return stored_value(graph.node_ids[number])
        assert overlay is not None
        return stored_value(overlay.new_nodes[number - graph.node_count])

    def text(self, relation: int, /) -> str:
        """Returns the words of a relation."""
        return self._texts[relation]

    def label(self, node: int, /) -> str:
        """Returns the label of a node of the region, or the text of a literal."""
        return self._labels.nodes(self.region.nodes[node : node + 1])[0]

    def says_class(self, relation: int, /) -> bool:
        """Returns whether a relation says of which class something is."""
        return self._labels.relation_ids(np.array([relation]))[0] in INSTANCE_RELATIONS

    def are_classes(self, nodes: Int64, /) -> bool:
        """Returns whether something is said to be an instance of one of some nodes."""
        relations = self.region.rel[np.isin(self.region.tail, nodes)]
        return any(map(self.says_class, np.unique(relations).tolist()))

    def class_labels(self, nodes: Int64, /) -> list[list[str]]:
        """Returns the labels of the classes of each of some nodes."""
        return self._labels.class_labels(self.region, nodes)

    def _read_days(self, node: int) -> Days | None:
        value = self.value(node)
        if isinstance(value, EntityValue):
            return days_of_text(value.id) or days_of_text(self.label(node))
        if isinstance(value, StringValue) and value.datatype == "external-id":
            return None
        return days_of(value)

    def number(self, node: int, /) -> Amount | None:
        """Returns the number that a node is, where it is one."""
        value = self.value(node)
        if isinstance(value, Quantity):
            text, unit = value.amount, value.unit or ""
        elif isinstance(value, EntityValue):
            text, unit = self.label(node), ""
        else:
            text, unit = value.text if isinstance(value, StringValue) else "", ""
        if not _NUMBER.fullmatch(text):
            measured = amount_of_text(text)
            if measured is None or isinstance(value, Quantity):
                return None
            return Amount(measured.number, str(measured.number), measured.unit or "")
        return Amount(Decimal(text.replace(",", "")), text.replace(",", ""), unit)

    def dated(self, nodes: Int64, /) -> dict[int, list[tuple[int, int, Days]]]:
        """Returns the dates said of some nodes, by relation: the node, the local edge, the days."""
        region = self.region
        edges = self.statements_of(nodes)
        # An entity is a year only where the relation speaks of time: years are names of others too.
        may_be = region.literal[region.tail[edges]] | self._of_time[region.rel[edges]]
        dates: dict[int, list[tuple[int, int, Days]]] = {}
        for edge in edges[may_be][:MOST_DATED].tolist():
            days = self.days(int(region.tail[edge]))
            if days is not None:
                row = (int(region.head[edge]), edge, days)
                dates.setdefault(int(region.rel[edge]), []).append(row)
        return dates

    def all_dates(self, nodes: Int64, /) -> list[int]:
        """Returns the local edges of all dates said of some nodes; none where one has no date."""
        rows = [row for dates in self.dated(nodes).values() for row in dates]
        if {node for node, _, _ in rows} != set(nodes.tolist()):
            return []
        return sorted(edge for _, edge, _ in rows)

    @cached_property
    def _of_time(self) -> Bool:
        """Which relations speak of time, by global number."""
        is_of_time = np.zeros(max(self._texts, default=0) + 1, dtype=bool)
        is_of_time[[each for each, text in self._texts.items() if _TIME & set(words(text))]] = True
        return is_of_time


def applies(
    constraint: NamedNodes,
    walks: CandidateWalks,
    span: tuple[int, int],
    question: str,
    near: Bool,
    stems: Sequence[frozenset[str]],
) -> bool:
    """Returns whether words may constrain what a candidate leads to.

    They may not where they are the start's name, say beside it what it is (``the river Rhine``), or
    speak of the relations walked.

    Args:
        constraint: The words and what they name.
        walks: The candidate's.
        span: Characters of its start's name.
        question: As asked.
        near: What is joined to the named nodes, bool [n].
        stems: Of the words of each of its relations.
    """
    start = int(walks.nodes[0, 0])
    is_repeated = constraint.text.casefold() == question[slice(*span)].casefold()
    if constraint.overlaps(*span) or start in constraint.nodes or is_repeated:
        return False
    noun = singular(constraint.words[-1])
    own = {stem(singular(word)) for word in constraint.words}
    if constraint.is_entity and own in stems:
        # "The account manager of X" is the relation of that name, and no job title of that name.
        return False
    if constraint.is_entity or kin_of(noun):
        return True
    between = question[constraint.end : span[0]] or question[span[1] : constraint.start]
    if span[0] >= 0 and near[start] and not between.strip():
        return False
    return not own <= frozenset[str]().union(*stems)


@lru_cache(maxsize=1 << 14)
def noun_stems(text: str, /) -> frozenset[str]:
    """Returns the stems of a text's words, nouns in the singular, function words left out."""
    return frozenset(stem(singular(word)) for word in words(text) if word not in EMPTY_IN_ENGLISH)


def relation_stems(relations: Iterable[int], texts: Mapping[int, str], /) -> frozenset[str]:
    """Returns the stems of the words of some relations."""
    stems: frozenset[str] = frozenset()
    return stems.union(*(noun_stems(texts.get(relation, "")) for relation in relations))


def meets_named(near: Bool, walks: CandidateWalks, columns: Iterable[int], /) -> Met | None:
    """Returns which walks meet a value or an entity, by the first of some columns that does: by
    their ends, else by nodes on the way.
    """
    for column in columns:
        met = near[walks.nodes[:, column]]
        if met.any():
            return Met(met, column)
    return None


def meets_not(
    named: NamedNodes, how: Met, walks: CandidateWalks, around: Surroundings, /
) -> Met | None:
    """Returns which walks do not meet a name, but pass something of which the graph says as much.

    What has no statement of the relation at all may be so or not: it does not count.

    Args:
        named: What is said not to be.
        how: The walks that meet it.
        walks: The candidate's.
        around: What is said of their nodes.
    """
    region = around.region
    nodes = walks.nodes[:, how.column]
    edges = around.joining(np.unique(nodes[how.walks]), named.nodes)
    same = np.isin(region.rel, region.rel[edges])
    is_named = np.zeros(region.node_count, dtype=bool)
    is_named[named.nodes] = True
    known = np.zeros(region.node_count, dtype=bool)
    if is_named[region.tail[edges]].any():
        known[region.head[same]] = True
    if is_named[region.head[edges]].any():
        known[region.tail[same]] = True
    rows = ~how.walks & known[nodes]
    return Met(rows, how.column) if rows.any() else None


def leads_to_others(named: NamedNodes, walks: CandidateWalks, /) -> Met | None:
    """Returns which walks lead to others than what is said not to be, if some lead to that: ships of
    X *except the Saltwind*.
    """
    is_named = np.isin(walks.end_nodes, named.nodes)
    if not is_named.any() or is_named.all():
        return None
    return Met(~is_named, len(walks.relations), by_end=True)


def meets_date(
    constraint: DateConstraint,
    walks: CandidateWalks,
    around: Surroundings,
    similarity: Mapping[int, float],
    /,
) -> Met | None:
    """Returns which walks meet a span of time, by the date that fits the question's words best.

    Args:
        constraint: The span.
        walks: The candidate's.
        around: What is said of their nodes.
        similarity: Of each relation's words to what the question says of the time.
    """
    for column in range(walks.nodes.shape[1] - 1, 0, -1):
        nodes = walks.nodes[:, column]
        best: tuple[float, int, set[int]] | None = None
        for relation, dates in around.dated(nodes).items():
            meeting = {node for node, _, days in dates if constraint.days.holds(days)}
            key = (similarity.get(relation, 0.0), -relation)
            if meeting and (best is None or key > best[:2]):
                best = (*key, meeting)
        if best is not None:
            met = np.isin(nodes, np.array(sorted(best[2]), dtype=np.int64))
            return Met(met, column, frozenset({-best[1]}))
    return None


def names_end_nodes(
    constraint: Constraint, walks: CandidateWalks, around: Surroundings, /
) -> Met | None:
    """Returns which walks end at what a constraint names: at its nodes, or at a date in its span."""
    if isinstance(constraint, NamedNodes):
        met = np.isin(walks.end_nodes, constraint.nodes)
    else:
        distinct, index = np.unique(walks.end_nodes, return_inverse=True)
        held = [
            days is not None and constraint.days.holds(days)
            for days in map(around.days, distinct.tolist())
        ]
        met = np.array(held, dtype=bool)[index]
    return Met(met, walks.nodes.shape[1] - 1, by_end=True) if met.any() else None
