"""CoDEx in a temporary store, with a hundred fixed questions: what the members measure on."""

from __future__ import annotations

import csv
import lzma
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import orjson

from graph_service.errors import InputError
from graph_service.model.graph import Int64, KnowledgeGraph, labels_of
from graph_service.model.graph_info import GraphInfo
from graph_service.service import Service, open_service
from graph_service.settings import Settings
from graph_service.store.protocol import Store

if TYPE_CHECKING:
    import networkx as nx

Load = Callable[[Path, Store, str, Path | None], object]
"""Loads a table of triples into a graph of a store, with a table of labels: the composition
root passes it in, since nothing else may import the loaders."""

T = TypeVar("T")

QUESTIONS = 100
HUBS = 10
_READ_TIMEOUT_S = 600.0
_FILES = {"s": "s-train.tsv", "m": "m-train.tsv"}
_RELATIONS = "relations-en.json"
_LABELS = "wikidata_labels_en_partial.tsv.xz"


@dataclass(frozen=True, slots=True)
class Question:
    """A fixed question: about one relation of one entity, which is given."""

    text: str
    entity_id: str
    node: int


@dataclass(frozen=True, slots=True, eq=False)
class CodexGraph:
    """One size of CoDEx, published in the store."""

    name: str
    info: GraphInfo
    graph: KnowledgeGraph
    questions: tuple[Question, ...]


class Codex:
    """The data of one run; each graph is loaded when a member first asks for it.

    Args:
        data: Folder that holds ``codex/``.
        folder: Where stores, vectors and snapshots go; a temporary one.
        load: Loads a table into a store.
        settings: Which embedder, where its weights are, and user and password of ``neo4j``.
        neo4j: Address of a server that loads into Neo4j are measured on; None for none.

    Raises:
        InputError: The folder lacks what is needed.
    """

    def __init__(
        self,
        data: Path,
        folder: Path,
        /,
        *,
        load: Load,
        settings: Settings,
        neo4j: str | None = None,
    ) -> None:
        self.folder = folder
        self.neo4j = neo4j
        self.load = load
        self.settings = replace(
            settings,
            store=f"sqlite:///{folder / 'bench.db'}",
            graph="",
            vectors=str(folder / "vectors.db"),
            cache_dir=str(folder / "cache"),
            read_timeout_s=_READ_TIMEOUT_S,
        )
        self._data = data
        self._made: dict[str, Any] = {}
        for name in (*_FILES.values(), _RELATIONS):
            if not (data / "codex" / name).is_file():
                raise InputError(
                    f"expected CoDEx in {data / 'codex'}, which has no file {name}",
                    argument="data",
                    hint="Name the folder that holds codex/: --data FOLDER",
                )

    @cached_property
    def service(self) -> Service:
        """The service over the temporary store."""
        return open_service(settings=self.settings)

    def close(self) -> None:
        """Closes the service, if a member opened it."""
        if "service" in self.__dict__:
            self.service.close()

    def path(self, *parts: str) -> Path:
        """Returns a file or a folder of the data."""
        return self._data.joinpath(*parts)

    def triples(self, size: str, /) -> Path:
        """Returns the table of triples of a size, ``s`` or ``m``."""
        return self._data / "codex" / _FILES[size]

    def graph(self, size: str, /) -> CodexGraph:
        """Returns a size of CoDEx, ``s`` or ``m``, loaded once with the labels there are."""
        return self.once(f"graph {size}", lambda: self._load(size))

    def networkx(self, size: str, /) -> Any:
        """Returns a size of CoDEx as a ``networkx.MultiDiGraph``, keyed by edge number."""
        return self.once(f"networkx {size}", lambda: _keyed(self.graph(size).graph))

    def once(self, name: str, make: Callable[[], T], /) -> T:
        """Returns what was made under a name, made at the first call."""
        if name not in self._made:
            self._made[name] = make()
        made: T = self._made[name]
        return made

    def _load(self, size: str) -> CodexGraph:
        name = f"codex-{size}"
        self.load(self.triples(size), self.service.store, name, self.labels(size))
        info = self.service.graph(name)
        arrays = self.service.arrays(info)
        return CodexGraph(name, info, arrays, fixed_questions(arrays))

    def labels(self, size: str, /, prefixes: Sequence[str] = ("",)) -> Path:
        """Writes the labels of the graph's relations and of those entities that have one.

        Args:
            size: Of CoDEx, ``s`` or ``m``.
            prefixes: Written before the ids, each in turn.
        """
        names = read_labels(self._data, self.triples(size))
        labels = {f"{prefix}{id_}": name for prefix in prefixes for id_, name in names.items()}
        target = self.folder / f"labels-{size}-{len(prefixes)}.tsv"
        lines = [f"{id_}\t{' '.join(label.split())}\n" for id_, label in sorted(labels.items())]
        target.write_text("".join(lines), encoding="utf-8")
        return target


def read_rows(path: Path, /) -> list[tuple[str, str, str]]:
    """Returns the rows of a table of triples."""
    with path.open(encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(row[0], row[1], row[2]) for row in rows if len(row) == 3]


def read_labels(data: Path, triples: Path, /) -> dict[str, str]:
    """Returns English labels by id: of all relations, and of a table's entities that have one.

    Args:
        data: Folder that holds ``codex/``.
        triples: The table.
    """
    relations = orjson.loads((data / "codex" / _RELATIONS).read_bytes())
    labels = {id_: entry["label"] for id_, entry in relations.items()}
    source = data / _LABELS
    if source.is_file():
        wanted = read_ids(triples)
        with lzma.open(source, "rt", encoding="utf-8", newline="") as file:
            for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                if len(row) >= 2 and row[0] in wanted and row[1]:
                    labels.setdefault(row[0], row[1])
    return labels


def read_ids(path: Path, /) -> set[str]:
    """Returns the entities of a table of triples."""
    return {id_ for head, _, tail in read_rows(path) for id_ in (head, tail)}


def fixed_entities(graph: KnowledgeGraph, /, *, count: int = QUESTIONS, hubs: int = HUBS) -> Int64:
    """Returns entities that are the same on every machine: the largest hubs, then by key.

    Nodes are numbered by the key of their id, a hash, so the first ones are a fair sample.
    """
    degrees = graph.degrees()[: graph.entity_count]
    by_degree = np.lexsort((np.arange(len(degrees)), -degrees))
    by_degree = by_degree[degrees[by_degree] > 0]
    largest = by_degree[:hubs]
    others = np.sort(by_degree[hubs:])[: max(0, count - len(largest))]
    return np.concatenate((largest, others))


def fixed_questions(graph: KnowledgeGraph, /, *, count: int = QUESTIONS) -> tuple[Question, ...]:
    """Returns a question about each fixed entity, by the label of one of its relations.

    The relation is that of the entity's statement of the smallest key.
    """
    nodes = fixed_entities(graph, count=count)
    edges = np.array([_first_edge(graph, int(node)) for node in nodes], dtype=np.int64)
    names = labels_of(graph.node_labels, nodes.astype(np.int32), ("en",))
    relations = labels_of(graph.relation_labels, graph.rel[edges], ("en",))
    ids = graph.node_ids.take(nodes)
    relation_ids = graph.relation_ids.take(graph.rel[edges])
    return tuple(
        Question(f"What is the {relation or relation_id} of {name or id_}?", id_, int(node))
        for node, id_, name, relation, relation_id in zip(
            nodes, ids, names, relations, relation_ids, strict=True
        )
    )


def _first_edge(graph: KnowledgeGraph, node: int) -> int:
    found = [
        int(adjacency.of(node)[0])
        for adjacency in (graph.out_edges, graph.in_edges)
        if len(adjacency.of(node))
    ]
    return min(found)


def _keyed(graph: KnowledgeGraph) -> Any:
    import networkx as nx

    # Any: the stubs of networkx know no edges with keys.
    keyed: Any = nx.MultiDiGraph()
    ends = zip(graph.head[:].tolist(), graph.tail.tolist(), graph.rel[:].tolist(), strict=True)
    keyed.add_edges_from((h, t, i, {"relation": r}) for i, (h, t, r) in enumerate(ends))
    return keyed


def directed(head: Any, tail: Any, /, *, weight: Any = None) -> nx.MultiDiGraph[int]:
    """Returns edges as networkx has them, parallel ones kept.

    Args:
        head: Where each edge begins, [m].
        tail: Where it ends, [m].
        weight: Of each edge, [m]; 1 where None.
    """
    import networkx as nx

    graph: nx.MultiDiGraph[int] = nx.MultiDiGraph()
    weights = np.ones(len(head)) if weight is None else weight
    graph.add_weighted_edges_from(zip(head.tolist(), tail.tolist(), weights.tolist(), strict=True))
    return graph
