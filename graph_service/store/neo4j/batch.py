"""One batch of a load on its way into Neo4j, and its journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import compress
from typing import Any

import neo4j
import numpy as np
import orjson

from graph_service.model.identity import key64
from graph_service.model.statement import Entity, Standing, entity_content_hash
from graph_service.store.encoded import EncodedStatements, encode_statements
from graph_service.store.hashes import collision
from graph_service.store.neo4j.driver import in_chunks, rows_of
from graph_service.store.neo4j.journal import (
    CREATED,
    DESCRIBED,
    DOCUMENT_ROW,
    ENTITY_ROW,
    MENTIONED,
    NAMED,
    STATEMENT_ROW,
    BaseContents,
    Rows,
    journal_key,
    unpack,
)
from graph_service.store.neo4j.rows import (
    ENTITY_COLUMNS,
    checked_key,
    entity_of_row,
    entity_properties,
    journal_rows,
    literal_properties,
    mentioned_properties,
    relationship_rows,
    words_of,
)
from graph_service.store.neo4j.schema import hex_key, key_of_hex
from graph_service.store.protocol import Batch
from graph_service.store.terms import is_of_other_age, is_outdated, merge_terms

WRITE_ROWS = 10_000
JournalConflict = tuple[str, bool, int, int, int, int]
"""A ``Conflict`` with the numbers of batches in place of their sources."""

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
        self.outdated = 0
        self.conflicting = 0
        self.statement_count = 0
        self._entity_keys = {
            entity.id: checked_key(entity.id, "an entity id") for entity in batch.entities
        }
        self._document_keys = {
            id_: checked_key(id_, "a document's id") for id_ in sorted(batch.documents)
        }
        # Encoded before the transaction, so that its locks are held for the writing alone.
        self._encoded = encode_statements(batch.statements)
        self.mentioned = {
            id_: key for id_, key in self._encoded.entity_keys.items() if id_ not in known
        }

    @property
    def relation_ids(self) -> Sequence[str]:
        """The relations of the batch's statements."""
        return self._encoded.relation_ids

    def run(self, tx: neo4j.Transaction, types: Mapping[str, str], base: BaseContents, /) -> None:
        """Writes the batch and its journal."""
        entities, outdated, conflicts = self._write_entities(tx)
        conflicting = {conflict[0] for conflict in conflicts} & self._batch.documents
        left_out = outdated | conflicting
        encoded, lines, mentioned = self._encoded, self._batch.lines, self.mentioned
        self.outdated = self.conflicting = 0
        if left_out:
            keys = {key64(id_): id_ in outdated for id_ in left_out}
            indices = [index for index, head in enumerate(encoded.heads) if head not in keys]
            self.outdated = sum(keys.get(head, False) for head in encoded.heads)
            self.conflicting = len(encoded) - len(indices) - self.outdated
            encoded = encoded.at(indices)
            lines = [lines[index] for index in indices] if lines else ()
            mentioned = {id_: key for id_, key in mentioned.items() if id_ in encoded.entity_keys}
        self.statement_count = len(encoded)
        contents = {key: content for key, content, _ in entities}
        entities += self._write_mentioned(tx, mentioned)
        journal = self._write_statements(tx, encoded, types, base)
        rows_of(
            tx,
            "CREATE (j:LoadJournal) SET j = $row",
            {
                "row": {
                    "key": journal_key(self._edition, self._number),
                    "batch": self._number,
                    "source": self._batch.source,
                    "lines": np.array(lines, dtype=np.int64).tobytes() if lines else None,
                    "statements": journal.tobytes(),
                    "entities": _entity_journal(entities).tobytes(),
                    "documents": self._write_documents(tx, contents, left_out).tobytes(),
                    "conflicts": orjson.dumps(conflicts).decode() if conflicts else None,
                }
            },
        )

    def _write_documents(
        self, tx: neo4j.Transaction, contents: Mapping[int, bytes], left_out: AbstractSet[str]
    ) -> Rows:
        """Marks whose records this batch has; returns the journal of them."""
        if self._batch.terms_only:
            return np.zeros(0, dtype=DOCUMENT_ROW)
        lines = dict(
            zip((each.id for each in self._batch.entities), self._entity_lines, strict=True)
        )
        alone = [id_ for id_ in self._document_keys if id_ not in lines and id_ not in left_out]
        self._in_portions(
            tx,
            "UNWIND $rows AS row MATCH (n:Entity {key: row.key}) SET n.batch = row.batch",
            [
                {
                    "key": f"{self._edition}:{hex_key(self._document_keys[id_])}",
                    "batch": self._number,
                }
                for id_ in alone
            ],
        )
        ids = [*(id_ for id_, key in self._entity_keys.items() if key in contents), *alone]
        keys = [key64(id_) for id_ in ids]
        documents = np.zeros(len(ids), dtype=DOCUMENT_ROW)
        if ids:
            documents["head"] = keys
            documents["whole"] = [id_ in self._document_keys and id_ not in left_out for id_ in ids]
            documents["line"] = [lines[id_] if id_ in lines else self._line_of(id_) for id_ in ids]
            documents["content"] = words_of(
                b"".join([contents.get(key, bytes(16)) for key in keys])
            )
        return documents

    def _write_entities(
        self, tx: neo4j.Transaction
    ) -> tuple[list[tuple[int, bytes, int]], set[str], list[JournalConflict]]:
        batch = self._batch
        if not batch.entities and not batch.documents:
            return [], set(), []
        stored: dict[str, Entity] = {}
        present: dict[str, int | None] = {}
        described: set[str] = set()
        for row in self._find(tx, {**self._entity_keys, **self._document_keys}):
            present[row[1]] = row[7]
            entity = entity_of_row(row[:7])
            if entity.standing is not Standing.MENTIONED:
                stored[row[1]] = entity
                if entity.standing is Standing.DESCRIBED:
                    described.add(row[1])
        conflicts = [] if batch.terms_only else self._conflicts(tx, stored, present)
        conflicting = {conflict[0] for conflict in conflicts}
        outdated: set[str] = set()
        changed: dict[str, Entity] = {}
        for entity in batch.entities:
            before = stored.get(entity.id)
            if batch.terms_only:
                after = merge_terms(before, entity)
            elif entity.id in conflicting:
                continue
            elif before is not None and is_outdated(before, entity):
                outdated.add(entity.id)
                continue
            else:
                outdated.discard(entity.id)
                after = entity
            stored[entity.id] = changed[entity.id] = after
        created: list[dict[str, Any]] = []
        updated: list[dict[str, Any]] = []
        same_as: list[dict[str, str]] = []
        for id_, entity in changed.items():
            key = self._entity_keys[id_]
            properties = entity_properties(entity, key, self._edition)
            properties["batch"] = present.get(id_) if batch.terms_only else self._number
            if batch.names_only and id_ not in described:
                properties["named"] = True
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
            (
                self._entity_keys[id_],
                entity_content_hash(entity),
                NAMED if batch.names_only and id_ not in described else DESCRIBED,
            )
            for id_, entity in changed.items()
        ]
        return entries, outdated & batch.documents, conflicts

    @property
    def _entity_lines(self) -> Sequence[int]:
        return self._batch.entity_lines or (0,) * len(self._batch.entities)

    def _line_of(self, id_: str) -> int:
        return self._encoded.line_of(key64(id_), self._batch.lines)

    def _conflicts(
        self,
        tx: neo4j.Transaction,
        stored: Mapping[str, Entity],
        present: Mapping[str, int | None],
    ) -> list[JournalConflict]:
        """Returns the entities that this load described otherwise before."""
        records: dict[str, tuple[Entity | None, int]] = dict.fromkeys(
            self._batch.documents, (None, 0)
        )
        for entity, line in zip(self._batch.entities, self._entity_lines, strict=True):
            records[entity.id] = entity, line
        of_batch: dict[int, list[str]] = {}
        for id_, (record, _) in sorted(records.items()):
            batch, before = present.get(id_), stored.get(id_)
            if batch is None:
                continue
            if record is not None and before is not None and is_of_other_age(before, record):
                continue
            of_batch.setdefault(batch, []).append(id_)
        conflicts: list[JournalConflict] = []
        for batch, ids in sorted(of_batch.items()):
            ((documents, statements),) = rows_of(
                tx,
                "MATCH (j:LoadJournal {key: $key}) RETURN j.documents, j.statements",
                {"key": journal_key(self._edition, batch)},
            )
            earlier = unpack(documents, DOCUMENT_ROW), unpack(statements, STATEMENT_ROW)
            for id_ in ids:
                record, line = records[id_]
                [document] = earlier[0][earlier[0]["head"] == key64(id_)][-1:]
                if self._differs(id_, record, document, earlier[1]):
                    line = line or self._line_of(id_)
                    conflicts.append((id_, True, self._number, line, batch, int(document["line"])))
        return conflicts

    def _differs(self, id_: str, record: Entity | None, document: Any, statements: Rows) -> bool:
        """Returns whether an entity's record in this batch is another than an earlier one."""
        if (
            record is not None
            and document["content"].any()
            and entity_content_hash(record) != document["content"].tobytes()
        ):
            return True
        if id_ not in self._document_keys or not document["whole"]:
            return False
        key = self._document_keys[id_]
        before = {
            (int(row["key"]), row["content"].tobytes())
            for row in statements[statements["head"] == key]
        }
        own = journal_rows(self._encoded.at(self._encoded.indices_of(key)))
        return before != {(int(row["key"]), row["content"].tobytes()) for row in own}

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
                f"UNWIND $keys AS key MATCH (n:Entity {{key: key}}) "
                f"RETURN {ENTITY_COLUMNS}, n.batch",
                {"keys": [f"{self._edition}:{hex_key(key)}" for key in portion]},
            )
        for row in rows:
            if ids[key_of_hex(row[0])] != row[1]:
                raise collision(ids[key_of_hex(row[0])], row[1])
        return rows

    def _write_mentioned(
        self, tx: neo4j.Transaction, mentioned: Mapping[str, int]
    ) -> list[tuple[int, bytes, int]]:
        if not mentioned:
            return []
        # Ids are compared, not keys alone: a collision is an error.
        present = {row[1] for row in self._find(tx, mentioned)}
        missing = {id_: key for id_, key in mentioned.items() if id_ not in present}
        self._in_portions(
            tx,
            "UNWIND $rows AS row CREATE (n:Entity) SET n = row",
            [mentioned_properties(id_, key, self._edition) for id_, key in missing.items()],
        )
        return [(key, entity_content_hash(Entity(id_)), MENTIONED) for id_, key in missing.items()]

    def _write_statements(
        self,
        tx: neo4j.Transaction,
        encoded: EncodedStatements,
        types: Mapping[str, str],
        base: BaseContents,
    ) -> Rows:
        journal = journal_rows(encoded)
        # Of repeats the first one stays, but for those of another head.
        first = np.zeros(len(encoded), dtype=np.bool_)
        pairs = zip(reversed(encoded.keys), reversed(encoded.heads), strict=True)
        first[list(dict(zip(pairs, range(len(encoded) - 1, -1, -1), strict=True)).values())] = True
        create = first & ~base.has(journal["key"], journal["content"])
        journal["flags"] |= np.where(create, CREATED, 0).astype(np.uint8)
        links: list[dict[str, Any]] = []
        literals: list[dict[str, Any]] = []
        prefix, number = f"{self._edition}:", self._number
        for row in compress(relationship_rows(encoded), create.tolist()):
            id_, key, head, tail, relation, rank, value, qualifiers, references, context = row
            properties: dict[str, Any] = {
                "id": id_,
                "key": key,
                "relation": relation,
                "rank": rank.value,
                "qualifiers": qualifiers,
                "references": references,
                "context": context,
                "batch": number,
            }
            out = {"a": prefix + hex_key(head), "t": types[relation], "p": properties}
            if value is None:
                out["b"] = prefix + hex_key(tail or 0)
                links.append(out)
            else:
                out["v"] = literal_properties(value)
                literals.append(out)
        self._in_portions(tx, _CREATE_LINKS, links)
        self._in_portions(tx, _CREATE_LITERALS, literals)
        return journal

    @staticmethod
    def _in_portions(tx: neo4j.Transaction, query: str, rows: Sequence[object]) -> None:
        for portion in in_chunks(rows, WRITE_ROWS):
            rows_of(tx, query, {"rows": list(portion)})


def _entity_journal(entries: list[tuple[int, bytes, int]]) -> Rows:
    journal = np.zeros(len(entries), dtype=ENTITY_ROW)
    if entries:
        journal["key"] = [key for key, _, _ in entries]
        journal["content"] = words_of(b"".join([content for _, content, _ in entries]))
        journal["bare"] = [standing for _, _, standing in entries]
    return journal
