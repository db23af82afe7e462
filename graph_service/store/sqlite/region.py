"""The K-hop region around some entities, by SQL, one hop at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import RANK_CODES, RANKS
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.statement import Rank
from graph_service.store.decoding import decoding
from graph_service.store.neighbourhood import ReachedEdge, read_region
from graph_service.store.sqlite.schema import HAS_HUBS, of_edition
from graph_service.store.texts import encode_entity_value

_FILTERS = """AND s.rank IN (SELECT value FROM json_each(:ranks))
    AND (:relations IS NULL OR s.relation IN (SELECT value FROM json_each(:relations)))
    AND s.relation NOT IN (SELECT value FROM json_each(:excluded)) """
_FROM = """SELECT s.key, s.row, s.head, s.tail FROM json_each(:nodes) j
    CROSS JOIN statements_$n s ON s.{end} = j.value AND s.key BETWEEN :first AND :last """
_EDGES = """SELECT key, id, head, relation, tail, value, rank FROM statements_$n
    WHERE row IN (SELECT value FROM json_each(?)) ORDER BY key"""
_COUNTED = """(SELECT count(*) FROM statements_$n s WHERE s.head = j.value)
    + (SELECT count(*) FROM statements_$n s WHERE s.tail = j.value)"""
_DEGREES = f"SELECT j.value, {_COUNTED} FROM json_each(?) j"  # noqa: S608
_DEGREES_WITH_HUBS = f"""SELECT j.value, ifnull(h.degree, {_COUNTED})
    FROM json_each(?) j LEFT JOIN hubs_$n h ON h.key = j.value"""  # noqa: S608
_COUNT_FROM_HEAD = """SELECT count(*) FROM json_each(:walked) j
    CROSS JOIN statements_$n s ON s.head = j.value WHERE TRUE """
_COUNT_FROM_TAIL = """SELECT count(*) FROM json_each(:walked) j
    CROSS JOIN statements_$n s ON s.tail = j.value
    WHERE s.head NOT IN (SELECT value FROM json_each(:walked)) """
_RELATIONS = """SELECT DISTINCT s.head, s.relation
    FROM json_each(?) j CROSS JOIN statements_$n s ON s.head = j.value"""
_RELATION_IDS = (
    "SELECT number, id FROM relations_$n WHERE number IN (SELECT value FROM json_each(?))"
)
_IDS = """SELECT key, id FROM entities_$n WHERE key IN (SELECT value FROM json_each(?))"""


def read_neighbourhood(
    connection: sqlite3.Connection,
    number: int,
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
    filters = {
        "ranks": _json(RANK_CODES[rank] for rank in ranks),
        "relations": _relations(connection, number, relation_ids) if relation_ids else None,
        "excluded": _relations(connection, number, exclude_relation_ids),
    }
    neighbours = _Neighbours(connection, number, filters, deadline)
    return read_region(
        neighbours, ids, hops=hops, max_edges=max_edges, hub_degree=hub_degree, equal=equal
    )


class _Neighbours:
    """What is read of an edition's tables; a statement's row is its row id."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        number: int,
        filters: Mapping[str, Any],
        deadline: Deadline,
    ) -> None:
        self._connection = connection
        self._number = number
        self._filters = filters
        self._deadline = deadline
        self._names: dict[int, str] = {}
        (hubs,) = self._select(HAS_HUBS, ())[0]
        self._count_degrees = _DEGREES_WITH_HUBS if hubs else _DEGREES

    def _select(self, template: str, values: tuple[Any, ...] | dict[str, Any]) -> list[Any]:
        return self._connection.execute(of_edition(template, self._number), values).fetchall()

    def start_nodes(self, ids: Sequence[str]) -> set[int]:
        ids_by_key = {key64(id_): id_ for id_ in ids}
        return {key for key, id_ in self.ids(ids_by_key).items() if ids_by_key[key] == id_}

    def keys(self, nodes: Iterable[int]) -> list[int]:
        return list(nodes)

    def nodes(self, keys: Iterable[int]) -> list[int]:
        return list(keys)

    def degrees(self, nodes: Sequence[int]) -> dict[int, int]:
        return dict(self._select(self._count_degrees, (_json(nodes),)))

    def edges_at(
        self, nodes: Sequence[int], first: int, last: int
    ) -> dict[int, ReachedEdge[int, int]]:
        self._deadline.check("reading a neighbourhood")
        values = {"nodes": _json(nodes), "first": first, "last": last, **self._filters}
        return {
            key: ReachedEdge(*edge)
            for end in ("head", "tail")
            for key, *edge in self._select(_FROM.format(end=end) + _FILTERS, values)
        }

    def count(self, nodes: Sequence[int]) -> int:
        values = {"walked": _json(nodes), **self._filters}
        return sum(
            int(self._select(template + _FILTERS, values)[0][0])
            for template in (_COUNT_FROM_HEAD, _COUNT_FROM_TAIL)
        )

    def ids(self, nodes: Iterable[int]) -> dict[int, str]:
        self._names.update(self._select(_IDS, (_json(set(nodes) - self._names.keys()),)))
        return self._names

    def rows(self, edges: Mapping[int, ReachedEdge[int, int]]) -> tuple[EdgeRow, ...]:
        rows = self._select(_EDGES, (_json(edge.row for edge in edges.values()),))
        names = self._names
        relations = dict(self._select(_RELATION_IDS, (_json({row[3] for row in rows}),)))
        with decoding("a statement"):
            return tuple(
                EdgeRow(
                    id_,
                    names[head],
                    relations[relation],
                    value if tail is None else encode_entity_value(names[tail]),
                    RANKS[rank],
                )
                for _, id_, head, relation, tail, value, rank in rows
            )


def read_relations(
    connection: sqlite3.Connection, number: int, ids: Sequence[str], /
) -> dict[str, frozenset[str]]:
    """Returns the relations that each of some heads has; see ``GraphReader.relations_of``."""
    heads = {key64(id_): id_ for id_ in ids}
    pairs = connection.execute(of_edition(_RELATIONS, number), (_json(heads),)).fetchall()
    numbers = _json({relation for _, relation in pairs})
    names = dict(connection.execute(of_edition(_RELATION_IDS, number), (numbers,)).fetchall())
    by_head: dict[str, set[str]] = {}
    for head, relation in pairs:
        by_head.setdefault(heads[head], set()).add(names[relation])
    return {id_: frozenset(relations) for id_, relations in by_head.items()}


def _json(values: Iterable[int]) -> str:
    return orjson.dumps(list(values)).decode()


def _relations(connection: sqlite3.Connection, number: int, ids: Sequence[str]) -> str:
    """Returns the numbers of relations as JSON; those that the edition lacks go."""
    if not ids:
        return "[]"
    rows = connection.execute(
        of_edition(
            "SELECT number FROM relations_$n WHERE key IN (SELECT value FROM json_each(?))", number
        ),
        (_json(key64(id_) for id_ in ids),),
    ).fetchall()
    return _json(row[0] for row in rows)
