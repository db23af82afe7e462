"""Whether the graph does not say what a question asks for.

That is another thing than not to be sure. It takes three certainties: which entity is meant, which
relation is asked for, and that the entity has no statement of it. The relation is sure where the
prior of relations leaves no other, or where the words of the question are those of its label.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.link.spans import Certainty
from graph_service.link.starts import NameForm, StartCandidate
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.graph import Float64
from graph_service.model.limits import CutReason
from graph_service.retrieve.constraints.coverage import (
    follows_from_kin,
    is_kin,
    means,
    root,
    sides_of,
    stems_of,
)
from graph_service.retrieve.context import RetrievalContext
from graph_service.retrieve.learned.relation_prior import (
    common_labels,
    masked_words,
    shipped_prior,
)
from graph_service.retrieve.preset import LearnedPreset
from graph_service.sorting import distinct
from graph_service.text.fold import lowered, word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import ASKING_WORDS, read_form

_Step = tuple[str, bool]
"""The label of a relation, and whether it is walked from value to head."""


_LABEL_AFTER = re.compile(r"\s*['\u2019]?s?\s+(.+?)\W*")
_LABEL_OF = re.compile(
    r"\s*(?:what|who|which)\s+(?:is|are|was|were)\s+(?:(?:the|our|my|your|their)\s+)?"
    r"(.+?)\s+(?:of|in|at|for)\s+(?:the\s+)?"
)
_WHAT_IS = re.compile(r"\s*(?:what|who)(?:'s|\u2019s|\s+(?:is|are|was|were))\s+")
_LABEL_BEFORE = re.compile(
    r"\s*(?:(?:in|at|on|from|to)\s+)?(?:what|which)\s+(.+?)\s+(?:is|are|was|were)\s+(?:the\s+)?"
)
_NOTHING_MORE = re.compile(r"\W*(?:(?:in|at|on|from|of)\W*)?")


@dataclass(frozen=True, slots=True)
class UnstatedRules:
    """The numbers of it, chosen on questions whose statements were taken out of the graph.

    Attributes:
        share: Of the prior's probability that one relation has at least, for it to be sure.
        gap: By how much it fits better than each relation that the entity has, in units of the
            prior.
        same: Cosine of two labels from which on they may mean the same.
        right: Confidence in the first answer at most, where the graph does not say it: 1 of 33 such
            answers was right.
        sure: Confidence in the first answer from which on it is given all the same.
    """

    share: float = 0.8
    gap: float = 2.5
    same: float = 0.5
    right: float = 0.03
    sure: float = 0.61


UNSTATED_RULES = UnstatedRules()


def is_unstated(
    call: RetrievalContext[LearnedPreset],
    question: str,
    start_entities: Sequence[StartCandidate],
    best: int,
    texts: Mapping[int, str],
    /,
    *,
    by_caller: bool,
    further_fit: float,
    further_labels: Container[str],
) -> bool:
    """Returns whether the graph surely has no statement of what a question asks of an entity.

    Args:
        call: The retrieval.
        question: As asked.
        start_entities: What is known of the region's start entities, in their order.
        best: Which of them the best candidate starts at.
        texts: Words of the region's relations, by global number.
        by_caller: Whether the caller gave the start entities.
        further_fit: How well the best candidate of several steps fits by the prior, the least of
            its steps; minus infinity for none.
        further_labels: Of relations of what an entity of its own leads to: the graph may say the
            city of a painting by that of its museum.
    """
    meant = start_entities[best]
    if not (by_caller or _is_certain(meant)):
        return False
    span = (meant.start, meant.end) if meant.start >= 0 else None
    same_name = [
        index
        for index, start in enumerate(start_entities)
        if start.linked or (start.start, start.end) == (meant.start, meant.end)
    ]
    if any(
        (start_entities[index].start, start_entities[index].end) != (span or (-1, -1))
        for index in same_name
    ):
        return False
    steps = _steps_of(call, start_entities, same_name)
    if steps is None:
        return False
    guess = _PriorGuess(masked_words(question, span), steps, list(texts.values()))
    is_like = _Similarity(call)
    content = _content(question, span)
    stems = frozenset(map(root, content))
    if not stems or any(stems & stems_of(words(label)) for label, _ in steps):
        return False
    if any(
        is_kin(noun) and means(noun, sides_of(label)[way])
        for noun in content
        for label, way in steps
    ):
        # Whose mother she is are her children.
        return False
    has_kin = any(is_kin(word) for label, _ in steps for word in words(label))
    if has_kin and any(map(follows_from_kin, content)):
        return False
    if guess.is_sure and max(guess.nearest, further_fit) <= guess.best - UNSTATED_RULES.gap:
        # Only labels of common relations does the prior tell apart for sure.
        unknown = sorted({label for label, _ in steps}.difference(common_labels()))
        label: str | None = guess.label
    else:
        unknown = sorted({each for each, _ in steps})
        label = _stated_label(content, guess)
    if unknown and read_form(question).asks_where:
        # A depot may be where a lorry is, whatever the prior knows of places.
        return False
    if label is None or label in further_labels or is_like.any(label, unknown):
        return False
    return not _is_of_rows(call, same_name, label)


def asks_by_another_label(
    question: str, start: StartCandidate, walked: Iterable[str], labels: Iterable[str], /
) -> bool:
    """Returns whether a question asks for *the species of X*, or *in what city is X*, by the label
    of a relation, and what was walked shares no word with it, as the class or the museum of X.

    Args:
        question: As asked.
        start: The entity that it is asked of.
        walked: Labels of the relations of the best candidate.
        labels: Of all relations of the region.
    """
    if start.start < 0:
        return False
    before, after = lowered(question[: start.start]), lowered(question[start.end :])
    match = _LABEL_OF.fullmatch(before)
    if match is None and _WHAT_IS.fullmatch(before):
        match = _LABEL_AFTER.fullmatch(after)
    if match is None and _NOTHING_MORE.fullmatch(after):
        match = _LABEL_BEFORE.fullmatch(before)
    content = _content(match[1], None) if match else frozenset()
    stems = frozenset(map(root, content))
    if not stems or any(_may_be(stems, stems_of(words(label))) for label in walked):
        return False
    return any(_is_stated(label, content) for label in labels)


def _may_be(stems: frozenset[str], own: frozenset[str]) -> bool:
    """Returns whether words that ask for a relation may mean one of some words: if both have words
    that the other lacks, as *date of death* and *date of birth*, they don't.
    """
    return bool(stems & own) and (stems <= own or own <= stems)


def _is_certain(start: StartCandidate) -> bool:
    return (
        start.linked
        and start.form is NameForm.EXACT
        and start.certainty >= Certainty.PROPER
        and not (start.typos or start.covered or start.in_other_name)
    )


def _steps_of(
    call: RetrievalContext[LearnedPreset],
    start_entities: Sequence[StartCandidate],
    of: Sequence[int],
) -> list[_Step] | None:
    """Returns the relations of some start entities, each way; None where limits left some out."""
    surroundings = call.surroundings
    nodes = call.region.nodes[call.region.start_entities[list(of)]]
    local = np.searchsorted(surroundings.nodes, nodes)
    forward, backward = np.isin(surroundings.head, local), np.isin(surroundings.tail, local)
    is_cut = any(
        cut.what == "edges" and cut.reason in (CutReason.LIMIT, CutReason.DEADLINE)
        for cut in surroundings.cuts
    )
    if is_cut and int(forward.sum() + backward.sum()) < sum(
        start_entities[each].degree for each in of
    ):
        return None
    steps: list[_Step] = []
    for edges, way in ((forward, False), (backward, True)):
        labels = call.labels.relations(distinct(surroundings.rel[edges]))
        steps += [(label, way) for label in labels]
    return steps


def _is_of_rows(
    call: RetrievalContext[LearnedPreset], start_index: Sequence[int], label: str
) -> bool:
    """Returns whether what leads to some start entities has a relation that joins nothing of their
    classes: the diagnosis of an animal is that of its visits.
    """
    region = call.surroundings
    local = np.searchsorted(
        region.nodes, call.region.nodes[call.region.start_entities[list(start_index)]]
    )
    numbers = distinct(region.rel)
    ids, labels = call.labels.relation_ids(numbers), call.labels.relations(numbers)
    of_label = [node for node, each in zip(numbers.tolist(), labels, strict=True) if each == label]
    instance = [
        node for node, id_ in zip(numbers.tolist(), ids, strict=True) if id_ in INSTANCE_RELATIONS
    ]
    stating = np.isin(region.rel, of_label)
    heads = distinct(region.head[stating])
    rows = distinct(region.head[np.isin(region.tail, local)])
    if not np.isin(rows, heads).any():
        return False
    is_instance = np.isin(region.rel, instance)
    classes = distinct(region.tail[is_instance & np.isin(region.head, local)])
    of_classes = region.head[is_instance & np.isin(region.tail, classes)]
    return not np.isin(of_classes, np.concatenate((heads, region.tail[stating]))).any()


def _content(question: str, span: tuple[int, int] | None) -> frozenset[str]:
    """Returns the words that say what is asked for, nouns in the singular, less the name of the
    entity.
    """
    first, last = span or (-1, -1)
    return frozenset(
        singular(word)
        for word, start, end in word_spans(question)
        if len(word) > 1
        and word not in EMPTY_IN_ENGLISH
        and word not in ASKING_WORDS
        and not (start < last and first < end)
    )


class _Similarity:
    """Tells whether labels may mean the same."""

    def __init__(self, call: RetrievalContext[LearnedPreset], /) -> None:
        self._encode = call.encode

    def any(self, label: str, others: Sequence[str], /) -> bool:
        """Returns whether one of some labels may mean the same as a label."""
        if not others:
            return False
        vectors: Float64 = self._encode([label, *others]).astype(np.float64)
        return bool((np.round(vectors[1:] @ vectors[0], 5) >= UNSTATED_RULES.same).any())


class _PriorGuess:
    """Which relation a question asks for, by the prior of relations.

    Attributes:
        steps: The relations of the entity, each way.
        labels: Of all relations that come into question: common ones, the region's and these.
        label: Of the best.
        best, nearest: How well that fits, and the best of the steps; minus infinity for none.
        is_sure: Whether all others are improbable beside the best.
    """

    def __init__(
        self, tokens: Sequence[str], steps: Sequence[_Step], texts: Sequence[str], /
    ) -> None:
        self.steps = steps
        self.labels = list(
            dict.fromkeys((*common_labels(), *texts, *(label for label, _ in steps)))
        )
        fit = np.round(shipped_prior().fit([tokens], self.labels)[0], 5)
        row_of = {label: row for row, label in enumerate(self.labels)}
        self.label = self.labels[int(fit.argmax()) // 2]
        self.best = float(fit.max())
        self.nearest = max(
            (float(fit[row_of[label], int(back)]) for label, back in steps), default=-np.inf
        )
        total = float(np.exp(fit - self.best).sum())
        self.is_sure = 1.0 / total >= UNSTATED_RULES.share


def _stated_label(left: frozenset[str], guess: _PriorGuess, /) -> str | None:
    """Returns the label that a question says and no more; None where a step of the entity is said
    with these words too.
    """
    stems = frozenset(map(root, left))
    own = [side for each, _ in guess.steps for side in sides_of(each)]
    if not left or any(stems <= side.words for side in own):
        return None
    return next((each for each in guess.labels if _is_stated(each, left)), None)


def _is_stated(label: str, left: frozenset[str]) -> bool:
    """Returns whether some words are those of a label: of *after a work by* they are too few."""
    content = _content(label, None)
    return content == left and len(words(label)) <= len(content) + 1
