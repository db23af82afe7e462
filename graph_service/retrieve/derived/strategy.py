"""The answer to a question that one pattern reads as a whole, from what several statements say."""

from __future__ import annotations

from itertools import product

from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.derived.ages import derive_age
from graph_service.retrieve.derived.kin import derive_kin
from graph_service.retrieve.derived.named_question import named_question
from graph_service.retrieve.derived.request import DerivedAnswer, DerivedRequest
from graph_service.retrieve.derived.statement_dates import derive_date
from graph_service.retrieve.derived.successors import derive_successor


def derive_answer(request: DerivedRequest, /) -> DerivedAnswer | None:
    """Returns what follows from statements; None where no pattern reads the question, or the graph
    lacks one of them.
    """
    if len(request.question) > CONSTRAINT_RULES.characters:
        return None
    question = named_question(request.question, request.candidates)
    if question is None:
        return None
    derivations = (derive_kin, derive_age, derive_date, derive_successor)
    for derive, each in product(derivations, question.orders):
        answer = derive(each, request)
        if answer is not None:
            return answer
    return None
