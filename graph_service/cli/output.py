"""What a verb prints: lines for people, or one JSON object."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graph_service.errors import GraphServiceError


@dataclass(frozen=True, slots=True)
class Output:
    """Where a verb's words go.

    Attributes:
        as_json: Print one JSON object on stdout, and nothing else there.
    """

    as_json: bool = False

    def line(self, text: str = "", /) -> None:
        """Prints a line for people; nothing where JSON was asked for."""
        if not self.as_json:
            print(text)

    def note(self, text: str, /) -> None:
        """Prints a line on stderr, for both."""
        print(text, file=sys.stderr)

    def object(self, item: Any, /) -> None:
        """Prints the JSON object, where one was asked for."""
        if self.as_json:
            import orjson

            from graph_service.model.serialise import to_plain

            print(orjson.dumps(to_plain(item)).decode())

    def table(self, rows: Sequence[Sequence[str]], /) -> None:
        """Prints rows in columns; the first row is the head."""
        if self.as_json or not rows:
            return
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            print("  ".join(cells).rstrip())


def error_fields(error: GraphServiceError, /) -> dict[str, str]:
    """Returns an error as JSON has it."""
    fields = {"code": error.code, "message": error.message}
    if error.argument:
        fields["argument"] = error.argument
    if error.hint:
        fields["hint"] = error.hint
    return fields


def counted(number: int, one: str, many: str = "", /) -> str:
    """Returns a number with its noun.

    >>> counted(1, "view"), counted(1200, "view"), counted(0, "entity", "entities")
    ('1 view', '1,200 views', '0 entities')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
