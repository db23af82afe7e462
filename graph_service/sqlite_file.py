"""What every SQLite file of ours shares: whose it is, its schema, transactions, and its errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from graph_service.errors import (
    GraphServiceError,
    InputError,
    SchemaVersionError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)

# I/O errors of reads: a short read is one of the disk, not of its space.
_IOERR_OF_READS = {
    sqlite3.SQLITE_IOERR_READ,
    sqlite3.SQLITE_IOERR_SHORT_READ,
    sqlite3.SQLITE_IOERR_FSTAT,
}

SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What the sqlite3 module raises; of a damaged file also that SQLite's message is no UTF-8."""


def primary_code(error: Exception, /) -> int | None:
    """Returns SQLite's primary result code (https://www.sqlite.org/rescode.html), if it has one."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


@dataclass(frozen=True, slots=True)
class SqliteFile:
    """A kind of SQLite file.

    Attributes:
        name: What errors call it.
        application_id: What tells its files from those of other programs.
        schema: The newest version of its tables that is known.
        remedy: What to do about a damaged one.
    """

    name: str
    application_id: int
    schema: int
    remedy: str

    def is_made(self, connection: sqlite3.Connection, path: Path, /) -> bool:
        """Returns whether a file is of this kind; False where it is empty.

        Raises:
            StoreCorruptError: It is of another program.
            SchemaVersionError: A newer version of this package made it.
        """
        # First, since another process may be making it: its tables come with its id.
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != self.application_id:
            if application or tables:
                raise StoreCorruptError(
                    f"{path} is an SQLite file of another program, and no {self.name}",
                    hint="Give another file name.",
                )
            return False
        if version > self.schema:
            raise SchemaVersionError(
                f"{path} has schema {version}, and this version knows up to {self.schema}",
                hint="Install a newer graph-service.",
            )
        return True

    def stamp(self, connection: sqlite3.Connection, /) -> None:
        """Marks a new file as one of this kind and schema."""
        connection.execute(f"PRAGMA application_id = {self.application_id}")
        connection.execute(f"PRAGMA user_version = {self.schema}")

    @contextmanager
    def mapping_errors(self, path: Path, /) -> Iterator[None]:
        """Raises ours in place of SQLite's errors."""
        try:
            yield
        except SQLITE_ERRORS as error:
            raise self.error(error, path) from error

    def error(self, error: sqlite3.Error | UnicodeDecodeError, path: Path, /) -> GraphServiceError:
        """Returns the error of ours for one of SQLite's."""
        if isinstance(error, UnicodeDecodeError):
            return StoreCorruptError(f"{path} is damaged ({error})", hint=self.remedy)
        primary, text = primary_code(error), str(error)
        if primary == sqlite3.SQLITE_FULL or (
            primary == sqlite3.SQLITE_IOERR and error.sqlite_errorcode not in _IOERR_OF_READS
        ):
            return StoreFullError(
                f"no space is left to write to {path} ({text}); nothing of this batch is in",
                hint="Free disk space (or raise the file-size limit) and run the same command "
                "again.",
            )
        if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return StoreCorruptError(
                f"{path} is damaged or is no {self.name} ({text})", hint=self.remedy
            )
        if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return StoreUnavailableError(
                f"{path} is locked by another writer ({text})", hint="Try again in a moment."
            )
        if primary == sqlite3.SQLITE_IOERR:
            return StoreUnavailableError(
                f"{path} cannot be read ({text})", hint="Check the disk, and try again."
            )
        if primary == sqlite3.SQLITE_CANTOPEN:
            return StoreUnavailableError(
                f"{path} cannot be opened ({text})",
                hint="Check that its folder exists and that this user may write there.",
            )
        if primary == sqlite3.SQLITE_READONLY:
            return StoreError(
                f"{path} is open for reading only ({text})",
                hint=f"A {self.name} is written even where it is only read: allow this user to "
                "write the file and its folder, or copy the file to a place where it may.",
            )
        if primary == sqlite3.SQLITE_TOOBIG:
            return InputError(f"a text is larger than the {self.name} can hold ({text})")
        if "closed database" in text:
            return StoreError(f"the {self.name} {path} has been closed")
        return StoreError(f"{path} failed: {text}")


@contextmanager
def transaction(connection: sqlite3.Connection, /) -> Iterator[None]:
    """Runs its block in one transaction that may write; an error undoes all of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
