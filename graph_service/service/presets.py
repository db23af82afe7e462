"""The preset of a request, with all its parameters, within the limits of the settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from graph_service.artifacts.rankers import RankerStore
from graph_service.embed import Vectors
from graph_service.errors import InputError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.request import RetrieveRequest
from graph_service.retrieve.preset import LEARNED, AnyPreset, RelationPreset, resolve_preset
from graph_service.service.candidate_rankers import CandidateRankers
from graph_service.settings import Settings


class PresetResolver:
    """Resolves the presets of requests.

    Args:
        vectors: Gives the text vectors; called when first needed.
        rankers: Where rankers of relations are found.
        candidate_rankers: What the preset that learned ranks by.
        settings: Limits.
    """

    def __init__(
        self,
        *,
        vectors: Callable[[], Vectors],
        rankers: RankerStore,
        candidate_rankers: CandidateRankers,
        settings: Settings,
    ) -> None:
        self._vectors = vectors
        self._rankers = rankers
        self._candidate_rankers = candidate_rankers
        self._settings = settings

    def resolve(self, request: RetrieveRequest, info: GraphInfo, /) -> AnyPreset:
        """Returns all parameters of a request to a graph.

        Raises:
            InputError: The request is for more than the settings allow, or has options that its
                preset lacks.
        """
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
            LEARNED.name if self._means_learned(request, info) else request.preset,
            strategy=request.strategy,
            **request.of_preset(),
        )
        preset.require(request.strategy)
        # The preset's own values obey the limits that a request obeys.
        preset = replace(
            preset, limit=min(preset.limit, most_items), hops=min(preset.hops, most_hops)
        )
        if isinstance(preset, RelationPreset):
            return replace(preset, ranker=self._rankers.resolve(preset.ranker))
        return preset

    def _means_learned(self, request: RetrieveRequest, info: GraphInfo) -> bool:
        """Returns whether ``default`` means the preset that learned.

        It needs a scorer that reads the embedder's vectors, and puts more into words than the
        question: a caller's vector of that is not enough. It decides about linking too, which is
        not its own where a share of it is made wrong.
        """
        if request.preset.strip().lower() != "default":
            return False
        if request.question_vector is not None or request.linking_accuracy is not None:
            return False
        return self._candidate_rankers.has_one_for(info, self._vectors().embedder)
