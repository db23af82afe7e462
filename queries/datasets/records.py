"""JSON lines with typed access: each error names the file, the line, the field and what was expected."""

from __future__ import annotations

import bz2
import contextlib
import difflib
import gzip
import lzma
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar, cast

import orjson

from graph_service.errors import InputError

T = TypeVar("T")


def _open(path: Path) -> IO[bytes]:
    if path.suffix == ".xz":
        return lzma.open(path)
    if path.suffix == ".gz":
        return cast(IO[bytes], gzip.open(path))
    if path.suffix == ".bz2":
        return cast(IO[bytes], bz2.open(path))
    return path.open("rb")


@contextlib.contextmanager
def open_plain(path: Path, /) -> Iterator[IO[bytes]]:
    """Opens a file for reading, unpacked where its name ends in ``.xz``, ``.gz`` or ``.bz2``.

    Raises:
        InputError: It cannot be read.
    """
    try:
        with _open(path) as opened:
            yield opened
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise unreadable(path, error) from error


def text_lines(path: Path, /, *, argument: str) -> Iterator[tuple[int, str]]:
    """Yields the lines of a text file with their numbers, from 1; blank ones are left out.

    Args:
        path: The file, unpacked as ``open_plain`` does.
        argument: That an error names.

    Raises:
        InputError: It cannot be read, or a line is no UTF-8; names the line.
    """
    with open_plain(path) as opened:
        for index, raw in enumerate(opened, 1):
            try:
                line = raw.decode("utf-8-sig" if index == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"{path.name}, line {index}: text in UTF-8 was expected", argument=argument
                ) from error
            if line.strip():
                yield index, line


def unreadable(path: str | Path, error: Exception, /) -> InputError:
    """Returns the error of a file that cannot be read, in words for people."""
    if isinstance(error, FileNotFoundError):
        return InputError(f"there is no file {path}", argument="file")
    why = error.strerror if isinstance(error, OSError) and error.strerror else error
    return InputError(f"can't read {path}: {why}", argument="file")


def read_text(path: str | Path, /) -> str:
    """Returns the text of a file in UTF-8.

    Raises:
        InputError: It cannot be read, or is no UTF-8.
    """
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from error


def read_json(path: str | Path, /) -> Any:
    """Returns what a file of one JSON document holds.

    Raises:
        InputError: It cannot be read, or is no JSON.
    """
    with open_plain(Path(path)) as opened:
        data = opened.read().removeprefix(b"\xef\xbb\xbf")
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise InputError(
            f"{Path(path).name}: JSON was expected; {error}", argument="file"
        ) from error


def kind_of(value: object, /) -> str:
    """Returns what a JSON value is, for messages.

    >>> kind_of([1]), kind_of(None)
    ('a list', 'null')
    """
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return names.get(type(value), "null" if value is None else "a number")


class _Absent:
    """The value of a field that is missing."""


_ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class JsonNode:
    """A value of a JSON object, as ``read_typed`` reads it; each error names the line and the field.

    Attributes:
        where: ``file, line 3`` for messages.
        name: The field; empty for the object itself.
        value: What JSON has there.
    """

    where: str
    name: str
    value: Any

    def error(self, expected: str, /) -> InputError:
        """Returns the error of a value that is not as expected."""
        came = "nothing" if self.value is _ABSENT else kind_of(self.value)
        if isinstance(self.value, str) and not self.value.strip():
            came = "an empty text"
        return self.wrong(f"{expected} was expected; {came} came")

    def wrong(self, words: str, /) -> InputError:
        """Returns an error with words of its own."""
        where = f"{self.where}, field {self.name}" if self.name else self.where
        return InputError(f"{where}: {words}", argument=re.split(r"[.[]", self.name)[0] or None)

    def fields(
        self, *, required: Sequence[str], optional: Sequence[str] = ()
    ) -> dict[str, JsonNode]:
        """Returns the fields by name; refuses an unknown one. A missing one is no value of any type."""
        if not isinstance(self.value, dict):
            raise self.error("a JSON object")
        known = (*required, *optional)
        for name in self.value:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; {near[0]!r} may be meant" if near else ""
                raise self._part(name, None).wrong(
                    f"no such field{hint}. The fields are {', '.join(known)}"
                )
        return {
            name: self._part(name, self.value.get(name, _ABSENT))
            for name in known
            if name in required or name in self.value
        }

    def _part(self, name: str, value: Any) -> JsonNode:
        return JsonNode(self.where, f"{self.name}.{name}" if self.name else name, value)

    def items(self, expected: str = "a list", /) -> list[JsonNode]:
        """Returns the parts of a list."""
        if not isinstance(self.value, list):
            raise self.error(expected)
        return [
            JsonNode(self.where, f"{self.name}[{index}]", part)
            for index, part in enumerate(self.value)
        ]

    def text(self, *, may_be_empty: bool = False) -> str:
        """Returns a text; a number stands for its digits where the field is an ``id``."""
        if self.name.rpartition(".")[2] == "id" and type(self.value) is int:
            return str(self.value)
        if not isinstance(self.value, str):
            raise self.error("a text")
        if not (may_be_empty or self.value.strip()):
            raise self.error("a filled text")
        return self.value

    def texts(self, count: int | None = None, /) -> tuple[str, ...]:
        """Returns a list of texts, of as many as are named; None for any number."""
        expected = "a list of texts" if count is None else f"a list of {count} texts"
        items = self.items(expected)
        if count is not None and len(items) != count:
            raise self.wrong(f"{expected} was expected; {len(items)} came")
        return tuple(item.text(may_be_empty=True) for item in items)

    def choice(self, choices: Sequence[str], /) -> str:
        """Returns one of some words."""
        if self.value in choices:
            return str(self.value)
        expected = f"one of {', '.join(choices)}"
        if isinstance(self.value, str):
            raise self.wrong(f"{expected} was expected; {self.value!r} came")
        raise self.error(expected)

    def number(self) -> int:
        """Returns a whole number from 0 up."""
        if type(self.value) is not int or self.value < 0:
            raise self.error("a whole number from 0 up")
        return self.value

    def decimal(self) -> float:
        """Returns a number, whole or not; NaN and infinity are refused."""
        if type(self.value) not in (int, float) or not math.isfinite(self.value):
            raise self.error("a number")
        return float(self.value)

    def truth(self) -> bool:
        """Returns a truth value; a text such as ``yes`` is refused."""
        if not isinstance(self.value, bool):
            raise self.error("true or false")
        return self.value


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON object of a file.

    Attributes:
        where: ``file, line 3`` for messages.
        number: Its line, from 1.
        fields: The object.
    """

    where: str
    number: int
    fields: Mapping[str, Any]

    def node(self, name: str, /) -> JsonNode:
        """Returns a field, whether it is there or not."""
        return JsonNode(self.where, name, self.fields.get(name, _ABSENT))

    def error(self, name: str, expected: str, /) -> InputError:
        """Returns the error of a field that is not as expected."""
        return self.node(name).error(expected)

    def has(self, name: str, /) -> bool:
        """Returns whether the field is there and not null."""
        return self.fields.get(name) is not None

    def text(self, name: str, /, *, default: str | None = None, filled: bool = True) -> str:
        """Returns a text; a number stands for its digits where the field is an ``id``."""
        if default is not None and not self.has(name):
            return default
        return self.node(name).text(may_be_empty=not filled)

    def count(self, name: str, /) -> int | None:
        """Returns a whole number from 0 up, or None where the field is missing or null."""
        return self.node(name).number() if self.has(name) else None

    def truth(self, name: str, /) -> bool | None:
        """Returns true or false, or None where the field is missing or null."""
        return self.node(name).truth() if self.has(name) else None

    def texts(self, name: str, /) -> tuple[str, ...]:
        """Returns a list of texts; none where the field is missing."""
        return self.node(name).texts() if name in self.fields else ()

    def pairs(self, name: str, /) -> tuple[tuple[str, str], ...]:
        """Returns a list of pairs of texts; none where the field is missing."""
        if name not in self.fields:
            return ()
        items = self.node(name).items("a list of pairs of texts")
        return tuple((first, second) for first, second in (item.texts(2) for item in items))

    def mapping(self, name: str, /) -> Mapping[str, Any]:
        """Returns an object; an empty one where the field is missing."""
        value = self.fields.get(name, {})
        if not isinstance(value, dict):
            raise self.error(name, "an object")
        return value

    def choice(self, name: str, choices: Sequence[str], /, *, default: str | None = None) -> str:
        """Returns one of some words."""
        return JsonNode(self.where, name, self.fields.get(name, default)).choice(choices)


def read_records(path: str | Path, /) -> Iterator[Record]:
    """Yields the objects of a file of JSON lines (``.xz``, ``.gz`` and ``.bz2`` too); blank lines are skipped.

    Raises:
        InputError: The file cannot be read, or a line is no JSON object.
    """
    file = Path(path)
    try:
        with _open(file) as opened:
            for index, line in enumerate(opened, 1):
                if index == 1:
                    line = line.removeprefix(b"\xef\xbb\xbf")
                if line.strip():
                    yield parse_record(line, f"{file.name}, line {index}", index)
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise unreadable(file, error) from error


def parse_record(line: str | bytes, where: str, number: int, /) -> Record:
    """Returns the object of a line; raises ``InputError`` that says where it is."""
    try:
        fields = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{where}: a JSON object was expected; {error}") from error
    return record_of(fields, where, number)


def record_of(fields: Any, where: str, number: int, /) -> Record:
    """Returns a value of JSON as a record; raises ``InputError`` where it is no object."""
    if not isinstance(fields, dict):
        raise JsonNode(where, "", fields).error("a JSON object")
    return Record(where, number, fields)


def read_cases(path: str | Path, make: Callable[[Record], T], /) -> tuple[T, ...]:
    """Returns what ``make`` makes of each record.

    Raises:
        InputError: As ``read_records``; or there is no record at all, or two have one id.
    """
    cases: list[T] = []
    seen: dict[str, str] = {}
    for record in read_records(path):
        made = make(record)
        id_ = str(getattr(made, "id", ""))
        if id_ and id_ in seen:
            raise InputError(f"{record.where}, field id: {id_!r} is also the id of {seen[id_]}")
        seen[id_] = record.where
        cases.append(made)
    if not cases:
        raise InputError(
            f"{Path(path).name} holds no case; one JSON object a line was expected",
            argument="file",
        )
    return tuple(cases)
