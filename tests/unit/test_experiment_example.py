"""The changed statement that stands as an example of what views do to answers (O10)."""

from __future__ import annotations

from dataclasses import replace

from query_samples import paths, triple

from graph_service.model.result import Triple, TripleChange
from graph_service.model.view_spec import ChangeKind
from queries.experiment.cells import Cell, CellKind, Condition
from queries.experiment.example import find_changed
from queries.experiment.plan import Answerer, AnswererKind
from queries.experiment.runner import CellAnswer
from queries.generate.answer import answer_stated

TRUE = triple("true", "Q1", "mother", "Cleo", label="Ada")
FALSE = triple("false", "Q1", "father", "Cleo", label="Ada")
ADDED = triple("added", "Q1", "capital", "Rome", label="Ada")
WHO = Answerer("verbaliser", AnswererKind.VERBALISER)
BASE = Cell(Condition("demo", CellKind.BASE, WHO))
VIEWS = [Cell(Condition("demo", CellKind.VIEW, WHO, "rr", 0.3), seed) for seed in (0, 1)]
CELLS = (BASE, *VIEWS)
CHANGES = {
    "false": TripleChange(ChangeKind.RELATION_CHANGED, TRUE),
    "added": TripleChange(ChangeKind.ADDED),
}


def answered(cell: Cell, question: str, given: Triple, *, is_cited: bool) -> CellAnswer:
    """An answer that states the one triple that it was given, or nothing of it."""
    found = answer_stated("Who?", (given,), question_id=question)
    assert [one.statement_ids for part in found.sentences for one in part.citations]
    result = paths([([given], 1.0)], changes=CHANGES)
    found = replace(found, result=result, sentences=found.sentences if is_cited else ())
    return CellAnswer(cell.id, None, found)


def test_a_cited_statement_is_taken_before_one_that_was_given_earlier_o10() -> None:
    given = answered(VIEWS[0], "a", ADDED, is_cited=False)
    cited = answered(VIEWS[1], "b", FALSE, is_cited=True)
    found = find_changed(CELLS, [answered(BASE, "a", TRUE, is_cited=True), given, cited])
    assert found is not None
    assert (found.cell, found.random_seed, found.is_cited) == ("demo/rr/0.3/1/verbaliser", 1, True)
    assert found.text() == (
        "Ada's father is Cleo (the base graph says: Ada's mother is Cleo; "
        "random seed 1, question b)"
    )


def test_without_a_cited_one_the_first_that_was_given_is_taken() -> None:
    given = [
        answered(VIEWS[0], "a", ADDED, is_cited=False),
        answered(VIEWS[1], "b", FALSE, is_cited=False),
    ]
    found = find_changed(CELLS, given)
    assert found is not None
    assert not found.is_cited
    assert found.text() == (
        "Rome is the capital of Ada (added by the view; random seed 0, question a)"
    )


def test_there_is_none_if_nothing_changed_was_given() -> None:
    unanswered = answered(VIEWS[0], "a", FALSE, is_cited=True)
    failed = replace(unanswered, answer=replace(unanswered.answer, result=None))
    assert find_changed(CELLS, [answered(VIEWS[0], "a", TRUE, is_cited=True), failed]) is None
