"""``dataset live`` on the command line, and that a stale model shows in its scores (B17)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from cli_runs import Cli

from graph_service.model.statement import make_statement
from graph_service.model.values import EntityValue, Value
from queries.builders.live import Topic, differing_topics
from queries.datasets.cases import read_question_file
from queries.datasets.gold import read_gold_questions

LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
NAMES = {"a": "Avaland", "b": "Bertburg", "c": "Carstadt", "d": "Dora Mills", "cap": "capital",
         "mayor": "mayor", "inhabitants": "inhabitants"}  # fmt: skip


def iri(name: str) -> str:
    return f"<http://example.org/{name}>"


def written(path: Path, *facts: tuple[str, str, str]) -> Path:
    lines = [f'{iri(name)} {LABEL} "{label}"@en .' for name, label in NAMES.items()]
    for head, relation, value in facts:
        lines.append(f"{iri(head)} {iri(relation)} {iri(value) if value in NAMES else value} .")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(cli: Cli, tmp_path: Path) -> Path:
    """A live set of two editions, and the store that they are in."""
    store = f"sqlite:///{tmp_path / 'live.db'}"
    earlier = written(tmp_path / "earlier.nt", ("a", "cap", "b"), ("b", "mayor", "d"),
                      ("c", "inhabitants", '"900"'))  # fmt: skip
    later = written(tmp_path / "later.nt", ("a", "cap", "c"), ("b", "mayor", "d"),
                    ("c", "mayor", "d"))  # fmt: skip
    for source in (earlier, later):
        loaded = cli("load", str(source), "--graph", "towns", "--store", store, "--replace")
        assert loaded.code == 0, loaded.err
    made = cli("dataset", "live", "--graph", "towns", "--store", store, "--from", "1", "--to", "2",
               "--out", str(tmp_path / "live"), "--json")  # fmt: skip
    assert made.code == 0, made.err
    assert made.json["questions"] == {"added": 1, "changed": 1, "removed": 1}
    return tmp_path / "live"


def scores(cli: Cli, folder: Path, answers: dict[str, str]) -> dict[str, Any]:
    """The scores of an answer to the question of each change."""
    gold_path = folder / "questions.jsonl"
    gold = read_gold_questions(gold_path)
    file = folder / "answers.jsonl"
    rows = [{"id": question.id, "text": answers[question.kind]} for question in gold]
    file.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    run = cli("score", "answer-sets", str(file), "--gold", str(gold_path), "--json")
    assert run.code == 0, run.err
    return {name: score["value"] for name, score in run.json["scores"].items()}


def test_a_stale_model_shows_and_a_fresh_one_does_not(cli: Cli, folder: Path) -> None:
    stale = scores(cli, folder, {"added": "Nobody knows.", "changed": "It is Bertburg.",
                                 "removed": "900 people."})  # fmt: skip
    # Changed and removed have stale answers; added and changed have answers, new ones both.
    assert stale["stale answer rate"] == 1.0
    assert (stale["Hits@Any"], stale["Hits@Hard"], stale["rejection recall"]) == (0.0, 0.0, 0.0)
    fresh = scores(cli, folder, {"added": "Dora Mills.", "changed": "Carstadt.",
                                 "removed": "[NA]"})  # fmt: skip
    assert fresh["stale answer rate"] == 0.0
    assert (fresh["Hits@Any"], fresh["Hits@Hard"], fresh["rejection recall"]) == (1.0, 1.0, 1.0)
    assert fresh["rejection precision"] == 1.0


def test_the_questions_are_a_question_file_and_a_second_run_writes_the_same(
    cli: Cli, folder: Path
) -> None:
    path = folder / "questions.jsonl"
    before = path.read_bytes()
    cases = read_question_file(path)
    assert {case.kind: case.stale_answers for case in cases} == {
        "added": (), "changed": ("Bertburg",), "removed": ("900",)
    }  # fmt: skip
    lock = json.loads((folder / "dataset.lock.json").read_bytes())
    assert (lock["graph"]["from"], lock["graph"]["to"]) == ("towns@1", "towns@2")
    store = f"sqlite:///{folder.parent / 'live.db'}"
    line = (
        "dataset",
        "live",
        "--graph",
        "towns",
        "--store",
        store,
        "--from",
        "1",
        "--out",
        str(folder),
    )
    assert cli(*line).code == 0
    assert path.read_bytes() == before
    other = cli(*line, "--random-seed", "5")
    assert other.code == 2
    assert "random_seed" in other.err


def test_topics_differ_by_value_and_rank_whatever_ids_come_between() -> None:
    def fact(id: str, value: str | Value, relation: str = "r") -> Any:
        target = EntityValue(value) if isinstance(value, str) else value
        return make_statement("h", relation, target, id=id)

    def topics(earlier: list[Any], later: list[Any]) -> set[Topic]:
        by_key = [sorted(rows, key=lambda row: row.key) for rows in (earlier, later)]
        return set(differing_topics(*by_key))

    many = [fact(f"s{index}", f"v{index}", f"r{index}") for index in range(40)]
    assert topics(many, many) == set()
    for index in range(40):
        assert topics(many, many[:index] + many[index + 1 :]) == {Topic("h", f"r{index}")}
        assert topics(many[:index] + many[index + 1 :], many) == {Topic("h", f"r{index}")}
        other = [*many[:index], fact(f"s{index}", "w", f"r{index}"), *many[index + 1 :]]
        assert topics(many, other) == {Topic("h", f"r{index}")}
    assert topics([], [fact("a", "v")]) == {Topic("h", "r")}
