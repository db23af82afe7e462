"""Queries of every form in words: whatever a query names stands in its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from query_strategies import LINKS, VALUES, queries

from graph_service.query.algebra import Among, Entities, InstanceOf, Instances, Query, Relation
from graph_service.query.english import Names, render_english

STEMS = {id_: f"zo{letter}k" for id_, letter in zip([*LINKS, *VALUES], "bdfgm", strict=True)}
SHAPES = (
    "{}", "{} of birth", "{}s", "{}ed", "{}ed by", "{}s to", "{}ed in {}", "{} of", "member of {}",
    "{}s the {}", "has {}", "{}(s)", "first {}ed", "on {}", "is {} of", "un{}ed partner",
)  # fmt: skip


def _named(part: object) -> Iterator[str]:
    """Yields the ids of relations, entities and classes of a part of a query."""
    match part:
        case Relation(id_):
            yield id_
        case Entities(ids) | Instances(ids) | Among(ids) | InstanceOf(ids):
            yield from ids
        case tuple():
            for each in part:
                yield from _named(each)
        case _ if is_dataclass(part):
            for field in fields(part):
                yield from _named(getattr(part, field.name))
        case _:
            return


@settings(max_examples=400)
@given(queries(), st.tuples(*(st.sampled_from(SHAPES) for _ in STEMS)))
def test_text_names_all_that_a_query_names(query: Query, shapes: tuple[str, ...]) -> None:
    labels = {
        id_: shape.replace("{}", stem)
        for (id_, stem), shape in zip(STEMS.items(), shapes, strict=True)
    }
    text = render_english(query, Names(lambda id_: id_, lambda id_: labels.get(id_, id_)))
    for id_ in _named(query):
        assert STEMS.get(id_, id_) in text, (id_, text)
    assert "  " not in text
