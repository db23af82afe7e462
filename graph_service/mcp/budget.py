"""How large an answer may be: whole items are left out until it fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from graph_service.mcp.answers import Answer, Cut
from graph_service.model.limits import CutReason

DEFAULT_TOKENS = 8000
LEAST_TOKENS = 500
MOST_TOKENS = 100_000

_NOTE_TOKENS = 120
"""Kept for the words and data that say what was left out."""
_PIECE = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,3}|[^\sA-Za-z0-9]")


def count_tokens(text: str, /) -> int:
    """Returns the tokens of a text, rather more than language models count.

    Up to four Latin letters, up to three digits, and any other character are one each.

    >>> count_tokens("Berlin [Q64]")
    6
    """
    return sum(1 for _ in _PIECE.finditer(text))


def size(item: BaseModel | str, /) -> int:
    """Returns the tokens of an item as JSON, or of a text."""
    return count_tokens(item if isinstance(item, str) else item.model_dump_json(exclude_none=True))


def fitting(sizes: Sequence[int], budget: int, /) -> int:
    """Returns how many of the first items fit.

    >>> fitting([3, 3, 3], 7), fitting([3], 2), fitting([], 0)
    (2, 0, 0)
    """
    left = budget
    for index, each in enumerate(sizes):
        left -= each
        if left < 0:
            return index
    return len(sizes)


@dataclass(frozen=True, slots=True)
class Section:
    """A list of an answer, and how it reads.

    Attributes:
        field: The answer's field.
        items: Best first.
        lines: Each item as text.
        title: A line before them, where there are any.
    """

    field: str
    items: Sequence[BaseModel]
    lines: Sequence[str]
    title: str = ""


def answered(
    answer: Answer,
    items: Sequence[BaseModel],
    lines: Sequence[str],
    /,
    *,
    head: str = "",
    budget: int,
) -> CallToolResult:
    """Returns an answer with as many of its ``items`` as its budget holds; see ``filled``."""
    return filled(answer, [Section("items", items, lines)], head=head, budget=budget)


def filled(
    answer: Answer,
    sections: Sequence[Section],
    /,
    *,
    head: str = "",
    budget: int,
    on_cut: Callable[[Answer, int], None] | None = None,
    end: Callable[[Answer], str] = lambda _: "",
) -> CallToolResult:
    """Returns an answer with as much of its lists as its budget holds, the first list first.

    Args:
        answer: Without its lists; what limits left out before is in it.
        sections: Its lists.
        head: What the text begins with.
        budget: Tokens of the structured content and the text together.
        on_cut: Called with the answer and the count of items that fit, where not all do.
        end: Gives a line for the end of the text.
    """
    left = budget - size(answer) - size(head) - _NOTE_TOKENS
    complete = answer.model_copy(update={"truncated": list(answer.truncated)})
    text = [head]
    for section in sections:
        sizes = [
            size(item) + size(line) + 1
            for item, line in zip(section.items, section.lines, strict=True)
        ]
        fits = fitting(sizes, left - size(section.title))
        left -= sum(sizes[:fits]) + size(section.title)
        setattr(complete, section.field, list(section.items[:fits]))
        text += [section.title if fits else "", *section.lines[:fits]]
        if fits < len(section.items):
            complete.truncated.append(
                budget_cut(budget, fits, len(section.items), what=section.field)
            )
            if on_cut is not None:
                on_cut(complete, fits)
    text += [end(complete), note_of(complete.truncated)]
    shown = "\n".join(part for part in text if part)
    complete.tokens = size(complete) + size(shown)
    return CallToolResult(
        content=[TextContent(type="text", text=shown)],
        structured_content=complete.model_dump(mode="json", exclude_none=True),
    )


def budget_cut(budget: int, shown: int, total: int, /, *, what: str = "items") -> Cut:
    """Returns what says that a token budget left something out."""
    return Cut(
        what=what, reason=CutReason.TOKEN_BUDGET.value, limit=budget, kept=shown, total=total
    )


def note_of(cuts: Sequence[Cut], /) -> str:
    """Returns what a reader of the text is told of what was left out; empty for nothing.

    >>> note_of([budget_cut(8000, 3, 12)])
    'Cut short: items, 3 of 12 shown (token-budget). Ask with a larger token_budget or a smaller limit.'
    >>> note_of([Cut(what="updates", reason="store-away", limit=30.2, kept=0)])
    'The store does not answer: this is from memory, as the store was 30.2 s before.'
    """
    if not cuts:
        return ""
    notes = [
        f"The store does not answer: this is from memory, as the store was {cut.limit:g} s before."
        for cut in cuts
        if cut.reason == CutReason.STORE_AWAY.value
    ]
    parts = []
    for cut in cuts:
        if cut.reason == CutReason.STORE_AWAY.value:
            continue
        of = f" of {cut.total}" if cut.total is not None else ""
        parts.append(f"{cut.what}, {cut.kept}{of} shown ({cut.reason})")
    if parts:
        notes.append(f"Cut short: {'; '.join(parts)}.")
    if any(cut.reason == CutReason.TOKEN_BUDGET.value for cut in cuts):
        notes.append("Ask with a larger token_budget or a smaller limit.")
    return " ".join(notes)
