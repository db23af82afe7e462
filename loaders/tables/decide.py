"""What a column is, decided by all its cells and its header."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from loaders.tables.cells import TICK_LETTERS
from loaders.tables.date_cells import Order
from loaders.tables.mapping import ColumnMapping, ColumnType
from loaders.tables.number_cells import Mark
from loaders.tables.profile import BRACKETS, CellCounts, ColumnProfile, split_list
from loaders.tables.wording import (
    header_words,
    is_id_name,
    is_name_header,
    is_year_name,
    referred_name,
    relation_name,
    singular,
    split_unit,
)

# Of cells that say something, so many must be of a type; the others stay text, and are counted.
_TYPICAL_SHARE = 0.8
_REPEATED_SHARE = 0.3
_LIST_PART_CHARACTERS = 40
_CODES = frozenset(
    [
        "zip",
        "zipcode",
        "postal",
        "postcode",
        "postalcode",
        "plz",
        "phone",
        "fax",
        "tel",
        "telephone",
        "mobile",
        "code",
        "isbn",
        "issn",
        "ean",
        "gtin",
        "sku",
        "iban",
        "bic",
        "vat",
        "extension",
        "serial",
        "account",
        "barcode",
    ]
)
_TEXTS = frozenset(
    [
        "note",
        "notes",
        "comment",
        "comments",
        "remark",
        "remarks",
        "description",
        "address",
        "street",
        "text",
        "memo",
        "email",
        "mail",
        "summary",
        "abstract",
        "bemerkung",
    ]
)
_FEWEST_TICKS = 3
"""Of a column that has nothing else."""
_NAMES_OF_THINGS = frozenset(
    [
        "city",
        "town",
        "country",
        "state",
        "region",
        "province",
        "county",
        "continent",
        "category",
        "brand",
        "manufacturer",
        "maker",
        "supplier",
        "vendor",
        "customer",
        "client",
        "buyer",
        "seller",
        "merchant",
        "payee",
        "payer",
        "sender",
        "recipient",
        "beneficiary",
        "company",
        "department",
        "division",
        "team",
        "owner",
        "author",
        "currency",
        "colour",
        "color",
        "material",
        "language",
        "genre",
        "status",
        "type",
        "warehouse",
        "location",
        "site",
        "project",
    ]
)
_NAMES_OF_ROWS = frozenset(["name", "title", "label", "bezeichnung", "titel"])
"""Headers of what a row itself may be called."""
_SHARED_KINDS = frozenset(
    [
        "city",
        "town",
        "country",
        "state",
        "region",
        "province",
        "county",
        "continent",
        "currency",
        "colour",
        "color",
        "language",
    ]
)
"""Kinds of things that are the same whatever they are said of: a ship city is a city."""
_NO_KIND = frozenset(
    ["in", "at", "of", "by", "from", "to", "for", "with", "on", "via", "into", "about", "as", "is"]
)


@dataclass(slots=True)
class Decision:
    """A column's mapping, and what is to be said of it to people."""

    mapping: ColumnMapping
    notes: list[str] = field(default_factory=list)


def decide_column(profile: ColumnProfile, request: dict[str, Any], /) -> Decision:
    """Returns what a column is.

    Args:
        profile: Its cells.
        request: What a mapping file says of it, as fields of ``ColumnMapping``.
    """
    name, unit = split_unit(profile.name)
    relation = relation_name(profile.name) or profile.name
    decision = Decision(ColumnMapping(profile.name, ColumnType.TEXT, relation))
    counts = profile.cells
    fields: dict[str, Any] = {"unit": unit}
    if request.get("separator"):
        counts = profile.parts.get(request["separator"], counts)
        type_ = _type_of(counts, name)
    elif "type" in request:
        type_ = request["type"]
    else:
        type_ = _type_of(counts, name)
        separator = _separator(profile, type_)
        if separator:
            counts = profile.parts[separator]
            type_ = _type_of(counts, name)
            # Brackets make a list of any texts, the others of names that come again.
            if type_ is ColumnType.TEXT and (separator != BRACKETS or _are_names(counts)):
                type_ = ColumnType.ENTITY
            fields["separator"] = separator
    if _are_ticks(profile):
        type_ = ColumnType.YES_NO
    if type_ is ColumnType.YEAR and unit:
        type_ = ColumnType.NUMBER
    type_ = request.get("type", type_)
    fields["type"] = type_
    if type_ is ColumnType.NUMBER:
        fields["decimal"] = _decimal(counts)
        is_requested = request.get("type") is ColumnType.NUMBER
        fields["accounting"] = is_requested or _is_accounting(counts, _numbers(counts))
        fields["unit"] = unit or _common_unit(counts, decision.notes)
    elif type_ is ColumnType.DATE:
        fields["first"] = _orders(counts, decision.notes)
    elif type_ is ColumnType.ENTITY:
        fields["kind"] = kind_of(profile.name)
        if profile.lists[","] and not fields.get("separator"):
            decision.notes.append('commas stay in names: say list = "," if they separate them')
        fields["relation"] = referred_name(profile.name) or relation
    elif type_ is ColumnType.SKIP:
        fields["relation"] = ""
        decision.notes.append("bytes" if counts.cells else "no cell says anything")
    odd = _odd(counts, type_)
    if odd:
        cells = "1 cell is" if odd == 1 else f"{odd:,} cells are"
        decision.notes.append(f"{cells} not of type {type_}: read as text")
    fields |= request
    decision.mapping = ColumnMapping(**{"name": profile.name, "relation": relation} | fields)
    return decision


def kind_of(name: str, /) -> str:
    """Returns what the entities of a column are by its header; "" where that is no noun.

    >>> kind_of("Ship City"), kind_of("Colours"), kind_of("Used in")
    ('city', 'colour', '')
    """
    words = (referred_name(name) or relation_name(name)).split()
    if not words or words[-1] in _NO_KIND:
        return ""
    last = singular(words[-1])
    return last if last in _SHARED_KINDS else " ".join([*words[:-1], last])


def _type_of(counts: CellCounts, name: str) -> ColumnType:
    total = counts.cells
    words = {word.lower() for word in header_words(name)}
    if not total:
        return ColumnType.SKIP
    if counts.binary == total:
        return ColumnType.SKIP
    # NO alone may be Norway.
    if counts.yes + counts.no == total and counts.yes:
        return ColumnType.YES_NO
    if counts.wikidata == total:
        return ColumnType.ENTITY
    if counts.addresses >= _TYPICAL_SHARE * total:
        return ColumnType.ADDRESS
    if counts.dates and counts.dates + counts.years >= _TYPICAL_SHARE * total:
        return ColumnType.DATE
    numbers = _numbers(counts)
    if numbers >= _TYPICAL_SHARE * total:
        if counts.coded or words & _CODES:
            return ColumnType.TEXT
        if is_id_name(name):
            return ColumnType.ENTITY if referred_name(name) else ColumnType.TEXT
        if counts.years == numbers == total and is_year_name(name):
            return ColumnType.YEAR
        return ColumnType.NUMBER
    if words & (_TEXTS | _CODES) or counts.short < _TYPICAL_SHARE * total:
        return ColumnType.TEXT
    last = singular(header_words(name)[-1].lower()) if words else ""
    if last in _NAMES_OF_THINGS or counts.repeated >= _REPEATED_SHARE * total:
        return ColumnType.ENTITY
    is_name = last in _NAMES_OF_ROWS or is_name_header(name)
    if not is_name and counts.proper >= max(_TYPICAL_SHARE * total, 2):
        return ColumnType.ENTITY
    return ColumnType.TEXT


def _are_ticks(profile: ColumnProfile) -> bool:
    """Returns whether an x says yes: the other cells are empty or say no in a word, or all are an x.

    An x among other letters is a letter.
    """
    counts = profile.cells
    return (
        counts.ticks > 0
        and counts.ticks + counts.no == counts.cells
        and (bool(profile.blank) or counts.cells >= _FEWEST_TICKS)
        and all(len(cell) > 1 or cell in TICK_LETTERS for cell in profile.distinct)
    )


def _numbers(counts: CellCounts) -> int:
    """Returns how many cells are numbers; those with an unknown unit only if all have it."""
    unknown = counts.unknown_units
    numbers = counts.numbers
    if unknown and (len(unknown) > 1 or unknown.total() != counts.numbers):
        numbers -= unknown.total()
    return numbers if _is_accounting(counts, numbers) else numbers - counts.accounting


def _is_accounting(counts: CellCounts, numbers: int) -> bool:
    """Returns whether numbers are written as books write them, by all cells of the column.

    Whole numbers in brackets alone may be marks of notes.
    """
    are_amounts = counts.marks[Mark.NONE] < numbers or any(counts.units.keys() - {""})
    return numbers == counts.cells and (are_amounts or counts.accounting < numbers)


def _odd(counts: CellCounts, type_: ColumnType) -> int:
    """Returns how many cells are not of the column's type."""
    match type_:
        case ColumnType.NUMBER:
            return counts.cells - _numbers(counts)
        case ColumnType.DATE:
            return counts.cells - counts.dates - counts.years
        case ColumnType.YEAR:
            return counts.cells - counts.years
        case ColumnType.YES_NO:
            return counts.cells - counts.yes - counts.no - counts.ticks
        case ColumnType.ADDRESS:
            return counts.cells - counts.addresses
        case _:
            return 0


def _separator(profile: ColumnProfile, type_: ColumnType) -> str:
    """Returns what separates the values of lists; "" where cells are single values."""
    if type_ not in (ColumnType.TEXT, ColumnType.ENTITY):
        return ""
    words = {word.lower() for word in header_words(profile.name)}
    for separator, parts in profile.parts.items():
        if not profile.lists[separator]:
            continue
        if separator == BRACKETS:
            if _are_bracketed(profile):
                return separator
            continue
        if words & _TEXTS:
            continue
        if separator == "," and not _are_comma_lists(profile, parts):
            continue
        if _are_names(parts):
            return separator
    return ""


def _are_comma_lists(profile: ColumnProfile, parts: CellCounts) -> bool:
    """Returns whether commas separate values: "Vice President, Sales" is one title.

    The parts stand alone in other cells; or the header is a plural, some cells have one value and
    others more, and half of all values come again.
    """
    if profile.share_alone(",") >= _TYPICAL_SHARE:
        return True
    *_, last = header_words(profile.name) or [""]
    sizes = {len(split_list(cell, ",")) for cell in profile.distinct}
    return singular(last) != last and sizes > {1} and 2 * parts.repeated >= parts.cells


def _are_bracketed(profile: ColumnProfile) -> bool:
    """Returns whether brackets make lists, and are no remark in a text such as [1]."""
    are_most = 2 * profile.lists[BRACKETS] > profile.cells.cells
    return are_most or profile.share_alone(BRACKETS) >= _TYPICAL_SHARE


def _are_names(parts: CellCounts) -> bool:
    """Returns whether the parts of lists are short names, numbers or dates that come again."""
    is_short = parts.characters <= _LIST_PART_CHARACTERS * parts.cells
    fits = parts.short + _numbers(parts) + parts.dates >= _TYPICAL_SHARE * parts.cells
    return is_short and fits and parts.repeated > 0


def _decimal(counts: CellCounts) -> str:
    """Returns the decimal mark of numbers that may be two; "" if none of them decides."""
    dot, comma = counts.marks[Mark.DOT], counts.marks[Mark.COMMA]
    if not counts.either:
        return ""
    if bool(dot) != bool(comma):
        return "." if dot else ","
    if not dot and len(counts.either_marks) == 1:
        (mark,) = counts.either_marks
        # A decimal fraction has no last zero where others have no fraction at all, and long
        # numbers would be grouped too.
        if counts.integers and not counts.long_integers and counts.either_zero:
            return "," if mark == "." else "."
    return ""


def _common_unit(counts: CellCounts, notes: list[str]) -> str:
    """Returns the unit of numbers without one: the one currency that most of the column have.

    An unknown unit is one if the whole column has it.
    """
    if counts.unknown_units and _numbers(counts) == counts.numbers:
        return next(iter(counts.unknown_units))
    units = {unit: count for unit, count in counts.units.items() if unit}
    unitless = counts.units[""]
    if not units or not unitless:
        return ""
    (unit, count), *others = sorted(units.items(), key=lambda item: -item[1])
    is_currency = not unit[0].islower() and (len(unit) == 3 or not unit.isalpha())
    if not others and is_currency and count >= unitless:
        notes.append(
            f"numbers without a currency: {unitless:,}, read as {unit} as the other {count:,}"
        )
        return unit
    notes.append(f"numbers without a unit: {unitless:,}; say unit if they have one")
    return ""


def _orders(counts: CellCounts, notes: list[str]) -> dict[str, str]:
    """Returns what comes first in dates that may be two, by what separates them."""
    orders: dict[str, str] = {}
    for separator in sorted({separator for separator, _ in counts.orders if separator}):
        day = counts.orders[separator, Order.DAY_FIRST]
        month = counts.orders[separator, Order.MONTH_FIRST]
        either = counts.orders[separator, Order.EITHER]
        if bool(day) != bool(month):
            orders[separator] = "day" if day else "month"
        elif either:
            notes.append(
                f"{either:,} dates with {separator!r} may be two, as 03.04.2024 is in March or "
                'April, and stay text: say first = "day" or "month"'
            )
    return orders
