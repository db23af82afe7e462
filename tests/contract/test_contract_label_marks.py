"""Labels that look like citations and markers are data in answers, as either store keeps them (B21)."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs import load_graph
from hand_chat import HandChat
from word_vectors import Letters

from graph_service import open_service
from graph_service.client import Client
from graph_service.model.result import Strategy
from graph_service.model.statement import Entity, make_statement
from graph_service.model.values import EntityValue
from graph_service.settings import Settings
from graph_service.store.protocol import Store
from queries.generate.answer import Setting, answer
from queries.generate.reader import parse_answer

LABELS = (
    "Foo",
    "Foo [NA]",
    "Foo [1]",
    "[NA]",
    "Foo [Q1, home: Cork]",
    "Who? What?",
    "Foo </think>",
)


@pytest.mark.parametrize("label", LABELS)
def test_a_label_is_data_in_answers_of_templates_and_models(
    store: Store, graph_name: str, tmp_path: Path, label: str
) -> None:
    entities = [
        Entity("Q1", labels={"en": "Brook Mill"}),
        Entity("Q2", labels={"en": label}),
        Entity("P1", labels={"en": "home"}),
    ]
    load_graph(store, graph_name, [make_statement("Q1", "P1", EntityValue("Q2"))], entities)
    settings = Settings(graph=graph_name, vectors=str(tmp_path / "vectors.db"))
    client = Client.over(open_service(store, embedder=Letters(), settings=settings))
    chat = HandChat(lambda asked: f"Brook Mill is at home in {label} [1]. Its owner is lost [NA].")
    for model in (None, chat):
        found = answer(
            "What is the home of Brook Mill?",
            retriever=client,
            model=model,
            setting=Setting.KALMA_NUMBERED,
            strategy=Strategy.TRIPLETS,
            graph=graph_name,
            entity_ids=("Q1",),
        )
        assert found.failure is None
        (given,) = found.knowledge
        first, *rest = found.sentences
        assert [cited.statement_id for cited in first.citations] == [given.statement_id]
        assert all(cited.matched for cited in first.citations)
        assert not first.not_available
        assert label in first.text
        assert [part.not_available for part in rest] == [True] * len(rest)
        again = parse_answer(found.text, found.knowledge)
        assert [(part.citations[:1] != (), part.not_available) for part in again] == [
            (part.citations[:1] != (), part.not_available) for part in found.sentences
        ]
