"""Workbooks, Parquet and DataFrames as tables of things (B14)."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import openpyxl
import pyarrow
import pytest
from error_texts import check_line
from pyarrow import parquet
from things_of_tables import Things, statements_of

from graph_service.errors import InputError
from graph_service.model.classes import RDF_TYPE
from graph_service.model.values import (
    Quantity,
    StringValue,
    display_value,
)
from graph_service.store import open_store
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import open_source
from loaders.tables.cells import NESTED
from loaders.tables.frames import load_frames
from loaders.tables.plan import plan_tables, request_of
from loaders.tables.things import read_things
from loaders.tables.typed_cells import cell_text
from loaders.tables.workbook import read_workbook_rows, sheet_names


def test_workbooks_and_parquet_have_the_values_of_the_text_table(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    text = (
        "id,name,made,kilos,sold,tags\n1,Saw,2024-04-03,1.125,yes,a;b\n2,Axe,2024-05-04,40,no,b\n"
    )
    expected = Things(tmp_path / "text", {"tools.csv": text}).parsed.statements
    cells: list[list[Any]] = [
        ["id", "name", "made", "kilos", "sold", "tags"],
        [1, "Saw", datetime(2024, 4, 3), 1.125, True, "a;b"],
        [2, "Axe", datetime(2024, 5, 4), 40, False, "b"],
    ]
    workbook = openpyxl.Workbook()
    workbook.active.append(["Tools of 2024"])
    for row in cells:
        workbook.active.append(row)
    workbook.save(tmp_path / "tools.xlsx")
    header, *rows = cells
    columns: dict[Any, list[Any]] = {
        name: [row[index] for row in rows] for index, name in enumerate(header)
    }
    columns["kilos"] = [1.125, 40.0]
    columns["tags"] = [["a", "b"], ["b"]]
    parquet.write_table(pyarrow.table(columns), tmp_path / "tools.parquet")
    for name in ("tools.xlsx", "tools.parquet"):
        request = LoadOptions(row="id")
        said = request_of(request)
        assert said is not None
        plan = plan_tables(tmp_path / name, said, request)
        with open_source(tmp_path / name) as source:
            blocks = list(read_things(source, replace(request, tables=plan), {}))
        statements = statements_of(blocks)
        # The title and the header of the workbook are rows too.
        assert sum(block.counts.read for block in blocks) == 3 + (name == "tools.xlsx")
        # A cell of a workbook is one number, where 1.125 beside 40 may be two in a text.
        exact = {("tool/1", "kilos", Quantity("1.1250"))}
        assert {(s.head, s.relation, s.value) for s in statements} == exact | {
            (s.head, s.relation, s.value) for s in expected if s.value != StringValue("1.125")
        }


def test_structs_of_parquet_are_columns_as_objects_of_json_are(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "id": ["a", "b"],
        "home": [{"city": "Oslo", "zip": "0150", "at": {"floor": 3}}, None],
        "tags": [["x y", "z"], []],
        "jobs": [[{"title": "cook"}], []],
    }
    parquet.write_table(pyarrow.table(columns), tmp_path / "people.parquet")
    (tmp_path / "json").mkdir()
    rows = [
        {name: column[row] for name, column in columns.items() if column[row] is not None}
        for row in (0, 1)
    ]
    expected = Things(tmp_path / "json", {"people.json": json.dumps(rows)}).parsed
    options = LoadOptions(row="id")
    request = request_of(options)
    assert request is not None
    plan = plan_tables(tmp_path / "people.parquet", request, options)
    with open_source(str(tmp_path / "people.parquet")) as source:
        [parsed] = read_things(source, replace(options, tables=plan), {})
    assert set(map(repr, parsed.statements)) == set(map(repr, expected.statements))
    values = {
        (s.relation, display_value(s.value)) for s in parsed.statements if s.head == "person/a"
    }
    assert {("home zip", "0150"), ("home at floor", "3")} < values
    assert not any("{" in value or "[" in value for _, value in values)


def test_arrays_of_frames_are_lists_and_objects_are_no_values() -> None:
    assert cell_text(np.array(["red; dark", "blue"])) == '["red; dark", "blue"]'
    assert cell_text({"a": 1}) == cell_text([[1], [2]]) == NESTED


def test_sheets_of_a_workbook_are_tables(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.title = "parts"
    rows: list[list[Any]] = [["Stock list"], [], ["SKU", "Name", "Pieces"], ["S1", "Saw", 4]]
    for row in [*rows, ["S2", "Axe", None], ["Total", None, 4]]:
        workbook.active.append(row)
    sheet = workbook.create_sheet("suppliers")
    for row in (["id", "name"], [1, "Pola"]):
        sheet.append(row)
    workbook.save(tmp_path / "stock.xlsx")
    options = LoadOptions(row="auto")
    request = request_of(options)
    assert request is not None
    plan = plan_tables(tmp_path / "stock.xlsx", request, options)
    with open_source(tmp_path / "stock.xlsx") as source:
        statements = statements_of(list(read_things(source, replace(options, tables=plan), {})))
    assert {(s.head, s.relation, display_value(s.value)) for s in statements} == {
        ("part/s1", RDF_TYPE, "class/part"),
        ("part/s1", "pieces", "4"),
        ("part/s2", RDF_TYPE, "class/part"),
        ("supplier/1", RDF_TYPE, "class/supplier"),
    }


class Columns:
    """What pandas and Polars have in common with a table in memory."""

    columns = ("id", "price", "made")

    def itertuples(self, *, index: bool, name: None) -> list[tuple[Any, ...]]:
        assert not index
        assert name is None
        return [(1, 2.125, date(2024, 4, 3)), (2, float("nan"), None)]


class Array:
    """What numpy and Polars have in common of a cell that holds several values."""

    def __init__(self, *values: Any) -> None:
        self.values = values

    def __ne__(self, other: object) -> Any:
        return self

    def __bool__(self) -> bool:
        raise ValueError("the truth value of an array with more than one element is ambiguous")

    def tolist(self) -> list[Any]:
        return [*self.values]


class Lists(Columns):
    """A frame with lists, tuples and arrays in its cells."""

    columns = ("id", "tags", "sizes")

    def itertuples(self, *, index: bool, name: None) -> list[tuple[Any, ...]]:
        return [(1, Array("red; dark", "blue"), [1, 2]), (2, Array("blue"), (3, None))]


def test_lists_of_frames_have_each_of_their_values(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/g.db") as store:
        report = load_frames({"parts": Lists()}, store=store, graph="g")
        assert report.graph is not None
        values = {
            (statement.head, statement.relation, display_value(statement.value))
            for part in ("part/1", "part/2")
            for statement in store.statements_of(report.graph.edition, part)
        }
    expected = {
        ("part/1", "tags", "red; dark"),
        ("part/1", "tags", "blue"),
        ("part/2", "tags", "blue"),
    }
    sizes = {("part/1", "sizes", "1"), ("part/1", "sizes", "2"), ("part/2", "sizes", "3")}
    assert expected | sizes <= {
        (head, relation, value.removeprefix("tag/")) for head, relation, value in values
    }


def test_frames_are_loaded_as_tables(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'graph.db'}") as store:
        report = load_frames({"parts": Columns()}, store=store, graph="g", row="id")
    assert report.graph is not None
    # Two of what the rows are, a price and a date.
    assert report.graph.counts.statements == 4
    assert report.skipped == {"empty cells": 2}


Change = Callable[[bytes], bytes | None]


def workbook_with(path: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """Writes a good workbook whose parts are changed; a part that becomes None is left out."""
    workbook = openpyxl.Workbook()
    for row in [("name", "height"), ("Tower", 3), ("Gate", 4)]:
        workbook.active.append(row)
    workbook.save(path)
    with zipfile.ZipFile(path) as good:
        parts = {name: change(name, good.read(name)) for name in good.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as changed:
        for name, data in parts.items():
            if data is not None:
                changed.writestr(name, data)
    return path


PARTS = ("[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/styles.xml",
         "docProps/core.xml", "xl/_rels/workbook.xml.rels")  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_damaged_workbook_is_no_fault_of_ours(tmp_path: Path) -> None:
    """Each part is left out, empty, other XML and cut in turn, and bytes of the file change."""

    def read(path: Path) -> None:
        for sheet in sheet_names(str(path)):
            for _ in read_workbook_rows(str(path), sheet, {}, lambda row, parsed: None):
                pass

    changes: list[Change] = [
        lambda data: None,
        lambda data: b"",
        lambda data: b"<a/>",
        lambda data: data[: len(data) // 2],
        lambda data: data.replace(b"<", b"<x"),
    ]
    refused = 0
    for part, change in product(PARTS, changes):

        def changed(name: str, data: bytes, *, part: str = part, change: Change = change) -> Any:
            return change(data) if name == part else data

        try:
            read(workbook_with(tmp_path / "a.xlsx", changed))
        except InputError:
            refused += 1
    assert refused > len(PARTS)
    good = workbook_with(tmp_path / "a.xlsx", lambda name, data: data).read_bytes()
    random = Random(20261127)
    for _ in range(150):
        data = bytearray(good)
        for _ in range(random.randint(1, 5)):
            data[random.randrange(len(data))] = random.randrange(256)
        (tmp_path / "a.xlsx").write_bytes(data[: random.randrange(1, 2 * len(data))])
        with suppress(InputError):
            read(tmp_path / "a.xlsx")


def test_a_workbook_that_is_a_bomb_is_not_read(tmp_path: Path) -> None:
    path = workbook_with(
        tmp_path / "a.xlsx",
        lambda name, data: b"<a>" + bytes(260_000_000) if name == "xl/styles.xml" else data,
    )
    assert path.stat().st_size < 500_000
    with pytest.raises(InputError, match="would unpack to 260,0"):
        sheet_names(str(path))


def _workbook_things(
    tmp_path: Path, rows: list[list[Any]], edit: Callable[[Any], None] = lambda sheet: None
) -> tuple[dict[tuple[str, str], str], Parsed]:
    """Values by head and relation, and all that was parsed, of a workbook with one sheet."""
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    edit(workbook.active)
    workbook.save(tmp_path / "tools.xlsx")
    options = LoadOptions(row="auto")
    request = request_of(options)
    assert request is not None
    plan = plan_tables(tmp_path / "tools.xlsx", request, options)
    parsed = Parsed()
    with open_source(tmp_path / "tools.xlsx") as source:
        for block in read_things(source, replace(options, tables=plan), {}):
            parsed.add(block)
    values = {(s.head, s.relation): display_value(s.value) for s in parsed.statements}
    return values, parsed


@pytest.mark.parametrize(
    ("cell", "number_format", "expected"),
    [
        (0.125, "0.0%", "12.5 %"),
        (0.07, '0"%"', "0.07 %"),
        (5, "#,##0.00\\ [$EUR]", "5 EUR"),
        (5.5, '#,##0.00 "\u20ac"', "5.5 EUR"),
        (5.5, '_-* #,##0.00 [$\u20ac-407]_-;[Red]-* #,##0.00 "x"', "5.5 EUR"),
        (-5.5, '"$"#,##0.00_);[Red]("$"#,##0.00)', "-5.5 $"),
        (1.125, '0.000" kg"', "1.1250 kg"),
        (7, '0" of ten"', "7"),
        (1234, "#,##0", "1234"),
        (1067, "00000", "01067"),
        (datetime(2024, 3, 5), "[$-407]d. mmmm yyyy", "2024-03-05"),
        (datetime(2024, 3, 1), "mmm yyyy", "2024-03"),
        (datetime(2024, 3, 5), "mmm yyyy", "2024-03-05"),
        (datetime(2024, 1, 1), "yyyy", "2024"),
    ],
)
def test_a_cell_is_what_its_number_format_shows(
    tmp_path: Path, cell: Any, number_format: str, expected: str
) -> None:
    def edit(sheet: Any) -> None:
        for row in (2, 3):
            sheet.cell(row, 3).number_format = number_format

    rows: list[list[Any]] = [["id", "name", "amount"], [1, "Saw", cell], [2, "Axe", cell]]
    values, _ = _workbook_things(tmp_path, rows, edit)
    assert values["tool/1", "amount"] == values["tool/2", "amount"] == expected


def test_formulas_without_a_stored_result_are_counted(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["id", "net", "gross"],
        [1, 5, "=B2*1.19"],
        [2, 7, "=B3*1.19"],
        [3, 8, None],
    ]
    values, parsed = _workbook_things(tmp_path, rows)
    assert ("tool/1", "net") in values
    assert ("tool/1", "gross") not in values
    unstored = {reason: count for reason, count in parsed.skipped.items() if "formulas" in reason}
    [(reason, count)] = unstored.items()
    assert count == 2
    check_line(reason, "load it again")
    assert parsed.skipped["empty cells"] == 1


def test_merged_cells_of_a_column_all_have_the_text(tmp_path: Path) -> None:
    def edit(sheet: Any) -> None:
        sheet.merge_cells("A1:C1")
        sheet.merge_cells("B4:B6")

    rows: list[list[Any]] = [["Inventory 2024"], [], ["id", "maker", "pieces"]]
    rows += [[1, "Pola", 5], [2, None, 6], [3, None, 7], [4, "Kest", 8]]
    values, parsed = _workbook_things(tmp_path, rows, edit)
    makers = [values[f"tool/{row}", "maker"] for row in (1, 2, 3, 4)]
    assert makers == ["maker/pola", "maker/pola", "maker/pola", "maker/kest"]
    assert parsed.skipped["rows before the header"] == 1
    assert parsed.counts.read == 7


def test_hidden_rows_columns_and_sheets_are_read(tmp_path: Path) -> None:
    def edit(sheet: Any) -> None:
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["C"].hidden = True
        other = sheet.parent.create_sheet("makers")
        other.sheet_state = "hidden"
        for row in (["id", "city"], ["Pola", "Ulm"]):
            other.append(row)

    rows: list[list[Any]] = [["id", "name", "pieces"], [1, "Saw", 5], [2, "Axe", 6]]
    values, _ = _workbook_things(tmp_path, rows, edit)
    assert (values["sheet/2", "pieces"], values["maker/pola", "city"]) == ("6", "city/ulm")
