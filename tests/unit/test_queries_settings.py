"""The papers' settings: what each asks, and what it makes of the replies (K1, O8, L7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import check_line, check_text, raises
from hand_chat import Asked, HandChat, refuses, script
from hypothesis import given
from hypothesis import strategies as st
from openai_stand_in import by_rule, stand_in
from query_samples import HandRetriever, paths, triple, triplets

from graph_service.errors import InputError
from graph_service.model.passage import PassageRanking, PassagesResult, ScoredPassage
from graph_service.model.request import ViewRef
from graph_service.model.result import Strategy
from graph_service.model.view_spec import Method, ViewSpec
from queries.generate.answer import (
    Answer,
    Generation,
    Join,
    Setting,
    answer,
    answer_from,
    default_generation,
)
from queries.generate.consistency import most_agreed
from queries.generate.passages import FilePassages, GraphPassages, read_passages
from queries.generate.printed import paper_form
from queries.generate.reader import parse_answer
from queries.llm import Message, OpenAIChat, Usage

SPOUSE = triple("a", "Q1", "spouse", "Bea", label="Ada")
MOTHER = triple("b", "Q2", "mother", "Cleo", label="Bea")
AGAIN = triple("c", "Q2", "mother", "Cleo", label="Bea")
FACTS = triplets([(SPOUSE, 2.0), (MOTHER, 1.0)])


def lines(*rows: str) -> str:
    return "\n".join(rows) + "\n"


@pytest.fixture
def passages(tmp_path: Path) -> FilePassages:
    file = tmp_path / "passages.jsonl"
    file.write_text(
        lines(
            '{"id": "p1", "title": "Ada", "text": "Ada is married to Bea."}',
            '{"id": "p2", "title": "Bea", "text": "The mother of Bea is\\nCleo."}',
            '{"id": "p3", "title": "Cleo", "text": "Cleo was born in Rome."}',
            '{"title": "Rome", "text": "Rome is a city."}',
        )
    )
    return read_passages(file)


def ask(setting: Setting, chat: HandChat, **options: object) -> Answer:
    options.setdefault("retriever", HandRetriever(lambda *_: FACTS))
    return answer("Who is Ada's wife?", model=chat, setting=setting, **options)  # type: ignore[arg-type]


# Kalma


def test_numbers_stand_for_triples_and_are_printed_as_in_the_paper_k1() -> None:
    reply = "Ada and Bea are a pair [1]. Cleo is older [2, NA]. Nobody [7]. Both [1-2]."
    found = ask(Setting.KALMA_NUMBERED, HandChat(lambda _: reply))
    assert found.text == (
        "Ada and Bea are a pair [Q1, spouse: Bea]. Cleo is older [Q2, mother: Cleo][NA]. "
        "Nobody [7]. Both [Q1, spouse: Bea][Q2, mother: Cleo]."
    )
    assert found.exchanges[0].text == reply
    again = parse_answer(found.text, found.knowledge)
    assert [[c.statement_id for c in part.citations] for part in again] == [
        [c.statement_id for c in part.citations] for part in found.sentences
    ]


@given(
    st.lists(st.sampled_from(["[1]", "[2]", "[3]", "[1, 2]", "[9]", "[NA]", "[1-3]", "and"])),
)
def test_the_printed_form_cites_the_same_statements_k1(parts: list[str]) -> None:
    """Two statements that print alike keep their numbers."""
    knowledge = (SPOUSE, MOTHER, AGAIN)
    text = "Words " + " more ".join(parts) + "."
    one, other = parse_answer(text, knowledge), parse_answer(paper_form(text, knowledge), knowledge)
    assert [[c.statement_ids for c in part.citations] for part in one] == [
        [c.statement_ids for c in part.citations] for part in other
    ]
    assert [part.not_available for part in one] == [part.not_available for part in other]


def test_the_query_that_fetched_the_knowledge_is_kept() -> None:
    view = ViewRef(spec=ViewSpec(Method.EDGE_DELETION, level=0.2, random_seed=3))
    found = ask(
        Setting.KALMA,
        HandChat(lambda _: "Bea [Q1, spouse: Bea]."),
        strategy=Strategy.TRIPLETS,
        view=view,
        graph="g",
        limit=5,
    )
    assert found.query is not None
    assert "triplets" in found.query["document"]
    sent = found.query["variables"]["input"]
    assert (sent["question"], sent["graph"], sent["limit"]) == ("Who is Ada's wife?", "g", 5)
    assert found.result is FACTS
    assert Answer.from_json(found.to_json()) == found


# Okgqa


@pytest.mark.parametrize("setting", [Setting.OKGQA_ZERO, Setting.OKGQA_4SHOT])
def test_open_answers_are_sentences_without_citations_o8(setting: Setting) -> None:
    chat = HandChat(lambda _: "Ada's wife is Bea. They met in Rome.")
    found = ask(setting, chat)
    assert [part.text for part in found.sentences] == ["Ada's wife is Bea.", "They met in Rome."]
    assert "Ada | spouse | Bea" in chat.asked[0].last
    assert found.knowledge == (SPOUSE, MOTHER)
    assert answer_from("Who?", (), model=chat, setting=setting).result is None
    assert "Facts" not in chat.asked[1].whole


def test_paths_are_shown_as_paths_o8() -> None:
    chat = HandChat(lambda _: "Cleo.")
    walked = paths([([SPOUSE, MOTHER], 3.0)])
    ask(Setting.OKGQA_ZERO, chat, retriever=HandRetriever(lambda *_: walked))
    assert "Ada -[spouse]-> Bea -[mother]-> Cleo" in chat.asked[0].last


@pytest.mark.parametrize("mark", ["ANSWER:", "**ANSWER:**", "**ANSWER**:", "## ANSWER: "])
def test_chain_of_thought_keeps_its_reasons_apart_o8(mark: str) -> None:
    chat = HandChat(lambda _: f"The wife is asked for.\nIt is Bea.\n{mark} Bea is.\nSo it is.")
    found = ask(Setting.OKGQA_COT, chat)
    assert found.text == "Bea is.\nSo it is."
    assert [part.text for part in found.sentences] == ["Bea is.", "So it is."]
    assert "The wife is asked for." in found.exchanges[0].text


def test_a_reply_that_does_not_parse_is_retried_once_with_the_reason() -> None:
    chat = HandChat(script("I think it is Bea.", "ANSWER: Bea."))
    found = ask(Setting.OKGQA_COT, chat)
    assert (found.text, found.failure) == ("Bea.", None)
    check_text(found.notes)
    assert len(found.exchanges) == len(chat.asked) == 2
    assert found.usage == Usage(20, 10)
    again = chat.asked[1].messages
    assert again[-2] == Message("assistant", "I think it is Bea.")
    check_line(again[-1].content, "own with ANSWER")
    assert found.exchanges[0].prompt_hash != found.exchanges[1].prompt_hash == found.prompt_hash
    assert str(found.prompt).startswith("okgqa-cot@")


def test_a_second_reply_that_does_not_parse_is_a_recorded_failure() -> None:
    chat = HandChat(lambda _: "I think it is Bea.", finish="length")
    found = ask(Setting.OKGQA_COT, chat)
    assert len(chat.asked) == 2
    check_text(found.failure)
    assert (found.text, found.sentences) == ("", ())
    assert Answer.from_json(found.to_json()) == found


def test_self_consistency_takes_the_answer_most_agree_with_o8() -> None:
    chat = HandChat(
        script("ANSWER: It is Cleo.", "ANSWER: Ada's wife is Bea.", "ANSWER: It is Bea, his wife.")
    )
    found = ask(Setting.OKGQA_SC, chat, generation=Generation(0.7, 50, random_seed=10, samples=3))
    assert found.text == "It is Bea, his wife."
    assert [asked.random_seed for asked in chat.asked] == [10, 11, 12]
    assert {asked.temperature for asked in chat.asked} == {0.7}
    assert found.usage == Usage(30, 15)
    assert found.parameters["samples"] == 3
    assert found.parameters["join"] == "overlap"
    assert default_generation(Setting.OKGQA_SC).temperature == 0.7


def test_self_consistency_joined_by_the_model_o8() -> None:
    chat = HandChat(script("ANSWER: Bea.", "ANSWER: Bea.", "Bea is his wife."))
    drawn = Generation(0.7, 50, samples=2, join=Join.MODEL)
    found = ask(Setting.OKGQA_SC, chat, generation=drawn)
    assert found.text == "Bea is his wife."
    assert "Answer 1:\nBea.\n\nAnswer 2:\nBea." in chat.asked[2].last
    assert chat.asked[2].temperature == 0.0
    assert str(found.prompt).startswith("okgqa-join@")


def test_samples_that_fail_are_left_out_and_counted_o8() -> None:
    replies = iter(["no mark", "still none", "ANSWER: Bea."])
    chat = HandChat(lambda _: next(replies))
    found = ask(Setting.OKGQA_SC, chat, generation=Generation(samples=2))
    assert (found.text, found.failure) == ("Bea.", None)
    assert "samples that failed: 1" in found.notes
    failed = ask(Setting.OKGQA_SC, HandChat(refuses), generation=Generation(samples=2))
    check_text(failed.failure, "60 s")
    assert len(failed.exchanges) == 2


def test_most_agreed() -> None:
    assert most_agreed(["a"]) == 0
    assert most_agreed(["a", "b"]) == 0, "equal: the first"
    assert most_agreed(["x y", "a b", "a c"]) == 1
    # With itself an answer never agrees: else the longest would win.
    assert most_agreed(["", "", "a b"]) == 0


def test_ircot_looks_up_what_it_reasons_o8(passages: FilePassages) -> None:
    def say(asked: Asked) -> str:
        if "Reasoning so far" not in asked.last:
            return "Cleo was born in Rome."
        if "mother of Bea" in asked.last and "born in Rome" in asked.last:
            return "DONE"
        if "(nothing yet)" in asked.last:
            return "Bea has a mother. More words."
        return "Look up Cleo."

    chat = HandChat(say)
    found = ask(
        Setting.OKGQA_IRCOT, chat, passages=passages, generation=Generation(passages=1, steps=4)
    )
    assert found.text == "Cleo was born in Rome."
    assert [passage.id for passage in found.passages] == ["p1", "p2", "p3"]
    assert [exchange.text for exchange in found.exchanges] == [
        "Bea has a mother. More words.",
        "Look up Cleo.",
        "DONE",
        "Cleo was born in Rome.",
    ]
    assert "Bea has a mother. Look up Cleo." in chat.asked[-1].last
    assert (found.knowledge, found.result, found.query) == ((), None, None)
    assert found.parameters["passages_from"] == "passages.jsonl"
    assert Answer.from_json(found.to_json()) == found


def test_ircot_stops_at_its_limit_and_where_it_turns_in_a_circle_o8(passages: FilePassages) -> None:
    numbers = iter(range(100))
    endless = HandChat(lambda _: f"Step {next(numbers)}.")
    found = ask(Setting.OKGQA_IRCOT, endless, passages=passages)
    assert len(found.exchanges) == 4 + 1
    circle = HandChat(lambda _: "The same.")
    assert len(ask(Setting.OKGQA_IRCOT, circle, passages=passages).exchanges) == 2 + 1
    failing = ask(Setting.OKGQA_IRCOT, HandChat(refuses), passages=passages)
    check_text(failing.failure, "60 s")


# Ltgen


@pytest.mark.parametrize(
    ("setting", "shown"),
    [
        (Setting.LTGEN_NONE, (False, False)),
        (Setting.LTGEN_PASSAGES, (True, False)),
        (Setting.LTGEN_TRIPLES, (False, True)),
        (Setting.LTGEN_BOTH, (True, True)),
    ],
)
def test_the_four_settings_of_ltgen_l7(
    setting: Setting, shown: tuple[bool, bool], passages: FilePassages
) -> None:
    chat = HandChat(lambda _: "Bea.")
    retriever = HandRetriever(lambda *_: FACTS)
    history = (Message("user", "Who is Cleo?"), Message("assistant", "A mother."))
    found = ask(setting, chat, passages=passages, history=history, retriever=retriever)
    text = chat.asked[0].whole
    assert ("Passages:" in text, "Facts:" in text) == shown
    assert (bool(found.passages), bool(found.knowledge)) == shown
    assert "User: Who is Cleo?\nAssistant: A mother.\nUser: Who is Ada's wife?" in text
    assert chat.asked[0].max_tokens == 128
    assert chat.asked[0].temperature == 0.0
    assert found.history == history
    # The service is told the questions before; presets of the papers search the dialogue (L4).
    searched = list(zip(retriever.earlier, [call[1] for call in retriever.calls], strict=True))
    assert searched == ([(("Who is Cleo?",), "Who is Ada's wife?")] if shown[1] else [])


def test_passages_that_are_needed_and_missing() -> None:
    chat = HandChat(lambda _: "Bea.")
    with raises(InputError) as caught:
        ask(Setting.LTGEN_BOTH, chat)
    assert "--passages FILE" in str(caught.value)
    assert not chat.asked


def test_passages_are_found_by_words(passages: FilePassages) -> None:
    assert [item.id for item in passages.find("Bea's mother", k=2)] == ["p2", "p1"]
    assert passages.find("Bea's mother", k=2)[0].text == "The mother of Bea is Cleo."
    assert passages.find("zebra", k=5) == ()
    assert len(passages) == 4


def test_passages_of_a_graph_are_asked_of_the_client(passages: FilePassages) -> None:
    asked: list[tuple[str, str | None, int]] = []

    class Searcher:
        def passages(
            self, query: str, /, *, graph: str | None = None, k: int = 10
        ) -> PassagesResult:
            asked.append((query, graph, k))
            items = tuple(ScoredPassage(item, 1.0) for item in passages.find(query, k=k))
            return PassagesResult(
                "r", query, "g", PassageRanking.BOTH, k, None, items, 4, "f", None, "0"
            )

    finder = GraphPassages(Searcher(), graph="g")
    chat = HandChat(lambda _: "Cleo.")
    found = ask(Setting.LTGEN_PASSAGES, chat, passages=finder, generation=Generation(passages=2))
    assert asked == [("Who is Ada's wife?", "g", 2)]
    assert found.passages[0].id == "p1"
    assert "(1) Ada: Ada is married to Bea." in chat.asked[0].last
    assert found.parameters["passages_from"] == "graph g"


@pytest.mark.parametrize(
    "content",
    [
        "{",
        '{"id": "a", "text": 5}',
        '{"id": "a", "title": "x"}',
        '{"id": "a", "text": "x"}\n{"id": "a", "text": "y"}',
        "",
    ],
)
def test_bad_passages_name_line_and_field(tmp_path: Path, content: str) -> None:
    file = tmp_path / "p.jsonl"
    file.write_text(content)
    with raises(InputError):
        read_passages(file)


# All


@pytest.mark.parametrize("setting", list(Setting))
def test_every_setting_over_the_real_client(setting: Setting, passages: FilePassages) -> None:
    with stand_in(by_rule) as server, OpenAIChat("m", base_url=server.url) as model:
        found = answer(
            "Who is Ada's wife?",
            retriever=HandRetriever(lambda *_: FACTS),
            model=model,
            setting=setting,
            passages=passages,
            question_id="q",
            kind="k",
        )
    assert found.failure is None
    assert found.text
    assert (found.question_id, found.kind) == ("q", "k")
    assert found.parameters["setting"] == setting.value
    assert len(found.exchanges) == len(server.requests)
    assert Answer.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 0},
        {"samples": 0},
        {"temperature": 3.0},
        {"passages": -1},
    ],
)
def test_wrong_generations_are_told(options: dict[str, float]) -> None:
    with raises(InputError):
        Generation(**options)  # type: ignore[arg-type]
