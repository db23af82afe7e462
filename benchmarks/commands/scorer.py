"""``python -m benchmarks scorer``: the triple scorer on published triples, beside counts."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.commands.options import ScorerOptions
from benchmarks.commands.tables import load_table
from graph_service.cli.output import Output
from graph_service.cli.view.scorers import stage_progress
from graph_service.errors import InputError

if TYPE_CHECKING:
    from benchmarks.scorer import ScorerFigure


def scorer(options: ScorerOptions, output: Output, /) -> int:
    """Trains scorers on published triples; prints the figures of each set once it is measured."""
    import orjson

    from benchmarks.scorer import measure_scorer
    from graph_service.model.serialise import to_plain
    from graph_service.service import open_service
    from graph_service.settings import read_settings

    out = options.out
    if not options.data:
        raise InputError(
            "scorer needs --data FOLDER, which holds codex/ or conceptnet_li2016/",
            argument="data",
        )
    with tempfile.TemporaryDirectory(prefix="graph-service-bench-") as folder:
        settings = replace(
            read_settings(),
            store=f"sqlite:///{Path(folder) / 'bench.db'}",
            graph="",
            cache_dir=folder,
            vectors=read_settings().vectors or str(Path(folder) / "vectors.db"),
        )
        with open_service(settings=settings) as service:
            report = measure_scorer(
                options.data,
                Path(folder),
                service,
                load=load_table,
                progress=stage_progress(output),
                on_figures=lambda figures: output.table(_figure_rows(figures)),
            )
    plain = to_plain(report)
    if out is not None:
        out.write_bytes(orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    output.object(plain)
    return 0


def _figure_rows(figures: Sequence[ScorerFigure]) -> list[list[str]]:
    rows = [["figure", "trained", "counts", "bar"]]
    rows += [
        [
            figure.name,
            f"{figure.trained:.3f}",
            "-" if figure.counts is None else f"{figure.counts:.3f}",
            f"{figure.unit or 'at least'} {figure.bar:g}",
        ]
        for figure in figures
    ]
    return rows
