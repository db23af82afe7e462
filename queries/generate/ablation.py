"""Knowledge graphs swapped for irrelevant ones: retrieval that is wrong to a known share (K7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.result import Triple


@dataclass(frozen=True, slots=True)
class Swapped:
    """One question's knowledge after the swap.

    Attributes:
        knowledge: The graphs of its entities, in order, right ones and wrong ones.
        wrong: From each entity whose graph was swapped to the entity that came instead.
    """

    knowledge: tuple[Triple, ...]
    wrong: Mapping[str, str]


def swap_graphs(
    gold: Mapping[str, Sequence[Triple]], /, *, right_share: float, random_seed: int = 0
) -> dict[str, Swapped]:
    """Returns each question's gold graphs with some swapped for those of other entities.

    Of all pairs of question and entity, a share keeps its graph; of the others each gets the
    graph of an entity that its question does not name. Which ones is decided by order of a keyed
    hash of the pair: the same everywhere, and nested, so that what is wrong at 80 % is wrong at 60 %.

    Args:
        gold: Triples by question id; a question's graphs are told apart by their heads.
        right_share: Share of the pairs that stay right, 0 to 1.
        random_seed: Of the draw.

    Raises:
        InputError: The share is out of range, or there is no other graph to swap in.
    """
    if not 0.0 <= right_share <= 1.0:
        raise InputError(
            f"the share of right graphs is 0 to 1, got {right_share}", argument="right_share"
        )
    graphs: dict[str, dict[str, list[Triple]]] = {}
    pool: dict[str, tuple[Triple, ...]] = {}
    for id_, triples in gold.items():
        own = graphs.setdefault(id_, {})
        for triple in triples:
            own.setdefault(triple.head.id, []).append(triple)
        for head, listed in own.items():
            pool.setdefault(head, tuple(listed))
    pairs = sorted(
        ((id_, head) for id_, own in graphs.items() for head in own),
        key=lambda pair: (_hash("pair", random_seed, *pair), pair),
    )
    # The nearest whole number, halves up: 0.8 of 5 pairs leaves exactly one wrong.
    wrong_count = len(pairs) - int(right_share * len(pairs) + 0.5)
    wrong: dict[str, dict[str, str]] = {id_: {} for id_ in graphs}
    for id_, head in pairs[:wrong_count]:
        others = [other for other in pool if other not in graphs[id_]]
        if not others:
            raise InputError(
                f"question {id_!r}: no other question's entity is left to swap in",
                argument="right_share",
                hint="Give more questions.",
            )
        wrong[id_][head] = min(
            others, key=lambda other: (_hash("graph", random_seed, id_, head, other), other)
        )
    return {
        id_: Swapped(
            tuple(
                triple
                for head, listed in own.items()
                for triple in (pool[wrong[id_][head]] if head in wrong[id_] else listed)
            ),
            wrong[id_],
        )
        for id_, own in graphs.items()
    }


def _hash(use: str, random_seed: int, *parts: str) -> bytes:
    return digest((use, str(random_seed), *parts), size=8, person=b"swap-graphs")
