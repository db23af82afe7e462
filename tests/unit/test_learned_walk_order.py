"""In which order the walks of one relation sequence are given."""

from __future__ import annotations

from pathlib import Path

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

NAMED = {"Q12": "Rain", "Q13": "Wind"}
WROTE_ITS_DIRECTORS_FILMS: Way = [("P57", False), ("P57", True), ("P58", False)]


FILMS_OF_ITS_DIRECTOR: Way = [("P57", False), ("P57", True)]


@pytest.mark.parametrize("name", ["Rain", "Wind"])
def test_walks_along_names_that_the_question_says_come_first(
    tmp_store: Store, tmp_path: Path, name: str
) -> None:
    """Ann Lee directed Snow, and both films in whose names a word of some question stands."""
    films = [Entity(id_, labels={"en": f"The {film}s"}) for id_, film in NAMED.items()]
    named = {film.id for film in films}
    entities = [*films, *(entity for entity in ENTITIES if entity.id not in named)]
    load_graph(tmp_store, "films", STATEMENTS, entities)
    settings = Settings(
        vectors=str(tmp_path / "v.db"), cache_dir=str(tmp_path / "cache"), graph="films"
    )
    with open_service(tmp_store, settings=settings, embedder=CountingWords()) as service:
        question = f"What did the director of Snow direct about {name.lower()}?"
        with service.ranking_by(TellsWays(FILMS_OF_ITS_DIRECTOR)):
            result = service.retrieve(RetrieveRequest(question, Strategy.PATHS))
    assert isinstance(result, PathsResult)
    assert result.items[0].steps[-1].triple.head.label == f"The {name}s"


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
