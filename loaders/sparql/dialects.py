"""What the walk needs to know of Wikidata and of DBpedia: patterns, entities, what to walk through.

Patterns are standard SPARQL 1.1 without any service's own extensions. Each binds ``?s ?p ?o``.
Blank nodes have other names in every answer, so in Wikidata (an unknown value) they become one
IRI of Wikidata's own for it, and in DBpedia they are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from graph_service.errors import InputError
from loaders.rdf.values import ENTITY, RDF, RDFS, WIKIDATA
from loaders.sparql.options import SOURCE
from loaders.sparql.terms import Row, can_write_iri, write_iri, write_string

WIKIDATA_ENDPOINT = "https://query.wikidata.org/sparql"
DBPEDIA_ENDPOINT = "https://dbpedia.org/sparql"
DBPEDIA = "http://dbpedia.org/"
REDIRECTS = DBPEDIA + "ontology/wikiPageRedirects"
BOOKKEEPING_FILE = Path(__file__).with_name("dbpedia_bookkeeping.txt")

_DIRECT = WIKIDATA + "prop/direct/"
_NOVALUE = WIKIDATA + "prop/novalue/"
_UNKNOWN = WIKIDATA + ".well-known/genid/unknown"
_SAME_AS = "http://www.w3.org/2002/07/owl#sameAs"
_TYPE = RDF + "type"
_LABEL = RDFS + "label"
_COMMENT = RDFS + "comment"
_ALIAS = "http://www.w3.org/2004/02/skos/core#altLabel"
_DESCRIPTION = "http://schema.org/description"
_WIKIDATA_NAME = re.compile(r"[QP][1-9]\d*")
_WIKIDATA_ITEM = re.compile(re.escape(ENTITY) + r"[QP][1-9]\d*")
_DBPEDIA_RESOURCE = re.compile(
    r"https?://(?:[a-z-]+\.)?dbpedia\.org/resource/(?!(?:Category|Template|File|Module|Portal):).+"
)
# What DBpedia itself encodes in the names of its resources; the rest of a title stays as it is.
_ENCODED = re.compile(r'["?#^`\\{}|<>\x00-\x20]|%(?![0-9A-Fa-f]{2})')


@dataclass(frozen=True, slots=True)
class Drops:
    """Relations to leave out.

    Attributes:
        iris: Whole IRIs; ``beginnings`` those that all of a family begin with.
    """

    iris: tuple[str, ...] = ()
    beginnings: tuple[str, ...] = ()

    def condition(self) -> str:
        """Returns the condition on ``?p`` that leaves them out, "" for none."""
        parts = [f"!STRSTARTS(STR(?p), {write_string(iri)})" for iri in self.beginnings]
        if self.iris:
            parts.insert(0, f"?p NOT IN ({', '.join(write_iri(iri) for iri in self.iris)})")
        return " && ".join(parts)

    def holds(self, iri: str, /) -> bool:
        """Returns whether this relation is left out."""
        return iri in self.iris or iri.startswith(self.beginnings)

    def keeping(self, names: Sequence[str], /) -> Drops:
        """Returns the same list without some of its lines.

        Args:
            names: IRIs as the list has them, or their last parts, such as ``wikiPageWikiLink``.

        Raises:
            InputError: The list has none such.
        """
        removed: set[str] = set()
        for name in names:
            matches = {
                line
                for line in (*self.iris, *(beginning + "*" for beginning in self.beginnings))
                if line == name or re.split(r"[/#]", line)[-1] == name
            }
            if not matches:
                raise InputError(
                    f"{name!r} is not among the relations that are left out, so there is nothing "
                    "to keep",
                    argument="keep_relations",
                    hint="The list: graph-service load --print-dropped",
                )
            removed |= matches
        return Drops(
            tuple(line for line in self.iris if line not in removed),
            tuple(line for line in self.beginnings if line + "*" not in removed),
        )


def read_drops(path: Path, /) -> Drops:
    """Reads a list of relations: an IRI, a Wikidata property id or an IRI's beginning and ``*``
    a line; lines beginning with ``#`` are remarks.

    Raises:
        InputError: It can't be read, or a line is none of these.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the list of relations {path} can't be read: {error}", argument="drop_relations"
        ) from error
    iris: set[str] = set()
    beginnings: set[str] = set()
    for at_line, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        iri = _DIRECT + text if re.fullmatch(r"P[1-9]\d*", text) else text
        if not can_write_iri(iri.removesuffix("*")):
            raise InputError(
                f"{path}, line {at_line}: {text!r} is no IRI", argument="drop_relations"
            )
        if iri.endswith("*"):
            beginnings.add(iri[:-1])
        else:
            iris.add(iri)
    return Drops(tuple(sorted(iris)), tuple(sorted(beginnings)))


class Dialect(Protocol):
    """What differs between sources. Entities are IRIs throughout."""

    @property
    def endpoint(self) -> str:
        """Address of the public endpoint."""

    @property
    def nested_order(self) -> bool:
        """Whether its engine needs the order of pages in a subquery."""

    @property
    def wikidata(self) -> bool:
        """Whether its triples are Wikidata's."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages of names, in lower case."""

    @property
    def drops(self) -> Drops:
        """Relations that are left out."""

    def start_entities(self, names: str, /) -> list[str]:
        """Returns the IRIs of what follows the source's prefix; raises ``InputError``."""

    def outgoing(self, entities: Sequence[str], /) -> str:
        """Returns the pattern of the statements that have these heads, and of redirects."""

    def incoming(self, entity: str, /) -> str:
        """Returns the pattern of the statements that have this value."""

    def terms(self, entities: Sequence[str], /) -> str:
        """Returns the pattern of names, redirects and links of entities."""

    def walks_through(self, iri: str, /) -> bool:
        """Returns whether an entity that was reached is walked through."""

    def has_terms(self, iri: str, /) -> bool:
        """Returns whether names of this IRI are asked for."""

    def redirect_of(self, row: Row, /) -> str | None:
        """Returns the target, where the row says that its subject is a redirect."""

    def relation_iri(self, predicate: str, /) -> str:
        """Returns the entity that has the names of a relation."""


def dialect_of(
    source: str,
    /,
    *,
    languages: Sequence[str],
    drop_relations: Path | None,
    keep_relations: Sequence[str] = (),
) -> tuple[Dialect, list[str]]:
    """Returns the dialect of a source and the IRIs of its start entities; raises ``InputError``."""
    match = SOURCE.fullmatch(source)
    if match is None:
        raise InputError(
            f"{source!r} is no source at an endpoint; expected wikidata:Q42 or dbpedia:Rome",
            argument="source",
        )
    codes = tuple(dict.fromkeys(language_tag.lower() for language_tag in languages)) or ("en",)
    for language in codes:
        if not re.fullmatch(r"[a-z]{1,8}(?:-[a-z0-9]{1,8})*", language):
            raise InputError(f"{language!r} is no language tag", argument="languages")
    dialect: Dialect
    if match[1] == "wikidata":
        drops = (read_drops(drop_relations) if drop_relations else Drops()).keeping(keep_relations)
        # Names that are the same in all languages are kept once, as mul.
        dialect = _Wikidata(tuple(dict.fromkeys((*codes, "mul"))), drops)
    else:
        drops = read_drops(drop_relations or BOOKKEEPING_FILE).keeping(keep_relations)
        dialect = _DBpedia(codes, drops)
    return dialect, dialect.start_entities(match[2])


def _values(variable: str, iris: Sequence[str]) -> str:
    return f"VALUES ?{variable} {{ {' '.join(write_iri(iri) for iri in iris)} }}"


def _in_languages(variable: str, languages: Sequence[str]) -> str:
    tags = ", ".join(write_string(language) for language in languages)
    return f"LCASE(LANG(?{variable})) IN ({tags})"


@dataclass(frozen=True, slots=True)
class _Wikidata:
    languages: tuple[str, ...]
    drops: Drops
    endpoint: str = WIKIDATA_ENDPOINT
    nested_order: bool = False
    wikidata: bool = True

    def start_entities(self, names: str, /) -> list[str]:
        iris = []
        for name in names.split(","):
            id_ = name.strip().removeprefix(ENTITY)
            if not _WIKIDATA_NAME.fullmatch(id_):
                raise InputError(
                    f"{name.strip()!r} is no Wikidata id; expected ids such as Q42, with commas "
                    "between several",
                    argument="source",
                )
            iris.append(ENTITY + id_)
        return sorted(set(iris))

    def _direct(self) -> str:
        dropped = self.drops.condition()
        return f"STRSTARTS(STR(?p), {write_string(_DIRECT)})" + (
            f" && {dropped}" if dropped else ""
        )

    def outgoing(self, entities: Sequence[str], /) -> str:
        return (
            f"{_values('s', entities)} ?s ?p ?x . "
            f"FILTER(({self._direct()}) || (?p = {write_iri(_SAME_AS)} && isIRI(?x)) || "
            f"(?p = {write_iri(_TYPE)} && STRSTARTS(STR(?x), {write_string(_NOVALUE)}))) "
            f"BIND(IF(isBlank(?x), {write_iri(_UNKNOWN)}, ?x) AS ?o)"
        )

    def incoming(self, entity: str, /) -> str:
        return (
            f"?s ?p {write_iri(entity)} . FILTER({self._direct()} && isIRI(?s)) "
            f"BIND({write_iri(entity)} AS ?o)"
        )

    def terms(self, entities: Sequence[str], /) -> str:
        return (
            f"{_values('s', entities)} "
            f"{_values('p', (_LABEL, _DESCRIPTION, _ALIAS, _SAME_AS))} ?s ?p ?o . "
            f"FILTER(IF(isLiteral(?o), {_in_languages('o', self.languages)}, isIRI(?o)))"
        )

    def walks_through(self, iri: str, /) -> bool:
        return _WIKIDATA_ITEM.fullmatch(iri) is not None

    def has_terms(self, iri: str, /) -> bool:
        return self.walks_through(iri)

    def redirect_of(self, row: Row, /) -> str | None:
        same = row.predicate.value == _SAME_AS and row.object.kind == "uri"
        return row.object.value if same and self.walks_through(row.object.value) else None

    def relation_iri(self, predicate: str, /) -> str:
        return ENTITY + predicate.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class _DBpedia:
    languages: tuple[str, ...]
    drops: Drops
    endpoint: str = DBPEDIA_ENDPOINT
    nested_order: bool = True
    wikidata: bool = False

    def start_entities(self, names: str, /) -> list[str]:
        # The bar is what no title of Wikipedia's can hold.
        iris = set()
        for name in names.split("|"):
            text = unicodedata.normalize("NFC", name.strip())
            if not text:
                raise InputError(
                    "an empty name; expected a resource's name such as dbpedia:Rome, or its IRI, "
                    "with | between several",
                    argument="source",
                )
            if re.match(r"https?://", text):
                write_iri(text)
                iris.add(text)
            else:
                local = text.replace(" ", "_")
                iris.add(
                    DBPEDIA
                    + "resource/"
                    + _ENCODED.sub(lambda match: f"%{ord(match[0]):02X}", local)
                )
        return sorted(iris)

    def _condition(self) -> str:
        # Names come with the terms, of the languages asked for.
        names = f"?p NOT IN ({write_iri(_LABEL)}, {write_iri(_COMMENT)})"
        dropped = self.drops.condition()
        return f"{names} && {dropped}" if dropped else names

    def outgoing(self, entities: Sequence[str], /) -> str:
        return (
            f"{_values('s', entities)} ?s ?p ?o . "
            f"FILTER({self._condition()} && !isBlank(?o)) "
            f'FILTER(IF(isLiteral(?o) && LANG(?o) != "", {_in_languages("o", self.languages)}, '
            "true))"
        )

    def incoming(self, entity: str, /) -> str:
        return (
            f"?s ?p {write_iri(entity)} . "
            f"FILTER({self._condition()} && ?p != {write_iri(REDIRECTS)} && isIRI(?s)) "
            f"BIND({write_iri(entity)} AS ?o)"
        )

    def terms(self, entities: Sequence[str], /) -> str:
        return (
            f"{_values('s', entities)} "
            f"{_values('p', (_LABEL, _COMMENT, REDIRECTS, _SAME_AS))} ?s ?p ?o . "
            f"FILTER(IF(isLiteral(?o), {_in_languages('o', self.languages)}, "
            f"isIRI(?o) && (?p = {write_iri(REDIRECTS)} || "
            f"STRSTARTS(STR(?o), {write_string(ENTITY)}))))"
        )

    def walks_through(self, iri: str, /) -> bool:
        return _DBPEDIA_RESOURCE.fullmatch(iri) is not None

    def has_terms(self, iri: str, /) -> bool:
        return (
            re.match(r"https?://(?:[a-z-]+\.)?dbpedia\.org/(?:resource|ontology|property)/", iri)
            is not None
        )

    def redirect_of(self, row: Row, /) -> str | None:
        is_redirect = row.predicate.value == REDIRECTS and row.object.kind == "uri"
        return row.object.value if is_redirect else None

    def relation_iri(self, predicate: str, /) -> str:
        return predicate
