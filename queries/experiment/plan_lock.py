"""What a run rests on, kept beside it: a run goes on only over the same plan and graphs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph_service import __version__
from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from graph_service.model.view_spec import VIEW_ALGORITHM
from queries.experiment.plan import AnswererKind, Plan
from queries.generate.prompt import load_prompt, prompts_in_use
from queries.generate.setting import RECIPES
from queries.lock import read_lock_file, require_same_lock, write_lock_file

LOCK_NAME = "plan.lock.json"
_FORMAT = 1
_NOT_LOCKED = ("source", "budget", "scores", "judges")


def lock_of(plan: Plan, client: Client, /, *, embedder: str = "") -> dict[str, Any]:
    """Returns what a plan rests on as it is now: fingerprints, hashes, prompts, versions.

    Args:
        plan: The plan.
        client: Knows its graphs.
        embedder: Name of the embedder; empty where a server decides it.

    Raises:
        InputError: A graph or a stored view is not there.
    """
    infos = {name: client.graph(name) for name in plan.graphs}
    views: dict[str, str] = {}
    for name in plan.stored_views:
        for graph in plan.graphs:
            stored = client.view(name, graph=graph)
            if stored is None:
                raise InputError(
                    f"{plan.source}: graph {graph!r} has no view {name!r}", argument="plan"
                )
            views[f"{graph}/{name}"] = stored.id
    return {
        "format": _FORMAT,
        "plan": plain_plan(plan),
        "graphs": {name: to_plain(info.fingerprints) for name, info in infos.items()},
        "views": views,
        "questions": {
            file.name: hashlib.sha256(file.path.read_bytes()).hexdigest() for file in plan.questions
        },
        "prompts": _prompts(plan),
        "versions": {"graph_service": __version__, "views": VIEW_ALGORITHM},
        "embedder": embedder,
    }


def plain_plan(plan: Plan, /) -> dict[str, Any]:
    """Returns what of a plan decides its answers."""
    plain: dict[str, Any] = to_plain(plan)
    for name in _NOT_LOCKED:
        del plain[name]
    if plan.runs == 1:
        # Locks from before there were runs lack it.
        del plain["runs"]
    for view, family in zip(plain["views"], plan.views, strict=True):
        for plain_spec, spec in zip(view["specs"], family.specs, strict=True):
            # Nor do they have these, which other methods do not take.
            if not spec.control:
                del plain_spec["control_by"]
            if "cardinality" not in spec.takes.parameters:
                del plain_spec["cardinality"]
    for file in plain["questions"]:
        del file["path"]
    for answerer in plain["answerers"]:
        # Where a model is served does not decide what it says.
        del answerer["url"]
    return plain


def _prompts(plan: Plan) -> list[str]:
    """Names and versions of the prompts of the plan's settings, those of one's own among them."""
    names = {
        RECIPES[answerer.setting].prompt
        for answerer in plan.answerers
        if answerer.kind is AnswererKind.MODEL and answerer.setting is not None
    }
    own = {prompt.label for prompt in prompts_in_use().values()}
    return sorted({load_prompt(name).label for name in names} | (own if names else set()))


def read_lock(folder: Path, /) -> dict[str, Any] | None:
    """Returns the lock of a folder; None where there is none.

    Raises:
        InputError: It is no lock.
    """
    return read_lock_file(folder / LOCK_NAME, of="a plan", form=_FORMAT)


def require_same(stored: Mapping[str, Any], now: Mapping[str, Any], folder: Path, /) -> None:
    """Raises ``InputError`` that lists what differs in the parts that ``now`` has."""
    require_same_lock(stored, now, folder / LOCK_NAME, of="plan or graph")


def write_lock(folder: Path, lock: Mapping[str, Any], /) -> None:
    """Writes the lock of a folder, whole or not at all."""
    write_lock_file(folder / LOCK_NAME, lock)
