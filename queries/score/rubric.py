"""The qualities that a judge rates: text files beside this module, or files of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.identity import digest
from queries.datasets.records import unreadable


@dataclass(frozen=True, slots=True)
class Rubric:
    """One quality: what it is, and the steps of rating it.

    Attributes:
        name: Name of its file, without the ending.
        title: As the model reads it.
        version: 16 hexadecimal digits of its text.
    """

    name: str
    title: str
    criterion: str
    steps: str
    version: str


def rubric_names() -> tuple[str, ...]:
    """Returns the qualities that come with the package, sorted."""
    folder = resources.files("queries.score") / "rubrics"
    return tuple(sorted(item.name[:-4] for item in folder.iterdir() if item.name.endswith(".txt")))


@cache
def load_rubric(name: str, /) -> Rubric:
    """Returns a quality by name, or from a file of one's own (a name that ends in ``.txt``).

    Raises:
        InputError: There is no such quality or file, or it lacks a part.
    """
    if name.endswith(".txt"):
        try:
            return parse_rubric(Path(name).stem, Path(name).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable(name, error) from error
    if name not in rubric_names():
        raise InputError(
            f"there is no quality {name!r}; there are {', '.join(rubric_names())}, or give a "
            "file that ends in .txt",
            argument="quality",
        )
    file = resources.files("queries.score") / "rubrics" / f"{name}.txt"
    return parse_rubric(name, file.read_text(encoding="utf-8"))


def parse_rubric(name: str, text: str, /) -> Rubric:
    r"""Returns the quality of a text: a title, what it is, and steps as lines that begin with "- ".

    >>> parse_rubric("wit", "Wit\nHow witty it is.\n- Read it.\n- Laugh or not.").title
    'Wit'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    steps = [line for line in lines[1:] if line.startswith("- ")]
    criterion = [line for line in lines[1:] if not line.startswith("- ")]
    if not lines or not steps or not criterion:
        raise InputError(
            f"quality {name}: a line with its title, then what it is, then steps as lines that "
            'begin with "- " were expected',
            argument="quality",
        )
    version = digest((text.replace("\r\n", "\n"),), size=8, person=b"rubric").hex()
    return Rubric(name, lines[0], "\n".join(criterion), "\n".join(steps), version)
