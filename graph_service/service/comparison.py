"""What reads of statements, views and comparisons give, and how it is put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.errors import InputError
from graph_service.model.overlay import Overlay
from graph_service.model.result import EntityRef, RetrievalResult
from graph_service.model.statement import Statement
from graph_service.model.view_spec import ChangeKind
from graph_service.service.shaping import statement_changes
from graph_service.service.triples import ShownEdge
from graph_service.views.measure.describe import Difference

MAX_COMPARED = 10


@dataclass(frozen=True, slots=True)
class ViewChange:
    """One difference between a view and its base.

    Attributes:
        before: None for an added statement.
        after: None for a removed one.
        words: Both in one line.
        entity: An entity with other names, by the view's label; no statement differs then.
    """

    before: ShownEdge | None
    after: ShownEdge | None
    words: str
    entity: EntityRef | None = None


@dataclass(frozen=True, slots=True)
class ShownStatement:
    """A statement of an entity, on the base or on a view."""

    statement: Statement
    edge: ShownEdge


@dataclass(frozen=True, slots=True)
class Comparison:
    """One view's result beside the base's.

    Attributes:
        view_id: None for the base.
        lost, gained: Statement ids that the base's result has and this one has not; and the
            other way round.
        changed: Statement ids of this result that the view made.
    """

    view_id: str | None
    view_spec: str | None
    result: RetrievalResult
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    changed: tuple[str, ...]


def check_compared(count: int, /) -> None:
    """Raises ``InputError`` unless that many views may be compared with their base."""
    if not 1 <= count <= MAX_COMPARED:
        raise InputError(f"compare takes 1 to {MAX_COMPARED} views, got {count}", argument="views")


def compared(result: RetrievalResult, base: dict[str, ChangeKind], /) -> Comparison:
    """Returns a view's result beside the base's statements, as ``statement_changes`` gives them."""
    changes = statement_changes(result)
    return Comparison(
        view_id=result.provenance.view_id,
        view_spec=result.provenance.view_spec,
        result=result,
        lost=tuple(id_ for id_ in base if id_ not in changes),
        gained=tuple(id_ for id_ in changes if id_ not in base),
        changed=tuple(id_ for id_, kind in changes.items() if kind is not ChangeKind.UNCHANGED),
    )


def base_id(edge: ShownEdge, /) -> str | None:
    """Returns the id under which the base has a statement; None for an added one."""
    if edge.change.kind is ChangeKind.UNCHANGED:
        return edge.triple.statement_id
    return edge.change.base.statement_id if edge.change.base else None


def changed_edges(overlay: Overlay, page: Sequence[Difference]) -> list[int | None]:
    """Returns the edge that a view has in place of each difference's, or for an added one."""
    base_edges = np.array([-1 if item.base_edge is None else item.base_edge for item in page])
    by_base: dict[int, int] = {}
    added: dict[tuple[int, int, int], int] = {}
    for index in np.flatnonzero(np.isin(overlay.base_edge, base_edges)).tolist():
        base_edge, edge = int(overlay.base_edge[index]), overlay.base_edge_count + index
        if base_edge >= 0:
            by_base[base_edge] = edge
        else:
            head, rel, tail = overlay.head[index], overlay.rel[index], overlay.tail[index]
            added[int(head), int(rel), int(tail)] = edge
    edges: list[int | None] = []
    for item in page:
        if item.after is None:
            edges.append(None)
        elif item.base_edge is not None:
            edges.append(by_base[item.base_edge])
        else:
            edges.append(added[item.head, item.after.rel, item.after.tail])
    return edges
