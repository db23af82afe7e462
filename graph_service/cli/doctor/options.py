"""The options of doctor, bench and model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.options import EmbedderOptions, GraphOptions, VerbOptions
from graph_service.embed.catalogue import CATALOGUE
from graph_service.options import option

_SPEED, _QUALITY = "speed, linking, scorer", "quality, linking"
_LEAVE_ONE_OUT = "quality --leave-one-out"


@dataclass(frozen=True, kw_only=True)
class DoctorOptions(GraphOptions, EmbedderOptions):
    """What ``doctor`` takes."""

    settings: bool = option(False, help="list all settings")


@dataclass(frozen=True, kw_only=True)
class BenchOptions(VerbOptions):
    """What ``bench`` takes."""

    what: str = option(
        help="what is measured",
        is_word=True,
        choices=("speed", "quality", "linking", "scorer"),
    )
    out: Path | None = option(None, help="write the figures as JSON")
    data: Path | None = option(
        None,
        help="folder that holds codex/, conceptnet_li2016/, biokalma/ or wikidata_questions/",
        metavar="FOLDER",
        group=_SPEED,
    )
    only: tuple[str, ...] = option(
        (), help="only this measurement, set or family", metavar="NAME", group=_SPEED
    )
    neo4j: str | None = option(
        None, help="a server that loads into Neo4j are measured on", metavar="URL", group=_SPEED
    )
    format: str | None = option(
        None,
        help="of the questions: pathquestion, worldcup, metaqa or chains",
        metavar="NAME",
        group=_QUALITY,
    )
    graph_file: Path | None = option(None, help="the graph, as a table of triples", group=_QUALITY)
    questions: Path | None = option(None, help="the questions, packed or not", group=_QUALITY)
    sample: int | None = option(None, help="only so many questions", least=1, group=_QUALITY)
    random_seed: int = option(0, help="of that sample, and of --train", metavar="S", group=_QUALITY)
    preset: str = option("default", help="of the retrieval", metavar="P", group=_QUALITY)
    misses: int = option(5, help="wrong ones shown", group=_QUALITY)
    leave_one_out: bool = option(
        False, help="all families of --data, each without what saw it", group=_LEAVE_ONE_OUT
    )
    train: bool = option(
        False,
        help="train what ranks (preset default-5) anew, for each family without it",
        group=_LEAVE_ONE_OUT,
    )
    given: bool = option(False, help="give each question its entities", group=_LEAVE_ONE_OUT)
    published_sample: bool = option(
        False, help="only the questions on which a set's figures are given", group=_LEAVE_ONE_OUT
    )
    aside: bool = option(
        False, help="of made questions, the half that is kept aside", group=_LEAVE_ONE_OUT
    )
    keep: Path | None = option(
        None,
        help="folder that keeps graphs and judgements, so that a stopped run goes on",
        metavar="FOLDER",
        group=_LEAVE_ONE_OUT,
    )


@dataclass(frozen=True, kw_only=True)
class ModelOptions(VerbOptions):
    """What ``model`` takes."""

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
