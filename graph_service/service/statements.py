"""The statements of a graph or of a view: pages at an entity, counts by relation, and by id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from graph_service.artifacts.views import AppliedView, ViewStore
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.request import ViewRef, check_languages
from graph_service.model.statement import Statement
from graph_service.service.browsing import (
    PageRequest,
    StatementPage,
    between_entities,
    cut_page,
    edges_of,
    find_edge,
    members_of,
)
from graph_service.service.comparison import ShownStatement, base_id
from graph_service.service.counting import (
    RelationCount,
    count_relations,
    in_order,
    shown_statements,
    stored_page,
    stored_relation_counts,
)
from graph_service.service.graphs import Graphs
from graph_service.service.lookup import find_relations, read_id, relations_of, require_base
from graph_service.service.store_route import MergedGraphs
from graph_service.service.triples import ShownEdge, TripleRenderer
from graph_service.store.lookup import StoredThings
from graph_service.store.protocol import EntityLookup


class Statements:
    """Reads statements.

    Args:
        graphs: The open graphs.
        views: Where views are found or made.
        merged_graphs: The groups of entities that are one thing, of graphs above the snapshot limit.
        entities: Looks entities up by id.
    """

    def __init__(
        self,
        graphs: Graphs,
        views: ViewStore,
        merged_graphs: MergedGraphs,
        /,
        *,
        entities: Callable[..., EntityLookup],
    ) -> None:
        self._graphs = graphs
        self._store = graphs.store
        self._views = views
        self._merged_graphs = merged_graphs
        self._entities = entities

    def of(
        self,
        entity_id: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        relation_ids: Sequence[str] = (),
        languages: Sequence[str] = ("en",),
        limit: int = 100,
    ) -> list[ShownStatement]:
        """Returns the statements that have an entity as their head, of every rank.

        None where the graph lacks the entity. On a view, a changed statement keeps the
        qualifiers and references of its base.
        """
        self._graphs.check_limit(limit)
        page = PageRequest(limit, relation_ids=relation_ids)
        return list(self.page(entity_id, page, graph=graph, view=view, languages=languages).items)

    def page(
        self,
        entity_id: str,
        page: PageRequest,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        languages: Sequence[str] = ("en",),
        entities_only: bool = False,
    ) -> StatementPage:
        """Returns a page of the statements at an entity, of every rank, by their heads and keys.

        Those of all entities that are one thing with it come too. There are none where the graph
        lacks the entity. On a view, a changed statement keeps the
        qualifiers and references of its base.

        Args:
            entity_id: As ``entities`` takes it.
            page: Which statements, and from where on.
            graph: Name of the graph.
            view: The view; None for the base.
            languages: Of labels, best first.
            entities_only: Leaves out statements whose value is a literal.
        """
        self._graphs.check_limit(page.first, argument="first")
        check_languages(languages)
        info = self._graphs.find(graph)
        if view is None and self._graphs.is_read_from_store(info):
            ids = [read_id(id_, argument="relation_ids") for id_ in page.relation_ids]
            return stored_page(
                self._store,
                info,
                self._stored_entities(entity_id, info),
                replace(page, relation_ids=ids),
                languages=languages,
                entities_only=entities_only,
                deadline=self._graphs.deadline(),
            )
        arrays, applied = self.apply(info, view)
        overlay = applied.overlay if applied else None
        node = arrays.find_node(self._moved(entity_id, info))
        if node is None:
            return StatementPage((), (), 0, False)
        edges = edges_of(arrays, overlay, node, page)
        if page.relation_ids:
            relations = find_relations(arrays, overlay, page.relation_ids)
            edges = edges[np.isin(relations_of(arrays, overlay, edges), relations)]
        if entities_only:
            edges = between_entities(arrays, overlay, edges)
        chosen, has_next = cut_page(edges, first=page.first, after=page.after)
        shown = self._renderer(arrays, applied, languages).show(chosen.tolist())
        return StatementPage(
            items=tuple(self._with_statements(info, list(shown.values()))),
            numbers=tuple(shown),
            total=len(edges),
            has_next=has_next,
            entity_ids=frozenset(arrays.node_ids.take(members_of(arrays, node))),
            view_id=applied.id if applied else None,
            view_spec=applied.spec.to_json() if applied else None,
        )

    def relation_counts(
        self,
        entity_id: str,
        /,
        *,
        outgoing: bool = True,
        incoming: bool = True,
        graph: str | None = None,
        view: ViewRef | None = None,
        languages: Sequence[str] = ("en",),
    ) -> list[RelationCount]:
        """Returns how many statements of each relation an entity is an end of, the most first.

        Statements of every rank count, those between the entity and itself at both ends. There
        are none where the graph lacks the entity.

        Args:
            entity_id: As ``entities`` takes it.
            outgoing: Whether to count the statements that have it as their head.
            incoming: Whether to count those that have it as their value.
            graph: Name of the graph.
            view: The view; None for the base.
            languages: Of labels, best first.
        """
        check_languages(languages)
        info = self._graphs.find(graph)
        deadline = self._graphs.deadline()
        ways = [way for way, is_included in ((True, outgoing), (False, incoming)) if is_included]
        counts: list[RelationCount] = []
        if view is None and self._graphs.is_read_from_store(info):
            entities = self._stored_entities(entity_id, info)
            for way in ways:
                counts += stored_relation_counts(
                    self._store, info, entities, outgoing=way, deadline=deadline
                )
            return in_order(counts)
        arrays, applied = self.apply(info, view)
        overlay = applied.overlay if applied else None
        renderer = self._renderer(arrays, applied, languages)
        node = arrays.find_node(self._moved(entity_id, info))
        if node is not None:
            for way in ways:
                counts += count_relations(arrays, overlay, node, outgoing=way, renderer=renderer)
        return in_order(counts)

    def triples(
        self,
        statement_ids: Sequence[str],
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        languages: Sequence[str] = ("en",),
    ) -> dict[str, ShownEdge]:
        """Returns statements of a graph or of a view with labels, by id; unknown ones are absent."""
        check_languages(languages)
        info = self._graphs.find(graph)
        if view is None and self._graphs.is_read_from_store(info):
            known = self._store.statements(info.edition, statement_ids)
            return shown_statements(self._store, info, list(known.values()), languages)
        arrays, applied = self.apply(info, view)
        edges = [
            arrays.find_edge(id_) if applied is None else find_edge(arrays, applied.overlay, id_)
            for id_ in statement_ids
        ]
        shown = self._renderer(arrays, applied, languages).show(
            edge for edge in edges if edge is not None
        )
        return {edge.triple.statement_id: edge for edge in shown.values()}

    def find(
        self,
        statement_id: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        languages: Sequence[str] = ("en",),
    ) -> ShownStatement | None:
        """Returns a statement of a graph or of a view by its id; None if there is none."""
        shown = self.triples([statement_id], graph=graph, view=view, languages=languages)
        if not shown:
            return None
        return self._with_statements(self._graphs.find(graph), list(shown.values()))[0]

    def apply(
        self, info: GraphInfo, view: ViewRef | None, /
    ) -> tuple[KnowledgeGraph, AppliedView | None]:
        """Returns a graph as arrays, and the view of it, if one is given."""
        if view is not None:
            require_base(info)
        arrays = self._graphs.arrays(info)
        return arrays, self._views.apply(arrays, view, deadline=self._graphs.deadline())

    def _stored_entities(self, entity_id: str, info: GraphInfo) -> list[str]:
        """Returns the ids of an entity, as it is now, and of all that are one thing with it."""
        entity = self._moved(entity_id, info)
        equal = self._merged_graphs.of(info)
        return sorted(StoredThings(self._store, info, equal).with_members([entity]))

    def _moved(self, entity_id: str, info: GraphInfo) -> str:
        """Returns the id of an entity as the graph has it, redirects followed."""
        entities = self._entities([entity_id], graph=info.name, argument="entity_id").entities
        return entities[entity_id].id if entities else read_id(entity_id, argument="entity_id")

    def _renderer(
        self, arrays: KnowledgeGraph, applied: AppliedView | None, languages: Sequence[str]
    ) -> TripleRenderer:
        if applied is None:
            return TripleRenderer(arrays, None, languages)
        return TripleRenderer(applied.graph_of(arrays), applied.overlay, languages)

    def _with_statements(self, info: GraphInfo, shown: Sequence[ShownEdge]) -> list[ShownStatement]:
        base_ids = [base_id(edge) for edge in shown]
        known = self._store.statements(info.edition, [id_ for id_ in base_ids if id_ is not None])
        statements = []
        for edge, id_ in zip(shown, base_ids, strict=True):
            base = known.get(id_) if id_ is not None else None
            statement = Statement(
                id=edge.triple.statement_id,
                head=edge.triple.head.id,
                relation=edge.triple.relation.id,
                value=edge.triple.value,
                rank=edge.triple.rank,
                qualifiers=base.qualifiers if base else (),
                references=base.references if base else (),
                context=base.context if base else None,
            )
            statements.append(ShownStatement(statement, edge))
        return statements
