"""keys."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

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
    output.line(token)
    output.object({"name": options.name, "token": token, "file": str(path)})
    return 0


def list_(options: KeyFileOptions, output: Output, /) -> int:
    """Prints the keys of a file, without what would let anybody in."""
    keys = read_keys(_file(options))
    rows = [("name", "scope", "graphs", "rate", "max cost", "created", "expires", "note")]
    rows += [
        (
            key.caller.name,
            key.caller.scope.value,
            ALL_GRAPHS if key.caller.graphs is None else " ".join(sorted(key.caller.graphs)),
            _shown(key.caller.rate),
            _shown(key.caller.max_cost),
            key.created,
            key.expires or "-",
            key.note,
        )
        for key in keys
    ]
    output.table(rows)
    fields = [
        {
            "name": key.caller.name,
            "scope": key.caller.scope.value,
            "graphs": None if key.caller.graphs is None else sorted(key.caller.graphs),
            "rate": key.caller.rate,
            "max_cost": key.caller.max_cost,
            "created": key.created,
            "expires": key.expires or None,
            "note": key.note,
        }
        for key in keys
    ]
    output.object({"keys": fields})
    return 0


def revoke(options: RevokeKeyOptions, output: Output, /) -> int:
    """Removes a key from a file."""
    revoke_key(_file(options), options.name)
    output.line(f"revoked {options.name}")
    output.object({"revoked": options.name})
    return 0


def _file(options: KeyFileOptions) -> Path:
    name = options.keys or read_settings().keys
    if not name:
        raise InputError(
            "say which file has the keys: --keys FILE, or GRAPH_SERVICE_KEYS", argument="keys"
        )
    return Path(name)


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:g}"
