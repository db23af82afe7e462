"""One retrieval over a store in three stages: source, select, shape (O3 to O7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import graph_service
from graph_service.artifacts.candidate_scorers import CandidateScorerStore
from graph_service.artifacts.pruned import pruned_edges
from graph_service.artifacts.rankers import RankerStore
from graph_service.artifacts.views import AppliedView, ViewStore
from graph_service.byte_budget import ByteBudget
from graph_service.embed import Vectors
from graph_service.errors import InputError
from graph_service.link import LINKING_RULES
from graph_service.link.joint import JointMention
from graph_service.link.spans import Certainty
from graph_service.link.starts import START_RULES
from graph_service.model.graph import RANK_CODES, Int32, KnowledgeGraph, Numbers
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.ranking import Encoding, RelationRanker
from graph_service.model.region import Region
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import (
    LinkedEntity,
    PathsResult,
    Prizes,
    Provenance,
    RegionReport,
    RetrievalResult,
    ScoredTriple,
    Status,
    Strategy,
    SubgraphResult,
    Tokens,
    TripletsResult,
)
from graph_service.model.serialise import to_plain
from graph_service.model.statement import Rank
from graph_service.model.view_spec import Method, Naming, ViewSpec
from graph_service.observation import TOTAL, note_stages
from graph_service.options import options_of
from graph_service.retrieve.classes.strategy import (
    CLASS_RULES,
    ClassAnswer,
    ClassRequest,
    answer_class_question,
)
from graph_service.retrieve.constraints.rules import CONSTRAINT_RULES
from graph_service.retrieve.context import Encode, Selection
from graph_service.retrieve.engine import ResolvedRequest, question_texts, run
from graph_service.retrieve.kinds import HeadRelations
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.reading import with_reading
from graph_service.retrieve.learned.relation_names import NameRelations, NamesScope, RelationNamer
from graph_service.retrieve.learned.strategy import Asking, CandidateRanker, NetworkRanker
from graph_service.retrieve.preset import (
    LEARNED,
    AnyPreset,
    LearnedPreset,
    Preset,
    RelationPreset,
    resolve_preset,
)
from graph_service.retrieve.region.class_filter import instances_of
from graph_service.retrieve.region.cut import IsInstance, extract_region
from graph_service.service.embedded_names import MAX_RELATIONS, EmbeddedNames, embed_names
from graph_service.service.embedding import TimedEncoder, earlier
from graph_service.service.interpretation import make_interpretation
from graph_service.service.linking import Linking, OpenGraph, QuestionLinker
from graph_service.service.lookup import find_relations, require_base
from graph_service.service.passing import EVERY_TEXT, TextsOfAClient
from graph_service.service.question_vector import read_vector, vector_hash
from graph_service.service.relation_aliases import RelationAliasReader
from graph_service.service.shaping import (
    base_ids,
    detailed,
    fit_budget,
    make_answer,
    make_items,
    with_id,
)
from graph_service.service.triples import TripleRenderer
from graph_service.service.turns import Turn, joined
from graph_service.settings import Settings
from graph_service.store.protocol import Store
from graph_service.store.recall import recall_cuts

# Options that the provenance tells under names of its own, or that change nothing in a result's id.
_NAMED_ELSEWHERE = {"question", "strategy", "graph", "view", "preset", "details"}

NEIGHBOURHOOD = "neighbourhood"
DEFAULT_RANKS = (Rank.PREFERRED, Rank.NORMAL)


@dataclass(frozen=True, slots=True, eq=False)
class ClassPart:
    """The part of a stored graph that a question about a class is answered from.

    Attributes:
        arrays: What instances of the classes that it names have.
        overlay: The view of it, if any.
        is_cut: Whether limits left something out.
    """

    arrays: KnowledgeGraph
    overlay: Overlay | None
    is_cut: bool


@dataclass(frozen=True, slots=True, eq=False)
class GraphSlice:
    """What a question is answered from.

    Attributes:
        base: The graph, or the part of it that the store gave.
        linking: What the question names there.
        preset: The request's, with all its parameters.
        view: The request's view of ``base``; None for the graph itself.
        region: Where the store made it; of ``base.arrays``.
        head_relations: Reads the relations of entities in the whole graph, where ``base`` is a part.
        is_instance: Tells the entities of the types that the request names, where ``base`` is no part.
        classes: What a question about a class is answered from, where ``base`` is a part.
    """

    base: OpenGraph
    linking: Linking
    preset: AnyPreset
    view: AppliedView | None = None
    region: Region | None = None
    head_relations: HeadRelations | None = None
    is_instance: IsInstance | None = None
    classes: ClassPart | None = None

    @property
    def overlay(self) -> Overlay | None:
        """What the view changes; None for the graph itself."""
        return self.view.overlay if self.view else None

    @property
    def named(self) -> OpenGraph:
        """The graph with the names that its view gives entities."""
        return _as_named(self.base, self.view)


@dataclass(frozen=True, slots=True, eq=False)
class _Selected:
    """What was selected for a question.

    Attributes:
        vectors: By which texts were compared.
        encoder: What was embedded, and what there was no time for.
        asking: What ranks, under a preset that learned to.
        selection: What was selected; None where the question names nothing.
        mentions: What the question is taken to name, where the preset decides that.
        part: Whose numbers the selection has, where it answers a question about a class.
    """

    vectors: Vectors
    encoder: TimedEncoder
    asking: Asking | None
    selection: Selection | None
    mentions: tuple[JointMention, ...]
    part: ClassPart | None = None


class Stopwatch:
    """Milliseconds by stage, counted from its making on."""

    def __init__(self) -> None:
        self._started = self._at = time.perf_counter()
        self._stages: dict[str, float] = {}

    def stage(self, name: str, /) -> None:
        """Books the time since the last stage ended."""
        now = time.perf_counter()
        self._stages[name] = 1000 * (now - self._at)
        self._at = now

    def skip(self) -> None:
        """Leaves out the time since the last stage ended."""
        now = time.perf_counter()
        self._started += now - self._at
        self._at = now

    def stages(self, timings_ms: Mapping[str, float], /) -> None:
        """Books stages that were measured elsewhere since the last one ended."""
        self._stages.update(timings_ms)
        self._at = time.perf_counter()

    def finish(self) -> dict[str, float]:
        """Returns all stages, and ``total``; the operation under way notes them."""
        timings_ms = {**self._stages, TOTAL: 1000 * (time.perf_counter() - self._started)}
        note_stages(timings_ms)
        return timings_ms


class Retriever:
    """Answers questions on open graphs.

    Args:
        store: Where entities and whole statements are read.
        views: Where views are found or made.
        rankers: Where rankers of relations are found.
        candidate_scorers: Where scorers of relation sequences are found.
        vectors: Gives the text vectors; called when first needed.
        settings: Limits.
        memory: What is kept of graphs counts there.

    Attributes:
        candidate_ranker: Orders relation sequences under the preset that learned to; None for the
            one that was trained on the graph, else the one that is shipped.
        aliases: Gives the other names of relations.
    """

    def __init__(
        self,
        store: Store,
        /,
        *,
        views: ViewStore,
        rankers: RankerStore,
        candidate_scorers: CandidateScorerStore,
        vectors: Callable[[], Vectors],
        settings: Settings,
        memory: ByteBudget,
    ) -> None:
        self.candidate_ranker: CandidateRanker | None = None
        self.aliases = RelationAliasReader(store, memory=memory)
        self._relation_namer = RelationNamer(memory)
        self._store = store
        self._linker = QuestionLinker(store)
        self._views = views
        self._vectors = vectors
        self._settings = settings
        self._rankers = rankers
        self._candidate_scorers = candidate_scorers

    def link(self, base: OpenGraph, request: RetrieveRequest, preset: AnyPreset, /) -> Linking:
        """Returns the entities that a question names; see ``QuestionLinker.link``."""
        return self._linker.link(base, request, preset)

    def source(
        self,
        base: OpenGraph,
        request: RetrieveRequest,
        preset: AnyPreset,
        /,
        *,
        deadline: Deadline,
        watch: Stopwatch,
        linking: Linking | None = None,
    ) -> GraphSlice:
        """Returns what a question is answered from: the graph, its view and what it names there.

        Args:
            base: The graph.
            request: The question.
            preset: As ``preset`` resolves it.
            deadline: Of the retrieval.
            watch: Counts the stages ``link`` and ``view``.
            linking: What the question names without a view, where that is known. A view that
                renames entities is linked by its own names.
        """
        if request.view is not None:
            require_base(base.info)
        view: AppliedView | None = None
        if self._views.renames(base.arrays, request.view):
            view = self._views.apply(base.arrays, request.view, deadline=deadline)
            linking = None
        if linking is None:
            linking = self.link(_as_named(base, view), request, preset)
        watch.stage("link")
        spec = request.view.spec if request.view is not None else None
        if view is None or (spec is not None and spec.scope.of_question):
            view = self._apply_view(base, linking, request, preset, deadline)
        source = GraphSlice(base, linking, preset, view)
        if request.type_ids:
            named = source.named
            types = [self._linker.node(named, id_, argument="type_ids") for id_ in request.type_ids]
            is_instance = instances_of(
                named.arrays, source.overlay, types, ranks=rank_codes(request), deadline=deadline
            )
            source = replace(source, is_instance=is_instance)
        watch.stage("view")
        return source

    def retrieve(
        self,
        source: GraphSlice,
        request: RetrieveRequest,
        /,
        *,
        deadline: Deadline,
        watch: Stopwatch,
    ) -> RetrievalResult:
        """Returns what a linked question retrieves from a graph or a view of it."""
        selected = self._select(source, request, deadline, watch)
        return self.finished(self._shape(source, request, selected, watch), request)

    def finished(self, result: RetrievalResult, request: RetrieveRequest, /) -> RetrievalResult:
        """Returns a result with its id, and with the details that the request asks for."""
        result = with_id(result)
        if not request.details:
            return result
        edition = result.provenance.edition
        return detailed(result, self._store.statements(edition, base_ids(result)))

    def reads_turns(self, request: RetrieveRequest, info: GraphInfo, /) -> bool:
        """Returns whether a text is divided into its questions: not under presets of papers."""
        is_learned = isinstance(self.preset(request, info), LearnedPreset)
        return is_learned and request.question_vector is None

    def joined(self, turns: Sequence[Turn], request: RetrieveRequest, /) -> RetrievalResult:
        """Returns the questions of a text as one result."""
        result = joined(turns, request)
        if result.parts:
            fitted = fit_budget(
                result.items,
                strategy=request.strategy,
                budget=None,
                embedder=self._vectors().embedder,
            )
            result = replace(result, tokens=fitted.tokens)
        return self.finished(result, request)

    def _select(
        self, source: GraphSlice, request: RetrieveRequest, deadline: Deadline, watch: Stopwatch
    ) -> _Selected:
        """Selects what fits the question."""
        base, linking, preset = source.named, source.linking, source.preset
        vectors = self._vectors()
        question_vector = None
        if request.question_vector is not None:
            if isinstance(preset, RelationPreset):
                raise InputError(
                    f"preset {preset.name} ranks by the question's text and takes no question_vector",
                    argument="question_vector",
                )
            question_vector = read_vector(request.question_vector, vectors.embedder)
        transient: Container[str] = TextsOfAClient(request.question)
        spec = request.view.spec if request.view is not None else None
        if spec is not None and (spec.changes or _makes_texts(spec)):
            transient = EVERY_TEXT
        encoder = TimedEncoder(deadline, transient=transient)
        watch.stage("embedder")
        asking = self._asking(base.info, linking, request, preset, vectors)
        selection: Selection | None = None
        part = self._class_part(source, request)
        read_class = partial(
            self._of_class, part, source, request, partial(encoder.encode, vectors), deadline, watch
        )
        is_named = any(
            start.linked and start.certainty > Certainty.COMMON for start in linking.starts
        )
        of_class = None if is_named else read_class()
        if of_class is not None and of_class.is_sure:
            return _Selected(vectors, encoder, asking, of_class.selection, of_class.mentions, part)
        if len(linking.start_entities):
            selection = run(
                ResolvedRequest(
                    strategy=request.strategy,
                    question=request.question,
                    graph=base.arrays,
                    start_entities=linking.start_entities,
                    mentions=linking.mentions,
                    overlay=source.overlay,
                    preset=preset,
                    encode=partial(encoder.encode, vectors),
                    encode_queries=partial(encoder.encode, vectors.queries)
                    if vectors.queries is not vectors
                    else None,
                    languages=request.languages,
                    relation_filter=relation_filter(base.arrays, source.overlay, request),
                    ranks=rank_codes(request),
                    min_score=request.min_score,
                    prove=request.prove,
                    deadline=deadline,
                    region=source.region,
                    ranker=self._ranker(preset, vectors, encoder),
                    asking=asking,
                    head_relations=source.head_relations,
                    is_instance=source.is_instance,
                    question_vector=question_vector,
                )
            )
            watch.stages(selection.timings_ms)
        mentions: tuple[JointMention, ...] = ()
        if asking is not None and selection is not None and not asking.given:
            mentions = asking.mentions(selection.used_starts)
        if is_named and (selection is None or not selection.confident):
            of_class = read_class()
        if of_class is not None:
            # A list beside an entity that is surely meant is seldom what is asked: "which island is
            # a part of Ecuador". Walks neither count nor order.
            overrules = of_class.is_sure and not (is_named and of_class.is_list)
            if selection is None or (overrules and not selection.confident):
                return _Selected(
                    vectors, encoder, asking, of_class.selection, of_class.mentions, part
                )
            first = base.arrays.node_ids.take(selection.used_starts[:1])
            if not of_class.class_ids.isdisjoint(first):
                # What the walks of a class's own entity lead to is no answer for sure.
                read = of_class.selection.read
                selection = replace(
                    selection, confident=False, unstated=False, answer=None, read=read
                )
        return _Selected(vectors, encoder, asking, selection, mentions)

    @staticmethod
    def _class_part(source: GraphSlice, request: RetrieveRequest) -> ClassPart | None:
        """Returns what a question about a class is answered from; None where none may be one."""
        if not may_be_about_a_class(request, source.preset):
            return None
        if source.classes is None and source.region is None:
            return ClassPart(source.named.arrays, source.overlay, is_cut=False)
        return source.classes

    @staticmethod
    def _of_class(
        part: ClassPart | None,
        source: GraphSlice,
        request: RetrieveRequest,
        encode: Encode,
        deadline: Deadline,
        watch: Stopwatch,
    ) -> ClassAnswer | None:
        """Returns what a question retrieves that is about a class; None where it is about none."""
        preset = source.preset
        if part is None or not isinstance(preset, LearnedPreset):
            return None
        answered = answer_class_question(
            ClassRequest(
                question=request.question,
                graph=part.arrays,
                overlay=part.overlay,
                ranks=rank_codes(request),
                languages=request.languages,
                encode=encode,
                strategy=request.strategy,
                limit=preset.limit,
                min_confidence=preset.min_confidence,
                deadline=deadline,
                is_cut=part.is_cut,
            )
        )
        watch.stage("classes")
        return answered

    def _shape(
        self,
        source: GraphSlice,
        request: RetrieveRequest,
        selected: _Selected,
        watch: Stopwatch,
    ) -> RetrievalResult:
        """Returns what was selected as a result with labels, without an id."""
        base, linking, preset = source.named, source.linking, source.preset
        asking, vectors, selection = selected.asking, selected.vectors, selected.selection
        overlay = source.overlay
        if selected.part is not None:
            base, overlay = replace(base, arrays=selected.part.arrays), selected.part.overlay
        renderer = TripleRenderer(base.arrays, overlay, request.languages)
        fitted = fit_budget(
            make_items(selection, renderer) if selection else (),
            strategy=request.strategy,
            budget=request.token_budget,
            embedder=vectors.embedder,
            thing_of=renderer.thing_of,
        )
        watch.stage("shape")
        fields: dict[str, Any] = {
            "id": "",
            "question": request.question,
            "status": _status(selection, request),
            "linked": self._linker.meant(base, request, linking, selected.mentions),
            "truncated": (
                *linking.cuts,
                *(selection.cuts if selection else ()),
                *selected.encoder.cuts,
                *fitted.cuts,
                *recall_cuts(),
            ),
            "tokens": fitted.tokens,
            "region": RegionReport(selection.region_before, selection.region_after)
            if selection
            else None,
            "provenance": _provenance(
                base.info,
                source.view,
                strategy=request.strategy,
                preset=preset.name,
                parameters={
                    **preset.parameters(),
                    "linking": LINKING_RULES.parameters(),
                    **(
                        {
                            "starts": START_RULES.parameters(),
                            "constraints": CONSTRAINT_RULES.parameters(),
                            "classes": CLASS_RULES.parameters(),
                            "ranker": asking.ranker.name,
                        }
                        if asking
                        else {}
                    ),
                    **_request_parameters(request),
                },
                embedder=vectors.embedder.name,
                solver=selection.solver if selection else None,
            ),
            "timings_ms": watch.finish(),
            "items": fitted.items,
            "relevance": selection.relevance if selection else None,
            "confidence": selection.confidence if selection else None,
            "constraints": selection.constraints if selection else (),
            "answer": make_answer(selection.answer, renderer)
            if selection and selection.answer
            else None,
            "interpretation": make_interpretation(selection.read, renderer, graph=base.info.name)
            if selection and selection.read
            else None,
        }
        match request.strategy:
            case Strategy.TRIPLETS:
                return TripletsResult(**fields)
            case Strategy.PATHS:
                return PathsResult(**fields)
            case Strategy.SUBGRAPH:
                objective = selection.objective if selection else None
                gap = selection.gap if selection else None
                return SubgraphResult(**fields, objective=objective, gap=gap)

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
        is_learned = isinstance(self.preset(request, info), LearnedPreset)
        yield from embed_names(
            info,
            relations[:MAX_RELATIONS],
            languages=request.languages,
            encode=vectors.encode,
            name_relations=self._name_relations(info, request.languages, vectors)
            if is_learned
            else None,
        )

    def embed_questions(
        self, questions: Sequence[tuple[RetrieveRequest, GraphSlice]], /, deadline: Deadline
    ) -> None:
        """Computes the vectors that some linked questions will need, in one batch."""
        needed = [
            question_texts(
                request.question,
                source.linking.mentions,
                source.preset,
                has_vector=request.question_vector is not None,
            )
            for request, source in questions
            if len(source.linking.start_entities)
        ]
        questions_of_all = dict.fromkeys(text for each in needed for text in each.asked)
        texts = dict.fromkeys(text for each in needed for text in each.words)
        vectors = self._vectors()
        if vectors.queries is vectors:
            questions_of_all, texts = {}, questions_of_all | texts
        # What there is no time for here is asked for again, and told, by each question.
        early = earlier(deadline)
        if questions_of_all:
            vectors.queries.encode_some(
                list(questions_of_all), deadline=early, transient=questions_of_all
            )
        if texts:
            vectors.encode_some(list(texts), deadline=early, transient=texts)

    def preset(self, request: RetrieveRequest, info: GraphInfo, /) -> AnyPreset:
        """Returns all parameters of a request to a graph; raises ``InputError`` past the settings' limits."""
        most_hops, most_items = self._settings.max_hops, self._settings.max_items
        if request.limit is not None and request.limit > most_items:
            raise InputError(
                f"the limit must be 1 to {most_items}, got {request.limit}", argument="limit"
            )
        if request.max_hops is not None and not 1 <= request.max_hops <= most_hops:
            raise InputError(
                f"max_hops must be 1 to {most_hops}, got {request.max_hops}", argument="max_hops"
            )
        preset = resolve_preset(
            LEARNED.name if self._is_learned(request, info) else request.preset,
            strategy=request.strategy,
            **request.of_preset(),
        )
        preset.require(request.strategy)
        # What nobody asked for may not be more than what one may ask for.
        preset = replace(
            preset, limit=min(preset.limit, most_items), hops=min(preset.hops, most_hops)
        )
        if isinstance(preset, RelationPreset):
            return replace(preset, ranker=self._rankers.resolve(preset.ranker))
        return preset

    def _is_learned(self, request: RetrieveRequest, info: GraphInfo) -> bool:
        """Returns whether ``default`` means the preset that learned.

        It needs a scorer that reads the embedder's vectors, and puts more into words than the
        question: a caller's vector of that is not enough. It decides about linking too, which is
        not its own where a share of it is made wrong.
        """
        if request.preset.strip().lower() != "default":
            return False
        if request.question_vector is not None or request.linking_accuracy is not None:
            return False
        embedder = self._vectors().embedder.name
        if self.candidate_ranker is not None or shipped_scorer().embedder == embedder:
            return True
        trained = self._candidate_scorers.find(info)
        return trained is not None and trained.embedder == embedder

    def _ranker(
        self, preset: AnyPreset, vectors: Vectors, encoder: TimedEncoder
    ) -> RelationRanker | None:
        """Returns who ranks relations, where the preset ranks them."""
        if not isinstance(preset, RelationPreset):
            return None
        encoding = Encoding(
            vectors.embedder.name,
            partial(encoder.encode, vectors),
            partial(encoder.encode, vectors.queries),
        )
        return self._rankers.open(preset.ranker, encoding)

    def _asking(
        self,
        info: GraphInfo,
        linking: Linking,
        request: RetrieveRequest,
        preset: AnyPreset,
        vectors: Vectors,
    ) -> Asking | None:
        """Returns what a preset needs that ranks by learning."""
        if not isinstance(preset, LearnedPreset):
            return None
        ranker = self.candidate_ranker
        if ranker is None:
            scorer = self._candidate_scorers.open(info.name, embedder=vectors.embedder.name)
            if scorer is not None:
                networks = NetworkRanker(scorer, info.name)
            else:
                shipped_scorer().require(vectors.embedder.name)
                networks = NetworkRanker(shipped_scorer())
            ranker = with_reading(networks, vectors.embedder)
        name_relations = self._name_relations(info, request.languages, vectors)
        return Asking(linking.starts, linking.given, ranker, name_relations)

    def _name_relations(
        self, info: GraphInfo, languages: Sequence[str], vectors: Vectors
    ) -> NameRelations:
        """Returns what gives the names of a graph's relations with their vectors."""
        scope = NamesScope(
            info.edition, info.fingerprints.content, tuple(languages), vectors.embedder.name
        )
        return partial(self._relation_namer.named, scope, self.aliases.of(info, languages))

    def _apply_view(
        self,
        base: OpenGraph,
        linking: Linking,
        request: RetrieveRequest,
        preset: Preset,
        deadline: Deadline,
    ) -> AppliedView | None:
        """Returns the request's view; one in the question's own scope needs the base's region."""
        spec = request.view.spec if request.view else None
        question_edges: Numbers | None = None
        if spec is not None and spec.scope.of_question:
            question_edges = np.zeros(0, dtype=base.arrays.edge_type)
            if len(linking.start_entities) and spec.scope.pruned:
                question_edges = pruned_edges(
                    base.arrays,
                    linking.start_entities.tolist(),
                    hops=spec.scope.hops,
                    deadline=deadline,
                )
            elif len(linking.start_entities):
                region = extract_region(
                    base.arrays,
                    linking.start_entities,
                    hops=spec.scope.hops,
                    hub_degree=preset.hub_degree,
                    max_edges=preset.max_edges,
                    ranks=rank_codes(request),
                    deadline=deadline,
                )
                question_edges = region.edges.astype(base.arrays.edge_type)
        return self._views.apply(
            base.arrays, request.view, question_edges=question_edges, deadline=deadline
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
        base = _as_named(base, applied)
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
                provenance=_provenance(
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


def may_be_about_a_class(request: RetrieveRequest, preset: Preset, /) -> bool:
    """Returns whether a request may be read as one about a class: it says neither what it is about
    nor what counts.
    """
    is_filtered = request.type_ids or request.relation_ids or request.exclude_relation_ids
    return (
        isinstance(preset, LearnedPreset)
        and not request.entity_ids
        and not is_filtered
        and request.min_score is None
    )


def _makes_texts(spec: ViewSpec) -> bool:
    """Returns whether a random seed of a client's makes texts that the graph has not."""
    return spec.method is Method.NAMES and spec.naming is Naming.SLIPS


def _as_named(base: OpenGraph, applied: AppliedView | None) -> OpenGraph:
    """Returns a graph with the names that a view gives its entities."""
    return base if applied is None else replace(base, arrays=applied.graph_of(base.arrays))


def rank_codes(request: RetrieveRequest) -> tuple[int, ...]:
    """Returns the codes of the ranks of statements that a request reads."""
    return tuple(RANK_CODES[rank] for rank in request.ranks or DEFAULT_RANKS)


def _status(selection: Selection | None, request: RetrieveRequest) -> Status:
    if selection is None:
        return Status.NO_ENTITY_LINKED
    # Of what was found: that a budget was too small for any of it is said by the cut.
    if not selection.triples and not selection.paths:
        return Status.NOTHING_RELEVANT
    if selection.confident:
        return Status.OK
    # What a filter left out, the graph may say.
    is_filtered = request.relation_ids or request.exclude_relation_ids or request.type_ids
    if selection.unstated and not (is_filtered or request.ranks):
        return Status.NOT_IN_GRAPH
    return Status.LOW_CONFIDENCE


def relation_filter(
    graph: KnowledgeGraph, overlay: Overlay | None, request: RetrieveRequest, /
) -> tuple[Int32 | None, Int32] | None:
    """Returns the relations that a request keeps and leaves out, int32; None for no filter."""
    if not request.relation_ids and not request.exclude_relation_ids:
        return None
    include = find_relations(graph, overlay, request.relation_ids) if request.relation_ids else None
    return include, find_relations(
        graph, overlay, request.exclude_relation_ids, argument="exclude_relation_ids"
    )


def _request_parameters(request: RetrieveRequest) -> dict[str, Any]:
    """Returns the options that are neither the preset's nor told elsewhere in the provenance."""
    options = {
        each.name: getattr(request, each.name)
        for each in options_of(RetrieveRequest).values()
        if each.facts.preset is None and each.name not in _NAMED_ELSEWHERE
    }
    # So that a result without any has the id that it had before there were some.
    if not request.earlier:
        del options["earlier"]
    if request.question_vector is not None:
        options["question_vector"] = vector_hash(request.question_vector)
    plain: dict[str, Any] = to_plain(options)
    return plain


def _provenance(
    info: GraphInfo,
    applied: AppliedView | None,
    /,
    *,
    strategy: Strategy,
    preset: str,
    parameters: Mapping[str, Any],
    embedder: str,
    solver: str | None,
) -> Provenance:
    return Provenance(
        graph=info.name,
        edition=info.edition,
        fingerprints=info.fingerprints,
        view_id=applied.id if applied else None,
        view_spec=applied.spec.to_json() if applied else None,
        strategy=strategy,
        preset=preset,
        parameters=parameters,
        embedder=embedder,
        solver=solver,
        version=graph_service.__version__,
    )
