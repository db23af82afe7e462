"""Tables as a source: TSV and CSV with a statement a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import check_text
from graph_service.model.statement import Snak
from graph_service.model.values import EntityValue, MonolingualText, StringValue, Value
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import ByteSource
from loaders.tables.rows import (
    ColumnsError,
    Row,
    RowError,
    cell_entity,
    cell_id,
    first_row,
    read_rows,
    row_statement,
)
from loaders.tables.side_files import read_side_files

ROLES = ("head", "relation", "tail", "id", "rank", "language", "qualifiers", "-")
_REQUIRED = ("head", "relation", "tail")
# Header names that tell a column's role by themselves, in lower case.
_KNOWN_NAMES = {
    "head": [
        "head",
        "relation_head",
        "subject",
        "subj",
        "s",
        "source",
        "from",
        "node1",
        "h",
        "start",
    ],
    "relation": [
        "relation",
        "predicate",
        "pred",
        "property",
        "p",
        "edge",
        "label",
        "rel",
        "r",
        "relationship",
    ],
    "tail": ["tail", "object", "obj", "o", "target", "to", "node2", "value", "t", "end"],
    "id": ["id", "edge_id", "statement_id"],
    "rank": ["rank"],
}
_ROLE_OF_NAME = {name: role for role, names in _KNOWN_NAMES.items() for name in names}


def check_columns(columns: Sequence[str], /) -> None:
    """Raises ``InputError`` unless the columns name a head, a relation and a tail once each."""
    if not columns:
        return
    roles = [column.partition("=")[0] for column in columns]
    for role in roles:
        if role not in ROLES:
            raise InputError(
                f"{role!r} is no role of a column; known are {', '.join(ROLES)}",
                argument="columns",
                hint="For instance --columns head,relation,tail or --columns head=subject,...",
            )
    if any("=" in column for column in columns) and not all("=" in column for column in columns):
        raise InputError(
            "columns are named either all by position (head,relation,tail) or all by header name "
            "(head=subject,relation=predicate,tail=object)",
            argument="columns",
        )
    for role in _REQUIRED:
        if roles.count(role) != 1:
            raise InputError(
                f"the columns name {roles.count(role)} times a {role}; expected once",
                argument="columns",
            )
    if "qualifiers" in roles[:-1]:
        raise InputError("qualifiers take the rest of a row, so they come last", argument="columns")


def read_tsv(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a table separated by tabs; there is no quoting."""
    return _read_table(source, options, start, delimiter="\t")


def read_csv(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a table separated by commas, quoted by double quotes; cells may span lines."""
    return _read_table(source, options, start, delimiter=",")


def _read_table(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], *, delimiter: str
) -> Iterator[Parsed]:
    layout: _Layout | None = None
    first = first_row(source, delimiter)
    if first is not None:
        layout = _layout(first, options, source.name)
    literal = frozenset(options.literal_relations)
    base_iri = options.base_iri
    side_files = read_side_files(options)
    if side_files.qualifiers and layout is not None and layout.id is None:
        raise InputError(
            f"{source.name} has no column of ids for the qualifiers to name",
            argument="columns",
            hint="For instance --columns id,head,relation,tail.",
        )

    def take(row: Row, parsed: Parsed) -> None:
        assert layout is not None
        cells = row.cells
        if row.line == 1 and layout.has_header:
            return
        if len(cells) != layout.width and not (layout.rest and len(cells) >= layout.width):
            if len(cells) == 1 and not cells[0].strip():
                return
            raise RowError(f"expected {layout.width} columns, came {len(cells)}")
        head = side_files.entity(cells[layout.head], base_iri)
        relation = side_files.relation(cells[layout.relation], base_iri)
        raw_tail = cells[layout.tail]
        value: Value
        if literal and (relation in literal or cells[layout.relation] in literal):
            check_text(raw_tail, what="a literal")
            value = _literal(raw_tail, cells, layout)
        else:
            value = (
                cell_entity(raw_tail, base_iri)
                if side_files.entities is None
                else EntityValue(side_files.entity(raw_tail, base_iri))
            )
        qualifiers = _qualifier_pairs(cells[layout.width :], base_iri) if layout.rest else ()
        if side_files.qualifiers and layout.id is not None:
            qualifiers += side_files.qualifiers.get(cells[layout.id].strip(), ())
        parsed.statements.append(
            row_statement(
                head,
                relation,
                value,
                raw_id=cells[layout.id] if layout.id is not None else "",
                rank=cells[layout.rank] if layout.rank is not None else "",
                qualifiers=qualifiers,
            )
        )

    yield from read_rows(source, start, delimiter, take)


def _literal(text: str, cells: list[str], layout: _Layout) -> Value:
    language = cells[layout.language].strip() if layout.language is not None else ""
    return MonolingualText(text, language.lower()) if language else StringValue(text)


def _qualifier_pairs(cells: list[str], base_iri: str | None) -> tuple[Snak, ...]:
    filled = [cell for cell in cells if cell.strip()]
    if len(filled) % 2:
        raise RowError(f"qualifiers come in pairs of relation and value, came {len(filled)} cells")
    return tuple(
        Snak(cell_id(filled[i], base_iri), cell_entity(filled[i + 1], base_iri))
        for i in range(0, len(filled), 2)
    )


@dataclass(frozen=True, slots=True)
class _Layout:
    """Which column is what, by index; ``rest`` says that qualifier pairs follow ``width``."""

    head: int
    relation: int
    tail: int
    width: int
    has_header: bool
    id: int | None = None
    rank: int | None = None
    language: int | None = None
    rest: bool = False


def _layout_of(
    indexes: Mapping[str, int], *, width: int, has_header: bool, rest: bool = False
) -> _Layout:
    return _Layout(
        indexes["head"],
        indexes["relation"],
        indexes["tail"],
        width,
        has_header,
        id=indexes.get("id"),
        rank=indexes.get("rank"),
        language=indexes.get("language"),
        rest=rest,
    )


def _layout(first: list[str], options: LoadOptions, name: str) -> _Layout:
    names = [cell.strip().lower() for cell in first]
    known = [_ROLE_OF_NAME.get(cell) for cell in names]
    by_name = any("=" in column for column in options.columns)
    if by_name:
        indexes: dict[str, int] = {}
        for column in options.columns:
            role, _, title = column.partition("=")
            if role in ("-", "qualifiers"):
                raise InputError(f"{role} is given by position only", argument="columns")
            if title.strip().lower() not in names:
                raise InputError(
                    f"{name} has no column {title!r}; it has {', '.join(first)}",
                    argument="columns",
                )
            indexes[role] = names.index(title.strip().lower())
        return _layout_of(indexes, width=len(first), has_header=True)
    if options.columns:
        indexes = {
            role: index
            for index, role in enumerate(options.columns)
            if role not in ("-", "qualifiers")
        }
        rest = options.columns[-1] == "qualifiers"
        has_header = options.header
        if has_header is None:
            has_header = (
                all(known[indexes[role]] == role for role in _REQUIRED)
                if len(known) > max(indexes[role] for role in _REQUIRED)
                else False
            )
        width = len(options.columns) - 1 if rest else len(options.columns)
        return _layout_of(indexes, width=width, has_header=has_header, rest=rest)
    if all(known.count(role) == 1 for role in _REQUIRED) and options.header is not False:
        indexes = {role: known.index(role) for role in _REQUIRED}
        for role in ("id", "rank"):
            if role in known:
                indexes[role] = known.index(role)
        return _layout_of(indexes, width=len(first), has_header=True)
    if len(first) == 3:
        return _Layout(0, 1, 2, width=3, has_header=bool(options.header))
    raise ColumnsError(
        f"{name} has {len(first)} columns without names that are known; say which are head, "
        "relation and tail",
        argument="columns",
        hint=f"For instance --columns head,relation,tail{',-' * (len(first) - 3)}.",
    )
