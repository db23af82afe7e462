"""completion: a script that completes verbs and options in a user's shell."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from graph_service.cli.options import VerbOptions
from graph_service.cli.output import Output
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class CompletionOptions(VerbOptions):
    """The shell that ``completion`` prints a script for."""

    shell: str = option(
        help="whose script is printed", is_word=True, choices=("bash", "zsh", "tcsh")
    )


def completion(options: CompletionOptions, output: Output, /) -> int:
    """Prints the script of a shell, which it reads when it starts."""
    import shtab

    from graph_service.cli.parser import make_parser

    parser = make_parser()
    paths = {"FILE": shtab.FILE, "FOLDER": shtab.DIRECTORY, "SOURCE": shtab.FILE}
    for action in _actions(parser):
        if action.metavar in paths:
            action.complete = paths[str(action.metavar)]  # type: ignore[attr-defined]
    script = shtab.complete(parser, shell=options.shell)
    output.object({"shell": options.shell, "script": script})
    output.lines(script)
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yields the arguments of a parser and of its verbs."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                yield from _actions(verb)
