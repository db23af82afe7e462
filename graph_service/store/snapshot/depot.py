"""Where snapshots are left for other machines: a folder, or object storage by its address.

An object is written whole or not at all, and none is changed once it is there.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from graph_service.errors import InputError, SetupError, StoreError, StoreUnavailableError

_OBJECT_STORAGE = frozenset(("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oss", "oci"))
_GO_ON = "Run the same command again: it goes on with what is missing."


class Depot(Protocol):
    """Objects by name, in folders parted by ``/``."""

    @property
    def address(self) -> str:
        """Where it is, without a password."""

    def size(self, name: str, /) -> int | None:
        """Returns the bytes of an object; None where there is none."""

    def read(self, name: str, /) -> bytes | None:
        """Returns an object; None where there is none."""

    def write(self, name: str, data: bytes, /) -> None:
        """Writes an object, in the place of one of the same name."""

    def names(self, folder: str, /) -> list[str]:
        """Returns the names of the objects in a folder, without it, sorted."""


def open_depot(address: str, /) -> Depot:
    """Returns what is at an address: a folder, or any address that fsspec knows.

    Raises:
        InputError: It is no address of either.
        SetupError: The package for such an address is missing.
    """
    scheme = urlsplit(address).scheme.lower() if "://" in address else ""
    if scheme in ("", "file"):
        folder = address[len("file://") :] if scheme else address
        if not folder:
            raise InputError("expected a folder or an address", argument="address")
        return FolderDepot(Path(folder))
    try:
        fsspec: Any = importlib.import_module("fsspec")
    except ImportError as error:
        raise _missing(address, error) from error
    try:
        # What others wrote meanwhile must be seen.
        files, root = fsspec.core.url_to_fs(
            address, use_listings_cache=False, skip_instance_cache=True
        )
    except ImportError as error:
        raise _missing(address, error) from error
    except ValueError as error:
        raise InputError(
            f"fsspec knows no address such as {address_without_password(address)} ({error})",
            argument="address",
            hint="Expected a folder, or an address such as s3://bucket/folder.",
        ) from error
    return ObjectDepot(files, root, address_without_password(address))


def _missing(address: str, error: ImportError) -> SetupError:
    return SetupError(
        f"a package for {urlsplit(address).scheme}:// addresses is missing ({error})",
        hint="pip install 'graph-service[object-storage]' for s3://; the packages of other "
        "addresses are listed in fsspec's documentation",
    )


def address_without_password(address: str, /) -> str:
    """Returns an address as it may be shown.

    >>> address_without_password("ftp://me:secret@host/folder")
    'ftp://host/folder'
    """
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="").geturl()


class FolderDepot:
    """Objects as files of a folder, which is made when first written to."""

    def __init__(self, folder: Path, /) -> None:
        self._folder = folder

    @property
    def address(self) -> str:
        """The folder's path, as text."""
        return str(self._folder)

    def size(self, name: str, /) -> int | None:
        """Returns the bytes of an object; None where there is none."""
        with self._mapping_errors():
            try:
                return (self._folder / name).stat().st_size
            except FileNotFoundError:
                return None

    def read(self, name: str, /) -> bytes | None:
        """Returns an object; None where there is none."""
        with self._mapping_errors():
            try:
                return (self._folder / name).read_bytes()
            except FileNotFoundError:
                return None

    def write(self, name: str, data: bytes, /) -> None:
        """Writes an object beside its place, and renames it."""
        path = self._folder / name
        temporary = path.with_name(f".{os.getpid()}-{secrets.token_hex(8)}")
        with self._mapping_errors():
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                with temporary.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(path)
            finally:
                temporary.unlink(missing_ok=True)

    def names(self, folder: str, /) -> list[str]:
        """Returns the names of the objects in a folder, without it, sorted."""
        with self._mapping_errors():
            try:
                names = [path.name for path in (self._folder / folder).iterdir()]
            except FileNotFoundError:
                return []
        return sorted(name for name in names if not name.startswith("."))

    @contextlib.contextmanager
    def _mapping_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"the folder {self._folder} can't be used ({error.strerror or error})", hint=_GO_ON
            ) from error


class ObjectDepot:
    """Objects of a file system that fsspec opened.

    Args:
        files: The file system.
        root: Path in it.
        address: As it is shown.
    """

    def __init__(self, files: Any, root: str, address: str, /) -> None:
        self._files = files
        self._root = root.rstrip("/")
        self._address = address
        self._scheme = urlsplit(address).scheme.lower()

    @property
    def address(self) -> str:
        """Its address, without a password."""
        return self._address

    def size(self, name: str, /) -> int | None:
        """Returns the bytes of an object; None where there is none."""
        with self._mapping_errors():
            try:
                return int(self._files.info(self._path(name))["size"])
            except FileNotFoundError:
                return None

    def read(self, name: str, /) -> bytes | None:
        """Returns an object; None where there is none."""
        with self._mapping_errors():
            try:
                return bytes(self._files.cat_file(self._path(name)))
            except FileNotFoundError:
                return None

    def write(self, name: str, data: bytes, /) -> None:
        """Writes an object in one request."""
        path = self._path(name)
        with self._mapping_errors():
            try:
                self._files.pipe_file(path, data)
            except FileNotFoundError:
                # Object storage has no folders: there a bucket is missing, which is not ours to make.
                if self._scheme in _OBJECT_STORAGE:
                    raise
                self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
                self._files.pipe_file(path, data)

    def names(self, folder: str, /) -> list[str]:
        """Returns the names of the objects in a folder, without it, sorted."""
        with self._mapping_errors():
            try:
                names = self._files.ls(self._path(folder), detail=False)
            except FileNotFoundError:
                return []
        return sorted(str(path).rstrip("/").rpartition("/")[2] for path in names)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}" if self._root else name

    @contextlib.contextmanager
    def _mapping_errors(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise StoreError(f"{self._address} is not there ({error})") from error
        except Exception as error:
            # Each file system raises its own library's errors, most of them no OSError.
            raise StoreUnavailableError(
                f"{self._address} does not answer as expected ({type(error).__name__}: {error})",
                hint=_GO_ON,
            ) from error
