"""What goes on beside the questions: a graph is loaded anew, and views are made and deleted."""

from __future__ import annotations

import http.client
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from benchmarks.soak.answers import Editions
from benchmarks.soak.records import Records
from benchmarks.soak.versions import Triple, write_version

Load = Callable[[int], str]
"""Loads a version of the changing graph; returns its edition."""
_LOOK_S = 1.0
_CREATE = """mutation Make($input: CreateViewInput!) {
  createView(input: $input) { view { viewId } } }"""
_LOOK = """query Look($id: String!, $graph: String!) {
  view(reference: $id, graph: $graph) { state error } }"""
_DELETE = "mutation Drop($input: DeleteViewInput!) { deleteView(input: $input) { viewId } }"


@dataclass(frozen=True, slots=True)
class Loader:
    """Loads versions by ``graph-service load --replace``, in a process of its own.

    Attributes:
        store: Address of the store.
        graph: Name of the graph.
        folder: Where the files of a version are written.
        triples: Of all versions.
        labels: By id.
    """

    store: str
    graph: str
    folder: Path
    triples: Sequence[Triple]
    labels: Mapping[str, str]

    def load(self, version: int, /) -> str:
        """Loads a version; returns its edition."""
        files = write_version(self.folder, self.triples, self.labels, version)
        return load_table(self.store, self.graph, files.triples, files.labels)


def load_table(store: str, graph: str, triples: Path, labels: Path, /) -> str:
    """Loads a table without a header into a graph in place of what it held; returns the edition.

    Raises:
        RuntimeError: The load has failed.
    """
    arguments = ["load", str(triples), "--store", store, "--graph", graph, "--replace", "--json"]
    arguments += ["--columns", "head,relation,tail", "--label-file", str(labels), "--strict"]
    ran = subprocess.run(
        [sys.executable, "-m", "graph_service.cli", *arguments, "--quiet"],
        capture_output=True,
        check=False,
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr.decode())
    return str(orjson.loads(ran.stdout)["graph"]["edition"])


def keep_loading(
    load: Load,
    first: int,
    editions: Editions,
    records: Records,
    stop: threading.Event,
    /,
    *,
    every_s: float,
) -> None:
    """Loads one version after another until it is stopped.

    Args:
        load: Loads one.
        first: Number of the first.
        editions: Learns which version an edition is of.
        records: Where a line for each load goes.
        stop: Ends it, after a load that is under way.
        every_s: Seconds between the end of a load and the next.
    """
    version = first
    while not stop.wait(every_s):
        began = time.monotonic()
        try:
            edition = load(version)
            fault = editions.learn(edition, version)
        except Exception as error:
            edition, fault = "", repr(error)
        took_s = round(time.monotonic() - began, 3)
        records.add("load", version=version, edition=edition, seconds=took_s, fault=fault)
        version += 1


def keep_making_views(
    port: int,
    key: str,
    graphs: Sequence[str],
    records: Records,
    stop: threading.Event,
    /,
    *,
    every_s: float,
    limit_s: float,
) -> None:
    """Makes a view of each graph in turn by a job, waits for it and deletes it, until stopped.

    Args:
        port: Of the server.
        key: That may write; "" for none.
        graphs: Their names.
        records: Where a line for each view goes.
        stop: Ends it.
        every_s: Seconds between two.
        limit_s: How long an answer, and a job, may take.
    """
    place = 0
    while not stop.wait(every_s):
        graph = graphs[place % len(graphs)]
        place += 1
        began = time.monotonic()
        try:
            state = _make_view(port, key, graph, place, stop, limit_s)
        except Exception as error:
            state = repr(error)
        took_s = round(time.monotonic() - began, 3)
        records.add("view", graph=graph, state=state, seconds=took_s)


def _make_view(
    port: int, key: str, graph: str, number: int, stop: threading.Event, limit_s: float
) -> str:
    spec = {"method": "EDGE_REWIRING", "level": 0.1, "randomSeed": number}
    made = {"graph": graph, "spec": spec, "wait": False, "note": "soak"}
    asked: list[tuple[str, dict[str, Any]]] = [(_CREATE, {"input": made})]
    view_id = ask(port, key, *asked[0], limit_s)["createView"]["view"]["viewId"]
    end = time.monotonic() + limit_s
    named = {"id": view_id, "graph": graph}
    while (view := ask(port, key, _LOOK, named, limit_s)["view"])["state"] == "RUNNING":
        if time.monotonic() > end:
            return f"still runs after {limit_s:g} s"
        stop.wait(_LOOK_S)
    ask(port, key, _DELETE, {"input": {"reference": view_id, "graph": graph}}, limit_s)
    return view["state"] if not view["error"] else f"{view['state']}: {view['error']}"


def ask(
    port: int, key: str, document: str, variables: Mapping[str, Any], limit_s: float, /
) -> dict[str, Any]:
    """Returns the data of an operation, asked again where the server says to ask later.

    Raises:
        RuntimeError: The answer has an error, or the server was busy for too long.
    """
    body = orjson.dumps({"query": document, "variables": variables})
    headers = {"content-type": "application/json"}
    if key:
        headers["authorization"] = f"Bearer {key}"
    end = time.monotonic() + limit_s
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=limit_s)
        try:
            connection.request("POST", "/graphql", body, headers)
            response = connection.getresponse()
            said = orjson.loads(response.read())
            later = response.getheader("retry-after")
        finally:
            connection.close()
        if later is None or time.monotonic() > end:
            if "errors" in said:
                raise RuntimeError(str(said["errors"]))
            data: dict[str, Any] = said["data"]
            return data
        time.sleep(float(later))
