"""SubgraphRAG (Li et al., ICLR 2025): a small network scores each statement around a question.

Its inputs are vectors of the question, the head, the relation and the value, and directional
distances: whether a node is one of the question's entities, and means of that over its neighbours,
two rounds along the statements and two against them. It learns which statements lie on shortest
paths between entities and answers, by binary cross-entropy. MiniLM for all vectors, one hidden
layer of 256, and 100 statements a question to learn from (ours).
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.retrievers.methods import Embed
from benchmarks.retrievers.protocol import Int64, Question, Retrieved, Surroundings
from graph_service.model.identity import key64
from graph_service.text.fold import relation_words
from queries.robustness.material import Fact, Material
from queries.robustness.questions import SetQuestion

Float32 = npt.NDArray[np.float32]
ROUNDS = 2
_HIDDEN = 256
_OF_A_QUESTION = 100
_MOST_STATEMENTS = 3000
_HUB_DEGREE = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """A network of one hidden layer: float32 [inputs, hidden], [hidden], [hidden], [1]."""

    first: Float32
    first_bias: Float32
    second: Float32
    second_bias: Float32

    def scores(self, inputs: Float32, /) -> Float32:
        """Returns the logit of each row, float32 [rows]."""
        hidden = np.maximum(inputs @ self.first + self.first_bias, 0)
        logits: Float32 = hidden @ self.second + self.second_bias
        return logits

    def save(self, path: Path, /) -> None:
        """Writes them."""
        np.savez(
            path,
            first=self.first,
            first_bias=self.first_bias,
            second=self.second,
            second_bias=self.second_bias,
        )


def read_weights(path: Path, /) -> Weights:
    """Returns what ``Weights.save`` wrote."""
    with np.load(path) as arrays:
        return Weights(
            arrays["first"], arrays["first_bias"], arrays["second"], arrays["second_bias"]
        )


@dataclass(frozen=True, slots=True, eq=False)
class SubgraphRag:
    """The scorer of SubgraphRAG; the network never saw the family of the set."""

    embed: Embed
    weights: Weights
    name: str = "SubgraphRAG"

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the statements of highest score."""
        count = len(around.statement_ids)
        if not count:
            return Retrieved(())
        inputs = features(question.text, around, np.arange(count), self.embed)
        scores = self.weights.scores(inputs).astype(np.float64)
        return Retrieved(around.ranked(around.order(np.round(scores, 5)), budget))


def distances(around: Surroundings, /) -> Float32:
    """Returns the directional distances of each node, float32 [nodes, 1 + 2 * ROUNDS]."""
    count = len(around.nodes)
    topic = np.zeros(count)
    topic[around.topics] = 1
    columns = [topic]
    for source, target in ((around.head, around.tail), (around.tail, around.head)):
        degree = np.maximum(np.bincount(target, minlength=count), 1)
        values = topic
        for _ in range(ROUNDS):
            values = np.bincount(target, values[source], minlength=count) / degree
            columns.append(values)
    return np.stack(columns, axis=1).astype(np.float32)


def features(question: str, around: Surroundings, rows: Int64, embed: Embed, /) -> Float32:
    """Returns the inputs of some statements, float32 [rows, inputs]."""
    head, relation, tail = around.head[rows], around.relation[rows], around.tail[rows]
    nodes, inverse = np.unique(np.concatenate([head, tail]), return_inverse=True)
    texts = [
        question,
        *(around.node_names[node] or around.nodes[node] for node in nodes.tolist()),
        *around.relations,
    ]
    vectors = embed(texts).astype(np.float32)
    of_nodes = vectors[1 : 1 + len(nodes)]
    of_relations = vectors[1 + len(nodes) :]
    count = len(rows)
    near = distances(around)
    return np.concatenate(
        [
            np.broadcast_to(vectors[0], (count, vectors.shape[1])),
            of_nodes[inverse[:count]],
            of_relations[relation],
            of_nodes[inverse[count:]],
            near[head],
            near[tail],
        ],
        axis=1,
    )


def on_shortest_paths(around: Surroundings, answers: Iterable[str], /) -> npt.NDArray[np.bool_]:
    """Returns which statements lie on a shortest path from an entity of the question to an answer."""
    numbers = {id_: number for number, id_ in enumerate(around.nodes)}
    touching: dict[int, list[int]] = defaultdict(list)
    for head, tail in zip(around.head.tolist(), around.tail.tolist(), strict=True):
        touching[head].append(tail)
        touching[tail].append(head)
    from_topics = _steps(around.topics.tolist(), touching, len(around.nodes))
    chosen = np.zeros(len(around.statement_ids), dtype=np.bool_)
    for answer in answers:
        if answer not in numbers or not np.isfinite(from_topics[numbers[answer]]):
            continue
        from_answer = _steps([numbers[answer]], touching, len(around.nodes))
        shortest = from_topics[numbers[answer]]
        for near, far in ((around.head, around.tail), (around.tail, around.head)):
            chosen |= from_topics[near] + 1 + from_answer[far] == shortest
    return chosen


def _steps(
    start: Sequence[int], touching: dict[int, list[int]], count: int
) -> npt.NDArray[np.float64]:
    steps = np.full(count, np.inf)
    steps[list(start)] = 0
    queue = deque(start)
    while queue:
        node = queue.popleft()
        for other in touching[node]:
            if not np.isfinite(steps[other]):
                steps[other] = steps[node] + 1
                queue.append(other)
    return steps


def training_examples(
    material: Material, questions: Iterable[SetQuestion], embed: Embed, /, *, hops: int
) -> Iterator[tuple[Float32, Float32]]:
    """Yields inputs and labels of the statements that a question gives to learn from.

    All on shortest paths are among them, and others drawn by a keyed hash.
    """
    touching: dict[str, list[Fact]] = defaultdict(list)
    for fact in material.facts:
        touching[fact[0]].append(fact)
        touching[fact[2]].append(fact)
    for question in questions:
        around = _around(material, touching, question.entities, hops)
        labels = on_shortest_paths(around, question.answers)
        if not labels.any():
            continue
        order = sorted(
            range(len(labels)),
            key=lambda row: (not labels[row], key64(f"{question.id}\t{around.statement_ids[row]}")),
        )
        rows = np.array(order[:_OF_A_QUESTION], dtype=np.int64)
        yield features(question.text, around, rows, embed), labels[rows].astype(np.float32)


def _around(
    material: Material, touching: dict[str, list[Fact]], entities: Sequence[str], hops: int
) -> Surroundings:
    """The statements within some steps, as ``protocol.surroundings`` takes them of a graph."""
    reached, front = dict.fromkeys(entities), list(entities)
    facts: dict[Fact, None] = {}
    for step in range(hops):
        new: dict[str, None] = {}
        for entity in front:
            if step and len(touching[entity]) > _HUB_DEGREE:
                continue
            for fact in touching[entity]:
                facts[fact] = None
                new |= dict.fromkeys(end for end in (fact[0], fact[2]) if end not in reached)
        reached |= new
        front = list(new)
    rows = list(facts)[:_MOST_STATEMENTS]
    nodes = list(dict.fromkeys([*entities, *(end for fact in rows for end in (fact[0], fact[2]))]))
    relations = list(dict.fromkeys(fact[1] for fact in rows))
    numbers = {node: index for index, node in enumerate(nodes)}
    codes = {relation: index for index, relation in enumerate(relations)}
    return Surroundings(
        graph="",
        view=None,
        statement_ids=tuple("\t".join(fact) for fact in rows),
        head=np.array([numbers[fact[0]] for fact in rows], dtype=np.int64),
        relation=np.array([codes[fact[1]] for fact in rows], dtype=np.int64),
        tail=np.array([numbers[fact[2]] for fact in rows], dtype=np.int64),
        nodes=tuple(nodes),
        node_names=tuple(material.name_of(node) or node for node in nodes),
        relations=tuple(
            relation_words(material.labels.get(relation) or relation) or relation
            for relation in relations
        ),
        topics=np.array([numbers[entity] for entity in entities], dtype=np.int64),
    )


def train(
    examples: Iterable[tuple[Float32, Float32]],
    /,
    *,
    epochs: int = 8,
    batch: int = 256,
    rate: float = 1e-3,
    random_seed: int = 0,
) -> Weights:
    """Returns a network trained by Adam on binary cross-entropy.

    Args:
        examples: Inputs and labels, 0 or 1, of each question's statements.
        epochs: How often it sees each.
        batch: Statements of a step.
        rate: Of learning.
        random_seed: Of the first weights and of the order.
    """
    pairs = list(examples)
    inputs = np.concatenate([pair[0] for pair in pairs])
    labels = np.concatenate([pair[1] for pair in pairs])
    random = np.random.default_rng(random_seed)
    size = inputs.shape[1]
    weights = [
        random.normal(0, np.sqrt(2 / size), (size, _HIDDEN)).astype(np.float32),
        np.zeros(_HIDDEN, dtype=np.float32),
        random.normal(0, np.sqrt(1 / _HIDDEN), _HIDDEN).astype(np.float32),
        np.zeros(1, dtype=np.float32),
    ]
    means = [np.zeros_like(array) for array in weights]
    squares = [np.zeros_like(array) for array in weights]
    step = 0
    for _ in range(epochs):
        order = random.permutation(len(labels))
        for begin in range(0, len(order), batch):
            rows = order[begin : begin + batch]
            step += 1
            gradients = _gradients(weights, inputs[rows], labels[rows])
            for array, mean, square, gradient in zip(
                weights, means, squares, gradients, strict=True
            ):
                mean += 0.1 * (gradient - mean)
                square += 0.001 * (gradient**2 - square)
                scale = np.sqrt(square / (1 - 0.999**step)) + 1e-8
                array -= (rate * mean / (1 - 0.9**step) / scale).astype(np.float32)
    return Weights(*weights)


def _gradients(weights: Sequence[Float32], inputs: Float32, labels: Float32) -> list[Float32]:
    first, first_bias, second, second_bias = weights
    before = inputs @ first + first_bias
    hidden = np.maximum(before, 0)
    logits = hidden @ second + second_bias
    error = ((1 / (1 + np.exp(-logits)) - labels) / len(labels)).astype(np.float32)
    back = np.outer(error, second) * (before > 0)
    return [inputs.T @ back, back.sum(axis=0), hidden.T @ error, error.sum(keepdims=True)]
