"""Names of relations and kinds are embedded in advance, and questions then embed none of them (B21)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.known_relations import common_names
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.settings import Settings
from graph_service.store.protocol import Store

IRI = "http://example.org/ontology/restingPlace"
RELATIONS = (
    Entity("P1", EntityKind.PROPERTY, {"en": "made_in"}, aliases={"en": ("forged at", "cast in")}),
    Entity("P2", EntityKind.PROPERTY, {"en": "gender"}),
    Entity("P3", EntityKind.PROPERTY, {"de": "Geburtsort", "fr": "lieu"}),
    Entity("P4", EntityKind.PROPERTY, {"mul": "IMDB"}, aliases={"mul": ("Movie Base",)}),
    Entity(IRI, EntityKind.PROPERTY),
)
NAMES = {"made in", "gender", "Geburtsort", "IMDB", "resting place"}
ALIASES = {"forged at", "cast in", "Movie Base"}
ENTITIES = (Entity("Q1", labels={"en": "Ann Lee"}), Entity("Q2", labels={"en": "Bell"}))
QUESTION = "where was Ann Lee?"


class Noting(CountingWords):
    """Notes what it embeds."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        self.texts.extend(texts)
        return super().encode(texts)


@pytest.mark.parametrize("snapshot_edges", [0, 1_000])
@pytest.mark.parametrize("is_learned", [True, False])
def test_no_question_embeds_what_was_embedded_in_advance(
    store: Store, graph_name: str, tmp_path: Path, is_learned: bool, snapshot_edges: int
) -> None:
    statements = [make_statement("Q1", relation.id, EntityValue("Q2")) for relation in RELATIONS]
    load_graph(store, graph_name, statements, [*ENTITIES, *RELATIONS])
    names = NAMES | set(KINDS) | (ALIASES | set(common_names()) if is_learned else set())

    def opened(vectors: str) -> tuple[Service, Noting]:
        embedder = Noting(shipped_scorer().embedder if is_learned else "words-1")
        settings = Settings(
            graph=graph_name,
            vectors=str(tmp_path / vectors),
            cache_dir=str(tmp_path / "cache"),
            snapshot_edges=snapshot_edges,
        )
        return open_service(store, settings=settings, embedder=embedder), embedder

    request = RetrieveRequest(QUESTION, Strategy.PATHS)
    cold, embedder = opened("cold.db")
    whole = cold.retrieve(request)
    assert set(embedder.texts) >= NAMES
    service, embedder = opened("warm.db")
    batches = list(service.embed_names(service.graph()))
    assert [batches[0].done, batches[-1].done, batches[-1].total] == [0, 5, 5]
    assert set(embedder.texts) >= names
    # Batches are short: a question that comes meanwhile waits for one of them at most.
    assert len(embedder.texts) / 64 < len(batches)
    embedder.texts.clear()
    result = service.retrieve(request)
    assert not names.intersection(embedder.texts)
    assert (result.id, result.items) == (whole.id, whole.items)
    # Once more costs nothing, in another process too.
    embedder.texts.clear()
    assert len(list(service.embed_names(service.graph()))) == len(batches)
    again, other = opened("warm.db")
    assert len(list(again.embed_names(again.graph()))) == len(batches)
    assert embedder.texts == other.texts == []
