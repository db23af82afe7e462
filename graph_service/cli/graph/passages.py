"""passages: load, search, list, delete."""

from __future__ import annotations

import signal
import threading

from graph_service.cli.bar import Bar
from graph_service.cli.graph.options import PassagesOptions
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.errors import InputError, SetupError
from graph_service.model.passage import PassageRanking, ScoredPassage
from graph_service.service import Service

EXIT_INTERRUPTED = 130


def passages(options: PassagesOptions, output: Output, /) -> int:
    """Loads, searches, lists or deletes passages."""
    action = {"load": _load, "search": _search, "list": _list, "delete": _delete}[options.action]
    with open_from(options, output) as service:
        return action(service, options, output)


def _load(service: Service, options: PassagesOptions, output: Output) -> int:
    from loaders.passages.load import PassageOptions, load_passages

    if not options.what:
        raise InputError("name the file or folder to load", argument="source")
    stop = threading.Event()
    previous = signal.signal(signal.SIGINT, lambda *_: stop.set())
    try:
        with Bar(shown=not options.quiet, unit="B") as bar:
            report = load_passages(
                options.what,
                store=service.store,
                graph=service.graph(options.graph).name,
                linker=service.passages.linker(graph=options.graph),
                options=PassageOptions(
                    format=options.format,
                    title=options.title,
                    max_words=options.max_words,
                    link_titles=not options.no_linking,
                    strict=options.strict,
                    rejects_path=options.rejects_path,
                ),
                progress=lambda state: bar.show(
                    state.done, state.total, f"{state.counts['passages']:,} passages"
                ),
                stop=stop,
            )
    finally:
        signal.signal(signal.SIGINT, previous)
    vectors: int | None = None
    if report.set is not None and not options.no_vectors:
        vectors = _embed(service, options, output)
    output.show({**report.to_json(), "vectors": vectors}, *report.lines())
    if vectors is not None:
        output.line(f"vectors: {vectors:,}, by {service.vectors.embedder.name}")
    return EXIT_INTERRUPTED if report.set is None else report.exit_code


def _embed(service: Service, options: PassagesOptions, output: Output) -> int | None:
    try:
        with Bar(shown=not options.quiet) as bar:
            return service.passages.embed(
                graph=options.graph,
                progress=lambda state: bar.show(state.done, state.total, "vectors"),
            )
    except SetupError as error:
        # The passages are in, and words find them; only vectors wait for the embedder.
        output.note(f"no vectors yet: {error}")
        return None


def _search(service: Service, options: PassagesOptions, output: Output) -> int:
    if not options.what:
        raise InputError("say what to search for", argument="query")
    result = service.passages.search(
        options.what,
        graph=options.graph,
        k=options.limit,
        by=PassageRanking(options.by),
        min_score=options.min_score,
        languages=options.languages,
    )
    output.object(result)
    if options.text:
        for item in result.items:
            output.line(prompt_text(item))
        return 0
    for rank, item in enumerate(result.items, 1):
        parts = [
            f"{name} {value:.4f}"
            for name, value in (("words", item.word_score), ("vector", item.vector_score))
            if value is not None
        ]
        entity = item.passage.entity
        linked = f"  {item.entity_label or entity} ({entity})" if entity else ""
        output.line(f"{rank:3}. {item.score:.4f}  [{', '.join(parts)}]{linked}")
        output.line(f"     {item.passage.title or '-'}  <{item.passage.source}>")
        output.line(f"     {item.passage.text}")
    for cut in result.truncated:
        output.line(f"     {cut.text()}")
    if not result.items:
        output.line(
            "nothing found"
            if result.searched
            else "the graph has no passages yet: graph-service passages load FILE"
        )
    return 0


def prompt_text(item: ScoredPassage, /) -> str:
    """Returns a passage as it stands in a prompt: title and text in one line."""
    title = item.passage.title
    return f"{title}: {item.passage.text}" if title else item.passage.text


def _list(service: Service, options: PassagesOptions, output: Output) -> int:
    sets = service.passages.sets(graph=options.graph)
    output.listing(
        {"sets": sets},
        ["source", "passages", "words", "linked", "published"],
        [
            [
                passage_set.source,
                f"{passage_set.passages:,}",
                f"{passage_set.words:,}",
                f"{passage_set.linked:,}",
                passage_set.published_at,
            ]
            for passage_set in sets
            if passage_set.published
        ],
        empty="no passages yet; load some: graph-service passages load FILE",
    )
    for passage_set in sets:
        if not passage_set.published:
            output.line(
                f"unfinished: {passage_set.source}, begun {passage_set.started_at} by {passage_set.owner}"
            )
    return 0


def _delete(service: Service, options: PassagesOptions, output: Output) -> int:
    if bool(options.what) == options.all:
        raise InputError("name a source, or say --all", argument="source")
    known = sorted(
        {passage_set.source for passage_set in service.passages.sets(graph=options.graph)}
    )
    if options.what and options.what not in known:
        raise InputError(
            f"there are no passages of source {options.what!r}; the sources are: "
            f"{', '.join(known) or 'none'}",
            argument="source",
        )
    gone = service.passages.delete(graph=options.graph, source=options.what)
    output.show(
        {"deleted": gone, "source": options.what},
        f"deleted {gone:,} passages of {options.what or 'all sources'}",
    )
    return 0
