"""Which article of a Wikipedia an entity has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import unquote

from graph_service.errors import InputError
from graph_service.model.statement import Entity
from loaders.source import open_source

_WIKIDATA_ITEM = re.compile(r"Q[1-9]\d*")


def article_of(entity: Entity, language: str, /) -> str | None:
    """Returns the title that an entity's id, or one that is the same as it, names.

    DBpedia's resources are called like their articles, English ones without a language in the
    address; a page of Wikipedia is its own name.

    >>> article_of(Entity("http://dbpedia.org/resource/New_York_City"), "en")
    'New York City'
    """
    host = "" if language == "en" else f"{language}."
    prefixes = [
        f"{scheme}://{address}"
        for scheme in ("https", "http")
        for address in (f"{language}.wikipedia.org/wiki/", f"{host}dbpedia.org/resource/")
    ]
    for id_ in (entity.id, *entity.same_as):
        for prefix in prefixes:
            if id_.startswith(prefix) and len(id_) > len(prefix):
                return unquote(id_[len(prefix) :]).replace("_", " ")
    return None


def wikidata_ids(entities: Iterable[Entity], /) -> dict[str, str]:
    """Returns the Wikidata id of each entity that is, or is the same as, an item of Wikidata's."""
    return {entity.id: known for entity in entities if (known := _wikidata_id(entity)) is not None}


def _wikidata_id(entity: Entity) -> str | None:
    return next(
        (id_ for id_ in (entity.id, *entity.same_as) if _WIKIDATA_ITEM.fullmatch(id_)), None
    )


def read_titles(path: Path, /) -> Mapping[str, str]:
    """Returns the titles of a table of entity and title, with a tab between.

    Raises:
        InputError: A line has another form, or the file can't be read.
    """
    titles: dict[str, str] = {}
    with open_source(path) as source:
        data, problem = source.read_all(what="a table of titles", instead="give a shorter one")
    if problem:
        raise InputError(f"{path}: {problem}", argument="titles")
    for at_line, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not line.strip():
            continue
        columns = line.decode("utf-8", "replace").rstrip("\r").split("\t")
        if len(columns) != 2 or not all(column.strip() for column in columns):
            raise InputError(
                f"{path}, line {at_line}: expected entity and title with a tab between",
                argument="titles",
            )
        titles[columns[0].strip()] = columns[1].strip().replace("_", " ")
    return titles
