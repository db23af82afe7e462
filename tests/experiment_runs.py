"""Runs of an experiment on the demo's graph, for their tests."""

from __future__ import annotations

import shutil
from pathlib import Path

from graph_service import Service
from graph_service.cli.experiment.steps import StoreSteps
from graph_service.client import Client
from queries.datasets import demo_set
from queries.experiment.impact import VIEWS_NAME, write_views
from queries.experiment.opening import open_experiment
from queries.experiment.plan_file import read_plan
from queries.experiment.runner import ANSWERS_NAME, run
from queries.experiment.scoring import SCORES, SCORES_NAME, write_scores

QUESTIONS = Path(demo_set.__file__).parent / "demo" / "questions.jsonl"
PLAN = """graphs: [demo]
questions: {file: questions.jsonl, first: 4}
methods: [ed]
levels: [0.5]
strategies: [paths]
retrieval: {max_hops: 1}
"""


def written(folder: Path, text: str = PLAN) -> Path:
    shutil.copyfile(QUESTIONS, folder / "questions.jsonl")
    (folder / "plan.yaml").write_text(text)
    return folder / "plan.yaml"


def run_into(folder: Path, plan: Path, service: Service, *, workers: int = 1) -> int:
    """Returns how many answers were made."""
    folder.mkdir(exist_ok=True)
    opened = open_experiment(read_plan(plan, scores=SCORES), Client.over(service), folder=folder)
    made = 0
    for progress in run(opened.experiment, folder, workers=workers):
        made = progress.fresh
    counter = StoreSteps(service)
    write_views(opened.experiment, folder, count_steps=counter.count, count_changes=counter.changes)
    write_scores(opened.experiment, folder)
    return made


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in (ANSWERS_NAME, SCORES_NAME, VIEWS_NAME)}
