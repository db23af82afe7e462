"""Options of ``retrieve``, and those that it shares with ``answer``."""

from __future__ import annotations

import argparse

from graph_service.cli.answer.answer_options import add_question_file_options
from graph_service.cli.rank.rank_options import add_step_options


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


def add_retrieve(verb: argparse.ArgumentParser, /) -> None:
    """Adds what ``retrieve`` takes beside that."""
    add_retrieval_options(verb)
    verb.add_argument("--language", action="append", default=[], metavar="CODE",
                      help="language of labels (en); may be repeated, best first")  # fmt: skip
    verb.add_argument("--max-edges", type=int, metavar="N", help="edges of the region at most")
    verb.add_argument(
        "--max-hops", type=int, metavar="N", help="steps from the question's entities"
    )
    verb.add_argument("--token-budget", type=int, metavar="N", help="size of the text at most")
    verb.add_argument("--min-score", type=float, metavar="X", help="leave out what scores less")
    verb.add_argument("--relation", action="append", default=[], metavar="ID",
                      help="statements of this relation only; may be repeated")  # fmt: skip
    verb.add_argument("--exclude-relation", action="append", default=[], metavar="ID",
                      help="no statements of this relation; may be repeated")  # fmt: skip
    verb.add_argument("--type", action="append", default=[], metavar="ID", help="instances of this "
                      "class only, beside the question's entities; may be repeated")  # fmt: skip
    verb.add_argument("--rank", action="append", default=[],
                      choices=["preferred", "normal", "deprecated"], help="statements of this rank "
                      "(preferred and normal); may be repeated")  # fmt: skip
    verb.add_argument("--question-vector", metavar="FILE", help="the question's vector, as a JSON "
                      "list of numbers, in place of the embedder's")  # fmt: skip
    verb.add_argument("--linking-accuracy", type=float, metavar="X", help="swap the question's entities "
                      "for irrelevant ones beyond this share, 0 to 1 (K7)")  # fmt: skip
    verb.add_argument("--linking-seed", type=int, default=0, metavar="S",
                      help="which ones are swapped (0)")  # fmt: skip
    verb.add_argument("--prove", action="store_true",
                      help="work longer, some two seconds, for a proven subgraph")  # fmt: skip
    files = verb.add_argument_group("question file")
    add_question_file_options(files, language="--question-language")
    files.add_argument("--given-entities", action="store_true", help="take the entities that a "
                       "published file names instead of linking; those of lines are taken")  # fmt: skip
    add_step_options(verb, own=False)
    verb.add_argument("--text", choices=["triples", "numbered", "citations", "paths"],
                      help="print the text for a prompt, and only that")  # fmt: skip
    verb.add_argument("--out", metavar="FILE", help="with --questions: write the results as JSON "
                      "lines, in the same order; - for stdout")  # fmt: skip
    verb.add_argument("--explain", action="store_true", help="print the parts of each score, and "
                      "where the result came from")  # fmt: skip
