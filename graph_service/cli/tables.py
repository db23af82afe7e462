"""``docs/options.md``: every option of a request in its three spellings.

python -m graph_service.cli.tables > docs/options.md
"""

from __future__ import annotations

from graph_service.model.request import RetrieveRequest
from graph_service.model.view_spec import Scope, ViewSpec
from graph_service.options import rows_of
from loaders.options import LoadOptions
from loaders.sparql.options import EndpointOptions
from loaders.subset.filters import Filters

_HEAD = """# Options

Every option of a request has one name, spelt as Python, the command line and GraphQL spell names.
GraphQL's words are Wikidata's: an entity is an item there, a relation a property. A list is given on
the command line once for each of its values. One whose flag keeps the plural takes them in one word,
with commas: `--levels 0.1,0.3`. This page is made of the code by `make schema`.
"""
_REQUESTS = (
    (
        "A retrieval",
        "`retrieve`, GraphQL's `RetrieveInput`, `Client.retrieve`. An option that is not given stays as "
        "the preset has it ([retrieval](retrieval.md)), and the result records what was taken.",
        RetrieveRequest,
    ),
    (
        "A view",
        "`view create`, GraphQL's `ViewSpecInput`, `ViewSpec` ([views](views.md)). A view's identity is "
        "made of these and of the base's fingerprint.",
        ViewSpec,
    ),
    (
        "What a view may change",
        "`view create`, GraphQL's `ScopeInput`, `Scope`.",
        Scope,
    ),
    (
        "A load",
        "`load`, `LoadOptions` ([loading](loading.md)). A load that is resumed must have the same "
        "options, but for those that change no statement.",
        LoadOptions,
    ),
    (
        "Which part of a source is loaded",
        "`load`, `Filters`.",
        Filters,
    ),
    (
        "A load from an endpoint",
        "`load wikidata:Q42`, `EndpointOptions`.",
        EndpointOptions,
    ),
)
_OF_LOADS = (LoadOptions, Filters, EndpointOptions)
"""Requests that are none of GraphQL's."""
_COLUMNS = ("Python", "command line", "GraphQL", "type", "bounds", "default", "what it does")


def options_page() -> str:
    """Returns the page, as Markdown."""
    lines = [_HEAD]
    for title, text, request in _REQUESTS:
        rows = [_COLUMNS, ("---",) * len(_COLUMNS)]
        for name, flag, graphql, *rest in rows_of(request):
            rows.append((_code(name), _code(flag), _code(graphql), *rest))
        if request in _OF_LOADS:
            rows = [(*row[:2], *row[3:]) for row in rows]
        lines += [f"## {title}", "", text, "", *map(_row, rows)]
        lines.append("")
    return "\n".join(lines)


def _code(text: str) -> str:
    return text if text == "-" else f"`{text}`"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    print(options_page(), end="")
