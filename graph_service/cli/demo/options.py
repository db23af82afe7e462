"""The options of the verb ``demo``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from graph_service.cli.answer.options import ChatModelOptions
from graph_service.cli.options import VerbOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class DemoOptions(VerbOptions, ChatModelOptions):
    """The options of ``demo`` on the command line."""

    keep: Path | None = option(None, help="keep the demo's store in this file")
    serve: bool = option(False, help="serve the graph, with the explorer for your browser")
    port: int = option(8000, help="the port of --serve; 0 for any that is free", needs=("serve",))
    sweep: bool = option(
        False, help="score the answers to all its questions, on the graph and on perturbed views"
    )
    random_seeds: int = option(
        10, help="how many perturbed views --sweep makes", least=1, needs=("sweep",)
    )
