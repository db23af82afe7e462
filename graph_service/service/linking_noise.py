"""Linking that is wrong to a known share: entities of a question swapped for irrelevant ones (K7).

Each pair of question and entity has a keyed hash, a number from 0 to 1 by the random seed. Where it is
not below the share asked for, retrieval starts from another entity of the graph instead. So what
is wrong at 80 % is wrong at 60 % too, each entity has one stand-in at every share, and no question
needs to know of the others; the share is that of many questions, not of each. A set of questions of
which exactly a share is to be right is ``queries.generate.ablation``.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.model.hashing import keyed_hashes
from graph_service.model.identity import digest
from graph_service.views.draw import below

_SAMPLE_SIZE = 1024
"""Entities looked at for a stand-in with about as many statements, before any other will do."""
_HASHES = float(2**64)


def add_linking_noise(
    graph: KnowledgeGraph,
    question: str,
    entities: Iterable[int],
    /,
    *,
    accuracy: float,
    random_seed: int,
    named: Iterable[int] = (),
) -> dict[int, int]:
    """Returns the entities of a question that are swapped, and for what.

    A stand-in has about as many statements as the entity (as many binary digits in their
    number), has no statement with any entity of the question, and is nothing that the question may
    name. Where none of 1,024 drawn has as many, the first of them that is else right is taken.

    Args:
        graph: The base; a view changes no swap.
        question: Its text.
        entities: Those that it names, node numbers.
        accuracy: Share that stays, 0 to 1.
        random_seed: Of the draw.
        named: Others that it may name: the runners-up.

    Raises:
        InputError: The graph has no entity that would do.
    """
    starting = list(dict.fromkeys(entities))
    ids = graph.node_ids.take(starting)
    near = np.array(sorted({*starting, *named}), dtype=np.int64)
    swapped: dict[int, int] = {}
    taken: set[int] = set()
    # All are drawn, so that what one is swapped for does not hang on how many are.
    for node, id_ in sorted(zip(starting, ids, strict=True), key=lambda pair: pair[1]):
        secret = _secret("stand-in", question, id_, random_seed)
        hashes = keyed_hashes(np.arange(_SAMPLE_SIZE, dtype=np.int64), secret)
        sample = below(hashes, graph.entity_count)
        stand_in = _first_irrelevant(graph, node, sample, near, taken)
        taken.add(stand_in)
        if _share(question, id_, random_seed) >= accuracy:
            swapped[node] = stand_in
    return swapped


def _first_irrelevant(
    graph: KnowledgeGraph, node: int, sample: Int64, near: Int64, taken: set[int]
) -> int:
    (degree,) = graph.degrees_of(np.array([node])).tolist()
    digits = max(degree, 1).bit_length()
    pairs: list[tuple[int, int]] = [
        *zip(sample.tolist(), graph.degrees_of(sample).tolist(), strict=True)
    ]
    alike = [other for other, count in pairs if count.bit_length() == digits]
    for other in (*alike, *(other for other, count in pairs if count)):
        if other not in taken and not _is_near(graph, other, near):
            return other
    raise InputError(
        f"graph {graph.name!r} has no irrelevant entity to swap in",
        argument="linking_accuracy",
        hint="It takes a larger graph.",
    )


def _is_near(graph: KnowledgeGraph, node: int, near: Int64) -> bool:
    """Returns whether an entity is one of some, or has a statement with one."""
    frontier = np.array([node], dtype=np.int64)
    endpoints = (
        graph.tail[graph.out_edges.edges_of(frontier)],
        graph.head[graph.in_edges.edges_of(frontier)],
    )
    return bool(np.isin(near, np.concatenate((frontier, *endpoints))).any())


def _share(question: str, id_: str, random_seed: int) -> float:
    """Returns the number from 0 to 1 that decides of a pair."""
    secret = _secret("pair", question, id_, random_seed)
    return float(keyed_hashes(np.zeros(1, dtype=np.int64), secret)[0]) / _HASHES


def _secret(use: str, question: str, id_: str, random_seed: int) -> bytes:
    return digest((use, str(random_seed), question, id_), person=b"linking")
