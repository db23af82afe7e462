"""From options to a service, a request or a view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_service.cli.ask.options import QuestionFileOptions, RetrieveOptions
from graph_service.cli.options import EmbedderOptions, GraphOptions, StoreOptions, VerbOptions
from graph_service.cli.output import Output
from graph_service.embed import is_minilm
from graph_service.errors import GraphNotFoundError, InputError, ModelFileError
from graph_service.service import Service, open_configured_store, open_service
from graph_service.settings import Settings, read_settings
from graph_service.store import SQLITE_SCHEME
from graph_service.store.names import graph_of
from graph_service.store.protocol import Store

if TYPE_CHECKING:
    from queries.datasets.case import Case


def settings_of(options: VerbOptions, /, **values: object) -> Settings:
    """Returns the settings of the environment with the options over them, and what is given."""
    named: dict[str, Any] = dict(values)
    if isinstance(options, StoreOptions):
        named["store"] = options.store
    if isinstance(options, GraphOptions):
        named["graph"] = options.graph
    if isinstance(options, EmbedderOptions):
        named["embedder"] = options.embedder
    return replace(read_settings(), **{name: value for name, value in named.items() if value})


def open_from(options: StoreOptions, output: Output, /, **values: object) -> Service:
    """Opens the store that the options name, says which on stderr, and returns the service.

    Args:
        options: Of the verb.
        output: Of the verb.
        values: Settings that the verb has options for.

    Raises:
        InputError: The store is a file that is not there; only ``load`` makes one.
    """
    settings = settings_of(options, **values)
    require_file(settings.store_url)
    service = open_service(settings=settings)
    output.note(f"store {service.store.url}")
    return service


def note_missing_graph(service: Service, name: str | None, output: Output, /) -> None:
    """Says on stderr that a graph named by ``--graph`` is not in the store, with those that are.

    A server may begin before its graph is loaded, so that this is no error.
    """
    if not name:
        return
    try:
        service.graph(name)
    except GraphNotFoundError as error:
        output.note(f"warning: {error.message}. Load it, or name another with --graph.")


def require_embedder(service: Service, output: Output, /) -> None:
    """Opens the embedder before a server listens, which would else fail at its first question.

    Missing weights of the default one are said on stderr alone: what needs no question answers
    without them.

    Raises:
        GraphServiceError: Another embedder can't be opened.
    """
    try:
        _ = service.vectors
    except ModelFileError as error:
        if not is_minilm(service.settings.embedder):
            raise
        output.note(f"warning: no question can be answered: {error}")


def refuse_store_options(options: StoreOptions, /) -> None:
    """Raises ``InputError`` for options of a store beside the address of a server."""
    if options.store:
        raise InputError("give --store or --server, not both", argument="server")
    if isinstance(options, EmbedderOptions) and options.embedder:
        raise InputError(
            "--embedder has no effect with --server, which has an embedder of its own",
            argument="embedder",
        )


def file_of(url: str, /) -> Path | None:
    """Returns the file of an address; None where it is a server's."""
    return Path(url[len(SQLITE_SCHEME) :]) if url.lower().startswith(SQLITE_SCHEME) else None


def require_file(url: str, /) -> None:
    """Raises ``InputError`` where an address is that of a file that is not there."""
    path = file_of(url)
    if path is not None and not path.exists():
        raise InputError(
            f"there is no store {path}.",
            argument="store",
            hint="Name another (--store, GRAPH_SERVICE_STORE), or make it: "
            "graph-service load SOURCE --graph NAME",
        )


@contextmanager
def store_to_fill(options: StoreOptions, output: Output, /, *, graph: str) -> Iterator[Store]:
    """Opens the store that the options name, or makes it, and says which on stderr.

    What was begun for a source that can't be loaded is gone again, and so is a file made for it.
    """
    settings = settings_of(options)
    path = file_of(settings.store_url)
    is_new = path is not None and not path.exists()
    is_empty = False
    try:
        with open_configured_store(settings) as store:
            output.note(f"store {store.url}")
            try:
                yield store
            except InputError:
                _forget_empty(store, graph)
                is_empty = is_new and not store.unfinished_loads() and not store.graphs()
                raise
    finally:
        if is_empty and path is not None:
            # SQLite's log and index beside it go when the last connection is closed.
            path.unlink()


def _forget_empty(store: Store, graph: str) -> None:
    """Deletes what a graph's first load began, where no statement is in."""
    begun = [load for load in store.unfinished_loads() if graph_of(load.edition) == graph]
    published = any(info.name == graph for info in store.graphs())
    if begun and not published and not any(load.statements for load in begun):
        store.delete_graph(graph)


@dataclass(frozen=True, slots=True)
class QuestionLine:
    """A question of a file.

    Attributes:
        id: Its own, or the number of its line.
        options: What its line says beside: ``entity_ids``, ``question_vector``.
    """

    id: str
    question: str
    options: Mapping[str, Any] = field(default_factory=dict)


def questions_of(options: RetrieveOptions, /) -> list[QuestionLine]:
    """Returns the question given, or those of a file of any format that ``answer`` reads."""
    if options.question is not None and options.questions is None:
        return [QuestionLine("1", options.question)]
    if options.questions is None or options.question is not None:
        raise InputError("give either a question or --questions FILE", argument="question")
    from queries.datasets.cases import QuestionFormat, format_of

    try:
        cases = cases_of_file(options.questions, options)
    except InputError as error:
        # The readers know a file; here it came by this option.
        error.argument = "questions" if error.argument == "file" else error.argument
        raise
    # Who writes lines of their own names entities to have them taken; a published file names
    # those that are right, and finding them is a part of what is measured.
    own = format_of(options.questions, options.question_format) is QuestionFormat.LINES
    questions = []
    for case in cases:
        values: dict[str, Any] = {}
        if case.entity_ids and (own or options.given_entities):
            values["entity_ids"] = case.entity_ids
        if case.question_vector is not None:
            values["question_vector"] = case.question_vector
        earlier = tuple(turn.content for turn in case.history if turn.role == "user")
        if earlier:
            values["earlier"] = earlier
        questions.append(QuestionLine(case.id, case.question, values))
    return questions


def cases_of_file(path: str, options: QuestionFileOptions, /) -> Sequence[Case]:
    """Returns the questions of a file, by its format or the one that the options name."""
    from queries.datasets.cases import format_of, read_question_file

    questions = read_question_file(
        path,
        question_format=format_of(path, options.question_format),
        language=options.question_language,
    )
    return questions[: options.first]
