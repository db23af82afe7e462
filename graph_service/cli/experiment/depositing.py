"""experiment pack and experiment unpack."""

from __future__ import annotations

import contextlib
import datetime
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graph_service.cli.experiment.options import PackOptions, UnpackOptions
from graph_service.cli.experiment.reporting import write_tables
from graph_service.cli.experiment.running import READ_TIMEOUT_S, answer_and_score, reach
from graph_service.cli.opening import open_from, settings_of
from graph_service.cli.output import Output
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.request import ViewRef
from graph_service.model.result import Triple
from graph_service.model.serialise import to_plain
from graph_service.output_file import require_file_or_none
from graph_service.service import Service
from queries.datasets.records import read_text
from queries.datasets.typed import read_typed
from queries.datasets.yaml_file import read_yaml
from queries.experiment.deposit.metadata import CRATE_NAME, Description, Responsible
from queries.experiment.deposit.packing import COMPARED, REPLIES_NAME, TABLES, Run, require_relative
from queries.experiment.deposit.packing import pack as pack_run
from queries.experiment.deposit.unpacking import (
    Unpacked,
    compare_files,
    require_graphs,
    require_own_files,
    require_version,
)
from queries.experiment.deposit.unpacking import unpack as unpack_archive
from queries.experiment.judging import OpenJudge, open_judge
from queries.experiment.opening import open_experiment
from queries.experiment.plan import Answerer, AnswererKind, JudgePlan, Plan
from queries.experiment.plan_file import read_plan
from queries.experiment.plan_lock import LOCK_NAME, read_lock
from queries.experiment.runner import count_answers
from queries.experiment.scoring import SCORES
from queries.generate.prompt import using_prompts
from queries.llm import CachedChat, ChatModel, open_cache
from queries.lock import one_writer
from queries.score.own_prompt import read_own_prompts

AGAIN = "again"
"""Folder of the run that is made again, beside the packed one."""


def pack(options: PackOptions, output: Output, /) -> int:
    """Writes a run into an archive that others can check and run again."""
    require_file_or_none(options.to, argument="to")
    read = read_plan(options.plan, scores=SCORES)
    require_relative(options.plan, read)
    description = Description(
        options.licence, options.creator, _date(options.published), _responsible(options)
    )
    if read_lock(options.out) is None:
        raise InputError(
            f"there is no {options.out / LOCK_NAME}",
            argument="out",
            hint="Run the plan first: graph-service experiment run PLAN.yaml --out DIR",
        )
    settings = settings_of(options)
    with open_from(options, output, read_timeout_s=READ_TIMEOUT_S) as service:
        opened = open_experiment(
            read, Client.over(service), folder=options.out, embedder=settings.embedder
        )
        questions = opened.experiment.cell_subjects()
        expected, made = len(questions), count_answers(options.out, questions)
        if made < expected:
            raise InputError(
                f"{options.out} has {made:,} of {expected:,} answers",
                argument="out",
                hint="Let the run end: graph-service experiment run PLAN.yaml --out DIR",
            )
        prompts = {
            name: Path(path) for name, _, path in (text.partition("=") for text in options.prompts)
        }
        files = pack_run(
            Run(options.plan, options.out, opened.experiment, prompts),
            options.to,
            description=description,
            delta_of=_Deltas(service).of,
        )
    output.show(
        {"file": str(options.to), "files": [file.name for file in files]},
        f"{options.to}: {len(files)} files, {expected:,} answers",
    )
    missing = description.responsible.missing()
    if missing:
        output.note(
            f"responsible-AI fields that only you know are left out: {', '.join(missing)}; "
            "--responsible FILE.yaml gives them"
        )
    return 0


def unpack(options: UnpackOptions, output: Output, /) -> int:
    """Runs what a deposit holds again, and says what is equal."""
    unpacked = unpack_archive(options.file, options.out)
    lock = read_lock(unpacked.run)
    if lock is None:
        raise InputError(f"{options.file} has no run/{LOCK_NAME}", argument="file")
    require_version(lock, options.file)
    again = options.out / AGAIN
    with using_prompts(read_own_prompts(unpacked.own_prompts)):
        read = read_plan(unpacked.plan_file, scores=SCORES)
        require_own_files(unpacked, read, options.file)
        with (
            one_writer(options.out / CRATE_NAME),
            reach(options, output) as reached,
            _replayed(read, unpacked) as (answerers, judges),
        ):
            require_graphs(lock, reached.client, options.file)
            if again.exists():
                shutil.rmtree(again)
            again.mkdir()
            shutil.copyfile(unpacked.run / LOCK_NAME, again / LOCK_NAME)
            opened = open_experiment(
                read,
                reached.client,
                folder=again,
                embedder=reached.embedder,
                models=answerers,
                judges=judges,
            )
            answer_and_score(opened.experiment, again, reached, workers=options.workers)
        if any((unpacked.run / name).is_file() for name in TABLES):
            write_tables(read, again, figures=False)
    compared = tuple(compare_files(unpacked.run, again, (*COMPARED, *TABLES)))
    for row in compared:
        output.line(row.words())
    output.object({"run": str(again), "files": compared})
    return 0 if all(row.first_difference is None for row in compared) else 1


@contextlib.contextmanager
def _replayed(
    read: Plan, unpacked: Unpacked
) -> Iterator[tuple[Mapping[str, ChatModel], tuple[OpenJudge, ...]]]:
    """The models of a plan as their recorded replies; no endpoint is asked."""
    model_answerers = [entry for entry in read.answerers if entry.kind is AnswererKind.MODEL]
    if not model_answerers and not read.judges:
        yield {}, ()
        return
    with open_cache(unpacked.run / REPLIES_NAME, must_exist=True) as cache:

        def model_of(entry: Answerer | JudgePlan) -> ChatModel:
            return CachedChat(cache, entry.model)

        yield (
            {entry.name: model_of(entry) for entry in model_answerers},
            tuple(open_judge(entry, model_of(entry)) for entry in read.judges),
        )


class _Deltas:
    """Reads what views change, from a service."""

    def __init__(self, service: Service, /) -> None:
        self._service = service

    def of(self, graph: str, view: ViewRef, /) -> Iterator[Mapping[str, Any]]:
        """Yields a change each: ids of statements, and what a new or changed statement says."""
        page = self._service.settings.max_items
        offset, total = 0, 1
        while offset < total:
            changes, total = self._service.views.diff(view, graph=graph, first=page, offset=offset)
            for change in changes:
                line: dict[str, Any] = {}
                if change.before is not None:
                    line["gone"] = change.before.triple.statement_id
                if change.after is not None:
                    line["new"] = _stated(change.after.triple)
                if change.entity is not None:
                    line["renamed"] = {"id": change.entity.id, "label": change.entity.label}
                yield line
            offset += page


def _stated(triple: Triple) -> dict[str, Any]:
    return {
        "statement_id": triple.statement_id,
        "head": triple.head.id,
        "relation": triple.relation.id,
        "value": to_plain(triple.value),
    }


def _responsible(options: PackOptions) -> Responsible:
    if options.responsible is None:
        return Responsible()
    name = options.responsible.name
    root = read_yaml(read_text(options.responsible), name, expected="fields such as biases")
    return read_typed(Responsible, root)


def _date(text: str) -> str:
    if not text:
        return datetime.datetime.now(datetime.UTC).date().isoformat()
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError as error:
        raise InputError(
            f"a date such as 2026-11-27 was expected; {text!r} came", argument="published"
        ) from error
