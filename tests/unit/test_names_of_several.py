"""A part of a name that several have is nobody's in particular where their answers differ."""

from __future__ import annotations

import pytest
from table_service import retrieve, service_of

from graph_service import Service
from graph_service.model.result import Status

service = service_of(
    {
        "people": """Name,Mother,Father,Editor
Patrick Lund,Ida Falk,Per Holm,Bo Lind
Patrick Moe,Eva Berg,Per Holm,
Tove Lake,Eva Berg,Ole Dahl,Bo Lind
"""
    }
)


@pytest.mark.parametrize(
    ("question", "is_sure"),
    [
        ("Who is the mother of Patrick?", False),
        ("Who is the mother of Patrick Moe?", True),
        # It is the same for both, or known of one alone.
        ("Who is the father of Patrick?", True),
        ("Who is the editor of Patrick?", True),
    ],
)
def test_who_of_several_is_meant_is_not_guessed(
    service: Service, question: str, is_sure: bool
) -> None:
    assert (retrieve(service, question).status is Status.OK) is is_sure
