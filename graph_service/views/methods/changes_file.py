"""A person's own changes, read from a file (``view create --changes FILE``).

JSON lines, one object a change, or a table separated by tabs whose first line names its columns.
Fields: ``statementId`` (or ``statement_id``), ``remove`` (true), ``head``, ``relation``, and one of

* ``value``: in JSON an entity id, or an encoded value such as ``["t","1952-03-11T00:00:00Z",11]``;
  in a table an entity id, or an encoded value if it begins with ``[``;
* ``text``: a plain string.

A statement id with ``remove`` removes it, with a relation or value changes it; head, relation and
value without a statement id add one. Empty lines, and lines that begin with ``#``, are skipped.

A file of the changes of many questions has the id of its question in each line: ``questionId``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import normalise_entity_id
from graph_service.model.values import EntityValue, StringValue, Value, decode_value
from graph_service.model.view_spec import Change

QUESTION = "questionId"
_NAMES = {"statement_id": "statementId", "question_id": QUESTION}
_FIELDS = ("statementId", "remove", "head", "relation", "value", "text")
_FLAGS = {"": False, "false": False, "0": False, "no": False, "true": True, "1": True, "yes": True}


def read_changes(path: Path, /) -> tuple[Change, ...]:
    """Returns the changes of a file.

    Raises:
        InputError: The file can't be read, holds no change, or a line is wrong; names the line and
            the field.
    """
    return parse_changes(_lines_of(path), source=str(path))


def read_question_changes(path: Path, /) -> dict[str, tuple[Change, ...]]:
    """Returns the changes of a file by the question that each line names, in the file's order.

    Raises:
        InputError: As for ``read_changes``, or a line names no question.
    """
    by_question: dict[str, list[Change]] = {}
    for where, fields in _records(_lines_of(path), str(path), (*_FIELDS, QUESTION)):
        question = fields.pop(QUESTION, None)
        if not isinstance(question, str | int) or isinstance(question, bool):
            raise InputError(
                f"{where}: field {QUESTION!r} should be the id of a question, got {question!r}",
                argument="changes",
            )
        by_question.setdefault(str(question), []).append(_change(fields, where))
    return {question: tuple(changes) for question, changes in by_question.items()}


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read changes from {path}: {error}", argument="changes") from error


def parse_changes(lines: Iterable[str], /, *, source: str = "changes") -> tuple[Change, ...]:
    r"""Returns the changes of some lines, JSON if the first begins with ``{``, else a table.

    >>> parse_changes(['{"statementId": "S1", "remove": true}'])[0].remove
    True
    >>> parse_changes(["head\trelation\tvalue", "Q1\tP2\tQ3"])[0].value
    EntityValue(id='Q3')
    """
    return tuple(_change(fields, where) for where, fields in _records(lines, source, _FIELDS))


def _records(
    lines: Iterable[str], source: str, known: tuple[str, ...]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields where each line stands and its fields; raises ``InputError`` if there is none."""
    count = 0
    columns: list[str] | None = None
    for line_number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        where = f"{source}, line {line_number}"
        if line.lstrip().startswith("{"):
            yield where, _json_fields(line, where, known)
        elif columns is None and not count:
            columns = [_column(name, where, known) for name in line.split("\t")]
            continue
        elif columns is None:
            raise InputError(
                f"{where}: expected a JSON object, got {line[:60]!r}", argument="changes"
            )
        else:
            yield where, _table_fields(line, columns, where)
        count += 1
    if not count:
        raise InputError(f"{source} holds no change", argument="changes")


def _column(name: str, where: str, known: tuple[str, ...]) -> str:
    field = name.strip()
    field = _NAMES.get(field, field)
    if field not in known:
        raise InputError(
            f"{where}: unknown column or field {name.strip()!r}; known are {', '.join(known)}",
            argument="changes",
        )
    return field


def _json_fields(line: str, where: str, known: tuple[str, ...]) -> dict[str, Any]:
    try:
        payload = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InputError(f"{where}: not JSON: {error}", argument="changes") from error
    fields: dict[str, Any] = {}
    for name, value in payload.items():
        field = _column(name, where, known)
        if field in fields:
            raise InputError(f"{where}: field {field!r} is given twice", argument="changes")
        if value is not None:
            fields[field] = value
    if not isinstance(fields.get("remove", False), bool):
        raise InputError(
            f"{where}: field 'remove' should be true or false, got {fields['remove']!r}",
            argument="changes",
        )
    return fields


def _table_fields(line: str, columns: list[str], where: str) -> dict[str, Any]:
    cells = line.split("\t")
    if len(cells) != len(columns):
        raise InputError(
            f"{where}: expected {len(columns)} cells ({', '.join(columns)}), got {len(cells)}",
            argument="changes",
        )
    fields: dict[str, Any] = {
        name: cell.strip() for name, cell in zip(columns, cells, strict=True) if cell.strip()
    }
    flag = str(fields.get("remove", "")).lower()
    if flag not in _FLAGS:
        raise InputError(
            f"{where}: field 'remove' should be true, false or empty, got {flag!r}",
            argument="changes",
        )
    fields["remove"] = _FLAGS[flag]
    value = fields.get("value", "")
    if value.startswith("["):
        try:
            fields["value"] = orjson.loads(value)
        except orjson.JSONDecodeError as error:
            raise InputError(
                f"{where}: field 'value' is not JSON: {error}", argument="changes"
            ) from error
    return fields


def _change(fields: dict[str, Any], where: str) -> Change:
    for name in ("statementId", "head", "relation", "text"):
        if name in fields and not isinstance(fields[name], str):
            raise InputError(
                f"{where}: field {name!r} should be text, got {fields[name]!r}", argument="changes"
            )
    if "value" in fields and "text" in fields:
        raise InputError(f"{where}: give either 'value' or 'text', not both", argument="changes")
    value: Value | None = None
    if "text" in fields:
        value = StringValue(fields["text"])
    elif "value" in fields:
        value = _value(fields["value"], where)
    change = Change(
        statement_id=fields.get("statementId"),
        remove=bool(fields.get("remove", False)),
        head=fields.get("head"),
        relation=fields.get("relation"),
        value=value,
    )
    if change.statement_id is None:
        for name in ("head", "relation"):
            if name not in fields:
                raise InputError(
                    f"{where}: field {name!r} is missing; without 'statementId' a line adds a "
                    "statement and needs head, relation and value",
                    argument="changes",
                )
        if value is None:
            raise InputError(f"{where}: field 'value' (or 'text') is missing", argument="changes")
    return change


def _value(value: Any, where: str) -> Value:
    if isinstance(value, str):
        return EntityValue(normalise_entity_id(value))
    if isinstance(value, list):
        try:
            return decode_value(orjson.dumps(value))
        except ValueError as error:
            raise InputError(f"{where}: field 'value': {error}", argument="changes") from error
    raise InputError(
        f"{where}: field 'value' should be an entity id or an encoded value such as "
        f'["s","text"], got {value!r}',
        argument="changes",
    )
