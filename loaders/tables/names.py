"""Files of names, descriptions and classes beside a graph: tables, KGTK, or JSON by id."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.classes import RDF_TYPE, WIKIDATA_INSTANCE_OF
from graph_service.model.identity import WIKIDATA_ID
from graph_service.model.statement import Statement
from graph_service.model.values import EntityValue, MonolingualText
from loaders.items import Parsed, Reject
from loaders.options import LoadOptions
from loaders.source import ByteSource
from loaders.tables.dialect import TABS, Dialect, encoding_of, recognise_dialect
from loaders.tables.kgtk import TermRows, read_kgtk
from loaders.tables.kgtk_values import read_kgtk_value
from loaders.tables.rows import Row, RowError, cell_id, first_row, read_rows, row_statement
from loaders.tables.sparql_results import is_sparql_header, read_sparql_text

_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,12})*|simple")
_WORDS = re.compile(r"[a-z][a-z_ ]*")
_NAMES = frozenset(("label", "name", "itemlabel", "description", "language", "lang"))
_HEADS = frozenset(("id", "entity", "qid", "uri", "iri", "node", "item", "entity_id"))


def read_labels(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a file of names: id, label and, if there is one, a column of languages.

    Tabs or commas; a header is told by its names; KGTK edges of labels are read too, and a JSON
    object of labels by id, or of ``{"label": ..., "description": ...}`` by id, as CoDEx has.
    """
    return _read_names(source, options, start, "label")


def read_descriptions(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a file of descriptions, in the form of a file of names."""
    return _read_names(source, options, start, "description")


def read_types(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a file of entities and their classes, as statements; or a JSON object of them."""
    if _is_json(source):
        yield from _read_json(source, options, start, _take_classes)
        return
    dialect, first = first_cells(source, options)
    has_header = is_header(first)

    def take(row: Row, parsed: Parsed) -> None:
        if row.line == dialect.first_line and has_header:
            return
        if len(row.cells) != 2:
            raise RowError(f"expected id and class, got {len(row.cells)} cells")
        id_, class_ = (cell_id(cell, options.base_iri) for cell in row.cells)
        parsed.statements.append(_class_statement(id_, class_))

    yield from read_rows(source, start, dialect, take)


def first_cells(source: ByteSource, options: LoadOptions, /) -> tuple[Dialect, list[str]]:
    """Returns how a file is written, and the cells of its first row in lower case."""
    dialect = recognise_dialect(source.head, encoding=encoding_of(source, options.encoding))
    return dialect, [cell.strip().lower() for cell in first_row(source, dialect) or []]


def is_header(cells: Sequence[str], /) -> bool:
    """Returns whether the cells of a first row, in lower case, are names of columns."""
    if not cells:
        return False
    names_columns = _WORDS.fullmatch(cells[0]) and not _NAMES.isdisjoint(cells[1:])
    return cells[0] in _HEADS or is_sparql_header(cells) or bool(names_columns)


def _read_names(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], kind: str
) -> Iterator[Parsed]:
    if _is_json(source):
        yield from _read_json(source, options, start, partial(_take_names, kind))
        return
    dialect, first = first_cells(source, options)
    if "node1" in first and "node2" in first:
        yield from read_kgtk(source, options, start)
        return
    has_header = is_header(first)
    are_terms = dialect.delimiter == TABS.delimiter and is_sparql_header(first)
    terms = TermRows(options)

    def take(row: Row, parsed: Parsed) -> None:
        if row.line == dialect.first_line and has_header:
            return
        if len(row.cells) not in (2, 3):
            raise RowError(f"expected id, {kind} and perhaps language, got {len(row.cells)} cells")
        id_ = cell_id(row.cells[0], options.base_iri)
        text, language = row.cells[1], row.cells[2].strip() if len(row.cells) == 3 else ""
        if are_terms:
            text, own = read_sparql_text(text)
            language = own or read_sparql_text(language)[0]
        if language and not _LANGUAGE.fullmatch(language):
            parsed.skipped["third cells of a label file that are no language"] += 1
            language = ""
        if text[:1] == "'" and "'@" in text:
            value = read_kgtk_value(text)
            if isinstance(value, MonolingualText):
                text, language = value.text, value.language
        terms.add(id_, kind, text.strip(), language, parsed)

    yield from read_rows(source, start, dialect, take, terms.finish)


def _class_statement(id_: str, class_: str) -> Statement:
    both = WIKIDATA_ID.fullmatch(id_) and WIKIDATA_ID.fullmatch(class_)
    return row_statement(id_, WIKIDATA_INSTANCE_OF if both else RDF_TYPE, EntityValue(class_))


def _is_json(source: ByteSource) -> bool:
    return source.head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


_TakeJson = Callable[[str, Any, TermRows, Parsed, LoadOptions], None]


def _read_json(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], take: _TakeJson
) -> Iterator[Parsed]:
    """Yields a JSON object, whose entries ``take`` takes; what it refuses is a reject."""
    parsed = Parsed(terms_only=True, position={"done": True})
    if start.get("done"):
        return
    data, problem = source.read_all(what="a JSON file of names", instead="write it as a table")
    terms = TermRows(options)
    if not problem:
        try:
            entries = orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
        except orjson.JSONDecodeError as error:
            problem = f"not JSON: {error}"
        else:
            for id_, entry in entries.items():
                try:
                    take(cell_id(id_, options.base_iri), entry, terms, parsed, options)
                except (RowError, InputError) as error:
                    parsed.rejects.append(Reject(source.name, 1, 0, f"{id_[:80]}: {error}"))
    if problem:
        parsed.rejects.append(Reject(source.name, 1, 0, problem))
    terms.finish(parsed)
    yield parsed


def _take_names(
    kind: str, id_: str, entry: Any, terms: TermRows, parsed: Parsed, _options: LoadOptions
) -> None:
    fields = entry if isinstance(entry, dict) else {kind: entry}
    texts = {name: fields[name] for name in ("label", "description") if name in fields}
    if not texts or not all(isinstance(text, str) for text in texts.values()):
        raise RowError(f"expected a {kind}, or an object with a label, got {str(entry)[:80]}")
    for name, text in texts.items():
        terms.add(id_, name, text.strip(), "", parsed)


def _take_classes(
    id_: str, entry: Any, _terms: TermRows, parsed: Parsed, options: LoadOptions
) -> None:
    classes = entry if isinstance(entry, list) else [entry]
    if not all(isinstance(class_, str) for class_ in classes):
        raise RowError(f"expected a list of classes, got {str(entry)[:80]}")
    parsed.statements.extend(
        _class_statement(id_, cell_id(class_, options.base_iri)) for class_ in classes
    )
