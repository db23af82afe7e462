"""The options of retrieve, and those that every verb takes that reads a file of questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graph_service.cli.options import EmbedderOptions, GraphOptions, request
from graph_service.model.request import MAX_LANGUAGES, RetrieveRequest, ViewRef
from graph_service.options import option

QUESTION_FORMATS = (
    "lines",
    "biokalma",
    "okgqa",
    "rubq",
    "simple-questions",
    "path-question",
    "metaqa",
)
"""Names of ``queries.datasets.cases.QuestionFormat``; a test holds the two together."""

_OF_FILE = ("questions",)


@dataclass(frozen=True, kw_only=True)
class QuestionFileOptions:
    """How a file of questions is read."""

    GROUP: ClassVar[str] = "question file"

    question_format: str | None = option(
        None,
        help="format of the file, if it is not recognised",
        choices=QUESTION_FORMATS,
        needs=_OF_FILE,
    )
    question_language: str = option(
        "en", help="of RuBQ's: en or ru", metavar="CODE", needs=_OF_FILE
    )
    first: int | None = option(None, help="only the first N questions", least=1, needs=_OF_FILE)


@dataclass(frozen=True, kw_only=True)
class QuestionOptions(QuestionFileOptions):
    """One question, or a file of them."""

    question: str | None = option(
        None, help="one question, in quotes", metavar="QUESTION", is_word=True
    )
    questions: str | None = option(
        None,
        help="many: JSON lines with a `question`, or a published file; packed or not",
        metavar="FILE",
    )


@dataclass(frozen=True, kw_only=True)
class RetrieveOptions(GraphOptions, EmbedderOptions, QuestionOptions):
    """The options of ``retrieve`` on the command line."""

    given_entities: bool = option(
        False,
        help="take the entities that a published file names instead of linking; those of lines "
        "are taken",
        needs=_OF_FILE,
    )
    request: RetrieveRequest = request(RetrieveRequest, question="")
    text: str | None = option(
        None,
        help="print the text for a prompt, and only that",
        choices=("triples", "numbered", "citations", "paths"),
    )
    out: str | None = option(
        None,
        help="with --questions: write the results as JSON lines, in the same order; - for stdout",
        metavar="FILE",
        needs=_OF_FILE,
    )
    explain: bool = option(
        False, help="print the parts of each score, and where the result came from"
    )


@dataclass(frozen=True, kw_only=True)
class SearchOptions(GraphOptions):
    """The options of ``search`` on the command line."""

    query: str = option(help="a name, or words of one", metavar="NAME", is_word=True)
    languages: tuple[str, ...] = option(
        (), help="only names in this language", most=MAX_LANGUAGES, metavar="CODE"
    )
    limit: int = option(10, help="entities at most")
    prefix: bool = option(False, help="the last word may be the beginning of one")
    view: ViewRef | None = option(
        None,
        help="a view, by whose names to search: its name or id, or METHOD:LEVEL:SEED",
        metavar="V",
    )


@dataclass(frozen=True, kw_only=True)
class ItemOptions(GraphOptions):
    """The options of ``item`` on the command line."""

    id: str = option(
        help="Q42, an IRI, or a short form such as dbr:Rome", metavar="ID", is_word=True
    )
    view: ViewRef | None = option(
        None, help="a view: its name or id, or METHOD:LEVEL:SEED", metavar="V"
    )
    relation_ids: tuple[str, ...] = option((), help="only this relation", metavar="ID")
    languages: tuple[str, ...] = option(
        ("en",), help="language of labels, best first", most=MAX_LANGUAGES, metavar="CODE"
    )
    limit: int = option(100, help="statements at most")
