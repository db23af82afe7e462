"""What each item and result says of itself, and ``retrieve --explain`` in words (S2, S8)."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from cli_runs import Cli
from demo_graph import ARNOLD, AURELIA, MARIA, QUESTION, copy_store, request, scored_paths
from graph_builder import build_graph

from graph_service import Service
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.result import ScoredPath, Status, Strategy
from graph_service.model.values import EntityValue
from graph_service.retrieve.origin import origins
from graph_service.retrieve.region.cut import extract_region


@pytest.fixture
def store(demo_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    url = copy_store(demo_file, tmp_path)
    monkeypatch.setenv("GRAPH_SERVICE_STORE", url)
    return url


@pytest.mark.parametrize("preset", ["default-6", "okgqa"])
def test_the_parts_of_a_path_add_up_to_its_score_s2(demo_service: Service, preset: str) -> None:
    for question, status in ((QUESTION, Status.OK), ("Tell me all about Douglas Adams", None)):
        result = demo_service.retrieve(request(question, Strategy.PATHS, preset=preset))
        assert result.items
        assert status is None or result.status is status
        for path in result.items:
            assert isinstance(path, ScoredPath)
            assert path.parts
            assert sum(part.amount for part in path.parts) == pytest.approx(path.score, abs=3e-5)
            costs = [part.amount for part in path.parts if part.name in ("below_best", "cost")]
            assert all(amount <= 0 for amount in costs)


def test_constraints_and_the_answer_are_told_in_words(store: str, cli: Cli) -> None:
    question = "Which child of Eunice Kennedy Shriver was born in 1955?"
    run = cli("retrieve", question, "--strategy", "paths", "--preset", "default-6", "--explain")
    assert "answer: Maria Shriver (by 2 statements)" in run.out
    assert "date constraint 'in 1955' is met" in run.out
    assert "meets 'in 1955'" in run.out
    assert "does not meet 'in 1955'" in run.out
    assert "does not meet -" in run.out
    assert "entities answer Maria Shriver, by" in run.out
    assert "(Maria Shriver | date of birth | 1955-11-06)" in run.out


def test_an_unmet_constraint_is_told_beside_what_is_linked(store: str, cli: Cli) -> None:
    question = "Which child of Eunice Kennedy Shriver was born in {}?"
    for year, told in (("1930", ['not met: "in 1930"']), ("1955", [])):
        run = cli("retrieve", question.format(year), "--strategy", "paths", "--preset", "default-6")
        assert [line for line in run.out.splitlines() if line.startswith("not met")] == told


@pytest.mark.parametrize("preset", ["default", "okgqa"])
@pytest.mark.parametrize("strategy", list(Strategy))
def test_each_item_names_the_entity_it_hangs_on_s2(
    demo_service: Service, strategy: Strategy, preset: str
) -> None:
    one = demo_service.retrieve(request(strategy=strategy, preset=preset))
    assert {item.origin_id for item in one.items} == {MARIA}
    both = demo_service.retrieve(
        request("Which currency?", strategy, preset=preset, entity_ids=("Q42", AURELIA), limit=20)
    )
    assert {item.origin_id for item in both.items} <= {"Q42", AURELIA}
    if preset == "default" and strategy is Strategy.PATHS:
        for path in scored_paths(both):
            first = path.steps[0]
            value = first.triple.value
            end = value.id if isinstance(value, EntityValue) else None
            assert path.origin_id == (end if first.reversed else first.triple.head.id)
        assert len({item.origin_id for item in both.items}) == 2


def _steps(graph: KnowledgeGraph, seed: int) -> dict[int, int]:
    found, frontier, hop = {seed: 0}, {seed}, 0
    while frontier:
        hop += 1
        ends = {
            end
            for head, tail in zip(graph.head[:].tolist(), graph.tail.tolist(), strict=True)
            for near, end in ((head, tail), (tail, head))
            if near in frontier
        }
        frontier = ends - found.keys()
        found |= dict.fromkeys(frontier, hop)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_a_nodes_origin_is_the_nearest_entity_of_the_question(seed: int) -> None:
    draw = random.Random(seed)
    graph = build_graph(
        [(f"Q{draw.randrange(30)}", "P1", f"Q{draw.randrange(30)}") for _ in range(45)]
    )
    start_entities = draw.sample(range(graph.entity_count), 3)
    region = extract_region(graph, np.array(start_entities, dtype=np.int32), hops=8, max_edges=1000)
    distance = [_steps(graph, one) for one in start_entities]
    # Seeds keep the order in which they were asked.
    assert region.nodes[region.start_entities].tolist() == start_entities
    for node, found in zip(region.nodes.tolist(), origins(region).tolist(), strict=True):
        far = [steps.get(node, 99) for steps in distance]
        assert found == far.index(min(far))


def test_explain_says_all_there_is_s8(cli: Cli, store: str) -> None:
    done = cli("retrieve", QUESTION, "--strategy", "paths", "--limit", "2", "--explain")
    result = cli("retrieve", QUESTION, "--strategy", "paths", "--limit", "2", "--json").json
    best, source = result["items"][0], result["provenance"]
    assert f"at Maria Shriver ({MARIA}); score: relevance" in done.out
    for step in best["steps"]:
        way = "value to head" if step["reversed"] else "head to value"
        rank = step["triple"]["rank"]
        assert f"statement {step['triple']['statement_id']}: {rank} rank, {way}" in done.out
    least = source["parameters"]["min_relevance"]
    assert f"status ok, relevance {result['relevance']:.4f} (min_relevance {least:g})" in done.out
    assert f"tokens {result['tokens']['count']} by {result['tokens']['tokenizer']}" in done.out
    before = result["region"]["before"]
    assert f"{before['nodes']} nodes, {before['edges']} edges" in done.out
    assert f"clustering {before['clustering']:.3f}, density {before['density']:.5f}" in done.out
    for name in ("preset default-6", f"embedder {source['embedder']}", "view none", "ms open"):
        assert name in done.out


def test_explain_of_a_subgraph_of_a_guess_and_of_nothing_s8(cli: Cli, store: str) -> None:
    tree = cli("retrieve", QUESTION, "--strategy", "subgraph", "--limit", "3", "--explain").out
    assert "; score: relation 0." in tree
    assert "solver " in tree
    assert "gap to the" in tree
    guess = cli("retrieve", "Tell me all about Douglas Adams", "--explain").out
    assert "status low-confidence, relevance 0." in guess
    nothing = cli("retrieve", "What is Zorblax?", "--explain").out
    assert "status no-entity-linked\n" in nothing


def test_explain_shows_qualifiers_with_their_names_s2(cli: Cli, store: str) -> None:
    plain = cli("retrieve", "Who is the spouse?", "--entity", ARNOLD, "--limit", "3").out
    whole = cli("retrieve", "Who is the spouse?", "--entity", ARNOLD, "--limit", "3", "--explain")
    assert "start time: 1986-04-26" in whole.out
    assert "start time" not in plain


def test_relations_and_ranks_are_chosen_on_the_command_line_s2(cli: Cli, store: str) -> None:
    only = cli("retrieve", QUESTION, "--relation", "P26", "--rank", "normal", "--json").json
    assert {item["triple"]["relation"]["id"] for item in only["items"]} == {"P26"}
    assert only["provenance"]["parameters"]["ranks"] == ["normal"]
    rest = cli("retrieve", QUESTION, "--exclude-relation", "P26", "--prove", "--json").json
    assert "P26" not in {item["triple"]["relation"]["id"] for item in rest["items"]}
    assert rest["provenance"]["parameters"]["prove"] is True


@pytest.mark.parametrize(
    ("preset", "own"),
    [
        ("default-6", "names walks features sequences reading constraints"),
        ("okgqa", "labels embedding prizes"),
    ],
)
@pytest.mark.parametrize("strategy", list(Strategy))
def test_the_stages_of_a_retrieval_have_their_names(
    demo_service: Service, preset: str, own: str, strategy: Strategy
) -> None:
    """They are labels of metrics and spans, which people's dashboards name."""
    result = demo_service.retrieve(request(QUESTION, strategy, preset=preset))
    before = "open link view embedder region pagerank statistics"
    stages = f"{before} {own} {strategy.value} shape total"
    assert list(result.timings_ms) == stages.split()
