"""retrieve: triplets, paths or a subgraph for one question or many."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import orjson

from graph_service.cli.ask.explaining import snaks_of
from graph_service.cli.ask.options import RetrieveOptions
from graph_service.cli.ask.reading import names_in, result_lines
from graph_service.cli.opening import QuestionLine, open_from, questions_of, require_embedder
from graph_service.cli.output import Output, counted, error_fields, print_json
from graph_service.errors import GraphServiceError, InputError
from graph_service.model.render import TextFormat, result_text
from graph_service.model.result import RetrievalResult
from graph_service.model.serialise import to_plain
from graph_service.service import Outcome, Service

EXIT_SOME_FAILED = 3


def retrieve(options: RetrieveOptions, output: Output, /) -> int:
    """Gets triplets, paths or a subgraph for one question or many."""
    questions = questions_of(options)
    with_details = bool(output.as_json or options.explain or options.out)
    with open_from(options, output) as service:
        if options.questions is not None:
            require_embedder(service, output)
            return _retrieve_many(options, output, service, questions, with_details)
        (question,) = questions
        result = service.retrieve(
            replace(options.request, question=question.question, details=with_details)
        )
        output.object(result)
        _show(options, output, service, result)
    return 0


def _retrieve_many(
    options: RetrieveOptions,
    output: Output,
    service: Service,
    questions: Sequence[QuestionLine],
    with_details: bool,
) -> int:
    records: list[dict[str, Any]] = []
    failed = 0
    most = service.settings.max_questions
    with _lines(options.out) as lines:
        for start in range(0, len(questions), most):
            part = questions[start : start + most]
            requests = [
                replace(
                    options.request,
                    question=question.question,
                    details=with_details,
                    **question.options,
                )
                for question in part
            ]
            for question, outcome in zip(part, service.retrieve_many(requests), strict=True):
                failed += isinstance(outcome, GraphServiceError)
                if lines is not None:
                    record = orjson.dumps(to_plain(_record(question, outcome)))
                    if options.out == "-":
                        print_json(record)
                        sys.stdout.flush()
                    else:
                        print(record.decode(), file=lines, flush=True)
                elif output.as_json:
                    records.append(_record(question, outcome))
                else:
                    _show_outcome(options, output, service, question, outcome)
    if lines is None:
        output.object({"results": records})
    elif options.out != "-":
        output.show(
            {"questions": len(questions), "failed": failed},
            f"{counted(len(questions), 'question')}, {failed} failed: {options.out}",
        )
    if failed:
        output.note(f"{failed} of {counted(len(questions), 'question')} failed")
    return EXIT_SOME_FAILED if failed else 0


@contextmanager
def _lines(path: str | None) -> Iterator[TextIO | None]:
    """Opens where JSON lines go: a file, or - for stdout."""
    if path is None or path == "-":
        yield None if path is None else sys.stdout
        return
    from graph_service.export.run import is_database

    if is_database(Path(path)):
        raise InputError(
            f"{path} is a database, which the results would take the place of", argument="out"
        )
    try:
        file = Path(path).open("w", encoding="utf-8")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"can't write {path}: {error.strerror}", argument="out") from error
    with file:
        yield file


def _record(question: QuestionLine, outcome: Outcome) -> dict[str, Any]:
    if isinstance(outcome, GraphServiceError):
        return {"id": question.id, "error": error_fields(outcome)}
    return {"id": question.id, "result": outcome}


def _show_outcome(
    options: RetrieveOptions,
    output: Output,
    service: Service,
    question: QuestionLine,
    outcome: Outcome,
) -> None:
    if not options.text:
        output.line(f"# {question.id}: {question.question}")
    if isinstance(outcome, GraphServiceError):
        output.note(f"error: question {question.id}: {outcome}")
        return
    _show(options, output, service, outcome)


def _show(
    options: RetrieveOptions, output: Output, service: Service, result: RetrievalResult
) -> None:
    if options.text:
        output.lines(result_text(result, text_format=TextFormat(options.text)))
        return
    names = None
    if options.explain:
        names = names_in(snaks_of(result), service, options.graph, options.request.languages)
    for line in result_lines(result, explain=names):
        output.line(line)
