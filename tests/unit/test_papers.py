"""The tables of the four papers from one command each, on a stand-in for a model (B16)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from error_texts import check_error, check_line
from openai_stand_in import Scripted, StandIn, ok, stand_in
from papers_runs import IDS, passage_rows, question_rows, spoken, write_lines

from graph_service.settings import Settings

GOLDEN = Path(__file__).parents[1] / "golden" / "papers"
CRITERIA = """
task: Answer a question about our cars in one paragraph.
labels:
  - name: wrong-model
    title: Wrong model
    class: unacceptable
    description: The answer speaks of another model than the question.
    shots:
      - {question: "How far?", text: The A2 goes 400 km., present: true, reason: The text says A2.}
      - {question: "How far?", text: The A1 goes 380 km., present: false, reason: It says A1.}
rules:
  - {name: too-long, title: More than 8 words, class: acceptable, measure: words, most: 8}
"""
HEADINGS = {
    "kalma": {
        "table-2": ["Metric (full score)", "General", "Specific"],
        "table-3": ["Model", "Align.", "Corr.", "Micro Prec.", "Micro Rec.", "Micro F1",
                    "Macro Prec.", "Macro Rec.", "Macro F1", "Micro Prec. without repeats†"],
        "table-4": ["Model", "Coh.", "Con.", "Flu.", "Rel."],
        "table-5": ["Removed", "Corr.", "Prec.", "Rec.", "F1"],
        "figure-4": ["Removed", "precision", "recall", "F1-Score"],
        "figure-5": ["Retrieval Accuracy", "precision", "recall", "F1Score", "correctness"],
        "table-6": ["Model", "Alignment", "Human Avg."],
        "table-7": ["Setting", "Model", "Align.", "Corr.", "Prec.", "Rec.", "F1", "Coh.", "Con.",
                    "Flu.", "Rel."],
    },
    "okgqa": {
        "table-2": ["Setting", "Model", "Context Relevance", "Comprehensiveness", "Correctness",
                    "Empowerment", "SAFE", "FactScore", "SAFE, merged†", "FactScore, merged†"],
        "figure-4": ["Query type", "Baseline", "triplets", "paths", "subgraphs"],
        "figure-6": ["Perturbation", "Level", "FS-T", "FS-P", "FS-SG"],
        "table-3": ["Round", "Naturalness", "Relevance", "Specificity", "Novelty",
                    "Actionability"],
        "table-4": ["Metric", "Kappa"],
        "table-5": ["Setting", "Context Relevance", "Comprehensiveness", "Correctness",
                    "Empowerment", "SAFE", "FactScore", "SAFE, merged†", "FactScore, merged†"],
        "table-6": ["Metric", "LLM 1 & 2"],
    },
    "ltgen": {
        "table-2": ["Set", "Long-tail Level", "WPV range", "Entities", "Relations", "Samples",
                    "avg. Turns"],
        "table-4": ["Knowledge", "Model", "QA KM", "QA eKM", "QA rKM", "Conv KM", "Conv eKM",
                    "Conv rKM", "Conv E", "Conv C", "Conv E-C"],
        "figure-3": ["Knowledge", "Long-tail Level", "QA rKM", "Conv rKM", "Conv E-C"],
        "figure-4": ["Knowledge", "Reference Triples", "QA rKM", "Conv rKM", "Conv E-C"],
        "table-5": ["Model", "QA Recall", "QA Recall (oracle)", "Conv Recall",
                    "Conv Recall (oracle)"],
        "table-a6": ["Model", "EM", "F1"],
    },
    "talec": {
        **dict.fromkeys(("table-2", "table-4", "table-6", "table-7", "table-8"),
                        ["Method", "Task", "Spearman eval", "Spearman test"]),
        **dict.fromkeys(("table-3", "table-5"),
                        ["Method", "Task", "Label", "Acc eval", "Acc test", "F1 eval", "F1 test",
                         "Precision eval", "Precision test", "Recall eval", "Recall test"]),
        "table-9": ["Task", "Spearman"],
        **{f"table-{number}": ["Method", "Task", "Label", "Spearman eval", "Spearman test",
                               "Pearson eval", "Pearson test", "Kendall eval", "Kendall test",
                               "Acc eval", "Acc test", "F1 eval", "F1 test", "Precision eval",
                               "Precision test", "Recall eval", "Recall test"]
           for number in range(10, 17)},
    },
}  # fmt: skip
"""The papers' own headings, typed from them; ours are marked †."""
FULL = {
    "kalma": ("table-3", "table-4", "figure-5", "table-7"),
    "okgqa": ("table-2", "figure-4", "figure-6", "table-5"),
    "ltgen": ("table-4", "figure-3", "figure-4", "table-5"),
    "talec": (),
}
"""Tables that have no empty cell where the set has all that they need."""


def arguments(paper: str, folder: Path) -> list[str]:
    """Writes the set of a paper, and returns the words that make its tables."""
    out = ["papers", paper, "--out", str(folder / "out"), "--model", "M"]
    if paper == "talec":
        (folder / "cars.yaml").write_text(CRITERIA)
        texts = (
            ("1", "The A1 goes far.", 0, 0, "eval"),
            ("2", "The A2 goes far.", 1, 0, "eval"),
            ("3", "The A1 goes far, " + "and far, " * 8, 0, 1, "eval"),
            ("4", "The A2 goes farther.", 1, 0, "test"),
            ("5", "The A1 goes.", 0, 0, "test"),
            ("6", "The A2 goes.", 1, 0, "train"),
        )
        rows = [
            {"id": id_, "question": "How far?", "text": text, "split": split,
             "human": {"wrong-model": wrong, "too-long": long}}
            for id_, text, wrong, long, split in texts
        ]  # fmt: skip
        write_lines(folder / "cars.jsonl", rows)
        return [*out, "--texts", str(folder / "cars.jsonl"), "--criteria",
                str(folder / "cars.yaml"), "--other-model", "N"]  # fmt: skip
    passages = write_lines(folder / "passages.jsonl", passage_rows())
    questions = write_lines(folder / "questions.jsonl", question_rows())
    out += ["--graph", "demo", "--questions", str(questions)]
    if paper == "kalma":
        # Of a fixed preset, so that what the default one learns changes nothing here.
        return [*out, "--specific", str(questions), "--preset", "okgqa", "--given-entities",
                "--strategy", "triplets", "--judge-model", "J"]  # fmt: skip
    out += ["--passages", str(passages), "--given-entities"]
    if paper == "okgqa":
        return [*out, "--levels", "0.5", "--runs", "2", "--language", "de", "--language", "en",
                "--judge-model", "J", "--judge-model", "K"]  # fmt: skip
    history = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}]
    turns = write_lines(folder / "turns.jsonl", question_rows(suffix="#1", history=history))
    references = [
        {"id": f"{row['id']}#1", "reference": f"It is {row['answers'][0]}."}
        for row in question_rows()
    ]
    return [*out, "--turns", str(turns), "--references",
            str(write_lines(folder / "references.jsonl", references))]  # fmt: skip


def tables_of(folder: Path) -> dict[str, Any]:
    """The tables that were written, by id."""
    written = json.loads((folder / "out" / "tables.json").read_text())
    return {table["id"]: table for table in written["tables"]}


def figures_of(table: dict[str, Any]) -> list[list[float | None]]:
    return [[figure["value"] for figure in row["figures"]] for row in table["rows"]]


@pytest.mark.parametrize("paper", ["kalma", "okgqa", "ltgen", "talec"])
def test_every_table_beside_the_papers_headings(demo_cli: Cli, tmp_path: Path, paper: str) -> None:
    words = arguments(paper, tmp_path)
    with stand_in(spoken) as server:
        ran = demo_cli(*words, "--model-url", server.url)
        before = len(server.requests)
        again = demo_cli(*words, "--model-url", server.url)
    assert ran.code == 0, ran.err
    assert again.code == 0
    assert len(server.requests) == before > 0
    tables = tables_of(tmp_path)
    assert {id_: [*table["labels"], *table["columns"]] for id_, table in tables.items()} == (
        HEADINGS[paper]
    )
    for id_ in FULL[paper]:
        assert None not in sum(figures_of(tables[id_]), []), id_
    for table in tables.values():
        for row in table["rows"]:
            assert all((each["value"] is None) == bool(each["reason"]) for each in row["figures"])
    made = (tmp_path / "out" / "tables.md").read_text()
    path = GOLDEN / f"{paper}.md"
    if os.environ.get("GRAPH_SERVICE_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(made)
    assert made == path.read_text()
    tex = (tmp_path / "out" / "tables.tex").read_text()
    assert tex.count(r"\begin{table}") == tex.count(r"\label{tab:") == len(tables)


def test_mean_and_standard_deviation_of_three_runs(demo_cli: Cli, tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> Scripted:
        # Only the first run says Arnold Schwarzenegger, the answer to question one-01.
        names = body.get("seed") == 0
        return ok("Arnold Schwarzenegger." if names else "I do not know.")

    questions = write_lines(tmp_path / "q.jsonl", question_rows("one-01"))
    with stand_in(reply) as server:
        ran = demo_cli("papers", "ltgen", "--graph", "demo", "--questions", str(questions),
                       "--model", "M", "--model-url", server.url, "--runs", "3", "--temperature", "0.7", "--only",
                       "table-4", "--out", "out")  # fmt: skip
    assert ran.code == 0, ran.err
    row = tables_of(tmp_path)["table-4"]["rows"][0]
    assert row["labels"] == ["No Knowledge", "M"]
    # KM is 1, 0 and 0: the mean is 1/3, the deviation sqrt((4/9 + 1/9 + 1/9) / 2) = 0.577.
    assert row["figures"][0]["value"] == pytest.approx(1 / 3)
    assert row["figures"][0]["deviation"] == pytest.approx(0.57735, abs=1e-5)
    assert row["figures"][0]["runs"] == 3
    assert "0.333 ± 0.577" in (tmp_path / "out" / "tables.md").read_text()


def test_several_runs_at_temperature_0_are_refused(demo_cli: Cli) -> None:
    ran = demo_cli(
        "papers", "ltgen", "--graph", "demo", "--model", "M", "--runs", "3", "--out", "o"
    )
    assert ran.code == 2
    check_error(ran.err)


def test_what_lacks_is_said_in_its_cells(demo_cli: Cli, tmp_path: Path) -> None:
    questions = write_lines(tmp_path / "q.jsonl", question_rows("one-01"))
    with stand_in(spoken) as server:
        shared = ["--graph", "demo", "--questions", str(questions), "--model", "M", "--model-url",
                  server.url]  # fmt: skip
        first = demo_cli("papers", "okgqa", *shared, "--out", "o", "--only", "table-2")
        second = demo_cli("papers", "ltgen", *shared, "--out", "l", "--only", "table-4")
    assert first.code == second.code == 0
    assert "table-2: 0 of 88 cells filled" in first.out
    check_line(first.out, "not available", "--passages FILE, or graph")
    check_line(first.out, "not available", "--pages", "--passages")
    # No knowledge and triples, of single questions: six cells.
    assert "table-4: 6 of 36 cells filled" in second.out
    check_line(second.out, "not available", "--turns")
    assert not server.requests or all("passages" not in path for path in server.paths)


def test_a_model_that_judges_itself_is_named(demo_cli: Cli, tmp_path: Path) -> None:
    questions = write_lines(tmp_path / "q.jsonl", question_rows("one-01"))
    with stand_in(spoken) as server:
        shared = ["papers", "kalma", "--graph", "demo", "--questions", str(questions), "--model",
                  "M", "--model-url", server.url, "--runs", "1", "--only", "table-4"]  # fmt: skip
        demo_cli(*shared, "--out", "one")
        demo_cli(*shared, "--out", "two", "--judge-model", "J")
    notes = [(tmp_path / name / "tables.md").read_text() for name in ("one", "two")]
    check_line(notes[0], "M judges")
    assert "judges its own" not in notes[1]
    assert {body["model"] for body in server.requests} == {"M", "J"}


def test_a_folder_is_of_one_set_and_one_model(demo_cli: Cli, tmp_path: Path) -> None:
    questions = write_lines(tmp_path / "q.jsonl", question_rows("one-01"))
    with stand_in(spoken) as server:
        words = ["papers", "ltgen", "--graph", "demo", "--questions", str(questions),
                 "--model-url", server.url, "--only", "table-2", "--out", "out"]  # fmt: skip
        assert demo_cli(*words, "--model", "M").code == 0
        write_lines(questions, question_rows("one-03"))
        other = demo_cli(*words, "--model", "M")
        unknown = demo_cli(*words[:-1], "other", "--model", "M", "--only", "table-9")
    assert other.code == 2
    check_error(other.err)
    assert "files.q.jsonl" in other.err
    assert unknown.code == 2
    check_error(unknown.err)


def test_replayed_without_an_endpoint(demo_cli: Cli, tmp_path: Path) -> None:
    words = [*arguments("talec", tmp_path), "--only", "table-2"]
    with stand_in(spoken) as server:
        demo_cli(*words, "--model-url", server.url)
    before = (tmp_path / "out" / "tables.json").read_bytes()
    (tmp_path / "out" / "tables.json").unlink()
    replayed = demo_cli(*words, "--replay")
    assert replayed.code == 0, replayed.err
    assert (tmp_path / "out" / "tables.json").read_bytes() == before


def test_killed_and_gone_on_with(demo_file: Path, demo_settings: Settings, tmp_path: Path) -> None:
    """SIGKILL in the middle of the answers, and again in the middle of judging."""
    from demo_graph import copy_store

    whole, broken = tmp_path / "whole", tmp_path / "broken"
    environment = {
        **os.environ,
        "OPENAI_API_KEY": "k",
        "GRAPH_SERVICE_STORE": copy_store(demo_file, tmp_path),
        "GRAPH_SERVICE_VECTORS": demo_settings.vectors,
    }

    def command(folder: Path, server: StandIn) -> list[str]:
        folder.mkdir(exist_ok=True)
        words = [*arguments("kalma", folder), "--runs", "1", "--only", "table-3", "--only",
                 "table-4"]  # fmt: skip
        return [sys.executable, "-m", "graph_service.cli", *words, "--model-url", server.url]

    with stand_in(spoken) as server:
        subprocess.run(command(whole, server), env=environment, capture_output=True, check=True)
        total = len(server.requests)
    assert total > 12
    for stop in (2, total - 3):
        released = threading.Event()

        def reply(body: dict[str, Any], stop: int = stop, hold: Any = released) -> Scripted:
            if len(server.answered) >= stop and not hold.is_set():
                hold.wait(600)
            return spoken(body)

        folder = broken / str(stop)
        folder.mkdir(parents=True)
        with stand_in(reply) as server:
            process = subprocess.Popen(
                command(folder, server),
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            waited = time.monotonic() + 600
            while len(server.requests) <= stop:
                assert time.monotonic() < waited
                assert process.poll() is None
                time.sleep(0.005)
            process.kill()
            process.wait()
            released.set()
            before = len(server.requests)
            subprocess.run(
                command(folder, server), env=environment, capture_output=True, check=True
            )
            # What was under way when it was killed is asked again, and nothing else.
            assert len(server.requests) == total + 1
            assert before == stop + 1
        made = [(each / "out" / "tables.md").read_text() for each in (whole, folder)]
        assert made[0] == made[1]


def test_the_sets_have_the_questions_of_the_demo() -> None:
    assert [row["id"] for row in question_rows()] == list(IDS)
