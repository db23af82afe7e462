"""What a caller may ask of one retrieval, on both stores: many questions, own vectors, K7, a lost graph."""

from __future__ import annotations

from pathlib import Path

import pytest
from graphs import load_graph
from word_vectors import Letters

from graph_service import open_service
from graph_service.errors import GraphNotFoundError, InputError
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, Strategy
from graph_service.model.statement import Entity, EntityKind
from graph_service.settings import Settings
from graph_service.store.protocol import Store


def test_many_questions_own_vectors_and_swapped_entities_s2_k7(
    store: Store, graph_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["Anna", "Bert", "Cleo", "Dora", "Emil", "Fred", "Gina", "Hugo"]
    entities = [Entity(f"Q{i}", labels={"en": name}) for i, name in enumerate(names, 1)]
    entities += [
        Entity("P1", kind=EntityKind.PROPERTY, labels={"en": "mother"}),
        Entity("P2", kind=EntityKind.PROPERTY, labels={"en": "spouse"}),
    ]
    statements = [("Q1", "P1", "Q2"), ("Q1", "P2", "Q3"), ("Q2", "P2", "Q4"), ("Q5", "P1", "Q6"),
                  ("Q6", "P2", "Q7"), ("Q7", "P1", "Q8")]  # fmt: skip
    load_graph(store, graph_name, statements, entities)
    service = open_service(
        store, embedder=Letters(), settings=Settings(vectors=str(tmp_path / "v.db"))
    )

    def asked(question: str, **fields: object) -> RetrieveRequest:
        return RetrieveRequest(question, Strategy.PATHS, graph=graph_name, limit=2, **fields)  # type: ignore[arg-type]

    (spouse,) = Letters().encode(["spouse"]).tolist()
    requests = [
        asked("Who is the mother of Anna?"),
        asked("Who is this of Anna?", question_vector=tuple(spouse)),
        asked("Who is the mother of Anna?", linking_accuracy=0.0),
        asked("Who is the mother of Anna?", entity_ids=("Q99",)),
    ]
    *found, failed = service.retrieve_many(requests)
    assert isinstance(failed, InputError)
    assert found == [service.retrieve(request) for request in requests[:3]]
    assert all(isinstance(one, RetrievalResult) for one in found)
    first, own, wrong = found
    assert [item.origin_id for item in first.items] == ["Q1", "Q1"]  # type: ignore[union-attr]
    assert own.items[0].steps[0].triple.relation.id == "P2"  # type: ignore[union-attr]
    swapped = wrong.linked[0].swapped_for  # type: ignore[union-attr]
    # Of one statement as Anna has two: nothing alike, but Q5 to Q8 are far from her.
    assert swapped is not None
    assert swapped.id in {"Q4", "Q5", "Q6", "Q7", "Q8"}
    assert {item.origin_id for item in wrong.items} == {swapped.id}  # type: ignore[union-attr]

    def gone(*_: object) -> None:
        raise GraphNotFoundError("its edition is gone")

    # A graph that was there when the call began is no fault of a question: all is asked anew.
    monkeypatch.setattr(service._graphs, "arrays", gone)
    with pytest.raises(GraphNotFoundError, match="gone"):
        service.retrieve_many(requests)
