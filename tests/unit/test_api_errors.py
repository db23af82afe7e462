"""Errors and limits of the GraphQL schema over a service (S2)."""

from __future__ import annotations

import logging
import time
from typing import Any

import pytest
from api_calls import MANY_LANGUAGES, around, ask, custom, fail, run
from demo_graph import MARIA, QUESTION, request
from error_texts import check_answer

from graph_service import Service
from graph_service.api.documents import MAX_ALIASES, MAX_DEPTH, MAX_TOKENS
from graph_service.api.schema import MAX_IDS
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
from graph_service.model.request import ViewRef
from graph_service.model.values import EntityValue
from graph_service.model.view_spec import Change, Method, ViewSpec


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


@pytest.mark.parametrize("fields", [{"preset": "x" * 90_000}, {"view": {"viewId": "x" * 90_000}}])
def test_an_error_does_not_send_all_back(demo_service: Service, fields: dict[str, Any]) -> None:
    error = fail(demo_service, ask("triplets", "id"), {"input": {"question": QUESTION, **fields}})
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
    fields = {
        "question": QUESTION,
        "view": {"spec": {"method": "CUSTOM", "changes": [change]}},
    }
    error = fail(demo_service, ask("triplets", "status"), {"input": fields})
    assert error["extensions"]["code"] == "BAD_INPUT"
    assert error["extensions"]["argument"] == argument


def test_arguments_in_a_scope_have_graphqls_names(demo_service: Service) -> None:
    spec = {"method": "EDGE_DELETION", "level": 0.2, "scope": {"propertyIds": ["P99999"]}}
    fields = {"question": QUESTION, "view": {"spec": spec}}
    error = fail(demo_service, ask("triplets", "status"), {"input": fields})
    assert error["extensions"]["argument"] == "scope.propertyIds"


@pytest.mark.parametrize("name", ["", " ", "\x00", "a\nb", "a\u202eb", "x" * 201])
def test_a_views_name_can_be_seen(own_service: Service, name: str) -> None:
    create = "mutation($input: CreateViewInput!) { createView(input: $input) { view { viewId } } }"
    spec = {"method": "EDGE_DELETION", "count": 1}
    fields = {"graph": "demo", "name": name, "spec": spec}
    error = fail(own_service, create, {"input": fields}, writable=True)
    assert (error["extensions"]["code"], error["extensions"]["argument"]) == ("BAD_INPUT", "name")
    assert run(own_service, "{ views { totalCount } }") == {"views": {"totalCount": 0}}


def test_views_made_within_a_second_are_listed_oldest_first(own_service: Service) -> None:
    create = "mutation($input: CreateViewInput!) { createView(input: $input) { view { viewId } } }"
    made = []
    for seed in range(5):
        spec = {"method": "EDGE_DELETION", "count": 1, "randomSeed": seed}
        fields = {"graph": "demo", "spec": spec}
        made.append(
            run(own_service, create, {"input": fields}, writable=True)["createView"]["view"][
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
