"""Which of the entities of one name a question means (K2): by the values of their neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from graph_service.link.mention import Candidate
from graph_service.link.question import is_content
from graph_service.link.question_context import QuestionContext
from graph_service.link.rules import LinkingRules
from graph_service.link.spans import Certainty, Span
from graph_service.model.graph import Bool, Int32, Int64, labels_of
from graph_service.model.graph_arrays import find_positions
from graph_service.model.values import Time, display_value, stored_value
from graph_service.text.fold import normalise_name
from graph_service.text.months import FOLDED_MONTHS

# Bounds on work, far beyond any real question or name.
_MAX_HOMONYMS = 1_000
_MAX_EDGES_A_NODE = 50_000
_MAX_LITERALS = 400

# Shares are compared as they are rounded: a power may differ in its last bit between machines.
_DIGITS = 9

# Of this era, from the year 10 on; the year without its noughts.
_DATE = re.compile(r"\+?0*([1-9]\d+)-(\d\d)-(\d\d)")


def rank_candidates(
    reading: QuestionContext, span: Span, named: Sequence[Span], /, *, limit: int
) -> tuple[Candidate, ...]:
    """Returns the entities of a span's name, the one it means first.

    Most neighbours whose value stands in the question, word for word and outside the mention
    (K2). Ties go to the longer values (``New York City`` rather than ``New York``), a label
    written just so, a label over an alias, the higher degree, then the smaller key of the id.

    Args:
        reading: The question.
        span: The mention.
        named: All names that stand in the question, this one included, overlaps too.
        limit: How many at most.
    """
    nodes, aliases = span.nodes, np.array(span.is_alias, dtype=np.bool_)
    degrees = reading.graph.degrees_of(nodes)
    if len(nodes) > _MAX_HOMONYMS:
        top = np.lexsort((nodes, -degrees, aliases))[:_MAX_HOMONYMS]
        nodes, aliases, degrees = nodes[top], aliases[top], degrees[top]
    evidence = _evidence(reading, span, named, nodes)
    matches = np.array([len(texts) for texts in evidence], dtype=np.int64)
    letters = np.array([sum(map(len, texts)) for texts in evidence], dtype=np.int64)
    rules = reading.rules
    popularity = np.round(
        np.where(_written_so(reading, span, nodes), rules.as_written_factor, 1.0)
        * np.where(aliases, 1.0, rules.label_factor)
        * ((1.0 + degrees) / (1.0 + float(degrees.max()))) ** rules.degree_power,
        _DIGITS,
    )
    order = np.lexsort((nodes, -popularity, -letters, -matches))
    # The same order as a share: a match outweighs all else.
    weights = (
        rules.match_factor ** np.minimum(matches - int(matches.max()), 0)
        * np.where(letters < int(letters.max()), rules.shorter_factor, 1.0)
        * popularity
    )
    weights[order] = np.minimum.accumulate(weights[order])
    scores = weights / weights.sum() * span.weight * _confidence(rules, span)
    return tuple(
        Candidate(
            node=int(nodes[i]),
            score=round(float(scores[i]), 5),
            matched=_matched(reading, int(nodes[i]), span),
            is_alias=bool(aliases[i]),
            neighbour_matches=int(matches[i]),
            typos=span.typos,
        )
        for i in order[:limit].tolist()
    )


def _confidence(rules: LinkingRules, span: Span) -> float:
    """Returns how surely a span is meant as a name, 0 to 1."""
    return {
        Certainty.PLAIN: rules.plain,
        Certainty.COMMON: rules.common,
        Certainty.PROPER: rules.spoken,
        Certainty.WRITTEN: rules.written,
    }[span.certainty]


def _written_so(reading: QuestionContext, span: Span, nodes: Int32) -> Bool:
    """Returns for each node whether its label is what the question has, capitals and signs too.

    Of no use where the question tells no names by capitals.
    """
    if len(nodes) < 2 or not reading.writes_capitals:
        return np.zeros(len(nodes), dtype=np.bool_)
    written = reading.question[span.start : span.end]
    labels = labels_of(reading.graph.node_labels, nodes, reading.languages)
    return np.array([label == written for label in labels], dtype=np.bool_)


def _evidence(
    reading: QuestionContext, span: Span, named: Sequence[Span], nodes: Int32
) -> list[set[str]]:
    """Returns for each node the values of its neighbours that stand in the question (K2).

    A value counts once, by the longest of its names, and only outside the mention itself.
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
    evidence: list[set[str]] = [set() for _ in nodes]
    owners, values = _neighbours(reading, nodes)
    if outside:
        numbers = np.repeat(np.arange(len(outside)), [len(other.nodes) for other in outside])
        value_nodes, first = np.unique(
            np.concatenate([other.nodes for other in outside]), return_index=True
        )
        positions = find_positions(value_nodes, values)
        positions[positions == len(value_nodes)] = 0
        hit = value_nodes[positions] == values
        for owner, index in zip(
            owners[hit].tolist(), numbers[first[positions[hit]]].tolist(), strict=True
        ):
            evidence[owner].add(outside[index].name)
    literal = values >= graph.entity_count
    for owner in np.unique(owners[literal]).tolist():
        tails = np.unique(values[literal & (owners == owner)])[:_MAX_LITERALS]
        for encoded in graph.node_ids.take(tails):
            stands = (t for t in _renderings(encoded) if _stands_outside(reading, t, span))
            evidence[owner].update(islice(stands, 1))
    return evidence


def _neighbours(reading: QuestionContext, nodes: Int32) -> tuple[Int64, Int32]:
    """Returns (index in ``nodes``, neighbour) of every edge, both directions, in the view."""
    graph, overlay = reading.graph, reading.overlay
    owners, neighbours = [], []
    for adjacency, other in ((graph.out_edges, graph.tail), (graph.in_edges, graph.head)):
        edges, owner = adjacency.gather(nodes, most=_MAX_EDGES_A_NODE)
        if overlay is not None:
            held = ~overlay.gone.has(edges)
            owner, edges = owner[held], edges[held]
        owners.append(owner)
        neighbours.append(other[edges])
    if overlay is not None:
        order = np.argsort(nodes, kind="stable")
        for mine, other in ((overlay.head, overlay.tail), (overlay.tail, overlay.head)):
            positions = np.searchsorted(nodes[order], mine)
            positions[positions == len(nodes)] = 0
            hit = (nodes[order][positions] == mine) & (other < graph.node_count)
            owners.append(order[positions[hit]])
            neighbours.append(other[hit])
    return np.concatenate(owners), np.concatenate(neighbours)


def _renderings(encoded: str) -> Iterator[str]:
    """Yields a literal's value in normal form; a date in words too, and the year alone last."""
    value = stored_value(encoded)
    shown = normalise_name(display_value(value))
    if len(shown) > 1:
        yield shown
    date = _DATE.match(value.time) if isinstance(value, Time) and value.precision > 9 else None
    if date is None:
        return
    year, month, day = date[1], int(date[2]), int(date[3])
    if 1 <= month <= 12:
        in_words = FOLDED_MONTHS[month - 1]
        if day:
            yield f"{day} {in_words} {year}"
            yield f"{in_words} {day} {year}"
        yield f"{in_words} {year}"
    yield year


def _stands_outside(reading: QuestionContext, text: str, span: Span) -> bool:
    return any(
        right <= span.left or span.right <= left for left, right in reading.runs.get(text, ())
    )


def _matched(reading: QuestionContext, node: int, span: Span) -> str:
    """Returns the label that matched, in the best language that has it."""
    columns = reading.graph.node_labels
    order = dict.fromkeys([*reading.languages, "mul", "en", *sorted(columns)])
    shown = None
    for language in order:
        column = columns.get(language)
        if column is None:
            continue
        position = int(find_positions(column.index, node))
        if position >= len(column.index) or int(column.index[position]) != node:
            continue
        label = column.texts[position]
        shown = shown or label
        if normalise_name(label) == span.name:
            return label
    if span.typos and shown:
        return shown
    return reading.question[span.start : span.end]
