"""FActScore and SAFE: aggregation against people's labels, extraction, checking (O9)."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from error_texts import check_line, check_text, raises
from hand_chat import Asked, HandChat, refuses, script
from hypothesis import given
from hypothesis import strategies as st
from query_samples import triple

from graph_service.errors import InputError
from queries.datasets.factbench import COLUMNS, factbench_cases, read_factbench
from queries.datasets.factscore import factscore_row
from queries.datasets.records import read_cases
from queries.generate.answer import Answer
from queries.generate.reader import parse_answer
from queries.llm.reply import UnreadableReplyError, read_line
from queries.score.case import TextCase, case_of_answer
from queries.score.entailment import WordOverlap
from queries.score.entailment_score import entailment_report, judge_pairs
from queries.score.evidence import Evidence
from queries.score.fact_check import NO_EVIDENCE, FactChecker, check_facts, read_facts
from queries.score.facts import (
    SAFE_NOTE,
    Fact,
    FactsRow,
    f1_at_k,
    facts_report,
    length_penalty,
    merge_facts,
    middle_count,
    supported_share,
)
from queries.score.judge import Judge
from queries.score.report import Groups

FACTS = st.lists(
    st.builds(
        Fact,
        st.just("x"),
        st.just(0),
        st.sampled_from([True, False, None]),
        st.sampled_from([True, False, None]),
    ),
    max_size=12,
)


def facts(labels: str) -> tuple[Fact, ...]:
    """``S`` supported, ``N`` not, ``I`` irrelevant and not, ``?`` could not be judged."""
    table = {"S": (True, True), "N": (False, True), "I": (False, False), "?": (None, None)}
    return tuple(Fact(f"fact {i}", 0, *table[label]) for i, label in enumerate(labels))


def test_micro_macro_and_the_further_columns_o9() -> None:
    rows = [
        FactsRow("1", Groups(), facts("SSNI")),
        FactsRow("2", Groups(), facts("S")),
        FactsRow("3", Groups(), ()),
        FactsRow("4", Groups(), (), failure="timeout: no answer"),
        FactsRow("5", Groups(), facts("??")),
    ]
    report = facts_report(rows, k=2)
    # Macro (2/4 + 1/1) / 2; micro 3 of 5; without the irrelevant one (2/3 + 1) / 2 and 3 of 4.
    assert report.score("supported, macro").value == 0.75
    assert report.score("supported, micro").value == 0.6
    assert report.score("supported of relevant, macro").value == pytest.approx(5 / 6)
    assert report.score("supported of relevant, micro").value == 0.75
    # Penalties exp(1 - 10/4) and exp(1 - 10/1).
    wanted = (0.5 * math.exp(-1.5) + math.exp(-9)) / 2
    assert report.score("with length penalty").value == pytest.approx(wanted)
    assert report.score("respond ratio").value == 0.75
    assert report.score("respond ratio").failed == 1
    # F1@2: precision 2/3 and recall 1 give .8; precision 1 and recall 1/2 give 2/3; silence 0.
    assert report.score("F1@2").value == pytest.approx((0.8 + 2 / 3) / 3)
    assert (report.score("F1@2").n, report.score("F1@2").unscored) == (3, 0)
    assert report.notes[0] == "F1@K: K = 2, given"
    macro = report.score("supported, macro")
    assert (macro.n, macro.failed, macro.unscored) == (2, 2, 1)
    # Two facts, and a text whose facts nobody knows.
    assert report.score("supported, micro").failed == 3
    check_line(report.notes, "2 facts")


@given(FACTS, st.integers(1, 8))
def test_f1_at_k_is_between_its_parts_o9(listed: list[Fact], k: int) -> None:
    kept = [f for f in merge_facts(listed) if f.supported is not None and f.relevant is not False]
    found = f1_at_k(listed, k)
    if listed and not any(f.supported is not None for f in listed):
        assert found is None
        return
    supported = sum(f.supported is True for f in kept)
    if not supported:
        assert found == 0.0
        return
    precision, recall = supported / len(kept), min(supported / k, 1)
    assert found is not None
    assert min(precision, recall) - 1e-12 <= found <= max(precision, recall) + 1e-12
    assert supported_share(kept) == precision


def test_a_true_fact_that_is_said_again_gains_nothing() -> None:
    once, again, other = (
        [Fact(text, i, True) for i, text in enumerate(texts)]
        for texts in (
            ["Ada was a person."],
            ["Ada was a person."] * 12,
            ["Ada was a person.", "A person was Ada.", "ADA, a person", "Ada was a poet."],
        )
    )
    # Precision 1 and recall 1/12: 2 * (1/12) / (13/12).
    assert f1_at_k(once, 12) == f1_at_k(again, 12) == pytest.approx(2 / 13)
    assert [len(merge_facts(listed)) for listed in (once, again, other)] == [1, 1, 2]
    # Said again and judged otherwise, a fact stays: nobody knows which judgement is right.
    assert len(merge_facts([Fact("Ada sang", 0, True), Fact("Ada sang.", 1, False)])) == 2
    report = facts_report([FactsRow("1", Groups(), tuple(again))], k=12)
    figures = {name: report.score(name).value for name in ("F1@12", "facts a text")}
    assert figures == {"F1@12": pytest.approx(2 / 13), "facts a text": 12}
    # The papers' figures count all twelve: no penalty. Merged, exp(1 - 10/1).
    assert report.score("with length penalty").value == 1
    assert report.score("with length penalty, merged").value == pytest.approx(math.exp(-9))
    check_line(report.notes[0], "11 facts")


def test_merged_figures_stand_beside_those_of_the_papers() -> None:
    listed = [Fact("Ada sang", i, True) for i in range(3)] + [Fact("Ada slept", 3, False)]
    report = facts_report([FactsRow("1", Groups(), tuple(listed))], title="safe")
    # Three of four; merged, one of two.
    assert report.score("supported, macro").value == 0.75
    assert report.score("supported, merged, macro").value == 0.5
    assert report.score("supported, merged, micro").value == 0.5
    assert SAFE_NOTE in report.notes
    assert SAFE_NOTE not in facts_report([FactsRow("1", Groups(), tuple(listed))]).notes


def test_penalty_and_median() -> None:
    assert length_penalty(0) == 0.0
    assert length_penalty(12) == 1.0
    assert length_penalty(9) == pytest.approx(math.exp(1 - 10 / 9))
    rows = [FactsRow(str(n), Groups(), facts("S" * n)) for n in (1, 4, 0)]
    assert middle_count(rows) == 3
    assert middle_count([]) is None
    # Nothing relevant, nothing to take K of: no K is made up, and F1@K is 0 for any.
    report = facts_report([FactsRow("1", Groups(), (Fact("a", 0, True, relevant=False),))])
    assert report.score("F1@K").text() == "0.000 (n=1)"
    check_text(report.notes, "F1@K", "is 0")
    assert facts_report([], k=2).score("F1@2").value is None


def test_silence_gains_nothing_o9() -> None:
    """Without its weak texts a file has a higher precision, and a lower F1@K and respond ratio."""
    weak, strong = FactsRow("1", Groups(), facts("SNNN")), FactsRow("2", Groups(), facts("SS"))
    both = facts_report([weak, strong], k=2)
    silent = facts_report([replace(weak, facts=()), strong], k=2)
    # F1@2 of SNNN: precision 1/4, recall 1/2: 1/3.
    assert both.score("F1@2").value == pytest.approx((1 / 3 + 1) / 2)
    assert silent.score("F1@2").value == pytest.approx((0 + 1) / 2)
    assert silent.score("supported, macro").value == 1.0
    assert silent.score("supported, macro").unscored == 1
    assert silent.score("respond ratio").value == 0.5


@pytest.mark.data
def test_people_labels_of_instructgpt_give_the_known_figures(data_dir: Path) -> None:
    """183 biographies: .428 macro and .444 micro over all facts, .474 and .516 of the relevant."""
    rows = read_cases(data_dir / "factscore_human" / "InstructGPT.jsonl.xz", factscore_row)
    report = facts_report(rows)
    shown = {name: round(score.value or 0, 3) for name, score in report.scores.items()}
    assert shown["supported, macro"] == 0.428
    assert shown["supported, micro"] == 0.444
    assert shown["supported of relevant, macro"] == 0.474
    assert shown["supported of relevant, micro"] == 0.516
    assert report.score("supported, macro").n == 181
    assert report.score("supported, micro").n == 2100 + 1971 + 655
    # One biography has no annotations, another has them and no fact in them.
    assert report.score("respond ratio").value == pytest.approx(181 / 183)
    check_text(report.notes, "12 facts", "K = 22")
    assert report.score("F1@22").value == pytest.approx(0.467, abs=5e-4)


@pytest.mark.data
def test_weak_texts_replaced_by_silence_lower_f1_at_k(data_dir: Path) -> None:
    """With texts under .6 supported replaced, F1@22 was .815 when silence was left out."""
    rows = read_cases(data_dir / "factscore_human" / "InstructGPT.jsonl.xz", factscore_row)
    silent = [
        row if (supported_share(row.judged) or 0) >= 0.6 else replace(row, facts=()) for row in rows
    ]
    report = facts_report(silent, k=22)
    assert report.score("F1@22").value == pytest.approx(0.285, abs=5e-4)
    assert report.score("F1@22").n == 183
    assert report.score("respond ratio").value == pytest.approx(64 / 183)


def test_faults_of_a_factscore_file_are_named(tmp_path: Path) -> None:
    file = tmp_path / "bios.jsonl"
    good = {"topic": "Ada", "cat": ["rare", "Europe"], "annotations": [
        {"human-atomic-facts": [{"text": "x", "label": "S"}]}, {"human-atomic-facts": None}]}  # fmt: skip
    file.write_text(
        json.dumps(good) + "\n" + json.dumps({**good, "topic": "B", "annotations": None})
    )
    first, second = read_cases(file, factscore_row)
    assert first.groups.level == "rare"
    assert len(first.facts) == 1
    assert not second.responded
    bad = {**good, "annotations": [{"human-atomic-facts": [{"text": "x", "label": "yes"}]}]}
    file.write_text(json.dumps(bad))
    with raises(InputError):
        read_cases(file, factscore_row)
    file.write_text(json.dumps(good) + "\n" + json.dumps(good))
    with raises(InputError):
        read_cases(file, factscore_row)


def test_evidence_is_ranked_by_shared_words_and_ties_by_order() -> None:
    evidence = Evidence(["Ada was born in London.", "Ada sang.", "Charles sang.", "", "Ada sang."])
    assert len(evidence.texts) == 3
    assert evidence.search("In London Ada was born")[0] == "Ada was born in London."
    assert evidence.search("sang", limit=5) == ("Ada sang.", "Charles sang.")
    assert evidence.search("nothing shared") == ()
    assert Evidence([]).search("Ada") == ()


CASE = TextCase(
    "1",
    "Who was Ada?",
    "Ada was born in London. She sang.",
    evidence=("Ada Lovelace | place of birth | London", "Ada Lovelace | occupation | writer"),
)


def says(asked: Asked) -> str:
    """A judge that finds one fact a sentence and believes what names London."""
    task, text = asked.messages[0].content, asked.last
    if "apart" in task:
        return "- Ada was born in London." if "Sentence: Ada" in text else "- She sang."
    if "rewrite" in task:
        return (
            "Ada Lovelace sang."
            if text.endswith("She sang.")
            else "Ada Lovelace was born in London."
        )
    if "bears on" in task:
        return "[[relevant]]" if "born" in text.split("Statement")[1] else "[[irrelevant]]"
    if "searching" in task:
        return "birth place of Ada" if "Searches so far:\n(none)" in text else "songs by Ada"
    return "[[supported]]" if "Statement: Ada" in text and "born" in text else "[[unsupported]]"


def test_factscore_extracts_and_checks_each_fact_o9() -> None:
    model = HandChat(says)
    row = check_facts(CASE, by=FactChecker(Judge(model)))
    assert [(fact.text, fact.sentence, fact.supported) for fact in row.facts] == [
        ("Ada was born in London.", 0, True),
        ("She sang.", 1, False),
    ]
    assert row.usage.total == 4 * 15
    # The evidence shown is what the fact's own words find, the best first.
    shown = model.asked[1].last
    assert shown.startswith("Evidence:\n- Ada Lovelace | place of birth | London\n- Ada Lovelace |")
    assert "(none)" in model.asked[3].last


def test_safe_makes_facts_stand_alone_asks_relevance_and_searches_o9() -> None:
    model = HandChat(says)
    row = check_facts(CASE, by=FactChecker(Judge(model), safe=True, searches=2))
    assert [(fact.text, fact.supported, fact.relevant) for fact in row.facts] == [
        ("Ada Lovelace was born in London.", True, True),
        ("Ada Lovelace sang.", False, False),
    ]
    # A sentence: extract, rewrite, relevance, two searches, rating.
    assert len(model.asked) == 12
    second = model.asked[4].last
    assert "Searches so far:\n- birth place of Ada" in second
    assert "- Ada Lovelace | place of birth | London" in second
    report = facts_report([row], title="safe", k=1)
    assert report.score("supported, micro").value == 0.5
    assert report.score("supported of relevant, micro").value == 1.0


def test_an_entailment_verifier_takes_the_evidence_as_premise() -> None:
    checker = FactChecker(Judge(HandChat(says)), verifier=WordOverlap(0.4))
    row = check_facts(CASE, by=checker)
    assert [fact.supported for fact in row.facts] == [True, False]
    assert "word overlap >= 0.4, facts by hand-1" in checker.label
    assert "facts-verify" not in checker.label


def test_what_fails_is_counted_and_never_guessed() -> None:
    check_text(check_facts(CASE, by=FactChecker(Judge(HandChat(refuses)))).failure, "60 s")
    bare = replace(CASE, evidence=())
    unchecked = check_facts(bare, by=FactChecker(Judge(HandChat(says))))
    assert (unchecked.failure, unchecked.missing) == (None, NO_EVIDENCE)
    both = facts_report([unchecked, check_facts(CASE, by=FactChecker(Judge(HandChat(says))))])
    for name in ("supported, macro", "respond ratio", "facts a text", "with length penalty"):
        found = both.score(name)
        assert (found.n, found.failed, found.unscored) == (1, 0, 1), name
    assert both.notes[-1].startswith("1 texts unscored, no evidence: ")
    failed = replace(CASE, failure="no model")
    assert check_facts(failed, by=FactChecker(Judge(HandChat(says)))).failure == "no model"
    lists = FactChecker(Judge(HandChat(script("Ada sang"))))
    assert (check_facts(CASE, by=lists).failure or "").startswith("unreadable: every fact")
    # The facts are read, the ratings are not: the facts stay, unjudged.
    mute = FactChecker(Judge(HandChat(lambda asked: says(asked).replace("[", ""))))
    row = check_facts(CASE, by=mute)
    assert row.failure is None
    assert [fact.supported for fact in row.facts] == [None, None]
    assert facts_report([row]).score("supported, macro").failed == 1
    none = check_facts(CASE, by=FactChecker(Judge(HandChat(script("None.")))))
    assert not none.responded
    # A text without a fact needs no evidence to be told from one that says something.
    silent = check_facts(bare, by=FactChecker(Judge(HandChat(script("None.")))))
    assert (silent.missing, silent.responded) == (None, False)
    assert facts_report([silent], k=1).score("F1@1").value == 0.0
    with pytest.raises(UnreadableReplyError, match="has 2"):
        read_line("one\ntwo")
    assert read_facts("* a\n* b\n* a") == ("a", "b")


ONE = TextCase("1", "Who was Ada?", "Ada sang.", evidence=("Ada sang in Rome.",))
STAGES = {
    "standalone": ["- Ada sang.", "two\nlines"],
    "relevance": ["- Ada sang.", "Ada Lee sang.", "Perhaps."],
    "query": ["- Ada sang.", "Ada Lee sang.", "[[relevant]]", "two\nlines"],
    "verdict": ["- Ada sang.", "Ada Lee sang.", "[[relevant]]", "Ada", "Rome", "Perhaps."],
}


@pytest.mark.parametrize(
    ("stage", "fact"),
    [
        ("standalone", Fact("Ada sang.", 0, None, None,
                            "unreadable: it has to be one line, and has 2")),
        ("relevance", Fact("Ada Lee sang.", 0, None, None, "unreadable: it has to end with "
                           "[[relevant]] or [[irrelevant]], and has neither")),
        ("query", Fact("Ada Lee sang.", 0, None, True,
                       "unreadable: it has to be one line, and has 2")),
        ("verdict", Fact("Ada Lee sang.", 0, None, True, "unreadable: it has to end with "
                         "[[supported]] or [[unsupported]], and has neither")),
    ],
)  # fmt: skip
def test_a_fact_keeps_what_was_found_before_its_judge_failed_o9(stage: str, fact: Fact) -> None:
    model = HandChat(script(*STAGES[stage]))
    row = check_facts(ONE, by=FactChecker(Judge(model), safe=True, searches=2))
    assert row.facts == (fact,)
    # What cannot be read is asked for once more, and all tokens are counted.
    assert len(model.asked) == len(STAGES[stage]) + 1
    assert row.usage.total == 15 * len(model.asked)
    assert row.failure is None


def test_a_text_whose_facts_cannot_be_extracted_is_failed_with_its_tokens_o9() -> None:
    row = check_facts(ONE, by=FactChecker(Judge(HandChat(script("Ada sang.")))))
    assert (row.facts, row.usage.total) == ((), 30)
    check_text(row.failure)
    failed = check_facts(
        replace(ONE, failure="no model", groups=Groups("who")),
        by=FactChecker(Judge(HandChat(refuses))),
    )
    assert failed == FactsRow("1", Groups("who"), (), failure="no model")


def test_each_search_sees_those_before_it_and_what_they_found_o9() -> None:
    case = replace(ONE, evidence=("Ada sang in Rome.", "Ada was born in Oslo.", "Bea slept."))
    model = HandChat(
        script("- Ada sang.", '"Ada Lee sang."', "[[irrelevant]]", "sang in Rome", "Oslo",
               "[[unsupported]]")
    )  # fmt: skip
    checker = FactChecker(Judge(model), safe=True, searches=2, passages=1)
    row = check_facts(case, by=checker)
    assert row.facts == (Fact("Ada Lee sang.", 0, False, False),)
    first, second, verdict = (asked.last for asked in model.asked[3:])
    assert first == "Statement: Ada Lee sang.\n\nSearches so far:\n(none)\n\nFound so far:\n(none)"
    assert second == (
        "Statement: Ada Lee sang.\n\nSearches so far:\n- sang in Rome\n\n"
        "Found so far:\n- Ada sang in Rome."
    )
    assert "- Ada sang in Rome.\n- Ada was born in Oslo.\n" in verdict
    assert "Bea" not in verdict


def test_k_of_f1_is_at_least_one_o9() -> None:
    with raises(InputError) as caught:
        facts_report([], k=0)
    assert caught.value.argument == "k"
    assert facts_report([FactsRow("1", Groups(), facts("SN"))], k=1).score("F1@1").n == 1


def test_who_checks_facts_is_told_with_all_prompts_o9() -> None:
    judge = Judge(HandChat(script("x")), random_seed=3)

    def label(**options: Any) -> str:
        return re.sub(r"@\w+", "", FactChecker(judge, **options).label)

    by = "hand-1 (temperature 0, random seed 3)"
    check_text(label(), by, "5 texts", "facts-extract", "facts-verify")
    check_text(label(verifier=WordOverlap(), passages=2), "0.6", by, "2 texts", "facts-extract")
    assert label(safe=True, searches=1) == (
        f"{by}; 5 texts a search, 1 searches; prompts facts-extract, safe-standalone, "
        "safe-relevance, safe-query, facts-verify"
    )


def test_an_answer_becomes_a_case_without_its_citations() -> None:
    knowledge = (triple("s1", "Q1", "place of birth", "London", label="Ada"),)
    text = "Ada was born in London [1]. She sang [NA]."
    item = Answer("a", "Who?", text, parse_answer(text, knowledge), knowledge, None, "hand")
    case = case_of_answer(item, groups=Groups(kind="who"))
    assert case.text == "Ada was born in London. She sang."
    assert case.evidence == ("Ada | place of birth | London",)
    assert case.cited == text
    assert case_of_answer(item, evidence=("A passage.",)).evidence == ("A passage.",)
    assert case_of_answer(replace(item, kind="when")).groups.kind == "when"


def test_facts_are_asked_of_whole_sentences_whatever_names_hold() -> None:
    knowledge = (triple("s1", "Q1", "sang", "Who? What?", label="Ada"),)
    item = Answer(
        "a", "Who?", "", parse_answer("Ada sang Who? What? in 1850 [1].", knowledge), knowledge,
        None, "hand",
    )  # fmt: skip
    chat = HandChat(script("none"))
    check_facts(case_of_answer(item), by=FactChecker(Judge(chat)))
    assert len(chat.asked) == 1


def bench(tmp_path: Path, rows: list[tuple[str, ...]]) -> Path:
    file = tmp_path / "facts.tsv"
    file.write_text("\n".join("\t".join(row) for row in [COLUMNS, *rows]), encoding="utf-8")
    return file


def test_factbench_facts_are_checked_against_the_true_ones(tmp_path: Path) -> None:
    row = ("train", "correct", "award", "u", "Ada", "p", "o", "Medal", "1901", "1901", "f")
    wrong = ("train", "wrong_range", "award", "u", "Ada", "p", "o", "Cup", "1901", "1901", "g")
    cases = factbench_cases(read_factbench(bench(tmp_path, [row, wrong])))
    assert cases[0].pair.premise == "Ada | award | Medal | from 1901 | to 1901"
    assert cases[0].pair.hypothesis == "Ada, award: Medal (1901)"
    assert [case.entailed for case in cases] == [True, False]
    assert cases[1].pair.premise == cases[0].pair.premise
    with raises(InputError):
        read_factbench(bench(tmp_path, [row[:10]]))
    file = tmp_path / "other.tsv"
    file.write_text("a\tb\n")
    with raises(InputError):
        read_factbench(file)


@pytest.mark.data
def test_word_overlap_on_factbench(data_dir: Path) -> None:
    """A tenth of the train split: the baseline tells true from wrong facts, far from perfectly."""
    listed = read_factbench(data_dir / "factbench" / "facts-train.tsv")
    assert len(listed) == 6030
    cases = factbench_cases(listed[::10])
    rows = list(judge_pairs(cases, entailment=WordOverlap()))
    area = entailment_report(rows, judged_by="word overlap").score("AUROC of entailed").value
    assert area is not None
    assert 0.8 < area < 0.95
