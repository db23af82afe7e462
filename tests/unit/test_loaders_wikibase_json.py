"""Wikibase JSON documents to entities and statements (S1, L2)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from graph_service.model.statement import EntityKind, Rank, Snak
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
    Value,
    value_of_fields,
)
from loaders.terms import LANGUAGE_REASON
from loaders.wikibase.documents import Languages, expand, read_document
from loaders.wikibase.values import MalformedError, read_snak

GUID = "Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9"
WD = "http://www.wikidata.org/entity/"


def read_snak_value(snak: Any, skipped: Counter[str]) -> Value:
    return value_of_fields(read_snak(snak, skipped))


def snak(property_: str, type_: str, value: Any, datatype: str | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {
        "snaktype": "value",
        "property": property_,
        "datavalue": {"type": type_, "value": value},
    }
    if datatype:
        made["datatype"] = datatype
    return made


def claim(mainsnak: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"mainsnak": mainsnak, "type": "statement", "rank": "normal", **fields}


def read_value(type_: str, value: Any, datatype: str | None = None) -> Value:
    return read_snak_value(snak("P1", type_, value, datatype), Counter())


@pytest.mark.parametrize(
    ("type_", "value", "datatype", "expected"),
    [
        ("wikibase-entityid", {"id": "Q5"}, "wikibase-item", EntityValue("Q5")),
        # The format of 2013 to 2016 has numbers without ids.
        ("wikibase-entityid", {"entity-type": "item", "numeric-id": 5}, None, EntityValue("Q5")),
        (
            "wikibase-entityid",
            {"entity-type": "property", "numeric-id": 31},
            None,
            EntityValue("P31"),
        ),
        ("wikibase-entityid", {"entity-type": "form", "id": "L1-F2"}, None, EntityValue("L1-F2")),
        ("string", "x", "external-id", StringValue("x", "external-id")),
        ("string", "x", None, StringValue("x")),
        ("string", "https://a.example/", "url", Iri("https://a.example/")),
        (
            "monolingualtext",
            {"text": "t", "language": "DE-at"},
            None,
            MonolingualText("t", "de-at"),
        ),
        (
            "quantity",
            {"amount": "+1.960", "unit": WD + "Q11573", "upperBound": "+2", "lowerBound": "-1"},
            None,
            Quantity("1.960", "Q11573", "-1", "2"),
        ),
        ("quantity", {"amount": "-5", "unit": "1"}, None, Quantity("-5")),
        ("quantity", {"amount": "5", "unit": ""}, None, Quantity("5")),
        ("quantity", {"amount": "5"}, None, Quantity("5")),
        (
            "time",
            {
                "time": "+00000001952-03-11T00:00:00Z",
                "timezone": 60,
                "before": 1,
                "after": 2,
                "precision": 11,
                "calendarmodel": WD + "Q1985786",
            },
            None,
            Time("1952-03-11T00:00:00Z", 11, "Q1985786", 1, 2, 60),
        ),
        (
            "time",
            {"time": "-13798000000-00-00T00:00:00Z", "precision": 3},
            None,
            Time("-13798000000-00-00T00:00:00Z", 3),
        ),
        (
            "globecoordinate",
            {
                "latitude": 52,
                "longitude": 8.5,
                "altitude": None,
                "precision": 0.1,
                "globe": WD + "Q405",
            },
            None,
            Coordinates(52.0, 8.5, None, 0.1, "Q405"),
        ),
    ],
)
def test_every_value_type_is_kept_s1(
    type_: str, value: Any, datatype: str | None, expected: Value
) -> None:
    assert read_value(type_, value, datatype) == expected


def test_unknown_and_malformed_values_are_kept_as_they_came_and_counted() -> None:
    skipped: Counter[str] = Counter()
    unknown = read_snak_value(snak("P1", "hologram", {"b": 1, "a": 2}, "holo"), skipped)
    assert unknown == UnknownValue("holo", '{"type":"hologram","value":{"a":2,"b":1}}')
    broken = read_snak_value(snak("P1", "time", {"time": "soon", "precision": 9}, "time"), skipped)
    assert isinstance(broken, UnknownValue)
    assert sorted(skipped.values()) == [1, 1]
    assert any("holo" in reason for reason in skipped)


def test_somevalue_and_novalue_and_other_snaktypes() -> None:
    skipped: Counter[str] = Counter()
    assert read_snak_value({"snaktype": "somevalue", "property": "P1"}, skipped) == SomeValue()
    assert read_snak_value({"snaktype": "novalue", "property": "P1"}, skipped) == NoValue()
    with pytest.raises(MalformedError, match="snaktype 'maybe'"):
        read_snak_value({"snaktype": "maybe", "property": "P1"}, skipped)


def document(**fields: Any) -> dict[str, Any]:
    return {"id": "Q42", "type": "item", "labels": {}, "claims": {}, **fields}


def test_statement_with_rank_qualifiers_in_order_and_references_as_groups() -> None:
    made = claim(
        snak("P26", "wikibase-entityid", {"id": "Q1"}),
        id="q42$f078e5b3-f9a8-480e-b7ac-d97778cbbef9",
        qualifiers={"P2": [snak("P2", "string", "b")], "P1": [snak("P1", "string", "a")] * 2},
        **{"qualifiers-order": ["P1", "P2"]},
        references=[
            {
                "snaks": {
                    "P9": [snak("P9", "string", "late")],
                    "P8": [snak("P8", "string", "early")],
                },
                "snaks-order": ["P8", "P9"],
            },
            {"snaks": {"P8": [snak("P8", "string", "other")]}},
        ],
    )
    made["rank"] = "preferred"
    result = read_document(document(claims={"P26": [made]}))
    [statement] = result.statements
    assert statement.id == GUID
    assert (statement.head, statement.relation, statement.rank) == ("Q42", "P26", Rank.PREFERRED)
    assert statement.qualifiers == (
        Snak("P1", StringValue("a")),
        Snak("P1", StringValue("a")),
        Snak("P2", StringValue("b")),
    )
    assert [[part.relation for part in reference.parts] for reference in statement.references] == [
        ["P8", "P9"],
        ["P8"],
    ]
    assert result.complete_id == "Q42"


def test_a_property_missing_from_the_order_is_not_lost() -> None:
    made = claim(
        snak("P26", "string", "x"),
        id=GUID,
        qualifiers={"P3": [snak("P3", "string", "c")], "P1": [snak("P1", "string", "a")]},
        **{"qualifiers-order": ["P1"]},
    )
    [statement] = read_document(document(claims={"P26": [made]})).statements
    assert [part.relation for part in statement.qualifiers] == ["P1", "P3"]


def test_terms_by_language_revision_and_datatype() -> None:
    result = read_document(
        {
            "id": "P31",
            "type": "property",
            "datatype": "wikibase-item",
            "lastrevid": 7,
            "labels": {"en": {"language": "en", "value": "instance of"}},
            "descriptions": {"mul": {"language": "mul", "value": "class"}},
            "aliases": {"en": [{"language": "en", "value": "is a"}, {"en": {"value": "type"}}]},
            "claims": [],
        }
    )
    [entity] = result.entities
    assert entity.kind is EntityKind.PROPERTY
    assert (entity.datatype, entity.revision) == ("wikibase-item", 7)
    assert entity.labels == {"en": "instance of"}
    assert entity.descriptions == {"mul": "class"}
    assert entity.aliases == {"en": ("is a", "type")}
    assert result.complete_id == "P31"


def test_languages_not_asked_for_are_counted() -> None:
    terms = {lang: {"language": lang, "value": lang} for lang in ("en", "fr", "mul")}
    result = read_document(document(labels=terms), languages=Languages(frozenset(("en", "mul"))))
    assert result.entities[0].labels == {"en": "en", "mul": "mul"}
    assert result.skipped == {LANGUAGE_REASON: 1}


def test_fallback_labels_of_the_api_are_no_labels() -> None:
    terms = {"de-at": {"language": "de", "value": "Wien", "for-language": "de-at"}}
    assert read_document(document(labels=terms)).entities[0].labels == {}


def test_empty_containers_that_come_as_lists() -> None:
    result = read_document(
        {"id": "Q1", "type": "item", "labels": [], "descriptions": [], "aliases": [], "claims": []}
    )
    assert (result.entities[0].labels, result.statements, result.problems) == ({}, [], [])


def test_answers_redirects_missing_lexemes_and_media() -> None:
    answer = {
        "entities": {
            "Q6": {"id": "Q6", "missing": ""},
            "Q42": {
                **document(),
                "redirects": {"from": "Q404", "to": "Q42"},
            },
            "L1": {"id": "L1", "type": "lexeme", "lemmas": {}},
            "M1": {"id": "M1", "type": "mediainfo", "statements": {}},
        }
    }
    results = [read_document(one) for one in expand(answer)]
    skipped: Counter[str] = sum((one.skipped for one in results), Counter())
    assert skipped == {"missing entities": 1, "lexemes": 1, "media info": 1}
    entities = [entity for one in results for entity in one.entities]
    assert [(entity.id, entity.redirect) for entity in entities] == [("Q404", "Q42"), ("Q42", None)]
    [redirect] = read_document({"entity": "Q7", "redirect": "Q8"}).entities
    assert (redirect.id, redirect.redirect) == ("Q7", "Q8")


def test_claims_without_their_entity_take_it_from_the_statement_id() -> None:
    result = read_document({"claims": {"P1": [claim(snak("P1", "string", "x"), id=GUID)]}})
    assert [statement.head for statement in result.statements] == ["Q42"]
    # Not the whole document: other statements of the entity must not be removed for it.
    assert result.complete_id is None
    assert result.entities == []


def test_statements_without_guid_get_an_id_of_their_content() -> None:
    made = [claim(snak("P1", "string", "x"), id="Q42P1x"), claim(snak("P1", "string", "y"))]
    first, second = read_document(document(claims={"P1": made})).statements
    assert len(first.id) == len(second.id) == 32
    assert first.id != second.id


def test_a_bad_statement_does_not_take_the_others_along() -> None:
    claims = {
        "P1": [
            claim(snak("P1", "string", "good"), id=GUID),
            {**claim(snak("P1", "string", "x")), "rank": "best"},
            {"mainsnak": {"snaktype": "value", "property": "P1"}},
            "nonsense",
        ],
        "P2": "nonsense",
    }
    result = read_document(document(claims=claims))
    assert len(result.statements) == 1
    assert len(result.problems) == 4
    assert "rank 'best'" in result.problems[0]


def test_text_that_no_store_can_hold_is_a_problem_of_its_statement() -> None:
    claims = {
        "P1": [
            claim(snak("P1", "string", "a\x00b")),
            claim(snak("P1", "string", "\ud800")),
            claim(snak("P1", "string", "a\\u0000b"), id=GUID),
        ]
    }
    labels = {"en": {"value": "a\x00"}, "fr": {"value": "bon"}}
    result = read_document(document(claims=claims, labels=labels), suspect_text=True)
    assert [statement.value for statement in result.statements] == [StringValue("a\\u0000b")]
    assert result.entities[0].labels == {"fr": "bon"}
    assert len(result.problems) == 3


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([{"mainsnak": {}}], "neither their entity"),
        ({"head": {}, "results": {}}, "SPARQL"),
        ({"error": {"info": "no such"}}, "no such"),
        ({"batchcomplete": ""}, "batchcomplete"),
        (5, "int"),
    ],
)
def test_what_is_no_entity_says_what_it_looks_like(value: object, reason: str) -> None:
    with pytest.raises(MalformedError, match=reason):
        list(expand(value))


def test_kgtk_maps_ids_to_documents() -> None:
    [found] = expand({"Q42": {"labels": {}, "claims": {}}})
    assert found["id"] == "Q42"
