"""Made questions: wordings, answers by brute force, the half kept aside (B5, B6)."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from string import Formatter

from error_texts import raises

from benchmarks.constraints import child_questions, film_questions
from benchmarks.families import FamilyQuestion, GoldChain
from benchmarks.made_questions import (
    is_aside,
    kin_before,
    read_made,
    read_open,
    spoken,
    three_steps,
    two_steps,
)
from benchmarks.step_tables import drawn, table_of, walk
from benchmarks.wordings import ASKED_OF_FILMS, CONSTRAINTS, FOOTBALL, KIN, SHARED_FILMS
from graph_service.errors import InputError

FILMS = table_of(
    [
        (film, relation, value)
        for film, year, director, actors, genre, language in (
            ("Dawn", "1961", "Ida", ("Ed", "Flo"), "Drama", "French"),
            ("Noon", "1968", "Ida", ("Ed",), "War", "German"),
            ("Dusk", "1974", "Ida", ("Ed", "Gus"), "Drama", "German"),
            ("Night", "1975", "Jan", ("Gus",), "Comedy", "German"),
        )
        for relation, value in (
            ("release_year", year),
            ("directed_by", director),
            ("written_by", director),
            ("has_genre", genre),
            ("in_language", language),
            *(("starred_actors", actor) for actor in actors),
        )
    ]
)


def test_each_wording_has_its_places() -> None:
    assert len(CONSTRAINTS) == 20
    assert len(FOOTBALL) == 10
    assert len({text for text, _ in FOOTBALL.values()}) == 10
    for of_person in SHARED_FILMS.values():
        assert all(places(text) == {"film"} for text in of_person)
    for of_films in ASKED_OF_FILMS.values():
        assert all(places(text) == {"films"} for text in of_films)
    assert all(places(text) == {"name"} for text, _ in FOOTBALL.values())
    assert all(places(text) == {"name"} for of_kin in KIN.values() for text in of_kin)


def places(wording: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(wording) if name}


def test_a_walk_visits_no_node_twice() -> None:
    acted = ("starred_actors", True)
    shared = (("starred_actors", False), acted)
    assert walk(FILMS, "Dawn", shared) == {"Noon", "Dusk"}
    assert walk(FILMS, "Dawn", (*shared, ("release_year", False))) == {"1968", "1974"}
    assert walk(FILMS, "nobody", shared) == frozenset()


def test_three_steps_end_at_what_the_walk_finds() -> None:
    asked = {one.template: one for one in three_steps(FILMS) if one.topics == ("Dawn",)}
    one = asked["movie_to_director_to_movie_to_year"]
    assert one.answers == {"1968", "1974"}
    assert [step for chain in one.chains for step in chain.steps] == [
        ("directed_by", False),
        ("directed_by", True),
        ("release_year", False),
    ]
    assert "Dawn" in one.text
    assert one.any_exact
    # Nothing is asked that has no answer: nobody of Night's cast directed anything else.
    assert all(question.answers for question in three_steps(FILMS))


def test_football_takes_inverse_relations_as_one() -> None:
    table = table_of(
        [
            ("Al_BO", "plays_in_club", "FC_X"),
            ("FC_X", "plays_in_club_inverse", "Al_BO"),
            ("Cy_DO", "plays_in_club", "FC_X"),
            ("FC_X", "is_in_country", "Peru"),
            ("Al_BO", "plays_for_country", "Chad"),
        ]
    )
    asked = {(one.template, one.topics[0]): one for one in two_steps(table)}
    assert asked["league", "Al_BO"].answers == {"Peru"}
    assert asked["league", "Al_BO"].text == "In the league of which nation is Al BO employed?"
    assert asked["mates", "Al_BO"].answers == {"Cy_DO"}
    assert asked["abroad", "Peru"].answers == {"Al_BO", "Cy_DO"}
    assert asked["sides", "FC_X"].answers == {"Chad"}
    assert spoken("Al_BO") == "Al BO"


def test_a_step_of_kin_comes_before_published_questions() -> None:
    table = table_of(
        [
            ("ann", "spouse", "bob"),
            ("bob", "parents", "eve"),
            ("bob", "children", "ann"),
            ("eve", "gender", "female"),
        ]
    )
    published = FamilyQuestion(
        id="PQ-2H:1",
        family="pathquestion",
        set="PQ-2H",
        text="what is the bob 's mother 's sex ?",
        topics=("bob",),
        shape="2-hop",
        chains=(GoldChain("bob", (("parents", False), ("gender", False))),),
        answers=frozenset({"female"}),
    )
    loop = replace(published, id="PQ-2H:2", shape="loop")
    twice = replace(published, id="PQ-2H:3", text="is bob 's mother bob ?")
    (question,) = kin_before([published, loop, twice], table)
    assert question.text in {
        text.replace("the the", "the")
        for wording in KIN["spouse"]
        for text in [published.text.replace("bob", wording.format(name="ann"))]
    }
    assert question.topics == ("ann",)
    assert question.answers == {"female"}
    assert question.template == ">spouse >parents >gender"


def test_films_are_counted_by_brute_force() -> None:
    asked = list(film_questions(FILMS))
    by_text = {one.text: one for one in asked}
    assert len(by_text) == len(asked)
    latest = by_text["What is the most recent film starring Ed?"]
    assert latest.answers == {"Dusk"}
    assert (latest.shape, latest.told) == ("superlative", "")
    count = by_text["How many films did Ida direct?"]
    assert count.told == "3"
    assert count.answers == {"Dawn", "Noon", "Dusk"}
    years = {"Dawn": 1961, "Noon": 1968, "Dusk": 1974, "Night": 1975}
    for one in asked:
        words = one.text.split()
        if one.template == "film-after":
            after = int(words[-1].rstrip("?"))
            assert one.answers == {
                film for film in years if film != "Night" and years[film] > after
            }
        if one.template in ("film-both", "film-with"):
            assert len(one.chains) == 2
    # Who has one film, and what leaves no film out, is not asked about.
    assert all("Jan" not in one.text or one.told == "no" for one in asked)
    assert all(0 < len(one.answers) < 3 for one in asked if not one.told)
    told = Counter(one.told for one in asked if one.template == "film-did")
    assert set(told) <= {"yes", "no"}


def people(path: Path) -> Path:
    def document(id_: str, label: str, claims: dict[str, list[str]]) -> str:
        def snak(value: str) -> dict[str, object]:
            if value[0] in "+-":
                return {"datavalue": {"type": "time", "value": {"time": value}}}
            return {"datavalue": {"type": "wikibase-entityid", "value": {"id": value}}}

        return json.dumps(
            {
                "id": id_,
                "labels": {"en": {"value": label}},
                "claims": {
                    relation: [{"rank": "normal", "mainsnak": snak(value)} for value in values]
                    for relation, values in claims.items()
                },
            }
        )

    male, female = ["Q6581097"], ["Q6581072"]
    rows = [
        document("Q1", "Ann", {"P40": ["Q3", "Q4"]}),
        document("Q2", "Bob", {"P40": ["Q3"]}),
        document("Q3", "Cy", {"P569": ["+1950-01-02T00:00:00Z"], "P21": male, "P22": ["Q2"]}),
        document(
            "Q4",
            "Di",
            {
                "P569": ["+1944-05-06T00:00:00Z"],
                "P21": female,
                "P106": ["Q9"],
                "P22": ["Q2"],
                "P3373": ["Q3"],
            },
        ),
        document("Q9", "actor", {}),
    ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_children_are_found_either_way_round(tmp_path: Path) -> None:
    asked = {one.text: one for one in child_questions(people(tmp_path / "people.jsonl"))}
    assert asked["Who is the oldest child of Bob?"].answers == {"Q4"}
    assert asked["Which of Ann's children became an actor?"].answers == {"Q4"}
    assert asked["Who are the sons of Ann?"].answers == {"Q3"}
    assert asked["Which child of Bob was born in 1950?"].answers == {"Q3"}
    both = asked["Which children did Ann and Bob have together?"]
    assert both.answers == {"Q3", "Q4"}
    assert {chain.start for chain in both.chains} == {"Q1", "Q2"}
    # Di has a sibling, who does not say so: how many there are is in doubt.
    assert not any("siblings" in text and "Cy" in text for text in asked)
    assert asked["How many siblings does Di have?"].told == "1"


def test_half_is_kept_aside(tmp_path: Path) -> None:
    folder = tmp_path / "worldcup2014"
    folder.mkdir()
    rows = [f"p{i}\tplays_in_club\tc{i % 7}" for i in range(40)]
    rows += [f"c{i}\tis_in_country\tn{i % 3}" for i in range(7)]
    (folder / "WC2014.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    demo = tmp_path / "none.jsonl"
    (shown,) = read_made("worldcup-two", tmp_path, demo=demo)
    (aside,) = read_made("worldcup-two", tmp_path, demo=demo, aside=True)
    assert shown.unseen == aside.unseen == "worldcup"
    assert not any(is_aside(one.id) for one in shown.questions)
    assert all(is_aside(one.id) for one in aside.questions)
    assert len(shown.questions) > 20 < len(aside.questions)
    with raises(InputError):
        next(read_made("x", tmp_path, demo=demo))


def test_draws_do_not_depend_on_order() -> None:
    assert drawn(["a", "b", "c"], seed="s") == drawn(["c", "a", "b"], seed="s")
    assert drawn("abcdef", seed="s") != drawn("abcdef", seed="t")


def test_open_questions_name_what_bears_on_them() -> None:
    questions = list(read_open())
    assert len(questions) == 30
    assert len({one.id for _, one in questions}) == 30
    assert {graph for graph, _ in questions} == {"demo", "metaqa"}
    assert all(2 < len(one.relevant) <= 10 and one.topics for _, one in questions)
