"""Edge numbers of a graph or a view to triples with labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.model.equal_entities import source_of_id
from graph_service.model.graph import RANKS, KnowledgeGraph, labels_of
from graph_service.model.overlay import Overlay
from graph_service.model.result import EntityRef, RelationRef, Triple, TripleChange
from graph_service.model.statement import Statement
from graph_service.model.values import (
    EntityValue,
    Value,
    display_value,
    plain_value,
    stored_value,
)
from graph_service.model.view_spec import CHANGE_KINDS, ChangeKind
from graph_service.text.fold import name_of_id, relation_words

UNCHANGED = TripleChange()


def entity_name(id_: str, /) -> str:
    """Returns what an entity without a label is called: its id, or the words that the id is made of.

    >>> entity_name("http://dbpedia.org/resource/Douglas_Adams"), entity_name("Q42")
    ('Douglas Adams', 'Q42')
    """
    return name_of_id(id_) or id_


@dataclass(frozen=True, slots=True)
class ShownEdge:
    """An edge as a triple, and how it differs from the base."""

    triple: Triple
    change: TripleChange


class TripleRenderer:
    """Turns edge numbers of one graph (or one view of it) into triples.

    Args:
        graph: The base graph.
        overlay: The view laid over it, if any.
        languages: Languages of labels, best first.
    """

    def __init__(
        self, graph: KnowledgeGraph, overlay: Overlay | None, languages: Sequence[str], /
    ) -> None:
        self._graph = graph
        self._overlay = overlay
        self._languages = tuple(languages)

    def entities(self, nodes: Sequence[int], /) -> list[EntityRef]:
        """Returns entity nodes with their labels."""
        ids = self._graph.node_ids.take(nodes)
        labels = labels_of(
            self._graph.node_labels, np.asarray(nodes, dtype=np.int32), self._languages
        )
        return [
            EntityRef(id_, label or entity_name(id_))
            for id_, label in zip(ids, labels, strict=True)
        ]

    @property
    def joins_equal(self) -> bool:
        """Whether entities of the graph are one thing with others."""
        return len(self._graph.equal) > 0

    def thing_of(self, id_: str, /) -> str:
        """Returns the one id of all entities that are one thing with one: its own where none are."""
        node = self._graph.find_node(id_) if len(self._graph.equal) else None
        if node is None:
            return id_
        return self._graph.node_ids[int(self._graph.equal.things(np.array([node]))[0])]

    def known_entities(self, nodes: Sequence[int], /) -> list[int]:
        """Returns those nodes that are entities of the graph: no literals, none of a view alone."""
        return [node for node in nodes if node < self._graph.entity_count]

    def entity_id(self, node: int, /) -> str:
        """Returns the id of an entity node; of a view's new ones too."""
        if node < self._graph.node_count or self._overlay is None:
            return self._graph.node_ids[node]
        value = stored_value(self._overlay.new_nodes[node - self._graph.node_count])
        assert isinstance(value, EntityValue)
        return value.id

    def statement_ids(self, edges: Mapping[int, Sequence[int]], /) -> dict[int, tuple[str, ...]]:
        """Returns the statement ids of some lists of edges, by the same keys."""
        return {key: tuple(map(self.statement_id, some)) for key, some in edges.items()}

    def statement_id(self, edge: int, /) -> str:
        """Returns the statement id of an edge; of one that a view made too."""
        count = self._graph.edge_count
        if edge < count:
            return self._graph.statement_ids[edge]
        assert self._overlay is not None
        return self._overlay.statement_ids[edge - count]

    def show(self, edges: Iterable[int], /) -> dict[int, ShownEdge]:
        """Returns each distinct edge as a triple; extra edges with their base triple."""
        numbers = sorted(set(edges))
        base_count = self._graph.edge_count
        base = [edge for edge in numbers if edge < base_count]
        shown = {
            edge: ShownEdge(triple, UNCHANGED)
            for edge, triple in zip(base, self._base_triples(base), strict=True)
        }
        extra = [edge - base_count for edge in numbers if edge >= base_count]
        if extra and self._overlay is not None:
            shown.update(self._extra_triples(self._overlay, extra))
        return shown

    def _base_triples(self, edges: Sequence[int]) -> list[Triple]:
        graph = self._graph
        rows = np.asarray(edges, dtype=np.int64)
        ids = graph.statement_ids.take(rows)
        return self._make(
            ids,
            graph.head[rows].tolist(),
            graph.rel[rows].tolist(),
            graph.tail[rows].tolist(),
            graph.rank[rows].tolist(),
        )

    def _extra_triples(self, overlay: Overlay, extra: Sequence[int]) -> dict[int, ShownEdge]:
        rows = np.asarray(extra, dtype=np.int64)
        triples = self._make(
            [overlay.statement_ids[row] for row in extra],
            overlay.head[rows].tolist(),
            overlay.rel[rows].tolist(),
            overlay.tail[rows].tolist(),
            overlay.rank[rows].tolist(),
        )
        bases = overlay.base_edge[rows].tolist()
        known = [edge for edge in bases if edge >= 0]
        base_triples = dict(zip(known, self._base_triples(known), strict=True))
        kinds = overlay.kinds[rows].tolist()
        return {
            self._graph.edge_count + row: ShownEdge(
                triple, TripleChange(CHANGE_KINDS[kind], base_triples.get(base))
            )
            for row, triple, base, kind in zip(extra, triples, bases, kinds, strict=True)
        }

    def _make(
        self,
        statement_ids: Sequence[str],
        heads: Sequence[int],
        rels: Sequence[int],
        tails: Sequence[int],
        ranks: Sequence[int],
    ) -> list[Triple]:
        nodes = sorted(set(heads) | set(tails))
        values = self._values(nodes)
        several = self._of_several_sources(nodes)
        relations = self.relations(sorted(set(rels)))
        triples = []
        for id_, head, rel, tail, rank in zip(
            statement_ids, heads, rels, tails, ranks, strict=True
        ):
            head_value, head_label = values[head]
            value, value_label = values[tail]
            head_id = head_value.id if isinstance(head_value, EntityValue) else head_label
            triples.append(
                Triple(
                    statement_id=id_,
                    head=EntityRef(head_id, head_label),
                    relation=relations[rel],
                    value=value,
                    value_label=value_label,
                    rank=RANKS[rank],
                    source=source_of_id(head_id) if head in several or tail in several else None,
                )
            )
        return triples

    def _of_several_sources(self, nodes: Sequence[int]) -> frozenset[int]:
        """Returns those of some nodes that are one thing with others."""
        if not len(self._graph.equal):
            return frozenset()
        group = self._graph.equal.groups_of(np.asarray(nodes, dtype=np.int64))
        return frozenset(node for node, of in zip(nodes, group.tolist(), strict=True) if of >= 0)

    def _values(self, nodes: Sequence[int]) -> dict[int, tuple[Value, str]]:
        graph = self._graph
        known = [node for node in nodes if node < graph.node_count]
        entities = [node for node in known if node < graph.entity_count]
        values: dict[int, tuple[Value, str]] = {
            node: (EntityValue(ref.id), ref.label)
            for node, ref in zip(entities, self.entities(entities), strict=True)
        }
        literals = known[len(entities) :]
        encoded = list(zip(literals, graph.node_ids.take(literals), strict=True))
        if self._overlay is not None:
            encoded.extend(
                (node, self._overlay.new_nodes[node - graph.node_count])
                for node in nodes[len(known) :]
            )
        for node, text in encoded:
            value = stored_value(text)
            values[node] = (value, display_value(value, self.label_of))
        return values

    def node_label(self, node: int, /) -> str:
        """Returns the label of a node, or what its literal reads as; a view's new ones too."""
        return self._values([node])[node][1]

    def node_value(self, node: int, /) -> str:
        """Returns a node as a program compares it: an entity's id, or a literal's plain value."""
        value, _ = self._values([node])[node]
        return plain_value(value)

    def relation_label(self, rel: int, /) -> str:
        """Returns the label of a relation; a view's new ones too."""
        return self.relations([rel])[rel].label

    def label_of_relation(self, id_: str, /) -> str:
        """Returns the label of a relation id, or the words that the id is made of."""
        number = self._graph.find_relation(id_)
        return relation_words(id_) if number is None else self.relation_label(number)

    def label_of(self, id_: str, /) -> str:
        """Returns the label of an entity id, or what an entity without one is called."""
        node = self._graph.find_node(id_)
        return entity_name(id_) if node is None else self.entities([node])[0].label

    def relations(self, rels: Sequence[int], /) -> dict[int, RelationRef]:
        """Returns relations with their labels, given by ascending numbers; a view's new ones too."""
        graph = self._graph
        known = [rel for rel in rels if rel < graph.relation_count]
        ids = graph.relation_ids.take(known)
        labels = labels_of(
            graph.relation_labels, np.asarray(known, dtype=np.int32), self._languages
        )
        relations = {
            rel: RelationRef(id_, label or relation_words(id_))
            for rel, id_, label in zip(known, ids, labels, strict=True)
        }
        if self._overlay is not None:
            for rel in rels[len(known) :]:
                id_ = self._overlay.new_relations[rel - graph.relation_count]
                relations[rel] = RelationRef(id_, relation_words(id_))
        return relations


def with_details(
    triple: Triple, change: TripleChange, statements: Mapping[str, Statement], /
) -> Triple:
    """Returns a triple with the qualifiers and references of its statement, or of its base's."""
    base_id = triple.statement_id
    if change.kind is not ChangeKind.UNCHANGED:
        if change.base is None:
            return triple
        base_id = change.base.statement_id
    statement = statements.get(base_id)
    if statement is None:
        return triple
    return replace(triple, qualifiers=statement.qualifiers, references=statement.references)
