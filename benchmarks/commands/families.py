"""``python -m benchmarks families``: each family of questions, scored by what did not see it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.commands.options import FamiliesOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError

if TYPE_CHECKING:
    from benchmarks.families import GraphFile
    from benchmarks.leave_one_out import LeaveOneOutReport
    from graph_service.service import Service

_READ_TIMEOUT_S = 600.0


def families(options: FamiliesOptions, output: Output, /) -> int:
    """Asks retrieval the questions of all families and prints what it finds."""
    import orjson

    from benchmarks.families import FAMILIES, of_shapes, read_family
    from benchmarks.leave_one_out import measure_families
    from benchmarks.made_questions import MADE, read_made
    from benchmarks.reliability import draw
    from graph_service.model.serialise import to_plain
    from graph_service.retrieve.preset import PRESETS, LearnedPreset
    from queries.datasets.demo_set import demo_slice

    data, out = options.data, options.out
    if data is None:
        raise InputError(
            "families needs --data FOLDER, the folder that holds wikidata_questions/",
            argument="data",
        )
    sets = [
        of_shapes(question_set, options.shape)
        for family in options.only or FAMILIES
        for question_set in (
            read_made(family, data, demo=demo_slice(), aside=options.aside)
            if family in MADE
            else read_family(family, data)
        )
    ]

    def progress(name: str, done: int, total: int) -> None:
        if done % 50 == 0 or done == total:
            output.note(f"{name}: {done:,} of {total:,} questions")

    if options.train and not isinstance(PRESETS.get(options.preset), LearnedPreset):
        raise InputError(
            f"preset {options.preset} is not trained; default-6 is",
            argument="preset",
            hint="Add --preset default-6.",
        )
    with _folder(options.keep) as folder:
        scorers = _trained(data, folder, progress, options) if options.train else None
        report = measure_families(
            sets,
            open_graph=partial(open_graph, folder),
            scorer_without=scorers or (lambda _: None),
            preset=options.preset,
            given=options.given,
            sample=options.sample,
            published=options.published_sample,
            random_seed=options.random_seed,
            keep=options.keep,
            misses=max(options.misses, 0),
            progress=progress,
        )
    if options.figure is not None:
        preset = PRESETS.get(options.preset)
        bound = preset.min_confidence if isinstance(preset, LearnedPreset) else 0.0
        options.figure.write_text(draw(report.reliability, bound=bound), encoding="utf-8")
    plain = {"sample": options.sample, "random_seed": options.random_seed, **to_plain(report)}
    if out is not None:
        out.write_bytes(orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    output.object(plain)
    _show(report, output)
    if out is not None:
        output.line(f"written to {out}")
    return 0


def _trained(
    data: Path, folder: Path, progress: Callable[[str, int, int], None], options: FamiliesOptions, /
) -> Callable[[str], Path]:
    """Returns what trains the scorer that did not see a family, its examples recorded once."""
    from benchmarks.families import FAMILIES, WIKIDATA_FAMILIES, read_family
    from benchmarks.family_scorers import FamilyScorers, record_sets, walk_sets
    from queries.training.networks import TrainingOptions

    sets = [item for family in FAMILIES for item in read_family(family, data)]
    people = next(item.graph for item in sets if item.family in WIKIDATA_FAMILIES)
    opened = partial(open_graph, folder, scorer=None)
    with opened(people) as service:
        embedder = service.vectors.embedder.name
    recorded = record_sets(
        sets,
        walk_sets(data, people),
        opened,
        progress=lambda name, done, total: progress(f"examples of {name}", done, total),
        folder=folder,
        random_seed=options.random_seed,
    )
    scorers = FamilyScorers(
        recorded,
        folder,
        embedder=embedder,
        options=TrainingOptions(random_seed=options.random_seed),
    )
    scorers.licensed()
    return scorers


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="graph-service-bench-") as folder:
        yield Path(folder)


@contextmanager
def open_graph(folder: Path, graph: GraphFile, /, scorer: Path | None) -> Iterator[Service]:
    """Yields a service over a store that holds a graph; loads it where it is not there yet.

    Args:
        folder: Where the store is, or is made.
        graph: Of the data.
        scorer: What scores; None for what the preset has.
    """
    from graph_service.retrieve.learned.network import read_candidate_scorer
    from graph_service.retrieve.learned.rankers import NetworkRanker
    from graph_service.retrieve.learned.reading import with_reading
    from graph_service.service import open_service
    from graph_service.settings import read_settings

    given = read_settings()
    settings = replace(
        given,
        store=f"sqlite:///{folder / graph.name}.db",
        graph=graph.name,
        cache_dir=str(folder),
        vectors=given.vectors or str(given.vector_file),
        read_timeout_s=_READ_TIMEOUT_S,
    )
    with open_service(settings=settings) as service:
        if graph.name not in {info.name for info in service.graphs()}:
            _load(service, graph, folder)
        if scorer is None:
            yield service
        else:
            networks = NetworkRanker(read_candidate_scorer(scorer))
            with service.ranking_by(with_reading(networks, service.vectors.embedder)):
                yield service


def _load(service: Service, graph: GraphFile, folder: Path) -> None:
    from loaders.formats import Format
    from loaders.load import load
    from loaders.options import LoadOptions
    from queries.datasets.wikidata_questions import write_wikibase

    options = {
        "table": LoadOptions(format="tsv", columns=graph.columns, header=False, strict=True),
        "things": LoadOptions(row="auto", strict=True),
    }.get(graph.kind, LoadOptions(format=Format.WIKIBASE_JSON_LINES.value, strict=True))
    source = graph.path
    if graph.kind == "wikidata":
        source = folder / f"{graph.name}.jsonl"
        write_wikibase(graph.path, source)
    try:
        load(source, store=service.store, graph=graph.name, replace=True, options=options)
    finally:
        if source != graph.path:
            source.unlink(missing_ok=True)


def _show(report: LeaveOneOutReport, output: Output) -> None:
    from benchmarks.leave_one_out import cause_rows, mean_row, table_rows

    entities = "entities given" if report.given else "end to end"
    output.line(f"preset {report.preset}, {entities}; code {report.code}")
    for title, reports in (
        ("", report.families),
        ("By set", report.sets),
        ("On the questions of sample_ids.txt", report.samples),
        ("By shape", report.shapes),
        ("By template", report.templates),
    ):
        if reports:
            output.line()
            output.line(title)
            output.table(table_rows(reports))
    output.line()
    output.line("Causes, as shares of the questions")
    output.table(cause_rows(report.families))
    output.line()
    output.table(mean_row(report))
    for miss in report.misses:
        output.line()
        output.line(f"{miss.family}: {miss.question}  [{miss.cause}]")
        output.line(f"  gold  {miss.gold}")
        output.line(f"  got   {miss.got or '-'}")
        output.line(f"  linked {', '.join(miss.linked) or '-'}")
