"""One id for an entity, from whatever source it comes (S1)."""

from __future__ import annotations

import pytest

from graph_service.model.identity import normalise_entity_id, normalise_statement_guid
from loaders.rdf.values import entity_id

IDS = ["Q42", "P31", "L525", "L525-F2", "L525-S1", "E79", "M123"]
GUID = "f078e5b3-f9a8-480e-b7ac-d97778cbbef9"


@pytest.mark.parametrize("id_", IDS)
def test_every_kind_of_wikidata_id_has_one_form(id_: str) -> None:
    for raw in (
        id_,
        f"wd:{id_}",
        f"http://www.wikidata.org/entity/{id_}",
        f"https://www.wikidata.org/wiki/Special:EntityData/{id_}",
    ):
        assert normalise_entity_id(raw) == id_
        assert normalise_entity_id(raw, base_iri="http://example.org/") == id_
    assert entity_id(f"http://www.wikidata.org/entity/{id_}") == id_
    assert normalise_statement_guid(f"{id_.lower()}-{GUID}") == f"{id_}${GUID.upper()}"
    assert normalise_statement_guid(f"{id_}${GUID}") == f"{id_}${GUID.upper()}"


@pytest.mark.parametrize(
    "page", ["Property:P31", "Lexeme:L525", "EntitySchema:E79"], ids=lambda page: page[-4:]
)
def test_pages_are_their_entities(page: str) -> None:
    assert normalise_entity_id(f"https://www.wikidata.org/wiki/{page}") == page.partition(":")[2]


@pytest.mark.parametrize(
    "raw",
    [
        "http://www.wikidata.org/entity/Q042",
        "http://www.wikidata.org/entity/Q42-F1",
        "http://www.wikidata.org/entity/L525-X1",
        "http://www.wikidata.org/entity/Q42\n",
        "http://www.wikidata.org/entity/Q1\u0662",
        "http://www.wikidata.org/entity/statement/Q42",
        "https://www.wikidata.org/wiki/Talk:Q42",
        "http://example.org/entity/Q42",
    ],
)
def test_anything_else_stays_as_it_came(raw: str) -> None:
    assert normalise_entity_id(raw) == raw


def test_no_guid_is_none() -> None:
    for raw in ("Q42", f"Q42${GUID}\n", f"Q42${GUID[:-1]}", f"Z1${GUID}", f"Q42-F1${GUID}"):
        assert normalise_statement_guid(raw) is None
