"""Entities and relations as complex vectors, trained on a graph's own triples in numpy.

The model is ComplEx with reciprocal relations (Trouillon et al. 2016; Lacroix et al. 2018): the
score of a triple is ``Re(sum(h * r * conj(t)))``, and each relation has a second vector for the
way back. Each (head, relation) is trained to rank its tails above all other entities (softmax),
or above a sample of them in a large graph, under the nuclear 3-norm penalty and with Adagrad.
Relations are ranked for their pair of ends alike. The binary objective asks instead of each
entity compared whether it is a tail: it knows less of order and more of how likely a triple is.
Where entities have text, an entity's vector is a learnt image of its text's vector plus one of
its own, which is left out half of the time: an entity seen little is known by its text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Bool, Int32, Int64
from graph_service.model.limits import Deadline

Float32 = npt.NDArray[np.float32]

MAX_COMPARED = 4_096
"""Entities up to which every tail is compared with all of them."""

_SCALE = 0.1
_PRIOR = np.float32(-4.0)
"""Log-odds of any triple, which the binary objective starts from."""

_TINY = np.float32(1e-8)
_TEXT_RATE = 0.2
"""Share of the rate at which the image of texts learns: one step moves all entities."""


class Objective(StrEnum):
    """What factors are trained to do."""

    RANKING = "ranking"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Training:
    """How factors are trained.

    Attributes:
        objective: To rank tails, or to tell tails from others.
        dimension: Complex numbers a vector.
        epochs: Passes over the triples.
        batch: Pairs of head and relation a step.
        rate: Adagrad's.
        penalty: Weight of the sum of third powers, for each triple.
        dropout: Share of a query's numbers that are left out in a step.
        sampled: Entities a tail is compared with, where there are more than ``MAX_COMPARED``.
    """

    objective: Objective = Objective.RANKING
    dimension: int = 256
    epochs: int = 24
    batch: int = 512
    rate: float = 0.1
    penalty: float = 0.2
    dropout: float = 0.2
    sampled: int = 2_048


@dataclass(frozen=True, slots=True, eq=False)
class Factors:
    """Vectors of a graph; the real parts first, then the imaginary ones.

    Attributes:
        entity: float32 [N, 2 d].
        relation: Forward, then backward relations: float32 [2 R, 2 d].
    """

    entity: Float32
    relation: Float32


class Trainer:
    """Trains factors, on one set of triples after the other.

    Args:
        node_count: Entities are 0 to N - 1.
        relation_count: Relations are 0 to R - 1.
        text: Vectors of the entities' texts, zero where there is none, float32 or float16 [N, k];
            None where no entity has text.
        training: How.
        random: Draws beginnings, batches and samples.
    """

    def __init__(
        self,
        node_count: int,
        relation_count: int,
        /,
        *,
        text: npt.NDArray[np.floating] | None = None,
        training: Training,
        random: np.random.Generator,
    ) -> None:
        width = 2 * training.dimension
        self._training = training
        self._random = random
        self._relations = relation_count
        self._entity = _normal(random, node_count, width)
        self._relation = _normal(random, 2 * relation_count, width)
        self._squares = [np.full_like(self._entity, _TINY), np.full_like(self._relation, _TINY)]
        self._text = text
        self._described: Bool = np.zeros(node_count, dtype=np.bool_)
        self._met: Bool = np.zeros(node_count, dtype=np.bool_)
        self._image = np.zeros((0, width), dtype=np.float32)
        if text is not None:
            self._described = np.asarray((text != 0).any(axis=1))
            self._entity[self._described] = 0.0
            self._image = _normal(random, text.shape[1], width)
        self._squares.append(np.full_like(self._image, _TINY))

    def factors(self) -> Factors:
        """Returns the vectors as they are now."""
        everyone = np.arange(len(self._entity))
        return Factors(self._rows(everyone, None), self._relation.copy())

    def run(
        self,
        head: Int32,
        rel: Int32,
        tail: Int32,
        /,
        *,
        epochs: int,
        deadline: Deadline,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Passes over some distinct triples.

        Args:
            head: Heads, int32 [n].
            rel: Relations, int32 [n].
            tail: Tails, int32 [n].
            epochs: How many times.
            deadline: When to give up.
            progress: Told the number of passes done.
        """
        self._met[head] = True
        self._met[tail] = True
        queries = _Queries.of(head, rel, tail, len(self._entity), self._relations)
        size = self._training.batch
        for epoch in range(epochs):
            order = self._random.permutation(len(queries.head))
            for start in range(0, len(order), size):
                deadline.check("training the scorer")
                self._step(queries, order[start : start + size])
            if progress is not None:
                progress(epoch + 1)

    def _rows(self, nodes: Int64, own: Bool | None) -> Float32:
        """Vectors of some entities; ``own`` says whose own part counts, everyone's where None."""
        rows: Float32 = self._entity[nodes]
        if own is not None:
            rows *= own[:, None]
        if self._text is not None:
            rows += self._text[nodes].astype(np.float32) @ self._image
        return rows

    def _step(self, queries: _Queries, chosen: Int64) -> None:
        training, random = self._training, self._random
        heads, rels, counts = queries.head[chosen], queries.rel[chosen], queries.count[chosen]
        rows = np.repeat(np.arange(len(chosen)), counts)
        tails = queries.tails[
            np.repeat(queries.start[chosen] - (np.cumsum(counts) - counts), counts)
            + np.arange(len(rows))
        ]
        nodes: Int64 | None = None
        if len(self._entity) > MAX_COMPARED:
            sampled = random.integers(0, len(self._entity), training.sampled)
            nodes = np.unique(np.concatenate([tails, heads, sampled]))
            tails, heads = np.searchsorted(nodes, tails), np.searchsorted(nodes, heads)
        everyone = np.arange(len(self._entity)) if nodes is None else nodes
        own: Bool | None = None
        if self._text is not None:
            # Who is in no triple would only ever be a wrong answer, and learn to be one.
            own = self._met[everyone] & (random.random(len(everyone)) < 0.5)
            own |= ~self._described[everyone]
        entity = self._entity if self._text is None and nodes is None else self._rows(everyone, own)
        total = np.float32(len(rows))
        weight = counts.astype(np.float32) / total
        half = training.dimension
        one, other = entity[heads, :half], entity[heads, half:]
        real, imaginary = self._relation[rels, :half], self._relation[rels, half:]
        query = np.concatenate(
            [one * real - other * imaginary, one * imaginary + other * real], axis=1
        )
        active = random.random(query.shape, dtype=np.float32) >= training.dropout
        mask = active.astype(np.float32) / np.float32(1.0 - training.dropout)
        query *= mask
        share = query @ entity.T
        _to_gradient(share, rows, tails, weight, training.objective)
        to_query = share @ entity
        to_query *= mask
        to_entity = share.T @ query
        up, down = to_query[:, :half], to_query[:, half:]
        penalty = (weight * np.float32(training.penalty))[:, None]
        sizes = np.sqrt(one * one + other * other) * penalty
        to_head = np.concatenate(
            [up * real + down * imaginary + sizes * one,
             down * real - up * imaginary + sizes * other], axis=1
        )  # fmt: skip
        sizes = np.sqrt(real * real + imaginary * imaginary) * penalty
        to_relation = np.concatenate(
            [up * one + down * other + sizes * real,
             down * one - up * other + sizes * imaginary], axis=1
        )  # fmt: skip
        seen = np.bincount(tails, minlength=len(entity)).astype(np.float32)
        seen *= np.float32(training.penalty) / total
        sizes = np.sqrt(entity[:, :half] ** 2 + entity[:, half:] ** 2) * seen[:, None]
        to_entity[:, :half] += sizes * entity[:, :half]
        to_entity[:, half:] += sizes * entity[:, half:]
        _add_rows(to_entity, heads, to_head)
        changed = np.zeros_like(self._relation)
        _add_rows(changed, rels, to_relation)
        self._tell_relations(entity, heads[rows], rels[rows], tails, to_entity, changed)
        self._learn(everyone, to_entity, own, complete=nodes is None)
        _adagrad(self._relation, self._squares[1], changed, training.rate)

    def _tell_relations(
        self,
        entity: Float32,
        heads: Int64,
        rels: Int64,
        tails: Int64,
        to_entity: Float32,
        to_relation: Float32,
    ) -> None:
        """Adds the gradient of ranking the relations, of one direction, for each pair of ends."""
        half = self._training.dimension
        for begin in (0, self._relations):
            mine = np.flatnonzero((rels >= begin) & (rels < begin + self._relations))
            if not len(mine):
                continue
            h, t = entity[heads[mine]], entity[tails[mine]]
            a, b, c, e = h[:, :half], h[:, half:], t[:, :half], t[:, half:]
            pair = np.concatenate([a * c + b * e, a * e - b * c], axis=1)
            those = self._relation[begin : begin + self._relations]
            share = pair @ those.T
            share -= share.max(axis=1, keepdims=True)
            np.exp(share, out=share)
            share /= share.sum(axis=1)[:, None]
            share[np.arange(len(mine)), rels[mine] - begin] -= np.float32(1.0)
            share *= np.float32(1.0 / len(rels))
            to_relation[begin : begin + self._relations] += share.T @ pair
            to_pair = share @ those
            x, y = to_pair[:, :half], to_pair[:, half:]
            _add_rows(to_entity, heads[mine], np.concatenate([x * c + y * e, x * e - y * c], 1))
            _add_rows(to_entity, tails[mine], np.concatenate([x * a - y * b, x * b + y * a], 1))

    def _learn(self, nodes: Int64, change: Float32, own: Bool | None, *, complete: bool) -> None:
        rate = self._training.rate
        if self._text is not None:
            image = self._text[nodes].astype(np.float32).T @ change
            _adagrad(self._image, self._squares[2], image, rate * _TEXT_RATE)
        if own is not None:
            change *= own[:, None]
        if complete:
            _adagrad(self._entity, self._squares[0], change, rate)
            return
        squares = self._squares[0][nodes] + change * change
        self._squares[0][nodes] = squares
        self._entity[nodes] -= np.float32(rate) * change / np.sqrt(squares)


@dataclass(frozen=True, slots=True, eq=False)
class _Queries:
    """Pairs of head and relation, both ways, with their tails.

    Attributes:
        head, rel: int64; relations from R on are backward ones.
        start, count: Where each pair's tails are in ``tails``, int64.
        tails: int64.
    """

    head: Int64
    rel: Int64
    start: Int64
    count: Int64
    tails: Int64

    @classmethod
    def of(cls, head: Int32, rel: Int32, tail: Int32, _nodes: int, relations: int) -> _Queries:
        heads = np.concatenate([head, tail]).astype(np.int64)
        rels = np.concatenate([rel, rel + np.int32(relations)]).astype(np.int64)
        tails = np.concatenate([tail, head]).astype(np.int64)
        keys = heads * (2 * relations) + rels
        order = np.lexsort((tails, keys))
        distinct, start, count = np.unique(keys[order], return_index=True, return_counts=True)
        return cls(
            distinct // (2 * relations), distinct % (2 * relations), start, count, tails[order]
        )


def _to_gradient(
    scores: Float32, rows: Int64, tails: Int64, weight: Float32, objective: Objective
) -> None:
    """Turns the scores of queries with all entities compared into their gradient, in place.

    Args:
        scores: float32 [queries, entities].
        rows: Query of each tail.
        tails: Entity of each tail.
        weight: Share of the step's triples that each query has.
        objective: What is asked of them.
    """
    cells = rows * scores.shape[1] + tails
    flat = scores.reshape(-1)
    if objective is Objective.RANKING:
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        scores *= (weight / scores.sum(axis=1))[:, None]
        flat[cells] -= np.float32(1.0 / len(rows))
        return
    scores += _PRIOR
    np.negative(scores, out=scores)
    np.clip(scores, -60.0, 60.0, out=scores)
    np.exp(scores, out=scores)
    scores += np.float32(1.0)
    np.reciprocal(scores, out=scores)
    flat[cells] -= np.float32(1.0)
    scores *= np.float32(1.0 / len(rows))


def _normal(random: np.random.Generator, rows: int, width: int) -> Float32:
    values = random.standard_normal((rows, width), dtype=np.float32)
    values *= np.float32(_SCALE)
    return values


def _add_rows(into: Float32, targets: Int64, rows: Float32) -> None:
    """Adds rows at targets that may repeat."""
    order = np.argsort(targets, kind="stable")
    ascending = targets[order]
    first = np.ones(len(ascending), dtype=np.bool_)
    first[1:] = ascending[1:] != ascending[:-1]
    firsts = np.flatnonzero(first)
    into[ascending[firsts]] += np.add.reduceat(rows[order], firsts, axis=0)


def _adagrad(values: Float32, squares: Float32, change: Float32, rate: float) -> None:
    squares += change * change
    values -= np.float32(rate) * change / np.sqrt(squares)
