"""Random multigraphs for properties of views."""

from __future__ import annotations

import json

from graph_builder import Triple, build_graph
from hypothesis import strategies as st

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.statement import Rank
from graph_service.model.values import StringValue
from graph_service.model.view_delta import ViewDelta

LEVELS = st.one_of(st.sampled_from([0.0, 0.1, 0.3, 0.5, 1.0]), st.floats(0.0, 1.0))
SEEDS = st.integers(0, 2**63 - 1)


@st.composite
def triples(draw: st.DrawFn, max_edges: int = 40) -> list[Triple]:
    """Multigraphs: few entities and relations, so that parallel edges and loops are common."""
    nodes = draw(st.integers(1, 9))
    relations = draw(st.integers(1, 4))
    edge = st.tuples(
        st.integers(0, nodes - 1), st.integers(0, relations - 1), st.integers(0, nodes - 1)
    )
    drawn = draw(st.lists(edge, min_size=1, max_size=max_edges))
    rows: list[Triple] = [(f"e{h}", f"r{r}", f"e{t}") for h, r, t in drawn]
    if draw(st.booleans()):
        rows += [("e0", "note", StringValue("a")), ("e0", "r0", StringValue("b"))]
    return rows


@st.composite
def graphs(draw: st.DrawFn, max_edges: int = 40) -> KnowledgeGraph:
    rows = draw(triples(max_edges))
    ranks = draw(
        st.dictionaries(
            st.integers(0, len(rows) - 1),
            st.sampled_from([Rank.PREFERRED, Rank.DEPRECATED]),
            max_size=3,
        )
    )
    return build_graph(rows, ranks=ranks)


def content(graph: KnowledgeGraph, delta: ViewDelta) -> str:
    """All of a delta in ids, so that two graphs can be compared."""

    def node(number: int) -> str:
        known = number < graph.node_count
        return graph.node_ids[number] if known else delta.new_nodes[number - graph.node_count]

    replaced = zip(
        delta.replaced.tolist(),
        delta.replaced_rel.tolist(),
        delta.replaced_tail.tolist(),
        strict=True,
    )
    added = zip(
        delta.added_head.tolist(), delta.added_rel.tolist(), delta.added_tail.tolist(), strict=True
    )
    return json.dumps(
        {
            "removed": [graph.statement_ids[e] for e in delta.removed.tolist()],
            "replaced": [
                [graph.statement_ids[e], graph.relation_ids[r], node(t)] for e, r, t in replaced
            ],
            "added": sorted([node(h), graph.relation_ids[r], node(t)] for h, r, t in added),
        }
    )
