"""The options of robustness: one dataclass for each of its verbs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.options import EmbedderOptions, Subverb, VerbOptions
from graph_service.model.result import Strategy
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class SetsOptions(VerbOptions):
    """What every verb of ``robustness`` takes."""

    sets: tuple[str, ...] = option(
        (),
        help="a frozen set, such as pathquestion/path-1/v1, or a source, such as pathquestion; all without it",
        metavar="SET",
        is_word=True,
    )


@dataclass(frozen=True, kw_only=True)
class ListOptions(SetsOptions):
    """The options of ``robustness list`` on the command line."""


@dataclass(frozen=True, kw_only=True)
class MakeOptions(SetsOptions):
    """The options of ``robustness make`` on the command line."""

    data: Path = option(help="folder of your downloads", metavar="FOLDER")
    out: Path = option(help="folder of the sets; goes on where it was", metavar="DIR")


@dataclass(frozen=True, kw_only=True)
class VerifyOptions(SetsOptions):
    """The options of ``robustness verify`` on the command line."""

    out: Path = option(help="folder of the sets", metavar="DIR")
    data: Path | None = option(
        None, help="folder of your downloads, whose files are checked too", metavar="FOLDER"
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions(SetsOptions, EmbedderOptions):
    """The options of ``robustness run`` on the command line."""

    out: Path = option(help="folder of the sets; the run goes on where it was", metavar="DIR")
    data: Path | None = option(
        None,
        help="folder of your downloads: sets that are not there yet are made first",
        metavar="FOLDER",
    )
    strategies: tuple[Strategy, ...] = option(
        (Strategy.TRIPLETS, Strategy.PATHS, Strategy.SUBGRAPH),
        help="of the retrieval, joined by commas",
        metavar="A,B,C",
        is_joined=True,
    )
    presets: tuple[str, ...] = option(
        ("default",), help="of the retrieval, joined by commas", metavar="A,B,C", is_joined=True
    )
    first: int | None = option(None, help="only so many questions of each set", least=1)
    workers: int = option(1, help="answers at once", least=1)


ROBUSTNESS = (
    Subverb(
        "list",
        "robustness.making:list_sets",
        "the frozen sets, their size and licences",
        ListOptions,
        ("robustness list", "robustness list pathquestion --json"),
    ),
    Subverb(
        "make",
        "robustness.making:make",
        "build sets from your own download; refuses another fingerprint",
        MakeOptions,
        ("robustness make pathquestion/path-1/v1 --data FOLDER --out DIR",),
    ),
    Subverb(
        "run",
        "robustness.running:run",
        "ask the questions of sets on the base and its views, and print the scores",
        RunOptions,
        (
            "robustness run pathquestion/path-1/v1 --out DIR --presets default,default-6",
            "robustness run metaqa/brink/v1 --data FOLDER --out DIR",
        ),
    ),
    Subverb(
        "verify",
        "robustness.making:verify",
        "check the fingerprints of sets that were made, and say what differs",
        VerifyOptions,
        ("robustness verify --out DIR --data FOLDER",),
    ),
)
"""The words of ``robustness``."""
