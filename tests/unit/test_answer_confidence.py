"""The confidence of first answers: its training, its file, and the status that it decides (B12)."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from cli_runs import Cli
from error_texts import raises

from graph_service.api.schema import execute
from graph_service.errors import InputError
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Status, Strategy
from graph_service.retrieve.constraints import choosing
from graph_service.retrieve.constraints.doubts import UNSAID
from graph_service.retrieve.learned.confidence import (
    DOUBTED,
    INPUT_NAMES,
    AnswerConfidence,
    decode_confidence,
    encode_confidence,
    margin_of,
    shipped_confidence,
)
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.retrieve.learned.similarity_ranker import SimilarityRanker
from graph_service.retrieve.preset import LEARNED
from graph_service.service import Service
from queries.training.confidence import train_confidence
from queries.training.set_calibration import conformal_gaps


def test_training_finds_which_input_tells() -> None:
    random = np.random.default_rng(0)
    inputs = random.normal(size=(8_000, len(INPUT_NAMES)))
    right = random.random(8_000) < 1.0 / (1.0 + np.exp(-(2.0 * inputs[:, 1] - 1.0)))
    found = train_confidence(inputs, right, np.ones(8_000))
    assert found.weights[1] == pytest.approx(2.0, abs=0.25)
    assert found.bias == pytest.approx(-1.0, abs=0.2)
    weights = dict(zip(INPUT_NAMES, found.weights, strict=True))
    weights.pop(INPUT_NAMES[1])
    assert max(map(abs, weights.values())) < 0.2
    # Of those that are called right with .8 to .9, so many are.
    probability = np.array([found.probability(row) for row in inputs])
    near = (probability > 0.8) & (probability < 0.9)
    assert right[near].mean() == pytest.approx(0.85, abs=0.06)


def test_file_gives_back_the_weights_and_refuses_others() -> None:
    gaps = {0.5: 0.25, 0.9: 2.0}
    confidence = AnswerConfidence(tuple(range(len(INPUT_NAMES))), -0.5, {"questions": 3}, gaps)
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


@pytest.mark.parametrize(
    "question",
    [
        "How many children does Robert F. Kennedy have?",
        "Who is older, John F. Kennedy or Robert F. Kennedy?",
        "Is Maria Shriver married to Arnold Schwarzenegger?",
        "Where was Arnold Schwarzenegger born?",
        "What is the shoe size of Maria Shriver?",
        "Which children of Robert F. Kennedy were born after 1960?",
        "Who is the lawyer of John F. Kennedy?",
        "Tell me all about Maria Shriver",
    ],
)
def test_status_and_confidence_agree(demo_service: Service, question: str) -> None:
    result = demo_service.retrieve(RetrieveRequest(question, Strategy.PATHS))
    assert result.confidence is not None
    is_probable = result.confidence >= LEARNED.min_confidence
    assert (result.status is Status.OK) == is_probable, (result.status, result.confidence)


def test_published_wordings_outweigh_a_doubt_with_the_cross_encoder_alone(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "first_doubt", lambda *_, **__: UNSAID)
    request = RetrieveRequest("Who is Maria Shriver's husband?", Strategy.PATHS)
    with_reading = demo_service.retrieve(request)
    with demo_service.ranking_by(NetworkRanker(shipped_scorer())):
        without = demo_service.retrieve(request)
    assert with_reading.status is Status.OK
    assert without.confidence == DOUBTED


def test_training_keeps_what_it_is_told_to() -> None:
    random = np.random.default_rng(1)
    inputs = random.normal(size=(4_000, len(INPUT_NAMES)))
    computed = INPUT_NAMES.index("computed")
    right = random.random(4_000) < 1.0 / (1.0 + np.exp(-2.0 * inputs[:, computed]))
    start = AnswerConfidence((0.0,) * len(INPUT_NAMES), 0.0)
    later = train_confidence(inputs, right, np.ones(4_000), start=start, only={"computed"})
    assert later.bias == 0.0
    assert later.weights[computed] == pytest.approx(2.0, abs=0.25)
    assert not any(weight for place, weight in enumerate(later.weights) if place != computed)


def test_a_set_of_readings_grows_with_its_coverage(demo_service: Service) -> None:
    question = "In which city is the university that Anna Faris attended?"
    request = RetrieveRequest(question, Strategy.PATHS, limit=2)
    assert demo_service.retrieve(request).answer_set is None
    sets = [
        demo_service.retrieve(replace(request, coverage=share)).answer_set
        for share in (0.5, 0.8, 0.9)
    ]
    texts = [[reading.text for reading in each.readings] for each in sets if each is not None]
    assert len(texts) == 3
    assert len(texts[0]) <= len(texts[1]) <= len(texts[2])
    assert len(texts[0]) < len(texts[2])
    for smaller, larger in pairwise(texts):
        assert larger[: len(smaller)] == smaller
    last = sets[2]
    assert last is not None
    assert last.is_attained
    assert last.readings[0].gap == 0.0
    gaps = [reading.gap for reading in last.readings]
    assert gaps == sorted(gaps, reverse=True)
    assert -gaps[-1] <= shipped_confidence().gap(0.9)
    # A reading that answers nothing new makes no set larger.
    seen: set[str] = set()
    for reading in last.readings:
        assert not seen.issuperset(reading.values)
        seen.update(reading.values)
        assert len(reading.values) == len(reading.labels) <= reading.count


def test_api_and_command_line_give_the_set(demo_service: Service, demo_cli: Cli) -> None:
    question = "Who is the brother of John F. Kennedy?"
    document = """query($input: RetrieveInput!) { paths(input: $input) { answerSet {
        coverage isAttained readings { text gap values labels count } } } }"""
    given = {"question": question, "coverage": 0.9}
    response = execute(demo_service, document, {"input": given})
    answer_set = response["data"]["paths"]["answerSet"]
    assert answer_set["isAttained"]
    first = answer_set["readings"][0]
    assert "Q25310" in first["values"]
    assert len(first["labels"]) == len(first["values"]) <= first["count"]
    lines = demo_cli("retrieve", question, "--coverage", "0.9").out.splitlines()
    count = len(answer_set["readings"])
    at = lines.index(f"one of these {count} readings is right in 90% of such questions:")
    for line, reading in zip(lines[at + 1 :], answer_set["readings"], strict=False):
        assert reading["labels"][0] in line
        assert reading["text"] in line


def test_no_set_is_made_of_a_computed_answer(demo_service: Service) -> None:
    request = RetrieveRequest("How many siblings does Maria Shriver have?", coverage=0.9)
    assert demo_service.retrieve(request).answer_set is None


def test_a_coverage_that_the_calibration_did_not_reach_gives_all_readings(
    demo_service: Service,
) -> None:
    request = RetrieveRequest("Who is Maria Shriver's husband?", coverage=0.99)
    answer_set = demo_service.retrieve(request).answer_set
    assert answer_set is not None
    assert not answer_set.is_attained
    assert len(answer_set.readings) > 10
    with pytest.raises(InputError, match="coverage"):
        demo_service.retrieve(replace(request, coverage=0.4))


def test_conformal_gaps_hold_the_share_that_they_say() -> None:
    random = np.random.default_rng(1)
    held = []
    for _ in range(400):
        gaps = random.exponential(size=60)
        weights = AnswerConfidence((), 0.0, gaps=conformal_gaps(gaps[:59].tolist()))
        held.append(gaps[59] <= weights.gap(0.9))
    assert np.mean(held) == pytest.approx(0.9, abs=0.045)
    # One in four has no right reading: no set holds the right one in .9.
    reached = conformal_gaps([0.0, 1.0, 2.0, math.inf] * 20)
    assert max(reached) == pytest.approx(0.74, abs=0.011)
    assert AnswerConfidence((), 0.0, gaps=reached).gap(0.9) == math.inf


def test_other_presets_refuse_a_least_confidence(demo_service: Service) -> None:
    request = RetrieveRequest("Who is Maria Shriver's husband?", preset="okgqa", min_confidence=0.5)
    with raises(InputError):
        demo_service.retrieve(request)


def test_similarity_alone_has_no_confidence(demo_service: Service) -> None:
    request = RetrieveRequest("Who is Maria Shriver's husband?", Strategy.PATHS)
    with demo_service.ranking_by(SimilarityRanker()):
        result = demo_service.retrieve(request)
    assert result.confidence is None
    assert result.status is Status.OK
    assert result.provenance.parameters["ranker"] == "similarity alone"
