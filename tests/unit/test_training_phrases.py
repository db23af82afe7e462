"""What people say for relations, in the questions that are made of walks."""

from __future__ import annotations

import json
from importlib.resources import files
from random import Random

from graph_service.text.relation_phrases import phrases_of
from queries.wordings import Wordings


def test_every_wording_has_one_place_for_a_name() -> None:
    text = files("graph_service.text").joinpath("relation_phrases.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text.splitlines()]
    assert len({row["id"] for row in rows}) == len(rows) == 240
    for row in rows:
        assert row["names"]
        for field in ("forward", "noun", "backward", "noun_backward"):
            assert len(row[field]) >= 2
            for wording in row[field]:
                assert wording.count("{x}") == 1
                assert "{" not in wording.replace("{x}", "")


def test_phrases_are_found_by_property_and_by_name() -> None:
    spouse = phrases_of("P26", "whatever")
    assert spouse is not None
    assert phrases_of("http://dbpedia.org/ontology/spouse", "Spouse") is spouse
    assert phrases_of("birthPlace", "birth place") is phrases_of("P19", "")
    assert phrases_of("r", "no such relation") is None
    # An author and a screenwriter are both said to have written.
    assert phrases_of("r", "written by") is None


def _asked(ids: list[str], labels: list[str], steps: list[tuple[int, bool]]) -> set[str]:
    wordings = Wordings(Random(5), ids, labels, [[] for _ in ids])
    return {wordings.question("Ann", steps) for _ in range(300)}


def test_steps_go_by_what_people_say_and_by_their_names() -> None:
    phrases = phrases_of("P26", "spouse")
    assert phrases is not None
    asked = _asked(["P26"], ["spouse"], [(0, False)])
    assert {wording.format(x="Ann") for wording in phrases.forward} < asked
    assert "what is Ann's spouse?" in asked
    back = _asked(["P26"], ["spouse"], [(0, True)])
    assert {wording.format(x="Ann") for wording in phrases.backward} < back
    # No words are known for this one.
    assert all("polder" in text for text in _asked(["x"], ["polder"], [(0, False)]))


def test_phrases_stand_within_questions() -> None:
    asked = _asked(["P26", "x"], ["spouse", "polder"], [(0, False), (1, False)])
    phrases = phrases_of("P26", "spouse")
    assert phrases is not None
    for noun in phrases.noun:
        assert any(noun.format(x="Ann") in text for text in asked)
    turned = _asked(["P57"], ["director"], [(0, False), (0, True)])
    director = phrases_of("P57", "director")
    assert director is not None
    assert any(noun.format(x="Ann") in text for text in turned for noun in director.noun)
    assert any("same director" in text for text in turned)


def test_the_possessive_of_a_phrase_is_not_used() -> None:
    """*The mother of Ann's husband* is a step to the husband first, whatever was meant."""
    texts = _asked(["r1", "r2"], ["patron", "rival"], [(0, False), (1, False)])
    assert any("rival of Ann's patron" in text for text in texts)
    assert not any("patron of Ann's rival" in text for text in texts)
