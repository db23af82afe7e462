"""What one retrieval shares between its stages, and what it picks in the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

from graph_service.model.answer import AnswerKind, AnswerMeasure, ReadConstraint
from graph_service.model.graph import Float64, Int64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.region import Region
from graph_service.model.result import RegionStats, ScorePart, Strategy
from graph_service.query.algebra import Query
from graph_service.retrieve.kinds import HeadRelations
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.preset import Preset, RankedPreset
from graph_service.retrieve.prizes.subgraph import at_least, best_subgraph
from graph_service.retrieve.prizes.triplets import triple_totals

Encode = Callable[[Sequence[str]], npt.NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class SelectedEdge:
    """A statement that was picked.

    Attributes:
        edge: Global edge number (an overlay's from the base's edge count on).
        score: Its total.
        head_prize, edge_prize, tail_prize: The parts of it.
        origin: The question's entity that it hangs on, a global node number.
        met: Places of the constraints that it meets, among those that were read.
    """

    edge: int
    score: float
    head_prize: float
    edge_prize: float
    tail_prize: float
    origin: int = -1
    met: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectedPath:
    """A path that was picked: global edge numbers, and whether each was walked tail to head.

    Attributes:
        parts: Of the score.
        origin: The question's entity that it hangs on, a global node number.
        met: Places of the constraints that it meets, among those that were read.
    """

    edges: tuple[int, ...]
    reversed: tuple[bool, ...]
    score: float
    parts: tuple[ScorePart, ...] = ()
    origin: int = -1
    met: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SelectedGroup:
    """The number of one of some things, with the global number of its node.

    Attributes:
        value: In decimal digits.
        unit: The label of its unit; None for none.
    """

    node: int
    value: str
    unit: str | None


@dataclass(frozen=True, slots=True)
class SelectedAnswer:
    """An answer in numbers of the graph.

    Attributes:
        value: Its text; None for that of ``groups``, or else the labels of ``nodes``.
        nodes: What is meant, global numbers.
        edges: The statements that it rests on, global numbers, those that say most first.
        truncated: Whether limits left out statements that may count.
        measure: What an average or a total is made of.
        groups: The number of each of some things.
    """

    kind: AnswerKind
    value: str | None
    nodes: tuple[int, ...]
    edges: tuple[int, ...]
    truncated: bool
    measure: AnswerMeasure | None = None
    groups: tuple[SelectedGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """A query that a question may mean, and what the paths of its answers score."""

    query: Query
    score: float


@dataclass(frozen=True, slots=True)
class SelectedReading:
    """A query that a question may mean, with its answers in numbers of the graph.

    Attributes:
        gap: How far its learned score is below that of the first, at most 0.
        nodes: The first answers, global numbers.
        count: How many there are.
    """

    query: Query
    gap: float
    nodes: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class SelectedSet:
    """The readings that hold the right answer in a share of questions (``model.AnswerSet``)."""

    coverage: float
    is_attained: bool
    readings: tuple[SelectedReading, ...]


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """The query that a question was read as, and the words that it does not account for.

    Attributes:
        ranked: The best queries before constraints are read into them, best first.
    """

    query: Query
    unread: tuple[str, ...] = ()
    ranked: tuple[RankedQuery, ...] = ()


ItemT = TypeVar("ItemT", SelectedEdge, SelectedPath)


@dataclass(frozen=True, slots=True)
class Selection:
    """What one retrieval picked.

    Attributes:
        region_before, region_after: Figures of the region, before and after PageRank's cut.
        triples: For triplets best first; for a subgraph its statements, best first.
        paths: For paths, best first.
        objective, gap, solver: For a subgraph.
        relevance: How much the best that was found bears on the question: the score of the best
            relation sequence, at most 1; None where the preset does not say.
        confidence: How probably the first answer is right, 0 to 1; None where nothing tells.
        unstated: Whether the graph surely does not say what is asked of the entity.
        confident: Whether that is enough to say that it does (``LearnedPreset.min_relevance``).
        cuts: What limits left out.
        timings_ms: Milliseconds by stage.
        stands_for: By global edge number the statements, of the region, that one stands for: they
            say the same in another language.
        used_starts: The start entities of the walks that were found, global nodes, that of the
            best first; empty where linking alone chose them.
        constraints: What the question was read to state beside its relations.
        answer: The answer itself, where one is sure.
        read: The query that the question was read as, where the preset says.
        answer_set: The readings that hold the right answer with the coverage requested.
    """

    region_before: RegionStats
    region_after: RegionStats
    triples: tuple[SelectedEdge, ...] = ()
    paths: tuple[SelectedPath, ...] = ()
    objective: float | None = None
    gap: float | None = None
    solver: str | None = None
    relevance: float | None = None
    confidence: float | None = None
    confident: bool = True
    unstated: bool = False
    cuts: tuple[Cut, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict, compare=False)
    stands_for: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    used_starts: tuple[int, ...] = ()
    constraints: tuple[ReadConstraint, ...] = ()
    answer: SelectedAnswer | None = None
    read: ReadQuery | None = None
    answer_set: SelectedSet | None = None


NO_STATS = RegionStats(0, 0, 0.0, None, 0.0)


class Clock:
    """Milliseconds by stage, each booked when it ends."""

    def __init__(self) -> None:
        self.stages: dict[str, float] = {}
        self._at = time.perf_counter()

    def stage(self, name: str, /) -> None:
        """Books the time since the last stage ended."""
        now = time.perf_counter()
        self.stages[name] = self.stages.get(name, 0.0) + 1000 * (now - self._at)
        self._at = now


class Encoder:
    """Texts to vectors, each text asked for once in a retrieval.

    Args:
        encode: Texts to unit vectors.
        question_vector: The question's unit vector, where the caller gave one, float32 [d].
        encode_queries: Questions to unit vectors, where ``encode`` does not read them rightly.
    """

    def __init__(
        self,
        encode: Encode,
        /,
        *,
        question_vector: npt.NDArray[np.float32] | None = None,
        encode_queries: Encode | None = None,
    ) -> None:
        self._encode = encode
        self._encode_queries = encode_queries
        self._question_vector = question_vector
        self._known: dict[str, npt.NDArray[np.float32]] = {}

    def __call__(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        """Returns the vectors of some texts, float32 [len(texts), d]."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            vectors = self._encode(new)
            self._known.update(zip(new, vectors, strict=True))
            if len(new) == len(texts):
                return vectors
        return np.array([self._known[text] for text in texts], dtype=np.float32)

    def learn(self, texts: Sequence[str], vectors: Iterable[npt.NDArray[np.float32]], /) -> None:
        """Takes the vectors of some texts that are known already, float32 [d] each."""
        self._known.update(zip(texts, vectors, strict=True))

    def question(self, text: str, /) -> npt.NDArray[np.float32]:
        """Returns what texts are compared with: the caller's own vector, else that of ``text``."""
        if self._question_vector is not None:
            return self._question_vector
        vector: npt.NDArray[np.float32] = (self._encode_queries or self)([text])[0]
        return vector

    def read_ahead(self, questions: Sequence[str], texts: Sequence[str], /) -> None:
        """Embeds in one batch what ``question`` and calls will ask for one by one."""
        if self._question_vector is None and self._encode_queries is None:
            texts = [*questions, *texts]
        self(texts)


PresetT = TypeVar("PresetT", bound=Preset, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class RetrievalContext(Generic[PresetT]):
    """What the stages of one retrieval share.

    Attributes:
        surroundings: The region before PageRank cut it.
    """

    strategy: Strategy
    preset: PresetT
    region: Region
    surroundings: Region
    labels: Labels
    head_relations: HeadRelations
    encode: Encoder
    min_score: float | None
    prove: bool
    deadline: Deadline
    clock: Clock


def pick_edges(
    call: RetrievalContext[Preset], edges: Int64, node_prizes: Float64, edge_prizes: Float64
) -> tuple[tuple[SelectedEdge, ...], tuple[Cut, ...]]:
    """Returns some local edges as picked, in their order, and what a least score cut."""
    return over(call, _selected_edges(call.region, edges, node_prizes, edge_prizes))


def pick_subgraph(
    call: RetrievalContext[RankedPreset],
    node_prizes: Float64,
    edge_prizes: Float64,
    like: Float64,
    priority: Int64 | None,
    cuts: tuple[Cut, ...],
) -> Selection:
    """Returns the tree over some prizes, its statements best first (O7).

    Args:
        call: The retrieval.
        node_prizes: Of local nodes, float64 [n].
        edge_prizes: Of local edges, float64 [m].
        like: Tells statements of equal total apart, float64 [m].
        priority: Order in which a limited tree grows, and that comes before ``like``; int64 [m].
        cuts: What was left out before.
    """
    region, preset = call.region, call.preset
    subgraph = best_subgraph(
        region,
        node_prizes=node_prizes,
        edge_prizes=edge_prizes,
        edge_cost=preset.edge_cost,
        limit=preset.limit,
        priority=priority,
        prove=call.prove,
        deadline=call.deadline,
    )
    if call.min_score is not None:
        subgraph = at_least(
            region,
            subgraph,
            node_prizes=node_prizes,
            edge_prizes=edge_prizes,
            edge_cost=preset.edge_cost,
            min_score=call.min_score,
        )
    total = triple_totals(region, nodes=node_prizes, edges=edge_prizes)
    edges = subgraph.edges
    first = np.zeros(len(edges)) if priority is None else priority[edges]
    order = edges[np.lexsort((region.edge_keys[edges], -like[edges], first, -total[edges]))]
    triples = _selected_edges(region, order, node_prizes, edge_prizes)
    return Selection(
        NO_STATS,
        NO_STATS,
        triples=triples,
        objective=subgraph.objective,
        gap=subgraph.gap,
        solver=subgraph.solver,
        cuts=(*cuts, *subgraph.cuts),
    )


def limited(
    call: RetrievalContext[Preset], count: int, /, *, total: int | None = None
) -> tuple[Cut, ...]:
    """Returns what the preset's limit cut of ``count`` items, and of all, where that is known."""
    limit = call.preset.limit
    return (Cut("items", CutReason.LIMIT, limit, limit, total),) if count > limit else ()


def over(
    call: RetrievalContext[Preset], items: Sequence[ItemT]
) -> tuple[tuple[ItemT, ...], tuple[Cut, ...]]:
    """Returns the items of at least the least score asked for, and what that cut."""
    if call.min_score is None:
        return tuple(items), ()
    remaining = tuple(item for item in items if item.score >= call.min_score)
    if len(remaining) == len(items):
        return remaining, ()
    return remaining, (
        Cut("items", CutReason.MIN_SCORE, call.min_score, len(remaining), len(items)),
    )


def _selected_edges(
    region: Region, edges: Int64, node_prizes: Float64, edge_prizes: Float64
) -> tuple[SelectedEdge, ...]:
    total = triple_totals(region, nodes=node_prizes, edges=edge_prizes)
    return tuple(
        SelectedEdge(
            edge=int(region.edges[edge]),
            score=round(float(total[edge]), 9),
            head_prize=float(node_prizes[region.head[edge]]),
            edge_prize=float(edge_prizes[edge]),
            tail_prize=float(node_prizes[region.tail[edge]]),
        )
        for edge in edges.tolist()
    )
