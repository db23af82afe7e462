"""Values through the sources' notations and back; lines good and bad in any mixture (S1)."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_service.model.identity import content_statement_id
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
    Value,
    encode_fields,
    encode_value,
    value_of_fields,
)
from loaders.options import LoadOptions
from loaders.rdf import reader as rdf
from loaders.rdf.mapping import statement_id
from loaders.source import line_blocks, open_source
from loaders.tables import reader as tables
from loaders.tables.kgtk_values import read_kgtk_value
from loaders.wikibase import reader as wikibase
from loaders.wikibase.values import read_snak

WD = "http://www.wikidata.org/entity/"
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
entity_ids = st.builds(lambda kind, n: f"{kind}{n}", st.sampled_from("QP"), st.integers(1, 10**9))
numbers = st.from_regex(r"-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,12})?", fullmatch=True)
languages = st.from_regex(r"[a-z]{2,3}(-[a-z0-9]{2,8})?", fullmatch=True)
years = st.integers(-14_000_000_000, 20_000).filter(bool)
times = st.builds(
    # What is no date at all is kept as it came: a day has a month, and a month its days.
    lambda year, month, day, clock, precision, calendar, before, after, zone: Time(
        f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{day if month else 0:02d}"
        f"T{clock:02d}:00:00Z",
        precision,
        calendar,
        before,
        after,
        zone,
    ),
    years,
    st.integers(0, 12),
    st.integers(0, 28),
    st.integers(0, 23),
    st.integers(0, 14),
    st.sampled_from(["Q1985727", "Q1985786"]),
    st.integers(0, 9),
    st.integers(0, 9),
    st.integers(-720, 720),
)
floats = st.floats(-1000, 1000)
values: st.SearchStrategy[Value] = st.one_of(
    st.builds(EntityValue, entity_ids),
    st.builds(StringValue, texts, st.sampled_from(["string", "external-id", "math"])),
    st.builds(MonolingualText, texts, languages),
    st.builds(Quantity, numbers, st.none() | entity_ids, st.none() | numbers, st.none() | numbers),
    times,
    st.builds(Coordinates, floats, floats, st.none() | floats, st.none() | floats, entity_ids),
    st.builds(Iri, texts),
    st.just(SomeValue()),
    st.just(NoValue()),
)


def read_snak_value(snak: Any, skipped: Counter[str]) -> Value:
    return value_of_fields(read_snak(snak, skipped))


def signed(number: str | None) -> str | None:
    return number if number is None or number.startswith("-") else "+" + number


def to_snak(value: Value, old_years: bool) -> dict[str, Any]:
    """Writes a value as Wikibase does; years in 11 digits as it did until 2015."""
    data: dict[str, Any]
    match value:
        case EntityValue(id=id_):
            data = {"type": "wikibase-entityid", "value": {"id": id_}}
        case StringValue(text=text, datatype=datatype):
            made = {"type": "string", "value": text}
            return {"snaktype": "value", "property": "P1", "datavalue": made, "datatype": datatype}
        case MonolingualText(text=text, language=language):
            data = {"type": "monolingualtext", "value": {"text": text, "language": language}}
        case Quantity():
            number = {
                "amount": signed(value.amount),
                "unit": WD + value.unit if value.unit else "1",
            }
            if value.lower is not None:
                number["lowerBound"] = signed(value.lower)
            if value.upper is not None:
                number["upperBound"] = signed(value.upper)
            data = {"type": "quantity", "value": number}
        case Time():
            found = re.fullmatch(r"(-?)(\d+)(-.*)", value.time)
            assert found
            year = found[2].zfill(11) if old_years else found[2]
            data = {
                "type": "time",
                "value": {
                    "time": f"{found[1] or '+'}{year}{found[3]}",
                    "precision": value.precision,
                    "calendarmodel": WD + value.calendar,
                    "before": value.before,
                    "after": value.after,
                    "timezone": value.timezone,
                },
            }
        case Coordinates():
            place = {
                "latitude": value.latitude,
                "longitude": value.longitude,
                "altitude": value.altitude,
                "precision": value.precision,
                "globe": WD + value.globe,
            }
            data = {"type": "globecoordinate", "value": place}
        case Iri(iri=iri):
            made = {"type": "string", "value": iri}
            return {"snaktype": "value", "property": "P1", "datavalue": made, "datatype": "url"}
        case SomeValue():
            return {"snaktype": "somevalue", "property": "P1"}
        case _:
            return {"snaktype": "novalue", "property": "P1"}
    return {"snaktype": "value", "property": "P1", "datavalue": data}


@given(values, st.booleans())
def test_wikibase_json_round_trip(value: Value, old_years: bool) -> None:
    snak = json.loads(json.dumps(to_snak(value, old_years)))
    skipped: Counter[str] = Counter()
    assert read_snak_value(snak, skipped) == value
    assert encode_fields(read_snak(snak, skipped)) == encode_value(value)
    assert not skipped


def kgtk_escape(text: str, quote: str) -> str:
    return re.sub(rf"([\\|{quote}])", r"\\\1", text)


# KGTK's own files escape quotes twice, which is read as once: not told from a real backslash.
kgtk_texts = texts.filter(lambda text: "\\" not in text)


@given(
    st.one_of(
        st.tuples(texts, st.just("string")).map(
            lambda pair: (StringValue(pair[0]), f'"{kgtk_escape(pair[0], chr(34))}"')
        ),
        st.tuples(kgtk_texts, languages).map(
            lambda pair: (MonolingualText(*pair), f"'{kgtk_escape(pair[0], chr(39))}'@{pair[1]}")
        ),
        st.tuples(numbers, st.none() | entity_ids.filter(lambda id_: id_[0] == "Q")).map(
            lambda pair: (Quantity(*pair), pair[0] + (pair[1] or ""))
        ),
        entity_ids.map(lambda id_: (EntityValue(id_), id_)),
    )
)
def test_kgtk_round_trip(pair: tuple[Value, str]) -> None:
    value, cell = pair
    assert read_kgtk_value(cell) == value


@given(texts.filter(bool), texts.filter(bool), values, st.none() | texts)
def test_quick_statement_id_is_the_models(
    head: str, relation: str, value: Value, context: str | None
) -> None:
    encoded = encode_value(value)
    assert statement_id(head, relation, encoded, context) == content_statement_id(
        head, relation, encoded, context=context
    )


in_files = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "source"


@in_files
@given(st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"")), max_size=40))
def test_blocks_are_the_source_and_go_on_anywhere(path: Path, lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    # Bytes that a compressed file begins with are another format.
    if data.startswith((b"\x1f\x8b", b"BZh", b"\xfd7zXZ")):
        return
    path.write_bytes(data)
    with open_source(path) as source:
        found = list(line_blocks(source))
    assert b"".join(block.data for block in found) == data


TERMS = st.sampled_from(["a", "b", "ü", "c'd", "e.f"])
good_triples = st.tuples(
    TERMS,
    TERMS,
    st.one_of(TERMS.map(lambda name: ("r", name)), texts.map(lambda text: ("l", text))),
)
bad_lines = st.sampled_from(
    [
        b"<http://a/b> <http://a/b> <http://a/b c> .",
        b"<http://a/b> <http://a/b> .",
        b'"x" <http://a/b> "y" .',
        b'<http://a/b> <http://a/b> "y"@e_n .',
        b'<http://a/b> <http://a/b> "\xff\xfe" .',
        b"<http://a/b> <http://a/b> <http://a/b> . <http://a/b>",
        b'<http://a/b> <http://a/b> "a\\u0000" .',
        b"nonsense",
    ]
)


@in_files
@given(st.lists(st.one_of(good_triples, bad_lines), max_size=40))
def test_every_good_line_is_in_and_every_bad_one_is_reported_trap_22(
    path: Path, rows: list[bytes | tuple[str, str, tuple[str, str]]]
) -> None:
    lines: list[bytes] = []
    expected: list[tuple[str, str, Value]] = []
    bad: list[int] = []
    for number, row in enumerate(rows, start=1):
        if isinstance(row, bytes):
            lines.append(row)
            bad.append(number)
            continue
        head, relation, (kind, text) = row
        value: Value
        if kind == "r":
            object_, value = str(ox.NamedNode("http://a/" + text)), EntityValue("http://a/" + text)
        else:
            object_, value = str(ox.Literal(text)), StringValue(text)
        lines.append(f"<http://a/{head}> <http://a/{relation}> {object_} .".encode())
        expected.append((f"http://a/{head}", f"http://a/{relation}", value))
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    found: list[tuple[str, str, Value]] = []
    rejected: list[int] = []
    with open_source(path) as source:
        for parsed in rdf.read_ntriples(source, LoadOptions(), {}, hold_truthy=True):
            found += [(one.head, one.relation, one.value) for one in parsed.statements]
            for reject in parsed.rejects:
                rejected.append(reject.line)
                at = sum(len(line) + 1 for line in lines[: reject.line - 1])
                assert reject.offset == at
    assert found == expected
    assert rejected == bad


plain_cells = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs"]), min_size=1, max_size=8
).filter(lambda cell: not cell.startswith(("<", "\ufeff", "wd:", "wdt:")))


@in_files
@given(st.lists(st.lists(plain_cells, min_size=1, max_size=5), min_size=1, max_size=30))
def test_tsv_rows_are_statements_or_rejects(path: Path, rows: list[list[str]]) -> None:
    path.write_bytes("".join("\t".join(row) + "\n" for row in [["h", "r", "t"], *rows]).encode())
    statements, rejects = 0, 0
    with open_source(path) as source:
        options = LoadOptions(columns=("head", "relation", "tail"), header=True)
        for parsed in tables.read_tsv(source, options, {}):
            statements += len(parsed.statements)
            rejects += len(parsed.rejects)
    good = sum(len(row) == 3 for row in rows)
    assert (statements, rejects) == (good, len(rows) - good)


@in_files
@given(st.lists(st.one_of(st.integers(1, 99), st.binary(min_size=1, max_size=20)), max_size=20))
def test_json_lines_good_and_bad(path: Path, rows: list[int | bytes]) -> None:
    lines: list[bytes] = []
    bad = 0
    for row in rows:
        if isinstance(row, int):
            lines.append(json.dumps({"id": f"Q{row}", "claims": {}, "labels": {}}).encode())
        else:
            lines.append(b"{" + row.replace(b"\n", b"") + b"\xff")
            bad += 1
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    entities, rejects = 0, 0
    with open_source(path) as source:
        for parsed in wikibase.read_lines(source, LoadOptions(), {}):
            entities += len(parsed.entities)
            rejects += len(parsed.rejects)
    assert (entities, rejects) == (len(rows) - bad, bad)
