"""FactBench: facts of DBpedia and Freebase, true ones and ones made wrong in known ways."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graph_service.errors import InputError
from queries.datasets.records import unreadable
from queries.score.entailment import Pair, Relation
from queries.score.entailment_score import EntailmentCase
from queries.score.evidence import Evidence
from queries.score.report import Groups

COLUMNS = (
    "split", "label", "relation", "subject_uri", "subject_label_en", "property", "object_uri",
    "object_label_en", "from", "to", "file",
)  # fmt: skip
CORRECT = "correct"


@dataclass(frozen=True, slots=True)
class BenchFact:
    """One fact with its years.

    Attributes:
        label: ``correct``, or ``wrong_date``, ``wrong_domain`` and so on.
        first, last: Years from and to which it held; empty where there are none.
    """

    id: str
    label: str
    relation: str
    subject: str
    value: str
    first: str
    last: str

    @property
    def line(self) -> str:
        """The fact as evidence, ``subject | relation | value | from 1901 | to 1901``."""
        return (
            f"{self.subject} | {self.relation} | {self.value} | from {self.first} | to {self.last}"
        )

    @property
    def statement(self) -> str:
        """The fact as a statement to be checked."""
        when = self.first if self.first == self.last else f"{self.first} to {self.last}"
        return f"{self.subject}, {self.relation}: {self.value} ({when})"


def read_factbench(path: str | Path, /) -> tuple[BenchFact, ...]:
    """Returns the facts of a table ``facts.tsv``.

    Raises:
        InputError: A column is missing, or a line is short; names the line.
    """
    file = Path(path)
    try:
        with file.open(encoding="utf-8", newline="") as opened:
            rows = list(csv.reader(opened, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(file, error) from error
    if not rows or tuple(rows[0]) != COLUMNS:
        raise InputError(f"{file.name}, line 1: the columns {', '.join(COLUMNS)} were expected")
    facts: list[BenchFact] = []
    for index, row in enumerate(rows[1:], 2):
        if len(row) != len(COLUMNS):
            raise InputError(
                f"{file.name}, line {index}: {len(COLUMNS)} fields were expected; {len(row)} came"
            )
        cell = dict(zip(COLUMNS, row, strict=True))
        facts.append(
            BenchFact(
                f"{index}:{cell['file']}",
                cell["label"],
                cell["relation"],
                cell["subject_label_en"],
                cell["object_label_en"],
                cell["from"],
                cell["to"],
            )
        )
    return tuple(facts)


_EVIDENCE = 5
"""Triples of evidence of a fact at most."""


def factbench_cases(facts: Sequence[BenchFact], /) -> tuple[EntailmentCase, ...]:
    """Returns every fact as a pair, to measure a verifier of triples.

    The true facts are the graph. The evidence of a fact, true or wrong, is what a search of
    the graph by its words finds; a verifier should call the true ones entailed and the others not.

    Args:
        facts: True and wrong ones.
    """
    graph = Evidence([fact.line for fact in facts if fact.label == CORRECT])
    return tuple(
        EntailmentCase(
            id=fact.id,
            pair=Pair("; ".join(graph.search(fact.statement, limit=_EVIDENCE)), fact.statement),
            entailed=fact.label == CORRECT,
            label=Relation.ENTAILMENT.value if fact.label == CORRECT else "",
            groups=Groups(kind=fact.relation),
        )
        for fact in facts
    )
