"""Tables: TSV with a statement a row, and KGTK edge files."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import IO

from graph_service.errors import InputError
from graph_service.export.report import Omissions
from graph_service.model.identity import (
    Fingerprints,
    content_statement_id,
    normalise_entity_id,
    normalise_statement_guid,
)
from graph_service.model.statement import Entity, Rank, Snak, Statement
from graph_service.model.values import (
    EARTH,
    GREGORIAN,
    Coordinates,
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
    display_value,
    encode_value,
)

LOST_ID = "statements whose id is no Wikidata id and is made anew from their content"
LOST_TYPE = "values of a type that the table holds as text only"
LOST_ROW = "statements with an id or value that no cell can hold"
LOST_MIXED = "texts of relations that also have entities as values"
LOST_TEXT = "texts whose tabs and line ends became spaces"
LOST_QUALIFIERS = "qualifiers"
LOST_REFERENCES = "references"
LOST_CONTEXT = "contexts of statements"
LOST_ENTITY_FACTS = "redirects, links to other data, data types and revisions of entities"
LOST_NAMES = "names and descriptions"
LOST_OTHER_NAMES = "aliases and descriptions"
LOST_LANGUAGE = "names in languages whose tag KGTK does not allow"
TAKEN_AS_NAME = "statements that are read as names of their entity"
TSV_COLUMNS = ("head", "relation", "tail", "id", "rank", "language")
KGTK_COLUMNS = ("id", "node1", "label", "node2", "rank")
_BREAKS = re.compile(r"[\t\r\n]")


def is_cell(id_: str, /) -> bool:
    """Returns whether an id written in a cell reads back as itself."""
    if _BREAKS.search(id_) or id_ != id_.strip() or (id_[:1] == "<" and id_[-1:] == ">"):
        return False
    try:
        return normalise_entity_id(id_) == id_
    except InputError:
        return False


def comes_back(statement: Statement, qualifiers: tuple[Snak, ...], /) -> bool:
    """Returns whether a row with these qualifiers gets the statement's own id when it is read."""
    if normalise_statement_guid(statement.id) == statement.id:
        return True
    pairs = [(snak.relation, encode_value(snak.value)) for snak in qualifiers]
    made = content_statement_id(
        statement.head, statement.relation, encode_value(statement.value), qualifiers=pairs
    )
    return made == statement.id


def entity_facts(entity: Entity, /) -> int:
    """Returns how many facts an entity has besides its names."""
    facts = (entity.redirect, entity.datatype, entity.revision)
    return len(entity.same_as) + sum(fact is not None for fact in facts)


@dataclass(slots=True)
class _Uses:
    """How a relation is used: with entities, texts and other values."""

    entities: int = 0
    texts: int = 0


class TsvWriter:
    """Writes a table of statements, and of labels where a second file is given.

    Cells after ``language`` are qualifiers, a relation and a value each.
    """

    def __init__(self, out: IO[bytes], labels: IO[bytes] | None, omissions: Omissions, /) -> None:
        self._out = out
        self._labels = labels
        self._omissions = omissions
        self._uses: defaultdict[str, _Uses] = defaultdict(_Uses)
        out.write(("\t".join(TSV_COLUMNS) + "\n").encode())
        if labels is not None:
            labels.write(b"id\tlabel\tlanguage\n")

    @property
    def literal_relations(self) -> list[str]:
        """Relations whose values are texts alone; known when all is written."""
        return sorted(
            relation
            for relation, uses in self._uses.items()
            if uses.texts and not uses.entities and "," not in relation
        )

    def entity(self, entity: Entity, /) -> None:
        """Writes the labels of an entity."""
        omissions = self._omissions
        others = len(entity.descriptions) + sum(map(len, entity.aliases.values()))
        omissions.add(LOST_ENTITY_FACTS, entity_facts(entity))
        if self._labels is None:
            omissions.add(LOST_NAMES, others + len(entity.labels))
            return
        omissions.add(LOST_OTHER_NAMES, others)
        if not is_cell(entity.id):
            omissions.add(LOST_NAMES, len(entity.labels))
            return
        rows = [
            f"{entity.id}\t{_BREAKS.sub(' ', label)}\t{language}\n"
            for language, label in entity.labels.items()
        ]
        self._labels.write("".join(rows).encode())

    def statement(self, statement: Statement, /) -> None:
        """Writes a statement as a row."""
        omissions = self._omissions
        relation, value = statement.relation, statement.value
        if not (is_cell(statement.head) and is_cell(relation)):
            omissions.add(LOST_ROW, edges=True)
            return
        uses = self._uses[relation]
        language = ""
        if type(value) is EntityValue:
            if not is_cell(value.id):
                omissions.add(LOST_ROW, edges=True)
                return
            uses.entities += 1
            tail = value.id
        else:
            uses.texts += 1
            tail = display_value(value)
            if type(value) is MonolingualText:
                language = value.language
            elif type(value) is not StringValue or value.datatype != "string":
                omissions.add(LOST_TYPE, edges=True)
            if _BREAKS.search(tail):
                tail = _BREAKS.sub(" ", tail)
                omissions.add(LOST_TEXT, edges=True)
        qualifiers = statement.qualifiers
        cells: list[str] = []
        for snak in qualifiers:
            if (
                type(snak.value) is EntityValue
                and is_cell(snak.relation)
                and is_cell(snak.value.id)
            ):
                cells += (snak.relation, snak.value.id)
        if len(cells) != 2 * len(qualifiers):
            omissions.add(LOST_QUALIFIERS, len(qualifiers) - len(cells) // 2)
            qualifiers = tuple(
                snak
                for snak in qualifiers
                if type(snak.value) is EntityValue
                and is_cell(snak.relation)
                and is_cell(snak.value.id)
            )
        if not comes_back(statement, qualifiers):
            omissions.add(LOST_ID, edges=True)
        omissions.add(LOST_REFERENCES, len(statement.references))
        omissions.add(LOST_CONTEXT, statement.context is not None)
        guid = normalise_statement_guid(statement.id) == statement.id
        rank = "" if statement.rank is Rank.NORMAL else statement.rank.value
        row = (statement.head, relation, tail, statement.id if guid else "", rank, language, *cells)
        self._out.write(("\t".join(row) + "\n").encode())

    def finish(self, _fingerprints: Fingerprints, /) -> None:
        """Counts the texts that a loader will take for entities."""
        literal = set(self.literal_relations)
        for relation, uses in self._uses.items():
            if uses.texts and relation not in literal:
                self._omissions.add(LOST_MIXED, uses.texts, edges=True)


class KgtkWriter:
    """Writes a KGTK edge file; names are ``label``, ``alias`` and ``description`` edges."""

    def __init__(self, out: IO[bytes], omissions: Omissions, /) -> None:
        self._out = out
        self._omissions = omissions
        out.write(("\t".join(KGTK_COLUMNS) + "\n").encode())

    def entity(self, entity: Entity, /) -> None:
        """Writes the names of an entity."""
        omissions = self._omissions
        omissions.add(LOST_ENTITY_FACTS, entity_facts(entity))
        if not is_cell(entity.id):
            omissions.add(LOST_NAMES)
            return
        rows: list[str] = []
        names = [("label", language, text) for language, text in entity.labels.items()]
        names += [
            ("alias", language, text)
            for language, texts in entity.aliases.items()
            for text in texts
        ]
        names += [("description", language, text) for language, text in entity.descriptions.items()]
        for relation, language, text in names:
            if _TAG.fullmatch(language):
                rows.append(f"\t{entity.id}\t{relation}\t{_tagged(text, language)}\t\n")
            else:
                omissions.add(LOST_LANGUAGE)
        self._out.write("".join(rows).encode())

    def statement(self, statement: Statement, /) -> None:
        """Writes a statement as an edge."""
        omissions = self._omissions
        relation, value = statement.relation, statement.value
        made = kgtk_value(value)
        if not (is_cell(statement.head) and is_cell(relation)) or made is None:
            omissions.add(LOST_ROW, edges=True)
            return
        cell, is_exact = made
        if not is_exact:
            omissions.add(LOST_TYPE, edges=True)
        if relation in ("label", "alias", "description") and cell[:1] in "\"'":
            omissions.add(TAKEN_AS_NAME, edges=True)
        if not comes_back(statement, ()):
            omissions.add(LOST_ID, edges=True)
        omissions.add(LOST_QUALIFIERS, len(statement.qualifiers))
        omissions.add(LOST_REFERENCES, len(statement.references))
        omissions.add(LOST_CONTEXT, statement.context is not None)
        rank = "" if statement.rank is Rank.NORMAL else statement.rank.value
        row = (statement.id, statement.head, relation, cell, rank)
        if _BREAKS.search(statement.id):
            row = ("", *row[1:])
        self._out.write(("\t".join(row) + "\n").encode())

    def finish(self, fingerprints: Fingerprints, /) -> None:
        """Does nothing: the edges are all there is."""


_TAG = re.compile(r"[a-z]+(?:-[a-z0-9]+)*")
_SYMBOL_START = re.compile(r"['\"^@+\-.0-9]")
_UNIT = re.compile(r"Q\d+|[a-zA-Z%][a-zA-Z0-9/*^-]*")
_DECIMAL = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)")
_ESCAPES = str.maketrans(
    {
        "\\": "\\\\",
        '"': '\\"',
        "'": "\\'",
        "|": "\\|",
        "\t": "\\t",
        "\n": "\\n",
        "\r": "\\r",
    }
)
_TIME = re.compile(r"-?\d{4,16}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def kgtk_value(value: Value, /) -> tuple[str, bool] | None:
    """Returns a value as KGTK writes it, and whether it reads back the same; None for no form.

    >>> kgtk_value(Quantity("1.96", "Q11573")), kgtk_value(Time("1952-00-00T00:00:00Z", 9))
    (('1.96Q11573', True), ('^1952-00-00T00:00:00Z/9', True))
    """
    match value:
        case EntityValue(id=id_):
            if not is_cell(id_) or _SYMBOL_START.match(id_) or id_ in ("True", "False"):
                return None
            return id_, True
        case StringValue(text=text, datatype=datatype):
            if datatype == "boolean" and text in ("true", "false"):
                return text.capitalize(), True
            return f'"{text.translate(_ESCAPES)}"', datatype == "string"
        case MonolingualText(text=text, language=language):
            if _TAG.fullmatch(language):
                return _tagged(text, language), True
            return f'"{text.translate(_ESCAPES)}"', False
        case Quantity():
            return _kgtk_quantity(value)
        case Time():
            if not _TIME.fullmatch(value.time) or not 0 <= value.precision <= 99:
                return f'"{value.time.translate(_ESCAPES)}"', False
            is_exact = value.calendar == GREGORIAN
            is_exact = is_exact and not (value.before or value.after or value.timezone)
            digits = value.time.lstrip("-").partition("-")[0]
            return (
                f"^{value.time}/{value.precision}",
                is_exact and f"{int(digits):04d}" == digits,
            )
        case Coordinates():
            is_exact = value.altitude is None and value.precision is None and value.globe == EARTH
            return f"@{value.latitude!r}/{value.longitude!r}", is_exact
        case Iri(iri=iri):
            return f'"{iri.translate(_ESCAPES)}"', False
        case _:
            # That a value is not known or is none must not become a text that says so.
            return None


def _kgtk_quantity(value: Quantity) -> tuple[str, bool]:
    numbers = [value.amount, *(bound for bound in (value.lower, value.upper) if bound is not None)]
    if not all(_DECIMAL.fullmatch(figure) for figure in numbers):
        return f'"{value.amount.translate(_ESCAPES)}"', False
    text, is_exact = value.amount, True
    if value.lower is not None and value.upper is not None:
        text += f"[{value.lower},{value.upper}]"
    elif value.lower is not None or value.upper is not None:
        is_exact = False
    if value.unit is not None:
        if _UNIT.fullmatch(value.unit) and not re.match(r"[eE][0-9+-]", value.unit):
            text += value.unit
        else:
            is_exact = False
    return text, is_exact


def _tagged(text: str, language: str) -> str:
    return f"'{text.translate(_ESCAPES)}'@{language}"
