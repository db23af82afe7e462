"""Whether a question says the steps that a candidate walks: each, as often, and the same way about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Float64
from graph_service.retrieve.constraints.answer_kind import walks_its_kin
from graph_service.retrieve.constraints.coverage import (
    Side,
    is_kin,
    means,
    root,
    side_of,
    sides_of,
    stems_of,
)
from graph_service.retrieve.constraints.judging import CandidateJudge
from graph_service.retrieve.constraints.meant_words import is_meant
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.owned_nouns import owned_phrases
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.verb_roles import walks_against_verb
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import ASKING_WORDS

_NESTING = frozenset(
    [
        "contain",
        "contains",
        "in",
        "located",
        "location",
        "part",
        "parts",
        "subclass",
        "territorial",
        "within",
    ]
)
"""Words of relations whose repetition says the same: what is in a part of X is in X."""
_DOES = re.compile(r"\W*what\s+(?:do|does|did)\s+(.+?)\s+do\b", re.IGNORECASE)
_NAMES = frozenset({"name", "names"})
"""What is asked for by its name is asked for."""
_OF_SEVERAL_STEPS = frozenset(
    ["aunt", "brother", "cousin", "nephew", "niece", "sibling", "sister", "uncle"]
)
"""Kin that may be reached by way of other kin."""
_SURELY_SWAPPED = 0.1
"""How much better two phrases must fit the other's step than their own, as cosines."""


def repeats_unsaid(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a candidate walks a relation more often than the question says it.

    Places and parts are in one another at any depth, so that relations that say so (``located in``,
    ``part of``) may be walked again.
    """
    return _repeats(judge, walks, Counter(walks.relations))


def repeats_kin_unsaid(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a candidate walks a relation of kin in one direction more often than the
    question says it: a child of Rose is no child of a child.
    """
    times = Counter(zip(walks.relations, walks.backward, strict=True))
    kin: Counter[int] = Counter()
    for (relation, _), count in times.items():
        if any(map(is_kin, words(judge.texts[relation]))):
            kin[relation] = max(kin[relation], count)
    return any(count > 1 for count in kin.values()) and _repeats(judge, walks, kin)


def is_other_kin(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a candidate does not lead to the kin that the question says, or walks kin that
    it does not say: a child of Rose is no child of her father.
    """
    if not walks_its_kin(judge, walks) or repeats_kin_unsaid(judge, walks):
        return True
    if begins_at_no_owner(judge, walks):
        return True
    nouns = [singular(noun) for noun in judge.kin_nouns]
    if len(nouns) != 1 or nouns[0] in _OF_SEVERAL_STEPS or nouns[0].startswith("grand"):
        return False
    if judge.noun_by_marriage:
        return False
    kin = [any(map(is_kin, words(judge.texts[each]))) for each in walks.relations]
    # Each noun that another owns may say a step, also one that is not known as kin.
    return sum(kin) > max(1, len(owned_phrases(judge.question, judge.span(walks))))


def begins_at_no_owner(
    judge: CandidateJudge, walks: CandidateWalks, others: Sequence[Side] = (), /
) -> bool:
    """Returns whether another name than a candidate's start owns the noun of kin, and none of
    ``constraint_sides`` says it: *the children of Rose who were born in Boston* are no children of
    people of Boston.
    """
    if any(means(noun, side) for noun in judge.kin_nouns for side in others):
        return False
    owners = [
        name
        for name in judge.names
        if any(is_kin(word) for each in owned_phrases(judge.question, name) for word, _, _ in each)
    ]
    return bool(owners) and judge.span(walks) not in owners


def _repeats(judge: CandidateJudge, walks: CandidateWalks, times: Mapping[int, int]) -> bool:
    """Returns whether a question says one of some relations less often than it is walked."""
    if any(is_kin(word) and word.startswith("grand") for word in words(judge.question)):
        return not walks_its_kin(judge, walks)
    for relation, count in times.items():
        label = judge.texts[relation]
        if count == 1 or not _NESTING.isdisjoint(words(label)):
            continue
        sides = sides_of(label)
        count_in_question = sum(
            any(root(word) in side.words or means(word, side) for side in sides)
            for word, _, _ in judge.own_words
        )
        if count_in_question < count:
            return True
    return False


def says_a_step_again(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question says a relation of a candidate more often than it has steps.

    *The teacher of X's teacher* is two steps away.
    """
    counts = Counter(root(word) for word, _, _ in judge.own_words)
    names = [stems_of(words(judge.texts[relation])) for relation in set(walks.relations)]
    if any(own and min(counts[each] for each in own) > len(walks.relations) for own in names):
        return True
    return _nests_a_noun_again(judge, walks)


def _nests_a_noun_again(judge: CandidateJudge, walks: CandidateWalks) -> bool:
    """Returns whether more nouns, one owned by the other, name the end of a step than it is walked:
    the offspring of X's child are no children of X.
    """
    phrases = owned_phrases(judge.question, judge.span(walks))
    names = {relation: stems_of(words(judge.texts[relation])) for relation in walks.relations}
    for (relation, backward), times in Counter(
        zip(walks.relations, walks.backward, strict=True)
    ).items():
        label = judge.texts[relation]
        own, side = names[relation], sides_of(label)[backward]
        # *The account manager* is no manager where both are walked.
        longer = [name for name in names.values() if own < name]
        nouns = [
            phrase[-1][0]
            for phrase in phrases
            if not any(name <= stems_of(word for word, _, _ in phrase) for name in longer)
        ]
        # *The date of birth* names one step by two nouns.
        is_of_parts = len(own) > 1
        naming = [
            noun for noun in nouns if means(noun, side) and not (is_of_parts and root(noun) in own)
        ]
        if len(naming) > times and _NESTING.isdisjoint(words(label)):
            return True
    return False


def leaves_the_outermost_noun(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether more nouns than steps are owned, and the outermost names the end of a relation
    that is not walked: the sex of the offspring of X's son is none of the offspring.
    """
    phrases = owned_phrases(judge.question, judge.span(walks))
    if len(phrases) <= max(1, len(walks.relations)):
        return False
    noun = phrases[-1][-1][0]
    last = sides_of(judge.texts[walks.relations[-1]])[walks.backward[-1]]
    if noun in _NAMES or means(noun, last) or root(noun) in last.words:
        return False
    others = (text for relation, text in judge.texts.items() if relation not in walks.relations)
    return any(means(noun, side) for text in others for side in sides_of(text))


def walks_against_its_verb(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether the first step leads the other way than the question says its verb.

    *How many people does X manage?* does not ask for the manager of X, nor *Who does X mentor?* for
    the mentor.
    """
    label = judge.texts[walks.relations[0]]
    is_backward = walks.backward[0]
    return walks_against_verb(judge.question, judge.span(walks), label, is_backward=is_backward)


def says_a_label(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question has a word of the label of a relation walked, names left out."""
    own = frozenset[str]().union(*(stems_of(words(judge.texts[each])) for each in walks.relations))
    return any(
        root(word) in own or (is_kin(word) and _means_a_step(judge, walks, word))
        for word, _, _ in judge.own_words
    )


def _means_a_step(judge: CandidateJudge, walks: CandidateWalks, noun: str) -> bool:
    return any(
        means(noun, side) for each in walks.relations for side in sides_of(judge.texts[each])
    )


def says_nothing_of(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether no word of a question speaks of any relation walked: a shoe size is no sex."""
    fits = _fit_mask(judge, walks, [])
    return bool(fits.size) and not fits.any()


def leaves_a_step_unsaid(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether the last step accounts for the whole question, and a step before it for
    nothing.

    Who asks for the blood type of Jacqueline does not ask for that of her husband. A word that is
    in the name of a step speaks of no step to what has something: *who voices X* does not ask for
    the voice actors of all films of which X is a character.
    """
    if len(walks.relations) == 1:
        return False
    fits_of_steps = _fits(judge, walks, ASKING_WORDS).fits
    is_named = (fits_of_steps == 1.0).any(axis=1)
    is_exact = is_named[:, None] & np.array(walks.backward, dtype=np.bool_)
    fits = fits_of_steps >= np.where(is_exact, 1.0, CONSTRAINT_RULES.spoken)
    return bool(fits.size and fits[:, -1].all() and not fits[:, :-1].any(axis=0).all())


def walks_in_another_order(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether two steps in a row are walked the other way round than a question nests them.

    The mother of the husband of X is not the husband of her mother.
    """
    phrases = owned_phrases(judge.question, judge.span(walks))
    if len(phrases) != len(walks.relations):
        return False
    by_phrase = np.array(
        [_fits_of(judge, walks, each).max(axis=0, initial=0.0) for each in phrases]
    )
    pairs = (by_phrase[step : step + 2, step : step + 2] for step in range(len(phrases) - 1))
    return any(map(_are_swapped, pairs))


def _are_swapped(fits: Float64) -> bool:
    """Returns whether each of two phrases speaks of the other's step: float64 [phrases, steps]."""
    own, crossed = fits.diagonal(), fits[:, ::-1].diagonal()
    return bool(((crossed >= CONSTRAINT_RULES.spoken) & (crossed > own + _SURELY_SWAPPED)).all())


def walks_its_clause(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a step is said only by the words that tell the start from its namesakes.

    Of the Ann who married Bob the mother is asked for, and not whom the mother married.
    """
    names = judge.names_of_namesake(walks)
    if not names or len(walks.relations) == 1:
        return False
    start, end = judge.span(walks)[1], max(each.end for each in names)
    fits = _fits(judge, walks, ASKING_WORDS)
    in_clause = np.array([start <= word[1] and word[2] <= end for word in fits.words], np.bool_)
    of_clause = fits.fits[in_clause].max(axis=0, initial=0.0)
    of_others = fits.fits[~in_clause].max(axis=0, initial=0.0)
    fits = of_clause >= CONSTRAINT_RULES.spoken
    return bool((fits & (of_clause > of_others)).any())


@dataclass(frozen=True, slots=True, eq=False)
class _Fits:
    """How well content words speak of each step: cosines, and 1 for the words of its label.

    Attributes:
        words: Each with its characters.
        fits: float64 [words, steps].
    """

    words: Sequence[tuple[str, int, int]]
    fits: Float64


def _fit_mask(judge: CandidateJudge, walks: CandidateWalks, passed_over: Container[str]) -> Bool:
    """Returns which words of a question, less names, speak of each step, bool [words, steps]."""
    fits: Bool = _fits(judge, walks, passed_over).fits >= CONSTRAINT_RULES.spoken
    return fits


def _fits(judge: CandidateJudge, walks: CandidateWalks, passed_over: Container[str]) -> _Fits:
    """Returns how well the words of a question, less names, speak of each step."""
    content = [
        (word, start, end)
        for word, start, end in judge.own_words
        if word not in EMPTY_IN_ENGLISH and word not in passed_over
    ]
    return _Fits(content, _fits_of(judge, walks, content))


def _fits_of(
    judge: CandidateJudge, walks: CandidateWalks, spans: Sequence[tuple[str, int, int]]
) -> Float64:
    """Returns how well words speak of each step, float64 [words, steps]."""
    texts = [judge.texts[relation] for relation in walks.relations]
    if not spans:
        return np.zeros((0, len(texts)))
    fits = judge.cosines([word for word, _, _ in spans], texts).astype(np.float64)
    for row, (word, _, _) in enumerate(spans):
        roots = {root(word), root(word.removeprefix("grand"))}
        for column, text in enumerate(texts):
            if is_meant(root(word), text) or any(
                not roots.isdisjoint(side.words) for side in sides_of(text)
            ):
                fits[row, column] = 1.0
    return fits


def leaves_what_is_done(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question asks what somebody does, and a candidate leads to who it is: *what
    does the daughter of X do* asks for no daughter.
    """
    does = _DOES.match(judge.question)
    return does is not None and any(
        means(word, side_of(walks, -1, judge.texts)) for word in words(does[1])
    )
