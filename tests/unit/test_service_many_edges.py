"""Views through the service, where edge numbers take 64 bits: those of 32 (S2, S3, O10)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graphs import load_graph, random_statements
from word_vectors import Letters

from graph_service import Service, open_service
from graph_service.artifacts.views import ViewStore
from graph_service.model import topology
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import RetrievalResult, Strategy
from graph_service.model.statement import Entity
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.settings import Settings

STORED = [
    ViewSpec(Method.RELATION_SWAPPING, level=0.5),
    ViewSpec(Method.INVERSION, level=0.3),
    ViewSpec(Method.STALE, level=1.0),
    ViewSpec(Method.EDGE_REWIRING, level=0.9, scope=Scope(around_entity_ids=("Q3",), pruned=True)),
]
INLINE = [
    ViewSpec(Method.RELATION_SWAPPING, level=0.9, scope=Scope(of_question=True, hops=1)),
    ViewSpec(Method.EDGE_DELETION, level=0.5, scope=Scope(of_question=True, pruned=True)),
    ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, scope=Scope(of_question=True)),
]
DRAWN_ALONE = INLINE[:2]
"""Those that need no arrays of the whole graph."""


def service_of(folder: Path, **settings: Any) -> Service:
    """A service with a graph of its own, none of whose arrays are kept from before."""
    folder.mkdir()
    service = open_service(
        f"sqlite:///{folder / 'graph.db'}",
        embedder=Letters(),
        settings=Settings(vectors=str(folder / "vectors.db"), **settings),
    )
    entities = [Entity(f"Q{i}", labels={"en": f"Thing Number {i}"}) for i in range(40)]
    load_graph(service.store, "g", random_statements(7), entities)
    return service


def request_of(view: ViewSpec | None, strategy: Strategy = Strategy.PATHS) -> RetrieveRequest:
    return RetrieveRequest(
        "What is Thing Number 5, seen from Thing Number 3?",
        strategy,
        preset="default",
        view=None if view is None else ViewRef(spec=view),
    )


def said(result: RetrievalResult) -> list[Any]:
    return [result.items, result.region, result.truncated, result.provenance]


def answers(service: Service) -> list[Any]:
    """What is drawn, stored, measured, compared and found on views."""
    found: list[Any] = []
    for spec in STORED:
        made = service.views.create(spec)
        found += [replace(made, created_at=""), service.views.diff(ViewRef(id=made.id), first=90)]
        result = service.retrieve(replace(request_of(None), view=ViewRef(id=made.id)))
        found += [said(result), service.statements.of("Q3", view=ViewRef(id=made.id))]
    for spec in INLINE:
        found += [said(service.retrieve(request_of(spec, strategy))) for strategy in Strategy]
    compared = service.compare(request_of(None), [ViewRef(spec=STORED[1])])
    return [*found, [(one.lost, one.gained, one.changed) for one in compared]]


def test_views_of_a_graph_in_64_bits_are_those_of_32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service_of(tmp_path / "narrow") as service:
        expected = answers(service)
    asked_of: list[object] = []
    apply = ViewStore.apply

    def noted(self: ViewStore, *given: Any, question_edges: Any = None, **more: Any) -> Any:
        if question_edges is not None:
            asked_of.append(question_edges.dtype)
        return apply(self, *given, question_edges=question_edges, **more)

    monkeypatch.setattr(ViewStore, "apply", noted)
    monkeypatch.setattr(topology, "MOST_32_BIT", 2)
    with service_of(tmp_path / "wide") as service:
        assert answers(service) == expected
        assert {*asked_of} == {np.dtype(np.int64)}
        asked_of.clear()
        service.retrieve(replace(request_of(INLINE[0]), question="nothing of the kind"))
        assert asked_of == [np.int64]
        graph, laid = service.views.apply(ViewRef(spec=STORED[0]))
        assert {laid.delta.replaced.dtype, graph.topology.key_order.dtype} == {np.dtype(np.int64)}


def test_a_part_in_64_bits_gives_what_the_whole_graph_gives_in_32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service_of(tmp_path / "narrow") as service:
        expected = [said(service.retrieve(request_of(spec))) for spec in DRAWN_ALONE]
    monkeypatch.setattr(topology, "MOST_32_BIT", 2)
    with service_of(tmp_path / "wide", snapshot_edges=1) as service:
        assert [said(service.retrieve(request_of(spec))) for spec in DRAWN_ALONE] == expected
