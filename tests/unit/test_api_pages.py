"""Pages of lists: all of a list is reached, whatever happens between two pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from demo_graph import MARIA
from error_texts import check_answer, raises
from graphs import load_graph
from word_vectors import Letters

from graph_service import Service, open_service
from graph_service.api.global_ids import encoded_parts
from graph_service.api.pages import Listing
from graph_service.api.schema import execute
from graph_service.client import Client
from graph_service.client import calls as client_calls
from graph_service.errors import EditionGoneError, InputError
from graph_service.model.statement import Entity
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service.browsing import cut_page
from graph_service.settings import Settings

HUB = 3_769


@pytest.fixture(scope="module")
def hub_service(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One item with as many neighbours as Q33999 has in CoDEx-M, and some statements of its own."""
    folder = tmp_path_factory.mktemp("hub")
    settings = Settings(vectors=str(folder / "vectors.db"), cache_dir=str(folder))
    with open_service(
        f"sqlite:///{folder / 'graph.db'}", settings=settings, embedder=Letters()
    ) as service:
        rows = [(f"Q{1000 + n}", "P106", "Q33999") for n in range(HUB - 2)]
        rows += [("Q33999", "P279", "Q1000"), ("Q33999", "P31", "Q7")]
        load_graph(service.store, "hub", rows, [Entity("Q33999", labels={"en": "actor"})])
        yield service


def pages(service: Service, document: str, *path: str, **given: Any) -> list[dict[str, Any]]:
    """Every page of a connection, as a client walks it."""
    found: list[dict[str, Any]] = []
    after = None
    while True:
        answer = execute(service, document, {**given, "after": after})
        assert "errors" not in answer, answer["errors"]
        page = answer["data"]
        for name in path:
            page = page[name]
        found.append(page)
        if not page["pageInfo"]["hasNextPage"]:
            return found
        after = page["pageInfo"]["endCursor"]


PAGE = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor"


def test_all_neighbours_of_a_hub_are_reached(hub_service: Service) -> None:
    document = f"""query($after: String) {{ item(itemId: "Q33999") {{
        neighbours(first: 1000, after: $after) {{ totalCount {PAGE} direction
          node {{ itemId }} statement {{ statementId }} }} }} }} }}"""
    got = pages(hub_service, document, "item", "neighbours")
    assert [len(page["edges"]) for page in got] == [1000, 1000, 1000, HUB - 3000]
    assert {page["totalCount"] for page in got} == {HUB}
    edges = [edge for page in got for edge in page["edges"]]
    assert len({edge["statement"]["statementId"] for edge in edges}) == HUB
    assert {edge["node"]["itemId"] for edge in edges} == {
        *(f"Q{1000 + n}" for n in range(HUB - 2)), "Q7"
    }  # fmt: skip
    assert [page["pageInfo"]["hasPreviousPage"] for page in got] == [False, True, True, True]
    for page in got:
        assert page["pageInfo"]["startCursor"] == page["edges"][0]["cursor"]
        assert page["pageInfo"]["endCursor"] == page["edges"][-1]["cursor"]


def test_neighbours_have_a_direction_and_a_property(hub_service: Service) -> None:
    with Client.over(hub_service) as client:
        outgoing = client.neighbours("Q33999", direction="outgoing")
        assert outgoing is not None
        assert {(one.item.id, one.outgoing) for one in outgoing.neighbours} == {
            ("Q1000", True), ("Q7", True)
        }  # fmt: skip
        assert (outgoing.total, outgoing.next) == (2, None)
        incoming = client.neighbours("Q33999", direction="incoming", first=5)
        assert incoming is not None
        assert incoming.total == HUB - 2
        assert all(one.triple.head.id == one.item.id for one in incoming.neighbours)
        of_class = client.neighbours("Q33999", relation_ids=["P31"])
        assert of_class is not None
        assert [one.item.id for one in of_class.neighbours] == ["Q7"]
        second = client.neighbours("Q33999", direction="incoming", first=5, after=incoming.next)
        assert second is not None
        ids = {one.item.id for one in (*incoming.neighbours, *second.neighbours)}
        assert len(ids) == 10
        assert client.neighbours("Q999999999") is None


def test_a_view_has_its_own_neighbours_and_statements(demo_service: Service) -> None:
    """Removed ones are gone, added ones are there, and pages meet at every size."""
    (spouse,) = demo_service.statements.of(MARIA, relation_ids=["P26"])
    changes = [
        {"statementId": spouse.statement.id, "remove": True},
        {"subjectId": MARIA, "propertyId": "P26", "value": {"itemId": "Q42"}},
        {"subjectId": "Q42", "propertyId": "P40", "value": {"itemId": MARIA}},
    ]
    view = {"spec": {"method": "CUSTOM", "changes": changes}}
    document = f"""query($v: ViewRefInput, $after: String, $n: Int!) {{ item(itemId: "{MARIA}") {{
        neighbours(view: $v, first: $n, after: $after) {{ totalCount {PAGE}
          node {{ itemId }} direction change {{ kind }} statement {{ id statementId }} }} }} }} }}"""
    base, seen = (
        [edge for page in pages(demo_service, document, "item", "neighbours", v=one, n=n)
         for edge in page["edges"]]
        for one, n in ((None, 100), (view, 7))
    )  # fmt: skip
    ids = [edge["statement"]["statementId"] for edge in base]
    of_view = [edge["statement"]["statementId"] for edge in seen]
    assert spouse.statement.id in ids
    assert [id_ for id_ in ids if id_ != spouse.statement.id] == of_view[:-2]
    added = seen[-2:]
    assert {(edge["node"]["itemId"], edge["direction"]) for edge in added} == {
        ("Q42", "OUTGOING"), ("Q42", "INCOMING")
    }  # fmt: skip
    assert {edge["change"]["kind"] for edge in added} == {"ADDED"}
    # What the view leaves as it is has one id on both.
    shared = {edge["statement"]["id"] for edge in base} & {edge["statement"]["id"] for edge in seen}
    assert len(shared) == len(base) - 1


def test_deleting_a_view_between_two_pages_loses_no_other(own_service: Service) -> None:
    made = [
        own_service.views.create(
            ViewSpec(Method.EDGE_DELETION, count=1, random_seed=seed), graph="demo"
        ).id
        for seed in range(5)
    ]
    document = """query($after: String) { views(first: 2, after: $after) {
        totalCount nodes { viewId } pageInfo { hasNextPage endCursor } } }"""
    first = execute(own_service, document)["data"]["views"]
    own_service.views.delete(first["nodes"][0]["viewId"])
    own_service.views.delete(first["nodes"][1]["viewId"])
    after = first["pageInfo"]["endCursor"]
    second = execute(own_service, document, {"after": after})["data"]["views"]
    third = execute(own_service, document, {"after": second["pageInfo"]["endCursor"]})
    seen = [
        one["viewId"] for page in (first, second, third["data"]["views"]) for one in page["nodes"]
    ]
    assert seen == made
    assert second["totalCount"] == 3
    own_service.views.delete(made[4])
    last = execute(own_service, document, {"after": second["pageInfo"]["endCursor"]})
    assert last["data"]["views"]["nodes"] == []
    assert last["data"]["views"]["pageInfo"]["hasNextPage"] is False


LISTS = {
    "statements": f"""item(itemId: "{MARIA}") {{ list: statements(view: $v, first: 2, after: $after)
        {{ pageInfo {{ endCursor }} }} }}""",
    "neighbours": f"""item(itemId: "{MARIA}") {{ list: neighbours(view: $v, first: 2, after: $after)
        {{ pageInfo {{ endCursor }} }} }}""",
    "relations": f"""item(itemId: "{MARIA}") {{ list: relations(view: $v, first: 1, after: $after)
        {{ pageInfo {{ endCursor }} }} }}""",
    "properties": """item: graph { list: relations(view: $v, first: 2, after: $after)
        { pageInfo { endCursor } } }""",
    "classes": """item: graph { list: classes(view: $v, first: 2, after: $after)
        { pageInfo { endCursor } } }""",
}


def end_cursor(service: Service, fields: str, view: dict[str, Any], after: str | None) -> str:
    """The end cursor of a page, or the code of the error."""
    document = f"query($v: ViewRefInput, $after: String) {{ {fields} }}"
    answer = execute(service, document, {"v": view, "after": after})
    if "errors" in answer:
        return str(answer["errors"][0]["extensions"]["code"])
    return str(answer["data"]["item"]["list"]["pageInfo"]["endCursor"])


@pytest.mark.parametrize("name", LISTS)
def test_no_page_goes_on_in_another_view(own_service: Service, name: str) -> None:
    """Whether the view was made anew under its name meanwhile, or another is named."""
    views, fields = own_service.views, LISTS[name]
    first = views.create(
        ViewSpec(Method.EDGE_DELETION, count=1, random_seed=1), graph="demo", name="team"
    )
    cursor = end_cursor(own_service, fields, {"name": "team"}, None)
    assert end_cursor(own_service, fields, {"viewId": first.id}, cursor) != "BAD_INPUT"
    views.delete("team")
    views.create(ViewSpec(Method.EDGE_DELETION, count=1, random_seed=2), graph="demo", name="team")
    assert end_cursor(own_service, fields, {"name": "team"}, cursor) == "BAD_INPUT"
    one, other = (
        {"spec": {"method": "EDGE_DELETION", "count": 1, "randomSeed": seed}} for seed in (3, 4)
    )
    cursor = end_cursor(own_service, fields, one, None)
    assert end_cursor(own_service, fields, one, cursor) != "BAD_INPUT"
    assert end_cursor(own_service, fields, other, cursor) == "BAD_INPUT"


def test_the_client_reads_every_page(own_service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more than a thousand views the others went in silence."""
    for seed in range(5):
        own_service.views.create(
            ViewSpec(Method.EDGE_DELETION, count=1, random_seed=seed), graph="demo"
        )
    monkeypatch.setattr(client_calls, "PAGE", 2)
    with Client.over(own_service) as client:
        assert client.views() == tuple(own_service.views.list())
        assert [one.name for one in client.graphs()] == ["demo"]


def test_changes_of_a_view_come_in_pages(own_service: Service) -> None:
    own_service.views.create(ViewSpec(Method.EDGE_DELETION, count=5), graph="demo", name="thin")
    document = f"""query($after: String, $n: Int!) {{ view(reference: "thin") {{
        diff(first: $n, after: $after) {{ totalCount {PAGE} node {{ id words }} }} }} }} }}"""
    whole, some = (
        [edge["node"] for page in pages(own_service, document, "view", "diff", n=n)
         for edge in page["edges"]]
        for n in (50, 2)
    )  # fmt: skip
    assert whole == some
    assert len({one["id"] for one in whole}) == 5


@pytest.mark.parametrize(("query", "prefix"), [("shriver", False), ("shriv", True)])
def test_search_comes_in_pages(demo_service: Service, query: str, prefix: bool) -> None:
    document = f"""query($after: String, $n: Int!) {{
        searchItems(query: "{query}", prefix: {str(prefix).lower()}, first: $n, after: $after) {{
          {PAGE} matched node {{ itemId }} }} }} }}"""
    whole, some = (
        [(edge["node"]["itemId"], edge["matched"], edge["cursor"])
         for page in pages(demo_service, document, "searchItems", n=n) for edge in page["edges"]]
        for n in (100, 2)
    )  # fmt: skip
    assert whole == some
    assert len(whole) > 4
    assert [id_ for id_, _, _ in whole] == [
        hit.entity.id for hit in demo_service.search(query, prefix=prefix, limit=100)
    ]


def test_graphs_come_in_pages_by_name(tmp_path: Path) -> None:
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    url = f"sqlite:///{tmp_path / 'graph.db'}"
    with open_service(url, settings=settings, embedder=Letters()) as service:
        for name in ("b", "a", "c"):
            load_graph(service.store, name, [("Q1", "P1", "Q2")])
        document = f"query($after: String) {{ graphs(first: 1, after: $after) {{ totalCount {PAGE} node {{ name }} }} }} }}"
        got = pages(service, document, "graphs")
        assert [page["edges"][0]["node"]["name"] for page in got] == ["a", "b", "c"]
        service.delete_graph("b")
        after = got[0]["pageInfo"]["endCursor"]
        (left,) = execute(service, document, {"after": after})["data"]["graphs"]["edges"]
        assert left["node"]["name"] == "c"


def test_a_cursor_of_another_edition_is_refused_with_a_code(tmp_path: Path) -> None:
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    url = f"sqlite:///{tmp_path / 'graph.db'}"
    document = """query($s: String, $n: String, $v: String, $q: String, $d: String) {
      item(itemId: "Q1") { statements(first: 1, after: $s) { pageInfo { endCursor } }
        neighbours(first: 1, after: $n) { pageInfo { endCursor } } }
      views(first: 1, after: $v) { totalCount pageInfo { endCursor } }
      searchItems(query: "x", first: 1, after: $q) { pageInfo { endCursor } }
      view(reference: "v") { diff(first: 1, after: $d) { pageInfo { endCursor } } } }"""
    with open_service(url, settings=settings, embedder=Letters()) as service:
        rows = [("Q1", "P1", f"Q{n}") for n in range(2, 6)]
        named = [Entity(f"Q{n}", labels={"en": f"x {n}"}) for n in range(1, 6)]
        load_graph(service.store, "small", rows, named)
        service.views.create(ViewSpec(Method.EDGE_DELETION, count=2), name="v")
        data = execute(service, document)["data"]
        given = {
            "s": data["item"]["statements"]["pageInfo"]["endCursor"],
            "n": data["item"]["neighbours"]["pageInfo"]["endCursor"],
            "v": data["views"]["pageInfo"]["endCursor"],
            "q": data["searchItems"]["pageInfo"]["endCursor"],
            "d": data["view"]["diff"]["pageInfo"]["endCursor"],
        }
        assert "errors" not in execute(service, document, given)
        load_graph(service.store, "small", rows, [Entity("Q1", labels={"en": "x one"})])
        answer = execute(service, document, given)
        assert answer["data"]["item"] == {"statements": None, "neighbours": None}
        assert answer["data"]["searchItems"] is None
        assert answer["data"]["view"] == {"diff": None}
        assert answer["data"]["views"]["totalCount"] == 1, "views go on in every edition"
        assert [error["extensions"]["code"] for error in answer["errors"]] == ["EDITION_GONE"] * 4
        assert {error["extensions"]["argument"] for error in answer["errors"]} == {"after"}


def test_a_cursor_belongs_to_one_list() -> None:
    listing = Listing(("statements", "Q1"), "g@1")
    assert listing.position(None) is None
    assert listing.position(listing.cursor("7")) == "7"
    assert listing.number(listing.cursor("7")) == 7
    with pytest.raises(EditionGoneError, match="edition 'g@1'"):
        Listing(("statements", "Q1"), "g@2").position(listing.cursor("7"))
    for other in (Listing(("statements", "Q2"), "g@1"), Listing(("neighbours", "Q1"), "g@1")):
        with raises(InputError):
            other.position(listing.cursor("7"))
    for place in ("-1", "x", "", "1.0", "٣", "9" * 20, str(2**64)):
        with raises(InputError):
            listing.number(listing.cursor(place))


@pytest.mark.parametrize("cursor", ["-1", "x", "", " 1", "٣", "9" * 19, encoded_parts(["a", "b"])])
def test_a_cursor_is_one_that_a_page_gave(demo_service: Service, cursor: str) -> None:
    document = "query($after: String!) { views(after: $after) { totalCount } }"
    (error,) = execute(demo_service, document, {"after": cursor})["errors"]
    check_answer(error)
    assert (error["extensions"]["code"], error["extensions"]["argument"]) == ("BAD_INPUT", "after")


def test_a_page_begins_after_a_number_that_need_not_be_there() -> None:
    edges = np.array([2, 5, 9])
    assert cut_page(edges, first=2, after=None)[0].tolist() == [2, 5]
    assert cut_page(edges, first=2, after=4)[0].tolist() == [5, 9]
    assert cut_page(edges, first=2, after=4)[1] is False
    assert cut_page(edges, first=1, after=2) == (np.array([5]), True)
    assert cut_page(edges, first=1, after=9)[0].tolist() == []
