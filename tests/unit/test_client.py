"""The typed client: in process and over HTTP, blocking and not, all give the same (S6)."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from demo_graph import ARNOLD, MARIA, QUESTION, request
from error_texts import check_text, raises
from graphs import load_graph
from served import served

from graph_service import Service
from graph_service.client import AsyncClient, Client
from graph_service.client.calls import view_input
from graph_service.client.transport import unwrap
from graph_service.errors import (
    DeadlineError,
    GraphNotFoundError,
    GraphServiceError,
    InputError,
    LimitError,
    ModelFileError,
    ReadOnlyError,
    SetupError,
    StoreCorruptError,
    StoreError,
    StoreUnavailableError,
    ViewNotFoundError,
    ViewStaleError,
)
from graph_service.model.answer import AnswerKind
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy, triples_of
from graph_service.model.statement import Rank
from graph_service.model.stored_view import StoredView, ViewState
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.model.view_spec import (
    Change,
    ChangeKind,
    Method,
    Naming,
    Sampling,
    Scope,
    ViewSpec,
)
from graph_service.server.options import ServerOptions

NAMELESS = ViewSpec(
    Method.NAMES,
    level=1.0,
    naming=Naming.GONE,
    scope=Scope(around_entity_ids=(ARNOLD,), hops=0),
)
REPLACED = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=3)


@pytest.fixture(scope="module")
def url(demo_service: Service) -> Iterator[str]:
    with served(demo_service, ServerOptions(writable=True)) as address:
        yield address


@pytest.fixture(scope="module")
def kinds_url(kinds_service: Service) -> Iterator[str]:
    with served(kinds_service) as address:
        yield address


def four_ways(service: Service, url: str, method: str, *arguments: Any, **options: Any) -> Any:
    """Calls one method all four ways, asserts that they agree, and returns what they gave."""

    async def asked(client: AsyncClient) -> Any:
        async with client:
            return await getattr(client, method)(*arguments, **options)

    with Client.over(service) as near, Client.connect(url) as far:
        answers = [getattr(client, method)(*arguments, **options) for client in (near, far)]
    answers.append(asyncio.run(asked(AsyncClient.over(service))))
    answers.append(asyncio.run(asked(AsyncClient.connect(f"{url}/graphql"))))
    for answer in answers[1:]:
        assert answer == answers[0]
        assert type(answer) is type(answers[0])
    return answers[0]


@pytest.mark.parametrize("view", [None, REPLACED])
@pytest.mark.parametrize("strategy", list(Strategy))
def test_a_retrieval_is_what_the_service_gives(
    demo_service: Service, url: str, strategy: Strategy, view: ViewSpec | None
) -> None:
    expected = demo_service.retrieve(
        request(
            strategy=strategy,
            preset="okgqa",
            view=ViewRef(spec=view) if view else None,
            limit=60,
        )
    )
    # It takes statements of changed relations too, which default-6 passes over.
    options = {"view": view, "limit": 60, "preset": "okgqa"}
    found = four_ways(demo_service, url, "retrieve", strategy, QUESTION, **options)
    assert found == expected
    assert found == four_ways(demo_service, url, strategy.value, QUESTION, **options)
    kinds = {
        one.change.kind for item in found.items for one in getattr(item, "steps", None) or (item,)
    }
    assert (kinds != {ChangeKind.UNCHANGED}) == (view is not None)


@pytest.mark.parametrize("strategy", list(Strategy))
def test_constraints_and_answers_come_over_the_wire(
    demo_service: Service, url: str, strategy: Strategy
) -> None:
    for question, kind, value in (
        ("Which child of Eunice Kennedy Shriver was born in 1955?", AnswerKind.ENTITIES, "Maria Shriver"),
        ("How many siblings does Kara Kennedy have?", AnswerKind.COUNT, "2"),
    ):  # fmt: skip
        options: dict[str, Any] = {"preset": "default-6", "limit": 3, "details": True}
        asked = dataclasses.replace(request(strategy=strategy, **options), question=question)
        expected = demo_service.retrieve(asked)
        assert expected.answer is not None
        assert expected.answer.kind is kind
        assert expected.answer.value == value
        assert four_ways(demo_service, url, "retrieve", strategy, question, **options) == expected


def test_every_option_reaches_the_service(demo_service: Service, url: str) -> None:
    options: dict[str, Any] = {
        "graph": "demo",
        "entity_ids": (MARIA,),
        "languages": ("de", "en"),
        "preset": "okgqa",
        "limit": 4,
        "max_hops": 1,
        "max_edges": 30,
        "min_score": 1.0,
        "token_budget": 50,
        "exclude_relation_ids": ("P31",),
        "ranks": (Rank.NORMAL, Rank.PREFERRED),
        "top_nodes": 5,
        "top_edges": 6,
        "edge_cost": 0.25,
        "max_path_length": 2,
        "prove": True,
    }
    expected = demo_service.retrieve(request(strategy=Strategy.TRIPLETS, **options))
    found = four_ways(demo_service, url, "triplets", QUESTION, **options)
    assert found == expected
    assert {
        "top_nodes": 5,
        "edge_cost": 0.25,
        "hops": 1,
    }.items() <= found.provenance.parameters.items()
    only = four_ways(demo_service, url, "triplets", QUESTION, relation_ids=["P26"], limit=None)
    assert {one.relation.id for one in triples_of(only)} == {"P26"}
    with pytest.raises(TypeError, match="limits"):
        Client.over(demo_service).triplets(QUESTION, limits=3)  # type: ignore[call-arg]


def test_details_have_every_value_type(kinds_service: Service, kinds_url: str) -> None:
    found = four_ways(
        kinds_service,
        kinds_url,
        "triplets",
        "Who was Douglas Adams?",
        preset="okgqa",
        limit=100,
        ranks=tuple(Rank),
        details=True,
    )
    expected = kinds_service.retrieve(
        request(
            "Who was Douglas Adams?",
            preset="okgqa",
            limit=100,
            ranks=tuple(Rank),
            details=True,
        )
    )
    assert found == expected
    types = {type(one.value).__name__ for one in triples_of(found)}
    assert {"EntityValue", "Time", "Quantity", "MonolingualText", "Iri", "StringValue"} <= types
    assert any(one.qualifiers for one in triples_of(found))
    assert any(one.references for one in triples_of(found))


def test_statements_are_read_back_whole(kinds_service: Service, kinds_url: str) -> None:
    for entity in ("Q42", "Q84", "Q8409"):
        found = four_ways(kinds_service, kinds_url, "statements", entity)
        shown = kinds_service.statements.of(entity)
        assert [item.triple.statement_id for item in found] == [one.statement.id for one in shown]
        for item, one in zip(found, shown, strict=True):
            assert item.triple.value == one.statement.value
            assert item.triple.rank == one.statement.rank
            assert item.triple.qualifiers == one.statement.qualifiers
            assert item.triple.references == one.statement.references
            assert item.change == one.edge.change
    types = {
        type(item.triple.value) for item in four_ways(kinds_service, kinds_url, "statements", "Q42")
    }
    assert len(types) == 9
    (one,) = four_ways(kinds_service, kinds_url, "statements", "Q42", relation_id="P69", limit=5)
    assert one.triple.relation.id == "P69"
    assert four_ways(kinds_service, kinds_url, "statements", "Q1") == ()


def test_relations_of_an_item_lead_to_all_its_statements(demo_service: Service, url: str) -> None:
    expected = demo_service.statements.relation_counts(ARNOLD)
    assert {one.outgoing for one in expected} == {True, False}
    listed, after = [], None
    while True:
        page = four_ways(demo_service, url, "relations", ARNOLD, first=30, after=after)
        listed += page.relations
        after = page.next
        assert page.total == len(expected)
        assert page.item.label == "Arnold Schwarzenegger"
        if after is None:
            break
    assert [(one.relation.id, one.relation.label, one.outgoing, one.count) for one in listed] == [
        (one.relation_id, one.label, one.outgoing, one.count) for one in expected
    ]
    for one in listed:
        given = {
            "relation_ids": (one.relation.id,),
            "direction": "outgoing" if one.outgoing else "incoming",
        }
        whole = four_ways(demo_service, url, "statement_page", ARNOLD, **given)
        assert whole.total == len(whole.statements) == one.count
        for item in whole.statements:
            ends = (item.triple.head.id, getattr(item.triple.value, "id", None))
            assert ends[not one.outgoing] == ARNOLD
        first = four_ways(demo_service, url, "statement_page", ARNOLD, first=1, **given)
        assert first.next == (first.cursors[0] if one.count > 1 else None)
        rest = four_ways(
            demo_service, url, "statement_page", ARNOLD, after=first.cursors[0], **given
        )
        assert first.statements + rest.statements == whole.statements
    for method in ("relations", "statement_page"):
        assert four_ways(demo_service, url, method, "Q0") is None
    for page in (0, 1001):
        with pytest.raises(InputError):
            four_ways(demo_service, url, "relations", ARNOLD, first=page)


def test_a_graph_is_described(kinds_service: Service, kinds_url: str) -> None:
    about = kinds_service.about().overview
    found = four_ways(kinds_service, kinds_url, "describe", first=4)
    assert found.info == kinds_service.graph()
    assert [(one.item.id, one.count) for one in found.classes] == [
        (one.class_id, one.count) for one in about.classes[:4]
    ]
    assert found.class_count == len(about.classes)
    for size in found.classes:
        assert 1 <= len(size.examples) <= min(3, size.count)
    assert [(one.relation.id, one.count, one.example.statement_id) for one in found.relations] == [
        (one.relation_id, one.count, one.example_id) for one in about.relations[:4]
    ]
    assert all(one.example.relation == one.relation for one in found.relations)


def test_items_search_graphs_and_neighbourhood(
    kinds_service: Service, kinds_url: str, demo_service: Service, url: str
) -> None:
    items = four_ways(kinds_service, kinds_url, "items", ["Q4242", "Q1", "dbr:Rome"], language="it")
    assert [item and item.id for item in items] == ["Q42", None, "http://dbpedia.org/resource/Rome"]
    assert (items[0].label, items[2].label) == ("Douglas Adams", "Roma")
    assert items[0].aliases == ("Douglas Noel Adams", "DNA")
    (hit,) = four_ways(demo_service, url, "search", "arnie", limit=5, languages=("en",))
    assert (hit.item.id, hit.matched, hit.is_alias) == (ARNOLD, "Arnie", True)
    for view, found in ((ViewSpec(Method.NAMES, level=0.0), (hit,)), (NAMELESS, ())):
        asked = {"limit": 5, "languages": ("en",), "view": view}
        assert four_ways(demo_service, url, "search", "arnie", **asked) == found
    info = four_ways(demo_service, url, "graph")
    assert four_ways(demo_service, url, "graphs") == (info,)
    stored = demo_service.graph()
    assert (info.name, info.edition, info.counts, info.fingerprints, info.published_at) == (
        stored.name,
        stored.edition,
        stored.counts,
        stored.fingerprints,
        stored.published_at,
    )
    around = four_ways(demo_service, url, "neighbourhood", MARIA, hops=2, limit=20, view=REPLACED)
    expected = demo_service.neighbourhood(MARIA, hops=2, limit=20, view=ViewRef(spec=REPLACED))
    assert around == expected


def test_compare_is_what_the_service_gives_s3(demo_service: Service, url: str) -> None:
    other = ViewRef(spec=dataclasses.replace(REPLACED, random_seed=4))
    views = [REPLACED, other]
    found = four_ways(demo_service, url, "compare", Strategy.PATHS, QUESTION, views, limit=5)
    expected = demo_service.compare(
        request(strategy=Strategy.PATHS, limit=5), [ViewRef(spec=REPLACED), other]
    )
    for mine, its in zip(found, expected, strict=True):
        for field in dataclasses.fields(its):
            assert getattr(mine, field.name) == getattr(its, field.name), field.name


def test_a_view_made_in_the_background_over_http_s4(own_service: Service) -> None:
    """Both clients begin a job, see it done, and cancel nothing that is."""
    with served(own_service, ServerOptions(writable=True)) as url, Client.connect(url) as far:
        begun = far.create_view(REPLACED, graph="demo", name="later", wait=False)
        assert begun.state in (ViewState.RUNNING, ViewState.DONE)
        until = time.monotonic() + 600
        view = far.view("later")
        while view is not None and view.state is ViewState.RUNNING and time.monotonic() < until:
            time.sleep(0.02)
            view = far.view("later")
        assert view == own_service.views.get("later")
        assert view.state is ViewState.DONE
        assert view.deviation is not None
        assert view.deviation.ats < view.deviation.ats_base
        assert far.cancel_job("later") == view

        async def ask() -> tuple[StoredView, StoredView]:
            async with AsyncClient.connect(url) as one:
                again = await one.create_view(REPLACED, graph="demo", wait=False)
                return again, await one.cancel_job("later", graph="demo")

        assert asyncio.run(ask()) == (view, view)
        with pytest.raises(ViewNotFoundError):
            far.cancel_job("nothing")


def test_a_view_of_a_base_that_changed_is_stale_over_http_s4(own_service: Service) -> None:
    with served(own_service, ServerOptions(writable=True)) as url, Client.connect(url) as far:
        made = far.create_view(REPLACED, graph="demo", name="old")
        assert not made.stale
        load_graph(own_service.store, "demo", [("Q1", "P1", "Q2")], replace=True)
        stale = four_ways(own_service, url, "view", "old")
        assert stale == dataclasses.replace(made, stale=True)
        assert four_ways(own_service, url, "views") == (stale,)


def test_views_over_http_s4(own_service: Service) -> None:
    with served(own_service, ServerOptions(writable=True)) as url:
        near, far = Client.over(own_service), Client.connect(url)
        made = far.create_view(REPLACED, graph="demo", name="half", note="n")
        assert made == own_service.views.get("half")
        assert not made.reused
        again = far.create_view(REPLACED, graph="demo", name="mine", note="m")
        assert (again, again.reused) == (made, True)
        assert far.update_view("half", note="m") == dataclasses.replace(made, note="m")
        with raises(InputError):
            far.update_view("half", graph="demo")
        assert far.update_view(made.id, name="half", note="n") == made
        for ref in ("half", made.id, ViewRef(name="half"), ViewRef(id=made.id), REPLACED):
            assert far.paths(QUESTION, view=ref) == near.paths(QUESTION, view=REPLACED)
        assert four_ways(own_service, url, "views") == (made,)
        assert four_ways(own_service, url, "view", "half", graph="demo") == made
        assert four_ways(own_service, url, "view", "nope") is None
        assert four_ways(own_service, url, "view_diff", "nope") is None
        named = far.create_view(NAMELESS, graph="demo", name="nameless")
        assert named == own_service.views.get("nameless")
        assert named.report.counts["names-changed"] == named.report.scope_edges == 1
        (change,) = four_ways(own_service, url, "view_diff", "nameless").changes
        assert (change.kind, change.before, change.after) == ("names-changed", None, None)
        assert change.words == f"{ARNOLD}: was Arnold Schwarzenegger, now {ARNOLD}"
        far.delete_view("nameless")
        page = four_ways(own_service, url, "view_diff", "half", first=100)
        changes = [*page.changes]
        while page.next is not None:
            page = far.view_diff("half", first=100, after=page.next)
            assert page is not None
            changes.extend(page.changes)
        ours, total = own_service.views.diff(ViewRef(name="half"), first=1000)
        assert page.total == total == len(changes)
        for mine, its in zip(changes, ours, strict=True):
            assert its.before is not None
            assert its.after is not None
            assert (mine.before, mine.after, mine.words) == (
                its.before.triple,
                its.after.triple,
                its.words,
            )
            assert mine.kind == "relation-changed"
        assert far.delete_view("half") == made.id
        assert near.views() == ()
        assert far.delete_graph("demo") == "demo"
        assert near.graphs() == ()
        far.close()


VALUES: tuple[Value, ...] = (
    EntityValue("Q1"),
    StringValue("a, b: c"),
    MonolingualText("ü", "de"),
    Quantity("1.50", "Q11573"),
    Quantity("7"),
    Time("1990-00-00T00:00:00Z", 9),
    Time("-13798000000-00-00T00:00:00Z", 3),
    Time("2000-00-00T00:00:00Z", 0),
    Iri("http://example.org/ä"),
)
SPECS = [
    ViewSpec(Method.PATH_DELETION, count=1, entity_ids=(MARIA,), answer_ids=("Q2685",)),
    ViewSpec(Method.INVERSION, level=0.3),
    ViewSpec(Method.STALE, level=1.0),
    ViewSpec(Method.NAMES, level=0.5, naming=Naming.SWAPPED),
    ViewSpec(Method.RULE_DELETION, level=0.5, rule_support=3, rule_confidence=0.25),
    ViewSpec(
        Method.INSERTION,
        count=1,
        entity_ids=(MARIA,),
        answer_ids=("Q2685",),
        target_ids=("Q9696",),
    ),
    ViewSpec(Method.EDGE_DELETION, count=3, random_seed=2**31 - 1),
    ViewSpec(Method.RELATION_SWAPPING, level=0.25, sampling=Sampling.OKGQA),
    ViewSpec(Method.EDGE_REWIRING, level=1.0, scope=Scope(relation_ids=("P26", "P40"))),
    ViewSpec(Method.EDGE_DELETION, level=0.5, scope=Scope(around_entity_ids=(MARIA,), hops=1)),
    ViewSpec(
        Method.CUSTOM,
        changes=tuple(
            Change(head=MARIA, relation=f"P900{number}", value=value)
            for number, value in enumerate(VALUES)
        ),
    ),
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.method.value)
def test_a_spec_survives_the_way_s3(demo_service: Service, url: str, spec: ViewSpec) -> None:
    found = four_ways(demo_service, url, "triplets", QUESTION, view=spec)
    assert found.provenance.view_spec == spec.to_json()
    ids = [one.statement.id for one in demo_service.statements.of(MARIA)]
    withheld = ViewSpec(Method.WITHHOLDING, statement_ids=tuple(ids[:3]), count=2)
    found = four_ways(demo_service, url, "triplets", QUESTION, view=withheld)
    assert found.provenance.view_spec == withheld.to_json()


@pytest.mark.parametrize(
    "value",
    [
        Coordinates(1.0, 2.0),
        StringValue("a", "external-id"),
        Quantity("1", None, "0", "2"),
        Time("1990-01-01T00:00:00Z", 11, "Q1985786"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_that_the_api_cannot_carry_is_refused(value: Value) -> None:
    """It must not arrive as another value, and so as another view."""
    spec = ViewSpec(Method.CUSTOM, changes=(Change(head="Q1", relation="P1", value=value),))
    with pytest.raises(InputError):
        view_input(spec)


# Errors


@pytest.mark.parametrize(
    "raised",
    [
        InputError("m", argument="limit", hint="h"),
        GraphNotFoundError("m"),
        ViewNotFoundError("m"),
        ViewStaleError("m", argument="view"),
        ReadOnlyError("m"),
        LimitError("m"),
        DeadlineError("m"),
        SetupError("m", hint="do"),
        StoreError("m"),
        StoreUnavailableError("m"),
    ],
    ids=lambda raised: type(raised).__name__,
)
def test_an_error_comes_back_as_its_class(
    demo_service: Service, url: str, monkeypatch: pytest.MonkeyPatch, raised: GraphServiceError
) -> None:
    def failing() -> None:
        raise raised

    monkeypatch.setattr(demo_service.store, "graphs", failing)
    for client in (Client.over(demo_service), Client.connect(url)):
        with client, pytest.raises(GraphServiceError) as caught:
            client.graphs()
        error = caught.value
        assert type(error) is type(raised)
        assert (error.argument, error.retryable) == (raised.argument, raised.retryable)
    # Over HTTP what concerns the server alone stays in its log.
    message, hint = raised.message, raised.hint
    if raised.about_server:
        check_text(error.message, raised.about_server)
        message, hint = error.message, None
    assert (error.message, error.hint) == (message, hint)
    with Client.over(demo_service) as client, pytest.raises(GraphServiceError) as caught:
        client.graphs()
    assert (caught.value.message, caught.value.hint) == (raised.message, raised.hint)


def test_finer_store_and_setup_errors_come_back_as_their_kind(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    for raised, kind in ((StoreCorruptError("m"), StoreError), (ModelFileError("m"), SetupError)):

        def failing(raised: GraphServiceError = raised) -> None:
            raise raised

        monkeypatch.setattr(demo_service.store, "graphs", failing)
        with pytest.raises(kind) as caught:
            Client.over(demo_service).graphs()
        assert type(caught.value) is kind


def test_an_internal_error_is_no_error_of_ours_in_disguise(
    demo_service: Service, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(demo_service.store, "graphs", failing)
    with Client.connect(url) as client, pytest.raises(GraphServiceError) as caught:
        client.graphs()
    assert type(caught.value) is GraphServiceError
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("lone \ud800", {}),
        ("x", {"min_score": float("nan")}),
        ("x", {"min_score": float("inf")}),
        ("x", {"edge_cost": float("nan")}),
        ("x", {"limit": 2**64}),
    ],
)
def test_what_json_cannot_say_is_bad_input_near_and_far(
    demo_service: Service, question: str, options: Any
) -> None:
    with served(demo_service) as url, Client.connect(url) as far:
        for client in (Client.over(demo_service), far):
            with pytest.raises(InputError):
                client.triplets(question, **options)


def test_a_key_of_any_letters(demo_service: Service) -> None:
    with (
        served(demo_service, ServerOptions(api_key="clé-密")) as url,
        Client.connect(url, api_key="clé-密") as client,
    ):
        assert client.graph().name == "demo"


def test_what_the_servers_door_says(demo_service: Service) -> None:
    with served(demo_service, ServerOptions(api_key="open")) as url:
        with Client.connect(url) as client, pytest.raises(SetupError, match="API key"):
            client.graphs()
        with Client.connect(url, api_key="open") as client:
            assert client.graph().name == "demo"

            async def ask() -> str:
                async with AsyncClient.connect(url, api_key="open") as one:
                    return (await one.graph()).name

            assert asyncio.run(ask()) == "demo"
    with served(demo_service) as url, Client.connect(url) as client:
        with pytest.raises(ReadOnlyError):
            client.delete_graph("demo")
        with pytest.raises(LimitError, match="bytes"):
            client.triplets("x" * 1_100_000)


def test_a_server_that_is_away() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Client.connect(url) as client, pytest.raises(StoreUnavailableError) as caught:
            client.graphs()
        assert "graph-service serve" in str(caught.value)

        async def ask() -> None:
            async with AsyncClient.connect(url) as client:
                await client.graphs()

        with pytest.raises(StoreUnavailableError, match="does not answer"):
            asyncio.run(ask())


@pytest.mark.parametrize(
    "address", ["localhost:8000", "ftp://a", "http://", "https:///graphql", "http://a:b"]
)
def test_an_address_of_no_server_is_bad_input(address: str) -> None:
    with raises(InputError) as caught:
        Client.connect(address)
    assert caught.value.argument == "server"


@contextmanager
def answering(respond: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A server that answers every POST in its own way."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            respond(self)

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def body(status: int, content: bytes) -> Callable[[BaseHTTPRequestHandler], None]:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return respond


@pytest.mark.parametrize(
    ("status", "content"),
    [
        (502, b"<html>bad gateway</html>"),
        (200, b""),
        (200, b"[]"),
        (200, b"{}"),
        (200, b'{"data": null}'),
        (500, b'{"detail": "oops"}'),
        (200, b'{"errors": "oops"}'),
        (200, b'{"errors": [5]}'),
        (200, b'{"data": {"other": 1}}'),
        (200, b'{"data": {"graphs": {"edges": [{"node": {"name": 1}}]}}}'),
    ],
)
def test_an_answer_that_is_none(status: int, content: bytes) -> None:
    with (
        answering(body(status, content)) as url,
        Client.connect(url) as client,
        raises(StoreError),
    ):
        client.graphs()


def test_an_answer_that_breaks_off() -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        handler.wfile.write(b'{"data":')

    with (
        answering(cut) as url,
        Client.connect(url) as client,
        pytest.raises(StoreUnavailableError),
    ):
        client.graphs()


def test_an_answer_that_takes_too_long() -> None:
    released = threading.Event()

    def late(handler: BaseHTTPRequestHandler) -> None:
        released.wait(600)

    with answering(late) as url, Client.connect(url, timeout_s=0.1) as client:
        with pytest.raises(DeadlineError, match=r"within 0\.1 s"):
            client.graphs()
        released.set()


def test_unwrap_gives_the_first_error() -> None:
    with pytest.raises(InputError, match="one"):
        unwrap(
            {
                "data": None,
                "errors": [
                    {"message": "one", "extensions": {"code": "BAD_INPUT"}},
                    {"message": "two", "extensions": {"code": "TIMEOUT"}},
                ],
            }
        )
    with pytest.raises(GraphServiceError, match="plain"):
        unwrap({"errors": [{"message": "plain"}]})
