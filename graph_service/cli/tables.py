"""``docs/options.md``: every option of a request in its three spellings.

python -m graph_service.cli.tables > docs/options.md
"""

from __future__ import annotations

from graph_service.model.request import RetrieveRequest
from graph_service.options import rows_of

_HEAD = """# Options

Every option of a request has one name, spelt as Python, the command line and GraphQL spell names.
GraphQL's words are Wikidata's: an entity is an item there, a relation a property. A list is given on
the command line once for each of its values. This page is made of the code by `make schema`.
"""
_REQUESTS = (
    (
        "A retrieval",
        "`retrieve`, GraphQL's `RetrieveInput`, `Client.retrieve`. An option that is not given stays as "
        "the preset has it ([retrieval](retrieval.md)), and the result records what was taken.",
        RetrieveRequest,
    ),
)
_COLUMNS = ("Python", "command line", "GraphQL", "type", "bounds", "default", "what it does")


def options_page() -> str:
    """Returns the page, as Markdown."""
    lines = [_HEAD]
    for title, text, request in _REQUESTS:
        lines += [f"## {title}", "", text, "", _row(_COLUMNS), _row(["---"] * len(_COLUMNS))]
        for name, flag, graphql, *rest in rows_of(request):
            lines.append(_row([_code(name), _code(flag), _code(graphql), *rest]))
        lines.append("")
    return "\n".join(lines)


def _code(text: str) -> str:
    return text if text == "-" else f"`{text}`"


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    print(options_page(), end="")
