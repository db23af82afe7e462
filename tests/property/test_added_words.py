"""Questions with a word more, or another name, than the graph can tell of: none is answered for sure.

Each question is sure as it stands. What a transformation adds to it is stated nowhere in the graph, so
that the same answer would leave it out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import pytest
from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "boats": """Name,Built by,Home port,Skipper,Launched
Petrel,Holm Yard,Kelmouth,Ada Lind,1958
Osprey,Holm Yard,Saltwick,Bo Falk,1971
Curlew,Varn Works,Kelmouth,Ida Moe,1990
""",
    "skippers": """Name,Lives in,Trained by,Employer
Ada Lind,Kelmouth,Bo Falk,Brine Lines
Bo Falk,Saltwick,Ida Moe,Brine Lines
Ida Moe,Kelmouth,Per Dahl,Noor Ferries
""",
}
QUESTIONS = {
    "Who built Petrel?": "Petrel",
    "When was Petrel launched?": "Petrel",
    "Where does Ada Lind live?": "Ada Lind",
    "Who is the employer of Ida Moe?": "Ida Moe",
    "Where does the skipper of Osprey live?": "Osprey",
    "Was Curlew built by Varn Works?": "Curlew",
}
Transformation = Callable[[str, str], Iterable[str]]


def _with_end(*ends: str) -> Transformation:
    return lambda question, _: [f"{question[:-1]} {end}?" for end in ends]


def _with_name(*forms: str) -> Transformation:
    return lambda question, name: [question.replace(name, form.format(name)) for form in forms]


def _about(*questions: str) -> Transformation:
    return lambda _, name: [each.format(name) for each in questions]


def _with_start(*starts: str) -> Transformation:
    """Puts other words for the question word."""
    return lambda question, _: [re.sub(r"^\w+", start, question) for start in starts]


def _after_who(*words: str) -> Transformation:
    return lambda question, _: [re.sub(r"^Who ", f"Who {word} ", question) for word in words]


TRANSFORMATIONS: dict[str, Transformation] = {
    "clause": _with_end("that plays the banjo", "who likes football", "that nobody likes"),
    "phrase": _with_end("with red hair", "made of wood", "from Peru", "in Esperanto"),
    "time": _with_end("ten years ago", "during the war", "before the flood"),
    "owner": _with_name("the rival of {}", "{}'s dentist", "the opposite of {}"),
    "other name": _with_name("New {}", "{} XII", "{} Quenby", "anything but {}"),
    "other noun": _about("Who is the dentist of {}?", "What is the shoe size of {}?"),
    "other verb": _about("Who painted {}?", "Where was {} repaired?", "Who hates {}?"),
    "opinion": _about("Why is {} famous?", "Should I visit {}?", "What is the best of {}?"),
    "supposed": _after_who("should", "might", "almost", "tried to", "used to"),
    "cause": _with_start("Why"),
}


service = service_of(TABLES)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_is_sure_as_it_stands(service: Service, question: str) -> None:
    assert retrieve(service, question).status is Status.OK


@pytest.mark.parametrize("kind", TRANSFORMATIONS)
def test_what_the_graph_cannot_tell_of_leaves_no_answer_sure(service: Service, kind: str) -> None:
    changed = {
        text
        for question, name in QUESTIONS.items()
        for text in TRANSFORMATIONS[kind](question, name)
    } - QUESTIONS.keys()
    sure = [text for text in sorted(changed) if retrieve(service, text).status is Status.OK]
    assert sure == []
