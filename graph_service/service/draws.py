"""What data sets are begun from: related pairs, entities, and how often relations are used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph_service.model.result import EntityRef, Triple
from graph_service.sampling.pairs import draw_known, draw_pairs, relation_uses
from graph_service.service.graphs import Graphs
from graph_service.service.triples import TripleRenderer


@dataclass(frozen=True, slots=True)
class RelationUses:
    """How often a graph uses its relations.

    Attributes:
        statements: Of all relations together.
        uses: By relation id; a relation without statements has 0.
    """

    statements: int
    uses: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class SampledPairs:
    """Statements that each join two entities, in the order of the draw, of ``there`` pairs."""

    triples: tuple[Triple, ...]
    there: int


@dataclass(frozen=True, slots=True)
class SampledEntities:
    """Entities in the order of the draw, of ``there`` that have enough statements."""

    entities: tuple[EntityRef, ...]
    there: int


class Draws:
    """Draws by a random seed, the same on both stores. Safe to use from several threads."""

    def __init__(self, graphs: Graphs, /) -> None:
        self._graphs = graphs

    def relation_uses(self, *, graph: str | None = None) -> RelationUses:
        """Returns how often each relation of a graph is used, by the statements of best rank."""
        arrays = self._graphs.open(graph).arrays
        counts = relation_uses(arrays)
        named = zip(arrays.relation_ids, counts.tolist(), strict=True)
        return RelationUses(int(counts.sum()), dict(named))

    def pairs(
        self,
        relation_id: str,
        /,
        *,
        count: int,
        random_seed: int = 0,
        graph: str | None = None,
        languages: Sequence[str] = ("en",),
    ) -> SampledPairs:
        """Returns pairs of entities that a relation joins (K9).

        Raises:
            InputError: The graph has no such relation.
        """
        arrays = self._graphs.open(graph).arrays
        edges, there = draw_pairs(arrays, relation_id, count=count, random_seed=random_seed)
        shown = TripleRenderer(arrays, None, languages).show(edges.tolist())
        return SampledPairs(tuple(shown[edge].triple for edge in edges.tolist()), there)

    def entities(
        self,
        *,
        count: int,
        random_seed: int = 0,
        min_statements: int = 1,
        graph: str | None = None,
        languages: Sequence[str] = ("en",),
    ) -> SampledEntities:
        """Returns entities that a graph says enough of (O1)."""
        arrays = self._graphs.open(graph).arrays
        nodes, there = draw_known(
            arrays, count=count, random_seed=random_seed, min_statements=min_statements
        )
        refs = TripleRenderer(arrays, None, languages).entities(nodes.tolist())
        return SampledEntities(tuple(refs), there)
