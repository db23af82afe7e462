"""Entities of several sources that are one thing, as ``owl:sameAs`` links say.

DBpedia's Rome and Wikidata's are two entities of a graph that both were loaded into. Retrieval
takes the entities of a group for one node; each statement stays with the entity it names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from graph_service.model.components import components
from graph_service.model.graph_arrays import Bool, Int32, Int64, find_positions, ranges
from graph_service.model.identity import WIKIDATA_ID
from graph_service.model.limits import Deadline

MOST_MEMBERS = 50
"""Most entities of a group: more are rather a mistake of the links than so many sources."""
WIKIDATA = "www.wikidata.org"
_TABLE = 1 << 18
"""Groups up to which a table of all is faster than a sort of some."""
_FEW_MEMBERS = 1 << 13
"""Members that are looked at faster than those of some groups are gathered."""
_SOURCE = re.compile(r"(?P<prefix>[A-Za-z][\w.+-]*):(?://(?P<host>[^/?#\s]+)\S*|[^\s/]\S*)")


class NotMerged(Enum):
    """Why the entities of a group stay nodes of their own."""

    TOO_MANY = f"more than {MOST_MEMBERS} entities"
    ONE_SOURCE = "two ids of one source"


@dataclass(frozen=True, slots=True, eq=False)
class EqualEntities:
    """Groups of entities that are one thing: k entities in g groups of two at least.

    Attributes:
        members: The entities, nodes of a graph or keys: int32 or int64 [k], ascending.
        group: The group of each, int32 [k]; groups are numbered by their smallest members.
        by_group: Places in ``members``, group by group, int32 [k]; those of a group ascend.
        begins: Where each group begins in ``by_group``, and where the last ends: int32 [g + 1].
        by_node: The group of each node up to the last member, -1 of one without, and -1 for all
            nodes after: int32. Empty where the entities are keys.
    """

    members: Int32 | Int64
    group: Int32
    by_group: Int32
    begins: Int32
    by_node: Int32

    @classmethod
    def build(cls, members: Int32 | Int64, label: Int64, /) -> EqualEntities:
        """Returns the groups of entities of one label; an entity alone has none.

        Args:
            members: Entities, ascending.
            label: Of each, int64.
        """
        _, group, count = np.unique(label, return_inverse=True, return_counts=True)
        shared = np.flatnonzero(count[group] > 1)
        members, label = members[shared], label[shared]
        _, first, group, count = np.unique(
            label, return_index=True, return_inverse=True, return_counts=True
        )
        rank = np.empty(len(first), dtype=np.int32)
        rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
        numbers: Int32 = rank[group]
        begins = np.zeros(len(first) + 1, dtype=np.int32)
        np.cumsum(np.bincount(numbers, minlength=len(first)), out=begins[1:])
        by_group = np.argsort(numbers, kind="stable").astype(np.int32)
        by_node = np.zeros(0, dtype=np.int32)
        if members.dtype == np.int32 and len(members):
            by_node = np.full(int(members[-1]) + 2, -1, dtype=np.int32)
            by_node[members] = numbers
        return cls(members, numbers, by_group, begins, by_node)

    @classmethod
    def none(cls) -> EqualEntities:
        """Returns that no two entities are one thing."""
        return cls.build(np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.members)

    @property
    def group_count(self) -> int:
        """How many groups of equal entities there are."""
        return len(self.begins) - 1

    def groups_of(self, entities: Int32 | Int64, /) -> Int32:
        """Returns the group of each of some entities, -1 of one without: int32."""
        if not len(self.members):
            return np.full(len(entities), -1, dtype=np.int32)
        if len(self.by_node):
            return self.by_node[np.minimum(entities, len(self.by_node) - 1)]
        positions = np.minimum(find_positions(self.members, entities), len(self.members) - 1)
        group: Int32 = np.where(self.members[positions] == entities, self.group[positions], -1)
        return group.astype(np.int32)

    def gather(self, entities: Int32 | Int64, /) -> tuple[Int64, Int64]:
        """Returns the entities that are one thing with each of some, itself too.

        Returns:
            The entities, one group after the other, and for each its place in ``entities``.
        """
        group = self.groups_of(entities)
        grouped = np.flatnonzero(group >= 0)
        groups = group[grouped]
        count = np.ones(len(entities), dtype=np.int64)
        count[grouped] = self.begins[groups + 1] - self.begins[groups]
        owner = np.repeat(np.arange(len(entities)), count)
        members = entities[owner].astype(np.int64)
        members[np.repeat(group >= 0, count)] = self._members_of(groups)
        return members, owner

    def groups_by_entity(self, entities: Sequence[int], /) -> dict[int, list[int]]:
        """Returns the entities of each group by the places of those of some that are in it."""
        group = self.groups_of(np.array(entities, dtype=np.int64))
        positions = np.flatnonzero(group >= 0)
        return {
            position: self.of_group(of)
            for position, of in zip(positions.tolist(), group[positions].tolist(), strict=True)
        }

    def of_group(self, group: int, /) -> list[int]:
        """Returns the entities of a group, ascending."""
        positions = self.by_group[self.begins[group] : self.begins[group + 1]]
        members: list[int] = self.members[positions].tolist()
        return members

    def others(self, entities: Int64, /) -> Int64:
        """Returns all that is one thing with some entities; these are among them, if in a group.

        Each comes once, in no order.
        """
        group = self.groups_of(entities)
        if self.group_count >= _TABLE:
            return self._members_of(np.unique(group[group >= 0]))
        # Entities without a group have the last row.
        met = np.zeros(self.group_count + 1, dtype=bool)
        met[group] = True
        if len(self.members) <= _FEW_MEMBERS + len(entities):
            return self.members.take(np.flatnonzero(met.take(self.group))).astype(np.int64)
        return self._members_of(np.flatnonzero(met[:-1]))

    def followed_by_members(self, entities: Int64, /) -> Int64:
        """Returns some entities in their order, and after them what else is one thing with them."""
        others = self.others(entities)
        if not len(others):
            return entities
        return np.concatenate((entities, np.sort(others[~np.isin(others, entities)])))

    def _members_of(self, groups: Int32 | Int64) -> Int64:
        """Returns the members of some groups, one group after the other."""
        positions = ranges(
            self.begins[groups].astype(np.int64), self.begins[groups + 1].astype(np.int64)
        )
        return self.members[self.by_group[positions]].astype(np.int64)

    def things(self, entities: Int64, /) -> Int64:
        """Returns the smallest entity that is one thing with each of some."""
        things = entities.copy()
        group = self.groups_of(entities)
        of_group = np.flatnonzero(group >= 0)
        things[of_group] = self.members[self.by_group[self.begins[group[of_group]]]]
        return things

    def among(self, keys: Int64, /) -> EqualEntities:
        """Returns the groups of keys as groups of the places of those among some ascending keys."""
        if not len(keys) or not len(self.members):
            return self.none()
        positions = np.minimum(find_positions(keys, self.members), len(keys) - 1)
        there = keys[positions] == self.members
        return self.build(positions[there].astype(np.int32), self.group[there].astype(np.int64))


@dataclass(frozen=True, slots=True)
class UnmergedGroup:
    """A group of linked entities that stay nodes of their own.

    Attributes:
        members: Its entities, ascending.
        reason: Why.
    """

    members: tuple[int, ...]
    reason: NotMerged


@dataclass(frozen=True, slots=True, eq=False)
class MergedEntities:
    """What links between entities come to.

    Attributes:
        equal: The groups that are one node each.
        unmerged: The groups that are not, by their smallest members.
    """

    equal: EqualEntities
    unmerged: tuple[UnmergedGroup, ...] = ()


def merge_entities(
    left: Int32 | Int64,
    right: Int32 | Int64,
    sources_of: Callable[[Int64], Sequence[str]],
    /,
) -> MergedEntities:
    """Returns the groups that linked entities make, through any number of links.

    A group of more than ``MOST_MEMBERS`` entities, or of two ids of one source, is not merged: one
    wrong link among many right ones would make a node of what are two things.

    Args:
        left: One end of each link, nodes or keys.
        right: The other end.
        sources_of: Gives the source of each of some entities (``source_of_id``).
    """
    links = left != right
    left, right = left[links], right[links]
    entities = np.unique(np.concatenate((left, right)))
    label = components(
        np.searchsorted(entities, left),
        np.searchsorted(entities, right),
        len(entities),
        deadline=Deadline.none(),
        what="merging equal entities",
    )
    linked = EqualEntities.build(entities, label)
    count = np.diff(linked.begins)
    too_many = count > MOST_MEMBERS
    one_source = _of_one_source(linked, sources_of(entities.astype(np.int64))) & ~too_many
    stays = ~(too_many | one_source)
    if stays.all():
        return MergedEntities(linked)
    unmerged = tuple(
        UnmergedGroup(
            tuple(linked.of_group(group)),
            NotMerged.TOO_MANY if too_many[group] else NotMerged.ONE_SOURCE,
        )
        for group in np.flatnonzero(~stays).tolist()
    )
    merged = stays[linked.group]
    equal = EqualEntities.build(linked.members[merged], linked.group[merged].astype(np.int64))
    return MergedEntities(equal, unmerged)


def _of_one_source(linked: EqualEntities, sources: Sequence[str]) -> Bool:
    """Returns which groups hold two ids of one source, bool [g]; ids without a source never do."""
    numbers = {"": -1}
    code = np.array(
        [numbers.setdefault(source, len(numbers)) for source in sources], dtype=np.int64
    )
    known = code >= 0
    pair = linked.group[known].astype(np.int64) * len(numbers) + code[known]
    pairs, count = np.unique(pair, return_counts=True)
    of_one_source = np.zeros(linked.group_count, dtype=bool)
    of_one_source[pairs[count > 1] // len(numbers)] = True
    return of_one_source


def source_of_id(id_: str, /) -> str:
    """Returns the source that an id is of: the host of an IRI, a prefix, Wikidata's; "" for none.

    >>> source_of_id("http://fr.dbpedia.org/resource/Rome"), source_of_id("Q220")
    ('fr.dbpedia.org', 'www.wikidata.org')
    >>> source_of_id("imdb:tt1"), source_of_id("Rome")
    ('imdb', '')
    """
    if WIKIDATA_ID.fullmatch(id_):
        return WIKIDATA
    match = _SOURCE.fullmatch(id_)
    return "" if match is None else (match["host"] or match["prefix"]).lower()
