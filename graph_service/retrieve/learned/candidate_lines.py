"""Candidates as lines of text, as the cross-encoder reads them beside the question.

A line is ``start -> relation <- relation = end, end (3)``: ``->`` from subject to value, the first
ends and how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from graph_service.model.graph import Int64
from graph_service.model.region import Region
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.sorting import ranked
from graph_service.text.fold import name_of_id

SHOWN_END_NODES = 2
"""Ends of a candidate that are named in its line."""
_MANY = 10
"""Ends from which on a line only says that they are many."""
_END_CHARACTERS = 40
_START_CHARACTERS = 60


def candidate_lines(
    candidates: Candidates,
    numbers: Int64,
    region: Region,
    labels: Labels,
    relation_texts: Mapping[int, str],
    /,
) -> list[str]:
    """Returns the line of each of some candidates.

    Args:
        candidates: Of the question.
        numbers: Which of them, int64 [n].
        region: That they are walks of.
        labels: Gives the names of its nodes.
        relation_texts: Words of its relations, by global number.
    """
    first, last = (np.searchsorted(candidates.end_owner, numbers + offset) for offset in (0, 1))
    start_nodes = region.nodes[region.start_entities]
    shown = [
        region.nodes[candidates.end_node[begin : min(end, begin + SHOWN_END_NODES)]]
        for begin, end in zip(first.tolist(), last.tolist(), strict=True)
    ]
    used, index = ranked(np.concatenate([start_nodes, *shown]).astype(np.int64))
    names = labels.nodes(used)
    texts = [names[i] for i in index.tolist()]
    start_texts, end_texts = texts[: len(start_nodes)], iter(texts[len(start_nodes) :])
    lines: list[str] = []
    for start, steps, nodes, count in zip(
        candidates.start[numbers].tolist(),
        candidates.sequences(numbers),
        shown,
        (last - first).tolist(),
        strict=True,
    ):
        path = " ".join(
            f"{'<-' if backward else '->'} {relation_texts[relation]}"
            for relation, backward in steps
        )
        end_names = [_name(next(end_texts), "", _END_CHARACTERS) for _ in nodes]
        number = str(count) if count < _MANY else "many"
        begin = _name(start_texts[start], "it", _START_CHARACTERS)
        lines.append(f"{begin} {path} = {', '.join(filter(None, end_names)) or '?'} ({number})")
    return lines


def _name(text: str, unnamed: str, characters: int) -> str:
    return text[:characters] if name_of_id(text) else unnamed
