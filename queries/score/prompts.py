"""The prompts of the judges: text files beside this module, in this project's own words."""

from __future__ import annotations

from functools import cache
from importlib import resources

from graph_service.errors import InputError
from queries.generate.prompt import Prompt, parse_prompt, prompts_in_use

JUDGE = "judge/"
"""What the names of judges' prompts begin with, where they stand among all prompts."""


def score_prompt_names() -> tuple[str, ...]:
    """Returns the names of the judges' prompts that come with the package, sorted."""
    folder = resources.files("queries.score") / "prompts"
    return tuple(sorted(item.name[:-4] for item in folder.iterdir() if item.name.endswith(".txt")))


def load_score_prompt(name: str, /) -> Prompt:
    """Returns a judge's prompt: one's own where one is in use, else the package's.

    Raises:
        InputError: There is none of that name; names those there are.
    """
    return prompts_in_use().get(f"{JUDGE}{name}") or _shipped(name)


@cache
def _shipped(name: str) -> Prompt:
    if name not in score_prompt_names():
        raise InputError(
            f"there is no judge's prompt {name!r}; there are {', '.join(score_prompt_names())}"
        )
    file = resources.files("queries.score") / "prompts" / f"{name}.txt"
    return parse_prompt(name, file.read_text(encoding="utf-8"))
