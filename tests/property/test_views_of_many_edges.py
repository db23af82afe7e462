"""Views of a graph whose edge numbers take 64 bits: those of the same graph in 32 (O10).

Small graphs stand for large ones: ``MOST_32_BIT`` is set below their number of edges.
``tests/unit/test_views_of_large_numbers.py`` has numbers that do not fit 32 bits.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from error_texts import raises
from graph_builder import Triple, build_graph, node_of
from hypothesis import given, settings
from hypothesis import strategies as st
from multigraphs import LEVELS, SEEDS, triples
from retrieve_samples import asking_of, toy_encode

from graph_service.artifacts.pruned import pruned_edges
from graph_service.errors import StoreCorruptError
from graph_service.model import topology
from graph_service.model.graph import KnowledgeGraph, Numbers
from graph_service.model.limits import Deadline
from graph_service.model.overlay import EdgeSet
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank, Snak, Statement
from graph_service.model.stored_view import ViewReport
from graph_service.model.values import EntityValue, StringValue, Time
from graph_service.model.view_delta import NameDelta, ViewDelta
from graph_service.model.view_spec import (
    Change,
    Method,
    Replacement,
    Sampling,
    Scope,
    ViewSpec,
)
from graph_service.retrieve.engine import ResolvedRequest, run
from graph_service.retrieve.preset import resolve_preset
from graph_service.retrieve.region.cut import _extra_edges, extra_edges_bytes, extract_region
from graph_service.service.comparison import changed_edges
from graph_service.views import codec
from graph_service.views.alone import draw_alone, with_parallel_edges
from graph_service.views.codec import decode_delta, encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.draw import Stream, ascending, below
from graph_service.views.measure.describe import differences
from graph_service.views.measure.deviation import measure
from graph_service.views.measure.steps import Steps
from graph_service.views.overlay import lay
from graph_service.views.part import Part
from graph_service.views.paths import Walker
from graph_service.views.prepared import PreparedBase
from graph_service.views.scope import scope_edges
from graph_service.views.swapping.method import pair_edges
from graph_service.views.swapping.pairing import Pairing

Found = dict[str, Any]
"""What is compared, by name: arrays, and what is equal or not."""


def graph() -> KnowledgeGraph:
    """A multigraph with classes, literals, ranks, parallel edges and a rule."""
    draw = random.Random(7)
    rows: list[Triple] = [(f"e{place}", "P31", f"class{place % 3}") for place in range(30)]
    for place in range(220):
        head, tail = f"e{int(30 * draw.random() ** 2)}", f"e{draw.randrange(30)}"
        rows.append((head, f"r{min(draw.randrange(4), draw.randrange(4))}", tail))
        if place % 5 == 0:
            rows += [(head, "r0", tail), (head, "r3", tail)]
        if place % 11 == 0:
            rows.append((head, "note", StringValue(f"text {place}")))
    ranks = {
        place: draw.choice([Rank.PREFERRED, Rank.DEPRECATED])
        for place in range(len(rows))
        if draw.random() < 0.1
    }
    labels = {f"e{place}": f"name of e{place // 2}" for place in range(30)}
    labels |= {"r0": "spouse", "r1": "mother", "r2": "employer", "r3": "award"}
    return build_graph(rows, ranks=ranks, labels=labels)


BASE = graph()
IDS = list(BASE.statement_ids)
E1, E2 = ("e1",), ("e2",)
NEAR = Scope(around_entity_ids=E1, hops=1)
NAMED = Scope(statement_ids=tuple(IDS[:90:9]))
OF_QUESTION = Scope(of_question=True)
SPECS = [
    ViewSpec(Method.RELATION_SWAPPING, level=0.5, random_seed=3),
    ViewSpec(Method.RELATION_SWAPPING, level=1.0, random_seed=3),
    ViewSpec(Method.RELATION_SWAPPING, level=0.5, sampling=Sampling.OKGQA),
    ViewSpec(Method.RELATION_SWAPPING, level=0.8, scope=NEAR),
    ViewSpec(Method.RELATION_REPLACEMENT, level=0.3),
    ViewSpec(Method.RELATION_REPLACEMENT, level=0.3, sampling=Sampling.OKGQA),
    ViewSpec(Method.RELATION_REPLACEMENT, level=0.3, replacement=Replacement.PLAUSIBLE),
    ViewSpec(Method.EDGE_REWIRING, level=0.3),
    ViewSpec(Method.EDGE_DELETION, level=0.3),
    ViewSpec(Method.EDGE_DELETION, count=2, scope=replace(NEAR, relation_ids=("r0", "r1"))),
    ViewSpec(Method.EDGE_DELETION, level=1.0, scope=replace(NEAR, pruned=True)),
    ViewSpec(Method.EDGE_DELETION, level=0.5, scope=NAMED),
    ViewSpec(Method.PATH_DELETION, level=0.5, entity_ids=E1, answer_ids=E2),
    ViewSpec(Method.PATH_DELETION, level=1.0, entity_ids=E1, answer_ids=E2, control=True),
    ViewSpec(Method.CONTRADICTION, level=0.2),
    ViewSpec(Method.INSERTION, level=0.2),
    ViewSpec(Method.INSERTION, count=2, entity_ids=E1, answer_ids=E2),
    ViewSpec(Method.TYPE_PRESERVING, level=0.3),
    ViewSpec(Method.INVERSION, level=0.4),
    ViewSpec(Method.RULE_DELETION, level=0.5, rule_support=2, rule_confidence=0.1),
    ViewSpec(Method.STALE, level=0.9),
    ViewSpec(Method.NAMES, level=0.5),
    ViewSpec(Method.WITHHOLDING, statement_ids=(IDS[3], IDS[70], IDS[71])),
    ViewSpec(
        Method.CUSTOM,
        changes=(
            Change(IDS[3], remove=True),
            Change(IDS[70], relation="r9", value=EntityValue("nobody")),
            Change(head="e1", relation="r1", value=StringValue("text")),
        ),
    ),
]
DRAWN = [
    method
    for method in Method
    if method not in (Method.WITHHOLDING, Method.CUSTOM, Method.PATH_DELETION)
]
OF_EDGES = {
    "delta removed", "delta replaced", "decoded removed", "decoded replaced",
    "overlay gone", "overlay base_edge", "overlay risen",
}  # fmt: skip


def dated(ids: Sequence[str]) -> dict[str, Statement]:
    """Statements that began in some year each."""
    return {
        id_: Statement(
            id_,
            "e0",
            "r0",
            EntityValue("e1"),
            qualifiers=(Snak("P580", Time(f"{1000 + IDS.index(id_)}-00-00T00:00:00Z", 9)),),
        )
        for id_ in ids
    }


def columns(name: str, thing: Any) -> Found:
    """The fields of a delta, an overlay or a region."""
    found: Found = {}
    for field in fields(thing):
        value = getattr(thing, field.name)
        if isinstance(value, NameDelta):
            found |= columns(f"{name} {field.name}", value)
            continue
        if isinstance(value, EdgeSet):
            value = value.numbers
        elif isinstance(value, Sequence):
            value = list(value)
        found[f"{name} {field.name}"] = value
    return found


def drawn(base: KnowledgeGraph, spec: ViewSpec) -> tuple[ViewDelta, ViewReport]:
    """A view's changes, of a pruned scope as the store of views makes them."""
    if not spec.scope.pruned:
        return make_delta(base, spec, prepared=PreparedBase(base, statements=dated))
    kept = pruned_edges(base, [node_of(base, "e1")], hops=2, deadline=Deadline.none())
    part = Part.of(base, kept)
    delta, report = make_delta(part.graph, replace(spec, scope=Scope()))
    return part.in_base(delta), report


def view(base: KnowledgeGraph, spec: ViewSpec) -> Found:
    """A view: what it changes, its bytes, and what is read and measured on it."""
    delta, report = drawn(base, spec)
    assert delta.changed_count + delta.renamed_count
    data = encode_delta(base, delta)
    overlay = lay(base, delta, view_id="v")
    start = np.array([node_of(base, "e1")], dtype=np.int32)
    changes = list(differences(base, delta))
    found: Found = {
        "report": report,
        "bytes": data[codec._header(base.edge_count).size : -4],
        "changes": [changes, changed_edges(overlay, changes)],
        "deviation": measure(base, overlay, PreparedBase(base).measure()),
        "steps": Steps(base, overlay).nearest(start.tolist(), [node_of(base, "e3")]),
        **columns("delta", delta),
        **columns("decoded", decode_delta(base, data)),
        **columns("overlay", overlay),
    }
    for best_only in (True, False):
        region = extract_region(
            base, start, hops=2, max_edges=150, overlay=overlay, best_only=best_only
        )
        found |= columns(f"region {best_only}", region)
    question = "Who is the mother of the spouse of name of e1?"
    for strategy in Strategy:
        found[strategy] = run(
            ResolvedRequest(
                strategy=strategy,
                question=question,
                graph=base,
                start_entities=start,
                preset=resolve_preset("default", strategy=strategy),
                encode=toy_encode,
                overlay=overlay,
                asking=asking_of(question, {int(start[0]): ""}),
            )
        )
    return found


def assert_same(found: Found, narrow: Found, *, wide: Callable[[str], bool]) -> None:
    """Compares what two graphs say; of what is ``wide`` one has 64 bits and the other 32."""
    assert found.keys() == narrow.keys()
    for name, value in narrow.items():
        if not isinstance(value, np.ndarray):
            assert found[name] == value, name
            continue
        assert found[name].tolist() == value.tolist(), name
        kinds = value.dtype, found[name].dtype
        assert kinds == ((np.int32, np.int64) if wide(name) else (kinds[0], kinds[0])), name


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: f"{spec.method}-{SPECS.index(spec)}")
@pytest.mark.parametrize("most", [2, BASE.edge_count - 1])
def test_a_view_in_64_bits_is_that_in_32(
    spec: ViewSpec, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where 32 bits number no scope and no part of the graph, and where they number all but it."""
    narrow = view(BASE, spec)
    monkeypatch.setattr(topology, "MOST_32_BIT", most)
    assert_same(view(graph(), spec), narrow, wide=OF_EDGES.__contains__)


def test_each_method_has_such_a_view() -> None:
    assert {spec.method for spec in SPECS} == {*Method}


def on_the_way(base: KnowledgeGraph) -> Found:
    """What drawing and laying views makes of edge numbers and does not return."""
    prepared = PreparedBase(base, statements=dated)
    index, deadline = prepared.index, Deadline.none()
    question: Numbers = np.arange(10, 90, dtype=base.edge_type)
    scopes = [
        Scope(),
        NEAR,
        replace(NEAR, hops=0),
        NAMED,
        Scope(relation_ids=("r0",)),
        OF_QUESTION,
    ]
    found: Found = {
        f"scope {place} {of_any_kind}": scope_edges(
            base, scope, of_any_kind=of_any_kind, question_edges=question
        )[0]
        for place, scope in enumerate(scopes)
        for of_any_kind in (True, False)
    }
    scope = found["scope 0 False"]
    stream = Stream(5, Method.RELATION_SWAPPING, 1)
    hashes = stream.hashes(base.statement_keys, purpose="order")
    pairs = pair_edges(base, scope, stream=stream, index=index, deadline=deadline)
    work = Pairing.of(base, scope, index)
    work.join_neighbours()
    rules = prepared.restorable(atoms=2, support=2, confidence=0.1)
    walker = Walker(base, index, deadline)
    one, two = node_of(base, "e1"), node_of(base, "e2")
    part = Part.of(base, question)
    swapped = ViewSpec(Method.RELATION_SWAPPING, level=0.9, scope=OF_QUESTION)
    delta, _ = draw_alone(base, swapped, scope_edges(base, OF_QUESTION, question_edges=question)[0])
    none = ViewSpec(Method.NAMES, level=0.0)
    overlay = lay(base, make_delta(base, ViewSpec(Method.INVERSION, level=1.0))[0], view_id="v")
    return found | {
        "order": ascending(hashes),
        "pairs": np.stack([pairs.first, pairs.second]),
        "partner": work.partner,
        "group": work.group,
        "holder": work._holder,
        "joined": work.pairs(),
        "rule head": rules.head,
        "rule first": rules.first,
        "rule second": rules.second,
        "measured": prepared.measure().edges,
        "paths": walker.shortest([one], [two]).edges,
        "no path": walker.shortest([one], []).edges,
        "region": walker.region([one], 2),
        "no region": walker.region([one], 0),
        "beside": with_parallel_edges(base, scope[:9]),
        "part": part.edges,
        "in the part": Part.within(part.graph, base).edges,
        "pruned": pruned_edges(base, [one], hops=2, deadline=deadline),
        "alone": delta.replaced,
        "nothing removed": make_delta(base, none)[0].removed,
        "nothing replaced": make_delta(base, none)[0].replaced,
        "few": EdgeSet.of(question[:5], base.edge_count).numbers,
        **{f"way {place}": way.edges for place, way in enumerate(_extra_edges(overlay))},
        "bytes of ways": extra_edges_bytes(overlay)
        - sum(way.endpoints.nbytes + way.edges.nbytes for way in _extra_edges(overlay)),
    }


@pytest.mark.parametrize("cached", [1 << 20, 16])
def test_all_that_is_made_of_edge_numbers_on_the_way_has_their_type(
    cached: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where more hashes are ordered than a processor's cache holds."""
    monkeypatch.setattr("graph_service.views.draw._CACHED", cached)
    narrow = on_the_way(BASE)
    monkeypatch.setattr(topology, "MOST_32_BIT", 2)
    assert_same(on_the_way(graph()), narrow, wide=lambda _: True)


@settings(max_examples=60)
@given(rows=triples(), seed=SEEDS, level=LEVELS, method=st.sampled_from(DRAWN))
def test_any_graph_s_views_are_the_same(
    rows: list[Triple], seed: int, level: float, method: Method
) -> None:
    spec = ViewSpec(method, level=level, random_seed=seed)
    narrow = columns("delta", make_delta(build_graph(rows), spec)[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topology, "MOST_32_BIT", 0)
        found = columns("delta", make_delta(build_graph(rows), spec)[0])
    assert_same(found, narrow, wide=OF_EDGES.__contains__)


def test_counts_in_a_views_bytes_have_64_bits_where_edge_numbers_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    spec = ViewSpec(Method.CUSTOM, changes=SPECS[-1].changes)
    narrow = encode_delta(BASE, make_delta(BASE, spec)[0])
    assert codec._HEADER.unpack_from(narrow)[4:] == (1, 1, 1)
    monkeypatch.setattr(topology, "MOST_32_BIT", BASE.edge_count)
    assert encode_delta(BASE, make_delta(BASE, spec)[0]) == narrow
    monkeypatch.setattr(topology, "MOST_32_BIT", BASE.edge_count - 1)
    base = graph()
    wide = encode_delta(base, make_delta(base, spec)[0])
    assert codec._WIDE_HEADER.unpack_from(wide)[4:] == (1, 1, 1)
    cut = wide[: codec._HEADER.size + 5]
    with raises(StoreCorruptError):
        decode_delta(base, cut + struct.pack("<I", zlib.crc32(cut)))


@pytest.mark.parametrize("limit", [2**32 - 1, 2**32, 2**32 + 1, 2**33 + 12_345, 2**35 - 1])
def test_draws_reach_every_number_below_a_limit_of_more_than_32_bits(limit: int) -> None:
    draw = random.Random(3)
    ends = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 2**32, 2**64 - 1]
    hashes = [*ends, *(draw.getrandbits(64) for _ in range(500))]
    found = below(np.array(hashes, dtype=np.uint64), limit).tolist()
    by_half = [(number >> 32) * limit >> 32 for number in hashes]
    assert found == (by_half if limit < 2**32 else [number * limit >> 64 for number in hashes])
