"""Options of the scorer verb."""

from __future__ import annotations

import argparse


def add_scorer(scorer: argparse.ArgumentParser, /) -> None:
    """Adds what ``scorer`` takes."""
    scorer.add_argument("action", choices=["train", "list", "delete"],
                        help="train one on a graph, list or delete those there are")  # fmt: skip
    scorer.add_argument("name", nargs="?", help="delete: trained:FINGERPRINT, or trained for the "
                        "newest")  # fmt: skip
    scorer.add_argument("--no-text", action="store_true",
                        help="train on triples alone, without the entities' labels")  # fmt: skip
    scorer.add_argument("--random-seed", type=int, default=0, metavar="S",
                        help="what is drawn in training (0)")  # fmt: skip
