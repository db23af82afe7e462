"""Names within one or two slips of the pen of what was written.

Every label is kept as two 64-bit sets, of its letters and of its pairs of neighbouring letters, in
order of its first letter and its length. Comparing the sets of one first letter and few lengths
leaves a handful out of hundreds of thousands, and only their texts are compared letter by letter.
Aliases are not looked at: a graph in memory has their keys and not their texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import OSA

from graph_service.link.letters import Uint64, Vocabulary, bit_count, signatures
from graph_service.link.rules import LinkingRules
from graph_service.model.graph import Int32, KnowledgeGraph, LabelColumn
from graph_service.text.fold import normalise_name

MAX_LABELS = 2_000_000
_BLOCK = 100_000
_MAX_LETTERS = 120
# What one slip can change at most. A letter exchanged: two letters and four pairs; two swapped, as
# in "abcd": no letter and six pairs. So letters and pairs together six.
_LETTERS_A_SLIP = 2
_CHANGED_A_SLIP = 6
# Another number is another name: Apollo 11 and 12, Henry VII and VIII.
_NUMERAL = re.compile(r"[ivxlcdm]+|\w*\d\w*")


@dataclass(frozen=True, slots=True)
class Respelling:
    """A label that is nearly what was written.

    Attributes:
        node: Its entity.
        label: The label.
        distance: Letters added, left out, exchanged or swapped with their neighbour.
    """

    node: int
    label: str
    distance: int


@dataclass(frozen=True, slots=True, eq=False)
class SpellingIndex:
    """Labels by their letters, ordered by ``order``.

    Attributes:
        columns: The labels, by number of their language.
        vocabulary: The words of all labels.
        order: Hash of the first letter, then the number of letters: int32 [n], ascending.
        letters: Hashed set of letters, uint64 [n].
        pairs: Hashed set of pairs of neighbouring letters, uint64 [n].
        column: Which of the columns has the label, uint16 [n].
        row: Its row there, int32 [n].
    """

    columns: tuple[LabelColumn, ...]
    vocabulary: Vocabulary
    order: Int32
    letters: Uint64
    pairs: Uint64
    column: npt.NDArray[np.uint16]
    row: Int32

    @classmethod
    def build(cls, labels: Mapping[str, LabelColumn], /) -> SpellingIndex:
        """Returns the index of all labels, empty where there are more than ``MAX_LABELS``."""
        columns = tuple(labels[language] for language in sorted(labels))
        if sum(len(column.texts) for column in columns) > MAX_LABELS:
            columns = ()
        numbers = [np.zeros(0, dtype=np.uint16)]
        rows = [np.zeros(0, dtype=np.int32)]
        sets = [np.zeros(0, dtype=np.uint64)]
        pairs = [np.zeros(0, dtype=np.uint64)]
        orders = [np.zeros(0, dtype=np.int32)]
        words = [Vocabulary.of_words(np.zeros(0, dtype=np.uint64))]
        for index, column in enumerate(columns):
            for start in range(0, len(column.texts), _BLOCK):
                end = min(start + _BLOCK, len(column.texts))
                block = signatures(column.texts.take(np.arange(start, end)))
                numbers.append(np.full(end - start, index, dtype=np.uint16))
                rows.append(np.arange(start, end, dtype=np.int32))
                sets.append(block.letters)
                pairs.append(block.pairs)
                orders.append(block.order)
                words.append(Vocabulary.of_words(block.words))
        order = np.concatenate(orders)
        sorting = np.argsort(order, kind="stable")
        return cls(
            columns,
            Vocabulary.merged(words),
            order[sorting],
            np.concatenate(sets)[sorting],
            np.concatenate(pairs)[sorting],
            np.concatenate(numbers)[sorting],
            np.concatenate(rows)[sorting],
        )

    def find_all(self, names: Sequence[str], rules: LinkingRules, /) -> list[list[Respelling]]:
        """Returns for each normalised name the labels nearest to it, all at one distance, by node.

        At most one slip in a name from ``slip_letters`` on, two from ``two_slips_letters`` on;
        none in shorter ones; nor two in a word of fewer letters than that. First letter and numerals must agree. A word that labels have is
        no slip (``Willow Smith`` is not Will Smith), unless the words beside it are rare ones
        (``Barak Obama``).
        """
        if not names or not len(self.letters):
            return [[] for _ in names]
        allowed = np.array([allowed_distance(name.replace(" ", ""), rules) for name in names])
        signs = signatures(names)
        begins = np.searchsorted(self.order, signs.order - allowed, side="left").tolist()
        stops = np.searchsorted(self.order, signs.order + allowed, side="right").tolist()
        return [
            self._nearest(name, slice(start, end), letters, pairs, most, rules) if most else []
            for name, start, end, letters, pairs, most in zip(
                names, begins, stops, signs.letters, signs.pairs, allowed.tolist(), strict=True
            )
        ]

    def _nearest(
        self,
        name: str,
        rows: slice,
        letters: np.uint64,
        pairs: np.uint64,
        allowed: int,
        rules: LinkingRules,
    ) -> list[Respelling]:
        changed = bit_count(self.pairs[rows] ^ pairs)
        near = np.flatnonzero(changed <= _CHANGED_A_SLIP * allowed)
        positions, changed = rows.start + near, changed[near]
        letters_changed = bit_count(self.letters[positions] ^ letters)
        positions = positions[
            (letters_changed <= _LETTERS_A_SLIP * allowed)
            & (letters_changed + changed <= _CHANGED_A_SLIP * allowed)
        ]
        numerals = _numerals(name)
        words = name.split()
        known: list[int] | None = None
        nearest: dict[int, Respelling] = {}
        for position in positions.tolist():
            column = self.columns[int(self.column[position])]
            row = int(self.row[position])
            label = column.texts[row]
            other = normalise_name(label)
            if other[:1] != name[:1] or _numerals(other) != numerals:
                continue
            distance = edit_distance(name, other, allowed)
            if distance is None:
                continue
            known = self.vocabulary.counts(words) if known is None else known
            if not _is_slip(words, other.split(), known, rules):
                continue
            node = int(column.index[row])
            if node not in nearest or distance < nearest[node].distance:
                nearest[node] = Respelling(node, label, distance)
        best = min((item.distance for item in nearest.values()), default=0)
        return sorted(
            (item for item in nearest.values() if item.distance == best), key=lambda item: item.node
        )


@dataclass(frozen=True, slots=True, eq=False)
class ExactLabels:
    """Labels just as they are written: ``SpellingIndex`` where not all labels are at hand.

    Attributes:
        graph: A part of one, which holds all entities of the names that are asked for.
    """

    graph: KnowledgeGraph

    def find_all(self, names: Sequence[str], rules: LinkingRules, /) -> list[list[Respelling]]:
        """Returns for each normalised name the labels that are it; of short names none."""
        return [
            self._find(name) if allowed_distance(name.replace(" ", ""), rules) else []
            for name in names
        ]

    def _find(self, name: str) -> list[Respelling]:
        by_node: dict[int, Respelling] = {}
        nodes = np.unique(self.graph.names.find(name)[0])
        for _, column in sorted(self.graph.node_labels.items()):
            rows = np.flatnonzero(np.isin(column.index, nodes))
            for node, label in zip(
                column.index[rows].tolist(), column.texts.take(rows), strict=True
            ):
                if normalise_name(label) == name:
                    by_node.setdefault(node, Respelling(node, label, 0))
        return [by_node[node] for node in sorted(by_node)]


def allowed_distance(letters: str, rules: LinkingRules, /) -> int:
    """Returns how many slips a name of so many letters may have: 0, 1 or 2."""
    if len(letters) > _MAX_LETTERS or len(letters) < rules.slip_letters:
        return 0
    return _allowed_in_word(letters, rules)


def _allowed_in_word(letters: str, rules: LinkingRules) -> int:
    return 1 if len(letters) < rules.two_slips_letters else 2


def edit_distance(left: str, right: str, limit: int, /) -> int | None:
    """Returns the distance of two texts if it is at most ``limit``, else None.

    One step adds, drops or exchanges a letter, or swaps two neighbours (optimal string alignment).

    >>> edit_distance("schwarzeneger", "schwarzenegger", 2), edit_distance("abc", "xyz", 2)
    (1, None)
    """
    distance = OSA.distance(left, right, score_cutoff=limit)
    return distance if distance <= limit else None


def _is_slip(
    written: Sequence[str], meant: Sequence[str], known: Sequence[int], rules: LinkingRules
) -> bool:
    """Returns whether words may be others misspelt.

    Args:
        written: Words of the question.
        meant: Words of a label.
        known: How many times labels have each word that was written.
        rules: How many slips a word may have, and which words are rare.
    """
    if len(written) != len(meant):
        return True
    if len(written) == 1 and f"{min(written[0], meant[0])}s" == max(written[0], meant[0]):
        return False  # Williams is another name than William.
    rarest = min(
        (times for word, other, times in zip(written, meant, known, strict=True) if word == other),
        default=rules.rare + 1,
    )
    return all(
        word == other
        or (
            edit_distance(word, other, _allowed_in_word(word, rules)) is not None
            and (not times or rarest <= rules.rare)
        )
        for word, other, times in zip(written, meant, known, strict=True)
    )


def _numerals(name: str) -> list[str]:
    return [word for word in name.split() if _NUMERAL.fullmatch(word)]
