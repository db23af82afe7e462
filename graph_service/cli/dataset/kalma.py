"""dataset kalma: questions that evolve, with their minimum knowledge sets (K9)."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from graph_service.cli.dataset.options import FolderOptions, KalmaBuildOptions, KalmaStatsOptions
from graph_service.cli.dataset.running import (
    cached_replies,
    echoing_model,
    end_build,
    generation_of,
    graph_of,
    locked,
    stages_of,
    tell_check,
    tell_stats,
    writing_model,
)
from graph_service.cli.opening import open_from
from graph_service.cli.output import Output
from graph_service.errors import InputError
from graph_service.sampling import DEFAULT_RELATIONS
from graph_service.service import Service
from queries.builders.folder import lock_of, read_lock, take_folder
from queries.builders.kalma.dataset import (
    GENERAL_NAME,
    PARAGRAPHS_NAME,
    SPECIFIC_NAME,
    write_set,
)
from queries.builders.kalma.dataset import build as build_set
from queries.builders.kalma.dataset import check as check_set
from queries.builders.kalma.evolution import PROMPTS, Evolver
from queries.builders.kalma.figures import describe
from queries.builders.kalma.pairs import NamedPair, name_pairs, read_pairs
from queries.builders.kalma.perplexity import EchoedPerplexity, read_corpus
from queries.llm import ChatModel, TokenMeter

BUILDER = "kalma"


def build(options: KalmaBuildOptions, output: Output, /) -> int:
    """Makes a set of evolved questions."""
    _require_one(options)
    # Read before the store is opened: a mistake in a file is told at once.
    ngrams = read_corpus(options.corpus) if options.corpus is not None else None
    named_pairs = read_pairs(options.pairs) if options.pairs is not None else ()
    meter = TokenMeter(limit=options.token_limit)
    with (
        locked(options.out),
        open_from(options, output) as service,
        cached_replies(options) as cache,
        writing_model(options, cache, meter) as model,
        contextlib.ExitStack() as stack,
    ):
        echo: ChatModel | None = None
        if options.perplexity_model is not None:
            echo = stack.enter_context(
                echoing_model(
                    options.perplexity_model, options.perplexity_url, options, cache, meter
                )
            )
        perplexity = ngrams or EchoedPerplexity(_needed(echo))
        material, fingerprints = graph_of(
            service, options.graph, options.language, options.drop_relations
        )
        pairs = _pairs(named_pairs, options, service, output)
        take_folder(
            options.out,
            lock_of(
                BUILDER,
                settings={
                    "relation": options.relation,
                    "count": options.count if options.relation else len(named_pairs),
                    "rounds": options.rounds,
                    "share": options.share,
                    "perplexity": perplexity.name,
                    "random_seed": options.random_seed,
                    "language": options.language,
                    "temperature": options.temperature,
                    "max_tokens": options.max_tokens,
                },
                model=model.name,
                prompts=PROMPTS,
                files=[
                    options.drop_relations or DEFAULT_RELATIONS,
                    *([options.pairs] if options.pairs is not None else []),
                ],
                graph=fingerprints,
            ),
        )
        evolver = Evolver(model, material, perplexity, generation_of(options), options.share)
        stages = stages_of(options)
        made = build_set(pairs, evolver, stages, rounds=options.rounds)
        write_set(options.out, made, model.name)
    files = (GENERAL_NAME, SPECIFIC_NAME, PARAGRAPHS_NAME)
    return end_build(options, stages, files, len(made), output)


def check(options: FolderOptions, output: Output, /) -> int:
    """Holds a set to what it promises."""
    read_lock(options.out, BUILDER)
    return tell_check(options.out, check_set(options.out), output)


def stats(options: KalmaStatsOptions, output: Output, /) -> int:
    """Describes a set, beside BioKaLMA's files where they are given."""
    read_lock(options.out, BUILDER)
    return tell_stats(options.out, describe(options.out, published=options.besides), output)


def _require_one(options: KalmaBuildOptions) -> None:
    if (options.relation is None) == (options.pairs is None):
        raise InputError(
            "give either --relation ID, whose pairs are drawn, or --pairs FILE",
            argument="relation",
        )
    if (options.corpus is None) == (options.perplexity_model is None):
        raise InputError(
            "give either --corpus FILE, whose n-grams tell perplexity, or --perplexity-model NAME",
            argument="corpus",
        )


def _needed(echo: ChatModel | None) -> ChatModel:
    assert echo is not None
    return echo


def _pairs(
    named_pairs: Sequence[NamedPair], options: KalmaBuildOptions, service: Service, output: Output
) -> Sequence[NamedPair]:
    if options.relation is None:
        return named_pairs
    pairs = service.draws.pairs(
        options.relation,
        count=options.count,
        random_seed=options.random_seed,
        graph=options.graph,
        languages=(options.language,),
    )
    output.note(f"{len(pairs.triples):,} of {pairs.there:,} pairs of {options.relation} drawn")
    return name_pairs(pairs.triples)
