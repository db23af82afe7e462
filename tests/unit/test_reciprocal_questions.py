"""What holds both ways is answered from either side, however the graph states it."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of, sure_answers

from graph_service import Service
from graph_service.query.algebra import (
    Among,
    Condition,
    Entities,
    Fold,
    Query,
    Relation,
    Step,
    Targets,
    either_way,
)
from graph_service.query.english import Names, render_english
from graph_service.retrieve.constraints.reciprocal import both_ways, is_reciprocal

TABLES = {
    "facts": """head,relation,tail
Veltrin,is a,drug
Pelloxin,is a,drug
Domiprex,is a,drug
Veltrin,interacts with,Pelloxin
Domiprex,interacts with,Veltrin
Norland,borders,Sutland
Westmark,borders,Norland
Norland,borders,Grey Sea
Norland,is a,country
Sutland,is a,country
Westmark,is a,country
Grey Sea,is a,sea
Ann Lee,sibling,Bob Lee
Cleo Lee,sibling,Ann Lee
Ann Lee,works with,Dan Orr
Eve Poe,works with,Ann Lee
Ann Lee,manages,Eve Poe
Dan Orr,manages,Ann Lee
""",
}

service = service_of(TABLES)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What drugs interact with Veltrin?", {"Pelloxin", "Domiprex"}),
        ("Which drugs does Veltrin interact with?", {"Pelloxin", "Domiprex"}),
        ("Which drugs does Pelloxin interact with?", {"Veltrin"}),
        ("Which countries border Norland?", {"Sutland", "Westmark"}),
        ("What does Norland border?", {"Sutland", "Westmark", "Grey Sea"}),
        ("How many countries border Norland?", {"2"}),
        ("Who are Ann Lee's siblings?", {"Bob Lee", "Cleo Lee"}),
        ("Who works with Ann Lee?", {"Dan Orr", "Eve Poe"}),
        ("Who does Ann Lee manage?", {"Eve Poe"}),
        ("Who manages Ann Lee?", {"Dan Orr"}),
    ],
)
def test_both_sides_are_answered(service: Service, question: str, expected: set[str]) -> None:
    assert sure_answers(service, question) == expected


def test_the_statements_of_both_sides_are_cited(service: Service) -> None:
    result = retrieve(service, "Which countries border Norland?")
    assert result.answer is not None
    assert result.interpretation is not None
    assert len(result.answer.basis) == result.answer.statements >= 2
    expected = 'countries whose "borders" is Norland, or the other way about'
    assert result.interpretation.text == expected


def test_who_does_not_border_is_not_answered_by_who_borders(service: Service) -> None:
    answer = retrieve(service, "Which countries don't border Norland?").answer
    assert answer is None or "Sutland" not in answer.value


@pytest.mark.parametrize("label", ["connected to", "is married to", "twinned with", "friends"])
def test_relations_of_equals_hold_both_ways(label: str) -> None:
    assert is_reciprocal(label)


@pytest.mark.parametrize("label", ["replaced with", "links to", "best friend", "has", "brother"])
def test_other_relations_do_not(label: str) -> None:
    assert not is_reciprocal(label)


def test_a_filter_is_read_either_way_about() -> None:
    borders, named = Relation("P47"), Among(("Q1",))
    query = Query(Entities(("Q2",)), (Step(Relation("P17")),), (Condition((borders,), named),))
    both = both_ways(query, {"P47": "shares border with", "P17": "country"}.__getitem__)
    assert both.filters == Query(Entities(("Q2",)), filters=(either_way(borders, named),)).filters
    assert both.start == query.start


def test_a_negated_pair_is_said_in_words() -> None:
    sibling = Relation("P3373")
    of_ann = both_ways(Query(Entities(("Ann",)), (Step(sibling),)), lambda _: "sibling")
    names = Names(str, lambda _: "sibling")
    assert isinstance(of_ann.start, Targets)
    assert render_english(of_ann, names) == "those whose sibling is Ann, or the other way about"
    counted = Query(of_ann.start, filters=of_ann.filters, fold=Fold.COUNT)
    expected = "the number of those whose sibling is Ann, or the other way about"
    assert render_english(counted, names) == expected
