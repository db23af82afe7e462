"""The Haystack retriever in pipelines, blocking and not, and saved (B1)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from demo_graph import AURELIA, MARIA, QUESTION
from haystack import Pipeline
from haystack.components.builders import PromptBuilder
from haystack.utils import Secret
from served import served

from graph_service import Service
from graph_service.adapters.haystack import GraphServiceRetriever
from graph_service.errors import InputError
from graph_service.server.options import ServerOptions

TEMPLATE = "{% for one in documents %}{{ one.content }} {{ one.meta.citation }}\n{% endfor %}{{ question }}"


def filled(pipeline: Any, retriever: Any) -> Any:
    pipeline.add_component("retriever", retriever)
    pipeline.add_component(
        "prompt", PromptBuilder(TEMPLATE, required_variables=["documents", "question"])
    )
    pipeline.connect("retriever.documents", "prompt.documents")
    return pipeline


ASKED = {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}}


def test_it_stands_in_pipelines(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(service=demo_service, top_k=2)
    given = {"data": ASKED, "include_outputs_from": {"retriever"}}
    found = filled(Pipeline(), retriever).run(**given)
    documents = found["retriever"]["documents"]
    assert found["retriever"]["status"] == "ok"
    assert len(documents) == 2
    assert documents[0].id.startswith("demo@1//")
    assert documents[0].score == documents[0].meta["score"]
    assert documents[0].meta["path"][-1]["value_id"] == AURELIA
    assert documents[0].meta["provenance"]["edition"] == "demo@1"
    assert f"[{MARIA}, spouse: Arnold Schwarzenegger]" in found["prompt"]["prompt"]
    pipeline = filled(Pipeline(), GraphServiceRetriever(service=demo_service, top_k=2))
    assert asyncio.run(pipeline.run_async(**given)) == found


def test_a_saved_pipeline_asks_the_server_again(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_API_KEY", "secret")
    with served(demo_service, ServerOptions(api_key="secret")) as url:
        key = Secret.from_env_var("GRAPH_SERVICE_API_KEY")
        retriever = GraphServiceRetriever(url, api_key=key, graph="demo", top_k=2)
        saved = filled(Pipeline(), retriever).dumps()
        assert "secret" not in saved
        loaded = Pipeline.loads(saved, allowed_modules=["graph_service.adapters.haystack"])
        found = loaded.run(ASKED, include_outputs_from={"retriever"})
        near = GraphServiceRetriever(service=demo_service, top_k=2).run(QUESTION)
        assert found["retriever"] == near
    with pytest.raises(InputError, match="give url"):
        GraphServiceRetriever(service=demo_service).to_dict()


def test_nothing_found_has_a_status(demo_service: Service) -> None:
    retriever = GraphServiceRetriever(service=demo_service)
    assert retriever.run("What is a zorblax?") == {"documents": [], "status": "no-entity-linked"}
    telling = GraphServiceRetriever(service=demo_service, empty_document=True)
    (document,) = telling.run("What is a zorblax?")["documents"]
    assert document.meta["status"] == "no-entity-linked"
