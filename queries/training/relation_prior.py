"""Trains the prior of relations by the words of a question (``learned.relation_prior``).

Each question's step is to be the likeliest of all steps of its graph, by softmax. Names in the
questions become a mark, and rare words with them: what is learned is how people ask, not about whom.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from graph_service.model.identity import digest
from graph_service.retrieve.learned.relation_prior import (
    NAME_MARK,
    RelationPrior,
    keys_of,
    masked_words,
    parts_of,
    runs_of,
)

Float32 = npt.NDArray[np.float32]
Int64 = npt.NDArray[np.int64]
LabelStep = tuple[str, bool]
"""A relation's label, and whether it is walked from value to subject."""


@dataclass(frozen=True, slots=True)
class QuestionSteps:
    """A question and the steps that it asks for.

    Attributes:
        text: As written.
        graph: Whose relations it chooses among.
        name: Of the entity that it is about; empty where that is not known.
        steps: Every step of a right path.
    """

    text: str
    graph: str
    name: str
    steps: tuple[LabelStep, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PriorOptions:
    """How the tables are trained.

    Attributes:
        width: Numbers of a vector.
        epochs: How often each question is looked at.
        batch: Questions a step.
        learning_rate: Of Adam.
        decay: Of vectors, a step.
        left_out: Share of runs that a step leaves out.
        fewest: Questions that a run of words must stand in.
        rare: Words of fewer questions are taken for names.
        random_seed: Of all draws.
    """

    width: int = 16
    epochs: int = 4
    batch: int = 512
    learning_rate: float = 0.02
    decay: float = 1e-4
    left_out: float = 0.3
    fewest: int = 6
    rare: int = 6
    random_seed: int = 0


def train_prior(
    questions: Sequence[QuestionSteps],
    /,
    *,
    options: PriorOptions | None = None,
    notes: Mapping[str, object] | None = None,
) -> RelationPrior:
    """Returns the tables of some questions.

    Args:
        questions: With their steps.
        options: How.
        notes: Are kept with the tables.
    """
    options = options or PriorOptions()
    marked = _with_marks(questions, options.rare)
    runs, run_keys = _matrix([runs_of(each) for each in marked], fewest=options.fewest)
    choices = _choices(questions)
    run_vectors, part_vectors = _train(runs, choices, options)
    return RelationPrior(
        run_keys,
        run_vectors,
        choices.part_keys,
        part_vectors,
        hash_of(questions),
        {"questions": len(questions), "runs": len(run_keys), **(notes or {})},
    )


def hash_of(questions: Iterable[QuestionSteps], /) -> str:
    """Returns a hash of questions and their steps, 32 hexadecimal digits."""
    parts = sorted(repr((q.text, q.graph, q.name, q.steps)) for q in questions)
    return digest(parts, person=b"prior").hex()


def _with_marks(questions: Sequence[QuestionSteps], rare: int) -> list[list[str]]:
    """Returns the words of each question, marks for its entity's name and for rare words."""
    marked = [masked_words(each.text, _mention(each.text, each.name)) for each in questions]
    counts = Counter(word for each in marked for word in set(each))
    rows = []
    for each in marked:
        has_mark = NAME_MARK in each
        words: list[str] = []
        for word in each:
            new = NAME_MARK if not has_mark and counts[word] < rare else word
            if new != NAME_MARK or not words or words[-1] != NAME_MARK:
                words.append(new)
        rows.append(words)
    return rows


def _mention(text: str, name: str) -> tuple[int, int] | None:
    """Returns the characters of a name in a text, whatever its case."""
    plain = name.partition(" (")[0].lower()
    start = text.lower().find(plain) if plain else -1
    return (start, start + len(plain)) if start >= 0 else None


def _matrix(
    rows: Sequence[Sequence[str]], *, fewest: int
) -> tuple[sparse.csr_matrix, npt.NDArray[np.uint32]]:
    """Returns which texts each row has, divided by the root of their count, and the texts' keys."""
    counts = Counter(text for row in rows for text in set(row))
    names = sorted(text for text, count in counts.items() if count >= fewest)
    keys = keys_of(names)
    # Of texts with one key the first stands for all.
    distinct, inverse = np.unique(keys, return_inverse=True)
    column = dict(zip(names, inverse.tolist(), strict=True))
    held = [sorted({column[text] for text in row if text in column}) for row in rows]
    sizes = np.array([len(each) for each in held])
    values = np.repeat(1.0 / np.sqrt(np.maximum(sizes, 1)), sizes)
    columns = np.array([each for row in held for each in row], dtype=np.int64)
    begin = np.concatenate(([0], np.cumsum(sizes)))
    shape = (len(rows), len(distinct))
    return sparse.csr_matrix((values.astype(np.float32), columns, begin), shape=shape), distinct


@dataclass(frozen=True, slots=True, eq=False)
class _Choices:
    """Which step each of e examples is to choose, and among which.

    Attributes:
        rows: The question of each example, int64 [e].
        targets: Its step, int64 [e].
        graphs: Its graph, as a place in ``vocabularies``, int64 [e].
        vocabularies: Steps of each graph, ascending.
        parts: What the label of each step consists of, [steps, parts].
        part_keys: Key of each part, uint32.
    """

    rows: Int64
    targets: Int64
    graphs: Int64
    vocabularies: list[Int64]
    parts: sparse.csr_matrix
    part_keys: npt.NDArray[np.uint32]


def _choices(questions: Sequence[QuestionSteps]) -> _Choices:
    """Returns an example of each step that a question asks for; both ways of it are choices."""
    steps: dict[LabelStep, int] = {}
    graphs = sorted({question.graph for question in questions})
    of_graph: list[set[int]] = [set() for _ in graphs]
    examples: list[tuple[int, int, int]] = []
    for row, question in enumerate(questions):
        graph = graphs.index(question.graph)
        for label, backward in dict.fromkeys(question.steps):
            for way in (backward, not backward):
                of_graph[graph].add(steps.setdefault((label, way), len(steps)))
            examples.append((row, steps[label, backward], graph))
    parts, keys = _matrix([parts_of(*step) for step in steps], fewest=1)
    rows, targets, graph_of = np.array(examples, dtype=np.int64).T
    vocabularies = [np.array(sorted(members), dtype=np.int64) for members in of_graph]
    return _Choices(rows, targets, graph_of, vocabularies, parts, keys)


def _train(runs: sparse.csr_matrix, choices: _Choices, options: PriorOptions) -> list[Float32]:
    random = np.random.default_rng(options.random_seed)
    tables: list[Float32] = [
        random.normal(0.0, 0.1, (runs.shape[1], options.width)).astype(np.float32),
        random.normal(0.0, 0.3, (choices.parts.shape[1], options.width)).astype(np.float32),
    ]
    first = [np.zeros_like(each) for each in tables]
    second = [np.zeros_like(each) for each in tables]
    rounds = [_batches(choices, options.batch, random) for _ in range(options.epochs)]
    total = sum(map(len, rounds))
    for step, (graph, examples) in enumerate((each for batches in rounds for each in batches), 1):
        vocabulary = choices.vocabularies[graph]
        gradients = _gradients(
            tables,
            _thinned(runs[choices.rows[examples]], options.left_out, random),
            choices.parts[vocabulary],
            np.searchsorted(vocabulary, choices.targets[examples]),
        )
        rate = options.learning_rate * max(0.05, 1.0 - step / total)
        for part, gradient in enumerate(gradients):
            gradient = gradient + np.float32(options.decay) * tables[part]
            first[part] = 0.9 * first[part] + 0.1 * gradient
            second[part] = 0.999 * second[part] + 0.001 * gradient * gradient
            size = first[part] / (1.0 - 0.9**step)
            spread = np.sqrt(second[part] / (1.0 - 0.999**step)) + 1e-8
            tables[part] = (tables[part] - rate * size / spread).astype(np.float32)
    return tables


def _batches(choices: _Choices, size: int, random: np.random.Generator) -> list[tuple[int, Int64]]:
    """Returns all examples in batches of one graph each, both in random order."""
    batches: list[tuple[int, Int64]] = []
    for graph in range(len(choices.vocabularies)):
        own = random.permutation(np.flatnonzero(choices.graphs == graph))
        batches += [(graph, own[at : at + size]) for at in range(0, len(own), size)]
    return [batches[turn] for turn in random.permutation(len(batches)).tolist()]


def _thinned(
    matrix: sparse.csr_matrix, left_out: float, random: np.random.Generator
) -> sparse.csr_matrix:
    thin = matrix.copy()
    thin.data = thin.data * (random.random(len(thin.data)) >= left_out).astype(np.float32)
    return thin


def _gradients(
    tables: Sequence[Float32],
    runs: sparse.csr_matrix,
    parts: sparse.csr_matrix,
    right: npt.NDArray[np.int64],
) -> list[Float32]:
    """Returns the gradients of the mean of ``-log P(right step)`` over some questions."""
    questions, steps = runs @ tables[0], parts @ tables[1]
    score = questions @ steps.T
    weight = np.exp(score - score.max(axis=1, keepdims=True))
    error = weight / weight.sum(axis=1, keepdims=True)
    error[np.arange(len(right)), right] -= 1.0
    error /= len(right)
    return [runs.T @ (error @ steps), parts.T @ (error.T @ questions)]
