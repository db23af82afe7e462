"""XML's document type: what it may declare before a document is read.

Entities that name entities grow a document of some hundred bytes to gigabytes. Those of real
ontologies stand for a namespace each, and those are let through.
"""

from __future__ import annotations

import re
from xml.parsers import expat

_MAX_ENTITIES = 1_000
_MAX_ENTITY_CHARACTERS = 1_000
# XML has these already; a document may declare them again.
_OWN = frozenset(("amp", "lt", "gt", "quot", "apos"))
_CHUNK = 1 << 16
_DOCTYPE = re.compile(rb"<!DOCTYPE\s+([^\s>\[]+)")


class DocumentTypeError(Exception):
    """A document declares entities that are not read.

    Attributes:
        reason: Which, and what is expected.
        line: Where.
        root: Name of the first element, as the document type says it.
    """

    def __init__(self, reason: str, line: int, root: str | None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.root = root


class _RootReachedError(Exception):
    """What is looked at ends where the first element begins."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def check_document_type(data: bytes, /) -> None:
    """Raises ``DocumentTypeError`` for entities that could grow a document, or lead out of it.

    What is no XML passes: the parser that reads it says so.
    """
    _read_to_root(data)


def root_element(data: bytes, /) -> str | None:
    """Returns the name of a document's first element, its namespace and a space before it.

    None where there is none: what stands there is no XML, or was cut.
    """
    try:
        return _read_to_root(data)
    except DocumentTypeError as error:
        return error.root


def _read_to_root(data: bytes) -> str | None:
    parser = expat.ParserCreate(namespace_separator=" ")
    names: set[str] = set()

    def declare(
        name: str,
        is_parameter: bool,
        value: str | None,
        _base: str | None,
        _system_id: str | None,
        _public_id: str | None,
        _notation: str | None,
    ) -> None:
        names.add(name)
        problem = ""
        if is_parameter or value is None:
            problem = (
                f"the document type declares {name}, which is read from elsewhere or a parameter"
            )
        elif name not in _OWN and ("&" in value or "%" in value):
            problem = f"the entity {name} is made of other entities"
        elif len(value) > _MAX_ENTITY_CHARACTERS or len(names) > _MAX_ENTITIES:
            problem = f"the entity {name} is too long, or one of more than {_MAX_ENTITIES:,}"
        if problem:
            declared = _DOCTYPE.search(data)
            raise DocumentTypeError(
                f"not read, since such a document can grow without bounds: {problem}; expected "
                f"plain text of at most {_MAX_ENTITY_CHARACTERS:,} characters for each entity",
                parser.CurrentLineNumber,
                declared[1].decode("utf-8", "replace") if declared else None,
            )

    def begin(name: str, _attributes: dict[str, str]) -> None:
        raise _RootReachedError(name)

    parser.EntityDeclHandler = declare
    parser.StartElementHandler = begin
    try:
        for first in range(0, len(data), _CHUNK):
            parser.Parse(data[first : first + _CHUNK], False)
    except _RootReachedError as reached:
        return reached.name
    except (expat.ExpatError, LookupError, ValueError):
        # The last two of an encoding that expat does not know, or that has more bytes a character.
        pass
    return None
