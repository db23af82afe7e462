"""KGTK edge files as a source, and terms gathered from rows.

Source: the KGTK file format, https://kgtk.readthedocs.io/en/latest/specification/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from graph_service.model.identity import check_text
from graph_service.model.statement import EntityKind, Snak
from graph_service.model.values import EntityValue, MonolingualText, StringValue
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import ByteSource
from loaders.tables.dialect import TABS, recognise_dialect
from loaders.tables.kgtk_values import read_kgtk_value, unescape
from loaders.tables.rows import (
    ColumnsError,
    Row,
    RowError,
    cell_id,
    first_row,
    read_rows,
    row_statement,
)
from loaders.tables.side_files import read_side_files
from loaders.terms import LANGUAGE_REASON, SECOND_DESCRIPTION_REASON, TermGatherer

_REQUIRED = ("head", "relation", "tail")
_KGTK_ROLES = {
    "node1": "head",
    "from": "head",
    "subject": "head",
    "label": "relation",
    "pred": "relation",
    "predicate": "relation",
    "relation": "relation",
    "relationship": "relation",
    "node2": "tail",
    "to": "tail",
    "object": "tail",
    "id": "id",
    "rank": "rank",
}
_LABEL_RELATIONS = {"label": "label", "alias": "alias", "description": "description"}
_LABEL_COLUMNS = {"node1;label": "head", "label;label": "relation", "node2;label": "tail"}


class TermRows:
    """Gathers the terms of a block's rows."""

    def __init__(self, options: LoadOptions) -> None:
        self._languages = options.term_languages
        self._default = options.label_language.lower()
        self._gathered = TermGatherer()

    def add(
        self,
        id_: str,
        kind: str,
        text: str,
        language: str,
        parsed: Parsed,
        *,
        relation: bool = False,
    ) -> None:
        """Adds a ``label``, ``alias`` or ``description``; no language means the default one."""
        language = language.lower() or self._default
        if self._languages and language not in self._languages:
            parsed.skipped[LANGUAGE_REASON] += 1
            return
        if not text:
            return
        check_text(text, what="a name")
        terms = self._gathered.of(id_)
        if relation or (id_[0] == "P" and id_[1:].isdecimal()):
            terms.kind = EntityKind.PROPERTY
        if kind == "label":
            terms.add_label(language, text)
        elif kind == "alias":
            terms.add_alias(language, text)
        elif terms.add_description(language, text):
            parsed.skipped[SECOND_DESCRIPTION_REASON] += 1

    def finish(self, parsed: Parsed) -> None:
        """Adds the entities of the terms gathered since the last time."""
        parsed.entities.extend(self._gathered.take())


def read_kgtk(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a KGTK edge file.

    ``label``, ``alias`` and ``description`` edges and the columns ``node1;label``,
    ``label;label`` and ``node2;label`` are terms; ``rank`` is the rank; further columns without
    ``;`` are qualifiers named by their column, and those with one are counted as skipped.
    """
    dialect = replace(TABS, first_line=recognise_dialect(source.head).first_line)
    header = first_row(source, dialect) or []
    names = [name.strip() for name in header]
    lower = [name.lower() for name in names]
    columns = {role: index for index, name in enumerate(lower) if (role := _KGTK_ROLES.get(name))}
    missing = [role for role in _REQUIRED if role not in columns]
    if missing:
        raise ColumnsError(
            f"{source.name} has no KGTK column for {', '.join(missing)}; its columns are "
            f"{', '.join(names)}",
            argument="format",
            hint="Name the columns, for instance --format tsv --columns head=from,...",
        )
    head_at, relation_at, tail_at = (columns[role] for role in _REQUIRED)
    id_at, rank_at = columns.get("id"), columns.get("rank")
    labels = [
        (index, _LABEL_COLUMNS[name]) for index, name in enumerate(lower) if name in _LABEL_COLUMNS
    ]
    named = {*columns.values(), *(index for index, _ in labels)}
    extra = [
        (index, name) for index, name in enumerate(names) if index not in named and ";" not in name
    ]
    passed_over = [
        (index, name) for index, name in enumerate(names) if index not in named and ";" in name
    ]
    base_iri = options.base_iri
    side_files = read_side_files(options).qualifiers
    terms = TermRows(options)

    def take(row: Row, parsed: Parsed) -> None:
        cells = row.cells
        if row.line == dialect.first_line:
            return
        if len(cells) < len(names):
            # Trailing empty cells are often cut off.
            cells = cells + [""] * (len(names) - len(cells))
        elif len(cells) > len(names):
            raise RowError(f"expected {len(names)} columns, got {len(cells)}")
        if not cells[head_at] or not cells[relation_at]:
            raise RowError("an edge without node1 or label")
        if not cells[tail_at]:
            raise RowError("an edge without node2")
        head = cell_id(cells[head_at], base_iri)
        raw_relation = cells[relation_at]
        value = read_kgtk_value(cells[tail_at], base_iri=base_iri)
        for index, role in labels:
            _add_label(terms, cells, index, role, (head_at, relation_at, tail_at), base_iri, parsed)
        kind = _LABEL_RELATIONS.get(raw_relation)
        if kind and isinstance(value, (StringValue, MonolingualText)):
            language = value.language if isinstance(value, MonolingualText) else ""
            terms.add(head, kind, value.text, language, parsed)
            return
        qualifiers = tuple(
            Snak(cell_id(name, base_iri), read_kgtk_value(cells[index], base_iri=base_iri))
            for index, name in extra
            if cells[index]
        )
        if side_files and id_at is not None:
            qualifiers += side_files.get(cells[id_at].strip(), ())
        for index, name in passed_over:
            if cells[index]:
                parsed.skipped[f"cells of the column {name}"] += 1
        statement = row_statement(
            head,
            cell_id(raw_relation, base_iri),
            value,
            raw_id=cells[id_at] if id_at is not None else "",
            rank=cells[rank_at] if rank_at is not None else "",
            qualifiers=qualifiers,
        )
        parsed.statements.append(statement)

    yield from read_rows(source, start, dialect, take, terms.finish)


def _add_label(
    terms: TermRows,
    cells: list[str],
    index: int,
    role: str,
    columns: tuple[int, int, int],
    base_iri: str | None,
    parsed: Parsed,
) -> None:
    if not cells[index]:
        return
    of = cells[columns[_REQUIRED.index(role)]]
    if role == "tail" and not isinstance(read_kgtk_value(of, base_iri=base_iri), EntityValue):
        return
    # KGTK lists several labels of one cell with bars between them.
    for part in _split_list(cells[index]):
        value = read_kgtk_value(part)
        if isinstance(value, MonolingualText):
            text, language = value.text, value.language
        elif isinstance(value, StringValue):
            text, language = value.text, ""
        else:
            text, language = unescape(part), ""
        terms.add(
            cell_id(of, base_iri), "label", text, language, parsed, relation=role == "relation"
        )


def _split_list(cell: str) -> list[str]:
    if "|" not in cell:
        return [cell]
    parts, start, quote, index = [], 0, "", 0
    while index < len(cell):
        character = cell[index]
        if character == "\\":
            index += 1
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"" and index == start:
            quote = character
        elif character == "|":
            parts.append(cell[start:index])
            start = index + 1
        index += 1
    return [part for part in (*parts, cell[start:]) if part]
