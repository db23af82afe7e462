"""Replies kept in a file of JSON lines, keyed by the whole request, and given again."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Unpack

import orjson

from graph_service.errors import InputError
from graph_service.model.serialise import from_plain, to_plain
from queries.llm.chat import ChatModel, ChatOptions, Message, Reply
from queries.llm.request import ChatRequest


class RecordedChat:
    """Replies from a file of JSON lines; opened by ``open_recorded``.

    Without a model behind it, a request that was not recorded is an error; with one, its reply
    is asked for once and written down before it is returned.
    """

    def __init__(
        self, path: Path, name: str, replies: dict[str, Reply], /, *, inner: ChatModel | None
    ) -> None:
        self._path = path
        self._name = name
        self._replies = replies
        self._inner = inner
        self._lock = threading.Lock()
        self.sent = 0

    @property
    def name(self) -> str:
        """The model whose replies these are."""
        return self._name

    def __len__(self) -> int:
        return len(self._replies)

    def complete(self, messages: Sequence[Message], /, **options: Unpack[ChatOptions]) -> Reply:
        """Returns the recorded reply; see ``ChatModel.complete``.

        Raises:
            InputError: It was not recorded, and no model stands behind the file.
        """
        request = ChatRequest.of(self._name, messages, **options)
        key = request.key()
        with self._lock:
            outcome = self._replies.get(key)
        if outcome is not None:
            return outcome
        if self._inner is None:
            last = messages[-1].content if messages else ""
            raise InputError(
                f"{self._path.name} holds no reply of {self._name} to this request "
                f"(key {key}, which ends {last[-80:]!r}); the prompt, the model or the "
                "knowledge has changed since it was recorded",
                argument="recorded",
                hint="Record it again with an endpoint.",
            )
        reply = self._inner.complete(messages, **options)
        line = orjson.dumps({"key": key, "request": to_plain(request), "reply": to_plain(reply)})
        with self._lock:
            self.sent += 1
            self._replies[key] = reply
            with self._path.open("ab") as file:
                file.write(line + b"\n")
                file.flush()
                os.fsync(file.fileno())
        return reply


@contextlib.contextmanager
def open_recorded(
    path: str | Path,
    /,
    *,
    model_name: str | None = None,
    inner: ChatModel | None = None,
) -> Iterator[RecordedChat]:
    """Opens a file of recorded replies.

    A last line that was cut by a crash is left out, and cut off before anything is appended.

    Args:
        path: The file; made on the first reply where a model stands behind it.
        model_name: Whose replies to give, where the file holds several models' and there is
            no ``inner``.
        inner: The model to ask for what is not recorded.

    Raises:
        InputError: There is no such file, a line is damaged, or it is unclear whose replies
            are meant.
    """
    file = Path(path)
    replies: dict[str, Reply] = {}
    names: set[str] = set()
    if file.exists():
        data = file.read_bytes()
        size = data.rfind(b"\n") + 1
        for index, line in enumerate(data[:size].splitlines(), 1):
            if not line.strip():
                continue
            try:
                row = orjson.loads(line)
                replies[str(row["key"])] = from_plain(Reply, row["reply"])
                names.add(str(row["request"]["model"]))
            except (orjson.JSONDecodeError, KeyError, TypeError, InputError) as error:
                raise InputError(
                    f"{file.name}, line {index}: expected a recorded reply "
                    f'{{"key", "request", "reply"}}, got {line[:80]!r}',
                    argument="recorded",
                ) from error
        if size < len(data) and inner is not None:
            with file.open("r+b") as opened:
                opened.truncate(size)
    elif inner is None:
        raise InputError(f"there is no file of recorded replies at {file}", argument="recorded")
    if inner is not None:
        name = inner.name
    elif model_name is not None:
        name = model_name
    elif len(names) == 1:
        name = next(iter(names))
    else:
        listed = ", ".join(sorted(names)) or "none"
        raise InputError(
            f"{file.name} holds replies of these models: {listed}; say which is meant",
            argument="model_name",
        )
    yield RecordedChat(file, name, replies, inner=inner)
