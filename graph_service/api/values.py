"""Values of statements that are no items, as GraphQL types."""

from __future__ import annotations

import strawberry


@strawberry.type(name="StringValue", description="Plain text, with its Wikibase or RDF data type.")
class StringValueType:
    """Plain text."""

    content: str = strawberry.field(description="The text.")
    datatype: str = strawberry.field(description="The data type, as the source names it.")


@strawberry.type(name="MonolingualTextValue", description="Text in one language.")
class MonolingualTextValueType:
    """Text in one language."""

    language: str = strawberry.field(description="The code of the language.")
    text: str = strawberry.field(description="The text.")


@strawberry.type(name="TimeValue", description="A date.")
class TimeValueType:
    """A date."""

    time: str = strawberry.field(
        description="As Wikibase writes it, such as 1947-07-30T00:00:00Z; parts beyond the "
        "precision mean nothing."
    )
    precision: int = strawberry.field(description="9 is a year, 10 a month, 11 a day, 7 a century.")
    calendar_model: strawberry.ID = strawberry.field(description="The item of the calendar.")
    before: int = strawberry.field(description="How many units earlier it may be.")
    after: int = strawberry.field(description="How many units later it may be.")
    timezone: int = strawberry.field(description="Minutes from UTC.")


@strawberry.type(name="GlobeCoordinateValue", description="A place, in degrees.")
class GlobeCoordinateValueType:
    """A place."""

    latitude: float = strawberry.field(description="Degrees north.")
    longitude: float = strawberry.field(description="Degrees east.")
    altitude: float | None = strawberry.field(description="Metres up, where it is known.")
    precision: float | None = strawberry.field(description="Degrees by which it may be off.")
    globe: strawberry.ID = strawberry.field(description="The item of the celestial body.")


@strawberry.type(name="UrlValue", description="An address.")
class UrlValueType:
    """An address."""

    url: str = strawberry.field(description="The address.")


@strawberry.type(name="SomeValue", description="There is a value, and it is not known.")
class SomeValueType:
    """An unknown value."""

    note: str = strawberry.field(default="unknown value", description="The same in words.")


@strawberry.type(name="NoValue", description="There is no value.")
class NoValueType:
    """No value."""

    note: str = strawberry.field(default="no value", description="The same in words.")


@strawberry.type(name="OtherValue", description="A value of a data type this version lacks.")
class OtherValueType:
    """A value of an unknown data type."""

    datatype: str = strawberry.field(description="The data type, as the source names it.")
    json: str = strawberry.field(description="The value as the source has it, in JSON.")
