"""Questions about a region in DBpedia's words: who lives where, and who belongs to what."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from table_service import answers, retrieve

from graph_service import Service, open_service
from graph_service.model.result import Status
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load

_REGION = """
@prefix dbo: <http://dbpedia.org/ontology/> .
@prefix dbr: <http://dbpedia.org/resource/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
dbr:Ostwick a dbo:City ; rdfs:label "Ostwick"@en ; dbo:populationTotal 312450 ;
  dbo:mayor dbr:Greta_Lund .
dbr:Linmouth a dbo:City ; rdfs:label "Linmouth"@en ; dbo:populationTotal 58210 ;
  dbo:mayor dbr:Ivo_Marsh .
dbr:Greta_Lund a dbo:Person ; rdfs:label "Greta Lund"@en ; dbo:birthPlace dbr:Linmouth ;
  dbo:party dbr:Green_League ; dbo:child dbr:Astrid_Lund ; dbo:spouse dbr:Per_Lund .
dbr:Ivo_Marsh a dbo:Person ; rdfs:label "Ivo Marsh"@en ; dbo:birthPlace dbr:Ostwick ;
  dbo:party dbr:Republican_Party ; dbo:positionHeld dbr:Governor_of_Norrland .
dbr:Astrid_Lund a dbo:Person ; rdfs:label "Astrid Lund"@en ; dbo:birthPlace dbr:Ostwick ;
  dbo:occupation dbr:Cyclist .
dbr:Per_Lund a dbo:Person ; rdfs:label "Per Lund"@en ; dbo:occupation dbr:Architect ;
  dbo:positionHeld dbr:Vice_President_of_Norrland .
dbr:Greta_Lund <http://x.example/doctorateFrom> dbr:University_of_Linmouth .
dbr:University_of_Linmouth rdfs:label "University of Linmouth"@en .
dbr:Bridge_Fund a <http://x.example/ResearchProject> ; rdfs:label "Bridge Fund"@en .
<http://x.example/livesIn> rdfs:label "lives in" .
dbr:Ivo_Marsh <http://x.example/livesIn> dbr:Ostwick .
<http://x.example/speaks> rdfs:label "speaks" .
dbr:Astrid_Lund <http://x.example/speaks> dbr:Norric .
dbr:Norric a dbo:Language ; rdfs:label "Norric"@en .
dbr:Cyclist rdfs:label "Cyclist"@en .
dbr:Architect rdfs:label "Architect"@en .
dbr:Green_League a dbo:PoliticalParty ; rdfs:label "Green League"@en .
dbr:Republican_Party a dbo:PoliticalParty ; rdfs:label "Republican Party"@en .
dbr:Governor_of_Norrland rdfs:label "Governor of Norrland"@en .
dbr:Vice_President_of_Norrland rdfs:label "Vice President of Norrland"@en .
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("region")
    source = folder / "region.ttl"
    source.write_text(_REGION)
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load(source, store=store, graph="region")
        settings = Settings(
            vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"), graph="region"
        )
        with open_service(store, settings=settings) as service:
            yield service


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many people live in Ostwick?", {"312450"}),
        ("Is Greta Lund a member of the Green League?", {"yes"}),
        ("Does Ivo Marsh belong to the Green League?", {"no"}),
        ("Was Per Lund a vice president?", {"yes"}),
        ("Is Ivo Marsh a Republican?", {"yes"}),
        pytest.param("How many projects are there?", {"1"}, id="a class by its last word"),
    ],
)
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    result = retrieve(service, question)
    assert (answers(result), result.status) == (expected, Status.OK)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("Which people live in Linmouth?", id="a birth tells of no home"),
        pytest.param("Where does Greta Lund live?", id="nor of the home of one"),
        pytest.param("What does the daughter of Greta Lund do?", id="not who she is"),
        pytest.param("What does Greta Lund's husband do?", id="not who he is"),
        pytest.param("Was Per Lund ever president?", id="a vice president is none"),
        pytest.param("Is Ivo Marsh a governor?", id="what was held may be over"),
        pytest.param("Which of its mayors lives in Ostwick?", id="not the city of the mayor"),
        pytest.param("Where do people speak Norric?", id="people are no place"),
        pytest.param("Is the Green League a member of Greta Lund?", id="the other way about"),
    ],
)
def test_what_is_not_answered_for_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_what_several_do_is_told_of_each(service: Service) -> None:
    result = retrieve(service, "What do Astrid Lund and Per Lund do?")
    ends = [result.items[part.item_indexes[0]].steps[-1].triple for part in result.parts]
    assert [end.value_label for end in ends] == ["Cyclist", "Architect"]


def test_where_a_degree_is_from_is_a_place(service: Service) -> None:
    result = retrieve(service, "Where did Greta Lund get her doctorate?")
    assert result.items[0].steps[-1].triple.value_label == "University of Linmouth"
    assert result.status is Status.OK
