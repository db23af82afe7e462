"""A load on a cluster is one machine's, row for row: its tasks without an engine (B19)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cluster_loads import (
    SMALL,
    LocalEngine,
    check_load,
    document,
    write_documents,
    write_rows,
    write_triples,
)
from error_texts import raises
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.cli import main
from graph_service.errors import InputError
from loaders.chunks import CHUNK_BYTES
from loaders.cluster import LoadSizes, cluster_load, read_target
from loaders.options import LoadOptions


def test_triples_of_several_blocks(tmp_path: Path) -> None:
    write_triples(tmp_path / "made.nt")
    report = check_load(tmp_path / "made.nt", LocalEngine(), tmp_path)
    assert report.rejected > 100
    assert report.records.passed_over + report.records.read + report.records.rejected == (
        report.source_records
    )
    assert report.counts is not None
    assert report.counts.duplicates > 10


@dataclass
class RepeatingEngine(LocalEngine):
    """Runs each task twice, as an engine that loses an executor before it hears of its work."""

    def _run(self, work: Callable[[int], None], index: int) -> None:
        LocalEngine._run(self, work, index)
        LocalEngine._run(self, work, index)


def test_a_task_that_is_done_again_changes_nothing(tmp_path: Path) -> None:
    write_triples(tmp_path / "made.nt", lines=2_000)
    engine = RepeatingEngine()
    check_load(tmp_path / "made.nt", engine, tmp_path)
    assert engine.tasks > 10


def test_blank_nodes_are_those_of_their_document(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    line = "_:a <http://example.org/p> <http://example.org/{}> .\n"
    (folder / "1.nt").write_text(line.format("x"), encoding="utf-8")
    (folder / "2.nt").write_text(line.format("y"), encoding="utf-8")
    report = check_load(folder, LocalEngine(), tmp_path)
    assert report.graph is not None
    assert report.graph.counts.entities == 4


DOCUMENTS: list[Any] = [
    document("Q1", [("1", "P1", "Q2"), ("2", "P2", "text")], lastrevid=5),
    document("Q2", [("1", "P1", "Q3")]),
    "{ no JSON",
    document("Q3", []),
    # Newer: what it no longer has goes, and with it what only that named.
    document("Q1", [("1", "P1", "Q4"), ("3", "P3", "Q5")], lastrevid=6, label="new"),
    # Older than what is there, and another one of the same age.
    document("Q1", [("9", "P1", "Q77")], lastrevid=4, label="old"),
    document("Q1", [("1", "P1", "Q78")], lastrevid=6, label="new"),
    # Equal, and equal but for a statement.
    document("Q2", [("1", "P1", "Q3")]),
    document("Q2", [("1", "P1", "Q79")]),
    document("Q6", [("1", "P1", "Q6"), ("1", "P2", "Q80")]),
    document("Q7", [], redirect="Q1"),
]


@pytest.mark.parametrize("packed", ["", "bz2", "gz"])
def test_documents_that_come_again(tmp_path: Path, packed: str) -> None:
    write_documents(tmp_path / f"made.json{packed and '.'}{packed}", DOCUMENTS, packed=packed)
    report = check_load(tmp_path / f"made.json{packed and '.'}{packed}", LocalEngine(), tmp_path)
    counts = report.counts
    assert counts is not None
    assert (counts.outdated, counts.removed, counts.duplicates) == (1, 1, 1)
    assert counts.updated == 1
    assert counts.conflicting == 3


claims = st.lists(
    st.tuples(st.sampled_from("12"), st.sampled_from(("P1", "P2")), st.sampled_from(("Q2", "x"))),
    max_size=2,
)
dumps = st.lists(
    st.builds(
        lambda id_, of, revision, label: document(
            id_, of, label=label, **({} if revision is None else {"lastrevid": revision})
        ),
        st.sampled_from(("Q1", "Q2")),
        claims,
        st.sampled_from((None, 1, 2)),
        st.sampled_from(("a", "b")),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=25, deadline=None)
@given(st.lists(dumps, min_size=1, max_size=3))
def test_documents_of_any_ages(
    tmp_path_factory: pytest.TempPathFactory, parts: list[Sequence[Any]]
) -> None:
    """Each file is a chunk, and which document stays depends on those of the others."""
    folder = tmp_path_factory.mktemp("documents")
    (folder / "source").mkdir()
    for index, documents in enumerate(parts):
        write_documents(folder / "source" / f"{index}.json", documents)
    check_load(folder / "source", LocalEngine(), folder)


def test_tables_of_several_blocks(tmp_path: Path) -> None:
    write_rows(tmp_path / "made.tsv")
    (tmp_path / "labels.tsv").write_text(
        "Q1\tone\ten\nQ1\tein\tde\nP1\trelation\nQ9999\tunused\n", encoding="utf-8"
    )
    (tmp_path / "types.tsv").write_text("Q1\tQ5\nQ2\tQ5\n", encoding="utf-8")
    (tmp_path / "same.tsv").write_text("Q1\thttp://other.org/1\n", encoding="utf-8")
    options = LoadOptions(
        label_files=(tmp_path / "labels.tsv",),
        type_files=(tmp_path / "types.tsv",),
        same_as=(tmp_path / "same.tsv",),
    )
    engine = LocalEngine()
    report = check_load(tmp_path / "made.tsv", engine, tmp_path, options=options)
    assert engine.tasks > 30
    assert report.graph is not None
    assert report.graph.counts.names == 2
    assert report.counts is not None
    assert report.counts.conflicting > 100


def test_cells_that_span_lines(tmp_path: Path) -> None:
    chance = random.Random(1)
    rows = ["head,relation,tail"]
    for index in range(3_000):
        cell = chance.choice((f"Q{index}", '"a text\nof two lines"', '"a ""quoted"" one"'))
        rows.append(f"Q{chance.randrange(1, 200)},P1,{cell}" + " " * 40)
    (tmp_path / "made.csv").write_text("\n".join(rows), encoding="utf-8")
    options = LoadOptions(literal_relations=("P1",))
    check_load(tmp_path / "made.csv", LocalEngine(), tmp_path, options=options)


def test_files_that_are_no_lines(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.ttl").write_text(
        "@prefix : <http://a/> . :a :p :b , _:c ; :q 5 . :b :p bad .", encoding="utf-8"
    )
    (folder / "b.tsv").write_text("Q1\tP1\tQ2\n", encoding="utf-8")
    (folder / "c.tsv").write_text("one column\n", encoding="utf-8")
    (folder / "README").write_text("What this is.\n", encoding="utf-8")
    report = check_load(folder, LocalEngine(), tmp_path)
    assert report.rejected
    assert report.unrecognised


class _Killed(BaseException):
    """Ends a load as a killed process does: nothing after it runs."""


class _Dying(LocalEngine):
    """Ends after some tasks."""

    def __init__(self, lives: int) -> None:
        super().__init__()
        self._lives = lives

    def _run(self, work: Any, index: int) -> None:
        if self.tasks == self._lives:
            raise _Killed
        super()._run(work, index)


def test_a_load_that_ended_goes_on_with_the_tasks_that_are_left(tmp_path: Path) -> None:
    write_triples(tmp_path / "made.nt", lines=3_000)
    (tmp_path / "whole").mkdir()
    whole = LocalEngine()
    sizes = LoadSizes(chunk_bytes=1, range_rows=200)
    check_load(tmp_path / "made.nt", whole, tmp_path / "whole", sizes=sizes)
    tasks = 0
    for lives in (1, 2, 5, 3):
        dying = _Dying(lives)
        with pytest.raises(_Killed):
            check_load(tmp_path / "made.nt", dying, tmp_path, sizes=sizes)
        tasks += dying.tasks
    engine = LocalEngine()
    check_load(tmp_path / "made.nt", engine, tmp_path, sizes=sizes)
    assert tasks == 11
    assert tasks + engine.tasks == whole.tasks


def test_a_source_that_changed_is_loaded_from_its_beginning(tmp_path: Path) -> None:
    write_triples(tmp_path / "made.nt", lines=3_000)
    with pytest.raises(_Killed):
        check_load(tmp_path / "made.nt", _Dying(4), tmp_path)
    write_triples(tmp_path / "made.nt", lines=2_900)
    check_load(tmp_path / "made.nt", LocalEngine(), tmp_path)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "made.tsv").write_text("Q1\tP1\tQ2\n", encoding="utf-8")
    check_load(tmp_path / "made.tsv", LocalEngine(), tmp_path)
    with pytest.raises(InputError, match="holds a finished load"):
        check_load(tmp_path / "made.tsv", LocalEngine(), tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="holds other files"):
        load_into(tmp_path / "other", tmp_path / "made.tsv")


def load_into(folder: Path, source: Path | str, options: LoadOptions | None = None) -> None:
    cluster_load(
        str(source),
        read_target(f"parquet:{folder}"),
        graph="made",
        options=options or LoadOptions(rejects_path=folder.parent / "rejects.jsonl"),
        open_engine=lambda: pytest.fail("no engine is needed to refuse it"),
        sizes=SMALL,
    )


def test_what_a_cluster_does_not_load_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "made.tsv").write_text("Q1\tP1\tQ2\n", encoding="utf-8")
    out = tmp_path / "out"
    for source, options, what in (
        ("-", LoadOptions(), "standard input"),
        (tmp_path / "made.tsv", LoadOptions(redirects="resolve"), "redirects resolve"),
        (tmp_path / "made.tsv", LoadOptions(row="auto"), "rows are things"),
    ):
        with pytest.raises(InputError, match=what):
            load_into(out, source, options)
    folder = tmp_path / "both"
    folder.mkdir()
    write_documents(folder / "a.json", DOCUMENTS[:2])
    (folder / "b.tsv").write_text("Q1\tP1\tQ2\n", encoding="utf-8")
    with pytest.raises(InputError, match="documents .* beside statements"):
        load_into(out, folder)


def test_full_statements_of_wikidata_in_rdf_are_refused(tmp_path: Path) -> None:
    (tmp_path / "full.nt").write_text(
        "<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/P1> "
        "<http://www.wikidata.org/entity/statement/Q1-1> .\n"
        "<http://www.wikidata.org/entity/statement/Q1-1> "
        "<http://www.wikidata.org/prop/statement/P1> <http://www.wikidata.org/entity/Q2> .\n",
        encoding="utf-8",
    )
    with raises(InputError):
        check_load(tmp_path / "full.nt", LocalEngine(), tmp_path)


def test_a_strict_load_ends_at_the_first_reject(tmp_path: Path) -> None:
    (tmp_path / "made.nt").write_text("<http://a/1> <bad\n", encoding="utf-8")
    with pytest.raises(InputError, match="not RDF"):
        check_load(tmp_path / "made.nt", LocalEngine(), tmp_path, options=LoadOptions(strict=True))
    assert not (tmp_path / "cluster.parquet" / "graph.json").exists()


@pytest.mark.parametrize("target", ["out", "csv:out", "parquet:", "parquet:s3://bucket/out"])
def test_targets_that_are_none_are_refused(target: str) -> None:
    with raises(InputError):
        read_target(target)


def test_the_command_line_refuses_a_source_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--to", f"parquet:{tmp_path / 'out'}", "--graph", "made"]
    assert main(["cluster", "load", str(tmp_path / "nothing.nt"), *arguments]) == 2
    assert "can't be read" in capsys.readouterr().err
    assert LoadSizes().chunk_bytes == CHUNK_BYTES
