"""The files of a set of open questions: written, checked, described, round by round (O1, O2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import orjson

from graph_service.model.result import EntityRef
from queries.builders.description import Column, Description, mean, mean_words
from queries.builders.okgqa.rounds import (
    AUTOMATIC_NAME,
    HUMAN_NAME,
    RoundAgreement,
    agreement_of,
    rating_line,
    read_ratings,
    round_folder,
    rounds_in,
)
from queries.builders.okgqa.templates import TYPES, SubType
from queries.builders.okgqa.writing import (
    QUALITIES,
    LinkedQuestion,
    Offered,
    RatedQuestion,
    Seed,
    Writer,
    WrittenQuestion,
)
from queries.builders.stages import Stage, Stages, read_stage
from queries.datasets.case import Case
from queries.datasets.cases import read_question_file
from queries.line_file import write_atomically, write_lines

QUESTIONS_NAME, COVERAGE_NAME = "questions.jsonl", "coverage.json"
LINKED_STAGE = "3-linked"
MOST_USED = 100
"""How many of a graph's most used relations are looked for around the entities of questions."""
PAPER = Column(
    "OKGQA, as published",
    {
        "questions": 850,
        "descriptive": 89,
        "explanatory": 251,
        "predictive": 165,
        "comparative": 146,
        "critical": 199,
        "words of a question": 23.97,
        "entities": 816,
        "entities that exist": 0.92,
        "questions whose entities are connected": 0.87,
        "most used relations around them": 0.72,
        "Pearson, naturalness": 0.74,
        "Pearson, relevance": 0.70,
        "Pearson, specificity": 0.65,
        "Pearson, novelty": 0.67,
        "Pearson, actionability": 0.53,
        "kappa, naturalness": 0.84,
        "kappa, relevance": 0.80,
        "kappa, specificity": 0.647,
        "kappa, novelty": 0.597,
        "kappa, actionability": 0.667,
    },
)
"""OKGQA, Figure 2a, appendix B.2, Tables 3 (round 4) and 4 (means of the pairs)."""


def seeds_of(
    sub_types: Sequence[SubType], entities: Sequence[EntityRef], /, *, each: int
) -> tuple[Seed, ...]:
    """Returns what is to be written: so many questions of each sub-type, an entity for each in turn."""
    seeds: list[Seed] = []
    for draw in range(1, each + 1):
        for kind in sub_types:
            if len(seeds) == len(entities):
                return tuple(seeds)
            id_ = f"{kind.name.replace(' ', '-')}-{draw}"
            seeds.append(Seed(id_, kind, entities[len(seeds)]))
    return tuple(seeds)


def build(seeds: Sequence[Seed], writer: Writer, stages: Stages, /) -> tuple[RatedQuestion, ...]:
    """Runs all stages of a round."""
    offered = stages.run(Stage("1-offered", Offered, writer.offer), seeds)
    written = stages.run(Stage("2-written", WrittenQuestion, writer.write), offered)
    linked = stages.run(Stage(LINKED_STAGE, LinkedQuestion, writer.link), written)
    natural = stages.run(Stage("4-kept", LinkedQuestion, writer.require_entities), linked)
    return stages.run(Stage("5-rated", RatedQuestion, writer.rate), natural)


def write_round(folder: Path, made: Sequence[RatedQuestion], writer: Writer, /) -> None:
    """Writes the questions of a round, the model's ratings, and the coverage of the graph."""
    lines, ratings = [], []
    for item in made:
        written = item.linked.written
        kind = written.offered.seed.sub_type
        line = {
            "id": item.id,
            "question": written.question,
            "kind": kind.type,
            "entity_ids": list(item.linked.entities.values()),
            "sub_type": kind.name,
            "placeholders": dict(written.placeholders),
            "naturalness": written.naturalness,
            "difficulty": written.difficulty,
        }
        lines.append(line)
        ratings.append(rating_line(item.id, written.question, item.ratings))
    write_lines(folder / QUESTIONS_NAME, lines)
    write_lines(folder / AUTOMATIC_NAME, ratings)
    uses = writer.material.uses
    used = sorted((id_ for id_ in uses if uses[id_]), key=lambda id_: (-uses[id_], id_))[:MOST_USED]
    linked = [
        line.made
        for line in read_stage(folder, LINKED_STAGE, LinkedQuestion)
        if line.made is not None
    ]
    around = {relation for question in linked for relation in question.relations}
    ids = [id_ for question in linked for id_ in question.entities.values()]
    joined = [question.connected for question in linked if question.connected is not None]
    coverage = {
        "mentions": len(ids),
        "exist": sum(bool(id_) for id_ in ids),
        "of_several_entities": len(joined),
        "connected": sum(joined),
        "most_used": len(used),
        "around": len(around.intersection(used)),
    }
    write_atomically(
        folder / COVERAGE_NAME, orjson.dumps(coverage, option=orjson.OPT_INDENT_2) + b"\n"
    )


def check(folder: Path, /) -> tuple[str, ...]:
    """Returns what is wrong with the rounds of a data set, one line each.

    Raises:
        InputError: A file is missing, or a line of it is wrong; names it.
    """
    faults: list[str] = []
    for round_ in rounds_in(folder):
        inside = round_folder(folder, round_)
        cases = read_question_file(inside / QUESTIONS_NAME)
        ids = [case.id for case in cases]
        rated = {rating.id for rating in read_ratings(inside / AUTOMATIC_NAME, ids=ids)}
        if (inside / HUMAN_NAME).exists():
            read_ratings(inside / HUMAN_NAME, ids=ids)
        for line, case in enumerate(cases, 1):
            where = f"{inside.name}/{QUESTIONS_NAME}, line {line}"
            if case.kind not in TYPES:
                faults.append(f"{where}: {case.kind!r} is none of {', '.join(TYPES)}")
            if not case.entity_ids:
                faults.append(f"{where}: question {case.id!r} has no entity")
            if case.id not in rated:
                faults.append(f"{where}: {AUTOMATIC_NAME} does not rate {case.id!r}")
    return tuple(faults)


def agreements(folder: Path, /) -> tuple[RoundAgreement, ...]:
    """Returns the agreement of each round that people have rated."""
    lines = []
    for round_ in rounds_in(folder):
        inside = round_folder(folder, round_)
        if not (inside / HUMAN_NAME).exists():
            continue
        ids = [case.id for case in read_question_file(inside / QUESTIONS_NAME)]
        automatic, human = (
            read_ratings(inside / name, ids=ids) for name in (AUTOMATIC_NAME, HUMAN_NAME)
        )
        lines.append(agreement_of(round_, automatic, human))
    return tuple(lines)


def describe(folder: Path, /) -> Description:
    """Returns the figures of each round, beside the published ones."""
    agreed = {agreement.number: agreement for agreement in agreements(folder)}
    columns, notes = [], []
    for round_ in rounds_in(folder):
        inside = round_folder(folder, round_)
        cases = read_question_file(inside / QUESTIONS_NAME)
        figures = _figures(cases, orjson.loads((inside / COVERAGE_NAME).read_bytes()))
        if round_ in agreed:
            figures |= _agreement_figures(agreed[round_])
            for pair, scores in agreed[round_].kappa.items():
                scored = ", ".join(f"{name} {score.text()}" for name, score in scores.items())
                notes.append(f"round {round_}, kappa of {' and '.join(pair)}: {scored}")
        else:
            notes.append(f"round {round_}: nobody has rated it ({inside.name}/{HUMAN_NAME})")
        columns.append(Column(f"round {round_}", figures))
    notes.append(
        "as published: words are tokens, Pearson is of round 4, kappa a mean of three pairs"
    )
    return Description((*columns, PAPER), tuple(notes))


def _figures(cases: Sequence[Case], coverage: dict[str, int]) -> dict[str, float | int]:
    kinds = Counter(case.kind for case in cases)
    figures: dict[str, float | int] = {
        "questions": len(cases),
        **{kind: kinds[kind] for kind in TYPES},
        "words of a question": mean_words([case.question for case in cases]),
        "entities": len({id_ for case in cases for id_ in case.entity_ids}),
    }
    for name, part, total in (
        ("entities that exist", "exist", "mentions"),
        ("questions whose entities are connected", "connected", "of_several_entities"),
        ("most used relations around them", "around", "most_used"),
    ):
        if coverage[total]:
            figures[name] = coverage[part] / coverage[total]
    return figures


def _agreement_figures(agreed: RoundAgreement) -> dict[str, float | int]:
    figures: dict[str, float | int] = {}
    for quality in QUALITIES:
        value = agreed.pearson[quality].value
        if value is not None:
            figures[f"Pearson, {quality}"] = value
    for quality in QUALITIES:
        values = [scores[quality].value for scores in agreed.kappa.values()]
        known = [value for value in values if value is not None]
        if known:
            figures[f"kappa, {quality}"] = mean(known)
    return figures
