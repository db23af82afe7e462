"""Small graphs by step, for questions whose answers are found by brute force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from graph_service.model.identity import key64
from graph_service.quality.chains import twin_of
from graph_service.quality.question_sets import Step, open_text

Table = Mapping[Step, Mapping[str, Sequence[str]]]
"""Of each step, both ways, what it leads to from each node."""


def table_of(triples: Iterable[tuple[str, str, str]], /) -> Table:
    """Returns triples by step; relations that are inverses of others count as those."""
    steps: dict[Step, dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for head, relation, tail in triples:
        name, backward = twin_of((relation, False))
        steps[name, backward][head][tail] = None
        steps[name, not backward][tail][head] = None
    return {
        step: {node: tuple(sorted(ends)) for node, ends in by_node.items()}
        for step, by_node in steps.items()
    }


def read_table(path: Path, /) -> Table:
    """Returns a table of triples by step."""
    with open_text(path) as file:
        rows = [line.rstrip("\r\n").split("\t") for line in file]
    return table_of((head, relation, tail) for head, relation, tail in rows)


def walk(table: Table, start: str, steps: Iterable[Step], /) -> frozenset[str]:
    """Returns the ends of a sequence from a node, by walks that visit no node twice."""
    walks: list[tuple[str, ...]] = [(start,)]
    for step in steps:
        follow = table.get(step, {})
        walks = [(*way, end) for way in walks for end in follow.get(way[-1], ()) if end not in way]
    return frozenset(way[-1] for way in walks)


def drawn(items: Iterable[str], /, *, seed: str) -> list[str]:
    """Returns items in the order of a keyed hash, the same on any machine."""
    return sorted(items, key=lambda item: (key64(f"{seed}\t{item}"), item))
