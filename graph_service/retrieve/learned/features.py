"""What a scorer is told of each candidate: numbers about the question, the start and the sequence.

Every number is a function of the question, the region and texts' vectors, on both routes alike.
``NAMES`` and ``FINAL_NAMES`` name the columns; weights are stored with them and fit no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from graph_service.link.starts import NameForm, StartCandidate
from graph_service.model.graph import Float64, Int64
from graph_service.model.region import Region
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.asked import QUESTION_WORDS, Asked
from graph_service.retrieve.learned.candidates import Candidates
from graph_service.text.fold import words
from graph_service.text.function_words import FUNCTION_WORDS

_RELATION = (
    "mean_cosine", "sum_cosine", "most_cosine", "least_cosine", "last_cosine", "first_cosine",
    "sum_over_part",
)  # fmt: skip
_WORD = (
    "covered_mean", "covered_least", "covered_two", "step_least", "step_most", "step_last",
    "step_first", "step_mean", "uncovered_35", "uncovered_50", "distinct_words", "own_last",
    "own_least", "near_first", "near_last", "far_first", "far_last", "shared_least", "shared_most",
    "shared_last", "unshared_words",
)  # fmt: skip
_SHAPE = (
    "one_step", "two_steps", "three_steps", "backward", "backward_first", "backward_last", "ends",
    "walks", "walks_per_end", "meets",
)  # fmt: skip
_ENDS = (
    "date", "number", "text", "person", "entity", "kind_known", "kind_cosine", "kind_word",
)  # fmt: skip
_QUESTION = (
    "words", "steps_over_words", "place", "nesting", "nesting_less_steps", "possessive", "owned",
    *(word.replace(" ", "_") for word in QUESTION_WORDS), "no_question_word",
    *(f"{word}_{end}" for word in ("who", "where", "when") for end in _ENDS[:5]),
    "how_many_number",
)  # fmt: skip
_START = (
    "given", "link_score", "certainty", "name_words", "link_rank", "alias", "linked", "listed",
    "name_covered", "degree", "name_share", "rivals", "slips", "starts", "capitals",
    "neighbour_matches", "part_of_name", "demonym",
)  # fmt: skip
NAMES = (*_RELATION, *_WORD, *_SHAPE, *_ENDS, *_QUESTION, *_START)
"""What is told of every candidate."""
TEXT_NAMES = (
    "text_cosine", "text_lacking", "text_score", "kinds_spoken", "plain_cosine", "plain_lacking",
    "plain_score",
)  # fmt: skip
"""What is told of those whose sequences are put into words."""
RELATIVE_NAMES = (
    "longer_own", "longer_text", "longer_plain", "gain_text", "gain_plain", "below_best_text",
    "below_best_plain", "has_longer",
)  # fmt: skip
"""What is told of those beside the others of the same start."""
FINAL_NAMES = (*NAMES, *TEXT_NAMES, *RELATIVE_NAMES)


@dataclass(frozen=True, slots=True, eq=False)
class RelationTexts:
    """The names of a region's relations, ``r`` relations of ``n`` names.

    Attributes:
        vectors: Unit vectors of all names, those of one relation together, float64 [n, d].
        first: Place of each relation's first name, its label, int64 [r].
        stems: Stems of each name's words, by relation.
    """

    vectors: Float64
    first: Int64
    stems: tuple[tuple[frozenset[str], ...], ...]

    @property
    def labels(self) -> Float64:
        """Vectors of the labels, float64 [r, d]."""
        return self.vectors[self.first]

    def likeness(self, texts: Float64, /) -> Float64:
        """Returns the cosine of each text with the nearest name of each relation, [texts, r]."""
        if not len(texts):
            return np.zeros((0, len(self.first)))
        nearest: Float64 = np.maximum.reduceat(texts @ self.vectors.T, self.first, axis=1)
        return nearest


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """What candidates lead to, ``c`` candidates.

    Attributes:
        shares: Share of ends that are dates, numbers, other text, persons, entities: [c, 5].
        kind: Number in ``KINDS`` of the commonest kind of end; -1 where none is known. int64 [c].
        meets: Whether another of the starts is among them, float64 [c].
    """

    shares: Float64
    kind: Int64
    meets: Float64


def stem(word: str, /) -> str:
    """Returns an English word without its commonest endings.

    >>> stem("directed"), stem("director"), stem("films")
    ('direct', 'direct', 'film')
    """
    for ending, least in (
        ("ing", 6),
        ("ed", 5),
        ("es", 5),
        ("er", 5),
        ("or", 5),
        ("s", 4),
        ("e", 4),
    ):
        if word.endswith(ending) and len(word) >= least:
            return word[: -len(ending)]
    return word


@lru_cache(maxsize=1 << 16)
def stems_of(name: str, /) -> frozenset[str]:
    """Returns the stems of a name's words, function words left out."""
    return frozenset(stem(word) for word in words(name) if word not in FUNCTION_WORDS)


def describe(
    candidates: Candidates,
    starts: Sequence[StartCandidate],
    asked: Sequence[Asked],
    relations: RelationTexts,
    ends: Ends,
    kind_vectors: Float64,
    /,
    *,
    question_words: Float64,
    question_length: int,
    writes_capitals: bool,
    given: bool,
) -> Float64:
    """Returns ``NAMES`` of each candidate, float64 [c, len(NAMES)].

    Args:
        candidates: c of them.
        starts: What is known of each start.
        asked: The question as asked of each start.
        relations: Names of the region's relations.
        ends: What the candidates lead to.
        kind_vectors: Unit vectors of ``KINDS``, float64 [kinds, d].
        question_words: Of ``asked_by``.
        question_length: Characters of the question, at least 1.
        writes_capitals: Whether capitals tell names in it.
        given: Whether the caller gave the start entities.
    """
    found = np.zeros((len(candidates), len(NAMES)))
    for number, (start, of_start) in enumerate(zip(starts, asked, strict=True)):
        rows = np.flatnonzero(candidates.start == number)
        if not len(rows):
            continue
        columns = [
            *_of_relations(candidates, rows, of_start, relations),
            *_of_words(candidates, rows, of_start, relations),
            *_of_shape(candidates, rows, ends),
            *_of_ends(rows, of_start, ends, kind_vectors),
            *_of_question(candidates, rows, of_start, ends, question_words),
        ]
        link = _of_start(start, starts, question_length, writes_capitals, given=given)
        found[rows] = np.column_stack([*columns, *(np.full(len(rows), value) for value in link)])
    return found


def _of_relations(
    candidates: Candidates, rows: Int64, asked: Asked, relations: RelationTexts
) -> list[Float64]:
    held, place, length = (
        candidates.steps[rows],
        candidates.relations[rows],
        candidates.length[rows],
    )
    labels = relations.labels
    own = labels @ asked.vector
    nearest = relations.likeness(asked.vector[None, :])[0]
    cosine = np.where(held, nearest[place], 0.0)
    used = np.where(held[..., None], labels[place], 0.0)
    whole = _length_one(used.sum(axis=1)) @ asked.vector
    part = np.where(length > 1, np.where(held, nearest[place], -1.0).max(axis=1), whole)
    for left, right in ((0, 1), (1, 2), (0, 2)):
        if used.shape[1] > right:
            pair = _length_one(used[:, left] + used[:, right]) @ asked.vector
            part = np.where(length > 2, np.maximum(part, pair), part)
    return [
        np.where(held, own[place], 0.0).sum(axis=1) / length,
        whole,
        np.where(held, cosine, -1.0).max(axis=1),
        np.where(held, cosine, 2.0).min(axis=1),
        cosine[np.arange(len(rows)), length - 1],
        cosine[:, 0],
        whole - part,
    ]


def _of_words(
    candidates: Candidates, rows: Int64, asked: Asked, relations: RelationTexts
) -> list[Float64]:
    held, place, length = (
        candidates.steps[rows],
        candidates.relations[rows],
        candidates.length[rows],
    )
    count, last = len(rows), candidates.length[rows] - 1
    row = np.arange(count)
    shared = _shared(held, place, asked, relations)
    if not asked.words:
        return [*[np.zeros(count)] * 17, *(shared[i] for i in range(4))]
    like = relations.likeness(asked.word_vectors)
    # [words, candidates, steps]
    of_step = np.where(held, like[:, place], -1.0)
    covered = of_step.max(axis=2)
    by_step = np.where(held, of_step.max(axis=0), -1.0)
    two = np.sort(covered, axis=0)[:2].mean(axis=0)
    own = np.empty((count, held.shape[1]))
    for step in range(held.shape[1]):
        others = np.delete(of_step, step, axis=2).max(axis=2, initial=-1.0)
        alone = (length == 1) | ~held[:, step]
        own[:, step] = np.where(alone, 0.5, (of_step[:, :, step] - others).max(axis=0))
    best = of_step.argmax(axis=0)
    best = np.where(held, best, best[:, :1])
    different = (np.diff(np.sort(best, axis=1), axis=1) > 0).sum(axis=1) + 1
    near, far = asked.nearest() or 0, asked.furthest() or 0
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
    ]


def _shared(
    held: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    place: Int64,
    asked: Asked,
    relations: RelationTexts,
) -> tuple[Float64, Float64, Float64, Float64]:
    """Returns the shares of relations' words that the question has: least, most, of the last step;
    and how many of its words no step has, in quarters.
    """
    used = np.unique(place)
    said = {stem(word) for word in asked.words}
    share = np.zeros(int(used.max(initial=0)) + 1)
    has = np.zeros((len(share), len(said)), dtype=bool)
    order = {word: i for i, word in enumerate(sorted(said))}
    for relation in used.tolist():
        names = relations.stems[relation]
        share[relation] = max((len(name & said) / max(len(name), 1) for name in names), default=0.0)
        for word in set().union(*names) & said:
            has[relation, order[word]] = True
    shares = share[place]
    last = held.sum(axis=1) - 1
    unshared = ~(has[place] & held[..., None]).any(axis=1)
    return (
        np.where(held, shares, 2.0).min(axis=1),
        np.where(held, shares, -1.0).max(axis=1),
        shares[np.arange(len(place)), last],
        unshared.sum(axis=1) / 4,
    )


def _of_shape(candidates: Candidates, rows: Int64, ends: Ends) -> list[Float64]:
    length = candidates.length[rows]
    held, backward = candidates.steps[rows], candidates.backward[rows]
    walks = candidates.walks[rows].astype(np.float64)
    count = np.bincount(candidates.end_owner, minlength=len(candidates))[rows].astype(np.float64)
    return [
        *((length == steps).astype(np.float64) for steps in (1, 2, 3)),
        (backward & held).sum(axis=1) / 2,
        backward[:, 0].astype(np.float64),
        backward[np.arange(len(rows)), length - 1].astype(np.float64),
        np.log1p(count) / 5,
        np.log1p(walks) / 5,
        (walks > 1.5 * count).astype(np.float64),
        ends.meets[rows],
    ]


def _of_ends(rows: Int64, asked: Asked, ends: Ends, kind_vectors: Float64) -> list[Float64]:
    kind = ends.kind[rows]
    known = kind >= 0
    vectors = kind_vectors[np.maximum(kind, 0)]
    nearest = (vectors @ asked.word_vectors.T).max(axis=1) if asked.words else np.zeros(len(rows))
    return [
        *ends.shares[rows].T,
        known.astype(np.float64),
        np.where(known, vectors @ asked.vector, 0.0),
        np.where(known, nearest, 0.0),
    ]


def _of_question(
    candidates: Candidates, rows: Int64, asked: Asked, ends: Ends, question_words: Float64
) -> list[Float64]:
    length = candidates.length[rows]
    same = np.ones(len(rows))
    shares = ends.shares[rows].T
    count = len(asked.words)
    return [
        same * count / 5,
        np.maximum(length - count, 0).astype(np.float64),
        same * asked.place,
        same * asked.nesting / 3,
        (asked.nesting - length) / 3,
        same * asked.possessive,
        same * asked.owned,
        *(same * value for value in question_words),
        *(question_words[word] * share for word in range(3) for share in shares),
        question_words[QUESTION_WORDS.index("how many")] * shares[1],
    ]


def _of_start(
    start: StartCandidate,
    starts: Sequence[StartCandidate],
    question_length: int,
    writes_capitals: bool,
    *,
    given: bool,
) -> list[float]:
    if given:
        return [1.0, *[0.0] * (len(_START) - 1)]
    rivals = sum(
        other is not start and other.start < start.end and start.start < other.end
        for other in starts
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
        rivals / 5,
        float(start.slips),
        len(starts) / 10,
        float(writes_capitals),
        float(start.neighbour_matches),
        float(start.form is NameForm.PART),
        float(start.form is NameForm.DEMONYM),
    ]


def find_ends(
    candidates: Candidates,
    region: Region,
    kinds: Mapping[int, str],
    literal_form: Sequence[int],
    /,
) -> Ends:
    """Returns what candidates lead to.

    Args:
        candidates: c of them.
        region: Theirs.
        kinds: Kind of the heads of each relation, by global number.
        literal_form: 0, 1 or 2 for each candidate whose first literal end is a date, a number or
            other text; -1 for one that has none.
    """
    count = len(candidates)
    owner, node = candidates.end_owner, candidates.end_node
    total = np.maximum(np.bincount(owner, minlength=count), 1)
    kind_of_node = np.full(region.node_count, -1)
    number = {kind: i for i, kind in enumerate(KINDS)}
    of_relation = {rel: number[kind] for rel, kind in kinds.items()}
    relations, place = np.unique(region.rel, return_inverse=True)
    of_edge = np.array([of_relation.get(rel, -1) for rel in relations.tolist()], dtype=np.int64)
    heads = of_edge[place] if len(place) else place
    # Of several, that of the statement of the smallest key: later assignments win.
    known_edges = np.flatnonzero(heads >= 0)[::-1]
    kind_of_node[region.head[known_edges]] = heads[known_edges]
    literal = region.literal[node]
    kind = kind_of_node[node]
    shares = np.zeros((count, 5))
    part = np.bincount(owner[literal], minlength=count) / total
    form = np.asarray(literal_form, dtype=np.int64)
    for column in range(3):
        shares[:, column] = np.where(form == column, part, 0.0)
    person = (kind == number["person"]) & ~literal
    shares[:, 3] = np.bincount(owner[person], minlength=count) / total
    shares[:, 4] = 1.0 - part
    commonest = np.zeros((count, len(KINDS)), dtype=np.int64)
    known = (kind >= 0) & ~literal
    np.add.at(commonest, (owner[known], kind[known]), 1)
    best = np.where(commonest.any(axis=1), commonest.argmax(axis=1), -1)
    is_start = np.zeros(region.node_count, dtype=bool)
    is_start[region.start_entities] = True
    meets = np.bincount(owner[is_start[node]], minlength=count) > 0
    return Ends(shares, best, meets.astype(np.float64))


def compare(candidates: Candidates, chosen: Int64, described: Float64, text: Float64, /) -> Float64:
    """Returns ``RELATIVE_NAMES`` of some candidates beside one another, [n, len(RELATIVE_NAMES)].

    Args:
        candidates: All.
        chosen: Some of them, int64 [n].
        described: ``NAMES`` of all.
        text: ``TEXT_NAMES`` of the chosen.
    """
    found = np.zeros((len(chosen), len(RELATIVE_NAMES)))
    own = described[chosen, NAMES.index("own_last")]
    keys = [
        (int(candidates.start[number]), candidates.sequence(number)) for number in chosen.tolist()
    ]
    place = {key: row for row, key in enumerate(keys)}
    longer: dict[int, list[int]] = {}
    for row, (start, sequence) in enumerate(keys):
        shorter = place.get((start, sequence[:-1]))
        if shorter is not None:
            longer.setdefault(shorter, []).append(row)
            found[row, 3] = text[row, 0] - text[shorter, 0]
            found[row, 4] = text[row, 4] - text[shorter, 4]
    for row in range(len(chosen)):
        others = longer.get(row, [])
        found[row, 0] = max((own[other] for other in others), default=-0.2)
        found[row, 1] = max((text[other, 0] - text[row, 0] for other in others), default=-0.3)
        found[row, 2] = max((text[other, 4] - text[row, 4] for other in others), default=-0.3)
        found[row, 7] = float(bool(others))
    starts = candidates.start[chosen]
    for start in np.unique(starts).tolist():
        rows = np.flatnonzero(starts == start)
        found[rows, 5] = text[rows, 2] - text[rows, 2].max()
        found[rows, 6] = text[rows, 6] - text[rows, 6].max()
    return found


def _length_one(rows: Float64) -> Float64:
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    shortened: Float64 = rows / np.maximum(size, 1e-6)
    return shortened
