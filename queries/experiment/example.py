"""A changed statement that an answer of a run was given: an example for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph_service.model.result import Triple
from graph_service.model.view_spec import ChangeKind
from queries.experiment.cells import Cell
from queries.experiment.runner import CellAnswer
from queries.generate.answer import changes_of
from queries.generate.verbalise import triple_sentence


@dataclass(frozen=True, slots=True)
class ChangedStatement:
    """A statement of a view that is not as in the base.

    Attributes:
        cell: Id of the cell whose answer was given it, and ``random_seed`` that of its view.
        question: Id of the question.
        statement: As the view has it.
        base: What it was made of; None if the view added it.
        is_cited: Whether the answer cites it, and so says what is not true.
    """

    cell: str
    random_seed: int | None
    question: str
    statement: Triple
    base: Triple | None
    is_cited: bool

    def text(self) -> str:
        """Returns the change in words."""
        now = triple_sentence(self.statement)
        where = f"question {self.question}"
        if self.random_seed is not None:
            where = f"random seed {self.random_seed}, {where}"
        if self.base is None:
            return f"{now} (added by the view; {where})"
        return f"{now} (the base graph says: {triple_sentence(self.base)}; {where})"


def find_changed(
    cells: Sequence[Cell], answers: Iterable[CellAnswer], /
) -> ChangedStatement | None:
    """Returns the first changed statement that an answer cites, else the first that one was given.

    Args:
        cells: Of the plan.
        answers: Of the run, in order; None comes back if no answer was given a changed statement.
    """
    seeds = {cell.id: cell.random_seed for cell in cells}
    first: ChangedStatement | None = None
    for made in answers:
        item = made.answer
        if item.result is None:
            continue
        cited = {
            id_
            for part in item.sentences
            for citation in part.citations
            for id_ in citation.statement_ids
        }
        changes = changes_of(item.result)
        for triple in item.knowledge:
            change = changes.get(triple.statement_id)
            if change is None or change.kind is ChangeKind.UNCHANGED:
                continue
            is_cited = triple.statement_id in cited
            changed = ChangedStatement(
                made.cell, seeds[made.cell], item.question_id, triple, change.base, is_cited
            )
            if is_cited:
                return changed
            first = first or changed
    return first
