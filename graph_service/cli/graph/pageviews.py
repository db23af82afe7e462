"""pageviews: load, fetch, show, delete."""

from __future__ import annotations

import signal
import sys
import threading

from graph_service.cli.bar import Bar
from graph_service.cli.graph.options import PageviewsOptions
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.errors import InputError
from graph_service.model.pageviews import LEVEL_BOUNDS, LongTailLevel, PageViews, level_of
from graph_service.service import Service
from graph_service.settings import read_settings
from graph_service.store.page_views import read_page_views

EXIT_INTERRUPTED = 130


def pageviews(options: PageviewsOptions, output: Output, /) -> int:
    """Loads, fetches, shows or deletes page views."""
    action = {"load": _load, "fetch": _fetch, "show": _show, "delete": _delete}[options.action]
    with open_from(options, output) as service:
        return action(service, options, output)


def _load(service: Service, options: PageviewsOptions, output: Output) -> int:
    from loaders.pageviews.load import load_page_views

    if not options.what:
        raise InputError("name the table to load", argument="source")
    linker = service.passages.linker(graph=options.graph)
    report = load_page_views(
        options.what,
        store=service.store,
        graph=service.graph(options.graph).name,
        linker=lambda title: linker.titled(title, ""),
        strict=options.strict,
        rejects_path=options.rejects_path,
    )
    output.show(report.to_json(), *report.lines())
    return report.exit_code


def _fetch(service: Service, options: PageviewsOptions, output: Output) -> int:
    from graph_service.http.host_client import RequestPolicy
    from loaders.pageviews.load import fetch_page_views
    from loaders.pageviews.wikimedia import VIEWS_ADDRESS, WIKIDATA_API, ViewOptions

    settings = read_settings()
    view_options = ViewOptions(
        project=options.project,
        first=options.first,
        last=options.last,
        access=options.access,
        agent=options.agent,
        workers=options.concurrency,
        address=options.endpoint or VIEWS_ADDRESS,
        wikidata_api=options.wikidata_api or WIKIDATA_API,
        manners=RequestPolicy(
            contact=options.contact or settings.contact or None,
            interval_s=options.interval_s,
            cache_dir=None if options.no_cache else settings.cache_path / "pageviews",
        ),
    )
    stop = threading.Event()
    previous = signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        with Bar(shown=not options.quiet) as bar:
            report = fetch_page_views(
                store=service.store,
                graph=service.graph(options.graph).name,
                options=view_options,
                entity_ids=options.entity_ids,
                count=options.count,
                random_seed=options.random_seed,
                titles=options.titles,
                progress=lambda state: bar.show(state.done, state.total, "articles"),
                stop=stop,
            )
    finally:
        signal.signal(signal.SIGINT, previous)
    output.show(report.to_json(), *report.lines())
    return EXIT_INTERRUPTED if report.stopped else report.exit_code


def _show(service: Service, options: PageviewsOptions, output: Output) -> int:
    table = read_page_views(service.store, service.graph(options.graph).name)
    levels = {level.value: 0 for level in LongTailLevel}
    levels["none"] = 0
    for mean in table.means().tolist():
        level = level_of(mean)
        levels["none" if level is None else level.value] += 1
    output.object({
        "entities": len(table.keys),
        "months": list(table.months),
        "sources": list(table.sources),
        "levels": levels,
    })  # fmt: skip
    if not len(table.keys):
        output.line("no page views yet; fetch some: graph-service pageviews fetch")
        return 0
    output.line(f"{len(table.keys):,} entities, {table.months[0]} to {table.months[-1]}")
    for source in table.sources:
        output.line(f"from {source}")
    rows = [["level", "views a month", "entities"]]
    for name, (low, high) in LEVEL_BOUNDS.items():
        rows.append([name.value, f"{low:,.0f} to {high:,.0f}", f"{levels[name.value]:,}"])
    rows.append(["none", "fewer or more", f"{levels['none']:,}"])
    output.table(rows)
    return 0


def _delete(service: Service, options: PageviewsOptions, output: Output) -> int:
    name = service.graph(options.graph).name
    if not options.yes:
        if output.as_json or not sys.stdin.isatty():
            raise InputError(
                f"deleting would take the page views of all of graph {name!r}", hint="Say --yes."
            )
        if input(f"Delete the page views of graph {name}? Type its name: ").strip() != name:
            output.line("nothing deleted")
            return 0
    gone = service.long_tail.delete_page_views(graph=name)
    output.show(
        {"deleted": gone}, f"deleted the page views of graph {name}" if gone else "there were none"
    )
    return 0


def views_line(views: PageViews, /) -> str:
    """Returns an entity's page views as a line for a person."""
    level = f"long-tail level {views.level.value}" if views.level else "no long-tail level"
    return (
        f"page views: {views.mean:,.1f} a month ({level}), {views.first} to {views.last}, "
        f"from {views.source}"
    )
