"""What all verbs of score share: the files they take, and cases scored one by one and kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from graph_service.cli.answer.options import RunOptions
from graph_service.cli.output import Output, counted
from graph_service.cli.progress import ProgressPrinter
from graph_service.cli.score.options import CitationsOptions, GoldOptions, NotAvailableOptions
from graph_service.errors import InputError
from queries.datasets.demo_set import demo_questions
from queries.datasets.gold import GoldQuestion, read_gold_questions
from queries.datasets.scored import read_text_cases
from queries.generate.answer import Answer
from queries.line_file import encode_line
from queries.lock import one_writer
from queries.score.case import TextCase
from queries.score.report import Groups, Row, is_complete
from queries.score.rows import RowFile, score_cases

RowType = TypeVar("RowType", bound=Row)
Case = TypeVar("Case")


def file_of(name: str, /) -> Path:
    """Returns the file that is scored; raises ``InputError`` where there is none."""
    path = Path(name)
    if not path.is_file():
        raise InputError(f"there is no file {path}", argument="file")
    return path


def files_of(names: Sequence[str], /) -> tuple[Path, ...]:
    """Returns the files that are compared; raises ``InputError`` where one is missing or twice."""
    paths = tuple(Path(name) for name in names)
    for index, path in enumerate(paths):
        if not path.is_file():
            raise InputError(f"there is no file {path}", argument="file")
        if path in paths[:index]:
            raise InputError(f"{path} is given twice", argument="file")
    return paths


def gold_of(options: GoldOptions, /) -> tuple[GoldQuestion, ...]:
    """Returns the gold questions of the options, by default those that ship with the package."""
    return read_gold_questions(options.gold) if options.gold else demo_questions()


def gold_for(
    answers: Sequence[Answer],
    options: CitationsOptions | NotAvailableOptions,
    output: Output,
    /,
) -> tuple[GoldQuestion, ...]:
    """Returns the gold questions that answers are scored against, and says which these are.

    Without ``--gold`` those that ship with the package, where the answers are to them; else none.

    Raises:
        InputError: There is no answer, or none is to a question of ``--gold``.
    """
    if not answers:
        raise InputError(
            f"{options.file} holds no answer; what `answer --out` wrote was expected",
            argument="file",
        )
    gold = gold_of(options)
    questions = {question.id: question.question for question in gold}
    same = [item for item in answers if questions.get(item.question_id) == item.question]
    if options.gold:
        if not any(item.question_id in questions for item in answers):
            raise InputError(
                f"none of the {len(answers)} answers is to a question of {options.gold}: they "
                f"have ids such as {answers[0].question_id!r}, and it has {gold[0].id!r}",
                argument="gold",
                hint="Give the questions that were answered.",
            )
        return gold
    if not same:
        output.note(
            "no gold questions: correctness alone is scored. Minimum sets come with --gold FILE"
        )
        return ()
    output.note("gold: the 50 questions that ship with the package (--gold names others)")
    return gold


def groups_by_id(options: GoldOptions, /) -> Callable[[str], Groups]:
    """Returns what a question's answers are grouped by: its kind in the gold questions."""
    kinds = {question.id: question.kind for question in gold_of(options)}
    return lambda id_: Groups(kind=kinds.get(id_, ""))


def write_rows(path: str | None, rows: Iterable[Any], /) -> None:
    """Writes rows as JSON lines where a file is named; raises ``InputError`` where it can't."""
    if path is None:
        return
    try:
        Path(path).write_bytes(b"".join(map(encode_line, rows)))
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}", argument="out") from error


def run_cases(
    options: RunOptions,
    output: Output,
    cases: Sequence[Case],
    score: Callable[[Case], RowType],
    kind: type[RowType],
    /,
    *,
    basis: str,
    id_of: Callable[[Case], str] = attrgetter("id"),
) -> tuple[RowType, ...]:
    """Returns one row a case, written to ``--out`` and gone on with from there.

    Prints the progress on stderr, with the tokens so far.

    Args:
        options: Where rows are written, and how many cases are scored at once.
        output: Where it is said how many cases were scored before.
        cases: With ids of their own.
        score: From a case to its row.
        kind: The rows' type.
        basis: What the scores rest on; rows of another basis are refused.
        id_of: A case's id.
    """
    with one_writer(options.out):
        file = RowFile(Path(options.out) if options.out else None, kind, basis)
        before = sum(id_of(case) in file.rows for case in cases)
        if before:
            output.note(
                f"{counted(before, 'case was', 'cases were')} scored in {options.out} before"
            )
        return score_cases(
            cases,
            score,
            file,
            id_of=id_of,
            again=lambda row: options.retry_failed and not is_complete(row),
            concurrency=options.concurrency,
            progress=ProgressPrinter(),
        )


def text_cases(
    options: GoldOptions, output: Output, path: Path, /, *, needs: Sequence[str] = ()
) -> tuple[TextCase, ...]:
    """Returns the texts of a file that are to be judged, with the kinds of their questions.

    Args:
        options: Name the gold questions.
        output: Where it is said how many texts are empty.
        path: The file.
        needs: Fields that each text must have.
    """
    groups = groups_by_id(options)
    cases = read_text_cases(path, needs=needs)
    empty = sum(case.failure is None and not case.text.strip() for case in cases)
    if empty:
        output.note(f"{counted(empty, 'text')} of {path.name} empty: not responded")
    return tuple(
        case if case.groups != Groups() else replace(case, groups=groups(case.id)) for case in cases
    )
