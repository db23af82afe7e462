"""answer, prompt and questions from the command line (K1, O8, L7)."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Cli
from demo_graph import QUESTION, copy_store
from error_texts import check_error, check_line, check_text
from openai_stand_in import Scripted, by_rule, error, ok, stand_in, with_faults
from served import served

from graph_service import open_service
from graph_service.cli.answer.options import SETTINGS
from graph_service.cli.parser import make_parser
from queries.datasets.cases import read_question_file
from queries.datasets.demo_set import demo_questions
from queries.datasets.gold import read_gold_questions
from queries.generate.answer import read_answers
from queries.generate.asking import usage_of
from queries.generate.setting import Setting
from queries.llm import open_cache
from queries.lock import one_writer
from queries.score.own_prompt import all_prompts

RULE = "(stand-in-1)"


@pytest.fixture(autouse=True)
def store(cli: Cli, monkeypatch: pytest.MonkeyPatch, demo_file: Path, tmp_path: Path) -> None:
    """A copy of the demo graph is the store of the environment."""
    monkeypatch.setenv("GRAPH_SERVICE_STORE", copy_store(demo_file, tmp_path))


def question_file(path: Path, count: int) -> str:
    rows = [
        {
            "id": one.id,
            "question": one.question,
            "kind": one.kind,
            "entity_ids": one.entity_ids,
            "statement_ids": one.statement_ids,
        }
        for one in demo_questions()[:count]
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_the_command_line_names_the_settings() -> None:
    assert tuple(item.value for item in Setting) == SETTINGS


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_setting_answers(cli: Cli, tmp_path: Path, setting: str) -> None:
    (tmp_path / "p.jsonl").write_text('{"id": "p", "title": "Maria Shriver", "text": "A name."}\n')
    with stand_in(by_rule) as server:
        done = cli(
            *("answer", QUESTION, "--setting", setting, "--model", "m", "--json"),
            *("--model-url", server.url, "--passages", "p.jsonl", "--samples", "2"),
        )
    assert done.code == 0, done.err
    found = done.json
    assert found["failure"] is None
    assert found["parameters"]["setting"] == setting
    assert len(found["exchanges"]) == len(server.requests)
    cites = setting.startswith("kalma")
    assert any(part["citations"] for part in found["sentences"]) == cites
    if found["query"] is not None:
        assert found["query"]["variables"]["input"]["question"] == QUESTION


def test_a_reply_that_was_cut_is_told_where_the_answer_is_printed(cli: Cli, tmp_path: Path) -> None:
    file = question_file(tmp_path / "q.jsonl", 1)
    with stand_in(ok("She is known [1]. It was fou", finish="length")) as server:
        of = ("--model", "m", "--model-url", server.url, "--max-tokens", "77")
        for question in ((QUESTION,), ("--questions", file)):
            done = cli("answer", *question, *of)
            assert done.code == 0, done.err
            assert "cut at 77 tokens" in done.out
        assert "cut at 77 tokens" in " ".join(cli("answer", QUESTION, *of, "--json").json["notes"])
    with stand_in(ok("<think>She is known [1]", finish="length")) as server:
        lost = cli("answer", QUESTION, "--model", "m", "--model-url", f" {server.url}/ ")
    assert lost.code == 1
    assert "within its thoughts" in lost.out


def test_a_run_is_killed_goes_on_and_is_replayed_with_the_same_bytes(
    cli: Cli, tmp_path: Path
) -> None:
    questions = question_file(tmp_path / "q.jsonl", 12)
    out = tmp_path / "a.jsonl"

    killed = threading.Event()
    replies = count()

    def until_killed(body: dict[str, Any]) -> Scripted:
        # The sixth request is under way until the process is killed.
        if next(replies) == 5:
            killed.wait(600)
        return by_rule(body)

    with stand_in(until_killed) as server:
        arguments = ("answer", "--questions", questions, "--model", "m", "--out", str(out))
        endpoint = ("--model-url", server.url)
        process = subprocess.Popen(
            [sys.executable, "-m", "graph_service.cli", *arguments, *endpoint],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ),
        )
        deadline = time.monotonic() + 600
        while len(server.requests) < 6 and time.monotonic() < deadline:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        killed.set()
        lines = out.read_bytes().count(b"\n")
        asked = len(server.requests)
        assert 3 <= lines < 12
        before = out.read_bytes()
        done = cli(*arguments, *endpoint)
        assert done.code == 0
        assert f"{lines} questions were answered in {out} before" in done.err
        assert "12 of 12" not in done.err
        prompts = Counter(json.dumps(body["messages"]) for body in server.requests)
    whole = before[: before.rfind(b"\n") + 1]
    assert out.read_bytes().startswith(whole)
    assert len(read_answers(out)) == len(prompts) == 12
    # The request under way when the process died was never answered to it; no other is repeated.
    again = [body for body, count in prompts.items() if count > 1]
    assert len(again) <= 1
    assert all(body == json.dumps(server.requests[asked - 1]["messages"]) for body in again)
    # The endpoint is gone: everything comes from what was kept.
    replayed = cli(
        *("answer", "--questions", questions, "--replay", f"{out}.replies.db"),
        *("--out", str(tmp_path / "b.jsonl"), "--concurrency", "3"),
    )
    assert replayed.code == 0
    assert "0 requests asked, 12 kept before" in replayed.err
    assert (tmp_path / "b.jsonl").read_bytes() == out.read_bytes()


def test_faults_are_counted_and_asked_again_on_demand(cli: Cli, tmp_path: Path) -> None:
    """Of every fault by rule only the withheld reply is a failure; the others pass by themselves."""
    questions = question_file(tmp_path / "q.jsonl", 12)
    with stand_in(with_faults(2)) as server:
        arguments = ("answer", "--questions", questions, "--model", "m", "--model-url", server.url)
        done = cli(*arguments, "--out", "a.jsonl")
        assert done.code == 1
        failures = [item.failure for item in read_answers("a.jsonl") if item.failure]
        assert failures
        assert {str(one).partition(":")[0] for one in failures} == {"content-filter"}
        assert f"12 of 12 answers, {len(failures)} failed" in done.err
        assert "no answer: content-filter" in done.out
    same = cli(
        "answer", "--questions", questions, "--replay", "a.jsonl.replies.db", "--out", "b.jsonl"
    )
    assert same.code == 1
    assert Path("b.jsonl").read_bytes() == Path("a.jsonl").read_bytes()
    with stand_in(by_rule) as server:
        again = (*arguments[:-1], server.url, "--out", "a.jsonl", "--retry-failed")
        assert cli(*again).code == 0
        assert len(server.requests) == len(failures)
    answers = read_answers("a.jsonl")
    assert len(answers) == 12
    asked = [json.loads(line)["id"] for line in Path(questions).read_text().splitlines()]
    assert [item.question_id for item in answers] == asked
    # What was asked again is what is kept: a replay has the bytes of the mended file.
    replay = ("answer", "--questions", questions, "--replay", "a.jsonl.replies.db")
    assert cli(*replay, "--out", "c.jsonl").code == 0
    assert Path("c.jsonl").read_bytes() == Path("a.jsonl").read_bytes()


def test_a_reply_that_could_not_be_read_is_asked_for_anew(cli: Cli) -> None:
    arguments = ("answer", QUESTION, "--setting", "okgqa-cot", "--model", "m", "--out", "a.jsonl")
    with stand_in(ok("no mark")) as server:
        assert cli(*arguments, "--model-url", server.url).code == 1
        # Unless that is wished, nothing is asked again: the failure is the file's answer.
        same = cli(*arguments, "--model-url", server.url)
        assert same.code == 1
        check_line(same.err, "a.jsonl", "1 failed", "--retry-failed")
        assert len(server.requests) == 2
    with stand_in(ok("ANSWER: Eunice.")) as server:
        done = cli(*arguments, "--model-url", server.url, "--retry-failed", "--json")
        assert len(server.requests) == 1
    assert done.json["text"] == "Eunice."
    assert [item.failure for item in read_answers("a.jsonl")] == [None]


def test_the_token_limit_stops_a_run_and_a_wrong_key_says_so(cli: Cli, tmp_path: Path) -> None:
    questions = question_file(tmp_path / "q.jsonl", 6)
    with stand_in(by_rule) as server:
        arguments = ("answer", "--questions", questions, "--model", "m", "--model-url", server.url)
        limited = cli(*arguments, "--out", "a.jsonl", "--token-limit", "2500", "--json")
        assert limited.code == 6
        assert limited.json["error"]["code"] == "LIMIT_EXCEEDED"
        assert 0 < len(read_answers("a.jsonl")) < 6
        assert cli(*arguments, "--out", "a.jsonl").code == 0
        assert len(server.requests) == 6
    with stand_in(error(401, "no")) as server:
        wrong = cli("answer", QUESTION, "--model", "m", "--model-url", server.url, "--json")
        assert wrong.code == 4


def test_what_an_endpoint_refuses_can_be_left_out(cli: Cli) -> None:
    with stand_in(by_rule) as server:
        arguments = ("answer", QUESTION, "--model", "m", "--model-url", server.url, "--json")
        done = cli(*arguments, "--temperature", "none", "--token-field", "max_completion_tokens")
        assert done.json["parameters"]["temperature"] is None
        assert cli(*arguments, "--temperature", "0.5", "--random-seed", "3").code == 0
    first, second = server.requests
    assert "temperature" not in first
    assert first["max_completion_tokens"] == 1024
    assert (second["temperature"], second["seed"], second["max_tokens"]) == (0.5, 3, 1024)


def test_an_estimate_asks_nothing(cli: Cli, tmp_path: Path) -> None:
    questions = question_file(tmp_path / "q.jsonl", 6)
    with stand_in(by_rule) as server:
        done = cli(
            *("answer", "--questions", questions, "--model", "m", "--model-url", server.url),
            *("--setting", "okgqa-sc", "--estimate", "--json"),
        )
        assert server.requests == []
    assert done.json["requests"] == 30
    check_line(done.err, "6 questions", "30 requests")


def test_gold_sets_of_the_graph_and_graphs_that_are_wrong_k7(cli: Cli, tmp_path: Path) -> None:
    questions = question_file(tmp_path / "q.jsonl", 10)
    gold = {one.id: one.statement_ids for one in demo_questions()}
    with stand_in(by_rule) as server:
        arguments = (
            *("answer", "--questions", questions, "--model", "m", "--model-url", server.url),
            *("--knowledge", "gold"),
        )
        assert cli(*arguments, "--out", "a.jsonl").code == 0
        swapped = cli(*arguments, "--out", "b.jsonl", "--right-share", "0.4")
        assert swapped.code == 0
    for item in read_answers("a.jsonl"):
        assert tuple(fact.statement_id for fact in item.knowledge) == gold[item.question_id]
        assert (item.result, item.query) == (None, None)
    notes = [note for item in read_answers("b.jsonl") for note in item.notes]
    assert any("swapped for" in note for note in notes)
    with Path(questions).open("a") as file:
        file.write(json.dumps({"id": "bare", "question": "Who is it?"}) + "\n")
    with stand_in(by_rule) as server:
        again = (*arguments[:6], server.url, "--knowledge", "gold", "--out", "a.jsonl")
        done = cli(*again, "--json")
        assert not server.requests
    # A published file has questions without a gold set: they are counted, and not asked.
    assert (done.code, done.json["without_gold"], done.json["skipped"]) == (0, 1, 10)
    check_line(done.err, "1 question")


@pytest.mark.parametrize(
    ("arguments", "code", "argument"),
    [
        (("--knowledge", "gold"), 2, "knowledge"),
        (("--knowledge", "none"), 2, "knowledge"),
        (("--right-share", "0.5"), 2, "right_share"),
        (("--replay", "none.db"), 2, "cache"),
        (("--replay", "none.db", "--cache", "x.db"), 2, "replay"),
        (("--temperature", "9"), 2, "temperature"),
        (("--temperature", "warm"), 2, "temperature"),
        (("--passages", "none.jsonl"), 2, "file"),
        (
            ("--setting", "ltgen-both", "--model", "m", "--model-url", "http://127.0.0.1:1"),
            2,
            "passages",
        ),
        (("--concurrency", "0"), 2, "concurrency"),
    ],
)
def test_wrong_options_say_which(
    cli: Cli, arguments: tuple[str, ...], code: int, argument: str
) -> None:
    done = cli("answer", QUESTION, *arguments, "--json")
    assert (done.code, done.json["error"].get("argument")) == (code, argument)


def test_conversations_over_passages_of_a_file_l7(cli: Cli, tmp_path: Path) -> None:
    said = [
        {"role": "user", "content": "Who is Maria Shriver?"},
        {"role": "assistant", "content": "A journalist."},
        {"role": "user", "content": "Who is her mother?"},
    ]
    (tmp_path / "c.jsonl").write_text(json.dumps({"id": "c", "messages": said}))
    (tmp_path / "p.jsonl").write_text('{"id": "p", "text": "Maria Shriver is a journalist."}\n')
    with stand_in(by_rule) as server:
        done = cli(
            *("answer", "--questions", "c.jsonl", "--setting", "ltgen-both", "--model", "m"),
            *("--model-url", server.url, "--passages", "p.jsonl", "--out", "a.jsonl"),
        )
    assert done.code == 0, done.err
    one, two = read_answers("a.jsonl")
    assert (one.question_id, two.question_id) == ("c#1", "c#2")
    assert [turn.content for turn in two.history] == ["Who is Maria Shriver?", "A journalist."]
    # The whole dialogue is searched for: the second turn names nobody.
    assert two.result is not None
    assert "Maria Shriver" in [linked.entity.label for linked in two.result.linked]
    assert "Conversation:\nUser: Who is Maria" in server.requests[1]["messages"][-1]["content"]


def test_prompts_are_listed_and_shown(cli: Cli) -> None:
    listed = cli("prompt", "list")
    assert "kalma-numbered" in listed.out
    names = [row["name"] for row in cli("prompt", "list", "--json").json["prompts"]]
    assert {"kalma", "okgqa-cot", "ltgen", "retry"} <= set(names)
    assert "okgqa-sc --join model" in listed.out
    shown = cli("prompt", "show", "okgqa-cot")
    assert shown.out.startswith("# okgqa-cot@")
    assert "{{question}}" in shown.out
    found = cli("prompt", "show", "okgqa-cot", "--json").json
    assert f"okgqa-cot@{found['version']}" in shown.out
    assert found["placeholders"] == ["facts", "question"]
    for name in names:
        assert cli("prompt", "show", name).code == 0
    assert cli("prompt", "show", "nonesuch").code == 2
    assert "kalma" in cli("prompt", "show", "--json").json["error"]["hint"]


def test_questions_are_counted_and_written_with_their_facts(cli: Cli, tmp_path: Path) -> None:
    person = {"name": "Ada", "qid": "Q1", "spouse": "Bea\tX", "child": ""}
    (tmp_path / "b.json").write_text(
        json.dumps([["question: Who is Ada?", [person]], ["Who?", []]])
    )
    done = cli(
        *("questions", "b.json", "--out", "q.jsonl", "--triples", "t.tsv", "--labels", "l.tsv"),
        "--json",
    )
    assert done.json["questions"] == 2
    assert (done.json["entities"], done.json["without_entities"], done.json["facts"]) == (1, 1, 1)
    assert Path("t.tsv").read_text() == "Q1\tspouse\tBea X\n"
    assert Path("l.tsv").read_text() == "Q1\tAda\n"
    lines = [json.loads(line) for line in Path("q.jsonl").read_text().splitlines()]
    assert lines[0].keys() == {"id", "question", "entity_ids", "knowledge"}
    # Nothing is lost on the way through our own form.
    assert read_question_file("q.jsonl") == read_question_file("b.json")
    scored = read_gold_questions("q.jsonl")
    assert [(one.id, one.entity_ids) for one in scored] == [("1", ("Q1",)), ("2", ())]
    assert "2 questions, 1 entities" in cli("questions", "q.jsonl").out
    assert cli("questions", "b.json", "--first", "0").code == 2
    (tmp_path / "mine.db").write_bytes(b"SQLite format 3\0")
    assert cli("questions", "b.json", "--out", "mine.db").code == 2
    assert (tmp_path / "mine.db").read_bytes() == b"SQLite format 3\0"
    unknown = cli("questions", "b.json", "--known-to", "demo", "--json")
    assert unknown.json["error"]["argument"] == "known_to"
    known = cli("questions", question_file(tmp_path / "d.jsonl", 5), "--known-to", "demo")
    assert "5 of 5 questions" in known.out


def test_template_text_states_the_gold_set_k4(cli: Cli, tmp_path: Path) -> None:
    """With neither a model nor a retrieval: each gold statement is said and cited once."""
    listed = [one for one in demo_questions() if one.statement_ids and not one.lacking][:3]
    lacking = next(one for one in demo_questions() if one.lacking)
    rows: list[dict[str, Any]] = [
        {"id": one.id, "question": one.question, "statement_ids": one.statement_ids}
        for one in listed
    ]
    rows.append({"id": lacking.id, "question": lacking.question, "lacking": True})
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = cli("answer", "--questions", "q.jsonl", "--knowledge", "gold", "--out", "a.jsonl")
    assert done.code == 0, done.err
    answers = read_answers("a.jsonl")
    assert [tuple(fact.statement_id for fact in one.knowledge) for one in answers] == [
        *(one.statement_ids for one in listed), ()
    ]  # fmt: skip
    assert answers[0].parameters["knowledge"] == "gold"
    assert answers[-1].not_available is True
    check_text(answers[-1].text)
    scores = cli("score", "citations", "a.jsonl", "--json").json["scores"]
    for name in ("correctness_micro", "precision_micro", "recall_micro"):
        assert scores[name]["value"] == 1.0
    bare = cli("answer", "--questions", "q.jsonl", "--knowledge", "gold", "--setting", "ltgen-none")
    assert bare.code == 2
    assert "in setting ltgen-none" in bare.err
    # A published file's facts are its gold set, also after `questions --out`.
    person = {"name": "Ada", "qid": "Q1", "spouse": "Bea", "occupation": "poet"}
    (tmp_path / "b.json").write_text(json.dumps([["Who is Ada?", [person]]]))
    assert cli("questions", "b.json", "--out", "own.jsonl").code == 0
    told = [
        cli("answer", "--questions", file, "--knowledge", "gold").out
        for file in ("b.json", "own.jsonl")
    ]
    assert told[0] == told[1]
    assert "[Q1, spouse: Bea]" in told[0]


def test_entities_are_written_as_the_graph_has_them(cli: Cli) -> None:
    base = "http://www.wikidata.org/entity/"
    wanted = demo_questions()[0]
    row = {"question": "Who?", "entity_ids": [base + id_ for id_ in wanted.entity_ids]}
    other = {"question": "Where?", "entity_ids": [base + "Q1"]}
    Path("q.jsonl").write_text(f"{json.dumps(row)}\n{json.dumps(other)}\n")
    known = ("questions", "q.jsonl", "--known-to", "demo", "--base-iri", base, "--out", "k.jsonl")
    done = cli(*known, "--json")
    assert (done.json["questions"], done.json["read"]) == (1, 2)
    (line,) = Path("k.jsonl").read_text().splitlines()
    assert json.loads(line)["entity_ids"] == list(wanted.entity_ids)
    given = cli("answer", "--questions", "k.jsonl", "--given-entities", "--json").json
    linked = given["answers"][0]["result"]["linked"]
    assert [one["entity"]["id"] for one in linked] == list(wanted.entity_ids)


def test_a_served_graph_gives_the_same_answers(cli: Cli, tmp_path: Path) -> None:
    """S5: in process or over HTTP."""
    questions = question_file(tmp_path / "q.jsonl", 3)
    here = cli("answer", "--questions", questions, "--json").json["answers"]
    with open_service(os.environ["GRAPH_SERVICE_STORE"]) as service, served(service) as url:
        asked = cli("answer", "--questions", questions, "--server", url, "--json")
        both = cli("answer", QUESTION, "--server", url, "--store", "sqlite:///x.db", "--json")
    assert asked.code == 0, asked.err
    assert f"server {url}" in asked.err
    assert [one["text"] for one in asked.json["answers"]] == [one["text"] for one in here]
    assert [one["result"]["id"] for one in asked.json["answers"]] == [
        one["result"]["id"] for one in here
    ]
    assert both.json["error"]["argument"] == "server"


# The document


def test_an_address_of_a_server_is_checked_first(cli: Cli) -> None:
    done = cli("answer", "x", "--server", "foo", "--json")
    assert (done.code, done.json["error"]["argument"]) == (2, "server")
    assert cli("answer", "x", "--model", "m", "--model-url", "foo").code == 2


def test_the_document_names_every_setting_and_its_commands_are_read() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "answers.md").read_text(
        encoding="utf-8"
    )
    for setting in SETTINGS:
        shown = setting.removeprefix("ltgen") if setting.startswith("ltgen-") else setting
        assert f"`{shown}`" in text or f"`{setting}`" in text, setting
    joined = text.replace("\\\n", " ")
    commands = re.findall(r"^    graph-service (.+)$", joined, re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        make_parser().parse_args(shlex.split(command.partition(" > ")[0]))
    known = options_of(make_parser())
    for option in set(re.findall(r"`[^`\n]*?(--[a-z-]+)", text)):
        # Those of the stand-in, which is no verb.
        assert option in known or option in ("--faults", "--port"), option


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    found: set[str] = set()
    for action in parser._actions:
        found.update(action.option_strings)
        if isinstance(action, argparse._SubParsersAction):
            for verb in action.choices.values():
                found |= options_of(verb)
    return found


def test_answers_by_ranked_relations_go_on_by_the_same_ranking_l4(cli: Cli, tmp_path: Path) -> None:
    path = question_file(tmp_path / "q.jsonl", 3)
    ranked = ("--ranker", "embedding", "--relations-per-entity", "2")
    found = cli("answer", "--questions", path, "--out", "a.jsonl", *ranked)
    assert found.code == 0
    rows = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    parameters = rows[0]["result"]["provenance"]["parameters"]
    assert (parameters["ranker"], parameters["relations_per_entity"]) == ("embedding", 2)
    asked = rows[0]["query"]["variables"]["input"]
    assert (asked["preset"], asked["experimental"]["propertiesPerItem"]) == ("ltgen", 2)
    heads = {item["triple"]["relation"]["id"] for item in rows[0]["result"]["items"]}
    assert 1 <= len(heads) <= 2 * len(rows[0]["result"]["linked"])
    other = cli("answer", "--questions", path, "--out", "a.jsonl", "--ranker", "embedding")
    assert other.code == 2
    assert "relations" in other.err
    wrong = cli("answer", "Who?", "--ranker", "model")
    assert wrong.code == 2
    assert "needs --model" in wrong.err
    wrong = cli("answer", "Who?", "--ranker", "none.npz")
    assert wrong.code == 2
    assert "rank train" in wrong.err
    # The preset alone ranks by embedding; another one ranks nothing.
    alone = cli(
        "answer", "--questions", path, "--preset", "ltgen", "--relations-per-entity", "2", "--json"
    )
    assert [row["result"]["items"] for row in json.loads(alone.out)["answers"]] == [
        row["result"]["items"] for row in rows
    ]
    for options, said in (
        (
            ("--relations-per-entity", "2"),
            "relations_per_entity: preset default ranks no relations",
        ),
        (("--preset", "okgqa", "--ranker", "embedding"), "preset okgqa ranks no"),
        (("--preset", "ltgen", "--strategy", "subgraph"), "no --strategy subgraph"),
        (("--preset", "ltgen", "--ranker", "trained"), "rank add FILE"),
    ):
        wrong = cli("answer", "Who?", *options)
        assert wrong.code == 2
        assert said in wrong.err


def test_a_file_of_answers_has_one_writer_at_a_time(cli: Cli, tmp_path: Path) -> None:
    path = question_file(tmp_path / "q.jsonl", 2)
    with one_writer("a.jsonl"):
        found = cli("answer", "--questions", path, "--out", "a.jsonl")
    assert found.code == 2
    check_error(found.err)
    assert not Path("a.jsonl").exists()
    assert cli("answer", "--questions", path, "--out", "a.jsonl").code == 0
    with one_writer("s.jsonl"):
        found = cli("score", "entailment", "a.jsonl", "--out", "s.jsonl")
    assert found.code == 2
    check_error(found.err)


def test_prompts_of_ones_own_are_used_shown_and_written_down(cli: Cli, tmp_path: Path) -> None:
    path = question_file(tmp_path / "q.jsonl", 1)
    Path("mine.txt").write_text("[[user]]\nAhoy!\n{{knowledge}}\n\n{{question}}\n")
    own = ("--prompt", "kalma=mine.txt")
    shown = cli("prompt", "show", "kalma", *own)
    assert shown.out.splitlines()[2] == "Ahoy!"
    label = shown.out.splitlines()[0].removeprefix("# ")
    with stand_in(ok("Aye [NA].")) as server:
        model = ("--model", "m", "--model-url", server.url, "--setting", "kalma")
        run = ("answer", "--questions", path, "--out", "a.jsonl", *model)
        assert cli(*run, *own).code == 0
        assert server.requests[0]["messages"][0]["content"].startswith("Ahoy!")
        other = cli(*run)
    row = json.loads(Path("a.jsonl").read_text())
    assert row["prompt"] == label
    assert row["parameters"]["run"]["own_prompts"] == [label]
    assert other.code == 2
    assert "own_prompts was" in other.err
    Path("mine.txt").write_text("[[user]]\n{{knowledge}}\n{{query}}\n")
    wrong = cli("prompt", "show", "kalma", *own)
    assert wrong.code == 2
    check_error(wrong.err)


def test_what_is_shown_of_a_prompt_is_a_prompt_to_begin_with(cli: Cli) -> None:
    """Unchanged it is the same prompt, of the same version."""
    for name in all_prompts():
        shown = cli("prompt", "show", name).out
        Path("mine.txt").write_text(shown)
        assert cli("prompt", "show", name, "--prompt", f"{name}=mine.txt").out == shown
    Path("mine.txt").write_text(f"# mine\nAhoy!\n{shown}")
    wrong = cli("prompt", "show", name, "--prompt", f"{name}=mine.txt")
    check_error(wrong.err)


def test_a_model_ranks_relations_and_an_estimate_asks_none_l5(cli: Cli, tmp_path: Path) -> None:
    path = question_file(tmp_path / "q.jsonl", 2)
    with stand_in(by_rule) as server:
        run = ("answer", "--questions", path, "--model", "m", "--model-url", server.url,
               "--ranker", "model", "--setting", "ltgen-triples")  # fmt: skip
        told = cli(*run, "--estimate", "--json")
        assert json.loads(told.out)["requests"] == 2 * (1 + 5)
        assert not server.requests
        assert cli(*run, "--out", "a.jsonl").code == 0
        ranked = [body for body in server.requests if "Relations:" in json.dumps(body)]
        assert 2 <= len(ranked) < len(server.requests)
    # Every request that an answer cost is kept with it, the ranker's before the answer's.
    answers = read_answers("a.jsonl")
    assert sum(len(item.exchanges) for item in answers) == len(server.requests)
    for item in answers:
        asked = [exchange.prompt.partition("@")[0] for exchange in item.exchanges]
        assert asked == ["rank-relations"] * (len(asked) - 1) + ["ltgen"]
        assert item.usage == usage_of(item.exchanges)
        assert item.prompt == item.exchanges[-1].prompt
    replay = cli(
        "answer", "--questions", path, "--ranker", "model", "--setting", "ltgen-triples",
        "--replay", "a.jsonl.replies.db", "--out", "b.jsonl",
    )  # fmt: skip
    assert replay.code == 0
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()


def test_a_ranking_that_failed_is_kept_with_its_answer_l5(cli: Cli, tmp_path: Path) -> None:
    path = question_file(tmp_path / "q.jsonl", 1)
    with stand_in(ok("none of them")) as server:
        run = ("answer", "--questions", path, "--model", "m", "--model-url", server.url,
               "--ranker", "model", "--out", "a.jsonl")  # fmt: skip
        assert cli(*run).code == 1
        assert len(server.requests) == 2
    (item,) = read_answers("a.jsonl")
    assert item.failure is not None
    check_text(item.failure)
    assert [exchange.text for exchange in item.exchanges] == ["none of them"] * 2
    assert item.usage is not None
    assert item.usage.total == 30


def test_an_empty_cache_is_nothing_to_replay(cli: Cli) -> None:
    with open_cache("none.db"):
        pass
    found = cli("answer", QUESTION, "--replay", "none.db")
    assert found.code == 2
    check_error(found.err)
