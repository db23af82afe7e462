"""The answer that walks give: how many, yes or no, the first by a value, or the entities.

Each function returns None where the statements do not tell: nothing is guessed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graph_service.model.days import Days
from graph_service.model.graph import Bool, Float64, Int64
from graph_service.retrieve.constraints.meeting import (
    Amount,
    CandidateWalks,
    Surroundings,
    noun_stems,
)
from graph_service.retrieve.constraints.reading import Superlative
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.degree_relations import compares, says_the_same
from graph_service.retrieve.degree_words import AGE, BORN
from graph_service.retrieve.learned.relation_names import stem
from graph_service.text.nouns import singular
from graph_service.text.question_form import QuestionForm

Similarity = Callable[[Sequence[str], Sequence[str]], Float64]
"""Cosines of some texts with others, float64 [texts, others]."""
_CONTRARY = {
    "date of birth": ("date of death", "end time", "point in time", "publication date"),
    "publication date": ("date of birth", "date of death", "end time", "date of burial"),
}
_UNITS = frozenset(
    [
        "year",
        "month",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "mile",
        "kilometer",
        "kilometre",
        "km",
        "meter",
        "metre",
        "foot",
        "feet",
        "inch",
        "kilogram",
        "kg",
        "pound",
        "gram",
        "ton",
        "tonne",
        "dollar",
        "euro",
        "percent",
        "degree",
        "time",
    ]
)
_COUNTING = frozenset({"number", "count", "total", "amount", "quantity", "size"})


def walked(walks: CandidateWalks, rows: Bool, /) -> list[int]:
    """Returns the edges of some of a candidate's walks, each once, in their order."""
    return list(dict.fromkeys(walks.edges[rows].ravel().tolist()))


def stored_number(
    choices: Iterable[CandidateWalks],
    counted: Sequence[str],
    around: Surroundings,
    texts: Callable[[int], str],
    /,
) -> tuple[CandidateWalks, str] | None:
    """Returns the candidate that says a number by itself, and the number, where there is one.

    Args:
        choices: Candidates, best first. The first may say any number; a later one must speak of
            a number of what is counted (``number of children``).
        counted: Folded words after ``how many``.
        around: What the ends are.
        texts: Words of a relation.
    """
    counted_stems = {stem(singular(word)) for word in counted}
    for rank, walks in enumerate(choices):
        if walks.backward[-1]:
            continue
        stems = noun_stems(texts(walks.relations[-1]))
        number_words = stems & {stem(word) for word in _COUNTING}
        if rank and not (
            number_words and stems - number_words and stems - number_words <= counted_stems
        ):
            continue
        numbers = [around.number(node) for node in np.unique(walks.end_nodes).tolist()]
        text_of = {amount.number: amount.text for amount in numbers if amount is not None}
        if len(text_of) == 1 and all(amount is not None for amount in numbers):
            return walks, next(iter(text_of.values()))
    return None


def is_unit(counted: Sequence[str], /) -> bool:
    """Returns whether ``how many`` asks for a measure, which no count of entities answers."""
    return bool(counted) and singular(counted[0]) in _UNITS


@dataclass(frozen=True, slots=True)
class Compared:
    """What ends were compared by.

    Attributes:
        winners: Ends that are first, in order; several where values are equal or overlap.
        edges: Local edges of the values, the winners' first.
        missing: Ends of which no such value is known.
        superlative: By which they were compared: of ages the greatest is the first by birth.
    """

    winners: tuple[int, ...]
    edges: tuple[int, ...]
    missing: int
    superlative: Superlative


def compare_end_nodes(
    superlative: Superlative,
    end_nodes: Int64,
    around: Surroundings,
    texts: Callable[[int], str],
    similarity: Similarity,
    form: QuestionForm,
    /,
) -> Compared | None:
    """Returns the first of some ends by the values that a superlative compares.

    Args:
        superlative: What is compared, and which way.
        end_nodes: Distinct nodes.
        around: What is said of them.
        texts: Words of a relation.
        similarity: Tells which relation the superlative means.
        form: Of the question.
    """
    meant = _Meant(superlative, texts, similarity, form)
    if superlative.is_date:
        values = _dates_of(meant, end_nodes, around)
        if not values and superlative.meanings[0] == BORN[0]:
            # The greater the age, the earlier the birth.
            superlative = replace(
                superlative, greatest=not superlative.greatest, is_date=False, meanings=AGE
            )
            values = _amounts_of(replace(meant, superlative=superlative), end_nodes, around)
    else:
        values = _amounts_of(meant, end_nodes, around)
    if 2 * len(values) < len(end_nodes) or not values:
        return None
    sign = -1 if superlative.greatest else 1
    # Of spans that overlap neither is surely first.
    best = min((sign * max(span, key=lambda v: sign * v) for span, _ in values.values()))
    winners = tuple(
        node for node, (span, _) in values.items() if min(sign * value for value in span) <= best
    )
    others = [edge for node, (_, edge) in values.items() if node not in winners]
    edges = (*(values[node][1] for node in winners), *others)
    return Compared(winners, edges, len(end_nodes) - len(values), superlative)


def compare_values(
    superlative: Superlative, end_nodes: Int64, around: Surroundings, /
) -> tuple[int, ...] | None:
    """Returns the first of some ends that are numbers of one unit, or dates; None for others.

    Args:
        superlative: Which way they are compared.
        end_nodes: Distinct nodes.
        around: What is said of them.
    """
    sign = -1 if superlative.greatest else 1
    amounts = {end: around.number(end) for end in end_nodes.tolist()}
    numbers = {end: amount for end, amount in amounts.items() if amount is not None}
    if len(numbers) == len(end_nodes):
        if len({amount.unit for amount in numbers.values()}) > 1:
            return None
        best = min(sign * amount.number for amount in numbers.values())
        return tuple(end for end, amount in numbers.items() if sign * amount.number == best)
    days = {end: around.days(end) for end in end_nodes.tolist()}
    dates = {end: (each.first, each.last) for end, each in days.items() if each is not None}
    if len(dates) < len(end_nodes):
        return None
    # Of spans that overlap neither is surely first.
    nearest = min(max(sign * day for day in span) for span in dates.values())
    return tuple(end for end, span in dates.items() if min(sign * day for day in span) <= nearest)


_Spans = dict[int, tuple[tuple[float, float], int]]


@dataclass(frozen=True, slots=True)
class _Meant:
    """Tells the relation whose values a superlative compares."""

    superlative: Superlative
    texts: Callable[[int], str]
    similarity: Similarity
    form: QuestionForm

    def relation(self, relations: Sequence[int]) -> int | None:
        """Returns the one of some relations that is meant; None where none is."""
        meanings = self.superlative.meanings
        able = [relation for relation in relations if self._may_be(self.texts(relation))]
        if not able:
            return None
        names = [self.texts(relation) for relation in able]
        contrary = next((others for name, others in _CONTRARY.items() if meanings[0] == name), ())
        cosines = self.similarity(names, [*meanings, *contrary])
        own = cosines[:, : len(meanings)].max(axis=1)
        other = cosines[:, len(meanings) :].max(axis=1, initial=-1.0)
        fits = own >= other
        if self.superlative.is_named:
            is_same = np.array([says_the_same(meanings[0], name) for name in names])
            fits &= (own >= CONSTRAINT_RULES.compared) | is_same
        if not fits.any():
            return None
        return able[int(np.argmax(np.where(fits, own, -1.0)))]

    def _may_be(self, label: str) -> bool:
        return self.superlative.is_named or compares(
            self.superlative.meanings,
            label,
            of_people=self.form.asks_for_person,
            own=self.form.nouns,
        )


def _dates_of(meant: _Meant, end_nodes: Int64, around: Surroundings) -> _Spans:
    dated = around.dated(end_nodes)
    relation = meant.relation(sorted(dated))
    if relation is None:
        return {}
    first_dates: dict[int, tuple[Days, int]] = {}
    for node, edge, days in dated[relation]:
        # What has several dates of one kind began at the first of them.
        if node not in first_dates or days.first < first_dates[node][0].first:
            first_dates[node] = (days, edge)
    return {
        node: ((days.first, days.last), edge) for node, (days, edge) in sorted(first_dates.items())
    }


def _amounts_of(meant: _Meant, end_nodes: Int64, around: Surroundings) -> _Spans:
    region = around.region
    by_relation: dict[int, list[tuple[int, int, Amount]]] = {}
    for edge in around.statements_of(end_nodes).tolist():
        tail = int(region.tail[edge])
        amount = around.number(tail)
        # What a graph of names says is 12 km long leads to an entity of that name.
        if amount is not None and (region.literal[tail] or amount.unit):
            row = (int(region.head[edge]), edge, amount)
            by_relation.setdefault(int(region.rel[edge]), []).append(row)
    relation = meant.relation(sorted(by_relation))
    if relation is None:
        return {}
    rows = by_relation[relation]
    unit = Counter(amount.unit for _, _, amount in rows).most_common(1)[0][0]
    first_amounts: _Spans = {}
    sign = -1 if meant.superlative.greatest else 1
    for node, edge, amount in rows:
        value = float(amount.number)
        if amount.unit == unit and (
            node not in first_amounts or sign * value < sign * first_amounts[node][0][0]
        ):
            first_amounts[node] = ((value, value), edge)
    return first_amounts
