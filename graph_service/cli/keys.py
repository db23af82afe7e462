"""The verb ``keys`` of the command line."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from graph_service.api.scopes import Scope
from graph_service.cli.keys_options import AddKeyOptions, KeyFileOptions, RevokeKeyOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError
from graph_service.server.key_file import ALL_GRAPHS, add_key, read_keys, revoke_key
from graph_service.server.keys import Caller, Key, make_token, token_hash
from graph_service.settings import read_settings


def add(options: AddKeyOptions, output: Output, /) -> int:
    """Makes a key and prints its token; the file keeps the token's hash alone."""
    if bool(options.graphs) == options.all_graphs:
        raise InputError(
            "say which graphs the key may see: --graph NAME, or --all-graphs", argument="graphs"
        )
    token = make_token()
    caller = Caller(
        options.name,
        Scope(options.scope),
        None if options.all_graphs else frozenset(options.graphs),
        options.rate,
        options.max_cost,
    )
    created = datetime.now(UTC).isoformat(timespec="seconds")
    path = _file(options)
    add_key(path, Key(caller, token_hash(token.encode()), created, options.expires, options.note))
    output.note(f"key {options.name} is in {path}; its token is shown this once:")
    output.show({"name": options.name, "token": token, "file": str(path)}, token)
    return 0


def list_(options: KeyFileOptions, output: Output, /) -> int:
    """Prints the keys of a file, without what would let anybody in."""
    keys = [_fields(key) for key in read_keys(_file(options))]
    names = ("name", "scope", "graphs", "rate", "max_cost", "created", "expires", "note")
    output.object({"keys": keys})
    head = [name.replace("_", " ") for name in names]
    output.table([head, *([_shown(name, key[name]) for name in names] for key in keys)])
    return 0


def revoke(options: RevokeKeyOptions, output: Output, /) -> int:
    """Removes a key from a file."""
    revoke_key(_file(options), options.name)
    output.show({"revoked": options.name}, f"revoked {options.name}")
    return 0


def _file(options: KeyFileOptions) -> Path:
    name = options.keys or read_settings().keys
    if not name:
        raise InputError(
            "say which file has the keys: --keys FILE, or GRAPH_SERVICE_KEYS", argument="keys"
        )
    return Path(name)


def _fields(key: Key) -> dict[str, Any]:
    """Returns what may be shown of a key."""
    caller = key.caller
    return {
        "name": caller.name,
        "scope": caller.scope.value,
        "graphs": None if caller.graphs is None else sorted(caller.graphs),
        "rate": caller.rate,
        "max_cost": caller.max_cost,
        "created": key.created,
        "expires": key.expires or None,
        "note": key.note,
    }


def _shown(name: str, value: Any) -> str:
    """Returns the cell of a field of a key."""
    if name == "graphs":
        return ALL_GRAPHS if value is None else " ".join(value)
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, int | float) else str(value)
