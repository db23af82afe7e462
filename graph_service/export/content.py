"""What there is to export: entities and whole statements of a graph, or of a view of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.artifacts.views import ViewStore
from graph_service.errors import StoreCorruptError
from graph_service.model.graph import RANKS, KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.overlay import Overlay
from graph_service.model.request import ViewRef
from graph_service.model.statement import (
    Entity,
    Statement,
)
from graph_service.model.values import EntityValue, Value, stored_value
from graph_service.model.view_delta import NameDelta
from graph_service.service import Service
from graph_service.service.renamed_search import ViewNames
from graph_service.store.protocol import GraphReader

STATEMENTS_A_CHUNK = 5_000
EXPORTED_PREFIX = "exported-"
"""Before the id of a statement that a view made, so that it is no view's in the new graph."""


@dataclass(frozen=True, slots=True)
class ExportedGraph:
    """A published graph, or one laid under a view, to be read from end to end.

    Attributes:
        arrays, overlay: Of the view; None for the graph itself.
        names: Entities that the view names otherwise; None where all keep their names.
    """

    reader: GraphReader
    info: GraphInfo
    arrays: KnowledgeGraph | None = None
    overlay: Overlay | None = None
    names: NameDelta | None = None

    @property
    def view_id(self) -> str | None:
        """Identity of the view, if there is one."""
        return self.overlay.view_id if self.overlay is not None else None

    def entities(self) -> Iterator[Sequence[Entity]]:
        """Yields all entities in chunks: the graph's by key, then those that only the view names."""
        if self.names is None or self.arrays is None:
            yield from self.reader.scan_entities(self.info.edition)
        else:
            renamed = ViewNames(self.arrays, self.names)
            for chunk in self.reader.scan_entities(self.info.edition):
                yield [renamed.of(entity) for entity in chunk]
        if self.overlay is None:
            return
        values = [stored_value(text) for text in self.overlay.new_nodes]
        named = {value.id for value in values if isinstance(value, EntityValue)}
        known = self.reader.entities(self.info.edition, sorted(named)).entities
        # A redirect is found under its own id too, and was among the graph's.
        new = sorted(named - {id_ for id_, entity in known.items() if entity.id == id_})
        if new:
            yield [Entity(id_) for id_ in new]

    def statements(self, *, in_order: bool = True) -> Iterator[Sequence[Statement]]:
        """Yields all statements in chunks: the graph's by key, then those that the view made.

        Args:
            in_order: Without it, those of a graph itself come as they lie, which is faster.
        """
        if self.overlay is None or self.arrays is None:
            yield from self.reader.scan_statements(self.info.edition, in_order=in_order)
            return
        graph, overlay = self.arrays, self.overlay
        bases: dict[int, Statement] = {}
        is_base = np.zeros(graph.edge_count, dtype=np.bool_)
        is_base[overlay.base_edge[overlay.base_edge >= 0]] = True
        read = 0
        for chunk in self.reader.scan_statements(self.info.edition):
            edges = graph.topology.key_order[read : read + len(chunk)]
            if len(edges) < len(chunk) or graph.statement_ids[int(edges[0])] != chunk[0].id:
                raise StoreCorruptError(
                    f"the arrays of {self.info.edition} are not those of its statements",
                    hint="Delete the snapshots beside the store and run it again.",
                )
            gone = overlay.gone.has(edges).tolist()
            for row in np.flatnonzero(is_base[edges]).tolist():
                statement = chunk[row]
                if statement.qualifiers or statement.references or statement.context:
                    bases[int(edges[row])] = statement
            yield [item for item, is_gone in zip(chunk, gone, strict=True) if not is_gone]
            read += len(chunk)
        for start in range(0, len(overlay.head), STATEMENTS_A_CHUNK):
            indexes = range(start, min(start + STATEMENTS_A_CHUNK, len(overlay.head)))
            yield [self._made(graph, overlay, index, bases) for index in indexes]

    def _made(
        self, graph: KnowledgeGraph, overlay: Overlay, index: int, bases: dict[int, Statement]
    ) -> Statement:
        head = self._value(graph, overlay, int(overlay.head[index]))
        assert isinstance(head, EntityValue)
        relation = int(overlay.rel[index])
        base = bases.get(int(overlay.base_edge[index]))
        return Statement(
            id=EXPORTED_PREFIX + overlay.statement_ids[index],
            head=head.id,
            relation=(
                graph.relation_ids[relation]
                if relation < graph.relation_count
                else overlay.new_relations[relation - graph.relation_count]
            ),
            value=self._value(graph, overlay, int(overlay.tail[index])),
            rank=RANKS[int(overlay.rank[index])],
            qualifiers=base.qualifiers if base else (),
            references=base.references if base else (),
            context=base.context if base else None,
        )

    @staticmethod
    def _value(graph: KnowledgeGraph, overlay: Overlay, node: int) -> Value:
        if node < graph.entity_count:
            return EntityValue(graph.node_ids[node])
        if node < graph.node_count:
            return stored_value(graph.node_ids[node])
        return stored_value(overlay.new_nodes[node - graph.node_count])


def exported_graph(
    service: Service, /, *, graph: str | None = None, view: ViewRef | None = None
) -> ExportedGraph:
    """Returns what there is to export of a graph, or of a view of it.

    Raises:
        GraphNotFoundError: No such graph.
        ViewNotFoundError: No such view; ``ViewStaleError`` where its base has changed.
    """
    info = service.graph(graph)
    if view is None:
        return ExportedGraph(service.store, info)
    arrays = service.arrays(info)
    applied = ViewStore(service.store).apply(arrays, view)
    if applied is None:
        return ExportedGraph(service.store, info, arrays)
    return ExportedGraph(service.store, info, arrays, applied.overlay, applied.delta.names)
