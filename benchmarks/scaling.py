"""Members of ``python -m benchmarks speed`` about size: the same limits on scale-free graphs of any size, mapped."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.codex import Codex, fixed_entities
from benchmarks.figures import Detail, Measured, timed
from graph_service.model.graph import (
    Int32,
    Int64,
    KnowledgeGraph,
    LabelColumn,
    NameIndex,
    NodeKind,
    StatementIds,
    StringTable,
    Topology,
)
from graph_service.model.graph_info import GraphCounts, GraphInfo
from graph_service.model.identity import Fingerprints
from graph_service.model.result import Strategy
from graph_service.model.statement_ids import CONTENT
from graph_service.model.topology import edge_order
from graph_service.retrieve.engine import ResolvedRequest, run
from graph_service.retrieve.learned.relation_names import label_names
from graph_service.retrieve.learned.similarity_ranker import SimilarityRanker
from graph_service.retrieve.learned.strategy import Asking
from graph_service.retrieve.preset import AnyPreset, resolve_preset
from graph_service.service.linking import without_words
from graph_service.store.snapshot.file import open_snapshot, write_snapshot

SIZES = (200_000, 2_000_000, 20_000_000)
VERY_LARGE = (2_000_000, 100_000_000)
"""Takes 6 GB of memory, 4 GB of disk, and a minute or more."""
_EDGES_A_NODE = 10
_RELATIONS = 60
_QUESTIONS = 100
_DIMENSION = 64
_DIGITS = 9
_MIX = (np.uint64(2654435761), np.uint64(0x9E3779B97F4A7C15))


@dataclass(frozen=True, slots=True)
class _Times:
    first_ms: list[float]
    warm_ms: list[float]
    region_ms: float
    median_edges: int
    opened_ms: float


def scaled(codex: Codex, /) -> Measured:
    """Asks the same kind of question of graphs of three sizes, read from mapped files.

    Region limits are those of preset ``default`` with 5,000 edges; vectors are drawn by a hash of
    the text, so that what is timed is ours, and similarity alone ranks. Beside the largest graph stands the smallest.
    """
    return _compared(codex, SIZES)


def scaled_far(codex: Codex, /) -> Measured:
    """As ``scaled``, of a hundred million edges beside two."""
    return _compared(codex, VERY_LARGE)


def _compared(codex: Codex, sizes: Sequence[int]) -> Measured:
    preset = resolve_preset("default", max_edges=5_000)
    found = {size: _times(codex, size, preset) for size in sizes}
    smallest, largest = found[sizes[0]], found[sizes[-1]]
    details: dict[str, Detail] = {}
    for size, times in found.items():
        details[f"median_ms_{size}_edges"] = float(np.median(times.warm_ms))
        details[f"first_pass_median_ms_{size}_edges"] = float(np.median(times.first_ms))
        details[f"region_median_ms_{size}_edges"] = times.region_ms
        details[f"median_region_edges_{size}_edges"] = times.median_edges
        details[f"opened_and_asked_once_ms_{size}_edges"] = times.opened_ms
    return Measured(largest.warm_ms, smallest.warm_ms, None, details)


def open_largest(codex: Codex, /) -> KnowledgeGraph:
    """Returns the largest of the graphs, read from mapped files."""
    return open_snapshot(_snapshot(codex, SIZES[-1]), _info(SIZES[-1]))[0]


def _snapshot(codex: Codex, size: int) -> Path:
    def write() -> Path:
        path = codex.folder / f"scale-{size}.snapshot"
        with path.open("wb") as file:
            write_snapshot(scale_free(size, random_seed=1), file)
        return path

    return codex.once(f"scale {size}", write)


def _times(codex: Codex, size: int, preset: AnyPreset) -> _Times:
    path, info = _snapshot(codex, size), _info(size)
    opened: list[KnowledgeGraph] = []
    regions: list[tuple[int, float]] = []

    def ask(node: int) -> None:
        graph, nodes = opened[0], np.array([node], dtype=np.int32)
        starts = without_words(graph, nodes)
        found = run(
            ResolvedRequest(
                strategy=Strategy.TRIPLETS,
                question="what is related to it",
                graph=graph,
                start_entities=nodes,
                preset=preset,
                encode=_encode,
                asking=Asking(starts, True, SimilarityRanker(), label_names),
            )
        )
        regions.append((found.region_before.edges, found.timings_ms["region"]))

    def open_and_ask(_: int) -> None:
        graph = open_snapshot(path, info)[0]
        opened.append(graph)
        ask(graph.entity_count // 2)

    (opened_ms,) = timed(open_and_ask, range(1))
    nodes = fixed_entities(opened[0], count=_QUESTIONS).tolist()
    first = timed(ask, nodes)
    regions.clear()
    warm = timed(ask, nodes)
    edges, spent = zip(*regions, strict=True)
    opened.clear()
    return _Times(first, warm, float(np.median(spent)), int(np.median(edges)), opened_ms)


def scale_free(edges: int, /, *, random_seed: int) -> KnowledgeGraph:
    """Returns a graph whose degrees fall off by a power, the same for one random seed.

    Ten edges a node; heads and tails are drawn with a weight of rank ** -0.6, apart from each
    other.

    Args:
        edges: How many, at least 20.
        random_seed: Of the draw.
    """
    draw = np.random.default_rng(random_seed)
    count = max(2, edges // _EDGES_A_NODE)
    # The inverse of the weights' cumulative sum, rank ** 0.4; ranks lie anywhere among numbers.
    number = draw.permutation(count).astype(np.int32)
    head = number[(count * draw.random(edges) ** 2.5).astype(np.int64)]
    tail = number[(count * draw.random(edges) ** 2.5).astype(np.int64)]
    rel = (_RELATIONS * draw.random(edges) ** 2).astype(np.int32)
    return graph_of_edges(head, rel, tail, _keys(draw, edges), info=_info(edges), draw=draw)


def graph_of_edges(
    head: Int32,
    rel: Int32,
    tail: Int32,
    keys: Int64,
    /,
    *,
    info: GraphInfo,
    draw: np.random.Generator,
) -> KnowledgeGraph:
    """Returns the arrays of a graph whose entities and relations have numbers for names.

    Args:
        head: Of each edge, the number of an entity.
        rel: The number of its relation.
        tail: The number of the other entity.
        keys: Of the statements, distinct.
        info: Says how many entities and relations there are, and what the graph is called.
        draw: Of keys and ids.
    """
    edges, count, relation_count = len(keys), info.counts.entities, info.counts.relations
    order = edge_order(head, keys)
    head, rel, tail, keys = head[order], rel[order], tail[order], keys[order]
    ids = _numbered_texts(count)
    relations = StringTable.build([f"P{place}" for place in range(relation_count)])
    nothing = StringTable.build([])
    topology = Topology.build(
        head,
        rel,
        tail,
        keys,
        entity_count=count,
        node_count=count,
        relation_count=relation_count,
    )
    return KnowledgeGraph(
        name=info.name,
        edition=info.edition,
        fingerprints=info.fingerprints,
        entity_count=count,
        node_keys=_keys(draw, count),
        node_ids=ids,
        node_kinds=np.full(count, NodeKind.ENTITY, dtype=np.uint8),
        relation_keys=_keys(draw, relation_count),
        relation_ids=relations,
        topology=topology,
        statement_keys=keys,
        statement_ids=StatementIds(
            draw.integers(0, 256, (edges, 16), dtype=np.uint8),
            np.full(edges, CONTENT, dtype=np.uint8),
            nothing,
            topology.head,
            ids,
        ),
        rank=np.ones(edges, dtype=np.uint8),
        best=np.ones(edges, dtype=bool),
        node_labels={},
        relation_labels={
            "en": LabelColumn(
                np.arange(relation_count, dtype=np.int32),
                StringTable.build([f"relation {place}" for place in range(relation_count)]),
            )
        },
        names=NameIndex(
            np.zeros(len(nothing), dtype=np.int64),
            np.zeros(0, dtype=np.int32),
            np.zeros(0, dtype=bool),
            1,
        ),
    )


def _keys(draw: np.random.Generator, count: int) -> Int64:
    """Returns distinct keys, ascending, spread evenly with some noise."""
    step = (2**62) // count
    keys: Int64 = np.arange(count, dtype=np.int64) * step + draw.integers(0, step, count)
    return keys


def _numbered_texts(count: int) -> StringTable:
    """Returns texts of one length, made at once."""
    digits = np.empty((count, _DIGITS), dtype=np.uint8)
    digits[:, 0] = ord("E")
    left = np.arange(count)
    for place in range(_DIGITS - 1, 0, -1):
        left, last = np.divmod(left, 10)
        digits[:, place] = last + ord("0")
    offsets = np.arange(count + 1, dtype=np.int64) * _DIGITS
    return StringTable(digits.reshape(-1), offsets)


def _encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Returns unit vectors drawn by a hash of each text."""
    hashes = np.array([zlib.crc32(text.encode()) for text in texts], dtype=np.uint64)
    places = np.arange(1, _DIMENSION + 1, dtype=np.uint64)
    mixed: npt.NDArray[np.uint64] = np.multiply.outer(hashes, np.full(_DIMENSION, _MIX[0])) + places
    mixed = (mixed ^ np.right_shift(mixed, np.uint64(13))) * _MIX[1]
    drawn = np.right_shift(mixed, np.uint64(40)).astype(np.float32)
    vectors = drawn / np.float32(2**23) - np.float32(1)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = vectors / np.maximum(lengths, np.float32(1e-6))
    return unit


def _info(edges: int) -> GraphInfo:
    counts = GraphCounts(edges // _EDGES_A_NODE, edges, _RELATIONS, 0)
    prints = Fingerprints(f"{edges:048x}", f"{edges:048x}")
    return GraphInfo("scale", f"scale@{edges}", counts, prints, "", "", {}, "", {})
