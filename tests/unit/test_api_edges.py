"""The API at its edges: every input field reaches the model, limits hold to the last, words are whole."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
from error_texts import check_text, raises
from starlette.testclient import TestClient
from strawberry import ID

from graph_service import Service
from graph_service.api.execution import Ended
from graph_service.api.inputs import (
    ChangeInput,
    ExperimentalInput,
    LiteralInput,
    RetrieveInput,
    ScopeInput,
    ValueInput,
    ViewRefInput,
    ViewSpecInput,
    to_request,
    to_spec,
    to_view_ref,
)
from graph_service.api.schema import execute
from graph_service.api.telling import MAX_MESSAGE
from graph_service.errors import InputError, LimitError
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
)
from graph_service.model.view_spec import Change, LiteralType, Method, Sampling, Scope, ViewSpec
from graph_service.server.admission import is_address
from graph_service.server.app import make_app
from graph_service.server.options import ServerOptions

SPEC = ViewSpecInput(method=Method.EDGE_DELETION, level=0.5, random_seed=7)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("127.0.0.1", True),
        ("[::1]", True),
        ("[fe80::1:2]", True),
        ("[2001:db8:0:0:0:0:0:17]", True),
        ("::1", False),
        ("[127.0.0.1]", False),
        ("[::1", False),
        ("::1]", False),
        ("[]", False),
        ("example.org", False),
        ("127.0.0.256", False),
    ],
)
def test_an_address_is_one_of_either_version(name: str, said: bool) -> None:
    assert is_address(name) is said


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/nothing"),
        ("POST", "/graphql/"),
        ("DELETE", "/graphql"),
        ("POST", "/version"),
        (f"{'M' * 30}", "/graphql"),
    ],
)
def test_a_refusal_says_what_is_served(demo_service: Service, method: str, path: str) -> None:
    client = TestClient(make_app(demo_service, ServerOptions()), base_url="http://localhost")
    response = client.request(method, path)
    check_text([error["message"] for error in response.json()["errors"]])


@pytest.mark.parametrize("over", [-1, 0, 1, 500])
def test_a_message_is_cut_at_its_limit_and_not_before(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch, over: int
) -> None:
    whole = "x" * (MAX_MESSAGE + over)

    def refuse() -> None:
        raise InputError(whole)

    monkeypatch.setattr(demo_service, "graphs", refuse)
    (error,) = execute(demo_service, "{ graphs { nodes { name } } }")["errors"]
    assert error["message"] == (whole if over <= 0 else whole[: MAX_MESSAGE - 1] + "…")


def test_what_ends_an_operation_says_why() -> None:
    assert str(Ended(LimitError("too many objects"))) == "too many objects"


LITERALS: list[tuple[LiteralInput, Value]] = [
    (LiteralInput(type=LiteralType.STRING, content=" a "), StringValue(" a ")),
    (LiteralInput(type=LiteralType.STRING, content=""), StringValue("")),
    (
        LiteralInput(type=LiteralType.MONOLINGUAL_TEXT, content="a", language_code="EN-gb"),
        MonolingualText("a", "en-gb"),
    ),
    (LiteralInput(type=LiteralType.QUANTITY, content="+1.96"), Quantity("1.96", None)),
    (
        LiteralInput(type=LiteralType.QUANTITY, content="-2", unit_id=ID("Q11573")),
        Quantity("-2", "Q11573"),
    ),
    (
        LiteralInput(type=LiteralType.TIME, content="+1947-07-30T00:00:00Z"),
        Time("1947-07-30T00:00:00Z", 11),
    ),
    (
        LiteralInput(type=LiteralType.TIME, content="-0109-01-01T00:00:00Z", precision=0),
        Time("-0109-01-01T00:00:00Z", 0),
    ),
    (
        LiteralInput(type=LiteralType.TIME, content="1947-01-01T00:00:00Z", precision=14),
        Time("1947-01-01T00:00:00Z", 14),
    ),
    (
        LiteralInput(type=LiteralType.URL, content="https://example.org/a?b=c"),
        Iri("https://example.org/a?b=c"),
    ),
]


@pytest.mark.parametrize(("literal", "value"), LITERALS)
def test_a_literal_is_the_value_it_names(literal: LiteralInput, value: Value) -> None:
    change = ChangeInput(
        subject_id=ID("Q1"), property_id=ID("P1"), value=ValueInput(literal=literal)
    )
    spec = to_spec(ViewSpecInput(method=Method.CUSTOM, changes=[change]))
    assert spec.changes == (Change(None, False, "Q1", "P1", value),)


@pytest.mark.parametrize("precision", [-1, 15])
def test_a_precision_beyond_the_last_is_refused(precision: int) -> None:
    literal = LiteralInput(
        type=LiteralType.TIME, content="1947-01-01T00:00:00Z", precision=precision
    )
    change = ChangeInput(
        subject_id=ID("Q1"), property_id=ID("P1"), value=ValueInput(literal=literal)
    )
    with pytest.raises(InputError, match=f"0 to 14 .*got {precision}") as caught:
        to_spec(ViewSpecInput(method=Method.CUSTOM, changes=[change]))
    assert caught.value.argument == "precision"


def test_every_field_of_a_view_reaches_its_specification() -> None:
    scope = ScopeInput(
        statement_ids=[ID("s1")],
        property_ids=[ID("P1")],
        around_item_ids=[ID("Q1")],
        hops=3,
        of_question=True,
    )
    given = ViewSpecInput(
        method=Method.RELATION_REPLACEMENT,
        count=4,
        random_seed=9,
        sampling=Sampling.OKGQA,
        scope=scope,
        scorer="trained:x",
    )
    assert to_spec(given) == ViewSpec(
        Method.RELATION_REPLACEMENT,
        count=4,
        random_seed=9,
        sampling=Sampling.OKGQA,
        scope=Scope(("s1",), ("P1",), ("Q1",), 3, True),
        scorer="trained:x",
    )
    plain = ViewSpecInput(method=Method.EDGE_DELETION, level=0.5)
    assert to_spec(plain) == ViewSpec(Method.EDGE_DELETION, level=0.5)
    changes = [
        ChangeInput(statement_id=ID("s1"), remove=True),
        ChangeInput(subject_id=ID("Q1"), property_id=ID("P1"), value=ValueInput(item_id=ID("Q2"))),
    ]
    own = to_spec(ViewSpecInput(method=Method.CUSTOM, changes=changes))
    assert own.changes == (
        Change("s1", True),
        Change(None, False, "Q1", "P1", EntityValue("Q2")),
    )
    withheld = ViewSpecInput(method=Method.WITHHOLDING, statement_ids=[ID("s2"), ID("s1")], count=1)
    assert to_spec(withheld).statement_ids == ("s2", "s1")
    with raises(InputError):
        to_spec(ViewSpecInput(method=Method.EDGE_DELETION))


def test_a_view_is_named_by_one_of_three() -> None:
    assert to_view_ref(None) is None
    assert to_view_ref(ViewRefInput(view_id=ID("v"))) == ViewRef(id="v")
    assert to_view_ref(ViewRefInput(name="n")) == ViewRef(name="n")
    assert to_view_ref(ViewRefInput(view_id=ID(""), name="", spec=SPEC)) == ViewRef(
        spec=to_spec(SPEC)
    )


def test_every_field_of_a_question_reaches_its_request() -> None:
    given = RetrieveInput(
        question="Who?",
        graph="g",
        view=ViewRefInput(name="n"),
        item_ids=["Q1"],
        language_codes=["de", "en"],
        preset="okgqa",
        limit=3,
        max_hops=2,
        max_edges=90,
        min_score=0.25,
        token_budget=70,
        property_ids=[ID("P1")],
        exclude_property_ids=["P2"],
        type_ids=["Q5"],
        ranks=[Rank.DEPRECATED],
        top_nodes=4,
        top_edges=5,
        edge_cost=0.5,
        max_path_length=6,
        experimental=ExperimentalInput(
            min_link_score=0.1,
            max_items=2,
            properties_per_item=3,
            statements_per_property=4,
            draw_seed=5,
            ranker="r",
            linking_accuracy=0.75,
            linking_seed=8,
        ),
        question_vector=[0.5, 0.25],
        prove=True,
    )
    expected: dict[str, Any] = {
        "question": "Who?",
        "strategy": Strategy.PATHS,
        "graph": "g",
        "view": ViewRef(name="n"),
        "entity_ids": ("Q1",),
        "languages": ("de", "en"),
        "preset": "okgqa",
        "limit": 3,
        "max_hops": 2,
        "max_edges": 90,
        "min_score": 0.25,
        "token_budget": 70,
        "relation_ids": ("P1",),
        "exclude_relation_ids": ("P2",),
        "type_ids": ("Q5",),
        "ranks": (Rank.DEPRECATED,),
        "top_nodes": 4,
        "top_edges": 5,
        "edge_cost": 0.5,
        "max_path_length": 6,
        "min_link_score": 0.1,
        "max_entities": 2,
        "relations_per_entity": 3,
        "triples_per_relation": 4,
        "draw_seed": 5,
        "ranker": "r",
        "linking_accuracy": 0.75,
        "linking_seed": 8,
        "question_vector": (0.5, 0.25),
        "prove": True,
    }
    request = to_request(given, Strategy.PATHS)
    assert {name: getattr(request, name) for name in expected} == expected
    usual = RetrieveRequest("Who?", Strategy.PATHS)
    assert to_request(RetrieveInput(question="Who?"), Strategy.PATHS) == usual
    others = {field.name for field in fields(RetrieveRequest)} - expected.keys()
    assert all(getattr(request, name) == getattr(usual, name) for name in others)
