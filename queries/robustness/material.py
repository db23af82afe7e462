"""A user's download as the graph of a frozen set: its files checked, its statements, its names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.model.identity import key64, normalise_statement_guid
from graph_service.model.statement import make_statement
from graph_service.model.values import EntityValue
from graph_service.text.fold import name_of_id
from queries.datasets.records import open_plain, read_json, text_lines
from queries.datasets.wikidata_questions import (
    read_labels,
    read_statements,
    statement_guid,
    write_wikibase,
)
from queries.line_file import write_atomically
from queries.robustness.recipe import GraphForm, SetRecipe, SourceFile

Fact = tuple[str, str, str]
"""Head, relation and value of a statement, by id."""
_PACKED = (".xz", ".gz", ".bz2")
_BLOCK = 1 << 20
_OF_PEOPLE = ("name", "qid", "date_of_birth", "date_of_death")
"""What BioKaLMA says of a person that is no statement about another entity."""


@dataclass(frozen=True, slots=True, eq=False)
class GraphFiles:
    """What ``load`` reads of a graph.

    Attributes:
        statements: A table of head, relation and tail without a header, or Wikibase JSON lines.
        is_table: Whether it is the table.
        labels: A table of id and label; None where there is none.
    """

    statements: Path
    is_table: bool
    labels: Path | None = None

    def remove(self) -> None:
        """Removes the files of the graph."""
        self.statements.unlink(missing_ok=True)
        if self.labels is not None:
            self.labels.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """The graph of a set, as its questions are made of it.

    Attributes:
        facts: The statements between entities, in the order of the source, each once.
        labels: Of entities and relations, by id, where an id is no name.
        statement_ids: Of the facts, where they are not made of their content.
        code_of: Code of each entity, where the graph has codes.
    """

    facts: tuple[Fact, ...]
    labels: Mapping[str, str]
    statement_ids: Mapping[Fact, str] = field(default_factory=dict)
    code_of: Mapping[str, str] = field(default_factory=dict)

    def id_of(self, entity: str, /) -> str:
        """Returns the id that the graph has for an entity of the source."""
        return self.code_of.get(entity, entity)

    def name_of(self, id_: str, /) -> str | None:
        """Returns the name of an entity or a relation of the source; None where it has none."""
        return self.labels.get(id_) or name_of_id(id_)

    def statement_id(self, fact: Fact, /) -> str:
        """Returns the id that the graph has for a statement of the source."""
        if fact in self.statement_ids:
            return self.statement_ids[fact]
        head, relation, value = fact
        return make_statement(self.id_of(head), relation, EntityValue(self.id_of(value))).id


def find_file(data: Path, file: SourceFile, /) -> Path:
    """Returns the path of a file of the download, packed or not.

    Raises:
        InputError: It is not there.
    """
    path = data / file.path
    for candidate in (path, *(path.with_name(path.name + ending) for ending in _PACKED)):
        if candidate.is_file():
            return candidate
    raise InputError(
        f"there is no file {path}, packed or not",
        argument="data",
        hint=f"Download it: {file.origin}",
    )


def sha256_of(path: Path, /) -> str:
    """Returns the SHA-256 of a file, unpacked where its name says that it is packed.

    Raises:
        InputError: It cannot be read.
    """
    state = hashlib.sha256()
    with open_plain(path) as opened:
        while block := opened.read(_BLOCK):
            state.update(block)
    return state.hexdigest()


def file_differences(recipe: SetRecipe, data: Path, /) -> list[str]:
    """Returns what differs between a download and the recipe of a set, one line a file.

    Raises:
        InputError: A file is not there.
    """
    lines = []
    for file in recipe.files.values():
        path = find_file(data, file)
        now = sha256_of(path)
        if now != file.sha256:
            lines.append(f"{path}: sha256 {file.sha256} was expected; {now} came")
    return lines


def read_material(recipe: SetRecipe, data: Path, /) -> Material:
    """Returns the graph of a set from the user's download.

    Raises:
        InputError: A file is missing, or a line is not of its form.
    """
    return _MAKERS[recipe.graph.form](recipe, data)


def write_graph(recipe: SetRecipe, data: Path, material: Material, folder: Path, /) -> GraphFiles:
    """Writes what ``load`` reads of a set's graph into a folder, and returns the files."""
    name = recipe.graph_name
    if recipe.graph.form is GraphForm.WIKIDATA:
        lines = folder / f"{name}.jsonl"
        write_wikibase(_first_path(recipe, data).parent, lines)
        return GraphFiles(lines, is_table=False)
    table = folder / f"{name}.tsv"
    rows = (
        f"{material.id_of(head)}\t{relation}\t{material.id_of(value)}\n"
        for head, relation, value in material.facts
    )
    write_atomically(table, "".join(rows).encode())
    names = {material.id_of(id_): label for id_, label in material.labels.items()}
    if not names:
        return GraphFiles(table, is_table=True)
    labels = folder / f"{name}-labels.tsv"
    write_atomically(
        labels, "".join(f"{id_}\t{label}\n" for id_, label in sorted(names.items())).encode()
    )
    return GraphFiles(table, is_table=True, labels=labels)


def _first_path(recipe: SetRecipe, data: Path) -> Path:
    return find_file(data, recipe.files[recipe.graph.files[0]])


def _rows(path: Path) -> Iterator[list[str]]:
    for _, line in text_lines(path, argument="data"):
        yield line.split("\t")


def _triples(recipe: SetRecipe, data: Path) -> Material:
    facts: dict[Fact, None] = {}
    for name in recipe.graph.files:
        path = find_file(data, recipe.files[name])
        for index, row in enumerate(_rows(path), 1):
            if len(row) != 3:
                raise InputError(
                    f"{path}, line {index}: head, relation and tail were expected, with tabs "
                    f"between; {len(row)} columns came",
                    argument="data",
                )
            head, relation, value = reversed(row) if recipe.graph.is_reversed else row
            # What has no head or no value says nothing.
            if head.strip() and value.strip():
                facts[head, relation, value] = None
    return _named(recipe, data, tuple(facts))


def _named(recipe: SetRecipe, data: Path, facts: tuple[Fact, ...]) -> Material:
    entities = {entity for head, _, value in facts for entity in (head, value)}
    labels: dict[str, str] = {}
    if recipe.graph.labels:
        path = find_file(data, recipe.files[recipe.graph.labels])
        labels = {row[0]: row[1] for row in _rows(path) if row[0] in entities and len(row) > 1}
    if recipe.graph.relation_labels:
        relations = {relation for _, relation, _ in facts}
        known: Mapping[str, Any] = read_json(
            find_file(data, recipe.files[recipe.graph.relation_labels])
        )
        labels |= {id_: known[id_]["label"] for id_ in sorted(relations & known.keys())}
    return _with_codes(recipe, facts, labels)


def _with_codes(recipe: SetRecipe, facts: tuple[Fact, ...], labels: Mapping[str, str]) -> Material:
    if not recipe.graph.has_codes:
        return Material(facts, labels)
    entities = dict.fromkeys(entity for head, _, value in facts for entity in (head, value))
    code_of = {entity: f"n{key64(entity) & (2**64 - 1):016x}" for entity in entities}
    names = {entity: labels.get(entity) or name_of_id(entity) or entity for entity in entities}
    return Material(facts, {**labels, **names}, code_of=code_of)


def _people(recipe: SetRecipe, data: Path) -> Material:
    people: dict[str, Mapping[str, str]] = {}
    for _, graphs in read_json(_first_path(recipe, data)):
        people |= {person["qid"]: person for person in graphs}
    ids_by_name: dict[str, list[str]] = {}
    for id_, person in people.items():
        ids_by_name.setdefault(person["name"], []).append(id_)
    # A value that is the name of exactly one of the people is that person.
    id_of = {name: ids[0] for name, ids in ids_by_name.items() if len(ids) == 1}
    facts: dict[Fact, None] = {}
    for id_, person in people.items():
        for relation, value in person.items():
            text = " ".join(value.split())
            if text and relation not in _OF_PEOPLE:
                facts[id_, relation, id_of.get(text, text)] = None
    labels = {id_: person["name"] for id_, person in people.items()}
    return _with_codes(recipe, tuple(facts), labels)


def _wikidata(recipe: SetRecipe, data: Path) -> Material:
    folder = _first_path(recipe, data).parent
    ids: dict[Fact, str] = {}
    for head, relation, value, kind in read_statements(folder):
        guid = statement_guid(head, relation, value, kind)
        ids[head, relation, value] = normalise_statement_guid(guid) or guid
    return Material(tuple(ids), read_labels(folder, "en"), ids)


_MAKERS = {
    GraphForm.TRIPLES: _triples,
    GraphForm.PEOPLE: _people,
    GraphForm.WIKIDATA: _wikidata,
}
