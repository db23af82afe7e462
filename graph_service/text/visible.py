r"""Text of a graph, a model or a file as it is shown: nothing in it acts on a terminal.

A label may hold an escape sequence that moves the cursor or sets the clipboard, or a character that
turns the direction of what follows. Such characters are shown as escapes (``\x1b``, ``\u202e``).
What writing needs stays: joiners and non-joiners (Persian, Hindi, emoji), variation selectors, soft
hyphens, flags of regions, and in a line with right-to-left letters the marks of direction.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

# Controls of C0 and C1, overrides, embeddings and isolates of direction, separators of lines and
# paragraphs, a byte order mark, annotations, lone surrogates, tags.
_ACTING = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
_TAGS = "\U000e0000-\U000e007f"
_MARKS = "\u061c\u200e\u200f"
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_FLAG = "\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f"
_HIDDEN = re.compile(f"(?P<flag>{_FLAG})|[{_ACTING}{_TAGS}{_MARKS}]")
_HIDDEN_BUT_MARKS = re.compile(f"(?P<flag>{_FLAG})|[{_ACTING}{_TAGS}]")
_COMPUTED = re.compile(r"[=+\-@\t\r]")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def visible(text: str, /) -> str:
    r"""Returns text with characters that act on a terminal as escapes; line feeds and tabs stay.

    >>> visible("\x1b[2Jred \u202edrow")
    '\\x1b[2Jred \\u202edrow'
    """
    if text.isascii() and text.isprintable():
        return text
    return "\n".join(map(_visible_line, text.split("\n")))


def visible_line(text: str, /) -> str:
    r"""Returns the same as one line, in which line feeds are escapes too.

    >>> visible_line("name\nerror: none")
    'name\\nerror: none'
    """
    return visible(text).replace("\n", r"\n")


def visible_json(text: str, /) -> str:
    r"""Returns JSON that says the same, with such characters as JSON's own escapes.

    >>> visible_json('{"label": "\x9b2J"}')
    '{"label": "\\u009b2J"}'
    """
    # An encoder has escaped what is below a space. A line feed can only stand between values.
    return _HIDDEN.sub(_json_escape, text)


def spreadsheet(rows: Iterable[Sequence[object]], /) -> str:
    r"""Returns a table for people as CSV, in which no text is computed by a spreadsheet.

    A text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an
    apostrophe before it, unless it is a number (OWASP, CSV injection). Texts are shown as
    ``visible_line`` has them.

    >>> spreadsheet([["=1+1", "-5", -5, "plain"]])
    "'=1+1,-5,-5,plain\n"
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue()


def _visible_line(line: str) -> str:
    pattern = _HIDDEN_BUT_MARKS if _RIGHT_TO_LEFT.search(line) else _HIDDEN
    return pattern.sub(_escape, line)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0][0])
    width = "x02" if code < 0x100 else "u04" if code < 0x10000 else "U08"
    return match["flag"] or f"\\{width[0]}{code:{width[1:]}x}"


def _json_escape(match: re.Match[str]) -> str:
    if match["flag"]:
        return match["flag"]
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(rf"\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    is_computed = _COMPUTED.match(value) and not _DECIMAL.fullmatch(value)
    return f"{chr(39) * bool(is_computed)}{visible_line(value)}"
