"""A server that answers the documents of a list alone."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from demo_graph import ARNOLD, MARIA, QUESTION
from error_texts import check_error, check_text, raises
from served import served
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.client import Client
from graph_service.client.documents import DOCUMENTS
from graph_service.client.http import Http
from graph_service.client.transport import unwrap
from graph_service.errors import DocumentNotFoundError, SetupError
from graph_service.model.passage import make_passage
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.server import explorer
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.server.trusted_documents import document_id, manifest_of, read_trusted

GRAPHS = "query Graphs { graphs { nodes { name } } }"
ITEM = "query Item($id: ID!) { item(itemId: $id) { label } }"
DELETE = 'mutation Delete { deleteGraph(input: {name: "none"}) { name } }'
SHA256 = hashlib.sha256(GRAPHS.encode()).hexdigest()
GRAPHQL = {"accept": "application/graphql-response+json"}
NAMES = {"data": {"graphs": {"nodes": [{"name": "demo"}]}}}


def written(path: Path, documents: object) -> Path:
    path.write_text(json.dumps(documents))
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, ...]:
    """As graphql-codegen writes them (SHA-1), relay-compiler (MD5), and the specification names."""
    return (
        written(tmp_path / "codegen.json", {"90cc98d91beff9e1a3ec9e4df5d0c5d8c2b8d6a1": GRAPHS}),
        written(tmp_path / "relay.json", {"b5a1c9": ITEM, document_id(DELETE): DELETE}),
    )


@pytest.fixture
def asked(demo_service: Service, files: tuple[Path, ...]) -> TestClient:
    options = ServerOptions(documents=files, writable=True)
    return TestClient(make_app(demo_service, options), base_url="http://localhost")


def answered(response: Any) -> Any:
    payload = response.json()
    payload.pop("extensions", None)
    return payload


@pytest.mark.parametrize(
    "body",
    [
        {"query": GRAPHS},
        {"documentId": "90cc98d91beff9e1a3ec9e4df5d0c5d8c2b8d6a1"},
        {"documentId": f"sha256:{SHA256}"},
        {"documentId": SHA256},
        {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": SHA256}}},
        {"query": None, "extensions": {"persistedQuery": {"sha256Hash": SHA256}}},
        {"query": "", "documentId": SHA256},
        {"query": GRAPHS, "documentId": SHA256, "operationName": "Graphs"},
        {"query": GRAPHS, "extensions": {"persistedQuery": {"sha256Hash": SHA256}}},
    ],
)
def test_a_document_of_the_list_is_named_in_any_way(
    asked: TestClient, body: dict[str, Any]
) -> None:
    assert answered(asked.post("/graphql", json=body)) == NAMES
    address = {
        key: value if isinstance(value, str) else json.dumps(value)
        for key, value in body.items()
        if value is not None
    }
    assert answered(asked.get("/graphql", params=address)) == NAMES


SECRET = "zorblax"


@pytest.mark.parametrize(
    "body",
    [
        {"query": f"{{ graphs {{ nodes {{ name {SECRET}: edition }} }} }}"},
        {"query": GRAPHS + " "},
        {"query": GRAPHS.replace(" { ", "{")},
        {"query": "{ __schema { types { name } } }"},
        {"query": "{ __typename }"},
        {"query": f"{SECRET} {{"},
        {"documentId": SECRET},
        {"documentId": f"sha256:{SHA256.upper()}"},
        {"documentId": ""},
        {"query": f"{{ {SECRET} }}", "extensions": {"persistedQuery": {"sha256Hash": SECRET}}},
        {"documentId": SECRET, "extensions": {"persistedQuery": {"sha256Hash": SECRET}}},
        {"query": ITEM, "documentId": SHA256},
        {"query": f"{{ {SECRET} }}", "documentId": SHA256},
        {"documentId": "b5a1c9", "extensions": {"persistedQuery": {"sha256Hash": SHA256}}},
        {},
        {"variables": {"a": SECRET}},
    ],
)
def test_anything_else_is_refused_without_an_echo(asked: TestClient, body: dict[str, Any]) -> None:
    for headers in ({}, GRAPHQL):
        response = asked.post("/graphql", json=body, headers=headers)
        assert response.status_code == 400
        payload = response.json()
        assert payload.keys() == {"errors"}
        (error,) = payload["errors"]
        assert error["extensions"]["code"] == "DOCUMENT_NOT_FOUND"
        assert SECRET not in response.text
        assert "did you mean" not in response.text.lower()


def test_what_is_no_request_stays_one(asked: TestClient) -> None:
    bodies: list[object] = [
        {"query": 5}, {"documentId": 5}, {"extensions": {"persistedQuery": 5}}, [],
    ]  # fmt: skip
    for body in bodies:
        response = asked.post("/graphql", json=body)
        assert response.status_code == 400
        assert response.json()["errors"][0]["extensions"]["code"] == "BAD_INPUT"


def test_variables_and_mutations_are_as_ever(asked: TestClient) -> None:
    body = {"documentId": "b5a1c9", "variables": {"id": ARNOLD}}
    assert answered(asked.post("/graphql", json=body)) == {
        "data": {"item": {"label": "Arnold Schwarzenegger"}}
    }
    response = asked.post("/graphql", json={"documentId": document_id(DELETE)})
    assert response.json()["errors"][0]["extensions"]["code"] == "GRAPH_NOT_FOUND"
    response = asked.get("/graphql", params={"documentId": document_id(DELETE)})
    assert response.status_code == 405


def test_browsers_see_no_page(asked: TestClient, demo_service: Service) -> None:
    html = {"accept": "text/html"}
    assert asked.get("/graphql", headers=html).status_code == 406
    open_ = TestClient(make_app(demo_service, ServerOptions()), base_url="http://localhost")
    assert open_.get("/graphql", headers=html).status_code == 200
    # Without a list an id stands for nothing.
    response = open_.post("/graphql", json={"documentId": SHA256})
    assert response.status_code == 400
    check_text(response.json()["errors"][0]["message"])  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"a": 1}',
        json.dumps({"a": GRAPHS, "b": "{ nothing }"}),
        json.dumps({"a": "query {"}),
        pytest.param(json.dumps({"a": "{ a }" * 30_000}), id="too long"),
    ],
)
def test_a_bad_list_says_what_is_wrong(tmp_path: Path, content: str) -> None:
    path = tmp_path / "list.json"
    path.write_text(content)
    with raises(SetupError):
        read_trusted([path])


def test_lists_are_one_and_do_not_contradict_each_other(
    tmp_path: Path, files: tuple[Path, ...]
) -> None:
    assert read_trusted(files).texts == {GRAPHS, ITEM, DELETE}
    assert read_trusted([*files, files[0]]).texts == {GRAPHS, ITEM, DELETE}
    other = written(tmp_path / "other.json", {"b5a1c9": GRAPHS})
    with pytest.raises(SetupError, match="another document 'b5a1c9'"):
        read_trusted([*files, other])
    with pytest.raises(SetupError, match="can't read"):
        read_trusted([tmp_path / "none.json"])


def apollo(*operations: object, version: object = 1) -> dict[str, Any]:
    """As ``@apollo/generate-persisted-query-manifest`` writes it."""
    format_ = "apollo-persisted-query-manifest"
    return {"format": format_, "version": version, "operations": list(operations)}


def test_a_manifest_of_apollos_is_read(demo_service: Service, tmp_path: Path) -> None:
    id_ = hashlib.sha256(GRAPHS.encode()).hexdigest()
    path = written(
        tmp_path / "persisted-query-manifest.json",
        apollo(
            {"id": id_, "name": "Graphs", "type": "query", "body": GRAPHS},
            {"id": "item-1", "name": "Item", "type": "query", "body": ITEM, "clientName": "web"},
        ),
    )
    app = make_app(demo_service, ServerOptions(documents=(path,)))
    asked = TestClient(app, base_url="http://localhost")
    # What createPersistedQueryLink sends with generatePersistedQueryIdsFromManifest.
    named = {"persistedQuery": {"version": 1, "sha256Hash": id_}}
    address = {"operationName": "Graphs", "variables": "{}", "extensions": json.dumps(named)}
    assert answered(asked.get("/graphql", params=address)) == NAMES
    named = {"persistedQuery": {"version": 1, "sha256Hash": "item-1"}}
    response = asked.post("/graphql", json={"variables": {"id": ARNOLD}, "extensions": named})
    assert answered(response) == {"data": {"item": {"label": "Arnold Schwarzenegger"}}}


@pytest.mark.parametrize(
    "manifest",
    [
        apollo(),
        apollo() | {"operations": {"a": GRAPHS}},
        apollo({"id": "a", "body": GRAPHS}, version=2),
        apollo({"id": "a", "name": "Graphs"}),
        apollo({"id": 5, "body": GRAPHS}),
        apollo("a"),
        apollo({"id": "", "body": GRAPHS}),
        apollo({"id": "a", "body": GRAPHS}, {"id": "a", "body": ITEM}),
        apollo({"id": "a", "body": "{ nothing }"}),
    ],
)
def test_a_bad_manifest_says_what_is_wrong(tmp_path: Path, manifest: object) -> None:
    with raises(SetupError):
        read_trusted([written(tmp_path / "manifest.json", manifest)])


def test_the_explorers_list_has_what_its_pages_send(cli: Cli, tmp_path: Path) -> None:
    list_ = tmp_path / "explorer.json"
    list_.write_text(cli("documents", "explorer").out)
    sent = json.loads((Path(explorer.__file__).parent / "assets" / "documents.json").read_text())
    assert sent
    assert read_trusted([list_]).texts == set(sent.values())


def test_the_command_line_prints_the_clients_list(
    cli: Cli, tmp_path: Path, demo_file: Path
) -> None:
    run = cli("documents")
    assert json.loads(run.out) == manifest_of(DOCUMENTS.values())
    assert cli("documents", "client", "--json").json == json.loads(run.out)
    (tmp_path / "client.json").write_text(run.out)
    assert read_trusted([tmp_path / "client.json"]).texts == set(DOCUMENTS.values())
    (tmp_path / "bad.json").write_text('{"a": "{ nothing }"}')
    run = cli(
        "serve", "--store", f"sqlite:///{demo_file}", "--documents", "client.json", "--documents",
        "bad.json",
    )  # fmt: skip
    assert run.code == 4
    check_error(run.err)


VIEW = ViewSpec(Method.EDGE_DELETION, level=0.1, random_seed=1)
# Each method of the client, which has to send documents of its list alone.
CALLS: dict[str, Callable[[Client], object]] = {
    "graphs": lambda client: client.graphs(),
    "graph": lambda client: client.graph(),
    "items": lambda client: client.items([MARIA]),
    "statements": lambda client: client.statements(MARIA),
    "statement_page": lambda client: client.statement_page(MARIA),
    "relations": lambda client: client.relations(MARIA),
    "describe": lambda client: client.describe(),
    "neighbours": lambda client: client.neighbours(MARIA),
    "search": lambda client: client.search("Maria"),
    "neighbourhood": lambda client: client.neighbourhood(MARIA),
    "triplets": lambda client: client.triplets(QUESTION),
    "paths": lambda client: client.paths(QUESTION),
    "subgraph": lambda client: client.subgraph(QUESTION),
    "retrieve": lambda client: client.retrieve(Strategy.PATHS, QUESTION),
    "retrieve_many": lambda client: client.retrieve_many(Strategy.PATHS, [QUESTION]),
    "compare": lambda client: client.compare(Strategy.PATHS, QUESTION, [ViewRef(spec=VIEW)]),
    "create_view": lambda client: client.create_view(VIEW, graph="demo", name="mine"),
    "update_view": lambda client: client.update_view("mine", note="mine"),
    "views": lambda client: client.views(),
    "view": lambda client: client.view("mine"),
    "view_diff": lambda client: client.view_diff("mine"),
    "cancel_job": lambda client: client.cancel_job("mine"),
    "delete_view": lambda client: client.delete_view("mine"),
    "page_views": lambda client: client.page_views([MARIA]),
    "passages": lambda client: client.passages("notes"),
    "passage_sets": lambda client: client.passage_sets(),
    "delete_passages": lambda client: client.delete_passages(graph="demo"),
    "delete_graph": lambda client: client.delete_graph("demo"),
}


def test_the_client_works_unchanged(
    own_service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with own_service.store.passages.begin("demo", source="s", options={}, owner="t") as session:
        session.write([make_passage("Some notes.")], checkpoint={})
        session.publish()
    list_ = written(tmp_path / "client.json", manifest_of(DOCUMENTS.values()))
    sent: set[str] = set()
    send = Http.send

    def noted(http: Http, document: str, *given: Any) -> Any:
        sent.add(document)
        return send(http, document, *given)

    monkeypatch.setattr(Http, "send", noted)
    public = {
        name
        for name, _ in inspect.getmembers(Client, inspect.isfunction)
        if name[0] != "_" and name not in ("close", "run")
    }
    assert public == CALLS.keys()
    options = ServerOptions(documents=(list_,), writable=True)
    with served(own_service, options) as url, Client.connect(url) as client:
        for name, call in CALLS.items():
            assert call(client) is not None or name == "delete_graph", name
        assert sent == set(DOCUMENTS.values())
        with pytest.raises(DocumentNotFoundError):
            unwrap(client._transport.send("{ __typename }", {}))


def test_a_long_question_costs_by_its_length_in_a_trusted_document_too(
    demo_service: Service, tmp_path: Path
) -> None:
    document = "query Paths($q: String!) { paths(input: {question: $q}) { text } }"
    named = written(tmp_path / "paths.json", {document_id(document): document})
    options = ServerOptions(documents=(named,), max_cost=20.0)
    client = TestClient(make_app(demo_service, options), base_url="http://localhost")

    def post(question: str) -> Any:
        body = {"documentId": document_id(document), "variables": {"q": question}}
        return client.post("/graphql", json=body).json()

    (error,) = post("Maria Shriver " * 700)["errors"]
    assert error["extensions"]["code"] == "MAX_COST_EXCEEDED"
    assert error["extensions"]["cost"] >= 1 + 48
    assert "errors" not in post("Who is Maria Shriver?")
