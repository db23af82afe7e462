"""JSON arrays and JSON lines of objects as tables: an object a row, its keys the columns.

The array may be the one list of objects in an object. Features of GeoJSON are rows by their
properties. An object inside a row gives columns of its own (``address city``), a list of values is a list.
Lists of objects are left out and counted.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import WIKIDATA_ID
from loaders.items import Parsed, Reject, excerpt
from loaders.packing import refuse_archive
from loaders.rdf.recognition import is_json_ld
from loaders.records import JsonArrayCounter, JsonLineCounter, RecordCounter, end_of_json_element
from loaders.source import ByteSource, DamagedSourceError, SourceLimits, line_blocks, open_source
from loaders.tables.cells import OUTLINE
from loaders.tables.json_list import (
    RowsStart,
    feature_members,
    is_feature,
    members_after,
    rows_start,
    second_list,
)
from loaders.tables.rows import Row, read_numbered, take_row
from loaders.tables.typed_cells import cell_text
from loaders.tables.wording import suffix_of

_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson", ".geojson"})
_LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_ENTITY_TYPES = frozenset({"item", "property", "lexeme"})
_MOST_COLUMNS = 2_000
_SHOWN = 200
"""Characters of an element that can't be read that a reject shows."""
_LONGEST_TOKEN = 1_100
"""Characters of a number, at most, that a piece of an array may cut."""
_BOM = b"\xef\xbb\xbf"

Cells = dict[str, str]


@dataclass(frozen=True, slots=True)
class _Record:
    """A row of a file, or what is wrong there.

    Attributes:
        cells: By their columns; None where it can't be read.
        problem: Why it can't be.
        text: Its beginning, then.
        count: Records that it is: 0 of what is wrong beside the records.
        other_keys: Keys of an object beside the list of its rows, in the last record, which is no row.
    """

    cells: Cells | None
    problem: str = ""
    text: str = ""
    count: int = 1
    other_keys: tuple[str, ...] = ()


class _NoObjectError(ValueError):
    """Why a value of an array, or a line, is no row."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _NoObjectError(f"the key {twice!r} is there twice")
    return members


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_float=Decimal, parse_constant=lambda _: None
)


def is_json_table(path: str | Path, /) -> bool:
    """Returns whether a file is JSON whose objects are rows: by its name, and its first object.

    Documents of Wikibase, JSON-LD and exported graphs are none.
    """
    suffix = suffix_of(str(path))
    if suffix not in _SUFFIXES:
        return False
    try:
        with open_source(path) as source:
            refuse_archive(source.head, source.name)
            is_lines = suffix in _LINE_SUFFIXES
            return not is_json_ld(source.head) and _begins_table(source.head, is_lines=is_lines)
    except InputError:
        return False


def object_counter(head: bytes, /) -> RecordCounter | None:
    """Returns what counts the objects of a JSON table by its bytes; None for other tables."""
    first = head.removeprefix(_BOM).lstrip()[:1]
    text = head.decode("utf-8", "surrogateescape")
    if first == b"[" or (first == b"{" and not _are_lines(text)):
        start = rows_start(text)
        if start is not None:
            before = len(text[: start.at].encode("utf-8", "surrogateescape"))
            return JsonArrayCounter(skip=before, is_wrapped=bool(start.key))
    return JsonLineCounter() if first == b"{" else None


def _begins_table(head: bytes, *, is_lines: bool) -> bool:
    text = head.decode("utf-8", "surrogateescape")
    start = None if is_lines or _are_lines(text) else rows_start(text)
    text = text[0 if start is None else start.at :].lstrip("\ufeff \t\r\n")
    is_array = text[:1] == "["
    text = text.removeprefix("[").lstrip()
    if text[:1] != "{":
        return False
    try:
        first, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return False
    more = text[end:].lstrip()
    return (is_array or is_lines or more[:1] == "{") and not _is_document(first)


def _are_lines(text: str) -> bool:
    """Returns whether objects follow each other, as in JSON lines."""
    text = text.lstrip("\ufeff \t\r\n")
    if text[:1] != "{":
        return False
    try:
        _, end = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return text[end:].lstrip()[:1] == "{"


def _is_document(first: Mapping[str, Any]) -> bool:
    """Returns whether an object is of Wikibase, of JSON-LD or of an exported graph."""
    id_ = first.get("id")
    return (
        "claims" in first
        or "graph-service" in first
        or any(name.startswith("@") for name in first)
        or isinstance(first.get("labels"), Mapping)
        or isinstance(first.get("entities"), Mapping)
        or _are_entities_by_id(first)
        or (
            first.get("type") in _ENTITY_TYPES
            and isinstance(id_, str)
            and WIKIDATA_ID.fullmatch(id_) is not None
        )
    )


def _are_entities_by_id(first: Mapping[str, Any]) -> bool:
    return bool(first) and all(
        WIKIDATA_ID.fullmatch(name) is not None and isinstance(value, Mapping)
        for name, value in first.items()
    )


def json_header(path: str | Path, /, *, limits: SourceLimits | None = None) -> tuple[str, ...]:
    """Returns the columns of a JSON table: the keys of all objects, as they come first.

    Raises:
        InputError: The objects have too many keys for a table.
    """
    status = Path(path).stat()
    return _header(str(path), status.st_size, status.st_mtime_ns, limits or SourceLimits())


@lru_cache(maxsize=64)
def _header(path: str, _size: int, _changed_ns: int, limits: SourceLimits) -> tuple[str, ...]:
    names: dict[str, None] = {}
    with open_source(path, limits=limits) as source:
        for record in _records(source):
            if record.cells is not None:
                names.update(dict.fromkeys(record.cells))
            if len(names) > _MOST_COLUMNS:
                raise InputError(
                    f"the objects of {path} have more than {_MOST_COLUMNS:,} different keys, too "
                    "many for columns of a table",
                    argument="source",
                    hint="Write what is under keys such as ids or dates as objects of their own.",
                )
    return tuple(names)


def read_json_rows(
    source: ByteSource,
    start: Mapping[str, Any],
    take: Callable[[Row, Parsed], None],
    finish: Callable[[Parsed], None] | None = None,
) -> Iterator[Parsed]:
    """Yields what ``take`` makes of the objects; one that it refuses is a reject.

    The first row that it takes is the header, which is no record: it has line 0.

    Args:
        source: The file, at its beginning.
        start: Position to go on from; empty for the beginning.
        take: Adds a row to a block; raises ``RowError``, ``ValueError`` or ``InputError``.
        finish: Called at the end of each block.
    """
    header = json_header(source.name, limits=source.limits)
    take(Row(list(header), 0, 0), Parsed(terms_only=True))

    def read(row_index: int, record: _Record, parsed: Parsed) -> None:
        if record.other_keys:
            names = ", ".join(record.other_keys)
            reason = f"keys of the object beside its rows: {names}"
            parsed.skipped[reason] += len(record.other_keys)
            return
        cells = record.cells
        if cells is None:
            text = _excerpt(record.text)
            parsed.rejects.append(Reject(source.name, row_index, 0, record.problem, text))
            parsed.counts.rejected += record.count
            return
        row = Row([cells.get(name, "") for name in header], row_index, 0)
        text = _excerpt(" | ".join(cells.values()))
        take_row(row, parsed, take, source=source.name, text=text)

    yield from read_numbered(_records(source), start, read, finish)


def _excerpt(text: str) -> str:
    return excerpt(text.encode("utf-8", "surrogateescape"))


def _records(source: ByteSource) -> Iterator[_Record]:
    """Yields the rows of a file."""
    if not isinstance(object_counter(source.head), JsonLineCounter):
        yield from _array_records(source)
        return
    for block in line_blocks(source):
        if block.problem:
            yield _Record(None, block.problem, count=block.lost_lines)
        for line in block.data.split(b"\n"):
            data = line.removeprefix(_BOM).strip()
            if not data:
                continue
            text = data.decode("utf-8", "surrogateescape")
            try:
                yield _Record(_cells(_DECODER.decode(text)))
            except (ValueError, RecursionError) as error:
                yield _Record(None, _reason(error), text)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "objects that are nested too deep"
    return f"no JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else str(error)


def _array_records(source: ByteSource) -> Iterator[_Record]:
    """Yields the elements of an array, of which no more than the next is in memory."""
    pieces = _ArrayPieces(source)
    pieces.begin()
    while pieces.has_more():
        try:
            value, end = _DECODER.raw_decode(pieces.text, pieces.at)
        except (ValueError, RecursionError) as error:
            if pieces.may_go_on(error) and pieces.read_more():
                continue
            text, is_cut = pieces.pass_over()
            yield _Record(None, "an element without an end" if is_cut else _reason(error), text)
            continue
        if end == len(pieces.text) and pieces.read_more():
            # A number may go on.
            continue
        text, pieces.at = pieces.text[pieces.at : min(end, pieces.at + _SHOWN)], end
        try:
            yield _Record(_cells(value))
        except (_NoObjectError, RecursionError) as error:
            yield _Record(None, _reason(error), text)
    if pieces.problem:
        yield _Record(None, pieces.problem, count=0)
    if pieces.other_keys:
        yield _Record(None, other_keys=pieces.other_keys)


class _ArrayPieces:
    """The text of an array that is read piece by piece; of several that follow each other, all.

    Attributes:
        text: What is held of it.
        at: Where in it the next element begins.
        problem: What was wrong with the bytes or follows the array; "" if nothing.
        other_keys: Keys of the object that the array stands in, beside its own.
    """

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
        self._size = 0
        self._is_over = False
        self.text, self.at, self.problem = "", 0, ""
        self._start = RowsStart(0)
        self.other_keys: tuple[str, ...] = ()

    def begin(self) -> None:
        """Goes to the first element."""
        while (start := rows_start(self.text)) is None and self.read_more():
            pass
        if start is not None:
            self._start, self.other_keys = start, start.others
            self.at = start.at + 1

    def read_more(self) -> bool:
        """Reads as much again as is held; returns whether there was more."""
        held = self.text[self.at :]
        self._size = max(2 * len(held), 1 << 16)
        pieces, size = [held], 0
        while size < self._size and not self._is_over:
            try:
                data = self._source.read()
            except DamagedSourceError as error:
                data, self.problem = b"", error.message
            self._is_over = not data
            pieces.append(self._decode(data, not data))
            size += len(data)
        self.text, self.at = "".join(pieces), 0
        return size > 0

    def has_more(self) -> bool:
        """Goes to the next element; returns whether there is one."""
        while self._go_to_text(" \t\r\n,"):
            if self.text[self.at] != "]":
                return True
            self.at += 1
            if self._start.key or not self._go_to_text(" \t\r\n") or self.text[self.at] != "[":
                self._take_rest()
                return False
            self.at += 1
        return False

    def _go_to_text(self, passed_over: str) -> bool:
        """Goes to the next character that is not passed over; returns whether there is one."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in passed_over:
                self.at += 1
            if self.at < len(self.text):
                return True
            if not self.read_more():
                return False

    def _take_rest(self) -> None:
        """Takes what follows the array: members of its object, or what does not belong there."""
        limit = self._source.limits.max_line_bytes
        while self._start.key and len(self.text) - self.at <= limit and self.read_more():
            pass
        rest = self.text[self.at :]
        while self.read_more():
            rest += self.text.strip()[:1]
            self.at = len(self.text)
        if not self._start.key:
            self.problem = self.problem or ("text after the end of the array" if rest else "")
            return
        members = members_after(rest)
        if members is None:
            self.problem = self.problem or "the object that the rows stand in does not end"
            return
        self.other_keys += tuple(members)
        if key := second_list(members):
            self.problem = (
                f"another list of objects, {key}, of which nothing is read; write it as a file of "
                "its own"
            )

    def may_go_on(self, error: Exception) -> bool:
        """Returns whether an element may be good and go on after what is held."""
        within = len(self.text) - self.at <= self._source.limits.max_line_bytes
        if not isinstance(error, json.JSONDecodeError) or not within:
            return False
        return error.msg.startswith("Unterminated") or error.pos >= len(self.text) - _LONGEST_TOKEN

    def pass_over(self) -> tuple[str, bool]:
        """Passes over an element that is no JSON; returns its beginning, and whether it has no end."""
        begun = self.text[self.at : self.at + _SHOWN]
        while (end := end_of_json_element(self.text[self.at :])) is None:
            if not self.read_more():
                self.at = len(self.text)
                return begun, True
        self.at += max(end, 1)
        return begun, False


def _cells(value: Any) -> Cells:
    if not isinstance(value, dict):
        raise _NoObjectError("expected an object, whose keys are columns")
    if is_feature(value):
        value = feature_members(value, outline=OUTLINE)
    cells: Cells = {}
    _flatten(value, "", cells)
    return cells


def _flatten(members: Mapping[str, Any], before: str, cells: Cells) -> None:
    for key, value in members.items():
        name = f"{before}{key}"
        _require_text(name)
        if isinstance(value, dict):
            _flatten(value, f"{name} ", cells)
            continue
        if name in cells:
            raise _NoObjectError(f"two values of {name!r}")
        cells[name] = _text(value)


def _text(value: Any) -> str:
    text = cell_text(value)
    _require_text(text)
    return text


def _require_text(text: str) -> None:
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        raise _NoObjectError("a text that is not UTF-8") from None
