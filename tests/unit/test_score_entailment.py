"""Entailment: judges, labels of a cross-encoder, alignment, E - C, WiCE (K5, L8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from error_texts import check_line, check_text, raises
from hand_chat import HandChat, refuses, script
from openai_stand_in import ok, stand_in
from query_samples import triple

from graph_service.errors import InputError, SetupError
from queries.datasets.records import read_cases
from queries.datasets.scored import read_pairs
from queries.datasets.wice import wice_case
from queries.generate.answer import Answer
from queries.generate.reader import parse_answer
from queries.llm import OpenAIChat
from queries.llm.reply import UnreadableReplyError
from queries.score.calibration import calibrate_overlap
from queries.score.cross_encoder import CrossEncoder, label_columns
from queries.score.entailment import (
    OVERLAP_WORTH,
    ChatEntailment,
    Judgement,
    Pair,
    Relation,
    WordOverlap,
)
from queries.score.entailment_score import (
    EntailmentCase,
    alignment_row,
    entailment_report,
    judge_pairs,
    score_alignment,
)
from queries.score.judge import Judge, read_choice
from queries.score.metric import bootstrap_rows
from queries.score.prompts import score_prompt_names
from queries.score.report import Groups

ROME = Pair("She was born in Rome.", "place of birth: Rome")
OSLO = Pair("She was born in Rome.", "place of birth: Oslo")


def test_a_chat_model_judges_premise_and_hypothesis_in_this_direction_k5() -> None:
    model = HandChat(lambda asked: "So: [[entailment]]" if "Rome\n" in asked.last else "?")
    model.say = lambda asked: (
        "It says so. [[Entailment]]" if asked.last.endswith("Rome") else "No. [[contradiction]]"
    )
    judge = ChatEntailment(Judge(model))
    found = judge.judge([ROME, OSLO, ROME])
    assert [item.entailed for item in found] == [True, False, True]
    assert found[1].shares == {"entailment": 0.0, "neutral": 0.0, "contradiction": 1.0}
    # A pair that comes again is not asked again, and its tokens are counted once.
    assert len(model.asked) == 2
    assert [item.usage.total for item in found] == [15, 15, 0]
    assert model.asked[0].last == (
        "Premise: She was born in Rome.\n\nHypothesis: place of birth: Rome"
    )
    assert judge.name.startswith("hand-1 (temperature 0), prompt entailment@")


def test_a_reply_without_a_verdict_is_asked_for_once_more_and_then_failed() -> None:
    model = HandChat(script("Perhaps.", "I mean [[neutral]]"))
    found = ChatEntailment(Judge(model)).judge([ROME])[0]
    assert found.entailed is False
    assert found.usage.total == 30
    assert [message.role for message in model.asked[1].messages][-2:] == ["assistant", "user"]
    check_line(model.asked[1].last, "[[entailment]]", "[[neutral]]")
    silent = ChatEntailment(Judge(HandChat(script("Perhaps."), finish="length"))).judge([ROME])[0]
    assert silent.entailed is None
    assert silent.failure is not None
    check_text(silent.failure, "unreadable")
    assert "cut at 512 tokens" in silent.failure
    failed = ChatEntailment(Judge(HandChat(refuses))).judge([ROME])[0]
    check_text(failed.failure, "60 s")


def test_the_real_client_carries_a_judge() -> None:
    with stand_in(ok("<think>[[neutral]]?</think>Yes, [[entailment]].")) as server:
        model = OpenAIChat("judge", base_url=server.url, api_key="k")
        found = ChatEntailment(Judge(model, random_seed=7)).judge([ROME])[0]
    assert found.entailed is True
    assert server.requests[0]["seed"] == 7
    assert server.requests[0]["temperature"] == 0


def test_the_last_choice_in_brackets_counts() -> None:
    assert read_choice("[[A]] or [[B]]? [[ b ]] it is [[C]]", ["A", "B"]) == "B"
    with pytest.raises(UnreadableReplyError, match=r"\[\[A\]\] or \[\[B\]\]"):
        read_choice("A", ["A", "B"])


class Fixed(CrossEncoder):
    """A cross-encoder whose outputs are given instead of computed."""

    def __init__(self, logits: Sequence[Sequence[float]], id2label: dict[int, str], **rest) -> None:  # type: ignore[no-untyped-def]
        super().__init__("fixed", **rest)
        self.rows = [list(row) for row in logits]
        self.id2label = id2label
        self.batches: list[int] = []

    def _load(self):  # type: ignore[no-untyped-def]
        def logits(part: Sequence[Pair]):  # type: ignore[no-untyped-def]
            self.batches.append(len(part))
            return np.asarray([self.rows.pop(0) for _ in part]), [False] * len(part)

        return logits, self.id2label


def test_the_order_of_labels_is_read_from_the_configuration_k5() -> None:
    """The same outputs under two published orders mean two different things."""
    outputs = [[4.0, 0.0, 1.0]]
    deberta = {0: "entailment", 1: "neutral", 2: "contradiction"}
    roberta = {0: "contradiction", 1: "entailment", 2: "neutral"}
    first = Fixed(outputs, deberta).judge([ROME])[0]
    other = Fixed(outputs, roberta).judge([ROME])[0]
    # e^4 / (e^4 + 1 + e) = .936.
    assert first.entailed is True
    assert first.score == pytest.approx(0.9362, abs=1e-4)
    assert other.entailed is False
    assert other.shares["contradiction"] == pytest.approx(0.9362, abs=1e-4)
    assert sum(other.shares.values()) == pytest.approx(1)
    two = Fixed([[0.0, 3.0]], {0: "entailment", 1: "not_entailment"}).judge([ROME])[0]
    assert two.entailed is False
    assert two.shares == {}


def test_labels_that_say_nothing_are_refused() -> None:
    with raises(SetupError):
        Fixed([[1.0, 2.0]], {0: "LABEL_0", 1: "LABEL_1"}).judge([ROME])
    given = Fixed(
        [[1.0, 2.0]], {0: "LABEL_0", 1: "LABEL_1"}, labels=["not_entailment", "entailment"]
    )
    assert given.judge([ROME])[0].entailed is True
    with raises(SetupError):
        Fixed([[1.0, 2.0, 3.0]], {}, labels=["entailment", "neutral"]).judge([ROME])
    with pytest.raises(SetupError, match="two labels"):
        label_columns({0: "entailment", 1: "Entailment"})
    assert Fixed([], {}).judge([]) == []


def test_pairs_are_judged_in_batches() -> None:
    model = Fixed([[1.0, 0.0]] * 5, {0: "entailment", 1: "neutral"}, batch_size=2)
    assert len(model.judge([ROME] * 5)) == 5
    assert model.batches == [2, 2, 1]


def test_e_minus_c_of_three_pairs_l8() -> None:
    class Says:
        name = "by hand"
        notes = ()

        def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
            table = {"a": (0.7, 0.2, 0.1), "b": (0.1, 0.3, 0.6), "c": (0.4, 0.5, 0.1)}
            return [
                Judgement(
                    table[pair.premise][0] > 0.5,
                    table[pair.premise][0],
                    dict(zip((r.value for r in Relation), table[pair.premise], strict=True)),
                )
                for pair in pairs
            ]

    cases = [EntailmentCase(name, Pair(name, "x"), groups=Groups(level="I")) for name in "abc"]
    cases.append(EntailmentCase("d", Pair("", ""), failure="timeout: no answer"))
    report = entailment_report(
        list(judge_pairs(cases, entailment=Says(), batch=2)), judged_by="by hand"
    )
    # E (.7 + .1 + .4) / 3 = .4; C (.1 + .6 + .1) / 3 = .8 / 3.
    assert report.score("E (mean probability)").value == pytest.approx(0.4)
    assert report.score("E - C").value == pytest.approx(0.4 - 0.8 / 3)
    assert report.score("entailment (share likeliest)").value == pytest.approx(1 / 3)
    assert report.score("E - C").failed == 1
    assert report.score("E - C").n == 3
    assert "AUROC of entailed" not in report.scores


def test_labels_of_people_give_auroc_and_the_rest() -> None:
    gold = [True, True, False, False, True]
    shares = ["born in Rome", "born in Rome on 3", "born Oslo", "is tall", "born in Oslo"]
    cases = [
        EntailmentCase(str(i), Pair("She was born in Rome.", text), entailed=yes)
        for i, (text, yes) in enumerate(zip(shares, gold, strict=True))
    ]
    report = entailment_report(
        list(judge_pairs(cases, entailment=WordOverlap())), judged_by="word overlap"
    )
    # Shares 1, .6 (3 of 5 words), .5, 0, .67: judged yes yes no no yes.
    assert report.score("AUROC of entailed").value == 1.0
    assert report.score("accuracy").value == 1.0
    strict = entailment_report(
        list(judge_pairs(cases, entailment=WordOverlap(threshold=0.9))), judged_by="word overlap"
    )
    # Yes only for the first: precision 1/1, recall 1/3, F1 .5, accuracy 3/5.
    assert strict.score("precision").value == 1.0
    assert strict.score("recall").value == pytest.approx(1 / 3)
    assert strict.score("F1").value == pytest.approx(0.5)
    assert strict.score("accuracy").value == pytest.approx(0.6)


def test_three_relations_against_labels() -> None:
    said = {"a": "[[neutral]]", "b": "[[contradiction]]", "c": "[[entailment]]"}
    judge = ChatEntailment(Judge(HandChat(lambda asked: said[asked.last[9]])))
    labels = ["neutral", "neutral", "entailment"]
    cases = [
        EntailmentCase(name, Pair(name, "x"), entailed=label == "entailment", label=label)
        for name, label in zip("abc", labels, strict=True)
    ]
    report = entailment_report(list(judge_pairs(cases, entailment=judge)), judged_by="hand")
    assert report.score("accuracy of the three relations").value == pytest.approx(2 / 3)
    assert report.score("accuracy").value == 1.0


KNOWLEDGE = (
    triple("s1", "Q1", "place of birth", "Rome"),
    triple("s2", "Q1", "occupation", "painter"),
)


def answered(text: str, id_: str = "a") -> Answer:
    return Answer(id_, "Who?", text, parse_answer(text, KNOWLEDGE), KNOWLEDGE, None, "hand")


def test_alignment_counts_sentence_citation_pairs_k5() -> None:
    # Sentence 1 cites both triples and entails the first; sentence 2 cites the second again.
    text = "Her place of birth is Rome [1][2]. She sang [2]. Nobody knows [NA]."
    row = alignment_row(answered(text), entailment=WordOverlap())
    assert (row.pairs, row.entailed, row.unreadable) == (3, 1, 0)
    rows, report = score_alignment(
        [
            answered(text),
            answered("Born in Rome, place of birth [1].", "b"),
            answered("It is.", "c"),
            Answer("d", "Who?", "", (), (), None, "hand", failure="timeout: no answer"),
        ],
        entailment=WordOverlap(),
        groups=lambda id_: Groups(kind="who" if id_ == "a" else "where"),
    )
    # Micro (1 + 1) / (3 + 1); macro (1/3 + 1) / 2; the third cites nothing, the fourth failed.
    assert report.score("alignment, micro").value == 0.5
    assert report.score("alignment, macro").value == pytest.approx(2 / 3)
    assert report.score("alignment, macro").unscored == 1
    assert report.score("alignment, macro").failed == 1
    assert report.by["kind"]["who"]["alignment, micro"].value == pytest.approx(1 / 3)
    assert rows[3].failure is not None
    counts = [(row.pairs, row.entailed, row.unreadable, row.cut) for row in rows]
    assert counts[2:] == [(0, 0, 0, 0), (0, 0, 0, 0)]


def test_a_failed_judgement_fails_its_answer_k5() -> None:
    judge = ChatEntailment(Judge(HandChat(script("[[entailment]]", "what?"))))
    row = alignment_row(answered("Born in Rome [1]. A painter [2]."), entailment=judge)
    assert (row.pairs, row.entailed, row.unreadable, row.cut) == (0, 0, 0, 0)
    assert row.failure is not None
    assert row.failure.startswith("unreadable")
    assert row.usage.total == 45


def test_wice_is_read_and_its_faults_are_named(tmp_path: Path) -> None:
    line = {"label": "supported", "claim": "C.", "evidence": ["A.", "B."], "meta": {"id": "d1"}}
    file = tmp_path / "wice.jsonl"
    file.write_text(json.dumps(line) + "\n" + json.dumps({**line, "label": "not_supported"}))
    first, second = read_cases(file, wice_case)
    assert first.pair == Pair("A. B.", "C.")
    assert (first.entailed, second.entailed) == (True, False)
    assert (first.id, second.id, second.group) == ("d1/1", "d1/2", "d1")
    for change, message in (
        ({"label": "yes"}, r"line 1, field label: one of supported, .* was expected; 'yes' came"),
        ({"evidence": "A."}, "line 1, field evidence: a list of texts was expected; a text came"),
        ({"claim": None}, "line 1, field claim: a text was expected; null came"),
        ({"meta": {}}, "line 1, field meta: an object with the claim's id"),
    ):
        file.write_text(json.dumps({**line, **change}))
        with pytest.raises(InputError, match=message):
            read_cases(file, wice_case)
    file.write_text("[1]")
    with raises(InputError):
        read_cases(file, wice_case)
    file.write_text("\n")
    with pytest.raises(InputError, match="holds no case"):
        read_cases(file, wice_case)


@pytest.mark.data
def test_word_overlap_on_wice_dev(data_dir: Path) -> None:
    """The figure of the published dev set: AUROC .76 by the baseline, over 349 claims."""
    cases = read_cases(data_dir / "wice" / "oracle_chunks_claim_dev.jsonl.xz", wice_case)
    assert len(cases) == 1043
    assert len({case.group for case in cases}) == 349
    rows = list(judge_pairs(cases, entailment=WordOverlap()))
    area = entailment_report(rows, judged_by="word overlap").score("AUROC of entailed")
    assert area.value == pytest.approx(0.76, abs=0.005)
    assert area.low is not None
    assert area.high is not None
    assert 0.70 < area.low < 0.76 < area.high < 0.82


def test_judges_prompts_are_listed() -> None:
    assert {"entailment", "retry"} <= set(score_prompt_names())


def labelled(*pairs: tuple[str, bool]) -> list[EntailmentCase]:
    return [
        EntailmentCase(str(i), Pair("a b c d", text), entailed=entailed)
        for i, (text, entailed) in enumerate(pairs)
    ]


def test_a_threshold_is_calibrated_on_labelled_pairs_k5() -> None:
    cases = labelled(("a b c d", True), ("a b c x", False), ("a b x y", False), ("a x y z", True))
    found = calibrate_overlap(cases, source="four")
    # Shares 1, 3/4, 1/2, 1/4. From .875: 1 of 2 entailed and 2 of 2 others, 3/4; from .625 and
    # .375 less.
    assert found.threshold == 0.875
    assert found.balanced_accuracy.value == 0.75
    # 2 of 4 pairs of an entailed and another one are in order.
    assert found.auroc.value == 0.5
    assert (found.pairs, found.entailed) == (4, 2)


def test_of_equally_good_thresholds_the_nearest_to_the_default_is_taken() -> None:
    # From .875 1/2 and 1/1; from .375 1/1 and 1/2: both 3/4, and .375 lies nearer to .6.
    cases = labelled(("a b c d", True), ("a b c x", False), ("a b x y", True), ("a x y z", False))
    found = calibrate_overlap(cases, source="four")
    assert found.balanced_accuracy.value == 0.75
    assert found.threshold == 0.375


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        ([], "0 and 0"),
        (labelled(("a", True), ("x", True)), "2 and 0"),
        (labelled(("a", True), ("b", False)), "no threshold"),
    ],
)
def test_pairs_that_can_not_choose_a_threshold_are_refused(
    cases: list[EntailmentCase], said: str
) -> None:
    with pytest.raises(InputError, match=said):
        calibrate_overlap(cases, source="pairs")


@pytest.mark.data
def test_what_word_overlap_is_said_to_be_worth_is_so(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``OVERLAP_WORTH`` names these figures, without their intervals."""
    monkeypatch.setattr("queries.score.resample.RESAMPLES", 2)
    monkeypatch.setattr(
        "queries.score.resample.bootstrap_rows", partial(bootstrap_rows, resamples=2)
    )
    wice = read_pairs(data_dir / "wice" / "oracle_chunks_claim_dev.jsonl.xz")
    assert f"{calibrate_overlap(wice, source='').auroc.value:.3f}" == "0.759"
    bench = list(
        judge_pairs(
            read_pairs(data_dir / "factbench" / "facts-train.tsv"), entailment=WordOverlap()
        )
    )
    report = entailment_report(bench, judged_by="word overlap")
    assert f"{report.score('AUROC of entailed').value:.3f}" == "0.700"
    assert f"{report.score('entailed').value:.2f}" == "0.96"
    for figure in (".759 on WiCE dev", ".700 on FactBench", "96 %"):
        assert figure in OVERLAP_WORTH


def test_a_threshold_is_chosen_to_four_digits() -> None:
    """It is printed and typed again: halfway between 1/3 and 1/2 is .41666..., given as .4167."""
    cases = [
        EntailmentCase("1", Pair("one two", "one three"), entailed=True),
        EntailmentCase("2", Pair("one", "one four five"), entailed=False),
    ]
    assert calibrate_overlap(cases, source="two").threshold == 0.4167
