"""The service over one store: its graphs, entities and retrieval, and the parts for all else."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from threading import Lock
from typing import Self

from graph_service.artifacts.candidate_scorers import CandidateScorerStore
from graph_service.artifacts.rankers import RankerStore
from graph_service.artifacts.view_jobs import ViewJobs
from graph_service.artifacts.views import ViewStore
from graph_service.byte_budget import ByteBudget, Lookups
from graph_service.embed import Vectors
from graph_service.errors import InputError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.introduction import ExampleQuestion, Introduction
from graph_service.model.limits import Deadline
from graph_service.model.request import RetrieveRequest, ViewRef, check_languages
from graph_service.model.result import RetrievalResult, SearchHit, Strategy, SubgraphResult, Triple
from graph_service.retrieve.learned.rankers import CandidateRanker, NoteRanking
from graph_service.retrieve.learned.relation_names import RelationAliases
from graph_service.service.batch import Outcome, check_count
from graph_service.service.comparison import (
    Comparison,
    check_compared,
    compared,
)
from graph_service.service.counting import (
    GraphAbout,
    Overviews,
)
from graph_service.service.draws import Draws
from graph_service.service.embedded_names import EmbeddedNames
from graph_service.service.example_questions import ExampleBuilder
from graph_service.service.graphs import Graphs, OpenArrays
from graph_service.service.introduction import MOST_CLASSES, Introductions
from graph_service.service.longtail import LongTail
from graph_service.service.lookup import (
    read_id,
)
from graph_service.service.passages import (
    Passages,
    PassageSearch,
)
from graph_service.service.read_session import ReadSession
from graph_service.service.renamed_search import ViewNames, label_of, search_renamed
from graph_service.service.retrieval import Retriever
from graph_service.service.scoped_store import scoped_store
from graph_service.service.scorers import Scorers
from graph_service.service.shaping import statement_changes
from graph_service.service.statements import Statements
from graph_service.service.store_route import MergedGraphs
from graph_service.service.views import Views
from graph_service.settings import Settings
from graph_service.store.protocol import EntityLookup, Store
from graph_service.store.reads import ReadNotes, Reads
from graph_service.store.recall import LastReads, recalling

MAX_SCOPES = 256
"""Sets of graphs, each seen by some callers, of which the service is kept; each is a few objects."""


class Service:
    """Answers reads. Safe to use from several threads.

    Args:
        store: An open store; closed with the service.
        vectors: Text vectors; opened at first use where it is a function.
        settings: Limits and names.
        memory: What all caches share; one of the settings' size where it is not given.
        part_of: The service whose open graphs and jobs it shares; None for one of its own.

    Attributes:
        statements: Pages of statements at an entity, counts of them, and statements by id.
        views: Perturbed views: made, listed, compared with their base.
        scorers: Trained scorers of triples.
        rankers: Trained rankers of relations, which preset ``ltgen`` ranks by.
        candidate_scorers: Scorers of relation sequences, trained on a graph each, which preset
            ``default-6`` ranks by.
        passages: Texts beside a graph.
        long_tail: Page views of entities, and samples of long-tail entities.
        draws: Related pairs and entities that data sets are begun from.
    """

    def __init__(
        self,
        store: Store,
        /,
        *,
        vectors: Vectors | Callable[[], Vectors],
        settings: Settings,
        memory: ByteBudget | None = None,
        part_of: Service | None = None,
    ) -> None:
        self.store = store
        self.settings = settings
        self.memory = memory or ByteBudget(settings.memory_bytes)
        self._vectors = vectors
        if part_of is None:
            self._last_reads = LastReads(store, memory=self.memory)
            store = self._last_reads.store
        else:
            self._last_reads = part_of._last_reads
        self._notes = ReadNotes(store)
        # All parts read through it: what one reads past it is missing where an answer is kept.
        store = self._notes.store
        cache: OpenArrays | None = None if part_of is None else part_of._graphs.cache
        jobs: ViewJobs | None = None if part_of is None else part_of.views.jobs
        self._graphs: Graphs = Graphs(store, settings, notes=self._notes, cache=cache)
        self._view_store = ViewStore(store, memory=self.memory)
        self.views: Views = Views(self._graphs, self._view_store, jobs=jobs)
        self.scorers = Scorers(self._graphs, self._view_store, vectors=lambda: self.vectors)
        self.rankers = RankerStore(store, memory=self.memory)
        self.candidate_scorers = CandidateScorerStore(store, memory=self.memory)
        self._merged_graphs = merged_graphs = MergedGraphs(store, memory=self.memory)
        self.statements = Statements(
            self._graphs, self._view_store, merged_graphs, entities=self.entities
        )
        self._retriever = Retriever(
            self._graphs,
            views=self._view_store,
            rankers=self.rankers,
            candidate_scorers=self.candidate_scorers,
            merged_graphs=merged_graphs,
            vectors=lambda: self.vectors,
            memory=self.memory,
        )
        self.long_tail = LongTail(self._graphs, entities=self.entities, memory=self.memory)
        self.draws = Draws(self._graphs)
        self.passages = Passages(
            self._graphs,
            PassageSearch(store, vectors=lambda: self.vectors, memory=self.memory),
        )
        self._overviews = Overviews(memory=self.memory)
        self._introductions = Introductions(memory=self.memory)
        self._vectors_lock = Lock()
        self._scoped: OrderedDict[frozenset[str], Service] = OrderedDict()
        self._scoped_lock = Lock()

    def scoped_to(self, graphs: Collection[str] | None, /) -> Service:
        """Returns the service as one sees it who may see some graphs alone; None for all.

        The others do not exist there, by whatever way they are asked for. It shares the open
        graphs, caches and jobs of this service, and is open as long as this one.
        """
        if graphs is None:
            return self
        names = frozenset(graphs)
        with self._scoped_lock:
            known = self._scoped.pop(names, None) or self._made_for(names)
            self._scoped[names] = known
            if len(self._scoped) > MAX_SCOPES:
                self._scoped.popitem(last=False)
        return known

    def _made_for(self, names: frozenset[str]) -> Service:
        chosen = self.settings.graph
        return Service(
            scoped_store(self._last_reads.store, names),
            vectors=lambda: self.vectors,
            # The operator's default graph would be named by the error that it is not there.
            settings=replace(self.settings, graph=chosen if chosen in names else ""),
            memory=self.memory,
            part_of=self,
        )

    # Graphs

    def one_reading(
        self, deadline: Deadline | None = None, /
    ) -> AbstractContextManager[ReadSession]:
        """Lets all reads of its block in this thread see one edition of each graph.

        They also share one time limit, from now on where none is given. A block inside another
        is a part of it.
        """
        return self._graphs.one_reading(deadline)

    def still_hold(self, reads: Reads, /) -> bool:
        """Returns whether what an operation has read of the store is still so."""
        return self._notes.hold(reads)

    def graphs(self) -> list[GraphInfo]:
        """Returns all graphs of the store, by name."""
        return self._graphs.list()

    def graph(self, name: str | None = None, /) -> GraphInfo:
        """Returns a graph; without a name, the one of the settings or the only one there is.

        Raises:
            GraphNotFoundError: There is none of that name, or more than one to choose from.
            InputError: The name is empty.
        """
        return self._graphs.find(name)

    @property
    def open_editions(self) -> frozenset[str]:
        """The editions whose arrays are open."""
        return self._graphs.cache.editions()

    def graph_lookups(self) -> Lookups:
        """Returns how often a graph's arrays were open and were not, since this was last asked."""
        return self._graphs.cache.take_lookups()

    def arrays(self, info: GraphInfo, /) -> KnowledgeGraph:
        """Returns a graph as arrays; each edition is opened once and kept while it is used."""
        return self._graphs.arrays(info)

    def delete_graph(self, name: str, /) -> None:
        """Deletes a graph with its views, passages and page views, or what a first load left.

        Raises:
            GraphNotFoundError: There is none of that name.
        """
        self.store.delete_graph(name)

    # Entities

    def entities(
        self, ids: Sequence[str], /, *, graph: str | None = None, argument: str = "ids"
    ) -> EntityLookup:
        """Returns entities by id (``Q42``, an IRI, ``dbr:Rome``), redirects followed.

        Raises:
            InputError: An id is empty or holds what no store can; names the argument.
        """
        info = self.graph(graph)
        ids_of = {raw: read_id(raw, argument=argument) for raw in ids}
        entities = self.store.entities(info.edition, list(dict.fromkeys(ids_of.values()))).entities
        return EntityLookup(
            entities={raw: entities[id_] for raw, id_ in ids_of.items() if id_ in entities},
            missing=tuple(raw for raw, id_ in ids_of.items() if id_ not in entities),
        )

    def search(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        view: ViewRef | None = None,
        languages: Sequence[str] = (),
        limit: int = 10,
        offset: int = 0,
        and_one_more: bool = False,
        prefix: bool = False,
    ) -> list[SearchHit]:
        """Returns entities by name, best first.

        Args:
            query: Words of a name.
            graph: Name of the graph.
            view: The view by whose names entities are found; None for the base.
            languages: They rank, and leave nothing out.
            limit: How many at most.
            offset: How many of the best to pass over.
            and_one_more: Adds the next one, if there is one: it says that others follow.
            prefix: Whether the last word may be the beginning of one, as a person types it.
        """
        if not query.strip():
            raise InputError("the search is empty; give a name or a part of one", argument="query")
        self._graphs.check_limit(limit)
        check_languages(languages)
        deadline = self._graphs.deadline()
        info = self.graph(graph)
        names = self._names_on(info, view)
        search = partial(
            self.store.search,
            info.edition,
            query,
            languages=languages,
            prefix=prefix,
            deadline=deadline,
        )
        most = offset + limit + and_one_more
        if names is None:
            return search(limit=most)[offset:]
        return search_renamed(
            names,
            query,
            search=search,
            entities=partial(self.store.entities, info.edition),
            languages=languages,
            limit=most,
            prefix=prefix,
            deadline=deadline,
        )[offset:]

    def names_on(self, view: ViewRef | None, /, *, graph: str | None = None) -> ViewNames | None:
        """Returns what a view calls the entities that it renames; None where all keep their names."""
        return self._names_on(self.graph(graph), view)

    def _names_on(self, info: GraphInfo, view: ViewRef | None) -> ViewNames | None:
        if view is None:
            return None
        arrays, applied = self.statements.apply(info, view)
        if applied is None or applied.delta.names is None:
            return None
        return ViewNames(arrays, applied.delta.names)

    def about(self, *, graph: str | None = None, view: ViewRef | None = None) -> GraphAbout:
        """Returns how often a graph or a view uses each relation, and the sizes of its classes."""
        info = self.graph(graph)
        if view is None and self._graphs.is_read_from_store(info):
            overviews, deadline = self._overviews, self._graphs.deadline()
            equal = self._merged_graphs.of(info)
            return GraphAbout(overviews.of_store(self.store, info, equal, deadline))
        arrays, applied = self.statements.apply(info, view)
        if applied is None:
            return GraphAbout(self._overviews.of_arrays(arrays, None))
        overview = self._overviews.of_arrays(arrays, applied.overlay)
        return GraphAbout(overview, applied.id, applied.spec.to_json())

    def introduction(
        self, *, graph: str | None = None, languages: Sequence[str] = ("en",)
    ) -> Introduction:
        """Returns what a graph is about in one line, and its most central entities."""
        check_languages(languages)
        info = self.graph(graph)
        classes = self.about(graph=info.name).overview.classes[:MOST_CLASSES]
        ids = [size.class_id for size in classes]
        entities = self.entities(ids, graph=info.name).entities if ids else {}
        labels = [label_of(entities[id_], languages) for id_ in ids if id_ in entities]
        arrays = None if self._graphs.is_read_from_store(info) else self.arrays(info)
        equal = self._merged_graphs.of(info) if arrays is None else arrays.equal
        return self._introductions.introduce(info, labels, arrays, equal, languages)

    def example_questions(
        self, *, graph: str | None = None, languages: Sequence[str] = ("en",)
    ) -> tuple[ExampleQuestion, ...]:
        """Returns questions about a graph, made of its statements and checked by retrieval.

        There are none of a graph that is too large to be opened as arrays.
        """
        info = self.graph(graph)
        builder = self._example_builder(info, languages)
        return self._introductions.examples(info, languages, builder.make)

    def answered_questions(
        self, *, graph: str | None = None, most: int, seconds: float
    ) -> tuple[str, ...]:
        """Returns the first questions about a graph that it answers as sure, at most so many, and
        those alone that are found in the time.
        """
        end = time.monotonic() + seconds
        builder = self._example_builder(
            self.graph(graph), ("en",), is_over=lambda: time.monotonic() > end
        )
        answered = (each.question for each in builder.questions() if each.answer is not None)
        return tuple(islice(answered, most))

    def _example_builder(
        self,
        info: GraphInfo,
        languages: Sequence[str],
        *,
        is_over: Callable[[], bool] = lambda: False,
    ) -> ExampleBuilder:
        introduction = self.introduction(graph=info.name, languages=languages)

        def triples_of(id_: str) -> list[Triple]:
            page = self.statements.of(id_, graph=info.name, languages=languages)
            return [row.edge.triple for row in page]

        def retrieve_paths(question: str) -> RetrievalResult:
            return self.retrieve(
                RetrieveRequest(
                    question, Strategy.PATHS, graph=info.name, languages=tuple(languages)
                )
            )

        return ExampleBuilder(introduction.central, triples_of, retrieve_paths, is_over)

    # Retrieval

    def retrieve(self, request: RetrieveRequest, /) -> RetrievalResult:
        """Returns triplets, paths or a subgraph for a question (O3 to O7).

        Raises:
            InputError: An argument is at fault; says which and what was expected.
            DeadlineError: The read's time limit ran out.
        """
        request.validate()
        with recalling():
            result = self._retriever.retrieve(request, self._graphs.deadline())
        self._graphs.note_transient([result])
        return result

    def embed_names(self, info: GraphInfo, /) -> Iterator[EmbeddedNames]:
        """Embeds the names of a graph's relations and of kinds, so that no question has to.

        Yields:
            How many relations are done: before the first batch, and after each.
        """
        return self._retriever.embed_names(info)

    def retrieve_many(self, requests: Sequence[RetrieveRequest], /) -> list[Outcome]:
        """Returns what each of some questions retrieves, or the error it has; in order.

        All read one edition of each graph, share one time limit, and are embedded in one batch.

        Raises:
            InputError: There are none, or more than the setting ``max_questions``.
        """
        check_count(len(requests), self.settings.max_questions)
        with self.one_reading() as reading, recalling():
            outcomes = self._retriever.retrieve_many(requests, reading.deadline)
            self._graphs.note_transient(outcomes)
        return outcomes

    def relation_aliases(self, info: GraphInfo, languages: Sequence[str], /) -> RelationAliases:
        """Returns what gives the other names of a graph's relations, by id."""
        return self._retriever.aliases.of(info, languages)

    @contextmanager
    def ranking_by(self, ranker: CandidateRanker, /) -> Iterator[None]:
        """Ranks relation sequences by another ranker than the graph's or the shipped one, for a while.

        For training and measuring: results of other threads are by it too.
        """
        rankers = self._retriever.candidate_rankers
        before, rankers.replacement = rankers.replacement, ranker
        try:
            yield
        finally:
            rankers.replacement = before

    @contextmanager
    def noting_rankings(self, note: NoteRanking, /) -> Iterator[None]:
        """Hands on what the trained ranker makes of each question, for a while.

        For measuring: results are the same, and those of other threads are handed on too.
        """
        rankers = self._retriever.candidate_rankers
        before, rankers.note = rankers.note, note
        try:
            yield
        finally:
            rankers.note = before

    def compare(self, request: RetrieveRequest, views: Sequence[ViewRef], /) -> list[Comparison]:
        """Returns the base's result and those of up to ten views, linked once (S3).

        A view that gives entities other names links by those.
        """
        check_compared(len(views))
        if request.view is not None:
            raise InputError(
                "compare begins with the base: give all views in views", argument="view"
            )
        request.validate()
        with recalling():
            results = list(self._retriever.compare(request, views, self._graphs.deadline()))
        self._graphs.note_transient(results)
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
        self._graphs.check_limit(limit)
        check_languages(languages)
        if not 1 <= hops <= self.settings.max_hops:
            raise InputError(
                f"hops must be 1 to {self.settings.max_hops}, got {hops}", argument="hops"
            )
        with recalling():
            result = self._retriever.around(
                self._graphs.open(graph),
                entity_id,
                view=view,
                hops=hops,
                limit=limit,
                languages=tuple(languages),
                deadline=self._graphs.deadline(),
            )
        self._graphs.note_transient([result])
        return result

    @property
    def vectors(self) -> Vectors:
        """The text vectors, opened at first use."""
        with self._vectors_lock:
            if callable(self._vectors):
                self._vectors = self._vectors()
            return self._vectors

    @property
    def damaged_vectors(self) -> int:
        """How many vectors were read damaged from their file, and computed again."""
        file = None if callable(self._vectors) else self._vectors.file
        return 0 if file is None else file.damaged

    # Life

    def close(self) -> None:
        """Cancels jobs and closes the store and the vector file."""
        self.views.close()
        if not callable(self._vectors):
            self._vectors.close()
        self.store.close()

    def __enter__(self) -> Self:
        """Returns the service, which closes at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the service at the end of a block."""
        self.close()
