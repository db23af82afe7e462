"""Sub-types of open questions: templates with placeholders, from a YAML file (O1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from graph_service.errors import InputError
from queries.yaml_file import Node, read_yaml

TEMPLATES = Path(__file__).with_name("templates.yaml")
TYPES = ("descriptive", "explanatory", "predictive", "comparative", "critical")
_PLACEHOLDER = re.compile(r"\[([^\[\]]+)\]")


@dataclass(frozen=True, slots=True)
class SubType:
    """A kind of question.

    Attributes:
        type: One of ``TYPES``.
        linked: Placeholders that entities of the graph stand for, one or two.
        free: Placeholders that any words stand for.
    """

    name: str
    type: str
    template: str
    linked: tuple[str, ...]
    free: tuple[str, ...] = ()

    @property
    def placeholders(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.linked, *self.free)


def read_templates(path: Path = TEMPLATES, /) -> tuple[SubType, ...]:
    """Returns the sub-types of a file.

    Raises:
        InputError: The file can't be read, or is not as expected; names the line and the field.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read {path}: {error}", argument="templates") from error
    root = read_yaml(text, path.name, expected="sub-types")
    found: dict[str, SubType] = {}
    for node in root.fields(required=("sub-types",))["sub-types"].items():
        one = _sub_type(node)
        if one.name in found:
            raise node.wrong(f"the name {one.name!r} stands twice; each sub-type has its own")
        found[one.name] = one
    if not found:
        raise root.error("at least one sub-type")
    return tuple(found.values())


def _sub_type(node: Node) -> SubType:
    fields = node.fields(required=("name", "type", "template", "linked"), optional=("free",))
    linked = tuple(item.text() for item in fields["linked"].items())
    free = tuple(item.text() for item in fields["free"].items()) if "free" in fields else ()
    if not 1 <= len(linked) <= 2:
        raise fields["linked"].error("one or two placeholders")
    template = fields["template"].text()
    used = list(dict.fromkeys(_PLACEHOLDER.findall(template)))
    if sorted(used) != sorted((*linked, *free)):
        raise fields["template"].wrong(
            f"its placeholders are {', '.join(used) or 'none'}; linked and free list "
            f"{', '.join((*linked, *free))}"
        )
    return SubType(fields["name"].text(), fields["type"].choice(TYPES), template, linked, free)
