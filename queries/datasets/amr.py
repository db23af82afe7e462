"""AMR parses from Penman files, by question id (L5).

A file holds one graph for each question, with a line ``# ::id 12`` above it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from graph_service.errors import InputError, SetupError
from graph_service.rank.parses import Parse
from queries.datasets.records import open_plain


def read_parses(path: str | Path, /) -> Mapping[str, Parse]:
    """Returns the parses of a file (``.xz``, ``.gz`` and ``.bz2`` too) by question id.

    Raises:
        InputError: The file can't be read or is no Penman; a graph has no id, or that of another.
        SetupError: The package that reads Penman is not installed.
    """
    file = Path(path)
    with open_plain(file) as opened:
        data = opened.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{file.name}, line {line}: text in UTF-8 was expected", argument="amr"
        ) from error
    parses: dict[str, Parse] = {}
    first: dict[str, int] = {}
    for line, graph in _graphs(text, file.name):
        id_ = str(graph.metadata.get("id", "")).strip()
        where = f"{file.name}, line {line}"
        if not id_:
            raise InputError(
                f"{where}: a line `# ::id ID` was expected above the graph", argument="amr"
            )
        if id_ in parses:
            raise InputError(
                f"{where}: the graph of line {first[id_]} has the id {id_!r} too", argument="amr"
            )
        parses[id_], first[id_] = _parse(graph), line
    if not parses:
        raise InputError(f"{file.name} holds no AMR graph", argument="amr")
    return parses


def _graphs(text: str, name: str) -> Iterator[tuple[int, Any]]:
    """The graphs of a text with the lines that they begin in; blank lines stand between them."""
    try:
        penman: Any = import_module("penman")
    except ImportError as error:
        raise SetupError(
            "AMR parses need the package penman", hint="pip install 'graph-service[amr]'"
        ) from error
    start = 1
    block: list[str] = []
    for index, line in enumerate([*text.split("\n"), ""], 1):
        if line.strip():
            if not block:
                start = index
            block.append(line)
            continue
        if not all(part.lstrip().startswith("#") for part in block):
            try:
                graphs = list(penman.iterdecode("\n".join(block)))
            except penman.DecodeError as error:
                at = start + max((error.lineno or 1) - 1, 0)
                raise InputError(
                    f"{name}, line {at}: an AMR graph in Penman notation was expected; "
                    f"{error.message}",
                    argument="amr",
                ) from error
            for graph in graphs:
                yield start, graph
        block = []


def _parse(graph: Any) -> Parse:
    """A graph with its roles as nodes; inverse roles (``:ARG0-of``) point the way they mean."""
    labels: list[str] = []
    index_by_name: dict[str, int] = {}
    for instance in graph.instances():
        if instance.source not in index_by_name:
            index_by_name[instance.source] = len(labels)
            labels.append(str(instance.target or "").casefold())
    edges: list[tuple[int, int]] = []
    for source, role, target in (*graph.edges(), *graph.attributes()):
        end = index_by_name.get(target)
        # A variable stands for its node wherever it comes; a constant is a node of its own.
        if end is None:
            end = len(labels)
            labels.append(str(target).strip('"').casefold())
        edges += [(index_by_name[source], len(labels)), (len(labels), end)]
        labels.append(str(role))
    return Parse(tuple(labels), tuple(edges))


def by_question(
    parses: Mapping[str, Parse], questions: Mapping[str, str], /
) -> tuple[Mapping[str, Parse], int]:
    """Returns the parses by the question's text, and how many questions have none.

    Args:
        parses: By id.
        questions: Their texts by id.

    Raises:
        InputError: No question has one: the ids are of another file.
    """
    parsed = {text: parses[id_] for id_, text in questions.items() if id_ in parses}
    if not parsed:
        raise InputError(
            f"no question has an id of the file of parses, such as {next(iter(parses))!r}; the "
            f"questions have ids such as {next(iter(questions), '')!r}",
            argument="amr",
        )
    return parsed, sum(id_ not in parses for id_ in questions)
