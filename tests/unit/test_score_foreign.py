"""Scores of what another system wrote: fields, faults by line and field, exact citations (K4)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from cli_runs import Cli
from error_texts import check_error, check_line, raises
from openai_stand_in import ok, stand_in

from graph_service.errors import InputError
from queries.datasets.answers import read_answer_cases, read_answers_and_gold
from queries.datasets.scored import read_text_cases
from queries.score.run import score_answers

ROME = ["Q1", "place of birth", "Rome"]
POEM = ["Q1", "notable work", "Now, voyager: a poem"]
ANSWER = {
    "id": "1",
    "question": "Who was Ada?",
    "text": "Born in Rome [Q1, place of birth: Rome]. She wrote "
    "[Q1, notable work: Now, voyager: a poem]. No one knows more [NA].",
    "knowledge": [ROME, POEM],
    "gold": [ROME, ["Q1", "mother", "Bea"]],
}


def lines(path: Path, *rows: object) -> str:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def scored(path: str, *, fold_case: bool = False) -> dict[str, float | None]:
    answers, gold = read_answers_and_gold(path, fold_case=fold_case)
    report = score_answers(answers, gold, fold_case=fold_case)
    names = ("correctness_micro", "precision_micro", "recall_micro")
    return {name.partition("_")[0]: report.score(name).value for name in names}


def test_citations_are_read_against_the_knowledge_and_the_gold_k4(tmp_path: Path) -> None:
    # Two citations, both given, one in the minimum set of two.
    file = lines(tmp_path / "a.jsonl", ANSWER)
    assert scored(file) == {"correctness": 1.0, "precision": 0.5, "recall": 0.5}
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(Path(file).read_bytes()))
    assert scored(str(packed))["precision"] == 0.5
    # By statement ids the same: the objects bring theirs.
    named = [
        {"entity": e, "relation": r, "value": v, "id": f"s{i}"}
        for i, (e, r, v) in enumerate([ROME, POEM])
    ]
    by_id = {**ANSWER, "knowledge": named, "gold": ["s0", "s9"]}
    assert scored(lines(tmp_path / "b.jsonl", by_id))["recall"] == 0.5
    # A triple of the gold stands for the statement that was given.
    by_content = {**ANSWER, "knowledge": named}
    assert scored(lines(tmp_path / "c.jsonl", by_content))["recall"] == 0.5


@pytest.mark.parametrize(
    "cited",
    ["[Q1, Place of birth: Rome]", "[Q1, place of birth: ROME]", "[q1, place of birth: Rome]",
     "[q1, place of birth: Rome, notable work: Now, voyager: a poem]"],
)  # fmt: skip
def test_case_counts_unless_it_is_folded_k4(tmp_path: Path, cited: str) -> None:
    file = lines(tmp_path / "a.jsonl", {**ANSWER, "text": f"So it is {cited}."})
    assert scored(file)["correctness"] == 0.0
    assert scored(file)["recall"] == 0.0
    assert scored(file, fold_case=True)["correctness"] == 1.0
    assert scored(file, fold_case=True)["recall"] == 0.5


def test_of_two_entities_that_differ_in_case_the_one_that_is_cited_is_meant_k4(
    tmp_path: Path,
) -> None:
    upper, lower = (["http://x.org/" + name, "home", "Oslo"] for name in ("Rome", "rome"))
    extra = ["http://x.org/rome", "size", "small"]
    text = "So [http://x.org/rome, home: Oslo, size: small]."
    answer = {"id": "1", "text": text, "knowledge": [upper, lower, extra], "gold": [lower, extra]}
    assert scored(lines(tmp_path / "a.jsonl", answer)) == {
        "correctness": 1.0, "precision": 1.0, "recall": 1.0
    }  # fmt: skip


def test_the_gold_may_be_written_in_another_case_where_case_is_folded(tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", {**ANSWER, "gold": [["Q1", "Place of Birth", "rome"]]})
    assert scored(file)["recall"] == 0.0
    assert scored(file, fold_case=True)["recall"] == 1.0


@pytest.mark.parametrize(
    "row",
    [
        {"id": "1", "text": "x"},
        {"id": "1", "knowledge": []},
        {"id": "1", "text": 3, "knowledge": []},
        {**ANSWER, "knowledge": "Q1"},
        {**ANSWER, "knowledge": [ROME, "x"]},
        {**ANSWER, "knowledge": [["Q1", "r"]]},
        {**ANSWER, "knowledge": [["Q1", "r", 3]]},
        {**ANSWER, "knowledge": [["Q1", "", "v"]]},
        {**ANSWER, "gold": [ROME, ["Q1"]]},
        {**ANSWER, "gold": ["s1", ROME]},
        {**ANSWER, "gold": "s1"},
        {**ANSWER, "id": ["1"]},
        {**ANSWER, "id": "0"},
    ],
)
def test_faults_are_told_by_line_and_field(tmp_path: Path, row: object) -> None:
    file = lines(tmp_path / "a.jsonl", {**ANSWER, "id": "0"}, row)
    with raises(InputError):
        read_answers_and_gold(file)


def test_a_failed_answer_needs_no_text_and_no_knowledge(tmp_path: Path) -> None:
    (answer,) = read_answer_cases(lines(tmp_path / "a.jsonl", {"id": "1", "failure": "timeout"}))
    assert (answer.failure, answer.sentences) == ("timeout", ())


def test_citations_are_no_part_of_the_text_that_other_scores_take(cli: Cli, tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", {**ANSWER, "answers": ["voyager", "Rome"]})
    (case,) = read_text_cases(file)
    assert case.text == "Born in Rome. She wrote. No one knows more."
    assert case.evidence[0] == "Q1 | place of birth | Rome"
    assert case.cited == ANSWER["text"]
    # The poem stands in a citation alone.
    found = cli("score", "knowledge", file, "--json").json["scores"]
    assert (found["KM"]["value"], found["rKM"]["value"]) == (1.0, 0.5)
    aligned = cli("score", "entailment", file, "--threshold", "0.2", "--json").json
    assert aligned["title"] == "alignment"
    assert aligned["scores"]["alignment, micro"]["n"] == 2
    with stand_in(ok("- Born in Rome."), ok("[[supported]]"), ok("none"), ok("none")) as server:
        done = cli(
            "score", "factscore", file, "--model", "m", "--model-url", server.url, "--json"
        )  # fmt: skip
        assert "Sentence: Born in Rome." in server.requests[0]["messages"][-1]["content"]
    assert done.json["scores"]["supported, micro"]["value"] == 1.0


def test_what_another_system_was_not_given_is_absent_k6(cli: Cli, tmp_path: Path) -> None:
    mother = ["Q1", "mother", "Bea"]
    text = "Her mother is Bea [NA]."
    file = lines(tmp_path / "a.jsonl", {**ANSWER, "text": text, "absent": [mother]})
    assert cli("score", "na", file, "--json").json["recall"]["value"] == 1.0
    other = lines(tmp_path / "absent.jsonl", {"id": "1", "absent": [mother]})
    twice = cli("score", "na", file, "--absent", other)
    assert twice.code == 2
    check_error(twice.err)


def test_what_a_score_cannot_do_without_is_told(cli: Cli, tmp_path: Path) -> None:
    bare = {key: value for key, value in ANSWER.items() if key != "question"}
    file = lines(tmp_path / "a.jsonl", bare)
    for verb in ("safe", "geval"):
        done = cli("score", verb, file, "--model", "m")
        assert done.code == 2
        check_error(done.err)
    done = cli("score", "knowledge", file)
    assert done.code == 2
    check_line(done.err, "1 cases")
    assert "field answers" in done.err
    gold = lines(tmp_path / "gold.jsonl", {"id": "1", "question": "?", "answers": ["Rome"]})
    named = cli("score", "knowledge", file, "--gold", gold, "--json")
    assert named.json["scores"]["KM"]["value"] == 1.0
    both = cli("score", "citations", file, "--gold", gold)
    check_error(both.err)


def test_answers_of_our_own_are_matched_without_their_citations_l8(
    cli: Cli, tmp_path: Path
) -> None:
    """What `answer --out` wrote has no answer entities: they come from the gold questions."""
    item = read_answer_cases(lines(tmp_path / "a.jsonl", ANSWER))[0]
    (tmp_path / "ours.jsonl").write_text(item.to_json() + "\n")
    gold = lines(
        tmp_path / "gold.jsonl", {"id": "1", "question": "?", "answers": ["Rome", "voyager"]}
    )
    found = cli("score", "knowledge", "ours.jsonl", "--gold", gold, "--json")
    assert found.code == 0, found.err
    assert found.json["scores"]["rKM"]["value"] == 0.5
