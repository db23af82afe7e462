"""Tests assert codes and facts: messages of ours stand in ``golden/error_texts.json`` alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("graph_service", "loaders", "queries")
WORDINGS = frozenset(
    (
        "graph_service/query/days_in_words.py",
        "graph_service/query/english.py",
        "graph_service/query/label_words.py",
        "graph_service/retrieve/constraints/doubts.py",
        "graph_service/service/example_questions.py",
        "queries/generate/common_phrases.py",
        "queries/generate/verbalise.py",
    )
)
"""Modules that put graphs, queries and questions into words, or name doubts: no messages."""
RUN_LENGTH = 4
"""A text that shares so many words in a row with a text of the product says it again."""
HOLE = "\0"
"""What stands for a value that a text is filled in with."""
COMPARING = frozenset(
    (
        "startswith",
        "endswith",
        "count",
        "search",
        "fullmatch",
        "any",
        "all",
        "sorted",
        "set",
        "list",
        "Counter",
    )
)
"""Calls whose arguments are texts that an assertion expects; those of other calls are inputs."""
SENTENCES_AT_MOST = 34
"""29 are left: answers, prompts, English of queries and data. Whoever takes some out writes the new figure; it never grows."""

TABLE = "@parametrize(('a', 'b'), [(1, 'this server only reads'), (2, 'x')])"

Run = tuple[str, ...]


def runs_of(text: str, /) -> Iterator[Run]:
    """Yields each four words in a row of a text, in lower case and without punctuation.

    A value that the text is filled in with counts as one word, a number as none.
    """
    words = [
        HOLE if HOLE in word else re.sub(r"^\W+|\W+$", "", word).lower()
        for word in text.split()
        if HOLE in word or re.search("[A-Za-z]", word)
    ]
    for start in range(len(words) - RUN_LENGTH + 1):
        yield tuple(words[start : start + RUN_LENGTH])


def text_of(node: ast.AST, /) -> str | None:
    """Returns the text of a literal, with a hole for each value; None for other nodes."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(text_of(part) or HOLE for part in parts)
    return None


def texts_of(tree: ast.AST, /) -> Iterator[tuple[ast.AST, str]]:
    """Yields each literal of a tree that is no docstring and no part of another, with its text."""
    passed: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed.add(node.value)
        text = text_of(node)
        if text is not None and node not in passed:
            passed.update(ast.walk(node))
            yield node, text


@cache
def product_runs() -> frozenset[Run]:
    """Returns the runs of words of all texts of the product that have one hole at most."""
    return frozenset(
        run
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if path.relative_to(ROOT).as_posix() not in WORDINGS
        for _, text in texts_of(ast.parse(path.read_text(encoding="utf-8")))
        for run in runs_of(text)
        if run.count(HOLE) <= 1
    )


def is_of_product(text: str, /) -> bool:
    """Returns whether a text shares four words in a row with a text of the product."""
    return any(
        pattern in product_runs()
        for run in runs_of(text)
        for pattern in (run, *((*run[:at], HOLE, *run[at + 1 :]) for at in range(RUN_LENGTH)))
    )


def expected_parts(tree: ast.AST, /) -> Iterator[ast.AST]:
    """Yields what each ``assert`` and each ``match`` of ``raises`` expects, also from a table."""
    for node in ast.walk(tree):
        match node:
            case ast.Assert(test=expected):
                yield expected
            case ast.Call(
                func=ast.Attribute(attr="raises") | ast.Name(id="raises"), keywords=keywords
            ):
                yield from (each.value for each in keywords if each.arg == "match")
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _cells(node)


def _cells(test: ast.FunctionDef | ast.AsyncFunctionDef, /) -> Iterator[ast.AST]:
    """Yields the cells of the parameters of a test that its assertions expect."""
    names = {
        node.id
        for statement in test.body
        for expected in expected_parts(statement)
        for node in ast.walk(expected)
        if isinstance(node, ast.Name) and node not in inputs_of(expected)
    }
    for decorator in test.decorator_list:
        match decorator:
            case ast.Call(args=[ast.Tuple(elts=parameters), ast.List(elts=rows), *_]):
                for row in rows:
                    for parameter, cell in zip(parameters, getattr(row, "elts", ()), strict=False):
                        if text_of(parameter) in names:
                            yield cell


def inputs_of(expected: ast.AST, /) -> set[ast.AST]:
    """Returns the nodes of an assertion that say what is looked at: arguments and keys."""
    inputs: set[ast.AST] = set()
    for node in ast.walk(expected):
        match node:
            case ast.Subscript(slice=key):
                inputs.update(ast.walk(key))
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in COMPARING:
                pass
            case ast.Call(args=arguments, keywords=keywords):
                for argument in (*arguments, *(each.value for each in keywords)):
                    inputs.update(ast.walk(argument))
    return inputs


def sentences(source: str, /) -> list[str]:
    """Returns the texts of the product that assertions of a source expect."""
    return [
        text
        for expected in expected_parts(ast.parse(source))
        for inputs in [inputs_of(expected)]
        for node, text in texts_of(expected)
        if node not in inputs and is_of_product(text)
    ]


@pytest.mark.parametrize(
    ("assertion", "count"),
    [
        ("assert error.message == 'this server only reads'", 1),
        ("assert f'graph {name} has no entity {id_}' in error.message", 1),
        ("assert any(\"graph 'demo' has no entity\" in line for line in lines)", 1),
        ("assert text.startswith('no entity of the graph is named')", 1),
        ("with raises(InputError, match='this server only reads'): ...", 1),
        ("assert error.code == 'READ_ONLY'", 0),
        ("assert 'only reads' in error.message", 0),
        ("assert ask('no entity of the graph is named')", 0),
        ("assert figures['no entity of the graph is named'] == 3", 0),
        ("message = 'this server only reads'", 0),
        ("check_text(error.message, 'this server only reads')", 0),
        (f"{TABLE}\ndef test(a, b): assert b in ask(a)", 1),
        (f"{TABLE}\ndef test(a, b): assert ask(a, b) == 3", 0),
    ],
)
def test_what_an_assertion_says_again_is_counted(assertion: str, count: int) -> None:
    assert len(sentences(assertion)) == count


def test_sentences_in_assertions_become_fewer() -> None:
    files = {
        path.relative_to(ROOT).as_posix(): sentences(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / "tests").rglob("*.py"))
    }
    report = "\n".join(f"{path}: {texts}" for path, texts in files.items() if texts)
    assert sum(map(len, files.values())) <= SENTENCES_AT_MOST, report
