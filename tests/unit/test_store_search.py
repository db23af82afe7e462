"""The ranking that both stores share, and the merging of terms."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import entities

from graph_service.errors import InputError
from graph_service.model.statement import Entity, EntityKind
from graph_service.store.search import (
    are_enough,
    exact_term,
    indexed_names,
    name_keys,
    query_terms,
    rank_hits,
)
from graph_service.store.terms import is_outdated, merge_terms
from graph_service.text.fold import index_tokens, query_tokens

RANKED = [
    Entity("Q9", labels={"fr": "Paris"}),
    Entity("Q8", labels={"en": "Paris"}),
    Entity("Q90", labels={"en": "Paris"}),
    Entity("Q7", labels={"en": "City of Light"}, aliases={"en": ("paris",)}),
    Entity("Q6", labels={"en": "Paris Hilton"}),
    Entity("Q5", labels={"en": "Paris by Night again"}),
    Entity("Q4", labels={"en": "Somebody"}, aliases={"en": ("Paris X",)}),
]


def test_order_of_hits() -> None:
    """Exact, label over alias, fewer extra tokens, language, id."""
    expected = ["Q8", "Q90", "Q9", "Q7", "Q6", "Q5", "Q4"]
    shuffled = RANKED * 2
    random.Random(3).shuffle(shuffled)
    hits = rank_hits([*shuffled, Entity("Q1", labels={"en": "Parisian"})], "PARIS")
    assert [hit.entity.id for hit in hits] == expected
    assert [hit.entity.id for hit in rank_hits(RANKED, "paris", languages=["fr"])][:3] == [
        "Q9",
        "Q8",
        "Q90",
    ]
    # 1 and .9 are exact; .5 + .3 * 1/2; .5 + .3 * 1/4; .1 + .3 * 1/2.
    assert [round(hit.score, 3) for hit in hits] == [1, 1, 1, 0.9, 0.65, 0.575, 0.25]


def test_one_name_must_hold_every_token() -> None:
    entity = Entity("Q1", labels={"en": "New Delhi"}, aliases={"en": ("York",)})
    assert rank_hits([entity], "new york") == []
    assert rank_hits([entity], "") == []
    with pytest.raises(InputError):
        rank_hits([entity], "york", limit=0)


@given(st.lists(entities, max_size=6), st.text(max_size=12))
def test_what_ranks_is_a_candidate(found: list[Entity], query: str) -> None:
    """An engine that looks for ``query_terms`` in ``index_text`` misses no hit."""
    terms = set(query_terms(query))
    for hit in rank_hits(found, query):
        text = set(indexed_names(hit.entity).text.split(" "))
        assert terms <= text
        if hit.score in (1.0, 0.9):
            assert exact_term(query) in text


@given(entities)
def test_a_name_finds_its_entity_first(entity: Entity) -> None:
    for label in entity.labels.values():
        if query_tokens(label):
            (hit,) = rank_hits([entity], label)
            assert hit.score == 1.0


def test_redirects_and_properties_have_no_names_to_link() -> None:
    names = {"en": "Rome"}
    redirect = indexed_names(Entity("Q1", labels=names, redirect="Q2"))
    assert (redirect.text, redirect.keys, redirect.longest) == ("", [], 0)
    property_ = indexed_names(Entity("P1", kind=EntityKind.PROPERTY, labels=names))
    assert (property_.keys, property_.longest) == ([], 0)
    assert property_.text.startswith("rome ")


@given(entities)
def test_names_are_indexed_with_their_keys(entity: Entity) -> None:
    indexed = indexed_names(entity)
    assert (indexed.keys, indexed.longest) == name_keys(entity)
    words = indexed.text.split()
    assert len(set(words)) == len(words)
    if entity.redirect is None:
        for label in entity.labels.values():
            assert set(index_tokens(label)) <= set(words)
            assert not index_tokens(label) or exact_term(label) in words


def test_merging() -> None:
    old = Entity("Q1", labels={"en": "a", "de": "b"}, aliases={"en": ("x",)}, revision=5)
    new = Entity("Q1", labels={"en": "c"}, aliases={"en": ("y", "x")}, revision=4)
    assert is_outdated(old, new)
    assert not is_outdated(new, old)
    assert not is_outdated(old, Entity("Q1"))
    merged = merge_terms(old, Entity("Q1", labels={"en": "c"}, aliases={"en": ("y", "x")}))
    assert merged.labels == {"en": "a", "de": "b"}
    assert merged.aliases == {"en": ("c", "x", "y")}
    assert merged.revision == 5


OF_THAT_NAME = [
    Entity("Q1", labels={"en": "Paris"}),
    Entity("Q2", labels={"en": "P"}, aliases={"fr": ("PARIS",)}),
]
HOLDING = Entity("Q3", labels={"en": "Paris Hilton"})


@pytest.mark.parametrize(
    ("entities", "limit", "expected"),
    [
        (OF_THAT_NAME, 1, True),
        (OF_THAT_NAME, 2, True),
        (OF_THAT_NAME, 3, False),
        ([*OF_THAT_NAME, HOLDING], 2, True),
        ([*OF_THAT_NAME, HOLDING], 3, False),
        ([], 1, False),
        (OF_THAT_NAME, 0, False),
    ],
)
def test_as_many_as_are_asked_for_have_the_name(
    entities: list[Entity], limit: int, expected: bool
) -> None:
    assert are_enough(entities, "paris", limit=limit) is expected
