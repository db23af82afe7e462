"""The recipes of docs/how-to/cypher.md for neo4j-graphrag, run with a model that returns one query (B1)."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest
from neo4j_graphrag.embeddings.base import Embedder
from neo4j_graphrag.llm import LLMInterface, LLMResponse
from neo4j_server import Neo4jServer

from graph_service.store.protocol import Store
from loaders.load import load
from queries.datasets.demo_set import demo_slice

pytestmark = pytest.mark.neo4j

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "cypher.md").read_text()
RECIPES = re.findall(r"```python\n(from neo4j_graphrag.*?)```", PAGE, re.DOTALL)


class Model(LLMInterface):
    """Returns the query of the page's example, and keeps the prompts."""

    def __init__(self) -> None:
        super().__init__(model_name="model")
        self.prompts: list[str] = []

    def invoke(self, input: str, *given: Any, **named: Any) -> LLMResponse:
        """Returns the query."""
        self.prompts.append(input)
        found = re.search(r"QUERY: (MATCH .*? RETURN b\.label)", input, re.DOTALL)
        assert found is not None
        return LLMResponse(content=found[1])

    async def ainvoke(self, input: str, *given: Any, **named: Any) -> LLMResponse:
        """Returns the query."""
        return self.invoke(input)


class Embedded(Embedder):
    """Gives each text the vector of Maria Shriver."""

    def embed_query(self, text: str) -> list[float]:
        """Returns a vector."""
        return [1.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def graph(neo4j_store: Store) -> Iterator[str]:
    name = f"graphrag-{uuid.uuid4().hex}"
    load(demo_slice(), store=neo4j_store, graph=name)
    yield name
    neo4j_store.delete_graph(name)


@pytest.fixture
def driver(neo4j_server: Neo4jServer) -> Iterator[neo4j.Driver]:
    auth = (neo4j_server.username or "", neo4j_server.password or "")
    with neo4j.GraphDatabase.driver(neo4j_server.url, auth=auth) as made:
        yield made


def made_by(recipe: str, graph: str, **names: Any) -> Any:
    """Returns the retriever that a recipe makes, for a graph of the test's own."""
    exec(recipe.replace("'demo'", f"'{graph}'"), names)
    return names["retriever"]


def test_a_model_writes_queries_by_the_schema_given(driver: neo4j.Driver, graph: str) -> None:
    model = Model()
    retriever = made_by(RECIPES[0], graph, driver=driver, llm=model)
    found = retriever.search(query_text="Who is Maria Shriver's husband?")
    assert ["Arnold Schwarzenegger" in item.content for item in found.items] == [True]
    assert "(:Entity {graph: STRING, id: STRING, label: STRING})" in model.prompts[0]


def test_vectors_of_ones_own_lead_to_statements(driver: neo4j.Driver, graph: str) -> None:
    queries = re.findall(r"```cypher\n(.*?)```", PAGE, re.DOTALL)
    try:
        for query in queries[-2:]:
            driver.execute_query(query, {"graph": graph})
        driver.execute_query("CALL db.awaitIndexes(60)")
        retriever = made_by(
            RECIPES[1].replace('STATEMENTS)', 'STATEMENTS, embedder=embedder)'),
            graph, driver=driver, embedder=Embedded(),
        )  # fmt: skip
        found = retriever.search(query_text="Maria", top_k=1)
        texts = [item.content for item in found.items]
        assert any("(Maria Shriver | spouse | Arnold Schwarzenegger)" in text for text in texts)
        assert all("Maria Shriver | " in text for text in texts)
    finally:
        driver.execute_query("MATCH (v:MyVector) DELETE v")
        driver.execute_query("DROP INDEX my_vectors IF EXISTS")
