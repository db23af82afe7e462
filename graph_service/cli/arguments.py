"""How arguments are read, and what is said of those that can't be."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from graph_service.errors import InputError

# What argparse says, which has no finer seam than this text; what doesn't match is shown as it is.
_CHOICE = re.compile(r"argument (?P<name>\S+): invalid choice: '?(?P<given>.*?)'? \(choose from .*")
_NUMBER = re.compile(r"argument (?P<name>\S+): invalid (?P<kind>int|float) value: (?P<given>.*)")
_MISSING = re.compile(r"the following arguments are required: (?P<names>.+)")
_OTHER_WORDS = (
    ("ask", "retrieve"),
    ("query", "retrieve"),
    ("question", "retrieve"),
    ("import", "load"),
    ("find", "search"),
    ("perturb", "view"),
    ("explore", "serve"),
)
"""What people type who do not know the verbs yet, with the verb that does it."""
_NUMBERS = {"int": "a whole number", "float": "a number"}


def _close_options(name: str, known: Sequence[str]) -> list[str]:
    """Returns the known option whose word is closest; the dashes, which all have, do not count."""
    options = {option.lstrip("-"): option for option in known}
    return [options[word] for word in get_close_matches(name.lstrip("-"), options, n=1)]


class Help(argparse.RawDescriptionHelpFormatter):
    """Leaves the lines of examples as they are, and room for the longest options."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30)

    def add_argument(self, action: argparse.Action) -> None:
        """Makes room for verbs too, which argparse measures without their indentation."""
        super().add_argument(action)
        if isinstance(action, argparse._SubParsersAction):
            self._action_max_length += self._indent_increment


class Parser(argparse.ArgumentParser):
    """Raises where argparse would exit, so that every error leaves the same way.

    Its usage is one line, and an error names the option or word that may have been meant.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(formatter_class=Help, **options)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parses, and refuses what is left over here, where the verb's own options are known."""
        self._refuse_before_verb(sys.argv[1:] if args is None else args)
        parsed, extras = super().parse_known_args(args, namespace)
        if extras:
            self._refuse(extras, parsed)
        return parsed, extras

    def error(self, message: str) -> NoReturn:
        """Raises ``InputError`` with what argparse has to say, or better words for it."""
        choice, number = _CHOICE.fullmatch(message), _NUMBER.fullmatch(message)
        if choice is not None:
            name, value = choice["name"], choice["given"]
            choices = self._choices(name)
            expected = f"one of {', '.join(choices)}" if len(choices) > 1 else ", ".join(choices)
            subject = f"{name} must be" if name.startswith("-") or self._has_verbs else "expected"
            self._fail(
                f"{subject} {expected}; got {value!r}",
                argument=name,
                meant=[
                    *(verb for word, verb in _OTHER_WORDS if word == value and verb in choices),
                    *get_close_matches(value, choices, n=1),
                ],
            )
        missing = _MISSING.fullmatch(message)
        if missing is not None:
            self._fail(self._missing(missing["names"].split(", ")))
        if number is not None:
            self._fail(
                f"{number['name']} must be {_NUMBERS[number['kind']]}, got {number['given']}",
                argument=number["name"],
            )
        self._fail(message)

    def _missing(self, names: Sequence[str]) -> str:
        """Returns a message about arguments that are missing, with the choices of the first."""
        choices = self._choices(names[0])
        if len(choices) == 1:
            return f"say what: {choices[0]}"
        if choices:
            return f"say which one: {', '.join(choices)}"
        return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} missing"

    def format_usage(self) -> str:
        """Returns the usage in one line; ``--help`` lists the options."""
        return f"usage: {self._usage()}\n"

    def format_help(self) -> str:
        """Returns the help, which begins with the same line."""
        self.usage = self._usage().replace("%", "%%")
        return super().format_help()

    def _usage(self) -> str:
        required = [
            f"{action.option_strings[-1]} {action.metavar}"
            for action in self._actions
            if action.option_strings and action.required
        ]
        return " ".join([self.prog, "[options]", *required, *map(_shown, self._words())])

    def _words(self) -> list[argparse.Action]:
        return [action for action in self._actions if not action.option_strings]

    @property
    def _has_verbs(self) -> bool:
        return any(isinstance(action, argparse._SubParsersAction) for action in self._actions)

    def _choices(self, name: str) -> list[str]:
        for action in self._actions:
            if name in {*action.option_strings, action.dest, action.metavar}:
                return [str(choice) for choice in action.choices or ()]
        return []

    def _refuse_before_verb(self, args: Sequence[str]) -> None:
        name = args[0].partition("=")[0] if args else ""
        known = [text for action in self._actions for text in action.option_strings]
        if self._has_verbs and re.match("--?[A-Za-z]", name) and name not in known:
            self._fail(
                f"{self.prog} itself has no option {name}; a verb's options come after the verb",
                argument=name,
                meant=_close_options(name, known),
            )

    def _refuse(self, extras: Sequence[str], parsed: argparse.Namespace) -> NoReturn:
        option = next((text for text in extras if re.match("--?[A-Za-z]", text)), None)
        if option is None:
            self._fail(
                f"{extras[0]!r} is one word too many",
                more=self._meant_option(parsed) or "Put words that belong together in quotes.",
            )
        name = option.partition("=")[0]
        known = [text for action in self._actions for text in action.option_strings]
        self._fail(
            f"there is no option {name}",
            argument=name,
            meant=_close_options(name, known),
        )

    def _meant_option(self, parsed: argparse.Namespace) -> str:
        """Returns how to write a word that is the value of an option, such as the first in
        ``retrieve paths QUESTION``; nothing where there is none.
        """
        words = {str(getattr(parsed, action.dest, "")) for action in self._words()}
        for action in self._actions:
            for value in map(str, action.choices or ()):
                if action.option_strings and value in words:
                    return (
                        f"{value!r} is the value of an option: {action.option_strings[-1]} {value}."
                    )
        return ""

    def _fail(
        self,
        message: str,
        /,
        *,
        argument: str | None = None,
        meant: Sequence[str] = (),
        more: str = "",
    ) -> NoReturn:
        self.print_usage(sys.stderr)
        words = [f"Did you mean {meant[0]}?"] if meant else []
        hint = " ".join([*words, *([more] if more else []), f"See: {self.prog} --help"])
        raise InputError(
            message, argument=argument.lstrip("-").lower() if argument else None, hint=hint
        )


def _shown(action: argparse.Action) -> str:
    if isinstance(action, argparse._SubParsersAction):
        return f"{action.metavar} ..."
    names = f"{{{','.join(map(str, action.choices))}}}" if action.choices else ""
    name = str(action.metavar or names or action.dest.upper())
    match action.nargs:
        case "?":
            return f"[{name}]"
        case "+":
            return f"{name} [{name} ...]"
        case "*":
            return f"[{name} ...]"
        case int(count):
            return " ".join([name] * count)
        case _:
            return name


def examples(lines: Iterable[str], /) -> str:
    """Returns example commands as the end of a verb's help; nothing where there are none."""
    lines = list(lines)
    if not lines:
        return ""
    return "\n".join(["examples:", *(f"  graph-service {line}" for line in lines)])
