"""Start candidates: which entities walks may start from, how each was found, and their order."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from named_graphs import Names, build_graph

from graph_service.link import link
from graph_service.link.partial_names import _are_numbers
from graph_service.link.starts import NameForm, StartCandidate, start_candidates
from graph_service.model.graph import KnowledgeGraph, StringTable

WORLD: Names = {
    "Q1": ["Barack Obama"],
    "Q2": ["Michelle Obama"],
    "Q3": ["Jamaica"],
    "Q4": ["People"],
    "Q5": ["Hungary"],
    "Q6": ["Netherlands"],
    "Q7": ["New York City", "New York"],
    "Q8": ["New York"],
    "Q9": ["Fukushima Daiichi Nuclear Power Plant"],
    "Q10": ["Fukushima"],
    "Q11": ["city"],
    "Q12": ["City", "city"],
    "Q13": ["Puerto Rico"],
    "Q14": ["A Very Long Title of Seven Words"],
    "Q15": ["mother"],
    "P16": ["Obama Prize"],
    "Q17": ["Kyoto"],
    "Q18": ["Tokyo Obama"],
    "Q19": ["Martin Luther King", "Luther"],
    "Q20": ["Martin Luther King Jr."],
    "Q21": ["Anna B. C. D. Stone"],
    "Q22": ["Malaysia"],
    "Q23": ["Malaysian Grand Prix"],
    "Q24": ["Galileo Galilei"],
    "P25": ["Galileo number"],
    "Q26": ["Mother Teresa"],
    "Q27": ["statue"],
    "Q28": ["Liberty"],
    "Q29": ["Jason"],
    "Q30": ["People's Republic of China"],
}
FACTS = [
    ("Q1", "spouse", "Q2"),
    ("Q1", "born in", "Q7"),
    ("Q1", "lives in", "Q8"),
    ("Q1", "won", "P16"),
    ("Q3", "part of", "Q5"),
    ("Q7", "kind", "Q11"),
    *(
        (f"Q{number}", "same country as", "Q3")
        for number in (4, 6, 8, 9, 10, 12, 13, 14, 15, 19, 20, 21, 22, 23, 24, 26, 27, 28, 29, 30)
    ),
]


@pytest.fixture(scope="module")
def world() -> KnowledgeGraph:
    return build_graph(WORLD, FACTS)


def by_id(graph: KnowledgeGraph, question: str, *, limit: int = 14) -> Mapping[str, StartCandidate]:
    found = start_candidates(question, graph, limit=limit)
    named = {graph.node_ids[one.node]: one for one in found}
    assert len(named) == len(found)
    return named


@pytest.mark.parametrize(
    ("question", "form", "expected"),
    [
        ("where was obama educated?", NameForm.PART, ["Q1", "Q2"]),
        ("Where was Obama educated?", NameForm.PART, ["Q1", "Q2"]),
        ("where is the fukushima daiichi plant", NameForm.PART, ["Q9"]),
        ("what does jamaican people speak?", NameForm.DEMONYM, ["Q3"]),
        ("Which Hungarians won?", NameForm.DEMONYM, ["Q5"]),
        ("a dutch painter", NameForm.DEMONYM, ["Q6"]),
        ("a chinese painter", NameForm.DEMONYM, ["Q30"]),
        ("the puerto rican anthem", NameForm.DEMONYM, ["Q13"]),
        ("where is new york?", NameForm.EXACT, ["Q7", "Q8"]),
        ("who is michelle obama", NameForm.EXACT, ["Q2"]),
        ("where did martin luther king live", NameForm.PART, ["Q20"]),
        ("where did martin luther king live", NameForm.EXACT, ["Q19"]),
        ("where is anna stone from?", NameForm.PART, ["Q21"]),
        ("what malaysian grand prix was it", NameForm.DEMONYM, ["Q22"]),
        ("what did galileo do?", NameForm.PART, ["Q24"]),
        ("where was tokyo?", NameForm.PART, []),
        ("the kyotoian", NameForm.DEMONYM, []),
        ("a mother", NameForm.PART, []),
        ("words of a title", NameForm.PART, []),
        ("is it human?", NameForm.DEMONYM, []),
        ("", NameForm.EXACT, []),
    ],
)
def test_how_entities_are_found(
    world: KnowledgeGraph, question: str, form: NameForm, expected: list[str]
) -> None:
    found = by_id(world, question)
    assert {id_ for id_, one in found.items() if one.form == form} == set(expected)


def test_where_and_how_a_name_stands(world: KnowledgeGraph) -> None:
    question = "Did Barack Obama meet Michele Obama in New York City?"
    found = by_id(world, question)
    said = {
        id_: (question[one.start : one.end], one.words, one.typos) for id_, one in found.items()
    }
    assert said["Q1"] == ("Barack Obama", 2, 0)
    assert said["Q2"] == ("Michele Obama", 2, 1)
    assert said["Q7"] == ("New York City", 3, 0)
    assert said["Q8"] == ("New York", 2, 0)
    assert found["Q8"].covered
    assert not found["Q7"].covered
    assert found["Q1"].degree == 4
    assert found["Q8"].degree == 2
    assert "P16" not in found


def test_linked_and_listed_are_what_link_says(world: KnowledgeGraph) -> None:
    for question in ("Where is New York?", "who met michelle obama?", "is it in fukushima?"):
        mentions = link(question, world)
        assert mentions
        found = start_candidates(question, world)
        assert {one.node for one in found if one.linked} == {
            mention.candidates[0].node for mention in mentions
        }
        assert {one.node for one in found if one.listed} == {
            candidate.node for mention in mentions for candidate in mention.candidates
        }
        linked = [one.linked for one in found]
        assert linked == sorted(linked, reverse=True)


def test_the_head_of_a_name_that_the_graph_lacks_is_no_start(world: KnowledgeGraph) -> None:
    assert "Q27" not in by_id(world, "Who designed the Statue of Liberty in New York?")
    assert "Q28" in by_id(world, "Who designed the Statue of Liberty in New York?")
    assert "Q27" in by_id(world, "Who designed the statue of liberty in New York?")
    assert "Q27" in by_id(world, "Is there a Statue in New York?")
    longer = build_graph({**WORLD, "Q30": ["Statue of Liberty"]}, [*FACTS, ("Q30", "in", "Q27")])
    assert by_id(longer, "Who designed the Statue of Liberty in New York?")["Q27"].covered


def test_one_word_of_an_unknown_name_is_covered(world: KnowledgeGraph) -> None:
    assert by_id(world, "Did Barack Obama meet Jason Donovan?")["Q29"].covered
    assert not by_id(world, "Did Barack Obama meet Jason?")["Q29"].covered


def test_a_kind_of_thing_takes_one_place_and_an_entity_without_statements_none() -> None:
    names: Names = {f"Q{number}": ["language"] for number in range(1, 6)}
    facts = [(f"Q{number}", "used in", "Q6") for number in range(1, 6)]
    graph = build_graph(
        {**names, "Q6": ["Hungary"], "Q7": ["Hungary"]}, [*facts, ("Q1", "born in", "Q6")]
    )
    found = by_id(graph, "what language is spoken in hungary?")
    assert set(found) == {"Q6", "Q1"}


def test_initials_in_a_label_do_not_count(world: KnowledgeGraph) -> None:
    assert by_id(world, "where is anna stone from?")["Q21"].words == 2


def test_order() -> None:
    names: Names = {
        "Q1": ["New York City"],
        "Q2": ["New York"],
        "Q3": ["New York"],
        "Q4": ["mother"],
        "Q5": ["Barack Obama"],
        "Q6": ["Michelle Obama"],
        "Q7": ["Malia Obama"],
        "Q8": ["Hungary"],
    }
    # Degrees fall from Q5 to Q7, and Q2 has more statements than Q3.
    facts = [
        *((f"Q{number}", "knows", f"Q{number}") for number in range(1, 9)),
        *(("Q5", f"relation {number}", "Q2") for number in range(3)),
        ("Q6", "relation", "Q2"),
    ]
    graph = build_graph(names, facts)
    found = by_id(graph, "mother hungarian obama new york city")
    assert list(found) == [
        "Q1",  # linked
        "Q5",  # first of a part
        "Q8",  # first of a demonym
        "Q6",  # second of the part
        "Q7",  # third of it
        "Q2",  # covered by New York City
        "Q3",
        "Q4",  # a plain noun
    ]
    more = {**names, "Q9": ["New York"], "Q10": ["New York"]}
    facts += [("Q9", "knows", "Q9"), ("Q10", "knows", "Q10"), ("Q9", "knows", "Q8")]
    found = by_id(build_graph(more, facts), "did obama see new york")
    # The third part comes after all entities of a whole name.
    assert list(found) == ["Q2", "Q1", "Q5", "Q9", "Q6", "Q10", "Q3", "Q7"]
    assert (found["Q3"].form, found["Q3"].rank) == (NameForm.EXACT, 3)
    assert (found["Q7"].form, found["Q7"].rank) == (NameForm.PART, 2)
    only = build_graph({key: names[key] for key in ("Q4", "Q5", "Q8")}, facts[3:5] + facts[7:8])
    # Of no other name, link names the plain noun.
    assert list(by_id(only, "mother of hungarian obama")) == ["Q4", "Q5", "Q8"]


def test_the_limit_keeps_the_first(world: KnowledgeGraph) -> None:
    question = "did obama see new york city, fukushima and hungarian people?"
    whole = start_candidates(question, world)
    assert len(whole) > 4
    assert start_candidates(question, world, limit=3) == whole[:3]
    assert start_candidates(question, world, limit=0) == ()


def test_order_and_content_do_not_depend_on_the_order_of_labels() -> None:
    questions = [
        "did obama see new york city, fukushima and hungarian people?",
        "where was obama educated in the dutch city?",
    ]

    def told(names: Names) -> list[tuple[object, ...]]:
        graph = build_graph(names, FACTS)
        return [
            (graph.node_ids[one.node], one.start, one.end, one.rank, one.form, one.score)
            for question in questions
            for one in start_candidates(question, graph)
        ]

    first = told(WORLD)
    for seed in range(5):
        order = list(WORLD)
        random.Random(seed).shuffle(order)
        assert told({id_: WORLD[id_] for id_ in order}) == first


@given(st.lists(st.text("QPLEM019_ab-", max_size=6), max_size=20), st.data())
def test_ids_of_a_letter_and_digits_are_told_all_at_once(
    ids: list[str], data: st.DataObject
) -> None:
    """As one by one; of forms and senses (``L1-F2``) the latter says that they name nothing."""
    nodes = np.array(
        data.draw(st.lists(st.integers(0, len(ids) - 1))) if ids else [], dtype=np.int64
    )
    found = _are_numbers(StringTable.build(ids), nodes)
    assert found.tolist() == [
        bool(re.fullmatch("[QPLEM][1-9][0-9]*", ids[node])) for node in nodes.tolist()
    ]
