"""The cross-encoder in a retrieval: the lines that it reads, and what its scores do to the order."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast
from unittest.mock import patch

import numpy as np
import pytest
from made_encoders import ENCODERS, make_encoder

from graph_service.embed.alignment import Alignment
from graph_service.embed.cross_encoder import CrossEncoder
from graph_service.embed.exact import Float64
from graph_service.embed.folder import open_folder
from graph_service.embed.minilm import MiniLM
from graph_service.embed.multilingual import MultilingualEmbedder
from graph_service.embed.protocol import Embedder
from graph_service.embed.weights import find_model
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Strategy
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import CandidateRanker, NetworkRanker
from graph_service.retrieve.learned.reading import (
    ReadingRanker,
    cross_encoder_of,
    shipped_cross_weights,
    with_reading,
)
from graph_service.retrieve.preset import LEARNED, PRESETS, LearnedPreset
from graph_service.service import Service
from graph_service.service.candidate_rankers import CandidateRankers

QUESTION = "Who is Maria Shriver's husband?"
UNNAMED = "Who is 's husband?"


class ChosenLine:
    """Stands in for the cross-encoder: one line scores above all others."""

    data = "0123456789abcdef"

    def __init__(self, chosen: str, *, best: float = 100.0, others: float = 0.0) -> None:
        self.chosen = chosen
        self.best, self.others = best, others
        self.question = ""
        self.lines: list[str] = []

    def scores(self, question: str, texts: Sequence[str], /) -> Float64:
        self.question = question
        self.lines += texts
        return np.array([self.best if text == self.chosen else self.others for text in texts])


@dataclass(frozen=True)
class LineRecorder:
    """Ranks as another ranker does, and keeps all lines, best first."""

    ranker: CandidateRanker
    lines: list[str]
    name: str = "recorder of lines"

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        finalists, score = self.ranker.rank(reader, most)
        order = np.lexsort((finalists.numbers, -score))
        self.lines[:] = reader.lines(finalists.numbers[order])
        return finalists, score


def retrieve(
    service: Service, ranker: CandidateRanker, preset: LearnedPreset = LEARNED
) -> list[str]:
    """Asks the question and returns the lines of all ranked candidates, best first."""
    recorder = LineRecorder(ranker, [])
    request = RetrieveRequest(QUESTION, Strategy.PATHS, graph="demo", preset="default-6", limit=5)
    with patch.dict(PRESETS, {"default-6": preset}), service.ranking_by(recorder):
        service.retrieve(request)
    return recorder.lines


@pytest.fixture(scope="module")
def networks() -> NetworkRanker:
    return NetworkRanker(shipped_scorer())


def test_lines_say_the_steps_their_directions_and_ends(
    demo_service: Service, networks: NetworkRanker
) -> None:
    lines = retrieve(demo_service, networks)
    assert "Maria Shriver -> spouse = Arnold Schwarzenegger (1)" in lines
    assert len(set(lines)) == len(lines)
    named = [line for line in lines if "-> spouse -> place of birth" in line]
    assert all(line.startswith("Maria Shriver -> ") or " <- " in line for line in named)


def test_the_line_that_reads_best_is_first_and_unread_ones_stay_behind(
    demo_service: Service, networks: NetworkRanker
) -> None:
    preset = replace(LEARNED, read_gap=1_000.0)
    before = retrieve(demo_service, networks, preset)
    chosen = before[3]
    encoder = ChosenLine(chosen)
    ranker = ReadingRanker(networks, cast("CrossEncoder", encoder))
    assert retrieve(demo_service, ranker, preset) == [
        chosen,
        *(line for line in before if line != chosen),
    ]
    assert encoder.question == QUESTION
    assert encoder.lines == before[: preset.max_read]
    # What is not read does not come before what is.
    encoder.lines.clear()
    encoder.chosen = before[preset.max_read]
    assert retrieve(demo_service, ranker, preset) == before


def test_lines_far_below_the_best_are_not_read(
    demo_service: Service, networks: NetworkRanker
) -> None:
    encoder = ChosenLine("")
    ranker = ReadingRanker(networks, cast("CrossEncoder", encoder))
    before = retrieve(demo_service, ranker, replace(LEARNED, read_gap=0.0))
    assert encoder.lines == before[:1]
    encoder.lines = []
    retrieve(demo_service, ranker, replace(LEARNED, read_weight=0.0))
    assert encoder.lines == []


def test_where_no_near_line_fits_the_next_are_read_and_the_best_of_them_is_first(
    demo_service: Service, networks: NetworkRanker
) -> None:
    before = retrieve(demo_service, networks)
    preset = replace(LEARNED, read_gap=0.0, read_weight=100.0)
    floor = preset.read_floor
    encoder = ChosenLine(before[3], best=floor - 1.0, others=floor - 10.0)
    ranker = ReadingRanker(networks, cast("CrossEncoder", encoder))
    assert retrieve(demo_service, ranker, preset)[0] == before[3]
    assert encoder.lines == before[: preset.max_read]


def test_a_question_in_another_language_is_not_read(
    demo_service: Service, networks: NetworkRanker
) -> None:
    preset = replace(LEARNED, read_gap=1_000.0)
    before = retrieve(demo_service, networks, preset)
    encoder = ChosenLine(before[3])
    for is_foreign in (True, False):
        tells = UNNAMED.__eq__ if is_foreign else UNNAMED.__ne__
        ranker = ReadingRanker(networks, cast("CrossEncoder", encoder), is_foreign=tells)
        assert (retrieve(demo_service, ranker, preset) == before) is is_foreign
        assert bool(encoder.lines) is not is_foreign


@dataclass(frozen=True)
class AlignedStub:
    """An embedder whose vectors lie among those of another, by its name."""

    trained_name: str
    name: str = "aligned@1"


@pytest.mark.parametrize(
    ("trained_on", "ranker"),
    [(shipped_scorer().embedder, "trained"), ("another@1", "similarity alone")],
)
def test_what_was_trained_reads_vectors_that_lie_among_its_own(
    demo_service: Service, trained_on: str, ranker: str
) -> None:
    rankers = CandidateRankers(demo_service.candidate_scorers)
    embedder = cast("Embedder", AlignedStub(trained_on))
    info = demo_service.graph("demo")
    opened = rankers.open(info, embedder, has_question_vector=False)
    assert opened.name.startswith(ranker)
    assert rankers.reads(info, embedder) is (ranker == "trained")


def test_the_cross_encoder_leaves_out_what_a_multilingual_embedder_calls_foreign(
    networks: NetworkRanker,
) -> None:
    english = MiniLM.load(find_model())
    # Nothing of the second encoder is called here.
    embedder = MultilingualEmbedder(english, cast("MiniLM", AlignedStub("", "second")), Alignment(
        np.eye(384), np.zeros(384), 0.4, "second", english.name, "ab" * 16
    ))  # fmt: skip
    ranker = with_reading(networks, embedder)
    assert isinstance(ranker, ReadingRanker)
    assert ranker.is_foreign == embedder.is_foreign
    assert cross_encoder_of(embedder) is cross_encoder_of(english)


def test_an_embedder_that_nobody_has_open_leaves_memory() -> None:
    embedder = MiniLM.load(find_model())
    assert cross_encoder_of(embedder) is cross_encoder_of(embedder)
    left = weakref.ref(embedder)
    del embedder
    gc.collect()
    assert left() is None


def test_an_encoder_of_other_weights_has_no_cross_encoder(tmp_path: Path) -> None:
    other = open_folder(make_encoder(tmp_path, ENCODERS["bert"]))
    assert cross_encoder_of(other) is None
    assert cross_encoder_of(cast("Embedder", object())) is None


def test_shipped_weights_are_of_the_encoder_that_ships_and_say_how_they_were_trained() -> None:
    weights = shipped_cross_weights()
    encoder = cross_encoder_of(MiniLM.load(find_model()))
    assert encoder is not None
    assert weights.notes["questions"] > 1_000
    right, wrong = encoder.scores(
        "who did Ada Lovelace marry?",
        [
            "Ada Lovelace -> spouse = William King (1)",
            "Ada Lovelace -> place of birth = London (1)",
        ],
    )
    assert right > wrong + 1.0
