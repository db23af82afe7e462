"""Retrievers for LangChain, LlamaIndex and Haystack, a module each.

Each needs its framework's core package alone, which an extra of the same name installs: ``pip
install 'graph-service[langchain]'``. The graph is behind a server, or in this process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def framework(extra: str, /, *, module: str = "") -> Iterator[None]:
    """Has an import of a framework that is not installed name the extra that installs it.

    Args:
        extra: Of this package.
        module: That imports the framework; by default the one of the extra's name here.

    Raises:
        ImportError: The framework is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{module or f'graph_service.adapters.{extra}'} needs {error.name}, which is not "
            f"installed. Run: pip install 'graph-service[{extra}]'",
            name=error.name,
        ) from error
