"""The scale of the confidence that `make train-confidence` fits: Platt's, on people's questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from graph_service.retrieve.learned.confidence import (
    INPUT_NAMES,
    AnswerConfidence,
    decode_confidence,
    shipped_confidence,
)
from queries.training.confidence import Scale, fit_scale, logits, scaled
from tools import confidence as command
from tools.confidence import FOLDS, WEIGHTS, Answered, Judged, judge_by_folds, scale_of, train


def test_scale_is_the_one_that_the_answers_bear_out() -> None:
    random = np.random.default_rng(0)
    unscaled = random.normal(1.0, 3.0, size=20_000)
    right = random.random(20_000) < expit(0.85 * unscaled - 0.58)
    scale = fit_scale(unscaled, right, np.ones(20_000))
    assert scale.factor == pytest.approx(0.85, abs=0.05)
    assert scale.shift == pytest.approx(-0.58, abs=0.08)


def test_scale_of_few_answers_is_bounded() -> None:
    # All surer ones are right: without Platt's targets the factor grows without end.
    scale = fit_scale(np.array([-1.0, 1.0]), np.array([False, True]), np.ones(2))
    assert expit(scale.factor + scale.shift) == pytest.approx(2 / 3, abs=1e-3)


def test_weights_count_in_the_scale() -> None:
    unscaled, right = np.array([-1.0, 1.0, 1.0]), np.array([False, True, False])
    twice = fit_scale(np.array([*unscaled, 1.0]), np.array([*right, False]), np.ones(4))
    weighted = fit_scale(unscaled, right, np.array([1.0, 1.0, 2.0]))
    assert weighted == pytest.approx(twice, abs=1e-4)


def test_no_scale_where_surer_answers_are_wrong() -> None:
    with pytest.raises(ValueError, match="more often"):
        fit_scale(np.array([-1.0, 1.0] * 9), np.array([True, False] * 9), np.ones(18))


@pytest.mark.parametrize("how", WEIGHTS)
def test_scale_takes_questions_with_and_without_an_answer(how: str) -> None:
    answered = Answered("webquestions", how, "", np.zeros(len(INPUT_NAMES)), True, 0.0)
    with pytest.raises(ValueError, match="with and without an answer"):
        scale_of([Judged(answered, 1.0)])


def test_scaled_confidence_says_the_scaled_logit() -> None:
    confidence = AnswerConfidence(tuple(map(float, range(len(INPUT_NAMES)))), -3.0, {"a": 1})
    inputs = np.linspace(0.1, 0.4, len(INPUT_NAMES))
    before = logits(confidence, inputs[None])[0]
    after = scaled(confidence, Scale(0.5, 0.25))
    assert after.probability(inputs) == pytest.approx(expit(0.5 * before + 0.25), abs=1e-4)
    assert after.notes == confidence.notes


def _answers() -> list[Answered]:
    """People's answers are right less often than chains' with the same inputs, and there are fewer
    of them, as in what trains the confidence that ships.
    """
    random = np.random.default_rng(2)

    def answer(family: str, how: str, number: int, shift: float) -> Answered:
        inputs = random.normal(size=len(INPUT_NAMES))
        is_right = bool(random.random() < expit(2.0 * inputs[0] + shift))
        return Answered(family, how, f"question {number}", inputs, is_right, 0.0)

    chains = [answer("metaqa", "as it is", n, 3.0) for n in range(2_000)]
    peoples = [answer("webquestions", "as it is", n, 1.0) for n in range(800)]
    withheld = [answer("webquestions", "withheld", n, -3.0) for n in range(400)]
    others = [answer("simplequestions", how, n, 1.0) for how in WEIGHTS for n in range(9)]
    return [*chains, *peoples, *withheld, *others]


def test_trained_confidence_says_how_often_people_are_answered_right() -> None:
    answers = _answers()
    trained = train(answers)
    of_people = [each for each in answers if each.family == "webquestions"]
    can_answer = [each for each in of_people if each.how == "as it is"]
    cannot = [each for each in of_people if each.how == "withheld"]
    # One in five cannot be answered: 400 withheld ones count as half as many.
    rows = [*can_answer, *cannot[:200]]
    mean_confidence = np.mean(
        [trained.probability(each.inputs) for each in rows if each.inputs is not None]
    )
    assert mean_confidence == pytest.approx(np.mean([each.is_right for each in rows]), abs=0.03)


def test_file_says_which_rows_the_scale_is_of() -> None:
    answers = _answers()
    notes = train(answers).notes["scaled"]
    scale = scale_of(judge_by_folds(answers))
    assert (notes["factor"], notes["shift"]) == pytest.approx(scale, abs=1e-4)
    counts = Counter(f"{each.family}, {each.how}" for each in answers if each.fold is not None)
    assert notes["rows"] == counts
    assert notes["questions"] == 1_227


def test_no_answer_is_judged_by_weights_that_it_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = _answers()
    trained_on: list[int] = []

    def constant(inputs: np.ndarray, *_: object) -> AnswerConfidence:
        trained_on.append(len(inputs))
        return AnswerConfidence((0.0,) * len(INPUT_NAMES), float(len(trained_on)))

    monkeypatch.setattr(command, "train_confidence", constant)
    judged = judge_by_folds(answers)
    folds = [each.answered.fold for each in judged]
    assert [each.logit for each in judged] == [fold + 1.0 for fold in folds if fold is not None]
    sizes = Counter(folds)
    assert trained_on == [len(answers) - sizes[fold] for fold in range(FOLDS)]
    # What was done to a question does not part it from itself.
    by_text: dict[str, set[int | None]] = {}
    for each in judged:
        by_text.setdefault(each.answered.text, set()).add(each.answered.fold)
    assert all(len(folds) == 1 for folds in by_text.values())


def test_training_one_input_keeps_the_scale_that_ships() -> None:
    later = train(_answers(), only={"computed"})
    shipped = shipped_confidence()
    assert later.notes["scaled"] == shipped.notes["scaled"]
    computed = INPUT_NAMES.index("computed")
    for index, (weight, before) in enumerate(zip(later.weights, shipped.weights, strict=True)):
        assert (weight == before) == (index != computed)


def test_command_writes_scaled_weights_and_says_the_scale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = _answers()

    def recorded(*_: object) -> Iterator[Answered]:
        return iter(answers)

    monkeypatch.setattr(command, "record", recorded)
    out = tmp_path / "confidence.json"
    arguments: Sequence[str] = [str(tmp_path), "--out", str(out)]
    assert command.main(arguments) == 0
    written = decode_confidence(out.read_bytes())
    assert written.weights == pytest.approx(train(answers).weights, abs=1e-6)
    scale = scale_of(judge_by_folds(answers))
    printed = capsys.readouterr().out
    assert f"the logit times {scale.factor:.3f}, plus {scale.shift:.3f}" in printed
    assert "\n809 of people" in printed


def test_shipped_file_says_which_rows_it_was_scaled_by() -> None:
    notes = shipped_confidence().notes["scaled"]
    assert sum(notes["rows"].values()) == notes["questions"] > 200
