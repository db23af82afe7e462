"""The three protocols of a store, and the plain data that passes through them.

Two implementations: a local file (``sqlite/``) and Neo4j (``neo4j/``). One contract suite
(``tests/contract``) holds both to this text. No query language passes through, and every error
of a driver arrives as one of ``graph_service.errors``.

Life of a graph: ``begin_load`` takes a lease (one writer a graph) -> ``LoadSession.write`` ...
-> ``finish`` -> ``publish``. A load writes a new *edition* (``demo@7``) and ``publish`` flips
one pointer, so readers see the last published edition until then and the whole new one after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo, UnfinishedLoad
from graph_service.model.identity import Fingerprints
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.overview import Overview
from graph_service.model.result import SearchHit
from graph_service.model.statement import Entity, Rank, Statement
from graph_service.store.passages import Passages

READS_OF_EDITIONS = frozenset(
    (
        *("snapshot", "mend_snapshot", "verify_snapshot"),
        *("scan_entities", "scan_edges", "scan_statements"),
        *("entities", "statements", "statements_of", "neighbourhood", "relations"),
        *("equal_pairs", "relations_of", "relation_counts", "overview", "search"),
    )
)
"""Reads of an edition: they give the same for ever, or nothing when the edition is gone."""

MAX_BATCH_STATEMENTS = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """What one transaction writes.

    Attributes:
        entities: Entities with terms; a later one of the same id replaces the terms of an earlier
            one (a lower revision never replaces a higher).
        statements: Statements; the same id again replaces the payload, or is a duplicate.
        documents: Ids of entities whose whole document is in this batch: statements that earlier
            editions or batches have of them, and that are not in this batch, go. A document of a
            lower revision than the one stored is left out whole and counted.
        terms_only: Whether ``entities`` only add terms (RDF, a label file): they are merged into
            the terms there are (``store.terms.merge_terms``) instead of replacing them.
        names_only: Whether ``entities`` are names beside a graph (a label file), and no entities
            of it: an id that has no statement at the end is kept aside. Needs ``terms_only``.
        source: What the batch was read from, to name it in a ``Conflict``.
        lines, entity_lines: The line of each statement and entity in ``source``, from 1, 0 for
            none; empty where none is known.
    """

    entities: Sequence[Entity] = ()
    statements: Sequence[Statement] = ()
    documents: frozenset[str] = frozenset()
    terms_only: bool = False
    names_only: bool = False
    source: str = ""
    lines: Sequence[int] = ()
    entity_lines: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """What a load gave twice under one id with different content; one of the two is left out.

    Attributes:
        id: Of a statement, or of an entity where ``is_document``.
        source, line: Where the one left out stands; line 0 for none.
        stored_source, stored_line: Where the one stands that is in.
    """

    id: str
    is_document: bool
    source: str
    line: int
    stored_source: str
    stored_line: int


@dataclass(frozen=True, slots=True)
class LoadCounts:
    """What a finished load came to, in statements.

    Attributes:
        written: Not there before this load.
        updated: There under the same id with another payload.
        duplicates: There already, or given twice, with the same payload.
        removed: Gone because a newer whole document no longer has them.
        outdated: Left out because a document of a higher revision is there.
        conflicting: Left out because this load gives their id with other content too.
    """

    written: int
    updated: int
    duplicates: int
    removed: int
    outdated: int
    conflicting: int = 0


class LoadSession(Protocol):
    """One load under way; a context manager.

    Within a load an id stands for one content. Of two statements of one id, and of two documents
    of one entity, that differ the first is kept and the other is a ``Conflict``, unless the later
    document is of a higher revision. A statement read on its own gives way to one of its entity's
    document. What earlier loads wrote under the id is updated.

    Leaving the block with an error keeps what is in, gives the lease back, and lets the same
    ``begin_load`` resume it; ``abort`` throws it away.
    """

    @property
    def edition(self) -> str:
        """The id of the edition being written, such as ``demo@7``."""

    @property
    def sequence(self) -> int:
        """Number of batches already committed."""

    @property
    def checkpoint(self) -> Mapping[str, Any] | None:
        """The checkpoint of the last committed batch, where this load resumes another."""

    def write(self, batch: Batch, /, *, checkpoint: Mapping[str, Any] | None = None) -> None:
        """Writes a batch in one transaction, once, even if the commit's reply is lost.

        The checkpoint is written in the same transaction. Also renews the lease.

        Raises:
            InputError: Text that no store can hold (NUL, lone surrogates).
            StoreError: Nothing of the batch is in.
        """

    def finish(self, *, report: Mapping[str, Any] | None = None) -> LoadCounts:
        """Resolves duplicates, adds bare entities for ids only mentioned, builds indexes, counts
        and fingerprints. The edition is final afterwards, and not visible yet.
        """

    def conflicts(self) -> Iterator[list[Conflict]]:
        """Yields what ``finish`` and ``write`` left out, in chunks; between finish and publish."""

    def fingerprints(self) -> Fingerprints:
        """Returns those of the finished edition; between finish and publish."""

    def publish(self) -> GraphInfo:
        """Makes the edition the graph's current one, at once, and gives the lease back."""

    def abort(self) -> None:
        """Throws the load away, in batches, and gives the lease back."""

    def __enter__(self) -> Self:
        """Returns this object, which lets go of what it holds at the end of the block."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        """Gives the lease back; keeps an unfinished load so that it can be resumed."""


@dataclass(frozen=True, slots=True)
class EntityLookup:
    """Entities by the requested id.

    Attributes:
        entities: By the requested id; a redirect (or a ``same_as`` id) gives the entity it leads to.
        missing: Ids that the graph does not have.
    """

    entities: Mapping[str, Entity] = field(default_factory=dict)
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspected:
    """A part of a store that was checked: ``fault`` says what is wrong with it; "" for nothing."""

    part: str
    fault: str = ""


class GraphReader(Protocol):
    """Reads published editions. ``edition`` arguments are those of ``GraphInfo``."""

    def graphs(self) -> list[GraphInfo]:
        """Returns all published graphs by name, loads under way included in their entry."""

    def graph(self, name: str, /) -> GraphInfo:
        """Returns one graph; raises ``GraphNotFoundError`` naming those there are."""

    def unfinished_loads(self) -> list[UnfinishedLoad]:
        """Returns loads not published, also of graphs that have no edition yet."""

    def snapshot(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns the edition as arrays, from the cache or built now (seconds for millions)."""

    def mend_snapshot(self, info: GraphInfo, /) -> None:
        """Makes arrays that ``snapshot`` gave right again where their file was damaged since.

        Cheap where nothing happened; whoever keeps arrays calls it before using them again.
        """

    def verify_snapshot(self, info: GraphInfo, /) -> int | None:
        """Checks the file of an edition's arrays and returns its bytes; None where there is none.

        Raises:
            StoreCorruptError: It is damaged.
        """

    def inspect(self, info: GraphInfo, /) -> Iterator[Inspected]:
        """Checks an edition's keys and indexes against its statements and entities."""

    def scan_entities(self, edition: str, /) -> Iterator[list[Entity]]:
        """Yields every entity, redirects included, in chunks, in order of their keys."""

    def scan_edges(self, edition: str, /) -> Iterator[list[EdgeRow]]:
        """Yields every statement in chunks, in order of their keys."""

    def scan_statements(
        self, edition: str, /, *, in_order: bool = True
    ) -> Iterator[list[Statement]]:
        """Yields every statement whole in chunks, in order of their keys, or as they lie: faster."""

    def entities(self, edition: str, ids: Sequence[str], /) -> EntityLookup:
        """Returns entities by id, redirects followed, the missing named."""

    def statements(self, edition: str, ids: Sequence[str], /) -> dict[str, Statement]:
        """Returns whole statements by statement id; unknown ones are absent."""

    def statements_of(
        self,
        edition: str,
        entity: str,
        /,
        *,
        incoming: bool = False,
        relation_ids: Sequence[str] = (),
        entities_only: bool = False,
        after: int | None = None,
        limit: int = 1000,
        deadline: Deadline | None = None,
    ) -> list[Statement]:
        """Returns the statements that have an entity as their head, in order of their keys.

        Args:
            edition: The edition.
            entity: Its id; redirects are not followed.
            incoming: Whether to return those that have it as their value instead.
            relation_ids: Of these relations only; of all where it is empty.
            entities_only: Leaves out statements whose value is a literal.
            after: Only statements of larger keys.
            limit: How many at most. Of an entity's other statements no content is read.
            deadline: Raises ``DeadlineError`` when past.
        """

    def relation_counts(
        self,
        edition: str,
        entity: str,
        /,
        *,
        incoming: bool = False,
        entities_only: bool = False,
        loops: bool = True,
        deadline: Deadline | None = None,
    ) -> dict[str, int]:
        """Returns how many statements of each relation have an entity as their head, of any rank.

        Args:
            edition: The edition.
            entity: Its id; redirects are not followed.
            incoming: Whether to count those that have it as their value instead.
            entities_only: Leaves out statements whose value is a literal.
            loops: Whether statements count whose head is their value.
            deadline: Raises ``DeadlineError`` when past.
        """

    def overview(
        self,
        edition: str,
        /,
        *,
        equal: EqualEntities | None = None,
        deadline: Deadline | None = None,
    ) -> Overview:
        """Returns how often an edition uses each relation, and the sizes of its classes.

        Goes through all statements.

        Args:
            edition: The edition.
            equal: Entities that are one thing, as 64-bit keys: one instance, and one class.
            deadline: Raises ``DeadlineError`` when past.
        """

    def neighbourhood(
        self,
        edition: str,
        ids: Sequence[str],
        /,
        *,
        hops: int = 1,
        max_edges: int = 10_000,
        hub_degree: int | None = None,
        ranks: Sequence[Rank] = (Rank.PREFERRED, Rank.NORMAL),
        relation_ids: Sequence[str] = (),
        exclude_relation_ids: Sequence[str] = (),
        equal: EqualEntities | None = None,
        deadline: Deadline | None = None,
    ) -> Neighbourhood:
        """Returns the region around some entities, both directions.

        An entity of more than ``hub_degree`` edges is reached and not walked through, unless it
        is one of ``ids``. Of more than ``max_edges`` edges those of fewer hops, then of smaller
        key, stay, and ``truncated`` says so, and of how many, unless the entities walked through
        at that hop have more than ``MAX_COUNTED`` edges in all. Statements of ``exclude_relation_ids`` are none here.

        Entities that are one thing by ``equal``, as 64-bit keys, are reached together, and are one
        where hubs are told.
        """

    def relations(self, edition: str, /) -> list[Entity]:
        """Returns the relations of an edition's statements by key, with the terms that they have."""

    def equal_pairs(self, edition: str, /) -> list[tuple[str, str]]:
        """Returns pairs of entities of which one names the other as itself, or both name a third.

        Pairs that follow from others may be left out, and none has an entity that redirects.
        """

    def relations_of(
        self, edition: str, ids: Sequence[str], /, *, deadline: Deadline | None = None
    ) -> dict[str, frozenset[str]]:
        """Returns the relations of the statements, of any rank, that have each entity as head.

        An id without such statements is absent; redirects are not followed.
        """

    def search(
        self,
        edition: str,
        query: str,
        /,
        *,
        languages: Sequence[str] = (),
        limit: int = 10,
        prefix: bool = False,
        deadline: Deadline | None = None,
    ) -> list[SearchHit]:
        """Returns entities with a name that holds every token of the query, best first.

        With ``prefix`` the last word of the query may be the beginning of a word.
        """


@dataclass(frozen=True, slots=True)
class Record:
    """A small document of ours in the store: a view, a scorer, a job.

    Attributes:
        kind, key: Its name. ``graph`` the graph it belongs to, removed with it; "" for none.
        json: JSON-ready fields.
        data: Bytes, where there are any.
        updated_at: ISO 8601, UTC.
        version: Of a record that was read, a hash of ``json`` and ``data`` as stored; "" for a
            new one.
    """

    kind: str
    key: str
    graph: str
    json: Mapping[str, Any]
    data: bytes = b""
    updated_at: str = ""
    version: str = field(default="", compare=False)


class Records(Protocol):
    """Saves, lists and deletes records."""

    def save_record(self, record: Record, /) -> None:
        """Saves a record, replacing one of the same kind and key."""

    def replace_record(self, record: Record, /, *, name: str | None = None) -> bool:
        """Saves a record if the stored one still has its version and no other has the name.

        Check and write are one transaction: of several that replace one version, or take one
        name, at the same moment, one succeeds.

        Args:
            record: As it was read, with other fields or data. One without a version is new: none
                of its kind and key may be stored.
            name: Unique among the records of a kind and graph. The record has it until it takes
                another or is deleted; None changes nothing.

        Returns:
            Whether it was saved. If not, nothing has changed.
        """

    def get_record(self, kind: str, key: str, /, *, with_data: bool = True) -> Record | None:
        """Returns a record, or None; without its data where that is not wanted."""

    def list_records(self, kind: str, /, *, graph: str | None = None) -> list[Record]:
        """Returns the records of a kind in order of their key, without ``data``."""

    def delete_record(self, kind: str, key: str, /) -> bool:
        """Deletes a record; returns whether there was one."""


class Store(GraphReader, Records, Protocol):
    """A store: reader, records, loads. Safe to use from several threads."""

    @property
    def url(self) -> str:
        """Its address without the password."""

    @property
    def passages(self) -> Passages:
        """The passages beside its graphs."""

    def begin_load(
        self,
        graph: str,
        /,
        *,
        replace: bool = False,
        owner: str,
        source: str,
        options: Mapping[str, Any] | None = None,
        lease_s: float = 60.0,
    ) -> LoadSession:
        """Takes the lease of a graph and begins or resumes a load.

        A load left unfinished with the same source, options and ``replace`` is resumed; with
        others it is thrown away first. Without ``replace`` the new edition starts as what the
        current one has.

        Raises:
            LoadInProgressError: Another owner holds the lease; names it and its source. A
                holder that was a process of this machine and is gone (``store.lease``) does not.
            InputError: The name is not 1 to 100 letters, digits, ``-``, ``_``, ``.``.
        """

    def delete_graph(self, name: str, /) -> None:
        """Deletes a graph, its editions and its records, in resumable batches."""

    def inspect_all(self) -> Iterator[Inspected]:
        """Checks what belongs to no published edition: the engine's own structure, journals."""

    def at_once(self) -> AbstractContextManager[None]:
        """Lets this thread's reads in the block go together, where that is cheaper.

        For a few short reads: what fails is not tried again.
        """

    def within(self, deadline: Deadline, /) -> AbstractContextManager[None]:
        """Gives this thread's reads in the block a deadline, where they have none of their own.

        Of a store that may fall silent: reads of a file take as long as they take. Building arrays
        and reading a whole set of passages have no time limit.
        """

    def ping(self) -> None:
        """Raises ``StoreUnavailableError`` unless the store answers now."""

    def close(self) -> None:
        """Releases connections; the store can't be used afterwards."""

    def __enter__(self) -> Self:
        """Returns this object, which lets go of what it holds at the end of the block."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        """Closes the store and its connections."""
