"""Passages for a prompt: the seam, and passages from a file that is searched by words (L6, O8)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from graph_service.errors import InputError
from graph_service.model.passage import Passage, PassagesResult, make_passage
from graph_service.text.fold import index_tokens
from queries.datasets.records import Record, read_records
from queries.generate.citations import one_line

_K1, _B = 1.2, 0.75


class PassageFinder(Protocol):
    """Finds passages for a query. Implementations: a file, a graph's passages."""

    @property
    def name(self) -> str:
        """Where the passages are from; written down with every answer."""

    def find(self, query: str, /, *, k: int) -> tuple[Passage, ...]:
        """Returns the ``k`` best passages, best first."""


class FilePassages:
    """Passages of a file, ranked by BM25 over their words; ties by id.

    Args:
        passages: The passages, ids all different.
        name: Where they are from.
    """

    def __init__(self, passages: Sequence[Passage], /, *, name: str) -> None:
        self.name = name
        self._passages = sorted(passages, key=lambda passage: passage.id)
        self._counts = [
            Counter(index_tokens(f"{passage.title} {passage.text}")) for passage in self._passages
        ]
        self._lengths = [counts.total() for counts in self._counts]
        self._mean = sum(self._lengths) / max(len(self._lengths), 1)
        self._postings: dict[str, list[int]] = {}
        for index, counts in enumerate(self._counts):
            for word in counts:
                self._postings.setdefault(word, []).append(index)

    def __len__(self) -> int:
        return len(self._passages)

    def find(self, query: str, /, *, k: int) -> tuple[Passage, ...]:
        """Returns the ``k`` passages that share most with the query; none that shares nothing."""
        scores: dict[int, float] = {}
        for word in sorted(set(index_tokens(query))):
            postings = self._postings.get(word, [])
            rarity = math.log(
                1 + (len(self._passages) - len(postings) + 0.5) / (len(postings) + 0.5)
            )
            for position in postings:
                count = self._counts[position][word]
                length = 1 - _B + _B * self._lengths[position] / self._mean
                gain = rarity * count * (_K1 + 1) / (count + _K1 * length)
                scores[position] = scores.get(position, 0.0) + gain
        best = sorted(scores, key=lambda index: (-round(scores[index], 9), index))
        return tuple(self._passages[index] for index in best[:k])


def read_passages(path: str | Path, /) -> FilePassages:
    """Reads a file of JSON lines ``{"id", "title", "text"}``; an id may be left out.

    Raises:
        InputError: The file cannot be read, a field is wrong, or an id comes twice; names the
            line and the field.
    """
    passages: dict[str, Passage] = {}
    for record in read_records(path):
        passage = _passage(record)
        if passage.id in passages:
            raise InputError(
                f"{record.where}, field id: {passage.id!r} came before; give each passage its own"
            )
        passages[passage.id] = passage
    if not passages:
        raise InputError(
            f'{Path(path).name} holds no passage; lines of {{"id", "title", "text"}} were expected',
            argument="passages",
        )
    return FilePassages(tuple(passages.values()), name=Path(path).name)


def _passage(record: Record) -> Passage:
    title = record.text("title", default="", filled=False)
    made = make_passage(
        one_line(record.text("text")),
        title=one_line(title),
        source=record.text("source", default="", filled=False),
    )
    return Passage(record.text("id", default=made.id), made.title, made.source, made.text)


def passages_text(passages: Sequence[Passage], /) -> str:
    """Returns passages for a prompt, one a line, numbered, with their titles."""
    return "\n".join(
        f"({i}) {passage.title}: {passage.text}" if passage.title else f"({i}) {passage.text}"
        for i, passage in enumerate(passages, 1)
    )


class PassageSearcher(Protocol):
    """Searches the passages of a graph; ``graph_service.client.Client`` is one."""

    def passages(self, query: str, /, *, graph: str | None = None, k: int = 10) -> PassagesResult:
        """Returns the passages of a graph that answer a query best."""


class GraphPassages:
    """The passages that were loaded beside a graph, by words and by vectors.

    Args:
        searcher: Mostly a ``graph_service.client.Client``.
        graph: Name of the graph; may be left out where the store has one.
    """

    def __init__(self, searcher: PassageSearcher, /, *, graph: str | None = None) -> None:
        self._searcher = searcher
        self._graph = graph
        self.name = f"graph {graph}" if graph else "graph"

    def find(self, query: str, /, *, k: int) -> tuple[Passage, ...]:
        """Returns the ``k`` best passages, best first."""
        passages = self._searcher.passages(query, graph=self._graph, k=k)
        return tuple(item.passage for item in passages.items)
