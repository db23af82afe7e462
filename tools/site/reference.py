"""Pages of the reference that are made from the code when the site is built."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path

import graphql

from graph_service import cli, errors
from graph_service.cli.parser import VERBS, make_parser
from graph_service.settings import SETTINGS

ROOT = Path(__file__).parents[2]
SCHEMA = ROOT / "docs" / "schema.graphql"

_MADE = "This page is made from the code when the site is built."

_PYTHON = (
    ("Open a service", ("graph_service.open_service", "graph_service.service.service.Service")),
    (
        "Ask a server or a service",
        ("graph_service.client.client.Client", "graph_service.client.client.AsyncClient"),
    ),
    ("Calls of both clients", ("graph_service.client.calls",)),
    (
        "What is asked",
        (
            "graph_service.model.request.RetrieveRequest",
            "graph_service.model.view_spec.ViewSpec",
            "graph_service.model.view_spec.Scope",
            "graph_service.model.view_spec.Method",
        ),
    ),
    ("What comes back", ("graph_service.model.result",)),
    ("Graphs as files and for networkx", ("graph_service.export",)),
    ("Load", ("loaders.load.load", "loaders.options.LoadOptions")),
    ("Answer", ("queries.generate.answer.answer", "queries.generate.answer.Setting")),
    (
        "Score",
        (
            "queries.score.run.score_answers",
            "queries.score.knowledge.score_knowledge",
            "queries.score.answer_sets.score_answer_sets",
            "queries.score.metric.Score",
        ),
    ),
    ("Errors", ("graph_service.errors",)),
)
"""Titles of the page of the Python API, and the objects below each."""


def reference_pages() -> dict[str, str]:
    """Returns the Markdown of each page, by its path below ``docs/``."""
    return {
        "reference/command-line.md": command_line_page(),
        "reference/errors.md": errors_page(),
        "reference/graphql.md": graphql_page(),
        "reference/python.md": python_page(),
        "reference/settings.md": settings_page(),
    }


def command_line_page() -> str:
    """Returns every verb with its options, as ``--help`` has them."""
    lines = [
        "# Command line",
        "",
        f"`graph-service VERB [options]`. {_MADE}",
        "",
        "| verb | does |",
        "|---|---|",
        *(f"| [`{verb.name}`](#{verb.name}) | {verb.help} |" for verb in VERBS),
        "",
    ]
    for name, parser in _verbs(make_parser()):
        lines += [f"## {name}", "", *_verb(parser)]
        for word, below in _verbs(parser):
            lines += [f"### {name} {word}", "", *_verb(below)]
    return "\n".join(lines)


def _verbs(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _verb(parser: argparse.ArgumentParser) -> list[str]:
    usage = parser.format_usage().removeprefix("usage: ").strip()
    lines = [_sentence(parser.description or ""), "", "```text", usage, "```", ""]
    options = [
        action
        for action in parser._actions
        if not isinstance(action, argparse._HelpAction | argparse._SubParsersAction)
    ]
    if options:
        lines += ["| argument | what it does |", "|---|---|"]
        lines += [f"| {_spelt(action)} | {_cell(_help(action))} |" for action in options]
        lines.append("")
    if parser.epilog:
        lines += ["```text", parser.epilog.strip(), "```", ""]
    return lines


def _spelt(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else None
    if metavar is None and action.choices is not None:
        metavar = "|".join(map(str, action.choices))
    name = ", ".join(action.option_strings)
    takes = "" if action.nargs == 0 else metavar or (action.dest if not name else "")
    return _cell(f"`{' '.join(part for part in (name, takes) if part)}`")


def _help(action: argparse.Action) -> str:
    return "" if action.help in (None, argparse.SUPPRESS) else str(action.help).replace("%%", "%")


def errors_page() -> str:
    """Returns the exit codes of the command line, and the tree of errors with their codes."""
    codes = (
        (0, "everything was done"),
        (1, "a part failed: an answer, a case of a score, a question"),
        (cli.EXIT_INPUT, "an argument, a file or an option is wrong"),
        (cli.EXIT_REJECTED, "the graph is published, and some of the source could not be read"),
        (cli.EXIT_SETUP, "something is missing: weights, an address, a key, a package"),
        (cli.EXIT_STORE, "the store failed, or `verify` found damage"),
        (cli.EXIT_LIMIT, "a limit was reached"),
        (cli.EXIT_INTERRUPTED, "Ctrl-C stopped it"),
    )
    lines = [
        "# Exit codes and error codes",
        "",
        _MADE,
        "",
        "## Exit codes of the command line",
        "",
        "| code | means |",
        "|---|---|",
        *(f"| {code} | {text} |" for code, text in codes),
        "",
        "`doctor` ends with 1 if a check failed. [Loading](loading.md#what-cant-be-read) says what "
        "a load does before it ends with 3.",
        "",
        "## Errors",
        "",
        "Python raises the class. GraphQL reports the code as `extensions.code`. A *retry* may help "
        "where that column says yes. [The API](api.md#errors) has the HTTP status of each code.",
        "",
        "| class | is a | code | retry | means |",
        "|---|---|---|---|---|",
    ]
    kinds = [kind for kind in vars(errors).values() if inspect.isclass(kind)]
    for kind in kinds:
        if not issubclass(kind, errors.GraphServiceError):
            continue
        means = (inspect.getdoc(kind) or "").partition("\n")[0]
        parent = kind.__base__.__name__ if kind.__base__ is not None else ""
        retry = "yes" if kind.retryable else "no"
        lines.append(
            f"| `{kind.__name__}` | `{parent}` | `{kind.code}` | {retry} | {_cell(means)} |"
        )
    return "\n".join([*lines, ""])


def settings_page() -> str:
    """Returns every environment variable that the package reads."""
    lines = [
        "# Settings",
        "",
        "Each setting is an environment variable. Most are an option of the command line too, which "
        f"wins over the variable. `graph-service doctor --settings` prints this table. {_MADE}",
        "",
        "| variable | default | what it does |",
        "|---|---|---|",
    ]
    for row in SETTINGS:
        default = f"`{row.default}`" if row.default else "none"
        lines.append(f"| `{row.variable}` | {default} | {_cell(row.help)} |")
    return "\n".join([*lines, ""])


def graphql_page() -> str:
    """Returns every type of the schema with its fields and descriptions."""
    schema = graphql.build_schema(SCHEMA.read_text(encoding="utf-8"))
    kinds: tuple[tuple[str, Callable[[graphql.GraphQLNamedType], bool]], ...] = (
        ("Operations", lambda one: one.name in ("Query", "Mutation")),
        ("Inputs", graphql.is_input_object_type),
        ("Objects", graphql.is_object_type),
        ("Interfaces and unions", graphql.is_abstract_type),
        ("Enums", graphql.is_enum_type),
        ("Scalars", graphql.is_scalar_type),
    )
    left = {
        name: one
        for name, one in schema.type_map.items()
        if not name.startswith("__") and name not in graphql.specified_scalar_types
    }
    lines = [
        "# GraphQL",
        "",
        "Every type, with what it means. [The schema](../schema.graphql) is the same as a file, and "
        f"[the API](api.md) shows queries with their answers. {_MADE}",
        "",
    ]
    for title, belongs in kinds:
        here = [left.pop(name) for name in sorted(left) if belongs(left[name])]
        lines += [f"## {title}", ""]
        for one in here:
            lines += [f"### {one.name}", "", _sentence(_cell(one.description or "")), ""]
            lines += _members(one)
    return "\n".join(lines)


def _members(one: graphql.GraphQLNamedType) -> list[str]:
    if isinstance(one, graphql.GraphQLEnumType):
        rows = [(f"`{name}`", value.description) for name, value in one.values.items()]
        head = "value"
    elif isinstance(one, graphql.GraphQLUnionType):
        return [", ".join(f"[{each.name}](#{each.name.lower()})" for each in one.types), ""]
    elif isinstance(
        one,
        graphql.GraphQLObjectType | graphql.GraphQLInterfaceType | graphql.GraphQLInputObjectType,
    ):
        rows = []
        for name, field in one.fields.items():
            arguments = getattr(field, "args", {})
            given = ", ".join(f"{each}: {what.type}" for each, what in arguments.items())
            spelt = f"{name}({given}): {field.type}" if given else f"{name}: {field.type}"
            rows.append((f"`{spelt}`", field.description))
        head = "field"
    else:
        return []
    return [
        f"| {head} | what it is |",
        "|---|---|",
        *(f"| {_cell(name)} | {_cell(text or '')} |" for name, text in rows),
        "",
    ]


def python_page() -> str:
    """Returns the page of the Python API, as mkdocstrings reads it."""
    lines = [
        "# Python",
        "",
        f"The names that programs use. [The API](api.md#from-python) shows how. {_MADE}",
        "",
    ]
    for title, names in _PYTHON:
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"::: {name}", "    options:", "      heading_level: 3", ""]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"
