"""doctor, bench, model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from graph_service.cli.doctor.options import BenchOptions, DoctorOptions, ModelOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError

if TYPE_CHECKING:
    from graph_service.store.protocol import Store

EXIT_SETUP = 4


def doctor(options: DoctorOptions, output: Output, /) -> int:
    """Checks the installation; 4 where something fails."""
    from graph_service.cli.opening import settings_of
    from graph_service.doctor.checks import (
        Check,
        State,
        check_installation,
        check_settings,
        listed_settings,
    )

    settings, check = check_settings(lambda: settings_of(options))
    if options.settings:
        rows = listed_settings()
        output.object({"settings": rows})
        output.table(
            [
                ["variable", "value", "default", "what it does"],
                *([row.variable, row.value, row.default, row.help] for row in rows),
            ]
        )
        return 0
    checks: list[Check] = [check]
    checks.extend(check_installation(settings))
    failed = [item for item in checks if item.state is State.FAIL]
    warned = [item for item in checks if item.state is State.WARN]
    output.object({"ok": not failed, "checks": checks})
    width = max(len(item.name) for item in checks)
    for item in checks:
        output.line(f"{item.state.value:<4}  {item.name:<{width}}  {item.detail}")
        if item.fix:
            output.line(f"{'':<4}  {'':<{width}}  -> {item.fix}")
    output.line(
        f"{len(checks)} checks: {len(failed)} failed, {len(warned)} to look at"
        if failed or warned
        else f"{len(checks)} checks, all well"
    )
    return EXIT_SETUP if failed else 0


def bench(options: BenchOptions, output: Output, data: Path, /) -> int:
    """Measures speed, each figure beside a reference taken in the same run."""
    import orjson

    from benchmarks.figures import notes, table_rows
    from benchmarks.speed import measure_speed
    from graph_service.model.serialise import to_plain
    from graph_service.settings import read_settings

    out = options.out
    report = measure_speed(
        data,
        load=load_table,
        settings=read_settings(),
        neo4j=options.neo4j,
        only=options.only,
        progress=lambda name: output.note(f"measuring {name}"),
    )
    plain = to_plain(report)
    if out is not None:
        out.write_bytes(orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    output.object(plain)
    machine = report.machine
    versions = ", ".join(
        f"{name} {version}" for name, version in machine.versions.items() if version
    )
    output.line(f"{machine.cores} cores, {machine.processor}, {machine.system}")
    output.line(f"Python {machine.python}, {versions}")
    output.line()
    output.table(table_rows(report.figures))
    output.line()
    for line in notes(report.figures):
        output.line(line)
    if out is not None:
        output.line(f"written to {out}")
    return 0


def load_table(path: Path, store: Store, graph: str, labels: Path | None, /) -> None:
    """Loads a table of triples into a graph of a store, with a table of labels."""
    from loaders.load import load
    from loaders.options import LoadOptions

    load(
        path,
        store=store,
        graph=graph,
        replace=True,
        options=LoadOptions(
            columns=("head", "relation", "tail"),
            header=False,
            label_files=() if labels is None else (labels,),
            # Measures count on names without a statement: to tell them apart is the work.
            entities_from_labels=True,
            strict=True,
        ),
    )


def model(options: ModelOptions, output: Output, /) -> int:
    """Fetches a model's files, or checks that they are the official ones."""
    from graph_service.embed import is_minilm
    from graph_service.embed.weights import (
        BASE_URL,
        FILES,
        MODEL_DIR_VARIABLE,
        TOKENIZER,
        WEIGHTS,
        fetch_model,
        find_model,
    )

    folder = options.to
    if options.action == "check" and options.base_url:
        raise InputError("--base-url goes with fetch, not with check", argument="base_url")
    if options.name is not None and not is_minilm(options.name):
        return _known_model(options, options.name, output)
    if options.action == "check":
        found = find_model(folder)
        files = [TOKENIZER, WEIGHTS]
        path, origin = found.path, found.origin
    else:
        progress = _Progress(output)
        path = fetch_model(
            target=folder, base_url=options.base_url or BASE_URL, progress=progress.show
        )
        progress.end()
        files, origin = [*FILES], "fetched"
    output.object(
        {
            "folder": str(path),
            "origin": origin,
            "files": [{"name": f.name, "bytes": f.size, "sha256": f.sha256} for f in files],
        }
    )
    output.line(f"all-MiniLM-L6-v2 in {path} ({origin})")
    for file in files:
        output.line(f"  {file.name}  {file.size:,} bytes  sha256 {file.sha256}  right")
    if options.action == "fetch" and folder is not None:
        output.line(f"Use it: export {MODEL_DIR_VARIABLE}={path.absolute()}")
    return 0


def _known_model(options: ModelOptions, name: str, output: Output) -> int:
    """Does the same for a model of the catalogue, whose hashes the first download wrote down."""
    from graph_service.embed.catalogue import RECORD, check_known, fetch_known

    if options.action == "check":
        found = check_known(name, folder=options.to)
    else:
        progress = _Progress(output)
        found = fetch_known(
            name, target=options.to, base_url=options.base_url, progress=progress.show
        )
        progress.end()
    output.object(
        {
            "folder": str(found.folder),
            "revision": found.revision,
            "is_first": found.is_first,
            "files": [{"name": f.name, "bytes": f.size, "sha256": f.sha256} for f in found.files],
        }
    )
    output.line(f"{name} in {found.folder}" + (f", of {found.revision}" if found.revision else ""))
    for file in found.files:
        right = "written down" if found.is_first else "as before"
        output.line(f"  {file.name}  {file.size:,} bytes  sha256 {file.sha256}  {right}")
    if found.is_first:
        output.line(
            f"No hash of these files is known here: those of this download are in {RECORD} now, "
            "and later downloads are compared with them."
        )
    used = name if options.to is None else found.folder.absolute()
    output.line(f"Use it: export GRAPH_SERVICE_EMBEDDER={used}")
    return 0


class _Progress:
    """Shows a download on stderr: one line that moves on a terminal, else one a file."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._moving = sys.stderr.isatty()
        self._shown = ""

    def show(self, name: str, received: int, size: int) -> None:
        if self._moving:
            self._shown = f"{name}  {received / 1e6:.1f} of {size / 1e6:.1f} MB"
            print(f"\r{self._shown}", end="", file=sys.stderr, flush=True)
        elif name != self._shown:
            self._shown = name
            self._output.note(f"fetching {name}, {size / 1e6:.1f} MB")

    def end(self) -> None:
        if self._moving and self._shown:
            print(file=sys.stderr)
