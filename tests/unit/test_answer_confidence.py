"""The confidence of first answers: its training, its file, and the status that it decides (B12)."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from graph_service.errors import InputError
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Status, Strategy
from graph_service.retrieve.learned.confidence import (
    INPUT_NAMES,
    AnswerConfidence,
    decode_confidence,
    encode_confidence,
    margin_of,
    shipped_confidence,
)
from graph_service.retrieve.learned.similarity_ranker import SimilarityRanker
from graph_service.retrieve.preset import LEARNED
from graph_service.service import Service
from queries.training.confidence import train_confidence


def test_training_finds_which_input_tells() -> None:
    random = np.random.default_rng(0)
    inputs = random.normal(size=(2_000, len(INPUT_NAMES)))
    right = random.random(2_000) < 1.0 / (1.0 + np.exp(-(2.0 * inputs[:, 1] - 1.0)))
    found = train_confidence(inputs, right, np.ones(2_000))
    assert found.weights[1] == pytest.approx(2.0, abs=0.25)
    assert found.bias == pytest.approx(-1.0, abs=0.2)
    assert max(abs(weight) for place, weight in enumerate(found.weights) if place != 1) < 0.2
    # Of those that are called right with .8 to .9, so many are.
    probability = np.array([found.probability(row) for row in inputs])
    near = (probability > 0.8) & (probability < 0.9)
    assert right[near].mean() == pytest.approx(0.85, abs=0.06)


def test_file_gives_back_the_weights_and_refuses_others() -> None:
    confidence = AnswerConfidence(tuple(range(len(INPUT_NAMES))), -0.5, {"questions": 3})
    text = encode_confidence(confidence)
    assert decode_confidence(text) == confidence
    held = json.loads(text)
    held["weights"].pop("margin")
    with pytest.raises(InputError, match="of other inputs"):
        decode_confidence(json.dumps(held))


def test_margin_is_bounded() -> None:
    assert [margin_of(np.array(each)) for each in ([9.0, 1.0], [1.0, 1.0])] == [4.0, 0.0]


def test_shipped_weights_have_the_signs_that_their_inputs_mean() -> None:
    weights = dict(zip(INPUT_NAMES, shipped_confidence().weights, strict=True))
    assert weights.pop("in_other_name") < 0.0
    assert all(weight > 0.0 for weight in weights.values()), weights


def test_confidence_decides_the_status(demo_service: Service) -> None:
    request = RetrieveRequest("Who is Maria Shriver's husband?", Strategy.PATHS, preset="default-6")
    sure = demo_service.retrieve(request)
    assert sure.confidence is not None
    assert sure.confidence > 0.85
    assert sure.status is Status.OK
    doubtful = demo_service.retrieve(
        RetrieveRequest(
            "Which cheese does Maria Shriver prefer?", Strategy.PATHS, preset="default-6"
        )
    )
    assert doubtful.confidence is not None
    assert doubtful.confidence < 0.6
    assert doubtful.status is Status.LOW_CONFIDENCE


def test_a_caller_sets_the_least_confidence(demo_service: Service) -> None:
    sure = RetrieveRequest("Who is Maria Shriver's husband?", Strategy.PATHS)
    doubtful = RetrieveRequest(
        "In which city is the university that Anna Faris attended?", Strategy.PATHS
    )
    # What is computed has to be as sure as all else, where a caller asks for more than the preset.
    computed = RetrieveRequest("How many children does Robert F. Kennedy have?", Strategy.PATHS)
    for request, least, status in (
        (sure, None, Status.OK),
        (sure, 1.0, Status.LOW_CONFIDENCE),
        (doubtful, 0.6, Status.LOW_CONFIDENCE),
        (doubtful, 0.001, Status.OK),
        (computed, None, Status.OK),
        (computed, 1.0, Status.LOW_CONFIDENCE),
    ):
        result = demo_service.retrieve(replace(request, min_confidence=least))
        assert result.status is status, (request.question, least)
        bound = LEARNED.min_confidence if least is None else least
        assert result.provenance.parameters["min_confidence"] == bound


def test_other_presets_refuse_a_least_confidence(demo_service: Service) -> None:
    request = RetrieveRequest("Who is Maria Shriver's husband?", preset="okgqa", min_confidence=0.5)
    with pytest.raises(InputError, match="okgqa-2 has no min_confidence; default-6 has"):
        demo_service.retrieve(request)


def test_similarity_alone_has_no_confidence(demo_service: Service) -> None:
    request = RetrieveRequest("Who is Maria Shriver's husband?", Strategy.PATHS)
    with demo_service.ranking_by(SimilarityRanker()):
        result = demo_service.retrieve(request)
    assert result.confidence is None
    assert result.status is Status.OK
    assert result.provenance.parameters["ranker"] == "similarity alone"
