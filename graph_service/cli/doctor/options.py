"""The options of doctor, bench and model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.options import EmbedderOptions, GraphOptions, VerbOptions
from graph_service.embed.catalogue import CATALOGUE
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(GraphOptions, EmbedderOptions):
    """The options of ``doctor`` on the command line."""

    settings: bool = option(False, help="list all settings")


@dataclass(frozen=True, kw_only=True)
class BenchOptions(VerbOptions):
    """The options of ``bench`` on the command line."""

    what: str = option(help="what is measured", is_word=True, choices=("quality",))
    out: Path | None = option(None, help="write the figures as JSON")
    format: str | None = option(
        None,
        help="format of the questions: pathquestion, worldcup, metaqa or chains",
        metavar="NAME",
    )
    graph_file: Path | None = option(None, help="the graph, as a table of triples")
    questions: Path | None = option(None, help="the questions, packed or not")
    sample: int | None = option(None, help="only so many questions", least=1)
    random_seed: int = option(0, help="of that sample", metavar="S")
    preset: str = option("default", help="of the retrieval", metavar="P")
    misses: int = option(5, help="wrong answers to show")


@dataclass(frozen=True, kw_only=True)
class ModelOptions(VerbOptions):
    """The options of ``model`` on the command line."""

    action: str = option(
        help="fetch them from the network once, or check those that are there",
        is_word=True,
        choices=("fetch", "check"),
    )
    name: str | None = option(
        None,
        help=f"{', '.join(sorted(CATALOGUE))}; default: all-MiniLM-L6-v2",
        metavar="NAME",
        is_word=True,
    )
    to: Path | None = option(None, help="where to put them", metavar="FOLDER")
    base_url: str | None = option(None, help="fetch from a mirror", metavar="URL")
