"""TALEC: prompts, the three methods, both undivided modes, scores, comparison, export (T2 to T8)."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from error_texts import check_text, raises
from hand_chat import Asked, HandChat, refuses, script
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from queries.llm.reply import UnreadableReplyError
from queries.score.case import TextCase
from queries.score.criteria import load_criteria, parse_criteria
from queries.score.judge import Judge
from queries.score.report import Groups
from queries.score.talec import (
    Division,
    LabelVerdict,
    Method,
    Talec,
    TalecRow,
    complete_messages,
    final_score,
    judge_text,
    label_messages,
    read_labels,
)
from queries.score.talec_export import tuning_records
from queries.score.talec_report import (
    assign_splits,
    human_score,
    shot_notes,
    talec_report,
)
from queries.score.talec_runs import compare_runs, read_run

GOLDEN = Path(__file__).parent.parent / "golden" / "judges" / "talec"
CRITERIA = parse_criteria(
    """\
task: Say who it is.
labels:
  - name: wrong
    title: Wrong
    class: unacceptable
    description: It is wrong.
    shots:
      - {question: "Who?", text: Eva., reason: It names Eva. It was Ada., present: true}
      - {question: "Who?", text: Ada., reason: It names Ada. It was Ada., present: false}
  - name: stiff
    title: Stiff
    class: acceptable
    description: Nobody speaks like that.
rules:
  - {name: long, title: Long, class: acceptable, measure: words, most: 6}
""",
    source="own.yaml",
)
CASE = TextCase(
    "1", "Who was it?", "It was Ada.", knowledge=("Ada | is | it",), cited="It was Ada [1]."
)


def talec(model: HandChat, **options: object) -> Talec:
    return Talec(Judge(model), CRITERIA, **options)  # type: ignore[arg-type]


VALUES = st.sampled_from([True, False, None])


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4))
def test_score_is_0_1_or_2_and_unknown_only_where_it_matters_t5(
    worst: list[bool | None], mild: list[bool | None]
) -> None:
    found = {f"w{i}": v for i, v in enumerate(worst)} | {f"m{i}": v for i, v in enumerate(mild)}
    classes = {name: name[0] == "w" for name in found}
    # Every way to fill in what is unknown: the score is known where all of them agree.
    unknown = [name for name, value in found.items() if value is None]
    possible = set()
    for bits in range(2 ** len(unknown)):
        filled = {**found, **{name: bool(bits >> i & 1) for i, name in enumerate(unknown)}}
        bad = any(filled[name] for name in filled if classes[name])
        some = any(filled[name] for name in filled if not classes[name])
        possible.add(0 if bad else 1 if some else 2)
    score = final_score(found, classes)
    assert score == (possible.pop() if len(possible) == 1 else None)


def test_every_label_is_judged_by_itself_t2() -> None:
    model = HandChat(lambda asked: "[[A]]" if "Stiff" in asked.messages[0].content else "[[B]]")
    row = judge_text(CASE, by=talec(model, method=Method.ZERO_SHOT))
    assert len(model.asked) == 2
    assert "It is wrong." in model.asked[0].whole
    assert "Nobody speaks" not in model.asked[0].whole
    assert model.asked[0].last == (
        "Facts:\nAda | is | it\n\nQuestion: Who was it?\n\nText: It was Ada [1]."
    )
    assert {name: item.present for name, item in row.labels.items()} == {
        "wrong": False, "stiff": True, "long": False
    }  # fmt: skip
    assert row.score == 1
    long = judge_text(
        replace(CASE, cited="one two three four five six seven"),
        by=talec(HandChat(script("[[B]]"))),
    )
    assert long.labels["long"].present is True
    assert long.score == 1


@pytest.mark.parametrize("division", list(Division))
def test_a_text_without_citations_is_shown_as_it_is_t2(division: Division) -> None:
    """Where nothing was cited the text itself is judged, and its words are counted."""
    bare = TextCase("1", "Who was it?", "It was Ada Lovelace, countess of it all.")
    model = HandChat(script("[[0]]" if division is Division.SCORE else "[[B]]"))
    row = judge_text(bare, by=talec(model, division=division, method=Method.ZERO_SHOT))
    assert row.labels["long"].present is True
    assert model.asked[0].last.endswith(
        "Question: Who was it?\n\nText: It was Ada Lovelace, countess of it all."
    )


def test_shots_have_the_form_of_the_reply_and_restate_the_criterion_t4() -> None:
    messages = label_messages(CRITERIA, CRITERIA.labels[0], CASE, shots=True)
    assert [message.role for message in messages] == [
        "system", "user", "assistant", "user", "assistant", "user"
    ]  # fmt: skip
    assert messages[2].content == (
        "Criterion: Wrong means: It is wrong.\nJudgement: It names Eva. It was Ada.\nVerdict: [[A]]"
    )
    assert messages[4].content.endswith("[[B]]")
    assert messages[-1].content.endswith("Text: It was Ada [1].")
    assert messages.label.startswith("talec-label@")
    bare = label_messages(CRITERIA, CRITERIA.labels[0], CASE, shots=False)
    assert [message.role for message in bare] == ["system", "user"]


def test_a_third_judgement_sees_two_independent_ones_t3() -> None:
    """T3: neither of the first two holds anything of the other; the third holds both, and counts."""

    def say(asked: Asked) -> str:
        if "Two judges" in asked.last:
            return "Joint. [[A]]"
        return "Few. [[A]]" if len(asked.messages) > 2 else "Zero. [[B]]"

    model = HandChat(say)
    row = judge_text(CASE, by=talec(model))
    few, zero, joint = model.asked[:3]
    assert len(few.messages) == 6
    assert len(zero.messages) == 2
    assert "Few." not in zero.whole
    assert "Zero." not in few.whole
    # System prompt, shots, the case, then both answers.
    assert joint.messages[:6] == few.messages
    assert "The judge who saw no examples:\nZero. [[B]]" in joint.last
    assert "The judge who saw the examples:\nFew. [[A]]" in joint.last
    verdict = row.labels["wrong"]
    assert (verdict.present, verdict.zero, verdict.few) == (True, False, True)
    assert row.score == 0
    assert row.usage.total == 6 * 15


def test_no_verdict_is_a_counted_failure_and_no_guess_t4() -> None:
    mute = judge_text(CASE, by=talec(HandChat(script("It is fine.")), method=Method.FEW_SHOT))
    assert mute.score is None
    assert mute.failure is not None
    check_text(mute.failure, "unreadable", "[[A]]", "[[B]]")
    # The joint judgement isn't made where one of the two before it failed.
    model = HandChat(script("[[A]]", "none", "none", "[[B]]"))
    row = judge_text(CASE, by=talec(model))
    assert row.labels["wrong"].present is None
    assert row.labels["wrong"].few is True
    assert row.labels["wrong"].zero is None
    assert row.labels["stiff"].present is False
    assert row.score is None
    refused = judge_text(CASE, by=talec(HandChat(refuses)))
    check_text(refused.failure, "60 s")
    assert judge_text(replace(CASE, failure="no model"), by=talec(model)).failure == "no model"


def test_undivided_the_model_names_all_faults_at_once_t2() -> None:
    model = HandChat(script("Judgement: stiff.\nVerdict: [[stiff]]"))
    row = judge_text(CASE, by=talec(model, division=Division.LABELS, method=Method.FEW_SHOT))
    assert len(model.asked) == 1
    system = model.asked[0].messages[0].content
    assert "[[wrong]] Wrong (unacceptable): It is wrong." in system
    assert "Judgement: It names Eva. It was Ada.\n[[wrong]]" in system
    assert {name: item.present for name, item in row.labels.items()} == {
        "wrong": False, "stiff": True, "long": False
    }  # fmt: skip
    assert row.score == 1
    assert read_labels("[[wrong]] perhaps\n[[none]]", ["wrong"]) == ()
    for text in ("none", "[[none]] [[wrong]]", "[[rude]]"):
        with pytest.raises(UnreadableReplyError):
            read_labels(text, ["wrong"])
    zero = complete_messages(CRITERIA, CASE, division=Division.LABELS, shots=False)
    assert "Example:" not in zero[0].content


def test_undivided_the_model_gives_the_score_directly_t2() -> None:
    model = HandChat(script("[[2]]"))
    row = judge_text(CASE, by=talec(model, division=Division.SCORE))
    # Few-shot, zero-shot, joint.
    assert len(model.asked) == 3
    assert row.score == 2
    assert list(row.labels) == ["long"]
    long = replace(CASE, cited="one two three four five six seven")
    assert judge_text(long, by=talec(HandChat(script("[[2]]")), division=Division.SCORE)).score == 1
    wrong = judge_text(CASE, by=talec(HandChat(script("[[7]]")), division=Division.SCORE))
    assert wrong.score is None
    assert (wrong.failure or "").startswith("unreadable")


@pytest.mark.parametrize("name", ["label", "labels", "score"])
def test_the_shipped_criteria_rendered_are_as_recorded_t1(name: str) -> None:
    """To record a changed prompt again: look at it, then copy the text of the failure."""
    assert rendered(name) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def rendered(name: str) -> str:
    criteria = load_criteria()
    if name == "label":
        messages = label_messages(criteria, criteria.labels[0], CASE, shots=True)
    else:
        messages = complete_messages(criteria, CASE, division=Division(name), shots=True)
    return "".join(f"=== {message.role}\n{message.content}\n" for message in messages)


def row(
    id_: str, score: int | None, human: dict[str, float], split: str = "", **labels: object
) -> TalecRow:
    verdicts = {name: LabelVerdict(value) for name, value in labels.items()}  # type: ignore[arg-type]
    failure = "unreadable: no verdict" if score is None else None
    return TalecRow(id_, Groups(), split, verdicts, score, human, failure=failure)


ROWS = [
    row("a", 0, {"wrong": 1, "stiff": 0, "long": 0}, "eval", wrong=True, stiff=False, long=False),
    row("b", 0, {"wrong": 0, "stiff": 1, "long": 0}, "eval", wrong=True, stiff=True, long=False),
    row("c", 2, {"wrong": 1, "stiff": 0, "long": 0}, "test", wrong=False, stiff=False, long=False),
    row("d", 2, {"score": 2}, "test", wrong=False, stiff=False, long=False),
    row(
        "e", None, {"wrong": 1, "stiff": 0, "long": 0}, "test", wrong=None, stiff=False, long=False
    ),
]


def test_verdicts_against_people_per_label_and_by_split_t6() -> None:
    """T6: accuracy, F1, precision, recall of a label; three correlations of the final score."""
    report = talec_report(ROWS, CRITERIA, judged_by="hand")
    # wrong, judged and labelled: a yes/yes, b yes/no, c no/yes; e failed, d unlabelled.
    assert report.score("wrong: accuracy").value == pytest.approx(1 / 3)
    assert report.score("wrong: precision").value == 0.5
    assert report.score("wrong: recall").value == 0.5
    assert report.score("wrong: F1").value == 0.5
    assert (report.score("wrong: F1").failed, report.score("wrong: F1").unscored) == (1, 1)
    assert report.score("long: precision").value is None
    check_text(report.score("long: precision").reason)
    # Scores 0 0 2 2 against people's 0 1 0 2 (two of them from the labels, T5).
    ours, people = [0, 0, 2, 2], [0, 1, 0, 2]
    assert report.score("Spearman with people").value == pytest.approx(
        stats.spearmanr(ours, people)[0]
    )
    assert report.score("tau-b with people").value == pytest.approx(
        stats.kendalltau(ours, people)[0]
    )
    # Means 1 and 3/4: products -1*-3/4, -1*1/4, 1*-3/4, 1*5/4 are 1 in all; squares 4 and 11/4.
    assert report.score("Pearson with people").value == pytest.approx(1 / (4 * 2.75) ** 0.5)
    assert report.score("Spearman with people").unscored == 1
    assert report.score("score (0 to 2)").value == 1.0
    assert report.score("score (0 to 2)").failed == 1
    assert set(report.by["split"]) == {"eval", "test"}
    assert report.by["split"]["eval"]["wrong: accuracy"].value == 0.5
    # Everybody in eval has 0: no correlation, and the reason.
    assert report.by["split"]["eval"]["Spearman with people"].value is None
    assert report.failures == {"unreadable": 1}


def test_a_score_of_people_comes_from_their_labels_where_they_gave_all_t5() -> None:
    classes = CRITERIA.classes
    assert human_score({"wrong": 0, "stiff": 1, "long": 0}, classes) == 1
    assert human_score({"score": 2, "wrong": 1}, classes) == 2
    assert human_score({"wrong": 1}, classes) is None


def test_splits_are_drawn_by_id_alone_t6() -> None:
    """T6: a task's train, eval and test, the same whatever else is in the file or its order."""
    cases = [replace(CASE, id=str(i)) for i in range(400)]
    drawn = assign_splits(cases)
    counts = {name: sum(case.split == name for case in drawn) for name in ("train", "eval", "test")}
    assert sum(counts.values()) == 400
    assert 50 < counts["train"] < 110
    assert 120 < counts["eval"] < 200
    assert [case.split for case in assign_splits(cases[::-1])][::-1] == [c.split for c in drawn]
    assert [case.split for case in assign_splits(cases, random_seed=1)] != [c.split for c in drawn]
    assert assign_splits([replace(CASE, split="eval")])[0].split == "eval"
    with pytest.raises(InputError, match="sum to 1"):
        assign_splits(cases, shares=(0.5, 0.5, 0.5))


def test_two_runs_side_by_side_show_what_changed_t6() -> None:
    """T6: two runs compared while shots are adjusted."""
    after = [
        row("b", 1, {"wrong": 0, "stiff": 1, "long": 0}, wrong=False, stiff=True, long=False),
        row("c", 2, {"wrong": 1, "stiff": 0, "long": 0}, wrong=False, stiff=False, long=False),
        row("d", 1, {"score": 2}, wrong=False, stiff=True, long=False),
        row("z", 2, {}, wrong=False, stiff=False, long=False),
    ]
    compared = compare_runs(ROWS, after, CRITERIA.classes)
    assert (compared.cases, compared.only_first, compared.only_second) == (3, 2, 1)
    assert [change.text() for change in compared.changed] == [
        "b wrong: 1 -> 0 (people: 0, better)",
        "b score: 0 -> 1 (people: 1, better)",
        "d stiff: 0 -> 1",
        "d score: 2 -> 1 (people: 2, worse)",
    ]
    assert compared.first["wrong: accuracy"].value == 0.0
    assert compared.second["wrong: accuracy"].value == 0.5
    lines = compared.lines()
    check_text(lines[:2], "3 texts", "2 in", "1 in")
    assert any("4 verdicts changed" in line for line in lines)
    # What moved stands behind two values; where there is none, nothing does.
    ends = [line.rpartition(")")[2] for line in lines if " -> " in line and " (" in line]
    values = [(score.value, compared.second[name].value) for name, score in compared.first.items()]
    assert ends[: len(values)] == [
        "" if before is None or after is None else f"  {after - before:+.3f}"
        for before, after in values
    ]
    assert "" in ends
    with raises(InputError):
        compare_runs(ROWS, [after[-1]], CRITERIA.classes)


def test_runs_are_read_back_the_last_row_of_an_id_counts(tmp_path: Path) -> None:

    file = tmp_path / "run.jsonl"
    rows = [ROWS[4], replace(ROWS[0], id="e")]
    file.write_text("\n".join(json.dumps({"basis": "x", "row": to_plain(item)}) for item in rows))
    assert read_run(str(file)) == (rows[1],)
    file.write_text('{"id": 1}')
    with raises(InputError):
        read_run(str(file))


def test_labelled_data_becomes_fine_tuning_records_t8() -> None:
    case = replace(CASE, human={"wrong": 1.0, "stiff": 0.0}, reasons={"wrong": "It was Eva."})
    records = tuning_records(CRITERIA, [case, replace(CASE, id="2")])
    # Two shots, two labels of the first case; nobody labelled the second.
    assert len(records) == 4
    told = [record.messages[-1].content for record in records]
    assert told[2] == (
        "Criterion: Wrong means: It is wrong.\nJudgement: It was Eva.\nVerdict: [[A]]"
    )
    assert told[3] == "Criterion: Stiff means: Nobody speaks like that.\nVerdict: [[B]]"
    shaped = to_plain(records[0])
    assert [message["role"] for message in shaped["messages"]] == ["system", "user", "assistant"]
    # The prompt is the judge's own zero-shot prompt.
    asked = label_messages(CRITERIA, CRITERIA.labels[0], case, shots=False)
    assert records[2].messages[:2] == tuple(asked)


def test_cases_that_are_shots_are_told_t6() -> None:
    shot = TextCase("9", "Who?", "Ada.", cited="Ada.")
    assert shot_notes([CASE], CRITERIA) == []
    assert "1 cases are shots" in shot_notes([CASE, shot], CRITERIA)[0]
