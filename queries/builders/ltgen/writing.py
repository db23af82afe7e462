"""Questions and conversations written from facts, whose gold triples are facts that were offered (L3)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from queries.builders.asking import (
    UNREADABLE,
    load_builder_prompt,
    read_numbers,
    read_question,
    request_value,
)
from queries.builders.ltgen.offers import Offer, other_end
from queries.builders.material import names_any, numbered_facts
from queries.builders.stages import RefusedError
from queries.generate.citations import one_line
from queries.generate.setting import Generation
from queries.llm import ChatModel
from queries.llm.reply import plain_line

PROMPTS = ("ltgen-question", "ltgen-conversation")
_LINE = re.compile(r"(User|Agent|Facts|Question)\s*:\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question and the numbers of the facts that answer it, from 1."""

    id: str
    offer: Offer
    question: str
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """What a user asks and an agent answers, and the numbers of the facts it uses."""

    user: str
    agent: str
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WrittenConversation:
    """The turns about one entity."""

    id: str
    offer: Offer
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Writer:
    """Makes the stages of a data set.

    Attributes:
        turns: That a conversation is asked to have.
    """

    model: ChatModel
    generation: Generation
    turns: int

    def question(self, offer: Offer) -> WrittenQuestion:
        """Returns a question for what a relation gives for an entity."""
        answers = [other_end(triple, offer.entity.id)[1] for triple in offer.triples]

        def read(text: str) -> tuple[str, tuple[int, ...]]:
            parts = _lines_of(text, ("question", "facts"))
            if len(parts) != 2:
                raise RefusedError(UNREADABLE, "a line Question: and a line Facts: were expected")
            question = read_question(parts[0][1], names=[offer.entity.label])
            numbers = _gold(parts[1][1], offer)
            if not numbers:
                raise RefusedError(
                    "no gold fact", "a question needs at least one fact that answers it"
                )
            if not names_any(question, [offer.entity.label]):
                raise RefusedError(
                    "entity not named", f"the question has to name {offer.entity.label}"
                )
            if names_any(question, [answers[fact - 1] for fact in numbers]):
                raise RefusedError("answer given away", "the question must not name its answer")
            return question, numbers

        messages = load_builder_prompt("ltgen-question").render(
            entity=one_line(offer.entity.label),
            relation=offer.relation_words,
            facts=numbered_facts(offer.triples),
        )
        question, numbers = request_value(self.model, messages, read, generation=self.generation)
        return WrittenQuestion(offer.id, offer, question, numbers)

    def conversation(self, offer: Offer) -> WrittenConversation:
        """Returns a conversation about an entity."""

        def read(text: str) -> tuple[Turn, ...]:
            turns = _turns_of(_lines_of(text, ("user", "agent", "facts")), offer)
            if not any(turn.facts for turn in turns):
                raise RefusedError("no gold fact", "no turn names a fact that it uses")
            if not names_any(turns[0].user, [offer.entity.label]):
                raise RefusedError(
                    "entity not named", f"the first turn has to name {offer.entity.label}"
                )
            return turns

        messages = load_builder_prompt("ltgen-conversation").render(
            entity=one_line(offer.entity.label),
            turns=str(self.turns),
            facts=numbered_facts(offer.triples),
        )
        turns = request_value(self.model, messages, read, generation=self.generation)
        return WrittenConversation(offer.id, offer, turns)


def _gold(text: str, offer: Offer) -> tuple[int, ...]:
    """The facts of a line; raises ``RefusedError`` where one is not among those offered."""
    return read_numbers(text, len(offer.triples))


def _lines_of(text: str, names: tuple[str, ...]) -> list[tuple[str, str]]:
    """The lines of a reply as names and what they say; a line without a name goes on the last."""
    fields: list[tuple[str, str]] = []
    for line in text.strip().splitlines():
        if not line.strip():
            continue
        read = _LINE.fullmatch(plain_line(line))
        if read is not None and read[1].lower() in names:
            fields.append((read[1].lower(), read[2].strip()))
        elif fields:
            name, last = fields[-1]
            fields[-1] = (name, f"{last} {line.strip()}")
        else:
            raise RefusedError(
                UNREADABLE, f"a line {names[0].title()}: was expected; {line[:60]!r} came"
            )
    return fields


def _turns_of(lines: list[tuple[str, str]], offer: Offer) -> tuple[Turn, ...]:
    if not lines or len(lines) % 3:
        raise RefusedError(UNREADABLE, "turns of User:, Agent: and Facts: were expected")
    turns = []
    for offset in range(0, len(lines), 3):
        three = lines[offset : offset + 3]
        if [name for name, _ in three] != ["user", "agent", "facts"]:
            raise RefusedError(
                UNREADABLE, f"turn {offset // 3 + 1} is not User:, Agent: and Facts:"
            )
        (_, user), (_, agent), (_, facts) = three
        if not user or not agent:
            raise RefusedError(UNREADABLE, f"turn {offset // 3 + 1} says nothing")
        turns.append(Turn(one_line(user), one_line(agent), _gold(facts, offer)))
    return tuple(turns)
