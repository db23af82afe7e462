"""The answer to one question in one cell, and what cells share: retrievals, and fates of gold."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Unpack

import orjson

from graph_service.client import Client
from graph_service.model.request import RetrieveOptions, ViewRef
from graph_service.model.result import RetrievalResult, Strategy
from graph_service.model.serialise import to_plain
from queries.datasets.case import Case
from queries.experiment.cells import Cell, CellKind
from queries.experiment.extractive import EXTRACTIVE, extract
from queries.experiment.judging import OpenJudge
from queries.experiment.plan import AnswererKind, Plan
from queries.experiment.short_answers import Name
from queries.experiment.subjects import GoldFate, Subject, fate_of
from queries.experiment.targets import targets_of
from queries.generate.answer import (
    Answer,
    Request,
    answer,
    answer_from,
    answer_stated,
)
from queries.generate.setting import Setting
from queries.llm import ChatModel

_CACHED_RETRIEVALS = 2_000
_CACHED_EFFECTS = 20_000


@dataclass(frozen=True, slots=True)
class Experiment:
    """All that a run needs.

    Attributes:
        subjects: The measured questions of each graph.
        min_scores: Score under which the rule abstains, by ``graph/strategy/preset``.
        models: By the name of the answerer.
        judges: Give the scores that models give.
    """

    plan: Plan
    client: Client
    cells: tuple[Cell, ...]
    subjects: Mapping[str, tuple[Subject, ...]]
    min_scores: Mapping[str, float | None] = field(default_factory=dict)
    models: Mapping[str, ChatModel] = field(default_factory=dict)
    judges: tuple[OpenJudge, ...] = ()

    def cell_subjects(self) -> tuple[tuple[Cell, Subject], ...]:
        """Returns every question of every cell, in the order of the lines."""
        return tuple(
            (cell, subject)
            for cell in self.cells
            for subject in self.subjects[cell.condition.graph]
        )


class SharedRetrieval:
    """A retriever that asks once for what several answerers of a cell need. Thread-safe."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._cache: OrderedDict[str, RetrievalResult] = OrderedDict()

    def retrieve(
        self, strategy: Strategy, question: str, /, **options: Unpack[RetrieveOptions]
    ) -> RetrievalResult:
        """Returns what the strategy finds."""
        key = orjson.dumps([strategy.value, question, to_plain(dict(options))]).decode()
        with self._lock:
            if key in self._cache:
                self._cache.move_to_end(key)
                return self._cache[key]
        result = self._client.retrieve(strategy, question, **options)
        with self._lock:
            self._cache[key] = result
            while len(self._cache) > _CACHED_RETRIEVALS:
                self._cache.popitem(last=False)
        return result


@dataclass(frozen=True, slots=True)
class Effect:
    """What a view does to a question, whoever answers it.

    Attributes:
        gold: What it leaves of the gold; None where there is none, or it cannot be looked up.
        targets: The false answers that it leads to.
    """

    gold: GoldFate | None = None
    targets: tuple[Name, ...] = ()


class Effects:
    """What each view does to each question, looked up once a view. Thread-safe."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[str, str, str], Effect] = OrderedDict()

    def of(self, cell: Cell, subject: Subject, /) -> Effect:
        """Returns what the view of a cell does to a question."""
        if cell.condition.kind is CellKind.NO_KNOWLEDGE:
            return Effect()
        graph, view = cell.condition.graph, cell.view_of(subject.gold)
        key = (graph, orjson.dumps(to_plain(view)).decode(), subject.case.id)
        with self._lock:
            if key in self._cache:
                return self._cache[key]
        effect = Effect(
            fate_of(subject, self._client, graph=graph, view=view),
            targets_of(subject, self._client, graph=graph, view=view),
        )
        with self._lock:
            self._cache[key] = effect
            while len(self._cache) > _CACHED_EFFECTS:
                self._cache.popitem(last=False)
        return effect


def request_of(cell: Cell, case: Case, plan: Plan, /, *, view: ViewRef | None) -> Request:
    """Returns how knowledge is fetched for a question in a cell that has some.

    Args:
        cell: The cell.
        case: The question.
        plan: The plan.
        view: That the question is asked on; None for the base.
    """
    condition = cell.condition
    assert condition.strategy is not None
    more: RetrieveOptions = {**plan.retrieval}
    limit = more.pop("limit", None)
    if case.question_vector is not None:
        more["question_vector"] = case.question_vector
    return Request(
        condition.strategy,
        condition.graph,
        view,
        case.entity_ids if plan.given_entities else (),
        condition.preset,
        limit,
        more,
    )


def answer_cell(
    cell: Cell, subject: Subject, experiment: Experiment, retriever: SharedRetrieval, /
) -> Answer:
    """Returns the answer to one question in one cell.

    Raises:
        SetupError, LimitError, StoreError: As ``queries.generate.answer.answer``.
    """
    case, plan = subject.case, experiment.plan
    condition = cell.condition
    who = condition.answerer
    model = experiment.models.get(who.name)
    if condition.kind is CellKind.NO_KNOWLEDGE:
        if model is not None and who.setting is not None:
            return answer_from(
                case.question,
                (),
                model=model,
                setting=who.setting,
                question_id=case.id,
                generation=plan.generation_of(who.setting, cell.run),
                history=case.history,
                kind=case.kind,
            )
        stated = answer_stated(case.question, (), question_id=case.id, kind=case.kind)
        if who.kind is AnswererKind.EXTRACTIVE:
            stated = replace(stated, model=EXTRACTIVE, parameters={"min_score": None, "ends": []})
        return stated
    request = request_of(cell, case, plan, view=cell.view_of(subject.gold))
    if who.kind is AnswererKind.EXTRACTIVE:
        result = request.fetch(case.question, retriever, history=case.history)
        least = experiment.min_scores.get(condition.retrieval)
        return replace(
            extract(result, case.question, question_id=case.id, min_score=least), kind=case.kind
        )
    return answer(
        case.question,
        retriever=retriever,
        model=model,
        strategy=request.strategy,
        setting=who.setting or Setting.KALMA_NUMBERED,
        graph=request.graph,
        view=request.view,
        entity_ids=request.entity_ids,
        preset=request.preset,
        limit=request.limit,
        retrieval=request.more,
        question_id=case.id,
        generation=None if who.setting is None else plan.generation_of(who.setting, cell.run),
        history=case.history,
        kind=case.kind,
    )
