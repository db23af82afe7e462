"""The verbs of a question beside relations whose names are made of verbs: owner, published by.

Whoever wants the publisher asks who *published* X. Of *who illustrated X* the publisher is no
answer, however like the words are: words for opposites are like one another too.
"""

from __future__ import annotations

import numpy as np

from graph_service.query.enumeration import overlap
from graph_service.retrieve.constraints.coverage import is_kin
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.naming import NamedNodes
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.constraints.unread import joining_relations, used_spans
from graph_service.retrieve.constraints.verb_labels import (
    DOES,
    content_of_label,
    is_past,
    names,
    says,
    verb_root,
    verbs_in,
    verbs_of,
)
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.relation_prior import common_labels
from graph_service.retrieve.learned.whereabouts import names_location
from graph_service.retrieve.units import is_gain
from graph_service.text.fold import words
from graph_service.text.function_words import EMPTY_IN_ENGLISH
from graph_service.text.nouns import singular
from graph_service.text.question_form import ASKING_WORDS

_OWN = "own"
"""A verb after a name that does it, and an empty word elsewhere."""
_SPENDING = frozenset({"owe", "pay", "spend"})
_LOCATIONS = frozenset({"country", "location", "place", "venue"})
_LOCATED = frozenset(map(verb_root, ("located", "placed")))


def names_another_verb(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a verb of the question says no relation of a candidate, and one of these has
    a name made of another verb, which the question doesn't say: *who illustrated X* of a publisher.
    """
    verbs = _verbs_in(judge, best)
    if not verbs:
        return False
    dated = sorted(frozenset[int]().union(*(how.relations or () for _, how in best.met)))
    relations = dict.fromkeys((*best.walks.relations, *dated))
    labels = list(dict.fromkeys(judge.texts[relation] for relation in relations))
    roots = frozenset(verb_root(word) for word, _, _ in judge.own_words)
    of_other_verb = [
        bool(verbs_of(label)) and not any(names(root, label) for root in roots) for label in labels
    ]
    if not any(of_other_verb):
        return False
    joining = [judge.texts[relation] for relation in sorted(joining_relations(judge, best))]
    left = [
        verb
        for verb in verbs
        if not any(says(verb_root(verb), label) for label in (*labels, *joining))
    ]
    if not left:
        return False
    least = [
        CONSTRAINT_RULES.same_verb if is_other else CONSTRAINT_RULES.spoken
        for is_other in of_other_verb
    ]
    return bool((judge.cosines(left, labels) < least).all(axis=1).any())


def says_another_verb(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a verb of the question asks for another relation than those of a candidate."""
    return leaves_its_verb(judge, best) or names_another_verb(judge, best)


def asks_for_another_amount(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether *how much does X eat* is answered by an amount that the verb does not say:
    the weight of X.
    """
    span = judge.span(best.walks)
    if judge.form.how_much_span is None or not DOES.search(judge.question[: span[0]]):
        return False
    following = [word for word, start, _ in judge.own_words if start >= span[1]][:1]
    labels = [judge.texts[relation] for relation in best.walks.relations]
    if not _SPENDING.isdisjoint(following) and any(map(is_gain, labels)):
        # Who pays does not get what is paid.
        return True
    return any(
        _is_content(verb)
        and not any(says(verb_root(verb), label) for label in labels)
        and float(judge.cosines([verb], labels).max()) < CONSTRAINT_RULES.compared
        for verb in following
    )


def leaves_its_verb(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a verb of the question is the name of a relation around, or the last word of one
    that the start has, and none that a candidate walks is said so: *who chairs X*, *when did X die*,
    *what bordered X* of what shares a border with it.
    """
    relations = (*best.walks.relations, *sorted(joining_relations(judge, best)))
    labels = [judge.texts[relation] for relation in relations]
    left = [
        verb
        for word in _verbs_in(judge, best)
        if not any(says(verb := verb_root(word), label) for label in labels)
    ]
    if not left:
        return False
    of_labels = {
        frozenset(map(verb_root, content_of_label(label))) for label in judge.texts.values()
    }
    around = judge.around.region
    of_start = np.unique(around.rel[around.head == best.walks.nodes[0, 0]]).tolist()
    content = (content_of_label(judge.texts[relation]) for relation in of_start)
    last_words = {label_words[-1] for label_words in content if label_words}
    return any(
        frozenset({verb}) in of_labels
        or (verb not in _LOCATED and any(names(verb, word) for word in last_words))
        for verb in left
    )


def asks_where_of_another(judge: CandidateJudge, best: JudgedCandidate, /) -> bool:
    """Returns whether a question asks *where* something was done, and a candidate leads to who did it,
    or to a place of something else: *where was X filmed* of its country of origin. Nor are those who
    do it a place: *where do people speak X*.
    """
    if not judge.form.asks_where:
        return False
    if any(
        isinstance(noun, NamedNodes)
        and not noun.is_entity
        and how.column == best.last
        and not names_location(singular(noun.words[-1]))
        for noun, how in best.met
    ):
        return True
    labels = [judge.texts[relation] for relation in best.walks.relations]
    verbs = [verb_root(verb) for verb in _verbs_in(judge, best) if is_past(verb)]
    doers = {verb_root(each) for each in verbs_of(labels[-1]) if not is_past(each)}
    if any(names(verb, labels[-1]) for verb in verbs) and doers:
        return True
    left = [verb for verb in verbs if not any(names(verb, label) for label in labels)]
    return any(
        names(verb, label) and not _LOCATIONS.isdisjoint(words(label)) and verb not in _LOCATED
        for verb in left
        for label in common_labels()
    )


def _verbs_in(judge: CandidateJudge, best: JudgedCandidate) -> list[str]:
    """Returns the verbs that a question says beside names, dates and words that only ask."""
    used = used_spans(judge, best)
    own = [
        (word, start, end)
        for word, start, end in judge.own_words
        if not any(overlap((start, end), span) for span in used)
    ]
    spans = [judge.span(best.walks), *judge.names]
    verbs = [word for word, _, _ in verbs_in(judge.question, own, spans)]
    return [verb for verb in dict.fromkeys(verbs) if _is_content(verb)]


def _is_content(word: str) -> bool:
    return (
        len(word) > 1
        and (word not in EMPTY_IN_ENGLISH or word == _OWN)
        and word not in ASKING_WORDS
        and not is_kin(word)
        and singular(word) not in KINDS
    )
