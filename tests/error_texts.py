"""Texts of errors, compared with ``golden/error_texts.json``: of errors, and of what verbs print.

A test says which class of error it expects. The golden file has the code, the argument at fault,
the message and the hint of each error, by the test that meets it.
``GRAPH_SERVICE_UPDATE_ERRORS=1 pytest FILES`` (in one process) writes those of the tests it runs anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, TypeVar

import pytest

from graph_service.errors import GraphServiceError

GOLDEN = Path(__file__).parent / "golden" / "error_texts.json"
E = TypeVar("E", bound=BaseException)

_FOLDER = re.compile(r"[^\s'\"]*/pytest-of-[^/]+/pytest-\d+/(?:popen-gw\d+/)?[^/\s:;,'\")]+")
_PORT = re.compile(r"(127\.0\.0\.1|localhost):\d+")
_HASH = re.compile(r"\b[0-9a-f]{12,}(?:-[0-9a-f]{12,})*\b")
_EDITION = re.compile(r"HASH@\d+")
_WRITER = re.compile(r"process \d+ on \S+, since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
_met: dict[str, int] = {}
"""How many errors each test has met so far; it holds the test that runs alone."""


class Expected(Generic[E]):
    """What a block is expected to raise; see ``raises``."""

    def __init__(self, kind: type[E], /) -> None:
        self._raised = pytest.raises(kind)

    def __enter__(self) -> pytest.ExceptionInfo[E]:
        self._info = self._raised.__enter__()
        return self._info

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        is_expected = bool(self._raised.__exit__(kind, error, trace))
        if is_expected:
            _compare(record_of(self._info.value))
        return is_expected


def raises(kind: type[E], /) -> Expected[E]:
    """Expects an error of a class, with the text that is recorded for this test."""
    return Expected(kind)


def check_error(printed: str, /) -> None:
    """Expects that a verb has printed an error, with the text that is recorded for this test."""
    _, mark, text = printed.partition("error: ")
    assert mark, printed
    _compare({"printed": _steady(text.strip())})


def check_text(text: str | Iterable[str] | None, /, *facts: object) -> None:
    """Expects that a text, or several, is what is recorded for this test, and says each fact."""
    lines = _lines(text)
    for fact in facts:
        assert str(fact) in "\n".join(lines), (fact, lines)
    _compare({"text": [_steady(line) for line in lines]})


def check_line(text: str | Iterable[str] | None, /, *facts: object) -> None:
    """Expects that lines of a text say all facts, and that they are recorded for this test."""
    lines = _lines(text)
    matching = [line for line in lines if all(str(fact) in line for fact in facts)]
    assert matching, (facts, lines)
    _compare({"text": [_steady(line) for line in matching]})


def check_counts(counts: Mapping[str, int], /, *expected: int) -> None:
    """Expects these counts, in the order of their names, which are recorded for this test."""
    names = sorted(counts)
    assert [counts[name] for name in names] == list(expected), counts
    _compare({"text": names})


def _lines(text: str | Iterable[str] | None) -> list[str]:
    assert text is not None
    texts = [text] if isinstance(text, str) else text
    return [line for each in texts for line in each.splitlines()]


def check_answer(error: Mapping[str, Any], /) -> None:
    """Expects that an error of a GraphQL answer has the text and the fields that are recorded."""
    fields = {name: value for name, value in error["extensions"].items() if name != "requestId"}
    _compare({"message": _steady(error["message"]), **fields})


def _compare(record: dict[str, Any]) -> None:
    test = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")[0]
    index = _met.get(test, 0)
    _met.clear()
    _met[test] = index + 1
    if os.environ.get("GRAPH_SERVICE_UPDATE_ERRORS"):
        texts = json.loads(GOLDEN.read_text(encoding="utf-8"))
        texts[test] = [*texts.get(test, ())[:index], record]
        write_texts(texts)
    else:
        assert [record] == _recorded().get(test, [])[index : index + 1]


def record_of(error: BaseException, /) -> dict[str, Any]:
    """Returns what is recorded of an error: the same in every run, and on every machine."""
    if not isinstance(error, GraphServiceError):
        return {"text": _steady(str(error))}
    fields = {
        "code": error.code,
        "argument": error.argument,
        "message": _steady(error.message),
        "hint": _steady(error.hint or ""),
    }
    return {name: value for name, value in fields.items() if value}


def write_texts(texts: dict[str, Any], /) -> None:
    """Writes the golden file: the tests by name, an error a line."""
    tests = []
    for test, records in sorted(texts.items()):
        lines = ",\n".join(f"  {json.dumps(record, ensure_ascii=False)}" for record in records)
        tests.append(f" {json.dumps(test, ensure_ascii=False)}: [\n{lines}\n ]")
    GOLDEN.write_text("{\n" + ",\n".join(tests) + "\n}\n", encoding="utf-8")


@cache
def _recorded() -> dict[str, Any]:
    texts: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return texts


def _steady(text: str) -> str:
    text = _WRITER.sub("process N on HOST, since TIME", _FOLDER.sub("FOLDER", text))
    return _EDITION.sub("HASH@N", _HASH.sub("HASH", _PORT.sub(r"\1:PORT", text)))
