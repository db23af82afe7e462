"""Requests of the builders: their prompts, and replies that are read or refused with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from graph_service.text.labels import label_spans, masked
from graph_service.text.sentences import sentence_spans
from queries.builders.stages import NO_REPLY, RefusedError
from queries.generate.asking import request_reply
from queries.generate.citations import one_line
from queries.generate.prompt import PromptFolder
from queries.generate.setting import Generation
from queries.llm import ChatModel, Rendered
from queries.llm.reply import UnreadableReplyError, is_none

T = TypeVar("T")

DATASET = "dataset/"
"""What the names of the builders' prompts begin with, where they stand among all prompts."""
UNREADABLE = "unreadable reply"


_PROMPTS = PromptFolder("queries.builders", DATASET, "builder's prompt")
builder_prompt_names = _PROMPTS.names
"""Returns the names of the builders' prompts, sorted."""
load_builder_prompt = _PROMPTS.load
"""Returns one prompt of the folder; see ``PromptFolder.load``."""


def request_value(
    model: ChatModel,
    messages: Rendered,
    read: Callable[[str], T],
    /,
    *,
    generation: Generation,
) -> T:
    """Returns what a reply says; a reply that is not accepted is asked for once more.

    Args:
        model: Whom to ask.
        messages: The rendered prompt.
        read: From the reply to the value; raises ``RefusedError`` with what was expected.
        generation: Temperature, tokens and random seed.

    Raises:
        RefusedError: Neither reply was accepted, or none came; the last reason.
        SetupError, LimitError: As ``request_reply``.
    """
    last = RefusedError(UNREADABLE)

    def reading(text: str) -> T:
        nonlocal last
        try:
            return read(text)
        except RefusedError as error:
            last = error
            raise UnreadableReplyError(error.detail or error.why) from error

    reply = request_reply(model, messages, reading, generation=generation, must_end=True)
    if reply.value is not None:
        return reply.value
    if reply.exchanges[-1].finish_reason is None:
        raise RefusedError(NO_REPLY, reply.failure or "")
    if last.detail or last.why != UNREADABLE:
        raise last
    raise RefusedError(UNREADABLE, reply.failure or "")


def read_sentence(text: str, /, *, names: Iterable[str] = ()) -> str:
    """Returns the one sentence that a reply is, without a full stop at its end.

    Args:
        text: The reply.
        names: Labels that may hold full stops and brackets.

    Raises:
        RefusedError: It is empty, several lines or sentences, or holds square brackets.
    """
    sentence = text.strip()
    if not sentence or "\n" in sentence:
        raise RefusedError(UNREADABLE, "the reply has to be one sentence on one line")
    names = tuple(names)
    if _has_brackets(sentence, names):
        raise RefusedError(
            UNREADABLE, "the sentence must hold no square brackets but those of names"
        )
    sentence = one_line(sentence)
    if len(sentence_spans(sentence, names=names)) != 1:
        raise RefusedError(UNREADABLE, "the reply has to be one sentence and no more")
    return sentence.rstrip(".").rstrip()


def _has_brackets(text: str, names: Iterable[str]) -> bool:
    """Whether a text holds square brackets beside those of its names: they would cite."""
    masked_text = masked(text, label_spans(text, names))
    return "[" in masked_text or "]" in masked_text


def read_question(text: str, /, *, names: Iterable[str] = ()) -> str:
    """Returns the one question that a reply is.

    Args:
        text: The reply.
        names: Labels that may hold brackets.

    Raises:
        RefusedError: It is several lines, does not end with a question mark, or holds square brackets.
    """
    question = text.strip()
    if not question or "\n" in question or not question.endswith("?"):
        raise RefusedError(
            "no question", "the reply has to be one question on one line, ending in ?"
        )
    if _has_brackets(question, names):
        raise RefusedError(
            "no question", "the question must hold no square brackets but those of names"
        )
    return one_line(question)


def read_numbers(text: str, most: int, /) -> tuple[int, ...]:
    """Returns numbers with commas between, each once; none for ``none``.

    Args:
        text: The words.
        most: The largest number that was offered.

    Raises:
        RefusedError: It is anything else, or a number was not offered.

    >>> read_numbers("1, 3", 3), read_numbers("none", 3)
    ((1, 3), ())
    """
    stripped = text.strip().rstrip(".")
    if is_none(stripped):
        return ()
    parts = [part.strip().strip("[]") for part in stripped.split(",")]
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise RefusedError(
            UNREADABLE, "numbers of facts with commas between were expected, or none"
        )
    numbers = tuple(dict.fromkeys(int(part) for part in parts))
    wrong = [fact for fact in numbers if not 1 <= fact <= most]
    if wrong:
        raise RefusedError("fact not offered", f"fact {wrong[0]} is not offered; there are {most}")
    return numbers
