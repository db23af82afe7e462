"""How relations are ranked, from the retrieval's options of ``answer`` and ``rank relations`` (L4)."""

from __future__ import annotations

from dataclasses import fields
from typing import cast

from graph_service.artifacts.rankers import EMBEDDING, TRAINED
from graph_service.errors import InputError
from graph_service.model.request import RetrieveOptions, RetrieveRequest
from graph_service.model.result import Strategy
from queries.generate.answer import Request
from queries.rank.steps import PRESET, StepLimits

_NAMED = {
    "question",
    "ranker",
    *(field.name for field in (*fields(Request), *fields(StepLimits))),
}


def step_limits(request: RetrieveRequest, /) -> StepLimits:
    """Returns how much the steps keep; the preset's where an option is not given."""
    return StepLimits(
        min_link_score=request.min_link_score,
        max_entities=request.max_entities,
        relations_per_entity=request.relations_per_entity,
        triples_per_relation=request.triples_per_relation,
        draw_seed=request.draw_seed,
    )


def other_options(request: RetrieveRequest, /) -> RetrieveOptions:
    """Returns what else was chosen of a retrieval: no limit of the steps, and nothing that
    ``queries.generate.answer.Request`` has a field for.
    """
    others = {name: value for name, value in request.chosen().items() if name not in _NAMED}
    return cast(RetrieveOptions, others)


def preset_of(request: RetrieveRequest, /) -> str:
    """Returns the preset: ``ltgen`` where relations are ranked and none else is named.

    Raises:
        InputError: The preset that is named ranks no relations, and how to rank them is.
    """
    preset = request.preset
    limits = step_limits(request).explicit()
    if request.ranker is not None:
        limits["ranker"] = request.ranker
    if not limits or preset.lower().startswith(PRESET):
        return preset
    if preset == "default" and request.ranker is not None:
        return PRESET
    raise InputError(
        f"{', '.join(limits)}: preset {preset} ranks no relations",
        argument="preset",
        hint="Give --preset ltgen.",
    )


def ranks_relations(request: RetrieveRequest, /) -> bool:
    """Returns whether the options ask for relations to be ranked; raises as ``preset_of``."""
    return preset_of(request).lower().startswith(PRESET)


def strategy_of(request: RetrieveRequest, /) -> Strategy:
    """Returns the strategy: where relations are ranked ``triplets``, which is what prompts take.

    Raises:
        InputError: A subgraph of ranked relations is asked for.
    """
    strategy = request.strategy
    if not ranks_relations(request):
        return strategy
    if strategy is Strategy.SUBGRAPH:
        raise InputError(
            "relations are ranked for triplets: give no --strategy subgraph", argument="strategy"
        )
    return Strategy.TRIPLETS


def is_of_api(name: str, /) -> bool:
    """Returns whether the API has a ranker of that name: no file's, and no model's.

    >>> is_of_api("trained:0123456789abcdef"), is_of_api("ranker.npz")
    (True, False)
    """
    return name.partition(":")[0] in (EMBEDDING, TRAINED)
