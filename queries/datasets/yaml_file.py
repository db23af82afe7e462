"""YAML as nodes that know their lines: every error names the file, the line and the field.

Values are read as text, so that ``no`` and ``1985`` stay what was written.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from graph_service.errors import InputError


def read_yaml(text: str, source: str, /, *, expected: str) -> Node:
    """Returns the root of a YAML document.

    Args:
        text: The document.
        source: Name of the file, for errors.
        expected: What it should hold, for the error of an empty file.

    Raises:
        InputError: It is no YAML, or empty.
    """
    # Its stubs would be one more package; the nodes are read through ``Node`` alone.
    yaml: Any = import_module("yaml")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{source}, line {mark.line + 1}" if mark is not None else source
        raise InputError(
            f"{where}: YAML was expected; {getattr(error, 'problem', None) or error}"
        ) from error
    except RecursionError as error:
        raise InputError(f"{source}: YAML nested too deeply") from error
    if node is None:
        raise InputError(f"{source}: {expected} were expected; the file is empty")
    return Node(node, source, "the file")


class Node:
    """Typed access to a node of YAML; each error names file and line."""

    def __init__(self, node: Any, source: str, where: str) -> None:
        self.node = node
        self.source = source
        self.where = where
        self.line: int = node.start_mark.line + 1

    def error(self, expected: str, /) -> InputError:
        """Returns the error of a node that is not as expected."""
        came = {"mapping": "fields", "sequence": "a list", "scalar": f"{self.node.value!r}"}
        return self.wrong(f"expected {expected}; {came[self.node.id]} came")

    def wrong(self, words: str, /) -> InputError:
        """Returns an error with words of its own."""
        return InputError(f"{self.source}, line {self.line}, {self.where}: {words}")

    @property
    def is_fields(self) -> bool:
        """Whether it is a mapping from names to values."""
        return bool(self.node.id == "mapping")

    @property
    def is_list(self) -> bool:
        """Whether it is a list."""
        return bool(self.node.id == "sequence")

    def has(self, name: str, /) -> bool:
        """Returns whether it has a field."""
        return self.is_fields and any(str(key.value) == name for key, _ in self.node.value)

    def field(self, name: str, /) -> Node:
        """Returns a field that it has."""
        value = next(value for key, value in self.node.value if str(key.value) == name)
        return Node(value, self.source, f"field {name}")

    def fields(self, *, required: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Node]:
        """Returns the fields by name; refuses one that is unknown, missing, or there twice."""
        known = (*required, *optional)
        if self.node.id != "mapping":
            raise self.error(f"the fields {', '.join(known)}")
        nodes: dict[str, Node] = {}
        for key, value in self.node.value:
            name = str(key.value)
            line = key.start_mark.line + 1
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; {near[0]!r} may be meant" if near else ""
                raise InputError(
                    f"{self.source}, line {line}, {self.where}: no such field {name!r}{hint}. "
                    f"The fields are {', '.join(known)}"
                )
            if name in nodes:
                raise InputError(f"{self.source}, line {line}: {name} stands twice; once is enough")
            nodes[name] = Node(value, self.source, f"field {name}")
        missing = [name for name in required if name not in nodes]
        if missing:
            raise InputError(
                f"{self.source}, line {self.line}, {self.where}: missing {', '.join(missing)}"
            )
        return nodes

    def items(self, expected: str = "a list", /) -> list[Node]:
        """Returns the parts of a list."""
        if self.node.id != "sequence":
            raise self.error(expected)
        singular = self.where.removeprefix("field ").rstrip("s")
        return [
            Node(item, self.source, f"{singular} {index}")
            for index, item in enumerate(self.node.value, 1)
        ]

    def text(self, *, may_be_empty: bool = False) -> str:
        """Returns the scalar as text, spaces around it left out."""
        if self.node.id != "scalar" or not (may_be_empty or str(self.node.value).strip()):
            raise self.error("a text")
        return str(self.node.value).strip()

    def truth(self) -> bool:
        """Returns a truth value, written ``true`` or ``false``."""
        return self.choice(("true", "false")) == "true"

    def choice(self, choices: Sequence[str], /) -> str:
        """Returns one of some words."""
        text = self.text()
        if text not in choices:
            raise self.error(" or ".join(choices))
        return text

    def number(self) -> int:
        """Returns a whole number from 0 up."""
        text = self.text()
        if not text.isascii() or not text.isdigit():
            raise self.error("a whole number from 0 up")
        return int(text)

    def share(self) -> float:
        """Returns a number from 0 to 1."""
        value = self.decimal()
        if not 0 <= value <= 1:
            raise self.error("a number from 0 to 1")
        return value

    def decimal(self) -> float:
        """Returns a number, whole or not; NaN and infinity are refused."""
        try:
            value = float(self.text())
        except ValueError:
            raise self.error("a number") from None
        if not math.isfinite(value):
            raise self.error("a number")
        return value

    def plain(self) -> Any:
        """Returns what YAML makes of it: texts, numbers, truth values, lists and fields.

        Raises:
            InputError: A value is of a kind that JSON has not.
        """
        yaml: Any = import_module("yaml")
        loader = yaml.SafeLoader("")
        try:
            value = loader.construct_document(self.node)
        except yaml.YAMLError as error:
            raise self.wrong(f"expected plain values; {error}") from error
        finally:
            loader.dispose()
        return value
