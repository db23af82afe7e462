"""What every retriever is given, and what it gives back: ranked statements with their ids.

A retriever sees the statements around a question's entities, in a view or in the base, as one list.
All but ours read that list alone, so that no one is helped by another's search. Ours are asked
through the client and search the same view themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.identity import key64
from graph_service.model.overlay import VIEW_ID_PREFIX, Overlay
from graph_service.model.request import ViewRef
from graph_service.service.triples import TripleRenderer

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
_IS_DIGEST = re.compile(r"[0-9a-f]{32}").fullmatch


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a set.

    Attributes:
        id: Unique in its set.
        entity_ids: The entities that it names.
        answer_ids: The entities that answer it.
        statement_sets: Sets of statements of the base that each give an answer.
    """

    id: str
    text: str
    entity_ids: tuple[str, ...]
    answer_ids: tuple[str, ...]
    statement_sets: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Surroundings:
    """The statements around a question's entities, in a view or in the base.

    Attributes:
        view: That they are of; None for the base.
        graph: Name of the base.
        statement_ids: [M].
        head, tail: Places of their ends in ``nodes``, int64 [M].
        relation: Places in ``relations``, int64 [M].
        nodes, node_names: Ids and names of the ends, [N].
        relations: Names, [R].
        topics: Places in ``nodes`` of the question's entities, int64.
        whole_graph: Gives all statements of the view or the base, without topics.
    """

    graph: str
    view: ViewRef | None
    statement_ids: tuple[str, ...]
    head: Int64
    relation: Int64
    tail: Int64
    nodes: tuple[str, ...]
    node_names: tuple[str, ...]
    relations: tuple[str, ...]
    topics: Int64
    whole_graph: Callable[[], Surroundings] | None = None

    def sentence(self, index: int, /) -> str:
        """Returns a statement as text: the names of head, relation and value."""
        head, relation, tail = self.head[index], self.relation[index], self.tail[index]
        return (
            f"{self.node_names[int(head)]} {self.relations[int(relation)]} "
            f"{self.node_names[int(tail)]}"
        )

    def ranked(self, order: Sequence[int], budget: int, /) -> tuple[Ranked, ...]:
        """Returns the first of some statements in an order, each once."""
        first = list(dict.fromkeys(order))[:budget]
        return tuple(
            Ranked(
                self.statement_ids[index],
                self.nodes[int(self.head[index])],
                self.nodes[int(self.tail[index])],
            )
            for index in first
        )

    def order(self, scores: Float64, /) -> list[int]:
        """Returns the statements by falling score; ties by ``tie_break``."""
        return sorted(
            range(len(self.statement_ids)),
            key=lambda index: (
                -round(float(scores[index]), 9),
                tie_break(self.statement_ids[index]),
            ),
        )


@dataclass(frozen=True, slots=True)
class Ranked:
    """A statement that was retrieved, with its ends."""

    statement_id: str
    head: str
    tail: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What a retriever gives for a question.

    Attributes:
        statements: Ranked, the best first.
        answer: The entity that it names first; empty where it names none by itself, and the end of
            the first statement is taken.
    """

    statements: tuple[Ranked, ...]
    answer: str = ""


def tie_break(statement_id: str, /) -> str:
    """Returns what orders statements of equal score: digits that do not tell which a view made.

    By its whole id a statement of a view would stand behind those of the base.

    >>> tie_break("view:" + 32 * "0"), tie_break(32 * "1"), tie_break("Q42$b7a1")
    ('00000000000000000000000000000000', '11111111111111111111111111111111', 'a6db4fff5115e1d9')
    """
    digits = statement_id.removeprefix(VIEW_ID_PREFIX)
    return digits if _IS_DIGEST(digits) else f"{key64(statement_id) & (2**64 - 1):016x}"


class StatementRetriever(Protocol):
    """Ranks statements by a question."""

    @property
    def name(self) -> str:
        """In tables."""
        ...

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns at most so many statements."""
        ...


def surroundings(
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    entity_ids: Sequence[str],
    /,
    *,
    view: ViewRef | None,
    hops: int,
    hub_degree: int = 2000,
    most: int = 3000,
) -> Surroundings:
    """Returns the statements within some steps of entities, both directions.

    Args:
        graph: The base, as the view names its entities.
        overlay: The view laid over it; None for the base.
        entity_ids: Where it begins; what the graph lacks is left out.
        view: The same view, for those who search it themselves.
        hops: How many steps.
        hub_degree: A node of more statements is reached and not walked through, but for the
            entities themselves.
        most: Statements at most: those of fewer steps first, ties by ``tie_break``.
    """
    head, _, tail, edges = statements = _edges(graph, overlay)
    topics = [node for id_ in entity_ids if (node := graph.find_node(id_)) is not None]
    degree = np.bincount(head, minlength=graph.node_count)
    degree += np.bincount(tail, minlength=graph.node_count)
    is_reached = np.zeros(graph.node_count, dtype=np.bool_)
    is_reached[topics] = True
    front = is_reached.copy()
    steps = np.full(len(head), -1)
    for step in range(hops):
        touched = (front[head] | front[tail]) & (steps < 0)
        steps[touched] = step
        nodes = np.zeros_like(front)
        nodes[head[touched]] = True
        nodes[tail[touched]] = True
        front = nodes & ~is_reached & (degree <= hub_degree)
        is_reached |= nodes
    renderer = TripleRenderer(graph, overlay, ("en",))
    near = np.flatnonzero(steps >= 0)
    ties = {int(row): tie_break(renderer.statement_id(int(edges[row]))) for row in near}
    rows = np.array(sorted(ties, key=lambda row: (steps[row], ties[row]))[:most], dtype=np.int64)
    return _rendered(statements, rows, topics, renderer, graph.name, view)


def whole_graph(
    graph: KnowledgeGraph, overlay: Overlay | None, /, *, view: ViewRef | None
) -> Surroundings:
    """Returns all statements between entities, of a view or of the base, without topics."""
    statements = _edges(graph, overlay)
    renderer = TripleRenderer(graph, overlay, ("en",))
    rows = np.arange(len(statements[0]))
    return _rendered(statements, rows, [], renderer, graph.name, view)


def _rendered(
    statements: tuple[Int64, Int64, Int64, Int64],
    rows: Int64,
    topics: Sequence[int],
    renderer: TripleRenderer,
    graph: str,
    view: ViewRef | None,
) -> Surroundings:
    """Some rows of statements, with their ids and the names of what they join."""
    head, relation, tail, edges = statements
    node_numbers, ends = np.unique(
        np.concatenate([head[rows], tail[rows], np.array(topics, dtype=np.int64)]),
        return_inverse=True,
    )
    relation_numbers, codes = np.unique(relation[rows], return_inverse=True)
    entities = renderer.entities(node_numbers.tolist())
    count = len(rows)
    return Surroundings(
        graph=graph,
        view=view,
        statement_ids=tuple(renderer.statement_id(edge) for edge in edges[rows].tolist()),
        head=ends[:count],
        relation=codes,
        tail=ends[count : 2 * count],
        nodes=tuple(entity.id for entity in entities),
        node_names=tuple(entity.label for entity in entities),
        relations=tuple(renderer.relation_label(code) for code in relation_numbers.tolist()),
        topics=ends[2 * count :],
    )


def _edges(graph: KnowledgeGraph, overlay: Overlay | None) -> tuple[Int64, Int64, Int64, Int64]:
    """Head, relation and tail of the statements between entities that hold, and their numbers."""
    edges = np.arange(graph.edge_count)
    columns = [np.asarray(column) for column in (graph.head, graph.rel, graph.tail)]
    if overlay is not None:
        stays = ~overlay.gone.mask()
        extra = graph.edge_count + np.arange(len(overlay.head))
        edges = np.concatenate([edges[stays], extra])
        columns = [
            np.concatenate([column[stays], added])
            for column, added in zip(
                columns, (overlay.head, overlay.rel, overlay.tail), strict=True
            )
        ]
    head, relation, tail = (column.astype(np.int64) for column in columns)
    between = tail < graph.entity_count
    return head[between], relation[between], tail[between], edges[between]
