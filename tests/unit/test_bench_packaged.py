"""Retrievers of packages in processes of their own, SubgraphRAG's scorer, memory and picture (B17)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from cli_runs import Cli
from robustness_sets import frozen_sets
from small_surroundings import WORDS, embed, sentences

from benchmarks.commands.options import LeaderboardOptions
from benchmarks.retrievers.figure import draw
from benchmarks.retrievers.measuring import Line
from benchmarks.retrievers.memory import measured_peak
from benchmarks.retrievers.packaged import PROGRAMS, Package, Packaged, open_packaged
from benchmarks.retrievers.protocol import Question, Surroundings, surroundings
from benchmarks.retrievers.subgraph_rag import (
    SubgraphRag,
    distances,
    features,
    on_shortest_paths,
    read_weights,
    train,
    training_examples,
)
from graph_service.cli.robustness.set_graph import open_set_graph
from graph_service.errors import SetupError
from graph_service.model.graph import KnowledgeGraph
from queries.experiment.statistics import Estimate, estimate
from queries.robustness import recipe as recipes
from queries.robustness.building import Folder, SetBuilder
from queries.robustness.material import Material
from queries.robustness.questions import SetQuestion

FACTS = (
    ("a", "knows", "b"),
    ("b", "knows", "c"),
    ("c", "likes", "d"),
    ("a", "likes", "e"),
)
QUESTION = Question("1", "d c", ("a",), ("d",), ())
PROGRAM = """
import sys
from worker import Request, serve

def rank(request, embed):
    print("what a package prints stands among no answers")
    if request.question == "fail":
        raise ValueError("out of order")
    if request.question == "end":
        sys.exit(3)
    vectors = embed(request.sentences)
    if not len(vectors):
        return []
    [question] = embed([request.question])
    scores = vectors @ question
    return sorted(range(len(scores)), key=lambda index: (-scores[index], index))

serve(rank)
"""


@pytest.fixture
def around(small_graph: Callable[..., KnowledgeGraph]) -> Surroundings:
    return surroundings(small_graph(FACTS), None, ("a",), view=None, hops=4)


@pytest.fixture
def packaged(tmp_path: Path) -> Packaged:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    package = Package("by words", "none", str(program))
    packaged = Packaged(package, Path(sys.executable), {"PYTHONPATH": str(PROGRAMS)})
    packaged.open_set(embed)
    return packaged


def test_a_process_ranks_by_vectors_that_are_computed_here(
    around: Surroundings, packaged: Packaged
) -> None:
    assert packaged.peak_bytes() == 0
    for budget in (2, 1):
        retrieved = packaged.retrieve(QUESTION, around, budget)
        ids = [statement.statement_id for statement in retrieved.statements]
        # Both words of the question, then one of them.
        assert sentences(around, ids) == ["c likes d", "b knows c"][:budget]
    nothing = replace(around, statement_ids=(), head=around.head[:0], relation=around.head[:0],
                      tail=around.head[:0])  # fmt: skip
    assert packaged.retrieve(QUESTION, nothing, 2).statements == ()
    # Python with numpy has megabytes.
    assert packaged.peak_bytes() > 5 * 2**20
    packaged.close()
    assert packaged.peak_bytes() == 0


def test_a_process_stays_for_the_next_set_unless_it_holds_statements(
    around: Surroundings, packaged: Packaged
) -> None:
    packaged.retrieve(QUESTION, around, 2)
    packaged.open_set(embed)
    assert packaged.peak_bytes() > 0
    packaged.package = replace(packaged.package, needs_neo4j=True)
    packaged.open_set(embed)
    assert packaged.peak_bytes() == 0


def test_a_package_that_fails_or_ends_is_an_error(around: Surroundings, packaged: Packaged) -> None:
    with pytest.raises(SetupError, match="by words failed: ValueError: out of order"):
        packaged.retrieve(Question("1", "fail", ("a",), (), ()), around, 2)
    packaged.close()
    with pytest.raises(SetupError, match="the process of by words ended"):
        packaged.retrieve(Question("1", "end", ("a",), (), ()), around, 2)
    packaged.close()


def test_packages_without_environment_or_server_are_named(tmp_path: Path) -> None:
    python = tmp_path / "graphrag" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    with open_packaged(tmp_path, neo4j={}) as (opened, left_out):
        assert opened == []
        assert sum("no server is named" in reason for reason in left_out) == 2
        assert sum("make retrievers" in reason for reason in left_out) == len(left_out) - 2
    with open_packaged(tmp_path, neo4j={"NEO4J_URI": "bolt://x"}) as (opened, _):
        assert [each.settings["NEO4J_URI"] for each in opened] == ["bolt://x"] * 2


def test_directional_distances_by_hand(around: Surroundings) -> None:
    rows = dict(zip(around.node_names, distances(around).tolist(), strict=True))
    # Along the statements: b and e have a alone before them, c has b. Against them: a has b and e
    # behind it, of which none is the topic.
    assert rows["a"] == [1, 0, 0, 0, 0]
    assert rows["b"] == [0, 1, 0, 0, 0]
    assert rows["c"] == [0, 0, 1, 0, 0]
    assert rows["e"] == [0, 1, 0, 0, 0]
    inputs = features("a", around, np.arange(4), embed)
    assert inputs.shape == (4, 4 * len(WORDS) + 2 * 5)


def test_statements_on_shortest_paths(around: Surroundings) -> None:
    def chosen(*answers: str) -> set[str]:
        named = [around.nodes[around.node_names.index(name)] for name in answers]
        rows = np.flatnonzero(on_shortest_paths(around, named))
        return {around.sentence(i) for i in rows.tolist()}

    assert chosen("d") == {"a knows b", "b knows c", "c likes d"}
    assert chosen("e", "b") == {"a likes e", "a knows b"}
    assert on_shortest_paths(around, ["nowhere"]).sum() == 0


def test_the_scorer_learns_which_statements_lead_to_answers(
    around: Surroundings, tmp_path: Path
) -> None:
    material = Material(FACTS, {})
    questions = [
        SetQuestion(f"{name}{index}", f"{name} {word}", "", (name,), (answer,), ())
        for index in range(8)
        for name, word, answer in (("a", "knows", "b"), ("a", "likes", "e"), ("c", "likes", "d"))
    ]
    examples = list(training_examples(material, questions, embed, hops=4))
    assert [int(labels.sum()) for _, labels in examples[:3]] == [1, 1, 1]
    weights = train(examples, epochs=60, batch=8)
    path = tmp_path / "weights.npz"
    weights.save(path)
    scorer = SubgraphRag(embed, read_weights(path))
    for word, best in (("knows", "a knows b"), ("likes", "a likes e")):
        question = Question("1", f"a {word}", ("a",), (), ())
        ids = [row.statement_id for row in scorer.retrieve(question, around, 1).statements]
        assert sentences(around, ids) == [best]
    untrained = train(examples, epochs=0)
    inputs, labels = examples[0]
    losses = []
    for network in (untrained, weights):
        right = 1 / (1 + np.exp(-network.scores(inputs) * (2 * labels - 1)))
        losses.append(-np.log(right).mean())
    assert losses[1] < losses[0] / 5


def line(retriever: str, view: str, value: float) -> Line:
    measures: dict[str, Estimate] = {"answers@5": estimate(np.array([[value]]))}
    return Line("source/family/v1", view, retriever, 1, measures, 1.0)


def test_the_picture_has_a_cell_for_each_figure_and_a_background() -> None:
    svg = draw([line("first & best", "base", 1.0), line("other", "base", 0.25),
                line("other", "view", 0.0)])  # fmt: skip
    root = ElementTree.fromstring(svg)
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"first & best", "other", "base", "view", "1.00", ".25", ".00"} <= set(texts)
    boxes = [element for element in root.iter() if element.tag.endswith("rect")]
    # The page, three figures, and one view on which a retriever was not run.
    assert len(boxes) == 5
    assert sum(box.get("class") == "none" for box in boxes) == 1
    assert "prefers-color-scheme: dark" in svg


def test_the_picture_has_the_base_of_a_source_once() -> None:
    lines = [replace(line("r", view, 0.5), set=f"{source}/{family}/v1")
             for source in ("films", "towns") for family in ("path-1", "names")
             for view in ("base", family)]  # fmt: skip
    texts = [each.text for each in ElementTree.fromstring(draw(lines)).iter() if each.text]
    assert [text for text in texts if text in ("base", "path-1", "names")] == [
        *("base", "path-1", "names"),
        *("base", "path-1", "names"),
    ]


def test_memory_is_the_peak_of_the_process_that_asks(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    del cli
    sets = frozen_sets(tmp_path / "data", tmp_path / "freezing")
    path = next(item for item in sets if "path-1" in item.name)
    monkeypatch.setattr(recipes, "source_names", lambda: ("films",))
    monkeypatch.setattr(recipes, "read_source", lambda _: (path,))
    options = LeaderboardOptions(data=tmp_path / "data", keep=tmp_path / "sets")
    folder = Folder(options.keep, path)
    folder.path.mkdir(parents=True, exist_ok=True)
    with open_set_graph(folder) as graph:
        SetBuilder(tmp_path / "data", options.keep, print).make(path, graph)
    assert measured_peak(options, path.name, "BM25") > 20 * 2**20
