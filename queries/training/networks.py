"""Training of the scorer: each question's right candidates against its others.

Two networks of one hidden layer each learn by listwise softmax: of all candidates of a question the
right ones are to get the probability. Every family of questions weighs the same, however many it
has. Adam, a falling learning rate, and whole inputs left out at random against overfitting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from graph_service.retrieve.learned.network import CandidateScorer, Networks
from queries.training.examples import Example

Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """How networks are trained.

    Attributes:
        width: Units of the hidden layer.
        networks: Networks that are averaged, each from a random seed of its own.
        epochs: How often a question is looked at, on average, up to ``most_questions`` of them.
        most_questions: Questions that one epoch looks at.
        batch: Questions a step.
        learning_rate, decay: Of Adam, and of weights.
        left_out: Share of inputs that a step leaves out.
        most_candidates: Candidates of a question that are looked at; right ones always are.
        random_seed: Of all draws; two of them share no network.
    """

    width: int = 24
    networks: int = 3
    epochs: float = 10.0
    most_questions: int = 5_000
    batch: int = 64
    learning_rate: float = 4e-3
    decay: float = 1e-3
    left_out: float = 0.1
    most_candidates: int = 64
    random_seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Lists:
    """The candidates of q questions, one after the other: n rows."""

    inputs: Float32
    right: npt.NDArray[np.float32]
    begin: npt.NDArray[np.int64]
    family: list[str]


def train_first(
    examples: Sequence[Example],
    /,
    *,
    options: TrainingOptions | None = None,
    weights: Mapping[str, float] | None = None,
) -> Networks:
    """Returns networks that score every candidate.

    Args:
        examples: Of at least one question.
        options: How.
        weights: Of families; 1 where a family is not named.

    Raises:
        InputError: There are no examples.
    """
    options = options or TrainingOptions()
    rows = [(each.described, each.right, each.family) for each in examples]
    return _train(_lists(rows, options), options, weights or {})


def train_final(
    examples: Sequence[Example],
    /,
    *,
    options: TrainingOptions | None = None,
    weights: Mapping[str, float] | None = None,
) -> Networks:
    """Returns networks that score the candidates whose sequences are put into words."""
    options = options or TrainingOptions()
    rows = [
        (each.inputs, each.right[each.finalists], each.family)
        for each in examples
        if len(each.finalists)
    ]
    return _train(_lists(rows, options), options, weights or {})


def train_scorer(
    examples: Sequence[Example],
    /,
    *,
    embedder: str,
    data: str,
    options: TrainingOptions | None = None,
    weights: Mapping[str, float] | None = None,
    notes: Mapping[str, object] | None = None,
) -> CandidateScorer:
    """Returns both networks, trained on examples whose best candidates are in words."""
    return CandidateScorer(
        train_first(examples, options=options, weights=weights),
        train_final(examples, options=options, weights=weights),
        embedder,
        data,
        dict(notes or {}),
    )


def _lists(
    rows: Sequence[tuple[Float32, npt.NDArray[np.bool_], str]], options: TrainingOptions
) -> _Lists:
    random = np.random.default_rng(options.random_seed)
    inputs, right, family, begin = [], [], [], [0]
    for of_question, good, name in rows:
        if not good.any() or good.all():
            continue
        selected = np.arange(len(good))
        if len(selected) > options.most_candidates:
            sample = random.choice(len(good), options.most_candidates, replace=False)
            selected = np.union1d(np.flatnonzero(good), sample)
        inputs.append(of_question[selected])
        right.append(good[selected].astype(np.float32))
        family.append(name)
        begin.append(begin[-1] + len(selected))
    if not inputs:
        raise InputError("there is no question with a right candidate and a wrong one")
    return _Lists(np.concatenate(inputs), np.concatenate(right), np.array(begin), family)


def _train(lists: _Lists, options: TrainingOptions, weights: Mapping[str, float]) -> Networks:
    mean = lists.inputs.mean(axis=0)
    scale = lists.inputs.std(axis=0) + np.float32(0.05)
    reduced = (lists.inputs - mean) / scale
    trained = [
        _train_one(reduced, lists, options, weights, options.random_seed * options.networks + index)
        for index in range(options.networks)
    ]
    inner, bias, outer, direct = (
        np.stack([each[part] for each in trained]).astype(np.float64) for part in range(4)
    )
    return Networks(mean.astype(np.float64), scale.astype(np.float64), inner, bias, outer, direct)


def _train_one(
    inputs: Float32,
    lists: _Lists,
    options: TrainingOptions,
    weights: Mapping[str, float],
    random_seed: int,
) -> list[Float32]:
    random = np.random.default_rng(random_seed)
    count, width = inputs.shape[1], options.width
    parameters: list[Float32] = [
        random.normal(0.0, 0.5 / np.sqrt(count), (count, width)).astype(np.float32),
        np.zeros(width, dtype=np.float32),
        random.normal(0.0, 1.0 / np.sqrt(width), width).astype(np.float32),
        np.zeros(count, dtype=np.float32),
    ]
    decays = (options.decay, 0.0, options.decay, 0.1 * options.decay)
    first = [np.zeros_like(each) for each in parameters]
    second = [np.zeros_like(each) for each in parameters]
    sizes = np.diff(lists.begin)
    share = _shares(lists.family, weights)
    steps = max(int(options.epochs * min(len(sizes), options.most_questions) / options.batch), 1)
    for step in range(steps):
        sample = random.choice(len(sizes), options.batch, p=share)
        rows = np.concatenate(
            [np.arange(lists.begin[i], lists.begin[i + 1]) for i in sample.tolist()]
        )
        mask = np.where(random.random(count) > options.left_out, 1.0, 0.0).astype(np.float32)
        gradients = _gradients(parameters, inputs[rows] * mask, lists.right[rows], sizes[sample])
        rate = options.learning_rate * max(0.02, 1.0 - step / steps)
        for part, gradient in enumerate(gradients):
            gradient = gradient + np.float32(decays[part]) * parameters[part]
            first[part] = 0.9 * first[part] + 0.1 * gradient
            second[part] = 0.999 * second[part] + 0.001 * gradient * gradient
            step_size = first[part] / (1.0 - 0.9 ** (step + 1))
            spread = np.sqrt(second[part] / (1.0 - 0.999 ** (step + 1))) + 1e-8
            parameters[part] = (parameters[part] - rate * step_size / spread).astype(np.float32)
    return parameters


def _shares(families: Sequence[str], weights: Mapping[str, float]) -> npt.NDArray[np.float64]:
    """Returns how often each question is drawn: families weigh alike, but for ``weights``."""
    names, family_index, counts = np.unique(
        np.array(families), return_inverse=True, return_counts=True
    )
    of_family = np.array([weights.get(str(name), 1.0) for name in names]) / counts
    share: npt.NDArray[np.float64] = of_family[family_index] / of_family[family_index].sum()
    return share


def _gradients(
    parameters: Sequence[Float32],
    inputs: Float32,
    right: npt.NDArray[np.float32],
    sizes: npt.NDArray[np.int64],
) -> list[Float32]:
    """Returns the gradients of the mean of ``-log P(right)`` over some questions."""
    inner, bias, outer, direct = parameters
    begin = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes)[:-1]))
    question = np.repeat(np.arange(len(sizes)), sizes)
    hidden = np.maximum(inputs @ inner + bias, 0.0)
    score = hidden @ outer + inputs @ direct
    weight = np.exp(score - np.maximum.reduceat(score, begin)[question])
    share = weight / np.add.reduceat(weight, begin)[question]
    of_right = share * right
    known = np.add.reduceat(of_right, begin) + 1e-9
    error = ((share - of_right / known[question]) / len(sizes)).astype(np.float32)
    back = error[:, None] * outer * (hidden > 0.0)
    return [inputs.T @ back, back.sum(axis=0), hidden.T @ error, inputs.T @ error]
