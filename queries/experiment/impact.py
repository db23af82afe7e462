"""What each view of a run breaks of its questions, whoever answers and however it is retrieved.

Of the gold of a question:

* a **statement** is broken if the view changed or lost it;
* the question's **sets** are broken if each of its minimum sets has a broken statement, which is to
  say that its fate is not ``kept``;
* its **answer** is further if no answer entity is as few steps from the question's entities as on
  the base, whatever the relations.

The fates stand in the lines of a run. Steps are counted in the arrays of a graph, so only where the
store is at hand. ``views.jsonl`` has a line for each view and question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.serialise import from_plain
from queries.datasets.gold import GoldQuestion
from queries.experiment.answering import Experiment
from queries.experiment.cells import Cell, CellKind, amount_of
from queries.experiment.runner import ANSWERS_NAME, CellGold, read_cell_gold
from queries.experiment.subjects import MOST_STATEMENTS, Fate, Subject
from queries.line_file import write_lines
from queries.score.case import triple_line

VIEWS_NAME = "views.jsonl"
NO_ARRAYS = "steps are counted in the store, and the run asked a server"
OF_WORDS = "the view is of each question's words, so only a retrieval can be asked on it"


@dataclass(frozen=True, slots=True)
class Changes:
    """How many changes a view makes.

    Attributes:
        made: Statements removed, changed and added, and entities of other names.
        expected: As many as its level or count says of what it may change; None if these are no
            statements, as of chains.
    """

    made: int
    expected: int | None


CountChanges = Callable[[str, ViewRef], Changes]
"""What a view of a graph changes."""
CountSteps = Callable[[GoldQuestion, str, ViewRef | None], int | None]
"""Steps from a question's entities to its nearest answer in a graph, or in a view of it; None if it
is far.
"""


@dataclass(frozen=True, slots=True)
class BrokenStatement:
    """A gold statement that a view changed or lost, as the base has it: ``head | relation | value``.

    Attributes:
        words: Empty if the base does not list it.
    """

    id: str
    words: str


@dataclass(frozen=True, slots=True)
class ViewLine:
    """What a view breaks of one question.

    Attributes:
        view: ``method/level/seed``.
        fate: Of its best set; None without gold in this graph, or if nothing can be looked up.
        statements: How many statements its first minimum set has.
        broken: Those of them that are broken.
        steps_base, steps_view: From its entities to its nearest answer; None if that is far.
        why: Why no steps were counted; None if they were.
        changed, expected: Changes that the view makes, and as many as its level or count says;
            None if they were not counted.
    """

    graph: str
    view: str
    question: str
    fate: Fate | None
    statements: int
    broken: tuple[BrokenStatement, ...]
    steps_base: int | None
    steps_view: int | None
    why: str | None
    changed: int | None = None
    expected: int | None = None

    @property
    def sets_broken(self) -> bool | None:
        """Whether each minimum set has a broken statement; None without gold."""
        return None if self.fate is None else self.fate is not Fate.KEPT

    @property
    def is_further(self) -> bool | None:
        """Whether the nearest answer is further than on the base; None if the base has none near."""
        if self.steps_base is None:
            return None
        return self.steps_view is None or self.steps_view > self.steps_base


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many are broken."""

    broken: int
    of: int

    @property
    def share(self) -> float | None:
        """Returns ``broken / of``; None over nothing.

        >>> Share(1, 4).share
        0.25
        """
        return self.broken / self.of if self.of else None

    def __add__(self, other: Share) -> Share:
        """Returns the share over both."""
        return Share(self.broken + other.broken, self.of + other.of)


@dataclass(frozen=True, slots=True)
class ViewImpact:
    """What a view breaks of the questions of its graph.

    Attributes:
        method: Name of the family of views, or of a stored view.
        level, count, random_seed: None where it has none.
        questions: That were asked.
        statements: Gold statements.
        sets: Questions whose every minimum set is broken.
        answers: Questions whose nearest answer is further; over those whose answer the base has near.
        why: Why steps were not counted of all questions; empty if they were.
        reached: Changes made, of as many as the level or the count says; over nothing if they were
            not counted.
        unchanged: Questions whose view changes nothing.
    """

    graph: str
    method: str
    level: float | None
    count: int | None
    random_seed: int | None
    questions: int
    statements: Share
    sets: Share
    answers: Share
    why: str
    reached: Share = Share(0, 0)
    unchanged: int = 0

    @property
    def amount(self) -> str:
        """Returns the level, or the count as ``n5``; empty where there is neither."""
        return amount_of(self.level, self.count)


@dataclass(frozen=True, slots=True)
class Impacts:
    """What the views of a run break.

    Attributes:
        rows: One a graph and view, in the plan's order.
        examples: The first question of each graph and method of which anything is broken.
    """

    rows: tuple[ViewImpact, ...] = ()
    examples: tuple[ViewLine, ...] = ()


def write_views(
    experiment: Experiment,
    folder: Path,
    /,
    *,
    count_steps: CountSteps | None = None,
    count_changes: CountChanges | None = None,
    say: Callable[[str], None] | None = None,
) -> None:
    """Writes ``views.jsonl`` from the answers of a run; lines that are right are kept.

    Args:
        experiment: What was asked.
        folder: Of the run.
        count_steps: Counts steps to answers; None without a store, and lines then say so.
        count_changes: Counts what views change; None without a store.
        say: Told now and then how many lines are made.

    Raises:
        InputError: A line of the run is none; names it.
    """
    path = folder / VIEWS_NAME
    stored = {
        (line.graph, line.view, line.question): line for line in read_views(folder, missing=True)
    }
    line_builder = _LineBuilder(experiment, count_steps, count_changes)
    made: dict[tuple[str, str, str], ViewLine] = {}
    cells = {cell.id: cell for cell in experiment.cells}
    total = sum(len(experiment.subjects[graph]) for graph, _ in _views(experiment.cells))
    for line in read_cell_gold(folder / ANSWERS_NAME):
        cell = cells[line.cell]
        key = (cell.condition.graph, cell.view_name, line.question)
        if cell.condition.kind is not CellKind.VIEW or key in made:
            continue
        before = stored.get(key)
        made[key] = (
            before
            if before and line_builder.is_right(before, line)
            else line_builder.line(cell, line)
        )
        if say is not None:
            say(f"{len(made):,} of {total:,} views of a question looked at")
    write_lines(path, made.values())


class _LineBuilder:
    """Makes lines; what questions of one graph share is looked up once."""

    def __init__(
        self,
        experiment: Experiment,
        count_steps: CountSteps | None,
        count_changes: CountChanges | None,
    ) -> None:
        self._client: Client = experiment.client
        self._count_steps = count_steps
        self._count_changes = count_changes
        self._subjects = {
            (graph, subject.case.id): subject
            for graph, subjects in experiment.subjects.items()
            for subject in subjects
        }
        self._words: dict[tuple[str, str], Mapping[str, str]] = {}
        self._base: dict[tuple[str, str], int | None] = {}

    def is_right(self, line: ViewLine, cell_gold: CellGold) -> bool:
        """Whether a line of an earlier run says what it would say now."""
        gold = cell_gold.gold
        if self._count_changes is not None and line.changed is None and line.why != OF_WORDS:
            return False
        state = (line.fate, tuple(statement.id for statement in line.broken))
        return state == ((None, ()) if gold is None else (gold.fate, gold.broken))

    def line(self, cell: Cell, cell_gold: CellGold) -> ViewLine:
        graph = cell.condition.graph
        subject = self._subjects[graph, cell_gold.question]
        view = cell.view_of(subject.gold)
        gold = cell_gold.gold
        base = on_view = None
        count = self._count_steps
        why = None if count is not None else NO_ARRAYS
        if view is not None and view.spec is not None and view.spec.scope.of_question:
            why = OF_WORDS
        if count is not None and why is None:
            key = (graph, cell_gold.question)
            if key not in self._base:
                self._base[key] = count(subject.gold, graph, None)
            base = self._base[key]
            on_view = None if base is None else count(subject.gold, graph, view)
        changes = None
        if self._count_changes is not None and view is not None and why != OF_WORDS:
            changes = self._count_changes(graph, view)
        return ViewLine(
            graph,
            cell.view_name,
            cell_gold.question,
            None if gold is None else gold.fate,
            0 if gold is None else len(subject.gold.statement_ids),
            ()
            if gold is None
            else tuple(
                BrokenStatement(id_, self._words_of(graph, subject, id_)) for id_ in gold.broken
            ),
            base,
            on_view,
            why,
            None if changes is None else changes.made,
            None if changes is None else changes.expected,
        )

    def _words_of(self, graph: str, subject: Subject, id_: str) -> str:
        for head in subject.heads:
            if (graph, head) not in self._words:
                self._words[graph, head] = {
                    statement.triple.statement_id: triple_line(statement.triple)
                    for statement in self._client.statements(
                        head, graph=graph, limit=MOST_STATEMENTS
                    )
                }
            if id_ in self._words[graph, head]:
                return self._words[graph, head][id_]
        return ""


def read_views(folder: Path, /, *, missing: bool = False) -> tuple[ViewLine, ...]:
    """Returns the lines of ``views.jsonl``.

    Args:
        folder: Of the run.
        missing: Whether there may be no such file.

    Raises:
        InputError: There is none, or a line is none; names it.
    """
    path = folder / VIEWS_NAME
    if not path.is_file():
        if missing:
            return ()
        raise InputError(f"there is no file {path}", argument="out", hint="Run the plan first.")
    lines: list[ViewLine] = []
    for index, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            lines.append(from_plain(ViewLine, orjson.loads(line)))
        except (orjson.JSONDecodeError, InputError) as error:
            raise InputError(
                f"{path.name}, line {index}: what a view breaks of a question was expected; "
                f"{error}",
                argument="out",
                hint=f"Delete {path}, and run the plan again: what was answered stays.",
            ) from error
    return tuple(lines)


def impacts_of(cells: Sequence[Cell], lines: Iterable[ViewLine], /) -> Impacts:
    """Returns what each view breaks over its questions.

    Args:
        cells: Of the plan, in order.
        lines: Of the run.
    """
    views = _views(cells)
    of_view: dict[tuple[str, str], list[ViewLine]] = {}
    examples: dict[tuple[str, str], ViewLine] = {}
    for line in lines:
        key = (line.graph, line.view)
        if key not in views:
            continue
        of_view.setdefault(key, []).append(line)
        if line.broken or line.sets_broken or line.is_further:
            examples.setdefault((line.graph, views[key].condition.method), line)
    return Impacts(
        tuple(_impact(cell, of_view[key]) for key, cell in views.items() if key in of_view),
        tuple(examples.values()),
    )


def _views(cells: Sequence[Cell]) -> dict[tuple[str, str], Cell]:
    """The first cell of each view, by graph and name of the view."""
    views: dict[tuple[str, str], Cell] = {}
    for cell in cells:
        if cell.condition.kind is CellKind.VIEW:
            views.setdefault((cell.condition.graph, cell.view_name), cell)
    return views


def _impact(cell: Cell, lines: Sequence[ViewLine]) -> ViewImpact:
    condition = cell.condition
    sets = [line.sets_broken for line in lines if line.sets_broken is not None]
    answers = [line.is_further for line in lines if line.is_further is not None]
    return ViewImpact(
        condition.graph,
        condition.method,
        condition.level,
        condition.count,
        cell.random_seed,
        len(lines),
        Share(sum(len(line.broken) for line in lines), sum(line.statements for line in lines)),
        Share(sum(sets), len(sets)),
        Share(sum(answers), len(answers)),
        next((line.why for line in lines if line.why is not None), ""),
        _reached(lines if cell.aim is not None else lines[:1]),
        sum(line.changed == 0 for line in lines),
    )


def _reached(lines: Sequence[ViewLine]) -> Share:
    known = [line for line in lines if line.changed is not None and line.expected is not None]
    return Share(
        sum(line.changed or 0 for line in known), sum(line.expected or 0 for line in known)
    )
