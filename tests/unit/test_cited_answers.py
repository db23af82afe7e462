"""Each thing that an answer names has its own statements cited, in the same order (K1)."""

from __future__ import annotations

from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.render import MOST_CITED, cited_triples
from queries.generate.verbalise import verbalise

WORKERS = ("Tom Ray", "Ida Falk", "Sam Moe", "Kim Lund", "Liv Fox", "Bo Dahl", "Una Gray")
service = service_of(
    {
        "staff": "No,Name,Manager,Team\nE0,Ada Roy,,Sales\n"
        + "".join(f"E{row},{name},Ada Roy,Sales\n" for row, name in enumerate(WORKERS[:3], 1))
        + "E4,Kim Lund,Tom Ray,Stores\n",
        "shows": "Show,Star\n" + "".join(f"Show {row} of Oslo,Ann Lee\n" for row in range(7)),
        "clients": "Client,Country,Plan\nAlpine,Norway,Basic\nBergen,Norway,Pro\nCasa,Spain,Pro\n",
    }
)


def test_a_count_cites_what_it_names(service: Service) -> None:
    result = retrieve(service, "How many people report to Ada Roy?")
    assert result.answer is not None
    assert [triple.head.label for triple in cited_triples(result.answer)] == [
        entity.label for entity in result.answer.entities
    ]
    assert {triple.relation.label for triple in cited_triples(result.answer)} == {"manager"}


def test_a_list_that_sentences_cut_says_how_many_more(service: Service) -> None:
    result = retrieve(service, "Which shows star Ann Lee?")
    assert result.answer is not None
    assert len(result.answer.values) == 7
    text, sentences = verbalise(result)
    assert "And 2 more: " in text
    assert all(entity.label in text for entity in result.answer.entities)
    assert sum(len(sentence.citations) for sentence in sentences) == 7


def test_what_two_statements_make_an_answer_cites_both(service: Service) -> None:
    text, _ = verbalise(retrieve(service, "Which clients in Norway are on the Pro plan?"))
    assert "country: Norway" in text
    assert "plan: Pro" in text
    assert "type" not in text


def test_who_lacks_something_is_not_said_to_be_of_a_class(service: Service) -> None:
    result = retrieve(service, "Which staff have no manager?")
    text, _ = verbalise(result)
    assert text.startswith("Ada Roy [")


def test_one_thing_with_many_statements_cites_the_first_of_them(service: Service) -> None:
    result = retrieve(service, "Which star has the most shows?")
    assert result.answer is not None
    assert (result.answer.value, result.answer.statements) == ("Ann Lee", 8)
    assert len(cited_triples(result.answer)) == MOST_CITED
