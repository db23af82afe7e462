"""JSON and full RDF of the same statements agree in the stated normal form (S1, L2)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wikibase_rdf import WD, write_entity

from graph_service.model.statement import Statement
from graph_service.model.values import UnknownValue
from loaders.options import LoadOptions
from loaders.rdf import reader as rdf
from loaders.source import open_source
from loaders.wikibase.documents import expand, read_document
from loaders.wikibase.normal_form import normal_form

DEMO = Path(__file__).parents[2] / "queries" / "datasets" / "demo" / "wikidata.jsonl"

texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r\n"), min_size=1, max_size=12
)
items = st.integers(1, 99_999).map(lambda number: f"Q{number}")
decimals = st.from_regex(r"[+-](0|[1-9][0-9]{0,12})(\.[0-9]{1,6})?", fullmatch=True)
units = st.just("1") | items.map(lambda id_: WD + id_)


def snak(property_: str, data: dict[str, Any], datatype: str) -> dict[str, Any]:
    return {
        "snaktype": "value",
        "property": property_,
        "datavalue": data,
        "datatype": datatype,
    }


@st.composite
def times(draw: st.DrawFn) -> dict[str, Any]:
    precision = draw(st.sampled_from([0, 3, 6, 7, 8, 9, 10, 11]))
    year = draw(st.integers(-4000, 3000).filter(bool))
    month = draw(st.integers(1, 12)) if precision >= 10 else draw(st.sampled_from([0, 1]))
    # A day without a month is no date.
    day = draw(st.integers(1, 28)) if precision >= 11 else draw(st.integers(0, min(month, 1)))
    return {
        "type": "time",
        "value": {
            "time": f"{'-' if year < 0 else '+'}{abs(year):04d}-{month:02d}-{day:02d}T00:00:00Z",
            "timezone": draw(st.sampled_from([0, 60])),
            "before": draw(st.sampled_from([0, 2])),
            "after": 0,
            "precision": precision,
            "calendarmodel": WD + draw(st.sampled_from(["Q1985727", "Q1985786"])),
        },
    }


@st.composite
def data_values(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    kind = draw(st.integers(0, 8))
    if kind == 0:
        return {"type": "wikibase-entityid", "value": {"id": draw(items)}}, "wikibase-item"
    if kind == 1:
        datatype = draw(st.sampled_from(["string", "external-id"]))
        return {"type": "string", "value": draw(texts)}, datatype
    if kind == 2:
        return {"type": "string", "value": f"http://a.example/{draw(st.integers(0, 99))}"}, "url"
    if kind == 3:
        return {"type": "string", "value": "A b " + draw(st.sampled_from(["é", "(1)", "&x"]))}, "commonsMedia"  # fmt: skip
    if kind == 4:
        language = draw(st.sampled_from(["en", "de-at", "mul"]))
        value = {"text": draw(texts), "language": language}
        return {"type": "monolingualtext", "value": value}, "monolingualtext"
    if kind == 5:
        number = {"amount": draw(decimals), "unit": draw(units)}
        if draw(st.booleans()):
            number |= {"upperBound": draw(decimals), "lowerBound": draw(decimals)}
        return {"type": "quantity", "value": number}, "quantity"
    if kind == 6:
        place = {
            "latitude": draw(st.floats(-90, 90)),
            "longitude": draw(st.floats(-180, 180)),
            "altitude": None,
            "precision": draw(st.sampled_from([None, 0.1, 1e-05])),
            "globe": WD + draw(st.sampled_from(["Q2", "Q405"])),
        }
        return {"type": "globecoordinate", "value": place}, "globe-coordinate"
    if kind == 7:
        return {"type": "string", "value": "Data:A b.map"}, "geo-shape"
    return draw(times()), "time"


@st.composite
def snaks(draw: st.DrawFn, property_: str) -> dict[str, Any]:
    if draw(st.integers(0, 9)) == 0:
        return {"snaktype": draw(st.sampled_from(["somevalue", "novalue"])), "property": property_}
    return snak(property_, *draw(data_values()))


@st.composite
def groups(draw: st.DrawFn, properties: list[str]) -> dict[str, list[Any]]:
    chosen = draw(st.lists(st.sampled_from(properties), unique=True, max_size=3))
    return {
        property_: draw(st.lists(snaks(property_), min_size=1, max_size=3)) for property_ in chosen
    }


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    claims: dict[str, list[Any]] = {}
    for number in range(draw(st.integers(1, 4))):
        property_ = draw(st.sampled_from(["P1", "P31", "P569"]))
        claims.setdefault(property_, []).append(
            {
                "mainsnak": draw(snaks(property_)),
                "type": "statement",
                "id": f"q42$ABCDEF01-0000-0000-0000-{number:012x}",
                "rank": draw(st.sampled_from(["preferred", "normal", "deprecated"])),
                "qualifiers": draw(groups(["P2", "P10", "P580"])),
                "references": [
                    {"snaks": found}
                    for found in draw(st.lists(groups(["P248", "P854"]), max_size=2))
                    if found
                ],
            }
        )
    return {"id": "Q42", "type": "item", "labels": {}, "claims": claims}


def from_json(document: dict[str, Any]) -> list[Statement]:
    result = read_document(document)
    assert not result.problems
    return result.statements


def from_rdf(path: Path, data: bytes) -> Iterator[Statement]:
    path.write_bytes(data)
    with open_source(path) as source:
        for parsed in rdf.read_ntriples(source, LoadOptions(), {}, hold_truthy=True):
            assert not parsed.rejects
            yield from parsed.statements


def by_id(statements: Iterable[Statement]) -> dict[str, Statement]:
    return {one.id: normal_form(one) for one in statements}


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(documents())
def test_random_statements_agree(tmp_path: Path, document: dict[str, Any]) -> None:
    written = write_entity(json.loads(json.dumps(document)))
    assert by_id(from_rdf(tmp_path / "entity.nt", written)) == by_id(from_json(document))


def agreement(tmp_path: Path, documents_: Iterable[dict[str, Any]]) -> tuple[int, int]:
    """Returns how many statements agree, and how many can't be compared."""
    agree = unknown = 0
    for document in documents_:
        made = from_json(document)
        lacking = {one.id for one in made if isinstance(one.value, UnknownValue)}
        # One document was changed by hand and has two statements of one id.
        ids = Counter(one.id for one in made)
        lacking |= {id_ for id_, number in ids.items() if number > 1}
        expected = {id_: one for id_, one in by_id(made).items() if id_ not in lacking}
        found = by_id(from_rdf(tmp_path / "entity.nt", write_entity(document)))
        assert {id_: one for id_, one in found.items() if id_ not in lacking} == expected
        agree += len(expected)
        unknown += len(lacking)
    return agree, unknown


def test_statements_of_the_demo_slice_agree(tmp_path: Path) -> None:
    documents_ = [json.loads(line) for line in DEMO.read_text().splitlines()]
    agree, unknown = agreement(tmp_path, [one for one in documents_ if one["claims"]])
    assert (agree, unknown) == (1_156, 0)


@pytest.mark.data
def test_statements_of_real_documents_agree(tmp_path: Path, data_dir: Path) -> None:
    found: list[dict[str, Any]] = []
    for path in sorted((data_dir / "wikidata_docs" / "wikibase_sdk_json").glob("[PQ]*.json")):
        found += [dict(one) for one in expand(json.loads(path.read_bytes()))]
    agree, unknown = agreement(
        tmp_path, [one for one in found if one.get("claims") and "id" in one]
    )
    assert (agree, unknown) == (891, 1)
