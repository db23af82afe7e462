"""The numbers that decide how much what a question says beside its relations weighs."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ConstraintRules:
    """Numbers of reading and meeting constraints, in units of the learned score where not said.

    Attributes:
        characters: Of a question at most; a longer text, as a dialogue, asks for no one answer.
        candidates: The best candidates, whose walks are looked at.
        walks: Most walks of a candidate that are looked at.
        named_bonus: For a date or a named entity that a candidate's ends meet; half of it where
            only nodes on the way do.
        value_bonus: The same for a value or a type.
        kin_bonus: For the relation that a noun of kin speaks of (``daughters``: child).
        wrong_end_cost: For walks that end at what the question names itself.
        kin_cost: For not leading to the kin that the question says, or for walking kin that it does
            not say.
        yes_margin: By how much the best candidate may fit better than one that joins what is named.
        rival_margin: The same, than one whose first comes before that of the best.
        spoken: Cosine from which on a word speaks of a relation.
        same_verb: Cosine from which on a verb speaks of a relation whose name is made of another
            verb: of pairs of published questions 2 in 100 are lost, of other pairs 64 in 100 are.
        as_like: By how much a common relation's label may be more like what a name owns (*the boss
            of X*) than the relation walked.
        compared: Cosine from which on a relation has the numbers that a superlative compares.
        unmet_share: Share of its score that a walk keeps for each constraint that others meet.
        phrase_words: Words before a date that tell which date is meant.
    """

    characters: int = 600
    candidates: int = 16
    walks: int = 20_000
    named_bonus: float = 3.0
    value_bonus: float = 1.5
    kin_bonus: float = 2.0
    wrong_end_cost: float = 6.0
    kin_cost: float = 12.0
    yes_margin: float = 2.0
    rival_margin: float = 4.0
    spoken: float = 0.4
    same_verb: float = 0.76
    as_like: float = 0.02
    compared: float = 0.5
    unmet_share: float = 0.5
    phrase_words: int = 4

    def parameters(self) -> dict[str, float]:
        """Returns the numbers by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


CONSTRAINT_RULES = ConstraintRules()
