"""Knowledge matching, renderings of dates and numbers, relation recall, groups (L8, L9)."""

from __future__ import annotations

import pytest
from error_texts import check_text, raises
from hypothesis import given
from hypothesis import strategies as st

from graph_service.errors import InputError
from queries.score.knowledge import (
    KnowledgeCase,
    knowledge_row,
    match_knowledge,
    relation_recall,
    score_knowledge,
)
from queries.score.matching import names, renderings
from queries.score.metric import Score
from queries.score.report import Groups, over_runs

WORDS = st.sampled_from(["rome", "the", "Éva", "1903", "11", "march", "of", "north", "8,848", "-5"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)
ANSWERS = st.lists(
    st.lists(st.one_of(TEXTS, st.sampled_from(["1903-03-11", "8848", "-5"])), max_size=3),
    max_size=4,
)


@given(TEXTS, ANSWERS)
def test_km_is_at_least_rkm_is_at_least_ekm_l8(text: str, answers: list[list[str]]) -> None:
    match = match_knowledge(text, answers)
    if match.km is None:
        assert not [entity for entity in answers if any(entity)]
        assert match.rkm is None
        assert match.ekm is None
    else:
        assert match.rkm is not None
        assert match.ekm is not None
        assert 1 >= match.km >= match.rkm >= match.ekm >= 0


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=6), st.data())
def test_a_name_is_present_where_its_tokens_follow_one_another(
    tokens: list[str], data: st.DataObject
) -> None:
    # "a" is an article: it is in no text and in no name.
    start = data.draw(st.integers(0, len(tokens) - 1))
    name = tokens[start : data.draw(st.integers(start + 1, len(tokens)))]
    text = " ".join(tokens)
    if set(name) == {"a"}:
        return
    assert names(text, " ".join(name))
    missing = [*name, "f"]
    assert not names(text, " ".join(missing))


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Born on 11 March 1952 in Cambridge", "1952-03-11"),
        ("Born on March 11, 1952.", "1952-03-11"),
        ("Born 11th of March 1952", "1952-03-11T00:00:00Z"),
        ("(11 Mar. 1952 - 11 May 2001)", "+1952-03-11"),
        ("1952-03-11", "1952-03-11"),
        ("on 11/03/1952", "1952-03-11"),
        ("on 3/11/1952", "1952-03-11"),
        ("am 11.3.1952", "1952-03-11"),
        ("in March 1952", "1952-03-00"),
        ("in 1952, ", "1952-00-00"),
        ("died in 109 B.C.", "-0109-00-00"),
        ("died on 1 January 109 BCE", "-0109-01-01"),
        ("in Sept 1901", "1901-09"),
        ("8,848.86 m high", "8848.86"),
        ("8848.860 metres", "8848.86"),
        ("8\u202f848 m", "8848"),
        ("8 848 m", "8848"),
        ("8'848m", "8,848"),
        ("1.234.567 Einwohner", "1234567"),
        ("some 1.5 million people", "1500000"),
        ("two million people", "2000000"),
        ("twelve children", "12"),
        ("at -5 degrees", "-5"),
        ("at minus 5 degrees", "-5"),
        ("the Hitchhiker's Guide to a Galaxy", "Hitchhiker’s guide to the galaxy"),
        ("He lived in łódź.", "Lodz"),
        ("他出生于北京。", "北京"),
        ("The band !!! played", "!!!"),
        ("Written in C#.", "c#"),
        ("(C++11 and C++)", "C++"),
        ("**C#** is a language", "C#"),
        ("He uses ASP.NET daily", "ASP.NET"),
        (".NET, from Microsoft", ".NET"),
        ("O\u2019Brien\u2019s poems", "O'Brien"),
        ("James O'Brien", "O\u2019Brien"),
        ("the O'Briens' house, O'Brien's", "O'Brien"),
        ("McDonald\u2019s sells burgers", "McDonald's"),
        ("Jean\u2011Paul Sartre", "Jean-Paul"),
        ("Jean-Paul's book", "Jean-Paul"),
        ("born in Saint Étienne", "Saint-Etienne"),
        ("J.K. Rowling wrote it", "J. K. Rowling"),
        ("1980\u2019s music", "1980s"),
        ("1952's best film", "1952"),
        ("the U.S.-led war", "U.S."),
        ("US$1,234,567.89 a year", "1234567.89"),
        (".5 of it", "0.5"),
        ("(1990-present)", "1990"),
        ("He took Vitamin A daily", "vitamin a"),
        ("在1952年出生", "1952"),
        ("iPhone手机很贵", "手机"),
        ("a-ha sang", "A-ha"),
        ("Rome/Milan", "Rome"),
        ("died 11 Mar.1952", "1952-03-11"),
    ],
)
def test_an_answer_is_named(text: str, answer: str) -> None:
    assert names(text, answer)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Written in C#", "C"),
        ("Written in C++", "C"),
        ("C++11", "C"),
        ("F# or Objective-C", "C"),
        ("at 20 °C", "C"),
        ("ASP.NET", "NET"),
        ("the net", ".NET"),
        ("the 1980s", "1980"),
        ("the 1980's", "1980"),
        ("Conan O'Brien", "Brien"),
        ("Conan O’Brien", "O"),
        ("Obama's", "S"),
        ("Jean-Paul", "Jean"),
        ("co-founder", "co"),
        ("a B-52 and COVID-19", "52"),
        ("7-Eleven", "7"),
        ("the U.S.", "U"),
        ("AT&T", "T"),
        ("3.5", "5"),
        ("3,5 km", "5"),
        ("1,234", "1"),
        ("1.234.567", "234"),
        ("3.5.1", "3"),
        ("at 10:30", "10"),
        ("3rd", "3"),
        ("4x4", "4"),
        ("½ litre", "1"),
        ("11.3.1952", "1952-03-12"),
        ("Spider-man", "Spider"),
        ("a-ha", "ha"),
        ("data* and a*", "A**"),
        ("He sang in Romeo and Juliet", "Rome"),
        ("Born on 11 March 1953", "1952-03-11"),
        ("Born in March 1952", "1952-03-11"),
        ("Born on 12 March 1952, aged 11", "1952-03-11"),
        ("died in 109", "-0109-00-00"),
        ("8,848 m", "848"),
        ("8848.86 m", "8848"),
        ("18848 m", "8848"),
        ("between 3 and 5 degrees", "-5"),
        ("from 1990-1995", "-1995"),
        ("1.5 million", "1.5"[:1]),
        ("", "Rome"),
        ("Rome", " "),
    ],
)
def test_an_answer_is_not_named(text: str, answer: str) -> None:
    assert not names(text, answer)


@pytest.mark.parametrize(
    "said",
    [
        "area",
        "based",
        "born",
        "educated",
        "era",
        "language",
        "led",
        "made",
        "nominated",
        "now",
        "owned",
        "present",
        "speaking",
        "style",
        "today",
        "trained",
        "winning",
    ],
)
def test_a_name_stands_before_what_is_said_of_it(said: str) -> None:
    """``a Paris-based firm`` names Paris, ``Paris-on-Hudson`` another place."""
    assert names(f"a Paris-{said} painter", "Paris")
    assert names(f"a Paris\u2010{said.title()} painter", "Paris")
    assert not names(f"a Paris-un{said} painter", "Paris")
    assert not names(f"{said}-Paris", "Paris")


@pytest.mark.parametrize(
    "counted",
    [
        "time",
        "year",
        "month",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "man",
        "member",
        "page",
        "part",
        "point",
        "seat",
        "star",
        "storey",
        "foot",
        "inch",
        "mile",
        "metre",
        "meter",
    ],
)
def test_a_number_stands_before_what_it_counts(counted: str) -> None:
    """``a 20-year-old`` and ``20-years``; not a name that has a number."""
    assert names(f"a 20-{counted} one", "20")
    assert names(f"a 20-{counted}-old one", "20")
    assert not names(f"a 20-un{counted} one", "20")
    assert not names(f"the Model-20-{counted} one", "Model")


@pytest.mark.parametrize(
    "unit",
    [
        "m",
        "km",
        "cm",
        "mm",
        "mi",
        "ft",
        "kg",
        "g",
        "mg",
        "t",
        "l",
        "ml",
        "kmh",
        "mph",
        "hz",
        "khz",
        "mhz",
        "ghz",
        "kb",
        "mb",
        "gb",
        "tb",
        "kw",
        "mw",
        "gw",
    ],
)
def test_a_unit_may_follow_a_number_without_a_space(unit: str) -> None:
    assert names(f"it has 350{unit}.", "350")
    assert not names(f"it has 350un{unit}.", "350")


@pytest.mark.parametrize("elided", ["l", "d", "qu", "un", "all", "dall", "dell", "nell", "sull"])
def test_a_name_stands_after_an_elided_article(elided: str) -> None:
    assert names(f"{elided}'Italia", "Italia")
    assert names(f"{elided.title()}\u2019Italia", "Italia")
    assert not names(f"x{elided}'Italia", "Italia")


@pytest.mark.parametrize(
    ("answer", "forms"),
    [
        ("0", "0 | zero"),
        ("20", "20 | twenty"),
        ("21", "21"),
        ("-7", "-7 | -seven | minus 7 | minus seven"),
        ("999", "999"),
        ("1000", "1 000 | 1 thousand | 1000 | one thousand"),
        ("3000", "3 000 | 3 thousand | 3000 | three thousand"),
        ("20000", "20 000 | 20 thousand | 20000 | twenty thousand"),
        ("21000", "21 000 | 21 thousand | 21000"),
        ("100000", "100 000 | 100 thousand | 100000"),
        ("1000000", "1 000 000 | 1 million | 1000 thousand | 1000000 | one million"),
        ("1250000", "1 250 000 | 1250 thousand | 1250000"),
        ("1500000", "1 500 000 | 1.5 million | 1500 thousand | 1500000"),
        ("20000000", "20 000 000 | 20 million | 20000 thousand | 20000000 | twenty million"),
        ("1100000000", "1 100 000 000 | 1.1 billion | 1100 million | 1100000 thousand | 1100000000"),
        ("-2000", "-2 000 | -2 thousand | -2000 | -two thousand | minus 2 000 | minus 2 thousand | minus 2000 | minus two thousand"),
        ("1234.50", "1234.5 | 1234.50"),
        ("007", "007 | 7 | seven"),
        ("+12", "12 | twelve"),
        ("0109-02-00", "0109 02 | 109 02 | feb 0109 | feb 109 | feb of 0109 | feb of 109 | february 0109 | february 109 | february of 0109 | february of 109"),
        ("1952-00-00", "1952"),
        ("1952-09", "1952 09 | sep 1952 | sep of 1952 | sept 1952 | sept of 1952 | september 1952 | september of 1952"),
        ("1952-13-40", "1952"),
        ("1952-03-11", "03 11 1952 | 11 03 1952 | 11 3 1952 | 11 mar 1952 | 11 march 1952 | 11 of mar 1952 | 11 of march 1952 | 11th mar 1952 | 11th march 1952 | 11th of mar 1952 | 11th of march 1952 | 1952 03 11 | 3 11 1952 | mar 11 1952 | mar 11th 1952 | march 11 1952 | march 11th 1952"),
    ],
)  # fmt: skip
def test_the_forms_of_a_number_and_of_a_date_l8(answer: str, forms: str) -> None:
    assert sorted(" ".join(tokens) for tokens in renderings(answer)) == forms.split(" | ")


@pytest.mark.parametrize(
    ("day", "said"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (10, "10th"), (11, "11th"), (12, "12th"),
     (13, "13th"), (14, "14th"), (21, "21st"), (22, "22nd"), (23, "23rd"), (30, "30th")],
)  # fmt: skip
def test_a_day_has_the_ending_of_its_number_l8(day: int, said: str) -> None:
    forms = renderings(f"1952-05-{day:02d}")
    assert {form[0] for form in forms if form[1:2] == ("may",)} == {f"{day}", f"{day:02d}", said}


def test_an_answer_of_articles_alone_is_looked_for_as_written() -> None:
    """The band The The has no tokens: the folded words are looked for as they stand."""
    assert renderings("The The") == frozenset()
    assert names("a song by The The in 1983", "The The")
    assert not names("a song by Then in 1983", "The The")


def test_the_three_scores_of_a_hand_made_case_l8() -> None:
    # Two of three: any is named, two thirds, not all.
    match = match_knowledge(
        "Marie Curie was born in Warsaw in 1867.",
        [["Warsaw", "Warszawa"], ["1867-00-00"], ["Pierre Curie"]],
    )
    assert match.found == (True, True, False)
    assert (match.km, match.rkm, match.ekm) == (1.0, 2 / 3, 0.0)


@given(
    st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from(["p", "-p", "q"])), max_size=8),
    st.lists(st.tuples(st.sampled_from("AB"), st.sampled_from(["p", "-p", "q"])), max_size=8),
    st.one_of(st.none(), st.integers(1, 3)),
)
def test_relation_recall_is_its_definition_l8(
    found: list[tuple[str, str]], reference: list[tuple[str, str]], k: int | None
) -> None:
    kept = set()
    for entity in "AB":
        ranked = list(dict.fromkeys(r for e, r in found if e == entity))
        kept |= {(entity, relation) for relation in ranked[:k]}
    result = relation_recall(found, reference, k=k)
    assert result.reference == len(set(reference))
    assert result.hit == len(kept & set(reference))
    assert (result.recall is None) == (not reference)


def test_micro_and_macro_recall_and_unscored_cases_l8() -> None:
    rows, report = score_knowledge(
        [
            # 1 of 3 pairs; oracle 2 of 3 among the first relation of each entity.
            KnowledgeCase(
                "1",
                "Rome",
                (("Rome",),),
                found=(("Q1", "p"), ("Q9", "q")),
                oracle=(("Q1", "p"), ("Q2", "q"), ("Q2", "r")),
                reference=(("Q1", "p"), ("Q2", "q"), ("Q2", "r")),
            ),
            KnowledgeCase(
                "2",
                "Paris",
                (("Rome",),),
                found=(("Q1", "p"),),
                oracle=(("Q1", "p"),),
                reference=(("Q1", "p"),),
            ),
            KnowledgeCase("3", "Paris"),
            KnowledgeCase("4", None, (("Rome",),), failure="timeout: no answer in 60 s"),
        ],
        ks=(1, 2),
    )
    assert [row.id for row in rows] == ["1", "2", "3", "4"]
    assert report.score("KM") == Score(0.5, 2, 1, 1, None, 0.0, 1.0)
    # Micro (1 + 1) / (3 + 1); macro (1/3 + 1) / 2.
    assert report.score("relation recall, micro").value == 0.5
    assert report.score("relation recall, macro").value == pytest.approx(2 / 3)
    assert report.score("oracle recall@1, micro").value == 0.75
    assert report.score("oracle recall@2, micro").value == 1.0
    # The third has no relations; the fourth failed before any could be ranked.
    for name in ("oracle recall@2, micro", "relation recall, macro"):
        assert (report.score(name).failed, report.score(name).unscored) == (1, 1)
    assert report.failures == {"timeout": 1}
    with raises(InputError):
        report.score("f1")


def test_a_case_without_a_ranking_has_no_recall_l8() -> None:
    """A ranking that found nothing has a recall of 0."""
    wanted = (("Q1", "p"),)
    none = knowledge_row(KnowledgeCase("1", "Rome", reference=wanted))
    assert (none.recall, none.oracle) == (None, {})
    empty = knowledge_row(
        KnowledgeCase("1", "Rome", found=(), oracle=(), reference=wanted), ks=(1,)
    )
    assert empty.recall == relation_recall((), wanted)
    assert empty.recall.recall == 0.0
    assert empty.oracle == {1: relation_recall((), wanted, k=1)}


def test_reports_by_level_and_number_of_references_l9() -> None:
    cases = [
        KnowledgeCase("1", "Rome", (("Rome",),), groups=Groups("who", "I", 1)),
        KnowledgeCase("2", "Paris", (("Rome",),), groups=Groups("who", "IV", 4)),
        KnowledgeCase("3", "Rome", (("Rome",),), groups=Groups("who", "IV", 9)),
        KnowledgeCase("4", "Rome", (("Rome",),), groups=Groups()),
    ]
    _, report = score_knowledge(cases)
    assert list(report.by) == ["level", "references"]
    assert report.by["level"]["IV"]["KM"].value == 0.5
    assert list(report.by["references"]) == ["1", ">3"]
    assert report.by["references"][">3"]["KM"].n == 2
    assert any(line.startswith("references >3") for line in report.lines())
    assert report.to_plain()["by"]["level"]["I"]["KM"]["value"] == 1.0


def test_mean_and_deviation_over_runs_o9() -> None:
    # Mean of .4 and .8; deviation sqrt((.2^2 + .2^2) / 1).
    spread = over_runs([Score(0.4, 5), Score(0.8, 5, failed=1), Score(None, 0, reason="none")])
    assert spread.mean == pytest.approx(0.6)
    assert spread.deviation == pytest.approx(0.08**0.5)
    assert spread.failed == 1
    assert spread.values[2] is None
    assert over_runs([Score(0.4, 5)]).deviation is None
    check_text(over_runs([]).text())
