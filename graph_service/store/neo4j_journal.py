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

from graph_service.model.identity import Fingerprints, fingerprint
from graph_service.store.protocol import GraphCounts, LoadCounts

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
DOCUMENT_ROW = np.dtype([("head", "<i8")])
PLACE_ROW = np.dtype([("key", "<i8"), ("head", "<i8")])

LITERAL = 1
CREATED = 2
"""Whether this row's relationship is there; of repeats in one batch only the last one is."""

RANK_SHIFT = 2
"""The two bits of ``flags`` from there on are the rank's code."""

ROWS_A_PAGE = 1_024
_OFFSET = np.uint64(2**63)


@dataclass(frozen=True, slots=True)
class JournalBatch:
    """The journal of one batch; batch 0 is what the base edition has."""

    number: int
    statements: Rows
    entities: Rows
    documents: Rows


@dataclass(frozen=True, slots=True)
class Settled:
    """What an edition has once duplicates, updates and removals are resolved.

    Attributes:
        statements: The statements that stay, in order of their keys, ``STATEMENT_ROW``.
        entities: Entities in order of their keys, ``ENTITY_ROW``.
        doomed: Relationships to delete: ``STATEMENT_ROW``, ``doomed_batches`` their batches.
        orphans: Keys of bare entities that no statement names any more, int64.
        clashes: Keys given with different contents, to be checked for different ids, int64.
    """

    statements: Rows
    entities: Rows
    doomed: Rows
    doomed_batches: npt.NDArray[np.int64]
    orphans: npt.NDArray[np.int64]
    clashes: npt.NDArray[np.int64]
    appended: int
    updated: int
    duplicates: int
    removed: int

    def load_counts(self, outdated: int, /) -> LoadCounts:
        """Returns the counts of the load."""
        written = self.appended - self.updated - self.duplicates
        return LoadCounts(written, self.updated, self.duplicates, self.removed, outdated)

    def counts(self) -> GraphCounts:
        """Returns the sizes of the edition."""
        return GraphCounts(
            entities=len(self.entities),
            statements=len(self.statements),
            relations=len(np.unique(self.statements["relation"])),
            literals=int(np.count_nonzero(self.statements["flags"] & LITERAL)),
        )

    def fingerprints(self) -> Fingerprints:
        """Returns both fingerprints of the edition."""
        edges = self.statements["edge"].sum(axis=0, dtype=np.uint64)
        content = self.statements["content"].sum(axis=0, dtype=np.uint64)
        content = content + self.entities["content"].sum(axis=0, dtype=np.uint64)
        return Fingerprints(
            edges=fingerprint(edges, len(self.statements)),
            content=fingerprint(content, len(self.statements) + len(self.entities)),
        )


def settle(batches: Sequence[JournalBatch], /) -> Settled:
    """Returns what stays of all batches, in order of their numbers.

    The last row of a statement's key wins; a row before it counts as a duplicate where its content is
    the next one's, else as an update. A statement whose head was given as a whole document in a
    later batch than its own is removed.
    """
    ordered = sorted(batches, key=lambda batch: batch.number)
    rows = _joined([batch.statements for batch in ordered], STATEMENT_ROW)
    numbers = np.repeat(
        np.array([batch.number for batch in ordered], dtype=np.int64),
        [len(batch.statements) for batch in ordered],
    )
    order = np.argsort(rows["key"], kind="stable")
    rows, numbers = rows[order], numbers[order]
    same_key = rows["key"][1:] == rows["key"][:-1]
    same_content = (rows["content"][1:] == rows["content"][:-1]).all(axis=1)
    last = np.append(~same_key, True) if len(rows) else np.zeros(0, dtype=np.bool_)

    removed = last & _removed(rows["head"], numbers, ordered)
    stays = last & ~removed
    created = (rows["flags"] & CREATED) != 0
    doomed = ~stays & created
    # A row that stays and has no relationship of its own stands for the equal one of the base.
    doomed &= ~((numbers == 0) & np.isin(rows["key"], rows["key"][stays & ~created]))
    kept = rows[stays].copy()
    kept["flags"] |= CREATED

    entities = _joined([batch.entities for batch in ordered], ENTITY_ROW)
    entities = entities[np.argsort(entities["key"], kind="stable")]
    if len(entities):
        entities = entities[np.append(entities["key"][1:] != entities["key"][:-1], True)]
    named = np.union1d(kept["head"], kept["tail"][(kept["flags"] & LITERAL) == 0])
    orphan = (entities["bare"] != 0) & ~np.isin(entities["key"], named)
    return Settled(
        statements=kept,
        entities=entities[~orphan],
        doomed=rows[doomed],
        doomed_batches=numbers[doomed],
        orphans=entities["key"][orphan].copy(),
        clashes=np.unique(rows["key"][1:][same_key & ~same_content]),
        appended=int(np.count_nonzero(numbers)),
        updated=int(np.count_nonzero(same_key & ~same_content)),
        duplicates=int(np.count_nonzero(same_key & same_content)),
        removed=int(np.count_nonzero(removed)),
    )


def _removed(
    heads: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    batches: Sequence[JournalBatch],
) -> npt.NDArray[np.bool_]:
    latest: dict[int, int] = {}
    for batch in batches:
        latest.update(dict.fromkeys(batch.documents["head"].tolist(), batch.number))
    if not latest:
        return np.zeros(len(heads), dtype=np.bool_)
    documents = np.array(sorted(latest), dtype=np.int64)
    batch_of = np.array([latest[key] for key in documents.tolist()], dtype=np.int64)
    places = np.searchsorted(documents, heads)
    places[places == len(documents)] = 0
    found: npt.NDArray[np.bool_] = (documents[places] == heads) & (numbers < batch_of[places])
    return found


def _joined(parts: Sequence[Rows], dtype: np.dtype[Any]) -> Rows:
    return np.concatenate([np.zeros(0, dtype=dtype), *parts])


def unpack(data: bytes | str | None, dtype: np.dtype[Any], /) -> Rows:
    """Returns the rows of a stored property; none for a missing one.

    A bulk import, whose files hold no bytes, leaves them in base 64 (``neo4j_csv``).
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


def page_of(key: int, bits: int, /) -> int:
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
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
    ends = np.append(starts[1:], len(rows))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield int(numbers[start]), rows[start:end]


def places_of(rows: Rows, /) -> Rows:
    """Returns the ``PLACE_ROW`` of statement rows."""
    places = np.zeros(len(rows), dtype=PLACE_ROW)
    places["key"] = rows["key"]
    places["head"] = rows["head"]
    return places


class BaseContents:
    """Which statements the base edition has with which content; for leaving out repeats."""

    def __init__(self, rows: Rows, /) -> None:
        order = np.argsort(rows["key"], kind="stable")
        self._keys = rows["key"][order].copy()
        self._contents = rows["content"][order].copy()

    def has(self, keys: npt.NDArray[np.int64], contents: Rows, /) -> npt.NDArray[np.bool_]:
        """Returns for each statement whether the base has it with the same content, bool."""
        if not len(self._keys):
            return np.zeros(len(keys), dtype=np.bool_)
        places = np.searchsorted(self._keys, keys)
        places[places == len(self._keys)] = 0
        same: npt.NDArray[np.bool_] = (self._keys[places] == keys) & (
            self._contents[places] == contents
        ).all(axis=1)
        return same


def doomed_by_head(settled: Settled, /) -> Mapping[int, list[tuple[int, int]]]:
    """Returns the relationships to delete as ``(key, batch)`` by the key of their head."""
    found: dict[int, list[tuple[int, int]]] = {}
    for head, key, batch in zip(
        settled.doomed["head"].tolist(),
        settled.doomed["key"].tolist(),
        settled.doomed_batches.tolist(),
        strict=True,
    ):
        found.setdefault(head, []).append((key, batch))
    return found
