"""What a verb prints: lines for people, or one JSON object."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TextIO, cast

from graph_service.errors import GraphServiceError
from graph_service.text.visible import visible, visible_json, visible_line

if TYPE_CHECKING:
    from queries.score.report import Report


@dataclass(frozen=True, slots=True)
class Output:
    """Where a verb's words go.

    Attributes:
        as_json: Print one JSON object on stdout, and nothing else there.
        raw: Leave line feeds in a line as they are (``--raw``).
    """

    as_json: bool = False
    raw: bool = False

    def line(self, text: str = "", /) -> None:
        """Prints a line for people; nothing where JSON was asked for."""
        if not self.as_json:
            print(self._shown(text))

    def lines(self, text: str, /) -> None:
        """Prints text of several lines for people; nothing where JSON was asked for."""
        if not self.as_json:
            print(text)

    def note(self, text: str, /) -> None:
        """Prints a line on stderr, for both."""
        print(self._shown(text), file=sys.stderr)

    def error(self, error: GraphServiceError, /) -> None:
        """Prints an error on stderr, and as the JSON object where one was asked for."""
        self.note(f"error: {error}")
        self.object({"error": error_fields(error)})

    def object(self, item: Any, /) -> None:
        """Prints the JSON object, where one was asked for."""
        if self.as_json:
            import orjson

            from graph_service.model.serialise import to_plain

            plain = to_plain(item)
            try:
                line = orjson.dumps(plain)
            except orjson.JSONEncodeError:
                # The name of a file that is not UTF-8 has lone surrogates.
                line = json.dumps(plain).encode()
            print_json(line)

    def show(self, item: Any, /, *lines: str) -> None:
        """Prints what a verb came to: the JSON object where one was asked for, else the lines."""
        self.object(item)
        for line in lines:
            self.line(line)

    def report(self, report: Report, /) -> int:
        """Prints a report as lines or as the JSON object; returns the exit code of its verb."""
        self.show(report.to_plain(), *report.lines())
        return 1 if report.has_failed else 0

    def listing(
        self, item: Any, head: Sequence[str], rows: Sequence[Sequence[str]], /, *, empty: str
    ) -> None:
        """Prints a list: the JSON object where one was asked for, else a table.

        Args:
            item: The object.
            head: The first row.
            rows: All others.
            empty: The line that stands for a table without rows.
        """
        self.object(item)
        if rows:
            self.table([head, *rows])
        else:
            self.line(empty)

    def table(self, rows: Sequence[Sequence[str]], /) -> None:
        """Prints rows in columns; the first row is the head."""
        if self.as_json or not rows:
            return
        shown = [[self._shown(cell) for cell in row] for row in rows]
        widths = [max(len(row[i]) for row in shown) for i in range(len(shown[0]))]
        for row in shown:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            print("  ".join(cells).rstrip())

    def _shown(self, text: str) -> str:
        return text if self.raw else visible_line(text)


def print_json(data: bytes, /) -> None:
    """Prints JSON on stdout, in which characters that act on a terminal are JSON's escapes."""
    print(visible_json(data.decode()))


class _VisibleStream:
    """A stream through which all text for people goes, as ``visible`` shows it.

    A carriage return that begins a piece of text stays: progress is told in place.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str, /) -> int:
        start = "\r" if text.startswith("\r") else ""
        self._stream.write(start + visible(text[len(start) :]))
        return len(text)

    def writelines(self, lines: Sequence[str], /) -> None:
        for line in lines:
            self.write(line)

    @property
    def buffer(self) -> Any:
        """Where bytes go: data, but where they are written to a terminal."""
        return _VisibleBytes(self) if self._stream.isatty() else self._stream.buffer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _VisibleBytes(io.RawIOBase):
    """UTF-8 that goes to a stream as text."""

    def __init__(self, stream: _VisibleStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._stream.write(self._decoder.decode(bytes(data)))
        return len(data)


@contextlib.contextmanager
def visible_streams(*, raw: bool) -> Iterator[None]:
    """Lets everything that is printed in its block be shown as ``visible`` has it.

    So no verb can forget it. Bytes, such as those of an export, are data: they pass as they are but
    to a terminal.

    Args:
        raw: Print the text as it is instead.
    """
    if raw:
        yield
        return
    with (
        contextlib.redirect_stdout(cast(TextIO, _VisibleStream(sys.stdout))),
        contextlib.redirect_stderr(cast(TextIO, _VisibleStream(sys.stderr))),
    ):
        yield


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
