"""One limit in bytes over all caches: what is charged, what goes first, what is never kept."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys
import threading
import tracemalloc
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from graphql import DocumentNode, parse
from hypothesis import given
from hypothesis import strategies as st

from graph_service import Service
from graph_service.api import document_cache
from graph_service.api.document_cache import unlink_tokens
from graph_service.api.schema import execute
from graph_service.artifacts.views import ViewStore
from graph_service.byte_budget import ENTRY_BYTES, ByteBudget, ByteCache, held_bytes
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.settings import read_settings

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["keep", "get", "charge"]),
        st.sampled_from(["a", "b"]),
        st.integers(0, 9),
        st.integers(0, 60),
    ),
    max_size=60,
)


@given(STEPS)
def test_what_is_kept_is_what_was_used_last_in_any_cache(
    steps: list[tuple[str, str, int, int]],
) -> None:
    """Compared with a list in order of use, whose first entries go until the rest fits."""
    limit = 2_000
    budget = ByteBudget(limit)
    caches = {name: ByteCache[int, tuple[str, int]](budget, name) for name in "ab"}
    kept: dict[tuple[str, int], int] = {}
    for what, name, key, size in steps:
        place = (name, key)
        bytes_ = 10 * size
        if what == "get":
            assert (caches[name].get(key) is not None) == (place in kept)
            if place in kept:
                kept[place] = kept.pop(place)
        elif what == "charge":
            caches[name].charge(key, bytes_)
            if place in kept:
                del kept[place]
                kept[place] = bytes_ + ENTRY_BYTES
        else:
            assert caches[name].put(key, place, bytes_) == place
            kept[place] = kept.pop(place, bytes_ + ENTRY_BYTES)
        while sum(kept.values()) > limit:
            del kept[next(iter(kept))]
        used = budget.used()
        assert sum(used.values()) == sum(kept.values()) <= limit
        for one in "ab":
            assert used.get(one, 0) == sum(n for (cache, _), n in kept.items() if cache == one)


def test_the_first_value_holds_and_one_larger_than_all_is_not_kept(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cache = ByteCache[str, str](ByteBudget(10_000), "things")
    assert cache.put("k", "first", 10) == "first"
    assert cache.put("k", "second", 10) == "first"
    assert cache.put_all([("k", "third", 10), ("l", "new", 10)]) == ["first", "new"]
    assert cache.put("huge", "value", 20_000) == "value"
    assert cache.get_all(["huge", "k"]) == [None, "first"]
    assert "GRAPH_SERVICE_MEMORY_GB" in caplog.text


def test_many_threads_keep_within_the_limit() -> None:
    budget = ByteBudget(50_000)
    caches = [ByteCache[int, bytes](budget, name) for name in "abcd"]
    failures: list[BaseException] = []

    def work(cache: ByteCache[int, bytes]) -> None:
        try:
            for i in range(500):
                assert cache.put(i % 90, bytes([i % 90]) * 9, 300)[0] == i % 90
                found = cache.get(i % 7)
                assert found is None or found[0] == i % 7
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(cache,)) for cache in caches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert sum(budget.used().values()) <= 50_000


def test_held_bytes_are_those_that_python_says() -> None:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        made = {f"key {i}": [np.zeros(50), ("text " * i,)] for i in range(300)}
        real = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held_bytes(made) == pytest.approx(real, rel=0.1)
    whole = np.zeros(1000)
    assert held_bytes(whole[:10], whole[5:]) < 8_500
    assert held_bytes(made, shared=(made,)) == 0


def test_mapped_arrays_hold_nothing(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(100_000))
    mapped = np.asarray(np.load(tmp_path / "a.npy", mmap_mode="r"))
    assert held_bytes(mapped[3:]) < 1_000


@pytest.mark.parametrize(
    "text",
    [
        "{graphs{nodes{name}}}" + "#" + "x" * 1_000_000,
        '{search(query:"' + "y" * 500_000 + '"){id}}',
        "{" + " ".join(f"a{i}:graphs{{nodes{{name}}}}" for i in range(500)) + "}",
    ],
)
def test_a_document_is_charged_at_least_what_it_holds(text: str) -> None:
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        document = parse(text)
        size = unlink_tokens(document)
        real = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # The text itself was there before it was read.
    assert real <= size <= 3 * real + 2 * len(text)


def test_a_document_that_goes_is_freed_at_once() -> None:
    """Its tokens are a chain in both directions, which only the garbage collector would free."""
    gc.disable()
    try:
        document = parse("{ graphs { nodes { name } } }")
        gone = weakref.ref(document.definitions[0])
        unlink_tokens(document)
        del document
        assert gone() is None
    finally:
        gc.enable()


def test_documents_of_clients_stay_within_the_budget(demo_service: Service) -> None:
    service = Service(
        demo_service.store,
        vectors=demo_service.vectors,
        settings=demo_service.settings,
        memory=ByteBudget(1_000_000),
    )
    for i in range(12):
        response = execute(service, f"{{graphs{{nodes{{name}}}}}} # {i} " + "x" * 90_000)
        assert "errors" not in response
        assert 0 < service.memory.used()["documents"] <= 1_000_000
    # A document that does not hold is not kept, however long its errors are.
    held = service.memory.used()
    assert "errors" in execute(service, "{" + "none " * 100 + "}")
    assert service.memory.used() == held


def test_a_document_is_read_and_checked_once(
    demo_service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []

    def counted(document: DocumentNode) -> int:
        read.append(document)
        return unlink_tokens(document)

    monkeypatch.setattr(document_cache, "unlink_tokens", counted)
    query = "{ graphs { nodes { name edition } } }  # read once"
    first = execute(demo_service, query)
    assert "errors" not in first
    assert execute(demo_service, query) == first
    assert len(read) == 1
    assert demo_service.memory.get("documents", [query]) == read


def test_views_are_charged_what_they_hold_and_go_by_bytes(own_service: Service) -> None:
    arrays = own_service.arrays(own_service.graph())
    memory = ByteBudget()
    views = ViewStore(own_service.store, memory=memory)
    spec = ViewSpec(Method.EDGE_DELETION, level=0.5, random_seed=1)
    laid = views.lay_spec(arrays, spec)
    used = memory.used()["views"]
    overlay, delta = laid.overlay, laid.delta
    integers = [overlay.gone.numbers, overlay.head, delta.removed, delta.replaced]
    assert used >= sum(array.nbytes for array in integers) + overlay.keys.nbytes
    tight = ByteBudget(4 * used)
    views = ViewStore(own_service.store, memory=tight)
    for seed in range(20):
        views.lay_spec(arrays, replace(spec, random_seed=seed))
        assert sum(tight.used().values()) <= 4 * used
    assert tight.used()["views"] > used


def test_what_is_prepared_for_views_is_charged_as_it_grows(own_service: Service) -> None:
    arrays = own_service.arrays(own_service.graph())
    memory = ByteBudget()
    views = ViewStore(own_service.store, memory=memory)
    views.prepared(arrays)
    before = memory.used()["bases of views"]
    views.lay_spec(arrays, ViewSpec(Method.RELATION_REPLACEMENT, level=0.5, random_seed=1))
    assert memory.used()["bases of views"] > before + 4 * arrays.edge_count


def test_the_limit_is_a_setting() -> None:
    assert read_settings({}).memory_bytes == 2**30
    assert read_settings({"GRAPH_SERVICE_MEMORY_GB": "0.25"}).memory_bytes == 2**28


_PLACES = """
import ctypes, threading
from graph_service.byte_budget import use_one_arena
use_one_arena()
libc = ctypes.CDLL(None)
together = threading.Barrier(4)
def take():
    together.wait()
    libc.malloc(100_000)
threads = [threading.Thread(target=take) for _ in range(4)]
for one in threads: one.start()
for one in threads: one.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library has one place")
@pytest.mark.parametrize(("given", "is_one"), [("", True), ("8", False)])
def test_threads_take_memory_from_one_place(given: str, is_one: bool) -> None:
    environment = {name: one for name, one in os.environ.items() if name != "MALLOC_ARENA_MAX"}
    if given:
        environment["MALLOC_ARENA_MAX"] = given
    said = subprocess.run(
        [sys.executable, "-c", _PLACES], env=environment, capture_output=True, check=True
    ).stdout
    assert (said.count(b"<heap nr=") == 1) == is_one
