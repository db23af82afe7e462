"""A caller's own vectors: of one question, or of everything (S2, S8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from cli_runs import Cli
from demo_graph import MARIA, QUESTION, copy_store, request, scored_triples
from error_texts import raises
from served import served

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.result import Strategy
from graph_service.retrieve.learned.similarity_ranker import SimilarityRanker
from graph_service.settings import Settings

WITHOUT_NAME = "Who is the mother of 's husband?"


def vector(service: Service, text: str, factor: float = 1.0) -> tuple[float, ...]:
    (found,) = service.vectors.encode([text])
    return tuple((found.astype(np.float64) * factor).tolist())


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize(("preset", "text"), [("default-6", WITHOUT_NAME), ("okgqa", QUESTION)])
def test_the_embedders_own_vector_changes_nothing_but_the_id(
    demo_service: Service, strategy: Strategy, preset: str, text: str
) -> None:
    asked = request(strategy=strategy, preset=preset, limit=5)
    # With a vector of the caller's, default-6 ranks by similarity alone.
    with demo_service.ranking_by(SimilarityRanker()):
        expected = demo_service.retrieve(asked)
    assert expected.items
    by_factor = [
        demo_service.retrieve(replace(asked, question_vector=vector(demo_service, text, factor)))
        for factor in (1.0, 1e-200, 1e300)
    ]
    for found in by_factor:
        assert found.items == expected.items
        assert found.relevance == expected.relevance
        assert found.status is expected.status
    hashes = [found.provenance.parameters["question_vector"] for found in by_factor]
    assert len({*hashes, expected.provenance.parameters["question_vector"]}) == 4
    assert len({expected.id, *(found.id for found in by_factor)}) == 4
    again = replace(asked, question_vector=vector(demo_service, text))
    assert demo_service.retrieve(again).id == by_factor[0].id


@pytest.mark.parametrize("preset", ["default-6", "okgqa"])
def test_the_vector_decides_and_not_the_text(demo_service: Service, preset: str) -> None:
    asked = request("Nothing of the kind", entity_ids=(MARIA,), preset=preset, limit=3)
    own = replace(asked, question_vector=vector(demo_service, "date of birth"))
    found = {item.triple.relation.label for item in scored_triples(demo_service.retrieve(own))}
    assert "date of birth" in found
    assert "date of birth" not in {
        item.triple.relation.label for item in scored_triples(demo_service.retrieve(asked))
    }


@pytest.mark.parametrize(
    "given",
    [
        (1.0, 2.0),
        (),
        (0.0,) * 384,
        (1.0,) * 383 + (float("nan"),),
        (float("inf"),) + (1.0,) * 383,
    ],
)
def test_a_vector_that_is_none_is_refused(demo_service: Service, given: tuple[float, ...]) -> None:
    name = demo_service.vectors.embedder.name
    for question in (QUESTION, "What is a zorblax?"):
        with raises(InputError) as error:
            demo_service.retrieve(request(question, question_vector=given))
        assert error.value.argument == "question_vector"
        assert name in error.value.message


def test_near_and_far_and_on_the_command_line(
    demo_service: Service,
    cli: Cli,
    demo_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = vector(demo_service, "place of birth")
    expected = demo_service.retrieve(request(question_vector=own, limit=3))
    near = Client.over(demo_service).triplets(QUESTION, question_vector=own, limit=3)
    with served(demo_service) as url, Client.connect(url) as client:
        far = client.triplets(QUESTION, question_vector=np.array(own).tolist(), limit=3)
    assert near == far == expected
    document = "query($i: RetrieveInput!) { triplets(input: $i) { id } }"
    short = {"i": {"question": QUESTION, "questionVector": [1.0]}}
    (error,) = execute(demo_service, document, short)["errors"]
    assert error["extensions"]["argument"] == "questionVector"
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    file = tmp_path / "vector.json"
    file.write_text(json.dumps(own))
    done = cli("retrieve", QUESTION, "--question-vector", str(file), "--limit", "3", "--json").json
    assert done["id"] == expected.id
    for text, words in (
        ("[1, true]", "JSON list of numbers"),
        ("{}", "JSON list"),
        ("[", "not JSON"),
    ):
        file.write_text(text)
        failed = cli("retrieve", QUESTION, "--question-vector", str(file))
        assert failed.code == 2
        assert words in failed.err
    assert "can't read" in cli("retrieve", QUESTION, "--question-vector", "nowhere.json").err


class Lengths:
    """An embedder of someone's own: the share of each vowel."""

    name = "vowels-1"
    dimension = 6

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        counts = np.array(
            [[1.0, *(text.count(vowel) for vowel in "aeiou")] for text in texts], dtype=np.float32
        ).reshape(-1, 6)
        return np.asarray(counts / np.linalg.norm(counts, axis=1, keepdims=True))

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


def test_an_embedder_of_ones_own_serves_everything(demo_file: Path, tmp_path: Path) -> None:
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    url = copy_store(demo_file, tmp_path)
    with open_service(url, settings=settings, embedder=Lengths()) as service:
        result = service.retrieve(request(preset="okgqa"))
        assert result.provenance.embedder == result.tokens.tokenizer == "vowels-1"
        assert result.items
        mine = service.retrieve(request(preset="okgqa", question_vector=(1, 0, 0, 0, 0, 9)))
        assert mine.items != result.items
        with raises(InputError):
            service.retrieve(request(question_vector=(1.0,) * 384))
