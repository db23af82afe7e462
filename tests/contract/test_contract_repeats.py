"""Repeats in a packed file, and truthy statements beside full ones, on both stores."""

from __future__ import annotations

import gzip
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from graph_service.model.statement import Rank, Statement, make_statement
from graph_service.model.values import StringValue
from graph_service.store.protocol import Batch, LoadSession, Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.repeats import Repeats

LINE = "<http://a/s{}> <http://a/p> <http://a/o> .\n"
WD, PROP = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/"


class DiesError(Exception):
    """Stands for a process that is gone."""


class Watched:
    """A store whose loads count the statements written, and die after some batches."""

    def __init__(self, store: Store, batches: int | None = None) -> None:
        self._store = store
        self._left = batches
        self.written = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def begin_load(self, graph: str, /, **options: Any) -> LoadSession:
        session = self._store.begin_load(graph, **options)
        write, watched = session.write, self

        class Session:
            def __getattr__(self, name: str) -> Any:
                return getattr(session, name)

            def write(
                self, batch: Batch, /, *, checkpoint: Mapping[str, Any] | None = None
            ) -> None:
                if watched._left is not None:
                    if not watched._left:
                        raise DiesError
                    watched._left -= 1
                watched.written += len(batch.statements)
                write(batch, checkpoint=checkpoint)

            def __enter__(self) -> Any:
                session.__enter__()
                return self

            def __exit__(self, *error: Any) -> None:
                session.__exit__(*error)

        return Session()


@pytest.mark.parametrize("name", ["a.nt.gz", "a.ttl.gz", "a.nt"])
def test_repeats_of_a_packed_file_are_not_written(
    store: Store, graph_name: str, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    data = "".join(LINE.format(number) for number in range(900)).encode() * 8
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    watched: Any = Watched(store)
    options = LoadOptions(batch_size=500, rejects_path=tmp_path / "r", workers=0)
    report = load(path, store=watched, graph=graph_name, options=options)
    assert report.graph is not None
    assert report.counts is not None
    assert (report.graph.counts.statements, report.read_statements) == (900, 7_200)
    assert (report.counts.written, report.counts.duplicates) == (900, 6_300)
    # A plain file is as large as what it takes.
    assert watched.written < 2_700 if name.endswith(".gz") else watched.written > 900


def statement(rank: Rank) -> Statement:
    return make_statement("Q1", "P1", StringValue("x"), id="a", rank=rank)


def test_only_what_came_last_is_a_repeat() -> None:
    repeats = Repeats()
    one, other = statement(Rank.NORMAL), statement(Rank.PREFERRED)
    assert [
        len(repeats.without([each], array("q", [1]))[0]) for each in (one, one, other, one)
    ] == [1, 0, 1, 1]
    repeats.forget()
    assert repeats.without([one], array("q", [2]))[2] == 0


def source_of_both() -> str:
    """400 full statements, the truthy ones of these and of 200 more."""
    lines = []
    for number in range(400):
        node = f"<{WD}statement/Q{number + 1}-00000000-0000-0000-0000-000000000001>"
        lines.append(f"<{WD}Q{number + 1}> <{PROP}P1> {node} .\n")
        lines.append(f'{node} <{PROP}statement/P1> "{number}" .\n')
    lines += [f'<{WD}Q{number + 1}> <{PROP}direct/P1> "{number}" .\n' for number in range(600)]
    return "".join(lines)


@pytest.mark.parametrize("batches", [0, 2, 5])
def test_a_killed_load_of_both_forms_goes_on(
    store: Store, graph_name: str, tmp_path: Path, batches: int
) -> None:
    path = tmp_path / "a.nt"
    path.write_text(source_of_both())
    options = LoadOptions(batch_size=100, rejects_path=tmp_path / "r")
    watched: Any = Watched(store, batches)
    if batches < 5:
        with pytest.raises(DiesError):
            load(path, store=watched, graph=graph_name, options=options)
    report = load(path, store=store, graph=graph_name, options=options)
    assert report.resumed is (batches == 2)
    assert report.graph is not None
    assert report.graph.counts.statements == 600
    assert list(report.skipped.values()) == [400]
    assert list(report.kept.values()) == [200]
    found = [one for chunk in store.scan_statements(report.graph.edition) for one in chunk]
    assert sum("$" in one.id for one in found) == 400
