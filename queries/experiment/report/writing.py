"""All files of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from graph_service.errors import SetupError
from graph_service.text.visible import visible
from queries.experiment.analysis import Analysis
from queries.experiment.impact import Impacts
from queries.experiment.plan import Plan
from queries.experiment.report.figures import FigureName, draw_figures, figure_names
from queries.experiment.report.markdown import FIGURES_NAME, report_lines
from queries.experiment.report.tables import (
    comparisons_csv,
    conditions_csv,
    curves_csv,
    latex_tables,
    parts_csv,
    views_csv,
)
from queries.experiment.usage import ModelUse
from queries.line_file import write_atomically

REPORT_NAME = "report.md"


def write_report(
    plan: Plan,
    analysis: Analysis,
    impacts: Impacts,
    lock: Mapping[str, Any],
    folder: Path,
    /,
    *,
    figures: bool,
    uses: Sequence[ModelUse] = (),
) -> list[str]:
    """Writes ``report.md``, tables and figures into a folder; returns their names.

    Raises:
        SetupError: Figures were to be drawn, and matplotlib is not installed: all tables are
            written, and the error names the pictures that are missing.
    """
    missing: SetupError | None = None
    written_figures: tuple[FigureName, ...] = ()
    if figures:
        try:
            written_figures = draw_figures(analysis, folder / FIGURES_NAME)
        except SetupError as error:
            missing = error
    texts = {
        REPORT_NAME: visible(
            "\n".join(
                [*report_lines(plan, analysis, impacts, lock, written_figures, uses=uses), ""]
            )
        ),
        "conditions.csv": conditions_csv(analysis),
        "curves.csv": curves_csv(analysis),
        "parts.csv": parts_csv(analysis),
        "comparisons.csv": comparisons_csv(analysis),
        "views.csv": views_csv(impacts),
        "tables.tex": latex_tables(analysis),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text.encode())
    if missing is not None:
        raise SetupError(
            f"all tables are written into {folder}, and these pictures are missing: "
            f"{', '.join(figure_names(analysis))}; {missing.message}",
            hint=missing.hint,
        ) from missing
    pictures = [
        f"{FIGURES_NAME}/{figure.name}.{end}"
        for figure in written_figures
        for end in ("svg", "png")
    ]
    return [*texts, *pictures]
