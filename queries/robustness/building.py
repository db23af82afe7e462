"""From a recipe and a user's download to a frozen set: graph, questions, plan, views.

The folder of a set holds ``questions.jsonl``, ``plan.yaml`` (the experiment's plan of the recipe) and
``set.json`` (what the set is: every fingerprint). Its graph lies in a store one folder above, where all
sets of a source share it. ``views.jsonl`` holds the fingerprints of views that were drawn already, so
that a build which was stopped goes on with the next view.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import orjson

from graph_service.client import Client
from graph_service.errors import InputError
from graph_service.model.identity import Fingerprints
from graph_service.model.request import ViewRef
from graph_service.model.serialise import to_plain
from graph_service.model.view_spec import VIEW_ALGORITHM
from queries.datasets.records import read_json
from queries.experiment.cells import Cell, CellKind, cells_of
from queries.experiment.plan import Plan
from queries.experiment.plan_file import parse_plan
from queries.experiment.scoring import SCORES
from queries.experiment.subjects import Subject, find_gold, questions_of
from queries.line_file import LineFile, encode_line, write_atomically
from queries.robustness.material import (
    GraphFiles,
    Material,
    file_differences,
    read_material,
    write_graph,
)
from queries.robustness.questions import choose_questions
from queries.robustness.questions import questions_of as source_questions_of
from queries.robustness.recipe import Frozen, QuestionForm, SetRecipe

QUESTIONS_NAME = "questions.jsonl"
PLAN_NAME = "plan.yaml"
LOCK_NAME = "set.json"
VIEWS_NAME = "views.jsonl"
SHOWN_SCORES = ("hits_at_1", "answer_retrieved", "retrieved", "f1")
_FORMAT = 1


class SetGraph(Protocol):
    """The graph of a set in a store."""

    @property
    def client(self) -> Client:
        """A client of the service that has the graph."""
        ...

    def fingerprints(self) -> Fingerprints | None:
        """Returns the fingerprints of the graph; None where it is not loaded."""
        ...

    def load(self, files: GraphFiles, /) -> None:
        """Loads the graph; goes on where a load was stopped."""
        ...

    def view_fingerprint(self, view: ViewRef, /) -> str:
        """Returns the fingerprint of what a view changes."""
        ...

    def gone_statements(self, view: ViewRef, /) -> set[str]:
        """Returns the ids of the statements that a view removes or changes."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a set lies.

    Attributes:
        root: Of all sets.
        recipe: Of the set.
    """

    root: Path
    recipe: SetRecipe

    @property
    def path(self) -> Path:
        """Returns the folder of the set."""
        return self.root / self.recipe.name

    @property
    def of_source(self) -> Path:
        """Returns the folder that all sets of the source share."""
        return self.root / self.recipe.source

    @property
    def store_file(self) -> Path:
        """Returns the file of the store that has the graph."""
        return self.of_source / f"{self.recipe.graph_name}.db"


def plan_text(
    recipe: SetRecipe,
    /,
    *,
    strategies: Sequence[str] = ("triplets", "paths", "subgraph"),
    presets: Sequence[str] = ("default",),
    questions: str = QUESTIONS_NAME,
    first: int | None = None,
) -> str:
    """Returns the experiment's plan of a set: JSON, which is YAML too.

    Args:
        recipe: Of the set.
        strategies: Of the retrieval.
        presets: Of the retrieval.
        questions: The file of questions, from the folder of the plan.
        first: How many of its questions are taken; None for all.
    """
    file: dict[str, Any] = {"file": questions, "format": "lines"}
    plan: dict[str, Any] = {
        "name": recipe.name,
        "graphs": [recipe.graph_name],
        "questions": [file if first is None else {**file, "first": first}],
        **recipe.plan,
        "strategies": list(strategies),
        "presets": list(presets),
        "answers": recipe.plan.get("answers", ["extractive"]),
        "scores": list(shown_scores(recipe)),
    }
    return orjson.dumps(plan, option=orjson.OPT_INDENT_2).decode() + "\n"


def shown_scores(recipe: SetRecipe, /) -> tuple[str, ...]:
    """Returns the scores that a run of a set shows: those of its plan, or ``SHOWN_SCORES``."""
    return tuple(recipe.plan.get("scores", SHOWN_SCORES))


def read_set_plan(folder: Folder, /) -> Plan:
    """Returns the plan of a set that was made.

    Raises:
        InputError: The set was not made.
    """
    if not (folder.path / QUESTIONS_NAME).is_file():
        raise InputError(
            f"{folder.recipe.name} is not in {folder.root}",
            argument="out",
            hint=f"Make it: graph-service robustness make {folder.recipe.name} --data FOLDER "
            f"--out {folder.root}",
        )
    return parse_plan(plan_text(folder.recipe), source=PLAN_NAME, folder=folder.path, scores=SCORES)


@dataclass(slots=True)
class SetBuilder:
    """Makes sets of a user's download, and reads the download once for all sets of a graph.

    Attributes:
        data: The folder of downloads.
        root: Of all sets.
        say: Told how far it is.
    """

    data: Path
    root: Path
    say: Callable[[str], None]
    _materials: dict[str, Material] = field(default_factory=dict)

    def material(self, recipe: SetRecipe, /) -> Material:
        """Returns the graph of a set as its questions are made of it."""
        if recipe.graph_name not in self._materials:
            self._materials[recipe.graph_name] = read_material(recipe, self.data)
        return self._materials[recipe.graph_name]

    def load_graph(self, recipe: SetRecipe, graph: SetGraph, /) -> Fingerprints:
        """Loads the graph of a set where it is not there yet, and returns its fingerprints.

        Raises:
            InputError: A file of the download is not the one of the recipe.
        """
        require_files(recipe, self.data)
        fingerprints = graph.fingerprints()
        if fingerprints is None:
            folder = Folder(self.root, recipe)
            self.say(f"loading graph {recipe.graph_name}")
            files = write_graph(recipe, self.data, self.material(recipe), folder.of_source)
            graph.load(files)
            files.remove()
            fingerprints = graph.fingerprints()
            assert fingerprints is not None
        return fingerprints

    def write_questions(
        self, recipe: SetRecipe, question_ids: Sequence[str], graph: SetGraph, /
    ) -> str:
        """Writes the questions of a set, and returns the SHA-256 of the file.

        Questions of an incomplete graph name their hard answers: what the view of the set has lost.
        """
        material = self.material(recipe)
        questions = choose_questions(source_questions_of(recipe, self.data, material), question_ids)
        folder = Folder(self.root, recipe)
        folder.path.mkdir(parents=True, exist_ok=True)

        def write(gone: Collection[str]) -> bytes:
            data = b"".join(
                encode_line(question.line(material, gone=gone)) for question in questions
            )
            write_atomically(folder.path / QUESTIONS_NAME, data)
            return data

        data = write(())
        if recipe.questions.form is QuestionForm.INCOMPLETE:
            data = write(gone_statements(folder, graph))
        return hashlib.sha256(data).hexdigest()

    def make(self, recipe: SetRecipe, graph: SetGraph, /) -> Frozen:
        """Makes a frozen set, and returns what it is: the same as was frozen.

        Raises:
            InputError: The download or what is made of it is not what was frozen; what differs is
                listed.
        """
        assert recipe.frozen is not None
        frozen, folder = recipe.frozen, Folder(self.root, recipe)
        _require_same(recipe, {"recipe": frozen.recipe}, {"recipe": recipe.digest()})
        loaded = self.load_graph(recipe, graph)
        _require_same(recipe, {"edges": frozen.edges, "content": frozen.content}, to_plain(loaded))
        questions = folder.path / QUESTIONS_NAME
        if not questions.is_file() or _sha256(questions) != frozen.questions:
            made = self.write_questions(recipe, frozen.question_ids, graph)
            _require_same(recipe, {"questions": frozen.questions}, {"questions": made})
        write_atomically(folder.path / PLAN_NAME, plan_text(recipe).encode())
        views = view_fingerprints(folder, graph, say=self.say)
        _require_same(recipe, {"views": frozen.views}, {"views": views})
        lock = {
            "format": _FORMAT,
            "set": recipe.name,
            "frozen": to_plain(frozen),
            "licence": to_plain(recipe.licence),
        }
        write_atomically(
            folder.path / LOCK_NAME, orjson.dumps(lock, option=orjson.OPT_INDENT_2) + b"\n"
        )
        return frozen


def require_files(recipe: SetRecipe, data: Path, /) -> None:
    """Raises ``InputError`` that lists the files of a download that are not those of the recipe."""
    lines = file_differences(recipe, data)
    if lines:
        raise InputError(
            f"the download is not the one that {recipe.name} is made of: {'; '.join(lines)}",
            argument="data",
            hint="A version of a set never changes. Take the files of the recipe: "
            f"graph-service robustness list {recipe.name} --json",
        )


def is_made(folder: Folder, /) -> bool:
    """Returns whether a set was made to its end in its folder, from the recipe of now."""
    path = folder.path / LOCK_NAME
    if not path.is_file() or folder.recipe.frozen is None:
        return False
    lock = read_json(path)
    return isinstance(lock, dict) and lock.get("frozen") == to_plain(folder.recipe.frozen)


def gone_statements(folder: Folder, graph: SetGraph, /) -> set[str]:
    """Returns the ids of the statements that every view of a set lacks, of one view for all questions.

    Args:
        folder: Of the set, with a file of questions.
        graph: Of the set.
    """
    return set.intersection(
        *(
            graph.gone_statements(cell.view)
            for cell in cells_of(read_set_plan(folder))
            if cell.condition.kind is CellKind.VIEW and cell.view is not None
        )
    )


def view_fingerprints(
    folder: Folder, graph: SetGraph, /, *, say: Callable[[str], None], anew: bool = False
) -> dict[str, str]:
    """Returns the fingerprint of each view of a set, by ``family/amount/seed``.

    Args:
        folder: Of the set, with its questions.
        graph: Of the set.
        say: Told which view is drawn.
        anew: Whether views are drawn again whose fingerprint an earlier build wrote.
    """
    plan = read_set_plan(folder)
    subjects = _subjects(plan, graph.client, folder.recipe.graph_name)
    key = _key(folder, graph)
    file = LineFile(folder.path / VIEWS_NAME)
    known: dict[str, str] = {}

    def is_valid(line: bytes, _: str) -> bool:
        row = orjson.loads(line)
        if row["key"] == key and not anew:
            known[row["view"]] = row["fingerprint"]
        return not anew and bool(row["key"] == key)

    if anew:
        file.read(is_valid)
    else:
        file.resume(is_valid)
    views: dict[str, str] = {}
    for cell in cells_of(plan):
        if cell.condition.kind is not CellKind.VIEW or cell.view_name in views:
            continue
        if cell.view_name not in known:
            say(f"{folder.recipe.name}: drawing {cell.view_name}")
            known[cell.view_name] = _fingerprint(cell, subjects, graph)
            if not anew:
                file.append(
                    {
                        "view": cell.view_name,
                        "fingerprint": known[cell.view_name],
                        "key": key,
                    }
                )
        views[cell.view_name] = known[cell.view_name]
    return views


def _key(folder: Folder, graph: SetGraph) -> str:
    """What fingerprints of views rest on: the graph, the questions, the plan, the drawing rules."""
    parts = [
        to_plain(graph.fingerprints()),
        _sha256(folder.path / QUESTIONS_NAME),
        plan_text(folder.recipe),
        VIEW_ALGORITHM,
    ]
    return blake2b(orjson.dumps(parts), digest_size=16).hexdigest()


def _subjects(plan: Plan, client: Client, graph: str) -> tuple[Subject, ...]:
    return find_gold(questions_of(plan, graph), client, graph=graph)


def _fingerprint(cell: Cell, subjects: Sequence[Subject], graph: SetGraph) -> str:
    if cell.aim is None:
        assert cell.view is not None
        return graph.view_fingerprint(cell.view)
    state = blake2b(digest_size=16)
    for subject in subjects:
        view = cell.view_of(subject.gold)
        assert view is not None
        state.update(f"{subject.case.id}\t{graph.view_fingerprint(view)}\n".encode())
    return state.hexdigest()


def set_differences(folder: Folder, graph: SetGraph, /, *, say: Callable[[str], None]) -> list[str]:
    """Returns what differs between a set as it lies in its folder and what was frozen.

    Its views are drawn again, so that this also tells whether this machine and version draw them
    as they were. Over another graph or other questions they are not drawn, since they would differ
    in any case.
    """
    recipe = folder.recipe
    frozen = recipe.frozen
    assert frozen is not None
    fingerprints = graph.fingerprints()
    lines = _differences({"recipe": frozen.recipe}, {"recipe": recipe.digest()})
    lines += _differences(
        {"edges": frozen.edges, "content": frozen.content},
        {} if fingerprints is None else to_plain(fingerprints),
    )
    questions = folder.path / QUESTIONS_NAME
    now = _sha256(questions) if questions.is_file() else "no file"
    lines += _differences({"questions": frozen.questions}, {"questions": now})
    is_same = not lines
    plan = folder.path / PLAN_NAME
    if not plan.is_file() or plan.read_text(encoding="utf-8") != plan_text(recipe):
        lines.append(f"{PLAN_NAME}: is not the plan of the recipe")
    if not is_same:
        return lines
    views = view_fingerprints(folder, graph, say=say, anew=True)
    return lines + _differences({"views": frozen.views}, {"views": views})


def _require_same(recipe: SetRecipe, frozen: Mapping[str, Any], made: Mapping[str, Any]) -> None:
    lines = _differences(frozen, made)
    if lines:
        raise InputError(
            f"what was made is not {recipe.name}: {'; '.join(lines)}",
            argument="data",
            hint="A version of a set never changes. The download, or a part of this version of "
            "graph-service, is another.",
        )


def _differences(frozen: Mapping[str, Any], made: Mapping[str, Any]) -> list[str]:
    lines = []
    for name, value in frozen.items():
        now = made.get(name, "nothing")
        if isinstance(value, Mapping) and isinstance(now, Mapping):
            lines += [
                f"{name} {part}: {value.get(part, 'nothing')} was frozen; "
                f"{now.get(part, 'nothing')} is there"
                for part in sorted(value.keys() | now.keys())
                if value.get(part) != now.get(part)
            ]
        elif value != now:
            lines.append(f"{name}: {value} was frozen; {now} is there")
    return lines


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
