"""What a caller names, as ids and numbers of a graph or of a view laid over it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graph_service.errors import InputError
from graph_service.model.graph import Int32, Int64, KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import normalise_entity_id
from graph_service.model.overlay import Overlay

VIEW_OF = "view_of"
"""Load option of a graph that is a view written out; its value is the base's name, "" for one that
the caller does not see."""

PREFIXES = {
    "dbr:": "http://dbpedia.org/resource/",
    "dbo:": "http://dbpedia.org/ontology/",
    "dbp:": "http://dbpedia.org/property/",
    "wd:": "http://www.wikidata.org/entity/",
}


def read_id(text: str, /, *, argument: str | None = None) -> str:
    """Returns the id that a caller means: a known prefix written out, in its one normal form.

    Raises:
        InputError: It is empty or no text that a store can hold; names the argument.

    >>> read_id("dbr:Rome"), read_id("wd:Q42")
    ('http://dbpedia.org/resource/Rome', 'Q42')
    """
    for prefix, iri in PREFIXES.items():
        if text.startswith(prefix):
            text = iri + text[len(prefix) :]
            break
    try:
        return normalise_entity_id(text)
    except InputError as error:
        error.argument = argument
        raise


def require_base(info: GraphInfo, /) -> None:
    """Raises ``InputError`` where a graph is itself a view: views of views are not made."""
    if VIEW_OF in info.options:
        base = info.options[VIEW_OF]
        of_base = f" of {base!r}" if base else ""
        named = f"Name the base: --graph {base}. " if base else ""
        raise InputError(
            f"graph {info.name!r} is a view{of_base} written out, and views are made of base "
            "graphs only",
            argument="view",
            hint=f"{named}Both changes in one view: --changes FILE.",
        )


def find_relations(
    graph: KnowledgeGraph,
    overlay: Overlay | None,
    relation_ids: Sequence[str],
    /,
    *,
    argument: str = "relation_ids",
) -> Int32:
    """Returns the numbers of relations, ascending; ids that neither base nor view has go.

    Args:
        graph: The base.
        overlay: The view, where one is asked for.
        relation_ids: As a caller gives them.
        argument: Which of the caller's they are; stands in errors.
    """
    new = {id_: index for index, id_ in enumerate(overlay.new_relations)} if overlay else {}
    numbers: set[int] = set()
    for text in relation_ids:
        id_ = read_id(text, argument=argument)
        rel = graph.find_relation(id_)
        if rel is None and id_ in new:
            rel = graph.relation_count + new[id_]
        if rel is not None:
            numbers.add(rel)
    return np.array(sorted(numbers), dtype=np.int32)


def edges_from(graph: KnowledgeGraph, overlay: Overlay | None, node: int, /) -> Int64:
    """Returns the edges that have a node as their head: the base's, then those a view made."""
    edges = graph.out_edges.of(node)
    if overlay is None:
        return edges
    extra = np.flatnonzero(overlay.head == node) + graph.edge_count
    return np.concatenate([edges[~overlay.gone.has(edges)], extra])


def relations_of(graph: KnowledgeGraph, overlay: Overlay | None, edges: Int64, /) -> Int32:
    """Returns the relation of each edge, int32."""
    base = edges < graph.edge_count
    rels = np.empty(len(edges), dtype=np.int32)
    rels[base] = graph.rel[edges[base]]
    if overlay is not None:
        rels[~base] = overlay.rel[edges[~base] - graph.edge_count]
    return rels
