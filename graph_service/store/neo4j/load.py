"""A load into Neo4j: batches in one transaction each, merged at the end from their journal.

Each batch's transaction begins by advancing the load's sequence number, on condition that it is
the one this session expects and that the lease is still its own. When the reply to a commit is
lost, the second run finds the number advanced under the batch's own token, and writes nothing.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

import neo4j
import numpy as np
import numpy.typing as npt
import orjson

from graph_service.errors import InputError, LoadInProgressError, StoreError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import Fingerprints
from graph_service.store.hashes import collision
from graph_service.store.names import now_text
from graph_service.store.neo4j.batch import WRITE_ROWS, BatchWork
from graph_service.store.neo4j.driver import Connection, in_chunks, one_row, rows_of
from graph_service.store.neo4j.editions import (
    copy_edition,
    delete_statements,
    drop_editions,
    drop_journal,
    read_entity_rows,
    read_statement_rows,
)
from graph_service.store.neo4j.equal_ids import write_equal_ids
from graph_service.store.neo4j.graph_infos import graph_info
from graph_service.store.neo4j.journal import (
    DOCUMENT_ROW,
    ENTITY_ROW,
    STATEMENT_ROW,
    UNUSED,
    BaseContents,
    ConflictRows,
    JournalBatch,
    Merged,
    Rows,
    heads_of,
    merge,
    page_bits,
    pages,
    to_delete_by_head,
    unpack,
)
from graph_service.store.neo4j.load_lease import LoadPlan
from graph_service.store.neo4j.rows import (
    checked_key,
)
from graph_service.store.neo4j.schema import assign_types, caption_in_cypher, hex_key
from graph_service.store.protocol import Batch, Conflict, LoadCounts

KNOWN_IDS = 500_000
PAGES_A_WRITE = 100

_ADVANCE = """MATCH (e:GraphEdition {id: $edition})
    SET e.sequence = $sequence + 1, e.last_write = $write, e.checkpoint = $checkpoint,
        e.statements = e.statements + $statements, e.outdated = e.outdated + $outdated,
        e.conflicting = coalesce(e.conflicting, 0) + $conflicting,
        e.lease_until = timestamp() + $lease_ms"""


class Neo4jLoadSession:
    """One load under way. ``Neo4jStore.begin_load`` makes it; see ``LoadSession``."""

    def __init__(self, connection: Connection, plan: LoadPlan) -> None:
        self._connection = connection
        self._plan = plan
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._ended = False
        self._sequence = plan.sequence
        self._checkpoint: Mapping[str, Any] | None = (
            orjson.loads(plan.checkpoint) if plan.checkpoint else None
        )
        self._known: dict[str, int] = {}
        self._types: dict[str, str] = {}
        self._in_doubt: tuple[Batch, str] | None = None
        self._set_base(np.zeros(0, dtype=STATEMENT_ROW), np.zeros(0, dtype=ENTITY_ROW))

    def copy_base(self) -> None:
        """Copies what the base edition has, or the rest of it."""
        base = self._plan.base
        if base is not None:
            statements = read_statement_rows(self._connection, base)
            entities = read_entity_rows(self._connection, base)
            copy_edition(self._connection, base, self.edition, statements, self._renew)
            self._set_base(statements, entities)

    def _set_base(self, statements: Rows, entities: Rows) -> None:
        documents = np.zeros(0, dtype=DOCUMENT_ROW)
        self._base = JournalBatch(0, statements, entities, documents, np.zeros(0, dtype=np.int64))
        self._base_contents = BaseContents(statements)

    @property
    def edition(self) -> str:
        """The id of the edition being written, such as ``demo@7``."""
        return self._plan.edition

    @property
    def sequence(self) -> int:
        """Number of batches already committed."""
        return self._sequence

    @property
    def checkpoint(self) -> Mapping[str, Any] | None:
        """The checkpoint of the last committed batch."""
        return self._checkpoint

    def write(self, batch: Batch, /, *, checkpoint: Mapping[str, Any] | None = None) -> None:
        """Writes a batch in one transaction; see ``LoadSession.write``."""
        with self._lock:
            self._require_open()
            if self._in_doubt is not None and self._settle_doubt(batch):
                return
            encoded = None if checkpoint is None else orjson.dumps(dict(checkpoint)).decode()
            work = BatchWork(self._plan.edition, self._sequence + 1, batch, self._known)
            unnamed = sorted(set(work.relation_ids) - self._types.keys())
            if unnamed:
                for relation in unnamed:
                    checked_key(relation, "a relation id")
                self._types.update(
                    assign_types(
                        self._connection,
                        unnamed,
                        self._plan.edition,
                        max_new_types=self._plan.max_new_types,
                    )
                )
            write = secrets.token_hex(8)

            def once(tx: neo4j.Transaction) -> None:
                # The lock on the edition holds back whoever might take the load over meanwhile.
                row = one_row(
                    tx,
                    """MATCH (e:GraphEdition {id: $edition}) SET e.touched = timestamp()
                    RETURN e.sequence, e.last_write, e.token = $token AND e.state = 'loading'""",
                    {"edition": self._plan.edition, "token": self._plan.token},
                )
                if row is not None and row[:2] == [self._sequence + 1, write]:
                    return
                if row is None or row[0] != self._sequence or not row[2]:
                    raise self._lost(tx)
                work.run(tx, self._types, self._base_contents)
                rows_of(
                    tx,
                    _ADVANCE,
                    {
                        "edition": self._plan.edition,
                        "sequence": self._sequence,
                        "write": write,
                        "checkpoint": encoded,
                        "statements": work.statement_count,
                        "outdated": work.outdated,
                        "conflicting": work.conflicting,
                        "lease_ms": self._plan.lease_ms,
                    },
                )

            self._in_doubt = (batch, write)
            self._connection.transaction(once, what="writing a batch")
            self._in_doubt = None
            if len(self._known) + len(work.mentioned) > KNOWN_IDS:
                self._known.clear()
            self._known.update(work.mentioned)
            self._sequence += 1
            self._checkpoint = None if encoded is None else orjson.loads(encoded)

    def finish(self, *, report: Mapping[str, Any] | None = None) -> LoadCounts:
        """Settles, indexes, counts; see ``LoadSession.finish``. Doing it again is harmless."""
        with self._lock:
            self._require_open()
            row = self._connection.transaction(self._state, what="finishing a load")
            state, outdated, conflicting, counts = row
            if state == "finished":
                result = LoadCounts(**orjson.loads(counts))
                if report is not None:
                    self._save_report(report)
                return result
            merged = merge([self._base, *self._read_journal()])
            self._check_clashes(merged)
            self._write_conflicts(merged.conflicts)
            self._delete(merged)
            self._set_names_aside(merged.entities)
            self._write_pages(merged)
            write_equal_ids(self._connection, self._plan.edition)
            relations = np.unique(merged.statements["relation"]).tolist()
            untyped = self._label_relations(relations)
            result = merged.load_counts(outdated, conflicting)
            fields = {
                "state": "finished",
                "page_bits": page_bits(len(merged.statements)),
                "load_counts": orjson.dumps(asdict(result)).decode(),
                "counts": orjson.dumps(asdict(merged.counts())).decode(),
                "edges": merged.fingerprints().edges,
                "content": merged.fingerprints().content,
                "untyped": untyped,
                "relations": orjson.dumps(relations).decode(),
            }

            def conclude(tx: neo4j.Transaction) -> None:
                self._renew(tx)
                rows_of(
                    tx,
                    "MATCH (e:GraphEdition {id: $edition}) SET e += $fields",
                    {"edition": self._plan.edition, "fields": fields},
                )

            self._connection.transaction(conclude, what="finishing a load")
            self._save_report(report or {})
            return result

    def conflicts(self) -> Iterator[list[Conflict]]:
        """Yields the statements and entities that were left out; see ``LoadSession.conflicts``."""
        prefix, sources, after = f"{self._plan.edition}:", dict[int, str](), ""
        with self._lock:
            self._require_open()
            batch_rows = self._read_own(
                """MATCH (j:LoadJournal) WHERE j.key STARTS WITH $prefix AND j.batch IS NOT NULL
                RETURN j.batch, j.source""",
                prefix=prefix,
            )
            sources.update((batch, source) for batch, source in batch_rows)
        while True:
            rows = self._read_own(
                """MATCH (j:LoadJournal) WHERE j.key STARTS WITH $prefix AND j.key > $after
                    AND j.conflicts IS NOT NULL
                RETURN j.key, j.conflicts ORDER BY j.key LIMIT 1""",
                prefix=prefix,
                after=after,
            )
            if not rows:
                return
            after = rows[0][0]
            yield [
                Conflict(id_, is_document, sources[batch], line, sources[stored], stored_line)
                for id_, is_document, batch, line, stored, stored_line in orjson.loads(rows[0][1])
            ]

    def fingerprints(self) -> Fingerprints:
        """Returns the fingerprints of the finished edition; see ``LoadSession.fingerprints``."""
        with self._lock:
            self._require_open()

            rows = self._read_own(
                """MATCH (e:GraphEdition {id: $edition, state: 'finished'})
                RETURN e.edges, e.content""",
                edition=self._plan.edition,
            )
        if not rows:
            raise InputError("fingerprints are those of a finished load: call finish() first")
        return Fingerprints(*rows[0])

    def publish(self) -> GraphInfo:
        """Makes the edition the graph's current one; see ``LoadSession.publish``.

        The edition before it stays readable until the next publish, for readers that are in the
        middle of it; the one before that is deleted now.
        """
        with self._lock:
            self._require_open()
            plan = self._plan

            def flip(tx: neo4j.Transaction) -> None:
                row = one_row(
                    tx,
                    """MATCH (g:Graph {name: $graph}) SET g.touched = timestamp()
                    WITH g MATCH (e:GraphEdition {id: $edition})
                    RETURN g.current, e.state, e.token""",
                    {"graph": plan.graph, "edition": plan.edition},
                )
                if row is not None and row[:2] == [plan.edition, "published"]:
                    return
                self._renew(tx)
                if row is None or row[1] != "finished":
                    raise InputError("publish needs a finished load: call finish() first")
                rows_of(
                    tx,
                    """MATCH (g:Graph {name: $graph}) MATCH (e:GraphEdition {id: $edition})
                    SET g.previous = g.current, g.current = $edition, e.state = 'published',
                        e.published_at = $now, e.token = null, e.lease_until = 0
                    WITH g
                    MATCH (old:GraphEdition {graph: $graph}) WHERE old.state = 'published'
                        AND old.id <> g.current AND old.id <> coalesce(g.previous, '')
                    SET old.state = 'dropping'""",
                    {"graph": plan.graph, "edition": plan.edition, "now": now_text()},
                )

            self._connection.transaction(flip, what="publishing a graph")
            self._ended = True
            info = graph_info(self._connection, plan.graph)
            drop_journal(self._connection, plan.edition)
            drop_editions(self._connection)
        if info is None:
            raise StoreError(f"graph {plan.graph!r} was deleted while it was published")
        return info

    def abort(self) -> None:
        """Throws the load away; see ``LoadSession.abort``."""
        with self._lock:
            self._require_open()

            def mark(tx: neo4j.Transaction) -> None:
                self._renew(tx)
                rows_of(
                    tx,
                    """MATCH (e:GraphEdition {id: $edition})
                    SET e.state = 'dropping', e.lease_until = 0""",
                    {"edition": self._plan.edition},
                )

            self._connection.transaction(mark, what="aborting a load")
            self._ended = True
            drop_editions(self._connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        with self._lock:
            if self._ended or self._pid != os.getpid():
                return
            self._ended = True
            try:
                self._connection.write(
                    """MATCH (e:GraphEdition {id: $edition}) SET e.touched = timestamp()
                    WITH e WHERE e.token = $token SET e.token = null, e.lease_until = 0""",
                    edition=self._plan.edition,
                    token=self._plan.token,
                    what="giving a lease back",
                )
            except StoreError:
                # The error that ends the block says more; without one this is the news.
                if error is None:
                    raise

    def _require_open(self) -> None:
        if self._pid != os.getpid():
            raise StoreError("a load belongs to the process that began it")
        if self._ended:
            raise StoreError(f"the load of {self._plan.graph!r} has ended; begin another")

    def _settle_doubt(self, batch: Batch) -> bool:
        """Returns whether this batch went in at an attempt whose outcome could not be read."""
        # Of the leader: no bookmark came of a commit without a reply, so another may lag behind it.
        rows = self._connection.write(
            "MATCH (e:GraphEdition {id: $id}) RETURN e.sequence, e.last_write, e.checkpoint",
            id=self._plan.edition,
            what="writing a batch",
        )
        # Only now: while the store cannot be asked, the batch stays in doubt.
        doubtful, self._in_doubt = self._in_doubt, None
        if doubtful is None or not rows or rows[0][:2] != [self._sequence + 1, doubtful[1]]:
            return False
        self._sequence += 1
        self._checkpoint = orjson.loads(rows[0][2]) if rows[0][2] else None
        return batch == doubtful[0]

    def _renew(self, tx: neo4j.Transaction) -> None:
        renewed = one_row(
            tx,
            """MATCH (e:GraphEdition {id: $edition}) SET e.touched = timestamp()
            WITH e WHERE e.token = $token
            SET e.lease_until = timestamp() + $lease_ms RETURN 1""",
            {
                "edition": self._plan.edition,
                "token": self._plan.token,
                "lease_ms": self._plan.lease_ms,
            },
        )
        if renewed is None:
            raise self._lost(tx)

    def _read_own(self, query: str, /, **parameters: Any) -> list[list[Any]]:
        """Returns rows of this load's own edition, which nobody else can end meanwhile."""

        def read(tx: neo4j.Transaction) -> list[list[Any]]:
            self._renew(tx)
            return rows_of(tx, query, parameters)

        return self._connection.transaction(read, what="reading a load")

    def _state(self, tx: neo4j.Transaction) -> list[Any]:
        self._renew(tx)
        row = one_row(
            tx,
            """MATCH (e:GraphEdition {id: $edition})
            RETURN e.state, e.outdated, coalesce(e.conflicting, 0), e.load_counts""",
            {"edition": self._plan.edition},
        )
        if row is None:
            raise self._lost(tx)
        return row

    def _lost(self, tx: neo4j.Transaction) -> StoreError | InputError:
        row = one_row(
            tx,
            """MATCH (e:GraphEdition {id: $edition})
            RETURN e.token, e.owner, e.source, e.started_at, e.state""",
            {"edition": self._plan.edition},
        )
        if row is not None and row[0] == self._plan.token and row[4] == "finished":
            return InputError("this load is finished: publish it, or abort it")
        if row is None or row[0] is None:
            return LoadInProgressError(
                f"the lease of the load {self.edition} ran out and the load was ended elsewhere",
                hint="Run the same command again.",
            )
        return LoadInProgressError(
            f"the load {self.edition} was taken over by {row[1]} (source {row[2]}, begun {row[3]})",
            hint="Wait for it to end.",
        )

    def _save_report(self, report: Mapping[str, Any]) -> None:
        def save(tx: neo4j.Transaction) -> None:
            self._renew(tx)
            row = one_row(
                tx,
                "MATCH (e:GraphEdition {id: $edition}) RETURN e.untyped",
                {"edition": self._plan.edition},
            )
            fields = dict(report)
            if row is not None and row[0]:
                fields["relations_without_own_type"] = row[0]
            rows_of(
                tx,
                "MATCH (e:GraphEdition {id: $edition}) SET e.report = $report",
                {"edition": self._plan.edition, "report": orjson.dumps(fields).decode()},
            )

        self._connection.transaction(save, what="finishing a load")

    def _read_journal(self) -> list[JournalBatch]:
        prefix = f"{self._plan.edition}:"
        keys = self._read_own(
            """MATCH (j:LoadJournal) WHERE j.key STARTS WITH $prefix AND j.batch IS NOT NULL
            RETURN j.key ORDER BY j.key""",
            prefix=prefix,
        )
        batches = []
        for portion in in_chunks([row[0] for row in keys], 20):
            batches += [
                JournalBatch(
                    batch_number,
                    unpack(statements, STATEMENT_ROW),
                    unpack(entities, ENTITY_ROW),
                    unpack(documents, DOCUMENT_ROW),
                    np.frombuffer(lines or b"", dtype=np.int64),
                )
                for batch_number, statements, entities, documents, lines in self._read_own(
                    """UNWIND $keys AS key MATCH (j:LoadJournal {key: key})
                    RETURN j.batch, j.statements, j.entities, j.documents, j.lines""",
                    keys=list(portion),
                )
            ]
        return batches

    def _check_clashes(self, merged: Merged) -> None:
        """Raises ``KeyCollisionError`` where a repeated key stands for two different ids."""
        if not len(merged.clashes):
            return
        every = np.concatenate([merged.statements, merged.to_delete])
        every = every[np.isin(every["key"], merged.clashes)]
        ids: dict[int, str] = {}
        for start in range(0, len(every), WRITE_ROWS):
            portion = every[start : start + WRITE_ROWS]
            for key, id_ in self._statement_ids(portion["key"], portion["head"]):
                if ids.setdefault(key, id_) != id_:
                    raise collision(id_, ids[key])

    def _statement_ids(
        self, keys: npt.NDArray[np.int64], heads: npt.NDArray[np.int64]
    ) -> list[list[Any]]:
        """Returns keys and ids of the statements that are there of some keys and heads."""
        by_head: dict[int, list[int]] = {}
        for key, head in zip(keys.tolist(), heads.tolist(), strict=True):
            by_head.setdefault(head, []).append(key)
        return self._read_own(
            """UNWIND $rows AS row MATCH (a:Entity {key: row.head})-[r]->()
            WHERE r.key IN row.keys RETURN r.key, r.id""",
            rows=[{"head": self._entity_key(head), "keys": own} for head, own in by_head.items()],
        )

    def _write_conflicts(self, rows: ConflictRows) -> None:
        """Writes down what is left out, before it is deleted, and only the first time."""
        for start in range(0, len(rows.key), WRITE_ROWS):
            part = slice(start, start + WRITE_ROWS)
            ids = dict(self._statement_ids(rows.key[part], rows.stored_head[part]))
            columns = (rows.batch, rows.line, rows.stored_batch, rows.stored_line)
            conflicts = [
                (ids.get(key, ""), False, *locations)
                for key, *locations in zip(
                    rows.key[part].tolist(), *(each[part].tolist() for each in columns), strict=True
                )
            ]
            self._connection.write(
                "MERGE (j:LoadJournal {key: $key}) ON CREATE SET j.conflicts = $conflicts",
                key=f"{self._plan.edition}:c{start:012d}",
                conflicts=orjson.dumps(conflicts).decode(),
                what="finishing a load",
            )

    def _delete(self, merged: Merged) -> None:
        to_delete = sorted(to_delete_by_head(merged).items())
        for portion in in_chunks(to_delete, 2_000):

            def delete(
                tx: neo4j.Transaction,
                portion: Sequence[tuple[int, list[tuple[int, int]]]] = portion,
            ) -> None:
                self._renew(tx)
                delete_statements(tx, self._plan.edition, dict(portion))

            self._connection.transaction(delete, what="finishing a load")
        for orphans in in_chunks(merged.orphans.tolist(), WRITE_ROWS):
            self._connection.write(
                "UNWIND $keys AS key MATCH (n:Entity {key: key}) WHERE n.bare DELETE n",
                keys=[self._entity_key(key) for key in orphans],
                what="finishing a load",
            )

    def _set_names_aside(self, entities: Rows) -> None:
        """Takes the names of ids without a statement out of the entities, and out of search."""
        unused = entities["key"][entities["bare"] == UNUSED].tolist()
        for portion in in_chunks(unused, WRITE_ROWS):
            self._connection.write(
                """UNWIND $keys AS key MATCH (n:Entity {key: key})
                SET n:SpareName, n.spare = n._search REMOVE n:Entity, n._search""",
                keys=[self._entity_key(key) for key in portion],
                what="finishing a load",
            )

    def _write_pages(self, merged: Merged) -> None:
        edition = self._plan.edition
        bits = page_bits(len(merged.statements))
        rows: list[dict[str, Any]] = [
            {
                "key": f"{edition}:s{index:08x}",
                "kind": "s",
                "places": heads_of(page).tobytes(),
                "rows": page.tobytes(),
            }
            for index, page in pages(merged.statements, bits)
        ]
        rows += [
            {"key": f"{edition}:e{index:08x}", "kind": "e", "places": None, "rows": page.tobytes()}
            for index, page in pages(merged.entities, page_bits(len(merged.entities)))
        ]
        for portion in in_chunks(rows, PAGES_A_WRITE):

            def save(tx: neo4j.Transaction, portion: Sequence[dict[str, Any]] = portion) -> None:
                self._renew(tx)
                rows_of(
                    tx,
                    "UNWIND $rows AS row MERGE (p:GraphPage {key: row.key}) SET p = row",
                    {"rows": list(portion)},
                )

            self._connection.transaction(save, what="finishing a load")

    def _label_relations(self, keys: list[int]) -> int:
        """Gives relations the label that this edition has; returns how many have no own type."""
        untyped = 0
        for portion in in_chunks(keys, WRITE_ROWS):
            rows = [{"key": key, "node": self._entity_key(key)} for key in portion]
            self._connection.write(
                f"""UNWIND $rows AS row MATCH (r:Relation {{key: row.key}})
                MATCH (n:Entity {{key: row.node}})
                WHERE n.label <> {caption_in_cypher("r.id")} SET r.label = n.label""",
                rows=rows,
                what="finishing a load",
            )
            untyped += self._connection.read(
                """UNWIND $rows AS row MATCH (r:Relation {key: row.key})
                WHERE r.own_type IS NULL RETURN count(r)""",
                rows=rows,
            )[0][0]
        return untyped

    def _entity_key(self, key: int) -> str:
        return f"{self._plan.edition}:{hex_key(key)}"
