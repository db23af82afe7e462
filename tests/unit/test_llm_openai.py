"""The real openai client against a local server that speaks the protocol."""

from __future__ import annotations

import email.utils
import subprocess
import sys
import time
from dataclasses import replace

import pytest
from error_texts import raises
from openai_stand_in import Scripted, completion, error, ok, stand_in

from graph_service.cli.answer.chat_model import chat_model
from graph_service.cli.answer.options import ChatModelOptions
from graph_service.cli.score.judge_model import judges
from graph_service.cli.score.options import JudgeModelOptions
from graph_service.errors import InputError, LimitError, SetupError
from graph_service.settings import Settings
from queries.llm import (
    JsonForm,
    Message,
    OpenAIChat,
    Pace,
    ReplyError,
    ReplyFault,
    RetryPolicy,
    TokenChance,
    TokenChoice,
    TokenMeter,
    Usage,
    retry_after_s,
)

ASK = (Message("system", "Be short."), Message("user", "Who is Ada?"))


class Waits:
    """Stands in for ``time.sleep`` and keeps what was waited."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def chat(url: str, waits: Waits | None = None, **options: object) -> OpenAIChat:
    waited = waits or Waits()
    options.setdefault("retry", RetryPolicy(max_retries=2))
    # Its clock goes on by what was waited, so that a held pace waits no second time.
    options.setdefault("pace", Pace(clock=lambda: sum(waited.seconds), sleep=waited))
    return OpenAIChat(
        "stand-in",
        base_url=url,
        api_key="secret-key",
        sleep=waited,
        **options,  # type: ignore[arg-type]
    )


def test_a_reply_with_its_usage_and_what_was_sent() -> None:
    with stand_in(ok("Ada is a person.")) as server, chat(server.url) as model:
        reply = model.complete(ASK, temperature=0.5, max_tokens=9, random_seed=7, stop=["\n"])
        assert reply.text == "Ada is a person."
        assert reply.model == "stand-in-1"
        assert reply.finish_reason == "stop"
        assert reply.usage == Usage(10, 5)
        assert reply.request_id == "req-1"
        assert reply.tries == 1
        assert model.meter.used == Usage(10, 5)
        assert model.meter.requests == 1
    assert server.requests == [
        {
            "model": "stand-in",
            "messages": [
                {"role": "system", "content": "Be short."},
                {"role": "user", "content": "Who is Ada?"},
            ],
            "max_tokens": 9,
            "temperature": 0.5,
            "seed": 7,
            "stop": ["\n"],
        }
    ]
    assert server.headers[0]["authorization"] == "Bearer secret-key"


def test_what_is_not_asked_for_is_not_sent() -> None:
    with (
        stand_in(ok("x")) as server,
        chat(server.url, token_field="max_completion_tokens") as model,
    ):
        model.complete(ASK, temperature=None)
    assert set(server.requests[0]) == {"model", "messages", "max_completion_tokens"}


def test_429_waits_as_long_as_retry_after_says() -> None:
    waits = Waits()
    with (
        stand_in(error(429, headers={"retry-after": "7"}), ok("later")) as server,
        chat(server.url, waits) as model,
    ):
        reply = model.complete(ASK)
    assert (reply.text, reply.tries) == ("later", 2)
    assert waits.seconds == [7.0]


def test_429_waits_until_an_http_date() -> None:
    waits = Waits()
    moment = email.utils.formatdate(1_000_012, usegmt=True)
    with (
        stand_in(error(429, headers={"retry-after": moment}), ok("later")) as server,
        chat(server.url, waits, clock=lambda: 1_000_000.0) as model,
    ):
        assert model.complete(ASK).text == "later"
    assert waits.seconds == [12.0]


def test_a_wait_past_the_limit_is_a_failure_and_says_so() -> None:
    waits = Waits()
    with (
        stand_in(error(429, headers={"retry-after": "3600"})) as server,
        chat(server.url, waits) as model,
        raises(ReplyError) as caught,
    ):
        model.complete(ASK)
    assert caught.value.fault is ReplyFault.RATE_LIMIT
    assert waits.seconds == []
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        (error(500), ReplyFault.SERVER),
        (error(503), ReplyFault.SERVER),
        (error(429), ReplyFault.RATE_LIMIT),
        (Scripted(200, b"<html>busy</html>"), ReplyFault.MALFORMED),
        (Scripted(200, b"nonsense {", {"content-type": "text/plain"}), ReplyFault.MALFORMED),
        (Scripted(200, {"choices": None}), ReplyFault.MALFORMED),
        (Scripted(200, {"choices": [{"index": 0}]}), ReplyFault.MALFORMED),
        (Scripted(200, ["a list"]), ReplyFault.MALFORMED),
        (Scripted(200, {"choices": []}), ReplyFault.EMPTY),
        (Scripted(200, completion(None)), ReplyFault.EMPTY),
        (Scripted(200, completion("  \n")), ReplyFault.EMPTY),
        (Scripted(200, completion("cut off in the middle"), cut=40), ReplyFault.UNREACHABLE),
        (Scripted(drop=True), ReplyFault.UNREACHABLE),
    ],
    ids=lambda item: item.value if isinstance(item, ReplyFault) else "",
)
def test_passing_faults_are_tried_again_and_then_told(reply: Scripted, fault: ReplyFault) -> None:
    waits = Waits()
    with stand_in(reply, reply, ok("well again")) as server, chat(server.url, waits) as model:
        assert model.complete(ASK).text == "well again"
        assert len(waits.seconds) == 2
        # Half to all of 0.5 s, then of 1 s.
        assert 0.25 <= waits.seconds[0] <= 0.5 <= waits.seconds[1] <= 1.0
    with (
        stand_in(reply) as server,
        chat(server.url) as model,
        raises(ReplyError) as caught,
    ):
        model.complete(ASK)
    assert caught.value.fault is fault
    assert caught.value.retryable
    assert len(server.requests) == 3


def test_a_slow_endpoint_is_a_time_out() -> None:
    with (
        stand_in(Scripted(silent=True)) as server,
        chat(server.url, timeout_s=0.1, retry=RetryPolicy(max_retries=0)) as model,
        raises(ReplyError) as caught,
    ):
        model.complete(ASK)
    assert caught.value.fault is ReplyFault.TIMEOUT


def test_nobody_listens() -> None:
    """From the start that is the set-up; after a first reply it is a failure of one case."""
    waits = Waits()
    with stand_in(ok("x")) as server:
        url = server.url
    with (
        chat(url, waits, retry=RetryPolicy(max_retries=1)) as model,
        raises(SetupError) as caught,
    ):
        model.complete(ASK)
    assert "--model-url" in str(caught.value)
    with chat(url, waits, retry=RetryPolicy(max_retries=1)) as model:
        last = replace(ok("x"), headers={"connection": "close"})
        with stand_in(error(500), last, port=int(url.split(":")[2].split("/")[0])):
            assert model.complete(ASK).text == "x"
        with pytest.raises(ReplyError, match="the connection to") as lost:
            model.complete(ASK)
    assert lost.value.fault is ReplyFault.UNREACHABLE


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(401, "bad key"), SetupError),
        (error(403, "not yours"), SetupError),
        (error(404, "no such model"), SetupError),
        (error(429, "pay first", code="insufficient_quota"), LimitError),
        (error(402, "pay first"), LimitError),
        (error(400, "context too long"), ReplyError),
        (error(400, "no", code="content_filter"), ReplyError),
        (error(400, "Use 'max_completion_tokens' instead of 'max_tokens'"), ReplyError),
        (Scripted(200, completion(None, finish="content_filter")), ReplyError),
        (Scripted(200, completion(None, refusal="I will not.")), ReplyError),
    ],
)
def test_lasting_faults_are_told_at_once(reply: Scripted, kind: type[Exception]) -> None:
    waits = Waits()
    with (
        stand_in(reply) as server,
        chat(server.url, waits) as model,
        raises(kind) as caught,
    ):
        model.complete(ASK)
    assert len(server.requests) == 1
    assert waits.seconds == []
    assert "secret-key" not in str(caught.value)
    assert "secret-key" not in repr(model)


def test_a_reply_cut_at_its_limit_is_a_reply() -> None:
    with stand_in(ok("Ada is", finish="length")) as server, chat(server.url) as model:
        assert model.complete(ASK, max_tokens=2).finish_reason == "length"


def test_the_token_limit_of_a_run_stops_the_next_request() -> None:
    # Each reply is 15 tokens; a request may take (9 + 11 bytes) / 3 + 2 = 8, and 20 of reply.
    meter = TokenMeter(limit=50)
    with stand_in(ok("x")) as server, chat(server.url, meter=meter) as model:
        model.complete(ASK, max_tokens=20)
        model.complete(ASK, max_tokens=20)
        with raises(LimitError):
            model.complete(ASK, max_tokens=20)
    assert len(server.requests) == 2


def test_usage_is_estimated_where_the_endpoint_is_silent() -> None:
    with stand_in(Scripted(200, completion("eleven byte"))) as server, chat(server.url) as model:
        reply = model.complete(ASK)
    assert reply.usage == Usage(8, 4, estimated=True)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now=time.time()) == seconds


def test_waits_double_and_stay_under_the_limit() -> None:
    policy = RetryPolicy(first_wait_s=1.0, max_wait_s=5.0)
    assert [policy.wait_s(i, requested_s=None, draw=1.0) for i in (1, 2, 3, 4)] == [1, 2, 4, 5]
    assert [policy.wait_s(i, requested_s=None, draw=0.0) for i in (1, 2, 3, 4)] == [0.5, 1, 2, 2.5]


def test_a_key_or_an_address_is_needed() -> None:
    with pytest.raises(SetupError, match="OPENAI_API_KEY"):
        OpenAIChat("some-model")
    for address in ("localhost:11434/v1", "foo"):
        with pytest.raises(InputError, match="begins with http"):
            OpenAIChat("m", base_url=address)
    with pytest.raises(InputError, match="name is empty"):
        OpenAIChat("", base_url="http://127.0.0.1:1/v1")


def test_openai_is_imported_with_the_first_request_only() -> None:
    code = (
        "import sys, queries.llm as llm, queries.experiment.runner\n"
        "llm.OpenAIChat('m', base_url='http://127.0.0.1:1/v1')\n"
        "assert 'openai' not in sys.modules and 'httpx' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_log_probabilities_are_asked_for_and_read() -> None:
    logprobs = [("5", -0.1, [("5", -0.1), ("4", -2.5)]), (".", -0.5, [])]
    with (
        stand_in(ok("5.", logprobs=logprobs), ok("5.")) as server,
        chat(server.url) as model,
    ):
        reply = model.complete(ASK, top_logprobs=2)
        assert reply.logprobs == (
            TokenChoice("5", -0.1, (TokenChance("5", -0.1), TokenChance("4", -2.5))),
            TokenChoice(".", -0.5),
        )
        assert model.complete(ASK, top_logprobs=0).logprobs == (), "the endpoint gives none"
        with pytest.raises(InputError, match="0 to 20, got 21"):
            model.complete(ASK, top_logprobs=21)
    assert server.requests[0]["logprobs"] is True
    assert server.requests[0]["top_logprobs"] == 2
    assert "top_logprobs" not in server.requests[1]


def test_damaged_log_probabilities_are_a_malformed_reply() -> None:
    body = completion("5")
    body["choices"][0]["logprobs"] = {"content": [{"token": "5"}]}
    with (
        stand_in(Scripted(200, body)) as server,
        chat(server.url) as model,
        raises(ReplyError) as caught,
    ):
        model.complete(ASK, top_logprobs=1)
    assert caught.value.fault is ReplyFault.MALFORMED


def test_a_structured_reply_is_asked_for() -> None:
    form = JsonForm("verdict", {"type": "object", "properties": {"a": {"type": "string"}}})
    with stand_in(ok('{"a": "b"}')) as server, chat(server.url) as model:
        assert model.complete(ASK, form=form).text == '{"a": "b"}'
    assert server.requests[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "verdict",
            "schema": {"type": "object", "properties": {"a": {"type": "string"}}},
            "strict": True,
        },
    }


def test_an_endpoint_that_drips_is_a_time_out() -> None:
    """Every byte comes in time, the whole never does."""
    drip = Scripted(200, completion("a long answer"), drip_s=0.05)
    with (
        stand_in(drip) as server,
        chat(server.url, timeout_s=0.3, retry=RetryPolicy(max_retries=0)) as model,
    ):
        with raises(ReplyError) as caught:
            model.complete(ASK)
        # It is not asked twice. The server may not have read the request yet, and counts an answer
        # when its last byte is out.
        assert len(server.requests) <= 1
        assert server.answered == []
    assert caught.value.fault is ReplyFault.TIMEOUT


def test_the_time_limit_of_a_call_covers_its_tries_and_waits() -> None:
    with (
        stand_in(error(500)) as server,
        chat(
            server.url,
            call_limit_s=600.0,
            retry=RetryPolicy(max_retries=9, first_wait_s=1400.0, max_wait_s=1800.0),
        ) as model,
        raises(ReplyError),
    ):
        model.complete(ASK)
    assert len(server.requests) == 1


def test_a_429_holds_back_all_that_share_the_pace() -> None:
    waits = Waits()
    moments = iter([0.0] * 50)
    pace = Pace(clock=lambda: next(moments), sleep=waits)
    held: list[float] = []
    pace.hold = held.append  # type: ignore[method-assign]
    with (
        stand_in(error(429, headers={"retry-after": "7"}), ok("later")) as server,
        chat(server.url, waits, pace=pace) as model,
    ):
        assert model.complete(ASK).text == "later"
    assert held == [7.0]


def test_requests_at_once_do_not_pass_the_limit_together() -> None:
    """Each may take 30 of 50 tokens: one goes, the other is stopped while the first is under way."""
    meter = TokenMeter(limit=50)
    with (
        meter.reserve(30),
        raises(LimitError),
        meter.reserve(30),
    ):
        pass
    with meter.reserve(50):
        pass
    meter.add(Usage(10, 15))
    with (
        raises(LimitError),
        meter.reserve(26),
    ):
        pass


def test_a_verb_closes_the_connections_of_its_model(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr(OpenAIChat, "close", lambda self: closed.append(self.name))
    address = "http://127.0.0.1:9/v1"
    with chat_model(ChatModelOptions(model="a", model_url=address), Settings()) as model:
        assert model is not None
        assert closed == []
    with judges(JudgeModelOptions(model="b", model_url=address)) as judge:
        assert judge() is judge()
        assert closed == ["a"]
    assert closed == ["a", "b"]
