"""The arithmetic of a load into Neo4j, against the same done one statement at a time."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graph_service.store.neo4j_journal import (
    CREATED,
    DOCUMENT_ROW,
    ENTITY_ROW,
    LITERAL,
    STATEMENT_ROW,
    JournalBatch,
    doomed_by_head,
    page_bits,
    page_of,
    pages,
    settle,
)

Given = list[tuple[int, int, int]]  # key, head, content


def _batch(number: int, rows: Given, documents: set[int], base: dict[int, int]) -> JournalBatch:
    statements = np.zeros(len(rows), dtype=STATEMENT_ROW)
    last = {key: place for place, (key, _, _) in enumerate(rows)}
    for place, (key, head, content) in enumerate(rows):
        statements[place]["key"] = statements[place]["tail"] = key
        statements[place]["head"] = head
        statements[place]["content"] = content
        made = number == 0 or (last[key] == place and base.get(key) != content)
        statements[place]["flags"] = LITERAL | (CREATED if made else 0)
    of_documents = np.zeros(len(documents), dtype=DOCUMENT_ROW)
    of_documents["head"] = sorted(documents)
    return JournalBatch(number, statements, np.zeros(0, dtype=ENTITY_ROW), of_documents)


_ROWS = st.lists(st.tuples(st.integers(-4, 4), st.integers(0, 2), st.integers(0, 2)), max_size=8)


@given(
    base=st.dictionaries(st.integers(-4, 4), st.tuples(st.integers(0, 2), st.integers(0, 2))),
    loads=st.lists(st.tuples(_ROWS, st.sets(st.integers(0, 2))), max_size=4),
)
def test_settling_equals_one_at_a_time(
    base: dict[int, tuple[int, int]], loads: list[tuple[Given, set[int]]]
) -> None:
    """K6: what stays, what goes and the counts; and the relationships that carry what stays."""
    contents = {key: content for key, (_, content) in base.items()}
    rows = [(key, head, content) for key, (head, content) in base.items()]
    batches = [_batch(0, rows, set(), {})]
    batches += [_batch(i, *load, contents) for i, load in enumerate(loads, 1)]
    settled = settle(batches[::-1])

    state = {key: (head, content, 0) for key, head, content in rows}
    updated = duplicates = 0
    documents: dict[int, int] = {}
    for number, (given_rows, heads) in enumerate(loads, 1):
        documents.update(dict.fromkeys(heads, number))
        for key, head, content in given_rows:
            if key in state and state[key][1] == content:
                duplicates += 1
            elif key in state:
                updated += 1
            state[key] = (head, content, number)
    gone = {key for key, (head, _, number) in state.items() if number < documents.get(head, 0)}
    stays = {key: value for key, value in state.items() if key not in gone}

    assert settled.statements["key"].tolist() == sorted(stays)
    assert settled.statements["content"][:, 0].tolist() == [stays[k][1] for k in sorted(stays)]
    assert (settled.updated, settled.duplicates, settled.removed) == (
        updated,
        duplicates,
        len(gone),
    )
    assert settled.load_counts(7).written == sum(len(r) for r, _ in loads) - updated - duplicates

    there = {
        (int(row["key"]), batch.number): int(row["content"][0])
        for batch in batches
        for row in batch.statements
        if row["flags"] & CREATED
    }
    for pairs in doomed_by_head(settled).values():
        for pair in pairs:
            del there[pair]
    assert {key: content for (key, _), content in there.items()} == {
        key: value[1] for key, value in stays.items()
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
    documents["head"] = 1
    none = np.zeros(0, dtype=STATEMENT_ROW)
    settled = settle(
        [
            JournalBatch(1, statements, entities, documents[:0]),
            JournalBatch(2, none, entities[:0], documents),
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
    assert found == {key: page_of(key, bits) for key in keys}


def test_pages_stay_small() -> None:
    assert [page_bits(n) for n in (0, 1024, 1025, 2**20)] == [0, 0, 1, 10]
