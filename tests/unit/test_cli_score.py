"""score from the command line: files in, figures out, faults named, runs gone on with."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from demo_graph import copy_store
from error_texts import check_error
from openai_stand_in import Scripted, StandIn, by_rule, ok, stand_in

from graph_service.model.serialise import to_plain
from queries.datasets.demo_set import demo_questions
from queries.score.criteria import load_criteria


def lines(path: Path, *rows: object) -> str:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return str(path)


def of(server: StandIn) -> tuple[str, ...]:
    return ("--model", "judge", "--model-url", server.url)


def test_agreement_of_raters_o14(cli: Cli, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "r.jsonl",
        *(
            {"id": i, "ratings": {"a": x, "b": y}}
            for i, (x, y) in enumerate([(1, 1), (5, 4), (3, 3)])
        ),
    )
    done = cli("score", "agreement", file)
    assert done.code == 0
    assert "a and b" in done.out
    assert "tau-b" in done.out
    found = cli("score", "agreement", file, "--measure", "equal", "--json").json
    assert found["pairs"][0]["scores"]["equal"]["value"] == pytest.approx(2 / 3)


def test_agreement_by_a_field_of_the_file_k8(cli: Cli, tmp_path: Path) -> None:
    rows = [
        {"id": i, "ratings": {"a": 1, "b": int(system == "gpt")}, "system": system}
        for i, system in enumerate(["gpt", "gpt", "llama", "llama"])
    ]
    file = lines(tmp_path / "r.jsonl", *rows)
    found = cli("score", "agreement", file, "--measure", "equal", "--groups", "system", "--json")
    assert found.code == 0, found.err
    by_group = {
        name: group["pairs"][0]["scores"]["equal"]["value"]
        for name, group in found.json["groups"].items()
    }
    assert by_group == {"gpt": 1.0, "llama": 0.0}
    assert found.json["clusters"] == 2
    wrong = cli("score", "agreement", file, "--groups", "model")
    assert wrong.code == 2
    assert "r.jsonl, line 1, field model" in wrong.err


def test_agreement_of_two_judges_over_the_same_pairs_o14(cli: Cli, tmp_path: Path) -> None:
    pairs = [
        {"id": str(i), "premise": f"p{i}", "hypothesis": "h", "level": "II" if i > 1 else "I"}
        for i in range(4)
    ]
    file = lines(tmp_path / "p.jsonl", *pairs)
    for name, verdicts in (("a", "EENN"), ("b", "EEEN")):
        words = {"E": "[[entailment]]", "N": "[[neutral]]"}
        with stand_in(*(ok(words[verdict]) for verdict in verdicts)) as server:
            out = ("--out", f"{name}.jsonl")
            assert cli("score", "entailment", file, "--judge", "model", *out, *of(server)).code == 0
    done = cli("score", "agreement", "a.jsonl", "b.jsonl")
    # Equal on 3 of 4; by chance 1/2 * 3/4 + 1/2 * 1/4 = 1/2.
    assert "  equal  0.750" in done.out
    assert "  kappa  0.500" in done.out
    grouped = cli("score", "agreement", "a.jsonl", "b.jsonl", "--groups", "level", "--json").json
    assert {name: group["cases"] for name, group in grouped["groups"].items()} == {"I": 2, "II": 2}
    assert grouped["groups"]["I"]["pairs"][0]["scores"]["equal"]["value"] == 1.0
    for field, said in (("kind", "has no kind to be grouped by"), ("who", "not by 'who'")):
        wrong = cli("score", "agreement", "a.jsonl", "b.jsonl", "--groups", field)
        assert wrong.code == 2
        assert said in wrong.err
    assert cli("score", "agreement", "a.jsonl", "none.jsonl").code == 2


def test_knowledge_by_level_l8_l9(cli: Cli, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "k.jsonl",
        {"id": "1", "text": "In Rome.", "answers": [["Rome", "Roma"]], "level": "I", "references": 1},
        {"id": "2", "text": "In Oslo.", "answers": ["Rome"], "level": "IV", "references": [1, 2],
         "oracle": [["Q1", "P19"]], "reference": [["Q1", "P19"]]},
    )  # fmt: skip
    done = cli("score", "knowledge", file, "--k", "1", "--out", "rows.jsonl")
    assert done.code == 0
    assert "level IV" in done.out
    assert "oracle recall@1, micro" in done.out
    assert len(Path("rows.jsonl").read_text().splitlines()) == 2
    assert cli("score", "knowledge", file, "--json").json["scores"]["KM"]["value"] == 0.5


def test_answer_sets_b3(cli: Cli, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "a.jsonl",
        {"id": "1", "text": "", "named": ["Roma", "Oslo"], "answers": [["Rome", "Roma"]]},
        {"id": "2", "text": "[NA]", "answerable": False, "targets": ["Oslo"], "errors": True},
        {"id": "3", "text": "In Oslo."},
    )
    gold = lines(tmp_path / "g.jsonl", {"id": "3", "question": "Where?", "answers": ["Oslo"]})
    done = cli("score", "answer-sets", file, "--gold", gold, "--out", "rows.jsonl")
    assert done.code == 0
    assert len(Path("rows.jsonl").read_text().splitlines()) == 3
    scores = cli("score", "answer-sets", file, "--gold", gold, "--json").json["scores"]
    # Precision 1/2 and recall 1 of the first: F1 2/3. The second refuses rightly, names no target.
    assert {name: round(score["value"], 3) for name, score in scores.items()} == {
        "Hits@1": 1.0,
        "Hits@Any": 1.0,
        "answer-set precision": 0.5,
        "answer-set recall": 1.0,
        "answer-set F1": 0.667,
        "rejection precision": 1.0,
        "rejection recall": 1.0,
        "attack success rate": 0.0,
        "error detection": 0.0,
    }
    bare = lines(tmp_path / "b.jsonl", {"id": "3", "text": "In Oslo."})
    wrong = cli("score", "answer-sets", bare)
    assert (wrong.code, "can be scored" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("what", "row", "message"),
    [
        ("answer-sets", {"text": "x", "errors": 1}, "field errors: true or false was expected"),
        (
            "agreement",
            {"ratings": [1]},
            "line 1, field ratings: an object was expected; a list came",
        ),
        (
            "knowledge",
            {"id": 1, "text": 3},
            "line 1, field text: a text was expected; a number came",
        ),
        ("knowledge", {"text": "x", "answers": [3]}, "field answers: a list of names, or of lists"),
        ("entailment", {"premise": "x"}, "field hypothesis: a text was expected; nothing came"),
        ("entailment", {"premise": "x", "hypothesis": "y", "label": "no"}, "field label: one of"),
        ("citations", {"id": 1}, "line 1"),
    ],
)
def test_bad_files_are_told_by_line_and_field(
    cli: Cli, tmp_path: Path, what: str, row: object, message: str
) -> None:
    done = cli("score", what, lines(tmp_path / "bad.jsonl", row))
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err


def test_pairs_by_word_overlap_and_by_a_model(cli: Cli, tmp_path: Path) -> None:
    pairs = [
        {"id": "1", "premise": "Ada was born in Rome.", "hypothesis": "born in Rome", "label": "entailment"},
        {"id": "2", "generation": "Ada sang.", "reference": "Ada was born in Rome.", "label": "neutral"},
    ]  # fmt: skip
    file = lines(tmp_path / "p.jsonl", *pairs)
    found = cli("score", "entailment", file, "--json").json
    assert found["scores"]["AUROC of entailed"]["value"] == 1.0
    with stand_in(ok("Yes. [[entailment]]"), ok("No. [[contradiction]]")) as server:
        judged = cli("score", "entailment", file, "--judge", "model", *of(server), "--json")
    assert judged.code == 0
    assert judged.json["scores"]["E - C"]["value"] == 0.0
    assert "Premise: Ada sang." in server.requests[1]["messages"][-1]["content"]
    missing = cli("score", "entailment", file, "--judge", "model")
    assert missing.code == 2
    assert "--model NAME" in missing.err
    assert cli("score", "entailment", file, "--judge", "cross-encoder").code == 2


def test_word_overlap_says_what_it_is_worth_and_calibrates_k5(cli: Cli, tmp_path: Path) -> None:
    pairs = [
        {"id": "1", "premise": "a b c d", "hypothesis": "a b c d", "label": "entailment"},
        {"id": "2", "premise": "a b c d", "hypothesis": "a b c x", "label": "neutral"},
        {"id": "3", "premise": "a b c d", "hypothesis": "a b x y", "label": "neutral"},
    ]
    file = lines(tmp_path / "p.jsonl", *pairs)
    plain = cli("score", "entailment", file, "--json")
    for told in (plain.err, *plain.json["notes"]):
        assert "no model's judgement" in told
        assert ".705 on WiCE test" in told
    # Shares 1, 3/4 and 1/2: at the default .6 the second is called entailed.
    assert plain.json["scores"]["precision"]["value"] == 0.5
    found = cli("score", "entailment", file, "--calibrate", file, "--json")
    chosen = "threshold 0.875 has the greatest balanced accuracy on p.jsonl: 1.000"
    assert chosen in found.err
    assert any(chosen in note for note in found.json["notes"])
    assert found.json["basis"]["judge"] == "word overlap >= 0.875"
    assert found.json["scores"]["precision"]["value"] == 1.0
    unlabelled = lines(tmp_path / "u.jsonl", {"premise": "a", "hypothesis": "a"})
    for more, said in (
        (("--calibrate", file, "--threshold", "0.5"), "not both"),
        (("--calibrate", file, "--judge", "cross-encoder"), "threshold of word overlap"),
        (("--calibrate", "none.jsonl"), "there is no file none.jsonl"),
        (("--calibrate", unlabelled), "pairs that are labelled as entailed"),
    ):
        wrong = cli("score", "entailment", file, *more)
        assert wrong.code == 2
        assert said in wrong.err


def test_facts_checked_by_word_overlap_say_so_o9(cli: Cli, tmp_path: Path) -> None:
    case = {"id": "1", "question": "?", "text": "Ada sang.", "evidence": ["Ada sang."]}
    file = lines(tmp_path / "c.jsonl", case)
    with stand_in(ok("- Ada sang.")) as server:
        run = ("score", "factscore", file, "--verifier", "overlap", *of(server), "--json")
        found = cli(*run)
    assert found.code == 0
    assert "no model's judgement" in found.err
    assert "no model's judgement" in found.json["notes"][0]


def test_a_killed_run_goes_on_by_id_and_asks_nothing_twice(cli: Cli, tmp_path: Path) -> None:
    rows = [
        {"id": str(i), "question": "Who?", "text": f"Ada sang {i}.", "evidence": [f"Ada sang {i}."]}
        for i in range(3)
    ]
    file, out = tmp_path / "c.jsonl", tmp_path / "rows.jsonl"
    lines(file, *rows[:2])
    with stand_in(ok("- Ada sang."), ok("[[supported]]"), ok("- Ada sang."), ok("?")) as server:
        first = cli("score", "factscore", str(file), "--out", str(out), *of(server), "--json")
        # The second fact's rating could not be read: asked twice, counted.
        assert first.json["scores"]["supported, micro"]["failed"] == 1
        asked = len(server.requests)
    written = out.read_bytes()
    assert asked == 5
    out.write_bytes(written + b'{"basis": "cut')
    lines(file, *rows)
    with stand_in(ok("- Ada sang."), ok("[[supported]]")) as server:
        second = cli("score", "factscore", str(file), "--out", str(out), *of(server))
    assert len(server.requests) == 2
    assert "2 cases were scored in" in second.err
    assert "3 of 3 cases, 0 failed, 30 tokens" in second.err
    assert out.read_bytes().startswith(written)
    assert len(out.read_bytes().splitlines()) == 3
    with stand_in(ok("never")) as server:
        third = cli("score", "factscore", str(file), "--out", str(out), *of(server), "--json")
        assert server.requests == []
        assert third.json["cases"] == 3
        clash = cli(
            "score", "factscore", str(file), "--out", str(out), *of(server), "--temperature", "1"
        )
    assert clash.code == 2
    assert "Write to another file." in clash.err


def test_files_that_are_compared_share_one_k_o9(cli: Cli, tmp_path: Path) -> None:
    """One has texts of 1 and 3 facts, the other silence: K is the median over both, printed."""

    def bio(topic: str, labels: str) -> dict[str, object]:
        listed = [
            {"text": f"{topic} {i}", "label": label} for i, label in enumerate(labels.split())
        ]
        return {"topic": topic, "cat": ["rare"], "annotations": [{"human-atomic-facts": listed}]}

    whole = lines(tmp_path / "whole.jsonl", bio("a", "S"), bio("b", "S S S S NS"))
    short = lines(tmp_path / "short.jsonl", bio("a", "S S"), bio("b", ""))
    done = cli("score", "factscore", whole, short)
    assert done.code == 0, done.err
    said = "F1@K: K = 2, the median number of relevant facts in the texts of all 2 files"
    assert done.out.count(said) == 2
    files = cli("score", "factscore", whole, short, "--json").json["files"]
    # K = 2: of 1 supported fact 2/3, of 4 of 5 precision .8 and recall 1: 8/9. Silence has 0.
    assert files[0]["scores"]["F1@2"]["value"] == pytest.approx((2 / 3 + 8 / 9) / 2)
    assert files[1]["scores"]["F1@2"]["value"] == 0.5
    assert files[1]["scores"]["respond ratio"]["value"] == 0.5
    # Alone the file has a K of its own, which the note says.
    assert "F1@K: K = 3, the median number of relevant facts in the texts of this file" in (
        cli("score", "factscore", whole).out
    )
    assert cli("score", "factscore", whole, whole).code == 2
    kept = cli("score", "factscore", whole, "--out", "x.jsonl")
    check_error(kept.err)


def test_what_a_run_kept_is_compared_without_its_judge_o9(cli: Cli, tmp_path: Path) -> None:
    texts = [{"id": "1", "question": "?", "text": "Ada sang.", "evidence": ["Ada sang."]}]
    file = lines(tmp_path / "c.jsonl", *texts)
    for name, said in (("a", "[[supported]]"), ("b", "[[unsupported]]")):
        with stand_in(ok("- Ada sang."), ok(said)) as server:
            cli("score", "factscore", file, "--out", f"{name}.jsonl",
                *of(server))  # fmt: skip
    done = cli("score", "factscore", "a.jsonl", "b.jsonl", "--json")
    assert done.code == 0, done.err
    assert [found["scores"]["F1@1"]["value"] for found in done.json["files"]] == [1.0, 0.0]
    assert done.json["files"][0]["basis"]["checked by"].startswith("judge")
    other = cli("score", "safe", "a.jsonl")
    assert other.code == 2
    check_error(other.err)
    both = cli("score", "factscore", file, "a.jsonl", "--out", "n.jsonl", "--model", "m")
    check_error(both.err)


def test_replies_are_kept_and_replayed_with_no_endpoint(cli: Cli, tmp_path: Path) -> None:
    """A run killed in the middle of a case asks what was answered before no second time."""
    rows = [{"id": "1", "question": "?", "text": "Ada sang. Ada slept.", "evidence": ["Ada sang."]}]
    file = lines(tmp_path / "c.jsonl", *rows)
    script = [ok("- Ada sang."), ok("[[supported]]"), ok("- Ada slept."), ok("[[unsupported]]")]
    with stand_in(*script) as server:
        first = cli("score", "factscore", file, "--out", "f.jsonl", *of(server), "--json")
        assert len(server.requests) == 4
        Path("f.jsonl").unlink()
        second = cli("score", "factscore", file, "--out", "f.jsonl", *of(server), "--json")
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
    file = lines(
        tmp_path / "c.jsonl", {"id": "1", "question": "?", "text": "Ada.", "evidence": ["Ada."]}
    )
    out = tmp_path / "rows.jsonl"
    with stand_in(ok("no list")) as server:
        first = cli("score", "safe", file, "--out", str(out), *of(server))
    assert first.code == 1
    assert "failed 1 times: unreadable" in first.out
    with stand_in(ok("none")) as server:
        again = cli("score", "safe", file, "--out", str(out), "--retry-failed", *of(server))
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
    file = lines(tmp_path / "c.jsonl", case, {**case, "id": "2", "text": "Bea."})
    facts = [
        ok("- Ada sang."),
        ok("perhaps"),
        ok("perhaps"),
        ok("- Bea sang."),
        ok("[[supported]]"),
    ]
    run = ("score", "factscore", file, "--out", "r.jsonl")
    with stand_in(*facts) as server:
        first = cli(*run, *of(server))
    assert "1 facts could not be judged, in no figure" in first.out
    assert first.code == 1
    with stand_in(ok("[[unsupported]]")) as server:
        again = cli(*run, "--retry-failed", *of(server), "--json")
        assert len(server.requests) == 1
    found = again.json["scores"]["supported, micro"]
    assert (found["value"], found["n"], found["failed"]) == (0.5, 2, 0)


def test_several_cases_at_once_keep_their_order(cli: Cli, tmp_path: Path) -> None:
    pairs = [{"id": str(i), "premise": f"p{i}", "hypothesis": "h"} for i in range(6)]
    file = lines(tmp_path / "p.jsonl", *pairs)
    with stand_in(ok("[[neutral]]")) as server:
        found = cli(
            "score",
            "entailment",
            file,
            "--judge",
            "model",
            "--concurrency",
            "3",
            *of(server),
            "--json",
        )
    assert [row["id"] for row in found.json["rows"]] == [str(i) for i in range(6)]
    assert len(server.requests) == 6
    assert "6 of 6 cases, 0 failed, 90 tokens" in found.err


def test_numbers_out_of_range_are_refused_before_anything_is_asked(
    cli: Cli, tmp_path: Path
) -> None:
    file = lines(tmp_path / "c.jsonl", {"id": "1", "text": "Ada.", "evidence": ["Ada."]})
    with stand_in(ok("none")) as server:
        for verb, option, value, said in (
            ("factscore", "--k", "0", "k must be a whole number at least 1, got 0"),
            ("safe", "--concurrency", "0", "concurrency must be a whole number at least 1, got 0"),
            ("talec", "--split-shares", "50,60,70", "sum to 100 were expected, got '50,60,70'"),
        ):
            wrong = cli("score", verb, file, option, value, *of(server))
            assert wrong.code == 2
            assert said in wrong.err
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
    file = lines(tmp_path / "q.jsonl", {"id": question.id, "question": question.question})
    assert cli("answer", "--questions", file, "--view", "w", "--out", "a.jsonl").code == 0
    found = cli("score", "na", "a.jsonl", "--view", "w", "--json")
    assert found.code == 0, found.err
    assert "no model's judgement" in found.err
    assert "no model's judgement" in found.json["notes"][0]
    assert [row["absent"] for row in found.json["rows"]] == [1]
    assert found.json["recall"]["n"] == 1
    aligned = cli("score", "entailment", "a.jsonl", "--json").json
    assert aligned["title"] == "alignment"
    assert aligned["scores"]["alignment, micro"]["n"] > 0
    absent = lines(
        tmp_path / "absent.jsonl",
        {"id": question.id, "absent": [{"entity": "Q1", "relation": "r", "value": "v"}]},
    )
    shown = cli("score", "na", "a.jsonl", "--absent", absent).out
    assert "1 withheld triples" in shown
    assert "no model's judgement" in shown
    with stand_in(ok("[[answers]]")) as server:
        lenient = cli("score", "na", "a.jsonl", "--absent", absent, "--lenient", *of(server))
    assert lenient.code == 0, lenient.err
    assert cli("score", "na", "a.jsonl").code == 2
    assert cli("score", "na", "a.jsonl", "--view", "none").code == 2


def test_geval_rates_and_goes_on_k8_o9(cli: Cli, tmp_path: Path) -> None:
    file = lines(
        tmp_path / "t.jsonl",
        {"id": "1", "question": "Who?", "text": "Ada.", "knowledge": ["Ada | is | a writer"]},
        {"id": "2", "question": "Who?", "text": "Nobody."},
    )
    with stand_in(ok("4")) as server:
        done = cli("score", "geval", file, "--out", "g.jsonl", *of(server), "--json")
        # The second case has no knowledge for consistency: it is unscored there, and none failed.
        assert done.code == 0
        assert len(server.requests) == 12 + 9
        again = cli("score", "geval", file, "--out", "g.jsonl", *of(server))
        assert len(server.requests) == 21
    assert done.json["scores"]["coherence"]["n"] == 2
    assert done.json["scores"]["consistency"]["unscored"] == 1
    assert "1 texts unscored, no knowledge: consistency is rated against" in again.out
    context = lines(tmp_path / "c.jsonl", {"id": "1", "context": "Ada wrote."})
    with stand_in(ok("7")) as server:
        found = cli(
            "score", "geval", file, "--preset", "okgqa", "--weighting", "sampling", "--samples",
            "2", "--quality", "empowerment", "--context", context, *of(server), "--json",
        )  # fmt: skip
        assert len(server.requests) == 2
    assert found.json["scores"]["empowerment, %"]["value"] == pytest.approx(100 * 6 / 9)
    with stand_in(by_rule) as server:
        weighted = cli(
            "score", "geval", file, "--preset", "okgqa", "--context", context, *of(server)
        )
    # The second text has no context; of the first 5 and 6 are as likely: 5.5, and 4.5 / 9.
    assert weighted.code == 0, weighted.out
    assert "empowerment           5.500 (n=1, unscored=1)" in weighted.out
    assert "empowerment, %        50.000 (n=1, unscored=1)" in weighted.out
    with stand_in(ok("5")) as server:
        mute = cli("score", "geval", file, "--preset", "okgqa", "--context", context, *of(server))
    assert mute.code == 1
    assert "failed 1 times: unreadable: the endpoint gives no log-probabilities" in mute.out
    other = lines(tmp_path / "d.jsonl", {"id": "9", "context": "Ada wrote."})
    bare = cli("score", "geval", file, "--preset", "okgqa", "--context", other, "--model", "m")
    assert bare.code == 2
    check_error(bare.err)
    for verb in ("factscore", "safe"):
        unchecked = lines(tmp_path / "u.jsonl", {"id": "2", "question": "Who?", "text": "Nobody."})
        bare = cli("score", verb, unchecked, "--model", "m")
        assert bare.code == 2
        check_error(bare.err)
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
    gold = lines(tmp_path / "gold.jsonl", *(to_plain(item) for item in listed))
    found = cli("score", "withheld", "--gold", gold, "--json")
    assert found.code == 0, found.err
    rounds = found.json["rounds"]
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
    missing = lines(tmp_path / "other.jsonl", {"question": "?", "statement_ids": ["Q76$NONE"]})
    assert cli("score", "withheld", "--gold", missing).code == 2


def test_withheld_answers_are_kept_and_gone_on_with_k6(
    cli: Cli, demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path / "own"))
    question = next(item for item in demo_questions() if len(item.statement_ids) == 2)
    gold = lines(tmp_path / "gold.jsonl", to_plain(question))
    run = ("score", "withheld", "--gold", gold, "--rounds", "2", "--out", "w.jsonl")
    how = ("--setting", "kalma", "--preset", "okgqa", "--limit", "4")
    with stand_in(ok("Nothing is known [NA].")) as server:
        first = cli(*run, *how, *of(server), "--json")
        assert first.code == 0, first.err
        asked = len(server.requests)
        again = cli(*run, *how, *of(server), "--json")
        assert len(server.requests) == asked > 0
    assert "3 cases were scored in w.jsonl before" in again.err
    assert again.json == first.json
    assert first.json["asked"] == "judge, kalma, triplets, preset okgqa, limit 4"
    kept = [json.loads(line)["row"] for line in Path("w.jsonl").read_text().splitlines()]
    assert [row["id"] for row in kept] == [f"{question.id}#{number}" for number in range(3)]
    assert [len(row["absent"]) for row in kept] == [0, 1, 2]
    assert kept[1]["answer"]["result"]["provenance"]["preset"].startswith("okgqa")
    assert kept[1]["answer"]["parameters"]["setting"] == "kalma"
    # Answers made in another way are not mixed in, and nothing can be withheld from passages.
    other = cli(*run, "--setting", "kalma", *of(server), "--json")
    assert other.code == 2
    assert "this case was scored by" in other.err
    for setting in ("ltgen-both", "ltgen-none"):
        wrong = cli("score", "withheld", "--gold", gold, "--setting", setting, "--templates")
        assert wrong.code == 2
        assert "nothing can be withheld" in wrong.err


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
        content = [[f"{word} {one['name']}?", [one]] for one in people]
        Path(name).write_text(json.dumps(content))
    made = cli("questions", "g.json", "--specific", "s.json", "--out", "q.jsonl", "--json")
    assert made.json["kinds"] == {"general": 2, "specific": 2}

    def reply(asked: dict[str, Any]) -> Scripted:
        cited = "Rome [1]." if "Where, or" in asked["messages"][-1]["content"] else "Rome."
        return ok(f"She lived in {cited}")

    with stand_in(reply) as server:
        run = ("--knowledge", "gold", "--out", "a.jsonl", *of(server))
        assert cli("answer", "--questions", "q.jsonl", *run).code == 0
    for name in ("citations", "entailment"):
        report = cli("score", name, "a.jsonl", "--gold", "q.jsonl", "--json")
        assert report.code == 0, report.err
        Path(f"{name}.json").write_text(report.out)
    found = cli("score", "side-by-side", "citations.json", "entailment.json", "--json").json
    assert found["groups"] == ["general", "specific"]
    correct = found["scores"]["correctness_micro"]
    assert (correct["general"]["n"], correct["specific"]["value"]) == (0, 1.0)
    aligned = found["scores"]["alignment, micro"]
    assert (aligned["general"]["n"], aligned["specific"]["n"]) == (0, 2)
    shown = cli("score", "side-by-side", "citations.json", "entailment.json").out.splitlines()
    assert shown[0].split() == ["score", "general", "specific"]
    assert len(shown) == 1 + len(found["scores"])
    for reports, said in (
        (("citations.json", "citations.json"), "two reports have the score"),
        (("citations.json", "--by", "level"), "scores by level were expected"),
        (("q.jsonl",), "a report that"),
    ):
        wrong = cli("score", "side-by-side", *reports)
        assert wrong.code == 2
        assert said in wrong.err


CRITERIA = """\
task: Say who it is.
labels:
  - name: wrong
    title: Wrong
    class: unacceptable
    description: It is wrong.
rules:
  - {name: long, title: Long, class: acceptable, measure: words, most: 9}
"""


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (None, "there is no file x.jsonl"),
        (b"", "x.jsonl holds no "),
        (b"\n\n", "x.jsonl holds no "),
        (b"not json\n", "x.jsonl, line 1: a JSON object was expected; "),
        (b"[1]\n", "x.jsonl, line 1: a JSON object was expected; a list came"),
        (b'\n{"id": "1"}\n', "x.jsonl, line 2, field "),
    ],
)
@pytest.mark.parametrize(
    "verb",
    ["citations", "na", "entailment", "knowledge", "factscore", "geval", "talec", "agreement"],
)
def test_bad_files_are_told_with_line_and_field(
    cli: Cli, tmp_path: Path, verb: str, data: bytes | None, said: str
) -> None:
    if data is not None:
        Path("x.jsonl").write_bytes(data)
    absent = lines(tmp_path / "absent.jsonl", {"id": "1", "absent": []})
    more = ("--absent", absent) if verb == "na" else ()
    found = cli("score", verb, "x.jsonl", *more)
    assert found.code == 2
    assert said in found.err
    assert "Errno" not in found.err


def test_packed_answers_and_gold_are_scored_as_they_are(
    cli: Cli, demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    gold = lines(tmp_path / "gold.jsonl", *(to_plain(item) for item in demo_questions()[:2]))
    assert cli("answer", "--questions", gold, "--out", "a.jsonl").code == 0
    for name in ("a.jsonl", "gold.jsonl"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))
    plain = cli("score", "citations", "a.jsonl", "--gold", "gold.jsonl")
    assert plain.code == 0
    packed = cli("score", "citations", "a.jsonl.gz", "--gold", "gold.jsonl.gz")
    assert packed.out == plain.out


def test_talec_judges_compares_lints_and_exports_t1_to_t8(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(CRITERIA)
    file = lines(
        tmp_path / "t.jsonl",
        {"id": "1", "question": "Who?", "text": "Ada.", "human": {"wrong": False, "long": 0}, "split": "eval"},
        {"id": "2", "question": "Who?", "text": "Eva.", "human": {"wrong": True, "long": 0}, "split": "eval",
         "reasons": {"wrong": "It was Ada."}},
        {"id": "3", "question": "Who?", "text": "Ida.", "split": "test"},
    )  # fmt: skip
    own = ("--criteria", "own.yaml")
    with stand_in(ok("[[B]]")) as server:
        first = cli("score", "talec", file, *own, "--method", "zero-shot", "--split", "eval",
                    "--out", "one.jsonl", *of(server), "--json")  # fmt: skip
        assert len(server.requests) == 2
    assert first.code == 0, first.err
    assert first.json["scores"]["wrong: accuracy"]["value"] == 0.5
    with stand_in(ok("[[B]]"), ok("[[A]]")) as server:
        second = cli("score", "talec", file, *own, "--method", "few-shot", "--split", "eval",
                     "--out", "two.jsonl", *of(server))  # fmt: skip
    assert "Spearman with people" in second.out
    compared = cli("score", "compare", "one.jsonl", "two.jsonl", *own)
    assert compared.code == 0, compared.err
    assert "2 wrong: 0 -> 1 (people: 1, better)" in compared.out
    assert "+0.500" in compared.out
    assert cli("score", "lint", "own.yaml").out == (
        "own.yaml, line 3, wrong: no shots: few-shot is as zero-shot\n"
        f"own@{load_criteria('own.yaml').version}: 1 labels, 0 shots, 1 rules, 1 warnings\n"
    )
    assert cli("score", "lint").out.endswith("0 warnings\n")
    made = cli("score", "export", file, *own, "--split", "eval", "--out", "tune.jsonl")
    assert made.out == "2 records in tune.jsonl\n"
    assert "It was Ada." in Path("tune.jsonl").read_text()
    (tmp_path / "own.yaml").write_text(CRITERIA.replace("class: unacc", "klass: unacc"))
    broken = cli("score", "lint", "own.yaml")
    assert broken.code == 2
    check_error(broken.err)
    nowhere = ("--model", "m", "--model-url", "http://127.0.0.1:9/v1")
    for wrong in (
        ("score", "talec", file, "--split", "train", *nowhere),
        ("score", "talec", file, "--split-shares", "1,2", *nowhere),
        ("score", "compare", "one.jsonl", "none.jsonl"),
        ("score", "talec", file),
    ):
        assert cli(*wrong).code == 2


@pytest.mark.data
def test_published_files_are_scored_as_they_are(cli: Cli, data_dir: Path) -> None:
    wice = data_dir / "wice" / "oracle_chunks_claim_dev.jsonl.xz"
    found = cli("score", "entailment", str(wice), "--json").json
    assert found["scores"]["AUROC of entailed"]["value"] == pytest.approx(0.76, abs=0.005)
    people = data_dir / "factscore_human" / "InstructGPT.jsonl.xz"
    scores = cli("score", "factscore", str(people), "--json").json["scores"]
    assert round(scores["supported, macro"]["value"], 3) == 0.428


def test_citations_say_which_gold_they_are_scored_against_k4(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo_file: Path
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    (tmp_path / "empty.jsonl").write_text("")
    empty = cli("score", "citations", "empty.jsonl")
    assert empty.code == 2
    assert "empty.jsonl holds no answer" in empty.err
    demo = demo_questions()
    asked = lines(tmp_path / "q.jsonl", {"id": demo[0].id, "question": demo[0].question})
    assert cli("answer", "--questions", asked, "--out", "a.jsonl").code == 0
    found = cli("score", "citations", "a.jsonl")
    assert found.code == 0
    assert "gold: the 50 questions that ship with the package" in found.err
    # The id of one of them, and another question: nothing is known of what it should cite.
    asked = lines(tmp_path / "q.jsonl", {"id": demo[0].id, "question": demo[1].question})
    assert cli("answer", "--questions", asked, "--out", "b.jsonl").code == 0
    found = cli("score", "citations", "b.jsonl", "--json")
    assert "correctness alone is scored" in found.err
    assert found.json["scores"]["precision_micro"]["value"] is None
    assert found.json["scores"]["correctness_micro"]["value"] == 1.0
    gold = lines(
        tmp_path / "gold.jsonl",
        {**to_plain(demo[2]), "id": "other"},
    )
    found = cli("score", "citations", "a.jsonl", "--gold", gold)
    assert found.code == 2
    assert f"have ids such as '{demo[0].id}', and it has 'other'" in found.err


@pytest.mark.parametrize("empty", ["", " \n "])
def test_an_empty_text_has_not_responded_and_ends_no_run(
    cli: Cli, tmp_path: Path, empty: str
) -> None:
    """Two texts, one of them empty: a respond ratio and KM of 1/2, and no case lost in any score."""
    rows = [
        {
            "id": id_,
            "question": "Where?",
            "text": text,
            "answers": ["Cork"],
            "failure": "",
            "knowledge": ["Brook Mill is based in Cork."],
        }
        for id_, text in (("1", "Brook Mill is based in Cork."), ("2", empty))
    ]
    file = lines(tmp_path / "a.jsonl", *rows)
    with stand_in(by_rule) as server:
        facts = cli("score", "factscore", file, "--verifier", "overlap", *of(server), "--json")
        assert facts.code == 0, facts.err
        assert facts.json["scores"]["respond ratio"]["value"] == 0.5
        assert [bool(row["facts"]) for row in facts.json["rows"]] == [True, False]
        assert (facts.json["scores"]["F1@1"]["n"], facts.json["scores"]["F1@1"]["failed"]) == (2, 0)
        assert "1 text of a.jsonl empty" in facts.err
        for verb in (
            ("safe", file, "--verifier", "overlap"),
            ("geval", file),
            ("talec", file, "--method", "zero-shot"),
        ):
            done = cli("score", *verb, *of(server), "--json")
            assert done.code == 0, done.err
            assert [row["failure"] for row in done.json["rows"]] == [None, None]
    for name, score, value in (("knowledge", "KM", 0.5), ("answer-sets", "Hits@Any", 0.5)):
        found = cli("score", name, file, "--json")
        assert found.code == 0, found.err
        assert found.json["scores"][score]["value"] == value
    said = [{"generation": row["text"], "reference": "Cork"} for row in rows]
    pairs = cli(
        "score", "entailment", lines(tmp_path / "p.jsonl", *said), "--judge", "overlap", "--json"
    )
    assert pairs.code == 0, pairs.err
    assert pairs.json["scores"]["entailed"]["value"] == 0.5
    wrong = cli("score", "safe", lines(tmp_path / "w.jsonl", {**rows[0], "question": empty}))
    assert wrong.code == 2
    assert "an empty text came" in wrong.err
