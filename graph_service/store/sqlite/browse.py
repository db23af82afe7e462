"""Counts of statements by relation, at one entity and in a whole edition, by SQL."""

from __future__ import annotations

import sqlite3

import orjson

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.identity import key64
from graph_service.model.overview import ClassSize, Overview, RelationUse, class_sizes
from graph_service.store.sqlite.schema import of_edition

_COUNTS = """SELECT r.id, c.count FROM (SELECT relation, count(*) AS count FROM statements_$n s
    WHERE s.{end} = ? {filters} GROUP BY relation) c JOIN relations_$n r ON r.number = c.relation"""
_USES = """SELECT r.id, c.count, s.id FROM (SELECT relation, count(*) AS count, min(key) AS first
    FROM statements_$n GROUP BY relation) c
    CROSS JOIN relations_$n r ON r.number = c.relation
    CROSS JOIN statements_$n s ON s.key = c.first"""
_CLASSES = """SELECT e.id, c.count FROM (SELECT tail, count(DISTINCT head) AS count
    FROM statements_$n WHERE tail IS NOT NULL AND relation IN (SELECT number FROM relations_$n
        WHERE key IN (SELECT value FROM json_each(?))) GROUP BY tail) c
    CROSS JOIN entities_$n e ON e.key = c.tail"""
_MEMBERS = """SELECT tail, head FROM statements_$n WHERE tail IS NOT NULL AND relation IN
    (SELECT number FROM relations_$n WHERE key IN (SELECT value FROM json_each(?)))"""
_IDS = "SELECT key, id FROM entities_$n WHERE key IN (SELECT value FROM json_each(?))"


def count_relations(
    connection: sqlite3.Connection,
    number: int,
    entity: int,
    /,
    *,
    incoming: bool,
    entities_only: bool,
    loops: bool,
) -> dict[str, int]:
    """Returns the statements of each relation at an entity; see ``GraphReader.relation_counts``."""
    filters = "AND s.tail IS NOT NULL " if entities_only else ""
    if not loops:
        filters += "AND s.head IS NOT s.tail"
    template = _COUNTS.format(end="tail" if incoming else "head", filters=filters)
    return dict(connection.execute(of_edition(template, number), (entity,)).fetchall())


def read_overview(
    connection: sqlite3.Connection, number: int, equal: EqualEntities | None, /
) -> Overview:
    """Returns what an edition is about; see ``GraphReader.overview``."""
    instance_keys = orjson.dumps([key64(id_) for id_ in INSTANCE_RELATIONS]).decode()
    uses = connection.execute(of_edition(_USES, number)).fetchall()
    if equal is None or not len(equal):
        classes = connection.execute(of_edition(_CLASSES, number), (instance_keys,)).fetchall()
    else:
        members = connection.execute(of_edition(_MEMBERS, number), (instance_keys,))
        sizes = class_sizes(members, equal)
        keys = orjson.dumps([*sizes]).decode()
        rows = connection.execute(of_edition(_IDS, number), (keys,)).fetchall()
        classes = [(id_, sizes[key]) for key, id_ in rows]
    return Overview.of((RelationUse(*row) for row in uses), (ClassSize(*row) for row in classes))
