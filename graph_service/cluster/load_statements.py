"""The statements of a range of keys, with repeats resolved: the rule of a store's ``finish``.

Of the rows of one id the first that no newer document of its entity replaces stays. Others are
duplicates where their content is the same, else conflicts. What a newer document no longer has goes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.cluster.load_documents import Decisions
from graph_service.store.hashes import collision


@dataclass(frozen=True, slots=True)
class StatementConflict:
    """A statement that is left out since another one of its id stays.

    Attributes:
        id: Of both.
        sequence, line: Of the one that is left out.
        stored_sequence, stored_line: Of the one that stays.
    """

    id: str
    sequence: int
    line: int
    stored_sequence: int
    stored_line: int


@dataclass(slots=True)
class RangeCounts:
    """What became of the statements of a range of keys, as ``LoadCounts`` counts them.

    Attributes:
        read: How many there were.
        outdated, conflicting_documents: Left out with their document.
        duplicates, updated, conflicting, removed: Left out one by one.
        literals: Of those that stay.
    """

    read: int = 0
    outdated: int = 0
    conflicting_documents: int = 0
    duplicates: int = 0
    updated: int = 0
    conflicting: int = 0
    removed: int = 0
    literals: int = 0


@dataclass(frozen=True, slots=True)
class ResolvedStatements:
    """The statements of a range that stay.

    Attributes:
        table: Their rows, by key.
        counts: What became of all.
        conflicts: Those that are left out since the source says two things under one id.
    """

    table: Any
    counts: RangeCounts
    conflicts: list[StatementConflict] = field(default_factory=list)


def resolve_statements(table: Any, decisions: Decisions, /) -> ResolvedStatements:
    """Returns the statements of a range of keys that stay.

    Args:
        table: All rows of the range, in any order.
        decisions: Of the documents that came more than once.

    Raises:
        KeyCollisionError: Two ids have one key.
    """
    counts = RangeCounts(read=table.num_rows)
    table = table.sort_by([("key", "ascending"), ("sequence", "ascending")])
    conflicts: list[StatementConflict] = []
    if not decisions.is_empty:
        table = table.filter(_in_documents(table, decisions, counts))
    keys = table["key"].to_numpy()
    stays = np.ones(len(keys), dtype=bool)
    past = _past(table, decisions)
    repeated = np.flatnonzero(keys[1:] == keys[:-1])
    if len(repeated):
        _resolve(table, repeated, past, decisions, stays, counts, conflicts)
    counts.removed += int(np.count_nonzero(past & stays))
    stays &= ~past
    if not stays.all():
        table = table.filter(stays)
    counts.literals = table["tail_key"].null_count
    return ResolvedStatements(table, counts, conflicts)


def _in_documents(table: Any, decisions: Decisions, counts: RangeCounts) -> npt.NDArray[np.bool_]:
    """Returns which rows are not of a document that is left out, and counts the others."""
    stays = np.ones(table.num_rows, dtype=bool)
    rows = zip(table["sequence"].to_pylist(), table["head_key"].to_pylist(), strict=True)
    for index, (sequence, head) in enumerate(rows):
        outdated = decisions.left_out(sequence, head)
        if outdated is not None:
            stays[index] = False
            counts.outdated += outdated
            counts.conflicting_documents += not outdated
    return stays


def _past(table: Any, decisions: Decisions) -> npt.NDArray[np.bool_]:
    """Returns which rows are of documents that a later one replaced."""
    past = np.zeros(table.num_rows, dtype=bool)
    if decisions.first:
        rows = zip(table["sequence"].to_pylist(), table["head_key"].to_pylist(), strict=True)
        for index, (sequence, head) in enumerate(rows):
            past[index] = sequence < decisions.first.get(head, sequence)
    return past


def _resolve(
    table: Any,
    repeated: npt.NDArray[np.intp],
    past: npt.NDArray[np.bool_],
    decisions: Decisions,
    stays: npt.NDArray[np.bool_],
    counts: RangeCounts,
    conflicts: list[StatementConflict],
) -> None:
    """Marks the rows that another row of their id stands for, and counts them."""
    keys = table["key"].to_numpy()
    rows = np.unique(np.concatenate([repeated, repeated + 1]))
    columns = ("sequence", "line", "statement", "head_key", "content_low", "content_high")
    some = table.select(columns).take(rows).to_pylist()
    # Rows of one key follow one another.
    offsets = np.flatnonzero(np.concatenate([[True], keys[rows][1:] != keys[rows][:-1]]))
    for start, end in zip(offsets.tolist(), [*offsets[1:].tolist(), len(rows)], strict=True):
        group = range(start, end)
        current = [index for index in group if not past[rows[index]]]
        stored = current[0] if current else end - 1
        for index in group:
            if index == stored:
                continue
            row, other = some[index], some[stored]
            if row["statement"] != other["statement"]:
                raise collision(row["statement"], other["statement"])
            stays[rows[index]] = False
            if all(row[name] == other[name] for name in ("content_low", "content_high")):
                counts.duplicates += 1
            elif not current or (
                past[rows[index]] and row["sequence"] >= decisions.oldest[row["head_key"]]
            ):
                counts.updated += 1
            else:
                counts.conflicting += 1
                conflicts.append(
                    StatementConflict(
                        row["statement"],
                        row["sequence"],
                        row["line"],
                        other["sequence"],
                        other["line"],
                    )
                )
