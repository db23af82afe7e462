"""What a scorer is told of each candidate: numbers about the question, the start and the sequence.

Every number is a function of the question, the region and texts' vectors, on both routes alike.
``NAMES`` and ``FINAL_NAMES`` name the columns; weights are stored with them and fit no others.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.link.starts import NameForm, StartCandidate
from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.retrieve.learned.ends import EndKinds
from graph_service.retrieve.learned.entity_question import FEATURE_WORDS, EntityQuestion
from graph_service.retrieve.learned.relation_texts import RelationTexts, Similarities
from graph_service.retrieve.learned.words import WORD_NAMES, of_words
from graph_service.sorting import ranked

_RELATION = (
    "mean_cosine", "sum_cosine", "most_cosine", "least_cosine", "last_cosine", "first_cosine",
    "sum_over_part",
)  # fmt: skip
_SHAPE = (
    "one_step", "two_steps", "three_steps", "backward", "backward_first", "backward_last", "ends",
    "walks", "walks_per_end", "meets", "back_again", "there_and_back", "there_and_back_asked",
    "there_and_back_unasked",
)  # fmt: skip
_END_NODES = (
    "date", "number", "text", "person", "entity", "kind_known", "kind_cosine", "kind_word",
)  # fmt: skip
_QUESTION = (
    "words", "steps_over_words", "place", "nesting", "nesting_less_steps", "possessive", "owned",
    *(word.replace(" ", "_") for word in FEATURE_WORDS), "no_question_word",
    *(f"{word}_{end}" for word in ("who", "where", "when") for end in _END_NODES[:5]),
    "how_many_number",
)  # fmt: skip
_START = (
    "given", "link_score", "certainty", "name_words", "link_rank", "alias", "linked", "listed",
    "name_covered", "degree", "name_share", "rivals", "slips", "starts", "capitals",
    "neighbour_matches", "part_of_name", "demonym",
)  # fmt: skip
NAMES = (*_RELATION, *WORD_NAMES, *_SHAPE, *_END_NODES, *_QUESTION, *_START)
"""What is told of every candidate."""
FINAL_NAMES = (*NAMES, "text_score")
"""What is told of the best, and how like the question their words are, where they may be literal."""
_LEAST_SQUARE = 1e-12
"""Of the length of a sum of vectors, so that none is divided by 0."""


def describe(
    candidates: Candidates,
    start_entities: Sequence[StartCandidate],
    questions: Sequence[EntityQuestion],
    question_of: Int64,
    relations: RelationTexts,
    similarities: Sequence[Similarities],
    end_kinds: EndKinds,
    kind_vectors: Float64,
    /,
    *,
    question_words: Float64,
    question_length: int,
    writes_capitals: bool,
    by_caller: bool,
) -> Float64:
    """Returns ``NAMES`` of each candidate, float64 [c, len(NAMES)].

    Args:
        candidates: c of them.
        start_entities: What is known of each start.
        questions: The question as asked of the starts, each way once.
        question_of: Which of these is asked of each start, int64 [len(starts)].
        relations: Names of the region's relations.
        similarities: How like they are to each way of asking.
        end_kinds: What the candidates lead to.
        kind_vectors: Unit vectors of ``KINDS``, float64 [kinds, d].
        question_words: Of ``question_word_features``.
        question_length: Characters of the question, at least 1.
        writes_capitals: Whether capitals tell names in it.
        by_caller: Whether the caller gave the start entities.
    """
    way = question_of.take(candidates.start)
    word_features = np.empty((len(candidates), len(WORD_NAMES)))
    for way_index, (question, like) in enumerate(zip(questions, similarities, strict=True)):
        rows = np.flatnonzero(way == way_index)
        if len(rows):
            words = of_words(candidates, rows, question, relations, like, end_kinds, kind_vectors)
            word_features[rows] = np.array(words).T
    links = np.array(
        [
            _of_start(start, start_entities, question_length, writes_capitals, by_caller=by_caller)
            for start in start_entities
        ]
    )
    return np.concatenate(
        (
            np.array(_of_relations(candidates, way, relations, similarities)).T,
            word_features,
            np.array(_of_shape(candidates, way, questions, end_kinds)).T,
            np.array(_of_end_kinds(way, questions, end_kinds, kind_vectors)).T,
            np.array(_of_question(candidates, way, questions, end_kinds, question_words)).T,
            links[candidates.start],
        ),
        axis=1,
    )


def _of_relations(
    candidates: Candidates,
    way: Int64,
    relations: RelationTexts,
    similarities: Sequence[Similarities],
) -> list[Float64]:
    """Returns ``_RELATION`` of candidates, [c] each; ``way`` is how each one's start is asked of."""
    held, length, relation_index = candidates.steps, candidates.length, candidates.relations
    label = np.stack([like.label for like in similarities])
    nearest = np.stack([like.nearest for like in similarities])[way[:, None], relation_index]
    own = np.where(held, label[way[:, None], relation_index], 0.0)
    hops = relation_index.shape[1]
    # The sum of some labels' vectors is as long as the root of all their products.
    used, at = ranked(relation_index.ravel())
    at = at.reshape(relation_index.shape)
    labels = relations.labels[used]
    products = np.where(
        held[:, :, None] & held[:, None, :],
        (labels @ labels.T)[at[:, :, None], at[:, None, :]],
        0.0,
    )
    # All steps, and every two of three.
    among = np.array([[1] * hops, *((1 - row).tolist() for row in np.eye(3)[: 3 * (hops > 2)])])
    squares = (among[:, :, None] * among[:, None, :]).reshape(len(among), -1)
    total = products.reshape(len(relation_index), -1) @ squares.T
    like = own @ among.T / np.sqrt(np.maximum(total, _LEAST_SQUARE))
    cosine = like[:, 0]
    most = np.where(held, nearest, -1.0).max(axis=1)
    part = np.where(length > 1, most, cosine)
    if hops > 2:
        part = np.where(length > 2, np.maximum(part, like[:, 1:].max(axis=1)), part)
    return [
        own.sum(axis=1) / length,
        cosine,
        most,
        np.where(held, nearest, 2.0).min(axis=1),
        nearest[np.arange(len(relation_index)), length - 1],
        nearest[:, 0],
        cosine - part,
    ]


def _of_shape(
    candidates: Candidates, way: Int64, questions: Sequence[EntityQuestion], end_kinds: EndKinds
) -> list[Float64]:
    """Returns ``_SHAPE`` of candidates, [c] each."""
    length, held = candidates.length, candidates.steps
    backward, relation_index = candidates.backward, candidates.relations
    turned = (
        (
            held[:, 1:]
            & (relation_index[:, 1:] == relation_index[:, :-1])
            & (backward[:, 1:] != backward[:, :-1])
        )
        .any(axis=1)
        .astype(np.float64)
    )
    of_others = np.array([float(question.of_others) for question in questions])[way]
    walks = candidates.walks.astype(np.float64)
    count = np.bincount(candidates.end_owner, minlength=len(candidates)).astype(np.float64)
    return [
        *((length == steps).astype(np.float64) for steps in (1, 2, 3)),
        (backward & held).sum(axis=1) / 2,
        backward[:, 0].astype(np.float64),
        backward[np.arange(len(length)), length - 1].astype(np.float64),
        np.log1p(count) / 5,
        np.log1p(walks) / 5,
        (walks > 1.5 * count).astype(np.float64),
        end_kinds.meets,
        end_kinds.back,
        turned,
        turned * of_others,
        turned - of_others,
    ]


def _of_end_kinds(
    way: Int64, questions: Sequence[EntityQuestion], end_kinds: EndKinds, kind_vectors: Float64
) -> list[Float64]:
    """Returns ``_END_NODES`` of candidates, [c] each."""
    # What is not known has the last place, -1.
    cosine = np.zeros((len(questions), len(kind_vectors) + 1))
    nearest = np.zeros_like(cosine)
    for way_index, question in enumerate(questions):
        cosine[way_index, :-1] = kind_vectors @ question.vector
        if question.words:
            nearest[way_index, :-1] = (kind_vectors @ question.word_vectors.T).max(axis=1)
    return [
        *end_kinds.shares.T,
        (end_kinds.kind >= 0).astype(np.float64),
        cosine[way, end_kinds.kind],
        nearest[way, end_kinds.kind],
    ]


def _of_question(
    candidates: Candidates,
    way: Int64,
    questions: Sequence[EntityQuestion],
    end_kinds: EndKinds,
    question_words: Float64,
) -> list[Float64]:
    """Returns ``_QUESTION`` of candidates, [c] each."""
    length, shares = candidates.length, end_kinds.shares.T
    count = np.array([len(question.words) for question in questions])
    nesting = np.array([question.nesting for question in questions])
    same = np.ones(len(length))
    return [
        (count / 5)[way],
        np.maximum(length - count[way], 0).astype(np.float64),
        np.array([question.position for question in questions])[way],
        (nesting / 3)[way],
        (nesting[way] - length) / 3,
        np.array([float(question.possessive) for question in questions])[way],
        np.array([float(question.owned) for question in questions])[way],
        *(same * value for value in question_words),
        *(question_words[word] * share for word in range(3) for share in shares),
        question_words[FEATURE_WORDS.index("how many")] * shares[1],
    ]


def _of_start(
    start: StartCandidate,
    start_entities: Sequence[StartCandidate],
    question_length: int,
    writes_capitals: bool,
    *,
    by_caller: bool,
) -> list[float]:
    if by_caller:
        return [1.0, *[0.0] * (len(_START) - 1)]
    same_names = sum(
        other is not start and other.start < start.end and start.start < other.end
        for other in start_entities
    )
    return [
        0.0,
        start.score,
        start.certainty / 4,
        min(start.words, 5) / 5,
        start.rank / 3,
        float(start.is_alias),
        float(start.linked),
        float(start.listed),
        float(start.covered),
        float(np.log1p(start.degree)) / 10,
        (start.end - start.start) / question_length,
        same_names / 5,
        float(start.typos),
        len(start_entities) / 10,
        float(writes_capitals),
        float(start.neighbour_matches),
        float(start.form is NameForm.PART),
        float(start.form is NameForm.DEMONYM),
    ]
