"""Output files that are written under another name first and then take the place of their own."""

from __future__ import annotations

from pathlib import Path

from graph_service.errors import InputError


def require_file_or_none(path: Path, /, *, argument: str = "out") -> None:
    """Raises ``InputError`` where a new file would replace a device, a pipe or a folder."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; expected a file", argument=argument)
    if path.exists() and not path.is_file():
        raise InputError(
            f"{path} is a device, a pipe or a socket; expected a file", argument=argument
        )
