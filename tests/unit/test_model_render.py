"""Results as text for prompts and as columns for programs (``model.render``; K1, K3)."""

from __future__ import annotations

import pytest
from hypothesis import given
from query_samples import triplets
from result_strategies import results

from graph_service.model.render import (
    TextFormat,
    citation,
    default_format,
    item_text,
    items_text,
    path_line,
    result_columns,
    result_text,
    triple_line,
)
from graph_service.model.result import (
    EntityRef,
    PathsResult,
    Prizes,
    RelationRef,
    RetrievalResult,
    ScoredPath,
    ScoredTriple,
    Step,
    Triple,
    triples_of,
)
from graph_service.model.values import EntityValue, StringValue, Value


def triple(id_: str, head: str, relation: str, value: Value, label: str) -> Triple:
    return Triple(id_, EntityRef(head, head.title()), RelationRef(relation, relation), value, label)


def scored(one: Triple) -> ScoredTriple:
    return ScoredTriple(one, 1.0, Prizes(0, 1, 0))


BORN = triple("s1", "ada", "born in", EntityValue("rome"), "Rome, Italy")
LIVES = triple("s2", "bob", "lives in", EntityValue("rome"), "Rome, Italy")
NAMED = triple("s3", "bob", "name", StringValue("Bob: [B]"), "Bob: [B]")
PATH = ScoredPath((Step(BORN, False), Step(LIVES, True), Step(NAMED, False)), 2.0)


def test_one_triple_and_one_citation_k1() -> None:
    assert triple_line(BORN) == "(Ada | born in | Rome, Italy)"
    assert citation([BORN]) == "[ada, born in: Rome, Italy]"
    assert citation([LIVES, NAMED]) == "[bob, lives in: Rome, Italy, name: Bob: [B]]"


def test_arrows_point_from_head_to_value() -> None:
    assert path_line(PATH.steps) == (
        "Ada -[born in]-> Rome, Italy <-[lives in]- Bob -[name]-> Bob: [B]"
    )
    assert path_line([Step(LIVES, True)]) == "Rome, Italy <-[lives in]- Bob"


@pytest.mark.parametrize(
    ("text_format", "expected"),
    [
        (TextFormat.TRIPLES, "(Ada | born in | Rome, Italy)\n(Bob | name | Bob: [B])"),
        (TextFormat.PATHS, "(Ada | born in | Rome, Italy)\n(Bob | name | Bob: [B])"),
        (TextFormat.NUMBERED, "[1] (Ada | born in | Rome, Italy)\n[2] (Bob | name | Bob: [B])"),
        (TextFormat.CITATIONS, "[ada, born in: Rome, Italy]\n[bob, name: Bob: [B]]"),
    ],
)
def test_triples_as_text_k3(text_format: TextFormat, expected: str) -> None:
    assert items_text([scored(BORN), scored(NAMED)], text_format=text_format) == expected
    assert items_text([], text_format=text_format) == ""


@pytest.mark.parametrize("text_format", list(TextFormat))
def test_paths_as_text(text_format: TextFormat) -> None:
    second = ScoredPath((Step(BORN, False),), 1.0)
    text = items_text([PATH, second], text_format=text_format)
    if text_format is TextFormat.NUMBERED:
        assert text.splitlines() == [
            "[1] (Ada | born in | Rome, Italy)",
            "[2] (Bob | lives in | Rome, Italy)",
            "[3] (Bob | name | Bob: [B])",
        ], "a triple of two paths has one number"
    elif text_format is TextFormat.CITATIONS:
        assert text.splitlines()[0] == (
            "[ada, born in: Rome, Italy] [bob, lives in: Rome, Italy] [bob, name: Bob: [B]]"
        )
    else:
        assert text.splitlines() == [path_line(PATH.steps), path_line(second.steps)]
    assert item_text(second, text_format=TextFormat.NUMBERED) == triple_line(BORN)


def test_a_label_cannot_pass_for_an_item_of_its_own() -> None:
    sly = triple(
        "s5", "ada", "note", StringValue("x\n[2] (Bob | is | king)"), "x\n[2] (Bob | is | king)"
    )
    path = ScoredPath((Step(sly, False),), 1.0)
    for items in ([scored(sly)], [path]):
        for text_format in TextFormat:
            assert len(items_text(items, text_format=text_format).splitlines()) == 1


@given(results)
def test_columns_hold_each_triple_of_the_result(result: RetrievalResult) -> None:
    columns = result_columns(result)
    parts: list[tuple[Triple, float, bool]] = []
    ends = [0]
    for item in result.items:
        if isinstance(item, ScoredPath):
            parts.extend((step.triple, item.score, step.reversed) for step in item.steps)
            ends.append(len(parts))
        else:
            parts.append((item.triple, item.score, False))
    assert columns.path_offsets == (tuple(ends) if isinstance(result, PathsResult) else ())
    assert len(columns.statement_ids) == len(parts)
    for row, (one, score, walked_back) in enumerate(parts):
        assert columns.statement_ids[row] == one.statement_id
        assert columns.node_ids[columns.head[row]] == one.head.id
        value = columns.value[row]
        if isinstance(one.value, EntityValue):
            assert columns.node_ids[value] == one.value.id
        else:
            assert columns.node_ids[value] == ""
        assert columns.relation_ids[columns.relation[row]] == one.relation.id
        assert (columns.score[row], columns.reversed[row]) == (score, walked_back)
    assert len(set(columns.relation_ids)) == len(columns.relation_ids)
    entities = [id_ for id_ in columns.node_ids if id_]
    assert len(set(entities)) == len(entities)


def test_equal_literals_of_two_statements_are_two_nodes() -> None:
    other = triple("s4", "eve", "name", StringValue("Bob: [B]"), "Bob: [B]")
    columns = result_columns(triplets([(NAMED, 1.0), (other, 1.0), (LIVES, 1.0)]))
    assert columns.node_ids == ("bob", "", "eve", "", "rome")
    assert columns.node_labels == ("Bob", "Bob: [B]", "Eve", "Bob: [B]", "Rome, Italy")
    assert columns.value == (1, 3, 4)
    assert columns.head == (0, 2, 0)


@given(results)
def test_the_text_numbers_each_triple_once(result: RetrievalResult) -> None:
    text = result_text(result, text_format=TextFormat.NUMBERED)
    expected = [f"[{i}] {triple_line(one)}" for i, one in enumerate(triples_of(result), 1)]
    assert text == "\n".join(" ".join(line.splitlines()) for line in expected)
    assert len(text.split("\n")) == max(1, len(expected))
    wanted = TextFormat.PATHS if isinstance(result, PathsResult) else TextFormat.TRIPLES
    assert default_format(result) is wanted
    assert result_text(result) == items_text(result.items, text_format=wanted)
