"""The first pass over a source, where what is loaded can't be told from one piece at a time.

Filters that hold for one document at a time take no pass of their own. What lies around an
entity, the entities of a class in RDF or a table (whose statements lie apart), the names of
values and redirects that are to be resolved do.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from graph_service.model.identity import key64, normalise_entity_id
from graph_service.model.values import EntityValue
from loaders.items import Parsed
from loaders.rdf.redirects import resolve_chains
from loaders.subset.edges import Edges, Keys, KeySet, Surroundings, walk
from loaders.subset.filters import (
    DocumentFilter,
    EntityConditions,
    Filters,
    RelationFilter,
    read_condition,
    read_ids,
    with_subclasses,
)
from loaders.subset.selection import Selection, head_keys
from loaders.truthy import BothFormsError, HeldTruthy


class Survey:
    """The first pass: told of every block, it knows at the end what is selected.

    Args:
        filters: What is asked for.
        conditions: What an entity must be.
        resolve_redirects: Whether redirects are to be resolved.
    """

    def __init__(
        self, filters: Filters, conditions: EntityConditions, *, resolve_redirects: bool
    ) -> None:
        self._filters = filters
        self._conditions = conditions
        self._relation_filter = RelationFilter(filters)
        self._resolve = resolve_redirects
        self._needs_edges = bool(filters.around_entities) or filters.value_names
        self._edges = Edges()
        self._documents: array[int] = array("q")
        self._matching: dict[int, array[int]] = {index: array("q") for index in conditions.indexes}
        self._relations: set[str] = set()
        self._redirects: dict[str, str] = {}
        self._held: HeldTruthy | None = None
        self._forms: set[str] = set()

    @property
    def holds_truthy(self) -> bool:
        """Whether truthy statements are held back, to be left out where full ones repeat them."""
        return self._held is not None

    def hold_truthy(self) -> None:
        """Holds truthy statements back from here on.

        Raises:
            BothFormsError: Some came before.
        """
        if self._held is None:
            if self._forms:
                raise BothFormsError
            self._held = HeldTruthy()

    def add(self, parsed: Parsed, /, *, chosen: bool) -> None:
        """Takes note of a block; ``chosen`` says that its entities fulfil the conditions."""
        self._forms |= parsed.forms
        if self._held is not None:
            self._held.take(parsed)
        elif parsed.statement_nodes or len(self._forms) > 1:
            raise BothFormsError
        if self._resolve:
            self._redirects.update(
                (item.id, item.redirect) for item in parsed.entities if item.redirect is not None
            )
        keys = head_keys(parsed.statements).tolist()
        if chosen:
            self._documents.extend(set(keys))
        passes = self._relation_filter.passes
        pairs: list[tuple[int, int]] = []
        for key, item in zip(keys, parsed.statements, strict=True):
            if not chosen:
                for index in self._conditions.matches(item):
                    self._matching[index].append(key)
            if not passes(item.relation):
                continue
            self._relations.add(item.relation)
            if self._needs_edges and type(item.value) is EntityValue:
                pairs.append((key, key64(item.value.id)))
        self._edges.add(pairs)

    def close(self) -> None:
        """Gives the temporary files back."""
        self._edges.close()
        if self._held is not None:
            self._held.close()

    def selection(self) -> Selection:
        """Returns which entities and statements the second pass loads."""
        if self._held is not None:
            for parsed in self._held.pieces(None):
                self.add(parsed, chosen=False)
        filters, conditions = self._filters, self._conditions
        heads: KeySet | None = None
        if filters.chooses_entities:
            parts = [KeySet(_keys(keys)) for keys in self._matching.values()]
            if conditions.ids is not None:
                parts.append(KeySet.of(sorted(conditions.ids)))
            heads = KeySet(np.concatenate([_intersection(parts).keys, _keys(self._documents)]))
        around = self._walk(heads)
        names = self._names(heads, around)
        redirects = resolve_chains(self._redirects)
        reached = None if around is None else around.reached.holds_id
        has_names = names.holds_id if around is not None or filters.value_names else None
        documents = (
            DocumentFilter(conditions, has_names=has_names, reached=reached)
            if filters.chooses_entities or around is not None
            else None
        )
        return Selection(
            filters,
            relations=self._relation_filter,
            documents=documents,
            heads=heads,
            names=names,
            around=around,
            redirects=redirects,
        )

    def _walk(self, heads: KeySet | None) -> Surroundings | None:
        filters = self._filters
        if not filters.around_entities:
            return None
        return walk(
            self._edges,
            KeySet.of([normalise_entity_id(id_) for id_ in filters.around_entities]),
            heads=heads,
            hops=filters.hops,
            direction=filters.direction,
            limit=filters.max_incoming,
        )

    def _names(self, heads: KeySet | None, around: Surroundings | None) -> KeySet:
        parts = [KeySet.of(sorted(self._relations)).keys]
        if around is not None:
            parts.append(around.reached.keys)
        elif heads is not None:
            parts.append(heads.keys)
            if self._filters.value_names:
                parts.extend(np.unique(tail) for _, tail in self._edges.chunks(heads))
        return KeySet(np.concatenate(parts))


def _keys(keys: array[int]) -> Keys:
    return np.frombuffer(keys, dtype=np.int64) if keys else np.zeros(0, dtype=np.int64)


def _intersection(parts: Sequence[KeySet]) -> KeySet:
    if not parts:
        return KeySet(np.zeros(0, dtype=np.int64))
    common = parts[0]
    for other in parts[1:]:
        common = KeySet(common.keys[other.holds(common.keys)])
    return common


def without_survey(filters: Filters, conditions: EntityConditions, /) -> Selection | None:
    """Returns the selection where no first pass is needed; None where everything is loaded."""
    if filters.is_empty:
        return None
    return Selection(
        filters,
        relations=RelationFilter(filters),
        documents=DocumentFilter(conditions) if filters.chooses_entities else None,
        heads=None,
        names=None,
        around=None,
        redirects={},
    )


def conditions_of(
    filters: Filters, subclass_pairs: Callable[[], Iterator[tuple[str, str]]], /
) -> EntityConditions:
    """Returns the conditions on entities, with the files that filters name read.

    Args:
        filters: What is asked for.
        subclass_pairs: Gives pairs of class and superclass, called where there is a file of them.
    """
    ids: set[str] | None = None
    if filters.entities or filters.entities_file:
        ids = {normalise_entity_id(id_) for id_ in filters.entities}
        if filters.entities_file is not None:
            ids |= read_ids(filters.entities_file)
    classes: frozenset[str] | None = None
    if filters.classes:
        named = frozenset(normalise_entity_id(id_) for id_ in filters.classes)
        classes = with_subclasses(named, subclass_pairs()) if filters.subclasses else named
    return EntityConditions(
        None if ids is None else frozenset(ids),
        classes,
        tuple(read_condition(text) for text in filters.having),
        frozenset(filters.sitelinks),
    )
