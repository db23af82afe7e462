"""Every long loop of views, deviation and retrieval looks at its deadline (no clock is used here).

A counted deadline comes at its n-th look. So what is tested is that the work ends there, and that
between two looks no more than so many calls are made, however large the graph: numpy's work over
whole arrays, and what is embedded (which has limits of its own), are left out of that count.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from counted_deadline import CountedDeadline
from graph_builder import build_graph, node_of
from retrieve_samples import asking_of, region_of, toy_encode

from graph_service.errors import DeadlineError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.ranking import Encoding
from graph_service.model.result import Strategy
from graph_service.model.values import MonolingualText
from graph_service.model.view_spec import Change, Method, Sampling, Scope, ViewSpec
from graph_service.rank import EmbeddingRanker
from graph_service.retrieve.engine import ResolvedRequest, run
from graph_service.retrieve.preset import resolve_preset
from graph_service.retrieve.region import stats
from graph_service.retrieve.region.class_filter import instances_of
from graph_service.retrieve.region.stats import region_stats
from graph_service.retrieve.tree.solver import solve
from graph_service.views.delta import make_delta
from graph_service.views.measure.deviation import BaseMeasure, measure
from graph_service.views.measure.steps import Steps
from graph_service.views.overlay import lay
from graph_service.views.prepared import PreparedBase

Work = Callable[[Deadline], object]
MOST_CALLS = 20_000
"""Between two looks: some ten milliseconds. A loop of five calls an edge makes more here."""
SIZE = 4000
SHAPES = ("star", "clique", "hub")


@cache
def shape(name: str) -> tuple[KnowledgeGraph, PreparedBase, Overlay]:
    """A graph of some 4,000 statements, what its views share, and a view of it."""
    if name == "star":
        graph = build_graph(
            [("n0", f"p{i % 7}", f"leaf {i}") for i in range(SIZE)]
            + [(f"o{i}", "q", f"o{i + 1}") for i in range(40)]
        )
    elif name == "clique":
        graph = build_graph(
            [(f"n{i}", f"p{(i + j) % 5}", f"n{j}") for i in range(63) for j in range(63) if i != j]
        )
    else:
        texts = [MonolingualText(f"text {i}", f"l{i % 50}") for i in range(SIZE // 4)]
        graph = build_graph(
            [(f"a{i}", f"p{j}", "n0") for i in range(SIZE // 4) for j in range(2)]
            + [("n0", "name", text) for text in texts]
            + [(f"a{i}", "q", f"a{i + 1}") for i in range(SIZE // 4)]
        )
    prepared = PreparedBase(graph)
    delta, _ = make_delta(graph, ViewSpec(Method.EDGE_DELETION, level=0.3, random_seed=1))
    return graph, prepared, lay(graph, delta, view_id="v")


def views_of(graph: KnowledgeGraph) -> dict[str, ViewSpec]:
    ids = tuple(graph.statement_ids.take(np.arange(2000)))
    drawn: dict[str, Any] = {"level": 1.0, "random_seed": 1}
    return {
        "swapping": ViewSpec(Method.RELATION_SWAPPING, **drawn),
        "swapping with replacement": ViewSpec(
            Method.RELATION_SWAPPING, sampling=Sampling.OKGQA, **drawn
        ),
        "replacement": ViewSpec(Method.RELATION_REPLACEMENT, **drawn),
        "rewiring": ViewSpec(Method.EDGE_REWIRING, **drawn),
        "deletion": ViewSpec(Method.EDGE_DELETION, **drawn),
        "scope around": ViewSpec(
            Method.EDGE_DELETION, scope=Scope(around_entity_ids=("n0",), hops=2), **drawn
        ),
        "scope of statements": ViewSpec(
            Method.EDGE_DELETION, scope=Scope(statement_ids=ids), **drawn
        ),
        "withholding": ViewSpec(Method.WITHHOLDING, statement_ids=ids),
        "custom": ViewSpec(
            Method.CUSTOM, changes=tuple(Change(statement_id=one, remove=True) for one in ids)
        ),
    }


def view_work(name: str, view: str) -> Work:
    graph, prepared, _ = shape(name)
    spec = views_of(graph)[view]
    return lambda deadline: make_delta(graph, spec, prepared=prepared, deadline=deadline)


def measuring(name: str, what: str) -> Work:
    graph, prepared, overlay = shape(name)
    index, scorer = prepared.index, prepared.scorer
    if what == "base's measure":
        return lambda deadline: BaseMeasure.of(graph, scorer=scorer, index=index, deadline=deadline)
    if what == "measure":
        base = prepared.measure()
        return lambda deadline: measure(graph, overlay, base, deadline=deadline)
    ends = [(int(graph.head[edge]), int(graph.tail[-edge])) for edge in range(1, 4)]

    def count(deadline: Deadline) -> list[int | None]:
        counted = Steps(graph, overlay, deadline=deadline)
        return [counted.nearest([start], [end]) for start, end in ends]

    return count


def retrieval(name: str, strategy: Strategy, preset: str) -> Work:
    graph, _, _ = shape(name)

    def encode(deadline: Deadline) -> Callable[[Sequence[str]], npt.NDArray[np.float32]]:
        def counted(texts: Sequence[str]) -> npt.NDArray[np.float32]:
            assert isinstance(deadline, CountedDeadline)
            with deadline.not_counted():
                return toy_encode(texts)

        return counted

    return lambda deadline: run(
        ResolvedRequest(
            strategy=strategy,
            question="Which leaf p3 text of the hub?",
            graph=graph,
            start_entities=np.array([graph.find_node("n0")], dtype=np.int32),
            preset=resolve_preset(preset, strategy=strategy),
            encode=encode(deadline),
            ranker=EmbeddingRanker(Encoding("counted", encode(deadline))),
            asking=asking_of("Which leaf p3 text of the hub?", {node_of(graph, "n0"): ""}),
            prove=True,
            deadline=deadline,
        )
    )


VIEWS = tuple(views_of(build_graph([(f"a{i}", "p", "b") for i in range(2000)])))
MEASURES = ("base's measure", "measure", "steps")
PRESETS = ("okgqa", "default", "ltgen")


def works(name: str) -> dict[str, Work]:
    """All that is tested on a shape, by name."""
    return {
        **{view: view_work(name, view) for view in VIEWS},
        **{what: measuring(name, what) for what in MEASURES},
        **{
            f"{preset} {strategy.value}": retrieval(name, strategy, preset)
            for preset in PRESETS
            for strategy in Strategy
            if (preset, strategy) != ("ltgen", Strategy.SUBGRAPH)
        },
    }


@pytest.mark.parametrize("name", SHAPES)
def test_little_is_done_between_two_looks(name: str) -> None:
    for what, work in works(name).items():
        work(CountedDeadline())  # What is made once, and modules that are imported, are not meant.
        deadline = CountedDeadline()
        with deadline.watched():
            work(deadline)
        assert deadline.looks > 0, what
        assert deadline.most <= MOST_CALLS, (what, deadline.where)


@pytest.mark.parametrize("name", SHAPES)
def test_work_ends_at_the_look_that_comes_late(name: str) -> None:
    for what, work in works(name).items():
        work(CountedDeadline())  # What is made once looks at the first deadline alone.
        whole = CountedDeadline()
        work(whole)
        for late in {1, (whole.looks + 1) // 2, whole.looks}:
            deadline = CountedDeadline(late)
            with pytest.raises(DeadlineError):
                work(deadline)
            assert deadline.looks == late, (what, deadline.looks, whole.looks)


def test_what_can_be_a_heads_tail_is_found_once() -> None:
    """O10: a star whose edges compete for few tails, which were listed anew for each edge."""
    graph = build_graph(
        [("hub", "p", f"leaf {i}") for i in range(800)]
        + [(f"o{i}", "q", f"o{i + 1}") for i in range(60)]
    )
    deadline = CountedDeadline()
    with deadline.watched():
        _, report = make_delta(
            graph, ViewSpec(Method.EDGE_REWIRING, level=1.0, random_seed=1), deadline=deadline
        )
    assert report.unavoidable == 800 - 61
    # All edges take a step at once, and nothing is listed for each of them.
    assert deadline.most < MOST_CALLS


def test_a_deep_tree_of_classes_is_walked_step_by_step() -> None:
    """Subclasses of subclasses of subclasses: a look at each depth."""
    graph = build_graph([(f"Q{i}", "P279", f"Q{i + 1}") for i in range(300)])
    deadline = CountedDeadline(100)
    with pytest.raises(DeadlineError, match="subclasses"):
        instances_of(graph, None, [graph.find_node("Q300") or 0], deadline=deadline)
    assert deadline.looks == 100


@pytest.mark.parametrize("bound_work", [300_000, 60_000_000])
def test_a_long_way_between_two_prizes_is_walked_step_by_step(bound_work: int) -> None:
    """O7: distances spread one edge at a time, in several loops; each looks."""
    n = 400
    source = np.arange(n - 1)
    prizes = np.zeros(n)
    prizes[[0, n - 1]] = 1000.0

    def work(deadline: Deadline) -> object:
        return solve(
            source,
            source + 1,
            prizes=prizes,
            costs=np.ones(n - 1),
            exact_work=0,
            bound_work=bound_work,
            deadline=deadline,
        )

    whole = CountedDeadline()
    with whole.watched():
        work(whole)
    assert whole.looks > n
    assert whole.most < MOST_CALLS
    for late in (1, whole.looks // 3, whole.looks // 2, whole.looks):
        deadline = CountedDeadline(late)
        with pytest.raises(DeadlineError):
            work(deadline)
        assert deadline.looks == late


def test_triangles_are_counted_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """O3: a clique has n ** 3 / 6 triangles; no more pairs than a block are held at once."""
    n = 30
    region = region_of(n, [(i, j) for i in range(n) for j in range(i)])
    monkeypatch.setattr(stats, "MAX_WEDGES", 50)
    deadline = CountedDeadline()
    assert region_stats(region, deadline=deadline).clustering == 1.0
    assert deadline.looks >= n * (n - 1) * (n - 2) // 6 // 50


def test_who_waits_for_anothers_work_gives_up_at_its_own_deadline() -> None:
    """Two views of one base: the second waits for what the first prepares, and not for ever."""
    graph, _, _ = shape("clique")
    prepared = PreparedBase(graph)
    busy, done = threading.Event(), threading.Event()

    class Slow(CountedDeadline):
        def check(self, what: str, /) -> None:
            busy.set()
            done.wait(timeout=600)

    first = threading.Thread(target=lambda: prepared.measure(deadline=Slow()))
    first.start()
    try:
        assert busy.wait(timeout=600)
        with pytest.raises(DeadlineError, match="another view"):
            prepared.measure(deadline=CountedDeadline(1))
    finally:
        done.set()
        first.join()


def test_prizes_around_one_node_are_merged_pair_by_pair() -> None:
    """O7: a star of prizes shrinks by one leaf a round; each round looks."""
    leaves = 300
    source, target = np.zeros(leaves, dtype=np.int64), np.arange(1, leaves + 1)
    prizes, costs = np.full(leaves + 1, 5.0), np.ones(leaves)

    def work(deadline: Deadline) -> object:
        return solve(source, target, prizes=prizes, costs=costs, deadline=deadline)

    whole = CountedDeadline()
    with whole.watched():
        work(whole)
    assert whole.looks > leaves
    assert whole.most < MOST_CALLS
    deadline = CountedDeadline(leaves)
    with pytest.raises(DeadlineError):
        work(deadline)
    assert deadline.looks == leaves


def test_an_error_of_time_names_the_setting() -> None:
    with pytest.raises(DeadlineError) as caught:
        Deadline.after(0).check("walking the graph")
    assert "GRAPH_SERVICE_READ_TIMEOUT_S" in (caught.value.hint or "")
