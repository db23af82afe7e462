"""Runs of experiments: one process for all cells, the same bytes after any end (B4, S7)."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from demo_graph import copy_store
from error_texts import check_line, raises
from experiment_runs import PLAN, files, run_into, written
from openai_stand_in import HeldOnce, Scripted, by_rule, ok, stand_in

from graph_service import Service
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.settings import Settings
from queries.experiment.opening import open_experiment
from queries.experiment.plan_file import read_plan
from queries.experiment.runner import ANSWERS_NAME, TIMINGS_NAME, read_cell_answers
from queries.experiment.scoring import SCORES, SCORES_NAME
from queries.score.fact_check import NO_EVIDENCE


def test_any_cut_and_any_number_of_workers_end_in_the_same_bytes_b4(
    demo_service: Service, tmp_path: Path
) -> None:
    plan = written(tmp_path)
    whole = tmp_path / "whole"
    # 2 cells without knowledge, 2 of the base, 2 of the view.
    assert run_into(whole, plan, demo_service) == 6 * 4
    expected = files(whole)
    cells = list(dict.fromkeys(one.cell for one in read_cell_answers(whole / ANSWERS_NAME)))
    assert cells[0] == "demo/no-knowledge/verbaliser"
    assert cells[-1] == "demo/edge-deletion/0.5/0/paths/default/extractive"
    assert run_into(tmp_path / "four", plan, demo_service, workers=4) == 24
    assert files(tmp_path / "four") == expected
    assert len((whole / TIMINGS_NAME).read_bytes().splitlines()) == 24
    draw = random.Random(3)
    for workers in (1, 3):
        cut = tmp_path / f"cut-{workers}"
        shutil.copytree(whole, cut)
        kept = draw.randrange(1, len(expected[ANSWERS_NAME]))
        (cut / ANSWERS_NAME).write_bytes(expected[ANSWERS_NAME][:kept])
        lines = expected[ANSWERS_NAME][:kept].count(b"\n")
        assert run_into(cut, plan, demo_service, workers=workers) == 24 - lines
        assert files(cut) == expected
    assert run_into(whole, plan, demo_service) == 0
    assert files(whole) == expected


def test_another_plan_or_graph_is_refused_line_by_line_b4(
    own_service: Service, tmp_path: Path
) -> None:
    plan = written(tmp_path)
    run_into(tmp_path / "out", plan, own_service)
    written(tmp_path, PLAN.replace("0.5", "0.4").replace("first: 4", "first: 5"))
    with pytest.raises(InputError) as caught:
        run_into(tmp_path / "out", plan, own_service)
    told = caught.value.message.splitlines()
    check_line(told[2], "plan.views[0].specs[0].level", "0.5", "0.4")
    check_line(told[1], "plan.questions[0].first", "4", "5")
    written(tmp_path, PLAN + "budget: {requests: 5}\nstatistics: {resamples: 50}\n")
    assert run_into(tmp_path / "out", plan, own_service) == 0, "these change no answer"
    written(tmp_path)
    with (tmp_path / "questions.jsonl").open("a") as file:
        file.write('{"id": "new", "question": "Who?"}\n')
    with pytest.raises(InputError, match=r"questions\.questions\.jsonl: "):
        run_into(tmp_path / "out", plan, own_service)
    written(tmp_path)
    lock = json.loads((tmp_path / "out" / "plan.lock.json").read_bytes())
    lock["graphs"]["demo"]["edges"] = "0" * 48
    (tmp_path / "out" / "plan.lock.json").write_text(json.dumps(lock))
    with raises(InputError):
        run_into(tmp_path / "out", plan, own_service)


def test_lines_of_another_run_are_refused(demo_service: Service, tmp_path: Path) -> None:
    plan = written(tmp_path)
    run_into(tmp_path / "out", plan, demo_service)
    path = tmp_path / "out" / ANSWERS_NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join((lines[1], lines[0])))
    with raises(InputError):
        run_into(tmp_path / "out", plan, demo_service)
    path.write_text("{}\n")
    with raises(InputError):
        run_into(tmp_path / "out", plan, demo_service)


LINKED = "entities: linked\n"
METHODS = "[ed, rr, {method: names, naming: gone}]"


def test_what_a_view_leaves_of_the_gold_is_in_every_line(
    demo_service: Service, tmp_path: Path
) -> None:
    plan = written(tmp_path, PLAN.replace("[ed]", METHODS).replace("[0.5]", "[1.0]") + LINKED)
    run_into(tmp_path / "out", plan, demo_service)
    fates: dict[str, set[Any]] = {}
    linked: dict[str, int] = {}
    for one in read_cell_answers(tmp_path / "out" / ANSWERS_NAME):
        fates.setdefault(one.cell.split("/")[1], set()).add(one.fate)
        if one.answer.result is not None:
            linked[one.cell.split("/")[1]] = len(one.answer.result.linked)
    assert fates["no-knowledge"] == {None}
    assert fates["base"] == {"kept"}
    # Dates are no entities, and stay whatever the level is.
    assert fates["edge-deletion"] == {"lost", "kept"}
    assert fates["relation-replacement"] == {"changed", "kept"}
    # Every statement stays, and no question is linked any more.
    assert fates["names"] == {"kept"}
    assert linked["base"] > linked["names"] == 0


def test_each_question_has_a_view_of_its_own_that_aims_at_it_b3(
    demo_service: Service, tmp_path: Path
) -> None:
    aimed = PLAN.replace(
        "methods: [ed]\nlevels: [0.5]",
        "methods:\n"
        "- {method: ed, each_question: gold, levels: [1.0]}\n"
        "- {method: contradiction, each_question: gold, levels: [1.0]}\n"
        "- {method: ed, name: around, each_question: entities, counts: [1]}\n"
        "- {method: names, each_question: entities, scope: {hops: 0}, levels: [1.0]}",
    )
    plan = written(tmp_path, aimed)
    lines = (tmp_path / "questions.jsonl").read_text().splitlines()
    bare = {**json.loads(lines[0]), "id": "bare", "statement_ids": [], "alternatives": []}
    (tmp_path / "questions.jsonl").write_text("\n".join([json.dumps(bare), *lines]) + "\n")
    opened = open_experiment(read_plan(plan, scores=SCORES), Client.over(demo_service))
    assert opened.left_out == {"demo": ("bare",)}
    run_into(tmp_path / "out", plan, demo_service)
    fates: dict[str, list[Any]] = {}
    views: dict[str, set[str]] = {}
    for one in read_cell_answers(tmp_path / "out" / ANSWERS_NAME):
        fates.setdefault(one.cell, []).append(one.fate)
        if one.answer.result is not None:
            views.setdefault(one.cell, set()).add(str(one.answer.result.provenance.view_id))
    deleted, beside, around, misspelt = (
        f"demo/{name}/paths/default/extractive"
        for name in ("edge-deletion/1/0", "contradiction/1/0", "around/n1/0", "names/1/0")
    )
    assert len(fates[deleted]) == 3, "of four questions one has no gold"
    assert len(views[deleted]) == len(views[around]) == 3
    dates = sum(fate == "kept" for fate in fates[deleted])
    assert fates[deleted].count("lost") == 3 - dates > 0
    assert set(fates[beside]) == set(fates[misspelt]) == {"kept"}
    assert len(views[misspelt]) == 3


MODEL_PLAN = PLAN + "models: [{name: m, url: URL}]\n"


def test_killed_with_sigkill_it_asks_nothing_twice_and_ends_in_the_same_bytes_b4(
    demo_file: Path, demo_settings: Settings, demo_cli: Cli, tmp_path: Path
) -> None:
    held = HeldOnce(by_rule, index=5)
    with stand_in(held) as server:
        plan = written(tmp_path, MODEL_PLAN.replace("URL", f'"{server.url}"'))
        store = copy_store(demo_file, tmp_path)
        command = ["experiment", "run", str(plan), "--store", store]
        environment = {
            **os.environ,
            "OPENAI_API_KEY": "k",
            "GRAPH_SERVICE_VECTORS": demo_settings.vectors,
        }
        process = subprocess.Popen(
            [sys.executable, "-m", "graph_service.cli", *command, "--out", "killed"],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert held.begun.wait(600)
        process.kill()
        process.wait()
        held.go.set()
        written_before = (tmp_path / "killed" / ANSWERS_NAME).read_bytes()
        assert 0 < written_before.count(b"\n") < 12
        os.environ["OPENAI_API_KEY"] = "k"
        assert demo_cli(*command, "--out", "killed", "--workers", "3").code == 0
    different = {json.dumps(request, sort_keys=True) for request in server.requests}
    # The one that was under way when it was killed may come again.
    assert len(server.requests) - len(different) <= 1
    (tmp_path / "whole").mkdir()
    shutil.copyfile(tmp_path / "killed" / "replies.db", tmp_path / "whole" / "replies.db")
    assert demo_cli(*command, "--out", "whole", "--replay").code == 0
    assert files(tmp_path / "killed") == files(tmp_path / "whole")


JUDGED_PLAN = """graphs: [demo]
questions: {file: questions.jsonl, first: 2}
methods: [{method: ed, each_question: gold, levels: [1.0]}]
retrieval: {max_hops: 1}
answers: verbaliser
judges:
- {score: talec, model: j, url: "URL", division: labels, method: zero-shot}
- {score: geval, model: j, url: "URL"}
- {score: alignment, model: k, url: "URL"}
"""


def test_judges_score_every_answer_once_within_a_budget_b4(
    demo_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("GRAPH_SERVICE_READ_TIMEOUT_S", "300")
    with stand_in(by_rule) as server:
        text = JUDGED_PLAN.replace("URL", server.url)
        written(tmp_path, text + "budget: {requests: 9}\n")
        planned = demo_cli("experiment", "plan", "plan.yaml")
        assert planned.code == 0, planned.err
        assert not server.requests
        first = demo_cli("experiment", "run", "plan.yaml", "--out", "out")
        assert first.code == 6
        assert "may send 9 requests" in first.err
        assert not (tmp_path / "out" / SCORES_NAME).exists()
        written(tmp_path, text)
        assert demo_cli("experiment", "run", "plan.yaml", "--out", "out").code == 0
        asked = [json.dumps(request, sort_keys=True) for request in server.requests]
        assert len(asked) == len(set(asked)), "a reply that is kept is not asked for again"
        # Of each answer one request for all labels, three runs of four qualities (one of them only
        # where there is knowledge), and one for each pair of sentence and citation.
        lines = [
            json.loads(line) for line in (tmp_path / "out" / SCORES_NAME).read_text().splitlines()
        ]
        by_name: dict[str, list[float | None]] = {}
        for line in lines:
            by_name.setdefault(line["score"], []).append(line["value"])
        answers = len(by_name["f1"])
        assert answers == 3 * 2
        assert len(by_name["talec"]) == len(by_name["alignment"]) == answers
        assert set(by_name["geval_fluency"]) == {3.0}, "the rule takes the middle of 1 to 5"
        assert set(by_name["alignment"]) <= {None, 0.0, 1.0}
        found = re.search(r"up to ([\d,]+) requests to judges: about ([\d,]+) tokens", planned.out)
        assert found is not None
        most = int(found[1].replace(",", ""))
        # Equal texts of two cells are judged once, and an answer on the view has fewer citations.
        assert len(asked) <= most <= 3 * len(asked)
        scores = (tmp_path / "out" / SCORES_NAME).read_bytes()
    (tmp_path / "again").mkdir()
    shutil.copyfile(tmp_path / "out" / "replies.db", tmp_path / "again" / "replies.db")
    replayed = demo_cli(
        "experiment", "run", "plan.yaml", "--out", "again", "--replay", "--workers", "3"
    )
    assert replayed.code == 0, replayed.err
    assert (tmp_path / "again" / SCORES_NAME).read_bytes() == scores
    report = demo_cli("experiment", "report", "plan.yaml", "--out", "out", "--no-figures")
    assert report.code == 0
    assert "## TALEC score, 0 to 2" in (tmp_path / "out" / "report.md").read_text()


FACTS_PLAN = """graphs: [demo]
questions: {file: questions.jsonl, first: 2}
methods: [{method: ed, each_question: gold, levels: [1.0]}]
retrieval: {max_hops: 1}
answers: verbaliser
judges:
- {score: factscore, model: j, url: "URL"PASSAGES}
- {score: safe, model: j, url: "URL"PASSAGES}
"""


def by_evidence(body: dict[str, Any]) -> Scripted:
    """Every sentence is a fact; it is supported where the evidence names who is married to whom."""
    asked = body["messages"][-1]["content"]
    stated = re.findall(r"^(?:Sentence|Statement): (.+)$", asked, re.MULTILINE)[-1]
    system = body["messages"][0]["content"]
    if asked.startswith("Evidence:"):
        known = "Arnold Schwarzenegger" in asked.partition("Statement:")[0]
        return ok(f"[[{'' if known else 'un'}supported]]")
    if "atomic facts" in system:
        return ok("none" if "NA" in stated else f"- {stated}\n- Snow is black.")
    return ok("[[relevant]]" if "[[relevant]]" in system else stated)


@pytest.mark.parametrize("given", [True, False], ids=["passages", "triples"])
def test_facts_are_checked_against_passages_or_what_was_retrieved_o9(
    given: bool, demo_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with stand_in(by_evidence) as server:
        text = FACTS_PLAN.replace("URL", server.url)
        written(tmp_path, text.replace("PASSAGES", ", passages: p.jsonl" if given else ""))
        questions = [
            json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()
        ]
        husband, other = (one["id"] for one in questions[:2])
        passage = {"id": husband, "passages": ["Arnold Schwarzenegger and Maria Shriver married."]}
        (tmp_path / "p.jsonl").write_text(json.dumps(passage) + "\n")
        planned = demo_cli("experiment", "plan", "plan.yaml")
        assert not server.requests
        assert demo_cli("experiment", "run", "plan.yaml", "--out", "out").code == 0
    found: dict[tuple[str, str, str], Any] = {}
    for line in (tmp_path / "out" / SCORES_NAME).read_text().splitlines():
        one = json.loads(line)
        said = one["why"] if one["value"] is None else one["value"]
        found[one["score"], one["cell"].split("/")[1], one["question"]] = said
    for score in ("factscore", "safe"):
        # Of two facts of the sentence one is supported: no evidence shares a word with snow.
        assert found[score, "base", husband] == 0.5
        assert found[score, "base", other] == (NO_EVIDENCE if given else 0.0)
        assert found[score, "no-knowledge", husband] == (0.0 if given else NO_EVIDENCE)
    # Of a sentence with evidence FActScore asks 2 times (its fact, whether that is supported), and
    # SAFE 7 times (that it stands alone, whether it bears on the question, three searches beside);
    # without evidence each asks once. 2 + 7 + 1 + 1 in three cells; else 4 + 18 + 18.
    check_line(planned.out, f"{33 if given else 40} requests")
    scores = (tmp_path / "out" / SCORES_NAME).read_bytes()
    (tmp_path / "again").mkdir()
    shutil.copyfile(tmp_path / "out" / "replies.db", tmp_path / "again" / "replies.db")
    replay = ("experiment", "run", "plan.yaml", "--out", "again", "--replay", "--workers", "3")
    assert demo_cli(*replay).code == 0
    assert (tmp_path / "again" / SCORES_NAME).read_bytes() == scores


def test_a_budget_ends_a_run_that_can_go_on(
    demo_cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with stand_in(by_rule) as server:
        text = MODEL_PLAN.replace("URL", f'"{server.url}"') + "answers: verbaliser\n"
        written(tmp_path, text + "budget: {requests: 3}\n")
        first = demo_cli("experiment", "run", "plan.yaml", "--out", "out")
        assert first.code == 6
        assert "may send 3 requests" in first.err
        assert len(server.requests) == 3
        assert 0 < (tmp_path / "out" / ANSWERS_NAME).read_bytes().count(b"\n") < 24
        written(tmp_path, text)
        expected = demo_cli("experiment", "plan", "plan.yaml", "--out", "out", "--json").json
        assert expected["expected"]["answers"] == 24
        assert expected["expected"]["done"] > 0
        assert demo_cli("experiment", "run", "plan.yaml", "--out", "out").code == 0
    assert (tmp_path / "out" / ANSWERS_NAME).read_bytes().count(b"\n") == 24
