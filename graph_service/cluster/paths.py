"""Paths that this process and an engine both see."""

from __future__ import annotations

from pathlib import Path

from graph_service.errors import InputError

_OF_PATTERNS = frozenset("*?[]{}\\")
"""Characters by which Spark or Sail reads a path as a pattern of other files."""


def shared_path(path: Path, /, *, argument: str) -> Path:
    """Returns a path from the root, which an engine reads as this process does.

    Raises:
        InputError: An engine would read it as a pattern, and so nothing, or several graphs as one.
    """
    path = path.absolute()
    characters = sorted(_OF_PATTERNS & set(str(path)))
    if characters:
        raise InputError(
            f"an engine reads {path} as a pattern, for its {' '.join(characters)}; expected a path "
            f"without any of {' '.join(sorted(_OF_PATTERNS))}",
            argument=argument,
            hint="Rename the folder, or name it by a link.",
        )
    return path
