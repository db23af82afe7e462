"""BioKaLMA's published question files: questions with the one-hop graphs of their people (K10).

A JSON list of ``[question, graphs]``; a graph is one person's, a flat object from property labels
to one text each, with ``name`` and ``qid``. It has no ids of properties and values, and no minimum
sets: what can be scored is correctness, and which people were found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from graph_service.errors import InputError
from graph_service.model.result import EntityRef, RelationRef, Triple
from graph_service.model.values import StringValue
from queries.datasets.case import Case, distinct
from queries.datasets.records import kind_of, read_json

_NOT_FACTS = ("name", "qid")
# Most simple questions carry this before their words.
_PREFIX = "question:"


def read_biokalma(path: str | Path, /) -> tuple[Case, ...]:
    """Reads a file of BioKaLMA; ids are places in it, from 1.

    Raises:
        InputError: The file is no such list; names the entry and the field.
    """
    entries = read_json(path)
    source = Path(path).name
    if not isinstance(entries, list):
        raise InputError(f"{source}: a list of entries was expected; {kind_of(entries)} came")
    return distinct(
        (_case(entry, index, f"{source}, entry {index}") for index, entry in enumerate(entries, 1)),
        source=source,
    )


def _case(entry: Any, number: int, where: str) -> Case:
    if not isinstance(entry, list) or len(entry) != 2:
        raise InputError(
            f"{where}: a pair of question and graphs was expected; {kind_of(entry)} came"
        )
    question, graphs = entry
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"{where}, question: a text was expected; {kind_of(question)} came")
    if not isinstance(graphs, list):
        raise InputError(f"{where}, graphs: a list was expected; {kind_of(graphs)} came")
    people = [_person(graph, f"{where}, graph {index}") for index, graph in enumerate(graphs, 1)]
    text = question.strip()
    if text.lower().startswith(_PREFIX):
        text = text[len(_PREFIX) :].strip()
    return Case(
        id=str(number),
        question=text,
        entity_ids=tuple(dict.fromkeys(person["qid"] for person in people)),
        knowledge=tuple(triple for person in people for triple in _triples(person)),
    )


def _person(graph: Any, where: str) -> Mapping[str, str]:
    if not isinstance(graph, dict) or not all(isinstance(value, str) for value in graph.values()):
        raise InputError(f"{where}: an object of texts was expected; {kind_of(graph)} came")
    for name in _NOT_FACTS:
        if not graph.get(name):
            raise InputError(f"{where}, field {name}: a text was expected; nothing came")
    return graph


def _triples(person: Mapping[str, str]) -> Iterator[Triple]:
    head = EntityRef(person["qid"], person["name"])
    for label, value in person.items():
        if label in _NOT_FACTS or not value:
            continue
        relation = label.replace("_", " ")
        yield Triple(
            f"{head.id}:{relation}",
            head,
            RelationRef(relation, relation),
            StringValue(value),
            value,
        )
