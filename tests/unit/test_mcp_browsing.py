"""The MCP tools that look into a graph: items, statements, the graph itself, passages (B1)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from demo_graph import ARNOLD, MARIA, QUESTION, SPOUSE
from graphs import load_graph, sample_statements
from mcp_calls import T, called

from graph_service import Service, open_service
from graph_service.client import AsyncClient
from graph_service.mcp.server import GraphServer, Profile
from loaders.passages.load import PassageOptions, load_passages


@pytest.fixture(scope="module")
def server(demo_service: Service) -> GraphServer:
    return GraphServer(AsyncClient.over(demo_service, writable=False))


@pytest.fixture(scope="module")
def research(demo_service: Service) -> GraphServer:
    client = AsyncClient.over(demo_service, writable=False)
    return GraphServer(client, profile=Profile.RESEARCH)


def test_an_item_shows_its_relations_in_both_directions(server: GraphServer) -> None:
    text, data = called(server, "get_statements", entity_id=ARNOLD)
    assert data["items"] == []
    assert data["total"] == len(data["relations"]) > 10
    assert "next_cursor" not in data
    counts = {(one["property_id"], one["direction"]): one["count"] for one in data["relations"]}
    assert counts[SPOUSE, "outgoing"] == counts[SPOUSE, "incoming"] == 1
    assert f"incoming {SPOUSE} spouse: 1" in text.splitlines()
    for direction in ("outgoing", "incoming"):
        _, one_way = called(server, "get_statements", entity_id=ARNOLD, direction=direction)
        assert one_way["relations"] == [
            one for one in data["relations"] if one["direction"] == direction
        ]


def test_every_relation_leads_to_its_statements(server: GraphServer) -> None:
    _, data = called(server, "get_statements", entity_id=ARNOLD)
    for one in data["relations"]:
        _, found = called(
            server,
            "get_statements",
            entity_id=ARNOLD,
            property_id=one["property_id"],
            direction=one["direction"],
        )
        assert found["total"] == len(found["items"]) == one["count"]
        end = "subject_id" if one["direction"] == "outgoing" else "value_id"
        assert {item[end] for item in found["items"]} == {ARNOLD}
        assert {item["property_id"] for item in found["items"]} == {one["property_id"]}


@pytest.mark.parametrize("property_id", [None, "P31"])
def test_a_cursor_goes_on_where_a_page_ended(server: GraphServer, property_id: str | None) -> None:
    """By the limit or by the budget; and nothing is said to be missing."""
    human = "Q5"
    given: T = {"entity_id": ARNOLD}
    if property_id:
        given = {"entity_id": human, "property_id": property_id, "direction": "incoming"}
    field = "items" if property_id else "relations"
    _, whole = called(server, "get_statements", **given, token_budget=50_000)
    assert len(whole[field]) == whole["total"] > 20
    for limits in ({"limit": 7}, {"token_budget": 700}):
        found: list[T] = []
        cursor = None
        while True:
            text, data = called(server, "get_statements", **given, cursor=cursor, **limits)
            assert data["truncated"] == []
            assert data["tokens"] <= limits.get("token_budget", 8000)
            found += data[field]
            cursor = data.get("next_cursor")
            if cursor is None:
                break
            assert cursor in text
        assert found == whole[field]


def test_a_relation_of_the_other_direction_is_pointed_at(server: GraphServer) -> None:
    text, data = called(server, "get_statements", entity_id="Q5", property_id="P31")
    assert data["items"] == []
    assert "incoming" in text


def test_a_graph_is_described(server: GraphServer, demo_service: Service) -> None:
    text, data = called(server, "describe_graph", limit=5)
    assert data["graphs"] == ["demo"]
    assert data["graph"]["statements"] == 1156
    assert [len(data[field]) for field in ("classes", "relations")] == [2, 5]
    human = data["classes"][0]
    assert (human["id"], human["label"]) == ("Q5", "human")
    assert len(human["examples"]) == 3
    about = demo_service.about().overview
    assert [one["count"] for one in data["relations"]] == [use.count for use in about.relations[:5]]
    assert f"Q5 human: {human['count']}, {', '.join(human['examples'])}" in text.splitlines()
    assert all(CITATION.fullmatch(one["example"]) for one in data["relations"])
    _, short = called(server, "describe_graph", limit=200, token_budget=500)
    assert short["truncated"]
    assert short["tokens"] <= 500


def test_several_graphs_are_listed(tmp_path: Path) -> None:
    with open_service(f"sqlite:///{tmp_path / 'g.db'}") as service:
        server = GraphServer(AsyncClient.over(service))
        text, data = called(server, "describe_graph")
        assert data["graphs"] == []
        assert "no graph" in text
        for name in ("one", "two"):
            load_graph(service.store, name, [("Q1", "P1", "Q2")])
        text, data = called(server, "describe_graph")
        assert data["graphs"] == ["one", "two"]
        assert "graph" not in data
        text, data = called(server, "describe_graph", graph="two")
        assert data["graph"]["name"] == "two"
        assert "Other graphs: one" in text


CITATION = re.compile(r"\[[^\[\],]+, [^:\]]+: .+\]")


def test_citations_have_one_form_in_every_tool(research: GraphServer) -> None:
    cited = {
        "retrieve": {"question": QUESTION, "strategy": "triplets"},
        "get_statements": {"entity_id": MARIA, "property_id": SPOUSE},
    }
    by_tool = {}
    for tool, arguments in cited.items():
        text, data = called(research, tool, **arguments)
        assert all(CITATION.fullmatch(item["citation"]) for item in data["items"])
        assert all(item["citation"] in text for item in data["items"])
        by_tool[tool] = {item["citation"] for item in data["items"]}
    _, compared = called(research, "compare", **cited["retrieve"], views=["ed:0.0:1"])
    by_tool["compare"] = {item["citation"] for item in compared["items"][0]["items"]}
    spouse = f"[{MARIA}, spouse: Arnold Schwarzenegger]"
    assert all(spouse in citations for citations in by_tool.values()), by_tool


def test_passages_are_found_and_cited(own_service: Service, tmp_path: Path) -> None:
    server = GraphServer(AsyncClient.over(own_service), profile=Profile.RESEARCH)
    text, data = called(server, "search_passages", query="Who is Maria Shriver?")
    assert data["items"] == []
    assert "No passage" in text
    file = tmp_path / "p.jsonl"
    file.write_text(
        json.dumps({"title": "Maria Shriver", "text": "Maria Shriver is a journalist."}) + "\n"
    )
    load_passages(
        file,
        store=own_service.store,
        graph="demo",
        linker=own_service.passages.linker(graph="demo"),
        options=PassageOptions(rejects_path=tmp_path / "rejects.jsonl"),
    )
    text, data = called(server, "search_passages", query="Who is Maria Shriver?")
    (passage,) = data["items"]
    assert passage["citation"] == f"[{MARIA}, passage: Maria Shriver]"
    assert passage["citation"] in text


def test_search_finds_items_by_name(server: GraphServer, research: GraphServer) -> None:
    text, data = called(server, "search_items", query="Maria Shriver")
    assert data["items"][0]["id"] == MARIA
    assert data["items"][0]["matched"] == "Maria Shriver"
    assert text.startswith(f"{MARIA}: Maria Shriver - ")
    _, data = called(research, "search_items", query="Maria Shriver", view="names:1:3")
    assert MARIA not in {item["id"] for item in data["items"]}
    text, data = called(server, "search_items", query="zorblax")
    assert data["items"] == []
    assert "zorblax" in text


def test_values_come_with_labelled_qualifiers_and_references(
    server: GraphServer, kinds_service: Service
) -> None:
    text, data = called(server, "get_statements", entity_id=MARIA, property_id=SPOUSE, details=True)
    (spouse,) = data["items"]
    assert spouse["value_id"] == ARNOLD
    assert [part["text"] for part in spouse["qualifiers"]] == [
        "start time (P580): 1986-04-26", "end time (P582): 2021"
    ]  # fmt: skip
    assert "  qualifier start time (P580): 1986-04-26" in text.splitlines()
    kinds = GraphServer(AsyncClient.over(kinds_service))
    found = [
        called(kinds, "get_statements", entity_id=one.head, property_id=one.relation, details=True)
        for one in sample_statements()
        if one.references
    ]
    assert found
    for text, data in found:
        assert any(group for item in data["items"] for group in item["references"])
        assert "\n  reference 1 " in text
