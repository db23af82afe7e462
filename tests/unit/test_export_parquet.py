"""A graph as Parquet files: what they hold, and which folders a load refuses (S1, B14)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import orjson
import pyarrow
import pytest
from error_texts import check_text, raises
from graphs import load_graph, sample_entities, sample_statements
from pyarrow import parquet

from graph_service import Service, open_service
from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.export import ExportReport, export, exported_graph
from graph_service.export import run as export_run
from graph_service.export.parquet import write_parquet
from graph_service.model.hashing import fingerprint
from graph_service.model.identity import key64
from graph_service.model.request import ViewRef
from graph_service.model.statement import Entity
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.settings import Settings
from graph_service.store.parquet import read_manifest, schemas
from loaders.load import load
from loaders.options import LoadOptions
from loaders.subset.filters import Filters


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with open_service(f"sqlite:///{tmp_path / 'graph.db'}", settings=Settings()) as service:
        # A language with an empty list of aliases is content too.
        entities = [*sample_entities(), Entity("Q77", labels={"en": ""}, aliases={"en": ()})]
        load_graph(service.store, "kinds", sample_statements(), entities)
        yield service


@pytest.fixture
def written(service: Service, tmp_path: Path) -> ExportReport:
    return export(exported_graph(service, graph="kinds"), str(tmp_path / "kinds.parquet"))


def rows_of(folder: Path, table: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for path in sorted((folder / table).iterdir()):
        rows += parquet.read_table(path).to_pylist()
    return rows


def test_the_columns_say_what_the_graph_does(written: ExportReport, tmp_path: Path) -> None:
    folder = tmp_path / "kinds.parquet"
    assert written.files == (str(folder),)
    by_id = {row["statement"]: row for row in rows_of(folder, "statements")}
    assert len(by_id) == written.statements
    for statement in sample_statements():
        row = by_id[statement.id]
        assert (row["key"], row["head_key"]) == (key64(statement.id), key64(statement.head))
        assert (row["head"], row["relation"]) == (statement.head, statement.relation)
        assert row["rank"] == statement.rank.value
        assert (row["tail"] is None) != (row["value"] is None)
        qualifiers = row["qualifiers"] or []
        assert isinstance(qualifiers, list)
        assert [part["relation"] for part in qualifiers] == [
            part.relation for part in statement.qualifiers
        ]
    keys = [row["key"] for row in rows_of(folder, "statements")]
    assert keys == sorted(keys)  # type: ignore[type-var]
    languages = {row["language"] for row in by_id.values()} - {None}
    assert languages
    names = {
        (row["entity"], name["kind"], name["language"]): name["text"]
        for row in rows_of(folder, "entities")
        for name in row["names"] or ()  # type: ignore[attr-defined]
    }
    for entity in sample_entities():
        for language, label in entity.labels.items():
            assert names[entity.id, "label", language] == label


def test_the_hashes_of_rows_add_up_to_the_fingerprints(
    written: ExportReport, tmp_path: Path
) -> None:
    """Any engine can check a graph: sums of four columns of whole numbers."""
    folder = tmp_path / "kinds.parquet"
    statements, entities = rows_of(folder, "statements"), rows_of(folder, "entities")

    def total(rows: list[dict[str, object]], name: str) -> int:
        return sum(int(row[name]) for row in rows)  # type: ignore[call-overload]

    def words(low: int, high: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        return np.array([low % 2**64, high % 2**64], dtype=np.uint64)

    edges = words(total(statements, "edge_low"), total(statements, "edge_high"))
    assert fingerprint(edges, len(statements)) == written.fingerprints.edges
    every = statements + entities
    content = words(total(every, "content_low"), total(every, "content_high"))
    assert fingerprint(content, len(every)) == written.fingerprints.content


def test_relations_are_codes_of_a_dictionary(written: ExportReport, tmp_path: Path) -> None:
    assert written.statements
    metadata = parquet.read_metadata(tmp_path / "kinds.parquet/statements/part-00000.parquet")
    group = metadata.row_group(0)
    encodings = {
        group.column(index).path_in_schema: group.column(index).encodings
        for index in range(group.num_columns)
    }
    for name in ("relation", "rank", "value_type", "qualifiers.list.element.relation"):
        assert "RLE_DICTIONARY" in encodings[name], name
    assert "RLE_DICTIONARY" not in encodings["statement"]
    own = orjson.loads(metadata.metadata[b"graph-service"])
    assert (own["layout"], own["version"]) == ("graph-parquet", 1)
    assert own["edges"] == written.fingerprints.edges


def test_files_are_ranges_of_keys(service: Service, tmp_path: Path) -> None:
    """Also of a view, whose own statements stand in files of their own."""
    swapped = ViewRef(spec=ViewSpec(Method.RELATION_SWAPPING, level=0.5, random_seed=1))
    for view in (None, swapped):
        folder = tmp_path / f"{view is None}.parquet"
        folder.mkdir()
        exported = exported_graph(service, graph="kinds", view=view)
        entities, statements, fingerprints = write_parquet(exported, folder, part_rows=3)
        manifest = read_manifest(folder)
        assert manifest is not None
        assert len(manifest.parts) > (entities + statements) // 3
        for part in manifest.parts:
            keys = parquet.read_table(folder / part.file)["key"].to_pylist()
            assert len(keys) == part.rows <= 3
            assert (keys[0], keys[-1]) == (part.first, part.last)
            assert keys == sorted(keys)
        if view is None:
            firsts = [part.first for part in manifest.parts if part.table == "statements"]
            assert firsts == sorted(firsts)
        back = load(folder, store=service.store, graph="back", replace=True).graph
        assert back is not None
        assert back.fingerprints == fingerprints


def test_filters_and_languages_take_a_part(
    service: Service, written: ExportReport, tmp_path: Path
) -> None:
    """As from JSON lines, which hold the same."""
    lines = tmp_path / "kinds.jsonl"
    export(exported_graph(service, graph="kinds"), str(lines))
    relation = sample_statements()[0].relation
    for options in (
        LoadOptions(filters=Filters(relations=(relation,))),
        LoadOptions(languages=("en",)),
    ):
        infos = [
            load(source, store=service.store, graph="part", replace=True, options=options)
            for source in (lines, written.files[0])
        ]
        first, second = infos
        assert first.graph is not None
        assert second.graph is not None
        assert first.graph.fingerprints == second.graph.fingerprints != written.fingerprints
        assert first.skipped == second.skipped


def cut(folder: Path) -> None:
    path = folder / "statements/part-00000.parquet"
    path.write_bytes(path.read_bytes()[:-100])


def lose_part(folder: Path) -> None:
    (folder / "entities/part-00000.parquet").unlink()


def lose_column(folder: Path) -> None:
    path = folder / "statements/part-00000.parquet"
    parquet.write_table(parquet.read_table(path).drop_columns(["head"]), path)


def lose_row(folder: Path) -> None:
    path = folder / "statements/part-00000.parquet"
    parquet.write_table(parquet.read_table(path).slice(1), path)


def change_head(folder: Path) -> None:
    path = folder / "statements/part-00000.parquet"
    table = parquet.read_table(path)
    heads = ["Q1", *table["head"].to_pylist()[1:]]
    index = table.schema.get_field_index("head")
    table = table.set_column(index, table.schema.field("head"), pyarrow.array(heads))
    parquet.write_table(table, path)


def break_value(folder: Path) -> None:
    path = folder / "statements/part-00000.parquet"
    table = parquet.read_table(path)
    values = ['["?"]' if value is not None else None for value in table["value"].to_pylist()]
    index = table.schema.get_field_index("value")
    table = table.set_column(index, table.schema.field("value"), pyarrow.array(values))
    parquet.write_table(table, path)


def flip_bits(folder: Path) -> None:
    path = folder / "statements/part-00000.parquet"
    data = bytearray(path.read_bytes())
    for offset in range(200, 260):
        data[offset] ^= 0x55
    path.write_bytes(data)


def change_manifest(old: bytes, new: bytes) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        data = (folder / "graph.json").read_bytes()
        assert old in data
        (folder / "graph.json").write_bytes(data.replace(old, new, 1))

    return change


def cut_manifest(folder: Path) -> None:
    path = folder / "graph.json"
    path.write_bytes(path.read_bytes()[:-40])


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        lose_part,
        lose_column,
        lose_row,
        change_head,
        break_value,
        flip_bits,
        cut_manifest,
        change_manifest(b'"rows":', b'"rows":1'),
        change_manifest(b'"version":1', b'"version":2'),
        change_manifest(b'"file":"', b'"file":"../'),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_damaged_folders_are_refused_and_publish_nothing(
    service: Service,
    written: ExportReport,
    tmp_path: Path,
    damage: Callable[[Path], None],
) -> None:
    folder = Path(written.files[0])
    damage(folder)
    with raises(InputError):
        load(folder, store=service.store, graph="back")
    assert [info.name for info in service.store.graphs()] == ["kinds"]


def test_one_file_of_a_graph_and_foreign_files_are_refused(
    service: Service, written: ExportReport, tmp_path: Path
) -> None:
    folder = Path(written.files[0])
    with raises(InputError) as refused:
        load(folder / "statements/part-00000.parquet", store=service.store, graph="back")
    check_text(str(refused.value.hint))
    with raises(InputError):
        load(folder / "graph.json", store=service.store, graph="back")
    foreign = tmp_path / "foreign.parquet"
    parquet.write_table(pyarrow.table({"name": ["a", "b"], "age": [1, 2]}), foreign)
    with raises(InputError):
        load(foreign, store=service.store, graph="back")
    # It is a table of things, and is read as such.
    report = load(foreign, store=service.store, graph="back", options=LoadOptions(row="name"))
    assert report.graph is not None
    assert report.graph.counts.entities >= 2
    # Without its manifest a folder's files are tables, of which none says how it is read.
    (folder / "graph.json").unlink()
    rejects = tmp_path / "rejects.jsonl"
    with raises(InputError):
        load(folder, store=service.store, graph="b", options=LoadOptions(rejects_path=rejects))


def test_an_export_takes_the_place_of_an_export_alone(
    service: Service, written: ExportReport, tmp_path: Path
) -> None:
    exported = exported_graph(service, graph="kinds")
    again = export(exported, written.files[0])
    assert again.fingerprints == written.fingerprints
    (Path(written.files[0]) / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        export(exported, written.files[0])
    other = tmp_path / "other.parquet"
    other.mkdir()
    (other / "graph.json").write_text("{}")
    with pytest.raises(InputError, match="holds other files"):
        export(exported, str(other))
    with raises(InputError):
        export(exported, "-", format=export_run.ExportFormat.PARQUET)


def test_the_command_line_writes_and_loads_parquet(
    written: ExportReport, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", f"sqlite:///{tmp_path / 'second.db'}"]
    assert main(["load", written.files[0], "--graph", "back", "--quiet", *store]) == 0
    capsys.readouterr()
    out = tmp_path / "again"
    words = ["export", str(out), "--format", "parquet", "--graph", "back", "--json", *store]
    assert main(words) == 0
    report = orjson.loads(capsys.readouterr().out)
    assert report["content"] == written.fingerprints.content
    assert report["comes_back"] == "content"
    check_text(report["commands"], out, "--graph")
    shutil.rmtree(out)


def test_every_column_is_described() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/parquet.md").read_text()
    for table, schema in schemas().items():
        section = page.partition(f"## `{table}/`")[2].partition("\n## ")[0]
        described = [line.split("`")[1] for line in section.splitlines() if line.startswith("| `")]
        assert described == schema.names
