"""An experiment as a deposit: packed, checked, run again, compared to the byte (B18)."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import orjson
import pytest
from cli_runs import Cli
from demo_graph import copy_store
from error_texts import check_line
from experiment_runs import PLAN, written
from openai_stand_in import Scripted, ok, stand_in

from graph_service.cli import main
from graph_service.settings import SETTINGS, Settings

LICENCE = "https://creativecommons.org/licenses/by/4.0/"
MODEL = """models: [{{name: stand-in, url: "{url}", settings: answer-list}}]
answers: [verbaliser, extractive]
"""
RUN = "run/answers.jsonl"
Pack = Callable[..., Path]


def reply(body: dict[str, object]) -> Scripted:
    return ok("<answers>\nAurelia Schwarzenegger\n</answers>")


@pytest.fixture(scope="module")
def made_run(
    demo_file: Path, demo_settings: Settings, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A run with its report, beside whose plan's folder the questions lie."""
    root = tmp_path_factory.mktemp("deposit")
    (root / "plans").mkdir()
    written(root)
    plan = root / "plans" / "plan.yaml"
    text = PLAN.replace("file: questions", "file: ../questions")
    with pytest.MonkeyPatch.context() as patch, stand_in(reply) as server:
        for row in SETTINGS:
            patch.delenv(row.variable, raising=False)
        patch.setenv("GRAPH_SERVICE_VECTORS", demo_settings.vectors)
        patch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, root))
        plan.write_text(text + MODEL.format(url=server.url))
        out = ("--out", str(root / "run"))
        assert main(("experiment", "run", str(plan), *out)) == 0
        assert main(("experiment", "report", str(plan), *out, "--no-figures")) == 0
    return root


@pytest.fixture
def packed(made_run: Path, demo_cli: Cli, tmp_path: Path) -> Pack:
    """Packs a copy of the run, which lies in the test's folder."""
    shutil.copytree(made_run / "run", tmp_path / "run")
    shutil.copytree(made_run / "plans", tmp_path / "plans")
    shutil.copy(made_run / "questions.jsonl", tmp_path)

    def pack(*options: str) -> Path:
        words = ("experiment", "pack", "plans/plan.yaml", "--out", "run", "--to", "run.zip")
        made = demo_cli(*words, "--licence", LICENCE, *options)
        assert made.code == 0, made.err
        return tmp_path / "run.zip"

    return pack


def rewritten(archive: Path, name: str, data: bytes | None) -> Path:
    """Writes an archive in which a file has other bytes, or is not there."""
    other = archive.with_name("other.zip")
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(other, "w") as target:
        for entry in source.namelist():
            if entry != name:
                target.writestr(entry, source.read(entry))
        if data is not None:
            target.writestr(name, data)
    return other


def relisted(archive: Path, name: str, data: bytes) -> Path:
    """Writes an archive in which a file has other bytes and the SHA-256 of these."""
    other = rewritten(archive, name, data)
    with zipfile.ZipFile(other) as opened:
        crate = json.loads(opened.read("ro-crate-metadata.json"))
    for entity in crate["@graph"]:
        if entity["@id"] == name:
            entity["sha256"] = hashlib.sha256(data).hexdigest()
    return rewritten(other.replace(archive), "ro-crate-metadata.json", orjson.dumps(crate))


def test_a_run_is_made_again_from_its_deposit_to_the_byte(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    archive = packed()
    with zipfile.ZipFile(archive) as opened:
        names = set(opened.namelist())
        answers = opened.read(RUN)
        plan = opened.read("plan/plans/plan.yaml")
    assert {"plan/questions.jsonl", "run/replies.db", "prompts/answer-list.txt"} <= names
    assert plan == (tmp_path / "plans" / "plan.yaml").read_bytes()
    # The stand-in is gone: replies come of the deposit.
    made = demo_cli("experiment", "unpack", str(archive), "--out", "again")
    assert made.code == 0, made.err
    lines = made.out.splitlines()
    assert lines[0] == f"answers.jsonl: equal, {len(answers.splitlines())} lines"
    assert [line.partition(":")[0] for line in lines] == [
        "answers.jsonl", "views.jsonl", "scores.jsonl", "conditions.csv", "curves.csv", "parts.csv",
        "comparisons.csv", "views.csv", "tables.tex",
    ]  # fmt: skip
    assert all(": equal, " in line for line in lines)
    assert (tmp_path / "again" / "again" / "answers.jsonl").read_bytes() == answers
    assert b"stand-in+answer-list" in answers


def test_another_reply_and_another_answer_are_named(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    archive = packed()
    with zipfile.ZipFile(archive) as opened:
        lines = opened.read(RUN).splitlines(True)
    changed = [*lines[:5], lines[5].replace(b'"fate"', b'"fate" '), *lines[6:]]
    assert changed != lines
    other = relisted(archive, RUN, b"".join(changed))
    made = demo_cli("experiment", "unpack", str(other), "--out", "again", "--json")
    assert made.code == 1
    first, *rest = made.json["files"]
    assert first == {
        "name": "answers.jsonl",
        "lines": len(lines),
        "equal": len(lines) - 1,
        "first_difference": 6,
    }
    assert all(row["first_difference"] is None for row in rest)


def test_deltas_are_the_changes_of_each_view(packed: Pack, demo_cli: Cli, tmp_path: Path) -> None:
    archive = packed()
    with zipfile.ZipFile(archive) as opened:
        deltas = [json.loads(line) for line in opened.read("views/deltas.jsonl").splitlines()]
        views = [json.loads(line) for line in opened.read("run/views.jsonl").splitlines()]
    # Half of the edges go, and nothing comes.
    assert len(deltas) == views[0]["changed"]
    assert {(line["graph"], line["view"]) for line in deltas} == {("demo", "edge-deletion/0.5/0")}
    assert all(set(line) == {"graph", "view", "gone"} for line in deltas)
    assert len({line["gone"] for line in deltas}) == len(deltas)


def test_the_same_run_is_packed_into_the_same_bytes(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    archive = packed("--published", "2026-11-27")
    first = archive.read_bytes()
    packed("--published", "2026-11-27")
    assert archive.read_bytes() == first


def test_the_fields_of_responsible_ai_are_the_authors(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "rai.yaml").write_text("biases: films of one language\nsocial_impact: none known\n")
    archive = packed("--responsible", "rai.yaml", "--creator", "Ada")
    with zipfile.ZipFile(archive) as opened:
        croissant = json.loads(opened.read("croissant.json"))
    assert croissant["rai:dataBiases"] == ["films of one language"]
    assert croissant["rai:dataSocialImpact"] == "none known"
    assert "rai:personalSensitiveInformation" not in croissant
    assert croissant["creator"] == [{"@type": "sc:Person", "name": "Ada"}]
    words = ("experiment", "pack", "plans/plan.yaml", "--out", "run", "--to", "run.zip")
    (tmp_path / "rai.yaml").write_text("bias: none\n")
    wrong = demo_cli(*words, "--licence", LICENCE, "--responsible", "rai.yaml")
    assert wrong.code == 2
    assert "rai.yaml, line 1" in wrong.err
    wrong = demo_cli(*words, "--licence", LICENCE, "--published", "yesterday")
    assert wrong.code == 2
    check_line(wrong.err, "2026-11-27")


def test_what_was_altered_or_is_missing_is_refused(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    archive = packed()
    words = ("--out", "again")
    for name, data, message in [
        (RUN, b"{}\n", f"{RUN} was altered: sha256 "),
        ("plan/questions.jsonl", None, "plan/questions.jsonl is missing"),
        ("run/more.txt", b"", "run/more.txt is not listed in ro-crate-metadata.json"),
        ("ro-crate-metadata.json", b"{", "is no deposit of an experiment: ro-crate-metadata.json"),
        ("ro-crate-metadata.json", None, "is no deposit of an experiment"),
    ]:
        other = rewritten(archive, name, data)
        made = demo_cli("experiment", "unpack", str(other), *words)
        assert made.code == 2
        assert message in made.err
    made = demo_cli("experiment", "unpack", "plans/plan.yaml", *words)
    assert made.code == 2
    check_line(made.err, "no deposit")


def test_no_file_of_a_deposit_leads_out_of_the_folder(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    archive = packed()
    other = rewritten(archive, "a/../../evil.txt", b"evil")
    with zipfile.ZipFile(other) as opened:
        crate = json.loads(opened.read("ro-crate-metadata.json"))
    sha256 = hashlib.sha256(b"evil").hexdigest()
    crate["@graph"].append({"@id": "a/../../evil.txt", "@type": "File", "sha256": sha256})
    evil = rewritten(other.replace(archive), "ro-crate-metadata.json", orjson.dumps(crate))
    made = demo_cli("experiment", "unpack", str(evil), "--out", "again")
    assert made.code == 2
    check_line(made.err, "leads out")
    assert not list(tmp_path.rglob("evil.txt"))


def test_a_plan_of_a_deposit_reads_no_file_outside_of_it(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    archive = packed()
    with zipfile.ZipFile(archive) as opened:
        plan = opened.read("plan/plans/plan.yaml")
    for outside in (str(tmp_path / "questions.jsonl"), "../../../questions.jsonl"):
        changed = plan.replace(b"../questions.jsonl", outside.encode())
        assert changed != plan
        other = relisted(packed(), "plan/plans/plan.yaml", changed)
        made = demo_cli("experiment", "unpack", str(other), "--out", "again")
        assert made.code == 2, made.err
        check_line(made.err, "questions.jsonl")


def test_another_version_and_another_graph_are_refused(
    packed: Pack, demo_cli: Cli, cli: Cli, tmp_path: Path
) -> None:
    archive = packed()
    words = ("experiment", "unpack", str(archive), "--out", "again")
    (tmp_path / "small.nt").write_text("<http://e/a> <http://e/b> <http://e/c> .\n")
    load = ("load", "small.nt", "--store", "sqlite:///small.db")
    for graph, message in [
        ("other", "needs graph 'demo', which is not in the store"),
        ("demo", "graph 'demo' is not the one of "),
    ]:
        assert cli(*load, "--graph", graph).code == 0
        made = demo_cli(*words, "--store", "sqlite:///small.db")
        assert made.code == 2
        assert message in made.err
    with zipfile.ZipFile(archive) as opened:
        lock = json.loads(opened.read("run/plan.lock.json"))
    lock["versions"]["graph_service"] = "0.0.7"
    other = relisted(archive, "run/plan.lock.json", orjson.dumps(lock))
    made = demo_cli("experiment", "unpack", str(other), "--out", "again")
    assert made.code == 2
    check_line(made.err, "0.0.7")
    assert "pip install 'graph-service==0.0.7'" in made.err


def test_a_folder_with_other_files_stays_as_it_is(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    archive = packed()
    answers = (tmp_path / "run" / "answers.jsonl").read_bytes()
    (tmp_path / "again").mkdir()
    (tmp_path / "again" / "notes.txt").write_text("mine")
    for folder in (".", "run"):
        made = demo_cli("experiment", "unpack", str(archive), "--out", folder)
        assert made.code == 2
        check_line(made.err, folder)
    assert (tmp_path / "again" / "notes.txt").read_text() == "mine"
    assert (tmp_path / "run" / "answers.jsonl").read_bytes() == answers


def test_a_plan_that_names_a_file_from_the_root_is_not_packed(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    packed()
    plan = tmp_path / "plans" / "plan.yaml"
    plan.write_text(plan.read_text().replace("../questions", str(tmp_path / "questions")))
    words = ("experiment", "pack", "plans/plan.yaml", "--to", "x.zip", "--licence", LICENCE)
    made = demo_cli(*words, "--out", "run")
    assert made.code == 2
    check_line(made.err, "../questions.jsonl")
    assert not (tmp_path / "x.zip").exists()


def test_a_run_that_has_not_ended_is_not_packed(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    packed()
    words = ("experiment", "pack", "plans/plan.yaml", "--to", "x.zip", "--licence", LICENCE)
    lines = (tmp_path / "run" / "answers.jsonl").read_bytes().splitlines(True)
    (tmp_path / "run" / "answers.jsonl").write_bytes(b"".join(lines[:-3]))
    made = demo_cli(*words, "--out", "run")
    assert made.code == 2
    assert f"run has {len(lines) - 3} of {len(lines)} answers" in made.err
    made = demo_cli(*words, "--out", "nothing")
    assert made.code == 2
    check_line(made.err, "Run the plan")
    assert not (tmp_path / "x.zip").exists()


def test_replies_that_are_still_in_the_log_of_sqlite_are_packed(
    packed: Pack, demo_cli: Cli, tmp_path: Path
) -> None:
    archive = packed()
    with zipfile.ZipFile(archive) as opened:
        opened.extract("run/replies.db", "copy")
    with closing(sqlite3.connect("copy/run/replies.db")) as copy:
        assert copy.execute("SELECT count(*) FROM reply").fetchone()[0] > 0


@pytest.mark.parametrize("name", ["run.zip", "folder"])
def test_an_archive_takes_no_folders_name(name: str, demo_cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "plan.yaml").write_text(PLAN)
    written(tmp_path)
    words = ("experiment", "pack", "plan.yaml", "--out", "run", "--licence", LICENCE)
    made = demo_cli(*words, "--to", name)
    assert made.code == 2
    assert ("is a folder" in made.err) is (name == "folder")
