"""Small regions and a toy embedder for the tests of retrieval."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st
from start_candidates import start_candidate

from graph_service.link.spans import Certainty
from graph_service.model.region import Region
from graph_service.retrieve.learned.rankers import CandidateRanker
from graph_service.retrieve.learned.relation_names import label_names
from graph_service.retrieve.learned.similarity_ranker import SimilarityRanker
from graph_service.retrieve.learned.strategy import Asking


def region_of(
    node_count: int,
    edges: Sequence[tuple[int, int]],
    *,
    literals: Iterable[int] = (),
    start_entities: Sequence[int] = (0,),
    rel: Sequence[int] | None = None,
) -> Region:
    """A region with local numbers as keys; edge keys are seven apart, to differ from numbers."""
    pairs = np.array(edges, dtype=np.int32).reshape(-1, 2)
    literal = np.zeros(node_count, dtype=bool)
    literal[list(literals)] = True
    ends = np.bincount(pairs.ravel(), minlength=node_count)
    return Region(
        nodes=np.arange(node_count, dtype=np.int32),
        node_keys=np.arange(node_count, dtype=np.int64) * 3,
        hops=np.zeros(node_count, dtype=np.uint8),
        literal=literal,
        degrees=ends.astype(np.int64),
        start_entities=np.array(start_entities, dtype=np.int32),
        edges=np.arange(len(pairs), dtype=np.int64),
        edge_keys=np.arange(len(pairs), dtype=np.int64) * 7,
        head=pairs[:, 0].copy(),
        tail=pairs[:, 1].copy(),
        rel=np.array(rel if rel is not None else [0] * len(pairs), dtype=np.int32),
    )


@st.composite
def multigraphs(draw: st.DrawFn, *, max_nodes: int = 6, max_edges: int = 9) -> Region:
    """Random multigraphs with loops and parallel edges; a node of one edge may be a literal."""
    n = draw(st.integers(2, max_nodes))
    node = st.integers(0, n - 1)
    edges = draw(st.lists(st.tuples(node, node), min_size=1, max_size=max_edges))
    ends = [*itertools.chain.from_iterable(edges)]
    single = [v for v in range(1, n) if ends.count(v) == 1 and v in {t for _, t in edges}]
    literals = draw(st.sets(st.sampled_from(single))) if single else set()
    return region_of(n, edges, literals=literals)


def prizes(count: int, *, most: int = 4) -> st.SearchStrategy[npt.NDArray[np.float64]]:
    """Whole prizes, about half of them zero."""
    one = st.one_of(st.just(0), st.integers(0, most))
    return st.lists(one, min_size=count, max_size=count).map(
        lambda values: np.array(values, dtype=np.float64)
    )


def toy_encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Unit vectors of the words of a text: texts that share words are alike, in any process."""
    vectors = np.zeros((len(texts), 128), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in text.lower().replace("'s", " ").replace("?", " ").split():
            if word in {"of", "the", "is", "who", "what"}:
                continue
            digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
            vectors[row, int.from_bytes(digest, "little") % 127] += 1.0
        vectors[row, 127] = 0.01
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: npt.NDArray[np.float32] = (vectors / norms).astype(np.float32)
    return unit


def asking_of(
    question: str, names: Mapping[int, str], /, *, ranker: CandidateRanker | None = None
) -> Asking:
    """What learned ranking needs of given entities: their nodes, and how each may be named."""
    starts = []
    for node, name in names.items():
        start = question.find(name) if name else -1
        starts.append(
            start_candidate(
                node=node,
                start=start,
                end=start + len(name) if start >= 0 else -1,
                certainty=Certainty.WRITTEN if start >= 0 else Certainty.NO,
                words=len(name.split()) if start >= 0 else 0,
                score=1.0,
                linked=start >= 0,
            )
        )
    return Asking(tuple(starts), True, ranker or SimilarityRanker(), label_names)
