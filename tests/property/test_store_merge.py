"""What terms come to depends neither on the order of loading nor on batches (S1)."""

from __future__ import annotations

import functools

from hypothesis import given
from hypothesis import strategies as st

from graph_service.model.statement import Entity, EntityKind
from graph_service.store.terms import merge_terms

NAMES = st.sampled_from("abcd")
LANGUAGES = st.sampled_from(["en", "fr"])
RECORDS = st.builds(
    Entity,
    st.just("Q1"),
    kind=st.sampled_from(EntityKind),
    labels=st.dictionaries(LANGUAGES, NAMES),
    descriptions=st.dictionaries(LANGUAGES, NAMES),
    aliases=st.dictionaries(LANGUAGES, st.lists(NAMES, min_size=1, unique=True).map(tuple)),
    revision=st.none() | st.integers(1, 3),
    same_as=st.lists(NAMES, unique=True).map(tuple),
)


def merged(records: list[Entity], stored: Entity | None = None) -> Entity | None:
    return functools.reduce(merge_terms, records, stored)


def names(entity: Entity, language: str) -> set[str]:
    label = {entity.labels[language]} if language in entity.labels else set()
    return label | {*entity.aliases.get(language, ())}


@given(st.lists(RECORDS, min_size=1, max_size=4), st.none() | RECORDS, st.randoms())
def test_terms_merge_alike_in_any_order(
    records: list[Entity], stored: Entity | None, chance: object
) -> None:
    shuffled = list(records)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    first, second = merged(records, stored), merged(shuffled, stored)
    assert first == second
    assert first is not None
    assert merged(records, first) == first
    everything = [*records, *([stored] if stored else [])]
    for language in ("en", "fr"):
        assert names(first, language) == {
            name for one in everything for name in names(one, language)
        }
        labels = [one.labels[language] for one in everything if language in one.labels]
        assert first.labels.get(language) == min(labels, default=None)
        said = [one.descriptions[language] for one in everything if language in one.descriptions]
        assert first.descriptions.get(language) == min(said, default=None)


def test_a_document_keeps_the_order_of_its_aliases_while_nothing_is_added() -> None:
    document = Entity("Q1", labels={"en": "m"}, aliases={"en": ("z", "a"), "fr": ("y", "b")})
    same = merge_terms(document, Entity("Q1", labels={"en": "m"}, aliases={"en": ("a",)}))
    assert same.aliases == document.aliases
    more = merge_terms(document, Entity("Q1", labels={"en": "x"}))
    assert (more.labels, more.aliases) == ({"en": "m"}, {"en": ("a", "x", "z"), "fr": ("y", "b")})
