"""Loads of large dumps into the file store, beside a bare parse and insert of the same rows.

The dumps are made at size from real data, with ids renamed copy by copy: CoDEx-M as N-Triples with
a label for each entity, and the real documents of Wikidata as a JSON dump. Our side is the
command itself, in a process of its own, until the graph is published and its labels are found.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, cast

import orjson

from benchmarks.codex import Codex, read_rows
from benchmarks.figures import Detail, Measured
from graph_service.errors import SetupError

TRIPLES = 5_000_000
STATEMENTS = 1_000_000
ENTITY = "http://www.wikidata.org/entity/"
DIRECT = "http://www.wikidata.org/prop/direct/"
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_LABELS_FILE = "wikidata_labels_en_partial.tsv.xz"
_DOCUMENTS = Path("wikidata_docs") / "wikibase_sdk_json"
# Ids of entities and of statements, as values and as the documents' own.
_ITEM_ID = re.compile(rb'"id":"([Qq]\d+)(["$])')
_ITEM = re.compile(r"Q\d+")


def _open(path: Path, mode: str) -> IO[bytes]:
    """Opens a file, compressed as its name says."""
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, mode, compresslevel=6))
    if path.suffix == ".bz2":
        return cast(IO[bytes], bz2.open(path, mode))
    return cast(IO[bytes], path.open(mode))


def load_triples(codex: Codex, /) -> Measured:
    """Loads N-Triples: CoDEx-M again and again, one in twelve triples a label."""
    path = codex.folder / "dump.nt"
    count = _write_triples(path, codex)
    own, details = _load_file(path, snapshot=True)
    details["triples_per_s"] = int(count / own * 1000)
    started = time.perf_counter()
    _insert(codex.folder, _triples_of(path))
    bare = 1000 * (time.perf_counter() - started)
    path.unlink()
    return Measured([own], [bare], details={"triples": count, **details})


def load_documents(suffix: str, codex: Codex, /) -> Measured:
    """Loads a JSON dump, plain or compressed."""
    path = codex.folder / f"dump.json{suffix}"
    count = _write_documents(path, codex)
    own, details = _load_file(path)
    details["statements_per_s"] = int(count / own * 1000)
    started = time.perf_counter()
    _insert(codex.folder, _claims_of(path))
    bare = 1000 * (time.perf_counter() - started)
    path.unlink()
    return Measured([own], [bare], details={"statements": count, **details})


def _load_file(path: Path, *, snapshot: bool = False) -> tuple[float, dict[str, Detail]]:
    """Loads into a file of its own, which is deleted afterwards."""
    database = path.parent / "dump.db"
    try:
        own, details = run_load(path, store=f"sqlite:///{database}", graph="dump")
        details["store_mb"] = database.stat().st_size // 1_000_000
        return own, {**details, **(_snapshot(database) if snapshot else {})}
    finally:
        for one in path.parent.glob("dump.db*"):
            one.unlink()


def _write_triples(path: Path, codex: Codex) -> int:
    rows = read_rows(codex.triples("m"))
    entities = sorted({id_ for head, _, tail in rows for id_ in (head, tail)})
    labels = labels_there_are(data_folder(codex)) or entities
    count = copy = 0
    with path.open("w", encoding="utf-8") as file:
        while count < TRIPLES:
            lines = [
                f"<{ENTITY}{id_}{copy:03d}> <{_LABEL}> "
                f'"{labels[(place + 7919 * copy) % len(labels)]}"@en .\n'
                for place, id_ in enumerate(entities)
            ]
            lines.extend(
                f"<{ENTITY}{head}{copy:03d}> <{DIRECT}{relation}> <{ENTITY}{tail}{copy:03d}> .\n"
                for head, relation, tail in rows
            )
            file.writelines(lines[: TRIPLES - count])
            count += min(len(lines), TRIPLES - count)
            copy += 1
    return count


def labels_there_are(data: Path, /) -> list[str]:
    """Returns real labels, none where their file is not there."""
    path = data / _LABELS_FILE
    if not path.is_file():
        return []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        texts = (line.split("\t")[1] for line in file)
        return [text.replace("\\", "").replace('"', "") for text in texts]


def data_folder(codex: Codex, /) -> Path:
    """Returns the folder that holds ``codex/``."""
    return codex.triples("m").parents[1]


def _write_documents(path: Path, codex: Codex) -> int:
    texts: list[tuple[bytes, int]] = []
    folder = data_folder(codex) / _DOCUMENTS
    for found in sorted(folder.glob("[QP]*.json")):
        payload = orjson.loads(found.read_bytes())
        documents = payload.get("entities", {payload.get("id", ""): payload})
        for id_, document in documents.items():
            claims = document.get("claims")
            if _ITEM.fullmatch(id_) and document.get("id") == id_ and isinstance(claims, dict):
                document["claims"] = kept = _each_once(claims)
                texts.append((orjson.dumps(document), sum(map(len, kept.values()))))
    if not texts:
        raise SetupError(
            f"expected documents of Wikidata in {folder}, to make a dump of",
            hint="Name the folder that holds codex/ and wikidata_docs/: --data FOLDER",
        )
    count = copy = 0
    with _open(path, "wb") as file:
        file.write(b"[\n")
        while count < STATEMENTS:
            renamed = rb'"id":"\g<1>%03d\g<2>' % copy
            for text, claims in texts:
                file.write((b",\n" if count else b"") + _ITEM_ID.sub(renamed, text))
                count += claims
            copy += 1
        file.write(b"\n]\n")
    return count


def _each_once(claims: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Returns the statements of a document, of those of one id the last alone.

    One document has an id twice, and a load that leaves a statement out ends with an error.
    """
    relations = {one["id"]: relation for relation, of_one in claims.items() for one in of_one}
    return {
        relation: list(
            {one["id"]: one for one in of_one if relations[one["id"]] == relation}.values()
        )
        for relation, of_one in claims.items()
    }


def run_load(path: Path, /, *, store: str, graph: str) -> tuple[float, dict[str, Detail]]:
    """Runs the load command; returns milliseconds, and the most memory that its processes held."""
    command = [sys.executable, "-m", "graph_service.cli", "load", str(path), "--graph", graph]
    answer, elapsed, peak = _run([*command, "--store", store, "--json", "--quiet"], path.parent)
    counts = orjson.loads(answer)["graph"]["counts"]
    details: dict[str, Detail] = {
        "stored": counts["statements"],
        "entities": counts["entities"],
        "file_mb": path.stat().st_size // 1_000_000,
    }
    if peak:
        details["peak_mb"] = peak // 1_000_000
    return elapsed, details


def _run(command: Sequence[str], folder: Path) -> tuple[bytes, float, int]:
    """Returns what a command prints, its milliseconds, and the bytes that its processes held."""
    started = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=folder) as process:
        memory = _PeakMemory(process.pid)
        answer, _ = process.communicate()
        peak = memory.end()
    elapsed = 1000 * (time.perf_counter() - started)
    if process.returncode:
        raise SetupError(f"{' '.join(command[2:5])} ended with {process.returncode}")
    return answer, elapsed, peak


_SNAPSHOT = """import sys, time
from graph_service.store.sqlite.store import open_sqlite
with open_sqlite(sys.argv[1]) as store:
    started = time.perf_counter()
    store.build(store.graphs()[0])
    print(time.perf_counter() - started)
"""


def _snapshot(database: Path) -> dict[str, Detail]:
    """Builds the snapshot of a file's one graph, in a process of its own."""
    answer, _, peak = _run([sys.executable, "-c", _SNAPSHOT, str(database)], database.parent)
    return {"snapshot_ms": 1000 * float(answer), "snapshot_peak_mb": peak // 1_000_000}


class _PeakMemory:
    """Watches the memory of a process and its children; on Linux alone."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._peak = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.2):
            self._peak = max(self._peak, _held_by(self._pid))

    def end(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._peak


def _held_by(pid: int) -> int:
    """Returns the bytes of memory of a process and its children, 0 where that can't be read."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        # A load's processes are started by its main thread.
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(_held_by(int(child)) for child in children)


def _triples_of(path: Path) -> Iterator[tuple[str, str, str]]:
    import pyoxigraph

    for quad in pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.N_TRIPLES):
        yield str(quad.subject), str(quad.predicate), str(quad.object)


def _claims_of(path: Path) -> Iterator[tuple[str, str, str]]:
    with _open(path, "rb") as file:
        for line in file:
            text = line.strip().rstrip(b",")
            if text in (b"[", b"]"):
                continue
            document = orjson.loads(text)
            for property_, group in document["claims"].items():
                for claim in group:
                    yield document["id"], property_, orjson.dumps(claim).decode()


def _insert(folder: Path, rows: Iterator[tuple[str, str, str]]) -> None:
    path = folder / "bare-dump.db"
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("CREATE TABLE triple (head TEXT, relation TEXT, tail TEXT)")
        connection.executemany("INSERT INTO triple VALUES (?, ?, ?)", rows)
    connection.close()
    path.unlink()
