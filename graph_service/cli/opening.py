"""From options to a service, a request or a view."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from graph_service.cli.output import Output
from graph_service.errors import InputError
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank
from graph_service.model.view_spec import Scope, ViewSpec, parse_method
from graph_service.service import Service, open_configured_store, open_service
from graph_service.settings import Settings, read_settings
from graph_service.store import SQLITE_SCHEME
from graph_service.store.names import graph_of
from graph_service.store.protocol import Store

if TYPE_CHECKING:
    from queries.datasets.case import Case

QUESTION_SCOPE = "question"


def settings_of(options: argparse.Namespace, /) -> Settings:
    """Returns the settings of the environment with the options over them."""
    settings = read_settings()
    if getattr(options, "store", None):
        settings = replace(settings, store=options.store)
    if getattr(options, "graph", None):
        settings = replace(settings, graph=options.graph)
    if getattr(options, "threads", None):
        settings = replace(settings, threads=options.threads)
    if getattr(options, "trust_snapshots", False):
        settings = replace(settings, trust_snapshots=True)
    return settings


def open_from(options: argparse.Namespace, output: Output, /) -> Service:
    """Opens the store that the options name, says which on stderr, and returns the service.

    Raises:
        InputError: The store is a file that is not there; only ``load`` makes one.
    """
    settings = settings_of(options)
    require_file(settings.store_url)
    service = open_service(settings=settings)
    output.note(f"store {service.store.url}")
    return service


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
def store_to_fill(options: argparse.Namespace, output: Output, /) -> Iterator[Store]:
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
                _forget_empty(store, options.graph)
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


def view_ref(text: str | None, /) -> ViewRef | None:
    """Returns the view of an option: ``METHOD:LEVEL[:SEED[:question]]``, or a stored view's name.

    With ``question`` at the end only the region of the question's own entities is changed, as
    in OKGQA-P.
    """
    if text is None:
        return None
    parts = text.split(":")
    of_question = len(parts) == 4 and parts[3] == QUESTION_SCOPE
    if len(parts) in (2, 3) or of_question:
        try:
            level = float(parts[1])
            random_seed = int(parts[2]) if len(parts) > 2 else 0
        except ValueError:
            return ViewRef(id=text)
        spec = ViewSpec(
            method=parse_method(parts[0]),
            level=level,
            random_seed=random_seed,
            scope=Scope(of_question=of_question),
        )
        spec.validate()
        return ViewRef(spec=spec)
    return ViewRef(id=text)


def request_of(options: argparse.Namespace, question: str, /, **changes: Any) -> RetrieveRequest:
    """Returns the request of the options for one question."""
    fields: dict[str, Any] = {
        "question": question,
        "strategy": Strategy(options.strategy),
        "graph": options.graph,
        "view": view_ref(options.view),
        "entity_ids": tuple(options.entity),
        "languages": tuple(options.language) or ("en",),
        "preset": options.preset,
        "limit": options.limit,
    }
    for name in (
        "max_edges",
        "max_hops",
        "token_budget",
        "min_score",
        "prove",
        "linking_accuracy",
        "linking_seed",
    ):
        if hasattr(options, name):
            fields[name] = getattr(options, name)
    for name, option in (
        ("relation_ids", "relation"),
        ("exclude_relation_ids", "exclude_relation"),
    ):
        fields[name] = tuple(getattr(options, option, ()))
    for name, option in (
        ("min_link_score", "tag_confidence"),
        ("max_entities", "tag_entities"),
        ("relations_per_entity", "relations_kept"),
        ("triples_per_relation", "statements_kept"),
        ("random_seed", "draw_seed"),
        ("ranker", "relation_ranker"),
    ):
        fields[name] = getattr(options, option, None)
    fields["question_vector"] = _read_vector(getattr(options, "question_vector", None))
    fields["type_ids"] = tuple(getattr(options, "type", ()))
    fields["ranks"] = tuple(Rank(rank) for rank in getattr(options, "rank", ()))
    return RetrieveRequest(**{**fields, **changes})


def _read_vector(path: str | None) -> tuple[float, ...] | None:
    if path is None:
        return None
    try:
        return vector_of(orjson.loads(Path(path).read_bytes()))
    except OSError as error:
        raise InputError(
            f"can't read {path}: {error.strerror}", argument="question_vector"
        ) from error
    except orjson.JSONDecodeError as error:
        raise InputError(f"{path}: not JSON: {error}", argument="question_vector") from error


def vector_of(data: object, /) -> tuple[float, ...]:
    """Returns the numbers of a JSON list; raises ``InputError`` where it is none of numbers."""
    if not isinstance(data, list) or not all(
        isinstance(number, int | float) and not isinstance(number, bool) for number in data
    ):
        raise InputError("a vector is a JSON list of numbers", argument="question_vector")
    return tuple(float(number) for number in data)


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question of a file.

    Attributes:
        id: Its own, or the number of its line.
        options: What its line says beside: ``entity_ids``, ``question_vector``.
    """

    id: str
    question: str
    options: Mapping[str, Any] = field(default_factory=dict)


def questions_of(options: argparse.Namespace, /) -> list[AskedQuestion]:
    """Returns the question given, or those of a file of any format that ``answer`` reads."""
    if (options.question is None) == (options.questions is None):
        raise InputError("give either a question or --questions FILE", argument="question")
    if options.question is not None:
        return [AskedQuestion("1", options.question)]
    from queries.datasets.cases import QuestionFormat, format_of
    from queries.generate.answer import search_text

    try:
        cases = cases_of_file(options.questions, options, language=options.question_language)
    except InputError as error:
        # The readers know a file; here it came by this option.
        error.argument = "questions" if error.argument == "file" else error.argument
        raise
    # Who writes lines of their own names entities to have them taken; a published file names
    # those that are right, and finding them is a part of what is measured.
    own = format_of(options.questions, options.question_format) is QuestionFormat.LINES
    found = []
    for case in cases:
        given: dict[str, Any] = {}
        if case.entity_ids and (own or options.given_entities):
            given["entity_ids"] = case.entity_ids
        if case.question_vector is not None:
            given["question_vector"] = case.question_vector
        found.append(AskedQuestion(case.id, search_text(case.history, case.question), given))
    return found


def cases_of_file(path: str, options: argparse.Namespace, /, *, language: str) -> Sequence[Case]:
    """Returns the questions of a file, by its format or the one that the options name."""
    from queries.datasets.cases import format_of, read_question_file

    if options.first is not None and options.first < 1:
        raise InputError(f"--first must be at least 1, got {options.first}", argument="first")
    found = read_question_file(
        path, question_format=format_of(path, options.question_format), language=language
    )
    return found[: options.first]
