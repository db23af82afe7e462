"""The form in which a statement from Wikibase's JSON and the same one from its RDF are equal.

RDF lacks some of what JSON has; this is what the two agree in, see ``docs/reference/loading.md``. A load
keeps what its source has, so this is for comparing alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graph_service.model.statement import Reference, Snak, Statement
from graph_service.model.values import Coordinates, Iri, StringValue, Time, Value, encode_value
from loaders.rdf.wikidata import property_order

_YEAR, _MONTH, _DAY = 9, 10, 11
_FILES = frozenset(("commonsMedia", "geo-shape", "tabular-data"))


def normal_form(statement: Statement, /) -> Statement:
    """Returns a statement without what Wikibase's RDF does not say of it."""
    references = {
        Reference(_normal_snaks(reference.parts)): None for reference in statement.references
    }
    return replace(
        statement,
        value=normal_value(statement.value),
        qualifiers=_normal_snaks(statement.qualifiers),
        references=tuple(
            sorted(
                references,
                key=lambda reference: [_snak_order(part) for part in reference.parts],
            )
        ),
    )


def _normal_snaks(snaks: Iterable[Snak]) -> tuple[Snak, ...]:
    normal = {Snak(snak.relation, normal_value(snak.value)) for snak in snaks}
    return tuple(sorted(normal, key=_snak_order))


def _snak_order(snak: Snak) -> tuple[tuple[int, str], str]:
    return property_order(snak.relation), encode_value(snak.value)


def normal_value(value: Value, /) -> Value:
    """Returns a value without what RDF does not say of it.

    >>> normal_value(Time("1952-03-11T00:00:00Z", 9, before=1)).time
    '1952-00-00T00:00:00Z'
    >>> normal_value(Iri("http://a.example/")) == normal_value(StringValue("http://a.example/"))
    True
    """
    match value:
        case StringValue(text=text, datatype=datatype):
            return StringValue(text.replace("_", " ") if datatype in _FILES else text)
        case Iri(iri=iri):
            return StringValue(iri)
        case Time():
            return _normal_time(value)
        case Coordinates():
            return replace(value, altitude=None)
        case _:
            return value


def _normal_time(value: Time) -> Time:
    date, _, clock = value.time.partition("T")
    year, month, day = date.rsplit("-", 2)
    if value.precision <= _YEAR:
        month = "00"
    if value.precision <= _MONTH:
        day = "00"
    if value.precision <= _DAY:
        clock = "00:00:00Z"
    return replace(value, time=f"{year}-{month}-{day}T{clock}", before=0, after=0)
