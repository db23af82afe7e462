"""Runs over question files: order, resuming, timings, estimates (S5)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from error_texts import check_line, check_text, raises
from hand_chat import HandChat, refuses
from query_samples import HandRetriever, triple, triplets

from graph_service.errors import InputError, LimitError
from graph_service.model.request import ViewRef
from queries.datasets.case import Case
from queries.generate.ablation import Swapped
from queries.generate.answer import Answer, read_answers
from queries.generate.plan import Plan, Source, answer_case, estimate, gold_sets
from queries.generate.run import AnswerFile, run_cases, steady_timings
from queries.generate.setting import Generation, Join, Setting, default_generation
from queries.llm import CachedChat, open_cache
from queries.llm.chat import ChatModel
from queries.run import Progress

FACT = triple("a", "Q1", "spouse", "Bea", label="Ada")
OTHER = triple("b", "Q2", "mother", "Cleo", label="Bea")
CASES = [Case(str(i), f"Question {i}?", "kind", (f"Q{i}",)) for i in range(8)]


def retriever() -> HandRetriever:
    return HandRetriever(lambda *_: triplets([(FACT, 1.0)]))


def asking(plan: Plan, model: ChatModel) -> Callable[[Case], Answer]:
    return lambda case: answer_case(case, plan, retriever=retriever(), model=model)


def made(case: Case) -> Answer:
    return Answer(case.id, case.question, "x", (), (), None, "m")


@pytest.mark.parametrize("concurrency", [1, 3])
def test_lines_are_in_order_whatever_is_done_first(tmp_path: Path, concurrency: int) -> None:
    def slowly(case: Case) -> Answer:
        time.sleep(0.03 if int(case.id) % 3 == 0 else 0.0)
        return made(case)

    out = AnswerFile(tmp_path / "a.jsonl")
    told: list[Progress] = []
    found = list(run_cases(CASES, slowly, out=out, concurrency=concurrency, progress=told.append))
    assert [item.question_id for item in found] == [case.id for case in CASES]
    assert AnswerFile(tmp_path / "a.jsonl").pending(CASES) == []
    assert [(one.done, one.total, one.failed) for one in told] == [(i, 8, 0) for i in range(1, 9)]


def test_a_folder_is_no_file_of_answers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't write .*: Is a directory"):
        AnswerFile(tmp_path)


def test_questions_under_way_at_once() -> None:
    lock, three = threading.Lock(), threading.Barrier(3)
    asked = now = most = 0

    def counting(case: Case) -> Answer:
        nonlocal asked, now, most
        with lock:
            asked, now = asked + 1, now + 1
            first, most = asked <= 3, max(most, now)
        if first:
            three.wait(600)
        time.sleep(0.01)
        with lock:
            now -= 1
        return made(case)

    assert len(list(run_cases(CASES, counting, concurrency=3))) == 8
    assert most == 3
    with pytest.raises(InputError, match="at least 1, got 0"):
        list(run_cases(CASES, made, concurrency=0))


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_limit_ends_the_run_and_what_was_answered_is_there(
    tmp_path: Path, concurrency: int
) -> None:
    def limited(case: Case) -> Answer:
        if int(case.id) >= 3:
            raise LimitError("no tokens left")
        return made(case)

    file = tmp_path / "a.jsonl"
    with pytest.raises(LimitError):
        list(run_cases(CASES, limited, out=AnswerFile(file), concurrency=concurrency))
    left = AnswerFile(file).pending(CASES)
    assert [case.id for case in left] == ["3", "4", "5", "6", "7"]


def test_failures_stay_unless_they_are_to_be_asked_again(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    out = AnswerFile(file)
    for case in CASES[:3]:
        out.append(replace(made(case), failure="server: on fire" if case.id == "1" else None))
    assert [case.id for case in AnswerFile(file).pending(CASES[:3])] == []
    again = AnswerFile(file, retry_failed=True)
    assert [case.id for case in again.pending(CASES[:3])] == ["1"]
    assert len(file.read_bytes().splitlines()) == 2
    assert not (tmp_path / "a.jsonl.part").exists()


def test_a_file_of_other_questions_is_refused(tmp_path: Path) -> None:
    out = AnswerFile(tmp_path / "a.jsonl")
    out.append(made(Case("1", "Another?")))
    with raises(InputError):
        AnswerFile(tmp_path / "a.jsonl").pending(CASES)
    with pytest.raises(InputError, match="can't write"):
        AnswerFile(tmp_path / "no" / "a.jsonl")


def test_a_file_of_answers_made_in_another_way_is_refused(tmp_path: Path) -> None:
    """S5: a run never goes on over answers of another setting, view, preset or model."""
    plan, model = Plan(), HandChat(lambda _: "Ada and Bea [1].")
    name = model.name
    file = tmp_path / "a.jsonl"
    out = AnswerFile(file)
    list(
        run_cases(
            CASES[:2],
            lambda case: answer_case(case, plan, retriever=retriever(), model=model),
            out=out,
        )
    )
    again = AnswerFile(file)
    again.require(plan.to_parameters(name))
    again.require(replace(plan, request=replace(plan.request, graph="g")).to_parameters(name))
    others = {
        "setting": replace(plan, setting=Setting.OKGQA_COT),
        "view": replace(plan, request=replace(plan.request, view=ViewRef(id="r30"))),
        "preset": replace(plan, request=replace(plan.request, preset="okgqa")),
        "random_seed": replace(plan, generation=Generation(random_seed=7)),
    }
    for option, other in others.items():
        with pytest.raises(InputError, match=f"another way: .*{option} was"):
            again.require(other.to_parameters(name))
    with raises(InputError):
        again.require(plan.to_parameters("another"))


def test_timings_are_those_of_the_first_time(tmp_path: Path) -> None:
    item = replace(made(CASES[0]), result=triplets([(FACT, 1.0)]), timings_ms={"generate": 5.0})
    assert item.result is not None
    later = replace(
        item,
        timings_ms={"generate": 9.0},
        result=replace(item.result, timings_ms={"all": 77.0}),
    )
    with open_cache(tmp_path / "r.db") as cache:
        assert steady_timings(item, cache).to_json() == item.to_json()
        assert later.to_json() != item.to_json()
        assert steady_timings(later, cache).to_json() == item.to_json()
        changed = replace(later, text="y")
        assert steady_timings(changed, cache).to_json() == changed.to_json()


def test_a_replay_has_the_same_bytes_failures_included(tmp_path: Path) -> None:
    def say(asked: object) -> str:
        if "Question 3?" in asked.last:  # type: ignore[attr-defined]
            return refuses(asked)  # type: ignore[arg-type]
        return "Ada and Bea [1]."

    plan = Plan()
    inner = HandChat(say)
    files = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    for file, asked in zip(files, (inner, None), strict=True):
        with open_cache(tmp_path / "r.db") as cache:
            model = CachedChat(cache, inner.name, inner=asked)
            run = run_cases(
                CASES,
                asking(plan, model),
                out=AnswerFile(file),
                cache=cache,
                concurrency=2,
            )
            assert sum(item.failure is not None for item in run) == 1
    assert files[0].read_bytes() == files[1].read_bytes()
    assert len(inner.asked) == 8


# Where knowledge comes from


def test_entities_are_linked_unless_those_of_the_file_are_to_be_given() -> None:
    finder = retriever()
    chat = HandChat(lambda _: "Bea [1].")
    answer_case(CASES[3], Plan(), retriever=finder, model=chat)
    answer_case(CASES[3], Plan(given_entities=True), retriever=finder, model=None)
    assert [call[3] for call in finder.calls] == [(), ("Q3",)]


def test_gold_knowledge_and_none() -> None:
    chat = HandChat(lambda _: "Bea [1].")
    finder = retriever()
    plan = Plan(
        source=Source.GOLD,
        gold={"0": Swapped((OTHER,), {"Q1": "Q2"})},
        right_share=0.5,
        swap_seed=4,
    )
    found = answer_case(CASES[0], plan, retriever=finder, model=chat)
    assert found.knowledge == (OTHER,)
    check_line(found.notes, "Q1 swapped for Q2")
    assert found.parameters["knowledge"] == "gold"
    assert (found.parameters["right_share"], found.parameters["swap_seed"]) == (0.5, 4)
    none = answer_case(CASES[0], Plan(source=Source.NONE), retriever=finder, model=chat)
    assert (none.knowledge, none.parameters["knowledge"]) == ((), "none")
    assert finder.calls == []
    with raises(InputError):
        answer_case(CASES[0], Plan(source=Source.NONE), retriever=finder, model=None)


class Reader:
    """A client that knows two statements."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def statements(self, id_: str, /, **_: object) -> list[object]:
        self.asked.append(id_)
        rows = {"Q1": triple("Q1$A", "Q1", "r", "v"), "x": triple("s", "x", "r", "v")}
        return [type("Row", (), {"triple": rows[id_]})]


def test_gold_sets_are_read_from_the_graph() -> None:
    reader = Reader()
    cases = [
        Case("1", "?", statement_ids=("Q1$A",)),
        Case("2", "?", entity_ids=("x",), statement_ids=("s",)),
        Case("3", "?", knowledge=(FACT,)),
    ]
    found = gold_sets(cases, reader)  # type: ignore[arg-type]
    assert [item.knowledge[0].statement_id for item in found.values()] == ["Q1$A", "s", "a"]
    assert reader.asked == ["Q1", "x"]


# Before a run


def test_an_estimate_counts_requests_and_tokens() -> None:
    finder = retriever()
    found = estimate(CASES, Plan(generation=Generation(max_tokens=100)), retriever=finder)
    assert (found.questions, found.requests, found.reply_tokens) == (8, 8, 800)
    assert (found.sampled, len(finder.calls)) == (5, 5)
    check_text(found.text(), "8 questions", "8 requests")
    # Five prompts of one size: the estimate is that size, eight times.
    assert found.prompt_tokens % 8 == 0
    many = estimate(
        CASES[:2],
        Plan(Setting.OKGQA_SC, Generation(samples=3, join=Join.MODEL)),
        retriever=finder,
    )
    assert many.requests == 2 * 4
    steps = estimate(
        CASES[:1],
        Plan(Setting.OKGQA_IRCOT, default_generation(Setting.OKGQA_IRCOT)),
        retriever=finder,
    )
    assert steps.requests == 5


def test_answers_asked_again_come_back_to_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"

    def ids() -> list[str]:
        return [item.question_id for item in read_answers(file)]

    wanted = [case.id for case in CASES[:4]]
    for id_ in ("other", wanted[0], wanted[3], "more", wanted[2], wanted[1]):
        AnswerFile(file).append(replace(made(CASES[0]), question_id=id_))
    opened = AnswerFile(file)
    opened.put_in_order(CASES[:2])
    assert ids() == ["other", wanted[0], wanted[3], "more", wanted[2], wanted[1]]
    opened.put_in_order(CASES[:4])
    assert ids() == ["other", wanted[0], wanted[1], "more", wanted[2], wanted[3]]
    before = file.stat().st_mtime_ns
    opened.put_in_order(CASES)
    assert file.stat().st_mtime_ns == before
