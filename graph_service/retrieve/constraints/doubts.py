"""The doubts about a candidate that comes first: each a way in which it may misread the question.

A new doubt is a row of the table, and is looked at wherever a candidate is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from graph_service.retrieve.constraints.answer_kind import (
    answers_in_another_form,
    constraint_sides,
    counts_its_noun,
    lacks_sex_of_end,
    leads_from_its_noun,
    leads_to_another_sex,
    leads_to_its_holders,
    leads_to_no_name,
    leads_to_one_parent,
    leads_to_the_other_kin,
    leads_to_what_it_names,
    walks_its_kin,
)
from graph_service.retrieve.constraints.judging import CandidateJudge, JudgedCandidate
from graph_service.retrieve.constraints.label_aspects import (
    leaves_its_event,
    leaves_its_home,
    leaves_what_is_further_in,
    misses_its_class,
    tells_of_another_aspect,
    tells_of_the_contrary,
)
from graph_service.retrieve.constraints.living import leaves_who_lives
from graph_service.retrieve.constraints.qualifiers import asks_what_should_be, leaves_a_qualifier
from graph_service.retrieve.constraints.said_labels import (
    walks_against_its_wording,
    walks_the_noun_of_its_name,
)
from graph_service.retrieve.constraints.said_nouns import (
    leaves_an_owner,
    names_another_person,
    names_another_relation,
)
from graph_service.retrieve.constraints.said_steps import (
    begins_at_no_owner,
    leaves_a_step_unsaid,
    leaves_the_outermost_noun,
    leaves_what_is_done,
    repeats_kin_unsaid,
    says_a_step_again,
    says_nothing_of,
    walks_against_its_verb,
    walks_in_another_order,
    walks_its_clause,
)
from graph_service.retrieve.constraints.said_verbs import (
    asks_for_another_amount,
    asks_where_of_another,
    leaves_its_verb,
    names_another_verb,
)
from graph_service.retrieve.constraints.unread import (
    leaves_a_name,
    leaves_number_of_name,
    leaves_which_kin,
)

_Test: TypeAlias = Callable[[CandidateJudge, JudgedCandidate], bool]


@dataclass(frozen=True, slots=True)
class Doubt:
    """One way in which a candidate may misread a question.

    Attributes:
        name: Says what is the matter with it.
        holds: Returns whether it is so.
        of_plain_questions: Whether only questions are doubted that say nothing beside relations: of
            others the words may be those of what constrains the answers.
    """

    name: str
    holds: _Test
    of_plain_questions: bool = False


LEFT_VERB = "a relation of the verb's name is left"
ANOTHER_PERSON = "another person is named"
ANOTHER_VERB = "another verb is said"
AGAINST_WORDING = "the other way than known words ask"
UNSAID = "all steps unsaid"
OUTWEIGHED = frozenset({LEFT_VERB, ANOTHER_PERSON, ANOTHER_VERB, AGAINST_WORDING, UNSAID})
"""The last doubts, which published questions outweigh that ask in such words."""
DOUBTS = (
    Doubt("a comparison that is not read", lambda judge, _: not judge.expected.is_understood),
    Doubt("a negation that is not read", lambda judge, best: not judge.reads_negation(best)),
    Doubt(
        "other kin",
        lambda judge, best: not walks_its_kin(judge, best.walks, constraint_sides(judge, best)),
    ),
    Doubt(
        "the other side of kin",
        lambda judge, best: leads_to_the_other_kin(judge, best.walks),
    ),
    Doubt("kin of another sex", lacks_sex_of_end),
    Doubt("kin of the other sex", leads_to_another_sex),
    Doubt("one parent of two", leads_to_one_parent),
    Doubt("which kin is left", leaves_which_kin),
    Doubt(
        "kin of another name",
        lambda judge, best: begins_at_no_owner(judge, best.walks, constraint_sides(judge, best)),
    ),
    Doubt("what has no name", leads_to_no_name),
    Doubt("what has it", lambda judge, best: leads_to_its_holders(judge, best.walks)),
    Doubt("what it names", leads_to_what_it_names),
    Doubt("what has its noun", lambda judge, best: leads_from_its_noun(judge, best.walks)),
    Doubt("another amount", asks_for_another_amount),
    Doubt("another aspect", lambda judge, best: tells_of_another_aspect(judge, best.walks)),
    Doubt("the contrary", lambda judge, best: tells_of_the_contrary(judge, best.walks)),
    Doubt("a birth or death that is not read", leaves_its_event),
    Doubt("where somebody lives", lambda judge, best: leaves_its_home(judge, best.walks)),
    Doubt("who is alive", leaves_who_lives),
    Doubt("what is done", lambda judge, best: leaves_what_is_done(judge, best.walks)),
    Doubt("another noun is counted", lambda judge, best: not counts_its_noun(judge, best)),
    Doubt("kin walked more often", lambda judge, best: repeats_kin_unsaid(judge, best.walks)),
    Doubt("a step said more often", lambda judge, best: says_a_step_again(judge, best.walks)),
    Doubt("an outer noun unsaid", lambda judge, best: leaves_the_outermost_noun(judge, best.walks)),
    Doubt(
        "the other side of a verb", lambda judge, best: walks_against_its_verb(judge, best.walks)
    ),
    Doubt("steps in another order", lambda judge, best: walks_in_another_order(judge, best.walks)),
    Doubt("a step said by a clause", lambda judge, best: walks_its_clause(judge, best.walks)),
    Doubt("a step unsaid", lambda judge, best: leaves_a_step_unsaid(judge, best.walks)),
    Doubt("another relation is named", names_another_relation),
    Doubt("an owner that is not read", leaves_an_owner),
    Doubt("a date that nothing meets", lambda judge, best: judge.misses_a_date(best)),
    Doubt("a class that nothing meets", misses_its_class),
    Doubt("what is further in", leaves_what_is_further_in),
    Doubt("a name that nothing meets", lambda judge, best: judge.misses_a_name(best)),
    Doubt("a number of the name that is not read", leaves_number_of_name),
    Doubt("a name that is not read", leaves_a_name),
    Doubt(
        "the noun of a name is walked",
        lambda judge, best: walks_the_noun_of_its_name(judge, best.walks),
    ),
    Doubt("a qualifier that is not read", leaves_a_qualifier),
    Doubt("what should be", asks_what_should_be),
    Doubt("another place is named", asks_where_of_another),
    Doubt("another kind of value", lambda judge, best: answers_in_another_form(judge, best.walks)),
    Doubt(LEFT_VERB, leaves_its_verb),
    Doubt(ANOTHER_PERSON, names_another_person),
    Doubt(ANOTHER_VERB, names_another_verb),
    Doubt(AGAINST_WORDING, lambda judge, best: walks_against_its_wording(judge, best.walks)),
    Doubt(UNSAID, lambda judge, best: says_nothing_of(judge, best.walks), True),
)


def first_doubt(judge: CandidateJudge, best: JudgedCandidate, /, *, is_plain: bool) -> str:
    """Returns the name of the first doubt about a candidate; nothing where there is none, or where
    the preset doubts nothing.

    Args:
        judge: Of the question.
        best: The candidate.
        is_plain: Whether the question says nothing beside relations.
    """
    if not judge.strict:
        return ""
    able = (doubt for doubt in DOUBTS if is_plain or not doubt.of_plain_questions)
    return next((doubt.name for doubt in able if doubt.holds(judge, best)), "")
