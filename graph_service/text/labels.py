"""Where a text speaks labels of the graph: spans that are data, whatever characters they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable

_QUOTES = {"'": "['’‘ʼ]", '"': '["“”„«»]', "’": "['’‘ʼ]", "“": '["“”„]', "”": '["“”„]'}
# Models escape what Markdown would read: "Foo \[NA\]".
_ESCAPED = frozenset("[]()*_`#<>|\\~^")


def label_spans(text: str, labels: Iterable[str], /) -> list[tuple[int, int]]:
    """Returns ``(start, end)`` of each label in a text: left to right, no two of which overlap.

    A label counts as a whole word, in any case and white space, with straight or curly quotes, and
    with the backslashes that Markdown takes. Of labels that begin at one position the longest counts.

    Args:
        text: Any text, in NFC where the labels are.
        labels: Of entities, relations and values; blank ones are left out.

    >>> text = "He painted Untitled [1] in Rome [1]."
    >>> [text[a:b] for a, b in label_spans(text, ["Untitled [1]", "Untitled", "ome"])]
    ['Untitled [1]']
    """
    listed = sorted(
        {" ".join(label.split()) for label in labels} - {""}, key=lambda x: (-len(x), x)
    )
    if not listed:
        return []
    pattern = re.compile("|".join(map(_pattern, listed)), re.IGNORECASE)
    return [match.span() for match in pattern.finditer(text)]


def masked(text: str, spans: Iterable[tuple[int, int]], /, *, by: str = "x") -> str:
    """Returns a text of the same length whose spans hold one character alone."""
    parts: list[str] = []
    end = 0
    for start, stop in spans:
        parts.append(text[end:start])
        parts.append(by * (stop - start))
        end = stop
    return "".join(parts) + text[end:]


def _pattern(label: str) -> str:
    words = r"\s+".join(
        "".join(_QUOTES.get(c) or ("\\\\?" if c in _ESCAPED else "") + re.escape(c) for c in word)
        for word in label.split()
    )
    before = r"(?<!\w)" if label[0].isalnum() else ""
    after = r"(?!\w)" if label[-1].isalnum() else ""
    return f"{before}{words}{after}"
