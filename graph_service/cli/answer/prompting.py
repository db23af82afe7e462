"""prompt: the prompts that come with the package."""

from __future__ import annotations

from graph_service.cli.answer.options import PromptOptions
from graph_service.cli.output import Output
from graph_service.errors import InputError
from queries.builders.asking import DATASET
from queries.generate.prompt import Prompt
from queries.generate.setting import RECIPES
from queries.score.own_prompt import all_prompts

# Prompts that are no setting's own.
_WITHIN = {
    "okgqa-ircot-step": "okgqa-ircot",
    "okgqa-join": "okgqa-sc --join model",
    "rank-relations": "--ranker model",
    "retry": "all",
}


def prompt(options: PromptOptions, output: Output, /) -> int:
    """Lists the prompts with their versions, or shows one; one's own where one is given."""
    prompts = all_prompts()
    if options.action == "show":
        _show(options.name, prompts, output)
        return 0
    rows = [["name", "version", "used by", "placeholders"]]
    for name, prompt in prompts.items():
        used = ", ".join(
            setting.value for setting, recipe in RECIPES.items() if recipe.prompt == name
        )
        of_builder = "dataset" if name.startswith(DATASET) else "score"
        used = used or _WITHIN.get(name, of_builder)
        rows.append([name, prompt.version, used, ", ".join(prompt.placeholders) or "-"])
    output.table(rows)
    output.object(
        {
            "prompts": [
                {"name": name, "version": prompt.version, "placeholders": prompt.placeholders}
                for name, prompt in prompts.items()
            ]
        }
    )
    return 0


def _show(name: str | None, prompts: dict[str, Prompt], output: Output) -> None:
    prompt = prompts.get(name or "")
    if prompt is None:
        raise InputError(
            f"there is no prompt {name!r}" if name else "say which prompt to show",
            argument="name",
            hint=f"There are {', '.join(prompts)}.",
        )
    output.line(f"# {name}@{prompt.version}")
    for part in prompt.parts:
        output.line(f"[[{part.role}]]")
        output.lines(part.content)
    output.object(
        {
            "name": name,
            "version": prompt.version,
            "placeholders": prompt.placeholders,
            "messages": prompt.parts,
        }
    )
