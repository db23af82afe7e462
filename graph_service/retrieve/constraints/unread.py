"""What of a question nothing accounts for: no answer is computed of a question that is misread."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Bool, Float64, Int64
from graph_service.model.values import StringValue, Value
from graph_service.retrieve.constraints.coverage import (
    Side,
    is_kin,
    means,
    names_end,
    names_other_end,
    root,
    side_of,
    sides_of,
    stems_of,
)
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.reading import sex_of, singular
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.relation_prior import common_labels
from graph_service.retrieve.units import measure_otherwise
from graph_service.text.fold import word_spans, words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.months import FOLDED_MONTHS

ASKING_WORDS = frozenset(
    [
        "all",
        "belong",
        "belongs",
        "came",
        "come",
        "comes",
        "contain",
        "contained",
        "contains",
        "count",
        "find",
        "get",
        "give",
        "include",
        "included",
        "includes",
        "list",
        "make",
        "makes",
        "made",
        "name",
        "number",
        "show",
        "state",
        "tell",
        "total",
        "two",
        "use",
        "used",
        "uses",
    ]
)
"""Words that ask, and say nothing of what is asked for."""


_BY_MARRIAGE = re.compile(r"[\s-]in[\s-]law", re.IGNORECASE)
_DOES = re.compile(r"\b(?:do|does|did)\s+(?:the\s+)?$", re.IGNORECASE)
_NAMED_AFTER = 2
"""Words after a superlative that say what it is of."""
_TIME = re.compile(
    r"\b[12]\d{3}\b|\b\d{1,2}[:.h]\d{2}\b"
    rf"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:{'|'.join(FOLDED_MONTHS)})\b",
    re.IGNORECASE,
)
"""A year, a time of day, a day of the week or a month."""
_APOSTROPHES = "'’"
_ARTICLES = frozenset({"a", "an", "the"})
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


def unread_words(judge: CandidateJudge, best: JudgedCandidate, /) -> tuple[str, ...]:
    """Returns the content words of the question that nothing accounts for.

    Accounted for are names, dates and words of degree that were used, words of the relations walked
    and of those by which a constraint is met, words like these, and kinds of things. A noun of kin
    must be what a step leads to.
    """
    asked, walks = judge.asked, best.walks
    taken = _used_spans(judge, best)
    sides = [side_of(walks, step, judge.texts) for step in range(len(walks.relations))]
    joining = _joining(judge, best)
    others = [side for relation in joining for side in sides_of(judge.texts[relation])]
    said = frozenset[str]().union(*(side.words for side in (*sides, *others)))
    left: list[str] = []
    for word, start, end in word_spans(judge.question):
        if len(word) == 1 or word in EMPTY_IN_ENGLISH or word in ASKING_WORDS:
            continue
        if start == asked.negated_from or any(a < end and start < b for a, b in taken):
            continue
        if is_kin(word):
            if not (any(means(word, side) for side in sides) and _has_sex(judge, word, best)):
                left.append(word)
        elif root(word) not in said and singular(word) not in KINDS:
            left.append(word)
    if not left:
        return ()
    near = [judge.texts[relation] for relation in (*walks.relations, *sorted(joining))]
    like = judge.cosines(left, near).max(axis=1) >= CONSTRAINT_RULES.spoken
    return tuple(
        word
        for word, is_like in zip(left, like.tolist(), strict=True)
        if not is_like or is_kin(word)
    )


def _used_spans(judge: CandidateJudge, best: JudgedCandidate) -> list[tuple[int, int]]:
    """Returns the characters of names, dates, constraints and words of degree that were used."""
    asked, walks = judge.asked, best.walks
    used = [judge.span(walks), *((each.start, each.end) for each, _ in best.met)]
    used += [(each.start, each.end) for each in judge.telling_apart(walks)]
    used += [(each.start, each.end) for each in asked.dates]
    if asked.superlative is not None:
        used.append((asked.superlative.start, asked.superlative.end))
    return used


def names_another_relation(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a question asks for another relation of the start than those walked.

    What stands as *the boss of X* or *X's boss* names a relation. It is one that is walked if its
    words are those of the label or of its wordings, or if no common relation's label is more like
    it. A boss is more like an *employer* than an *occupation*.
    """
    labels = [judge.texts[relation] for relation in best.walks.relations]
    roots = frozenset[str]().union(
        *(side.words for label in labels for side in sides_of(label)),
        *(side.words for each in _joining(judge, best) for side in sides_of(judge.texts[each])),
    )
    used = _used_spans(judge, best)
    nouns: list[list[tuple[str, int, int]]] = [
        phrase
        for phrase in _owned_phrases(judge.question, judge.span(best.walks))
        if not any(a < end and start < b for _, start, end in phrase for a, b in used)
    ]
    if len(labels) == 1:
        nouns = [[word for phrase in reversed(nouns) for word in phrase]] if nouns else []
    stems = [stems_of(words(label)) for label in labels]
    others = [
        label
        for label in common_labels()
        if not any(stems_of(words(label)) <= own for own in stems)
    ]
    for phrase in nouns:
        if all(_is_accounted(word, roots) for word, _, _ in phrase):
            continue
        text = " ".join(word for word, _, _ in phrase)
        cosines = judge.cosines([text], [*labels, *others])[0]
        own, other = cosines[: len(labels)].max(), cosines[len(labels) :].max()
        if own + CONSTRAINT_RULES.as_like < other:
            return True
    return False


def _is_accounted(word: str, roots: Container[str]) -> bool:
    return (
        root(word) in roots
        or is_kin(word)
        or singular(word) in KINDS
        or word in {"number", "count", "total"}
    )


def _owned_phrases(question: str, name: tuple[int, int]) -> list[list[tuple[str, int, int]]]:
    """Returns the nouns that a name owns, *boss* of *the boss of X*, the innermost first.

    Each with the characters that it stands at.
    """
    start, end = name
    if start < 0:
        return []
    spans = word_spans(question)
    before = [span for span in spans if span[2] <= start]
    after = [span for span in spans if span[1] >= end]
    phrases: list[list[tuple[str, int, int]]] = []
    while after and after[0][0] == "s" and question[after[0][1] - 1] in _APOSTROPHES:
        count = next(
            (at for at, span in enumerate(after[1:]) if span[0] in EMPTY_IN_ENGLISH), len(after) - 1
        )
        phrases.append(after[1 : 1 + count])
        after = after[1 + count :]
    while before:
        while before and before[-1][0] in _ARTICLES:
            before.pop()
        if not before or before.pop()[0] != "of":
            break
        phrase: list[tuple[str, int, int]] = []
        while before and before[-1][0] not in EMPTY_IN_ENGLISH:
            phrase.insert(0, before.pop())
        phrases.append(phrase)
    return [phrase for phrase in phrases if phrase]


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


def _repeats(judge: CandidateJudge, walks: CandidateWalks, times: Mapping[int, int]) -> bool:
    """Returns whether a question says one of some relations less often than it is walked."""
    if any(is_kin(word) and word.startswith("grand") for word in words(judge.question)):
        return not walks_its_kin(judge, walks)
    for relation, count in times.items():
        label = judge.texts[relation]
        if count == 1 or not _NESTING.isdisjoint(words(label)):
            continue
        sides = sides_of(label)
        said = sum(
            any(root(word) in side.words or means(word, side) for side in sides)
            for word, start, end in word_spans(judge.question)
            if not any(left < end and start < right for left, right in judge.names)
        )
        if said < count:
            return True
    return False


def says_a_step_again(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question says a relation of a candidate more often than it has steps.

    *The teacher of X's teacher* is two steps away.
    """
    said = Counter(
        root(word)
        for word, start, end in word_spans(judge.question)
        if not any(left < end and start < right for left, right in judge.names)
    )
    names = [stems_of(words(judge.texts[relation])) for relation in set(walks.relations)]
    return any(own and min(said[each] for each in own) > len(walks.relations) for own in names)


_DOERS = frozenset(
    {"author", "boss", "captain", "chair", "coach", "father", "guide", "head", "host", "lead",
     "mentor", "mother", "sponsor", "tutor"}
)  # fmt: skip
"""Nouns for who does what the same word says as a verb."""


def walks_against_its_verb(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether the start does what a question says, and the first step leads to who does it.

    *How many people does X manage?* does not ask for the manager of X, nor *Who does X mentor?* for
    the mentor.
    """
    start, end = judge.span(walks)
    if start < 0 or walks.backward[0] or not _DOES.search(judge.question[:start]):
        return False
    following = word_spans(judge.question[end:])
    label = words(judge.texts[walks.relations[0]])
    if not following or not label:
        return False
    verb, noun = following[0][0], label[-1]
    if noun == verb:
        return noun in _DOERS
    return noun.endswith(("er", "or")) and root(noun) == root(verb)


def says_nothing_of(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether no word of a question speaks of any relation walked: a shoe size is no sex."""
    said = _said(judge, walks, [])
    return bool(said.size) and not said.any()


def leaves_a_step_unsaid(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether the last step accounts for the whole question, and a step before it for
    nothing.

    Who asks for the blood type of Jacqueline does not ask for that of her husband.
    """
    if len(walks.relations) == 1:
        return False
    said = _said(judge, walks, ASKING_WORDS)
    return bool(said.size and said[:, -1].all() and not said[:, :-1].any(axis=0).all())


def walks_its_clause(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a step is said only by the words that tell the start from its namesakes.

    Of the Ann who married Bob the mother is asked for, and not whom the mother married.
    """
    names = judge.telling_apart(walks)
    if not names or len(walks.relations) == 1:
        return False
    start, end = judge.span(walks)[1], max(each.end for each in names)
    fits = _fits(judge, walks, ASKING_WORDS)
    in_clause = np.array([start <= word[1] and word[2] <= end for word in fits.words], np.bool_)
    of_clause = fits.fits[in_clause].max(axis=0, initial=0.0)
    of_others = fits.fits[~in_clause].max(axis=0, initial=0.0)
    said = of_clause >= CONSTRAINT_RULES.spoken
    return bool((said & (of_clause > of_others)).any())


@dataclass(frozen=True, slots=True, eq=False)
class _Fits:
    """How well content words speak of each step: cosines, and 1 for the words of its label.

    Attributes:
        words: Each with its characters.
        fits: float64 [words, steps].
    """

    words: Sequence[tuple[str, int, int]]
    fits: Float64


def _said(judge: CandidateJudge, walks: CandidateWalks, passed_over: Container[str]) -> Bool:
    """Returns which words of a question, less names, speak of each step, bool [words, steps]."""
    said: Bool = _fits(judge, walks, passed_over).fits >= CONSTRAINT_RULES.spoken
    return said


def _fits(judge: CandidateJudge, walks: CandidateWalks, passed_over: Container[str]) -> _Fits:
    """Returns how well the words of a question, less names, speak of each step."""
    content = [
        (word, start, end)
        for word, start, end in word_spans(judge.question)
        if word not in EMPTY_IN_ENGLISH
        and word not in passed_over
        and not any(left < end and start < right for left, right in judge.names)
    ]
    texts = [judge.texts[relation] for relation in walks.relations]
    if not content:
        return _Fits((), np.zeros((0, len(texts))))
    fits = judge.cosines([word for word, _, _ in content], texts).astype(np.float64)
    for row, (word, _, _) in enumerate(content):
        roots = {root(word), root(word.removeprefix("grand"))}
        for column, text in enumerate(texts):
            if any(not roots.isdisjoint(side.words) for side in sides_of(text)):
                fits[row, column] = 1.0
    return _Fits(content, fits)


def names_what_is_first(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question asks for the first of a candidate's own values, by the name of
    their relation: *the highest salary of the team*.
    """
    superlative = judge.asked.superlative
    if superlative is None or not judge.around.region.literal[np.unique(walks.ends)].all():
        return False
    following = word_spans(judge.question[superlative.end :])[:_NAMED_AFTER]
    label = stems_of(words(judge.texts[walks.relations[-1]]))
    return any(root(word) in label for word, _, _ in following)


def answers_in_another_form(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether what a candidate leads to is of another form than a question asks for: dates
    and numbers for *where* or *who*, none for *how big*, kilograms for *how tall*, no date for
    *when*, and numbers for *what did X buy*, if their relation does not say so.
    """
    form, verb = judge.form, _what_is_done(judge, walks)
    of_a_thing = form.asks_where or form.asks_for_person
    around, is_literal = judge.around, judge.around.region.literal
    ends = np.unique(walks.ends).tolist()
    if form.asks_for_no_flag and all(_is_flag(around.value(end)) for end in ends):
        return True
    if not (of_a_thing or form.degree or form.asks_for_time or verb):
        return False
    amounts = [around.number(end) for end in ends]
    is_amount = [
        amount is not None or around.days(end) is not None
        for amount, end in zip(amounts, ends, strict=True)
    ]
    if form.degree:
        units = [amount.unit for amount in amounts if amount is not None]
        return not any(is_amount) or measure_otherwise(form.degree, units)
    if form.asks_for_time:
        # A year may be within the name of what happened in it. Minutes are no time of day.
        return not any(
            around.days(end) is not None
            or (amount is not None and not amount.unit)
            or _TIME.search(around.label(end))
            for amount, end in zip(amounts, ends, strict=True)
        )
    # A thing may be called by a number, as the film *1984* is.
    are_amounts = all(is_amount) and bool(is_literal[ends].all())
    return are_amounts and not (verb and _names_its_verb(judge, walks, verb))


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


def walks_its_kin(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether every noun of kin in a question names an end of a relation walked.

    A *grandchild* is a child of a child: both steps must go the same way. Of which sex it is, two
    steps do not tell. A *mother-in-law* is reached by a spouse and a mother.
    """
    every = [sides_of(judge.texts[relation]) for relation in walks.relations]
    for word, start, end in word_spans(judge.question):
        if not is_kin(word) or any(a < end and start < b for a, b in judge.names):
            continue
        own = singular(word)
        if _BY_MARRIAGE.match(judge.question[end:]):
            if len(every) != 2 or not (_mean(every, "spouse", own) or _mean(every, own, "spouse")):
                return False
            continue
        if not own.startswith("grand"):
            if not any(means(word, side) for sides in every for side in sides):
                return False
            continue
        base = own.removeprefix("grand")
        same_way = len(every) == 2 and walks.backward[0] == walks.backward[1]
        if not same_way or sex_of(base) or not _mean(every, base, base):
            return False
    return True


def _mean(steps: Sequence[tuple[Side, Side]], *nouns: str) -> bool:
    """Returns whether each noun names an end of its step."""
    return all(
        any(means(noun, side) for side in sides) for noun, sides in zip(nouns, steps, strict=True)
    )


def _joining(judge: CandidateJudge, best: JudgedCandidate) -> frozenset[int]:
    """Returns the relations by which what was named joins what a candidate passes."""
    start = best.walks.nodes[:1, 0]
    joined: list[tuple[Int64, Int64]] = [
        (start, each.nodes) for each in judge.telling_apart(best.walks)
    ]
    found: set[int] = set()
    for constraint, how in best.met:
        found |= how.relations or frozenset()
        if isinstance(constraint, NamedNodes):
            rows = how.walks | constraint.is_negated
            joined.append((np.unique(best.walks.nodes[rows, how.column]), constraint.nodes))
    for nodes, others in joined:
        found |= set(judge.whole.rel[judge.around.joining(nodes, others)].tolist())
    return frozenset(found)


def _has_sex(judge: CandidateJudge, noun: str, best: JudgedCandidate) -> bool:
    """Returns whether the sex that a noun says is that of the relation, or was looked at."""
    own = singular(noun)
    if not sex_of(own):
        return True
    labels = (judge.texts[relation] for relation in best.walks.relations)
    if any(root(own) in stems_of(words(label)) for label in labels):
        return True
    return any(noun in each.words for each, _ in best.met if isinstance(each, NamedNodes))


def counts_its_noun(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether what a candidate leads to is what the question counts.

    That is so where the noun names that end of the relation, or is a type that the ends have, or
    where a single step is spoken of by another word than the noun (*parts used in*).
    """
    noun, walks = judge.asked.counted_noun(), best.walks
    if not noun:
        return True
    if names_end(noun, walks, judge.texts):
        return _has_sex(judge, noun, best)
    if is_kin(noun) or names_other_end(noun, walks, judge.texts):
        return False
    if any(noun in each.words for each, _ in best.met if isinstance(each, NamedNodes)):
        return True
    side = side_of(walks, -1, judge.texts)
    verbs = [
        word
        for word, start, end in word_spans(judge.question)
        if word not in EMPTY_IN_ENGLISH
        and word not in ASKING_WORDS
        and word != noun
        and not any(left < end and start < right for left, right in judge.names)
    ]
    if len(walks.relations) == 1 and any(root(verb) in side.words for verb in verbs):
        return True
    like = float(judge.cosines([noun], [judge.texts[walks.relations[-1]]]).max())
    return singular(noun) in KINDS or like >= CONSTRAINT_RULES.spoken
