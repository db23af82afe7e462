"""Yes or no: whether a relation joins what a question names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.model.answer import AnswerKind, ConstraintKind
from graph_service.model.graph import Bool
from graph_service.model.values import StringValue
from graph_service.retrieve.constraints.answer_kind import walks_its_kin
from graph_service.retrieve.constraints.answering import walked
from graph_service.retrieve.constraints.coverage import is_kin, names_end, root, stems_of
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.label_aspects import WHEREABOUTS
from graph_service.retrieve.constraints.living import life_claim, states_a_death
from graph_service.retrieve.constraints.meeting import (
    CandidateWalks,
    Constraint,
    Met,
    kind_of,
    meets_date,
    names_end_nodes,
    noun_stems,
)
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.reading import kin_of, sex_of
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.said_steps import repeats_unsaid
from graph_service.retrieve.constraints.unread import unread_words
from graph_service.retrieve.context import SelectedAnswer
from graph_service.retrieve.learned.entity_question import without_mentions
from graph_service.retrieve.learned.relation_names import stem
from graph_service.retrieve.learned.whereabouts import names_somebody
from graph_service.text.fold import lowered, words
from graph_service.text.function_words import content_words
from graph_service.text.nouns import singular
from graph_service.text.question_form import BE, DO

_ANY = re.compile(r"\b(?:an?|any)\s+(\w+)\W*$")
_EVER = frozenset({"ever"})
_LED_TO = frozenset({"at", "by", "for", "from", "in", "of", "on", "to", "with"})
"""Words before a name that say how it is joined: who is *in* Canada is no Canadian."""
_WHAT_IT_IS = frozenset(
    {"citizenship", "class", "job", "kind", "nationality", "occupation", "office", "position",
     "profession", "rank", "religion", "role", "title", "type"}
)  # fmt: skip
"""Nouns of relations whose values say what a thing is."""
_LOCATED = frozenset({"located", "situated"})
_NOW = frozenset({"is", "are", "am"})
_LESSER = frozenset({"acting", "assistant", "associate", "deputy", "former", "honorary", "under",
                     "vice"})  # fmt: skip
"""Words of titles that say less than the noun: a vice president is no president."""
_DOER_ENDINGS = ("er", "or")
_FLAGS = {"true": "yes", "false": "no"}
_GROUPS = frozenset(
    {"association", "band", "choir", "church", "club", "crew", "ensemble", "group", "orchestra",
     "organisation", "organization", "party", "society", "team", "troupe", "union"}
)  # fmt: skip
_MEMBER_OF = re.compile(r"\b(?:members?\s+of|belongs?\s+to)\s+(?:the\s+)?$", re.IGNORECASE)
_OWNED_BEFORE = re.compile(r"(\w+)\s+of\s+(?:the\s+)?$")
_OWNED_AFTER = re.compile(r"['\u2019]s?\s+(\w+)")


@dataclass(frozen=True, slots=True, eq=False)
class YesNo:
    """What a question for yes or no comes to.

    Attributes:
        judged: The candidate that decides.
        targets: What it was asked to lead to.
        rows: Which of its walks do, bool [walks].
        answer: None where the statements do not tell.
        is_flag: Whether a true or false value tells.
    """

    judged: JudgedCandidate
    targets: tuple[Constraint, ...]
    rows: Bool
    answer: SelectedAnswer | None
    is_flag: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Joined:
    """The walks that join what is named, bool [walks]; none where one is not led to.

    Attributes:
        is_sure: Whether a missing join says anything.
        other_dates: Local edges of the dates of what is joined, where none is the one asked for.
    """

    targets: tuple[Constraint, ...]
    rows: Bool | None
    is_sure: bool = True
    other_dates: tuple[int, ...] = ()

    def leads_to_exact_name(self, walks: CandidateWalks, /) -> bool:
        """Returns whether the walks that join lead to what the words are the whole name of: a museum
        of X is not X.
        """
        end_nodes = walks.end_nodes[self.rows] if self.rows is not None else walks.end_nodes[:0]
        names = [target for target in self.targets if isinstance(target, NamedNodes)]
        return len(end_nodes) > 0 and any(
            bool(np.isin(end_nodes, each.exact).all()) for each in names
        )


def decide(judge: CandidateJudge, judged: Sequence[JudgedCandidate], /) -> YesNo:
    """Returns yes where one of the best candidates joins what the question names.

    It is no where the best one does not, and the graph says of what is named, by the same relation,
    something else.

    Args:
        judge: Of the question.
        judged: Best first.
    """
    answer: SelectedAnswer | None
    if (by_death := _by_death(judge, judged)) is not None:
        return by_death
    facing = [candidate for candidate in judged if _faces(judge, candidate.walks)] or list(judged)
    first = facing[0]
    for candidate in facing:
        joined = _join(judge, candidate.walks)
        is_certain = joined.rows is not None and (
            _says_value_alone(judge, candidate.walks, joined.targets)
            or (
                joined.leads_to_exact_name(candidate.walks)
                and _says_where_it_is(judge, candidate.walks)
            )
        )
        if candidate.score < first.score - CONSTRAINT_RULES.yes_margin and not is_certain:
            continue
        if joined.other_dates and _is_requested(judge, candidate.walks):
            every = np.ones(len(candidate.walks.edges), dtype=bool)
            edges = judge.surroundings.edges[list(joined.other_dates)].tolist()
            answer = _answer(judge, candidate, every, "no", edges)
            return YesNo(candidate, joined.targets, np.zeros(len(every), dtype=bool), answer)
        if joined.rows is not None:
            is_requested = _goes_as_its_verb(judge, candidate.walks) is not False
            is_requested = is_requested and _faces(judge, candidate.walks)
            is_requested = is_requested and not _owns_another(judge, candidate.walks)
            is_requested = is_requested and _is_requested(judge, candidate.walks, joined.targets)
            answer = _answer(judge, candidate, joined.rows, "yes") if is_requested else None
            return YesNo(candidate, joined.targets, joined.rows, answer)
    if (by_flag := _by_flag(judge, first)) is not None:
        return by_flag
    if (by_presence := _by_presence(judge, first)) is not None:
        return by_presence
    if (by_title := _by_title(judge, first)) is not None:
        return by_title
    joined = _join(judge, first.walks)
    none = np.zeros(len(first.walks.edges), dtype=bool)
    answer = _denied(judge, first, joined.targets) if joined.is_sure else None
    return YesNo(first, joined.targets, none, answer)


def _by_death(judge: CandidateJudge, judged: Sequence[JudgedCandidate]) -> YesNo | None:
    """Returns whether somebody is alive, or dead, as the statement of a death tells; else None."""
    deaths = [candidate for candidate in judged if states_a_death(judge, candidate)]
    claim = life_claim(judge, deaths)
    if not claim:
        return None
    rows = np.ones(len(deaths[0].walks.edges), dtype=bool)
    return YesNo(deaths[0], (), rows, _answer(judge, deaths[0], rows, claim))


def _by_presence(judge: CandidateJudge, first: JudgedCandidate) -> YesNo | None:
    """Returns yes where a question asks whether there is any of what a single step leads to, as *has X
    won an award*; else None. That there is none the graph does not say. *Is Madrid a country* asks
    what Madrid is, and not whether it has one.
    """
    match = _ANY.search(lowered(judge.question))
    walks = first.walks
    if judge.form.auxiliary in BE and "there" not in words(judge.question)[1:2]:
        return None
    if not judge.strict or match is None or len(walks.relations) > 1 or judge.expected.dates:
        return None
    noun, label = singular(match[1]), judge.texts[walks.relations[0]]
    is_named = root(noun) in stems_of(words(label)) and not walks.backward[0]
    if not (is_named or names_end(noun, walks, judge.texts)) or sex_of(noun):
        return None
    if judge.applying(walks) or any(word not in _EVER for word in unread_words(judge, first)):
        return None
    rows = np.ones(len(walks.edges), dtype=bool)
    return YesNo(first, (), rows, _answer(judge, first, rows, "yes"))


def _by_title(judge: CandidateJudge, first: JudgedCandidate) -> YesNo | None:
    """Returns yes where a question says no more than the noun of what somebody holds or belongs to:
    *was X ever governor* of the Governor of California, *is X a Republican* of the Republican Party;
    else None.

    Whether somebody still holds what was held is not told, nor that somebody holds nothing else.
    """
    walks, label = first.walks, words(judge.texts[first.walks.relations[0]])
    is_held_now = "held" in label and judge.form.auxiliary in _NOW
    if (
        not judge.strict
        or len(walks.relations) > 1
        or walks.backward[0]
        or (_WHAT_IT_IS | {"party"}).isdisjoint(label)
        or is_held_now
        or judge.form.auxiliary not in BE
        or judge.applying(walks)
        or judge.expected.dates
    ):
        return None
    own_text = without_mentions(judge.question, judge.names)
    title = [word for word in content_words(own_text) or () if word not in _EVER]
    labels = map(judge.around.label, walks.end_nodes.tolist())
    rows = np.array([_says_title(title, words(each), label) for each in labels], dtype=bool)
    if not title or not rows.any():
        return None
    return YesNo(first, (), rows, _answer(judge, first, rows, "yes"))


def _says_title(title: Sequence[str], name: Sequence[str], label: Sequence[str]) -> bool:
    """Returns whether a name of a post or a party ends with a title, what it is *of* apart."""
    head = name[: name.index("of")] if "of" in name else list(name)
    # A member of the Democratic Party is a Democrat.
    head = [word.removesuffix("ic") for word in head if word not in label]
    size = len(title)
    return head[-size:] == list(title) and _LESSER.isdisjoint(head[:-size])


def _by_flag(judge: CandidateJudge, first: JudgedCandidate) -> YesNo | None:
    """Returns yes or no as a true or false value says; None where the question names more than its
    start, or the values disagree.
    """
    walks, around = first.walks, judge.around
    if (
        len(walks.relations) > 1
        or walks.backward[0]
        or judge.applying(walks)
        or judge.expected.dates
    ):
        return None
    end_nodes = np.unique(walks.end_nodes).tolist()
    values = {around.value(end) for end in end_nodes if around.region.literal[end]}
    flag = values.pop() if len(values) == 1 and len(end_nodes) == 1 else None
    if (
        not isinstance(flag, StringValue)
        or flag.text not in _FLAGS
        or not _is_requested(judge, walks)
    ):
        return None
    rows = np.ones(len(walks.edges), dtype=bool)
    answer = _answer(judge, first, rows, _FLAGS[flag.text])
    return YesNo(first, (), rows, answer, is_flag=True)


def _answer(
    judge: CandidateJudge,
    candidate: JudgedCandidate,
    rows: Bool,
    value: str,
    more: Sequence[int] = (),
) -> SelectedAnswer:
    edges = tuple(dict.fromkeys([*more, *walked(candidate.walks, rows)]))
    is_cut = value == "no" and judge.is_cut(candidate.walks)
    return SelectedAnswer(AnswerKind.YES_NO, value, (), edges, is_cut)


def _is_requested(
    judge: CandidateJudge, walks: CandidateWalks, targets: Sequence[Constraint] = ()
) -> bool:
    """Returns whether the question less all names in it speaks of each relation walked.

    ``Is X a politician?`` speaks of none: what it is said to be tells enough, one step from it.
    """
    if not judge.expected.is_understood or (judge.strict and not walks_its_kin(judge, walks)):
        return False
    if _says_value_alone(judge, walks, targets) or _says_membership(judge, walks):
        return True
    if targets and _says_where_it_is(judge, walks):
        return True
    own_text = without_mentions(judge.question, judge.names)
    texts = [judge.texts[relation] for relation in walks.relations]
    stems = noun_stems(own_text)
    nouns = [singular(word) for word in own_text.lower().split()]
    stems |= {stem(kin) for noun in nouns if (kin := kin_of(noun))}
    stems |= {stem(noun.removeprefix("grand")) for noun in nouns}
    cosines = judge.cosines([own_text], texts)[0].tolist()
    return all(
        like >= judge.min_relevance or stems & noun_stems(text)
        for text, like in zip(texts, cosines, strict=True)
    )


def _says_value_alone(
    judge: CandidateJudge, walks: CandidateWalks, targets: Sequence[Constraint]
) -> bool:
    """Returns whether a question says a value that a single step leads to, and no relation: *is X a
    lawyer*, *was X ever Secretary of State*, *is X Canadian*.
    """
    if len(walks.relations) > 1:
        return False
    says_what_it_is = not _WHAT_IT_IS.isdisjoint(words(judge.texts[walks.relations[0]]))
    if walks.backward[0] and not says_what_it_is:
        return False
    values = [
        target for target in targets if says_what_it_is or kind_of(target) is ConstraintKind.VALUE
    ]
    spans = {judge.span(walks), *judge.names, *((target.start, target.end) for target in values)}
    own_text = without_mentions(judge.question, sorted(spans))
    if any(kind_of(target) is ConstraintKind.ENTITY for target in values):
        values = values if _LED_TO.isdisjoint(words(own_text)) else []
    return bool(values) and _EVER.issuperset(content_words(own_text) or ())


def _says_where_it_is(judge: CandidateJudge, walks: CandidateWalks) -> bool:
    """Returns whether a question says that the first of two names is in the other, and no more, and a
    single step says so too: *is Lake X in Y* of its country.
    """
    label = stems_of(words(judge.texts[walks.relations[0]]))
    if len(walks.relations) > 1 or len(judge.names) != 2 or not label <= WHEREABOUTS:
        return False
    (start, first_end), (second, end) = sorted(judge.names)
    between = [word for word in words(judge.question[first_end:second]) if word not in _LOCATED]
    head_is_first = (judge.span(walks) == (start, first_end)) != walks.backward[0]
    is_alone = not words(judge.question[end:]) and judge.form.auxiliary in BE
    return head_is_first and is_alone and between in (["in"], ["in", "the"], ["within"])


def _says_membership(judge: CandidateJudge, walks: CandidateWalks) -> bool:
    """Returns whether a question says that somebody belongs to a group, and a single step leads there
    from them by a relation that is called as such a group: *is X a member of Y* of X's party.
    """
    if len(walks.relations) > 1 or _GROUPS.isdisjoint(words(judge.texts[walks.relations[0]])):
        return False
    groups = [name for name in judge.names if _MEMBER_OF.search(judge.question[: name[0]])]
    return len(groups) == 1 and (judge.span(walks) == groups[0]) == walks.backward[0]


def _owned_nouns(judge: CandidateJudge) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yields the nouns that a name owns, each with that name: ``child of X``, ``X's child``."""
    for start, end in judge.names:
        noun = _OWNED_BEFORE.search(judge.question[:start])
        noun = noun or _OWNED_AFTER.match(judge.question[end:])
        if noun is not None:
            yield singular(noun[1].lower()), (start, end)


def _owner(judge: CandidateJudge, walks: CandidateWalks) -> tuple[int, int] | None:
    """Returns the name that the question says to own the relation: X of ``child of X``."""
    stems = noun_stems(judge.texts[walks.relations[0]])
    owners = (
        name for noun, name in _owned_nouns(judge) if {stem(noun), stem(kin_of(noun))} & stems
    )
    return next(owners, None)


def _owns_another(judge: CandidateJudge, walks: CandidateWalks) -> bool:
    """Returns whether a name owns a noun that the relation walked does not say, and another does, or
    that is somebody: that Y is the parent of X does not tell whether Y is X's subsidiary, nor a
    student who the teacher is. Who something is made by is its maker.
    """
    if _owner(judge, walks) is not None or _says_membership(judge, walks):
        return False
    # Kin is told by its own rules: a grandchild is the child of a child.
    nouns = [noun for noun, _ in _owned_nouns(judge) if not is_kin(noun)]
    stems = frozenset[str]().union(*map(noun_stems, judge.texts.values()))
    is_made_by = words(judge.texts[walks.relations[0]])[-1:] == ["by"]
    return any(stem(noun) in stems or (names_somebody(noun) and not is_made_by) for noun in nouns)


def _goes_as_its_verb(judge: CandidateJudge, walks: CandidateWalks) -> bool | None:
    """Returns whether who does what the verb says does it in the statement too: *does A own B* where
    the owner of B is A. None where no verb of the question is that of the relation.
    """
    if len(walks.relations) > 1 or len(judge.names) < 2 or judge.span(walks) not in judge.names:
        return None
    label = words(judge.texts[walks.relations[0]])
    # Who is the "owner of" something owns it.
    is_doer = label[-1:] == ["of"] and label[:-1] != [] and label[-2].endswith(_DOER_ENDINGS)
    label = label[:-1] if is_doer else label
    # "Supply" and "supplied" differ by a letter after the stem.
    verbs = {root(word).rstrip("iy") for word, _, _ in judge.own_words}
    of_doer = label[-1:] == ["by"] or bool(label and label[-1].endswith(_DOER_ENDINGS))
    of_doer = of_doer and not is_doer
    if not of_doer and label[-1:] and label[-1] in {"in", "of", "to", "from", "at", "with"}:
        return None
    if verbs.isdisjoint(each.rstrip("iy") for each in stems_of(label)):
        return None
    head_is_first = (judge.span(walks) == min(judge.names)) != walks.backward[0]
    if judge.form.auxiliary in DO:
        first, second = min(judge.names), max(judge.names)
        between = [word for word, start, _ in judge.own_words if first[1] <= start < second[0]]
        # A film that stars somebody is what that one stars in.
        is_inside = label[-1:] != [] and label[-1].endswith("ing") and "in" in between
        return head_is_first != (of_doer or is_inside)
    is_passive = any(word == "by" for word, _, _ in judge.own_words)
    return head_is_first == of_doer if is_passive else None


def _faces(judge: CandidateJudge, walks: CandidateWalks) -> bool:
    """Returns whether a single step goes the way that the question says.

    A ``child of X`` or ``X's child`` is the value of a statement ``child`` whose head is X, and the
    head of a statement ``child of`` whose value is X. More steps must each be said.
    """
    if len(walks.relations) > 1:
        return not (judge.strict and repeats_unsaid(judge, walks))
    owner = _owner(judge, walks)
    if owner is None:
        return True
    is_from_owner = (owner == judge.span(walks)) != walks.backward[0]
    return is_from_owner != (words(judge.texts[walks.relations[0]])[-1:] == ["of"])


def _join(judge: CandidateJudge, walks: CandidateWalks) -> _Joined:
    """Returns what a question asks of a candidate's ends, and the walks that lead there.

    All named entities must be led to; where there is none, a date or a value. Whom a noun of kin
    speaks of must be of its sex.
    """
    applying: list[NamedNodes] = []
    for named in judge.applying(walks):
        if not any(named.overlaps(constraint.start, constraint.end) for constraint in applying):
            applying.append(named)
    entities = [target for target in applying if kind_of(target) is ConstraintKind.ENTITY]
    dates = judge.expected.dates
    may_end: list[Constraint] = [*applying, *dates]
    hit = {id(target): names_end_nodes(target, walks, judge.around) for target in may_end}
    values = [target for target in applying if hit[id(target)] is not None]
    needed: tuple[Constraint, ...] = tuple(entities or dates or values)
    meetings = [hit[id(target)] for target in needed]
    if not needed or any(how is None for how in meetings):
        return _Joined(needed, None)
    rows = np.zeros(len(walks.edges), dtype=bool)
    for how in meetings:
        assert how is not None
        rows = rows | how.walks
    for named in applying:
        if entities and not named.is_entity and sex_of(singular(named.words[-1])):
            owner = _owner(judge, walks)
            column = walks.nodes.shape[1] - 1 if owner == judge.span(walks) else 0
            rows = rows & judge.around.around(named.nodes)[walks.nodes[:, column]]
            if owner is None or not rows.any():
                return _Joined(needed, None, is_sure=False)
    return _within(judge, walks, needed, rows) if entities else _Joined(needed, rows)


def _within(
    judge: CandidateJudge, walks: CandidateWalks, needed: tuple[Constraint, ...], rows: Bool
) -> _Joined:
    """Returns those of the joining walks that meet the dates said besides."""
    for date in judge.expected.dates:
        how: Met | None = meets_date(date, walks, judge.around, judge.similarity(date))
        needed = (*needed, date)
        if how is None or not (rows & how.walks).any():
            dates = judge.around.all_dates(np.unique(walks.end_nodes[rows]))
            return _Joined(needed, None, is_sure=False, other_dates=tuple(dates))
        rows = rows & how.walks
    return _Joined(needed, rows)


def _says_its_relation(judge: CandidateJudge, walks: CandidateWalks) -> bool:
    """Returns whether words of a question are those of the last relation walked."""
    own_stems = {stem(word) for word, _, _ in judge.own_words}
    return not own_stems.isdisjoint(noun_stems(judge.texts[walks.relations[-1]]))


def _are_joined(
    judge: CandidateJudge, walks: CandidateWalks, targets: Sequence[Constraint]
) -> bool:
    """Returns whether any statement joins the start of some walks to what is named besides: a country
    whose official language is another may be one where it is spoken.
    """
    region = judge.surroundings
    nodes = [target.nodes for target in targets if isinstance(target, NamedNodes)]
    named = np.concatenate(nodes) if nodes else np.zeros(0, dtype=np.int64)
    of_start = np.isin(region.head, walks.nodes[:, 0]), np.isin(region.tail, walks.nodes[:, 0])
    of_named = np.isin(region.head, named), np.isin(region.tail, named)
    return bool(((of_start[0] & of_named[1]) | (of_named[0] & of_start[1])).any())


def _denied(
    judge: CandidateJudge, first: JudgedCandidate, targets: Sequence[Constraint]
) -> SelectedAnswer | None:
    """Returns no, where the same relation says something else of what is named, and no other that
    may be meant joins them.
    """
    if not targets or not _is_requested(judge, first.walks):
        return None
    if not _says_its_relation(judge, first.walks) and _are_joined(judge, first.walks, targets):
        return None
    walks, more = first.walks, list[int]()
    for target in targets:
        if isinstance(target, NamedNodes):
            region = judge.surroundings
            side = region.head if walks.backward[-1] else region.tail
            same = (region.rel == walks.relations[-1]) & np.isin(side, target.nodes)
            if not same.any():
                return None
            more += region.edges[np.flatnonzero(same)].tolist()
        elif judge.around.days(int(walks.end_nodes[0])) is None:
            return None
    return _answer(judge, first, np.ones(len(walks.edges), dtype=bool), "no", more)
