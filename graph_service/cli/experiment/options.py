"""The options of experiment: one dataclass for each of its verbs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.answer.options import EndpointOptions, OwnPromptOptions
from graph_service.cli.options import EmbedderOptions, StoreOptions, Subverb, VerbOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class PlanFileOptions(VerbOptions):
    """What every verb of ``experiment`` takes."""

    plan: Path = option(help="the plan", metavar="PLAN.yaml", is_word=True)


@dataclass(frozen=True, kw_only=True)
class ReachOptions(StoreOptions, EmbedderOptions):
    """Where the graphs of a plan are: in a store, or on a server."""

    server: str | None = option(
        None, help="ask a graph-service that is served, instead of opening a store", metavar="URL"
    )
    patience: float = option(
        300.0,
        help="seconds for which a server that is away, or refuses for a while, is asked again",
        least=0,
        metavar="SECONDS",
        needs=("server",),
    )


@dataclass(frozen=True, kw_only=True)
class PlanOptions(PlanFileOptions, ReachOptions):
    """The options of ``experiment plan`` on the command line."""

    out: Path | None = option(
        None, help="folder of a run, whose answers need not be made again", metavar="DIR"
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions(PlanOptions, OwnPromptOptions, EndpointOptions):
    """What ``experiment run`` takes; limits of a whole run stand in the plan too."""

    out: Path | None = option(help="folder of the run; goes on where it was", metavar="DIR")
    workers: int = option(1, help="answers at once", least=1)
    retry_failed: bool = option(
        False, help="make the first answer that failed again, and what comes after it"
    )
    replay: bool = option(False, help="take the replies that are kept, and ask no endpoint")


@dataclass(frozen=True, kw_only=True)
class ReportOptions(PlanFileOptions):
    """The options of ``experiment report`` on the command line."""

    out: Path = option(help="folder of the run", metavar="DIR")
    no_figures: bool = option(False, help="write no figures, which matplotlib draws")


@dataclass(frozen=True, kw_only=True)
class CompareOptions(PlanFileOptions):
    """The options of ``experiment compare`` on the command line."""

    out: Path = option(help="folder of the run", metavar="DIR")
    other: Path | None = option(
        None, help="folder of another run, whose conditions of one name are compared", metavar="DIR"
    )
    first: str | None = option(
        None, help="a condition of this run, such as demo/base/paths/default/verbaliser"
    )
    second: str | None = option(None, help="the condition that it is compared with")


@dataclass(frozen=True, kw_only=True)
class PackOptions(PlanFileOptions, StoreOptions, EmbedderOptions, OwnPromptOptions):
    """The options of ``experiment pack`` on the command line."""

    out: Path = option(help="folder of the run", metavar="DIR")
    to: Path = option(help="the archive that is written", metavar="FILE.zip")
    licence: str = option(
        help="address of the licence, such as https://creativecommons.org/licenses/by/4.0/",
        metavar="URL",
    )
    creator: tuple[str, ...] = option((), help="a person or group who made it", metavar="NAME")
    published: str = option("", help="date of publication; today by default", metavar="YYYY-MM-DD")
    responsible: Path | None = option(
        None,
        help="what only you know for the responsible-AI fields: biases, social_impact, "
        "sensitive_information, maintenance, use_cases, limitations",
        metavar="FILE.yaml",
    )


@dataclass(frozen=True, kw_only=True)
class UnpackOptions(ReachOptions):
    """The options of ``experiment unpack`` on the command line."""

    file: Path = option(help="what experiment pack wrote", metavar="FILE.zip", is_word=True)
    out: Path = option(
        help="folder that it is written into; the run is made there too", metavar="DIR"
    )
    workers: int = option(1, help="answers at once", least=1)


EXPERIMENTS = (
    Subverb(
        "plan",
        "experiment.running:plan",
        "cells, requests, tokens and time of a plan; asks no model",
        PlanOptions,
        ("experiment plan PLAN.yaml",),
    ),
    Subverb(
        "run",
        "experiment.running:run",
        "answer and score all cells; goes on where it was stopped",
        RunOptions,
        ("experiment run PLAN.yaml --out DIR --workers 2",),
    ),
    Subverb(
        "report",
        "experiment.reporting:report",
        "tables, statistics and figures of a run",
        ReportOptions,
        ("experiment report PLAN.yaml --out DIR",),
    ),
    Subverb(
        "compare",
        "experiment.reporting:compare",
        "two conditions, or two runs, question by question",
        CompareOptions,
        ("experiment compare PLAN.yaml --out DIR --other DIR",),
    ),
    Subverb(
        "pack",
        "experiment.depositing:pack",
        "a run as a deposit: an RO-Crate with Croissant metadata",
        PackOptions,
        ("experiment pack PLAN.yaml --out DIR --to run.zip --licence URL",),
    ),
    Subverb(
        "unpack",
        "experiment.depositing:unpack",
        "run what a deposit holds again, and say what is equal",
        UnpackOptions,
        ("experiment unpack run.zip --out DIR --store sqlite:///demo.db",),
    ),
)
"""The words of ``experiment``."""
