"""Training of a triple scorer on a graph's own edges, without labels, and what it is worth.

Some edges are held out. The factors are trained on the others, and a logistic regression weighs
factors and counts on the held-out edges beside ones made wrong. One half of those fits the
weights that the figures are taken with on the other half; the scorer itself has weights from
both, and its factors then learn the held-out edges too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from graph_service.model.graph import Float64, Int32, Int64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer.counting import CountScorer
from graph_service.views.scorer.factorisation import Factors, Objective, Trainer, Training
from graph_service.views.scorer.trained import Learned
from graph_service.views.scorer.trial import (
    ScorerQuality,
    Trial,
    judge,
    make_trial,
    quality_of,
)

SHARE_RETAINED = 0.98
"""Share of the variance of the factors' scores that the numbers kept have."""

_RIDGE = 1e-3
_WIDE = 4_096
_WIDEST = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class TrainedResult:
    """A scorer as trained, and the figures of it and of counts on the same edges."""

    learned: Learned
    quality: ScorerQuality
    counts: ScorerQuality


def training_for(entities: int, /) -> tuple[Training, ...]:
    """Returns how the factors of a graph are trained: one set that ranks, one that tells."""
    ranking = Training()
    if entities > _WIDE:
        ranking = Training(dimension=128, epochs=16, penalty=0.1)
    if entities > _WIDEST:
        ranking = Training(dimension=48, epochs=8, batch=2_048, penalty=0.05)
    binary = replace(ranking, objective=Objective.BINARY, penalty=ranking.penalty / 4)
    return ranking, binary


def train(
    graph: KnowledgeGraph,
    /,
    *,
    index: PairIndex,
    text: npt.NDArray[np.floating] | None,
    trainings: tuple[Training, ...] | None = None,
    random_seed: int = 0,
    deadline: Deadline | None = None,
    progress: Callable[[float], None] | None = None,
) -> TrainedResult:
    """Trains a scorer on a base graph.

    Args:
        graph: The base.
        index: Which entities it joins.
        text: A vector for the text of each entity node, zero where it has none: float [E, k].
        trainings: How each set of factors is trained; by the graph's size where None.
        random_seed: Draws all that is drawn.
        deadline: When to give up.
        progress: Told the share of the work done.

    Raises:
        InputError: The graph has too few edges or relations.
    """
    deadline = deadline or Deadline.none()
    random = np.random.Generator(np.random.PCG64(random_seed))
    trainings = training_for(graph.entity_count) if trainings is None else trainings
    trial = make_trial(graph, index, random)
    more = [max(1, training.epochs // 4) for training in trainings]
    steps = sum(training.epochs for training in trainings) + sum(more)
    done = 0

    def report(_: int) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / steps)

    trainers = [
        Trainer(
            graph.entity_count, graph.relation_count, text=text, training=training, random=random
        )
        for training in trainings
    ]
    for trainer, training in zip(trainers, trainings, strict=True):
        trainer.run(
            *_triples(graph, index, trial.edges),
            epochs=training.epochs,
            deadline=deadline,
            progress=report,
        )
    sets = [trainer.factors() for trainer in trainers]
    counts = CountScorer.build(graph, index=index, edges=trial.edges)
    features = _features(trial, sets, counts)
    half = np.arange(len(trial.head)) % 2 == 0
    tested = features[:, ~half] @ _fit(features[:, half])
    weights = _fit(features)
    quality = quality_of(trial.part(~half), _sigmoid(tested))
    for trainer, epochs in zip(trainers, more, strict=True):
        trainer.run(
            *_triples(graph, index, graph.in_key_order(np.flatnonzero(index.eligible))),
            epochs=epochs,
            deadline=deadline,
            progress=report,
        )
    learned = _fold([trainer.factors() for trainer in trainers], weights, graph.relation_count)
    return TrainedResult(learned, quality, judge(trial.part(~half), counts))


def _triples(graph: KnowledgeGraph, index: PairIndex, edges: Int64) -> tuple[Int32, Int32, Int32]:
    """Distinct triples of some edges."""
    packed = index.pack(graph.head[edges], graph.rel[edges], graph.tail[edges])
    first = edges[np.unique(packed, return_index=True)[1]]
    return graph.head[first], graph.rel[first], graph.tail[first]


def _features(trial: Trial, sets: list[Factors], counts: CountScorer) -> Float64:
    """What the regression weighs, float64 [4, n, 2 * sets + 4]."""
    rows = []
    for rel, tail in trial.rows():
        columns = []
        for factors in sets:
            back = rel + np.int32(len(counts.relation_counts))
            columns += [
                _scores(factors, trial.head, rel, tail),
                _scores(factors, tail, back, trial.head),
            ]
        lift_head, lift_tail = counts.lifts(trial.head, rel, tail)
        columns += [
            np.log(lift_head),
            np.log(lift_tail),
            np.log1p(counts.relation_counts[rel]),
            np.ones(len(rel)),
        ]
        rows.append(np.stack(columns, axis=1))
    return np.stack(rows)


def _complex(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.complex64]:
    half = rows.shape[1] // 2
    return (rows[:, :half] + 1j * rows[:, half:]).astype(np.complex64)


def _scores(factors: Factors, head: Int32, rel: Int32, tail: Int32) -> Float64:
    one, way, other = (
        _complex(rows)
        for rows in (factors.entity[head], factors.relation[rel], factors.entity[tail])
    )
    scores: Float64 = (one * way * np.conj(other)).real.sum(axis=1, dtype=np.float64)
    return scores


def _fit(features: Float64) -> Float64:
    """Weights of a logistic regression of edges against wrong ones that weigh as much, float64.

    Newton's steps with a ridge, on columns brought to one size; factors and lifts count for a
    triple or not at all, so that a weight below zero is left out and the rest fitted anew.
    """
    wrong = features.shape[0] - 1
    rows = features.reshape(-1, features.shape[2])
    truth = np.zeros(len(rows))
    truth[: features.shape[1]] = 1.0
    weight = np.where(truth > 0, 1.0, 1.0 / wrong)
    scale = rows.std(axis=0)
    scale[scale == 0] = 1.0
    used = np.ones(rows.shape[1], dtype=np.bool_)
    while True:
        part = rows[:, used] / scale[used]
        solution = np.zeros(part.shape[1])
        for _ in range(50):
            share = _sigmoid(part @ solution)
            slope = part.T @ (weight * (share - truth)) / weight.sum() + _RIDGE * solution
            bend = (part * (weight * share * (1.0 - share))[:, None]).T @ part / weight.sum()
            step = np.linalg.solve(bend + _RIDGE * np.eye(len(solution)), slope)
            solution -= step
            if np.abs(step).max() < 1e-8:
                break
        full = np.zeros(rows.shape[1])
        full[used] = solution / scale[used]
        negative = np.flatnonzero(full[:-2] < 0)
        if not len(negative):
            return full
        used[negative] = False


def _sigmoid(odds: Float64) -> Float64:
    probability: Float64 = 1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0)))
    return probability


def _fold(sets: list[Factors], weights: Float64, relations: int) -> Learned:
    """All sets of factors as one: both ways and their weights in one vector a relation."""
    entities, ways = [], []
    for index, factors in enumerate(sets):
        forward, backward = weights[2 * index], weights[2 * index + 1]
        relation = _complex(factors.relation)
        # Re(t * r' * conj(h)) is Re(h * conj(r') * conj(t)).
        way = forward * relation[:relations] + backward * np.conj(relation[relations:])
        entity = _complex(factors.entity)
        size = np.square((np.abs(entity) ** 2).mean(axis=0)) * (np.abs(way) ** 2).mean(axis=0)
        order = np.argsort(-size, kind="stable")
        total = np.cumsum(size[order])
        count = 1 + int(np.searchsorted(total, SHARE_RETAINED * total[-1])) if total[-1] > 0 else 0
        chosen = np.sort(order[:count])
        entities.append(entity[:, chosen])
        ways.append(way[:, chosen])
    return Learned(
        entity=np.concatenate(entities, axis=1).astype(np.complex64),
        relation=np.concatenate(ways, axis=1).astype(np.complex64),
        weights=weights[-4:],
    )
