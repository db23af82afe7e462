"""Questions about all that a relation leads to, in a graph that has no classes (B13)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from table_service import answers, retrieve, sure_answers

from graph_service import Service, open_service
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import Status, Strategy, SubgraphResult, TripletsResult
from graph_service.settings import Settings
from graph_service.store import open_store
from loaders.load import load
from loaders.options import LoadOptions

_STATEMENTS = {
    "baked_by": {
        "Rye Loaf": "Hansen & Co", "Malt Loaf": "Hansen & Co", "Oat Cake": "Mill House",
        "Seed Roll": "Old Oven", "Plain Bun": "Old Oven",
    },
    "taster": {"Rye Loaf": "Vera Quist", "Oat Cake": "Tom Adeyemi", "Plain Bun": "Vera Quist"},
    "main_grain": {"Rye Loaf": "rye", "Malt Loaf": "barley", "Oat Cake": "oats"},
    "based_in": {"Hansen & Co": "Aarhus", "Mill House": "Leeds", "Old Oven": "York"},
    "country": {"Aarhus": "Denmark", "Leeds": "England", "York": "England"},
    "founded_in": {"Hansen & Co": "1911", "Mill House": "1987", "Old Oven": "2004"},
    "weight_in_grams": {"Rye Loaf": "900", "Malt Loaf": "750", "Plain Bun": "80"},
    "date_of_birth": {"Vera Quist": "1979-02-11", "Tom Adeyemi": "1990-10-03"},
    "born_in": {"Vera Quist": "York", "Tom Adeyemi": "Leeds"},
    "first_master": {"Hansen & Co": "Ida Holt"},
    "second_master": {"Mill House": "Per Lund"},
}  # fmt: skip
_LITERAL = ("founded_in", "weight_in_grams", "date_of_birth")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder: Path = tmp_path_factory.mktemp("bakers")
    rows = [
        f'"{head}",{relation},"{value}"'
        for relation, values in _STATEMENTS.items()
        for head, value in values.items()
    ]
    source = folder / "bakers.csv"
    source.write_text("head,relation,tail\n" + "\n".join(rows) + "\n")
    url = f"sqlite:///{folder / 'g.db'}"
    with open_store(url) as store:
        options = LoadOptions(literal_relations=_LITERAL)
        load(source, store=store, graph="bakers", options=options)
    settings = Settings(store=url, cache_dir=str(folder), graph="bakers")
    with open_service(settings=settings) as service:
        yield service


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which baker is the oldest?", {"Hansen & Co"}),
        ("How many bakers are based in England?", {"2"}),
        ("Which bakers are based in England?", {"Mill House", "Old Oven"}),
        ("Which bakers are not based in England?", {"Hansen & Co"}),
        ("Which English baker was founded after 2000?", {"Old Oven"}),
        ("Which companies were founded before 1990?", {"Hansen & Co", "Mill House"}),
        ("List all the tasters.", {"Tom Adeyemi", "Vera Quist"}),
        ("Who is the youngest taster?", {"Tom Adeyemi"}),
        ("How many tasters were born in York?", {"1"}),
        ("How many main grains are there?", {"3"}),
    ],
)
def test_a_noun_names_all_ends_of_a_relation(
    service: Service, question: str, expected: set[str]
) -> None:
    assert sure_answers(service, question) == expected


@pytest.mark.parametrize(
    "question",
    [
        # The ends of two relations, of which neither has all.
        "How many masters are there?",
        "Which sellers are based in England?",
        "Which baker is the heaviest?",
    ],
)
def test_what_may_be_meant_is_not_answered_for_sure(service: Service, question: str) -> None:
    assert retrieve(service, question).status is not Status.OK


def test_every_answer_has_a_statement_beside_that_of_its_role(service: Service) -> None:
    result = retrieve(service, "Which bakers are based in England?")
    assert answers(result) == {"Mill House", "Old Oven"}
    relations = {step.triple.relation.id for path in result.items for step in path.steps}
    assert relations == {"based_in"}
    assert [linked.mention for linked in result.linked] == ["England"]


@pytest.mark.parametrize("strategy", [Strategy.TRIPLETS, Strategy.SUBGRAPH])
@pytest.mark.parametrize(
    ("question", "origins"),
    [
        ("Which bakers are based in England?", {"Mill House", "Old Oven"}),
        ("How many tasters were born in York?", {"Vera Quist"}),
    ],
)
def test_a_statement_of_a_role_hangs_on_its_answer(
    service: Service, question: str, origins: set[str], strategy: Strategy
) -> None:
    request = RetrieveRequest(question, graph="bakers", strategy=strategy)
    result = service.retrieve(request)
    assert result.status is Status.OK
    assert isinstance(result, TripletsResult | SubgraphResult)
    assert {item.origin_id for item in result.items} == origins
