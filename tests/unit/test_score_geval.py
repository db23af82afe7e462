"""G-Eval: ratings, weighting, scales, runs, failures (K8, O9)."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from error_texts import check_line, check_text, raises
from hand_chat import Asked, HandChat, refuses, script
from hypothesis import given
from hypothesis import strategies as st
from openai_stand_in import StandIn, stand_in

from graph_service.errors import InputError
from queries.llm import OpenAIChat, TokenChance, TokenChoice
from queries.llm.reply import UnreadableReplyError
from queries.score.case import TextCase
from queries.score.geval import (
    PRESETS,
    GEval,
    Preset,
    QualityScore,
    Weighting,
    can_be_rated,
    geval_report,
    rate_text,
    rating_prompt,
)
from queries.score.judge import Judge
from queries.score.rating import SplitNumberError, digits_after, read_rating, weighted_rating
from queries.score.report import Groups
from queries.score.rubric import load_rubric, parse_rubric, rubric_names

GOLDEN = Path(__file__).parent.parent / "golden" / "judges" / "geval"
CASE = TextCase(
    "1", "Who was Ada?", "A writer.", knowledge=("Ada | occupation | writer",), context="Ada wrote.",
    groups=Groups(kind="who"),
)  # fmt: skip
ONE = Preset("one", ("fluency",), 1, 5, Weighting.RAW, {})


def test_the_presets_are_the_two_papers_k8_o9() -> None:
    kalma, okgqa = PRESETS["kalma"], PRESETS["okgqa"]
    assert kalma.qualities == ("coherence", "consistency", "fluency", "relevance")
    assert (kalma.low, kalma.high, kalma.runs, kalma.weighting) == (1, 5, 3, Weighting.RAW)
    # KaLMA's appendix B.2; G-Eval's own log-probabilities are of temperature 1.
    assert (kalma.temperature, okgqa.temperature) == (0.0, 1.0)
    assert set(kalma.qualities) | set(okgqa.qualities) == set(rubric_names())
    assert okgqa.weighting is Weighting.LOGPROBS
    assert set(okgqa.material.values()) == {"context"}


@pytest.mark.parametrize("name", rubric_names())
def test_rendered_ratings_are_as_recorded(name: str) -> None:
    """To record a changed prompt again: look at it, then copy the text of the failure."""
    preset = next(preset for preset in PRESETS.values() if name in preset.qualities)
    shown = "".join(f"=== {m.role}\n{m.content}\n" for m in rating_prompt(CASE, name, preset))
    assert shown == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_three_raw_runs_are_averaged_and_each_has_its_seed_k8() -> None:
    model = HandChat(script("4", "5", "3"))
    row = rate_text(CASE, by=GEval(Judge(model, random_seed=10), replace(ONE, runs=3)))
    assert row.scores["fluency"].runs == (4.0, 5.0, 3.0)
    assert row.scores["fluency"].value == 4.0
    assert [asked.random_seed for asked in model.asked] == [10, 11, 12]
    assert {asked.temperature for asked in model.asked} == {1.0}
    other = replace(CASE, id="2")
    second = rate_text(
        other, by=GEval(Judge(HandChat(script("2", "1", "3"))), replace(ONE, runs=3))
    )
    report = geval_report([row, second], replace(ONE, runs=3), rated_by="hand")
    # Means 4 and 2: 3; as percentages of 1 to 5 (75 + 25) / 2.
    assert report.score("fluency").value == 3.0
    assert report.score("fluency, %").value == 50.0
    # Runs (4 + 2) / 2, (5 + 1) / 2, (3 + 3) / 2: all 3.
    assert any(
        "fluency over runs: 3.000 +- 0.000 (runs 3.000 3.000 3.000)" in x for x in report.notes
    )
    assert any("weighting raw" in note for note in report.notes)


@given(st.integers(-3, 12))
def test_numbers_out_of_range_are_no_ratings(number: int) -> None:
    if 1 <= number <= 5:
        assert read_rating(f"Rating: {number}.", 1, 5) == number
    else:
        with pytest.raises(UnreadableReplyError, match="outside the scale"):
            read_rating(str(number), 1, 5)


@pytest.mark.parametrize(
    "text", ["", "good", "4 or 5", "4.5", "3 because it is fine", "IV", "4/10"]
)
def test_what_is_no_whole_number_is_no_rating(text: str) -> None:
    with raises(UnreadableReplyError):
        read_rating(text, 1, 5)
    assert read_rating("4/5", 1, 5) == 4
    assert read_rating("**4**", 1, 5) == 4


def test_failed_runs_are_counted_and_never_averaged() -> None:
    model = HandChat(script("5", "7", "7", "no"))
    row = rate_text(CASE, by=GEval(Judge(model), replace(ONE, runs=3)))
    # The second and third runs are asked twice and stay unreadable.
    assert row.scores["fluency"].runs == (5.0, None, None)
    assert row.scores["fluency"].value == 5.0
    assert len(model.asked) == 5
    assert row.failure is None
    lost = rate_text(CASE, by=GEval(Judge(HandChat(refuses)), ONE))
    check_text(lost.failure, "60 s")
    failed = rate_text(replace(CASE, failure="no model"), by=GEval(Judge(HandChat(refuses)), ONE))
    report = geval_report([row, lost, failed], replace(ONE, runs=3), rated_by="hand")
    assert (report.score("fluency").n, report.score("fluency").failed) == (1, 2)
    check_line(report.notes, "3 ratings", "2 unreadable", "1 timeout", "60 s")


def test_knowledge_and_context_are_shown_where_a_quality_needs_them_o9() -> None:
    asked: list[str] = []
    model = HandChat(lambda request: asked.append(request.last) or "3")  # type: ignore[func-returns-value]
    rate_text(CASE, by=GEval(Judge(model), replace(PRESETS["kalma"], runs=1)))
    assert ["Knowledge:\n- Ada | occupation | writer" in text for text in asked] == [
        False, True, False, False
    ]  # fmt: skip
    bare = replace(CASE, context="", knowledge=())
    okgqa = replace(PRESETS["okgqa"], weighting=Weighting.RAW)
    missing = rate_text(bare, by=GEval(Judge(model), okgqa))
    assert missing.failure is None
    shown = geval_report([missing], okgqa, rated_by="x")
    check_text(shown.score("empowerment").text())
    assert shown.score("empowerment").unscored == 1
    part = rate_text(bare, by=GEval(Judge(model), PRESETS["kalma"]))
    assert part.failure is None
    assert part.scores["consistency"].runs == ()
    assert part.failures == ()
    assert str(part.scores["consistency"].missing).startswith("no knowledge")
    report = geval_report([part], PRESETS["kalma"], rated_by="x")
    found = report.score("consistency")
    assert (found.value, found.failed, found.unscored) == (None, 0, 1)
    check_text(report.notes)
    assert part.scores["fluency"].value == 3.0


def choice(token: str, **top: float) -> TokenChoice:
    chances = tuple(TokenChance(name, math.log(share)) for name, share in top.items())
    return TokenChoice(token, math.log(top.get(token, 1.0)), chances)


def test_a_rating_is_weighted_by_log_probabilities_o9() -> None:
    tokens = [
        TokenChoice("Rating", 0.0),
        TokenChoice(
            " 4",
            math.log(0.5),
            (
                TokenChance(" 4", math.log(0.5)),
                TokenChance("4", math.log(0.1)),
                TokenChance("2", math.log(0.2)),
                TokenChance("9", math.log(0.1)),
                TokenChance("x", math.log(0.1)),
            ),
        ),
    ]
    # 4 has .6 and 2 has .2 of what is on the scale: (2.4 + .4) / .8.
    assert weighted_rating(tokens, 4, 1, 5) == pytest.approx(3.5)
    model = HandChat(script("4"), chances=lambda _: (choice("4", **{"4": 0.5, "5": 0.5}),))
    by = GEval(Judge(model), replace(ONE, weighting=Weighting.LOGPROBS))
    assert rate_text(CASE, by=by).scores["fluency"].value == pytest.approx(4.5)
    assert "logprobs" in by.label
    mute = GEval(Judge(HandChat(script("4"))), replace(ONE, weighting=Weighting.LOGPROBS))
    assert "gives no log-probabilities" in str(rate_text(CASE, by=mute).failure)
    with raises(UnreadableReplyError):
        weighted_rating([TokenChoice("ten", 0.0)], 10, 1, 10)


NINE = {"9": 0.5, "1": 0.4, "8": 0.1}
"""9 at .5, 8 at .1, and at .4 the token 1, which begins 10."""


def test_ten_of_two_tokens_is_shared_out_by_the_token_after_it() -> None:
    # The reply is 10: its second token is 0 at .75, else the rating ends. 1 has .4 * .25 = .1 and
    # 10 has .3: 9 * .5 + 8 * .1 + 1 * .1 + 10 * .3 = 8.4.
    tokens = [choice("1", **NINE), choice("0", **{"0": 0.75, "\n": 0.25})]
    assert digits_after(tokens, 10, 1, 10) == {"1": {"0": pytest.approx(0.75)}}
    assert weighted_rating(tokens, 10, 1, 10) == pytest.approx(8.4)
    # The same of a reply that is 9, once it is known what follows a 1.
    nine = [choice("9", **NINE)]
    assert weighted_rating(nine, 9, 1, 10, next_digits={"1": {"0": 0.75}}) == pytest.approx(8.4)
    # A model with a token for 10 needs none: 9 * .5 + 10 * .4 + 1 * .1.
    own = [choice("9", **{"9": 0.5, "10": 0.4, "1": 0.1})]
    assert weighted_rating(own, 9, 1, 10) == pytest.approx(8.6)


def test_a_scale_whose_numbers_cannot_be_told_apart_is_refused() -> None:
    # 5.7 if the token 1 is the number 1, 9.3 if it is 10.
    with raises(SplitNumberError):
        weighted_rating([choice("9", **NINE)], 9, 1, 10)
    # On 1 to 9 nothing is unclear: (4.5 + .8 + .4) / 1.
    assert weighted_rating([choice("9", **NINE)], 9, 1, 9) == pytest.approx(5.7)
    # .001 of 1 or 10 changes .009 at most; the middle is taken.
    little = [choice("9", **{"9": 0.999, "1": 0.001})]
    assert weighted_rating(little, 9, 1, 10) == pytest.approx(8.9965)


@pytest.mark.parametrize(
    ("replies", "value", "requests"),
    [
        # The second reply shows that 0 follows 1: 9 * .5 + 8 * .1 + 10 * .4.
        (["9", "10"], 9.3, 2),
        # Three replies that begin with 1 end there: 9 * .5 + 8 * .1 + 1 * .4.
        (["9", "1", "1", "1"], 5.7, 4),
        (["9"], None, 6),
    ],
)
def test_more_replies_are_asked_for_where_a_token_may_be_two_numbers(
    replies: list[str], value: float | None, requests: int
) -> None:
    said: list[str] = []
    say = script(*replies)

    def reply(asked: Asked) -> str:
        said.append(say(asked))
        return said[-1]

    def chances(_: Asked) -> tuple[TokenChoice, ...]:
        if said[-1] == "10":
            return choice("1", **NINE), choice("0", **{"0": 1.0})
        return (choice(said[-1], **NINE),)

    model = HandChat(reply, chances=chances)
    preset = replace(ONE, weighting=Weighting.LOGPROBS, low=1, high=10)
    row = rate_text(CASE, by=GEval(Judge(model), preset))
    rated = row.scores["fluency"].value
    assert rated == (None if value is None else pytest.approx(value))
    assert len(model.asked) == requests
    assert len({asked.random_seed for asked in model.asked}) == requests
    if value is None:
        check_line(str(row.failure), "10 as", "tokens")


def test_log_probabilities_come_through_the_real_client() -> None:
    body = {
        "model": "m",
        "choices": [{
            "index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "3"},
            "logprobs": {"content": [{
                "token": "3", "logprob": math.log(0.75), "bytes": None,
                "top_logprobs": [
                    {"token": "3", "logprob": math.log(0.75), "bytes": None},
                    {"token": "4", "logprob": math.log(0.25), "bytes": None},
                ],
            }]},
        }],
        "usage": {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6},
    }  # fmt: skip
    server: StandIn
    from openai_stand_in import Scripted

    with stand_in(Scripted(200, body)) as server:
        model = OpenAIChat("judge", base_url=server.url, api_key="k")
        by = GEval(Judge(model), replace(ONE, weighting=Weighting.LOGPROBS))
        row = rate_text(CASE, by=by)
    assert row.scores["fluency"].value == pytest.approx(3.25)
    assert server.requests[0]["top_logprobs"] == 20


def test_a_rating_is_the_mean_of_samples_and_lost_ones_are_counted_o9() -> None:
    model = HandChat(script("4", "5", "none", "none", "3"))
    preset = replace(ONE, weighting=Weighting.SAMPLING, samples=4)
    row = rate_text(CASE, by=GEval(Judge(model), preset))
    # 4, 5, one that stays unreadable, 3.
    assert row.scores["fluency"].value == 4.0
    assert row.scores["fluency"].lost == 1
    assert [asked.random_seed for asked in model.asked] == [0, 1, 2, 2, 3]
    assert any("1 samples" in note for note in geval_report([row], preset, rated_by="x").notes)


def test_ratings_beside_those_of_people_k8() -> None:
    rows = []
    for number, (ours, theirs) in enumerate([("1", 2.0), ("3", 3.0), ("5", 5.0), ("4", None)]):
        human = {} if theirs is None else {"fluency": theirs}
        case = replace(CASE, id=str(number), human=human)
        rows.append(rate_text(case, by=GEval(Judge(HandChat(script(ours))), ONE)))
    report = geval_report(rows, ONE, rated_by="hand")
    assert report.score("fluency, spearman with people").value == 1.0
    assert report.score("fluency, spearman with people").n == 3
    assert report.score("fluency, spearman with people").unscored == 1
    # Covariance of 1 3 5 and 2 3 5 is 6 / 2 = 3 over sqrt(4 * 7/3).
    assert report.score("fluency, pearson with people").value == pytest.approx(3 / (28 / 3) ** 0.5)


def test_qualities_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "wit.txt"
    file.write_text("Wit\nHow witty it is.\n- Read it.\n", encoding="utf-8")
    rubric = load_rubric(str(file))
    assert (rubric.title, rubric.steps) == ("Wit", "- Read it.")
    # It stands in the names of runs: another version for the same text would part them.
    assert rubric.version == "53da8c6ae2c3c506"
    assert parse_rubric("wit", "Wit\r\nHow witty it is.\r\n- Read it.\r\n") == rubric
    with raises(InputError):
        load_rubric("wit")
    with raises(InputError):
        parse_rubric("wit", "Wit\n- Read it.")
    with raises(InputError):
        load_rubric(str(tmp_path / "none.txt"))


def test_each_sample_of_each_run_has_a_random_seed_of_its_own_o9() -> None:
    preset = replace(ONE, weighting=Weighting.SAMPLING, runs=2, samples=3, temperature=0.7)
    model = HandChat(script("4", "5", "3", "2", "1", "3"))
    row = rate_text(CASE, by=GEval(Judge(model, random_seed=10), preset))
    assert row.scores["fluency"] == QualityScore((4.0, 2.0))
    assert [asked.random_seed for asked in model.asked] == [10, 11, 12, 13, 14, 15]
    assert {asked.temperature for asked in model.asked} == {0.7}
    assert row.usage.total == 15 * 6


def test_samples_that_cannot_be_read_are_counted_and_a_run_of_none_is_failed_o9() -> None:
    preset = replace(ONE, weighting=Weighting.SAMPLING, runs=2, samples=2)
    said = script("9", "9", "4", "no", "no", "8", "8")
    row = rate_text(CASE, by=GEval(Judge(HandChat(said)), preset))
    first = "unreadable: it has to be one whole number from 1 to 5 and no more"
    # Each sample that cannot be read is asked for twice: 9, then none of "no" and 8.
    assert row.scores["fluency"] == QualityScore((4.0, None), (first,), 3)
    assert row.failure is None
    lost = rate_text(CASE, by=GEval(Judge(HandChat(script("6"))), preset))
    outside = "unreadable: 6 is outside the scale from 1 to 5"
    assert lost.scores["fluency"] == QualityScore((None, None), (outside, outside), 4)
    assert lost.failure == outside


def test_a_request_by_log_probabilities_that_fails_is_failed_o9() -> None:
    preset = replace(ONE, weighting=Weighting.LOGPROBS, runs=2)
    row = rate_text(CASE, by=GEval(Judge(HandChat(refuses)), preset))
    late = "timeout: no answer in 60 s"
    assert row.scores["fluency"] == QualityScore((None, None), (late, late))
    assert row.failure == late
    assert row.usage.total == 0
    model = HandChat(script("4"))
    row = rate_text(CASE, by=GEval(Judge(model, random_seed=3, max_tokens=9), preset))
    check_text(row.failure)
    assert [(asked.random_seed, asked.max_tokens) for asked in model.asked] == [(3, 9), (4, 9)]
    assert row.usage.total == 30


def test_what_a_text_lacks_is_told_by_quality_k8() -> None:
    preset = replace(
        ONE, qualities=("fluency", "consistency", "correctness"),
        material={"consistency": "knowledge", "correctness": "context"},
    )  # fmt: skip
    bare = TextCase("1", "Who was Ada?", "A writer.", human={"fluency": 3.0})
    row = rate_text(bare, by=GEval(Judge(HandChat(script("4"))), preset))
    assert row.scores == {
        "fluency": QualityScore((4.0,)),
        "consistency": QualityScore(
            (), missing="no knowledge: consistency is rated against the knowledge given"
        ),
        "correctness": QualityScore(
            (), missing="no context: correctness is rated against an evaluation context"
        ),
    }
    assert (row.human, row.failure) == ({"fluency": 3.0}, None)
    assert can_be_rated(bare, preset)
    assert not can_be_rated(bare, replace(preset, qualities=("consistency", "correctness")))
    assert can_be_rated(replace(bare, context="x"), replace(preset, qualities=("correctness",)))
    assert not can_be_rated(replace(bare, context=" "), replace(preset, qualities=("correctness",)))


def test_who_rates_is_told_with_scale_runs_and_weighting_k8() -> None:
    judge = Judge(HandChat(script("4")))

    def label(preset: Preset, judge: Judge = judge) -> str:
        return re.sub(r"@\w+", "", GEval(judge, preset).label)

    check_text(label(ONE), "hand-1", "temperature 1", "seed 0", "1 to 5", "1 runs", "fluency")
    sampled = replace(ONE, weighting=Weighting.SAMPLING, samples=7, runs=3, temperature=0.5, low=0)
    check_text(
        label(sampled, replace(judge, random_seed=4)),
        *("hand-1", "temperature 0.5", "seed 4", "of 7", "0 to 5", "3 runs", "fluency"),
    )
