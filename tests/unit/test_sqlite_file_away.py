"""What a store on SQLite says when its file is taken away under it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import StoreUnavailableError
from graph_service.store import open_store


def test_a_file_that_was_moved_or_replaced_is_not_ready_and_not_written(tmp_path: Path) -> None:
    path, away = tmp_path / "a.db", tmp_path / "away.db"
    with open_store(f"sqlite:///{path}") as store:
        store.ping()
        path.rename(away)
        for _ in range(2):
            with raises(StoreUnavailableError):
                store.ping()
            with pytest.raises(StoreUnavailableError), ThreadPoolExecutor(1) as pool:
                pool.submit(store.graphs).result()
            assert not path.exists()
        away.rename(path)
        store.ping()
        with open_store(f"sqlite:///{away}"):
            pass
        away.replace(path)
        with raises(StoreUnavailableError):
            store.ping()
    with open_store(f"sqlite:///{path}") as store:
        store.ping()
