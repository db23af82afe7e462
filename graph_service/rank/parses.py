"""AMR parses as graphs that a network reads: concepts, constants and roles are all nodes (L5).

A role between two concepts becomes a node between them, as LTGen has it, so that nothing of a
parse lies on an edge alone. An edge keeps its direction: from a concept to its role, and from the
role to what fills it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_service.model.ranking import Bool
from graph_service.rank.words import Int32

LEAST = 2
"""In how many parses a label must be to count; names of entities mostly are in one."""
_MOST_NODES = 200


@dataclass(frozen=True, slots=True)
class Parse:
    """An AMR graph.

    Attributes:
        labels: Of each node: a concept such as ``write-01``, a constant, or a role such as ``:ARG0``.
        edges: Pairs of nodes, from a concept to its role and from a role to what fills it.
    """

    labels: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]

    @property
    def text(self) -> str:
        """All of it in one line, for hashes."""
        return " ".join(self.labels) + " | " + " ".join(f"{a}>{b}" for a, b in self.edges)


@dataclass(frozen=True, slots=True)
class ParseBatch:
    """Parses as arrays, filled up to the largest of them.

    Attributes:
        nodes: Numbers of labels, int32 [parses, most]; the number of labels where there is no node.
        real: Whether there is one, bool [parses, most].
        links: Edges by place, bool [parses, most, most].
    """

    nodes: Int32
    real: Bool
    links: Bool

    def part(self, rows: npt.NDArray[np.int64], /) -> ParseBatch:
        """Returns some of the parses."""
        return ParseBatch(self.nodes[rows], self.real[rows], self.links[rows])


def label_vocabulary(parses: Iterable[Parse], /, *, least: int = LEAST) -> tuple[str, ...]:
    """Returns the labels that occur in enough parses, sorted."""
    counts = Counter(label for parse in parses for label in set(parse.labels))
    return tuple(sorted(label for label, count in counts.items() if count >= least))


def batch_of(parses: Sequence[Parse | None], labels: Sequence[str], /) -> ParseBatch:
    """Returns parses as arrays; a question without one has no node.

    Of a parse with more than 200 nodes the first are read. A label that does not count is one of
    its own, the number after the last.
    """
    index_of = {label: index for index, label in enumerate(labels)}
    sizes = [0 if parse is None else min(len(parse.labels), _MOST_NODES) for parse in parses]
    most = max([1, *sizes])
    nodes = np.full((len(parses), most), len(labels), dtype=np.int32)
    real = np.zeros((len(parses), most), dtype=np.bool_)
    links = np.zeros((len(parses), most, most), dtype=np.bool_)
    for row, (parse, size) in enumerate(zip(parses, sizes, strict=True)):
        if parse is None:
            continue
        nodes[row, :size] = [index_of.get(label, len(labels)) for label in parse.labels[:size]]
        real[row, :size] = True
        for start, end in parse.edges:
            if start < size and end < size:
                links[row, start, end] = True
    return ParseBatch(nodes, real, links)
