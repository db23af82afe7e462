"""What a load reports of entities that are one thing: how many, and which groups are not merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from graph_service.model.identity import key64
from graph_service.store.lookup import read_merged_entities
from graph_service.store.protocol import Store

_SHOWN_GROUPS, _SHOWN_MEMBERS = 3, 3


@dataclass(frozen=True, slots=True)
class EqualEntityCounts:
    """Counts of the entities of a graph that are one thing.

    Attributes:
        entities: Those that are one node with others.
        groups: Those nodes.
        unmerged: Groups whose entities stay nodes of their own, by reason.
        examples: Some of these, by reason: a few ids of each.
    """

    entities: int = 0
    groups: int = 0
    unmerged: Mapping[str, int] = field(default_factory=dict)
    examples: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """Returns the counts as a person reads them; nothing of a graph without such entities."""
        lines = []
        if self.entities:
            lines.append(
                f"equal entities: {self.entities:,}, in groups that are one node for a question: "
                f"{self.groups:,}"
            )
        for reason, count in sorted(self.unmerged.items()):
            shown = "; ".join(" = ".join(ids) for ids in self.examples[reason])
            lines.append(f"NOT MERGED: {count:,} of {reason}, such as {shown}")
        return lines


def count_equal_entities(store: Store, edition: str, /) -> EqualEntityCounts:
    """Returns the counts of a published edition."""
    merged = read_merged_entities(store, edition)
    unmerged = Counter(group.reason for group in merged.unmerged)
    shown = {
        reason: [
            group.members[:_SHOWN_MEMBERS] for group in merged.unmerged if group.reason is reason
        ][:_SHOWN_GROUPS]
        for reason in unmerged
    }
    ids = _ids_of(
        store, edition, {key for groups in shown.values() for some in groups for key in some}
    )
    return EqualEntityCounts(
        len(merged.equal),
        merged.equal.group_count,
        {reason.value: count for reason, count in unmerged.items()},
        {
            reason.value: tuple(tuple(sorted(ids[key] for key in some)) for some in groups)
            for reason, groups in shown.items()
        },
    )


def _ids_of(store: Store, edition: str, keys: set[int]) -> dict[int, str]:
    """Returns the ids of some entities that are linked to others."""
    if not keys:
        return {}
    linked = {id_ for pair in store.equal_pairs(edition) for id_ in pair}
    return {key: id_ for id_ in linked if (key := key64(id_)) in keys}
