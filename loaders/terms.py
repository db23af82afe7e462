"""Names and links of entities, gathered over a block of a source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from graph_service.model.classes import RDF_TYPE
from graph_service.model.statement import Entity, EntityKind

LANGUAGE_REASON = "terms in languages not asked for"
SECOND_DESCRIPTION_REASON = "descriptions beside another in the same language"
_TYPE_WORDS = frozenset(("type", "kind", "class", "category"))


def with_terms_in(entity: Entity, languages: frozenset[str], skipped: Counter[str], /) -> Entity:
    """Returns an entity with its terms in some languages alone, all where none is named.

    Args:
        entity: With its terms in all languages.
        languages: Codes of languages.
        skipped: Counts the languages that are left out.
    """
    if not languages:
        return entity
    labels = {code: text for code, text in entity.labels.items() if code in languages}
    descriptions = {code: text for code, text in entity.descriptions.items() if code in languages}
    aliases = {code: texts for code, texts in entity.aliases.items() if code in languages}
    skipped[LANGUAGE_REASON] += len(entity.labels) - len(labels)
    skipped[LANGUAGE_REASON] += len(entity.descriptions) - len(descriptions)
    skipped[LANGUAGE_REASON] += len(entity.aliases) - len(aliases)
    return replace(entity, labels=labels, descriptions=descriptions, aliases=aliases)


class EntityTerms:
    """Terms of one entity, as they come by.

    Of two labels or descriptions in one language the one that sorts first stays, as in the store
    (``merge_terms``), so that it does not matter where a block ends. The other label is an alias.
    """

    __slots__ = ("aliases", "descriptions", "kind", "labels", "redirect", "revision", "same_as")

    def __init__(self) -> None:
        self.labels: dict[str, str] = {}
        self.descriptions: dict[str, str] = {}
        self.aliases: dict[str, dict[str, None]] = {}
        self.same_as: dict[str, None] = {}
        self.kind = EntityKind.ITEM
        self.redirect: str | None = None
        self.revision: int | None = None

    def add_label(self, language: str, text: str, /) -> None:
        """Adds a label, or an alias where there is a label that sorts before it."""
        other = self.labels.setdefault(language, text)
        if other != text:
            self.labels[language] = min(other, text)
            self.add_alias(language, max(other, text))

    def add_alias(self, language: str, text: str, /) -> None:
        """Adds an alias of an entity in a language."""
        self.aliases.setdefault(language, {})[text] = None

    def add_description(self, language: str, text: str, /) -> bool:
        """Adds a description; returns whether it is one beside another in the same language."""
        other = self.descriptions.setdefault(language, text)
        self.descriptions[language] = min(other, text)
        return other != text


class TermGatherer:
    """Terms of the entities of a block, until ``take`` hands them on."""

    def __init__(self) -> None:
        self._terms: dict[str, EntityTerms] = {}

    def of(self, id_: str, /) -> EntityTerms:
        """Returns the terms of an entity, to add to."""
        terms = self._terms.get(id_)
        if terms is None:
            terms = self._terms[id_] = EntityTerms()
        return terms

    def name_instance_relation(self, columns: Iterable[str], /) -> None:
        """Names ``rdf:type`` *instance of* if a column says of what type things are.

        Without a name of its own it is called *type*, and a question of a type, kind or class would
        be answered by the class of the row.

        Args:
            columns: Names of a table's columns.
        """
        if not _TYPE_WORDS.isdisjoint(name.strip().casefold() for name in columns):
            terms = self.of(RDF_TYPE)
            terms.kind = EntityKind.PROPERTY
            terms.add_label("en", "instance of")

    def take(self) -> list[Entity]:
        """Returns the entities gathered, and begins anew."""
        gathered: Mapping[str, EntityTerms] = self._terms
        self._terms = {}
        return [
            Entity(
                id=id_,
                kind=terms.kind,
                labels=terms.labels,
                descriptions=terms.descriptions,
                aliases={language: tuple(names) for language, names in terms.aliases.items()},
                redirect=terms.redirect,
                revision=terms.revision,
                same_as=tuple(terms.same_as),
            )
            for id_, terms in gathered.items()
        ]
