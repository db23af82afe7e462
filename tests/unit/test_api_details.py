"""Qualifiers and references through the API: of a view's statements, and of items without labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from demo_graph import MARIA
from graphs import load_graph

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.model.statement import Entity, Snak, make_statement
from graph_service.model.values import EntityValue
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


def test_the_error_of_one_question_of_many_carries_its_hint(demo_service: Service) -> None:
    document = """query($i: [RetrieveInput!]!) { retrieveMany(strategy: PATHS, inputs: $i) {
        error { code argument hint } } }"""
    given = [{"question": "Who?", "itemIds": ["Q999999999"]}]
    (only,) = execute(demo_service, document, {"i": given})["data"]["retrieveMany"]
    assert only["error"] == {
        "code": "BAD_INPUT",
        "argument": "itemIds",
        "hint": "Look for it by name: graph-service search NAME --graph demo",
    }
