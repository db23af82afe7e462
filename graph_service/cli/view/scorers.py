"""scorer train, list, delete: scorers of triples, trained on a graph."""

from __future__ import annotations

import time
from collections.abc import Callable

from graph_service.artifacts.scorers import StoredScorer
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.cli.view.options import ScorerOptions
from graph_service.errors import InputError
from graph_service.service import Service
from graph_service.views.scorer.trial import ScorerQuality

NOTED_EVERY_S = 5.0


def scorer(options: ScorerOptions, output: Output, /) -> int:
    """Trains, lists or deletes scorers."""
    if options.name and options.action != "delete":
        raise InputError(f"scorer {options.action} takes no name", argument="name")
    with open_from(options, output) as service:
        if options.action == "train":
            _train(service, options, output)
        elif options.action == "list":
            _list(service, options, output)
        else:
            _delete(service, options, output)
    return 0


def _train(service: Service, options: ScorerOptions, output: Output) -> None:
    stored = service.scorers.train(
        graph=options.graph,
        text=not options.no_text,
        random_seed=options.random_seed,
        progress=stage_progress(output),
    )
    output.object({"scorer": stored})
    with_text = f", texts of {stored.described:,} entities by {stored.embedder}"
    output.line(f"scorer {stored.name} of graph {stored.graph}, edges {stored.edges[:16]}")
    output.line(
        f"  trained in {stored.seconds:.1f} s{with_text if stored.described else ', without texts'}"
    )
    _print_quality(stored, output)
    output.line("ATS is taken with it from now on; replacement too with --scorer trained")


def stage_progress(output: Output) -> Callable[[str, float], None]:
    """Returns what notes a stage and its share done: a new stage at once, a share now and then."""
    noted_stage, noted_s = "", 0.0

    def note(stage: str, share: float) -> None:
        nonlocal noted_stage, noted_s
        if stage != noted_stage or time.monotonic() - noted_s > NOTED_EVERY_S:
            noted_stage, noted_s = stage, time.monotonic()
            output.note(f"{stage}: {share:.0%}")

    return note


def _print_quality(stored: StoredScorer, output: Output) -> None:
    output.line(
        f"  on {stored.quality.held_out:,} held-out edges, beside as many of each kind wrong"
    )
    rows = [["", "accuracy", "calibration error", "AUC: relation", "any tail", "like tail"]]
    for name, quality in (("trained", stored.quality), ("counts", stored.counts)):
        rows.append([f"  {name}", *_figures(quality)])
    output.table(rows)


def _figures(quality: ScorerQuality) -> list[str]:
    return [
        f"{figure:.3f}"
        for figure in (
            quality.accuracy,
            quality.calibration_error,
            quality.auc_relation,
            quality.auc_tail,
            quality.auc_like_tail,
        )
    ]


def _list(service: Service, options: ScorerOptions, output: Output) -> None:
    scorers = service.scorers.list(graph=options.graph)
    output.listing(
        {"scorers": scorers},
        ["name", "accuracy", "calibration error", "counts", "texts", "made", ""],
        [
            [
                stored.name,
                f"{stored.quality.accuracy:.3f}",
                f"{stored.quality.calibration_error:.3f}",
                f"{stored.counts.accuracy:.3f}",
                f"{stored.described:,}",
                stored.created_at,
                "stale" if stored.stale else "",
            ]
            for stored in scorers
        ],
        empty="no trained scorer; views use counts. Train one: graph-service scorer train",
    )


def _delete(service: Service, options: ScorerOptions, output: Output) -> None:
    if not options.name:
        raise InputError("name the scorer to delete, as scorer list shows it", argument="name")
    name = service.scorers.delete(options.name, graph=options.graph)
    output.show({"deleted": name}, f"deleted scorer {name}")
