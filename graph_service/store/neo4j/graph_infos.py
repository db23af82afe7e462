"""What is known of a published graph, by the record of its edition."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import neo4j
import orjson

from graph_service.model.graph_info import GraphCounts, GraphInfo
from graph_service.model.identity import Fingerprints
from graph_service.store.decoding import decodes
from graph_service.store.neo4j.driver import Connection, one_row

INFO_COLUMNS = """e.graph, e.id, e.counts, e.edges, e.content, e.source, e.published_at, e.options,
    e.tool_version, e.report"""
INFO_WIDTH = INFO_COLUMNS.count(",") + 1


@decodes("the record of an edition")
def info_of_row(row: list[Any], /) -> GraphInfo:
    """Returns the graph of ``INFO_COLUMNS``."""
    if None in row:
        raise ValueError("it lacks a value")
    return GraphInfo(
        name=row[0],
        edition=row[1],
        counts=GraphCounts(**orjson.loads(row[2])),
        fingerprints=Fingerprints(edges=row[3], content=row[4]),
        source=row[5],
        published_at=row[6],
        options=orjson.loads(row[7]),
        tool_version=row[8],
        report=orjson.loads(row[9]),
    )


def graph_info(connection: Connection, name: str, /) -> GraphInfo | None:
    """Returns a published graph, or None; a load under way is not filled in."""
    query = f"""MATCH (g:Graph {{name: $name}}) WHERE g.current IS NOT NULL
        OPTIONAL MATCH (e:GraphEdition {{id: g.current}}) RETURN {INFO_COLUMNS}"""

    def read(tx: neo4j.Transaction) -> GraphInfo | None:
        row = one_row(tx, query, {"name": name})
        return None if row is None else info_of_row(row)

    return connection.transaction(read, access="READ", what="reading a graph")


def time_text(milliseconds: int, /) -> str:
    """Returns a moment of the server's clock in ISO 8601, UTC."""
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
