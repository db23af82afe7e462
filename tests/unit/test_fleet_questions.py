"""Questions about trips, drivers and vehicles, and about films that are shown (B13)."""

from __future__ import annotations

import pytest
from table_service import answers, retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "vehicles": """Registration,Model,Depot,Tail lift
LM22 TTZ,Volvo FH,Northgate,yes
WB23 NEW,DAF XF,Northgate,no
SA15 OLD,MAN TGL,Quarry Road,no
""",
    "drivers": """Driver,Licence,Hourly rate (GBP),Depot
Terry Blunt,C+E,19.50,Northgate
Gwen Parry,C,16.80,Quarry Road
Ann Moss,C,17.20,Northgate
Wojtek Bania,C+E,20.10,Northgate
""",
    # From and To are columns of a trip, which has a number: no edges.
    "trips": """Trip,Date,Vehicle,Driver,From,To,Distance (km)
T2401,2025-02-03,LM22 TTZ,Terry Blunt,Leeds,Cardiff,372
T2402,2025-02-04,WB23 NEW,Terry Blunt,Cardiff,Bristol,71
T2403,2025-02-04,SA15 OLD,Gwen Parry,Leeds,York,40
""",
    "depots": """Depot,Open day,Time zone
Northgate,Saturday,Europe/London
Quarry Road,Friday,Europe/Dublin
""",
    "films": """Film,Running time (min),Ticket price (EUR),Wheelchair access
Borrowed Shoes,102,7.5,yes
Concrete Garden,88,9.0,no
""",
}


service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Terry Blunt drive?", {"LM22 TTZ", "WB23 NEW"}),
        ("How many trips are there?", {"3"}),
        ("Which vehicle has a tail lift?", {"LM22 TTZ"}),
    ],
)
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("What time does Borrowed Shoes start?", id="minutes are no time of day"),
        pytest.param("Which films are wheelchair accessible?", id="no list of yes and no"),
        pytest.param(
            "What is the average hourly rate of drivers with a B+E licence?", id="no part of it"
        ),
    ],
)
def test_what_is_not_answered(service: Service, question: str) -> None:
    result = retrieve(service, question)
    assert result.status is not Status.OK or answers(result) <= {"Borrowed Shoes"}


def test_where_a_thing_is_may_be_said_by_a_word_of_ones_own(service: Service) -> None:
    assert retrieve(service, "Where is WB23 NEW based?").status is not Status.NOT_IN_GRAPH


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("On which day is Northgate open?", "Saturday"),
        ("What time zone is Quarry Road in?", "Europe/Dublin"),
    ],
)
def test_days_of_the_week_are_times_and_zones_are_none(
    service: Service, question: str, expected: str
) -> None:
    result = retrieve(service, question)
    assert result.items[0].steps[-1].triple.value_label == expected
    assert result.status is Status.OK
