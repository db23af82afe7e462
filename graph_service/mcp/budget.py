"""How large an answer may be: whole items are left out until it fits."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from graph_service.mcp.answers import Answer, Cut
from graph_service.model.limits import CutReason

DEFAULT_TOKENS = 8000
LEAST_TOKENS = 500
MOST_TOKENS = 100_000

_NOTE_TOKENS = 120
"""Kept for the words and data that say what was left out."""
_SHOWN = ("items", "paths", "statements")
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
    for number, each in enumerate(sizes):
        left -= each
        if left < 0:
            return number
    return len(sizes)


def answered(
    answer: Answer,
    items: Sequence[BaseModel],
    lines: Sequence[str],
    /,
    *,
    head: str = "",
    budget: int,
) -> CallToolResult:
    """Returns an answer with as many of its items as its budget holds.

    Args:
        answer: Without its items; what limits left out before is in it.
        items: Best first.
        lines: Each item as text.
        head: What the text begins with.
        budget: Tokens of the structured content and the text together.
    """
    sizes = [size(item) + size(line) + 1 for item, line in zip(items, lines, strict=True)]
    kept = fitting(sizes, budget - size(answer) - size(head) - _NOTE_TOKENS)
    cuts = list(answer.truncated)
    if kept < len(items):
        cuts.append(budget_cut(budget, kept, len(items)))
    text = "\n".join(part for part in (head, *lines[:kept], note_of(cuts)) if part)
    whole = answer.model_copy(update={"items": list(items[:kept]), "truncated": cuts})
    whole.tokens = size(whole) + size(text)
    return CallToolResult(
        content=[TextContent(type="text", text=text)],
        structured_content=whole.model_dump(mode="json", exclude_none=True),
    )


def budget_cut(budget: int, kept: int, total: int, /, *, what: str = "items") -> Cut:
    """Returns what says that a token budget left something out."""
    return Cut(what=what, reason=CutReason.TOKEN_BUDGET.value, limit=budget, kept=kept, total=total)


def note_of(cuts: Sequence[Cut], /) -> str:
    """Returns what a reader of the text is told of items left out; empty for none.

    What a search did not look at is in the structured content alone.

    >>> note_of([budget_cut(8000, 3, 12)])
    'Cut short: items, 3 of 12 kept (token-budget). Ask with a larger token_budget or a smaller limit.'
    """
    shown = [cut for cut in cuts if cut.what.startswith(_SHOWN)]
    if not shown:
        return ""
    told = []
    for cut in shown:
        of = f" of {cut.total}" if cut.total is not None else ""
        told.append(f"{cut.what}, {cut.kept}{of} kept ({cut.reason})")
    note = f"Cut short: {'; '.join(told)}."
    if any(cut.reason == CutReason.TOKEN_BUDGET.value for cut in shown):
        note += " Ask with a larger token_budget or a smaller limit."
    return note
