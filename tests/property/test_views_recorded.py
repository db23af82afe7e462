"""Deltas of many graphs as they were when drawing rules 1 came out (O10).

A view is known by its specification and its base: the same rules give the same delta on every
machine and in every release. Rules that change take a new ``VIEW_ALGORITHM``. To record anew:
``PYTHONPATH=tests:. python tests/property/test_views_recorded.py > tests/golden/view_deltas.json``.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from graph_builder import build_graph, delta_by_key

from graph_service.errors import GraphServiceError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.statement import Rank
from graph_service.model.stored_view import ViewReport
from graph_service.model.values import StringValue
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Method, Sampling, Scope, ViewSpec
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "view_deltas.json"
DRAWN = (
    Method.RELATION_SWAPPING,
    Method.RELATION_REPLACEMENT,
    Method.EDGE_REWIRING,
    Method.EDGE_DELETION,
)


class Looked(Deadline):
    """A deadline that never comes and counts how often each stage looks at it."""

    looks: Counter[str] = Counter()

    def check(self, what: str, /) -> None:
        self.looks[what] += 1


def random_graph(seed: int, edges: int, nodes: int, relations: int) -> KnowledgeGraph:
    """A multigraph with literals and ranks, its first relation more common than the others."""
    rng = random.Random(seed)
    triples = [
        (
            f"e{rng.randrange(nodes)}",
            f"r{min(rng.randrange(relations), rng.randrange(relations))}",
            StringValue(str(place)) if rng.random() < 0.05 else f"e{rng.randrange(nodes)}",
        )
        for place in range(edges)
    ]
    ranks = dict.fromkeys(range(0, edges, 17), Rank.DEPRECATED) | {3: Rank.PREFERRED}
    return build_graph(triples, ranks=ranks, extra_entities=["alone"])


def joined_twice(rows: int) -> KnowledgeGraph:
    """Parallel edges that only chains of exchanges can place, and others beside them."""
    return build_graph(
        [(f"e{i}", f"r{i % 4}", f"f{i}") for i in range(rows)]
        + [(f"e{i}", f"r{(i + 1) % 4}", f"f{i}") for i in range(rows)]
        + [(f"g{i}", f"r{i % 4}", f"g{i + 1}") for i in range(rows)]
    )


def dominated(count: int) -> KnowledgeGraph:
    """One relation holds most edges, all between the same two nodes."""
    return build_graph(
        [("x", "a", "y")] * count
        + [("x", "b", "y"), ("x", "c", "y")]
        + [(f"u{i}", "bc"[i % 2], f"v{i % 7}") for i in range(2 * count)]
    )


GRAPHS: dict[str, Callable[[], KnowledgeGraph]] = {
    "nothing": lambda: build_graph([], extra_entities=["e0"]),
    "one edge": lambda: build_graph([("e0", "r0", "e1")]),
    "one relation": lambda: build_graph([(f"e{i}", "r0", f"e{i + 1}") for i in range(9)]),
    "complete": lambda: build_graph(
        [(f"e{i}", f"r{(i + j) % 3}", f"e{j}") for i in range(5) for j in range(5)]
    ),
    "joined twice": lambda: joined_twice(13),
    "joined twice, larger": lambda: joined_twice(60),
    "dominated": lambda: dominated(12),
    "dominated, larger": lambda: dominated(40),
    "few nodes": lambda: random_graph(1, 60, 4, 5),
    "few nodes, larger": lambda: random_graph(2, 300, 12, 6),
    "two relations": lambda: random_graph(3, 200, 15, 2),
    "thin": lambda: random_graph(4, 300, 200, 7),
    "many relations": lambda: random_graph(5, 400, 25, 300),
    "larger": lambda: random_graph(6, 3000, 500, 12),
}


def specs(graph: KnowledgeGraph) -> list[ViewSpec]:
    found = [
        ViewSpec(method, level=level, random_seed=seed)
        for method in DRAWN
        for level, seed in ((0.1, 3), (0.5, 8), (1.0, 2**63 - 1))
    ]
    found += [ViewSpec(method, count=5, random_seed=1) for method in DRAWN]
    found += [
        ViewSpec(method, level=0.5, random_seed=4, sampling=Sampling.OKGQA)
        for method in (Method.RELATION_SWAPPING, Method.RELATION_REPLACEMENT)
    ]
    relations = tuple(sorted(graph.relation_ids)[:2])
    entities = tuple(sorted(graph.node_ids[at] for at in range(graph.entity_count))[1:3])
    around = Scope(relation_ids=relations, around_entity_ids=entities, hops=2)
    return found + [ViewSpec(method, level=0.6, random_seed=6, scope=around) for method in DRAWN]


def told(graph: KnowledgeGraph, delta: ViewDelta, report: ViewReport) -> list[object]:
    """A delta in ids and in order of its statements' keys, its report, and the view as laid."""
    overlay = lay(graph, delta, view_id="v")
    delta = delta_by_key(graph, delta)
    base = overlay.base_edge.copy()
    base[base >= 0] = graph.key_ranks(base[base >= 0])
    return [
        [overlay.statement_ids[at] for at in range(len(overlay.keys))],
        [column.tolist() for column in (overlay.kinds, overlay.rank, base)],
        [str(column.dtype) for column in (overlay.head, overlay.kinds, overlay.rank)],
        [graph.statement_ids[edge] for edge in delta.removed.tolist()],
        [graph.statement_ids[edge] for edge in delta.replaced.tolist()],
        [graph.relation_ids[rel] for rel in delta.replaced_rel.tolist()],
        [graph.node_ids[tail] for tail in delta.replaced_tail.tolist()],
        [report.scope_edges, report.level_reached, report.counts, report.unavoidable],
        report.notes,
    ]


def drawn(graph: KnowledgeGraph) -> dict[str, str]:
    """The digest of each delta, or the error, by specification."""
    found: dict[str, str] = {}
    for spec in specs(graph):
        scope = "" if spec.scope == Scope() else " around"
        name = f"{spec.method} {spec.level or spec.count} {spec.sampling}{scope}"
        try:
            delta, report = make_delta(graph, spec)
        except GraphServiceError as error:
            found[name] = f"{type(error).__name__}: {error}"
            continue
        text = json.dumps(told(graph, delta, report))
        found[name] = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return found


def looks(graph: KnowledgeGraph) -> dict[str, dict[str, int]]:
    """How often each method looks at the deadline, by stage."""
    found = {}
    for method in DRAWN:
        Looked.looks = Counter()
        make_delta(graph, ViewSpec(method, level=0.9, random_seed=1), deadline=Looked())
        found[method.value] = dict(Looked.looks)
    return found


@pytest.mark.parametrize("name", GRAPHS)
def test_deltas_are_those_that_were_recorded(name: str) -> None:
    assert drawn(GRAPHS[name]()) == json.loads(GOLDEN.read_text())["drawn"][name]


@pytest.mark.parametrize("name", ["complete", "joined twice", "dominated", "few nodes, larger"])
def test_every_loop_looks_at_the_deadline(name: str) -> None:
    """At least as often as recorded: a stage that no longer looks can run past its time."""
    now = looks(GRAPHS[name]())
    for method, stages in json.loads(GOLDEN.read_text())["looks"][name].items():
        for stage, count in stages.items():
            assert now[method].get(stage, 0) >= count, (method, stage)


if __name__ == "__main__":
    record = {
        "drawn": {name: drawn(make()) for name, make in GRAPHS.items()},
        "looks": {name: looks(make()) for name, make in GRAPHS.items()},
    }
    print(json.dumps(record, indent=1))
