"""What ``demo`` shows first: a question answered, counted, not known, and asked of changed facts.

Nothing that it prints is written down here but the questions: the rest is what retrieval gives.
"""

from __future__ import annotations

import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from graph_service.cli.demo.running import GRAPH
from graph_service.cli.output import Output
from graph_service.client import Client
from graph_service.model.request import ViewRef
from graph_service.model.result import RetrievalResult, Status, Triple
from graph_service.model.view_spec import ChangeKind, Method, ViewSpec
from graph_service.service import Service
from queries.datasets.demo_set import (
    DEMO_COUNT_QUESTION,
    DEMO_QUESTION_ID,
    DEMO_UNANSWERABLE_ID,
    demo_question,
)
from queries.generate.answer import Answer, answer
from queries.generate.verbalise import triple_sentence
from queries.llm import ChatModel

VIEW = ViewSpec(Method.RELATION_REPLACEMENT, level=0.3, random_seed=1)
NEXT = (
    ("Next", "graph-service demo --serve", "this graph as a page in your browser"),
    ("", "graph-service load FILE --graph mine", "your own: Wikidata, RDF, a table"),
)
WIDTH = 100
_INDENT = 11
_PREFIX = re.compile(r"^PREFIX .*\n", re.MULTILINE)


def show_first_minute(
    service: Service,
    client: Client,
    output: Output,
    tell: Callable[[str], None],
    /,
    *,
    model: ChatModel | None,
) -> dict[str, Any]:
    """Prints the graph in words, three questions with their answers, and one on a perturbed view.

    Args:
        service: With the demo's graph.
        client: Over it.
        output: Where it is printed.
        tell: Shows what is being done.
        model: Writes the answers; None for template sentences.

    Returns:
        What was shown, for ``--json``.
    """
    screen = _Screen(output, tell)
    introduction = service.introduction(graph=GRAPH)
    screen.row("Graph", introduction.text)

    def answered(question: str, view: ViewRef | None = None) -> Answer:
        tell(question)
        return answer(question, retriever=client, model=model, graph=GRAPH, view=view)

    question = demo_question(DEMO_QUESTION_ID).question
    first = answered(question)
    screen.row("Question", question)
    _show_answer(screen, first)
    _show_statements(screen, first)
    _show_reading(screen, first.result)
    count = answered(DEMO_COUNT_QUESTION)
    screen.row("Question", DEMO_COUNT_QUESTION)
    _show_answer(screen, count)
    unknown = answered(demo_question(DEMO_UNANSWERABLE_ID).question)
    screen.row("Question", unknown.question)
    _show_answer(screen, unknown)
    perturbed = answered(question, ViewRef(spec=VIEW))
    screen.row(
        "What if", f"{VIEW.level:.0%} of the relations were wrong? The first question again:"
    )
    _show_answer(screen, perturbed)
    changes = _changes(service, first)
    for before, after in changes[:1]:
        now = triple_sentence(after) if after else "nothing"
        screen.row("Changed", f"{triple_sentence(before)} -> {now}")
    for name, command, what in NEXT:
        screen.row(name, f"{command:<{max(len(row[1]) for row in NEXT)}}  {what}")
    return {
        "introduction": introduction,
        "answers": [first, count, unknown],
        "perturbed": perturbed,
        "changes": [{"before": before, "after": after} for before, after in changes],
    }


class _Screen:
    """Prints rows of a name and a text."""

    def __init__(self, output: Output, tell: Callable[[str], None]) -> None:
        self._output = output
        self._tell = tell
        is_terminal = not output.as_json and sys.stdout.isatty()
        self._width = min(WIDTH, shutil.get_terminal_size().columns) if is_terminal else WIDTH

    def row(self, name: str, text: str, /) -> None:
        """Prints a text behind its name, in as many lines as it takes."""
        self._tell("")
        lines = textwrap.wrap(
            text, self._width - _INDENT, break_long_words=False, break_on_hyphens=False
        )
        for index, line in enumerate(lines):
            self._output.line(f"{'' if index else name:<{_INDENT}}{line}".rstrip())


def _show_answer(screen: _Screen, item: Answer) -> None:
    """Prints the answer in a few words, and what it is where the graph does not have it."""
    if item.failure is not None:
        screen.row("Answer", f"none: {item.failure}")
        return
    short = None if item.result is None else _short_answer(item.result)
    is_unsure = item.result is not None and item.result.status is Status.LOW_CONFIDENCE
    screen.row("Answer", short or ("" if is_unsure else "Not known. ") + item.text)


def _short_answer(result: RetrievalResult) -> str | None:
    """Returns what a result answers; None where it has no answer."""
    if result.status is not Status.OK or result.answer is None:
        return None
    return result.answer.text


def _show_statements(screen: _Screen, item: Answer) -> None:
    """Prints each sentence of an answer with its citation, a line each."""
    texts = re.split(r"(?<=\]\.) ", item.text) if item.failure is None else []
    for index, text in enumerate(texts):
        screen.row("" if index else "Because", text)


def _show_reading(screen: _Screen, result: RetrievalResult | None) -> None:
    reading = None if result is None else result.interpretation
    if reading is None:
        return
    screen.row("Read as", reading.text)
    code = _PREFIX.sub("", reading.sparql) if reading.sparql else reading.cypher
    screen.row("In SPARQL" if reading.sparql else "In Cypher", " ".join(code.split()))


def _changes(service: Service, item: Answer) -> list[tuple[Triple, Triple | None]]:
    """Returns the statements of an answer that the view changed, each with what it became."""
    changes: list[tuple[Triple, Triple | None]] = []
    for before in _cited(item):
        shown = service.statements.of(before.head.id, graph=GRAPH, view=ViewRef(spec=VIEW))
        edges = [row.edge for row in shown]
        if any(
            edge.triple.statement_id == before.statement_id
            and edge.change.kind is ChangeKind.UNCHANGED
            for edge in edges
        ):
            continue
        after = next(
            (
                edge.triple
                for edge in edges
                if edge.change.base is not None
                and edge.change.base.statement_id == before.statement_id
            ),
            None,
        )
        changes.append((before, after))
    return changes


def _cited(item: Answer) -> Sequence[Triple]:
    ids = {
        id_
        for sentence in item.sentences
        for citation in sentence.citations
        for id_ in citation.statement_ids
    }
    return [triple for triple in item.knowledge if triple.statement_id in ids]
