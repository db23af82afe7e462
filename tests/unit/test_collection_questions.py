"""Questions about a collection with a shop, in a vocabulary of its own: whose students, found where,
last restored, misspelt words, and addresses that are blank nodes.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from table_service import retrieve

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Status, Strategy
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load

_COLLECTION = """
@prefix : <http://collection.example/> .
@prefix v: <http://collection.example/terms/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:reed a v:Find ; rdfs:label "Reed Brooch" ; v:foundAt :moor ; v:material "silver" ;
  v:restoredOn "2019-04-02"^^xsd:date .
:bowl a v:Find ; rdfs:label "Salt Bowl" ; v:foundAt :moor ; v:foundBy :ada ; v:material "clay" ;
  v:restoredOn "2021-09-30"^^xsd:date .
:pin a v:Find ; rdfs:label "Heron Pin" ; v:foundAt :moor ; v:foundBy :bo ; v:material "bronze" .
:moor a v:Site ; rdfs:label "Vale Moor" .
:ada a v:Person ; rdfs:label "Ada Moor" ; v:studentOf :per ; v:hired "2004-05-01"^^xsd:date .
:bo a v:Person ; rdfs:label "Bo Lind" ; v:memberOf :crew ; v:studentOf :ada ; v:supervisor :ada ;
  v:hired "2011-02-01"^^xsd:date .
:per a v:Person ; rdfs:label "Dr. Per Falk" ; v:hired "1998-03-01"^^xsd:date .
:shop a v:Shop ; rdfs:label "Vale Shop" ; v:telephone "555 0199" ; v:category "books" ;
  v:address [ v:street "Kay 1" ; v:town "Voss" ] ; v:scales [ v:reading 4 ] .
:crew a v:Team ; rdfs:label "Bog Crew" .
:loans a v:Department ; rdfs:label "Loans" ; v:floor 3 .
:prints a v:Department ; rdfs:label "Prints" ; v:floor 1 .
:basketry a v:Course ; rdfs:label "Basketry" ; v:instructor :ada .
:opening a v:Tour ; rdfs:label "Night Tour" ; v:startedOn "2024-03-09"^^xsd:date .
:second a v:Tour ; rdfs:label "Day Tour" ; v:startedOn "2023-03-10"^^xsd:date .
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("collection")
    source = folder / "collection.ttl"
    source.write_text(_COLLECTION)
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load(source, store=store, graph="collection")
        settings = Settings(
            vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"), graph="collection"
        )
        with open_service(store, settings=settings) as service:
            yield service


def shown(result: PathsResult) -> str:
    """Returns the answer, or where the best path ends."""
    if result.answer is not None:
        return result.answer.text
    last = result.items[0].steps[-1]
    return last.triple.head.label if last.reversed else last.triple.value_label


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who were the students of Ada Moor?", "Bo Lind"),
        ("Who are Ada Moor's students?", "Bo Lind"),
        ("Who is Bo Lind a student of?", "Ada Moor"),
        ("Where was the Reed Brooch found?", "Vale Moor"),
        ("Who found the Salt Bowl?", "Ada Moor"),
        ("What is the phone number of the Vale Shop?", "555 0199"),
        ("Who teaches Basketry?", "Ada Moor"),
        ("When was Dr. Falk hired?", "1998-03-01"),
        ("What is the address of the Vale Shop?", "Kay 1, Voss"),
        ("Which find was restored most recently?", "Salt Bowl"),
        ("Which find was last restored?", "Salt Bowl"),
        ("Which find was first restored?", "Reed Brooch"),
        ("Which tours happened in March 2024?", "Night Tour"),
        ("Who is the supervisr of Bo Lind?", "Ada Moor"),
        ("Who is the instuctor of Basketry?", "Ada Moor"),
    ],
)
def test_what_the_graph_states_is_answered(service: Service, question: str, expected: str) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert shown(result) == expected


@pytest.mark.parametrize(
    "question",
    [
        # Whose teacher is no student, where no teacher, and who neither a team nor a tour.
        "Who was the teacher of Dr. Per Falk?",
        "Where did Bo Lind study?",
        "Who else is in the team of Bo Lind?",
        "Who has a tour in March 2024?",
        "Who works on floor 3?",
        # A blank node is no answer, a place is nobody who found it, and a category no rating.
        "What are the scales of the Vale Shop?",
        "Who found the Reed Brooch?",
        "What rating does the Vale Shop have?",
        "Who is the suprvizr of Bo Lind?",
    ],
)
def test_what_the_graph_lacks_is_not_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_a_misspelt_word_is_corrected(service: Service) -> None:
    question = "Who is the supervisr of Bo Lind?"
    result = retrieve(service, question)
    assert result.question == question
    assert [question[each.start : each.end] for each in result.linked] == ["Bo Lind"]
    [outcome] = service.retrieve_many([RetrieveRequest(question, Strategy.PATHS)])
    assert isinstance(outcome, PathsResult)
    assert outcome.id == result.id
