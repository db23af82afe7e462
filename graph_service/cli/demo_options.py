"""The options of demo."""

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
    random_seeds: int = option(10, help="how many random seeds", least=1)
