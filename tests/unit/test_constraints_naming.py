"""Which words of a question name something that constrains the answer."""

from __future__ import annotations

import pytest
from named_graphs import Names, build_graph

from graph_service.model.graph import KnowledgeGraph
from graph_service.retrieve.constraints.naming import Mention, find_named
from graph_service.retrieve.region.cut import extract_region

NAMES: Names = {
    "Q1": ["Claude Moss"],
    "Q2": ["play"],
    "Q3": ["opera"],
    "Q4": ["Norland"],
    "Q5": ["major regional center"],
    "Q6": ["Barack Obama"],
    "Q7": ["Kind Lady"],
    "Q8": ["Else"],
}
FACTS = [
    ("Q1", "genre", "Q3"),
    ("Q3", "subclass of", "Q2"),
    ("Q4", "kind", "Q5"),
    ("Q6", "born in", "Q4"),
    ("Q1", "born in", "Q4"),
    ("Q7", "genre", "Q3"),
    ("Q8", "born in", "Q4"),
]


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    return build_graph(NAMES, FACTS)


def mention(graph: KnowledgeGraph, question: str, text: str, id_: str) -> Mention:
    node = graph.find_node(id_)
    assert node is not None
    start = question.index(text)
    return Mention(node, start, start + len(text), linked=True, is_name=False)


@pytest.mark.parametrize(
    ("question", "text", "id_", "expected"),
    [
        # The verb of a name is no noun.
        ("What music did Claude Moss play?", "Claude Moss", "Q1", {"Claude Moss"}),
        ("Which operas by Claude Moss are a play?", "Claude Moss", "Q1",
         {"operas", "Claude Moss", "play"}),
        # A small word of a longer label says what kind of thing it is.
        ("what are the major cities of norland", "major", "Q5", {"norland"}),
        ("What kind of operas did Claude Moss write?", "kind", "Q7", {"operas", "Claude Moss"}),
        ("what kind of operas are from norland", "kind", "Q7", {"operas", "norland"}),
        ("what did obama say of norland", "obama", "Q6", {"obama", "norland"}),
        # Else Falk is not asked about.
        ("What else did Claude Moss play?", "Claude Moss", "Q1", {"Claude Moss"}),
    ],
)  # fmt: skip
def test_what_is_named(
    graph: KnowledgeGraph, question: str, text: str, id_: str, expected: set[str]
) -> None:
    named = mention(graph, question, text, id_)
    region = extract_region(graph, [named.node], hops=3, max_edges=100)
    assert {match.text for match in find_named(question, [named], graph, region)} == expected
