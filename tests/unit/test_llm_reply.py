"""What a model replies, read in one place: thoughts, JSON, errors in a body, lists, a cut."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import Any

import pytest
from error_texts import check_line, raises
from hand_chat import HandChat, script
from hypothesis import given
from hypothesis import strategies as st
from openai_stand_in import Scripted, completion, ok, stand_in
from query_samples import HandRetriever, triple, triplets

import queries.llm.endpoint as endpoint
from graph_service.errors import LimitError, SetupError
from graph_service.http.openai_client import OpenAIClient
from queries.builders.asking import read_sentence, request_value
from queries.builders.stages import RefusedError
from queries.generate.answer import Answer, Generation, Setting, answer
from queries.llm import (
    Message,
    OpenAIChat,
    Rendered,
    ReplyError,
    ReplyFault,
    RetryPolicy,
    TokenChance,
    TokenChoice,
)
from queries.llm.completion import read_completion
from queries.llm.reply import (
    CUT_WITHIN_THOUGHTS,
    UnreadableReplyError,
    list_items,
    read_json,
    read_json_text,
    read_reply,
)
from queries.score.case import TextCase
from queries.score.fact_check import read_facts
from queries.score.geval import PRESETS, GEval, Preset, Weighting, rate_text
from queries.score.judge import Judge, read_choice, request_verdict

ANSWER = "Brook Mill is based in Cork [1]."
BASED = triple("s1", "Q1", "based in", "Cork", label="Brook Mill")
FOUNDED = triple("s2", "Q1", "founded in", "1948", label="Brook Mill")
ASK = (Message("user", "Where is Brook Mill based?"),)

THOUGHTS = {
    "tag": "<think>It may be Dublin [2].</think>\n\n{}",
    "tag, empty": "<think>\n\n</think>\n\n{}",
    "closing tag alone": "It may be Dublin [2]. Let me look.\n</think>\n\n{}",
    "upper case": "<THINK>Dublin [2]?</THINK> {}",
    "thinking": "<thinking>Dublin [2]?</thinking>{}",
    "thinking with an attribute": '<thinking effort="high">Dublin [2]?</thinking>{}',
    "reasoning": "<Reasoning>Dublin [2]?</Reasoning>\n{}",
    "thought": "<thought>Dublin [2]?</thought>\n{}",
    "a tag within": "<think>I <think> of Dublin [2].</think> No.</think> {}",
    "begun by the prompt, a tag within": "Dublin [2]? <think>Rome?</think> No [2].</think> {}",
    "twice": "<think>Dublin [2]?</think><think>Rome [2]?</think>{}",
    "seed": "<seed:think>Dublin [2]?</seed:think>{}",
    "magistral": "[THINK]Dublin [2]?[/THINK]{}",
    "kimi": "◁think▷Dublin [2]?◁/think▷{}",
    "command": "<|START_THINKING|>Dublin [2]?<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>",
    "sky": "<|begin_of_thought|>Dublin [2]?<|end_of_thought|>\n<|begin_of_solution|>{}",
    "gemma": "<|channel>thought\nDublin [2]?<channel|>{}",
    "granite": "Here is my thought process: Dublin [2]? Here is my response: {}",
    "apriel": "Here are my reasoning steps:\nDublin [2]?\n[BEGIN FINAL RESPONSE]\n{}\n"
    "[END FINAL RESPONSE]",
    "apertus": "<|inner_prefix|>Dublin [2]?<|inner_suffix|>{}",
    "a tag that closes itself": "<think />{}",
    "a tag that closes itself, no space": "<think/>\n{}",
    "analysis": "<analysis>Dublin [2]?</analysis>{}",
    "inner thoughts": "<inner_thoughts>Dublin [2]?</inner_thoughts>{}",
    "inner monologue": "<INNER_MONOLOGUE>Dublin [2]?</INNER_MONOLOGUE>{}",
    "reasoning content": "<reasoning_content>Dublin [2]?</reasoning_content>{}",
    "answer tag": "<think>Dublin [2]?</think>\n<answer>{}</answer>",
    "channels": "<|channel|>analysis<|message|>Dublin [2]?<|end|><|start|>assistant<|channel|>final"
    "<|message|>{}<|return|>",
    "channels, begun by the prompt": "Dublin [2]?<|end|><|start|>assistant<|channel|>final"
    "<|message|>{}",
    "channels of three kinds": "<|channel|>analysis<|message|>Dublin [2]?<|end|><|start|>assistant"
    "<|channel|>commentary<|message|>I look it up [2].<|end|><|start|>assistant<|channel|>final "
    "<|constrain|>text<|message|>{}",
    "channels without their tokens": "analysisWe need Dublin [2].assistantfinal{}",
}
CUT = {
    "tag": "<think>It may be Dublin [2].",
    "after words": "Let me see. <THINKING>It may be Dublin [2].",
    "second tag": "<think>Dublin?</think> It is <think>not Dublin [2]",
    "magistral": "[THINK]Dublin [2]",
    "apriel": "Here are my reasoning steps:\nDublin [2]",
    "apertus": "<|inner_prefix|>Dublin [2]",
    "channel": "<|channel|>analysis<|message|>It may be Dublin [2].",
    "channel's head": "<|channel|>analysis",
    "channel that ended": "<|channel|>analysis<|message|>Dublin [2].<|end|><|start|>assistant",
    "channels without their tokens": "analysisWe need Dublin [2].",
    "granite": "Here's my thought process: Dublin [2].",
}


def answered(reply: str, **options: Any) -> Answer:
    given_ = HandRetriever(lambda *_: triplets([(BASED, 2.0), (FOUNDED, 1.0)]))
    return answer(
        "Where is Brook Mill based?",
        retriever=given_,
        model=HandChat(lambda _: reply, **options),
        setting=Setting.KALMA_NUMBERED,
    )


@pytest.mark.parametrize("form", THOUGHTS.values(), ids=THOUGHTS)
def test_thoughts_are_no_part_of_an_answer_or_a_verdict(form: str) -> None:
    found = answered(form.format(ANSWER))
    assert [part.text for part in found.sentences] == ["Brook Mill is based in Cork."]
    assert [c.statement_id for part in found.sentences for c in part.citations] == ["s1"]
    check_line(found.notes, "before the answer")
    judged = request_verdict(
        Judge(HandChat(lambda _: form.replace("[2]", "[[B]]").format("So [[A]]"))),
        ASK,
        lambda text: read_choice(text, ("A", "B")),
    )
    assert (judged.value, judged.reply) == ("A", "So [[A]]")


def test_thoughts_in_the_middle_leave_what_stands_around_them() -> None:
    found = answered("It is in Cork [1]. <think>And the year [1]?</think> It was in 1948 [2].")
    assert [part.text for part in found.sentences] == ["It is in Cork.", "It was in 1948."]


@pytest.mark.parametrize("reply", CUT.values(), ids=CUT)
def test_a_reply_that_ends_within_its_thoughts_has_no_answer(reply: str) -> None:
    found = answered(reply, finish="length")
    assert (found.text, found.sentences) == ("", ())
    assert found.failure is not None
    assert CUT_WITHIN_THOUGHTS in found.failure
    assert "cut at" in found.failure
    judged = request_verdict(
        Judge(HandChat(lambda _: reply.replace("[2]", "[[B]]"))),
        ASK,
        lambda text: read_choice(text, ("A", "B")),
    )
    assert judged.value is None
    assert CUT_WITHIN_THOUGHTS in str(judged.failure)


@pytest.mark.parametrize(
    "text",
    ["A <b>bold</b> one.", "x < y and y > z", "[think] so", "Analysis: it is.", "analysis of it"],
)
def test_other_tags_are_words(text: str) -> None:
    assert read_reply(text).text == text


@pytest.mark.parametrize("label", ["Foo <think>", "A </think> B", "<think>", "x <|channel|> y"])
def test_a_tag_within_a_label_is_data(label: str) -> None:
    said = f"{label} is based in Cork."
    assert read_reply(said, labels=[label]).text == said


@given(st.text(max_size=80))
def test_any_reply_is_read_or_refused(text: str) -> None:
    try:
        said = read_reply(text)
    except UnreadableReplyError:
        return
    assert said.thoughts or said.text == text


def test_a_rating_is_weighed_where_the_answer_says_it() -> None:
    """The 2 in the thoughts has other likely tokens beside it: (3 * .5 + 4 * .5) = 3.5."""
    half = math.log(0.5)
    tokens = (
        *(TokenChoice(part, 0.0) for part in ("<think>", "A ")),
        TokenChoice("3", half, (TokenChance("3", half), TokenChance("1", half))),
        TokenChoice("</think>", 0.0),
        TokenChoice("3", half, (TokenChance("3", half), TokenChance("4", half))),
    )
    preset = Preset("one", ("fluency",), 1, 5, Weighting.LOGPROBS, {})
    chat = HandChat(lambda _: "<think>A 3</think>3", chances=lambda _: tokens)
    row = rate_text(TextCase("1", "Who?", "Ada."), by=GEval(Judge(chat), preset))
    (rating,) = row.scores["fluency"].runs
    assert rating == pytest.approx(3.5)
    lost = HandChat(lambda _: "<think>A 3", chances=lambda _: tokens)
    row = rate_text(TextCase("1", "Who?", "Ada."), by=GEval(Judge(lost), preset))
    assert CUT_WITHIN_THOUGHTS in str(row.failure)


# JSON


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (rb'{"a": "X \ud83d"}', {"a": "X �"}),
        (rb'{"a": "\udc00\ud83d\ude00"}', {"a": "�\U0001f600"}),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "X \xf0\x9f"}', {"a": "X �"}),
        (b'{"a": Infinity, "b": -Infinity}', {"a": math.inf, "b": -math.inf}),
        (b'{"a": "one\nline"}', {"a": "one\nline"}),
        ('{"a": 1}'.encode("utf-16"), {"a": 1}),
        (rb'{"\ud83d": [["\ud83d"]]}', {"�": [["�"]]}),
    ],
)
def test_json_is_read_as_python_reads_it(content: bytes, value: object) -> None:
    assert read_json(content) == value
    json.dumps(value).encode()


def test_what_is_no_json_says_what_is_wrong_with_it() -> None:
    with pytest.raises(ValueError, match="line 1 column 6"):
        read_json(b'{"a":')
    with pytest.raises(ValueError, match="empty"):
        read_json(b"  ")
    with raises(UnreadableReplyError):
        read_json_text("no JSON at all")
    assert read_json_text('```json\n{"a": "\\ud83d"}\n```') == {"a": "�"}
    assert read_json_text('Here:\n```\n{"a": 1}\n```\nDone.') == {"a": 1}


def chat(url: str, **options: Any) -> OpenAIChat:
    options.setdefault("retry", RetryPolicy(max_retries=2))
    return OpenAIChat("stand-in", base_url=url, api_key="k", sleep=lambda _: None, **options)


def test_a_reply_with_half_an_emoji_and_nan_is_read_at_once() -> None:
    logprobs = [("X", math.nan, [("X", math.nan), ("Y", -math.inf)])]
    body = json.dumps(completion("X \ud83d", logprobs=logprobs)).encode()
    assert b"NaN" in body
    assert b"\\ud83d" in body
    with stand_in(Scripted(200, b"\xef\xbb\xbf" + body)) as server, chat(server.url) as model:
        reply = model.complete(ASK, top_logprobs=2)
    assert reply.text == "X �"
    assert len(server.requests) == 1
    # Kept replies hold numbers: JSON that is written has no NaN.
    chances = (TokenChance("X", -9999.0), TokenChance("Y", -9999.0))
    assert reply.logprobs == (TokenChoice("X", -9999.0, chances),)


def test_what_is_wrong_with_a_body_is_told() -> None:
    with stand_in(Scripted(200, b'{"choices": [}')) as server, chat(server.url) as model:
        with pytest.raises(ReplyError, match="line 1 column 14") as caught:
            model.complete(ASK)
        assert caught.value.fault is ReplyFault.MALFORMED


# Errors with a status of success


@pytest.mark.parametrize(
    ("reported", "kind", "tries"),
    [
        ({"message": "slow down", "code": 429}, ReplyError, 3),
        ({"message": "slow down", "type": "rate_limit_error"}, ReplyError, 3),
        ({"message": "busy", "code": 503}, ReplyError, 3),
        ({"message": "busy"}, ReplyError, 3),
        ("something broke", ReplyError, 3),
        ({"message": "too long", "code": 400}, ReplyError, 1),
        ({"message": "too long", "type": "invalid_request_error"}, ReplyError, 1),
        ({"message": "bad key", "code": "invalid_api_key"}, SetupError, 1),
        ({"message": "bad key", "code": "401"}, SetupError, 1),
        ({"message": "no such model", "code": "model_not_found"}, SetupError, 1),
        ({"message": "pay", "code": "insufficient_quota"}, LimitError, 1),
        ({"message": "pay", "code": 402}, LimitError, 1),
    ],
)
@pytest.mark.parametrize("where", ["body", "choice"])
def test_an_error_with_status_200_is_that_error(
    reported: Any, kind: type[Exception], tries: int, where: str
) -> None:
    body: Any = {"error": reported}
    if where == "choice":
        body = completion("")
        body["choices"][0]["error"] = reported
    with (
        stand_in(Scripted(200, body)) as server,
        chat(server.url) as model,
        pytest.raises(kind) as caught,
    ):
        model.complete(ASK)
    assert len(server.requests) == tries
    said = reported if isinstance(reported, str) else reported["message"]
    assert said in str(caught.value)


def test_an_answer_that_never_began_is_paid_for_once() -> None:
    """An endpoint that tells thoughts apart sends no text where they were cut."""
    body = completion("", finish="length")
    body["choices"][0]["message"]["reasoning_content"] = "It may be"
    with (
        stand_in(Scripted(200, body)) as server,
        chat(server.url) as model,
        raises(ReplyError) as caught,
    ):
        model.complete(ASK)
    assert caught.value.fault is ReplyFault.EMPTY
    assert len(server.requests) == 1


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS", "model_length"])
def test_a_cut_is_known_by_the_names_that_endpoints_give_it(finish: str) -> None:
    body = json.dumps(completion("Ada is", finish=finish)).encode()
    assert read_completion(200, {}, body).finish == "length"


def test_an_error_that_is_null_is_none() -> None:
    body = {**completion("x"), "error": None}
    assert read_completion(200, {}, json.dumps(body).encode()).text == "x"


# The address, and the time that an import takes


@pytest.mark.parametrize("around", [" {} ", "{}/", "{}//\n"])
def test_an_address_may_have_spaces_and_slashes_at_its_ends(around: str) -> None:
    with stand_in(ok("x")) as server, chat(around.format(server.url)) as model:
        assert model.complete(ASK).text == "x"
        assert server.url in repr(model)


def test_the_limit_of_a_call_does_not_count_what_is_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = SimpleNamespace(now=0.0)
    opens = OpenAIClient.open

    def slowly(self: OpenAIClient) -> Any:
        clock.now += 100.0
        return opens(self)

    monkeypatch.setattr(OpenAIClient, "open", slowly)
    monkeypatch.setattr(endpoint, "time", SimpleNamespace(monotonic=lambda: clock.now))
    with (
        stand_in(Scripted(500, {}), ok("x")) as server,
        chat(server.url, call_limit_s=50.0) as model,
    ):
        assert model.complete(ASK).text == "x"


# Lists


@pytest.mark.parametrize(
    "text",
    [
        "none",
        "None.",
        "- none",
        "- None.",
        "* none",
        "**none**",
        "- **None**",
        "1. none",
        "`none`",
        "Facts:\n- none",
    ],
)
def test_none_is_an_empty_list(text: str) -> None:
    assert read_facts(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "- Ada sang.\n- Ada slept.",
        "1. Ada sang.\n2. Ada slept.",
        "1) Ada sang.\n2) Ada slept.",
        "(1) Ada sang.\n(2) Ada slept.",
        "• Ada sang.\n• Ada slept.",
        "- **Ada sang.**\n- __Ada slept.__",
        "- **Ada sang**.\n- *Ada slept.*",
        "- Ada sang.\n* * *\n- Ada slept.\n---\n- none",
        "**Facts:**\n\n- Ada sang.\n\n- Ada slept.",
        "1. **Ada:**\n   - Ada sang.\n   - Ada slept.",
        "- **Ada** sang.\n- Ada slept.\n***",
    ],
)
def test_facts_are_the_items_of_any_list(text: str) -> None:
    assert read_facts(text) == ("Ada sang.", "Ada slept.")


def test_what_is_no_list_is_unreadable() -> None:
    for text in ("Ada sang.", "", "* * *", "None of it can be checked."):
        with pytest.raises(UnreadableReplyError):
            read_facts(text)
    assert list_items("- 1984 was written by Orwell.") == ("1984 was written by Orwell.",)


# A cut


def test_a_cut_answer_is_told_and_a_cut_verdict_failed() -> None:
    found = answered("Brook Mill is based in Cork [1]. It was fou", finish="length")
    assert found.failure is None
    assert any("cut at" in note for note in found.notes)

    def verdict(text: str, *, ends: bool = False) -> Any:
        judge = Judge(HandChat(lambda _: text, finish="length"))
        return request_verdict(
            judge, ASK, lambda said: read_choice(said, ("A", "B")), verdict_is_last=ends
        )

    within = verdict("It may be [[A]], though", ends=True)
    assert within.value is None
    assert "cut at 512 tokens" in within.failure
    assert verdict("So it is [[A]]", ends=True).value == "A"
    assert verdict("[[A]]").value is None
    rating = HandChat(lambda _: "1", finish="length")
    row = rate_text(TextCase("1", "Who?", "Ada."), by=GEval(Judge(rating), PRESETS["kalma"]))
    assert "cut at 512 tokens" in str(row.failure)


def test_a_builder_takes_no_cut_reply() -> None:
    messages = Rendered(ASK, label="x@1")
    with pytest.raises(RefusedError, match="cut at 9 tokens"):
        request_value(
            HandChat(script("Ada sang in"), finish="length"),
            messages,
            read_sentence,
            generation=Generation(max_tokens=9),
        )
