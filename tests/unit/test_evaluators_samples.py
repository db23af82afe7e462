"""Answers and retrievals as the frameworks that evaluate take them (B18)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from query_samples import paths, triple

from graph_service.adapters.asking import documents_of
from graph_service.model.result import Status
from queries.datasets.gold import GoldQuestion
from queries.evaluators.samples import Contexts, contexts_of, read_samples, sample_of
from queries.generate.answer import Answer, write_answers
from queries.generate.reader import parse_answer

FIRST, SECOND = triple("s1", "Q1", "mother", "Q2"), triple("s2", "Q2", "home", "Q3")
RESULT = paths([([FIRST, SECOND], 0.9), ([FIRST], 0.5)])


def answered(id_: str = "7", text: str = "It is Q2.") -> Answer:
    given = (FIRST, SECOND, FIRST)
    return Answer(id_, "Who?", text, parse_answer(text, given), given, RESULT, "m")


def test_contexts_have_each_statement_once_the_best_first() -> None:
    contexts = contexts_of(documents_of(RESULT))
    assert len(contexts.texts) == 2
    assert contexts.statement_ids == ("s1", "s2")
    assert contexts.metadata["status"] == "ok"
    assert contexts.metadata["provenance"]["graph"] == RESULT.provenance.graph


def test_no_context_has_a_status() -> None:
    nothing = replace(RESULT, items=(), status=Status.NOTHING_RELEVANT)
    assert contexts_of(documents_of(nothing)) == Contexts((), (), {"status": "nothing-relevant"})


def test_an_answer_is_a_sample_without_its_citations() -> None:
    item = answered(text="Her mother is Q2 [Q1, mother: Q2].")
    gold = GoldQuestion("7", "Who?", statement_ids=("s1", "s9"), answers=("Bea", "Cleo"))
    sample = sample_of(item, gold)
    assert sample.response == "Her mother is Q2."
    assert sample.contexts.statement_ids == ("s1", "s2")
    assert len(sample.contexts.texts) == 3
    assert (sample.reference, sample.reference_ids) == ("Bea, Cleo", ("s1", "s9"))
    assert sample.contexts.metadata["edition"] == RESULT.provenance.edition


def test_what_the_graph_lacks_has_no_reference() -> None:
    gold = GoldQuestion("7", "Who?", statement_ids=("s1",), answers=("[NA]",), lacking=True)
    sample = sample_of(answered(), gold)
    assert (sample.reference, sample.reference_ids) == (None, ())


def test_a_failed_answer_is_listed_and_no_sample(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    lost = replace(answered("8"), text="", sentences=(), failure="timeout: no reply")
    write_answers(path, [answered(), lost])
    read = read_samples(path)
    assert [sample.id for sample in read.samples] == ["7"]
    assert read.samples[0].reference is None
    assert read.failures == {"8": "timeout: no reply"}


def test_another_systems_answers_bring_their_gold(tmp_path: Path) -> None:
    path = tmp_path / "theirs.jsonl"
    path.write_text(
        '{"id": "1", "question": "Who?", "text": "Bea [Ada, mother: Bea].", '
        '"knowledge": [{"id": "k1", "entity": "Ada", "relation": "mother", "value": "Bea"}], '
        '"gold": [["Ada", "mother", "Bea"]]}\n'
    )
    (sample,) = read_samples(path).samples
    assert sample.response == "Bea."
    assert sample.contexts.texts == ("Ada | mother | Bea",)
    assert sample.contexts.statement_ids == sample.reference_ids == ("k1",)
