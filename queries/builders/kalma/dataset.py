"""The files of a data set of evolved questions: written of the last stage, checked, read again (K9)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graph_service.errors import InputError
from queries.builders.kalma.evolution import Draft, Evolver, Questioned, cite
from queries.builders.kalma.pairs import NamedPair, Pool, disambiguate
from queries.builders.stages import Stage, Stages
from queries.datasets.case import GENERAL, SPECIFIC
from queries.datasets.gold import GoldQuestion, read_gold_questions
from queries.generate.answer import Answer, read_answers
from queries.generate.reader import parse_answer
from queries.line_file import write_lines
from queries.score.citation import citation_row

GENERAL_NAME, SPECIFIC_NAME = "general.jsonl", "specific.jsonl"
PARAGRAPHS_NAME = "paragraphs.jsonl"
ROUNDS = 5


def stage_names(rounds: int, /) -> tuple[str, ...]:
    """Returns the names of the stages, in their order."""
    between = tuple(f"3-round-{round_}" for round_ in range(1, rounds + 1))
    return ("1-pools", "2-openings", *between, "4-general", "5-specific", "6-cited")


def build(
    pairs: Sequence[NamedPair], evolver: Evolver, stages: Stages, /, *, rounds: int = ROUNDS
) -> tuple[Questioned, ...]:
    """Runs all stages, and returns the paragraphs with their questions.

    Args:
        pairs: To begin with.
        evolver: Makes the stages.
        stages: Runs them.
        rounds: How many facts a paragraph takes after its first sentence.
    """
    pools_name, openings, *between, general, specific, cited = stage_names(rounds)

    def pool_of(pair: NamedPair) -> Pool:
        return disambiguate(pair, evolver.material)

    pools = stages.run(Stage(pools_name, Pool, pool_of), pairs)
    drafts = stages.run(Stage(openings, Draft, evolver.open), pools)
    for name in between:
        drafts = stages.run(Stage(name, Draft, evolver.extend), drafts)
    questions = stages.run(Stage(general, Questioned, evolver.add_general), drafts)
    questions = stages.run(Stage(specific, Questioned, evolver.add_specific), questions)
    return stages.run(Stage(cited, Questioned, cite), questions)


def write_set(folder: Path, made: Sequence[Questioned], model: str, /) -> None:
    """Writes the questions in both wordings and the paragraphs, each file whole.

    The questions are files that every verb reads. The paragraphs are answers as ``answer --out``
    writes them: their citations hit their own minimum sets.
    """
    for name, kind in ((GENERAL_NAME, GENERAL), (SPECIFIC_NAME, SPECIFIC)):
        write_lines(folder / name, [_question_line(item, kind) for item in made])
    write_lines(folder / PARAGRAPHS_NAME, [paragraph_of(item, model) for item in made])


def _question_line(questioned: Questioned, kind: str) -> dict[str, object]:
    pool = questioned.draft.pool
    return {
        "id": questioned.id,
        "question": questioned.general if kind == GENERAL else questioned.specific,
        "kind": kind,
        "entity_ids": [pool.head.id, pool.value.id],
        "statement_ids": list(questioned.draft.minimum),
    }


def paragraph_of(questioned: Questioned, model: str, /) -> Answer:
    """Returns a paragraph as the answer to its general question."""
    pool = questioned.draft.pool
    return Answer(
        question_id=questioned.id,
        question=questioned.general,
        text=questioned.text,
        sentences=parse_answer(questioned.text, pool.triples),
        knowledge=pool.triples,
        result=None,
        model=model,
        kind=GENERAL,
    )


def check(folder: Path, /) -> tuple[str, ...]:
    """Returns what is wrong with a data set, one line each; nothing where all is as promised.

    Both wordings have the same ids, entities and minimum sets; every statement of a minimum set is
    among the paragraph's knowledge; and the paragraphs score precision and recall 1.0 (K4).

    Raises:
        InputError: A file is missing, or a line of it is wrong; names it.
    """
    general = read_gold_questions(folder / GENERAL_NAME)
    specific = read_gold_questions(folder / SPECIFIC_NAME)
    paragraphs = _paragraphs(folder / PARAGRAPHS_NAME)
    faults: list[str] = []
    by_id = {question.id: question for question in specific}
    answers = {paragraph.question_id: paragraph for paragraph in paragraphs}
    for index, question in enumerate(general, 1):
        where = f"{GENERAL_NAME}, line {index}"
        other = by_id.get(question.id)
        if other is None:
            faults.append(f"{where}: {SPECIFIC_NAME} has no question {question.id!r}")
        elif _gold(other) != _gold(question):
            faults.append(f"{where}: the specific question {question.id!r} has another gold set")
        answer = answers.get(question.id)
        if answer is None:
            faults.append(f"{where}: {PARAGRAPHS_NAME} has no paragraph {question.id!r}")
            continue
        known = {triple.statement_id for triple in answer.knowledge}
        missing = [id_ for id_ in question.statement_ids if id_ not in known]
        if missing:
            faults.append(f"{where}: statement {missing[0]!r} is not in the paragraph's knowledge")
        if parse_answer(answer.text, answer.knowledge) != answer.sentences:
            faults.append(f"{where}: the paragraph's text is not read as its citations")
        counts = citation_row(answer, question).counts
        for name in ("precision", "recall"):
            score = None if counts is None else getattr(counts, name)
            if score != 1.0:
                shown = "none" if score is None else f"{score:.3f}"
                faults.append(f"{where}: citation {name} of the paragraph is {shown}, not 1")
    for name, ids in ((SPECIFIC_NAME, by_id), (PARAGRAPHS_NAME, answers)):
        more = sorted(ids.keys() - {question.id for question in general})
        faults += [f"{name}: {id_!r} is not in {GENERAL_NAME}" for id_ in more]
    return tuple(faults)


def _gold(question: GoldQuestion) -> tuple[object, ...]:
    return (question.entity_ids, question.statement_ids)


def _paragraphs(path: Path) -> tuple[Answer, ...]:
    if not path.is_file():
        raise InputError(f"there is no file {path}", argument="out", hint="Build the set first.")
    return read_answers(path)
