"""What a load counts: it travels with the position, and the report is made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from loaders.items import Parsed, Reject
from loaders.records import UNACCOUNTED_REASON, RecordCounter, RecordCounts
from loaders.report import SHOWN_FILES, SHOWN_REJECTS


@dataclass(slots=True)
class Tally:
    """Counts of any load so far, those of the runs before an interruption included.

    Attributes:
        rejected: What could not be read; ``first_rejects`` are the first of these.
        skipped: How many were left out, by the reason.
        formats: Files by their format.
    """

    rejected: int = 0
    first_rejects: list[Reject] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)

    def read(self) -> Mapping[str, int]:
        """Returns how much was read, by kind."""
        raise NotImplementedError

    def reject(self, rejects: Sequence[Reject], /) -> None:
        """Counts rejects, and stores the first of all."""
        self.rejected += len(rejects)
        self.first_rejects.extend(rejects[: max(0, SHOWN_REJECTS - len(self.first_rejects))])

    def reasons(self, rejects_path: Path, /) -> str:
        """Returns in parentheses why nothing of a source can be loaded; "" for no reason."""
        reasons = [f"{count} {reason}" for reason, count in sorted(self.skipped.items())]
        if self.rejected:
            first = self.first_rejects[0]
            reasons.append(
                f"{self.rejected} rejected, all in {rejects_path}; the first at "
                f"{first.location}: {first.reason}"
            )
        return f" ({'; '.join(reasons)})" if reasons else ""


@dataclass(slots=True)
class GraphTally(Tally):
    """Counts of a graph's load.

    Attributes:
        statements, entities: Read; the store may have some of them already.
        kept: How many were loaded although something about them is out of the ordinary, by the
            reason.
        incomplete: What an endpoint gave in part only, by the reason.
        forms: The forms in which Wikidata's statements came.
        repeated: Statements that a packed source gave again.
        records: Of the files that were read to their end; ``file_records`` of the next one.
        source_records: Those that these files hold, by another count than their readers';
            ``came_records`` those that came of the next one, if it is no file.
        unrecognised: Paths of files of a folder that are in no known format, the first of all.
    """

    statements: int = 0
    entities: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    incomplete: Counter[str] = field(default_factory=Counter)
    forms: set[str] = field(default_factory=set)
    repeated: int = 0
    records: RecordCounts = field(default_factory=RecordCounts)
    file_records: RecordCounts = field(default_factory=RecordCounts)
    source_records: int = 0
    came_records: int = 0
    unrecognised: list[str] = field(default_factory=list)

    def read(self) -> Mapping[str, int]:
        """Returns the counts of statements and entities."""
        return {"statements": self.statements, "entities": self.entities}

    def pass_over(self, path: str, reason: str, /) -> None:
        """Counts a file that is passed over, and notes its path."""
        self.skipped[reason] += 1
        if len(self.unrecognised) < SHOWN_FILES:
            self.unrecognised.append(path)

    def count(self, parsed: Parsed, statements: int, /) -> None:
        """Counts what was read, of so many statements; its rejects apart."""
        self.statements += statements
        self.entities += len(parsed.entities)
        self.skipped.update(parsed.skipped)
        self.kept.update(parsed.kept)
        self.incomplete.update(parsed.incomplete)
        self.file_records.add(parsed.counts)
        self.came_records += parsed.source_records

    def end_file(
        self, path: str, counter: RecordCounter | None, /, *, is_damaged: bool, is_remote: bool
    ) -> list[Reject]:
        """Compares what a file's reader counted with what the file holds.

        Args:
            path: The file, for rejects.
            counter: Was fed all of its bytes; None where its reader alone can count.
            is_damaged: Whether its bytes ended in an error, which is a reject of its own.
            is_remote: Whether it was asked over the network, and counted what came.

        Returns:
            What is wrong: records that nothing became of, an array without an end.
        """
        counts, self.file_records = self.file_records, RecordCounts()
        came, self.came_records = self.came_records, 0
        self.records.add(counts)
        count = came if is_remote else counts.total if counter is None else counter.count
        self.source_records += count
        rejects: list[Reject] = []
        if counter is not None and counter.problem and not is_damaged:
            rejects.append(Reject(path, 0, 0, counter.problem))
        if count != counts.total:
            self.incomplete[UNACCOUNTED_REASON] += abs(count - counts.total)
            reason = (
                f"the source has {count:,} records, and {counts.total:,} were read, rejected or "
                "passed over; this is a fault of graph-service, please report it"
            )
            rejects.append(Reject(path, 0, 0, reason))
        return rejects
