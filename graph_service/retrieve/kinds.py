"""What kind of thing a step reaches, in a word, where the graph does not say.

In "what films did X write" the word "films" is no relation, and a graph of films may hold no
word for them: what its entities have in common is that they are directed, written and released.
So the kind of a relation's heads is the noun that is most like the relations those heads have. It
is put into a sequence's words only where the question itself names that kind, and names it by
a word that is no relation's: a wrong guess then changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Float64, Int32, Int64, KnowledgeGraph
from graph_service.model.region import Region
from graph_service.retrieve.preset import WordedPreset
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


def question_words(question: str, min_letters: int, /) -> list[str]:
    """Returns the distinct words of a question, folded, in order, but for the shorter ones.

    >>> question_words("Who is the director of the films of X?", 3)
    ['who', 'the', 'director', 'films']
    """
    words = re.findall(r"[^\W_]+(?:-[^\W_]+)*", fold(question))
    return list(dict.fromkeys(word for word in words if len(word) >= min_letters))


class KindReader:
    """Reads which kinds questions name by a word of their own.

    Args:
        relation_texts: Words of the relations; a kind that is like one of them is a relation
            (``films`` and ``film``).
        preset: From which cosine on a word names a kind, and a relation means one.
        encode: Texts to unit vectors.
    """

    def __init__(
        self, relation_texts: Iterable[str], preset: WordedPreset, /, *, encode: Encode
    ) -> None:
        self._preset = preset
        self._encode = encode
        self._relation_texts = relation_texts

    def spoken(self, question: str, /) -> frozenset[str]:
        """Returns the kinds that a question, less the names in it, names."""
        words = question_words(question, self._preset.kind_letters)
        if not words:
            return frozenset()
        said = self._encode(words)
        like = _products(self._kinds, said)
        close = like >= self._preset.kind_similarity
        kinds, names = np.flatnonzero(close.any(axis=1)), np.flatnonzero(close.any(axis=0))
        if not len(kinds):
            return frozenset()
        # "album" names the relation album where there is one, "nation" the relation nationality.
        nearer = _nearest(said[names], self._related)
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


def head_kinds(
    region: Region,
    relation_texts: Mapping[int, str],
    /,
    *,
    entity_count: int,
    head_relations: HeadRelations,
    max_heads: int,
    encode: Encode,
) -> dict[int, str]:
    """Returns the kind of the heads of each relation of a region.

    Args:
        region: Whose statements show which entities are heads.
        relation_texts: Words of each relation of the region.
        entity_count: Number of entities of the base; a view changes no kind.
        head_relations: Gives the relations that some of the heads have.
        max_heads: Heads of a relation that are looked at, those of the smallest keys.
        encode: Texts to unit vectors.
    """
    relations = np.array(sorted(relation_texts), dtype=np.int64)
    share = _shares(region, relations, entity_count, head_relations, max_heads)
    vectors = encode([relation_texts[rel] for rel in relations.tolist()]).astype(np.float64)
    profiles = share @ vectors
    sizes = np.linalg.norm(profiles, axis=1, keepdims=True)
    sizes[sizes == 0.0] = np.inf
    best = np.argmax(_products(profiles / sizes, encode(KINDS)), axis=1).tolist()
    known = share.sum(axis=1).tolist()
    return {
        rel: KINDS[kind]
        for rel, kind, any_share in zip(relations.tolist(), best, known, strict=True)
        if any_share
    }


def _shares(
    region: Region,
    relations: Int64,
    entity_count: int,
    head_relations: HeadRelations,
    max_heads: int,
) -> Float64:
    """Returns the share of some heads of each relation that have each relation, float64 [r, r]."""
    count = len(relations)
    place_of = np.full(int(relations.max(initial=-1)) + 2, -1, dtype=np.int64)
    place_of[relations] = np.arange(count)
    base = (region.nodes < entity_count)[region.head]
    pairs = distinct(place_of[region.rel[base]] * region.node_count + region.head[base])
    owner, local = np.divmod(pairs, np.int64(max(region.node_count, 1)))
    held = np.bincount(owner, minlength=count)
    sampled = np.arange(len(pairs)) - (np.cumsum(held) - held)[owner] < max_heads
    owner = owner[sampled]
    heads, place = ranked(local[sampled])
    of_head, rel = head_relations(region.nodes[heads].astype(np.int64))
    # A relation that the region lacks has the last place.
    column = place_of[np.minimum(rel, len(place_of) - 1)]
    known = column >= 0
    has = np.zeros((len(heads), count), dtype=bool)
    has[of_head[known], column[known]] = True
    head, column = np.divmod(np.flatnonzero(has), max(count, 1))
    begin = np.concatenate(([0], np.cumsum(np.bincount(head, minlength=len(heads)))))
    length = (begin[1:] - begin[:-1])[place]
    # Of each pair of a relation and one of its heads, the relations of that head.
    first = np.repeat(begin[:-1][place] - (np.cumsum(length) - length), length)
    cell = np.repeat(owner, length) * count + column[np.arange(len(first)) + first]
    share = np.bincount(cell, minlength=count * count).reshape(count, count).astype(np.float64)
    share /= np.maximum(np.bincount(owner, minlength=count), 1)[:, None]
    return share


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
