"""The questions that the confidence of first answers is trained on, and what is right.

Published questions that the networks did not learn from, as they are, again with the relations of
their last step left out of the graph, and those whose entity the graph cannot name. Questions made
by wordings, and those of our own over tables and small graphs, of which the half is taken that is
read.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from benchmarks.class_questions.__main__ import open_tables as open_class_tables
from benchmarks.class_questions.question_set import OWN_TABLES
from benchmarks.class_questions.question_set import read_split as class_questions
from benchmarks.commands.families import open_graph
from benchmarks.families import (
    FAMILIES,
    WIKIDATA_FAMILIES,
    FamilyQuestion,
    GraphFile,
    choose,
    read_family,
)
from benchmarks.family_scorers import MOST_OF_A_SET
from benchmarks.judging import end_of, told_by
from benchmarks.made_questions import read_made
from benchmarks.messy_tables.__main__ import open_tables as open_messy_tables
from benchmarks.messy_tables.question_set import read_split as messy_questions
from benchmarks.own_questions.__main__ import open_graphs
from benchmarks.own_questions.grading import Verdict, grade
from benchmarks.own_questions.question_set import GRAPHS, OwnQuestion, Split
from benchmarks.own_questions.question_set import read_split as own_questions
from graph_service.model.result import PathsResult
from graph_service.service import Service
from queries.datasets.demo_set import demo_slice
from queries.datasets.wikidata_questions import FOLDER, read_labels

_MADE = ("metaqa-three", "worldcup-two", "constraints")
_OpenService: TypeAlias = Callable[[], AbstractContextManager[Service]]


@dataclass(frozen=True, slots=True)
class TrainingQuestion:
    """A question, and what is right.

    Attributes:
        graph: That it is asked on.
        family: That is left out together.
        how: What was done to it: ``as it is``, ``withheld`` or ``not named``.
        is_right: Says whether a result gives a right answer first.
        answers: Values that are right; empty where there is no set of readings to be judged.
        left_out: Relations that the graph is asked without.
    """

    graph: str
    family: str
    how: str
    text: str
    is_right: Callable[[PathsResult], bool]
    answers: frozenset[str] = frozenset()
    left_out: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """Tells it from all others."""
        return f"{self.family}\t{self.graph}\t{self.how}\t{self.text}"


def questions_by_service(
    data: Path, folder: Path, most: int, /
) -> Iterator[tuple[_OpenService, Sequence[TrainingQuestion]]]:
    """Yields what opens a service, and the questions that are asked of it.

    Args:
        data: The folder of the data.
        folder: Where the graphs of the data are loaded.
        most: Questions of a set as they are, and half as many of each other kind.
    """
    by_graph: dict[GraphFile, list[TrainingQuestion]] = defaultdict(list)
    for graph, question, how in (*_published(data, most), *_made(data, most)):
        by_graph[graph].append(_training_question(graph, question, how))
    for graph, questions in by_graph.items():
        yield partial(open_graph, folder, graph, None), questions
    own = [each for each in own_questions(Split.READ) if not each.earlier]
    yield open_graphs, _of_our_own(own, "small graphs")
    yield open_class_tables, _of_our_own(class_questions(Split.READ, OWN_TABLES))
    yield _open_messy_tables, _of_our_own(messy_questions(Split.READ))


def _published(data: Path, most: int) -> Iterator[tuple[GraphFile, FamilyQuestion, str]]:
    """Yields questions that the networks that ship did not learn from, and what is done to each."""
    named = read_labels(data / FOLDER, "en").keys()
    for family in FAMILIES:
        for questions in read_family(family, data):
            learned = choose(questions.questions, sample=MOST_OF_A_SET, random_seed=0)
            seen = {each.id for each in learned} if questions.unseen != "worldcup" else set()
            unseen = [each for each in questions.questions if each.id not in seen]
            whole = [
                each
                for each in unseen
                if family not in WIKIDATA_FAMILIES or named >= set(each.topics)
            ]
            yield from _as_is_and_withheld(
                questions.graph, choose(whole, sample=most, random_seed=1)
            )
            if family in WIKIDATA_FAMILIES:
                unnamed = [each for each in unseen if named.isdisjoint(each.topics)]
                for question in choose(unnamed, sample=most // 2, random_seed=1):
                    yield questions.graph, question, "not named"


def _made(data: Path, most: int) -> Iterator[tuple[GraphFile, FamilyQuestion, str]]:
    for name in _MADE:
        for questions in read_made(name, data, demo=demo_slice()):
            yield from _as_is_and_withheld(
                questions.graph, choose(questions.questions, sample=most, random_seed=1)
            )


def _as_is_and_withheld(
    graph: GraphFile, questions: Sequence[FamilyQuestion]
) -> Iterator[tuple[GraphFile, FamilyQuestion, str]]:
    for question in questions:
        yield graph, question, "as it is"
    for question in questions[: len(questions) // 2]:
        yield graph, question, "withheld"


def _training_question(graph: GraphFile, question: FamilyQuestion, how: str) -> TrainingQuestion:
    left_out = {chain.steps[-1][0] for chain in question.chains if chain.steps}
    return TrainingQuestion(
        graph.name,
        question.family,
        how,
        question.text,
        partial(_says, question),
        question.answers,
        tuple(sorted(left_out)) if how == "withheld" else (),
    )


def _says(question: FamilyQuestion, result: PathsResult) -> bool:
    if question.told:
        return told_by(result) == question.told
    return bool(result.items) and end_of(result.items[0]) in question.answers


def _of_our_own(questions: Sequence[OwnQuestion], family: str = "tables") -> list[TrainingQuestion]:
    return [
        TrainingQuestion(each.graph, family, "as it is", each.text, partial(_is_right, each))
        for each in questions
    ]


def _is_right(question: OwnQuestion, result: PathsResult) -> bool:
    if not any(part.answers for part in question.gold):
        return False
    base = GRAPHS[question.graph].base if question.graph in GRAPHS else ""
    return grade(question, result, base=base).verdict is Verdict.RIGHT


@contextmanager
def _open_messy_tables() -> Iterator[Service]:
    with (
        tempfile.TemporaryDirectory(prefix="graph-service-confidence-") as folder,
        open_messy_tables(Path(folder)) as service,
    ):
        yield service
