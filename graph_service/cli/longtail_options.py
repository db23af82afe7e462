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
    search.add_argument("-k", type=int, default=10, metavar="N", help="passages at most (10)")
    search.add_argument("--by", choices=["words", "vectors", "both"], default="both",
                        help="BM25, cosine of the embedder's vectors, or the mean (both)")  # fmt: skip
    search.add_argument("--min-score", type=float, metavar="X")
    search.add_argument("--language", action="append", default=[], metavar="CODE")
    search.add_argument("--text", action="store_true", help="print the passages for a prompt, and "
                        "only that")  # fmt: skip
    delete = verb.add_argument_group("delete")
    delete.add_argument("--all", action="store_true", help="those of all sources")
