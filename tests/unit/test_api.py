"""The GraphQL schema over a service: shapes, errors and limits (S2)."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest
from demo_graph import ARNOLD, MARIA, QUESTION, request
from error_texts import check_answer
from graphql import parse, validate

from graph_service import Service
from graph_service.api.documents import MAX_ALIASES, MAX_DEPTH, MAX_TOKENS
from graph_service.api.schema import MAX_IDS, execute, schema
from graph_service.client.documents import DOCUMENTS
from graph_service.errors import (
    DeadlineError,
    GraphNotFoundError,
    GraphServiceError,
    LimitError,
    ModelFileError,
    StoreCorruptError,
    StoreUnavailableError,
    ViewNotFoundError,
    ViewStaleError,
)
from graph_service.model.pageviews import PageViews
from graph_service.model.render import TextFormat, result_columns, result_text
from graph_service.model.request import ViewRef
from graph_service.model.result import ScoredPath, Strategy
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.store.page_views import make_table, save_page_views

MANY_LANGUAGES = '["en"' + ', "de"' * 50 + "]"
TYPENAME = "{ __typename }"


def run(
    service: Service, document: str, variables: dict[str, Any] | None = None, **options: Any
) -> Any:
    """Returns the data of an operation that must not fail."""
    response = execute(service, document, variables, **options)
    assert "errors" not in response, response["errors"]
    return response["data"]


def fail(
    service: Service, document: str, variables: dict[str, Any] | None = None, **options: Any
) -> Any:
    """Returns the first error of an operation that must fail."""
    errors = execute(service, document, variables, **options).get("errors")
    assert errors, "expected an error"
    assert all(error["extensions"]["requestId"] for error in errors)
    return errors[0]


def custom(change: dict[str, Any]) -> dict[str, Any]:
    """A view of one change, which adds a statement but for what is changed in it."""
    whole = {"subjectId": MARIA, "propertyId": "P26", "value": {"itemId": "Q42"}}
    return {"method": "CUSTOM", "changes": [{**whole, **change}]}


def around(ids: list[str]) -> dict[str, Any]:
    return {"method": "EDGE_DELETION", "level": 0.1, "scope": {"aroundItemIds": ids}}


def ask(strategy: str, fields: str) -> str:
    return f"query($input: RetrieveInput!) {{ r: {strategy}(input: $input) {{ {fields} }} }}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_clients_documents_hold_in_the_schema(name: str) -> None:
    assert validate(schema._schema, parse(DOCUMENTS[name])) == []


# Shapes


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
    assert len(rows) == len(columns["statementIds"]) > 2
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


# Errors


@pytest.mark.parametrize(
    ("input_", "code", "argument"),
    [
        ({"question": " "}, "BAD_INPUT", "question"),
        ({"graph": "nope"}, "GRAPH_NOT_FOUND", "graph"),
        ({"view": {"viewId": "nope"}}, "VIEW_NOT_FOUND", "view"),
        ({"view": {"name": "nope"}}, "VIEW_NOT_FOUND", "view"),
        ({"view": {"viewId": ""}}, "BAD_INPUT", "view"),
        ({"itemIds": ["Q999999"]}, "BAD_INPUT", "itemIds"),
        ({"itemIds": [""]}, "BAD_INPUT", "itemIds"),
        ({"propertyIds": [""]}, "BAD_INPUT", "propertyIds"),
        ({"excludePropertyIds": ["P1", ""]}, "BAD_INPUT", "excludePropertyIds"),
        ({"view": {"spec": custom({"subjectId": ""})}}, "BAD_INPUT", "subjectId"),
        ({"view": {"spec": custom({"propertyId": ""})}}, "BAD_INPUT", "propertyId"),
        ({"view": {"spec": custom({"value": {"itemId": ""}})}}, "BAD_INPUT", "itemId"),
        ({"view": {"spec": around([""])}}, "BAD_INPUT", "scope.aroundItemIds"),
        ({"graph": ""}, "BAD_INPUT", "graph"),
        ({"languageCodes": ["en"] * 51}, "BAD_INPUT", "languageCodes"),
        ({"maxHops": 99}, "BAD_INPUT", "maxHops"),
        ({"tokenBudget": 0}, "BAD_INPUT", "tokenBudget"),
        ({"edgeCost": -1.0}, "BAD_INPUT", "edgeCost"),
        ({"view": {"spec": {"method": "EDGE_DELETION", "level": 7.0}}}, "BAD_INPUT", "level"),
        # What GraphQL itself refuses has no argument of ours.
        ({"limit": "many"}, "BAD_INPUT", None),
        ({"unknownField": 1}, "BAD_INPUT", None),
        ({"view": {"viewId": "a", "name": "b"}}, "BAD_INPUT", None),
        ({"view": {}}, "BAD_INPUT", None),
        ({"view": {"spec": {"method": "SHUFFLING", "level": 0.1}}}, "BAD_INPUT", None),
        ({"question": None}, "BAD_INPUT", None),
    ],
)
def test_errors_carry_code_and_argument(
    demo_service: Service, input_: dict[str, Any], code: str, argument: str | None
) -> None:
    error = fail(demo_service, ask("triplets", "id"), {"input": {"question": QUESTION, **input_}})
    assert error["extensions"]["code"] == code
    assert error["extensions"].get("argument") == argument
    assert error["message"]


@pytest.mark.parametrize("given", [{"preset": "x" * 90_000}, {"view": {"viewId": "x" * 90_000}}])
def test_an_error_does_not_send_all_back(demo_service: Service, given: dict[str, Any]) -> None:
    error = fail(demo_service, ask("triplets", "id"), {"input": {"question": QUESTION, **given}})
    assert 50 < len(error["message"]) <= 1000
    assert error["message"].endswith("…")


def test_errors_carry_the_hint(demo_service: Service) -> None:
    error = fail(demo_service, '{ neighbourhood(itemId: "Q999999") { id } }')
    assert error["extensions"]["argument"] == "itemId"
    assert "graph-service search" in error["extensions"]["hint"]
    assert error["path"] == ["neighbourhood"]


def test_a_value_is_an_item_or_a_literal(demo_service: Service) -> None:
    for value in ({}, {"itemId": "Q1", "literal": {"type": "STRING", "content": "a"}}):
        change = {"subjectId": MARIA, "propertyId": "P1", "value": value}
        view = {"spec": {"method": "CUSTOM", "changes": [change]}}
        input_ = {"question": QUESTION, "view": view}
        error = fail(demo_service, ask("triplets", "id"), {"input": input_})
        assert error["extensions"]["code"] == "BAD_INPUT"
    change = {
        "subjectId": MARIA,
        "propertyId": "P1",
        "value": {"literal": {"type": "MONOLINGUAL_TEXT", "content": "a"}},
    }
    view = {"spec": {"method": "CUSTOM", "changes": [change]}}
    error = fail(
        demo_service, ask("triplets", "id"), {"input": {"question": QUESTION, "view": view}}
    )
    assert error["extensions"]["argument"] == "languageCode"


@pytest.mark.parametrize(
    ("raised", "code", "retryable"),
    [
        (GraphNotFoundError("m"), "GRAPH_NOT_FOUND", False),
        (ViewNotFoundError("m"), "VIEW_NOT_FOUND", False),
        (ViewStaleError("m"), "VIEW_STALE", False),
        (LimitError("m"), "LIMIT_EXCEEDED", False),
        (DeadlineError("m"), "TIMEOUT", False),
        (StoreUnavailableError("m"), "STORE_UNAVAILABLE", True),
        (StoreCorruptError("m"), "STORE_UNAVAILABLE", False),
        (ModelFileError("m"), "SETUP", False),
    ],
)
def test_every_error_of_ours_has_its_code(
    demo_service: Service,
    monkeypatch: pytest.MonkeyPatch,
    raised: GraphServiceError,
    code: str,
    retryable: bool,
) -> None:
    def failing() -> None:
        raise raised

    monkeypatch.setattr(demo_service.store, "graphs", failing)
    error = fail(demo_service, "{ graphs { nodes { name } } }")
    assert error["message"] == "m"
    assert error["extensions"]["code"] == code
    assert error["extensions"].get("retryable", False) is retryable


def test_an_internal_error_is_masked_and_logged(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def failing() -> None:
        raise ZeroDivisionError("secret of the inside")

    monkeypatch.setattr(demo_service.store, "graphs", failing)
    with caplog.at_level(logging.ERROR):
        error = fail(demo_service, "{ graphs { nodes { name } } }")
    assert error["extensions"]["code"] == "INTERNAL"
    assert "secret" not in str(error)
    request_id = error["extensions"]["requestId"]
    assert request_id in error["message"]
    (record,) = caplog.records
    assert request_id in record.getMessage()
    assert record.exc_info is not None
    assert "secret of the inside" in str(record.exc_info[1])


def test_our_own_errors_are_not_logged_as_faults(
    demo_service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        fail(demo_service, '{ graph(name: "nope") { name } }')
        fail(demo_service, "{ nonsense }")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    "document",
    [
        "",
        "{",
        "{ nonsense }",
        "{ graphs }",
        "fragment F on Graph { name }",
        "subscription { graphs { nodes { name } } }",
        "{ graph(name: {}) { name } }",
        "\x00",
        '{ graph(name: "\\ud800") { name } }',
    ],
)
def test_a_bad_document_is_bad_input(demo_service: Service, document: str) -> None:
    assert fail(demo_service, document)["extensions"]["code"] == "BAD_INPUT"


def test_an_operation_is_chosen_by_name(demo_service: Service) -> None:
    document = "query A { graphs { nodes { name } } } query B { graph { name } }"
    assert run(demo_service, document, operation_name="B") == {"graph": {"name": "demo"}}
    unknown = fail(demo_service, document, operation_name="C")
    assert unknown["extensions"]["code"] == "BAD_INPUT"
    check_answer(unknown)
    assert "operation" in fail(demo_service, "fragment F on Graph { name }")["message"]


def test_several_operations_and_none_chosen_is_bad_input(own_service: Service) -> None:
    document = 'query A { graphs { nodes { name } } } mutation B { deleteGraph(input: {name: "demo"}) { name } }'
    error = fail(own_service, document, writable=True)
    assert error["extensions"]["code"] == "BAD_INPUT"
    check_answer(error)
    assert run(own_service, document, operation_name="A") == {
        "graphs": {"nodes": [{"name": "demo"}]}
    }


@pytest.mark.parametrize(
    ("literal", "argument"),
    [
        ({"type": "QUANTITY", "content": "abc"}, "content"),
        ({"type": "QUANTITY", "content": "NaN"}, "content"),
        ({"type": "QUANTITY", "content": ""}, "content"),
        ({"type": "TIME", "content": "yesterday"}, "content"),
        ({"type": "TIME", "content": "1947-07-30"}, "content"),
        ({"type": "TIME", "content": "1947-07-30T00:00:00Z", "precision": 99}, "precision"),
        ({"type": "TIME", "content": "1947-07-30T00:00:00Z", "precision": -1}, "precision"),
        ({"type": "URL", "content": "not a url"}, "content"),
        ({"type": "URL", "content": ""}, "content"),
        ({"type": "MONOLINGUAL_TEXT", "content": "a"}, "languageCode"),
        ({"type": "QUANTITY", "content": "1.96 m"}, "content"),
        ({"type": "QUANTITY", "content": " 1.96"}, "content"),
        ({"type": "QUANTITY", "content": "1.96\n"}, "content"),
        ({"type": "TIME", "content": "1947-07-30T00:00:00Z, or so"}, "content"),
        ({"type": "TIME", "content": "1947-07-30T00:00:00Z\n"}, "content"),
        ({"type": "URL", "content": "https://example.org and more"}, "content"),
    ],
)
def test_a_literal_must_be_of_its_type(
    demo_service: Service, literal: dict[str, Any], argument: str
) -> None:
    change = {"subjectId": MARIA, "propertyId": "P9000", "value": {"literal": literal}}
    given = {
        "question": QUESTION,
        "view": {"spec": {"method": "CUSTOM", "changes": [change]}},
    }
    error = fail(demo_service, ask("triplets", "status"), {"input": given})
    assert error["extensions"]["code"] == "BAD_INPUT"
    assert error["extensions"]["argument"] == argument


def test_arguments_in_a_scope_have_graphqls_names(demo_service: Service) -> None:
    spec = {"method": "EDGE_DELETION", "level": 0.2, "scope": {"propertyIds": ["P99999"]}}
    given = {"question": QUESTION, "view": {"spec": spec}}
    error = fail(demo_service, ask("triplets", "status"), {"input": given})
    assert error["extensions"]["argument"] == "scope.propertyIds"


@pytest.mark.parametrize("name", ["", " ", "\x00", "a\nb", "a\u202eb", "x" * 201])
def test_a_views_name_can_be_seen(own_service: Service, name: str) -> None:
    create = "mutation($input: CreateViewInput!) { createView(input: $input) { view { viewId } } }"
    spec = {"method": "EDGE_DELETION", "count": 1}
    given = {"graph": "demo", "name": name, "spec": spec}
    error = fail(own_service, create, {"input": given}, writable=True)
    assert (error["extensions"]["code"], error["extensions"]["argument"]) == ("BAD_INPUT", "name")
    assert run(own_service, "{ views { totalCount } }") == {"views": {"totalCount": 0}}


def test_views_made_within_a_second_are_listed_oldest_first(own_service: Service) -> None:
    create = "mutation($input: CreateViewInput!) { createView(input: $input) { view { viewId } } }"
    made = []
    for seed in range(5):
        spec = {"method": "EDGE_DELETION", "count": 1, "randomSeed": seed}
        given = {"graph": "demo", "spec": spec}
        made.append(
            run(own_service, create, {"input": given}, writable=True)["createView"]["view"][
                "viewId"
            ]
        )
        time.sleep(0.002)
    listed = run(own_service, "{ views { nodes { viewId } } }")["views"]["nodes"]
    assert [view["viewId"] for view in listed] == made


# Limits


def nested(depth: int) -> str:
    """A query whose innermost field lies ``depth`` levels under its first."""
    inner = "id"
    for _ in range((depth - 1) // 3):
        inner = (
            f"statements {{ nodes {{ value {{ ... on ItemValue {{ item {{ {inner} }} }} }} }} }}"
        )
    return f'{{ item(itemId: "{MARIA}") {{ {inner} }} }}'


def test_deep_queries_are_refused(demo_service: Service) -> None:
    run(
        demo_service, '{ item(itemId: "Q1") { statements { nodes { qualifiers { valueText } } } } }'
    )
    error = fail(demo_service, nested(MAX_DEPTH * 2))
    assert "depth" in error["message"]
    assert error["extensions"]["code"] == "LIMIT_EXCEEDED"


def test_a_field_asked_for_many_times_is_refused(demo_service: Service) -> None:
    def aliased(count: int) -> str:
        return "{" + " ".join(f"a{i}: graphs {{ nodes {{ name }} }}" for i in range(count)) + "}"

    run(demo_service, aliased(MAX_ALIASES))
    assert "alias" in fail(demo_service, aliased(MAX_ALIASES + 1))["message"].lower()


def test_long_documents_are_refused(demo_service: Service) -> None:
    error = fail(demo_service, "{ graphs {" + " name" * MAX_TOKENS + " } }")
    assert str(MAX_TOKENS) in error["message"]


@pytest.mark.parametrize(
    "document",
    ["{a" * 1400 + "}" * 1400, "{ graph(name: " + "[" * 2500, "{ graph(name: " + "{a:" * 900],
)
def test_nesting_cannot_break_the_parser(
    demo_service: Service, document: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert fail(demo_service, document)["extensions"]["code"] == "BAD_INPUT"
    assert not caplog.records


@pytest.mark.parametrize(
    ("document", "argument"),
    [
        ('{ searchItems(query: "a", first: 0) { nodes { id } } }', "first"),
        ('{ searchItems(query: " ") { nodes { id } } }', "query"),
        (f'{{ neighbourhood(itemId: "{MARIA}", hops: 9) {{ id }} }}', "hops"),
        (f'{{ neighbourhood(itemId: "{MARIA}", limit: 5000) {{ id }} }}', "limit"),
        (f'{{ item(itemId: "{MARIA}") {{ statements(first: 0) {{ totalCount }} }} }}', "first"),
        ("{ views(first: 0) { totalCount } }", "first"),
        ("{ views(first: 1001) { totalCount } }", "first"),
        ('{ views(after: "x") { totalCount } }', "after"),
        ('{ views(after: "-1") { totalCount } }', "after"),
        ('{ views(after: "²") { totalCount } }', "after"),
        ('{ item(itemId: "") { id } }', "itemId"),
        ('{ item(itemId: "a\\u0000b") { id } }', "itemId"),
        ('{ items(itemIds: ["Q1", ""]) { id } }', "itemIds"),
        ('{ neighbourhood(itemId: "") { id } }', "itemId"),
        ('{ graph(name: "") { name } }', "graph"),
        (
            f'{{ item(itemId: "{MARIA}") {{ statements(propertyIds: [""]) {{ totalCount }} }} }}',
            "propertyIds",
        ),
        ('{ views(after: "' + "9" * 5000 + '") { totalCount } }', "after"),
        (
            f'{{ searchItems(query: "a", languageCodes: {MANY_LANGUAGES}) {{ nodes {{ id }} }} }}',
            "languageCodes",
        ),
        (f'{{ passages(query: "a", languageCodes: {MANY_LANGUAGES}) {{ id }} }}', "languageCodes"),
        (
            f'{{ neighbourhood(itemId: "{MARIA}", languageCodes: {MANY_LANGUAGES}) {{ id }} }}',
            "languageCodes",
        ),
        (
            f'{{ item(itemId: "{MARIA}", languageCodes: {MANY_LANGUAGES}) {{ id }} }}',
            "languageCodes",
        ),
        ("{ items(itemIds: [" + '"Q1",' * (MAX_IDS + 1) + "]) { id } }", "itemIds"),
    ],
)
def test_every_argument_has_its_limit(demo_service: Service, document: str, argument: str) -> None:
    error = fail(demo_service, document)
    assert error["extensions"]["code"] == "BAD_INPUT"
    assert error["extensions"]["argument"] == argument


@pytest.mark.parametrize(
    "field",
    [
        'deleteView(input: {reference: "no"}) { viewId }',
        'cancelJob(input: {reference: "no"}) { view { viewId } }',
        'updateView(input: {reference: "no", note: "n"}) { view { viewId } }',
    ],
)
def test_a_view_that_is_missing_is_named_by_its_argument(own_service: Service, field: str) -> None:
    error = fail(own_service, f"mutation {{ {field} }}", writable=True)
    assert error["extensions"]["code"] == "VIEW_NOT_FOUND"
    assert error["extensions"]["argument"] == "reference"


@pytest.mark.parametrize(
    "mutation",
    [
        'mutation { createView(input: {graph: "demo", spec: {method: EDGE_DELETION, level: 0.1}})'
        " { view { viewId } } }",
        'mutation { deleteView(input: {reference: "x"}) { viewId } }',
        'mutation { cancelJob(input: {reference: "x"}) { view { viewId } } }',
        'mutation { updateView(input: {reference: "x", name: "y"}) { view { viewId } } }',
        'mutation { deleteGraph(input: {name: "demo"}) { name } }',
    ],
)
def test_writes_are_refused_unless_allowed(demo_service: Service, mutation: str) -> None:
    error = fail(demo_service, mutation)
    assert error["extensions"]["code"] == "READ_ONLY"
    assert "--writable" in error["extensions"]["hint"]
    assert demo_service.graph("demo").name == "demo"
    assert demo_service.views.list() == []


def test_a_custom_change_reads_like_the_models(demo_service: Service) -> None:
    """The same changes given as GraphQL and as the model's types make one view (S3)."""
    change = Change(head=MARIA, relation="P26", value=EntityValue("Q42"))
    expected = ViewSpec(Method.CUSTOM, changes=(change,))
    fields = {"subjectId": MARIA, "propertyId": "P26", "value": {"itemId": "Q42"}}
    view = {"spec": {"method": "CUSTOM", "changes": [fields]}}
    input_ = {"question": QUESTION, "view": view}
    data = run(demo_service, ask("triplets", "resultId provenance { viewId } "), {"input": input_})[
        "r"
    ]
    assert data["resultId"] == demo_service.retrieve(request(view=ViewRef(spec=expected))).id
