"""The names of relations as vectors and as stems, made once for each relation of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.retrieve.context import Encode
from graph_service.retrieve.learned.known_relations import names_like
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH

RelationAliases = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Gives the other names of some relations, by id."""


@dataclass(frozen=True, slots=True, eq=False)
class NamedRelation:
    """A relation's names, its label first: n names.

    Attributes:
        vectors: Unit vectors of the names, float32 [n, d].
        stems: Stems of each name's words, function words left out.
        all_stems: Those of all names.
    """

    vectors: npt.NDArray[np.float32]
    stems: tuple[frozenset[str], ...]
    all_stems: frozenset[str]


NameRelations = Callable[[Sequence[str], Sequence[str], Encode], Sequence[NamedRelation]]
"""Gives the names of some relations, by id and label, with their vectors."""


class NamesScope(NamedTuple):
    """What names of relations are made for.

    Attributes:
        edition: Of the graph.
        content: Its fingerprint.
        languages: Of the names.
        embedder: Name of what makes the vectors.
    """

    edition: str
    content: str
    languages: tuple[str, ...]
    embedder: str


class RelationNamer:
    """Gives relations their names. Thread-safe.

    A relation without other names than its label takes those of common relations (``names_like``).

    Args:
        memory: What is kept counts there.
    """

    def __init__(self, memory: ByteBudget, /) -> None:
        self._cache: ByteCache[tuple[NamesScope, str, str], NamedRelation] = ByteCache(
            memory, "names of relations"
        )

    def named(
        self,
        scope: NamesScope,
        aliases: RelationAliases,
        ids: Sequence[str],
        labels: Sequence[str],
        encode: Encode,
        /,
    ) -> list[NamedRelation]:
        """Returns the names of some relations.

        Args:
            scope: What they are for.
            aliases: Gives those that the graph has beside the labels, by id.
            ids: Of the relations, distinct.
            labels: Of the relations, in the same order.
            encode: Texts to unit vectors; zeros for lack of time. Such names are not kept.
        """
        keys = [(scope, id_, label) for id_, label in zip(ids, labels, strict=True)]
        cached = self._cache.get_all(keys)
        new = [index for index, relation in enumerate(cached) if relation is None]
        if new:
            made, complete = _make(
                aliases([ids[index] for index in new]), [labels[index] for index in new], encode
            )
            for index, relation in zip(new, made, strict=True):
                cached[index] = relation
            self._cache.put_all(
                [
                    (keys[index], relation, held_bytes(relation))
                    for index, relation, is_complete in zip(new, made, complete, strict=True)
                    if is_complete
                ]
            )
        return [relation for relation in cached if relation is not None]


def label_names(
    _ids: Sequence[str], labels: Sequence[str], encode: Encode, /
) -> list[NamedRelation]:
    """Returns relations with their labels as their only names: enough where similarity ranks."""
    return [
        NamedRelation(vector[None], (stems_of(label),), stems_of(label))
        for label, vector in zip(labels, encode(labels), strict=True)
    ]


def _make(
    aliases: Sequence[Sequence[str]], labels: Sequence[str], encode: Encode
) -> tuple[list[NamedRelation], list[bool]]:
    """Returns the names of some relations, and whether no vector was lacking for each."""
    alone = list(
        dict.fromkeys(label for label, own in zip(labels, aliases, strict=True) if not own)
    )
    like = dict(zip(alone, names_like(alone, encode), strict=True)) if alone else {}
    others = [own or like[label] for label, own in zip(labels, aliases, strict=True)]
    names = [
        list(dict.fromkeys((label, *(other or ()))))
        for label, other in zip(labels, others, strict=True)
    ]
    vectors = encode([name for of_relation in names for name in of_relation])
    made: list[NamedRelation] = []
    complete: list[bool] = []
    begin = 0
    for of_relation, other in zip(names, others, strict=True):
        own = vectors[begin : begin + len(of_relation)].copy()
        begin += len(of_relation)
        stems = tuple(map(stems_of, of_relation))
        made.append(NamedRelation(own, stems, frozenset().union(*stems)))
        complete.append(other is not None and bool(own.any(axis=1).all()))
    return made, complete


def stem(word: str, /) -> str:
    """Returns an English word without its commonest endings.

    >>> stem("directed"), stem("director"), stem("films")
    ('direct', 'direct', 'film')
    """
    for ending, least in (
        ("ing", 6),
        ("ed", 5),
        ("es", 5),
        ("er", 5),
        ("or", 5),
        ("s", 4),
        ("e", 4),
    ):
        if word.endswith(ending) and len(word) >= least:
            return word[: -len(ending)]
    return word


def stems_of(name: str, /) -> frozenset[str]:
    """Returns the stems of a name's words, function words left out."""
    return frozenset(stem(word) for word in words(name) if word not in EMPTY_IN_ENGLISH)
