"""One batch of a load on its way into Neo4j, and its journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import neo4j
import numpy as np

from graph_service.model.statement import Entity, Statement, entity_content_hash
from graph_service.model.values import EntityValue
from graph_service.store.hashes import collision
from graph_service.store.neo4j_driver import in_chunks, rows_of
from graph_service.store.neo4j_journal import (
    CREATED,
    DOCUMENT_ROW,
    ENTITY_ROW,
    STATEMENT_ROW,
    BaseContents,
    Rows,
)
from graph_service.store.neo4j_rows import (
    ENTITY_COLUMNS,
    StatementRow,
    bare_properties,
    checked_key,
    entity_of_row,
    entity_properties,
    journal_rows,
    statement_row,
    words_of,
)
from graph_service.store.neo4j_schema import hex_key, key_of_hex
from graph_service.store.protocol import Batch
from graph_service.store.terms import is_outdated, merge_terms

WRITE_ROWS = 10_000

_CREATE_LINKS = """UNWIND $rows AS row
    MATCH (a:Entity {key: row.a}) MATCH (b:Entity {key: row.b})
    CREATE (a)-[r:$(row.t)]->(b) SET r = row.p"""
_CREATE_LITERALS = """UNWIND $rows AS row
    MATCH (a:Entity {key: row.a})
    CREATE (a)-[r:$(row.t)]->(b:Literal) SET r = row.p, b = row.v"""


class BatchWork:
    """One batch on its way in; nothing is kept of it unless it is committed."""

    def __init__(self, edition: str, number: int, batch: Batch, known: dict[str, int]) -> None:
        self._edition = edition
        self._number = number
        self._batch = batch
        self._known = known
        self.mentioned: dict[str, int] = {}
        self.outdated = 0
        self.statement_count = 0
        self._entity_keys = {
            entity.id: checked_key(entity.id, "an entity id") for entity in batch.entities
        }
        self._document_keys = {
            id_: checked_key(id_, "a document's id") for id_ in sorted(batch.documents)
        }
        for item in batch.statements:
            self._mention(item.head)
            if isinstance(item.value, EntityValue):
                self._mention(item.value.id)
        # Prepared before the transaction, so that its locks are held for the writing alone.
        keys = _Both(known, self.mentioned)
        self._rows = [statement_row(item, keys) for item in batch.statements]

    def _mention(self, id_: str) -> None:
        if id_ not in self._known and id_ not in self.mentioned:
            self.mentioned[id_] = checked_key(id_, "an entity id")

    def run(self, tx: neo4j.Transaction, types: Mapping[str, str], base: BaseContents, /) -> None:
        """Writes the batch and its journal."""
        entities, left_out = self._write_entities(tx)
        statements: Sequence[Statement] = self._batch.statements
        rows = self._rows
        self.outdated = 0
        if left_out:
            pairs = [
                (item, row)
                for item, row in zip(statements, rows, strict=True)
                if item.head not in left_out
            ]
            self.outdated = len(statements) - len(pairs)
            rows = [row for _, row in pairs]
            kept = {item.head for item, _ in pairs} | {
                item.value.id for item, _ in pairs if isinstance(item.value, EntityValue)
            }
            mentioned = {id_: key for id_, key in self.mentioned.items() if id_ in kept}
        else:
            mentioned = self.mentioned
        self.statement_count = len(rows)
        entities += self._write_mentioned(tx, mentioned)
        journal = self._write_statements(tx, rows, types, base)
        documents = np.zeros(len(self._document_keys) - len(left_out), dtype=DOCUMENT_ROW)
        documents["head"] = [key for id_, key in self._document_keys.items() if id_ not in left_out]
        rows_of(
            tx,
            "CREATE (j:LoadJournal) SET j = $row",
            {
                "row": {
                    "key": f"{self._edition}:{self._number:08d}",
                    "batch": self._number,
                    "statements": journal.tobytes(),
                    "entities": _entity_journal(entities).tobytes(),
                    "documents": documents.tobytes(),
                }
            },
        )

    def _write_entities(
        self, tx: neo4j.Transaction
    ) -> tuple[list[tuple[int, bytes, bool]], set[str]]:
        batch = self._batch
        if not batch.entities:
            return [], set()
        stored: dict[str, Entity] = {}
        present: set[str] = set()
        for row in self._find(tx, self._entity_keys):
            present.add(row[1])
            if not row[5]:
                stored[row[1]] = entity_of_row(row)
        left_out: set[str] = set()
        changed: dict[str, Entity] = {}
        for entity in batch.entities:
            before = stored.get(entity.id)
            if batch.terms_only:
                after = merge_terms(before, entity)
            elif before is not None and is_outdated(before, entity):
                left_out.add(entity.id)
                continue
            else:
                left_out.discard(entity.id)
                after = entity
            stored[entity.id] = changed[entity.id] = after
        created: list[dict[str, Any]] = []
        updated: list[dict[str, Any]] = []
        same_as: list[dict[str, str]] = []
        for id_, entity in changed.items():
            key = self._entity_keys[id_]
            properties = entity_properties(entity, key, self._edition)
            (updated if id_ in present else created).append(properties)
            same_as += [
                {
                    "key": f"{self._edition}:{hex_key(checked_key(other, 'a same_as id'))}",
                    "target": properties["key"],
                }
                for other in dict.fromkeys(entity.same_as)
            ]
        self._in_portions(tx, "UNWIND $rows AS row CREATE (n:Entity) SET n = row", created)
        self._in_portions(
            tx, "UNWIND $rows AS row MATCH (n:Entity {key: row.key}) SET n = row", updated
        )
        self._in_portions(
            tx,
            "UNWIND $rows AS row MATCH (s:SameAs {target: row}) DELETE s",
            [row["key"] for row in updated],
        )
        self._in_portions(tx, "UNWIND $rows AS row CREATE (s:SameAs) SET s = row", same_as)
        entries = [
            (self._entity_keys[id_], entity_content_hash(entity), False)
            for id_, entity in changed.items()
        ]
        return entries, left_out & batch.documents

    def _find(self, tx: neo4j.Transaction, keys: Mapping[str, int]) -> list[list[Any]]:
        """Returns the nodes there are of some ids; raises if a key is another id's."""
        ids: dict[int, str] = {}
        for id_, key in keys.items():
            if ids.setdefault(key, id_) != id_:
                raise collision(id_, ids[key])
        rows: list[list[Any]] = []
        for portion in in_chunks(list(ids), WRITE_ROWS):
            rows += rows_of(
                tx,
                f"UNWIND $keys AS key MATCH (n:Entity {{key: key}}) RETURN {ENTITY_COLUMNS}",
                {"keys": [f"{self._edition}:{hex_key(key)}" for key in portion]},
            )
        for row in rows:
            if ids[key_of_hex(row[0])] != row[1]:
                raise collision(ids[key_of_hex(row[0])], row[1])
        return rows

    def _write_mentioned(
        self, tx: neo4j.Transaction, mentioned: Mapping[str, int]
    ) -> list[tuple[int, bytes, bool]]:
        if not mentioned:
            return []
        # Ids are compared, not keys alone: a collision is an error.
        present = {row[1] for row in self._find(tx, mentioned)}
        missing = {id_: key for id_, key in mentioned.items() if id_ not in present}
        self._in_portions(
            tx,
            "UNWIND $rows AS row CREATE (n:Entity) SET n = row",
            [bare_properties(id_, key, self._edition) for id_, key in missing.items()],
        )
        return [(key, entity_content_hash(Entity(id_)), True) for id_, key in missing.items()]

    def _write_statements(
        self,
        tx: neo4j.Transaction,
        rows: list[StatementRow],
        types: Mapping[str, str],
        base: BaseContents,
    ) -> Rows:
        journal = journal_rows(rows, STATEMENT_ROW)
        last = np.zeros(len(rows), dtype=np.bool_)
        last[list({row.key: place for place, row in enumerate(rows)}.values())] = True
        create = last & ~base.has(journal["key"], journal["content"])
        journal["flags"] |= np.where(create, CREATED, 0).astype(np.uint8)
        links: list[dict[str, Any]] = []
        literals: list[dict[str, Any]] = []
        prefix, number = f"{self._edition}:", self._number
        for place in np.flatnonzero(create).tolist():
            row = rows[place]
            out: dict[str, Any] = {
                "a": prefix + hex_key(row.head),
                "t": types[row.relation],
                "p": row.properties | {"batch": number},
            }
            if row.literal is None:
                out["b"] = prefix + hex_key(row.tail)
                links.append(out)
            else:
                out["v"] = row.literal
                literals.append(out)
        self._in_portions(tx, _CREATE_LINKS, links)
        self._in_portions(tx, _CREATE_LITERALS, literals)
        return journal

    @staticmethod
    def _in_portions(tx: neo4j.Transaction, query: str, rows: Sequence[object]) -> None:
        for portion in in_chunks(rows, WRITE_ROWS):
            rows_of(tx, query, {"rows": list(portion)})


class _Both(dict[str, int]):
    """Keys by id from two dicts, without copying the larger."""

    def __init__(self, first: dict[str, int], second: dict[str, int]) -> None:
        super().__init__(second)
        self._first = first

    def __missing__(self, id_: str) -> int:
        return self._first[id_]


def _entity_journal(entries: list[tuple[int, bytes, bool]]) -> Rows:
    journal = np.zeros(len(entries), dtype=ENTITY_ROW)
    if entries:
        journal["key"] = [key for key, _, _ in entries]
        journal["content"] = words_of([content for _, content, _ in entries])
        journal["bare"] = [bare for _, _, bare in entries]
    return journal
