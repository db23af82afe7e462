"""Of which aspect a relation tells: the place, the day or the cause of what it is said of."""

from __future__ import annotations

import numpy as np

from graph_service.retrieve.constraints.coverage import root, stems_of
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.meeting import CandidateWalks
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.reading import AnswerForm
from graph_service.retrieve.constraints.unread import joining_relations
from graph_service.text.fold import words
from graph_service.text.nouns import singular

_CAUSES = frozenset(["cause", "manner", "method", "motive", "purpose", "reason"])
_EVENTS = (
    frozenset(["birth", "birthdate", "birthday", "birthplace", "born"]),
    frozenset(["dead", "death", "deathplace", "die", "died", "dies"]),
)
"""Words for a birth, and for a death."""
_BEGINNINGS = frozenset(
    {"began", "begin", "beginning", "begins", "begun", "creation", "founded", "inception", "opened",
     "start", "started", "starts"}
)  # fmt: skip
_ENDINGS = frozenset(
    {"abolished", "close", "closed", "demolished", "dissolved", "end", "ended", "ending", "ends",
     "finish", "finished", "retirement", "stopped"}
)  # fmt: skip
"""Words for when something begins, and for when it ends."""
OF_EVENTS = frozenset[str]().union(*_EVENTS) | {"burial", "buried"}
"""Words of relations that tell of a birth, a death or what follows it."""
WHEREABOUTS = frozenset(
    map(
        root,
        ("administrative", "city", "continent", "country", "county", "district", "entity", "located",
         "location", "province", "region", "situated", "state", "territorial", "town", "within"),
    )
)  # fmt: skip
"""Words of relations that say where a thing is, and no others."""
_COUNTRY = frozenset(map(root, ("country",)))
_LIVING = frozenset({"live", "lived", "lives", "reside", "resided", "resides"})
_DEEDS = frozenset(["job", "occupation", "profession"])
_LOCATIONS = frozenset(["location", "place"])
_WITHIN = frozenset(["at", "in", "inside", "near", "within"])
"""Ends of labels that say where: *found at*."""


def tells_of_another_aspect(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether the last relation of a candidate tells by its name of another aspect than the
    question asks for: *where* is not answered by a cause of death or an occupation, nor *who* by a
    place of birth, or by where something was *found at*. *Why* is answered by a cause alone.
    """
    if walks.backward[-1]:
        return judge.form.word == "why"
    label = judge.texts[walks.relations[-1]]
    noun, last = _head_noun(label), words(label)[-1:]
    if judge.form.word == "why":
        return noun not in _CAUSES
    if judge.form.asks_where:
        return noun in _CAUSES | _DEEDS
    if not judge.form.asks_for_person:
        return False
    is_where = not _WITHIN.isdisjoint(last) and not set(words(judge.question)) & set(last)
    return is_where or noun in _CAUSES | _LOCATIONS


def tells_of_the_contrary(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question speaks of a beginning and the last relation of an end, or the other
    way about: *when did X begin* is not answered by its end time.
    """
    own_words = {word for word, _, _ in judge.own_words}
    label = set(words(judge.texts[walks.relations[-1]]))
    return any(
        not own_words.isdisjoint(own)
        and own_words.isdisjoint(contrary)
        and label.isdisjoint(own)
        and not label.isdisjoint(contrary)
        for own, contrary in ((_BEGINNINGS, _ENDINGS), (_ENDINGS, _BEGINNINGS))
    )


def leaves_its_event(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a question speaks of a birth or a death, of which relations around tell, and
    none of them is read: the country where somebody was born is not that of their citizenship. Yes
    and no are doubted so too where no relation around tells of it.
    """
    own_words = {word for word, _, _ in judge.own_words}
    of_events = [event for event in _EVENTS if not own_words.isdisjoint(event)]
    if not of_events or judge.expected.superlative is not None:
        return False
    dated = [how.relations or () for _, how in best.met]
    relations = {*best.walks.relations, *joining_relations(judge, best)}.union(*dated)
    known = {relation: set(words(label)) for relation, label in judge.texts.items()}
    is_claim = judge.expected.form is AnswerForm.YES_NO
    for event in of_events:
        of_event = {relation for relation, label in known.items() if not label.isdisjoint(event)}
        if (of_event or is_claim) and of_event.isdisjoint(relations):
            return True
    return False


def leaves_its_home(judge: CandidateJudge, walks: CandidateWalks, /) -> bool:
    """Returns whether a question asks who lives somewhere, or where somebody lives, and a candidate
    tells of a birth or a death there.
    """
    if _LIVING.isdisjoint(word for word, _, _ in judge.own_words):
        return False
    return any(not OF_EVENTS.isdisjoint(words(judge.texts[each])) for each in walks.relations)


def _head_noun(label: str) -> str:
    """Returns the noun that says what the values of a relation are.

    >>> _head_noun("cause of death"), _head_noun("birth place")
    ('cause', 'place')
    """
    before, _, _ = " ".join(words(label)).partition(" of ")
    return singular(before.split()[-1]) if before else ""


def misses_its_class(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether nothing that is in a place is of the class that is asked for, which other things
    around are of: *which islands belong to X* asks for no towns.
    """
    walks, met = best.walks, [constraint for constraint, _ in best.met]
    label = stems_of(words(judge.texts[walks.relations[-1]]))
    return (
        walks.backward[-1]
        and label <= WHEREABOUTS
        and any(
            judge.is_requested(named)
            and not any(named.overlaps(each.start, each.end) for each in met)
            and judge.around.are_classes(named.nodes)
            for named in judge.applying(walks)
        )
    )


def leaves_what_is_further_in(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether more of the class that is asked for is in what a candidate leads to: a site of
    a parish of X is in X too.
    """
    walks, around = best.walks, judge.around
    label = stems_of(words(judge.texts[walks.relations[0]]))
    if walks.backward != (True,) or not label <= WHEREABOUTS or label == _COUNTRY:
        return False
    classes = [
        named
        for named, _ in best.met
        if isinstance(named, NamedNodes) and judge.is_requested(named)
    ]
    end_nodes, region = np.unique(walks.end_nodes), around.region
    is_further = (region.rel == walks.relations[0]) & np.isin(region.tail, end_nodes)
    further = np.setdiff1d(region.head[is_further], end_nodes)
    return any(bool(around.around(named.nodes)[further].any()) for named in classes)
