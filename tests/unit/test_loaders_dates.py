"""Dates that cannot be are text, whatever source they come from."""

from __future__ import annotations

import calendar
import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service.model.values import StringValue, Time, UnknownValue, Value
from graph_service.store.protocol import Store
from loaders.dates import is_possible
from loaders.load import load
from loaders.rdf.values import XSD, literal_value
from loaders.tables.kgtk_values import read_kgtk_value


@given(st.integers(1, 9999), st.integers(1, 13), st.integers(1, 32))
def test_days_are_those_of_a_calendar(year: int, month: int, day: int) -> None:
    try:
        date(year, month, day)
        expected = True
    except ValueError:
        # The Julian calendar has 29 February in every fourth year.
        expected = (month, day) == (2, 29) and year % 4 == 0
    assert is_possible(year, month, day) is expected
    assert calendar.isleap(year) <= is_possible(year, 2, 29)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("1999-13-45", "date"),
        ("20240101", "date"),
        ("20240101Z", "dateTime"),
        ("2019-02-31", "date"),
        ("2019-02-29", "date"),
        ("2019-04-31Z", "date"),
        ("2019-00-10", "date"),
        ("2019-01-00", "date"),
        ("1831-18", "gYearMonth"),
        ("1831-00", "gYearMonth"),
        ("2000-01-01T26:90:60Z", "dateTime"),
        ("2000-01-01T24:00:01Z", "dateTime"),
        ("2000-01-01T10:61:00", "dateTime"),
        ("2000-01-01T10:00:00+25:00", "dateTime"),
        ("2000-01-01T10:00:00+10:75", "dateTime"),
        ("0000", "gYear"),
    ],
)
def test_an_impossible_literal_of_rdf_is_text(text: str, datatype: str) -> None:
    assert literal_value(text, XSD + datatype, None) == StringValue(text, XSD + datatype)


@pytest.mark.parametrize(
    ("text", "datatype", "time", "precision"),
    [
        ("2020-02-29", "date", "2020-02-29T00:00:00Z", 11),
        ("1900-02-29", "date", "1900-02-29T00:00:00Z", 11),
        ("-0044-03-15", "date", "-0044-03-15T00:00:00Z", 11),
        ("12022", "gYear", "12022-00-00T00:00:00Z", 9),
        ("1999-12", "gYearMonth", "1999-12-00T00:00:00Z", 10),
        ("1999-12-31T23:59:60Z", "dateTime", "1999-12-31T23:59:60Z", 14),
        ("1999-12-31T24:00:00Z", "dateTime", "1999-12-31T24:00:00Z", 14),
    ],
)
def test_a_possible_literal_is_a_time(text: str, datatype: str, time: str, precision: int) -> None:
    value = literal_value(text, XSD + datatype, None)
    assert isinstance(value, Time)
    assert (value.time, value.precision) == (time, precision)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("^2020-13-45T00:00:00Z/11", StringValue("2020-13-45T00:00:00Z/11")),
        ("^2020-02-30", StringValue("2020-02-30")),
        ("^2020-02-29", Time("2020-02-29T00:00:00Z", 11)),
        ("^1952-00-00T00:00:00Z/9", Time("1952-00-00T00:00:00Z", 9)),
        ("^2020-01-01T25:00", StringValue("2020-01-01T25:00")),
    ],
)
def test_impossible_dates_of_kgtk_are_text(cell: str, expected: Value) -> None:
    assert read_kgtk_value(cell) == expected


@pytest.mark.parametrize(
    ("stamp", "is_time"),
    [
        ("+2020-13-41T00:00:00Z", False),
        ("+2019-02-30T00:00:00Z", False),
        ("+2020-01-01T26:00:00Z", False),
        ("+1952-00-00T00:00:00Z", True),
        ("-13798000000-00-00T00:00:00Z", True),
        ("+1500-02-29T00:00:00Z", True),
    ],
)
def test_impossible_dates_of_wikibase_are_kept_as_they_came_and_counted(
    tmp_store: Store, tmp_path: Path, stamp: str, is_time: bool
) -> None:
    time = {"time": stamp, "timezone": 0, "before": 0, "after": 0, "precision": 11,
            "calendarmodel": "http://www.wikidata.org/entity/Q1985727"}  # fmt: skip
    claim = {
        "id": "Q1$00000000-0000-0000-0000-000000000001",
        "rank": "normal",
        "mainsnak": {
            "snaktype": "value",
            "property": "P1",
            "datatype": "time",
            "datavalue": {"type": "time", "value": time},
        },
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"id": "Q1", "type": "item", "claims": {"P1": [claim]}}))
    report = load(path, store=tmp_store, graph="g")
    [statement] = [item for chunk in tmp_store.scan_statements("g@1") for item in chunk]
    assert isinstance(statement.value, Time if is_time else UnknownValue)
    reason = "values of data type time kept as they came"
    assert report.skipped.get(reason, 0) == (not is_time)
