"""The demo slice and its questions (rows K1, K4, K6; issue's section on the slice)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from error_texts import raises

from graph_service.errors import InputError
from graph_service.model.identity import normalise_statement_guid
from queries.datasets.demo_set import (
    DEMO_QUESTION_ID,
    DEMO_UNANSWERABLE_ID,
    demo_question,
    demo_questions,
    demo_slice,
)
from queries.datasets.gold import GoldQuestion, parse_gold_questions, read_gold_questions

Json = dict[str, Any]
QUESTIONS = demo_questions()
IDS = [question.id for question in QUESTIONS]


class Slice:
    def __init__(self) -> None:
        lines = demo_slice().read_text(encoding="utf-8").splitlines()
        self.documents: dict[str, Json] = {}
        self.edges: dict[str, tuple[str, str, str]] = {}
        self.by_head: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.statements: list[tuple[str, Json]] = []
        for line in lines:
            document = json.loads(line)
            assert document["id"] not in self.documents
            self.documents[document["id"]] = document
            for relation, group in document["claims"].items():
                for found in group:
                    guid = normalise_statement_guid(found["id"])
                    assert guid is not None
                    assert guid not in self.edges
                    assert found["mainsnak"]["property"] == relation
                    self.edges[guid] = (document["id"], relation, text(found["mainsnak"]))
                    self.by_head[document["id"], relation].add(guid)
                    self.statements.append((document["id"], found))

    def label(self, id_: str) -> str:
        found = self.documents[id_]["labels"]["en"]["value"]
        assert isinstance(found, str)
        return found


def text(snak: Json) -> str:
    """An item's id, a day, or the text of another value."""
    value = snak["datavalue"]["value"]
    if isinstance(value, str):
        return value
    if "id" in value:
        return str(value["id"])
    if "time" in value:
        return str(value["time"][1:11])
    return str(value.get("text", value.get("amount")))


def snaks(found: Json) -> list[Json]:
    groups = [found.get("qualifiers", {}), *(r["snaks"] for r in found.get("references", []))]
    return [found["mainsnak"], *(s for group in groups for row in group.values() for s in row)]


@pytest.fixture(scope="module")
def slice_() -> Slice:
    return Slice()


def test_slice_has_the_size_and_kinds_of_detail_the_demo_needs(slice_: Slice) -> None:
    ranks = Counter(found["rank"] for _, found in slice_.statements)
    kinds = Counter(s["snaktype"] for _, found in slice_.statements for s in snaks(found))
    datatypes = {found["mainsnak"]["datatype"] for _, found in slice_.statements}
    assert 1000 <= len(slice_.statements) <= 1500
    assert ranks["preferred"] >= 2
    assert ranks["deprecated"] >= 1
    assert kinds["somevalue"] >= 1
    assert sum("qualifiers" in found for _, found in slice_.statements) >= 40
    assert sum("references" in found for _, found in slice_.statements) >= 20
    assert {"wikibase-item", "time", "monolingualtext", "quantity"} <= datatypes


def test_every_mentioned_entity_has_an_english_label(slice_: Slice) -> None:
    for head, found in slice_.statements:
        assert slice_.label(head)
        for snak in snaks(found):
            assert slice_.documents[snak["property"]]["datatype"] == snak["datatype"]
            if snak["snaktype"] == "value" and snak["datatype"] == "wikibase-item":
                assert slice_.label(text(snak)).strip()
                assert snak["datavalue"]["value"]["numeric-id"] == int(text(snak)[1:])


def test_documents_have_the_shape_of_a_dump(slice_: Slice) -> None:
    for document in slice_.documents.values():
        assert document["type"] == ("item" if document["id"][0] == "Q" else "property")
        for name in ("labels", "descriptions"):
            for language, term in document[name].items():
                assert term["language"] == language
                assert term["value"]
        for language, terms in document["aliases"].items():
            assert all(term["language"] == language and term["value"] for term in terms)
    for head, found in slice_.statements:
        assert found["type"] == "statement"
        assert re.fullmatch(
            rf"(?i){head}\$[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}", found["id"]
        )
        assert found.get("qualifiers-order", []) == sorted(
            found.get("qualifiers", {}), key=found.get("qualifiers-order", []).index
        )
        for snak in snaks(found):
            if snak["datatype"] == "time" and snak["snaktype"] == "value":
                value = snak["datavalue"]["value"]
                year_only = value["time"].endswith("-00-00T00:00:00Z")
                assert value["precision"] == (9 if year_only else 11)


def test_two_people_and_two_places_share_a_label(slice_: Slice) -> None:
    same = defaultdict(set)
    for id_ in slice_.documents:
        same[slice_.label(id_)].add(id_)
    assert same["Douglas Adams"] == {"Q42", "Q28421831"}
    assert same["Cambridge"] == {"Q350", "Q49111"}
    for ids in (same["Douglas Adams"], same["Cambridge"]):
        described = {slice_.documents[i]["descriptions"]["en"]["value"] for i in ids}
        assert len(described) == 2


def test_parents_and_children_agree(slice_: Slice) -> None:
    """Of the parent statements, all but those whose parent states no child have an inverse."""
    edges = set(slice_.edges.values())
    for head, relation, tail in edges:
        if relation in ("P22", "P25") and any(e[:2] == (tail, "P40") for e in edges):
            assert (tail, "P40", head) in edges
        if relation == "P26":
            assert (tail, "P26", head) in edges
    # A person has at most one father and one mother.
    for (_, relation), ids in slice_.by_head.items():
        assert relation not in ("P22", "P25", "P569", "P570", "P19") or len(ids) == 1


def test_lives_are_in_order(slice_: Slice) -> None:
    days = {(h, r): v for h, r, v in slice_.edges.values() if r in ("P569", "P570")}
    for (head, relation), day in days.items():
        if relation == "P570" and (head, "P569") in days:
            assert days[head, "P569"] < day
    for head, relation, tail in slice_.edges.values():
        if relation in ("P22", "P25") and {(head, "P569"), (tail, "P569")} <= days.keys():
            assert int(days[head, "P569"][:4]) - int(days[tail, "P569"][:4]) >= 16


def test_there_are_fifty_questions_of_the_kinds_promised() -> None:
    kinds = Counter(question.kind for question in QUESTIONS)
    assert kinds == {"one-hop": 13, "two-hop": 24, "three-hop": 4, "homonym": 4, "lacking": 5}
    assert len({question.question for question in QUESTIONS}) == 50
    assert demo_question(DEMO_QUESTION_ID).hops == 2
    assert demo_question(DEMO_UNANSWERABLE_ID).lacking


@pytest.mark.parametrize("question", QUESTIONS, ids=IDS)
def test_each_minimum_set_is_a_chain_from_named_entities_to_the_answers(
    question: GoldQuestion, slice_: Slice
) -> None:
    for ids in question.minimum_sets:
        reached = set(question.entity_ids)
        ends: set[str] = set()
        last: str | None = None
        for id_ in ids:
            head, _, tail = slice_.edges[id_]
            # Statements of one layer leave the same entity; a new layer starts at an end.
            near = {head, tail} & reached
            assert near, f"{id_} is not connected to what came before"
            start = min(near)
            if start != last:
                ends = set()
            last = start
            ends.add(tail if start == head else head)
            reached |= {head, tail}
        if not question.lacking:
            expected = set(question.answer_ids) or set(question.answers)
            assert ends == expected


@pytest.mark.parametrize("question", QUESTIONS, ids=IDS)
def test_questions_name_their_entities_and_answers_are_labels(
    question: GoldQuestion, slice_: Slice
) -> None:
    def names(id_: str) -> list[str]:
        document = slice_.documents[id_]
        return [slice_.label(id_), *(a["value"] for a in document["aliases"].get("en", []))]

    for id_ in question.entity_ids:
        assert any(name.lower() in question.question.lower() for name in names(id_)), names(id_)
    for id_ in question.answer_ids:
        assert slice_.label(id_) in question.answers
        assert slice_.label(id_).lower() not in question.question.lower()


@pytest.mark.parametrize("question", QUESTIONS, ids=IDS)
def test_no_answer_is_left_out(question: GoldQuestion, slice_: Slice) -> None:
    """All statements of the last relation from the same entity are in the minimum set."""
    if question.lacking:
        return
    head, relation, _ = slice_.edges[question.statement_ids[-1]]
    last = {id_ for id_ in question.statement_ids if slice_.edges[id_][:2] == (head, relation)}
    assert last == slice_.by_head[head, relation]


@pytest.mark.parametrize("question", [q for q in QUESTIONS if q.lacking], ids=str)
def test_lacking_questions_have_no_statement_of_the_relation(
    question: GoldQuestion, slice_: Slice
) -> None:
    """K6: the graph has the entity and the relation, and no such statement of that entity."""
    assert question.answers == ("[NA]",)
    assert question.absent
    for entity, relation in question.absent:
        assert entity in slice_.documents
        assert relation in slice_.documents
        assert not slice_.by_head[entity, relation]


def test_alternatives_differ_from_the_minimum_set() -> None:
    for question in QUESTIONS:
        sets = [frozenset(ids) for ids in question.minimum_sets]
        assert len(set(sets)) == len(sets)
    assert any(question.alternatives for question in QUESTIONS)


def test_short_records_get_defaults() -> None:
    raw = "q42-f078e5b3-f9a8-480e-b7ac-d97778cbbef9"
    own, lacking = parse_gold_questions(
        [
            json.dumps({"question": "Is Douglas Adams human?", "statement_ids": [raw]}),
            "",
            json.dumps({"id": 7, "question": "What was his blood type?", "lacking": True}),
        ],
        source="own.jsonl",
    )
    assert own.id == "1"
    assert own.statement_ids == ("Q42$F078E5B3-F9A8-480E-B7AC-D97778CBBEF9",)
    assert lacking == GoldQuestion(
        "7", "What was his blood type?", "lacking", answers=("[NA]",), lacking=True
    )


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"id": "x"}',
        '{"question": " "}',
        '{"question": 5}',
        '{"question": "?", "hops": true}',
        '{"question": "?", "hops": -1}',
        '{"question": "?", "lacking": "no"}',
        '{"question": "?", "entity_ids": "Q42"}',
        '{"question": "?", "answers": ["a", 1]}',
        '{"question": "?", "answers": ["a", "a"]}',
        '{"question": "?", "alternatives": ["a"]}',
        '{"question": "?", "statements_ids": []}',
        '{"question": "?", "id": "first"}',
        '{"question": "?", "lacking": true, "answers": ["a"]}',
        '{"question": "?", "absent": [["Q1", "P1"]]}',
        '{"question": "?", "lacking": true, "absent": [["Q1"]]}',
    ],
)
def test_errors_name_line_and_field(line: str) -> None:
    with raises(InputError):
        parse_gold_questions(['{"id": "first", "question": "?"}', line], source="own.jsonl")


def test_unreadable_files_are_said_to_be(tmp_path: Path) -> None:
    with raises(InputError):
        read_gold_questions(tmp_path / "missing.jsonl")
    bad = tmp_path / "latin1.jsonl"
    bad.write_bytes('{"question": "Müller?"}'.encode("latin-1"))
    with pytest.raises(InputError, match="UTF-8"):
        read_gold_questions(bad)
    empty = tmp_path / "empty.jsonl"
    empty.write_text("\n\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no question"):
        read_gold_questions(empty)
    marked = tmp_path / "bom.jsonl"
    marked.write_text('\ufeff{"question": "a\u2028b?"}\n', encoding="utf-8")
    assert read_gold_questions(marked)[0].question == "a\u2028b?"


@pytest.mark.data
def test_the_script_writes_the_files_that_are_shipped(data_dir: Path, tmp_path: Path) -> None:
    """The package data is what the script makes of the sources, byte for byte."""
    root = Path(__file__).parents[2]
    subprocess.run(
        [sys.executable, "-m", "tools.build_demo_slice", "--data", data_dir, "--out", tmp_path],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=True,
        capture_output=True,
    )
    for name in ("wikidata.jsonl", "questions.jsonl"):
        assert (tmp_path / name).read_bytes() == (demo_slice().parent / name).read_bytes()
