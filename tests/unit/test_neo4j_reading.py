"""Whole editions read from Neo4j in portions, and waiting for its indexes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import neo4j
import numpy as np
import pytest
from error_texts import raises

from graph_service.errors import GraphNotFoundError, StoreError
from graph_service.store.neo4j import editions, migration
from graph_service.store.neo4j.driver import Connection
from graph_service.store.neo4j.editions import read_entity_rows, read_statement_rows
from graph_service.store.neo4j.journal import ENTITY_ROW, STATEMENT_ROW

T = TypeVar("T")


class Pages:
    """Answers for pages by key, and for editions that are there, as the queries ask for them.

    Args:
        pages: Of all editions.
        editions: That are there; a set that shrinks while pages are read.
    """

    def __init__(self, pages: dict[str, bytes], editions: set[str]) -> None:
        self.pages = pages
        self.editions = editions
        self.sizes: list[int] = []

    def transaction(self, work: Callable[[neo4j.Transaction], T], *, access: str, what: str) -> T:
        return work(cast("neo4j.Transaction", self))

    def run(self, query: str, parameters: dict[str, Any]) -> Pages:
        self._query, self._parameters = query, parameters
        return self

    def values(self) -> list[list[Any]]:
        if "GraphEdition" in self._query:
            return [["published"]] if self._parameters["id"] in self.editions else []
        after, end, limit = (self._parameters[name] for name in ("after", "end", "limit"))
        found = [[key, self.pages[key]] for key in sorted(self.pages) if after < key < end][:limit]
        self.sizes.append(len(found))
        return found


def page_of(keys: list[int], dtype: np.dtype[Any]) -> bytes:
    rows = np.zeros(len(keys), dtype=dtype)
    rows["key"] = keys
    return rows.tobytes()


@pytest.mark.parametrize(("count", "sizes"), [(0, [0]), (2, [2, 0]), (3, [2, 1])])
def test_rows_are_read_some_pages_at_a_time(
    count: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(editions, "PAGES_AT_ONCE", 2)
    pages = Pages({
        **{
            f"demo@7:s{number:08x}": page_of([2 * number, 2 * number + 1], STATEMENT_ROW)
            for number in range(count)
        },
        "demo@7:e00000000": page_of([5], ENTITY_ROW),
        "demo@70:s00000000": page_of([9], STATEMENT_ROW),
        "demo@6:s00000000": page_of([8], STATEMENT_ROW),
    }, {"demo@7"})  # fmt: skip
    connection = cast("Connection", pages)
    assert read_statement_rows(connection, "demo@7")["key"].tolist() == list(range(2 * count))
    assert pages.sizes == sizes
    assert read_entity_rows(connection, "demo@7")["key"].tolist() == [5]


def test_an_edition_that_is_dropped_meanwhile_is_not_read_in_part() -> None:
    pages = Pages({"demo@7:s00000000": page_of([1], STATEMENT_ROW)}, {"demo@8"})
    with pytest.raises(GraphNotFoundError, match="demo@7"):
        read_statement_rows(cast("Connection", pages), "demo@7")


class Indexes:
    """Says of the indexes what is due."""

    url = "bolt://here"

    def __init__(self, *answers: list[list[str]]) -> None:
        self.answers = list(answers)

    def write(self, query: str, *, what: str) -> list[list[str]]:
        assert "STARTS WITH 'graph_service'" in query, "others' indexes do not count"
        return self.answers.pop(0)


def test_indexes_are_waited_for_until_all_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    making = [["search", "POPULATING"]]
    indexes = Indexes(*[making] * 400, [])
    migration._await_indexes(cast("Connection", indexes))
    assert indexes.answers == []
    assert len(waits) == 400
    assert waits[0] < waits[-1] <= 2.0


def test_an_index_that_cannot_be_made_is_told() -> None:
    indexes = Indexes([["search", "FAILED"], ["other", "POPULATING"]])
    with raises(StoreError):
        migration._await_indexes(cast("Connection", indexes))
