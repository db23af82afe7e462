"""The documents of a result, as the retrievers for frameworks give them (B1)."""

from __future__ import annotations

from dataclasses import replace

from query_samples import paths, triple

from graph_service.adapters.asking import documents_of
from graph_service.model.answer import AnswerKind
from graph_service.model.result import Answer, BasisStatement, EntityRef, ResultPart, Status

PARTS = [triple(f"s{i}", "Q1", "part", f"Q{i + 10}") for i in range(7)]
BASIS = tuple(map(BasisStatement, PARTS))
COUNT = Answer(
    AnswerKind.COUNT, "7", tuple(EntityRef(f"Q{i + 10}", f"part {i}") for i in range(7)), BASIS, 7
)
FOUND = paths([([each], 0.9) for each in PARTS])


def test_a_computed_answer_is_the_first_document() -> None:
    first, *others = documents_of(replace(FOUND, answer=COUNT), limit=3).documents
    assert first.text == "7: part 0, part 1, part 2, part 3, part 4, and 2 more"
    assert first.metadata["answer"] == "count"
    assert first.metadata["citation"].startswith("[Q1, part: Q10] [Q1, part: Q11]")
    assert [edge["statement_id"] for edge in first.metadata["path"]] == [f"s{i}" for i in range(7)]
    assert first.score == others[0].score
    assert [each.metadata["path"][0]["statement_id"] for each in others] == ["s0", "s1"]
    assert len({each.id for each in (first, *others)}) == 3


def test_the_text_of_an_answer_that_is_not_sure_says_so_first() -> None:
    doubted = replace(FOUND, answer=COUNT, status=Status.LOW_CONFIDENCE)
    first, *_ = documents_of(doubted, limit=3).documents
    assert first.text.startswith(f"{doubted.status_text} 7: part 0, ")
    assert first.metadata["status"] == "low-confidence"


def test_entities_that_the_documents_name_are_no_document_more() -> None:
    named = Answer(AnswerKind.ENTITIES, "part 0", COUNT.entities[:1], BASIS[:1], 1)
    assert documents_of(replace(FOUND, answer=named)).documents == documents_of(FOUND).documents


def test_each_question_of_a_text_has_its_answer_and_an_item_is_there_once() -> None:
    found = replace(
        FOUND,
        items=(FOUND.items[0], FOUND.items[0], FOUND.items[1]),
        parts=(
            ResultPart("How many?", Status.OK, FOUND.linked, (0, 2), answer=COUNT),
            ResultPart("Which?", Status.LOW_CONFIDENCE, FOUND.linked, (1,)),
        ),
    )
    answer, *items = documents_of(found).documents
    assert (answer.metadata["question"], answer.metadata["status"]) == ("How many?", "ok")
    assert [each.metadata["path"][0]["statement_id"] for each in items] == ["s0", "s1"]
