"""How the words of a question and the steps of a candidate say each other.

Cosines are between one word and one name of a relation. A word that a candidate covers is said by
one of its relations; a step has a word of its own where no other step says it as well.
"""

from __future__ import annotations

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.retrieve.learned.ends import EndKinds
from graph_service.retrieve.learned.entity_question import EntityQuestion
from graph_service.retrieve.learned.relation_names import stem
from graph_service.retrieve.learned.relation_texts import RelationTexts, Similarities
from graph_service.sorting import distinct

WORD_NAMES = (
    "covered_mean", "covered_least", "covered_two", "step_least", "step_most", "step_last",
    "step_first", "step_mean", "uncovered_35", "uncovered_50", "distinct_words", "own_last",
    "own_least", "near_first", "near_last", "far_first", "far_last", "shared_least", "shared_most",
    "shared_last", "unshared_words", "in_order", "order_gain", "unsaid", "unsaid_most",
    "unsaid_far", "unsaid_kinds", "unsaid_kinds_most",
)  # fmt: skip
_LEAST_LIKE = 0.3
"""A cosine that says nothing: words are about as like relations that they do not mean."""


def of_words(
    candidates: Candidates,
    rows: Int64,
    question: EntityQuestion,
    relations: RelationTexts,
    similarities: Similarities,
    end_kinds: EndKinds,
    kind_vectors: Float64,
    /,
) -> list[Float64]:
    """Returns ``WORD_NAMES`` of some candidates of which the same is asked, float64 [len(rows)] each."""
    held, relation_index, length = (
        candidates.steps[rows],
        candidates.relations[rows],
        candidates.length[rows],
    )
    count, last = len(rows), candidates.length[rows] - 1
    row = np.arange(count)
    shared = _shared(held, relation_index, question, relations)
    if not question.words:
        return [*[np.zeros(count)] * 17, *(shared[i] for i in range(4)), *[np.zeros(count)] * 7]
    like = similarities.words
    # [words, candidates, steps]
    of_step = np.where(held, like[:, relation_index], -1.0)
    covered = of_step.max(axis=2)
    by_step = np.where(held, of_step.max(axis=0), -1.0)
    two = np.sort(covered, axis=0)[:2].mean(axis=0)
    # A step and the same back are one relation, which the same word may say: [candidates, steps,
    # other steps].
    other = held[:, None, :] & (relation_index[:, None, :] != relation_index[:, :, None])
    others = np.where(other, of_step[:, :, None, :], -1.0).max(axis=3)
    own = np.where(other.any(axis=2) & held, (of_step - others).max(axis=0), 0.5)
    best = of_step.argmax(axis=0)
    best = np.where(held, best, best[:, :1])
    different = (np.diff(np.sort(best, axis=1), axis=1) > 0).sum(axis=1) + 1
    by_closeness = question.by_closeness()
    near, far = int(by_closeness[0]), int(by_closeness[-1])
    return [
        covered.mean(axis=0),
        covered.min(axis=0),
        two,
        np.where(held, by_step, 2.0).min(axis=1),
        by_step.max(axis=1),
        by_step[row, last],
        by_step[:, 0],
        np.where(held, by_step, 0.0).sum(axis=1) / length,
        (covered < 0.35).sum(axis=0) / 4,
        (covered < 0.5).sum(axis=0) / 4,
        different / length,
        own[row, last],
        np.where(held, own, 2.0).min(axis=1),
        of_step[near, :, 0],
        of_step[near][row, last],
        of_step[far, :, 0],
        of_step[far][row, last],
        *(shared[i] for i in range(4)),
        *_order(of_step[by_closeness], length),
        *_unsaid(
            like,
            covered,
            far,
            _kind_similarity(candidates, rows, question, end_kinds, kind_vectors),
        ),
    ]


def _order(of_step: Float64, length: Int64) -> tuple[Float64, Float64]:
    """Returns how well steps are said by words in their order, and the gain over the other way.

    The words of the first steps stand closest to the name. Each step takes a word of its own.

    Args:
        of_step: Cosine of each word, the closest first, with each step, [words, c, hops].
        length: Steps of each candidate, int64 [c].
    """
    # Both ways at once: [words, 2, c, hops].
    ordered = np.stack((of_step, of_step[::-1]), axis=1)
    best = np.zeros((len(ordered) + 1, 2, len(length)))
    for step in range(ordered.shape[3]):
        taken = np.full_like(best, -2.0)
        np.maximum.accumulate(best[:-1] + ordered[..., step], axis=0, out=taken[1:])
        best = np.where(length > step, taken, best)
    first, other = np.maximum(best[-1] / length, -1.0)
    return first, np.where(length > 1, first - other, 0.0)


def _unsaid(
    like: Float64, covered: Float64, far: int, kind: Float64
) -> tuple[Float64, Float64, Float64, Float64, Float64]:
    """Returns what words ask for that some relation of the region says and a candidate does not.

    Args:
        like: Cosine of each word with each relation of the region, [words, r].
        covered: With the nearest of a candidate's relations, [words, c].
        far: Place of the word that is furthest from the name.
        kind: With the nearest of the kinds of what a candidate comes to, [words, c].

    Returns:
        Of relations alone the sum over words, halved, the most, and that of the furthest word;
        with kinds the sum and the most; float64 [c] each.
    """
    most = np.maximum(like.max(axis=1, initial=-1.0), _LEAST_LIKE)[:, None]
    lost = most - np.maximum(covered, _LEAST_LIKE)
    of_kinds = np.maximum(most - np.maximum(np.maximum(covered, kind), _LEAST_LIKE), 0.0)
    return (
        lost.sum(axis=0) / 2,
        lost.max(axis=0),
        lost[far],
        of_kinds.sum(axis=0) / 2,
        of_kinds.max(axis=0),
    )


def _kind_similarity(
    candidates: Candidates,
    rows: Int64,
    question: EntityQuestion,
    end_kinds: EndKinds,
    kind_vectors: Float64,
) -> Float64:
    """Returns the cosine of words with the nearest kind of what a candidate's steps come to.

    float64 [words, c]; -1 where no kind is known.
    """
    like = question.word_vectors @ kind_vectors.T
    like = np.concatenate((like, np.full((len(like), 1), -1.0)), axis=1)
    similarity = like[:, end_kinds.kind[rows]]
    for before in candidates.prefixes[rows].T:
        kind = np.where(before >= 0, end_kinds.kind[before], -1)
        similarity = np.maximum(similarity, like[:, kind])
    return similarity


def _shared(
    held: Bool,
    relation_index: Int64,
    question: EntityQuestion,
    relations: RelationTexts,
) -> tuple[Float64, Float64, Float64, Float64]:
    """Returns the shares of relations' words that the question has: least, most, of the last step;
    and how many of its words no step has, in quarters.
    """
    question_stems = {stem(word) for word in question.words}
    share = np.zeros(len(relations.named))
    has = np.zeros((len(share), len(question_stems)), dtype=bool)
    order = {word: i for i, word in enumerate(sorted(question_stems))}
    for relation in distinct(relation_index.ravel()).tolist():
        named = relations.named[relation]
        if not question_stems.isdisjoint(named.all_stems):
            shared_stems = named.all_stems & question_stems
            share[relation] = max(
                len(name & question_stems) / max(len(name), 1) for name in named.stems
            )
            has[relation, [order[word] for word in shared_stems]] = True
    shares = share[relation_index]
    last = held.sum(axis=1) - 1
    unshared = ~(has[relation_index] & held[..., None]).any(axis=1)
    return (
        np.where(held, shares, 2.0).min(axis=1),
        np.where(held, shares, -1.0).max(axis=1),
        shares[np.arange(len(relation_index)), last],
        unshared.sum(axis=1) / 4,
    )
