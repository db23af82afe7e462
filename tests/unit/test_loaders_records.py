"""Every record of a source is read, rejected or passed over, and counted by its bytes too."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_line
from hypothesis import given
from hypothesis import strategies as st

from graph_service.model.graph_info import GraphInfo
from graph_service.store.protocol import Store
from loaders import workers
from loaders.load import load
from loaders.options import LoadOptions
from loaders.records import UNFINISHED_ARRAY, JsonLineCounter, RdfLineCounter, RecordCounts
from loaders.report import EXIT_REJECTS
from loaders.source import LineBlock, line_blocks
from loaders.subset.filters import Filters

TRIPLE = "<http://a/{}> <http://a/p> <http://a/o> .\n"
ENTITY = {"id": "Q1", "type": "item", "labels": {"en": {"language": "en", "value": "one"}}}


@pytest.fixture
def options(tmp_path: Path) -> LoadOptions:
    return LoadOptions(rejects_path=tmp_path / "rejects.jsonl")


def document(index: int) -> str:
    return json.dumps({**ENTITY, "id": f"Q{index}"})


def counts_of(
    store: Store, path: Path, text: str | bytes, options: LoadOptions
) -> tuple[RecordCounts, int]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    report = load(path, store=store, graph="g", options=options)
    assert report.records.total == report.source_records
    assert not report.incomplete
    return report.records, report.source_records


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.nt", TRIPLE.format(1) + "# x\n\n  \n" + TRIPLE.format(2), (2, 0, 0)),
        ("a.nt", "\ufeff# x\n" + TRIPLE.format(1) + "<http://a/1> <bad\n", (1, 1, 0)),
        (
            "a.nt",
            TRIPLE.format(1) + "  # x\r\n" + TRIPLE.format(2).replace("\n", "\r\n"),
            (2, 0, 0),
        ),
        ("a.nt", (TRIPLE.format(1) + TRIPLE.format(2)).replace("\n", "\r"), (2, 0, 0)),
        ("a.nt", TRIPLE.format(1) + '<http://a/2> <http://a/p> "\\u0000" .', (1, 1, 0)),
        (
            "a.nt",
            TRIPLE.format(1)
            + "<http://a/1> <http://a/p> <<( <http://a/1> <http://a/p> _:b )>> .\n",
            (1, 0, 1),
        ),
        ("a.nq", TRIPLE.format(1).replace(" .", " <http://a/g> .") * 2, (2, 0, 0)),
        (
            "a.jsonl",
            document(1) + "\n\n" + document(2) + "\n{\n" + '{"id":"L1","lemmas":{}}',
            (2, 1, 1),
        ),
        ("a.json", f"[\n{document(1)},\n{document(2)}\n]\n", (2, 0, 0)),
        ("a.json", f"[{document(1)},\n{document(2)}\n,\n{document(3)}]\n", (3, 0, 0)),
        ("a.json", f"[{document(1)},{document(2)},{document(3)[:30]}", (1, 0, 0)),
        ("a.json", f"[{document(1)}]\n[{document(2)}]\n", (2, 0, 0)),
        (
            "a.json",
            json.dumps({"entities": {"Q1": ENTITY, "Q2": {"missing": ""}}}, indent=1),
            (1, 0, 1),
        ),
        ("a.ttl", "@prefix : <http://a/> . :a :p :b , :c ; :q ( 1 2 ) . :a :p bad .", (7, 1, 0)),
        (
            "a.trig",
            "@prefix : <http://a/> . { :a :p :b } :g { :a :p :c . :a :p 'x'@en }",
            (3, 0, 0),
        ),
        ("a.tsv", "Q1\tP1\tQ2\n\nQ1\tP1\nQ1\tP1\tQ3", (2, 1, 0)),
        ("a.csv", 'head,relation,tail\nQ1,P1,"Q\n2"\nQ1,P1,Q3\n', (3, 0, 0)),
        (
            "a.rdf",
            '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://a/">'
            '<r:Description r:about="http://a/s"><p>1</p><p r:resource="http://a/o"/>'
            "</r:Description></r:RDF>",
            (2, 0, 0),
        ),
    ],
)
def test_records_of_every_format_are_accounted_for(
    tmp_store: Store,
    tmp_path: Path,
    options: LoadOptions,
    name: str,
    text: str,
    expected: tuple[int, int, int],
) -> None:
    counts, total = counts_of(tmp_store, tmp_path / name, text, options)
    assert (counts.read, counts.rejected, counts.passed_over) == expected
    assert total == sum(expected)
    packed = tmp_path / "packed" / (name + ".gz")
    packed.parent.mkdir()
    assert counts_of(tmp_store, packed, gzip.compress(text.encode()), options) == (counts, total)


def test_what_filters_leave_out_of_json_is_passed_over(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(document(index) + "\n" for index in range(1, 6)))
    chosen = LoadOptions(filters=Filters(entities=("Q3",)), rejects_path=options.rejects_path)
    report = load(path, store=tmp_store, graph="g", options=chosen)
    assert report.records == RecordCounts(read=1, passed_over=4)
    check_line(report.lines(), "5 in", "1 read", "0 rejected", "4 passed")
    assert report.to_json()["records"] == {"read": 1, "rejected": 0, "passed_over": 4}


def test_a_line_that_is_too_long_or_cut_is_one_record(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    from dataclasses import replace

    from loaders.source import SourceLimits

    path = tmp_path / "a.nt"
    long = f'<http://a/1> <http://a/p> "{"x" * 400_000}" .\n'
    path.write_text(TRIPLE.format(1) + long + TRIPLE.format(2))
    small = replace(options, limits=SourceLimits(max_line_bytes=100_000))
    report = load(path, store=tmp_store, graph="g", options=small)
    assert report.records == RecordCounts(read=2, rejected=1)
    assert report.source_records == 3
    packed = gzip.compress("".join(TRIPLE.format(n * 7919) for n in range(30_000)).encode())
    cut = tmp_path / "cut.nt.gz"
    cut.write_bytes(packed[: len(packed) // 2])
    report = load(cut, store=tmp_store, graph="cut", options=options)
    assert not report.incomplete
    assert report.rejected == 1
    assert report.records.total == report.source_records > 1000


def test_records_that_nothing_became_of_are_told(
    tmp_store: Store, tmp_path: Path, options: LoadOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lossy(*arguments: Any, **named: Any) -> Iterator[LineBlock]:
        for index, block in enumerate(line_blocks(*arguments, **named)):
            if index != 1:
                yield block

    path = tmp_path / "a.nt"
    path.write_text("".join(TRIPLE.format(index) for index in range(20_000)))
    monkeypatch.setattr(workers, "line_blocks", lossy)
    report = load(path, store=tmp_store, graph="g", options=options)
    lost = 20_000 - report.read_statements
    assert lost > 0
    assert report.exit_code == EXIT_REJECTS
    assert list(report.incomplete.values()) == [lost]
    assert "please report it" in report.rejects[0].reason
    assert report.source_records == 20_000


@pytest.mark.parametrize(
    "text",
    [
        f"[\n{document(1)},\n{document(2)}\n",
        f"[\n{document(1)},\n{document(2)},\n",
        f"[\n{document(1)}\n,\n{document(2)}",
    ],
)
def test_an_array_that_begins_must_end(
    tmp_store: Store, tmp_path: Path, options: LoadOptions, text: str
) -> None:
    for name, data in (("a.json", text.encode()), ("a.json.gz", gzip.compress(text.encode()))):
        path = tmp_path / name
        path.write_bytes(data)
        for filters in (Filters(), Filters(entities=("Q2",))):
            chosen = LoadOptions(filters=filters, rejects_path=options.rejects_path)
            report = load(path, store=tmp_store, graph="g", options=chosen, replace=True)
            assert report.exit_code == EXIT_REJECTS
            assert report.rejects[-1].reason == UNFINISHED_ARRAY
            assert isinstance(report.graph, GraphInfo)
    # Damage is a reject of its own.
    path.write_bytes(gzip.compress(text.encode()) + b"no stream")
    report = load(path, store=tmp_store, graph="g", options=options, replace=True)
    assert UNFINISHED_ARRAY not in [reject.reason for reject in report.rejects]


def test_a_resumed_load_accounts_for_all_records_once(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    from dataclasses import replace

    folder = tmp_path / "folder"
    folder.mkdir()
    text = "".join(document(index) + ",\n" for index in range(1, 3_000))
    (folder / "a.json").write_text("[\n" + text)
    (folder / "b.nt").write_text("".join(TRIPLE.format(index) for index in range(10_000)))
    stop = threading.Event()
    small = replace(options, batch_size=500)

    for limit in (500, 3_500):
        stop.clear()

        def stopping(progress: Any, limit: int = limit) -> None:
            if progress.counts["entities"] + progress.counts["statements"] > limit:
                stop.set()

        report = load(
            folder, store=tmp_store, graph="g", options=small, progress=stopping, stop=stop
        )
        assert report.status == "stopped"
    report = load(folder, store=tmp_store, graph="g", options=small)
    assert report.resumed
    assert report.records == RecordCounts(read=12_999)
    assert report.source_records == 12_999
    assert [reject.reason for reject in report.rejects] == [UNFINISHED_ARRAY]


LINES = st.lists(
    st.sampled_from([b"", b" ", b"# x", b"<a> <b> <c> .", b" \t<a>", b"\r", b"x" * 300]), max_size=8
)


@given(LINES, st.lists(st.integers(1, 20), min_size=1))
def test_lines_are_counted_however_the_bytes_come(lines: list[bytes], sizes: list[int]) -> None:
    data = b"\n".join(lines)
    counter = RdfLineCounter()
    rest, index = data, 0
    while rest:
        counter.feed(rest[: sizes[index % len(sizes)]])
        rest, index = rest[sizes[index % len(sizes)] :], index + 1
    records = [line for line in lines if line.strip() and not line.startswith(b"#")]
    assert counter.count == len(records)


@pytest.mark.parametrize(
    ("text", "count", "problem"),
    [
        (b"", 0, ""),
        (b"[\n]\n", 0, ""),
        (b"[\n{}\n,\n{}\n]", 2, ""),
        (b"\xef\xbb\xbf[\r\n{},\r\n{}\r\n]\r\n", 2, ""),
        (b"[{},\n{}]", 2, ""),
        (b"[\n{},\n{}", 2, UNFINISHED_ARRAY),
        (b"{}\n{}\n", 2, ""),
    ],
)
def test_lines_of_json_are_counted_without_brackets(text: bytes, count: int, problem: str) -> None:
    for size in (1, 2, 3, 100):
        counter = JsonLineCounter()
        for first in range(0, len(text), size):
            counter.feed(text[first : first + size])
        assert (counter.count, counter.problem) == (count, problem), size
