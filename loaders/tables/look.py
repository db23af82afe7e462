"""What a load would make of tables, as the mapping file that says the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from graph_service.text.visible import visible
from loaders.tables.mapping import ColumnType, PlannedTable, TablesPlan, column_fields

_CELL_CHARACTERS = 32


def look_lines(plan: TablesPlan, /) -> Iterator[str]:
    """Yields a mapping file: of each column its type, with three of its cells as a remark."""
    yield "# What each column becomes. Edit it, then: graph-service load SOURCE --graph NAME"
    yield "# --mapping THIS_FILE. What is left out is told by looking at all cells again."
    for table in plan.tables:
        yield ""
        yield from _table_lines(table)


def _table_lines(table: PlannedTable) -> Iterator[str]:
    mapping = table.mapping
    name = f"[tables.{_text(mapping.file)}]"
    yield f"{name}  # {table.rows:,} rows"
    key = mapping.key
    if key is not None:
        yield f"row = {_text(key.name)}"
        yield f"class = {_text(mapping.kind)}"
    elif mapping.is_numbered:
        yield "# No column names the rows: each is named by its number."
        yield f"class = {_text(mapping.kind)}"
    else:
        yield "# No column names the rows: each joins the things of two columns."
    yield f"{name[:-1]}.columns]"
    for column in mapping.columns:
        examples = ", ".join(_cell(cell) for cell in table.examples[column.name])
        fields = column_fields(column)
        if column.type is ColumnType.KEY:
            fields = {"type": "key"}
        yield f"{_text(column.name)} = {_inline(fields)}  # {examples or 'empty'}"
        for note in table.notes[column.name]:
            yield f"#   {note}"


def _inline(fields: dict[str, Any]) -> str:
    pairs = ", ".join(
        f"{word} = {_inline_orders(value) if isinstance(value, dict) else _text(value)}"
        for word, value in fields.items()
    )
    return f"{{ {pairs} }}"


def _inline_orders(orders: dict[str, str]) -> str:
    return f"{{ {', '.join(f'{_text(mark)} = {_text(order)}' for mark, order in orders.items())} }}"


def _text(text: str) -> str:
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _cell(cell: str) -> str:
    text = visible(cell.replace("\n", " "))
    return text if len(text) <= _CELL_CHARACTERS else f"{text[: _CELL_CHARACTERS - 1]}\u2026"
