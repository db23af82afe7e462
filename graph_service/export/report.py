"""What an export wrote, and what its format could not hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from graph_service.model.identity import Fingerprints


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something of the graph that is not in the file, or is there in another form.

    Attributes:
        what: In words.
        count: How many.
        edges: Whether the ``edges`` fingerprint covers it, so that it does not come back.
    """

    what: str
    count: int
    edges: bool


@dataclass(slots=True)
class Omissions:
    """Counts what is left out while a graph is written."""

    counts: Counter[tuple[str, bool]] = field(default_factory=Counter)

    def add(self, what: str, /, count: int = 1, *, edges: bool = False) -> None:
        """Counts something left out; ``edges`` says whether that fingerprint covers it."""
        if count:
            self.counts[what, edges] += count

    def rows(self) -> tuple[LeftOut, ...]:
        """Returns what was left out: first what statements themselves lost, then by words."""
        return tuple(
            LeftOut(what, count, edges)
            for (what, edges), count in sorted(
                self.counts.items(), key=lambda item: (not item[0][1], item[0][0])
            )
        )


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export did.

    Attributes:
        graph, edition: What was exported; ``view`` the id of the view it was laid under, if any.
        files: The paths that were written.
        entities, statements: How many there were to write.
        fingerprints: Of what was exported: the graph's own, or those of the view.
        comes_back: Which fingerprint a graph loaded from the file has: ``content`` (everything),
            ``edges`` (all statements themselves) or None.
        left_out: What the format does not hold.
        commands: How to load it again, or import it; each a command line.
    """

    graph: str
    edition: str
    view: str | None
    format: str
    files: tuple[str, ...]
    entities: int
    statements: int
    fingerprints: Fingerprints
    comes_back: str | None
    left_out: tuple[LeftOut, ...]
    commands: tuple[str, ...]
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Returns the report as the command line's ``--json`` prints it."""
        return {
            "graph": self.graph,
            "edition": self.edition,
            "view": self.view,
            "format": self.format,
            "files": list(self.files),
            "entities": self.entities,
            "statements": self.statements,
            "edges": self.fingerprints.edges,
            "content": self.fingerprints.content,
            "comes_back": self.comes_back,
            "left_out": [
                {"what": row.what, "count": row.count, "edges": row.edges} for row in self.left_out
            ],
            "commands": list(self.commands),
            "seconds": round(self.seconds, 3),
        }

    def lines(self) -> list[str]:
        """Returns the report for people."""
        rate = self.statements / self.seconds if self.seconds > 0 else 0.0
        on_view = f" on view {self.view}" if self.view else ""
        lines = [
            f"{self.edition}{on_view}: {self.statements:,} statements and {self.entities:,} "
            f"entities as {self.format} in {self.seconds:.1f} s ({rate:,.0f} statements/s)"
        ]
        lines.extend(f"  {path}" for path in self.files)
        if self.left_out:
            lines.append("left out, or written in another form:")
            lines.extend(f"  {row.count:,} {row.what}" for row in self.left_out)
        if self.comes_back == "content":
            lines.append(f"nothing is left out: it comes back as {self.fingerprints.content}")
        elif self.comes_back == "edges":
            lines.append(f"its statements come back as edges {self.fingerprints.edges}")
        else:
            lines.append("loaded again it has other statements than the graph it came from")
        lines.extend(f"  {command}" for command in self.commands)
        return lines
