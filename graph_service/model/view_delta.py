"""What a view changes of its base graph, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.model.entity_names import EntityName
from graph_service.model.graph import (
    Bool,
    EdgeHeads,
    Int32,
    Int64,
    KnowledgeGraph,
    Numbers,
    StringTable,
    Uint8,
)


@dataclass(frozen=True, slots=True, eq=False)
class NameDelta:
    """Entities that a view names otherwise than its base, with all names that they have there.

    Attributes:
        nodes: The entities, int32 [C], ascending.
        owner: Place in ``nodes`` of the entity of each name, int32 [K], ascending; an entity that
            is nobody's owner has lost its names.
        language: Place in ``languages`` of the tag of each name, int32 [K].
        is_alias: Whether each name is an alias rather than a label, bool [K].
        texts: The names, [K].
        languages: Tags, ascending.
    """

    nodes: Int32
    owner: Int32
    language: Int32
    is_alias: Bool
    texts: StringTable
    languages: tuple[str, ...]

    @classmethod
    def of(cls, nodes: Int32, names: Sequence[Sequence[EntityName]], /) -> NameDelta:
        """Returns it from entities, ascending, and the names of each."""
        each = [name for some in names for name in some]
        languages = tuple(sorted({name.language for name in each}))
        code_of = {language: code for code, language in enumerate(languages)}
        return cls(
            nodes=nodes,
            owner=np.repeat(
                np.arange(len(nodes), dtype=np.int32), [len(some) for some in names]
            ).astype(np.int32),
            language=np.array([code_of[name.language] for name in each], dtype=np.int32),
            is_alias=np.array([name.is_alias for name in each], dtype=np.bool_),
            texts=StringTable.build(name.text for name in each),
            languages=languages,
        )

    def names_of(self, index: int, /) -> list[EntityName]:
        """Returns the names of the entity at an index in ``nodes``."""
        start, end = np.searchsorted(self.owner, [index, index + 1]).tolist()
        return [
            EntityName(
                self.languages[int(self.language[row])],
                self.texts[row],
                bool(self.is_alias[row]),
            )
            for row in range(start, end)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class ViewDelta:
    """The difference between a view and its base, in base numbers.

    Nodes from ``KnowledgeGraph.node_count`` on and relations from ``relation_count`` on are the
    new ones of a person's own changes, in order of ``new_nodes`` and ``new_relations``.

    Attributes:
        removed: Edges that are gone, int32 or int64, ascending.
        replaced: Edges that are changed, int32 or int64, ascending.
        replaced_rel, replaced_tail: What they are now, int32.
        added_head, added_rel, added_tail: Statements that the base does not have, int32.
        new_nodes: Encoded values (``["e", id]`` for entities) of nodes the base lacks.
        new_relations: Ids of relations the base lacks.
        replaced_head: What the heads of the changed edges are now, int32; None where all stay.
        replaced_rank: Rank codes that they have now, uint8; None where all stay. Where they are
            given, which statements have the best rank is worked out anew, without the removed ones.
        names: Entities with other names; None where all keep theirs.
    """

    removed: Numbers
    replaced: Numbers
    replaced_rel: Int32
    replaced_tail: Int32
    added_head: Int32
    added_rel: Int32
    added_tail: Int32
    new_nodes: tuple[str, ...] = ()
    new_relations: tuple[str, ...] = ()
    replaced_head: Int32 | None = None
    replaced_rank: Uint8 | None = None
    names: NameDelta | None = None

    @property
    def changed_count(self) -> int:
        """Number of edges removed, replaced or added."""
        return len(self.removed) + len(self.replaced) + len(self.added_head)

    @property
    def renamed_count(self) -> int:
        """Number of entities with other names."""
        return 0 if self.names is None else len(self.names.nodes)

    def heads_of_replaced(self, head: EdgeHeads, /) -> Int32:
        """Returns the heads that the changed edges have now, int32, given the base's heads."""
        return head[self.replaced] if self.replaced_head is None else self.replaced_head

    def with_replaced_in(self, order: Int64, /) -> ViewDelta:
        """Returns the same changes with the changed edges reordered by their positions."""
        head, rank = self.replaced_head, self.replaced_rank
        return replace(
            self,
            replaced=self.replaced[order],
            replaced_rel=self.replaced_rel[order],
            replaced_tail=self.replaced_tail[order],
            replaced_head=None if head is None else head[order],
            replaced_rank=None if rank is None else rank[order],
        )

    def ranks_of_replaced(self, rank: Uint8, /) -> Uint8:
        """Returns the rank codes that the changed edges have now, given the base's ranks."""
        return rank[self.replaced] if self.replaced_rank is None else self.replaced_rank


def empty_delta(graph: KnowledgeGraph, /) -> ViewDelta:
    """Returns the delta that changes nothing of a base graph."""
    edges = np.zeros(0, dtype=graph.edge_type)
    none = np.zeros(0, dtype=np.int32)
    return ViewDelta(edges, edges, none, none, none, none, none)


def with_names(delta: ViewDelta, names: NameDelta, /) -> ViewDelta:
    """Returns a delta that gives entities other names too; the same where none is named."""
    return replace(delta, names=names) if len(names.nodes) else delta
