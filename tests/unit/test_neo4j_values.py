"""Dates and moments of a Neo4j that its driver's classes can't hold, as the driver gives them."""

from __future__ import annotations

import importlib
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_service.model.values import StringValue, Time
from graph_service.store.neo4j.properties import property_values

XSD = "http://www.w3.org/2001/XMLSchema#"
EPOCH_DAYS_OF_YEAR_1 = -719_162


def received(tag: bytes, *fields: Any) -> Any:
    """Returns what the driver makes of a value that the server sent."""
    handler = importlib.import_module("neo4j._codec.hydration.bolt.v2.hydration_handler")
    structure = importlib.import_module("neo4j._codec.packstream").Structure
    scope = handler.HydrationHandler().new_hydration_scope()
    return scope.hydration_hooks[structure](structure(tag, *fields))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (received(b"D", -735_525), Time("-0044-03-15T00:00:00Z", 11)),
        (received(b"D", EPOCH_DAYS_OF_YEAR_1 - 1), StringValue("0000-12-31", XSD + "date")),
        (received(b"D", EPOCH_DAYS_OF_YEAR_1 - 2), StringValue("0000-12-30", XSD + "date")),
        (
            received(b"d", (EPOCH_DAYS_OF_YEAR_1 - 1) * 86_400 + 60, 0),
            StringValue("0000-12-31T00:01:00.000000000", XSD + "dateTime"),
        ),
        (received(b"D", EPOCH_DAYS_OF_YEAR_1), Time("0001-01-01T00:00:00Z", 11)),
        (received(b"D", 2_932_897), Time("10000-01-01T00:00:00Z", 11)),
        (received(b"I", 317_210_428_800, 0, 0), Time("12021-12-31T00:00:00Z", 14)),
        (received(b"I", 317_210_428_800, 0, 3600), Time("12021-12-31T01:00:00Z", 14, timezone=60)),
        (received(b"F", 317_210_428_800, 0, 3600), Time("12021-12-31T00:00:00Z", 14, timezone=60)),
        (received(b"d", 317_210_428_861, 0), Time("12021-12-31T00:01:01Z", 14)),
        (
            received(b"d", 317_210_428_800, 5),
            StringValue("12021-12-31T00:00:00.000000005Z", XSD + "dateTime"),
        ),
        (
            received(b"I", 317_210_428_800, 5, -5400),
            StringValue("12021-12-30T22:30:00.000000005-01:30", XSD + "dateTime"),
        ),
        (received(b"i", 317_210_428_800, 0, "Europe/Berlin"), Time("12021-12-31T00:00:00Z", 14)),
    ],
)
def test_years_before_1_and_after_9999(value: Any, expected: Time | StringValue) -> None:
    assert property_values(value) == [expected]
    assert property_values([received(b"D", 0), value]) == [
        Time("1970-01-01T00:00:00Z", 11),
        expected,
    ]


@given(st.dates(), st.integers(-40, 40))
def test_the_calendar_repeats_itself_after_400_years(day: date, cycles: int) -> None:
    days = day.toordinal() - date(1970, 1, 1).toordinal() + cycles * 146_097
    year = day.year + 400 * cycles
    expected = f"{'-' if year < 0 else ''}{abs(year):04d}-{day.month:02d}-{day.day:02d}"
    value = Time(f"{expected}T00:00:00Z") if year else StringValue(expected, XSD + "date")
    assert property_values(received(b"D", days)) == [value]


def test_moments_that_the_driver_can_hold_are_as_before() -> None:
    seconds = int(datetime(2020, 2, 29, 12, 30, tzinfo=UTC).timestamp())
    for value in (received(b"I", seconds, 0, 0), received(b"F", seconds, 0, 0)):
        assert property_values(value) == [Time("2020-02-29T12:30:00Z", 14)]


def test_bytes_have_no_form() -> None:
    assert property_values(b"\x00") is None
    assert property_values([received(b"D", 0), b"x"]) is None
