"""What a table's first row says of its columns, where each row is a statement."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_service.errors import InputError
from loaders.options import LoadOptions
from loaders.tables.date_cells import read_date_cell
from loaders.tables.number_cells import read_number
from loaders.tables.rows import ColumnsError, Row
from loaders.tables.table_rows import header_of

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
        "src",
        "von",
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
    "tail": [
        *("tail", "object", "obj", "o", "target", "to", "dst", "dest", "nach", "node2", "value"),
        *("t", "end"),
    ],
    "id": ["id", "edge_id", "statement_id"],
    "rank": ["rank"],
}
_ROLE_OF_NAME = {name: role for role, names in _KNOWN_NAMES.items() for name in names}
_END_NOUN = re.compile(r"(?P<end>\w{2,}?)[ _-](?:node|vertex|entity|item|id|uri|iri)")
"""A head or a tail whose header says what it is: from_node, source_id."""
_NUMBERED_END = re.compile(r"(?:node|vertex|entity|item|concept|id)[ _-]?(?P<number>[12])")
_PROPERTY = re.compile(r"P[1-9]\d*|<?https?://\S+|\w+:\w+")
_MAY_BE_NAMES = frozenset({"label"})
"""Headers of a relation, or of what a row is called."""
_FEWEST_NAMES = 3
# neo4j-admin import: ":START_ID(Person)", ":TYPE", "roles:string[]".
_NEO4J = re.compile(r":(?P<role>start_id|end_id|type)(?:\((?P<space>[^()]*)\))?", re.I)
_NEO4J_ROLES = {"start_id": "head", "end_id": "tail", "type": "relation"}
_NEO4J_TYPE = re.compile(r"(?P<name>[^:]+):[a-z]+(?:\[\])?", re.I)
# Words that stand in headers and seldom alone in data.
_HEADER_WORDS = frozenset(
    {
        *(word for name in _ROLE_OF_NAME if len(name) > 1 for word in name.split("_")),
        *("node", "nodes", "type", "name", "weight", "key", "entity", "verb", "src", "dst", "dest"),
        *("column", "col", "uri", "iri", "title", "kind", "since", "date"),
    }
)
_WORD = re.compile(r"[A-Za-z][a-z]*|[A-Z]+")
_NAME = re.compile(r"[?$]?[A-Za-z][A-Za-z0-9 _.-]{0,39}")
_COLUMN_NAME = re.compile(r"(?![A-Za-z]+\d+$)[^\W\d_][\w ./()%-]{1,39}")
"""A column's name in any script; Q42 and P31 are ids."""


@dataclass(frozen=True, slots=True)
class Extra:
    """A column beside those of the statement: a qualifier.

    Attributes:
        index: Of the column.
        relation: Of the qualifier.
    """

    index: int
    relation: str


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column is what, by index.

    Attributes:
        relation: None in a list of edges that all have ``edge_relation``.
        width: Cells of a row.
        rest: Whether pairs of qualifiers follow ``width``.
        extras: Columns that are qualifiers.
        passed_over: Columns that are not read, with their names.
        head_prefix, tail_prefix: What is put before ids, of the name of an id space of Neo4j's.
    """

    head: int
    relation: int | None
    tail: int
    width: int
    has_header: bool
    id: int | None = None
    rank: int | None = None
    language: int | None = None
    rest: bool = False
    edge_relation: str = ""
    extras: tuple[Extra, ...] = ()
    passed_over: tuple[Extra, ...] = ()
    head_prefix: str = ""
    tail_prefix: str = ""


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


def read_layout(rows: Sequence[Sequence[str]], options: LoadOptions, name: str, /) -> Layout:
    """Returns which column of a table is what.

    Args:
        rows: The first rows, the header among them if there is one.
        options: What is said of the columns.
        name: Of the file, for errors.

    Raises:
        InputError: The options name a column that is not there.
        ColumnsError: The first row does not say it, or looks like a header that is not known.
    """
    first = rows[0]
    names = [cell.strip().lower().lstrip("?") for cell in first]
    if any("=" in column for column in options.columns):
        return _layout_by_name(first, names, options, name)
    known = _roles_of(rows)
    if options.columns:
        return _layout_by_position(known, options)
    if options.header is False:
        known = [None] * len(names)
    counts = {role: known.count(role) for role in _REQUIRED}
    if all(count == 1 for count in counts.values()):
        return _layout_by_header(first, known, "")
    if counts == {"head": 1, "relation": 0, "tail": 1}:
        if options.edge_relation is not None:
            return _layout_by_header(first, known, options.edge_relation)
        raise _no_relation(first, known, name)
    if options.edge_relation is not None:
        raise ColumnsError(
            f"{name} is no list of edges with a header such as source,target; its first row is "
            f"{', '.join(first)}",
            argument="edge_relation",
            hint="Name the columns: --columns head=...,relation=...,tail=...",
        )
    if len(first) == 3:
        if options.header is None and _looks_like_header(rows):
            raise ColumnsError(
                f"the first row of {name} looks like a header ({', '.join(first)}), and does not "
                "say which column is head, relation and tail",
                argument="columns",
                hint=f"Say it by name: --columns head={first[0]},relation={first[1]},"
                f"tail={first[2]}. If the first row is a statement: --columns head,relation,tail. "
                f"If each row is a thing: --row {quoted(first[0])}.",
            )
        return Layout(0, 1, 2, width=3, has_header=bool(options.header))
    raise _unknown_columns(rows, name)


def edge_columns(rows: Sequence[Sequence[str]], /) -> tuple[int, int] | None:
    """Returns the columns of head and tail where a header names both and no relation; else None.

    Args:
        rows: The first rows of a table, its header first.
    """
    known = _roles_of(rows)
    if [known.count(role) for role in _REQUIRED] != [1, 0, 1]:
        return None
    return known.index("head"), known.index("tail")


def quoted(name: str, /) -> str:
    """Returns a column's name as a shell takes it."""
    return name if re.fullmatch(r"[\w.-]+", name) else f'"{name}"'


def _unknown_columns(rows: Sequence[Sequence[str]], name: str) -> ColumnsError:
    first = rows[0]
    shown = ", ".join(cell[:40] for cell in first[:8]) + (", ..." if len(first) > 8 else "")
    header, _ = header_of([Row(list(cells), line, 0) for line, cells in enumerate(rows)], "")
    hints = [
        f"If each row is a thing: --row {quoted(header[0])}, the column that names it; load --look "
        f"{name} shows what the columns become."
    ]
    if len(header) == 1:
        hints.insert(
            0,
            "If a character separates its cells, write a line before the first that says which, "
            "such as sep=^.",
        )
    elif len(header) > 2:
        columns = f"--columns head,relation,tail{',-' * (len(header) - 3)}"
        hints.append(f"If each row is a statement: for instance {columns}.")
    return ColumnsError(
        f"{name} has {len(first)} columns without names that are known ({shown}); say what a row "
        "is: a thing, or a statement with head, relation and tail",
        argument="columns",
        hint=" ".join(hints),
    )


def _no_relation(first: Sequence[str], known: Sequence[str | None], name: str) -> ColumnsError:
    head, tail = first[known.index("head")], first[known.index("tail")]
    others = [cell for cell, role in zip(first, known, strict=True) if role is None]
    hint = "Say what every edge means, for instance --edge-relation knows"
    if others:
        hint += (
            f"; or that a column says it: --columns head={head},relation={others[0]},tail={tail}"
        )
    return ColumnsError(
        f"{name} is a list of edges: its header names a head ({head}) and a tail ({tail}), and no "
        "relation",
        argument="edge_relation",
        hint=f"{hint}.",
    )


def _roles_of(rows: Sequence[Sequence[str]]) -> list[str | None]:
    """Returns the role of each column by its header, of which the cells may leave a doubt."""
    header, *others = rows
    roles = [_role_of(cell.strip().lower().lstrip("?")) for cell in header]
    for index, name in enumerate(header):
        if name.strip().lower() in _MAY_BE_NAMES and _are_no_relations(others, index):
            roles[index] = None
    if any(_NEO4J.fullmatch(name.strip()) for name in header):
        # Properties of relationships may be called source or relation too.
        return [
            role if role not in _REQUIRED or _NEO4J.fullmatch(name.strip()) else None
            for name, role in zip(header, roles, strict=True)
        ]
    if (
        len(roles) == len(_REQUIRED)
        and roles[1] == "relation"
        and all(len(name.strip()) > 1 and _NAME.fullmatch(name.strip()) for name in header)
        and not any(cell in row for row in others for cell in header)
        and _come_again(others, 1)
    ):
        missing = [role for role in _REQUIRED if role not in roles]
        if len(missing) == 1 and roles == [
            role if role != missing[0] else None for role in _REQUIRED
        ]:
            # Of item, property, value the first is what the others are said of.
            return list(_REQUIRED)
    return roles


def _come_again(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Returns whether the cells of a column are relations: ids of properties, or there again."""
    cells = [row[index].strip() for row in rows if index < len(row)]
    are_ids = all(_PROPERTY.fullmatch(cell) for cell in cells)
    return bool(cells) and (are_ids or len(set(cells)) < len(cells))


def _are_no_relations(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Returns whether the cells of a column are empty, or names of which none comes again."""
    cells = [row[index].strip() for row in rows if index < len(row)]
    filled = [cell for cell in cells if cell]
    return bool(cells) and (
        not filled or (len(filled) >= _FEWEST_NAMES and len(set(filled)) == len(filled))
    )


def _role_of(name: str) -> str | None:
    if neo4j := _NEO4J.fullmatch(name):
        return _NEO4J_ROLES[neo4j["role"].lower()]
    if numbered := _NUMBERED_END.fullmatch(name):
        return "head" if numbered["number"] == "1" else "tail"
    role = _ROLE_OF_NAME.get(name)
    if role is None and (described := _END_NOUN.fullmatch(name)):
        role = _ROLE_OF_NAME.get(described["end"])
        return role if role in ("head", "tail") else None
    return role


def _looks_like_header(rows: Sequence[Sequence[str]]) -> bool:
    """Returns whether the first cells are names of columns, which come nowhere else.

    Two of them are words that stand in headers; or two rows and more follow, and all are written
    alike, all with a capital or none, or two without one stand over cells that all have one. The
    relation of a statement comes again, or is written otherwise than its ends.
    """
    first, others = [cell.strip() for cell in rows[0]], rows[1:]
    if any(_stands_over_numbers(rows, index) for index in range(len(first))):
        return True
    cells = {cell.strip() for other in others for cell in other}
    if not cells.isdisjoint(first):
        return False
    if (
        len(first) == len(_REQUIRED)
        and len(first[1]) > 1
        and _role_of(first[1].lower()) == "relation"
    ):
        return True
    speaking = sum(
        not _HEADER_WORDS.isdisjoint(word.lower() for word in _WORD.findall(cell)) for cell in first
    )
    if speaking >= 2 and all(_NAME.fullmatch(cell) for cell in first):
        return True
    is_written_alike = len({cell[:1].isupper() for cell in first}) == 1
    is_written_alike |= sum(_stands_over_capitals(rows, index) for index in range(len(first))) > 1
    names_columns = len(set(first)) == len(first) and all(map(_COLUMN_NAME.fullmatch, first))
    return len(others) > 1 and is_written_alike and names_columns


def _stands_over_capitals(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Returns whether the first cell of a column has no capital, and all others begin with one."""
    first, *others = (row[index].strip() for row in rows if index < len(row))
    return first[:1].islower() and all(cell[:1].isupper() for cell in others if cell)


def _stands_over_numbers(rows: Sequence[Sequence[str]], index: int) -> bool:
    """Returns whether the first cell of a column is a word and most others are numbers or dates."""
    first, *others = (row[index].strip() for row in rows if index < len(row))
    measured = sum(
        read_number(cell) is not None or read_date_cell(cell) is not None for cell in others
    )
    is_word = first.isalpha() and read_date_cell(first) is None
    return is_word and len(others) > 1 and 5 * measured >= 4 * len(others)


def _layout_by_name(
    first: Sequence[str], names: Sequence[str], options: LoadOptions, name: str
) -> Layout:
    indexes: dict[str, int] = {}
    for column in options.columns:
        role, _, title = column.partition("=")
        if role in ("-", "qualifiers"):
            raise InputError(f"{role} is given by position only", argument="columns")
        title = title.strip().lower().lstrip("?")
        if title not in names:
            raise InputError(
                f"{name} has no column {title!r}; it has {', '.join(first)}", argument="columns"
            )
        indexes[role] = names.index(title)
    return _layout_of(
        indexes,
        width=len(first),
        has_header=True,
        passed_over=_extras(first, tuple(indexes.values())),
    )


def _layout_by_position(known: Sequence[str | None], options: LoadOptions) -> Layout:
    indexes = {
        role: index for index, role in enumerate(options.columns) if role not in ("-", "qualifiers")
    }
    rest = options.columns[-1] == "qualifiers"
    has_header = options.header
    if has_header is None:
        has_header = len(known) > max(indexes[role] for role in _REQUIRED) and all(
            known[indexes[role]] == role for role in _REQUIRED
        )
    width = len(options.columns) - 1 if rest else len(options.columns)
    return _layout_of(indexes, width=width, has_header=has_header, rest=rest)


def _layout_by_header(
    first: Sequence[str], known: Sequence[str | None], edge_relation: str
) -> Layout:
    indexes = {role: known.index(role) for role in (*_REQUIRED, "id", "rank") if role in known}
    extras = _extras(first, tuple(indexes.values()))
    spaces = {
        role: f"{match['space']}/"
        for role in ("head", "tail")
        if (match := _NEO4J.fullmatch(first[indexes[role]].strip())) and match["space"]
    }
    is_neo4j = bool(_NEO4J.fullmatch(first[indexes["head"]].strip()))
    # Of other tables with a relation, what further columns mean is not known.
    are_qualifiers = is_neo4j or bool(edge_relation)
    return _layout_of(
        indexes,
        width=len(first),
        has_header=True,
        edge_relation=edge_relation,
        extras=extras if are_qualifiers else (),
        passed_over=() if are_qualifiers else extras,
        spaces=spaces,
    )


def _extras(first: Sequence[str], used: Sequence[int]) -> tuple[Extra, ...]:
    extras = []
    for index, cell in enumerate(first):
        name = cell.strip()
        if index not in used and name:
            typed = _NEO4J_TYPE.fullmatch(name)
            extras.append(Extra(index, typed["name"] if typed else name))
    return tuple(extras)


def _layout_of(
    indexes: Mapping[str, int],
    *,
    width: int,
    has_header: bool,
    rest: bool = False,
    edge_relation: str = "",
    extras: tuple[Extra, ...] = (),
    passed_over: tuple[Extra, ...] = (),
    spaces: Mapping[str, str] | None = None,
) -> Layout:
    spaces = spaces or {}
    return Layout(
        indexes["head"],
        indexes.get("relation"),
        indexes["tail"],
        width,
        has_header,
        id=indexes.get("id"),
        rank=indexes.get("rank"),
        language=indexes.get("language"),
        rest=rest,
        edge_relation=edge_relation,
        extras=extras,
        passed_over=passed_over,
        head_prefix=spaces.get("head", ""),
        tail_prefix=spaces.get("tail", ""),
    )
