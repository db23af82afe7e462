"""``bench quality``: chains, baselines, recall and the command (O6)."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from error_texts import check_line, raises

from graph_service.cli import main
from graph_service.errors import InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.quality.bootstrap import bootstrap_interval
from graph_service.quality.chains import Chains, triples_of, twin_of, twin_triple
from graph_service.quality.measure import choose_questions
from graph_service.quality.question_sets import ChainQuestion, read_questions

GraphMaker = Callable[..., KnowledgeGraph]

KB = """ada\tspouse\tbob
bob\tnationality\tfrance
bob\tprofession\tpainter
ada\tnationality\tspain
bob\tchildren\tcarl
carl\tprofession\tsinger
"""


def test_formats_are_read(tmp_path: Path) -> None:
    pq = tmp_path / "pq.txt"
    pq.write_text(
        "who is  ada 's spouse ?\tbob(bob/)\tada#spouse#bob#<end>#bob\n", encoding="utf-8"
    )
    (question,) = read_questions(pq, format_name="pathquestion")
    assert question.text == "who is ada 's spouse ?"
    assert (question.start, question.steps) == ("ada", (("spouse", False),))
    assert question.nodes == ("ada", "bob")
    mq = tmp_path / "mq.tsv.xz"
    with lzma.open(mq, "wt", encoding="utf-8") as file:
        file.write(
            "question\ttopic_entity\tqtype\tanswers\nwhat did [Ann B] write\tAnn B\tx\tP|Q\n"
        )
    (asked,) = read_questions(mq, format_name="metaqa")
    assert (asked.text, asked.start, asked.answers) == (
        "what did Ann B write",
        "Ann B",
        frozenset({"P", "Q"}),
    )
    wc = tmp_path / "wc.txt"
    wc.write_text("who ?\tA\ta#r#A*b#r#A\nwho ?\tA\ta#r_inverse#A#<end>#A\tA/\n", encoding="utf-8")
    (one,) = read_questions(wc, format_name="worldcup")
    assert one.steps == (("r_inverse", False),)
    own = tmp_path / "own.jsonl"
    own.write_text('{"question": "q", "start": "a", "steps": [["r", true]]}\n', encoding="utf-8")
    assert read_questions(own, format_name="chains")[0].steps == (("r", True),)


def test_what_is_no_question_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "q.txt"
    path.write_text("what did X write\ta|b\n", encoding="utf-8")
    with raises(InputError):
        read_questions(path, format_name="metaqa")
    with pytest.raises(InputError, match="line 1"):
        read_questions(path, format_name="pathquestion")
    with raises(InputError):
        read_questions(path, format_name="squad")
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no questions"):
        read_questions(path, format_name="metaqa")


def test_a_chain_that_comes_back_is_not_simple() -> None:
    """Half of PQL-2H's gold chains visit an entity twice, which a simple path never does."""
    step = ("spouse", False)
    back = ChainQuestion("q", "x", (step, step), ("x", "y", "x"))
    assert not back.is_simple()
    questions = [ChainQuestion(f"q{i}", "x", (step,), ("x", f"y{i}")) for i in range(40)]
    kept, left_out = choose_questions([back, *questions], sample=None, random_seed=0)
    assert (len(kept), left_out) == (40, 1)
    small, _ = choose_questions(questions, sample=5, random_seed=3)
    large, _ = choose_questions(questions, sample=20, random_seed=3)
    assert set(small) <= set(large)
    assert small != choose_questions(questions, sample=5, random_seed=4)[0]


def test_twins_are_one_relation(small_graph: GraphMaker) -> None:
    graph = small_graph([("p", "plays_in", "c"), ("c", "plays_in_inverse", "p")])
    chains = Chains(graph)
    assert twin_of(("plays_in_inverse", True)) == ("plays_in", False)
    assert twin_triple("c", "plays_in_inverse", "p") == ("p", "plays_in", "c")
    assert chains.candidates("c", hops=3) == {(("plays_in", True),): frozenset({"p"})}
    assert chains.instances("c", [("plays_in_inverse", False)]) == [("c", "p")]


def test_candidates_are_simple_walks_both_ways(small_graph: GraphMaker) -> None:
    graph = small_graph([("a", "r", "b"), ("c", "r", "b"), ("b", "s", "d"), ("a", "r", "d")])
    found = Chains(graph).candidates("a", hops=2)
    r, back, s = ("r", False), ("r", True), ("s", False)
    assert found == {
        (r,): frozenset({"b", "d"}),
        (r, back): frozenset({"c"}),
        (r, s): frozenset({"d"}),
        (r, ("s", True)): frozenset({"b"}),
    }
    assert Chains(graph, work=1).candidates("a", hops=2) == {}
    assert Chains(graph).candidates("nobody", hops=2) == {}
    assert triples_of(("a", "b", "c"), [r, back]) == {("a", "r", "b"), ("c", "r", "b")}


def test_the_bootstrap_draws_whole_chains() -> None:
    """One chain of ten paraphrases is one draw: the interval is that of two values."""
    values = np.array([1.0] * 10 + [0.0] * 10)
    groups = ["a"] * 10 + ["b"] * 10
    assert bootstrap_interval(values, groups, random_seed=1) == (0.0, 1.0)
    apart = bootstrap_interval(values, [str(i) for i in range(20)], random_seed=1)
    assert 0.2 < apart[0] < 0.5 < apart[1] < 0.8


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "kb.txt").write_text(KB, encoding="utf-8")
    rows = [
        "what is the nationality of ada 's spouse ?\tx\tada#spouse#bob#nationality#france",
        "what is the profession of ada 's spouse ?\tx\tada#spouse#bob#profession#painter",
        "who is bob 's children ?\tx\tbob#children#carl",
        "who is ada ?\tx\tada#spouse#bob#spouse#ada",
    ]
    (tmp_path / "q.txt").write_text("\n".join(rows) + "\n", encoding="utf-8")
    out = tmp_path / "quality.json"
    arguments = ["bench", "quality", "--format", "pathquestion", "--graph-file"]
    arguments += [str(tmp_path / "kb.txt"), "--questions", str(tmp_path / "q.txt")]
    assert main([*arguments, "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    check_line(shown, "3 questions of 3", "1 others")
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["not_simple"] == 1
    assert report["linked"] == 1.0
    first = report["scores"]["sequence@1"]
    assert first["questions"] == 3
    # From ada: spouse, nationality, spouse+nationality, spouse+profession, spouse+children and
    # spouse+children+profession, so one in six twice; from bob four of one step (spouse back),
    # two of two: one in six again.
    assert first["random"] == pytest.approx(1 / 6)
    assert first["shortest"] == pytest.approx((0 + 0 + 1 / 4) / 3)
    assert set(report["scores"]) >= {"triplets recall@2", "subgraph recall@4"}
    assert report["scores"]["right among 5"]["value"] >= first["value"]
    # There are fewer than 40 sequences, so that the right one is among them.
    assert report["scores"]["right among 40"]["value"] == 1.0


def test_the_command_says_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "quality", "--format", "metaqa"]) == 2
    assert "--graph-file" in capsys.readouterr().err
    (tmp_path / "q").write_text("who [x]\ta\n", encoding="utf-8")
    arguments = ["bench", "quality", "--format", "metaqa", "--questions", str(tmp_path / "q")]
    assert main([*arguments, "--graph-file", str(tmp_path / "none")]) == 2
    assert main([*arguments, "--graph-file", str(tmp_path / "q"), "--sample", "0"]) == 2
