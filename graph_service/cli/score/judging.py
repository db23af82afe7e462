"""score: geval, side-by-side, talec, compare, lint, export."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from graph_service.cli.output import Output
from graph_service.cli.score.judge_model import judges
from graph_service.cli.score.options import (
    CompareRunsOptions,
    ExportTuningOptions,
    GEvalOptions,
    LintOptions,
    SideBySideOptions,
    TalecOptions,
)
from graph_service.cli.score.score_cases import file_of, run_cases, text_cases, write_rows
from graph_service.errors import InputError
from queries.datasets.scored import read_text_cases, read_texts_by_id
from queries.score.case import TextCase
from queries.score.criteria import lint_criteria, load_criteria
from queries.score.geval import (
    PRESETS,
    GEval,
    GEvalRow,
    Preset,
    Weighting,
    can_be_rated,
    geval_report,
    rate_text,
)
from queries.score.report import PlainReport, Report, Table, merge_groups, read_report_groups
from queries.score.rubric import load_rubric
from queries.score.talec import Division, Method, Talec, TalecRow, judge_text
from queries.score.talec_export import tuning_records
from queries.score.talec_report import (
    assign_splits,
    shot_notes,
    talec_report,
)
from queries.score.talec_runs import compare_runs, read_run


def preset_of(options: GEvalOptions, /) -> Preset:
    """Returns the preset with what the options change.

    Raises:
        InputError: The scale is none, or there is no such quality.
    """
    preset = PRESETS[options.preset]
    if options.qualities:
        for name in options.qualities:
            load_rubric(name)
        material = {name: preset.material.get(name, "") for name in options.qualities}
        preset = replace(preset, qualities=options.qualities, material=material)
    if options.weighting:
        preset = replace(preset, weighting=Weighting(options.weighting))
    if options.scale:
        match = re.fullmatch(r"(\d+)-(\d+)", options.scale)
        if match is None or int(match[1]) >= int(match[2]):
            raise InputError(f"a scale such as 1-5 was expected, got {options.scale!r}",
                             argument="scale")  # fmt: skip
        preset = replace(preset, low=int(match[1]), high=int(match[2]))
    if options.runs is not None:
        preset = replace(preset, runs=options.runs)
    if options.samples is not None:
        preset = replace(preset, samples=options.samples)
    if options.temperature is not None:
        preset = replace(preset, temperature=options.temperature)
    return preset


def geval(options: GEvalOptions, output: Output, /) -> Report:
    """Rates texts on qualities, one at a time (K8, O9)."""
    preset = preset_of(options)
    cases = text_cases(options, output, file_of(options.file), needs=("question",))
    if options.context:
        contexts = read_texts_by_id(options.context, "context")
        cases = tuple(
            replace(case, context="\n\n".join(contexts.get(case.id, ()))) for case in cases
        )
    if cases and not any(can_be_rated(case, preset) for case in cases):
        needed = " or ".join(sorted(set(preset.material.values())))
        raise InputError(
            f"none of the {len(cases)} texts has the {needed} that it would be rated against",
            argument="context",
            hint="Give contexts with --context FILE, by the ids of the texts.",
        )
    with judges(options, run=options) as judge:
        by = GEval(judge(), preset)
        rows = run_cases(
            options,
            output,
            cases,
            lambda case: rate_text(case, by=by),
            GEvalRow,
            basis=f"geval by {by.label}",
        )
    return geval_report(rows, preset, rated_by=by.label)


def side_by_side(options: SideBySideOptions, _output: Output, /) -> Report:
    """Puts the scores of each kind of question beside one another (K10)."""
    reports = [read_report_groups(path, options.by) for path in options.reports]
    groups = list(dict.fromkeys(chain(*reports)))
    scores = merge_groups(reports)
    rows = [
        [name, *(row[group].text() if group in row else "" for group in groups)]
        for name, row in scores.items()
    ]
    return PlainReport(
        {"by": options.by, "groups": groups, "scores": scores},
        [Table([["score", *groups], *rows])],
    )


def talec(options: TalecOptions, output: Output, /) -> Report:
    """Judges texts by criteria (T1 to T7)."""
    criteria = load_criteria(options.criteria)
    cases: Sequence[TextCase] = text_cases(options, output, file_of(options.file))
    if options.split_shares:
        cases = assign_splits(
            cases, shares=_shares(options.split_shares), random_seed=options.split_seed
        )
    cases = _of_splits(cases, options.splits)
    with judges(options, run=options) as judge:
        by = Talec(judge(), criteria, Division(options.by), Method(options.method))
        rows = run_cases(
            options,
            output,
            cases,
            lambda case: judge_text(case, by=by),
            TalecRow,
            basis=f"talec by {by.label}",
        )
    # What people say may have been added or mended since a case was judged.
    rows = tuple(
        replace(row, human=case.human, split=case.split)
        for row, case in zip(rows, cases, strict=True)
    )
    notes = shot_notes(cases, criteria)
    return talec_report(rows, criteria, judged_by=by.label, notes=notes)


def _shares(text: str) -> tuple[float, float, float]:
    parts = text.split(",")
    if len(parts) != 3 or not all(part.strip().isdigit() for part in parts):
        raise InputError(
            f"three whole numbers such as 20,40,40 were expected, got {text!r}",
            argument="split_shares",
        )
    if sum(map(int, parts)) != 100:
        raise InputError(
            f"shares in per cent that sum to 100 were expected, got {text!r}",
            argument="split_shares",
        )
    first, second, third = (int(part) / 100 for part in parts)
    return first, second, third


def _of_splits(cases: Sequence[TextCase], splits: Sequence[str]) -> Sequence[TextCase]:
    if not splits:
        return cases
    selected = [case for case in cases if case.split in splits]
    if not selected:
        raise InputError(
            f"no case is in {' or '.join(splits)}",
            argument="split",
            hint="Give cases a split, or draw one: --split-shares 20,40,40",
        )
    return selected


def compare(options: CompareRunsOptions, _output: Output, /) -> Report:
    """Puts two runs of talec side by side (T6)."""
    for path in (options.first, options.second):
        if not Path(path).is_file():
            raise InputError(f"there is no file {path}", argument="run")
    return compare_runs(
        read_run(options.first), read_run(options.second), load_criteria(options.criteria).classes
    )


def lint(options: LintOptions, _output: Output, /) -> Report:
    """Checks a file of criteria and its shots (T1, T4)."""
    criteria = load_criteria(options.criteria)
    warnings = lint_criteria(criteria)
    shots = sum(len(label.shots) for label in criteria.labels)
    return PlainReport(
        {"criteria": criteria.label, "warnings": warnings},
        [
            *(
                f"{criteria.source}, line {warning.line}, {warning.label}: {warning.words}"
                for warning in warnings
            ),
            f"{criteria.label}: {len(criteria.labels)} labels, {shots} shots, "
            f"{len(criteria.rules)} rules, {len(warnings)} warnings",
        ],
    )


def export(options: ExportTuningOptions, _output: Output, /) -> Report:
    """Writes labelled texts as fine-tuning records (T8)."""
    criteria = load_criteria(options.criteria)
    cases = _of_splits(read_text_cases(file_of(options.file)), options.splits)
    records = tuning_records(criteria, cases)
    write_rows(options.out, records)
    return PlainReport(
        {"records": len(records), "out": options.out}, [f"{len(records)} records in {options.out}"]
    )
