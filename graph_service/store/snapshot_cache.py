"""Built snapshots in a folder of files, memory-mapped when they are opened.

Folders are named by the fingerprints; each is written beside its final place and renamed, so two
processes that build the same one at once do each other no harm.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson

from graph_service.model.graph import (
    Adjacency,
    KnowledgeGraph,
    LabelColumn,
    NameIndex,
    SameAs,
    StringTable,
)
from graph_service.store.protocol import GraphInfo

FORMAT = 2
"""Version of the folder's layout; part of its name."""

DEFAULT_CACHE_BYTES = 4 * 2**30
_META = "meta.json"
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, EOFError)


@dataclass(frozen=True, slots=True)
class SnapshotCache:
    """Built snapshots in a folder, the least recently used ones deleted past a size.

    Attributes:
        folder: Made when first needed. Where it cannot be written, snapshots stay in memory.
        limit_bytes: Most bytes kept; the newest snapshot stays in any case.
    """

    folder: Path
    limit_bytes: int = DEFAULT_CACHE_BYTES

    def get(self, info: GraphInfo, build: Callable[[], KnowledgeGraph], /) -> KnowledgeGraph:
        """Returns the arrays of an edition, mapped from the cache, built first where needed."""
        place = self.place(info)
        graph = open_snapshot(place, info)
        if graph is not None:
            return graph
        built = build()
        try:
            self._save(built, place)
        except OSError:
            # A full disk or a folder of another user costs speed, not the answer.
            return built
        self._evict(place)
        return open_snapshot(place, info) or built

    def place(self, info: GraphInfo, /) -> Path:
        """Returns the folder of an edition's arrays."""
        prints = info.fingerprints
        return self.folder / f"{FORMAT}-{prints.edges}-{prints.content}"

    def _save(self, graph: KnowledgeGraph, place: Path) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        temporary = self.folder / f".{os.getpid()}-{secrets.token_hex(8)}"
        temporary.mkdir()
        try:
            write_snapshot(graph, temporary)
            try:
                temporary.rename(place)
            except OSError:
                # Another process was first; a folder that does not open is replaced.
                if _readable(place):
                    shutil.rmtree(temporary)
                    return
                _discard(place)
                temporary.rename(place)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    def _evict(self, newest: Path) -> None:
        entries: list[tuple[float, Path, int]] = []
        for place in self.folder.iterdir():
            if place.name.startswith(".") or not place.is_dir():
                continue
            try:
                files = [item.stat() for item in place.iterdir()]
                used = (place / _META).stat().st_mtime
            except OSError:
                continue
            entries.append((used, place, sum(item.st_size for item in files)))
        total = sum(size for _, _, size in entries)
        for _, place, size in sorted(entries):
            if total <= self.limit_bytes:
                return
            if place != newest:
                _discard(place)
                total -= size


def _discard(place: Path) -> None:
    """Deletes a snapshot; who has it mapped keeps it."""
    aside = place.with_name(f".{os.getpid()}-{secrets.token_hex(8)}")
    try:
        place.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _readable(place: Path) -> bool:
    try:
        return _load(place) is not None
    except _UNREADABLE:
        return False


_LABEL_SETS = ("node_labels", "relation_labels")


def arrays_of(graph: KnowledgeGraph, /) -> dict[str, npt.NDArray[np.generic]]:
    """Returns all arrays of a graph by the name of their file."""
    arrays: dict[str, npt.NDArray[np.generic]] = {
        name: getattr(graph, name)
        for name in (
            "node_keys",
            "node_kinds",
            "relation_keys",
            "head",
            "rel",
            "tail",
            "statement_keys",
            "rank",
            "best",
        )
    }
    for name in ("node_ids", "relation_ids", "statement_ids"):
        table: StringTable = getattr(graph, name)
        arrays[f"{name}.data"], arrays[f"{name}.offsets"] = table.data, table.offsets
    for name in ("out_edges", "in_edges"):
        adjacency: Adjacency = getattr(graph, name)
        arrays[f"{name}.indptr"], arrays[f"{name}.edges"] = adjacency.indptr, adjacency.edges
    arrays["names.name_keys"] = graph.names.name_keys
    arrays["names.nodes"] = graph.names.nodes
    arrays["names.is_alias"] = graph.names.is_alias
    for name in ("nodes", "keys", "by_key"):
        arrays[f"same_as.{name}"] = getattr(graph.same_as, name)
    for name in _LABEL_SETS:
        columns: Mapping[str, LabelColumn] = getattr(graph, name)
        index: list[npt.NDArray[np.generic]] = [np.zeros(0, dtype=np.int32)]
        data: list[npt.NDArray[np.generic]] = [np.zeros(0, dtype=np.uint8)]
        offsets: list[npt.NDArray[np.generic]] = [np.zeros(1, dtype=np.int64)]
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


def write_snapshot(graph: KnowledgeGraph, folder: Path, /) -> None:
    """Writes a graph's arrays as ``.npy`` files, all languages' labels in one set of them."""
    for name, values in arrays_of(graph).items():
        with (folder / f"{name}.npy").open("wb") as file:
            np.save(file, np.ascontiguousarray(values), allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
    meta = {
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
    with (folder / _META).open("wb") as file:
        file.write(orjson.dumps(meta))
        file.flush()
        os.fsync(file.fileno())


def open_snapshot(folder: Path, info: GraphInfo, /) -> KnowledgeGraph | None:
    """Returns a written snapshot, memory-mapped, or None where there is none that opens."""
    try:
        loaded = _load(folder)
    except _UNREADABLE:
        return None
    arrays, meta = loaded

    def table(name: str) -> StringTable:
        return StringTable(arrays[f"{name}.data"], arrays[f"{name}.offsets"])

    def labels(name: str) -> dict[str, LabelColumn]:
        columns: dict[str, LabelColumn] = {}
        start = 0
        for language, count in meta[name]:
            end = start + count
            columns[language] = LabelColumn(
                arrays[f"{name}.index"][start:end],
                StringTable(arrays[f"{name}.data"], arrays[f"{name}.offsets"][start : end + 1]),
            )
            start = end
        return columns

    return KnowledgeGraph(
        name=info.name,
        edition=info.edition,
        fingerprints=info.fingerprints,
        entity_count=meta["entity_count"],
        node_keys=arrays["node_keys"],
        node_ids=table("node_ids"),
        node_kinds=arrays["node_kinds"],
        relation_keys=arrays["relation_keys"],
        relation_ids=table("relation_ids"),
        head=arrays["head"],
        rel=arrays["rel"],
        tail=arrays["tail"],
        statement_keys=arrays["statement_keys"],
        statement_ids=table("statement_ids"),
        rank=arrays["rank"],
        best=arrays["best"],
        out_edges=Adjacency(arrays["out_edges.indptr"], arrays["out_edges.edges"]),
        in_edges=Adjacency(arrays["in_edges.indptr"], arrays["in_edges.edges"]),
        node_labels=labels("node_labels"),
        relation_labels=labels("relation_labels"),
        names=NameIndex(
            arrays["names.name_keys"],
            arrays["names.nodes"],
            arrays["names.is_alias"],
            meta["longest"],
        ),
        same_as=SameAs(arrays["same_as.nodes"], arrays["same_as.keys"], arrays["same_as.by_key"]),
    )


_FILES = (
    *("node_keys", "node_kinds", "relation_keys", "head", "rel", "tail"),
    *("statement_keys", "rank", "best"),
    *(
        f"{name}.{part}"
        for name in ("node_ids", "relation_ids", "statement_ids")
        for part in ("data", "offsets")
    ),
    *(f"{name}.{part}" for name in ("out_edges", "in_edges") for part in ("indptr", "edges")),
    *("names.name_keys", "names.nodes", "names.is_alias"),
    *("same_as.nodes", "same_as.keys", "same_as.by_key"),
    *(f"{name}.{part}" for name in _LABEL_SETS for part in ("index", "data", "offsets")),
)


def _load(folder: Path) -> tuple[dict[str, npt.NDArray], dict]:  # type: ignore[type-arg]
    meta_file = folder / _META
    meta = orjson.loads(meta_file.read_bytes())
    arrays = {name: _map(folder / f"{name}.npy") for name in _FILES}
    # A cache of another user, or on a read-only disk, is read and not marked as used.
    with contextlib.suppress(OSError):
        os.utime(meta_file)
    return arrays, meta


def _map(path: Path) -> npt.NDArray:  # type: ignore[type-arg]
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:
        # An empty array cannot be mapped; a damaged file fails here again.
        mapped = np.load(path, allow_pickle=False)
    plain: npt.NDArray[np.generic] = np.asarray(mapped)
    plain.flags.writeable = False
    return plain
