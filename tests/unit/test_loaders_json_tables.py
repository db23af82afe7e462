"""JSON arrays and JSON lines of objects as tables of things (B14)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from error_texts import check_counts, check_line, check_text
from things_of_tables import Things

from graph_service.errors import InputError
from graph_service.store import open_store
from loaders.load import LoadReport, load
from loaders.options import LoadOptions
from loaders.records import JsonArrayCounter
from loaders.source import open_source
from loaders.tables import json_rows
from loaders.tables.json_rows import is_json_table, read_json_rows

TOOLS = [
    {"id": 1, "name": "Saw", "price": 12.5, "tags": ["a", "b"], "maker": {"city": "Ulm"}},
    {"id": 2, "name": "Axe", "price": 7, "tags": ["b"], "maker": {"city": "Bonn"}, "sold": True},
    {"id": 3, "name": 'Nail "x" }', "price": 1.125, "tags": [], "maker": None, "sold": False},
]


def _load(path: Path, **options: object) -> LoadReport:
    options = {"rejects_path": path.parent / "rejects.jsonl"} | options
    with open_store(f"sqlite:///{path.parent / 'graph.db'}") as store:
        return load(path, store=store, graph="g", options=LoadOptions(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tools.json", json.dumps(TOOLS)),
        ("tools.json", json.dumps(TOOLS, indent=2)),
        ("tools.json", "[\n" + ",\n".join(map(json.dumps, TOOLS)) + "\n]\n"),
        ("tools.jsonl", "\n\n".join(map(json.dumps, TOOLS))),
        ("tools.ndjson", "\ufeff" + "\r\n".join(map(json.dumps, TOOLS)) + "\r\n"),
    ],
)
def test_objects_are_rows_however_they_are_written(tmp_path: Path, name: str, text: str) -> None:
    things = Things(tmp_path, {name: text})
    assert things.labels()["tool/3"] == 'Nail "x" }'
    assert things.values("price") == {"tool/1": "12.5", "tool/2": "7", "tool/3": "1.1250"}
    assert things.values("tags") == {"tool/1": ["tag/a", "tag/b"], "tool/2": "tag/b"}
    assert things.values("maker city") == {"tool/1": "city/ulm", "tool/2": "city/bonn"}
    assert things.values("sold") == {"tool/2": "true", "tool/3": "false"}
    assert things.parsed.counts.read == 3
    assert not things.parsed.rejects


def test_all_records_of_an_array_with_faults_are_accounted_for(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(
        '[{"id":1,"name":"Saw"},{"id":2,"name": },5,{"id":3,"id":4,"name":"x"},'
        '{"id":5,"name":"\\ud800"},{"id":6,"name":"Axe","a":{"b":1},"a b":2},{"id":7,"name":"Awl"}]'
    )
    report = _load(path)
    assert (report.records.read, report.records.rejected) == (2, 5)
    assert report.source_records == 7
    lines = (tmp_path / "rejects.jsonl").read_text().splitlines()
    reasons = [json.loads(line)["reason"] for line in lines]
    check_text(reasons, "'id'", "UTF-8", "'a b'")


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('[{"id":1,"name":"A"},{"id":2,"name":"B"}', 2),
        ('[{"id":1,"name":"A"},{"id":2,"name":"B', 2),
        ('[{"id":1,"name":"A"},{"id":2,"name":"B"}] 3', 2),
        ('[{"id":1,"name":"A"},{"id":2,"name":"B"}]\n[3]', 3),
        ('{"n":2,"data":[{"id":1,"name":"A"},{"id":2,"name":"B"}', 2),
        ('{"data":[{"id":1,"name":"A"},{"id":2,"name":"B"}],"n":', 2),
    ],
)
def test_an_array_that_is_cut_or_goes_on_is_told(tmp_path: Path, text: str, records: int) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text)
    report = _load(path)
    assert report.source_records == records == report.records.total
    check_text((tmp_path / "rejects.jsonl").read_text())
    assert not report.incomplete


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tools.json", '{"data": [{"id":1,"name":"A"},{"id":2,"name":"B"}]}'),
        (
            "tools.json",
            '\ufeff{"count":2,"next":null,"rows":\n[{"id":1,"name":"A"}, {"id":2,"name":"B"}]}',
        ),
        ("tools.json", '{"rows":[{"id":1,"name":"A"},{"id":2,"name":"B"}],"x":{"y":[[1]]}}'),
        ("tools.jsonl", '[{"id":1,"name":"A"}]\n[{"id":2,"name":"B"}]\n'),
        ("tools.json", '[{"id":1,"name":"A"}] [] [{"id":2,"name":"B"}]'),
    ],
)
def test_the_one_list_of_objects_of_a_file_is_its_rows(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / "plain").mkdir()
    plain, wrapped = tmp_path / "plain" / "tools.json", tmp_path / name
    plain.write_text('[{"id":1,"name":"A"},{"id":2,"name":"B"}]')
    wrapped.write_text(text)
    expected, report = _load(plain), _load(wrapped)
    assert report.source_records == report.records.total == 2
    assert not report.rejected
    assert report.graph is not None
    assert expected.graph is not None
    assert report.graph.fingerprints == expected.graph.fingerprints


def test_what_stands_beside_the_list_of_rows_is_told(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text('{"count":9,"rows":[{"id":1,"name":"A"},{"id":2,"name":"B"}],"next":"p2"}')
    check_counts(_load(path).skipped, 2)
    padding = " " * 300_000
    path.write_text(f'{{"a":[{{"id":1,"name":"A"}}],{padding}"b":[{{"id":2,"name":"B"}}]}}')
    assert _load(path).rejected == 1
    check_line((tmp_path / "rejects.jsonl").read_text(), "list of objects, b")


def test_features_of_geojson_are_rows_by_their_properties(tmp_path: Path) -> None:
    path = tmp_path / "towns.geojson"
    point = '{"type":"Feature","properties":{"name":"Ulm","people":9},"geometry":{"type":"Point","coordinates":[9.5,48]}}'
    area = '{"type":"Feature","properties":{"name":"Au","people":8},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}'
    path.write_text(f'{{"type":"FeatureCollection","features":[{point},{area}]}}')
    report = _load(path)
    assert report.source_records == report.records.total == 2
    assert report.skipped["shapes of GeoJSON that are no point"] == 1
    assert report.graph is not None
    assert report.graph.counts.relations == 4


def test_lists_of_objects_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [{"id": 1, "name": "A", "lines": [{"n": 1}]}, {"id": 2, "name": "B", "lines": [[1]]}]
    things = Things(tmp_path, {"orders.json": json.dumps(rows)})
    assert not things.values("lines")
    [(reason, count)] = things.parsed.skipped.items()
    assert count == 2
    check_text(reason)


def test_files_of_a_folder_refer_to_each_other(tmp_path: Path) -> None:
    parts = [{"id": "P1", "supplier": 1}, {"id": "P2", "supplier": 2}]
    suppliers = "id,name\n1,Pola\n2,Kestrel\n"
    things = Things(tmp_path, {"parts.json": json.dumps(parts), "suppliers.csv": suppliers})
    assert things.values("supplier") == {"part/p1": "supplier/1", "part/p2": "supplier/2"}


@pytest.mark.parametrize(
    "content",
    [
        '[{"id":"Q1","type":"item","labels":{},"claims":{}}]',
        '{"id":"Q1","type":"item"}\n{"id":"Q2","type":"item"}\n',
        '{"entities":{"Q1":{}}}',
        '{"Q1":{"labels":{}},"Q2":{}}',
        '[{"@context":"http://schema.org"}]',
        "[1, 2]",
        "{not json}",
    ],
)
def test_documents_and_other_json_are_no_tables(tmp_path: Path, content: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(content)
    assert not is_json_table(path)


def test_objects_without_a_key_are_refused_with_the_option_that_works(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    path.write_text('[{"from":"a","to":"b","by":"x"},{"from":"a","to":"b","by":"x"}]')
    with pytest.raises(InputError, match="--row"):
        _load(path)


def test_keys_that_are_values_are_too_many_columns(tmp_path: Path) -> None:
    path = tmp_path / "days.jsonl"
    path.write_text("".join(f'{{"id":{row},"day {row}":1}}\n' for row in range(2_500)))
    with pytest.raises(InputError, match="2,000 different keys"):
        _load(path)


def test_a_large_packed_array_is_read_piece_by_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more of it than some pieces is held, and a load goes on after a block."""
    rows = [{"id": row, "name": f"Tool {row}", "note": "\u00e9\\ " * 40} for row in range(3_000)]
    path = tmp_path / "tools.json.gz"
    path.write_bytes(gzip.compress(json.dumps(rows).encode()))
    longest = 0
    read_more = json_rows._ArrayPieces.read_more

    def measured(pieces: json_rows._ArrayPieces) -> bool:
        nonlocal longest
        more = read_more(pieces)
        longest = max(longest, len(pieces.text))
        return more

    monkeypatch.setattr(json_rows._ArrayPieces, "read_more", measured)
    seen: list[str] = []
    with open_source(path) as source:
        blocks = read_json_rows(source, {}, lambda row, _: seen.append(row.cells[0]))
        position = next(blocks).position
    assert 0 < longest < 700_000 < len(json.dumps(rows))
    rest: list[str] = []
    with open_source(path) as source:
        list(read_json_rows(source, position, lambda row, _: rest.append(row.cells[0])))
    # The header is taken first, each time.
    assert seen + rest[1:] == ["id", *map(str, range(3_000))]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
def test_elements_are_counted_wherever_the_bytes_are_cut(size: int) -> None:
    data = json.dumps([{"a": '"]},{[\\'}, [1, [2]], 'x,y\\"', 12.5e3, None, True, {}]).encode()
    counter = JsonArrayCounter()
    for at in range(0, len(data), size):
        counter.feed(data[at : at + size])
    assert (counter.count, counter.problem) == (7, "")
