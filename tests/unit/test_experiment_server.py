"""Experiments over a server: the same answers, and a server that is away for a while (B4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from cli_runs import Cli
from error_texts import check_line, check_text
from experiment_runs import files, run_into, written
from made_keys import made_key
from served import served

from graph_service import Service
from graph_service.client import Client
from graph_service.client.http import Http
from graph_service.errors import (
    DeadlineError,
    ForbiddenError,
    GraphServiceError,
    LimitError,
    StoreError,
    StoreUnavailableError,
    ThrottledError,
)
from graph_service.server.options import ServerOptions
from queries.experiment.impact import NO_ARRAYS, VIEWS_NAME
from queries.experiment.retry_window import RetryingTransport

PLAN = """graphs: [demo]
questions: {file: questions.jsonl, first: 2}
methods: [{method: ed, each_question: gold, levels: [1.0]}]
retrieval: {max_hops: 1}
"""


def test_a_server_gives_the_bytes_that_a_store_gives_with_a_key_and_short_refusals_b4(
    demo_service: Service, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_into(tmp_path / "near", written(tmp_path, PLAN), demo_service)
    run = ("experiment", "run", "plan.yaml", "--out")
    key = made_key(tmp_path / "keys.json")
    with served(demo_service, ServerOptions(keys=tmp_path / "keys.json")) as url:
        refused = cli(*run, "far", "--server", url)
        assert refused.code != 0
        assert "key" in refused.err
        assert not (tmp_path / "far" / "answers.jsonl").exists()
        monkeypatch.setenv("GRAPH_SERVICE_API_KEY", key)
        assert cli(*run, "far", "--server", f"{url}/graphql", "--workers", "2").code == 0
    far, near = files(tmp_path / "far"), files(tmp_path / "near")
    assert {name for name in near if far[name] != near[name]} == {VIEWS_NAME}
    # Steps are counted in the store alone, and each line says so; nothing else of it differs.
    counted: dict[str, object] = dict.fromkeys(("steps_base", "steps_view", "expected", "changed"))
    counted |= {"why": NO_ARRAYS}
    pairs = zip(far[VIEWS_NAME].splitlines(), near[VIEWS_NAME].splitlines(), strict=True)
    for one, other in pairs:
        assert orjson.loads(one) == {**orjson.loads(other), **counted}
    # The server is gone: what was answered is there, and nothing more is asked of it.
    gone = cli(*run, "other", "--server", url, "--patience", "0")
    assert gone.code != 0
    assert "run the same" in gone.err


class Scripted:
    """Answers in turn; an error is raised."""

    def __init__(self, answers: Sequence[Mapping[str, Any] | GraphServiceError]) -> None:
        self.answers = list(answers)

    def send(self, document: str, variables: Mapping[str, Any], /) -> Mapping[str, Any]:
        answer = self.answers.pop(0)
        if isinstance(answer, GraphServiceError):
            raise answer
        return answer

    async def send_async(self, document: str, variables: Mapping[str, Any], /) -> Mapping[str, Any]:
        raise NotImplementedError

    def close(self) -> None:
        self.answers.clear()

    async def close_async(self) -> None:
        raise NotImplementedError


class Clock:
    def __init__(self) -> None:
        self.now = 100.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def refusal(code: str, **extensions: object) -> dict[str, Any]:
    return {"errors": [{"message": "not now", "extensions": {"code": code, **extensions}}]}


DONE: dict[str, Any] = {"data": {"graphs": []}}
AWAY = StoreUnavailableError("http://far does not answer")


def asked(
    *answers: Mapping[str, Any] | GraphServiceError, retry_window_s: float = 20
) -> tuple[list[float], list[str], Any]:
    """The waits, what was said, and the response or the error."""
    clock, said = Clock(), list[str]()
    patient = RetryingTransport(
        Scripted(answers),
        retry_window_s=retry_window_s,
        say=said.append,
        sleep=clock.sleep,
        clock=clock,
    )
    try:
        return clock.waits, said, patient.send("{ graphs }", {})
    except GraphServiceError as error:
        return clock.waits, said, error


def test_it_waits_as_long_as_the_server_asks() -> None:
    waits, said, response = asked(
        refusal("THROTTLED", retryAfterS=3), refusal("LIMIT_EXCEEDED", retryAfterS=1), DONE
    )
    assert (waits, response) == ([3, 1], DONE)
    check_text(said, "20 s")


def test_it_waits_longer_each_time_where_the_server_says_nothing() -> None:
    slow = DeadlineError("http://far did not answer within 60 s")
    waits, _, response = asked(AWAY, slow, refusal("TIMEOUT", retryable=True), DONE)
    # 0.5 s, then doubled.
    assert (waits, response) == ([0.5, 1, 2], DONE)


def test_it_ends_with_what_to_do_when_patience_is_at_an_end() -> None:
    waits, _, error = asked(AWAY, AWAY, AWAY, AWAY, retry_window_s=3)
    # 0.5 + 1 + 1.5: the last wait is cut to what is left.
    assert waits == [0.5, 1, 1.5]
    assert isinstance(error, StoreUnavailableError)
    check_line(error.message, "3 s")
    check_line(str(error.hint), "run the same")
    waits, _, error = asked(refusal("THROTTLED", retryAfterS=21))
    assert waits == []
    assert isinstance(error, ThrottledError)


@pytest.mark.parametrize("code", ["BAD_INPUT", "TIMEOUT", "STORE_UNAVAILABLE", "FORBIDDEN"])
def test_what_time_does_not_mend_is_told_at_once(code: str) -> None:
    waits, said, response = asked(refusal(code))
    assert (waits, said, response) == ([], [], refusal(code))


def test_the_client_tells_what_a_server_asks_to_wait() -> None:
    answers = [
        httpx.Response(429, headers={"retry-after": "7"}, json=refusal("THROTTLED")),
        httpx.Response(403, json=refusal("FORBIDDEN")),
        httpx.Response(502, text="<html>Bad gateway</html>"),
        httpx.Response(500, text="<html>Fault</html>"),
        httpx.Response(503, json=refusal("LIMIT_EXCEEDED", retryable=True)),
    ]
    transport = Http("http://127.0.0.1:1")
    transport._client = httpx.Client(transport=httpx.MockTransport(lambda request: answers.pop(0)))
    found = []
    with Client(transport) as client:
        for _ in range(5):
            with pytest.raises(GraphServiceError) as caught:
                client.graphs()
            error = caught.value
            found.append((type(error), error.retryable, error.retry_after_s))
    assert found == [
        (ThrottledError, True, 7.0),
        (ForbiddenError, False, None),
        (StoreUnavailableError, True, None),
        (StoreError, False, None),
        (LimitError, True, None),
    ]
