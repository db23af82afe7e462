"""Names of the code are the field's terms: words of an idiom of our own become fewer, never more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("graph_service", "loaders", "queries")
WORDS = frozenset(
    (
        *("aim", "ask", "asked", "bare", "beside", "door", "doomed", "drawing", "drawn"),
        *("ends", "fate", "found", "given", "giver", "ground", "handed", "handing"),
        *("keep", "kept", "lacking", "laid", "likeness", "maker", "passing", "patience"),
        *("picked", "place", "places", "rivals", "said", "slips", "spare", "spoken"),
        *("starts", "print_progress", "telling", "told", "wanted", "whole"),
    )
)
"""What a name says with them, the field says in a word of its own: rows, index, cached, request."""
IN_LOOPS = frozenset({"one", "number"})
"""They say nothing of an item that a loop goes over: edge, field, index."""
TERMS = "not_found|keep_alive"
"""Terms of HTTP that hold a word of the list."""
FILES_AT_MOST = 41
NAMES_AT_MOST = 64
"""What is left: words of the schema, of options and of files. Whoever takes some out writes the new figures; they never grow."""

_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def bound_names(tree: ast.AST, /) -> Iterator[tuple[str, bool]]:
    """Yields each name that code binds, and whether a loop binds it."""
    in_loops: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            in_loops.update(ast.walk(node.target))
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name, node in in_loops
            case ast.arg(arg=name):
                yield name, False
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, False
            case ast.ClassDef(name=name):
                yield name, False
            case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name, False


def idioms(source: str, /) -> list[str]:
    """Returns the names of a source that hold a word of the list, once for each time."""
    return [
        name
        for name, in_loop in bound_names(ast.parse(source))
        if (in_loop and name in IN_LOOPS) or not WORDS.isdisjoint(words_of(name))
    ]


def words_of(name: str, /) -> set[str]:
    """Returns the words of a name, less those of the terms of HTTP."""
    words = "_".join(word.lower() for word in _PART.findall(name))
    return set(re.sub(TERMS, "", words).split("_"))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("found = 1", ["found"]),
        ("def rows_kept(asked, *, total): ...", ["rows_kept", "asked"]),
        ("for one in x: pass", ["one"]),
        ("[y for number, y in enumerate(x)]", ["number"]),
        ("for line_number in x: pass", []),
        ("number = one = 1", []),
        ("class KeptAnswers: given: int = 0", ["KeptAnswers", "given"]),
        ("self._place, n = x", ["_place"]),
        ("async def f(): print(found, x.given)", []),
        ("MAX_WANTED: int = 3", ["MAX_WANTED"]),
        ("keep_alive_s = 5", []),
        ("class GraphNotFoundError: GRAPH_NOT_FOUND = 1", []),
        ("foundation = keeper = replaced = 1", []),
    ],
)
def test_names_are_taken_apart(source: str, expected: list[str]) -> None:
    assert sorted(idioms(source)) == sorted(expected)


def test_names_of_our_own_idiom_become_fewer() -> None:
    files = {
        path.relative_to(ROOT).as_posix(): idioms(path.read_text(encoding="utf-8"))
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    left = {path: names for path, names in files.items() if names}
    uses = sum(map(len, left.values()))
    report = "\n".join(f"{path}: {', '.join(sorted(set(names)))}" for path, names in left.items())
    assert len(left) <= FILES_AT_MOST, report
    assert uses <= NAMES_AT_MOST, report
