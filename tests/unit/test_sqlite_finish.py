"""The end of a load into the SQLite file, by other processes and without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from graph_service import worker_pool
from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import Entity, make_statement
from graph_service.model.values import EntityValue
from graph_service.store import open_store
from graph_service.store.protocol import Batch
from graph_service.store.sqlite import finish as sqlite_finish
from graph_service.store.sqlite.names import names_of_rows

BATCH = Batch(
    entities=[
        Entity(
            f"Q{n}",
            labels={"en": f"Name {n % 40}", "zh": "北京"},
            aliases={"en": (f"Other {n}",)},
            same_as=(f"http://dbpedia.org/resource/{n}",),
        )
        for n in range(100)
    ],
    statements=[make_statement(f"Q{n}", "P1", EntityValue(f"Q{3 * n}")) for n in range(100)],
)


def finished(path: Path) -> tuple[GraphInfo, list[str], list[int]]:
    with open_store(f"sqlite:///{path}") as store:
        with store.begin_load("g", owner="a", source="s", replace=True) as session:
            session.write(BATCH)
            session.finish()
            info = session.publish()
        found = [hit.entity.id for hit in store.search(info.edition, "name 7", limit=50)]
        names = store.snapshot(info).names.name_keys.tolist()
    return info, found, names


def test_names_are_the_same_however_many_processes_index_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = finished(tmp_path / "alone.db")
    assert alone[1]
    monkeypatch.setattr(sqlite_finish, "WORTHWHILE_ENTITIES", 1)
    monkeypatch.setattr(sqlite_finish, "NAME_ROWS", 7)
    monkeypatch.setattr(sqlite_finish, "default_worker_count", lambda: 2)
    several = finished(tmp_path / "several.db")
    assert several[0].fingerprints == alone[0].fingerprints
    assert several[0].counts == alone[0].counts
    assert several[1:] == alone[1:]

    real, left = worker_pool._receive, [3]

    def dying(pipe: Any) -> bytes:
        left[0] -= 1
        if left[0] < 0:
            raise EOFError
        return real(pipe)

    monkeypatch.setattr(worker_pool, "_receive", dying)
    died = finished(tmp_path / "died.db")
    assert died[0].fingerprints == alone[0].fingerprints
    assert died[1:] == alone[1:]


def test_nothing_is_indexed_of_nothing() -> None:
    empty = names_of_rows([])
    assert (empty.entities, empty.texts, empty.longest) == (0, [], 0)
