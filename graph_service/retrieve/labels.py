"""Texts of a region's nodes and relations, on the base or on a view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int32, Int64, KnowledgeGraph, labels_of
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.region import Region
from graph_service.model.values import EntityValue, display_value, stored_value
from graph_service.text.fold import relation_words, words
from graph_service.text.nouns import singular

_BLOCK = 1 << 10
"""Labels read between two looks at the deadline."""


@dataclass(frozen=True, slots=True)
class Labels:
    """Gives the label of every node and relation of a graph, those of a view included.

    Attributes:
        languages: Best first; any other label stands in where there is none in these.
        deadline: Raises ``DeadlineError`` when past.
    """

    graph: KnowledgeGraph
    overlay: Overlay | None
    languages: Sequence[str]
    deadline: Deadline = Deadline.none()
    _units: dict[str, str] = field(default_factory=dict)

    def nodes(self, nodes: Int32 | Int64, /) -> list[str]:
        """Returns the text of each global node: an entity's label (else its id), a literal's
        value as a person reads it.
        """
        numbers = np.asarray(nodes, dtype=np.int32)
        texts: list[str] = []
        for start in range(0, len(numbers), _BLOCK):
            self.deadline.check("reading labels")
            texts.extend(self._texts(numbers[start : start + _BLOCK]))
        return texts

    def _texts(self, numbers: Int32) -> list[str]:
        texts = [""] * len(numbers)
        entity = np.flatnonzero(numbers < self.graph.entity_count)
        labels = labels_of(self.graph.node_labels, numbers[entity], self.languages)
        missing = [row for row, label in zip(entity.tolist(), labels, strict=True) if not label]
        for row, label in zip(entity.tolist(), labels, strict=True):
            texts[row] = label or ""
        ids = self.graph.node_ids.take(numbers[missing]) if missing else []
        for row, id_ in zip(missing, ids, strict=True):
            texts[row] = relation_words(id_)
        literal = np.flatnonzero(
            (numbers >= self.graph.entity_count) & (numbers < self.graph.node_count)
        )
        for row, encoded in zip(
            literal.tolist(), self.graph.node_ids.take(numbers[literal]), strict=True
        ):
            texts[row] = display_value(stored_value(encoded), self.unit)
        for row in np.flatnonzero(numbers >= self.graph.node_count).tolist():
            assert self.overlay is not None
            encoded = self.overlay.new_nodes[int(numbers[row]) - self.graph.node_count]
            value = stored_value(encoded)
            texts[row] = (
                relation_words(value.id)
                if isinstance(value, EntityValue)
                else display_value(value, self.unit)
            )
        return texts

    def class_labels(self, region: Region, nodes: Int64, /) -> list[list[str]]:
        """Returns the labels of the classes of each of some nodes of a region, as far as its
        statements have them.

        Args:
            region: Whose statements are read.
            nodes: Its own numbers of them, int64 [n].
        """
        edges = self._instance_edges(region)
        edges = edges[np.isin(region.head[edges], nodes)]
        labels = self.nodes(region.nodes[region.tail[edges]])
        classes: dict[int, list[str]] = {node: [] for node in nodes.tolist()}
        for head, label in zip(region.head[edges].tolist(), labels, strict=True):
            classes[head].append(label)
        return [classes[node] for node in nodes.tolist()]

    def classes_of_kind(self, region: Region, noun: str, /) -> Int64:
        """Returns the classes in a region whose names end with a noun in the singular, as *landlocked
        country* does, by the region's own numbers, ascending.
        """
        nodes = np.unique(region.tail[self._instance_edges(region)])
        heads = [words(label)[-1:] for label in self.nodes(region.nodes[nodes])]
        is_of_kind = [bool(head) and singular(head[0]) == noun for head in heads]
        kinds: Int64 = nodes[np.array(is_of_kind, dtype=bool)].astype(np.int64)
        return kinds

    def _instance_edges(self, region: Region) -> Int64:
        known = [self.graph.find_relation(id_) for id_ in sorted(INSTANCE_RELATIONS)]
        return np.flatnonzero(np.isin(region.rel, [each for each in known if each is not None]))

    def relations(self, relations: Int32 | Int64, /) -> list[str]:
        """Returns the text of each relation: its label, or the last part of its id in words."""
        numbers = np.asarray(relations, dtype=np.int32)
        base = np.flatnonzero(numbers < self.graph.relation_count)
        texts: list[str] = [""] * len(numbers)
        labels = labels_of(self.graph.relation_labels, numbers[base], self.languages)
        for row, label in zip(base.tolist(), labels, strict=True):
            if label:
                texts[row] = relation_words(label) or self.graph.relation_ids[int(numbers[row])]
        unlabelled = base[[not label for label in labels]]
        ids = self.graph.relation_ids.take(numbers[unlabelled])
        for row, id_ in zip(unlabelled.tolist(), ids, strict=True):
            texts[row] = relation_words(id_) or id_
        for row in np.flatnonzero(numbers >= self.graph.relation_count).tolist():
            assert self.overlay is not None
            id_ = self.overlay.new_relations[int(numbers[row]) - self.graph.relation_count]
            texts[row] = relation_words(id_) or id_
        return texts

    def relation(self, id_: str, /) -> str:
        """Returns the text of a relation by its id; of one that only a view has, its id."""
        number = self.graph.find_relation(id_)
        return id_ if number is None else self.relations(np.array([number], dtype=np.int32))[0]

    def relation_ids(self, relations: Int32 | Int64, /) -> list[str]:
        """Returns the id of each relation."""
        count = self.graph.relation_count
        numbers = np.asarray(relations, dtype=np.int64)
        ids = iter(self.graph.relation_ids.take(numbers[numbers < count]))
        new = self.overlay.new_relations if self.overlay else ()
        return [next(ids) if rel < count else new[rel - count] for rel in numbers.tolist()]

    def unit(self, id_: str, /) -> str:
        """Returns the text of a unit by its id."""
        if id_ not in self._units:
            node = self.graph.find_node(id_)
            text = id_ if node is None else self.nodes(np.array([node], dtype=np.int32))[0]
            self._units[id_] = text
        return self._units[id_]
