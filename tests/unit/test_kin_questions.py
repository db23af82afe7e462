"""Questions about kin, texts, countries and either of two, over a graph without classes (B13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from table_service import answers, retrieve

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Status, Strategy
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load

_PEOPLE = {
    "rolf": ("Rolf Aaker", "1901-02-03", "1960-05-06", "Narvik", "sailor", "", ""),
    "ada": ("Ada Brandt", "1905-07-08", "1990-01-02", "Lübeck", "nurse", "", ""),
    "nils": ("Nils Aaker", "1930-03-04", "2001-10-11", "Narvik", "judge", "rolf", "ada"),
    "ines": ("Ines Aaker", "1934-12-01", "", "Lübeck", "painter", "rolf", "ada"),
    "otto": ("Otto Vale", "1931-06-07", "2010-03-03", "Ghent", "pilot", "", ""),
    "lena": ("Lena Vale", "1960-09-10", "", "Ghent", "chemist", "otto", "ines"),
    "paul": ("Paul Vale", "1964-04-05", "", "Ghent", "pilot", "otto", "ines"),
}
_COUPLES = (("rolf", "ada"), ("ines", "otto"))
_COUNTRIES = {"Narvik": "Norway", "Lübeck": "Germany", "Ghent": "Belgium"}
_FILMS = {
    "Salt": ("Rolf Aaker", "", "310", "saga"),
    "Tides": ("Ines Aaker", "", "520", "memoir"),
    "Rust": ("Ines Aaker", "", "140", "saga"),
    "Ash": ("Otto Vale", "Ines Aaker", "400", "saga"),
}


def _triples() -> Iterator[str]:
    def line(head: str, relation: str, tail: str) -> str:
        return f"<http://x.example/{head}> <http://x.example/rel/{relation}> {tail} ."

    def entity(name: str) -> str:
        return f"<http://x.example/{name.replace(' ', '_')}>"

    def label(name: str, text: str) -> str:
        rdfs = "<http://www.w3.org/2000/01/rdf-schema#label>"
        return f'{entity(name)} {rdfs} "{text}"@en .'

    def date(day: str) -> str:
        return f'"{day}"^^<http://www.w3.org/2001/XMLSchema#date>'

    ids = {person[0]: key for key, person in _PEOPLE.items()}
    for key, (name, born, died, birthplace, job, father, mother) in _PEOPLE.items():
        yield label(key, name)
        yield line(key, "dateOfBirth", date(born))
        yield line(key, "placeOfBirth", entity(birthplace))
        yield line(key, "occupation", f'"{job}"@en')
        if died:
            yield line(key, "dateOfDeath", date(died))
        if father:
            yield line(key, "hasFather", entity(father))
            yield line(key, "hasMother", entity(mother))
    yield label("vale_brothers", "Vale Brothers")
    yield line("Rust", "ownedBy", entity("vale_brothers"))
    for spouse, other in _COUPLES:
        yield line(spouse, "marriedTo", entity(other))
        yield line(other, "marriedTo", entity(spouse))
    for city, country in _COUNTRIES.items():
        yield label(city, city)
        yield label(country, country)
        yield line(city, "locatedIn", entity(country))
        yield line(country, "locatedNextToBodyOfWater", entity("sea"))
        yield line(country, "location", entity("north"))
    yield label("Finland", "Finland")
    yield line("Norway", "sharesBorderWith", entity("Finland"))
    yield line("Finland", "location", entity("north"))
    yield line("Finland", "locatedNextToBodyOfWater", entity("sea"))
    for title, (director, writer, minutes, genre) in _FILMS.items():
        yield label(title, title)
        yield label(genre, genre)
        yield line(title, "director", entity(ids[director]))
        yield line(title, "genre", entity(genre))
        yield line(title, "duration", f'"{minutes}"^^<http://www.w3.org/2001/XMLSchema#integer>')
        if writer:
            yield line(title, "screenwriter", entity(ids[writer]))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("kin")
    source = folder / "kin.nt"
    source.write_text("\n".join(_triples()) + "\n")
    with open_store(f"sqlite:///{folder / 'g.db'}") as store:
        load(source, store=store, graph="kin")
        settings = Settings(
            vectors=str(folder / "v.db"), cache_dir=str(folder / "cache"), graph="kin"
        )
        with open_service(store, settings=settings) as service:
            yield service


def _end(result: PathsResult) -> str:
    last = result.items[0].steps[-1]
    return last.triple.head.label if last.reversed else last.triple.value_label


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        pytest.param("Which child of Rolf Aaker was a painter?", {"Ines Aaker"}, id="a text"),
        pytest.param("Which children of Rolf Aaker were not painters?", {"Nils Aaker"}, id="no text"),
        pytest.param("Who is the youngest child of Rolf Aaker?", {"Ines Aaker"}, id="the youngest"),
        pytest.param("Was Rolf Aaker a sailor?", {"yes"}, id="a text and no relation"),
        pytest.param("Did Vale Brothers own Rust?", {"yes"}, id="a name that ends with kin"),
        pytest.param("Was Rust owned by Vale Brothers?", {"yes"}, id="a verb in the passive"),
        pytest.param("Who died first, Rolf Aaker or Otto Vale?", {"Rolf Aaker"}, id="by a verb"),
        pytest.param("Who was born last, Rolf Aaker or Otto Vale?", {"Otto Vale"}, id="born last"),
        pytest.param("Who was born in Narvik or Ghent?",
                     {"Rolf Aaker", "Nils Aaker", "Otto Vale", "Lena Vale", "Paul Vale"},
                     id="either of two places"),
        pytest.param("How many films did Rolf Aaker or Ines Aaker direct?", {"3"},
                     id="the number of either"),
        pytest.param("Which films directed by Ines Aaker are not sagas?", {"Tides"}, id="no entity"),
        pytest.param("What is the longest film that Ines Aaker directed?", {"Tides"},
                     id="the longest by a relation that is said"),
    ],
)  # fmt: skip
def test_what_is_answered(service: Service, question: str, expected: set[str]) -> None:
    result = retrieve(service, question)
    assert answers(result) == expected
    assert result.status is Status.OK


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("In which country was Rolf Aaker born?", "Norway"),
        ("In which country was Ines Aaker's husband born?", "Belgium"),
        ("In which city was Rolf Aaker born?", "Narvik"),
        ("Which country does Norway border?", "Finland"),
        ("What was Rolf Aaker's date of death?", "1960-05-06"),
    ],
)
def test_what_the_first_path_leads_to(service: Service, question: str, expected: str) -> None:
    result = retrieve(service, question)
    assert (_end(result), result.status) == (expected, Status.OK)


@pytest.mark.parametrize(
    "question",
    [
        pytest.param("What is Ines Aaker's date of death?", id="another date"),
        pytest.param(
            "What is the longest film by Ines Aaker?", id="the longest by either relation"
        ),
        pytest.param("Was Nils Aaker a sailor?", id="another text"),
        pytest.param("Did Rust own Vale Brothers?", id="the other way about"),
        pytest.param("Were Vale Brothers owned by Rust?", id="the other way about, in the passive"),
        pytest.param("Which daughter of Otto Vale was a pilot?", id="of a sex that none says"),
        pytest.param("Which daughters of Otto Vale were born in Ghent?", id="a sex beside a place"),
    ],
)
def test_what_is_not_answered_for_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who were Lena Vale's mother and father?", ["Ines Aaker", "Otto Vale"]),
        ("Who are the director and screenwriter of Ash?", ["Otto Vale", "Ines Aaker"]),
        ("Where were Nils Aaker, Lena Vale and Ada Brandt born?", ["Narvik", "Ghent", "Lübeck"]),
        ("Was Otto Vale or Rolf Aaker born in Ghent?", ["yes", "no"]),
    ],
)
def test_each_of_several_is_answered(service: Service, question: str, expected: list[str]) -> None:
    result = retrieve(service, question)
    readings = [
        _end(replace(result, items=tuple(result.items[item] for item in part.item_indexes)))
        if part.answer is None
        else part.answer.value
        for part in result.parts
    ]
    assert readings == expected


def test_kin_is_read_of_the_name_that_owns_it(service: Service) -> None:
    result = retrieve(service, "Which children of Otto Vale were born in Ghent?")
    assert result.interpretation is not None
    # Either may be the start, the other then constrains.
    parts = result.interpretation.text.removeprefix("those whose ").split(" and whose ")
    assert sorted(parts) == ["father is Otto Vale", "place of birth is Ghent"]
    assert answers(result) == {"Lena Vale", "Paul Vale"}
    assert result.status is Status.OK


def test_the_reading_is_said_with_both_names(service: Service) -> None:
    result = retrieve(service, "Who was born in Narvik or Ghent?")
    assert result.interpretation is not None
    assert result.interpretation.text == "those whose place of birth is Ghent or Narvik"
    assert result.interpretation.unread == ()


def test_the_reading_is_said_with_a_text(service: Service) -> None:
    result = retrieve(service, "Which children of Rolf Aaker were not painters?")
    assert result.interpretation is not None
    expected = 'those whose father is Rolf Aaker and whose occupation is not "painter"'
    assert result.interpretation.text == expected


def test_a_pronoun_for_one_of_two_is_not_sure(service: Service) -> None:
    earlier = "Who was the teacher of the painter Ines Aaker?"
    result = service.retrieve(
        RetrieveRequest("Where was he born?", Strategy.PATHS, earlier=(earlier,))
    )
    assert result.status is not Status.OK


@pytest.mark.parametrize(
    "question",
    [
        "Who are Lena Vale's siblings?",
        "Who is the sister of Paul Vale?",
        "Who is the grandmother of Lena Vale?",
    ],
)
def test_kin_that_other_kin_leads_to_is_not_said_to_lack(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.NOT_IN_GRAPH
