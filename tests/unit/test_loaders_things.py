"""Tables as people have them: a row a thing, a column a relation (B14)."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from error_texts import check_counts, raises
from things_of_tables import MAKERS, PARTS, SUPPLIERS, Things, statements_of

from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.model.values import (
    Quantity,
)
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions
from loaders.progress import Progress
from loaders.source import open_source
from loaders.tables.mapping import read_tables_request
from loaders.tables.things import read_things


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
    check_counts(things.parsed.skipped, 1, 1)
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


def test_lines_around_a_table_are_no_rows(tmp_path: Path) -> None:
    text = (
        "Stock list,,\nprinted on 3 May,,\n,,\nSKU,Name,Pieces\nS1,Saw,4\nSKU,Name,Pieces\n"
        "S2,Axe,7\n,,\nTotal,,11\n"
    )
    things = Things(tmp_path, {"stock.csv": text}, row="SKU")
    assert things.values("pieces") == {"stock/s1": "4", "stock/s2": "7"}
    check_counts(things.parsed.skipped, 2, 1, 1)


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


def test_a_row_without_a_key_is_rejected_and_keys_may_differ_by_case(tmp_path: Path) -> None:
    things = Things(tmp_path, {"t.csv": "key,n\na,1\n,2\nA,3\n"}, row="key")
    assert things.values("n") == {"t/a": "1", "t/A": "3"}
    assert [reject.line for reject in things.parsed.rejects] == [3]
    with raises(InputError):
        Things(tmp_path, {"t.csv": "key,n\na,1\n"}, row="no")
    with raises(InputError):
        Things(tmp_path, {"t.csv": "film,part,name\nA,actor,x\nA,maker,y\n"})


def test_the_mapping_that_look_prints_loads_the_same(tmp_path: Path) -> None:
    tables = {"parts.csv": PARTS, "suppliers.csv": SUPPLIERS, "makers.csv": MAKERS}
    things = Things(tmp_path, tables)
    mapping = tmp_path / "all.toml"
    mapping.write_text(things.notes())
    again = Things(tmp_path, tables, row=None, tables_request=read_tables_request(mapping))
    assert again.parsed.statements == things.parsed.statements
    assert again.parsed.entities == things.parsed.entities


@pytest.mark.parametrize(
    "text",
    [
        "nodes = 1\n",
        "[tables\n",
        '[tables."parts.csv"]\nkey = "x"\n',
        '[tables."parts.csv".columns]\nSupplier = { type = "money" }\n',
        '[tables."parts.csv".columns]\nPrice = { type = "text" }\n',
        '[tables."other.csv"]\nrow = "x"\n',
        '[tables."parts.csv".columns]\nSupplier = { references = "x" }\n',
        '[tables."parts.csv".columns]\nAmount = { first = "year" }\n',
    ],
)
def test_a_mapping_that_is_wrong_says_so(tmp_path: Path, text: str) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text(text)
    with raises(InputError):
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
        assert statements_of(rest) == statements_of(blocks[index:])


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


def test_a_table_whose_header_is_not_the_widest_row_stops_the_load(tmp_path: Path) -> None:
    with raises(InputError):
        Things(tmp_path, {"t.csv": "id,a\n1,2,3\n2,3,4,5\n"}, row="id")


def test_a_column_that_is_called_as_a_german_plural_names_the_rows(tmp_path: Path) -> None:
    classes = "Klasse;Raum\n5a;101\n5b;102\n"
    wines = "Artikelnr;Wein;Preis\nR-1;Riesling Alt;9,80 €\nR-2;Rosé;12,50 €\n"
    orders = "Bestellnr;Wein\nB-1;Rosé\nB-2;Riesling Alt\n"
    tables = {"klassen.csv": classes, "weine.csv": wines, "bestellungen.csv": orders}
    things = Things(tmp_path, tables)
    assert things.values("raum") == {"klasse/5a": "101", "klasse/5b": "102"}
    assert things.labels()["wein/r-1"] == "Riesling Alt"
    assert things.values("wein") == {"bestellung/b-1": "wein/r-2", "bestellung/b-2": "wein/r-1"}


def test_classes_have_the_names_of_their_file_and_of_their_key(tmp_path: Path) -> None:
    orders = "Bestellnr;Menge\nB-1;2\nB-2;3\n"
    budget = "Project,Cost\nApollo,5\nHermes,7\n"
    prices = "Client,Sum\nApollo,5\nHermes,7\n"
    tables = {"bestellungen.csv": orders, "budget.csv": budget, "clients.csv": prices}
    entities = Things(tmp_path, tables).parsed.entities
    names = {entity.id: set(entity.aliases.get("en", ())) for entity in entities}
    assert {"bestellungen"} <= names["class/bestellung"]
    assert {"budgets", "project", "projects"} <= names["class/budget"]
    assert {"budget Apollo", "project Apollo"} <= names["budget/apollo"]
    # The header that says the same as the file adds nothing.
    assert names["class/client"] == {"clients"}
