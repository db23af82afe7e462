"""What an edition holds of Wikidata's documents, for a load that reads only what changed since.

A walk notes at which revision it read each document, and the load keeps that beside the edition.
A refresh walks again. The documents that are still of those revisions it takes from the store.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from graph_service import __version__
from graph_service.errors import InputError, StoreCorruptError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.statement import Statement
from graph_service.store.protocol import GraphReader, Record, Records, Store
from loaders.items import FULL, Parsed
from loaders.options import LoadOptions
from loaders.sparql.options import SOURCE, EndpointOptions

RECORD_KIND = "document-revisions"
_NO_LIMIT = 1 << 31
_READING = ("languages", "fallback_languages", "label_language")
_ANEW = "Load it anew with --replace."


@dataclass(frozen=True, slots=True)
class Revisions:
    """At which revisions documents were read, by entity id; those with rejects are left out.

    Attributes:
        complete: Of entities all of whose statements are in the edition.
        parts: Of entities of which those statements are in that lead into the walked part.
        dropped: The relations that were left out.
    """

    complete: Mapping[str, int]
    parts: Mapping[str, int]
    dropped: tuple[str, ...] = ()

    @classmethod
    def of_position(cls, position: Mapping[str, Any], /) -> Revisions:
        """Returns what the position of a walk says; nothing for that of another source."""
        return cls(
            position.get("whole", {}), position.get("parts", {}), tuple(position.get("dropped", ()))
        )

    def save(self, records: Records, graph: str, edition: str, /) -> None:
        """Saves them beside an edition."""
        fields = {"whole": self.complete, "parts": self.parts, "dropped": self.dropped}
        data = zlib.compress(orjson.dumps(fields))
        records.save_record(Record(RECORD_KIND, edition, graph, {"version": __version__}, data))


NONE_KNOWN = Revisions({}, {})


def forget_other_revisions(records: Records, graph: str, edition: str, /) -> None:
    """Deletes what is kept beside other editions of a graph."""
    for record in records.list_records(RECORD_KIND, graph=graph):
        if record.key != edition:
            records.delete_record(RECORD_KIND, record.key)


class Earlier:
    """An edition that a refresh begins with.

    Args:
        reader: Its store.
        info: The edition.
        revisions: Kept beside it.
    """

    def __init__(self, reader: GraphReader, info: GraphInfo, revisions: Revisions) -> None:
        self.info = info
        self.revisions = revisions
        self._reader = reader

    def statements(self, id_: str, /) -> list[Statement]:
        """Returns what the edition has of an entity's statements."""
        return self._reader.statements_of(self.info.edition, id_, limit=_NO_LIMIT)

    def piece(self, id_: str, /) -> Parsed:
        """Returns what a reader of its document gave, or of the part that is in."""
        piece = Parsed(documents={id_}, statements=self.statements(id_))
        entity = self._reader.entities(self.info.edition, [id_]).entities.get(id_)
        if entity is not None:
            piece.entities.append(entity)
        if piece.statements:
            piece.forms.add(FULL)
        return piece

    def options(self, requested: LoadOptions, /) -> LoadOptions:
        """Returns the options of the edition's load, with the manners of those asked for.

        Raises:
            InputError: One is asked for that decides the result and is not the edition's.
        """
        stored = self.info.options
        endpoint = self._same(
            requested.endpoint or EndpointOptions(), EndpointOptions(), stored["endpoint"]
        )
        reading: LoadOptions = self._same(
            requested, LoadOptions(), {name: stored[name] for name in _READING}
        )
        # What is on disk may be older than the edition.
        return replace(reading, endpoint=replace(endpoint, cache_dir=None))

    def _same(self, requested: Any, defaults: Any, stored: Mapping[str, Any]) -> Any:
        values: dict[str, Any] = {}
        for name, value in stored.items():
            if isinstance(value, list):
                value = tuple(value)
            if name == "drop_relations" and value is not None:
                value = Path(value)
            choice = getattr(requested, name)
            if choice not in (value, getattr(defaults, name)):
                raise InputError(
                    f"{self.info.edition} was loaded with {name} {_shown(value)}, and "
                    f"{_shown(choice)} is asked for; a refresh reads the same part again",
                    argument=name,
                    hint=f"Leave the option out. For another part: {_ANEW[0].lower()}{_ANEW[1:]}",
                )
            values[name] = value
        return replace(requested, **values)


def _shown(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) and value else str(value or "none")


def open_earlier(store: Store, graph: str, source: str, /) -> Earlier:
    """Returns the current edition of a graph, to be refreshed from what it was loaded from.

    Raises:
        GraphNotFoundError: There is no such graph.
        InputError: Its source tells no revisions, or it holds more than one load of it.
        StoreCorruptError: What is kept of its revisions is damaged.
    """
    match = SOURCE.fullmatch(source)
    if match is None or match[1] != "wikidata":
        why = (
            "DBpedia's endpoint tells no revisions of its entities"
            if match
            else "files tell nothing of what changed since they were loaded"
        )
        raise InputError(
            f"{source} can't be refreshed: {why}; wikidata:... can", argument="refresh", hint=_ANEW
        )
    info = store.graph(graph)
    if info.source != source:
        raise InputError(
            f"{info.edition} was loaded from {info.source}, not from {source}; a refresh reads "
            "its own source again",
            argument="source",
        )
    held = _more_than_its_source(info)
    if held:
        raise InputError(
            f"{info.edition} can't be refreshed: {held}, and a refresh would leave out what is not "
            "from its source",
            argument="refresh",
            hint=_ANEW,
        )
    return Earlier(store, info, _read_revisions(store, info))


def _more_than_its_source(info: GraphInfo) -> str:
    """Returns why an edition holds, or may hold, more than its source gave; empty if it does not."""
    if "adds_to" not in info.report:
        return "it was loaded by an older version, which does not say what it was added to"
    if info.report["adds_to"] is not None:
        return f"it was added to {info.report['adds_to']}"
    return "it was loaded with files beside" if len(info.options["files"]) > 1 else ""


def _read_revisions(records: Records, info: GraphInfo) -> Revisions:
    record = records.get_record(RECORD_KIND, info.edition)
    # Another version may read the same document in another way.
    if record is None or record.json.get("version") != __version__:
        return NONE_KNOWN
    try:
        return Revisions.of_position(orjson.loads(zlib.decompress(record.data)))
    except (zlib.error, ValueError, AttributeError) as error:
        raise StoreCorruptError(
            f"the revisions kept beside {info.edition} are damaged ({error}). {_ANEW}"
        ) from error
