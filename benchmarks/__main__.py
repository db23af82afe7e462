"""Measures speed, linking, retrieval and the triple scorer on published data.

python -m benchmarks speed --data FOLDER
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.commands.families import families
from benchmarks.commands.leaderboard import leaderboard
from benchmarks.commands.linking import linking
from benchmarks.commands.options import (
    DataOptions,
    FamiliesOptions,
    LeaderboardOptions,
    LinkingOptions,
    ScorerOptions,
    SpeedOptions,
)
from benchmarks.commands.scorer import scorer
from benchmarks.commands.speed import speed
from graph_service.cli import main as run
from graph_service.cli.arguments import Parser
from graph_service.cli.options import add_options
from graph_service.cli.output import Output
from graph_service.errors import InputError

COMMANDS: Mapping[str, tuple[str, type[DataOptions], Callable[[Any, Output], int]]] = {
    "speed": ("speed, each figure beside a reference of the same run", SpeedOptions, speed),
    "linking": ("which entities linking finds in published questions", LinkingOptions, linking),
    "families": (
        "retrieval on families of questions, each without what was trained on it",
        FamiliesOptions,
        families,
    ),
    "leaderboard": (
        "retrievers, ours and published ones, on frozen sets",
        LeaderboardOptions,
        leaderboard,
    ),
    "scorer": ("the triple scorer on published triples", ScorerOptions, scorer),
}


def make_parser(_: Sequence[str] | None = None, /) -> ArgumentParser:
    """Returns the parser of all benchmarks."""
    parser = Parser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(title="benchmarks", metavar="WHAT", required=True)
    for name, (text, options, call) in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=_checked(call), options=options)
        add_options(command, options)
    return parser


def _checked(call: Callable[[Any, Output], int]) -> Callable[[DataOptions, Output], int]:
    """Returns a benchmark that first looks whether its figures can be written."""

    def checked(options: DataOptions, output: Output, /) -> int:
        out = options.out
        if out is not None and not out.absolute().parent.is_dir():
            raise InputError(f"there is no folder {out.absolute().parent}", argument="out")
        return call(options, output)

    return checked


def main(arguments: Sequence[str] | None = None, /) -> int:
    """Runs one benchmark; returns the exit code as the command line of the service does."""
    return run(arguments, parser=make_parser)


if __name__ == "__main__":
    sys.exit(main())
