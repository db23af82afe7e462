"""What rows of tables are where nobody says it: things, or statements (B14)."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from things_of_tables import Things

from graph_service.model.values import EntityValue, StringValue
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.tables.mapping import NUMBER
from loaders.tables.row_meaning import rows_are_things

STAFF = "Employee,Salary,Hired,Manager\nAnn,5 EUR,2020-01-02,\nBob,6 EUR,2021-03-04,Ann\n"
TRIPLES = "Ann,knows,Bob\nBob,knows,Cleo\nCleo,likes,Ann\n"


@pytest.mark.parametrize(
    ("text", "are_things"),
    [
        pytest.param(STAFF, True, id="numbers and dates under words"),
        pytest.param("Department,Budget,Floor\nSales,80 EUR,2\nFinance,30 EUR,1\n", True,
                     id="three columns, of which the second is no relation"),
        pytest.param("City,Mayor,Inhabitants\nOdderup,Ann,70\nTorby,Bob,90\n", True,
                     id="a number each of three columns"),
        pytest.param("Date,Item,Amount\n2024-01-02,tea,3\n2024-01-02,tea,3\n", True,
                     id="a date has no relations"),
        pytest.param("Project,Lead,Start,End\nAtlas,Ann,2023-01-10,2024-03-31\n"
                     "Beacon,Bob,2022-05-01,\n", True, id="start and end are dates"),
        pytest.param("Book,Author,Shop,Shelf\nDune,Herbert,Torby,A\nEmma,Austen,Torby,B\n"
                     "Sanditon,Austen,Torby,A\n", True, id="names that come again"),
        pytest.param("head,relation,tail\nAnn,age,5\nBob,age,6\n", False, id="a known header"),
        pytest.param("source,target,weight\n1,2,0.5\n2,3,0.7\n", False, id="edges"),
        pytest.param("id:ID,name,age:int\n1,Ann,5\n2,Bob,6\n", False, id="nodes of neo4j-admin"),
        pytest.param(TRIPLES, False, id="statements without a header"),
        pytest.param("Ann,age,5\nBob,age,6\nCleo,age,7\n", False, id="statements of numbers"),
        pytest.param("Ann,5 EUR,2020-01-02,Bob\nBob,6 EUR,2021-03-04,Ann\n", False,
                     id="no header: the first row is as the others"),
        pytest.param("a,b,c,d\nw,x,y,z\ns,t,u,v\n", False, id="nothing tells a header"),
        pytest.param("Employee,Salary\n", False, id="no row"),
        pytest.param("", False, id="nothing"),
    ],
)  # fmt: skip
def test_rows_of_a_table(tmp_path: Path, text: str, are_things: bool) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert rows_are_things(path, LoadOptions()) is are_things


@pytest.mark.parametrize(
    "options",
    [
        LoadOptions(columns=("head", "relation", "tail", "-")),
        LoadOptions(edge_relation="knows"),
        LoadOptions(header=True),
        LoadOptions(format="csv"),
    ],
)
def test_an_option_says_what_rows_are(tmp_path: Path, options: LoadOptions) -> None:
    (tmp_path / "staff.csv").write_text(STAFF)
    assert not rows_are_things(tmp_path / "staff.csv", options)


def test_statements_beside_things_in_a_folder_are_not_taken_for_things(tmp_path: Path) -> None:
    (tmp_path / "staff.csv").write_text(STAFF)
    assert rows_are_things(tmp_path, LoadOptions())
    (tmp_path / "short.csv").write_text("id,name\n1,Ann\n2,Bob\n")
    assert rows_are_things(tmp_path, LoadOptions())
    (tmp_path / "triples.csv").write_text(TRIPLES)
    assert not rows_are_things(tmp_path, LoadOptions())


def test_a_load_reads_things_and_says_by_what_they_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    (folder / "staff.csv").write_text(STAFF)
    (folder / "README.md").write_text("Our staff.\n")
    store_url = f"sqlite:///{tmp_path / 'g.db'}"
    with open_store(store_url) as store:
        report = load(folder, store=store, graph="g")
        by_option = load(folder, store=store, graph="by_option", options=LoadOptions(row="auto"))
    assert report.keys == {"staff.csv": "Employee"}
    assert "rows: things, named by Employee in staff.csv" in report.lines()
    assert report.graph is not None
    assert by_option.graph is not None
    assert report.graph.fingerprints == by_option.graph.fingerprints


def test_a_stopped_load_of_things_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "staff.csv"
    path.write_text(STAFF)
    stop = threading.Event()
    stop.set()
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        stopped = load(path, store=store, graph="g", stop=stop)
        report = load(path, store=store, graph="g")
    assert stopped.status == "stopped"
    assert report.status == "published"
    assert report.keys == {"staff.csv": "Employee"}


SALES = "Date,Item,Amount\n2024-01-02,tea,3\n2024-01-02,tea,3\n2024-01-05,salt,1\n"


def test_rows_that_no_column_names_are_numbered(tmp_path: Path) -> None:
    """Equal rows are two things, and those of another file of the name are others."""
    statements = []
    for folder, text in (("a", SALES), ("b", SALES.replace("salt,1", "salt,2"))):
        path = tmp_path / folder / "sales.csv"
        path.parent.mkdir()
        path.write_text(text)
        with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
            report = load(path, store=store, graph="g")
            repeated = load(path, store=store, graph="g")
        assert report.keys == {"sales.csv": NUMBER}
        assert "rows: things, named by their number in sales.csv" in report.lines()
        assert report.counts is not None
        assert repeated.counts is not None
        assert repeated.counts.written == 0
        statements.append(report.counts.written)
    # Per row what it is, a date, an item and an amount; of three items and classes one statement
    # each; and of the second file the one row that differs.
    assert statements == [14, 4]


@pytest.mark.parametrize(
    ("first", "key"),
    [
        pytest.param(("1001", "1002", "1004"), "Ticket", id="numbers of rows"),
        pytest.param(("12", "950", "71000"), NUMBER, id="amounts"),
        pytest.param(("5 kg", "6 kg", "7 kg"), NUMBER, id="numbers with a unit"),
    ],
)
def test_whole_numbers_that_follow_each_other_name_the_rows(
    tmp_path: Path, first: tuple[str, ...], key: str
) -> None:
    path = tmp_path / "repairs.csv"
    rows = "".join(f"{cell},2024-03-0{day},roof\n" for day, cell in enumerate(first, 1))
    path.write_text(f"Ticket,Reported,Part\n{rows}")
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        assert load(path, store=store, graph="g").keys == {"repairs.csv": key}


def test_names_of_a_column_are_entities_though_none_comes_again(tmp_path: Path) -> None:
    text = (
        "Flat,Tenant,Problem\nA1,Li Wei,leaking tap\nA2,Maria de la Cruz,mould\nA3,Jo Berg,cold\n"
    )
    things = Things(tmp_path, {"flats.csv": text})
    assert things.types("tenant") == {EntityValue}
    assert things.types("problem") == {StringValue}
    titled = text.replace("Tenant", "Title")
    (tmp_path / "b").mkdir()
    assert Things(tmp_path / "b", {"films.csv": titled}).types("title") <= {StringValue}
