"""What ``verify`` says of loads that go on while Neo4j is read."""

from __future__ import annotations

import re
from typing import Any, cast

import pytest

from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.inspect import inspect_server
from graph_service.store.neo4j.schema import STATEMENTS

INDEXES = [[name, "ONLINE"] for name in re.findall(r"graph_service_\w+", " ".join(STATEMENTS))]
NONE = [[None, None, None, None]]


class Reads:
    """A connection that lists the indexes, then gives one list of loads after the other."""

    def __init__(self, *loads: list[Any]) -> None:
        self.answers = [INDEXES, *loads]

    def read(self, _query: str, /, *, what: str) -> list[Any]:
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("later", "faults"),
    [
        # Its batch was committed, or it ended, or it had begun anew while the first query ran.
        ([["g@1", 0, NONE]], []),
        ([], []),
        ([["g@1", 2, NONE]], []),
        ([["g@1", 1, NONE]], ["it has batches [] of 1"]),
    ],
)
def test_a_journal_is_broken_if_two_queries_say_so(later: list[Any], faults: list[str]) -> None:
    connection = Reads([["g@1", 1, NONE]], later)
    found = list(inspect_server(cast("Connection", connection)))
    assert [item.fault for item in found if item.fault] == faults
