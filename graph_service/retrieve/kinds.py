"""What kind of thing a step reaches, in a word, where the graph does not say.

In "what films did X write" the word "films" is no relation, and a graph of films may hold no
word for them: what its entities have in common is that they are directed, written and released.
So the kind of a relation's heads is the noun that is most like the relations those heads have. It
is put into a sequence's words only where the question itself names that kind, and names it by
a word that is no relation's: a wrong guess then changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from graph_service.model.graph import Float64, Int64, KnowledgeGraph
from graph_service.model.region import Region
from graph_service.model.text import fold
from graph_service.retrieve.prizes import cosines

Encode = Callable[[Sequence[str]], "np.ndarray[tuple[int, ...], np.dtype[np.float32]]"]
KINDS = (
    "album", "animal", "award", "book", "building", "character", "chemical", "city", "color",
    "company", "country", "date", "disease", "drug", "event", "film", "food", "game", "gene", "genre",
    "language", "law", "mountain", "number", "organization", "painting", "person", "place", "planet",
    "plant", "profession", "religion", "river", "school", "ship", "software", "song", "species",
    "sport", "team", "television series", "vehicle", "war", "website", "year",
)  # fmt: skip
"""Kinds that most graphs are made of: general nouns, none for the sake of one graph."""
_SAMPLED_HEADS = 32
"""Heads of a relation that are looked at, those of the smallest keys."""
_SAMPLED_EDGES = 64
"""Statements of each of them that are looked at."""
_LEAST_LETTERS = 3
_SYNONYM = 0.75
"""Cosine from which on a relation's name means the kind itself: ``films`` and ``film``."""


def question_words(question: str, /) -> list[str]:
    """Returns the distinct words of a question, folded, in order, but for the shortest.

    >>> question_words("Who is the director of the films of X?")
    ['who', 'the', 'director', 'films']
    """
    words = re.findall(r"[^\W_]+(?:-[^\W_]+)*", fold(question))
    return list(dict.fromkeys(word for word in words if len(word) >= _LEAST_LETTERS))


def spoken_kinds(
    question: str, relation_texts: Sequence[str], /, *, encode: Encode, similarity: float
) -> frozenset[str]:
    """Returns the kinds that a question names by a word of their own.

    Args:
        question: Its text, less the names in it.
        relation_texts: Words of the relations; a kind that is like one of them is a relation.
        encode: Texts to unit vectors.
        similarity: Cosine from which on a word names a kind.
    """
    words = question_words(question)
    if not words:
        return frozenset()
    relations = sorted(set(relation_texts))
    vectors = encode([*KINDS, *words, *relations])
    kinds = vectors[: len(KINDS)]
    spoken = _nearest(kinds, vectors[len(KINDS) : len(KINDS) + len(words)])
    related = _nearest(kinds, vectors[len(KINDS) + len(words) :])
    named = (spoken >= similarity) & (related < _SYNONYM)
    return frozenset(kind for kind, is_named in zip(KINDS, named.tolist(), strict=True) if is_named)


def head_kinds(
    graph: KnowledgeGraph, region: Region, relation_texts: Mapping[int, str], /, *, encode: Encode
) -> dict[int, str]:
    """Returns the kind of the heads of each relation of a region.

    Args:
        graph: The base; a view changes no kind.
        region: Whose statements show which entities are heads.
        relation_texts: Words of each relation of the region.
        encode: Texts to unit vectors.
    """
    relations = np.array(sorted(relation_texts), dtype=np.int64)
    vectors = encode([relation_texts[rel] for rel in relations.tolist()]).astype(np.float64)
    kind_vectors = encode(KINDS)
    found: dict[int, str] = {}
    for rel in np.unique(region.rel).tolist():
        heads = np.unique(region.nodes[region.head[np.flatnonzero(region.rel == rel)]])
        sampled = heads[heads < graph.entity_count][:_SAMPLED_HEADS].tolist()
        profile = _profile(graph, sampled, relations) @ vectors
        size = float(np.linalg.norm(profile))
        if size:
            like = cosines((profile / size).astype(np.float32), kind_vectors)
            found[rel] = KINDS[int(np.argmax(like))]
    return found


def _profile(graph: KnowledgeGraph, heads: list[int], relations: Int64) -> Float64:
    """Returns the share of some entities that have each relation, float64 [len(relations)]."""
    share = np.zeros(len(relations))
    for head in heads:
        begin, end = graph.out_edges.indptr[head : head + 2].tolist()
        edges = graph.out_edges.edges[begin : min(end, begin + _SAMPLED_EDGES)]
        share += np.isin(relations, graph.rel[edges])
    return share / max(len(heads), 1)


def _nearest(
    kinds: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    others: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
) -> Float64:
    """Returns the greatest cosine of each kind with any of the others; -1 without others."""
    if not len(others):
        return np.full(len(kinds), -1.0)
    products = np.round(kinds.astype(np.float64) @ others.astype(np.float64).T, 5)
    nearest: Float64 = products.max(axis=1)
    return nearest
