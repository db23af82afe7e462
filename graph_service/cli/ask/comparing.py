"""compare: one question on the base and on views of it, side by side."""

from __future__ import annotations

import textwrap

from graph_service.cli.answer.answering import answer_lines
from graph_service.cli.answer.chat_model import chat_model
from graph_service.cli.ask.compare_options import CompareOptions
from graph_service.cli.opening import open_from, settings_of
from graph_service.cli.output import Output
from graph_service.cli.readers import view_ref
from graph_service.client import Client
from graph_service.model.render import path_line, triple_line
from graph_service.model.result import ScoredPath, ScoredTriple, Status
from graph_service.model.view_spec import ChangeKind
from queries.generate.answer import Answer, answer

BASE = "base"
_ABSENT = "-"
_COLUMNS = 110
_NOTES = {
    Status.LOW_CONFIDENCE: "(no answer there is sure)",
    Status.NOT_IN_GRAPH: "(the graph does not say it)",
}


def compare(options: CompareOptions, output: Output, /) -> int:
    """Prints the place of everything retrieved on each side, and each side's answer."""
    sides = {BASE: None, **{name: view_ref(name) for name in options.views}}
    request = options.request
    with (
        chat_model(options, settings_of(options)) as model,
        open_from(options, output) as service,
        service.one_reading(),
    ):
        client = Client.over(service)
        answers = {
            name: answer(
                options.question,
                retriever=client,
                model=model,
                strategy=request.strategy,
                graph=options.graph,
                view=view,
                entity_ids=request.entity_ids,
                preset=request.preset,
                limit=request.limit,
            )
            for name, view in sides.items()
        }
    output.show(
        {"answers": [{"view": name, "answer": retrieved} for name, retrieved in answers.items()]},
        options.question,
    )
    output.line()
    output.table(_ranks(answers))
    output.line()
    width = max(map(len, answers))
    for name, retrieved in answers.items():
        # The last line is the model's name, which all have in common.
        lines = answer_lines(retrieved)[:-1] or ["(nothing was retrieved)"]
        if retrieved.result is not None and retrieved.result.status in _NOTES:
            lines.append(_NOTES[retrieved.result.status])
        shown = [part for line in lines for part in textwrap.wrap(line, _COLUMNS - width)]
        for rank, line in enumerate(shown):
            output.line(f"{'' if rank else name:{width}}  {line}")
    output.line(f"({answers[BASE].model})")
    return 0 if all(retrieved.failure is None for retrieved in answers.values()) else 1


def _ranks(answers: dict[str, Answer]) -> list[list[str]]:
    """Rows of all that was retrieved, in words, with its place on each side; * what views made."""
    rows: dict[str, list[str]] = {}
    for column, retrieved in enumerate(answers.values()):
        items: list[ScoredTriple | ScoredPath] = (
            [*retrieved.result.items] if retrieved.result else []
        )
        for rank, item in enumerate(items, 1):
            if isinstance(item, ScoredPath):
                words = path_line(item.steps)
                changes = [step.change for step in item.steps]
            else:
                words, changes = triple_line(item.triple), [item.change]
            cells = rows.setdefault(words, [_ABSENT] * len(answers))
            # Several statements of one triple: the first place counts.
            if cells[column] == _ABSENT:
                made = any(change.kind is not ChangeKind.UNCHANGED for change in changes)
                cells[column] = f"{rank}{'*' * made}"
    is_marked = any(cell.endswith("*") for cells in rows.values() for cell in cells)
    legend = "rank of what was retrieved" + "; * changed by the view" * is_marked
    return [[*answers, legend], *([*cells, words] for words, cells in rows.items())]
