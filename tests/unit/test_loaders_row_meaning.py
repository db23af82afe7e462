"""What rows of tables are where nobody says it: things, or statements (B14)."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from error_texts import check_counts, check_line, raises
from things_of_tables import Things

from graph_service.errors import InputError
from graph_service.model.values import EntityValue, StringValue
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.tables.mapping import AUTO, NUMBER
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
        pytest.param("Shift,Begins,Share\nA,08:30,1/2\nB,17:05,3/4\n", True,
                     id="times of day and fractions are no relations"),
        pytest.param("Lot,Lakh,Price\nA,\"1,00,000\",\"₹ 12,50,000\"\nB,\"2,50,000\",₹ 500\n", True,
                     id="numbers as India writes them"),
        pytest.param("ID,Name,City\n001,Ann,Oslo\n002,Bob,Rome\n", True, id="an id and a name"),
        pytest.param("Artikelnummer;Bezeichnung;Farbe\nX1;Schraube;rot\nX2;Mutter;blau\n", True,
                     id="an id and a name in German"),
        pytest.param("Name,parent company,sister station\nLantern,Brisk,Otter\nOtter,Brisk,Vale\n",
                     True, id="names without capitals over names that have them"),
        pytest.param("Ann,works for,Brisk\nBob,Works for,Vale\nCleo,Leads,Brisk\n", False,
                     id="a relation without a capital"),
        pytest.param("A,name,ID\nA,knows,B\nB,name,Bob\n", False, id="a relation called name"),
        pytest.param("subject,predicate,object\nid,name,title\nA,knows,B\n", False,
                     id="a known header over such words"),
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
    check_line(report.lines(), "named by Employee", "staff.csv")
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
        check_line(report.lines(), "their number", "sales.csv")
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


@pytest.mark.parametrize(
    ("text", "are_things"),
    [
        pytest.param("Region,Shop,Revenue\nNorth,Alpha,12\n,Beta,8\n", True, id="cells left empty"),
        pytest.param("Student;Kurs;Note\nAnna;Mathe;1,3\nBen;Mathe;2,0\nAnna;Physik;1,7\n", True,
                     id="a middle column whose cells come again"),
        pytest.param("player,club,season\nAnn,Reds,2020\nAnn,Blues,2021\nBob,Reds,2020\n", True,
                     id="words without capitals"),
        pytest.param("Team,Coach,Stadium\nReds,Ann Lee,Park\nBlues,Bob Day,Dome\n", False,
                     id="names that come once"),
        pytest.param("Stra\u00dfe,Gr\u00f6\u00dfe,H\u00f6he\nAm Tor,weit,hoch\nAm See,eng,tief\n", False,
                     id="umlauts"),
    ],
)  # fmt: skip
def test_a_first_row_of_names_that_come_nowhere_else_is_no_statement(
    tmp_path: Path, text: str, are_things: bool
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        if are_things:
            assert list(load(path, store=store, graph="g").formats) == ["rows"]
        else:
            with raises(InputError):
                load(path, store=store, graph="g")
        by_option = LoadOptions(columns=("head", "relation", "tail"))
        report = load(path, store=store, graph="by_option", options=by_option)
    assert report.graph is not None
    assert report.graph.counts.statements >= 2


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Ann,knows,Bob\nCid,likes,Dan\nEve,hates,Fay\n", id="relations in lower case"),
        pytest.param("Q1,P31,Q5\nQ2,P279,Q7\nQ8,P17,Q9\n", id="ids"),
        pytest.param("tor,part of,house\nann,part of,staff\n", id="a relation that comes again"),
    ],
)  # fmt: skip
def test_statements_of_names_that_come_once_are_statements(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(path, store=store, graph="g")
    assert report.graph is not None
    assert report.graph.counts.statements == text.count("\n")


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("Stock of May,,,\nItem No,Name,City,Weight\nA-1,Anchor,Torby,1 kg\n", "Item No"),
        ("# by hand\nid,name,city,price\n1,Ann,Torby,2.5\n2,Bob,Torby,3.5\n", "id"),
        ("Product,,Sales,\nCode,Name,2022,2023\nA1,Table,10,12\nA2,Chair,7,9\n", "Code"),
        ("Code;Name;Sales;Sales\n;;2022;2023\nA1;Table;10;12\nA2;Chair;7;9\n", "Code"),
    ],
)
@pytest.mark.parametrize("says_row", [False, True])
def test_lines_before_a_header_are_no_rows(
    tmp_path: Path, text: str, row: str, says_row: bool
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    options = LoadOptions(row=AUTO if says_row else None)
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(path, store=store, graph="g", options=options)
    assert report.rejected == 0
    assert report.skipped["rows before the header"] == 1
    assert report.keys == {"table.csv": row}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Country,Capital\nItaly,Rome\nPeru,Lima\n", "--row Country"),
        ("id^name\na1^Table\na2^Chair\n", "such as sep=^"),
    ],
)
def test_a_table_too_narrow_for_statements_is_not_advised_to_be_them(
    tmp_path: Path, text: str, says: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        with pytest.raises(InputError) as caught:
            load(path, store=store, graph="g")
        assert caught.value.hint is not None
        assert says in caught.value.hint
        assert "head,relation,tail" not in caught.value.hint
        path.write_text(f"sep=^\n{text}" if "^" in text else text)
        row = "id" if "^" in text else "Country"
        report = load(path, store=store, graph="g", options=LoadOptions(row=row))
    assert report.rejected == 0
    assert not any("header" in reason for reason in report.skipped)
    assert report.graph is not None
    assert report.graph.counts.relations == (1 if "^" in text else 2)


def test_lines_that_end_in_carriage_returns_alone_are_told(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(b"id,name,price\ra1,Table,10.5\ra2,Chair,5.5\r")
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        for options in (LoadOptions(), LoadOptions(row="id")):
            with pytest.raises(InputError, match="carriage returns alone"):
                load(path, store=store, graph="g", options=options)


def test_rows_of_one_key_are_counted_as_one_thing(tmp_path: Path) -> None:
    path = tmp_path / "parts.csv"
    path.write_text("id,name,price\na1,Table,10.5\na1 ,Desk,12\na2,Chair,5.5\n")
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(path, store=store, graph="g", options=LoadOptions(row="id"))
    check_counts(report.kept, 1)


def test_cells_that_nearly_refer_to_a_table_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "customers.csv").write_text("CustomerID,Name\nC1,Ann\nC2,Bob\n")
    (folder / "orders.csv").write_text(
        "OrderID,Customer,Total\nO1,C1,10\nO2,C2,20\nO3,C1,5\nO4,C9,7\n"
    )
    with open_store(f"sqlite:///{tmp_path / 'g.db'}") as store:
        report = load(folder, store=store, graph="g")
    reason = next(reason for reason in report.kept if "not joined to customers.csv" in reason)
    assert report.kept[reason] == 4
