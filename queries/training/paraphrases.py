"""Questions in other words, by a chat model: training data alone, never what is kept aside (B7)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from graph_service.text.fold import fold
from queries.generate.asking import request_reply
from queries.generate.citations import one_line
from queries.generate.prompt import load_prompt
from queries.generate.setting import Generation
from queries.llm import ChatModel, ReplyError
from queries.llm.reply import CUT, UnreadableReplyError, plain_line
from queries.training.examples import AnsweredQuestion

PROMPT = "paraphrase"
_NUMBERED = re.compile(r"^\s*(?:\d{1,3}[.)]|[-*•])\s*")


@dataclass(slots=True)
class Paraphrases:
    """Questions in other words.

    Attributes:
        questions: With what is right for the question that each was made of.
        unusable: Lines of replies that name the entity no more, or repeat.
        failed: Questions that got no usable reply.
    """

    questions: list[AnsweredQuestion] = field(default_factory=list)
    unusable: int = 0
    failed: int = 0


def paraphrase(
    model: ChatModel,
    questions: Iterable[AnsweredQuestion],
    names: Mapping[str, str],
    /,
    *,
    count: int,
    progress: Callable[[int], None] = lambda _: None,
) -> Paraphrases:
    """Returns questions in other words, in order.

    Args:
        model: Whom to ask; keep its replies, so that a stopped run asks nothing twice.
        questions: Those whose text names their entity are put into other words.
        names: Of entities, by id.
        count: Wordings asked for each question.
        progress: Called with how many questions are done.

    Raises:
        SetupError, LimitError: As ``ChatModel.complete``.
    """
    prompt, paraphrases = load_prompt(PROMPT), Paraphrases()
    for done, question in enumerate(questions, start=1):
        name = next((names[id_] for id_ in question.start_ids if names.get(id_)), "")
        if not name or fold(name) not in fold(question.text):
            continue
        messages = prompt.render(question=one_line(question.text), name=name, count=str(count))
        try:
            reply = request_reply(
                model, messages, read_lines, generation=Generation(max_tokens=60 * count)
            )
        except ReplyError:
            reply = None
        if reply is None or reply.value is None:
            paraphrases.failed += 1
            progress(done)
            continue
        seen = {fold(question.text)}
        # The last line of a reply that was cut is no whole question.
        is_cut = reply.exchanges[-1].finish_reason == CUT
        for line in (reply.value[:-1] if is_cut else reply.value)[:count]:
            if fold(line) in seen or fold(name) not in fold(line):
                paraphrases.unusable += 1
                continue
            seen.add(fold(line))
            paraphrases.questions.append(replace(question, text=line))
        progress(done)
    return paraphrases


def read_lines(reply: str, /) -> tuple[str, ...]:
    r"""Returns the questions of a reply, one a line.

    Raises:
        UnreadableReplyError: There is none.

    >>> read_lines("1. who wed Ann?\n- whom did Ann marry?\n\n")
    ('who wed Ann?', 'whom did Ann marry?')
    """
    lines = tuple(
        line
        for each in reply.splitlines()
        if (line := plain_line(_NUMBERED.sub("", each)).strip('"'))
    )
    if not lines:
        raise UnreadableReplyError("questions were expected, one a line")
    return lines
