"""The embedder behind an endpoint, by the real openai client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from error_texts import raises
from openai_stand_in import Scripted, embeddings, error, stand_in, vector_of

from graph_service.embed import open_embedder, open_vectors
from graph_service.embed.endpoint import EndpointEmbedder
from graph_service.errors import InputError, LimitError, SetupError
from graph_service.http.retry import RetryPolicy

_opened: list[EndpointEmbedder] = []


@pytest.fixture(autouse=True)
def close_all() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()


def embedder(url: str, waits: list[float] | None = None, **options: object) -> EndpointEmbedder:
    options.setdefault("retry", RetryPolicy(max_retries=2))
    waited: list[float] = [] if waits is None else waits
    made = EndpointEmbedder(
        "small",
        base_url=url,
        sleep=waited.append,
        **options,  # type: ignore[arg-type]
    )
    _opened.append(made)
    return made


def test_unit_vectors_in_the_order_of_the_texts() -> None:
    texts = [f"text number {i}" for i in range(300)] + [""]
    with stand_in(embeddings) as server:
        found = embedder(server.url)
        vectors = found.encode(texts)
        assert vectors.shape == (301, 8)
        assert vectors.dtype == np.float32
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)
        wanted = np.array(vector_of("text number 299"))
        assert np.allclose(vectors[299], wanted / np.linalg.norm(wanted), atol=1e-6)
        assert found.encode([]).shape == (0, 8)
        assert found.name == "openai:small@127.0.0.1"
        assert [len(body["input"]) for body in server.requests] == [128, 128, 45]
        assert server.requests[2]["input"][-1] == " ", "endpoints refuse empty texts"
        assert set(server.paths) == {"/v1/embeddings"}


def test_the_length_is_asked_once() -> None:
    with stand_in(embeddings) as server:
        found = embedder(server.url)
        assert (found.dimension, found.dimension) == (8, 8)
        assert len(server.requests) == 1
        assert found.count_tokens("") == 0
        assert found.count_tokens("Who is Ada?") == 4


def test_indices_decide_the_order() -> None:
    body = {"data": [{"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 0]}]}
    with stand_in(Scripted(200, body)) as server:
        assert embedder(server.url).encode(["a", "b"]).tolist() == [[1, 0], [0, 1]]


def test_waits_as_long_as_retry_after_says() -> None:
    waits: list[float] = []
    with stand_in(error(429, headers={"retry-after": "3"}), embeddings) as server:
        assert embedder(server.url, waits).encode(["a"]).shape == (1, 8)
    assert waits == [3.0]


@pytest.mark.parametrize(
    "reply",
    [
        error(500),
        error(429),
        Scripted(200, b"{ no JSON"),
        Scripted(200, {"data": []}),
        Scripted(200, {"data": [{"index": 0, "embedding": ["x"]}]}),
        Scripted(200, {"data": [{"index": 0, "embedding": [0.0, 0.0]}]}),
        Scripted(200, {"data": [{"index": 0, "embedding": []}]}),
        Scripted(200, {"data": [{"index": 5, "embedding": [1.0]}]}),
        Scripted(drop=True),
    ],
)
def test_passing_faults_are_tried_again_and_then_told(reply: Scripted) -> None:
    with stand_in(reply, reply, embeddings) as server:
        assert embedder(server.url).encode(["a"]).shape == (1, 8)
    with (
        stand_in(reply) as server,
        raises(SetupError),
    ):
        embedder(server.url).encode(["a"])
    assert len(server.requests) == 3


def test_a_slow_endpoint() -> None:
    with (
        stand_in(Scripted(silent=True)) as server,
        raises(SetupError),
    ):
        embedder(server.url, timeout_s=0.1, retry=RetryPolicy(max_retries=0)).encode(["a"])


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (error(401), SetupError),
        (error(404), SetupError),
        (error(402), LimitError),
        (error(429, code="insufficient_quota"), LimitError),
        (error(400, "too long"), InputError),
    ],
)
def test_lasting_faults_are_told_at_once(reply: Scripted, kind: type[Exception]) -> None:
    with stand_in(reply) as server, raises(kind):
        embedder(server.url).encode(["a"])
    assert len(server.requests) == 1


def test_it_joins_the_seam_and_its_vectors_are_kept(tmp_path: Path) -> None:
    with stand_in(embeddings) as server:
        one = open_embedder("openai:small", base_url=server.url)
        with open_vectors(one, tmp_path / "v.db") as kept:
            vectors = kept.encode(["a b", "c"])
        asked = len(server.requests)
        other = open_embedder("openai:small", base_url=server.url)
        with open_vectors(other, tmp_path / "v.db") as kept:
            again = kept.encode(["a b", "c"])
        assert np.array_equal(vectors, again)
        assert sum(body["input"] != ["dimension"] for body in server.requests[asked:]) == 0
    with pytest.raises(SetupError, match="GRAPH_SERVICE_EMBEDDER_URL"):
        open_embedder("openai:small")
    with pytest.raises(InputError, match="name is empty"):
        open_embedder("openai:", base_url="http://127.0.0.1:1/v1")


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(InputError, match="lone surrogate"):
        embedder("http://127.0.0.1:1/v1").encode(["\ud800"])
