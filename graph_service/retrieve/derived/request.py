"""What a question is derived an answer for, and what it is derived from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph_service.link.joint import JointMention
from graph_service.link.starts import StartCandidate
from graph_service.model.answer import AnswerKind
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.result import ScorePart, Strategy
from graph_service.query.algebra import Query
from graph_service.query.result import QueryLimits
from graph_service.query.walking import Walker
from graph_service.retrieve.context import (
    NO_STATS,
    ReadQuery,
    SelectedAnswer,
    SelectedEdge,
    SelectedPath,
    Selection,
)
from graph_service.retrieve.labels import Labels
from graph_service.views.times import StatementReader

SURE = 0.9
"""Confidence in an answer whose question was read as a whole."""


@dataclass(frozen=True, slots=True, eq=False)
class DerivedRequest:
    """What a question is derived an answer for, and what it is derived from.

    Attributes:
        question: As asked.
        candidates: What it may name (``start_candidates``).
        graph: The base.
        overlay: The view, if any.
        ranks: ``RANK_CODES`` of the statements that count.
        languages: Of labels, best first.
        strategy: What is picked.
        limit: Items at most.
        min_confidence: From which on an answer is sure.
        statements: Gives whole statements by id.
        deadline: Raises ``DeadlineError`` when past.
    """

    question: str
    candidates: Sequence[StartCandidate]
    graph: KnowledgeGraph
    overlay: Overlay | None
    ranks: Sequence[int]
    languages: Sequence[str]
    strategy: Strategy
    limit: int
    min_confidence: float
    statements: StatementReader
    deadline: Deadline

    @property
    def labels(self) -> Labels:
        """Gives labels, English ones first: the patterns of questions are English."""
        languages = tuple(dict.fromkeys(("en", *self.languages)))
        return Labels(self.graph, self.overlay, languages, self.deadline)

    def walker(self) -> Walker:
        """Returns what walks the graph or the view."""
        return Walker(
            self.graph,
            self.overlay,
            ranks=self.ranks,
            limits=QueryLimits(),
            deadline=self.deadline,
        )


@dataclass(frozen=True, slots=True)
class DerivedWalk:
    """Statements in a row that lead to a part of an answer, and which were walked tail to head."""

    edges: tuple[int, ...]
    reversed: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class DerivedAnswer:
    """An answer that follows from statements.

    Attributes:
        kind: What it tells.
        value: Its text; None for the labels of ``nodes``.
        nodes: What is meant, global numbers.
        walks: That lead to it, the first ones first.
        others: Further statements that it rests on, global edge numbers.
        names: What the question is taken to name; walks start at the first.
        query: That it was read as; None where no query says it.
    """

    kind: AnswerKind
    value: str | None
    nodes: tuple[int, ...]
    walks: tuple[DerivedWalk, ...]
    others: tuple[int, ...]
    names: tuple[StartCandidate, ...]
    query: Query | None

    @property
    def mentions(self) -> tuple[JointMention, ...]:
        """The words of the question that name something, with what they name."""
        return tuple(
            JointMention(name.start, name.end, name.score, (name.node,))
            for name in sorted(self.names, key=lambda name: name.start)
        )

    def selection(self, request: DerivedRequest, /) -> Selection:
        """Returns the answer with the statements that it rests on."""
        walked = tuple(dict.fromkeys(edge for walk in self.walks for edge in walk.edges))
        origin = self.names[0].node
        selection = Selection(
            NO_STATS,
            NO_STATS,
            relevance=1.0,
            confidence=SURE,
            confident=request.min_confidence <= SURE,
            used_starts=(origin,),
            answer=SelectedAnswer(
                self.kind,
                self.value,
                self.nodes,
                tuple(dict.fromkeys((*walked, *self.others))),
                truncated=False,
            ),
            read=None if self.query is None else ReadQuery(self.query),
        )
        if request.strategy is not Strategy.PATHS:
            triples = tuple(
                SelectedEdge(edge, 1.0, 0.0, 1.0, 0.0, origin) for edge in walked[: request.limit]
            )
            return replace(selection, triples=triples, cuts=_cuts(request, len(walked)))
        paths = tuple(
            SelectedPath(walk.edges, walk.reversed, 1.0, (ScorePart("relevance", 1.0),), origin)
            for walk in self.walks[: request.limit]
        )
        return replace(selection, paths=paths, cuts=_cuts(request, len(self.walks)))


def _cuts(request: DerivedRequest, items: int) -> tuple[Cut, ...]:
    limit = request.limit
    return (Cut("items", CutReason.LIMIT, limit, limit, items),) if items > limit else ()
