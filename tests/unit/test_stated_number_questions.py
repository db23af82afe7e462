"""How many there are is the number that the graph states, and not that of those it lists."""

from __future__ import annotations

import pytest
from table_service import service_of, sure_answers

from graph_service import Service

TABLES = {
    "countries": """Country,Capital,Population
Latvia,Riga,1900000
Norway,Oslo,5500000
""",
    "people": """Person,Country,Employer,Born,Salary,Plan
Anna Berzina,Latvia,Orsta Bank,1980-01-02,41000,Gold
Juris Kalns,Latvia,Orsta Bank,1975-05-04,38000,Silver
Kari Moen,Norway,Fjord Lines,1990-03-03,52000,Gold
""",
    "companies": """Company,Country,Employees
Orsta Bank,Latvia,420
Fjord Lines,Norway,1300
""",
    "plans": """Plan,Fee
Gold,60 EUR
Silver,35 EUR
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many people live in Latvia?", {"1900000"}),
        ("how many people live in norway", {"5500000"}),
        ("How many people work at Orsta Bank?", {"420"}),
        ("How many people does Fjord Lines employ?", {"1300"}),
        ("How many people are from Latvia?", {"2"}),
        ("How many people born in 1980 live in Latvia?", {"1"}),
        ("How many companies are in Latvia?", {"1"}),
        ("How much does Kari Moen pay?", {"60"}),
        ("How much does Kari Moen earn?", {"52000"}),
    ],
)
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected
