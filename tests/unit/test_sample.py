"""Samples of long-tail entities: levels, filters, and a draw that a random seed decides (L1, L2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_text, raises
from graphs import load_graph
from hypothesis import given
from hypothesis import strategies as st

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.cli import main
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.pageviews import LEVEL_BOUNDS, LongTailLevel, draw_order
from graph_service.model.statement import Entity, Rank, Statement, make_statement
from graph_service.model.values import EntityValue, Iri, StringValue
from graph_service.sampling import NonInformative, SampleSpec, draw_entities, read_relations
from graph_service.settings import SETTINGS, Settings
from graph_service.store.page_views import make_table, save_page_views

COUNT = 40
VIEWS = {f"Q{n}": 5 * 10 ** (n % 5) for n in range(1, COUNT + 1)}


def statements() -> list[Statement]:
    """Entity Qn has n triples: n - 1 of its own, and it is the value of one of Q1000's; besides
    two names, an identifier, a page, a deprecated statement and one of its triples once more.
    """
    made = []
    for n in range(1, COUNT + 1):
        head = f"Q{n}"
        made += [make_statement(head, "P1", EntityValue(f"Q{2000 + m}")) for m in range(1, n)]
        made += [
            make_statement("Q1000", "P2", EntityValue(head)),
            make_statement(head, "P734", EntityValue("Q3000")),
            make_statement(head, "P735", EntityValue("Q3001")),
            make_statement(head, "P214", StringValue("123", "external-id")),
            make_statement(head, "P856", Iri("http://example.org/")),
            make_statement(head, "P3", StringValue("old"), rank=Rank.DEPRECATED),
        ]
        if n > 1:
            made.append(make_statement(head, "P1", EntityValue("Q2001"), id=f"{head}$again"))
    return made


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    settings = Settings(vectors=str(tmp_path / "v.db"))
    with open_service(f"sqlite:///{tmp_path / 'g.db'}", settings=settings) as made:
        entities = [Entity(id_, labels={"en": f"Label {id_}", "de": id_}) for id_ in VIEWS]
        load_graph(made.store, "g", statements(), [*entities, Entity("Q77", redirect="Q7")])
        views = {id_: {"2021-01": count} for id_, count in VIEWS.items()} | {"Q99": {"2021-01": 50}}
        save_page_views(made.store, "g", make_table(views, months=["2021-01"], source="s"))
        yield made


def spec(**more: Any) -> SampleSpec:
    fields: dict[str, Any] = {"non_informative": read_relations(), "max_triples": 20}
    return SampleSpec(**{**fields, **more})


def test_levels_and_filters(service: Service) -> None:
    """L1, L2: by hand: level by mean views, 5 to 20 triples as head or value, names, identifiers,
    pages and deprecated statements neither counted nor given, each triple once.
    """
    found = service.long_tail.sample(spec())
    expected = {
        id_: level
        for id_, count in VIEWS.items()
        for level, (low, high) in LEVEL_BOUNDS.items()
        if low <= count < high and 5 <= int(id_[1:]) <= 20
    }
    assert {item.entity.id: item.level for item in found.items} == expected
    assert {level: counts.drawn for level, counts in found.counts.items()} == {
        level: list(expected.values()).count(level) for level in LongTailLevel
    }
    for counts in found.counts.values():
        assert (counts.entities, counts.tried) == (8, 8)
        assert counts.drawn + counts.too_few + counts.too_many == 8
    for item in found.items:
        number = int(item.entity.id[1:])
        assert len(item.triples) == number
        assert {triple.relation.id for triple in item.triples} == {"P1", "P2"}
        assert sum(triple.head.id == "Q1000" for triple in item.triples) == 1
        assert len({(t.head.id, t.relation.id, t.value_label) for t in item.triples}) == number
        assert item.page_views.mean == VIEWS[item.entity.id]
        assert item.entity.label == f"Label {item.entity.id}"
        assert (item.edition, item.random_seed) == ("g@1", 0)
    assert [item.level for item in found.items] == sorted(item.level for item in found.items)


def test_the_random_seed_decides(service: Service) -> None:
    """L1: the same seed draws the same, a larger draw holds the smaller, another seed differs."""
    small, large = (
        service.long_tail.sample(spec(per_level=n, random_seed=3)).items for n in (1, 2)
    )
    assert service.long_tail.sample(spec(per_level=2, random_seed=3)).items == large
    assert [item for item in large if item.place == 1] == list(small)
    assert len(small) == 4
    draws = {
        tuple(
            item.entity.id
            for item in service.long_tail.sample(spec(per_level=1, random_seed=n)).items
        )
        for n in range(8)
    }
    assert len(draws) > 3
    only = service.long_tail.sample(spec(levels=(LongTailLevel.III,)))
    assert {item.level for item in only.items} == {LongTailLevel.III}
    assert set(only.counts) == {LongTailLevel.III}


@given(st.sets(st.text(max_size=5)), st.integers(-(2**127), 2**127 - 1), st.randoms())
def test_the_draw_does_not_depend_on_order(ids: set[str], seed: int, shuffle: Any) -> None:
    """L1: a keyed hash of each id, nothing else."""
    listed = sorted(ids)
    shuffle.shuffle(listed)
    order = draw_order(listed, random_seed=seed)
    assert sorted(order) == sorted(ids)
    assert order == draw_order(sorted(ids), random_seed=seed)
    left = [id_ for id_ in order if id_ != (listed[0] if listed else "")]
    assert draw_order(set(left), random_seed=seed) == left


def test_the_draw_of_today_is_the_one_of_tomorrow() -> None:
    """L1: frozen, for samples are published by their random seed."""
    ids = [f"Q{n}" for n in range(1, 11)]
    assert draw_order(ids, random_seed=0)[:4] == FROZEN


FROZEN = ["Q2", "Q9", "Q4", "Q1"]


def test_lists_of_relations(service: Service, tmp_path: Path) -> None:
    """L2: ids, beginnings, data types; the list that ships drops what LTGen names."""
    path = tmp_path / "list"
    path.write_text("# names\nwd:P734\n\nhttp://x/*\ndatatype:url\n")
    found = read_relations(path)
    assert found == NonInformative(frozenset({"P734"}), ("http://x/",), frozenset({"url"}))
    assert found.drops("http://x/y")
    assert not found.drops("P735")
    everything = service.long_tail.sample(spec(non_informative=NonInformative(), min_triples=1))
    by_id = {item.entity.id: len(item.triples) for item in everything.items}
    # Two names, an identifier and a page more.
    assert by_id["Q7"] == 11
    default = read_relations()
    assert default.drops("P734")
    assert default.drops("P735")
    assert default.drops("http://dbpedia.org/ontology/wikiPageWikiLink")
    assert not default.drops("P19")
    assert not default.drops("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    path.write_text("P1 P2\n")
    with raises(InputError):
        read_relations(path)
    with pytest.raises(InputError, match="can't be read"):
        read_relations(tmp_path / "nothing")


@pytest.mark.parametrize(
    "wrong",
    [{"per_level": 0}, {"min_triples": 0}, {"min_triples": 30}, {"random_seed": 2**127}],
)
def test_values_out_of_range_are_refused(service: Service, wrong: dict[str, int]) -> None:
    """L1: before anything is read."""
    with pytest.raises(InputError):
        service.long_tail.sample(spec(**wrong))
    arrays = service.arrays(service.graph("g"))
    with pytest.raises(InputError):
        draw_entities(arrays, {}, spec(**wrong))


def test_without_page_views_there_is_no_level(service: Service) -> None:
    """L1: the error says how to get them."""
    assert service.long_tail.delete_page_views()
    with raises(InputError) as raised:
        service.long_tail.sample(spec())
    assert "pageviews fetch" in str(raised.value)


def test_items_show_their_page_views(service: Service) -> None:
    """L1: through the service, GraphQL and the client; redirects and prefixes followed."""
    views = service.long_tail.page_views(["Q7", "wd:Q7", "Q77", "Q1000", "Q4040"])
    assert set(views) == {"Q7", "wd:Q7", "Q77"}
    assert {found.mean for found in views.values()} == {500.0}
    document = """{ a: item(itemId: "Q7") { pageViews { mean total months first last level source } }
        b: item(itemId: "Q1000") { pageViews { mean } } }"""
    assert execute(service, document)["data"] == {
        "a": {
            "pageViews": {
                "mean": 500.0, "total": 500.0, "months": 1, "first": "2021-01",
                "last": "2021-01", "level": "III", "source": "s",
            }
        },
        "b": {"pageViews": None},
    }  # fmt: skip
    with Client.over(service) as client:
        assert client.page_views(["Q7", "Q1000", "Q4040"]) == {"Q7": views["Q7"]}
    save_page_views(
        service.store, "g", make_table({"Q7": {"2021-01": 1}}, months=["2021-01"], source="t")
    )
    assert service.long_tail.page_views(["Q7"])["Q7"].source == "t"


@pytest.fixture
def cli(service: Service, monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path) -> Any:
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_STORE", service.store.url)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_command_line_samples(cli: Any, tmp_path: Path) -> None:
    """L1, L2: JSON lines on stdout or in a file, counts on stderr."""
    options = ("sample", "--per-level", "2", "--random-seed", "3", "--max-triples", "20")
    code, out, err = cli(*options)
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 8
    assert [row["level"] for row in rows] == ["I"] * 2 + ["II"] * 2 + ["III"] * 2 + ["IV"] * 2
    assert {"entity", "level", "place", "page_views", "triples", "edition", "random_seed"} <= set(
        rows[0]
    )
    assert "level IV: 2 drawn of 8 entities" in err
    assert cli(*options, "--out", "s.jsonl")[:2] == (0, "")
    assert (tmp_path / "s.jsonl").read_text() == out
    code, out, _ = cli(*options, "--level", "II", "--json")
    found = json.loads(out)
    assert found["items"] == rows[2:4]
    assert found["counts"]["II"]["drawn"] == 2
    assert cli("sample", "--per-level", "0")[0] == 2
    assert cli("sample", "--out", "no/s.jsonl")[0] == 2
    code, out, _ = cli("sample", "--print-dropped")
    assert code == 0
    (tmp_path / "list").write_text(out)
    assert read_relations(tmp_path / "list") == read_relations()


def test_the_command_line_of_page_views(cli: Any, tmp_path: Path) -> None:
    """L1: shown by item and by show; loaded, deleted."""
    assert (
        "  page views: 500.0 a month (long-tail level III), 2021-01 to 2021-01, from s"
        in cli("item", "Q7")[1].splitlines()
    )
    assert json.loads(cli("item", "Q7", "--json")[1])["page_views"]["total"] == 500
    assert json.loads(cli("item", "Q1000", "--json")[1])["page_views"] is None
    assert "41 entities, 2021-01 to 2021-01" in cli("pageviews", "show")[1]
    assert cli("pageviews", "delete")[0] == 2
    check_text(cli("pageviews", "delete", "--yes")[1])
    check_text(cli("pageviews", "show")[1])
    (tmp_path / "v.tsv").write_text("Label Q7\t2021-01\t70\nQ8\t2021-01\t900\nbad\n")
    code, out, _ = cli("pageviews", "load", "v.tsv")
    assert code == 3
    assert "levels: 1 level III, 1 level IV" in out
    shown = json.loads(cli("pageviews", "show", "--json")[1])
    assert shown["levels"] == {"I": 0, "II": 0, "III": 1, "IV": 1, "none": 0}
    assert cli("pageviews", "load")[0] == 2
    code, _, err = cli("pageviews", "fetch")
    assert code == 2
    assert "--contact" in err
