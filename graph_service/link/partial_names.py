"""Parts of longer names: the entities whose label holds some words in a row.

``obama`` is no name of Barack Obama in many graphs, and ``fukushima daiichi`` none of Fukushima
Daiichi Nuclear Power Plant; ``george bush`` is part of George W. Bush, for initials do not count.
The labels of one language are kept as numbers of their words, and
for each word the places where labels have it, those of the entities with the most statements
first. Looking up some words reads the places of the rarest of them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from graph_service.link.letters import Uint64, hash_words
from graph_service.model.graph import (
    Bool,
    Int32,
    Int64,
    KnowledgeGraph,
    LabelColumn,
    NodeKind,
    StringTable,
    Uint8,
    labels_of,
)
from graph_service.text.fold import name_of_id, words

MAX_LABELS = 2_000_000
"""In a language that has more labels no partial names are found."""
_BLOCK = 100_000
MOST_WORDS = 6
"""A longer label is a title or a sentence, of which some words do not tell it."""
# A bound on work: the places of a word that are compared, those of the highest degree.
_MAX_POSITIONS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class WordIndex:
    """Labels of two to six words by their words: n labels, w words in all, v distinct ones.

    Single letters of the Latin alphabet are left out of the words.

    Labels stand in order of the degree of their entity, the highest first, then of its node. The
    arrays take 8 bytes for each word of a label, 16 for each distinct word and 13 for each label:
    5 MiB for 154,000 labels, which take under a second to build on one core.

    Attributes:
        column: The labels' texts.
        rows: Row of each label in the column, int32 [n].
        degrees: Of its entity, int32 [n], descending.
        lengths: How many words it has, single letters too, uint8 [n].
        offsets: Where the words of each label begin, int32 [n + 1].
        words: Number of each word of each label, int32 [w].
        keys: Hash of each distinct word, uint64 [v], ascending.
        indptr: Where the positions of each distinct word begin, int64 [v + 1].
        positions: Positions in ``words``, ascending for each distinct word, int32 [w].
    """

    column: LabelColumn
    rows: Int32
    degrees: Int32
    lengths: Uint8
    offsets: Int32
    words: Int32
    keys: Uint64
    indptr: Int64
    positions: Int32

    @classmethod
    def build(
        cls, column: LabelColumn, degrees_of: Callable[[Int32], Int64], is_entity: Bool, /
    ) -> WordIndex:
        """Returns the index of one column of labels.

        Args:
            column: The labels.
            degrees_of: Gives the degrees of some nodes.
            is_entity: Whether a node is an entity and no property or literal, bool [N].
        """
        size = len(column.index) if len(column.index) <= MAX_LABELS else 0
        keys, counts = [np.zeros(0, dtype=np.uint64)], [np.zeros(0, dtype=np.int64)]
        for start in range(0, size, _BLOCK):
            some = column.texts.take(np.arange(start, min(start + _BLOCK, size)))
            block_keys, block_counts = hash_words(some)
            keys.append(block_keys)
            counts.append(block_counts)
        count = np.concatenate(counts)
        begins = np.cumsum(count) - count
        nodes = column.index[:size]
        selected = np.flatnonzero((count > 1) & (count <= MOST_WORDS) & is_entity[nodes])
        degrees = degrees_of(nodes[selected])
        order = np.lexsort((nodes[selected], -degrees))
        rows = selected[order]
        within = np.arange(int(count[rows].sum()))
        within -= np.repeat(np.cumsum(count[rows]) - count[rows], count[rows])
        hashed = np.concatenate(keys)[np.repeat(begins[rows], count[rows]) + within]
        long = ~np.isin(hashed, _LETTERS)
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        label_of = np.repeat(np.arange(len(rows)), count[rows])
        np.cumsum(np.bincount(label_of[long], minlength=len(rows)), out=offsets[1:])
        distinct, numbers = np.unique(hashed[long], return_inverse=True)
        indptr = np.zeros(len(distinct) + 1, dtype=np.int64)
        np.cumsum(np.bincount(numbers, minlength=len(distinct)), out=indptr[1:])
        return cls(
            column=column,
            rows=rows.astype(np.int32),
            degrees=degrees[order].astype(np.int32),
            lengths=count[rows].astype(np.uint8),
            offsets=offsets.astype(np.int32),
            words=numbers.astype(np.int32),
            keys=distinct,
            indptr=indptr,
            positions=np.argsort(numbers, kind="stable").astype(np.int32),
        )

    def numbers(self, hashes: Uint64, /) -> list[int]:
        """Returns the number of each hashed word, -1 where no label has it."""
        if not len(self.keys):
            return [-1] * len(hashes)
        positions = np.minimum(np.searchsorted(self.keys, hashes), len(self.keys) - 1)
        numbers: list[int] = np.where(self.keys[positions] == hashes, positions, -1).tolist()
        return numbers

    def find(self, run: Sequence[str], numbers: Sequence[int], most: int, /) -> dict[int, int]:
        """Returns the entities whose label holds some words in a row and more, with their degree:
        the highest first, then by node.

        Args:
            run: The words, folded. Single letters count where digits stand beside them, as in a
                code: ``s``, ``12``.
            numbers: Of those words that are no single letters.
            most: How many at most.
        """
        if min(numbers) < 0:
            return {}
        sizes = [int(self.indptr[word + 1] - self.indptr[word]) for word in numbers]
        rarest = sizes.index(min(sizes))
        start = int(self.indptr[numbers[rarest]])
        positions = self.positions[start : start + min(sizes[rarest], _MAX_POSITIONS)] - rarest
        if len(numbers) == 1 == len(run):
            # A word may stand twice in a label.
            positions = positions[: 2 * most]
        else:
            positions = positions[(positions >= 0) & (positions + len(numbers) <= len(self.words))]
            for step, word in enumerate(numbers):
                positions = positions[self.words[positions + step] == word]
        labels = np.searchsorted(self.offsets, positions, side="right") - 1
        stops = self.offsets[labels + 1]
        inside = (positions + len(numbers) <= stops) & (self.lengths[labels] > len(run))
        degrees: dict[int, int] = {}
        for label in labels[inside].tolist():
            row = int(self.rows[label])
            node = int(self.column.index[row])
            if node not in degrees and _holds(self.column.texts[row], run):
                degrees[node] = int(self.degrees[label])
                if len(degrees) == most:
                    break
        return degrees


def _holds(label: str, run: Sequence[str]) -> bool:
    """Returns whether words stand in a label in a row; hashes alone would not say for sure."""
    exactly = any(map(is_initial, run))
    some = [word for word in words(label) if exactly or not is_initial(word)]
    return any(some[i : i + len(run)] == list(run) for i in range(len(some) - len(run) + 1))


def is_initial(word: str, /) -> bool:
    """Returns whether a folded word is one letter of the Latin alphabet."""
    return len(word) == 1 and word in ascii_lowercase


def without_initials(run: Sequence[str], /) -> list[str]:
    """Returns the words that are more than one letter."""
    return [word for word in run if not is_initial(word)]


def is_code(run: Sequence[str], /) -> bool:
    """Returns whether a single letter and digits stand in a row: ``s``, ``12``."""
    return any(map(is_initial, run)) and any(word.isdigit() for word in run)


_LETTERS = hash_words(list(ascii_lowercase))[0]


class PartialNames:
    """The labels of a graph by the words in them, one index for each language when first asked for.

    Entities without a label are found by their id where that is a name. Thread-safe.

    Args:
        graph: A whole one, or a part that holds all statements of the entities ``among``.
        among: The only entities that are found; None for all.
    """

    def __init__(self, graph: KnowledgeGraph, /, *, among: Sequence[int] | None = None) -> None:
        # Not the graph itself: what is kept with it must not keep it alive.
        self._columns = {**graph.node_labels, IDS: named_by_id(graph)}
        self._edges = (graph.out_edges, graph.in_edges)
        self._is_entity = graph.node_kinds == NodeKind.ENTITY
        if among is not None:
            selected = np.zeros(len(self._is_entity), dtype=np.bool_)
            selected[list(among)] = True
            self._is_entity &= selected
        self._indexes: dict[str, WordIndex] = {}
        self._lock = threading.Lock()

    def find_all(
        self, runs: Sequence[Sequence[str]], languages: Sequence[str], /, *, most: int
    ) -> list[list[int]]:
        """Returns for each run of folded words the entities whose label holds them, and more, in a
        row: those of the highest degree first, then by node.

        Args:
            runs: Words next to each other in a question.
            languages: Of the labels, besides English and ``mul``. All languages where the graph
                has none of these.
            most: How many entities at most for each run.
        """
        codes = [code for code in dict.fromkeys((*languages, "en", "mul")) if code in self._columns]
        runs = [list(run) if is_code(run) else without_initials(run) for run in runs]
        some = list(dict.fromkeys(word for run in runs for word in without_initials(run)))
        hashes, counts = hash_words(some)
        if not (counts == 1).all():
            # Words of which one folds to none or to several: each for itself, for what it is.
            hashed = [hash_words([word])[0] for word in some]
            hashes = np.array([key[0] if len(key) == 1 else 0 for key in hashed], dtype=np.uint64)
        per_run: list[dict[int, int]] = [{} for _ in runs]
        for language in [*(codes or sorted(self._columns)), IDS]:
            index = self._index(language)
            numbers = dict(zip(some, index.numbers(hashes), strict=True))
            for held, run in zip(per_run, runs, strict=True):
                if run:
                    listed = [numbers[word] for word in without_initials(run)]
                    held.update(index.find(run, listed, most))
        return [
            [node for node, _ in sorted(held.items(), key=lambda item: (-item[1], item[0]))[:most]]
            for held in per_run
        ]

    def _index(self, language: str) -> WordIndex:
        with self._lock:
            index = self._indexes.get(language)
            if index is None:
                out, back = self._edges
                index = self._indexes[language] = WordIndex.build(
                    self._columns[language],
                    lambda nodes: out.degrees_of(nodes) + back.degrees_of(nodes),
                    self._is_entity,
                )
            return index


def names_of(graph: KnowledgeGraph, nodes: Int32, languages: Sequence[str], /) -> list[str | None]:
    """Returns for each node its label in the best language that has one, else what its id says."""
    labels = labels_of(graph.node_labels, nodes, languages)
    ids = graph.node_ids.take(nodes)
    return [label or name_of_id(id_) for label, id_ in zip(labels, ids, strict=True)]


IDS = ""
"""Stands for a language: names that are the ids of entities without a label."""


def named_by_id(graph: KnowledgeGraph) -> LabelColumn:
    """Returns the names of the entities that have no label, from their ids, as a column."""
    labelled = np.zeros(graph.entity_count, dtype=np.bool_)
    for column in graph.node_labels.values():
        labelled[column.index[column.index < graph.entity_count]] = True
    unlabelled = np.flatnonzero(~labelled)
    named: list[tuple[int, str]] = []
    for start in range(0, len(unlabelled), _BLOCK):
        nodes = unlabelled[start : start + _BLOCK]
        nodes = nodes[~_are_numbers(graph.node_ids, nodes)]
        for node, id_ in zip(nodes.tolist(), graph.node_ids.take(nodes), strict=True):
            name = name_of_id(id_)
            if name is not None:
                named.append((node, name))
        if len(named) > MAX_LABELS:
            break
    return LabelColumn(
        np.array([node for node, _ in named], dtype=np.int32),
        StringTable.build(name for _, name in named),
    )


def _are_numbers(ids: StringTable, nodes: Int64) -> Bool:
    """Returns which ids are a letter and digits, as most of Wikidata's are, which name nothing.

    ``name_of_id`` would say the same of each, one after the other: of five million in 20 s.
    """
    begin, end = ids.offsets[nodes], ids.offsets[nodes + 1]
    length = end - begin
    stops = np.cumsum(length)
    positions = np.repeat(begin - (stops - length), length)
    positions += np.arange(len(positions))
    text = ids.data[positions]
    digits = np.concatenate(([0], np.cumsum((text >= ord("0")) & (text <= ord("9")))))
    long = np.flatnonzero(length > 1)
    are_numbers = np.zeros(len(nodes), dtype=np.bool_)
    first = ids.data[begin[long]]
    are_numbers[long] = (
        np.isin(first, _LETTERS_OF_IDS)
        & (ids.data[begin[long] + 1] != ord("0"))
        & (digits[stops[long]] - digits[stops[long] - length[long]] == length[long] - 1)
    )
    return are_numbers


_LETTERS_OF_IDS = np.frombuffer(b"QPLEM", dtype=np.uint8)
