"""Prompts of one's own: files in the place of those that come with the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from graph_service.errors import InputError
from queries.builders.asking import DATASET, builder_prompt_names, load_builder_prompt
from queries.generate.prompt import Prompt, line_of, load_prompt, parse_prompt, prompt_names
from queries.score.prompts import JUDGE, load_score_prompt, score_prompt_names


def all_prompts() -> dict[str, Prompt]:
    """Returns every prompt by name; one's own where one is in use.

    Judges' are ``judge/NAME``, and those that data sets are built with ``dataset/NAME``.
    """
    answering = {name: load_prompt(name) for name in prompt_names()}
    judging = {f"{JUDGE}{name}": load_score_prompt(name) for name in score_prompt_names()}
    building = {f"{DATASET}{name}": load_builder_prompt(name) for name in builder_prompt_names()}
    return {**answering, **judging, **building}


def read_own_prompts(arguments: Sequence[str], /) -> dict[str, Prompt]:
    """Returns prompts from ``NAME=FILE``, checked against those that they stand for.

    A prompt takes the texts of the one it stands for, all of them and no others; a judge's has its
    parts too, in their order.

    Raises:
        InputError: There is no prompt of that name, or the file cannot be read or is not like it;
            names file and line.
    """
    shipped = all_prompts()
    prompts: dict[str, Prompt] = {}
    for text in arguments:
        name, equals, path = text.partition("=")
        if not equals or not path:
            raise InputError(
                f"NAME=FILE was expected, such as kalma=mine.txt; {text!r} came", argument="prompt"
            )
        if name not in shipped:
            raise InputError(
                f"there is no prompt {name!r}; there are {', '.join(shipped)}", argument="prompt"
            )
        if name in prompts:
            raise InputError(f"prompt {name!r} is given twice", argument="prompt")
        prompts[name] = _read(Path(path), name, shipped[name])
    return prompts


def _read(path: Path, name: str, shipped: Prompt) -> Prompt:
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}", argument="prompt") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: text in UTF-8 was expected", argument="prompt"
        ) from error
    prompt = parse_prompt(shipped.name, text, where=str(path))
    takes = ", ".join(f"{{{{{each}}}}}" for each in shipped.placeholders)
    for unknown in prompt.placeholders:
        if unknown not in shipped.placeholders:
            positions = [text.find(mark + unknown + "}}") for mark in ("{{", "{{#")]
            line = line_of(text, min(at for at in positions if at >= 0))
            raise InputError(
                f"{path}, line {line}: prompt {name} is given no {{{{{unknown}}}}}; it takes {takes}",
                argument="prompt",
            )
    missing = [each for each in shipped.placeholders if each not in prompt.placeholders]
    if missing:
        raise InputError(
            f"{path}: prompt {name} must show {{{{{missing[0]}}}}}; it takes {takes}",
            argument="prompt",
        )
    roles = [part.role for part in prompt.parts]
    expected = [part.role for part in shipped.parts]
    if name.startswith(JUDGE) and roles != expected:
        raise InputError(
            f"{path}: prompt {name} has the parts {', '.join(expected)}; {', '.join(roles)} came",
            argument="prompt",
        )
    if roles[-1] != expected[-1]:
        raise InputError(
            f"{path}: the last part of prompt {name} must be [[{expected[-1]}]]; [[{roles[-1]}]] came",
            argument="prompt",
        )
    return prompt
