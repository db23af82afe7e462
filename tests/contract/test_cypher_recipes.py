"""The recipes of docs/how-to/cypher.md, run on a real Neo4j: each query returns what the page shows."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path

import neo4j
import pytest
from neo4j_server import Neo4jServer

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
