"""From a question to an answer that keeps what it was made from (K1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import check_text, raises
from hypothesis import given
from hypothesis import strategies as st
from openai_stand_in import error, ok, stand_in
from query_samples import HandRetriever, paths, triple, triplets

from graph_service.errors import InputError, SetupError
from graph_service.model.request import ViewRef
from graph_service.model.result import (
    PathsResult,
    RetrievalResult,
    Status,
    Strategy,
    SubgraphResult,
)
from graph_service.model.values import Time
from graph_service.model.view_spec import Method, ViewSpec
from queries.generate.answer import (
    Answer,
    Generation,
    Setting,
    answer,
    answer_from,
    read_answers,
    write_answers,
)
from queries.llm import CachedChat, OpenAIChat, RetryPolicy, Usage, open_cache

SPOUSE = triple("a", "Q1", "spouse", "Bea", label="Ada")
MOTHER = triple("b", "Q2", "mother", "Cleo", label="Bea")
BORN = triple("c", "Q3", "date of birth", "1952-03-11", typed=Time("1952-03-11T00:00:00Z", 11))
TWO_HOPS = paths([([SPOUSE, MOTHER], 3.0)])


def chat(url: str, retries: int = 0) -> OpenAIChat:
    return OpenAIChat(
        "stand-in", base_url=url, retry=RetryPolicy(max_retries=retries), sleep=lambda _: None
    )


def test_without_a_model_templates_speak_k1() -> None:
    retriever = HandRetriever(lambda question, view: TWO_HOPS)
    view = ViewRef(spec=ViewSpec(Method.EDGE_DELETION, level=0.1))
    found = answer(
        "Who is the mother of Ada's spouse?",
        retriever=retriever,
        strategy=Strategy.PATHS,
        view=view,
        entity_ids=("Q1",),
        question_id="q1",
    )
    check_text(found.model)
    assert found.text.endswith("Bea's mother is Cleo [Q2, mother: Cleo].")
    assert found.knowledge == (SPOUSE, MOTHER)
    assert found.result is TWO_HOPS
    assert (found.prompt, found.usage, found.failure, found.question_id) == (None, None, None, "q1")
    assert set(found.timings_ms) == {"retrieve", "generate"}
    assert not found.not_available
    assert retriever.calls == [
        (Strategy.PATHS, "Who is the mother of Ada's spouse?", view, ("Q1",))
    ]


def test_what_the_graph_lacks_k1() -> None:
    nothing = triplets([], status=Status.NOTHING_RELEVANT, linked=["Douglas Adams"])
    found = answer("How tall is he?", retriever=HandRetriever(lambda *_: nothing))
    check_text(found.text)
    assert found.not_available


@pytest.mark.parametrize(
    ("setting", "reply"),
    [
        (
            Setting.KALMA_NUMBERED,
            "Ada is married to Bea [1]. Her mother is Cleo [2][7]. She is tall [NA].",
        ),
        (
            Setting.KALMA,
            "Ada is married to Bea [Q1, spouse: Bea]. Her mother is Cleo [Q2, mother: Cleo, age: 3]. "
            "She is tall [NA].",
        ),
    ],
)
def test_a_model_speaks_and_is_read_back_k1(setting: Setting, reply: str) -> None:
    with stand_in(ok(reply)) as server, chat(server.url) as model:
        found = answer(
            "Who?",
            retriever=HandRetriever(lambda *_: TWO_HOPS),
            model=model,
            setting=setting,
            generation=Generation(temperature=0.3, max_tokens=99, random_seed=5),
        )
    assert [[c.statement_id for c in part.citations] for part in found.sentences] == [
        ["a"],
        ["b", None],
        [],
    ]
    assert [part.not_available for part in found.sentences] == [False, False, True]
    check_text(found.notes, "given: 1")
    assert found.model == "stand-in-1"
    assert found.usage == Usage(10, 5)
    assert str(found.prompt).startswith(f"{setting.value}@")
    assert len(str(found.prompt_hash)) == 32
    assert found.parameters["random_seed"] == 5
    sent = server.requests[0]
    assert (sent["temperature"], sent["seed"], sent["max_tokens"]) == (0.3, 5, 99)
    shown = sent["messages"][-1]["content"]
    assert shown.endswith("Question: Who?")
    assert "Cleo" in shown
    assert [part["role"] for part in sent["messages"]] == ["system", "user", "assistant", "user"]


def test_a_reply_that_was_cut_says_so() -> None:
    with (
        stand_in(ok("Ada is married to Bea [1", finish="length")) as server,
        chat(server.url) as model,
    ):
        found = answer_from("Who?", [SPOUSE], model=model, generation=Generation(max_tokens=7))
    check_text(found.notes[0], "7 tokens")
    assert found.finish_reason == "length"
    assert found.result is None


def test_a_failed_request_is_a_recorded_failure_of_its_case() -> None:
    with stand_in(error(500, "on fire")) as server, chat(server.url, retries=1) as model:
        found = answer("Who?", retriever=HandRetriever(lambda *_: TWO_HOPS), model=model)
    check_text(found.failure)
    assert (found.sentences, found.text, found.model) == ((), "", "stand-in")
    assert Answer.from_json(found.to_json()) == found


def test_a_wrong_key_ends_the_run() -> None:
    with (
        stand_in(error(401)) as server,
        chat(server.url) as model,
        pytest.raises(SetupError, match="OPENAI_API_KEY"),
    ):
        answer("Who?", retriever=HandRetriever(lambda *_: TWO_HOPS), model=model)


def test_an_answer_is_replayed_with_the_same_bytes(tmp_path: Path) -> None:
    file = tmp_path / "replies.db"
    with (
        stand_in(ok("Bea [1].")) as server,
        chat(server.url) as model,
        open_cache(file) as cache,
    ):
        cached = CachedChat(cache, model.name, inner=model)
        first = answer_from("Who?", [SPOUSE], model=cached)
    with open_cache(file, must_exist=True) as cache:
        replayed = CachedChat(cache, "stand-in")
        again = answer_from("Who?", [SPOUSE], model=replayed)
        assert again == first
        with raises(InputError):
            answer_from("Who else?", [SPOUSE], model=replayed)


@pytest.mark.parametrize(
    "result",
    [
        TWO_HOPS,
        triplets([(SPOUSE, 2.0), (BORN, 1.0)]),
        triplets([(SPOUSE, 2.0), (BORN, 1.0)], strategy=Strategy.SUBGRAPH),
    ],
    ids=["paths", "triplets", "subgraph"],
)
def test_answers_are_written_and_read_with_nothing_lost(
    result: RetrievalResult, tmp_path: Path
) -> None:
    found = answer("Wer?\n\u2028", retriever=HandRetriever(lambda *_: result), question_id="ä")
    file = tmp_path / "answers.jsonl"
    assert write_answers(file, [found, found]) == 2
    read = read_answers(file)
    assert read == (found, found)
    assert type(read[0].result) is type(result)
    assert dict(read[0].timings_ms) == dict(found.timings_ms)
    assert isinstance(TWO_HOPS, PathsResult)
    if isinstance(read[0].result, SubgraphResult):
        assert read[0].result.objective == 1.5


def test_thoughts_are_no_part_of_an_answer() -> None:
    with (
        stand_in(ok("<think>\nMaybe [7].\n</think>\n\nBea [1].")) as server,
        chat(server.url) as model,
    ):
        found = answer_from("Who?", [SPOUSE], model=model)
    assert found.text == "Bea [Q1, spouse: Bea]."
    assert found.exchanges[0].text.startswith("<think>")
    check_text(found.notes)
    assert [c.statement_id for part in found.sentences for c in part.citations] == ["a"]


def test_bad_answer_files_name_the_line(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    good = answer("Who?", retriever=HandRetriever(lambda *_: TWO_HOPS)).to_json()
    for bad, message in [
        ("{", "line 2: an answer is a line of JSON"),
        ("[]", "line 2: an answer is a JSON object, got list"),
        ("{}", "line 2: Answer.question_id: missing"),
        (good.replace('"strategy":"paths"', '"strategy":"walks"'), "provenance.strategy"),
    ]:
        file.write_text(f"{good}\n{bad}\n")
        with pytest.raises(InputError, match=message):
            read_answers(file)


@given(st.lists(st.text(max_size=10), min_size=3, max_size=3), st.text(max_size=30))
def test_any_text_survives_the_json(labels: list[str], reply: str) -> None:
    knowledge = (triple(labels[0] or "s", labels[1] or "Q1", labels[2] or "r", "v"),)
    found = Answer("id", reply, reply, (), knowledge, None, "m", parameters={"a": None})
    assert Answer.from_json(found.to_json()) == found
