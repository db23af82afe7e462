"""The answer to a question about a class: the best of the small queries that it may mean.

No entity is asked about, or none but as a value that instances have. The question is read as parts
of queries (``reading``), the enumeration puts them together, and the best is answered. It is sure
where it takes up every content word and where no other query that fits nearly as well has another
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.link.joint import JointMention
from graph_service.query.algebra import (
    Entities,
    Fold,
    Instances,
    Query,
    Targets,
    conditions_of,
    filters_of,
    is_of_each,
)
from graph_service.query.execution import execute
from graph_service.query.result import QueryLimits, QueryResult
from graph_service.query.walking import Walker
from graph_service.retrieve.classes.other_units import leaves_other_units
from graph_service.retrieve.classes.picking import AnswerPicker
from graph_service.retrieve.classes.question_text import (
    asks_for_instances,
)
from graph_service.retrieve.classes.ranking import QueryRanker, RankedReading, is_walked
from graph_service.retrieve.classes.request import ClassRequest
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.constraints.reciprocal import both_ways
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import (
    Clock,
    Selection,
)
from graph_service.retrieve.kinds import are_called_people
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.whereabouts import names_location
from graph_service.text.fold import words
from graph_service.text.nouns import singular
from graph_service.text.question_form import BE, read_form


@dataclass(frozen=True, slots=True, eq=False)
class ClassAnswer:
    """What a question about a class retrieves.

    Attributes:
        selection: Its answer, what that rests on, and the query.
        mentions: The class and the entities that the query names.
        is_sure: Whether the answer is.
        class_ids: The classes that the question names.
        is_list: Whether it lists instances of a named class as a walk could: neither counted nor
            ordered, by no values and nothing negated.
        of_instances: Whether the question asks which or how many instances, as *which brands*.
    """

    selection: Selection
    mentions: tuple[JointMention, ...]
    is_sure: bool
    class_ids: frozenset[str]
    is_list: bool
    of_instances: bool

    @property
    def counts(self) -> bool:
        """Whether it is the number of some instances."""
        read = self.selection.read
        return read is not None and read.query.fold is Fold.COUNT


def answer_class_question(request: ClassRequest, /) -> ClassAnswer | None:
    """Returns the answer to a question that names a class; None where it names none, or no query
    of it leads anywhere.
    """
    if len(request.question) > CONSTRAINT_RULES.characters:
        return None
    return _ClassQuestion(request).answer()


class _ClassQuestion:
    def __init__(self, request: ClassRequest, /) -> None:
        self._request = request
        self._clock = Clock()
        labels = Labels(request.graph, request.overlay, request.languages, request.deadline)
        walker = Walker(
            request.graph,
            request.overlay,
            ranks=request.ranks,
            limits=QueryLimits(),
            deadline=request.deadline,
        )
        self._labels = labels
        self._ranker = QueryRanker(request, walker, labels)
        self._picker = AnswerPicker(request, walker, labels)

    def answer(self) -> ClassAnswer | None:
        ranked = list(map(self._both_ways, self._ranker.ranked()))
        self._clock.stage("queries")
        if not ranked:
            return None
        best = ranked[0]
        if best.is_implied and best.unread:
            return None
        result = self._execute(best)
        is_sure = not best.unread and not best.reading.refusal and result.is_complete
        is_sure = is_sure and not self._request.is_cut and self._says_something(best, result)
        is_sure = is_sure and not _reads_its_noun_again(best.scored.query)
        is_sure = is_sure and not self._lists_no_locations(best)
        is_sure = is_sure and not self._lists_nobody(best)
        is_sure = is_sure and not self._repeats_names(best.scored.query, result)
        is_sure = is_sure and not leaves_other_units(best, result)
        is_sure = is_sure and not self._has_rival(best, result, ranked[1:])
        self._clock.stage("answer")
        if best.is_implied and not is_sure:
            return None
        selection = self._picker.selection(
            best, result, ranked, is_sure=is_sure, stages=self._clock.stages
        )
        confident = is_sure and CLASS_RULES.sure >= self._request.min_confidence
        class_ids = frozenset(
            thing.id for each in ranked for thing in each.reading.parts.things if thing.is_class
        )
        query = best.scored.query
        is_list = query.fold is Fold.LIST and query.order is None and not best.is_implied
        is_list = is_list and isinstance(query.start, Instances)
        is_list = is_list and all(map(is_walked, filters_of(query)))
        of_instances = any(
            thing.is_class and asks_for_instances(self._request.question, thing.span)
            for thing in best.reading.parts.things
        )
        return ClassAnswer(
            selection, self._picker.mentions(best), confident, class_ids, is_list, of_instances
        )

    def _both_ways(self, ranked: RankedReading) -> RankedReading:
        query = both_ways(ranked.scored.query, self._labels.relation)
        return replace(ranked, scored=replace(ranked.scored, query=query))

    # How sure the best is

    def _execute(self, ranked: RankedReading) -> QueryResult:
        return execute(
            ranked.scored.query,
            self._request.graph,
            overlay=self._request.overlay,
            ranks=self._request.ranks,
            deadline=self._request.deadline,
        )

    @staticmethod
    def _says_something(best: RankedReading, result: QueryResult) -> bool:
        query = best.scored.query
        if query.fold is Fold.EXISTS:
            return result.truth is not None
        if query.fold is Fold.COUNT:
            return True
        if result.measure is not None:
            return result.measure.number is not None
        return bool(result.rows)

    def _lists_no_locations(self, best: RankedReading) -> bool:
        """Returns whether a question asks *where*, and the answers are the things that it names by no
        noun of places: *where do people speak X* asks for no people.
        """
        question, query = self._request.question, best.scored.query
        if not read_form(question).asks_where or query.path or query.fold is not Fold.LIST:
            return False
        classes = [each for each in best.reading.parts.things if each.is_class]
        nouns = [words(question[slice(*each.span)])[-1:] for each in classes]
        return not any(names_location(singular(noun)) for each in nouns for noun in each)

    def _lists_nobody(self, best: RankedReading) -> bool:
        """Returns whether a question asks *who* does or has something, and the answers are the things
        of a class that is none of people: *who has an appointment* asks for no appointments.
        """
        question, query = self._request.question, best.scored.query
        form = read_form(question)
        if not form.asks_for_person or form.following in BE or query.path:
            return False
        things = [each for each in best.reading.parts.things if each.is_class]
        # Where people are a class, others are meant by *who* much less.
        if best.is_implied:
            return any(each.score <= -CLASS_RULES.no_people for each in things)
        nouns = [words(question[slice(*each.span)])[-1:] for each in things]
        return not any(are_called_people(noun, self._request.encode) for noun in nouns)

    def _repeats_names(self, query: Query, result: QueryResult) -> bool:
        """Returns whether all answers are things whose names the question says, but to choose from:
        *what is Janus the god of* is not answered by Janus, nor are the presidents of a country
        counted by the office that is called so.
        """
        is_list = query.fold in {Fold.LIST, Fold.COUNT}
        if not is_list or query.order or isinstance(query.start, Entities):
            return False
        question = f" {' '.join(map(singular, words(self._request.question)))} "
        nodes = np.array([row.node for row in result.rows], dtype=np.int64)
        labels = [" ".join(map(singular, words(each))) for each in self._labels.nodes(nodes)]
        return bool(labels) and all(f" {each} " in question for each in labels)

    def _has_rival(
        self, best: RankedReading, result: QueryResult, others: Sequence[RankedReading]
    ) -> bool:
        answer = _answer_key(best, result)
        near = [
            each
            for each in others
            if each.score > best.score - CLASS_RULES.gap and not (each.is_implied and each.unread)
        ]
        if len(near) > CLASS_RULES.near:
            near = near[: CLASS_RULES.near]
        return any(_answer_key(each, self._execute(each)) != answer for each in near)


def _reads_its_noun_again(query: Query) -> bool:
    """Returns whether the noun that names where a query starts is read as a relation from there too:
    the children whose child is Eve, for Eve's children.
    """
    conditions = [each for filter in filters_of(query) for each in conditions_of(filter)]
    again = {condition.path[0] for condition in conditions if condition.path}
    return isinstance(query.start, Targets) and not again.isdisjoint(query.start.relations)


def _answer_key(ranked: RankedReading, result: QueryResult) -> object:
    """Returns what two queries share that have one answer."""
    if ranked.scored.query.fold is Fold.EXISTS:
        return result.truth
    if ranked.scored.query.fold is Fold.COUNT:
        # As many first masters as second ones are others.
        of_targets = isinstance(ranked.scored.query.start, Targets)
        return result.count, frozenset(row.node for row in result.rows if of_targets)
    if result.measure is not None:
        return result.measure
    if ranked.is_value:
        return frozenset(row.ordered_by for row in result.rows)
    if is_of_each(ranked.scored.query):
        return frozenset((row.node, row.ordered_by) for row in result.rows)
    return frozenset(row.node for row in result.rows), result.count
