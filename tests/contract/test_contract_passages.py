"""Both stores keep, find and let go of passages alike (L6)."""

from __future__ import annotations

import contextlib
import lzma
import math
import sqlite3
from collections import Counter
from pathlib import Path

import orjson
import pytest
from graphs import load_graph

from graph_service.errors import GraphNotFoundError, InputError, LoadInProgressError
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.passage import Passage, make_passage
from graph_service.store import open_store, passages
from graph_service.store.passages import (
    PassageAddress,
    choose_terms,
    passage_words,
    word_scores,
)
from graph_service.store.protocol import Store
from graph_service.store.search import query_terms

TEXTS = [
    ("Rome", "Rome is the capital of Italy.", "Q220"),
    ("Rome", "It was founded by Romulus, says the legend.", "Q220"),
    ("Zwölf", "Zwolf is how some write Zwölf.", None),
    ("北京", "北京市是中国的首都。", "Q956"),
    ("Italy", "Italy has Rome, and Rome has the Tiber; the Tiber has water.", "Q38"),
]
CORPUS = [
    make_passage(text, title=title, source="wiki", entity=entity) for title, text, entity in TEXTS
]


@pytest.fixture
def graph(store: Store, graph_name: str) -> str:
    load_graph(store, graph_name, [("Q220", "P1", "Q38")])
    return graph_name


def put(store: Store, graph: str, items: list[Passage], source: str = "wiki") -> None:
    with store.passages.begin(graph, source=source, options={}, owner="t") as session:
        session.write(items, checkpoint={"done": len(items)})
        session.publish(report={"passages": len(items)})


def found(store: Store, graph: str, query: str) -> list[tuple[str, float]]:
    sets = [one for one in store.passages.sets(graph=graph) if one.published]
    matches = store.passages.match(sets, query_terms(query), deadline=Deadline.none())
    scores = word_scores(matches)
    texts = store.passages.read(list(scores))
    ranked = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0].key))
    return [(texts[place].text, score) for place, score in ranked]


def test_passages_come_back_whole_and_in_order_of_key(store: Store, graph: str) -> None:
    """L6: what was written is read, sorted by the key of its id, with counts of the set."""
    put(store, graph, CORPUS)
    (only,) = store.passages.sets(graph=graph)
    assert [item for chunk in store.passages.scan(only.number) for item in chunk] == sorted(
        CORPUS, key=lambda item: key64(item.id)
    )
    assert (only.passages, only.linked, only.source, only.published) == (5, 4, "wiki", True)
    assert only.words == sum(len(passage_words(item)) for item in CORPUS)
    assert only.report == {"passages": 5}
    assert only.published_at >= only.started_at


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("zwölf", [2]),
        ("ZWOLF", [2]),
        ("北京", [3]),
        ("romulus", [1]),
        ("tiber water", [4]),
        ("absent", []),
        ("", []),
    ],
)
def test_words_find_the_same_passages_in_both(
    store: Store, graph: str, query: str, texts: list[int]
) -> None:
    """L6: our tokens decide, in any script. The stores' full-text indexes find different things."""
    put(store, graph, CORPUS)
    assert [text for text, _ in found(store, graph, query)] == [TEXTS[n][1] for n in texts]


def test_ranking_is_bm25_over_all_words(store: Store, graph: str) -> None:
    """L6: scores as worked out by hand from the definition, the better passage first."""
    put(store, graph, CORPUS)
    ranked = found(store, graph, "Rome Tiber")
    lengths = [len(passage_words(item)) for item in CORPUS]
    mean = sum(lengths) / 5
    weight = {"rome": math.log(1 + (5 - 3 + 0.5) / 3.5), "tiber": math.log(1 + 4.5 / 1.5)}
    expected = {}
    for item, length in zip(CORPUS, lengths, strict=True):
        counts = Counter(passage_words(item))
        damping = 0.9 * (1 - 0.4 + 0.4 * length / mean)
        total = sum(weight[t] * counts[t] * 1.9 / (counts[t] + damping) for t in weight)
        if total:
            expected[item.text] = round(total / (1.9 * sum(weight.values())), 5)
    assert dict(ranked) == expected
    assert [text for text, _ in ranked] == sorted(expected, key=lambda text: -expected[text])
    assert ranked[0][0] == TEXTS[4][1]


def test_a_source_loaded_again_takes_the_place_of_the_earlier(store: Store, graph: str) -> None:
    """L6: readers see the old set until the new one is published, and never both."""
    put(store, graph, CORPUS)
    put(store, graph, [make_passage("Other text.", source="b")], source="other")
    with store.passages.begin(graph, source="wiki", options={}, owner="t") as session:
        session.write([make_passage("New text.", source="wiki")], checkpoint={})
        assert len(found(store, graph, "rome")) == 3
        assert not found(store, graph, "new")
        session.publish()
    assert not found(store, graph, "rome")
    assert len(found(store, graph, "text")) == 2
    assert [one.source for one in store.passages.sets(graph=graph)] == ["other", "wiki"]


def test_an_interrupted_load_goes_on(store: Store, graph: str) -> None:
    """L6: the checkpoint stands with the passages; the result is that of an unbroken load."""
    put(store, graph, CORPUS)
    (whole,) = store.passages.sets(graph=graph)
    with store.passages.begin(graph, source="cut", options={"a": 1}, owner="t") as session:
        assert session.checkpoint is None
        session.write(CORPUS[:2], checkpoint={"at": 2})
        number = session.number
    with store.passages.begin(graph, source="cut", options={"a": 1}, owner="u") as session:
        assert session.number == number
        assert session.checkpoint == {"at": 2}
        session.write(CORPUS[1:], checkpoint={"at": 5})
        again = session.publish()
    assert (again.fingerprint, again.words) == (whole.fingerprint, whole.words)
    with store.passages.begin(graph, source="cut", options={"a": 2}, owner="u") as session:
        assert session.checkpoint is None
        assert session.number != number
        session.abort()
    assert [one.source for one in store.passages.sets(graph=graph)] == ["wiki", "cut"]


def test_other_options_begin_anew(store: Store, graph: str) -> None:
    """L6: a load left unfinished with other options is thrown away."""
    with store.passages.begin(graph, source="cut", options={"a": 1}, owner="t") as session:
        session.write(CORPUS, checkpoint={"at": 5})
    with store.passages.begin(graph, source="cut", options={"a": 2}, owner="t") as session:
        assert session.checkpoint is None
        session.write(CORPUS[:1], checkpoint={"at": 1})
        assert session.publish().passages == 1


def test_one_writer_a_source(store: Store, graph: str) -> None:
    """L6: a second owner is refused while the first holds the lease, and the first is told."""
    with store.passages.begin(graph, source="s", options={}, owner="a", lease_s=60) as session:
        with pytest.raises(LoadInProgressError, match="being loaded by"):
            store.passages.begin(graph, source="s", options={}, owner="b")
        with pytest.raises(LoadInProgressError):
            store.passages.delete(graph)
        with store.passages.begin(graph, source="s", options={}, owner="a") as taken:
            with pytest.raises(LoadInProgressError, match="taken over"):
                session.write(CORPUS, checkpoint={})
            taken.abort()


def test_deleting(store: Store, graph: str) -> None:
    """L6: by source, by graph, and with the graph; nothing of it is found afterwards."""
    put(store, graph, CORPUS)
    put(store, graph, [make_passage("Other Rome.")], source="other")
    assert store.passages.delete(graph, source="nothing") == 0
    assert store.passages.delete(graph, source="wiki") == 5
    assert [text for text, _ in found(store, graph, "rome")] == ["Other Rome."]
    with store.passages.begin(graph, source="dead", options={}, owner="t") as session:
        session.write(CORPUS, checkpoint={})
    store.delete_graph(graph)
    assert store.passages.sets(graph=graph) == []
    with pytest.raises(GraphNotFoundError):
        store.passages.begin(graph, source="wiki", options={}, owner="t")


def test_what_no_store_can_hold_is_refused(store: Store, graph: str) -> None:
    """L6: NUL and lone surrogates, before anything is written."""
    with store.passages.begin(graph, source="s", options={}, owner="t") as session:
        for text in ("a\x00b", "a\ud800"):
            item = Passage("0" * 32, "", "", text)
            with pytest.raises(InputError, match="a passage holds"):
                session.write([CORPUS[0], item], checkpoint={})
        assert session.publish().passages == 0


def test_common_words_do_not_hide_rare_ones(
    store: Store, graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L6: candidates come from the rarest words first, and the cut is said."""
    monkeypatch.setattr(passages, "MATCH_LIMIT", 3)
    items = [make_passage(f"the number {n}", source="s") for n in range(8)]
    put(store, graph, [*items, make_passage("the needle", source="s")])
    sets = store.passages.sets(graph=graph)
    matches = store.passages.match(sets, ["the", "needle"], deadline=Deadline.none())
    assert matches.frequencies == {"the": 9, "needle": 1}
    assert not matches.complete
    assert [match.words for match in matches.matches] == ["the needle"]
    common = store.passages.match(sets, ["the"], deadline=Deadline.none())
    keys = sorted(key64(item.id) for item in [*items, make_passage("the needle", source="s")])
    assert [match.address.key for match in common.matches] == keys[:3]
    assert not common.complete


def test_both_stores_agree(neo4j_store: Store, tmp_path: Path, data_dir: Path) -> None:
    """L6: over real Wikipedia text, the same passages with the same scores from both stores."""
    with lzma.open(data_dir / "wice" / "oracle_chunks_claim_dev.jsonl.xz") as file:
        lines = file.read().splitlines()
    items = {}
    for line in lines[:150]:
        row = orjson.loads(line)
        evidence = " ".join(row["evidence"])[:600]
        item = make_passage(" ".join(evidence.split()), title=row["claim"][:30])
        items[item.id] = item
    name = "passages-agree"
    results = []
    with open_store(f"sqlite:///{tmp_path / 'a.db'}") as sqlite_store:
        for store in (sqlite_store, neo4j_store):
            load_graph(store, name, [("Q1", "P1", "Q2")])
            put(store, name, list(items.values()))
            (only,) = store.passages.sets(graph=name)
            queries = ["when was the film released", "population of the city in 2010", "he won"]
            results.append(
                (only.fingerprint, only.words, [found(store, name, query) for query in queries])
            )
        neo4j_store.delete_graph(name)
    assert results[0] == results[1]
    assert all(len(one) > 20 for one in results[0][2])


def test_choose_terms_takes_the_rarest() -> None:
    """L6: at least one word always, however common."""
    assert choose_terms({"a": 0, "b": 6_000}) == (["b"], False)
    assert choose_terms({"a": 3, "b": 4_000, "c": 2_000}) == (["a", "c"], False)
    assert choose_terms({"a": 3, "b": 2}) == (["b", "a"], True)
    assert choose_terms({}) == ([], True)


def test_places_that_are_gone_are_absent(store: Store, graph: str) -> None:
    """L6: reading a place that no longer is gives nothing."""
    put(store, graph, CORPUS)
    (only,) = store.passages.sets(graph=graph)
    place = PassageAddress(only.number, key64(CORPUS[0].id))
    assert store.passages.read([place, PassageAddress(only.number, 5)]) == {place: CORPUS[0]}


def test_a_file_of_the_first_schema_gains_passages(tmp_path: Path) -> None:
    """L6: an older file is read as it is, and brought forward once it may be written."""
    path = tmp_path / "old.db"
    with open_store(f"sqlite:///{path}") as store:
        load_graph(store, "g", [("Q1", "P1", "Q2")])
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE passage_sets")
        connection.execute("PRAGMA user_version = 1")
    with open_store(f"sqlite:///{path}", read_only=True) as store:
        assert store.passages.sets() == []
        assert store.graph("g").counts.statements == 1
    with open_store(f"sqlite:///{path}") as store:
        put(store, "g", CORPUS)
        assert len(found(store, "g", "rome")) == 3
