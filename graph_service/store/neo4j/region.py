"""The K-hop region around some entities, by Cypher, one hop at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import neo4j

from graph_service.model.equal_entities import EqualEntities
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.statement import Rank
from graph_service.store.decoding import decodes
from graph_service.store.neighbourhood import ReachedEdge, read_region
from graph_service.store.neo4j.driver import in_chunks, rows_of
from graph_service.store.neo4j.rows import EDGE_COLUMNS, edge_of_row
from graph_service.store.neo4j.schema import hex_key, key_of_hex

NODES_A_QUERY = 5_000

_FILTERS = """r.rank IN $ranks AND ($relations IS NULL OR r.relation IN $relations)
    AND NOT r.relation IN $excluded"""
_HOP = f"""UNWIND $keys AS key MATCH (n:Entity {{key: key}})-[r]-()
    WHERE $first <= r.key AND r.key <= $last AND {_FILTERS}
    WITH DISTINCT r WITH r, startNode(r) AS a, endNode(r) AS b
    RETURN {EDGE_COLUMNS}, a.key, b.key"""
_COUNT = f"""UNWIND $keys AS key MATCH (n:Entity {{key: key}})
    RETURN sum(COUNT {{ MATCH (n)-[r]->() WHERE {_FILTERS} }}),
    sum(COUNT {{ MATCH (n)<-[r]-(head) WHERE {_FILTERS} AND NOT head.key IN $walked }})"""
_RELATIONS = """UNWIND $keys AS key MATCH (n:Entity {key: key})-[r]->()
    RETURN key, collect(DISTINCT r.relation)"""
_DEGREES = """UNWIND $keys AS key MATCH (n:Entity {key: key})
    RETURN n.key, COUNT { (n)-->() } + COUNT { (n)<--() }"""
_IDS = "UNWIND $keys AS key MATCH (n:Entity {key: key}) RETURN n.key, coalesce(n.long_id, n.id)"


@decodes("a region")
def read_neighbourhood(
    tx: neo4j.Transaction,
    edition: str,
    ids: Sequence[str],
    /,
    *,
    hops: int,
    max_edges: int,
    hub_degree: int | None,
    ranks: Sequence[Rank],
    relation_ids: Sequence[str],
    exclude_relation_ids: Sequence[str],
    equal: EqualEntities | None,
    deadline: Deadline,
) -> Neighbourhood:
    """Returns the region around some entities; see ``GraphReader.neighbourhood``."""
    filters: dict[str, Any] = {
        "ranks": [rank.value for rank in ranks],
        "relations": list(relation_ids) or None,
        "excluded": list(exclude_relation_ids),
    }
    neighbours = _Neighbours(tx, edition, filters, deadline)
    return read_region(
        neighbours, ids, hops=hops, max_edges=max_edges, hub_degree=hub_degree, equal=equal
    )


class _Neighbours:
    """What is read of an edition's nodes; a statement's row holds its ``EDGE_COLUMNS``."""

    def __init__(
        self,
        tx: neo4j.Transaction,
        edition: str,
        filters: Mapping[str, Any],
        deadline: Deadline,
    ) -> None:
        self._tx = tx
        self._edition = edition
        self._filters = filters
        self._deadline = deadline
        self._names: dict[str, str] = {}

    def start_nodes(self, ids: Sequence[str]) -> list[str]:
        ids_by_key = {f"{self._edition}:{hex_key(key64(id_))}": id_ for id_ in ids}
        rows = rows_of(self._tx, _IDS, {"keys": list(ids_by_key)})
        self._names = {key: id_ for key, id_ in rows if ids_by_key[key] == id_}
        return list(self._names)

    def keys(self, nodes: Iterable[str]) -> list[int]:
        return [key_of_hex(node) for node in nodes]

    def nodes(self, keys: Iterable[int]) -> list[str]:
        return [f"{self._edition}:{hex_key(key)}" for key in keys]

    def degrees(self, nodes: Sequence[str]) -> dict[str, int]:
        return {
            key: degree
            for portion in in_chunks(nodes, NODES_A_QUERY)
            for key, degree in rows_of(self._tx, _DEGREES, {"keys": list(portion)})
        }

    def edges_at(
        self, nodes: Sequence[str], first: int, last: int
    ) -> dict[int, ReachedEdge[str, list[Any]]]:
        edges: dict[int, ReachedEdge[str, list[Any]]] = {}
        for keys in in_chunks(nodes, NODES_A_QUERY):
            self._deadline.check("reading a neighbourhood")
            parameters = {"keys": list(keys), "first": first, "last": last, **self._filters}
            for *row, head, tail in rows_of(self._tx, _HOP, parameters):
                edges[row[0]] = ReachedEdge(row, head, tail)
                self._names.setdefault(head, row[2])
                if tail is not None:
                    self._names.setdefault(tail, row[5])
        return edges

    def count(self, nodes: Sequence[str]) -> int:
        count = 0
        for keys in in_chunks(nodes, NODES_A_QUERY):
            self._deadline.check("counting a neighbourhood")
            parameters = {"keys": list(keys), "walked": list(nodes), **self._filters}
            for out, back in rows_of(self._tx, _COUNT, parameters):
                count += out + back
        return count

    def ids(self, nodes: Iterable[str]) -> Mapping[str, str]:
        # Of an entity reached as one thing with another no edge has told the id.
        for keys in in_chunks([node for node in nodes if node not in self._names], NODES_A_QUERY):
            self._names.update(
                (key, id_) for key, id_ in rows_of(self._tx, _IDS, {"keys": list(keys)})
            )
        return self._names

    def rows(self, edges: Mapping[int, ReachedEdge[str, list[Any]]]) -> tuple[EdgeRow, ...]:
        return tuple(edge_of_row(edges[key].row) for key in sorted(edges))


def read_relations(
    tx: neo4j.Transaction, edition: str, ids: Sequence[str], /
) -> dict[str, frozenset[str]]:
    """Returns the relations that each of some heads has; see ``GraphReader.relations_of``."""
    heads = {f"{edition}:{hex_key(key64(id_))}": id_ for id_ in ids}
    by_head: dict[str, frozenset[str]] = {}
    for keys in in_chunks(list(heads), NODES_A_QUERY):
        for key, relations in rows_of(tx, _RELATIONS, {"keys": list(keys)}):
            by_head[heads[key]] = frozenset(relations)
    return by_head
