"""A cold server under sixteen clients: the first answers about a graph, with no vector in its file.

Each client asks questions that people asked (``wikidata_questions``), each question once, over a
connection of its own. Keeping answers and limits by rate are off. The reference is the same
questions once more, by the same clients, when the vectors are there.
"""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from uuid import uuid4

import numpy as np
import orjson

from benchmarks.codex import Codex
from benchmarks.dumps import data_folder, run_load
from benchmarks.figures import Detail, Measured
from benchmarks.serving import processes_of, processor_s, serving
from graph_service.errors import SetupError
from graph_service.settings import Settings
from graph_service.store import open_store
from queries.datasets.wikidata_questions import (
    FOLDER,
    read_sample_ids,
    read_wikidata_questions,
    write_wikibase,
)

CLIENTS = 16
QUESTIONS = 196
MINUTE_S = 60.0
"""No question is asked later than that after the first, so that a run ends."""
_DOCUMENT = """query($i: RetrieveInput!) { paths(input: $i) {
  status truncated { what reason } items { text } } }"""
_OPTIONS = ("--cache-mb", "0", "--rate", "0")


@dataclass(frozen=True, slots=True)
class Answer:
    """How one request ended.

    Attributes:
        status: Of HTTP.
        code: Of its first error; "" for none.
        seconds: From the request to the end of its answer.
        is_cut: Whether the time limit left out texts to embed.
    """

    status: int
    code: str
    seconds: float
    is_cut: bool


def cold_burst(workers: int, codex: Codex, /) -> Measured:
    """Asks a server over SQLite."""
    return _measure(in_sqlite(codex), workers, codex)


def cold_burst_on_neo4j(codex: Codex, /) -> Measured:
    """Asks a server over the Neo4j that was named, which is left without the graph.

    Raises:
        SetupError: No server was named.
    """
    with in_neo4j(codex) as stored:
        return _measure(stored, 1, codex)


@contextmanager
def in_neo4j(codex: Codex, /) -> Iterator[tuple[str, str]]:
    """Loads the graph into the Neo4j that was named, yields its address and the graph's name, and
    deletes the graph.

    Raises:
        SetupError: No server was named.
    """
    if codex.neo4j is None:
        raise SetupError(
            "no Neo4j is named to load into",
            hint="Name one that may be written to: --neo4j bolt://localhost:7687",
        )
    graph = f"bench-{uuid4().hex[:8]}"
    try:
        run_load(_documents(codex), store=codex.neo4j, graph=graph)
        yield codex.neo4j, graph
    finally:
        _delete(codex.neo4j, graph, codex.settings)


def burst(port: int, bodies: Sequence[bytes], /) -> list[Answer]:
    """Returns how some requests ended, sent by the clients for a minute at most."""
    numbers, answers = count(), list[Answer]()
    began = time.monotonic()

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        while (number := next(numbers)) < len(bodies) and time.monotonic() < began + MINUTE_S:
            answers.append(_ask(connection, bodies[number]))
        connection.close()

    threads = [threading.Thread(target=client) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def _ask(connection: http.client.HTTPConnection, body: bytes) -> Answer:
    sent = time.monotonic()
    connection.request("POST", "/graphql", body, {"content-type": "application/json"})
    response = connection.getresponse()
    payload = orjson.loads(response.read())
    seconds = time.monotonic() - sent
    errors, data = payload.get("errors"), payload.get("data")
    code = errors[0]["extensions"]["code"] if errors else ""
    cuts = data["paths"]["truncated"] if data and data["paths"] else ()
    return Answer(response.status, code, seconds, any(cut["what"] == "embedded" for cut in cuts))


def _measure(stored: tuple[str, str], workers: int, codex: Codex) -> Measured:
    store, graph = stored
    vectors = codex.folder / f"cold-{uuid4().hex[:8]}.db"
    environment = {
        "GRAPH_SERVICE_VECTORS": str(vectors),
        "GRAPH_SERVICE_CACHE_DIR": str(codex.folder / "cache"),
        "GRAPH_SERVICE_MODEL_DIR": codex.settings.model_dir,
    }
    bodies = _bodies(data_folder(codex), graph)
    with serving(store, workers, *_OPTIONS, environment=environment) as (port, pid):
        pids = processes_of(pid)
        before = processor_s(pids)
        cold = burst(port, bodies)
        cold_s = processor_s(pids) - before
        warm = burst(port, bodies)
        warm_s = processor_s(pids) - before - cold_s
    return Measured(
        [1000 * answer.seconds for answer in cold],
        [1000 * answer.seconds for answer in warm],
        None,
        {
            **_counts(cold, cold_s),
            **{f"warm_{name}": value for name, value in _counts(warm, warm_s).items()},
        },
    )


def _counts(answers: Sequence[Answer], processor: float) -> Mapping[str, Detail]:
    answered = [answer for answer in answers if answer.status == 200 and not answer.code]
    return {
        "asked": len(answers),
        "refused": sum(answer.code in ("LIMIT_EXCEEDED", "THROTTLED") for answer in answers),
        "late": sum(
            answer.code == "TIMEOUT" or answer.seconds > Settings().read_timeout_s
            for answer in answers
        ),
        "failed": sum(
            answer.code not in ("", "LIMIT_EXCEEDED", "THROTTLED", "TIMEOUT") for answer in answers
        ),
        "cut": sum(answer.is_cut for answer in answers),
        "answered_median_ms": 1000 * float(np.median([a.seconds for a in answered] or [0.0])),
        "answered_p95_ms": 1000
        * float(np.percentile([answer.seconds for answer in answered] or [0.0], 95)),
        "processor_ms": 1000 * processor / max(len(answered), 1),
    }


def _bodies(data: Path, graph: str) -> list[bytes]:
    """Returns the requests of a server."""
    return [
        orjson.dumps({"query": _DOCUMENT, "variables": {"i": {"question": text, "graph": graph}}})
        for text in question_texts(data)
    ]


def question_texts(data: Path, /) -> list[str]:
    """Returns the first questions of the sample that have different texts."""
    sample_ids = read_sample_ids(data / FOLDER)
    rows = read_wikidata_questions(data / FOLDER)
    texts = dict.fromkeys(row.text for row in rows if row.id in sample_ids)
    return list(texts)[:QUESTIONS]


def _documents(codex: Codex) -> Path:
    """Returns the graph as documents, written once.

    Raises:
        SetupError: The data has no such graph.
    """
    folder = data_folder(codex) / FOLDER
    if not folder.is_dir():
        raise SetupError(f"there is no folder {folder}", hint="Name the data that have it: --data")

    def write() -> Path:
        path = codex.folder / f"{FOLDER}.jsonl"
        write_wikibase(folder, path)
        return path

    return codex.once(f"documents of {FOLDER}", write)


def in_sqlite(codex: Codex, /) -> tuple[str, str]:
    """Returns the store's address and the graph's name, loaded once."""

    def load() -> tuple[str, str]:
        store = f"sqlite:///{codex.folder / FOLDER}.db"
        run_load(_documents(codex), store=store, graph=FOLDER)
        return store, FOLDER

    return codex.once(f"{FOLDER} in SQLite", load)


def _delete(url: str, graph: str, settings: Settings) -> None:
    with open_store(
        url,
        username=settings.neo4j_username,
        password=settings.neo4j_password or None,
        database=settings.neo4j_database,
    ) as store:
        if any(info.name == graph for info in store.graphs()):
            store.delete_graph(graph)
