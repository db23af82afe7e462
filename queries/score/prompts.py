"""The prompts of the judges: text files beside this module, in this project's own words."""

from __future__ import annotations

from queries.generate.prompt import PromptFolder

JUDGE = "judge/"
"""What the names of judges' prompts begin with, where they stand among all prompts."""
_PROMPTS = PromptFolder("queries.score", JUDGE, "judge's prompt")
score_prompt_names = _PROMPTS.names
"""Returns the names of the judges' prompts, sorted."""
load_score_prompt = _PROMPTS.load
"""Returns one of them; see ``PromptFolder.load``."""
