"""Questions made by wordings over graphs whose facts are known, with what is right by brute force.

``metaqa-three`` asks three steps of MetaQA's graph, ``worldcup-two`` two steps of football,
``pathquestion-three`` PathQuestion's questions with a step before them, and ``constraints`` asks for values, years, ranges, types, second entities, counts, superlatives and yes
or no. ``open`` are open questions, written by hand with the relations that bear on each. Half of
each set, by a hash, is kept aside and asked only when that is said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from benchmarks.constraints import child_questions, film_questions
from benchmarks.families import (
    FamilyQuestion,
    GoldChain,
    GraphFile,
    QuestionSet,
    graph_of,
    read_family,
    signed,
)
from benchmarks.step_tables import Table, drawn, read_table, walk
from benchmarks.wordings import ASKED_OF_FILMS, FOOTBALL, KIN, SHARED_FILMS
from graph_service.errors import InputError
from graph_service.model.identity import key64
from graph_service.quality.question_sets import Step
from queries.datasets.path_questions import metaqa_steps

OF_A_TYPE = 24
"""Questions made of each type of three steps, and of each wording of two."""
MOST_ANSWERS = 200


def is_aside(id_: str, /) -> bool:
    """Returns whether a made question is of the half that is kept aside."""
    return bool(key64(f"aside\t{id_}") & 1)


def spoken(id_: str, /) -> str:
    """Returns an id as a person writes it.

    >>> spoken("Alan_PULIDO")
    'Alan PULIDO'
    """
    return id_.replace("_", " ")


def read_made(
    name: str, data: Path, /, *, demo: Path, aside: bool = False
) -> Iterator[QuestionSet]:
    """Yields a made set, one half of it.

    Args:
        name: One of ``MADE``.
        data: The folder that holds ``metaqa`` and ``worldcup2014``.
        demo: The demo's graph, as lines of Wikibase JSON.
        aside: The half that is kept aside, instead of the other.

    Raises:
        InputError: There is no such set, or a file is missing.
    """
    if name not in MADE:
        raise InputError(
            f"there is no made set {name!r}; expected one of {', '.join(MADE)}", argument="only"
        )
    for graph, unseen, questions in MADE[name](data, demo):
        half = tuple(one for one in questions if is_aside(one.id) == aside)
        yield QuestionSet(f"{name} {graph.name}", name, graph, half, unseen=unseen)


_Made = Iterator[tuple[GraphFile, str, Iterable[FamilyQuestion]]]


def _metaqa_three(data: Path, _demo: Path) -> _Made:
    graph = graph_of("metaqa", data)
    yield graph, "metaqa", three_steps(read_table(graph.path))


def three_steps(table: Table, /) -> Iterator[FamilyQuestion]:
    """Yields questions of three steps: film, person, other film, and what is asked of that."""
    films = sorted(table["starred_actors", False])
    for person, shared in SHARED_FILMS.items():
        for asked, wordings in ASKED_OF_FILMS.items():
            template = f"movie_to_{person}_to_movie_to_{asked}"
            steps = metaqa_steps(template)
            made = 0
            for film in drawn(films, seed=template):
                answers = walk(table, film, steps)
                if not 1 <= len(answers) <= MOST_ANSWERS:
                    continue
                draw = key64(f"wording\t{template}\t{film}")
                films_text = shared[draw % len(shared)].format(film=film)
                text = wordings[draw // len(shared) % len(wordings)].format(films=films_text)
                yield _chain_question("metaqa-three", f"{template}:{film}", text, film, steps,
                                      answers, template, any_exact=True)  # fmt: skip
                made += 1
                if made == OF_A_TYPE:
                    break


def _worldcup_two(data: Path, _demo: Path) -> _Made:
    graph = graph_of("worldcup", data)
    yield graph, "worldcup", two_steps(read_table(graph.path))


def two_steps(table: Table, /) -> Iterator[FamilyQuestion]:
    """Yields questions of two steps about players, clubs and countries, in ten wordings."""
    for wording, (text, steps) in FOOTBALL.items():
        made = 0
        for start in drawn(table.get(steps[0], {}), seed=wording):
            answers = walk(table, start, steps)
            if not 1 <= len(answers) <= MOST_ANSWERS:
                continue
            yield _chain_question("worldcup-two", f"{wording}:{start}",
                                  text.format(name=spoken(start)), start, tuple(steps), answers,
                                  wording)  # fmt: skip
            made += 1
            if made == OF_A_TYPE:
                break


def _pathquestion_three(data: Path, _demo: Path) -> _Made:
    graph = graph_of("pq", data)
    (questions,) = (each for each in read_family("pathquestion", data) if each.graph == graph)
    yield graph, "pathquestion", kin_before(questions.questions, read_table(graph.path))


def kin_before(questions: Iterable[FamilyQuestion], table: Table, /) -> Iterator[FamilyQuestion]:
    """Yields questions about somebody's spouse, child or parent instead of the one they name.

    Those who have several of the kin are asked about too, and all answers are right.
    """
    of_template: Counter[str] = Counter()
    for question in questions:
        (chain,) = question.chains
        (middle,) = question.topics
        if question.shape == "loop" or question.text.count(middle) != 1:
            continue
        for relation, wordings in KIN.items():
            steps = ((relation, False), *chain.steps)
            template = signed(steps)
            for start in table.get((relation, True), {}).get(middle, ()):
                answers = walk(table, start, steps)
                if of_template[template] == OF_A_TYPE or not 1 <= len(answers) <= MOST_ANSWERS:
                    continue
                of_template[template] += 1
                id_ = f"{template}:{start}:{question.id}"
                wording = wordings[key64(f"wording\t{id_}") % len(wordings)].format(name=start)
                text = question.text.replace(middle, wording).replace("the the ", "the ")
                yield _chain_question(
                    "pathquestion-three", id_, text, start, steps, answers, template
                )


def _chain_question(
    family: str,
    id_: str,
    text: str,
    start: str,
    steps: tuple[Step, ...],
    answers: frozenset[str],
    template: str,
    *,
    any_exact: bool = False,
) -> FamilyQuestion:
    return FamilyQuestion(
        id=f"{family}:{id_}",
        family=family,
        set=family,
        text=text,
        topics=(start,),
        shape=f"{len(steps)}-hop",
        chains=(GoldChain(start, steps),),
        answers=answers,
        group=f"{start}\t{signed(steps)}",
        template=template,
        any_exact=any_exact,
    )


def _constraints(data: Path, demo: Path) -> _Made:
    graph = graph_of("metaqa", data)
    yield graph, "metaqa", film_questions(read_table(graph.path))
    yield GraphFile("demo", demo, kind="wikibase"), "metaqa", child_questions(demo)


def _open(data: Path, demo: Path) -> _Made:
    questions = list(read_open())
    graphs = (GraphFile("demo", demo, kind="wikibase"), graph_of("metaqa", data))
    for graph in graphs:
        yield graph, "metaqa", [one for name, one in questions if name == graph.name]


def read_open() -> Iterator[tuple[str, FamilyQuestion]]:
    """Yields the open questions, each with the name of the graph that it is asked on."""
    lines = Path(__file__).with_name("open_questions.jsonl").read_text(encoding="utf-8")
    for line in lines.splitlines():
        row = json.loads(line)
        yield (
            row["graph"],
            FamilyQuestion(
                id=f"open:{row['question']}",
                family="open",
                set="open",
                text=row["question"],
                topics=tuple(row["entity_ids"]),
                shape="open",
                chains=(),
                answers=frozenset(),
                group=row["question"],
                relevant=frozenset(row["relevant"]),
            ),
        )


MADE: Mapping[str, Callable[[Path, Path], _Made]] = {
    "metaqa-three": _metaqa_three,
    "worldcup-two": _worldcup_two,
    "pathquestion-three": _pathquestion_three,
    "constraints": _constraints,
    "open": _open,
}
"""The made sets, and what makes each."""
