"""score: geval."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace

from graph_service.cli.output import Output
from graph_service.cli.scoring import judge_of, run_cases, show, text_cases
from graph_service.errors import InputError
from queries.datasets.scored import read_texts_by_id
from queries.score.geval import (
    PRESETS,
    GEval,
    GEvalRow,
    Preset,
    Weighting,
    geval_report,
    load_rubric,
    rate_text,
)


def preset_of(options: argparse.Namespace, /) -> Preset:
    """Returns the preset with what the options change.

    Raises:
        InputError: A number is out of range, or there is no such quality.
    """
    preset = PRESETS[options.preset]
    if options.quality:
        for name in options.quality:
            load_rubric(name)
        material = {
            name: PRESETS[options.preset].material.get(name, "") for name in options.quality
        }
        preset = replace(preset, qualities=tuple(options.quality), material=material)
    if options.weighting:
        preset = replace(preset, weighting=Weighting(options.weighting))
    if options.scale:
        found = re.fullmatch(r"(\d+)-(\d+)", options.scale)
        if found is None or int(found[1]) >= int(found[2]):
            raise InputError(f"a scale such as 1-5 was expected, got {options.scale!r}",
                             argument="scale")  # fmt: skip
        preset = replace(preset, low=int(found[1]), high=int(found[2]))
    for name in ("runs", "samples"):
        value = getattr(options, name)
        if value is not None:
            if value < 1:
                raise InputError(f"at least 1 was expected, got {value}", argument=name)
            preset = replace(preset, **{name: value})
    if options.temperature is not None:
        preset = replace(preset, temperature=options.temperature)
    return preset


def geval(options: argparse.Namespace, output: Output, /) -> int:
    """Rates texts on qualities, one at a time (K8, O9)."""
    preset = preset_of(options)
    by = GEval(judge_of(options), preset)
    cases = text_cases(options)
    if options.context:
        contexts = read_texts_by_id(options.context, "context")
        cases = tuple(
            replace(case, context="\n\n".join(contexts.get(case.id, ()))) for case in cases
        )
    rows = run_cases(
        options,
        output,
        cases,
        lambda case: rate_text(case, by=by),
        GEvalRow,
        f"geval by {by.label}",
        lambda case: case.id,
    )
    show(geval_report(rows, preset, rated_by=by.label), output, rows)
    failed = any(row.failure or any(x.failures for x in row.scores.values()) for row in rows)
    return 1 if failed else 0
