"""The LlamaIndex retriever, alone and in a query engine with a model that repeats its prompt (B1)."""

from __future__ import annotations

import asyncio

from demo_graph import AURELIA, MARIA, QUESTION
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode
from served import served

from graph_service import Service
from graph_service.adapters.llamaindex import GraphServiceRetriever
from graph_service.model.result import Status
from graph_service.server.options import ServerOptions


def test_nodes_are_the_same_in_process_over_http_and_async(demo_service: Service) -> None:
    near = GraphServiceRetriever(service=demo_service, similarity_top_k=3).retrieve(QUESTION)
    with served(demo_service, ServerOptions(api_key="secret")) as url:
        far = GraphServiceRetriever(url, api_key="secret", similarity_top_k=3)
        assert far.retrieve(QUESTION) == near
        assert asyncio.run(far.aretrieve(QUESTION)) == near
        far.close()
    best = near[0]
    assert len(near) == 3
    assert best.score == best.metadata["score"]
    assert best.node_id.startswith("demo@1//")
    assert best.metadata["path"][-1]["value_id"] == AURELIA
    assert best.metadata["provenance"]["preset"] == "default-6"
    # What a model reads is the text and its citation.
    shown = best.node.get_content(MetadataMode.LLM)
    assert f"citation: [{MARIA}, spouse: Arnold Schwarzenegger]" in shown
    assert "provenance" not in shown
    assert best.node.get_content(MetadataMode.EMBED) == best.text


def test_it_stands_in_a_query_engine(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(service=demo_service, similarity_top_k=2)
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    for response in (engine.query(QUESTION), asyncio.run(engine.aquery(QUESTION))):
        # The model repeats what it is given.
        assert f"[{MARIA}, spouse: Arnold Schwarzenegger]" in str(response)
        assert QUESTION in str(response)
        assert len(response.source_nodes) == 2


def test_nothing_found_has_a_status(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(service=demo_service)
    assert retriever.retrieve("What is a zorblax?") == []
    assert retriever.ask("What is a zorblax?").status is Status.NO_ENTITY_LINKED
    assert asyncio.run(retriever.aask("What is a zorblax?")).documents == ()
    telling = GraphServiceRetriever(service=demo_service, empty_document=True)
    (node,) = telling.retrieve("What is a zorblax?")
    assert node.metadata["status"] == "no-entity-linked"
