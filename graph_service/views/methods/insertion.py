"""Insertion: false statements are added, at random or as chains to a false answer (B3).

A chain goes as a shortest path of the question goes, relation by relation, from the question's
entity over other entities of the same types to a target of the answer's type: the misleading
chains of RAG Safety (Zhao et al. 2025, arXiv 2507.08862) and the poisoned relations of GragPoison
(Liang et al. 2025, arXiv 2501.14050), made without a language model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from graph_service.model.graph import Bool, Int32, Int64, Numbers, require_node
from graph_service.views.choosing import Candidates, first_able, take_turns
from graph_service.views.draw import below
from graph_service.views.drawing import Draw, MethodResult, added
from graph_service.views.notes import shortfall
from graph_service.views.paths import Walker
from graph_service.views.pools import Pools

MAX_ROUTES = 1_000
"""Shortest paths of a question that chains are modelled on."""

_TRIES = 64
"""Candidates that are looked at for a place in a chain."""

Triple = tuple[int, int, int]


def draw_insertion(draw: Draw, /) -> MethodResult:
    """Returns the view with false statements more: chains where a question is given."""
    return _chains(draw) if draw.spec.entity_ids else _at_random(draw)


def _at_random(draw: Draw) -> MethodResult:
    """A statement for each of the first edges: its head, any edge's relation, any entity."""
    graph, prepared, index = draw.graph, draw.prepared, draw.index
    scope = draw.scope()
    by_key = graph.in_key_order(scope)
    everyone = Pools(np.array([0, len(index.linked)], dtype=np.int64), index.linked)

    def relations(edges: Numbers) -> Int32:
        keys = graph.statement_keys
        hashes = draw.stream.hashes(keys, at=edges, purpose="relation")
        return graph.rel[by_key[below(hashes, len(scope))]]

    def choose(edges: Numbers) -> Int32:
        head, rel = graph.head[edges], relations(edges)

        def refused(rows: Int64, offered: Int32) -> Bool:
            is_stated = prepared.says(head[rows], rel[rows], offered)
            return np.asarray((offered == head[rows]) | is_stated)

        def packed(rows: Int64, offered: Int32) -> Int64:
            return index.pack(head[rows], rel[rows], offered)

        candidates = Candidates(
            everyone,
            np.zeros(len(edges), dtype=np.int64),
            graph.statement_keys[edges],
            draw.stream,
        )
        return take_turns(candidates, refused=refused, packed=packed, deadline=draw.deadline)

    edges, tails = first_able(draw, scope, draw.target(len(scope)), choose)
    return MethodResult(added(graph, graph.head[edges], relations(edges), tails), len(scope))


@dataclass(frozen=True, slots=True)
class _Step:
    """One statement of a path, as it is walked: the other end's pool, and which end that is."""

    relation: int
    is_forward: bool
    pool: int

    def triple(self, here: int, there: int) -> Triple:
        return (here, self.relation, there) if self.is_forward else (there, self.relation, here)


@dataclass(frozen=True, slots=True)
class _Route:
    """A shortest path of the question.

    Attributes:
        start: The question's entity.
        nodes: All entities on it.
        steps: Its statements from there on.
        key: From which its place among the others and its draws follow.
    """

    start: int
    nodes: frozenset[int]
    steps: tuple[_Step, ...]
    key: int


def _chains(draw: Draw) -> MethodResult:
    graph, spec = draw.graph, draw.spec
    count = spec.count or 0
    entities = [require_node(graph, id_) for id_ in sorted(set(spec.entity_ids))]
    answers = [require_node(graph, id_) for id_ in sorted(set(spec.answer_ids))]
    targets = [require_node(graph, id_) for id_ in spec.target_ids]
    routes = _routes(draw, entities, answers)
    keys = np.array([route.key for route in routes], dtype=np.int64)
    order = np.argsort(draw.stream.hashes(keys, purpose="route"), kind="stable").tolist()
    made: dict[Triple, None] = {}
    chains = vain = 0
    # Each chain follows from those before it, so that a smaller count is a part of a larger one.
    for index in range(count * len(order)):
        draw.deadline.check("making chains")
        if chains == count or vain > len(order):
            break
        route = routes[order[index % len(order)]]
        chain = _chain(draw, route, index, targets, frozenset(answers), made)
        chains, vain = (chains + 1, 0) if chain else (chains, vain + 1)
        made |= dict.fromkeys(chain)
    if chains < count:
        draw.notes.append(
            shortfall("chains", count, "made", chains, f"shortest paths: {len(routes)}")
        )
    columns = np.array([*made], dtype=np.int32).reshape(-1, 3)
    delta = added(graph, columns[:, 0].copy(), columns[:, 1].copy(), columns[:, 2].copy())
    return MethodResult(delta, len(routes), is_share=False)


def _routes(draw: Draw, entities: list[int], answers: list[int]) -> list[_Route]:
    graph, types = draw.graph, draw.prepared.types
    walker = Walker(graph, draw.index, draw.deadline)
    routes: list[_Route] = []
    for start in entities:
        for answer in answers:
            for route in islice(walker.routes(start, answer), MAX_ROUTES - len(routes)):
                here, nodes = start, {start}
                steps: list[_Step] = []
                key = int(graph.node_keys[start])
                for edge in route:
                    head, rel, tail = (int(a[edge]) for a in (graph.head, graph.rel, graph.tail))
                    is_forward = head == here
                    here = tail if is_forward else head
                    pool_of = types.of_tails if is_forward else types.of_heads
                    pool = pool_of(np.array([here], np.int32), np.array([rel], np.int32))
                    nodes.add(here)
                    steps.append(_Step(rel, is_forward, int(pool[0])))
                    key ^= int(graph.statement_keys[edge])
                routes.append(_Route(start, frozenset(nodes), tuple(steps), key))
    return routes


def _chain(
    draw: Draw,
    route: _Route,
    index: int,
    targets: list[int],
    answers: frozenset[int],
    made: dict[Triple, None],
) -> list[Triple]:
    """The statements of one chain along a route; none where no entities are left for it."""
    last = len(route.steps) - 1
    offered = _offered(draw, route, index, last)
    # Chosen targets take turns, the next one where one can't be reached.
    chosen = [*targets[index % len(targets) :], *targets[: index % len(targets)]] if targets else ()
    for target in chosen or offered:
        if target in route.nodes or target in answers:
            continue
        chain: list[Triple] = []
        here, used = route.start, {*route.nodes, target}
        for position, step in enumerate(route.steps):
            candidates = [target] if position == last else _offered(draw, route, index, position)
            for there in candidates:
                triples = [step.triple(here, there)]
                if position == last - 1:
                    triples.append(route.steps[last].triple(there, target))
                if (position == last or there not in used) and not any(
                    triple in made or _says(draw, triple) for triple in triples
                ):
                    break
            else:
                break
            chain.append(triples[0])
            used.add(there)
            here = there
        if len(chain) == len(route.steps):
            return chain
    return []


def _offered(draw: Draw, route: _Route, index: int, number: int) -> Iterator[int]:
    """Entities of the type that a route has at a step, in an order drawn for the chain."""
    pools, pool = draw.prepared.types.pools, np.array([route.steps[number].pool])
    keys = np.array([route.key], dtype=np.int64)
    # A hash of each chain, then of each of its steps: no two go through a pool in one order.
    for purpose, attempt in (("chain", index), ("step", number)):
        keys = draw.stream.hashes(keys, purpose=purpose, attempt=attempt).view(np.int64)
    draws = Candidates(pools, pool, keys, draw.stream)
    rows = np.zeros(1, dtype=np.int64)
    begin, end = int(draws.first()[0]), int(draws.last()[0])
    for step in range(begin, min(begin + _TRIES, end)):
        yield int(draws.at(rows, np.array([step]))[0])


def _says(draw: Draw, triple: Triple) -> bool:
    head, rel, tail = (np.array([part], dtype=np.int32) for part in triple)
    return bool(draw.prepared.says(head, rel, tail)[0])
