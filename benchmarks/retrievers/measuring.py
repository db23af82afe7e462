"""Retrievers on frozen sets, question by question: recall, Hits@1, latency, with intervals."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
import orjson

from benchmarks.retrievers.protocol import (
    Question,
    Retrieved,
    StatementRetriever,
    Surroundings,
    surroundings,
    whole_graph,
)
from graph_service.client import Client
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy
from graph_service.service import Service
from queries.experiment.cells import Cell, CellKind, cells_of
from queries.experiment.statistics import Estimate, estimate
from queries.experiment.subjects import Subject, find_gold, questions_of
from queries.line_file import LineFile
from queries.robustness.building import Folder, read_set_plan

BUDGETS = (5, 10, 20)
BASE = "base"
MEASURES = (
    *(f"answers@{budget}" for budget in BUDGETS),
    *(f"statements@{budget}" for budget in BUDGETS),
    "hits@1",
)
"""Shares: of the answers, and of the gold statements, among so many statements; of right answers."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a retriever gave for a question on a view.

    Attributes:
        set, view, retriever, question: Names and ids; the view is ``base`` without one.
        values: By measure.
        ms: Of the call.
    """

    set: str
    view: str
    retriever: str
    question: str
    values: Mapping[str, float]
    ms: float

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What no other row has."""
        return self.set, self.view, self.retriever, self.question


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the leaderboard: a retriever on a view of a set.

    Attributes:
        peak_mb: Memory of its process at most, in 1024 * 1024 bytes; 0 where it was not measured.
    """

    set: str
    view: str
    retriever: str
    questions: int
    measures: Mapping[str, Estimate]
    median_ms: float
    peak_mb: float = 0.0


def judge(question: Question, retrieved: Retrieved, /) -> dict[str, float]:
    """Returns the measures of what a retriever gave.

    Of the sets of gold statements that is taken of which most was retrieved.

    >>> from benchmarks.retrievers.protocol import Ranked
    >>> asked = Question("1", "?", ("a",), ("b", "c"), (frozenset({"s", "t"}),))
    >>> got = Retrieved((Ranked("s", "a", "b"),))
    >>> [judge(asked, got)[name] for name in ("answers@5", "statements@5", "hits@1")]
    [0.5, 0.5, 1.0]
    """
    values: dict[str, float] = {}
    answers = set(question.answer_ids)
    for budget in BUDGETS:
        first = retrieved.statements[:budget]
        ends = {end for statement in first for end in (statement.head, statement.tail)}
        ids = {statement.statement_id for statement in first}
        values[f"answers@{budget}"] = len(answers & ends) / len(answers)
        values[f"statements@{budget}"] = max(
            (len(gold & ids) / len(gold) for gold in question.statement_sets), default=0.0
        )
    answer = retrieved.answer or _far_end(question, retrieved)
    values["hits@1"] = float(answer in answers)
    return values


def _far_end(question: Question, retrieved: Retrieved) -> str:
    """The end of the first statement that is no entity of the question; the value if both are."""
    for statement in retrieved.statements:
        for end in (statement.tail, statement.head):
            if end not in question.entity_ids:
                return end
    return ""


class KnownRows:
    """Rows of earlier runs in a file, so that a run which was stopped goes on.

    Args:
        path: The file of JSON lines.
    """

    def __init__(self, path: Path, /) -> None:
        self._file = LineFile(path)
        self.rows: dict[tuple[str, str, str, str], Measured] = {}
        self._file.resume(self._read)

    def _read(self, line: bytes, _: str) -> bool:
        row = Measured(**orjson.loads(line))
        self.rows[row.key] = row
        return True

    def add(self, row: Measured, /) -> None:
        """Writes a row."""
        self.rows[row.key] = row
        self._file.append(row, is_synced=False)


def measure_set(
    folder: Folder,
    service: Service,
    retrievers: Sequence[StatementRetriever],
    rows: KnownRows,
    /,
    *,
    first: int | None,
    random_seeds: int,
    hops: int,
    progress: Callable[[str], None],
    views: Collection[str] | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> Iterator[Measured]:
    """Yields the rows of all retrievers on the base and the views of a set.

    They are told the question's entities: those of its file, or those that our linker finds in a
    set whose plan has entities linked.

    Args:
        folder: Of the set, made.
        service: Over its store.
        retrievers: That are asked.
        rows: What is known already, and where new rows are written.
        first: How many questions; None for all.
        random_seeds: How many draws of each view.
        hops: Steps around the question's entities that the retrievers see.
        progress: Told which view is asked.
        views: Only these; None for all.
        is_over: Asked before each question; once it is true only known rows are yielded.
    """
    name, graph = folder.recipe.name, folder.recipe.graph_name
    plan = read_set_plan(folder)
    client = Client.over(service)
    subjects = find_gold(questions_of(plan, graph), client, graph=graph)[:first]
    for view, cell in _views(cells_of(plan), random_seeds).items():
        if views is not None and view not in views:
            continue
        left = [
            subject
            for subject in subjects
            if any(
                (name, view, retriever.name, subject.case.id) not in rows.rows
                for retriever in retrievers
            )
        ]
        if left:
            progress(f"{name} {view}: {len(left)} questions")
        whole: Callable[[], Surroundings] | None = None
        for subject in subjects:
            keys = [(name, view, retriever.name, subject.case.id) for retriever in retrievers]
            if all(key in rows.rows for key in keys):
                yield from (rows.rows[key] for key in keys)
                continue
            if is_over():
                continue
            reference = None if cell is None else cell.view_of(subject.gold)
            question = _question(
                subject,
                subject.gold.entity_ids
                if plan.given_entities
                else _linked(client, subject, graph, reference),
            )
            if reference is None:
                arrays, overlay = service.arrays(service.graph(graph)), None
            else:
                arrays, applied = service.views.apply(reference, graph=graph)
                overlay = applied.overlay
            if whole is None or (cell is not None and cell.aim is not None):
                whole = cache(partial(whole_graph, arrays, overlay, view=reference))
            around = replace(
                surroundings(arrays, overlay, question.entity_ids, view=reference, hops=hops),
                whole_graph=whole,
            )
            for key, retriever in zip(keys, retrievers, strict=True):
                if key not in rows.rows:
                    began = time.perf_counter()
                    retrieved = retriever.retrieve(question, around, BUDGETS[-1])
                    ms = 1000 * (time.perf_counter() - began)
                    rows.add(Measured(*key, judge(question, retrieved), ms))
                yield rows.rows[key]


def _views(cells: Iterable[Cell], random_seeds: int) -> dict[str, Cell | None]:
    views: dict[str, Cell | None] = {BASE: None}
    for cell in cells:
        if cell.condition.kind is CellKind.VIEW and (cell.random_seed or 0) < random_seeds:
            views.setdefault(cell.view_name, cell)
    return views


def _linked(client: Client, subject: Subject, graph: str, view: ViewRef | None) -> tuple[str, ...]:
    """The entities that our linker finds in the words of a question."""
    result = client.retrieve(
        Strategy.TRIPLETS, subject.case.question, graph=graph, view=view, limit=1
    )
    return tuple(linked.entity.id for linked in result.linked)


def _question(subject: Subject, entity_ids: tuple[str, ...]) -> Question:
    gold = subject.gold
    return Question(
        subject.case.id,
        subject.case.question,
        entity_ids,
        gold.answer_ids,
        tuple(frozenset(ids) for ids in gold.minimum_sets if ids),
    )


def of_complete_questions(rows: Iterable[Measured], /) -> list[Measured]:
    """Returns the rows of the questions that all retrievers were asked on all views of their set.

    So lines of one set are over the same questions, wherever a run was stopped.
    """
    conditions: dict[str, set[tuple[str, str]]] = defaultdict(set)
    answered: dict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    measured = list(rows)
    for row in measured:
        conditions[row.set].add((row.view, row.retriever))
        answered[row.set, row.question].add((row.view, row.retriever))
    return [row for row in measured if answered[row.set, row.question] == conditions[row.set]]


def leaderboard(rows: Iterable[Measured], /) -> list[Line]:
    """Returns a line for each set, view and retriever; draws of one view are taken together."""
    grouped: dict[tuple[str, str, str], dict[str, dict[str, Measured]]] = {}
    for row in rows:
        family, _, seed = row.view.rpartition("/")
        view = row.view if row.view == BASE else family
        of_seed = grouped.setdefault((row.set, view, row.retriever), {})
        of_seed.setdefault(seed, {})[row.question] = row
    return [_line(key, of_seed) for key, of_seed in grouped.items()]


def _line(key: tuple[str, str, str], of_seed: Mapping[str, Mapping[str, Measured]]) -> Line:
    ids = sorted({id_ for rows in of_seed.values() for id_ in rows})
    measures = {}
    for name in MEASURES:
        values = np.array(
            [
                [rows[id_].values[name] if id_ in rows else np.nan for rows in of_seed.values()]
                for id_ in ids
            ]
        )
        measures[name] = estimate(values)
    times = [row.ms for rows in of_seed.values() for row in rows.values()]
    return Line(*key, len(ids), measures, float(np.median(times)))
