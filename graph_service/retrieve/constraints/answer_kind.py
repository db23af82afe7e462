"""Whether what a candidate leads to is of the kind that a question asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from graph_service.model.values import EntityValue, StringValue, Value
from graph_service.retrieve.constraints.answering import is_unit
from graph_service.retrieve.constraints.coverage import (
    Side,
    is_by_marriage,
    is_kin,
    is_mutual,
    marriage_step,
    means,
    names_end,
    names_other_end,
    root,
    side_of,
    sides_of,
    stems_of,
)
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meant_words import is_meant
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.owned_nouns import owned_phrases
from graph_service.retrieve.constraints.reading import AnswerForm, sex_of
from graph_service.retrieve.constraints.reciprocal import is_reciprocal
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.units import measure_otherwise
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.months import FOLDED_MONTHS
from graph_service.text.nouns import singular
from graph_service.text.question_form import ASKING_WORDS

_TIME = re.compile(
    r"(?<![^\W\d][-/_.#])\b[12]\d{3}\b|\b\d{1,2}[:.h]\d{2}\b"
    rf"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:{'|'.join(FOLDED_MONTHS)})\b",
    re.IGNORECASE,
)
"""A year, a time of day, a day of the week or a month; a code such as C-2024-005 is none."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WHAT_IT_IS = re.compile(
    r"\W*(?:what|which)\s+\w[^'\u2019]*\b(?:is|are|was|were)\s+(?:the\s+|an?\s+)?\W*$",
    re.IGNORECASE,
)
"""Before a name that a question ends with: *what kind of ship is the*."""
_OF_DATES = frozenset({"early", "late", "old", "recent", "recently", "young"})
"""Degrees that a date answers too: who is how old says the day of birth."""
_BLANK = "_:"
_PARENTS = frozenset({"father", "mother"})
_OTHER_SEX = {"female": "male", "male": "female"}
_NAMED_AFTER = 2
"""Words after a superlative that say what it is of."""


def answers_in_another_form(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether what a candidate leads to is of another form than a question asks for: dates
    and numbers for *where*, *who* or *how did X die*, no number for *how big*, a date for *how long* or
    *how many years*, kilograms for *how tall*, no date for *when*, and numbers for *what did X buy*, if
    their relation does not say so.
    """
    form, verb = judge.form, _what_is_done(judge, walks)
    of_a_thing = form.asks_where or form.asks_for_person or form.asks_in_what_way
    around, is_literal = judge.around, judge.around.region.literal
    end_nodes = np.unique(walks.end_nodes).tolist()
    if form.asks_for_no_flag and all(_is_flag(around.value(end)) for end in end_nodes):
        return True
    if judge.expected.form is AnswerForm.COUNT and is_unit(judge.expected.counted):
        return all(around.number(end) is None for end in end_nodes)
    if not (of_a_thing or form.degree or form.asks_for_time or verb):
        return False
    amounts = [around.number(end) for end in end_nodes]
    is_amount = [
        amount is not None or around.days(end) is not None
        for amount, end in zip(amounts, end_nodes, strict=True)
    ]
    if form.degree:
        units = [amount.unit for amount in amounts if amount is not None]
        has_form = is_amount if form.degree in _OF_DATES else [each is not None for each in amounts]
        return not any(has_form) or measure_otherwise(form.degree, units)
    if form.asks_for_time:
        # A year may be within the name of what happened in it. Minutes are no time of day.
        return not any(
            around.days(end) is not None
            or (amount is not None and not amount.unit and amount.number % 1 == 0)
            or _TIME.search(around.label(end))
            for amount, end in zip(amounts, end_nodes, strict=True)
        )
    # A thing may be called by a number, as the film *1984* is, but by no day.
    are_amounts = all(is_amount) and all(
        is_literal[end] or _DAY.fullmatch(around.label(end)) for end in end_nodes
    )
    return are_amounts and not (verb and _names_its_verb(judge, walks, verb))


def leads_to_no_name(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether all that is asked for is blank nodes without a name, which answer nothing."""
    if judge.expected.form is not AnswerForm.ENTITIES:
        return False
    around = judge.around
    values = {end: around.value(end) for end in np.unique(best.walks.end_nodes).tolist()}
    return all(
        isinstance(value, EntityValue)
        and value.id.startswith(_BLANK)
        and value.id.endswith(around.label(end))
        for end, value in values.items()
    )


def leads_to_its_holders(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question asks what a name is, by a noun and no more, and a candidate leads
    to what has it as a value: *What kind of ship is the Petrel?* asks for no jobs on the Petrel.
    """
    start, end = judge.span(walks)
    return (
        start >= 0
        and walks.backward[0]
        and bool(_WHAT_IT_IS.match(judge.question[:start]))
        and not word_spans(judge.question[end:])
    )


def leads_to_what_it_names(_: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether all that a candidate leads to is what the question names beside its start, and
    constrains it by its own name: *who did X play in Y* is not answered by X, of the cast of Y.
    """
    named = [
        constraint.nodes
        for constraint, how in best.met
        if isinstance(constraint, NamedNodes)
        and constraint.is_entity
        and not constraint.is_negated
        and how.column == best.last
    ]
    if not named:
        return False
    rows = np.logical_and.reduce([how.walks for _, how in best.met])
    end_nodes = best.walks.end_nodes[rows]
    return bool(len(end_nodes) and np.isin(end_nodes, np.concatenate(named)).all())


def leads_from_its_noun(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether the noun of *which* names what the last step comes from, and not where it leads:
    who asks *which maintainer of X lives in Y* does not ask for what they maintain.
    """
    noun, label = next(iter(judge.form.nouns), ""), judge.texts[walks.relations[-1]]
    if not noun or not walks.backward[-1] or is_reciprocal(label):
        return False
    if singular(noun) in KINDS or is_kin(noun) or noun in words(label):
        return False
    return names_other_end(noun, walks, judge.texts) and not names_end(noun, walks, judge.texts)


def _is_flag(value: Value) -> bool:
    return isinstance(value, StringValue) and value.text in {"true", "false"}


def _what_is_done(judge: CandidateJudge, walks: CandidateWalks) -> str:
    """Returns the verb of *what did X buy*; nothing for another question."""
    start, end = judge.span(walks)
    asking = judge.form
    between = [word for word, _, _ in word_spans(judge.question[asking.following_end : start])]
    if start < asking.following_end or not asking.asks_what_is_done or between not in ([], ["the"]):
        return ""
    following = [word for word, _, _ in word_spans(judge.question[end:])]
    return following[0] if len(following) == 1 else ""


def _names_its_verb(judge: CandidateJudge, walks: CandidateWalks, verb: str) -> bool:
    label = judge.texts[walks.relations[-1]]
    fit = float(judge.cosines([verb], [label])[0, 0])
    return root(verb) in stems_of(words(label)) or fit >= CONSTRAINT_RULES.compared


def names_what_is_first(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question asks for the first of a candidate's own values, by the name of
    their relation: *the highest salary of the team*.
    """
    superlative = judge.expected.superlative
    if superlative is None or not judge.around.region.literal[np.unique(walks.end_nodes)].all():
        return False
    following = word_spans(judge.question[superlative.end :])[:_NAMED_AFTER]
    label = stems_of(words(judge.texts[walks.relations[-1]]))
    return any(root(word) in label for word, _, _ in following)


def constraint_sides(judge: CandidateJudge, best: JudgedCandidate, /) -> list[Side]:
    """Returns what is said of what a candidate passes by the relations that join it to what the
    question names besides: of *those born in Ghent whose father is X* that they are X's children.
    """
    region, sides = judge.around.region, list[Side]()
    for constraint, how in best.met:
        if not isinstance(constraint, NamedNodes) or constraint.is_negated:
            continue
        passed = np.unique(best.walks.nodes[how.walks, how.column])
        edges = judge.around.joining(passed, constraint.nodes)
        is_value = np.isin(region.tail[edges], passed)
        joining = zip(region.rel[edges].tolist(), is_value.tolist(), strict=True)
        sides += [sides_of(judge.texts[relation])[not value] for relation, value in set(joining)]
    return sides


def walks_its_kin(
    judge: CandidateJudge, walks: CandidateWalks, others: Sequence[Side] = (), /
) -> bool:
    """Returns whether every noun of kin in a question names an end of a relation walked, or one of
    ``constraint_sides``.

    A *grandchild* is a child of a child: both steps must go the same way. Of which sex it is, two
    steps do not tell. A *mother-in-law* is reached by a spouse and a mother.
    """
    every = [sides_of(judge.texts[relation]) for relation in walks.relations]
    for word, _, end in judge.own_words:
        if not judge.says_kin(word, end):
            continue
        own = singular(word)
        if is_by_marriage(judge.question, end):
            if marriage_step(own, walks, judge.texts) is None:
                return False
            continue
        if not own.startswith("grand"):
            walked = (side for sides in every for side in sides)
            if not any(means(word, side) for side in (*walked, *others)):
                return False
            continue
        base = own.removeprefix("grand")
        same_way = len(every) == 2 and walks.backward[0] == walks.backward[1]
        if not same_way or sex_of(base) or not _mean(every, base, base):
            return False
    return True


def leads_to_the_other_kin(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether the name owns a noun of kin that names what a step comes from, and none leads
    to: who asks for *the son of X* does not ask for the mother of X.
    """
    owned = owned_phrases(judge.question, judge.span(walks))
    sides = [side_of(walks, step, judge.texts) for step in range(len(walks.relations))]
    return any(
        is_kin(word)
        and not is_mutual(word)
        and not any(means(_less_grand(word), end) for end in sides)
        and any(
            means(_less_grand(word), side)
            for relation in walks.relations
            for side in sides_of(judge.texts[relation])
        )
        for phrase in owned
        for word, _, _ in phrase
    )


def _less_grand(noun: str) -> str:
    return singular(noun).removeprefix("grand")


def _mean(steps: Sequence[tuple[Side, Side]], *nouns: str) -> bool:
    """Returns whether each noun names an end of its step."""
    return all(
        any(means(noun, side) for side in sides) for noun, sides in zip(nouns, steps, strict=True)
    )


def has_sex(judge: CandidateJudge, noun: str, best: JudgedCandidate) -> bool:
    """Returns whether the sex that a noun says is that of the relation, or was looked at."""
    own = singular(noun)
    if not sex_of(own):
        return True
    labels = (judge.texts[relation] for relation in best.walks.relations)
    if any(root(own) in stems_of(words(label)) for label in labels):
        return True
    return any(noun in each.words for each, _ in best.met if isinstance(each, NamedNodes))


def lacks_sex_of_end(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a noun of kin by marriage says a sex that the ends are not known to have: the
    wives of brothers are no brothers-in-law.
    """
    noun = judge.noun_by_marriage
    label = judge.texts[best.walks.relations[-1]]
    return bool(sex_of(singular(noun))) and not (
        root(noun) in stems_of(words(label))
        or any(noun in each.words for each, _ in best.met if isinstance(each, NamedNodes))
    )


def leads_to_another_sex(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a noun of kin says a sex, and the ends are known to be of the other: brothers
    are no sisters.
    """
    end_nodes = np.unique(best.walks.end_nodes)
    for noun in judge.kin_nouns:
        other = _OTHER_SEX.get(sex_of(singular(noun)))
        if other is None or not names_end(noun, best.walks, judge.texts):
            continue
        if has_sex(judge, noun, best):
            continue
        if len(judge.around.joining(end_nodes, judge.nodes_called(other))):
            return True
    return False


def leads_to_one_parent(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a question asks for parents, and a candidate leads to fathers alone, or mothers,
    where the graph tells of both.
    """
    if "parent" not in map(singular, judge.kin_nouns):
        return False
    last = set(words(judge.texts[best.walks.relations[-1]])) & _PARENTS
    around = {word for label in judge.texts.values() for word in words(label)}
    return len(last) == 1 and not best.walks.backward[-1] and around >= _PARENTS


def counts_its_noun(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether what a candidate leads to is what the question counts.

    That is so where the noun names that end of the relation and no other class of the ends, or is a
    type that the ends have, or where a single step is spoken of by another word than the noun (*parts used in*).
    """
    noun, walks = judge.expected.counted_noun(), best.walks
    if not noun:
        return True
    if names_end(noun, walks, judge.texts):
        return has_sex(judge, noun, best) and not _are_of_other_classes_too(judge, noun, walks)
    if not walks.backward[-1] and is_meant(root(noun), judge.texts[walks.relations[-1]]):
        return True
    if is_kin(noun) or names_other_end(noun, walks, judge.texts):
        return False
    if any(noun in each.words for each, _ in best.met if isinstance(each, NamedNodes)):
        return True
    side = side_of(walks, -1, judge.texts)
    verbs = [
        word
        for word, _, _ in judge.own_words
        if word not in EMPTY_IN_ENGLISH and word not in ASKING_WORDS and word != noun
    ]
    if len(walks.relations) == 1 and any(root(verb) in side.words for verb in verbs):
        return True
    like = float(judge.cosines([noun], [judge.texts[walks.relations[-1]]]).max())
    return singular(noun) in KINDS or like >= CONSTRAINT_RULES.spoken


def _are_of_other_classes_too(judge: CandidateJudge, noun: str, walks: CandidateWalks) -> bool:
    """Returns whether a noun is in the name of a class of some of a candidate's ends, and in no name
    of the classes of others: whom songs and albums name as performer.
    """
    own = singular(noun)
    is_of_noun = [
        any(own in map(singular, words(label)) for label in labels)
        for labels in judge.around.class_labels(np.unique(walks.end_nodes))
        if labels
    ]
    return any(is_of_noun) and not all(is_of_noun)
