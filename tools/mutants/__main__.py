"""``make mutants``: 300 faults drawn at random, each against the tests of its area.

    make mutants SEED=1 N=300

Ended at any moment, it goes on where it was when the same command runs again. All work is done in
copies of the checkout under ``.cache/mutants``. A second run judges again what survived, where the
tests changed, and what stands in a file that changed.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from .draw import AREAS, Mutant, SourceFile, draw, read_sources
from .hunter import JOBS, RESULTS, Job
from .tests_of import RUNNING, Recorded, environment_of, hash_tests, record

ROOT = Path(__file__).resolve().parents[2]
EQUIVALENT = Path(__file__).with_name("equivalent.toml")
# A test has this long, and this many times what it took when it was recorded.
LIMIT_S = 20.0
LIMIT_TIMES = 10.0
FOUND = ("killed", "timed out")
OUTCOMES = (*FOUND, "survived", "uncovered", "equivalent")

Results = dict[str, dict[str, object]]


def main() -> int:
    """Runs or resumes one draw and prints its table."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="the random seed of the draw")
    parser.add_argument("--count", type=int, default=300, help="mutants, as many of each area")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests at once")
    parser.add_argument("--area", action="append", choices=AREAS, help="only this area")
    parser.add_argument("--cache", type=Path, default=ROOT / ".cache" / "mutants")
    parser.add_argument("--without-neo4j", action="store_true", help="leave out the tests on Neo4j")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, _end)
    areas = options.area or list(AREAS)
    cache = options.cache.resolve()
    sources = read_sources(ROOT, areas, cache / "found")
    drawn = draw(sources, seed=options.seed, count=options.count)
    copies = {area: _copy(cache / f"copy-{area}") for area in areas}
    with _without_neo4j() if options.without_neo4j else _neo4j() as neo4j:
        environment = {**environment_of(ROOT), **neo4j}
        records = cache / ("recorded" if "PYTEST_ADDOPTS" not in neo4j else "recorded-sqlite")
        recorded = record(copies, records, environment, workers=options.workers)
        for area in areas:
            if recorded[area].failed:
                failed = ", ".join(recorded[area].failed)
                print(f"{area}: these tests fail on the code as it is and judge nothing: {failed}")
        kept = cache / f"seed-{options.seed}.jsonl"
        hunts = _prepare(sources, drawn, recorded, copies, kept)
        with ThreadPoolExecutor(options.workers) as pool:
            list(pool.map(lambda area: _hunt(area, hunts[area], copies[area], kept, environment),
                          sorted(hunts, key=lambda area: -len(hunts[area]))))  # fmt: skip
    _report(drawn, _read(kept), cache / f"seed-{options.seed}-survivors.diff")
    return 0


def _end(number: int, _frame: object) -> None:
    """Ends the processes that run tests, and then this one; the server ends with it."""
    for process in RUNNING:
        process.terminate()
    os._exit(128 + number)


def _copy(to: Path) -> Path:
    """Copies the checkout's files that git knows or does not ignore."""
    shutil.rmtree(to, ignore_errors=True)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    return to


@contextmanager
def _without_neo4j() -> Iterator[dict[str, str]]:
    yield {"PYTEST_ADDOPTS": "-m 'not neo4j'"}


@contextmanager
def _neo4j() -> Iterator[dict[str, str]]:
    """One server for all tests, empty at the start; nothing where it cannot be had."""
    sys.path.insert(0, str(ROOT / "tests"))
    from neo4j_server import ENVIRONMENT, Neo4jMissing, start_server

    if ENVIRONMENT in os.environ:
        yield {}
        return
    try:
        server = start_server()
    except Neo4jMissing as reason:
        print(f"The tests on Neo4j are left out: {reason}")
        with _without_neo4j() as left_out:
            yield left_out
        return
    try:
        address = server.url.removeprefix("bolt://")
        yield {ENVIRONMENT: f"bolt://{server.username}:{server.password}@{address}"}
    finally:
        server.stop()


def _read(kept: Path) -> Results:
    """Returns the last result of each mutant; a line that was cut off counts as none."""
    results: Results = {}
    for line in kept.read_text(encoding="utf-8").splitlines() if kept.is_file() else ():
        try:
            result = json.loads(line)
        except json.JSONDecodeError:
            continue
        results.setdefault(result["mutant"], {}).update(result)
    return results


def _prepare(
    sources: Mapping[str, SourceFile],
    drawn: Sequence[Mutant],
    recorded: Mapping[str, Recorded],
    copies: Mapping[str, Path],
    kept: Path,
) -> dict[str, list[Job]]:
    """Returns what is to be judged, by area, and notes what no test runs."""
    results = _read(kept)
    tests = {area: hash_tests(copies[area], area) for area in recorded}
    hunts: dict[str, list[Job]] = {area: [] for area in recorded}
    equivalent = _equivalent()
    lines: list[dict[str, str]] = []
    for path, file in sources.items():
        wanted = []
        for mutant in (each for each in drawn if each.path == path):
            known = results.get(mutant.key, {})
            same = known.get("source") == file.digest
            if mutant.key in equivalent or (
                same and (known.get("outcome") in FOUND or known.get("judges") == tests[file.area])
            ):
                continue
            wanted.append(mutant)
        for mutant, text in zip(wanted, file.mutate(wanted), strict=True):
            record = recorded[file.area]
            chosen = record.tests_of(mutant)
            judges = tests[file.area]
            note = {"mutant": mutant.key, "source": file.digest, "diff": _diff(file, text)}
            outcome = "" if _compiles(text, path) else "invalid"
            if not chosen:
                outcome = outcome or "uncovered"
            if outcome:
                lines.append({**note, "judges": judges, "outcome": outcome})
                continue
            lines.append({**note, "judges": "", "outcome": ""})
            limits = [LIMIT_S + LIMIT_TIMES * record.seconds[test] for test in chosen]
            anew = not mutant.outer or record.is_imported(mutant)
            hunts[file.area].append(
                Job(mutant.key, path, mutant.outer, anew, file.text, text, chosen, limits, judges)
            )
    with kept.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)
    # Those of quick tests first: most of the count stands early.
    return {
        area: sorted(jobs, key=lambda job: sum(job.limits)) for area, jobs in hunts.items() if jobs
    }


def _compiles(text: str, path: str) -> bool:
    try:
        compile(text, path, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _diff(file: SourceFile, text: str) -> str:
    lines = difflib.unified_diff(
        file.text.splitlines(True), text.splitlines(True), file.path, file.path, n=2
    )
    return "".join(lines)


def _hunt(
    area: str, jobs: Sequence[Job], copy: Path, kept: Path, environment: Mapping[str, str]
) -> None:
    """Judges an area's mutants in one process, over one copy."""
    print(f"{area}: {len(jobs)} mutants to judge", flush=True)
    given = copy.with_suffix(".jobs")
    given.write_bytes(pickle.dumps(jobs))
    files = sorted({test.split("::")[0] for job in jobs for test in job.tests})
    log = copy.with_suffix(".log")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.mutants.hunter"]
    command += ["-p", "no:faulthandler", "-p", "no:cacheprovider", *files]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            cwd=copy,
            env={**environment, "PYTHONPATH": str(copy), JOBS: str(given), RESULTS: str(kept)},
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
        RUNNING.append(process)
        code = process.wait()
    judged = _read(kept)
    lacking = [job.key for job in jobs if not judged[job.key]["outcome"]]
    if lacking:
        raise RuntimeError(
            f"{area}: {len(lacking)} mutants were not judged (exit code {code}): see {log}"
        )


def _equivalent() -> dict[str, str]:
    """The mutants proven to change nothing, with the reason of each."""
    if not EQUIVALENT.is_file():
        return {}
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8")).get("equivalent", [])
    return {row["key"]: row["reason"] for row in rows}


def _report(drawn: Sequence[Mutant], results: Results, diffs: Path) -> None:
    equivalent = _equivalent()
    counts = {area: Counter[str]() for area in AREAS}
    survivors = []
    for mutant in drawn:
        result = results[mutant.key]
        outcome = "equivalent" if mutant.key in equivalent else str(result["outcome"])
        counts[mutant.area][outcome] += 1
        if outcome in ("survived", "uncovered"):
            where = f"{mutant.path}:{mutant.first} {mutant.function} {mutant.operator}"
            survivors.append(f"# {mutant.key} {outcome} {where}\n{result['diff']}\n")
    diffs.write_text("".join(survivors), encoding="utf-8")
    print("  ".join(["area".ljust(9), "drawn", *OUTCOMES, "share found, 95 % interval"]))
    for area, count in [*counts.items(), ("all", sum(counts.values(), Counter[str]()))]:
        if not count.total():
            continue
        cells = [str(count[outcome]).rjust(len(outcome)) for outcome in OUTCOMES]
        counted = count.total() - count["equivalent"] - count["invalid"]
        share = _share(sum(count[outcome] for outcome in FOUND), counted)
        print("  ".join([area.ljust(9), str(count.total()).rjust(5), *cells, share]))
    print(f"Those that no test found are in {diffs}")


def _share(found: int, of: int) -> str:
    """The share in per cent with Wilson's interval."""
    if not of:
        return "-"
    z, share = 1.959964, found / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return f"{share:.1%} ({middle - half:.1%} to {middle + half:.1%})"


if __name__ == "__main__":
    sys.exit(main())
