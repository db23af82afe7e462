"""The statements of the two graphs, read from their files without any code of the loaders.

Gold answers are computed from these, so that a defect of a loader cannot make them wrong too.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

CLASS_OF = "class"
"""The relation from an entity to its class, in both graphs."""
NAMES = frozenset(("label", "altLabel"))

_TRIPLE = re.compile(r'<([^>]*)> <([^>]*)> (?:<([^>]*)>|"([^"]*)"(?:@[a-z]+|\^\^<[^>]*>)?) \.')


@dataclass(frozen=True, slots=True)
class Facts:
    """The statements of one graph, by relation.

    Attributes:
        forward: By relation and head, the values: ids, or literals as the file writes them.
        backward: By relation and value, the heads.
        names: By id, the labels and aliases.
    """

    forward: Mapping[str, Mapping[str, frozenset[str]]]
    backward: Mapping[str, Mapping[str, frozenset[str]]]
    names: Mapping[str, frozenset[str]]
    ids: frozenset[str] = field(repr=False)

    def named(self, text: str, /) -> frozenset[str]:
        """Returns the ids that have a name, or are it, whatever the case of its letters."""
        folded = text.casefold()
        return frozenset(
            id_
            for id_ in self.ids
            if folded == id_.casefold()
            or any(folded == name.casefold() for name in self.names.get(id_, ()))
        )


def read_tables(folder: Path, /) -> Facts:
    """Returns the statements of ``statements.csv``, ``classes.csv`` and ``names.csv``."""
    triples = [
        *_rows(folder / "statements.csv"),
        *((id_, CLASS_OF, class_) for id_, class_ in _rows(folder / "classes.csv")),
        *((id_, "label", name) for id_, name in _rows(folder / "names.csv")),
    ]
    return _facts(triples)


def read_ntriples(path: Path, /, *, base: str) -> Facts:
    """Returns the statements of a file of N-Triples.

    Args:
        path: The file; it has no blank nodes and no escapes.
        base: What the graph's ids begin with; it is left out of them here. A relation goes by the
            last part of its IRI.

    Raises:
        ValueError: A line is not of this form.
    """
    triples = []
    for line in path.read_text(encoding="utf-8").splitlines():
        parts = _TRIPLE.fullmatch(line)
        if parts is None:
            raise ValueError(f"expected a triple, got {line!r}")
        head, relation, entity, literal = parts.groups()
        name = re.split("[#/]", relation)[-1]
        value = literal if entity is None else entity.removeprefix(base)
        triples.append((head.removeprefix(base), CLASS_OF if name == "type" else name, value))
    return _facts(triples)


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))[1:]


def _facts(triples: Iterable[Iterable[str]]) -> Facts:
    forward: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    backward: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    names: dict[str, set[str]] = defaultdict(set)
    ids: set[str] = set()
    for head, relation, value in triples:
        ids.add(head)
        if relation in NAMES:
            names[head].add(value)
        else:
            forward[relation][head].add(value)
            backward[relation][value].add(head)
    return Facts(_frozen(forward), _frozen(backward), _sets(names), frozenset(ids))


def _frozen(
    relations: Mapping[str, Mapping[str, set[str]]],
) -> dict[str, dict[str, frozenset[str]]]:
    return {relation: _sets(values) for relation, values in relations.items()}


def _sets(values: Mapping[str, set[str]]) -> dict[str, frozenset[str]]:
    return {key: frozenset(members) for key, members in values.items()}
