"""The options of export and backup; apart, so that ``--help`` imports nothing heavy."""

from __future__ import annotations

import argparse

FORMATS = ("jsonl", "ntriples", "nquads", "tsv", "kgtk", "neo4j-csv")


def add_export(export: argparse.ArgumentParser, /) -> None:
    """Adds the options of ``export``."""
    export.add_argument(
        "out", metavar="OUT", help="the file (.gz packs it), - for stdout; a folder for neo4j-csv"
    )
    export.add_argument("--format", choices=FORMATS, help="told by the file's name if left out")
    export.add_argument("--view", metavar="V", help="a view: its name or id, or METHOD:LEVEL:SEED")
    export.add_argument("--labels", metavar="FILE", help="write labels to this file, beside a tsv")


def add_backup(backup: argparse.ArgumentParser, /) -> None:
    """Adds the options of ``backup``."""
    backup.add_argument("out", metavar="OUT", help="the new file")
    backup.add_argument("--replace", action="store_true", help="write over a file that is there")
