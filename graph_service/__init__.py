"""A knowledge-graph service for language models.

from graph_service import open_service

with open_service("sqlite:///graph.db") as service:
    ...
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graph_service.service import Service, open_service

__version__ = "0.1.0"
__all__ = ["Service", "__version__", "open_service"]


def __getattr__(name: str) -> Any:
    # Imported at first use, so that the command line's --help stays quick.
    if name in ("Service", "open_service"):
        return getattr(import_module("graph_service.service"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
