"""Journal rows in a file: the pages are those of all rows sorted in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graph_service.store.neo4j import journal_file
from graph_service.store.neo4j.journal import ENTITY_ROW, Rows, page_bits, pages
from graph_service.store.neo4j.journal_file import JournalFile


def rows_of(count: int, seed: int) -> Rows:
    """Rows of distinct keys, the least and the largest one among them, in no order."""
    generator = np.random.Generator(np.random.PCG64(seed))
    keys = np.unique(generator.integers(-(2**63), 2**63, count, dtype=np.int64))
    keys[:1], keys[-1:] = -(2**63), 2**63 - 1
    rows = np.zeros(len(keys), dtype=ENTITY_ROW)
    rows["key"] = generator.permutation(keys)
    rows["bare"] = np.arange(len(keys)) % 5
    return rows


@pytest.mark.parametrize("count", [0, 1, 999, 1_000, 1_024, 1_025, 9_000, 50_000])
@pytest.mark.parametrize("block_page_bits", [0, 2, 8])
def test_pages_are_those_of_all_rows_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, block_page_bits: int
) -> None:
    """Of runs, blocks and pages any may be the larger."""
    monkeypatch.setattr(journal_file, "RUN_ROWS", 1_000)
    monkeypatch.setattr(journal_file, "BLOCK_PAGE_BITS", block_page_bits)
    rows = rows_of(count, seed=count)
    file = JournalFile(tmp_path, ENTITY_ROW)
    for start in range(0, count, 300):
        file.add(rows[start : start + 300])
    assert len(file) == count
    wanted = list(pages(rows[np.argsort(rows["key"])], page_bits(count)))
    found = list(file.pages())
    file.close()
    assert [number for number, _ in found] == [number for number, _ in wanted]
    for (_, one), (_, other) in zip(found, wanted, strict=True):
        assert one.tobytes() == other.tobytes()
    assert list(tmp_path.iterdir()) == []


def test_rows_that_come_in_order_are_read_back(tmp_path: Path) -> None:
    """As entities do. They are read back in two blocks."""
    rows = np.sort(rows_of(300_000, seed=1), order="key")
    file = JournalFile(tmp_path, ENTITY_ROW)
    file.add(rows[:200_000])
    file.add(rows[200_000:])
    assert np.concatenate([page for _, page in file.pages()]).tobytes() == rows.tobytes()
    file.close()
