"""Published retrievers beside ours: each on a graph that is small enough to work out by hand (B17)."""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import networkx
import numpy as np
import pytest
from cli_runs import Cli
from robustness_sets import frozen_sets
from small_surroundings import embed, sentences

from benchmarks.__main__ import main
from benchmarks.commands import leaderboard as command
from benchmarks.retrievers.measuring import (
    KnownRows,
    Measured,
    judge,
    leaderboard,
    of_complete_questions,
)
from benchmarks.retrievers.methods import Bm25, Dense, GRetriever, OverWholeGraph, PageRank, Walks
from benchmarks.retrievers.protocol import (
    Question,
    Ranked,
    Retrieved,
    Surroundings,
    surroundings,
    whole_graph,
)
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.retrieve.preset import PRESETS, find_preset
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay
from queries.robustness import recipe as recipes

FACTS = (
    ("a", "knows", "b"),
    ("b", "knows", "c"),
    ("c", "likes", "d"),
    ("d", "likes", "e"),
)
QUESTION = Question("1", "a likes", ("a",), ("d",), ())


@pytest.fixture
def graph(small_graph: Callable[..., KnowledgeGraph]) -> KnowledgeGraph:
    return small_graph(FACTS)


@pytest.fixture
def around(graph: KnowledgeGraph) -> Surroundings:
    return surroundings(graph, None, ("a",), view=None, hops=4)


def shown(around: Surroundings, retrieved: Retrieved) -> list[str]:
    return sentences(around, [statement.statement_id for statement in retrieved.statements])


def test_surroundings_are_the_statements_within_some_steps(graph: KnowledgeGraph) -> None:
    for hops, expected in ((1, 1), (2, 2), (3, 3), (9, 4)):
        near = surroundings(graph, None, ("a",), view=None, hops=hops)
        assert len(near.statement_ids) == expected
    assert [near.nodes[int(node)] for node in near.topics] == ["a"]
    assert surroundings(graph, None, ("nothing",), view=None, hops=2).statement_ids == ()
    hub = surroundings(graph, None, ("a",), view=None, hops=9, hub_degree=1)
    assert len(hub.statement_ids) == 1


def test_surroundings_on_a_view_have_its_statements(graph: KnowledgeGraph) -> None:
    spec = ViewSpec(Method.EDGE_REWIRING, level=1.0)
    delta, _ = make_delta(graph, spec)
    overlay = lay(graph, delta, view_id="v")
    near = surroundings(graph, overlay, ("a", "b", "c", "d"), view=None, hops=9)
    changed = len(delta.replaced)
    assert changed > 0
    assert sum(id_.startswith("view:") for id_ in near.statement_ids) == changed
    assert len(near.statement_ids) == len(FACTS)


def test_statements_of_a_view_do_not_lose_every_tie(graph: KnowledgeGraph) -> None:
    delta, _ = make_delta(graph, ViewSpec(Method.EDGE_REWIRING, level=0.5))
    overlay = lay(graph, delta, view_id="v")
    near = surroundings(graph, overlay, ("a", "b", "c", "d"), view=None, hops=1)
    ids = list(near.statement_ids)
    is_of_view = [id_.startswith("view:") for id_ in ids]
    assert is_of_view.count(True) == 2
    assert is_of_view != sorted(is_of_view)
    everything = whole_graph(graph, overlay, view=None)
    order = everything.order(np.zeros(len(ids)))
    assert [everything.statement_ids[index] for index in order] == ids


def test_a_whole_graph_has_the_statements_of_a_view_and_no_topics(graph: KnowledgeGraph) -> None:
    spec = ViewSpec(Method.EDGE_DELETION, level=0.5)
    delta, _ = make_delta(graph, spec)
    everything = whole_graph(graph, None, view=None)
    left = whole_graph(graph, lay(graph, delta, view_id="v"), view=None)
    assert len(everything.statement_ids) == len(FACTS)
    assert len(left.statement_ids) == len(FACTS) - 2
    assert set(left.statement_ids) < set(everything.statement_ids)
    assert everything.topics.tolist() == []


def test_a_retriever_over_the_whole_graph_ranks_what_is_far_away(graph: KnowledgeGraph) -> None:
    near = surroundings(graph, None, ("a",), view=None, hops=1)
    far = replace(near, whole_graph=lambda: whole_graph(graph, None, view=None))
    question = Question("1", "d likes", ("a",), (), ())
    retriever = OverWholeGraph(Bm25())
    assert retriever.name == "BM25, whole graph"
    for around, expected in ((near, {"a knows b"}), (far, {"c likes d", "d likes e"})):
        retrieved = retriever.retrieve(question, around, 2)
        everything = whole_graph(graph, None, view=None)
        assert set(shown(everything, retrieved)) == expected


def test_bm25_by_hand() -> None:
    documents = [Counter(a=1, b=1), Counter(b=1, c=2, d=1)]
    # The idf of c, in one of two documents, is log(1 + 1.5 / 1.5); the mean length is 3.
    expected = math.log(2) * 2 * 2.2 / (2 + 1.2 * (0.25 + 0.75 * 4 / 3))
    assert Bm25().scores(["c"], documents).tolist() == pytest.approx([0.0, expected])


def test_bm25_and_dense_rank_by_shared_words(around: Surroundings) -> None:
    question = Question("1", "d likes", ("a",), (), ())
    first = {"c likes d", "d likes e"}
    for retriever in (Bm25(), Dense(embed)):
        retrieved = shown(around, retriever.retrieve(question, around, 3))
        assert set(retrieved[:2]) == first
        assert len(retrieved) == 3


def test_personalised_pagerank_is_that_of_networkx(around: Surroundings) -> None:
    mass = PageRank(rounds=300).mass(around)
    graph: networkx.Graph[int] = networkx.Graph()
    graph.add_edges_from(zip(around.head.tolist(), around.tail.tolist(), strict=True))
    (topic,) = around.topics.tolist()
    expected = networkx.pagerank(graph, 0.85, {topic: 1.0}, tol=1e-14, max_iter=1000)
    assert mass.tolist() == pytest.approx([expected[i] for i in range(len(mass))])
    ranked = shown(around, PageRank().retrieve(QUESTION, around, 9))
    assert ranked == ["a knows b", "b knows c", "c likes d", "d likes e"]


def test_walks_begin_at_the_questions_entities_and_never_turn_back(around: Surroundings) -> None:
    walks = Walks(embed).draw(around, "1")
    # A path of three steps is the only way to go.
    assert [[around.sentence(i) for i in walk] for walk in walks] == [
        ["a knows b", "b knows c", "c likes d"]
    ]
    assert Walks(embed).draw(around, "1") == walks
    retrieved = Walks(embed).retrieve(QUESTION, around, 2)
    assert shown(around, retrieved) == ["a knows b", "b knows c"]


def test_the_tree_of_g_retriever_joins_what_is_near_the_question(around: Surroundings) -> None:
    # The nodes a, b and c have the prizes 3, 2 and 1, and no edge has any.
    retriever = GRetriever(embed, best_edges=0)
    nodes = {name: place for place, name in enumerate(around.node_names)}
    prizes = np.zeros(len(nodes))
    prizes[[nodes["a"], nodes["b"], nodes["c"]]] = (3, 2, 1)
    chosen = retriever.tree(around.head, around.tail, prizes, np.zeros(4))
    assert sorted(around.sentence(i) for i in chosen) == ["a knows b", "b knows c"]
    # An edge whose prize is above its cost is a node: it is chosen although its ends have no prize.
    edge = [around.sentence(i) for i in range(4)].index("d likes e")
    edge_prizes = np.zeros(4)
    edge_prizes[edge] = 5
    chosen = retriever.tree(around.head, around.tail, np.zeros(len(nodes)), edge_prizes)
    assert [around.sentence(i) for i in chosen] == ["d likes e"]


def test_what_a_retriever_gave_is_judged_by_hand() -> None:
    question = Question("1", "?", ("a",), ("d", "z"), (frozenset({"s1", "s2"}), frozenset({"s3"})))
    statements = [Ranked(f"n{i}", "x", "y") for i in range(5)]
    statements = [Ranked("s1", "a", "b"), *statements, Ranked("s3", "c", "d")]
    values = judge(question, Retrieved(tuple(statements)))
    # The seventh statement is the second set, and one of both answers is its end.
    assert (values["answers@5"], values["answers@10"]) == (0.0, 0.5)
    assert (values["statements@5"], values["statements@10"]) == (0.5, 1.0)
    # The far end of the first statement is b; an answer that is named counts instead.
    assert values["hits@1"] == 0.0
    assert judge(question, Retrieved(tuple(statements), "z"))["hits@1"] == 1.0
    assert judge(question, Retrieved(()))["hits@1"] == 0.0


def test_draws_of_a_view_are_one_line_with_an_interval(tmp_path: Path) -> None:
    rows = KnownRows(tmp_path / "rows.jsonl")
    values = dict.fromkeys(
        ("answers@5", "answers@10", "answers@20", "statements@5", "statements@10",
         "statements@20", "hits@1"), 1.0
    )  # fmt: skip
    for seed in (0, 1):
        for question in range(4):
            value = float(question > seed)
            rows.add(
                Measured("s", f"ed/0.3/{seed}", "r", str(question), {**values, "hits@1": value}, 9)
            )
    (line,) = leaderboard(rows.rows.values())
    assert (line.view, line.questions, line.median_ms) == ("ed/0.3", 4, 9)
    # Of eight answers five are right.
    assert line.measures["hits@1"].value == 5 / 8
    assert line.measures["answers@5"].value == 1.0
    assert line.measures["answers@5"].low is not None
    # A line that was torn by a kill is measured again.
    file = tmp_path / "rows.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    assert len(KnownRows(file).rows) == 7


def row(view: str, retriever: str, question: str) -> Measured:
    return Measured("s", view, retriever, question, {}, 1.0)


def test_a_question_counts_that_all_were_asked_on_all_views() -> None:
    rows = [
        row(view, retriever, question)
        for question in ("1", "2", "3")
        for view in ("base", "v")
        for retriever in ("a", "b")
        # The time was over before the third question on the view.
        if (question, view) != ("3", "v")
    ]
    assert {row.question for row in of_complete_questions(rows)} == {"1", "2"}
    assert of_complete_questions([]) == []


def test_all_sets_are_asked_some_questions_before_any_is_asked_more() -> None:
    pathquestion, okgqa = recipes.find_sets(("pathquestion/path-1/v1", "okgqa/path-1/v1"))
    assert pathquestion.frozen is not None
    assert okgqa.frozen is not None
    assert (len(pathquestion.frozen.question_ids), len(okgqa.frozen.question_ids)) == (200, 39)
    both = (pathquestion, okgqa)
    counts = [(first, recipe.source) for first, recipe in command.rounds(both, 45)]
    assert counts == [
        (10, "pathquestion"), (10, "okgqa"), (20, "pathquestion"), (20, "okgqa"),
        (40, "pathquestion"), (39, "okgqa"), (45, "pathquestion"),
    ]  # fmt: skip
    assert [first for first, _ in command.rounds((okgqa,), 0)] == [10, 20, 39]


def test_each_preset_that_ships_is_asked_by_each_of_its_strategies() -> None:
    asked = {(find_preset(preset).name, strategy) for preset, strategy in command.OWN}
    names = {find_preset(name).name for name in PRESETS}
    left_out = {(name, strategy.value) for name in names for strategy in Strategy} - asked
    # It keeps statements that need not be connected, and refuses to be asked for a subgraph.
    assert left_out == {("ltgen-1", "subgraph")}


@pytest.fixture
def asking(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[str]]:
    """Makes a call of the leaderboard over small sets, of which one is named."""
    del cli
    sets = frozen_sets(tmp_path / "data", tmp_path / "freezing")
    monkeypatch.setattr(recipes, "source_names", lambda: ("films",))
    monkeypatch.setattr(recipes, "read_source", lambda _: sets)

    def words(family: str, *names: str) -> list[str]:
        call = ["leaderboard", "--data", str(tmp_path / "data"), "--keep", str(tmp_path / "sets")]
        call += ["--only", f"films/{family}/v1", "--out", str(tmp_path / "lines.json")]
        return [*call, *(word for name in names for word in ("--retriever", name))]

    return words


def test_the_leaderboard_asks_all_retrievers_the_same(
    asking: Callable[..., list[str]], tmp_path: Path
) -> None:
    names = ("BM25", "BM25, whole graph", "ours: default, paths", "G-Retriever's PCST")
    call = [*asking("path-1", *names), "--sample", "3"]
    assert main(call) == 0
    out = tmp_path / "lines.json"
    lines = json.loads(out.read_text())
    assert {line["retriever"] for line in lines} == set(names)
    assert {line["view"] for line in lines} == {"base", "path-deletion/n1", "path-control/n1"}
    assert all(line["questions"] == 3 for line in lines)
    hits = {
        (line["retriever"], line["view"]): line["measures"]["answers@20"]["value"] for line in lines
    }
    assert hits["ours: default, paths", "base"] == 1.0
    assert hits["ours: default, paths", "path-deletion/n1"] == 0.0
    # What is measured already is not measured again.
    rows = tmp_path / "sets" / "films" / "path-1" / "v1" / "leaderboard.jsonl"
    before = rows.read_bytes()
    tables, table = tmp_path / "tables.md", tmp_path / "figures.csv"
    assert main([*call, "--tables", str(tables), "--csv", str(table)]) == 0
    assert rows.read_bytes() == before
    # Nothing is asked once the time is over.
    assert main([*call, "--sample", "5", "--minutes", "1e-9"]) == 0
    assert rows.read_bytes() == before
    of_base, of_views = (
        list(csv.DictReader(text.splitlines(), delimiter="|"))[1:]
        for text in re.findall(r"^(?:\|.*\n)+", tables.read_text().replace(" | ", "|"), re.M)
    )
    retrievers = list(dict.fromkeys(line["retriever"] for line in lines))
    assert [row[" retriever"].strip() for row in of_base] == retrievers
    assert [row[" retriever"].strip() for row in of_views] == retrievers
    ours = next(row for row in of_base if row[" retriever"].startswith(" ours"))
    assert ours["@20"] == "1.00 (.29 to 1.00)"
    ours = next(row for row in of_views if row[" retriever"].startswith(" ours"))
    assert ours["path-deletion/n1"].startswith(".00 (.00 to .71), ")
    figures = list(csv.DictReader(table.read_text().splitlines()))
    assert [(row["view"], row["retriever"]) for row in figures] == [
        (line["view"], line["retriever"]) for line in lines
    ]
    row = next(row for row in figures if row["retriever"] == "ours: default, paths")
    assert (row["answers@20"], row["answers@20 low"], row["MB"]) == ("1.000", "0.292", "")


def test_a_set_of_names_is_asked_from_the_entities_that_are_linked(
    asking: Callable[..., list[str]], tmp_path: Path
) -> None:
    assert main([*asking("names", "BM25", "ours: default, paths"), "--sample", "3"]) == 0
    lines = json.loads((tmp_path / "lines.json").read_text())
    values = {
        (line["retriever"], line["view"]): line["measures"]["answers@20"]["value"] for line in lines
    }
    assert values["BM25", "base"] == 1.0
    assert values["ours: default, paths", "base"] == 1.0
    assert {view for _, view in values} == {"base", "names/1"}
