"""Names in other spellings: initials, codes, short names, and numbers that are amounts."""

from __future__ import annotations

import doctest

import pytest
from named_graphs import Names, build_graph, ids

from graph_service.link import link, quantities
from graph_service.link.lexicon import RelationNames
from graph_service.link.starts import NameForm, start_candidates
from graph_service.model.graph import KnowledgeGraph

NAMES: Names = {
    "Q1": ["R.U.N."],
    "Q2": ["K.I."],
    "Q3": ["N.E.S. Records"],
    "Q4": ["UNO"],
    "Q5": ["Shaft S-12"],
    "Q6": ["Pump P-100"],
    "Q7": ["Bearing 6205"],
    "Q8": ["Valve V7"],
    "Q9": ["United States of America"],
    "Q10": ["The Who"],
    "Q11": ["IT", "information technology"],
    "Q12": ["Saint Paul"],
    "Q13": ["United Nations", "U.N."],
    "Q14": ["Netherlands"],
    "Q15": ["Fundición Peña S.A."],
    "Mr. Smith's Dog": [],
    "Q17": ["100"],
    "Q18": ["Shaft S-14"],
    "Q19": ["I-1"],
}
FACTS = [
    ("Q5", "supplied by", "Q15"),
    ("Q18", "supplied by", "Q15"),
    ("Q6", "replaces", "Q8"),
    ("Q7", "weight in grams", "Q17"),
    *((f"Q{number}", "kind", "Q4") for number in (1, 2, 3, 9, 10, 11, 12, 13, 14)),
    ("Mr. Smith's Dog", "director", "Q4"),
]


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    return build_graph(NAMES, FACTS)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # A code of one letter and one digit, which is no pronoun and no amount.
        ("What is the amount of I-1?", ["Q19"]),
        ("what is the amount of i-1?", ["Q19"]),
        # Initials as written, without their stops, with stops that the graph lacks.
        ("Who directed R.U.N.?", ["Q1"]),
        ("Who directed RUN?", ["Q1"]),
        ("who directed r.u.n.?", ["Q1"]),
        ("Who directed K.I.?", ["Q2"]),
        ("Who founded NES Records?", ["Q3"]),
        ("Who leads the U.N.O.?", ["Q4"]),
        ("What does Fundicion Pena SA supply?", ["Q15"]),
        # A verb is no initials, nor is a list of letters.
        ("who has run it?", []),
        ("Is it a or b?", []),
        # Codes.
        ("what does shaft s12 cost?", ["Q5"]),
        ("What does the valve V-7 cost?", ["Q8"]),
        # Short names that are function words.
        ("what is the capital of the us?", ["Q9"]),
        ("Who leads the USA?", ["Q9"]),
        ("who leads the un?", ["Q13"]),
        ("who sang in the who?", ["Q10"]),
        ("What does IT stand for?", ["Q11"]),
        ("What is it?", []),
        ("tell us who they are", []),
        # Abbreviations and countries.
        ("who founded st paul?", ["Q12"]),
        ("what is the capital of holland?", ["Q14"]),
        # A name that is an id, with a slip.
        ("Who directed Mr Smiths Dog?", ["Mr. Smith's Dog"]),
        # Amounts.
        ("Which parts cost more than 100 euros?", []),
        ("Who sang 100?", ["Q17"]),
    ],
)
def test_who_is_named(graph: KnowledgeGraph, question: str, expected: list[str]) -> None:
    assert ids(graph, link(question, graph)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who supplies S-12?", {"Q5"}),
        ("who supplies s12?", {"Q5"}),
        ("Who supplies 6205?", {"Q7"}),
        ("What does P100 replace?", {"Q6"}),
        # Another number is another thing; a part without one may be any.
        ("Who supplies Shaft S-99?", set()),
        ("Who supplies Bearing 6299?", set()),
        ("who supplies which shaft?", {"Q5", "Q18"}),
        # Amounts are parts of no name.
        ("Which pumps cost over 6205 euros?", set()),
        ("What weighs 6205 grams?", set()),
        ("What is heavier than 6205?", set()),
    ],
)
def test_codes_are_parts_of_names(graph: KnowledgeGraph, question: str, expected: set[str]) -> None:
    found = [one for one in start_candidates(question, graph) if one.form == NameForm.PART]
    assert {graph.node_ids[one.node] for one in found} == expected


def test_amounts() -> None:
    assert doctest.testmod(quantities).failed == 0


def test_proper_names_in_names_of_relations_are_no_common_nouns() -> None:
    lower = RelationNames.build({"en": ["France code", "place of birth", "has part"]}, ["P1", "P2"])
    assert lower.words == {"code", "place", "birth", "has", "part"}
    titled = RelationNames.build({"en": ["Place Of Birth", "Has Part"]}, ())
    assert titled.words == {"place", "birth", "has", "part"}


def test_far_more_statements_outweigh_a_label_or_a_spelling() -> None:
    """A label outweighs four times as many statements, and no more."""
    names: Names = {"Q1": ["Rye"], "Q2": ["Rye Town", "rye"], "Q3": ["x"]}
    for extra, expected in ((3, "Q1"), (40, "Q2")):
        facts = [("Q1", "r", "Q3"), *(("Q2", f"r{i}", "Q3") for i in range(extra))]
        graph = build_graph(names, facts)
        assert ids(graph, link("where is rye?", graph)) == [expected]


@pytest.mark.parametrize("question", ["what is the capital of china?", "Who leads China?"])
def test_a_country_bears_its_short_name_beside_namesakes(question: str) -> None:
    names: Names = {"Q1": ["China"], "Q2": ["People's Republic of China"], "Q3": ["x"]}
    for extra, expected in ((3, "Q1"), (300, "Q2")):
        facts = [("Q1", "r", "Q3"), *(("Q2", f"r{i}", "Q3") for i in range(extra))]
        graph = build_graph(names, facts)
        assert ids(graph, link(question, graph)) == [expected]


def test_who_is_far_better_known_bears_the_last_word_of_the_name() -> None:
    names: Names = {
        "Q1": ["Barack Obama"], "Q2": ["Obama"], "Q3": ["x"], "Q4": ["Emma Watson"], "Q5": ["Emma"],
    }  # fmt: skip
    for extra, expected in ((3, "Q2"), (60, "Q1")):
        facts = [
            ("Q2", "r", "Q3"),
            ("Q5", "r", "Q3"),
            *((id_, f"r{i}", "Q3") for i in range(extra) for id_ in ("Q1", "Q4")),
        ]
        graph = build_graph(names, facts)
        best = start_candidates("who inspired obama?", graph)[0]
        assert graph.node_ids[best.node] == expected
        assert best.linked
        # A first name is not enough.
        best = start_candidates("who wrote emma?", graph)[0]
        assert graph.node_ids[best.node] == "Q5"


def test_the_best_known_says_whether_a_name_is_proper() -> None:
    names: Names = {"Q1": ["baseball"], "Q2": ["Baseball"], "Q3": ["pitcher"], "Q4": ["Rome"]}
    facts = [("Q2", "r", "Q3"), *(("Q1", f"r{i}", "Q3") for i in range(20)), ("Q4", "r", "Q3")]
    graph = build_graph(names, facts)
    # The game is a noun like the other; the film of its name makes no name of it.
    assert ids(graph, link("which pitcher plays baseball?", graph)) == ["Q3", "Q1"]
    assert ids(graph, link("which pitcher plays in rome?", graph)) == ["Q4"]
