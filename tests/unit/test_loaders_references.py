"""Columns that refer to tables: by key, by name, and rows that join two things (B14)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import check_counts, check_line
from things_of_tables import MAKERS, PARTS, SUPPLIERS, Things

from graph_service.model.classes import RDF_TYPE
from graph_service.model.values import (
    Quantity,
    StringValue,
)
from loaders.tables.mapping import read_tables_request

CATEGORIES = "Category ID,Category,Parent category ID,Level\n1,Tools,,1\n2,Saws,1,2\n3,Axes,1,2\n"


STAFF = (
    "staff no,name,office,line manager,deputy\n7,Ida Falk,Oslo,,Jon Berg\n"
    "8,Jon Berg,Oslo,Ida Falk,Kim Lund\n9,Kim Lund,Oslo,Ida Falk,Ida Falk\n"
    "10,Liv Moe,Bergen,Jon Berg,\n"
)


ARTISTS = (
    "name,born,teacher\nElin Sandvik,1861,Jonas Hale\nJonas Hale,1832,\n"
    "Marta Kova\u010d,1898,elin sandvik\nTom\u00e1s Ibarra,1910,Marta Kova\u010d\n"
)


def test_what_describes_another_column_stays_with_the_row_where_it_differs(tmp_path: Path) -> None:
    text = "id,Shop,Shop City\n1,Roma,Rome\n2,Roma,Milan\n3,Roma,Rome\n"
    things = Things(tmp_path, {"sales.csv": text})
    assert things.values("shop city") == {
        "sale/1": "city/rome",
        "sale/2": "city/milan",
        "sale/3": "city/rome",
    }


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
    check_line(things.notes(), "67%", "suppliers.csv")
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


WORKERS = (
    "No,Name,Job title,Manager,Team lead\nE1,Amina Diallo,Head,,\n"
    "E2,Tomas Novak,Account Manager,Amina Diallo,Lena Fischer\n"
    "E3,Lena Fischer,Engineer,Amina Diallo,Amina Diallo\n"
    "E4,Priya Raman,Account Manager,Lena Fischer,\n"
)


@pytest.mark.parametrize(
    "header", ["Account manager", "Manager", "Sales manager", "Supervisor", "Owner", "Mentor"]
)
def test_a_column_refers_by_names_under_a_header_that_may_mean_its_own_table(
    tmp_path: Path, header: str
) -> None:
    clients = (
        f"Client,{header},Deputy\nAlpine,Tomas Novak,Priya Raman\nBergen,Priya Raman,\n"
        "Casa,Lena Fischer,Tomas Novak\nDelta,,\nEast,Tomas Novak,\n"
    )
    things = Things(tmp_path, {"clients.csv": clients, "workers.csv": WORKERS})
    assert f'"{header}" = {{ type = "entity", relation = "{header.lower()}", ' in things.notes()
    managers = things.values(header.lower())
    assert managers["client/alpine"] == "worker/e2"
    assert things.values("deputy")["client/casa"] == "worker/e2"
    assert things.values("team lead")["worker/e2"] == "worker/e3"
    assert things.values("manager")["worker/e4"] == "worker/e3"
    assert things.plan.references()[f"{header} of clients.csv"] == "workers.csv"


def test_names_of_which_another_table_lacks_too_many_are_told(tmp_path: Path) -> None:
    clients = "Client,Owner\nAlpine,Tomas Novak\nBergen,Priya Raman\nCasa,Ines Gone\nEast,Bo Left\n"
    things = Things(tmp_path, {"clients.csv": clients, "workers.csv": WORKERS})
    check_line(things.notes(), "50%", "workers.csv")
    check_line(things.parsed.kept, "cells of Owner", "workers.csv")


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
    check_counts(things.parsed.kept, 1)


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


def test_a_row_that_only_joins_two_things_is_a_statement(tmp_path: Path) -> None:
    things = Things(
        tmp_path,
        {
            "orders.csv": "orderID,day\n7,2024-01-02\n8,2024-01-03\n",
            "products.csv": "productID,productName\n1,Chai\n2,Tofu\n",
            "takes.csv": "orderID,productID\n7,1\n8,2\n",
        },
    )
    # In takes.csv every order comes once, and it is no table of orders all the same.
    assert things.values("product") == {"order/7": "product/1", "order/8": "product/2"}
    assert not [head for head in things.values(RDF_TYPE) if head.startswith("take/")]


@pytest.mark.parametrize("column", ["quantity", "remark", "packer"])
def test_a_row_that_says_more_of_two_things_is_a_thing(tmp_path: Path, column: str) -> None:
    cells = {"quantity": "12 3 4", "remark": "fragile late cold", "packer": "Ann Ann Bo"}[column]
    first, second, third = cells.split()
    details = f"orderID,productID,{column}\n7,1,{first}\n7,2,{second}\n8,1,{third}\n"
    things = Things(
        tmp_path,
        {
            "orders.csv": "orderID,day\n7,2024-01-02\n8,2024-01-03\n",
            "products.csv": "productID,productName\n1,Chai\n2,Tofu\n",
            "details.csv": details,
        },
    )
    rows = things.values("order")
    assert [row.partition("-")[0] for row in sorted(rows)] == ["detail/1", "detail/2", "detail/3"]
    assert sorted(rows.values()) == ["order/7", "order/7", "order/8"]
    assert {*things.values(column)} == {*rows}


def test_two_full_names_of_one_other_table_are_references(tmp_path: Path) -> None:
    staff = "No,First Name,Last Name\n1,Felix,Brandt\n2,Sana,Qureshi\n3,Tom,Okafor\n"
    patients = "Patient ID,Doctor,Friend\nP1,Sana Qureshi,Tom\nP2,Felix Brandt,Ann\nP3,,\n"
    things = Things(tmp_path, {"staff.csv": staff, "patients.csv": patients})
    assert things.values("doctor") == {"patient/p1": "staff/2", "patient/p2": "staff/1"}
    assert things.types("friend") == {StringValue}
    # Two names of one word may be those of another table by chance.
    wards = "Ward,Head\nNorth,Ann\nSouth,Tom\n"
    nurses = "No,Name\n1,Ann\n2,Tom\n3,Eva\n"
    (tmp_path / "wards").mkdir()
    things = Things(tmp_path / "wards", {"wards.csv": wards, "nurses.csv": nurses})
    assert things.types("head") == {StringValue}


def test_a_first_column_called_as_the_rows_names_them_by_numbers(tmp_path: Path) -> None:
    rooms = "Room,Name,Floor\n101,Rose,Ground\n102,Fern,Ground\n201,Ivy,First\n202,Oak,First\nC1,Hut,Annexe\n"
    bookings = "Booking,Room,Nights\nB-1,101,2\nB-2,201,3\nB-3,C1,7\n"
    things = Things(tmp_path, {"rooms.csv": rooms, "bookings.csv": bookings})
    assert things.labels()["room/101"] == "Rose"
    assert things.values("room") == {
        "booking/b-1": "room/101",
        "booking/b-2": "room/201",
        "booking/b-3": "room/c1",
    }


def test_a_column_called_as_the_noun_of_a_key_refers_to_it(tmp_path: Path) -> None:
    """``Part`` of lots.csv names the rows that ``PartNo`` of stock.csv names."""
    tables = {
        "stock.csv": "PartNo,Price\nP1,5.00\nP2,6.00\n",
        "lots.csv": "Lot,Part,Qty\nL1,P1,3\nL2,P2,4\nL3,P1,6\n",
    }
    things = Things(tmp_path, tables)
    assert things.values("part")["lot/l1"] == "stock/p1"


@pytest.mark.parametrize(("codes", "joins"), [("T1 T2 T3", True), ("A B C", False)])
def test_codes_that_one_table_alone_has_refer_to_it(
    tmp_path: Path, codes: str, joins: bool
) -> None:
    first, second, third = codes.split()
    tables = {
        "teachers.csv": f"TeacherID,Name,Room\n{first},Mr. Pike,104\n{second},Ms. Vale,201\n"
        f"{third},Mrs. Orr,117\n",
        "students.csv": f"StudentID,Name,Tutor\nS1,Amy Reed,{second}\nS2,Ben Cole,{first}\n"
        f"S3,Cara Dunn,{third}\nS4,Dan Frey,{second}\n",
    }
    things = Things(tmp_path, tables)
    kind = "teacher" if joins else "tutor"
    assert things.values("tutor")["student/s1"] == f"{kind}/{second.lower()}"


def test_codes_of_the_same_table_refer_to_its_rows(tmp_path: Path) -> None:
    customers = (
        "Customer ID,Name,Referred by\nC1,Ana Sorel,\nC2,Ben Okafor,C1\nC3,Clara Dunn,C1\n"
        "C4,Dev Rao,C2\nC5,Finn Dunn,C3\n"
    )
    things = Things(tmp_path, {"customers.csv": customers})
    assert things.values("referred by")["customer/c4"] == "customer/c2"


BADGES = (
    "Trade,Badge,Reports to,Wage\nwelder,1042,,31.5\nfitter,1107,1042,28\npainter,1203,1042,22\n"
    "welder,1219,1107,26\nrigger,1388,1107,24\n"
)
JOBS = "Job,Foreman,Pieces\nJ-1,1042,3\nJ-2,1203,1042\nJ-3,1107,5\nJ-4,1219,4\n"


@pytest.mark.parametrize(
    ("tables", "relation", "subject", "value"),
    [
        ({"workers.csv": BADGES}, "reports to", "worker/1107", "worker/1042"),
        ({"workers.csv": BADGES, "jobs.csv": JOBS}, "foreman", "job/j-2", "worker/1203"),
        (
            {"workers.csv": BADGES.replace("Reports to", "Age"), "jobs.csv": JOBS},
            "foreman",
            "job/j-2",
            "worker/1203",
        ),
    ],
)
def test_numbers_to_which_a_column_refers_name_rows(
    tmp_path: Path, tables: dict[str, str], relation: str, subject: str, value: str
) -> None:
    things = Things(tmp_path, tables)
    assert things.values(relation)[subject] == value
    assert things.labels()["worker/1042"] == "1042"


@pytest.mark.parametrize(
    ("trades", "deeds"),
    [
        # All numbers up to the highest are keys: three of them may be anything.
        ("Trade,Level\na,1\nb,2\nc,3\nd,4\n", "Deed,Marks\nx,1\ny,2\nz,3\n"),
        ("Trade,Level\na,10\nb,20\nc,30\nd,40\n", "Deed,Marks\nx,10\ny,20\nz,30\n"),
        # Weights are measured.
        ("Trade,Level (kg)\na,1042\nb,1107\nc,1203\n", "Deed,Marks\nx,1042\ny,1107\nz,1203\n"),
        ("Trade,Level\na,1042\nb,1107\nc,1203\n", "Deed,Marks\nx,1042\ny,1107\nz,1204\n"),
    ],
)
def test_numbers_that_may_be_others_by_chance_name_no_rows(
    tmp_path: Path, trades: str, deeds: str
) -> None:
    things = Things(tmp_path, {"trades.csv": trades, "deeds.csv": deeds})
    assert things.types("marks") == {Quantity}
