"""The linker on BioKaLMA's questions, among 154,599 other names (K2)."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest
from named_graphs import build_graph

from graph_service.link import link
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.values import StringValue

pytestmark = pytest.mark.data

Questions = list[tuple[str, list[dict[str, str]]]]


@pytest.fixture(scope="module")
def questions(data_dir: Path) -> Questions:
    path = data_dir / "biokalma" / "simple_question_graph.json"
    pairs = json.loads(path.read_text(encoding="utf-8"))
    # Every third with people in it: a figure within a point of the whole's, in a third of the time.
    return [(question, people) for question, people in pairs if people][::3]


@pytest.fixture(scope="module")
def graph(data_dir: Path, questions: Questions) -> KnowledgeGraph:
    names: dict[str, list[str]] = {}
    with lzma.open(data_dir / "wikidata_labels_en_partial.tsv.xz", "rt", encoding="utf-8") as file:
        for line in file:
            id_, label = line.rstrip("\n").split("\t")[:2]
            names[id_] = [f"en:{label}"]
    facts = {}
    for _, people in questions:
        for person in people:
            names[person["qid"]] = [f"en:{person['name']}"]
            for key, value in person.items():
                if value and key not in ("name", "qid"):
                    facts[person["qid"], key] = StringValue(value)
    return build_graph(names, [(id_, key, value) for (id_, key), value in facts.items()])


@pytest.mark.parametrize("lower", [False, True])
def test_people_named_in_questions(
    graph: KnowledgeGraph, questions: Questions, lower: bool
) -> None:
    """Of the mentions that stand in a question .97 are found, and .90 of the people linked are
    gold, in a question as written and in lower case."""
    people = {person["qid"] for _, gold in questions for person in gold}
    stand = found = linked = right = 0
    for question, gold in questions:
        asked = question.lower() if lower else question
        ids = [
            graph.node_ids[mention.candidates[0].node] for mention in link(asked, graph, limit=8)
        ]
        wanted = {person["qid"] for person in gold}
        named = {p["qid"] for p in gold if p["name"].lower() in question.lower()}
        stand += len(named)
        found += len(named & set(ids))
        linked += len(people & set(ids))
        right += len(wanted & set(ids))
    assert stand > 250
    assert found / stand >= 0.97
    assert right / linked >= 0.90
