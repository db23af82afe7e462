"""retriever from the command line: train on a graph, list, add from a file, delete (B7)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_runs import Cli
from demo_graph import MARIA
from error_texts import check_error, check_line
from openai_stand_in import ok, stand_in


def own(path: str) -> str:
    rows = [
        {"question": text, "entity_ids": [MARIA], "relations": [relation]}
        for text, relation in (
            ("Who is Maria Shriver married to?", "P26"),
            ("Where was Maria Shriver born?", "P19"),
            ("Who is the mother of Maria Shriver?", "P25"),
        )
    ]
    Path(path).write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_a_graph_is_learned_listed_and_forgotten(
    demo_cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRAPH_SERVICE_CACHE_DIR", str(tmp_path / "cache"))
    questions = own("own.jsonl")
    check_line(demo_cli("retriever", "list").out, "graph has weights")
    with stand_in(ok("1. whom did Maria Shriver wed?")) as server:
        model = ("--paraphrases", "1", "--model", "m", "--model-url", server.url)
        trained = demo_cli(
            "retriever", "train", "--questions", questions, "--walks", "12", "--out", "w.npz",
            "--json", *model,
        )  # fmt: skip
        assert trained.code == 0, trained.err
        assert len(server.requests) > 1
    # What was asked is kept while it runs, and no longer.
    assert not [path for path in (tmp_path / "cache" / "training").rglob("*") if path.is_file()]
    report = trained.json
    assert report["graph"] == "demo"
    assert report["decided_by"] == "all"
    aside = report["kept_aside"]
    assert aside["own"]["asked"] + aside["walks"]["asked"] > 2
    right = [
        sum(part["asked"] * (part[which] or 0.0) for part in aside.values())
        for which in ("shipped", "trained")
    ]
    assert report["used"] == (round(right[1]) > round(right[0]))
    if not report["used"]:
        check_line(demo_cli("retriever", "list").out, "graph has weights")
    assert demo_cli("retriever", "add", "w.npz").code == 0
    (listed,) = demo_cli("retriever", "list", "--json").json["retrievers"]
    assert (listed["data"], listed["stale"]) == (report["data"], False)
    assert "demo" in demo_cli("retriever", "list").out
    found = demo_cli(
        "retrieve", "Who is Maria Shriver's husband?", "--preset", "default-6", "--json"
    )
    assert (
        found.json["provenance"]["parameters"]["ranker"]
        .partition(", ")[0]
        .endswith("for graph demo")
    )
    assert demo_cli("retriever", "delete").code == 0
    again = demo_cli("retriever", "delete")
    assert again.code != 0
    check_error(again.err)


def test_bad_input_is_told_before_anything_is_asked(demo_cli: Cli) -> None:
    Path("own.txt").write_text("no weights\n", encoding="utf-8")
    for words, told in (
        (("train", "--kept-aside", "1"), "--kept-aside must be from 0.05 to 0.9"),
        (("train", "--questions", "none.jsonl"), "there is no file none.jsonl"),
        (("train", "--out", "nowhere/w.npz"), "there is no folder"),
        (("train", "--paraphrases", "2"), "--paraphrases needs a chat model"),
        (("add", "none.npz"), "can't read none.npz"),
        (("add", "own.txt"), "own.txt is no file of a trained retriever. Name one that"),
    ):
        found = demo_cli("retriever", *words)
        assert found.code != 0
        assert told in found.err, found.err
