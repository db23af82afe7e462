"""Which of the entities of one name a question means (K2): by the values of their neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.link.candidates import degrees_of
from graph_service.link.mention import Candidate
from graph_service.link.question import is_content
from graph_service.link.reading import Reading
from graph_service.link.spans import Certainty, Span
from graph_service.model.graph import Adjacency, Int32, Int64
from graph_service.model.text import normalise_name
from graph_service.model.values import Time, decode_value, display_value

# Bounds on work, far beyond any real question or name.
_MAX_HOMONYMS = 1_000
_MAX_EDGES_A_NODE = 50_000
_MAX_LITERALS = 400

_CONFIDENCE = {Certainty.COMMON: 0.5, Certainty.SPOKEN: 0.9, Certainty.WRITTEN: 1.0}


def rank_candidates(
    reading: Reading, span: Span, named: Sequence[Span], /, *, limit: int
) -> tuple[Candidate, ...]:
    """Returns the entities of a span's name, the one it means first.

    Most neighbours whose value stands in the question, word for word and outside the mention
    (K2); ties go to a label over an alias, the higher degree, then the smaller key of the id.

    Args:
        reading: The question.
        span: The mention.
        named: All names that stand in the question, this one included, overlaps too.
        limit: How many at most.
    """
    nodes, aliases = span.nodes, np.array(span.is_alias, dtype=np.bool_)
    degrees = degrees_of(reading.graph, nodes)
    if len(nodes) > _MAX_HOMONYMS:
        kept = np.lexsort((nodes, -degrees, aliases))[:_MAX_HOMONYMS]
        nodes, aliases, degrees = nodes[kept], aliases[kept], degrees[kept]
    matches = _neighbour_matches(reading, span, named, nodes)
    order = np.lexsort((nodes, -degrees, aliases, -matches))
    # The same order as a share: a match outweighs all else, a label outweighs any degree.
    weights = (
        4.0 ** np.minimum(matches - int(matches.max()), 0)
        * np.where(aliases, 1.0, 2.0)
        * (1.0 + degrees / (1.0 + float(degrees.max())))
    )
    scores = weights / weights.sum() * span.weight * _CONFIDENCE[span.certainty]
    return tuple(
        Candidate(
            node=int(nodes[i]),
            score=round(float(scores[i]), 5),
            matched=_matched(reading, int(nodes[i]), span),
            is_alias=bool(aliases[i]),
            neighbour_matches=int(matches[i]),
            slips=span.slips,
        )
        for i in order[:limit].tolist()
    )


def _neighbour_matches(reading: Reading, span: Span, named: Sequence[Span], nodes: Int32) -> Int64:
    """Returns for each node how many values of its neighbours stand in the question (K2).

    A value counts once, by any of its names, and only outside the mention itself.
    """
    graph = reading.graph
    outside = sorted(
        (
            other
            for other in named
            if not other.overlaps(span)
            and any(is_content(atom) for atom in reading.atoms[other.left : other.right])
        ),
        key=lambda other: (-(other.end - other.start), other.start),
    )
    counts = np.zeros(len(nodes), dtype=np.int64)
    phrases: dict[str, int] = {}
    values: list[Int32] = []
    numbers: list[Int64] = []
    for other in outside:
        number = phrases.setdefault(other.name, len(phrases))
        values.append(other.nodes)
        numbers.append(np.full(len(other.nodes), number, dtype=np.int64))
    owners, ends = _neighbours(reading, nodes)
    if values:
        value_nodes, first = np.unique(np.concatenate(values), return_index=True)
        value_numbers = np.concatenate(numbers)[first]
        places = np.searchsorted(value_nodes, ends)
        places[places == len(value_nodes)] = 0
        hit = value_nodes[places] == ends
        pairs = np.unique(owners[hit] * len(phrases) + value_numbers[places[hit]])
        counts += np.bincount(pairs // len(phrases), minlength=len(nodes))
    literal = ends >= graph.entity_count
    for owner in np.unique(owners[literal]).tolist():
        tails = np.unique(ends[literal & (owners == owner)])[:_MAX_LITERALS]
        found = {
            text
            for encoded in graph.node_ids.take(tails)
            for text in _renderings(encoded)
            if text not in phrases and _stands_outside(reading, text, span)
        }
        counts[owner] += len(found)
    return counts


def _neighbours(reading: Reading, nodes: Int32) -> tuple[Int64, Int32]:
    """Returns (place in ``nodes``, neighbour) of every edge, both directions, in the view."""
    graph, overlay = reading.graph, reading.overlay
    owners, ends = [], []
    for adjacency, other in ((graph.out_edges, graph.tail), (graph.in_edges, graph.head)):
        owner, edges = _edges_of(adjacency, nodes)
        if overlay is not None:
            held = ~overlay.gone[edges]
            owner, edges = owner[held], edges[held]
        owners.append(owner)
        ends.append(other[edges])
    if overlay is not None:
        order = np.argsort(nodes, kind="stable")
        for mine, other in ((overlay.head, overlay.tail), (overlay.tail, overlay.head)):
            places = np.searchsorted(nodes[order], mine)
            places[places == len(nodes)] = 0
            hit = (nodes[order][places] == mine) & (other < graph.node_count)
            owners.append(order[places[hit]])
            ends.append(other[hit])
    return np.concatenate(owners), np.concatenate(ends)


def _edges_of(adjacency: Adjacency, nodes: Int32) -> tuple[Int64, Int32]:
    """Returns (place in ``nodes``, edge) of all their edges, the first 50,000 of each node."""
    starts = adjacency.indptr[nodes]
    counts = np.minimum(adjacency.indptr[nodes + 1] - starts, _MAX_EDGES_A_NODE)
    owners = np.repeat(np.arange(len(nodes), dtype=np.int64), counts)
    within = np.arange(len(owners), dtype=np.int64) - np.repeat(np.cumsum(counts) - counts, counts)
    return owners, adjacency.edges[np.repeat(starts, counts) + within]


def _renderings(encoded: str) -> tuple[str, ...]:
    """Returns a literal's value in normal form; of a date its year too."""
    value = decode_value(encoded)
    shown = normalise_name(display_value(value))
    if isinstance(value, Time) and value.precision > 9 and not value.time.startswith("-"):
        return (shown, value.time.lstrip("+").split("-", 1)[0].lstrip("0"))
    return (shown,) if len(shown) > 1 else ()


def _stands_outside(reading: Reading, text: str, span: Span) -> bool:
    return any(
        right <= span.left or span.right <= left for left, right in reading.runs.get(text, ())
    )


def _matched(reading: Reading, node: int, span: Span) -> str:
    """Returns the label that matched, in the best language that has it."""
    columns = reading.graph.node_labels
    order = dict.fromkeys([*reading.languages, "mul", "en", *sorted(columns)])
    shown = None
    for language in order:
        column = columns.get(language)
        if column is None:
            continue
        place = int(np.searchsorted(column.index, node))
        if place >= len(column.index) or int(column.index[place]) != node:
            continue
        label = column.texts[place]
        shown = shown or label
        if normalise_name(label) == span.name:
            return label
    if span.slips and shown:
        return shown
    return reading.question[span.start : span.end]
