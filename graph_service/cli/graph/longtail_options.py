"""The options of passages, pageviews and sample; apart, so that ``--help`` imports nothing heavy."""

from __future__ import annotations

import argparse


def add_passages(verb: argparse.ArgumentParser, /) -> None:
    """Adds the options of ``passages``."""
    verb.add_argument("action", choices=["load", "search", "list", "delete"])
    verb.add_argument("what", nargs="?", metavar="SOURCE|QUERY", help="load: a file, a folder or - "
                      "for stdin; search: words or a question; delete: a source")  # fmt: skip
    load = verb.add_argument_group("load")
    load.add_argument("--format", choices=["text", "jsonl", "wikipedia"],
                      help="when it is not told by the first bytes")  # fmt: skip
    load.add_argument("--title", metavar="TEXT", help="title of a text file's document; else its "
                      "name")  # fmt: skip
    load.add_argument("--max-words", type=int, default=100, metavar="N",
                      help="words of a passage at most (100)")  # fmt: skip
    load.add_argument("--no-linking", action="store_true", help="link no titles to entities")
    load.add_argument("--no-vectors", action="store_true", help="compute no vectors now; the first "
                      "search by vectors does")  # fmt: skip
    load.add_argument("--strict", action="store_true", help="stop at the first rejected line")
    load.add_argument("--rejects", metavar="FILE", help="where rejected lines go")
    load.add_argument("--quiet", action="store_true", help="no progress bar")
    search = verb.add_argument_group("search")
    search.add_argument("--limit", "-k", dest="k", type=int, default=10, metavar="N",
                        help="passages at most (10)")  # fmt: skip
    search.add_argument("--by", choices=["words", "vectors", "both"], default="both",
                        help="BM25, cosine of the embedder's vectors, or the mean (both)")  # fmt: skip
    search.add_argument("--min-score", type=float, metavar="X", help="leave out what scores less")
    search.add_argument("--language", action="append", default=[], metavar="CODE",
                        help="language of entities' labels (en); may be repeated, best first")  # fmt: skip
    search.add_argument("--text", action="store_true", help="print the passages for a prompt, and "
                        "only that")  # fmt: skip
    delete = verb.add_argument_group("delete")
    delete.add_argument("--all", action="store_true", help="those of all sources")


def add_pageviews(verb: argparse.ArgumentParser, /) -> None:
    """Adds the options of ``pageviews``."""
    verb.add_argument("action", choices=["load", "fetch", "show", "delete"])
    verb.add_argument("what", nargs="?", metavar="FILE", help="load: a table of entity or title, "
                      "month and views, or - for stdin")  # fmt: skip
    verb.add_argument("--quiet", action="store_true", help="no progress bar")
    verb.add_argument("--yes", action="store_true", help="delete without asking")
    load = verb.add_argument_group("load")
    load.add_argument("--strict", action="store_true", help="stop at the first rejected line")
    load.add_argument("--rejects", metavar="FILE", help="where rejected lines go")
    fetch = verb.add_argument_group("fetch")
    fetch.add_argument("--project", default="en.wikipedia", metavar="P",
                       help="whose articles (en.wikipedia)")  # fmt: skip
    fetch.add_argument("--first", default="2021-01", metavar="MONTH", help="from this month on "
                       "(2021-01, as in LTGen)")  # fmt: skip
    fetch.add_argument("--last", default="2022-12", metavar="MONTH", help="up to this month "
                       "(2022-12, as in LTGen)")  # fmt: skip
    fetch.add_argument("--entity", action="append", default=[], metavar="ID",
                       help="this entity; may be repeated; default: all entities")  # fmt: skip
    fetch.add_argument("--count", type=int, metavar="N", help="N of them, drawn by random seed")
    fetch.add_argument("--random-seed", type=int, default=0, metavar="S", help="of that draw (0)")
    fetch.add_argument("--titles", metavar="FILE", help="table of entity and title of its article; "
                       "others are looked up")  # fmt: skip
    fetch.add_argument("--contact", metavar="MAIL_OR_URL", help="whom Wikimedia can write to; "
                       "default: GRAPH_SERVICE_CONTACT")  # fmt: skip
    fetch.add_argument("--concurrency", type=int, default=4, metavar="N",
                       help="requests at once, at most 10 (4)")  # fmt: skip
    fetch.add_argument("--interval", type=float, metavar="S", help="pause of each between its "
                       "requests in seconds (1)")  # fmt: skip
    fetch.add_argument("--access", default="all-access", metavar="A", help="all-access, desktop, "
                       "mobile-web or mobile-app")  # fmt: skip
    fetch.add_argument("--agent", default="user", metavar="A", help="user, all-agents, spider or "
                       "automated")  # fmt: skip
    fetch.add_argument("--endpoint", metavar="URL", help="another address of the pageview API")
    fetch.add_argument("--wikidata-api", metavar="URL", help="another address that knows which "
                       "article an entity has")  # fmt: skip
    fetch.add_argument("--no-cache", action="store_true", help="keep no answers on disk")


def add_sample(verb: argparse.ArgumentParser, /) -> None:
    """Adds the options of ``sample``."""
    verb.add_argument("--level", action="append", default=[], choices=["I", "II", "III", "IV"],
                      help="a long-tail level; may be repeated; default: all four")  # fmt: skip
    verb.add_argument("--per-level", type=int, metavar="N", help="entities of each level at most; "
                      "default: all there are")  # fmt: skip
    verb.add_argument("--random-seed", type=int, default=0, metavar="S", help="of the draw (0)")
    verb.add_argument("--min-triples", type=int, default=5, metavar="N",
                      help="pass over entities with fewer (5)")  # fmt: skip
    verb.add_argument("--max-triples", type=int, default=100, metavar="N",
                      help="pass over entities with more (100)")  # fmt: skip
    verb.add_argument("--drop-relations", metavar="FILE", help="another list of relations that "
                      "are left out")  # fmt: skip
    verb.add_argument("--print-dropped", action="store_true", help="print the list of relations that "
                      "are left out, and end")  # fmt: skip
    verb.add_argument("--language", action="append", default=[], metavar="CODE",
                      help="language of labels (en); may be repeated, best first")  # fmt: skip
    verb.add_argument("--out", metavar="FILE", help="write JSON lines there, not on stdout")
