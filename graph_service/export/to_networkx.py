"""A graph or a view of it as networkx's directed multigraph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from graph_service.artifacts.views import ViewStore
from graph_service.model.graph import RANKS, KnowledgeGraph, labels_of
from graph_service.model.overlay import Overlay
from graph_service.model.request import ViewRef
from graph_service.model.values import EntityValue, display_value, stored_value
from graph_service.service import Service
from graph_service.service.lookup import require_base

if TYPE_CHECKING:
    import networkx


def to_networkx(
    service: Service,
    /,
    *,
    graph: str | None = None,
    view: ViewRef | None = None,
    languages: Sequence[str] = ("en",),
) -> networkx.MultiDiGraph[str]:
    """Returns a graph, or a view of it, as a ``networkx.MultiDiGraph``.

    A node is an entity under its id, with ``label`` and ``kind`` ``entity``; or the literal of one
    statement under that statement's id, with its ``value`` as the store encodes it. An edge
    has the statement's id as its key, and ``relation``, ``relation_label`` and ``rank``.

    Args:
        service: Over the store.
        graph: The base; may be left out where there is one.
        view: A view of it.
        languages: Languages of labels, best first.

    Raises:
        GraphNotFoundError: No such graph.
        ViewNotFoundError: No such view; ``ViewStaleError`` where its base has changed.
    """
    info = service.graph(graph)
    if view is not None:
        require_base(info)
    arrays = service.arrays(info)
    applied = ViewStore(service.store).apply(arrays, view) if view is not None else None
    if applied is None:
        return _multigraph(arrays, None, languages)
    return _multigraph(applied.graph_of(arrays), applied.overlay, languages)


def _multigraph(
    graph: KnowledgeGraph, overlay: Overlay | None, languages: Sequence[str]
) -> networkx.MultiDiGraph[str]:
    import networkx

    made: networkx.MultiDiGraph[str] = networkx.MultiDiGraph(
        name=graph.name, edition=graph.edition, edges=graph.fingerprints.edges
    )
    if overlay is not None:
        made.graph["view"] = overlay.view_id
    ids = list(graph.node_ids)
    new_nodes = overlay.new_nodes if overlay is not None else ()
    entities = np.arange(graph.entity_count, dtype=np.int32)
    labels = labels_of(graph.node_labels, entities, languages)
    made.add_nodes_from(
        (id_, {"kind": "entity", "label": label or id_})
        for id_, label in zip(ids[: graph.entity_count], labels, strict=True)
    )
    relations = list(graph.relation_ids)
    relation_labels = labels_of(
        graph.relation_labels, np.arange(len(relations), dtype=np.int32), languages
    )
    names = [label or id_ for id_, label in zip(relations, relation_labels, strict=True)]
    if overlay is not None:
        relations += overlay.new_relations
        names += overlay.new_relations

    def add(statement_id: str, head: int, rel: int, tail: int, rank: int) -> None:
        target: str
        if tail < graph.entity_count:
            target = ids[tail]
        else:
            encoded = ids[tail] if tail < len(ids) else new_nodes[tail - len(ids)]
            value = stored_value(encoded)
            if isinstance(value, EntityValue):
                target = value.id
                if target not in made:
                    made.add_node(target, kind="entity", label=target)
            else:
                # A view's statement may end on the literal of another: each has its own node.
                target = statement_id
                made.add_node(target, kind="literal", value=encoded, label=display_value(value))
        source = ids[head] if head < len(ids) else _new_id(new_nodes[head - len(ids)])
        facts: dict[str, Any] = {
            "relation": relations[rel],
            "relation_label": names[rel],
            "rank": RANKS[rank].value,
        }
        made.add_edge(source, target, key=statement_id, **facts)

    edges = np.arange(graph.edge_count)
    if overlay is not None:
        edges = edges[~overlay.gone.mask()]
    for edge, head, rel, tail, rank in zip(
        edges.tolist(),
        graph.head[edges].tolist(),
        graph.rel[edges].tolist(),
        graph.tail[edges].tolist(),
        graph.rank[edges].tolist(),
        strict=True,
    ):
        add(graph.statement_ids[edge], head, rel, tail, rank)
    if overlay is not None:
        for index, (head, rel, tail, rank) in enumerate(
            zip(
                overlay.head.tolist(),
                overlay.rel.tolist(),
                overlay.tail.tolist(),
                overlay.rank.tolist(),
                strict=True,
            )
        ):
            add(overlay.statement_ids[index], head, rel, tail, rank)
    return made


def _new_id(encoded: str) -> str:
    value = stored_value(encoded)
    assert isinstance(value, EntityValue)
    return value.id
