"""Sheets as people lay them out: tables side by side, names of groups, forms, sums at the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from error_texts import check_counts, raises
from things_of_tables import Things

from graph_service.errors import InputError
from graph_service.model.classes import RDF_TYPE
from graph_service.store.protocol import Store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.tables.mapping import read_tables_request

OFFICE = (
    "Employee,Desk,Starts,,Room,Seats,Projector\n"
    "Greta Holm,D1,2022-05-01,,Birch,12,yes\n"
    "Samir Haddad,D2,2019-11-15,,Cedar,4,no\n"
    "Ines Prado,D7,2023-02-20,,,,\n"
    "Tom Okafor,D4,2017-08-01,,,,\n"
)
REGIONS = (
    "Revenue by branch,,,,,\n"
    ",,2022,,2023,\n"
    "Region,Branch,Revenue,Staff,Revenue,Staff\n"
    "North,Hamburg,410,12,455,13\n"
    ",Bremen,230,7,228,6\n"
    ",Kiel,180,5,195,5\n"
    "South,Munich,690,21,742,23\n"
    ",Augsburg,205,6,210,6\n"
    ",,1715,51,1830,53\n"
)


@pytest.fixture
def options(tmp_path: Path) -> LoadOptions:
    return LoadOptions(row="auto", rejects_path=tmp_path / "rejects.jsonl")


def _things(tmp_path: Path, text: str, name: str = "office.csv", **options: object) -> Things:
    return Things(tmp_path, {name: text}, **options)


# Tables side by side


def test_tables_side_by_side_are_tables_of_their_own(tmp_path: Path) -> None:
    things = _things(tmp_path, OFFICE)
    assert things.plan.key_columns() == {"office.csv": "Employee", "office.csv#Room": "Room"}
    assert things.values("seats") == {"room/birch": "12", "room/cedar": "4"}
    assert things.values("desk")["employee/tom okafor"] == "D4"
    assert set(things.values(RDF_TYPE).values()) == {"class/employee", "class/room"}
    assert not things.parsed.rejects
    assert not things.parsed.skipped


def test_each_row_of_tables_side_by_side_is_one_record(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path = tmp_path / "office.csv"
    path.write_text(f"Plan of 2024,,,,,,\n{OFFICE}", encoding="utf-8")
    report = load(path, store=tmp_store, graph="g", options=options)
    assert report.records.total == report.records.read == 6
    check_counts(report.skipped, 1)


def test_the_column_of_row_names_one_of_tables_side_by_side(tmp_path: Path) -> None:
    things = _things(tmp_path, OFFICE, row="Desk")
    assert things.plan.key_columns() == {"office.csv": "Desk", "office.csv#Room": "Room"}


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(OFFICE.replace(",,,,\n", ",,Larch,9,no\n"), id="end together"),
        pytest.param(OFFICE.replace("D7,2023-02-20,,,,", "D7,2023-02-20,note,,,"), id="no gap"),
        pytest.param(OFFICE.replace("Cedar", "Birch"), id="no names on the right"),
        pytest.param(OFFICE.replace("Birch", "7").replace("Cedar", "8"), id="numbers"),
        pytest.param(
            OFFICE.replace("Birch,12,yes", ",,").replace("D7,2023-02-20,,,,", "D7,,,Oak,1,no"),
            id="begins late",
        ),
        pytest.param(
            OFFICE.replace(",Seats,Projector", "").replace(",12,yes", "").replace(",4,no", ""),
            id="one column",
        ),
        pytest.param(OFFICE.replace(",,,,\n", ",,Larch,9,no\n") + "* of May,,,,,,\n", id="remark"),
    ],
)
def test_a_gap_within_one_table_parts_nothing(tmp_path: Path, text: str) -> None:
    assert list(_things(tmp_path, text).plan.key_columns()) == ["office.csv"]


def test_a_mapping_speaks_of_one_of_tables_side_by_side(
    tmp_store: Store, tmp_path: Path, options: LoadOptions
) -> None:
    path, mapping = tmp_path / "office.csv", tmp_path / "office.toml"
    path.write_text(OFFICE, encoding="utf-8")
    mapping.write_text('[tables."office.csv#Room"]\nclass = "hall"\n', encoding="utf-8")
    request = read_tables_request(mapping)
    load(path, store=tmp_store, graph="g", options=replace(options, tables_request=request))
    edition = tmp_store.graph("g").edition
    assert tmp_store.entities(edition, ["hall/birch"]).entities["hall/birch"].labels


# Names of groups


def test_the_name_of_a_group_is_said_of_each_of_its_rows(tmp_path: Path) -> None:
    things = _things(tmp_path, REGIONS, "revenue.csv")
    assert things.plan.key_columns() == {"revenue.csv": "Branch"}
    assert things.values("region") == {
        "revenue/hamburg": "region/north",
        "revenue/bremen": "region/north",
        "revenue/kiel": "region/north",
        "revenue/munich": "region/south",
        "revenue/augsburg": "region/south",
    }
    check_counts(things.parsed.kept, 3)
    assert '"Region" = { type = "entity", relation = "region", class = "region", fill = "down"' in (
        things.notes()
    )


def test_years_over_groups_of_columns_are_part_of_their_names(tmp_path: Path) -> None:
    things = _things(tmp_path, REGIONS, "revenue.csv")
    assert things.values("2023 revenue")["revenue/munich"] == "742"
    assert things.values("2022 staff")["revenue/kiel"] == "5"


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(["Dr.", "", "Dr.", ""], id="names that come again"),
        pytest.param(["", "North", "", "South"], id="the first row has none"),
        pytest.param(["North", "", "", ""], id="one group"),
        pytest.param(["A", "B", "C", "D", "E", ""], id="one cell is missing"),
    ],
)
def test_a_first_column_that_lacks_cells_is_no_column_of_groups(
    tmp_path: Path, cells: list[str]
) -> None:
    rows = "".join(f"{cell},name {at},{at * 7}\n" for at, cell in enumerate(cells))
    things = _things(tmp_path, f"Part,Item,Price\n{rows}", "items.csv")
    assert not any("filled" in reason for reason in things.parsed.kept)
    assert "fill" not in things.notes()


def test_a_mapping_turns_filling_off_and_on(tmp_path: Path) -> None:
    off, on = tmp_path / "off.toml", tmp_path / "on.toml"
    off.write_text('[tables."a.csv".columns]\nRegion = { fill = "none" }\n', encoding="utf-8")
    on.write_text('[tables."a.csv".columns]\nHall = { fill = "down" }\n', encoding="utf-8")
    (tmp_path / "tables").mkdir()
    rows = "Region,Branch,Hall,Staff\nNorth,Kiel,A,5\n,Bremen,,6\nSouth,Ulm,A,7\n,Bonn,,8\n"
    request = read_tables_request(off)
    things = Things(tmp_path / "tables", {"a.csv": rows}, row=None, tables_request=request)
    assert len(things.values("region")) == 2
    request = read_tables_request(on)
    things = Things(tmp_path / "tables", {"a.csv": rows}, row=None, tables_request=request)
    assert len(things.values("region")) == len(things.values("hall")) == 4


def test_a_mapping_that_fills_sideways_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.toml"
    path.write_text('[tables."a.csv".columns]\nRegion = { fill = "right" }\n', encoding="utf-8")
    with raises(InputError):
        read_tables_request(path)


def test_cells_below_a_requested_key_are_not_filled(tmp_path: Path) -> None:
    things = _things(tmp_path, REGIONS, "revenue.csv", row="Region")
    assert len(things.parsed.rejects) == 3


# Forms


FORM = (
    "Timestamp,What is your name?,Which department are you in?,"
    '"Which tools do you use? (select all)",Do you work remotely?,How tall are you? (cm)\n'
    '2/13/2024 9:14:02,Harriet Vogel,Finance,"Excel, SAP",Yes,170\n'
    '2/13/2024 9:20:45,Deniz Kaya,Engineering,"Git, Jira, Slack",Yes,181\n'
    '2/13/2024 10:02:11,Paolo Conti,Engineering,"Git, Slack",No,177\n'
    "2/14/2024 8:47:30,Mina Park,Finance,Excel,No,164\n"
)


def test_questions_of_a_form_are_relations_by_what_they_ask_for(tmp_path: Path) -> None:
    things = _things(tmp_path, FORM, "responses.csv")
    assert sorted(things.values("department").values()) == [
        *["department/engineering"] * 2,
        *["department/finance"] * 2,
    ]
    assert set(things.values("work remotely").values()) == {"true", "false"}
    assert set(things.values("tall").values()) == {"170 cm", "181 cm", "177 cm", "164 cm"}
    assert "Mina Park" in things.labels().values()
    assert ["tool/git", "tool/jira", "tool/slack"] in things.values("tools").values()


def test_two_questions_about_one_topic_are_two_relations(tmp_path: Path) -> None:
    text = "id,Which tools do you use?,Which tools do you like?\n1,Git,Jira\n2,Jira,Git\n"
    things = _things(tmp_path, text, "answers.csv")
    assert len(things.values("which tools do you use?")) == 2
    assert len(things.values("which tools do you like?")) == 2


@pytest.mark.parametrize(
    ("header", "cells", "split"),
    [
        ("Allergies", ["pollen, latex", "pollen", "nuts, pollen"], True),
        ("Allergy", ["pollen, latex", "pollen", "nuts, pollen"], False),
        ("Offices", ["Bonn, Germany", "Ulm, Germany", "Kiel, Germany"], False),
        ("Jobs", ["Vice President, Sales", "Clerk", "Head, Purchase"], False),
    ],
)
def test_commas_make_lists_under_a_plural(
    tmp_path: Path, header: str, cells: list[str], split: bool
) -> None:
    rows = "".join(f'p{at},"{cell}",{at}\n' for at, cell in enumerate(cells))
    things = _things(tmp_path, f"id,{header},n\n{rows}", "people.csv")
    assert (', list = ","' in things.notes()) is split


# Ends, marks and names of files


def test_a_closing_balance_below_an_empty_line_is_no_row(tmp_path: Path) -> None:
    text = (
        "Account;DE89\n\nDate;Payee;Purpose;Amount;Balance\n"
        "01.03.2024;Krone;Rent;-850,00 €;1.412,37 €\n"
        "14.03.2024;REWE;Food;-62,18 €;1.350,19 €\n"
        "\nClosing balance;;;;1.350,19 €\n"
    )
    things = _things(tmp_path, text, "statement_2024-03.csv")
    check_counts(things.parsed.skipped, 1, 1)
    assert not things.parsed.kept
    assert things.plan.tables[0].mapping.kind == "statement"


@pytest.mark.parametrize("end", ["Milk;;;;4,00 €\n", "\n31.03.2024;;;;4,00 €\n"])
def test_a_last_row_of_few_cells_is_a_row(tmp_path: Path, end: str) -> None:
    text = (
        "Date;Payee;Purpose;Amount;Balance\n"
        "01.03.2024;Krone;Rent;-850,00 €;1.412,37 €\n"
        "14.03.2024;REWE;Food;-62,18 €;1.350,19 €\n"
    )
    assert _things(tmp_path, text + end, "bank.csv").plan.tables[0].rows == 3


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["x", "", "X"], {"true"}),
        (["x", "x", "x"], {"true"}),
        (["x", "no", "x"], {"true", "false"}),
        (["x", "y", "z"], {"x", "y", "z"}),
    ],
)
def test_an_x_says_yes(tmp_path: Path, cells: list[str], values: set[str]) -> None:
    rows = "".join(f"M-{at},{cell}\n" for at, cell in enumerate(cells))
    things = _things(tmp_path, f"Member No,Paid\n{rows}", "members.csv")
    assert set(things.values("paid").values()) == values


def test_numbers_under_the_name_of_the_file_name_no_rows(tmp_path: Path) -> None:
    text = "Branch,Revenue\nUlm,410\nBonn,230\nUlm,180\n"
    assert _things(tmp_path, text, "revenue.csv").plan.key_columns() != {"revenue.csv": "Revenue"}
