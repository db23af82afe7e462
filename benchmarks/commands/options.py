"""The options of ``python -m benchmarks``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.options import VerbOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class DataOptions(VerbOptions):
    """What each benchmark takes."""

    data: Path | None = option(None, help="the folder of published data", metavar="FOLDER")
    out: Path | None = option(None, help="write the figures as JSON")


@dataclass(frozen=True, kw_only=True)
class SpeedOptions(DataOptions):
    """What ``speed`` takes."""

    only: tuple[str, ...] = option((), help="only this measurement", metavar="NAME")
    neo4j: str | None = option(
        None, help="a server that loads into Neo4j are measured on", metavar="URL"
    )


@dataclass(frozen=True, kw_only=True)
class ScorerOptions(DataOptions):
    """What ``scorer`` takes."""


@dataclass(frozen=True, kw_only=True)
class SampleOptions(DataOptions):
    """What a benchmark takes that asks questions."""

    sample: int | None = option(None, help="only so many questions", least=1)
    random_seed: int = option(0, help="of that sample, and of --train", metavar="S")
    misses: int = option(5, help="wrong ones shown")


@dataclass(frozen=True, kw_only=True)
class LinkingOptions(SampleOptions):
    """What ``linking`` takes."""

    only: tuple[str, ...] = option((), help="only this set", metavar="NAME")


@dataclass(frozen=True, kw_only=True)
class FamiliesOptions(SampleOptions):
    """What ``families`` takes."""

    only: tuple[str, ...] = option((), help="only this family or set", metavar="NAME")
    preset: str = option("default", help="of the retrieval", metavar="P")
    train: bool = option(
        False, help="train what ranks (preset default-6) anew, for each family without it"
    )
    given: bool = option(False, help="give each question its entities")
    published_sample: bool = option(
        False, help="only the questions on which a set's figures are given"
    )
    shape: tuple[str, ...] = option(
        (), help="only questions of a shape with this in its name, as +type", metavar="S"
    )
    aside: bool = option(False, help="of made questions, the half that is kept aside")
    figure: Path | None = option(
        None, help="draw how often answers are right by their confidence, as SVG", metavar="FILE"
    )
    keep: Path | None = option(
        None,
        help="folder that keeps graphs and judgements, so that a stopped run goes on",
        metavar="FOLDER",
    )


@dataclass(frozen=True, kw_only=True)
class LeaderboardOptions(DataOptions):
    """What ``leaderboard`` takes."""

    only: tuple[str, ...] = option((), help="only this frozen set, or source", metavar="SET")
    retrievers: tuple[str, ...] = option((), help="only this retriever", metavar="NAME")
    sample: int = option(100, help="the first questions of each set; 0 for all", least=0)
    minutes: float = option(
        60.0, help="no question is asked after so much time; 0 for no limit", least=0.0
    )
    random_seeds: int = option(1, help="how many draws of each view", least=1, most=5)
    hops: int = option(2, help="steps around a question's entities that retrievers see", least=1)
    environments: Path = option(
        Path(".venv/retrievers"),
        help="folder of the environments of packages, which make retrievers makes",
        metavar="FOLDER",
    )
    neo4j: str | None = option(
        None,
        help="a server that neo4j-graphrag searches (NEO4J_USERNAME, NEO4J_PASSWORD)",
        metavar="URL",
    )
    memory: bool = option(False, help="also measure memory, a fresh process for each retriever")
    figure: Path | None = option(None, help="draw answers among five statements as SVG")
    tables: Path | None = option(None, help="write the tables of each set as Markdown")
    csv: Path | None = option(None, help="write all figures with their intervals as CSV")
    keep: Path = option(
        Path("build/leaderboard"),
        help="folder of sets and rows, so that a stopped run goes on",
        metavar="FOLDER",
    )
