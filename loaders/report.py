"""What a load reports when it ends: what every load counts, and the report of a graph's load."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from graph_service.model.serialise import to_plain
from loaders.equal_entities import EqualEntityCounts
from loaders.records import RecordCounts
from loaders.tables.mapping import NUMBER

if TYPE_CHECKING:
    from graph_service.model.graph_info import GraphInfo
    from graph_service.store.protocol import LoadCounts
    from loaders.items import Reject

SHOWN_REJECTS = 20
SHOWN_FILES = 20
UNRECOGNISED_REASON = "files of no known format in the folder"
EXIT_REJECTS = 3
EXIT_STOPPED = 130
_GRAPH_KEYS = ("name", "edition", "counts", "fingerprints", "published_at")

_PLURAL = re.compile(
    r"\b(cell|file|row|record|name|value|triple|statement|node|reference|text|term|document|page|"
    r"description|relationship|reject|lexeme|list|relation|duplicate|literal|record)s\b|\b(entit|cop)ies\b"
)
_VERB = re.compile(r"(?<=\bthat )(say|are|were|have|name|redirect)\b")
_SINGULAR_VERBS = {"are": "is", "were": "was", "have": "has"}


def in_agreement(count: int, reason: str, /) -> str:
    """Returns a count and its reason, whose noun and verb are in the singular for one.

    >>> in_agreement(1, "cells that say 'n/a'"), in_agreement(2, "cells that say 'n/a'")
    ("1 cell that says 'n/a'", "2 cells that say 'n/a'")
    """
    if count == 1:
        reason = _PLURAL.sub(lambda noun: noun[1] or f"{noun[2]}y", reason, count=1)
        reason = _VERB.sub(
            lambda verb: _SINGULAR_VERBS.get(verb[0], f"{verb[0]}s"), reason, count=1
        )
    return f"{count:,} {reason}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunReport:
    """What one run of a load did, of whatever it loads.

    Attributes:
        source: What was loaded, as the user named it.
        formats: Names of the formats read, with their number of files.
        skipped: What was left out on purpose (or stored as it came), by reason.
        rejected: How many pieces could not be read; ``rejects`` are the first of them.
        rejects_path: Where all rejects are, if there are any.
        seconds: Of this run.
        resumed: Whether this run went on with an interrupted one.
    """

    source: str
    formats: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int]
    rejected: int
    rejects: Sequence[Reject]
    rejects_path: str | None
    seconds: float
    resumed: bool = False

    @property
    def exit_code(self) -> int:
        """3 when anything was rejected, else 0."""
        return EXIT_REJECTS if self.rejected else 0

    def to_json(self) -> dict[str, Any]:
        """Returns the report as the command line's ``--json`` prints it."""
        plain: dict[str, Any] = to_plain(self)
        plain["skipped"] = dict(sorted(self.skipped.items()))
        return plain | {"seconds": round(self.seconds, 3), "exit_code": self.exit_code}

    def source_lines(self, no_format: str, /) -> list[str]:
        """Returns the lines of source and formats; ``no_format`` is printed where there is none."""
        formats = ", ".join(
            name if count == 1 else f"{name} ({count} files)"
            for name, count in sorted(self.formats.items())
        )
        return [f"source: {self.source}", f"format: {formats or no_format}"]

    def resumed_lines(self) -> list[str]:
        """Returns the line that says that an interrupted load went on, if one did."""
        line = "resumed: an interrupted load of the same source went on"
        return [line] if self.resumed else []

    def reject_lines(self) -> list[str]:
        """Returns the lines about what was rejected; none if nothing was."""
        if not self.rejected:
            return []
        lines = [f"rejected: {self.rejected:,}, all of them in {self.rejects_path}"]
        lines.extend(f"  {reject.location}: {reject.reason}" for reject in self.rejects)
        if self.rejected > len(self.rejects):
            lines.append(f"  and {self.rejected - len(self.rejects):,} more")
        return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport(RunReport):
    """What a load of a graph did.

    Attributes:
        graph: The published graph; None when the load was stopped before its end.
        status: ``published``; ``stopped``: the same command goes on where it was; ``unchanged``:
            a refresh found what is published, and published nothing.
        read_statements, read_entities: As they came from the source.
        counts: What became of them in the store.
        kept: What was loaded although something about it is out of the ordinary, by reason.
        incomplete: What an endpoint gave in part only, by reason; empty where the load is
            complete.
        filters: Which part of the source was requested, as ``Filters.to_json``; empty for all.
        filter_lines: The same for people.
        wikidata_forms: ``full`` and ``truthy``, if Wikidata's statements are in the graph so.
        adds_to: The edition that the load added to; None where the graph holds this load alone.
        refreshes: The edition that the load refreshed.
        records: Of the source: how many were read, rejected and passed over; empty where its
            format has no count.
        source_records: How many the source holds, counted apart.
        unrecognised: The first of the files that were passed over, since they are in no known
            format.
        equal: Entities of the graph that are one thing.
        keys: Of each table whose rows are things the column that names them, ``NUMBER`` if none
            does; "" if it joins things of other tables.
        rows: Of these tables.
        references: Of each of their columns that names things of a table, that table.
    """

    graph_name: str
    graph: GraphInfo | None
    status: str
    read_statements: int
    read_entities: int
    counts: LoadCounts | None
    incomplete: Mapping[str, int] = field(default_factory=dict)
    filters: Mapping[str, Any] = field(default_factory=dict)
    filter_lines: Sequence[str] = ()
    wikidata_forms: Sequence[str] = ()
    kept: Mapping[str, int] = field(default_factory=dict)
    adds_to: str | None = None
    refreshes: str | None = None
    records: RecordCounts = field(default_factory=RecordCounts)
    source_records: int = 0
    unrecognised: Sequence[str] = ()
    equal: EqualEntityCounts = EqualEntityCounts()
    keys: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    references: Mapping[str, str] = field(default_factory=dict)

    @property
    def exit_code(self) -> int:
        """130 of a load that was stopped; 3 when something was rejected or is incomplete; else 0."""
        if self.status == "stopped":
            return EXIT_STOPPED
        return EXIT_REJECTS if self.rejected or self.incomplete else 0

    def to_json(self) -> dict[str, Any]:
        """Returns the report as the command line's ``--json`` prints it."""
        plain = RunReport.to_json(self)
        del plain["filter_lines"]
        if self.graph is not None:
            plain["graph"] = {key: plain["graph"][key] for key in _GRAPH_KEYS}
        return plain | {
            "read": {
                "statements": plain.pop("read_statements"),
                "entities": plain.pop("read_entities"),
            },
            "kept": dict(sorted(self.kept.items())),
            "complete": not self.incomplete,
            "incomplete": dict(sorted(self.incomplete.items())),
        }

    def _key_lines(self) -> list[str]:
        """Returns the lines that say what rows are, where they are things, and what refers to them."""
        named = [
            f"by {'their ' if key == NUMBER else ''}{key} in {file}"
            for file, key in self.keys.items()
            if key
        ]
        if not named:
            return []
        more = f" and {len(named) - SHOWN_FILES:,} more" if len(named) > SHOWN_FILES else ""
        lines = [f"rows: {self.rows:,}, each a thing, named {', '.join(named[:SHOWN_FILES])}{more}"]
        references = [f"{column} to {table}" for column, table in self.references.items()]
        if references:
            further = len(references) - SHOWN_FILES
            lines.append(
                f"refers: {', '.join(references[:SHOWN_FILES])}"
                + (f" and {further:,} more" if further > 0 else "")
            )
        return lines

    def lines(self) -> list[str]:
        """Returns the report as a person reads it."""
        lines = [*self.source_lines("none recognised"), *self.filter_lines]
        lines.extend(self._key_lines())
        if self.refreshes is not None:
            lines.append(f"refreshed: {self.refreshes}")
        lines.extend(self.resumed_lines())
        lines.append(
            f"read: {in_agreement(self.read_statements, 'statements')}, "
            f"{in_agreement(self.read_entities, 'entity records')} "
            f"in {self.seconds:.1f} s"
        )
        if self.records.total or self.source_records:
            of = self.records
            lines.append(
                f"records: {self.source_records:,} in the source"
                f"{', headers too' if 0 < self.rows < self.source_records else ''}: {of.read:,} read, "
                f"{of.rejected:,} rejected, {of.passed_over:,} passed over"
            )
        if self.counts is not None:
            stored = self.counts
            lines.append(
                f"statements: {stored.written:,} written, {stored.updated:,} updated, "
                f"{in_agreement(stored.duplicates, 'duplicates')}, {stored.removed:,} removed, "
                f"{stored.outdated:,} outdated"
                + (f", {stored.conflicting:,} conflicting" if stored.conflicting else "")
            )
        for title, counts in (
            ("skipped", self.skipped),
            ("kept", self.kept),
            ("NOT COMPLETE", self.incomplete),
        ):
            lines.extend(
                f"{title}: {in_agreement(count, reason)}"
                for reason, count in sorted(counts.items())
            )
        if self.unrecognised:
            more = self.skipped.get(UNRECOGNISED_REASON, 0) - len(self.unrecognised)
            lines.append(
                f"not read: {', '.join(self.unrecognised)}"
                + (f" and {more:,} more" if more > 0 else "")
            )
        lines.extend(self.reject_lines())
        if self.graph is None:
            lines.append("stopped: nothing is published; the same command goes on from here")
        else:
            if self.status == "unchanged":
                lines.append("unchanged: the source has what is published; no new edition")
            size = self.graph.counts
            lines.append(
                f"graph: {self.graph.edition}: {in_agreement(size.entities, 'entities')}, "
                f"{in_agreement(size.statements, 'statements')} ({size.literals:,} with literals), "
                f"{in_agreement(size.relations, 'relations')}"
            )
            if size.names:
                lines.append(
                    "names: 1 id has a name and no statement. The name is stored; the id is not "
                    "an entity"
                    if size.names == 1
                    else f"names: {size.names:,} ids have a name and no statement. The names are "
                    "stored; the ids are not entities"
                )
            lines.extend(self.equal.lines())
            lines.append(f"edges fingerprint: {self.graph.fingerprints.edges}")
            lines.append(f"content fingerprint: {self.graph.fingerprints.content}")
        return lines
