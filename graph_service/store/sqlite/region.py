"""The K-hop region around some entities, by SQL, one hop at a time."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from graph_service.model.graph import RANK_CODES, RANKS
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.statement import Rank
from graph_service.store.decoding import decoding
from graph_service.store.neighbourhood import ReachedEdge, walk
from graph_service.store.protocol import EdgeRow, Neighbourhood
from graph_service.store.sqlite.schema import of_edition
from graph_service.store.texts import encode_entity_value

_FILTERS = """AND s.rank IN (SELECT value FROM json_each(:ranks))
    AND (:relations IS NULL OR s.relation IN (SELECT value FROM json_each(:relations)))
    AND s.relation NOT IN (SELECT value FROM json_each(:excluded)) """
_FIRST = "ORDER BY s.key LIMIT :limit"
_FROM_HEAD = "SELECT s.key, s.row, s.head, s.tail FROM statements_$n s WHERE s.head = :node "
_FROM_TAIL = "SELECT s.key, s.row, s.head, s.tail FROM statements_$n s WHERE s.tail = :node "
_EDGES = """SELECT s.key, s.id, h.id, r.id, s.tail, t.id, s.value, s.rank
    FROM statements_$n s CROSS JOIN entities_$n h ON h.key = s.head
    CROSS JOIN relations_$n r ON r.number = s.relation LEFT JOIN entities_$n t ON t.key = s.tail
    WHERE s.row IN (SELECT value FROM json_each(?)) ORDER BY s.key"""
_DEGREES = """SELECT j.value, (SELECT count(*) FROM statements_$n s WHERE s.head = j.value)
    + (SELECT count(*) FROM statements_$n s WHERE s.tail = j.value) FROM json_each(?) j"""
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
    deadline: Deadline,
) -> Neighbourhood:
    """Returns the region; see ``GraphReader.neighbourhood``.

    A hop reads at most ``max_edges + 1`` statements of each entity and direction, in order of
    their keys, which is all that can stay.
    """
    filters = {
        "ranks": _json(RANK_CODES[rank] for rank in ranks),
        "relations": _relations(connection, number, relation_ids) if relation_ids else None,
        "excluded": _relations(connection, number, exclude_relation_ids),
    }
    neighbours = _Neighbours(connection, number, filters, deadline)
    return walk(neighbours, ids, hops=hops, max_edges=max_edges, hub_degree=hub_degree)


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

    def _select(self, template: str, values: tuple[Any, ...] | dict[str, Any]) -> list[Any]:
        return self._connection.execute(of_edition(template, self._number), values).fetchall()

    def starts(self, ids: Sequence[str]) -> set[int]:
        wanted = {key64(id_): id_ for id_ in ids}
        return {key for key, id_ in self.ids(wanted).items() if wanted[key] == id_}

    def degrees(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        return self._select(_DEGREES, (_json(nodes),))

    def edges_at(
        self, nodes: Sequence[int], kept: Mapping[int, ReachedEdge[int, int]], room: int
    ) -> dict[int, ReachedEdge[int, int]]:
        found: dict[int, ReachedEdge[int, int]] = {}
        for node in nodes:
            self._deadline.check("reading a neighbourhood")
            values = {"node": node, "limit": len(kept) + room + 1, **self._filters}
            for template in (_FROM_HEAD, _FROM_TAIL):
                for key, *edge in self._select(template + _FILTERS + _FIRST, values):
                    if key not in kept:
                        found[key] = ReachedEdge(*edge)
            if len(found) > 4 * (room + 1):
                found = {key: found[key] for key in heapq.nsmallest(room + 1, found)}
        return found

    def count(self, nodes: Sequence[int]) -> int:
        values = {"walked": _json(nodes), **self._filters}
        return sum(
            int(self._select(template + _FILTERS, values)[0][0])
            for template in (_COUNT_FROM_HEAD, _COUNT_FROM_TAIL)
        )

    def ids(self, nodes: Iterable[int]) -> dict[int, str]:
        return dict(self._select(_IDS, (_json(nodes),)))

    def rows(self, edges: Mapping[int, ReachedEdge[int, int]]) -> tuple[EdgeRow, ...]:
        rows = self._select(_EDGES, (_json(edge.row for edge in edges.values()),))
        with decoding("a statement"):
            return tuple(
                EdgeRow(
                    id_,
                    head,
                    relation,
                    value if tail is None else encode_entity_value(tail_id),
                    RANKS[rank],
                )
                for _, id_, head, relation, tail, tail_id, value, rank in rows
            )


def read_relations(
    connection: sqlite3.Connection, number: int, ids: Sequence[str], /
) -> dict[str, frozenset[str]]:
    """Returns the relations of heads; see ``GraphReader.relations_of``."""
    heads = {key64(id_): id_ for id_ in ids}
    pairs = connection.execute(of_edition(_RELATIONS, number), (_json(heads),)).fetchall()
    numbers = _json({relation for _, relation in pairs})
    names = dict(connection.execute(of_edition(_RELATION_IDS, number), (numbers,)).fetchall())
    found: dict[str, set[str]] = {}
    for head, relation in pairs:
        found.setdefault(heads[head], set()).add(names[relation])
    return {id_: frozenset(relations) for id_, relations in found.items()}


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
