"""What clients learn of where a graph came from: names of files, and nothing else of the server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PureWindowsPath
from typing import Any

from graph_service.model.identity import digest

_ADDRESS = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[^/@]*@)?(?P<rest>.*)", re.IGNORECASE)
_ABSOLUTE = re.compile(r"[/\\~]|[a-z]:[/\\]", re.IGNORECASE)
_FOLDERS = re.compile(r"(?<![\w/:])/(?:[^\s/:]+/)+")
_DATABASES = ("bolt", "neo4j")
_OWNER_CHARACTERS = 12
_FILES = frozenset(
    {
        "source", "file", "path", "rejects_path", "label_files", "same_as", "type_files", "description_files",
        "qualifier_file", "entity_ids", "relation_ids", "entities_file", "subclasses", "drop_relations",
        "mapping", "titles", "endpoint", "entity_data", "wikidata_api", "contact", "neo4j", "address",
    }
)  # fmt: skip
"""Options of a load, and parts of its report, that name files and addresses."""


def source_name(source: str, /) -> str:
    """Returns the name of a source without its folders, user, password or database server.

    >>> source_name("/srv/dumps/films.nt"), source_name("wikidata:Q42")
    ('films.nt', 'wikidata:Q42')
    >>> source_name("bolt://10.0.0.7:7687"), source_name("https://me:secret@example.org/sparql")
    ('neo4j', 'https://example.org/sparql')
    """
    address = _ADDRESS.fullmatch(source)
    if address is None:
        # A Windows path may have slashes of both kinds. A relative one tells nothing of the server.
        return PureWindowsPath(source).name or source if _ABSOLUTE.match(source) else source
    scheme = address["scheme"].lower()
    if scheme.partition("+")[0] in _DATABASES:
        return "neo4j"
    return source_name(address["rest"]) if scheme == "file" else f"{scheme}://{address['rest']}"


def with_source_names(values: Mapping[str, Any], /) -> dict[str, Any]:
    """Returns options or a report with the names of sources in the place of their paths."""
    return {
        name: _FOLDERS.sub("", value)
        if name == "reason" and isinstance(value, str)
        else _named(value, is_file=name in _FILES)
        for name, value in values.items()
    }


def owner_name(owner: str, /) -> str:
    """Returns a name for a process that loads, without that of its machine."""
    return digest((owner,), person=b"owner").hex()[:_OWNER_CHARACTERS]


def _named(value: Any, *, is_file: bool) -> Any:
    match value:
        case str():
            return source_name(value) if is_file else value
        case Mapping():
            return with_source_names(value)
        case list() | tuple():
            return [_named(item, is_file=is_file) for item in value]
    return value
