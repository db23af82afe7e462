"""The shapes of the GraphQL schema over a service (S2)."""

from __future__ import annotations

from typing import Any

import pytest
from api_calls import ask, run
from demo_graph import ARNOLD, MARIA, QUESTION, request
from graphql import parse, validate

from graph_service import Service
from graph_service.api.schema import schema
from graph_service.client.documents import DOCUMENTS
from graph_service.model.pageviews import PageViews
from graph_service.model.render import TextFormat, result_columns, result_text
from graph_service.model.request import ViewRef
from graph_service.model.result import ScoredPath, Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.store.page_views import make_table, save_page_views


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_clients_documents_hold_in_the_schema(name: str) -> None:
    assert validate(schema._schema, parse(DOCUMENTS[name])) == []


@pytest.mark.parametrize("strategy", list(Strategy))
def test_columns_and_text_say_what_the_objects_say(
    demo_service: Service, strategy: Strategy
) -> None:
    scored = (
        "statement { statementId property { propertyId label } value { ... on ItemValue { "
        "item { itemId label } } } "
    )
    scored += "valueText } subject { itemId label }"
    items = (
        f"steps {{ {scored} reversed }} score" if strategy is Strategy.PATHS else f"{scored} score"
    )
    spec = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=3)
    data = run(
        demo_service,
        ask(
            strategy.value,
            f"""items {{ {items} }} resultId text numbered: text(format: NUMBERED)
            columns {{ nodeIds nodeLabels propertyIds propertyLabels statementIds subject property
                       value score reversed pathOffsets }}""",
        ),
        {
            "input": {
                "question": QUESTION,
                "view": {"spec": {"method": "RELATION_REPLACEMENT", "level": 0.5, "randomSeed": 3}},
            }
        },
    )["r"]
    result = demo_service.retrieve(request(strategy=strategy, view=ViewRef(spec=spec)))
    assert data["resultId"] == result.id
    assert data["text"] == result_text(result)
    assert data["numbered"] == result_text(result, text_format=TextFormat.NUMBERED)
    columns = data["columns"]
    rows = []
    for item in data["items"]:
        rows.extend(
            [{**step, "score": item["score"]} for step in item["steps"]]
            if strategy is Strategy.PATHS
            else [{**item, "reversed": False}]
        )
    assert len(rows) == len(columns["statementIds"]) > 1
    for i, row in enumerate(rows):
        statement = row["statement"]
        head, value = columns["subject"][i], columns["value"][i]
        assert columns["nodeIds"][head] == row["subject"]["itemId"]
        assert columns["nodeLabels"][head] == row["subject"]["label"]
        assert columns["nodeIds"][value] == statement["value"].get("item", {"itemId": ""})["itemId"]
        assert columns["nodeLabels"][value] == statement["valueText"]
        assert columns["propertyIds"][columns["property"][i]] == statement["property"]["propertyId"]
        assert columns["propertyLabels"][columns["property"][i]] == statement["property"]["label"]
        assert columns["statementIds"][i] == statement["statementId"]
        assert columns["score"][i] == row["score"]
        assert columns["reversed"][i] == row["reversed"]
    ends = [0]
    for item in result.items:
        if isinstance(item, ScoredPath):
            ends.append(ends[-1] + len(item.steps))
    assert columns["pathOffsets"] == (ends if strategy is Strategy.PATHS else [])
    assert columns["nodeIds"] == list(result_columns(result).node_ids)


def test_text_and_columns_never_show_what_a_view_changed(demo_service: Service) -> None:
    """A model is shown the view alone; the base stands in ``change`` for people."""
    (his,) = demo_service.statements.of(MARIA, relation_ids=["P26"])
    (hers,) = demo_service.statements.of(ARNOLD, relation_ids=["P26"])
    changes = [
        {"statementId": his.statement.id, "value": {"itemId": "Q42"}},
        {"statementId": hers.statement.id, "remove": True},
    ]
    data = run(
        demo_service,
        ask("triplets", "text columns { nodeLabels nodeIds } items { change { kind } }"),
        {
            "input": {
                "question": "Who is Maria Shriver married to?",
                "propertyIds": ["P26"],
                "maxHops": 1,
                "view": {"spec": {"method": "CUSTOM", "changes": changes}},
            }
        },
    )["r"]
    assert "Douglas Adams" in data["text"]
    assert "Arnold" not in str((data["text"], data["columns"]))
    assert [item["change"]["kind"] for item in data["items"]] == ["VALUE_CHANGED"]


def test_items_terms_and_statements_s2(kinds_service: Service) -> None:
    data = run(
        kinds_service,
        """{
          item(itemId: "Q4242") {
            itemId url label ru: label(languageCode: "ru") xx: label(languageCode: "xx")
            description aliases de: aliases(languageCode: "de") labelLanguages
            statements(propertyIds: ["P69"]) { edges {
              change { kind baseStatement { statementId } }
              node {
                rank valueText
                qualifiers { property { propertyId url } valueText value { __typename } }
                year: qualifiers(propertyId: "P580") { valueText }
              }
            } }
            p31: statements(propertyIds: ["P31"]) {
              nodes { rank references { parts { property { propertyId label } valueText } } }
            }
          }
          items(itemIds: ["dbr:Rome", "Q1", "Q5"]) { label(languageCode: "it") itemId url }
          none: item(itemId: "Q1") { id }
        }""",
    )
    item = data["item"]
    assert (item["itemId"], item["label"], item["ru"], item["xx"]) == (
        "Q42",
        "Douglas Adams",
        "Дуглас Адамс",
        "Douglas Adams",
    )
    assert (item["description"], item["aliases"], item["de"]) == (
        "English writer",
        ["Douglas Noel Adams", "DNA"],
        ["Adams"],
    )
    assert item["url"] == "https://www.wikidata.org/wiki/Q42"
    assert item["labelLanguages"] == ["en", "ru", "zh"]
    (education,) = item["statements"]["edges"]
    assert education["change"] == {"kind": "UNCHANGED", "baseStatement": None}
    qualifiers = education["node"]["qualifiers"]
    assert [(one["property"]["propertyId"], one["value"]["__typename"]) for one in qualifiers] == [
        ("P580", "TimeValue"),
        ("P812", "SomeValue"),
    ]
    assert qualifiers[0]["property"]["url"] == "https://www.wikidata.org/wiki/Property:P580"
    assert education["node"]["year"] == [{"valueText": qualifiers[0]["valueText"]}]
    ranks = {row["rank"] for row in item["p31"]["nodes"]}
    assert ranks == {"PREFERRED", "NORMAL", "DEPRECATED"}
    (preferred,) = [row for row in item["p31"]["nodes"] if row["rank"] == "PREFERRED"]
    groups = preferred["references"]
    assert [[part["property"]["propertyId"] for part in group["parts"]] for group in groups] == [
        ["P248", "P813"],
        ["P854"],
    ]
    assert data["items"] == [
        {
            "label": "Roma",
            "itemId": "http://dbpedia.org/resource/Rome",
            "url": "http://dbpedia.org/resource/Rome",
        },
        None,
        {"label": "human", "itemId": "Q5", "url": "https://www.wikidata.org/wiki/Q5"},
    ]
    assert data["none"] is None


def test_search_and_graphs_s2(demo_service: Service) -> None:
    data = run(
        demo_service,
        """{
          searchItems(query: "arnie", first: 3) {
            edges { node { itemId label } matched isAlias languageCode score } }
          graphs { nodes { name items statements } }
          graph { name edition edgesFingerprint source report { name text } options { name type number }
            unfinishedLoad { owner } }
        }""",
    )
    (hit,) = data["searchItems"]["edges"]
    assert hit["node"] == {"itemId": ARNOLD, "label": "Arnold Schwarzenegger"}
    assert (hit["matched"], hit["isAlias"], hit["languageCode"]) == ("Arnie", True, "en")
    info = demo_service.graph()
    assert data["graphs"]["nodes"] == [
        {
            "name": "demo",
            "items": info.counts.entities,
            "statements": info.counts.statements,
        }
    ]
    assert data["graph"]["edgesFingerprint"] == info.fingerprints.edges
    assert {"name": "status", "text": "published"} in data["graph"]["report"]
    assert data["graph"]["unfinishedLoad"] is None


def test_what_a_result_names_is_read_in_one_go(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[int] = []
    real = demo_service.store.entities

    def counted(edition: str, ids: list[str]) -> Any:
        reads.append(len(ids))
        return real(edition, ids)

    monkeypatch.setattr(demo_service.store, "entities", counted)
    fields = "items { subject { description } statement { value { ... on ItemValue { item {"
    fields += ' label(languageCode: "de") aliases } } } } }'
    data = run(demo_service, ask("triplets", fields), {"input": {"question": QUESTION}})["r"]
    assert len(data["items"]) == 10
    # One for what the question names, one for all that the result names.
    assert len(reads) == 2
    assert reads[1] > 5


def test_page_views_of_many_items_are_read_at_once_l1(
    own_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    months = ("2021-01", "2021-02")
    views = {MARIA: {"2021-01": 2400}, ARNOLD: dict.fromkeys(months, 250_000)}
    save_page_views(own_service.store, "demo", make_table(views, months=months, source="test"))
    reads: list[int] = []
    real = own_service.long_tail.page_views

    def counted(ids: list[str], **options: Any) -> dict[str, PageViews]:
        reads.append(len(ids))
        return real(ids, **options)

    monkeypatch.setattr(own_service.long_tail, "page_views", counted)
    fields = "items { subject { itemId pageViews { mean level } } }"
    data = run(own_service, ask("triplets", fields), {"input": {"question": QUESTION}})["r"]
    found = {row["subject"]["itemId"]: row["subject"]["pageViews"] for row in data["items"]}
    assert found[MARIA] == {"mean": 1200.0, "level": "II"}
    assert found[ARNOLD] == {"mean": 250_000.0, "level": None}
    assert None in found.values()
    assert len(reads) == 1


def test_views_from_making_to_deleting_s4(own_service: Service) -> None:
    create = """mutation($input: CreateViewInput!) {
      createView(input: $input) { view { id viewId name method stale state progress note error
      report { levelReached counts { removed } } deviation { ats atsBase sd2 } } } }"""
    made = []
    for number in range(3):
        spec = {"method": "EDGE_DELETION", "level": 0.1, "randomSeed": number}
        fields = {"graph": "demo", "spec": spec, "name": f"v{number}", "note": "n"}
        payload = run(own_service, create, {"input": fields}, writable=True)["createView"]
        made.append(payload["view"])
    assert made[0]["method"] == "EDGE_DELETION"
    assert made[0]["report"]["levelReached"] == pytest.approx(0.1, abs=0.001)
    assert made[0]["report"]["counts"]["removed"] > 100
    assert (made[0]["stale"], made[0]["state"], made[0]["note"]) == (False, "DONE", "n")
    assert made[0]["deviation"]["ats"] == pytest.approx(made[0]["deviation"]["atsBase"], abs=0.05)
    assert 0 < made[0]["deviation"]["sd2"] < 1
    assert made[0]["error"] == ""
    cancel = 'mutation { cancelJob(input: {reference: "v1"}) { view { state } } }'
    cancelled = run(own_service, cancel, writable=True)["cancelJob"]
    assert cancelled == {"view": {"state": "DONE"}}
    page = """query($after: String) { views(first: 2, after: $after) {
      totalCount pageInfo { hasNextPage endCursor } nodes { viewId } } }"""
    first = run(own_service, page)["views"]
    second = run(own_service, page, {"after": first["pageInfo"]["endCursor"]})["views"]
    assert (first["totalCount"], len(first["nodes"])) == (3, 2)
    assert (first["pageInfo"]["hasNextPage"], second["pageInfo"]["hasNextPage"]) == (True, False)
    listed = [view["viewId"] for view in (*first["nodes"], *second["nodes"])]
    assert listed == [view["viewId"] for view in made]
    diff = """query($after: String) { view(reference: "v1") { diff(first: 70, after: $after) {
      totalCount pageInfo { hasNextPage endCursor }
      nodes { kind words subject { label } before { statementId } after { statementId } } } } }"""
    changes: list[dict[str, Any]] = []
    cursor = None
    while True:
        shown = run(own_service, diff, {"after": cursor})["view"]["diff"]
        changes.extend(shown["nodes"])
        cursor = shown["pageInfo"]["endCursor"]
        if not shown["pageInfo"]["hasNextPage"]:
            break
    assert len(changes) == shown["totalCount"] == made[1]["report"]["counts"]["removed"]
    assert len({change["before"]["statementId"] for change in changes}) == len(changes)
    assert {(change["kind"], change["after"]) for change in changes} == {("REMOVED", None)}
    remove = 'mutation { deleteView(input: {reference: "v1"}) { viewId deletedId } }'
    deleted = run(own_service, remove, writable=True)["deleteView"]
    assert deleted == {"viewId": made[1]["viewId"], "deletedId": made[1]["id"]}
    assert run(own_service, '{ view(reference: "v1") { id } }')["view"] is None
    remove = 'mutation { deleteGraph(input: {name: "demo"}) { name } }'
    assert run(own_service, remove, writable=True) == {"deleteGraph": {"name": "demo"}}
    assert run(own_service, "{ graphs { nodes { name } } }")["graphs"] == {"nodes": []}


def test_own_changes_of_every_literal_type(kinds_service: Service) -> None:
    literals = [
        {"type": "STRING", "content": "a"},
        {"type": "MONOLINGUAL_TEXT", "content": "b", "languageCode": "EN"},
        {"type": "QUANTITY", "content": "3.5", "unitId": "Q11573"},
        {"type": "TIME", "content": "1990-00-00T00:00:00Z", "precision": 9},
        {"type": "URL", "content": "http://example.org"},
    ]
    changes = [
        {"subjectId": "wd:Q42", "propertyId": f"P900{number}", "value": {"literal": literal}}
        for number, literal in enumerate(literals)
    ]
    changes.append({"subjectId": "Q42", "propertyId": "P9009", "value": {"itemId": "dbr:Rome"}})
    query = """query($view: ViewRefInput!) { item(itemId: "Q42") { statements(view: $view) { edges {
      change { kind } node { property { propertyId } valueText value { __typename
        ... on MonolingualTextValue { language } ... on QuantityValue { unit { itemId } amount }
        ... on TimeValue { precision } ... on ItemValue { item { itemId label } } } } } } } }"""
    view = {"spec": {"method": "CUSTOM", "changes": changes}}
    rows = run(kinds_service, query, {"view": view})["item"]["statements"]["edges"]
    added = {
        row["node"]["property"]["propertyId"]: row["node"]["value"]
        for row in rows
        if row["change"]["kind"] == "ADDED"
    }
    assert [added[f"P900{number}"]["__typename"] for number in range(5)] == [
        "StringValue",
        "MonolingualTextValue",
        "QuantityValue",
        "TimeValue",
        "UrlValue",
    ]
    assert added["P9001"]["language"] == "en"
    assert added["P9002"] == {
        "__typename": "QuantityValue",
        "unit": {"itemId": "Q11573"},
        "amount": "3.5",
    }
    assert added["P9003"]["precision"] == 9
    assert added["P9009"]["item"] == {"itemId": "http://dbpedia.org/resource/Rome", "label": "Rome"}
