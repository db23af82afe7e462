"""How relations are ranked, from the options of ``answer`` and of ``rank relations`` (L4)."""

from __future__ import annotations

import argparse

from graph_service.artifacts.rankers import EMBEDDING, TRAINED
from graph_service.errors import InputError
from graph_service.model.result import Strategy
from queries.rank.steps import PRESET, StepLimits


def step_limits(options: argparse.Namespace, /) -> StepLimits:
    """Returns how much the steps keep; the preset's where an option is not given."""
    return StepLimits(
        min_link_score=options.min_link_score,
        max_entities=options.max_entities,
        relations_per_entity=options.relations_per_entity,
        triples_per_relation=options.triples_per_relation,
        draw_seed=options.draw_seed,
    )


def preset_of(options: argparse.Namespace, /) -> str:
    """Returns the preset: ``ltgen`` where relations are ranked and none else is named.

    Raises:
        InputError: The preset that is named ranks no relations, and how to rank them is.
    """
    preset: str = options.preset
    given = step_limits(options).given()
    if options.ranker is not None:
        given["ranker"] = options.ranker
    if not given or preset.lower().startswith(PRESET):
        return preset
    if preset == "default" and options.ranker is not None:
        return PRESET
    raise InputError(
        f"{', '.join(given)}: preset {preset} ranks no relations",
        argument="preset",
        hint="Give --preset ltgen.",
    )


def ranks_relations(options: argparse.Namespace, /) -> bool:
    """Returns whether the options ask for relations to be ranked; raises as ``preset_of``."""
    return preset_of(options).lower().startswith(PRESET)


def strategy_of(options: argparse.Namespace, /) -> Strategy:
    """Returns the strategy: where relations are ranked ``triplets``, which is what prompts take.

    Raises:
        InputError: A subgraph of ranked relations is asked for.
    """
    strategy = Strategy(options.strategy)
    if not ranks_relations(options):
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
