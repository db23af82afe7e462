"""What a value is where queries compare it: a number with a unit, days, or a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from graph_service.model.days import Days, days_of, days_of_text
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    Value,
)
from graph_service.text.unit_words import unit_pattern

NUMBER_PATTERN = r"[+-]?[0-9]+([.][0-9]+)?"
"""A text that is read as a number."""
MEASURED_PATTERN = f"{NUMBER_PATTERN} {unit_pattern()}"
"""A text that is read as a number of a unit, in any case: ``12.4 km``."""
DATE_PATTERN = r"-?[0-9]{4}(-(0[0-9]|1[0-2])(-([0-2][0-9]|3[01]))?)?(T.*)?"
"""A text that is read as a date: a year, a month or a day."""
IDENTIFIER = "external-id"
"""The type of strings that are neither numbers nor dates, whatever their digits."""
_NUMBER = re.compile(NUMBER_PATTERN, re.ASCII)
_MEASURED = re.compile(MEASURED_PATTERN, re.ASCII | re.IGNORECASE)
_DATE = re.compile(DATE_PATTERN, re.ASCII | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and the id of its unit, if it has one."""

    number: Decimal
    unit: str | None = None


def number_of_text(text: str, /) -> Decimal | None:
    """Returns the number that a text is, or None.

    >>> number_of_text("12.50"), number_of_text("12 kg")
    (Decimal('12.50'), None)
    """
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def amount_of(value: Value, /) -> Amount | None:
    """Returns the number that a value is, or None; an entity is one if its id is.

    >>> amount_of(Quantity("1.96", "Q11573"))
    Amount(number=Decimal('1.96'), unit='Q11573')
    >>> amount_of(StringValue("12.4 km")), amount_of(StringValue("12 Monkeys"))
    (Amount(number=Decimal('12.4'), unit='km'), None)
    """
    if isinstance(value, Quantity):
        try:
            number = Decimal(value.amount)
        except InvalidOperation:
            return None
        return Amount(number, value.unit) if number.is_finite() else None
    text = _plain_text(value)
    return None if text is None else amount_of_text(text)


def amount_of_text(text: str, /) -> Amount | None:
    """Returns the number that a text is, of a unit or of none."""
    number = number_of_text(text)
    if number is not None:
        return Amount(number)
    if not _MEASURED.fullmatch(text):
        return None
    amount, unit = text.split()
    return Amount(Decimal(amount), unit)


def days_of_value(value: Value, /) -> Days | None:
    """Returns the days that a value may mean, or None; an entity is a date if its id is.

    >>> days_of_value(EntityValue("1994")) == days_of_value(StringValue("1994"))
    True
    """
    if isinstance(value, Time):
        return days_of(value)
    text = _plain_text(value)
    return None if text is None or not _DATE.fullmatch(text) else days_of_text(text)


def text_of(value: Value, /) -> str | None:
    """Returns the text of a value that is one."""
    match value:
        case StringValue(text=text) | MonolingualText(text=text):
            return text
        case Iri(iri=iri):
            return iri
    return None


def is_known(value: Value, /) -> bool:
    """Returns whether a value is one: not an unknown one, and not that there is none."""
    return not isinstance(value, SomeValue | NoValue)


def _plain_text(value: Value) -> str | None:
    """Returns the text of a string that is no identifier, or an entity's id."""
    if isinstance(value, StringValue):
        return None if value.datatype == IDENTIFIER else value.text
    return value.id if isinstance(value, EntityValue) else None
