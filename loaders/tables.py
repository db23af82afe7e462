"""Tables as a source: TSV and CSV with a statement a row, KGTK edge files, files of labels."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import (
    check_text,
    normalise_entity_id,
    normalise_statement_guid,
)
from graph_service.model.statement import (
    Entity,
    EntityKind,
    Rank,
    Snak,
    Statement,
    make_statement,
)
from graph_service.model.values import (
    EntityValue,
    MonolingualText,
    StringValue,
    Value,
    encode_value,
)
from loaders.items import Parsed, Reject, excerpt
from loaders.kgtk_values import read_kgtk_value, unescape
from loaders.options import LoadOptions
from loaders.rdf_mapping import LANGUAGE_REASON, statement_id
from loaders.source import ByteSource, line_blocks

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
_LABEL_RELATIONS = {"label": "label", "alias": "alias", "description": "description"}
_LABEL_COLUMNS = {"node1;label": "head", "label;label": "relation", "node2;label": "tail"}
_RANKS = {rank.value: rank for rank in Rank}
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,12})*|simple")
_LABEL_FILE_HEADS = frozenset(("id", "entity", "qid", "uri", "iri", "node", "item", "entity_id"))


@dataclass(frozen=True, slots=True)
class Row:
    """Cells of a row, with where it began."""

    cells: list[str]
    line: int
    offset: int


class _RowError(ValueError):
    """Why a row is rejected."""


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
    first = _first_row(source, delimiter)
    if first is not None:
        layout = _layout(first, options, source.name)
    literal = frozenset(options.literal_relations)
    base_iri = options.base_iri

    def take(row: Row, parsed: Parsed) -> None:
        assert layout is not None
        cells = row.cells
        if row.line == 1 and layout.has_header:
            return
        if len(cells) != layout.width and not (layout.rest and len(cells) >= layout.width):
            if len(cells) == 1 and not cells[0].strip():
                return
            raise _RowError(f"expected {layout.width} columns, came {len(cells)}")
        head = _id(cells[layout.head], base_iri)
        relation = _id(cells[layout.relation], base_iri)
        raw_tail = cells[layout.tail]
        value: Value
        if literal and (relation in literal or cells[layout.relation] in literal):
            check_text(raw_tail, what="a literal")
            value = _literal(raw_tail, cells, layout)
        else:
            value = _entity_value(raw_tail, base_iri)
        qualifiers = _qualifier_pairs(cells[layout.width :], base_iri) if layout.rest else ()
        parsed.statements.append(
            _statement(
                head,
                relation,
                value,
                raw_id=cells[layout.id] if layout.id is not None else "",
                rank=cells[layout.rank] if layout.rank is not None else "",
                qualifiers=qualifiers,
            )
        )

    yield from _rows_to_parsed(source, options, start, delimiter, take)


def _literal(text: str, cells: list[str], layout: _Layout) -> Value:
    language = cells[layout.language].strip() if layout.language is not None else ""
    return MonolingualText(text, language.lower()) if language else StringValue(text)


def _qualifier_pairs(cells: list[str], base_iri: str | None) -> tuple[Snak, ...]:
    filled = [cell for cell in cells if cell.strip()]
    if len(filled) % 2:
        raise _RowError(f"qualifiers come in pairs of relation and value, came {len(filled)} cells")
    return tuple(
        Snak(_id(filled[i], base_iri), _entity_value(filled[i + 1], base_iri))
        for i in range(0, len(filled), 2)
    )


def _statement(
    head: str,
    relation: str,
    value: Value,
    *,
    raw_id: str = "",
    rank: str = "",
    qualifiers: tuple[Snak, ...] = (),
) -> Statement:
    guid = normalise_statement_guid(raw_id) if raw_id else None
    rank = rank.strip()
    if rank and rank not in _RANKS:
        raise _RowError(f"rank {rank!r}; expected preferred, normal or deprecated")
    rank_ = _RANKS[rank] if rank else Rank.NORMAL
    if qualifiers:
        return make_statement(head, relation, value, id=guid, rank=rank_, qualifiers=qualifiers)
    id_ = guid or statement_id(head, relation, encode_value(value), None)
    return Statement(id_, head, relation, value, rank_)


@lru_cache(maxsize=262_144)
def _id(raw: str, base_iri: str | None) -> str:
    text = raw.strip()
    if len(text) > 2 and text[0] == "<" and text[-1] == ">":
        text = text[1:-1]
    return normalise_entity_id(text, base_iri=base_iri)


@lru_cache(maxsize=262_144)
def _entity_value(raw: str, base_iri: str | None) -> EntityValue:
    return EntityValue(_id(raw, base_iri))


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
    places: Mapping[str, int], *, width: int, has_header: bool, rest: bool = False
) -> _Layout:
    return _Layout(
        places["head"],
        places["relation"],
        places["tail"],
        width,
        has_header,
        id=places.get("id"),
        rank=places.get("rank"),
        language=places.get("language"),
        rest=rest,
    )


def _layout(first: list[str], options: LoadOptions, name: str) -> _Layout:
    names = [cell.strip().lower() for cell in first]
    known = [_ROLE_OF_NAME.get(cell) for cell in names]
    by_name = any("=" in column for column in options.columns)
    if by_name:
        places: dict[str, int] = {}
        for column in options.columns:
            role, _, wanted = column.partition("=")
            if role in ("-", "qualifiers"):
                raise InputError(f"{role} is given by position only", argument="columns")
            if wanted.strip().lower() not in names:
                raise InputError(
                    f"{name} has no column {wanted!r}; it has {', '.join(first)}",
                    argument="columns",
                )
            places[role] = names.index(wanted.strip().lower())
        return _layout_of(places, width=len(first), has_header=True)
    if options.columns:
        places = {
            role: index
            for index, role in enumerate(options.columns)
            if role not in ("-", "qualifiers")
        }
        rest = options.columns[-1] == "qualifiers"
        has_header = options.header
        if has_header is None:
            has_header = (
                all(known[places[role]] == role for role in _REQUIRED)
                if len(known) > max(places[role] for role in _REQUIRED)
                else False
            )
        width = len(options.columns) - 1 if rest else len(options.columns)
        return _layout_of(places, width=width, has_header=has_header, rest=rest)
    if all(known.count(role) == 1 for role in _REQUIRED) and options.header is not False:
        places = {role: known.index(role) for role in _REQUIRED}
        for role in ("id", "rank"):
            if role in known:
                places[role] = known.index(role)
        return _layout_of(places, width=len(first), has_header=True)
    if len(first) == 3:
        return _Layout(0, 1, 2, width=3, has_header=bool(options.header))
    raise InputError(
        f"{name} has {len(first)} columns without names that are known; say which are head, "
        "relation and tail",
        argument="columns",
        hint=f"For instance --columns head,relation,tail{',-' * (len(first) - 3)}.",
    )


def _first_row(source: ByteSource, delimiter: str) -> list[str] | None:
    text = source.head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if not text.strip():
        return None
    line = text.partition("\n")[0].rstrip("\r")
    return line.split("\t") if delimiter == "\t" else next(csv.reader([line]), None)


def _rows_to_parsed(
    source: ByteSource,
    options: LoadOptions,
    start: Mapping[str, Any],
    delimiter: str,
    take: Callable[[Row, Parsed], None],
    finish: Callable[[Parsed], None] | None = None,
) -> Iterator[Parsed]:
    """Yields what ``take`` makes of the rows; a row that it refuses is a reject."""
    quoted = _QuotedRows() if delimiter == "," else None
    for block in line_blocks(
        source, offset=int(start.get("offset", 0)), line=int(start.get("line", 1))
    ):
        parsed = Parsed(terms_only=True)
        if block.problem:
            parsed.rejects.append(Reject(source.name, block.line, block.offset, block.problem))
        rejects = parsed.rejects
        offset, line = block.offset, block.line
        for data in block.data.removesuffix(b"\n").split(b"\n") if block.data else ():
            size = len(data) + 1
            row: Row | None = None
            try:
                text = data.rstrip(b"\r").decode()
                if line == 1:
                    text = text.removeprefix("\ufeff")
                if quoted is None:
                    row = Row(text.split("\t"), line, offset) if text else None
                else:
                    row = quoted.add(text, line, offset)
                if row is not None:
                    take(row, parsed)
            except UnicodeDecodeError as error:
                rejects.append(
                    Reject(source.name, line, offset, f"not UTF-8: {error.reason}", excerpt(data))
                )
            except (_RowError, ValueError, csv.Error) as error:
                at = row or Row([], line, offset)
                rejects.append(Reject(source.name, at.line, at.offset, str(error), excerpt(data)))
            except InputError as error:
                at = row or Row([], line, offset)
                rejects.append(
                    Reject(source.name, at.line, at.offset, error.message, excerpt(data))
                )
            offset += size
            line += 1
        end_line = block.line + block.data.count(b"\n")
        end = block.offset + len(block.data)
        if quoted is not None and quoted.open_at is not None:
            # A cell goes on in the next block: a resumed load begins at its row again.
            parsed.position = {"offset": quoted.open_at[1], "line": quoted.open_at[0]}
        else:
            parsed.position = {"offset": end, "line": end_line}
        parsed.line = end_line
        if finish is not None:
            finish(parsed)
        yield parsed
    if quoted is not None and quoted.open_at is not None:
        line, offset = quoted.open_at
        yield Parsed(
            terms_only=True,
            position={"offset": offset, "line": line},
            rejects=[Reject(source.name, line, offset, "a quoted cell that never ends")],
            line=line,
        )


class _QuotedRows:
    """Puts lines together to rows of CSV, whose quoted cells may span lines.

    Attributes:
        open_at: Line and byte offset of the row that is not finished, if there is one.
    """

    _MAX_LINES = 1_000

    def __init__(self) -> None:
        self.open_at: tuple[int, int] | None = None
        self._lines: list[str] = []

    def add(self, text: str, line: int, offset: int) -> Row | None:
        if self.open_at is None:
            if not text:
                return None
            if '"' not in text:
                return Row(text.split(","), line, offset)
            self.open_at = (line, offset)
        self._lines.append(text)
        joined = "\n".join(self._lines)
        if joined.count('"') % 2:
            if len(self._lines) > self._MAX_LINES:
                first = self.open_at
                self.open_at, self._lines = None, []
                raise _RowError(
                    f"a quoted cell from line {first[0]} on that does not end in "
                    f"{self._MAX_LINES} lines"
                )
            return None
        first = self.open_at
        self.open_at, self._lines = None, []
        cells = next(csv.reader(joined.splitlines(keepends=True), strict=True))
        return Row(cells, first[0], first[1])


class _TermRows:
    """Gathers the terms of a block's rows."""

    def __init__(self, options: LoadOptions) -> None:
        self._languages = frozenset(options.languages)
        self._default = options.label_language.lower()
        self._labels: dict[str, dict[str, str]] = {}
        self._descriptions: dict[str, dict[str, str]] = {}
        self._aliases: dict[str, dict[str, dict[str, None]]] = {}
        self._relations: set[str] = set()

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
        language = language.lower() or self._default
        if self._languages and language not in self._languages:
            parsed.skipped[LANGUAGE_REASON] += 1
            return
        if not text:
            return
        check_text(text, what="a name")
        if relation or (id_[0] == "P" and id_[1:].isdecimal()):
            self._relations.add(id_)
        if kind == "description":
            self._descriptions.setdefault(id_, {}).setdefault(language, text)
            return
        if kind == "label":
            first = self._labels.setdefault(id_, {}).setdefault(language, text)
            if first == text:
                return
        self._aliases.setdefault(id_, {}).setdefault(language, {})[text] = None

    def finish(self, parsed: Parsed) -> None:
        ids = dict.fromkeys((*self._labels, *self._descriptions, *self._aliases))
        parsed.entities.extend(
            Entity(
                id=id_,
                kind=EntityKind.PROPERTY if id_ in self._relations else EntityKind.ITEM,
                labels=self._labels.get(id_, {}),
                descriptions=self._descriptions.get(id_, {}),
                aliases={
                    language: tuple(names) for language, names in self._aliases.get(id_, {}).items()
                },
            )
            for id_ in ids
        )
        self._labels, self._descriptions, self._aliases = {}, {}, {}


def read_kgtk(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a KGTK edge file.

    ``label``, ``alias`` and ``description`` edges and the columns ``node1;label``,
    ``label;label`` and ``node2;label`` are terms; ``rank`` is the rank; further columns without
    ``;`` are qualifiers named by their column, and those with one are counted as skipped.
    """
    header = _first_row(source, "\t") or []
    names = [name.strip() for name in header]
    lower = [name.lower() for name in names]
    places = {role: index for index, name in enumerate(lower) if (role := _KGTK_ROLES.get(name))}
    missing = [role for role in _REQUIRED if role not in places]
    if missing:
        raise InputError(
            f"{source.name} has no KGTK column for {', '.join(missing)}; its columns are "
            f"{', '.join(names)}",
            argument="format",
            hint="Name the columns, for instance --format tsv --columns head=from,...",
        )
    head_at, relation_at, tail_at = (places[role] for role in _REQUIRED)
    id_at, rank_at = places.get("id"), places.get("rank")
    labels = [
        (index, _LABEL_COLUMNS[name]) for index, name in enumerate(lower) if name in _LABEL_COLUMNS
    ]
    named = {*places.values(), *(index for index, _ in labels)}
    extra = [
        (index, name) for index, name in enumerate(names) if index not in named and ";" not in name
    ]
    passed_over = [
        (index, name) for index, name in enumerate(names) if index not in named and ";" in name
    ]
    base_iri = options.base_iri
    terms = _TermRows(options)

    def take(row: Row, parsed: Parsed) -> None:
        cells = row.cells
        if row.line == 1:
            return
        if len(cells) < len(names):
            # Trailing empty cells are often cut off.
            cells = cells + [""] * (len(names) - len(cells))
        elif len(cells) > len(names):
            raise _RowError(f"expected {len(names)} columns, came {len(cells)}")
        if not cells[head_at] or not cells[relation_at]:
            raise _RowError("an edge without node1 or label")
        if not cells[tail_at]:
            raise _RowError("an edge without node2")
        head = _id(cells[head_at], base_iri)
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
            Snak(_id(name, base_iri), read_kgtk_value(cells[index], base_iri=base_iri))
            for index, name in extra
            if cells[index]
        )
        for index, name in passed_over:
            if cells[index]:
                parsed.skipped[f"cells of the column {name}"] += 1
        statement = _statement(
            head,
            _id(raw_relation, base_iri),
            value,
            raw_id=cells[id_at] if id_at is not None else "",
            rank=cells[rank_at] if rank_at is not None else "",
            qualifiers=qualifiers,
        )
        parsed.statements.append(statement)

    yield from _rows_to_parsed(source, options, start, "\t", take, terms.finish)


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


def _add_label(
    terms: _TermRows,
    cells: list[str],
    index: int,
    role: str,
    places: tuple[int, int, int],
    base_iri: str | None,
    parsed: Parsed,
) -> None:
    if not cells[index]:
        return
    of = cells[places[_REQUIRED.index(role)]]
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
        terms.add(_id(of, base_iri), "label", text, language, parsed, relation=role == "relation")


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


def read_labels(
    source: ByteSource, options: LoadOptions, start: Mapping[str, Any], /
) -> Iterator[Parsed]:
    """Yields a file of names: id, label and, if there is one, a column of languages.

    Tabs or commas; a header is told by its names; KGTK edges of labels are read too.
    """
    first_line = source.head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0]
    delimiter = "\t" if b"\t" in first_line else ","
    first = [cell.strip().lower() for cell in _first_row(source, delimiter) or []]
    if "node1" in first and "node2" in first:
        yield from read_kgtk(source, options, start)
        return
    has_header = bool(first) and first[0] in _LABEL_FILE_HEADS
    terms = _TermRows(options)

    def take(row: Row, parsed: Parsed) -> None:
        if row.line == 1 and has_header:
            return
        if len(row.cells) not in (2, 3):
            raise _RowError(f"expected id, label and perhaps language, came {len(row.cells)} cells")
        id_ = _id(row.cells[0], options.base_iri)
        text, language = row.cells[1], row.cells[2].strip() if len(row.cells) == 3 else ""
        if language and not _LANGUAGE.fullmatch(language):
            parsed.skipped["third cells of a label file that are no language"] += 1
            language = ""
        if text[:1] == "'" and "'@" in text:
            value = read_kgtk_value(text)
            if isinstance(value, MonolingualText):
                text, language = value.text, value.language
        terms.add(id_, "label", text.strip(), language, parsed)

    yield from _rows_to_parsed(source, options, start, delimiter, take, terms.finish)
