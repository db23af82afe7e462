"""Views of a graph whose edge numbers, or those of its views' own edges, do not fit 32 bits (O10).

Two or four thousand million statements of an entity that nobody asks for lie before those of a small
graph. They are holes in files, so that nothing is read or kept of them. All numbers are those of
the small graph then, and so many more.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_builder import Triple, build_graph, node_of
from retrieve_samples import asking_of, toy_encode

from graph_service.artifacts.pruned import pruned_edges
from graph_service.model.graph import (
    Adjacency,
    Codes,
    EdgeHeads,
    KnowledgeGraph,
    Numbers,
    RankedBits,
    StringTable,
    Topology,
)
from graph_service.model.identity import key64
from graph_service.model.limits import Deadline
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank
from graph_service.model.topology import edge_type
from graph_service.model.values import EntityValue, StringValue
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import Change, Method, Scope, ViewSpec
from graph_service.retrieve.engine import ResolvedRequest, run
from graph_service.retrieve.preset import resolve_preset
from graph_service.retrieve.region.cut import extract_region
from graph_service.service.browsing import PageRequest, between_entities, edges_of, find_edge
from graph_service.service.comparison import changed_edges
from graph_service.service.lookup import relations_of
from graph_service.service.triples import TripleRenderer
from graph_service.views.alone import draw_alone, with_parallel_edges
from graph_service.views.delta import make_delta
from graph_service.views.measure.describe import differences
from graph_service.views.overlay import lay
from graph_service.views.pairs import PairIndex
from graph_service.views.prepared import PreparedBase
from graph_service.views.scope import scope_edges

EDGES = [(f"e{n % 9}", f"r{n * n % 5}", f"e{n * 7 % 11}") for n in range(60)]
ROWS: list[Triple] = [*EDGES, *EDGES[:8], ("e1", "note", StringValue("a"))]
FIRST = min(key64(f"e{n}") for n in range(11))
STRANGER = next(id_ for id_ in map("x{}".format, range(999)) if key64(id_) < FIRST)
LABELS = {f"e{n}": f"name of e{n}" for n in range(11)} | {"r0": "spouse", "r1": "mother"}
SMALL = build_graph(
    ROWS, labels=LABELS, ranks={4: Rank.DEPRECATED, 9: Rank.PREFERRED}, extra_entities=[STRANGER]
)
IDS = list(SMALL.statement_ids)
NEAR = Scope(around_entity_ids=("e1",), hops=1)
NAMED = Scope(statement_ids=(IDS[-1], IDS[0], IDS[30]))
SPECS = [
    ViewSpec(Method.EDGE_DELETION, level=0.5, scope=NEAR),
    ViewSpec(Method.EDGE_REWIRING, level=0.5, scope=NEAR),
    ViewSpec(Method.RELATION_SWAPPING, level=0.8, scope=NEAR),
    ViewSpec(Method.INVERSION, level=0.8, scope=NEAR),
    ViewSpec(Method.PATH_DELETION, level=1.0, entity_ids=("e1",), answer_ids=("e4",)),
    ViewSpec(Method.WITHHOLDING, statement_ids=NAMED.statement_ids),
    ViewSpec(
        Method.CUSTOM,
        changes=(
            Change(IDS[-1], remove=True),
            Change(IDS[20], relation="r9", value=EntityValue("nobody")),
            Change(IDS[40], value=EntityValue("e1")),
            Change(head="e1", relation="r1", value=StringValue("text")),
        ),
    ),
]
"""Of each method whose cost does not follow the size of the graph."""
UP_TO_31_BITS, BEYOND = 2**31 - 1 - len(ROWS), 2**32


class Holes:
    """Columns of which the first ``count`` rows are zero and in no file."""

    def __init__(self, folder: Path, count: int) -> None:
        self._folder = folder
        self.count = count

    def before(self, column: Numbers, dtype: type | None = None) -> Numbers:
        """Returns a column with so many rows of zero before its own."""
        with tempfile.TemporaryFile(dir=self._folder) as file:
            rows = self.count + len(column)
            found = np.memmap(file, dtype or column.dtype, "w+", shape=(rows,))
        found[self.count :] = column
        return found.view(np.ndarray)

    def bits(self, members: Numbers, rows: int) -> RankedBits:
        """Returns the first of all rows as a member, and some of the small graph's."""
        words = self.count >> 6
        own = RankedBits.of(members + (self.count & 63), count=rows + (self.count & 63))
        holes = Holes(self._folder, words)
        made = RankedBits(
            holes.before(own.words), holes.before(own.before + 1), count=self.count + rows
        )
        made.words[0] |= np.uint64(1)
        return made


def behind(small: KnowledgeGraph, holes: Holes) -> KnowledgeGraph:
    """Returns a graph with more statements of its first entity, which has none, before its own."""
    part, count = small.topology, holes.count
    assert part.in_edges.edges is not None
    kind = edge_type(count + small.edge_count)

    def joined(way: Adjacency) -> tuple[RankedBits, Numbers]:
        entities = np.concatenate([[0], way.joined.members()])
        begins = np.concatenate([[0], way.begins.astype(np.int64) + count]).astype(kind)
        return RankedBits.of(entities, count=way.joined.count), begins

    topology = Topology(
        EdgeHeads(
            holes.bits(part.head.first.members(), small.edge_count),
            np.concatenate([np.zeros(1, dtype=np.int32), part.head.heads]),
        ),
        Codes(holes.before(part.rel.data)),
        holes.before(part.tail),
        Adjacency(*joined(part.out_edges), None, small.node_count),
        Adjacency(
            *joined(part.in_edges),
            holes.before(part.in_edges.edges.astype(np.int64) + count, kind),
            small.node_count,
            a_literal=1,
        ),
        holes.before(part.key_order.astype(np.int64) + count, kind),
    )
    assert isinstance(small.statement_ids, StringTable)
    keys = holes.before(small.statement_keys)
    keys[0] = np.iinfo(np.int64).min
    return replace(
        small,
        topology=topology,
        statement_keys=keys,
        statement_ids=StringTable(
            small.statement_ids.data, holes.before(small.statement_ids.offsets)
        ),
        rank=holes.before(small.rank),
        best=holes.before(small.best),
    )


def prepared(graph: KnowledgeGraph, holes: Holes) -> PreparedBase:
    """What its views share, as far as it does not follow from all of its statements."""
    index = PairIndex.build(SMALL)
    eligible, parallel = holes.before(index.eligible), holes.before(index.parallel)
    return PreparedBase(graph, index=replace(index, eligible=eligible, parallel=parallel))


@pytest.fixture(params=[UP_TO_31_BITS, BEYOND])
def holes(request: pytest.FixtureRequest, tmp_path: Path) -> Holes:
    """The base's edges fit 32 bits and not those of its views; or no edge does."""
    return Holes(tmp_path, request.param)


def test_the_base_is_as_large_as_it_says(holes: Holes) -> None:
    graph = behind(SMALL, holes)
    assert graph.edge_count == holes.count + len(ROWS)
    assert graph.edge_type is (np.int32 if holes.count == UP_TO_31_BITS else np.int64)
    assert graph.find_edge(IDS[-1]) == graph.edge_count - 1
    edges = np.arange(holes.count, graph.edge_count)
    assert graph.statement_ids.take(edges) == IDS
    for column, plain in ((graph.head, SMALL.head), (graph.rel, SMALL.rel)):
        assert column[edges].tolist() == plain[:].tolist()
    degrees = graph.degrees_of(np.arange(1, graph.node_count))
    assert degrees.tolist() == SMALL.degrees()[1:].tolist()


def drawn(graph: KnowledgeGraph, spec: ViewSpec, prepared: PreparedBase) -> ViewDelta:
    """A view's changes, drawn on its scope alone where drawing it reads the whole graph else."""
    if spec.method in (Method.RELATION_SWAPPING, Method.INVERSION):
        return draw_alone(graph, spec, scope_edges(graph, spec.scope)[0])[0]
    return make_delta(graph, spec, prepared=prepared)[0]


def seen(graph: KnowledgeGraph, delta: ViewDelta, count: int) -> dict[str, Any]:
    """What a view changes and what is read on it, with edges numbered as in the small graph."""
    overlay = lay(graph, delta, view_id="v")
    start = node_of(graph, "e1")

    def own(edges: Iterable[int | None]) -> list[int | None]:
        return [edge if edge is None or edge < 0 else edge - count for edge in edges]

    changes = list(differences(graph, delta))
    found: dict[str, Any] = {
        "removed": own(delta.removed.tolist()),
        "replaced": own(delta.replaced.tolist()),
        "gone": own(overlay.gone.numbers.tolist()),
        "base_edge": own(overlay.base_edge.tolist()),
        "ids": list(overlay.statement_ids),
        "changes": [own([one.base_edge]) for one in changes],
        "after": own(changed_edges(overlay, changes)),
        "found": own(find_edge(graph, overlay, id_) for id_ in [*IDS, *overlay.statement_ids]),
    }
    for name in ("replaced_rel", "replaced_tail", "added_head", "added_rel", "added_tail"):
        found[name] = getattr(delta, name).tolist()
    for name in ("head", "rel", "tail", "rank", "best", "kinds", "keys", "new_nodes"):
        found[f"overlay {name}"] = list(getattr(overlay, name))
    region = extract_region(graph, [start], hops=2, max_edges=200, overlay=overlay)
    found["region"] = own(region.edges.tolist())
    for name in ("nodes", "hops", "degrees", "head", "rel", "tail", "edge_keys"):
        found[f"region {name}"] = getattr(region, name).tolist()
    page = edges_of(graph, overlay, start, PageRequest(first=9, incoming=True))
    found["page"] = own(page.tolist())
    found["page relations"] = relations_of(graph, overlay, page).tolist()
    found["page of entities"] = own(between_entities(graph, overlay, page).tolist())
    shown = TripleRenderer(graph, overlay, ("en",)).show(region.edges.tolist())
    found["shown"] = dict(zip(own(shown), shown.values(), strict=True))
    question = "Who is the mother of the spouse of name of e1?"
    for strategy in Strategy:
        picked = run(
            ResolvedRequest(
                strategy=strategy,
                question=question,
                graph=graph,
                start_entities=np.array([start], dtype=np.int32),
                preset=resolve_preset("default", strategy=strategy),
                encode=toy_encode,
                overlay=overlay,
                asking=asking_of(question, {start: ""}),
            )
        )
        found[strategy] = [
            *(replace(one, edge=one.edge - count) for one in picked.triples),
            *(replace(one, edges=tuple(e - count for e in one.edges)) for one in picked.paths),
        ]
        assert found[strategy]
    return found


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.method.value)
def test_a_view_of_large_numbers_is_that_of_small_ones(spec: ViewSpec, holes: Holes) -> None:
    graph = behind(SMALL, holes)
    expected = drawn(SMALL, spec, PreparedBase(SMALL))
    assert expected.changed_count
    delta = drawn(graph, spec, prepared(graph, holes))
    assert seen(graph, delta, holes.count) == seen(SMALL, expected, 0)
    overlay = lay(graph, delta, view_id="v")
    for edges in (delta.removed, delta.replaced, overlay.gone.numbers, overlay.base_edge):
        assert edges.dtype == graph.edge_type
    if holes.count == UP_TO_31_BITS and len(overlay.keys):
        # The base's numbers fit 32 bits and those of the view's own edges do not.
        region = extract_region(
            graph, [node_of(graph, "e1")], hops=2, max_edges=200, overlay=overlay
        )
        assert region.edges.max() > 2**31 - 1 >= delta.replaced.max(initial=0)


@pytest.mark.parametrize("scope", [NEAR, NAMED, Scope(of_question=True)])
def test_a_scope_of_large_numbers_and_what_lies_beside_it(scope: Scope, holes: Holes) -> None:
    graph = behind(SMALL, holes)
    question = np.arange(20, 40)
    expected, _ = scope_edges(SMALL, scope, question_edges=question)
    edges, _ = scope_edges(graph, scope, question_edges=question + holes.count)
    assert (edges - holes.count).tolist() == expected.tolist()
    assert (with_parallel_edges(graph, edges) - holes.count).tolist() == with_parallel_edges(
        SMALL, expected
    ).tolist()
    starts = [node_of(SMALL, "e1")]
    kept = [pruned_edges(one, starts, hops=2, deadline=Deadline.none()) for one in (SMALL, graph)]
    assert (kept[1] - holes.count).tolist() == kept[0].tolist()
    assert (
        edges.dtype == with_parallel_edges(graph, edges).dtype == kept[1].dtype == graph.edge_type
    )
