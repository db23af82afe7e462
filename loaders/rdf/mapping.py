"""RDF triples to entities, terms and statements."""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import unquote

import pyoxigraph as ox

from graph_service.errors import InputError
from graph_service.model.identity import check_text
from graph_service.model.statement import EntityKind, Rank
from graph_service.model.values import (
    EntityValue,
    NoValue,
    Quantity,
    Value,
    encode_value,
)
from graph_service.store.encoded import StatementRow
from loaders.items import TRUTHY, Parsed
from loaders.rdf.values import (
    ENTITY,
    RDF,
    RDFS,
    WIKIDATA,
    XSD,
    entity_id,
    entity_name,
    literal_value,
)
from loaders.rdf.wikidata import STATEMENT, StatementNodes, wikidata_value
from loaders.terms import LANGUAGE_REASON, SECOND_DESCRIPTION_REASON, TermGatherer

SKOS = "http://www.w3.org/2004/02/skos/core#"
OWL = "http://www.w3.org/2002/07/owl#"
WIKIBASE = "http://wikiba.se/ontology#"
SCHEMA = ("http://schema.org/", "https://schema.org/")
_LABELS = frozenset((RDFS + "label", SKOS + "prefLabel"))
_ALIASES = frozenset((SKOS + "altLabel", *(base + "alternateName" for base in SCHEMA)))
_DESCRIPTIONS = frozenset((RDFS + "comment", *(base + "description" for base in SCHEMA)))
_NAMES = frozenset(base + "name" for base in SCHEMA)
_FOAF_NAME = "http://xmlns.com/foaf/0.1/name"
_TITLES = _NAMES | {
    _FOAF_NAME,
    "http://purl.org/dc/terms/title",
    "http://purl.org/dc/elements/1.1/title",
}
"""What names the things of data without labels."""
_ANY_LANGUAGE = "mul"
_MOST_TEXTS = 5
_LONGEST_NAME = 80
"""So many texts, of so many characters each, name a blank node by what it holds."""
_TERMS = _LABELS | _ALIASES | _DESCRIPTIONS | _TITLES
_TYPE = RDF + "type"
_SAME_AS = OWL + "sameAs"
_REDIRECTS = frozenset(("http://dbpedia.org/ontology/wikiPageRedirects",))
_LINKS = frozenset((_SAME_AS,)) | _REDIRECTS
_PROPERTY_TYPES = frozenset(
    (
        RDF + "Property",
        OWL + "ObjectProperty",
        OWL + "DatatypeProperty",
        OWL + "AnnotationProperty",
        WIKIBASE + "Property",
    )
)
_SPECIAL = _TERMS | _LINKS | {_TYPE}
_REVISION = re.compile(r"[0-9]{1,18}")
_DIRECT = WIKIDATA + "prop/direct/"
_PROP = WIKIDATA + "prop/"
_NOVALUE = WIKIDATA + "prop/novalue/"
_NODES = tuple(WIKIDATA + name for name in ("entity/statement/", "reference/", "value/"))
_DATA = ("https://www.wikidata.org/wiki/Special:EntityData/", WIKIBASE + "Dump")
_ABOUT = frozenset(base + "about" for base in SCHEMA)
# Told by its address, so that it does not matter in which order its triples come.
_ARTICLE = re.compile(
    r"https?://[\w.-]*\b(?:wikipedia|wikibooks|wikinews|wikiquote|wikisource|wikiversity|wikivoyage"
    r"|wiktionary|wikimedia|wikidata|mediawiki|wikifunctions)\.org/wiki/(?!Special:EntityData)"
)
_ARTICLE_TYPES = frozenset(base + "Article" for base in SCHEMA)
_LINK_PREDICATES = frozenset(
    base + name for base in SCHEMA for name in ("about", "inLanguage", "isPartOf", "version")
) | frozenset(base + "dateModified" for base in SCHEMA)

DIRECTION_REASON = "texts whose direction (ltr or rtl, of RDF 1.2) is left out"
NODE_REASON = "triples of full Wikidata statements in truthy data"
NORMALISED_REASON = "normalised copies of Wikidata values"
BOOKKEEPING_REASON = "triples of Wikidata bookkeeping (types, versions, counts)"
SITELINK_REASON = "triples of Wikidata sitelinks"


class Mapper:
    """Maps triples into the ``Parsed`` given to ``begin``.

    Blank nodes get ids ``_:`` and 32 hexadecimal digits, from the document they stand in and
    their label, or, where ``index_blank_nodes`` is set because the parser makes labels up,
    their number in order of appearance. So the same document gives the same ids again.

    Args:
        scope: Tells one document's blank nodes from another's.
        languages: Languages of terms to keep; empty for all.
        label_language: Language of terms without one.
        redirect_aliases: Whether an entity that redirects to another gives it its name, which is
            the last part of its IRI.
        nodes: Where parts of full Wikidata statements go; truthy statements are then given as
            ``Parsed.truthy``. None where there are no full ones.
        wikidata: Whether to look for what Wikidata's RDF has of its own.
        as_rows: Whether statements are given as ``Parsed.rows``.
    """

    def __init__(
        self,
        *,
        scope: bytes,
        languages: frozenset[str],
        label_language: str,
        nodes: StatementNodes | None,
        wikidata: bool = True,
        redirect_aliases: bool = False,
        as_rows: bool = False,
    ) -> None:
        self.wikidata = wikidata
        self._as_rows = as_rows
        self._redirect_aliases = redirect_aliases
        self.nodes = nodes
        self.index_blank_nodes = False
        self.check_text = False
        self._scope = scope
        self._languages = languages
        self._label_language = label_language
        self._blank: dict[str, str] = {}
        self._texts: dict[str, list[str]] = {}
        self._terms = TermGatherer()
        self._parsed = Parsed()

    def close(self) -> None:
        """Gives back what holds parts of full statements."""
        if self.nodes is not None:
            self.nodes.close()

    def begin(self, parsed: Parsed, /, *, check_text: bool) -> None:
        """Starts a block; ``check_text`` says whether its text may be what no store can hold."""
        self._parsed = parsed
        self.check_text = check_text
        if not self.index_blank_nodes:
            self._blank.clear()

    def end(self) -> None:
        """Ends the block: the terms gathered in it become entities."""
        self._name_by_values()
        self._parsed.entities.extend(self._terms.take())

    def _name_by_values(self) -> None:
        """Names blank nodes without a name by what they hold, such as a street and a town."""
        texts, self._texts = self._texts, {}
        if self._languages and self._label_language not in self._languages:
            return
        for head, values in texts.items():
            terms = self._terms.of(head)
            # A number alone names nothing.
            is_name = len(values) > 1 or any(map(str.isalpha, "".join(values)))
            if is_name and not terms.labels:
                terms.add_label(_ANY_LANGUAGE, ", ".join(values))

    def add_checked(self, quad: ox.Quad, /) -> str:
        """Adds a triple; returns why it could not be, if text that no store can hold is in it."""
        if self.check_text:
            try:
                for term in (quad.subject, quad.predicate, quad.object):
                    if isinstance(term, (ox.NamedNode, ox.Literal)):
                        what = "a literal" if isinstance(term, ox.Literal) else "an IRI"
                        if "\x00" in term.value:
                            check_text(term.value, what=what)
            except InputError as error:
                return error.message
        self.add(quad)
        return ""

    def add(self, quad: ox.Quad, /) -> None:
        """Adds a triple to the piece that was begun."""
        subject_term, object_term = quad.subject, quad.object
        predicate = quad.predicate.value
        if type(subject_term) is ox.NamedNode:
            subject = subject_term.value
            head = entity_id(subject)
        elif type(subject_term) is ox.BlankNode:
            subject = head = self._blank_id(subject_term.value)
        else:
            self._parsed.skipped["triples about triples (RDF-star)"] += 1
            return
        graph = quad.graph_name
        context: str | None = None
        if type(graph) is ox.NamedNode:
            context = entity_name(graph.value)
        elif type(graph) is ox.BlankNode:
            context = self._blank_id(graph.value)
        if self.wikidata and self._add_wikidata(subject, head, predicate, object_term, context):
            return
        if predicate in _SPECIAL and self._add_special(head, predicate, object_term):
            return
        value: Value
        if type(object_term) is ox.NamedNode:
            value = EntityValue(entity_id(object_term.value))
        elif type(object_term) is ox.Literal:
            language = object_term.language
            value = literal_value(object_term.value, object_term.datatype.value, language)
            if type(subject_term) is ox.BlankNode and not predicate.startswith((RDF, OWL)):
                self._add_text(head, value.amount if type(value) is Quantity else object_term.value)
            if language is not None and object_term.direction is not None:
                self._parsed.kept[DIRECTION_REASON] += 1
        elif type(object_term) is ox.BlankNode:
            value = EntityValue(self._blank_id(object_term.value))
        else:
            self._parsed.skipped["triples about triples (RDF-star)"] += 1
            return
        self._statement(head, entity_id(predicate), value, context)

    def _statement(
        self, head: str, relation: str, value: Value, context: str | None = None
    ) -> None:
        row = _row(head, relation, value, context)
        if self._as_rows:
            self._parsed.rows.append(row)
        else:
            self._parsed.statements.append(row.statement())

    def _truthy(self, head: str, relation: str, value: Value, context: str | None) -> None:
        if self.nodes is None:
            self._parsed.forms.add(TRUTHY)
            self._statement(head, relation, value, context)
        else:
            self._parsed.truthy.append(_row(head, relation, value, context))

    def _add_text(self, head: str, text: str) -> None:
        if not self.index_blank_nodes:
            # Lines of triples, where the parts of a node may lie in several blocks.
            return
        texts = self._texts.setdefault(head, [])
        if text and len(text) <= _LONGEST_NAME and len(texts) < _MOST_TEXTS:
            texts.append(text)

    def _blank_id(self, label: str) -> str:
        id_ = self._blank.get(label)
        if id_ is None:
            key = str(len(self._blank)) if self.index_blank_nodes else label
            id_ = (
                "_:"
                + blake2b(
                    self._scope + key.encode(), digest_size=16, person=b"blank node"
                ).hexdigest()
            )
            self._blank[label] = id_
        return id_

    def _add_special(self, head: str, predicate: str, object_: object) -> bool:
        """Takes terms and links; returns whether the triple is dealt with."""
        if predicate == _TYPE:
            if type(object_) is ox.NamedNode and object_.value in _PROPERTY_TYPES:
                self._terms.of(head).kind = EntityKind.PROPERTY
            return False
        if predicate in _LINKS:
            if type(object_) is not ox.NamedNode:
                return False
            terms = self._terms.of(head)
            target = entity_id(object_.value)
            if predicate in _REDIRECTS:
                terms.redirect = target
                if self._redirect_aliases and target != head:
                    self._add_alias(target, head)
            elif target != head:
                terms.same_as[target] = None
            return True
        if type(object_) is not ox.Literal:
            return False
        if object_.language is None and object_.datatype.value != XSD + "string":
            return False
        self._add_term(head, predicate, object_)
        return True

    def _add_alias(self, target: str, redirect: str) -> None:
        if self._languages and self._label_language not in self._languages:
            self._parsed.skipped[LANGUAGE_REASON] += 1
            return
        name = unquote(redirect.rpartition("/")[2]).replace("_", " ").strip()
        if name and "\x00" not in name:
            self._terms.of(target).add_alias(self._label_language, name)

    def _add_term(self, head: str, predicate: str, literal: ox.Literal) -> None:
        language = (literal.language or self._label_language).lower()
        if self._languages and language not in self._languages:
            self._parsed.skipped[LANGUAGE_REASON] += 1
            return
        text = literal.value
        if not text:
            return
        self._parsed.kept[DIRECTION_REASON] += literal.direction is not None
        terms = self._terms.of(head)
        if predicate in _TITLES and literal.language is None:
            # In no language, so that a label beside it goes before it.
            terms.add_label(_ANY_LANGUAGE, text)
        elif predicate in _ALIASES or predicate == _FOAF_NAME:
            # DBpedia says a full or a short name in a language, beside the label.
            terms.add_alias(language, text)
        elif predicate in _LABELS or predicate in _TITLES:
            terms.add_label(language, text)
        elif terms.add_description(language, text):
            self._parsed.skipped[SECOND_DESCRIPTION_REASON] += 1

    def _add_wikidata(
        self, subject: str, head: str, predicate: str, object_: object, context: str | None
    ) -> bool:
        """Takes what Wikidata's RDF has of its own; returns whether the triple is dealt with."""
        if predicate.startswith(_DIRECT):
            value = wikidata_value(object_)
            self._truthy(head, predicate[len(_DIRECT) :], value, context)
            return True
        if subject.startswith(_NODES):
            self._add_node_part(subject, predicate, object_)
            return True
        if predicate.startswith(_PROP):
            return self._add_statement_link(head, predicate[len(_PROP) :], object_)
        reason = _reason_of_page(subject, predicate, object_)
        if reason:
            if _is_revision(subject, predicate):
                self._add_revision(subject, object_)
            self._parsed.skipped[reason] += 1
            return True
        return subject.startswith(ENTITY) and self._add_of_entity(head, predicate, object_, context)

    def _add_node_part(self, subject: str, predicate: str, object_: object) -> None:
        """Takes a triple of a full statement, or of its reference or value."""
        if self.nodes is None:
            self._parsed.skipped[NODE_REASON] += 1
            self._parsed.statement_nodes |= subject.startswith(STATEMENT)
        else:
            self.nodes.add_part(subject, predicate, object_)

    def _add_statement_link(self, head: str, rest: str, object_: object) -> bool:
        """Takes what leads from an entity to a full statement, by what follows ``prop/``."""
        if "/" not in rest and type(object_) is ox.NamedNode:
            if self.nodes is None:
                self._parsed.skipped[NODE_REASON] += 1
            else:
                self.nodes.add_statement(head, rest, object_.value)
            return True
        if rest.startswith("direct-normalized/"):
            self._parsed.skipped[NORMALISED_REASON] += 1
            return True
        return False

    def _add_of_entity(
        self, head: str, predicate: str, object_: object, context: str | None
    ) -> bool:
        """Takes an entity's type, name, redirect and bookkeeping."""
        skipped = self._parsed.skipped
        if predicate == _TYPE and type(object_) is ox.NamedNode:
            type_ = object_.value
            if type_.startswith(_NOVALUE):
                self._truthy(head, type_[len(_NOVALUE) :], NoValue(), context)
                return True
            if type_.startswith(WIKIBASE):
                if type_ in _PROPERTY_TYPES:
                    self._terms.of(head).kind = EntityKind.PROPERTY
                skipped[BOOKKEEPING_REASON] += 1
                return True
            return False
        if predicate in _NAMES and type(object_) is ox.Literal:
            # The same text as rdfs:label, which may be missing from an extract.
            self._add_term(head, RDFS + "label", object_)
            return True
        if predicate == _SAME_AS and type(object_) is ox.NamedNode:
            if object_.value.startswith(ENTITY):
                self._terms.of(head).redirect = entity_id(object_.value)
                return True
            return False
        if predicate.startswith(WIKIBASE) or predicate in _LINK_PREDICATES:
            skipped[BOOKKEEPING_REASON] += 1
            return True
        return False

    def _add_revision(self, subject: str, object_: object) -> None:
        id_ = subject.rpartition("/")[2]
        if type(object_) is ox.Literal and _REVISION.fullmatch(object_.value):
            self._terms.of(entity_id(ENTITY + id_)).revision = int(object_.value)


def _reason_of_page(subject: str, predicate: str, object_: object) -> str:
    """Returns why a triple of an article or of an entity's data is left out; "" for any other."""
    of_data = subject.startswith(_DATA)
    iri = object_.value if type(object_) is ox.NamedNode else ""
    if predicate in _ABOUT and iri.startswith(ENTITY):
        return BOOKKEEPING_REASON if of_data else SITELINK_REASON
    if _ARTICLE.match(subject) and (
        predicate in _LINK_PREDICATES
        or predicate in _NAMES
        or predicate == _TYPE
        or predicate.startswith(WIKIBASE)
    ):
        return SITELINK_REASON
    if of_data:
        return BOOKKEEPING_REASON
    if not subject.startswith(ENTITY) and (
        (predicate == _TYPE and iri in _ARTICLE_TYPES)
        or (predicate.startswith(WIKIBASE) and "wikiGroup" in predicate)
    ):
        return SITELINK_REASON
    return ""


def _is_revision(subject: str, predicate: str) -> bool:
    return (
        predicate.endswith("version")
        and predicate in _LINK_PREDICATES
        and subject.startswith(_DATA)
    )


def _row(head: str, relation: str, value: Value, context: str | None) -> StatementRow:
    encoded = encode_value(value)
    return StatementRow(
        statement_id(head, relation, encoded, context),
        head,
        relation,
        value.id if type(value) is EntityValue else None,
        encoded,
        Rank.NORMAL,
        None,
        None,
        context or None,
    )


_LENGTHS = tuple(length.to_bytes(8, "little") for length in range(1024))
_NO_QUALIFIERS = _LENGTHS[1] + b"0"
_EMPTY_TAIL = _NO_QUALIFIERS + _LENGTHS[0]
_STATE = blake2b(digest_size=16, person=b"statement")


def statement_id(head: str, relation: str, value: str, context: str | None, /) -> str:
    """Returns ``content_statement_id`` of a statement without qualifiers, in a third of its time."""
    a, b, c = head.encode(), relation.encode(), value.encode()
    tail = _NO_QUALIFIERS + _prefixed(context.encode()) if context else _EMPTY_TAIL
    state = _STATE.copy()
    try:
        state.update(
            b"".join((_LENGTHS[len(a)], a, _LENGTHS[len(b)], b, _LENGTHS[len(c)], c, tail))
        )
    except IndexError:
        state.update(b"".join((_prefixed(a), _prefixed(b), _prefixed(c), tail)))
    return state.hexdigest()


def _prefixed(data: bytes) -> bytes:
    return len(data).to_bytes(8, "little") + data
