"""Which records of an entity stay, in the order of the source: what a store's batches decide.

The rule is that of ``Batch``: terms that stand alone are merged. Of documents the one of the highest
revision stays, of equal revisions the first. Another document of that revision is a conflict.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Record:
    """An entity as the source describes it once, or a document of it.

    Attributes:
        sequence: Orders records.
        line: Where it stands in its file.
        terms_hash: Of the entity; None for a document that describes none.
        revision: Of the entity.
        is_merged: Whether it adds to the terms there are.
        statements_hash: Of a document with all its statements; else None.
        first, end: The document's statements, as sequence numbers.
    """

    sequence: int
    line: int
    terms_hash: str | None
    revision: int | None
    is_merged: bool
    statements_hash: str | None
    first: int
    end: int

    @property
    def is_document(self) -> bool:
        """Whether all statements of the entity are in it."""
        return self.statements_hash is not None


@dataclass(slots=True)
class Resolved:
    """What became of the records of one entity.

    Attributes:
        accepted: Indices of the records that make the entity, in order.
        outdated, conflicting: The documents whose statements are left out, as ranges of sequence
            numbers.
        conflicts: Index of a record that is left out, and of the one that stays.
        first: Statements before this sequence number are of a document that a later one replaced;
            None where the source has no document.
        oldest: The ``first`` of the first document.
    """

    accepted: list[int] = field(default_factory=list)
    outdated: list[tuple[int, int]] = field(default_factory=list)
    conflicting: list[tuple[int, int]] = field(default_factory=list)
    conflicts: list[tuple[int, int]] = field(default_factory=list)
    first: int | None = None
    oldest: int | None = None


def resolve_records(records: Sequence[Record], /) -> Resolved:
    """Returns which of an entity's records stay.

    Args:
        records: All of one entity, by ``sequence``.
    """
    resolved = Resolved()
    # What the source said last of the entity: its record, its document, its revision.
    described: int | None = None
    document: int | None = None
    revision: int | None = None
    has_entity = False
    for index, record in enumerate(records):
        if record.is_merged:
            resolved.accepted.append(index)
            known = [each for each in (revision, record.revision) if each is not None]
            revision, has_entity = max(known, default=None), True
            continue
        is_of_other_age = (
            record.terms_hash is not None
            and has_entity
            and None not in (revision, record.revision)
            and revision != record.revision
        )
        if described is not None and not is_of_other_age:
            before = records[described]
            terms_differ = None not in (record.terms_hash, before.terms_hash) and (
                record.terms_hash != before.terms_hash
            )
            statements_differ = (
                record.is_document
                and document is not None
                and record.statements_hash != records[document].statements_hash
            )
            if terms_differ or statements_differ:
                resolved.conflicts.append((index, described))
                if record.is_document:
                    resolved.conflicting.append((record.first, record.end))
                continue
        if record.terms_hash is not None:
            if revision is not None and record.revision is not None and record.revision < revision:
                if record.is_document:
                    resolved.outdated.append((record.first, record.end))
                continue
            revision, has_entity = record.revision, True
            resolved.accepted.append(index)
        described = index
        if record.is_document:
            document = index
            resolved.first = record.first
            resolved.oldest = record.first if resolved.oldest is None else resolved.oldest
    return resolved


@dataclass(frozen=True, slots=True)
class Decisions:
    """What documents that a source gives more than once mean for statements.

    Attributes:
        first: By an entity's key: statements before this sequence number are replaced.
        oldest: By an entity's key: the first statement of its first document.
        left_out_from, left_out_to: Ranges of sequence numbers that are left out, ascending; they are disjoint.
        are_outdated: Whether each is of a lower revision; else it is a conflict.
    """

    first: dict[int, int]
    oldest: dict[int, int]
    left_out_from: list[int]
    left_out_to: list[int]
    are_outdated: list[bool]

    @classmethod
    def of(cls, resolved: Iterable[tuple[int, Resolved]], /) -> Decisions:
        """Returns the decisions of some entities, each with its key."""
        first: dict[int, int] = {}
        oldest: dict[int, int] = {}
        left_out: list[tuple[int, int, bool]] = []
        for key, each in resolved:
            if each.first is not None and each.oldest is not None:
                first[key], oldest[key] = each.first, each.oldest
            left_out += [(start, end, True) for start, end in each.outdated]
            left_out += [(start, end, False) for start, end in each.conflicting]
        left_out = sorted(row for row in left_out if row[0] < row[1])
        return cls(
            first,
            oldest,
            [start for start, _, _ in left_out],
            [end for _, end, _ in left_out],
            [is_outdated for _, _, is_outdated in left_out],
        )

    @property
    def is_empty(self) -> bool:
        """Whether no entity has two documents."""
        return not (self.first or self.left_out_from)

    def left_out(self, sequence: int, head: int, /) -> bool | None:
        """Returns whether a statement is outdated (True) or in conflict (False); None if it stays.

        Args:
            sequence: Of the statement.
            head: Key of its entity.
        """
        if head not in self.first:
            return None
        index = bisect_right(self.left_out_from, sequence) - 1
        if index < 0 or sequence >= self.left_out_to[index]:
            return None
        return self.are_outdated[index]
