"""The shapes of values and of what qualifies a statement; see ``contract``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph_service.model.contract import (
    Id,
    ItemId,
    PropertyId,
    Shape,
    at,
    computed,
    shape,
)
from graph_service.model.statement import Reference, Snak
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

VALUE_SHAPES: Mapping[Any, Shape] = {
    StringValue: shape(
        "StringValue",
        "Plain text, with its Wikibase or RDF data type.",
        content=at("The text.", path="text"),
        datatype="The data type, as the source names it.",
    ),
    MonolingualText: shape(
        "MonolingualTextValue",
        "Text in one language.",
        language="The code of the language.",
        text="The text.",
    ),
    Quantity: shape(
        "QuantityValue",
        "A decimal number, exact, as text.",
        amount="In decimal digits.",
        unit=at("The unit; null for a bare number.", kind=ItemId),
        lower_bound=at("The least that it may be.", path="lower"),
        upper_bound=at("The most that it may be.", path="upper"),
    ),
    Time: shape(
        "TimeValue",
        "A date.",
        time=(
            "As Wikibase writes it, such as 1947-07-30T00:00:00Z; parts beyond the precision "
            "mean nothing."
        ),
        precision="9 is a year, 10 a month, 11 a day, 7 a century.",
        calendar_model=at("The item of the calendar.", path="calendar", kind=Id),
        before="How many units earlier it may be.",
        after="How many units later it may be.",
        timezone="Minutes from UTC.",
    ),
    Coordinates: shape(
        "GlobeCoordinateValue",
        "A place, in degrees.",
        latitude="Degrees north.",
        longitude="Degrees east.",
        altitude="Metres up, where it is known.",
        precision=at("Degrees by which it may be off.", alias="coordinatePrecision"),
        globe=at("The item of the celestial body.", kind=Id),
    ),
    Iri: shape(
        "UrlValue",
        "An address.",
        url=at("The address.", path="iri"),
    ),
    SomeValue: shape(
        "SomeValue",
        "There is a value, and it is not known.",
        note="The same in words.",
    ),
    NoValue: shape(
        "NoValue",
        "There is no value.",
        note="The same in words.",
    ),
    UnknownValue: shape(
        "OtherValue",
        "A value of a data type this version lacks.",
        datatype="The data type, as the source names it.",
        json="The value as the source has it, in JSON.",
    ),
    EntityValue: shape(
        "ItemValue",
        "Another item.",
        item=at("The item.", path="id", kind=ItemId),
    ),
    Snak: shape(
        "PropertyValue",
        "One property with one value: a qualifier, or a part of a reference.",
        property=at("The property.", path="relation", kind=PropertyId),
        value="The value, typed.",
        value_text=computed("The value as a person reads it."),
    ),
    Reference: shape(
        "Reference",
        "One source of a statement.",
        parts="What is said of the source.",
    ),
}
"""By the dataclass that is shown."""
