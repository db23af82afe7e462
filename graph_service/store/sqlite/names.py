"""What the SQLite store indexes of entities' names, worked out of their rows a chunk at a time.

It is a third of the time that the end of a load takes, so other processes can do it: rows and
results are small and plain.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from graph_service.model.hashing import sum_hashes
from graph_service.model.identity import key64
from graph_service.model.statement import Entity
from graph_service.store.hashes import entity_hash
from graph_service.store.search import indexed_names
from graph_service.store.sqlite.rows import KINDS, entity_of_row

EntityRow = tuple[int, str, int, str | None, int | None, str, int]
"""Key, id, kind, redirect, revision, terms, and ``bare``: 1 if the entity is only mentioned."""


@dataclass(frozen=True, slots=True)
class ChunkNames:
    """What is indexed of a chunk of entities.

    Attributes:
        entities: How many there are.
        sum: What they add to the ``content`` fingerprint: two words.
        texts: Key and indexed text of those with names.
        name_keys, entity_keys, is_alias: Columns of the name index: int64, int64, uint8.
        longest: The most words of a name in it; 0 for none.
        same_as: Keys of the same entities elsewhere, with the entities' own.
    """

    entities: int
    sum: bytes
    texts: list[tuple[int, str]]
    name_keys: bytes
    entity_keys: bytes
    is_alias: bytes
    longest: int
    same_as: list[tuple[int, int]]


def names_of_rows(rows: Sequence[EntityRow], /) -> ChunkNames:
    """Returns what is indexed of entities, given as rows of their table."""
    hashes: list[bytes] = []
    texts: list[tuple[int, str]] = []
    name_keys, entity_keys, is_alias = array("q"), array("q"), array("B")
    longest = 0
    same_as: list[tuple[int, int]] = []
    for key, id_, kind, redirect, revision, terms, code in rows:
        entity = Entity(id_) if code == 1 else entity_of_row(id_, kind, redirect, revision, terms)
        hashes.append(entity_hash(id_, KINDS[kind].value, redirect, terms))
        indexed = indexed_names(entity)
        if indexed.text:
            texts.append((key, indexed.text))
            longest = max(longest, indexed.longest)
            for name_key, alias in indexed.keys:
                name_keys.append(name_key)
                entity_keys.append(key)
                is_alias.append(alias)
        if entity.same_as:
            same_as.extend((key64(other), key) for other in entity.same_as)
    return ChunkNames(
        len(rows),
        sum_hashes(b"".join(hashes)).tobytes(),
        texts,
        name_keys.tobytes(),
        entity_keys.tobytes(),
        is_alias.tobytes(),
        longest,
        same_as,
    )
