"""Training of the trained ranker's network: cross-entropy over its relations, by Adam."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from graph_service.model.ranking import Float32, Float64, Int64
from graph_service.rank.graph_encoder import GraphEncoder
from graph_service.rank.neural_head import WORDS_DROPPED, Network, length, word_weights
from graph_service.rank.parses import ParseBatch
from graph_service.rank.words import Int32

WIDTH = 256
EPOCHS = 6
BATCH = 256
RATE = 1e-3
DECAY = 0.02
NODE_WIDTH = 48
LAYERS = 2
GRAPH_EPOCHS = 24
"""Passes over the examples where parses are read: an encoder of graphs learns more slowly."""
DROPPED = 0.3
"""Share of hidden units left out of a step; of words ``WORDS_DROPPED`` are."""


def begin_network(d: int, terms: int, n: int, random: np.random.Generator, /) -> Network:
    """Returns weights before training, which correct nothing."""
    word = 0.05 * random.standard_normal((terms + 1, WIDTH))
    word[terms] = 0.0
    return Network(
        (random.standard_normal((d, WIDTH)) / np.sqrt(d)).astype(np.float32),
        word.astype(np.float32),
        np.zeros(WIDTH, dtype=np.float32),
        np.zeros((WIDTH, n), dtype=np.float32),
        np.zeros((d, n), dtype=np.float32),
        np.zeros(n, dtype=np.float32),
    )


def begin_encoder(d: int, labels: int, random: np.random.Generator, /) -> GraphEncoder:
    """Returns the weights of an encoder of parses before training."""
    h = NODE_WIDTH

    def normal(*shape: int, size: float) -> Float64:
        return size * random.standard_normal(shape)

    return GraphEncoder(
        label=normal(labels + 1, h, size=0.5),
        weight=normal(LAYERS, 2, h, h, size=1 / np.sqrt(h)),
        left=normal(LAYERS, 2, h, size=0.1),
        right=normal(LAYERS, 2, h, size=0.1),
        own=normal(LAYERS, h, h, size=1 / np.sqrt(h)),
        query=normal(d, h, size=0.1 / np.sqrt(d)),
        start=normal(h, size=0.1),
        join=normal(h, WIDTH, size=1 / np.sqrt(h)),
    )


def train_network(
    questions: Float32,
    terms: Int32,
    relation: Int64,
    prior: Float64,
    similarity: Float64,
    /,
    *,
    term_count: int,
    random: np.random.Generator,
    graphs: tuple[GraphEncoder, ParseBatch] | None = None,
) -> Network:
    """Returns a network trained by cross-entropy over the trained relations (Adam).

    Args:
        questions: Vectors, float32 [questions, d].
        terms: Their words, int32 [questions, most].
        relation: Number of each question's relation.
        prior: Scores of the prototypes, which are corrected, [questions, n].
        similarity: Of the trained relations among each other, [n, n].
        term_count: Words and pairs that there are.
        random: Draws the beginning, the order and what is left out.
        graphs: An encoder of parses, which is trained in place, and each question's parse.
    """
    network = begin_network(questions.shape[1], term_count, similarity.shape[1], random)
    shared = similarity.astype(np.float32)
    scaled: Float32 = questions * length(questions)
    offsets = prior.astype(np.float32)
    batches = max(len(questions) // BATCH, 1)
    epochs = EPOCHS if graphs is None else GRAPH_EPOCHS
    adam = _Adam(network, epochs * batches)
    of_graphs = None if graphs is None else _Adam(graphs[0], epochs * batches)
    # The products are small: shared among threads they take ten times as long.
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(epochs):
            order = random.permutation(len(questions))
            for batch in np.array_split(order, batches):
                read = None if graphs is None else _Read.of(graphs, scaled[batch], batch)
                gradients = _gradients(
                    network,
                    scaled[batch],
                    terms[batch],
                    relation[batch],
                    offsets[batch],
                    shared,
                    random,
                    read,
                )
                adam.step(gradients)
                if read is not None and of_graphs is not None:
                    of_graphs.step(read.gradients)
    return network


class _Read:
    """What an encoder reads of the parses of a batch, and its gradients once they are known."""

    def __init__(self, encoder: GraphEncoder, questions: Float64, parses: ParseBatch) -> None:
        self._encoder, self._questions, self._parses = encoder, questions, parses
        self._done = encoder.forward(questions, parses)
        self.joined: Float32 = (self._done.pooled @ encoder.join).astype(np.float32)
        self.gradients: dict[str, Float64] = {}

    @classmethod
    def of(cls, graphs: tuple[GraphEncoder, ParseBatch], inputs: Float32, batch: Int64, /) -> _Read:
        encoder, parses = graphs
        return cls(encoder, inputs.astype(np.float64), parses.part(batch))

    def learn(self, back: Float32) -> None:
        """Takes the gradient of the hidden layer."""
        self.gradients = self._encoder.gradients(
            self._questions, self._parses, self._done, back.astype(np.float64)
        )


def _gradients(
    network: Network,
    inputs: Float32,
    terms: Int32,
    relation: Int64,
    offsets: Float32,
    shared: Float32,
    random: np.random.Generator,
    read: _Read | None = None,
) -> dict[str, Float32]:
    rows = np.arange(len(inputs))
    word_mask = (random.random(terms.shape, dtype=np.float32) >= WORDS_DROPPED).astype(np.float32)
    hidden = inputs @ network.vector + network.bias + network.from_words(terms, word_mask)
    if read is not None:
        hidden += read.joined
    mask = (random.random(hidden.shape, dtype=np.float32) >= DROPPED) & (hidden > 0)
    gate = mask.astype(np.float32) / np.float32(1.0 - DROPPED)
    active = hidden * gate
    scores = (active @ network.out + inputs @ network.direct + network.level) @ shared.T + offsets
    scores -= scores.max(axis=1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=1, keepdims=True)
    scores[rows, relation] -= 1.0
    scores /= len(inputs)
    wrong = scores @ shared
    back = (wrong @ network.out.T) * gate
    if read is not None:
        read.learn(back)
    return {
        "vector": inputs.T @ back,
        "word": _word_gradient(network, terms, word_mask, back),
        "bias": back.sum(axis=0),
        "out": active.T @ wrong,
        "direct": inputs.T @ wrong,
        "level": wrong.sum(axis=0),
    }


def _word_gradient(network: Network, terms: Int32, mask: Float32, back: Float32) -> Float32:
    padding = len(network.word) - 1
    weights = (word_weights(terms, padding) * mask).reshape(-1)
    nonzero = np.flatnonzero(weights)
    numbers = terms.reshape(-1)[nonzero]
    order = np.argsort(numbers, kind="stable")
    nonzero, numbers = nonzero[order], numbers[order]
    gradient = np.zeros_like(network.word)
    if len(nonzero):
        distinct, first = np.unique(numbers, return_index=True)
        spread = back[nonzero // terms.shape[1]] * weights[nonzero][:, None]
        gradient[distinct] = np.add.reduceat(spread, first, axis=0)
    return gradient


class _Adam:
    """Adam with weight decay apart from the gradient, its rate falling to nothing.

    Kingma and Ba 2015; Loshchilov and Hutter 2019.
    """

    def __init__(self, network: Network | GraphEncoder, steps: int) -> None:
        self._weights: dict[str, npt.NDArray[Any]] = {
            field.name: getattr(network, field.name) for field in fields(network)
        }
        self._mean = {name: np.zeros_like(weight) for name, weight in self._weights.items()}
        self._square = {name: np.zeros_like(weight) for name, weight in self._weights.items()}
        self._steps = steps
        self._done = 0

    def step(self, gradients: Mapping[str, npt.NDArray[Any]]) -> None:
        """Moves all weights, in place."""
        self._done += 1
        rate = RATE * (1.0 - self._done / self._steps) + 1e-6
        for name, gradient in gradients.items():
            mean, square = self._mean[name], self._square[name]
            mean += np.float32(0.1) * (gradient - mean)
            square += np.float32(0.001) * (gradient * gradient - square)
            move = np.sqrt(square / np.float32(1.0 - 0.999**self._done)) + np.float32(1e-8)
            np.divide(mean / np.float32(1.0 - 0.9**self._done), move, out=move)
            weight = self._weights[name]
            move += np.float32(DECAY) * weight
            weight -= np.float32(rate) * move
