"""Arguments of the MCP tools that are wrong, unknown or null, and the errors of them (B1)."""

from __future__ import annotations

import pytest
from demo_graph import MARIA, QUESTION, SPOUSE
from error_texts import check_line
from mcp_calls import T, asked, called, refused

from graph_service import Service
from graph_service.client import AsyncClient
from graph_service.mcp.server import GraphServer, Profile


@pytest.fixture(scope="module")
def server(demo_service: Service) -> GraphServer:
    return GraphServer(AsyncClient.over(demo_service, writable=False))


@pytest.fixture(scope="module")
def research(demo_service: Service) -> GraphServer:
    client = AsyncClient.over(demo_service, writable=False)
    return GraphServer(client, profile=Profile.RESEARCH)


def test_errors_are_plain_words_that_a_model_can_act_on(research: GraphServer) -> None:
    check_line(refused(research, "retrieve", question=QUESTION, graph="x"), "this store has: demo")
    assert "search_items" in refused(research, "get_statements", entity_id="Q1")
    assert "expected one of" in refused(research, "compare", question=QUESTION, views=["zz:0.1"])
    assert "expected one of" in refused(research, "retrieve", question=QUESTION, view="zz:0.1")
    assert "token_budget" in refused(research, "list_views", token_budget=5)
    assert "nothing" in refused(research, "nothing")


def test_null_stands_for_the_default_of_every_argument(research: GraphServer) -> None:
    tools = asked(research, lambda client: client.list_tools()).tools
    needed: T = {"question": QUESTION, "query": "Maria", "entity_id": MARIA, "property_id": SPOUSE}
    needed["views"] = ["ed:0.5:1"]
    for tool in tools:
        required = set(tool.input_schema.get("required", ()))
        given = {name: needed[name] for name in required}
        nulls = dict.fromkeys(set(tool.input_schema["properties"]) - required)
        assert (
            called(research, tool.name, **given, **nulls)[1]
            == (called(research, tool.name, **given)[1])
        )


def test_an_unknown_argument_is_refused_with_the_nearest_one(research: GraphServer) -> None:
    for tool in asked(research, lambda client: client.list_tools()).tools:
        assert tool.input_schema["additionalProperties"] is False
        assert "zorblax" in refused(research, tool.name, zorblax=1)
    for wrong in ("item_ids", "itemIds", "entityIds"):
        told = refused(research, "retrieve", question=QUESTION, **{wrong: [MARIA]})
        check_line(told, f"'{wrong}'", "entity_ids")
        assert "question, strategy" in told
    assert "did you mean" not in refused(research, "retrieve", question=QUESTION, zorblax="x")


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({}, "question is missing"),
        ({"question": None}, "question"),
        ({"question": QUESTION, "limit": 0}, "limit"),
        ({"question": QUESTION, "limit": "many"}, "limit"),
        ({"question": QUESTION, "strategy": "guess"}, "strategy"),
        ({"question": QUESTION, "entity_ids": [1]}, "entity_ids"),
    ],
)
def test_a_wrong_argument_is_named_in_words_of_ours(
    server: GraphServer, wrong: T, named: str
) -> None:
    told = refused(server, "retrieve", **wrong)
    assert named in told
    assert "pydantic" not in told
    assert "\n" not in told
