"""The queries in docs/reference/api.md are run, and what it shows is what they give."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import orjson
import pytest
from demo_graph import demo_file, demo_service, demo_settings

from graph_service import Service, errors
from graph_service.api import documents, execution, schema, view_costs
from graph_service.model import request, view_spec
from graph_service.options import options_of
from graph_service.server import app, queue
from graph_service.service import comparison
from graph_service.settings import Settings
from graph_service.store import search

OPTIONS = options_of(request.RetrieveRequest)
__all__ = ["demo_file", "demo_service", "demo_settings"]

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
EXAMPLE = re.compile(r"```graphql\n(?P<query>.*?)```\n\n```json\n(?P<answer>.*?)\n```", re.DOTALL)


def test_the_queries_give_what_the_page_says(demo_service: Service) -> None:
    """``GRAPH_SERVICE_UPDATE_DOCS=1`` writes the answers anew."""

    def run(found: re.Match[str]) -> str:
        answer = orjson.dumps(schema.execute(demo_service, found["query"])).decode()
        answer = re.sub(r'"requestId":"[0-9a-f]{32}"', '"requestId":"..."', answer)
        return f"```graphql\n{found['query']}```\n\n```json\n{answer}\n```"

    text = PAGE.read_text(encoding="utf-8")
    assert len(EXAMPLE.findall(text)) == text.count("```graphql")
    shown = EXAMPLE.sub(run, text)
    if os.environ.get("GRAPH_SERVICE_UPDATE_DOCS"):
        PAGE.write_text(shown, encoding="utf-8")
    else:
        assert shown == text


def test_every_code_is_explained() -> None:
    text = PAGE.read_text(encoding="utf-8")
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.code for kind in kinds if issubclass(kind, errors.GraphServiceError)}
    for code in codes | {"FORBIDDEN"}:
        assert re.search(rf"^\|.*`{code}`.*\|", text, re.MULTILINE), code


@pytest.mark.parametrize(
    ("of", "limit"),
    [
        ("a body", app.MAX_BODY_BYTES),
        ("the bodies of all requests under way", app.MAX_HELD_BYTES),
        ("a document", documents.MAX_CHARACTERS),
        ("a document", documents.MAX_LINES),
        ("a document", documents.MAX_TOKENS),
        ("a document", documents.MAX_DEPTH),
        ("a document", documents.MAX_ALIASES),
        ("a document with its fragments written out", documents.MAX_SELECTIONS),
        ("a document with its fragments written out", documents.MAX_ALIASES),
        ("fields of one name in one place of the response", documents.MAX_COMPARISONS),
        ("the lists of an answer", execution.MAX_OBJECTS),
        ("a question", request.MAX_QUESTION_CHARACTERS),
        ("ids of `items` and of `nodes`", schema.MAX_IDS),
        ("`itemIds` of a question", OPTIONS["entity_ids"].facts.most),
        ("`languageCodes`", request.MAX_LANGUAGES),
        ("`typeIds`", OPTIONS["type_ids"].facts.most),
        ("`propertyIds`, `excludePropertyIds`", request.MAX_RELATIONS),
        ("numbers of a `questionVector`", OPTIONS["question_vector"].facts.most),
        (
            "statements in a view's `scope`; `statementIds`, `changes` of a view",
            view_spec.MAX_NAMED_IN_API,
        ),
        ("a search, of items or of passages", search.MAX_QUERY_CHARACTERS),
        ("views of `compare`", comparison.MAX_COMPARED),
        ("inputs of `retrieveMany`", Settings().max_questions),
        ("queries under way", queue.MAX_WAITING),
        ("queries under way", Settings().threads),
        ("items, hops, seconds of a query", Settings().max_hops),
        ("items, hops, seconds of a query", int(Settings().read_timeout_s)),
    ],
)
def test_limits_are_those_of_the_code(of: str, limit: int) -> None:
    (row,) = re.findall(rf"^\| {re.escape(of)} \| (.*) \|$", PAGE.read_text(), re.MULTILINE)
    assert re.search(rf"(?<![\d,]){limit:,}(?![\d,])", row), row


def test_the_costs_of_methods_are_those_of_the_code() -> None:
    table = PAGE.read_text(encoding="utf-8").split("### Making a view", 1)[1].split("### ", 1)[0]
    rows = re.findall(
        r"^\| (`[A-Z_`, ]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", table, re.MULTILINE
    )
    shown = {
        name: tuple(map(float, figures))
        for names, *figures in rows
        for name in re.findall(r"`([A-Z_]+)`", names)
    }
    weights = {method.name: weight for method, weight in view_costs.WEIGHTS.items() if any(weight)}
    assert shown == weights


@pytest.mark.parametrize(
    "name",
    [
        "head_timeout_s",
        "body_timeout_s",
        "write_timeout_s",
        "keep_alive_s",
        "max_connections",
        "max_connections_per_address",
        "shutdown_timeout_s",
    ],
)
def test_limits_of_connections_are_the_defaults(name: str) -> None:
    shown = rf"{name.upper()}` (?:\w+ )?\({getattr(Settings(), name):g}\)"
    assert re.search(shown, PAGE.read_text())


def test_the_clients_that_are_tested_are_those_that_are_installed() -> None:
    clients = Path(__file__).parents[1] / "clients"
    text = PAGE.read_text(encoding="utf-8").split("### Clients that are tested", 1)[1]
    packages = json.loads((clients / "package.json").read_text(encoding="utf-8"))["dependencies"]
    names = {
        "@apollo/client": "Apollo Client", "@graphql-codegen/cli": "graphql-codegen",
        "@urql/core": "urql", "graphql": "graphql-js", "graphql-http": "graphql-http",
        "graphql-request": "graphql-request", "relay-compiler": "Relay", "relay-runtime": "Relay",
    }  # fmt: skip
    for package, name in names.items():
        assert re.search(rf"^\| {name} \| {re.escape(packages[package])}\b", text, re.MULTILINE)
    installed = "".join(path.read_text() for path in (clients / "requirements").glob("*.in"))
    for name, version in re.findall(r"^([\w-]+)(?:\[\w+\])?==(\S+)$", installed, re.MULTILINE):
        assert re.search(rf"^\| {name} \| {re.escape(version)} \|", text, re.MULTILINE), name
