"""The options of the verb ``documents``."""

from __future__ import annotations

from dataclasses import dataclass

from graph_service.cli.options import VerbOptions
from graph_service.options import option


@dataclass(frozen=True, kw_only=True)
class DocumentsOptions(VerbOptions):
    """The options of ``documents`` on the command line."""

    of: str = option(
        "client",
        help="who sends them: the Python client, or the pages of the explorer",
        is_word=True,
        choices=("client", "explorer"),
    )
