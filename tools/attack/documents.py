"""Attacks by documents: what is costly to read, and what the schema's grammar can produce."""

from __future__ import annotations

import json
import random
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from server_process import answer_of

from tools.attack.drawing import draw_documents
from tools.attack.target import HEAD, PATIENCE_S, TRIVIAL, Target, code_of


def doubling(count: int) -> str:
    """Returns fragments of which each stands twice in the one before."""
    chain = [f"fragment F{i} on Query{{...F{i + 1} ...F{i + 1}}}" for i in range(count)]
    return (
        "query{...F0} "
        + " ".join(chain)
        + f" fragment F{count} on Query{{graphs{{nodes{{name}}}}}}"
    )


def fragments_that_double(target: Target) -> str:
    """Eight clients, each with 1.1 KB."""
    with ThreadPoolExecutor(8) as pool:
        responses = list(pool.map(lambda _: target.post({"query": doubling(30)}), range(8)))
    codes = {code_of(response) for response in responses}
    assert codes == {"LIMIT_EXCEEDED"}, codes
    return f"8 x {codes.pop()}, {target.wait_of_others(40)}"


def documents_that_cost(target: Target) -> str:
    """Fields of one name, empty lines, comments, unknown fields, directives, operations."""
    documents = [
        "{" + "graphs{nodes{name}} " * 740 + "}",
        "{graphs{" + "name " * 2900 + "}}",
        "\n" * 95_000 + "{" + " ".join(f"views(first:{i}){{totalCount}}" for i in range(230)) + "}",
        "\n" * 9_900 + "{" + " ".join(f"graph{i}" for i in range(2900)) + "}",
        '{triplets(input:{question:"a" ' + " ".join(f"x{i}:1" for i in range(950)) + "}){id}}",
        "#\n" * 490_000 + TRIVIAL["query"],
        "{graphs{name" + "@inclde" * 1400 + "}}",
        "".join(f"query a{i}{{__typename}}" for i in range(590)),
        "query(" + "".join(f"$a{i}:Int " for i in range(700)) + "){graphs{nodes{name}}}",
        '{items(itemIds:["' + "\\u00e9" * 15_000 + '"]){id}}',
        "{a" * 1400 + "}" * 1400,
        "{items(itemIds:" + "[" * 1400 + "]" * 1400 + "){id}}",
        "{" + " ".join(f"a{i}:__schema{{types{{fields{{name type{{name}}}}}}}}" for i in range(29))
        + "}",
    ]  # fmt: skip
    documents += [_random_document(target.random) for _ in range(60)]
    slowest = 0.0
    for document in documents:
        began = time.monotonic()
        response = target.post({"query": document})
        slowest = max(slowest, time.monotonic() - began)
        assert response.status_code in (200, 413), response.text[:200]
        assert code_of(response) != "INTERNAL", document[:200]
    return f"{len(documents)} documents, {target.judge('the slowest', slowest, 100)}"


def _random_document(generator: random.Random) -> str:
    """Returns fragments that spread each other, fields and inline fragments at random."""
    count = generator.randint(1, 120)

    def selections(first: int) -> str:
        parts = []
        for _ in range(generator.randint(1, 12)):
            kind = generator.random()
            if kind < 0.6 and first < count:
                parts.append(f"...F{generator.randint(first, count - 1)}")
            elif kind < 0.8:
                parts.append("...on Query{graphs{nodes{name edition}}}")
            else:
                parts.append(f"views(first:{generator.randint(1, 3)}){{totalCount}}")
        return " ".join(parts)

    body = " ".join(f"fragment F{i} on Query{{{selections(i + 1)}}}" for i in range(count))
    return f"{{{selections(0)}}} {body}"


def variables_and_bodies(target: Target) -> str:
    """Nested JSON, long lists, long numbers, a body too large."""
    ids = "query($i: [ID!]!) { items(itemIds: $i) { id } }"
    bodies: list[tuple[bytes, int]] = [
        (b'{"query":' + b"[" * 200_000, 400),
        (json.dumps({"query": ids, "variables": {"i": [""] * 190_000}}).encode(), 200),
        (json.dumps({"query": ids, "variables": {"i": "a" * 990_000}}).encode(), 200),
        (b'{"query":"{graphs{nodes{name}}}","variables":{"a":' + b"9" * 900_000 + b"}}", 200),
        (b'{"query":"{graphs{nodes{name}}}","variables":{"a":"' + b"a" * 1_100_000 + b'"}}', 413),
    ]
    for body, status in bodies:
        response = target.post(body)
        assert response.status_code in (status, 400), (response.status_code, body[:60])
        assert not response.json().get("errors") or code_of(response) != "INTERNAL", body[:60]
    return f"{len(bodies)} bodies answered"


def fuzzed_documents(target: Target) -> str:
    """Valid documents drawn from the schema, at a fixed random seed."""
    codes: dict[str, int] = {}
    for document in draw_documents(target.random, target.examples):
        response = target.post({"query": document})
        assert response.status_code in (200, 413), response.text[:200]
        errors = response.json().get("errors", ())
        drawn = {error["extensions"]["code"] for error in errors} or {"data"}
        assert "INTERNAL" not in drawn, document[:1_000]
        for code in drawn:
            codes[code] = codes.get(code, 0) + 1
    assert codes.get("data", 0) > 0, codes
    return ", ".join(f"{count} x {code}" for code, count in sorted(codes.items()))


def fuzzed_bytes(target: Target) -> str:
    """A good request with bytes changed, cut and repeated."""
    content = json.dumps(TRIVIAL).encode()
    good = HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content
    statuses: dict[str, int] = {}
    for _ in range(target.examples * 2):
        changed = bytearray(good)
        for _ in range(target.random.randint(1, 6)):
            offset = target.random.randrange(len(changed))
            changed[offset : offset + target.random.randint(0, 3)] = target.random.randbytes(
                target.random.randint(0, 3)
            )
        with target.server.connect() as connection:
            with suppress(OSError):
                connection.sendall(bytes(changed))
                connection.shutdown(socket.SHUT_WR)
            answer = answer_of(connection, PATIENCE_S)
        status = answer[9:12].decode() if answer else "closed"
        assert not status.startswith("5") or status == "501", (status, bytes(changed))
        statuses[status] = statuses.get(status, 0) + 1
    return ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
