"""A first call with more new texts than there is time for returns what it can, and says so (B21)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from error_texts import raises
from graphs import load_graph
from word_vectors import CountingWords

from graph_service import Service, open_service
from graph_service.embed import vectors as vectors_module
from graph_service.errors import DeadlineError
from graph_service.model import limits
from graph_service.model.limits import Cut, CutReason
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, RetrievalResult, Strategy
from graph_service.model.statement import Entity, EntityKind, make_statement
from graph_service.model.values import EntityValue
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.settings import Settings
from graph_service.store.protocol import Store

MANY = 150
ALLOWED_S = 100.0


class Clock:
    """Time that passes only where texts are embedded."""

    def __init__(self) -> None:
        self.now = 0.0


class SlowWords(CountingWords):
    """A second a text."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(shipped_scorer().embedder)
        self._clock = clock

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        self._clock.now += len(texts)
        return super().encode(texts)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: made.now))
    monkeypatch.setattr(vectors_module, "_TEXTS_A_STEP", 8)
    return made


@pytest.fixture
def open_anew(
    store: Store, graph_name: str, tmp_path: Path, clock: Clock
) -> Callable[[float, str], Service]:
    words = [f"{first}{second}" for first in "abcdefghijklm" for second in "nopqrstuvwxyz"]
    entities = [Entity("Q0", labels={"en": "Ann Lee"})]
    for number in range(1, MANY + 1):
        name = f"{words[number]} thing"
        entities.append(Entity(f"P{number}", EntityKind.PROPERTY, labels={"en": name}))
        entities.append(Entity(f"Q{number}", labels={"en": f"Value {words[-number]}"}))
    load_graph(
        store,
        graph_name,
        [make_statement("Q0", f"P{n}", EntityValue(f"Q{n}")) for n in range(1, MANY + 1)],
        entities,
    )

    def made(seconds: float, vectors: str) -> Service:
        settings = Settings(
            graph=graph_name,
            vectors=str(tmp_path / vectors),
            cache_dir=str(tmp_path / "cache"),
            read_timeout_s=seconds,
        )
        return open_service(store, settings=settings, embedder=SlowWords(clock))

    return made


def late(result: RetrievalResult) -> list[Cut]:
    return [cut for cut in result.truncated if cut.reason is CutReason.DEADLINE]


# The quarter that is reserved must do for the kinds and the question's words, which default-6 needs.
@pytest.mark.parametrize(
    ("preset", "seconds"),
    [("default-6", 1.4 * ALLOWED_S), ("okgqa", ALLOWED_S), ("ltgen", ALLOWED_S)],
)
def test_a_cold_call_returns_what_it_can_and_the_next_gets_further(
    open_anew: Callable[[float, str], Service], preset: str, seconds: float
) -> None:
    request = RetrieveRequest("which bq thing has Ann Lee?", Strategy.PATHS, preset=preset)
    whole = open_anew(1e9, "whole.db").retrieve(request)
    assert not late(whole)
    service = open_anew(seconds, "cold.db")
    kept: list[int] = []
    for _ in range(20):
        found = service.retrieve(request)
        if not late(found):
            break
        (cut,) = late(found)
        assert cut.what == "embedded"
        assert cut.total is not None
        assert cut.kept < cut.total
        assert found.provenance == whole.provenance
        kept.append(cut.kept)
    assert kept
    assert kept == sorted(set(kept))
    assert (found.items, found.id) == (whole.items, whole.id)


def test_questions_together_are_told_each_for_itself(
    open_anew: Callable[[float, str], Service],
) -> None:
    service = open_anew(ALLOWED_S, "many.db")
    asked = RetrieveRequest("which bq thing has Ann Lee?", Strategy.PATHS, preset="okgqa")
    one, other = service.retrieve_many([asked, replace(asked, question="what cr has Ann Lee?")])
    assert isinstance(one, PathsResult)
    assert late(one)
    assert isinstance(other, DeadlineError) or (isinstance(other, PathsResult) and late(other))


def test_where_not_even_the_question_is_embedded_in_time_the_error_says_what_is_kept(
    open_anew: Callable[[float, str], Service],
) -> None:
    service = open_anew(3.0, "short.db")
    words = "which green round heavy old tall wide thing has Ann Lee now?"
    with raises(DeadlineError) as late:
        service.retrieve(RetrieveRequest(words, Strategy.PATHS, preset="default-6"))
    assert "Ask again" in str(late.value.hint)
