"""Things without a class, places in places, and words that nothing reads, over an RDF graph."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from table_service import retrieve, sure_answers

from graph_service import Service, open_service
from graph_service.model.result import Status
from graph_service.retrieve.learned.confidence import DOUBTED
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load

GRAPH = """
@prefix : <http://x.example/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:city rdfs:label "city"@en .
:building rdfs:label "building"@en .
:island rdfs:label "island"@en .
:country rdfs:label "country"@en .
:headquarters rdfs:label "headquarters location"@en .
:currency rdfs:label "currency"@en .
:partOf rdfs:label "region"@en .
:mayor rdfs:label "mayor"@en .
:language rdfs:label "language used"@en .
:in rdfs:label "country"@en .
:league rdfs:label "Sorrel League"@en ; :headquarters :torby, :vask, :odder, :house .
:torby a :city ; rdfs:label "Torby"@en ; :in :norvia .
:vask a :city ; rdfs:label "Vask"@en ; :in :norvia .
:odder rdfs:label "Odder"@en ; :in :suland .
:house a :building ; rdfs:label "League House"@en .
:norvia a :country ; rdfs:label "Norvia"@en ; :currency :crown ; :mayor :nobody .
:suland a :country ; rdfs:label "Suland"@en ; :currency :crown .
:brack rdfs:label "Brack"@en ; :currency :crown .
:exchange a :building ; rdfs:label "Torby Exchange"@en ; :currency :crown .
:crown rdfs:label "Norvian crown"@en .
:holm a :island ; rdfs:label "Holm"@en ; :in :norvia ; :language :sulish .
:skerry a :island ; rdfs:label "Skerry"@en ; :in :norvia ; :language :norvian .
:sulish rdfs:label "Sulish"@en ; :in :suland .
:norvian rdfs:label "Norvian"@en ; :in :norvia .
:locatedIn rdfs:label "located in"@en .
:torby :locatedIn :norvia .
:vask :locatedIn :norvia .
:odder :in :norvia .
:ship rdfs:label "Norvia"@en ; :owner :league .
:owner rdfs:label "owner"@en .
:industry rdfs:label "industry"@en .
:otter rdfs:label "Otter Films"@en ; :industry :film .
:brisk rdfs:label "Brisk Films"@en ; :industry :film .
:film rdfs:label "film studio"@en .
:within rdfs:label "within"@en .
:site rdfs:label "site"@en .
:parish rdfs:label "parish"@en .
:moor rdfs:label "Vallmoor"@en .
:hoxley a :parish ; rdfs:label "Hoxley"@en ; :within :moor .
:stennet a :parish ; rdfs:label "Stennet"@en ; :within :moor .
:villa a :site ; rdfs:label "Roman villa"@en ; :within :stennet .
:fort a :site ; rdfs:label "Hillfort"@en ; :within :hoxley .
:tor a :site ; rdfs:label "High Tor"@en ; :within :moor .
:book rdfs:label "How Many Are Left"@en ; :writtenBy :ysolde .
:writtenBy rdfs:label "written by"@en .
:ysolde rdfs:label "Ysolde Marr"@en ; :educatedAt :vessel .
:educatedAt rdfs:label "educated at"@en .
:vessel a :Q1703577 ; rdfs:label "Vessel School"@en .
:war rdfs:label "Sorrel War"@en ; :participant :norvia, :suland .
:participant rdfs:label "participant"@en .
:lost rdfs:label "Lost"@en ; :origin :norvia .
:origin rdfs:label "country of origin"@en .
:museum a :building ; rdfs:label "Vallmoor Museum"@en ; :within :hoxley .
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("open")
    (folder / "g.ttl").write_text(GRAPH)
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load(folder / "g.ttl", store=store, graph="open")
        settings = Settings(
            vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"), graph="open"
        )
        with open_service(store, settings=settings) as service:
            yield service


def test_values_without_a_class_may_be_what_is_asked_for(service: Service) -> None:
    question = "Which cities are the headquarters locations of the Sorrel League?"
    assert sure_answers(service, question) == {"Torby", "Vask", "Odder"}
    interpretation = retrieve(service, question).interpretation
    assert interpretation is not None
    assert interpretation.text.endswith("that are cities or of no known class")
    assert "|| (!(EXISTS {" in (interpretation.sparql or "")


def test_what_has_a_value_is_of_any_class(service: Service) -> None:
    question = "Which countries have the currency Norvian crown?"
    assert sure_answers(service, question) == {"Norvia", "Suland"}


def test_islands_say_themselves_where_they_are(service: Service) -> None:
    assert sure_answers(service, "Which islands are in Norvia?") == {"Holm", "Skerry"}
    assert retrieve(service, "Which islands belong to Suland?").status is not Status.OK


def test_name_beyond_a_verb_tells_no_namesakes_apart(service: Service) -> None:
    result = retrieve(service, "In what region of Norvia is the city of Odder located?")
    assert result.status is not Status.OK
    assert result.interpretation is not None
    assert result.interpretation.unread == ("odder",)


def test_name_that_is_like_a_relation_is_left_unread(service: Service) -> None:
    result = retrieve(service, "Which cities of Norvia are in Guatemala?")
    assert result.status is not Status.OK
    assert result.interpretation is not None
    assert result.interpretation.unread == ("guatemala",)


def test_what_is_hardly_read_is_doubted(service: Service) -> None:
    result = retrieve(service, "What film studio makes otter movies?")
    assert result.interpretation is not None
    assert result.interpretation.unread == ("otter",)
    assert result.confidence is not None
    assert result.confidence <= DOUBTED


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which sites are in Vallmoor?", {"Roman villa", "Hillfort", "High Tor"}),
        ("How many sites are in Vallmoor?", {"3"}),
        ("Which parishes are in Vallmoor?", {"Hoxley", "Stennet"}),
        ("Is High Tor in Vallmoor?", {"yes"}),
        ("Is Hoxley in Vallmoor?", {"yes"}),
    ],
)
def test_what_is_in_a_part_of_a_place_is_in_the_place(
    service: Service, question: str, expected: set[str]
) -> None:
    assert sure_answers(service, question) == expected


def test_place_is_not_where_a_thing_with_its_name_is(service: Service) -> None:
    assert retrieve(service, "Is Vallmoor in Hoxley?").status is not Status.OK


def test_title_that_asks_how_many_counts_nothing(service: Service) -> None:
    assert sure_answers(service, "Who wrote How Many Are Left?") == {"Ysolde Marr"}


def test_id_of_a_class_is_no_name_of_people(service: Service) -> None:
    assert sure_answers(service, "Where was Ysolde Marr educated?") == {"Vessel School"}


def test_verb_after_who_is_no_title(service: Service) -> None:
    result = retrieve(service, "Who lost the Sorrel War?")
    assert result.status is not Status.OK
    assert not any(each.text == "lost" for each in result.constraints)
