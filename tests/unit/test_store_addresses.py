"""Which store each address opens."""

from __future__ import annotations

from typing import Any

import pytest

from graph_service.errors import InputError
from graph_service.store import open_store
from graph_service.store.neo4j import store as neo4j_store


@pytest.mark.parametrize("scheme", ["bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"])
def test_each_scheme_of_the_driver_opens_neo4j(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Any] = []
    monkeypatch.setattr(neo4j_store, "open_neo4j", lambda url, **_: opened.append(url))
    open_store(f"{scheme}://db.example:7687")
    open_store(f"{scheme.upper()}://db.example")
    assert opened == [f"{scheme}://db.example:7687", f"{scheme.upper()}://db.example"]


@pytest.mark.parametrize("url", ["http://db.example", "bolts://db.example", "graph.db", "sqlite:x"])
def test_another_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="expected sqlite:///"):
        open_store(url)
