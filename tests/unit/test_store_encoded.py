"""Statements encoded in columns are, as a sequence, the statements."""

from __future__ import annotations

from collections.abc import Hashable, ItemsView
from dataclasses import replace

import pytest

from graph_service.model.statement import Rank, Reference, Snak, make_statement
from graph_service.model.values import EntityValue, StringValue
from graph_service.store.encoded import encode_statements

STATEMENTS = [
    make_statement("Q1", "P1", EntityValue("Q2")),
    make_statement(
        "Q1",
        "P2",
        StringValue("text"),
        rank=Rank.PREFERRED,
        qualifiers=[Snak("P3", EntityValue("Q9"))],
        references=[Reference((Snak("P4", StringValue("a book")),))],
        context="http://a/g",
    ),
    make_statement("Q3", "P1", EntityValue("Q1"), rank=Rank.DEPRECATED),
    make_statement("Q2", "P1", EntityValue("Q2")),
]


def test_a_place_and_a_slice_give_statements() -> None:
    encoded = encode_statements(STATEMENTS)
    assert [encoded[place] for place in range(-4, 4)] == [*STATEMENTS, *STATEMENTS]
    for part in (slice(None), slice(1, 3), slice(-3, None, 2), slice(None, None, -1), slice(3, 1)):
        assert encoded[part] == STATEMENTS[part]
    assert list(encoded) == STATEMENTS
    for place in (-5, 4):
        with pytest.raises(IndexError):
            encoded[place]


def test_equal_columns_are_equal_and_no_keys() -> None:
    encoded = encode_statements(STATEMENTS)
    assert encoded == encode_statements(STATEMENTS)
    assert encoded != encode_statements(STATEMENTS[:3])
    assert encoded != STATEMENTS
    assert not isinstance(encoded, Hashable)


class CountingKeys(dict[str, int]):
    read = 0

    def items(self) -> ItemsView[str, int]:  # type: ignore[override]
        self.read += 1
        return super().items()


def test_many_places_are_read_without_going_through_all_entities_each_time() -> None:
    keys = CountingKeys(encode_statements(STATEMENTS).entity_keys)
    encoded = replace(encode_statements(STATEMENTS), entity_keys=keys)
    for place in range(4):
        assert encoded[place] == STATEMENTS[place]
    assert keys.read == 1
