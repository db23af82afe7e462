"""The K-hop region around some entities, by SQL, one hop at a time."""

from __future__ import annotations

import heapq
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.graph import RANK_CODES, RANKS
from graph_service.model.identity import key64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.statement import Rank
from graph_service.store.decoding import decoding
from graph_service.store.protocol import MAX_COUNTED, EdgeRow, Neighbourhood
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
    if hops < 0:
        raise InputError(f"hops must be at least 0, got {hops}", argument="hops")
    if max_edges < 0:
        raise InputError(f"max_edges must be at least 0, got {max_edges}", argument="max_edges")
    starts = _known(connection, number, ids)
    filters = {
        "ranks": _json(RANK_CODES[rank] for rank in ranks),
        "relations": _relations(connection, number, relation_ids) if relation_ids else None,
        "excluded": _relations(connection, number, exclude_relation_ids),
    }
    distance = dict.fromkeys(starts, 0)
    degrees: dict[int, int] = {}
    kept: dict[int, tuple[int, int, int | None]] = {}
    hubs: set[int] = set()
    frontier = sorted(starts)
    truncated: list[Cut] = []
    for hop in range(1, hops + 1):
        degrees.update(
            _degrees(connection, number, [key for key in frontier if key not in degrees])
        )
        if hub_degree is not None and hop > 1:
            hubs.update(key for key in frontier if degrees[key] > hub_degree)
        walked = [key for key in frontier if key not in hubs]
        found: dict[int, tuple[int, int, int | None]] = {}
        room = max_edges - len(kept)
        for node in walked:
            deadline.check("reading a neighbourhood")
            for template in (_FROM_HEAD, _FROM_TAIL):
                edge_rows = connection.execute(
                    of_edition(template + _FILTERS + _FIRST, number),
                    {"node": node, "limit": len(kept) + room + 1, **filters},
                )
                for key, row, head, tail in edge_rows.fetchall():
                    if key not in kept:
                        found[key] = (row, head, tail)
            if len(found) > 4 * (room + 1):
                found = {key: found[key] for key in heapq.nsmallest(room + 1, found)}
        chosen = sorted(found)
        if len(chosen) > room:
            chosen = chosen[:room]
            total = None
            if sum(degrees[key] for key in walked) <= MAX_COUNTED:
                total = len(kept) + _count(connection, number, walked, kept, filters)
            truncated.append(Cut("edges", CutReason.LIMIT, max_edges, max_edges, total))
        frontier = []
        for key in chosen:
            kept[key] = row, head, tail = found[key]
            for end in (head, tail):
                if end is not None and end not in distance:
                    distance[end] = hop
                    frontier.append(end)
        if len(kept) >= max_edges or not frontier:
            break
        frontier.sort()
    degrees.update(_degrees(connection, number, [key for key in distance if key not in degrees]))
    names = dict(_ids(connection, number, distance))
    if hubs and hub_degree is not None:
        truncated.append(Cut("hubs", CutReason.HUB, hub_degree, 0, len(hubs)))
    order = sorted(distance, key=lambda key: names[key].encode())
    return Neighbourhood(
        edges=_edges(connection, number, [row for row, _, _ in kept.values()]),
        hops={names[key]: distance[key] for key in order},
        degrees={names[key]: degrees[key] for key in order},
        unexpanded=tuple(sorted((names[key] for key in hubs), key=str.encode)),
        truncated=tuple(truncated),
    )


def _count(
    connection: sqlite3.Connection,
    number: int,
    walked: Sequence[int],
    kept: Mapping[int, tuple[int, int, int | None]],
    filters: Mapping[str, Any],
) -> int:
    """Returns how many statements that are not kept yet have one of some entities at an end."""
    nodes = set(walked)
    count = -sum(head in nodes or tail in nodes for _, head, tail in kept.values())
    for template in (_COUNT_FROM_HEAD, _COUNT_FROM_TAIL):
        query = of_edition(template + _FILTERS, number)
        row = connection.execute(query, {"walked": _json(walked), **filters}).fetchone()
        count += int(row[0])
    return count


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


def _known(connection: sqlite3.Connection, number: int, ids: Sequence[str]) -> set[int]:
    wanted = {key64(id_): id_ for id_ in ids}
    return {key for key, id_ in _ids(connection, number, wanted) if wanted[key] == id_}


def _ids(connection: sqlite3.Connection, number: int, keys: Iterable[int]) -> list[tuple[int, str]]:
    return connection.execute(of_edition(_IDS, number), (_json(keys),)).fetchall()


def _degrees(connection: sqlite3.Connection, number: int, keys: Sequence[int]) -> dict[int, int]:
    return dict(connection.execute(of_edition(_DEGREES, number), (_json(keys),)).fetchall())


def _edges(
    connection: sqlite3.Connection, number: int, table_rows: Sequence[int]
) -> tuple[EdgeRow, ...]:
    rows: list[tuple[Any, ...]] = connection.execute(
        of_edition(_EDGES, number), (_json(table_rows),)
    ).fetchall()
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
