"""The recipes of docs/how-to/cypher.md, run on a real Neo4j: each query returns what the page shows."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest
from neo4j_server import Neo4jServer

from graph_service.store.neo4j.schema import STATEMENT_TYPE
from graph_service.store.protocol import Store
from loaders.load import load
from queries.datasets.demo_set import demo_slice

pytestmark = pytest.mark.neo4j

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "cypher.md"
RECIPE = re.compile(r"```cypher\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def graph(neo4j_store: Store) -> Iterator[str]:
    name = f"recipes-{uuid.uuid4().hex}"
    load(demo_slice(), store=neo4j_store, graph=name)
    yield name
    neo4j_store.delete_graph(name)


def test_each_recipe_returns_what_the_page_shows(neo4j_server: Neo4jServer, graph: str) -> None:
    recipes = RECIPE.findall(PAGE.read_text())
    assert len(recipes) == PAGE.read_text().count("```cypher") > 8
    returned = []
    password = neo4j_server.password
    auth = (neo4j_server.username or "", password) if password else None
    with neo4j.GraphDatabase.driver(neo4j_server.url, auth=auth) as driver:
        try:
            for query, _ in recipes:
                rows = driver.execute_query(
                    query, {"graph": graph}, database_=neo4j_server.database
                ).records
                returned.append("".join(" | ".join(map(str, row)) + "\n" for row in rows))
        finally:
            for end in ("MATCH (v:MyVector) DELETE v", "DROP INDEX my_vectors IF EXISTS"):
                driver.execute_query(end, database_=neo4j_server.database)
    assert returned == [shown for _, shown in recipes]


@pytest.fixture(scope="module")
def driver(neo4j_server: Neo4jServer) -> Iterator[neo4j.Driver]:
    auth = (neo4j_server.username or "", neo4j_server.password or "")
    with neo4j.GraphDatabase.driver(neo4j_server.url, auth=auth) as opened:
        yield opened


def test_the_style_of_the_browser_names_each_relationship_type(
    driver: neo4j.Driver, graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [recipe] = re.findall(r"```python\n(import json.*?)```", PAGE.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(recipe, {"driver": driver})
    style = json.loads((tmp_path / "graph.grass").read_text())
    assert style["relationship.P26"] == {"caption": "spouse (P26)"}
    query = "MATCH (:Entity)-[r]->() WHERE r.key IS NOT NULL RETURN DISTINCT type(r) AS type"
    types = {row["type"] for row in driver.execute_query(query).records} - {STATEMENT_TYPE}
    assert {f"relationship.{type_}" for type_ in types} <= style.keys()


def test_the_search_phrase_of_bloom_returns_paths_of_an_entity(
    driver: neo4j.Driver, graph: str
) -> None:
    """Bloom itself is not run: this is the query that the page gives it."""
    [phrase] = re.findall(r"`about \$name`:\n\n((?:    .*\n)+)", PAGE.read_text())
    rows = driver.execute_query(
        phrase.replace("'demo'", f"'{graph}'"), {"name": "Maria Shriver"}
    ).records
    paths = [row["path"] for row in rows]
    assert {path.start_node["label"] for path in paths} == {"Maria Shriver"}
    assert "Arnold Schwarzenegger" in {path.end_node["label"] for path in paths}
