"""The member of ``python -m benchmarks speed`` about several sources: what their links cost a question."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.codex import Codex, Question, read_ids, read_rows
from benchmarks.figures import Detail, Measured, spread, timed
from graph_service.model.identity import key64
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, ScoredPath, Strategy
from graph_service.model.statement import Entity
from graph_service.store.lookup import read_merged_entities
from graph_service.store.protocol import Batch

BOUND = 1.1
"""The median with links over the median without them is to be at most this."""
_SECOND = "http://second.example/"
_GRAPHS = ("sources-without-links", "sources-with-links")
_QUESTIONS = 40
_ROUNDS = 3


def links(size: str, codex: Codex, /) -> Measured:
    """Asks CoDEx as two sources whose ids ``sameAs`` links; beside the same graph without links.

    A hash gives each statement to one of two sources, and each names its entities by own ids. The
    figure is processor time: each question is asked on the graphs in turn, and the least of the
    rounds counts. The details compare with one id for each entity too.
    """
    data = codex.graph(size)
    linked_ids = codex.once(f"two sources {size}", lambda: _load(codex, size))
    questions = spread(
        [question for question in data.questions if question.entity_id in linked_ids], _QUESTIONS
    )
    graphs = [*(f"{name}-{size}" for name in _GRAPHS), data.name]
    cases = [
        _request(question, graph)
        for question in questions
        for _ in range(_ROUNDS)
        for graph in graphs
    ]
    results: list[RetrievalResult] = []
    times = timed(
        lambda request: results.append(codex.service.retrieve(request)),
        cases,
        clock=time.process_time,
    )
    # The first round makes vectors and opens graphs.
    least = np.array(times).reshape(len(questions), _ROUNDS, len(graphs))[:, 1:].min(axis=1)
    without, linked, merged = np.maximum(least, 1e-3).T
    ratio = float(np.median(linked) / np.median(without))
    details: dict[str, Detail] = {
        "questions": len(questions),
        "groups": len(linked_ids),
        "bound": BOUND,
        "within_bound": "yes" if ratio <= BOUND else "no",
        "ratio_of_pairs": float(np.median(linked / without)),
        "one_id_each_ms": float(np.median(merged)),
        "ratio_to_one_id_each": float(np.median(linked) / np.median(merged)),
        "pairs_to_one_id_each": float(np.median(linked / merged)),
        "with_statements_of_both": sum(
            _has_both(result) for result in results if result.provenance.graph == graphs[1]
        )
        // _ROUNDS,
    }
    return Measured(linked.tolist(), without.tolist(), None, details)


def _request(question: Question, graph: str) -> RetrieveRequest:
    return RetrieveRequest(
        question.text, Strategy.PATHS, graph=graph, entity_ids=(question.entity_id,)
    )


def _has_both(result: RetrievalResult) -> bool:
    """Returns whether one item of a result has statements of both sources."""
    return any(
        len({step.triple.head.id.startswith(_SECOND) for step in item.steps}) == 2
        for item in result.items
        if isinstance(item, ScoredPath)
    )


def _load(codex: Codex, size: str) -> frozenset[str]:
    """Loads the two sources without links and with them; returns the entities of both."""
    rows = [
        row if key64("\t".join(row)) & 1 else (_SECOND + row[0], row[1], _SECOND + row[2])
        for row in read_rows(codex.triples(size))
    ]
    path = codex.folder / f"sources-{size}.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    labels = codex.labels(size, ("", _SECOND))
    store = codex.service.store
    for name in _GRAPHS:
        codex.load(path, store, f"{name}-{size}", labels)
    ids = read_ids(path)
    pairs = [(id_, _SECOND + id_) for id_ in sorted(ids) if _SECOND + id_ in ids]
    entities = tuple(Entity(id_, same_as=(other,)) for id_, other in pairs)
    linked = f"{_GRAPHS[1]}-{size}"
    with store.begin_load(linked, owner="benchmark", source="links") as session:
        session.write(Batch(entities=entities, terms_only=True))
        session.finish()
        session.publish()
    groups = read_merged_entities(store, store.graph(linked).edition).equal.group_count
    assert groups == len(pairs), (groups, len(pairs))
    return frozenset(id_ for id_, _ in pairs)
