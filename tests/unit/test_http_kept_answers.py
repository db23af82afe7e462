"""Answers that are kept, over HTTP: which are, what tells requests apart, tags, cost and bounds."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from demo_graph import QUESTION
from made_keys import made_key
from served import served
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.model.limits import Cut, CutReason
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions
from graph_service.server.parameters import Parameters
from graph_service.server.response_cache import CACHED_COST, ResponseCache, key_of

pytestmark = pytest.mark.usefixtures("processor")

TRIPLETS = """query Q($question: String!, $languages: [String!]) {
  triplets(input: {question: $question, languageCodes: $languages}) { resultId text } }"""
LONG = "query($i: [ID!]!) { items(itemIds: $i) { itemId label description } }"
IDS = ["Q2685", "Q230654"] * 20
STORED, MISSED, HIT = "fwd=miss; stored", "fwd=miss", "hit"
GRAPHQL = "application/graphql-response+json"


class Asked:
    """A client that says what became of each request."""

    def __init__(self, service: Service, **options: Any) -> None:
        app = make_app(service, ServerOptions(**options))
        self.client = TestClient(app, base_url="http://localhost")

    def post(self, document: str, headers: dict[str, str] | None = None, **variables: Any) -> Any:
        body = {"query": document, "variables": variables}
        return self.client.post("/graphql", json=body, headers=headers)

    def get(self, document: str, headers: dict[str, str] | None = None, **variables: Any) -> Any:
        asked = {"query": document, "variables": orjson.dumps(variables).decode()}
        return self.client.get("/graphql", params=asked, headers=headers)


def kept(answer: Any) -> str:
    return str(answer.headers.get("cache-status", "")).removeprefix("graph-service; ")


@pytest.fixture
def asked(demo_service: Service) -> Asked:
    return Asked(demo_service)


def test_a_repeat_is_the_same_bytes_and_another_request_is_not_one(asked: Asked) -> None:
    first = asked.post(TRIPLETS, question=QUESTION)
    again = asked.post(TRIPLETS, question=QUESTION)
    assert (kept(first), kept(again)) == (STORED, HIT)
    assert again.content == first.content
    assert again.json()["data"]["triplets"]["text"]
    # As whom it comes by which method makes no difference to what is answered.
    assert kept(asked.get(TRIPLETS, question=QUESTION)) == HIT
    assert kept(asked.post(TRIPLETS, question=QUESTION, languages=["de"])) == STORED
    assert kept(asked.post(TRIPLETS, question=f"{QUESTION} ")) == STORED
    assert kept(asked.post(f"{TRIPLETS} ", question=QUESTION)) == STORED
    assert kept(asked.post(TRIPLETS, {"accept": GRAPHQL}, question=QUESTION)) == STORED


def test_what_tells_requests_apart() -> None:
    base = Parameters("{ a }", {"b": 1, "c": 2}, "N")
    same = Parameters("{ a }", {"c": 2, "b": 1}, "N", {"x": 1})
    assert key_of(base, GRAPHQL, "") == key_of(same, GRAPHQL, "")
    others = [
        key_of(replace(base, query="{ b }"), GRAPHQL, ""),
        key_of(replace(base, variables={"b": 1, "c": 2.0}), GRAPHQL, ""),
        key_of(replace(base, variables=None), GRAPHQL, ""),
        key_of(replace(base, operation_name="M"), GRAPHQL, ""),
        key_of(replace(base, operation_name=None), GRAPHQL, ""),
        key_of(replace(base, query="{ a }\ud800"), GRAPHQL, ""),
        key_of(base, "application/json", ""),
        key_of(base, GRAPHQL, "what one key sees"),
    ]
    assert len({key_of(base, GRAPHQL, ""), *others}) == len(others) + 1


@pytest.mark.parametrize(
    "document",
    [
        "{ graphs { nodes { name unfinishedLoad { statements } } } }",
        "{ views { nodes { viewId state progress } } }",
        "{ ...F } fragment F on Query { ... on Query { graph { name } } }",
        '{ triplets(input: {question: "Who is Maria Shriver?"}) { timings { stage } } }',
        '{ passages(query: "a") { searched } }',
        '{ retrieveMany(strategy: PATHS, inputs: [{question: ""}]) { error { code } } }',
        '{ item(itemId: "") { label } }',
        'mutation { deleteView(input: {reference: "none"}) { viewId } }',
        "{ nothing }",
    ],
)
def test_what_does_not_last_is_not_kept(asked: Asked, document: str) -> None:
    for _ in range(2):
        answer = asked.post(document)
        assert "cache-status" not in answer.headers
    assert "etag" not in asked.get(document).headers


@pytest.mark.parametrize(
    "document",
    [
        '{ item(itemId: "Q2685") { label statements { nodes { statementId } } } }',
        '{ searchItems(query: "Maria") { nodes { label } } }',
        '{ neighbourhood(itemId: "Q2685") { text } }',
        '{ retrieveMany(strategy: PATHS, inputs: [{question: "Maria?"}]) { result { text } } }',
        "query { ...F } fragment F on Query { __typename }",
    ],
)
def test_what_lasts_is_kept(asked: Asked, document: str) -> None:
    answers = [asked.post(document) for _ in range(2)]
    assert "errors" not in answers[0].json()
    assert [kept(one) for one in answers] == [STORED, HIT]
    assert answers[0].content == answers[1].content


def test_an_answer_that_the_time_allowed_has_cut_is_not_kept(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(demo_service)
    retriever = demo_service._retriever
    whole = retriever.retrieve

    def hurried(*given: Any, **named: Any) -> Any:
        cut = Cut("embedded", CutReason.DEADLINE, 1.0, 1, 2)
        return replace(whole(*given, **named), truncated=(cut,))

    monkeypatch.setattr(retriever, "retrieve", hurried)
    for _ in range(2):
        assert kept(asked.post(TRIPLETS, question=QUESTION)) == ""
    monkeypatch.undo()
    assert [kept(asked.post(TRIPLETS, question=QUESTION)) for _ in range(2)] == [STORED, HIT]


def test_a_get_has_a_tag_and_is_told_that_nothing_has_changed(own_service: Service) -> None:
    asked = Asked(own_service)
    packed = asked.get(LONG, i=IDS)
    plain = asked.get(LONG, {"accept-encoding": "identity"}, i=IDS)
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    # Other bytes have another tag.
    assert packed.headers["etag"] != plain.headers["etag"]
    for one in (packed, plain):
        assert {"accept", "accept-encoding"} <= set(one.headers["vary"].lower().split(", "))
    tag = packed.headers["etag"]
    for named in (tag, f'"x", {tag}', f"W/{tag}", "*"):
        answer = asked.get(LONG, {"if-none-match": named}, i=IDS)
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == tag
        assert answer.headers["cache-control"] == "private, no-cache"
    for headers in ({"if-none-match": '"x"'}, {"if-none-match": plain.headers["etag"]}):
        assert asked.get(LONG, headers, i=IDS).status_code == 200
    # What a POST answers is no representation of its address.
    posted = asked.post(LONG, {"if-none-match": tag}, i=IDS)
    assert (posted.status_code, kept(posted), "etag" in posted.headers) == (200, HIT, False)


def test_the_first_answer_has_the_tag_of_its_repeats(asked: Asked) -> None:
    ids = [*IDS, "Q42"]
    tags = [asked.get(LONG, i=ids).headers["etag"] for _ in range(2)]
    assert len(set(tags)) == 1
    bare = asked.get(LONG, {"accept": GRAPHQL}, i=ids).headers["etag"]
    assert bare not in tags


def test_compressed_bytes_are_made_once(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    whole = gzip.compress

    def counted(*given: Any, **named: Any) -> bytes:
        made.append(given)
        return whole(*given, **named)

    monkeypatch.setattr(gzip, "compress", counted)
    answers = [asked.post(LONG, i=[*IDS, "Q1"]) for _ in range(3)]
    assert [kept(one) for one in answers] == [STORED, HIT, HIT]
    assert len(made) == 1


def test_a_repeat_costs_a_client_less(demo_service: Service) -> None:
    asked = Asked(demo_service, rate=1e-6, max_cost=3)
    costs = [asked.get(TRIPLETS, question=QUESTION).json()["extensions"]["cost"] for _ in range(3)]
    # What it cost to make is the same; what the client pays is not.
    assert len({(one["requested"], one["actual"], one["limit"]) for one in costs}) == 1
    left = [one["throttleStatus"]["currentlyAvailable"] for one in costs]
    assert left[0] == pytest.approx(3 - costs[0]["actual"], abs=1e-3)
    assert left[1] - left[2] == pytest.approx(CACHED_COST, abs=1e-3)
    # The client's own account is in the bytes, so that the tag does not stand for them.
    answer = asked.get(TRIPLETS, question=QUESTION)
    assert answer.headers["etag"].startswith('W/"')
    headers = {"if-none-match": answer.headers["etag"]}
    assert asked.get(TRIPLETS, headers, question=QUESTION).status_code == 304
    empty = Asked(demo_service, rate=1e-6, max_cost=1.2)
    statuses = [empty.post(TRIPLETS, question=QUESTION).status_code for _ in range(30)]
    assert (statuses[0], statuses[1], statuses[-1]) == (200, 200, 429)


def test_what_is_kept_has_a_bound_in_bytes(demo_service: Service) -> None:
    answers = ResponseCache(100_000)
    asked = Asked(demo_service)
    endpoint = asked.client.app.routes[0].endpoint.__self__  # type: ignore[attr-defined]
    endpoint._operations._cache = answers
    document = '{ item(itemId: "Q2685") { label } }'
    for number in range(100):
        assert kept(asked.post(f"{document} # {number}")) == STORED
    assert 50_000 < answers.held_bytes <= 100_000
    # Those used last are there.
    assert kept(asked.post(f"{document} # 99")) == HIT
    assert kept(asked.post(f"{document} # 0")) == STORED
    # One that would take most of the room is not kept.
    assert kept(asked.post(LONG, i=["Q2685"] * 200)) == MISSED


def test_nothing_is_kept_where_there_is_no_room(demo_service: Service) -> None:
    asked = Asked(demo_service, cache_bytes=0)
    for _ in range(2):
        answer = asked.get(TRIPLETS, question=QUESTION)
        assert answer.status_code == 200
        assert not {"cache-status", "etag"} & set(answer.headers)


def test_equal_requests_at_once_are_run_once(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Semaphore(0), threading.Event()
    runs = []
    whole: Callable[..., Any] = demo_service._retriever.retrieve

    def held(*given: Any, **named: Any) -> Any:
        runs.append(given)
        begun.release()
        assert go.wait(600)
        return whole(*given, **named)

    monkeypatch.setattr(demo_service._retriever, "retrieve", held)
    with served(demo_service) as url, ThreadPoolExecutor(6) as pool:

        def post(question: str) -> httpx.Response:
            body = {"query": TRIPLETS, "variables": {"question": question}}
            return httpx.post(f"{url}/graphql", json=body, timeout=600)

        try:
            same = [pool.submit(post, QUESTION) for _ in range(5)]
            assert begun.acquire(timeout=600)
            # Another one does not wait for it.
            other = pool.submit(post, f"{QUESTION}!")
            assert begun.acquire(timeout=600)
        finally:
            go.set()
        answers = [one.result(timeout=600) for one in same]
        assert other.result(timeout=600).status_code == 200
    assert len({one.content for one in answers}) == 1
    assert sorted(map(kept, answers)) == [STORED, *[HIT] * 4]
    assert len(runs) == 2


def test_an_answer_goes_to_nobody_who_may_not_have_it(
    demo_service: Service, tmp_path: Path
) -> None:
    """Who sees other graphs, or may ask for less, is answered as if nobody had asked before."""
    file = tmp_path / "keys.json"
    sees, blind, small = (
        made_key(file, name, **limits)
        for name, limits in (
            ("sees", {"graphs": frozenset({"demo"})}),
            ("blind", {"graphs": frozenset({"other"})}),
            ("small", {"graphs": frozenset({"demo"}), "max_cost": 1.0}),
        )
    )
    asked = Asked(demo_service, keys=file)

    def post(key: str) -> Any:
        return asked.post(TRIPLETS, {"x-api-key": key}, question=QUESTION)

    assert [kept(post(sees)), kept(post(sees))] == [STORED, HIT]
    hidden, dear = post(blind), post(small)
    assert hidden.json()["errors"][0]["extensions"]["code"] == "GRAPH_NOT_FOUND"
    assert dear.json()["errors"][0]["extensions"]["code"] == "MAX_COST_EXCEEDED"
    assert kept(post(sees)) == HIT
