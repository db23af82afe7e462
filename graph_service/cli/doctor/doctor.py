"""The verbs ``doctor`` and ``model`` of the command line."""

from __future__ import annotations

import sys

from graph_service.cli.doctor.options import DoctorOptions, ModelOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError

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
    absent = [item for item in checks if item.state is State.ABSENT]
    checks = [item for item in checks if item.state is not State.ABSENT]
    width = max(len(item.name) for item in checks)
    for item in checks:
        output.line(f"{item.state.value:<4}  {item.name:<{width}}  {item.detail}")
        if item.fix:
            output.line(f"{'':<4}  {'':<{width}}  -> {item.fix}")
    if absent:
        output.line("Not installed. If you want to")
        width = max(len(item.detail) for item in absent)
        for item in absent:
            output.line(f"  {item.detail:<{width}}  -> {item.fix}")
    output.line(
        f"{len(checks)} checks: {len(failed)} failed, {len(warned)} to look at"
        if failed or warned
        else f"{len(checks)} checks, all well"
    )
    return EXIT_SETUP if failed else 0


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
        model_files = find_model(folder)
        files = [TOKENIZER, WEIGHTS]
        path, origin = model_files.path, model_files.origin
    else:
        progress = _Progress(output)
        path = fetch_model(
            target=folder, base_url=options.base_url or BASE_URL, progress=progress.show
        )
        progress.end()
        files, origin = [*FILES], "fetched"
    output.show(
        {
            "folder": str(path),
            "origin": origin,
            "files": [{"name": f.name, "bytes": f.size, "sha256": f.sha256} for f in files],
        },
        f"all-MiniLM-L6-v2 in {path} ({origin})",
        *(f"  {file.name}  {file.size:,} bytes  sha256 {file.sha256}  right" for file in files),
    )
    if options.action == "fetch" and folder is not None:
        output.line(f"Use it: export {MODEL_DIR_VARIABLE}={path.absolute()}")
    return 0


def _known_model(options: ModelOptions, name: str, output: Output) -> int:
    """Does the same for a model of the catalogue, whose hashes the first download wrote down."""
    from graph_service.embed.catalogue import RECORD, check_known, fetch_known

    if options.action == "check":
        model_files = check_known(name, folder=options.to)
    else:
        progress = _Progress(output)
        model_files = fetch_known(
            name, target=options.to, base_url=options.base_url, progress=progress.show
        )
        progress.end()
    output.show(
        {
            "folder": str(model_files.folder),
            "revision": model_files.revision,
            "is_first": model_files.is_first,
            "files": [
                {"name": f.name, "bytes": f.size, "sha256": f.sha256} for f in model_files.files
            ],
        },
        f"{name} in {model_files.folder}"
        + (f", of {model_files.revision}" if model_files.revision else ""),
    )
    for file in model_files.files:
        right = "written down" if model_files.is_first else "as before"
        output.line(f"  {file.name}  {file.size:,} bytes  sha256 {file.sha256}  {right}")
    if model_files.is_first:
        output.line(
            f"No hash of these files is known here: those of this download are in {RECORD} now, "
            "and later downloads are compared with them."
        )
    used = name if options.to is None else model_files.folder.absolute()
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
