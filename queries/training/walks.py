"""Questions made of a graph's own walks, put into many wordings.

They show the scorer what people's questions seldom have: two and three steps, steps walked from
value to subject, and every relation of the graph. The wordings are general and of no published
set; relations go by their labels, by their other names, and by what people say for them
(``graph_service.text.relation_phrases``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from random import Random

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int64, KnowledgeGraph, NodeKind
from graph_service.retrieve.labels import Labels
from queries.training.examples import AnsweredQuestion
from queries.wordings import Step, Wordings, turns_back

_MOST_OF_ONE_STEP = 40
"""Questions in which one step may stand, so that frequent relations leave room."""
_MOST_NEIGHBOURS = 200
_LEAST_STATEMENTS = 4
_TRIES = 200
_TURNING = 0.2
"""Share of longer walks that go a step and the same back, where there is such a step."""
_AGAIN = 0.3
"""Share of those of three steps that go the first step again: who acts with whom X acts with."""


def make_walk_questions(
    graph: KnowledgeGraph,
    labels: Labels,
    names: Callable[[Sequence[str]], Sequence[Sequence[str]]],
    /,
    *,
    name: str,
    family: str,
    counts: Mapping[int, int],
    random_seed: int = 0,
) -> list[AnsweredQuestion]:
    """Returns questions whose answer is a walk, ``family`` and its number of steps as family.

    Args:
        graph: The graph.
        labels: Its labels.
        names: Gives other names of relations, by id.
        name: The graph's name.
        family: Beginning of the name of the family; a digit, the number of steps, ends it.
        counts: Questions by number of steps; fewer where the graph has no more walks.
        random_seed: Of the walks and the wordings.

    Raises:
        InputError: The graph has no entity to walk from, or no walk.
    """
    random = Random(f"walks {random_seed}")
    ids = graph.relation_ids.take(np.arange(graph.relation_count))
    relation_labels = labels.relations(np.arange(graph.relation_count))
    wording = Wordings(random, ids, relation_labels, names(ids))
    start_entities = _start_nodes(graph)
    if not len(start_entities):
        raise InputError(f"graph {name!r} has no labelled entity with statements to walk from")
    seen: Counter[Step] = Counter()
    questions: list[AnsweredQuestion] = []
    for length in sorted(counts):
        missing, tries = counts[length], counts[length] * _TRIES
        while missing and tries:
            tries -= 1
            start = int(start_entities[random.randrange(len(start_entities))])
            steps = _walk(graph, start, length, random, seen)
            if steps is None:
                continue
            text = wording.question(labels.nodes(np.array([start]))[0], steps)
            seen.update(steps)
            missing -= 1
            questions.append(
                AnsweredQuestion(
                    text if random.random() < 0.6 else text.lower(),
                    name,
                    f"{family}{length}",
                    (graph.node_ids[start],),
                    ((graph.node_ids[start], tuple((ids[rel], back) for rel, back in steps)),),
                )
            )
    if not questions:
        raise InputError(f"graph {name!r} has no walks to ask for")
    return questions


def _start_nodes(graph: KnowledgeGraph) -> Int64:
    """Returns the labelled entities of some statements, ascending."""
    degree = graph.out_edges.degrees()[: graph.entity_count]
    labelled = np.zeros(graph.entity_count, dtype=bool)
    for column in graph.node_labels.values():
        labelled[column.index[column.index < graph.entity_count]] = True
    if not labelled.any():
        labelled[:] = True
    entity = graph.node_kinds[: graph.entity_count] == NodeKind.ENTITY
    return np.flatnonzero(labelled & entity & (degree >= _LEAST_STATEMENTS))


def _walk(
    graph: KnowledgeGraph, start: int, length: int, random: Random, seen: Counter[Step]
) -> list[Step] | None:
    """Returns the steps of a simple walk drawn by relation, or None where it came to an end."""
    visited, steps = [start], list[Step]()
    # Others that share something are asked for more often than chance walks to them.
    turning = random.random() < _TURNING
    for _ in range(length):
        here = visited[-1]
        if here >= graph.entity_count:
            return None
        moves: dict[Step, list[int]] = {}
        for adjacency, other, back in (
            (graph.out_edges, graph.tail, False),
            (graph.in_edges, graph.head, True),
        ):
            edges = adjacency.of(here)
            if back and len(edges) > _MOST_NEIGHBOURS:
                continue
            for rel, node in zip(graph.rel[edges].tolist(), other[edges].tolist(), strict=True):
                if seen[rel, back] < _MOST_OF_ONE_STEP:
                    moves.setdefault((rel, back), []).append(node)
        if not moves:
            return None
        step = random.choice(sorted(moves))
        target = None
        if turning and len(steps) == 1:
            target = (steps[0][0], not steps[0][1])
        elif turning and len(steps) == 2 and random.random() < _AGAIN:
            target = steps[0]
        if target in moves:
            step = target
        steps.append(step)
        visited.append(random.choice(moves[step]))
    if len(set(visited)) < len(visited):
        return None
    # There are words for others of the same kind at the start, and none for turns after that.
    turns = [turns_back(left, right) for left, right in pairwise(steps)]
    return None if any(turns[1:]) and not turns[0] else steps
