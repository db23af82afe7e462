"""The walk that every region is cut by: hop by hop, over whatever gives the edges of some nodes.

An edge is walked both ways. A hub is reached and not walked through, unless the walk starts from
it. Of more edges than a region may have those of fewer hops stay, then those of smaller keys.

Entities that are one thing (``model.equal_entities``) are one node: a region that reaches one of
them reaches all, at the same hop, and their edges count together where a hub is told.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from graph_service.model.limits import Cut, CutReason

Nodes = TypeVar("Nodes", bound=Sized)
Node = TypeVar("Node", int, str)
Row = TypeVar("Row")
Member = TypeVar("Member")


@dataclass(frozen=True, slots=True)
class Step(Generic[Nodes]):
    """What one hop adds to a region.

    Attributes:
        edges: How many edges it adds.
        reached: The nodes that no hop before it has reached.
        is_cut: Whether there was no room for all edges.
        total: How many edges there were up to this hop, if it is cut; None if they were not counted.
        cuts: What was left out before there was a choice.
    """

    edges: int
    reached: Nodes
    is_cut: bool = False
    total: int | None = None
    cuts: tuple[Cut, ...] = ()


class Region(Protocol[Nodes]):
    """A region that grows with each hop."""

    def walkable(self, nodes: Nodes, hub_degree: int | None, /) -> tuple[Nodes, int]:
        """Returns those of some reached nodes that are walked through, and how many are hubs."""

    def step(self, nodes: Nodes, room: int, /) -> Step[Nodes]:
        """Adds the new edges at some nodes: of more than ``room`` those of the smallest keys."""


def walk(
    region: Region[Nodes],
    start: Nodes,
    /,
    *,
    hops: int,
    max_edges: int,
    hub_degree: int | None = None,
) -> tuple[Cut, ...]:
    """Grows a region from some nodes, and returns what limits left out.

    Args:
        region: Without edges.
        start: The nodes.
        hops: Steps.
        max_edges: Most edges of the region.
        hub_degree: Nodes of more edges are not walked through; None for no such rule.
    """
    cuts: list[Cut] = []
    nodes, edges, hubs = start, 0, 0
    for hop in range(hops):
        if hop:
            nodes, passed = region.walkable(nodes, hub_degree)
            hubs += passed
        if not len(nodes):
            break
        step = region.step(nodes, max_edges - edges)
        nodes, edges = step.reached, edges + step.edges
        cuts += step.cuts
        if step.is_cut:
            cuts.append(Cut("edges", CutReason.LIMIT, max_edges, max_edges, step.total))
        if edges >= max_edges:
            break
    if hubs and hub_degree is not None:
        cuts.append(Cut("hubs", CutReason.HUB, hub_degree, 0, hubs))
    return tuple(cuts)


@dataclass(frozen=True, slots=True)
class NewRows(Generic[Row]):
    """The edges of one hop, as rows of a store.

    Attributes:
        rows: By the keys of their statements; of more than there is room for, the smallest keys at
            least, and one more.
        total: As ``Step.total``.
        cuts: As ``Step.cuts``.
    """

    rows: Mapping[int, Row]
    total: int | None = None
    cuts: tuple[Cut, ...] = ()


@dataclass(slots=True)
class RowRegion(ABC, Generic[Node, Row]):
    """A region of rows that a store gives.

    Attributes:
        rows: Its edges, by the keys of their statements.
        hops: Steps from the nearest start, by node.
        degrees: Degrees of nodes in the whole graph, as far as they are known.
        hubs: Nodes that are not walked through.
    """

    rows: dict[int, Row] = field(default_factory=dict)
    hops: dict[Node, int] = field(default_factory=dict)
    degrees: dict[Node, int] = field(default_factory=dict)
    hubs: list[Node] = field(default_factory=list)

    @abstractmethod
    def read_degrees(self, nodes: Sequence[Node], /) -> Mapping[Node, int]:
        """Returns the degrees of some nodes; nodes that the graph lacks are left out."""

    @abstractmethod
    def new_rows(self, nodes: Sequence[Node], room: int, /) -> NewRows[Row]:
        """Returns the edges at some nodes that are not in ``rows``."""

    @abstractmethod
    def endpoints(self, row: Row, /) -> Iterable[Node]:
        """Returns the entities that an edge joins."""

    def equal_nodes(self, _nodes: Iterable[Node], /) -> Mapping[Node, Sequence[Node]]:
        """Returns for each of some nodes that are one thing with others all nodes of that thing."""
        return {}

    def with_equal(self, nodes: Iterable[Node], /) -> list[Node]:
        """Returns some nodes and after them all others that are one thing with one of them."""
        some = list(nodes)
        for group in self.equal_nodes(some).values():
            some += group
        return list(dict.fromkeys(some))

    def know_degrees(self, nodes: Iterable[Node], /) -> None:
        """Reads the degrees of those of some nodes that are not known."""
        unknown = [node for node in nodes if node not in self.degrees]
        if unknown:
            self.degrees.update(self.read_degrees(unknown))

    def start_from(self, nodes: Iterable[Node], /) -> list[Node]:
        """Returns those of some nodes that the graph has; the region starts from them."""
        start = self.with_equal(nodes)
        self.know_degrees(start)
        self.hops = {node: 0 for node in start if node in self.degrees}
        return list(self.hops)

    def walkable(
        self, nodes: Sequence[Node], hub_degree: int | None, /
    ) -> tuple[Sequence[Node], int]:
        """Returns those of some nodes that are walked through; see ``Region.walkable``."""
        self.know_degrees(nodes)
        if hub_degree is None:
            return nodes, 0
        groups = self.equal_nodes(nodes)
        degrees = {
            node: sum(self.degrees.get(equal, 0) for equal in groups.get(node, (node,)))
            for node in nodes
        }
        hubs = [node for node in nodes if degrees[node] > hub_degree]
        self.hubs += hubs
        things = {groups[node][0] if node in groups else node for node in hubs}
        return [node for node in nodes if degrees[node] <= hub_degree], len(things)

    def step(self, nodes: Sequence[Node], room: int, /) -> Step[Sequence[Node]]:
        """Adds the new edges at some nodes; see ``Region.step``."""
        hop = self.hops[nodes[0]] + 1
        new = self.new_rows(nodes, room)
        chosen = {key: new.rows[key] for key in sorted(new.rows)[:room]}
        self.rows.update(chosen)
        endpoints = {end for row in chosen.values() for end in self.endpoints(row)}
        reached = sorted(self.with_equal(endpoints - self.hops.keys()))
        self.hops.update(dict.fromkeys(reached, hop))
        return Step(len(chosen), reached, len(new.rows) > room, new.total, new.cuts)


def closure(
    start: Iterable[Member], step: Callable[[set[Member]], Iterable[Member]], /
) -> set[Member]:
    """Returns some members with all that steps from them lead to; a circle ends.

    Args:
        start: The members.
        step: Returns what one step from some members leads to.

    >>> sorted(closure([1], lambda some: {2 * one % 7 for one in some}))
    [1, 2, 4]
    """
    reached = set(start)
    new = set(reached)
    while new:
        new = set(step(new)) - reached
        reached |= new
    return reached
