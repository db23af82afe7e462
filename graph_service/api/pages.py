"""Pages of a list, as Relay's connections have them: cursors, and what a page says of itself.

A cursor names the last element that a client has, not a number of elements. So a list may lose
elements between two pages, and the client still gets all that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import strawberry

from graph_service.api.global_ids import decoded_parts, encoded_parts
from graph_service.errors import EditionGoneError, InputError
from graph_service.model.identity import digest

_NUMBERS = 2**64
"""Places that are numbers are smaller: those of edges, or keys from 0 on."""
First = Annotated[
    int, strawberry.argument(description="How many elements the page has at most, from 1.")
]
After = Annotated[
    str | None,
    strawberry.argument(
        description="The endCursor of the page before this one; null for the first page."
    ),
]


@strawberry.type(description="Where a page stands in its list, as Relay specifies it.")
class PageInfo:
    """Where a page stands in its list."""

    has_next_page: bool = strawberry.field(description="Whether the list goes on after this page.")
    has_previous_page: bool = strawberry.field(
        description="Whether the page was asked for by a cursor, so that others come before it."
    )
    start_cursor: str | None = strawberry.field(
        description="The cursor of the first edge; null where the page is empty."
    )
    end_cursor: str | None = strawberry.field(
        description="The cursor of the last edge, for the argument after of the next page."
    )


@dataclass(frozen=True, slots=True)
class Listing:
    """A list that is given in pages: makes its cursors and reads them.

    Attributes:
        parts: What the list is of: its kind, its owner and the arguments that choose and order its
            elements. A cursor of another list is no cursor of this one.
        edition: Whose elements it has; "" for a list that goes on in every edition.
    """

    parts: tuple[str, ...]
    edition: str = ""

    def cursor(self, place: str, /) -> str:
        """Returns the cursor after an element that has a place in the order of the list."""
        return encoded_parts([self._name(), self.edition, place])

    def place(self, after: str | None, /) -> str | None:
        """Returns the place of the last element that a client has; None for the first page.

        Raises:
            InputError: It is no cursor of this list.
            EditionGoneError: It is of another edition: its list has ended.
        """
        if after is None:
            return None
        parts = decoded_parts(after)
        if len(parts) != 3 or parts[0] != self._name():
            raise not_a_cursor(after)
        if parts[1] != self.edition:
            raise EditionGoneError(
                f"the cursor belongs to edition {parts[1]!r}, and the current edition is "
                f"{self.edition!r}",
                argument="after",
                hint="Ask for the first page again.",
            )
        return parts[2]

    def number(self, after: str | None, /) -> int | None:
        """Returns the place as a whole number; see ``place``."""
        place = self.place(after)
        if place is None:
            return None
        is_number = place.isascii() and place.isdigit() and len(place) <= len(str(_NUMBERS))
        if after is not None and not (is_number and int(place) < _NUMBERS):
            raise not_a_cursor(after)
        return int(place)

    def page_info(
        self, places: Sequence[object], /, *, after: str | None, has_next: bool
    ) -> PageInfo:
        """Returns what a page of elements at some places says of itself."""
        return PageInfo(
            has_next_page=has_next,
            has_previous_page=after is not None,
            start_cursor=self.cursor(str(places[0])) if places else None,
            end_cursor=self.cursor(str(places[-1])) if places else None,
        )

    def _name(self) -> str:
        return digest(self.parts, size=6, person=b"list").hex()


def check_first(first: int, most: int, /) -> None:
    """Raises ``InputError`` unless a page has 1 to ``most`` elements."""
    if not 1 <= first <= most:
        raise InputError(f"first must be 1 to {most}, got {first}", argument="first")


def not_a_cursor(after: str, /) -> InputError:
    """Returns the error for a cursor that this list did not give."""
    return InputError(
        f"not a cursor of this list: {after[:40]!r}",
        argument="after",
        hint="Give the endCursor of a page with the same arguments, or null for the first page.",
    )
