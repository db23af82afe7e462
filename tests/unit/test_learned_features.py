"""What the scorer is told of candidates, worked out by hand on a small region."""

from __future__ import annotations

import numpy as np
import pytest
from retrieve_samples import region_of
from start_candidates import start_candidate
from word_vectors import WordVectors

from graph_service.link.spans import Certainty
from graph_service.model.graph import Float64
from graph_service.model.limits import Deadline
from graph_service.model.region import Region
from graph_service.retrieve.context import Encoder
from graph_service.retrieve.kinds import KINDS
from graph_service.retrieve.learned.candidates import Candidates, Fit, find_candidates
from graph_service.retrieve.learned.ends import find_end_kinds
from graph_service.retrieve.learned.entity_question import (
    question_word_features,
    read_entity_question,
)
from graph_service.retrieve.learned.features import NAMES, describe
from graph_service.retrieve.learned.relation_names import NamedRelation, stem, stems_of
from graph_service.retrieve.learned.relation_texts import RelationTexts
from graph_service.retrieve.preset import LEARNED

QUESTION = "what is the religion of Ann's spouse?"
RELATIONS = ("spouse", "religion", "place of birth")
ENCODE = Encoder(WordVectors().encode)


ANN = start_candidate(
    start=24, end=27, certainty=Certainty.WRITTEN, linked=True, listed=True, degree=2
)


def family() -> Region:
    """Ann (0) has a spouse (1), whose religion is 2; Ann was born in 3, and 4 was too."""
    return region_of(5, [(0, 1), (1, 2), (0, 3), (4, 3)], rel=[0, 1, 2, 2])


def candidates_of(region: Region) -> Candidates:
    numbers = np.unique(region.rel).astype(np.int64)
    starts = len(region.start_entities)
    found, _ = find_candidates(
        region,
        Fit(
            np.zeros((starts, len(numbers))),
            np.zeros((starts, 0, len(numbers))),
            np.zeros(starts, dtype=np.int64),
            np.zeros(starts),
        ),
        LEARNED,
        relation_numbers=numbers,
        deadline=Deadline.none(),
    )
    return found


def relations(names: dict[str, tuple[str, ...]] | None = None) -> RelationTexts:
    named = []
    for label in RELATIONS:
        of_relation = (label, *(names or {}).get(label, ()))
        stems = tuple(map(stems_of, of_relation))
        named.append(NamedRelation(ENCODE(of_relation), stems, frozenset().union(*stems)))
    return RelationTexts.of(named)


PERSONS = {0: "person", 1: "person"}


def described(
    region: Region, *, question: str = QUESTION, given: bool = False, **others: object
) -> tuple[Candidates, Float64]:
    found = candidates_of(region)
    span = (question.index("Ann"), question.index("Ann") + 3)
    texts = relations(others.get("names"))  # type: ignore[arg-type]
    asked = [read_entity_question(question, span, ENCODE)]
    return found, describe(
        found,
        [ANN],
        asked,
        np.zeros(1, dtype=np.int64),
        texts,
        texts.similarities(asked),
        find_end_kinds(found, region, others.get("kinds", PERSONS), [-1] * len(found)),  # type: ignore[arg-type]
        ENCODE(KINDS).astype(np.float64),
        question_words=question_word_features(question),
        question_length=len(question),
        writes_capitals=True,
        by_caller=given,
    )


def of(found: Candidates, rows: Float64, *sequence: tuple[int, bool]) -> dict[str, float]:
    number = next(i for i in range(len(found)) if found.sequence(i) == sequence)
    return dict(zip(NAMES, rows[number].tolist(), strict=True))


def test_words_are_covered_by_the_steps_that_speak_them() -> None:
    found, rows = described(family())
    one = of(found, rows, (0, False))
    two = of(found, rows, (0, False), (1, False))
    assert two["covered_least"] == pytest.approx(1.0, abs=1e-6)
    assert one["covered_least"] < 0.5
    assert (one["uncovered_50"], two["uncovered_50"]) == (0.25, 0.0)
    assert (one["unshared_words"], two["unshared_words"]) == (0.25, 0.0)
    assert two["distinct_words"] == 1.0
    assert two["own_least"] > 0.5
    # "Ann's spouse": the nearest word is the spouse, the furthest the religion.
    assert two["near_first"] == pytest.approx(1.0, abs=1e-6)
    assert two["far_last"] == pytest.approx(1.0, abs=1e-6)
    assert two["near_last"] < 0.5
    assert one["possessive"] == 1.0
    assert one["nesting"] == pytest.approx(2 / 3)


def test_words_of_the_first_steps_stand_closest_to_the_name() -> None:
    # Ann's spouse has the religion 2; her religion 2 has a spouse of his own, 5.
    region = region_of(6, [(0, 1), (1, 2), (0, 2), (2, 5)], rel=[0, 1, 1, 0])
    found, rows = described(region)
    right = of(found, rows, (0, False), (1, False))
    wrong = of(found, rows, (1, False), (0, False))
    assert right["in_order"] == pytest.approx(1.0, abs=1e-6)
    assert wrong["in_order"] < 0.5
    assert right["order_gain"] == pytest.approx(-wrong["order_gain"])
    assert right["order_gain"] > 0.5
    # One word cannot say two steps.
    found, rows = described(region, question="what is Ann's spouse?")
    assert of(found, rows, (0, False), (1, False))["in_order"] < -0.5
    assert of(found, rows, (0, False))["order_gain"] == 0.0


def test_what_a_relation_of_the_region_says_and_a_candidate_does_not_is_unsaid() -> None:
    found, rows = described(family())
    one, two = (of(found, rows, (0, False)), of(found, rows, (0, False), (1, False)))
    assert two["unsaid"] == pytest.approx(0.0, abs=1e-6)
    assert one["unsaid"] == pytest.approx(one["unsaid_most"] / 2)
    assert one["unsaid_far"] == one["unsaid_most"] > 0.3
    # No relation says "aardvark", so no candidate lacks it.
    _, with_noise = described(family(), question="aardvark, what is the religion of Ann's spouse?")
    assert of(found, with_noise, (0, False), (1, False))["unsaid"] < 0.15


def test_a_kind_that_a_step_comes_to_says_the_word_for_it() -> None:
    # The people that Ann's spouse is the spouse of: relation 2 says "person".
    region = region_of(4, [(0, 1), (1, 2), (1, 3)], rel=[0, 0, 1])
    found, rows = described(region, question="which person is Ann's spouse?")
    told = of(found, rows, (0, False))
    assert told["unsaid_kinds"] <= told["unsaid"]
    assert told["unsaid_kinds_most"] <= told["unsaid_most"]


def test_a_step_and_the_same_back_are_asked_for_by_the_same_and_other() -> None:
    told = {}
    for question in ("who has the same religion as Ann", "who has the religion of Ann"):
        found, rows = described(region_of(3, [(0, 1), (2, 1)], rel=[1, 1]), question=question)
        told[question[8:16]] = of(found, rows, (1, False), (1, True))
    same, plain = told["the same"], told["the reli"]
    assert (same["there_and_back"], same["there_and_back_asked"]) == (1.0, 1.0)
    assert same["there_and_back_unasked"] == 0.0
    assert (plain["there_and_back_asked"], plain["there_and_back_unasked"]) == (0.0, 1.0)
    assert same["own_least"] == 0.5


def test_a_trail_that_comes_back_to_its_start_is_told() -> None:
    region = region_of(2, [(0, 1), (1, 0)], rel=[0, 0])
    found, rows = described(region)
    assert of(found, rows, (0, False), (0, False))["back_again"] == 1.0
    assert of(found, rows, (0, False))["back_again"] == 0.0
    assert of(found, rows, (0, False), (0, False))["meets"] == 0.0


def test_other_names_of_relations_count_and_labels_alone_make_the_mean() -> None:
    question = "what faith has Ann?"
    found, rows = described(family(), question=question)
    _, with_names = described(family(), question=question, names={"spouse": ("faith",)})
    before, after = (of(found, each, (0, False)) for each in (rows, with_names))
    assert after["first_cosine"] > before["first_cosine"]
    assert after["covered_mean"] == pytest.approx(1.0, abs=1e-6)
    assert after["shared_most"] == 1.0
    # A product with one more row may differ in its last bits.
    assert after["mean_cosine"] == pytest.approx(before["mean_cosine"], abs=1e-12)


def test_shape_and_ends_are_counted() -> None:
    found, rows = described(family())
    back = of(found, rows, (2, False), (2, True))
    assert (back["two_steps"], back["backward"], back["backward_first"]) == (1.0, 0.5, 0.0)
    assert back["backward_last"] == 1.0
    assert back["ends"] == pytest.approx(np.log1p(1) / 5)
    spouse = of(found, rows, (0, False))
    assert (spouse["person"], spouse["entity"], spouse["kind_known"]) == (1.0, 1.0, 1.0)
    religion = of(found, rows, (0, False), (1, False))
    assert (religion["person"], religion["kind_known"], religion["kind_word"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("kind", [KINDS[0], KINDS[1], KINDS[-1]])
def test_the_kind_of_an_end_is_compared_with_the_question_and_its_words(kind: str) -> None:
    """Whichever kind of the list it is."""
    span = (QUESTION.index("Ann"), QUESTION.index("Ann") + 3)
    asked = read_entity_question(QUESTION, span, ENCODE)
    vector = ENCODE([kind])[0].astype(np.float64)
    found, rows = described(family(), kinds={1: kind})
    told = of(found, rows, (0, False))
    assert told["kind_known"] == 1.0
    assert told["kind_cosine"] == pytest.approx(float(vector @ asked.vector))
    assert told["kind_word"] == pytest.approx(float((asked.word_vectors @ vector).max()))


def test_literal_ends_are_dates_numbers_or_text() -> None:
    region = region_of(4, [(0, 1), (0, 2), (0, 3)], rel=[0, 1, 2], literals=(1, 2, 3))
    found = candidates_of(region)
    ends = find_end_kinds(found, region, {}, [0, 1, 2])
    assert ends.shares.tolist() == [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0]]
    assert ends.kind.tolist() == [-1, -1, -1]


def test_question_words_stand_beside_what_they_ask_for() -> None:
    found, rows = described(family(), question="who is Ann's spouse?")
    told = of(found, rows, (0, False))
    assert (told["who"], told["who_person"], told["who_date"], told["where"]) == (1, 1, 0, 0)


def test_given_entities_are_told_apart_and_nothing_of_names_is() -> None:
    found, rows = described(family(), given=True)
    told = of(found, rows, (0, False))
    assert told["given"] == 1.0
    assert {told[name] for name in NAMES[NAMES.index("given") + 1 :]} == {0.0}
    found, rows = described(family())
    told = of(found, rows, (0, False))
    assert (told["given"], told["linked"], told["certainty"]) == (0.0, 1.0, 1.0)
    assert told["name_share"] == pytest.approx(3 / len(QUESTION))


def test_a_start_that_stands_among_the_ends_meets() -> None:
    region = region_of(3, [(0, 1), (1, 2)], rel=[0, 1], start_entities=(0, 2))
    found = candidates_of(region)
    ends = find_end_kinds(found, region, {}, [-1] * len(found))
    meets = {(int(found.start[i]), found.sequence(i)): m for i, m in enumerate(ends.meets)}
    assert meets[0, ((0, False), (1, False))] == 1.0
    assert meets[0, ((0, False),)] == 0.0


@pytest.mark.parametrize(
    ("word", "left"),
    [("directed", "direct"), ("director", "direct"), ("films", "film"), ("as", "as"),
     ("place", "plac"), ("born", "born"), ("starring", "starr")],
)  # fmt: skip
def test_stems(word: str, left: str) -> None:
    assert stem(word) == left


def test_a_region_without_words_in_the_question_is_described_too() -> None:
    found, rows = described(family(), question="what is Ann?")
    assert np.isfinite(rows).all()
    assert of(found, rows, (0, False))["covered_mean"] == 0.0
