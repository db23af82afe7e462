"""The options of completion."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.cli.options import VerbOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class CompletionOptions(VerbOptions):
    """What ``completion`` takes."""

    shell: str = option(
        help="whose script is printed", is_word=True, choices=("bash", "zsh", "tcsh")
    )
