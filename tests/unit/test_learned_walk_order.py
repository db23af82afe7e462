"""In which order the walks of one relation sequence are given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from film_graph import ENTITIES, STATEMENTS, TellsWays, Way
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue
from graph_service.settings import Settings
from graph_service.store.protocol import Store

WROTE_ITS_DIRECTORS_FILMS: Way = [("P57", False), ("P57", True), ("P58", False)]


class NotedWords(CountingWords):
    """Notes what it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        self.texts.extend(texts)
        return super().encode(texts)


@pytest.mark.parametrize(("limit", "is_compared"), [(1, False), (10, True)])
def test_walks_that_are_not_returned_are_not_compared(
    tmp_store: Store, tmp_path: Path, limit: int, is_compared: bool
) -> None:
    """Ann Lee directed several films; the one path that is asked for is of another relation."""
    load_graph(tmp_store, "films", STATEMENTS, ENTITIES)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph="films"
    )
    embedder = NotedWords()
    with open_service(tmp_store, settings=settings, embedder=embedder) as service:
        request = RetrieveRequest("Who is the spouse of Ann Lee?", Strategy.PATHS, limit=limit)
        with service.ranking_by(TellsWays([("P26", False)])):
            result = service.retrieve(request)
    assert isinstance(result, PathsResult)
    assert [step.triple.value_label for step in result.items[0].steps] == ["Bob Ray"]
    assert any(text.endswith(" Ann Lee") for text in embedder.texts) is is_compared


def test_what_a_walk_has_passed_comes_after_other_ends(tmp_store: Store, tmp_path: Path) -> None:
    """Ann Lee directed Snow and wrote Rain with Bob Ray: he is the new one."""
    more = [make_statement("Q12", "P58", EntityValue(writer)) for writer in ("Q1", "Q2")]
    label = Entity("P58", EntityKind.PROPERTY, labels={"en": "screenwriter"})
    load_graph(tmp_store, "films", [*STATEMENTS, *more], [*ENTITIES, label])
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph="films"
    )
    with open_service(tmp_store, settings=settings, embedder=CountingWords()) as service:
        question = "Who wrote the films by the director of Snow?"
        request = RetrieveRequest(question, Strategy.PATHS, preset="default-6")
        with service.ranking_by(TellsWays(WROTE_ITS_DIRECTORS_FILMS)):
            result = service.retrieve(request)
    assert isinstance(result, PathsResult)
    walks = [path for path in result.items if len(path.steps) == 3]
    endpoints = [path.steps[-1].triple.value_label for path in walks]
    assert endpoints[:2] == ["Bob Ray", "Ann Lee"]
