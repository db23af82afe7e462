"""Questions made of a graph's own walks, put into many wordings.

They show the scorer what people's questions seldom have: two and three steps, steps walked from
value to subject, and every relation of the graph. The wordings are general and of no published
set; relations go by their labels, by their other names, and by what people say for them
(``graph_service.text.relation_phrases``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from random import Random

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int64, KnowledgeGraph, NodeKind
from graph_service.retrieve.labels import Labels
from graph_service.text.relation_phrases import RelationPhrases, phrases_of
from queries.training.examples import AnsweredQuestion

Step = tuple[int, bool]
"""A relation, global number, and whether it is walked from value to subject."""
_PREDICATE = re.compile(r".* (in|by|for|at|from|to|of|with|on)")
"""A name that reads as said of the subject: *born in*, *directed by*."""
_PHRASE = re.compile(r"\b(of|that|which|whose|who|with|as|by|in|for|at|from|to|on) ")
"""Tells of a phrase whose possessive would bind to its last word alone."""
_MOST_OF_ONE_STEP = 40
"""Questions in which one step may stand, so that frequent relations leave room."""
_MOST_NEIGHBOURS = 200
_LEAST_STATEMENTS = 4
_TRIES = 200
_TURNING = 0.2
"""Share of longer walks that go a step and the same back, where there is such a step."""
_STATED_SHARE = 0.7
"""Share of steps that go by what people say for them, where that is known."""
_AGAIN = 0.3
"""Share of those of three steps that go the first step again: who acts with whom X acts with."""
_FORWARD = (
    "what is the {r} of {x}?", "what is {x}'s {r}?", "who is {x}'s {r}", "name the {r} of {x}",
    "{x} {r}", "what {r} does {x} have?", "which {r} is of {x}?", "tell me the {r} for {x}",
    "who was the {r} of {x}?", "find {x}'s {r}", "{x}'s {r} is what?", "{r} of {x}",
    "do you know the {r} of {x}?", "can you tell me {x}'s {r}", "I want to know the {r} of {x}",
    "what are the {r}s of {x}?", "who are {x}'s {r}s?", "list the {r}s that {x} has",
    "what is the name of {x}'s {r}?", "the {r} of {x} is which one?", "give me {x}'s {r}",
    "what does {x} have as {r}?", "which {r} does {x} have?", "what was {x}'s {r}",
    "what kind of {r} does {x} have?", "which is the {r} of {x}?", "{x} has which {r}?",
)  # fmt: skip
_FORWARD_PREDICATE = (
    "what is {x} {r}?", "{x} is {r} what?", "{x} {r}", "who or what is {x} {r}",
    "what was {x} {r}?", "tell me what {x} is {r}", "which one was {x} {r}?",
    "do you know what {x} was {r}?", "name what {x} is {r}",
)  # fmt: skip
_BACKWARD = (
    "what has {x} as its {r}?", "what is {x} the {r} of?", "whose {r} is {x}?",
    "name something with {r} {x}", "which ones have the {r} {x}?", "{x} is the {r} of what",
    "who has {x} as {r}?", "of what is {x} the {r}?", "list everything whose {r} is {x}",
    "which one's {r} is {x}?", "give me the ones with {x} as their {r}",
    "what things have {x} as {r}", "{x} is {r} of whom?", "who or what has the {r} {x}?",
    "for which ones is {x} the {r}?",
)  # fmt: skip
_BACKWARD_PREDICATE = (
    "what is {r} {x}?", "who is {r} {x}", "which ones are {r} {x}?", "things {r} {x}",
    "name something {r} {x}", "who was {r} {x}?", "list what was {r} {x}",
    "tell me who is {r} {x}", "which were {r} {x}?", "give me everything {r} {x}",
)  # fmt: skip
_SAME = (
    "what else has the same {r} as {x}?", "who shares the {r} of {x}?",
    "which others have the {r} that {x} has?", "who has the same {r} as {x}",
)  # fmt: skip
_TOGETHER = (
    "who else is {r} of what {x} is {r} of?", "who is a {r} together with {x}?",
    "what other {r} did the ones with {r} {x} have?",
)  # fmt: skip
_OTHERS_OF_SAME = (
    "others with the same {r} as {x}", "the ones that share the {r} of {x}",
    "those that also have the {r} of {x}", "things that have the same {r} as {x}",
)  # fmt: skip
_OTHERS_TOGETHER = (
    "those who are {r} together with {x}", "the other {r} of what {x} is {r} of",
    "those that share being {r} with {x}",
)  # fmt: skip
_NOUN = (
    "{x}'s {r}", "the {r} of {x}", "{x}'s {r}", "the {r} of {x}", "the {r} that {x} has",
    "the {r} which {x} has", "{x}'s {r}s", "the {r}s of {x}", "what {x} has as {r}",
    "the one who is {x}'s {r}", "the thing that is the {r} of {x}", "{x} {r}",
)  # fmt: skip
_NOUN_BACKWARD = (
    "the ones whose {r} is {x}", "those whose {r} is {x}", "things with {x} as {r}",
    "those with {x} as {r}", "the one that has {x} as its {r}", "everything with the {r} {x}",
    "the person whose {r} is {x}", "what {x} is the {r} of", "anyone with {x} as {r}",
    "whatever has the {r} {x}", "that of which {x} is the {r}",
)  # fmt: skip
_NOUN_PREDICATE = (
    "the ones {r} {x}", "those {r} {x}", "the things {r} {x}", "people {r} {x}",
    "what is {r} {x}", "the person who was {r} {x}", "the one that is {r} {x}",
    "whoever was {r} {x}",
)  # fmt: skip


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
    turns = [_turns(left, right) for left, right in pairwise(steps)]
    return None if any(turns[1:]) and not turns[0] else steps


def _turns(step: Step, other: Step, /) -> bool:
    """Returns whether a step is the same relation back."""
    return step[0] == other[0] and step[1] != other[1]


class Wordings:
    """Puts walks into words.

    Args:
        random: Draws wordings and names.
        ids: Of each relation.
        labels: Of each relation.
        others: Other names of each relation.
    """

    def __init__(
        self,
        random: Random,
        ids: Sequence[str],
        labels: Sequence[str],
        others: Sequence[Sequence[str]],
        /,
    ) -> None:
        self._random = random
        self._phrases = list(map(phrases_of, ids, labels))
        self._labels = labels
        self._names = [
            list(dict.fromkeys((label, *(other for other in more if "(" not in other))))
            for label, more in zip(labels, others, strict=True)
        ]

    def question(self, start: str, steps: Sequence[Step], /) -> str:
        """Returns a question that asks for the ends of a walk."""
        *before, (rel, back) = steps
        subject = start
        if len(steps) > 1 and _turns(steps[0], steps[1]) and not self._people_say(steps[0][0]):
            noun = self._noun(steps[0][0])
            if len(steps) == 2:
                return self._chosen(_TOGETHER if steps[0][1] else _SAME, start, noun)
            others = _OTHERS_TOGETHER if steps[0][1] else _OTHERS_OF_SAME
            subject = self._chosen(others, start, noun)
            before = before[2:]
        for step in before:
            subject = self._phrase(subject, *step)
        phrases = self._people_say(rel)
        if phrases is not None:
            return self._chosen(phrases.backward if back else phrases.forward, subject)
        name = self._name(rel)
        if _PREDICATE.fullmatch(name):
            return self._chosen(_BACKWARD_PREDICATE if back else _FORWARD_PREDICATE, subject, name)
        return self._chosen(_BACKWARD if back else _FORWARD, subject, name)

    def _phrase(self, subject: str, rel: int, back: bool) -> str:
        """Returns words for what a step leads to from what was said so far."""
        phrases = self._people_say(rel)
        if phrases is not None:
            return self._chosen(phrases.noun_backward if back else phrases.noun, subject)
        if not back:
            return self._chosen(_NOUN, subject, self._noun(rel))
        predicates = [name for name in self._names[rel] if _PREDICATE.fullmatch(name)]
        if predicates:
            return self._chosen(_NOUN_PREDICATE, subject, self._random.choice(predicates))
        return self._chosen(_NOUN_BACKWARD, subject, self._noun(rel))

    def _people_say(self, rel: int) -> RelationPhrases | None:
        """Returns what people say for a relation, most times that anything is known of it."""
        return self._phrases[rel] if self._random.random() < _STATED_SHARE else None

    def _name(self, rel: int) -> str:
        names = self._names[rel]
        return self._random.choice(names) if self._random.random() < 0.6 else names[0]

    def _noun(self, rel: int) -> str:
        nouns = [name for name in self._names[rel] if not _PREDICATE.fullmatch(name)]
        return self._random.choice(nouns) if nouns else self._labels[rel]

    def _chosen(self, wordings: Sequence[str], text: str, name: str = "") -> str:
        if _PHRASE.search(text):
            # "the mother of X's husband" would say another order of the steps.
            wordings = [each for each in wordings if "{x}'s" not in each] or wordings
        return self._random.choice(wordings).format(x=text, r=name)
