"""Members of ``python -m benchmarks speed`` about questions that nobody asked before.

Questions that people asked over Wikidata (``wikidata_questions``), each once. The reference is the
same questions asked again.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

import numpy as np

from benchmarks.codex import Codex
from benchmarks.cold_burst import in_neo4j, in_sqlite, question_texts
from benchmarks.dumps import data_folder
from benchmarks.figures import Detail, Measured, timed
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.service import Service, open_service

MEDIAN_MS, P95_MS = 120.0, 250.0
"""What the median and the 95th percentile are to be at most, on one core."""


def first_asked(codex: Codex, /) -> Measured:
    """Asks over SQLite."""
    return _measure(*in_sqlite(codex), codex)


def first_asked_on_neo4j(codex: Codex, /) -> Measured:
    """Asks over the Neo4j that was named, which is left without the graph.

    Raises:
        SetupError: No server was named.
    """
    with in_neo4j(codex) as (store, graph):
        return _measure(store, graph, codex)


def _measure(store: str, graph: str, codex: Codex) -> Measured:
    """Asks when the names of relations have vectors, as a server makes them of each edition.

    Times are of the processor. The details have the same with no vector in the file, and the first
    question of all, which opens the graph and the model.
    """
    texts = question_texts(data_folder(codex))
    requests = [RetrieveRequest(text, Strategy.PATHS, graph=graph) for text in texts]
    clock = time.process_time
    with _opened(store, codex) as service:
        first, *cold = timed(service.retrieve, requests, clock=clock)
    with _opened(store, codex) as service:
        info = service.graph(graph)
        (names,) = timed(lambda _: list(service.embed_names(info)), [0], clock=clock)
        service.retrieve(requests[0])
        own = timed(service.retrieve, requests[1:], clock=clock)
        again = timed(service.retrieve, requests[1:], clock=clock)
    details: dict[str, Detail] = {
        "questions": len(requests),
        "bound_median_ms": MEDIAN_MS,
        "bound_p95_ms": P95_MS,
        "reference_p95_ms": _p95(again),
        "first_ms": first,
        "cold_median_ms": float(np.median(cold)),
        "cold_p95_ms": _p95(cold),
        "names_ms": names,
    }
    return Measured(own, again, None, details)


def _opened(store: str, codex: Codex) -> Service:
    """Opens a service whose file of vectors is empty."""
    vectors = str(codex.folder / f"first-asked-{uuid4().hex[:8]}.db")
    return open_service(settings=replace(codex.settings, store=store, vectors=vectors))


def _p95(times: Sequence[float]) -> float:
    return float(np.percentile(times, 95))
