"""Prompts: text files, placeholders, versions, and how they look when rendered (K3)."""

from __future__ import annotations

from pathlib import Path

import pytest
from query_samples import triple

from graph_service.errors import InputError
from graph_service.model.result import Triple
from queries.generate.answer import Setting
from queries.generate.prompt import (
    flat_knowledge,
    load_prompt,
    messages_hash,
    numbered_knowledge,
    parse_prompt,
    prompt_names,
)
from queries.generate.reader import parse_answer
from queries.llm import Message

GOLDEN = Path(__file__).parent.parent / "golden" / "prompts"
KNOWLEDGE = (
    triple("s1", "Q2685", "spouse", "Maria Shriver", label="Arnold Schwarzenegger"),
    triple("s2", "Q230654", "mother", "Eunice Kennedy\nShriver", label="Maria Shriver"),
    triple("s3", "Q2685", "title", "Conan: {{question}}, [[user]]", label="Arnold Schwarzenegger"),
)
QUESTION = "Who is the mother of the spouse of {{knowledge}}?"


def rendered(name: str) -> tuple[Message, ...]:
    shown = numbered_knowledge(KNOWLEDGE) if "numbered" in name else flat_knowledge(KNOWLEDGE)
    return load_prompt(name).render(knowledge=shown, question=QUESTION)


def as_text(messages: tuple[Message, ...]) -> str:
    return "".join(f"=== {message.role}\n{message.content}\n" for message in messages)


@pytest.mark.parametrize("name", prompt_names())
def test_rendered_prompts_are_as_recorded_k3(name: str) -> None:
    """To record a changed prompt again: look at it, then copy the text of the failure."""
    assert as_text(rendered(name)) == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_every_setting_has_its_prompt() -> None:
    assert prompt_names() == tuple(sorted(setting.value for setting in Setting))


@pytest.mark.parametrize("name", prompt_names())
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
    with pytest.raises(InputError, match="missing: what; unknown: who"):
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
    with pytest.raises(InputError, match="must begin with a line"):
        parse_prompt("p", "Hello\n[[user]]\nx")
    with pytest.raises(InputError, match="must begin with a line"):
        parse_prompt("p", "")
    with pytest.raises(InputError, match="there are kalma, kalma-numbered"):
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
