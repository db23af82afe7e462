"""A view that a cluster drew, taken over into a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from graph_service.artifacts.view_records import now_iso
from graph_service.artifacts.views import ViewStore
from graph_service.cluster.views import (
    CHANGES,
    DEVIATION_FILE,
    HEADS_MOVE,
    LAYOUT,
    REMOVED,
    VERSION,
    VIEW_FILE,
    ClusterView,
)
from graph_service.errors import InputError
from graph_service.model.graph import Int64, KnowledgeGraph
from graph_service.model.graph_arrays import find_positions
from graph_service.model.serialise import from_plain, to_plain
from graph_service.model.stored_view import Deviation, StoredView, ViewReport
from graph_service.model.view_delta import ViewDelta, empty_delta
from graph_service.model.view_spec import ChangeKind, ViewSpec
from graph_service.store.parquet import import_pyarrow
from graph_service.store.protocol import Store
from graph_service.views.codec import encode_delta


def read_view(folder: Path, /) -> ClusterView:
    """Returns what a folder says of the view in it.

    Raises:
        InputError: It is no view that ``cluster view create`` wrote, or one that is not whole.
    """
    path = folder / VIEW_FILE
    try:
        fields = orjson.loads(path.read_bytes())
        if fields["graph-service"] != LAYOUT or fields["version"] > VERSION:
            raise ValueError(f"layout {fields['graph-service']} {fields['version']}")
        return ClusterView(
            id=fields["view"],
            spec=ViewSpec.from_json(orjson.dumps(fields["spec"]).decode()),
            report=from_plain(ViewReport, fields["report"]),
            graph=fields["graph"],
            edges=fields["edges"],
            folder=folder,
        )
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{folder} is no whole view of a cluster ({error})",
            argument="source",
            hint="Make it: graph-service cluster view create GRAPH.parquet --to FOLDER ...",
        ) from error


def read_deviation(view: ClusterView, /) -> Deviation | None:
    """Returns the deviation that ``cluster view deviation`` wrote for a view; None without one.

    Raises:
        InputError: The file is not what that command writes.
    """
    path = view.folder / DEVIATION_FILE
    try:
        return from_plain(Deviation, orjson.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, InputError) as error:
        raise InputError(
            f"{path} is no deviation of a view ({error})",
            argument="source",
            hint="Measure it: graph-service cluster view deviation GRAPH.parquet FOLDER",
        ) from error


def read_delta(view: ClusterView, graph: KnowledgeGraph, /) -> ViewDelta:
    """Returns the changes of a view in the numbers of its base: what ``make_delta`` gives.

    Raises:
        InputError: The graph is not the view's base.
    """
    if graph.fingerprints.edges != view.edges:
        raise InputError(
            f"the view was drawn from edges {view.edges[:12]}, and graph {graph.name!r} has "
            f"{graph.fingerprints.edges[:12]}",
            argument="graph",
        )
    arrow = import_pyarrow("a view of a cluster")
    names = ["key", "change", "head_key", "relation", "tail_key"]
    table = arrow.parquet.read_table(view.folder / CHANGES, columns=names)
    kinds = np.array(table["change"].to_pylist(), dtype=object)
    is_removed, is_added = kinds == REMOVED, kinds == ChangeKind.ADDED.value
    edges = _edges(graph, table["key"].to_numpy().astype(np.int64))
    heads, tails = (
        find_positions(graph.node_keys, table[name].to_numpy().astype(np.int64)).astype(np.int32)
        for name in ("head_key", "tail_key")
    )
    relations = _relations(graph, table["relation"].to_pylist())
    order = np.argsort(edges, kind="stable")
    removed, replaced, added = (
        order[those[order]] for those in (is_removed, ~(is_removed | is_added), is_added)
    )
    empty = empty_delta(graph)
    return ViewDelta(
        removed=edges[removed].astype(graph.edge_type),
        replaced=edges[replaced].astype(graph.edge_type),
        replaced_rel=relations[replaced],
        replaced_tail=tails[replaced],
        added_head=heads[added] if len(added) else empty.added_head,
        added_rel=relations[added] if len(added) else empty.added_rel,
        added_tail=tails[added] if len(added) else empty.added_tail,
        replaced_head=heads[replaced] if view.spec.method in HEADS_MOVE else None,
    )


def _edges(graph: KnowledgeGraph, keys: Int64) -> Int64:
    by_key = graph.topology.key_order[:]
    ascending = graph.statement_keys[by_key]
    return by_key[np.searchsorted(ascending, keys)].astype(np.int64)


def _relations(graph: KnowledgeGraph, ids: Sequence[str]) -> Any:
    codes = {id_: graph.find_relation(id_) for id_ in set(ids)}
    return np.array([codes[id_] for id_ in ids], dtype=np.int32)


def store_view(
    view: ClusterView,
    store: Store,
    graph: KnowledgeGraph,
    /,
    *,
    name: str | None = None,
    note: str = "",
) -> StoredView:
    """Adds a view to a store as if it had been made there, with the deviation in its folder if any.

    Without one the store measures it when somebody asks.

    Args:
        view: What a cluster drew.
        store: Has the base.
        graph: The base.
        name: What to call the view.
        note: Kept with it.

    Raises:
        InputError: The graph is not the view's base, the name is another view's, or the file of
            the deviation is damaged.
    """
    deviation = read_deviation(view)
    views = ViewStore(store)
    made = StoredView(
        id=view.id,
        name=name,
        graph=graph.name,
        edges=view.edges,
        spec=view.spec,
        report=view.report,
        note=note,
        created_at=now_iso(),
        deviation=deviation,
    )
    stored, _ = views.add(made, encode_delta(graph, read_delta(view, graph)))
    if deviation is None or stored.deviation is not None:
        return stored
    fields = {"deviation": to_plain(deviation)}
    views.edit(stored.graph, stored.id, lambda _: fields, edges=stored.edges)
    return replace(stored, deviation=deviation)
