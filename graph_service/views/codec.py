"""A delta as bytes: what a stored view is.

Edges are numbered in order of their statements' keys, which follow from the statements alone.
Entities and relations are not: one with labels and no statement moves the numbers and leaves the ``edges``
fingerprint. So they are written by their place among those that have a statement, and the
others by name. Layout, little-endian: a header (below), the removed edges, the replaced edges,
their new relations and tails, the added statements, the names as JSON; CRC-32 of it all.
Version 2 has the new heads after the new tails, and version 3 the new ranks after them too, where any
changes; else it is version 1. Version 4 has heads, ranks and, before the names as JSON, the entities
that are called otherwise: how many they are and how many names they have, their codes, the owner,
language, kind and length of each name, the names themselves (zlib), and the languages as JSON.

A set of edges is a bitmap of the base or LEB128 gaps, whichever is smaller: at 30 % of the
edges under half a byte each. Codes take as many bytes as the largest needs, a column that does
not change none: one byte more for a relation, two or three for a tail.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

import numpy as np
import orjson

from graph_service.errors import SchemaVersionError, StoreCorruptError, ViewStaleError
from graph_service.model.graph import RANKS, Int32, Int64, KnowledgeGraph, StringTable, Uint8
from graph_service.model.topology import edge_type
from graph_service.model.values import EntityValue, decode_value, encode_value
from graph_service.model.view_delta import NameDelta, ViewDelta

MAGIC = b"GSVD"
VERSION = 4
HEADS_STAY = 1
"""The version of a delta that changes no head and no rank."""
RANKS_STAY = 2
"""The version of a delta that changes a head and no rank."""
NAMES_STAY = 3
"""The version of a delta that changes a rank and no name."""

_HEADER = struct.Struct("<4sBQ48sIII")
"""Magic, version, edges of the base, its ``edges`` fingerprint, counts removed, replaced, added."""
_WIDE_HEADER = struct.Struct("<4sBQ48sQQQ")
"""The same of a base whose edge numbers take 64 bits."""
_SECTION = struct.Struct("<BQ")
"""Kind or width of a section, and its length in bytes."""
_GAPS, _BITMAP = 0, 1
_TEXT = 2
_COUNTS = struct.Struct("<II")
"""Entities that are called otherwise, and the names that they have."""


@dataclass(frozen=True, slots=True, eq=False)
class _Numbers:
    """Entities and relations that have a statement, ascending."""

    nodes: Int32
    relations: Int32

    @classmethod
    def of(cls, graph: KnowledgeGraph) -> _Numbers:
        met = np.zeros(graph.node_count, dtype=np.bool_)
        met[graph.head[:]] = True
        met[graph.tail] = True
        used = np.zeros(graph.relation_count, dtype=np.bool_)
        used[graph.rel[:]] = True
        return cls(
            np.flatnonzero(met[: graph.entity_count]).astype(np.int32),
            np.flatnonzero(used).astype(np.int32),
        )


def encode_delta(graph: KnowledgeGraph, delta: ViewDelta, /) -> bytes:
    """Returns a delta of a base graph as bytes."""
    removed = np.sort(graph.key_ranks(delta.removed))
    ranks = graph.key_ranks(delta.replaced)
    order = np.argsort(ranks)
    delta = delta.with_replaced_in(order)
    numbers = _Numbers.of(graph)
    names = _Names(graph, delta, numbers)
    replaced = delta.replaced
    version = HEADS_STAY if delta.replaced_head is None else RANKS_STAY
    if delta.replaced_rank is not None:
        version = NAMES_STAY
    if delta.names is not None:
        version = VERSION
    heads = delta.heads_of_replaced(graph.head)
    parts = [
        _header(graph.edge_count).pack(
            MAGIC,
            version,
            graph.edge_count,
            graph.fingerprints.edges.encode(),
            len(delta.removed),
            len(replaced),
            len(delta.added_head),
        ),
        _edge_set(removed, graph.edge_count),
        _edge_set(ranks[order], graph.edge_count),
        _column(names.relations(delta.replaced_rel, base=graph.rel[replaced])),
        _column(names.nodes(delta.replaced_tail, base=graph.tail[replaced])),
        *([_column(names.nodes(heads, base=graph.head[replaced]))] if version > HEADS_STAY else []),
        *([_column(_ranks(delta, graph))] if version > RANKS_STAY else []),
        _column(names.nodes(delta.added_head)),
        _column(names.relations(delta.added_rel)),
        _column(names.nodes(delta.added_tail)),
        *_renamed(delta.names, names),
        orjson.dumps([names.node_names, names.relation_names]) if names.any else b"",
    ]
    body = b"".join(parts)
    return body + struct.pack("<I", zlib.crc32(body))


def _header(edge_count: int) -> struct.Struct:
    return _HEADER if edge_type(edge_count) is np.int32 else _WIDE_HEADER


class _Names:
    """Codes of nodes and relations: 0 as it was, then those with a statement, then the named."""

    def __init__(self, graph: KnowledgeGraph, delta: ViewDelta, numbers: _Numbers) -> None:
        self._graph = graph
        self._numbers = numbers
        self.node_names = list(delta.new_nodes)
        self.relation_names = list(delta.new_relations)
        self._lone_nodes: dict[int, int] = {}
        self._lone_relations: dict[int, int] = {}

    @property
    def any(self) -> bool:
        return bool(self.node_names or self.relation_names)

    def nodes(self, nodes: Int32, *, base: Int32 | None = None) -> Int64:
        known = self._numbers.nodes
        codes, rest = _codes(nodes, known, base)
        for index in rest.tolist():
            node = int(nodes[index])
            new = node - self._graph.node_count
            if new < 0:
                if node not in self._lone_nodes:
                    self._lone_nodes[node] = len(self.node_names)
                    self.node_names.append(encode_value(EntityValue(self._graph.node_ids[node])))
                new = self._lone_nodes[node]
            codes[index] = 1 + len(known) + new
        return codes

    def relations(self, relations: Int32, *, base: Int32 | None = None) -> Int64:
        known = self._numbers.relations
        codes, rest = _codes(relations, known, base)
        for index in rest.tolist():
            relation = int(relations[index])
            new = relation - self._graph.relation_count
            if new < 0:
                if relation not in self._lone_relations:
                    self._lone_relations[relation] = len(self.relation_names)
                    self.relation_names.append(self._graph.relation_ids[relation])
                new = self._lone_relations[relation]
            codes[index] = 1 + len(known) + new
        return codes


def _renamed(names: NameDelta | None, codes: _Names) -> list[bytes]:
    """Returns the part of the entities that are called otherwise; nothing where none is."""
    if names is None:
        return []
    return [
        _text(_COUNTS.pack(len(names.nodes), len(names.texts))),
        _column(codes.nodes(names.nodes)),
        _column(names.owner.astype(np.int64)),
        _column(names.language.astype(np.int64)),
        _column(names.is_alias.astype(np.int64)),
        _column(np.diff(names.texts.offsets)),
        _text(zlib.compress(names.texts.data.tobytes())),
        _text(orjson.dumps(names.languages)),
    ]


def _text(data: bytes) -> bytes:
    return _SECTION.pack(_TEXT, len(data)) + data


def _ranks(delta: ViewDelta, graph: KnowledgeGraph) -> Int64:
    """Codes of the ranks of changed edges: 0 as it was, then those of ``RANK_CODES``."""
    ranks = delta.ranks_of_replaced(graph.rank)
    return np.where(ranks == graph.rank[delta.replaced], 0, ranks.astype(np.int64) + 1)


def _codes(numbers: Int32, known: Int32, base: Int32 | None) -> tuple[Int64, Int64]:
    """Codes of numbers among the known ones, and where those stand that are not."""
    positions = np.searchsorted(known, numbers)
    inside = positions < len(known)
    inside[inside] = known[positions[inside]] == numbers[inside]
    codes = np.where(inside, positions + 1, -1).astype(np.int64)
    if base is not None:
        codes[numbers == base] = 0
    return codes, np.flatnonzero(codes < 0).astype(np.int64)


def _edge_set(edges: Int64, edge_count: int) -> bytes:
    base = np.concatenate([np.array([-1], dtype=np.int64), edges[:-1]])
    gaps = _leb128(edges - base[: len(edges)] - 1)
    if len(gaps) <= (edge_count + 7) // 8:
        return _SECTION.pack(_GAPS, len(gaps)) + gaps.tobytes()
    mask = np.zeros(edge_count, dtype=np.bool_)
    mask[edges] = True
    bits = np.packbits(mask, bitorder="little")
    return _SECTION.pack(_BITMAP, len(bits)) + bits.tobytes()


def _leb128(numbers: Int64) -> Uint8:
    """Numbers below 2**35 in groups of seven bits, lowest first, all but the last flagged.

    No base has as many edges: the 64-bit keys of so many statements are not distinct.
    """
    width = 5
    groups = np.empty((len(numbers), width), dtype=np.uint8)
    for group in range(width):
        groups[:, group] = (numbers >> (7 * group)) & 0x7F
    needed = np.ones(len(numbers), dtype=np.int64)
    for group in range(1, width):
        needed[numbers >> (7 * group) > 0] = group + 1
    at = np.arange(width)[None, :]
    groups[at < needed[:, None] - 1] |= 0x80
    flat: Uint8 = groups[at < needed[:, None]]
    return flat


def _unleb128(data: Uint8) -> Int64:
    if not len(data):
        return np.zeros(0, dtype=np.int64)
    last = data < 0x80
    stops = np.flatnonzero(last)
    if not last[-1]:
        raise StoreCorruptError("a view's edges end inside a number")
    begins = np.concatenate([[0], stops[:-1] + 1])
    if int((stops - begins).max()) > 4:
        raise StoreCorruptError("a view holds an edge number of over five bytes")
    number_of = np.repeat(np.arange(len(stops)), stops - begins + 1)
    shifts = 7 * (np.arange(len(data)) - begins[number_of])
    values = (data & 0x7F).astype(np.int64) << shifts
    numbers: Int64 = np.add.reduceat(values, begins)
    return numbers


def _column(codes: Int64) -> bytes:
    largest = int(codes.max()) if len(codes) else 0
    width = (largest.bit_length() + 7) // 8
    data = codes.astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width].tobytes()
    return _SECTION.pack(width, len(data)) + data


class _Cursor:
    """Reads sections one after the other."""

    def __init__(self, data: bytes, start: int) -> None:
        self._data = data
        self._at = start

    def section(self) -> tuple[int, Uint8]:
        if self._at + _SECTION.size > len(self._data):
            raise StoreCorruptError("a view ends before its last section")
        kind, length = _SECTION.unpack_from(self._data, self._at)
        self._at += _SECTION.size
        if length > len(self._data) - self._at:
            raise StoreCorruptError("a view's section is longer than the view")
        content = np.frombuffer(self._data, dtype=np.uint8, count=length, offset=self._at)
        self._at += length
        return kind, content

    def rest(self) -> bytes:
        return self._data[self._at :]

    def text(self) -> bytes:
        kind, data = self.section()
        if kind != _TEXT:
            raise StoreCorruptError(f"a view's texts have kind {kind}")
        return data.tobytes()

    def edge_set(self, count: int, edge_count: int) -> Int64:
        kind, data = self.section()
        if kind == _GAPS:
            edges = np.cumsum(_unleb128(data) + 1) - 1
        elif kind == _BITMAP and len(data) == (edge_count + 7) // 8:
            edges = np.flatnonzero(np.unpackbits(data, bitorder="little"))
        else:
            raise StoreCorruptError(f"a view's set of edges has kind {kind} and {len(data)} bytes")
        if len(edges) != count or (count and int(edges[-1]) >= edge_count):
            raise StoreCorruptError(
                f"a view's set of edges should hold {count} below {edge_count}, holds {len(edges)}"
            )
        return edges

    def column(self, count: int) -> Int64:
        width, data = self.section()
        if width > 8 or len(data) != width * count:
            raise StoreCorruptError(
                f"a view's column should hold {count} codes of {width} bytes, has {len(data)} bytes"
            )
        wide = np.zeros((count, 8), dtype=np.uint8)
        wide[:, :width] = data.reshape(count, width)
        codes: Int64 = wide.view("<u8").reshape(count).astype(np.int64)
        return codes


def decode_delta(graph: KnowledgeGraph, data: bytes, /) -> ViewDelta:
    """Returns the delta of ``encode_delta`` in the numbers of the base as it is now.

    Raises:
        ViewStaleError: The bytes belong to another state of the base.
        SchemaVersionError: They were written by a newer version.
        StoreCorruptError: They are damaged.
    """
    if len(data) < _HEADER.size + 4 or data[:4] != MAGIC:
        raise StoreCorruptError(f"expected a view's delta, got {len(data)} other bytes")
    _, version, edge_count, made_for, *_ = _HEADER.unpack_from(data)
    if version > VERSION:
        raise SchemaVersionError(
            f"the view's delta has format {version}; this version reads up to {VERSION}",
            hint="Update graph-service, or make the view again.",
        )
    body, checksum = data[:-4], struct.unpack("<I", data[-4:])[0]
    if zlib.crc32(body) != checksum:
        raise StoreCorruptError("a view's delta is damaged: its checksum differs")
    if made_for.decode("ascii", "replace") != graph.fingerprints.edges:
        raise ViewStaleError(
            f"the view was made for state {made_for.decode('ascii', 'replace')} of graph "
            f"{graph.name!r}, which is now {graph.fingerprints.edges}",
            hint="Create the view again from its specification.",
        )
    numbers = _Numbers.of(graph)
    header = _header(edge_count)
    if len(body) < header.size:
        raise StoreCorruptError("a view ends before its first section")
    removed, replaced, added = header.unpack_from(body)[-3:]
    cursor = _Cursor(body, header.size)
    by_key = graph.topology.key_order
    removed_edges = np.sort(by_key[cursor.edge_set(removed, edge_count)])
    edges = by_key[cursor.edge_set(replaced, edge_count)]
    columns = [cursor.column(replaced), cursor.column(replaced)]
    heads = cursor.column(replaced) if version > HEADS_STAY else None
    ranks = cursor.column(replaced) if version > RANKS_STAY else None
    columns += [cursor.column(added) for _ in range(3)]
    try:
        called = _read_names(cursor) if version > NAMES_STAY else None
        node_names, relation_names = orjson.loads(cursor.rest() or b"[[],[]]")
        node_table, new_nodes = _node_table(graph, numbers, node_names)
        relation_table, new_relations = _relation_table(graph, numbers, relation_names)
        delta = ViewDelta(
            removed=removed_edges,
            replaced=edges,
            replaced_rel=_numbers(columns[0], relation_table, graph.rel[edges]),
            replaced_tail=_numbers(columns[1], node_table, graph.tail[edges]),
            added_head=_numbers(columns[2], node_table, None),
            added_rel=_numbers(columns[3], relation_table, None),
            added_tail=_numbers(columns[4], node_table, None),
            new_nodes=new_nodes,
            new_relations=new_relations,
            replaced_head=None if heads is None else _numbers(heads, node_table, graph.head[edges]),
            replaced_rank=None if ranks is None else _known_ranks(ranks, graph.rank[edges]),
            names=None if called is None else _named(called, node_table),
        )
        return delta.with_replaced_in(np.argsort(edges))
    except (ValueError, TypeError, IndexError, struct.error, zlib.error) as error:
        raise StoreCorruptError(f"a view's delta is damaged: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class _Called:
    """The part of the entities that are called otherwise, their nodes as codes."""

    codes: Int64
    owner: Int64
    language: Int64
    is_alias: Int64
    texts: StringTable
    languages: tuple[str, ...]


def _read_names(cursor: _Cursor) -> _Called:
    count, names = _COUNTS.unpack(cursor.text())
    codes = cursor.column(count)
    owner, language, is_alias, lengths = (cursor.column(names) for _ in range(4))
    offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
    data = np.frombuffer(zlib.decompress(cursor.text()), dtype=np.uint8)
    languages = tuple(map(str, orjson.loads(cursor.text())))
    if (
        len(data) != int(offsets[-1])
        or bool((owner >= count).any())
        or bool((language >= len(languages)).any())
    ):
        raise StoreCorruptError("a view's names are not as many or as long as it says")
    return _Called(codes, owner, language, is_alias, StringTable(data, offsets), languages)


def _named(called: _Called, node_table: Int32) -> NameDelta:
    """Returns the names in the numbers of the base; its entities are in the order of their keys."""
    return NameDelta(
        nodes=_numbers(called.codes, node_table, None),
        owner=called.owner.astype(np.int32),
        language=called.language.astype(np.int32),
        is_alias=called.is_alias.astype(np.bool_),
        texts=called.texts,
        languages=called.languages,
    )


def _known_ranks(codes: Int64, base: Uint8) -> Uint8:
    if len(codes) and int(codes.max()) > len(RANKS):
        raise StoreCorruptError("a view's delta gives a statement a rank that there is not")
    return np.where(codes == 0, base, codes - 1).astype(np.uint8)


def _node_table(
    graph: KnowledgeGraph, numbers: _Numbers, names: list[str]
) -> tuple[Int32, tuple[str, ...]]:
    nodes: list[int] = []
    new: list[str] = []
    for name in names:
        value = decode_value(name)
        known = graph.find_node(value.id) if isinstance(value, EntityValue) else None
        if known is None:
            known = graph.node_count + len(new)
            new.append(name)
        nodes.append(known)
    return np.concatenate([numbers.nodes, np.array(nodes, dtype=np.int32)]), tuple(new)


def _relation_table(
    graph: KnowledgeGraph, numbers: _Numbers, names: list[str]
) -> tuple[Int32, tuple[str, ...]]:
    relations: list[int] = []
    new: list[str] = []
    for name in names:
        known = graph.find_relation(name)
        if known is None:
            known = graph.relation_count + len(new)
            new.append(name)
        relations.append(known)
    return np.concatenate([numbers.relations, np.array(relations, dtype=np.int32)]), tuple(new)


def _numbers(codes: Int64, table: Int32, base: Int32 | None) -> Int32:
    if len(codes) and (int(codes.max()) > len(table) or (base is None and int(codes.min()) < 1)):
        raise StoreCorruptError("a view's delta names an entity or relation that is not there")
    numbers = np.where(codes > 0, np.append(table, np.int32(0))[codes - 1], 0).astype(np.int32)
    if base is not None:
        numbers[codes == 0] = base[codes == 0]
    return numbers
