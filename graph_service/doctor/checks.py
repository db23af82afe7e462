"""``graph-service doctor``: what is installed, what answers, and the command that mends each fault.

Every check is a function that returns ``Check`` values and raises nothing that a broken
installation could cause; the command line prints them. They stand in one file, long as it is,
because they share nothing but ``Check`` and are read as a list.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shlex
import sqlite3
import sys
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING

import graph_service
from graph_service.errors import GraphServiceError, InputError
from graph_service.settings import SETTINGS, Settings, read_settings

if TYPE_CHECKING:
    from graph_service.embed.protocol import Embedder
    from graph_service.model.graph_info import UnfinishedLoad
    from graph_service.store.protocol import Store

DISTRIBUTION = "graph-service"
MIN_PYTHON = (3, 11)
OUR_PACKAGES: Mapping[str, tuple[str, ...]] = {
    "loaders": ("load.py", "options.py"),
    "queries": ("generate/answer.py", "score/run.py"),
}
"""Packages beside ``graph_service``, with files by which ours is known. An unrelated ``queries`` on
the package index overwrites ours without a warning if it is installed beside it."""
GOLDEN_COSINES: Mapping[tuple[str, str], float] = {
    ("place of birth", "Where was she born?"): 0.6398,
    ("place of birth", "award received"): 0.13721,
    ("award received", "capital"): 0.16591,
}
"""Of all-MiniLM-L6-v2, to 1e-5."""
_COSINE_TOLERANCE = 1e-4
MAX_CHECKED_BYTES = 256 * 2**20
"""Size up to which ``doctor`` has SQLite check the structure of a store's file."""
_SECRETS = frozenset({"api_key", "model_key", "neo4j_password"})
_REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?\s*(?:>=\s*([0-9][0-9.]*))?")
_CREDENTIALS = re.compile(r"^([^:/]+://).*@", re.DOTALL)
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")


EXTRAS: Mapping[str, str] = {
    "cluster": "draw views on a cluster, by Spark Connect or Sail",
    "amr": "read questions with AMR",
    "deepeval": "export answers to deepeval",
    "excel": "load Excel files",
    "experiment": "draw the figures of experiments",
    "haystack": "retrieve from Haystack",
    "inspect": "evaluate models by tasks of inspect_ai",
    "langchain": "retrieve from LangChain",
    "llamaindex": "retrieve from LlamaIndex",
    "mcp": "serve tools by MCP",
    "multilingual": "ask in a language that the labels lack",
    "object-storage": "push and pull snapshots to S3",
    "otel": "send traces by OpenTelemetry",
    "parquet": "load Parquet files",
    "pcst": "let pcst-fast compete in subgraphs",
    "ragas": "export answers to ragas",
    "sentence-transformers": "use encoders of other kinds (torch, 5 GB)",
    "zstd": "read zstd files",
}
"""What each extra is installed for."""


class State(StrEnum):
    """Whether a check found a fault.

    ``WARN``: everything works but not as it could. ``ABSENT``: what is optional is not installed.
    """

    OK = "ok"
    ABSENT = "absent"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found.

    Attributes:
        name: Of what was checked.
        state: ``ok``, ``absent``, ``warn`` or ``fail``.
        detail: What was found, in words; of what is absent what it is for.
        fix: The command that mends or installs it; empty where there is nothing to do.
    """

    name: str
    state: State
    detail: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class ShownSetting:
    """A setting and its value, secrets masked.

    Attributes:
        name: Field of ``Settings``.
        variable: Environment variable.
        value: As it is now, as text.
        default: As text; empty for none.
        given: Whether the environment gives it.
        help: What it does.
    """

    name: str
    variable: str
    value: str
    default: str
    given: bool
    help: str


def check_installation(settings: Settings, /) -> list[Check]:
    """Returns all checks, in the order in which faults should be mended."""
    return [
        check_python(),
        *check_packages(),
        *(check_ours(name) for name in OUR_PACKAGES),
        check_search_index(),
        check_solver(),
        *check_model(settings),
        check_vector_file(settings),
        *check_store(settings),
    ]


# Settings


def check_settings(read: Callable[[], Settings], /) -> tuple[Settings, Check]:
    """Returns the settings, and whether they can be read; the defaults where not."""
    try:
        settings = read()
    except InputError as error:
        return Settings(), Check(
            "settings",
            State.FAIL,
            f"{error.message}; the defaults are used below",
            f"unset {error.argument}" if error.argument else "graph-service doctor --settings",
        )
    variables = [row.variable for row in SETTINGS if os.environ.get(row.variable)]
    return settings, Check(
        "settings",
        State.OK,
        f"from the environment: {', '.join(variables)}" if variables else "defaults",
    )


def listed_settings(environment: Mapping[str, str] | None = None, /) -> list[ShownSetting]:
    """Returns every setting with its value; a secret shows only whether it is there.

    Raises:
        InputError: A number is none.
    """
    env = os.environ if environment is None else environment
    settings = read_settings(env)
    return [
        ShownSetting(
            row.name,
            row.variable,
            masked(row.name, _as_text(getattr(settings, row.name))),
            row.default,
            bool(env.get(row.variable)),
            row.help,
        )
        for row in SETTINGS
    ]


def masked(name: str, value: str, /) -> str:
    """Returns the value of a setting as it may be shown: no keys, no passwords in addresses.

    >>> masked("neo4j_uri", "bolt://me:secret@db.example:7687")
    'bolt://***@db.example:7687'
    """
    if name in _SECRETS:
        return "***" if value else ""
    if value.lower().startswith("sqlite:"):
        return value
    # Up to the last @, since a password may hold any character where its owner did not escape it.
    return _CREDENTIALS.sub(r"\1***@", value)


def _as_text(value: str | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


# What is installed


def check_python() -> Check:
    """Returns whether this Python is new enough."""
    detail = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < MIN_PYTHON:
        minimum = ".".join(map(str, MIN_PYTHON))
        return Check("python", State.FAIL, f"{detail}; {minimum} or newer is needed", "make setup")
    return Check("python", State.OK, detail)


def check_packages(distribution: Distribution | None = None, /) -> list[Check]:
    """Returns one check for what is required, and one for each extra.

    Args:
        distribution: Whose requirements; ours by default.
    """
    if distribution is None:
        try:
            distribution = importlib.metadata.distribution(DISTRIBUTION)
        except importlib.metadata.PackageNotFoundError:
            return [
                Check(
                    "packages",
                    State.WARN,
                    f"{DISTRIBUTION} runs from its source and is not installed, "
                    "so its requirements are not known here",
                    "pip install --editable .",
                )
            ]
    required: list[str] = []
    extras: dict[str, list[str]] = {}
    for line in distribution.requires or ():
        extra = _EXTRA.search(line)
        if extra:
            extras.setdefault(extra[1], []).append(line)
        else:
            required.append(line)
    checks = [_check_required(distribution.version, required)]
    for name, lines in sorted(extras.items()):
        others = {
            package for other in extras if other != name for package in _packages(extras[other])
        }
        checks.append(_check_extra(name, lines, of_others=others))
    return checks


def _check_required(version: str, lines: Sequence[str]) -> Check:
    versions, faults = _installed(lines)
    if faults:
        return Check(
            "packages",
            State.FAIL,
            f"{DISTRIBUTION} {version} needs {', '.join(faults)}",
            f"pip install --upgrade {DISTRIBUTION}",
        )
    return Check("packages", State.OK, f"{DISTRIBUTION} {version}; {', '.join(versions)}")


def _packages(lines: Sequence[str]) -> list[str]:
    """Returns the names of the packages that some requirements are of."""
    return [match[1] for line in lines if (match := _REQUIREMENT.match(line))]


def _check_extra(name: str, lines: Sequence[str], *, of_others: AbstractSet[str]) -> Check:
    """Checks an extra. One of which nothing is there but what other extras need was not chosen."""
    own = [line for line in lines if not set(_packages([line])) <= of_others]
    versions, faults = _installed(lines)
    install = f'pip install "{DISTRIBUTION}[{name}]"'
    if not versions or (own and not _installed(own)[0]):
        return Check(f"extra {name}", State.ABSENT, EXTRAS.get(name, name), install)
    if faults:
        return Check(f"extra {name}", State.WARN, f"needs {', '.join(faults)}", install)
    return Check(f"extra {name}", State.OK, ", ".join(versions))


def _installed(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Returns the requirements that are there with their versions, and what is wrong."""
    versions, faults = [], []
    for line in lines:
        match = _REQUIREMENT.match(line)
        if match is None:
            continue
        name, least = match[1], match[2]
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            faults.append(f"{name}, which is not installed")
            continue
        versions.append(f"{name} {version}")
        if least and _numbers(version) < _numbers(least):
            faults.append(f"{name} {least} or newer, got {version}")
    return versions, faults


def _numbers(version: str) -> tuple[int, ...]:
    """Returns the leading numbers of a version; what follows them does not decide here."""
    numbers = []
    for part in version.split("."):
        digits = re.match(r"\d+", part)
        if digits is None:
            break
        numbers.append(int(digits[0]))
    return tuple(numbers)


def check_ours(
    name: str,
    /,
    *,
    root: Path | None = None,
    distribution: Distribution | None = None,
) -> Check:
    """Returns whether the package of a name that Python imports is ours.

    Ours lies beside ``graph_service`` and has its files; where they were installed from a wheel,
    their hashes must be those that the installer recorded, since another package of the name may
    have been written over ours.

    Args:
        name: ``loaders`` or ``queries``.
        root: Folder of ``graph_service``'s folder; found by default.
        distribution: What the installer recorded; found by default.
    """
    where = root or Path(graph_service.__file__).resolve().parent.parent
    fix = (
        f"pip uninstall --yes {name}; pip install --force-reinstall --no-deps {DISTRIBUTION} "
        "(from a checkout: pip install --editable .)"
    )
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return Check(name, State.FAIL, f"the package {name} is missing beside {where}", fix)
    folder = Path(spec.origin).resolve().parent
    if folder != where / name:
        return Check(
            name,
            State.FAIL,
            f"Python imports another package of that name, {folder}; ours is {where / name}",
            fix,
        )
    missing = [file for file in OUR_PACKAGES[name] if not (folder / file).is_file()]
    if missing:
        return Check(name, State.FAIL, f"{folder} is not ours: it has no {missing[0]}", fix)
    changed = _overwritten(name, distribution)
    if changed:
        return Check(
            name,
            State.FAIL,
            f"{changed[0]} is not the file that {DISTRIBUTION} installed: another package "
            "was written over it",
            fix,
        )
    others = [
        other
        for other in importlib.metadata.packages_distributions().get(name, ())
        if other.lower() != DISTRIBUTION
    ]
    if others:
        return Check(
            name,
            State.WARN,
            f"ours, at {folder}; but {others[0]} also installs a package of that name",
            f"pip uninstall --yes {others[0]}",
        )
    return Check(name, State.OK, f"ours, at {folder}")


def _overwritten(name: str, distribution: Distribution | None) -> list[str]:
    """Returns the files of a package that are not as the installer recorded them."""
    if distribution is None:
        try:
            distribution = importlib.metadata.distribution(DISTRIBUTION)
        except importlib.metadata.PackageNotFoundError:
            return []
    changed = []
    for file in distribution.files or ():
        if file.parts[:1] != (name,) or file.suffix != ".py" or file.hash is None:
            continue
        if file.hash.mode != "sha256":
            continue
        target = Path(str(distribution.locate_file(file)))
        if not target.is_file():
            changed.append(str(file))
            continue
        digest = base64.urlsafe_b64encode(hashlib.sha256(target.read_bytes()).digest())
        if digest.rstrip(b"=").decode() != file.hash.value:
            changed.append(str(file))
    return changed


# What works


def check_search_index() -> Check:
    """Returns whether SQLite has the full-text index that search needs."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(tokens)")
    except sqlite3.OperationalError as error:
        return Check(
            "sqlite",
            State.FAIL,
            f"SQLite {sqlite3.sqlite_version} has no FTS5: {error}",
            "make setup PYTHON=... (a Python whose sqlite3 has FTS5: python.org's, or your "
            "system's)",
        )
    finally:
        connection.close()
    return Check("sqlite", State.OK, f"SQLite {sqlite3.sqlite_version} with FTS5")


def check_solver() -> Check:
    """Returns whether the tree solvers solve their known case."""
    import numpy as np

    from graph_service.retrieve.tree.solver import solve, solver_report

    nodes = np.arange(4, dtype=np.int64)
    prizes = np.array([5.0, 0.0, 5.0, 0.0])
    tree = solve(nodes[:-1], nodes[1:], prizes=prizes, costs=np.ones(3))
    if tree.nodes.tolist() != [0, 1, 2] or tree.edges.tolist() != [0, 1]:
        return Check(
            "solver",
            State.FAIL,
            f"our own solver fails its known case: expected nodes 0, 1, 2, got {tree.nodes}",
            f"pip install --force-reinstall --no-deps {DISTRIBUTION}",
        )
    report = solver_report()
    if not report.healthy:
        return Check(
            "solver",
            State.WARN,
            report.reason.partition(" Mend it with:")[0],
            "pip install --force-reinstall --no-deps --no-binary pcst-fast pcst-fast",
        )
    return Check("solver", State.OK, f"{report.name}: {report.reason}")


def check_model(settings: Settings, /) -> list[Check]:
    """Returns whether the embedder's weights are there, and whether they embed as they should."""
    from graph_service.embed import is_minilm, open_embedder
    from graph_service.embed.weights import find_model

    if not is_minilm(settings.embedder):
        return [_check_other_model(settings.embedder)]
    try:
        model = find_model(Path(settings.model_dir) if settings.model_dir else None)
        embedder = open_embedder("minilm", model_dir=model.path)
    except GraphServiceError as error:
        return [Check("model", State.FAIL, error.message, _command(error))]
    return [
        Check("model", State.OK, f"all-MiniLM-L6-v2 in {model.path} ({model.origin}), verified"),
        check_embedding(embedder),
    ]


def _check_other_model(name: str) -> Check:
    from graph_service.embed import (
        MULTILINGUAL,
        has_sentence_transformers,
        model_folder,
        open_embedder,
    )
    from graph_service.embed.multilingual import packaged_file

    folder = packaged_file() if name == MULTILINGUAL else model_folder(name)
    if folder is not None or name == MULTILINGUAL:
        try:
            embedder = open_embedder(name)
            embedder.encode([""])
        except GraphServiceError as error:
            return Check("model", State.FAIL, error.message, _command(error))
        return Check(
            "model", State.OK, f"{embedder.name} in {folder}, {embedder.dimension} numbers"
        )
    if not has_sentence_transformers():
        return Check(
            "model",
            State.FAIL,
            f"embedder {name!r} needs the package sentence-transformers",
            f'pip install "{DISTRIBUTION}[sentence-transformers]"',
        )
    return Check("model", State.OK, f"{name!r} through sentence-transformers; loaded at first use")


def check_embedding(embedder: Embedder, /) -> Check:
    """Returns whether MiniLM's cosines are those that were recorded."""
    from graph_service.embed import cosine

    for (first, second), expected in GOLDEN_COSINES.items():
        vectors = embedder.encode([first, second])
        got = float(cosine(vectors[:1], vectors[1])[0])
        # Written so that a cosine that is no number fails too.
        if not abs(got - expected) <= _COSINE_TOLERANCE:
            return Check(
                "embedding",
                State.FAIL,
                f"cosine of {first!r} and {second!r} is {got}, expected {expected}",
                "pip install --force-reinstall numpy tokenizers safetensors",
            )
    return Check("embedding", State.OK, f"{len(GOLDEN_COSINES)} cosines as recorded")


def check_vector_file(settings: Settings, /) -> Check:
    """Returns whether the file of text vectors can be written; makes nothing."""
    from graph_service.embed.vector_file import VectorFile

    path = settings.vector_file
    fix = "export GRAPH_SERVICE_VECTORS=FILE (in a folder that can be written)"
    if not path.exists():
        folder = next((parent for parent in path.absolute().parents if parent.exists()), None)
        if folder is None or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
            return Check(
                "vector file",
                State.WARN,
                f"{path} can't be made: {folder} can't be written; vectors are kept in memory",
                fix,
            )
        return Check("vector file", State.OK, f"{path}, made at first use")
    try:
        with VectorFile(path) as file:
            count, reason = file.count(), file.read_only
            damaged = file.count_damaged()
    except GraphServiceError as error:
        return Check("vector file", State.FAIL, error.message, error.hint or fix)
    if damaged:
        return Check(
            "vector file",
            State.WARN,
            f"{path} has {damaged:,} damaged vectors of {count:,}; each is computed again when it "
            "is read",
            f"rm {shlex.quote(str(path))}  (all are computed again; check the disk too)",
        )
    if reason is None and not os.access(path, os.W_OK):
        reason = "its permissions do not allow it"
    if reason:
        return Check(
            "vector file",
            State.WARN,
            f"{path} has {count:,} vectors and can't be written: {reason}; "
            "new ones are kept in memory",
            fix,
        )
    return Check("vector file", State.OK, f"{path}, {count:,} vectors")


def check_store(settings: Settings, /) -> list[Check]:
    """Returns whether the store that the settings name answers, and what it holds.

    A file that is not there is not made.
    """
    from graph_service.service import open_configured_store
    from graph_service.store import SQLITE_SCHEME, open_store
    from graph_service.store.sqlite.frozen import is_frozen

    url = settings.store_url
    shown = masked("store", url)
    path = Path(url[len(SQLITE_SCHEME) :]) if url.lower().startswith(SQLITE_SCHEME) else None
    try:
        if path is not None and path.name and not path.exists():
            folder = path.absolute().parent
            if not folder.is_dir():
                return [
                    Check("store", State.FAIL, f"{shown}: there is no folder {folder}",
                          f"mkdir -p {folder}")
                ]  # fmt: skip
            return [
                Check(
                    "store",
                    State.WARN,
                    f"{shown}: there is no file yet; the first load makes it",
                    "graph-service load SOURCE --graph NAME",
                )
            ]
        opened = open_store(url, read_only=True) if path else open_configured_store(settings)
        with opened as store:
            store.ping()
            frozen = path is not None and is_frozen(path)
            checks = _describe_store(store, shown, settings.graph, can_write=not frozen)
            return [*checks, _check_structure(store, path)]
    except GraphServiceError as error:
        message = error.message.replace(url, shown)
        return [Check("store", State.FAIL, f"{shown}: {message}", _command(error))]


def _describe_store(store: Store, shown: str, graph: str, /, *, can_write: bool) -> list[Check]:
    graphs = store.graphs()
    names = ", ".join(
        f"{info.name} ({info.counts.entities:,} entities, {info.counts.statements:,} statements)"
        for info in graphs
    )
    note = "" if can_write else "; it can only be read: this user may not write it, or its folder"
    checks = [Check("store", State.OK, f"{shown} answers{note}")]
    load = "graph-service load SOURCE --graph NAME"
    if not graphs:
        checks.append(Check("graphs", State.WARN, "the store has no graph yet", load))
    elif graph and graph not in {info.name for info in graphs}:
        checks.append(
            Check("graphs", State.FAIL, f"there is no graph {graph!r}; there are: {names}",
                  f"graph-service load SOURCE --graph {graph}")
        )  # fmt: skip
    else:
        checks.append(Check("graphs", State.OK, names))
    checks.extend(_check_load(unfinished) for unfinished in store.unfinished_loads())
    return checks


def _check_structure(store: Store, path: Path | None) -> Check:
    """Returns whether the engine finds its own structure sound; contents take ``verify``."""
    verify = "graph-service verify"
    if path is not None and path.stat().st_size > MAX_CHECKED_BYTES:
        return Check(
            "damage",
            State.OK,
            f"not looked for in a file of more than {MAX_CHECKED_BYTES >> 20} MiB: {verify}",
        )
    faults = [part.fault for part in store.inspect_all() if part.fault]
    if faults:
        return Check("damage", State.FAIL, "; ".join(faults), verify)
    return Check("damage", State.OK, f"the structure is sound; {verify} checks the contents")


def _check_load(load: UnfinishedLoad) -> Check:
    graph = load.edition.rpartition("@")[0]
    detail = f"a load of {load.source} into {graph}, {load.statements:,} statements so far"
    if datetime.fromisoformat(load.lease_expires_at) > datetime.now(UTC):
        return Check("loads", State.OK, f"{detail}, is under way by {load.owner}")
    return Check(
        "loads",
        State.WARN,
        f"{detail}, was left unfinished by {load.owner}",
        f"graph-service load {load.source} --graph {graph}",
    )


def _command(error: GraphServiceError) -> str:
    return (error.hint or "").removeprefix("Run: ")
