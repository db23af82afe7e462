"""What fits a question, selected from the graph that it is answered from."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from graph_service.artifacts.rankers import RankerStore
from graph_service.embed import Vectors
from graph_service.errors import InputError
from graph_service.link.joint import JointMention
from graph_service.model.graph_info import GraphInfo
from graph_service.model.limits import Deadline
from graph_service.model.ranking import Encoding, RelationRanker
from graph_service.model.request import RetrieveRequest
from graph_service.model.statement import Statement
from graph_service.model.view_spec import Method, Naming, ViewSpec
from graph_service.retrieve.context import Selection
from graph_service.retrieve.derived.request import DerivedRequest
from graph_service.retrieve.derived.strategy import derive_answer
from graph_service.retrieve.engine import ResolvedRequest, run
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.relation_names import (
    NameRelations,
    NamesScope,
    RelationNamer,
    label_names,
)
from graph_service.retrieve.learned.similarity_ranker import SimilarityRanker
from graph_service.retrieve.learned.strategy import Asking
from graph_service.retrieve.preset import AnyPreset, LearnedPreset, RelationPreset
from graph_service.service.candidate_rankers import CandidateRankers
from graph_service.service.class_reading import (
    ClassReader,
    class_part,
    doubted,
    leaves_uncounted,
    leaves_values_apart,
    may_be_about_a_class,
    overrules,
    reads_another_number,
    states_the_number,
)
from graph_service.service.embedding import TimedEncoder
from graph_service.service.graph_slice import ClassPart, GraphSlice, rank_codes, relation_filter
from graph_service.service.passing import EVERY_TEXT, TextsOfAClient
from graph_service.service.question_vector import read_vector
from graph_service.service.relation_aliases import RelationAliasReader
from graph_service.service.stopwatch import Stopwatch


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """What was selected for a question.

    Attributes:
        vectors: By which texts were compared.
        encoder: What was embedded, and what there was no time for.
        asking: What ranks, under a preset that learned to.
        selection: What was selected; None where the question names nothing.
        mentions: What the question is taken to name, where the preset decides that.
        part: Whose node and edge indices the selection has, where it answers a question about a
            class.
    """

    vectors: Vectors
    encoder: TimedEncoder
    asking: Asking | None
    selection: Selection | None
    mentions: tuple[JointMention, ...] = ()
    part: ClassPart | None = None


class Selector:
    """Selects what fits questions.

    Args:
        vectors: Gives the text vectors; called when first needed.
        rankers: Where rankers of relations are found.
        candidate_rankers: What the preset that learned ranks by.
        aliases: Gives the other names of relations.
        relation_namer: Gives relations their names with vectors.
        statements: Gives the whole statements of an edition by id.
    """

    def __init__(
        self,
        *,
        vectors: Callable[[], Vectors],
        rankers: RankerStore,
        candidate_rankers: CandidateRankers,
        aliases: RelationAliasReader,
        relation_namer: RelationNamer,
        statements: Callable[[str, Sequence[str]], Mapping[str, Statement]],
    ) -> None:
        self._vectors = vectors
        self._rankers = rankers
        self._candidate_rankers = candidate_rankers
        self._aliases = aliases
        self._relation_namer = relation_namer
        self._statements = statements

    def select(
        self,
        source: GraphSlice,
        request: RetrieveRequest,
        /,
        *,
        deadline: Deadline,
        watch: Stopwatch,
    ) -> Selected:
        """Returns what fits a question: what walks from its entities reach, or a class's instances."""
        vectors = self._vectors()
        question_vector = _question_vector(request, source.preset, vectors)
        encoder = TimedEncoder(deadline, transient=_transient_texts(request))
        encode = partial(encoder.encode, vectors)
        watch.stage("embedder")
        asking = self._asking(source, request, vectors)
        part = class_part(source, request)
        class_reader = ClassReader(part, source.preset, encode, deadline, watch)
        derived = self._derived(source, request, deadline)
        if derived is not None:
            selection, mentions = derived
            watch.stage("derived")
            return Selected(vectors, encoder, asking, selection, mentions)
        is_named = bool(source.linking.sure_names)
        of_class = None if is_named else class_reader.answer(request)
        walked: Selection | None = None
        is_miscounted = is_uncounted = is_apart = False
        if of_class is None or not of_class.is_sure or of_class.counts:
            walked = self._walk(source, request, encoder, asking, question_vector, deadline)
            if walked is not None:
                watch.stages(walked.timings_ms)
            labels = Labels(source.named.arrays, source.overlay, request.languages, deadline)
            is_stated = states_the_number(walked, request, labels)
            if of_class is not None and of_class.is_sure and not is_stated:
                # Only a number that the graph states is more than that of those it lists.
                walked = None
            is_miscounted = reads_another_number(walked, request, labels.relation)
            is_apart = not is_stated and leaves_values_apart(
                walked, source, request, labels, encode, deadline
            )
            is_miscounted = is_miscounted or is_apart
            is_uncounted = leaves_uncounted(walked, request)
            is_doubtful = walked is None or not walked.confident or is_miscounted or is_uncounted
            if is_named and is_doubtful:
                of_class = class_reader.answer(request)
        if of_class is not None and overrules(
            of_class, walked, is_named=is_named, is_miscounted=is_miscounted or is_uncounted
        ):
            mentions = of_class.mentions
            return Selected(vectors, encoder, asking, of_class.selection, mentions, part)
        mentions = ()
        if walked is not None and asking is not None and not asking.by_caller:
            mentions = asking.mentions(walked.used_starts)
        if walked is not None and (of_class is not None or is_apart):
            walked = doubted(walked, of_class, source.named.arrays, is_miscounted=is_miscounted)
        return Selected(vectors, encoder, asking, walked, mentions)

    def _derived(
        self,
        source: GraphSlice,
        request: RetrieveRequest,
        deadline: Deadline,
    ) -> tuple[Selection, tuple[JointMention, ...]] | None:
        """Returns what follows from statements, and what the question names; None for nothing."""
        preset = source.preset
        if not may_be_about_a_class(request, preset) or not isinstance(preset, LearnedPreset):
            return None
        derived_request = DerivedRequest(
            question=request.question,
            candidates=source.linking.candidates,
            graph=source.named.arrays,
            overlay=source.overlay,
            ranks=rank_codes(request),
            languages=request.languages,
            strategy=request.strategy,
            limit=preset.limit,
            min_confidence=preset.min_confidence,
            statements=partial(self._statements, source.base.info.edition),
            deadline=deadline,
        )
        answer = derive_answer(derived_request)
        if answer is None:
            return None
        return answer.selection(derived_request), answer.mentions

    def _walk(
        self,
        source: GraphSlice,
        request: RetrieveRequest,
        encoder: TimedEncoder,
        asking: Asking | None,
        question_vector: npt.NDArray[np.float32] | None,
        deadline: Deadline,
    ) -> Selection | None:
        """Returns what walks from the question's entities select; None where it names nothing."""
        linking, graph = source.linking, source.named.arrays
        if not len(linking.start_entities):
            return None
        vectors = self._vectors()
        return run(
            ResolvedRequest(
                strategy=request.strategy,
                question=request.question,
                graph=graph,
                start_entities=linking.start_entities,
                overlay=source.overlay,
                preset=source.preset,
                encode=partial(encoder.encode, vectors),
                encode_queries=partial(encoder.encode, vectors.queries)
                if vectors.queries is not vectors
                else None,
                languages=request.languages,
                relation_filter=relation_filter(graph, source.overlay, request),
                ranks=rank_codes(request),
                min_score=request.min_score,
                prove=request.prove,
                deadline=deadline,
                region=source.region,
                ranker=self._ranker(source.preset, vectors, encoder),
                asking=asking,
                head_relations=source.head_relations,
                is_instance=source.is_instance,
                question_vector=question_vector,
            )
        )

    def _ranker(
        self, preset: AnyPreset, vectors: Vectors, encoder: TimedEncoder
    ) -> RelationRanker | None:
        """Returns what ranks relations, under the presets that rank them."""
        if not isinstance(preset, RelationPreset):
            return None
        encoding = Encoding(
            vectors.embedder.name,
            partial(encoder.encode, vectors),
            partial(encoder.encode, vectors.queries),
        )
        return self._rankers.open(preset.ranker, encoding)

    def _asking(
        self, source: GraphSlice, request: RetrieveRequest, vectors: Vectors
    ) -> Asking | None:
        """Returns what a preset needs that ranks by learning."""
        if not isinstance(source.preset, LearnedPreset):
            return None
        info, linking = source.base.info, source.linking
        ranker = self._candidate_rankers.open(
            info, vectors.embedder, has_question_vector=request.question_vector is not None
        )
        name_relations: NameRelations = label_names
        if not isinstance(ranker, SimilarityRanker):
            name_relations = self.name_relations(info, request.languages, vectors)
        return Asking(
            linking.candidates,
            linking.are_from_caller,
            ranker,
            name_relations,
            coverage=request.coverage,
            is_word=lambda word: vectors.embedder.count_tokens(word) == 1,
        )

    def name_relations(
        self, info: GraphInfo, languages: Sequence[str], vectors: Vectors, /
    ) -> NameRelations:
        """Returns what gives the names of a graph's relations with their vectors."""
        scope = NamesScope(
            info.edition, info.fingerprints.content, tuple(languages), vectors.embedder.name
        )
        return partial(self._relation_namer.named, scope, self._aliases.of(info, languages))


def _question_vector(
    request: RetrieveRequest, preset: AnyPreset, vectors: Vectors
) -> npt.NDArray[np.float32] | None:
    """Returns the vector that the caller has of the question, if any."""
    if request.question_vector is None:
        return None
    if isinstance(preset, RelationPreset):
        raise InputError(
            f"preset {preset.name} ranks by the question's text and takes no question_vector",
            argument="question_vector",
        )
    return read_vector(request.question_vector, vectors.embedder)


def _transient_texts(request: RetrieveRequest) -> Container[str]:
    """Returns the texts whose vectors are stored for a while alone: a client's own."""
    spec = request.view.spec if request.view is not None else None
    if spec is not None and (spec.changes or _makes_texts(spec)):
        return EVERY_TEXT
    return TextsOfAClient(request.question)


def _makes_texts(spec: ViewSpec) -> bool:
    """Returns whether a random seed of a client's makes texts that the graph has not."""
    return spec.method is Method.NAMES and spec.naming is Naming.SLIPS
