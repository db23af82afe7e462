"""Makes a release: records what later ones are compared with, and builds what users install.

    python -m tools.release

1. It opens the store that the last release wrote, as a test does, and compares the schemas.
2. It writes ``docs/released.graphql`` and ``tests/released/store.db.gz`` anew.
3. It builds a wheel and a source distribution of graph-service and of graph-service-client into
   ``dist/``, beside ``notes.md``: the version's part of ``CHANGELOG.md``.
"""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import orjson

from graph_service import __version__
from graph_service.model.passage import make_passage
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service import open_service
from graph_service.settings import Settings
from graph_service.store import open_store
from graph_service.store.page_views import make_table, save_page_views
from loaders.load import load
from queries.datasets.demo_set import demo_slice
from tools.released_schema import CHANGELOG, RELEASED, ROOT, SCHEMA
from tools.released_schema import main as compare_schemas

FOLDER = ROOT / "tests" / "released"
STORE = FOLDER / "store.db.gz"
FACTS = FOLDER / "store.json"
UPGRADE_TEST = "tests/unit/test_released.py"
DIST = ROOT / "dist"
PROJECTS = (ROOT, ROOT / "client")


def notes_of(version: str, changelog: str, /) -> str:
    """Returns what a changelog says of one version, under the version's name.

    Raises:
        ValueError: It has no dated part of that version, or nothing in it.
    """
    head = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$"
    part = re.search(rf"{head}\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if part is None or not part[1].strip():
        raise ValueError(
            f"CHANGELOG.md has no part of version {version}: rename [Unreleased] to "
            f"[{version}] - YEAR-MONTH-DAY, and begin an empty [Unreleased] above it"
        )
    return f"graph-service {version}\n\n{part[1].strip()}\n"


def build(folder: Path, /) -> list[Path]:
    """Builds both packages into a folder, emptied first; returns the files."""
    shutil.rmtree(folder, ignore_errors=True)
    for project in PROJECTS:
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
        subprocess.run(command, cwd=project, check=True)
    return sorted(folder.iterdir())


def write_store(folder: Path, /) -> Path:
    """Writes a store with a graph, a view, passages and page views; returns its file."""
    path = folder / "store.db"
    with open_store(f"sqlite:///{path}") as store:
        load(demo_slice(), store=store, graph="demo")
        table = make_table({"Q2685": {"2021-01": 2400}}, months=("2021-01",), source="release")
        save_page_views(store, "demo", table)
        with store.passages.begin("demo", source="s", options={}, owner="release") as session:
            session.write([make_passage("Rome is old.", title="Rome", source="s")], checkpoint={})
            session.publish()
    settings = Settings(vectors=str(folder / "vectors.db"), cache_dir=str(folder))
    with open_service(f"sqlite:///{path}", settings=settings) as service:
        service.views.create(ViewSpec(Method.EDGE_DELETION, level=0.1), graph="demo", name="thin")
    return path


def record(path: Path, /) -> None:
    """Keeps a store's file and what it holds."""
    with open_store(f"sqlite:///{path}", read_only=True) as store:
        info = store.graph("demo")
    facts = {
        "tool_version": info.tool_version,
        "statements": info.counts.statements,
        "edges": info.fingerprints.edges,
        "content": info.fingerprints.content,
    }
    FOLDER.mkdir(exist_ok=True)
    FACTS.write_bytes(orjson.dumps(facts, option=orjson.OPT_INDENT_2) + b"\n")
    with path.open("rb") as plain, gzip.GzipFile(STORE, "wb", compresslevel=9, mtime=0) as packed:
        shutil.copyfileobj(plain, packed)


def main() -> int:
    """Checks against the last release, records this one and builds it; returns the exit code."""
    try:
        notes = notes_of(__version__, CHANGELOG.read_text("utf-8"))
    except ValueError as error:
        print(error)
        return 1
    if STORE.exists():
        test = [sys.executable, "-m", "pytest", "-q", UPGRADE_TEST]
        if subprocess.run(test, cwd=ROOT, check=False).returncode:
            print("The store of the last release is not read as it was: nothing is recorded.")
            return 1
    if RELEASED.exists() and compare_schemas():
        return 1
    with tempfile.TemporaryDirectory() as folder:
        record(write_store(Path(folder)))
    shutil.copyfile(SCHEMA, RELEASED)
    print(f"Recorded {RELEASED.relative_to(ROOT)} and {STORE.relative_to(ROOT)}.")
    built = build(DIST)
    (DIST / "notes.md").write_text(notes, encoding="utf-8")
    print("\n".join(f"Built {path.relative_to(ROOT)}." for path in built))
    print("Commit what was recorded. When its tests have passed, tag that commit:")
    print(f"  git tag --annotate v{__version__} --cleanup=whitespace --file dist/notes.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
