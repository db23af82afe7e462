"""The members of ``python -m benchmarks speed``: what each does, and what it is compared with.

To add one, write a function from ``Codex`` to ``Measured`` and give it a row in ``MEMBERS``.
Published figures (OKGQA's code, measured once on two cores) stand among the details: they are
constants, unlike the references, which run here.
"""

from __future__ import annotations

import importlib.util
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.codex import Codex, CodexGraph, Question, read_rows
from benchmarks.cold_burst import cold_burst, cold_burst_on_neo4j
from benchmarks.dumps import load_documents, load_triples
from benchmarks.equal_entities import codex_links, dbpedia_links
from benchmarks.figures import Detail, Measured, spread, timed
from benchmarks.first_asked import first_asked, first_asked_on_neo4j
from benchmarks.neo4j_loads import load_triples_into_neo4j
from benchmarks.pagerank import SCIPY_MISSING, pagerank_region, pagerank_whole
from benchmarks.regions import region_limits
from benchmarks.scaling import scaled, scaled_far
from benchmarks.trees import PROOF_SIZES, growth, proofs, whole_tree
from benchmarks.views import LEVEL, at_scale, deviation, on_view, stored_size, sweep
from graph_service.artifacts.views import AppliedView, ViewStore
from graph_service.embed import open_embedder
from graph_service.embed.sentence import SentenceTransformerEmbedder
from graph_service.embed.weights import find_model
from graph_service.errors import SetupError
from graph_service.model.graph import KnowledgeGraph, labels_of
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.store import open_store

_BATCH = 128
_LABELS = 1024
_PUBLISHED_PIPELINE_MS = 15_700.0
_PUBLISHED_VIEW_MS = {
    Method.RELATION_SWAPPING: 259.0,
    Method.EDGE_DELETION: 147.0,
    Method.EDGE_REWIRING: 3147.0,
}


@dataclass(frozen=True, slots=True)
class Member:
    """One thing that is measured.

    Attributes:
        name: Under which it is asked for; a prefix is enough.
        what: What is done, in words.
        reference: What it is compared with, in words.
        measure: Does it.
        by_name: Whether it is measured only if it is asked for: it takes what few machines have.
    """

    name: str
    what: str
    reference: str
    measure: Callable[[Codex], Measured]
    by_name: bool = False


# Loading


def load_table(codex: Codex, /) -> Measured:
    """Loads CoDEx-S through the loaders, until it is published; beside a bare insert."""
    path = codex.triples("s")
    rows = read_rows(path)

    def ours(turn: int) -> None:
        with open_store(f"sqlite:///{codex.folder / f'load-{turn}.db'}") as store:
            codex.load(path, store, "codex-s", None)

    def bare(turn: int) -> None:
        connection = sqlite3.connect(codex.folder / f"bare-{turn}.db")
        with connection:
            connection.execute("CREATE TABLE triple (head TEXT, relation TEXT, tail TEXT)")
            connection.executemany("INSERT INTO triple VALUES (?, ?, ?)", rows)
        connection.close()

    own = timed(ours, range(3))
    return Measured(
        own,
        timed(bare, range(5)),
        details={
            "statements": len(rows),
            "statements_per_s": int(1000 * len(rows) / np.median(own)),
        },
    )


# Retrieval


def retrieval(strategy: Strategy, size: str, codex: Codex, /) -> Measured:
    """A whole call in process, vectors warm, on each of the fixed questions."""
    data = codex.graph(size)
    requests = [_request(data, question, strategy) for question in data.questions]
    for request in requests:
        codex.service.retrieve(request)
    results: list[RetrievalResult] = []
    own = timed(lambda request: results.append(codex.service.retrieve(request)), requests)
    details: dict[str, Detail] = {
        "questions": len(requests),
        "with_items": sum(bool(result.items) for result in results),
    }
    for stage in results[0].timings_ms if results else ():
        if stage != "total":
            values = [result.timings_ms.get(stage, 0.0) for result in results]
            details[f"{stage}_ms"] = float(np.median(values))
    if size == "m":
        details["published_pipeline_ms"] = _PUBLISHED_PIPELINE_MS
    beside, reason = codex.once(f"region {size}", lambda: _networkx_region(codex, size))
    return Measured(own, beside, reason, details)


def _request(data: CodexGraph, question: Question, strategy: Strategy) -> RetrieveRequest:
    return RetrieveRequest(
        question.text, strategy, graph=data.name, entity_ids=(question.entity_id,)
    )


def _networkx_region(codex: Codex, size: str) -> tuple[list[float], str | None]:
    """Times the published pipeline's first two steps in networkx: 2-hop region and PageRank."""
    if importlib.util.find_spec("scipy") is None:
        return [], SCIPY_MISSING
    import networkx as nx

    graph = codex.networkx(size)
    nodes = [question.node for question in codex.graph(size).questions]

    def region_and_rank(node: int) -> None:
        near, frontier = {node}, {node}
        for _ in range(2):
            frontier = {
                other
                for one in frontier
                for others in (graph.successors(one), graph.predecessors(one))
                for other in others
            } - near
            near |= frontier
        nx.pagerank(graph.subgraph(near), alpha=0.85, personalization={node: 1.0})

    return timed(region_and_rank, spread(nodes, 5)), None


# Embedding


def embedding(codex: Codex, /) -> Measured:
    """Embeds distinct labels in batches; beside sentence-transformers on the same files."""
    labels = _distinct_labels(codex.graph("m").graph)[:_LABELS]
    batches = [labels[start : start + _BATCH] for start in range(0, len(labels), _BATCH)]
    model_dir = codex.settings.model_dir
    embedder = open_embedder("minilm", model_dir=model_dir or None)
    embedder.encode(labels[:8])
    own = timed(embedder.encode, batches)
    details: dict[str, Detail] = {
        "labels": len(labels),
        "labels_per_s": int(1000 * len(labels) / sum(own)),
    }
    try:
        folder = find_model(Path(model_dir) if model_dir else None).path
        theirs = SentenceTransformerEmbedder(str(folder))
    except SetupError as error:
        return Measured(own, (), str(error), details)
    theirs.encode(labels[:8])
    beside = timed(theirs.encode, batches)
    details["reference_labels_per_s"] = int(1000 * len(labels) / sum(beside))
    return Measured(own, beside, None, details)


def _distinct_labels(graph: KnowledgeGraph) -> list[str]:
    relations = np.arange(graph.relation_count, dtype=np.int32)
    entities = np.arange(graph.entity_count, dtype=np.int32)
    found = [
        *labels_of(graph.relation_labels, relations, ("en",)),
        *labels_of(graph.node_labels, entities, ("en",)),
    ]
    return sorted({label for label in found if label})


# Views


def view(method: Method, size: str, turns: int, codex: Codex, /) -> Measured:
    """Makes a view and lays it over its base; beside networkx copying and changing its graph."""
    data = codex.graph(size)
    views = ViewStore(codex.service.store)
    laid: list[AppliedView] = []

    def ours(random_seed: int) -> None:
        spec = ViewSpec(method=method, level=LEVEL, random_seed=random_seed)
        laid.append(views.lay_spec(data.graph, spec))

    ours(turns)
    own = timed(ours, range(turns))
    base = codex.networkx(size)
    head, tail = data.graph.head[:].tolist(), data.graph.tail.tolist()
    overlay = laid[-1].overlay
    gone = [(head[i], tail[i], i) for i in overlay.gone.numbers.tolist()]
    new = [
        (h, t, data.graph.edge_count + i, {"relation": r})
        for i, (h, r, t) in enumerate(
            zip(overlay.head.tolist(), overlay.rel.tolist(), overlay.tail.tolist(), strict=True)
        )
    ]

    def theirs(_: int) -> None:
        changed = base.copy()
        changed.remove_edges_from(gone)
        changed.add_edges_from(new)

    details: dict[str, Detail] = {"edges": data.graph.edge_count, "changed": len(gone)}
    if size == "s":
        details["published_ms"] = _PUBLISHED_VIEW_MS[method]
    return Measured(own, timed(theirs, range(2 if size == "s" else 1)), None, details)


_STRATEGIES: Mapping[str, Strategy] = {
    "triplets": Strategy.TRIPLETS,
    "paths": Strategy.PATHS,
    "subgraph": Strategy.SUBGRAPH,
}
_METHODS: Mapping[str, Method] = {
    "swapping": Method.RELATION_SWAPPING,
    "deletion": Method.EDGE_DELETION,
    "rewiring": Method.EDGE_REWIRING,
}
_NX_PAGERANK = "networkx.pagerank, same walk and stopping rule"

MEMBERS: tuple[Member, ...] = (
    Member(
        "load-s",
        "CoDEx-S from its file to a published graph in SQLite",
        "bare sqlite3 insert of the same rows, no index",
        load_table,
    ),
    Member(
        "dump-ntriples",
        "N-Triples made of CoDEx-M, labels among them, by the load command into SQLite",
        "bare pyoxigraph parse and sqlite3 insert of the same triples, no index",
        load_triples,
    ),
    *(
        Member(
            f"dump-json{suffix.replace('.', '-')}",
            f"a dump.json{suffix} of real Wikidata documents, by the load command into SQLite",
            "bare orjson parse and sqlite3 insert of the same claims, no index",
            partial(load_documents, suffix),
        )
        for suffix in ("", ".gz", ".bz2")
    ),
    Member(
        "dump-neo4j",
        "N-Triples made of CoDEx-M, half of them literals, by the load command into Neo4j",
        "bare pyoxigraph parse and UNWIND ... CREATE of the same triples, one index",
        load_triples_into_neo4j,
    ),
    Member(
        "pagerank-m-along",
        "PageRank of whole CoDEx-M from one entity, along edges",
        _NX_PAGERANK,
        partial(pagerank_whole, "along"),
    ),
    Member(
        "pagerank-m-both",
        "PageRank of whole CoDEx-M from one entity, both ways with hub damping",
        _NX_PAGERANK,
        partial(pagerank_whole, "both"),
    ),
    Member(
        "pagerank-m-region",
        "PageRank of a 2-hop region of CoDEx-M",
        _NX_PAGERANK,
        pagerank_region,
    ),
    *(
        Member(
            f"{name}-{size}",
            f"{what} on whole CoDEx-{size.upper()}, ten prizes, cost 1 an edge",
            "one raw pcst_fast run, strong pruning",
            partial(member, size, turns),
        )
        for name, what, member in (
            ("growth", "one growth and its best pruning", growth),
            ("tree", "a subgraph at the default effort, its bound among it,", whole_tree),
        )
        for size, turns in (("s", 10), ("m", 5))
    ),
    *(
        Member(
            f"proof-{edges}-cost-{cost}",
            f"subgraphs at the default effort on regions of {edges:,} edges of CoDEx-M, prizes by"
            f" likeness, cost {cost} an edge; then with the work of some two seconds to prove them",
            "one raw pcst_fast run, strong pruning",
            partial(proofs, edges, cost),
        )
        for edges in PROOF_SIZES
        for cost in (1, 3)
    ),
    *(
        Member(
            f"retrieve-{name}-{size}",
            f"a whole call, vectors warm, {name} on CoDEx-{size.upper()}",
            "networkx: the 2-hop region and its PageRank alone",
            partial(retrieval, strategy, size),
        )
        for size in ("s", "m")
        for name, strategy in _STRATEGIES.items()
    ),
    *(
        Member(
            f"links-{size}",
            f"a whole call, vectors warm, paths on CoDEx-{size.upper()} as two sources that sameAs "
            "links",
            "the same two sources without sameAs",
            partial(codex_links, size),
        )
        for size in ("s", "m")
    ),
    Member(
        "links-dbp15k",
        "a whole call, vectors warm, paths over French and English DBpedia, which sameAs links, on "
        "questions that cross from one to the other",
        "the same two sources without sameAs",
        dbpedia_links,
    ),
    Member(
        "region-m",
        "2-hop regions of CoDEx-M, hub degree 2,000, at most 20,000 edges",
        "no hub rule and no limit",
        region_limits,
    ),
    Member(
        "scale",
        "a whole call on a scale-free graph of 20 million edges, read from mapped files",
        "the same limits on a graph of 200,000 edges",
        scaled,
    ),
    Member(
        "scale-100m",
        "a whole call on a scale-free graph of 100 million edges, read from mapped files",
        "the same limits on a graph of 2 million edges",
        scaled_far,
        by_name=True,
    ),
    Member(
        "embed",
        f"MiniLM in numpy on {_BATCH} distinct labels",
        "sentence-transformers, same weights",
        embedding,
    ),
    *(
        Member(
            f"view-{name}-{size}",
            f"{name} at {LEVEL:.0%} on CoDEx-{size.upper()}, laid over the base",
            "networkx: a copy of the graph, and the same changes made to it",
            partial(view, method, size, turns),
        )
        for size, turns in (("s", 10), ("m", 5))
        for name, method in _METHODS.items()
    ),
    *(
        Member(
            f"view-{name}-large",
            f"{name} at {LEVEL:.0%} drawn on a scale-free graph of 20 million edges",
            "numpy: as many edges drawn, the arrays copied and changed, nothing looked at",
            partial(at_scale, method),
        )
        for name, method in _METHODS.items()
    ),
    *(
        Member(
            f"deviation-{metric}-{size}",
            f"{metric.upper()}'s vector of CoDEx-{size.upper()}, mean over its relations",
            "networkx, one relation at a time",
            partial(deviation, metric, size, turns),
        )
        for size, turns in (("s", 10), ("m", 5))
        for metric in ("sc2d", "sd2")
    ),
    *(
        Member(
            f"stored-view-{size}",
            f"a view at {LEVEL:.0%} of CoDEx-{size.upper()} as bytes",
            "numpy's compressed file of the same arrays",
            partial(stored_size, size, 5),
        )
        for size in ("s", "m")
    ),
    Member(
        "on-view-warm-m",
        f"a whole call on a view of CoDEx-M at {LEVEL:.0%}, all warm",
        "the same on the base",
        partial(on_view, False),
    ),
    Member(
        "on-view-first-m",
        "the first call on a stored view of CoDEx-M that was never read",
        "the same on the base, warm",
        partial(on_view, True),
    ),
    *(
        Member(
            f"cold-burst-{workers}",
            f"the first answers of a server of {workers} {processes} with no vectors, on "
            "wikidata_questions in SQLite: sixteen clients, one address, each question once",
            "the same questions once more",
            partial(cold_burst, workers),
            by_name=True,
        )
        for workers, processes in ((1, "process"), (2, "processes"))
    ),
    Member(
        "cold-burst-neo4j",
        "the same of one process on wikidata_questions in Neo4j",
        "the same questions once more",
        cold_burst_on_neo4j,
        by_name=True,
    ),
    *(
        Member(
            name,
            f"questions over wikidata_questions in {store} that nobody asked before, when names of "
            "relations have vectors; processor time",
            "the same questions asked again",
            member,
            by_name=True,
        )
        for name, store, member in (
            ("first-asked", "SQLite", first_asked),
            ("first-asked-neo4j", "Neo4j", first_asked_on_neo4j),
        )
    ),
    Member(
        "sweep-m",
        "200 views of CoDEx-M made, measured and stored: 4 methods, 10 levels, 5 random seeds",
        "none",
        sweep,
    ),
)
