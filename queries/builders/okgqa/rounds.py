"""Rounds of an instruction: ratings by the model and by people, their agreement, the next proposal (O2).

Each round is a folder, ``round-1`` and so on. What people say stands in its ``human.jsonl``: lines of
``{"id", "rater", "naturalness": 7, ...}``. The next instruction is proposed in a file, and used only
by a round that is begun with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from queries.builders.asking import load_builder_prompt, request_value
from queries.builders.okgqa.writing import HIGH, LOW, QUALITIES
from queries.builders.stages import RefusedError
from queries.datasets.records import Record, read_records
from queries.generate.citations import one_line
from queries.generate.setting import Generation
from queries.llm import ChatModel
from queries.score.agreement import KappaWeights, cohen_kappa, pearson
from queries.score.metric import Score

AUTOMATIC_NAME, HUMAN_NAME = "automatic.jsonl", "human.jsonl"
INSTRUCTION_NAME, PROPOSED_NAME = "instruction.txt", "proposed-instruction.txt"
INSTRUCTION = Path(__file__).with_name("instruction.txt")
_ROUND = re.compile(r"round-([1-9]\d*)")
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Rating:
    """What one rater gives one question, by quality; ``where`` is its file and line."""

    id: str
    rater: str
    question: str
    ratings: Mapping[str, int]
    where: str


@dataclass(frozen=True, slots=True)
class RoundAgreement:
    """How far the model and people agree in a round.

    Attributes:
        pearson: Of the model's ratings and people's means, by quality.
        kappa: Of each two people with quadratic weights, by their names and quality.
    """

    number: int
    pearson: Mapping[str, Score]
    kappa: Mapping[tuple[str, str], Mapping[str, Score]]


def round_folder(folder: Path, number: int, /) -> Path:
    """Returns the folder of a round."""
    return folder / f"round-{number}"


def rounds_in(folder: Path, /) -> tuple[int, ...]:
    """Returns the numbers of the rounds of a data set, ascending; raises ``InputError`` for none."""
    there = folder.iterdir() if folder.is_dir() else ()
    numbers = sorted(int(name[1]) for path in there if (name := _ROUND.fullmatch(path.name)))
    if not numbers:
        raise InputError(
            f"{folder} holds no round of a data set of okgqa",
            argument="out",
            hint="Build it: graph-service dataset okgqa build --out DIR",
        )
    return tuple(numbers)


def read_instruction(path: Path, /) -> str:
    """Returns the instruction of a file, on one line; raises ``InputError`` for an empty one."""
    try:
        text = one_line(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {path}: {error}", argument="instruction") from error
    if not text:
        raise InputError(f"{path} is empty; an instruction was expected", argument="instruction")
    return text


def read_ratings(path: Path, /, *, ids: Sequence[str]) -> tuple[Rating, ...]:
    """Returns the ratings of a file; a rater has to rate every quality of a question.

    Args:
        path: Of people, or of the model, which is the rater ``model``.
        ids: Of the questions that there are.

    Raises:
        InputError: A line is wrong, rates a question that is not there, or rates one twice.
    """
    known = set(ids)
    ratings: dict[tuple[str, str], Rating] = {}
    for record in read_records(path):
        rating = _rating(record)
        if rating.id not in known:
            raise InputError(f"{record.where}, field id: there is no question {rating.id!r}")
        before = ratings.get((rating.id, rating.rater))
        if before is not None:
            raise InputError(
                f"{record.where}: {rating.rater!r} has rated question {rating.id!r} in {before.where}"
            )
        ratings[rating.id, rating.rater] = rating
    return tuple(ratings.values())


def _rating(record: Record) -> Rating:
    ratings = {}
    for quality in QUALITIES:
        value = record.count(quality)
        if value is None or not LOW <= value <= HIGH:
            raise record.error(quality, f"a whole number from {LOW} to {HIGH}")
        ratings[quality] = value
    return Rating(
        record.text("id"),
        record.text("rater", default="model"),
        record.text("question", default="", filled=False),
        ratings,
        record.where,
    )


def agreement_of(
    number: int, automatic: Sequence[Rating], human: Sequence[Rating], /
) -> RoundAgreement:
    """Returns the agreement of a round, by the code of all agreement scores (O14)."""
    means = _means(human)
    correlations = {
        quality: pearson(
            [rating.ratings[quality] for rating in automatic],
            [means.get(rating.id, {}).get(quality) for rating in automatic],
        )
        for quality in QUALITIES
    }
    by_rater: dict[str, dict[str, Rating]] = {}
    for human_rating in human:
        by_rater.setdefault(human_rating.rater, {})[human_rating.id] = human_rating
    kappas = {}
    for first, second in combinations(sorted(by_rater), 2):
        sides = [
            [by_rater[name].get(rating.id) for rating in automatic] for name in (first, second)
        ]
        kappas[first, second] = {
            quality: cohen_kappa(
                *(
                    [None if rating is None else rating.ratings[quality] for rating in side]
                    for side in sides
                ),
                weights=KappaWeights.QUADRATIC,
            )
            for quality in QUALITIES
        }
    return RoundAgreement(number, correlations, kappas)


def _means(human: Sequence[Rating]) -> dict[str, dict[str, float]]:
    by_id: dict[str, list[Rating]] = {}
    for human_rating in human:
        by_id.setdefault(human_rating.id, []).append(human_rating)
    return {
        id_: {q: sum(rating.ratings[q] for rating in rated) / len(rated) for q in QUALITIES}
        for id_, rated in by_id.items()
    }


def differing(
    automatic: Sequence[Rating], human: Sequence[Rating], /, *, most: int = _SHOWN
) -> list[str]:
    """Returns the ratings of model and people that lie furthest apart, one line each; ties by id."""
    means = _means(human)
    apart = sorted(
        (-abs(rating.ratings[q] - means[rating.id][q]), rating.id, q)
        for rating in automatic
        if rating.id in means
        for q in QUALITIES
    )
    by_id = {rating.id: rating for rating in automatic}
    return [
        f"{quality}: the model {by_id[id_].ratings[quality]}, people {means[id_][quality]:.1f}: "
        f"{by_id[id_].question}"
        for gap, id_, quality in apart[:most]
        if gap < 0
    ]


def propose(
    model: ChatModel, instruction: str, lines: Sequence[str], generation: Generation, /
) -> str:
    """Returns the instruction that a model proposes from ratings that differ.

    Raises:
        RefusedError: No usable reply came.
    """

    def read(text: str) -> str:
        proposed = one_line(text)
        if not proposed or proposed.casefold() == instruction.casefold():
            raise RefusedError("nothing new", "another instruction than the one shown was expected")
        return proposed

    messages = load_builder_prompt("okgqa-tune").render(
        low=str(LOW), high=str(HIGH), instruction=instruction, ratings="\n".join(lines)
    )
    return request_value(model, messages, read, generation=generation)


def rating_line(id_: str, question: str, ratings: Mapping[str, int], /) -> dict[str, Any]:
    """Returns a line of the model's ratings."""
    return {"id": id_, "rater": "model", "question": question, **ratings}
