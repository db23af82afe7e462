"""What a view changes of its base graph, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Int32


@dataclass(frozen=True, slots=True, eq=False)
class ViewDelta:
    """The difference between a view and its base, in base numbers.

    Nodes from ``KnowledgeGraph.node_count`` on and relations from ``relation_count`` on are the
    new ones of a person's own changes, in order of ``new_nodes`` and ``new_relations``.

    Attributes:
        removed: Edges that are gone, int32, ascending.
        replaced: Edges that are changed, int32, ascending; their heads stay.
        replaced_rel, replaced_tail: What they are now, int32.
        added_head, added_rel, added_tail: Statements that the base does not have, int32.
        new_nodes: Encoded values (``["e", id]`` for entities) of nodes the base lacks.
        new_relations: Ids of relations the base lacks.
    """

    removed: Int32
    replaced: Int32
    replaced_rel: Int32
    replaced_tail: Int32
    added_head: Int32
    added_rel: Int32
    added_tail: Int32
    new_nodes: tuple[str, ...] = ()
    new_relations: tuple[str, ...] = ()

    @property
    def changed_count(self) -> int:
        """Number of edges removed, replaced or added."""
        return len(self.removed) + len(self.replaced) + len(self.added_head)


def empty_delta() -> ViewDelta:
    """Returns the delta that changes nothing."""
    none = np.zeros(0, dtype=np.int32)
    return ViewDelta(none, none, none, none, none, none, none)
