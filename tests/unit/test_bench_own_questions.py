"""The own questions: gold answers from the files, the halves, grading and the command (B5).

Failures name ids and never a question, so that the half that is not read stays so.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from error_texts import raises

from benchmarks.own_questions import __main__ as command
from benchmarks.own_questions.facts import CLASS_OF, Facts, read_tables
from benchmarks.own_questions.grading import (
    Grade,
    Verdict,
    answers_of,
    figures_by_group,
    figures_of,
    grade,
)
from benchmarks.own_questions.programs import Program, run
from benchmarks.own_questions.question_set import (
    GRAPHS,
    AnswerType,
    GoldAnswer,
    OwnQuestion,
    Split,
    read_split,
)
from graph_service.model.answer import AnswerKind
from graph_service.model.result import PathsResult, Status
from graph_service.model.values import EntityValue, StringValue
from graph_service.store.protocol import Store
from loaders.load import load

FACTS = {name: graph.facts() for name, graph in GRAPHS.items()}
QUESTIONS = [question for split in Split for question in read_split(split)]


# The questions


def test_gold_answers_follow_from_the_files() -> None:
    wrong = [
        question.id
        for question in QUESTIONS
        for part in question.gold
        if run(part.program, FACTS[question.graph]) != part.answers
    ]
    assert wrong == []


def test_only_questions_without_answer_have_no_gold_answers() -> None:
    wrong = [
        question.id
        for question in QUESTIONS
        for part in question.gold
        if (part.type is AnswerType.ABSENT) == bool(part.answers)
    ]
    assert wrong == []


def test_counts_truths_and_entities_are_of_their_type() -> None:
    fits: dict[AnswerType, Callable[[str, frozenset[str]], bool]] = {
        AnswerType.COUNT: lambda text, ids: text.isdigit(),
        AnswerType.TRUTH: lambda text, ids: text in ("yes", "no"),
        AnswerType.ENTITIES: lambda text, ids: text in ids,
        AnswerType.VALUES: lambda text, ids: text not in ids,
    }
    wrong = [
        question.id
        for question in QUESTIONS
        for part in question.gold
        for text in part.answers
        if not fits[part.type](text, _entities(FACTS[question.graph]))
    ]
    assert wrong == []


def _entities(facts: Facts) -> frozenset[str]:
    # "Mainland" and the towns without statements are values of a relation that has entities.
    towns = (facts.backward.get(name, {}) for name in ("located_on", "located_in", "born_in"))
    return facts.ids.union(*towns)


def test_unknown_entities_are_unknown_and_the_others_are_known() -> None:
    wrong = []
    for question in QUESTIONS:
        if question.is_absent:
            (part,) = question.gold
            known = bool(run(part.program[1], FACTS[question.graph]) & FACTS[question.graph].ids)
            if known != (question.kind != "unknown-entity"):
                wrong.append(question.id)
    assert wrong == []


def test_halves_are_equal_by_graph_and_kind() -> None:
    assert len({question.id for question in QUESTIONS}) == 100
    assert Counter(question.graph for question in QUESTIONS) == {"ferries": 50, "seeds": 50}
    assert sum(question.is_absent for question in QUESTIONS) == 20
    read, unread = (
        Counter((question.graph, question.kind) for question in read_split(split))
        for split in Split
    )
    assert read == unread
    for split in Split:
        assert {question.split for question in read_split(split)} == {split}


@pytest.mark.parametrize("name", sorted(GRAPHS))
def test_loaders_read_the_same_statements(name: str, tmp_store: Store) -> None:
    graph = GRAPHS[name]
    load(graph.source, store=tmp_store, graph=name, options=graph.options)
    statements = sum(
        len(values) for heads in FACTS[name].forward.values() for values in heads.values()
    )
    (info,) = tmp_store.graphs()
    assert info.counts.statements == statements
    assert 150 <= statements <= 400


# Programs

SMALL = {
    "statements.csv": "s,r,o\na,age,10 years\nb,age,9 years\nc,age,9\na,likes,b\nb,likes,c\n"
    "a,born,1990-05-02\nb,born,1989-12-31\n",
    "classes.csv": "id,class\na,Cat\nb,Cat\nc,Dog\n",
    "names.csv": "id,name\na,Tom\nb,Tom\n",
}


@pytest.fixture
def small(tmp_path: Path) -> Facts:
    for name, text in SMALL.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return read_tables(tmp_path)


@pytest.mark.parametrize(
    ("program", "value"),
    [
        (["is", "x", "y"], "x y"),
        (["named", "tom"], "a b"),
        (["named", "C"], "c"),
        (["all", "Cat"], "a b"),
        (["follow", ["is", "a"], "likes", "likes"], "c"),
        (["follow", ["is", "c"], "<likes", "<likes"], "a"),
        (["where", ["all", "Cat"], ["age"], ">", "9"], "a"),
        (["where", ["all", "Cat"], ["born"], "<", "1990"], "b"),
        (["where", ["is", "a", "b", "c"], ["likes"], "=", "b"], "a"),
        (["where", ["is", "a", "b", "c"], ["likes"], "!=", "b"], "b c"),
        (["and", ["named", "Tom"], ["is", "b", "c"]], "b"),
        (["or", ["is", "a"], ["all", "Dog"]], "a c"),
        (["most", ["is", "a", "b", "c"], "age"], "a"),
        (["least", ["is", "a", "b", "c"], "age"], "b c"),
        (["nth", 2, "most", ["is", "a", "b", "c"], "age"], "b c"),
        (["nth", 3, "most", ["is", "a", "b", "c"], "age"], ""),
        (["least", ["is", "a", "b", "c"], "born"], "b"),
        (["count", ["named", "Tom"]], "2"),
        (["exists", ["all", "Dog"]], "yes"),
        (["exists", ["all", "Bird"]], "no"),
    ],
)
def test_program(program: Program, value: str, small: Facts) -> None:
    assert run(program, small) == frozenset(value.split())


def test_unknown_programs_and_values_without_number_are_errors(small: Facts) -> None:
    with raises(ValueError):
        run(["sum", ["is", "a"]], small)
    with pytest.raises(ValueError, match="expected a number"):
        run(["most", ["is", "a", "b"], CLASS_OF], small)


# Grading


def question(*gold: tuple[str, str], kind: str = "direct") -> OwnQuestion:
    parts = tuple(
        GoldAnswer(AnswerType(type_), frozenset(text.split("; ")) - {""}, "", ())
        for type_, text in gold
    )
    return OwnQuestion("q", "seeds", Split.READ, kind, "Who?", (), parts)


def result(
    *ends: str, status: Status = Status.OK, value: str | None = None, ids: Sequence[str] = ()
) -> PathsResult:
    """A result whose paths end at ``ends``; those with a slash are entities."""
    items = [
        SimpleNamespace(
            steps=(
                SimpleNamespace(
                    triple=SimpleNamespace(
                        value=EntityValue(f"base:{end}") if "/" in end else StringValue(end)
                    ),
                    reversed=False,
                ),
            )
        )
        for end in ends
    ]
    answer: Any = None
    if value is not None:
        answer = SimpleNamespace(
            kind=AnswerKind.COUNT if value.isdigit() else AnswerKind.ENTITIES,
            value=value,
            entities=tuple(SimpleNamespace(id=f"base:{id_}") for id_ in ids),
        )
    return cast(PathsResult, SimpleNamespace(status=status, items=items, answer=answer, parts=()))


LOW = Status.LOW_CONFIDENCE
TWO = ("entities", "p/1; p/2")


@pytest.mark.parametrize(
    ("gold", "got", "verdict"),
    [
        ([("entities", "p/1")], result("p/1", "p/2"), Verdict.RIGHT),
        ([("entities", "p/1")], result("p/2", "p/1"), Verdict.WRONG_AND_OK),
        ([("entities", "p/1")], result("p/2", status=LOW), Verdict.REFUSED),
        ([("entities", "p/1")], result("p/1", status=LOW), Verdict.RIGHT),
        ([("entities", "p/1")], result(status=Status.NO_ENTITY_LINKED), Verdict.REFUSED),
        ([TWO], result("p/2", "p/2", "p/1", "p/3"), Verdict.RIGHT),
        ([TWO], result("p/2", "p/3", "p/1"), Verdict.WRONG_AND_OK),
        ([TWO], result("p/2"), Verdict.WRONG_AND_OK),
        ([TWO], result(value="A; B", ids=("p/1", "p/2")), Verdict.RIGHT),
        ([TWO], result("p/1", "p/2", value="A", ids=("p/1",)), Verdict.WRONG_AND_OK),
        ([TWO], result(value="A; B; C", ids=("p/1", "p/2", "p/3")), Verdict.WRONG_AND_OK),
        ([("values", "104 m")], result("104"), Verdict.RIGHT),
        ([("values", "66.5")], result("66.50"), Verdict.RIGHT),
        ([("values", "1986")], result("1987"), Verdict.WRONG_AND_OK),
        ([("count", "3")], result(value="3"), Verdict.RIGHT),
        ([("count", "3")], result(value="3", ids=("p/1", "p/2", "p/3")), Verdict.RIGHT),
        ([("count", "3")], result("3"), Verdict.SILENT),
        ([("count", "3")], result("3", status=LOW), Verdict.REFUSED),
        ([("count", "3")], result(value="4"), Verdict.WRONG_AND_OK),
        ([("truth", "no")], result(value="no"), Verdict.RIGHT),
        ([("truth", "no")], result(value="yes"), Verdict.WRONG_AND_OK),
        ([("truth", "no")], result("no"), Verdict.SILENT),
        ([("values", "1894"), ("entities", "p/1")], result("1894", "p/1"), Verdict.RIGHT),
        ([("values", "1894"), ("entities", "p/1")], result("1894", "p/2"), Verdict.WRONG_AND_OK),
        ([("absent", "")], result("p/1"), Verdict.WRONG_AND_OK),
        ([("absent", "")], result("p/1", status=LOW), Verdict.RIGHT),
    ],
)
def test_verdict(gold: list[tuple[str, str]], got: PathsResult, verdict: Verdict) -> None:
    assert grade(question(*gold), got, base="base:").verdict is verdict


def test_ends_count_only_without_a_computed_answer() -> None:
    assert answers_of(result("p/1", "9", "p/2"), count=2, base="base:") == ("p/1", "9")
    assert answers_of(result("p/1", value="x; y"), count=1) == ("x", "y")


def test_figures() -> None:
    known = [("entities", "p/1")]
    grades = [
        grade(question(*known), result("p/1"), base="base:"),
        grade(question(*known), result("p/1", status=LOW), base="base:"),
        grade(question(*known), result("p/2"), base="base:"),
        grade(question(*known), result("p/2", status=LOW), base="base:"),
        grade(question(("truth", "no"), kind="yes-no"), result("no")),
        grade(question(("absent", ""), kind="missing-fact"), result("p/1", status=LOW)),
    ]
    figures = figures_of(grades)
    assert (figures.questions, figures.right, figures.doubted) == (6, 3, 1)
    assert (figures.wrong_and_ok, figures.silent, figures.refused) == (1, 1, 1)
    # ok are the first, the third and the fifth; one of them is right.
    assert (figures.ok, figures.right_of_ok) == (3, 1 / 3)
    groups = figures_by_group(grades)
    assert {name: group.questions for name, group in groups.items()} == {
        "direct": 4,
        "yes-no": 1,
        "missing-fact": 1,
        "in the graph": 5,
        "not in the graph": 1,
        "seeds": 6,
        "all": 6,
    }
    assert figures_of([]).right_of_ok is None


# The command


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a refusal of every question in the place of retrieval."""

    def grade_all(service: object, questions: Sequence[OwnQuestion], preset: str) -> list[Grade]:
        return [Grade(each, Verdict.REFUSED, False, ()) for each in questions]

    monkeypatch.setattr(command, "open_graphs", nullcontext)
    monkeypatch.setattr(command, "grade_all", grade_all)


@pytest.mark.usefixtures("refused")
def test_command_prints_the_half_that_is_read(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command.main(["--misses", "1", "--out", str(tmp_path / "figures.json")])
    printed = capsys.readouterr().out
    first, second, *_ = read_split(Split.READ)
    assert "split read" in printed
    assert first.text in printed
    assert second.text not in printed
    written = json.loads((tmp_path / "figures.json").read_text())
    assert written["split"] == "read"
    assert written["figures"]["all"]["refused"] == 50


@pytest.mark.usefixtures("refused")
def test_command_prints_no_unread_question(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["--split", "unread"])
    printed = capsys.readouterr().out
    assert "split unread" in printed
    shown = [each.id for each in read_split(Split.UNREAD) if each.id in printed]
    shown += [each.id for each in read_split(Split.UNREAD) if each.text in printed]
    assert shown == []
    with pytest.raises(SystemExit):
        command.main(["--split", "unread", "--misses", "1"])
    assert "would print unread questions" in capsys.readouterr().err


def test_two_questions_are_graded_by_their_parts() -> None:
    """Each part's first path is looked at, however the result mixes them."""
    both = cast(Any, result("1902", "p/9", "1943", status=Status.OK))
    parts = tuple(
        SimpleNamespace(
            question="", status=Status.OK, linked=(), relevance=None, confidence=None,
            constraints=(), answer=None, interpretation=None, item_indexes=indexes,
        )
        for indexes in ((0, 1), (2,))
    )  # fmt: skip
    paths = PathsResult(
        id="", question="", status=Status.OK, linked=(), truncated=(), tokens=cast(Any, None),
        region=None, provenance=cast(Any, None), timings_ms={}, parts=cast(Any, parts),
        items=tuple(both.items),
    )  # fmt: skip
    two = question(("values", "1902"), ("values", "1943"))
    assert grade(two, paths).verdict is Verdict.RIGHT
    assert (
        grade(question(("values", "1902"), ("values", "1944")), paths).verdict is not Verdict.RIGHT
    )
