"""Staleness: newest values go, and deprecated ones return (B3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from error_texts import check_line
from graph_builder import Triple, build_graph
from hypothesis import given, settings
from hypothesis import strategies as st
from multigraphs import LEVELS, SEEDS, content, triples

from graph_service.model.graph import RANK_CODES, RANKS, KnowledgeGraph
from graph_service.model.statement import Rank, Snak, Statement
from graph_service.model.values import EntityValue, Time
from graph_service.model.view_delta import ViewDelta
from graph_service.model.view_spec import ChangeCode, Method, Scope, ViewSpec
from graph_service.views import times
from graph_service.views.codec import NAMES_STAY, decode_delta, encode_delta
from graph_service.views.delta import make_delta
from graph_service.views.draw import edges_at_level
from graph_service.views.overlay import lay
from graph_service.views.prepared import PreparedBase

DEPRECATED = RANK_CODES[Rank.DEPRECATED]
PREFERRED = RANK_CODES[Rank.PREFERRED]
Years = dict[str, int]


def reader(years: Mapping[str, int]) -> times.StatementReader:
    """Statements of a year each, by start time; 0 for none."""

    def read(ids: Sequence[str]) -> dict[str, Statement]:
        return {
            id_: Statement(
                id_,
                "e0",
                "r0",
                EntityValue("e1"),
                qualifiers=(Snak("P580", Time(f"{years[id_]:04}-00-00T00:00:00Z", 9)),)
                if years.get(id_)
                else (),
            )
            for id_ in ids
        }

    return read


@st.composite
def dated(draw: st.DrawFn) -> tuple[list[Triple], dict[int, Rank], Years]:
    rows = draw(triples(25))
    places = st.integers(0, len(rows) - 1)
    ranks = draw(
        st.dictionaries(places, st.sampled_from([Rank.PREFERRED, Rank.DEPRECATED]), max_size=9)
    )
    graph = build_graph(rows, ranks=ranks)
    years = draw(st.lists(st.integers(0, 4), min_size=graph.edge_count, max_size=graph.edge_count))
    return rows, ranks, dict(zip(graph.statement_ids, years, strict=True))


def drawn(
    graph: KnowledgeGraph, years: Years, spec: ViewSpec
) -> tuple[ViewDelta, float | None, int]:
    prepared = PreparedBase(graph, statements=reader(years))
    delta, report = make_delta(graph, spec, prepared=prepared)
    return delta, report.level_reached, report.scope_edges


def newest_by_hand(graph: KnowledgeGraph, years: Years) -> set[int]:
    """By brute force: the edges that are newer than another of their head and relation."""
    groups: dict[tuple[int, int], list[int]] = {}
    for edge in range(graph.edge_count):
        if graph.rank[edge] != DEPRECATED:
            groups.setdefault((int(graph.head[edge]), int(graph.rel[edge])), []).append(edge)
    found: set[int] = set()
    for group in groups.values():
        preferred = [edge for edge in group if graph.rank[edge] == PREFERRED]
        ahead = preferred or group
        if len(ahead) == 1 and len(group) > 1:
            found.add(ahead[0])
            continue
        year = {edge: years[graph.statement_ids[edge]] for edge in ahead}
        timed = [edge for edge in ahead if year[edge]]
        for edge in timed:
            if len(timed) > 1 and all(year[edge] > year[one] for one in timed if one != edge):
                found.add(edge)
    return found


@settings(max_examples=60)
@given(dated=dated(), seed=SEEDS, low=LEVELS, high=LEVELS)
def test_newest_go_deprecated_return_and_levels_nest_b3(
    dated: tuple[list[Triple], dict[int, Rank], Years], seed: int, low: float, high: float
) -> None:
    rows, ranks, years = dated
    graph = build_graph(rows, ranks=ranks)
    newest = newest_by_hand(graph, years)
    deprecated = {edge for edge in range(graph.edge_count) if graph.rank[edge] == DEPRECATED}
    low, high = sorted((low, high))
    found = []
    for level in (low, high):
        spec = ViewSpec(Method.STALE, level=level, random_seed=seed)
        delta, reached, scope = drawn(graph, years, spec)
        removed, changed = set(delta.removed.tolist()), delta.replaced.tolist()
        assert scope == len(newest) + len(deprecated)
        assert len(removed) + len(changed) == edges_at_level(level, scope)
        assert reached == ((len(removed) + len(changed)) / scope if scope else None)
        assert removed <= newest
        assert set(changed) <= deprecated
        assert delta.replaced_rank is not None
        assert {RANKS[code] for code in delta.replaced_rank.tolist()} <= {Rank.NORMAL}
        assert not len(delta.added_head)
        assert np.array_equal(delta.replaced_tail, graph.tail[delta.replaced])
        found.append((removed, set(changed)))
        data = encode_delta(graph, delta)
        assert data[4] == NAMES_STAY
        again = decode_delta(graph, data)
        assert again.replaced_rank is not None
        assert again.replaced_rank.tolist() == delta.replaced_rank.tolist()
        assert content(graph, again) == content(graph, delta)
    assert found[0][0] <= found[1][0]
    assert found[0][1] <= found[1][1]
    if high == 1.0:
        assert found[1] == (newest, deprecated)


@settings(max_examples=40)
@given(dated=dated(), seed=SEEDS, level=LEVELS, data=st.data())
def test_the_order_of_loading_draws_nothing_else_and_ranks_are_what_a_graph_of_them_has_b3(
    dated: tuple[list[Triple], dict[int, Rank], Years],
    seed: int,
    level: float,
    data: st.DataObject,
) -> None:
    rows, ranks, years = dated
    graph = build_graph(rows, ranks=ranks)
    spec = ViewSpec(Method.STALE, level=level, random_seed=seed)
    delta, _, _ = drawn(graph, years, spec)
    order = data.draw(st.permutations(range(len(rows))))
    # The same statement ids, whatever the order in which copies of one triple come.
    ids = {row: id_ for id_, row in places_of(graph, rows, ranks).items()}
    shuffled = build_graph(
        [rows[row] for row in order],
        ranks={place: ranks[row] for place, row in enumerate(order) if row in ranks},
        statement_ids=[ids[row] for row in order],
        extra_entities=["unknown"],
    )
    other, _, _ = drawn(shuffled, years, spec)
    assert content(shuffled, other) == content(graph, delta)
    overlay = lay(graph, delta, view_id="v")
    kept = [edge for edge in range(graph.edge_count) if edge not in overlay.gone.numbers]
    best: dict[tuple[int, int], int] = {}
    ends = [(int(graph.head[e]), int(graph.rel[e]), int(graph.rank[e])) for e in kept]
    ends += list(
        zip(overlay.head.tolist(), overlay.rel.tolist(), overlay.rank.tolist(), strict=True)
    )
    for head, rel, rank in ends:
        best[head, rel] = min(rank, best.get((head, rel), rank))
    risen = set(overlay.risen.tolist())
    is_best_now = [bool(graph.best[edge]) or edge in risen for edge in kept]
    for (head, rel, rank), is_best in zip(
        ends, [*is_best_now, *overlay.best.tolist()], strict=True
    ):
        assert is_best == (rank != DEPRECATED and rank == best[head, rel])
    assert set(overlay.kinds.tolist()) <= {ChangeCode.RANK_CHANGED}


def places_of(graph: KnowledgeGraph, rows: list[Triple], ranks: dict[int, Rank]) -> dict[str, int]:
    """The row of each statement id, as ``build_graph`` numbers copies of one triple."""
    found: dict[str, int] = {}
    for row in range(len(rows)):
        alone = set(build_graph(rows[: row + 1], ranks={}).statement_ids)
        (new,) = alone - found.keys()
        found[new] = row
    return found


def test_a_question_names_what_goes_stale_around_it_b3() -> None:
    graph = build_graph(
        [("a", "led by", "b"), ("a", "led by", "c"), ("a", "led by", "d"), ("x", "led by", "y")],
        ranks={2: Rank.DEPRECATED, 3: Rank.DEPRECATED},
        statement_ids=["old", "new", "wrong", "elsewhere"],
    )
    years = {"old": 1990, "new": 2001}
    around = Scope(around_entity_ids=("a",), hops=1)
    delta, reached, scope = drawn(graph, years, ViewSpec(Method.STALE, level=1.0, scope=around))
    assert [graph.statement_ids[edge] for edge in delta.removed] == ["new"]
    assert [graph.statement_ids[edge] for edge in delta.replaced] == ["wrong"]
    assert (reached, scope) == (1.0, 2)
    named = Scope(statement_ids=("new",))
    delta, _, scope = drawn(graph, years, ViewSpec(Method.STALE, level=1.0, scope=named))
    assert [graph.statement_ids[edge] for edge in delta.removed] == ["new"]
    assert (len(delta.replaced), scope) == (0, 1)
    named = Scope(statement_ids=("old",))
    _, report = make_delta(graph, ViewSpec(Method.STALE, level=1.0, scope=named))
    check_line(report.notes[0], "nothing in scope")


@pytest.mark.parametrize(
    ("qualifiers", "begin"),
    [
        ({"P585": "2001-05-00T00:00:00Z", "P582": "1999-01-01T00:00:00Z"}, 2001_05_00),
        ({"P580": "-0044-03-15T00:00:00Z"}, -44_0000 + 3_15),
        ({"P582": "13798000000-00-00T00:00:00Z"}, 13798000000_00_00),
        ({"P580": "unknown"}, times.UNTIMED),
        ({}, times.UNTIMED),
    ],
)
def test_when_a_statement_began(qualifiers: dict[str, str], begin: int) -> None:
    snaks = tuple(Snak(relation, Time(time)) for relation, time in qualifiers.items())
    assert times.begin_of(Statement("S", "a", "p", EntityValue("b"), qualifiers=snaks)) == begin
