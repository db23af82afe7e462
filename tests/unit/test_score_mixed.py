"""Every score over cases that were scored, that failed and that cannot have it (K4 to K8, L8, O9, T6).

What failed is counted and in no mean; what cannot have a score is unscored; the rest is ``n``.
"""

from __future__ import annotations

from collections.abc import Sequence

from error_texts import check_text
from query_samples import triple

from queries.generate.answer import Answer
from queries.generate.reader import parse_answer
from queries.score.criteria import Criteria, Label
from queries.score.entailment import Judgement, Pair
from queries.score.entailment_score import (
    AlignmentRow,
    EntailmentRow,
    alignment_report,
    entailment_report,
)
from queries.score.facts import Fact, FactsRow, facts_report
from queries.score.geval import GEvalRow, Preset, QualityScore, Weighting, geval_report
from queries.score.knowledge import KnowledgeCase, score_knowledge
from queries.score.not_available import NotAvailableRow, score_not_available
from queries.score.report import CaseReport, Groups
from queries.score.talec import LabelVerdict, TalecRow
from queries.score.talec_report import talec_report

NA_SCORES = (
    "precision_strict", "precision_lenient", "recall", "precision_strict_macro", "recall_macro"
)  # fmt: skip
A, B, NO = Groups("a"), Groups("b"), Groups()


def shown(report: CaseReport, to: str = "") -> str:
    """The lines of a report, up to the first of a group."""
    lines = report.lines()
    ends = [at for at, line in enumerate(lines) if to and line.startswith(f"{to} ")]
    return "\n".join(lines[: ends[0] if ends else None])


def test_knowledge_l8() -> None:
    found, asked, other = ("Q1", "P1"), ("Q1", "P2"), ("Q2", "P3")
    cases = [
        KnowledgeCase("1", "Ada and Bea.", (("Ada",), ("Bea",)), (found, asked),
                      (found, ("Q1", "-P2"), other), (found, asked, other), A),
        KnowledgeCase("2", "Ada.", (("Ada",), ("Cleo",)), None, None, (found,), B),
        # Failed: the first with a recall that is known all the same, the last with half a text.
        KnowledgeCase("3", None, (("Ada",),), (found,), None, (found, other), A, failure="late: no"),
        KnowledgeCase("4", None, (("Ada",),), None, None, (found,), B, failure="late: never"),
        KnowledgeCase("5", "Text.", (), (found,), (found,), (), B),
        KnowledgeCase("6", "Dan.", (("Eve",),), (("Q1", "P9"),), (("Q1", "P9"),), (found,), B),
        KnowledgeCase("7", "Ada", (("Ada",),), failure="cut: half", groups=A),
    ]  # fmt: skip
    _, report = score_knowledge(cases)
    # KM: 1, 1 and 0 of 1, 2 and 6; 3, 4 and 7 failed; 5 has no answer entity.
    # Recall: 2/3, 1/2 and 0/1 of 1, 3 and 6; oracle@1: 2/3 and 0/1 of 1 and 6.
    assert (
        shown(report, "kind")
        == """\
knowledge matching: 7 cases, 3 failed
failed 2 times: late: no
failed 1 times: cut: half
KM                      0.667 (0.000 to 1.000, n=3, failed=3, unscored=1)
rKM                     0.500 (0.000 to 1.000, n=3, failed=3, unscored=1)
eKM                     0.333 (0.000 to 1.000, n=3, failed=3, unscored=1)
relation recall, micro  0.500 (0.000 to 0.667, n=6, failed=2, unscored=2)
relation recall, macro  0.389 (0.000 to 0.667, n=3, failed=2, unscored=2)
oracle recall@1, micro  0.500 (0.000 to 0.667, n=4, failed=3, unscored=2)
oracle recall@1, macro  0.333 (0.000 to 0.667, n=2, failed=3, unscored=2)
oracle recall@5, micro  0.500 (0.000 to 0.667, n=4, failed=3, unscored=2)
oracle recall@5, macro  0.333 (0.000 to 0.667, n=2, failed=3, unscored=2)"""
    )


def test_alignment_k5() -> None:
    rows = [
        AlignmentRow("1", A, 4, 3, 1, 1),
        AlignmentRow("2", B, 0, 0, 2),
        AlignmentRow("3", A, 0, 0, 0, failure="late: no"),
        AlignmentRow("4", B, 1, 0, 0),
    ]
    # Micro 3 of 5 pairs; macro (3/4 + 0/1) / 2, and 2 has no pair.
    report = alignment_report(rows, judged_by="hand", notes=["a note"])
    check_text(shown(report), "4 cases", "1 failed")
    assert alignment_report(rows[3:], judged_by="hand").notes == ()


def judged(
    id_: str,
    gold: bool | None,
    said: bool | None,
    score: float | None,
    *shares: float,
    group: str = "",
    label: str = "",
    cut: bool = False,
    failure: str | None = None,
) -> EntailmentRow:
    """A pair; a failure without a verdict and a score has no judgement at all."""
    three = dict(zip(("entailment", "neutral", "contradiction"), shares, strict=False))
    judgement = None if said is None and score is None else Judgement(said, score, three, cut)
    return EntailmentRow(id_, group, NO, gold, judgement, label, failure)  # fmt: skip


def test_entailment_l8() -> None:
    rows = [
        judged("1", True, True, 0.9, 0.9, 0.1, 0.0, group="g", label="entailment"),
        judged("2", False, True, 0.6, 0.6, 0.1, 0.3, group="g", label="neutral", cut=True),
        judged("3", False, False, 0.2, 0.2, 0.1, 0.7, label="contradiction"),
        judged("4", None, False, 0.1, 0.1, 0.8, 0.1),
        judged("5", True, None, None, failure="late: x"),
        judged("6", True, None, 0.0, failure="unreadable: y"),
    ]
    report = entailment_report(rows, judged_by="hand", notes=["a note"])
    # E - C: .9, .3, -.5 and 0 of 4; against people 1, 2 and 3: two right, one of two, one of one.
    check_text(shown(report), "6 cases", "2 failed")
    assert entailment_report(rows[2:3], judged_by="hand").notes == ()


def facts(labels: str) -> tuple[Fact, ...]:
    """``S`` supported, ``N`` not, irrelevant ones small, ``?`` could not be judged."""
    table = {"S": (True, True), "N": (False, True), "n": (False, False), "s": (True, False)}
    found = []
    for number, label in enumerate(labels):
        supported, relevant = table.get(label, (None, None))
        failure = "late: no" if label == "?" else None
        found.append(Fact(f"fact {number}", 0, supported, relevant, failure))
    return tuple(found)


def test_facts_o9() -> None:
    rows = [
        FactsRow("1", A, facts("SSNn")),
        FactsRow("2", B, facts("S?")),
        FactsRow("3", A, ()),
        FactsRow("4", B, (), failure="late: x"),
        FactsRow("5", A, facts("??")),
        FactsRow("6", B, (), missing="no evidence"),
        FactsRow("7", A, facts("s")),
    ]
    report = facts_report(rows, title="safe", checked_by="hand", notes=["a note"], k=2, gamma=4)
    # Shares 2/4, 1/1 and 1/1 of 1, 2 and 7; penalties 1, exp(1 - 4) twice. F1@2: 4/5, 2/3, 0, 0.
    check_text(shown(report), "7 cases", "1 failed")
    check_text(facts_report(rows[:2]).notes[0], "K = 2")


def test_talec_t6() -> None:
    classes = {"bad": True, "odd": False, "new": False}
    labels = tuple(Label(name, name.title(), name, bad) for name, bad in classes.items())
    yes, no, lost = LabelVerdict(True), LabelVerdict(False), LabelVerdict(None, failure="late: z")
    rows = [
        TalecRow("1", NO, "train", {"bad": yes, "odd": no, "new": yes}, 0, {"bad": 1, "odd": 1}),
        TalecRow("2", NO, "eval", {"bad": no, "odd": lost, "new": lost}, None,
                 {"bad": 0, "odd": 0, "score": 2.0}, failure="late: z"),
        TalecRow("3", NO, "eval", {"bad": yes, "odd": yes, "new": no}, 0,
                 {"bad": 0, "odd": 1, "score": 1.0}),
        TalecRow("4", NO, "test", {"bad": no, "odd": yes, "new": no}, 1, {"bad": 1, "score": 1.0}),
        TalecRow("5", NO, "", {"bad": no, "odd": no, "new": no}, 2, {"score": 2.0}),
        TalecRow("6", NO, "eval", {}, None, {"bad": 1, "odd": 0}, failure="late: model"),
    ]  # fmt: skip
    criteria = Criteria("own", "Say.", labels, (), "v")
    report = talec_report(rows, criteria, judged_by="hand", notes=["a note"])
    # bad: found in 1 and 3, there in 1 and 4, of four judged; 6 was not judged, 5 not labelled.
    check_text(shown(report), "6 cases", "2 failed")


def test_geval_k8() -> None:
    preset = Preset("p", ("wit", "tone"), 1, 5, Weighting.SAMPLING, {"tone": "context"}, runs=2)
    rated = QualityScore
    rows = [
        GEvalRow("1", NO, {"wit": rated((4.0, 2.0)), "tone": rated((5.0, 5.0))}, {"wit": 3.0}),
        GEvalRow("2", NO, {"wit": rated((1.0, None), ("late: no",), 2),
                           "tone": rated((), missing="no context: tone")}, {"wit": 2.0}),
        GEvalRow("3", NO, {"wit": rated((None, None), ("late: no", "unreadable: x")),
                           "tone": rated((None, None), ("unreadable: x", "unreadable: y"), 1)},
                 failure="late: no"),
        GEvalRow("4", NO, {}, {"wit": 5.0}, failure="no model"),
        GEvalRow("5", NO, {"wit": rated((5.0, 4.0)), "tone": rated((2.0, 1.0))},
                 {"wit": 4.0, "tone": 2.0}),
    ]  # fmt: skip
    # wit: 3, 1 and 4.5 of 1, 2 and 5; 3 and 4 failed. As percentages of 1 to 5: 50, 0 and 87.5.
    # Over runs: (4 + 1 + 5) / 3 with two failed, (2 + 4) / 2 with three.
    check_text(shown(geval_report(rows, preset, rated_by="hand")), "5 cases", "2 failed")


def test_not_available_k6() -> None:
    class FirstLetter:
        """Entails where the sentence begins with the number that the triple ends with."""

        name = "hand"
        notes = ("a note",)

        def judge(self, pairs: Sequence[Pair], /) -> list[Judgement]:
            return [Judgement(one.premise[0] == one.hypothesis[-1], 1.0) for one in pairs]

    def said(id_: str, text: str, failure: str | None = None) -> Answer:
        return Answer(id_, "Who?", text, parse_answer(text, ()), (), None, "hand", failure=failure)

    known = [triple(f"k{i}", f"Q{i}", f"relation {i}", f"value {i}") for i in range(1, 5)]
    answers = [
        said("1", "1 is lost [NA]. 2 too [NA]. Tea [NA]."),
        said("2", "3 it is."),
        said("3", "x [NA].", "late"),
        said("4", "1 [NA]."),
        said("5", "4 is lost [NA]."),
    ]
    absent = {"1": known[:3], "2": known[:1], "3": known[:2], "5": known[3:]}
    report = score_not_available(
        answers, absent, entailment=FirstLetter(), is_off_question=lambda _, text: text == "Tea."
    )
    assert report.rows == (
        NotAvailableRow("1", 3, 2, 1, 2, 3),
        NotAvailableRow("2", 0, 0, 0, 0, 1),
        NotAvailableRow("3", 0, 0, None, 0, 2, "late"),
        NotAvailableRow("4", 1, 0, 0, 0, 0),
        NotAvailableRow("5", 1, 1, 0, 1, 1),
    )
    assert (report.entailment, report.notes) == ("hand", ("a note",))
    # Strict 3 of 5, lenient 4 of 5; macro (2/3 + 0 + 1) / 3. Recall 3 of 5; (2/3 + 0 + 1) / 3.
    assert {name: getattr(report, name).text() for name in NA_SCORES} == {
        "precision_strict": "0.600 (0.000 to 1.000, n=5, failed=1)",
        "precision_lenient": "0.800 (0.000 to 1.000, n=5, failed=1)",
        "recall": "0.600 (0.000 to 1.000, n=5, failed=1)",
        "precision_strict_macro": "0.556 (0.000 to 1.000, n=3, failed=1, unscored=1)",
        "recall_macro": "0.556 (0.000 to 1.000, n=3, failed=1, unscored=1)",
    }
