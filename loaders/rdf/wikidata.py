"""Wikidata's full RDF: statement nodes with ranks, qualifiers, references and value nodes.

Source: https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format. What the RDF does not
have: the order of qualifiers and of references (here by property, then value), which strings
are identifiers (all are ``string``), and before and after of times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import pyoxigraph as ox

from graph_service.model.identity import normalise_statement_guid
from graph_service.model.statement import Rank, Reference, Snak, Statement, make_statement
from graph_service.model.values import (
    EARTH,
    GREGORIAN,
    JULIAN,
    Coordinates,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    Value,
    encode_value,
)
from loaders.rdf.node_file import NodeFile, NodeTriple
from loaders.rdf.values import (
    ENTITY,
    GENID,
    RDF,
    WIKIDATA,
    decimal_text,
    entity_id,
    julian_time,
    literal_value,
    read_date,
    wikidata_resource_value,
)

WIKIBASE = "http://wikiba.se/ontology#"
_PROP = WIKIDATA + "prop/"
STATEMENT = WIKIDATA + "entity/statement/"
_NOVALUE = WIKIDATA + "prop/novalue/"
_DERIVED = "http://www.w3.org/ns/prov#wasDerivedFrom"
_RANKS = {
    WIKIBASE + "PreferredRank": Rank.PREFERRED,
    WIKIBASE + "NormalRank": Rank.NORMAL,
    # KGTK writes the marker of an entity's best statements as their rank.
    WIKIBASE + "BestRank": Rank.NORMAL,
    WIKIBASE + "DeprecatedRank": Rank.DEPRECATED,
}
_FULL = re.compile(
    rb"wikidata\.org/prop/statement/P\d|wikiba\.se/ontology#rank>|^[ \t]*wikibase:rank\s"
    rb"|^[ \t]*ps:P\d|[;.][ \t]+ps:P\d|<ps:P\d|<wikibase:rank\s",
    re.M,
)
_DAY = 11
_NO_UNIT = frozenset((ENTITY + "Q199", WIKIBASE + "unitOne"))


def holds_full_statements(head: bytes, /) -> bool:
    """Returns whether RDF that begins so has statement nodes, whose truthy triples are copies."""
    return _FULL.search(head) is not None


class StatementNodes:
    """Parts of full statements, gathered until the end of a document. Close it in the end."""

    def __init__(self) -> None:
        self._file = NodeFile()
        self.skipped: Counter[str] = Counter()
        """What was left out of the statements read so far, by reason."""

    def close(self) -> None:
        """Gives the temporary file back."""
        self._file.close()

    def add_statement(self, head: str, property_: str, node: str, /) -> None:
        """Notes that a statement node belongs to an entity."""
        self._file.add_owner(node, head, property_)

    def add_part(self, node: str, predicate: str, object_: object, /) -> None:
        """Notes a triple of a statement, reference or value node."""
        self._file.add(node, predicate, object_, is_statement=node.startswith(STATEMENT))

    def statements(self) -> Iterator[Statement]:
        """Yields the statements in the order in which entities name them."""
        self._file.end()
        for node, head, property_ in self._file.owners():
            statement = self._statement(node, head, property_)
            if statement is not None:
                yield statement
        orphans = self._file.orphan_count()
        if orphans:
            self.skipped["statement nodes that no entity names"] += orphans

    def _statement(self, node: str, head: str, property_: str) -> Statement | None:
        values = _Values(self._file, self.skipped)
        rank = Rank.NORMAL
        qualifier_terms: dict[str, list[Value]] = {}
        references: list[Reference] = []
        value: Value | None = None
        grouped = values.group(node)
        for predicate, objects in grouped.items():
            if predicate == WIKIBASE + "rank":
                iris = [object_.iri for object_ in objects if object_.iri in _RANKS]
                rank = _RANKS[iris[0]] if iris else rank
            elif predicate == _DERIVED:
                references.extend(
                    self._reference(object_.iri, values)
                    for object_ in objects
                    if object_.iri is not None
                )
            elif predicate == RDF + "type":
                for object_ in objects:
                    of = _relation_without_value(object_)
                    if of is None:
                        continue
                    if of == property_ and _PROP + "statement/" + of not in grouped:
                        value = NoValue()
                    else:
                        qualifier_terms.setdefault(of, []).append(NoValue())
            elif predicate.startswith(_PROP + "statement/"):
                terms = values.of(grouped, "statement", predicate)
                if terms:
                    value = terms[0]
            elif predicate.startswith(_PROP + "qualifier/"):
                terms = values.of(grouped, "qualifier", predicate)
                if terms:
                    qualifier_terms.setdefault(predicate.rpartition("/")[2], []).extend(terms)
            elif not predicate.startswith(WIKIBASE):
                self.skipped["triples of statement nodes outside Wikibase's model"] += 1
        if value is None:
            self.skipped["statement nodes without a value"] += 1
            return None
        qualifiers = [
            Snak(relation, qualifier)
            for relation in sorted(qualifier_terms, key=property_order)
            for qualifier in sorted(qualifier_terms[relation], key=encode_value)
        ]
        local = node[len(STATEMENT) :] if node.startswith(STATEMENT) else node
        return make_statement(
            head,
            property_,
            value,
            id=normalise_statement_guid(local),
            rank=rank,
            qualifiers=qualifiers,
            references=[reference for reference in references if reference.parts],
        )

    def _reference(self, node: str, values: _Values) -> Reference:
        parts: list[Snak] = []
        grouped = values.group(node)
        if not grouped:
            self.skipped["references whose parts are not in the file"] += 1
        for predicate in grouped:
            if predicate.startswith(_PROP + "reference/"):
                terms = values.of(grouped, "reference", predicate)
                relation = predicate.rpartition("/")[2]
                parts.extend(Snak(relation, value) for value in terms)
            elif predicate == RDF + "type":
                relations = map(_relation_without_value, grouped[predicate])
                parts.extend(Snak(of, NoValue()) for of in relations if of is not None)
        parts.sort(key=lambda snak: (property_order(snak.relation), encode_value(snak.value)))
        return Reference(tuple(parts))


def _relation_without_value(type_: NodeTriple) -> str | None:
    """Returns the relation of which a type says that it has no value, or None."""
    iri = type_.iri or ""
    return iri[len(_NOVALUE) :] if iri.startswith(_NOVALUE) else None


def property_order(id_: str, /) -> tuple[int, str]:
    """Returns the sort key of a property: by number."""
    known = id_[1:].isdecimal() and len(id_) < 19
    return (int(id_[1:]), id_) if known else (1 << 62, id_)


def wikidata_value(object_: object, /) -> Value:
    """Returns the value of a triple of Wikidata that leads to no node of its own."""
    if type(object_) is ox.NamedNode:
        return _resource_value(object_.value)
    if type(object_) is ox.Literal:
        return literal_value(object_.value, object_.datatype.value, object_.language, wikidata=True)
    return SomeValue()


def _resource_value(iri: str) -> Value:
    return SomeValue() if GENID.match(iri) else wikidata_resource_value(iri)


def _simple_value(triple: NodeTriple) -> Value:
    if triple.iri is not None:
        return _resource_value(triple.iri)
    if triple.text is None or triple.datatype is None:
        return SomeValue()
    return literal_value(triple.text, triple.datatype, triple.language, wikidata=True)


class _Values:
    """Values of the nodes' predicates, from the value nodes where there are any."""

    def __init__(self, file: NodeFile, skipped: Counter[str]) -> None:
        self._file = file
        self._skipped = skipped

    def group(self, node: str) -> dict[str, list[NodeTriple]]:
        grouped: dict[str, list[NodeTriple]] = {}
        for triple in self._file.triples_of(node):
            grouped.setdefault(triple.predicate, []).append(triple)
        return grouped

    def of(self, grouped: dict[str, list[NodeTriple]], kind: str, predicate: str) -> list[Value]:
        """Returns the values of ``prop/<kind>/P1``; none for its value and normalised copies."""
        rest = predicate[len(_PROP) + len(kind) + 1 :]
        if rest.startswith("value-normalized/"):
            return []
        if rest.startswith("value/"):
            simple = f"{_PROP}{kind}/{rest[len('value/') :]}"
            # The simple triple leads to the full one; alone, the full one counts by itself.
            return [] if simple in grouped else self._full(grouped[predicate])
        simple_values = list(map(_simple_value, grouped[predicate]))
        full = self._full(grouped.get(f"{_PROP}{kind}/value/{rest}", []))
        if not full:
            return simple_values
        by_text: list[Value] = [
            value for value in simple_values if not isinstance(value, (Time, Quantity, Coordinates))
        ]
        typed = len(simple_values) - len(by_text)
        if len(full) < typed and len(full) == 1 and typed == 1:
            return by_text + full
        # Two values of one property may share a simple form and differ in precision or unit.
        return by_text + full if len(full) >= typed else simple_values

    def _full(self, triples: list[NodeTriple]) -> list[Value]:
        node_values = [self._node_value(triple.iri) for triple in triples if triple.iri is not None]
        return [value for value in node_values if value is not None]

    def _node_value(self, node: str) -> Value | None:
        texts: dict[str, str] = {}
        for triple in self._file.triples_of(node):
            text = triple.iri if triple.datatype is None else triple.text
            if text is not None and triple.predicate.startswith(WIKIBASE):
                texts.setdefault(triple.predicate[len(WIKIBASE) :], text)
        if not texts:
            self._skipped["value nodes whose parts are not in the file"] += 1
            return None
        try:
            return _time(texts) or _quantity(texts) or _coordinates(texts)
        except ValueError:
            self._skipped["value nodes that can't be read"] += 1
            return None


def _time(texts: dict[str, str]) -> Value | None:
    if "timeValue" not in texts:
        return None
    time = read_date(texts["timeValue"], astronomical=True)
    if time is None:
        return StringValue(texts["timeValue"], "http://www.w3.org/2001/XMLSchema#dateTime")
    precision = int(texts.get("timePrecision", "11"))
    calendar = entity_id(texts.get("timeCalendarModel", ENTITY + GREGORIAN))
    return Time(
        julian_time(time.time) if calendar == JULIAN and precision >= _DAY else time.time,
        precision,
        calendar,
        timezone=int(texts.get("timeTimezone", "0")),
    )


def _quantity(texts: dict[str, str]) -> Value | None:
    if "quantityAmount" not in texts:
        return None
    amount = decimal_text(texts["quantityAmount"])
    if amount is None:
        raise ValueError(texts["quantityAmount"])
    unit = texts.get("quantityUnit")
    lower, upper = texts.get("quantityLowerBound"), texts.get("quantityUpperBound")
    return Quantity(
        amount,
        None if unit is None or unit in _NO_UNIT else entity_id(unit),
        None if lower is None else decimal_text(lower),
        None if upper is None else decimal_text(upper),
    )


def _coordinates(texts: dict[str, str]) -> Value | None:
    if "geoLatitude" not in texts or "geoLongitude" not in texts:
        return None
    precision = texts.get("geoPrecision")
    return Coordinates(
        float(texts["geoLatitude"]),
        float(texts["geoLongitude"]),
        None,
        None if precision is None else float(precision),
        entity_id(texts.get("geoGlobe", ENTITY + EARTH)),
    )
