"""Questions about people with numbers for names, and by verbs that mean columns (B13)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "workers": """Badge,Trade,Hired,Reports to,Hourly wage,Town,First aider
1042,welder,2022-01-27,,31.5,Goole,yes
1107,fitter,2005-03-18,1042,28.0,Hull,yes
1203,painter,2020-02-01,1042,22.4,Grimsby,no
1219,welder,2010-06-11,1042,26.0,Hull,no
1350,electrician,2016-09-19,1107,29.9,Hull,no
""",
    "vessels": """Vessel,Type,Owner,Length m
Kestrel,tug,Humber Towage,28
Petrel,pilot boat,Humber Towage,17
Santa Rosa,coaster,Lusomar,91
""",
    "jobs": """Job,Vessel,Foreman,Started,Cost GBP
J-301,Petrel,1350,2023-07-05,8800
J-302,Kestrel,1203,2024-05-23,61010
J-303,Petrel,1107,2024-08-08,4100
J-304,Santa Rosa,1042,2024-02-08,900
""",
    "crew": """Name,Role,Born in,Salary,Manager
Jo Marsh,captain,Bergen,5200,
Li Wong,mate,Oslo,4100,Jo Marsh
Pete Rudd,cook,Hull,3000,Jo Marsh
""",
    "pets": """Pet,Species,Weight kg,Keeper
Rolo,rabbit,2.4,Ann Beck
Mimi,cat,4.1,Tom Hale
""",
    "pieces": """Title,Composer,Year
Abendlied,Josef Rheinberger,1855
Locus iste,Anton Bruckner,1869
Sleep,Eric Whitacre,2000
""",
    "concerts": """Concert,Date,Venue,Conductor
Spring Evening,2024-04-13,Castle Garden,Karin Holm
Harvest Night,2024-10-05,Town Hall,Leo Brandt
Candlemas,2025-02-02,Old Chapel,Leo Brandt
""",
    "tutoring": """Session,Tutor,Pupil,Fee
T1,Mr. Pike,Ana Reis,20
T2,Mr. Pike,Ben Cole,20
T3,Ms. Low,Ana Reis,25
""",
}


service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("Who does 1350 report to?", {"1107"}, id="reports to a number"),
        pytest.param("who reports to 1042?", {"1107", "1203", "1219"}, id="numbers report"),
        pytest.param("Who was the foreman on J-302?", {"1203"}, id="foreman"),
        pytest.param("Which welders live in Hull?", {"1219"}, id="live in a town"),
        pytest.param("Who was hired first?", {"1107"}, id="who by an order"),
        pytest.param("who reports to Jo Marsh?", {"Li Wong", "Pete Rudd"}, id="by a manager"),
        pytest.param("who isn't a first aider?", {"1203", "1219", "1350"}, id="isn't"),
        pytest.param("Which jobs don't cost over 5000?", {"J-303", "J-304"}, id="don't"),
        pytest.param("Which piece is the oldest?", {"Abendlied"}, id="by a bare year"),
        pytest.param("Who works as a welder?", {"1042", "1219"}, id="by a trade"),
        pytest.param(
            "How many workers does each trade have?",
            {"welder: 2", "fitter: 1", "painter: 1", "electrician: 1"},
            id="not those whom they report to",
        ),
        pytest.param(
            "Which concerts were held in 2024?", {"Spring Evening", "Harvest Night"}, id="held"
        ),
        pytest.param("how much does Rolo weigh?", {"2.4 kg"}, id="the verb of a weight"),
    ],
)
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("how much does Rolo eat?", id="a weight is not eaten"),
        pytest.param("Who works in Hull?", id="born there"),
        pytest.param("Who lives in Bergen?", id="lives where born"),
        pytest.param("What does Mr. Pike teach?", id="rows of tutoring"),
    ],
)
def test_what_is_not_answered_for_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("What kind of ship is the Petrel?", "pilot boat", id="no jobs on it"),
        pytest.param("what kind of boat is the Kestrel?", "tug", id="a noun of none"),
        pytest.param("Where does 1042 live?", "Goole", id="a town"),
    ],
)
def test_what_comes_first(service: Service, question: str, expected: str) -> None:
    first = retrieve(service, question).items[0].steps[-1].triple
    assert first.value_label == expected
