"""Prompts: text files, placeholders, versions, and how they look when rendered (K3)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from error_texts import raises
from query_samples import paths, triple

from graph_service.errors import InputError
from graph_service.model.passage import Passage
from graph_service.model.result import Triple
from queries.generate.passages import passages_text
from queries.generate.prompt import (
    flat_knowledge,
    load_prompt,
    messages_hash,
    numbered_knowledge,
    parse_prompt,
    prompt_names,
)
from queries.generate.reader import parse_answer
from queries.generate.setting import RECIPES, Setting
from queries.generate.speaking import ModelInput, rendered
from queries.llm import Message

GOLDEN = Path(__file__).parent.parent / "golden" / "prompts"
KNOWLEDGE = (
    triple("s1", "Q2685", "spouse", "Maria Shriver", label="Arnold Schwarzenegger"),
    triple("s2", "Q230654", "mother", "Eunice Kennedy\nShriver", label="Maria Shriver"),
    triple("s3", "Q2685", "title", "Conan: {{question}}, [[user]]", label="Arnold Schwarzenegger"),
)
QUESTION = "Who is the mother of the spouse of {{knowledge}}?"


PASSAGES = (
    Passage("p1", "Maria Shriver", "", "Maria Shriver is a journalist."),
    Passage("p2", "", "", "Her mother founded the Special Olympics."),
)
HISTORY = (Message("user", "Who is Arnold's wife?"), Message("assistant", "Maria Shriver."))
BARE = ModelInput(QUESTION)
FULL = ModelInput(QUESTION, KNOWLEDGE, None, PASSAGES)
WALKED = ModelInput(QUESTION, KNOWLEDGE, paths([(KNOWLEDGE[:2], 1.0)]))
CASES = {
    "kalma": rendered(FULL, Setting.KALMA),
    "kalma-numbered": rendered(FULL, Setting.KALMA_NUMBERED),
    "okgqa-zero": rendered(BARE, Setting.OKGQA_ZERO),
    "okgqa-zero-triplets": rendered(FULL, Setting.OKGQA_ZERO),
    "okgqa-zero-paths": rendered(WALKED, Setting.OKGQA_ZERO),
    "okgqa-4shot": rendered(BARE, Setting.OKGQA_4SHOT),
    "okgqa-4shot-triplets": rendered(FULL, Setting.OKGQA_4SHOT),
    "okgqa-cot": rendered(BARE, Setting.OKGQA_COT),
    "okgqa-cot-triplets": rendered(FULL, Setting.OKGQA_SC),
    "okgqa-join": load_prompt("okgqa-join").render(question=QUESTION, answers="Answer 1:\nEunice."),
    "okgqa-ircot": rendered(FULL, Setting.OKGQA_IRCOT),
    "okgqa-ircot-step": load_prompt("okgqa-ircot-step").render(
        passages=passages_text(PASSAGES), question=QUESTION, reasoning="Arnold's wife is Maria."
    ),
    "answer-list": rendered(BARE, Setting.ANSWER_LIST),
    "answer-list-triplets": rendered(FULL, Setting.ANSWER_LIST),
    "ltgen-none": rendered(BARE, Setting.LTGEN_NONE),
    "ltgen-passages": rendered(replace(FULL, knowledge=()), Setting.LTGEN_PASSAGES),
    "ltgen-triples": rendered(replace(FULL, passages=()), Setting.LTGEN_TRIPLES),
    "ltgen-both": rendered(replace(FULL, history=HISTORY), Setting.LTGEN_BOTH),
    "rank-relations": load_prompt("rank-relations").render(
        question=QUESTION, entity="Arnold", count="2", relations="1. spouse\n2. mother"
    ),
    "paraphrase": load_prompt("paraphrase").render(question=QUESTION, name="Arnold", count="2"),
    "retry": load_prompt("retry").render(reason="it holds no {{reason}}"),
}


def as_text(messages: tuple[Message, ...]) -> str:
    return "".join(f"=== {message.role}\n{message.content}\n" for message in messages)


@pytest.mark.parametrize("name", sorted(CASES))
def test_rendered_prompts_are_as_recorded_k3_o8_l7(name: str) -> None:
    """To record a changed prompt again: look at it, then copy the text of the failure."""
    assert as_text(CASES[name]) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_every_prompt_has_a_golden_rendering() -> None:
    assert {case.label.partition("@")[0] for case in CASES.values()} == set(prompt_names())
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)


def test_every_setting_has_its_prompt() -> None:
    assert set(RECIPES) == set(Setting)
    assert {recipe.prompt for recipe in RECIPES.values()} <= set(prompt_names())


def test_nothing_of_the_format_is_left_and_nothing_is_put_in_twice() -> None:
    for name, messages in CASES.items():
        text = as_text(messages).replace("{{question}}, [[user]]", "").replace("{{knowledge}}", "")
        assert "{{" not in text.replace("{{reason}}", ""), name


def test_four_shots_are_four_and_show_facts_only_where_there_are_some_o8() -> None:
    for name, count in (("okgqa-4shot", 0), ("okgqa-4shot-triplets", 5)):
        messages = CASES[name]
        assert [part.role for part in messages] == ["system"] + ["user", "assistant"] * 4 + ["user"]
        assert as_text(messages).count("Facts that may bear on the question:") == count


def test_knowledge_stands_above_the_dialogue_l7() -> None:
    text = as_text(CASES["ltgen-both"])
    order = ["Passages:", "Facts:", "Conversation:", "User: Who is Arnold", "Assistant: Maria"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_sections_come_with_their_text_or_not_at_all() -> None:
    prompt = parse_prompt("p", "[[user]]\na{{#x}} b {{x}}{{/x}}\n{{#y}}\nc\n{{/y}}\nd\n")
    assert prompt.placeholders == ("x", "y")
    assert prompt.render(x="", y="")[0].content == "a\nd"
    assert prompt.render(x="{{y}}", y="1")[0].content == "a b {{y}}\nc\nd"
    for bad in ("{{#x}} b", "b {{/x}}", "{{#x}} {{/y}}"):
        with pytest.raises(InputError, match="no partner"):
            parse_prompt("p", f"[[user]]\n{bad}\n")


@pytest.mark.parametrize("name", ["kalma", "kalma-numbered"])
def test_the_demonstration_lacks_some_knowledge_k3(name: str) -> None:
    """Read as an answer, it has true citations and none that is wrong, and marks what it lacks."""
    _, asked, told, _ = load_prompt(name).parts
    knowledge = demonstration(asked.content)
    sentences = parse_answer(told.content, knowledge)
    citations = [citation for part in sentences for citation in part.citations]
    assert len(sentences) >= 4
    assert len(citations) >= 4
    assert all(citation.matched for citation in citations)
    assert any(part.not_available and part.citations for part in sentences)
    assert any(part.not_available and not part.citations for part in sentences)
    assert len({citation.statement_id for citation in citations}) < len(knowledge)


def demonstration(shown: str) -> tuple[Triple, ...]:
    facts = shown.split("Question:")[0].splitlines()[1:]
    found: list[Triple] = []
    head = ""
    for line in facts:
        if line.startswith("["):
            entity, relation, value = line.split("] ", 1)[1].split(" | ")
            head = entity.rsplit("(", 1)[1].rstrip(")")
            found.append(triple(line, head, relation, value))
        elif line.startswith("  "):
            relation, value = line.strip().split(": ", 1)
            found.append(triple(head + line, head, relation, value))
        elif line:
            head = line.split()[0]
    return tuple(found)


def test_a_text_is_put_in_once_and_is_no_part_of_the_prompt() -> None:
    prompt = parse_prompt("p", "[[system]]\nBe {{how}}.\n[[user]]\n{{what}} {{how}}\n")
    assert prompt.placeholders == ("how", "what")
    assert prompt.render(how="{{what}}", what="[[assistant]]\n") == (
        Message("system", "Be {{what}}."),
        Message("user", "[[assistant]]\n {{what}}"),
    )
    with raises(InputError):
        prompt.render(how="x", who="y")


def test_versions_follow_the_text() -> None:
    first = parse_prompt("p", "[[user]]\n{{question}}\n")
    assert first.version == parse_prompt("p", "[[user]]\r\n{{question}}\r\n").version
    assert first.version != parse_prompt("p", "[[user]]\n{{question}} \n").version
    assert first.label == f"p@{first.version}"
    one, other = first.render(question="a"), first.render(question="b")
    assert messages_hash(one) == messages_hash(first.render(question="a"))
    assert messages_hash(one) != messages_hash(other)
    assert messages_hash([Message("user", "a")]) != messages_hash([Message("system", "a")])


def test_bad_prompts_are_told() -> None:
    with raises(InputError):
        parse_prompt("p", "Hello\n[[user]]\nx")
    with raises(InputError):
        parse_prompt("p", "")
    with raises(InputError):
        load_prompt("nonesuch")


def test_flat_and_numbered_knowledge_k3() -> None:
    assert flat_knowledge(KNOWLEDGE[:2]) == (
        "Q2685 Arnold Schwarzenegger\n  spouse: Maria Shriver\n"
        "Q230654 Maria Shriver\n  mother: Eunice Kennedy Shriver"
    )
    assert numbered_knowledge(KNOWLEDGE[:1]) == (
        "[1] Arnold Schwarzenegger (Q2685) | spouse | Maria Shriver"
    )
    assert flat_knowledge(()) == numbered_knowledge(()) == "(none)"
