"""The verb ``demo`` of the command line.

Nothing heavy is imported before the first line is printed.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_service.cli.demo.options import DemoOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError

if TYPE_CHECKING:
    from graph_service.service import Service
    from graph_service.settings import Settings

GRAPH = "demo"
_READ_TIMEOUT_S = 300.0
"""A demo on a busy machine is slow, not cut off."""
_TITLE = (
    "graph-service, on statements of Wikidata that it ships with. It needs no network for this."
)


def demo(options: DemoOptions, output: Output, /) -> int:
    """Shows in a minute what the service does; or its sweep, or its page."""
    if options.sweep and options.serve:
        raise InputError("give --sweep or --serve, not both", argument="serve")
    if options.serve and options.model:
        raise InputError("--model has no effect with --serve: the page asks none", argument="model")
    if options.model_url and not options.model:
        raise InputError("--model-url needs --model NAME", argument="model_url")
    output.line(_TITLE)
    sys.stdout.flush()
    started = time.perf_counter()
    with _store_file(options.keep) as path, _Progress(is_shown=not output.as_json) as tell:
        if options.serve:
            return _serve(path, options, output, tell)
        record = _show(path, options, output, tell)
    record["seconds"] = round(time.perf_counter() - started, 1)
    output.object(record)
    return 0


def _show(
    path: Path, options: DemoOptions, output: Output, tell: Callable[[str], None]
) -> dict[str, Any]:
    tell("starting")
    from graph_service.cli.answer.chat_model import chat_model
    from graph_service.cli.demo.first_minute import show_first_minute
    from graph_service.cli.demo.sweeping import sweep
    from graph_service.client import Client
    from graph_service.service import open_service

    with open_service(f"sqlite:///{path}", settings=_settings()) as service:
        report = load_slice(service, tell)
        client = Client.over(service)
        with chat_model(options, service.settings) as model:
            if options.sweep:
                tell("")
                shown = sweep(client, output, seeds=options.random_seeds, model=model)
            else:
                shown = show_first_minute(service, client, output, tell, model=model)
    return {"load": report, **shown}


def load_slice(service: Service, tell: Callable[[str], None], /) -> dict[str, Any]:
    """Loads the slice of Wikidata that ships with the package; returns the report of the load."""
    from loaders.load import load
    from queries.datasets.demo_set import demo_slice

    tell("loading")
    return load(demo_slice(), store=service.store, graph=GRAPH, replace=True).to_json()


def _serve(path: Path, options: DemoOptions, output: Output, tell: Callable[[str], None]) -> int:
    tell("starting")
    from graph_service.cli.serve_options import ServeOptions
    from graph_service.cli.serving import serve
    from graph_service.service import open_service

    url = f"sqlite:///{path}"
    with open_service(url, settings=_settings()) as service:
        load_slice(service, tell)
    tell("")
    return serve(ServeOptions(store=url, graph=GRAPH, port=options.port), output)


def _settings() -> Settings:
    """Returns the settings of the environment, with time enough for a busy machine."""
    from graph_service.settings import read_settings

    return replace(read_settings(), read_timeout_s=_READ_TIMEOUT_S)


@contextmanager
def _store_file(path: Path | None) -> Iterator[Path]:
    """Gives the file of the demo's store; it is removed afterwards unless the user named it."""
    folder = Path(tempfile.mkdtemp(prefix="graph-service-"))
    try:
        yield path or folder / "demo.db"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Progress:
    """Tells on a terminal what is being done, in a line that the next output takes the place of."""

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown and sys.stderr.isatty()
        self._width = 0

    def __call__(self, text: str, /) -> None:
        """Shows a text in place of the one before; an empty one clears the line."""
        if not self._is_shown or not (text or self._width):
            return
        shown = f"{text} ..." if text else ""
        end = "" if shown else "\r"
        print(f"\r{shown:<{self._width}}", end=end, file=sys.stderr, flush=True)
        self._width = len(shown)

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self("")
