"""The answer by rule: the entity at the end of the best item, or none under a score (B4)."""

from __future__ import annotations

from query_samples import paths, triple, triplets

from graph_service.model.result import Status
from queries.datasets.gold import GoldQuestion
from queries.experiment.extractive import calibrate, endpoints_of, extract, is_answer

MOTHER = triple("m", "Q1", "mother", "Q2", label="Ada")
CHILD = triple("c", "Q3", "child", "Q2", label="Bea")
HOME = triple("h", "Q2", "home", "Rome", label="Cleo")
LINKED = ("Q1",)


def test_the_end_is_away_from_the_questions_entities() -> None:
    # Q1 mother Q2, then Q3 child Q2 walked back: the path ends at Q3.
    found = endpoints_of(
        paths(
            [([MOTHER, HOME], 0.5), ([MOTHER, (CHILD, True)], 0.9), ([MOTHER], 0.9)], linked=LINKED
        )
    )
    assert [(end.id, end.label, end.score) for end in found] == [
        ("Q3", "Bea", 0.9), ("Q2", "Q2", 0.9), ("", "Rome", 0.5),
    ]  # fmt: skip
    # A triple whose value the question names ends at its head, and one end has its best score.
    back = triple("b", "Q4", "spouse", "Q1", label="Dan")
    found = endpoints_of(
        triplets([(back, 0.4), (MOTHER, 0.3), (HOME, 0.2), (MOTHER, 0.6)], linked=LINKED)
    )
    assert [(end.id, end.score) for end in found] == [("Q2", 0.6), ("Q4", 0.4), ("", 0.2)]
    loop = triple("l", "Q1", "knows", "Q1")
    assert endpoints_of(paths([([loop], 1.0)], linked=LINKED)) == ()


def test_it_names_one_entity_and_cites_its_path() -> None:
    result = paths([([MOTHER, HOME], 0.5)], linked=LINKED)
    found = extract(result, "Where?", question_id="1", min_score=0.5)
    assert found.sentences[0].text == "Rome."
    cited = [id_ for one in found.sentences[0].citations for id_ in one.statement_ids]
    assert cited == ["m", "h"]
    assert found.parameters["ends"] == [{"id": "", "label": "Rome", "score": 0.5}]
    under = extract(result, "Where?", question_id="1", min_score=0.6)
    assert under.not_available
    assert under.text.endswith("[NA].")
    nothing = paths([], status=Status.NOTHING_RELEVANT, linked=LINKED)
    assert extract(nothing, "Where?", question_id="1", min_score=None).not_available


def test_an_end_answers_by_id_or_by_name() -> None:
    (end,) = endpoints_of(paths([([MOTHER, HOME], 0.5)], linked=LINKED))
    assert is_answer(end, GoldQuestion("1", "?", answers=("rome",)))
    assert not is_answer(end, GoldQuestion("1", "?", answer_ids=("",), answers=("Paris",)))
    (end,) = endpoints_of(paths([([MOTHER], 0.5)], linked=LINKED))
    assert is_answer(end, GoldQuestion("1", "?", answer_ids=("Q2",)))


def test_the_score_is_that_with_most_right_minus_wrong() -> None:
    right = GoldQuestion("r", "?", answers=("Rome",))
    wrong = GoldQuestion("w", "?", answers=("Paris",))
    lacking = GoldQuestion("l", "?", lacking=True, answers=("[NA]",))
    unknown = GoldQuestion("u", "?")

    def at(score: float, gold: GoldQuestion) -> tuple[object, GoldQuestion]:
        return paths([([HOME], score)], linked=LINKED), gold

    # By score: right .9, right .7, wrong .6, right .5, lacking .4, wrong .3.
    # Least kept: .9 -> 1, .7 -> 2, .6 -> 1, .5 -> 2, .4 -> 1, .3 -> 0; of .5 and .7 the least is .5.
    pairs = [at(0.9, right), at(0.7, right), at(0.6, wrong), at(0.5, right), at(0.4, lacking),
             at(0.3, wrong), at(0.1, unknown)]  # fmt: skip
    found = calibrate(pairs)  # type: ignore[arg-type]
    assert (found.min_score, found.questions) == (0.5, 6)
    assert (found.right, found.wrong, found.abstained) == (3, 1, 2)
    assert calibrate([at(0.2, right)]).min_score is None  # type: ignore[list-item]
    never = calibrate([at(0.2, wrong)])  # type: ignore[list-item]
    assert (never.right, never.wrong, never.abstained) == (0, 0, 1)
