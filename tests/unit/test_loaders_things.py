"""Tables as people have them: a row a thing, a column a relation (B14)."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pytest
from pyarrow import parquet
from things_of_tables import Things

from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.model.classes import RDF_TYPE
from graph_service.model.statement import Statement
from graph_service.model.values import (
    EntityValue,
    Quantity,
    StringValue,
    Time,
    display_value,
)
from graph_service.store import open_store
from loaders.items import Parsed
from loaders.load import load
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.source import open_source
from loaders.tables.cells import read_date_cell, read_number
from loaders.tables.frames import load_frames
from loaders.tables.mapping import read_tables_request
from loaders.tables.plan import plan_tables, request_of
from loaders.tables.things import read_things


def _statements(blocks: list[Parsed]) -> list[Statement]:
    return [statement for parsed in blocks for statement in parsed.statements]


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
    assert things.parsed.kept == {"cells of seen that may be two dates, kept as text": 2}
    assert 'say first = "day" or "month"' in things.notes()
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
    assert things.parsed.kept == {f"cells of visitors that may be two numbers, {reason}": 2}
    assert f"cells that may be two numbers: 2; {reason}" in things.notes()
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
    assert (
        'other columns have different decimal marks: "," in height, "." in width' in things.notes()
    )
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


def test_lists_are_split_and_names_joined_over_case_and_spaces(tmp_path: Path) -> None:
    text = (
        "Part No,Colours,Supplier,Supplier City\nP-1,red; blue,Pola Plastics,Gda\u0144sk\n"
        "P-2,Blue,pola  plastics ,Gda\u0144sk\nP-3,red;red,Kestrel,Leeds\nP-4,n/a,Pola Plastics,-\n"
    )
    things = Things(tmp_path, {"parts.csv": text}, row="part no")
    assert things.values("colours") == {
        "part/p-1": ["colour/blue", "colour/red"],
        "part/p-2": "colour/blue",
        "part/p-3": "colour/red",
    }
    assert set(things.values("supplier").values()) == {"supplier/pola plastics", "supplier/kestrel"}
    assert things.labels()["supplier/pola plastics"] == "Pola Plastics"
    # The city is the supplier's, since each supplier has one in all rows.
    assert things.values("city") == {
        "supplier/pola plastics": ["city/gda\u0144sk"] * 2,
        "supplier/kestrel": "city/leeds",
    }
    assert things.parsed.skipped == {"cells that say 'n/a'": 1, "cells that say '-'": 1}
    assert (
        things.parsed.kept["cells of Supplier joined with names that differ in case or spaces"] == 1
    )


def test_lists_in_brackets_are_lists_as_json_and_python_write_them(tmp_path: Path) -> None:
    rows = [
        (
            "1",
            '["red", "blue"]',
            "['a', \"it's\"]",
            "[1.50, 2]",
            '["A long remark; with marks"]',
            "[1]",
        ),
        ("2", '["Red"]', "['b']", "[3, null]", '["Another, quite different one"]', "see [1]"),
        ("3", "[]", "['a']", "", "[]", "none of [2]"),
        ("4", "blue", "[]", "[40]", '["A third"]', "[2]"),
    ]
    lines = ["id,Colours,Codes,Sizes,Remarks,Source"]
    for row in rows:
        quoted = ('"' + cell.replace('"', '""') + '"' for cell in row)
        lines.append(",".join(quoted))
    things = Things(tmp_path, {"parts.csv": "\n".join(lines)})
    assert things.values("colours") == {
        "part/1": ["colour/blue", "colour/red"],
        "part/2": "colour/red",
        "part/4": "colour/blue",
    }
    assert things.values("codes")["part/1"] == ["code/a", "code/it's"]
    assert things.values("sizes") == {"part/1": ["1.50", "2"], "part/2": "3", "part/4": "40"}
    assert things.types("sizes") == {Quantity}
    assert things.values("remarks")["part/1"] == "A long remark; with marks"
    # A footnote is no list: most cells of the column are none.
    assert things.values("source")["part/1"] == "[1]"
    assert things.parsed.skipped["empty lists"] == 3
    assert 'list = "[]"' in things.notes()


def test_results_of_wikidata_as_its_service_downloads_them(tmp_path: Path) -> None:
    entity = "http://www.wikidata.org/entity/"
    text = (
        f"item,itemLabel,country,countryLabel,site\n{entity}Q64,Berlin,{entity}Q183,Germany,"
        f"https://a.example/B\n{entity}Q90,Paris,{entity}Q142,France,https://a.example/P\n"
    )
    things = Things(tmp_path, {"query.csv": text}, row="item")
    assert things.values("country") == {"Q64": "Q183", "Q90": "Q142"}
    labels = things.labels()
    assert (labels["Q64"], labels["Q183"]) == ("Berlin", "Germany")
    assert things.values("site")["Q64"] == "https://a.example/B"


def test_a_name_beside_an_id_is_its_label(tmp_path: Path) -> None:
    text = "id,supplierID,supplierName\n1,7,Kestrel\n2,7,Kestrel\n3,8,Pola\n"
    things = Things(tmp_path, {"parts.csv": text})
    assert things.values("supplier")["part/1"] == "supplier/7"
    assert things.labels()["supplier/7"] == "Kestrel"
    assert things.values("name") == {}


def test_commas_separate_lists_whose_parts_stand_alone_elsewhere(tmp_path: Path) -> None:
    text = (
        'id,colours,role\n1,"red, blue",Sales\n2,red,"President, Sales"\n3,blue,Buyer\n'
        '4,Blue,"President, Sales"\n5,"blue,red",Buyer\n'
    )
    things = Things(tmp_path, {"staff.csv": text})
    assert things.values("colours")["staff/1"] == ["colour/blue", "colour/red"]
    assert things.values("colours")["staff/5"] == ["colour/blue", "colour/red"]
    assert things.values("role")["staff/2"] == "role/president, sales"
    assert 'say list = ","' in things.notes()


def test_what_describes_another_column_stays_with_the_row_where_it_differs(tmp_path: Path) -> None:
    text = "id,Shop,Shop City\n1,Roma,Rome\n2,Roma,Milan\n3,Roma,Rome\n"
    things = Things(tmp_path, {"sales.csv": text})
    assert things.values("shop city") == {
        "sale/1": "city/rome",
        "sale/2": "city/milan",
        "sale/3": "city/rome",
    }


def test_lines_around_a_table_are_no_rows(tmp_path: Path) -> None:
    text = (
        "Stock list,,\nprinted on 3 May,,\n,,\nSKU,Name,Pieces\nS1,Saw,4\nSKU,Name,Pieces\n"
        "S2,Axe,7\n,,\nTotal,,11\n"
    )
    things = Things(tmp_path, {"stock.csv": text}, row="SKU")
    assert things.values("pieces") == {"stock/s1": "4", "stock/s2": "7"}
    assert things.parsed.skipped == {"rows that repeat the header": 1, "rows of totals": 1}


def test_the_header_is_wider_than_rows_whose_last_cells_are_empty(tmp_path: Path) -> None:
    text = "SKU,Name,Pieces,Notes\nS1,Saw,4,sharp\nS2,Axe,7,\nS3,File,2,\n"
    things = Things(tmp_path, {"stock.csv": text})
    assert things.values("pieces") == {"stock/s1": "4", "stock/s2": "7", "stock/s3": "2"}
    assert not things.parsed.rejects


def test_windows_1252_stops_with_the_option_that_works(tmp_path: Path) -> None:
    text = "id|city\n1|K\u00f6ln\n2|K\u00f6ln\n".encode("cp1252")
    with pytest.raises(InputError, match="--encoding cp1252"):
        Things(tmp_path, {"shops.csv": text})
    things = Things(tmp_path, {"shops.csv": text}, encoding="cp1252")
    assert things.labels()["city/k\u00f6ln"] == "K\u00f6ln"


def test_yes_and_no_and_norway(tmp_path: Path) -> None:
    text = "id,RoHS,land,fragile\n1,Y,NO,no\n2,no,NO,yes\n3,,SE,-\n4,N,NO,NO\n"
    things = Things(tmp_path, {"parts.csv": text})
    assert things.values("RoHS") == {"part/1": "true", "part/2": "false", "part/4": "false"}
    assert things.values("land")["part/1"] == "land/no"
    assert things.values("fragile")["part/4"] == "false"
    alone = Things(tmp_path, {"parts.csv": "id,land\n1,NO\n2,NO\n"})
    assert alone.values("land") == {"part/1": "land/no", "part/2": "land/no"}


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
    assert "numbers without a unit: 1" in things.notes()


PARTS = "Part No,Supplier,Maker,Amount\nP1,2,Bolt Co,5\nP2,1,bolt co,6\nP3,9,Nut Inc,7\n"
SUPPLIERS = "id,name,manager\n1,Kestrel,2\n2,Pola,\n"
MAKERS = "Code,Name\nB,Bolt Co\nN,Nut Inc\n"


def test_references_by_key_by_name_and_to_the_same_table(tmp_path: Path) -> None:
    parts = PARTS.replace("P3,9", "P3,1") + "".join(f"P{n},1,Nut Inc,1\n" for n in range(4, 14))
    things = Things(
        tmp_path,
        {
            "parts.csv": parts + "P14,9,Nut Inc,1\n",
            "suppliers.csv": SUPPLIERS,
            "makers.csv": MAKERS,
        },
    )
    suppliers = things.values("supplier")
    # One key of three is no supplier's: too many to call the column a reference.
    assert "67% of its values are keys of suppliers.csv" in things.notes()
    assert suppliers["part/p1"] == "2"
    things = Things(
        tmp_path, {"parts.csv": parts, "suppliers.csv": SUPPLIERS, "makers.csv": MAKERS}
    )
    assert things.values("supplier")["part/p1"] == "supplier/2"
    assert things.values("maker")["part/p2"] == "maker/b"
    assert things.values("manager") == {"supplier/1": "supplier/2"}
    assert things.labels()["supplier/2"] == "Pola"
    # A number beside is a number, though it may be a key.
    assert things.types("amount") == {Quantity}


ARTISTS = (
    "name,born,teacher\nElin Sandvik,1861,Jonas Hale\nJonas Hale,1832,\n"
    "Marta Kova\u010d,1898,elin sandvik\nTom\u00e1s Ibarra,1910,Marta Kova\u010d\n"
)
STAFF = (
    "staff no,name,office,line manager,deputy\n7,Ida Falk,Oslo,,Jon Berg\n"
    "8,Jon Berg,Oslo,Ida Falk,Kim Lund\n9,Kim Lund,Oslo,Ida Falk,Ida Falk\n"
    "10,Liv Moe,Bergen,Jon Berg,\n"
)
CATEGORIES = "Category ID,Category,Parent category ID,Level\n1,Tools,,1\n2,Saws,1,2\n3,Axes,1,2\n"


def test_a_column_of_names_of_its_own_table_refers_to_it(tmp_path: Path) -> None:
    things = Things(
        tmp_path, {"artists.csv": ARTISTS, "staff.csv": STAFF, "categories.csv": CATEGORIES}
    )
    assert things.values("teacher") == {
        "artist/elin sandvik": "artist/jonas hale",
        "artist/marta kova\u010d": "artist/elin sandvik",
        "artist/tom\u00e1s ibarra": "artist/marta kova\u010d",
    }
    # By the names of rows that have numbers, whatever the header is.
    assert things.values("line manager") == {
        "staff/8": "staff/7",
        "staff/9": "staff/7",
        "staff/10": "staff/8",
    }
    assert things.values("deputy") == {"staff/7": "staff/8", "staff/8": "staff/9"} | {
        "staff/9": "staff/7"
    }
    assert things.values("parent category") == {
        "category/2": "category/1",
        "category/3": "category/1",
    }
    # A number is no reference where only its cells would say so.
    assert things.types("level") == {Quantity}
    assert 'class = "artist", references = "artists.csv"' in things.notes()


def test_a_column_that_repeats_names_or_has_others_too_stays_text(tmp_path: Path) -> None:
    things = Things(
        tmp_path,
        {
            # The name of its own row, a name of another row, names of which one is there.
            "provinces.csv": "province,capital,friend,twin\nMilan,Milan,Rome,Milan\n"
            "Rome,Rome,Milan,Lyon\nTurin,Turin,Turin,Bonn\n",
            "grades.csv": "grade,group\nA,B\nB,A\nC,C\n",
        },
    )
    for relation in ("capital", "twin"):
        assert things.types(relation) == {StringValue}, relation
    assert things.values("friend")["province/milan"] == "province/rome"
    assert things.types("group") == {StringValue}


def test_a_column_refers_to_the_one_table_whose_names_its_cells_are(tmp_path: Path) -> None:
    clubs = "club,city\nHarbour City,Portsea\nFC Oldmoor,Oldmoor\nGate Rovers,Gate\n"
    matches = (
        "match,home,away,kit\nM1,Harbour City,FC Oldmoor,red\nM2,fc oldmoor,Gate Rovers,blue\n"
        "M3,Gate Rovers,Harbour City,red\n"
    )
    things = Things(tmp_path, {"clubs.csv": clubs, "matches.csv": matches})
    assert things.values("home") == {
        "match/m1": "club/harbour city",
        "match/m2": "club/fc oldmoor",
        "match/m3": "club/gate rovers",
    }
    assert things.values("away")["match/m2"] == "club/gate rovers"
    # Two tables have these names: the header would have to say which is meant.
    fans = clubs.replace("club,city", "fan club,town")
    folder = tmp_path / "two"
    folder.mkdir()
    things = Things(folder, {"clubs.csv": clubs, "fans.csv": fans, "matches.csv": matches})
    assert set(things.values("home").values()).isdisjoint(
        {"club/harbour city", "fan/harbour city", "fan club/harbour city"}
    )


def test_first_and_last_name_are_a_name_that_columns_refer_by(tmp_path: Path) -> None:
    things = Things(
        tmp_path,
        {
            "employees.csv": "id,Surname,Forename,Manager\n1,Falk,Ida,\n2,Berg,Jon,Ida Falk\n"
            "3,Lund,Kim,jon berg\n4,Moe,Liv,Ida Falk\n",
            "orders.csv": "order no,employee\n7,Kim Lund\n8,Liv Moe\n",
        },
    )
    assert things.labels()["employee/3"] == "Kim Lund"
    assert things.values("manager") == {
        "employee/2": "employee/1",
        "employee/3": "employee/2",
        "employee/4": "employee/1",
    }
    assert things.values("employee") == {"order/7": "employee/3", "order/8": "employee/4"}


def test_a_reference_to_its_own_table_that_is_said(tmp_path: Path) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text(
        '[tables."provinces.csv".columns]\ntwin = { references = "provinces.csv" }\n'
    )
    things = Things(
        tmp_path,
        {"provinces.csv": "province,twin\nMilan,Lyon\nRome,milan\nTurin,\n"},
        tables_request=read_tables_request(mapping),
    )
    assert things.values("twin") == {
        "province/milan": "province/lyon",
        "province/rome": "province/milan",
    }
    assert things.parsed.kept == {"cells of twin that provinces.csv does not have": 1}


def test_a_reference_that_is_said_counts_what_is_not_there(tmp_path: Path) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text(
        '[tables."parts.csv".columns]\nSupplier = { references = "suppliers.csv" }\n'
    )
    things = Things(
        tmp_path,
        {"parts.csv": PARTS, "suppliers.csv": SUPPLIERS},
        tables_request=read_tables_request(mapping),
    )
    assert things.values("supplier")["part/p3"] == "supplier/9"
    assert things.parsed.kept["cells of Supplier that suppliers.csv does not have"] == 1


def test_a_row_that_joins_two_things_is_a_statement(tmp_path: Path) -> None:
    things = Things(
        tmp_path,
        {
            "orders.csv": "orderID,day\n7,2024-01-02\n8,2024-01-03\n",
            "products.csv": "productID,productName\n1,Chai\n2,Tofu\n",
            "details.csv": "orderID,productID,quantity\n7,1,12\n7,2,3\n8,1,4\n",
            "takes.csv": "orderID,productID\n7,1\n8,2\n",
        },
    )
    [first, *_] = [s for s in things.parsed.statements if s.relation == "product"]
    assert (first.head, first.value) == ("order/7", EntityValue("product/1"))
    assert [(snak.relation, snak.value) for snak in first.qualifiers] == [
        ("quantity", Quantity("12"))
    ]
    # In takes.csv every order comes once, and it is no table of orders all the same.
    assert len([s for s in things.parsed.statements if s.relation == "product"]) == 5
    assert not [head for head in things.values(RDF_TYPE) if head.startswith("take/")]


def test_separators_outside_of_quotes_are_joined_where_all_rows_agree(tmp_path: Path) -> None:
    text = (
        'id,street,city\n1,Rua do Pa\u00e7o, 67,Rio\n2,Main Street 1,Rio\n3,"High Street, 2",Rio\n'
    )
    things = Things(tmp_path, {"shops.csv": text})
    assert things.values("street") == {
        "shop/1": "Rua do Pa\u00e7o, 67",
        "shop/2": "Main Street 1",
        "shop/3": "High Street, 2",
    }
    spaced = text.replace("2,Main", "2, Main")
    (tmp_path / "spaced").mkdir()
    things = Things(tmp_path / "spaced", {"shops.csv": spaced})
    assert "shop/1" not in things.values("street")
    [reject] = things.parsed.rejects
    assert (reject.line, reject.reason) == (2, "expected 3 columns, got 4")


def test_blank_words_and_words_that_may_be(tmp_path: Path) -> None:
    text = "id,pieces,owner,note\n1,NA,NULL,none\n2,5,unknown,unknown\n3,6,Ann,ok\n4,7,Ann,\n"
    things = Things(tmp_path, {"tools.csv": text})
    assert things.values("pieces") == {"tool/2": "5", "tool/3": "6", "tool/4": "7"}
    assert things.values("owner") == {"tool/3": "owner/ann", "tool/4": "owner/ann"}
    assert things.values("note")["tool/1"] == "none"
    assert things.parsed.skipped == Counter(
        {
            "cells that say 'NA'": 1,
            "cells that say 'NULL'": 1,
            "cells that say 'unknown'": 1,
            "empty cells": 1,
        }
    )


def test_a_row_without_a_key_is_rejected_and_keys_may_differ_by_case(tmp_path: Path) -> None:
    things = Things(tmp_path, {"t.csv": "key,n\na,1\n,2\nA,3\n"}, row="key")
    assert things.values("n") == {"t/a": "1", "t/A": "3"}
    assert [reject.line for reject in things.parsed.rejects] == [3]
    with pytest.raises(InputError, match="no column is named 'no'"):
        Things(tmp_path, {"t.csv": "key,n\na,1\n"}, row="no")
    with pytest.raises(InputError, match="no column names the rows"):
        Things(tmp_path, {"t.csv": "when,what\n2024,x\n2024,y\n"})


def test_the_mapping_that_look_prints_loads_the_same(tmp_path: Path) -> None:
    tables = {"parts.csv": PARTS, "suppliers.csv": SUPPLIERS, "makers.csv": MAKERS}
    things = Things(tmp_path, tables)
    mapping = tmp_path / "all.toml"
    mapping.write_text(things.notes())
    again = Things(tmp_path, tables, row=None, tables_request=read_tables_request(mapping))
    assert again.parsed.statements == things.parsed.statements
    assert again.parsed.entities == things.parsed.entities


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nodes = 1\n", "no mapping of tables"),
        ("[tables\n", "not TOML"),
        ('[tables."parts.csv"]\nkey = "x"\n', "'key' is not known"),
        ('[tables."parts.csv".columns]\nSupplier = { type = "money" }\n', "is no type"),
        ('[tables."parts.csv".columns]\nPrice = { type = "text" }\n', "has no column 'Price'"),
        ('[tables."other.csv"]\nrow = "x"\n', "speaks of other.csv"),
        ('[tables."parts.csv".columns]\nSupplier = { references = "x" }\n', "no table 'x'"),
        ('[tables."parts.csv".columns]\nAmount = { first = "year" }\n', "first = day or month"),
    ],
)
def test_a_mapping_that_is_wrong_says_so(tmp_path: Path, text: str, reason: str) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text(text)
    with pytest.raises(InputError, match=reason):
        Things(tmp_path, {"parts.csv": PARTS}, tables_request=read_tables_request(mapping))


def test_reading_goes_on_after_every_block(tmp_path: Path) -> None:
    rows = "".join(f"P{n},Maker {n % 7},{n}.50 EUR,{n % 28 + 1:02d}.04.2024\n" for n in range(6000))
    things = Things(tmp_path, {"parts.csv": f"id,maker,price,made\n{rows}"})
    assert len(things.values("price")) == 6000
    assert things.values("made")["part/p2"] == "2024-04-03"
    blocks = []
    with open_source(tmp_path / "parts.csv") as source:
        blocks = list(read_things(source, things.options, {}))
    assert len(blocks) > 3
    for index, block in enumerate(blocks[:-1], start=1):
        with open_source(tmp_path / "parts.csv") as source:
            rest = list(read_things(source, things.options, block.position))
        assert _statements(rest) == _statements(blocks[index:])


def test_a_stopped_load_goes_on_and_comes_to_the_same(tmp_path: Path) -> None:
    rows = "".join(f"P{n},Maker {n % 7},{n}.50 EUR\n" for n in range(9000))
    (tmp_path / "parts.csv").write_text(f"id,maker,price\n{rows}")
    options = LoadOptions(row="id", batch_size=2_000)
    with open_store(f"sqlite:///{tmp_path / 'graph.db'}") as store:
        stop = threading.Event()

        def stop_halfway(progress: Progress) -> None:
            if progress.line > 4_000:
                stop.set()

        source = tmp_path / "parts.csv"
        first = load(
            source, store=store, graph="g", options=options, progress=stop_halfway, stop=stop
        )
        assert first.status == "stopped"
        second = load(source, store=store, graph="g", options=options)
        unbroken = load(source, store=store, graph="h", options=options)
    assert second.resumed
    assert second.graph is not None
    assert unbroken.graph is not None
    assert second.graph.fingerprints == unbroken.graph.fingerprints
    assert second.read_statements == unbroken.read_statements


def test_a_load_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "parts.csv").write_text(PARTS)
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    assert main(["load", str(tmp_path / "parts.csv"), "--look"]) == 0
    look = capsys.readouterr().out
    (tmp_path / "map.toml").write_text(look)
    command = ["load", str(tmp_path / "parts.csv"), "--graph", "parts", "--store", store]
    assert main([*command, "--mapping", str(tmp_path / "map.toml"), "--quiet"]) == 0
    first = capsys.readouterr().out
    assert main([*command, "--row", "Part No", "--replace", "--quiet"]) == 0
    prints = [line for line in first.splitlines() if "fingerprint" in line]
    assert prints
    assert set(prints) <= set(capsys.readouterr().out.splitlines())
    assert main(["load", str(tmp_path / "parts.csv"), "--row", "Part No", "--store", store]) == 2
    assert "--graph NAME" in capsys.readouterr().err


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
        statements = _statements(blocks)
        # The title and the header of the workbook are rows too.
        assert sum(block.counts.read for block in blocks) == 3 + (name == "tools.xlsx")
        # A cell of a workbook is one number, where 1.125 beside 40 may be two in a text.
        exact = {("tool/1", "kilos", Quantity("1.1250"))}
        assert {(s.head, s.relation, s.value) for s in statements} == exact | {
            (s.head, s.relation, s.value) for s in expected if s.value != StringValue("1.125")
        }


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
        statements = _statements(list(read_things(source, replace(options, tables=plan), {})))
    assert {(s.head, s.relation, display_value(s.value)) for s in statements} == {
        ("part/s1", RDF_TYPE, "class/part"),
        ("part/s1", "pieces", "4"),
        ("part/s2", RDF_TYPE, "class/part"),
        ("supplier/1", RDF_TYPE, "class/supplier"),
    }


def test_a_table_whose_header_is_not_the_widest_row_stops_the_load(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the header is taken to be"):
        Things(tmp_path, {"t.csv": "id,a\n1,2,3\n2,3,4,5\n"}, row="id")


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


def test_cells_alone() -> None:
    for cell in (
        "12A",
        "3 Main",
        "10 x 20",
        "5.",
        "1.2.3",
        "1,00,000",
        "5m",
        "12E3",
        "007",
        "12-3",
    ):
        number = read_number(cell)
        assert number is None or not number.is_known_unit, cell
    for cell in ("31.02.2024", "13/13/2024", "10.05.24", "0000-01-01", "2024-13-01", "25:00"):
        assert read_date_cell(cell) is None, cell
