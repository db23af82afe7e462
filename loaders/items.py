"""What a source yields: pieces of a batch, what was wrong in between, and where it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_service.model.statement import Entity, Statement
from graph_service.store.encoded import EncodedStatements, StatementRow


@dataclass(frozen=True, slots=True)
class Reject:
    """A piece of a source that could not be read; it is reported, never dropped in silence.

    Attributes:
        file: Name of the file as the load was given it, ``-`` for standard input.
        line: Line number from 1, 0 where the format has no lines.
        offset: Bytes before the piece, after decompression.
        reason: What was expected and what came.
        text: The beginning of the piece, at most ``REJECT_TEXT_CHARACTERS``.
    """

    file: str
    line: int
    offset: int
    reason: str
    text: str = ""

    @property
    def place(self) -> str:
        """Where it is, for people; answers of endpoints have no lines."""
        if not (self.line or self.offset):
            return self.file
        return f"{self.file}, line {self.line}, byte {self.offset}"

    def to_json(self) -> dict[str, Any]:
        """Returns the line that ``rejects.jsonl`` holds."""
        return {
            "file": self.file,
            "line": self.line,
            "offset": self.offset,
            # A reason may quote the very text that could not be stored.
            "reason": self.reason.encode("utf-8", "backslashreplace").decode(),
            "text": self.text,
        }


REJECT_TEXT_CHARACTERS = 200
FULL, TRUTHY = "full", "truthy"
"""Forms of Wikidata's statements: with ids, ranks, qualifiers and references, or without."""


def excerpt(data: bytes | str, /) -> str:
    """Returns the beginning of a rejected piece as text that JSON can hold."""
    text = (
        data[: 4 * REJECT_TEXT_CHARACTERS].decode("utf-8", "backslashreplace")
        if isinstance(data, bytes)
        else data[:REJECT_TEXT_CHARACTERS].encode("utf-8", "backslashreplace").decode()
    )
    return text[:REJECT_TEXT_CHARACTERS]


@dataclass(slots=True)
class Parsed:
    """What one block of a source came to.

    Mutable, because a reader fills it; it is handed on once and then left alone.

    Attributes:
        position: JSON-ready; given back to the same reader, reading goes on right after this.
        documents: Entities whose whole document is among ``statements``.
        terms_only: Whether ``entities`` add to the terms that are there (RDF, label files)
            instead of replacing them (Wikibase documents).
        skipped: What was left out on purpose, by reason.
        kept: What is loaded although something about it is out of the ordinary, by reason.
        line: The line reached, for people; ``note`` says more where there are no lines.
        incomplete: What the source did not give whole, by reason; also rejects, one each.
        bytes_read: Bytes that came over the network so far.
        rows: The statements instead, from a reader that was asked for rows.
        encoded: The statements instead, where another process encoded them.
        forms: ``FULL`` and ``TRUTHY``, if such statements of Wikidata's are among these.
        truthy: Truthy statements, apart from the others, from a reader that was asked for that.
        statement_nodes: Whether triples of full Wikidata statements were passed over, since the
            reader was not asked to gather them.
    """

    position: Mapping[str, Any] = field(default_factory=dict)
    entities: list[Entity] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    documents: set[str] = field(default_factory=set)
    terms_only: bool = False
    rejects: list[Reject] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    line: int = 0
    note: str = ""
    incomplete: Counter[str] = field(default_factory=Counter)
    bytes_read: int = 0
    rows: list[StatementRow] = field(default_factory=list)
    encoded: EncodedStatements | None = None
    forms: set[str] = field(default_factory=set)
    truthy: list[StatementRow] = field(default_factory=list)
    statement_nodes: bool = False

    def add(self, other: Parsed, /) -> None:
        """Adds what a piece right after this one holds, but its position."""
        self.entities.extend(other.entities)
        self.statements.extend(other.statements)
        self.rows.extend(other.rows)
        self.documents |= other.documents
        self.rejects.extend(other.rejects)
        if other.skipped:
            self.skipped.update(other.skipped)
        if other.kept:
            self.kept.update(other.kept)
        self.forms |= other.forms
        self.truthy.extend(other.truthy)
        self.statement_nodes |= other.statement_nodes

    @property
    def all_statements(self) -> Sequence[Statement]:
        """The statements, encoded or not."""
        return self.statements if self.encoded is None else self.encoded
