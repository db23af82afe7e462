"""Frozen vectors: computed once, the first one written holds, for threads and processes."""

from __future__ import annotations

import gc
import multiprocessing
import sqlite3
import tempfile
import threading
import time
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from error_texts import raises
from hypothesis import given, settings
from hypothesis import strategies as st

from graph_service.byte_budget import ByteBudget
from graph_service.embed import VectorFile, Vectors, open_vectors, vector_file
from graph_service.embed import vectors as vectors_module
from graph_service.errors import (
    DeadlineError,
    GraphServiceError,
    InputError,
    SchemaVersionError,
    StoreCorruptError,
    StoreUnavailableError,
)
from graph_service.model.limits import CutReason, Deadline


class Counting:
    """An embedder whose vectors differ in every call, so that a second computation shows."""

    name = "counting@1"
    dimension = 8

    def __init__(self, *, seed: int = 0, pause_s: float = 0.0) -> None:
        self.computed: list[str] = []
        self._random = np.random.default_rng(seed)
        self._pause_s = pause_s

    def encode(self, texts: Sequence[str], /) -> np.ndarray:
        time.sleep(self._pause_s)
        self.computed.extend(texts)
        vectors = self._random.normal(size=(len(texts), 8)).astype(np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


def test_each_distinct_text_is_computed_once(tmp_path: Path) -> None:
    embedder = Counting()
    with open_vectors(embedder, tmp_path / "new folder" / "v.db") as vectors:
        first = vectors.encode(["a", "b", "a", "", "b"])
        assert embedder.computed == ["a", "b", ""]
        assert (first[0] == first[2]).all()
        assert (first[1] == first[4]).all()
        again = vectors.encode(["b", "c", "a"])
        assert embedder.computed == ["a", "b", "", "c"]
        assert (again[[0, 2]] == first[[1, 0]]).all()
        assert vectors.encode([]).shape == (0, 8)
        assert vectors.file is not None
        assert vectors.file.count() == 4
    later = Counting(seed=99)
    with open_vectors(later, tmp_path / "new folder" / "v.db") as vectors:
        assert (vectors.encode(["a", "b"]) == first[:2]).all()
        assert vectors.known(["a", "x", "c", "x"]).tolist() == [True, False, True, False]
        assert later.computed == []


def test_models_do_not_mix(tmp_path: Path) -> None:
    one, other = Counting(), Counting(seed=1)
    other.name = "counting@2"
    with VectorFile(tmp_path / "v.db") as file:
        Vectors(one, file).encode(["a"])
        assert not Vectors(other, file).known(["a"]).any()
        assert Vectors(one, file).known(["a"]).all()


def test_vectors_of_one_model_computed_in_two_ways_do_not_mix(tmp_path: Path) -> None:
    class Anew(Counting):
        arithmetic = "exact-1"

    path = tmp_path / "v.db"
    with open_vectors(Counting(), path) as vectors:
        before = vectors.encode(["a"])
    anew = Anew(seed=1)
    with open_vectors(anew, path) as vectors:
        after = vectors.encode(["a"])
    assert anew.computed == ["a"]
    assert not np.array_equal(before, after)
    with open_vectors(Anew(seed=2), path) as vectors:
        assert np.array_equal(vectors.encode(["a"]), after)


def test_without_a_file() -> None:
    embedder = Counting()
    vectors = open_vectors(embedder)
    assert (vectors.encode(["a"]) == vectors.encode(["a"])).all()
    assert embedder.computed == ["a"]
    vectors.close()


def test_many_texts_over_several_queries(tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(1300)]
    with open_vectors(Counting(), tmp_path / "v.db") as vectors:
        first = vectors.encode(texts)
    embedder = Counting(seed=5)
    with open_vectors(embedder, tmp_path / "v.db") as vectors:
        assert (vectors.encode(texts[::-1]) == first[::-1]).all()
    assert embedder.computed == []


def test_limit_takes_the_first_texts_first(tmp_path: Path) -> None:
    embedder = Counting()
    with open_vectors(embedder, tmp_path / "v.db") as vectors:
        vectors.encode(["known"])
        part = vectors.encode_some(["a", "b", "known", "a", "c"], max_new=2)
        assert embedder.computed == ["known", "a", "b"]
        assert part.known.tolist() == [True, True, True, True, False]
        assert not part.vectors[4].any()
        assert part.cut is not None
        assert (part.cut.what, part.cut.reason) == ("embedded", CutReason.WORK_BUDGET)
        assert (part.cut.kept, part.cut.total, part.cut.limit) == (3, 4, 2.0)
        assert vectors.encode_some(["a", "b"], max_new=0).cut is None


def test_deadline_keeps_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder = Counting()
    texts = [f"text {i}" for i in range(128 * 8)]
    # Each text takes a second.
    clock = SimpleNamespace(monotonic=lambda: float(len(embedder.computed)))
    monkeypatch.setattr("graph_service.model.limits.time", clock)
    with open_vectors(embedder, tmp_path / "v.db") as vectors:
        with pytest.raises(DeadlineError, match="embedding"):
            vectors.encode(texts, deadline=Deadline.after(400.0))
        done = len(embedder.computed)
        assert 400 <= done < len(texts)
        assert done % 128 == 0
        part = vectors.encode_some(texts, deadline=Deadline.after(-1))
        assert part.known.tolist() == [True] * done + [False] * (len(texts) - done)
        assert part.cut is not None
        assert part.cut.reason is CutReason.DEADLINE
        vectors.encode(texts, deadline=Deadline.none())
        assert len(embedder.computed) == len(texts)


def _work(path: Path, seed: int, barrier: object, queue: object) -> None:
    with open_vectors(Counting(seed=seed), path) as vectors:
        barrier.wait()  # type: ignore[attr-defined]
        found = vectors.encode([f"text {i}" for i in range(300)])
        queue.put(found.tobytes())  # type: ignore[attr-defined]


def test_processes_agree(tmp_path: Path) -> None:
    """Four processes compute the same texts at once, each with other last bits (here: entirely
    other vectors); all end up with the same ones (docs/reference/retrieval.md,
    Determinism)."""
    context = multiprocessing.get_context("spawn")
    barrier, queue = context.Barrier(4), context.Queue()
    workers = [
        context.Process(target=_work, args=(tmp_path / "v.db", seed, barrier, queue))
        for seed in range(4)
    ]
    for worker in workers:
        worker.start()
    results = [queue.get(timeout=600) for _ in workers]
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len(set(results)) == 1
    with VectorFile(tmp_path / "v.db") as file:
        assert file.count() == 300


@pytest.mark.parametrize("kept", [True, False])
def test_threads_agree(tmp_path: Path, kept: bool) -> None:
    """With a file and without one, all threads get one vector a text."""
    vectors = open_vectors(Counting(pause_s=0.002), tmp_path / "v.db" if kept else None)
    texts = [f"text {i}" for i in range(400)]
    results: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: results.append(vectors.encode(texts).tobytes()))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 6
    assert len(set(results)) == 1
    vectors.close()


def test_read_only_file_serves_and_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    with open_vectors(Counting(), path) as vectors:
        first = vectors.encode(["a"])
    before = path.read_bytes()
    with VectorFile(path, read_only=True) as file:
        vectors = Vectors(Counting(seed=3), file)
        assert (vectors.encode(["a"]) == first).all()
        new = vectors.encode(["b"])
        assert (vectors.encode(["b"]) == new).all()
        assert file.count() == 1
        assert file.read_only
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["v.db"]


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with open_vectors(Counting(), tmp_path / "file" / "v.db") as vectors:
        assert vectors.file is not None
        assert vectors.file.read_only
        assert vectors.file.count() == 0
        assert (vectors.encode(["a"]) == vectors.encode(["a"])).all()


def test_full_disk_does_not_stop_work(tmp_path: Path) -> None:
    with open_vectors(Counting(), tmp_path / "v.db") as vectors:
        first = vectors.encode(["a"])
        assert vectors.file is not None
        with vectors.file._connection() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages}")
        more = vectors.encode([f"text {i}" for i in range(2000)])
        assert vectors.file.read_only == "database or disk is full"
        assert (vectors.encode([f"text {i}" for i in range(2000)]) == more).all()
        assert (vectors.encode(["a"]) == first).all()


def is_open(connection: sqlite3.Connection) -> bool:
    try:
        connection.execute("SELECT 1")
    except sqlite3.ProgrammingError:
        return False
    return True


def test_a_file_that_is_dropped_closes_its_connections(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "v.db")
    file.count()
    (connection,) = file._idle
    assert is_open(connection)
    del file
    gc.collect()
    assert not is_open(connection)


def test_a_file_that_is_refused_leaves_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def noting(*given: Any, **named: Any) -> sqlite3.Connection:
        opened.append(connect(*given, **named))
        return opened[-1]

    text = tmp_path / "text.db"
    text.write_text("this is no database, though it is long enough to be taken for one" * 20)
    monkeypatch.setattr(sqlite3, "connect", noting)
    with pytest.raises(StoreCorruptError):
        VectorFile(text)
    assert opened
    assert not any(map(is_open, opened))


def test_other_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("this is no database, though it is long enough to be taken for one" * 20)
    with raises(StoreCorruptError):
        VectorFile(text)
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE notes (id)")
    connection.commit()
    connection.close()
    with raises(StoreCorruptError):
        VectorFile(other)
    newer = tmp_path / "newer.db"
    VectorFile(newer).close()
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version = 9")
    connection.commit()
    connection.close()
    with pytest.raises(SchemaVersionError, match="schema 9"):
        VectorFile(newer)


def test_vectors_of_another_length_are_noticed(tmp_path: Path) -> None:
    with open_vectors(Counting(), tmp_path / "v.db") as vectors:
        vectors.encode(["a"])
    wider = Counting()
    wider.dimension = 9
    with (
        open_vectors(wider, tmp_path / "v.db") as vectors,
        pytest.raises(StoreCorruptError, match="8 numbers"),
    ):
        vectors.encode(["a"])


def test_a_lock_that_stays_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graph_service.embed.vector_file._BUSY_MS", 50)
    with open_vectors(Counting(), tmp_path / "v.db") as vectors:
        other = sqlite3.connect(tmp_path / "v.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="locked") as caught:
            vectors.encode(["a"])
        assert caught.value.retryable
        other.execute("ROLLBACK")
        other.close()
        assert vectors.encode(["a"]).shape == (1, 8)


def test_surrogates_and_closed_files(tmp_path: Path) -> None:
    vectors = open_vectors(Counting(), tmp_path / "v.db")
    with pytest.raises(InputError, match="surrogate"):
        vectors.encode(["\udcff"])
    vectors.close()
    with pytest.raises(InputError, match="is closed"):
        vectors.encode(["a"])


def test_memory_keeps_what_is_in_use() -> None:
    embedder = Counting()
    vectors = Vectors(embedder, memory=ByteBudget(70_000))
    for i in range(500):
        vectors.encode(["often", f"once {i}"])
    assert embedder.computed.count("often") == 1


def test_memory_is_bounded_by_the_bytes_of_texts_too() -> None:
    budget = ByteBudget(1_000_000)
    vectors = Vectors(Counting(), memory=budget)
    for i in range(40):
        vectors.encode([f"{i} " + "x" * 100_000])
        assert sum(budget.used().values()) <= 1_000_000
    assert vectors.known(["39 " + "x" * 100_000, "0 " + "x" * 100_000]).tolist() == [True, False]


def test_texts_that_pass_are_kept_among_the_last_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of questions would grow for ever; what a graph's texts are stays."""
    monkeypatch.setattr(vector_file, "MAX_TRANSIENT", 3)
    path = tmp_path / "v.db"
    with open_vectors(Counting(), path) as vectors:
        first = vectors.encode(["graph text", "question 0"], transient=["question 0"])
        assert vectors.file is not None
        assert (vectors.file.count(), vectors.file.count_transient()) == (1, 1)
        for i in range(1, 9):
            vectors.encode([f"question {i}", "graph text"], transient={f"question {i}"})
        assert (vectors.file.count(), vectors.file.count_transient()) == (1, 3)
    later = Counting(seed=5)
    with open_vectors(later, path) as vectors:
        assert vectors.encode(["graph text"]).tolist() == first[:1].tolist()
        vectors.encode(["question 8", "question 6"])
        assert later.computed == []
        vectors.encode(["question 0"], transient=["question 0"])
        assert later.computed == ["question 0"]


def test_a_file_of_an_earlier_version_is_read_and_given_checksums(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    with open_vectors(Counting(), path) as vectors:
        vectors.encode(["a"])
    old = sqlite3.connect(path)
    old.execute("DROP TABLE passing")
    old.execute("ALTER TABLE vector DROP COLUMN checksum")
    old.execute("PRAGMA user_version = 1")
    old.commit()
    old.close()
    with VectorFile(path, read_only=True) as file:
        read = Vectors(Counting(seed=3), file)
        assert read.known(["a"]).all()
        read.encode(["question"], transient=["question"])
        assert file.count_transient() == 0
        assert file.count_damaged() is None
    with open_vectors(Counting(seed=3), path) as vectors:
        assert vectors.known(["a"]).all()
        vectors.encode(["question"], transient=["question"])
        assert vectors.file is not None
        assert (vectors.file.count(), vectors.file.count_transient()) == (1, 1)
        assert vectors.file.count_damaged() == 0
    with VectorFile(path) as file:
        assert file.count_damaged() == 0


class Hashing:
    """An embedder that gives a text the same vector each time, as MiniLM does."""

    name = "hashing@1"
    dimension = 16
    arithmetic = "exact"

    def encode(self, texts: Sequence[str], /) -> np.ndarray:
        words = [blake2b(text.encode(), digest_size=64).digest() for text in texts]
        numbers = np.frombuffer(b"".join(words), dtype="<u4").reshape(len(texts), 16)
        return np.asarray(numbers / 2**32, dtype=np.float32)

    def count_tokens(self, text: str, /) -> int:
        return len(text.split())


TEXTS = [f"text {i}" for i in range(60)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "v.db"
    with open_vectors(Hashing(), path) as vectors:
        vectors.encode(TEXTS, transient=TEXTS[40:])
    return path.read_bytes()


def open_damaged(path: Path, data: bytes) -> bool:
    """Returns whether texts have their vectors still; False where the damage is told."""
    path.write_bytes(data)
    try:
        with open_vectors(Hashing(), path) as vectors:
            got = vectors.encode(TEXTS, transient=TEXTS[40:])
            again = vectors.encode(TEXTS)
    except GraphServiceError:
        return False
    assert (got == Hashing().encode(TEXTS)).all()
    assert (again == got).all()
    return True


@pytest.mark.parametrize("start", range(8))
def test_no_damaged_byte_changes_a_vector(tmp_path: Path, whole: bytes, start: int) -> None:
    for offset in range(start * 5, len(whole), 8 * 29):
        damaged = bytearray(whole)
        damaged[offset] ^= 1 << (offset % 8)
        open_damaged(tmp_path / f"{offset}.db", bytes(damaged))


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_no_damage_changes_a_vector(whole: bytes, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(whole) - 1))
    piece = data.draw(st.binary(min_size=1, max_size=4096))
    damaged = whole[:offset] + piece + whole[offset + len(piece) :]
    with tempfile.TemporaryDirectory() as folder:
        open_damaged(Path(folder) / "v.db", damaged[: data.draw(st.integers(1, len(damaged)))])


@pytest.mark.parametrize("read_only", [False, True])
def test_a_damaged_row_is_computed_again_and_counted(
    tmp_path: Path, whole: bytes, read_only: bool
) -> None:
    path = tmp_path / "v.db"
    (vector,) = Hashing().encode(["text 7"])
    at = whole.index(vector.tobytes())
    path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with VectorFile(path, read_only=read_only) as file:
        assert file.count_damaged() == 1
        vectors = Vectors(Hashing(), file)
        assert (vectors.encode(TEXTS) == Hashing().encode(TEXTS)).all()
        assert file.damaged == 1
        assert file.count_damaged() == int(read_only)
        assert file.count() + file.count_transient() == len(TEXTS)


def test_the_row_of_another_text_is_no_vector(tmp_path: Path, whole: bytes) -> None:
    path = tmp_path / "v.db"
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    connection.execute(
        "UPDATE vector SET (vector, checksum) = (SELECT vector, checksum FROM vector LIMIT 1)"
    )
    connection.commit()
    connection.close()
    with open_vectors(Hashing(), path) as vectors:
        assert (vectors.encode(TEXTS) == Hashing().encode(TEXTS)).all()
        assert vectors.file is not None
        assert vectors.file.damaged == 39


class Held(Counting):
    """An embedder that computes when it is let go, and fails if it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.go = threading.Semaphore(0), threading.Event()
        self.fails = False

    def encode(self, texts: Sequence[str], /) -> np.ndarray:
        self.begun.release()
        assert self.go.wait(600)
        if self.fails:
            self.fails = False
            raise StoreUnavailableError("the endpoint is away")
        return super().encode(texts)


class Waits:
    """A deadline that says when somebody who waits for another thread looks at it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(vectors_module, "_WAIT_S", 0.001)
        self.looked = threading.Event()
        self.is_over = False
        deadline = Deadline.none()
        self.deadline = SimpleNamespace(at=None, stop=None, check=deadline.check, passed=self._look)
        self._looks = 0

    def _look(self) -> bool:
        self._looks += 1
        # The first look is before the step, the next ones are made while it waits.
        if self._looks > 1:
            self.looked.set()
        return self.is_over


@pytest.mark.parametrize("fails", [False, True])
def test_threads_compute_a_text_once_between_them(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen first questions on a graph need the same thousand names at once."""
    embedder, waits = Held(), Waits(monkeypatch)
    vectors = Vectors(embedder)
    rows: dict[str, Any] = {}

    def encode(name: str, texts: list[str], deadline: Any) -> None:
        try:
            rows[name] = vectors.encode(texts, deadline=deadline)
        except StoreUnavailableError as error:
            rows[name] = error

    first = threading.Thread(target=encode, args=("first", ["a", "b"], None))
    first.start()
    assert embedder.begun.acquire(timeout=600)
    embedder.fails = fails
    other = threading.Thread(target=encode, args=("other", ["b", "a"], waits.deadline))
    other.start()
    assert waits.looked.wait(600)
    embedder.go.set()
    first.join(600)
    other.join(600)
    assert sorted(embedder.computed) == ["a", "b"]
    if fails:
        assert isinstance(rows["first"], StoreUnavailableError)
        assert (rows["other"] == vectors.encode(["b", "a"])).all()
    else:
        assert (rows["first"] == rows["other"][::-1]).all()


def test_who_waits_for_another_threads_vectors_keeps_its_time_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embedder, waits = Held(), Waits(monkeypatch)
    vectors = Vectors(embedder)
    first = threading.Thread(target=vectors.encode, args=(["a"],))
    first.start()
    try:
        assert embedder.begun.acquire(timeout=600)
        waits.is_over = False
        monkeypatch.setattr(waits.looked, "set", lambda: setattr(waits, "is_over", True))
        part = vectors.encode_some(["a"], deadline=waits.deadline)  # type: ignore[arg-type]
        assert part.known.tolist() == [False]
        assert part.cut is not None
        assert part.cut.reason is CutReason.DEADLINE
    finally:
        embedder.go.set()
        first.join(600)
    assert vectors.known(["a"]).all()
