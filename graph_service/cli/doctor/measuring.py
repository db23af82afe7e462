"""bench quality: what retrieval finds for questions whose answer is known."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from graph_service.cli.doctor.options import BenchOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError

if TYPE_CHECKING:
    from graph_service.quality.measure import QualityReport
    from graph_service.service import Service

_GRAPH = "bench"


def bench(options: BenchOptions, output: Output, /) -> int:
    """Asks retrieval the questions of a set and prints what it finds."""
    import orjson

    from graph_service.model.serialise import to_plain
    from graph_service.quality.measure import measure_quality
    from graph_service.quality.question_sets import read_questions

    out = options.out
    if out is not None and not out.absolute().parent.is_dir():
        raise InputError(f"there is no folder {out.absolute().parent}", argument="out")
    format_name, graph_file, file = options.format, options.graph_file, options.questions
    if format_name is None or graph_file is None or file is None:
        required = {"format": format_name, "graph_file": graph_file, "questions": file}
        name = next(name for name, value in required.items() if value is None)
        raise InputError(
            f"bench quality needs --{name.replace('_', '-')}",
            argument=name,
            hint="For example: graph-service bench quality --format metaqa --graph-file kb.txt"
            " --questions qa_dev.txt",
        )
    questions = read_questions(file, format_name=format_name)
    if not graph_file.is_file():
        raise InputError(f"there is no file {graph_file}", argument="graph_file")

    def progress(done: int, total: int) -> None:
        if done % 250 == 0 or done == total:
            output.note(f"{done:,} of {total:,} questions")

    with _loaded(graph_file) as service:
        report = measure_quality(
            service,
            questions,
            graph=_GRAPH,
            preset=options.preset,
            sample=options.sample,
            random_seed=options.random_seed,
            misses=max(options.misses, 0),
            progress=progress,
        )
    plain = {
        "format": format_name,
        "graph_file": graph_file.name,
        "questions_file": file.name,
        "random_seed": options.random_seed,
        **to_plain(report),
    }
    if out is not None:
        out.write_bytes(orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    output.object(plain)
    _show(report, output)
    if out is not None:
        output.line(f"written to {out}")
    return 0


@contextmanager
def _loaded(table: Path) -> Iterator[Service]:
    """Yields a service over a temporary store that holds a table of triples."""
    from graph_service.service import open_service
    from graph_service.settings import read_settings
    from loaders.load import load
    from loaders.options import LoadOptions

    with tempfile.TemporaryDirectory(prefix="graph-service-bench-") as folder:
        settings = replace(
            read_settings(),
            store=f"sqlite:///{Path(folder) / 'bench.db'}",
            graph=_GRAPH,
            cache_dir=folder,
            vectors=read_settings().vectors or str(Path(folder) / "vectors.db"),
        )
        with open_service(settings=settings) as service:
            load(
                table,
                store=service.store,
                graph=_GRAPH,
                replace=True,
                options=LoadOptions(
                    format="tsv",
                    columns=("head", "relation", "tail"),
                    header=False,
                    strict=True,
                ),
            )
            yield service


def _show(report: QualityReport, output: Output) -> None:
    output.line(
        f"{report.questions:,} questions of {report.sampled:,} with a simple chain"
        f" ({report.not_simple:,} others left out), {report.chains:,} distinct chains"
    )
    candidates = "-" if report.candidates is None else f"{report.candidates:.0f}"
    statuses = ", ".join(f"{name} {count:,}" for name, count in report.statuses.items())
    output.line(
        f"preset {report.preset}, {report.embedder}; start linked {report.linked:.3f};"
        f" median of {candidates} candidates; {statuses}"
    )
    output.line(f"paths: median {report.median_ms:.1f} ms, 95 % {report.p95_ms:.1f} ms a call")
    output.line()
    rows = [["figure", "value", "95 % interval", "random", "shortest first", "questions"]]
    for name, score in report.scores.items():
        rows.append(
            [
                name,
                _number(score.value),
                f"{_number(score.low)} - {_number(score.high)}",
                _number(score.random),
                _number(score.shortest),
                f"{score.questions:,}",
            ]
        )
    output.table(rows)
    for miss in report.misses:
        output.line()
        output.line(miss.question)
        output.line(f"  gold  {miss.gold}")
        output.line(f"  got   {miss.got}")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
