"""Twelve messy tables, each with all that its cells are worth (B14)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from things_of_tables import Things

from graph_service.model.classes import RDF_TYPE

Values = Mapping[str, Mapping[str, object]]

KUNDEN = (
    "Kundennr;Name;Straße;Ort;Umsatz\r\n10;Müller & Söhne;Königstraße 5;Köln;1.250,50 €\r\n"
    "11;Bäckerei Groß;Am Süd 3;Düsseldorf;980,00 €\r\n12;Café Olé;Weg 1;Köln;12.000,00 €\r\n"
)
PRODUCTS = (
    "SKU\tProduct\tColor\tWeight\tMade in\nA-1\tDesk Lamp\twhite\t1.2 kg\tPoland\n"
    "A-2\tFloor Lamp\tblack\t4.5 kg\tItaly\nA-3\tBookshelf\twhite\t20 kg\tPoland\n"
)
REPORT = (
    "Quarterly report 2024,,,,\n,Contact,,Figures,\nBranch,Manager,Phone,Staff,Opened\n"
    "Oslo,Kari Nordmann,+47 22 11 00,12,2001-05-17\nBergen,Ola Hansen,+47 55 10 00,7,1999-11-02\n"
    "Tromsø,Liv Moe,+47 77 60 00,4,2015-01-20\n"
)
BUDGET = (
    "Project,Owner,Cost\nApollo,Ann,1200\nHermes,Ben,300\nSubtotal,,1500\nZeus,Cat,700\n"
    "Hera,Dan,50\nTotal,,2250\nGrand total,,2250\n"
)
EVENTS = (
    "Event,Held on\nSpring Fair,2024-03-21\nSummer Run,30.06.2024\nAutumn Market,5 October 2024\n"
    "Winter Ball,Dec 12 2024\nNew Year,31/12/2024\n"
)
INVOICES = (
    'Invoice,Client,Amount\nI-1,Acme,"$1,200.50"\nI-2,Globex,"€ 950,00"\nI-3,Acme,£75\n'
    "I-4,Initech,1.000 CHF\nI-5,Umbrella,USD 20\n"
)
CITIES = (
    "City;Country;Population;Area\nParis;France;2 102 650;105.4 km²\n"
    "Lyon;France;522 250;47.9 km²\nMadrid;Spain;3 305 408;604.3 km²\n"
)
STAFF = (
    "Staff ID,Name,Phone,Phone,Start,Start\n7,Ida Falk,111,112,2020-01-01,2021-06-01\n"
    "8,Jon Berg,211,,2019-03-15,\n9,Kim Lund,311,312,2022-09-30,2023-02-01\n"
)
ANIMALS = (
    "Animal,,Class,,Legs,\n,,,,,\nCat,,mammal,,4,\nEagle,,bird,,2,\nAnt,,insect,,6,\n,,,,,\n"
    "Snake,,reptile,,0,\n"
)
PARCELS = (
    "Parcel ID,Postcode,Recipient,Weight (g)\n000123,01067,Eva Roth,250\n"
    "000456,04109,Max Vogel,1200\n123,10115,Ute Kern,80\n"
)
SALES = "Region,2021,2022,2023\nNorth,100,120,130\nSouth,90,85,110\nWest,10,15,\n"
FILMS = (
    "Film,Genres,Cast,Awards\n"
    'Blue Moon,drama; romance,Ana Ruiz; Bo Lind,"[""Golden Reel"", ""Jury""]"\n'
    "Red Sand,thriller,Bo Lind; Cy Young,\nGreen Door,drama;comedy,Dee Fox,\n"
)

TABLES: Mapping[str, tuple[str | bytes, dict[str, Any], Values, dict[str, int]]] = {
    "kunden.csv": (
        KUNDEN.encode("cp1252"),
        {"encoding": "cp1252"},
        {
            "straße": {"10": "Königstraße 5", "11": "Am Süd 3", "12": "Weg 1"},
            "umsatz": {"10": "1250.50 EUR", "11": "980.00 EUR", "12": "12000.00 EUR"},
        },
        {},
    ),
    "products.txt": (
        PRODUCTS.encode("utf-16"),
        {},
        {
            "color": {"a-1": "color/white", "a-2": "color/black", "a-3": "color/white"},
            "weight": {"a-1": "1.2 kg", "a-2": "4.5 kg", "a-3": "20 kg"},
        },
        {},
    ),
    # Two rows above the header, one of a title and one of cells that were merged.
    "report.csv": (
        REPORT,
        {},
        {
            "manager": {"oslo": "Kari Nordmann", "bergen": "Ola Hansen", "tromsø": "Liv Moe"},
            "phone": {"oslo": "+47 22 11 00", "bergen": "+47 55 10 00", "tromsø": "+47 77 60 00"},
            "staff": {"oslo": "12", "bergen": "7", "tromsø": "4"},
            "opened": {"oslo": "2001-05-17", "bergen": "1999-11-02", "tromsø": "2015-01-20"},
        },
        {},
    ),
    "budget.csv": (
        BUDGET,
        {},
        {"cost": {"apollo": "1200", "hermes": "300", "zeus": "700", "hera": "50"}},
        {"rows of totals": 3},
    ),
    "events.csv": (
        EVENTS,
        {},
        {
            "held on": {
                "spring fair": "2024-03-21",
                "summer run": "2024-06-30",
                "autumn market": "2024-10-05",
                "winter ball": "2024-12-12",
                "new year": "2024-12-31",
            }
        },
        {},
    ),
    # 1.000 CHF may be one or a thousand where cells of both kinds are: it stays text.
    "invoices.csv": (
        INVOICES,
        {},
        {
            "amount": {
                "i-1": "1200.50 $",
                "i-2": "950.00 EUR",
                "i-3": "75 GBP",
                "i-4": "1.000 CHF",
                "i-5": "20 USD",
            },
            "client": {
                "i-1": "client/acme",
                "i-2": "client/globex",
                "i-3": "client/acme",
                "i-4": "client/initech",
                "i-5": "client/umbrella",
            },
        },
        {},
    ),
    "cities.csv": (
        CITIES,
        {},
        {
            "population": {"paris": "2102650", "lyon": "522250", "madrid": "3305408"},
            "area": {"paris": "105.4 km²", "lyon": "47.9 km²", "madrid": "604.3 km²"},
        },
        {},
    ),
    "staff.csv": (
        STAFF,
        {},
        {
            "phone": {"7": "111", "8": "211", "9": "311"},
            "phone (2)": {"7": "112", "9": "312"},
            "start": {"7": "2020-01-01", "8": "2019-03-15", "9": "2022-09-30"},
            "start (2)": {"7": "2021-06-01", "9": "2023-02-01"},
        },
        {"empty cells": 2},
    ),
    "animals.csv": (
        ANIMALS,
        {},
        {
            "class": {"cat": "mammal", "eagle": "bird", "ant": "insect", "snake": "reptile"},
            "legs": {"cat": "4", "eagle": "2", "ant": "6", "snake": "0"},
        },
        {"empty cells": 8},
    ),
    "parcels.csv": (
        PARCELS,
        {},
        {
            "postcode": {"000123": "01067", "000456": "04109", "123": "10115"},
            "weight": {"000123": "250 g", "000456": "1200 g", "123": "80 g"},
        },
        {},
    ),
    "sales.csv": (
        SALES,
        {},
        {
            "2021": {"north": "100", "south": "90", "west": "10"},
            "2022": {"north": "120", "south": "85", "west": "15"},
            "2023": {"north": "130", "south": "110"},
        },
        {"empty cells": 1},
    ),
    # A list in brackets stays the text that it is.
    "films.csv": (
        FILMS,
        {},
        {
            "genres": {
                "blue moon": ["genre/drama", "genre/romance"],
                "red sand": "genre/thriller",
                "green door": ["genre/comedy", "genre/drama"],
            },
            "cast": {
                "blue moon": ["cast/ana ruiz", "cast/bo lind"],
                "red sand": ["cast/bo lind", "cast/cy young"],
                "green door": "cast/dee fox",
            },
            "awards": {"blue moon": ["Golden Reel", "Jury"]},
        },
        {"empty cells": 2},
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_every_cell_of_a_messy_table_has_its_value(tmp_path: Path, name: str) -> None:
    text, options, expected, skipped = TABLES[name]
    things = Things(tmp_path, {name: text}, **options)
    kind = things.plan.tables[0].mapping.kind
    for relation, values in expected.items():
        found = {head.removeprefix(f"{kind}/"): it for head, it in things.values(relation).items()}
        assert found == values, relation
    assert dict(things.parsed.skipped) == skipped
    assert not things.parsed.rejects
    rows = {head for head, type_ in things.values(RDF_TYPE).items() if type_ == f"class/{kind}"}
    assert len(rows) == len(next(iter(expected.values())))


def test_what_names_the_rows_of_messy_tables(tmp_path: Path) -> None:
    kunden = Things(tmp_path, {"kunden.csv": KUNDEN})
    assert kunden.labels()["kunden/10"] == "Müller & Söhne"
    (tmp_path / "kunden.csv").unlink()
    products = Things(tmp_path, {"products.csv": PRODUCTS})
    # A column that is named as its table, beside another key, names the rows for people.
    assert products.labels()["product/a-1"] == "Desk Lamp"
