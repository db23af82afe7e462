"""What an answer cites, sentence by sentence, and how a citation is printed (K1).

A citation names triples of one entity, ``[Q212657, place of birth: Rome, occupation: painter]``;
``[NA]`` marks a claim that needs knowledge the graph lacks. Reading them back is ``reader``'s.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from graph_service.model.result import Triple

NOT_AVAILABLE = "[NA]"


@dataclass(frozen=True, slots=True)
class Citation:
    """One triple that a sentence cites; a bracket of three triples is three of these.

    Attributes:
        entity_id, relation, value: The parts as known; empty where the text lacks them.
        statement_id: The statement that was given and is meant, in whatever case it is written; None
            where none matches.
        raw: The words of the text that were read.
        matched: Whether it is exactly a triple of the knowledge that was given, case included (K4).
        also: Further statements that print alike, in the order they were given: same entity,
            relation and value under other qualifiers.
    """

    entity_id: str
    relation: str
    value: str
    statement_id: str | None
    raw: str
    matched: bool
    also: tuple[str, ...] = ()

    @property
    def statement_ids(self) -> tuple[str, ...]:
        """All statements that the citation can mean; empty where none matches."""
        return () if self.statement_id is None else (self.statement_id, *self.also)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer.

    Attributes:
        text: Its words without citations and markers.
        citations: In the order they stand.
        not_available: Whether it is marked ``[NA]``, once or more.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    not_available: bool = False


def one_line(text: str, /) -> str:
    """Returns text in NFC on one line, runs of white space as one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def print_citation(triples: Sequence[Triple], /) -> str:
    """Returns triples of one entity as ``[Q1, relation: value, relation: value]`` (K1)."""
    inner = ", ".join(
        f"{one_line(triple.relation.label)}: {one_line(triple.value_label)}" for triple in triples
    )
    return f"[{one_line(triples[0].head.id)}, {inner}]"
