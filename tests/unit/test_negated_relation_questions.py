"""A negation before a verb and what it leads to denies just that, and not all that the verb says."""

from __future__ import annotations

import pytest
from table_service import service_of, sure_answers

from graph_service import Service

TABLES = {
    "caves": """head,relation,tail
Hollow Deep,is a,cave
Otter Sink,is a,cave
Gallows Hole,is a,cave
Hollow Deep,lies under,Carrow Fell
Otter Sink,lies under,Bleak Hill
Gallows Hole,lies under,Bleak Hill
Hollow Deep,drains,Carrow Fell
Otter Sink,drains,Bleak Hill
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which caves do not lie under Carrow Fell?", {"Otter Sink", "Gallows Hole"}),
        ("Which caves don't lie under Bleak Hill?", {"Hollow Deep"}),
        ("Which caves do not drain Carrow Fell?", {"Otter Sink", "Gallows Hole"}),
        ("Which caves lie under Carrow Fell?", {"Hollow Deep"}),
    ],
)
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected
