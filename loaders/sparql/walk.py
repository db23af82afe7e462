"""K hops around some entities, from an endpoint, batch by batch and resumable.

Hop by hop, the statements of every entity reached one hop earlier are asked for: those it is
the head of for many entities in one query, those it is the value of in one subquery an entity,
cut just above the hub limit. Then the names of all that was reached. A query that fails is
asked again in halves; what fails for one entity alone is a reject, and the load says that it
is not complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from graph_service.http.host_client import Traffic
from graph_service.model.serialise import from_plain, to_plain
from graph_service.model.statement import EntityKind
from loaders.items import Parsed, Reject, excerpt
from loaders.options import LoadOptions
from loaders.rdf.mapping import Mapper
from loaders.rdf.terms import LANGUAGE_TAG_REASON, is_language_tag
from loaders.rdf.values import entity_id
from loaders.sparql.arrived import ArrivedRows
from loaders.sparql.dialects import Dialect
from loaders.sparql.endpoint import Endpoint, QueryFailedError
from loaders.sparql.options import EndpointOptions
from loaders.sparql.paging import Collected, Pager
from loaders.sparql.terms import Row, can_write_iri

INCOMING_PER_QUERY = 10
TERMS_PER_QUERY = 60
# Redirects and what can't be loaded are rows, and no statements.
_MORE_ROWS = 1_000
OUTGOING_REASON = "entities whose own statements are not complete"
INCOMING_REASON = "entities whose incoming statements are not complete"
TERMS_REASON = "entities whose names are not complete"
UNWRITABLE_REASON = "entities whose IRI SPARQL can't hold, so that nothing was asked of them"
LIMIT_REASON = "entities not asked for, because the limit on statements was reached"
BEYOND_REASON = "statements beyond the limit on statements"


def hub_reason(limit: int, /) -> str:
    """Returns how the report counts hubs."""
    return f"hubs whose incoming statements were left out (more than {limit:,} each)"


_CHECKPOINT_KEYS = {"leading": "wanted", "complete": "whole"}
"""Keys of checkpoints, where they are not the names of the state's fields."""


@dataclass(slots=True)
class State:
    """Where the walk stands: all that a resumed one needs.

    Attributes:
        hop: From 1; beyond the last one, the names are read.
        frontier: Entities whose statements this hop takes; ``done`` of them are taken.
        known: Entities and relations met, by the order they were met in.
        queued: Entities of this and earlier frontiers, and of the next.
        coming: The next frontier.
        relations: Relations met.
        start_entities: What the walk began at, and what that redirects to.
        lacks_outgoing: Entities that were walked and whose own statements are not all taken.
        lacks_incoming: The same of their incoming ones; hubs are here.
        statements: How many are in.
        leading: Where whole documents are read: relations and values of the statements that lead
            into the walked part, by their head, until its document is in.
        complete, parts: Revisions of the documents that were read without a reject, by entity id:
            of those taken whole, and of those of which a part was.
        dropped: The relations that are left out.
    """

    hop: int
    frontier: list[str]
    done: int = 0
    known: dict[str, None] = field(default_factory=dict)
    queued: set[str] = field(default_factory=set)
    coming: list[str] = field(default_factory=list)
    relations: set[str] = field(default_factory=set)
    start_entities: set[str] = field(default_factory=set)
    lacks_outgoing: set[str] = field(default_factory=set)
    lacks_incoming: set[str] = field(default_factory=set)
    statements: int = 0
    leading: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    complete: dict[str, int] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Returns the state as it stands in a checkpoint."""
        plain: dict[str, Any] = to_plain(self) | {"known": list(self.known)}
        return {_CHECKPOINT_KEYS.get(name, name): value for name, value in plain.items()}

    @classmethod
    def from_json(cls, payload: Mapping[str, Any]) -> State:
        """Returns the state of a checkpoint."""
        names = {key: name for name, key in _CHECKPOINT_KEYS.items()}
        plain = {names.get(key, key): value for key, value in payload.items()}
        return from_plain(cls, plain | {"known": dict.fromkeys(plain["known"])})


class Walk:
    """The walk over an endpoint's triples; its state says where it goes on.

    Args:
        source: What the load was given.
        options: Its ``label_language`` is that of names without one.
        settings: Hops, direction, limits.
        dialect: Wikidata's or DBpedia's.
        endpoint: Asked.
        state: Changed as the walk goes on.
    """

    def __init__(
        self,
        source: str,
        options: LoadOptions,
        settings: EndpointOptions,
        dialect: Dialect,
        endpoint: Endpoint,
        state: State,
    ) -> None:
        self._source = source
        self._settings = settings
        self._dialect = dialect
        self._endpoint = endpoint
        self._state = state
        self._taken = state.queued.difference(state.coming, state.frontier[state.done :])
        self._arrived = ArrivedRows()
        self._pager = Pager(
            endpoint,
            page_rows=settings.page_rows,
            max_rows=settings.max_rows,
            nested_order=dialect.nested_order,
            arrived=self._arrived,
        )
        self._mapper = Mapper(
            scope=blake2b(source.encode(), digest_size=16).digest(),
            languages=frozenset(dialect.languages),
            label_language=options.label_language,
            nodes=None,
            wikidata=dialect.wikidata,
        )
        self._parsed = Parsed(terms_only=True)

    @property
    def address(self) -> str:
        """The address of the endpoint."""
        return self._endpoint.address

    @property
    def goes_in(self) -> bool:
        """Whether statements that lead to an entity are asked for."""
        return self._settings.direction != "out"

    def prune_cache(self) -> None:
        """Deletes answers on disk that are past their time."""
        self._endpoint.prune_cache()

    def pieces(self) -> Iterator[Parsed]:
        """Yields every piece from the state on."""
        state = self._state
        while state.hop <= self._settings.hops:
            yield from self._hop()
            state.hop += 1
            state.frontier, state.coming = sorted(state.coming), []
            state.done = 0
        if state.hop == self._settings.hops + 1:
            state.frontier = self._to_name()
            state.hop += 1
        yield from self._names()

    def _to_name(self) -> list[str]:
        """Returns what was met and has names, sorted."""
        state, dialect = self._state, self._dialect
        relations = {dialect.relation_iri(iri) for iri in state.relations}
        met = {*state.known, *relations, *state.queued}
        return sorted(iri for iri in met if dialect.has_terms(iri))

    def _begin(self, *, terms_only: bool = True) -> None:
        self._parsed = Parsed(terms_only=terms_only)
        self._arrived.begin()
        self._mapper.begin(self._parsed, check_text=True)

    def _end(self, stage: str) -> Parsed:
        self._mapper.end()
        parsed, state = self._parsed, self._state
        traffic = self._traffic()
        parsed.counts.passed_over += self._arrived.left_out
        parsed.source_records += self._arrived.count
        parsed.position = state.to_json()
        parsed.bytes_read = traffic.bytes_read
        parsed.note = (
            f"{stage}: {min(state.done, len(state.frontier)):,} of {len(state.frontier):,} "
            f"entities, {traffic.requests:,} requests"
            + (f", {traffic.retries:,} again" if traffic.retries else "")
            + (f", {traffic.from_cache:,} answers from disk" if traffic.from_cache else "")
        )
        return parsed

    def _traffic(self) -> Traffic:
        return self._endpoint.traffic

    def _hop(self) -> Iterator[Parsed]:
        state, size = self._state, self._settings.entities_per_query
        while state.done < len(state.frontier):
            batch = state.frontier[state.done : state.done + size]
            self._begin()
            limit = self._settings.max_statements
            if limit is not None and state.statements >= limit:
                self._parsed.skipped[LIMIT_REASON] += len(state.frontier) - state.done
                state.done = len(state.frontier)
            else:
                rows = self._rows_around(batch)
                state.done += len(batch)
                self._take(rows)
                self._taken.update(batch)
            yield self._end(f"hop {state.hop}")

    def _rows_around(self, batch: Sequence[str]) -> list[Row]:
        askable = self._writable(batch)
        rows: set[Row] = set()
        if self._settings.direction != "in":
            rows.update(self._all_of(askable, self._dialect.outgoing, OUTGOING_REASON))
        if self._settings.direction != "out":
            rows.update(self._incoming_rows(askable))
        return sorted(rows)

    def _incoming_rows(self, entities: Sequence[str]) -> set[Row]:
        rows: set[Row] = set()
        for start in [entity for entity in entities if entity in self._state.start_entities]:
            rows.update(self._all_of([start], self._incoming_pattern, INCOMING_REASON))
        others = [entity for entity in entities if entity not in self._state.start_entities]
        for first in range(0, len(others), INCOMING_PER_QUERY):
            rows.update(self._incoming(others[first : first + INCOMING_PER_QUERY]))
        return rows

    def _writable(self, batch: Sequence[str]) -> list[str]:
        writable = [iri for iri in batch if can_write_iri(iri)]
        if len(writable) < len(batch):
            self._parsed.skipped[UNWRITABLE_REASON] += len(batch) - len(writable)
            unwritable = set(batch).difference(writable)
            self._state.lacks_outgoing |= unwritable
            self._state.lacks_incoming |= unwritable
        return writable

    def _incoming_pattern(self, entities: Sequence[str]) -> str:
        [entity] = entities
        return self._dialect.incoming(entity)

    def _all_of(
        self, entities: Sequence[str], pattern_of: Callable[[Sequence[str]], str], reason: str
    ) -> tuple[Row, ...]:
        """Returns the rows of a pattern, asked for in halves where it fails."""
        if not entities:
            return ()
        try:
            requested = frozenset(entities)
            limit = self._settings.max_statements
            collected = self._pager.collect(
                pattern_of(entities),
                # So many rows fill the limit, whichever of them are statements that came before.
                enough=None if limit is None or reason == TERMS_REASON else limit + _MORE_ROWS,
                fits=lambda row: (
                    (row.object if reason == INCOMING_REASON else row.subject).value in requested
                ),
            )
        except QueryFailedError as error:
            collected = Collected(error.rows, error.reason)
        if not collected.problem:
            return collected.rows
        if len(entities) == 1:
            self._incomplete(entities[0], reason, collected.problem, pattern_of(entities))
            return collected.rows
        middle = len(entities) // 2
        rows = {
            # What came before it failed is true, whether it comes again or not.
            *collected.rows,
            *self._all_of(entities[:middle], pattern_of, reason),
            *self._all_of(entities[middle:], pattern_of, reason),
        }
        return tuple(rows)

    def _incoming(self, entities: Sequence[str]) -> list[Row]:
        """Returns the incoming statements of entities, none of those of hubs."""
        limit = self._settings.max_incoming
        if not entities:
            return []
        parts = [
            f"{{ SELECT DISTINCT ?s ?p ?o WHERE {{ {self._dialect.incoming(entity)} }} "
            f"LIMIT {limit + 1} }}"
            for entity in entities
        ]
        try:
            requested = frozenset(entities)
            pattern = " UNION ".join(parts)
            answer = self._endpoint.select(
                f"SELECT ?s ?p ?o WHERE {{ {pattern} }}",
                fits=lambda row: row.object.value in requested,
            )
            rows = answer.rows()
            self._arrived.arrive(rows)
            capped = self._pager.looks_capped(len(rows), answer.max_rows) and (
                len(entities) == 1 or self._pager.count(pattern) > len(set(rows))
            )
        except QueryFailedError as error:
            self._arrived.arrive(error.rows)
            if len(entities) == 1:
                pattern = self._dialect.incoming(entities[0])
                self._incomplete(entities[0], INCOMING_REASON, error.reason, pattern)
                if len(error.rows) <= limit:
                    return list(error.rows)
                self._arrived.leave_out(error.rows)
                return []
            rows, capped = error.rows, True
        if capped and len(entities) > 1:
            self._arrived.leave_out(rows)
            middle = len(entities) // 2
            return [*self._incoming(entities[:middle]), *self._incoming(entities[middle:])]
        counts = Counter(row.object.value for row in rows)
        if capped and counts[entities[0]] <= limit:
            self._arrived.leave_out(rows)
            rows = self._counted(entities[0], limit)
            counts = Counter(row.object.value for row in rows)
        hubs = {entity for entity, count in counts.items() if count > limit}
        self._add_hubs(hubs)
        self._arrived.leave_out(row for row in rows if row.object.value in hubs)
        return [row for row in rows if row.object.value not in hubs]

    def _counted(self, entity: str, limit: int) -> tuple[Row, ...]:
        """Returns the incoming statements of an entity whose answer looks cut; more than the
        limit where it is a hub.
        """
        pattern = self._dialect.incoming(entity)
        try:
            if self._pager.count(pattern) > limit:
                self._add_hubs({entity})
                return ()
        except QueryFailedError as error:
            self._incomplete(entity, INCOMING_REASON, error.reason, pattern)
            return ()
        return self._all_of([entity], self._incoming_pattern, INCOMING_REASON)

    def _add_hubs(self, hubs: set[str]) -> None:
        if hubs:
            self._parsed.skipped[hub_reason(self._settings.max_incoming)] += len(hubs)
            self._state.lacks_incoming |= hubs

    def _is_taken(self, row: Row) -> bool:
        """Returns whether an earlier batch had this statement, from its other end."""
        state, direction = self._state, self._settings.direction
        head, tail = row.subject.value, row.object.value
        if direction != "in" and head in self._taken and head not in state.lacks_outgoing:
            return True
        return (
            direction != "out"
            and row.object.kind == "uri"
            and tail in self._taken
            and tail not in state.lacks_incoming
        )

    def _take(self, rows: list[Row]) -> None:
        """Maps statements and notes what they lead to."""
        state, dialect = self._state, self._dialect
        limit = self._settings.max_statements
        frontier = set(state.frontier)
        counts = self._parsed.counts
        self._arrived.take(rows)
        for row in rows:
            target = dialect.redirect_of(row)
            if target is not None:
                self._add(row)
                # A redirect is no hop: its target is walked in this one.
                if row.subject.value in frontier and not (
                    target in self._taken or target in frontier
                ):
                    if target in state.queued:
                        state.coming = [iri for iri in state.coming if iri != target]
                    state.queued.add(target)
                    state.frontier.append(target)
                    frontier.add(target)
                if row.subject.value in state.start_entities:
                    state.start_entities.add(target)
                continue
            if self._is_taken(row):
                counts.passed_over += 1
                continue
            if limit is not None and state.statements >= limit:
                self._parsed.skipped[BEYOND_REASON] += 1
                counts.passed_over += 1
                continue
            before = len(self._parsed.statements)
            self._add(row)
            taken = len(self._parsed.statements) - before
            if not taken:
                continue
            state.statements += taken
            state.relations.add(row.predicate.value)
            for term in (row.subject, row.object):
                if term.kind != "uri":
                    continue
                state.known.setdefault(term.value)
                if term.value not in state.queued and dialect.walks_through(term.value):
                    state.queued.add(term.value)
                    state.coming.append(term.value)

    def _add(self, row: Row) -> None:
        """Maps a row, and counts what becomes of it."""
        counts, skipped = self._parsed.counts, self._parsed.skipped.total()
        try:
            quad = row.quad()
            problem = self._mapper.add_checked(quad)
        except ValueError as error:
            problem = f"a term that RDF forbids: {error}"
        tag = row.object.language
        if problem:
            self._parsed.rejects.append(Reject(self._source, 0, 0, problem, excerpt(str(row))))
            counts.rejected += 1
        elif self._parsed.skipped.total() > skipped:
            counts.passed_over += 1
        else:
            counts.read += 1
        if not problem and tag and not is_language_tag(tag):
            self._parsed.kept[LANGUAGE_TAG_REASON] += 1

    def _names(self) -> Iterator[Parsed]:
        state, dialect = self._state, self._dialect
        relations = {entity_id(dialect.relation_iri(entity)) for entity in state.relations}
        seen = set(state.frontier)
        while state.done < len(state.frontier):
            batch = state.frontier[state.done : state.done + TERMS_PER_QUERY]
            self._begin()
            rows = sorted(self._all_of(self._writable(batch), dialect.terms, TERMS_REASON))
            self._arrived.take(rows)
            for row in rows:
                self._add(row)
                target = dialect.redirect_of(row)
                if target is not None and target not in seen and dialect.has_terms(target):
                    seen.add(target)
                    state.frontier.append(target)
            state.done += len(batch)
            parsed = self._end("names")
            parsed.entities = [
                replace(entity, kind=EntityKind.PROPERTY) if entity.id in relations else entity
                for entity in parsed.entities
            ]
            yield parsed

    def _incomplete(self, entity: str, reason: str, problem: str, pattern: str = "") -> None:
        self._parsed.incomplete[reason] += 1
        if reason == OUTGOING_REASON:
            self._state.lacks_outgoing.add(entity)
        elif reason == INCOMING_REASON:
            self._state.lacks_incoming.add(entity)
        self._parsed.rejects.append(
            Reject(
                self._source,
                0,
                0,
                f"{entity_id(entity)}, of the {reason}: {problem}",
                excerpt(pattern),
            )
        )
