"""What is not answered by rows of sales, nor by a number of something else (B13)."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "products": """SKU,Product,Category,Brand,Price,Vegan
T-100,Green Tea,Tea,Leafy,4.50 EUR,yes
C-200,House Espresso,Coffee,Rossi,9.80 EUR,yes
H-300,Forest Honey,Spread,Bienen,6.20 EUR,no
B-400,Rye Crackers,Biscuit,Nordic,2.80 EUR,yes
B-401,Butter Cookies,Biscuit,Nordic,3.20 EUR,no
""",
    "customers": """Customer ID,First name,Last name,City,Country
1,Ines,Duarte,Porto,Portugal
2,Karl,Lindqvist,Malmo,Sweden
3,Hugo,Martin,Lyon,France
""",
    "sales": """Date,Customer ID,Product,Quantity,Channel
2024-03-01,1,Green Tea,3,online
2024-03-01,2,House Espresso,1,shop
2024-03-02,3,Forest Honey,2,online
2024-03-05,1,Rye Crackers,5,online
2024-03-09,3,House Espresso,2,shop
""",
    "suppliers": """Brand,Contact,Country,Delivery days
Leafy,Kenji Sato,Japan,14
Rossi,Giulia Rossi,Italy,4
Bienen,Jens Bohm,Germany,3
Nordic,Siv Aas,Norway,6
""",
    "buildings": """Building,Built,Floors,City
Rosenhof,1962,5,Freiburg
Sonnenblick,1998,8,Freiburg
Parkresidenz,2015,6,Konstanz
""",
    "flats": """Flat,Building,Floor,Rooms
R-01,Rosenhof,0,2
R-02,Rosenhof,1,3
S-11,Sonnenblick,1,4
S-23,Sonnenblick,2,2
S-71,Sonnenblick,7,3
P-05,Parkresidenz,0,3
""",
}


service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("How many sales were there online?", {"3"}, id="sales are things"),
        pytest.param("How many flats are in Sonnenblick?", {"3"}, id="no floors"),
        pytest.param("How many floors does Sonnenblick have?", {"8"}, id="floors"),
        pytest.param("Which flats in Konstanz are there?", {"P-05"}, id="by a building's city"),
        pytest.param("Which brands are from Italy?", {"Rossi"}, id="by the header of their key"),
    ],
)
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize("question", ["Who makes Forest Honey?", "Who is our contact in Japan?"])
def test_what_is_not_answered_for_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is Status.LOW_CONFIDENCE
