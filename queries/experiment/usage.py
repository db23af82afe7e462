"""What a run asked of models: answers, requests and tokens, by model and temperature."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from queries.experiment.cells import Cell
from queries.experiment.plan import AnswererKind
from queries.experiment.runner import ANSWERS_NAME, read_fields


@dataclass(frozen=True, slots=True)
class ModelUse:
    """What was asked of a model in a setting.

    Attributes:
        name: Of the answerer: the model's and the setting's; ``model`` is the model's alone.
        temperature: None where the endpoint decides it.
        is_estimated: Whether the endpoint left some tokens out.
        date: Day on which the last answer was written, in UTC.
    """

    name: str
    model: str
    temperature: float | None
    answers: int
    requests: int
    prompt_tokens: int
    reply_tokens: int
    is_estimated: bool
    date: str


def usage_of(folder: Path, cells: tuple[Cell, ...], /) -> tuple[ModelUse, ...]:
    """Returns what a run asked of each model; empty without models.

    Args:
        folder: Of the run.
        cells: Of its plan.
    """
    models = {
        cell.id: cell.condition.answerer
        for cell in cells
        if cell.condition.answerer.kind is AnswererKind.MODEL
    }
    path = folder / ANSWERS_NAME
    if not models or not path.is_file():
        return ()
    date = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    uses: dict[str, ModelUse] = {}
    for fields in read_fields(path):
        if fields["cell"] not in models:
            continue
        answerer, answer = models[fields["cell"]], fields["answer"]
        name = answerer.name
        temperature = answer["parameters"].get("temperature")
        before = uses.get(
            name, ModelUse(name, answerer.model, temperature, 0, 0, 0, 0, False, date)
        )
        usage = answer["usage"] or {}
        uses[name] = replace(
            before,
            answers=before.answers + 1,
            requests=before.requests + len(answer["exchanges"]),
            prompt_tokens=before.prompt_tokens + usage.get("prompt_tokens", 0),
            reply_tokens=before.reply_tokens + usage.get("completion_tokens", 0),
            is_estimated=before.is_estimated or usage.get("estimated", False),
        )
    return tuple(uses.values())
