"""A published graph as arrays, built from what a store reads.

Rows come in chunks and go into flat buffers, so that no Python object a row is kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from graph_service.errors import StoreCorruptError
from graph_service.model.equal_entities import EqualEntities, merge_entities, source_of_id
from graph_service.model.graph import (
    RANK_CODES,
    Bool,
    EdgeHeads,
    Int32,
    Int64,
    KnowledgeGraph,
    LabelColumn,
    NameIndex,
    NodeKind,
    StatementIds,
    StringTable,
    Topology,
    Uint8,
)
from graph_service.model.graph_arrays import join_texts, reorder_texts
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.neighbourhood import EdgeRow
from graph_service.model.statement import Entity, EntityKind, Rank
from graph_service.model.topology import edge_order
from graph_service.model.values import EntityValue, stored_value
from graph_service.store.search import name_keys


class PackedTexts(NamedTuple):
    """Texts as columns: one after the other in UTF-8, and their lengths in bytes, int64."""

    data: bytes
    lengths: bytes

    def table(self) -> StringTable:
        """Returns them as a table."""
        lengths = np.frombuffer(self.lengths, dtype=np.int64)
        offsets = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(lengths)))
        return StringTable(np.frombuffer(self.data, dtype=np.uint8), offsets)


def pack_texts(texts: Iterable[str], /) -> PackedTexts:
    """Returns texts as one buffer of UTF-8 and their offsets."""
    encoded = [text.encode() for text in texts]
    return PackedTexts(b"".join(encoded), array("q", map(len, encoded)).tobytes())


@dataclass(frozen=True, slots=True)
class EdgeChunk:
    """Some statements in columns, all of length n.

    Attributes:
        statement_keys, head_keys, relation_keys: int64.
        tail_keys: int64; 0 where the value is no entity.
        is_literal: Whether the value is no entity, bool.
        ranks: ``RANK_CODES``, uint8.
        statement_ids: Their ids.
        values: Encoded values of the literals alone, in order.
    """

    statement_keys: Int64
    head_keys: Int64
    relation_keys: Int64
    tail_keys: Int64
    is_literal: Bool
    ranks: Uint8
    statement_ids: PackedTexts
    values: PackedTexts


@dataclass(frozen=True, slots=True)
class EntityChunk:
    """Some entities in columns, all of length n.

    Attributes:
        keys: int64.
        ids: Their ids.
        kinds: ``NodeKind`` of an entity, uint8.
        is_redirect: Whether the entity is now another, bool.
        labels: Place in the chunk and labels by language, for those that have any.
        same_as: Place in the chunk and ids of the same entity elsewhere, for those that have any.
    """

    keys: Int64
    ids: PackedTexts
    kinds: Uint8
    is_redirect: Bool
    labels: Sequence[tuple[int, Mapping[str, str]]]
    same_as: Sequence[tuple[int, Sequence[str]]] = ()


@dataclass(frozen=True, slots=True)
class NameChunk:
    """Names of some entities, for the ``NameIndex``, in columns of one length.

    Attributes:
        name_keys: ``key64`` of the normalised name, int64.
        entity_keys: Key of the entity, int64.
        is_alias: bool.
        longest: Most words of a name.
    """

    name_keys: Int64
    entity_keys: Int64
    is_alias: Bool
    longest: int


class _Texts:
    """A ``StringTable`` that grows by chunks of texts."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lengths = array("q")

    def extend(self, texts: PackedTexts) -> None:
        self._data += texts.data
        self._lengths.frombytes(texts.lengths)

    def append(self, text: str) -> None:
        data = text.encode()
        self._data += data
        self._lengths.append(len(data))

    def table(self, order: Int64 | None = None) -> StringTable:
        """Returns the table, its texts in an order; the buffer is not copied if it need not be."""
        offsets = np.zeros(len(self._lengths) + 1, dtype=np.int64)
        np.cumsum(np.frombuffer(self._lengths, dtype=np.int64), out=offsets[1:])
        table = StringTable(np.frombuffer(self._data, dtype=np.uint8), offsets)
        return table if order is None else reorder_texts(table, order)


class TailIds(dict[str, str | None]):
    """The id that an encoded value names as an entity, None for other values; decoded once each."""

    def __missing__(self, encoded: str) -> str | None:
        value = stored_value(encoded) if encoded.startswith('["e",') else None
        self[encoded] = id_ = value.id if isinstance(value, EntityValue) else None
        return id_


def chunks_of_rows(
    rows: Iterable[list[EdgeRow]],
    relations: dict[int, str],
    /,
    *,
    tail_ids: TailIds | None = None,
) -> Iterator[EdgeChunk]:
    """Returns edge rows as columns; fills ``relations`` with the relation ids by key.

    Args:
        rows: In chunks.
        relations: Is filled.
        tail_ids: Of values that were decoded before; those of each chunk alone otherwise.
    """
    keys: dict[str, int] = {}
    for chunk in rows:
        ids = TailIds() if tail_ids is None else tail_ids
        entity_keys: dict[str, int] = {}
        tails: list[int] = []
        literal: list[bool] = []
        values: list[str] = []
        heads: list[int] = []
        relation_keys: list[int] = []
        for row in chunk:
            relation_key = keys.get(row.relation)
            if relation_key is None:
                relation_key = keys[row.relation] = key64(row.relation)
                relations[relation_key] = row.relation
            relation_keys.append(relation_key)
            heads.append(_key_of(row.head, entity_keys))
            tail = ids[row.value]
            literal.append(tail is None)
            if tail is not None:
                tails.append(_key_of(tail, entity_keys))
            else:
                tails.append(0)
                values.append(row.value)
        yield EdgeChunk(
            statement_keys=np.array([key64(row.statement_id) for row in chunk], dtype=np.int64),
            head_keys=np.array(heads, dtype=np.int64),
            relation_keys=np.array(relation_keys, dtype=np.int64),
            tail_keys=np.array(tails, dtype=np.int64),
            is_literal=np.array(literal, dtype=np.bool_),
            ranks=np.array([RANK_CODES[row.rank] for row in chunk], dtype=np.uint8),
            statement_ids=pack_texts(row.statement_id for row in chunk),
            values=pack_texts(values),
        )


def _key_of(id_: str, known: dict[str, int]) -> int:
    key = known.get(id_)
    if key is None:
        key = known[id_] = key64(id_)
    return key


def chunks_of_entities(
    entities: Iterator[list[Entity]], names: list[NameChunk], /
) -> Iterator[EntityChunk]:
    """Returns entities as columns; appends the columns of their names to ``names``."""
    for chunk in entities:
        name_rows: list[tuple[int, int, bool]] = []
        longest = 0
        keys = [entity.key for entity in chunk]
        for key, entity in zip(keys, chunk, strict=True):
            of_names, words = name_keys(entity)
            longest = max(longest, words)
            name_rows.extend((name_key, key, is_alias) for name_key, is_alias in of_names)
        names.append(
            NameChunk(
                np.array([row[0] for row in name_rows], dtype=np.int64),
                np.array([row[1] for row in name_rows], dtype=np.int64),
                np.array([row[2] for row in name_rows], dtype=np.bool_),
                longest,
            )
        )
        yield EntityChunk(
            keys=np.array(keys, dtype=np.int64),
            ids=pack_texts(entity.id for entity in chunk),
            kinds=np.array([KIND_OF_NODE[entity.kind] for entity in chunk], dtype=np.uint8),
            is_redirect=np.array([entity.redirect is not None for entity in chunk], dtype=np.bool_),
            labels=[(index, entity.labels) for index, entity in enumerate(chunk) if entity.labels],
            same_as=[
                (index, entity.same_as) for index, entity in enumerate(chunk) if entity.same_as
            ],
        )


KIND_OF_NODE = {EntityKind.ITEM: NodeKind.ENTITY, EntityKind.PROPERTY: NodeKind.PROPERTY}


def build_arrays(
    info: GraphInfo,
    chunks: Iterable[EdgeChunk],
    relations_by_key: Callable[[], Mapping[int, str]],
    entities: Iterator[list[Entity]],
    /,
) -> KnowledgeGraph:
    """Returns an edition as arrays, where entities come as such rather than in columns.

    Args:
        info: The edition.
        chunks: All statements, in any order.
        relations_by_key: Gives the relation ids by key, asked for once the chunks are through.
        entities: All entities, in any order.
    """
    names: list[NameChunk] = []
    columns = chunks_of_entities(entities, names)
    return build_from_columns(info, chunks, columns, relations_by_key, names)


def build_from_columns(
    info: GraphInfo,
    chunks: Iterable[EdgeChunk],
    entities: Iterable[EntityChunk],
    relations_by_key: Callable[[], Mapping[int, str]],
    names: Sequence[NameChunk],
    /,
) -> KnowledgeGraph:
    """Returns an edition as arrays, from columns.

    Args:
        info: The edition.
        chunks: All statements, in any order.
        entities: All entities, in any order.
        relations_by_key: Gives the relation ids by key, asked for once the chunks are through.
        names: The names of all entities; read once the entities are through.
    """
    # Entities first: what the statements name is looked up as they come.
    nodes = _Nodes(entities)
    edges = _Edges(chunks, nodes, info)
    nodes.drop_unmentioned_redirects(edges)
    relation_keys = edges.sort()
    relations = relations_by_key()
    entity_count = len(nodes.keys)
    head, tail, rel = edges.heads, edges.tails, edges.relations
    tail[edges.is_literal] = edges.literal_numbers() + np.int32(entity_count)
    node_count = entity_count + len(edges.values)
    relation_labels = nodes.labels_of(relation_keys)
    node_ids = join_texts([nodes.ids, edges.values])
    topology = Topology.build(
        head,
        rel,
        tail,
        edges.statement_keys,
        entity_count=entity_count,
        node_count=node_count,
        relation_count=len(relation_keys),
    )
    return KnowledgeGraph(
        name=info.name,
        edition=info.edition,
        fingerprints=info.fingerprints,
        entity_count=entity_count,
        node_keys=nodes.keys,
        node_ids=node_ids,
        node_kinds=np.concatenate((nodes.kinds, _literal_kinds(edges.values))),
        relation_keys=relation_keys,
        relation_ids=StringTable.build(relations[int(key)] for key in relation_keys),
        topology=topology,
        statement_keys=edges.statement_keys,
        statement_ids=edges.statement_ids(topology.head, node_ids),
        rank=edges.ranks,
        best=best_ranked(head, rel, edges.ranks, len(relation_keys)),
        node_labels=nodes.labels,
        relation_labels=relation_labels,
        names=_name_index(names, nodes.keys),
        equal=nodes.equal(),
    )


def best_ranked(head: Int32, rel: Int32, rank: Uint8, relation_count: int, /) -> Bool:
    """Returns whether each edge has the best rank among its head's of that relation.

    Preferred ones are; normal ones are where their head has no preferred one of that relation;
    deprecated ones never are (as Wikidata's "truthy" statements).
    """
    group = head.astype(np.int64) * max(relation_count, 1) + rel
    preferred = rank == RANK_CODES[Rank.PREFERRED]
    normal = rank == RANK_CODES[Rank.NORMAL]
    best: Bool = preferred | (normal & ~np.isin(group, np.unique(group[preferred])))
    return best


class _Edges:
    """The columns of all statements, as they come until they are sorted.

    Attributes:
        heads, tails: Places among the keys of the nodes, int32; of a literal's tail, nothing.
    """

    def __init__(self, chunks: Iterable[EdgeChunk], nodes: _Nodes, info: GraphInfo) -> None:
        columns: list[list[npt.NDArray[np.generic]]] = [[] for _ in range(6)]
        self._ids: list[StatementIds] = []
        values = _Texts()
        self._relation_numbers: dict[int, int] = {}
        for chunk in chunks:
            tails = np.zeros(len(chunk.tail_keys), dtype=np.int32)
            linked = ~chunk.is_literal
            tails[linked] = _positions(nodes.keys, chunk.tail_keys[linked], info)
            heads = _positions(nodes.keys, chunk.head_keys, info)
            parts: tuple[npt.NDArray[np.generic], ...] = (
                chunk.statement_keys,
                heads,
                self._numbers(chunk.relation_keys),
                tails,
                chunk.is_literal,
                chunk.ranks,
            )
            for column, part in zip(columns, parts, strict=True):
                column.append(part)
            # Packed as they come: as texts they are three times as long.
            self._ids.append(StatementIds.pack(chunk.statement_ids.table(), heads, nodes.ids))
            values.extend(chunk.values)
        self.statement_keys: Int64 = _column(columns, 0, np.int64)
        self.heads: Int32 = _column(columns, 1, np.int32)
        self.relations: Int32 = _column(columns, 2, np.int32)
        self.tails: Int32 = _column(columns, 3, np.int32)
        self.is_literal: Bool = _column(columns, 4, np.bool_)
        self.ranks: Uint8 = _column(columns, 5, np.uint8)
        self.values = values.table()

    def _numbers(self, keys: Int64) -> Int32:
        """Returns the relations' numbers, given as they first come."""
        distinct, inverse = np.unique(keys, return_inverse=True)
        numbers = self._relation_numbers
        own = [numbers.setdefault(key, len(numbers)) for key in distinct.tolist()]
        return np.array(own, dtype=np.int32)[inverse]

    def sort(self) -> Int64:
        """Puts the statements in order of their edges' numbers, the values of literals in order of
        their statements' keys, and the relations' numbers in order of their keys, which it returns.
        """
        relation_keys = np.array(list(self._relation_numbers), dtype=np.int64)
        order = np.argsort(relation_keys)
        renumbered = np.empty(len(order), dtype=np.int32)
        renumbered[order] = np.arange(len(order), dtype=np.int32)
        self.relations = renumbered[self.relations]
        self._sort_statements()
        return relation_keys[order]

    def statement_ids(self, heads: EdgeHeads, node_ids: StringTable) -> StatementIds:
        """Returns the ids of the statements, given the heads of the edges."""
        ids = StatementIds.join(self._ids, self._order, heads, node_ids)
        self._ids.clear()
        return ids

    def literal_numbers(self) -> Int32:
        """Returns the place among all literals of the value of each statement that has one."""
        keys = self.statement_keys[self.is_literal]
        numbers = np.empty(len(keys), dtype=np.int32)
        numbers[np.argsort(keys)] = np.arange(len(keys), dtype=np.int32)
        return numbers

    def _sort_statements(self) -> None:
        self.values = reorder_texts(self.values, np.argsort(self.statement_keys[self.is_literal]))
        order = edge_order(self.heads, self.statement_keys)
        self._order = order
        self.statement_keys = self.statement_keys[order]
        self.heads = self.heads[order]
        self.relations = self.relations[order]
        self.tails = self.tails[order]
        self.is_literal = self.is_literal[order]
        self.ranks = self.ranks[order]


def _column(columns: list[list[npt.NDArray[np.generic]]], index: int, dtype: type) -> npt.NDArray:  # type: ignore[type-arg]
    parts = columns[index]
    joined = np.concatenate(parts) if parts else np.zeros(0)
    parts.clear()
    return joined.astype(dtype, copy=False)


class _Labels:
    """Labels by language as they come, by the number of the entity in the scan."""

    def __init__(self) -> None:
        self._columns: dict[str, tuple[array[int], _Texts]] = {}

    def add(self, number: int, labels: Mapping[str, str]) -> None:
        for language, label in labels.items():
            column = self._columns.get(language)
            if column is None:
                column = self._columns[language] = (array("q"), _Texts())
            column[0].append(number)
            column[1].append(label)

    def columns(self, new_numbers: Int32) -> dict[str, LabelColumn]:
        """Returns the columns under new numbers."""
        made: dict[str, LabelColumn] = {}
        for language in sorted(self._columns):
            numbers, texts = self._columns[language]
            renumbered = new_numbers[np.frombuffer(numbers, dtype=np.int64)]
            order = np.argsort(renumbered, kind="stable")
            ascending = bool(np.all(order[1:] > order[:-1]))
            made[language] = LabelColumn(
                renumbered[order], texts.table(None if ascending else order)
            )
        return made


def _renumbered(labels: Mapping[str, LabelColumn], new_numbers: Int32) -> dict[str, LabelColumn]:
    """Returns labels under new numbers, ascending as the old ones; -1 leaves one out."""
    made: dict[str, LabelColumn] = {}
    for language, column in labels.items():
        nodes = new_numbers[column.index]
        selected = np.flatnonzero(nodes >= 0)
        if len(selected):
            made[language] = LabelColumn(nodes[selected], reorder_texts(column.texts, selected))
    return made


class _Nodes:
    """Entities and their labels, in order of their keys."""

    def __init__(self, entities: Iterable[EntityChunk]) -> None:
        ids = _Texts()
        key_parts: list[Int64] = [np.zeros(0, dtype=np.int64)]
        kind_parts: list[Uint8] = [np.zeros(0, dtype=np.uint8)]
        redirect_parts: list[Bool] = [np.zeros(0, dtype=np.bool_)]
        labels = _Labels()
        same_owners, same_keys = array("q"), array("q")
        count = 0
        for chunk in entities:
            key_parts.append(chunk.keys)
            kind_parts.append(chunk.kinds)
            redirect_parts.append(chunk.is_redirect)
            ids.extend(chunk.ids)
            for index, terms in chunk.labels:
                labels.add(count + index, terms)
            for index, others in chunk.same_as:
                same_owners.extend([chunk.keys[index]] * len(others))
                same_keys.extend(map(key64, others))
            count += len(chunk.keys)
        all_keys = np.concatenate(key_parts)
        order = np.argsort(all_keys)
        self.keys: Int64 = all_keys[order]
        self.kinds: Uint8 = np.concatenate(kind_parts)[order]
        self._moved: Bool = np.concatenate(redirect_parts)[order]
        self.ids = ids.table(None if bool(np.all(order[1:] > order[:-1])) else order)
        new_numbers = np.empty(len(order), dtype=np.int32)
        new_numbers[order] = np.arange(len(order), dtype=np.int32)
        self.labels = labels.columns(new_numbers)
        self._all_keys, self._all_labels = self.keys, self.labels
        self._same_owners = np.frombuffer(same_owners, dtype=np.int64)
        self._same_keys = np.frombuffer(same_keys, dtype=np.int64)
        self._moved_keys: Int64 = self.keys[self._moved]

    def drop_unmentioned_redirects(self, edges: _Edges) -> None:
        """Drops the entities that are others now and that no statement names any more."""
        if not self._moved.any():
            return
        stays = ~self._moved
        stays[edges.heads] = True
        stays[edges.tails[~edges.is_literal]] = True
        staying = np.flatnonzero(stays)
        new_numbers = np.full(len(stays), -1, dtype=np.int32)
        new_numbers[staying] = np.arange(len(staying), dtype=np.int32)
        edges.heads, edges.tails = new_numbers[edges.heads], new_numbers[edges.tails]
        self.keys, self.kinds = self.keys[staying], self.kinds[staying]
        self.ids = reorder_texts(self.ids, staying)
        self.labels = _renumbered(self.labels, new_numbers)

    def labels_of(self, relation_keys: Int64) -> dict[str, LabelColumn]:
        """Returns the labels of relations, by their numbers."""
        keys = self._all_keys
        numbers = np.full(len(keys), -1, dtype=np.int32)
        positions = np.searchsorted(keys, relation_keys)
        present = np.flatnonzero(positions < len(keys))
        present = present[keys[positions[present]] == relation_keys[present]]
        numbers[positions[present]] = present
        return _renumbered(self._all_labels, numbers)

    def equal(self) -> EqualEntities:
        """Returns the entities that are one thing, by what they name as themselves elsewhere.

        Two are linked if one names the other, or if both name a third, in the graph or not.
        """
        owners, named = self._same_owners, self._same_keys
        stays = ~np.isin(owners, self._moved_keys)
        order = np.lexsort((owners[stays], named[stays]))
        owners, named = owners[stays][order], named[stays][order]
        again = np.flatnonzero(named[1:] == named[:-1])
        is_node = np.isin(named, self.keys) & ~np.isin(named, self._moved_keys)
        left = np.searchsorted(self.keys, np.concatenate((owners[is_node], owners[again])))
        right = np.searchsorted(self.keys, np.concatenate((named[is_node], owners[again + 1])))
        return merge_entities(
            left.astype(np.int32),
            right.astype(np.int32),
            lambda nodes: [source_of_id(id_) for id_ in self.ids.take(nodes)],
        ).equal


def _name_index(chunks: Sequence[NameChunk], node_keys: Int64) -> NameIndex:
    """Returns each name and node once, as an alias only where no label says the same."""
    keys = np.concatenate([np.zeros(0, dtype=np.int64), *(chunk.name_keys for chunk in chunks)])
    owners = np.concatenate([np.zeros(0, dtype=np.int64), *(item.entity_keys for item in chunks)])
    is_alias = np.concatenate([np.zeros(0, dtype=np.bool_), *(item.is_alias for item in chunks)])
    nodes = np.searchsorted(node_keys, owners).astype(np.int32)
    longest = max((chunk.longest for chunk in chunks), default=0)
    return NameIndex.of(keys, nodes, is_alias, longest=longest)


def _positions(keys: Int64, sought: Int64, info: GraphInfo) -> Int32:
    positions = np.searchsorted(keys, sought)
    if len(sought) and (
        not len(keys) or not bool(np.all(keys[np.minimum(positions, len(keys) - 1)] == sought))
    ):
        raise StoreCorruptError(
            f"a statement of {info.edition} names an entity that the store lacks",
            hint="Load the graph again with --replace.",
        )
    return positions.astype(np.int32)


def _literal_kinds(values: StringTable) -> Uint8:
    """Returns the kind of each literal by its encoding's length and second letter of the tag."""
    kinds = np.full(len(values), NodeKind.LITERAL, dtype=np.uint8)
    lengths = np.diff(values.offsets)
    for text, kind in ((b'["some"]', NodeKind.SOMEVALUE), (b'["none"]', NodeKind.NOVALUE)):
        candidates = np.flatnonzero(lengths == len(text))
        begins = values.offsets[candidates]
        bytes_there = values.data[begins[:, None] + np.arange(len(text))]
        same = (bytes_there == np.frombuffer(text, dtype=np.uint8)).all(axis=1)
        kinds[candidates[same]] = kind
    return kinds
