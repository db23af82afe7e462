"""The golden file of error texts: it says what errors say now, of tests that are there."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from error_texts import GOLDEN, raises, record_of

from graph_service.errors import InputError

ROOT = Path(__file__).parents[2]


def test_each_recorded_test_is_there() -> None:
    recorded = {test.partition("[")[0] for test in json.loads(GOLDEN.read_text(encoding="utf-8"))}
    there = {
        f"{path}::{node.name}"
        for path in {test.partition("::")[0] for test in recorded}
        for node in ast.parse((ROOT / path).read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert recorded <= there, "take them out of the golden file"


def test_another_text_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPH_SERVICE_UPDATE_ERRORS", raising=False)
    with pytest.raises(AssertionError), raises(InputError):
        raise InputError("no test has recorded this")


def test_another_class_fails() -> None:
    with pytest.raises(ValueError, match="other"), raises(InputError):
        raise ValueError("other")


def test_what_changes_with_the_run_is_left_out(tmp_path: Path) -> None:
    text = f"{tmp_path}/a of 0123456789abcdef at http://127.0.0.1:4711/x"
    error = InputError(text, argument="source")
    assert record_of(error) == {
        "code": "BAD_INPUT",
        "argument": "source",
        "message": "FOLDER/a of HASH at http://127.0.0.1:PORT/x",
    }
