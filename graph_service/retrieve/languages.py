"""One thing said in several languages is said once (O13).

Two ways of saying it again: a text of one head and relation in another language, and a statement
of the same entity in another edition of the graph's source (the French and the English DBpedia).
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

_TEXT = '["m",'
"""How an encoded text with a language begins."""
_ANY_LANGUAGE = "mul"
_WHILE = "looking for what is said in several languages"


@dataclass(frozen=True, slots=True)
class SaidOnce:
    """A region in which nothing is said again in another language.

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
) -> SaidOnce:
    """Returns a region without what it says again in another language.

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
        places = _language_places(region, graph, languages)
        _equal_statements(groups, region, joined, merged, encoded, places, deadline)
    _texts(groups, joined, encoded, languages, deadline)
    if joined is region and not groups.dropped:
        return SaidOnce(region)
    keep = np.ones(region.edge_count, dtype=bool)
    keep[list(groups.dropped)] = False
    left = _without(joined, keep)
    if groups.dropped:
        cut = Cut("statements", CutReason.DUPLICATE, 1, left.edge_count, region.edge_count)
        left = replace(left, cuts=(*left.cuts, cut))
    numbers = region.edges
    return SaidOnce(
        left,
        {
            int(numbers[kept]): tuple(int(numbers[edge]) for edge in sorted(edges))
            for kept, edges in groups.by_kept().items()
        },
    )


class _Groups:
    """Local edges that are dropped, and the edge that stands for each."""

    def __init__(self) -> None:
        self.dropped: dict[int, int] = {}

    def drop(self, edges: Iterable[int], kept: int) -> None:
        """Notes that an edge stands for others, and for what those stood for."""
        for edge in edges:
            self.dropped[edge] = kept

    def by_kept(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for edge, kept in self.dropped.items():
            while kept in self.dropped:
                kept = self.dropped[kept]
            found.setdefault(kept, []).append(edge)
        return found


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
    thing = graph.equal.groups_of(region.nodes)
    count = np.bincount(thing + 1)
    merged = (thing >= 0) & (count[thing + 1] > 1)
    if not merged.any():
        return region, merged
    start = np.full(region.node_count, len(region.start_entities))
    start[region.start_entities[::-1]] = np.arange(len(region.start_entities))[::-1]
    nodes = np.flatnonzero(merged)
    place = _language_places(region, graph, languages)
    order = nodes[np.lexsort((nodes, place[nodes], start[nodes], region.hops[nodes], thing[nodes]))]
    things, first, of_thing = np.unique(thing[order], return_index=True, return_inverse=True)
    stays = np.arange(region.node_count, dtype=np.int32)
    stays[order] = order[first][of_thing]
    degrees = region.degrees.copy()
    degrees[order[first]] = np.bincount(
        of_thing, weights=region.degrees[order], minlength=len(things)
    ).astype(np.int64)
    start_entities = np.array(
        list(dict.fromkeys(stays[region.start_entities].tolist())), dtype=np.int32
    )
    joined = replace(
        region,
        head=stays[region.head],
        tail=stays[region.tail],
        start_entities=start_entities,
        degrees=degrees,
    )
    return joined, merged


def _language_places(region: Region, graph: KnowledgeGraph, languages: Sequence[str]) -> Int64:
    """Returns which of the languages is the first that each node has a label in, int64 [n].

    Of a node without any it is their number, of a literal 0.
    """
    found = np.full(region.node_count, len(languages))
    for place in reversed(range(len(languages))):
        column = graph.node_labels.get(languages[place])
        if column is not None and len(column.index):
            rows = np.minimum(find_positions(column.index, region.nodes), len(column.index) - 1)
            found[column.index[rows] == region.nodes] = place
    found[region.literal] = 0
    return found


def _equal_statements(
    groups: _Groups,
    region: Region,
    joined: Region,
    merged: Bool,
    encoded: _Encoded,
    places: Int64,
    deadline: Deadline,
) -> None:
    """Drops statements that equal another one but for the edition of what they name.

    Those stay whose ends have labels in the language asked for first, then those of the editions
    that stay as nodes.
    """
    moved = (region.head != joined.head).astype(np.int64) + (region.tail != joined.tail)
    later = places[region.head] + places[region.tail]
    touched = np.flatnonzero(merged[region.head] | merged[region.tail])
    relations = int(region.rel.max(initial=0)) + 1
    said = joined.head[touched].astype(np.int64) * relations + region.rel[touched]
    literal = region.literal[region.tail[touched]]
    # Of a literal only what might be said again is read.
    tail = np.where(literal, -1, joined.tail[touched])
    code = said * (region.node_count + 1) + tail + 1
    _, group, count = np.unique(code, return_inverse=True, return_counts=True)
    several = count[group] > 1
    touched, literal, group = touched[several], literal[several], group[several]
    values = iter(encoded.take(region.nodes[region.tail[touched[literal]]]))
    equal: dict[tuple[int, str], list[int]] = {}
    for edge, is_literal, number in zip(
        touched.tolist(), literal.tolist(), group.tolist(), strict=True
    ):
        deadline.check(_WHILE)
        equal.setdefault((number, next(values) if is_literal else ""), []).append(edge)
    for edges in equal.values():
        deadline.check(_WHILE)
        ends = {edge: _ends(region, edge) for edge in edges}
        if len(set(ends.values())) == 1:
            continue
        # Parallel statements of the very same ends were no repetition, and are none now.
        kept = min(edges, key=lambda edge: (int(later[edge]), int(moved[edge]), edge))
        groups.drop((edge for edge in edges if ends[edge] != ends[kept]), kept)


def _ends(region: Region, edge: int) -> tuple[int, int]:
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
    _, group, count = np.unique(code, return_inverse=True, return_counts=True)
    several = count[group] > 1
    edges, group = edges[several], group[several]
    texts: dict[int, dict[int, MonolingualText]] = {}
    values = encoded.take(region.nodes[region.tail[edges]])
    for edge, number, text in zip(edges.tolist(), group.tolist(), values, strict=True):
        deadline.check(_WHILE)
        if text.startswith(_TEXT):
            value = stored_value(text)
            assert isinstance(value, MonolingualText)
            texts.setdefault(number, {})[edge] = value
    for said in texts.values():
        deadline.check(_WHILE)
        tags = {edge: text.language.casefold() for edge, text in said.items()}
        chosen = _first_language(set(tags.values()), languages)
        kept = [edge for edge, tag in tags.items() if tag in chosen]
        groups.drop((edge for edge, tag in tags.items() if tag not in chosen), kept[0])
        first: dict[str, int] = {}
        for edge in kept:
            stays = first.setdefault(said[edge].text, edge)
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
            found = {tag} & there or {one for one in there if one.startswith(f"{tag}-")}
            if found:
                return found
    return there


def _without(region: Region, keep: Bool) -> Region:
    """Returns some edges of a region, without the nodes that only the others had."""
    used = np.zeros(region.node_count, dtype=bool)
    used[region.head[keep]] = used[region.tail[keep]] = used[region.start_entities] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return Region(
        nodes=region.nodes[used],
        node_keys=region.node_keys[used],
        hops=region.hops[used],
        literal=region.literal[used],
        degrees=region.degrees[used],
        start_entities=number[region.start_entities],
        edges=region.edges[keep],
        edge_keys=region.edge_keys[keep],
        head=number[region.head[keep]],
        tail=number[region.tail[keep]],
        rel=region.rel[keep],
        cuts=region.cuts,
    )
