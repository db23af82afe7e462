"""A small catalogue as a table makes it: parts and suppliers with classes, numbers, dates, flags."""

from __future__ import annotations

from graph_service.model.classes import RDF_TYPE
from graph_service.model.statement import Entity, Statement, make_statement
from graph_service.model.values import EntityValue, Quantity, StringValue, Time, Value

_PARTS = {
    "rope": ("Steel Rope", "bolt", "black", "12.50", "EUR", "0", "2015-03-04", False, "40"),
    "hook": ("Crane Hook", "acme", "red", "40", "EUR", "7", "2019-01-20", False, "900"),
    "motor": ("Lift Motor", "acme", "black", "250", "EUR", "2", "2021-11-02", False, "30000"),
    "lamp": ("Cabin Lamp", None, "red", "9.90", "EUR", "0", "2009-06-30", True, "350"),
    "bell": ("Alarm Bell", "bolt", "grey", "15", "EUR", "31", "2009-02-11", True, "120"),
}
_SUPPLIERS = {
    "acme": ("Acme", "germany", 1921, "310", "post@acme.example"),
    "bolt": ("Bolt & Sons", "norway", 1988, "45", None),
    "carl": ("Carl Metals", "germany", 2004, "12", "carl@metals.example"),
}
_LABELS: dict[str, str] = {
    "class/part": "part", "class/supplier": "supplier", "class/colour": "colour",
    "class/country": "country", "black": "black", "red": "red", "grey": "grey",
    "germany": "Germany", "norway": "Norway",
    **{id_: row[0] for id_, row in _PARTS.items()},
    **{id_: row[0] for id_, row in _SUPPLIERS.items()},
}  # fmt: skip
ENTITIES = [Entity(id_, labels={"en": label}) for id_, label in _LABELS.items()]


def _statements() -> list[tuple[str, str, Value]]:
    rows: list[tuple[str, str, Value]] = []
    for id_, (_, supplier, colour, price, unit, stock, day, gone, grams) in _PARTS.items():
        rows += [
            (id_, RDF_TYPE, EntityValue("class/part")),
            (id_, "colour", EntityValue(colour)),
            (id_, "price", Quantity(price, unit)),
            (id_, "units in stock", Quantity(stock)),
            (id_, "introduced", Time(f"{day}T00:00:00Z", 11)),
            (id_, "discontinued", StringValue("true" if gone else "false", "boolean")),
            (id_, "weight in grams", Quantity(grams)),
        ]
        if supplier:
            rows.append((id_, "supplier", EntityValue(supplier)))
    for id_, (_, country, year, employees, email) in _SUPPLIERS.items():
        rows += [
            (id_, RDF_TYPE, EntityValue("class/supplier")),
            (id_, "country", EntityValue(country)),
            (id_, "founded", Time(f"{year}-00-00T00:00:00Z", 9)),
            (id_, "employees", Quantity(employees)),
        ]
        if email:
            rows.append((id_, "email", StringValue(email)))
    rows += [(id_, RDF_TYPE, EntityValue("class/colour")) for id_ in ("black", "red", "grey")]
    return rows + [(id_, RDF_TYPE, EntityValue("class/country")) for id_ in ("germany", "norway")]


TRIPLES = _statements()
STATEMENTS: list[Statement] = [make_statement(*row) for row in TRIPLES]
LABELS = _LABELS
