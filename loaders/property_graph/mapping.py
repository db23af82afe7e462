"""The mapping file: which nodes are entities, which relationships and properties statements.

A TOML file; ``docs/how-to/load-neo4j.md`` has one with all it can say. Errors name the file and the line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import normalise_entity_id
from graph_service.model.serialise import to_plain

OTHERS = "*"


@dataclass(frozen=True, slots=True)
class NodeMapping:
    """Nodes of one label as entities.

    Attributes:
        label: The label; a node that has several belongs to the first in the file.
        id: The property that is the id, a text or a number, unique among these nodes.
        iri: What is put before it.
        names: Properties of names: the first that a node has is its label, the others aliases.
        description: The property of its description.
        language: Of names and description.
        type: The entity that ``Mapping.type_relation`` leads to.
        literals: Properties that become statements; None for all that are not used otherwise.
        relations: Their relations, where not their own names.
        line: Of the file.
    """

    label: str
    id: str
    iri: str = ""
    names: tuple[str, ...] = ()
    description: str | None = None
    language: str = "en"
    type: str = ""
    literals: tuple[str, ...] | None = None
    relations: Mapping[str, str] = field(default_factory=dict)
    line: int = 0

    def entity_id(self, value: object, /) -> str | None:
        """Returns the id of a node by its id property; None where it is no text or number."""
        if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value == "":
            return None
        return normalise_entity_id(f"{self.iri}{value}")


@dataclass(frozen=True, slots=True)
class RelationshipMapping:
    """Relationships of one type as statements.

    Attributes:
        type: The type; ``*`` for all that are not named.
        relation: The relation; None for the type's own name.
        reverse: Whether the end node is the head.
        qualifiers: Properties that become qualifiers; None for all.
        relations: Their relations, where not their own names.
        line: Of the file.
    """

    type: str
    relation: str | None = None
    reverse: bool = False
    qualifiers: tuple[str, ...] | None = None
    relations: Mapping[str, str] = field(default_factory=dict)
    line: int = 0


@dataclass(frozen=True, slots=True)
class GraphMapping:
    """What is read of a graph, and as what.

    Attributes:
        type_relation: The relation from each entity to its label's ``type``; None for none.
        nodes, relationships: In the order of the file.
        path: The file.
    """

    nodes: tuple[NodeMapping, ...]
    relationships: tuple[RelationshipMapping, ...] = ()
    type_relation: str | None = None
    path: str = ""

    def to_json(self) -> dict[str, Any]:
        """Returns what decides the result, for the store to compare a resumed load with."""
        plain: dict[str, Any] = to_plain(self)
        del plain["path"]
        for row in (*plain["nodes"], *plain["relationships"]):
            del row["line"]
        return plain

    def error(self, line: int, text: str, /, *, hint: str | None = None) -> InputError:
        """Returns an error about a line of the file."""
        return _error(self.path, line, text, hint=hint)


def read_mapping(path: Path, /) -> GraphMapping:
    """Returns the mapping of a file.

    Raises:
        InputError: The file can't be read, is no TOML, or says something that is not known; names
            file and line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"not UTF-8: {error.reason}"
        raise InputError(f"can't read the mapping {path}: {reason}", argument="mapping") from error
    try:
        import tomllib

        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        location = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = int(location[1]) if location else text.count("\n") + 1
        reason = str(error)[: location.start()] if location else str(error)
        raise _error(str(path), line, f"not TOML: {reason}") from error
    except RecursionError as error:
        raise InputError(f"{path}: TOML nested too deeply", argument="mapping") from error
    return _Reader(path, text).mapping(fields)


def _error(path: str, line: int, text: str, *, hint: str | None = None) -> InputError:
    return InputError(f"{path}, line {line}: {text}", argument="mapping", hint=hint)


class _Reader:
    """Checks the fields of a file and finds their lines."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = str(path)
        self._lines = text.splitlines()

    def mapping(self, fields: dict[str, Any]) -> GraphMapping:
        known = ("base_iri", "language", "type_relation", "nodes", "relationships")
        self._check_known(fields, known, ())
        base_iri = self._text(fields, "base_iri", ()) or ""
        language = (self._text(fields, "language", ()) or "en").lower()
        type_relation = self._id(fields, "type_relation", ())
        nodes = self._tables(fields, "nodes")
        if not nodes:
            raise self._fault(
                (),
                "nodes",
                "the mapping names no nodes",
                hint='Add a table such as [nodes.Person] with id = "name".',
            )
        return GraphMapping(
            nodes=tuple(
                self._node(label, table, base_iri, language) for label, table in nodes.items()
            ),
            relationships=tuple(
                self._relationship(type_, table)
                for type_, table in self._tables(fields, "relationships").items()
            ),
            type_relation=type_relation,
            path=self._path,
        )

    def _node(self, label: str, table: dict[str, Any], base_iri: str, language: str) -> NodeMapping:
        at = ("nodes", label)
        known = ("id", "iri", "name", "description", "language", "type", "literals", "relations")
        self._check_known(table, known, at)
        if "id" not in table:
            raise self._fault(
                at, "", f"nodes {label!r} have no id; name the property that identifies a node"
            )
        names = table.get("name", [])
        if isinstance(names, str):
            names = [names]
            table = {**table, "name": names}
        return NodeMapping(
            label=label,
            id=self._text(table, "id", at) or "",
            iri=self._text(table, "iri", at, empty=True) if "iri" in table else base_iri,  # type: ignore[arg-type]
            names=self._list(table, "name", at) or (),
            description=self._text(table, "description", at),
            language=(self._text(table, "language", at) or language).lower(),
            type=self._id(table, "type", at) or label,
            literals=self._list(table, "literals", at),
            relations=self._renamed(table, at),
            line=self._line(at, ""),
        )

    def _relationship(self, type_: str, table: dict[str, Any]) -> RelationshipMapping:
        at = ("relationships", type_)
        self._check_known(table, ("relation", "reverse", "qualifiers", "relations"), at)
        reverse = table.get("reverse", False)
        if not isinstance(reverse, bool):
            raise self._fault(at, "reverse", f"expected reverse = true or false, got {reverse!r}")
        if type_ == OTHERS and "relation" in table:
            raise self._fault(
                at, "relation", "all other types have relations of their own names; name the type"
            )
        return RelationshipMapping(
            type=type_,
            relation=self._id(table, "relation", at),
            reverse=reverse,
            qualifiers=self._list(table, "qualifiers", at),
            relations=self._renamed(table, at),
            line=self._line(at, ""),
        )

    def _tables(self, fields: dict[str, Any], name: str) -> dict[str, dict[str, Any]]:
        tables = fields.get(name, {})
        if not isinstance(tables, dict):
            raise self._fault((), name, f"expected tables such as [{name}.NAME]")
        for key, table in tables.items():
            if not isinstance(table, dict):
                raise self._fault((name,), key, f"expected a table [{name}.{key}], got {table!r}")
            if not _is_name(key):
                raise self._fault((name,), key, f"{key!r} can be no name in Neo4j")
        return tables

    def _check_known(
        self, table: dict[str, Any], known: tuple[str, ...], at: tuple[str, ...]
    ) -> None:
        for key in table:
            if key not in known:
                raise self._fault(at, key, f"{key!r} is not known; known are {', '.join(known)}")

    def _text(
        self, table: dict[str, Any], key: str, at: tuple[str, ...], *, empty: bool = False
    ) -> str | None:
        value = table.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self._fault(at, key, f"expected a text as {key}, got {value!r}")
        if not (value or empty):
            raise self._fault(at, key, f"{key} is empty: give a text, or leave it out")
        if not _is_name(value) and not empty:
            raise self._fault(at, key, f"{value!r} can be no name in Neo4j")
        return value

    def _id(self, table: dict[str, Any], key: str, at: tuple[str, ...]) -> str | None:
        text = self._text(table, key, at)
        return None if text is None else normalise_entity_id(text)

    def _list(self, table: dict[str, Any], key: str, at: tuple[str, ...]) -> tuple[str, ...] | None:
        values = table.get(key)
        if values is None:
            return None
        if not isinstance(values, list) or not all(
            isinstance(value, str) and _is_name(value) for value in values
        ):
            raise self._fault(at, key, f"expected a list of properties as {key}, got {values!r}")
        return tuple(values)

    def _renamed(self, table: dict[str, Any], at: tuple[str, ...]) -> dict[str, str]:
        relations = table.get("relations", {})
        if not isinstance(relations, dict):
            raise self._fault(at, "relations", "expected a table of property = relation")
        for key, value in relations.items():
            if not isinstance(value, str) or not value:
                raise self._fault(
                    (*at, "relations"), key, f"expected a relation as text, got {value!r}"
                )
        return {key: normalise_entity_id(value) for key, value in relations.items()}

    def _fault(
        self, at: tuple[str, ...], key: str, text: str, *, hint: str | None = None
    ) -> InputError:
        return _error(self._path, self._line(at, key), text, hint=hint)

    def _line(self, at: tuple[str, ...], key: str) -> int:
        """Returns the line where a key of a table is, as near as lines alone tell it."""
        header = _header(at) if at else None
        inside = header is None
        begin = 1
        for at_line, line in enumerate(self._lines, 1):
            if header is not None and header(line):
                inside, begin = True, at_line
                if not key:
                    return at_line
            elif key and (
                _header((*at, key))(line)
                or (inside and re.match(_key(key) + r"\s*[=.]", line.strip()))
            ):
                return at_line
            elif (
                inside and at_line > begin and line.lstrip().startswith("[") and header is not None
            ):
                inside = False
        return begin


def _key(name: str) -> str:
    return rf"""["']?{re.escape(name)}["']?"""


def _header(at: tuple[str, ...]) -> Callable[[str], re.Match[str] | None]:
    return re.compile(r"\s*\[\s*" + r"\s*\.\s*".join(map(_key, at)) + r"\s*[].]").match


def _is_name(name: str) -> bool:
    # Backslashes could be read as escapes before names are quoted.
    return bool(name) and "\x00" not in name and "\\" not in name
