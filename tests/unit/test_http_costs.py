"""What costs too much over HTTP: refused, slowed down, and told in each answer."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import GraphQLError
from processor_time import Processor
from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

from graph_service import Service
from graph_service.api.execution import Ended
from graph_service.errors import DeadlineError, InputError, LimitError
from graph_service.model.request import RetrieveRequest
from graph_service.server import operations
from graph_service.server.app import make_app
from graph_service.server.bill import Bill
from graph_service.server.options import ServerOptions
from graph_service.server.rates import Rates, client_of

pytestmark = pytest.mark.usefixtures("processor")

LOOKUP = {"query": "{ graph { name } }"}
COSTLY = {"query": '{ triplets(input: {question: "zorblax", prove: true}) { text } }'}
COST = 11.0005
GRAPHQL = {"accept": "application/graphql-response+json"}


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(
        operations, "Rates", lambda *given, **named: Rates(*given, clock=clock, **named)
    )
    return clock


def client(service: Service, options: ServerOptions) -> TestClient:
    return TestClient(make_app(service, options), base_url="http://localhost")


def test_every_answer_says_what_it_has_cost(demo_service: Service) -> None:
    asked = client(demo_service, ServerOptions(max_cost=50))
    answer = asked.post("/graphql", json={"query": "{ graphs(first: 3) { nodes { name } } }"})
    assert answer.json()["extensions"] == {
        "cost": {"requested": 0.022, "actual": 0.021, "limit": 50}
    }
    assert asked.post("/graphql", json=COSTLY).json()["extensions"]["cost"]["actual"] == COST
    assert "extensions" not in asked.post("/graphql", json={"query": "{ x }"}).json()


def test_a_request_over_the_limit_is_refused(demo_service: Service) -> None:
    asked = client(demo_service, ServerOptions(max_cost=10))
    for headers, status in (({}, 200), (GRAPHQL, 400)):
        answer = asked.post("/graphql", json=COSTLY, headers=headers)
        assert answer.status_code == status
        assert "data" not in answer.json()
        (error,) = answer.json()["errors"]
        assert error["extensions"]["code"] == "MAX_COST_EXCEEDED"
        assert (error["extensions"]["cost"], error["extensions"]["maxCost"]) == (COST, 10)
        cost = {"requested": COST, "actual": 0.0, "limit": 10}
        assert answer.json()["extensions"] == {"cost": cost}


def test_a_client_that_asks_for_too_much_is_told_when_to_come_again(
    demo_service: Service, clock: Clock
) -> None:
    page = "https://page.example"
    options = ServerOptions(max_cost=20, rate=2.0, origins=(page,))
    asked = client(demo_service, options)
    first = asked.post("/graphql", json=COSTLY)
    assert first.json()["extensions"]["cost"]["throttleStatus"] == {
        "maximumAvailable": 20, "currentlyAvailable": 8.9995, "restoreRate": 2.0,
    }  # fmt: skip
    refused = asked.post("/graphql", json=COSTLY, headers={"origin": page, **GRAPHQL})
    # 2.001 are lacking, and 2 come back in a second.
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert refused.headers["access-control-allow-origin"] == page
    assert "retry-after" in refused.headers["access-control-expose-headers"]
    assert refused.headers["content-type"].startswith("application/graphql-response+json")
    (error,) = refused.json()["errors"]
    assert error["extensions"]["code"] == "THROTTLED"
    cost = refused.json()["extensions"]["cost"]
    assert (cost["requested"], cost["actual"]) == (COST, 0.0)
    # What is cheap still goes.
    assert asked.post("/graphql", json=LOOKUP).status_code == 200
    clock.now += 2
    assert asked.post("/graphql", json=COSTLY).status_code == 200


def test_what_was_not_used_is_given_back(demo_service: Service, clock: Clock) -> None:
    asked = client(demo_service, ServerOptions(max_cost=20, rate=1.0))
    # Each asks for 11 and refuses its arguments, which costs 1.
    for _ in range(5):
        answer = asked.post(
            "/graphql",
            json={"query": '{ triplets(input: {question: "", prove: true}) { text } }'},
        )
        assert answer.json()["errors"][0]["extensions"]["code"] == "BAD_INPUT"
    available = answer.json()["extensions"]["cost"]["throttleStatus"]["currentlyAvailable"]
    assert available == pytest.approx(20 - 5 * 1.0005)


SLOW = '{ slow: triplets(input: {question: "zorblax"}) { text } }'


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (None, None),
        (InputError("no", argument="view"), "BAD_INPUT"),
        (DeadlineError("late"), "TIMEOUT"),
        (Ended(LimitError("large")), "LIMIT_EXCEEDED"),
        (ValueError("ours"), "INTERNAL"),
    ],
    ids=lambda value: str(value),
)
def test_an_operation_costs_its_processor_time_however_it_ends(
    demo_service: Service,
    clock: Clock,
    processor: Processor,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException | None,
    code: str | None,
) -> None:
    whole = demo_service.retrieve

    def work(request: RetrieveRequest) -> Any:
        processor.seconds += 18.3
        if error is not None:
            raise error
        return whole(request)

    monkeypatch.setattr(demo_service, "retrieve", work)
    asked = client(demo_service, ServerOptions(max_cost=20, rate=0.5))
    answer = asked.post("/graphql", json={"query": SLOW}).json()
    assert [one["extensions"]["code"] for one in answer.get("errors", [])] == [code] * bool(code)
    cost = answer["extensions"]["cost"]
    assert (cost["requested"], cost["actual"]) == (1.0005, 183.0)
    # The client is in debt, and waits until all is paid that it has used.
    assert cost["throttleStatus"]["currentlyAvailable"] == 20 - 183
    refused = asked.post("/graphql", json=LOOKUP)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "327")
    clock.now += 327
    assert asked.post("/graphql", json=LOOKUP).status_code == 200


def test_a_client_that_goes_away_pays_for_what_was_begun(
    demo_service: Service, processor: Processor, monkeypatch: pytest.MonkeyPatch
) -> None:
    bills: list[Bill] = []
    settle = Bill.settle

    def settled(bill: Bill, used: float) -> None:
        settle(bill, used)
        bills.append(bill)

    def given_up(*_: Any) -> Any:
        processor.seconds += 2
        raise DeadlineError("the query was given up while walking the graph")

    monkeypatch.setattr(Bill, "settle", settled)
    monkeypatch.setattr(demo_service, "retrieve", given_up)
    asked = client(demo_service, ServerOptions(max_cost=50, rate=0.5))
    asked.post("/graphql", json={"query": SLOW})
    assert [bill._taken for bill in bills] == [20.0]


def test_reading_a_document_that_does_not_hold_is_paid(
    demo_service: Service, clock: Clock, processor: Processor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def checked(document: Any) -> list[GraphQLError]:
        processor.seconds += 0.1
        return [GraphQLError("no field x")]

    monkeypatch.setattr("graph_service.api.schema._invalidities", checked)
    asked = client(demo_service, ServerOptions(max_cost=20, rate=1.0))
    answer = asked.post("/graphql", json={"query": "{ nobodyAskedThisYet }"}).json()
    assert "extensions" not in answer
    monkeypatch.undo()
    status = asked.post("/graphql", json=LOOKUP).json()["extensions"]["cost"]["throttleStatus"]
    assert status["currentlyAvailable"] <= 19


def test_clients_behind_a_proxy_are_told_apart_by_its_header(
    demo_service: Service, clock: Clock
) -> None:
    options = ServerOptions(max_cost=12, rate=1.0, address_header="X-Forwarded-For", cache_bytes=0)
    asked = client(demo_service, options)

    def post(address: str) -> int:
        headers = {"x-forwarded-for": address}
        return asked.post("/graphql", json=COSTLY, headers=headers).status_code

    # What the client wrote before the proxy's address does not make it another one.
    assert [post("192.0.2.1"), post("192.0.2.9, 192.0.2.1")] == [200, 429]
    assert post("192.0.2.2") == 200
    # Without the option nobody can name himself.
    asked = client(demo_service, ServerOptions(max_cost=12, rate=1.0, cache_bytes=0))
    assert [post("192.0.2.3"), post("192.0.2.4")] == [200, 429]


def test_whose_request_it_is() -> None:
    def of(header: str = "", *values: str, host: str = "2001:db8:1:2::5") -> str:
        headers = [(b"x-forwarded-for", value.encode()) for value in values]
        scope: dict[str, Any] = {"type": "http", "headers": headers, "client": (host, 1)}
        return client_of(HTTPConnection(scope), header)

    assert of() == "2001:db8:1:2::/64"
    assert of("", "192.0.2.1") == "2001:db8:1:2::/64"
    assert of("X-Forwarded-For", "192.0.2.1", host="10.0.0.1") == "192.0.2.1"
    assert of("X-Forwarded-For", "192.0.2.1", "192.0.2.2", host="10.0.0.1") == "192.0.2.2"
    for unheard in ("", "unknown", "192.0.2.1,", "192.0.2.1:80"):
        assert of("X-Forwarded-For", unheard, host="10.0.0.1") == "10.0.0.1"
    assert of("X-Forwarded-For", host="10.0.0.1") == "10.0.0.1"


def test_a_bucket_fills_to_its_brim() -> None:
    clock = Clock()
    rates = Rates(2.0, 10.0, clock=clock)
    assert [rates.take("a", 8.0), rates.take("a", 8.0), rates.take("b", 8.0)] == [0.0, 3.0, 0.0]
    clock.now += 100
    assert rates.status("a")["currentlyAvailable"] == 10.0
    rates.settle("a", 5.0, 0.0)
    assert rates.take("a", 10.0) == 0.0
    assert rates.take("a", 1.0) == 0.5


def test_only_so_many_clients_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    from graph_service.server import rates as module

    monkeypatch.setattr(module, "MAX_CLIENTS", 2)
    rates = Rates(1.0, 10.0, clock=Clock())
    for one in ("a", "b", "a", "c"):
        rates.take(one, 4.0)
    assert [rates.status(one)["currentlyAvailable"] for one in ("a", "c")] == [2.0, 6.0]
    assert len(rates._buckets._buckets) == 2  # type: ignore[attr-defined]
