"""The load pipeline on a real store: reports, rejects, resuming, editions (S1, S8)."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_line

from graph_service.cli.bar import Bar
from graph_service.errors import InputError, StoreError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.serialise import to_plain
from graph_service.model.values import EntityValue, StringValue
from graph_service.store import open_store
from graph_service.store.protocol import Batch, LoadSession, Store
from graph_service.store.sqlite.load import SqliteLoadSession
from loaders.load import load
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.report import UNRECOGNISED_REASON
from loaders.subset.filters import Filters


def item(number: int, *, statements: int = 3, revision: int = 1) -> dict[str, Any]:
    return {
        "id": f"Q{number}",
        "type": "item",
        "lastrevid": revision,
        "labels": {"en": {"language": "en", "value": f"item {number}"}},
        "claims": {
            "P1": [
                {
                    "mainsnak": {
                        "snaktype": "value",
                        "property": "P1",
                        "datavalue": {
                            "type": "wikibase-entityid",
                            "value": {"id": f"Q{number + one + 1}"},
                        },
                    },
                    "id": f"Q{number}$00000000-0000-0000-0000-{one:012d}",
                    "rank": "normal",
                }
                for one in range(statements)
            ]
        },
    }


def lines(*items: Mapping[str, Any]) -> str:
    return "".join(json.dumps(one) + "\n" for one in items)


@pytest.fixture
def options(tmp_path: Path) -> LoadOptions:
    return LoadOptions(rejects_path=tmp_path / "rejects.jsonl")


def test_report_of_a_load_with_rejects(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path = tmp_path / "items.jsonl"
    good = lines(item(1), item(2))
    path.write_text(good + '{"broken"\n' + lines(item(3), {"id": "L1", "lemmas": {}}))
    report = load(path, store=tmp_store, graph="demo", options=options)
    assert report.exit_code == 3
    assert (report.read_statements, report.read_entities, report.rejected) == (9, 3, 1)
    assert report.counts is not None
    assert report.counts.written == 9
    assert report.skipped == {"lexemes": 1}
    assert report.formats == {"wikibase-json-lines": 1}
    [reject] = report.rejects
    assert (reject.file, reject.line, reject.offset) == (str(path), 3, len(good))
    assert json.loads((tmp_path / "rejects.jsonl").read_text()) == to_plain(reject)
    payload = report.to_json()
    assert json.loads(json.dumps(payload)) == payload
    assert payload["graph"]["edition"] == "demo@1"
    text = "\n".join(report.lines())
    assert "format: wikibase-json-lines" in text
    assert "9 written" in text
    assert f"line 3, byte {len(good)}:" in text
    info = tmp_store.graph("demo")
    assert info.report["rejected"] == 1
    assert info.counts.statements == 9


def test_nothing_rejected_leaves_no_file_and_exits_0(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(lines(item(1)))
    assert load(path, store=tmp_store, graph="demo", options=options).exit_code == 0
    assert not (tmp_path / "rejects.jsonl").exists()
    again = load(path, store=tmp_store, graph="demo", options=options)
    assert again.counts is not None
    assert (again.counts.written, again.counts.duplicates) == (0, 3)


def test_a_whole_document_replaces_the_entitys_statements(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(lines(item(1), item(2)))
    load(path, store=tmp_store, graph="demo", options=options)
    path.write_text(lines(item(1, statements=1, revision=2)))
    report = load(path, store=tmp_store, graph="demo", options=options)
    assert report.counts is not None
    assert report.counts.removed == 2
    assert tmp_store.graph("demo").counts.statements == 4
    replaced = load(path, store=tmp_store, graph="demo", replace=True, options=options)
    assert replaced.graph is not None
    assert replaced.graph.counts.statements == 1


def test_strict_stops_at_the_first_reject_and_publishes_nothing(
    tmp_store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text("not json\n" + lines(item(1)))
    strict = LoadOptions(strict=True, rejects_path=tmp_path / "r", format="wikibase-json-lines")
    with pytest.raises(InputError, match="line 1, byte 0:"):
        load(path, store=tmp_store, graph="demo", options=strict)
    assert tmp_store.graphs() == []
    assert tmp_store.unfinished_loads() == []


def test_a_source_with_nothing_to_load_publishes_nothing(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path = tmp_path / "answer.json"
    path.write_text('{"error": {"info": "no such entity"}}\n')
    with pytest.raises(InputError, match="no such entity"):
        load(path, store=tmp_store, graph="demo", options=options)
    assert tmp_store.graphs() == []
    assert (tmp_path / "rejects.jsonl").exists()


@pytest.mark.parametrize(
    "change", [{"format": "parquet"}, {"batch_size": 0}, {"columns": ("head",)}]
)
def test_wrong_options_are_refused(
    tmp_store: Store, tmp_path: Path, change: dict[str, Any]
) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(lines(item(1)))
    with pytest.raises(InputError):
        load(path, store=tmp_store, graph="demo", options=LoadOptions(**change))
    with pytest.raises(InputError, match="can't be read"):
        load(tmp_path / "absent", store=tmp_store, graph="demo")
    assert tmp_store.unfinished_loads() == []


def test_a_folder_of_mixed_formats_with_a_label_file(tmp_store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "a.json").write_text(json.dumps(item(1), indent=1))
    (folder / "inner" / "b.nt").write_text("<http://a/s> <http://a/p> <http://a/o> .\n")
    (folder / "README.md").write_text("About this data.\n")
    (folder / "LICENSE").write_text(
        "Use, change, share, sell.\nNo warranty, of any kind, at all.\n"
    )
    (folder / "README.txt").write_text("Columns:\thead\nand\ttail\nand\tmore\n")
    (folder / "numbered").write_text("Q5\tP1\tQ6\nQ6\tP1\tQ7\n")
    labels = tmp_path / "labels.tsv"
    labels.write_text("Q2\tzwei\tde\nQ1\teins\tde\n")
    report = load(folder, store=tmp_store, graph="demo", options=LoadOptions(label_files=(labels,)))
    assert report.formats == {"wikibase-json": 1, "ntriples": 1, "tsv": 1, "labels": 1}
    assert report.skipped == {UNRECOGNISED_REASON: 3}
    found = tmp_store.entities("demo@1", ["Q1", "Q2"]).entities
    assert found["Q1"].labels == {"en": "item 1", "de": "eins"}
    assert found["Q2"].labels == {"de": "zwei"}


def test_a_table_of_unknown_columns_in_a_folder_is_a_reject(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_text("film,method,part,more\nAda,RS,lead,x\n")
    (folder / "b.tsv").write_text("node1\tlabel\told_node2\nQ1\tP1\tQ2\n")
    (folder / "c.tsv").write_text("Q5\tP1\tQ6\n")
    for chosen in (options, replace(options, filters=Filters(around_entities=("Q5",), hops=1))):
        report = load(folder, store=tmp_store, graph="demo", options=chosen, replace=True)
        assert report.exit_code == 3
        assert report.rejected == 2
        rows = [json.loads(line) for line in (tmp_path / "rejects.jsonl").read_text().splitlines()]
        assert [Path(row["file"]).name for row in rows] == ["a.csv", "b.tsv"]
        assert "--columns head,relation,tail,-" in rows[0]["reason"]
        assert report.counts is not None
        assert report.counts.written == 1
    with pytest.raises(InputError, match="4 columns"):
        load(folder / "a.csv", store=tmp_store, graph="one", options=options)
    with pytest.raises(InputError, match="4 columns"):
        load(folder, store=tmp_store, graph="one", options=replace(options, strict=True))
    assert [info.name for info in tmp_store.graphs()] == ["demo"]


def test_truncated_gzip_keeps_everything_good(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    packed = gzip.compress(lines(*(item(number * 7919) for number in range(1, 3000))).encode())
    path = tmp_path / "items.json.gz"
    path.write_bytes(packed[: len(packed) // 2])
    report = load(path, store=tmp_store, graph="demo", options=options)
    assert report.exit_code == 3
    assert report.rejected == 1
    assert "ends early" in report.rejects[0].reason
    assert report.read_entities > 1000
    assert tmp_store.graph("demo").counts.statements == 3 * report.read_entities


@pytest.mark.parametrize("where", ["id", "language", "property", "value", "guid"])
@pytest.mark.parametrize("trouble", ["\\u0000", "\\ud800"])
def test_text_that_no_store_can_hold_never_stops_a_load(
    tmp_store: Store, tmp_path: Path, options: LoadOptions, where: str, trouble: str
) -> None:
    marks = dict.fromkeys(("id", "language", "property", "value", "guid"), "")
    marks[where] = trouble
    bad = (
        f'{{"id": "Q1{marks["id"]}", "labels": {{"en{marks["language"]}": {{"value": "x"}}}}, '
        f'"claims": {{"P1": [{{"mainsnak": {{"snaktype": "value", "property": "P1{marks["property"]}",'
        f'"datavalue": {{"type": "string", "value": "x{marks["value"]}"}}}}, '
        f'"id": "Q1$0{marks["guid"]}"}}]}}}}\n'
    )
    path = tmp_path / "items.jsonl"
    path.write_text(lines(item(5)) + bad + lines(item(6)))
    report = load(path, store=tmp_store, graph="demo", options=options)
    # A GUID that is none is not kept, so nothing in it can hurt.
    assert report.rejected == (0 if where == "guid" else 1)
    assert {"Q5", "Q6"} <= tmp_store.entities("demo@1", ["Q5", "Q6"]).entities.keys()
    json.dumps(report.to_json()).encode()


def test_standard_input(
    tmp_store: Store, options: LoadOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = gzip.compress(("[\n" + lines(item(1)).strip() + ",\n" + lines(item(2)) + "]\n").encode())

    class Pipe:
        buffer = io.BytesIO(data)

    monkeypatch.setattr(sys, "stdin", Pipe())
    report = load("-", store=tmp_store, graph="demo", options=options)
    assert (report.source, report.read_entities) == ("-", 2)


def test_another_stream_is_not_taken_for_the_interrupted_one(
    tmp_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pipe(data: str) -> None:
        class Pipe:
            buffer = io.BytesIO(data.encode())

        monkeypatch.setattr(sys, "stdin", Pipe())

    options = LoadOptions(batch_size=3)
    pipe(lines(*(item(number) for number in range(1, 2000))))
    dying: Any = DyingStore(tmp_store, 1)
    with pytest.raises(DiesError):
        load("-", store=dying, graph="demo", options=options)
    pipe(lines(*(item(number) for number in range(3000, 3100))))
    with pytest.raises(InputError, match="was interrupted"):
        load("-", store=tmp_store, graph="demo", options=options)
    assert tmp_store.unfinished_loads() == []
    pipe(lines(*(item(number) for number in range(3000, 3100))))
    assert load("-", store=tmp_store, graph="demo", options=options).read_entities == 100


class DiesError(Exception):
    """Stands for a process that is gone."""


class DyingStore:
    """A store whose load dies after some batches."""

    def __init__(self, store: Store, batches: int) -> None:
        self._store = store
        self._batches = batches

    def graphs(self) -> list[GraphInfo]:
        return self._store.graphs()

    def begin_load(self, graph: str, /, **options: Any) -> LoadSession:
        session = self._store.begin_load(graph, **options)
        write, left = session.write, [self._batches]

        class Dying:
            def __getattr__(self, name: str) -> Any:
                return getattr(session, name)

            def write(
                self, batch: Batch, /, *, checkpoint: Mapping[str, Any] | None = None
            ) -> None:
                if not left[0]:
                    raise DiesError
                left[0] -= 1
                write(batch, checkpoint=checkpoint)

            def __enter__(self) -> Any:
                session.__enter__()
                return self

            def __exit__(self, *error: Any) -> None:
                session.__exit__(*error)

        return Dying()


TURTLE = "@prefix a: <http://a/> .\n" + "".join(
    f'a:s{n % 700} a:p{n % 7} a:s{n * 7 % 700} , "{n}" .\n' for n in range(12_000)
)
FULL = "".join(
    f"<http://www.wikidata.org/entity/Q{n}> <http://www.wikidata.org/prop/P1> "
    f"<http://www.wikidata.org/entity/statement/Q{n}-00000000-0000-0000-0000-000000000000> .\n"
    f"<http://www.wikidata.org/entity/statement/Q{n}-00000000-0000-0000-0000-000000000000> "
    f'<http://www.wikidata.org/prop/statement/P1> "{n}" .\n'
    for n in range(1, 4_000)
)
SOURCES = {
    "lines.jsonl": lines(*(item(number) for number in range(1, 1500)))
    + "bad\n"
    + lines(item(9000)),
    "triples.nt": "".join(
        f"<http://a/s{n % 900}> <http://a/p{n % 9}> <http://a/s{n * 7 % 900}> .\n"
        + ("bad\n" if n % 4000 == 0 else "")
        for n in range(30_000)
    ),
    "document.ttl": TURTLE + 'a:bad a:p "\\q" .\na:last a:p 1 .\n',
    "full.nt": FULL,
    "both.nt": FULL[: len(FULL) // 2].rpartition("\n")[0]
    + "\n"
    + "".join(
        f'<http://www.wikidata.org/entity/Q{n}> <http://www.wikidata.org/prop/direct/P1> "{n}" .\n'
        for n in range(1, 4_000)
    ),
    "table.csv": "".join(f"Q{n},P{n % 5 + 1},Q{n * 3 % 900 + 1}\n" for n in range(1, 30_000))
    + "bad\n",
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("batches", [0, 1, 3])
def test_an_interrupted_load_goes_on_and_ends_as_an_unbroken_one(
    tmp_path: Path, name: str, batches: int
) -> None:
    path = tmp_path / name
    path.write_text(SOURCES[name])
    options = LoadOptions(batch_size=700, rejects_path=tmp_path / "rejects.jsonl")
    with open_store(f"sqlite:///{tmp_path / 'whole.db'}") as store:
        whole = load(path, store=store, graph="demo", options=options)
    rejects = (tmp_path / "rejects.jsonl").read_text() if whole.rejected else ""
    with open_store(f"sqlite:///{tmp_path / 'broken.db'}") as store:
        dying: Any = DyingStore(store, batches)
        with pytest.raises(DiesError):
            load(path, store=dying, graph="demo", options=options)
        assert store.graphs() == []
        report = load(path, store=store, graph="demo", options=options)
    assert report.resumed is (batches > 0)
    assert whole.graph is not None
    assert report.graph is not None
    assert report.graph.fingerprints == whole.graph.fingerprints
    assert (report.read_statements, report.read_entities) == (
        whole.read_statements,
        whole.read_entities,
    )
    assert (report.rejected, report.rejects) == (whole.rejected, whole.rejects)
    assert (report.skipped, report.kept) == (whole.skipped, whole.kept)
    if whole.rejected:
        assert (tmp_path / "rejects.jsonl").read_text() == rejects


def test_a_changed_file_is_not_resumed(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(lines(*(item(number) for number in range(1, 100))))
    options = LoadOptions(batch_size=10)
    dying: Any = DyingStore(tmp_store, 1)
    with pytest.raises(DiesError):
        load(path, store=dying, graph="demo", options=options)
    path.write_text(lines(item(1)))
    report = load(path, store=tmp_store, graph="demo", options=options)
    assert not report.resumed
    assert tmp_store.graph("demo").counts.statements == 3


def test_stop_leaves_a_load_that_goes_on(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "triples.nt"
    path.write_text(SOURCES["triples.nt"])
    stop = threading.Event()
    seen: list[Progress] = []

    def progress(state: Progress) -> None:
        seen.append(state)
        stop.set()

    options = LoadOptions(rejects_path=tmp_path / "rejects.jsonl")
    report = load(
        path, store=tmp_store, graph="demo", options=options, progress=progress, stop=stop
    )
    assert report.status == "stopped"
    assert report.to_json()["exit_code"] == 130
    assert report.graph is None
    check_line(report.lines()[-1], "same command goes")
    assert seen[0].total == path.stat().st_size
    assert 0 < seen[0].done <= seen[0].total
    assert load(path, store=tmp_store, graph="demo", options=options).resumed


def test_kill_9_in_the_middle(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(lines(*(item(number, statements=9) for number in range(1, 6_000))))
    url = f"sqlite:///{tmp_path / 'killed.db'}"
    program = (
        "import sys\n"
        "from graph_service.store import open_store\n"
        "from loaders.load import load\n"
        "from loaders.options import LoadOptions\n"
        "with open_store(sys.argv[2]) as store:\n"
        "    load(sys.argv[1], store=store, graph='demo', options=LoadOptions(batch_size=200),\n"
        "         progress=lambda state: print(state.counts, flush=True))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(path), url],
        stdout=subprocess.PIPE,
        env=dict(os.environ, PYTHONPATH=str(Path(__file__).parents[2])),
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    options = LoadOptions(batch_size=200)
    with open_store(url) as store:
        report = load(path, store=store, graph="demo", options=options)
    with open_store(f"sqlite:///{tmp_path / 'whole.db'}") as store:
        whole = load(path, store=store, graph="demo", options=options)
    assert report.graph is not None
    assert whole.graph is not None
    assert report.graph.fingerprints == whole.graph.fingerprints
    assert report.read_statements == whole.read_statements


def test_progress_bar_is_shown_only_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = Progress(50, 100, 2.0, {"statements": 1200}, rejected=1, file="f", format="tsv", line=3)
    with Bar(shown=True) as no_terminal:
        no_terminal.show_load(state)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Bar(shown=False) as quiet:
        quiet.show_load(state)
    assert capsys.readouterr().err == ""
    with Bar(shown=True, unit="B", divisor=1024) as shown:
        shown.show_load(state)
    err = capsys.readouterr().err
    assert "1,200 statements" in err
    assert "1 rejected" in err


def test_values_arrive_in_the_store(tmp_path: Path, tmp_store: Store) -> None:
    path = tmp_path / "table.tsv"
    path.write_text("a\tp\tb\na\tq\ttext\n")
    load(path, store=tmp_store, graph="demo", options=LoadOptions(literal_relations=("q",)))
    found = tmp_store.statements_of("demo@1", "a")
    assert {statement.value for statement in found} == {EntityValue("b"), StringValue("text")}


def conflict_lines(tmp_path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in (tmp_path / "rejects.jsonl").read_text().splitlines()]


def changed(document: Mapping[str, Any], tail: str) -> dict[str, Any]:
    """Returns a document whose first statement has another value under the same id."""
    copy: dict[str, Any] = json.loads(json.dumps(document))
    copy["claims"]["P1"][0]["mainsnak"]["datavalue"]["value"]["id"] = tail
    return copy


@pytest.mark.parametrize("workers", [0, 2])
def test_two_documents_of_one_entity_are_a_conflict_with_both_places(
    tmp_store: Store, tmp_path: Path, workers: int
) -> None:
    path = tmp_path / "items.jsonl"
    first = item(1, statements=1)
    path.write_text(lines(first, item(2), changed(first, "Q99"), first))
    options = LoadOptions(rejects_path=tmp_path / "rejects.jsonl", workers=workers)
    report = load(path, store=tmp_store, graph="demo", options=options)
    assert (report.exit_code, report.rejected) == (3, 1)
    [reject] = conflict_lines(tmp_path)
    assert (reject["file"], reject["line"]) == (str(path), 3)
    assert f"{path}, line 1" in reject["reason"]
    assert report.counts is not None
    assert (report.counts.written, report.counts.duplicates, report.counts.conflicting) == (4, 1, 1)
    assert "1 conflicting" in "\n".join(report.lines())
    assert tmp_store.graph("demo").report["rejected"] == 1
    [kept] = tmp_store.statements_of("demo@1", "Q1")
    assert kept.value == EntityValue("Q2")


def test_one_claim_in_two_files_is_a_conflict_with_both_places(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    guid = "Q1$00000000-0000-0000-0000-000000000001"
    (folder / "a.tsv").write_text(f"id\thead\trelation\ttail\n{guid}\tQ1\tP1\tQ2\nx\tQ3\tP1\tQ2\n")
    (folder / "b.tsv").write_text(f"id\thead\trelation\ttail\nx\tQ3\tP1\tQ2\n{guid}\tQ1\tP1\tQ5\n")
    report = load(folder, store=tmp_store, graph="demo", options=options)
    [reject] = conflict_lines(tmp_path)
    assert (reject["file"], reject["line"]) == (str(folder / "b.tsv"), 3)
    assert guid in reject["reason"]
    assert f"{folder / 'a.tsv'}, line 2" in reject["reason"]
    assert report.graph is not None
    assert report.graph.counts.statements == 2
    strict = LoadOptions(rejects_path=tmp_path / "rejects.jsonl", strict=True)
    with pytest.raises(InputError, match=r"b\.tsv, line 3:"):
        load(folder, store=tmp_store, graph="strict", options=strict)
    assert [info.name for info in tmp_store.graphs()] == ["demo"]


def test_conflicts_are_told_once_by_a_load_that_was_stopped_and_killed(
    tmp_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "items.jsonl"
    first = item(1, statements=1)
    path.write_text(lines(first, item(2), item(3), changed(first, "Q99"), item(4)))
    options = LoadOptions(rejects_path=tmp_path / "rejects.jsonl", batch_size=1, workers=0)
    stop = threading.Event()
    stopped = load(
        path, store=tmp_store, graph="g", options=options, progress=lambda _: stop.set(), stop=stop
    )
    assert (stopped.status, stopped.read_entities) == ("stopped", 1)

    def killed(_: SqliteLoadSession) -> GraphInfo:
        raise StoreError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteLoadSession, "publish", killed)
        with pytest.raises(StoreError, match="killed"):
            load(path, store=tmp_store, graph="g", options=options)
    report = load(path, store=tmp_store, graph="g", options=options)
    assert (report.resumed, report.rejected) == (True, 1)
    [reject] = conflict_lines(tmp_path)
    assert reject["line"] == 4


def test_a_newer_revision_later_in_a_dump_is_no_conflict(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path = tmp_path / "items.jsonl"
    first = item(1, statements=1)
    newer = {**changed(first, "Q99"), "lastrevid": first["lastrevid"] + 1}
    path.write_text(lines(first, newer))
    assert load(path, store=tmp_store, graph="demo", options=options).exit_code == 0
    [kept] = tmp_store.statements_of("demo@1", "Q1")
    assert kept.value == EntityValue("Q99")
