"""What a retrieval returns: the same types from the service, the API and the client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, StrEnum
from typing import Any

from graph_service.model.answer import AnswerKind, AnswerMeasure, Interpretation, ReadConstraint
from graph_service.model.identity import Fingerprints
from graph_service.model.limits import Cut
from graph_service.model.statement import Entity, Rank, Reference, Snak
from graph_service.model.values import EntityValue, Quantity, Value, plain_value
from graph_service.model.view_spec import ChangeKind


class Strategy(StrEnum):
    """The three retrievals."""

    TRIPLETS = "triplets"
    PATHS = "paths"
    SUBGRAPH = "subgraph"


class Status(StrEnum):
    """How a retrieval ended; not finding anything is data, not an error.

    ``LOW_CONFIDENCE``: no relation of the graph is much like what is asked, or the question may
    mean another thing of that name. The items are what comes nearest: something to answer an open
    question from, and no answer to a question for a fact.

    ``NOT_IN_GRAPH``: which entity and which relation are meant is sure, and the entity has no
    statement of it. The items are what else comes near.
    """

    OK = "ok"
    NO_ENTITY_LINKED = "no-entity-linked"
    LOW_CONFIDENCE = "low-confidence"
    NOT_IN_GRAPH = "not-in-graph"
    NOTHING_RELEVANT = "nothing-relevant"


STATUS_TEXTS: Mapping[Status, str] = {
    Status.OK: "Something was found that bears on the question.",
    Status.NO_ENTITY_LINKED: "The question names nothing in the graph.",
    Status.LOW_CONFIDENCE: "It is not sure that the graph answers this. What comes nearest is shown.",
    Status.NOT_IN_GRAPH: "The graph does not say this. What comes nearest is shown.",
    Status.NOTHING_RELEVANT: "Of what the question names the graph has no statement, or filters leave none.",
}
"""What each status says, for people."""


@dataclass(frozen=True, slots=True)
class EntityRef:
    """An entity by id, with the label it was shown under (its id where it has none)."""

    id: str
    label: str
    description: str | None = None


@dataclass(frozen=True, slots=True)
class RelationRef:
    """A relation by id, with its label (the last part of its name where it has none)."""

    id: str
    label: str


@dataclass(frozen=True, slots=True)
class Triple:
    """A statement as retrieval shows it.

    ``qualifiers`` and ``references`` are filled only when asked for. ``stands_for`` are the ids of
    statements that say the same in another language or of another edition of an entity, and that
    were left out for this one (O13). ``source`` is the source that states it, where equal entities
    of several sources are one node: that of the head's id (``model.equal_entities``).
    """

    statement_id: str
    head: EntityRef
    relation: RelationRef
    value: Value
    value_label: str
    rank: Rank = Rank.NORMAL
    qualifiers: tuple[Snak, ...] = ()
    references: tuple[Reference, ...] = ()
    stands_for: tuple[str, ...] = ()
    source: str | None = None


@dataclass(frozen=True, slots=True)
class TripleChange:
    """How a triple of a view differs from its base; for people who study the view."""

    kind: ChangeKind = ChangeKind.UNCHANGED
    base: Triple | None = None


@dataclass(frozen=True, slots=True)
class Prizes:
    """The parts of a triple's score."""

    head: float
    edge: float
    tail: float


class ScorePartName(Enum):
    """A part of a path's score."""

    RELEVANCE = "relevance"
    BELOW_BEST = "below_best"
    UNMET = "unmet"
    REPEATS = "repeats"
    NODES = "nodes"
    EDGES = "edges"
    COST = "cost"
    RELATION = "relation"


@dataclass(frozen=True, slots=True)
class ScorePart:
    """One part of a path's score; the parts add up to it.

    Attributes:
        name: ``relevance`` of the best path, ``below_best``, ``unmet`` (constraints that others
            meet) and ``repeats``; preset ``okgqa``: ``nodes``, ``edges``, ``cost``; ``ltgen``:
            ``relation``.
    """

    name: str
    amount: float


@dataclass(frozen=True, slots=True)
class ScoredTriple:
    """A triple with its score and the parts of it.

    Attributes:
        origin_id: The question's entity that it is fewest steps from, of several the one named
            first; empty where nothing was asked.
        constraints: Those that were read, and whether the path it is of meets each.
    """

    triple: Triple
    score: float
    prizes: Prizes
    change: TripleChange = TripleChange()
    origin_id: str = ""
    constraints: tuple[ReadConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a path; ``reversed`` where it was walked from value to head."""

    triple: Triple
    reversed: bool
    change: TripleChange = TripleChange()


@dataclass(frozen=True, slots=True)
class ScoredPath:
    """A path with its score and the parts of it.

    Attributes:
        origin_id: The question's entity that it begins at, or is fewest steps from.
        constraints: Those that were read, and whether it meets each.
    """

    steps: tuple[Step, ...]
    score: float
    origin_id: str = ""
    parts: tuple[ScorePart, ...] = ()
    constraints: tuple[ReadConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity that the question was taken to name.

    Attributes:
        mention: The words of the question, empty where the caller gave the id.
        start, end: Where they stand in the question, in characters; -1 where given.
        score: Share of the mention's evidence that this entity has, 0 to 1.
        alternatives: The runners-up of that mention, best first.
        swapped_for: The irrelevant entity that retrieval started from instead, where the caller asked
            for linking that is wrong to a known share (K7).
    """

    entity: EntityRef
    mention: str
    start: int
    end: int
    score: float
    alternatives: tuple[EntityRef, ...] = ()
    swapped_for: EntityRef | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """Size of the result's text."""

    count: int
    tokenizer: str


@dataclass(frozen=True, slots=True)
class StageTiming:
    """How long a stage of a query took; ``total`` is the query from end to end."""

    stage: str
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a result came from; enough to ask for it again.

    Attributes:
        parameters: All parameters as resolved, the preset's included.
    """

    graph: str
    edition: str
    fingerprints: Fingerprints
    view_id: str | None
    view_spec: str | None
    strategy: Strategy
    preset: str
    parameters: Mapping[str, Any]
    embedder: str
    solver: str | None
    version: str


@dataclass(frozen=True, slots=True)
class RegionStats:
    """Figures of a region that OKGQA reports (its Table 2 and appendix).

    Attributes:
        nodes, edges: Counts.
        mean_degree: 2 * edges / nodes.
        clustering: Average clustering coefficient of the simple undirected graph.
        density: Of the directed graph: edges / (nodes * (nodes - 1)).
    """

    nodes: int
    edges: int
    mean_degree: float
    clustering: float | None
    density: float


@dataclass(frozen=True, slots=True)
class RegionReport:
    """Size of the region before and after PageRank cut it."""

    before: RegionStats
    after: RegionStats


@dataclass(frozen=True, slots=True)
class BasisStatement:
    """A statement that an answer rests on, and how it differs from the base."""

    triple: Triple
    change: TripleChange = TripleChange()


MOST_BASIS = 20
"""Statements of an answer that are shown."""
MOST_NAMED = 20
"""Entities that the text of an answer names."""
MOST_COUNTED = 5
"""The same of an answer that says how many there are."""


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """A count, an average or a total of one of some things, of an answer of kind ``groups``.

    Attributes:
        entity: The thing; None where it is a literal.
        label: Its label, or the literal's text.
        value: The number in decimal digits.
        unit: Label of its unit; None for none.
    """

    entity: EntityRef | None
    label: str
    value: str
    unit: str | None = None

    @property
    def text(self) -> str:
        """The thing with its number, as in ``Porto: 72000 EUR``."""
        return f"{self.label}: {self.value}{f' {self.unit}' if self.unit else ''}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the statements found say in answer to the question.

    Attributes:
        value: A count or a stored number in decimal digits; ``yes`` or ``no``; else the labels of
            what is meant, ``; `` between them.
        entities: What is meant, for entities and superlatives; empty for literal values.
        basis: The statements that it rests on, at most ``MOST_BASIS``, those that say most first.
        statements: How many those are in all.
        truncated: Whether limits left out statements that may count.
        measure: What an average or a total is made of; None for other answers.
        groups: The number of each of some things, in the order of the answer; empty for others.
    """

    kind: AnswerKind
    value: str
    entities: tuple[EntityRef, ...] = ()
    basis: tuple[BasisStatement, ...] = ()
    statements: int = 0
    truncated: bool = False
    measure: AnswerMeasure | None = None
    groups: tuple[AnswerGroup, ...] = ()

    @property
    def text(self) -> str:
        """The answer as a program prints it.

        ``yes``, ``1947-07-30``, ``5.2 kg``, ``Rome, Bern``, or how many and the first of them:
        ``11: rotor, stator, shaft, frame, brush, and 6 more``. An average or a total tells of how
        many numbers: ``41.5 kg (average of 8; 2 have none)``.
        """
        if self.measure is not None:
            unit = f" {self.measure.unit}" if self.measure.unit else ""
            verb = "has" if self.measure.missing == 1 else "have"
            missing = f"; {self.measure.missing} {verb} none" if self.measure.missing else ""
            return f"{self.value}{unit} ({self.kind.value} of {self.measure.values}{missing})"
        if self.kind is AnswerKind.COUNT:
            labels = [entity.label for entity in self.entities]
            if labels:
                total = max(len(labels), int(self.value) if self.value.isdecimal() else 0)
                return f"{self.value}: {_enumerated(labels, total, most=MOST_COUNTED)}"
            return self._measure() or self.value
        if self.groups:
            rows = [group.text for group in self.groups]
            return _enumerated(rows, len(rows), most=MOST_NAMED)
        labels = [label for label, _ in self._meant()]
        return _enumerated(labels, len(labels), most=MOST_NAMED)

    @property
    def values(self) -> tuple[str, ...]:
        """The answer as a program compares it, one text for each thing that is meant.

        An id of an entity, ``true`` or ``false``, a number in decimal digits, a date as
        ``1947-07-30``, ``1947-07`` or ``1947``; any other literal as it is.
        """
        if self.kind is AnswerKind.YES_NO:
            return ("true" if self.value == "yes" else "false",)
        if self.kind is AnswerKind.COUNT or self.measure is not None:
            return (self.value,)
        return tuple(value for _, value in self._meant())

    @property
    def named(self) -> tuple[tuple[str, str], ...]:
        """The label and the plain value of each thing that the text names, in its order."""
        if self.kind is AnswerKind.YES_NO or self.measure is not None or self.groups:
            return ()
        if self.kind is AnswerKind.COUNT:
            return tuple((each.label, each.id) for each in self.entities[:MOST_COUNTED])
        return tuple(self._meant()[:MOST_NAMED])

    def _meant(self) -> list[tuple[str, str]]:
        """Returns the label and the plain value of each thing that is meant.

        ``value`` has the labels alone. Of a literal the basis has the value, unless there are more
        statements than it shows.
        """
        entities = [(entity.label, entity.id) for entity in self.entities]
        literals = {
            row.triple.value_label: plain_value(row.triple.value)
            for row in self.basis
            if not isinstance(row.triple.value, EntityValue)
        }
        # A text may have a semicolon of its own.
        labels = [self.value] if self.value in literals else self.value.split("; ")
        known = {label for label, _ in entities}
        return entities + [
            (label, literals.get(label, label))
            for label in labels
            if label not in known and (label in literals or not entities)
        ]

    def _measure(self) -> str | None:
        """Returns the number with its unit, where a statement has it."""
        return next(
            (
                row.triple.value_label
                for row in self.basis
                if isinstance(row.triple.value, Quantity) and row.triple.value.amount == self.value
            ),
            None,
        )


def _enumerated(labels: Sequence[str], total: int, *, most: int) -> str:
    """Returns the first of some labels, and how many more there are of so many in all."""
    named = labels[:most]
    return ", ".join([*named, *([f"and {total - len(named)} more"] if total > len(named) else [])])


MOST_OF_READING = 20
"""Answers that a reading of an answer set lists."""


@dataclass(frozen=True, slots=True)
class ReadingOfSet:
    """A query that a question may mean, with what it answers.

    Attributes:
        text: The query in English, with labels of the graph.
        gap: How far its score is below that of the first, in units of the learned score, at most 0.
        values: Its answers as a program compares them, at most ``MOST_OF_READING``: ids of
            entities, values of literals.
        labels: The same for people.
        count: How many answers it has.
    """

    text: str
    gap: float
    values: tuple[str, ...]
    labels: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """The smallest set of readings whose answers hold the right one in a share of questions.

    By split conformal prediction: the share holds for questions that are exchangeable with those
    that it was calibrated on, answerable ones.

    Attributes:
        coverage: The share that was requested.
        is_attained: Whether the calibration reached it. Else all readings are there, and the right
            answer is missing more often.
        readings: Best first.
    """

    coverage: float
    is_attained: bool
    readings: tuple[ReadingOfSet, ...]


@dataclass(frozen=True, slots=True)
class ResultPart:
    """One of several questions of a text, with what a result has of it.

    Attributes:
        question: As it was read: a pronoun has the name that it stands for.
        item_indexes: Its items among those of the result, best first.
        status, linked, relevance, confidence, constraints, answer, interpretation: As of a
            ``Retrieval``.
    """

    question: str
    status: Status
    linked: tuple[LinkedEntity, ...]
    item_indexes: tuple[int, ...]
    relevance: float | None = None
    confidence: float | None = None
    constraints: tuple[ReadConstraint, ...] = ()
    answer: Answer | None = None
    interpretation: Interpretation | None = None

    @property
    def status_text(self) -> str:
        """What the status says, for people."""
        return STATUS_TEXTS[self.status]


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What all retrievals have in common.

    Attributes:
        id: Hash of what was asked and what was found: same request, same answer, same id. The
            timings, the edition's number, qualifiers and references are no part of it.
        truncated: What limits left out.
        timings_ms: Milliseconds by stage; no part of the id.
        relevance: How much the best relations found are like the question, at most 1; None where
            the preset does not say. Under its ``min_relevance`` the status is not ``OK``.
        confidence: How probably the first answer is right, 0 to 1; None where the preset or its
            ranker does not say. Under ``min_confidence`` the status is not ``OK``, but for an answer
            that was computed.
        constraints: What the question was read to state beside its relations; the items that meet
            it come first.
        answer: What the statements say in answer, where the question asks for more than entities
            and it is sure; else None.
        interpretation: How the question was read; None where no path was found, or the preset does
            not say. It follows from the rest, and is no part of the id.
        answer_set: The readings that hold the right answer with a ``coverage`` that was requested;
            None where none was, where the answer was computed, or the ranker is not calibrated.
        parts: The questions of a text that asks several; empty for one. Then the items are those of
            the questions in turns, the status is that of all or ``LOW_CONFIDENCE``, relevance and
            confidence are the least, and each part has its answer and its interpretation.
    """

    id: str
    question: str
    status: Status
    linked: tuple[LinkedEntity, ...]
    truncated: tuple[Cut, ...]
    tokens: Tokens
    region: RegionReport | None
    provenance: Provenance
    timings_ms: Mapping[str, float] = field(compare=False)
    relevance: float | None = None
    confidence: float | None = None
    constraints: tuple[ReadConstraint, ...] = ()
    answer: Answer | None = None
    interpretation: Interpretation | None = None
    answer_set: AnswerSet | None = None
    parts: tuple[ResultPart, ...] = ()

    @property
    def status_text(self) -> str:
        """What the status says, for people."""
        return STATUS_TEXTS[self.status]


@dataclass(frozen=True, slots=True)
class TripletsResult(Retrieval):
    """The triples with the highest total prize, best first."""

    items: tuple[ScoredTriple, ...] = ()


@dataclass(frozen=True, slots=True)
class PathsResult(Retrieval):
    """The best paths from the question's entities, best first."""

    items: tuple[ScoredPath, ...] = ()


@dataclass(frozen=True, slots=True)
class SubgraphResult(Retrieval):
    """One connected subgraph of high prize and low cost.

    Attributes:
        objective: Sum of node prizes and of (edge prize - cost).
        gap: Share by which the optimum can at most be better; None where no bound is known.
    """

    items: tuple[ScoredTriple, ...] = ()
    objective: float | None = None
    gap: float | None = None


RetrievalResult = TripletsResult | PathsResult | SubgraphResult


def single_results(result: RetrievalResult, /) -> tuple[RetrievalResult, ...]:
    """Returns the result of each question of a text; the result itself where it asks one."""
    if not result.parts:
        return (result,)
    return tuple(_single_result(result, part) for part in result.parts)


def _single_result(result: RetrievalResult, part: ResultPart) -> RetrievalResult:
    items: Any = tuple(result.items[index] for index in part.item_indexes)
    return replace(
        result,
        question=part.question,
        status=part.status,
        linked=part.linked,
        relevance=part.relevance,
        confidence=part.confidence,
        constraints=part.constraints,
        answer=part.answer,
        interpretation=part.interpretation,
        items=items,
        parts=(),
    )


def triples_of(result: RetrievalResult, /) -> tuple[Triple, ...]:
    """Returns the distinct triples of a result, in order of first appearance."""
    triples: dict[str, Triple] = {}
    for item in result.items:
        if isinstance(item, ScoredPath):
            for step in item.steps:
                triples.setdefault(step.triple.statement_id, step.triple)
        else:
            triples.setdefault(item.triple.statement_id, item.triple)
    return tuple(triples.values())


@dataclass(frozen=True, slots=True)
class SearchHit:
    """An entity found by its names, ranked by ``store.search.rank_hits``.

    Attributes:
        matched: The name that matched, and ``language`` its language.
        is_alias: Whether that name is an alias.
    """

    entity: Entity
    matched: str
    language: str
    is_alias: bool
    score: float


@dataclass(frozen=True, slots=True)
class MatchingItem:
    """An item found by name; ``matched`` is that name."""

    item: EntityRef
    matched: str
    language: str
    is_alias: bool
    score: float


@dataclass(frozen=True, slots=True)
class ClientComparison:
    """One view's result beside the base's; ``view_id`` is None for the base."""

    view_id: str | None
    view_spec: str | None
    result: RetrievalResult
    lost: tuple[str, ...]
    gained: tuple[str, ...]
    changed: tuple[str, ...]
