"""Citation scores with the arithmetic beside them (K4); the paper's Figure 2."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from error_texts import check_line, check_text
from hypothesis import given
from hypothesis import strategies as st
from query_samples import paths, triple, triplets

from graph_service.errors import InputError
from graph_service.model.result import TripleChange
from graph_service.model.view_spec import ChangeKind
from queries.datasets.gold import GoldQuestion
from queries.generate.answer import Answer, base_statements
from queries.generate.citations import Citation, Sentence
from queries.generate.reader import parse_answer
from queries.score.citation import (
    CitationCounts,
    CitationRow,
    citation_row,
    citation_scores,
    count_citations,
    count_true,
)
from queries.score.run import score_answers

K = {f"k{i}": triple(f"k{i}", f"Q{i}", f"relation {i}", f"value {i}") for i in range(1, 10)}
MINIMUM = ("k1", "k2", "k3", "k4", "k5")


def cited(*ids: str, matched: bool = True) -> list[Citation]:
    return [Citation("Q", "r", "v", id_ if matched else None, id_, matched) for id_ in ids]


def answered(
    id_: str, *sentences: Sequence[str], na: bool = False, failure: str | None = None
) -> Answer:
    """An answer whose sentences cite these statements; ``?`` cites something invented."""
    parts = tuple(
        Sentence(
            f"Sentence {i}.",
            tuple(
                Citation("Q", "r", "v", None if name == "?" else name, name, name != "?")
                for name in names
            ),
            na,
        )
        for i, names in enumerate(sentences)
    )
    return Answer(id_, "Who?", "text", parts, tuple(K.values()), None, "hand", failure=failure)


def test_figure_2_of_kalma_k4() -> None:
    knowledge = [K[name] for name in ("k1", "k2", "k6", "k9")]
    text = (
        "Sentence one [Q1, relation 1: value 1][Q2, relation 2: value 2]. "
        "Sentence two [Q2, relation 2: value 2][Q6, relation 6: value 6][NA]. "
        "Sentence three [Q6, relation 6: value 6][Q9, relation 9: value 9]."
    )
    sentences = parse_answer(text, knowledge)
    assert [[c.statement_id for c in part.citations] for part in sentences] == [
        ["k1", "k2"],
        ["k2", "k6"],
        ["k6", "k9"],
    ]
    counts = count_citations([c for part in sentences for c in part.citations], [MINIMUM])
    # Citations: k1 k2 k2 k6 k6 k9. In {k1..k5}: k1, k2 and k2 again, 3 of 6.
    assert (counts.useful, counts.citations) == (3, 6)
    assert counts.precision == 3 / 6
    # Of k1 k2 k3 k4 k5 two are hit, k1 and k2.
    assert (counts.hit, counts.minimum) == (2, 5)
    assert counts.recall == 2 / 5
    # F1 = 2 * 1/2 * 2/5 / (1/2 + 2/5) = 2/5 / (9/10) = 4/9.
    assert counts.f1 == pytest.approx(4 / 9, abs=1e-12)
    assert counts.correctness == 1.0
    assert counts.missed == ("k3", "k4", "k5")


def test_what_matches_nothing_stays_in_the_denominator_k4() -> None:
    counts = count_citations(cited("k1") + cited("x", "y", matched=False), [MINIMUM])
    # 3 citations: 1 correct, and it is useful.
    assert counts.correctness == pytest.approx(1 / 3)
    assert counts.precision == pytest.approx(1 / 3)
    assert counts.recall == pytest.approx(1 / 5)


def test_the_set_that_suits_the_citations_is_used_k4() -> None:
    sets = [("k1", "k2"), ("k3",), ("k3", "k4")]
    # Against {k1,k2}: 0. Against {k3}: P 1, R 1. Against {k3,k4}: P 1, R 1/2.
    counts = count_citations(cited("k3"), sets)
    assert (counts.minimum_set, counts.precision, counts.recall) == (1, 1.0, 1.0)
    # Two citations k3 k4: {k3} gives F1 2/3, {k3,k4} gives 1.
    assert count_citations(cited("k3", "k4"), sets).minimum_set == 2
    # Nothing suits: the first set is the measure.
    nothing = count_citations(cited("k9"), sets)
    assert (nothing.minimum_set, nothing.minimum, nothing.f1) == (0, 2, 0.0)
    # Empty sets are no sets.
    assert count_citations(cited("k9"), [(), ("k9",)]).recall == 1.0


def test_statements_that_print_alike_count_as_either_k4() -> None:
    alike = Citation("Q", "r", "v", "k1", "", True, also=("k2",))
    counts = count_citations([alike], [("k2", "k3")])
    assert (counts.precision, counts.recall) == (1.0, 0.5)


def test_micro_and_macro_k4() -> None:
    gold = [
        GoldQuestion("a", "Who?", statement_ids=("k1", "k2")),
        GoldQuestion("b", "Who?", statement_ids=("k3",)),
        GoldQuestion("c", "Who?", statement_ids=("k4", "k5")),
    ]
    answers = [
        answered("a", ["k1", "k9"], ["k1", "?"]),  # P 2/4, R 1/2, correct 3/4
        answered("b", ["k3"]),  # P 1/1, R 1/1, correct 1/1
        answered("c", []),  # no citation: P 0, R 0
    ]
    report = score_answers(answers, gold)
    value = {name: report.score(name).value for name in ("precision_micro", "recall_micro")}
    assert value == {"precision_micro": 3 / 5, "recall_micro": 2 / 5}
    assert report.score("precision_micro").n == 5
    assert report.score("recall_micro").n == 5
    # Macro: (1/2 + 1 + 0) / 3 both; without the answer that cites nothing (1/2 + 1) / 2.
    assert report.score("precision_macro").value == pytest.approx(0.5)
    assert report.score("recall_macro").value == pytest.approx(0.5)
    assert report.score("precision_macro_cited").value == pytest.approx(0.75)
    assert report.score("precision_macro_cited").n == 2
    # F1: micro 2 * .6 * .4 / 1 = .48; macro of .5 and .5 is .5.
    assert report.score("f1_micro").value == pytest.approx(0.48)
    assert report.score("f1_macro").value == pytest.approx(0.5)
    # Correct: 3 + 1 of 5; macro over answers that cite (3/4 + 1) / 2.
    assert report.score("correctness_micro").value == pytest.approx(4 / 5)
    assert report.score("correctness_macro").value == pytest.approx(0.875)
    assert (report.citations, report.unmatched) == (5, 1)
    for name in ("f1_micro", "f1_macro", "precision_micro", "recall_macro"):
        score = report.score(name)
        assert score.value is not None
        assert score.low is not None
        assert score.high is not None
        assert 0 <= score.low <= score.value <= score.high <= 1
    check_line("\n".join(report.lines()), "base graph")
    assert report.score("true_micro").value is None


def test_failures_and_questions_without_a_minimum_are_no_part_of_a_mean_k4() -> None:
    gold = [
        GoldQuestion("a", "Who?", statement_ids=("k1",)),
        GoldQuestion("b", "Who?", statement_ids=("k1",)),
        GoldQuestion("c", "Who?"),
        GoldQuestion("d", "Who?", statement_ids=("k1",)),
    ]
    report = score_answers(
        [answered("a", ["k1"]), answered("b", failure="timeout: late"), answered("c", ["k9"])],
        gold,
    )
    for name in ("precision_micro", "precision_macro", "recall_macro", "f1_macro"):
        score = report.score(name)
        assert (score.value, score.n, score.failed, score.unscored) == (1.0, 1, 1, 1)
    assert report.score("correctness_micro").n == 2
    assert report.missing == ("d",)
    assert report.rows[1].failure == "timeout: late"
    assert "1 failed" in report.lines()[0]


def test_without_a_minimum_set_citations_are_counted_and_nothing_else_k4() -> None:
    citations = cited("k1", "k1", "k2") + cited("x", matched=False)
    citations.append(Citation("Q", "r", "v", "k3", "", False))
    for sets in ([], [()]):
        assert count_citations(citations, sets) == CitationCounts(
            5, 3, 0, 0, 0, minimum_set=0, missed=(), unmatched=1, other_case=1, distinct=4
        )
    counts = count_citations(citations, [("k9", "k2", "k9", "k8")])
    assert counts == CitationCounts(
        5, 3, 1, 1, 3, 0, ("k9", "k8"), 1, 1, distinct=4, distinct_useful=1
    )
    nothing = count_citations([], [])
    assert (nothing.correctness, nothing.precision, nothing.recall, nothing.f1) == (None,) * 4
    silent = count_citations([], [MINIMUM])
    assert (silent.correctness, silent.precision, silent.recall, silent.f1) == (None, 0.0, 0.0, 0.0)


def test_a_repeated_citation_counts_once_in_precision_without_repeats_k4() -> None:
    useful = [cited("k1")[0] for _ in range(9)]
    counts = count_citations([*useful, *cited("k9"), *cited("x", matched=False)], [("k1", "k2")])
    # Nine of eleven citations are useful; of three different ones one.
    assert counts.precision == pytest.approx(9 / 11)
    assert (counts.distinct, counts.distinct_useful) == (3, 1)
    row = CitationRow("1", "", counts, None, 1, 0, 0, None, None, None)
    scores = citation_scores([row])
    assert scores.precision_micro.value == pytest.approx(9 / 11)
    assert scores.precision_distinct.value == pytest.approx(1 / 3)


def test_folded_case_counts_in_correct_and_in_true_k4() -> None:
    known = triple("k1", "Q1", "mother", "Ann")
    other_case = Citation("Q1", "mother", "Ann", "k1", "Q1, mother: ANN", False)
    item = Answer("a", "Who?", "", (Sentence("She.", (other_case,)),), (known,),
                  triplets([(known, 1.0)]), "hand")  # fmt: skip
    exact, folded = (citation_row(item, None, fold_case=fold) for fold in (False, True))
    assert exact.counts is not None
    assert folded.counts is not None
    assert (exact.counts.correct, exact.true, exact.counts.other_case) == (0, 0, 1)
    assert (folded.counts.correct, folded.true, folded.counts.other_case) == (1, 1, 1)
    assert citation_row(item, None) == exact


def test_na_where_the_graph_lacks_it_k6() -> None:
    gold = [
        GoldQuestion("a", "Who?", lacking=True),
        GoldQuestion("b", "Who?", lacking=True),
        GoldQuestion("c", "Who?", statement_ids=("k1",)),
        # Its file does not say what it would need: in neither share.
        GoldQuestion("d", "Who?"),
    ]
    answers = [
        answered("a", [], na=True),
        answered("b", ["k1"]),
        answered("c", ["k1"], na=True),
        answered("d", [], na=True),
    ]
    report = score_answers(answers, gold)
    assert (report.score("na_lacking").n, report.score("na_known").n) == (2, 1)
    assert report.score("na_lacking").value == 0.5
    assert report.score("na_known").value == 1.0


def test_retrieval_accuracy_k2() -> None:
    def linked(id_: str, names: list[str]) -> Answer:
        result = triplets([], linked=names)
        return Answer(id_, "Who?", "", (), (), result, "hand")

    gold = [
        GoldQuestion("a", "Who?", entity_ids=("Q1", "Q2")),
        GoldQuestion("b", "Who?", entity_ids=("Q3",)),
        GoldQuestion("c", "Who?", entity_ids=("Q4",)),
    ]
    # a: one of two; b: none, nothing was linked; c came from no retrieval.
    report = score_answers([linked("a", ["Q2", "Q9"]), linked("b", []), answered("c", [])], gold)
    score = report.score("entities_linked")
    assert score.value == pytest.approx(1 / 3)
    assert (score.n, score.unscored) == (3, 1)
    assert score_answers([answered("c", [])], gold).score("entities_linked").value is None


def test_nothing_is_none_with_a_reason_k4() -> None:
    report = score_answers([], [])
    assert all(report.score(name).value is None for name in ("f1_micro", "recall_macro"))
    assert "none (" in "\n".join(report.lines())
    only = score_answers([answered("a", [])], [GoldQuestion("a", "Who?", statement_ids=("k1",))])
    check_text(only.score("precision_micro").reason)
    assert only.score("f1_micro").value is None
    assert only.score("precision_macro").value == 0.0
    with pytest.raises(InputError, match="unknown score"):
        report.score("accuracy")


def test_faithful_and_true_are_two_scores_on_a_view_k4() -> None:
    base = triple("base", "Q1", "mother", "Cleo")
    changed = triple("new", "Q1", "father", "Cleo")
    added = triple("extra", "Q1", "child", "Dan")
    kept = triple("kept", "Q1", "spouse", "Bea")
    changes = {
        "new": TripleChange(ChangeKind.RELATION_CHANGED, base),
        "extra": TripleChange(ChangeKind.ADDED),
    }
    result = triplets([(changed, 3.0), (added, 2.0), (kept, 1.0)], changes=changes)
    sentences = (
        Sentence("All.", tuple(cited("new", "extra", "kept")) + tuple(cited("x", matched=False))),
    )
    item = Answer("a", "Who?", "All.", sentences, (changed, added, kept), result, "hand")
    bases = base_statements(item)
    assert bases == {"new": "base", "extra": None, "kept": "kept"}
    assert count_true(sentences[0].citations, bases) == 1
    report = score_answers([item], [GoldQuestion("a", "Who?", statement_ids=("base", "kept"))])
    # Faithful: 3 of 4 citations were given. True in the base: 1 of 4. A changed statement is
    # not its base statement: of {base, kept} one is hit.
    assert report.score("correctness_micro").value == 0.75
    assert report.score("true_micro").value == 0.25
    assert report.score("recall_micro").value == 0.5
    on_path = paths([([changed, kept], 1.0)], changes=changes)
    path_answer = Answer("a", "Who?", "", sentences, (changed, kept), on_path, "hand")
    assert base_statements(path_answer) == {"new": "base", "kept": "kept"}


def test_rows_and_kinds() -> None:
    gold = [
        GoldQuestion("a", "Who?", kind="one-hop", statement_ids=("k1",)),
        GoldQuestion("b", "Who?", kind="two-hop", statement_ids=("k2",)),
    ]
    report = score_answers(
        [answered("a", ["k1"]), answered("b", ["k1"]), answered("z", ["k1"])], gold
    )
    assert report.by_kind["one-hop"].f1_micro.value == 1.0
    assert report.by_kind["two-hop"].f1_micro.value == 0.0
    assert report.without_gold == ("z",)
    assert report.to_plain()["rows"][1]["counts"]["precision"] == 0.0
    assert (
        report.to_plain()
        == score_answers(
            [answered("a", ["k1"]), answered("b", ["k1"]), answered("z", ["k1"])], gold
        ).to_plain()
    )
    counts = count_citations(cited("k1"), [])
    assert citation_row(answered("z", ["k1"]), None) == CitationRow(
        "z", "", counts, None, 1, 0, 0, None, None, None
    )
    gold_row = citation_row(answered("a", ["k1"], ["?"]), gold[0])
    assert (gold_row.kind, gold_row.sentences, gold_row.entities) == ("one-hop", 2, 0)


def test_the_same_id_twice_is_an_error() -> None:
    with pytest.raises(InputError, match="two answers"):
        score_answers([answered("a"), answered("a")], [])
    with pytest.raises(InputError, match="two gold questions"):
        score_answers([], [GoldQuestion("a", "Who?"), GoldQuestion("a", "Who?")])


IDS = st.lists(st.sampled_from(["k1", "k2", "k3", "k4", "?"]), max_size=8)


@given(IDS, st.lists(st.lists(st.sampled_from(["k1", "k2", "k3", "k4"]), max_size=4), max_size=3))
def test_counts_against_the_definition_k4(names: list[str], sets: list[list[str]]) -> None:
    citations = [c for name in names for c in cited(name, matched=name != "?")]
    counts = count_citations(citations, sets)
    best = -1.0
    for wanted in sets:
        if not wanted:
            continue
        hits = len({name for name in names if name in wanted})
        useful = sum(name in wanted for name in names)
        p = useful / len(names) if names else 0.0
        r = hits / len(set(wanted))
        best = max(best, 2 * p * r / (p + r) if p + r else 0.0)
    assert (counts.f1 is None) == (best < 0)
    if counts.f1 is not None:
        assert counts.f1 == pytest.approx(best)
    assert counts.citations == len(names)
    assert counts.correct == sum(name != "?" for name in names)


def test_a_report_has_the_scores_of_its_rows_and_of_each_kind_k4() -> None:
    draw = random.Random(6)
    gold = [
        GoldQuestion(f"{number}", "Who?", kind=f"kind {number % 2}", statement_ids=("k1", "k2"))
        for number in range(60)
    ]
    answers = [
        answered(f"{number}", draw.sample(["k1", "k2", "k3", "?"], draw.randrange(1, 5)))
        for number in range(60)
    ]
    report = score_answers(answers, gold)
    assert report.scores == citation_scores(report.rows)
    for kind, scores in report.by_kind.items():
        assert scores == citation_scores([row for row in report.rows if row.kind == kind])
    assert report.by_kind["kind 0"].f1_micro.low != report.score("f1_micro").low
