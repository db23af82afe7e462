"""What is bought, borrowed or visited: by rows that join two things, where a word says so (B13)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status
from graph_service.retrieve.classes.row_words import other_side_span

TABLES = {
    "tools": """Code,Tool,Kind,Maker,Year,Deposit (EUR)
T1,Hedge Trimmer,garden tool,Garden & Co,2019,25
T2,Tile Cutter,saw,Stonework,2015,40
T3,Floor Sander,sander,Stonework,2021,60
T4,Long Ladder,ladder,Alu,2010,15
T5,Short Ladder,ladder,Alu,2012,12
""",
    "neighbours": """Neighbour,Street,Phone,Discount (%)
Ana Duarte,Mill Lane,555-0101,5
Bo Nyman,Mill Lane,555-0102,10
Carla Rossi,High Street,,
""",
    "loans": """Loan,Tool,Neighbour,Borrowed,Returned
L-1,T1,Ana Duarte,2024-03-01,2024-03-04
L-2,T2,Ana Duarte,2024-03-09,2024-03-12
L-3,T1,Bo Nyman,2024-04-02,2024-04-02
L-4,T1,Ana Duarte,2024-05-20,2024-05-21
L-5,T3,Bo Nyman,2024-05-25,
""",
    "sales": """Sale,Tool,Neighbour,Date,Price (EUR)
S-1,T4,Carla Rossi,2024-02-02,80
S-2,T2,Bo Nyman,2024-06-30,120
S-3,T5,Bo Nyman,2024-07-04,60
""",
}


service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Ana Duarte borrow?", {"Hedge Trimmer", "Tile Cutter"}),
        ("What has Bo Nyman borrowed?", {"Hedge Trimmer", "Floor Sander"}),
        ("Which tools has Ana Duarte borrowed?", {"Hedge Trimmer", "Tile Cutter"}),
        ("Who borrowed the Hedge Trimmer?", {"Ana Duarte", "Bo Nyman"}),
        # The same two, by other rows.
        ("What did Bo Nyman buy?", {"Tile Cutter", "Short Ladder"}),
        ("Who bought the Long Ladder?", {"Carla Rossi"}),
        ("How many tools did Bo Nyman borrow?", {"2"}),
        # His discount is no money.
        ("How much did Bo Nyman spend?", {"180"}),
    ],
)
def test_rows_lead_from_one_side_to_the_other(
    service: Service, question: str, expected: set[str]
) -> None:
    assert sure_answers(service, question) == expected


def test_a_walk_leads_through_rows_to_a_class_that_is_named(service: Service) -> None:
    result = retrieve(service, "Which neighbours have borrowed the Floor Sander?")
    assert result.status is Status.OK
    assert result.items[0].steps[-1].triple.value_label == "Bo Nyman"


@pytest.mark.parametrize(
    "question",
    [
        # She borrowed one of them twice: two tools, or three loans.
        "How many tools did Ana Duarte borrow?",
        # No word says what the rows are.
        "What did Ana Duarte paint?",
        "Who likes the Hedge Trimmer?",
        "Who has the Long Ladder?",
        # Who buys does not sell.
        "What did Carla Rossi sell?",
        "Who sold the Long Ladder?",
        # One of the loans has not ended.
        "What has Bo Nyman returned?",
        # A ladder is of one class: ladders have kinds of their own.
        "How many kinds of ladder are there?",
        # Nobody did.
        "Who borrowed the Long Ladder?",
    ],
)
def test_what_no_word_says_of_rows_is_not_answered(service: Service, question: str) -> None:
    result = retrieve(service, question)
    assert result.status is not Status.OK
    assert result.answer is None


@pytest.mark.parametrize(
    "question", ["Who is Ana Duarte?", "Which tools are new?", "Who does Ana?"]
)
def test_other_questions_ask_for_no_other_side(question: str) -> None:
    assert other_side_span(question) is None
