"""API keys: who may call, what they may do and which graphs exist for them.

Of a token its SHA-256 is kept. A token is 256 random bits, so that nobody can guess it from its
hash: a slow hash or a salt, as passwords need them, would add nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from graph_service.api.scopes import Scope
from graph_service.errors import InputError
from graph_service.store.names import require_graph_name

PREFIX = "gskey_"
"""Begins each token, so that people and scanners of secrets know one when they see it."""
MAX_NOTE = 1_000


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose request it is, and what they may do.

    Attributes:
        name: Of the key; "" for who has none of their own.
        scope: What they may do.
        graphs: The graphs that exist for them; None for all.
        rate: Cost that comes back to them in a second, 0 for no limit; None for the server's.
        max_cost: What one operation of theirs may cost; None for the server's.
    """

    name: str = ""
    scope: Scope = Scope.ADMIN
    graphs: frozenset[str] | None = None
    rate: float | None = None
    max_cost: float | None = None


OPERATOR = Caller()
"""Who has the server's one key, or calls a server that asks for none."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key, without its token.

    Attributes:
        caller: Who has it; its name is the key's.
        hash: SHA-256 of the token, 64 hexadecimal digits.
        created: ISO 8601, UTC.
        expires: When it ends, ISO 8601 with an offset; "" for never.
        note: What the operator wants to remember.
    """

    caller: Caller
    hash: str
    created: str
    expires: str = ""
    note: str = ""

    def has_expired(self, now_s: float, /) -> bool:
        """Returns whether it has ended at a time, in seconds since 1970."""
        return bool(self.expires) and now_s >= read_moment(self.expires).timestamp()


def make_token() -> str:
    """Returns a new random token for a key."""
    return PREFIX + secrets.token_hex(32)


def token_hash(token: bytes, /) -> str:
    """Returns what a file keeps of a token."""
    return hashlib.sha256(token).hexdigest()


def read_moment(text: str, /) -> datetime:
    """Returns a date, or a date and time, in UTC where it names no offset.

    Raises:
        InputError: It is neither.

    >>> read_moment("2027-01-31").isoformat()
    '2027-01-31T00:00:00+00:00'
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InputError(
            f"a date is written 2027-01-31, or 2027-01-31T12:00:00Z; got {text[:100]!r}",
            argument="expires",
        ) from None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def check_key(key: Key, /) -> None:
    """Raises ``InputError`` where a field of a key can't be what it is."""
    caller = key.caller
    if not 0 < len(caller.name) <= 100 or not caller.name.isprintable() or " " in caller.name:
        raise InputError(
            f"a key's name has 1 to 100 characters and no space, got {caller.name[:120]!r}",
            argument="name",
        )
    for name in caller.graphs or ():
        require_graph_name(name)
    for argument, value, least in (("rate", caller.rate, 0), ("max_cost", caller.max_cost, 1)):
        if value is not None and not least <= value <= 1e6:
            raise InputError(
                f"{argument} must be {least} to 1,000,000, got {value}", argument=argument
            )
    if key.expires:
        read_moment(key.expires)
    if len(key.note) > MAX_NOTE:
        raise InputError(f"a note has at most {MAX_NOTE} characters", argument="note")
