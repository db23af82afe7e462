"""The same question names the same entities on every store (K2)."""

from __future__ import annotations

from pathlib import Path

from graphs import load_graph

from graph_service.link import Mention, link
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.statement import Entity, EntityKind, Statement, make_statement
from graph_service.model.values import EntityValue, StringValue, Time
from graph_service.store import open_store
from graph_service.store.protocol import Store

ENTITIES = [
    Entity("Q1", labels={"en": "John Green"}, aliases={"en": ("Green",), "ru": ("Грин",)}),
    Entity("Q2", labels={"en": "John Green"}),
    Entity("Q3", labels={"en": "Jack Green"}, aliases={"en": ("John Green",)}),
    Entity("Q4", labels={"en": "Looking for Alaska"}),
    Entity("Q5", labels={"en": "Royal Navy"}),
    Entity("Q6", labels={"en": "Michelle Obama", "zh": "米歇尔·奥巴马"}),
    Entity("Q7", labels={"en": "The Beatles"}),
    Entity("Q8", labels={"ru": "Александр Пушкин"}, aliases={"ru": ("Пушкин",)}),
    Entity("Q9", labels={"en": "writer", "de": "Schriftsteller"}),
    Entity("P1", EntityKind.PROPERTY, labels={"en": "occupation"}),
]
STATEMENTS: list[Statement] = [
    make_statement("Q4", "P50", EntityValue("Q1")),
    make_statement("Q1", "P1", EntityValue("Q9")),
    make_statement("Q2", "P241", EntityValue("Q5")),
    make_statement("Q2", "P569", Time("1780-02-11T00:00:00Z", 11)),
    make_statement("Q3", "P1", StringValue("gymnast")),
    make_statement("Q6", "P1", StringValue("lawyer")),
]
EXPECTED = {
    "Who is John Green?": ["Q2"],
    "Did John Green write Looking for Alaska?": ["Q1", "Q4"],
    "which ship did john green of the royal navy sail on": ["Q2", "Q5"],
    "Who was John Green, born in 1780?": ["Q2"],
    "Is John Green the gymnast?": ["Q3"],
    "Who married Michele Obama?": ["Q6"],
    "米歇尔·奥巴马是谁?": ["Q6"],
    "Which songs did Beatles write?": ["Q7"],
    "Кто была мать Пушкина?": ["Q8"],
    "Was ist ein Schriftsteller?": ["Q9"],
    "Who is Jason Green?": [],
    "Who knows?": [],
}


def _named(graph: KnowledgeGraph, mentions: tuple[Mention, ...]) -> list[str]:
    return [graph.node_ids[mention.candidates[0].node] for mention in mentions]


def test_links_are_the_same_on_every_store(store: Store, graph_name: str, tmp_path: Path) -> None:
    """Candidates, scores, places and names, to the last digit; whatever the order of loading."""
    graph = store.snapshot(load_graph(store, graph_name, STATEMENTS, ENTITIES))
    with open_store(f"sqlite:///{tmp_path / 'reversed.db'}") as other:
        reversed_ = other.snapshot(load_graph(other, "links", STATEMENTS[::-1], ENTITIES[::-1]))
        for question, expected in EXPECTED.items():
            mentions = link(question, graph)
            assert _named(graph, mentions) == expected, question
            assert mentions == link(question, reversed_), question
