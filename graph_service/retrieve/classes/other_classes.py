"""Whether walks lead to things of another class than the one that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.query.algebra import Fold, Query, paths_of
from graph_service.query.execution import execute
from graph_service.query.result import QueryLimits
from graph_service.query.walking import Walker
from graph_service.retrieve.classes.meanings import find_names
from graph_service.retrieve.classes.question_text import nouns_of_things
from graph_service.retrieve.classes.roles import Role, RoleReader
from graph_service.retrieve.classes.row_words import are_numbered, are_rows
from graph_service.retrieve.classes.vocabulary import QUANTITIES
from graph_service.retrieve.classes.wording import word_fit
from graph_service.retrieve.constraints.coverage import root
from graph_service.retrieve.kinds import Encode
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import lowered, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import read_form

_LOOKED_AT = 20
"""Answers of walks that are looked at."""
_MOST_CLASSES = 50
"""Classes of a graph at most in which things are instances of every class that they belong to."""
_WHO_IS = re.compile(
    r"^\s*who\s+(?:is|are|was|were)\s+the\s+(\w+)\s+(?:of|in|at|on|with|that|who)\b"
)
_LISTING = frozenset({"list", "show", "name", "give", "find", "all", "me", "the"})


def nouns_of_class(question: str, /) -> tuple[str, ...]:
    """Returns what a question may ask for by a noun: after *which*, *what* or *how many*, or first.

    >>> nouns_of_class("Which wines come from Austria?"), nouns_of_class("wines from Austria")
    (('wine', 'wines come'), ('wine',))
    >>> nouns_of_class("Who makes wine?"), nouns_of_class("Who is the maker of the oldest?")
    ((), ('maker',))
    """
    form = read_form(question)
    if form.nouns:
        first = form.nouns[0]
        return (singular(first), *(f"{first} {singular(each)}" for each in form.nouns[1:]))
    who = _WHO_IS.match(lowered(question))
    if who is not None:
        return (singular(who[1]),)
    if form.word or form.auxiliary:
        return ()
    own = words(question)
    while own and own[0] in _LISTING:
        own.pop(0)
    if len(own) < 2 or own[0] in EMPTY_IN_ENGLISH or own[1] not in EMPTY_IN_ENGLISH:
        return ()
    noun = singular(own[0])
    return (noun,) if noun != own[0] else ()


def leads_to_another_class(
    question: str,
    query: Query,
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    labels: Labels,
    ranks: Sequence[int],
    encode: Encode,
    deadline: Deadline,
    /,
) -> bool:
    """Returns whether a question asks for the instances of a class by its name, and a query leads to
    literals or, in a graph of few classes, to instances of classes that share none with it; or for
    the ends of a relation, as *which suppliers*, and a query leads to others; or for a value in
    rows, and a query lists the rows.

    Args:
        question: As asked.
        query: Of walks.
        graph: The base.
        overlay: The view, if any.
        labels: Of its relations.
        ranks: ``RANK_CODES`` of the statements that count.
        encode: Texts to vectors.
        deadline: Raises ``DeadlineError`` when past.
    """
    if not query.relations:
        return False
    walker = Walker(graph, overlay, ranks=ranks, limits=QueryLimits(), deadline=deadline)
    nodes = _first_answers(query, walker, ranks, deadline)
    if _lists_rows_for_values(question, query, nodes, walker, labels, encode):
        return True
    nouns = nouns_of_class(question)
    if not nouns:
        return False
    roles = _roles_of(question, walker, labels)
    if any(query.relations[-1] == role.relation for role in roles):
        return False
    last = labels.relation(query.relations[-1].id)
    is_named = any(word_fit(word, last) >= 1.0 for noun in nouns for word in noun.split())
    if is_named and all(query.relations[-1] != role.relation.reversed for role in roles):
        return False
    instances = _instances_of(nouns, walker)
    if roles and not len(instances):
        instances = np.unique(np.concatenate([role.nodes for role in roles]))
    if len(instances) < 2:
        return False
    if not len(nodes) or len(np.intersect1d(nodes, instances)):
        return False
    if nodes[0] >= graph.entity_count or roles:
        return True
    if len(walker.largest_classes(_MOST_CLASSES + 1)) > _MOST_CLASSES:
        # A feature film may be said to be no film: only classes that are few leave none out.
        return False
    classes = np.unique(walker.classes_of(nodes).targets)
    others = [np.unique(walker.instances((graph.node_ids[each],)).targets) for each in classes]
    return bool(others) and not any(len(np.intersect1d(each, instances)) for each in others)


def _lists_rows_for_values(
    question: str, query: Query, nodes: Int64, walker: Walker, labels: Labels, encode: Encode
) -> bool:
    """Returns whether a query lists rows with codes for names where a question asks for a value in
    them, or for a person: it names one of their columns that the query leaves out, and it does not
    name the rows, or by that word, as in *Ana's mark in Physics*; or it names neither, and the codes
    are numbers. Or whether it counts rows that it does not name, and that say how many themselves.
    """
    is_able = query.fold in (Fold.LIST, Fold.COUNT) and len(nodes) > 0
    if not is_able or nodes[-1] >= walker.graph.entity_count:
        return False
    if not are_rows(walker, labels, nodes, encode):
        return False
    if read_form(question).word == "who" and query.fold is Fold.LIST:
        return True
    own = {each.id for each in walker.relations_at(nodes) if not each.backward}
    own -= INSTANCE_RELATIONS
    if not own:
        # What says nothing is no row: a year that films have.
        return False
    roots = set(map(root, words(question)))
    columns = {frozenset(map(root, words(labels.relation(each)))) for each in own - paths_of(query)}
    if query.fold is Fold.COUNT:
        # How many bolts are in order 7: a row of it says how many.
        columns = {column for column in columns if not column.isdisjoint(QUANTITIES)}
    classes = np.unique(walker.classes_of(nodes).targets)
    class_labels = labels.nodes(classes)
    is_count = query.fold is Fold.COUNT
    named_columns = {column for column in columns if column and (column <= roots or is_count)}
    if not is_count and not named_columns.isdisjoint(
        frozenset(map(root, words(label))) for label in class_labels
    ):
        return True
    named = find_names(question, walker.graph, walker).classes.values()
    own_classes = set(walker.graph.node_ids.take(classes))
    if any(not own_classes.isdisjoint(ids) for ids in named):
        return False
    is_numbered = not is_count and are_numbered(labels, nodes, class_labels)
    return bool(named_columns) or is_numbered


def _first_answers(query: Query, walker: Walker, ranks: Sequence[int], deadline: Deadline) -> Int64:
    """Returns the first answers of a query, not folded, as nodes that ascend."""
    result = execute(
        replace(query, fold=Fold.LIST),
        walker.graph,
        overlay=walker.overlay,
        ranks=ranks,
        limits=replace(walker.limits, rows=_LOOKED_AT),
        deadline=deadline,
    )
    return np.unique(np.array([row.node for row in result.rows], dtype=np.int64))


def _roles_of(question: str, walker: Walker, labels: Labels) -> list[Role]:
    """Returns the relations of which the longest noun that a question asks for names the ends."""
    reader = RoleReader(walker, labels)
    roles = (reader.roles(noun) for noun, _ in nouns_of_things(question, ()))
    return next((some for some in roles if some), [])


def _instances_of(nouns: Sequence[str], walker: Walker) -> Int64:
    """Returns the instances of the classes that nouns name, ascending."""
    graph = walker.graph
    named = [graph.names.find(noun)[0].astype(np.int64) for noun in nouns]
    ids = [graph.node_ids[node] for nodes in named for node in nodes.tolist()]
    return np.unique(walker.instances(ids).targets) if ids else np.zeros(0, dtype=np.int64)
