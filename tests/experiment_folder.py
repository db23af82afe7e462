"""Folders of experiments as ``experiment run`` and ``report`` write them, without a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import orjson

from queries.experiment.analysis import analyse
from queries.experiment.cells import CellKind, cells_of
from queries.experiment.impact import Impacts
from queries.experiment.plan import Plan
from queries.experiment.plan_file import parse_plan
from queries.experiment.plan_lock import LOCK_NAME, plain_plan
from queries.experiment.report.writing import write_report
from queries.experiment.scoring import ScoreLine
from queries.experiment.subjects import Fate

EDGES = "e" * 48


def make_experiment(folder: Path, *, name: str = "Small", graph: str = "demo") -> Path:
    """Writes an experiment of two methods at two levels into a folder, with its report."""
    folder.mkdir(parents=True)
    plan = parse_plan(
        f"name: {name}\ngraphs: [{graph}]\nquestions: q.jsonl\nmethods: [rr, ed]\n"
        "levels: [0.1, 0.5]\nrandom_seeds: 0-1\n",
        source="small.yaml",
        folder=_questions(folder),
    )
    lock = {
        "format": 1,
        "plan": plain_plan(plan),
        "graphs": {graph: {"edges": EDGES, "content": "c" * 48}},
        "views": {},
        "questions": {"q.jsonl": "f" * 64},
        "prompts": [],
        "versions": {"graph_service": "0.0", "views": 1},
        "embedder": "",
        "extractive": {},
    }
    (folder / LOCK_NAME).write_bytes(orjson.dumps(lock))
    (folder / "answers.jsonl").write_bytes(b"{}\n" * 60)
    analysis = analyse(cells_of(plan), _lines(plan))
    write_report(plan, analysis, Impacts(), lock, folder, figures=False)
    return folder


def _questions(folder: Path) -> Path:
    (folder / "q.jsonl").write_text('{"question": "Who?"}\n')
    return folder


def _lines(plan: Plan) -> Iterator[ScoreLine]:
    for cell in cells_of(plan):
        condition = cell.condition
        level = condition.level or 0.0
        for number in range(6):
            is_lost = (number + (cell.random_seed or 0)) % 6 < level * 6
            nothing = condition.kind is CellKind.NO_KNOWLEDGE
            fate = None if nothing else Fate.LOST if is_lost else Fate.KEPT
            right = float(not nothing and not is_lost)
            for score, value in (("f1", right * (0.5 + number / 10)), ("retrieved", right)):
                kind = ("one-hop", "two-hop")[number % 2]
                yield ScoreLine(cell.id, str(number), kind, fate, score, value)
