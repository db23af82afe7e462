"""Spans of a question that are misspelt names: where one may stand, and what it may displace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.link.capitals import possible_names
from graph_service.link.misspelt import allowed_distance
from graph_service.link.question import is_content, join_atoms
from graph_service.link.question_context import QuestionContext
from graph_service.link.spans import Certainty, Span, without_overlaps
from graph_service.model.graph import NodeKind
from graph_service.text.fold import normalise_name

# Bounds on work, far beyond any real question or name.
_MAX_WINDOWED_WORDS = 40
_MAX_RESPELT = 40


def with_misspelt(reading: QuestionContext, chosen: list[Span], /) -> list[Span]:
    """Returns the spans chosen so far and those that a misspelt name explains better.

    Args:
        reading: The question.
        chosen: Exact names of which no two overlap.
    """
    if reading.writes_capitals:
        return _in_capital_runs(reading, chosen)
    return _in_windows(reading, chosen)


def _in_capital_runs(reading: QuestionContext, chosen: list[Span]) -> list[Span]:
    """Misspelt names for capitalised runs that no name covers."""
    owners = {index: span for span in chosen for index in range(span.left, span.right)}
    runs: list[tuple[int, int]] = []
    for left, right in possible_names(reading):
        inside = {owners[index] for index in range(left, right) if index in owners}
        if inside and right - left < 2:
            continue
        if any(span.left < left or span.right > right for span in inside):
            continue
        if any(span.left == left and span.right == right for span in inside):
            continue
        runs.append((left, right))
    tried = _respell(reading, runs[:_MAX_RESPELT], Certainty.WRITTEN)
    added = without_overlaps([span for span in tried if span is not None])
    rest = [span for span in chosen if not any(span.overlaps(other) for other in added)]
    return rest + added


def _in_windows(reading: QuestionContext, chosen: list[Span]) -> list[Span]:
    """Misspelt names of two words and more, where there are no capitals to show where a name
    begins: in place of one-word names and common nouns only.
    """
    sure = [span for span in chosen if span.certainty > Certainty.COMMON and span.word_count() > 1]
    windows: list[tuple[int, int]] = []
    count = min(len(reading.atoms), _MAX_WINDOWED_WORDS)
    for left in range(count):
        for right in range(left + 2, min(count, left + reading.rules.window_words) + 1):
            atoms = reading.atoms[left:right]
            if any(span.left < right and left < span.right for span in sure):
                continue
            if any(atom.unspaced for atom in atoms) or any(
                not is_content(atom) or reading.lexicon.is_plain(atom.text)
                for atom in (atoms[0], atoms[-1])
            ):
                continue
            if sum(len(atom.text) for atom in atoms) >= reading.rules.window_letters:
                windows.append((left, right))
    respelt = [span for span in _respell(reading, windows, Certainty.PROPER) if span is not None]
    respelt = without_overlaps(respelt)
    rest = [span for span in chosen if not any(span.overlaps(other) for other in respelt)]
    return rest + respelt


def _respell(
    reading: QuestionContext, runs: Sequence[tuple[int, int]], certainty: Certainty
) -> list[Span | None]:
    """Returns for each ``(left, right)`` the one name that it is nearly, or None."""
    graph, rules = reading.graph, reading.rules
    names = [join_atoms(reading.atoms[left:right]) for left, right in runs]
    if not any(allowed_distance(name.replace(" ", ""), rules) for name in names):
        return [None] * len(runs)
    spans: list[Span | None] = []
    spelling = reading.lexicon.spelling(graph)
    listed = spelling.find_all(names, rules)
    for (left, right), name, items in zip(runs, names, listed, strict=True):
        entities = [item for item in items if graph.node_kinds[item.node] == NodeKind.ENTITY]
        # Many names equally near are no evidence for one of them.
        if len({normalise_name(item.label) for item in entities}) != 1:
            spans.append(None)
            continue
        spans.append(
            Span(
                left=left,
                right=right,
                start=reading.atoms[left].start,
                end=reading.atoms[right - 1].end,
                name=name,
                nodes=np.array([item.node for item in entities], dtype=np.int32),
                is_alias=(False,) * len(entities),
                certainty=certainty,
                weight=rules.slip_weight ** max(1, entities[0].distance),
                typos=entities[0].distance,
            )
        )
    return spans
