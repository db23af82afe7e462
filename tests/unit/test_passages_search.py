"""Passages are searched by words, vectors and both, the same way through every door (L6)."""

from __future__ import annotations

import asyncio
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_texts import check_line, check_text
from graphs import load_graph
from served import served

from graph_service import Service, open_service
from graph_service.api.schema import execute
from graph_service.cli import main
from graph_service.client import AsyncClient, Client
from graph_service.embed import open_vectors
from graph_service.embed.protocol import Float32
from graph_service.errors import InputError, ReadOnlyError
from graph_service.model.limits import CutReason
from graph_service.model.passage import PassageRanking, PassagesResult
from graph_service.model.statement import Entity
from graph_service.server.options import ServerOptions
from graph_service.service.passages import joint_fingerprint
from graph_service.settings import SETTINGS, Settings
from graph_service.store import open_store
from graph_service.store.passages import embedded_text
from loaders.passages.load import PassageOptions, load_passages

BOTH, WORDS, VECTORS = PassageRanking.BOTH, PassageRanking.WORDS, PassageRanking.VECTORS


class LetterEmbedder:
    """Texts of like words have like vectors: sums of a vector a word; no model."""

    name = "letters@1"
    dimension = 64

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str], /) -> Float32:
        self.texts += texts
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for place, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                generator = np.random.default_rng(zlib.crc32(word[:4].encode()))
                rows[place] += generator.normal(size=self.dimension).astype(np.float32)
            rows[place] /= max(1e-9, float(np.linalg.norm(rows[place])))
        return rows

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


DOCUMENTS = [
    {"title": "Rome", "text": "Rome is the capital of Italy.", "source": "s"},
    {"title": "Tiber", "text": "The Tiber flows through Rome and Umbria.", "source": "s"},
    {"title": "Berlin", "text": "Berlin is the capital of Germany.", "source": "s"},
    {"title": "", "text": "Capitals are seats of governments.", "source": "s"},
]


@pytest.fixture
def embedder() -> LetterEmbedder:
    return LetterEmbedder()


@pytest.fixture
def service(tmp_path: Path, embedder: LetterEmbedder) -> Iterator[Service]:
    """Graph ``g`` with four passages; Rome has labels in two languages, Berlin is bare."""
    settings = Settings(vectors=str(tmp_path / "vectors.db"))
    with open_service(
        f"sqlite:///{tmp_path / 'g.db'}", settings=settings, embedder=embedder
    ) as made:
        entities = [
            Entity("Q220", labels={"en": "Rome", "it": "Roma"}),
            Entity("http://dbpedia.org/resource/Berlin"),
        ]
        load_graph(made.store, "g", [("Q220", "P1", "Q38")], entities)
        path = tmp_path / "a.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in DOCUMENTS))
        load(made, path)
        yield made


def load(service: Service, path: Path) -> None:
    load_passages(
        path,
        store=service.store,
        graph="g",
        linker=service.passages.linker(graph="g"),
        options=PassageOptions(rejects_path=path.parent / "rejects.jsonl"),
    )


def titles(result: PassagesResult) -> list[str]:
    return [item.passage.title for item in result.items]


def test_by_words_vectors_and_both(service: Service) -> None:
    """L6: each ranking's score is what the item is ranked by; both is the mean of the two."""
    query = "capital Italy"
    words = service.passages.search(query, by=WORDS)
    assert titles(words)[0] == "Rome"
    assert "" not in titles(words)
    assert all(one.vector_score is None and one.score == one.word_score for one in words.items)
    assert words.embedder is None
    vectors = service.passages.search(query, by=VECTORS)
    # Three letters of Capitals and capital are alike to the vectors, and not to the words.
    assert len(vectors.items) == 4
    assert titles(vectors)[0] == "Rome"
    assert all(one.word_score is None and one.score == one.vector_score for one in vectors.items)
    both = service.passages.search(query)
    by_title = {one.passage.title: one for one in vectors.items}
    for item in both.items:
        cosine = by_title[item.passage.title].score
        share = {one.passage.title: one.score for one in words.items}.get(item.passage.title, 0.0)
        assert (item.word_score, item.vector_score) == (share, cosine)
        assert item.score == round((share + max(0.0, cosine)) / 2, 5)
    scores = [one.score for one in both.items]
    assert scores == sorted(scores, reverse=True)
    assert both.searched == 4
    assert both.embedder == "letters@1"


def test_k_and_minimum_score(service: Service) -> None:
    """L6: k best, those below the minimum left out, nothing found is no error."""
    every = service.passages.search("capital of Italy")
    assert [one.passage for one in service.passages.search("capital of Italy", k=2).items] == [
        one.passage for one in every.items[:2]
    ]
    least = every.items[1].score
    assert len(service.passages.search("capital of Italy", min_score=least).items) == 2
    assert service.passages.search("absent", by=WORDS).items == ()
    for wrong in ({"k": 0}, {"k": 1001}, {"min_score": 2.0}):
        with pytest.raises(InputError):
            service.passages.search("capital", **wrong)
    with pytest.raises(InputError, match="empty"):
        service.passages.search(" ")


def test_a_result_is_the_same_every_time(service: Service, tmp_path: Path) -> None:
    """L6, S8: its id covers query, parameters and the passages, not the time or the order of
    loading.
    """
    first = service.passages.search("capital")
    assert replace(service.passages.search("capital"), timings_ms={}) == replace(
        first, timings_ms={}
    )
    others = {
        service.passages.search("capital", **more).id
        for more in ({"k": 3}, {"by": WORDS}, {"min_score": 0.1}, {"languages": ("it",)})
    }
    assert len(others) == 4
    assert first.id not in others
    fingerprint = first.fingerprint
    (tmp_path / "b.txt").write_text("Other text.")
    load(service, tmp_path / "b.txt")
    joined = service.passages.search("capital").fingerprint
    assert joined != fingerprint
    service.passages.delete(source=str(tmp_path / "a.jsonl"))
    load(service, tmp_path / "a.jsonl")
    assert service.passages.search("capital").fingerprint == joined
    sets = service.passages.sets()
    assert joint_fingerprint(sets) == joint_fingerprint(sets[::-1]) == joined
    service.passages.delete(source=str(tmp_path / "b.txt"))
    assert service.passages.search("capital").id == first.id


def test_a_passage_of_two_sources_is_given_once(service: Service, tmp_path: Path) -> None:
    """L6: content that two loads brought counts once in a result."""
    (tmp_path / "again.jsonl").write_text(json.dumps(DOCUMENTS[0]))
    load(service, tmp_path / "again.jsonl")
    for by in PassageRanking:
        found = titles(service.passages.search("capital of Italy", by=by, k=4))
        assert found.count("Rome") == 1
    assert len(service.passages.search("capital of Italy", by=VECTORS, k=4).items) == 4


def test_entities_of_passages_have_labels(service: Service) -> None:
    """L6: in the languages asked for; one without a label is called by its id."""
    found = {
        one.passage.entity: one.entity_label
        for one in service.passages.search("capital", by=WORDS, languages=("it",)).items
    }
    assert found == {"Q220": "Roma", "http://dbpedia.org/resource/Berlin": "Berlin"}


def test_vectors_are_computed_once_and_kept(service: Service, embedder: LetterEmbedder) -> None:
    """L6: one vector a passage, in the vector file; searching again computes the query alone."""
    seen: list[tuple[int, int]] = []
    assert service.passages.embed(progress=lambda at: seen.append((at.done, at.total))) == 4
    assert seen == [(4, 4)]
    expected = {
        embedded_text(item)
        for one in service.passages.sets()
        for chunk in service.store.passages.scan(one.number)
        for item in chunk
    }
    assert set(embedder.texts) == expected
    embedder.texts.clear()
    service.passages.search("a question", by=VECTORS)
    assert embedder.texts == ["a question"]
    fresh = LetterEmbedder()
    with open_service(service.store.url, settings=service.settings, embedder=fresh) as other:
        other.passages.search("a question", by=VECTORS)
    assert fresh.texts == []


def test_vectors_that_are_not_there_in_time_are_said(tmp_path: Path, service: Service) -> None:
    """L6: past the deadline the passages that have a vector are ranked, and the cut is said."""
    settings = Settings(vectors=str(tmp_path / "v2.db"), read_timeout_s=1e-9)
    embedder = LetterEmbedder()
    with open_vectors(embedder, settings.vector_file) as vectors:
        vectors.encode(["capital", "Rome. Rome is the capital of Italy."])
    with open_service(service.store.url, settings=settings, embedder=embedder) as late:
        result = late.passages.search("capital", by=VECTORS)
    assert titles(result) == ["Rome"]
    (cut,) = result.truncated
    assert (cut.what, cut.reason, cut.kept, cut.total) == ("embedded", CutReason.DEADLINE, 1, 4)


def test_the_client_gives_what_the_service_gives(service: Service, tmp_path: Path) -> None:
    """L6, S6: over GraphQL, in process and over HTTP, blocking and not."""

    async def asked(client: AsyncClient, method: str, *arguments: Any, **options: Any) -> Any:
        async with client:
            return await getattr(client, method)(*arguments, **options)

    options: dict[str, Any] = {"k": 3, "by": BOTH, "min_score": 0.05, "languages": ("it", "en")}
    options["graph"] = "g"
    expected = replace(service.passages.search("capital of Italy", **options), timings_ms={})
    with served(service, ServerOptions(writable=True)) as url:
        with Client.over(service) as near, Client.connect(url) as far:
            for client in (near, far):
                found = client.passages("capital of Italy", **options)
                assert found.timings_ms
                assert replace(found, timings_ms={}) == expected
            (only,) = far.passage_sets()
            assert only == near.passage_sets(graph="g")[0]
            assert (only.passages, only.linked, only.published) == (4, 2, True)
        found = asyncio.run(
            asked(AsyncClient.connect(url), "passages", "capital of Italy", **options)
        )
        assert replace(found, timings_ms={}) == expected
        assert asyncio.run(asked(AsyncClient.connect(url), "passage_sets")) == (only,)
        assert asyncio.run(asked(AsyncClient.over(service), "delete_passages", source="no")) == 0
        with Client.connect(url) as far:
            assert far.delete_passages(source=str(tmp_path / "a.jsonl")) == 4
            assert far.passages("capital", by=WORDS).items == ()
    with pytest.raises(ReadOnlyError), Client.over(service, writable=False) as client:
        client.delete_passages()


def test_graphql_limits_and_items(service: Service) -> None:
    """L6, S2: the item of a passage is an item of the graph; bad arguments are named."""
    document = """{ passages(query: "capital of Italy", k: 1, by: WORDS) {
        items { passage { title item { itemId label aliases statements { nodes { id } } } } } } }"""
    data = execute(service, document)["data"]
    item = data["passages"]["items"][0]["passage"]["item"]
    assert (item["itemId"], item["label"], len(item["statements"]["nodes"])) == ("Q220", "Rome", 1)
    for arguments, name in (("k: 0", "k"), ("minScore: 3", "minScore")):
        document = f'{{ passages(query: "a", {arguments}) {{ id }} }}'
        (error,) = execute(service, document)["errors"]
        assert error["extensions"]["code"] == "BAD_INPUT"
        assert error["extensions"]["argument"] == name


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Any:
    """Runs the command line on graph ``g``; gives code, output and errors."""
    for row in SETTINGS:
        monkeypatch.delenv(row.variable, raising=False)
    monkeypatch.setenv("GRAPH_SERVICE_STORE", "sqlite:///g.db")
    monkeypatch.setenv("GRAPH_SERVICE_VECTORS", str(tmp_path / "vectors.db"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("loaders.rejects.DEFAULT_REJECTS_PATH", Path("rejects.jsonl"))
    with open_store("sqlite:///g.db") as store:
        load_graph(store, "g", [("Q220", "P1", "Q38")], [Entity("Q220", labels={"en": "Rome"})])

    def run(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = main(arguments)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_command_line(cli: Any, tmp_path: Path) -> None:
    """L6: load, list, search and delete by hand; exit code 3 where lines were rejected."""
    code, out, _ = cli("passages", "list")
    assert code == 0
    check_text(out)
    code, out, _ = cli("passages", "search", "Rome", "--by", "words")
    assert code == 0
    check_text(out)
    (tmp_path / "Rome.txt").write_text("Rome is the capital of Italy.")
    code, out, _ = cli("passages", "load", "Rome.txt", "--no-vectors")
    assert code == 0
    check_line(out, "passages: 1", "1 with")
    (tmp_path / "bad.jsonl").write_text('{"text": "Berlin."}\n{bad\n')
    code, out, _ = cli("passages", "load", "bad.jsonl", "--no-vectors", "--json")
    assert code == 3
    report = json.loads(out)
    assert (report["kept"], report["rejected"], report["vectors"]) == (1, 1, None)
    assert json.loads((tmp_path / "rejects.jsonl").read_text())["line"] == 2
    code, out, _ = cli("passages", "search", "capital", "--by", "words", "--limit", "1")
    assert code == 0
    assert out.splitlines()[0].endswith("Rome (Q220)")
    assert out.splitlines()[1:] == ["     Rome  <Rome.txt>", "     Rome is the capital of Italy."]
    code, out, _ = cli("passages", "search", "capital", "--by", "words", "--text")
    assert out == "Rome: Rome is the capital of Italy.\n"
    code, out, _ = cli("passages", "search", "capital", "--by", "words", "--json")
    assert json.loads(out)["items"][0]["passage"]["entity"] == "Q220"
    code, out, _ = cli("passages", "list")
    assert [line.split()[0] for line in out.splitlines()] == ["source", "Rome.txt", "bad.jsonl"]
    assert cli("passages", "delete")[0] == 2
    code, _, err = cli("passages", "delete", "nothing")
    assert code == 2
    check_line(err, "Rome.txt", "bad.jsonl")
    assert cli("passages", "delete", "Rome.txt")[1] == "deleted 1 passages of Rome.txt\n"
    assert cli("passages", "delete", "--all")[1] == "deleted 1 passages of all sources\n"
    assert cli("passages", "load")[0] == 2
    assert cli("passages", "search")[0] == 2


def test_vectors_by_minilm(cli: Any, tmp_path: Path) -> None:
    """L6: the embedder of the package finds what shares no word with the query."""
    (tmp_path / "a.jsonl").write_text(
        '{"title": "Dog", "text": "Puppies like to play with balls."}\n'
        '{"title": "Tax", "text": "The levy is due in April."}\n'
    )
    code, out, _ = cli("passages", "load", "a.jsonl")
    assert code == 0
    assert "vectors: 2, by all-MiniLM-L6-v2" in out
    _, out, _ = cli("passages", "search", "when must money be paid to the state", "--by",
                    "vectors", "--limit", "1", "--text")  # fmt: skip
    assert out.startswith("Tax:")
