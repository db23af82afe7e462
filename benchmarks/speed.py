"""``python -m benchmarks speed``: runs the members that were asked for, one after the other."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import graph_service
from benchmarks.codex import Codex, Load
from benchmarks.figures import Figure, figure
from benchmarks.speed_cases import MEMBERS, Member
from graph_service.errors import InputError, SetupError
from graph_service.settings import Settings

_PACKAGES = ("numpy", "scipy", "networkx", "pcst-fast", "tokenizers", "sentence-transformers")


@dataclass(frozen=True, slots=True)
class Machine:
    """What the figures were taken on.

    Attributes:
        cores: Cores that this process may use.
        versions: Of this package, SQLite and the packages that take part; empty: not installed.
    """

    cores: int
    system: str
    processor: str
    python: str
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class SpeedReport:
    """Everything that one run measured."""

    machine: Machine
    figures: tuple[Figure, ...]


def chosen_members(names: Sequence[str], /, members: Sequence[Member] = MEMBERS) -> list[Member]:
    """Returns the members whose names begin with one of those given; all where none is.

    Those that are measured by name alone come where a name begins no other member's.

    Raises:
        InputError: A name is the beginning of no member's; lists those there are.
    """
    usual = [member for member in members if not member.by_name]
    wanted: list[str] = []
    for name in names:
        found = [one.name for one in usual if one.name.startswith(name)]
        found = found or [one.name for one in members if one.name.startswith(name)]
        if not found:
            known = ", ".join(member.name for member in members)
            raise InputError(f"no member is called {name!r}; there are: {known}", argument="only")
        wanted += found
    return [member for member in members if member.name in wanted] if names else usual


def measure_speed(
    data: Path,
    /,
    *,
    load: Load,
    settings: Settings,
    neo4j: str | None = None,
    only: Sequence[str] = (),
    progress: Callable[[str], None] | None = None,
    members: Sequence[Member] = MEMBERS,
) -> SpeedReport:
    """Measures the members and returns their figures; whatever it writes is temporary.

    A member whose package or model is missing is reported as skipped, and the others go on.

    Args:
        data: Folder that holds ``codex/``.
        load: Loads a table of triples into a store.
        settings: Which embedder, where its weights are, and user and password of ``neo4j``.
        neo4j: Address of a server that loads into Neo4j are measured on; None for none.
        only: Beginnings of the names of those wanted; all where empty.
        progress: Called with each member's name before it runs.
        members: Those there are.

    Raises:
        InputError: A name is unknown, or the folder lacks what is needed.
    """
    chosen = chosen_members(only, members)
    figures = []
    with tempfile.TemporaryDirectory(prefix="graph-service-bench-") as folder:
        codex = Codex(data, Path(folder), load=load, settings=settings, neo4j=neo4j)
        try:
            for member in chosen:
                if progress:
                    progress(member.name)
                figures.append(_measure(member, codex))
        finally:
            codex.close()
    return SpeedReport(machine_facts(), tuple(figures))


def _measure(member: Member, codex: Codex) -> Figure:
    try:
        measured = member.measure(codex)
    except SetupError as error:
        return Figure(member.name, member.what, member.reference, skipped=str(error))
    return figure(member.name, measured, what=member.what, reference=member.reference)


def machine_facts() -> Machine:
    """Returns what the machine is and which versions take part."""
    affinity = getattr(os, "sched_getaffinity", None)
    versions = {"graph-service": graph_service.__version__, "sqlite": sqlite3.sqlite_version}
    for name in _PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = ""
    return Machine(
        cores=len(affinity(0)) if affinity else os.cpu_count() or 1,
        system=f"{platform.system()} {platform.release()}",
        processor=_processor(),
        python=platform.python_version(),
        versions=versions,
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())
