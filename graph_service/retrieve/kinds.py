"""What kind of thing a step reaches, in a word, where the graph does not say.

In "what films did X write" the word "films" is no relation, and a graph of films may hold no
word for them: what its entities have in common is that they are directed, written and released.
So the kind of a relation's heads is the noun that is most like the relations those heads have. It
is put into a sequence's words only where the question itself names that kind, and names it by
a word that is no relation's: a wrong guess then changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import Float64, Int32, Int64, KnowledgeGraph
from graph_service.model.region import Region
from graph_service.retrieve.preset import LearnedPreset
from graph_service.retrieve.similarity import SIMILARITY_DIGITS
from graph_service.sorting import distinct, ranked
from graph_service.text.fold import fold

Vectors = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]
HeadRelations = Callable[[Int64], tuple[Int64, Int32]]
"""Gives the relations that some entities have, in statements of any rank of the whole base.

Of ``heads`` (global numbers, int64, distinct) it returns places in ``heads``, int64 [p], and
relations, int32 [p]; pairs may repeat, and relations that the region lacks may be left out.
"""
KINDS = (
    "album", "animal", "award", "book", "building", "character", "chemical", "city", "color",
    "company", "country", "date", "disease", "drug", "event", "film", "food", "game", "gene", "genre",
    "language", "law", "mountain", "number", "organization", "painting", "person", "place", "planet",
    "plant", "profession", "religion", "river", "school", "ship", "software", "song", "species",
    "sport", "team", "television series", "vehicle", "war", "website", "year",
)  # fmt: skip
"""Kinds that most graphs are made of: general nouns, none for the sake of one graph."""


PERSON_AND_OTHERS = ("person", "thing", "organization", "place", "event")
_LIKE_A_PERSON = 0.04
"""How much more a name of people is like *person* than like the others, at least."""


def are_called_people(names: Sequence[str], encode: Encode, /) -> bool:
    """Returns whether a name of a class is one of people: *worker*, and not *order*."""
    if not names:
        return False
    vectors = encode([*names, *PERSON_AND_OTHERS]).astype(np.float64)
    return are_like_people(vectors[: len(names)] @ vectors[len(names) :].T)


def are_like_people(similarity: Float64, /) -> bool:
    """Returns whether one of some names is like that of people, by its cosines with
    ``PERSON_AND_OTHERS``, float64 [names, others].
    """
    margin = similarity[:, 0] - similarity[:, 1:].max(axis=1)
    return bool((np.round(margin, SIMILARITY_DIGITS) >= _LIKE_A_PERSON).any())


def question_words(question: str, min_letters: int, /) -> list[str]:
    """Returns the distinct words of a question, folded, in order, but for the shorter ones.

    >>> question_words("Who is the director of the films of X?", 3)
    ['who', 'the', 'director', 'films']
    """
    words = re.findall(r"[^\W_]+(?:-[^\W_]+)*", fold(question))
    return list(dict.fromkeys(word for word in words if len(word) >= min_letters))


_NEARLY = 2 * 10.0**-SIMILARITY_DIGITS
"""Cosines that differ by more are not equal once they are rounded, even if worked out in float32."""


class KindReader:
    """Reads which kinds questions name by a word of their own.

    Args:
        relation_texts: Words of the relations; a kind that is like one of them is a relation
            (``films`` and ``film``).
        preset: From which cosine on a word names a kind, and a relation means one.
        encode: Texts to unit vectors.
    """

    def __init__(
        self, relation_texts: Iterable[str], preset: LearnedPreset, /, *, encode: Encode
    ) -> None:
        self._preset = preset
        self._encode = encode
        self._relation_texts = relation_texts

    def kinds_in(self, question: str, /) -> frozenset[str]:
        """Returns the kinds that a question, less the names in it, names."""
        words = question_words(question, self._preset.kind_letters)
        if not words:
            return frozenset()
        vectors = self._encode(words)
        like = _products(self._kinds, vectors)
        close = like >= self._preset.kind_similarity
        kinds, names = np.flatnonzero(close.any(axis=1)), np.flatnonzero(close.any(axis=0))
        if not len(kinds):
            return frozenset()
        # "album" names the relation album where there is one, "nation" the relation nationality.
        nearer = _nearest(vectors[names], self._related)
        is_relation = _nearest(self._kinds[kinds], self._related) >= self._preset.synonym_similarity
        near = like[np.ix_(kinds, names)]
        named = (close[np.ix_(kinds, names)] & (near > nearer)).any(axis=1) & ~is_relation
        return frozenset(KINDS[kind] for kind in kinds[named].tolist())

    @cached_property
    def _kinds(self) -> Vectors:
        return self._encode(KINDS)

    @cached_property
    def _related(self) -> Vectors:
        return self._encode(sorted(set(self._relation_texts)))


def relations_in(graph: KnowledgeGraph, /) -> HeadRelations:
    """Returns what reads the relations of entities off a graph that is whole in memory."""

    def read(heads: Int64) -> tuple[Int64, Int32]:
        edges, of_head = graph.out_edges.gather(heads)
        return of_head, graph.rel[edges]

    return read


def relations_of_things(read: HeadRelations, equal: EqualEntities, /) -> HeadRelations:
    """Returns what reads the relations of entities and of all that are one thing with them."""
    if not len(equal):
        return read

    def read_all(heads: Int64) -> tuple[Int64, Int32]:
        members, owner = equal.gather(heads)
        of_member, relations = read(members)
        return owner[of_member], relations

    return read_all


def head_kinds(
    region: Region,
    relations: Int64,
    vectors: Vectors,
    kind_vectors: Vectors,
    /,
    *,
    entity_count: int,
    head_relations: HeadRelations,
    max_heads: int,
) -> dict[int, str]:
    """Returns the kind of the heads of each relation of a region.

    Args:
        region: Whose statements show which entities are heads.
        relations: Of the region, global numbers, int64 [r], ascending.
        vectors: Unit vectors of their words, [r, d].
        kind_vectors: Unit vectors of ``KINDS``, [kinds, d].
        entity_count: Number of entities of the base; a view changes no kind.
        head_relations: Gives the relations that some of the heads have.
        max_heads: Heads of a relation that are looked at, those of the smallest keys.
    """
    held, shared = _shares(region, relations, entity_count, head_relations, max_heads)
    known = shared.sum(axis=1)
    best = nearest_kinds(held, shared, vectors, kind_vectors)
    return {
        rel: KINDS[kind]
        for rel, kind, any_share in zip(
            relations.tolist(), best.tolist(), known.tolist(), strict=True
        )
        if any_share
    }


def nearest_kinds(held: Int64, shared: Int64, vectors: Vectors, kind_vectors: Vectors, /) -> Int64:
    """Returns the kind that is most like what the heads of each relation have, int64 [r].

    Which kind it is shows in products of fewer digits, but where two kinds are nearly as like: of
    cosines that are equal once they are rounded, the first kind counts.

    Args:
        held: Heads of each relation that were looked at, int64 [r].
        shared: Of these those that have each relation, int64 [r, r].
        vectors: Of the relations, [r, d].
        kind_vectors: Of ``KINDS``, [kinds, d].
    """
    kinds = kind_vectors.astype(np.float32)
    like = shared.astype(np.float32) @ (vectors.astype(np.float32) @ kinds.T)
    best: Int64 = like.argmax(axis=1)
    first = like[np.arange(len(like)), best]
    second = np.partition(like, -2, axis=1)[:, -2]
    # A sum of unit vectors is at most as long as they are many: cosines differ by more than this.
    near = np.flatnonzero(first - second <= _NEARLY * shared.sum(axis=1))
    if len(near):
        share = shared[near] / np.maximum(held[near], 1)[:, None]
        profiles = share @ vectors.astype(np.float64)
        sizes = np.linalg.norm(profiles, axis=1, keepdims=True)
        sizes[sizes == 0.0] = np.inf
        best[near] = np.argmax(_products(profiles / sizes, kind_vectors), axis=1)
    return best


def _shares(
    region: Region,
    relations: Int64,
    entity_count: int,
    head_relations: HeadRelations,
    max_heads: int,
) -> tuple[Int64, Int64]:
    """Returns how many heads of each relation are looked at, and how many have each relation.

    int64 [r] and [r, r].
    """
    count, nodes = len(relations), max(region.node_count, 1)
    column_of = np.full(int(relations.max(initial=-1)) + 2, -1, dtype=np.int64)
    column_of[relations] = np.arange(count)
    rel, head = region.rel.astype(np.int64), region.head.astype(np.int64)
    base = (region.nodes < entity_count).take(head)
    if not base.all():
        rel, head = rel[base], head[base]
    pairs = distinct(column_of.take(rel) * nodes + head)
    owner = pairs // nodes
    held = np.bincount(owner, minlength=count)
    sampled = np.flatnonzero(
        np.arange(len(pairs)) - (np.cumsum(held) - held).take(owner) < max_heads
    )
    owner, pairs = owner.take(sampled), pairs.take(sampled)
    heads, row = ranked(pairs - owner * nodes)
    of_head, relation = head_relations(region.nodes[heads].astype(np.int64))
    # A relation that the region lacks has the last column.
    column = column_of.take(np.minimum(relation, len(column_of) - 1).astype(np.int64))
    known = np.flatnonzero(column >= 0)
    has = distinct(of_head.take(known) * count + column.take(known))
    head = has // max(count, 1)
    column = has - head * count
    begin = np.concatenate(([0], np.cumsum(np.bincount(head, minlength=len(heads)))))
    length = (begin[1:] - begin[:-1]).take(row)
    # Of each pair of a relation and one of its heads, the relations of that head.
    first = np.repeat(begin[:-1].take(row) - (np.cumsum(length) - length), length)
    first += np.arange(len(first))
    cell = np.repeat(owner * count, length) + column.take(first)
    shared = np.bincount(cell, minlength=count * count).reshape(count, count)
    return np.minimum(held, max_heads), shared


def _nearest(texts: Vectors, others: Vectors) -> Float64:
    """Returns the greatest cosine of each text with any of the others; -1 without others."""
    if not len(others):
        return np.full(len(texts), -1.0)
    nearest: Float64 = _products(texts, others).max(axis=1)
    return nearest


def _products(left: Vectors, right: Vectors, /) -> Float64:
    """Returns the rounded product of each row with each."""
    products: Float64 = left.astype(np.float64) @ right.astype(np.float64).T
    return np.round(products, SIMILARITY_DIGITS)
