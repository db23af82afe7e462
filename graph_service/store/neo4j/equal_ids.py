"""Entities of an edition that are one thing: their links, and the ids that each of them notes.

A node of such an entity has the ids of all of its thing as ``equal``, that of the smallest key
first, so that plain Cypher can go on from any of them.
"""

from __future__ import annotations

from functools import partial

import neo4j

from graph_service.model.identity import key64
from graph_service.store.lookup import merge_pairs, pairs_naming_one
from graph_service.store.neo4j.driver import Connection, in_chunks, rows_of
from graph_service.store.neo4j.schema import hex_key, short_id

_PORTION = 5_000
_NOTE = """UNWIND $rows AS row UNWIND row.keys AS key MATCH (n:Entity {key: key})
    SET n.equal = row.ids"""
_NAMED = """MATCH (s:SameAs) WHERE $first < s.key AND s.key < $last
    MATCH (n:Entity {key: s.key}) WHERE n.redirect IS NULL
    MATCH (o:Entity {key: s.target}) WHERE o.redirect IS NULL
    RETURN coalesce(o.long_id, o.id), coalesce(n.long_id, n.id)"""
_NAMING_ONE = """MATCH (s:SameAs) WHERE $first < s.key AND s.key < $last
    WITH s.key AS named, collect(s.target) AS targets WHERE size(targets) > 1
    UNWIND targets AS target MATCH (o:Entity {key: target}) WHERE o.redirect IS NULL
    RETURN named, coalesce(o.long_id, o.id) ORDER BY named, target"""


def read_pairs(tx: neo4j.Transaction, edition: str, /) -> list[tuple[str, str]]:
    """Returns pairs of linked entities; see ``GraphReader.equal_pairs``."""
    # Keys begin with their edition, and ";" comes after ":".
    parameters = {"first": f"{edition}:", "last": f"{edition};"}
    named = ((owner, other) for owner, other in rows_of(tx, _NAMED, parameters))
    return [*named, *pairs_naming_one(rows_of(tx, _NAMING_ONE, parameters))]


def write_equal_ids(connection: Connection, edition: str, /) -> None:
    """Notes at each entity of an edition the ids of those that are one thing with it."""
    what = "noting equal entities"
    pairs = connection.transaction(lambda tx: read_pairs(tx, edition), what=what)
    if not pairs:
        return
    ids = {key64(id_): id_ for pair in pairs for id_ in pair}
    equal = merge_pairs(pairs).equal
    rows = [
        {
            "keys": [f"{edition}:{hex_key(key)}" for key in equal.of_group(group)],
            "ids": [short_id(ids[key]) for key in equal.of_group(group)],
        }
        for group in range(equal.group_count)
    ]
    for portion in in_chunks(rows, _PORTION):
        connection.transaction(partial(_note, rows=list(portion)), what=what)


def _note(tx: neo4j.Transaction, rows: list[dict[str, list[str]]]) -> None:
    rows_of(tx, _NOTE, {"rows": rows})
