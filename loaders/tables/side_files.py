"""Files that are read beside a table: what its cells stand for, and qualifiers of its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from graph_service.errors import InputError
from graph_service.model.classes import RDF_TYPE
from graph_service.model.statement import Snak
from loaders.items import Parsed
from loaders.options import LoadOptions
from loaders.source import open_source
from loaders.tables.dialect import encoding_of, recognise_dialect
from loaders.tables.kgtk_values import read_kgtk_value
from loaders.tables.rows import Row, RowError, cell_id, first_row, read_rows

_INSTANCE_OF = frozenset(("instance of", "is a", "is an"))
_QUALIFIER_HEADS = frozenset(("node1", "id", "statement", "edge"))


@dataclass(frozen=True, slots=True)
class SideFiles:
    """What the files beside a table say; they are held in memory.

    Attributes:
        entities, relations: Id by cell; None where cells are ids.
        qualifiers: By the cell of a row's ``id`` column.
    """

    entities: Mapping[str, str] | None = None
    relations: Mapping[str, str] | None = None
    qualifiers: Mapping[str, tuple[Snak, ...]] = field(default_factory=dict)

    def entity(self, cell: str, base_iri: str | None, /) -> str:
        """Returns the id of the entity that a cell names."""
        return cell_id(_looked_up(cell, self.entities, "entity"), base_iri)

    def relation(self, cell: str, base_iri: str | None, /) -> str:
        """Returns the id of the relation that a cell names: ``rdf:type`` for the words *is a*."""
        if self.relations is None and _says_instance(cell):
            return RDF_TYPE
        return cell_id(_looked_up(cell, self.relations, "relation"), base_iri)


@lru_cache(maxsize=1024)
def _says_instance(cell: str) -> bool:
    return " ".join(cell.replace("_", " ").lower().split()) in _INSTANCE_OF


def _looked_up(cell: str, ids: Mapping[str, str] | None, what: str) -> str:
    if ids is None:
        return cell
    id_ = ids.get(cell.strip())
    if id_ is None:
        raise RowError(f"no {what} has the number {cell.strip()!r}")
    return id_


def read_side_files(options: LoadOptions, /) -> SideFiles:
    """Returns what the files named in the options say.

    Raises:
        InputError: One can't be read, or a row in it.
    """
    qualifiers: dict[str, list[Snak]] = {}
    if options.qualifier_file is not None:
        for index, row in enumerate(_rows(options.qualifier_file, 3, options)):
            if not index and row.cells[0].strip().lower() in _QUALIFIER_HEADS:
                continue
            of, relation, value = row.cells
            snak = Snak(
                cell_id(relation, options.base_iri),
                read_kgtk_value(value, base_iri=options.base_iri),
            )
            qualifiers.setdefault(of.strip(), []).append(snak)
    return SideFiles(
        _ids(options.entity_ids, options),
        _ids(options.relation_ids, options),
        {of: tuple(snaks) for of, snaks in qualifiers.items()},
    )


def _ids(path: Path | None, options: LoadOptions) -> dict[str, str] | None:
    if path is None:
        return None
    return {row.cells[0].strip(): row.cells[1].strip() for row in _rows(path, 2, options)}


def _rows(path: Path, width: int, options: LoadOptions) -> Iterator[Row]:
    """Yields the rows of a table of tabs or commas; the first that is wrong ends the load."""
    rows: list[Row] = []

    def take(row: Row, _parsed: Parsed) -> None:
        if len(row.cells) < width:
            raise RowError(f"expected {width} columns, got {len(row.cells)}")
        rows.append(Row(row.cells[:width], row.line, row.offset))

    with open_source(path) as source:
        dialect = recognise_dialect(source.head, encoding=encoding_of(source, options.encoding))
        if first_row(source, dialect) is None:
            raise InputError(f"{path} is empty", argument="source")
        for parsed in read_rows(source, {}, dialect, take):
            if parsed.rejects:
                first = parsed.rejects[0]
                raise InputError(f"{first.location}: {first.reason}", argument="source")
            yield from rows
            rows.clear()
