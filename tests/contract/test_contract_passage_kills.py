"""A load of passages that is killed anywhere goes on where it was, on both stores (L6)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from graphs import load_graph

from graph_service.store.protocol import Store

ROOT = Path(__file__).parents[2]

# Imports once and forks for each load. The child kills itself at the nth step that it comes to:
# before and after each transaction, and at each chunk that publishing reads.
PROGRAM = """
import json, os, signal, sys
from pathlib import Path
from graph_service.store import open_store
from graph_service.store.neo4j.passages import Neo4jPassages, Neo4jPassageSession
from graph_service.store.sqlite.passages import SqlitePassages, SqlitePassageSession
from loaders.passages.load import PassageOptions, load_passages

class Linker:
    def by_id(self, id_): return id_
    def titled(self, title, context): return None

def load(graph, source, rejects, step):
    left = step
    def pass_by():
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    def around(kind, name):
        whole = getattr(kind, name)
        def run(*arguments, **options):
            pass_by()
            result = whole(*arguments, **options)
            pass_by()
            return result
        setattr(kind, name, run)
    for session in (Neo4jPassageSession, SqlitePassageSession):
        for name in ("write", "publish"):
            around(session, name)
    for passages in (Neo4jPassages, SqlitePassages):
        around(passages, "scan")
        around(passages, "drop_marked")
    with open_store(
        os.environ["TEST_STORE_URL"],
        username=os.environ.get("TEST_STORE_USERNAME"),
        password=os.environ.get("TEST_STORE_PASSWORD"),
        database=os.environ.get("TEST_STORE_DATABASE"),
    ) as store:
        options = PassageOptions(batch_size=16, max_words=8, rejects_path=Path(rejects))
        report = load_passages(
            source, store=store, graph=graph, linker=Linker(), options=options
        )
    print(json.dumps(report.to_json()), flush=True)

for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        load(*json.loads(line))
        os._exit(0)
    print(json.dumps({"ended": os.waitpid(pid, 0)[1]}), flush=True)
"""


def test_killed_at_every_step(
    store: Store, graph_name: str, environment_of_store: dict[str, str], tmp_path: Path
) -> None:
    """L6: each run is killed one or a few steps further on; nothing is seen of the set until it
    is published, and then it is the set of an unbroken load, with its counts and rejects.
    """
    load_graph(store, graph_name, [("Q1", "P1", "Q2")])
    source = tmp_path / "documents.jsonl"
    lines = [
        json.dumps({"title": f"T{n}", "text": f"One two three {n}. Four five six seven eight {n}."})
        for n in range(40)
    ]
    source.write_text("\n".join([*lines[:20], "{bad", *lines[20:]]))
    path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
    environment = {**os.environ, **environment_of_store, "PYTHONPATH": path}
    kills = 0
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as loads:
        asked, told = loads.stdin, loads.stdout
        assert asked is not None
        assert told is not None

        def load(rejects: str, step: int) -> dict[str, object]:
            request = [graph_name, str(source), str(tmp_path / rejects), step]
            print(json.dumps(request), file=asked, flush=True)
            report: dict[str, object] = {}
            while "ended" not in (said := json.loads(told.readline())):
                report = said
            assert said["ended"] == (0 if report else signal.SIGKILL)
            return report

        whole = load("whole.jsonl", 0)
        store.passages.delete(graph_name)
        step = 1
        while not load("killed.jsonl", step):
            kills += 1
            sets = store.passages.sets(graph=graph_name)
            assert len(sets) <= 2
            published = [one for one in sets if one.published]
            assert all(one.fingerprint == whole["fingerprint"] for one in published)
            if published:
                # Killed behind its end: what is published stands, and would be loaded again.
                break
            step = step % 9 + 1
        asked.close()
    (only,) = [one for one in store.passages.sets(graph=graph_name) if one.published]
    assert only.fingerprint == whole["fingerprint"]
    assert only.passages == 80
    assert only.report["documents"] == whole["documents"] == 40
    assert only.report["rejected"] == 1
    assert (tmp_path / "killed.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
    assert kills >= 5
