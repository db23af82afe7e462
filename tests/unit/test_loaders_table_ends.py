"""Tables as people have them: groups of columns above, totals, remarks and other tables below."""

from __future__ import annotations

import io
from pathlib import Path

import openpyxl
import pytest
from error_texts import check_counts, check_line, raises
from things_of_tables import Things

from graph_service.errors import InputError
from graph_service.model.classes import RDF_TYPE
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.tables.mapping import ColumnType

ROWS = "Item,Made,Sold\nSaw,10,8\nAxe,12,9\n"


def items(things: Things) -> set[str]:
    return {head.partition("/")[2] for head in things.values(RDF_TYPE) if "class" not in head}


@pytest.mark.parametrize(
    ("after", "counts"),
    [
        ("Total,22,17\n", (1,)),
        ("Summe,22,17\n* estimated,,\n", (1, 1)),
        (",,\nAverage,11,8.5\n", (1,)),
        ("\nSource: the shop,,\n", (1,)),
        ("Prices of last year only,,\n", (1,)),
        ("\nInternal,,\nby Ann,,\n", (2,)),
        (",22,\n", (1,)),
        ("(1) not counted\n", (1,)),
        ("\nexported by Ann\n", (1,)),
        ("\x1a", ()),
    ],
)
def test_totals_and_remarks_after_the_rows_are_no_things(
    tmp_path: Path, after: str, counts: tuple[int, ...]
) -> None:
    things = Things(tmp_path, {"items.csv": ROWS + after})
    assert items(things) == {"saw", "axe"}
    check_counts(things.parsed.skipped, *counts)
    assert not things.parsed.rejects


def test_a_last_row_that_was_cut_is_a_reject(tmp_path: Path) -> None:
    things = Things(tmp_path, {"items.csv": f"{ROWS}Spade"})
    assert len(things.parsed.rejects) == 1


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("Total,7,5\nSpade,3,2\n", {"total", "spade"}),
        ("Spade,,\n", {"spade"}),
        ("Spade,,\nRake,4,1\n", {"spade", "rake"}),
        ("\nSpade,,\nRake,4,1\n", {"spade", "rake"}),
        ("Pruning Saw,,\n", {"pruning saw"}),
    ],
)
def test_rows_that_look_like_them_are_rows(tmp_path: Path, rows: str, expected: set[str]) -> None:
    things = Things(tmp_path, {"items.csv": ROWS + rows})
    assert items(things) == {"saw", "axe"} | expected


def test_a_last_row_without_a_year_is_a_row_where_names_are_long(tmp_path: Path) -> None:
    text = "Film,Year\nAlien: Covenant,2017\nHeat,1995\nThe Lord of the Rings,\n"
    things = Things(tmp_path, {"films.csv": text})
    assert items(things) == {"alien: covenant", "heat", "the lord of the rings"}


def test_totals_of_groups_are_no_rows(tmp_path: Path) -> None:
    text = (
        "No,Dept,Item,Amount\n1,IT,Laptops,5000\n2,IT,Licences,2000\n,IT total,,7000\n"
        "3,HR,Training,3000\n,HR total,,3000\n,Grand total,,10000\n"
    )
    things = Things(tmp_path, {"costs.csv": text})
    assert things.values("amount") == {"cost/1": "5000", "cost/2": "2000", "cost/3": "3000"}
    assert things.parsed.skipped == {"rows of totals": 3}


def test_a_column_whose_name_is_a_sign(tmp_path: Path) -> None:
    path = tmp_path / "poll.csv"
    path.write_text("Party,Votes,%\nRed,1200,40%\nBlue,1500,50%\nTotal,2700,90%\n")
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(path, store=store, graph="g")
    assert report.keys == {"poll.csv": "Party"}
    assert report.skipped == {"rows of totals": 1}


def test_a_column_that_is_called_as_another_files_key_refers_to_it(tmp_path: Path) -> None:
    tables = {
        "a.csv": "Kunde;Umsatz\nAlpha;10\nBeta;20\n",
        "b.csv": "Datum;Kunde;Menge\n01.02.2024;alpha;3\n15.02.2024;BETA;4\n",
    }
    values = Things(tmp_path, tables).values("kunde")
    assert set(values.values()) == {"a/alpha", "a/beta"}


def test_a_firm_that_is_called_total_is_a_row(tmp_path: Path) -> None:
    text = "Company,Country,Revenue\nShell,UK,381\nBP,UK,249\nTotal,France,263\n"
    assert items(Things(tmp_path, {"firms.csv": text})) >= {"shell", "bp", "total"}


@pytest.mark.parametrize("between", ["\n", ",,\n", "\n\n\n", "Total,22,17\n\n"])
def test_a_second_table_below_the_first_is_refused(tmp_path: Path, between: str) -> None:
    text = f"{ROWS}{between}Shop,Town,Staff\nNorth,Ulm,3\nSouth,Bonn,4\n"
    with raises(InputError):
        Things(tmp_path, {"items.csv": text})
    path = tmp_path / "items.csv"
    with (
        open_store(f"sqlite:///{tmp_path / 'g.db'}") as store,
        pytest.raises(InputError),
    ):
        load(path, store=store, graph="g", options=LoadOptions(rejects_path=tmp_path / "r"))


def test_rows_after_an_empty_line_are_rows(tmp_path: Path) -> None:
    things = Things(tmp_path, {"items.csv": f"{ROWS}\nRake,4,1\nSpade,unknown,2\n"})
    assert items(things) == {"saw", "axe", "rake", "spade"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Product,,Sales,\nCode,Name,2022,2023\nA1,Table,10,12\nA2,Chair,7,9\n",
            {"sales 2022", "sales 2023"},
        ),
        (
            "Code;Name;Sales;Sales;Stock;Stock\n;;Q1;Q2;Q1;Q2\nA1;Table;1;2;3;4\nA2;Chair;5;6;7;8\n",
            {"sales q1", "sales q2", "stock q1", "stock q2"},
        ),
        (
            "Code,Name,Size,,Kind\n,,Height,Width,\nA1,Table,10,12,oak\nA2,Chair,7,9,oak\n",
            {"height", "width", "kind"},
        ),
        (
            "Report of 2023,,,\nCode,Name,2022,2023\nA1,Table,10,12\nA2,Chair,7,9\n",
            {"2022", "2023"},
        ),
    ],
)
def test_columns_are_called_by_their_groups_where_their_names_say_nothing(
    tmp_path: Path, text: str, expected: set[str]
) -> None:
    things = Things(tmp_path, {"items.csv": text})
    [table] = things.plan.tables
    columns = table.mapping.columns
    assert {c.relation for c in columns if c.relation} == expected
    assert [c.type for c in columns][:2] == [ColumnType.KEY, ColumnType.NAME]
    assert things.labels()["item/a1"] == "Table"


def test_header_cells_that_are_merged_over_two_rows_are_no_row(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for cells in (
        ["Sales report"],
        ["Code", "Name", "Sales", None, "Kind"],
        [None, None, 2022, 2023, None],
        ["A1", "Table", 10, 12, "oak"],
        ["A2", "Chair", 7, 9, "oak"],
        ["Total", None, 17, 21, None],
        ["* in units"],
    ):
        sheet.append(cells)
    for merged in ("A1:E1", "C2:D2", "A2:A3", "B2:B3", "E2:E3"):
        sheet.merge_cells(merged)
    data = io.BytesIO()
    workbook.save(data)
    things = Things(tmp_path, {"items.xlsx": data.getvalue()})
    assert things.values("sales 2022") == {"item/a1": "10", "item/a2": "7"}
    assert things.values("sales 2023") == {"item/a1": "12", "item/a2": "9"}
    check_counts(things.parsed.skipped, 2, 1, 1)


def test_what_tells_excel_that_a_cell_is_text_is_no_part_of_it(tmp_path: Path) -> None:
    text = 'SKU,Phone,Band\n="0012",\'0170123,\'90s\n"=""0013""",\'0171456,\'80s\n'
    things = Things(tmp_path, {"items.csv": text}, row="SKU")
    assert things.values("phone") == {"item/0012": "0170123", "item/0013": "0171456"}
    assert things.values("band")["item/0012"] == "'90s"


@pytest.mark.parametrize(
    "data",
    [
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        b"<html><table></table></html>",
        b"id,name\n1,A\n",
        b"PK\x03\x04\0\0",
    ],
)
def test_a_file_that_is_no_workbook_is_refused_with_the_way_out(
    tmp_path: Path, data: bytes
) -> None:
    with raises(InputError):
        Things(tmp_path, {"items.xlsx": data})


@pytest.mark.parametrize(
    ("header", "relation", "unit"),
    [
        ("Umsatz in TEUR", "umsatz", "TEUR"),
        ("Revenue (USD million)", "revenue", "USD million"),
        ("Revenue (in Mio. \u20ac)", "revenue", "Mio. EUR"),
        ("Cost [k\u20ac]", "cost", "kEUR"),
        ("Growth %", "growth", "%"),
        ("weight_kg", "weight", "kg"),
        ("Weight kg", "weight", "kg"),
        ("price_usd", "price", "USD"),
        ("Price EUR", "price", "EUR"),
        ("Power kW", "power", "kW"),
    ],
)
def test_units_of_headers_come_through(
    tmp_path: Path, header: str, relation: str, unit: str
) -> None:
    things = Things(tmp_path, {"items.csv": f"Item,{header}\nSaw,10\nAxe,12.5\n"})
    assert things.values(relation) == {"item/saw": f"10 {unit}", "item/axe": f"12.5 {unit}"}


@pytest.mark.parametrize(
    "header", ["Houses in Rome", "Value (short)", "Pro", "Score per km", "One all"]
)
def test_other_words_of_headers_are_no_units(tmp_path: Path, header: str) -> None:
    things = Things(tmp_path, {"items.csv": f"Item,{header}\nSaw,10\nAxe,12.5\n"})
    [column] = [c for t in things.plan.tables for c in t.mapping.columns if c.name == header]
    assert column.unit == ("km" if header.endswith("km") else "")


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("Kundennr;Kundenname;Ort", True),
        ("Kundennr;Firmenname;Ort", False),
        ("Nr;Kundenbezeichnung;Ort", True),
        ("Kundennummer;Name;Ort", True),
    ],
)
def test_compounds_call_rows_by_their_names(tmp_path: Path, header: str, named: bool) -> None:
    text = f"{header}\n1001;M\u00fcller GmbH;Ulm\n1002;Weber AG;Ulm\n1003;Schmidt KG;Bonn\n"
    things = Things(tmp_path, {"kunden.csv": text})
    assert (things.labels()["kunden/1001"] == "M\u00fcller GmbH") is named


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["x", "", "X"], ["true", None, "true"]),
        (["\u2713", "\u2717", "\u2713"], ["true", "false", "true"]),
        (["\u2714\ufe0f", "", "\u2714\ufe0f"], ["true", None, "true"]),
        (["ja", "Nein", "JA"], ["true", "false", "true"]),
        (["x", "x", "x"], ["true"] * 3),
        (["x", "y", ""], ["x", "y", None]),
    ],
)
def test_ticks_say_yes(tmp_path: Path, cells: list[str], expected: list[str | None]) -> None:
    rows = "".join(f"P{row},{cell},1\n" for row, cell in enumerate(cells))
    things = Things(tmp_path, {"people.csv": f"id,member,age\n{rows}"})
    values = things.values("member")
    assert [values.get(f"person/p{row}") for row in range(3)] == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["EUR 25,000", "EUR 9,500", "EUR 1,250"], "25000 EUR"),
        (["EUR 2,500", "EUR 4,500", "EUR 1,000"], "2500 EUR"),
        (["1,379 \u20ac", "1,405 \u20ac", "1,429 \u20ac"], "1,379 \u20ac"),
        (["2,500", "4,500", "1,000"], "2,500"),
    ],
)
def test_sums_of_money_have_no_three_decimals(
    tmp_path: Path, cells: list[str], expected: str
) -> None:
    rows = "".join(f"P{row};{cell}\n" for row, cell in enumerate(cells))
    things = Things(tmp_path, {"deals.csv": f"id;value\n{rows}"})
    assert things.values("value")["deal/p0"] == expected


def test_an_index_without_a_header_and_two_columns_of_one_name_are_no_hindrance(
    tmp_path: Path,
) -> None:
    path = tmp_path / "data.csv"
    path.write_text(",name,score,name\n0,Ann,3.5,a\n1,Ben,4.0,b\n")
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(path, store=store, graph="g")
    assert report.keys == {"data.csv": "column 1"}
    assert report.graph is not None
    assert report.graph.counts.relations == 3


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["12", "13", "12"], ["product/0012", "product/0013", "product/0012"]),
        (["12", "0013", "0012"], ["product/0012", "product/0013", "product/0012"]),
        (["12", "77", "78"], ["12", "77", "78"]),
    ],
)
def test_keys_whose_zeros_another_file_lacks_are_joined(
    tmp_path: Path, cells: list[str], expected: list[str]
) -> None:
    """Excel takes 0012 for a number, and writes 12."""
    rows = "".join(f"O{row},{cell},3\n" for row, cell in enumerate(cells))
    tables = {
        "orders.csv": f"Order,Product,Qty\n{rows}",
        "products.csv": "Product ID,Name\n0012,Saw\n0013,Axe\n0014,Nail\n",
    }
    things = Things(tmp_path, tables)
    assert [things.values("product")[f"order/o{row}"] for row in range(3)] == expected


def test_two_columns_with_the_same_names_name_the_same_things(tmp_path: Path) -> None:
    text = (
        "ID,From,To,Type,Label\n1,Ann,Ben,gift,Ring\n2,Ben,Cid,loan,Car\n"
        "3,Ann,Dan,gift,Book\n4,Cid,ann,loan,Boat\n"
    )
    things = Things(tmp_path, {"transfers.csv": text})
    givers, takers = things.values("from"), things.values("to")
    assert givers["transfer/1"] == takers["transfer/4"] == "from/ann"
    assert givers["transfer/4"] == takers["transfer/2"]
    assert things.labels()["transfer/1"] == "Ring"
    assert things.values("type")["transfer/2"] == "type/loan"
    check_line(things.notes(), "From and of To")


def test_two_columns_with_few_names_in_common_stay_apart(tmp_path: Path) -> None:
    text = "id,city,singer\n1,Paris,Madonna\n2,Berlin,Paris\n3,Rome,Prince\n4,Paris,Prince\n"
    things = Things(tmp_path, {"shows.csv": text})
    assert things.values("city")["show/1"] == "city/paris"
    assert things.values("singer")["show/2"] == "singer/paris"
