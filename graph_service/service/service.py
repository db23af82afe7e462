"""The service: graphs, entities, retrieval and views of one store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Lock
from types import TracebackType
from typing import Self

import numpy as np

from graph_service.artifacts.rankers import RankerStore
from graph_service.artifacts.scorers import StoredScorer
from graph_service.artifacts.view_jobs import ViewJobs
from graph_service.artifacts.views import AppliedView, ViewStore
from graph_service.byte_budget import ByteBudget
from graph_service.embed import Vectors
from graph_service.errors import GraphNotFoundError, InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.pageviews import PageViews
from graph_service.model.passage import PassageRanking, PassagesResult
from graph_service.model.request import RetrieveRequest, ViewRef, check_languages
from graph_service.model.result import RetrievalResult, SearchHit, SubgraphResult
from graph_service.model.statement import Statement
from graph_service.model.stored_view import StoredView, ViewState
from graph_service.model.view_spec import ViewSpec
from graph_service.sampling import SampleSpec
from graph_service.service.batch import Outcome, check_count, retrieve_many
from graph_service.service.comparison import (
    Comparison,
    ShownStatement,
    ViewChange,
    base_id,
    changed_edges,
    compared,
)
from graph_service.service.entity_texts import entity_texts
from graph_service.service.linking import OpenGraph
from graph_service.service.longtail import LongTail, Sample
from graph_service.service.lookup import (
    edges_from,
    find_relations,
    read_id,
    relations_of,
    require_base,
)
from graph_service.service.passages import (
    EmbeddingProgress,
    PassageSearch,
    TitleLinker,
    check_query,
)
from graph_service.service.read_session import ReadingOfThread, ReadSession
from graph_service.service.retrieval import GraphSlice, Retriever, Stopwatch
from graph_service.service.shaping import statement_changes
from graph_service.service.store_route import Lexicons, read_from_store
from graph_service.service.triples import ShownEdge, TripleRenderer
from graph_service.settings import Settings
from graph_service.store.page_views import delete_page_views
from graph_service.store.passages import PassageSet
from graph_service.store.protocol import EntityLookup, Store
from graph_service.views.measure.describe import describe_change, differences
from graph_service.views.scorer.trained import TrainedScorer

SNAPSHOTS_KEPT = 4
MAX_COMPARED = 10


class Service:
    """Answers reads and makes views. Safe to use from several threads.

    Args:
        store: An open store; closed with the service.
        vectors: Text vectors; opened at first use where it is a function.
        settings: Limits and names.
        memory: What all caches share; one of the settings' size where it is not given.

    Attributes:
        rankers: Trained rankers of relations, which preset ``ltgen`` ranks by.
    """

    def __init__(
        self,
        store: Store,
        /,
        *,
        vectors: Vectors | Callable[[], Vectors],
        settings: Settings,
        memory: ByteBudget | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.memory = memory or ByteBudget(settings.memory_bytes)
        self._vectors = vectors
        self._graphs: OrderedDict[tuple[str, str], KnowledgeGraph] = OrderedDict()
        self._building: dict[tuple[str, str], Lock] = {}
        self._views = ViewStore(store, memory=self.memory)
        self._view_jobs = ViewJobs(self._views)
        self.rankers = RankerStore(store, memory=self.memory)
        self._retriever = Retriever(
            store,
            views=self._views,
            rankers=self.rankers,
            vectors=lambda: self.vectors,
            settings=settings,
        )
        self._lexicons = Lexicons(store, memory=self.memory)
        self._long_tail = LongTail(store, memory=self.memory)
        self._passages = PassageSearch(store, vectors=lambda: self.vectors, memory=self.memory)
        self._graphs_lock = Lock()
        self._vectors_lock = Lock()
        self._of_thread = ReadingOfThread()

    @contextmanager
    def one_reading(self, deadline: Deadline | None = None, /) -> Iterator[ReadSession]:
        """Lets all reads of its block in this thread see one edition of each graph.

        They also share one time limit, from now on where none is given. A block inside another
        is a part of it.
        """
        outer = self._of_thread.current
        if outer is not None:
            yield outer
            return
        self._of_thread.current = ReadSession(self.store, deadline or self._deadline())
        try:
            yield self._of_thread.current
        finally:
            self._of_thread.current = None

    # Graphs

    def graphs(self) -> list[GraphInfo]:
        """Returns all graphs of the store, by name."""
        return (self._of_thread.current or self.store).graphs()

    def graph(self, name: str | None = None, /) -> GraphInfo:
        """Returns a graph; without a name, the one of the settings or the only one there is.

        Raises:
            GraphNotFoundError: There is none of that name, or more than one to choose from.
            InputError: The name is empty.
        """
        if name == "":
            raise InputError("the graph's name is empty", argument="graph")
        chosen = name or self.settings.graph
        if chosen:
            return (self._of_thread.current or self.store).graph(chosen)
        known = self.graphs()
        if len(known) == 1:
            return known[0]
        if not known:
            raise GraphNotFoundError(
                "the store has no graph yet",
                argument="graph",
                hint="Load one: graph-service load SOURCE --graph NAME",
            )
        names = ", ".join(info.name for info in known)
        raise GraphNotFoundError(
            f"the store has {len(known)} graphs: {names}; say which",
            argument="graph",
            hint="On the command line: --graph NAME",
        )

    def arrays(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns a graph as arrays; each edition is opened once and kept while it is used."""
        key = (info.edition, info.fingerprints.content)
        with self._graphs_lock:
            graph = self._graphs.get(key)
            if graph is not None:
                self._graphs.move_to_end(key)
            else:
                building = self._building.setdefault(key, Lock())
        if graph is not None:
            self.store.mend_snapshot(info)
            return graph
        with building:
            with self._graphs_lock:
                graph = self._graphs.get(key)
            if graph is None:
                graph = self.store.snapshot(info)
            with self._graphs_lock:
                self._graphs[key] = graph
                while len(self._graphs) > SNAPSHOTS_KEPT:
                    self._graphs.popitem(last=False)
                self._building.pop(key, None)
        return graph

    def delete_graph(self, name: str, /) -> None:
        """Deletes a graph with its views, passages and page views, or what a first load left.

        Raises:
            GraphNotFoundError: There is none of that name.
        """
        self.store.delete_graph(name)

    def _open(self, name: str | None) -> OpenGraph:
        info = self.graph(name)
        return OpenGraph(info, self.arrays(info))

    # Entities

    def entities(
        self, ids: Sequence[str], /, *, graph: str | None = None, argument: str = "ids"
    ) -> EntityLookup:
        """Returns entities by id (``Q42``, an IRI, ``dbr:Rome``), redirects followed.

        Raises:
            InputError: An id is empty or holds what no store can; names the argument.
        """
        info = self.graph(graph)
        wanted = {raw: read_id(raw, argument=argument) for raw in ids}
        found = self.store.entities(info.edition, list(dict.fromkeys(wanted.values()))).found
        return EntityLookup(
            found={raw: found[id_] for raw, id_ in wanted.items() if id_ in found},
            missing=tuple(raw for raw, id_ in wanted.items() if id_ not in found),
        )

    def search(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        languages: Sequence[str] = (),
        limit: int = 10,
    ) -> list[SearchHit]:
        """Returns entities by name, best first."""
        if not query.strip():
            raise InputError("the search is empty", argument="query")
        self._check_limit(limit)
        check_languages(languages)
        return self.store.search(
            self.graph(graph).edition,
            query,
            languages=languages,
            limit=limit,
            deadline=self._deadline(),
        )

    def statements_of(
        self,
        entity_id: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        relation_ids: Sequence[str] = (),
        languages: Sequence[str] = ("en",),
        limit: int = 100,
    ) -> list[ShownStatement]:
        """Returns the statements that have an entity as their head, of every rank.

        None where the graph lacks the entity. On a view, a changed statement keeps the
        qualifiers and references of its base.
        """
        self._check_limit(limit)
        check_languages(languages)
        base = self._open(graph)
        if view is not None:
            require_base(base.info)
        laid = self._views.apply(base.arrays, view, deadline=self._deadline())
        overlay = laid.overlay if laid else None
        found = self.entities([entity_id], graph=base.info.name, argument="id").found
        node = base.arrays.find_node(found[entity_id].id) if found else None
        if node is None:
            return []
        edges = edges_from(base.arrays, overlay, node)
        if relation_ids:
            wanted = find_relations(base.arrays, overlay, relation_ids)
            edges = edges[np.isin(relations_of(base.arrays, overlay, edges), wanted)]
        shown = TripleRenderer(base.arrays, overlay, languages).show(edges[:limit].tolist())
        return self._with_statements(base.info, list(shown.values()))

    def _with_statements(self, info: GraphInfo, shown: Sequence[ShownEdge]) -> list[ShownStatement]:
        base_ids = [base_id(edge) for edge in shown]
        known = self.store.statements(info.edition, [id_ for id_ in base_ids if id_ is not None])
        statements = []
        for edge, id_ in zip(shown, base_ids, strict=True):
            base = known.get(id_) if id_ is not None else None
            statement = Statement(
                id=edge.triple.statement_id,
                head=edge.triple.head.id,
                relation=edge.triple.relation.id,
                value=edge.triple.value,
                rank=edge.triple.rank,
                qualifiers=base.qualifiers if base else (),
                references=base.references if base else (),
                context=base.context if base else None,
            )
            statements.append(ShownStatement(statement, edge))
        return statements

    # Retrieval

    def retrieve(self, request: RetrieveRequest, /) -> RetrievalResult:
        """Returns triplets, paths or a subgraph for a question (O3 to O7).

        Raises:
            InputError: An argument is at fault; says which and what was expected.
            DeadlineError: The read's time limit ran out.
        """
        request.validate()
        deadline, watch = self._deadline(), Stopwatch()
        ground = self._ground(self.graph(request.graph), request, watch, deadline)
        return self._retriever.retrieve(ground, request, deadline=deadline, watch=watch)

    def retrieve_many(self, requests: Sequence[RetrieveRequest], /) -> list[Outcome]:
        """Returns what each of some questions retrieves, or the error it has; in order.

        All read one edition of each graph, share one time limit, and are embedded in one batch.

        Raises:
            InputError: There are none, or more than the setting ``max_questions``.
        """
        check_count(len(requests), self.settings.max_questions)
        with self.one_reading() as reading:
            return retrieve_many(
                requests,
                retriever=self._retriever,
                find_graph=self.graph,
                read=partial(self._ground, deadline=reading.deadline),
                deadline=reading.deadline,
            )

    def _ground(
        self, info: GraphInfo, request: RetrieveRequest, watch: Stopwatch, deadline: Deadline
    ) -> GraphSlice:
        """Returns what a question is answered from: a snapshot, or a part that the store gives."""
        if request.view is None and info.counts.statements > self.settings.snapshot_edges:
            if request.linking_accuracy is not None:
                raise InputError(
                    f"linking_accuracy draws from all entities of a graph, and {info.name!r} has more "
                    f"than {self.settings.snapshot_edges} statements, so that it is not read whole",
                    argument="linking_accuracy",
                    hint="Raise GRAPH_SERVICE_SNAPSHOT_EDGES.",
                )
            preset = self._retriever.preset(request)
            return read_from_store(
                self.store,
                self._retriever,
                info,
                self._lexicons.of(info),
                request,
                preset,
                deadline=deadline,
                watch=watch,
            )
        base = OpenGraph(info, self.arrays(info))
        watch.stage("open")
        linking = self._retriever.link(base, request)
        watch.stage("link")
        return GraphSlice(base, linking)

    def compare(self, request: RetrieveRequest, views: Sequence[ViewRef], /) -> list[Comparison]:
        """Returns the base's result and those of up to ten views, linked once (S3)."""
        if not 1 <= len(views) <= MAX_COMPARED:
            raise InputError(
                f"compare takes 1 to {MAX_COMPARED} views, got {len(views)}", argument="views"
            )
        if request.view is not None:
            raise InputError(
                "compare begins with the base: give all views in views", argument="view"
            )
        request.validate()
        deadline = self._deadline()
        base = self._open(request.graph)
        ground = GraphSlice(base, self._retriever.link(base, request))
        results = [
            self._retriever.retrieve(
                ground, replace(request, view=view), deadline=deadline, watch=Stopwatch()
            )
            for view in (None, *views)
        ]
        base_changes = statement_changes(results[0])
        return [compared(result, base_changes) for result in results]

    def neighbourhood(
        self,
        entity_id: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        hops: int = 1,
        limit: int = 100,
        languages: Sequence[str] = ("en",),
    ) -> SubgraphResult:
        """Returns the statements within some hops of an entity, nearest first."""
        self._check_limit(limit)
        check_languages(languages)
        if not 1 <= hops <= self.settings.max_hops:
            raise InputError(
                f"hops must be 1 to {self.settings.max_hops}, got {hops}", argument="hops"
            )
        return self._retriever.around(
            self._open(graph),
            entity_id,
            view=view,
            hops=hops,
            limit=limit,
            languages=tuple(languages),
            deadline=self._deadline(),
        )

    # Page views and samples

    def page_views(
        self, ids: Sequence[str], /, *, graph: str | None = None
    ) -> dict[str, PageViews]:
        """Returns the page views of entities, by the id asked for; those without are absent (L1)."""
        info = self.graph(graph)
        table = self._long_tail.table(info.name)
        if not len(table.keys):
            return {}
        views = {raw: table.find(raw) for raw in ids}
        others = [raw for raw, found in views.items() if found is None]
        if others:
            # A prefix, a redirect, the id of the same entity elsewhere.
            looked_up = self.entities(others, graph=info.name).found
            views |= {raw: table.find(entity.id) for raw, entity in looked_up.items()}
        return {raw: found for raw, found in views.items() if found is not None}

    def delete_page_views(self, *, graph: str | None = None) -> bool:
        """Deletes the page views of a graph; returns whether there were any."""
        return delete_page_views(self.store, self.graph(graph).name)

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
        base = self._open(graph)
        return self._long_tail.sample(base.info, base.arrays, spec, languages=tuple(languages))

    # Passages

    def passages(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        k: int = 10,
        by: PassageRanking = PassageRanking.BOTH,
        min_score: float | None = None,
        languages: Sequence[str] = ("en",),
    ) -> PassagesResult:
        """Returns the passages of a graph that answer a query best (L6); views leave them alone.

        Args:
            query: Words or a question.
            graph: Its name.
            k: Passages at most.
            by: ``words`` ranks by BM25, as a share of the most a passage could have; ``vectors``
                by the cosine with the embedder's vectors; ``both`` by the mean of the two.
            min_score: Passages below it are left out.
            languages: Languages of the entities' labels.

        Raises:
            InputError: An argument is at fault.
            DeadlineError: The read's time limit ran out. Vectors that were computed are kept.
        """
        check_query(query, k=k, most=self.settings.max_items, min_score=min_score)
        check_languages(languages)
        return self._passages.search(
            self.graph(graph),
            query,
            by=by,
            k=k,
            min_score=min_score,
            languages=tuple(languages),
            deadline=self._deadline(),
        )

    def passage_sets(self, *, graph: str | None = None) -> list[PassageSet]:
        """Returns what was loaded as passages of a graph, unfinished loads too."""
        return self.store.passages.sets(graph=self.graph(graph).name)

    def delete_passages(self, *, graph: str | None = None, source: str | None = None) -> int:
        """Deletes a graph's passages, or those of one source; returns how many."""
        return self.store.passages.delete(self.graph(graph).name, source=source)

    def embed_passages(
        self,
        *,
        graph: str | None = None,
        progress: Callable[[EmbeddingProgress], None] | None = None,
    ) -> int:
        """Computes the vectors that a graph's passages lack; returns how many have one then."""
        return self._passages.embed(self.graph(graph).name, progress=progress)

    def passage_linker(self, *, graph: str | None = None) -> TitleLinker:
        """Returns what finds the entity that a document is about."""
        base = self._open(graph)
        return TitleLinker(self.store, base.info, base.arrays)

    @property
    def vectors(self) -> Vectors:
        """The text vectors, opened at first use."""
        with self._vectors_lock:
            if callable(self._vectors):
                self._vectors = self._vectors()
            return self._vectors

    # Views

    def create_view(
        self,
        spec: ViewSpec,
        /,
        *,
        graph: str | None = None,
        name: str | None = None,
        note: str = "",
        wait: bool = True,
        progress: Callable[[float], None] | None = None,
    ) -> StoredView:
        """Makes a view of a graph, measures its deviation (O11) and stores it (S4).

        Args:
            spec: What is asked.
            graph: Name of the base.
            name: A person's name for it.
            note: Anything a person wants to remember.
            wait: False returns at once; ``get_view`` then says how far it has come.
            progress: Told the share of the work done, where it is waited for.
        """
        info = self.graph(graph)
        require_base(info)
        if wait:
            return self._views.create(
                self.arrays(info), spec, name=name, note=note, progress=progress
            )
        return self._view_jobs.start(
            info.name,
            spec,
            edges=info.fingerprints.edges,
            arrays=lambda: self.arrays(info),
            name=name,
            note=note,
        )

    def settle_view(self, spec: ViewSpec, /, *, graph: str | None = None) -> ViewSpec:
        """Returns a specification that names its scorer in full, where it says ``trained``."""
        info = self.graph(graph)
        return self._views.resolve(spec, graph=info.name, edges=info.fingerprints.edges)

    def cancel_view(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Cancels the making of a view and returns it; one that is done stays."""
        info = self.graph(graph)
        return self._view_jobs.cancel(info.name, reference, edges=info.fingerprints.edges)

    def lay_view(
        self, reference: ViewRef, /, *, graph: str | None = None
    ) -> tuple[KnowledgeGraph, AppliedView]:
        """Returns a base as arrays and a view laid over it."""
        base = self._open(graph)
        require_base(base.info)
        laid = self._views.apply(base.arrays, reference, deadline=self._deadline())
        assert laid is not None
        return base.arrays, laid

    def measured_view(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Returns a stored view with its deviation, measured now if it was made without."""
        view = self.get_view(reference, graph=graph)
        if view.stale or view.state is not ViewState.DONE:
            return view
        if view.deviation is not None and view.deviation.scorer == self._views.ats_scorer_name(
            view.graph, edges=view.edges
        ):
            return view
        return self._views.measured(self._open(graph).arrays, view)

    def list_views(self, *, graph: str | None = None) -> list[StoredView]:
        """Returns the stored views of a graph, oldest first."""
        info = self.graph(graph)
        return self._views.list(info.name, edges=info.fingerprints.edges)

    def get_view(self, reference: str, /, *, graph: str | None = None) -> StoredView:
        """Returns a stored view by id or name."""
        info = self.graph(graph)
        return self._views.get(info.name, reference, edges=info.fingerprints.edges)

    def delete_view(self, reference: str, /, *, graph: str | None = None) -> str:
        """Deletes a stored view and returns its id."""
        info = self.graph(graph)
        return self._views.delete(info.name, reference, edges=info.fingerprints.edges)

    def diff_view(
        self,
        reference: ViewRef,
        /,
        *,
        graph: str | None = None,
        languages: Sequence[str] = ("en",),
        first: int = 50,
        offset: int = 0,
    ) -> tuple[list[ViewChange], int]:
        """Returns changes of a view, and how many there are in all.

        Removed statements come first, then changed ones, then added ones.
        """
        self._check_limit(first, argument="first")
        arrays, laid = self.lay_view(reference, graph=graph)
        page = list(differences(arrays, laid.delta, start=offset, count=first))
        edges_after = changed_edges(laid.overlay, page)
        maker = TripleRenderer(arrays, laid.overlay, languages)
        edges_before = [item.base_edge for item in page]
        wanted = (*edges_before, *edges_after)
        shown = maker.show([edge for edge in wanted if edge is not None])
        changes = [
            ViewChange(
                before=None if before is None else shown[before],
                after=None if after is None else shown[after],
                words=describe_change(
                    item, node_label=maker.node_label, relation_label=maker.relation_label
                ),
            )
            for item, before, after in zip(page, edges_before, edges_after, strict=True)
        ]
        return changes, laid.delta.changed_count

    # Scorers of triples

    def train_scorer(
        self,
        *,
        graph: str | None = None,
        text: bool = True,
        random_seed: int = 0,
        progress: Callable[[str, float], None] | None = None,
    ) -> StoredScorer:
        """Trains a scorer of a graph's triples and stores it; ATS is taken with it from then on.

        Args:
            graph: Name of a base graph.
            text: Whether to use the entities' texts, where they have any.
            random_seed: What is drawn follows from it.
            progress: Told the stage and the share of it that is done.

        Raises:
            InputError: The graph has too few edges or relations.
        """
        info = self.graph(graph)
        require_base(info)
        arrays = self.arrays(info)
        say = progress or (lambda stage, share: None)
        texts = None
        if text:
            texts = entity_texts(
                arrays, self.vectors, progress=lambda share: say("embedding texts", share)
            )
        return self._views.scorers.train(
            arrays,
            texts=texts,
            random_seed=random_seed,
            progress=lambda share: say("training", share),
        )

    def ats_scorer(self, *, graph: str | None = None) -> str:
        """Returns the name of the scorer that ATS is taken with: the newest trained, or counts."""
        info = self.graph(graph)
        return self._views.ats_scorer_name(info.name, edges=info.fingerprints.edges)

    def list_scorers(self, *, graph: str | None = None) -> list[StoredScorer]:
        """Returns the trained scorers of a graph, oldest first."""
        info = self.graph(graph)
        return self._views.scorers.list(info.name, edges=info.fingerprints.edges)

    def open_scorer(
        self, name: str, /, *, graph: str | None = None
    ) -> tuple[KnowledgeGraph, TrainedScorer]:
        """Returns a base as arrays and a trained scorer of its triples."""
        arrays = self.arrays(self.graph(graph))
        index = self._views.prepared(arrays).index
        return arrays, self._views.scorers.open(arrays, name, index=index)

    def delete_scorer(self, name: str, /, *, graph: str | None = None) -> str:
        """Deletes a trained scorer and returns its name."""
        info = self.graph(graph)
        return self._views.scorers.delete(info.name, name, edges=info.fingerprints.edges)

    # Life

    def close(self) -> None:
        """Cancels jobs and closes the store and the vector file."""
        self._view_jobs.close()
        if not callable(self._vectors):
            self._vectors.close()
        self.store.close()

    def __enter__(self) -> Self:
        """Returns itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Closes it."""
        self.close()

    def _deadline(self) -> Deadline:
        reading = self._of_thread.current
        return reading.deadline if reading else Deadline.after(self.settings.read_timeout_s)

    def _check_limit(self, limit: int, /, *, argument: str = "limit") -> None:
        if not 1 <= limit <= self.settings.max_items:
            raise InputError(
                f"{argument} must be 1 to {self.settings.max_items}, got {limit}",
                argument=argument,
            )
