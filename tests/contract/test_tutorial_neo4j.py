"""The tutorial's commands print the same with the graph in Neo4j, as the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from demo_graph import demo_settings
from neo4j_server import Neo4jServer
from tutorial_walk import PAGE, as_text, walk

from graph_service.settings import Settings
from graph_service.store.protocol import Store

__all__ = ["demo_settings"]
ROOT = Path(__file__).parents[2]
GRAPH = "family"
# What follows reads the same answers, and no more of the store.
SCORING = "## 7. Score the answers"


@pytest.mark.neo4j
def test_the_tutorial_prints_the_same_on_neo4j(
    neo4j_server: Neo4jServer,
    neo4j_store: Store,
    demo_settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    environment = {
        "GRAPH_SERVICE_STORE": neo4j_server.url,
        "NEO4J_USERNAME": neo4j_server.username or "",
        "NEO4J_PASSWORD": neo4j_server.password or "",
        "NEO4J_DATABASE": neo4j_server.database,
        # Other tests have graphs on this server. A reader's has one alone, which needs no name.
        "GRAPH_SERVICE_GRAPH": GRAPH,
    }
    try:
        found = walk(
            demo_settings, tmp_path, monkeypatch, capsys, environment=environment, until=SCORING
        )
    finally:
        if GRAPH in {info.name for info in neo4j_store.graphs()}:
            neo4j_store.delete_graph(GRAPH)
    assert found.done > 10
    assert not found.others, as_text(found.others)


def test_what_the_page_sets_for_neo4j_is_what_compose_starts() -> None:
    page = PAGE.read_text(encoding="utf-8")
    block = re.search(r"\*\*In Neo4j\*\*.*?```sh\n(.*?)```", page, re.DOTALL)
    assert block
    exported = dict(re.findall(r"^export (\w+)=(\S+)", block[1], re.MULTILINE))
    assert exported.keys() == {"GRAPH_SERVICE_STORE", "NEO4J_PASSWORD"}
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    address = exported["GRAPH_SERVICE_STORE"].removeprefix("bolt://")
    assert f'"{address}:7687"' in compose
    assert "${NEO4J_PASSWORD:" in compose
    assert re.search(r"^NEO4J_PASSWORD=$", (ROOT / ".env.example").read_text(), re.MULTILINE)
