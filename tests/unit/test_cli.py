"""The command line: what it prints, where, and with which exit code."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import Cli, process
from demo_graph import ARNOLD, AURELIA, EUNICE, MARIA, QUESTION, copy_store
from error_texts import check_error, check_line, check_text
from graphs import load_graph, sample_entities, sample_statements, statement

from graph_service.cli.opening import settings_of
from graph_service.cli.options import GraphOptions
from graph_service.cli.readers import view_ref
from graph_service.errors import (
    DeadlineError,
    InputError,
    SetupError,
    StoreUnavailableError,
)
from graph_service.model.request import ViewRef
from graph_service.model.statement import Entity, EntityKind
from graph_service.model.view_spec import Method, Scope, ViewSpec
from graph_service.settings import SETTINGS, Settings, read_settings
from graph_service.store import open_store
from graph_service.store.protocol import Batch
from queries.datasets.demo_set import demo_questions, demo_slice

FILE = "there is no store"


@pytest.fixture
def store(cli: Cli, monkeypatch: pytest.MonkeyPatch, demo_file: Path, tmp_path: Path) -> str:
    """A store of the test's own with graph ``demo``, named by the environment."""
    url = copy_store(demo_file, tmp_path)
    monkeypatch.setenv("GRAPH_SERVICE_STORE", url)
    return url


# Starting


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("graphs",), ("graphs", "--json")])
def test_a_full_disk_under_the_output_is_said(store: str, arguments: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "graph_service.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
        )
    assert done.returncode == 4
    check_text(done.stderr.splitlines()[1:])


def test_as_a_module_in_a_new_process(store: str) -> None:
    done = process(
        "-m", "graph_service.cli", "search", "arnie", "--json", GRAPH_SERVICE_STORE=store
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hits"][0]["entity"]["id"] == ARNOLD
    assert done.stderr == f"store {store}\n"


def test_a_reader_that_stops_reading_is_no_error(store: str) -> None:
    command = f'"{sys.executable}" -m graph_service.cli item {MARIA} | head -1; '
    command += 'echo "${PIPESTATUS[0]}"'
    done = subprocess.run(
        ["bash", "-c", command],
        env={**os.environ, "GRAPH_SERVICE_STORE": store},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.stdout.splitlines() == [f"{MARIA}  Maria Shriver", "0"]
    assert "Traceback" not in done.stderr


# Which store and which graph


def test_the_store_is_the_option_then_the_variables_then_a_file() -> None:
    both = {"GRAPH_SERVICE_STORE": "sqlite:///a.db", "NEO4J_URI": "bolt://b"}
    assert read_settings(both).store_url == "sqlite:///a.db"
    assert read_settings({"NEO4J_URI": "bolt://b"}).store_url == "bolt://b"
    assert read_settings({}).store_url == "sqlite:///graph.db"
    assert read_settings({"GRAPH_SERVICE_STORE": ""}).store_url == "sqlite:///graph.db"


def test_the_option_comes_before_the_environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_STORE", "sqlite:///a.db")
    monkeypatch.setenv("GRAPH_SERVICE_GRAPH", "one")
    options = GraphOptions(store="sqlite:///c.db")
    assert settings_of(options).store_url == "sqlite:///c.db"
    assert settings_of(options).graph == "one"
    options = GraphOptions(graph="two")
    assert settings_of(options).store_url == "sqlite:///a.db"
    assert settings_of(options).graph == "two"


def test_each_setting_is_read_from_its_variable() -> None:
    texts = {"str": "x", "int": "7", "float": "1.5", "bool": "yes"}
    values = {"str": "x", "int": 7, "float": 1.5, "bool": True}
    kinds = {row.name: Settings.__annotations__[row.name] for row in SETTINGS}
    of_a_form = {"file_mode": "640"}
    read = read_settings(
        {row.variable: of_a_form.get(row.name, texts[kinds[row.name]]) for row in SETTINGS}
    )
    for name, kind in kinds.items():
        assert getattr(read, name) == of_a_form.get(name, values[kind])
    assert len(kinds) == len(Settings.__annotations__)
    assert read_settings({}) == Settings(), "the table's defaults are the class's"
    for variable, text in (
        ("GRAPH_SERVICE_MAX_HOPS", "many"),
        ("GRAPH_SERVICE_THREADS", "0"),
        ("GRAPH_SERVICE_READ_TIMEOUT_S", "nan"),
        ("GRAPH_SERVICE_CACHE_GB", "-1"),
        ("GRAPH_SERVICE_MAX_ITEMS", "1.5"),
        ("GRAPH_SERVICE_TRUST_SNAPSHOTS", "true"),
    ):
        with pytest.raises(InputError, match=variable):
            read_settings({variable: text})


@pytest.mark.parametrize(
    "arguments",
    [
        ("graphs",),
        ("graphs", "delete", "demo", "--yes"),
        ("search", "x"),
        ("item", "Q1"),
        ("retrieve", QUESTION),
        ("answer", QUESTION),
        ("view", "list"),
        ("view", "create", "--method", "rr", "--level", "0.1"),
        ("serve", "--port", "0"),
    ],
)
def test_a_store_that_is_not_there_is_not_made(
    cli: Cli, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    done = cli(*arguments, "--json")
    assert done.code == 2
    assert FILE in done.json["error"]["message"]
    assert done.json["error"]["argument"] == "store"
    assert "graph-service load" in done.json["error"]["hint"]
    assert list(tmp_path.iterdir()) == []


def test_a_graph_may_be_left_out_where_there_is_one(cli: Cli, store: str) -> None:
    assert cli("search", "Kennedy").code == 0
    with open_store(store) as opened:
        load_graph(opened, "other", [("Q1", "P1", "Q2")])
    done = cli("search", "Kennedy", "--json")
    assert done.code == 2
    error = done.json["error"]
    assert (error["code"], error["argument"]) == ("GRAPH_NOT_FOUND", "graph")
    check_text(error["message"], "2 graphs: demo, other")
    check_text(error["hint"], "--graph NAME")
    assert cli("search", "Kennedy", "--graph", "demo").code == 0


# Errors


@pytest.mark.parametrize(
    ("arguments", "code", "argument"),
    [
        (("retrieve",), 2, "question"),
        (("retrieve", "a", "--questions", "b"), 2, "question"),
        (("retrieve", "--questions", "none.jsonl"), 2, "questions"),
        (("retrieve", QUESTION, "--limit", "0"), 2, "limit"),
        (("retrieve", QUESTION, "--view", "nope"), 2, "view"),
        (("retrieve", QUESTION, "--view", "shuffle:0.1"), 2, "method"),
        (("retrieve", QUESTION, "--view", "rr:7"), 2, "level"),
        (("retrieve", QUESTION, "--strategy", "walks"), 2, None),
        (("retrieve", QUESTION, "--entity", "Q999999"), 2, "entity_ids"),
        (("retrieve", QUESTION, "--limit", "x"), 2, None),
        (("item", "Q999999"), 2, "id"),
        (("search", " "), 2, "query"),
        (("search", "x", "--graph", "nope"), 2, "graph"),
        (("view", "create"), 2, "method"),
        (("view", "create", "--method", "rr"), 2, "level"),
        (("view", "create", "thin", "--method", "rr", "--level", "0.1"), 2, "view"),
        (("view", "create", "--method", "rr", "--changes", "x"), 2, "method"),
        (("view", "show"), 2, "view"),
        (("view", "show", "nope"), 2, "view"),
        (("view", "create", "--changes", "none.jsonl"), 2, "changes"),
        (("graphs", "delete"), 2, "name"),
        (("graphs", "delete", "nope"), 2, None),
        (("graphs", "delete", "demo"), 2, None),
        (("answer", QUESTION, "--model-url", "http://x"), 2, "model"),
        (("answer", QUESTION, "--out", "no/such/folder.jsonl"), 2, "out"),
        (("score", "citations", "none.jsonl"), 2, "file"),
        (("serve", "--threads", "-1"), 2, "threads"),
        (("search", "x", "--store", "mysql://x"), 2, "store"),
        (("nonsense",), 2, None),
        (("serve", "--host", "0.0.0.0"), 4, None),
        (("load", "none.jsonl", "--graph", "x", "--quiet"), 2, None),
    ],
)
def test_every_error_has_its_exit_code_and_one_json_object(
    cli: Cli, store: str, arguments: tuple[str, ...], code: int, argument: str | None
) -> None:
    plain = cli(*arguments)
    assert (plain.code, plain.out) == (code, "")
    assert "error: " in plain.err
    assert "Traceback" not in plain.err
    done = cli(*arguments, "--json")
    assert done.code == code
    error = done.json["error"]
    assert error["code"]
    assert error["message"] in done.err
    if argument is not None:
        assert error["argument"] == argument


@pytest.mark.parametrize(
    ("raised", "code"),
    [
        (SetupError("m"), 4),
        (StoreUnavailableError("m"), 5),
        (DeadlineError("m"), 6),
        (KeyboardInterrupt(), 130),
    ],
)
def test_exit_codes_by_who_can_act(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int
) -> None:
    def failing(*arguments: object) -> int:
        raise raised

    monkeypatch.setattr("graph_service.cli.ask.reading.search", failing)
    assert cli("search", "x").code == code


# Reading


def test_search_and_item(cli: Cli, store: str) -> None:
    found = cli("search", "arnie", "--json")
    assert found.json["hits"][0]["matched"] == "Arnie"
    assert cli("search", "arnie").out.startswith(
        "Q2685  Arnold Schwarzenegger (Arnie)  -  Austrian"
    )
    assert cli("search", "zorblax").out == "nothing found\n"
    beginning = cli("search", "schwarzeneg").out.splitlines()
    assert beginning[0] == "nothing found"
    check_text(beginning[1], "search schwarzeneg --prefix")
    shown = cli("item", "wd:" + MARIA, "--relation", "P26")
    assert shown.out.splitlines()[0] == f"{MARIA}  Maria Shriver"
    assert any(line == "  spouse: Arnold Schwarzenegger" for line in shown.out.splitlines())
    item = cli("item", MARIA, "--json").json
    assert item["entity"]["labels"]["en"] == "Maria Shriver"
    assert len(item["statements"]) > 20
    on_view = cli("item", MARIA, "--view", "rr:1.0:3")
    assert "  <- relation was spouse" in on_view.out


def test_retrieve_prints_what_it_found(cli: Cli, store: str) -> None:
    done = cli("retrieve", QUESTION, "--strategy", "paths", "--limit", "3", "--explain")
    lines = done.out.splitlines()
    assert lines[0] == '"Maria Shriver" is Maria Shriver (Q230654)'
    assert re.fullmatch(r"confidence: (1.00|0.[89][0-9])", lines[1])
    assert lines[2] == "answer: Aurelia Schwarzenegger (by 3 statements)"
    assert lines[3].endswith(
        "Maria Shriver -[spouse]-> Arnold Schwarzenegger -[mother]-> Aurelia Schwarzenegger"
    )
    assert f"[{ARNOLD}, mother: Aurelia Schwarzenegger]" in done.out
    assert "preset default-6" in done.out
    assert max(map(len, lines[-12:])) <= 100
    assert done.err == f"store {store}\n"
    result = cli("retrieve", QUESTION, "--strategy", "paths", "--limit", "3", "--json").json
    assert result["items"][0]["steps"][1]["triple"]["value"] == ["e", AURELIA]
    assert f"result {result['id']}" in done.out
    text = cli("retrieve", QUESTION, "--text", "numbered", "--limit", "2")
    assert [line[:4] for line in text.out.splitlines()] == ["[1] ", "[2] "]
    nobody = cli("retrieve", "What is Zorblax?")
    assert nobody.code == 0
    check_text(nobody.out)


@pytest.mark.parametrize("question", ["Wer ist die Mutter von Maria Shriver?", "Кто это?"])
def test_a_question_in_another_language_says_what_reads_it(
    cli: Cli, store: str, question: str
) -> None:
    assert "--embedder multilingual\n" in cli("retrieve", question).out


def test_messages_say_what_was_meant(cli: Cli, store: str, tmp_path: Path) -> None:
    done = cli("retrieve", QUESTION, "--preset", "defualt-6", "--json")
    check_text(done.json["error"]["hint"], "default-6")
    done = cli("retrieve", QUESTION, "--store", "graph.db", "--json")
    check_text(done.json["error"]["hint"], "sqlite:///graph.db")
    done = cli("retrieve", QUESTION, "--view", "wrong")
    check_line(done.err, "'demo'", "'wrong'")
    done = cli("search", " ")
    check_line(done.err, "search is empty")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "--port N" in cli("serve", "--port", str(port)).err
        assert "--http HOST:PORT" in cli("mcp", "--http", f"127.0.0.1:{port}").err


def test_retrieve_options_reach_the_service(cli: Cli, store: str) -> None:
    result = cli(
        "retrieve", "Who is the mother?", "--entity", ARNOLD, "--preset", "okgqa", "--limit", "4",
        "--max-edges", "40", "--max-hops", "1", "--token-budget", "60", "--min-score", "1.5",
        "--language", "de", "--language", "en", "--view", "ed:0.1:7", "--json",
    ).json  # fmt: skip
    parameters = result["provenance"]["parameters"]
    assert {
        "limit": 4,
        "max_edges": 40,
        "hops": 1,
        "token_budget": 60,
        "min_score": 1.5,
        "languages": ["de", "en"],
        "entity_ids": [ARNOLD],
    }.items() <= parameters.items()
    spec = ViewSpec(Method.EDGE_DELETION, level=0.1, random_seed=7)
    assert result["provenance"]["view_spec"] == spec.to_json()


def test_many_questions(cli: Cli, store: str, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    rows = [{"id": "a", "question": QUESTION}, {"question": "What is Zorblax?"}]
    file.write_text("\n\n".join(json.dumps(row) for row in rows))
    found = cli("retrieve", "--questions", str(file), "--json").json["results"]
    assert [(row["id"], row["result"]["status"]) for row in found] == [
        ("a", "ok"),
        ("3", "no-entity-linked"),
    ]
    assert f"# a: {QUESTION}" in cli("retrieve", "--questions", str(file)).out
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(rows[0]).encode() + b"\r\n")
    assert cli("retrieve", "--questions", str(file), "--json").json["results"][0]["id"] == "a"
    for text, words in (
        ("{", "questions.jsonl, line 1: a JSON object was expected"),
        ("[]", "a JSON object was expected; a list came"),
        ('{"question": "a"}\n{"question": " "}', "line 2, field question: a filled text"),
        ('{"id": 1, "question": "a"}\n{"id": 1, "question": "b"}', "also the id of question 1"),
        ("\n", "holds no question"),
    ):
        file.write_text(text)
        wrong = cli("retrieve", "--questions", str(file))
        assert wrong.code == 2
        assert words in wrong.err


def test_questions_of_every_format_that_answer_reads_k10(
    cli: Cli, store: str, tmp_path: Path
) -> None:
    """Published files and conversations, packed and not; the file's entities where asked for."""
    maria = {"name": "Maria Shriver", "qid": MARIA, "spouse": "Arnold Schwarzenegger"}
    rubq = {"uid": 7, "question_eng": QUESTION, "question_text": "Кто?", "answers": [], "tags": []}
    said = [
        {"role": "user", "content": "Who is Maria Shriver?"},
        {"role": "assistant", "content": "A journalist."},
        {"role": "user", "content": "Who is her mother?"},
    ]
    (tmp_path / "b.json.xz").write_bytes(
        lzma.compress(json.dumps([[f"question: {QUESTION}", []], ["Her?", [maria]]]).encode())
    )
    (tmp_path / "r.json").write_text(json.dumps([{**rubq, "question_uris": [MARIA]}]))
    (tmp_path / "o.csv").write_text(f'question,type,dbpedia_entities,id\n"{QUESTION}",k,{{}},9\n')
    (tmp_path / "c.jsonl.gz").write_bytes(
        gzip.compress(json.dumps({"id": "c", "messages": said}).encode())
    )

    def found(file: str, *more: str) -> list[tuple[str, str, list[str]]]:
        done = cli("retrieve", "--questions", file, "--json", *more)
        assert done.code == 0, done.err
        return [
            (
                row["id"],
                row["result"]["status"],
                [linked["entity"]["id"] for linked in row["result"]["linked"]],
            )
            for row in done.json["results"]
        ]

    assert found("b.json.xz") == [("1", "ok", [MARIA]), ("2", "no-entity-linked", [])]
    assert found("b.json.xz", "--given-entities")[1] == ("2", "low-confidence", [MARIA])
    assert found("b.json.xz", "--first", "1") == [("1", "ok", [MARIA])]
    assert found("r.json") == [("7", "ok", [MARIA])]
    russian = ("--question-language", "ru", "--question-format", "rubq")
    assert found("r.json", *russian) == [("7", "no-entity-linked", [])]
    assert found("o.csv") == [("9", "ok", [MARIA])]
    # The whole dialogue is searched for: the second turn names nobody.
    assert [row[2] for row in found("c.jsonl.gz")] == [[MARIA], [MARIA]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, None),
        ("half", ViewRef(id="half")),
        ("a:b", ViewRef(id="a:b")),
        ("rr:0.3", ViewRef(spec=ViewSpec(Method.RELATION_REPLACEMENT, level=0.3))),
        ("ed:0.3:42", ViewRef(spec=ViewSpec(Method.EDGE_DELETION, level=0.3, random_seed=42))),
        ("er:0.3:7:region", ViewRef(id="er:0.3:7:region")),
        (
            "er:0.3:7:question",
            ViewRef(
                spec=ViewSpec(
                    Method.EDGE_REWIRING,
                    level=0.3,
                    random_seed=7,
                    scope=Scope(of_question=True),
                )
            ),
        ),
        (
            "relation-swapping:1:2",
            ViewRef(spec=ViewSpec(Method.RELATION_SWAPPING, level=1.0, random_seed=2)),
        ),
    ],
)
def test_a_view_on_the_command_line(text: str | None, expected: ViewRef | None) -> None:
    assert view_ref(text) == expected


def test_a_view_of_the_questions_own_region_o10(cli: Cli, store: str) -> None:
    whole, own = (
        cli("retrieve", QUESTION, "--view", f"ed:1.0:0{scope}", "--json").json
        for scope in ("", ":question")
    )
    assert "ofQuestion" in own["provenance"]["view_spec"]
    assert whole["provenance"]["view_id"] != own["provenance"]["view_id"]
    refused = cli("item", MARIA, "--view", "ed:1.0:0:question")
    assert refused.code == 2
    assert "needs a question" in refused.err


# Views


def test_views_from_making_to_deleting_s4(cli: Cli, store: str) -> None:
    check_text(cli("view", "list").out)
    made = cli(
        "view", "create", "--method", "er", "--level", "0.3", "--random-seed", "42",
        "--name", "moved", "--note", "tails", "--json",
    ).json["view"]  # fmt: skip
    assert made["report"]["level_reached"] == pytest.approx(0.3, abs=0.001)
    again = cli(
        "view", "create", "--method", "edge-rewiring", "--level", "0.3", "--random-seed", "42"
    )
    assert again.out.startswith(f"view {made['id']}  moved\n")
    listed = cli("view", "list")
    assert made["id"] in listed.out
    assert "edge-rewiring" in listed.out
    assert [view["id"] for view in cli("view", "list", "--json").json["views"]] == [made["id"]]
    shown = cli("view", "show", "moved").out
    assert "324 value-changed; level asked 0.3, reached 0.2997 of 1081 edges" in shown
    assert "note: tails" in shown
    assert "\n  deviation: ATS 0." in shown
    assert "SC2D 0." in shown
    assert listed.out.splitlines()[0].split()[5:8] == ["ats", "sc2d", "sd2"]
    assert cli("view", "cancel", "moved").out == f"view {made['id']} is done\n"
    diff = cli("view", "diff", "moved", "--limit", "5")
    lines = diff.out.splitlines()
    assert len(lines) == 6
    assert all(", now " in line for line in lines[:5])
    changes = cli("view", "diff", made["id"], "--limit", "5", "--json").json
    check_text(lines[5], changes["total"] - 5, "--limit")
    assert [change["words"] for change in changes["changes"]] == lines[:5]
    assert cli("view", "diff", "ed:0.01:1").out.splitlines()[0].endswith(", gone")
    copy = cli("view", "create", "--from-view", "moved", "--json").json["view"]
    assert copy["id"] == made["id"]
    assert cli("view", "delete", "moved").out == f"deleted view {made['id']}\n"
    assert cli("view", "list", "--json").json == {"views": []}


def test_a_views_name_is_never_taken_for_a_specification(cli: Cli, store: str) -> None:
    for name in ("rs:0.3:1", "nonsense:0.3", "ed:2"):
        done = cli("view", "create", "--method", "ed", "--level", "0.1", "--name", name, "--json")
        assert (done.code, done.json["error"]["argument"]) == (2, "name")
    assert cli("view", "list", "--json").json == {"views": []}
    make = ["view", "create", "--method", "ed", "--level", "0.1", "--name"]
    assert cli(*make, "talk: the second").code == 0
    done = cli("view", "diff", "talk: the second", "--limit", "-2")
    assert (done.code, done.err.count("--limit must be")) == (2, 1)


def test_a_view_of_ones_own_changes(cli: Cli, store: str, tmp_path: Path) -> None:
    file = tmp_path / "changes.jsonl"
    file.write_text(json.dumps({"head": MARIA, "relation": "friend", "value": EUNICE}))
    cli("view", "create", "--changes", str(file), "--name", "mine")
    assert cli("view", "diff", "mine").out == (
        "Maria Shriver: friend -> Eunice Kennedy Shriver, new\n"
    )
    check_line(cli("item", MARIA, "--view", "mine").out, "friend: Eunice Kennedy Shriver")
    ids = [row["statement"]["id"] for row in cli("item", MARIA, "--json").json["statements"]]
    cli("view", "create", "--method", "withholding", "--statement", ids[0], "--name", "less")
    left = [
        row["statement"]["id"]
        for row in cli("item", MARIA, "--view", "less", "--json").json["statements"]
    ]
    assert left == ids[1:]


def test_a_views_scope(cli: Cli, store: str) -> None:
    cli("view", "create", "--method", "ed", "--level", "1", "--relation", "wd:P26", "--name", "a")
    lines = cli("view", "diff", "a", "--limit", "1000").out.splitlines()
    assert len(lines) > 10
    assert all(": spouse -> " in line for line in lines)
    cli("view", "create", "--method", "ed", "--count", "3", "--around-entity", MARIA, "--hops", "1",
        "--name", "b")  # fmt: skip
    lines = cli("view", "diff", "b").out.splitlines()
    assert len(lines) == 3
    assert all("Maria Shriver" in line for line in lines)


# Loading and deleting


def test_load_list_delete(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = cli("load", str(demo_slice()), "--graph", "mine", "--quiet", "--json")
    assert (loaded.code, loaded.json["status"], loaded.json["rejected"]) == (0, "published", 0)
    assert (tmp_path / "graph.db").is_file(), "without a store named, ./graph.db"
    assert "store sqlite:///graph.db\n" in loaded.err
    (info,) = cli("graphs", "--json").json["graphs"]
    assert (info["name"], info["counts"]["statements"]) == ("mine", 1156)
    assert cli("graphs").out.splitlines()[1].startswith("mine   mine@1")
    cli("view", "create", "--method", "ed", "--level", "0.1")
    refused = cli("graphs", "delete", "mine")
    assert refused.code == 2
    check_error(refused.err)
    assert "--yes" in refused.err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: "no")
    assert cli("graphs", "delete", "mine").out == "nothing deleted\n"
    assert len(cli("graphs", "--json").json["graphs"]) == 1
    monkeypatch.setattr("builtins.input", lambda prompt: "mine")
    gone = cli("graphs", "delete", "mine")
    assert gone.out == "deleted graph mine with 1,156 statements and 1 view\n"
    assert cli("graphs").out.startswith("no graphs yet")
    cli("load", str(demo_slice()), "--graph", "mine", "--quiet")
    (tmp_path / "text.txt").write_text("Rome is a city. It has seven hills.\n")
    assert cli("passages", "load", "text.txt", "--no-vectors", "--quiet").code == 0
    (tmp_path / "views.tsv").write_text(f"{MARIA}\t2021-01\t40\n{ARNOLD}\t2021-01\t50\n")
    assert cli("pageviews", "load", "views.tsv").code == 0
    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    refused = cli("graphs", "delete", "mine")
    check_error(refused.err)
    assert cli("graphs", "delete", "mine", "--yes", "--json").json == {
        "deleted": "mine",
        "statements": 1156,
        "views": 0,
        "passages": 1,
        "page_views": 2,
    }
    assert cli("graphs", "delete", "mine", "--yes").code == 2


def test_what_a_first_load_left_can_be_deleted(cli: Cli, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'graph.db'}") as store:
        with store.begin_load("half", owner="o", source="s") as load:
            load.write(Batch(statements=(statement(("Q1", "P1", "Q2")),)))
        assert [load.statements for load in store.unfinished_loads()] == [1]
    assert "unfinished: half@" in cli("graphs").out
    assert cli("graphs", "delete", "half", "--yes").out == "deleted graph half with 1 statement\n"
    assert "unfinished" not in cli("graphs").out


@pytest.mark.parametrize("content", [None, b"", b"\x00\x01", b"no format of ours"])
def test_a_source_that_cannot_be_loaded_leaves_no_store(
    cli: Cli, tmp_path: Path, content: bytes | None
) -> None:
    source = tmp_path / "source.bin"
    if content is not None:
        source.write_bytes(content)
    assert cli("load", str(source), "--graph", "x", "--quiet").code == 2
    assert not list(tmp_path.glob("graph.db*"))
    # One that is there stays, whatever else is asked of it.
    cli("load", str(demo_slice()), "--graph", "mine", "--quiet")
    assert cli("load", str(source), "--graph", "x", "--quiet").code == 2
    there = cli("graphs", "--json").json
    assert [info["name"] for info in there["graphs"]] == ["mine"]
    assert there["unfinished"] == []


def test_an_item_names_what_its_qualifiers_name(cli: Cli, tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path / 'graph.db'}") as store:
        load_graph(store, "kinds", sample_statements(), sample_entities() + [
            Entity("P69", kind=EntityKind.PROPERTY, labels={"en": "educated at"}),
            Entity("P580", kind=EntityKind.PROPERTY, labels={"en": "start time"}),
        ])  # fmt: skip
    shown = cli("item", "Q42", "--relation", "P69").out
    assert "  educated at: Q691283\n      start time: 1971\n" in shown
    assert "more" not in shown
    cut = cli("item", "Q42", "--limit", "2").out.splitlines()
    check_text(cut[-1], "--limit")
    assert len(cli("item", "Q42", "--limit", "2", "--json").json["statements"]) == 2
    for limit in ("0", "-1", "5000"):
        assert f"got {limit}" in cli("item", "Q42", "--limit", limit).err
    every = cli("item", "Q42").out
    assert "more" not in every
    found = cli("search", "Q691283")
    check_text(found.out, "item Q691283")


def test_what_has_names_for_ids_is_named_once(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "films.tsv").write_text("Heat\tdirected by\tMichael Mann\n")
    assert cli("load", "films.tsv", "--graph", "films", "--quiet").code == 0
    assert cli("search", "heat").out == "Heat\n"
    assert cli("item", "Heat").out == "Heat\n  directed by: Michael Mann\n"
    assert cli("search", "Q0").out == "nothing found\n"
    missing = cli("item", "Het")
    assert missing.code == 2
    check_error(missing.err)


def test_rejected_lines_give_exit_code_3(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "bad.nt"
    file.write_text("<http://e/a> <http://e/p> <http://e/b> .\nnonsense\n")
    done = cli("load", str(file), "--graph", "x", "--quiet", "--json")
    assert done.code == 3
    assert done.json["rejected"] == 1
    assert cli("graphs", "--json").json["graphs"][0]["counts"]["statements"] == 1


def test_xml_that_is_no_rdf_is_said(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text('<?xml version="1.0"?>\n<all><one><a/><b/></one></all>\n')
    done = cli("load", "a.xml", "--graph", "x", "--quiet", "--json")
    assert done.code == 2
    check_line(done.json["error"]["message"], "<all>")


# Answers and scores


def test_answer_cites(cli: Cli, store: str) -> None:
    done = cli("answer", QUESTION)
    assert done.code == 0
    assert f"[{ARNOLD}, mother: Aurelia Schwarzenegger]" in done.out
    check_line(done.out, "no language model")
    answer = cli("answer", QUESTION, "--json").json
    assert answer["question"] == QUESTION
    assert answer["result"]["provenance"]["strategy"] == "paths"


def test_answers_resume_and_are_scored_k4(cli: Cli, store: str, tmp_path: Path) -> None:
    questions = demo_questions()[:4]
    rows = [json.dumps({"id": one.id, "question": one.question}) for one in questions]
    file, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    file.write_text("\n".join(rows[:2]))
    first = cli("answer", "--questions", str(file), "--out", str(out), "--json").json
    assert (len(first["answers"]), first["skipped"], first["failed"]) == (2, 0, 0)
    written = out.read_bytes()
    out.write_bytes(written + b'{"question_id": "cut')
    file.write_text("\n".join(rows))
    second = cli("answer", "--questions", str(file), "--out", str(out), "--json").json
    assert [one["question_id"] for one in second["answers"]] == [one.id for one in questions[2:]]
    assert second["skipped"] == 2
    assert out.read_bytes().startswith(written), "what was answered before is left as it is"
    assert len(out.read_bytes().splitlines()) == 4
    third = cli("answer", "--questions", str(file), "--out", str(out))
    assert "4 questions were answered" in third.err
    assert third.out == ""
    report = cli("score", "citations", str(out), "--json").json
    assert len(report["rows"]) == 4
    assert cli("score", "citations", str(out)).out.count("\n") > 4
    other = cli("answer", "Who is Maria Shriver?", "--out", str(out), "--json")
    assert other.code == 0, "another id is another question"
    file.write_text(json.dumps({"id": questions[0].id, "question": "Something else?"}))
    clash = cli("answer", "--questions", str(file), "--out", str(out), "--json")
    assert clash.code == 2
    assert questions[0].id in clash.json["error"]["message"]


# Serving
