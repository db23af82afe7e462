"""A part of a stored graph as arrays of its own: what retrieval runs on above the snapshot limit.

Numbers follow keys as in a whole snapshot, so what is picked from a part is what would be picked
from the same region of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.neighbourhood import EdgeRow, Neighbourhood
from graph_service.model.statement import Entity, Rank
from graph_service.model.values import Quantity, stored_value
from graph_service.store.protocol import GraphReader
from graph_service.store.snapshot.build import TailIds, build_arrays, chunks_of_rows

_QUANTITY = '["q",'
"""How an encoded quantity begins: the label of its unit is shown."""


@dataclass(frozen=True, slots=True, eq=False)
class RegionGraph:
    """The statements around some entities.

    Attributes:
        graph: Their arrays, with the labels of all that they name. Nodes beside the region's own
            are the entries of its relations and the units of its quantities.
        neighbourhood: As the store read it: steps from the start and degrees in the whole graph.
    """

    graph: KnowledgeGraph
    neighbourhood: Neighbourhood


def read_region_graph(
    reader: GraphReader,
    info: GraphInfo,
    ids: Sequence[str],
    /,
    *,
    hops: int,
    max_edges: int,
    hub_degree: int | None = None,
    ranks: Sequence[Rank] = (Rank.PREFERRED, Rank.NORMAL),
    relation_ids: Sequence[str] = (),
    exclude_relation_ids: Sequence[str] = (),
    deadline: Deadline | None = None,
) -> RegionGraph:
    """Reads the region around some entities; see ``GraphReader.neighbourhood``.

    Args:
        reader: The store, or one reading of it.
        info: The edition.
        ids: Where the region starts; those the graph lacks are left out.
        hops: Steps, both directions.
        max_edges: Most statements.
        hub_degree: Entities of more statements are reached and not walked through.
        ranks: Of the statements that are edges.
        relation_ids: Relations that are walked; empty for all.
        exclude_relation_ids: Relations that are not.
        deadline: Raises ``DeadlineError`` when past.
    """
    neighbourhood = reader.neighbourhood(
        info.edition,
        ids,
        hops=hops,
        max_edges=max_edges,
        hub_degree=hub_degree,
        ranks=ranks,
        relation_ids=relation_ids,
        exclude_relation_ids=exclude_relation_ids,
        deadline=deadline,
    )
    return region_graph_of(reader, info, neighbourhood)


def region_graph_of(
    reader: GraphReader,
    info: GraphInfo,
    neighbourhood: Neighbourhood,
    /,
    *,
    equal: EqualEntities | None = None,
) -> RegionGraph:
    """Returns a region that was read as arrays, with the labels of what it names.

    Args:
        reader: The store.
        info: The edition.
        neighbourhood: The region.
        equal: Entities of the whole graph that are one thing, as 64-bit keys; None for none.
    """
    tail_ids = TailIds()
    nodes, named = _named_in(neighbourhood.edges, tail_ids)
    nodes |= neighbourhood.hops.keys()
    entities = list(_entities(reader, info.edition, nodes, named))
    graph = _as_arrays(info, neighbourhood.edges, entities, tail_ids)
    # What of a group the part lacks decides too whether it is one.
    among = (equal or EqualEntities.none()).among(graph.node_keys)
    return RegionGraph(replace(graph, equal=among), neighbourhood)


def unlabelled_graph_of(
    info: GraphInfo, edges: Sequence[EdgeRow], ids: Iterable[str] = (), /
) -> KnowledgeGraph:
    """Returns statements that were read, and further entities, as arrays without labels or names.

    Args:
        info: The edition.
        edges: The statements.
        ids: Of the further entities.
    """
    tail_ids = TailIds()
    nodes, _ = _named_in(edges, tail_ids)
    entities = [Entity(id_) for id_ in sorted(nodes.union(ids))]
    return _as_arrays(info, edges, entities, tail_ids)


def _as_arrays(
    info: GraphInfo, edges: Sequence[EdgeRow], entities: list[Entity], tail_ids: TailIds
) -> KnowledgeGraph:
    relations: dict[int, str] = {}
    chunks = chunks_of_rows([list(edges)], relations, tail_ids=tail_ids)
    return build_arrays(info, chunks, lambda: relations, iter([entities]))


def _named_in(edges: Sequence[EdgeRow], tail_ids: TailIds) -> tuple[set[str], set[str]]:
    """Returns the entities at the ends of statements, and the relations and units that they name."""
    nodes = {edge.head for edge in edges}
    named = {edge.relation for edge in edges}
    for encoded in {edge.value for edge in edges}:
        tail = tail_ids[encoded]
        if tail is not None:
            nodes.add(tail)
        elif encoded.startswith(_QUANTITY):
            value = stored_value(encoded)
            if isinstance(value, Quantity) and value.unit:
                named.add(value.unit)
    return nodes, named


def _entities(
    reader: GraphReader, edition: str, nodes: set[str], named: set[str]
) -> Iterable[Entity]:
    """Returns the entity of each id itself: one that is another now has no names of its own.

    Of those only named, a relation as a rule, the graph may have none: it is no node then.
    """
    ids = sorted(nodes | named)
    entities = reader.entities(edition, ids).entities
    for id_ in ids:
        entity = entities.get(id_)
        if entity is not None and entity.id == id_:
            yield entity
        elif id_ in nodes:
            yield Entity(id_)
