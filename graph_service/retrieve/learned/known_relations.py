"""What people call relations of which a graph gives but a label.

Wikidata has other names for its properties (*also known as*); other sources have one label, such as
``gender``, and who asks *what sex is Ann?* does not say it. A relation without other names takes
those of the common relations that its label is most like, and the words that people ask for them
with (``relation_phrases.jsonl``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.context import Encode
from graph_service.retrieve.learned.relation_phrases import read_phrases
from graph_service.text.function_words import content_words

RelationAliases = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Gives the other names of some relations, by id."""

LEAST_LIKE = 0.7
"""Cosine of a label with a name of a common relation from which on they may mean the same."""
MARGIN = 0.02
"""Relations whose nearest names are so much less like the label at most count as well."""
_DIGITS = 5
_MOST_LABELS = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The common relations.

    Attributes:
        names: All their names, n of them.
        owner: The relation of each name, int64 [n].
        words: By relation, its names and what people say for it.
    """

    names: tuple[str, ...]
    owner: Int64
    words: tuple[tuple[str, ...], ...]


class KnownRelations:
    """Gives relations the names of common ones. Thread-safe; labels are looked up once."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], tuple[str, ...]] = {}

    def others(
        self,
        aliases: RelationAliases,
        embedder: str,
        ids: Sequence[str],
        labels: Sequence[str],
        encode: Encode,
        /,
    ) -> list[Sequence[str]]:
        """Returns the other names of some relations.

        Args:
            aliases: Gives those that the graph has, by id.
            embedder: Name of what ``encode`` encodes with.
            ids: Of the relations.
            labels: Of the relations, in the same order.
            encode: Texts to unit vectors.
        """
        found = list(aliases(ids))
        lacking = [label for label, names in zip(labels, found, strict=True) if not names]
        like = self._like(lacking, embedder, encode)
        return [names or like[label] for label, names in zip(labels, found, strict=True)]

    def _like(
        self, labels: Sequence[str], embedder: str, encode: Encode
    ) -> dict[str, tuple[str, ...]]:
        known = {label: self._names.get((embedder, label)) for label in labels}
        found = {label: names for label, names in known.items() if names is not None}
        new = [label for label in known if label not in found]
        if new:
            made = dict(zip(new, _names_like(new, encode), strict=True))
            if len(self._names) + len(made) > _MOST_LABELS:
                self._names = {}
            self._names.update(((embedder, label), names) for label, names in made.items())
            found.update(made)
        return found


def _names_like(labels: Sequence[str], encode: Encode) -> list[tuple[str, ...]]:
    table = _read()
    vectors = encode([*labels, *table.names]).astype(np.float64)
    cosines: Float64 = np.round(vectors[: len(labels)] @ vectors[len(labels) :].T, _DIGITS)
    near = cosines >= np.maximum(cosines.max(axis=1, keepdims=True) - MARGIN, LEAST_LIKE)
    return [
        tuple(
            dict.fromkeys(
                name for known in np.unique(table.owner[row]) for name in table.words[known]
            )
        )
        for row in near
    ]


@cache
def _read() -> _Table:
    names: list[str] = []
    owner: list[int] = []
    words: list[tuple[str, ...]] = []
    for number, (own, phrases) in enumerate(read_phrases()):
        names.extend(own)
        owner.extend([number] * len(own))
        said = (" ".join(content_words(each.replace("{x}", "")) or ()) for each in phrases.all())
        words.append(tuple(dict.fromkeys((*own, *filter(None, said)))))
    return _Table(tuple(names), np.array(owner, dtype=np.int64), tuple(words))
