"""Sub-types of open questions: templates with placeholders, from a YAML file (O1)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from queries.datasets.records import read_text
from queries.datasets.typed import read_typed
from queries.datasets.yaml_file import Node, read_yaml

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
        """The placeholders of the template: linked ones, then free ones."""
        return (*self.linked, *self.free)


def read_templates(path: Path = TEMPLATES, /) -> tuple[SubType, ...]:
    """Returns the sub-types of a file.

    Raises:
        InputError: The file can't be read, or is not as expected; names the line and the field.
    """
    root = read_yaml(read_text(path), path.name, expected="sub-types")
    kinds: dict[str, SubType] = {}
    for node in root.fields(required=("sub-types",))["sub-types"].items():
        kind = _sub_type(node)
        if kind.name in kinds:
            raise node.wrong(f"the name {kind.name!r} stands twice; each sub-type has its own")
        kinds[kind.name] = kind
    if not kinds:
        raise root.error("at least one sub-type")
    return tuple(kinds.values())


def _sub_type(node: Node) -> SubType:
    kind = read_typed(SubType, node, readers={"type": lambda part: part.choice(TYPES)})
    if not 1 <= len(kind.linked) <= 2:
        raise node.field("linked").error("one or two placeholders")
    used = list(dict.fromkeys(_PLACEHOLDER.findall(kind.template)))
    if sorted(used) != sorted(kind.placeholders):
        raise node.field("template").wrong(
            f"its placeholders are {', '.join(used) or 'none'}; linked and free list "
            f"{', '.join(kind.placeholders)}"
        )
    return kind
