"""The verbs ``load`` and ``graphs`` of the command line."""

from __future__ import annotations

import signal
import sys
import threading
from dataclasses import asdict, dataclass

from graph_service.cli.bar import Bar
from graph_service.cli.gc_tuning import rare_collection
from graph_service.cli.graph.load_request import load_request
from graph_service.cli.graph.options import GraphsOptions, LoadVerbOptions
from graph_service.cli.opening import open_from, settings_of, store_to_fill
from graph_service.cli.output import Output, counted
from graph_service.embed import is_minilm
from graph_service.errors import GraphNotFoundError, GraphServiceError, InputError
from graph_service.service import Service, open_service
from graph_service.store.names import graph_of
from graph_service.store.page_views import read_page_views
from loaders.formats import Format
from loaders.options import LoadOptions
from loaders.tables.mapping import AUTO, TablesRequest

_QUESTIONS = 3
_SECONDS = 3.0
_MOST_STATEMENTS = 20_000


def load(options: LoadVerbOptions, output: Output, /) -> int:
    """Loads a source into a graph; 3 where anything was rejected."""
    from loaders.load import load as run_load

    source, load_options = load_request(options)
    if options.look:
        return _look(source, load_options, output)
    if not options.graph:
        raise InputError("name the graph: --graph NAME", argument="graph")
    stop = threading.Event()
    previous = signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        with (
            rare_collection(),
            store_to_fill(options, output, graph=options.graph) as store,
            Bar(shown=not options.quiet, unit="B", divisor=1024) as bar,
        ):
            report = run_load(
                source,
                store=store,
                graph=options.graph,
                replace=options.replace,
                refresh=options.refresh,
                options=load_options,
                progress=bar.show_load,
                stop=stop,
            )
    finally:
        signal.signal(signal.SIGINT, previous)
    output.show(report.to_json(), *report.lines())
    if Format.ROWS in report.formats and not (options.quiet or output.as_json):
        for question in _questions(options):
            output.note(f"ask it: {question}")
    return report.exit_code


def _questions(options: LoadVerbOptions) -> tuple[str, ...]:
    """Returns questions about tables that were loaded, which are answered for sure.

    There are none without the embedder that ships, nor of a graph that is large.
    """
    settings = settings_of(options, graph=options.graph)
    if not is_minilm(settings.embedder):
        return ()
    try:
        with open_service(settings=settings) as service:
            if service.graph(options.graph).counts.statements > _MOST_STATEMENTS:
                return ()
            return service.answered_questions(
                graph=options.graph, most=_QUESTIONS, seconds=_SECONDS
            )
    except GraphServiceError:
        # The load is done: what can't be asked now is said by the command that asks.
        return ()


def _look(source: str, options: LoadOptions, output: Output) -> int:
    """Prints what the columns of tables would become."""
    from loaders.tables.look import look_lines
    from loaders.tables.plan import plan_tables, request_of

    plan = plan_tables(source, request_of(options) or TablesRequest(row=AUTO), options)
    output.object({"tables": plan.to_json()})
    for line in look_lines(plan):
        output.line(line)
    return 0


def graphs(options: GraphsOptions, output: Output, /) -> int:
    """Lists graphs, or deletes one."""
    with open_from(options, output) as service:
        if options.action == "delete":
            _delete(service, options, output)
            return 0
        known = service.graphs()
        unfinished = service.store.unfinished_loads()
        output.object({"graphs": known, "unfinished": unfinished})
        if not known:
            output.line("no graphs yet; load one: graph-service load SOURCE --graph NAME")
        else:
            rows = [["graph", "edition", "entities", "statements", "published", "source"]]
            rows.extend(
                [
                    info.name,
                    info.edition,
                    f"{info.counts.entities:,}",
                    f"{info.counts.statements:,}",
                    info.published_at,
                    info.source,
                ]
                for info in known
            )
            output.table(rows)
        for info in known:
            for reason, count in sorted(info.report.get("incomplete", {}).items()):
                output.line(f"NOT COMPLETE: {info.edition}: {count:,} {reason}")
        for started in unfinished:
            output.line(
                f"unfinished: {started.edition} from {started.source}, {started.statements:,} "
                f"statements so far, begun {started.started_at} by {started.owner}"
            )
    return 0


def _delete(service: Service, options: GraphsOptions, output: Output) -> None:
    if not options.name:
        raise InputError("name the graph to delete", argument="name")
    name = options.name
    contents = _contents(service, name)
    words = f" with {contents.words()}"
    if not options.yes:
        if output.as_json or not sys.stdin.isatty():
            raise InputError(f"this would delete graph {name}{words}", hint="Say --yes.")
        if input(f"Delete graph {name}{words}? Type its name: ").strip() != name:
            output.line("nothing deleted")
            return
    service.delete_graph(name)
    output.show({"deleted": name, **asdict(contents)}, f"deleted graph {name}{words}")


@dataclass(frozen=True, slots=True)
class Contents:
    """How much goes with a graph; ``page_views`` counts entities."""

    statements: int
    views: int = 0
    passages: int = 0
    page_views: int = 0

    def words(self) -> str:
        """Returns all of it in words; what there is none of is left out, but for statements.

        >>> Contents(1156, views=1).words()
        '1,156 statements and 1 view'
        >>> Contents(1, passages=2, page_views=1).words()
        '1 statement, 2 passages and the page views of 1 entity'
        """
        parts = [counted(self.statements, "statement")]
        if self.views:
            parts.append(counted(self.views, "view"))
        if self.passages:
            parts.append(counted(self.passages, "passage"))
        if self.page_views:
            parts.append(f"the page views of {counted(self.page_views, 'entity', 'entities')}")
        *first, last = parts
        return f"{', '.join(first)} and {last}" if first else last


def _contents(service: Service, name: str) -> Contents:
    """Returns what goes with a graph, or with a first load that was not finished.

    Raises:
        GraphNotFoundError: There is neither.
    """
    begun = [load for load in service.store.unfinished_loads() if graph_of(load.edition) == name]
    try:
        info = service.graph(name)
    except GraphNotFoundError:
        if not begun:
            raise
        return Contents(sum(load.statements for load in begun))
    return Contents(
        statements=info.counts.statements,
        views=len(service.views.list(graph=name)),
        passages=sum(passage_set.passages for passage_set in service.passages.sets(graph=name)),
        page_views=len(read_page_views(service.store, name).keys),
    )
