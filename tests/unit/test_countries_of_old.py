"""A country may lie in a country of old: it is still what a question for countries asks for."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

TABLES = {
    "lands": """head,relation,tail
Varland,shares border with,Ostmark
Varland,shares border with,Selvia
Varland,shares border with,Tirrum
Ostmark,shares border with,Selvia
Tirrum,country,Old Tirrian Union
Oster,country,Ostmark
Selby,country,Selvia
Tirra,country,Tirrum
Vartown,country,Varland
Brina Holm,place of birth,Oster
Jon Vell,place of birth,Tirra
"""
}
service = service_of(TABLES)


@pytest.mark.parametrize(
    "question", ["Which countries does Varland border?", "Which country does Varland border?"]
)
def test_countries_are_asked_for_though_one_lies_in_another(
    service: Service, question: str
) -> None:
    result = retrieve(service, question)
    assert result.status is Status.OK
    assert result.interpretation is not None
    assert result.interpretation.text == "what Varland shares border with"


def test_a_town_is_no_country(service: Service) -> None:
    result = retrieve(service, "In which country was Brina Holm born?")
    assert result.interpretation is not None
    assert result.interpretation.text == "the country of the place of birth of Brina Holm"
