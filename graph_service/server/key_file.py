"""The file of API keys: JSON that its owner alone may write, replaced in one step."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from graph_service.api.scopes import Scope
from graph_service.errors import GraphServiceError, InputError, SetupError
from graph_service.server.keys import Caller, Key, check_key

VERSION = 1
MAX_KEYS = 10_000
ALL_GRAPHS = "*"
LOCK_S = 5.0
_HASHED = "sha256:"
_OTHERS_MAY_WRITE = 0o022
_FIELDS = ("name", "hash", "scope", "graphs", "rate", "maxCost", "created", "expires", "note")


def read_keys(path: Path, /) -> tuple[Key, ...]:
    """Returns the keys of a file, in its order.

    Raises:
        SetupError: There is no such file, others than its owner may write to it, or it does not
            hold keys; says which field of which key is at fault.
    """
    try:
        status, text = path.stat(), path.read_bytes()
    except FileNotFoundError:
        raise SetupError(
            f"there is no file of keys {path}.",
            hint=f"Make it: graph-service keys add NAME --all-graphs --keys {path}",
        ) from None
    except OSError as error:
        raise SetupError(f"can't read the file of keys {path}: {error.strerror}") from error
    if sys.platform != "win32" and status.st_mode & _OTHERS_MAY_WRITE:
        raise SetupError(
            f"users other than its owner may write to {path}, and could add keys.",
            hint=f"chmod 600 {path}",
        )
    try:
        return _decoded(text)
    except InputError as error:
        raise SetupError(
            f"{path} is no file of keys: {error.message}.",
            hint="Mend it, or make the keys anew: graph-service keys add",
        ) from error


def encode_keys(keys: Iterable[Key], /) -> bytes:
    """Returns the content of a file of keys."""
    rows = [
        {
            "name": key.caller.name,
            "hash": _HASHED + key.hash,
            "scope": key.caller.scope.value,
            "graphs": ALL_GRAPHS if key.caller.graphs is None else sorted(key.caller.graphs),
            "rate": key.caller.rate,
            "maxCost": key.caller.max_cost,
            "created": key.created,
            "expires": key.expires or None,
            "note": key.note,
        }
        for key in keys
    ]
    return orjson.dumps({"version": VERSION, "keys": rows}, option=orjson.OPT_INDENT_2) + b"\n"


def add_key(path: Path, key: Key, /) -> None:
    """Adds a key to a file, which is made if need be.

    Raises:
        InputError: A field of the key is at fault, or the file has a key of that name.
        SetupError: The file can't be read or written.
    """
    check_key(key)

    def added(known: tuple[Key, ...]) -> tuple[Key, ...]:
        if any(other.caller.name == key.caller.name for other in known):
            raise InputError(
                f"{path} has a key named {key.caller.name!r}",
                argument="name",
                hint="Choose another name, or revoke that key first.",
            )
        return (*known, key)

    _change(path, added, may_be_new=True)


def revoke_key(path: Path, name: str, /) -> None:
    """Removes a key from a file.

    Raises:
        InputError: The file has no key of that name.
        SetupError: The file can't be read or written.
    """

    def left(known: tuple[Key, ...]) -> tuple[Key, ...]:
        others = tuple(key for key in known if key.caller.name != name)
        if len(others) == len(known):
            raise InputError(
                f"{path} has no key named {name[:100]!r}",
                argument="name",
                hint="graph-service keys list shows those that there are.",
            )
        return others

    _change(path, left)


def _decoded(text: bytes) -> tuple[Key, ...]:
    try:
        content = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise InputError("it is not JSON") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise InputError(f'it has no "version": {VERSION}')
    rows = content.get("keys")
    if not isinstance(rows, list) or len(rows) > MAX_KEYS:
        raise InputError(f'"keys" must be a list of at most {MAX_KEYS}')
    keys = []
    for position, row in enumerate(rows, 1):
        try:
            key = _decoded_key(row)
            check_key(key)
        except GraphServiceError as error:
            raise InputError(f"key {position}: {error.message}") from error
        keys.append(key)
    for what, values in (
        ("name", [key.caller.name for key in keys]),
        ("hash", [key.hash for key in keys]),
    ):
        if len(set(values)) < len(values):
            raise InputError(f"two keys have one {what}")
    return tuple(keys)


def _decoded_key(row: Any) -> Key:
    if not isinstance(row, dict):
        raise InputError("it is no object")
    # A later version may restrict keys in ways that this one does not know.
    unknown = sorted(row.keys() - set(_FIELDS))
    if unknown:
        raise InputError(f"it has an unknown field {unknown[0]!r}")
    hashed = _text(row, "hash")
    digits = hashed.removeprefix(_HASHED)
    if not hashed.startswith(_HASHED) or not _is_sha256(digits):
        raise InputError(f'"hash" must be {_HASHED} and 64 hexadecimal digits')
    scope = _text(row, "scope")
    if scope not in list(Scope):
        raise InputError(f'"scope" must be {", ".join(Scope)}')
    return Key(
        Caller(
            _text(row, "name"),
            Scope(scope),
            _graphs(row.get("graphs")),
            _number(row, "rate"),
            _number(row, "maxCost"),
        ),
        digits,
        _text(row, "created", ""),
        _text(row, "expires", ""),
        _text(row, "note", ""),
    )


def _text(row: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = row.get(name)
    if value is None:
        value = default
    if not isinstance(value, str):
        raise InputError(f'"{name}" must be a text')
    return value


def _number(row: Mapping[str, Any], name: str) -> float | None:
    value = row.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f'"{name}" must be a number')
    return float(value)


def _graphs(value: Any) -> frozenset[str] | None:
    if value == ALL_GRAPHS:
        return None
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise InputError(f'"graphs" must be a list of names, or "{ALL_GRAPHS}" for all')
    return frozenset(value)


def _is_sha256(digits: str) -> bool:
    return len(digits) == 64 and not digits.strip("0123456789abcdef")


def _change(
    path: Path, change: Callable[[tuple[Key, ...]], tuple[Key, ...]], *, may_be_new: bool = False
) -> None:
    """Replaces the keys of a file in one step; one process at a time does."""
    target = path.resolve()
    temporary = target.with_name(f".{target.name}.new")
    descriptor = _made_alone(temporary)
    try:
        # A reader sees the old file or the new one, and the new one is its owner's alone.
        with os.fdopen(descriptor, "wb") as file:
            known = () if may_be_new and not target.exists() else read_keys(path)
            file.write(encode_keys(change(known)))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise SetupError(f"can't write {path}: {error.strerror}") from error
        raise


def _made_alone(path: Path) -> int:
    """Makes a file that must not be there; waits for whoever has it."""
    limit = time.monotonic() + LOCK_S
    while True:
        try:
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            if time.monotonic() >= limit:
                raise SetupError(
                    f"another process is changing the keys: it has made {path}.",
                    hint="If none does, remove that file.",
                ) from None
            time.sleep(0.02)
        except OSError as error:
            raise SetupError(f"can't write {path}: {error.strerror}") from error
