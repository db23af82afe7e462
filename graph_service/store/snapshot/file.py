"""One file that holds a graph's arrays: written whole, checked when opened, then memory-mapped.

Layout, little-endian: a fixed head (magic, version, length and CRC-32 of the header), the header
as JSON (what the arrays are, where each lies, and the CRC-32 of each of its blocks), then the
arrays, each at a multiple of 64 bytes. The same graph makes the same bytes.

A checked file can still be damaged after it was mapped, and reading a mapping beyond the end of
its file ends the process (SIGBUS). ``MappedFile`` tells whether the file is still as it was.
"""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import orjson

from graph_service.errors import StoreCorruptError
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import (
    Adjacency,
    Codes,
    EdgeHeads,
    KnowledgeGraph,
    LabelColumn,
    NameIndex,
    RankedBits,
    StatementIds,
    StringTable,
    Topology,
)
from graph_service.model.graph_info import GraphInfo

FORMAT = 8
"""Version of the layout; part of the file's name."""

BLOCK_BYTES = 4 * 2**20
_MAGIC = b"GSSNAP\x00\x00"
_HEAD = struct.Struct("<8sIIQ")
"""Magic, version, CRC-32 of the header, length of the header in bytes."""
_ALIGNMENT = 64
_MAX_HEADER_BYTES = 2**30
_CHECKING_THREADS = 2
_PIECE_BYTES = 64 * 2**10
_LABEL_SETS = ("node_labels", "relation_labels")
_TABLES = ("node_ids", "relation_ids")
_EQUAL = ("members", "group", "by_group", "begins", "by_node")
_COLUMNS = ("node_keys", "node_kinds", "relation_keys", "statement_keys", "rank", "best")
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, IndexError, struct.error)

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class MappedFile:
    """What tells that a file was changed in place after it was mapped.

    Attributes:
        path: Where it was.
        device, inode: Which file it is: another one under the same name does not disturb.
        size: Bytes.
        changed_ns: Time of the last change of its content, ns.
    """

    path: Path
    device: int
    inode: int
    size: int
    changed_ns: int

    @classmethod
    def of(cls, path: Path, status: os.stat_result, /) -> MappedFile:
        """Returns the state of an open file."""
        return cls(path, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    def has_changed(self) -> bool:
        """Returns whether the file was written or cut since; one that was deleted was not."""
        try:
            status = self.path.stat()
        except OSError:
            return False
        if (status.st_dev, status.st_ino) != (self.device, self.inode):
            return False
        return (status.st_size, status.st_mtime_ns) != (self.size, self.changed_ns)


def arrays_of(graph: KnowledgeGraph, /) -> dict[str, Array]:
    """Returns all arrays of a graph by name; all languages' labels share one set of arrays."""
    arrays: dict[str, Array] = {name: getattr(graph, name) for name in _COLUMNS}
    for name in _TABLES:
        table: StringTable = getattr(graph, name)
        arrays[f"{name}.data"], arrays[f"{name}.offsets"] = table.data, table.offsets
    ids = graph.statement_ids
    if isinstance(ids, StringTable):
        ids = StatementIds.pack(ids, graph.head, graph.node_ids)
    arrays["statement_ids.numbers"], arrays["statement_ids.forms"] = ids.numbers, ids.forms
    arrays["statement_ids.others.data"] = ids.others.data
    arrays["statement_ids.others.offsets"] = ids.others.offsets
    topology = graph.topology
    assert topology.in_edges.edges is not None
    arrays |= {
        **_bits("topology.first", topology.head.first),
        "topology.heads": topology.head.heads,
        "topology.rel": topology.rel.data,
        "topology.tail": topology.tail,
        **_bits("topology.out", topology.out_edges.joined),
        "topology.out.begins": topology.out_edges.begins,
        **_bits("topology.in", topology.in_edges.joined),
        "topology.in.begins": topology.in_edges.begins,
        "topology.by_tail": topology.in_edges.edges,
        "key_order": topology.key_order,
    }
    arrays["names.name_keys"] = graph.names.name_keys
    arrays["names.nodes"] = graph.names.nodes
    arrays["names.is_alias"] = graph.names.is_alias
    for name in _EQUAL:
        arrays[f"equal.{name}"] = getattr(graph.equal, name)
    for name in _LABEL_SETS:
        columns: Mapping[str, LabelColumn] = getattr(graph, name)
        index: list[Array] = [np.zeros(0, dtype=np.int32)]
        data: list[Array] = [np.zeros(0, dtype=np.uint8)]
        offsets: list[Array] = [np.zeros(1, dtype=np.int64)]
        end = 0
        for language in sorted(columns):
            column = columns[language]
            index.append(column.index)
            first, last = int(column.texts.offsets[0]), int(column.texts.offsets[-1])
            data.append(column.texts.data[first:last])
            offsets.append(column.texts.offsets[1:] - first + end)
            end += last - first
        arrays[f"{name}.index"] = np.concatenate(index)
        arrays[f"{name}.data"] = np.concatenate(data)
        arrays[f"{name}.offsets"] = np.concatenate(offsets)
    return arrays


def _bits(name: str, bits: RankedBits) -> dict[str, Array]:
    return {f"{name}.words": bits.words, f"{name}.before": bits.before}


def write_snapshot(graph: KnowledgeGraph, file: BinaryIO, /) -> None:
    """Writes a graph's arrays to a file that stands at its beginning."""
    arrays = {name: np.ascontiguousarray(values) for name, values in arrays_of(graph).items()}
    layout: dict[str, list[object]] = {}
    end = 0
    for name, values in arrays.items():
        start = _aligned(end)
        sums = [zlib.crc32(block) for block in _blocks(values)]
        layout[name] = [values.dtype.str, list(values.shape), start, sums]
        end = start + values.nbytes
    header = orjson.dumps(
        {
            "arrays": layout,
            "bytes": end,
            "entity_count": graph.entity_count,
            "longest": graph.names.longest,
            **{
                name: [
                    [language, len(getattr(graph, name)[language].index)]
                    for language in sorted(getattr(graph, name))
                ]
                for name in _LABEL_SETS
            },
        }
    )
    file.write(_HEAD.pack(_MAGIC, FORMAT, zlib.crc32(header), len(header)))
    file.write(header)
    written = _HEAD.size + len(header)
    start = _aligned(written)
    for name, values in arrays.items():
        offset = start + int(str(layout[name][2]))
        file.write(bytes(offset - written))
        file.write(values.data.cast("B") if values.nbytes else b"")
        written = offset + values.nbytes


def open_snapshot(
    path: Path, info: GraphInfo, /, *, verify: bool = True
) -> tuple[KnowledgeGraph, MappedFile]:
    """Returns the graph of a file, memory-mapped, and the state of the file.

    Args:
        path: The file.
        info: The edition that the arrays are of.
        verify: Whether to read and check all of it; the head and the sizes always are.

    Raises:
        FileNotFoundError: There is none.
        StoreCorruptError: It is not what ``write_snapshot`` wrote; says where it differs.
    """
    try:
        with path.open("rb") as file:
            state = MappedFile.of(path, os.fstat(file.fileno()))
            header, start = _read_header(file, state.size)
            if verify:
                _verify(file, header, start)
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        arrays = {name: _array(mapped, start, *entry) for name, entry in header["arrays"].items()}
        return _graph(arrays, header, info), state
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        raise _damaged(path, str(error)) from error


def verify_snapshot(path: Path, /) -> int:
    """Checks all of a file and returns its size in bytes; raises as ``open_snapshot`` does."""
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            _verify(file, *_read_header(file, size))
    except FileNotFoundError:
        raise
    except _UNREADABLE as error:
        raise _damaged(path, str(error)) from error
    return size


def _damaged(path: Path, reason: str) -> StoreCorruptError:
    return StoreCorruptError(
        f"the snapshot {path.name} is damaged: {reason}",
        hint="Delete the file: it is built again from the store.",
    )


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT


def _blocks(values: Array) -> Iterator[memoryview]:
    flat = values.data.cast("B") if values.nbytes else memoryview(b"")
    for start in range(0, len(flat), BLOCK_BYTES):
        yield flat[start : start + BLOCK_BYTES]


def _read_header(file: BinaryIO, size: int) -> tuple[dict[str, Any], int]:
    """Returns the header and where the arrays begin."""
    magic, version, checksum, length = _HEAD.unpack(file.read(_HEAD.size))
    if magic != _MAGIC or version != FORMAT:
        raise ValueError(f"it is no snapshot of format {FORMAT}")
    if length > min(size, _MAX_HEADER_BYTES):
        raise ValueError("its header is longer than the file")
    header = file.read(length)
    if zlib.crc32(header) != checksum:
        raise ValueError("its header does not match its checksum")
    described = orjson.loads(header)
    start = _aligned(_HEAD.size + length)
    if size != start + described["bytes"]:
        raise ValueError(f"it has {size} bytes, and should have {start + described['bytes']}")
    return described, start


def _reader(file: BinaryIO) -> Callable[[int, int], bytes]:
    """Returns what reads so many bytes at an offset of a file, in several threads."""
    if hasattr(os, "pread"):
        return partial(os.pread, file.fileno())
    # Windows has none.
    lock = Lock()

    def read(length: int, offset: int) -> bytes:
        with lock:
            file.seek(offset)
            return file.read(length)

    return read


def _verify(file: BinaryIO, header: dict[str, Any], start: int) -> None:
    """Raises ``ValueError`` naming the first block that is not as it was written."""
    read = _reader(file)

    def check(work: tuple[str, int, int, int]) -> str | None:
        name, begin, length, expected = work
        # Not through a mapping: a file that is cut meanwhile would end the process. And in small
        # pieces: what is freed of large ones stays with each process that has opened the file.
        checksum, end = 0, begin + length
        for start in range(begin, end, _PIECE_BYTES):
            piece = read(min(_PIECE_BYTES, end - start), start)
            length -= len(piece)
            checksum = zlib.crc32(piece, checksum)
        if not length and checksum == expected:
            return None
        return f"{name} does not match its checksum at byte {begin}"

    def works() -> Iterator[tuple[str, int, int, int]]:
        for name, (dtype, shape, offset, sums) in header["arrays"].items():
            size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
            if len(sums) != -(-size // BLOCK_BYTES):
                raise ValueError(f"{name} has {len(sums)} checksums")
            for index, expected in enumerate(sums):
                first = index * BLOCK_BYTES
                yield name, start + offset + first, min(BLOCK_BYTES, size - first), expected

    if header["bytes"] <= BLOCK_BYTES:
        faults = [fault for fault in map(check, works()) if fault]
    else:
        with ThreadPoolExecutor(_CHECKING_THREADS) as pool:
            faults = [fault for fault in pool.map(check, works()) if fault]
    if faults:
        raise ValueError(faults[0])


def _array(
    mapped: mmap.mmap, start: int, dtype: str, shape: list[int], offset: int, _: list[int]
) -> Array:
    count = int(np.prod(shape, dtype=np.int64))
    if not count:
        # An empty array may lie at the very end of the file.
        empty: Array = np.zeros(shape, dtype=dtype)
        empty.flags.writeable = False
        return empty
    return np.frombuffer(mapped, dtype=dtype, count=count, offset=start + offset).reshape(shape)


def _graph(arrays: dict[str, Any], header: dict[str, Any], info: GraphInfo) -> KnowledgeGraph:
    def table(name: str) -> StringTable:
        return StringTable(arrays[f"{name}.data"], arrays[f"{name}.offsets"])

    def labels(name: str) -> dict[str, LabelColumn]:
        columns: dict[str, LabelColumn] = {}
        start = 0
        for language, count in header[name]:
            end = start + count
            columns[language] = LabelColumn(
                arrays[f"{name}.index"][start:end],
                StringTable(arrays[f"{name}.data"], arrays[f"{name}.offsets"][start : end + 1]),
            )
            start = end
        return columns

    parts: dict[str, Any] = {name: arrays[name] for name in _COLUMNS}
    parts |= {name: table(name) for name in _TABLES}
    parts |= {name: labels(name) for name in _LABEL_SETS}
    node_count, edge_count = len(parts["node_kinds"]), len(arrays["topology.tail"])

    def bits(name: str, count: int) -> RankedBits:
        return RankedBits(arrays[f"{name}.words"], arrays[f"{name}.before"], count=count)

    def joined(name: str) -> tuple[RankedBits, Array]:
        return bits(name, header["entity_count"] + 1), arrays[f"{name}.begins"]

    topology = parts["topology"] = Topology(
        EdgeHeads(bits("topology.first", edge_count), arrays["topology.heads"]),
        Codes(arrays["topology.rel"]),
        arrays["topology.tail"],
        Adjacency(*joined("topology.out"), None, node_count),
        Adjacency(*joined("topology.in"), arrays["topology.by_tail"], node_count, a_literal=1),
        arrays["key_order"],
    )
    parts["statement_ids"] = StatementIds(
        arrays["statement_ids.numbers"],
        arrays["statement_ids.forms"],
        table("statement_ids.others"),
        topology.head,
        parts["node_ids"],
    )
    return KnowledgeGraph(
        name=info.name,
        edition=info.edition,
        fingerprints=info.fingerprints,
        entity_count=header["entity_count"],
        **parts,
        names=NameIndex(
            arrays["names.name_keys"],
            arrays["names.nodes"],
            arrays["names.is_alias"],
            header["longest"],
        ),
        equal=EqualEntities(*(arrays[f"equal.{name}"] for name in _EQUAL)),
    )
