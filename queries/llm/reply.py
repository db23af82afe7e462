"""Reads what a model replies: its thoughts, the JSON it comes in or holds, lists, and ``none``.

Every caller that asks a model reads its reply here: answers, judges, builders and rankers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import orjson

from graph_service.text.labels import label_spans, masked

CUT_WITHIN_THOUGHTS = "it ends within its thoughts, before any answer"


CUT = "length"
"""The finish reason of a reply that was cut at its limit of tokens."""


def cut_note(max_tokens: int, /) -> str:
    """Returns what a reader is told of a reply that was cut."""
    return f"the reply was cut at {max_tokens} tokens"


class UnreadableReplyError(Exception):
    """A reply is not in the form that was asked for; the message says what was expected."""


@dataclass(frozen=True, slots=True)
class ReplyText:
    """A reply without its thoughts.

    Attributes:
        thoughts: Whether thoughts were left out.
        start: Where the answer begins in the reply as it came: after the last thought.
    """

    text: str
    thoughts: bool = False
    start: int = 0


# Thoughts. Forms of public models: DeepSeek R1, Qwen, GLM and most others (<think>, or its closing
# tag alone), Seed-OSS (<seed:think>), LongCat (<longcat_think>), Magistral ([THINK]), Kimi
# (◁think▷), Command A (<|START_THINKING|>), Sky-T1 (<|begin_of_thought|>), Gemma 4
# (<|channel>thought), Granite (Here is my thought process:), Apriel (Here are my
# reasoning steps:), Apertus (<|inner_prefix|>) and gpt-oss (channels of harmony).
_NAME = (
    r"(?:(?:seed:|longcat_|ant)?(?:think|thinking|thoughts?|reason|reasoning|reflection|scratchpad)"
    r"|analysis|inner_(?:thoughts?|monologue)|reasoning_content)"
)
_SPECIAL = r"(?:thinking|thoughts?|reasoning)"
_TAG = re.compile(
    rf"(?P<empty><{_NAME}\s*/>)"
    rf"|(?P<open><{_NAME}(?:\s[^<>]*)?>|<\|{_NAME}\|>|◁think▷|<\|start_thinking\|>"
    rf"|<\|begin_of_{_SPECIAL}\|>|<\|inner_prefix\|>"
    rf"|<\|channel>\s*(?:thought|thinking|analysis)\b|(?-i:\[THINK\]))"
    rf"|(?P<close></{_NAME}\s*>|<\|/{_NAME}\|>|◁/think▷|<\|end_thinking\|>"
    rf"|<\|end_of_{_SPECIAL}\|>|<\|inner_suffix\|>|<channel\|>|(?-i:\[/THINK\]))",
    re.IGNORECASE,
)
_MESSAGE = re.compile(r"<\|message\|>")
_CHANNEL = re.compile(r"<\|channel\|>\s*([a-z]*)", re.IGNORECASE)
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
# The channels of gpt-oss where a server leaves out special tokens: "analysisWe ...assistantfinalIt".
_PLAIN_ANALYSIS = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?=[A-Z])")
_PLAIN_FINAL = re.compile(r"assistantfinal")
_GRANITE = re.compile(r"\s*here(?:'s|’s| is) my thought process:", re.IGNORECASE)
_GRANITE_ANSWER = re.compile(r"here(?:'s|’s| is) my response:", re.IGNORECASE)
_APRIEL = re.compile(r"\s*here are my reasoning steps:", re.IGNORECASE)
_APRIEL_ANSWER = re.compile(r"\[BEGIN FINAL RESPONSE\]")
_APRIEL_END = "[END FINAL RESPONSE]"
_HEADINGS = (
    (_PLAIN_ANALYSIS, _PLAIN_FINAL),
    (_GRANITE, _GRANITE_ANSWER),
    (_APRIEL, _APRIEL_ANSWER),
)
# What holds the answer beside the thoughts.
_WRAPPED = re.compile(
    r"\s*(?:<answer>|<response>|<\|begin_of_solution\|>|<\|start_response\|>)\s*(.*?)\s*"
    r"(?:</answer>|</response>|<\|end_of_solution\|>|<\|end_response\|>)?\s*",
    re.IGNORECASE | re.DOTALL,
)


def read_reply(text: str, /, *, labels: Iterable[str] = ()) -> ReplyText:
    r"""Returns a reply without its thoughts.

    Args:
        text: The reply as it came.
        labels: Of the data that the model was shown: a tag within one of them is no thought.

    Raises:
        UnreadableReplyError: It ends within its thoughts: it holds no answer.

    >>> read_reply("<think>Rome?</think>\nIt is Pisa.").text
    'It is Pisa.'
    >>> read_reply("Rome? No.</think>It is Pisa.").text
    'It is Pisa.'
    """
    shadow = text
    known: frozenset[str] = frozenset()
    if "<" in text or "[" in text or "◁" in text:
        marked = [label for label in labels if _TAG.search(label) or "<|" in label]
        known = frozenset(label.strip().casefold() for label in marked)
        # A label that is a tag and no more can't be told from one by its characters.
        longer = [label for label in marked if not _TAG.fullmatch(label.strip())]
        shadow = masked(text, label_spans(text, longer))
    content = _of_channels(text, shadow) or _of_tags(text, shadow, known)
    if content.thoughts:
        wrapped = _WRAPPED.fullmatch(content.text)
        if wrapped is not None and wrapped[1]:
            return ReplyText(wrapped[1], True, content.start)
    return content


def _of_channels(text: str, shadow: str) -> ReplyText | None:
    """The final channel of a reply in channels, or what follows a heading of the response."""
    if "<|channel|>" in shadow or "<|message|>" in shadow:
        texts: list[str] = []
        start = before = 0
        for message in _MESSAGE.finditer(shadow):
            named = _CHANNEL.findall(shadow, before, message.start())
            before = message.end()
            if named and named[-1].lower() != "final":
                continue
            end_match = _MESSAGE_END.search(shadow, message.end())
            start = message.end()
            texts.append(text[start : end_match.start() if end_match else len(text)])
        if not texts:
            raise UnreadableReplyError(CUT_WITHIN_THOUGHTS)
        return ReplyText("".join(texts).strip(), True, start)
    for begins, answers in _HEADINGS:
        if begins.match(shadow):
            channel_marks = list(answers.finditer(shadow))
            if not channel_marks:
                raise UnreadableReplyError(CUT_WITHIN_THOUGHTS)
            start = channel_marks[-1].end()
            content = text[start:].strip().removesuffix(_APRIEL_END)
            return ReplyText(content.strip(), True, start)
    return None


def _of_tags(text: str, shadow: str, known: frozenset[str]) -> ReplyText:
    """A reply without what stands between tags of thought.

    A closing tag that closes nothing ends what the prompt began: all before it is thought.
    """
    parts: list[str] = []
    thoughts = False
    start = end = 0
    opened: re.Match[str] | None = None
    for tag in _TAG.finditer(shadow):
        if tag.lastgroup == "empty":
            if opened is None:
                parts.append(text[end : tag.start()])
                start = end = tag.end()
                thoughts = True
            continue
        if tag.lastgroup == "open":
            if opened is None:
                parts.append(text[end : tag.start()])
                opened = tag
            continue
        if opened is None:
            parts.clear()
        opened = None
        thoughts = True
        start = end = tag.end()
    if opened is not None:
        if opened[0].casefold() not in known:
            raise UnreadableReplyError(CUT_WITHIN_THOUGHTS)
        end = opened.start()
    parts.append(text[end:])
    content = "".join(parts)
    return ReplyText(content.strip() if thoughts else content, thoughts, start)


# JSON.


def read_json(content: bytes | str, /) -> Any:
    r"""Returns what JSON holds, as Python's own reader takes it, and lone surrogates as U+FFFD.

    A byte order mark, NaN, Infinity, control characters in texts and broken UTF-8 are read too.

    Raises:
        ValueError: It is no JSON; says what is wrong with it and where.

    >>> read_json(b'\xef\xbb\xbf{"a": "\\ud83d", "b": NaN}')["a"] == "\N{REPLACEMENT CHARACTER}"
    True
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        text = content
        if isinstance(text, bytes):
            text = text.decode(json.detect_encoding(text), "replace")
        text = text.removeprefix("\ufeff")
        if not text.strip():
            raise ValueError("it is empty") from None
        try:
            return _without_surrogates(json.loads(text, strict=False))
        except RecursionError:
            raise ValueError("it is nested too deep") from None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(value[key]) for key in value}
    return value


_FENCED = re.compile(r"```[a-z]*\s*\n?(.*?)\s*```", re.DOTALL | re.IGNORECASE)


def read_json_text(text: str, /) -> Any:
    r"""Returns the JSON that a reply is, or that its one block of code holds; see ``read_json``.

    Raises:
        UnreadableReplyError: It is none; says what is wrong with it.

    >>> read_json_text("Here it is:\n```json\n{\"a\": 1}\n```")
    {'a': 1}
    """
    blocks = _FENCED.findall(text)
    try:
        return read_json(blocks[0] if len(blocks) == 1 else text.strip())
    except ValueError as error:
        raise UnreadableReplyError(f"one JSON object was expected; {error}") from error


def finite_logprob(value: Any, /) -> float:
    """Returns a log-probability as a number that can be kept: -9999 for NaN and -Infinity.

    That is what vLLM writes for them.
    """
    number = float(value)
    return number if math.isfinite(number) else -9999.0


# Lists and lines.

_ITEM = re.compile(r"\s*(?:[-*+•‣▪◦·–—]|\(?\d{1,3}[.)、．）])\s+(\S.*?)\s*")
_RULE = re.compile(r"[\s*_\-–—=~#]*")
_STRONG = re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1")
_AROUND = re.compile(r"([*_`])(?=\S)(.+?)(?<=\S)\1([.,;:!?]?)")


def plain_line(line: str, /) -> str:
    """Returns a line without the marks of Markdown that stress it.

    >>> plain_line(" **Ada** sang. "), plain_line("*Ada sang*."), plain_line("# Facts")
    ('Ada sang.', 'Ada sang.', 'Facts')
    """
    stripped = _STRONG.sub(r"\2", line.strip()).lstrip("#").strip()
    around = _AROUND.fullmatch(stripped)
    return around[2] + around[3] if around is not None else stripped


def list_items(text: str, /) -> tuple[str, ...]:
    r"""Returns the items of a list with bullets or numbers, each once, as plain lines.

    Rules between lists, headings that end with a colon, and an item ``none`` are no items.

    >>> list_items("Facts:\n- **Ada sang.**\n* * *\n2. Ada slept.\n- none")
    ('Ada sang.', 'Ada slept.')
    """
    lines = [line for line in text.splitlines() if not _RULE.fullmatch(line)]
    items = [plain_line(match[1]) for line in lines if (match := _ITEM.fullmatch(line))]
    return tuple(
        dict.fromkeys(item for item in items if not item.endswith(":") and not is_none(item))
    )


def is_none(text: str, /) -> bool:
    """Returns whether a reply, or an item of it, is the word ``none`` and no more.

    >>> [is_none(text) for text in ("none", "- None.", "**none**", "[[none]]", "None of them")]
    [True, True, True, True, False]
    """
    return re.sub(r"[\W\d_]+", " ", text).strip().casefold() in ("none", "no facts", "no fact")


def read_line(text: str, /) -> str:
    """Returns a reply of one line, without marks of a list, stress or quotes.

    Raises:
        UnreadableReplyError: It has no line, or several.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        raise UnreadableReplyError(f"it has to be one line, and has {len(lines)}")
    item = re.fullmatch(r"\s*[-*•]\s+(.*)", lines[0])
    return plain_line(item[1] if item else lines[0]).strip('"')
