"""The preset of a request, with all its parameters, within the limits of the settings."""

from __future__ import annotations

from dataclasses import replace

from graph_service.artifacts.rankers import RankerStore
from graph_service.errors import InputError
from graph_service.model.request import RetrieveRequest
from graph_service.retrieve.preset import AnyPreset, RelationPreset, resolve_preset
from graph_service.settings import Settings


class PresetResolver:
    """Resolves the presets of requests.

    Args:
        rankers: Where rankers of relations are found.
        settings: Limits.
    """

    def __init__(self, *, rankers: RankerStore, settings: Settings) -> None:
        self._rankers = rankers
        self._settings = settings

    def resolve(self, request: RetrieveRequest, /) -> AnyPreset:
        """Returns all parameters of a request.

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
            request.preset,
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
