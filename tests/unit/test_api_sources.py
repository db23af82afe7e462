"""Clients learn what a graph was loaded from by the names of files, never where they lie."""

from __future__ import annotations

import asyncio
import json
import platform
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from mcp import Client

from graph_service import open_service
from graph_service.api.schema import execute
from graph_service.client import AsyncClient
from graph_service.mcp.server import GraphServer
from graph_service.model.source_names import source_name, with_source_names
from graph_service.store import open_store

NAMED = "{ name text }"
EVERYTHING = f"""{{
  graphs {{ nodes {{
    name source options {NAMED} report {NAMED}
    unfinishedLoad {{ source owner }}
  }} }}
  passageSets(graph: "g") {{ source options {NAMED} report {NAMED} }}
  items(graph: "g", itemIds: ["http://e/a"]) {{ pageViews {{ source }} }}
  passages(graph: "g", query: "Ada", by: WORDS) {{ items {{ passage {{ source title }} }} }}
}}"""


@pytest.fixture
def store(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = f"sqlite:///{tmp_path}/graph.db"
    monkeypatch.setenv("GRAPH_SERVICE_STORE", url)
    files = {
        "graph.tsv": "http://e/a\thttp://e/b\thttp://e/c\nrejected\n",
        "labels.tsv": "http://e/a\tAda\n",
        "types.tsv": "http://e/a\thttp://e/Person\n",
        "texts.tsv": "http://e/a\tmathematician\n",
        "only.txt": "http://e/a\nhttp://e/c\n",
        "notes.txt": "Ada wrote a program.\n",
        "views.tsv": "http://e/a\t2024-01\t5\n",
    }
    at = {name: str(tmp_path / name) for name in files}
    for name, text in files.items():
        Path(at[name]).write_text(text)
    beside: tuple[str, ...] = ("--label-file", at["labels.tsv"], "--type-file", at["types.tsv"])
    beside += ("--description-file", at["texts.tsv"], "--entities-file", at["only.txt"])
    columns = ("--columns", "head,relation,tail")
    rejects = ("--rejects-path", str(tmp_path / "rejects.jsonl"))
    loaded = cli("load", at["graph.tsv"], "--graph", "g", *columns, *beside, *rejects)
    assert loaded.code == 3, loaded.err
    assert cli("passages", "load", at["notes.txt"], "--graph", "g").code == 0
    loaded = cli("pageviews", "load", at["views.tsv"], "--graph", "g")
    assert loaded.code == 0, loaded.err
    with open_store(url) as opened:
        opened.begin_load("g", source=at["graph.tsv"], options={}, owner="my-host/1:2")
    return url


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in strings(part)]
    if isinstance(value, list):
        return [text for part in value for text in strings(part)]
    return [value] if isinstance(value, str) else []


def test_graphql_shows_names_of_files_and_no_folder(store: str, tmp_path: Path) -> None:
    with open_service(store) as service:
        response = execute(service, EVERYTHING)
    assert "errors" not in response, response["errors"]
    data = response["data"]
    shown = json.dumps(strings(data))
    assert data["graphs"]["nodes"][0]["source"] == "graph.tsv"
    assert data["graphs"]["nodes"][0]["unfinishedLoad"]["source"] == "graph.tsv"
    assert data["items"][0]["pageViews"]["source"] == "views.tsv"
    assert data["passageSets"][0]["source"] == "notes.txt"
    assert "labels.tsv" in shown
    assert "rejects.jsonl" in shown
    for hidden in (str(tmp_path), tmp_path.name, "my-host", platform.node()):
        assert hidden not in shown


def test_mcp_shows_names_of_files_and_no_folder(store: str, tmp_path: Path) -> None:
    async def listed(server: Any) -> Any:
        async with Client(server) as client:
            tool = await client.call_tool("list_graphs", {})
            resources = await client.list_resources()
            return repr(tool) + repr(resources) + repr(await client.read_resource("graph://g"))

    with open_service(store) as service:
        shown = asyncio.run(listed(GraphServer(AsyncClient.over(service))))
    assert "graph.tsv" in shown
    assert str(tmp_path) not in shown


def test_passages_are_deleted_by_the_name_that_clients_know(store: str) -> None:
    delete = 'mutation { deletePassages(input: {graph: "g", source: "notes.txt"}) { deleted } }'
    with open_service(store) as service:
        assert execute(service, delete, writable=True)["data"]["deletePassages"]["deleted"] == 1


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("/srv/dumps/films.nt", "films.nt"),
        ("/srv/dumps/", "dumps"),
        (r"C:\dumps\films.nt", "films.nt"),
        ("~/films.nt", "films.nt"),
        ("file:///srv/films.nt", "films.nt"),
        ("films.nt", "films.nt"),
        ("-", "-"),
        ("wikidata:Q42", "wikidata:Q42"),
        ("bolt://me:secret@10.0.0.7:7687", "neo4j"),
        ("neo4j+s://graph.internal", "neo4j"),
        ("https://me:secret@example.org/sparql", "https://example.org/sparql"),
    ],
)
def test_the_name_of_a_source(source: str, name: str) -> None:
    assert source_name(source) == name


def test_a_reason_names_files_without_folders() -> None:
    reason = "another document of http://e/a than at /srv/dumps/a.nt:3; /srv/b/c.nt:1"
    report = {"rejects": [{"file": "/srv/x/a.nt", "reason": reason}]}
    assert with_source_names(report) == {
        "rejects": [
            {"file": "a.nt", "reason": "another document of http://e/a than at a.nt:3; c.nt:1"}
        ]
    }
