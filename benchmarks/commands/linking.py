"""``python -m benchmarks linking``: which entities linking finds in published questions."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.commands.options import LinkingOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError

if TYPE_CHECKING:
    from benchmarks.linking import LinkingReport
    from graph_service.model.graph import KnowledgeGraph


def linking(options: LinkingOptions, output: Output, /) -> int:
    """Links the questions of published sets and prints what is found."""
    import orjson

    from benchmarks.linking import load_named, measure_linking, table_rows
    from benchmarks.linking_sets import SETS, LinkingData
    from graph_service.model.serialise import to_plain
    from graph_service.store import open_store

    out = options.out
    if not options.data:
        raise InputError(
            "linking needs --data FOLDER, the folder that holds biokalma/", argument="data"
        )
    unknown = [name for name in options.only if name not in SETS]
    if unknown:
        raise InputError(
            f"there is no set {unknown[0]!r}; expected one of {', '.join(SETS)}", argument="only"
        )
    data = LinkingData(options.data, random_seed=options.random_seed)
    reports: list[LinkingReport] = []
    graphs: dict[str, KnowledgeGraph] = {}
    with (
        tempfile.TemporaryDirectory(prefix="graph-service-bench-") as folder,
        open_store(f"sqlite:///{Path(folder) / 'bench.db'}") as store,
    ):
        for questions in data.sets(options.only):
            if questions.graph not in graphs:
                named = data.graph(questions.graph)
                graphs[questions.graph] = store.snapshot(load_named(store, named))
            reports.append(
                measure_linking(
                    graphs[questions.graph],
                    questions,
                    sample=options.sample,
                    random_seed=options.random_seed,
                    misses=max(options.misses, 0),
                )
            )
            output.note(f"{questions.name}: {reports[-1].questions:,} questions")
        names = {
            name: {"entities": graph.entity_count, "statements": graph.edge_count}
            for name, graph in graphs.items()
        }
    plain = {"random_seed": options.random_seed, "graphs": names, "sets": to_plain(reports)}
    if out is not None:
        out.write_bytes(orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    output.object(plain)
    output.table(table_rows(reports))
    output.line()
    output.table(_settings_rows(reports))
    for report in reports:
        for miss in report.misses:
            output.line()
            output.line(f"{report.name}: {miss.question}")
            output.line(f"  meant   {'; '.join(miss.meant)}")
            output.line(f"  linked  {'; '.join(miss.linked) or '-'}")
    if out is not None:
        output.line(f"written to {out}")
    return 0


def _settings_rows(reports: list[LinkingReport]) -> list[list[str]]:
    head = [
        "set",
        "questions",
        "kept out",
        "unlinked",
        "candidates",
        "with several",
        "median ms",
        "95 % ms",
        "cpu ms",
        "95 % cpu ms",
    ]
    return [
        head,
        *(
            [
                report.name,
                f"{report.questions:,}",
                f"{report.kept_out:,}",
                f"{report.unlinked:,}",
                f"{report.candidates:.2f}",
                f"{report.several:.3f}",
                f"{report.median_ms:.2f}",
                f"{report.p95_ms:.2f}",
                f"{report.cpu_median_ms:.2f}",
                f"{report.cpu_p95_ms:.2f}",
            ]
            for report in reports
        ),
    ]
