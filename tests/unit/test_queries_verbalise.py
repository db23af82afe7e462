"""Template answers: one sentence a triple with its citation, ``[NA]`` where nothing bears (K1)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from query_samples import paths, triple, triplets

from graph_service.model.answer import AnswerKind
from graph_service.model.result import (
    Answer,
    BasisStatement,
    EntityRef,
    ResultPart,
    Status,
    Strategy,
    Triple,
    triples_of,
)
from graph_service.model.values import (
    EntityValue,
    NoValue,
    Quantity,
    SomeValue,
    StringValue,
    Time,
    Value,
)
from queries.generate.citations import Sentence
from queries.generate.common_phrases import DATED_PHRASES, PHRASES
from queries.generate.phrases import relation_phrase
from queries.generate.reader import parse_answer
from queries.generate.verbalise import (
    choose_triples,
    known_triples,
    triple_sentence,
    value_words,
    verbalise,
)


@pytest.mark.parametrize(
    ("label", "sentence"),
    [
        ("mother", "Ada's mother is Bea"),
        ("place of birth", "Ada was born in Bea"),
        ("editing", "Bea edited Ada"),
        ("diplomatic relation", "Ada has diplomatic relations with Bea"),
        ("regionServed", "Ada serves Bea"),
        ("team", "Ada's team is Bea"),
        ("country of citizenship", "Ada is a citizen of Bea"),
        ("sex or gender", "Ada's sex or gender is Bea"),
        ("children", "Bea is a child of Ada"),
        ("notable works", "Bea is a notable work of Ada"),
        ("languages spoken, written or signed", "Ada speaks, writes or signs Bea"),
        ("cause of death", "Ada died of Bea"),
        ("headquarters location", "Ada has its headquarters in Bea"),
        ("official name", "Ada's official name is Bea"),
        ("member of political party", "Ada belongs to the party Bea"),
        ("Erdős number", "Ada's Erdős number is Bea"),
        ("after a work by", "Ada is based on Bea"),
        ("member of", "Ada is a member of Bea"),
        ("instance of", "Ada is an instance of Bea"),
        ("part of", "Ada is part of Bea"),
        ("different from", "Ada is different from Bea"),
        ("capital of", "Ada is the capital of Bea"),
        ("participant in", "Ada took part in Bea"),
        ("children of", "Ada — children of: Bea"),
        ("participated in", "Ada participated in Bea"),
        ("educated at", "Ada was educated at Bea"),
        ("nominated for", "Ada was nominated for Bea"),
        ("influenced by", "Bea influenced Ada"),
        ("founded by", "Bea founded Ada"),
        ("built by", "Ada was built by Bea"),
        ("located in the administrative territorial entity", "Ada is in Bea"),
        ("located in", "Ada is in Bea"),
        ("followed by", "Ada is followed by Bea"),
        ("replaced by", "Ada is replaced by Bea"),
        ("follows", "Ada follows Bea"),
        ("replaces", "Ada replaces Bea"),
        ("shares border with", "Ada borders Bea"),
        ("has part(s)", "Ada consists of Bea"),
        ("has works in the collection", "Ada has works in the collection Bea"),
        ("hasWonPrize", "Ada has won the prize Bea"),
        ("designed", "Ada designed Bea"),
        ("wrote", "Ada wrote Bea"),
        ("built", "Ada built Bea"),
        ("wroteMusicFor", "Ada wrote music for Bea"),
        ("born", "Ada — born: Bea"),
        ("died", "Ada — died: Bea"),
        ("related", "Ada is related to Bea"),
        ("seed", "Ada's seed is Bea"),
        ("studies", "Ada studies Bea"),
        ("works", "Ada's works include Bea"),
        ("works for", "Ada works for Bea"),
        ("works published", "Ada's works published include Bea"),
        ("notable work", "Bea is a notable work of Ada"),
        ("married name", "Ada's married name is Bea"),
        ("beatifiedPlace", "Ada's beatified place is Bea"),
        ("school attended", "Ada attended the school Bea"),
        ("date founded", "Ada's date founded is Bea"),
        ("prize awarded", "Ada's prize awarded is Bea"),
        ("languages spoken", "Ada speaks Bea"),
        ("taught at", "Ada taught at Bea"),
        ("taught by", "Ada was taught by Bea"),
        ("studied by", "Ada was studied by Bea"),
        ("known for", "Ada is known for Bea"),
        ("made from material", "Ada is made from the material Bea"),
        ("said to be the same as", "Ada is said to be the same as Bea"),
        ("applies to jurisdiction", "Ada applies to Bea"),
        ("indigenous to", "Ada is indigenous to Bea"),
        ("analogous to", "Ada is analogous to Bea"),
        ("winner", "Bea won Ada"),
        ("successor", "Bea succeeded Ada"),
        ("band member", "Bea is a member of Ada"),
        ("present in work", "Ada appears in Bea"),
        ("place of burial", "Ada is buried in Bea"),
        ("in_language", "Ada is in the language Bea"),
        ("AtLocation", "Ada is at the location Bea"),
        ("CapableOf", "Ada is capable of Bea"),
        ("isPartOf", "Ada is part of Bea"),
        ("starring", "Bea is in the cast of Ada"),
        ("this taxon is source of", "Ada — this taxon is source of: Bea"),
        ("uncle of", "Ada is an uncle of Bea"),
        ("user of", "Ada is a user of Bea"),
        ("award received", "Ada received the award Bea"),
        ("position held", "Ada held the position Bea"),
        ("academic degree", "Ada's academic degree is Bea"),
        ("http://dbpedia.org/ontology/birthPlace", "Ada was born in Bea"),
        ("__people__person__place_of_birth", "Ada was born in Bea"),
        ("国家", "Ada — 国家: Bea"),
        ("P31", "Ada — P31: Bea"),
        ("::", "Ada — ::: Bea"),
        ("{value} of {head}", "Ada — (value) of (head): Bea"),
    ],
)  # fmt: skip
def test_relations_in_english(label: str, sentence: str) -> None:
    assert triple_sentence(triple("s", "Ada", label, "Bea")) == sentence


@pytest.mark.parametrize(
    ("head", "label", "value", "sentence"),
    [
        ("Ada", "country of citizenship", "United States", "Ada is a citizen of the United States"),
        ("Netherlands", "capital", "Amsterdam", "Amsterdam is the capital of the Netherlands"),
        ("Faroe Islands", "continent", "Europe", "The Faroe Islands' continent is Europe"),
        ("Ada", "winner", "The Hague", "The Hague won Ada"),
        ("Ada", "educated at", "University of Rome", "Ada was educated at the University of Rome"),
        ("Ada", "member of political party", "Green Party", "Ada belongs to the party Green Party"),
        ("Fall River", "country", "Bea", "Fall River's country is Bea"),
        ("Charlotte Church", "spouse", "Bea", "Charlotte Church's spouse is Bea"),
        ("League of Legends", "developer", "Riot Games", "Riot Games developed League of Legends"),
        ("Las Vegas Raiders", "sport", "football", "Las Vegas Raiders' sport is football"),
    ],
)
def test_names_have_the_article_and_the_genitive_that_people_say(
    head: str, label: str, value: str, sentence: str
) -> None:
    stated = triple("s", head, label, value, typed=EntityValue("Q1"))
    assert triple_sentence(stated) == sentence


@pytest.mark.parametrize(
    ("label", "value", "sentence"),
    [
        ("founded", Time("1952-00-00T00:00:00Z", 9), "Ada was founded in 1952"),
        ("founded", Time("1952-03-11T00:00:00Z", 11), "Ada was founded on 11 March 1952"),
        ("born", Time("1952-03-00T00:00:00Z", 10), "Ada was born in March 1952"),
        ("died", Time("1952-03-11T00:00:00Z", 11), "Ada died on 11 March 1952"),
        ("wrote", Time("1952-00-00T00:00:00Z", 9), "Ada wrote 1952"),
        ("founded", StringValue("1952"), "Ada was founded in 1952"),
        ("founded", StringValue("Lloyd's"), "Ada founded Lloyd's"),
        ("inception", Time("1952-00-00T00:00:00Z", 9), "Ada came into being in 1952"),
    ],
)
def test_nobody_founds_a_date(label: str, value: Time | StringValue, sentence: str) -> None:
    shown = value.text if isinstance(value, StringValue) else "1952"
    assert triple_sentence(triple("s", "Ada", label, shown, typed=value)) == sentence


@pytest.mark.parametrize(
    ("label", "value", "shown", "sentence"),
    [
        ("date of birth", Time("1952-03-11T00:00:00Z", 11), "1952-03-11", "Ada was born on 11 March 1952"),
        ("date of birth", StringValue("long ago"), "long ago", "Ada's date of birth is long ago"),
        ("place of birth", StringValue("Rome"), "Rome", "Ada was born in Rome"),
        ("population", Quantity("1200"), "1,200", "Ada has 1,200 inhabitants"),
        ("capital", Quantity("1200"), "1,200 EUR", "Ada's capital is 1,200 EUR"),
        ("rohs", StringValue("N"), "N", "Ada — rohs: N"),
        ("doors", Quantity("4"), "4", "Ada — doors: 4"),
        ("rohs", StringValue("lead, mercury"), "lead, mercury", "Ada's rohs include lead, mercury"),
    ],
)  # fmt: skip
def test_what_is_said_agrees_with_the_kind_of_the_value(
    label: str, value: Value, shown: str, sentence: str
) -> None:
    assert triple_sentence(triple("s", "Ada", label, shown, typed=value)) == sentence


def test_each_common_relation_is_said_once_and_names_both_ends() -> None:
    assert len(PHRASES) + len(DATED_PHRASES) >= 100
    assert not PHRASES.keys() & DATED_PHRASES.keys()
    for name, phrase in {**PHRASES, **DATED_PHRASES}.items():
        assert phrase.count("{head}") == phrase.count("{value}") == 1, name
        assert name == name.lower()
    for phrase in DATED_PHRASES.values():
        assert "{on} {value}" in phrase


def test_dates_in_words() -> None:
    def said(value: Time, shown: str) -> str:
        return value_words(triple("s", "Q1", "date of birth", shown, typed=value))

    assert said(Time("1952-03-11T00:00:00Z", 11), "1952-03-11") == "11 March 1952"
    assert said(Time("1952-03-00T00:00:00Z", 10), "1952-03") == "March 1952"
    assert said(Time("1952-00-00T00:00:00Z", 9), "1952") == "1952"
    assert said(Time("-0109-01-01T00:00:00Z", 11), "109-01-01 BC") == "109-01-01 BC"
    # A Julian date is not the day of that name in our calendar, and is left as labelled.
    assert said(Time("1564-04-26T00:00:00Z", 11, "Q1985786"), "1564-04-26") == "1564-04-26"
    assert said(Time("1952-13-99T00:00:00Z", 11), "odd") == "odd"


def test_unknown_and_no_value() -> None:
    some = triple("s", "Q1", "father", "unknown value", label="Ada", typed=SomeValue())
    none = triple("s", "Q1", "child", "no value", label="Ada", typed=NoValue())
    assert triple_sentence(some) == "Ada has a value for “father”, but it is not known"
    assert triple_sentence(none) == "Ada has no value for “child”"


A = triple("a", "Q1", "spouse", "Bea", label="Ada")
B = triple("b", "Q2", "mother", "Cleo", label="Bea")
C = triple("c", "Q3", "child", "Ada", label="Dan")


def test_a_path_is_told_in_its_order_k1() -> None:
    result = paths([([A, B], 3.0), ([A], 2.0)])
    text, sentences = verbalise(result)
    assert text == "Ada's spouse is Bea [Q1, spouse: Bea]. Bea's mother is Cleo [Q2, mother: Cleo]."
    assert [part.text for part in sentences] == ["Ada's spouse is Bea.", "Bea's mother is Cleo."]
    assert [[c.statement_id for c in part.citations] for part in sentences] == [["a"], ["b"]]


def test_an_edge_walked_backwards_is_told_from_its_head() -> None:
    text, _ = verbalise(paths([([(C, True), A], 1.0)]))
    assert text.startswith("Ada is a child of Dan [Q3, child: Ada].")


def test_paths_of_the_same_score_are_told_as_far_as_they_fit() -> None:
    equal = paths([([A, B], 3.0), ([A, C], 3.0), ([C], 2.0)])
    assert [item.statement_id for item in choose_triples(equal)] == ["a", "b", "c"]
    assert [item.statement_id for item in choose_triples(equal, limit=2)] == ["a", "b"]
    # The best path is never cut.
    assert [item.statement_id for item in choose_triples(equal, limit=1)] == ["a", "b"]


@pytest.mark.parametrize("strategy", [Strategy.TRIPLETS, Strategy.SUBGRAPH])
def test_triples_near_the_best_are_told(strategy: Strategy) -> None:
    result = triplets([(C, 8.0), (A, 10.0), (B, 7.9)], strategy=strategy)
    assert [item.statement_id for item in choose_triples(result)] == ["a", "c"]
    assert [item.statement_id for item in choose_triples(result, least_share=0.0)] == [
        "a",
        "c",
        "b",
    ]
    assert [item.statement_id for item in choose_triples(result, limit=1)] == ["a"]
    assert choose_triples(result, min_score=11.0) == ()


@pytest.mark.parametrize(
    ("status", "linked", "said"),
    [
        (
            Status.NOTHING_RELEVANT,
            ["Douglas Adams"],
            "The graph does not say this of Douglas Adams",
        ),
        (Status.NOTHING_RELEVANT, ["A", "B", "C"], "The graph does not say this of A, B and C"),
        (Status.OK, ["A"], "The graph does not say this of A"),
        (Status.NOT_IN_GRAPH, ["A"], "The graph does not say this of A"),
        (Status.LOW_CONFIDENCE, ["A"], "It is not sure that the graph says this of A"),
        (Status.NO_ENTITY_LINKED, [], "No entity of the graph was recognised in this question"),
    ],
)
def test_what_the_graph_lacks_is_marked_k1(status: Status, linked: list[str], said: str) -> None:
    text, sentences = verbalise(triplets([], status=status, linked=linked))
    assert text == f"{said} [NA]."
    assert sentences == (Sentence(f"{said}.", (), True),)
    assert parse_answer(text, ()) == sentences


def test_what_is_not_sure_names_the_words_that_ask_for_it() -> None:
    result = triplets([], status=Status.LOW_CONFIDENCE, linked=["A"])
    text, _ = verbalise(replace(result, question="Who is the mother of A's husband?"))
    expected = 'It is not sure that the graph says this of A: "mother", "husband" [NA].'
    assert text == expected


def test_statements_that_print_alike_are_cited_by_number() -> None:
    twice = [
        triple("x", "Q1", "position held", "mayor"),
        triple("y", "Q1", "position held", "mayor"),
    ]
    text, sentences = verbalise(triplets([(twice[0], 1.0), (twice[1], 1.0)]))
    assert [part.citations[0].statement_ids for part in sentences] == [("x",), ("y",)]
    assert text.endswith("[2].")


LABEL = st.text(max_size=15).filter(lambda text: text.strip() != "")


@given(st.lists(st.tuples(LABEL, LABEL, LABEL), min_size=1, max_size=5), st.floats(-5, 5))
def test_any_labels_are_told_with_their_citations_k1(
    rows: list[tuple[str, str, str]], score: float
) -> None:
    items = [(triple(f"s{i}", *row), score) for i, row in enumerate(rows)]
    result = triplets(items)
    text, sentences = verbalise(result)
    assert (text, sentences) == verbalise(result)
    assert [part.citations[0].statement_ids for part in sentences] == [
        (item.statement_id,) for item in triples_of(result)
    ]
    assert all(len(part.citations) == 1 and part.citations[0].matched for part in sentences)
    assert "\n" not in text


WORDY = st.lists(
    st.sampled_from(
        [
            "has",
            "is",
            "born",
            "founded",
            "wrote",
            "works",
            "member",
            "of",
            "in",
            "by",
            "the",
            "award",
            "seed",
            "this",
        ]
    ),
    max_size=5,
).map(" ".join)


@given(st.text(max_size=40) | WORDY, st.sampled_from(["", "in", "on"]))
def test_any_relation_has_a_phrase(label: str, dated: str) -> None:
    pattern = relation_phrase(label, dated=dated)
    assert pattern.count("{head}") == pattern.count("{value}") == 1


def basis(*stated: Triple) -> tuple[BasisStatement, ...]:
    return tuple(BasisStatement(each) for each in stated)


def test_what_was_computed_is_stated_first_with_its_citations() -> None:
    parts = [triple(f"s{i}", "Q1", "part", f"Q{i + 10}") for i in range(7)]
    entities = tuple(EntityRef(f"Q{i + 10}", f"part {i}") for i in range(7))
    found = paths([([each], 0.9) for each in parts[:3]])
    count = Answer(AnswerKind.COUNT, "7", entities, basis(*parts), 7)
    text, (sentence,) = verbalise(replace(found, answer=count))
    assert text.startswith("7: part 0, part 1, part 2, part 3, part 4, and 2 more [Q1, part: Q10]")
    # Two of the five that are cited are no items of the result, and known all the same.
    cited = [id_ for each in sentence.citations for id_ in each.statement_ids]
    assert cited == ["s0", "s1", "s2", "s3", "s4"]
    assert [each.statement_id for each in known_triples(replace(found, answer=count))] == cited


def test_entities_that_the_sentences_say_are_not_stated_twice() -> None:
    one, other = triple("s1", "Q1", "child", "Q2"), triple("s2", "Q1", "child", "Q3")
    found = paths([([one], 0.9)])
    said = Answer(AnswerKind.ENTITIES, "Q2", (EntityRef("Q2", "Q2"),), basis(one), 1)
    assert verbalise(replace(found, answer=said)) == verbalise(found)
    both = replace(said, entities=(*said.entities, EntityRef("Q3", "Q3")), basis=basis(one, other))
    assert verbalise(replace(found, answer=both)) == verbalise(
        paths([([one], 0.9), ([other], 0.9)])
    )
    # A statement that the answer does not rest on would be taken for a part of it.
    third = replace(
        found, items=paths([([one], 0.9), ([triple("s3", "Q1", "a", "Q4")], 0.9)]).items
    )
    assert verbalise(replace(third, answer=both))[0].startswith("Q2, Q3 [")


def test_yes_and_no_are_sentences() -> None:
    one = triple("s1", "Q1", "child", "Q2")
    found = replace(
        paths([([one], 0.9)]), answer=Answer(AnswerKind.YES_NO, "yes", (), basis(one), 1)
    )
    assert verbalise(found)[0] == "Yes [Q1, child: Q2]."
    unsure = replace(found, status=Status.LOW_CONFIDENCE)
    assert "[NA]" in verbalise(unsure)[0]


def test_a_name_is_no_word_that_asks_wherever_its_question_stands() -> None:
    result = triplets([], status=Status.LOW_CONFIDENCE, linked=["Ann Lee"])
    (ann,) = result.linked
    question = "What is the blood type of Ann Lee?"
    part = replace(ann, mention="Ann Lee", start=60, end=67)
    text, _ = verbalise(replace(result, question=question, linked=(part,)))
    assert text.endswith('this of Ann Lee: "blood", "type" [NA].')


def test_each_question_of_a_text_is_answered() -> None:
    one, other = triple("s1", "Q1", "mother", "Q2"), triple("s2", "Q1", "father", "Q3")
    found = paths([([one], 0.9), ([other], 0.4)])
    found = replace(
        found,
        parts=(
            ResultPart("Who is the mother?", Status.OK, found.linked, (0,)),
            ResultPart("Who is the boss?", Status.LOW_CONFIDENCE, found.linked, (1,)),
        ),
    )
    text, sentences = verbalise(found)
    assert text.startswith("Q1's mother is Q2 [Q1, mother: Q2]. It is not sure that the graph says")
    assert [each.not_available for each in sentences] == [False, True]
