"""Relations ranked by a language model that is shown their names (L5)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph_service.model.ranking import RankedRelation, SignedRelation
from queries.generate.asking import request_reply
from queries.generate.citations import one_line
from queries.generate.prompt import Prompt, load_prompt
from queries.generate.setting import Generation
from queries.llm import ChatModel, ReplyError, ReplyFault
from queries.llm.reply import UnreadableReplyError

NAMED = 5
"""How many relations the model is asked for."""
_NUMBER = re.compile(r"[\s\-*\[(#]*(\d{1,4})\b")


class PromptedRanker:
    """Ranks by asking a model for the numbers of the best relations.

    Those that it names come first, in its order; the others follow by id, and none has a score.

    Args:
        model: Whom to ask.
        generation: How replies are drawn.
        prompt: Instead of the one that comes with the package.
    """

    def __init__(
        self,
        model: ChatModel,
        /,
        *,
        generation: Generation | None = None,
        prompt: Prompt | None = None,
    ) -> None:
        self._model = model
        self._generation = generation or Generation(max_tokens=64)
        self._prompt = prompt or load_prompt("rank-relations")
        self.name = f"{model.name} by {self._prompt.label}"

    def rank(
        self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
    ) -> tuple[RankedRelation, ...]:
        """Returns all relations, those that the model names first.

        Raises:
            ReplyError: There is no reply, or none that names a relation, asked again once.
            SetupError, LimitError: As ``ChatModel.complete``.
        """
        listed = sorted(relations, key=lambda each: (each.id, each.reverse))
        if len(listed) < 2:
            return tuple(RankedRelation(each, None) for each in listed)
        messages = self._prompt.render(
            question=question,
            entity=one_line(entity) or "(not named)",
            count=str(min(NAMED, len(listed))),
            relations="\n".join(f"{i}. {_shown(relation)}" for i, relation in enumerate(listed, 1)),
        )
        answered = request_reply(
            self._model,
            messages,
            lambda reply: read_numbers(reply, len(listed)),
            generation=self._generation,
        )
        if answered.value is None:
            raise ReplyError(
                f"relations were not ranked: {answered.failure}",
                fault=ReplyFault.MALFORMED,
                tries=len(answered.exchanges),
            )
        named = [listed[position - 1] for position in answered.value]
        rest = [relation for relation in listed if relation not in named]
        return tuple(RankedRelation(relation, None) for relation in [*named, *rest])


def read_numbers(reply: str, most: int, /) -> tuple[int, ...]:
    r"""Returns the numbers that begin a reply's lines, each once, in order.

    Raises:
        UnreadableReplyError: No line begins with one of 1 to ``most``.

    >>> read_numbers("3. spouse\n[1]\n\n3", 4)
    (3, 1)
    """
    lines = [line for line in reply.replace(",", "\n").splitlines() if line.strip()]
    numbers = [int(match[1]) for line in lines if (match := _NUMBER.match(line))]
    within = tuple(dict.fromkeys(position for position in numbers if 1 <= position <= most))
    if not within:
        raise UnreadableReplyError(f"numbers from 1 to {most} were expected, one a line")
    return within


def _shown(relation: SignedRelation) -> str:
    words = one_line(relation.words)
    return f"{words} (the entity is the value)" if relation.reverse else words
