"""Values of tables: dates, years, decimal marks, units, codes, words for nothing (B14)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from error_texts import check_counts, check_line, check_text
from things_of_tables import Things

from graph_service.model.classes import RDF_TYPE
from graph_service.model.values import (
    Quantity,
    StringValue,
    Time,
)
from loaders.tables.date_cells import read_date_cell
from loaders.tables.mapping import read_tables_request
from loaders.tables.number_cells import read_number


def test_a_german_export_with_semicolons(tmp_path: Path) -> None:
    text = (
        "\ufeffArtikel;Bezeichnung;Preis;Lieferung\r\nA-1;Schraube;1.234,50 \u20ac;03.04.2024\r\n"
        "A-2;Mutter;0,99 \u20ac;28.04.2024\r\nA-3;Bolzen;1.200 \u20ac;01.12.2023\r\n"
    )
    things = Things(tmp_path, {"artikel.csv": text})
    assert things.values("preis") == {
        "artikel/a-1": "1234.50 EUR",
        "artikel/a-2": "0.99 EUR",
        "artikel/a-3": "1200 EUR",
    }
    assert things.values("lieferung")["artikel/a-1"] == "2024-04-03"
    assert things.labels()["artikel/a-1"] == "Schraube"
    assert things.values(RDF_TYPE)["artikel/a-2"] == "class/artikel"


def test_month_first_where_one_date_of_the_column_decides(tmp_path: Path) -> None:
    text = "id,sold,paid\n1,03/04/2024,03-04-2024\n2,04/28/2024,28-04-2024\n3,5/5/2024,2024-05-06\n"
    things = Things(tmp_path, {"sales.csv": text})
    assert things.values("sold") == {
        "sale/1": "2024-03-04",
        "sale/2": "2024-04-28",
        "sale/3": "2024-05-05",
    }
    assert things.values("paid")["sale/1"] == "2024-04-03"
    assert not things.parsed.kept


def test_dates_that_nothing_decides_stay_text_and_are_told(tmp_path: Path) -> None:
    text = "id,seen\n1,03.04.2024\n2,05.06.2024\n3,2024-05-06\n4,28/04/2024\n"
    things = Things(tmp_path, {"birds.csv": text})
    seen = {s.head: s.value for s in things.parsed.statements if s.relation == "seen"}
    assert seen["bird/1"] == StringValue("03.04.2024")
    assert seen["bird/3"] == Time("2024-05-06T00:00:00Z")
    # What decides for a slash does not decide for a dot.
    assert seen["bird/4"] == Time("2024-04-28T00:00:00Z")
    check_counts(things.parsed.kept, 2)
    check_line(things.notes(), '"day"', '"month"')
    mapping = tmp_path / "birds.toml"
    mapping.write_text('[tables."birds.csv".columns]\nseen = { first = "day" }\n')
    said = Things(
        tmp_path, {"birds.csv": text}, row=None, tables_request=read_tables_request(mapping)
    )
    assert said.values("seen")["bird/1"] == "2024-04-03"


def test_dates_of_both_orders_decide_nothing(tmp_path: Path) -> None:
    text = "id,seen\n1,03/04/2024\n2,28/04/2024\n3,04/28/2024\n"
    things = Things(tmp_path, {"birds.csv": text})
    assert things.values("seen") == {
        "bird/1": "03/04/2024",
        "bird/2": "2024-04-28",
        "bird/3": "2024-04-28",
    }


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,200", "3,500"], [None, None]),
        (["1,200", "40"], ["1200", "40"]),
        (["1,125", "40"], [None, "40"]),
        (["1,200", "1500"], [None, "1500"]),
        (["1,200", "2,5"], ["1.200", "2.5"]),
        (["1,200", "2.5"], ["1200", "2.5"]),
        (["1.200", "2.5"], ["1.200", "2.5"]),
        (["1.200", "1.200.300"], ["1200", "1200300"]),
        (["1,200", "2.5", "2,5"], [None, "2.5", "2.5"]),
        (["0,125", "1,125"], ["0.125", "1.125"]),
    ],
)
def test_a_thousand_or_one_as_all_cells_decide(
    tmp_path: Path, cells: list[str], expected: list[str | None]
) -> None:
    rows = "".join(f'{index},"{cell}"\n' for index, cell in enumerate(cells))
    things = Things(tmp_path, {"stock.csv": f"id,pieces\n{rows}"})
    values = [s.value for s in things.parsed.statements if s.relation == "pieces"]
    assert values == [
        StringValue(cell) if amount is None else Quantity(amount)
        for cell, amount in zip(cells, expected, strict=True)
    ]
    doubtful = expected.count(None)
    assert sum(things.parsed.kept.values()) == doubtful


def test_whole_numbers_are_years_where_the_header_hints_at_time(tmp_path: Path) -> None:
    header = "museum,opened,Year built,Gr\u00fcndungsjahr,End,visitors per year,copies printed"
    things = Things(
        tmp_path,
        {
            "museums.csv": f"{header},start mileage,Built (m),until,since\n"
            "Nordlys,1924,1900,1890,2001,1310,1200,1500,1200,1999,1750\n"
            "Casa Ibarra,1888,1870,1871,2100,1540,1300,1600,1300,2150,-\n"
        },
    )
    for relation in ("opened", "year built", "gr\u00fcndungsjahr", "end", "since"):
        assert things.types(relation) == {Time}, relation
    # Counts and measures, and a number that is rather no year.
    for relation in ("visitors per year", "copies printed", "start mileage", "until"):
        assert things.types(relation) == {Quantity}, relation
    assert things.values("opened") == {"museum/nordlys": "1924", "museum/casa ibarra": "1888"}
    assert things.values("built")["museum/nordlys"] == "1200 m"


def test_other_columns_decide_numbers_that_may_be_two(tmp_path: Path) -> None:
    museums = 'museum,visitors\nNordlys,"310,000"\nCasa Ibarra,"540,125"\n'
    paintings = 'painting,value\nRed Tram,"EUR 1,200,000"\nRain Garden,EUR 90\n'
    things = Things(tmp_path, {"museums.csv": museums, "paintings.csv": paintings})
    assert things.values("visitors") == {
        "museum/nordlys": "310000",
        "museum/casa ibarra": "540125",
    }
    reason = "310,000 read as 310000, as in value of paintings.csv"
    check_counts(things.parsed.kept, 2)
    check_line(things.notes(), "2", reason)
    # Other columns of the table come before those of another one.
    own = 'museum,visitors,height\nNordlys,"310,000","2,5 m"\nCasa Ibarra,"540,125",-\n'
    things = Things(tmp_path, {"museums.csv": own, "paintings.csv": paintings})
    assert things.values("visitors")["museum/casa ibarra"] == "540.125"
    assert "310,000 read as 310.000, as in height\n" in things.notes()


def test_columns_that_contradict_each_other_decide_nothing(tmp_path: Path) -> None:
    text = 'museum,visitors,height,width\nNordlys,"310,000","2,5 m",3 m\nCasa Ibarra,"54,125",4 m,2.5 m\n'
    # What decides a column of its own table is not looked for in others.
    paintings = 'painting,value\nRed Tram,"EUR 1,200,000"\nRain Garden,EUR 90\n'
    things = Things(tmp_path, {"museums.csv": text, "paintings.csv": paintings})
    assert things.types("visitors") == {StringValue}
    check_line(things.notes(), '"," in height', '"." in width')
    # Nor do others decide a column that contradicts itself.
    mixed = 'id,amount,weight\n1,"1,200",1.5 kg\n2,"2,5",2.5 kg\n3,2.5,3.5 kg\n'
    things = Things(tmp_path, {"sales.csv": mixed})
    assert things.values("amount") == {"sale/1": "1,200", "sale/2": "2.5", "sale/3": "2.5"}


def test_a_decimal_mark_that_is_said_decides_other_columns_too(tmp_path: Path) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text('[tables."stock.csv".columns]\nprice = { decimal = "," }\n')
    things = Things(
        tmp_path,
        {"stock.csv": "item,price,weight\nSaw,1.200,3.500\nAxe,2.400,7.250\n"},
        tables_request=read_tables_request(mapping),
    )
    assert things.values("weight") == {"stock/saw": "3500", "stock/axe": "7250"}


def test_yes_and_no_and_norway(tmp_path: Path) -> None:
    text = "id,RoHS,land,fragile\n1,Y,NO,no\n2,no,NO,yes\n3,,SE,-\n4,N,NO,NO\n"
    things = Things(tmp_path, {"parts.csv": text})
    assert things.values("RoHS") == {"part/1": "true", "part/2": "false", "part/4": "false"}
    assert things.values("land")["part/1"] == "land/no"
    assert things.values("fragile")["part/4"] == "false"
    alone = Things(tmp_path, {"parts.csv": "id,land\n1,NO\n2,NO\n"})
    assert alone.values("land") == {"part/1": "land/no", "part/2": "land/no"}


@pytest.mark.parametrize(
    ("yes", "no"),
    [("ja", "nej"), ("Ja", "nei"), ("ja", "nee"), ("sim", "n\u00e3o"), ("tak", "nie"),
     ("kyll\u00e4", "ei"), ("Evet", "Hay\u0131r")],
)  # fmt: skip
def test_yes_and_no_in_other_languages(tmp_path: Path, yes: str, no: str) -> None:
    things = Things(tmp_path, {"parts.csv": f"id,paid\n1,{yes}\n2,{no}\n3,{yes}\n"})
    assert things.values("paid") == {"part/1": "true", "part/2": "false", "part/3": "true"}


def test_codes_are_no_numbers(tmp_path: Path) -> None:
    text = (
        "id,ZIP,Phone,Area,Article,Room\n1,98122,2065559857,007,12E3,12A\n"
        "2,04109,(206) 555-9857,012,13E3,14A\n"
    )
    things = Things(tmp_path, {"people.csv": text})
    for relation in ("ZIP", "phone", "area", "article", "room"):
        assert things.types(relation) == {StringValue}, relation
    assert things.values("area")["person/1"] == "007"


def test_units_of_headers_and_cells(tmp_path: Path) -> None:
    text = (
        "id,Weight (kg),Price,Power,Packs,Cost\n1,1.5,EUR 98.97,250W,12 boxes,$5.10\n"
        "2,800 g,12.50,500Wh,7 boxes,EUR 4.90\n3,2,EUR 3.10,1.2 kW,1 boxes,7.00\n"
    )
    things = Things(tmp_path, {"parts.csv": text})
    assert things.values("weight") == {"part/1": "1.5 kg", "part/2": "800 g", "part/3": "2 kg"}
    assert things.values("price")["part/2"] == "12.50 EUR"
    assert things.values("power") == {"part/1": "250 W", "part/2": "500 Wh", "part/3": "1.2 kW"}
    assert things.values("packs")["part/1"] == "12 boxes"
    # Of two currencies none is that of a number without one.
    assert things.values("cost")["part/3"] == "7.00"
    check_line(things.notes(), "without a unit", "1")


def test_a_cell_that_is_no_number_is_counted_in_words(tmp_path: Path) -> None:
    text = "id,Seats\n1,12\n2,7\n3,many\n4,9\n5,8\n"
    check_line(Things(tmp_path, {"a.csv": text}).notes(), "1 cell")


def test_blank_words_and_words_that_may_be(tmp_path: Path) -> None:
    text = "id,pieces,owner,note\n1,NA,NULL,none\n2,5,unknown,unknown\n3,6,Ann,ok\n4,7,Ann,\n"
    things = Things(tmp_path, {"tools.csv": text})
    assert things.values("pieces") == {"tool/2": "5", "tool/3": "6", "tool/4": "7"}
    assert things.values("owner") == {"tool/3": "owner/ann", "tool/4": "owner/ann"}
    assert things.values("note")["tool/1"] == "none"
    check_counts(things.parsed.skipped, 1, 1, 1, 1)


def test_cells_alone() -> None:
    for cell in (
        "12A",
        "3 Main",
        "10 x 20",
        "5.",
        "1.2.3",
        "1,0,000",
        "5m",
        "12E3",
        "007",
        "12-3",
    ):
        number = read_number(cell)
        assert number is None or not number.is_known_unit, cell
    for cell in ("31.02.2024", "13/13/2024", "10.05.24", "0000-01-01", "2024-13-01", "25:00"):
        assert read_date_cell(cell) is None, cell


def test_money_has_no_three_decimals(tmp_path: Path) -> None:
    def salaries(*cells: str) -> tuple[list[Any], str]:
        rows = "".join(f'{index},"{cell}"\n' for index, cell in enumerate(cells))
        things = Things(tmp_path, {"staff.csv": f"id,salary\n{rows}"})
        return [*things.values("salary").values()], things.notes()

    values, notes = salaries("£41,200", "£8,000", "£91,500")
    assert values == ["41200 GBP", "8000 GBP", "91500 GBP"]
    assert "£41,200 read" not in notes
    check_text(notes)
    assert salaries("41.200 €", "39.900 €")[0] == ["41200 EUR", "39900 EUR"]
    # Prices of fuel, weights, and cells that contradict each other decide nothing.
    assert salaries("1,379 €", "1,419 €")[0] == ["1,379 €", "1,419 €"]
    assert salaries("41,207 kg", "39,911 kg")[0] == ["41,207 kg", "39,911 kg"]
    assert salaries("€41,207", "€41.207")[0] == ["€41,207", "€41.207"]


def test_a_vintage_is_a_year(tmp_path: Path) -> None:
    things = Things(tmp_path, {"weine.csv": "Nr;Jahrgang\nR1;2019\nR2;2017\n"})
    assert things.types("jahrgang") == {Time}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (("(1,200.50)", "17.25", "(3.10)"), ["-1200.50", "17.25", "-3.10"]),
        (("1.200,50-", "17,25", "3,10-"), ["-1200.50", "17.25", "-3.10"]),
        (("5,-", "7,50", "1.200,-"), ["5", "7.50", "1200"]),
        (("CHF 5.-", "CHF 7.50", "CHF 3.-"), ["5 CHF", "7.50 CHF", "3 CHF"]),
        (("(\u20ac 5)", "\u20ac 7", "\u20ac (9.50)"), ["-5 EUR", "7 EUR", "-9.50 EUR"]),
        (("1 200,50", "7,25", "1'300,10"), ["1200.50", "7.25", "1300.10"]),
        (("12,5 %", "7 %", "0,5 %"), ["12.5 %", "7 %", "0.5 %"]),
        (("(5)", "7", "n/a"), ["-5", "7"]),
    ],
)
def test_numbers_as_books_write_them(
    tmp_path: Path, cells: tuple[str, ...], expected: list[str]
) -> None:
    rows = "".join(f'{row},"{cell}"\n' for row, cell in enumerate(cells, start=1))
    things = Things(tmp_path, {"entries.csv": f"id,amount\n{rows}"})
    assert list(things.values("amount").values()) == expected
    assert things.types("amount") == {Quantity}


@pytest.mark.parametrize(
    "cells", [("(1)", "(2)", "(3)"), ("(5)", "7", "9", "8", "see note"), ("7-", "A-", "B-")]
)
def test_other_texts_in_brackets_stay_texts(tmp_path: Path, cells: tuple[str, ...]) -> None:
    rows = "".join(f"{row},{cell}\n" for row, cell in enumerate(cells, start=1))
    things = Things(tmp_path, {"entries.csv": f"id,amount\n{rows}"})
    assert things.values("amount")["entry/1"] == cells[0]
    assert "(5)" not in cells or things.values("amount")["entry/2"] == "7"


@pytest.mark.parametrize(
    ("cell", "amount"),
    [
        ("12,50,000", "1250000"),
        ("1,00,00,000.50", "10000000.50"),
        ("\u20135", "-5"),
        ("\u20131,5", "-1.5"),
        ("100,00,000", None),
        ("12,50,00", None),
        ("1.00.000", None),
    ],
)
def test_groups_of_lakhs_and_dashes_for_a_minus(cell: str, amount: str | None) -> None:
    number = read_number(cell)
    assert (number and number.amount("")) == amount


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ("verdadero", "falso"),
        ("VERO", "FALSO"),
        ("Waar", "Onwaar"),
        ("prawda", "fałsz"),
        ("да", "нет"),
        ("igen", "nem"),
    ],
)
def test_yes_and_no_in_the_languages_of_spreadsheets(tmp_path: Path, yes: str, no: str) -> None:
    text = f"Room,Taken,Site\nR1,{yes},A\nR2,{no},A\nR3,{yes},B\n"
    things = Things(tmp_path, {"rooms.csv": text})
    assert things.values("taken") == {"room/r1": "true", "room/r2": "false", "room/r3": "true"}


@pytest.mark.parametrize(
    ("file", "header", "cells"),
    [
        ("scores.csv", "Match,Score,Place", ("2:1", "0:0", "3:2")),
        ("versions.csv", "Tool,Version,Place", ("1.10", "2.0.1", "3.4")),
    ],
)
def test_a_column_called_as_the_rows_names_them_by_words_alone(
    tmp_path: Path, file: str, header: str, cells: tuple[str, ...]
) -> None:
    rows = "".join(f"A{row},{cell},Oslo\n" for row, cell in enumerate(cells))
    things = Things(tmp_path, {file: f"{header}\n{rows}"})
    kind = file.removesuffix("s.csv")
    assert things.values(kind) == {f"{kind}/a{row}": cell for row, cell in enumerate(cells)}
    assert things.labels()[f"{kind}/a0"] == "A0"


def test_a_first_column_of_codes_names_the_rows(tmp_path: Path) -> None:
    text = "ISBN,Title,Pages\n978-3-16-1,Faust,200\n978-0-00-2,Emma,350\n978-1-11-1,Dune,412\n"
    things = Things(tmp_path, {"books.csv": text})
    assert things.values("pages")["book/978-3-16-1"] == "200"
    assert things.labels()["book/978-3-16-1"] == "Faust"


def test_keys_that_two_tables_have_are_counted(tmp_path: Path) -> None:
    tables = {
        "orders.csv": "OrderID,Customer,Total\n1,C1,10.50\n2,C2,20.50\n",
        "orders_old.csv": "OrderID,Customer,Total\n1,C3,30.50\n3,C2,40.50\n",
    }
    things = Things(tmp_path, tables)
    assert things.values("customer")["order/1"] == ["customer/c1", "customer/c3"]
    check_counts(things.parsed.kept, 1)


@pytest.mark.parametrize(
    ("cell", "amount", "unit"),
    [
        ("800円", "800", "JPY"),
        ("₽ 500", "500", "RUB"),
        ("1 234,50 zł", "1234.50", "PLN"),
        ("R$ 99,90", "99.90", "BRL"),
        ("12 руб.", "12", "RUB"),
        ("₫12.000,50", "12000.50", "VND"),
    ],
)
def test_currencies_by_their_signs(cell: str, amount: str, unit: str) -> None:
    number = read_number(cell)
    assert number is not None
    assert (number.amount(""), number.unit) == (amount, unit)


@pytest.mark.parametrize(
    "cell",
    ["2024年3月12日", "2024년 3월 12일", "12 marzo 2024", "12 maart 2024", "12 de março de 2024",
     "12. mars 2024", "12 marts 2024"],
)  # fmt: skip
def test_months_in_more_languages(cell: str) -> None:
    date = read_date_cell(cell)
    assert date is not None
    assert date.time("") == Time("2024-03-12T00:00:00Z")


def test_months_that_there_are_not() -> None:
    assert read_date_cell("2024年13月1日") is read_date_cell("12 marzipan 2024") is None
