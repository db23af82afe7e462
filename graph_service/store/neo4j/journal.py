"""What a load writes down of each batch, and what ``finish`` makes of it, in arrays.

Beside the statements, each batch's transaction leaves one ``(:LoadJournal)`` node: for each
statement 65 bytes of keys and hashes. Duplicates, updates, removals, counts and fingerprints
then follow from sorting the journal here, without reading the statements again, and without
an index on statements, which relationships of thousands of types cannot have.

The sorted journal of a finished edition is kept in ``(:GraphPage)`` nodes, cut by the leading
bits of the key: they lead from a statement's key to its head (``places``), and are the journal of
what is there already for the next load (``rows``).
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.model.graph_info import GraphCounts
from graph_service.model.hashing import fingerprint
from graph_service.model.identity import Fingerprints
from graph_service.store.protocol import LoadCounts

Rows = npt.NDArray[np.void]

STATEMENT_ROW = np.dtype(
    [
        ("key", "<i8"),
        ("head", "<i8"),
        ("tail", "<i8"),
        ("relation", "<i8"),
        ("edge", "<u8", 2),
        ("content", "<u8", 2),
        ("flags", "u1"),
    ]
)
"""``tail`` is the statement's own key where its value is no entity (``LITERAL``)."""

ENTITY_ROW = np.dtype([("key", "<i8"), ("content", "<u8", 2), ("bare", "u1")])
DESCRIBED, MENTIONED, NAMED, NAMED_RELATION, UNUSED = range(5)
"""In ``bare``: an entity that a source describes; one that statements mention; one with names
alone that has statements (in a batch: may have); a relation in use with names alone; names kept
aside, since nothing in the edition has their id."""

DOCUMENT_ROW = np.dtype([("head", "<i8"), ("whole", "u1"), ("line", "<i8"), ("content", "<u8", 2)])
"""An entity record of a batch, ``content`` of its terms (0 where it has none), and whether it is
the entity's ``whole`` document."""

HEAD_ROW = np.dtype([("key", "<i8"), ("head", "<i8")])

LITERAL = 1
CREATED = 2
"""Whether this row's relationship is there; of repeats in one batch only the last one is."""

RANK_SHIFT = 2
"""The two bits of ``flags`` from there on are the rank's code."""

ROWS_A_PAGE = 1_024
_ROWS_AT_ONCE = 1 << 20
_OFFSET = np.uint64(2**63)


@dataclass(frozen=True, slots=True)
class JournalBatch:
    """The journal of one batch; batch 0 is what the base edition has.

    ``lines`` are those of the statements in their source, int64; empty where none is known.
    """

    number: int
    statements: Rows
    entities: Rows
    documents: Rows
    lines: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ConflictRows:
    """Statements that a load gave with other content than the one it keeps, one a row.

    Attributes:
        key, stored_head: Of the statement, and of the one that is stored, int64.
        batch, line, stored_batch, stored_line: Where both were read, int64; line 0 for none.
    """

    key: npt.NDArray[np.int64]
    stored_head: npt.NDArray[np.int64]
    batch: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64]
    stored_batch: npt.NDArray[np.int64]
    stored_line: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Merged:
    """What an edition has once duplicates, updates and removals are resolved.

    Attributes:
        statements: The statements that stay, in order of their keys, ``STATEMENT_ROW``.
        entities: Entities in order of their keys, ``ENTITY_ROW``, and names kept aside.
        to_delete: Relationships to delete: ``STATEMENT_ROW``, ``deleted_batches`` their batches.
        orphans: Keys of bare entities that no statement names any more, int64.
        clashes: Keys given with different contents, to be checked for different ids, int64.
        conflicts: What the load itself contradicts, and is left out.
    """

    statements: Rows
    entities: Rows
    to_delete: Rows
    deleted_batches: npt.NDArray[np.int64]
    orphans: npt.NDArray[np.int64]
    clashes: npt.NDArray[np.int64]
    conflicts: ConflictRows
    appended: int
    updated: int
    duplicates: int
    removed: int

    def load_counts(self, outdated: int, conflicting: int, /) -> LoadCounts:
        """Returns the counts of the load, of which the journal does not have two.

        Args:
            outdated: Statements of documents that were of a lower revision.
            conflicting: Statements of documents left out because of another one in this load.
        """
        conflicts = len(self.conflicts.key)
        written = self.appended - self.updated - self.duplicates - conflicts
        return LoadCounts(
            written, self.updated, self.duplicates, self.removed, outdated, conflicting + conflicts
        )

    def counts(self) -> GraphCounts:
        """Returns the sizes of the edition."""
        standings = self.entities["bare"]
        unused = int(np.count_nonzero(standings == UNUSED))
        return GraphCounts(
            entities=len(standings) - unused - int(np.count_nonzero(standings == NAMED_RELATION)),
            statements=len(self.statements),
            relations=len(np.unique(self.statements["relation"])),
            literals=int(np.count_nonzero(self.statements["flags"] & LITERAL)),
            names=unused,
        )

    def fingerprints(self) -> Fingerprints:
        """Returns both fingerprints of the edition."""
        edges = self.statements["edge"].sum(axis=0, dtype=np.uint64)
        content = self.statements["content"].sum(axis=0, dtype=np.uint64)
        entities = self.entities[self.entities["bare"] != UNUSED]
        content = content + entities["content"].sum(axis=0, dtype=np.uint64)
        return Fingerprints(
            edges=fingerprint(edges, len(self.statements)),
            content=fingerprint(content, len(self.statements) + len(entities)),
        )


def merge(batches: Sequence[JournalBatch], /) -> Merged:
    """Returns what stays of all batches, in order of their numbers.

    Of the rows of a statement's key the load's first one stays, and what earlier loads wrote is
    updated. A row that a whole document of its head in a later batch replaces does not count. Any
    other row is a duplicate where its content is the same; else a rival, but for those of a
    document that a newer one replaces, which are updated. Where no row stays, it is removed.
    """
    ordered = sorted(batches, key=lambda batch: batch.number)
    rows = _joined([batch.statements for batch in ordered], STATEMENT_ROW)
    sizes = [len(batch.statements) for batch in ordered]
    numbers = np.repeat(np.array([batch.number for batch in ordered], dtype=np.int64), sizes)
    lines = np.concatenate(
        [
            np.zeros(0, dtype=np.int64),
            *(
                batch.lines if len(batch.lines) else np.zeros(size, dtype=np.int64)
                for batch, size in zip(ordered, sizes, strict=True)
            ),
        ]
    )
    order = np.argsort(rows["key"], kind="stable")
    rows, numbers, lines = rows[order], numbers[order], lines[order]
    del order
    first, last = _document_batches(rows["head"], ordered)
    past, is_own = numbers < last, numbers > 0

    selected, has_own = _select_rows(rows["key"], is_own, past)
    is_selected = selected == np.arange(len(rows))
    same = (rows["content"] == rows["content"][selected]).all(axis=1)
    rival = ~is_selected & ~same & has_own & is_own & ~(past & (numbers >= first))
    created = (rows["flags"] & CREATED) != 0
    stays = is_selected & ~past
    to_delete = ~stays & created
    # A row that stays and has no relationship of its own stands for the equal one of the base.
    to_delete &= ~((numbers == 0) & np.isin(rows["key"], rows["key"][stays & ~created]))
    staying = rows[stays]
    staying["flags"] |= CREATED

    entities = _joined([batch.entities for batch in ordered], ENTITY_ROW)
    entities = entities[np.argsort(entities["key"], kind="stable")]
    if len(entities):
        entities = entities[np.append(entities["key"][1:] != entities["key"][:-1], True)]
    is_named = _are_mentioned(entities["key"], staying)
    orphan = (entities["bare"] == MENTIONED) & ~is_named
    names_alone = entities["bare"] >= NAMED
    relation = np.isin(entities["key"], staying["relation"])
    standings = np.where(is_named, NAMED, np.where(relation, NAMED_RELATION, UNUSED))
    entities["bare"][names_alone] = standings[names_alone]
    return Merged(
        statements=staying,
        entities=entities[~orphan],
        to_delete=rows[to_delete],
        deleted_batches=numbers[to_delete],
        orphans=entities["key"][orphan].copy(),
        clashes=np.unique(rows["key"][~same]),
        conflicts=ConflictRows(
            key=rows["key"][rival].copy(),
            stored_head=rows["head"][selected[rival]].copy(),
            batch=numbers[rival],
            line=lines[rival],
            stored_batch=numbers[selected[rival]],
            stored_line=lines[selected[rival]],
        ),
        appended=int(np.count_nonzero(is_own)),
        updated=int(np.count_nonzero(~is_selected & ~same & ~rival)),
        duplicates=int(np.count_nonzero(~is_selected & same)),
        removed=int(np.count_nonzero(is_selected & past)),
    )


def _are_mentioned(entities: npt.NDArray[np.int64], statements: Rows) -> npt.NDArray[np.bool_]:
    """Returns which entities, by ascending keys, have a statement or are the value of one."""
    are_mentioned = np.zeros(len(entities), dtype=np.bool_)
    # Some at a time: the ends of all statements, sorted, would take as much as a third of them.
    for begin in range(0, len(statements) if len(entities) else 0, _ROWS_AT_ONCE):
        rows = statements[begin : begin + _ROWS_AT_ONCE]
        for nodes in (rows["head"], rows["tail"][(rows["flags"] & LITERAL) == 0]):
            positions = np.searchsorted(entities, nodes)
            positions[positions == len(entities)] = 0
            are_mentioned[positions[entities[positions] == nodes]] = True
    return are_mentioned


def _select_rows(
    keys: npt.NDArray[np.int64], is_own: npt.NDArray[np.bool_], past: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Returns for each row of sorted keys the index of its key's row that stays.

    Also whether that is one of the load's. It is the load's first that is not past, else the
    base's, else the last one.
    """
    count = len(keys)
    if not count:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.bool_)
    begins = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
    sizes = np.diff(np.append(begins, count))
    indices = np.arange(count, dtype=np.int64)
    own = np.minimum.reduceat(np.where(is_own & ~past, indices, count), begins)
    base = np.minimum.reduceat(np.where(~is_own & ~past, indices, count), begins)
    selected = np.where(own < count, own, np.where(base < count, base, begins + sizes - 1))
    return np.repeat(selected, sizes), np.repeat(own < count, sizes)


def _document_batches(
    heads: npt.NDArray[np.int64], batches: Sequence[JournalBatch]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns the first and last batch with a whole document of each head; 0 for none."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for batch in batches:
        complete = batch.documents["head"][batch.documents["whole"] != 0].tolist()
        last.update(dict.fromkeys(complete, batch.number))
        for head in complete:
            first.setdefault(head, batch.number)
    if not last:
        return np.zeros(len(heads), dtype=np.int64), np.zeros(len(heads), dtype=np.int64)
    documents = np.array(sorted(last), dtype=np.int64)
    positions = np.searchsorted(documents, heads)
    positions[positions == len(documents)] = 0
    known = documents[positions] == heads
    return tuple(  # type: ignore[return-value]
        np.where(
            known, np.array([of[key] for key in documents.tolist()], dtype=np.int64)[positions], 0
        )
        for of in (first, last)
    )


def _joined(parts: Sequence[Rows], dtype: np.dtype[Any]) -> Rows:
    return np.concatenate([np.zeros(0, dtype=dtype), *parts])


def journal_key(edition: str, batch: int, /) -> str:
    """Returns the key of a batch's journal."""
    return f"{edition}:{batch:08d}"


def unpack(data: bytes | str | None, dtype: np.dtype[Any], /) -> Rows:
    """Returns the rows of a stored property; none for a missing one.

    A bulk import, whose files hold no bytes, leaves them in base 64 (``bulk_csv``).
    """
    if isinstance(data, str):
        data = base64.b64decode(data)
    return np.frombuffer(data or b"", dtype=dtype)


def page_bits(count: int, /) -> int:
    """Returns how many leading bits of the key number the pages of ``count`` rows.

    >>> page_bits(0), page_bits(1024), page_bits(1_000_000)
    (0, 0, 10)
    """
    bits = 0
    while count > ROWS_A_PAGE << bits:
        bits += 1
    return bits


def key_page(key: int, bits: int, /) -> int:
    """Returns the number of the page that a key is on."""
    return (key + 2**63) >> (64 - bits)


def pages(rows: Rows, bits: int, /) -> Iterator[tuple[int, Rows]]:
    """Yields the pages that are not empty, of rows in order of their keys."""
    if not len(rows):
        return
    if bits == 0:
        yield 0, rows
        return
    numbers = (rows["key"].astype(np.uint64) + _OFFSET) >> np.uint64(64 - bits)
    begins = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    stops = np.append(begins[1:], len(rows))
    for start, end in zip(begins.tolist(), stops.tolist(), strict=True):
        yield int(numbers[start]), rows[start:end]


def heads_of(rows: Rows, /) -> Rows:
    """Returns the ``HEAD_ROW`` of statement rows."""
    heads = np.zeros(len(rows), dtype=HEAD_ROW)
    heads["key"] = rows["key"]
    heads["head"] = rows["head"]
    return heads


class BaseContents:
    """Which statements the base edition has with which content; for leaving out repeats."""

    def __init__(self, rows: Rows, /) -> None:
        order = np.argsort(rows["key"], kind="stable")
        self._keys = rows["key"][order]
        self._contents = rows["content"][order]

    def has(self, keys: npt.NDArray[np.int64], contents: Rows, /) -> npt.NDArray[np.bool_]:
        """Returns for each statement whether the base has it with the same content, bool."""
        if not len(self._keys):
            return np.zeros(len(keys), dtype=np.bool_)
        positions = np.searchsorted(self._keys, keys)
        positions[positions == len(self._keys)] = 0
        same: npt.NDArray[np.bool_] = (self._keys[positions] == keys) & (
            self._contents[positions] == contents
        ).all(axis=1)
        return same


def to_delete_by_head(merged: Merged, /) -> Mapping[int, list[tuple[int, int]]]:
    """Returns the relationships to delete as ``(key, batch)`` by the key of their head."""
    by_head: dict[int, list[tuple[int, int]]] = {}
    for head, key, batch in zip(
        merged.to_delete["head"].tolist(),
        merged.to_delete["key"].tolist(),
        merged.deleted_batches.tolist(),
        strict=True,
    ):
        by_head.setdefault(head, []).append((key, batch))
    return by_head
