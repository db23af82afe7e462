"""Where somebody is, and who they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import RetrievalResult, Status, Strategy
from graph_service.retrieve.learned.whereabouts import names_somebody
from graph_service.settings import Settings
from graph_service.store.protocol import Store
from loaders.load import load

MACHINES = """name,maker,depot,office,technician,country
Lift W4,Acme GmbH,Depot North,Room 12,Jo Hale,Chile
Saw S1,Bolt Ltd,Depot South,Room 14,Kim Lee,Peru
Drill D9,Cole Inc,Depot East,Room 3,Mia Noor,Ghana
"""
MAKERS = "name,city\nAcme GmbH,Kassel\nBolt Ltd,Leeds\nCole Inc,Austin\n"
STAFF = "name,job\nJo Hale,technician\nKim Lee,technician\nMia Noor,driver\n"


@pytest.fixture(scope="module")
def own_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tables")
    for name, text in (("machines", MACHINES), ("makers", MAKERS), ("staff", STAFF)):
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def machines(tmp_store: Store, own_tables: Path, tmp_path: Path) -> Service:
    load(own_tables, store=tmp_store, graph="machines")
    settings = Settings(cache_dir=str(tmp_path / "cache"), graph="machines")
    return open_service(tmp_store, settings=settings)


def ask(service: Service, question: str) -> RetrievalResult:
    return service.retrieve(RetrieveRequest(question, Strategy.PATHS))


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("Who is the mother of Maria Shriver?", Status.OK),
        ("Where is the mother of Maria Shriver?", Status.LOW_CONFIDENCE),
        ("Where is Maria Shriver's husband?", Status.LOW_CONFIDENCE),
        ("Where was the mother of Maria Shriver born?", Status.OK),
        ("Where is the birthplace of Maria Shriver?", Status.OK),
        ("Where was Maria Shriver married?", Status.LOW_CONFIDENCE),
        ("Where was Arnold Schwarzenegger elected?", Status.LOW_CONFIDENCE),
        ("Where did Maria Shriver go to school?", Status.OK),
    ],
)
def test_whom_a_question_names_is_not_where_they_are(
    demo_service: Service, question: str, status: Status
) -> None:
    assert ask(demo_service, question).status is status


@pytest.mark.parametrize(
    ("question", "status"),
    [
        ("Where is the maker of Saw S1?", Status.LOW_CONFIDENCE),
        ("Where can I find the technician of Saw S1?", Status.LOW_CONFIDENCE),
        ("Where is the maker of Saw S1 located?", Status.OK),
        ("Where is the depot of Saw S1?", Status.OK),
        ("Where is Saw S1's office?", Status.OK),
        ("Who is in the country of Saw S1?", Status.LOW_CONFIDENCE),
        ("Who is the technician of Saw S1?", Status.OK),
        ("Which country is Saw S1 from?", Status.OK),
    ],
)
def test_who_made_a_thing_of_a_table_is_not_where(
    machines: Service, question: str, status: Status
) -> None:
    """A technician is a job in one table and a column in another."""
    assert ask(machines, question).status is status


def test_nouns_that_end_alike_name_places_too() -> None:
    nouns = ("owner", "directors", "artist", "salesman", "captain", "center", "floors", "city")
    assert [noun for noun in nouns if names_somebody(noun)] == list(nouns[:5])
