"""Pages of a list, as Relay's connections have them: cursors, and what a page says of itself.

A cursor names the last element that a client has, not a number of elements. So a list may lose
elements between two pages, and the client still gets all that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import strawberry

from graph_service.api.derive import output_type
from graph_service.api.global_ids import decoded_parts, encoded_parts
from graph_service.errors import EditionGoneError, InputError
from graph_service.model.browsing import PageInfo
from graph_service.model.conversions import CURSOR
from graph_service.model.identity import digest

_NUMBERS = 2**64
"""Places that are numbers are smaller: those of edges, or keys from 0 on."""
P = TypeVar("P")
First = Annotated[
    int, strawberry.argument(description="How many elements the page has at most, from 1.")
]
After = Annotated[
    str | None,
    strawberry.argument(
        description="The endCursor of the page before this one; null for the first page."
    ),
]


class Page:
    """A page of a list: its edges, and where it stands; each list has a type of its own."""

    if TYPE_CHECKING:

        def __init__(
            self, *, edges: Sequence[Any], page_info: PageInfo, total_count: int | None = None
        ) -> None: ...


def edge_of(name: str, node: type, words: str, /, *, node_words: str) -> Any:
    """Returns the type of an edge that has a node and a cursor, and nothing else."""
    body = {
        "__annotations__": {"cursor": str, "node": node},
        "cursor": strawberry.field(description=CURSOR.words),
        "node": strawberry.field(description=node_words),
    }
    return strawberry.type(type(name, (), body), description=words)


def page_of(
    edge: Any, about: str, /, *, edges: str, nodes: str, total: str | None = None
) -> Callable[[type[P]], type[P]]:
    """Returns a decorator that makes a class a page of edges, as Relay's connections have them.

    Args:
        edge: Type of the edges.
        about: Describes the page.
        edges: Describes them.
        nodes: Describes them.
        total: Describes the count; None for a list that is not counted.
    """
    definition = edge.__strawberry_definition__
    node: Any = next(each.type for each in definition.fields if each.name == "node")

    def nodes_of(self: Any) -> Any:
        return [each.node for each in self.edges]

    fields = {
        "edges": (list[edge], strawberry.field(description=edges)),
        "page_info": (
            output_type(PageInfo),
            strawberry.field(description="Where the page stands in the list."),
        ),
        "total_count": (int, strawberry.field(description=total)),
        "nodes": (
            list[node],
            strawberry.field(resolver=nodes_of, description=nodes, graphql_type=list[node]),
        ),
    }
    if total is None:
        del fields["total_count"]

    def give_fields(cls: type[P]) -> type[P]:
        cls.__annotations__ = {name: kind for name, (kind, _) in fields.items()}
        for name, (_, field) in fields.items():
            setattr(cls, name, field)
        made: type[P] = strawberry.type(cls, description=about)
        return made

    return give_fields


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

    def cursor(self, position: str, /) -> str:
        """Returns the cursor after an element that has a place in the order of the list."""
        return encoded_parts([self._name(), self.edition, position])

    def position(self, after: str | None, /) -> str | None:
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
        position = self.position(after)
        if position is None:
            return None
        is_number = (
            position.isascii() and position.isdigit() and len(position) <= len(str(_NUMBERS))
        )
        if after is not None and not (is_number and int(position) < _NUMBERS):
            raise not_a_cursor(after)
        return int(position)

    def page_info(
        self, positions: Sequence[object], /, *, after: str | None, has_next: bool
    ) -> PageInfo:
        """Returns what a page of elements at some places says of itself."""
        return PageInfo(
            has_next_page=has_next,
            has_previous_page=after is not None,
            start_cursor=self.cursor(str(positions[0])) if positions else None,
            end_cursor=self.cursor(str(positions[-1])) if positions else None,
        )

    def index_page(self, count: int, /, *, first: int, after: str | None) -> tuple[range, PageInfo]:
        """Returns the indexes of a page in a list of so many elements, and where it stands."""
        last = self.number(after)
        start = 0 if last is None else last + 1
        indexes = range(count)[start : start + first]
        has_next = start + len(indexes) < count
        return indexes, self.page_info(indexes, after=after, has_next=has_next)

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
