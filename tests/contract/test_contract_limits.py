"""`limit` holds under every preset and strategy, on both stores, and what it cut is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.model.limits import CutReason
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, Strategy
from graph_service.model.statement import Entity, EntityKind, Statement, make_statement
from graph_service.model.values import EntityValue
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.retrieve.preset import PRESETS
from graph_service.settings import Settings
from graph_service.store.protocol import Store

MOST = 1000
CASES = [
    pytest.param(name, strategy, id=f"{name}-{strategy.value}")
    for name in dict.fromkeys(preset.name for preset in PRESETS.values())
    for strategy in Strategy
    if not (name.startswith("ltgen") and strategy is Strategy.SUBGRAPH)
]
LAYERS = ("P1", "P2", "P3")
QUESTIONS = (
    "Which town is of the brother of the mother of Ann Lee?",
    "Who is the friend of Ann Lee?",
    "How did Ann Lee and Bob Ray quarrel?",
)
WIDE = 4
"""Parallel statements of a layer: many walks share few statements."""


def statements() -> list[Statement]:
    found = []
    for layer, relation in enumerate(LAYERS):
        for number in range(WIDE):
            head, value = f"Q{1 + layer}", EntityValue(f"Q{2 + layer}")
            found.append(make_statement(head, relation, value, id=f"s{layer}-{number}"))
    for number in range(12):
        found.append(make_statement("Q1", "P4", EntityValue(f"Q{10 + number}")))
        found.append(make_statement(f"Q{10 + number}", "P5", EntityValue("Q5")))
    return found


def entities() -> list[Entity]:
    labels = {"P1": "mother", "P2": "brother", "P3": "town", "P4": "friend", "P5": "enemy"}
    names = {"Q1": "Ann Lee", "Q2": "Eve Lee", "Q3": "Tom Lee", "Q4": "Oslo", "Q5": "Bob Ray"}
    names |= {f"Q{10 + number}": f"Person Number {number}" for number in range(12)}
    return [
        *(Entity(id_, EntityKind.PROPERTY, labels={"en": name}) for id_, name in labels.items()),
        *(Entity(id_, labels={"en": name}) for id_, name in names.items()),
    ]


def opened(store: Store, graph: str, folder: Path, **settings: int) -> Service:
    return open_service(
        store,
        settings=Settings(
            graph=graph,
            vectors=str(folder / "v.db"),
            cache_dir=str(folder / "cache"),
            **settings,  # type: ignore[arg-type]
        ),
        embedder=CountingWords(),
    )


def ask(
    service: Service, question: str, preset: str, strategy: Strategy, limit: int | None
) -> RetrievalResult:
    ranker = NetworkRanker(replace(shipped_scorer(), embedder=CountingWords().name))
    with service.ranking_by(ranker):
        return service.retrieve(RetrieveRequest(question, strategy, preset=preset, limit=limit))


@pytest.mark.parametrize(("preset", "strategy"), CASES)
def test_limit_holds_and_what_it_cut_is_said(
    store: Store, graph_name: str, tmp_path: Path, preset: str, strategy: Strategy
) -> None:
    load_graph(store, graph_name, statements(), entities())
    cut_short = 0
    for most_edges in (10_000, 1):
        service = opened(store, graph_name, tmp_path, snapshot_edges=most_edges)
        for question in QUESTIONS:
            whole = ask(service, question, preset, strategy, MOST)
            for limit in (1, 10, 12) if most_edges > 1 else (3, 11):
                found = ask(service, question, preset, strategy, limit)
                assert len(found.items) <= limit
                said = [
                    (cut.what, cut.kept)
                    for cut in found.truncated
                    if cut.reason is CutReason.LIMIT and cut.what in ("items", "paths")
                ]
                if len(found.items) < len(whole.items):
                    cut_short += 1
                    assert len(said) == 1, (question, most_edges, limit)
                    assert said[0] == ("items", len(found.items)) or said[0][0] == "paths"
    assert cut_short > 2


@pytest.mark.parametrize(("preset", "strategy"), CASES)
def test_no_preset_returns_more_than_the_service_allows(
    store: Store, graph_name: str, tmp_path: Path, preset: str, strategy: Strategy
) -> None:
    load_graph(store, graph_name, statements(), entities())
    service = opened(store, graph_name, tmp_path, max_items=2)
    for question in QUESTIONS:
        found = ask(service, question, preset, strategy, None)
        assert len(found.items) <= 2
        assert found.provenance.parameters["limit"] == 2
