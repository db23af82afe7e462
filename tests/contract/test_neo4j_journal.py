"""The arithmetic of a load into Neo4j, against the same done one statement at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service.store.neo4j import journal
from graph_service.store.neo4j.journal import (
    CREATED,
    DOCUMENT_ROW,
    ENTITY_ROW,
    LITERAL,
    STATEMENT_ROW,
    JournalBatch,
    key_page,
    merge,
    page_bits,
    pages,
    to_delete_by_head,
)

Given = list[tuple[int, int, int]]  # key, head, content
Base = dict[int, tuple[int, int]]


def _batch(number: int, rows: Given, documents: set[int], base: Base) -> JournalBatch:
    statements = np.zeros(len(rows), dtype=STATEMENT_ROW)
    first: dict[tuple[int, int], int] = {}
    for place, (key, head, _) in enumerate(rows):
        first.setdefault((key, head), place)
    for place, (key, head, content) in enumerate(rows):
        statements[place]["key"] = statements[place]["tail"] = key
        statements[place]["head"] = head
        # As in a store, the content of a statement has its head in it.
        statements[place]["content"] = content, head
        made = number == 0 or (first[key, head] == place and base.get(key) != (head, content))
        statements[place]["flags"] = LITERAL | (CREATED if made else 0)
    of_documents = np.zeros(len(documents), dtype=DOCUMENT_ROW)
    of_documents["head"], of_documents["whole"] = sorted(documents), 1
    lines = np.arange(1, len(rows) + 1, dtype=np.int64)
    return JournalBatch(number, statements, np.zeros(0, dtype=ENTITY_ROW), of_documents, lines)


_ROWS = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 2), st.integers(0, 2)), max_size=8)


@given(
    base=st.dictionaries(st.integers(-4, 4), st.tuples(st.integers(0, 2), st.integers(0, 2))),
    loads=st.lists(st.tuples(_ROWS, st.sets(st.integers(0, 2))), max_size=4),
)
def test_settling_equals_one_at_a_time(
    base: dict[int, tuple[int, int]], loads: list[tuple[Given, set[int]]]
) -> None:
    """K6: what stays, what goes and the counts; and the relationships that carry what stays."""
    rows = [(key, head, content) for key, (head, content) in base.items()]
    batches = [_batch(0, rows, set(), {})]
    batches += [_batch(i, *load, base) for i, load in enumerate(loads, 1)]
    settled = merge(batches[::-1])

    first: dict[int, int] = {}
    last: dict[int, int] = {}
    came: dict[int, list[tuple[int, int, int, int]]] = {}
    for key, head, content in rows:
        came.setdefault(key, []).append((head, content, 0, 0))
    for number, (given_rows, heads) in enumerate(loads, 1):
        last.update(dict.fromkeys(heads, number))
        first = dict.fromkeys(heads, number) | first
        for line, (key, head, content) in enumerate(given_rows, 1):
            came.setdefault(key, []).append((head, content, number, line))
    stays: dict[int, tuple[int, int, int, int]] = {}
    rivals = set()
    updated = duplicates = removed = 0
    for key, of_key in came.items():
        live = [row for row in of_key if row[2] >= last.get(row[0], 0)]
        own = [row for row in live if row[2] > 0]
        kept = [*own, *live, of_key[-1]][0]
        if live:
            stays[key] = kept
        else:
            removed += 1
        for row in of_key:
            head, content, number, line = row
            if row == kept:
                continue
            replaced = row not in live and number >= first[head]
            if (head, content) == kept[:2]:
                duplicates += 1
            elif own and number and not replaced:
                rivals.add((key, number, line, kept[2], kept[3]))
            else:
                updated += 1

    assert settled.statements["key"].tolist() == sorted(stays)
    assert settled.statements["content"][:, 0].tolist() == [stays[k][1] for k in sorted(stays)]
    assert (settled.updated, settled.duplicates, settled.removed) == (updated, duplicates, removed)
    counts = settled.load_counts(7, 5)
    came_in = sum(len(r) for r, _ in loads)
    assert counts.written == came_in - updated - duplicates - len(rivals)
    assert (counts.outdated, counts.conflicting) == (7, 5 + len(rivals))
    found = settled.conflicts
    columns = (found.key, found.batch, found.line, found.stored_batch, found.stored_line)
    assert set(zip(*(column.tolist() for column in columns), strict=True)) == rivals

    there = {
        (int(row["key"]), int(row["head"]), batch.number): int(row["content"][0])
        for batch in batches
        for row in batch.statements
        if row["flags"] & CREATED
    }
    for head, pairs in to_delete_by_head(settled).items():
        for key, number in pairs:
            del there[key, head, number]
    assert {key: (head, content) for (key, head, _), content in there.items()} == {
        key: value[:2] for key, value in stays.items()
    }
    assert len(there) == len(stays)


def test_an_entity_only_mentioned_goes_with_its_last_statement() -> None:
    statements = np.zeros(1, dtype=STATEMENT_ROW)
    statements["key"], statements["head"], statements["tail"], statements["flags"] = (
        9,
        1,
        2,
        CREATED,
    )
    entities = np.zeros(3, dtype=ENTITY_ROW)
    entities["key"], entities["bare"] = [1, 2, 3], [0, 1, 0]
    documents = np.zeros(1, dtype=DOCUMENT_ROW)
    documents["head"] = documents["whole"] = 1
    lines = np.zeros(0, dtype=np.int64)
    none = np.zeros(0, dtype=STATEMENT_ROW)
    settled = merge(
        [
            JournalBatch(1, statements, entities, documents[:0], lines),
            JournalBatch(2, none, entities[:0], documents, lines),
        ]
    )
    assert settled.orphans.tolist() == [2]
    assert settled.entities["key"].tolist() == [1, 3]
    assert settled.removed == 1


@given(st.lists(st.integers(-(2**63), 2**63 - 1), unique=True), st.integers(0, 6))
def test_every_key_is_on_its_page(keys: list[int], bits: int) -> None:
    rows = np.zeros(len(keys), dtype=STATEMENT_ROW)
    rows["key"] = sorted(keys)
    found = {}
    for number, page in pages(rows, bits):
        assert len(page)
        found.update(dict.fromkeys(page["key"].tolist(), number))
    assert found == {key: key_page(key, bits) for key in keys}


def test_pages_stay_small() -> None:
    assert [page_bits(n) for n in (0, 1024, 1025, 2**20)] == [0, 0, 1, 10]


@given(
    entities=st.sets(st.integers(-4, 4)),
    rows=st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6), st.booleans()), max_size=7),
    at_once=st.integers(1, 4),
)
def test_entities_that_stay_are_mentioned_of_what_stays(
    entities: set[int], rows: list[tuple[int, int, bool]], at_once: int
) -> None:
    statements = np.zeros(len(rows), dtype=STATEMENT_ROW)
    for row, (head, tail, literal) in zip(statements, rows, strict=True):
        row["head"], row["tail"], row["flags"] = head, tail, LITERAL * literal
    ends = {head for head, _, _ in rows} | {tail for _, tail, literal in rows if not literal}
    keys = np.array(sorted(entities), dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(journal, "_ROWS_AT_ONCE", at_once)
        found = journal._are_mentioned(keys, statements)
    assert found.tolist() == [key in ends for key in sorted(entities)]
