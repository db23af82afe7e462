"""Hypothesis strategies for the model: values of every type, statements, entities, graphs."""

from __future__ import annotations

import orjson
from hypothesis import strategies as st

from graph_service.model.statement import (
    Entity,
    EntityKind,
    Rank,
    Reference,
    Snak,
    Statement,
    make_statement,
)
from graph_service.model.values import (
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    UnknownValue,
)

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
names = texts.filter(bool)
languages = st.sampled_from(["en", "de", "ru", "zh", "th", "mul", "pt-br"])
entity_ids = st.one_of(
    st.integers(1, 9).map(lambda number: f"Q{number}"),
    st.sampled_from(['http://dbpedia.org/resource/Who\'s_"there"', "a`b", "имя", "x" * 1200]),
    names,
)
relation_ids = st.one_of(st.integers(1, 5).map(lambda number: f"P{number}"), names)
decimals = st.decimals(-1e12, 1e12, allow_nan=False, places=3).map(str)
degrees = st.floats(-180, 180, allow_nan=False).map(lambda number: number + 0.0)

times = st.builds(
    Time,
    st.builds(
        lambda sign, year, month, day: f"{sign}{year:04d}-{month:02d}-{day:02d}T00:00:00Z",
        st.sampled_from(["", "-"]),
        st.integers(0, 99999),
        st.integers(0, 12),
        st.integers(0, 28),
    ),
    st.integers(0, 14),
    st.sampled_from(["Q1985727", "Q1985786"]),
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(-720, 720),
)
coordinates = st.builds(
    Coordinates,
    degrees,
    degrees,
    st.none() | degrees,
    st.none() | st.floats(1e-9, 1),
    st.sampled_from(["Q2", "Q405"]),
)
literals = st.one_of(
    st.builds(StringValue, texts),
    st.builds(
        StringValue, texts, st.sampled_from(["external-id", "http://www.w3.org/2001/XMLSchema#int"])
    ),
    st.builds(MonolingualText, texts, languages),
    st.builds(
        Quantity, decimals, st.none() | entity_ids, st.none() | decimals, st.none() | decimals
    ),
    times,
    coordinates,
    st.builds(Iri, texts),
    st.just(SomeValue()),
    st.just(NoValue()),
    st.builds(
        UnknownValue,
        st.just("new-type"),
        st.dictionaries(texts, st.integers(0, 9) | texts, max_size=3).map(
            lambda payload: orjson.dumps(payload, option=orjson.OPT_SORT_KEYS).decode()
        ),
    ),
)
values = st.one_of(st.builds(EntityValue, entity_ids), literals)
snaks = st.builds(Snak, relation_ids, values)
references = st.builds(Reference, st.lists(snaks, min_size=1, max_size=2).map(tuple))


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    """A statement of any value, rank, qualifiers and references."""
    return make_statement(
        draw(entity_ids),
        draw(relation_ids),
        draw(values),
        rank=draw(st.sampled_from(list(Rank))),
        qualifiers=draw(st.lists(snaks, max_size=2)),
        references=draw(st.lists(references, max_size=2)),
        context=draw(st.none() | names),
    )


entities = st.builds(
    Entity,
    id=entity_ids,
    kind=st.sampled_from(list(EntityKind)),
    labels=st.dictionaries(languages, texts, max_size=3),
    descriptions=st.dictionaries(languages, texts, max_size=2),
    aliases=st.dictionaries(
        languages, st.lists(names, min_size=1, max_size=3).map(tuple), max_size=2
    ),
    datatype=st.none() | st.just("wikibase-item"),
    revision=st.none() | st.integers(0, 2**53),
    same_as=st.lists(names, max_size=2, unique=True).map(tuple),
)

graphs = st.tuples(
    st.lists(statements(), max_size=8, unique_by=lambda item: item.id),
    st.lists(entities, max_size=5, unique_by=lambda item: item.id),
)
"""Pairs of statements and entities, each without repeats."""
