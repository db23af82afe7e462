"""Quotes in tables: one in the middle of a cell is text, one that is never closed costs its row."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service.store.protocol import Store
from loaders.items import Parsed, Reject
from loaders.load import load
from loaders.options import LoadOptions
from loaders.source import SourceLimits, open_source
from loaders.tables.dialect import Dialect
from loaders.tables.rows import Row, read_rows

GOOD = "Q{},P1,Q{}\n"


def rows_of(path: Path, *, limits: SourceLimits | None = None) -> tuple[list[Row], list[Reject]]:
    rows: list[Row] = []

    def take(row: Row, _parsed: Parsed) -> None:
        rows.append(row)

    rejects: list[Reject] = []
    with open_source(path, limits=limits) as source:
        for parsed in read_rows(source, {}, Dialect(","), take):
            rejects += parsed.rejects
            assert parsed.counts.rejected == len(parsed.rejects)
    return rows, rejects


@pytest.mark.parametrize(
    ("text", "cells", "rejected"),
    [
        ('a,b,3" disk\nc,d,e\nf,g,5" disk\nh,i,j\n', ['3" disk', "e", '5" disk', "j"], []),
        ('a,b,3" disk\nc,d,e\n', ['3" disk', "e"], []),
        ('a,b,"tall\nc,d,e\nf,g,h\n', ["e", "h"], [1]),
        ('a,b,"tall\nc,d,e\nf,g,"x"\n', ["e", "x"], [1]),
        ('a,b,"two\nlines"\nc,d,"""q"""\n', ["two\nlines", '"q"'], []),
        ('a,b,"x"y\nc,d,e\n', ["e"], [1]),
        ('a,b,"x\n"a,b,"x\nc,d,e\n', ["e"], [1, 2]),
        (
            'a,b,"x\u2028y\x0cz\x85"\na,"b",u\u2028v\nc,d,e\n',
            ["x\u2028y\x0cz\x85", "u\u2028v", "e"],
            [],
        ),
        ('a,b,"x\r\ny"\r\nc,d,e\r\n', ["x\ny", "e"], []),
        ('a,b,""\n\nc,d,e', ["", "e"], []),
    ],
)
def test_a_quote_costs_no_other_row(
    tmp_path: Path, text: str, cells: list[str], rejected: list[int]
) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    rows, rejects = rows_of(path)
    assert [row.cells[2] for row in rows] == cells
    assert [reject.line for reject in rejects] == rejected


def test_a_cell_that_is_open_for_many_lines_costs_its_row(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    lines = [GOOD.format(index, index) for index in range(3_000)]
    path.write_text('Q1,P1,"open\n' + "".join(lines) + 'Q1,"P1,Q9\n')
    rows, rejects = rows_of(path)
    assert len(rows) == 3_000
    assert [reject.line for reject in rejects] == [1, 3_002]
    assert rejects[0].text == 'Q1,P1,"open'


@given(
    st.lists(
        st.lists(st.text('ab",\n \u2028', max_size=5), min_size=2, max_size=3).filter(any),
        min_size=1,
        max_size=6,
    )
)
def test_what_python_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[str]]
) -> None:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    path = tmp_path_factory.mktemp("csv") / "a.csv"
    path.write_text(text.getvalue(), newline="")
    rows, rejects = rows_of(path)
    assert not rejects
    assert [row.cells for row in rows] == table


def test_files_beside_a_table_lose_no_row_either(tmp_store: Store, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("A\tr\tB\nC\tr\tD\n")
    (tmp_path / "labels.csv").write_text('A,one\nB,3" disk\nC,other\nD,5" disk\n')
    options = LoadOptions(label_files=(tmp_path / "labels.csv",), rejects_path=tmp_path / "r")
    report = load(tmp_path / "a.tsv", store=tmp_store, graph="g", options=options)
    assert report.rejected == 0
    entities = tmp_store.entities("g@1", ["A", "B", "C", "D"]).entities
    names = ["one", '3" disk', "other", '5" disk']
    assert [entities[id_].labels["en"] for id_ in "ABCD"] == names
