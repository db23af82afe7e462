"""Page views of entities, and samples of long-tail entities made of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from graph_service import __version__
from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.errors import InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import Fingerprints
from graph_service.model.pageviews import LongTailLevel, PageViews
from graph_service.model.result import EntityRef, Triple
from graph_service.sampling import LevelCounts, SampleSpec, draw_entities
from graph_service.service.graphs import Graphs
from graph_service.service.triples import TripleRenderer
from graph_service.store.page_views import (
    RECORD_KIND,
    PageViewTable,
    delete_page_views,
    read_page_views,
)
from graph_service.store.protocol import EntityLookup


@dataclass(frozen=True, slots=True)
class SampleItem:
    """One line of a sample: an entity, its level, its triples, and where they are from.

    Attributes:
        triples: Those that have the entity as head or as value.
        place: In its level's draw, from 1.
    """

    entity: EntityRef
    level: LongTailLevel
    place: int
    page_views: PageViews
    triples: tuple[Triple, ...]
    graph: str
    edition: str
    fingerprints: Fingerprints
    random_seed: int
    version: str


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample; ``counts`` says what became of each level's entities."""

    items: tuple[SampleItem, ...]
    counts: Mapping[LongTailLevel, LevelCounts]


class LongTail:
    """Reads page views and draws samples. Safe to use from several threads."""

    def __init__(
        self, graphs: Graphs, /, *, entities: Callable[..., EntityLookup], memory: ByteBudget
    ) -> None:
        self._graphs = graphs
        self._entities = entities
        self._store = graphs.store
        self._tables: ByteCache[tuple[str, str], PageViewTable] = ByteCache(memory, "page views")

    def table(self, graph: str, /) -> PageViewTable:
        """Returns the page views of a graph; each state of them is read once."""
        records = self._store.list_records(RECORD_KIND, graph=graph)
        key = (graph, records[0].updated_at if records else "")
        held = self._tables.get(key)
        if held is not None:
            return held
        table = read_page_views(self._store, graph)
        return self._tables.put(key, table, held_bytes(table))

    def _draw(
        self,
        info: GraphInfo,
        graph: KnowledgeGraph,
        spec: SampleSpec,
        /,
        *,
        languages: Sequence[str],
    ) -> Sample:
        """Returns a sample of a graph; see ``sample``."""
        spec.check()
        table = self.table(info.name)
        if not len(table.keys):
            raise InputError(
                f"graph {info.name!r} has no page views, and levels are made of them",
                argument="graph",
                hint="Fetch them: graph-service pageviews fetch, or load a table: "
                "graph-service pageviews load FILE",
            )
        nodes = np.searchsorted(graph.node_keys, table.keys)
        nodes[nodes == len(graph.node_keys)] = 0
        there = graph.node_keys[nodes] == table.keys
        ids = graph.node_ids.take(nodes[there])
        means = dict(zip(ids, table.means()[there].tolist(), strict=True))
        sample, counts = draw_entities(graph, means, spec)
        renderer = TripleRenderer(graph, None, languages)
        refs = renderer.entities([entity.node for entity in sample])
        items: list[SampleItem] = []
        number: Counter[LongTailLevel] = Counter()
        for entity, ref in zip(sample, refs, strict=True):
            number[entity.level] += 1
            shown = renderer.show(entity.edges)
            views = table.find(ref.id)
            assert views is not None
            items.append(
                SampleItem(
                    entity=ref,
                    level=entity.level,
                    place=number[entity.level],
                    page_views=views,
                    triples=tuple(shown[edge].triple for edge in entity.edges),
                    graph=info.name,
                    edition=info.edition,
                    fingerprints=info.fingerprints,
                    random_seed=spec.random_seed,
                    version=__version__,
                )
            )
        return Sample(tuple(items), counts)

    def page_views(
        self, ids: Sequence[str], /, *, graph: str | None = None
    ) -> dict[str, PageViews]:
        """Returns the page views of entities, by the id asked for; those without are absent (L1)."""
        info = self._graphs.find(graph)
        table = self.table(info.name)
        if not len(table.keys):
            return {}
        views = {raw: table.find(raw) for raw in ids}
        others = [raw for raw, known in views.items() if known is None]
        if others:
            # A prefix, a redirect, the id of the same entity elsewhere.
            looked_up = self._entities(others, graph=info.name).entities
            views |= {raw: table.find(entity.id) for raw, entity in looked_up.items()}
        return {raw: known for raw, known in views.items() if known is not None}

    def delete_page_views(self, *, graph: str | None = None) -> bool:
        """Deletes the page views of a graph; returns whether there were any."""
        return delete_page_views(self._store, self._graphs.find(graph).name)

    def sample(
        self,
        spec: SampleSpec,
        /,
        *,
        graph: str | None = None,
        languages: Sequence[str] = ("en",),
    ) -> Sample:
        """Returns long-tail entities with their triples, drawn by a random seed (L1, L2).

        Raises:
            InputError: The graph has no page views, or the specification is at fault.
        """
        base = self._graphs.open(graph)
        return self._draw(base.info, base.arrays, spec, languages=tuple(languages))
