"""Global ids: a cache that keys objects by them merges nothing that differs (B11)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from demo_graph import ARNOLD, MARIA, QUESTION
from error_texts import raises
from graphs import load_graph
from word_vectors import Letters

from graph_service import Service, open_service
from graph_service.api.global_ids import (
    MAX_SPEC_CHARACTERS,
    IdKind,
    encoded_parts,
    global_id,
    read_global_id,
    view_key,
)
from graph_service.api.schema import execute
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.statement import Entity, EntityKind
from graph_service.model.view_spec import Method, Naming, ViewSpec
from graph_service.settings import Settings


class Cache:
    """What Apollo, urql and Relay do: objects by type and id, each field under its arguments."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str], dict[str, Any]] = {}
        self.clashes: list[tuple[str, str, Any, Any]] = []

    def keep(self, answer: Any) -> None:
        if isinstance(answer, list):
            for one in answer:
                self.keep(one)
        if not isinstance(answer, dict):
            return
        for part in answer.values():
            self.keep(part)
        if "id" not in answer:
            return
        known = self.objects.setdefault((answer["__typename"], answer["id"]), {})
        for field, value in answer.items():
            if known.setdefault(field, value) != value:
                self.clashes.append((answer["__typename"], field, known[field], value))


STATEMENT = """__typename id statementId rank valueText subject { __typename id itemId label aliases labelLanguages }
    property { __typename id propertyId label }
    value { __typename ... on ItemValue { item { __typename id itemId label description } } }
    qualifiers { property { __typename id label } valueText }"""
DOCUMENT = f"""query($input: RetrieveInput!, $view: ViewRefInput, $l: [String!]) {{
  triplets(input: $input) {{ __typename id resultId provenance {{ edition viewId }}
    linked {{ item {{ __typename id itemId label description }} }}
    items {{ __typename id score text citation standsFor
      statement {{ {STATEMENT} }} change {{ kind baseStatement {{ {STATEMENT} }} }} }} }}
  paths(input: $input) {{ __typename id resultId provenance {{ edition viewId }}
    items {{ __typename id pathId score text citation steps {{ statement {{ {STATEMENT} }} }} }} }}
  graph {{ __typename id name edition statements contentFingerprint }}
  searchItems(query: "Maria Shriver", view: $view, languageCodes: $l) {{
    nodes {{ __typename id itemId label aliases }} }}
  item(itemId: "{MARIA}", languageCodes: $l) {{ __typename id label description
    ofView: statements(view: $view) {{ totalCount nodes {{ {STATEMENT} }} }} }}
  views {{ nodes {{ __typename id viewId name
    diff {{ nodes {{ __typename id kind words before {{ {STATEMENT} }} after {{ {STATEMENT} }} }} }} }} }}
}}"""
VIEWS: list[dict[str, Any] | None] = [
    None,
    {"spec": {"method": "RELATION_REPLACEMENT", "level": 0.5, "randomSeed": 3}},
    {"spec": {"method": "EDGE_REWIRING", "level": 0.5, "randomSeed": 3}},
    {"name": "stored"},
]


def ask(service: Service, view: dict[str, Any] | None, language: str) -> dict[str, Any]:
    given = {"question": QUESTION, "languageCodes": [language], "view": view}
    answer = execute(service, DOCUMENT, {"input": given, "view": view, "l": [language]})
    assert "errors" not in answer, answer["errors"]
    data: dict[str, Any] = answer["data"]
    # An argument is a part of the field's key in a cache.
    data["item"][f"statements {view}"] = data["item"].pop("ofView")
    return data


def test_a_cache_merges_nothing_that_differs(own_service: Service) -> None:
    """Two languages, four views, two editions: in English then Russian, Russian stayed (Apollo)."""
    own_service.views.create(
        ViewSpec(Method.NAMES, level=0.9, random_seed=1), graph="demo", name="stored"
    )
    cache = Cache()
    first = [ask(own_service, view, language) for view in VIEWS for language in ("en", "de")]
    entity = own_service.entities([MARIA]).entities[MARIA]
    renamed = Entity(MARIA, labels={**entity.labels, "en": "M. Shriver"}, revision=10**9)
    statements = own_service.store.scan_statements("demo@1")
    entities = [
        renamed if one.id == MARIA else one
        for chunk in own_service.store.scan_entities("demo@1")
        for one in chunk
    ]
    rows = [one for chunk in statements for one in chunk]
    load_graph(own_service.store, "demo", rows, entities, replace=True)
    second = [ask(own_service, view, language) for view in VIEWS for language in ("en", "de")]
    editions = {answer["graph"]["edition"] for answer in (*first, *second)}
    assert len(editions) == 2
    cache.keep([*first, *second])
    # A view is one object in all editions: what it changes is shown as it was read last.
    assert {clash[:2] for clash in cache.clashes} <= {("View", "diff")}
    types = {name for name, _ in cache.objects}
    assert types == {
        "TripletsResult", "PathsResult", "ScoredStatement", "Path", "Statement", "Item",
        "Property", "Graph", "View", "ViewChange",
    }  # fmt: skip
    labels = {
        fields["label"]
        for (name, _), fields in cache.objects.items()
        if name == "Item" and fields.get("itemId", "") in ("", MARIA)
    }
    assert {"Maria Shriver", "M. Shriver"} <= labels


@pytest.mark.parametrize("stored", [True, False])
def test_an_item_is_called_by_the_names_of_its_view_wherever_it_is_read(
    own_service: Service, stored: bool
) -> None:
    spec = ViewSpec(Method.NAMES, level=1.0, naming=Naming.SWAPPED, random_seed=1)
    view: dict[str, Any] = {"spec": {"method": "NAMES", "level": 1, "naming": "SWAPPED"}}
    view["spec"]["randomSeed"] = 1
    if stored:
        own_service.views.create(spec, graph="demo", name="swapped")
        view = {"name": "swapped"}
    names = own_service.names_on(ViewRef(spec=spec), graph="demo")
    assert names is not None
    called = names.of(own_service.entities([ARNOLD]).entities[ARNOLD])
    fields = 'itemId label aliases labelLanguages german: label(languageCode: "de")'
    wanted = {
        "itemId": ARNOLD,
        "label": called.labels["en"],
        "aliases": list(called.aliases.get("en", ())),
        "labelLanguages": sorted(called.labels),
        "german": called.labels.get("de", called.labels["en"]),
    }
    assert wanted["label"] != "Arnold Schwarzenegger"
    found = execute(
        own_service,
        f"query($q: String!, $v: ViewRefInput) {{ searchItems(query: $q, view: $v, first: 50) {{"
        f" nodes {{ id {fields} }} }} }}",
        {"q": wanted["label"], "v": view},
    )
    (item,) = (node for node in found["data"]["searchItems"]["nodes"] if node["itemId"] == ARNOLD)
    id_ = item.pop("id")
    assert item == wanted
    again = execute(
        own_service,
        f"query($id: ID!) {{ node(id: $id) {{ id ... on Item {{ {fields} }} }} }}",
        {"id": id_},
    )
    assert again["data"]["node"] == {"id": id_, **wanted}


def test_a_cache_that_keyed_by_the_sources_ids_would_merge_what_differs(
    demo_service: Service,
) -> None:
    """The check above would see it."""
    cache = Cache()
    for language in ("en", "de"):
        answer = execute(
            demo_service,
            """query($l: [String!]) { item(itemId: "P26", languageCodes: $l) {
                __typename id: itemId label } }""",
            {"l": [language]},
        )
        cache.keep(answer["data"])
    assert [clash[:2] for clash in cache.clashes] == [("Item", "label")]


@pytest.fixture(scope="module")
def answer_of_a_view(demo_service: Service) -> dict[str, Any]:
    return ask(demo_service, VIEWS[1], "de")


def of_types(answer: Any, types: set[str], found: dict[str, Any]) -> dict[str, Any]:
    """Every object of some types in an answer, by its id."""
    if isinstance(answer, list):
        for one in answer:
            of_types(one, types, found)
    elif isinstance(answer, dict):
        for part in answer.values():
            of_types(part, types, found)
        if answer.get("__typename") in types and "id" in answer:
            found.setdefault(answer["id"], {}).update(answer)
    return found


def test_a_node_is_read_again_with_the_same_fields(
    demo_service: Service, answer_of_a_view: dict[str, Any]
) -> None:
    """Statements that an inline view made among them, from their ids alone."""
    statements = of_types(answer_of_a_view, {"Statement"}, {})
    assert any(one["statementId"].startswith("view:") for one in statements.values())
    items = of_types(answer_of_a_view, {"Item"}, {})
    properties = of_types(answer_of_a_view, {"Property"}, {})
    for ids, fragment in (
        (statements, f"... on Statement {{ {STATEMENT} }}"),
        (items, "... on Item { __typename id label description }"),
        (properties, "... on Property { __typename id label }"),
    ):
        some = list(ids)[:200]
        document = f"query($ids: [ID!]!) {{ nodes(ids: $ids) {{ {fragment} }} }}"
        answer = execute(demo_service, document, {"ids": some})
        assert "errors" not in answer, answer["errors"]
        cache = Cache()
        cache.keep([ids[id_] for id_ in some])
        cache.keep(answer["data"]["nodes"])
        assert cache.clashes == []
        assert [one["id"] for one in answer["data"]["nodes"]] == some


def test_a_view_and_a_graph_are_nodes(own_service: Service) -> None:
    made = own_service.views.create(
        ViewSpec(Method.EDGE_DELETION, count=2), graph="demo", name="thin"
    )
    answer = execute(own_service, '{ graph { id } view(reference: "thin") { id } }')["data"]
    document = """query($g: ID!, $v: ID!) { g: node(id: $g) { ... on Graph { name } }
        v: node(id: $v) { ... on View { viewId name } } }"""
    ids = {"g": answer["graph"]["id"], "v": answer["view"]["id"]}
    assert execute(own_service, document, ids)["data"] == {
        "g": {"name": "demo"}, "v": {"viewId": made.id, "name": "thin"}
    }  # fmt: skip
    own_service.views.delete("thin")
    gone = execute(own_service, document, ids)
    assert gone["data"]["v"] is None
    assert gone["errors"][0]["extensions"]["code"] == "VIEW_NOT_FOUND"


def test_a_node_of_an_edition_that_is_gone_is_null_with_a_code(tmp_path: Path) -> None:
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    url = f"sqlite:///{tmp_path / 'graph.db'}"
    with open_service(url, settings=settings, embedder=Letters()) as service:
        named = [Entity("Q1", labels={"en": "Rome"})]
        load_graph(service.store, "small", [("Q1", "P1", "Q2")], named)
        answer = execute(service, '{ item(itemId: "Q1") { id statements { nodes { id } } } }')
        item = answer["data"]["item"]
        load_graph(service.store, "small", [("Q1", "P1", "Q3")], named)
        for id_ in (item["id"], item["statements"]["nodes"][0]["id"]):
            gone = execute(service, "query($id: ID!) { node(id: $id) { id } }", {"id": id_})
            assert gone["data"] == {"node": None}
            (error,) = gone["errors"]
            assert error["extensions"]["code"] == "EDITION_GONE"
            assert error["extensions"]["argument"] == "id"
        fresh = execute(service, '{ item(itemId: "Q1") { id } }')["data"]["item"]["id"]
        document = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }"
        both = execute(service, document, {"ids": [item["id"], fresh]})
        assert both == {"data": {"nodes": [None, {"id": fresh}]}}


@pytest.mark.parametrize(
    "text",
    [
        *("", "Q42", "é", "!", "W10", "x" * 10_001),
        encoded_parts(["z", "demo@1", "Q42"]),
        encoded_parts(["i", "demo@1"]),
        encoded_parts(["i", "demo@1", "Q42", "en", "", "more"]),
        encoded_parts(["s", "demo@1", "x", "en", "{not a specification"]),
        encoded_parts(["r", "demo@1", "x"]),
    ],
)
def test_what_is_no_id_of_ours_is_bad_input(demo_service: Service, text: str) -> None:
    for document in ("query($id: ID!) { r: node(id: $id) { id } }",
                     "query($id: ID!) { r: nodes(ids: [$id]) { id } }"):  # fmt: skip
        answer = execute(demo_service, document, {"id": text})
        assert answer["data"] == {"r": None}
        (error,) = answer["errors"]
        assert error["extensions"]["code"] == "BAD_INPUT"


def test_an_id_of_what_the_edition_lacks_is_nothing(demo_service: Service) -> None:
    document = "query($id: ID!) { node(id: $id) { id } }"
    for kind in (IdKind.ITEM, IdKind.STATEMENT):
        id_ = global_id(kind, "demo@1", "Q999999", ("en",))
        assert execute(demo_service, document, {"id": id_}) == {"data": {"node": None}}
    elsewhere = global_id(IdKind.ITEM, "none@1", ARNOLD, ("en",))
    (error,) = execute(demo_service, document, {"id": elsewhere})["errors"]
    assert error["extensions"]["code"] == "GRAPH_NOT_FOUND"


def test_an_id_says_what_it_was_made_of() -> None:
    made = global_id(IdKind.STATEMENT, "g@2", "Q1$A", ("de", "en"), "0" * 32)
    read = read_global_id(made)
    assert (read.kind, read.scope, read.local) == (IdKind.STATEMENT, "g@2", "Q1$A")
    assert (read.languages, read.view) == (("de", "en"), "0" * 32)
    assert made.isascii()
    assert not set(made) & set("+/=")
    with raises(InputError):
        read_global_id("Q42")


def test_a_view_stands_in_an_id_by_what_makes_it_again() -> None:
    assert view_key(None, None) == ""
    short = ViewSpec(Method.EDGE_DELETION, level=0.5).to_json()
    assert view_key(short, "v") == short
    long_ = ViewSpec(Method.WITHHOLDING, statement_ids=("x" * MAX_SPEC_CHARACTERS,)).to_json()
    assert view_key(long_, "v") == "v"
    assert view_key('{"scope":{"ofQuestion":true}}', "v") == "v"


def test_one_root_that_fails_leaves_the_others(demo_service: Service) -> None:
    """A bad preset on one root made the whole answer null."""
    document = """{ good: triplets(input: {question: "Maria Shriver", limit: 1}) { status }
        bad: triplets(input: {question: "Maria Shriver", preset: "best"}) { status }
        item(itemId: "Q2685") { label statements(view: {name: "none"}) { totalCount } } }"""
    answer = execute(demo_service, document)
    assert answer["data"]["good"]["status"]
    assert answer["data"]["bad"] is None
    assert answer["data"]["item"] == {"label": "Arnold Schwarzenegger", "statements": None}
    codes = {error["extensions"]["code"] for error in answer["errors"]}
    assert codes == {"BAD_INPUT", "VIEW_NOT_FOUND"}


def test_there_is_always_a_label(tmp_path: Path) -> None:
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    url = f"sqlite:///{tmp_path / 'graph.db'}"
    with open_service(url, settings=settings, embedder=Letters()) as service:
        rome = "http://dbpedia.org/resource/New_York"
        rows = [("Q1", "P1", "Q2"), (rome, "P2", "Q1")]
        named = [
            Entity("Q1", labels={"de": "Rom", "mul": "Roma"}, descriptions={"it": "città"}),
            Entity("P1", kind=EntityKind.PROPERTY, labels={"fr": "pays"}),
        ]
        load_graph(service.store, "small", rows, named)
        document = """query($l: [String!], $c: String) {
          items(itemIds: ["Q1", "Q2", "dbr:New_York"], languageCodes: $l) {
            label(languageCode: $c) description(languageCode: $c)
            statements { nodes { property { label(languageCode: $c) } } } } }"""

        def shown(languages: list[str] | None, code: str | None) -> list[Any]:
            given = {"l": languages, "c": code}
            return [
                (
                    one["label"],
                    one["description"],
                    *(row["property"]["label"] for row in one["statements"]["nodes"]),
                )
                for one in execute(service, document, given)["data"]["items"]
            ]

        rest = [("Q2", None), ("New York", None, "P2")]
        assert shown(None, None) == [("Roma", "città", "pays"), *rest]
        assert shown(["de"], None) == [("Rom", "città", "pays"), *rest]
        assert shown(None, "de") == [("Rom", "città", "pays"), *rest]
        assert shown(["de"], "xx") == [("Rom", "città", "pays"), *rest]
