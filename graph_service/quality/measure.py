"""``graph-service bench quality``: what retrieval finds for questions whose answer is known.

End to end from the question's text: neither the entity nor the number of hops is given. Beside
each figure stand what a random choice and the shortest sequences would reach, since most sets are
easier than they look.

* sequence@1: the first path that is returned begins at the right entity and follows the gold
  relations; where a set gives answers, it ends at exactly those.
* right among 5, 40: a right sequence is among the first of those that preset ``default-6`` ranks.
* recall@n: share of the gold triples among the n triples returned, of the instance of the gold
  sequence that fares best; by triplets and by a subgraph of as many edges.

Intervals are of 95 %, by a bootstrap over distinct chains: paraphrases of one chain stand or fall
together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from graph_service.model.identity import key64
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import (
    PathsResult,
    RetrievalResult,
    ScoredTriple,
    Status,
    Strategy,
)
from graph_service.model.values import EntityValue
from graph_service.quality.bootstrap import bootstrap_interval
from graph_service.quality.chains import Chains, TripleIds, triples_of, twin_of, twin_triple
from graph_service.quality.finalists import FinalistRecorder
from graph_service.quality.question_sets import ChainQuestion, Step
from graph_service.service import Service

RECALL_AT = (2, 4, 10)
CANDIDATE_HOPS = 3
_INSTANCES_JUDGED = 2000


@dataclass(frozen=True, slots=True)
class Score:
    """One figure of a question set.

    Attributes:
        value: Mean over the questions; None where none could be judged.
        low, high: Interval of 95 %.
        random: What a random choice among the candidates would reach.
        shortest: What the shortest candidates would reach, equally short ones in random order.
        questions: How many were judged.
    """

    value: float | None
    low: float | None
    high: float | None
    random: float | None
    shortest: float | None
    questions: int


@dataclass(frozen=True, slots=True)
class Miss:
    """A question whose first sequence is wrong."""

    question: str
    linked: tuple[str, ...]
    gold: str
    got: str


@dataclass(frozen=True, slots=True)
class QualityReport:
    """What one run found.

    Attributes:
        questions: Questions judged; ``read`` those of the file, ``not_simple`` those left out since
            their chain visits an entity twice, ``sampled`` what the sample was drawn from.
        chains: Distinct chains among those judged.
        linked: Share whose start was among the entities linked.
        statuses: How many retrievals ended in each status.
        candidates: Median number of sequences of up to three steps from the right start; None
            where no question's could be enumerated.
        scores: Figures by name.
        median_ms, p95_ms: Of the calls for paths, vectors as they come.
        parameters: What retrieval used.
        misses: The first questions whose first sequence is wrong.
    """

    preset: str
    read: int
    not_simple: int
    sampled: int
    questions: int
    chains: int
    linked: float
    statuses: Mapping[str, int]
    candidates: float | None
    scores: Mapping[str, Score]
    median_ms: float
    p95_ms: float
    embedder: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    misses: tuple[Miss, ...] = ()


def choose_questions(
    questions: Sequence[ChainQuestion], /, *, sample: int | None, random_seed: int
) -> tuple[list[ChainQuestion], int]:
    """Returns the simple questions, or a sample of them, and how many chains are not simple.

    A sample is the first questions in the order of a keyed hash, so that a larger one holds a
    smaller one, on any machine.
    """
    simple = [question for question in questions if question.is_simple()]
    left_out = len(questions) - len(simple)
    if sample is not None and sample < len(simple):
        order = sorted(
            range(len(simple)), key=lambda i: (key64(f"{random_seed}\t{i}\t{simple[i].text}"), i)
        )
        simple = [simple[i] for i in sorted(order[:sample])]
    return simple, left_out


def measure_quality(
    service: Service,
    questions: Sequence[ChainQuestion],
    /,
    *,
    graph: str,
    preset: str = "default",
    sample: int | None = None,
    random_seed: int = 0,
    misses: int = 20,
    progress: Callable[[int, int], None] | None = None,
) -> QualityReport:
    """Returns what retrieval finds for some questions.

    Args:
        service: Over a store that holds the graph.
        questions: With what they ask for.
        graph: Its name.
        preset: Under which retrieval runs.
        sample: How many questions; None for all.
        random_seed: Of the sample, the random choice and the bootstrap.
        misses: How many wrong ones are listed.
        progress: Called with how many questions are done, and of how many.
    """
    chosen, not_simple = choose_questions(questions, sample=sample, random_seed=random_seed)
    judge = _Judge(service, graph, preset, random_seed)
    rows = []
    for done, question in enumerate(chosen, start=1):
        rows.append(judge.row(question))
        if progress:
            progress(done, len(chosen))
    groups = [question.chain_id() for question in chosen]
    names = dict.fromkeys(name for row in rows for name in row.own)
    times = [row.ms for row in rows]
    counts = [row.candidates for row in rows if row.candidates]
    statuses: dict[str, int] = defaultdict(int)
    for row in rows:
        statuses[row.status.value] += 1
    return QualityReport(
        preset=judge.preset_name,
        read=len(questions),
        not_simple=not_simple,
        sampled=len(questions) - not_simple,
        questions=len(chosen),
        chains=len(set(groups)),
        linked=float(np.mean([row.linked for row in rows])) if rows else 0.0,
        statuses=dict(sorted(statuses.items())),
        candidates=float(np.median(counts)) if counts else None,
        scores={name: _score(name, rows, groups, random_seed) for name in names},
        median_ms=float(np.median(times)) if times else 0.0,
        p95_ms=float(np.percentile(times, 95)) if times else 0.0,
        embedder=judge.embedder,
        parameters=judge.parameters,
        misses=tuple(row.miss for row in rows if row.miss is not None)[:misses],
    )


@dataclass(frozen=True, slots=True)
class _Row:
    own: Mapping[str, float]
    random: Mapping[str, float]
    shortest: Mapping[str, float]
    linked: bool
    status: Status
    candidates: int
    ms: float
    miss: Miss | None


class _Judge:
    def __init__(
        self,
        service: Service,
        graph: str,
        preset: str,
        random_seed: int,
    ) -> None:
        self._service = service
        self._graph = graph
        self._preset = preset
        self._random_seed = random_seed
        self._chains = Chains(service.arrays(service.graph(graph)))
        self.preset_name = preset
        self.embedder = ""
        self.parameters: Mapping[str, object] = {}

    def row(self, question: ChainQuestion, /) -> _Row:
        finalists = FinalistRecorder()
        with self._service.noting_rankings(finalists.note):
            paths = self._retrieve(question, Strategy.PATHS, 1)
        assert isinstance(paths, PathsResult)
        provenance = paths.provenance
        self.preset_name, self.embedder = provenance.preset, provenance.embedder
        self.parameters = provenance.parameters
        candidates = self._chains.candidates(question.start, hops=CANDIDATE_HOPS)
        gold = self._gold(question, candidates)
        first = _first_sequence(paths)
        right = first is not None and self._is_right(question, first)
        own = {"sequence@1": float(right)}
        own |= finalists.figures(partial(self._is_right, question))
        triples = self._gold_triples(question, gold)
        for at in RECALL_AT if triples else ():
            triplets = self._retrieve(question, Strategy.TRIPLETS, at)
            own[f"triplets recall@{at}"] = _best_recall(triples, _ids(triplets))
            grown = self._retrieve(question, Strategy.SUBGRAPH, at)
            own[f"subgraph recall@{at}"] = _best_recall(triples, _ids(grown))
        right_ones = {steps for steps in candidates if steps in gold}
        miss = None
        if not right:
            shown = sorted(gold or {tuple(map(twin_of, question.steps))}, key=len)
            miss = Miss(
                question.text,
                tuple(linked.entity.id for linked in paths.linked),
                f"{question.start} {_words(shown[0]) if shown else '?'}",
                f"{first[0]} {_words(first[1])}" if first else paths.status.value,
            )
        random, shortest = self._baselines(question, candidates, right_ones, triples)
        return _Row(
            own,
            random,
            shortest,
            any(linked.entity.id == question.start for linked in paths.linked),
            paths.status,
            len(candidates),
            paths.timings_ms["total"],
            miss,
        )

    def _retrieve(self, question: ChainQuestion, strategy: Strategy, limit: int) -> RetrievalResult:
        return self._service.retrieve(
            RetrieveRequest(
                question.text, strategy, graph=self._graph, preset=self._preset, limit=limit
            )
        )

    def _is_right(self, question: ChainQuestion, sequence: tuple[str, tuple[Step, ...]]) -> bool:
        start, steps = sequence
        if start != question.start:
            return False
        if question.steps:
            return steps == tuple(map(twin_of, question.steps))
        return self._chains.end_nodes(start, steps) == question.answers

    def _gold(
        self,
        question: ChainQuestion,
        candidates: Mapping[tuple[Step, ...], frozenset[str]],
    ) -> set[tuple[Step, ...]]:
        if question.steps:
            return {tuple(map(twin_of, question.steps))}
        exact = [steps for steps, answers in candidates.items() if answers == question.answers]
        return set(exact)

    def _gold_triples(
        self, question: ChainQuestion, gold: Iterable[tuple[Step, ...]]
    ) -> list[frozenset[TripleIds]]:
        """Returns the triples of each instance of a gold sequence; of the shortest, by answers."""
        sequences = sorted(gold, key=lambda steps: (len(steps), steps))
        least = min(map(len, sequences), default=0)
        instances = [
            triples_of(walk, steps)
            for steps in sequences
            if len(steps) == least
            for walk in self._chains.instances(question.start, steps)
        ]
        return list(dict.fromkeys(instances))[:_INSTANCES_JUDGED]

    def _baselines(
        self,
        question: ChainQuestion,
        candidates: Mapping[tuple[Step, ...], frozenset[str]],
        right: set[tuple[Step, ...]],
        triples: list[frozenset[TripleIds]],
    ) -> tuple[dict[str, float], dict[str, float]]:
        if not candidates:
            return {}, {}
        random = {"sequence@1": len(right) / len(candidates)}
        least = min(map(len, candidates))
        shortest_ones = [steps for steps in candidates if len(steps) == least]
        shortest = {"sequence@1": sum(s in right for s in shortest_ones) / len(shortest_ones)}
        if not triples:
            return random, shortest
        shuffled = sorted(
            candidates, key=lambda s: key64(f"{self._random_seed}\t{question.text}\t{s}")
        )
        by_length = sorted(shuffled, key=len)
        for order, figures in ((shuffled, random), (by_length, shortest)):
            selected = self._first_triples(question.start, order, max(RECALL_AT))
            for at in RECALL_AT:
                value = _best_recall(triples, selected[:at])
                figures[f"triplets recall@{at}"] = figures[f"subgraph recall@{at}"] = value
        return random, shortest

    def _first_triples(
        self, start: str, order: Sequence[tuple[Step, ...]], count: int
    ) -> list[TripleIds]:
        selected: dict[TripleIds, None] = {}
        for steps in order:
            for walk in self._chains.instances(start, steps)[:count]:
                selected.update(dict.fromkeys(sorted(triples_of(walk, steps))))
            if len(selected) >= count:
                break
        return list(selected)


def _first_sequence(paths: PathsResult) -> tuple[str, tuple[Step, ...]] | None:
    if not paths.items:
        return None
    steps = paths.items[0].steps
    first = steps[0]
    start = first.triple.head.id
    if first.reversed:
        value = first.triple.value
        start = value.id if isinstance(value, EntityValue) else ""
    return start, tuple(twin_of((step.triple.relation.id, step.reversed)) for step in steps)


def _ids(result: RetrievalResult) -> list[TripleIds]:
    return [
        twin_triple(item.triple.head.id, item.triple.relation.id, item.triple.value.id)
        for item in result.items
        if isinstance(item, ScoredTriple) and isinstance(item.triple.value, EntityValue)
    ]


def _best_recall(instances: Iterable[frozenset[TripleIds]], selected: Iterable[TripleIds]) -> float:
    got = frozenset(selected)
    return max((len(gold & got) / len(gold) for gold in instances), default=0.0)


def _words(steps: Iterable[Step]) -> str:
    return " ".join(f"{'<' if backward else '>'}{relation}" for relation, backward in steps)


def _score(name: str, rows: Sequence[_Row], groups: Sequence[str], random_seed: int) -> Score:
    judged = [i for i, row in enumerate(rows) if name in row.own]
    if not judged:
        return Score(None, None, None, None, None, 0)
    values = np.array([rows[i].own[name] for i in judged])
    low, high = bootstrap_interval(values, [groups[i] for i in judged], random_seed=random_seed)
    random = [rows[i].random[name] for i in judged if name in rows[i].random]
    shortest = [rows[i].shortest[name] for i in judged if name in rows[i].shortest]
    return Score(
        float(values.mean()),
        low,
        high,
        float(np.mean(random)) if random else None,
        float(np.mean(shortest)) if shortest else None,
        len(judged),
    )
