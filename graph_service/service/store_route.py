"""Retrieval on a graph above the snapshot limit: names and region come from the store itself.

Two small graphs are read a question: the entities that bear a name of the question with what
lies around them, which the linker decides among, and then the region. Both are arrays like any
other, so linking and picking are the same functions as on a whole snapshot.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from graph_service.artifacts.views import ViewStore
from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.link.lexicon import Lexicon, PartLexicon, RelationNames, share_lexicon
from graph_service.model.classes import INSTANCE_RELATIONS
from graph_service.model.equal_entities import EqualEntities
from graph_service.model.graph import Int32, Int64, KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.region import Region
from graph_service.model.request import RetrieveRequest
from graph_service.model.statement import Rank
from graph_service.model.view_spec import ViewSpec
from graph_service.retrieve.kinds import HeadRelations
from graph_service.retrieve.preset import AnyPreset, LearnedPreset, Preset
from graph_service.retrieve.region.cut import extract_region, region_of_graph
from graph_service.service.class_reading import may_be_about_a_class
from graph_service.service.graph_slice import (
    DEFAULT_RANKS,
    ClassPart,
    GraphSlice,
    rank_codes,
    relation_filter,
)
from graph_service.service.linking import OpenGraph, QuestionLinker, unknown_entity
from graph_service.service.lookup import read_id
from graph_service.service.stopwatch import Stopwatch
from graph_service.service.store_types import typed_neighbourhood
from graph_service.service.store_views import StoreViews, ViewRegion, ViewSlice
from graph_service.service.stored_names import StoredNameReader
from graph_service.store.lookup import read_merged_entities
from graph_service.store.protocol import Store
from graph_service.store.snapshot.region_graph import (
    RegionGraph,
    read_region_graph,
    region_graph_of,
)

_NAMED_EDGES = 20_000
"""Statements read around them."""
_CLASS_NAMES = 16
"""Entities that are looked at whether they are classes."""
_CLASS_HOPS = 2
"""From a class to its instances, and to what they have."""
_CLASS_EDGES = 50_000
"""Statements read of the instances of classes."""


class MergedGraphs:
    """Which entities are one thing in graphs whose arrays are not in memory, those used last kept."""

    def __init__(self, store: Store, /, *, memory: ByteBudget) -> None:
        self._store = store
        self._known: ByteCache[tuple[str, str], EqualEntities] = ByteCache(memory, "equal entities")

    def of(self, info: GraphInfo, /) -> EqualEntities:
        """Returns the groups of a graph, as 64-bit keys; read from the store at its first question."""
        key = (info.edition, info.fingerprints.content)
        equal = self._known.get(key)
        if equal is None:
            equal = read_merged_entities(self._store, info.edition).equal
            return self._known.put(key, equal, held_bytes(equal))
        return equal


class Lexicons:
    """What the linker knows of graphs whose arrays are not in memory, those used last kept."""

    def __init__(self, store: Store, /, *, memory: ByteBudget) -> None:
        self._store = store
        self._known: ByteCache[tuple[str, str], Lexicon] = ByteCache(memory, "lexicons")

    def of(self, info: GraphInfo, /) -> Lexicon:
        """Returns the lexicon of a graph, read from the store at its first question.

        It knows no misspelt names and no parts of names: those are looked up for each question.
        """
        key = (info.edition, info.fingerprints.content)
        lexicon = self._known.get(key)
        if lexicon is None:
            relations = self._store.relations(info.edition)
            labels: dict[str, list[str]] = {}
            for relation in relations:
                for language, label in relation.labels.items():
                    labels.setdefault(language, []).append(label)
            names = RelationNames.build(labels, (relation.id for relation in relations))
            lexicon = Lexicon(names, misspelt=False)
            return self._known.put(key, lexicon, held_bytes(lexicon))
        return lexicon


def read_from_store(
    store: Store,
    linker: QuestionLinker,
    views: ViewStore,
    info: GraphInfo,
    lexicon: Lexicon,
    equal: EqualEntities,
    request: RetrieveRequest,
    preset: AnyPreset,
    /,
    *,
    view: ViewSpec | None,
    deadline: Deadline,
    watch: Stopwatch,
) -> GraphSlice:
    """Returns what a question is answered from, read from the store.

    The result is that of the snapshot but for three things. Of misspelt names those are found of
    which some word is right. Of entities that share a part of their name those of the longest
    names are not looked at, where there are many. A few names of places are looked up for a
    demonym, and no more.

    Args:
        store: Where the graph is.
        linker: Finds what the question names.
        views: Draws views.
        info: The graph.
        lexicon: Of the graph.
        equal: Entities of the graph that are one thing, as 64-bit keys.
        request: What is asked.
        preset: Resolved.
        view: Specification of the request's view, as ``servable_view`` gives it.
        deadline: Raises ``DeadlineError`` when past.
        watch: Counts the stages ``open``, ``link`` and ``read``.
    """
    types = _types(store, info, request)
    ids_of_caller = [read_id(raw, argument="entity_ids") for raw in request.entity_ids]
    moved = store.entities(info.edition, ids_of_caller).entities if ids_of_caller else {}
    near = [*(moved[id_].id for id_ in ids_of_caller if id_ in moved)]
    names = StoredNameReader(store, info, request.question, lexicon, deadline).read(
        parts=isinstance(preset, LearnedPreset)
    )
    near += [*names.exact, *names.parts]
    around = read_region_graph(
        store,
        info,
        list(dict.fromkeys(near)),
        hops=1,
        max_edges=_NAMED_EDGES,
        ranks=tuple(Rank),
        deadline=deadline,
    )
    watch.stage("open")
    named = [around.graph.find_node(id_) for id_ in near]
    part = PartLexicon(
        lexicon, named=[node for node in named if node is not None], times=names.times
    )
    share_lexicon(around.graph, part)
    linking = linker.link(OpenGraph(info, around.graph), request, preset)
    linking = replace(linking, cuts=(*linking.cuts, *names.cuts))
    watch.stage("link")
    ids = around.graph.node_ids.take(linking.start_entities)
    scoped = StoreViews(store, views, info, equal, deadline)
    view_slice = None if view is None else scoped.draw(view, ids, request, preset)
    classes: ClassPart | None = None
    if may_be_about_a_class(request, preset):
        class_ids = _classes_among(store, info, [*names.exact, *names.singular], deadline)
        if class_ids:
            classes = _read_classes(
                store, info, class_ids, equal, request, preset, scoped, view_slice, deadline
            )
    if not ids:
        applied = None if view_slice is None else view_slice.view
        return GraphSlice(
            OpenGraph(info, around.graph), linking, preset, view=applied, classes=classes
        )
    if view_slice is None:
        region_graph = _read_base(store, info, ids, types, equal, request, preset, deadline)
        watch.stage("read")
        applied, region = None, _region(region_graph, ids)
    else:
        through = scoped.read(view_slice, ids, request, preset)
        region_graph, applied = through.part, through.view
        watch.stage("read")
        region = _region_of_view(through, ids, request, preset, deadline)
    start_entities = region.nodes[region.start_entities].astype(np.int32)
    return GraphSlice(
        OpenGraph(info, region_graph.graph),
        replace(
            linking,
            start_entities=start_entities,
            candidates=tuple(
                replace(start, node=node)
                for start, node in zip(linking.candidates, start_entities.tolist(), strict=False)
            ),
        ),
        preset,
        applied,
        region,
        _head_relations(store, info, region_graph.graph, deadline),
        classes=classes,
    )


def _classes_among(store: Store, info: GraphInfo, ids: list[str], deadline: Deadline) -> list[str]:
    """Returns those of some entities that have instances."""
    return [
        id_
        for id_ in list(dict.fromkeys(ids))[:_CLASS_NAMES]
        if any(
            store.statements_of(
                info.edition,
                id_,
                incoming=True,
                relation_ids=(relation,),
                limit=1,
                deadline=deadline,
            )
            for relation in sorted(INSTANCE_RELATIONS)
        )
    ]


def _read_classes(
    store: Store,
    info: GraphInfo,
    ids: list[str],
    equal: EqualEntities,
    request: RetrieveRequest,
    preset: Preset,
    views: StoreViews,
    scoped_view: ViewSlice | None,
    deadline: Deadline,
) -> ClassPart:
    """Returns the statements of the instances of some classes, by the view if there is one."""
    limits = replace(preset, hops=_CLASS_HOPS, max_edges=_CLASS_EDGES, hub_degree=None)
    if scoped_view is None:
        part = _read_base(store, info, ids, [], equal, request, limits, deadline)
        return ClassPart(part.graph, None, is_cut=bool(part.neighbourhood.truncated))
    through = views.read(scoped_view, ids, request, limits)
    return ClassPart(
        through.part.graph,
        through.view.overlay,
        is_cut=bool(through.part.neighbourhood.truncated),
    )


def _read_base(
    store: Store,
    info: GraphInfo,
    ids: list[str],
    types: list[str],
    equal: EqualEntities,
    request: RetrieveRequest,
    preset: Preset,
    deadline: Deadline,
) -> RegionGraph:
    walk = (
        partial(typed_neighbourhood, store, info, ids, types)
        if types
        else partial(store.neighbourhood, info.edition, ids)
    )
    neighbourhood = walk(
        hops=preset.hops,
        max_edges=preset.max_edges,
        hub_degree=preset.hub_degree,
        ranks=request.ranks or DEFAULT_RANKS,
        relation_ids=[read_id(raw, argument="relation_ids") for raw in request.relation_ids],
        exclude_relation_ids=[
            read_id(raw, argument="exclude_relation_ids") for raw in request.exclude_relation_ids
        ],
        equal=equal,
        deadline=deadline,
    )
    return region_graph_of(store, info, neighbourhood, equal=equal)


def _head_relations(
    store: Store, info: GraphInfo, graph: KnowledgeGraph, deadline: Deadline
) -> HeadRelations:
    """Returns what reads the relations of some entities of a part of the graph from the store."""
    numbers = {id_: index for index, id_ in enumerate(graph.relation_ids)}

    def read(heads: Int64) -> tuple[Int64, Int32]:
        ids = graph.node_ids.take(heads)
        relations_of = store.relations_of(info.edition, ids, deadline=deadline)
        pairs = [
            (index, numbers[relation])
            for index, id_ in enumerate(ids)
            for relation in relations_of.get(id_, ())
            if relation in numbers
        ]
        columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return columns[0], columns[1].astype(np.int32)

    return read


def _types(store: Store, info: GraphInfo, request: RetrieveRequest) -> list[str]:
    """Returns the ids of the types asked for, redirects followed."""
    ids = [read_id(raw, argument="type_ids") for raw in request.type_ids]
    entities = store.entities(info.edition, ids).entities if ids else {}
    for id_, raw in zip(ids, request.type_ids, strict=True):
        if id_ not in entities:
            raise unknown_entity(info, raw, argument="type_ids")
    return [entities[id_].id for id_ in ids]


def _region(part: RegionGraph, ids: list[str]) -> Region:
    neighbourhood = part.neighbourhood
    entities = range(part.graph.entity_count)
    numbers = dict(zip(part.graph.node_ids.take(entities), entities, strict=True))
    start = np.array([numbers[id_] for id_ in ids], dtype=np.int64)
    return region_of_graph(
        part.graph,
        part.graph.equal.followed_by_members(start).tolist(),
        hops={numbers[id_]: hop for id_, hop in neighbourhood.hops.items()},
        degrees={numbers[id_]: degree for id_, degree in neighbourhood.degrees.items()},
        cuts=neighbourhood.truncated,
    )


def _region_of_view(
    through: ViewRegion,
    ids: list[str],
    request: RetrieveRequest,
    preset: Preset,
    deadline: Deadline,
) -> Region:
    """Cuts the region out of a part that has all of it: what is cut is what the store left out."""
    graph, overlay = through.part.graph, through.view.overlay
    start_nodes = [node for id_ in ids if (node := graph.find_node(id_)) is not None]
    region = extract_region(
        graph,
        start_nodes,
        hops=preset.hops,
        max_edges=preset.max_edges,
        hub_degree=preset.hub_degree,
        overlay=overlay,
        ranks=rank_codes(request),
        relation_filter=relation_filter(graph, overlay, request),
        equal=graph.equal,
        degrees=through.degrees,
        deadline=deadline,
    )
    return replace(region, cuts=through.part.neighbourhood.truncated)
