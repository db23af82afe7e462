"""How the judges' prompts look when rendered: golden files, one a prompt."""

from __future__ import annotations

from pathlib import Path

import pytest
from error_texts import raises

from graph_service.errors import InputError
from queries.llm import Message
from queries.score.prompts import load_score_prompt, score_prompt_names

GOLDEN = Path(__file__).parent.parent / "golden" / "judges"
BRACKETS = "[[A]] {{reason}}"


def rendered(name: str) -> tuple[Message, ...]:
    """Each text names its placeholder and holds what must not be taken for a part of the prompt."""
    prompt = load_score_prompt(name)
    return prompt.render(**{text: f"<{text}> {BRACKETS}" for text in prompt.placeholders})


@pytest.mark.parametrize("name", score_prompt_names())
def test_rendered_judges_prompts_are_as_recorded(name: str) -> None:
    """To record a changed prompt again: look at it, then copy the text of the failure."""
    shown = "".join(f"=== {message.role}\n{message.content}\n" for message in rendered(name))
    assert shown == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


def test_every_golden_prompt_is_one_that_there_is() -> None:
    assert sorted(file.stem for file in GOLDEN.glob("*.txt")) == list(score_prompt_names())


def test_an_unknown_prompt_is_told() -> None:
    with raises(InputError):
        load_score_prompt("x")
