"""Whether walks lead to things of another class than the one that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.query.algebra import Fold, Query
from graph_service.query.execution import execute
from graph_service.query.result import QueryLimits
from graph_service.query.walking import Walker
from graph_service.retrieve.classes.question_text import nouns_of_things
from graph_service.retrieve.classes.roles import Role, RoleReader
from graph_service.retrieve.classes.wording import word_fit
from graph_service.retrieve.labels import Labels
from graph_service.text.fold import lowered, word_spans
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
    words = [word for word, _, _ in word_spans(question)]
    while words and words[0] in _LISTING:
        words.pop(0)
    if len(words) < 2 or words[0] in EMPTY_IN_ENGLISH or words[1] not in EMPTY_IN_ENGLISH:
        return ()
    noun = singular(words[0])
    return (noun,) if noun != words[0] else ()


def leads_to_another_class(
    question: str,
    query: Query,
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    labels: Labels,
    ranks: Sequence[int],
    deadline: Deadline,
    /,
) -> bool:
    """Returns whether a question asks for the instances of a class by its name, and a query leads to
    literals or, in a graph of few classes, to instances of classes that share none with it; or for
    the ends of a relation, as *which suppliers*, and a query leads to others.

    Args:
        question: As asked.
        query: Of walks.
        graph: The base.
        overlay: The view, if any.
        labels: Of its relations.
        ranks: ``RANK_CODES`` of the statements that count.
        deadline: Raises ``DeadlineError`` when past.
    """
    nouns = nouns_of_class(question)
    if not nouns or not query.relations:
        return False
    limits = QueryLimits()
    walker = Walker(graph, overlay, ranks=ranks, limits=limits, deadline=deadline)
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
    result = execute(
        replace(query, fold=Fold.LIST),
        graph,
        overlay=overlay,
        ranks=ranks,
        limits=replace(limits, rows=_LOOKED_AT),
        deadline=deadline,
    )
    nodes = np.unique(np.array([row.node for row in result.rows], dtype=np.int64))
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
