"""The MCP server: its tools, budget and errors; over stdio and HTTP with the SDK's own client (B1)."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from cli_runs import Cli
from demo_graph import ARNOLD, AURELIA, MARIA, QUESTION, SPOUSE, copy_store
from graphs import load_graph, sample_statements
from made_keys import made_key
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from served import served
from waiting import PATIENCE_S
from waiting import wait_until as until

from graph_service import Service, open_service
from graph_service.client import AsyncClient
from graph_service.errors import StoreUnavailableError
from graph_service.mcp.budget import count_tokens
from graph_service.mcp.server import GraphServer, Profile
from graph_service.mcp.shapes import cuts_of
from graph_service.model.limits import Cut, CutReason
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, Status, Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.server.app import ServerOptions
from graph_service.server.key_file import revoke_key
from graph_service.settings import Settings
from loaders.passages.load import PassageOptions, load_passages

TOOLS = ["search_items", "get_statements", "describe_graph", "retrieve"]
RESEARCH = ["compare", "list_views", "search_passages"]
MOST_TOOL_BYTES = 8_000
T = dict[str, Any]


def asked(server: Any, use: Callable[[Any], Awaitable[Any]]) -> Any:
    """Returns what a function gets of a client of the server."""

    async def run() -> Any:
        async with Client(server) as client:
            return await use(client)

    return asyncio.run(run())


def called(server: Any, tool: str, **arguments: Any) -> tuple[str, T]:
    """Returns the text and the structured content of a tool's answer."""
    result = asked(server, lambda client: client.call_tool(tool, arguments))
    assert not result.is_error, result.content
    assert [block.type for block in result.content] == ["text"]
    return result.content[0].text, result.structured_content


def refused(server: Any, tool: str, **arguments: Any) -> str:
    """Returns what a tool's error says."""
    result = asked(server, lambda client: client.call_tool(tool, arguments))
    assert result.is_error
    text: str = result.content[0].text
    return text


@pytest.fixture(scope="module")
def server(demo_service: Service) -> GraphServer:
    return GraphServer(AsyncClient.over(demo_service, writable=False))


@pytest.fixture(scope="module")
def research(demo_service: Service) -> GraphServer:
    client = AsyncClient.over(demo_service, writable=False)
    return GraphServer(client, profile=Profile.RESEARCH)


def test_the_default_profile_has_four_tools_in_few_bytes(
    server: GraphServer, research: GraphServer
) -> None:
    listed = asked(server, lambda client: client.list_tools())
    assert [tool.name for tool in listed.tools] == TOOLS
    assert len(json.dumps(listed.model_dump(mode="json", by_alias=True, exclude_none=True))) < (
        MOST_TOOL_BYTES
    )
    assert not any("view" in tool.input_schema["properties"] for tool in listed.tools)
    assert "'view'" in refused(server, "retrieve", question=QUESTION, view="ed:0.5:1")
    tools = asked(research, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOLS + RESEARCH
    assert all("view" in tool.input_schema["properties"] for tool in tools[: len(TOOLS)])


def test_every_tool_only_reads_and_tells_what_it_answers(research: GraphServer) -> None:
    for tool in asked(research, lambda client: client.list_tools()).tools:
        assert tool.annotations.read_only_hint is True
        assert tool.description
        assert not re.search(r"\n ", tool.description)
        assert {"truncated", "tokens"} <= set(tool.output_schema["properties"])
        assert tool.input_schema["properties"]["token_budget"]["default"] == 8000


def test_retrieve_tells_which_constraints_are_not_met(server: GraphServer) -> None:
    question = "Which child of Eunice Kennedy Shriver was born in {}?"
    text, data = called(server, "retrieve", question=question.format(1930))
    assert data["unmet"] == ["in 1930"]
    assert "\nNot met: in 1930\n" in text
    text, data = called(server, "retrieve", question=question.format(1955))
    assert data["unmet"] == []
    assert "Not met" not in text


def test_retrieve_gives_ids_scores_and_citations(server: GraphServer) -> None:
    text, data = called(server, "retrieve", question=QUESTION, limit=2)
    assert data["status"] == "ok"
    assert [one["id"] for one in data["linked"]] == [MARIA]
    best = data["items"][0]
    assert best["text"] == (
        "Maria Shriver -[spouse]-> Arnold Schwarzenegger -[mother]-> Aurelia Schwarzenegger"
    )
    assert best["citation"] == (
        f"[{MARIA}, spouse: Arnold Schwarzenegger] [{ARNOLD}, mother: Aurelia Schwarzenegger]"
    )
    assert [edge["subject_id"] for edge in best["statements"]] == [MARIA, ARNOLD]
    assert [edge["value_id"] for edge in best["statements"]] == [ARNOLD, AURELIA]
    assert all(edge["statement_id"] for edge in best["statements"])
    assert best["score"] >= data["items"][1]["score"]
    assert data["provenance"] == {
        "graph": "demo", "edition": "demo@1", "strategy": "paths", "preset": "default-6"
    }  # fmt: skip
    assert data["answer"]["item_ids"] == [AURELIA]
    assert 0.6 < data["confidence"] <= 1
    # The answer comes first, with what it rests on.
    lines = text.splitlines()
    cited = (
        f"[{MARIA}, spouse: Arnold Schwarzenegger] [{ARNOLD}, mother: Aurelia Schwarzenegger] "
        f"[{ARNOLD}, sex or gender: male]"
    )
    assert lines[:3] == [
        f"Answer (entities): Aurelia Schwarzenegger {cited}",
        f"Entities: Maria Shriver ({MARIA})",
        f"Confidence: {data['confidence']:.2f}",
    ]
    assert f"{best['score']:g} {best['text']} {best['citation']}" in lines


@pytest.mark.parametrize("strategy", ["triplets", "subgraph"])
def test_the_other_strategies_give_statements(server: GraphServer, strategy: str) -> None:
    _, data = called(server, "retrieve", question=QUESTION, strategy=strategy)
    assert data["provenance"]["strategy"] == strategy
    assert {len(item["statements"]) for item in data["items"]} == {1}
    assert any(item["citation"].startswith(f"[{MARIA}, ") for item in data["items"])


def test_nothing_found_is_an_answer_that_says_what_to_do(server: GraphServer) -> None:
    text, data = called(server, "retrieve", question="What is a zorblax?")
    assert (data["status"], data["items"]) == ("no-entity-linked", [])
    assert "search_items" in data["advice"]
    assert data["advice"] in text


def test_a_budget_leaves_out_whole_items_and_says_so(server: GraphServer) -> None:
    given = {"question": QUESTION, "limit": 30}
    _, whole = called(server, "retrieve", **given, token_budget=50_000)
    assert len(whole["items"]) == 30
    assert whole["truncated"] == []
    text, data = called(server, "retrieve", **given, token_budget=1500)
    shown = len(data["items"])
    assert 0 < shown < len(whole["items"])
    assert data["items"] == whole["items"][:shown]
    assert data["truncated"] == [
        {"what": "items", "reason": CutReason.TOKEN_BUDGET.value, "limit": 1500,
         "kept": shown, "total": len(whole["items"])}
    ]  # fmt: skip
    assert "token_budget" in text.splitlines()[-1]
    # What the client gets, as it would give it to a model.
    result = asked(
        server, lambda client: client.call_tool("retrieve", {**given, "token_budget": 1500})
    )
    sent = result.model_dump_json(include={"structured_content"}) + result.content[0].text
    assert data["tokens"] <= 1500
    assert count_tokens(sent) <= 1500


def test_the_default_budget_holds_for_the_largest_answers(research: GraphServer) -> None:
    for tool, arguments in {
        "retrieve": {"question": QUESTION, "limit": 100},
        "compare": {"question": QUESTION, "views": ["ed:0.5:1", "rr:0.5:1"], "limit": 100},
    }.items():
        text, data = called(research, tool, **arguments)
        assert data["tokens"] <= 8000
        assert data["tokens"] >= count_tokens(text)
        assert any(cut["reason"] == CutReason.TOKEN_BUDGET.value for cut in data["truncated"])
        assert "token_budget" in text


def test_what_nobody_misses_is_not_said(server: GraphServer) -> None:
    """The best of many items, and what a search passes over, are no loss."""
    text, data = called(server, "retrieve", question=QUESTION, limit=1)
    assert data["truncated"] == []
    assert "Cut short" not in text


def test_an_answer_that_may_lack_a_part_says_so(demo_service: Service) -> None:
    result = demo_service.retrieve(RetrieveRequest(question=QUESTION, strategy=Strategy.PATHS))
    assert result.answer is not None
    assert not result.answer.truncated
    items, hubs, late = (
        Cut("items", CutReason.LIMIT, 10, 10, 20),
        Cut("hubs", CutReason.HUB, 100, 0, 3),
        Cut("embedded", CutReason.DEADLINE, 5, 5, 9),
    )
    edges = Cut("edges", CutReason.LIMIT, 100, 100, 900)
    cut = replace(result, truncated=(items, hubs, edges, late))

    def told(result: RetrievalResult) -> list[tuple[str, str]]:
        return [(one.what, one.reason) for one in cuts_of(result)]

    assert told(cut) == [("embedded", "deadline")]
    unsure = replace(cut, answer=replace(result.answer, truncated=True))
    assert told(unsure) == [("items", "limit"), ("embedded", "deadline")]
    nothing = replace(cut, status=Status.NOTHING_RELEVANT, answer=None)
    assert told(nothing) == [("edges", "limit"), ("embedded", "deadline")]


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


def test_compare_tells_what_a_view_lost(research: GraphServer) -> None:
    question = "Who is Maria Shriver's husband?"
    text, data = called(
        research, "compare", question=question, views=["ed:0.5:1"], strategy="triplets", limit=2
    )
    base, view = data["items"]
    assert (base["view"], view["view"]) == ("base", "ed:0.5:1")
    assert "view_id" not in base
    assert view["lost"]
    assert f"ed:0.5:1: ok, lost {len(view['lost'])}" in text


def test_stored_views_are_listed_and_asked_by_name(own_service: Service) -> None:
    own_service.views.create(ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=1), name="half")
    client = AsyncClient.over(own_service)
    server = GraphServer(client, graph="demo", profile=Profile.RESEARCH)
    _, data = called(server, "list_views")
    (view,) = data["items"]
    assert (view["name"], view["method"], view["level"]) == ("half", "edge-deletion", 0.5)
    _, found = called(server, "retrieve", question=QUESTION, view="half")
    assert found["provenance"]["view_id"] == view["view_id"]


def test_errors_are_plain_words_that_a_model_can_act_on(research: GraphServer) -> None:
    assert "this store has: demo" in refused(research, "retrieve", question=QUESTION, graph="x")
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
        assert f"'{wrong}' (did you mean entity_ids?)" in told
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


def test_graphs_and_items_are_resources(server: GraphServer) -> None:
    async def read(client: Any) -> Any:
        listed = (await client.list_resources()).resources
        item = await client.read_resource(f"graph://demo/{MARIA}")
        return listed, await client.read_resource(listed[0].uri), item

    listed, graph, item = asked(server, read)
    assert [one.uri for one in listed] == ["graph://demo"]
    assert '"statements":1156' in graph.contents[0].text
    assert '"label":"Maria Shriver"' in item.contents[0].text

    async def lacking(client: Any) -> None:
        for uri in ("graph://nope", "graph://demo/Q1"):
            with pytest.raises(MCPError, match="no graph|no item"):
                await client.read_resource(uri)

    asked(server, lacking)


def test_the_prompt_asks_for_citations(server: GraphServer) -> None:
    arguments = {"question": QUESTION, "graph": "demo"}
    found = asked(server, lambda client: client.get_prompt("answer_with_citations", arguments))
    text = found.messages[0].content.text
    assert QUESTION in text
    assert "citation" in text
    assert "'demo'" in text


def test_a_server_is_asked_as_the_store_is(server: GraphServer, demo_service: Service) -> None:
    async def through(url: str, api_key: str) -> Any:
        far = AsyncClient.connect(url, api_key=api_key)
        try:
            async with Client(GraphServer(far)) as client:
                return await client.call_tool("retrieve", {"question": QUESTION})
        finally:
            await far.close()

    _, near = called(server, "retrieve", question=QUESTION)
    with served(demo_service, ServerOptions(api_key="secret")) as url:
        assert asyncio.run(through(url, "secret")).structured_content == near
        result = asyncio.run(through(url, "other"))
        assert result.is_error
        assert "API key" in result.content[0].text


def test_calls_over_http_are_not_told_of_files(own_service: Service) -> None:
    async def gone() -> None:
        raise StoreUnavailableError("can't open /secret/graph.db")

    for masked in (False, True):
        client = AsyncClient.over(own_service)
        client.graphs = gone  # type: ignore[method-assign,assignment]
        told = refused(GraphServer(client, masked=masked), "describe_graph")
        assert ("/secret" in told) is not masked


# The command


COMMAND = ["-m", "graph_service.cli", "mcp"]


@pytest.fixture(scope="module")
def demo_copy(demo_file: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    return copy_store(demo_file, tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="module")
def environment(demo_copy: str, demo_settings: Settings) -> dict[str, str]:
    return {
        **os.environ,
        "GRAPH_SERVICE_STORE": demo_copy,
        "GRAPH_SERVICE_VECTORS": demo_settings.vectors,
    }


def test_stdio_carries_nothing_but_the_protocol(environment: dict[str, str]) -> None:
    parameters = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment)

    async def use(client: Any) -> Any:
        tools = await client.list_tools()
        return tools, await client.call_tool("retrieve", {"question": QUESTION})

    tools, result = asked(stdio_client(parameters), use)
    assert [tool.name for tool in tools.tools] == TOOLS
    assert result.structured_content["status"] == "ok"


@contextmanager
def http_server(environment: dict[str, str], *options: str) -> Iterator[str]:
    """Serves over HTTP until the block ends, and gives the address."""

    def is_up(url: str) -> bool:
        try:
            httpx.get(url)
        except httpx.ConnectError:
            return False
        return True

    process = subprocess.Popen(
        [sys.executable, *COMMAND, "--http", "127.0.0.1:0", *options],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(r"MCP on (http://\S+);", line):
                # It says where before it listens there.
                until(lambda: is_up(found[1]))
                yield found[1]
                break
        else:
            pytest.fail("the server did not start")
    finally:
        process.kill()
        process.communicate()


INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}}  # fmt: skip


def test_http_answers_its_own_names_and_pages_alone(environment: dict[str, str]) -> None:
    options = ("--allow-host", "graphs.example", "--allow-origin", "https://page.example")
    with http_server(environment, *options) as url:
        _, data = called(url, "retrieve", question=QUESTION)
        assert data["status"] == "ok"

        def status(**headers: str) -> int:
            accept = {"accept": "application/json, text/event-stream"}
            return httpx.post(url, json=INITIALIZE, headers={**accept, **headers}).status_code

        own = url.removesuffix("/mcp")
        assert status() == 200
        assert status(host="localhost:1") == 200
        assert status(host="graphs.example") == 200
        assert status(host="evil.example") == 421
        assert status(origin=own) == 200
        assert status(origin="https://page.example") == 200
        assert status(origin="https://evil.example") == 403
        assert status(origin="http://127.0.0.1:1") == 403


def test_http_asks_for_the_key(environment: dict[str, str]) -> None:
    with http_server({**environment, "GRAPH_SERVICE_API_KEY": "sésame"}) as url:

        def answer(authorization: str = "") -> httpx.Response:
            headers = {
                b"accept": b"application/json, text/event-stream",
                b"authorization": authorization.encode(),
            }
            return httpx.post(url, json=INITIALIZE, headers=headers)

        for refused_ in (answer(), answer("Bearer other")):
            assert refused_.status_code == 401
            assert refused_.headers["www-authenticate"].startswith("Bearer realm=")
            assert "Authorization: Bearer KEY" in refused_.text
        assert answer("Bearer sésame").status_code == 200


def accepted(url: str, token: str = "", **headers: str) -> httpx.Response:
    """Returns what the server answers to a request that begins a session."""
    given = {"accept": "application/json, text/event-stream", **headers}
    if token:
        given["authorization"] = f"Bearer {token}"
    return httpx.post(url, json=INITIALIZE, headers=given)


def pinged(url: str, opened: httpx.Response, token: str = "") -> int:
    """Returns the status of a ping in a session."""
    headers = {
        "accept": "application/json, text/event-stream",
        "mcp-session-id": opened.headers["mcp-session-id"],
        **({"authorization": f"Bearer {token}"} if token else {}),
    }
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    return httpx.post(url, json=ping, headers=headers).status_code


def test_health_needs_no_key(environment: dict[str, str], demo_copy: str) -> None:
    with http_server({**environment, "GRAPH_SERVICE_API_KEY": "secret"}) as url:
        own = url.removesuffix("/mcp")
        for path, status in (("/health/live", "live"), ("/health/ready", "ready")):
            answer = httpx.get(own + path)
            assert (answer.status_code, answer.json()) == (200, {"status": status})
        assert accepted(url).status_code == 401
    with http_server(environment, "--server", "http://127.0.0.1:1") as url:
        own = url.removesuffix("/mcp")
        assert httpx.get(own + "/health/live").status_code == 200
        assert httpx.get(own + "/health/ready").status_code == 503


def test_the_oldest_idle_session_of_a_client_makes_room(
    environment: dict[str, str], tmp_path: Path
) -> None:
    keys = tmp_path / "keys.json"
    one, other = (made_key(keys, name) for name in ("one", "other"))
    options = ("--keys", str(keys), "--max-sessions-per-client", "2")
    with http_server(environment, *options) as url:
        others = accepted(url, other)
        first, second = accepted(url, one), accepted(url, one)
        assert pinged(url, first, one) == 200
        third = accepted(url, one)
        assert [pinged(url, it, one) for it in (first, second, third)] == [200, 404, 200]
        assert pinged(url, others, other) == 200


def test_a_client_whose_sessions_are_all_in_use_is_refused(environment: dict[str, str]) -> None:
    for option, status in (("--max-sessions-per-client", 429), ("--max-sessions", 503)):
        with http_server(environment, option, "1") as url:
            opened = accepted(url)
            headers = {
                "accept": "text/event-stream",
                "mcp-session-id": opened.headers["mcp-session-id"],
            }
            with httpx.stream("GET", url, headers=headers) as stream:
                assert stream.status_code == 200
                refused_ = accepted(url)
                assert refused_.status_code == status
                assert int(refused_.headers["retry-after"]) > 0
                assert pinged(url, opened) == 200
            # The server has to see that the stream has ended.
            until(lambda: accepted(url).status_code == 200)
            assert pinged(url, opened) == 404


def test_an_idle_session_ends(environment: dict[str, str]) -> None:
    with http_server(environment, "--session-idle", "0.05") as url:
        opened = accepted(url)
        pause_s = 0.05
        # Each ping is a use, so the pause between two must grow past the idle time.
        while pinged(url, opened) == 200:
            assert pause_s < 300
            time.sleep(pause_s)
            pause_s *= 2
        assert pinged(url, opened) == 404


def test_each_key_has_its_own_graphs(environment: dict[str, str], tmp_path: Path) -> None:
    """Also in the tools' errors, the resources, the default graph, and in another's session."""
    keys = tmp_path / "keys.json"
    tokens = {
        name: made_key(keys, name, graphs=frozenset({graph}), rate=0.1, max_cost=cost)
        for name, graph, cost in (("own", "demo", 100.0), ("other", "films", 100.0))
    }
    with http_server({**environment, "GRAPH_SERVICE_GRAPH": "demo"}, "--keys", str(keys)) as url:

        async def use(client: Any) -> Any:
            return (
                await client.call_tool("describe_graph", {"graph": None}),
                await client.call_tool("search_items", {"query": "Maria"}),
                await client.call_tool("describe_graph", {"graph": "demo"}),
                await client.call_tool("describe_graph", {"graph": "dema"}),
                await client.list_resources(),
                # 0.1 comes back in a second.
                [await client.call_tool("retrieve", {"question": QUESTION}) for _ in range(2)],
            )

        def seen_by(name: str) -> Any:
            async def run() -> Any:
                headers = {"Authorization": f"Bearer {tokens[name]}"}
                async with (
                    create_mcp_http_client(
                        headers=headers, timeout=httpx2.Timeout(PATIENCE_S)
                    ) as http,
                    Client(streamable_http_client(url, http_client=http)) as client,
                ):
                    return await use(client)

            return asyncio.run(run())

        listed, found, views, _, resources, asked_ = seen_by("own")
        assert listed.structured_content["graphs"] == ["demo"]
        assert found.structured_content["items"]
        assert not views.is_error
        assert [one.name for one in resources.resources] == ["demo"]
        assert not any(one.is_error for one in asked_)
        listed, found, views, never, resources, _ = seen_by("other")
        assert listed.structured_content["graphs"] == resources.resources == []
        for one in (found, views, never):
            assert one.is_error
        assert "demo" not in found.content[0].text
        assert views.content[0].text.replace("demo", "dema") == never.content[0].text

        def post(token: str, body: T, **headers: str) -> httpx.Response:
            accept = {"accept": "application/json, text/event-stream"}
            named = {key.replace("_", "-"): value for key, value in headers.items()}
            authorization = {"authorization": f"Bearer {token}"}
            return httpx.post(url, json=body, headers={**accept, **authorization, **named})

        session = post(tokens["own"], INITIALIZE).headers["mcp-session-id"]
        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        assert post(tokens["own"], ping, mcp_session_id=session).status_code == 200
        assert post(tokens["other"], ping, mcp_session_id=session).status_code == 404
        revoke_key(keys, "own")
        assert post(tokens["own"], ping, mcp_session_id=session).status_code == 401


def test_the_command_says_what_is_wrong(demo_cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    run = demo_cli("mcp", "--http", "8001")
    assert run.code == 2
    assert "HOST:PORT" in run.err
    run = demo_cli("mcp", "--http", "0.0.0.0:0")
    assert run.code == 4
    assert "--insecure" in run.err
    run = demo_cli("mcp", "--server", "http://127.0.0.1:1", "--store", "sqlite:///x.db")
    assert run.code == 2
    monkeypatch.setattr("graph_service.cli.mcp_serving.find_spec", lambda name: None)
    run = demo_cli("mcp")
    assert run.code == 4
    assert "pip install 'graph-service[mcp]'" in run.err
