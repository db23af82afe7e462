"""The statements at one entity, page by page, and counts of an edition's statements, by Cypher."""

from __future__ import annotations

from collections.abc import Sequence

import neo4j

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.identity import key64
from graph_service.model.overview import ClassSize, Overview, RelationUse, class_sizes
from graph_service.model.statement import Statement
from graph_service.store.decoding import decodes
from graph_service.store.neo4j.driver import rows_of
from graph_service.store.neo4j.rows import STATEMENT_COLUMNS, statement_of_row
from graph_service.store.neo4j.schema import hex_key, key_of_hex

_AT = """MATCH ({end}:Entity {{key: $entity}}) MATCH (a)-[r]->(b)
    WHERE (NOT $entities_only OR b:Entity) """
_PAGE = f"""AND ($relations IS NULL OR r.relation IN $relations)
    AND ($after IS NULL OR r.key > $after)
    WITH a, r, b ORDER BY r.key LIMIT $limit RETURN {STATEMENT_COLUMNS}"""
_COUNTS = "AND ($loops OR a <> b) RETURN r.relation, count(*)"
# The index is of two properties, and is used where both are named.
_USES = """MATCH (a:Entity)-[r]->() WHERE a.graph = $edition AND a.id IS NOT NULL
    RETURN r.relation, count(*), min([r.key, r.id])[1]"""
_CLASSES = """MATCH (a:Entity)-[r]->(b:Entity) WHERE a.graph = $edition AND a.id IS NOT NULL
    AND r.relation IN $instance_of RETURN coalesce(b.long_id, b.id), count(DISTINCT a)"""
_MEMBERS = """MATCH (a:Entity)-[r]->(b:Entity) WHERE a.graph = $edition AND a.id IS NOT NULL
    AND r.relation IN $instance_of RETURN b.key, a.key"""
_IDS = "UNWIND $keys AS key MATCH (n:Entity {key: key}) RETURN n.key, coalesce(n.long_id, n.id)"


def read_statements(
    tx: neo4j.Transaction,
    edition: str,
    entity: str,
    /,
    *,
    incoming: bool,
    relation_ids: Sequence[str],
    entities_only: bool,
    after: int | None,
    limit: int,
) -> list[Statement]:
    """Returns the statements at an entity; see ``GraphReader.statements_of``."""
    values = {
        "entity": f"{edition}:{hex_key(key64(entity))}",
        "relations": list(relation_ids) or None,
        "entities_only": entities_only,
        "after": after,
        "limit": limit,
    }
    query = _AT.format(end="b" if incoming else "a") + _PAGE
    return [statement_of_row(row) for row in rows_of(tx, query, values)]


@decodes("relations")
def count_relations(
    tx: neo4j.Transaction,
    edition: str,
    entity: str,
    /,
    *,
    incoming: bool,
    entities_only: bool,
    loops: bool,
) -> dict[str, int]:
    """Counts the statements at an entity; see ``GraphReader.relation_counts``."""
    values = {
        "entity": f"{edition}:{hex_key(key64(entity))}",
        "entities_only": entities_only,
        "loops": loops,
    }
    rows = rows_of(tx, _AT.format(end="b" if incoming else "a") + _COUNTS, values)
    return {str(relation): int(count) for relation, count in rows}


@decodes("relations")
def read_overview(tx: neo4j.Transaction, edition: str, equal: EqualEntities | None, /) -> Overview:
    """Returns what an edition is about; see ``GraphReader.overview``."""
    values = {"edition": edition, "instance_of": sorted(INSTANCE_RELATIONS)}
    uses = rows_of(tx, _USES, values)
    if equal is None or not len(equal):
        classes = rows_of(tx, _CLASSES, values)
    else:
        members = rows_of(tx, _MEMBERS, values)
        sizes = class_sizes(((key_of_hex(of), key_of_hex(item)) for of, item in members), equal)
        keys = [f"{edition}:{hex_key(key)}" for key in sizes]
        classes = [[id_, sizes[key_of_hex(key)]] for key, id_ in rows_of(tx, _IDS, {"keys": keys})]
    return Overview.of((RelationUse(*row) for row in uses), (ClassSize(*row) for row in classes))
