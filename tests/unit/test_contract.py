"""The contract: a field of a result is said once, and whoever shows or reads it agrees."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from graphql import GraphQLObjectType, parse

from graph_service.api.schema import schema
from graph_service.client.decode import decode
from graph_service.model.contract import Statement, at, computed, resolved, shape
from graph_service.model.limits import Cut, CutReason
from graph_service.model.passage import ClientPassageSet
from graph_service.model.result import (
    Prizes,
    ScoredTriple,
    ScorePart,
    SubgraphResult,
    Tokens,
)
from graph_service.model.selection import selection
from graph_service.model.shapes import SHAPES, parts_of


@pytest.mark.parametrize("model", SHAPES, ids=lambda model: model.__name__)
def test_the_schema_has_the_fields_of_each_shape_in_order(model: Any) -> None:
    type_: Any = schema._schema.type_map[SHAPES[model].name]
    fields = {name: field.description for name, field in type_.fields.items()}
    expected = {part.graphql: part.words for part in parts_of(model)}
    assert expected.items() <= fields.items()
    own = [field.words for field in SHAPES[model].fields.values()]
    assert [words for words in fields.values() if words in own] == own


@pytest.mark.parametrize("model", SHAPES, ids=lambda model: model.__name__)
def test_what_the_client_selects_is_in_the_schema(model: Any) -> None:
    type_: Any = schema._schema.type_map[SHAPES[model].name]
    text = selection(model)
    if not text:
        return
    tree: Any = parse(f"{{ {text} }}").definitions[0]
    names = [field.name.value for field in tree.selection_set.selections]
    assert set(names) <= type_.fields.keys()
    leaves = {
        field.name.value for field in tree.selection_set.selections if not field.selection_set
    }
    for name in leaves:
        inner = type_.fields[name].type
        while hasattr(inner, "of_type"):
            inner = inner.of_type
        assert not isinstance(inner, GraphQLObjectType), name


def test_each_attribute_of_a_result_is_read_or_named_here() -> None:
    # What the client fills by itself, or what GraphQL has under two names.
    elsewhere = {
        "ClientComparison": {"result"},
        "PageViews": {"entity"},
        "QuestionOutcome": {"result"},
        "ScoredPassage": {"entity_label"},
        "StoredView": {"reused"},
    }
    model: Any
    for model in SHAPES:
        read = {part.path.partition(".")[0] for part in parts_of(model) if part.is_read}
        attributes = {field.name for field in dataclasses.fields(model)}
        specified = {"Change", "ViewSpec"}  # Read of the specification's JSON.
        if model.__name__ not in specified:
            assert attributes - read == elsewhere.get(model.__name__, set()), model


def test_a_dataclass_is_read_by_its_own_types() -> None:
    cut = {"what": "EDGES", "reason": "HUB", "limit": 2.0, "kept": 1, "total": None}
    assert decode(Cut, cut) == Cut("edges", CutReason.HUB, 2.0, 1)
    assert decode(ScorePart, {"name": "BELOW_BEST", "amount": 1.0}) == ScorePart("below_best", 1.0)
    assert decode(Tokens, {"count": 3, "tokenizer": "words"}) == Tokens(3, "words")


def test_a_word_of_a_newer_server_is_no_error_where_the_client_has_a_text() -> None:
    cut = {"what": "GALAXIES", "reason": "HUB", "limit": 2.0, "kept": 1, "total": 5}
    assert decode(Cut, cut).what == "galaxies"


def test_an_answer_that_lacks_a_field_is_an_error() -> None:
    with pytest.raises(KeyError, match="tokenizer"):
        decode(Tokens, {"count": 3})


def test_named_values_come_back_as_they_were() -> None:
    row = {
        "source": "films.nt",
        "published": False,
        "passages": 2,
        "words": 7,
        "linked": 0,
        "fingerprint": "",
        "options": [
            {"name": "language", "type": "TEXT", "text": "en"},
            {"name": "limit", "type": "NUMBER", "text": "10"},
            {"name": "none", "type": "NOTHING", "text": "null"},
        ],
        "report": [],
        "startedAt": "2026-11-22T20:18:55Z",
        "publishedAt": None,
    }
    made = decode(ClientPassageSet, row)
    assert made.options == {"language": "en", "limit": 10, "none": None}
    assert made.report == {}
    assert made.published_at is None


def test_a_shape_says_where_a_field_comes_from() -> None:
    @dataclasses.dataclass(frozen=True)
    class Inner:
        entities: int

    @dataclasses.dataclass(frozen=True)
    class Outer:
        counts: Inner
        view_id: str | None

        @property
        def doubled(self) -> float:
            """Twice as many."""
            return 2.0 * self.counts.entities

    Outer.__annotations__ = {"counts": Inner, "view_id": str | None}
    made = resolved(
        Outer,
        shape(
            "Outer",
            "A thing.",
            items=at("How many.", path="counts.entities"),
            view_id="Which.",
            doubled="Twice that.",
            logic=computed("Made by a method."),
        ),
    )
    assert [(part.name, part.path, part.is_read) for part in made] == [
        ("items", "counts.entities", True),
        ("view_id", "view_id", True),
        ("doubled", "doubled", False),
    ]
    assert [part.value_of(Outer(Inner(4), "v")) for part in made] == [4, "v", 8.0]
    assert [part.is_optional for part in made] == [False, True, False]


def test_bases_come_first() -> None:
    names = [part.name for part in parts_of(SubgraphResult)]
    assert names[0] == "result_id"
    assert names[-3:] == ["items", "objective", "gap"]
    assert Statement in {part.kind for part in parts_of(ScoredTriple)}
    prizes = next(part for part in parts_of(ScoredTriple) if part.name == "prizes")
    assert prizes.conversion is not None
    assert prizes.conversion.read((1.0, 2.0, 3.0)) == Prizes(1.0, 2.0, 3.0)
