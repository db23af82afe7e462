"""Which tests run which lines: the tests of each area, recorded with coverage.py.

What was recorded of a test file is kept until that file, the tests' own modules or a source that
the file's tests run change. A fixture that several tests share counts as run by each of them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from .draw import AREAS, Mutant
from .sources import hash_source

TESTS = {
    "retrieve": [
        "tests/unit/test_retrieve_*.py",
        "tests/unit/test_service_retrieve*.py",
        "tests/unit/test_learned_*.py",
        "tests/unit/test_constraints_*.py",
        "tests/unit/test_explain.py",
        "tests/unit/test_*question*.py",
        "tests/unit/test_deadlines.py",
        "tests/property/test_retrieve_*.py",
        "tests/golden/test_retrieval.py",
        "tests/contract/test_contract_re[ag]*.py",
        "tests/contract/test_contract_answers.py",
        "tests/contract/test_contract_learned.py",
    ],
    "views": [
        "tests/unit/test_*view*.py",
        "tests/unit/test_scorer_*.py",
        "tests/property/test_views_*.py",
        "tests/unit/test_deadlines.py",
        "tests/golden/test_views_doc.py",
        "tests/contract/test_contract_views.py",
    ],
    "store": [
        "tests/contract/*.py",
        "tests/unit/test_sqlite_*.py",
        "tests/unit/test_store_*.py",
        "tests/unit/test_neo4j_*.py",
        "tests/unit/test_snapshot_*.py",
        "tests/unit/test_property_graph_*.py",
        "tests/unit/test_cli_verify.py",
        "tests/unit/test_worker_pool*.py",
        "tests/unit/test_passages_*.py",
        "tests/unit/test_pageviews*.py",
        "tests/property/test_store_*.py",
        "tests/property/test_passages_*.py",
    ],
    "score": [
        "tests/unit/test_score_*.py",
        "tests/unit/test_own_prompts.py",
        "tests/unit/test_cli_score*.py",
        "tests/property/test_score_*.py",
    ],
    "api": [
        "tests/unit/test_api*.py",
        "tests/unit/test_http_*.py",
        "tests/unit/test_client*.py",
        "tests/unit/test_experiments_shown.py",
        "tests/unit/test_serve_workers.py",
        "tests/golden/test_schema.py",
        "tests/golden/test_api_doc.py",
        "tests/unit/test_options.py",
        "tests/unit/test_question_vector.py",
        "tests/property/test_api_*.py",
        "tests/contract/test_contract_asking.py",
        "tests/contract/test_contract_repeats.py",
    ],
    "server": [
        "tests/unit/test_api_keys.py",
        "tests/unit/test_api_trusted_documents.py",
        "tests/unit/test_experiments_shown.py",
        "tests/unit/test_heartbeat.py",
        "tests/unit/test_http_*.py",
        "tests/unit/test_serve_workers.py",
        "tests/unit/test_shared_state.py",
        "tests/contract/test_contract_kept_answers.py",
        "tests/contract/test_contract_repeats.py",
    ],
}
# They kill processes a hundred times over: minutes for what other tests notice too.
_LEFT_OUT = {
    "tests/contract/test_contract_load_kills.py",
    "tests/contract/test_contract_passage_kills.py",
}
# What a test file's record rests on besides: fixtures and what they read.
_SHARED = ["tests/*.py", "tests/*/conftest.py"]
FILES_OF_A_RUN = 8
RECORD_TIMEOUT_S = 3600
# The processes that run tests.
RUNNING: list[subprocess.Popen[str]] = []


@dataclass(slots=True)
class Recorded:
    """What the tests of an area run.

    Attributes:
        seconds: How long each test takes, by its id.
        lines: The tests that run a line, by path and line.
        imported: The lines that run when the modules are imported, by path.
        failed: The tests that fail on the code as it is, and judge nothing.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    imported: dict[str, set[int]] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Returns the tests that can notice a mutant: first those that run its lines."""
        by_line = self.lines.get(mutant.path, {})
        wanted = range(mutant.first, mutant.last + 1)
        ran = set().union(*(by_line.get(line, ()) for line in wanted))
        # What an import sets up may show in any test, as a type does in the printed schema; also
        # where tests call the function that the import has called.
        found = set(self.seconds) if self.is_imported(mutant) else ran
        if "neo4j" not in mutant.path:
            # Their twins on SQLite show the same in a tenth of the time.
            found = {test for test in found if "neo4j" not in test} or found
        return sorted(found, key=lambda test: (test not in ran, *self._rank(test)))

    def _rank(self, test: str) -> tuple[int, str, float, str]:
        """Quick tests first; those about as quick by file, which share that file's fixtures."""
        seconds = self.seconds[test]
        return math.frexp(max(seconds, 0.01))[1], _file(test), seconds, test

    def is_imported(self, mutant: Mutant) -> bool:
        """Whether the mutant's lines run when its module is imported."""
        lines = self.imported.get(mutant.path, set())
        return any(line in lines for line in range(mutant.first, mutant.last + 1))


def _file(test: str) -> str:
    return test.split("::")[0]


def test_files(root: Path, area: str) -> list[str]:
    """Returns the area's test files, and its modules for their examples, as paths."""
    patterns = [*TESTS[area], f"{AREAS[area]}/**/*.py"]
    found = {path.relative_to(root).as_posix() for each in patterns for path in root.glob(each)}
    return sorted(found - _LEFT_OUT)


def hash_tests(root: Path, area: str) -> str:
    """Returns a hash of everything that judges an area's mutants."""
    files = [root / path for path in test_files(root, area) if path.startswith("tests/")]
    return _hash([*files, *_matching(root, _SHARED)])


def _matching(root: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted(path for each in patterns for path in root.glob(each))


def _hash(paths: Iterable[Path]) -> str:
    hashed = hashlib.blake2b(digest_size=12)
    for path in paths:
        hashed.update(path.name.encode() + b"\0" + path.read_bytes())
    return hashed.hexdigest()


def record(
    copies: Mapping[str, Path], cache: Path, environment: Mapping[str, str], *, workers: int
) -> dict[str, Recorded]:
    """Records what was not recorded yet; returns what the tests of each area run.

    Args:
        copies: A copy of the checkout for each area.
        cache: The folder of what was recorded.
        environment: That of the tests.
        workers: How many processes run tests at once.
    """
    cache.mkdir(parents=True, exist_ok=True)
    kept: dict[str, dict[str, Path]] = {}
    runs: list[tuple[str, list[str]]] = []
    for area, copy in copies.items():
        shared = _hash(_matching(copy, _SHARED))
        kept[area] = {
            path: cache / f"{area}-{_hash([copy / path])}-{shared}-{path.replace('/', '+')}.json"
            for path in test_files(copy, area)
        }
        stale = [path for path, file in kept[area].items() if not _holds(copy, file)]
        runs += [(area, stale[at :: -(-len(stale) // FILES_OF_A_RUN)])
                 for at in range(-(-len(stale) // FILES_OF_A_RUN))]  # fmt: skip
    with ThreadPoolExecutor(workers) as pool:
        list(
            pool.map(
                lambda run: _run(copies[run[0]], run[0], run[1], kept[run[0]], environment), runs
            )
        )
    # A busy machine lets a read exceed its time limit: a test that failed runs again by itself.
    for area, files in kept.items():
        for path in [path for path, file in files.items() if _failed(file)]:
            _run(copies[area], area, [path], files, environment)
    return {area: _read(copies[area], files.values()) for area, files in kept.items()}


def _holds(copy: Path, file: Path) -> bool:
    """Whether the sources that a record's tests run are as they were, and no test failed."""
    if not file.is_file():
        return False
    record = json.loads(file.read_text(encoding="utf-8"))
    return not record["failed"] and all(
        record["sources"][path] == hash_source(copy / path) for path in record["lines"]
    )


def _failed(file: Path) -> bool:
    return bool(json.loads(file.read_text(encoding="utf-8"))["failed"])


def _run(
    copy: Path,
    area: str,
    paths: Sequence[str],
    kept: Mapping[str, Path],
    environment: Mapping[str, str],
) -> None:
    print(f"{area}: recording {len(paths)} files, {paths[0]} first", flush=True)
    wanted = {path: str(kept[path]) for path in paths}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.mutants.recorder", *paths]
    process = subprocess.Popen(
        command,
        cwd=copy,
        env={
            **environment,
            "PYTHONPATH": str(copy),
            "MUTANTS_AREA": str(copy / AREAS[area]),
            "MUTANTS_RECORD": json.dumps(wanted),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    RUNNING.append(process)
    output, _ = process.communicate(timeout=RECORD_TIMEOUT_S)
    lacking = [path for path in paths if not kept[path].is_file()]
    if lacking:
        raise RuntimeError(f"{lacking} could not be recorded: {output[-3000:]}")


def _read(copy: Path, files: Iterable[Path]) -> Recorded:
    whole = Recorded()
    for file in files:
        record = json.loads(file.read_text(encoding="utf-8"))
        whole.seconds.update(record["seconds"])
        whole.failed += record["failed"]
        for path, lines in record["lines"].items():
            by_line = whole.lines.setdefault(path, {})
            for line, tests in lines.items():
                by_line.setdefault(int(line), set()).update(tests)
        for path, imported in record["imported"].items():
            if record["sources"][path] == hash_source(copy / path):
                whole.imported.setdefault(path, set()).update(imported)
    return whole


def environment_of(checkout: Path) -> dict[str, str]:
    """Returns the environment of all runs of tests."""
    data = checkout.parent / "shared" / "data"
    return {
        "GRAPH_SERVICE_TEST_DATA": str(data),
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
