"""Qualifiers and references through the API where there is little to show."""

from __future__ import annotations

from pathlib import Path

from demo_graph import MARIA
from graphs import load_graph

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.model.statement import Entity, Snak, make_statement
from graph_service.model.values import EntityValue
from graph_service.settings import Settings


def test_a_statement_that_a_view_adds_has_no_qualifiers_and_no_references(
    demo_service: Service,
) -> None:
    document = """query($view: ViewRefInput!) {
      item(id: "Q230654") { statements(propertyId: "P26", view: $view) {
        change { kind } statement { qualifiers { valueText } references { parts { valueText } } }
      } }
    }"""
    change = {"subjectId": MARIA, "propertyId": "P26", "value": {"itemId": "Q42"}}
    view = {"spec": {"method": "CUSTOM", "changes": [change]}}
    data = execute(demo_service, document, {"view": view})["data"]
    added = [row for row in data["item"]["statements"] if row["change"]["kind"] == "ADDED"]
    assert [row["statement"] for row in added] == [{"qualifiers": [], "references": []}]


def test_a_qualifier_without_a_label_shows_its_id(tmp_path: Path) -> None:
    qualifier = Snak("P2", EntityValue("Q7"))
    statement = make_statement("Q1", "P1", EntityValue("Q2"), qualifiers=[qualifier])
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    with open_service(f"sqlite:///{tmp_path / 'graph.db'}", settings=settings) as service:
        load_graph(service.store, "bare", [statement], [Entity("Q1", labels={"en": "one"})])
        document = '{ item(id: "Q1") { statements { statement { qualifiers { valueText } } } } }'
        (row,) = execute(service, document)["data"]["item"]["statements"]
    assert row["statement"]["qualifiers"] == [{"valueText": "Q7"}]
