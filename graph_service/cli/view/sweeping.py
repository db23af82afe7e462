"""view sweep and view figure: many views measured."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from graph_service.cli.output import Output, print_json
from graph_service.cli.view.figure import draw_deviation
from graph_service.cli.view.options import ViewOptions
from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from graph_service.model.stored_view import StoredView
from graph_service.model.view_spec import ViewSpec
from graph_service.service import Service
from graph_service.service.lookup import read_id
from graph_service.views.methods.changes_file import read_question_changes

MAX_RANDOM_SEEDS = 1_000
NOTED_EVERY_S = 2.0


def draw(options: ViewOptions, output: Output, /) -> None:
    """Draws the figure of a sweep that was written to a file."""
    if not options.view or not options.out:
        raise InputError(
            "name the sweep's file and the figure: view figure SWEEP --out FIGURE.svg",
            argument="out",
        )
    source, path = Path(options.view), options.out
    if path.suffix.lower() != ".svg":
        raise InputError(f"a figure is an .svg file, got {options.out}", argument="out")
    if not source.is_file():
        raise InputError(f"there is no file {source}", argument="view")
    rows = read_rows(source)
    if not rows:
        raise InputError(f"{source} holds no line of a sweep", argument="view")
    scorers = sorted({str(row["scorer"]) for row in rows})
    graphs = sorted({str(row["graph"]) for row in rows})
    seeds = len({row["random_seed"] for row in rows})
    title = (
        f"{', '.join(graphs)}: {seeds} random seed{'s' * (seeds != 1)}, ATS by {', '.join(scorers)}"
    )
    path.write_text(draw_deviation(rows, title=title), encoding="utf-8")
    output.show({"figure": str(path), "views": len(rows)}, f"{path}: {len(rows)} views")


def sweep(service: Service, options: ViewOptions, output: Output, /) -> None:
    """Makes and stores a view of each method, level and random seed; writes one JSON line each.

    A run that was stopped goes on where it was: lines that are there, of the graph as it is, are
    kept, and half a line at the end is written anew.
    """
    views = [
        (question, service.views.resolve(spec, graph=options.graph))
        for question, spec in _views_of(options, output)
    ]
    path = options.out
    info = service.graph(options.graph)
    edges = info.fingerprints.edges
    done = _done(path, edges) if path else {}
    scorer = service.scorers.ats_name(graph=info.name)
    others = sorted({str(row["scorer"]) for row in done.values()} - {scorer})
    if others:
        raise InputError(
            f"{path} was measured with scorer {others[0]}, and ATS is now taken with {scorer}",
            argument="out",
            hint="Name another file, so that one sweep has one scorer.",
        )
    keys = [(question, spec.identity(edges)) for question, spec in views]
    left = [view for view, key in zip(views, keys, strict=True) if key not in done]
    if len(left) < len(views):
        output.note(f"{len(views) - len(left)} of {len(views)} views are in {path} already")
    began = noted = time.monotonic()
    lines = [done[key] for key in keys if key in done]
    for made, (question, spec) in enumerate(left, 1):
        stored = service.views.create(spec, graph=info.name)
        row = _row(stored, question)
        lines.append(row)
        if path:
            with path.open("ab") as file:
                file.write(orjson.dumps(row) + b"\n")
        elif not output.as_json:
            print_json(orjson.dumps(row))
        now = time.monotonic()
        if now - noted > NOTED_EVERY_S or made == len(left):
            noted = now
            rest = (now - began) / made * (len(left) - made)
            output.note(f"{made} of {len(left)} views made, {rest:.0f} s to go")
    output.object({"views": lines})
    output.lines(_summary(lines)) if path else None


def _views_of(options: ViewOptions, output: Output) -> list[tuple[str | None, ViewSpec]]:
    """The views of the sweep, each with the id of its question where it has one."""
    if options.each_question is None:
        if options.changes is not None:
            raise InputError(
                "a sweep with --changes needs the questions that the changes belong to",
                argument="changes",
                hint="Add --each-question FILE, or make one view: view create --changes FILE.",
            )
        plain: list[tuple[str | None, ViewSpec]] = [(None, spec) for spec in _grid(options)]
        for _, spec in plain:
            spec.validate()
        return plain
    from queries.datasets.gold import read_gold_questions
    from queries.question_views import changes_of_questions, views_of_questions

    questions = read_gold_questions(options.each_question)
    if options.changes is not None:
        views = [changes_of_questions(read_question_changes(options.changes), questions)]
    else:
        views = [views_of_questions(spec, questions) for spec in _grid(options)]
    left_out = {id_ for part in views for id_ in part.left_out}
    if left_out:
        output.note(
            f"{len(left_out)} of {len(questions)} questions lack what a method aims at, such as "
            f"{min(left_out)}"
        )
    specs = [(id_, spec) for part in views for id_, spec in part.specs.items()]
    if not specs:
        raise InputError(
            f"no question of {options.each_question} has what the methods aim at",
            argument="each-question",
            hint="Give each question entity_ids and answer_ids.",
        )
    return [*specs]


def read_spec(options: ViewOptions, /) -> ViewSpec:
    """Returns the specification of the command line, its ids in their normal form."""
    scope = options.scope
    return replace(
        options.spec,
        entity_ids=tuple(read_id(id_) for id_ in options.spec.entity_ids),
        answer_ids=tuple(read_id(id_) for id_ in options.spec.answer_ids),
        target_ids=tuple(read_id(id_) for id_ in options.spec.target_ids),
        scope=replace(
            scope,
            relation_ids=tuple(read_id(id_) for id_ in scope.relation_ids),
            around_entity_ids=tuple(read_id(id_) for id_ in scope.around_entity_ids),
        ),
    )


def _grid(options: ViewOptions) -> list[ViewSpec]:
    """All methods at all levels, or with the one count, and all random seeds."""
    spec = read_spec(options)
    levels = options.levels if spec.count is None else (None,)
    specs = [
        replace(spec, method=method, level=level, random_seed=seed)
        for method in options.methods
        for level in levels
        for seed in _seeds(options.random_seeds)
    ]
    if not specs:
        raise InputError("the sweep names no view", argument="methods")
    return specs


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _seeds(text: str) -> list[int]:
    """Returns the random seeds of ``0,3,7`` or ``0-4``."""
    seeds: list[int] = []
    for word in _words(text):
        first, dash, last = word.partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            raise InputError(
                f"random seeds are numbers or ranges such as 0-4, got {word!r}",
                argument="random-seeds",
            )
        end = int(last) if dash else int(first)
        if end < int(first):
            raise InputError(
                f"a range of random seeds begins with the smaller one, got {word!r}; "
                f"{last}-{first} may be meant",
                argument="random-seeds",
            )
        if end - int(first) >= MAX_RANDOM_SEEDS:
            raise InputError(
                f"at most {MAX_RANDOM_SEEDS} random seeds, got {word!r}", argument="random-seeds"
            )
        seeds.extend(range(int(first), end + 1))
    return list(dict.fromkeys(seeds))


def _row(stored: StoredView, question: str | None) -> dict[str, Any]:
    report, deviation = stored.report, stored.deviation
    return {
        **({} if question is None else {"question": question}),
        "view": stored.id,
        "graph": stored.graph,
        "edges": stored.edges,
        "method": stored.spec.method.value,
        "level": stored.spec.level,
        "random_seed": stored.spec.random_seed,
        "level_reached": report.level_reached,
        "changed": sum(report.counts.values()),
        "unavoidable": report.unavoidable,
        **(to_plain(deviation) if deviation else {}),
    }


def _done(path: Path, edges: str) -> dict[tuple[str | None, str], dict[str, Any]]:
    """Rows of an earlier run by question and view; half a line at the end is cut off."""
    if not path.exists():
        return {}
    data = path.read_bytes()
    complete = data[: data.rfind(b"\n") + 1]
    if len(complete) < len(data):
        path.write_bytes(complete)
    return {
        (row.get("question"), row["view"]): row for row in read_rows(path) if row["edges"] == edges
    }


def read_rows(path: Path, /) -> list[dict[str, Any]]:
    """Returns the lines of a sweep's file; raises ``InputError`` naming one that is none."""
    rows: list[dict[str, Any]] = []
    for line_number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            row = orjson.loads(line)
            if row["edges"] and row["view"] and row["method"]:
                rows.append(row)
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise InputError(
                f"{path}:{line_number} is no line of a sweep: {error}",
                argument="out",
                hint="Name another file.",
            ) from error
    return rows


def _summary(rows: list[dict[str, Any]]) -> str:
    """Mean deviation by method and level, one line each."""
    groups: dict[tuple[str, float | None], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["method"], row["level"]), []).append(row)
    lines = [f"{'method':<21} {'level':>6} {'reached':>8} {'ats':>7} {'sc2d':>7} {'sd2':>7}"]
    for (method, level), members in groups.items():
        means = [
            sum(row[name] or 0.0 for row in members) / len(members)
            for name in ("level_reached", "ats", "sc2d", "sd2")
        ]
        lines.append(
            f"{method:<21} {'-' if level is None else f'{level:.3g}':>6} {means[0]:>8.4f} "
            + " ".join(f"{mean:>7.4f}" for mean in means[1:])
        )
    return "\n".join(lines)
