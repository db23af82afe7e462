"""Statements that repeat one fact in another language are left out (O13).

There are two kinds: a text of one head and relation in another language, and a statement of the
same entity in another edition of the graph's source (the French and the English DBpedia).
Entities that are one thing become one node here, after the region was cut through all of them
(``model.equal_entities``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, KnowledgeGraph
from graph_service.model.graph_arrays import find_positions
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.region import Region
from graph_service.model.values import MonolingualText, stored_value
from graph_service.sorting import may_repeat, ranked, stable_order

_TEXT = '["m",'
"""How an encoded text with a language begins."""
_ANY_LANGUAGE = "mul"
_WHILE = "looking for facts that are stated in several languages"


@dataclass(frozen=True, slots=True)
class WithoutRepeats:
    """A region in which no fact is repeated in another language.

    Attributes:
        region: With one node for each thing, and a cut where statements were left out.
        stands_for: By the global number of a statement that stays those that it stands for.
    """

    region: Region
    stands_for: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


def deduplicate_languages(
    region: Region,
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    languages: Sequence[str],
    /,
    *,
    deadline: Deadline | None = None,
) -> WithoutRepeats:
    """Returns a region without facts that it repeats in another language.

    * Entities that are the same thing become one node: that of fewest steps from the question's
      entities, of these the one with a label in the language asked for first.
    * Of statements that are equal then and were not before, those of one head and value stay.
    * Of texts of one head and relation, those in the first language asked for that there is stay,
      a text in no one language (``mul``) standing in for any; where there is none, all stay, but
      what reads the same stays once.

    Args:
        region: As cut out of the graph or the view.
        graph: The base.
        overlay: The view, where one is asked for.
        languages: Those asked for, best first.
        deadline: Raises ``DeadlineError`` when past.
    """
    deadline = deadline or Deadline.none()
    encoded = _Encoded(graph, overlay)
    joined, merged = _joined(region, graph, languages)
    groups = _Groups()
    if joined is not region:
        edges = _touched_twice(region, joined, merged)
        later = _later(region, edges, graph, languages)
        _equal_statements(groups, region, joined, edges, later, encoded, deadline)
    _texts(groups, joined, encoded, languages, deadline)
    if joined is region and not groups.dropped:
        return WithoutRepeats(region)
    selected = np.ones(region.edge_count, dtype=bool)
    selected[list(groups.dropped)] = False
    left = _without(joined, selected)
    if groups.dropped:
        cut = Cut("statements", CutReason.DUPLICATE, 1, left.edge_count, region.edge_count)
        left = replace(left, cuts=(*left.cuts, cut))
    numbers = region.edges
    return WithoutRepeats(
        left,
        {
            int(numbers[representative]): tuple(int(numbers[edge]) for edge in sorted(edges))
            for representative, edges in groups.by_representative().items()
        },
    )


class _Groups:
    """Local edges that are dropped, and the edge that stands for each."""

    def __init__(self) -> None:
        self.dropped: dict[int, int] = {}

    def drop(self, edges: Iterable[int], representative: int) -> None:
        """Notes that an edge stands for others, and for what those stood for."""
        for edge in edges:
            self.dropped[edge] = representative

    def by_representative(self) -> dict[int, list[int]]:
        groups: dict[int, list[int]] = {}
        for edge, representative in self.dropped.items():
            while representative in self.dropped:
                representative = self.dropped[representative]
            groups.setdefault(representative, []).append(edge)
        return groups


class _Encoded:
    """Encoded values of literals, the base's and a view's."""

    def __init__(self, graph: KnowledgeGraph, overlay: Overlay | None) -> None:
        self._graph = graph
        self._overlay = overlay

    def take(self, nodes: Int32 | Int64) -> list[str]:
        """Returns the encoded value of each global node."""
        count = self._graph.node_count
        if self._overlay is None or not len(nodes) or int(nodes.max()) < count:
            return self._graph.node_ids.take(nodes)
        new = self._overlay.new_nodes
        return [
            new[node - count] if node >= count else self._graph.node_ids[node]
            for node in nodes.tolist()
        ]


def _joined(region: Region, graph: KnowledgeGraph, languages: Sequence[str]) -> tuple[Region, Bool]:
    """Returns the region with one node for each thing, and which nodes are editions of one thing.

    The node that stays for several is of the fewest steps, then named first by the question, then
    with a label in the first language; the others have no edge any more.
    """
    if not len(graph.equal):
        return region, np.zeros(region.node_count, dtype=bool)
    merged = np.zeros(region.node_count, dtype=bool)
    group = graph.equal.groups_of(region.nodes)
    nodes = np.flatnonzero(group >= 0)
    _, thing = ranked(group[nodes].astype(np.int64))
    several = np.flatnonzero(np.bincount(thing)[thing] > 1)
    if not len(several):
        return region, merged
    nodes = nodes[several]
    things, thing = ranked(thing[several])
    merged[nodes] = True
    start = np.full(region.node_count, len(region.start_entities))
    start[region.start_entities[::-1]] = np.arange(len(region.start_entities))[::-1]
    rank = np.zeros(len(nodes), dtype=np.int64)
    for of_node, most in (
        (region.hops[nodes], int(region.hops.max())),
        (start[nodes], len(region.start_entities)),
        (_language_ranks(region.nodes[nodes], graph, languages), len(languages)),
    ):
        rank = rank * (most + 1) + of_node
    # Of each thing the first node is written last, and stays.
    last = stable_order(rank)[::-1]
    first = np.empty(len(things), dtype=np.int64)
    first[thing.take(last)] = nodes.take(last)
    stays = np.arange(region.node_count, dtype=np.int32)
    stays[nodes] = first.take(thing)
    degrees = region.degrees.copy()
    sums = np.bincount(thing, weights=region.degrees[nodes], minlength=len(things))
    degrees[first] = sums.astype(np.int64)
    start_entities = np.array(
        list(dict.fromkeys(stays[region.start_entities].tolist())), dtype=np.int32
    )
    joined = replace(
        region,
        head=stays.take(region.head),
        tail=stays.take(region.tail),
        start_entities=start_entities,
        degrees=degrees,
    )
    return joined, merged


def _language_ranks(nodes: Int32, graph: KnowledgeGraph, languages: Sequence[str]) -> Int64:
    """Returns which of the languages is the first that each of some entities has a label in.

    Of an entity without any it is the count of languages.
    """
    positions = np.full(len(nodes), len(languages))
    for position in reversed(range(len(languages))):
        column = graph.node_labels.get(languages[position])
        if column is not None and len(column.index):
            rows = np.minimum(find_positions(column.index, nodes), len(column.index) - 1)
            positions[column.index[rows] == nodes] = position
    return positions


@dataclass(frozen=True, slots=True, eq=False)
class _Touched:
    """Local edges at merged nodes of which several join the same things by the same relation.

    Attributes:
        edges: Ascending, int64.
        group: Equal for those that do, int64. Literals of one head and relation count as one thing.
    """

    edges: Int64
    group: Int64


def _touched_twice(region: Region, joined: Region, merged: Bool) -> _Touched:
    edges = np.flatnonzero(merged.take(region.head) | merged.take(region.tail))
    is_literal = region.literal.take(region.tail)
    columns = [
        joined.head,
        region.rel,
        np.where(is_literal, np.int32(0), joined.tail + np.int32(1)),
    ]
    if len(edges) < region.edge_count:
        columns = [column.take(edges) for column in columns]
    # Only statements that may repeat a fact are compared, and only their literals are read.
    rows = may_repeat(*columns)
    head, relation, tail = (column.take(rows).astype(np.int64) for column in columns)
    relations = int(region.rel.max(initial=0)) + 1
    _, group = ranked((head * relations + relation) * (region.node_count + 1) + tail)
    several = np.flatnonzero(np.bincount(group).take(group) > 1)
    return _Touched(edges.take(rows.take(several)), group.take(several))


def _later(
    region: Region, touched: _Touched, graph: KnowledgeGraph, languages: Sequence[str]
) -> list[int]:
    """Returns of each edge how late in the languages asked for those of its entities' labels are."""
    head, tail = region.head[touched.edges], region.tail[touched.edges]
    later = _language_ranks(region.nodes[head], graph, languages)
    of_tail = _language_ranks(region.nodes[tail], graph, languages)
    of_tail[region.literal[tail]] = 0
    positions: list[int] = (later + of_tail).tolist()
    return positions


def _equal_statements(
    groups: _Groups,
    region: Region,
    joined: Region,
    touched: _Touched,
    later: Sequence[int],
    encoded: _Encoded,
    deadline: Deadline,
) -> None:
    """Drops statements that equal another one but for the edition of what they name.

    Those stay whose endpoints have labels in the language asked for first, then those of the editions
    that stay as nodes.
    """
    edges = touched.edges
    head, tail = region.head[edges], region.tail[edges]
    moved = ((head != joined.head[edges]).astype(np.int64) + (tail != joined.tail[edges])).tolist()
    literal = region.literal[tail]
    values = iter(encoded.take(region.nodes[tail[literal]]))
    equal: dict[tuple[int, str], list[int]] = {}
    for row, (is_literal, group) in enumerate(
        zip(literal.tolist(), touched.group.tolist(), strict=True)
    ):
        deadline.check(_WHILE)
        equal.setdefault((group, next(values) if is_literal else ""), []).append(row)
    for rows in equal.values():
        deadline.check(_WHILE)
        endpoints = {row: _endpoints(region, int(edges[row])) for row in rows}
        if len(set(endpoints.values())) == 1:
            continue
        # Parallel statements of the very same endpoints were no repetition, and are none now.
        first = min(rows, key=lambda row: (later[row], moved[row], row))
        others = (int(edges[row]) for row in rows if endpoints[row] != endpoints[first])
        groups.drop(others, int(edges[first]))


def _endpoints(region: Region, edge: int) -> tuple[int, int]:
    tail = int(region.tail[edge])
    return int(region.head[edge]), -1 if region.literal[tail] else tail


def _texts(
    groups: _Groups,
    region: Region,
    encoded: _Encoded,
    languages: Sequence[str],
    deadline: Deadline,
) -> None:
    """Drops texts of one head and relation in other languages than the first that there is."""
    edges = np.flatnonzero(region.literal[region.tail])
    if groups.dropped:
        edges = edges[~np.isin(edges, list(groups.dropped))]
    code = region.head[edges].astype(np.int64) * (int(region.rel.max(initial=0)) + 1)
    code += region.rel[edges]
    _, group = ranked(code)
    several = np.bincount(group)[group] > 1
    edges, group = edges[several], group[several]
    texts: dict[int, dict[int, MonolingualText]] = {}
    values = encoded.take(region.nodes[region.tail[edges]])
    for edge, group_id, text in zip(edges.tolist(), group.tolist(), values, strict=True):
        deadline.check(_WHILE)
        if text.startswith(_TEXT):
            value = stored_value(text)
            assert isinstance(value, MonolingualText)
            texts.setdefault(group_id, {})[edge] = value
    for of_relation in texts.values():
        deadline.check(_WHILE)
        tags = {edge: text.language.casefold() for edge, text in of_relation.items()}
        chosen = _first_language(set(tags.values()), languages)
        chosen_edges = [edge for edge, tag in tags.items() if tag in chosen]
        groups.drop((edge for edge, tag in tags.items() if tag not in chosen), chosen_edges[0])
        first: dict[str, int] = {}
        for edge in chosen_edges:
            stays = first.setdefault(of_relation[edge].text, edge)
            # One text twice in one language are statements apart: by qualifiers, say.
            if tags[stays] != tags[edge]:
                groups.drop((edge,), stays)


def _first_language(there: set[str], languages: Sequence[str]) -> set[str]:
    """Returns the tags of the first language asked for that is there: itself, else as spoken
    somewhere (``en-gb`` for ``en``).
    """
    if len(there) > 1:
        for language in (*languages, _ANY_LANGUAGE):
            tag = language.casefold()
            matches = {tag} & there or {other for other in there if other.startswith(f"{tag}-")}
            if matches:
                return matches
    return there


def _without(region: Region, selected: Bool) -> Region:
    """Returns some edges of a region, without the nodes that only the others had."""
    if not selected.all():
        edges = np.flatnonzero(selected)
        region = replace(
            region,
            edges=region.edges.take(edges),
            edge_keys=region.edge_keys.take(edges),
            head=region.head.take(edges),
            tail=region.tail.take(edges),
            rel=region.rel.take(edges),
        )
    used = np.zeros(region.node_count, dtype=bool)
    used[region.head] = used[region.tail] = used[region.start_entities] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return replace(
        region,
        nodes=region.nodes[used],
        node_keys=region.node_keys[used],
        hops=region.hops[used],
        literal=region.literal[used],
        degrees=region.degrees[used],
        start_entities=number[region.start_entities],
        head=number.take(region.head),
        tail=number.take(region.tail),
    )
