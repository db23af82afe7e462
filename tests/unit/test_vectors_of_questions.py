"""What clients ask leaves no vector in the file for good, whatever is asked, and how."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from demo_graph import QUESTION, request, scored_triples
from made_encoders import draw

from graph_service import Service, open_service
from graph_service.embed import VectorFile
from graph_service.model.passage import PassageRanking
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy
from graph_service.model.values import StringValue
from graph_service.model.view_spec import Change, Method, ViewSpec
from graph_service.service.passing import TextsOfAClient

ODD = "snarkle frobnicate grumbity"


@pytest.fixture
def fresh(own_service: Service, tmp_path: Path) -> Iterator[Service]:
    """A service with a file of vectors of its own, which knows what the demo's texts are."""
    settings = replace(own_service.settings, vectors=str(tmp_path / "own.db"))
    with open_service(own_service.store.url, settings=settings) as service:
        yield service


def file_of(service: Service) -> VectorFile:
    file = service.vectors.file
    assert file is not None
    return file


def texts_embedded(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list to which each text is added that is embedded from now on."""
    embedded: list[str] = []
    encode = service.vectors.embedder.encode

    def listed(texts: Sequence[str], /) -> object:
        embedded.extend(texts)
        return encode(texts)

    monkeypatch.setattr(service.vectors.embedder, "encode", listed)
    return embedded


def kept_for_good(service: Service, texts: Sequence[str]) -> int:
    """How many of some texts have a vector in the part of the file that is never cut."""
    with contextlib.closing(sqlite3.connect(file_of(service).path)) as connection:
        found = {key for (key,) in connection.execute("SELECT key FROM vector")}
    return sum(service.vectors._key(text) in found for text in texts)


class OfQueries:
    """Reads questions in another way than texts, each way by a hash; lists what it read."""

    name, dimension = "of queries", 16

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.read: list[str] = []

    def encode(self, texts: Sequence[str], /) -> np.ndarray:
        self.read.extend(texts)
        return self._vectors(texts)

    def encode_queries(self, texts: Sequence[str], /) -> np.ndarray:
        self.asked.extend(texts)
        return self._vectors([f"question: {text}" for text in texts])

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())

    def _vectors(self, texts: Sequence[str]) -> np.ndarray:
        drawn = np.stack([draw(text, (self.dimension,)) for text in texts])
        return np.asarray(drawn / np.linalg.norm(drawn, axis=1, keepdims=True))


@pytest.mark.parametrize("preset", ["default", "okgqa", "ltgen"])
def test_questions_alone_are_read_as_questions(
    own_service: Service, preset: str, tmp_path: Path
) -> None:
    """Alone, among many, in a search of passages: never as a text, and no text as a question."""
    embedder = OfQueries()
    settings = replace(own_service.settings, vectors=str(tmp_path / "own.db"))
    with open_service(own_service.store.url, settings=settings, embedder=embedder) as service:
        asked = request(QUESTION, Strategy.PATHS, preset=preset)
        if preset == "ltgen":
            asked = request(QUESTION, Strategy.TRIPLETS, preset=preset)
        service.retrieve(asked)
        service.retrieve_many([replace(asked, question=f"{QUESTION} {ODD}")])
        service.passages.search(ODD, by=PassageRanking.VECTORS)
    assert ODD in embedder.asked
    assert any(ODD in text and text != ODD for text in embedder.asked)
    assert len(embedder.asked) == len(set(embedder.asked)) == 3
    assert embedder.read
    assert not set(embedder.asked) & set(embedder.read)


@pytest.mark.parametrize("preset", ["default", "okgqa", "ltgen"])
def test_a_question_leaves_what_is_its_own_in_the_part_that_is_bounded(
    fresh: Service, preset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = request(f"{QUESTION} {ODD}", Strategy.TRIPLETS, preset=preset)
    embedded = texts_embedded(fresh, monkeypatch)
    fresh.retrieve(asked)
    fresh.retrieve_many([replace(asked, question=f"{QUESTION} {ODD} {i}") for i in range(3)])
    own = [text for text in embedded if any(word in text for word in ODD.split())]
    assert len(own) >= 4
    assert kept_for_good(fresh, own) == 0
    assert file_of(fresh).count_transient() >= len(own)
    # What is embedded of the graph is kept.
    assert kept_for_good(fresh, embedded) > 0


def test_a_search_of_passages_leaves_its_query_there(fresh: Service) -> None:
    before = file_of(fresh).count()
    fresh.passages.search(ODD, by=PassageRanking.VECTORS)
    assert (file_of(fresh).count(), file_of(fresh).count_transient()) == (before, 1)


def test_a_view_of_one_request_leaves_its_texts_there(fresh: Service) -> None:
    first = scored_triples(fresh.retrieve(request(QUESTION, Strategy.TRIPLETS)))[0].triple
    before = file_of(fresh).count()
    change = Change(head=first.head.id, relation=ODD, value=StringValue(f"{ODD} {ODD}"))
    spec = ViewSpec(Method.CUSTOM, changes=(change,))
    fresh.retrieve(request(QUESTION, Strategy.TRIPLETS, view=ViewRef(spec=spec)))
    assert file_of(fresh).count() == before
    assert fresh.vectors.known([ODD]).all()


def test_texts_of_a_question_are_those_made_of_its_words() -> None:
    passing = TextsOfAClient("Who directed Ёлки in 北京市?")
    assert "directed in" in passing
    assert "北京" in passing
    assert "елки" in passing
    assert "directed by" not in passing
