"""The records of a source, counted twice: by its reader, and by a simple count of its bytes.

A record is a line of N-Triples, N-Quads, JSON lines or an exported graph, a statement of Turtle,
TriG or RDF/XML, a row of a table (its header too), a document of JSON, a page of a MediaWiki dump.
What was read, rejected and passed over must be all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

UNACCOUNTED_REASON = "records of the source that were neither read, rejected nor passed over"
UNFINISHED_ARRAY = (
    "the array that the source begins with has no end; it was cut, or is still being written"
)
# What a line is can be told from so many bytes of it.
_LINE_BYTES = 256
_RDF_LINE = re.compile(rb"^(?:\xef\xbb\xbf)?+[ \t]*+[^ \t\n#]", re.MULTILINE)
_JSON_LINE = re.compile(
    rb"^(?:\xef\xbb\xbf)?+[ \t\r]*+(?![\[\]]?[ \t\r]*+,?[ \t\r]*+$)", re.MULTILINE
)
_JSON_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\],]', re.DOTALL)


@dataclass(slots=True)
class RecordCounts:
    """How many records were read, rejected, and passed over on purpose."""

    read: int = 0
    rejected: int = 0
    passed_over: int = 0

    @property
    def total(self) -> int:
        """How many records there are."""
        return self.read + self.rejected + self.passed_over

    def add(self, other: RecordCounts, /) -> None:
        """Adds the counts of another piece."""
        self.read += other.read
        self.rejected += other.rejected
        self.passed_over += other.passed_over

    def as_one_record(self) -> RecordCounts:
        """Returns the counts of a line by what its documents came to.

        >>> RecordCounts(read=2, rejected=1).as_one_record()
        RecordCounts(read=1, rejected=0, passed_over=0)
        """
        if self.read:
            return RecordCounts(read=1)
        return RecordCounts(rejected=1) if self.rejected else RecordCounts(passed_over=1)


class RecordCounter(Protocol):
    """Counts the records of a source from its bytes, without its reader."""

    def feed(self, data: bytes, /) -> None:
        """Counts the records of the bytes that come next."""

    @property
    def count(self) -> int:
        """Records of the bytes so far, of the last line too."""

    @property
    def problem(self) -> str:
        """Why these can't be all records, if the source ends here; "" if they can."""


class _LineCounter:
    """Counts the lines that a pattern matches at their beginning."""

    def __init__(self, pattern: re.Pattern[bytes]) -> None:
        self._pattern = pattern
        self._lines = 0
        self._begun = b""

    def feed(self, data: bytes, /) -> None:
        cut = data.rfind(b"\n") + 1
        if cut:
            self._lines += len(self._pattern.findall(self._begun + data[: cut - 1]))
            self._begun = b""
        if len(self._begun) < _LINE_BYTES:
            self._begun += data[cut : cut + _LINE_BYTES]

    @property
    def count(self) -> int:
        return self._lines + (self._pattern.match(self._begun) is not None and self._begun != b"")

    @property
    def problem(self) -> str:
        return ""


class RdfLineCounter(_LineCounter):
    """Counts lines that are neither blank nor remarks; CR ends a line too."""

    def __init__(self) -> None:
        super().__init__(_RDF_LINE)

    def feed(self, data: bytes, /) -> None:
        """Counts the records of the bytes that come next."""
        super().feed(data.replace(b"\r", b"\n") if b"\r" in data else data)


class JsonLineCounter(_LineCounter):
    """Counts lines of JSON, but for those that hold a bracket or a comma of an array alone."""

    def __init__(self) -> None:
        super().__init__(_JSON_LINE)
        self._first = self._last = b""

    def feed(self, data: bytes, /) -> None:
        """Counts the records of the bytes that come next."""
        super().feed(data)
        text = data.rstrip()
        if text:
            self._first = self._first or text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
            self._last = text[-1:]

    @property
    def problem(self) -> str:
        """Says that the array that was begun has no end, if it has none."""
        return UNFINISHED_ARRAY if self._first == b"[" and self._last != b"]" else ""


class JsonArrayCounter:
    """Counts the elements of a JSON array, by brackets and strings alone; of several, all.

    Args:
        skip: Bytes before the array.
        is_wrapped: Whether it stands in an object, whose other members are not counted.
    """

    _TOKEN = re.compile(
        rb'(?P<text>"(?:[^"\\]|\\.)*+(?P<end>")?)|[{}\[\]]|(?P<scalar>[^\s,:{}\[\]"]+)', re.DOTALL
    )

    def __init__(self, *, skip: int = 0, is_wrapped: bool = False) -> None:
        self._skip, self._is_wrapped = skip, is_wrapped
        self._depth = 0
        self._begun = b""
        self._is_over = False
        self.count = 0

    def feed(self, data: bytes, /) -> None:
        """Counts the elements of the bytes that come next."""
        skipped = min(self._skip, len(data))
        self._skip -= skipped
        data = self._begun + data[skipped:]
        self._begun = b""
        for match in self._TOKEN.finditer(data):
            if match["text"] and not match["end"] or match["scalar"] and match.end() == len(data):
                # A text or a number may go on.
                self._begun = data[match.start() :]
                return
            self._take(match[0])

    def _take(self, token: bytes) -> None:
        if token in (b"}", b"]"):
            self._depth -= 1
            self._is_over = self._is_over or not self._depth
            return
        if token == b"[" and not self._depth and not self._is_wrapped:
            self._is_over = False
        if self._depth == 1 and not self._is_over:
            self.count += 1
        if token in (b"{", b"["):
            self._depth += 1

    @property
    def problem(self) -> str:
        """Says that the array has no end, if it has none."""
        return "" if self._is_over else UNFINISHED_ARRAY


def end_of_json_element(text: str, /) -> int | None:
    """Returns where the first element of an array ends by its brackets; None if it does not.

    >>> end_of_json_element('{"a": "}", "b": [}, {}'), end_of_json_element("{")
    (None, None)
    >>> end_of_json_element('{"a": 1,}, {}')
    9
    """
    depth = 0
    for match in _JSON_BRACKET.finditer(text):
        token = match[0]
        if token[0] in "}]":
            if not depth:
                return match.start()
            depth -= 1
            if not depth:
                return match.end()
        elif token[0] in "{[":
            depth += 1
        elif token == "," and not depth:
            return match.start()
    return None


def count_rdf_lines(data: bytes, /) -> int:
    r"""Returns how many lines of a block hold a triple, or what should be one.

    >>> count_rdf_lines(b"# a remark\n<a> <b> <c> .\r\n\n<a> <b>")
    2
    """
    return len(_RDF_LINE.findall(data.replace(b"\r", b"\n") if b"\r" in data else data))
