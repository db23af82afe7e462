"""Words for what rows with two references say: *bought* of sales, *borrowed* of loans.

A table of loans joins a member to a book, by a row for each loan. *Which books has Ann borrowed?* asks
for the one by the other. That is only read where a word of the question accounts for the rows: by the
name of their class, or by the name of a relation that all of them have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int64
from graph_service.query.algebra import Relation
from graph_service.query.enumeration import Span
from graph_service.query.walking import Walker, Walks
from graph_service.retrieve.classes.measures import is_of_paying
from graph_service.retrieve.classes.rules import CLASS_RULES
from graph_service.retrieve.classes.wording import Cosines, word_fit
from graph_service.retrieve.constraints.coverage import is_kin, root
from graph_service.retrieve.kinds import Encode, are_called_people
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import lowered
from graph_service.text.question_form import read_form

_LEAST_COSINE = 0.56
_ITEM = re.compile(r"Q\d+")
# Who gives is the other side of what rows say of who takes: to buy and to sell are both a sale.
_GIVING = frozenset(
    map(root, ("sell", "sold", "lend", "lent", "give", "gave", "given", "supply", "supplied",
               "deliver", "delivered", "send", "sent", "ship", "shipped", "provide", "offer"))
)  # fmt: skip
# How an event ended: rows hold those who lost and gave up too.
_OUTCOMES = frozenset(
    map(root, ("win", "won", "winner", "lose", "lost", "beat", "beaten", "defeat", "finish",
               "finished", "complete", "completed", "cancel", "cancelled", "canceled", "fail",
               "failed", "pass", "passed", "miss", "missed", "reject", "rejected", "refuse",
               "refused", "return", "returned", "abandon", "abandoned"))
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RowNames:
    """The class of some rows, its name, and the names of the relations that all of them have."""

    class_id: str
    of_class: str
    relations: tuple[str, ...]


def other_side_span(question: str, /) -> tuple[Span, bool] | None:
    """Returns the word that asks for the other side of rows, and whether it asks for people.

    >>> other_side_span("What did Ann borrow?"), other_side_span("Who bought the lamp?")
    (((0, 4), False), ((0, 3), True))
    >>> other_side_span("Who is Ann?")
    """
    form = read_form(question)
    if form.asks_what_is_done or form.asks_who_acts:
        return form.span, form.asks_who_acts
    return None


def are_rows(walker: Walker, labels: Labels, nodes: Int64, encode: Encode, /) -> bool:
    """Returns whether some nodes have codes for names, as rows have, and are no people: worker 1042
    is one by the name of the class.
    """
    if not _are_coded(labels, nodes):
        return False
    classes = np.unique(walker.classes_of(nodes).targets)
    return not are_called_people(labels.nodes(classes), encode)


def _are_coded(labels: Labels, nodes: Int64) -> bool:
    """Returns whether most of some nodes have a digit in their label; the id of an item of Wikidata
    says nothing, of which the graph has no label.
    """
    some = labels.nodes(nodes[: CLASS_RULES.labels])
    coded = sum(
        any(letter.isdigit() for letter in label) and not _ITEM.fullmatch(label) for label in some
    )
    return 2 * coded > len(some)


def are_numbered(labels: Labels, nodes: Int64, class_labels: Sequence[str], /) -> bool:
    """Returns whether the labels of some nodes are numbers, or numbers behind what they are: ``7``,
    ``sale 7``.
    """
    some = labels.nodes(nodes[: CLASS_RULES.labels])
    kinds = {"", *(f"{label} " for label in class_labels)}
    return all(label.rstrip("0123456789") in kinds - {label} for label in some)


def name_rows(walker: Walker, labels: Labels, rows: Int64, /) -> list[RowNames]:
    """Returns the names of some distinct rows, which ascend, for each class of them."""
    of_class = walker.classes_of(rows)
    classes = np.unique(of_class.targets)
    names = []
    for node, label in zip(classes.tolist(), labels.nodes(classes), strict=True):
        own = np.unique(rows[of_class.origins[of_class.targets == node]])
        names.append(RowNames(walker.graph.node_ids[node], label, _names_of(walker, labels, own)))
    return names


def _names_of(walker: Walker, labels: Labels, rows: Int64) -> tuple[str, ...]:
    """Returns the names of the relations that all of some rows have."""
    names: list[str] = []
    for relation in walker.relations_at(rows):
        if relation.backward or relation.id in INSTANCE_RELATIONS:
            continue
        having = np.unique(walker.follow(Walks.at(rows), relation).origins)
        number = walker.graph.find_relation(relation.id)
        if len(having) == len(rows) and number is not None:
            names += labels.relations(np.array([number], dtype=np.int64))
    return tuple(names)


def says_rows(words: Sequence[str], names: RowNames, question: str, cosines: Cosines, /) -> bool:
    """Returns whether each of some words of a question says what some rows are.

    Args:
        words: Those that nothing else accounts for.
        names: Of the rows.
        question: As asked.
        cosines: Of texts.
    """
    able = [
        word
        for word in words
        if not is_of_paying(word)
        and not ((root(word) in _OUTCOMES or is_kin(word)) and not _is_name_of(word, names))
        and (root(word) not in _GIVING or _is_to(word, question))
    ]
    if len(able) < len(words):
        return False
    near = cosines(able, [names.of_class])[:, 0]
    return all(
        cosine >= _LEAST_COSINE or _is_name_of(word, names)
        for word, cosine in zip(able, near.tolist(), strict=True)
    )


def says_an_outcome(words: Sequence[str], /) -> bool:
    """Returns whether a word says how an event ended, as *won*, which rows of all who took part do
    not say.
    """
    return not _OUTCOMES.isdisjoint(map(root, words))


def _is_name_of(word: str, names: RowNames) -> bool:
    """Returns whether a word is of the name of some rows or of a relation that all of them have."""
    return any(word_fit(word, label) >= 1.0 for label in (names.of_class, *names.relations))


def _is_to(word: str, question: str) -> bool:
    """Returns whether something is given *to* what is named."""
    return bool(re.search(rf"\b{re.escape(word)}\s+(?:\w+\s+)?to\b", lowered(question)))


def other_relations(walker: Walker, rows: Int64, own: Relation, /) -> list[tuple[Relation, Int64]]:
    """Returns the relations that lead from some rows to things other than by ``own``, and those
    things: entities that something is said of.
    """
    others: list[tuple[Relation, Int64]] = []
    entity_count = walker.graph.entity_count
    for relation in walker.relations_at(rows):
        if relation.backward or relation.id in INSTANCE_RELATIONS or relation.id == own.id:
            continue
        targets = np.unique(walker.follow(Walks.at(rows), relation).targets)
        targets = targets[targets < entity_count]
        stated = {each.id for each in walker.relations_at(targets) if not each.backward}
        if len(targets) and stated - INSTANCE_RELATIONS:
            others.append((relation, targets))
    return others
