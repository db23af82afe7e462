"""What each field of the API asks of the service: every argument, and what stands for one left out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from error_texts import check_text, raises
from graphql import parse

from graph_service import Service
from graph_service.api.document_cache import unlink_tokens
from graph_service.api.documents import (
    MAX_ALIASES,
    MAX_DEPTH,
    MAX_LINES,
    MAX_SELECTIONS,
    check_document,
    read_document,
)
from graph_service.api.in_process import InProcess
from graph_service.api.inputs import ChangeInput, ValueInput, ViewSpecInput, to_spec
from graph_service.api.schema import execute
from graph_service.errors import InputError, LimitError
from graph_service.model.passage import PassageRanking
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.service.browsing import PageRequest

SPEC = ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=3)
GIVEN_SPEC = "{method: EDGE_DELETION, level: 0.5, randomSeed: 3}"
VIEW = ViewRef(name="v")
OF_ITEM = {"graph": "demo", "languages": ("en",)}


class SeenError(Exception):
    """Ends a call once it is seen."""


# The field; the method of the service; its positional and its named arguments.
CALLS: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
    ("graphs { nodes { name } }", "graphs", (), {}),
    ("graph { name }", "graph", (None,), {}),
    ('graph(name: "g") { name }', "graph", ("g",), {}),
    ('searchItems(query: "a") { edges { matched } }', "search", ("a",),
     {"graph": None, "view": None, "languages": (), "limit": 10, "offset": 0, "and_one_more": True,
      "prefix": False}),
    ('searchItems(query: "a", graph: "demo", languageCodes: ["de"], first: 3) { nodes { id } }',
     "search", ("a",), {"graph": "demo", "view": None, "languages": ["de"], "limit": 3, "offset": 0,
      "and_one_more": True, "prefix": False}),
    ('item(itemId: "Q1", graph: "demo") { id }', "entities", (["Q1"],),
     {"graph": "demo", "argument": "item_id"}),
    ('items(itemIds: ["Q1", "Q2"]) { id }', "entities", (["Q1", "Q2"],),
     {"graph": None, "argument": "item_ids"}),
    ('triplets(input: {question: "a"}) { id }', "retrieve",
     (RetrieveRequest("a", Strategy.TRIPLETS),), {}),
    ('paths(input: {question: "a", limit: 2}) { id }', "retrieve",
     (RetrieveRequest("a", Strategy.PATHS, limit=2),), {}),
    ('subgraph(input: {question: "a", view: {name: "v"}}) { id }', "retrieve",
     (RetrieveRequest("a", Strategy.SUBGRAPH, view=VIEW),), {}),
    ('retrieveMany(strategy: PATHS, inputs: [{question: "a"}, {question: "b"}]) { error { code } }',
     "retrieve_many",
     ([RetrieveRequest("a", Strategy.PATHS), RetrieveRequest("b", Strategy.PATHS)],), {}),
    ('compare(strategy: PATHS, input: {question: "a"}, views: [{name: "v"}]) { lost }', "compare",
     (RetrieveRequest("a", Strategy.PATHS), [VIEW]), {}),
    ('neighbourhood(itemId: "Q1") { id }', "neighbourhood", ("Q1",),
     {"graph": None, "view": None, "hops": 1, "limit": 100, "languages": ("en",)}),
    ('neighbourhood(itemId: "Q1", graph: "demo", view: {viewId: "w"}, hops: 2, limit: 5, languageCodes: '
     '["de", "fr"]) { id }', "neighbourhood", ("Q1",),
     {"graph": "demo", "view": ViewRef(id="w"), "hops": 2, "limit": 5, "languages": ["de", "fr"]}),
    ('passages(query: "a") { id }', "passages.search", ("a",),
     {"graph": None, "k": 10, "by": PassageRanking.BOTH, "min_score": None, "languages": ("en",)}),
    ('passages(query: "a", graph: "demo", k: 3, by: WORDS, minScore: 0.5, languageCodes: ["de"]) '
     "{ id }", "passages.search", ("a",),
     {"graph": "demo", "k": 3, "by": PassageRanking.WORDS, "min_score": 0.5, "languages": ("de",)}),
    ("passageSets { source }", "passages.sets", (), {"graph": None}),
    ('passageSets(graph: "demo") { source }', "passages.sets", (), {"graph": "demo"}),
    ("views { totalCount }", "views.list", (), {"graph": None}),
    ('views(graph: "demo") { totalCount }', "views.list", (), {"graph": "demo"}),
    ('view(reference: "w") { id }', "views.get", ("w",), {"graph": None}),
    ('view(reference: "w", graph: "demo") { id }', "views.get", ("w",), {"graph": "demo"}),
    ('item(itemId: "Q42") { statements { totalCount } }', "statements.page",
     ("Q42", PageRequest(100)), {**OF_ITEM, "view": None, "entities_only": False}),
    ('item(itemId: "Q42", languageCodes: ["de"]) { statements(propertyIds: ["P1"], view: {spec: '
     + GIVEN_SPEC + "}, first: 7) { totalCount } }", "statements.page",
     ("Q42", PageRequest(7, relation_ids=("P1",))),
     {"graph": "demo", "view": ViewRef(spec=SPEC), "languages": ("de",), "entities_only": False}),
    ('item(itemId: "Q42") { neighbours { totalCount } }', "statements.page",
     ("Q42", PageRequest(100, incoming=True)), {**OF_ITEM, "view": None, "entities_only": True}),
    ('item(itemId: "Q42") { neighbours(direction: INCOMING, first: 3) { totalCount } }',
     "statements.page", ("Q42", PageRequest(3, outgoing=False, incoming=True)),
     {**OF_ITEM, "view": None, "entities_only": True}),
    ('item(itemId: "Q42") { neighbours(direction: OUTGOING) { totalCount } }', "statements.page",
     ("Q42", PageRequest(100)), {**OF_ITEM, "view": None, "entities_only": True}),
]  # fmt: skip
WRITES: list[tuple[str, str, tuple[Any, ...], dict[str, Any]]] = [
    ('createView(input: {graph: "demo", spec: ' + GIVEN_SPEC + "}) { view { id } }", "views.create", (SPEC,),
     {"graph": "demo", "name": None, "note": "", "wait": True}),
    ('createView(input: {graph: "demo", spec: ' + GIVEN_SPEC + ', name: "n", note: "why", wait: '
     "false}) { view { id } }", "views.create", (SPEC,),
     {"graph": "demo", "name": "n", "note": "why", "wait": False}),
    ('cancelJob(input: {reference: "w"}) { view { viewId } }', "views.cancel", ("w",), {"graph": None}),
    ('cancelJob(input: {reference: "w", graph: "demo"}) { view { viewId } }', "views.cancel", ("w",), {"graph": "demo"}),
    ('updateView(input: {reference: "w", graph: "demo", name: "n"}) { view { viewId } }', "views.update", ("w",),
     {"graph": "demo", "name": "n", "note": None}),
    ('updateView(input: {reference: "w", note: ""}) { view { viewId } }', "views.update", ("w",),
     {"graph": None, "name": None, "note": ""}),
    ('deleteView(input: {reference: "w", graph: "demo"}) { viewId }', "views.delete", ("w",), {"graph": "demo"}),
    ('deleteView(input: {reference: "w"}) { viewId }', "views.delete", ("w",), {"graph": None}),
    ('deleteGraph(input: {name: "g"}) { name }', "delete_graph", ("g",), {}),
    ("deletePassages(input: {}) { deleted }", "passages.delete", (), {"graph": None, "source": None}),
    ('deletePassages(input: {graph: "demo", source: "s"}) { deleted }', "passages.delete", (),
     {"graph": "demo", "source": "s"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "field", "method", "given", "named"),
    [("query", *call) for call in CALLS] + [("mutation", *call) for call in WRITES],
)
def test_a_field_asks_the_service_for_what_it_is_asked_for(
    demo_service: Service,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    field: str,
    method: str,
    given: tuple[Any, ...],
    named: dict[str, Any],
) -> None:
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def see(*positional: Any, **options: Any) -> Any:
        calls.append((positional, options))
        raise SeenError

    part, _, name = method.rpartition(".")
    monkeypatch.setattr(getattr(demo_service, part) if part else demo_service, name, see)
    response = execute(demo_service, f"{kind} {{ {field} }}", writable=True)
    assert calls == [(given, named)]
    assert response["errors"][0]["extensions"]["code"] == "INTERNAL"


@pytest.mark.parametrize("call", WRITES, ids=lambda call: call[1])
def test_nothing_is_asked_of_the_service_where_writing_is_refused(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, call: tuple[Any, ...]
) -> None:
    field, method, _, _ = call
    part, _, name = method.rpartition(".")
    seen: list[Any] = []
    monkeypatch.setattr(
        getattr(demo_service, part) if part else demo_service, name, lambda *_, **__: seen.append(1)
    )
    (error,) = execute(demo_service, f"mutation {{ {field} }}")["errors"]
    assert error["extensions"]["code"] == "READ_ONLY"
    check_text(error["message"])
    check_text(error["extensions"]["hint"], "--writable")
    assert seen == []


def test_a_transport_in_process_writes_unless_it_may_not(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    deleted: list[str] = []
    monkeypatch.setattr(demo_service, "delete_graph", deleted.append)
    document = "mutation($name: String!) { deleteGraph(input: {name: $name}) { name } }"
    transport = InProcess(demo_service)
    assert transport.send(document, {"name": "a"}) == {"data": {"deleteGraph": {"name": "a"}}}
    sent = asyncio.run(transport.send_async(document, {"name": "b"}))
    assert sent == {"data": {"deleteGraph": {"name": "b"}}}
    refused = InProcess(demo_service, writable=False).send(document, {"name": "c"})
    assert refused["errors"][0]["extensions"]["code"] == "READ_ONLY"
    assert deleted == ["a", "b"]
    transport.close()
    asyncio.run(transport.close_async())
    assert demo_service.graphs(), "the service stays open"


@pytest.mark.parametrize("value", [ValueInput(), ValueInput(item_id=None, literal=None)])
def test_a_value_that_is_neither_item_nor_literal_is_refused(value: ValueInput) -> None:
    spec = ViewSpecInput(
        method=Method.CUSTOM,
        changes=[ChangeInput(subject_id="Q1", property_id="P1", value=value)],  # type: ignore[arg-type]
    )
    with raises(InputError) as caught:
        to_spec(spec)
    assert caught.value.argument == "value"


# Documents at their limits


def nested(depth: int) -> str:
    return "{ a " * depth + "}" * depth


def aliased(count: int) -> str:
    return "{ " + " ".join(f"a{i}: b{i}" for i in range(count)) + " }"


def repeated(count: int) -> str:
    """Pairs of one field: count (count - 1) / 2 of them."""
    return "{ " + "a " * count + "}"


LIMITS = [
    (nested(MAX_DEPTH + 1), "levels of depth", MAX_DEPTH, MAX_DEPTH),
    (nested(MAX_DEPTH + 2), "levels of depth", MAX_DEPTH, MAX_DEPTH + 1),
    (aliased(MAX_ALIASES), "aliases", MAX_ALIASES, MAX_ALIASES),
    (aliased(MAX_ALIASES + 1), "aliases", MAX_ALIASES, MAX_ALIASES + 1),
    ("{ x { " + " ".join(f"f{i}" for i in range(MAX_SELECTIONS - 1)) + " } }",
     "selections with its fragments written out", MAX_SELECTIONS, MAX_SELECTIONS),
    ("{ x { " + " ".join(f"f{i}" for i in range(MAX_SELECTIONS)) + " } }",
     "selections with its fragments written out", MAX_SELECTIONS, MAX_SELECTIONS + 1),
]  # fmt: skip


@pytest.mark.parametrize(("document", "what", "most", "got"), LIMITS)
def test_a_document_may_be_as_large_as_its_limits_say(
    document: str, what: str, most: int, got: int
) -> None:
    if got <= most:
        check_document(parse(document))
        return
    with raises(LimitError):
        check_document(parse(document))


@pytest.mark.parametrize(
    ("document", "pairs"),
    [
        # 141 fields of one name are 9,870 pairs, 142 are 10,011.
        (repeated(141), None),
        (repeated(142), 10_011),
        ("{ ...F b } fragment F on Query { " + "a " * 142 + "}", 10_011),
        # A fragment that is spread twice at one place counts once.
        ("{ ...F ...F ... on Query { ...F } } fragment F on Query { " + "a " * 141 + "}", None),
        # By the name in the answer: an alias is one.
        ("{ " + "a: b " * 10 + "c: a " * 10 + "}", None),
        ("{ x { " + "a " * 100 + "} x { " + "a " * 50 + "} }", 1 + 150 * 149 // 2),
        ("{ x: y { " + "a " * 100 + "} x: z { " + "a " * 50 + "} }", 1 + 150 * 149 // 2),
        ("{ x { " + "a " * 100 + "} y { " + "a " * 100 + "} }", None),
        # Two operations are two places, and each pair of fragments is one more.
        ("query A { " + "a " * 101 + "} query B { " + "a " * 101 + "}", 2 * 5_050),
        ("query A { " + "a " * 101 + "} query B { " + "a " * 100 + "}", None),
        ("{ " + "a " * 141 + "...F0 } " + "".join(
            f"fragment F{i} on Query {{ b{i} }} " for i in range(17)), 9_870 + 136),
        ("{ " + "a " * 141 + "...F0 } " + "".join(
            f"fragment F{i} on Query {{ b{i} }} " for i in range(16)), None),
    ],
)  # fmt: skip
def test_fields_that_share_a_place_are_counted_in_pairs(document: str, pairs: int | None) -> None:
    if pairs is None:
        check_document(parse(document))
        return
    with raises(LimitError):
        check_document(parse(document))


def test_the_depth_of_introspection_has_a_limit_of_its_own() -> None:
    deep = "{ __schema { a { b { c { d { e { f { g { h { i { j { k { l { m { n { o } } } } } } } } } } } } } } } }"
    check_document(parse(deep))
    with pytest.raises(LimitError, match="levels of depth"):
        check_document(parse(deep.replace("__schema", "schema")))


@pytest.mark.parametrize(("newline", "over"), [("\n", 0), ("\r", 0), ("\n", 1), ("\r", 1)])
def test_a_document_has_so_many_lines(newline: str, over: int) -> None:
    text = newline * (MAX_LINES + over) + "{ a }"
    if not over:
        read_document(text)
        return
    with raises(LimitError):
        read_document(text)


def test_a_document_that_is_kept_is_counted_by_its_text_and_its_tokens() -> None:
    short, long = parse("{ a }"), parse("{ a b c }")
    assert long.loc is not None
    start = long.loc.start_token
    sizes = [unlink_tokens(one) for one in (short, long)]
    # The start, the end and what stands between: five and seven tokens of 500 bytes.
    assert sizes[1] - sizes[0] == 2 * len(" b c") + 2 * 500
    assert sizes[0] > 5 * 500
    assert start.next is None
    assert unlink_tokens(parse("{ a }", no_location=True)) == 0
