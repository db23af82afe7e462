"""score judges: judges beside one another, and held against people's labels."""

from __future__ import annotations

from pathlib import Path

from graph_service.cli.output import Output
from graph_service.cli.score.options import JudgesOptions
from graph_service.cli.score.score_cases import file_of, write_rows
from graph_service.errors import InputError
from queries.datasets.judged_runs import (
    draw_cases,
    is_run,
    models_of_runs,
    ratings_of_runs,
    with_labels,
)
from queries.datasets.records import read_cases, read_records
from queries.datasets.scored import rated_case, read_text_cases
from queries.score.judges import judges_report
from queries.score.report import PlainReport, Report


def judges(options: JudgesOptions, _output: Output, /) -> Report:
    """Holds judges against what people say of a few cases."""
    for path in options.files:
        if not Path(path).is_file():
            raise InputError(f"there is no file {path}", argument="file")
    models: dict[str, str] = {}
    first = next(iter(read_records(options.files[0])), None)
    if len(options.files) > 1 or (first is not None and is_run(first)):
        cases = ratings_of_runs(options.files)
        models = models_of_runs(options.files)
    else:
        cases = read_cases(options.files[0], rated_case)
    if options.draw is not None:
        sampled = draw_cases(cases, options.draw, random_seed=options.draw_seed)
        rows = [{"id": case.id, "group": case.group, "human": None} for case in sampled]
        write_rows(options.out, rows)
        return PlainReport(
            {"cases": rows},
            [f"{len(sampled)} of {len(cases)} cases for people to label: fill in human"],
        )
    if options.labels is not None:
        cases = with_labels(cases, options.labels)
    lengths: dict[str, int] | None = None
    generators: list[str] = []
    if options.texts is not None:
        texts = file_of(options.texts)
        lengths = {case.id: len(case.text.split()) for case in read_text_cases(texts)}
        written_by = (record.fields.get("model") for record in read_records(texts))
        generators = sorted({name for name in written_by if isinstance(name, str)})
    return judges_report(cases, models=models, lengths=lengths, generators=generators)
