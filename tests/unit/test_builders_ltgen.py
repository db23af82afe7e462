"""Questions and conversations of a sample, and that no gold triple is made up (L3)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from cli_runs import Cli
from error_texts import check_error, check_text
from hand_chat import HandChat, script
from openai_stand_in import HeldOnce, Scripted, by_rule, completion, stand_in

from graph_service.errors import InputError
from graph_service.model.pageviews import LongTailLevel
from graph_service.model.result import EntityRef, RelationRef, Triple
from graph_service.model.serialise import to_plain
from graph_service.model.values import EntityValue, StringValue
from queries.builders.ltgen.dataset import check
from queries.builders.ltgen.offers import (
    SampledEntity,
    conversation_offers,
    question_offers,
    read_sample,
)
from queries.builders.ltgen.writing import Writer
from queries.builders.stages import RefusedError
from queries.datasets.cases import read_question_file
from queries.generate.setting import Generation

LEVELS = tuple(LongTailLevel)


def triple(number: int, head: str, relation: str, value: str) -> Triple:
    is_entity = value.startswith("Q")
    return Triple(
        f"s{number}",
        EntityRef(head, f"Person {head}"),
        RelationRef(f"P{relation}", relation),
        EntityValue(value) if is_entity else StringValue(value),
        f"Person {value}" if is_entity else value,
    )


def entity(number: int) -> SampledEntity:
    id_ = f"Q{number}"
    facts = (
        triple(10 * number, id_, "teacher", "Q901"),
        triple(10 * number + 1, id_, "teacher", "Q902"),
        triple(10 * number + 2, id_, "motto", f"onward {number}"),
        triple(10 * number + 3, "Q903", "pupil", id_),
    )
    return SampledEntity(id_, EntityRef(id_, f"Person {id_}"), LEVELS[number % 4], facts)


def written(path: Path, entities: int) -> Path:
    rows = []
    for number in range(1, entities + 1):
        one = entity(number)
        plain = to_plain(one)
        del plain["id"]
        rows.append(orjson.dumps({**plain, "place": 1, "graph": "g"}) + b"\n")
    path.write_bytes(b"".join(rows))
    return path


def test_offers_are_a_draw_of_relations_and_all_their_facts_l3(tmp_path: Path) -> None:
    sample = read_sample(written(tmp_path / "s.jsonl", 3))
    assert sample == tuple(entity(number) for number in (1, 2, 3))
    two = question_offers(sample, most=2)
    three = question_offers(sample, most=3)
    assert len(two) == 6
    assert len(three) == 9
    assert {one.id for one in two} < {one.id for one in three}
    by_id = {one.id: one for one in three}
    assert [t.statement_id for t in by_id["Q1/Pteacher"].triples] == ["s10", "s11"]
    assert by_id["Q1/-Ppupil"].relation_words == "what has it as its pupil"
    talk = conversation_offers(sample, most_facts=3)
    assert [(one.id, len(one.triples), one.left_out) for one in talk][0] == ("Q1", 3, 1)
    more = conversation_offers(sample, most_facts=4)[0].triples
    assert set(talk[0].triples) < set(more)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"entity": 1}', "line 1: a line"),
        ('{"entity": {"id": "Q1", "label": "x", "description": null}, "level": "V"}', "line 1"),
        ("[]", "line 1: a JSON"),
    ],
)
def test_a_wrong_line_of_a_sample_is_named(tmp_path: Path, line: str, told: str) -> None:
    (tmp_path / "s.jsonl").write_text(line + "\n")
    with pytest.raises(InputError, match=rf"s\.jsonl, {told}"):
        read_sample(tmp_path / "s.jsonl")


OFFER = question_offers([entity(1)], most=9)
TEACHER = next(one for one in OFFER if one.relation == "Pteacher")


def writer(*replies: str) -> Writer:
    return Writer(HandChat(script(*replies)), Generation(), 3)


def test_a_question_names_its_entity_and_its_gold_facts_l3() -> None:
    made = writer("Question: Who taught\nPerson Q1?\nFacts: 2, 1").question(TEACHER)
    assert (made.question, made.facts) == ("Who taught Person Q1?", (2, 1))
    made = writer("I think so.", "Question: Who taught Person Q1?\nFacts: 1").question(TEACHER)
    assert made.facts == (1,)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("Question: Who taught Person Q1?\nFacts: 3", "fact not offered"),
        ("Question: Who taught Person Q1?\nFacts: none", "no gold fact"),
        ("Question: Who taught Person Q1?\nFacts: Q901", "unreadable reply"),
        ("Question: Who taught her?\nFacts: 1", "entity not named"),
        ("Question: Did Person Q901 teach Person Q1?\nFacts: 1", "answer given away"),
        ("Question: Tell me of Person Q1.\nFacts: 1", "no question"),
        ("Who taught Person Q1?", "unreadable reply"),
        ("Question: Who taught Person Q1?", "unreadable reply"),
    ],
)
def test_half_good_questions_are_refused_with_the_reason_l3(reply: str, why: str) -> None:
    with pytest.raises(RefusedError) as caught:
        writer(reply).question(TEACHER)
    assert caught.value.why == why


TALK = conversation_offers([entity(1)], most_facts=9)[0]
GOOD = """User: Who taught Person Q1?
Agent: Person Q901 did.
Facts: 1
User: Thank you.
Agent: You are
welcome.
Facts: none
User: And who is her pupil?
Agent: Person Q903's pupil is Person Q1.
Facts: 4, 3"""


def test_a_conversation_keeps_the_facts_of_each_turn_l3() -> None:
    turns = writer(GOOD).conversation(TALK).turns
    assert [turn.facts for turn in turns] == [(1,), (), (4, 3)]
    assert turns[1].agent == "You are welcome."


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (GOOD.replace("Facts: 4, 3", "Facts: 4, 5"), "fact not offered"),
        (GOOD.replace("Facts: 1", "Facts: none").replace("4, 3", "none"), "no gold fact"),
        (GOOD.replace("Person Q1?", "her?"), "entity not named"),
        (GOOD.replace("Facts: none\n", ""), "unreadable reply"),
        (GOOD.replace("User: Thank you.", "User:"), "unreadable reply"),
        ("Sure! Here it is.\n" + GOOD, "unreadable reply"),
        (GOOD.replace("Agent", "Bot", 1), "unreadable reply"),
        ("", "unreadable reply"),
    ],
)
def test_half_good_conversations_are_refused_with_the_reason_l3(reply: str, why: str) -> None:
    with pytest.raises(RefusedError) as caught:
        writer(reply).conversation(TALK)
    assert caught.value.why == why


def build(url: str, out: str, *more: str) -> tuple[str, ...]:
    return ("dataset", "ltgen", "build", "--sample", "s.jsonl", "--model", "m", "--model-url", url,
            "--out", out, *more)  # fmt: skip


def data_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*.json*"))}


def test_a_set_of_50_is_built_checked_and_described_l3(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    written(tmp_path / "s.jsonl", 17)
    with stand_in(by_rule) as server:
        made = cli(*build(server.url, "d", "--json"))
    assert made.code == 0, made.err
    # 17 entities, 3 questions of each; the stand-in's conversations have three turns.
    assert made.json["stages"] == [
        {"name": "1-questions", "inputs": 51, "made": 51, "refused": {}},
        {"name": "2-conversations", "inputs": 17, "made": 17, "refused": {}},
    ]
    assert made.json["made"] == 51 + 17 * 3
    check_text(cli("dataset", "ltgen", "check", "--out", "d").out)
    stats = cli("dataset", "ltgen", "stats", "--out", "d", "--json").json["columns"]
    assert stats["d"]["questions"] == 51
    assert sum(stats[f"level {level}"]["entities"] for level in LEVELS) == 17
    assert stats["d"]["turns of a conversation"] == 3.0
    assert stats["LTGen, as published"]["turns with gold"] == 13334
    turns = read_question_file(tmp_path / "d" / "turns.jsonl")
    assert [len(case.history) for case in turns[:3]] == [0, 2, 4]
    assert turns[0].statement_ids
    # Answers that say the gold name it, by the knowledge scores.
    answers = [
        {"id": case.id, "kind": case.kind, "text": f"It is {' and '.join(case.answers)}."}
        for case in turns
    ]
    (tmp_path / "a.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in answers))
    scored = cli("score", "knowledge", "a.jsonl", "--gold", "d/turns.jsonl", "--json").json
    assert scored["scores"]["eKM"]["value"] == 1.0
    assert set(scored["by"]["kind"]) == {f"level {level}" for level in LEVELS}


def test_check_names_what_was_changed_by_hand_l3(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    written(tmp_path / "s.jsonl", 2)
    with stand_in(by_rule) as server:
        assert cli(*build(server.url, "d")).code == 0
    path = tmp_path / "d" / "questions.jsonl"
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    rows[1]["statement_ids"] = ["made-up"]
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    (tmp_path / "d" / "references.jsonl").write_bytes(b"")
    wrong = check(tmp_path / "d")
    check_text(wrong[0], "questions.jsonl", "2", "'made-up'")
    check_text(wrong[1], "turns.jsonl", "1", "'Q1#1'")
    found = cli("dataset", "ltgen", "check", "--out", "d")
    assert found.code == 1
    assert found.out.endswith(f"{len(wrong)} faults\n")
    path.unlink()
    assert "questions.jsonl" in cli("dataset", "ltgen", "check", "--out", "d").err


def test_another_sample_or_setting_is_refused_line_by_line(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    written(tmp_path / "s.jsonl", 1)
    with stand_in(by_rule) as server:
        assert cli(*build(server.url, "d")).code == 0
        written(tmp_path / "s.jsonl", 2)
        refused = cli(*build(server.url, "d", "--turns", "2"))
    assert refused.code == 2
    check_error(refused.err)
    assert "files.s.jsonl: " in refused.err
    check_text(cli("dataset", "kalma", "check", "--out", "d").err)
    check_error(cli(*build("http://127.0.0.1:9", "e", "--questions", "0", "--turns", "0")).err)
    check_error(cli("dataset", "ltgen", "build", "--sample", "s.jsonl", "--out", "e").err)


def test_killed_with_sigkill_it_asks_nothing_twice_and_ends_in_the_same_bytes_l3(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    written(tmp_path / "s.jsonl", 4)
    held = HeldOnce(by_rule, index=5)
    with stand_in(held) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "graph_service.cli", *build(server.url, "killed")],
            env=dict(os.environ),
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert held.begun.wait(600)
        process.kill()
        process.wait()
        held.go.set()
        stage = tmp_path / "killed" / "stages" / "1-questions.jsonl"
        assert 0 < stage.read_bytes().count(b"\n") < 12
        assert cli(*build(server.url, "killed", "--workers", "3")).code == 0
        different = {orjson.dumps(request) for request in server.requests}
        # The one that was under way when it was killed may come again.
        assert len(server.requests) - len(different) <= 1
    (tmp_path / "whole").mkdir()
    shutil.copyfile(tmp_path / "killed" / "replies.db", tmp_path / "whole" / "replies.db")
    replay = cli("dataset", "ltgen", "build", "--sample", "s.jsonl", "--model", "m", "--replay",
                 "--out", "whole")  # fmt: skip
    assert replay.code == 0, replay.err
    assert data_of(tmp_path / "killed") == data_of(tmp_path / "whole")


def test_an_endpoint_with_faults_costs_items_and_not_the_build_l3(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of every fifth request the content filter withholds the reply; another run may take it back."""

    monkeypatch.setenv("OPENAI_API_KEY", "k")
    written(tmp_path / "s.jsonl", 4)
    count = 0

    def rule(body: dict[str, object]) -> Scripted:
        nonlocal count
        count += 1
        if count % 5 == 0:
            return Scripted(200, completion(None, finish="content_filter"))
        return by_rule(body)

    with stand_in(rule) as server:
        made = cli(*build(server.url, "d", "--turns", "0", "--json"))
        assert made.json["stages"][0]["refused"] == {"no reply": 2}
        count = -100
        again = cli(*build(server.url, "d", "--turns", "0", "--retry-failed", "--json"))
    assert again.json["stages"][0] == {
        "name": "1-questions",
        "inputs": 12,
        "made": 12,
        "refused": {},
    }
