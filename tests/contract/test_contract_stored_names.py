"""Names nearly as written, parts of names and demonyms, read from a store (K2)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.link.starts import NameForm, StartCandidate
from graph_service.model.graph import Float64
from graph_service.model.limits import Cut, CutReason
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.model.statement import Entity, EntityKind
from graph_service.model.values import EntityValue
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.service import stored_names
from graph_service.settings import Settings
from graph_service.store.protocol import Store

NAMES = {
    "Q1": "Barack Obama", "Q2": "Honolulu", "Q3": "Michelle Obama", "Q4": "Hungary",
    "Q5": "Budapest", "Q6": "Willow Smith", "Q7": "Will Smith", "Q8": "George W. Bush",
    "Q9": "New Haven", "Q10": "Fukushima Daiichi Nuclear Power Plant", "Q11": "Okuma",
    "Q12": "Indianapolis International Airport", "Q13": "WIN", "Q14": "Artist",
    "Q15": "Artistic Movement", "Q16": "Capital Spouse Place", "Q17": "Capital Spouse Island",
    **{f"Q2{i}": f"Sloane {name}" for i, name in enumerate(("Adam", "Beth", "Carl", "Dora", "Emil"))},
}  # fmt: skip
ALIASES = {"Q12": "KIND"}
RELATIONS = {"P1": "place of birth", "P2": "spouse", "P3": "capital", "P4": "location"}
STATEMENTS = (
    ("Q1", "P1", "Q2"), ("Q1", "P2", "Q3"), ("Q1", "P4", "Q2"), ("Q4", "P3", "Q5"),
    ("Q6", "P1", "Q5"), ("Q7", "P1", "Q2"), ("Q8", "P1", "Q9"), ("Q10", "P4", "Q11"),
    ("Q12", "P4", "Q2"), ("Q13", "P4", "Q2"), ("Q14", "P4", "Q2"), ("Q15", "P4", "Q2"),
    ("Q16", "P4", "Q2"), ("Q17", "P4", "Q2"), *((f"Q2{i}", "P4", "Q2") for i in range(5)),
)  # fmt: skip
ASKED = {
    "what is the place of birth of obama": "Q2",
    "what is the hungarian capital": "Q5",
    "what is the place of birth of george bush": "Q9",
    "what is the location of fukushima daiichi": "Q11",
    "What is the place of birth of Barak Obama?": "Q2",
    "what is the place of birth of barack obma": "Q2",
    "What is the place of birth of Willow Smith?": "Q5",
}


@pytest.fixture
def services(store: Store, graph_name: str, tmp_path: Path) -> dict[str, Service]:
    """By route."""
    entities = [
        Entity(
            id_,
            labels={"en": name},
            aliases={"en": (ALIASES[id_],)} if id_ in ALIASES else {},
        )
        for id_, name in NAMES.items()
    ]
    entities += [
        Entity(id_, EntityKind.PROPERTY, labels={"en": name}) for id_, name in RELATIONS.items()
    ]
    load_graph(store, graph_name, STATEMENTS, entities)
    return {
        route: open_service(
            store,
            settings=Settings(
                graph=graph_name,
                vectors=str(tmp_path / "v.db"),
                cache_dir=str(tmp_path / "cache"),
                snapshot_edges=most,
            ),
            embedder=CountingWords(),
        )
        for route, most in (("snapshot", 1000), ("store", 1))
    }


def ask(service: Service, question: str, **options: Any) -> PathsResult:
    request = RetrieveRequest(question, Strategy.PATHS, preset="default-6", limit=1)
    ranker = NetworkRanker(replace(shipped_scorer(), embedder=CountingWords().name))
    with service.ranking_by(ranker):
        found = service.retrieve(replace(request, **options))
    assert isinstance(found, PathsResult)
    return found


@pytest.mark.parametrize("question", ASKED)
def test_what_the_store_finds_is_what_the_snapshot_finds(
    services: dict[str, Service], question: str
) -> None:
    by_snapshot, by_store = (ask(services[route], question) for route in services)
    assert (by_store.items, by_store.linked) == (by_snapshot.items, by_snapshot.linked)
    assert by_store.id == by_snapshot.id
    assert by_store.items[0].steps[-1].triple.value == EntityValue(ASKED[question])


@dataclass
class Starts:
    """Ranks as another, and notes which entities walks started from."""

    ranker: NetworkRanker
    name: str = "starts"
    seen: list[tuple[str, StartCandidate]] = field(default_factory=list)

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        known = [replace(start, node=0) for start in reader.start_entities]
        self.seen = list(zip(reader.start_ids(), known, strict=True))
        return self.ranker.rank(reader, most)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        # A demonym in a name of several words; the artist of "artistic".
        ("what artistic movement did michelle obama belong to", {"Q14": NameForm.DEMONYM}),
        # Part of a name, in a name that is made of words of relations.
        ("where is capital spouse place", {"Q16": NameForm.EXACT, "Q17": NameForm.PART}),
        # Of parts of as many statements those of the smallest keys.
        ("where is sloane", {"Q24": NameForm.PART}),
    ],
)
def test_walks_start_from_the_same_entities_on_either_route(
    services: dict[str, Service], question: str, found: dict[str, NameForm]
) -> None:
    seen = {}
    for route, service in services.items():
        starts = Starts(NetworkRanker(replace(shipped_scorer(), embedder=CountingWords().name)))
        with service.ranking_by(starts):
            service.retrieve(RetrieveRequest(question, Strategy.PATHS, preset="default-6"))
        seen[route] = starts.seen
    assert seen["store"] == seen["snapshot"]
    forms = {id_: start.form for id_, start in seen["snapshot"]}
    assert forms.items() >= found.items()


@pytest.mark.parametrize(
    "question", ["what kind of spouse has barack obama", "what did barack obama win"]
)
def test_a_word_that_people_ask_with_is_no_name_in_capitals_on_either_route(
    services: dict[str, Service], question: str
) -> None:
    for service in services.values():
        linked = ask(service, question).linked
        assert [one.entity.id for one in linked] == ["Q1"]


def test_what_is_looked_up_is_bounded_however_long_the_question(
    services: dict[str, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    service = services["store"]
    asked: Counter[str] = Counter()
    search = service.store.search

    def counted(*arguments: Any, **options: Any) -> Any:
        asked["searches"] += 1
        return search(*arguments, **options)

    monkeypatch.setattr(service.store, "search", counted)
    words = [f"{first}anian{last}ese" for first in "bcdfg" for last in "hklmn"]
    counts = []
    for some in (words[:10], words[:20]):
        asked.clear()
        ask(service, f"where was {' '.join(some)} obama born")
        counts.append(asked["searches"])
    # A word and its other forms are looked up. What is near to names has a bound of its own.
    assert counts[0] > stored_names._MOST_DEMONYMS
    assert counts[1] - counts[0] <= 5 * 10


def test_entities_of_too_many_statements_are_left_out_and_that_is_said(
    services: dict[str, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_names, "_PART_EDGES", 1)
    found = ask(services["store"], "where was obama born")
    assert Cut("entities", CutReason.WORK_BUDGET, 1, 1, 2) in found.truncated
