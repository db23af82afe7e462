"""The encoder of AMR parses: graph attention over nodes, then attention by the question (L5).

Each layer lets a node read those that it leads to and those that lead to it, by attention of its
own for either direction (Velickovic and others 2018). What the question reads of the nodes, by
attention with the question's vector as its query, joins the hidden layer of the trained ranker.
LTGen has several heads and a BERT for the query; here is one head, and the embedder's vector.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.ranking import Bool, Float64
from graph_service.rank.parses import ParseBatch

LEAK = 0.2
_NOTHING = -1e30


@dataclass(frozen=True, slots=True, eq=False)
class GraphEncoder:
    """Weights; ``h`` is the width of a node, ``d`` and ``w`` as in ``Network``.

    Attributes:
        label: By label, [labels + 1, h]; the last row is that of all others.
        weight: Of what is read, by layer and direction, [layers, 2, h, h].
        left, right: Of attention, for who reads and what is read, [layers, 2, h].
        own: What a node keeps, [layers, h, h].
        query: From the question's vector, [d, h].
        start: The query where nothing is known, [h].
        join: To the hidden layer, [h, w].
    """

    label: Float64
    weight: Float64
    left: Float64
    right: Float64
    own: Float64
    query: Float64
    start: Float64
    join: Float64

    def joined(self, questions: Float64, batch: ParseBatch, /) -> Float64:
        """Returns what parses give the hidden layer, [questions, w]; 0 where there is none.

        Args:
            questions: Scaled vectors, [questions, d].
            batch: Their parses.
        """
        return self.forward(questions, batch).pooled @ self.join

    def forward(self, questions: Float64, batch: ParseBatch, /) -> Encoded:
        """Returns all that is computed on the way, for gradients."""
        states = [self.label[batch.nodes] * batch.real[:, :, None]]
        layers = []
        for layer in range(len(self.own)):
            reads = tuple(
                _attend(
                    states[-1],
                    links,
                    self.weight[layer, side],
                    self.left[layer, side],
                    self.right[layer, side],
                )
                for side, links in enumerate((batch.links, batch.links.transpose(0, 2, 1)))
            )
            summed = states[-1] @ self.own[layer] + reads[0].read + reads[1].read
            layers.append(reads)
            states.append(np.maximum(summed, 0.0) * batch.real[:, :, None])
        width = np.sqrt(len(self.start))
        query_state = (questions @ self.query + self.start) / width
        scores = np.einsum("bnh,bh->bn", states[-1], query_state)
        chances = _softmax(scores, batch.real)
        pooled = np.einsum("bn,bnh->bh", chances, states[-1])
        return Encoded(states, layers, query_state, chances, pooled)

    def gradients(
        self, questions: Float64, batch: ParseBatch, done: Encoded, back: Float64, /
    ) -> dict[str, Float64]:
        """Returns the gradient of each weight, by name.

        Args:
            questions: As in ``forward``.
            batch: As in ``forward``.
            done: What ``forward`` returned.
            back: Gradient of what joins the hidden layer, [questions, w].
        """
        width = np.sqrt(len(self.start))
        last = done.states[-1]
        of_pooled = back @ self.join.T
        of_chances = np.einsum("bh,bnh->bn", of_pooled, last)
        of_scores = done.chances * (
            of_chances - (of_chances * done.chances).sum(axis=1, keepdims=True)
        )
        of_query = np.einsum("bn,bnh->bh", of_scores, last) / width
        state = done.chances[:, :, None] * of_pooled[:, None, :]
        state += of_scores[:, :, None] * done.query_state[:, None, :]
        gradients = {
            "join": done.pooled.T @ back,
            "query": questions.T @ of_query,
            "start": of_query.sum(axis=0),
            "weight": np.zeros_like(self.weight),
            "left": np.zeros_like(self.left),
            "right": np.zeros_like(self.right),
            "own": np.zeros_like(self.own),
            "label": np.zeros_like(self.label),
        }
        for layer in reversed(range(len(self.own))):
            below = done.states[layer]
            summed = state * (done.states[layer + 1] > 0)
            gradients["own"][layer] = np.einsum("bnh,bnk->hk", below, summed)
            state = summed @ self.own[layer].T
            for side, attention in enumerate(done.layers[layer]):
                state += _attend_back(
                    below,
                    attention,
                    summed,
                    (self.weight[layer, side], self.left[layer, side], self.right[layer, side]),
                    (gradients["weight"][layer, side], gradients["left"][layer, side],
                     gradients["right"][layer, side]),
                )  # fmt: skip
        np.add.at(gradients["label"], batch.nodes, state * batch.real[:, :, None])
        return gradients


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """One reading of nodes by nodes: what was seen, its scores before and after, and what came."""

    seen: Float64
    line: Float64
    chances: Float64
    read: Float64


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """What ``GraphEncoder.forward`` computes.

    Attributes:
        states: Of the nodes, before and after each layer.
        layers: Both readings of each layer.
        query_state: The queries, [questions, h].
        chances: Attention of the question over the nodes, [questions, most].
        pooled: What it reads, [questions, h].
    """

    states: list[Float64]
    layers: list[tuple[Attention, ...]]
    query_state: Float64
    chances: Float64
    pooled: Float64


def _softmax(scores: Float64, allowed: Bool) -> Float64:
    """Over the last axis; all zero where nothing is allowed."""
    masked = np.where(allowed, scores, _NOTHING)
    powers = np.exp(masked - masked.max(axis=-1, keepdims=True)) * allowed
    total = powers.sum(axis=-1, keepdims=True)
    chances: Float64 = powers / np.where(total > 0, total, 1.0)
    return chances


def _attend(
    state: Float64, links: Bool, weight: Float64, left: Float64, right: Float64
) -> Attention:
    seen = state @ weight
    line = (seen @ left)[:, :, None] + (seen @ right)[:, None, :]
    chances = _softmax(np.where(line > 0, line, LEAK * line), links)
    return Attention(seen, line, chances, chances @ seen)


def _attend_back(
    state: Float64,
    attention: Attention,
    back: Float64,
    weights: tuple[Float64, Float64, Float64],
    gradients: tuple[Float64, Float64, Float64],
) -> Float64:
    """Adds the gradients of the weights to ``gradients``; returns that of the state."""
    weight, left, right = weights
    of_chances = back @ attention.seen.transpose(0, 2, 1)
    of_seen = attention.chances.transpose(0, 2, 1) @ back
    of_score = attention.chances * (
        of_chances - (of_chances * attention.chances).sum(axis=2, keepdims=True)
    )
    of_line = of_score * np.where(attention.line > 0, 1.0, LEAK)
    by_reader, by_seen = of_line.sum(axis=2), of_line.sum(axis=1)
    of_seen += by_reader[:, :, None] * left + by_seen[:, :, None] * right
    gradients[1][...] += np.einsum("bn,bnh->h", by_reader, attention.seen)
    gradients[2][...] += np.einsum("bn,bnh->h", by_seen, attention.seen)
    gradients[0][...] += np.einsum("bnh,bnk->hk", state, of_seen)
    of_state: Float64 = of_seen @ weight.T
    return of_state
