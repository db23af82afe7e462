"""The K-hop region around some entities, by Cypher, one hop at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import neo4j

from graph_service.errors import InputError
from graph_service.model.identity import key64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.statement import Rank
from graph_service.store.decoding import decodes
from graph_service.store.neo4j.driver import in_chunks, rows_of
from graph_service.store.neo4j.rows import EDGE_COLUMNS, edge_of_row
from graph_service.store.neo4j.schema import hex_key
from graph_service.store.protocol import MAX_COUNTED, Neighbourhood

NODES_A_QUERY = 5_000

_FILTERS = """r.rank IN $ranks AND ($relations IS NULL OR r.relation IN $relations)
    AND NOT r.relation IN $excluded"""
_HOP = f"""UNWIND $keys AS key MATCH (n:Entity {{key: key}})-[r]-() WHERE {_FILTERS}
    WITH DISTINCT r ORDER BY r.key LIMIT $limit
    WITH r, startNode(r) AS a, endNode(r) AS b
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
    deadline: Deadline,
) -> Neighbourhood:
    """Returns the region; see ``GraphReader.neighbourhood``.

    A query reads at most ``max_edges + 1`` statements, in order of their keys, which is all that can
    stay.
    """
    if hops < 0:
        raise InputError(f"hops must be at least 0, got {hops}", argument="hops")
    if max_edges < 0:
        raise InputError(f"max_edges must be at least 0, got {max_edges}", argument="max_edges")
    names = _starts(tx, edition, ids)
    distance = dict.fromkeys(names, 0)
    filters: dict[str, Any] = {
        "ranks": [rank.value for rank in ranks],
        "relations": list(relation_ids) or None,
        "excluded": list(exclude_relation_ids),
        "limit": max_edges + 1,
    }
    degrees: dict[str, int] = {}
    kept: dict[int, list[Any]] = {}
    hubs: set[str] = set()
    frontier = sorted(names)
    truncated: list[Cut] = []
    for hop in range(1, hops + 1):
        degrees.update(_degrees(tx, [key for key in frontier if key not in degrees]))
        if hub_degree is not None and hop > 1:
            hubs.update(key for key in frontier if degrees[key] > hub_degree)
        walked = [key for key in frontier if key not in hubs]
        found: dict[int, list[Any]] = {}
        for keys in in_chunks(walked, NODES_A_QUERY):
            deadline.check("reading a neighbourhood")
            for row in rows_of(tx, _HOP, {"keys": list(keys), **filters}):
                if row[0] not in kept:
                    found[row[0]] = row
        chosen = sorted(found)
        room = max_edges - len(kept)
        if len(chosen) > room:
            chosen = chosen[:room]
            total = None
            if sum(degrees[key] for key in walked) <= MAX_COUNTED:
                total = len(kept) + _count(tx, walked, kept, filters, deadline)
            truncated.append(Cut("edges", CutReason.LIMIT, max_edges, max_edges, total))
        frontier = []
        for key in chosen:
            row = kept[key] = found[key]
            head, tail = row[-2:]
            # A literal has no key, and is never walked through.
            for end, name in ((head, row[2]), (tail, row[5])):
                if end is not None and end not in distance:
                    distance[end] = hop
                    names[end] = name
                    frontier.append(end)
        if len(kept) >= max_edges or not frontier:
            break
        frontier.sort()
    degrees.update(_degrees(tx, [key for key in distance if key not in degrees]))
    if hubs and hub_degree is not None:
        truncated.append(Cut("hubs", CutReason.HUB, hub_degree, 0, len(hubs)))
    order = sorted(distance, key=lambda key: names[key].encode())
    return Neighbourhood(
        edges=tuple(edge_of_row(kept[key][:-2]) for key in sorted(kept)),
        hops={names[key]: distance[key] for key in order},
        degrees={names[key]: degrees[key] for key in order},
        unexpanded=tuple(sorted((names[key] for key in hubs), key=str.encode)),
        truncated=tuple(truncated),
    )


def _count(
    tx: neo4j.Transaction,
    walked: Sequence[str],
    kept: Mapping[int, Sequence[Any]],
    filters: Mapping[str, Any],
    deadline: Deadline,
) -> int:
    """Returns how many statements that are not kept yet have one of some entities at an end."""
    nodes = set(walked)
    count = -sum(row[-2] in nodes or row[-1] in nodes for row in kept.values())
    for keys in in_chunks(walked, NODES_A_QUERY):
        deadline.check("counting a neighbourhood")
        parameters = {"keys": list(keys), "walked": list(walked), **filters}
        for out, back in rows_of(tx, _COUNT, parameters):
            count += out + back
    return count


def read_relations(
    tx: neo4j.Transaction, edition: str, ids: Sequence[str], /
) -> dict[str, frozenset[str]]:
    """Returns the relations of heads; see ``GraphReader.relations_of``."""
    heads = {f"{edition}:{hex_key(key64(id_))}": id_ for id_ in ids}
    found: dict[str, frozenset[str]] = {}
    for keys in in_chunks(list(heads), NODES_A_QUERY):
        for key, relations in rows_of(tx, _RELATIONS, {"keys": list(keys)}):
            found[heads[key]] = frozenset(relations)
    return found


def _starts(tx: neo4j.Transaction, edition: str, ids: Iterable[str]) -> dict[str, str]:
    wanted = {f"{edition}:{hex_key(key64(id_))}": id_ for id_ in ids}
    rows = rows_of(tx, _IDS, {"keys": list(wanted)})
    return {key: id_ for key, id_ in rows if wanted[key] == id_}


def _degrees(tx: neo4j.Transaction, keys: Sequence[str]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for portion in in_chunks(keys, NODES_A_QUERY):
        found += [(key, degree) for key, degree in rows_of(tx, _DEGREES, {"keys": list(portion)})]
    return found
