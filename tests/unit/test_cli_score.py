"""score from the command line: files in, figures out, faults named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from cli_runs import Cli
from demo_graph import copy_store
from error_texts import check_error, check_line, check_text
from openai_stand_in import by_rule, ok, stand_in
from scoring_files import judged_by, write_lines

from graph_service.model.serialise import to_plain
from queries.datasets.demo_set import demo_questions

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


def test_agreement_of_raters_o14(cli: Cli, tmp_path: Path) -> None:
    file = write_lines(
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
    file = write_lines(tmp_path / "r.jsonl", *rows)
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
    file = write_lines(tmp_path / "p.jsonl", *pairs)
    for name, verdicts in (("a", "EENN"), ("b", "EEEN")):
        words = {"E": "[[entailment]]", "N": "[[neutral]]"}
        with stand_in(*(ok(words[verdict]) for verdict in verdicts)) as server:
            out = ("--out", f"{name}.jsonl")
            assert (
                cli("score", "entailment", file, "--judge", "model", *out, *judged_by(server)).code
                == 0
            )
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
    file = write_lines(
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
    file = write_lines(
        tmp_path / "a.jsonl",
        {"id": "1", "text": "", "named": ["Roma", "Oslo"], "answers": [["Rome", "Roma"]]},
        {"id": "2", "text": "[NA]", "answerable": False, "targets": ["Oslo"], "errors": True},
        {"id": "3", "text": "In Oslo."},
    )
    gold = write_lines(tmp_path / "g.jsonl", {"id": "3", "question": "Where?", "answers": ["Oslo"]})
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
    bare = write_lines(tmp_path / "b.jsonl", {"id": "3", "text": "In Oslo."})
    wrong = cli("score", "answer-sets", bare)
    assert (wrong.code, "can be scored" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("what", "row"),
    [
        ("answer-sets", {"text": "x", "errors": 1}),
        ("agreement", {"ratings": [1]}),
        ("knowledge", {"id": 1, "text": 3}),
        ("knowledge", {"text": "x", "answers": [3]}),
        ("entailment", {"premise": "x"}),
        ("entailment", {"premise": "x", "hypothesis": "y", "label": "no"}),
        ("citations", {"id": 1}),
    ],
)
def test_bad_files_are_told_by_line_and_field(
    cli: Cli, tmp_path: Path, what: str, row: object
) -> None:
    done = cli("score", what, write_lines(tmp_path / "bad.jsonl", row))
    assert done.code == 2
    check_text(done.err)
    assert "Traceback" not in done.err


def test_pairs_by_word_overlap_and_by_a_model(cli: Cli, tmp_path: Path) -> None:
    pairs = [
        {"id": "1", "premise": "Ada was born in Rome.", "hypothesis": "born in Rome", "label": "entailment"},
        {"id": "2", "generation": "Ada sang.", "reference": "Ada was born in Rome.", "label": "neutral"},
    ]  # fmt: skip
    file = write_lines(tmp_path / "p.jsonl", *pairs)
    found = cli("score", "entailment", file, "--json").json
    assert found["scores"]["AUROC of entailed"]["value"] == 1.0
    with stand_in(ok("Yes. [[entailment]]"), ok("No. [[contradiction]]")) as server:
        judged = cli("score", "entailment", file, "--judge", "model", *judged_by(server), "--json")
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
    file = write_lines(tmp_path / "p.jsonl", *pairs)
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
    unlabelled = write_lines(tmp_path / "u.jsonl", {"premise": "a", "hypothesis": "a"})
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
    file = write_lines(tmp_path / "c.jsonl", case)
    with stand_in(ok("- Ada sang.")) as server:
        run = ("score", "factscore", file, "--verifier", "overlap", *judged_by(server), "--json")
        found = cli(*run)
    assert found.code == 0
    assert "no model's judgement" in found.err
    assert "no model's judgement" in found.json["notes"][0]


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"\n\n",
        b"not json\n",
        b"[1]\n",
        b'\n{"id": "1"}\n',
    ],
)
@pytest.mark.parametrize(
    "verb",
    ["citations", "na", "entailment", "knowledge", "factscore", "geval", "talec", "agreement"],
)
def test_bad_files_are_told_with_line_and_field(
    cli: Cli, tmp_path: Path, verb: str, data: bytes | None
) -> None:
    if data is not None:
        Path("x.jsonl").write_bytes(data)
    absent = write_lines(tmp_path / "absent.jsonl", {"id": "1", "absent": []})
    more = ("--absent", absent) if verb == "na" else ()
    found = cli("score", verb, "x.jsonl", *more)
    assert found.code == 2
    check_text(found.err)
    assert "Errno" not in found.err


def test_packed_answers_and_gold_are_scored_as_they_are(
    cli: Cli, demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))
    gold = write_lines(tmp_path / "gold.jsonl", *(to_plain(item) for item in demo_questions()[:2]))
    assert cli("answer", "--questions", gold, "--out", "a.jsonl").code == 0
    for name in ("a.jsonl", "gold.jsonl"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes()))
    plain = cli("score", "citations", "a.jsonl", "--gold", "gold.jsonl")
    assert plain.code == 0
    packed = cli("score", "citations", "a.jsonl.gz", "--gold", "gold.jsonl.gz")
    assert packed.out == plain.out


def test_talec_judges_compares_lints_and_exports_t1_to_t8(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(CRITERIA)
    file = write_lines(
        tmp_path / "t.jsonl",
        {"id": "1", "question": "Who?", "text": "Ada.", "human": {"wrong": False, "long": 0}, "split": "eval"},
        {"id": "2", "question": "Who?", "text": "Eva.", "human": {"wrong": True, "long": 0}, "split": "eval",
         "reasons": {"wrong": "It was Ada."}},
        {"id": "3", "question": "Who?", "text": "Ida.", "split": "test"},
    )  # fmt: skip
    own = ("--criteria", "own.yaml")
    with stand_in(ok("[[B]]")) as server:
        first = cli("score", "talec", file, *own, "--method", "zero-shot", "--split", "eval",
                    "--out", "one.jsonl", *judged_by(server), "--json")  # fmt: skip
        assert len(server.requests) == 2
    assert first.code == 0, first.err
    assert first.json["scores"]["wrong: accuracy"]["value"] == 0.5
    with stand_in(ok("[[B]]"), ok("[[A]]")) as server:
        second = cli("score", "talec", file, *own, "--method", "few-shot", "--split", "eval",
                     "--out", "two.jsonl", *judged_by(server))  # fmt: skip
    assert "Spearman with people" in second.out
    compared = cli("score", "compare", "one.jsonl", "two.jsonl", *own)
    assert compared.code == 0, compared.err
    assert "2 wrong: 0 -> 1 (people: 1, better)" in compared.out
    assert "+0.500" in compared.out
    check_text(cli("score", "lint", "own.yaml").out, "own.yaml", "3", "1 labels")
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
    check_line(empty.err, "empty.jsonl")
    demo = demo_questions()
    asked = write_lines(tmp_path / "q.jsonl", {"id": demo[0].id, "question": demo[0].question})
    assert cli("answer", "--questions", asked, "--out", "a.jsonl").code == 0
    found = cli("score", "citations", "a.jsonl")
    assert found.code == 0
    check_line(found.err, "50 questions")
    # The id of one of them, and another question: nothing is known of what it should cite.
    asked = write_lines(tmp_path / "q.jsonl", {"id": demo[0].id, "question": demo[1].question})
    assert cli("answer", "--questions", asked, "--out", "b.jsonl").code == 0
    found = cli("score", "citations", "b.jsonl", "--json")
    check_line(found.err, "correctness alone")
    assert found.json["scores"]["precision_micro"]["value"] is None
    assert found.json["scores"]["correctness_micro"]["value"] == 1.0
    gold = write_lines(
        tmp_path / "gold.jsonl",
        {**to_plain(demo[2]), "id": "other"},
    )
    found = cli("score", "citations", "a.jsonl", "--gold", gold)
    assert found.code == 2
    check_line(found.err, demo[0].id, "'other'")


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
    file = write_lines(tmp_path / "a.jsonl", *rows)
    with stand_in(by_rule) as server:
        facts = cli(
            "score", "factscore", file, "--verifier", "overlap", *judged_by(server), "--json"
        )
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
            done = cli("score", *verb, *judged_by(server), "--json")
            assert done.code == 0, done.err
            assert [row["failure"] for row in done.json["rows"]] == [None, None]
    for name, score, value in (("knowledge", "KM", 0.5), ("answer-sets", "Hits@Any", 0.5)):
        found = cli("score", name, file, "--json")
        assert found.code == 0, found.err
        assert found.json["scores"][score]["value"] == value
    said = [{"generation": row["text"], "reference": "Cork"} for row in rows]
    pairs = cli(
        "score",
        "entailment",
        write_lines(tmp_path / "p.jsonl", *said),
        "--judge",
        "overlap",
        "--json",
    )
    assert pairs.code == 0, pairs.err
    assert pairs.json["scores"]["entailed"]["value"] == 0.5
    wrong = cli("score", "safe", write_lines(tmp_path / "w.jsonl", {**rows[0], "question": empty}))
    assert wrong.code == 2
    assert "an empty text came" in wrong.err
