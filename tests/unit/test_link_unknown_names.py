"""A part of a name beside a word that its label lacks is part of another name."""

from __future__ import annotations

import pytest
from named_graphs import Names, build_graph

from graph_service.link.starts import NameForm, start_candidates
from graph_service.model.graph import KnowledgeGraph

WORLD: Names = {
    "Q1": ["Bob Kane"],
    "Q2": ["Barack Obama"],
    "Q3": ["A. P. J. Abdul Kalam"],
    "Q4": ["Wilhelm Conrad Röntgen"],
    "Q5": ["John Lennon"],
    "Q6": ["Fukushima Daiichi Nuclear Power Plant"],
    "Q7": ["Edward VIII of England"],
    "Q8": ["Q"],
}
FACTS = [(f"Q{number}", "zugehörigkeit", "Q8") for number in range(1, 8)]


@pytest.fixture(scope="module")
def world() -> KnowledgeGraph:
    return build_graph(WORLD, FACTS)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # Another name: the word after, the word before, and past initials.
        ("where is bob marley buried?", []),
        ("Where is Bob Marley buried?", []),
        ("who married debra lennon?", []),
        ("what killed john w. bonham?", []),
        ("where was michelle h. obama born?", []),
        # Words that people ask with, in any form, and none at all.
        ("where was obama educated?", ["Q2"]),
        ("which schools educate obama", ["Q2"]),
        ("what did obama do?", ["Q2"]),
        ("who is president obama?", ["Q2"]),
        ("who is obama's wife?", ["Q2"]),
        ("who was obama 2008?", ["Q2"]),
        ("how tall will obama be?", ["Q2"]),
        # The label has it, as a word further on or as initials.
        ("where was wilhelm röntgen born?", ["Q4"]),
        ("where did apj abdul live?", ["Q3"]),
        ("where is the fukushima daiichi plant", ["Q6"]),
        # A comma ends a name.
        ("who followed edward, scandinavia's friend?", ["Q7"]),
        ("who followed edward scandinavia?", []),
        # Which words are ordinary is known of English alone.
        ("wo wurde obama geboren", ["Q2"]),
    ],
)
def test_who_a_part_of_a_name_may_be(
    world: KnowledgeGraph, question: str, expected: list[str]
) -> None:
    found = [one for one in start_candidates(question, world) if one.form == NameForm.PART]
    assert sorted({world.node_ids[one.node] for one in found}) == expected


def test_what_the_graph_calls_its_relations_is_no_name() -> None:
    question = "who is the zugehoerig obama?"
    for relation, expected in (("zugehoerig", 1), ("anders", 0)):
        graph = build_graph(WORLD, [("Q2", relation, "Q8")])
        found = [one for one in start_candidates(question, graph) if one.form == NameForm.PART]
        assert len(found) == expected


@pytest.mark.parametrize(
    ("question", "doubted"),
    [
        ("what killed john bonham?", {"Q9"}),
        ("what killed john?", set()),
        # What a neighbour says, more words of the name, and an ordinary word.
        ("what is in toronto canada?", set()),
        ("what is in toronto ohio?", {"Q10"}),
        ("what is in new haven ohio?", set()),
        ("what did john write?", set()),
    ],
)
def test_a_whole_name_of_one_word_beside_another_is_in_doubt(
    question: str, doubted: set[str]
) -> None:
    names: Names = {
        **WORLD,
        "Q9": ["John"],
        "Q10": ["Toronto"],
        "Q11": ["Canada"],
        "Q12": ["New Haven"],
    }
    graph = build_graph(
        names,
        [*FACTS, ("Q9", "kind", "Q8"), ("Q10", "country", "Q11"), ("Q12", "kind", "Q8")],
    )
    found = [one for one in start_candidates(question, graph) if one.form == NameForm.EXACT]
    assert found
    assert {graph.node_ids[one.node] for one in found if one.in_other_name} == doubted
