"""What one retrieval is worth to a question whose answer is known, and why it went wrong.

* sequence@1: the first path begins at a topic and follows the gold relations; of a conjunction it
  also ends at an answer, and of a set that gives answers alone it ends at exactly those.
* Hits@1, Hits@10: the end of the first path is an answer; one of the first ten distinct ends.
* right among 5, 40: a right sequence is among the first of those that are ranked, before constraints.
* F1: of what the result answers, or of the ends of the first path's sequence where it has no answer.
* confidence: of the first answer, where the result has one.
* ok, right of ok: whether the status is ``ok``; of those, Hits@1 or right first.
* recall@5, recall@10: share of the gold statements among the first triplets, of the way to give an
  answer that fares best.
* right first: of questions with constraints, Hits@1; of a count, or a question for yes or no, whether
  the result says it.
* coverage: share of the relations that bear on an open question that are among the first ten
  triplets.
* linked, precision: share of the topics that were linked; share of the links that are topics, or
  classes that the question names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from benchmarks.families import FamilyQuestion, signed
from graph_service.model.answer import AnswerKind
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import (
    PathsResult,
    Retrieval,
    ScoredPath,
    Status,
    Strategy,
    Triple,
    TripletsResult,
)
from graph_service.model.values import (
    EntityValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    Value,
    display_value,
)
from graph_service.quality.chains import Chains, TripleIds, triples_of, twin_of, twin_triple
from graph_service.quality.finalists import FinalistRecorder
from graph_service.quality.question_sets import Step
from graph_service.retrieve.region.cut import extract_region
from graph_service.service import Service

RECALL_AT = (5, 10)
ENDS = 10
_PATHS = 20
_INSTANCES_JUDGED = 2000


class Cause(StrEnum):
    """Why the first path is not what was asked for, or does not end at an answer."""

    NOTHING_LINKED = "nothing linked"
    LINKED_WRONG = "linked wrong"
    OTHER_START = "other start"
    CUT = "cut"
    NOTHING_FOUND = "nothing found"
    TOO_SHORT = "too short"
    TOO_LONG = "too long"
    WRONG_RELATION = "wrong relation"
    WRONG_DIRECTION = "wrong direction"
    CONSTRAINT_IGNORED = "constraint ignored"
    OTHER_END = "other end"


@dataclass(frozen=True, slots=True)
class Judgement:
    """How one question fared.

    Attributes:
        id: The question's.
        figures: By name, 0 to 1; what cannot be judged is not there.
        cause: Of a miss of sequence@1, or of Hits@1 where the sequence is right; empty for none.
        status: How the retrieval of paths ended.
        ms: What that took.
        linked: Ids linked.
        gold, got: The right sequence and the first one, as a person reads them.
    """

    id: str
    figures: Mapping[str, float]
    cause: str
    status: str
    ms: float
    linked: tuple[str, ...]
    gold: str
    got: str


@dataclass(frozen=True, slots=True)
class _First:
    start: str
    steps: tuple[Step, ...]
    end: str


class FamilyJudge:
    """Judges questions over one graph.

    Args:
        service: Over a store that holds the graph.
        graph: Its name.
        preset: Under which retrieval runs.
        given: Whether the topics are given, instead of linked.
    """

    def __init__(self, service: Service, graph: str, /, *, preset: str, given: bool) -> None:
        self._service = service
        self._name = graph
        self._preset = preset
        self._given = given
        self._graph = service.arrays(service.graph(graph))
        self._chains = Chains(self._graph)
        self.embedder = ""
        self.parameters: Mapping[str, object] = {}

    def judge(self, question: FamilyQuestion, /) -> Judgement:
        """Returns how a question fares: one call for paths, one for triplets."""
        request = RetrieveRequest(
            question.text,
            Strategy.PATHS,
            graph=self._name,
            preset=self._preset,
            entity_ids=question.topics if self._given else (),
            limit=_PATHS,
        )
        finalists = FinalistRecorder()
        with self._service.noting_rankings(finalists.note):
            paths = self._service.retrieve(request)
        found = self._service.retrieve(
            replace(request, strategy=Strategy.TRIPLETS, limit=max(RECALL_AT))
        )
        assert isinstance(paths, PathsResult)
        assert isinstance(found, TripletsResult)
        self.embedder = paths.provenance.embedder
        self.parameters = paths.provenance.parameters
        first = _first(paths)
        gold = self._gold(question)
        right = first is not None and self._is_right(question, first)
        if question.relevant:
            figures = _covered(question, found)
            hit = right = True
        elif question.told:
            hit = right = told_by(paths) == question.told
            figures = {"right first": float(hit)}
        else:
            figures = _found(question, paths, found, gold)
            hit = bool(figures["Hits@1"])
            figures["sequence@1"] = float(right)
            figures |= finalists.figures(partial(self._is_chain, question))
        if not question.relevant:
            if paths.confidence is not None:
                figures["confidence"] = paths.confidence
            is_ok = paths.status is Status.OK
            figures["ok"] = float(is_ok)
            if is_ok:
                figures["right of ok"] = float(hit)
        linked = tuple(one.entity.id for one in paths.linked)
        if not self._given:
            meant = {*question.topics, *question.classes}
            figures["linked"] = _share(question.topics, set(linked))
            if linked:
                figures["precision"] = _share(linked, meant)
        cause = "" if right and hit else self._cause(question, paths, first, right, gold).value
        return Judgement(
            id=question.id,
            figures=figures,
            cause=cause,
            status=paths.status.value,
            ms=paths.timings_ms["total"],
            linked=linked,
            gold=" or ".join(f"{chain.start} {signed(chain.steps)}" for chain in question.chains),
            got=f"{first.start} {signed(first.steps)} = {first.end}" if first else "",
        )

    def _is_right(self, question: FamilyQuestion, first: _First) -> bool:
        if self._follows(question, first):
            return question.shape != "conjunction" or first.end in question.answers
        return (
            question.any_exact
            and first.start in question.topics
            and self._chains.end_nodes(first.start, first.steps) == question.answers
        )

    def _is_chain(self, question: FamilyQuestion, sequence: tuple[str, tuple[Step, ...]]) -> bool:
        start, steps = sequence
        return (start, steps) in {(chain.start, chain.steps) for chain in question.chains} or (
            question.any_exact
            and start in question.topics
            and self._chains.end_nodes(start, steps) == question.answers
        )

    def _follows(self, question: FamilyQuestion, first: _First) -> bool:
        return any((first.start, first.steps) == (c.start, c.steps) for c in question.chains)

    def _gold(self, question: FamilyQuestion) -> tuple[frozenset[TripleIds], ...]:
        if question.gold:
            return question.gold
        found = (
            triples_of(walk, chain.steps)
            for chain in question.chains
            for walk in self._chains.instances(chain.start, chain.steps)
        )
        return tuple(dict.fromkeys(found))[:_INSTANCES_JUDGED]

    def _cause(
        self,
        question: FamilyQuestion,
        paths: PathsResult,
        first: _First | None,
        right: bool,
        gold: Sequence[frozenset[TripleIds]],
    ) -> Cause:
        if right or (first is not None and self._follows(question, first)):
            return Cause.CONSTRAINT_IGNORED if question.is_constrained else Cause.OTHER_END
        starts = [chain.start for chain in question.chains]
        linked = [one.entity.id for one in paths.linked]
        if not linked:
            return Cause.NOTHING_LINKED
        if not set(starts) & set(linked):
            return Cause.LINKED_WRONG
        if question.told:
            return Cause.CONSTRAINT_IGNORED
        if gold and not self._is_within(linked, gold, paths):
            return Cause.CUT
        if first is None:
            return Cause.NOTHING_FOUND
        if first.start not in starts:
            return Cause.OTHER_START
        return min(
            _difference(first.steps, chain.steps)
            for chain in question.chains
            if chain.start == first.start
        )[1]

    def _is_within(
        self, linked: Iterable[str], gold: Sequence[frozenset[TripleIds]], result: Retrieval
    ) -> bool:
        """Returns whether the region holds all of one way to give an answer."""
        nodes = [node for id_ in linked if (node := self._graph.find_node(id_)) is not None]
        parameters = result.provenance.parameters
        region = extract_region(
            self._graph,
            nodes,
            hops=parameters["hops"],
            hub_degree=parameters["hub_degree"],
            max_edges=parameters["max_edges"],
        )
        graph = self._graph
        wanted = {triple for ways in gold for triple in ways}
        relations = {
            number
            for _, relation, _ in wanted
            for name in (relation, f"{relation}_inverse")
            if (number := graph.find_relation(name)) is not None
        }
        edges = [edge for edge in region.edges.tolist() if int(graph.rel[edge]) in relations]
        there = {self._edge_ids(graph, edge) for edge in edges}
        return any(all(_entity_part(graph, triple) in there for triple in ways) for ways in gold)

    @staticmethod
    def _edge_ids(graph: KnowledgeGraph, edge: int) -> TripleIds:
        tail = int(graph.tail[edge])
        return twin_triple(
            graph.node_ids[int(graph.head[edge])],
            graph.relation_ids[int(graph.rel[edge])],
            graph.node_ids[tail] if tail < graph.entity_count else "",
        )


def _entity_part(graph: KnowledgeGraph, triple: TripleIds) -> TripleIds:
    # A literal is told by its statement; whose it is and what it says of it is enough here.
    head, relation, value = triple
    return head, relation, value if graph.find_node(value) is not None else ""


def _covered(question: FamilyQuestion, found: TripletsResult) -> dict[str, float]:
    shown = {item.triple.relation.id for item in found.items}
    return {"coverage": len(shown & question.relevant) / len(question.relevant)}


def _found(
    question: FamilyQuestion,
    paths: PathsResult,
    found: TripletsResult,
    gold: Sequence[frozenset[TripleIds]],
) -> dict[str, float]:
    ends = list(dict.fromkeys(end_of(path) for path in paths.items))[:ENDS]
    hit = float(bool(ends) and ends[0] in question.answers)
    figures = {
        "sequence@1": 0.0,
        "Hits@1": hit,
        f"Hits@{ENDS}": float(any(end in question.answers for end in ends)),
        "F1": _f1(_answered(paths), question.answers),
    }
    if question.is_constrained:
        figures["right first"] = hit
    triples = [_ids(item.triple) for item in found.items]
    for at in RECALL_AT if gold else ():
        figures[f"recall@{at}"] = _best_recall(gold, triples[:at])
    return figures


def _answered(paths: PathsResult) -> frozenset[str]:
    """Returns what a result answers; without an answer the ends of the first path's sequence."""
    answer = paths.answer
    if answer is not None and answer.entities:
        return frozenset(entity.id for entity in answer.entities)
    if answer is not None and answer.kind is AnswerKind.ENTITIES:
        return frozenset(answer.value.split("; "))
    ways = [(first.start, first.steps) for first in map(_way, paths.items)]
    same = zip(paths.items, ways, strict=True)
    return frozenset(end_of(path) for path, way in same if way == ways[0])


def _f1(answered: frozenset[str], right: frozenset[str]) -> float:
    return 2 * len(answered & right) / max(len(answered) + len(right), 1)


def _difference(got: tuple[Step, ...], gold: tuple[Step, ...]) -> tuple[int, Cause]:
    """Returns how a sequence differs from the gold one, and how far."""
    if [step[0] for step in got] == [step[0] for step in gold]:
        return 0, Cause.WRONG_DIRECTION
    if len(got) < len(gold) and set(got) <= set(gold):
        return 1, Cause.TOO_SHORT
    if len(got) > len(gold) and set(gold) <= set(got):
        return 2, Cause.TOO_LONG
    return 3, Cause.WRONG_RELATION


def _first(paths: PathsResult) -> _First | None:
    return _way(paths.items[0]) if paths.items else None


def _way(path: ScoredPath) -> _First:
    step = path.steps[0]
    start = value_text(step.triple.value) if step.reversed else step.triple.head.id
    steps = tuple(twin_of((each.triple.relation.id, each.reversed)) for each in path.steps)
    return _First(start, steps, end_of(path))


def end_of(path: ScoredPath, /) -> str:
    """Returns what a path ends at, as question sets write it."""
    last = path.steps[-1]
    return last.triple.head.id if last.reversed else value_text(last.triple.value)


def told_by(result: Retrieval, /) -> str:
    """Returns the number, ``yes`` or ``no`` that a result tells beside its items; else nothing."""
    value = getattr(getattr(result, "answer", None), "value", None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value).lower()


def value_text(value: Value, /) -> str:
    """Returns a value as question sets write it.

    >>> value_text(Time("2012-01-01T00:00:00Z", 9)), value_text(EntityValue("Q42"))
    ('2012-01-01', 'Q42')
    """
    match value:
        case EntityValue(id=id_):
            return id_
        case Time(time=time):
            return time.partition("T")[0]
        case Quantity(amount=amount):
            return amount
        case StringValue(text=text):
            return text
        case SomeValue():
            return ""
        case _:
            return display_value(value)


def _ids(triple: Triple) -> TripleIds:
    return twin_triple(triple.head.id, triple.relation.id, value_text(triple.value))


def _best_recall(ways: Iterable[frozenset[TripleIds]], found: Sequence[TripleIds]) -> float:
    got = frozenset(found)
    return max((len(gold & got) / len(gold) for gold in ways), default=0.0)


def _share(of: Sequence[str], there: set[str]) -> float:
    return sum(one in there for one in of) / len(of)


Judge = Callable[[FamilyQuestion], Judgement]
"""Judges a question: ``FamilyJudge.judge``, or what a test puts in its place."""
