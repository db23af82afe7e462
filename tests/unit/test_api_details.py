"""Qualifiers and references through the API: of a view's statements, and of items without labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from demo_graph import MARIA
from error_texts import check_answer, check_text
from graphs import load_graph
from word_vectors import Letters

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.errors import StoreUnavailableError
from graph_service.model.passage import make_passage
from graph_service.model.statement import Entity, EntityKind, Reference, Snak, make_statement
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    UnknownValue,
    Value,
)
from graph_service.settings import Settings

DETAILS = (
    "change { kind } statement { qualifiers { valueText } references { parts { valueText } } }"
)


def retrieve(service: Service, strategy: str, items: str, **given: Any) -> list[dict[str, Any]]:
    document = f"query($input: RetrieveInput!) {{ r: {strategy}(input: $input) {{ items {{ {items} }} }} }}"
    response = execute(service, document, {"input": given})
    assert "errors" not in response, response["errors"]
    found: list[dict[str, Any]] = response["data"]["r"]["items"]
    return found


def custom(**change: Any) -> dict[str, Any]:
    return {"spec": {"method": "CUSTOM", "changes": [change]}}


def test_a_statement_that_a_view_adds_has_no_qualifiers_and_no_references(
    demo_service: Service,
) -> None:
    view = custom(subjectId=MARIA, propertyId="P26", value={"itemId": "Q42"})
    question = "Who is the spouse of Maria Shriver?"
    rows = retrieve(demo_service, "triplets", DETAILS, question=question, view=view)
    added = [row["statement"] for row in rows if row["change"]["kind"] == "ADDED"]
    assert added == [{"qualifiers": [], "references": []}]


@pytest.mark.parametrize("strategy", ["triplets", "paths", "subgraph"])
def test_a_statement_that_a_view_changes_keeps_its_qualifiers(
    tmp_path: Path, strategy: str
) -> None:
    qualifier = Snak("P2", EntityValue("Q7"))
    statement = make_statement("Q1", "P1", EntityValue("Q2"), qualifiers=[qualifier])
    names = {"Q1": "Rome", "Q2": "Italy", "Q3": "France", "P1": "country"}
    entities = [Entity(id_, labels={"en": name}) for id_, name in names.items()]
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    with open_service(f"sqlite:///{tmp_path / 'graph.db'}", settings=settings) as service:
        load_graph(service.store, "small", [statement], entities)
        view = custom(statementId=statement.id, value={"itemId": "Q3"})
        items = f"steps {{ {DETAILS} }}" if strategy == "paths" else DETAILS
        (row,) = retrieve(service, strategy, items, question="country of Rome?", view=view)
        (row,) = row.get("steps", [row])
    assert row["change"]["kind"] == "VALUE_CHANGED"
    # Q7 has no label, and is called by its id.
    assert row["statement"] == {"qualifiers": [{"valueText": "Q7"}], "references": []}


VALUES = """__typename
    ... on ItemValue { item { itemId label } } ... on StringValue { content datatype }
    ... on MonolingualTextValue { language text } ... on UrlValue { url }
    ... on QuantityValue { amount unit { itemId } lowerBound upperBound }
    ... on TimeValue { time precision calendarModel before after timezone }
    ... on GlobeCoordinateValue { latitude longitude altitude offBy: precision globe }
    ... on SomeValue { note } ... on NoValue { note } ... on OtherValue { datatype json }"""
KINDS_OF_VALUE: list[tuple[Value, dict[str, Any]]] = [
    (EntityValue("Q2"), {"__typename": "ItemValue", "item": {"itemId": "Q2", "label": "Italy"}}),
    (
        StringValue("0-330", "external-id"),
        {"__typename": "StringValue", "content": "0-330", "datatype": "external-id"},
    ),
    (
        MonolingualText("Roma", "it"),
        {"__typename": "MonolingualTextValue", "language": "it", "text": "Roma"},
    ),
    (
        Quantity("1.50", "Q2", "1.4", "1.6"),
        {"__typename": "QuantityValue", "amount": "1.50", "unit": {"itemId": "Q2"},
         "lowerBound": "1.4", "upperBound": "1.6"},
    ),
    (
        Quantity("3"),
        {"__typename": "QuantityValue", "amount": "3", "unit": None,
         "lowerBound": None, "upperBound": None},
    ),
    (
        Time("1952-03-11T00:00:00Z", 9, "Q1985786", 1, 2, 60),
        {"__typename": "TimeValue", "time": "1952-03-11T00:00:00Z", "precision": 9,
         "calendarModel": "Q1985786", "before": 1, "after": 2, "timezone": 60},
    ),
    (
        Coordinates(41.5, 12.25, 30.0, 0.5, "Q405"),
        {"__typename": "GlobeCoordinateValue", "latitude": 41.5, "longitude": 12.25,
         "altitude": 30.0, "offBy": 0.5, "globe": "Q405"},
    ),
    (Iri("http://a.b/c"), {"__typename": "UrlValue", "url": "http://a.b/c"}),
    (SomeValue(), {"__typename": "SomeValue", "note": "unknown value"}),
    (NoValue(), {"__typename": "NoValue", "note": "no value"}),
    (
        UnknownValue("new-kind", '{"a":1}'),
        {"__typename": "OtherValue", "datatype": "new-kind", "json": '{"a":1}'},
    ),
]  # fmt: skip


def test_a_value_of_each_kind_has_all_its_fields(tmp_path: Path) -> None:
    qualifiers = [Snak(f"P{place}", value) for place, (value, _) in enumerate(KINDS_OF_VALUE, 10)]
    statement = make_statement("Q1", "P1", EntityValue("Q2"), qualifiers=qualifiers)
    names = [Entity("Q1", labels={"en": "Rome"}), Entity("Q2", labels={"en": "Italy"})]
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    document = f"""{{ item(itemId: "Q1") {{ statements {{ nodes {{
        qualifiers {{ property {{ propertyId }} value {{ {VALUES} }} }} }} }} }} }}"""
    with open_service(f"sqlite:///{tmp_path / 'graph.db'}", settings=settings) as service:
        load_graph(service.store, "small", [statement], names)
        response = execute(service, document)
    assert "errors" not in response, response["errors"]
    (node,) = response["data"]["item"]["statements"]["nodes"]
    found = {one["property"]["propertyId"]: one["value"] for one in node["qualifiers"]}
    assert found == {f"P{place}": fields for place, (_, fields) in enumerate(KINDS_OF_VALUE, 10)}


def test_the_error_of_one_question_of_many_carries_its_hint(demo_service: Service) -> None:
    document = """query($i: [RetrieveInput!]!) { retrieveMany(strategy: PATHS, inputs: $i) {
        error { code argument hint } } }"""
    given = [{"question": "Who?", "itemIds": ["Q999999999"]}]
    (only,) = execute(demo_service, document, {"i": given})["data"]["retrieveMany"]
    hint = only["error"].pop("hint")
    assert only["error"] == {"code": "BAD_INPUT", "argument": "itemIds"}
    check_text(hint, "graph-service search NAME")


def test_questions_at_fault_keep_their_places_among_the_others(demo_service: Service) -> None:
    document = """query($i: [RetrieveInput!]!) { retrieveMany(strategy: SUBGRAPH, inputs: $i) {
        result { __typename question ... on SubgraphResult { objective } }
        error { code message argument hint retryable } } }"""
    no_level = {"spec": {"method": "EDGE_DELETION"}}
    given = [
        {"question": "a", "itemIds": [MARIA], "maxHops": 1},
        {"question": "b", "view": no_level},
        {"question": "c", "view": {"name": "none"}},
        {"question": "d", "itemIds": [MARIA], "maxHops": 1},
        {"question": "e", "view": no_level},
    ]
    rows = execute(demo_service, document, {"i": given})["data"]["retrieveMany"]
    assert [row["result"] and row["result"]["question"] for row in rows] == [
        "a",
        None,
        None,
        "d",
        None,
    ]
    assert {row["result"]["__typename"] for row in rows if row["result"]} == {"SubgraphResult"}
    assert all(row["result"]["objective"] is not None for row in rows if row["result"])
    assert [row["error"] and row["error"]["code"] for row in rows] == [
        None, "BAD_INPUT", "VIEW_NOT_FOUND", None, "BAD_INPUT"
    ]  # fmt: skip
    error = rows[1]["error"]
    assert (error["argument"], error["hint"], error["retryable"]) == ("level", None, False)
    check_text(error["message"], "level", "count")
    alone = execute(demo_service, document, {"i": given[1:2]})["data"]["retrieveMany"]
    assert alone == [{"result": None, "error": error}]


def test_who_may_try_again_is_told_so_for_each_question(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = StoreUnavailableError("bolt://here does not answer", hint="Start it.")
    monkeypatch.setattr(demo_service, "retrieve_many", lambda _: [away])
    document = """{ retrieveMany(strategy: PATHS, inputs: [{question: "a"}]) {
        error { code message argument hint retryable } } }"""
    open_, masked = (
        execute(demo_service, document, masked=mask)["data"]["retrieveMany"][0]["error"]
        for mask in (False, True)
    )
    assert open_ == {
        "code": "STORE_UNAVAILABLE", "message": away.message, "argument": None,
        "hint": "Start it.", "retryable": True,
    }  # fmt: skip
    assert (masked["code"], masked["hint"], masked["retryable"]) == (open_["code"], None, True)
    assert "bolt" not in masked["message"]


QUALIFIED = """{ item(itemId: "Q1") { statements { nodes {
    qualifiers { valueText property { propertyId label } value { __typename
        ... on QuantityValue { amount unit { itemId label } lowerBound upperBound }
        ... on ItemValue { item { itemId label description } } } }
    ofTwo: qualifiers(propertyId: "P2") { valueText }
    references { parts { valueText value { __typename ... on UrlValue { url } } } } } } } }"""


def test_qualifiers_name_their_units_and_items_in_one_look_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qualifiers = [
        Snak("P2", Quantity("3", "Q11573", "2", "4")),
        Snak("P2", EntityValue("Q7")),
        Snak("P3", Quantity("5")),
        Snak("P3", EntityValue("Q404")),
    ]
    references = [Reference((Snak("P854", Iri("http://example.org/a")),))]
    statement = make_statement(
        "Q1", "P1", EntityValue("Q2"), qualifiers=qualifiers, references=references
    )
    entities = [
        Entity("Q1", labels={"en": "Rome"}),
        Entity("Q7", labels={"de": "Sieben", "mul": "Seven"}, descriptions={"de": "Zahl"}),
        Entity("Q11573", labels={"de": "Meter", "en": "metre"}),
        Entity("P2", kind=EntityKind.PROPERTY, labels={"en": "length"}),
    ]
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    with open_service(f"sqlite:///{tmp_path / 'graph.db'}", settings=settings) as service:
        load_graph(service.store, "small", [statement], entities)
        reads: list[list[str]] = []
        real = service.store.entities

        def entities_of(edition: str, ids: list[str]) -> Any:
            reads.append(ids)
            return real(edition, ids)

        monkeypatch.setattr(service.store, "entities", entities_of)
        response = execute(service, QUALIFIED)
    (row,) = response["data"]["item"]["statements"]["nodes"]
    found = row["qualifiers"]
    assert [one["valueText"] for one in found] == ["3 metre", "Seven", "5", "Q404"]
    assert [one["property"] for one in found] == [
        {"propertyId": "P2", "label": "length"}, {"propertyId": "P2", "label": "length"},
        {"propertyId": "P3", "label": "P3"}, {"propertyId": "P3", "label": "P3"},
    ]  # fmt: skip
    assert found[0]["value"] == {
        "__typename": "QuantityValue", "amount": "3", "unit": {"itemId": "Q11573", "label": "metre"},
        "lowerBound": "2", "upperBound": "4",
    }  # fmt: skip
    assert found[1]["value"]["item"] == {"itemId": "Q7", "label": "Seven", "description": "Zahl"}
    assert found[2]["value"]["unit"] is None
    assert found[3]["value"]["item"] == {"itemId": "Q404", "label": "Q404", "description": None}
    assert row["ofTwo"] == [{"valueText": "3 metre"}, {"valueText": "Seven"}]
    url = {"__typename": "UrlValue", "url": "http://example.org/a"}
    assert row["references"] == [{"parts": [{"valueText": "http://example.org/a", "value": url}]}]
    # All that the qualifiers name is read at once.
    assert {"P2", "P3", "Q7", "Q404", "Q11573"} <= set(reads[-1])


def test_a_passage_has_the_item_that_its_document_is_about(tmp_path: Path) -> None:
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    url = f"sqlite:///{tmp_path / 'graph.db'}"
    with open_service(url, settings=settings, embedder=Letters()) as service:
        load_graph(service.store, "small", [("Q1", "P1", "Q2")], [
            Entity("Q1", labels={"en": "Rome", "de": "Rom"})])  # fmt: skip
        with service.store.passages.begin("small", source="s", options={}, owner="t") as load:
            load.write(
                [
                    make_passage("Rome is old.", title="Rome", source="s", entity="Q1"),
                    make_passage("Rome is a name.", title="Names", source="s"),
                ],
                checkpoint={},
            )
            load.publish()
        document = """query($l: [String!]) { passages(query: "old Rome", by: WORDS, languageCodes: $l)
            { items { score wordScore vectorScore passage { title item { itemId label } } } } }"""
        found = {
            languages: execute(service, document, {"l": languages and [languages]})["data"][
                "passages"
            ]["items"]
            for languages in (None, "de")
        }
    first, second = found[None]
    assert first["passage"] == {"title": "Rome", "item": {"itemId": "Q1", "label": "Rome"}}
    assert second["passage"] == {"title": "Names", "item": None}
    assert first["score"] == first["wordScore"] > second["score"] > 0
    assert first["vectorScore"] is None
    assert found["de"][0]["passage"]["item"] == {"itemId": "Q1", "label": "Rom"}


@pytest.mark.parametrize("first", [0, 1001])
def test_a_page_of_views_has_its_bounds(demo_service: Service, first: int) -> None:
    document = "query($first: Int!) { views(first: $first) { totalCount } }"
    (error,) = execute(demo_service, document, {"first": first})["errors"]
    check_answer(error)
    assert error["extensions"]["argument"] == "first"
    for within in (1, 1000):
        assert (
            execute(demo_service, document, {"first": within})["data"]["views"]["totalCount"] == 0
        )


def test_two_hundred_items_are_read_at_once_and_no_more(demo_service: Service) -> None:
    document = "query($ids: [ID!]!) { items(itemIds: $ids) { itemId } }"
    found = execute(demo_service, document, {"ids": [MARIA] * 200})["data"]["items"]
    assert found == [{"itemId": MARIA}] * 200
    (error,) = execute(demo_service, document, {"ids": [MARIA] * 201})["errors"]
    check_answer(error)
    assert error["extensions"]["argument"] == "itemIds"
