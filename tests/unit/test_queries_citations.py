"""Citations printed, and read against the knowledge that was given (K1, K4)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from query_samples import triple

from graph_service.model.result import Triple
from queries.generate.citations import Sentence, one_line, print_citation
from queries.generate.printed import paper_form
from queries.generate.reader import CitationReader, parse_answer, render_citations

ROME = triple("s1", "Q212657", "place of birth", "Rome", label="Artemisia Gentileschi")
PAINTER = triple("s2", "Q212657", "occupation", "painter", label="Artemisia Gentileschi")
WORKS = triple("s3", "Q212657", "notable work", "Judith, Holofernes: a study [I]")
LONDON = triple("s4", "Q367360", "place of death", "London", label="Orazio Gentileschi")
KNOWLEDGE = (ROME, PAINTER, WORKS, LONDON)


def read(
    text: str, knowledge: tuple[Triple, ...] = KNOWLEDGE
) -> list[tuple[str, list[str | None], bool]]:
    return [
        (part.text, [item.statement_id for item in part.citations], part.not_available)
        for part in parse_answer(text, knowledge)
    ]


def test_the_printed_form_of_the_paper_k1() -> None:
    printed = print_citation([ROME, PAINTER])
    assert printed == "[Q212657, place of birth: Rome, occupation: painter]"
    assert read(f"She was a painter born on July 8 [NA] in Rome {printed}.") == [
        ("She was a painter born on July 8 in Rome.", ["s1", "s2"], True)
    ]


def test_a_bracket_of_three_is_three_citations_k4() -> None:
    text = f"All of it {print_citation([ROME, WORKS, PAINTER])}."
    assert read(text) == [("All of it.", ["s1", "s3", "s2"], False)]


def test_values_hold_commas_colons_and_brackets_k4() -> None:
    assert read(f"A {print_citation([WORKS])}. B {print_citation([LONDON])}.") == [
        ("A.", ["s3"], False),
        ("B.", ["s4"], False),
    ]
    # The longer of two known triples is meant.
    short = triple("a", "Q1", "title", "Now")
    long = triple("b", "Q1", "title", "Now, voyager: a film")
    assert read("X [Q1, title: Now, voyager: a film].", (short, long)) == [("X.", ["b"], False)]
    assert read("X [Q1, title: Now].", (short, long)) == [("X.", ["a"], False)]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("X [1].", ["s1"]),
        ("X [1][4].", ["s1", "s4"]),
        ("X [1, 3; 4].", ["s1", "s3", "s4"]),
        ("X [2-4].", ["s2", "s3", "s4"]),
        ("X 【2】.", ["s2"]),
        ("X [0] [5].", [None, None]),
        ("X [1952-1999].", [None]),
        ("X [4-2].", [None]),
        ("X [1, NA].", ["s1"]),
        ("X [Fact 1].", ["s1"]),
        ("X [fact 1, 2].", ["s1", "s2"]),
        ("X [Facts: 1 and 2].", ["s1", "s2"]),
        ("X [source: 1].", ["s1"]),
        ("X [Source 1; Source 2].", ["s1", "s2"]),
        ("X [citation:1].", ["s1"]),
        ("X [#1].", ["s1"]),
        ("X [^1].", ["s1"]),
        ("X [^1^].", ["s1"]),
        ("X [^fact-1].", ["s1"]),
        ("X [1\u200b].", ["s1"]),
        ("X [1 and 2].", ["s1", "s2"]),
        ("X [1 & 2].", ["s1", "s2"]),
        ("X [1 2].", ["s1", "s2"]),
        ("X [1/2].", ["s1", "s2"]),
        ("X [1 to 3].", ["s1", "s2", "s3"]),
        (r"X \[1\].", ["s1"]),
        ("X 【1†source】.", ["s1"]),
        ("X 【1†L5-L9】【2†source】.", ["s1", "s2"]),
        ("X ［１，２］.", ["s1", "s2"]),
        ("X [1、2].", ["s1", "s2"]),
        ("X 〔1〕.", ["s1"]),
        ("X [来源：1].", ["s1"]),
        ("X [[1]].", ["s1"]),
        ("X **[1]**.", ["s1"]),
        ("X `[1]`.", ["s1"]),
        ("X <sup>[1]</sup>.", ["s1"]),
        ("X ([1], [2]).", ["s1", "s2"]),
        ("X (see [1]).", ["s1"]),
        ("X [1]-[3].", ["s1", "s2", "s3"]),
        ("X [1] and [2].", ["s1", "s2"]),
        ("X [1](https://x.org/a_(b)).", ["s1"]),
        ("X [S1].", ["s1"]),
        ("X [S1, S2].", ["s1", "s2"]),
        ("X [S1-S3].", ["s1", "s2", "s3"]),
        ("X [s-1; F_2].", ["s1", "s2"]),
        ("X [Source: Fact 1].", ["s1"]),
        ("X [chunk 1].", ["s1"]),
        ("X ⟦1⟧.", ["s1"]),
        ("X 〖1, 2〗.", ["s1", "s2"]),
        ("X (1).", ["s1"]),
        ("X. (1)", ["s1"]),
        ("X (1)(2).", ["s1", "s2"]),
        ("X (S1).", ["s1"]),
        ("X {1}.", ["s1"]),
        ("X {Facts 1 and 2}.", ["s1", "s2"]),
        ("X **{1}**.", ["s1"]),
        ("X<sup>1</sup>.", ["s1"]),
        ("X <sup>1</sup><sup>2</sup>.", ["s1", "s2"]),
        ("X (Fact 1).", ["s1"]),
        ("X (facts 1 and 2).", ["s1", "s2"]),
        ("X [1: Artemisia Gentileschi | place of birth | Rome].", ["s1"]),
        ("X [Fact 1: Artemisia Gentileschi, place of birth: Rome].", ["s1"]),
        # These try to cite, and can't be read.
        ("X [Fact 9].", [None]),
        ("X [S9].", [None]),
        ("X ⟦9⟧.", [None]),
        ("X [S1, S9].", ["s1", None]),
        ("X [fact one].", [None]),
        ("X [source].", [None]),
        ("X [source: a book].", [None]),
        ("X 【3:1†source】.", [None]),
        ("X [1, a book].", ["s1", None]),
        ("X [Artemisia Gentileschi | place of birth | Rome].", [None]),
    ],
)
def test_numbers_stand_for_triples(text: str, ids: list[str | None]) -> None:
    (part,) = parse_answer(text, KNOWLEDGE)
    assert part.text == "X."
    assert [item.statement_id for item in part.citations] == ids
    printed = paper_form(text, KNOWLEDGE)
    (again,) = parse_answer(printed, KNOWLEDGE)
    assert [item.statement_id for item in again.citations] == ids
    if None not in ids:
        assert "[1" not in printed


@pytest.mark.parametrize("marker", ["[NA]", "[ NA ]", "[N/A]", "[na]", "[NA] [NA]", "[1, NA]"])
def test_not_available(marker: str) -> None:
    (part,) = parse_answer(f"This is unknown {marker}.", KNOWLEDGE)
    assert part.text == "This is unknown."
    assert part.not_available


@pytest.mark.parametrize(
    ("text", "citations"),
    [
        # Invented value, relation and entity; incomplete; by name and not by id.
        ("[Q212657, place of birth: Pisa]", [("Q212657", "place of birth", "Pisa")]),
        ("[Q212657, born in: Rome]", [("Q212657", "born in", "Rome")]),
        ("[Q9, place of birth: Rome]", [("Q9", "place of birth", "Rome")]),
        ("[Q9: place of birth: Rome]", [("Q9", "place of birth", "Rome")]),
        ("[Q212657, Rome]", [("Q212657", "", "")]),
        ("[Q212657]", [("Q212657", "", "")]),
        ("[Q9]", [("Q9", "", "")]),
        ("[Artemisia Gentileschi]", [("Artemisia Gentileschi", "", "")]),
        (
            "[Artemisia Gentileschi, place of birth: Rome]",
            [("Artemisia Gentileschi", "place of birth", "Rome")],
        ),
        ("[Q9, a: b, c: d, e]", [("Q9", "a", "b"), ("Q9", "c", "d, e")]),
    ],
)
def test_what_matches_nothing_given_is_a_wrong_citation_k4(
    text: str, citations: list[tuple[str, str, str]]
) -> None:
    (part,) = parse_answer(f"Some words {text}.", KNOWLEDGE)
    assert part.text == "Some words."
    assert [(c.entity_id, c.relation, c.value) for c in part.citations] == citations
    assert not any(c.matched for c in part.citations)
    assert all(c.raw and c.raw in text for c in part.citations)


def test_known_and_invented_in_one_bracket_k4() -> None:
    text = "X [Q212657, occupation: painter, age: 60, place of birth: Rome, NA]."
    (part,) = parse_answer(text, KNOWLEDGE)
    assert [c.statement_id for c in part.citations] == ["s2", None, "s1"]
    assert part.citations[1].raw == "age: 60"
    assert part.not_available


def test_a_reply_that_was_cut_inside_a_citation() -> None:
    assert read("She was born there [Q212657, place of birth: Ro") == [
        ("She was born there", [None], False)
    ]


def test_case_and_space_are_read_but_the_exact_form_goes_first_and_alone_matches_k4() -> None:
    text = "X [q212657,  Place of Birth:\nROME] [Q212657,\nplace of  birth: Rome]."
    assert read(text) == [("X.", ["s1", "s1"], False)]
    (part,) = parse_answer(text, KNOWLEDGE)
    assert [item.matched for item in part.citations] == [False, True]
    both = (triple("lower", "Q1", "r", "polish"), triple("upper", "Q1", "r", "Polish"))
    assert read("X [Q1, r: Polish] [Q1, r: polish].", both) == [("X.", ["upper", "lower"], False)]


@pytest.mark.parametrize(
    "text",
    [
        "He said [sic] so.",
        "And [...] so.",
        "See [this page](http://x.org).",
        "See [Artemisia Gentileschi](https://x.org/A) of [Q212657](https://x.org/Q).",
        "[his] X.",
        "X [citation needed].",
        "X [12/05/1948] at [10:30] for [0.5].",
        "X (2004) and (Source 9) and (in fact 2 more).",
        "A [1st edition].",
        "The [source code] is [evidence of it].",
        "Born [c1948], died [d. 1999]; of [F16] and [C9].",
        "It has [1,000] or [1,002] members.",
        "It has {x}, {9}, (9) and <sup>9</sup>.",
        "(1) Born in Rome, (2) a painter.",
        "Gold (1), silver (2) and bronze (3).",
        "Call f(1).",
        "It is x^{2}.",
        "It is `{1}`.",
        "The set is {1, 2}.",
        "An area of 5 km<sup>2</sup>.",
        "It is 10<sup>3</sup>.",
        "\\frac{1}{2}.",
    ],
)
def test_other_brackets_are_words(text: str) -> None:
    assert parse_answer(text, KNOWLEDGE) == (Sentence(text),)


def test_a_part_by_the_name_of_a_letter_and_a_number_is_no_number() -> None:
    part = triple("s1", "T1", "weight", "5 kg")
    assert read("It is [T1].", (part,)) == [("It is.", [None], False)]
    assert read("It is [S1].", (part,)) == [("It is.", ["s1"], False)]


def test_parentheses_are_words_beside_brackets() -> None:
    assert read("It won [1]. Its cups (2).") == [
        ("It won.", ["s1"], False),
        ("Its cups (2).", [], False),
    ]


_NUMBERS = st.lists(st.integers(1, len(KNOWLEDGE)), min_size=1, max_size=3)
_FORMS = (
    "[{}]", "[S{}]", "[f-{}]", "[Fact {}]", "[^{}]", "⟦{}⟧", "【{}】", "［{}］", "[Source: Fact {}]",
    "({})", "{{{}}}", "({}) ", "<sup>{}</sup>", "(see fact {})",
)  # fmt: skip


@given(st.sampled_from(_FORMS), st.lists(_NUMBERS, min_size=1, max_size=3))
def test_any_form_of_a_number_cites_its_triple(form: str, numbers: list[list[int]]) -> None:
    sentences = [
        f"Sentence {'abc'[index]} ends" + "".join(f" {form.format(number)}" for number in cited)
        for index, cited in enumerate(numbers)
    ]
    parts = parse_answer(". ".join(sentences) + ".", KNOWLEDGE)
    assert [part.text for part in parts] == [
        f"Sentence {'abc'[index]} ends." for index in range(len(numbers))
    ]
    assert [[citation.statement_id for citation in part.citations] for part in parts] == [
        [KNOWLEDGE[number - 1].statement_id for number in cited] for cited in numbers
    ]


_ORDINARY = (
    "[sic]", "[...]", "{x}", "{id: 1}", "`{1}`", "f(1)", "a[i]", "(1948)", "x^{2}", "(in part)",
    "[text](https://x.org/1)", "https://x.org/a(1)", "(1) first", "gold (1), silver (2)", "2 m<sup>2</sup>",
    "[his] car", "<b>1</b>", "[C9]", "[c1948]", "[1,000]", "the set {1}", "of (2)", "{{1}}", "${1}",
)  # fmt: skip


@given(st.lists(st.sampled_from(_ORDINARY), min_size=1, max_size=4))
def test_no_ordinary_brackets_cite(pieces: list[str]) -> None:
    text = f"Here stands {' and there '.join(pieces)} without a source."
    parts = parse_answer(text, KNOWLEDGE)
    assert " ".join(part.text for part in parts) == text
    assert not any(part.citations or part.not_available for part in parts)


def test_a_link_by_reference_is_words_and_a_citation() -> None:
    assert read("She [Artemisia Gentileschi][1] sang.") == [
        ("She [Artemisia Gentileschi] sang.", ["s1"], False)
    ]


@pytest.mark.parametrize(
    "references",
    [
        "[1] Artemisia Gentileschi | place of birth | Rome",
        "[1] Artemisia Gentileschi | place of birth | Rome\n[2] Artemisia Gentileschi | occupation | painter",
        "- [1]: Artemisia Gentileschi (Q212657) | place of birth | Rome",
        "[1]: https://x.org/rome",
        "**References**\n\n[1] A book.\n[2] Another.",
        "---\n\n## Sources:\n1. Artemisia Gentileschi | place of birth | Rome\n2. Another.",
        "Sources: [1]",
        "References:\n[1]",
        "[Q212657, place of birth: Rome] Artemisia Gentileschi | place of birth | Rome",
    ],
)
def test_a_list_of_references_at_the_end_cites_nothing_more(references: str) -> None:
    text = f"She was born in Rome [1].\n\n{references}\n"
    assert read(text) == [("She was born in Rome.", ["s1"], False)]
    assert read(paper_form(text, KNOWLEDGE)) == read(text)


def test_a_list_that_is_the_answer_cites() -> None:
    assert [ids for _, ids, _ in read("Her life:\n[1] Born in Rome.\n[2] A painter.")] == [
        [],
        ["s1"],
        ["s2"],
    ]
    listed = "She was born in Rome.\n\nSources:\n[1] Artemisia Gentileschi | place of birth | Rome"
    assert [ids for _, ids, _ in read(listed) if ids] == [["s1"]]


# Labels are data.

CRAFTED = (
    "[NA]", "[1]", "[2]", "[n/a]", "[1, 2]", "[Q1, home: Cork]", "[sic]", "[source: 1]",
    "Foo [NA]", "Foo [1]", "[1] Foo", "[NA] Foo", "Foo [NA] Bar", "Foo [Q1, home: Cork]",
    "Foo [Fact 1]", "Foo (Fact 1)", "Foo [^1]", "Foo [^1^]", "Foo [N\u200bA]", "Foo 【1†source】", "Foo ［NA］", r"Foo \[1\]",
    "Foo [1](http://x.org)", "**Foo [1]**", "*Foo*", "`Foo`", '"Foo"', "“Foo [1]”", "Foo's [1]",
    "Dr. No", "Who? What?", "What is love?", "Yahoo!", "Foo. [1]", "Washington, D.C.", "[", "]",
    "Foo (1)", "(1)", "Foo {2}", "Foo <sup>1</sup>", "Foo ⟦1⟧", "Foo [S1]", "S1", "[S1]",
    "A [b", "A] b", "Foo [1], and [2]", "<think>", "Foo </think>", "Foo | home | Cork", "№ [1]",
)  # fmt: skip
SENTENCES = (
    "Brook Mill is based in {} [1].",
    "{} is owned by Pia Roca [2].",
    "Brook Mill is in {}.",
    "The owner of {} is Pia Roca [2]. It was founded in 1948 [3].",
    "Its home is {} [1] and its owner is not known [NA].",
    "Brook Mill is based in {0} [Q1, home: {0}].",
    "Nothing is known of {} [NA].",
    "It is at {} [9]. It was founded in 1948 [1][3].",
    "“{}” was founded in 1948 [3].",
)


def scored(label: str, sentence: str) -> list[tuple[list[tuple[str | None, bool]], bool]]:
    knowledge = (
        triple("s1", "Q1", "home", label, label="Brook Mill"),
        triple("s2", "Q2", "owner", "Pia Roca", label=label),
        triple("s3", "Q1", "founded in", "1948", label="Brook Mill"),
    )
    parts = parse_answer(sentence.format(label), knowledge)
    # Markers are left out of what entailment judges, labels are not.
    assert one_line(label) in " ".join(part.text for part in parts).replace(" .", ".")
    return [
        ([(c.statement_id, c.matched) for c in part.citations], part.not_available)
        for part in parts
    ]


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("label", CRAFTED)
def test_a_crafted_label_scores_as_a_harmless_one(label: str, sentence: str) -> None:
    assert scored(label, sentence) == scored("Foo", sentence)


@given(
    st.lists(
        st.sampled_from(["Foo", "bar", "[NA]", "[1]", "[9]", "[Q1, home: Cork]", "[Fact 1]", "(Fact 2)",
                         "[^1]", "【1†source】", "[S1]", "(2)", "{1}", "<sup>1</sup>", "⟦1⟧", "**", "“", '"', "'", "|", "<think>", "</think>", "1", "\\[2\\]"]),
        max_size=4,
    ),
    st.sampled_from(SENTENCES),
)  # fmt: skip
def test_any_label_scores_as_a_harmless_one(parts: list[str], sentence: str) -> None:
    label = " ".join(["Foo", *parts, "Bar"])
    assert scored(label, sentence) == scored("Foo", sentence)


def test_a_real_citation_beside_a_label_is_read() -> None:
    """The label of another statement changes nothing of a citation that begins as it does."""
    short = (triple("a", "Q1", "home", "["), triple("b", "Q1", "owner", "[1"), ROME)
    assert read("X [1]. Y [3]. Z [Q1, owner: [1].", short) == [
        ("X.", ["a"], False),
        ("Y.", ["s1"], False),
        ("Z.", ["b"], False),
    ]


def test_statements_that_print_alike_are_all_meant() -> None:
    twice = (
        triple("a", "Q1", "position held", "mayor"),
        triple("b", "Q1", "position held", "mayor"),
    )
    (citation,) = parse_answer("X [Q1, position held: mayor].", twice)[0].citations
    assert citation.statement_ids == ("a", "b")
    assert render_citations([twice[1]], twice) == "[2]"


def test_where_citations_belong() -> None:
    assert read("He was born. [1] He died [2]. [NA]") == [
        ("He was born.", ["s1"], False),
        ("He died.", ["s2"], True),
    ]
    assert read("[1] He was born.\n[2] He died.\n[3]") == [
        ("He was born.", ["s1"], False),
        ("He died.", ["s2", "s3"], False),
    ]
    assert read("[1][NA]") == [("", ["s1"], True)]
    assert read("") == []
    assert read("  \n ") == []
    assert read("他出生于罗马[1]。他是画家[2]。") == [
        ("他出生于罗马。", ["s1"], False),
        ("他是画家。", ["s2"], False),
    ]


def test_names_with_full_stops_do_not_end_a_sentence() -> None:
    given_ = (triple("a", "Q1", "film", "Dr. No. The end", label="J. F. K. Smith"),)
    assert read("J. F. K. Smith made Dr. No. The end [1]. He rested.", given_) == [
        ("J. F. K. Smith made Dr. No. The end.", ["a"], False),
        ("He rested.", [], False),
    ]


NASTY = st.text(
    alphabet=st.sampled_from(list("ab1NA ,;:[].】【\n\tÄ́é中.-–'\"{}()*+?\\^$|")),
    min_size=1,
    max_size=12,
).filter(lambda text: text.strip() != "")


@st.composite
def knowledges(draw: st.DrawFn) -> tuple[Triple, ...]:
    heads = draw(st.lists(NASTY, min_size=1, max_size=3, unique=True))
    relations = draw(st.lists(NASTY, min_size=1, max_size=3, unique=True))
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from(heads), st.sampled_from(relations), NASTY),
            min_size=1,
            max_size=6,
        )
    )
    return tuple(triple(f"s{i}", *row) for i, row in enumerate(rows))


@given(knowledges(), st.data())
@example(
    (triple("s0", "a", "b", "a, b: b"), triple("s1", "a", "b", "a"), triple("s2", "a", "b", "b")),
    None,
)
def test_printed_citations_are_read_back_k4(
    knowledge: tuple[Triple, ...], data: st.DataObject | None
) -> None:
    """Whatever the labels hold: what is printed for some triples cites exactly those."""
    if data is None:
        chosen = list(knowledge[1:])
    else:
        chosen = data.draw(st.lists(st.sampled_from(knowledge), min_size=1, max_size=4))
    reader = CitationReader(knowledge)
    # One text a run of triples, as the templates print them, so that no neighbour interferes.
    for item in chosen:
        printed = unicodedata.normalize("NFC", render_citations([item], knowledge))
        found = [c for bracket in reader.brackets(printed) for c in bracket.citations]
        assert [c.statement_ids for c in found] == [(item.statement_id,)]
        assert all(c.matched for c in found)
    group = [item for item in chosen if item.head == chosen[0].head]
    printed = unicodedata.normalize("NFC", render_citations(group, knowledge))
    if printed == print_citation(group):
        found = [c for bracket in reader.brackets(printed) for c in bracket.citations]
        assert [c.statement_id for c in found] == [item.statement_id for item in group]


@given(st.text(max_size=200), knowledges())
def test_any_text_can_be_read_k4(text: str, knowledge: tuple[Triple, ...]) -> None:
    ids = {item.statement_id for item in knowledge}
    for part in parse_answer(text, knowledge):
        for citation in part.citations:
            assert citation.matched <= bool(citation.statement_ids)
            assert set(citation.statement_ids) <= ids


@given(knowledges(), st.data())
def test_words_beside_citations_are_kept(
    knowledge: tuple[Triple, ...], data: st.DataObject
) -> None:
    chosen = data.draw(st.lists(st.sampled_from(knowledge), min_size=1, max_size=3))
    text = " ".join(f"[{knowledge.index(item) + 1}]" for item in chosen)
    (part,) = parse_answer(f"Plain words {text}.", ())
    assert part.text == "Plain words."
    assert len(part.citations) == len(chosen)


def test_many_brackets_in_a_row_are_read() -> None:
    for text in ("[Ada]" * 3000, "[Ada][1]" * 1000, "(" * 3000 + "[1]" + ")" * 3000):
        assert parse_answer(text, KNOWLEDGE)


def test_repeated_names_take_no_time_to_speak_of() -> None:
    """Ambiguous lists are read in time that grows with their length, not with their readings,
    which would take longer than anyone waits.
    """
    knowledge = tuple(triple(f"s{i}", "Q1", "a", ", a: ".join("b" * i)) for i in range(1, 12))
    text = "X [Q1, " + ", ".join(["a: b"] * 300) + ", c: d]."
    (part,) = parse_answer(text, knowledge)
    assert not part.citations[-1].matched
    assert sum(c.matched for c in part.citations) == len(part.citations) - 1
