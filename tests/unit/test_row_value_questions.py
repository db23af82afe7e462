"""What stands in the rows of two keys: the mark of a student in a subject, points in a season (B13)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Status, Strategy

TABLES = {
    "pupils": """Name,Form
Ida Lund,7A
Otto Berg,7A
Mia Falk,7B
""",
    "courses": """Course,Tutor
Botany,Ms Quist
Latin,Mr Hoel
""",
    "grades": """exam_id,pupil,course,grade
1,Ida Lund,Botany,81
2,Ida Lund,Latin,64
3,Otto Berg,Botany,55
4,Mia Falk,Latin,92
5,Mia Falk,Latin,77
""",
    "crews": """Crew,Colour
Herons,grey
Otters,brown
""",
    "regattas": """Crew,Year,Points,Cox
Herons,2021,14,Pia Dahl
Herons,2022,19,Jon Moe
Otters,2021,22,Lise Vik
""",
    "baskets": """Basket,Buyer
501,Olga Prud
502,Nils Aas
""",
    "goods": """Good,Price,Stock
Brass hook,2.5,300
Oak shelf,40,4
""",
    "depots": """Depot,Beds
North,20
East,14
""",
    "supplies": """Good,Depot,Pieces
Brass hook,North,9
Brass hook,East,3
Oak shelf,North,1
""",
    "rota": """Week,Tutor,Turn
1,Ms Quist,early
2,Ms Quist,late
2,Mr Hoel,early
""",
    "sales": """Sale,Sale date,Buyer name
A-1,2023-04-02,Olga Prud
A-2,2023-01-30,Nils Aas
""",
    "paintings": """Painting,Price (EUR)
Blue Fjord,900
Old Quay,1500
""",
    "basket_lines": """Basket,Good,Quantity
501,Brass hook,12
501,Oak shelf,2
502,Brass hook,5
""",
}


service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # The rows have the name of a column.
        ("What grade did Ida Lund get in Botany?", {"81"}),
        ("What was Otto Berg's grade in Botany?", {"55"}),
        ("Ida Lund Latin grade", {"64"}),
        # No row is called a grade: its column is meant.
        ("What grades does Ida Lund have?", {"81", "64"}),
        ("average grade in Latin", {"77.6667"}),
        ("What is the lowest grade in Botany?", {"55"}),
        ("lowest grade in Botany", {"55"}),
        ("highest grade", {"92"}),
        # A value, its thing, and a value whose name begins with that of the thing.
        ("highest price of the paintings", {"1500 EUR"}),
        ("highest price painting", {"Old Quay"}),
        ("the latest sale date", {"2023-04-02"}),
        ("How many grades are there?", {"5"}),
        ("Which exams are over 80?", {"1", "4"}),
        ("How many grades are over 80?", {"2"}),
        # Both rows that are meant.
        ("What grade did Mia Falk get in Latin?", {"92", "77"}),
        # A year is one of the keys.
        ("Who was the cox of the Herons in 2022?", {"Jon Moe"}),
        ("Herons points 2021", {"14"}),
        ("Points of the Otters in 2021", {"22"}),
        # A table of two keys and no date.
        ("What quantity of brass hook is in basket 501?", {"12"}),
        ("How many brass hooks are in basket 502?", {"5"}),
        ("What is the total value of the paintings?", {"2400"}),
        ("basket 501 brass hook quantity", {"12"}),
        ("How many brass hooks are in the North depot?", {"9"}),
        ("How many pieces of brass hook does East have?", {"3"}),
        ("What turn did Ms Quist have in week 2?", {"late"}),
        ("Which goods are in basket 501?", {"Brass hook", "Oak shelf"}),
    ],
)
def test_values_in_rows_are_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        # No such row.
        "What grade did Otto Berg get in Latin?",
        "Points of the Otters in 2022",
        "What quantity of oak shelf is in basket 502?",
        # A value is a price times a stock, and no quantity.
        "total value of all goods",
        "What is the total cost of the goods?",
        "What are the goods worth in total?",
        "average value of the basket lines",
        "percentage of regattas by the Herons",
        # Rows are no people, nor what another word asks for; their numbers look like grades.
        "Who tutors Ida Lund?",
        "Ida Lund's score in Botany",
        "Which grades are over 80?",
        "What turn did Mr Hoel have in week 1?",
        "pieces per supply",
        # Not every word is read.
        "What grade did Ida Lund nearly get in Botany?",
        "What was the colour of the Herons in 2021 in Botany?",
    ],
)
def test_what_no_row_says_is_not_answered(service: Service, question: str) -> None:
    result = retrieve(service, question)
    assert result.status is not Status.OK
    assert result.answer is None


def test_the_query_says_which_rows_are_meant(service: Service) -> None:
    result = retrieve(service, "What grade did Ida Lund get in Latin?")
    assert result.interpretation is not None
    assert result.interpretation.text == (
        "the grade of grades whose course is Latin and whose pupil is Ida Lund"
    )
    assert result.items[0].steps[-1].triple.value_label == "64"
    assert "grade" in (result.interpretation.cypher or "")


@pytest.mark.parametrize(
    ("before", "question", "expected"),
    [
        # What is of the same kind is replaced, whichever comes first.
        ("What grade did Ida Lund get in Botany?", "And in Latin?", {"64"}),
        ("What grade did Ida Lund get in Botany?", "What about Otto Berg?", {"55"}),
        ("What quantity of brass hook is in basket 501?", "and in basket 502?", {"5"}),
        # A date is replaced by a date, with its preposition or without.
        ("Who was the cox of the Herons in 2021?", "And in 2022?", {"Jon Moe"}),
        ("Who was the cox of the Herons in 2021?", "What about 2022?", {"Jon Moe"}),
        ("Herons points 2022", "and 2021?", {"14"}),
    ],
)
def test_a_question_goes_on_with_another_value(
    service: Service, before: str, question: str, expected: set[str]
) -> None:
    result = service.retrieve(RetrieveRequest(question, Strategy.PATHS, earlier=(before,)))
    assert result.status is Status.OK
    assert result.answer is not None
    assert set(result.answer.value.split("; ")) == expected


def test_a_question_that_goes_on_has_no_answer_where_no_row_says_it(service: Service) -> None:
    before = ("What grade did Otto Berg get in Botany?",)
    result = service.retrieve(RetrieveRequest("And in Latin?", Strategy.PATHS, earlier=before))
    assert result.status is not Status.OK
