"""Who does what a verb says is not whom it is done to, whatever the form of the question."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

STATEMENTS = """head,relation,tail
Brine Lines,acquired,Noor Ferries
Brine Lines,led by,Ada Lind
Noor Ferries,led by,Bo Falk
Ada Lind,mentored by,Ida Moe
Petrel,maintained by,Ada Lind
Petrel,maintained by,Bo Falk
Osprey,maintained by,Ada Lind
Osprey,sister ship,Petrel
Ada Lind,lives in,Kelmouth
Ada Lind,sits on the board of,Noor Ferries
Ada Lind,born,1970-03-02
"""
service = service_of({"statements": STATEMENTS})


@pytest.mark.parametrize(
    "question",
    [
        "Who acquired Brine Lines?",
        "What did Noor Ferries acquire?",
        "What did Ada Lind mentor?",
        "Does Brine Lines lead Ada Lind?",
        "Did Ada Lind mentor Ida Moe?",
        "Does only Ada Lind lead Brine Lines?",
        "Where was Ada Lind born?",
    ],
)
def test_the_other_side_of_a_statement_is_no_sure_answer(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who acquired Noor Ferries?", "Brine Lines"),
        ("What did Brine Lines acquire?", "Noor Ferries"),
        ("Who mentored Ada Lind?", "Ida Moe"),
        ("Does Ada Lind lead Brine Lines?", "yes"),
        ("Which board does Ada Lind sit on?", "Noor Ferries"),
        ("When was Ada Lind born?", "1970-03-02"),
    ],
)
def test_the_side_that_is_asked_for_is(service: Service, question: str, expected: str) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert result.answer is not None
    assert result.answer.text == expected
