"""answer."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from graph_service.cli.opening import open_from, questions_of, view_ref
from graph_service.cli.output import Output
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.result import Strategy
from graph_service.settings import Settings
from queries.generate.answer import Answer, resume_answers
from queries.generate.answer import answer as make_answer
from queries.llm import ChatModel, OpenAIChat


def chat_model(options: argparse.Namespace, settings: Settings, /) -> ChatModel | None:
    """Returns the chat model of the options or the settings; None for template sentences."""
    name = options.model or settings.model_name
    if not name:
        if options.model_url:
            raise InputError("--model-url needs --model NAME", argument="model")
        return None
    return OpenAIChat(
        name,
        base_url=options.model_url or settings.model_url or None,
        api_key=settings.model_key or None,
    )


def answer(options: argparse.Namespace, output: Output, /) -> int:
    """Answers one question or many, with citations."""
    questions = questions_of(options)
    out = Path(options.out) if options.out else None
    done = _answered(out, questions) if out else set()
    answers: list[Answer] = []
    failed = 0
    with open_from(options, output) as service:
        model = chat_model(options, service.settings)
        client = Client.over(service)
        for id_, question in questions:
            if id_ in done:
                continue
            item = make_answer(
                question,
                retriever=client,
                model=model,
                strategy=Strategy(options.strategy),
                graph=options.graph,
                view=view_ref(options.view),
                entity_ids=tuple(options.entity),
                preset=options.preset,
                limit=options.limit,
                question_id=id_,
            )
            failed += item.failure is not None
            answers.append(item)
            if out:
                _append(out, item)
            if options.questions is not None:
                output.line(f"# {id_}: {question}")
            for line in answer_lines(item):
                output.line(line)
    if options.question is not None and answers:
        output.object(answers[0])
    else:
        output.object({"answers": answers, "skipped": len(done), "failed": failed})
    if done:
        output.note(f"{len(done)} questions were answered in {out} before")
    return 1 if failed else 0


def _answered(out: Path, questions: Sequence[tuple[str, str]]) -> set[str]:
    """Returns which questions an earlier run answered; creates the file where there is none.

    Raises:
        InputError: The file can't be written, or holds another question under the same id.
    """
    try:
        out.touch()
    except OSError as error:
        raise InputError(f"can't write {out}: {error.strerror}", argument="out") from error
    asked = dict(questions)
    before = resume_answers(out)
    for item in before:
        if asked.get(item.question_id, item.question) != item.question:
            raise InputError(
                f"{out} has an answer to another question under id {item.question_id!r}: "
                f"{item.question}",
                argument="out",
                hint="Write to another file, or give the question another id.",
            )
    return {item.question_id for item in before} & asked.keys()


def _append(out: Path, item: Answer) -> None:
    with out.open("ab") as file:
        file.write(item.to_json().encode() + b"\n")


def answer_lines(item: Answer, /) -> list[str]:
    """Returns an answer as lines for a person; invented citations are marked."""
    if item.failure is not None:
        return [f"no answer: {item.failure}", f"({item.model})"]
    lines = item.text.splitlines()
    unmatched = [
        citation.raw
        for sentence in item.sentences
        for citation in sentence.citations
        if not citation.matched
    ]
    lines.extend(f"  not in what was given: {raw}" for raw in unmatched)
    lines.append(f"({item.model})")
    return lines
