"""Retrieval from the question's text to its items is what was recorded (O3 to O7, Determinism).

With vectors that are frozen data, every number must be the same on every machine. After a change
of rules: ``python tests/models/record_retrieval.py``, and read what differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from retrieval_cases import CASES, FrozenEmbedder, outcome, requests

from graph_service import Service, open_service
from graph_service.model.result import Status
from graph_service.settings import Settings
from loaders.load import load
from queries.datasets.demo_set import demo_slice

EXPECTED = json.loads(CASES.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("golden")
    settings = Settings(vectors=str(folder / "vectors.db"), cache_dir=str(folder))
    with open_service(
        f"sqlite:///{folder / 'demo.db'}", settings=settings, embedder=FrozenEmbedder.read()
    ) as opened:
        load(demo_slice(), store=opened.store, graph="demo")
        yield opened


def test_there_is_an_outcome_for_each_case() -> None:
    assert [case["question"] for case in EXPECTED] == [item.question for item in requests()]
    # Only default-6 says what the graph does not say; its cases are in tests/unit/test_unstated.py.
    assert {case["status"] for case in EXPECTED} == set(Status) - {Status.NOT_IN_GRAPH}


@pytest.mark.parametrize(
    "number",
    range(len(EXPECTED)),
    ids=[f"{case['preset']}-{case['strategy']}-{i}" for i, case in enumerate(EXPECTED)],
)
def test_case(service: Service, number: int) -> None:
    found = json.loads(json.dumps(outcome(service, requests()[number])))
    assert found == EXPECTED[number]
