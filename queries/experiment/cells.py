"""The cells of a plan: one way of asking all questions each, with an id that stays.

Every graph has a cell without knowledge for each answerer, and a base cell for each strategy,
preset and answerer; the views' cells follow, views outermost, so that cells of one view, and those
that share a retrieval, stand beside one another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import ViewSpec
from queries.datasets.gold import GoldQuestion
from queries.experiment.plan import Answerer, AnswererKind, Plan
from queries.question_views import Aim, view_of_question


class CellKind(StrEnum):
    """What a cell's answers rest on."""

    NO_KNOWLEDGE = "no-knowledge"
    BASE = "base"
    VIEW = "view"


def amount_of(level: float | None, count: int | None, /) -> str:
    """Returns a level, or a count as ``n5``; empty where there is neither.

    >>> amount_of(0.5, None), amount_of(None, 5)
    ('0.5', 'n5')
    """
    if level is not None:
        return f"{level:g}"
    return f"n{count}" if count is not None else ""


@dataclass(frozen=True, slots=True)
class Condition:
    """What cells of different random seeds share.

    Attributes:
        method: Name of the family of views, or of a stored view; empty without a view.
        level: Share of the edges that the view changes; None where it has none.
        count: Number of edges that it changes; None where it has none.
        strategy, preset: Of the retrieval; None and empty without knowledge.
    """

    graph: str
    kind: CellKind
    answerer: Answerer
    method: str = ""
    level: float | None = None
    count: int | None = None
    strategy: Strategy | None = None
    preset: str = ""

    @property
    def amount(self) -> str:
        """Returns the level, or the count as ``n5``; empty where there is neither."""
        return amount_of(self.level, self.count)

    @property
    def retrieval(self) -> str:
        """Returns ``graph/strategy/preset``: what the same question is asked by on every view."""
        strategy = "" if self.strategy is None else self.strategy.value
        return f"{self.graph}/{strategy}/{self.preset}"

    def name(self, random_seed: int | None = None, run: int | None = None, /) -> str:
        """Returns ``graph/method/level/seed/strategy/preset/answerer/run``, what is empty left out."""
        what = self.method if self.kind is CellKind.VIEW else self.kind.value
        seed = "" if random_seed is None else str(random_seed)
        strategy = "" if self.strategy is None else self.strategy.value
        who = self.answerer.name
        which = "" if run is None else f"run{run}"
        parts = (self.graph, what, self.amount, seed, strategy, self.preset, who, which)
        return "/".join(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class Cell:
    """One way of asking all questions of a graph.

    Attributes:
        random_seed: Of its view; None without one.
        run: Which of several runs of a model, from 1; None if it is asked once.
        view: None on the base, and without knowledge.
        aim: What the view of each question aims at, if each has its own; ``view`` is then what all
            of these have in common.
    """

    condition: Condition
    random_seed: int | None = None
    view: ViewRef | None = None
    aim: Aim | None = None
    run: int | None = None

    @property
    def id(self) -> str:
        """Its name, which no other cell of the plan has."""
        return self.condition.name(self.random_seed, self.run)

    @property
    def view_name(self) -> str:
        """Returns ``method/level/seed``, which no other view of its graph has; empty without one."""
        seed = "" if self.random_seed is None else str(self.random_seed)
        parts = (self.condition.method, self.condition.amount, seed)
        return "/".join(part for part in parts if part)

    def view_of(self, question: GoldQuestion, /) -> ViewRef | None:
        """Returns the view that a question is asked on; None for the base.

        Raises:
            InputError: The question lacks what the view aims at.
        """
        if self.aim is None or self.view is None or self.view.spec is None:
            return self.view
        made = view_of_question(self.view.spec, question, aim=self.aim)
        if made is None:
            raise InputError(
                f"question {question.id!r} lacks what {self.view.spec.method.value} aims at",
                argument="plan",
            )
        return ViewRef(spec=made)


def cells_of(plan: Plan, /) -> tuple[Cell, ...]:
    """Returns the cells of a plan, in the order in which they are answered.

    Raises:
        InputError: Two have one id.
    """
    cells: dict[str, Cell] = {}
    for cell in _cells(plan):
        if cell.id in cells:
            raise InputError(
                f"{plan.source}: two cells have the id {cell.id!r}; give a method or a view of "
                "the plan another name",
                argument="plan",
            )
        cells[cell.id] = cell
    return tuple(cells.values())


def _cells(plan: Plan) -> Iterator[Cell]:
    for graph in plan.graphs:
        for answerer in plan.answerers:
            for run in _runs(plan, answerer):
                yield Cell(Condition(graph, CellKind.NO_KNOWLEDGE, answerer), run=run)
        yield from _of_view(plan, graph, "", None, None, None)
        for family in plan.views:
            for spec in family.specs:
                view = ViewRef(spec=spec)
                yield from _of_view(plan, graph, family.name, view, spec, family.aim)
        for name in plan.stored_views:
            yield from _of_view(plan, graph, name, ViewRef(name=name), None, None)


def _of_view(
    plan: Plan,
    graph: str,
    method: str,
    view: ViewRef | None,
    spec: ViewSpec | None,
    aim: Aim | None,
) -> Iterator[Cell]:
    for strategy in plan.strategies:
        for preset in plan.presets:
            for answerer in plan.answerers:
                condition = Condition(
                    graph,
                    CellKind.VIEW if method else CellKind.BASE,
                    answerer,
                    method,
                    spec.level if spec is not None else None,
                    spec.count if spec is not None else None,
                    strategy,
                    preset,
                )
                seed = spec.random_seed if spec is not None else None
                for run in _runs(plan, answerer):
                    yield Cell(condition, seed, view, aim, run)


def _runs(plan: Plan, answerer: Answerer) -> tuple[int | None, ...]:
    """The runs of an answerer: only a model may answer one prompt in several ways."""
    if plan.runs == 1 or answerer.kind is not AnswererKind.MODEL:
        return (None,)
    return tuple(range(1, plan.runs + 1))
