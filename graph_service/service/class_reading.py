"""The second reading of a question: as one about a class, beside the walks from what it names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from graph_service.model.answer import AnswerKind
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.request import RetrieveRequest
from graph_service.model.values import EntityValue, Quantity, Time, Value, stored_value
from graph_service.query.algebra import (
    Among,
    During,
    Entities,
    Fold,
    Number,
    Query,
    Relation,
    conditions_of,
    conditions_of_list,
    filters_of,
)
from graph_service.query.execution import execute
from graph_service.query.readings import amount_of
from graph_service.query.result import QueryLimits
from graph_service.retrieve.classes.measures import asks_what_is_spent, read_measure
from graph_service.retrieve.classes.other_classes import leads_to_another_class
from graph_service.retrieve.classes.request import ClassRequest
from graph_service.retrieve.classes.row_words import says_an_outcome
from graph_service.retrieve.classes.strategy import ClassAnswer, answer_class_question
from graph_service.retrieve.classes.wording import word_fit
from graph_service.retrieve.constraints.uncomputed import (
    asks_for_most,
    asks_of_another_day,
    asks_uncomputed,
    leaves_a_degree,
)
from graph_service.retrieve.context import Encode, Selection
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.confidence import DOUBTED
from graph_service.retrieve.preset import LearnedPreset, Preset
from graph_service.retrieve.units import units_of
from graph_service.service.graph_slice import ClassPart, GraphSlice, rank_codes
from graph_service.service.stopwatch import Stopwatch
from graph_service.text.fold import fold, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.question_form import read_form

_COUNTED_WORDS = 3
"""Of a question after *how many*: what is counted is among them."""
_LOOKED_AT = 50
"""Values of a relation that are looked at, to tell whether it is one of numbers."""


def may_be_about_a_class(request: RetrieveRequest, preset: Preset, /) -> bool:
    """Returns whether a request may be read as one about a class: it says neither what it is about
    nor what counts.
    """
    is_filtered = request.type_ids or request.relation_ids or request.exclude_relation_ids
    return (
        isinstance(preset, LearnedPreset)
        and not request.entity_ids
        and not is_filtered
        and request.min_score is None
        and request.question_vector is None
        and request.linking_accuracy is None
    )


def class_part(source: GraphSlice, request: RetrieveRequest, /) -> ClassPart | None:
    """Returns what a question about a class is answered from; None where none may be one."""
    if not may_be_about_a_class(request, source.preset):
        return None
    if source.classes is None and source.region is None:
        return ClassPart(source.named.arrays, source.overlay, is_cut=False, has_all_classes=True)
    return source.classes


@dataclass(frozen=True, slots=True, eq=False)
class ClassReader:
    """Answers questions about a class.

    Attributes:
        part: What they are answered from; None where none may be one.
        preset: The request's.
        encode: Texts to vectors.
        deadline: Of the retrieval.
        watch: Counts the stage ``classes``.
    """

    part: ClassPart | None
    preset: Preset
    encode: Encode
    deadline: Deadline
    watch: Stopwatch

    def answer(self, request: RetrieveRequest, /) -> ClassAnswer | None:
        """Returns what a question about a class retrieves; None for a question about none."""
        if self.part is None or not isinstance(self.preset, LearnedPreset):
            return None
        answer = answer_class_question(
            ClassRequest(
                question=request.question,
                graph=self.part.arrays,
                overlay=self.part.overlay,
                ranks=rank_codes(request),
                languages=request.languages,
                encode=self.encode,
                strategy=request.strategy,
                limit=self.preset.limit,
                min_confidence=self.preset.min_confidence,
                deadline=self.deadline,
                is_cut=self.part.is_cut,
                has_all_classes=self.part.has_all_classes,
            )
        )
        self.watch.stage("classes")
        return answer


def reads_another_number(
    walked: Selection | None, request: RetrieveRequest, labels: Callable[[str], str], /
) -> bool:
    """Returns whether walks answer *how many* by a number that the graph states of something else
    than what is counted: the floors of a house for its flats.

    Args:
        walked: What the walks selected.
        request: As sent.
        labels: Of relations by id.
    """
    stated = _stated_count(walked, request)
    if stated is None or stated.relation.backward:
        return False
    label = labels(stated.relation.id)
    return not any(word_fit(word, label) for word in stated.following[:_COUNTED_WORDS])


def states_the_number(
    walked: Selection | None, request: RetrieveRequest, labels: Labels, /
) -> bool:
    """Returns whether walks surely answer *how many* by a number that the graph states of just what
    is asked: the population of a country, of which a graph lists a few people who live there.

    Args:
        walked: What the walks selected.
        request: As sent.
        labels: Of entities and relations.
    """
    stated = _stated_count(walked, request)
    if walked is None or stated is None or not walked.confident:
        return False
    start = np.array(walked.used_starts[:1], dtype=np.int64)
    name = {word for label in labels.nodes(start) for word in words(label)}
    content = [word for word in stated.following if word not in EMPTY_IN_ENGLISH | name]
    label = labels.relation(stated.relation.id)
    return len(content) > 1 and all(word_fit(word, label) for word in content)


class _StatedCount(NamedTuple):
    """A number that a statement of one relation says, and the words behind *how many*."""

    relation: Relation
    following: list[str]


def _stated_count(walked: Selection | None, request: RetrieveRequest) -> _StatedCount | None:
    """Returns the number by which walks answer *how many*, where they do not count themselves."""
    counting = read_form(request.question).count_span
    if counting is None or walked is None or walked.answer is None or walked.read is None:
        return None
    query = walked.read.query
    is_stated = walked.answer.kind is AnswerKind.COUNT and query.fold is not Fold.COUNT
    if not is_stated or len(query.relations) != 1:
        return None
    return _StatedCount(query.relations[0], words(request.question[counting[1] :]))


def leaves_uncounted(walked: Selection | None, request: RetrieveRequest, /) -> bool:
    """Returns whether walks list what a question asks the number of, and are sure of no number."""
    if walked is None or walked.answer is not None:
        return False
    return read_form(request.question).count_span is not None


def leaves_values_apart(
    walked: Selection | None,
    source: GraphSlice,
    request: RetrieveRequest,
    labels: Labels,
    encode: Encode,
    deadline: Deadline,
    /,
) -> bool:
    """Returns whether walks list values of which the question asks for something else: numbers of
    which it asks the average or the total, dates of which it asks the last, no money where it asks
    what somebody spent; a figure that is not computed, such as a share; or whether they count
    different numbers, or the classes of one thing, or list rows for values in a column of them.
    """
    if walked is None or walked.read is None:
        return False
    query, question = walked.read.query, request.question
    walked_labels = [labels.relation(each.id) for each in query.relations]
    if asks_uncomputed(question, walked_labels) or asks_of_another_day(
        question, walked_labels[-1:]
    ):
        return True
    is_unordered = query.order is None and query.fold is Fold.LIST
    if leaves_a_degree(walked.read.unread) or (is_unordered and asks_for_most(question)):
        return True
    is_through_rows = len(query.relations) > 1 and query.relations[0].backward
    if is_through_rows and (
        says_an_outcome(walked.read.unread) or _leaves_a_number(query, source, question, labels)
    ):
        return True
    # What the graph does not say is no answer of another class.
    if not walked.unstated and leads_to_another_class(
        question,
        query,
        source.named.arrays,
        source.overlay,
        labels,
        rank_codes(request),
        encode,
        deadline,
    ):
        return True
    stated = read_measure(question)
    is_last = read_form(question).asks_for_last_time
    if query.fold not in (Fold.LIST, Fold.COUNT) or query.order is not None:
        return False
    if stated is None and not is_last:
        return False
    values = partial(_first_values, query, source, request, deadline)
    if query.fold is Fold.COUNT:
        return _counts_something_else(walked, source, question, labels, values)
    if is_last:
        return _are_several(values(), Time)
    if stated is None or (stated.is_implied and not asks_what_is_spent(question)):
        return False
    if stated.is_implied:
        return any(_is_no_money(value) for value in values())
    return _are_several(values(), Quantity)


def _counts_something_else(
    walked: Selection,
    source: GraphSlice,
    question: str,
    labels: Labels,
    values: Callable[[], Sequence[Value]],
) -> bool:
    """Returns whether walks count different numbers, texts in their place, or the classes of one
    thing.
    """
    assert walked.read is not None
    query = walked.read.query
    last = query.relations[-1:]
    if any(each.id in INSTANCE_RELATIONS and not each.backward for each in last):
        return True
    nodes = walked.answer.nodes[:1] if walked.answer is not None else ()
    if not nodes and _counts_literals(query, question, labels.relation, values):
        return True
    if _counts_remarks(query, source, values()):
        return True
    if any(node < source.named.arrays.entity_count for node in nodes):
        return False
    some = values()
    if walked.answer is not None and len(some) == 1 and isinstance(some[0], Quantity):
        # Of the pieces that a row states, their number and not that there is one such number.
        return walked.answer.value != some[0].amount
    return _are_several(some, Quantity)


def _leaves_a_number(query: Query, source: GraphSlice, question: str, labels: Labels) -> bool:
    """Returns whether a question has a number that no name and no test of a query holds: *week 2*."""
    numbers = {word for word in words(question) if word.isdigit()}
    conditions = [each for filter in filters_of(query) for each in conditions_of(filter)]
    if not numbers or any(isinstance(each.test, Number | During) for each in conditions):
        return False
    ids = list(query.start.ids) if isinstance(query.start, Entities) else []
    ids += [id_ for each in conditions if isinstance(each.test, Among) for id_ in each.test.ids]
    nodes = [source.named.arrays.find_node(id_) for id_ in ids]
    known = np.array([node for node in nodes if node is not None], dtype=np.int64)
    return not numbers <= {word for label in labels.nodes(known) for word in words(label)}


def _counts_literals(
    query: Query,
    question: str,
    label_of: Callable[[str], str],
    values: Callable[[], Sequence[Value]],
) -> bool:
    """Returns whether walks count values that are not named as what is counted: the price of a wine
    for its customers.
    """
    counting = read_form(question).count_span
    last = query.relations[-1:]
    if counting is None or not last or last[0].backward:
        return False
    counted = words(question[counting[1] :])[:_COUNTED_WORDS]
    if any(word_fit(word, label_of(last[0].id)) for word in counted):
        return False
    return any(not isinstance(value, EntityValue) for value in values())


def _counts_remarks(query: Query, source: GraphSlice, values: Sequence[Value]) -> bool:
    """Returns whether walks count texts that a relation has in the place of numbers: *free entry*
    among the tickets sold.
    """
    last = query.relations[-1:]
    if not values or not last or last[0].backward or any(map(_is_amount, values)):
        return False
    graph = source.named.arrays
    number = graph.find_relation(last[0].id)
    if number is None or any(isinstance(value, EntityValue) for value in values):
        return False
    edges = np.flatnonzero(np.isin(graph.rel, (number,)))[:_LOOKED_AT]
    others = [graph.node_ids[node] for node in graph.tail[edges].tolist()]
    return 2 * sum(_is_amount(stored_value(each)) for each in others) > len(others)


def _is_amount(value: Value) -> bool:
    return amount_of(value) is not None


def _first_values(
    query: Query, source: GraphSlice, request: RetrieveRequest, deadline: Deadline
) -> list[Value]:
    """Returns the first two answers of a query of walks, not counted."""
    result = execute(
        replace(query, fold=Fold.LIST),
        source.named.arrays,
        overlay=source.overlay,
        ranks=rank_codes(request),
        limits=QueryLimits(rows=2),
        deadline=deadline,
    )
    return [row.value for row in result.rows]


def _are_several(values: Sequence[Value], kind: type[Quantity | Time]) -> bool:
    return len(values) > 1 and isinstance(values[0], kind)


def _is_no_money(value: Value) -> bool:
    """Returns whether a value is a number with a unit that is no currency."""
    if not isinstance(value, Quantity) or value.unit is None:
        return False
    return not any(unit.is_money for unit in units_of(fold(value.unit)))


def overrules(
    answer: ClassAnswer, walked: Selection | None, /, *, is_named: bool, is_miscounted: bool
) -> bool:
    """Returns whether the reading as a class is answered, and not what walks selected.

    Args:
        answer: Of the reading as a class.
        walked: What the walks selected; None where the question names nothing.
        is_named: Whether the question surely names an entity.
        is_miscounted: Whether the walks read a number of something else (``reads_another_number``),
            list values of which the question asks for something else (``leaves_values_apart``), or
            list what is to be counted (``leaves_uncounted``).
    """
    if walked is None:
        return True
    if is_miscounted or (walked.unstated and answer.of_instances):
        return answer.is_sure
    # A list is seldom the answer where an entity is surely meant: "which island is a part of
    # Ecuador". Walks neither count, order nor negate.
    may_be_list = not (is_named and answer.is_list) or _say_the_same(answer.selection, walked)
    return answer.is_sure and may_be_list and not walked.confident


def _say_the_same(one: Selection, other: Selection, /) -> bool:
    """Returns whether two readings list what meets the same conditions."""
    if one.read is None or other.read is None:
        return False
    conditions = conditions_of_list(one.read.query)
    return conditions is not None and conditions == conditions_of_list(other.read.query)


def doubted(
    walked: Selection, answer: ClassAnswer | None, graph: KnowledgeGraph, /, *, is_miscounted: bool
) -> Selection:
    """Returns what walks selected, unsure where they began at the class that the question is about,
    or count something else than its instances.

    What a class's own entity leads to is seldom what the question asks of its instances.
    """
    if answer is None:
        return _unsure(walked)
    if not is_miscounted and answer.class_ids.isdisjoint(
        graph.node_ids.take(walked.used_starts[:1])
    ):
        return walked
    return replace(_unsure(walked), read=answer.selection.read)


def _unsure(walked: Selection) -> Selection:
    """Returns what walks selected, unsure and without an answer."""
    confidence = walked.confidence if walked.confidence is None else min(walked.confidence, DOUBTED)
    return replace(walked, confidence=confidence, confident=False, unstated=False, answer=None)
