"""The options of load, graphs, export, backup, verify, passages, pageviews and sample."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from graph_service.cli.options import EmbedderOptions, GraphOptions, StoreOptions, request
from graph_service.model.request import MAX_LANGUAGES
from graph_service.options import option
from loaders.options import LoadOptions
from loaders.sparql.options import EndpointOptions
from loaders.subset.filters import Filters

EXPORT_FORMATS = ("jsonl", "parquet", "ntriples", "nquads", "tsv", "kgtk", "neo4j-csv")
"""Names of ``graph_service.export.ExportFormat``; a test holds the two together."""
_LOAD, _SEARCH, _DELETE, _FETCH = "load", "search", "delete", "fetch"


@dataclass(frozen=True, kw_only=True)
class Neo4jSourceOptions:
    """What a load from a Neo4j takes."""

    GROUP: ClassVar[str] = "from a Neo4j"

    mapping: Path | None = option(
        None,
        help="which of its nodes, relationships and properties to read, as what; or what the columns "
        "of tables become, as --look prints it",
    )
    source_database: str = option("neo4j", help="the database to read", metavar="NAME")


class PrintDropped(argparse.Action):
    """Prints the list of relations that loads from DBpedia leave out, as it can be given back."""

    def __init__(self, option_strings: Sequence[str], **_: Any) -> None:
        super().__init__(
            option_strings,
            dest=argparse.SUPPRESS,
            nargs=0,
            help="print the relations that loads from DBpedia leave out, and end",
        )

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Prints how far the load is."""
        from loaders.sparql.dialects import BOOKKEEPING_FILE

        print(BOOKKEEPING_FILE.read_text(encoding="utf-8"), end="")
        parser.exit()


@dataclass(frozen=True, kw_only=True)
class LoadVerbOptions(StoreOptions, Neo4jSourceOptions):
    """The options of ``load`` on the command line."""

    ACTIONS = {"--print-dropped": PrintDropped}

    source: str = option(
        help="a file (.gz .bz2 .xz too), a folder, - for stdin, or from an endpoint wikidata:Q42 or "
        "dbpedia:Rome",
        metavar="SOURCE",
        is_word=True,
    )
    graph: str = option("", help="name of the graph", metavar="NAME")
    look: bool = option(
        False,
        help="print what the columns of tables would become, as a mapping to edit, and load nothing",
    )
    replace: bool = option(False, help="replace the graph, at once at the end")
    refresh: bool = option(
        False,
        help="read again what has changed since the graph was loaded, from wikidata:Q42 alone",
    )
    reading: LoadOptions = request(LoadOptions)
    quiet: bool = option(False, help="no progress bar")
    filters: Filters = request(Filters)
    walk: EndpointOptions = request(EndpointOptions)
    no_cache: bool = option(False, help="keep no answers on disk", group="from an endpoint")


@dataclass(frozen=True, kw_only=True)
class GraphsOptions(StoreOptions):
    """The options of ``graphs`` on the command line."""

    action: str = option("list", help="what to do", is_word=True, choices=("list", "delete"))
    name: str | None = option(
        None,
        help="the graph to delete, with its views, passages and page views",
        metavar="NAME",
        is_word=True,
    )
    yes: bool = option(False, help="delete without asking")


@dataclass(frozen=True, kw_only=True)
class ExportOptions(GraphOptions):
    """The options of ``export`` on the command line."""

    out: str = option(
        help="the file (.gz packs it), - for stdout; a folder for parquet and neo4j-csv",
        metavar="OUT",
        is_word=True,
    )
    format: str | None = option(
        None, help="told by the file's name if left out", choices=EXPORT_FORMATS
    )
    view: str | None = option(
        None, help="a view: its name or id, or METHOD:LEVEL:SEED", metavar="V"
    )
    labels: Path | None = option(None, help="write labels to this file, beside a tsv")


@dataclass(frozen=True, kw_only=True)
class BackupOptions(StoreOptions):
    """The options of ``backup`` on the command line."""

    out: Path = option(help="the new file", metavar="OUT", is_word=True)
    replace: bool = option(False, help="write over a file that is there")


@dataclass(frozen=True, kw_only=True)
class PassagesOptions(GraphOptions, EmbedderOptions):
    """The options of ``passages`` on the command line."""

    action: str = option(
        help="what to do", is_word=True, choices=("load", "search", "list", "delete")
    )
    what: str | None = option(
        None,
        help="load: a file, a folder or - for stdin; search: words or a question; delete: a source",
        metavar="SOURCE|QUERY",
        is_word=True,
    )
    format: str | None = option(
        None,
        help="when it is not told by the first bytes",
        choices=("text", "jsonl", "wikipedia"),
        group=_LOAD,
    )
    title: str | None = option(
        None, help="title of a text file's document; else its name", group=_LOAD
    )
    max_words: int = option(100, help="words of a passage at most", group=_LOAD)
    no_linking: bool = option(False, help="link no titles to entities", group=_LOAD)
    no_vectors: bool = option(
        False, help="compute no vectors now; the first search by vectors does", group=_LOAD
    )
    strict: bool = option(False, help="stop at the first rejected line", group=_LOAD)
    rejects_path: Path | None = option(None, help="where rejected lines go", group=_LOAD)
    quiet: bool = option(False, help="no progress bar", group=_LOAD)
    limit: int = option(10, help="passages at most", group=_SEARCH)
    by: str = option(
        "both",
        help="BM25, cosine of the embedder's vectors, or the mean",
        choices=("words", "vectors", "both"),
        group=_SEARCH,
    )
    min_score: float | None = option(None, help="leave out what scores less", group=_SEARCH)
    languages: tuple[str, ...] = option(
        ("en",),
        help="language of entities' labels, best first",
        most=MAX_LANGUAGES,
        metavar="CODE",
        group=_SEARCH,
    )
    text: bool = option(False, help="print the passages for a prompt, and only that", group=_SEARCH)
    all: bool = option(False, help="those of all sources", group=_DELETE)


@dataclass(frozen=True, kw_only=True)
class PageviewsOptions(GraphOptions):
    """The options of ``pageviews`` on the command line."""

    action: str = option(
        help="what to do", is_word=True, choices=("load", "fetch", "show", "delete")
    )
    what: str | None = option(
        None,
        help="load: a table of entity or title, month and views, or - for stdin",
        metavar="FILE",
        is_word=True,
    )
    quiet: bool = option(False, help="no progress bar")
    yes: bool = option(False, help="delete without asking")
    strict: bool = option(False, help="stop at the first rejected line", group=_LOAD)
    rejects_path: Path | None = option(None, help="where rejected lines go", group=_LOAD)
    project: str = option("en.wikipedia", help="whose articles", metavar="P", group=_FETCH)
    first: str = option(
        "2021-01", help="from this month on (2021-01), as in LTGen", metavar="MONTH", group=_FETCH
    )
    last: str = option(
        "2022-12", help="up to this month (2022-12), as in LTGen", metavar="MONTH", group=_FETCH
    )
    entity_ids: tuple[str, ...] = option(
        (), help="this entity; default: all entities", metavar="ID", group=_FETCH
    )
    count: int | None = option(None, help="N of them, drawn by random seed", group=_FETCH)
    random_seed: int = option(0, help="of that draw", metavar="S", group=_FETCH)
    titles: Path | None = option(
        None, help="table of entity and title of its article; others are looked up", group=_FETCH
    )
    contact: str | None = option(
        None,
        help="whom Wikimedia can write to; default: GRAPH_SERVICE_CONTACT",
        metavar="MAIL_OR_URL",
        group=_FETCH,
    )
    concurrency: int = option(4, help="requests at once, at most 10", group=_FETCH)
    interval_s: float | None = option(
        None,
        help="pause of each between its requests in seconds (1)",
        metavar="S",
        group=_FETCH,
    )
    access: str = option(
        "all-access",
        help="all-access, desktop, mobile-web or mobile-app",
        metavar="A",
        group=_FETCH,
    )
    agent: str = option(
        "user", help="user, all-agents, spider or automated", metavar="A", group=_FETCH
    )
    endpoint: str | None = option(
        None, help="another address of the pageview API", metavar="URL", group=_FETCH
    )
    wikidata_api: str | None = option(
        None,
        help="another address that knows which article an entity has",
        metavar="URL",
        group=_FETCH,
    )
    no_cache: bool = option(False, help="keep no answers on disk", group=_FETCH)


@dataclass(frozen=True, kw_only=True)
class SampleOptions(GraphOptions):
    """The options of ``sample`` on the command line."""

    levels: tuple[str, ...] = option(
        (), help="a long-tail level; default: all four", choices=("I", "II", "III", "IV")
    )
    per_level: int | None = option(
        None, help="entities of each level at most; default: all there are"
    )
    random_seed: int = option(0, help="of the draw", metavar="S")
    min_triples: int = option(5, help="pass over entities with fewer")
    max_triples: int = option(100, help="pass over entities with more")
    drop_relations: Path | None = option(None, help="another list of relations that are left out")
    print_dropped: bool = option(
        False, help="print the list of relations that are left out, and end"
    )
    languages: tuple[str, ...] = option(
        ("en",), help="language of labels, best first", most=MAX_LANGUAGES, metavar="CODE"
    )
    out: Path | None = option(None, help="write JSON lines there, not on stdout")
