"""The MCP server's tools: what they answer within a budget, from here and by a service (B1)."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from demo_graph import ARNOLD, AURELIA, MARIA, QUESTION
from mcp import Client, MCPError
from mcp_calls import MOST_TOOL_BYTES, RESEARCH, TOOLS, asked, called, refused
from served import served

from graph_service import Service
from graph_service.client import AsyncClient
from graph_service.errors import StoreUnavailableError
from graph_service.mcp.budget import count_tokens
from graph_service.mcp.server import GraphServer, Profile
from graph_service.mcp.shapes import answer_line, cuts_of
from graph_service.model.answer import AnswerKind
from graph_service.model.limits import Cut, CutReason
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Answer, RetrievalResult, Status, Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.server.options import ServerOptions

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "mcp.md"


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
        f"[{ARNOLD}, mother: Aurelia Schwarzenegger] [{MARIA}, spouse: Arnold Schwarzenegger] "
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


def test_the_line_of_an_answer_says_whether_it_is_sure() -> None:
    count = Answer(AnswerKind.COUNT, "7")
    assert answer_line(count, is_sure=True).startswith("Answer (count): 7")
    assert answer_line(count, is_sure=False).startswith("Answer, not sure (count): 7")


def test_nothing_found_is_an_answer_that_says_what_to_do(server: GraphServer) -> None:
    text, data = called(server, "retrieve", question="What is a zorblax?")
    assert (data["status"], data["items"]) == ("no-entity-linked", [])
    assert "search_items" in data["advice"]
    assert data["advice"] in text
    # First of all, so that no reader takes what follows for sure.
    assert text.splitlines()[0] == f"Status: no-entity-linked. {data['advice']}"


def test_each_of_several_questions_says_how_it_was_read(server: GraphServer) -> None:
    unknown = "What was the blood type of Jacqueline Kennedy Onassis?"
    text, data = called(server, "retrieve", question=unknown)
    assert data["status"] == "not-in-graph"
    assert f"\nRead as: {data['read_as']}\n" in text
    text, data = called(server, "retrieve", question=f"{QUESTION} {unknown}")
    first, second = (part["read_as"] for part in data["parts"])
    lines = text.splitlines()
    assert lines.index(f"  Read as: {first}") < lines.index(f"  Read as: {second}")
    assert lines[lines.index(f"  Read as: {second}") - 1].startswith("Question 2: ")


def test_retrieve_gives_its_query_in_cypher_and_sparql_on_request(server: GraphServer) -> None:
    text, data = called(server, "retrieve", question=QUESTION)
    assert not {"cypher", "sparql"} & set(data)
    assert "SPARQL" not in text
    text, data = called(server, "retrieve", question=QUESTION, code=True)
    assert data["cypher"].startswith("MATCH (g:Graph {name: 'demo'})")
    assert "SELECT DISTINCT ?x WHERE {" in data["sparql"]
    for name in ("cypher", "sparql"):
        assert " ".join(data[name].splitlines()) in text
    two = f"{QUESTION} How many siblings does Maria Shriver have?"
    text, data = called(server, "retrieve", question=two, code=True)
    assert "count(DISTINCT answer)" in data["parts"][1]["cypher"]
    assert text.count("\n  Cypher: ") == text.count("\n  SPARQL: ") == 2
    assert f"\nEntities: Maria Shriver ({MARIA})\n" in text


def test_the_texts_of_the_page_are_what_the_tools_answer(server: GraphServer) -> None:
    shown = re.findall(r"`(\{[^`]+\})`:\n\n```text\n(.+?)\n```", PAGE.read_text(), re.DOTALL)
    assert len(shown) == 3
    for arguments, expected in shown:
        given = json.loads(" ".join(arguments.split()))
        tool = "retrieve" if "question" in given else "get_statements"
        assert called(server, tool, **given)[0] == expected


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
