"""Compares the GraphQL schema with that of the last release, for ``make check``.

    python -m tools.released_schema

A change that can break a client fails, unless ``CHANGELOG.md`` names it under *Unreleased* by type
and field, in backticks: `Item.label`.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from graphql import build_schema, find_breaking_changes

ROOT = Path(__file__).resolve().parents[1]
RELEASED = ROOT / "docs" / "released.graphql"
SCHEMA = ROOT / "docs" / "schema.graphql"
CHANGELOG = ROOT / "CHANGELOG.md"

_OF_UNION = re.compile(r"^(\w+) was removed from union type (\w+)\.")
_PART = re.compile(r"@?\b[A-Za-z_]\w*\.\w+|@\w+")
_TYPE = re.compile(r"^(?:Standard scalar )?(\w+)")


@dataclass(frozen=True, slots=True)
class Break:
    """A change that can break a client.

    Attributes:
        coordinate: What changed: a type, ``Type.field`` or ``Enum.VALUE``.
        description: The change, as graphql-core words it.
    """

    coordinate: str
    description: str


def breaks(released: str, now: str, /) -> list[Break]:
    """Returns the changes from one printed schema to another that can break a client."""
    changes = find_breaking_changes(build_schema(released), build_schema(now))
    return [Break(_coordinate(one.description), one.description) for one in changes]


def _coordinate(description: str) -> str:
    of_union = _OF_UNION.match(description)
    if of_union:
        return f"{of_union[2]}.{of_union[1]}"
    part = _PART.search(description)
    if part:
        return part[0]
    whole = _TYPE.match(description)
    return whole[1] if whole else description


def unnamed(found: list[Break], changelog: str, /) -> list[Break]:
    """Returns those that the changelog does not name under *Unreleased*."""
    section = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    names = set(re.findall(r"`(@?[\w.]+)`", section[1])) if section else set()
    return [one for one in found if one.coordinate not in names]


def main() -> int:
    """Prints the changes that the changelog lacks; returns the exit code."""
    found = breaks(RELEASED.read_text("utf-8"), SCHEMA.read_text("utf-8"))
    left = unnamed(found, CHANGELOG.read_text("utf-8"))
    for one in left:
        print(f"{one.description} CHANGELOG.md has no `{one.coordinate}` under Unreleased.")
    if left:
        print(f"{len(left)} changes of docs/schema.graphql can break clients of the last release.")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
