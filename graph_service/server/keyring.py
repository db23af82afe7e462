"""Who may call a server, by the key that a request has."""

from __future__ import annotations

import hmac
import logging
import secrets
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from graph_service.errors import SetupError
from graph_service.server.key_file import read_keys
from graph_service.server.keys import OPERATOR, Caller, Key, token_hash

log = logging.getLogger("graph_service.keys")


class Keyring:
    """Who may call a server: those with a key of a file, and who has the server's one key.

    A key that is added to the file or revoked counts from the next request on. A file that can't be
    read any more leaves the keys as they were, and the log says so: one slip of an editor must
    not lock everybody out, and no slip lets anybody in who was not.

    Args:
        path: Of the file; None for none.
        api_key: The server's one key, which may do everything; "" for none.

    Raises:
        SetupError: The file can't be read, or holds something else.
    """

    def __init__(self, path: Path | None = None, /, *, api_key: str = "") -> None:
        self._path = path
        self._api_key = token_hash(api_key.encode()) if api_key else ""
        # Look-ups are by a hash that nobody outside can compute, so that the time that one takes
        # says nothing of the hashes that are kept.
        self._secret = secrets.token_bytes(32)
        self._seen: tuple[int, ...] = ()
        self._by_mark: Mapping[bytes, Key] = {}
        self._by_name: Mapping[str, Key] = {}
        if path is not None:
            self._seen = _state(path)
            self._take(read_keys(path))
        else:
            self._take(())

    @property
    def asks(self) -> bool:
        """Whether callers need a key."""
        return self._path is not None or bool(self._api_key)

    def find(self, tokens: Iterable[bytes], /) -> Caller | None:
        """Returns who has one of the tokens that a request came with; None for nobody.

        A look-up takes as long whatever the token and however many keys there are.
        """
        if not self.asks:
            return OPERATOR
        self._look()
        marks = [self._mark(token_hash(token)) for token in tokens]
        matches = [key for mark in marks if (key := self._by_mark.get(mark)) is not None]
        return next((key.caller for key in matches if not key.has_expired(time.time())), None)

    def named(self, name: str, /) -> Caller | None:
        """Returns who has the key of a name now; None where it was revoked or has expired."""
        self._look()
        key = self._by_name.get(name)
        return None if key is None or key.has_expired(time.time()) else key.caller

    def _mark(self, hashed: str) -> bytes:
        return hmac.digest(self._secret, hashed.encode(), "sha256")

    def _take(self, keys: Iterable[Key]) -> None:
        known = list(keys)
        if self._api_key:
            known.append(Key(OPERATOR, self._api_key, ""))
        self._by_name = {key.caller.name: key for key in known}
        self._by_mark = {self._mark(key.hash): key for key in known}

    def _look(self) -> None:
        """Reads the file again if it has changed."""
        if self._path is None:
            return
        state = _state(self._path)
        if state == self._seen:
            return
        # Also where it can't be read: the log says it once for each state of the file.
        self._seen = state
        try:
            self._take(read_keys(self._path))
        except SetupError as error:
            log.error("the keys stay as they were: %s", error)


def _state(path: Path) -> tuple[int, ...]:
    """Returns what tells one state of a file from the next; nothing where it can't be reached."""
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode)
