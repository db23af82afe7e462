"""A view written out as a graph of its own, for people who read the store with other tools.

In Neo4j ``MATCH (g:Graph {name: 'demo.thin'}) MATCH (a:Entity {graph: g.current})-[r]->(b)`` then
reads the view as it reads any graph. Deleting that graph removes it, and leaves the view.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from graph_service.errors import InputError
from graph_service.export.content import ExportedGraph, exported_graph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.request import ViewRef
from graph_service.service import Service
from graph_service.service.lookup import VIEW_OF
from graph_service.store.lease import owner_name
from graph_service.store.names import require_graph_name
from graph_service.store.protocol import MAX_BATCH_STATEMENTS, Batch

_SHORT_ID = 12


def materialise(
    service: Service,
    reference: ViewRef,
    /,
    *,
    graph: str | None = None,
    name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GraphInfo:
    """Writes a view into its store as a graph of its own and publishes it.

    A changed or added statement has the view's id for it after ``exported-``; qualifiers and
    references travel. A run that was stopped goes on where it was; the same view again is
    written anew under the same name.

    Args:
        service: Over the store.
        reference: The view.
        graph: Its base.
        name: Of the new graph; by default the base's, a full stop, and the view's name or the
            first digits of its id.
        progress: Told how many statements are written, and of how many.

    Raises:
        InputError: The name is no graph's, or that of a graph that is no view written out.
    """
    exported = exported_graph(service, graph=graph, view=reference)
    base, overlay = exported.info, exported.overlay
    assert overlay is not None
    chosen = name or _default_name(service, base.name, overlay.view_id)
    _require_free(service, chosen)
    total = base.counts.statements - len(overlay.gone) + len(overlay.head)
    session = service.store.begin_load(
        chosen,
        replace=True,
        owner=owner_name(),
        source=f"view {overlay.view_id} of {base.name}",
        options={
            VIEW_OF: base.name,
            "view": overlay.view_id,
            "edges": base.fingerprints.edges,
        },
    )
    try:
        # Another load may have published a graph of the name before this one took its lease.
        _require_free(service, chosen)
    except InputError:
        session.abort()
        raise
    with session:
        done = dict(session.checkpoint or {"batches": 0, "statements": 0})
        written = int(done["statements"])
        for batch_index, batch in enumerate(islice(_batches(exported), done["batches"], None), 1):
            written += len(batch.statements)
            session.write(
                batch,
                checkpoint={"batches": int(done["batches"]) + batch_index, "statements": written},
            )
            if progress is not None:
                progress(written, total)
        session.finish(report={VIEW_OF: base.name, "view": overlay.view_id})
        return session.publish()


def _require_free(service: Service, name: str) -> None:
    for other in service.graphs():
        if other.name == name and VIEW_OF not in other.options:
            raise InputError(
                f"graph {name!r} is there and is no view written out",
                argument="as",
                hint="Choose another name.",
            )


def _batches(exported: ExportedGraph) -> Iterator[Batch]:
    """The same batches each time, so that their number says where a run stopped."""
    for entities in exported.entities():
        yield Batch(entities=entities)
    for chunk in exported.statements():
        for start in range(0, len(chunk), MAX_BATCH_STATEMENTS):
            yield Batch(statements=chunk[start : start + MAX_BATCH_STATEMENTS])


def _default_name(service: Service, graph: str, view_id: str) -> str:
    names = {view.id: view.name for view in service.views.list(graph=graph)}
    named = f"{graph}.{names.get(view_id) or view_id[:_SHORT_ID]}"
    try:
        require_graph_name(named)
    except InputError:
        return f"{graph}.{view_id[:_SHORT_ID]}"
    return named
