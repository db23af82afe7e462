"""Keys of a file, made for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graph_service.api.scopes import Scope
from graph_service.server.key_file import add_key
from graph_service.server.keys import Caller, Key, make_token, token_hash


def made_key(path: Path, name: str = "alice", **fields: Any) -> str:
    """Adds a key to a file and returns its token; fields are of ``Caller`` and of ``Key``."""
    own = {field: fields.pop(field) for field in ("expires", "note") if field in fields}
    token = make_token()
    caller = Caller(name, **{"scope": Scope.READ, **fields})
    add_key(path, Key(caller, token_hash(token.encode()), "2026-11-22T00:00:00+00:00", **own))
    return token
