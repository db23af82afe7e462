"""Many questions in one call: in order, each with its own result or error (S2)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from cli_runs import Cli
from demo_graph import ARNOLD, MARIA, QUESTION, copy_store, request
from error_texts import check_error
from served import served

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.client import AsyncClient, Client
from graph_service.errors import (
    DeadlineError,
    GraphNotFoundError,
    GraphServiceError,
    InputError,
    ModelFileError,
    ViewNotFoundError,
)
from graph_service.model.request import ViewRef
from graph_service.model.result import RetrievalResult, Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.settings import Settings

HALF = ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=3)


@pytest.mark.parametrize("strategy", list(Strategy))
def test_each_question_has_the_result_it_has_alone(
    demo_service: Service, strategy: Strategy
) -> None:
    requests = [
        request(strategy=strategy, limit=3),
        request("What is Zorblax?", strategy),
        request("Who is the father?", strategy, entity_ids=(ARNOLD,), preset="okgqa"),
        request(strategy=strategy, view=ViewRef(spec=HALF), details=True),
        request(strategy=strategy, question_vector=(1.0,) + (0.0,) * 383),
        request(strategy=strategy, limit=3),
    ]
    assert demo_service.retrieve_many(requests) == [demo_service.retrieve(one) for one in requests]


def test_one_that_fails_fails_no_other(demo_service: Service) -> None:
    good = request(limit=2)
    found = demo_service.retrieve_many(
        [
            replace(good, entity_ids=("Q999999999",)),
            good,
            replace(good, question=" "),
            replace(good, graph="nowhere"),
            replace(good, view=ViewRef(name="none of ours")),
            replace(good, question_vector=(1.0,)),
            replace(good, preset="nonsense"),
            good,
        ]
    )
    expected = demo_service.retrieve(good)
    assert [one for one in found if not isinstance(one, GraphServiceError)] == [expected] * 2
    assert [type(one) for one in found] == [
        InputError, type(expected), InputError, GraphNotFoundError, ViewNotFoundError, InputError,
        InputError, type(expected),
    ]  # fmt: skip
    assert [getattr(one, "argument", None) for one in found] == [
        "entity_ids", None, "question", "graph", "view", "question_vector", "preset", None
    ]  # fmt: skip


class Counting:
    """An embedder that remembers its batches."""

    name = "counting-1"
    dimension = 8

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def encode(self, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        self.batches.append(list(texts))
        found = np.ones((len(texts), 8), dtype=np.float32)
        for row, text in enumerate(texts):
            for letter in text:
                found[row, ord(letter) % 8] += 1
        return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


@pytest.mark.parametrize("preset", ["default", "okgqa"])
def test_all_questions_are_embedded_in_one_batch(
    demo_file: Path, tmp_path: Path, preset: str
) -> None:
    questions = [f"Who is the {word} of Maria Shriver?" for word in ("aunt", "boss", "coach")]
    embedder = Counting()
    settings = Settings(vectors=str(tmp_path / "v.db"))
    with open_service(
        copy_store(demo_file, tmp_path), settings=settings, embedder=embedder
    ) as service:
        service.retrieve_many([request(one, preset=preset) for one in questions])
        if preset == "okgqa":
            assert set(questions) <= set(embedder.batches[0])
        else:
            texts = {"Who is the aunt of ?", "Who is the boss of ?", "Who is the coach of ?"}
            texts |= {"aunt", "boss", "coach"}
            assert texts <= {*embedder.batches[0]}
            assert not texts & {text for batch in embedder.batches[1:] for text in batch}


def test_the_number_of_questions_is_limited(demo_file: Path, tmp_path: Path) -> None:
    settings = Settings(vectors=str(tmp_path / "v.db"), max_questions=2)
    with open_service(
        copy_store(demo_file, tmp_path), settings=settings, embedder=Counting()
    ) as service:
        assert len(service.retrieve_many([request()] * 2)) == 2
        for count in (0, 3):
            with pytest.raises(InputError, match=f"1 to 2 questions .* got {count}") as error:
                service.retrieve_many([request()] * count)
            assert error.value.argument == "inputs"
        with Client.over(service) as client, pytest.raises(InputError, match="got 3"):
            client.retrieve_many(Strategy.PATHS, [" "] * 3)


def test_time_runs_out_for_those_not_reached(demo_file: Path, tmp_path: Path) -> None:
    settings = Settings(vectors=str(tmp_path / "v.db"), read_timeout_s=1e-9)
    with open_service(
        copy_store(demo_file, tmp_path), settings=settings, embedder=Counting()
    ) as service:
        found = service.retrieve_many([request(), request(" "), request()])
        assert [type(one) for one in found] == [DeadlineError, InputError, DeadlineError]


def test_an_embedder_that_fails_fails_those_that_need_it(demo_file: Path, tmp_path: Path) -> None:
    def weights(_: object) -> npt.NDArray[np.float32]:
        raise ModelFileError("no weights here")

    embedder = Counting()
    embedder.encode = weights  # type: ignore[method-assign]
    settings = Settings(vectors=str(tmp_path / "v.db"))
    with open_service(
        copy_store(demo_file, tmp_path), settings=settings, embedder=embedder
    ) as service:
        found = service.retrieve_many([request(), request(" ")])
        assert [type(one) for one in found] == [ModelFileError, InputError]


def same(left: object, right: object) -> bool:
    if isinstance(left, GraphServiceError):
        return (type(left), str(left), left.argument) == (
            type(right), str(right), getattr(right, "argument", None)
        )  # fmt: skip
    return left == right


@pytest.mark.parametrize("strategy", list(Strategy))
def test_near_and_far(demo_service: Service, strategy: Strategy) -> None:
    questions = [
        QUESTION,
        {"question": "Who is the father?", "entity_ids": [ARNOLD], "limit": 1},
        {"question": QUESTION, "view": HALF},
        {"question": QUESTION, "entity_ids": ["Q999999999"]},
        {"question": QUESTION, "view": ViewSpec(Method.EDGE_DELETION, level=7.0)},
    ]
    expected = demo_service.retrieve_many(
        [
            request(strategy=strategy, limit=3),
            request("Who is the father?", strategy, entity_ids=(ARNOLD,), limit=1),
            request(strategy=strategy, view=ViewRef(spec=HALF), limit=3),
        ]
    )
    with served(demo_service) as url, Client.connect(url) as far, Client.over(demo_service) as near:
        answers = [one.retrieve_many(strategy, questions, limit=3) for one in (near, far)]  # type: ignore[arg-type]
    for found in answers:
        assert list(found[:3]) == expected
        assert all(isinstance(one, RetrievalResult) for one in expected)
        assert [(type(one), one.argument) for one in found[3:]] == [  # type: ignore[union-attr]
            (InputError, "itemIds"),
            (InputError, "level"),
        ]
    assert all(same(*pair) for pair in zip(*answers, strict=True))
    with pytest.raises(TypeError, match="details"):
        Client.over(demo_service).retrieve_many(strategy, [{"question": "a", "details": True}])


async def asked(service: Service) -> tuple[object, ...]:
    async with AsyncClient.over(service) as client:
        return await client.retrieve_many(Strategy.TRIPLETS, [QUESTION], limit=2)


def test_the_async_client_asks_alike(demo_service: Service) -> None:
    import asyncio

    assert asyncio.run(asked(demo_service)) == (demo_service.retrieve(request(limit=2)),)


def test_details_come_for_all(demo_service: Service) -> None:
    (plain,) = Client.over(demo_service).retrieve_many(Strategy.TRIPLETS, [QUESTION], limit=1)
    (whole,) = Client.over(demo_service).retrieve_many(
        Strategy.TRIPLETS, [QUESTION], limit=1, details=True
    )
    assert whole == demo_service.retrieve(request(limit=1, details=True))
    assert plain != whole


def test_an_error_is_shown_as_errors_are(demo_service: Service) -> None:
    document = """query($q: String!) { retrieveMany(strategy: PATHS, inputs: [{question: $q}]) {
        result { id } error { code message argument hint retryable } } }"""
    long = execute(demo_service, document, {"q": "x" * 200_000})
    (only,) = long["data"]["retrieveMany"]
    assert only["result"] is None
    assert (only["error"]["code"], only["error"]["argument"]) == ("BAD_INPUT", "question")
    assert only["error"]["retryable"] is False
    assert len(only["error"]["message"]) <= 1000


def test_json_lines_in_and_out(
    cli: Cli,
    demo_service: Service,
    demo_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    monkeypatch.setenv("GRAPH_SERVICE_MAX_QUESTIONS", "2")
    rows = [
        {"id": "a", "question": QUESTION},
        {"question": "Who is the spouse?", "entity_ids": [MARIA]},
        {"id": "c", "question": "Who is the spouse?", "entity_ids": ["Q999999999"]},
        {"id": "d", "question": QUESTION, "question_vector": [1.0] + [0.0] * 383},
    ]
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    done = cli("retrieve", "--questions", str(file), "--out", str(out), "--limit", "2")
    assert (done.code, done.out) == (3, f"4 questions, 1 failed: {out}\n")
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["id"] for row in found] == ["a", "2", "c", "d"]
    assert found[2]["error"]["argument"] == "entity_ids"
    assert (
        found[3]["result"]["id"]
        == demo_service.retrieve(request(limit=2, question_vector=(1.0,) + (0.0,) * 383)).id
    )
    shown = cli("retrieve", "--questions", str(file), "--out", "-", "--limit", "2")
    assert [json.loads(line)["id"] for line in shown.out.splitlines()] == ["a", "2", "c", "d"]
    whole = cli("retrieve", "--questions", str(file), "--json", "--limit", "2")
    assert [row["id"] for row in whole.json["results"]] == ["a", "2", "c", "d"]
    people = cli("retrieve", "--questions", str(file), "--limit", "2")
    check_error(people.err)
    assert people.code == 3
    good = tmp_path / "good.jsonl"
    good.write_text(json.dumps(rows[0]))
    assert cli("retrieve", "--questions", str(good)).code == 0
    for text, words in (
        ({"question": "a", "entity_ids": "Q1"}, "field entity_ids: a list of texts"),
        ({"question": "a", "question_vector": "Q1"}, "field question_vector: a list of numbers"),
    ):
        good.write_text(json.dumps(text))
        assert words in cli("retrieve", "--questions", str(good)).err
    check_error(cli("retrieve", QUESTION, "--out", "x").err)
    store = str(tmp_path / "graph.db")
    assert "is a database" in cli("retrieve", "--questions", str(file), "--out", store).err
