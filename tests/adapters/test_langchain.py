"""The LangChain retriever: LangChain's own standard tests, and what its documents carry (B1)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from demo_graph import ARNOLD, MARIA, QUESTION
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests
from served import served

from graph_service import Service
from graph_service.adapters.langchain import GraphServiceRetriever
from graph_service.errors import GraphNotFoundError, InputError
from graph_service.model.result import Status
from graph_service.server.options import ServerOptions


class TestOverService(RetrieversIntegrationTests):
    """LangChain's tests of any retriever, as they are, in this process."""

    @pytest.fixture(autouse=True)
    def _service(self, demo_service: Service) -> None:
        self._params: dict[str, Any] = {"service": demo_service}

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return GraphServiceRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return self._params

    @property
    def retriever_query_example(self) -> str:
        return QUESTION


class TestOverHttp(TestOverService):
    """The same over HTTP."""

    @pytest.fixture(autouse=True)
    def _service(self, demo_service: Service) -> Iterator[None]:
        with served(demo_service, ServerOptions(api_key="secret")) as url:
            self._params = {"url": url, "api_key": "secret"}
            yield


def test_documents_carry_text_id_citation_score_path_and_provenance(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(service=demo_service, graph="demo", k=3)
    best, *others = retriever.invoke(QUESTION)
    assert best.page_content.startswith("Maria Shriver -[spouse]-> Arnold Schwarzenegger")
    assert (best.id or "").startswith("demo@1//")
    assert len({best.id, *(other.id for other in others)}) == 3
    told = best.metadata
    assert told["citation"].startswith(f"[{MARIA}, spouse: Arnold Schwarzenegger] ")
    assert told["score"] >= others[0].metadata["score"]
    assert [edge["subject_id"] for edge in told["path"]] == [MARIA, ARNOLD]
    assert told["status"] == "ok"
    assert told["provenance"]["edition"] == "demo@1"
    json.dumps(told)
    assert asyncio.run(retriever.ainvoke(QUESTION)) == retriever.invoke(QUESTION)


def test_nothing_found_has_a_status(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(service=demo_service)
    assert retriever.invoke("What is a zorblax?") == []
    assert retriever.ask("What is a zorblax?").status is Status.NO_ENTITY_LINKED
    assert asyncio.run(retriever.aask("What is a zorblax?")).documents == ()
    telling = GraphServiceRetriever(service=demo_service, empty_document=True)
    (document,) = telling.invoke("What is a zorblax?")
    assert document.metadata["status"] == "no-entity-linked"
    assert document.metadata["path"] == []
    assert "names" in document.page_content


def test_views_and_options_are_asked_for(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(
        service=demo_service, view="ed:0.5:1", strategy="triplets", options={"preset": "ltgen"}
    )
    provenance = retriever.ask(QUESTION).result.provenance
    assert (provenance.strategy, provenance.preset) == ("triplets", "ltgen-1")
    assert provenance.view_id
    with pytest.raises(GraphNotFoundError):
        GraphServiceRetriever(service=demo_service, graph="nope").invoke(QUESTION)
    with pytest.raises(InputError, match="triplets, paths, subgraph"):
        GraphServiceRetriever(service=demo_service, strategy="trees")
    with pytest.raises(InputError, match="either url"):
        GraphServiceRetriever()


def test_it_stands_in_a_chain(demo_service: Service) -> None:
    prompts = []

    def answer(prompt: Any) -> str:
        prompts.append(prompt.to_string())
        return "Aurelia"

    def written(documents: list[Any]) -> str:
        return "\n".join(f"{one.page_content} {one.metadata['citation']}" for one in documents)

    chain = (
        {
            "statements": GraphServiceRetriever(service=demo_service, k=2) | written,
            "question": RunnablePassthrough(),
        }
        | ChatPromptTemplate.from_template("{statements}\n\n{question}")
        | RunnableLambda(answer)
        | StrOutputParser()
    )
    assert chain.invoke(QUESTION) == "Aurelia"
    assert f"[{MARIA}, spouse: Arnold Schwarzenegger]" in prompts[0]
    assert prompts[0].endswith(QUESTION)
