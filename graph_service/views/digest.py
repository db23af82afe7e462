"""The fingerprint of a view: a hash of what it changes, whatever made it and wherever."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.overlay import Overlay
from graph_service.model.view_delta import NameDelta, ViewDelta


def view_fingerprint(graph: KnowledgeGraph, delta: ViewDelta, overlay: Overlay, /) -> str:
    """Returns a BLAKE2b-128 of a view's changes, 32 hexadecimal digits.

    It is of the ids of statements that go and that come, of the ranks of those, and of the names
    that entities have instead of their own. So it depends on the statements of the base and not on
    the numbers that they have there.

    Args:
        graph: The base.
        delta: What the view changes.
        overlay: The same, laid over the base.
    """
    state = blake2b(digest_size=16)
    for line in sorted(_lines(graph, delta, overlay)):
        state.update(line.encode() + b"\n")
    return state.hexdigest()


def gone_statements(graph: KnowledgeGraph, overlay: Overlay, /) -> set[str]:
    """Returns the ids of the statements of a base that a view removes or changes."""
    return {graph.statement_ids[edge] for edge in overlay.gone.numbers.tolist()}


def _lines(graph: KnowledgeGraph, delta: ViewDelta, overlay: Overlay) -> Iterator[str]:
    for id_ in gone_statements(graph, overlay):
        yield f"-\t{id_}"
    for id_, rank in zip(overlay.statement_ids, overlay.rank.tolist(), strict=True):
        yield f"+\t{id_}\t{rank}"
    if delta.names is not None:
        yield from _names(graph, delta.names)


def _names(graph: KnowledgeGraph, names: NameDelta) -> Iterator[str]:
    for index, node in enumerate(names.nodes.tolist()):
        entity = graph.node_ids[node]
        yield f"=\t{entity}"
        for name in names.names_of(index):
            yield f"=\t{entity}\t{name.language}\t{int(name.is_alias)}\t{name.text}"
