"""The query that a question was read as: the best candidate's walks with what constrains them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.answer import MOST_READINGS, AnswerKind
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int64
from graph_service.model.values import EntityValue, MonolingualText, StringValue, stored_value
from graph_service.query.algebra import (
    MAX_STEPS,
    Among,
    AnyOf,
    Comparable,
    Condition,
    During,
    Entities,
    Filter,
    Fold,
    InstanceOf,
    Not,
    Order,
    Present,
    Query,
    Relation,
    Step,
    Text,
)
from graph_service.retrieve.constraints.answer_kind import names_what_is_first
from graph_service.retrieve.constraints.answering import compare_end_nodes
from graph_service.retrieve.constraints.chosen import Chosen, Reading
from graph_service.retrieve.constraints.joining import joining_step
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meeting import CandidateWalks, Constraint, Met
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.reading import AnswerForm, Superlative
from graph_service.retrieve.constraints.reciprocal import both_ways
from graph_service.retrieve.constraints.unread import other_unread, unread_words
from graph_service.retrieve.context import RankedQuery, ReadQuery, RetrievalContext
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.retrieve.learned.network import SCORE_DIGITS
from graph_service.retrieve.preset import LearnedPreset
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import NEGATIONS

_NEGATIONS = NEGATIONS | {"longer", "than"}
"""Words of a negation, which change what is asked for."""
_MOST_IDS = 20
"""Entities of one name that a filter lists."""


def interpret(
    call: RetrievalContext[LearnedPreset],
    candidates: Candidates,
    chosen: Chosen,
    /,
    *,
    relevance: float,
) -> ReadQuery:
    """Returns the query whose answers come first, and the words that it does not account for.

    Args:
        call: The retrieval.
        candidates: Of the question.
        chosen: What constraints made of them; at least one.
        relevance: Of the best.
    """
    interpreter = _Interpreter(call, candidates, chosen)
    return replace(interpreter.read(), ranked=interpreter.ranked(relevance))


def plain_query(
    call: RetrievalContext[LearnedPreset], candidates: Candidates, chosen: Chosen, number: int, /
) -> Query:
    """Returns a candidate's start and relations as a query, without what constrains its answers."""
    return _Interpreter(call, candidates, chosen).plain(number)


class _Interpreter:
    def __init__(
        self, call: RetrievalContext[LearnedPreset], candidates: Candidates, chosen: Chosen, /
    ) -> None:
        self._call = call
        self._candidates = candidates
        self._chosen = chosen

    def read(self) -> ReadQuery:
        reading, answer = self._chosen.reading, self._chosen.answer
        if reading is None:
            return ReadQuery(self.plain(self._chosen.ranked[0].number))
        judge, best = reading.judge, reading.best
        stored = self._stored_number()
        if stored is not None:
            query = self.plain(stored)
            return ReadQuery(query, unread_words(judge, best))
        if judge.expected.form is AnswerForm.COMPARISON:
            return self._of_two(reading)
        query = self.plain(best.walks.number)
        if reading.alternative is not None:
            query = self._of_either(query, reading.alternative)
        left: list[str] = []
        filter: Filter | None
        if reading.is_flag:
            query = replace(query, filters=(Condition((), Text("true")),))
        elif reading.targets:
            query = self._with_targets(query, reading)
        else:
            for constraint, how in best.met:
                filter = self._filter(reading, constraint, how)
                query = self._with(query, how.column, filter)
            for constraint in judge.unmet(best) if reading.alternative is None else ():
                filter = self._of_none(judge, constraint)
                query = self._with(query, best.last, filter)
                left += [] if filter is not None else words(constraint.text)
        superlative = judge.expected.superlative
        if superlative is not None:
            order = None
            if answer is not None and answer.kind is AnswerKind.SUPERLATIVE:
                if names_what_is_first(judge, best.walks):
                    order = self._order_of_values(judge, superlative, best.walks)
                else:
                    order = self._order(judge, superlative, np.unique(best.walks.end_nodes))
            query = replace(query, order=order)
            left += [] if order is not None else words(superlative.text)
        if judge.expected.form is AnswerForm.COUNT:
            query = replace(query, fold=Fold.COUNT)
        if judge.expected.form is AnswerForm.YES_NO:
            query = replace(query, fold=Fold.EXISTS)
        return ReadQuery(query, self._unread(reading, left))

    def ranked(self, relevance: float) -> tuple[RankedQuery, ...]:
        """Returns the best candidates as queries, best first."""
        preset, best = self._call.preset, self._chosen.ranked[0].score
        return tuple(
            RankedQuery(
                self.plain(candidate.number),
                round(preset.path_score(relevance, candidate.score - best), SCORE_DIGITS),
            )
            for candidate in self._chosen.ranked[:MOST_READINGS]
        )

    def _of_either(self, query: Query, alternative: JudgedCandidate) -> Query:
        """Returns a query that starts at the other of two names too, or that follows its relation
        either way about.
        """
        other = self.plain(alternative.walks.number)
        if other.start == query.start:
            return both_ways(query, self._call.labels.relation)
        assert isinstance(query.start, Entities)
        assert isinstance(other.start, Entities)
        return replace(query, start=Entities((*query.start.ids, *other.start.ids)))

    def _unread(self, reading: Reading, left: Sequence[str]) -> tuple[str, ...]:
        """Returns the words that nothing accounts for, in their order in the question."""
        judge = reading.judge
        used = {word for target in reading.targets for word in words(target.text)}
        unread = unread_words(judge, reading.best)
        if reading.alternative is not None:
            unread = other_unread(judge, reading.best, judge.span(reading.alternative.walks))
        remaining = {*unread, *left} - used - EMPTY_IN_ENGLISH
        expected = judge.expected
        if expected.is_negated or not judge.reads_negation(reading.best):
            remaining |= _NEGATIONS
        return tuple(dict.fromkeys(word for word in words(judge.question) if word in remaining))

    def plain(self, number: int) -> Query:
        """Returns a candidate's start and relations."""
        region = self._call.region
        start = int(region.start_entities[int(self._candidates.start[number])])
        sequence = self._candidates.sequence(number)[:MAX_STEPS]
        return Query(
            Entities((self._id(int(region.nodes[start])),)),
            tuple(Step(Relation(self._relation_id(rel), bool(back))) for rel, back in sequence),
        )

    @staticmethod
    def _with(query: Query, column: int, filter: Filter | None) -> Query:
        """Returns a query with a filter on what its step of that number, from 1, leads to."""
        if filter is None or not column:
            return query
        if column >= len(query.path):
            return replace(query, filters=(*query.filters, filter))
        steps = list(query.path)
        step = steps[column - 1]
        steps[column - 1] = replace(step, filters=(*step.filters, filter))
        return replace(query, path=tuple(steps))

    def _with_targets(self, query: Query, reading: Reading) -> Query:
        """Returns a query for whether what the question names is there."""
        judge, walks = reading.judge, reading.best.walks
        for target in reading.targets:
            filter: Filter | None
            if isinstance(target, NamedNodes):
                filter = Condition((), self._test_for(judge, _reached(target, walks)))
            elif judge.around.days(int(walks.end_nodes[0])) is not None:
                filter = Condition((), During(target.days))
            else:
                dated = judge.around.dated(np.unique(walks.end_nodes))
                filter = self._dated(min(dated), target) if dated else None
            query = self._with(query, reading.best.last, filter)
        return query

    def _filter(self, reading: Reading, constraint: Constraint, how: Met) -> Filter | None:
        """Returns what makes walks meet a constraint, as a filter on what they pass there."""
        judge = reading.judge
        if not isinstance(constraint, NamedNodes):
            if how.by_end:
                return Condition((), During(constraint.days))
            relation = min(how.relations or (), default=None)
            return None if relation is None else self._dated(relation, constraint)
        if how.by_end:
            nodes = _reached(constraint, reading.best.walks)
            itself = Condition((), self._test_for(judge, nodes))
            return Not(itself) if constraint.is_negated else itself
        return self._joined(reading, constraint, how)

    def _joined(self, reading: Reading, named: NamedNodes, how: Met) -> Filter | None:
        """Returns that a relation joins what is named, the one by which walks meet it."""
        judge, walks = reading.judge, reading.best.walks
        surroundings = judge.surroundings
        passed = np.unique(walks.nodes[how.walks ^ named.is_negated, how.column])
        step = joining_step(passed, named, judge.around, judge.own_stems)
        if step is None:
            return None
        relation, forward = step.relation, step.is_forward
        end_nodes = surroundings.tail[step.edges] if forward else surroundings.head[step.edges]
        test = self._test_for(judge, np.unique(end_nodes))
        id_ = self._relation_id(relation)
        condition = Condition((Relation(id_, backward=not forward),), test)
        if forward and id_ in INSTANCE_RELATIONS and isinstance(test, Among):
            condition = Condition((), InstanceOf(test.ids))
            if how.is_open:
                return AnyOf((condition, Not(Condition((Relation(id_),), Present()))))
        return Not(condition) if named.is_negated else condition

    def _dated(self, relation: int, constraint: Constraint) -> Filter:
        assert not isinstance(constraint, NamedNodes)
        return Condition((Relation(self._relation_id(relation)),), During(constraint.days))

    def _of_none(self, judge: CandidateJudge, constraint: Constraint) -> Filter | None:
        """Returns the filter of a date that nothing meets, where that is the answer: none."""
        answer = self._chosen.answer
        if isinstance(constraint, NamedNodes) or answer is None or not answer.edges:
            return None
        if answer.kind is not AnswerKind.COUNT or answer.value != "0":
            return None
        row = np.flatnonzero(judge.surroundings.edges == answer.edges[0])
        return self._dated(int(judge.surroundings.rel[row[0]]), constraint)

    def _order(
        self, judge: CandidateJudge, superlative: Superlative, end_nodes: Int64
    ) -> Order | None:
        compared = compare_end_nodes(
            superlative, end_nodes, judge.around, judge.text, judge.cosines, judge.form
        )
        if compared is None:
            return None
        edge, superlative = compared.edges[0], compared.superlative
        unit = None
        if not superlative.is_date:
            amount = judge.around.number(int(judge.surroundings.tail[edge]))
            unit = amount.unit or None if amount is not None else None
        return Order(
            (Relation(self._relation_id(int(judge.surroundings.rel[edge]))),),
            Comparable.DATES if superlative.is_date else Comparable.NUMBERS,
            superlative.greatest,
            rank=1,
            unit=unit,
        )

    def _order_of_values(
        self, judge: CandidateJudge, superlative: Superlative, walks: CandidateWalks
    ) -> Order:
        """Returns the order of answers that are numbers of one unit, or dates, by themselves."""
        amount = judge.around.number(int(walks.end_nodes[0]))
        if amount is None:
            return Order((), Comparable.DATES, superlative.greatest, rank=1)
        unit = amount.unit or None
        return Order((), Comparable.NUMBERS, superlative.greatest, rank=1, unit=unit)

    def _of_two(self, reading: Reading) -> ReadQuery:
        """Returns the query of two named things that are compared."""
        judge = reading.judge
        superlative, local = (
            judge.expected.superlative,
            [*map(judge.node_at, judge.expected.compared)],
        )
        nodes = np.array(sorted(node for node in local if node is not None), dtype=np.int64)
        if superlative is None or len(nodes) < 2:
            query = self.plain(reading.best.walks.number)
            return ReadQuery(query, self._unread(reading, []))
        query = Query(Entities(self._ids(judge, nodes)))
        order = self._order(judge, superlative, nodes)
        if order is None:
            return ReadQuery(query, tuple(words(superlative.text)))
        if judge.expected.is_claim:
            in_order = np.array(local, dtype=np.int64)
            start = Entities(self._ids(judge, in_order))
            return ReadQuery(Query(start, order=order, fold=Fold.COMPARE))
        return ReadQuery(replace(query, order=order))

    def _stored_number(self) -> int | None:
        """Returns the candidate whose walks say the number that is the answer, if one does."""
        answer = self._chosen.answer
        if answer is None or answer.kind is not AnswerKind.COUNT or answer.nodes:
            return None
        for candidate in self._chosen.ranked:
            edges = self._call.region.edges[self._candidates.edges(candidate.number)].ravel()
            if tuple(dict.fromkeys(edges.tolist())) == answer.edges:
                return candidate.number
        return None

    def _test_for(self, judge: CandidateJudge, nodes: Int64) -> Among | Text:
        """Returns whether a value is one of some nodes of the surroundings, or their text."""
        node = int(judge.surroundings.nodes[nodes[0]])
        if judge.surroundings.literal[nodes].all() and node < self._call.labels.graph.node_count:
            value = stored_value(self._call.labels.graph.node_ids[node])
            if isinstance(value, StringValue | MonolingualText):
                return Text(value.text)
        things = nodes[~judge.surroundings.literal[nodes]]
        return Among(self._ids(judge, things if len(things) else nodes))

    def _ids(self, judge: CandidateJudge, nodes: Int64) -> tuple[str, ...]:
        """Returns the ids of nodes of the surroundings."""
        return tuple(
            self._id(node) for node in judge.surroundings.nodes[nodes[:_MOST_IDS]].tolist()
        )

    def _id(self, node: int) -> str:
        graph, overlay = self._call.labels.graph, self._call.labels.overlay
        if node < graph.entity_count:
            return graph.node_ids[node]
        encoded = graph.node_ids[node] if node < graph.node_count else None
        if encoded is None:
            assert overlay is not None
            encoded = overlay.new_nodes[node - graph.node_count]
        value = stored_value(encoded)
        # A literal is no entity: its text stands for it, and names nothing.
        return value.id if isinstance(value, EntityValue) else encoded

    def _relation_id(self, relation: int) -> str:
        return self._call.labels.relation_ids(np.array([relation], dtype=np.int64))[0]


def _reached(named: NamedNodes, walks: CandidateWalks) -> Int64:
    """Returns those of the nodes of a name that walks pass, or all where they pass none: of all that
    *Canada* names the country alone.
    """
    reached = np.intersect1d(named.nodes, walks.nodes)
    return reached if len(reached) else named.nodes
