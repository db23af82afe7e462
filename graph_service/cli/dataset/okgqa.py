"""dataset okgqa: open questions of ten sub-types, in rounds of an instruction (O1, O2)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from graph_service.cli.dataset.options import FolderOptions, OkgqaBuildOptions
from graph_service.cli.dataset.running import (
    cached_replies,
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
from queries.builders.folder import lock_of, read_counts, read_lock, take_folder
from queries.builders.okgqa.dataset import (
    QUESTIONS_NAME,
    describe,
    seeds_of,
    write_round,
)
from queries.builders.okgqa.dataset import build as build_round
from queries.builders.okgqa.dataset import check as check_set
from queries.builders.okgqa.rounds import (
    AUTOMATIC_NAME,
    HUMAN_NAME,
    INSTRUCTION,
    INSTRUCTION_NAME,
    PROPOSED_NAME,
    differing,
    propose,
    read_instruction,
    read_ratings,
    round_folder,
    rounds_in,
)
from queries.builders.okgqa.templates import TEMPLATES, read_templates
from queries.builders.okgqa.writing import PROMPTS, QUALITIES, Writer, rubric_of
from queries.builders.stages import RefusedError
from queries.line_file import write_atomically
from queries.llm import ChatModel, TokenMeter

BUILDER = "okgqa"


def build(options: OkgqaBuildOptions, output: Output, /) -> int:
    """Makes the questions of a round, rates them, and proposes the next instruction."""
    if options.round > 1 and options.instruction is None:
        raise InputError(
            f"round {options.round} needs --instruction FILE, such as the proposal of the round "
            "before, read and changed where it should be",
            argument="instruction",
        )
    instruction = read_instruction(options.instruction or INSTRUCTION)
    sub_types = read_templates(options.templates or TEMPLATES)
    folder = round_folder(options.out, options.round)
    meter = TokenMeter(limit=options.token_limit)
    own = replace(options, out=folder)
    with (
        locked(folder),
        open_from(options, output) as service,
        cached_replies(own) as cache,
        writing_model(own, cache, meter) as model,
    ):
        material, fingerprints = graph_of(service, options.graph, options.language, None)
        take_folder(
            folder,
            lock_of(
                BUILDER,
                settings={
                    "round": options.round,
                    "instruction": instruction,
                    "each": options.each,
                    "facts": options.facts,
                    "random_seed": options.random_seed,
                    "language": options.language,
                    "temperature": options.temperature,
                    "max_tokens": options.max_tokens,
                    "sub_types": sub_types,
                    "rubrics": {name: rubric_of(name).version for name in QUALITIES},
                },
                model=model.name,
                prompts=PROMPTS,
                graph=fingerprints,
            ),
        )
        write_atomically(folder / INSTRUCTION_NAME, f"{instruction}\n".encode())
        sample = service.draws.entities(
            count=options.each * len(sub_types),
            random_seed=options.random_seed,
            min_statements=options.least_facts,
            graph=material.graph,
            languages=(options.language,),
        )
        output.note(f"{len(sample.entities):,} of {sample.there:,} entities drawn")
        writer = Writer(
            model, material, generation_of(options), instruction, options.facts, options.random_seed
        )
        stages = stages_of(own)
        made = build_round(seeds_of(sub_types, sample.entities, each=options.each), writer, stages)
        write_round(folder, made, writer)
        if made and (folder / HUMAN_NAME).exists():
            _propose(folder, model, writer, [seed.id for seed in made], output)
    return end_build(own, stages, (QUESTIONS_NAME, AUTOMATIC_NAME), len(made), output)


def _propose(
    folder: Path, model: ChatModel, writer: Writer, ids: list[str], output: Output
) -> None:
    """Writes the next instruction beside the ratings; nothing uses it until a round is begun with it."""
    automatic, human = (
        read_ratings(folder / name, ids=ids) for name in (AUTOMATIC_NAME, HUMAN_NAME)
    )
    lines = differing(automatic, human)
    if not lines:
        output.note("the model rates as people do: nothing is proposed")
        return
    try:
        proposal = propose(model, writer.instruction, lines, writer.generation)
    except RefusedError as error:
        output.note(f"no instruction is proposed: {error}")
        return
    write_atomically(folder / PROPOSED_NAME, f"{proposal}\n".encode())
    output.note(
        f"{folder / PROPOSED_NAME} is a proposal; --instruction FILE begins a round with it"
    )


def check(options: FolderOptions, output: Output, /) -> int:
    """Holds the rounds of a set to what they promise."""
    last = _last(options.out)
    return tell_check(last, check_set(options.out), output)


def stats(options: FolderOptions, output: Output, /) -> int:
    """Describes the rounds of a set, beside the published figures."""
    last = _last(options.out)
    return tell_stats(last, describe(options.out), output)


def _last(folder: Path) -> Path:
    """The last round, after a look at the locks and counts of all."""
    numbers = rounds_in(folder)
    for round_number in numbers:
        read_lock(round_folder(folder, round_number), BUILDER)
        read_counts(round_folder(folder, round_number))
    return round_folder(folder, numbers[-1])
