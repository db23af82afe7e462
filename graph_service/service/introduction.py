"""What a graph is about in one line, for people who see it for the first time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.introduction import ExampleQuestion, Introduction
from graph_service.model.result import EntityRef
from graph_service.query.label_words import plural
from graph_service.service.triples import TripleRenderer

MOST_CLASSES = 2
MOST_NAMED = 2
"""Central entities that the line names."""
MOST_CENTRAL = 12
MOST_LETTERS = 60
"""Of a label in the line; a cell of a table can hold a paragraph."""
PEOPLE = frozenset(("human", "person"))
"""Classes of people, by their labels in lower case."""


class Introductions:
    """Introduces graphs, those used last cached. Thread-safe.

    Args:
        memory: What the caches share.
    """

    def __init__(self, *, memory: ByteBudget) -> None:
        self._cached: ByteCache[tuple[str, ...], Introduction] = ByteCache(memory, "introductions")
        self._examples: ByteCache[tuple[str, ...], tuple[ExampleQuestion, ...]] = ByteCache(
            memory, "example questions"
        )

    def examples(
        self,
        info: GraphInfo,
        languages: Sequence[str],
        make: Callable[[], tuple[ExampleQuestion, ...]],
        /,
    ) -> tuple[ExampleQuestion, ...]:
        """Returns the example questions of a graph, made at the first call."""
        key = (info.edition, info.fingerprints.content, *languages)
        known = self._examples.get(key)
        if known is None:
            known = make()
            return self._examples.put(key, known, held_bytes(known))
        return known

    def introduce(
        self,
        info: GraphInfo,
        class_labels: Sequence[str],
        graph: KnowledgeGraph | None,
        equal: EqualEntities,
        languages: Sequence[str],
        /,
    ) -> Introduction:
        """Returns what a graph is about.

        Args:
            info: The graph.
            class_labels: Its largest classes, the largest first.
            graph: Its arrays; None where it is too large for them, and no entity is named.
            equal: Entities that are one thing, which counts once.
            languages: Of labels, best first.
        """
        key = (info.edition, info.fingerprints.content, *languages)
        known = self._cached.get(key)
        if known is None:
            central: list[EntityRef] = []
            if graph is not None:
                nodes = find_central(graph, count=MOST_CENTRAL)
                central = TripleRenderer(graph, None, languages).entities(nodes)
            things = info.counts.entities - len(equal) + equal.group_count
            text = introduction_text(things, class_labels, [entity.label for entity in central])
            known = Introduction(text, tuple(central))
            return self._cached.put(key, known, held_bytes(known))
        return known


def find_central(graph: KnowledgeGraph, /, *, count: int) -> list[int]:
    """Returns the entities that most statements meet at, the most central first.

    An entity that has many statements and is the value of many comes before one that is only the
    value of many, such as a country or a gender. Ties go by the key of the entity. Of entities that
    are one thing one is named, by the statements of all.

    Args:
        graph: The graph.
        count: Entities at most; those without a statement of their own are left out.
    """
    nodes = np.arange(graph.entity_count, dtype=np.int64)
    things = graph.equal.things(nodes)
    outgoing, incoming = (
        np.bincount(things, weights=edges.degrees_of(nodes), minlength=len(nodes)).astype(np.int64)
        for edges in (graph.out_edges, graph.in_edges)
    )
    order = np.lexsort((nodes, -outgoing, -np.minimum(outgoing, incoming)))
    return [int(node) for node in order[:count] if outgoing[node]]


def introduction_text(
    entities: int, class_labels: Sequence[str], central_labels: Sequence[str], /
) -> str:
    """Returns what a graph is about in one line, without a full stop.

    Args:
        entities: How many things the graph has.
        class_labels: Its largest classes, the largest first.
        central_labels: The entities that most statements meet at, the most central first.

    >>> introduction_text(331, ["human", "film"], ["Robert F. Kennedy", "Maria Shriver"])
    '331 people, films and other things around Robert F. Kennedy and Maria Shriver'
    """
    kinds = [
        "people" if label.lower() in PEOPLE else plural(label)
        for label in class_labels[:MOST_CLASSES]
    ]
    things = listed([*kinds, "other things"]) if kinds else "things"
    named = [shortened(label) for label in central_labels[:MOST_NAMED]]
    around = f" around {listed(named)}" if named else ""
    return f"{entities:,} {things}{around}"


def shortened(label: str, /) -> str:
    """Returns a label with at most ``MOST_LETTERS`` letters, cut between words.

    >>> shortened("Chair"), shortened("A chair of oak " * 5)
    ('Chair', 'A chair of oak A chair of oak A chair of oak A chair of oak…')
    """
    if len(label) <= MOST_LETTERS:
        return label
    head = label[:MOST_LETTERS]
    return (head.rpartition(" ")[0] or head).rstrip(" ,;:") + "…"


def listed(names: Sequence[str], /) -> str:
    """Returns names as a sentence lists them.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
