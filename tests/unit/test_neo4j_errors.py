"""What the driver raises becomes an error that says who can do what, and whether a retry helps."""

from __future__ import annotations

import re
from typing import Any, cast

import numpy as np
import pytest
from error_texts import check_text
from neo4j.exceptions import (
    AuthError,
    Neo4jError,
    ResultFailedError,
    ServiceUnavailable,
    SessionExpired,
)

from graph_service.errors import (
    DeadlineError,
    GraphServiceError,
    SetupError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.store.neo4j import editions
from graph_service.store.neo4j.driver import Connection, _root, map_error
from graph_service.store.neo4j.inspect import inspect_server
from graph_service.store.neo4j.schema import (
    STATEMENTS,
    hex_key,
    key_of_hex,
    relation_iri,
    type_name,
)

URL = "bolt://h:7687"


def of_server(code: str, message: str = "so it says") -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=code, message=message)


@pytest.mark.parametrize(
    ("error", "kind", "retry"),
    [
        (of_server("Neo.ClientError.Transaction.TransactionTimedOut"), DeadlineError, None),
        (of_server("Neo.ClientError.Security.Unauthorized"), StoreUnavailableError, False),
        (
            of_server("Neo.ClientError.Security.AuthenticationRateLimit"),
            StoreUnavailableError,
            True,
        ),
        (AuthError("no"), StoreUnavailableError, False),
        (of_server("Neo.ClientError.Database.DatabaseNotFound"), SetupError, None),
        (of_server("Neo.TransientError.General.OutOfMemoryError"), StoreFullError, True),
        (of_server("Neo.TransientError.General.MemoryPoolOutOfMemoryError"), StoreFullError, True),
        (of_server("Neo.TransientError.Transaction.TransactionMemoryLimit"), StoreFullError, True),
        (of_server("Neo.DatabaseError.General.StackOverFlowError"), StoreFullError, True),
        (of_server("Neo.X", "No space left on device"), StoreFullError, True),
        (of_server("Neo.X", "the disk is full"), StoreFullError, True),
        (of_server("Neo.X", "Java heap space"), StoreFullError, True),
        (of_server("Neo.TransientError.Transaction.DeadlockDetected"), StoreUnavailableError, True),
        (
            ServiceUnavailable("Couldn't connect to h\n(reason [Errno 111] refused)"),
            StoreUnavailableError,
            True,
        ),
        (SessionExpired("gone:"), StoreUnavailableError, True),
        (ConnectionResetError("reset"), StoreUnavailableError, True),
        (of_server("Neo.ClientError.Statement.SyntaxError"), StoreError, False),
    ],
)
def test_an_error_of_the_driver_is_one_of_ours(
    error: Neo4jError, kind: type[GraphServiceError], retry: bool | None
) -> None:
    found = map_error(error, URL, "reading")
    assert type(found) is kind
    check_text(str(found))
    if retry is not None:
        assert found.retryable is retry
    if kind is not StoreError:
        assert found.hint


def test_a_server_that_is_away_is_so_at_the_deadline_too() -> None:
    """Fewer hops would not help."""
    for error in (ServiceUnavailable("gone"), SessionExpired("gone"), OSError("gone"), starting()):
        for deadline in (None, Deadline.none(), Deadline.after(60), Deadline.after(0)):
            mapped = map_error(error, URL, "reading", deadline)
            assert isinstance(mapped, StoreUnavailableError)
            assert "hops" not in str(mapped)


def starting() -> Neo4jError:
    return of_server("Neo.TransientError.General.DatabaseUnavailable")


def test_what_the_server_ends_at_the_deadline_is_the_deadlines() -> None:
    """It gives the transaction up with whatever error it then has."""
    for code in ("TransactionTimedOut", "Terminated", "LockClientStopped"):
        error = of_server(f"Neo.TransientError.Transaction.{code}")
        assert isinstance(map_error(error, URL, "reading", Deadline.after(0)), DeadlineError)
    assert not isinstance(map_error(error, URL, "reading", Deadline.after(60)), DeadlineError)


def test_the_cause_of_a_failed_result_counts() -> None:
    failed = ResultFailedError(None, "the result is out of scope")
    assert _root(failed) is failed
    failed.__cause__ = ConnectionResetError("reset")
    assert _root(failed) is failed.__cause__
    failed.__cause__ = ValueError("ours")
    assert _root(failed) is failed


@pytest.mark.parametrize("most", [1, 2, 3, 5, 7, 100])
def test_portions_hold_each_key_once_and_no_more_than_their_size(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Heads of 1 to 7 statements: whole where they fit, alone and cut where they do not."""
    monkeypatch.setattr(editions, "PORTION", most)
    rows = np.array(
        [(head, 10 * head + place) for head in range(1, 8) for place in range(head)][::-1],
        dtype=[("head", np.int64), ("key", np.int64)],
    )
    seen: list[tuple[int, int]] = []
    sizes = []
    for portion in editions._portions(rows):
        size = 0
        for head, keys in portion:
            whole = [10 * head + place for place in range(head)]
            assert (keys is None) == (head <= most)
            assert keys is None or len(portion) == 1
            seen += [(head, key) for key in (whole if keys is None else keys)]
            size += len(whole if keys is None else keys)
        sizes.append(size)
    assert sorted(seen) == sorted(map(tuple, rows.tolist()))
    assert len(set(seen)) == len(seen)
    assert 0 < min(sizes) <= max(sizes) <= most
    assert list(editions._portions(rows[:0])) == []


@pytest.mark.parametrize(
    ("most", "expected"),
    [
        (6, [[1, 2, 3], [4], [5], [6]]),
        (9, [[1, 2, 3], [4, 5], [6]]),
        (5, [[1, 2], [3], [4], [6], [6], [5]]),
    ],
)
def test_statements_fill_a_portion_to_its_size(
    monkeypatch: pytest.MonkeyPatch, most: int, expected: list[list[int]]
) -> None:
    """Heads of 1 to 6 statements; one that is cut does not wait for those before it."""
    monkeypatch.setattr(editions, "PORTION", most)
    rows = np.array(
        [(head, 10 * head + place) for head in range(1, 7) for place in range(head)],
        dtype=[("head", np.int64), ("key", np.int64)],
    )
    assert [[head for head, _ in portion] for portion in editions._portions(rows)] == expected


@pytest.mark.parametrize(
    ("relation", "name"),
    [
        ("P106", "P106"),
        ("place of birth", "place_of_birth"),
        ("http://dbpedia.org/ontology/birthPlace", "dbo_birthPlace"),
        ("http://example.org/a/b#born", "born"),
        ("http://example.org/a/born/", "born"),
        ("a / b", "a___b"),
        ("a  ----  b", "a___b"),
        ("__a__", "a"),
        ("9 lives", "r_9_lives"),
        ("", "relation"),
        ("//", "relation"),
        ("出生地", "出生地"),
        ("STATEMENT", f"STATEMENT_{hex_key(key64('STATEMENT'))}"),
    ],
)
def test_a_type_reads_like_its_relation(relation: str, name: str) -> None:
    assert type_name(relation) == name
    if relation != "STATEMENT":
        assert type_name(relation, unique=True) == f"{name}_{hex_key(key64(relation))}"


@pytest.mark.parametrize(
    ("relation", "iri"),
    [
        ("P31", "http://www.wikidata.org/entity/P31"),
        ("P0", None),
        ("P031", None),
        ("xP31", None),
        ("P31x", None),
        ("http://example.org/p", "http://example.org/p"),
        ("born in", None),
    ],
)
def test_a_relation_of_the_web_has_an_iri(relation: str, iri: str | None) -> None:
    assert relation_iri(relation) == iri


@pytest.mark.parametrize("key", [-(2**63), -1, 0, 1, 2**63 - 1])
def test_a_key_is_read_from_the_end_of_a_text(key: int) -> None:
    assert len(hex_key(key)) == 16
    assert key_of_hex(f"graph@1:{hex_key(key)}") == key


def test_keys_as_text_are_ordered_as_keys() -> None:
    keys = [-(2**63), -(2**40), -1, 0, 1, 255, 256, 2**63 - 1]
    assert sorted(map(hex_key, keys)) == list(map(hex_key, keys))


@pytest.mark.parametrize(
    ("states", "fault"),
    [
        ({}, ""),
        ({"graph_service_same_as": None}, "graph_service_same_as is missing"),
        ({"graph_service_entity": "POPULATING"}, "graph_service_entity is POPULATING"),
        (
            {"graph_service_page": "FAILED", "graph_service_graph": None},
            "graph_service_graph is missing; graph_service_page is FAILED",
        ),
    ],
)
def test_an_index_that_is_not_online_is_named(states: dict[str, str | None], fault: str) -> None:
    """Each once, in the order in which they are made; those of others are none of ours."""
    names = re.findall(r"graph_service_\w+", " ".join(STATEMENTS))
    held = dict.fromkeys(names, "ONLINE") | states | {"of_another": "FAILED"}

    class Server:
        def read(self, query: str, **_: object) -> list[list[Any]]:
            return [[*one] for one in held.items() if one[1]] if "SHOW INDEXES" in query else []

    (found,) = inspect_server(cast(Connection, Server()))
    assert (found.part, found.fault) == ("database", fault)
