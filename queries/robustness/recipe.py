"""Recipes of frozen sets: from which files a set is made, how, and which fingerprints it then has.

A set has the name ``SOURCE/FAMILY/VERSION``, such as ``pathquestion/path-1/v1``. What a person wrote of all
sets of a source stands in ``recipes/SOURCE.yaml``. What was frozen stands in ``recipes/SOURCE.json``:
the ids of the questions and every fingerprint. A version never changes: a changed set is a new
version, and a test compares both files with the digests that were recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from hashlib import blake2b
from importlib import resources
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.serialise import to_plain
from queries.datasets.typed import read_typed
from queries.datasets.yaml_file import Node, read_yaml

_PACKAGE = "queries.robustness"
_FOLDER = "recipes"


class GraphForm(StrEnum):
    """How a graph is made of files: a table of triples, BioKaLMA's people, or Wikidata statements."""

    TRIPLES = "triples"
    PEOPLE = "people"
    WIKIDATA = "wikidata"


class QuestionForm(StrEnum):
    """Where questions come from.

    ``METAQA``, ``PATHS`` and ``WIKIDATA`` are published files: MetaQA's, those of PathQuestion and
    WorldCup, and the folder ``wikidata_questions``. ``TEMPLATE`` asks for the values of a statement's
    head and relation. ``RESTORABLE`` asks so for single statements that rules could restore.
    ``INCOMPLETE`` asks so where the view has lost some of the values, or all: these are the hard
    answers, and the others the easy ones (BRINK).
    """

    METAQA = "metaqa"
    PATHS = "paths"
    WIKIDATA = "wikidata"
    TEMPLATE = "template"
    RESTORABLE = "restorable"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the user's download.

    Attributes:
        path: Below the folder of downloads; there it may be packed (``.xz``, ``.gz``, ``.bz2``).
        sha256: Of its bytes, unpacked.
        origin: Where it is published.
    """

    path: str
    sha256: str
    origin: str


@dataclass(frozen=True, slots=True)
class Licence:
    """Under which terms a source may be used.

    Attributes:
        statements, questions: Of the graph, and of the texts of the questions.
        may_ship: Whether both allow the whole set to be passed on, with credit.
        credit: Whom to name.
    """

    statements: str
    questions: str
    may_ship: bool
    credit: str


@dataclass(frozen=True, slots=True)
class GraphRecipe:
    """How the graph of a set is made.

    Attributes:
        files: Names among the source's files, in the order in which they are read.
        labels: Name of the table of labels, where ids are not names; empty for none.
        relation_labels: Name of the file of labels of relations; empty for none.
        is_reversed: Whether the table has the value first and the head last.
        has_codes: Whether entities have codes as ids, and their names as labels: only then may a
            view take their names away.
    """

    form: GraphForm
    files: tuple[str, ...]
    labels: str = ""
    relation_labels: str = ""
    is_reversed: bool = False
    has_codes: bool = False


@dataclass(frozen=True, slots=True)
class QuestionRecipe:
    """How the questions of a set are made.

    Attributes:
        files: Names among the source's files.
        count: How many were drawn, by a keyed hash of their ids, as many of each kind.
        most_answers: Questions with more answers are left out.
        relations: That templates ask for; all where there are none.
        phrases: Of a relation, the question with ``{}`` for the entity; where there is none,
            ``What is the RELATION of {}?``.
    """

    form: QuestionForm
    files: tuple[str, ...] = ()
    count: int = 200
    most_answers: int = 5
    relations: tuple[str, ...] = ()
    phrases: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a set is, once and for all.

    Attributes:
        recipe: Digest of what a person wrote of the set.
        question_ids: Of the source, in order.
        questions: SHA-256 of the file of questions.
        edges, content: Fingerprints of the graph.
        views: Fingerprint of each view, by ``family/amount/seed``; of a view of each question it is
            over all questions.
    """

    recipe: str
    question_ids: tuple[str, ...]
    questions: str
    edges: str
    content: str
    views: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SetRecipe:
    """A frozen set.

    Attributes:
        name: ``SOURCE/FAMILY/VERSION``.
        title: Of the source.
        files: Those that its graph and questions are made of, by name.
        plan: The fields of an experiment's plan that make its views.
        frozen: None before it was frozen.
    """

    name: str
    title: str
    about: str
    licence: Licence
    files: Mapping[str, SourceFile]
    graph: GraphRecipe
    questions: QuestionRecipe
    plan: Mapping[str, Any]
    frozen: Frozen | None = None

    @property
    def source(self) -> str:
        """Returns the first part of its name."""
        return self.name.partition("/")[0]

    @property
    def graph_name(self) -> str:
        """Returns the name of its graph: sets of one source share it."""
        return f"{self.source}-codes" if self.graph.has_codes else self.source

    def digest(self) -> str:
        """Returns a hash of all that decides the set, but for what was frozen."""
        decisive = {
            "name": self.name,
            "files": {name: [file.path, file.sha256] for name, file in self.files.items()},
            "graph": _stated(self.graph),
            "questions": _stated(self.questions),
            "plan": self.plan,
        }
        data = orjson.dumps(decisive, option=orjson.OPT_SORT_KEYS)
        return blake2b(data, digest_size=16).hexdigest()


def _stated(part: GraphRecipe | QuestionRecipe) -> dict[str, Any]:
    """The fields that are not as by default, so that a new field leaves digests as they are."""
    return {
        field.name: to_plain(value)
        for field in fields(part)
        if (value := getattr(part, field.name)) != field.default
    }


def source_names() -> tuple[str, ...]:
    """Returns the names of the sources that have recipes."""
    folder = resources.files(_PACKAGE) / _FOLDER
    return tuple(
        sorted(
            entry.name.removesuffix(".yaml")
            for entry in folder.iterdir()
            if entry.name.endswith(".yaml")
        )
    )


@cache
def read_source(source: str, /) -> tuple[SetRecipe, ...]:
    """Returns the sets of a source, in the order of its file, frozen or not.

    Raises:
        InputError: There is no such source.
    """
    if source not in source_names():
        raise InputError(
            f"there is no source {source!r}; expected one of {', '.join(source_names())}",
            argument="set",
        )
    folder = resources.files(_PACKAGE) / _FOLDER
    file = f"{source}.yaml"
    frozen_file = folder / f"{source}.json"
    frozen = orjson.loads(frozen_file.read_bytes()) if frozen_file.is_file() else {}
    return parse_source((folder / file).read_text(encoding="utf-8"), source=source, frozen=frozen)


def parse_source(
    text: str, /, *, source: str, frozen: Mapping[str, Any] | None = None
) -> tuple[SetRecipe, ...]:
    """Returns the sets that a recipe's text describes.

    Args:
        text: YAML.
        source: Name of the source.
        frozen: What was frozen of its sets, by ``FAMILY/VERSION``.

    Raises:
        InputError: A field is unknown, missing or wrong; names file, line and field.
    """
    root = read_yaml(text, f"{source}.yaml", expected="the fields of a recipe")
    parts = root.fields(required=("title", "licence", "files", "graph", "questions", "sets"))
    files = {
        name: read_typed(SourceFile, node, names={"origin": "from"})
        for name, node in _entries(parts["files"])
    }
    licence = read_typed(Licence, parts["licence"])
    sets = []
    for name, node in _entries(parts["sets"]):
        own = node.fields(required=("about", "plan"), optional=("graph", "questions"))
        graph = _graph(own.get("graph", parts["graph"]))
        questions = _questions(own.get("questions", parts["questions"]))
        used = {*graph.files, *questions.files, graph.labels, graph.relation_labels} - {""}
        unknown = sorted(used - files.keys())
        if unknown:
            raise node.wrong(f"there is no file {unknown[0]!r} among the files")
        sets.append(
            SetRecipe(
                f"{source}/{name}",
                parts["title"].text(),
                own["about"].text(),
                licence,
                {file: files[file] for file in sorted(used)},
                graph,
                questions,
                own["plan"].plain(),
                _frozen((frozen or {}).get(name)),
            )
        )
    return tuple(sets)


def find_sets(names: tuple[str, ...], /) -> tuple[SetRecipe, ...]:
    """Returns the frozen sets of some names; of all sources where there is no name.

    Args:
        names: ``SOURCE/FAMILY/VERSION`` each, or ``SOURCE`` for all of its sets.

    Raises:
        InputError: There is no such set.
    """
    if not names:
        return tuple(recipe for source in source_names() for recipe in _frozen_sets(source))
    sets: dict[str, SetRecipe] = {}
    for name in names:
        of_source = _frozen_sets(name.partition("/")[0])
        matches = [recipe for recipe in of_source if name in (recipe.source, recipe.name)]
        if not matches:
            known = ", ".join(recipe.name for recipe in of_source)
            raise InputError(
                f"there is no frozen set {name!r}; of this source there are {known}",
                argument="set",
            )
        sets |= {recipe.name: recipe for recipe in matches}
    return tuple(sets.values())


def _frozen_sets(source: str) -> tuple[SetRecipe, ...]:
    return tuple(recipe for recipe in read_source(source) if recipe.frozen is not None)


def _entries(node: Node) -> list[tuple[str, Node]]:
    if not node.is_fields:
        raise node.error("fields")
    return [(name, node.field(name)) for name in (str(key.value) for key, _ in node.node.value)]


def _graph(node: Node) -> GraphRecipe:
    return read_typed(GraphRecipe, node)


def _questions(node: Node) -> QuestionRecipe:
    return read_typed(
        QuestionRecipe,
        node,
        readers={"phrases": lambda part: {name: text.text() for name, text in _entries(part)}},
    )


def _frozen(fields: Mapping[str, Any] | None) -> Frozen | None:
    if fields is None:
        return None
    return Frozen(**{**fields, "question_ids": tuple(fields["question_ids"])})
