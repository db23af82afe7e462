"""What a question that says more than its relations makes of its candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from graph_service.model.answer import ReadConstraint
from graph_service.model.graph import Bool, Int64
from graph_service.retrieve.constraints.coverage import is_kin
from graph_service.retrieve.constraints.doubts import OUTWEIGHED
from graph_service.retrieve.constraints.judging import (
    CandidateJudge,
    JudgedCandidate,
    RankedCandidate,
)
from graph_service.retrieve.constraints.meeting import Constraint
from graph_service.retrieve.constraints.reading import AnswerForm
from graph_service.retrieve.constraints.unread import unread_words
from graph_service.retrieve.context import SelectedAnswer


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What the query that a question was read as is made of.

    Attributes:
        judge: Of the question.
        best: The candidate whose walks come first, or that decides yes or no.
        targets: What a question for yes or no names beside its start.
        is_flag: Whether a true or false value of the start answers yes or no.
        alternative: The same walks from the other of two names, of *by A or B*; or those of the
            same relation the other way about, where it holds both ways.
    """

    judge: CandidateJudge
    best: JudgedCandidate
    targets: tuple[Constraint, ...] = ()
    is_flag: bool = False
    alternative: JudgedCandidate | None = None

    @property
    def is_cut(self) -> bool:
        """Whether limits may have left out walks of the candidate."""
        return self.judge.is_cut(self.best.walks)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """What a question says beside its relations makes of its candidates.

    Attributes:
        ranked: The candidates, best first.
        constraints: What was read, and whether any walk meets it.
        met: By candidate, which constraints each of its walks meets, in the order of the walks'
            keys, bool [walks, constraints]; candidates that were not looked at are absent.
        first: By candidate, which walks lead to the first that a superlative asks for.
        answer: What is computed; None where the question asks for entities and no more, or nothing
            is sure.
        doubt: How the best candidate may misread the question; empty where nothing says so.
        reading: What the query that the question was read as is made of; None of a long text.
    """

    ranked: tuple[RankedCandidate, ...]
    constraints: tuple[ReadConstraint, ...] = ()
    met: Mapping[int, Bool] = field(default_factory=dict)
    first: Mapping[int, Bool] = field(default_factory=dict)
    answer: SelectedAnswer | None = None
    doubt: str = ""
    reading: Reading | None = None

    @property
    def may_be_outweighed(self) -> bool:
        """Whether it is only doubted that the question's words speak of the best candidate."""
        return self.doubt in OUTWEIGHED

    @property
    def compares(self) -> bool:
        """Whether the question compares two things that it names."""
        return (
            self.reading is not None and self.reading.judge.expected.form is AnswerForm.COMPARISON
        )

    @property
    def lists_entities(self) -> bool:
        """Whether the question asks for entities or values, not for what is computed of them."""
        if self.reading is None:
            return True
        expected = self.reading.judge.expected
        return (
            expected.form is AnswerForm.ENTITIES
            and expected.negated_from < 0
            and not expected.is_negated
        )

    @property
    def is_plain(self) -> bool:
        """Whether the question asks for what its relations lead to, for no choice of that, and says
        nothing that is not accounted for.
        """
        if self.reading is None or self.constraints or not self.lists_entities:
            return False
        judge, best = self.reading.judge, self.reading.best
        # Of kin the doubts tell: whose mother she is are her children.
        is_read = all(map(is_kin, unread_words(judge, best)))
        return judge.expected.superlative is None and is_read

    @property
    def may_be_unstated(self) -> bool:
        """Whether the question asks for one thing of an entity, which the graph may lack."""
        if self.reading is None:
            return False
        expected = self.reading.judge.expected
        is_of_one = expected.form not in (AnswerForm.YES_NO, AnswerForm.COMPARISON)
        return is_of_one and expected.negated_from < 0 and not expected.is_negated

    def met_by(self, number: int, walks: int, /) -> Bool:
        """Returns which constraints each of a candidate's walks meets, bool [walks, constraints]."""
        is_met = np.zeros((walks, len(self.constraints)), dtype=bool)
        if number in self.met:
            known = self.met[number]
            is_met[: len(known)] = known
        return is_met

    def missed_by(self, number: int, walks: int, /) -> Int64:
        """Returns how many constraints that some walk meets each walk does not meet, int64 [walks].

        Not to lead to the first that a superlative asks for counts as one.
        """
        can_be_met = [constraint.met for constraint in self.constraints]
        is_unmet = ~self.met_by(number, walks)[:, can_be_met]
        missed: Int64 = is_unmet.sum(axis=1).astype(np.int64)
        if self.first:
            known = self.first.get(number, np.zeros(0, dtype=bool))
            missed += 1
            missed[: len(known)] -= known
        return missed
