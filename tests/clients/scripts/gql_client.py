"""gql: blocking and asynchronous, with the schema read from the server."""

import asyncio
from typing import Any

from gql import Client, gql
from gql.transport.exceptions import TransportQueryError
from gql.transport.httpx import HTTPXAsyncTransport, HTTPXTransport
from operations import ANSWERED, INVALID, KEY, URL

HEADERS = {"Authorization": f"Bearer {KEY}"}


async def ask_asynchronously() -> None:
    transport = HTTPXAsyncTransport(url=URL, headers=HEADERS)
    async with Client(transport=transport) as session:
        for one in ANSWERED:
            document = gql(one["document"])
            document.variable_values = one["variables"]
            assert await session.execute(document) == one["data"]


def ask() -> None:
    transport = HTTPXTransport(url=URL, headers=HEADERS)
    with Client(transport=transport, fetch_schema_from_transport=True) as session:
        for one in ANSWERED:
            document = gql(one["document"])
            document.variable_values = one["variables"]
            # Checked against the schema that introspection gave.
            assert session.execute(document) == one["data"]
        assert session.client.schema is not None
    with Client(transport=HTTPXTransport(url=URL, headers=HEADERS)) as session:
        found: list[Any] | None = None
        try:
            session.execute(gql(INVALID["document"]))
        except TransportQueryError as error:
            found = error.errors
    assert found is not None
    assert found[0]["extensions"]["code"] == INVALID["code"]


ask()
asyncio.run(ask_asynchronously())
