"""The GraphQL schema over a service: shapes, errors and limits (S2)."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest
from demo_graph import ARNOLD, MARIA, QUESTION, request
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
        "statement { id property { id label } value { ... on ItemValue { item { id label } } } "
    )
    scored += "valueText } subject { id label }"
    items = (
        f"steps {{ {scored} reversed }} score" if strategy is Strategy.PATHS else f"{scored} score"
    )
    spec = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=3)
    data = run(
        demo_service,
        ask(
            strategy.value,
            f"""items {{ {items} }} id text numbered: text(format: NUMBERED)
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
    assert data["id"] == result.id
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
        assert columns["nodeIds"][head] == row["subject"]["id"]
        assert columns["nodeLabels"][head] == row["subject"]["label"]
        assert columns["nodeIds"][value] == statement["value"].get("item", {"id": ""})["id"]
        assert columns["nodeLabels"][value] == statement["valueText"]
        assert columns["propertyIds"][columns["property"][i]] == statement["property"]["id"]
        assert columns["propertyLabels"][columns["property"][i]] == statement["property"]["label"]
        assert columns["statementIds"][i] == statement["id"]
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
    (his,) = demo_service.statements_of(MARIA, relation_ids=["P26"])
    (hers,) = demo_service.statements_of(ARNOLD, relation_ids=["P26"])
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
          item(id: "Q4242") {
            id label ru: label(languageCode: "ru") xx: label(languageCode: "xx")
            description aliases de: aliases(languageCode: "de") labelLanguages
            statements(propertyId: "P69") {
              change { kind baseStatement { id } }
              statement {
                rank valueText
                qualifiers { property { id } valueText value { __typename } }
                year: qualifiers(propertyId: "P580") { valueText }
              }
            }
            p31: statements(propertyId: "P31") {
              statement { rank references { parts { property { id label } valueText } } }
            }
          }
          itemsById(ids: ["dbr:Rome", "Q1", "Q5"]) { label(languageCode: "it") id }
          none: item(id: "Q1") { id }
        }""",
    )
    item = data["item"]
    assert (item["id"], item["label"], item["ru"], item["xx"]) == (
        "Q42",
        "Douglas Adams",
        "Дуглас Адамс",
        None,
    )
    assert (item["description"], item["aliases"], item["de"]) == (
        "English writer",
        ["Douglas Noel Adams", "DNA"],
        ["Adams"],
    )
    assert item["labelLanguages"] == ["en", "ru", "zh"]
    (education,) = item["statements"]
    assert education["change"] == {"kind": "UNCHANGED", "baseStatement": None}
    qualifiers = education["statement"]["qualifiers"]
    assert [(one["property"]["id"], one["value"]["__typename"]) for one in qualifiers] == [
        ("P580", "TimeValue"),
        ("P812", "SomeValue"),
    ]
    assert education["statement"]["year"] == [{"valueText": qualifiers[0]["valueText"]}]
    ranks = {row["statement"]["rank"] for row in item["p31"]}
    assert ranks == {"PREFERRED", "NORMAL", "DEPRECATED"}
    (preferred,) = [row for row in item["p31"] if row["statement"]["rank"] == "PREFERRED"]
    groups = preferred["statement"]["references"]
    assert [[part["property"]["id"] for part in group["parts"]] for group in groups] == [
        ["P248", "P813"],
        ["P854"],
    ]
    assert data["itemsById"] == [
        {"label": "Roma", "id": "http://dbpedia.org/resource/Rome"},
        None,
        {"label": None, "id": "Q5"},
    ]
    assert data["none"] is None


def test_search_and_graphs_s2(demo_service: Service) -> None:
    data = run(
        demo_service,
        """{
          searchItems(query: "arnie", limit: 3) { item { id label } matched isAlias languageCode score }
          graphs { name items statements }
          graph { name edition edgesFingerprint source report options unfinishedLoad }
        }""",
    )
    (hit,) = data["searchItems"]
    assert hit["item"] == {"id": ARNOLD, "label": "Arnold Schwarzenegger"}
    assert (hit["matched"], hit["isAlias"], hit["languageCode"]) == ("Arnie", True, "en")
    info = demo_service.graph()
    assert data["graphs"] == [
        {
            "name": "demo",
            "items": info.counts.entities,
            "statements": info.counts.statements,
        }
    ]
    assert data["graph"]["edgesFingerprint"] == info.fingerprints.edges
    assert data["graph"]["report"]["status"] == "published"
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
    fields = "items { subject { id pageViews { mean level } } }"
    data = run(own_service, ask("triplets", fields), {"input": {"question": QUESTION}})["r"]
    found = {row["subject"]["id"]: row["subject"]["pageViews"] for row in data["items"]}
    assert found[MARIA] == {"mean": 1200.0, "level": "II"}
    assert found[ARNOLD] == {"mean": 250_000.0, "level": None}
    assert None in found.values()
    assert len(reads) == 1


def test_views_from_making_to_deleting_s4(own_service: Service) -> None:
    create = """mutation($input: CreateViewInput!) {
      createView(input: $input) { id name method levelReached counts stale state progress note
      deviation error } }"""
    made = []
    for number in range(3):
        spec = {"method": "EDGE_DELETION", "level": 0.1, "randomSeed": number}
        fields = {"graph": "demo", "spec": spec, "name": f"v{number}", "note": "n"}
        made.append(run(own_service, create, {"input": fields}, writable=True)["createView"])
    assert made[0]["method"] == "EDGE_DELETION"
    assert made[0]["levelReached"] == pytest.approx(0.1, abs=0.001)
    assert made[0]["counts"]["removed"] > 100
    assert (made[0]["stale"], made[0]["state"], made[0]["note"]) == (False, "DONE", "n")
    assert made[0]["deviation"]["ats"] == pytest.approx(made[0]["deviation"]["ats_base"], abs=0.05)
    assert 0 < made[0]["deviation"]["sd2"] < 1
    assert made[0]["error"] == ""
    cancel = 'mutation { cancelJob(id: "v1") { id state } }'
    assert run(own_service, cancel, writable=True)["cancelJob"]["state"] == "DONE"
    page = (
        "query($after: String) { views(first: 2, after: $after) { total endCursor items { id } } }"
    )
    first = run(own_service, page)["views"]
    second = run(own_service, page, {"after": first["endCursor"]})["views"]
    assert (first["total"], len(first["items"]), second["endCursor"]) == (3, 2, None)
    listed = [view["id"] for view in (*first["items"], *second["items"])]
    assert sorted(listed) == sorted(view["id"] for view in made)
    diff = """query($after: String) { view(id: "v1") { id diff(first: 70, after: $after) {
      total endCursor items { kind words subject { label } before { id } after { id } } } } }"""
    changes: list[dict[str, Any]] = []
    cursor = None
    while True:
        view = run(own_service, diff, {"after": cursor})["view"]
        changes.extend(view["diff"]["items"])
        cursor = view["diff"]["endCursor"]
        if cursor is None:
            break
    assert len(changes) == view["diff"]["total"] == made[1]["counts"]["removed"]
    assert len({change["before"]["id"] for change in changes}) == len(changes)
    assert {(change["kind"], change["after"]) for change in changes} == {("removed", None)}
    remove = 'mutation { deleteView(id: "v1") }'
    assert run(own_service, remove, writable=True)["deleteView"] == made[1]["id"]
    assert run(own_service, '{ view(id: "v1") { id } }')["view"] is None
    assert run(own_service, 'mutation { deleteGraph(name: "demo") }', writable=True) == {
        "deleteGraph": "demo"
    }
    assert run(own_service, "{ graphs { name } }")["graphs"] == []


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
    query = """query($view: ViewRefInput!) { item(id: "Q42") { statements(view: $view) {
      change { kind } statement { property { id } valueText value { __typename
        ... on MonolingualTextValue { language } ... on QuantityValue { unit { id } amount }
        ... on TimeValue { precision } ... on ItemValue { item { id label } } } } } } }"""
    view = {"spec": {"method": "CUSTOM", "changes": changes}}
    rows = run(kinds_service, query, {"view": view})["item"]["statements"]
    added = {
        row["statement"]["property"]["id"]: row["statement"]["value"]
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
        "unit": {"id": "Q11573"},
        "amount": "3.5",
    }
    assert added["P9003"]["precision"] == 9
    assert added["P9009"]["item"] == {"id": "http://dbpedia.org/resource/Rome", "label": "Rome"}


# Errors


@pytest.mark.parametrize(
    ("input_", "code", "argument"),
    [
        ({"question": " "}, "BAD_INPUT", "question"),
        ({"graph": "nope"}, "GRAPH_NOT_FOUND", "graph"),
        ({"view": {"id": "nope"}}, "VIEW_NOT_FOUND", "view"),
        ({"view": {"name": "nope"}}, "VIEW_NOT_FOUND", "view"),
        ({"view": {"id": ""}}, "BAD_INPUT", "view"),
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
        ({"view": {"id": "a", "name": "b"}}, "BAD_INPUT", None),
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


@pytest.mark.parametrize("given", [{"preset": "x" * 90_000}, {"view": {"id": "x" * 90_000}}])
def test_an_error_does_not_send_all_back(demo_service: Service, given: dict[str, Any]) -> None:
    error = fail(demo_service, ask("triplets", "id"), {"input": {"question": QUESTION, **given}})
    assert 50 < len(error["message"]) <= 1000
    assert error["message"].endswith("…")


def test_errors_carry_the_hint(demo_service: Service) -> None:
    error = fail(demo_service, '{ neighbourhood(id: "Q999999") { id } }')
    assert error["extensions"]["argument"] == "id"
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
    error = fail(demo_service, "{ graphs { name } }")
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
        error = fail(demo_service, "{ graphs { name } }")
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
        "subscription { graphs { name } }",
        "{ graph(name: {}) { name } }",
        "\x00",
        '{ graph(name: "\\ud800") { name } }',
    ],
)
def test_a_bad_document_is_bad_input(demo_service: Service, document: str) -> None:
    assert fail(demo_service, document)["extensions"]["code"] == "BAD_INPUT"


def test_an_operation_is_chosen_by_name(demo_service: Service) -> None:
    document = "query A { graphs { name } } query B { graph { name } }"
    assert run(demo_service, document, operation_name="B") == {"graph": {"name": "demo"}}
    unknown = fail(demo_service, document, operation_name="C")
    assert unknown["extensions"]["code"] == "BAD_INPUT"
    assert unknown["message"] == "the document has no operation named 'C'"
    assert "operation" in fail(demo_service, "fragment F on Graph { name }")["message"]


def test_several_operations_and_none_chosen_is_bad_input(own_service: Service) -> None:
    document = 'query A { graphs { name } } mutation B { deleteGraph(name: "demo") }'
    error = fail(own_service, document, writable=True)
    assert error["extensions"]["code"] == "BAD_INPUT"
    assert error["message"] == "the document has 2 operations: say which by operationName"
    assert run(own_service, document, operation_name="A") == {"graphs": [{"name": "demo"}]}


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
    create = "mutation($input: CreateViewInput!) { createView(input: $input) { id } }"
    spec = {"method": "EDGE_DELETION", "count": 1}
    given = {"graph": "demo", "name": name, "spec": spec}
    error = fail(own_service, create, {"input": given}, writable=True)
    assert (error["extensions"]["code"], error["extensions"]["argument"]) == ("BAD_INPUT", "name")
    assert run(own_service, "{ views { total } }") == {"views": {"total": 0}}


def test_views_made_within_a_second_are_listed_oldest_first(own_service: Service) -> None:
    create = "mutation($input: CreateViewInput!) { createView(input: $input) { id } }"
    made = []
    for seed in range(5):
        spec = {"method": "EDGE_DELETION", "count": 1, "randomSeed": seed}
        given = {"graph": "demo", "spec": spec}
        made.append(run(own_service, create, {"input": given}, writable=True)["createView"]["id"])
        time.sleep(0.002)
    listed = run(own_service, "{ views { items { id } } }")["views"]["items"]
    assert [view["id"] for view in listed] == made


# Limits


def nested(depth: int) -> str:
    """A query whose innermost field lies ``depth`` levels under its first."""
    inner = "id"
    for _ in range((depth - 1) // 3):
        inner = f"statements {{ statement {{ value {{ ... on ItemValue {{ item {{ {inner} }} }} }} }} }}"
    return f'{{ item(id: "{MARIA}") {{ {inner} }} }}'


def test_deep_queries_are_refused(demo_service: Service) -> None:
    run(
        demo_service, '{ item(id: "Q1") { statements { statement { qualifiers { valueText } } } } }'
    )
    error = fail(demo_service, nested(MAX_DEPTH * 2))
    assert "depth" in error["message"]
    assert error["extensions"]["code"] == "LIMIT_EXCEEDED"


def test_a_field_asked_for_many_times_is_refused(demo_service: Service) -> None:
    def aliased(count: int) -> str:
        return "{" + " ".join(f"a{i}: graphs {{ name }}" for i in range(count)) + "}"

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
        ('{ searchItems(query: "a", limit: 0) { score } }', "limit"),
        ('{ searchItems(query: " ") { score } }', "query"),
        (f'{{ neighbourhood(id: "{MARIA}", hops: 9) {{ id }} }}', "hops"),
        (f'{{ neighbourhood(id: "{MARIA}", limit: 5000) {{ id }} }}', "limit"),
        (f'{{ item(id: "{MARIA}") {{ statements(limit: 0) {{ change {{ kind }} }} }} }}', "limit"),
        ("{ views(first: 0) { total } }", "first"),
        ("{ views(first: 1001) { total } }", "first"),
        ('{ views(after: "x") { total } }', "after"),
        ('{ views(after: "-1") { total } }', "after"),
        ('{ views(after: "²") { total } }', "after"),
        ('{ item(id: "") { id } }', "id"),
        ('{ item(id: "a\\u0000b") { id } }', "id"),
        ('{ itemsById(ids: ["Q1", ""]) { id } }', "ids"),
        ('{ neighbourhood(id: "") { id } }', "id"),
        ('{ graph(name: "") { name } }', "graph"),
        (
            f'{{ item(id: "{MARIA}") {{ statements(propertyId: "") {{ change {{ kind }} }} }} }}',
            "propertyId",
        ),
        ('{ views(after: "' + "9" * 5000 + '") { total } }', "after"),
        (
            f'{{ searchItems(query: "a", languageCodes: {MANY_LANGUAGES}) {{ score }} }}',
            "languageCodes",
        ),
        (f'{{ passages(query: "a", languageCodes: {MANY_LANGUAGES}) {{ id }} }}', "languageCodes"),
        (
            f'{{ neighbourhood(id: "{MARIA}", languageCodes: {MANY_LANGUAGES}) {{ id }} }}',
            "languageCodes",
        ),
        (
            f'{{ item(id: "{MARIA}") {{ statements(languageCodes: {MANY_LANGUAGES}) '
            "{ change { kind } } } }",
            "languageCodes",
        ),
        ("{ itemsById(ids: [" + '"Q1",' * (MAX_IDS + 1) + "]) { id } }", "ids"),
    ],
)
def test_every_argument_has_its_limit(demo_service: Service, document: str, argument: str) -> None:
    error = fail(demo_service, document)
    assert error["extensions"]["code"] == "BAD_INPUT"
    assert error["extensions"]["argument"] == argument


@pytest.mark.parametrize("field", ['deleteView(id: "no")', 'cancelJob(id: "no") { id }'])
def test_a_view_that_is_missing_is_named_by_its_argument(own_service: Service, field: str) -> None:
    error = fail(own_service, f"mutation {{ {field} }}", writable=True)
    assert error["extensions"]["code"] == "VIEW_NOT_FOUND"
    assert error["extensions"]["argument"] == "id"


@pytest.mark.parametrize(
    "mutation",
    [
        'mutation { createView(input: {graph: "demo", spec: {method: EDGE_DELETION, level: 0.1}})'
        " { id } }",
        'mutation { deleteView(id: "x") }',
        'mutation { cancelJob(id: "x") { id } }',
        'mutation { deleteGraph(name: "demo") }',
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
    data = run(demo_service, ask("triplets", "id provenance { viewId } "), {"input": input_})["r"]
    assert data["id"] == demo_service.retrieve(request(view=ViewRef(spec=expected))).id
