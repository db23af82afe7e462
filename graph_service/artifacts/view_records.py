"""The records of views in a store: added, listed, read by id or name, edited and deleted.

A name is unique among the views of one state (``edges`` fingerprint) of a graph. Every write is
made over the record that was read, so that none undoes what another process has written since.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from graph_service.errors import InputError, StoreError, ViewNotFoundError
from graph_service.model.serialise import from_plain, to_plain
from graph_service.model.stored_view import Deviation, StoredView, ViewReport, ViewState
from graph_service.model.view_spec import ViewSpec
from graph_service.store.decoding import decodes
from graph_service.store.lease import is_gone, owner_name
from graph_service.store.protocol import Record, Records

KIND = "view"
MAX_VIEW_NAME = 200
ABANDONED_S = 120.0
"""Silence after which a view that another machine was making counts as failed."""
MAX_TRIES = 100
"""Of a write over a record that others write at the same moment."""
TRY_PAUSE_S = 0.02
"""Between two tries: a member of a cluster may not have yet what another has written."""


class ViewRecords:
    """Keeps views as records of a store.

    Args:
        records: The store's records.
    """

    def __init__(self, records: Records, /) -> None:
        self._records = records

    def list(self, graph: str, /, *, edges: str) -> list[StoredView]:
        """Returns the views of a graph by creation, then id.

        Args:
            graph: Name of the graph.
            edges: Its ``edges`` fingerprint now, from which ``stale`` is told.
        """
        records = self._records.list_records(KIND, graph=graph)
        views = [_stored(record, edges) for record in records]
        return sorted(views, key=lambda view: (view.created_at, view.id))

    def get(self, graph: str, reference: str, /, *, edges: str) -> StoredView:
        """Returns a view of a graph by id or name.

        Raises:
            InputError: Version 0.1.0 gave the name to several views.
            ViewNotFoundError: There is none; names those there are.
        """
        record = self._records.get_record(KIND, record_key(graph, reference), with_data=False)
        if record is not None:
            return _stored(record, edges)
        views = self.list(graph, edges=edges)
        named = [view for view in views if view.name == reference]
        if named:
            # A name may stand for a stale view too; the one of today's base comes first.
            first = min(named, key=lambda view: (view.stale, view.created_at, view.id))
            alike = repeated_names(view for view in named if view.edges == first.edges)
            if alike:
                (ids,) = alike.values()
                raise InputError(
                    f"graph {graph!r} has {len(ids)} views named {reference!r}: {', '.join(ids)}",
                    argument="view",
                    hint=f"Ask by id, or name them apart: graph-service view update {ids[-1]} "
                    f"--graph {graph} --name NAME",
                )
            return first
        known = ", ".join(view.name or view.id for view in views[:10])
        others = f"; it has: {known}" if known else "; it has no view yet"
        raise ViewNotFoundError(
            f"graph {graph!r} has no view {reference!r}{others}", argument="view"
        )

    def delete(self, graph: str, reference: str, /, *, edges: str) -> str:
        """Deletes a view and returns its id; raises ``ViewNotFoundError`` if there is none."""
        view = self.get(graph, reference, edges=edges)
        self._records.delete_record(KIND, record_key(graph, view.id))
        return view.id

    def reuse(
        self, graph: str, view_id: str, /, *, edges: str, name: str | None = None, note: str = ""
    ) -> StoredView | None:
        """Returns the view of an id, ``reused``; None if there is none.

        The view gets the name and the note where it has none yet.

        Raises:
            InputError: The name is another view's, or none that a view can have.
        """
        if name is not None:
            _require_name(name)

        def fill(fields: Mapping[str, Any]) -> Mapping[str, Any]:
            labels = {"name": name, "note": note}
            return {key: value for key, value in labels.items() if value and not fields[key]}

        record = self.edit(graph, view_id, fill, edges=edges)
        if record is not None:
            return replace(_stored(record, edges), reused=True)
        if name is not None:
            self._require_free(graph, name, view_id, states={edges})
        return None

    def advance(self, view: StoredView, /, **changes: Any) -> bool:
        """Notes how far the making of a view has come; False if it is no longer being made."""
        changed = {**to_plain(changes), "beat": time.time()}
        record = self.edit(
            view.graph,
            view.id,
            lambda fields: changed if fields["state"] == ViewState.RUNNING else {},
            edges=view.edges,
        )
        return record is not None and record.json["state"] == ViewState.RUNNING

    def describe(
        self,
        graph: str,
        reference: str,
        /,
        *,
        edges: str,
        name: str | None = None,
        note: str | None = None,
    ) -> StoredView:
        """Gives a view another name or note and returns it; None leaves what it has.

        Raises:
            InputError: Another view of the graph has the name.
            ViewNotFoundError: There is no such view.
        """
        if name is None and note is None:
            raise InputError("give the view another name or another note", argument="name")
        if name is not None:
            _require_name(name)
        view = self.get(graph, reference, edges=edges)
        changes = {
            key: value for key, value in (("name", name), ("note", note)) if value is not None
        }
        record = self.edit(graph, view.id, lambda _: changes, edges=edges)
        if record is None:
            raise deleted_meanwhile(view)
        return _stored(record, edges)

    def add(self, made: StoredView, data: bytes, /) -> tuple[StoredView, bool]:
        """Stores a view and returns it, and True; or the one that is there, and False.

        A view that is there keeps its name and note. One that is done is never made anew, and one
        that is being made is not begun again.

        Raises:
            InputError: The name is another view's, or none that a view can have.
        """
        if made.name is not None:
            _require_name(made.name)
        key = record_key(made.graph, made.id)
        for _ in range(MAX_TRIES):
            record = self._records.get_record(KIND, key, with_data=False)
            known = None if record is None else _stored(record, made.edges)
            if known is not None and known.state in (ViewState.DONE, made.state):
                reused = self.reuse(
                    made.graph, made.id, edges=made.edges, name=made.name, note=made.note
                )
                if reused is None:
                    # It was deleted since.
                    continue
                return reused, False
            name = None
            stored = made
            if known is not None:
                stored = replace(
                    made, name=known.name or made.name, note=known.note or made.note, reused=True
                )
            if stored.name and (known is None or not known.name):
                name = _unique_name(made.edges, stored.name)
                self._require_free(made.graph, stored.name, made.id, states={made.edges})
            version = "" if record is None else record.version
            new = Record(KIND, key, made.graph, _fields(stored), data, version=version)
            if self._records.replace_record(new, name=name):
                return stored, True
            time.sleep(TRY_PAUSE_S)
        raise _overtaken(key)

    def edit(
        self,
        graph: str,
        view_id: str,
        change: Callable[[Mapping[str, Any]], Mapping[str, Any]],
        /,
        *,
        edges: str,
    ) -> Record | None:
        """Changes fields of a stored view and returns its record; None if there is none.

        Args:
            graph: Name of its base.
            view_id: Its id.
            change: Returns the fields to change of those that there are; called again if another
                writer was first.
            edges: The base's ``edges`` fingerprint now.

        Raises:
            InputError: Another view has the name that it is to get.
        """
        key = record_key(graph, view_id)
        for _ in range(MAX_TRIES):
            record = self._records.get_record(KIND, key)
            if record is None:
                return None
            fields = {**record.json, **change(record.json)}
            if fields == record.json:
                return record
            name = None
            if fields["name"] != record.json["name"]:
                states = {edges, fields["edges"]}
                self._require_free(graph, fields["name"], view_id, states=states)
                name = _unique_name(fields["edges"], fields["name"])
            edited = replace(record, json=fields, updated_at="")
            if self._records.replace_record(edited, name=name):
                return edited
            time.sleep(TRY_PAUSE_S)
        raise _overtaken(key)

    def _require_free(self, graph: str, name: str, view_id: str, /, *, states: set[str]) -> None:
        """Raises ``InputError`` if another view of these states of the base has a name.

        The store itself refuses a name that another process takes at the same moment. It does not
        know the names that version 0.1.0 gave, which stand in the views' fields alone.
        """
        for other in self.list(graph, edges=""):
            if other.name == name and other.id != view_id and other.edges in states:
                raise InputError(
                    f"graph {graph!r} has another view named {name!r} ({other.id})",
                    argument="name",
                    hint="Choose another name, or delete that view first.",
                )


def repeated_names(views: Iterable[StoredView], /) -> dict[str, list[str]]:
    """Returns the names that several views of one state of a graph have, with the views' ids."""
    ids: dict[tuple[str, str], list[str]] = {}
    for view in views:
        if view.name:
            ids.setdefault((view.edges, view.name), []).append(view.id)
    return {name: alike for (_, name), alike in ids.items() if len(alike) > 1}


def deleted_meanwhile(view: StoredView, /) -> ViewNotFoundError:
    """Returns the error for a view that was deleted while it was read."""
    return ViewNotFoundError(f"view {view.id} was deleted meanwhile", argument="view")


def now_iso() -> str:
    """Returns the time now, as views have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def record_key(graph: str, view_id: str, /) -> str:
    """Returns the key of a view's record."""
    # A view's id says what it is of which statements; two graphs may hold the same ones.
    return f"{graph}/{view_id}"


def _fields(view: StoredView) -> dict[str, Any]:
    return {
        "name": view.name,
        "edges": view.edges,
        "spec": view.spec.to_json(),
        "report": to_plain(view.report),
        "note": view.note,
        "created_at": view.created_at,
        "state": view.state.value,
        "progress": view.progress,
        "deviation": to_plain(view.deviation),
        "error": view.error,
        "beat": time.time(),
        "maker": owner_name(),
    }


def _require_name(name: str) -> None:
    if not 0 < len(name) <= MAX_VIEW_NAME:
        raise InputError(
            f"a view's name has 1 to {MAX_VIEW_NAME} characters, got {len(name)}", argument="name"
        )
    if not (name.strip() and name.isprintable()):
        raise InputError(
            f"a view's name may hold printable characters only, got {name!r}", argument="name"
        )


def _unique_name(edges: str, name: str) -> str:
    """Returns a view's name as the store holds it: unique within one state of the base."""
    return f"{edges}/{name}"


def _overtaken(key: str) -> StoreError:
    return StoreError(f"view {key} is being written by others all the time")


@decodes("a view")
def _stored(record: Record, edges: str) -> StoredView:
    fields: Mapping[str, Any] = record.json
    state, error = ViewState(fields["state"]), str(fields.get("error", ""))
    silent = time.time() - fields.get("beat", 0.0) > ABANDONED_S
    if state is ViewState.RUNNING and (silent or is_gone(fields.get("maker", ""))):
        state, error = ViewState.FAILED, "the process that made it has gone"
    deviation = fields["deviation"]
    return StoredView(
        id=record.key.rpartition("/")[2],
        name=fields["name"],
        graph=record.graph,
        edges=fields["edges"],
        spec=ViewSpec.from_json(fields["spec"]),
        report=from_plain(ViewReport, fields["report"]),
        note=fields["note"],
        created_at=fields["created_at"],
        state=state,
        progress=fields["progress"],
        deviation=None if deviation is None else from_plain(Deviation, deviation),
        stale=fields["edges"] != edges,
        error=error,
    )
