"""How a server may be used, and by whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_service.server.admission import Admission
from graph_service.server.traces import Traces

MAX_COST = 1_000.0
"""Retrievals of one operation: on one processor about as many as its time limit lets be done."""
CACHE_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class ServerOptions(Admission):
    """How a server may be used, and by whom.

    Attributes:
        writable: Whether mutations are allowed.
        graphiql: Whether browsers are shown GraphiQL.
        explorer: Whether the pages of the explorer are served.
        threads: Operations that run at once.
        warm: Graphs that are opened and asked a question before the server is ready.
        log_queries: Whether the log has documents and variables, with users' texts in them.
        max_cost: What one operation may cost, in retrievals.
        rate: Cost that comes back to each client in a second; 0 for no limit.
        address_header: The header in which a proxy names the client's address; "" for no proxy.
        documents: Files of the documents that the server answers; none for all documents.
        cache_bytes: What the answers that are kept may hold together; 0 keeps none.
        experiments: The folder whose experiments are shown; None for none.
        processes: How many processes the server has; each has an equal part of what all may do.
        traces: Where requests and operations are traced.
    """

    writable: bool = False
    graphiql: bool = True
    explorer: bool = True
    threads: int = 4
    warm: Sequence[str] = ()
    log_queries: bool = False
    max_cost: float = MAX_COST
    rate: float = 0.0
    address_header: str = ""
    cache_bytes: int = CACHE_BYTES
    processes: int = 1
    documents: Sequence[Path] = ()
    traces: Traces | None = None
    experiments: Path | None = None

    @property
    def has_page(self) -> bool:
        """Whether browsers are shown GraphiQL: it sends what no list of documents has."""
        return self.graphiql and not self.documents

    def of_process(self, count: int, /) -> int:
        """Returns what one process has of what all processes of the server have together."""
        return math.ceil(count / self.processes)
