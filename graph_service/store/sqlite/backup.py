"""A copy of the file of a store while it is in use."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from graph_service.errors import InputError, StoreCorruptError
from graph_service.output_file import require_file_or_none
from graph_service.private_files import make_private_file
from graph_service.store.sqlite.database import Database, mapping_errors


def back_up(
    database: Database, out: Path, /, *, replace: bool, verify: Callable[[Path], None]
) -> int:
    """Copies the file as it is at one moment, checks the copy, and only then names it ``out``.

    Others may read and write meanwhile; what they write from now on is not in the copy.

    Args:
        database: The file.
        out: The copy.
        replace: Whether to write over a file that is there.
        verify: Reads the copy from end to end; raises ``StoreCorruptError`` where it is not what
            it claims.

    Returns:
        The size of the copy, bytes.

    Raises:
        InputError: ``out`` is there already, or its folder is not, or it is the store itself.
        StoreError: There is no room, or the copy is not sound.
    """
    if out.exists() and (not replace or out.samefile(database.path)):
        raise InputError(
            f"{out} is there already" if not replace else f"{out} is the store itself",
            argument="out",
            hint="Name a new file, or say --replace." if not replace else None,
        )
    require_file_or_none(out)
    if not out.absolute().parent.is_dir():
        raise InputError(f"there is no folder {out.absolute().parent}", argument="out")
    partial = out.with_name(f".{out.name}.partial")
    leftovers = [partial, *(partial.with_name(partial.name + end) for end in ("-wal", "-shm"))]
    for path in leftovers:
        path.unlink(missing_ok=True)
    try:
        make_private_file(partial)
        with database.reading() as connection:
            connection.execute("VACUUM INTO ?", (str(partial),))
        with mapping_errors(partial):
            _check(partial)
        verify(partial)
        partial.replace(out)
    finally:
        for path in leftovers:
            path.unlink(missing_ok=True)
    return out.stat().st_size


def _check(path: Path) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        report = [row[0] for row in connection.execute("PRAGMA integrity_check").fetchall()]
        if report != ["ok"]:
            raise StoreCorruptError(
                f"the copy is not sound: {'; '.join(map(str, report[:3]))}",
                hint="Check the disk; the store itself may be damaged too.",
            )
        # The journal's mode is not copied, and a store's readers rely on it.
        connection.execute("PRAGMA journal_mode = WAL")
    finally:
        connection.close()
