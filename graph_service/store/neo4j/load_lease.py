"""Who may load into a graph: the lease of an edition that is being loaded."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import neo4j
import orjson

from graph_service import __version__
from graph_service.errors import LoadInProgressError
from graph_service.store.lease import is_gone
from graph_service.store.names import now_text
from graph_service.store.neo4j.driver import Connection, one_row, rows_of


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """A load whose lease is taken.

    Attributes:
        base: The edition it begins as a copy of; None for none.
        token: Names this session; whoever takes the load over gives it another.
    """

    graph: str
    edition: str
    base: str | None
    token: str
    lease_ms: int
    sequence: int
    checkpoint: str | None
    max_new_types: int


def begin_load(
    connection: Connection,
    graph: str,
    /,
    *,
    replace: bool,
    owner: str,
    source: str,
    options: Mapping[str, Any],
    lease_s: float,
    max_new_types: int,
) -> LoadPlan:
    """Takes the lease of a graph; begins a load, or resumes the one left unfinished.

    Raises:
        LoadInProgressError: Another owner holds the lease.
    """
    token = secrets.token_hex(16)
    encoded = orjson.dumps(dict(options), option=orjson.OPT_SORT_KEYS).decode()
    lease_ms = int(lease_s * 1000)

    def take(tx: neo4j.Transaction) -> LoadPlan:
        row = one_row(
            tx,
            """MERGE (g:Graph {name: $graph}) SET g.touched = timestamp()
            RETURN g.current""",
            {"graph": graph},
        )
        current: str | None = row[0] if row else None
        unfinished = rows_of(
            tx,
            """MATCH (e:GraphEdition {graph: $graph}) WHERE e.state IN ['loading', 'finished']
            SET e.touched = timestamp()
            WITH e WHERE e.state IN ['loading', 'finished']
            RETURN e.id, e.owner, e.source, e.options, e.replace, e.base, e.sequence, e.checkpoint,
                e.started_at, e.token IS NOT NULL AND e.lease_until > timestamp(), e.token""",
            {"graph": graph},
        )
        for (
            edition,
            holder,
            of_source,
            of_options,
            of_replace,
            base,
            sequence,
            checkpoint,
            started_at,
            held,
            of_token,
        ) in unfinished:
            if held and holder != owner and of_token != token and not is_gone(holder):
                raise LoadInProgressError(
                    f"graph {graph!r} is being loaded by {holder} from {of_source} "
                    f"(since {started_at})",
                    hint="Wait for it to end, or stop it.",
                )
            same = (of_source, of_options, of_replace) == (source, encoded, replace)
            if same and base == (None if replace else current):
                rows_of(
                    tx,
                    """MATCH (e:GraphEdition {id: $edition}) SET e.token = $token,
                    e.owner = $owner, e.lease_until = timestamp() + $lease_ms""",
                    {"edition": edition, "token": token, "owner": owner, "lease_ms": lease_ms},
                )
                return LoadPlan(
                    graph, edition, base, token, lease_ms, sequence, checkpoint, max_new_types
                )
            rows_of(
                tx,
                """MATCH (e:GraphEdition {id: $edition})
                SET e.state = 'dropping', e.token = null, e.lease_until = 0""",
                {"edition": edition},
            )
        number = rows_of(
            tx,
            """MATCH (m:GraphServiceMeta {id: 'schema'})
            SET m.editions = coalesce(m.editions, 0) + 1 RETURN m.editions""",
            {},
        )[0][0]
        edition = f"{graph}@{number}"
        base = None if replace else current
        rows_of(
            tx,
            "CREATE (e:GraphEdition) SET e = $fields, e.lease_until = timestamp() + $lease_ms",
            {
                "lease_ms": lease_ms,
                "fields": {
                    "id": edition,
                    "number": number,
                    "graph": graph,
                    "state": "loading",
                    "base": base,
                    "replace": replace,
                    "owner": owner,
                    "token": token,
                    "source": source,
                    "options": encoded,
                    "started_at": now_text(),
                    "sequence": 0,
                    "statements": 0,
                    "outdated": 0,
                    "report": "{}",
                    "tool_version": __version__,
                },
            },
        )
        return LoadPlan(graph, edition, base, token, lease_ms, 0, None, max_new_types)

    return connection.transaction(take, what="beginning a load")
