"""Options of ``retrieve``, and those that it shares with ``answer``."""

from __future__ import annotations

import argparse


def add_retrieval_options(verb: argparse.ArgumentParser, /) -> None:
    """Adds what every verb takes that retrieves for questions."""
    verb.add_argument("question", nargs="?", metavar="QUESTION", help="one question, in quotes")
    verb.add_argument("--questions", metavar="FILE", help="many: JSON lines with a `question`, or a "
                      "published file; packed or not")  # fmt: skip
    verb.add_argument("--strategy", choices=["triplets", "paths", "subgraph"], default="triplets",
                      help="what is retrieved (triplets)")  # fmt: skip
    verb.add_argument("--view", metavar="V", help="a view: its name or id, or METHOD:LEVEL:SEED")
    verb.add_argument("--preset", default="default", metavar="P", help="default, okgqa or ltgen")
    verb.add_argument("--entity", action="append", default=[], metavar="ID",
                      help="the question's entity, instead of linking; may be repeated")  # fmt: skip
    verb.add_argument("--limit", type=int, metavar="N",
                      help="triplets, paths or statements at most")  # fmt: skip
