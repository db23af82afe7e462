"""Strategies for whole results of retrievals."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from strategies import references, snaks, texts, values

from graph_service.model.identity import Fingerprints
from graph_service.model.limits import Cut, CutReason
from graph_service.model.result import (
    EntityRef,
    LinkedEntity,
    PathsResult,
    Prizes,
    Provenance,
    RegionReport,
    RegionStats,
    RelationRef,
    ScoredPath,
    ScoredTriple,
    Status,
    Step,
    Strategy,
    SubgraphResult,
    Tokens,
    Triple,
    TripleChange,
    TripletsResult,
)
from graph_service.model.statement import Rank
from graph_service.model.view_spec import ChangeKind

numbers = st.floats(allow_nan=False, allow_infinity=False)
counts = st.integers(0, 2**40)
optional_texts = st.none() | texts


def tuples(strategy: st.SearchStrategy[Any], most: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=most).map(tuple)


refs = st.builds(EntityRef, texts, texts, optional_texts)
triples = st.builds(
    Triple,
    texts,
    refs,
    st.builds(RelationRef, texts, texts),
    values,
    texts,
    st.sampled_from(Rank),
    tuples(snaks, 2),
    tuples(references, 2),
)
changes = st.builds(TripleChange, st.sampled_from(ChangeKind), st.none() | triples)
scored = st.builds(
    ScoredTriple, triples, numbers, st.builds(Prizes, numbers, numbers, numbers), changes
)
paths = st.builds(
    ScoredPath,
    st.lists(st.builds(Step, triples, st.booleans(), changes), min_size=1, max_size=2).map(tuple),
    numbers,
)
stats = st.builds(RegionStats, counts, counts, numbers, st.none() | numbers, numbers)
common: dict[str, st.SearchStrategy[Any]] = {
    "id": texts,
    "question": texts,
    "status": st.sampled_from(Status),
    "linked": tuples(
        st.builds(LinkedEntity, refs, texts, counts, counts, numbers, tuples(refs, 2)), 2
    ),
    "truncated": tuples(
        st.builds(Cut, texts, st.sampled_from(CutReason), numbers, counts, st.none() | counts), 2
    ),
    "tokens": st.builds(Tokens, counts, texts),
    "region": st.none() | st.builds(RegionReport, stats, stats),
    "provenance": st.builds(
        Provenance,
        texts,
        texts,
        st.builds(Fingerprints, texts, texts),
        optional_texts,
        optional_texts,
        st.sampled_from(Strategy),
        texts,
        st.dictionaries(texts, st.none() | st.booleans() | counts | texts | st.lists(texts)),
        texts,
        optional_texts,
        texts,
    ),
    "timings_ms": st.dictionaries(texts, numbers, max_size=2),
}
results = st.one_of(
    st.builds(TripletsResult, **common, items=tuples(scored, 2)),
    st.builds(PathsResult, **common, items=tuples(paths, 2)),
    st.builds(
        SubgraphResult,
        **common,
        items=tuples(scored, 2),
        objective=st.none() | numbers,
        gap=st.none() | numbers,
    ),
)
