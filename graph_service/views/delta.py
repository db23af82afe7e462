"""From a view's specification to its delta (O10, K6): the one way in."""

from __future__ import annotations

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int32, Int64, KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.stored_view import ViewReport
from graph_service.model.view_delta import ViewDelta, empty_delta
from graph_service.model.view_spec import VIEW_ALGORITHM, ChangeKind, Method, Sampling, ViewSpec
from graph_service.views.draw import Stream, below, edges_asked, smallest
from graph_service.views.methods.custom import apply_changes, withhold
from graph_service.views.methods.replacement import new_relations
from graph_service.views.methods.rewiring import Outside, new_tails, rewirable
from graph_service.views.pairs import PairIndex, contains
from graph_service.views.prepared import PreparedBase
from graph_service.views.scope import scope_edges
from graph_service.views.swapping.method import pair_edges, swap_with_replacement

_SWAPPED_IN_TWOS = "edges are swapped in twos, and {0} was asked: {1} changed"


def make_delta(
    graph: KnowledgeGraph,
    spec: ViewSpec,
    /,
    *,
    prepared: PreparedBase | None = None,
    question_edges: Int32 | None = None,
    deadline: Deadline | None = None,
) -> tuple[ViewDelta, ViewReport]:
    """Returns what a view changes of its base, and how far that is what was asked.

    Args:
        graph: The base, as it is published: views of views are refused by having no type.
        spec: What is asked.
        prepared: What views of the base share, made where None: keep it beside the snapshot.
        question_edges: Base edges of the question's region, int32, for ``scope.of_question``.
        deadline: When to give up.

    Raises:
        InputError: The specification contradicts itself or names what the graph lacks.
        DeadlineError: The time allowed ran out.
    """
    spec.validate()
    deadline = deadline or Deadline.none()
    if spec.algorithm != VIEW_ALGORITHM:
        raise InputError(
            f"the view was specified for drawing rules {spec.algorithm}; this version has rules "
            f"{VIEW_ALGORITHM}",
            argument="algorithm",
        )
    if spec.method is Method.CUSTOM:
        return _custom(graph, spec, deadline)
    if spec.method is Method.WITHHOLDING:
        delta, named = withhold(graph, spec.statement_ids, count=spec.count, deadline=deadline)
        return delta, _report(named, None, delta)
    prepared = prepared or PreparedBase(graph)
    index = prepared.index
    scope, notes = scope_edges(
        graph, spec.scope, index=index, question_edges=question_edges, deadline=deadline
    )
    deadline.check("drawing edges")
    asked = (
        edges_asked(spec.level, len(scope))
        if spec.level is not None
        else min(spec.count or 0, len(scope))
    )
    stream = Stream(spec.random_seed, spec.method, spec.algorithm)
    said = list(notes)
    if spec.count is not None and spec.count > len(scope):
        said.append(f"{spec.count} edges were asked and {len(scope)} are in scope")
    if not len(scope):
        said.append("no edge is in scope")
    if spec.method is Method.EDGE_DELETION:
        hashes = stream.hashes(graph.statement_keys, at=scope, purpose="order")
        delta = _delta(removed=scope[smallest(hashes, asked)])
    elif spec.method is Method.RELATION_SWAPPING:
        delta = _swapping(graph, spec, scope, asked, stream, index, deadline, said)
    elif spec.method is Method.EDGE_REWIRING:
        delta, repeats = _rewiring(graph, scope, asked, stream, index, deadline, said)
        return delta, _report(
            len(scope), spec.level, delta, rel=graph.rel, unavoidable=repeats, notes=said
        )
    else:
        if prepared.scorer.name != spec.scorer:
            raise InputError(
                f"the view asks for scorer {spec.scorer!r}, got {prepared.scorer.name!r}",
                argument="scorer",
                hint="Ask for 'counts', which needs no training, or train that scorer first.",
            )
        delta = _replacement(prepared, spec, scope, asked, stream, deadline, said)
    return delta, _report(
        len(scope),
        spec.level,
        delta,
        rel=graph.rel,
        unavoidable=_repeats(graph, delta, index),
        notes=said,
    )


def _swapping(
    graph: KnowledgeGraph,
    spec: ViewSpec,
    scope: Int32,
    asked: int,
    stream: Stream,
    index: PairIndex,
    deadline: Deadline,
    said: list[str],
) -> ViewDelta:
    if spec.sampling is Sampling.OKGQA:
        relations = swap_with_replacement(
            graph, scope, asked // 2, stream=stream, deadline=deadline
        )
        changed = np.flatnonzero(relations != graph.rel[scope])
        if len(changed) < asked:
            said.append(
                f"sampling okgqa draws with replacement and swaps within a relation: {asked} "
                f"edges were asked, {len(changed)} changed"
            )
        return _replaced(graph, scope[changed], rel=relations[changed])
    sequence = pair_edges(
        graph, scope, stream=stream, index=index, deadline=deadline, wanted=asked // 2
    )
    first, second = sequence.first, sequence.second
    if len(first) < asked // 2:
        said.append(
            f"{asked} edges were asked and only {2 * sequence.count} can be paired: one "
            "relation holds more than half of the edges in scope"
        )
    elif asked % 2:
        said.append(_SWAPPED_IN_TWOS.format(asked, 2 * len(first)))
    relations = graph.rel.copy()
    relations[first] = graph.rel[second]
    relations[second] = graph.rel[first]
    chosen = np.zeros(graph.edge_count, dtype=np.bool_)
    chosen[first] = True
    chosen[second] = True
    edges = np.flatnonzero(chosen).astype(np.int32)
    return _replaced(graph, edges, rel=relations[edges])


def _rewiring(
    graph: KnowledgeGraph,
    scope: Int32,
    asked: int,
    stream: Stream,
    index: PairIndex,
    deadline: Deadline,
    said: list[str],
) -> tuple[ViewDelta, int]:
    outside = Outside(graph, index, deadline)
    able = scope[rewirable(graph, scope, index=index, outside=outside)]
    if asked > len(able):
        said.append(
            f"{asked} edges were asked and {len(able)} can be rewired: the heads of the others "
            "are joined to every entity"
        )
    hashes = stream.hashes(graph.statement_keys, at=able, purpose="order")
    edges = able[smallest(hashes, min(asked, len(able)))]
    if not len(edges):
        return empty_delta(), 0
    tails, repeats = new_tails(
        graph, edges, stream=stream, index=index, outside=outside, deadline=deadline
    )
    return _replaced(graph, edges, tail=tails), repeats


def _replacement(
    prepared: PreparedBase,
    spec: ViewSpec,
    scope: Int32,
    asked: int,
    stream: Stream,
    deadline: Deadline,
    said: list[str],
) -> ViewDelta:
    graph = prepared.graph
    if len(prepared.index.relations) < 2:
        if asked:
            said.append(f"{asked} edges were asked and the graph has no second relation")
        return empty_delta()
    chosen: Int64
    if spec.sampling is Sampling.OKGQA:
        counters = np.arange(asked, dtype=np.int64)
        chosen = np.unique(below(stream.hashes(counters, purpose="draw"), len(scope)))
        if len(chosen) < asked:
            said.append(
                f"sampling okgqa draws with replacement: {asked} edges were asked, "
                f"{len(chosen)} changed"
            )
    else:
        hashes = stream.hashes(graph.statement_keys, at=scope, purpose="order")
        chosen = smallest(hashes, asked)
    relations = new_relations(prepared, scope, chosen, stream=stream, deadline=deadline)
    return _replaced(graph, scope[chosen], rel=relations)


def _custom(
    graph: KnowledgeGraph, spec: ViewSpec, deadline: Deadline
) -> tuple[ViewDelta, ViewReport]:
    delta = apply_changes(graph, spec.changes, deadline=deadline)
    return delta, _report(graph.edge_count, None, delta, rel=graph.rel, share=False)


def _repeats(graph: KnowledgeGraph, delta: ViewDelta, index: PairIndex) -> int:
    """How many edges of a new relation repeat a triple of the base or of one before them."""
    # Both ends stay: only an edge that others run beside can say what they say.
    crowded = index.parallel[delta.replaced]
    edges = delta.replaced[crowded]
    packed = index.pack(graph.head[edges], delta.replaced_rel[crowded], graph.tail[edges])
    ascending = np.sort(packed)
    again = np.zeros(len(packed), dtype=np.bool_)
    again[1:] = ascending[1:] == ascending[:-1]
    return int(np.count_nonzero(again | contains(index.parallel_triples, ascending)))


def _delta(*, removed: Int32) -> ViewDelta:
    none = np.zeros(0, dtype=np.int32)
    return ViewDelta(removed, none, none, none, none, none, none)


def _replaced(
    graph: KnowledgeGraph, edges: Int32, /, *, rel: Int32 | None = None, tail: Int32 | None = None
) -> ViewDelta:
    none = np.zeros(0, dtype=np.int32)
    return ViewDelta(
        removed=none,
        replaced=edges,
        replaced_rel=graph.rel[edges] if rel is None else rel,
        replaced_tail=graph.tail[edges] if tail is None else tail,
        added_head=none,
        added_rel=none,
        added_tail=none,
    )


def _report(
    scope: int,
    level: float | None,
    delta: ViewDelta,
    /,
    *,
    rel: Int32 | None = None,
    unavoidable: int = 0,
    notes: list[str] | None = None,
    share: bool = True,
) -> ViewReport:
    renamed = 0
    if rel is not None:
        renamed = int(np.count_nonzero(delta.replaced_rel != rel[delta.replaced]))
    return ViewReport(
        scope_edges=scope,
        level_asked=level,
        level_reached=(len(delta.removed) + len(delta.replaced)) / scope
        if share and scope
        else None,
        counts={
            "removed": len(delta.removed),
            ChangeKind.RELATION_CHANGED.value: renamed,
            ChangeKind.VALUE_CHANGED.value: len(delta.replaced) - renamed,
            ChangeKind.ADDED.value: len(delta.added_head),
        },
        unavoidable=unavoidable,
        notes=tuple(notes or ()),
    )
