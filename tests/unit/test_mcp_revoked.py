"""Keys that are revoked while a client of the MCP server holds a stream open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from made_keys import made_key
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from waiting import PATIENCE_S

from graph_service.mcp.callers import Keyed
from graph_service.server.key_file import revoke_key
from graph_service.server.keyring import Keyring


async def send_events(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with events until it is stopped."""

    async def events() -> AsyncIterator[bytes]:
        while True:
            yield b": still here\n\n"
            await asyncio.sleep(0.01)

    await StreamingResponse(events(), media_type="text/event-stream")(scope, receive, send)


def scope_of(token: str) -> Scope:
    authorization = (b"authorization", f"Bearer {token}".encode())
    return {
        "type": "http",
        "method": "GET",
        "path": "/mcp",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), authorization],
    }


async def stay_connected() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


def test_an_open_stream_ends_when_its_key_is_revoked(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    tokens = [made_key(keys, name) for name in ("one", "other")]
    app = Keyed(send_events, Keyring(keys), check_s=0.05)

    async def run() -> tuple[list[Message], list[Message]]:
        sent: tuple[list[Message], list[Message]] = ([], [])

        async def read(index: int) -> None:
            async def note(message: Message) -> None:
                sent[index].append(message)

            await app(scope_of(tokens[index]), stay_connected, note)

        first, other = (asyncio.ensure_future(read(index)) for index in range(2))
        while not all(len(messages) > 3 for messages in sent):
            await asyncio.sleep(0.01)
        revoke_key(keys, "one")
        await asyncio.wait_for(first, PATIENCE_S)
        before = len(sent[1])
        while len(sent[1]) <= before:
            await asyncio.sleep(0.01)
        other.cancel()
        await asyncio.wait({other})
        return sent

    revoked, other = asyncio.run(run())
    assert revoked[0]["status"] == 200
    assert revoked[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    assert other[-1]["more_body"]
