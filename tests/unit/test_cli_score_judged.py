"""Scores by judges from the command line: runs that go on, what they keep, and withheld facts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from demo_graph import copy_store
from error_texts import check_error, check_line
from openai_stand_in import Scripted, by_rule, ok, stand_in
from scoring_files import judged_by, write_lines

from graph_service.model.serialise import to_plain
from queries.datasets.demo_set import demo_questions


def test_a_killed_run_goes_on_by_id_and_asks_nothing_twice(cli: Cli, tmp_path: Path) -> None:
    rows = [
        {"id": str(i), "question": "Who?", "text": f"Ada sang {i}.", "evidence": [f"Ada sang {i}."]}
        for i in range(3)
    ]
    file, out = tmp_path / "c.jsonl", tmp_path / "rows.jsonl"
    write_lines(file, *rows[:2])
    with stand_in(ok("- Ada sang."), ok("[[supported]]"), ok("- Ada sang."), ok("?")) as server:
        first = cli(
            "score", "factscore", str(file), "--out", str(out), *judged_by(server), "--json"
        )
        # The second fact's rating could not be read: asked twice, counted.
        assert first.json["scores"]["supported, micro"]["failed"] == 1
        request_count = len(server.requests)
    written = out.read_bytes()
    assert request_count == 5
    out.write_bytes(written + b'{"basis": "cut')
    write_lines(file, *rows)
    with stand_in(ok("- Ada sang."), ok("[[supported]]")) as server:
        second = cli("score", "factscore", str(file), "--out", str(out), *judged_by(server))
    assert len(server.requests) == 2
    assert "2 cases were scored in" in second.err
    assert "3 of 3 cases, 0 failed, 30 tokens" in second.err
    assert out.read_bytes().startswith(written)
    assert len(out.read_bytes().splitlines()) == 3
    with stand_in(ok("never")) as server:
        third = cli(
            "score", "factscore", str(file), "--out", str(out), *judged_by(server), "--json"
        )
        assert server.requests == []
        assert third.json["cases"] == 3
        clash = cli(
            "score",
            "factscore",
            str(file),
            "--out",
            str(out),
            *judged_by(server),
            "--temperature",
            "1",
        )
    assert clash.code == 2
    check_line(clash.err, "Write to another")


def test_files_that_are_compared_share_one_k_o9(cli: Cli, tmp_path: Path) -> None:
    """One has texts of 1 and 3 facts, the other silence: K is the median over both, printed."""

    def bio(topic: str, labels: str) -> dict[str, object]:
        listed = [
            {"text": f"{topic} {i}", "label": label} for i, label in enumerate(labels.split())
        ]
        return {"topic": topic, "cat": ["rare"], "annotations": [{"human-atomic-facts": listed}]}

    long = write_lines(tmp_path / "whole.jsonl", bio("a", "S"), bio("b", "S S S S NS"))
    short = write_lines(tmp_path / "short.jsonl", bio("a", "S S"), bio("b", ""))
    done = cli("score", "factscore", long, short)
    assert done.code == 0, done.err
    note = "F1@K: K = 2, the median number of relevant facts in the texts of all 2 files"
    assert done.out.count(note) == 2
    files = cli("score", "factscore", long, short, "--json").json["files"]
    # K = 2: of 1 supported fact 2/3, of 4 of 5 precision .8 and recall 1: 8/9. Silence has 0.
    assert files[0]["scores"]["F1@2"]["value"] == pytest.approx((2 / 3 + 8 / 9) / 2)
    assert files[1]["scores"]["F1@2"]["value"] == 0.5
    assert files[1]["scores"]["respond ratio"]["value"] == 0.5
    # Alone the file has a K of its own, which the note says.
    check_line(cli("score", "factscore", long).out, "K = 3")
    assert cli("score", "factscore", long, long).code == 2
    clash = cli("score", "factscore", long, "--out", "x.jsonl")
    check_error(clash.err)


def test_what_a_run_kept_is_compared_without_its_judge_o9(cli: Cli, tmp_path: Path) -> None:
    texts = [{"id": "1", "question": "?", "text": "Ada sang.", "evidence": ["Ada sang."]}]
    file = write_lines(tmp_path / "c.jsonl", *texts)
    for name, verdict in (("a", "[[supported]]"), ("b", "[[unsupported]]")):
        with stand_in(ok("- Ada sang."), ok(verdict)) as server:
            cli("score", "factscore", file, "--out", f"{name}.jsonl",
                *judged_by(server))  # fmt: skip
    done = cli("score", "factscore", "a.jsonl", "b.jsonl", "--json")
    assert done.code == 0, done.err
    assert [report["scores"]["F1@1"]["value"] for report in done.json["files"]] == [1.0, 0.0]
    assert done.json["files"][0]["basis"]["checked by"].startswith("judge")
    other = cli("score", "safe", "a.jsonl")
    assert other.code == 2
    check_error(other.err)
    both = cli("score", "factscore", file, "a.jsonl", "--out", "n.jsonl", "--model", "m")
    check_error(both.err)


def test_replies_are_kept_and_replayed_with_no_endpoint(cli: Cli, tmp_path: Path) -> None:
    """A run killed in the middle of a case asks what was answered before no second time."""
    rows = [{"id": "1", "question": "?", "text": "Ada sang. Ada slept.", "evidence": ["Ada sang."]}]
    file = write_lines(tmp_path / "c.jsonl", *rows)
    script = [ok("- Ada sang."), ok("[[supported]]"), ok("- Ada slept."), ok("[[unsupported]]")]
    with stand_in(*script) as server:
        first = cli("score", "factscore", file, "--out", "f.jsonl", *judged_by(server), "--json")
        assert len(server.requests) == 4
        Path("f.jsonl").unlink()
        second = cli("score", "factscore", file, "--out", "f.jsonl", *judged_by(server), "--json")
        assert len(server.requests) == 4
    assert second.out == first.out
    replayed = cli(
        "score", "factscore", file, "--replay", "f.jsonl.replies.db", "--model", "judge", "--json"
    )
    assert replayed.code == 0, replayed.err
    assert replayed.out == first.out
    both = cli("score", "factscore", file, "--replay", "f.jsonl.replies.db", "--cache", "x")
    assert both.code == 2


def test_failed_cases_are_scored_again_where_asked(cli: Cli, tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "c.jsonl", {"id": "1", "question": "?", "text": "Ada.", "evidence": ["Ada."]}
    )
    out = tmp_path / "rows.jsonl"
    with stand_in(ok("no list")) as server:
        first = cli("score", "safe", file, "--out", str(out), *judged_by(server))
    assert first.code == 1
    assert "failed 1 times: unreadable" in first.out
    with stand_in(ok("none")) as server:
        again = cli("score", "safe", file, "--out", str(out), "--retry-failed", *judged_by(server))
        # The reply that could not be read was kept; it is asked for anew, and nothing else is.
        assert len(server.requests) == 1
    assert again.code == 0
    assert "respond ratio" in again.out
    assert len(out.read_text().splitlines()) == 2
    replay = ("--replay", f"{out}.replies.db", "--model", "judge", "--json")
    replayed = cli("score", "safe", file, *replay)
    assert replayed.code == 0
    assert (
        replayed.json["scores"]
        == cli("score", "safe", file, "--out", str(out), *replay).json["scores"]
    )


def test_a_fact_that_failed_is_all_that_is_asked_again(cli: Cli, tmp_path: Path) -> None:
    """A case with a part that failed is scored again too; what was read is given from the cache."""
    case = {"id": "1", "question": "?", "text": "Ada.", "evidence": ["Ada sang."]}
    file = write_lines(tmp_path / "c.jsonl", case, {**case, "id": "2", "text": "Bea."})
    facts = [
        ok("- Ada sang."),
        ok("perhaps"),
        ok("perhaps"),
        ok("- Bea sang."),
        ok("[[supported]]"),
    ]
    run = ("score", "factscore", file, "--out", "r.jsonl")
    with stand_in(*facts) as server:
        first = cli(*run, *judged_by(server))
    check_line(first.out, "1 facts")
    assert first.code == 1
    with stand_in(ok("[[unsupported]]")) as server:
        again = cli(*run, "--retry-failed", *judged_by(server), "--json")
        assert len(server.requests) == 1
    score = again.json["scores"]["supported, micro"]
    assert (score["value"], score["n"], score["failed"]) == (0.5, 2, 0)


def test_several_cases_at_once_keep_their_order(cli: Cli, tmp_path: Path) -> None:
    pairs = [{"id": str(i), "premise": f"p{i}", "hypothesis": "h"} for i in range(6)]
    file = write_lines(tmp_path / "p.jsonl", *pairs)
    with stand_in(ok("[[neutral]]")) as server:
        scored = cli(
            "score",
            "entailment",
            file,
            "--judge",
            "model",
            "--concurrency",
            "3",
            *judged_by(server),
            "--json",
        )
    assert [row["id"] for row in scored.json["rows"]] == [str(i) for i in range(6)]
    assert len(server.requests) == 6
    assert "6 of 6 cases, 0 failed, 90 tokens" in scored.err


def test_numbers_out_of_range_are_refused_before_anything_is_asked(
    cli: Cli, tmp_path: Path
) -> None:
    file = write_lines(tmp_path / "c.jsonl", {"id": "1", "text": "Ada.", "evidence": ["Ada."]})
    with stand_in(ok("none")) as server:
        for verb, option, value, message in (
            ("factscore", "--k", "0", "k must be a whole number at least 1, got 0"),
            ("safe", "--concurrency", "0", "concurrency must be a whole number at least 1, got 0"),
            ("talec", "--split-shares", "50,60,70", "sum to 100 were expected, got '50,60,70'"),
        ):
            wrong = cli("score", verb, file, option, value, *judged_by(server))
            assert wrong.code == 2
            assert message in wrong.err
        assert not server.requests
    Path("r.rows").write_text('{"basis": "x", "row": {"id": "1"}}\n')
    wrong = cli("score", "compare", "r.rows", "r.rows")
    check_error(wrong.err)


def test_answers_on_a_withholding_view_k5_k6(
    cli: Cli, demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The view's delta is the truth: what it takes from a question's minimum set is absent."""
    (tmp_path / "own").mkdir()
    store = copy_store(demo_file, tmp_path / "own")
    monkeypatch.setenv("GRAPH_SERVICE_STORE", store)
    question = next(item for item in demo_questions() if len(item.statement_ids) == 2)
    withheld = question.statement_ids[1]
    made = cli("view", "create", "--method", "withholding", "--statement", withheld, "--name", "w")
    assert made.code == 0, made.err
    file = write_lines(tmp_path / "q.jsonl", {"id": question.id, "question": question.question})
    assert cli("answer", "--questions", file, "--view", "w", "--out", "a.jsonl").code == 0
    scored = cli("score", "na", "a.jsonl", "--view", "w", "--json")
    assert scored.code == 0, scored.err
    assert "no model's judgement" in scored.err
    assert "no model's judgement" in scored.json["notes"][0]
    assert [row["absent"] for row in scored.json["rows"]] == [1]
    assert scored.json["recall"]["n"] == 1
    aligned = cli("score", "entailment", "a.jsonl", "--json").json
    assert aligned["title"] == "alignment"
    assert aligned["scores"]["alignment, micro"]["n"] > 0
    absent = write_lines(
        tmp_path / "absent.jsonl",
        {"id": question.id, "absent": [{"entity": "Q1", "relation": "r", "value": "v"}]},
    )
    shown = cli("score", "na", "a.jsonl", "--absent", absent).out
    assert "1 withheld triples" in shown
    assert "no model's judgement" in shown
    with stand_in(ok("[[answers]]")) as server:
        lenient = cli("score", "na", "a.jsonl", "--absent", absent, "--lenient", *judged_by(server))
    assert lenient.code == 0, lenient.err
    assert cli("score", "na", "a.jsonl").code == 2
    assert cli("score", "na", "a.jsonl", "--view", "none").code == 2


def test_geval_rates_and_goes_on_k8_o9(cli: Cli, tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "t.jsonl",
        {"id": "1", "question": "Who?", "text": "Ada.", "knowledge": ["Ada | is | a writer"]},
        {"id": "2", "question": "Who?", "text": "Nobody."},
    )
    with stand_in(ok("4")) as server:
        done = cli("score", "geval", file, "--out", "g.jsonl", *judged_by(server), "--json")
        # The second case has no knowledge for consistency: it is unscored there, and none failed.
        assert done.code == 0
        assert len(server.requests) == 12 + 9
        again = cli("score", "geval", file, "--out", "g.jsonl", *judged_by(server))
        assert len(server.requests) == 21
    assert done.json["scores"]["coherence"]["n"] == 2
    assert done.json["scores"]["consistency"]["unscored"] == 1
    check_line(again.out, "1 texts")
    context = write_lines(tmp_path / "c.jsonl", {"id": "1", "context": "Ada wrote."})
    with stand_in(ok("7")) as server:
        scored = cli(
            "score", "geval", file, "--preset", "okgqa", "--weighting", "sampling", "--samples",
            "2", "--quality", "empowerment", "--context", context, *judged_by(server), "--json",
        )  # fmt: skip
        assert len(server.requests) == 2
    assert scored.json["scores"]["empowerment, %"]["value"] == pytest.approx(100 * 6 / 9)
    with stand_in(by_rule) as server:
        weighted = cli(
            "score", "geval", file, "--preset", "okgqa", "--context", context, *judged_by(server)
        )
    # The second text has no context; of the first 5 and 6 are as likely: 5.5, and 4.5 / 9.
    assert weighted.code == 0, weighted.out
    assert "empowerment           5.500 (n=1, unscored=1)" in weighted.out
    assert "empowerment, %        50.000 (n=1, unscored=1)" in weighted.out
    with stand_in(ok("5")) as server:
        mute = cli(
            "score", "geval", file, "--preset", "okgqa", "--context", context, *judged_by(server)
        )
    assert mute.code == 1
    check_line(mute.out, "1 times", "log-probabilities")
    other = write_lines(tmp_path / "d.jsonl", {"id": "9", "context": "Ada wrote."})
    refused = cli("score", "geval", file, "--preset", "okgqa", "--context", other, "--model", "m")
    assert refused.code == 2
    check_error(refused.err)
    for verb in ("factscore", "safe"):
        unchecked = write_lines(
            tmp_path / "u.jsonl", {"id": "2", "question": "Who?", "text": "Nobody."}
        )
        refused = cli("score", verb, unchecked, "--model", "m")
        assert refused.code == 2
        check_error(refused.err)
    for wrong in (("--scale", "5-1"), ("--runs", "0"), ("--quality", "charm")):
        assert cli("score", "geval", file, *wrong, "--model", "m").code == 2


def test_withheld_rounds_on_the_slice_k6(
    cli: Cli, demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six of the questions that ship with the slice, four of them of three statements."""
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path / "own"))
    listed = sorted(demo_questions(), key=lambda item: -len(item.statement_ids))
    listed = [*listed[:4], *(item for item in listed if len(item.statement_ids) == 1)][:6]
    gold = write_lines(tmp_path / "gold.jsonl", *(to_plain(item) for item in listed))
    scored = cli("score", "withheld", "--gold", gold, "--json")
    assert scored.code == 0, scored.err
    rounds = scored.json["rounds"]
    sizes = [len(item.statement_ids) for item in listed if not item.lacking]
    expected = [sum(size >= least for size in sizes) for least in (1, 1, 2, 3)]
    assert [item["questions"] for item in rounds] == expected
    assert expected[3] >= 4
    recalls = [item["citations"]["scores"]["recall_micro"]["value"] for item in rounds]
    assert recalls[0] > recalls[1] > recalls[3]
    # What is absent: one statement a question in the first round, three in the third.
    assert [item["not_available"]["recall"]["n"] for item in rounds[1:]] == [
        expected[1], 2 * expected[2], 3 * expected[3]
    ]  # fmt: skip
    assert rounds[0]["not_available"] is None
    missing = write_lines(
        tmp_path / "other.jsonl", {"question": "?", "statement_ids": ["Q76$NONE"]}
    )
    assert cli("score", "withheld", "--gold", missing).code == 2


def test_withheld_answers_are_kept_and_gone_on_with_k6(
    cli: Cli, demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path / "own"))
    question = next(item for item in demo_questions() if len(item.statement_ids) == 2)
    gold = write_lines(tmp_path / "gold.jsonl", to_plain(question))
    run = ("score", "withheld", "--gold", gold, "--rounds", "2", "--out", "w.jsonl")
    how = ("--setting", "kalma", "--preset", "okgqa", "--limit", "4")
    with stand_in(ok("Nothing is known [NA].")) as server:
        first = cli(*run, *how, *judged_by(server), "--json")
        assert first.code == 0, first.err
        request_count = len(server.requests)
        again = cli(*run, *how, *judged_by(server), "--json")
        assert len(server.requests) == request_count > 0
    check_line(again.err, "3 cases", "w.jsonl")
    assert again.json == first.json
    assert first.json["asked"] == "judge, kalma, triplets, preset okgqa, limit 4"
    rows = [json.loads(line)["row"] for line in Path("w.jsonl").read_text().splitlines()]
    assert [row["id"] for row in rows] == [f"{question.id}#{index}" for index in range(3)]
    assert [len(row["absent"]) for row in rows] == [0, 1, 2]
    assert rows[1]["answer"]["result"]["provenance"]["preset"].startswith("okgqa")
    assert rows[1]["answer"]["parameters"]["setting"] == "kalma"
    # Answers made in another way are not mixed in, and nothing can be withheld from passages.
    other = cli(*run, "--setting", "kalma", *judged_by(server), "--json")
    assert other.code == 2
    check_line(other.err, "case was scored")
    for setting in ("ltgen-both", "ltgen-none"):
        wrong = cli("score", "withheld", "--gold", gold, "--setting", setting, "--templates")
        assert wrong.code == 2
        check_line(wrong.err, "can be withheld")


def test_general_and_specific_questions_are_scored_side_by_side_k10(
    cli: Cli, tmp_path: Path, demo_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """KaLMA's table 7: the same people, asked in general and specifically; made files."""
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path / "own"))
    people = [
        {"name": "Ada", "qid": "Q1", "home": "Rome"},
        {"name": "Bea", "qid": "Q2", "work": "poet"},
    ]
    for name, word in (("g.json", "Who is"), ("s.json", "Where, or as what, worked")):
        content = [[f"{word} {person['name']}?", [person]] for person in people]
        Path(name).write_text(json.dumps(content))
    made = cli("questions", "g.json", "--specific", "s.json", "--out", "q.jsonl", "--json")
    assert made.json["kinds"] == {"general": 2, "specific": 2}

    def reply(request: dict[str, Any]) -> Scripted:
        cited = "Rome [1]." if "Where, or" in request["messages"][-1]["content"] else "Rome."
        return ok(f"She lived in {cited}")

    with stand_in(reply) as server:
        run = ("--knowledge", "gold", "--out", "a.jsonl", *judged_by(server))
        assert cli("answer", "--questions", "q.jsonl", *run).code == 0
    for name in ("citations", "entailment"):
        report = cli("score", name, "a.jsonl", "--gold", "q.jsonl", "--json")
        assert report.code == 0, report.err
        Path(f"{name}.json").write_text(report.out)
    report = cli("score", "side-by-side", "citations.json", "entailment.json", "--json").json
    assert report["groups"] == ["general", "specific"]
    correct = report["scores"]["correctness_micro"]
    assert (correct["general"]["n"], correct["specific"]["value"]) == (0, 1.0)
    aligned = report["scores"]["alignment, micro"]
    assert (aligned["general"]["n"], aligned["specific"]["n"]) == (0, 2)
    shown = cli("score", "side-by-side", "citations.json", "entailment.json").out.splitlines()
    assert shown[0].split() == ["score", "general", "specific"]
    assert len(shown) == 1 + len(report["scores"])
    for reports, message in (
        (("citations.json", "citations.json"), "two reports have the score"),
        (("citations.json", "--by", "level"), "scores by level were expected"),
        (("q.jsonl",), "a report that"),
    ):
        wrong = cli("score", "side-by-side", *reports)
        assert wrong.code == 2
        assert message in wrong.err
