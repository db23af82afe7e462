"""Twelve messy tables, each with all that its cells are worth (B14)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from things_of_tables import Things

from benchmarks.messy_tables.question_set import ENCODINGS, TABLES
from graph_service.model.classes import RDF_TYPE

Values = Mapping[str, Mapping[str, object]]

EXPECTED: Mapping[str, tuple[Values, dict[str, int]]] = {
    "kunden": (
        {
            "straße": {"10": "Königstraße 5", "11": "Am Süd 3", "12": "Weg 1"},
            "umsatz": {"10": "1250.50 EUR", "11": "980.00 EUR", "12": "12000.00 EUR"},
        },
        {},
    ),
    "products": (
        {
            "color": {"a-1": "color/white", "a-2": "color/black", "a-3": "color/white"},
            "weight": {"a-1": "1.2 kg", "a-2": "4.5 kg", "a-3": "20 kg"},
        },
        {},
    ),
    # Two rows above the header, one of a title and one of cells that were merged.
    "report": (
        {
            "manager": {
                "oslo": "manager/kari nordmann",
                "bergen": "manager/ola hansen",
                "tromsø": "manager/liv moe",
            },
            "phone": {"oslo": "+47 22 11 00", "bergen": "+47 55 10 00", "tromsø": "+47 77 60 00"},
            "staff": {"oslo": "12", "bergen": "7", "tromsø": "4"},
            "opened": {"oslo": "2001-05-17", "bergen": "1999-11-02", "tromsø": "2015-01-20"},
        },
        {"rows before the header": 2},
    ),
    "budget": (
        {"cost": {"apollo": "1200", "hermes": "300", "zeus": "700", "hera": "50"}},
        {"rows of totals": 3},
    ),
    "events": (
        {
            "held on": {
                "spring fair": "2024-03-21",
                "summer run": "2024-06-30",
                "autumn market": "2024-10-05",
                "winter ball": "2024-12-12",
                "new year": "2024-12-31",
            },
            "venue": {
                "spring fair": "venue/town hall",
                "summer run": "venue/city park",
                "autumn market": "venue/old square",
                "winter ball": "venue/town hall",
                "new year": "venue/harbour",
            },
        },
        {},
    ),
    # 1.000 CHF may be one or a thousand where cells of both kinds are: it stays text.
    "invoices": (
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
    "cities": (
        {
            "population": {
                "paris": "2102650",
                "lyon": "522250",
                "madrid": "3305408",
                "porto": "231800",
            },
            "area": {
                "paris": "105.4 km²",
                "lyon": "47.9 km²",
                "madrid": "604.3 km²",
                "porto": "41.4 km²",
            },
        },
        {},
    ),
    "staff": (
        {
            "phone": {"7": "111", "8": "211", "9": "311"},
            "phone 2": {"7": "112", "9": "312"},
            "start": {"7": "2020-01-01", "8": "2019-03-15", "9": "2022-09-30"},
            "start 2": {"7": "2021-06-01", "9": "2023-02-01"},
        },
        {"empty cells": 2},
    ),
    "animals": (
        {
            "class": {"cat": "mammal", "eagle": "bird", "ant": "insect", "snake": "reptile"},
            "legs": {"cat": "4", "eagle": "2", "ant": "6", "snake": "0"},
        },
        {"empty cells": 8},
    ),
    "parcels": (
        {
            "postcode": {"000123": "01067", "000456": "04109", "123": "10115"},
            "weight": {"000123": "250 g", "000456": "1200 g", "123": "80 g"},
        },
        {},
    ),
    "sales": (
        {
            "2021": {"north": "100", "south": "90", "east": "40", "west": "10"},
            "2022": {"north": "120", "south": "85", "east": "60", "west": "15"},
            "2023": {"north": "130", "south": "110", "east": "75"},
        },
        {"empty cells": 1},
    ),
    "films": (
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
            "awards": {
                "blue moon": ["award/audience prize", "award/golden reel"],
                "green door": "award/golden reel",
            },
        },
        {"empty lists": 1},
    ),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_every_cell_of_a_messy_table_has_its_value(tmp_path: Path, name: str) -> None:
    expected, skipped = EXPECTED[name]
    things = _read(tmp_path, name)
    kind = things.plan.tables[0].mapping.kind
    for relation, values in expected.items():
        rows = {head.removeprefix(f"{kind}/"): it for head, it in things.values(relation).items()}
        assert rows == values, relation
    assert dict(things.parsed.skipped) == skipped
    assert not things.parsed.rejects
    typed = {head for head, type_ in things.values(RDF_TYPE).items() if type_ == f"class/{kind}"}
    assert len(typed) == len(next(iter(expected.values())))


def test_all_messy_tables_are_tried() -> None:
    assert set(EXPECTED) == set(TABLES)
    assert len(TABLES) == 12


def test_what_names_the_rows_of_messy_tables(tmp_path: Path) -> None:
    assert _read(tmp_path, "kunden").labels()["kunden/10"] == "Müller & Söhne"
    # A column that is named as its table, beside another key, names the rows for people.
    assert _read(tmp_path, "products").labels()["product/a-1"] == "Desk Lamp"


def _read(folder: Path, name: str) -> Things:
    path = TABLES[name]
    own = folder / name
    own.mkdir()
    return Things(own, {path.name: path.read_bytes()}, encoding=ENCODINGS.get(name))
