"""cluster experiment run: the parts of a run, answered by the tasks of an engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph_service.cli.cluster.options import ClusterExperimentOptions
from graph_service.cli.experiment.options import RunOptions
from graph_service.cli.experiment.running import reach
from graph_service.cli.experiment.running import run as run_here
from graph_service.cli.opening import file_of, settings_of
from graph_service.cli.output import Output
from graph_service.cluster.session import name_of_engine, open_session
from graph_service.errors import GraphServiceError, InputError, StoreError
from graph_service.store import SQLITE_SCHEME
from queries.experiment.opening import open_experiment
from queries.experiment.parts import Part, join_parts, missing_parts, write_part
from queries.experiment.plan import AnswererKind, Plan
from queries.experiment.plan_file import read_plan
from queries.experiment.runner import ANSWERS_NAME
from queries.experiment.scoring import SCORES
from queries.lock import one_writer

_COLUMNS = "first long, error string"


def run(options: ClusterExperimentOptions, output: Output, /) -> int:
    """Answers the cells of a plan by an engine, then scores them here."""
    read = read_plan(options.plan, scores=SCORES)
    require_no_models(read)
    there = _as_executors_see(options)
    options.out.mkdir(parents=True, exist_ok=True)
    with one_writer(options.out / ANSWERS_NAME):
        with reach(there, output) as reached:
            experiment = open_experiment(
                read, reached.client, folder=options.out, embedder=reached.embedder
            ).experiment
            missing = missing_parts(experiment, options.out)
        output.note(f"{len(missing):,} parts to answer by {name_of_engine(options.remote)}")
        if missing:
            with open_session(options.remote) as session:
                answer_parts(session, PartTask(there, missing), tasks=options.tasks)
        join_parts(experiment, options.out)
    plain = RunOptions(
        **{name: getattr(options, name) for name in ("store", "embedder", "server", "plan", "out")}
    )
    return run_here(plain, output)


def require_no_models(plan: Plan, /) -> None:
    """Raises ``InputError`` for a plan with answers of models, naming one."""
    for answerer in plan.answerers:
        if answerer.kind is AnswererKind.MODEL:
            raise InputError(
                f"a cluster does not answer by the model {answerer.name}: several machines cannot "
                "share one file of replies, nor one budget; expected answerers without a model",
                argument="plan",
                hint="Ask models from one machine: graph-service experiment run --workers N.",
            )


@dataclass(frozen=True, slots=True)
class PartTask:
    """Answers parts in the process of an executor: what ``mapInArrow`` calls.

    Attributes:
        options: What names the plan, the run's folder, and the store or the server.
        parts: The parts, by the indices that come in.
    """

    options: ClusterExperimentOptions
    parts: tuple[Part, ...]

    def __call__(self, batches: Iterator[Any], /) -> Iterator[Any]:
        """Yields a row for each part: its first question, and the error that it ended in or null."""
        import pyarrow as arrow

        indices = [index for batch in batches for index in batch.column(0).to_pylist()]
        if not indices:
            return
        rows = [
            {"first": part.first, "error": error}
            for part, error in self._answered([self.parts[index] for index in indices])
        ]
        schema = arrow.schema([("first", arrow.int64()), ("error", arrow.string())])
        yield arrow.RecordBatch.from_pylist(rows, schema=schema)

    def _answered(self, parts: Sequence[Part]) -> Iterator[tuple[Part, str | None]]:
        part = parts[0]
        try:
            plan = read_plan(self.options.plan, scores=SCORES)
            with reach(self.options, Output(as_json=True)) as reached:
                experiment = open_experiment(
                    plan, reached.client, folder=self.options.out, embedder=reached.embedder
                ).experiment
                for part in parts:
                    write_part(experiment, part, self.options.out)
                    yield part, None
        except GraphServiceError as error:
            # An error of ours is the same at each try: the engine need not repeat the task.
            yield part, str(error)


def answer_parts(session: Any, task: PartTask, /, *, tasks: int) -> None:
    """Answers parts by the tasks of an engine.

    Args:
        session: Of Spark Connect; its executors import this package.
        task: Answers the parts whose indices come in.
        tasks: How many tasks there are; each opens the store once and answers parts beside one
            another.

    Raises:
        StoreError: A part could not be answered. Those that were answered stay.
    """
    count = len(task.parts)
    indices = session.range(0, count, 1, min(tasks, count))
    for row in indices.mapInArrow(task, _COLUMNS).collect():
        if row["error"] is not None:
            raise StoreError(
                f"an executor could not answer: {row['error']}",
                hint="Run the same command again; the parts that were answered stay.",
            )


def _as_executors_see(options: ClusterExperimentOptions) -> ClusterExperimentOptions:
    """Returns the options with paths from the root, and with what this process's settings name."""
    options = replace(options, plan=options.plan.absolute(), out=options.out.absolute())
    if options.server:
        return options
    settings = settings_of(options)
    file = file_of(settings.store_url)
    store = settings.store_url if file is None else f"{SQLITE_SCHEME}{file.absolute()}"
    return replace(options, store=store, embedder=settings.embedder)
