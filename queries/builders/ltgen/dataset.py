"""The files of a set of questions and conversations about long-tail entities (L3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from graph_service.model.serialise import to_plain
from queries.builders.description import Column, Description, mean, mean_words
from queries.builders.ltgen.offers import (
    Offer,
    SampledEntity,
    conversation_offers,
    other_end,
    question_offers,
)
from queries.builders.ltgen.writing import (
    Writer,
    WrittenConversation,
    WrittenQuestion,
)
from queries.builders.material import names_any
from queries.builders.stages import Stage, Stages, read_stage
from queries.datasets.gold import GoldQuestion, read_gold_questions
from queries.line_file import write_lines
from queries.llm import Message

QUESTIONS_NAME, TURNS_NAME = "questions.jsonl", "turns.jsonl"
REFERENCES_NAME = "references.jsonl"
QUESTION_STAGE, CONVERSATION_STAGE = "1-questions", "2-conversations"
PAPER = Column(
    "LTGen, as published",
    {
        "questions": 6000,
        "conversations": 2000,
        "turns with gold": 13334,
        "turns of a conversation": 7.686,
    },
)
"""LTGen, Table 2; the samples of LTGen-Conv are turns with gold."""


def build(
    sample: Sequence[SampledEntity],
    writer: Writer,
    stages: Stages,
    /,
    *,
    questions: int,
    facts: int,
    random_seed: int = 0,
) -> tuple[tuple[WrittenQuestion, ...], tuple[WrittenConversation, ...]]:
    """Runs both stages.

    Args:
        sample: Long-tail entities with their triples.
        writer: Makes the stages; a conversation of no turns is not made.
        stages: Runs them.
        questions: Of an entity at most; 0 for none.
        facts: That a conversation is offered at most.
        random_seed: Of the draws.
    """
    offers = question_offers(sample, most=questions, random_seed=random_seed)
    written = stages.run(Stage(QUESTION_STAGE, WrittenQuestion, writer.question), offers)
    talks: tuple[Offer, ...] = ()
    if writer.turns:
        talks = conversation_offers(sample, most_facts=facts, random_seed=random_seed)
    talked = stages.run(Stage(CONVERSATION_STAGE, WrittenConversation, writer.conversation), talks)
    return written, talked


def write_set(
    folder: Path,
    questions: Sequence[WrittenQuestion],
    talked: Sequence[WrittenConversation],
    /,
) -> tuple[int, int]:
    """Writes both question files and the references, each whole; returns how many questions they have.

    A turn with gold is a question with what was said before it. A reference is what the agent said.
    """
    lines = [
        _line(question.id, question.offer, question.question, question.facts)
        for question in questions
    ]
    turns: list[dict[str, Any]] = []
    references: list[dict[str, str]] = []
    for talk in talked:
        history: list[Message] = []
        for index, turn in enumerate(talk.turns, 1):
            if turn.facts:
                id_ = f"{talk.id}#{index}"
                line = _line(id_, talk.offer, turn.user, turn.facts)
                turns.append({**line, "history": to_plain(history)})
                references.append({"id": id_, "reference": turn.agent})
            history += [Message("user", turn.user), Message("assistant", turn.agent)]
    for name, rows in (
        (QUESTIONS_NAME, lines), (TURNS_NAME, turns), (REFERENCES_NAME, references)
    ):  # fmt: skip
        write_lines(folder / name, rows)
    return len(lines), len(turns)


def _line(id_: str, offer: Offer, question: str, facts: Sequence[int]) -> dict[str, Any]:
    gold = [offer.triples[fact - 1] for fact in facts]
    other_entities = [other_end(triple, offer.entity.id) for triple in gold]
    return {
        "id": id_,
        "question": question,
        "kind": f"level {offer.level.value}",
        "entity_ids": [offer.entity.id],
        "statement_ids": [triple.statement_id for triple in gold],
        "answers": list(dict.fromkeys(label for _, label in other_entities)),
        "answer_ids": list(dict.fromkeys(end for end, _ in other_entities if end)),
    }


def check(folder: Path, /) -> tuple[str, ...]:
    """Returns what is wrong with a data set, one line each.

    Every gold triple is among those that its prompt offered, every question has gold, and every
    turn has a reference.

    Raises:
        InputError: A file is missing, or a line of it is wrong; names it.
    """
    offered = {
        item.id: {triple.statement_id for triple in item.offer.triples}
        for stage, kind in _STAGES
        for item in _made(folder, stage, kind)
    }
    references = {
        row["id"] for row in map(orjson.loads, (folder / REFERENCES_NAME).read_bytes().splitlines())
    }
    faults: list[str] = []
    for name in (QUESTIONS_NAME, TURNS_NAME):
        for index, question in enumerate(_questions(folder / name), 1):
            where = f"{name}, line {index}"
            made_of = question.id if name == QUESTIONS_NAME else question.id.rpartition("#")[0]
            there = offered.get(made_of)
            if there is None:
                faults.append(f"{where}: no stage made {question.id!r}")
                continue
            outside = [id_ for id_ in question.statement_ids if id_ not in there]
            if outside:
                faults.append(f"{where}: gold triple {outside[0]!r} was not offered")
            if not question.statement_ids or not question.answers:
                faults.append(f"{where}: question {question.id!r} has no gold triple or no answer")
            if name == TURNS_NAME and question.id not in references:
                faults.append(f"{where}: turn {question.id!r} has no reference")
    return tuple(faults)


_STAGES = ((QUESTION_STAGE, WrittenQuestion), (CONVERSATION_STAGE, WrittenConversation))


def _made(folder: Path, stage: str, kind: Any) -> Iterator[Any]:
    return (line.made for line in read_stage(folder, stage, kind) if line.made is not None)


def _questions(path: Path) -> tuple[GoldQuestion, ...]:
    # A set may have no conversations, or no questions; a file that is not there is a fault.
    return () if path.is_file() and not path.stat().st_size else read_gold_questions(path)


def describe(folder: Path, /) -> Description:
    """Returns the figures of a data set, by long-tail level, beside the published ones (L3, L9)."""
    questions = list(_made(folder, QUESTION_STAGE, WrittenQuestion))
    talked = list(_made(folder, CONVERSATION_STAGE, WrittenConversation))
    levels = sorted({item.offer.level for item in (*questions, *talked)})
    columns = [
        Column(folder.name, _figures(questions, talked)),
        *(
            Column(
                f"level {level.value}",
                _figures(
                    [question for question in questions if question.offer.level is level],
                    [talk for talk in talked if talk.offer.level is level],
                ),
            )
            for level in levels
        ),
    ]
    notes = (
        "answers said: share of turns with gold whose answer names a value of a gold triple",
        f"{sum(talk.offer.left_out for talk in talked):,} facts were not offered to conversations",
    )
    return Description((*columns, PAPER), notes)


def _figures(
    questions: Sequence[WrittenQuestion], talked: Sequence[WrittenConversation]
) -> dict[str, float | int]:
    turns = [(talk, turn) for talk in talked for turn in talk.turns if turn.facts]
    names_facts = [
        names_any(
            turn.agent,
            [
                other_end(talk.offer.triples[fact - 1], talk.offer.entity.id)[1]
                for fact in turn.facts
            ],
        )
        for talk, turn in turns
    ]
    by_references = {
        f"turns of {label}": sum(low <= len(turn.facts) <= high for _, turn in turns)
        for label, low, high in (("1 triple", 1, 1), ("2 triples", 2, 2), ("3 triples", 3, 3),
                                 ("more triples", 4, 10**9))
    }  # fmt: skip
    return {
        "entities": len(
            {each.offer.entity.id for each in questions} | {each.offer.entity.id for each in talked}
        ),
        "questions": len(questions),
        "words of a question": mean_words([question.question for question in questions]),
        "gold triples of a question": mean(len(question.facts) for question in questions),
        "conversations": len(talked),
        "turns of a conversation": mean(len(talk.turns) for talk in talked),
        "turns with gold": len(turns),
        **by_references,
        "answers said": mean(float(named) for named in names_facts),
    }
