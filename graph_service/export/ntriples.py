"""N-Triples and N-Quads: each statement one triple, terms as the usual predicates.

Wikidata's properties are written as its own truthy triples are (``wdt:P31``), its entities under
``wd:``; other IRIs as they are. Ids that are no IRIs (bare names, blank nodes) are percent-encoded
behind ``urn:graph-service:``, which our loader takes off again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import IO
from urllib.parse import quote

import pyoxigraph as ox

from graph_service.export.content import ExportedGraph
from graph_service.export.report import Omissions
from graph_service.model.identity import (
    WIKIDATA_ID,
    Fingerprints,
    content_statement_id,
    normalise_entity_id,
)
from graph_service.model.statement import Entity, EntityKind, Rank, Statement
from graph_service.model.values import (
    EARTH,
    GREGORIAN,
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
    encode_value,
)

NAME_SCHEME = "urn:graph-service:"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ALT_LABEL = "http://www.w3.org/2004/02/skos/core#altLabel"
DESCRIPTION = "http://schema.org/description"
SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
REDIRECTS = "http://dbpedia.org/ontology/wikiPageRedirects"
WIKIDATA = "http://www.wikidata.org/"
_NAMES = frozenset(
    (
        RDFS_LABEL,
        ALT_LABEL,
        DESCRIPTION,
        "https://schema.org/description",
        "http://www.w3.org/2004/02/skos/core#prefLabel",
        "http://www.w3.org/2000/01/rdf-schema#comment",
    )
)
_LINKS = frozenset((SAME_AS, REDIRECTS))
_PROPERTY = re.compile(r"P[1-9][0-9]*")
_LANGUAGE = re.compile(r"[a-z]{1,8}(?:-[a-z0-9]{1,8})*")
_TIME = re.compile(r"(-?)(\d{4,16})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)Z")
_DECIMAL = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
_COMMONS = "http://commons.wikimedia.org/"

LOST_ID = "statements whose id is no part of the format and is made anew from their content"
LOST_RANK = "ranks (preferred or deprecated)"
LOST_VALUE = "values whose type, unit, bounds, precision or calendar RDF literals do not hold"
LOST_STATEMENT = "statements that say there is no value, or hold a value RDF has no form for"
TAKEN_AS_NAME = "statements that are read as names or links of their entity"
LOST_QUALIFIERS = "qualifiers"
LOST_REFERENCES = "references"
LOST_CONTEXT = "contexts of statements (N-Quads keep them)"
LOST_LANGUAGE = "names in languages whose tag RDF does not allow"
LOST_KIND = "properties marked as such, outside Wikidata"
LOST_DATATYPE = "data types of properties"
LOST_REVISION = "revision numbers"
LOST_ENTITY = "entities without statements and names"


class NTriplesWriter:
    """Writes the triples of a graph; quads where ``quads``."""

    def __init__(
        self, out: IO[bytes], exported: ExportedGraph, omissions: Omissions, /, *, quads: bool
    ) -> None:
        self._out = out
        self._omissions = omissions
        self._quads = quads
        self._unconnected: set[str] = set()
        # The comment names Wikidata's properties, so that the loader knows them from the start.
        out.write(
            f"# {exported.info.edition}, written by graph-service; statements of Wikidata's "
            f"properties are {WIKIDATA}prop/direct/ triples\n".encode()
        )

    def entity(self, entity: Entity, /) -> None:
        """Writes the names and links of an entity."""
        omissions = self._omissions
        subject = iri_of(entity.id)
        of_wikidata = subject.startswith(f"<{WIKIDATA}entity/")
        lines: list[str] = []

        def add(predicate: str, language: str, text: str) -> None:
            if _LANGUAGE.fullmatch(language):
                lines.append(f"{subject} <{predicate}> {_quoted(text)}@{language} .\n")
            else:
                omissions.add(LOST_LANGUAGE)

        for language, text in entity.labels.items():
            add(RDFS_LABEL, language, text)
        for language, text in entity.descriptions.items():
            add(DESCRIPTION, language, text)
        for language, names in entity.aliases.items():
            for text in names:
                add(ALT_LABEL, language, text)
        lines += [f"{subject} <{SAME_AS}> {iri_of(other)} .\n" for other in entity.same_as]
        if entity.redirect is not None:
            predicate = SAME_AS if of_wikidata else REDIRECTS
            lines.append(f"{subject} <{predicate}> {iri_of(entity.redirect)} .\n")
        if entity.kind is EntityKind.PROPERTY:
            if of_wikidata:
                lines.append(f"{subject} {RDF_TYPE} <http://wikiba.se/ontology#Property> .\n")
            else:
                omissions.add(LOST_KIND)
        if entity.datatype is not None:
            omissions.add(LOST_DATATYPE)
        if entity.revision is not None:
            omissions.add(LOST_REVISION)
        if lines:
            self._out.write("".join(lines).encode())
        else:
            # Without names it comes back only if a statement names it.
            self._unconnected.add(entity.id)

    def statement(self, statement: Statement, /) -> None:
        """Writes a statement as a triple."""
        omissions = self._omissions
        subject = iri_of(statement.head)
        relation, value = statement.relation, statement.value
        of_property = _PROPERTY.fullmatch(relation) is not None
        if self._unconnected:
            self._unconnected.discard(statement.head)
            if type(value) is EntityValue:
                self._unconnected.discard(value.id)
        if type(value) is NoValue:
            if not (of_property and subject.startswith(f"<{WIKIDATA}entity/")):
                omissions.add(LOST_STATEMENT, edges=True)
                return
            predicate, term, is_exact = RDF_TYPE, f"<{WIKIDATA}prop/novalue/{relation}>", True
        else:
            predicate = f"<{WIKIDATA}prop/direct/{relation}>" if of_property else iri_of(relation)
            made = _term(value, statement.id, of_property)
            if made is None:
                omissions.add(LOST_STATEMENT, edges=True)
                return
            term, is_exact = made
        if not is_exact:
            omissions.add(LOST_VALUE, edges=True)
        elif (relation in _NAMES and type(value) in (StringValue, MonolingualText)) or (
            relation in _LINKS and type(value) is EntityValue
        ):
            omissions.add(TAKEN_AS_NAME, edges=True)
        context = statement.context
        graph = _context(context) if context and self._quads else ""
        if context and not graph:
            omissions.add(LOST_CONTEXT)
            context = None
        if statement.rank is not Rank.NORMAL:
            omissions.add(LOST_RANK, edges=True)
        made_id = content_statement_id(
            statement.head, relation, encode_value(value), context=context
        )
        if made_id != statement.id:
            omissions.add(LOST_ID, edges=True)
        omissions.add(LOST_QUALIFIERS, len(statement.qualifiers))
        omissions.add(LOST_REFERENCES, len(statement.references))
        self._out.write(f"{subject} {predicate} {term}{graph} .\n".encode())

    def finish(self, _fingerprints: Fingerprints, /) -> None:
        """Counts the entities that nothing in the file names."""
        self._omissions.add(LOST_ENTITY, len(self._unconnected))


@lru_cache(maxsize=262_144)
def iri_of(id_: str, /) -> str:
    """Returns an id as N-Triples writes an IRI, with its angle brackets.

    >>> iri_of("Q42"), iri_of("place of birth")
    ('<http://www.wikidata.org/entity/Q42>', '<urn:graph-service:place%20of%20birth>')
    """
    if WIKIDATA_ID.fullmatch(id_):
        return f"<{WIKIDATA}entity/{id_}>"
    if ":" in id_ and not id_.startswith(NAME_SCHEME) and normalise_entity_id(id_) == id_:
        try:
            node = ox.NamedNode(id_)
        except ValueError:
            pass
        else:
            return str(node)
    return _name(id_)


def _name(id_: str) -> str:
    return f"<{NAME_SCHEME}{quote(id_, safe='')}>"


@lru_cache(maxsize=4_096)
def _context(context: str) -> str:
    """Returns the fourth term, behind a space; what is no IRI is written as entities' ids are."""
    if not context.startswith(NAME_SCHEME):
        try:
            return f" {ox.NamedNode(context)}"
        except ValueError:
            pass
    return f" {_name(context)}"


def _term(value: Value, statement_id: str, of_property: bool) -> tuple[str, bool] | None:
    """Returns an object, and whether it reads back as this value; None if it has no form."""
    if type(value) is EntityValue:
        if of_property and not WIKIDATA_ID.fullmatch(value.id):
            # Behind a property of Wikidata's an IRI is an address, not an entity.
            return _name(value.id), True
        return iri_of(value.id), True
    form = _FORMS.get(type(value))
    if form is not None:
        return form(value, of_property)
    if type(value) is SomeValue and of_property:
        return f"<{WIKIDATA}.well-known/genid/{quote(statement_id, safe='')}>", True
    return None


def _string(value: StringValue, of_property: bool) -> tuple[str, bool]:
    text, datatype = value.text, value.datatype
    if datatype == "string":
        return _quoted(text), True
    if of_property and datatype == "commonsMedia":
        path = quote(text.replace(" ", "_"), safe="()!,;:@$*'")
        return f"<{_COMMONS}wiki/Special:FilePath/{path}>", "_" not in text
    if ":" in datatype and normalise_entity_id(datatype) == datatype:
        try:
            return f"{_quoted(text)}^^{ox.NamedNode(datatype)}", datatype != XSD + "string"
        except ValueError:
            pass
    return _quoted(text), False


def _monolingual(value: MonolingualText, _of_property: bool) -> tuple[str, bool]:
    if _LANGUAGE.fullmatch(value.language):
        return f"{_quoted(value.text)}@{value.language}", True
    return _quoted(value.text), False


def _quantity(value: Quantity, _of_property: bool) -> tuple[str, bool]:
    is_plain = value.unit is None and value.lower is None and value.upper is None
    if _DECIMAL.fullmatch(value.amount):
        return f'"{value.amount}"^^<{XSD}decimal>', is_plain
    return f"{_quoted(value.amount)}^^<{XSD}double>", is_plain


def _time(value: Time, of_property: bool) -> tuple[str, bool]:
    match = _TIME.fullmatch(value.time)
    if match is None:
        return _quoted(value.time), False
    sign, digits, month, day, clock = match.groups()
    year = -int(digits) if sign else int(digits)
    if of_property and year < 0:
        # Wikidata's RDF counts as ISO 8601 does: year 0 is 1 BC.
        year += 1
    text = f"{'-' if year < 0 else ''}{abs(year):04d}"
    midnight = clock == "00:00:00"
    zone = "Z"
    if value.timezone:
        hours, minutes = divmod(abs(value.timezone), 60)
        zone = f"{'-' if value.timezone < 0 else '+'}{hours:02d}:{minutes:02d}"
    plain = value.calendar == GREGORIAN and not value.before and not value.after
    plain = plain and abs(value.timezone) < 6000 and f"{int(digits):04d}" == digits
    if month == "00" or (value.precision <= 9 and month == "01" and day == "01" and not plain):
        is_exact = month == "00" and day == "00" and midnight and value.precision == 9
        return f'"{text}"^^<{XSD}gYear>', plain and is_exact and not value.timezone
    if day == "00":
        is_exact = midnight and value.precision == 10 and not value.timezone
        return f'"{text}-{month}"^^<{XSD}gYearMonth>', plain and is_exact
    precision = 11 if midnight else 14
    return (
        f'"{text}-{month}-{day}T{clock}{zone}"^^<{XSD}dateTime>',
        plain and value.precision == precision,
    )


def _coordinates(value: Coordinates, _of_property: bool) -> tuple[str, bool]:
    globe = "" if value.globe == EARTH else f"{iri_of(value.globe)} "
    text = f"{globe}Point({value.longitude!r} {value.latitude!r})"
    is_exact = value.altitude is None and value.precision is None
    is_exact = is_exact and (not globe or re.fullmatch(r"Q[0-9]+", value.globe) is not None)
    return f'"{text}"^^<http://www.opengis.net/ont/geosparql#wktLiteral>', is_exact


def _address(value: Iri, of_property: bool) -> tuple[str, bool]:
    if of_property and not value.iri.startswith((WIKIDATA, "https://www.wikidata.org/")):
        try:
            node = ox.NamedNode(value.iri)
        except ValueError:
            pass
        else:
            commons = re.match(r"https?://commons\.wikimedia\.org/", value.iri)
            return str(node), commons is None and not value.iri.startswith(NAME_SCHEME)
    return f"{_quoted(value.iri)}^^<{XSD}anyURI>", False


_FORMS: dict[type, Callable[..., tuple[str, bool]]] = {
    StringValue: _string,
    MonolingualText: _monolingual,
    Quantity: _quantity,
    Time: _time,
    Coordinates: _coordinates,
    Iri: _address,
}


def _quoted(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'
