"""What a source yields: pieces of a batch, what was wrong in between, and where it stands."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph_service.model.statement import Entity, Statement
from graph_service.store.encoded import EncodedStatements, StatementRow
from loaders.records import RecordCounts


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

    def __post_init__(self) -> None:
        """Escapes what JSON can't hold: a reason may quote the very text that was rejected."""
        reason = self.reason.encode("utf-8", "backslashreplace").decode()
        object.__setattr__(self, "reason", reason)

    @property
    def location(self) -> str:
        """Where it is, for people; answers of endpoints have no lines."""
        return location_text(self.file, self.line, self.offset)


def location_text(file: str, line: int, offset: int = 0, /) -> str:
    """Returns file, line and byte for people; without the byte where that is not known."""
    if not (line or offset):
        return file
    return f"{file}, line {line}" + ("" if line > 1 and not offset else f", byte {offset}")


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
        counts: How many records of the source this piece is; ``source_records`` the same counted
            apart, by what asks a source over the network.
        lines, entity_lines: The lines of the statements (or rows) and of the entities, as far as
            ``mark`` said; the rest have none.
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
    counts: RecordCounts = field(default_factory=RecordCounts)
    source_records: int = 0
    lines: array[int] = field(default_factory=lambda: array("q"))
    entity_lines: array[int] = field(default_factory=lambda: array("q"))

    def mark(self, line: int, /) -> None:
        """Says on which line stands what was added since the last mark; 0 for none."""
        came = len(self.all_statements) + len(self.rows) - len(self.lines)
        if came > 0:
            self.lines.extend((line,) * came)
        came = len(self.entities) - len(self.entity_lines)
        if came > 0:
            self.entity_lines.extend((line,) * came)

    def count_skipped(self) -> None:
        """Counts the triples that were skipped as passed over; a mapper's reader counts all."""
        passed_over = min(self.skipped.total(), self.counts.read)
        self.counts.passed_over += passed_over
        self.counts.read -= passed_over

    @property
    def records(self) -> set[str]:
        """The entities of which a batch takes one record, since a later one replaces it."""
        if self.terms_only:
            return self.documents
        return self.documents.union(entity.id for entity in self.entities)

    truthy: list[StatementRow] = field(default_factory=list)
    statement_nodes: bool = False

    def add(self, other: Parsed, /) -> None:
        """Adds what a piece right after this one holds, but its position."""
        self.mark(0)
        other.mark(0)
        self.lines.extend(other.lines)
        self.entity_lines.extend(other.entity_lines)
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
        self.counts.add(other.counts)
        self.source_records += other.source_records
        self.truthy.extend(other.truthy)
        self.statement_nodes |= other.statement_nodes

    @property
    def all_statements(self) -> Sequence[Statement]:
        """The statements, encoded or not."""
        return self.statements if self.encoded is None else self.encoded
