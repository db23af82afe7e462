"""dataset ltgen: questions and conversations about long-tail entities, with gold triples (L3)."""

from __future__ import annotations

from graph_service.cli.dataset.options import FolderOptions, LtgenBuildOptions
from graph_service.cli.dataset.running import (
    cached_replies,
    end_build,
    generation_of,
    locked,
    stages_of,
    tell_check,
    tell_stats,
    writing_model,
)
from graph_service.cli.output import Output
from graph_service.errors import InputError
from queries.builders.folder import lock_of, read_lock, take_folder
from queries.builders.ltgen.dataset import (
    QUESTIONS_NAME,
    REFERENCES_NAME,
    TURNS_NAME,
    describe,
    write_set,
)
from queries.builders.ltgen.dataset import build as build_set
from queries.builders.ltgen.dataset import check as check_set
from queries.builders.ltgen.offers import read_sample
from queries.builders.ltgen.writing import PROMPTS, Writer
from queries.llm import TokenMeter

BUILDER = "ltgen"


def build(options: LtgenBuildOptions, output: Output, /) -> int:
    """Makes questions and conversations of a sample."""
    if not options.questions and not options.turns:
        raise InputError(
            "neither questions nor turns are asked for: give --questions or --turns above 0",
            argument="questions",
        )
    sample = read_sample(options.sample)
    meter = TokenMeter(limit=options.token_limit)
    with (
        locked(options.out),
        cached_replies(options) as cache,
        writing_model(options, cache, meter) as model,
    ):
        take_folder(
            options.out,
            lock_of(
                BUILDER,
                settings={
                    "questions": options.questions,
                    "turns": options.turns,
                    "facts": options.facts,
                    "random_seed": options.random_seed,
                    "temperature": options.temperature,
                    "max_tokens": options.max_tokens,
                },
                model=model.name,
                prompts=PROMPTS,
                files=[options.sample],
            ),
        )
        stages = stages_of(options)
        questions, talked = build_set(
            sample,
            Writer(model, generation_of(options), options.turns),
            stages,
            questions=options.questions,
            facts=options.facts,
            random_seed=options.random_seed,
        )
        made = sum(write_set(options.out, questions, talked))
    files = (QUESTIONS_NAME, TURNS_NAME, REFERENCES_NAME)
    return end_build(options, stages, files, made, output)


def check(options: FolderOptions, output: Output, /) -> int:
    """Holds a set to what it promises."""
    read_lock(options.out, BUILDER)
    return tell_check(options.out, check_set(options.out), output)


def stats(options: FolderOptions, output: Output, /) -> int:
    """Describes a set, by long-tail level, beside the published figures."""
    read_lock(options.out, BUILDER)
    return tell_stats(options.out, describe(options.out), output)
