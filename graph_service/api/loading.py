"""What one GraphQL operation knows: the service, and look-ups that are done in one go.

A result names entities and statements by the dozen; their terms and qualifiers are read from
the store only when a query asks for them, and then for all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

from graph_service.api.global_ids import Frame, view_of
from graph_service.api.meter import Meter
from graph_service.api.scopes import Scope
from graph_service.errors import GraphServiceError
from graph_service.model.limits import Deadline
from graph_service.model.pageviews import PageViews
from graph_service.model.statement import Entity, Statement
from graph_service.service import Service
from graph_service.service.experiments import ExperimentFolder
from graph_service.service.read_session import ReadSession
from graph_service.service.renamed_search import ViewNames
from graph_service.store.names import graph_of
from graph_service.store.recall import recalling


@dataclass(slots=True)
class Pending:
    """Entities and statements of one edition that were named and may be asked for."""

    edition: str
    entity_ids: set[str] = field(default_factory=set)
    statement_ids: set[str] = field(default_factory=set)
    entities: dict[str, Entity | None] = field(default_factory=dict)
    statements: dict[str, Statement | None] = field(default_factory=dict)
    page_views: dict[str, PageViews | None] = field(default_factory=dict)


@dataclass(slots=True)
class OperationContext:
    """Context of one operation.

    Attributes:
        writable: Whether mutations are allowed.
        scope: What the caller may do.
        operation_name: Which operation of the document the client chose.
        request_id: Stands in errors and in the log.
        deadline: Of the operation; None for the service's time limit, from when it begins.
        masked: Whether errors keep to themselves where the store is, and what the server lacks.
        reading: The editions that the fields of a query read; None in a mutation, whose fields
            each see what those before them did.
        meter: What the operation costs and may cost; None where nobody counts.
        experiments: Those that the caller may see; None where the server shows none.
        lasts: Whether the answer is the same each time that the same is read of the store.
    """

    service: Service
    writable: bool = False
    scope: Scope = Scope.ADMIN
    operation_name: str | None = None
    request_id: str = field(default_factory=lambda: uuid4().hex)
    deadline: Deadline | None = None
    masked: bool = False
    reading: ReadSession | None = None
    meter: Meter | None = None
    experiments: ExperimentFolder | None = None
    lasts: bool = True
    _pending: dict[str, Pending] = field(default_factory=dict)
    _names: dict[str, ViewNames | None] = field(default_factory=dict)

    @property
    def is_from_memory(self) -> bool:
        """Whether a result of the operation is from memory, as the store does not answer."""
        return self.reading is not None and self.reading.is_from_memory

    def pending(self, edition: str, /) -> Pending:
        """Returns what is named of an edition."""
        return self._pending.setdefault(edition, Pending(edition))

    def count_statements(self, graph: str | None, /) -> int:
        """Returns how many statements a graph has; 0 where a field that reads it would fail."""
        try:
            with recalling():
                return self.service.graph(graph).counts.statements
        except GraphServiceError:
            return 0

    def entity(self, edition: str, id_: str, /) -> Entity | None:
        """Returns an entity that was named, reading all that were named and not read yet."""
        pending = self.pending(edition)
        if id_ not in pending.entities:
            ids = sorted((pending.entity_ids | {id_}) - pending.entities.keys())
            entities = self.service.store.entities(edition, ids).entities
            pending.entities.update({each: entities.get(each) for each in ids})
        return pending.entities[id_]

    def named(self, frame: Frame, id_: str, /) -> Entity | None:
        """Returns an entity as a frame names it; see ``entity``."""
        entity = self.entity(frame.edition, id_)
        if entity is None or not frame.names:
            return entity
        if frame.names not in self._names:
            view, graph = view_of(frame.names), graph_of(frame.edition)
            self._names[frame.names] = self.service.names_on(view, graph=graph)
        names = self._names[frame.names]
        return entity if names is None else names.of(entity)

    def statement(self, edition: str, id_: str, /) -> Statement | None:
        """Returns a statement that was named, reading all that were named and not read yet."""
        pending = self.pending(edition)
        if id_ not in pending.statements:
            ids = sorted((pending.statement_ids | {id_}) - pending.statements.keys())
            statements = self.service.store.statements(edition, ids)
            pending.statements.update({each: statements.get(each) for each in ids})
        return pending.statements[id_]

    def page_views(self, edition: str, id_: str, /) -> PageViews | None:
        """Returns the page views of an entity that was named, reading all that were named."""
        pending = self.pending(edition)
        if id_ not in pending.page_views:
            ids = sorted((pending.entity_ids | {id_}) - pending.page_views.keys())
            page_views = self.service.long_tail.page_views(ids, graph=graph_of(edition))
            pending.page_views.update({each: page_views.get(each) for each in ids})
        return pending.page_views[id_]
