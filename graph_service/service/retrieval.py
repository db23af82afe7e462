"""One retrieval: the preset, what it is answered from, what fits, and the result (O3 to O7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from graph_service.artifacts.candidate_scorers import CandidateScorerStore
from graph_service.artifacts.rankers import RankerStore
from graph_service.artifacts.views import ViewStore
from graph_service.byte_budget import ByteBudget
from graph_service.embed import Vectors
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import (
    LinkedEntity,
    Prizes,
    RetrievalResult,
    ScoredTriple,
    Status,
    Strategy,
    SubgraphResult,
    Tokens,
)
from graph_service.retrieve.learned.relation_names import RelationNamer
from graph_service.retrieve.preset import LearnedPreset
from graph_service.retrieve.region.cut import extract_region
from graph_service.service.batch import Outcome, retrieve_many
from graph_service.service.candidate_rankers import CandidateRankers
from graph_service.service.embedded_names import MAX_RELATIONS, EmbeddedNames, embed_names
from graph_service.service.graph_slice import LinkedQuestion, as_named
from graph_service.service.graphs import Graphs
from graph_service.service.joined_turns import joined
from graph_service.service.linking import Linking, OpenGraph, QuestionLinker
from graph_service.service.lookup import require_base
from graph_service.service.presets import PresetResolver
from graph_service.service.relation_aliases import RelationAliasReader
from graph_service.service.results import make_provenance, shape_result
from graph_service.service.selection import Selector
from graph_service.service.shaping import base_ids, detailed, fit_budget, with_id
from graph_service.service.sources import SourceReader
from graph_service.service.spelling import corrected_question
from graph_service.service.stopwatch import Stopwatch
from graph_service.service.store_route import MergedGraphs
from graph_service.service.triples import TripleRenderer
from graph_service.service.turns import Turn, TurnReader, as_one, is_plain
from graph_service.store.recall import recall_cuts
from graph_service.text.fold import relation_words
from graph_service.text.questions import read_questions

NEIGHBOURHOOD = "neighbourhood"


class Retriever:
    """Answers questions on the graphs of a store.

    Args:
        graphs: The open graphs.
        views: Where views are found or made.
        rankers: Where rankers of relations are found.
        candidate_scorers: Where scorers of relation sequences are found.
        merged_graphs: The groups of entities that are one thing, of graphs above the snapshot limit.
        vectors: Gives the text vectors; called when first needed.
        memory: What is cached of graphs counts there.

    Attributes:
        candidate_rankers: What orders relation sequences under the preset that learned to.
        aliases: Gives the other names of relations.
        presets: Resolves the presets of requests.
    """

    def __init__(
        self,
        graphs: Graphs,
        /,
        *,
        views: ViewStore,
        rankers: RankerStore,
        candidate_scorers: CandidateScorerStore,
        merged_graphs: MergedGraphs,
        vectors: Callable[[], Vectors],
        memory: ByteBudget,
    ) -> None:
        self.candidate_rankers = CandidateRankers(candidate_scorers)
        self.aliases = RelationAliasReader(graphs.store, memory=memory)
        self.presets = PresetResolver(rankers=rankers, settings=graphs.settings)
        self._graphs = graphs
        self._store = graphs.store
        self._linker = QuestionLinker(graphs.store)
        self._views = views
        self._vectors = vectors
        self._sources = SourceReader(
            graphs, self._linker, views=views, merged_graphs=merged_graphs, memory=memory
        )
        self._selector = Selector(
            vectors=vectors,
            rankers=rankers,
            candidate_rankers=self.candidate_rankers,
            aliases=self.aliases,
            relation_namer=RelationNamer(memory),
            statements=self._store.statements,
        )

    def retrieve(self, request: RetrieveRequest, /, deadline: Deadline) -> RetrievalResult:
        """Returns what each question of a text retrieves, as one result."""
        return self._turns(request, deadline) or self._alone(request, deadline)

    def retrieve_many(
        self, requests: Sequence[RetrieveRequest], /, deadline: Deadline
    ) -> list[Outcome]:
        """Returns the outcome of each request, in order; their questions are embedded at once."""
        return retrieve_many(
            requests,
            find_graph=self._graphs.find,
            link=partial(self._link, deadline=deadline),
            answer=partial(self._answer, deadline=deadline),
            read_turns=partial(self._turns, deadline=deadline),
            vectors=self._vectors,
            deadline=deadline,
        )

    def compare(
        self, request: RetrieveRequest, views: Sequence[ViewRef], /, deadline: Deadline
    ) -> Iterator[RetrievalResult]:
        """Yields the base's result and that of each view, linked once.

        A view that gives entities other names links by those.
        """
        base = self._graphs.open(request.graph)
        preset = self.presets.resolve(request)
        linking: Linking | None = None
        for view in (None, *views):
            of_view, watch = replace(request, view=view), Stopwatch()
            source = self._sources.of_arrays(
                base, of_view, preset, deadline=deadline, watch=watch, linking=linking
            )
            linking = linking or source.linking
            yield self._answer(LinkedQuestion(of_view, source, watch), deadline)

    def _alone(self, request: RetrieveRequest, deadline: Deadline) -> RetrievalResult:
        """Returns what a question that stands alone retrieves."""
        linked = self._link(self._graphs.find(request.graph), request, Stopwatch(), deadline)
        return self._answer(linked, deadline)

    def _link(
        self, info: GraphInfo, request: RetrieveRequest, watch: Stopwatch, deadline: Deadline
    ) -> LinkedQuestion:
        """Returns a question with what it is answered from."""
        preset = self.presets.resolve(request)
        source = self._sources.read(info, request, preset, deadline=deadline, watch=watch)
        return LinkedQuestion(request, source, watch)

    def _answer(self, question: LinkedQuestion, deadline: Deadline) -> RetrievalResult:
        """Returns what a linked question retrieves."""
        source, request, watch = question.source, question.request, question.watch
        selected = self._selector.select(source, request, deadline=deadline, watch=watch)
        result = shape_result(source, request, selected, linker=self._linker, watch=watch)
        return self._finished(self._corrected(question, result, deadline) or result, request)

    def _corrected(
        self, question: LinkedQuestion, result: RetrievalResult, deadline: Deadline
    ) -> RetrievalResult | None:
        """Returns what a question that is not answered retrieves with its misspelt words corrected;
        None where it has none, or is not answered then either.
        """
        source, request = question.source, question.request
        is_own = request.question_vector is None and request.linking_accuracy is None
        is_learned = isinstance(source.preset, LearnedPreset) and not request.entity_ids
        if result.status is Status.OK or not (is_own and is_learned):
            return None
        embedder = self._vectors().embedder
        wording = corrected_question(
            request.question,
            source.linking.mentions,
            self._relation_labels(source.base.info),
            is_word=lambda word: embedder.count_tokens(word) == 1,
        )
        if wording is None:
            return None
        corrected = self._alone(replace(request, question=wording.text, details=False), deadline)
        return (
            joined([Turn(wording, corrected)], request) if corrected.status is Status.OK else None
        )

    def _relation_labels(self, info: GraphInfo) -> Iterator[str]:
        for relation in self._store.relations(info.edition):
            yield from relation.labels.values() or (relation_words(relation.id),)

    def _turns(self, request: RetrieveRequest, deadline: Deadline) -> RetrievalResult | None:
        """Returns what each question of a text retrieves, as one result; None for a plain one."""
        text = read_questions(request.question)
        if is_plain(request, text):
            return None
        is_learned = isinstance(self.presets.resolve(request), LearnedPreset)
        is_own = request.question_vector is None and request.linking_accuracy is None
        if not is_learned or not is_own:
            return self._alone(as_one(request), deadline)
        reader = TurnReader(
            partial(self._alone, deadline=deadline), partial(self._names_in, deadline=deadline)
        )
        result = joined(reader.read(request, text), request)
        if result.parts:
            fitted = fit_budget(
                result.items,
                strategy=request.strategy,
                budget=None,
                embedder=self._vectors().embedder,
            )
            result = replace(result, tokens=fitted.tokens)
        return self._finished(result, request)

    def _names_in(self, request: RetrieveRequest, deadline: Deadline) -> Sequence[tuple[int, int]]:
        """Returns the characters of a question that are surely names of the graph."""
        info = self._graphs.find(request.graph)
        linking = self._link(info, request, Stopwatch(), deadline).source.linking
        return linking.sure_names if linking.candidates else linking.mentions

    def _finished(self, result: RetrievalResult, request: RetrieveRequest) -> RetrievalResult:
        """Returns a result with its id, and with the details that the request asks for."""
        result = with_id(result)
        if not request.details:
            return result
        edition = result.provenance.edition
        return detailed(result, self._store.statements(edition, base_ids(result)))

    def embed_names(self, info: GraphInfo, /) -> Iterator[EmbeddedNames]:
        """Embeds what each question on a graph is compared with, whatever it asks, in batches.

        These are the names of its relations, in the languages of a request that names none, and
        of kinds. What has a vector already costs a look-up.

        Yields:
            How many relations are done: before the first batch, and after each.
        """
        request = RetrieveRequest("names", graph=info.name)
        vectors = self._vectors()
        relations = self._store.relations(info.edition)
        is_learned = isinstance(self.presets.resolve(request), LearnedPreset)
        is_trained = self.candidate_rankers.reads(info, vectors.embedder)
        yield from embed_names(
            info,
            relations[:MAX_RELATIONS],
            languages=request.languages,
            encode=vectors.encode,
            name_relations=self._selector.name_relations(info, request.languages, vectors)
            if is_learned and is_trained
            else None,
        )

    def around(
        self,
        base: OpenGraph,
        entity_id: str,
        /,
        *,
        view: ViewRef | None,
        hops: int,
        limit: int,
        languages: tuple[str, ...],
        deadline: Deadline,
    ) -> SubgraphResult:
        """Returns the statements within some hops of an entity, nearest first, then by key.

        Nothing is embedded, and the tokens are not counted.
        """
        watch = Stopwatch()
        if view is not None:
            require_base(base.info)
        applied = self._views.apply(base.arrays, view, deadline=deadline)
        base = as_named(base, applied)
        watch.stage("view")
        overlay = applied.overlay if applied else None
        node = self._linker.node(base, entity_id, argument="entity_id")
        region = extract_region(
            base.arrays,
            np.array([node], dtype=np.int32),
            hops=hops,
            max_edges=limit,
            overlay=overlay,
            deadline=deadline,
        )
        watch.stage("region")
        renderer = TripleRenderer(base.arrays, overlay, languages)
        shown = renderer.show(region.edges.tolist())
        distance = np.minimum(region.hops[region.head], region.hops[region.tail])
        order = np.lexsort((region.edge_keys, distance))
        items = tuple(
            ScoredTriple(shown[edge].triple, 0.0, Prizes(0.0, 0.0, 0.0), shown[edge].change)
            for edge in region.edges[order].tolist()
        )
        (entity,) = self._linker.described(base, languages, renderer.entities([node]))
        watch.stage("shape")
        return with_id(
            SubgraphResult(
                id="",
                question="",
                status=Status.OK if items else Status.NOTHING_RELEVANT,
                linked=(LinkedEntity(entity, "", -1, -1, 1.0),),
                truncated=(*region.cuts, *recall_cuts()),
                tokens=Tokens(0, ""),
                region=None,
                provenance=make_provenance(
                    base.info,
                    applied,
                    strategy=Strategy.SUBGRAPH,
                    preset=NEIGHBOURHOOD,
                    parameters={"hops": hops, "limit": limit, "languages": list(languages)},
                    embedder="",
                    solver=None,
                ),
                timings_ms=watch.finish(),
                items=items,
            )
        )
