"""What of a source is loaded: which entities, which of their statements, how far around some.

A filter is part of what a load is: another filter is another load, so an interrupted one is
resumed only under the same filters, and the report names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum, auto
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from graph_service.errors import InputError
from graph_service.model.classes import INSTANCE_RELATIONS, WIKIDATA_INSTANCE_OF
from graph_service.model.identity import normalise_entity_id
from graph_service.model.values import EntityValue
from graph_service.options import check_bounds, option
from loaders.sparql.options import DIRECTIONS, WALK

if TYPE_CHECKING:
    from graph_service.model.statement import Statement

DEFAULT_MAX_INCOMING = 500
ENTITY_REASON = "entities that the filters leave out"
_PART = "only a part of a file (what is given must hold together)"
_RECORDED = {"around_entities": "around"}
"""Names under which stores have recorded loads, where they are not those of the options."""
_SITE = re.compile(r"[a-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which part of a source is loaded; what is given by several of these must hold by all.

    Ids are as users write them (``Q42``, ``wd:Q42``, an IRI). ``docs/reference/options.md`` lists the options.

    Attributes:
        classes: An instance is one by P31 or ``rdf:type``.
        subclasses: A table of two columns, class and superclass, or any graph with P279 or
            ``rdfs:subClassOf``. Instances of subclasses count.
        around_entities: The statements of every entity fewer than ``hops`` steps away from one of
            these, in ``direction``.
        max_incoming: Of a hub no statement is taken that it is the value of, unless it is one of
            ``around_entities``.
        value_names: Names of relations are always loaded.
    """

    entities: tuple[str, ...] = option((), help="only this entity", metavar="ID", group=_PART)
    entities_file: Path | None = option(
        None, help="only the entities of this list, one a line", group=_PART
    )
    classes: tuple[str, ...] = option(
        (), help="only instances of this class", metavar="ID", group=_PART
    )
    subclasses: Path | None = option(
        None,
        help="with --class: also instances of its subclasses, by a table of class and superclass, "
        "or a graph with P279 or subClassOf",
        group=_PART,
    )
    having: tuple[str, ...] = option(
        (),
        help="only entities with a statement of this relation, with this value",
        metavar="ID[=VALUE]",
        group=_PART,
    )
    sitelinks: tuple[str, ...] = option(
        (),
        help="only entities with a page there, such as enwiki (Wikibase JSON)",
        metavar="SITE",
        group=_PART,
    )
    relations: tuple[str, ...] = option(
        (), help="only statements of this relation", metavar="ID", group=_PART
    )
    drop_relations: Path | None = option(
        None, help="relations to leave out, one IRI a line", group=_PART
    )
    around_entities: tuple[str, ...] = option(
        (),
        help="only what lies up to --hops steps around this entity",
        metavar="ID",
        group=_PART,
    )
    hops: int = option(1, help="steps around the entity", least=1, group=WALK)
    direction: str = option(
        "both",
        help="statements whose head an entity is (out), whose value it is (in), or both",
        choices=DIRECTIONS,
        group=WALK,
    )
    max_incoming: int = option(
        DEFAULT_MAX_INCOMING,
        help="entities that are the value of more statements are hubs, left out",
        least=1,
        group=WALK,
    )
    value_names: bool = option(
        False,
        help="also the names of entities that are values (reads the file twice)",
        group=_PART,
    )

    @property
    def chooses_entities(self) -> bool:
        """Whether some entities are left out with all of their statements, whatever is around."""
        return bool(
            self.entities or self.entities_file or self.classes or self.having or self.sitelinks
        )

    @property
    def is_empty(self) -> bool:
        """Whether the filters leave nothing out."""
        return not (
            self.chooses_entities or self.relations or self.drop_relations or self.around_entities
        )

    def check(self) -> None:
        """Raises ``InputError`` for a value out of range, or one that needs another."""
        check_bounds(self)
        if not self.around_entities and (self.hops, self.direction, self.max_incoming) != (
            1,
            "both",
            DEFAULT_MAX_INCOMING,
        ):
            raise InputError(
                "hops, direction and the limit of hubs are for what lies around an entity; "
                "expected one to begin at",
                argument="around_entities",
                hint="For instance --around-entity Q42 --hops 2.",
            )
        if self.subclasses is not None and not self.classes:
            raise InputError(
                "subclasses are given, but no class", argument="classes", hint="Add --class ID."
            )
        for site in self.sitelinks:
            if not _SITE.fullmatch(site):
                raise InputError(
                    f"{site!r} is no site; expected one such as enwiki", argument="sitelinks"
                )
        for text in self.having:
            read_condition(text)

    def to_json(self) -> dict[str, Any]:
        """Returns what was asked for and nothing else; files with a hash of what they hold."""
        payload: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if isinstance(value, Path):
                value = [str(value), _digest_of(value)]
            name = _RECORDED.get(field.name, field.name)
            payload[name] = list(value) if isinstance(value, tuple) else value
        return payload

    def lines(self) -> list[str]:
        """Returns the filters as a report prints them."""
        return [
            f"only {_RECORDED.get(field.name, field.name).replace('_', ' ')}: "
            + (", ".join(map(str, value)) if isinstance(value, tuple) else str(value))
            for field in fields(self)
            if (value := getattr(self, field.name)) != field.default
        ]


def _digest_of(path: Path) -> str:
    state = blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            while data := file.read(1 << 20):
                state.update(data)
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror or error})") from error
    return state.hexdigest()


@dataclass(frozen=True, slots=True)
class Condition:
    """A statement that an entity must have; any value where ``value`` is None."""

    relation: str
    value: str | None = None

    def holds_for(self, relation: str, value: object, /) -> bool:
        """Returns whether a statement's relation and value are meant."""
        return relation == self.relation and (
            self.value is None or (isinstance(value, EntityValue) and value.id == self.value)
        )


def read_condition(text: str, /) -> Condition:
    """Returns the condition of ``P106`` or ``P106=Q36180``; an IRI may hold ``=`` itself.

    >>> read_condition("wdt:P106=wd:Q36180")
    Condition(relation='P106', value='Q36180')
    """
    relation, equals, value = text.partition("=")
    if not relation.strip() or (equals and not value.strip()):
        raise InputError(
            f"{text!r} is no condition; expected a relation, or relation=value", argument="having"
        )
    return Condition(
        normalise_entity_id(relation.strip()),
        normalise_entity_id(value.strip()) if equals else None,
    )


def read_ids(path: Path, /) -> frozenset[str]:
    """Returns the ids of a file, one a line (the first column where there are several)."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"the list of entities {path} can't be read: {error}", argument="entities_file"
        ) from error
    cells = (re.split(r"[\t,]", line, maxsplit=1)[0].strip() for line in lines)
    return frozenset(
        normalise_entity_id(cell.removeprefix("<").removesuffix(">"))
        for cell in cells
        if cell and not cell.startswith("#")
    )


def with_subclasses(
    classes: Collection[str], pairs: Iterable[tuple[str, str]], /
) -> frozenset[str]:
    """Returns classes and all that are subclasses of them, by pairs of class and superclass."""
    below: dict[str, list[str]] = {}
    for class_, superclass in pairs:
        below.setdefault(superclass, []).append(class_)
    all_classes = set(classes)
    coming = list(all_classes)
    while coming:
        for class_ in below.get(coming.pop(), ()):
            if class_ not in all_classes:
                all_classes.add(class_)
                coming.append(class_)
    return frozenset(all_classes)


class RelationFilter:
    """Which relations' statements are loaded."""

    def __init__(self, filters: Filters, /) -> None:
        from loaders.sparql.dialects import read_drops

        self._only = frozenset(map(normalise_entity_id, filters.relations))
        drops = read_drops(filters.drop_relations) if filters.drop_relations else None
        self._dropped = frozenset(map(normalise_entity_id, drops.iris)) if drops else frozenset()
        self._beginnings = drops.beginnings if drops else ()
        self.lets_all_through = not (self._only or self._dropped or self._beginnings)
        self._known: dict[str, bool] = {}

    def passes(self, relation: str, /) -> bool:
        """Returns whether statements of a relation are loaded."""
        known = self._known.get(relation)
        if known is None:
            known = self._known[relation] = (
                not (self._only and relation not in self._only)
                and relation not in self._dropped
                and not relation.startswith(self._beginnings)
            )
        return known


@dataclass(frozen=True, slots=True)
class EntityConditions:
    """What an entity must be, with ids normalised and subclasses added.

    Attributes:
        ids: One of these; None for any.
        classes: An instance of one of these; None for any.
        having: Statements that it has.
        sitelinks: Has a page on one of these; empty for any.
    """

    ids: frozenset[str] | None
    classes: frozenset[str] | None
    having: tuple[Condition, ...]
    sitelinks: frozenset[str]

    def matches(self, statement: Statement, /) -> list[int]:
        """Returns the numbers of the conditions that a statement fulfils: 0 is the class."""
        indexes = []
        value = statement.value
        if (
            self.classes is not None
            and statement.relation in INSTANCE_RELATIONS
            and isinstance(value, EntityValue)
            and value.id in self.classes
        ):
            indexes.append(0)
        indexes.extend(
            index
            for index, condition in enumerate(self.having, start=1)
            if condition.holds_for(statement.relation, value)
        )
        return indexes

    @property
    def indexes(self) -> list[int]:
        """The numbers of all conditions that take statements."""
        return [*([0] if self.classes is not None else []), *range(1, len(self.having) + 1)]


class Choice(Enum):
    """What becomes of an entity's document."""

    TAKE = auto()
    NAMES_ONLY = auto()
    LEAVE_OUT = auto()


class DocumentFilter:
    """Tells of Wikibase's documents, before they are read, which are wanted.

    Args:
        conditions: What an entity must be.
        has_names: Whether at least the names of an entity are wanted, by its id; None where it
            isn't known. Those of properties always are.
        reached: Whether an entity lies near enough, by its id; None for all.
    """

    def __init__(
        self,
        conditions: EntityConditions,
        /,
        *,
        has_names: Callable[[str], bool] | None = None,
        reached: Callable[[str], bool] | None = None,
    ) -> None:
        self._conditions = conditions
        self._has_names, self._reached = has_names, reached
        # A text without one of each group can't hold a document that is wanted; the properties'
        # own documents are told by their type.
        self._marks = [
            tuple(f'"{site}"'.encode() for site in conditions.sitelinks),
            *((f'"{condition.relation}"'.encode(),) for condition in conditions.having),
        ]

    def may_hold(self, piece: bytes, /) -> bool:
        """Returns whether a JSON text is worth being parsed."""
        if self._has_names is not None or len(piece) > 1 << 20:
            return True
        if all(any(mark in piece for mark in marks) for marks in self._marks if marks):
            return True
        return b'"property"' in piece[:400] or b"\\u" in piece[:400] or b'"entities"' in piece[:200]

    def choice(self, document: Mapping[str, Any], id_: str, /) -> Choice:
        """Returns what becomes of a document."""
        far = self._reached is not None and not self._reached(id_)
        if not far and self._is_selected(document, id_):
            return Choice.TAKE
        if id_.startswith("P") or (self._has_names is not None and self._has_names(id_)):
            return Choice.NAMES_ONLY
        return Choice.LEAVE_OUT

    def _is_selected(self, document: Mapping[str, Any], id_: str) -> bool:
        conditions = self._conditions
        if conditions.ids is not None and id_ not in conditions.ids:
            return False
        if conditions.sitelinks:
            links = document.get("sitelinks")
            if not isinstance(links, Mapping) or conditions.sitelinks.isdisjoint(links):
                return False
        claims = document.get("claims", document.get("statements"))
        if conditions.classes is not None and not any(
            value in conditions.classes for value in _values(claims, WIKIDATA_INSTANCE_OF)
        ):
            return False
        for condition in conditions.having:
            group = claims.get(condition.relation) if isinstance(claims, Mapping) else None
            if not group:
                return False
            if condition.value is not None and condition.value not in _values(
                claims, condition.relation
            ):
                return False
        return True


def _values(claims: object, property_: str) -> list[str]:
    """Returns the ids of the entities that a property has as values, deprecated ones too."""
    group = claims.get(property_) if isinstance(claims, Mapping) else None
    ids = []
    for claim in group if isinstance(group, list) else ():
        try:
            value = claim["mainsnak"]["datavalue"]["value"]
            id_ = value.get("id") or f"Q{int(value['numeric-id'])}"
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        ids.append(id_)
    return ids
