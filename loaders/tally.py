"""What a load counts: it travels with the position, and the report is made of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from loaders.items import Parsed, Reject
from loaders.options import SHOWN_REJECTS


@dataclass(slots=True)
class Tally:
    """Numbers of a load so far, those of the runs before an interruption included.

    Attributes:
        statements, entities: Read, of which the store may find some twice.
        rejected: What could not be read; ``first_rejects`` are the first of these.
        skipped, kept: How many, by the reason.
        formats: Files by their format.
        incomplete: What an endpoint did not give whole, by the reason.
        forms: The forms in which Wikidata's statements came.
        repeated: Statements that a packed source gave again.
    """

    statements: int = 0
    entities: int = 0
    rejected: int = 0
    first_rejects: list[Reject] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    incomplete: Counter[str] = field(default_factory=Counter)
    forms: set[str] = field(default_factory=set)
    repeated: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was read."""
        return not (self.statements or self.entities)

    def count(self, parsed: Parsed, statements: int, /) -> None:
        """Counts what was read, of so many statements; its rejects apart."""
        self.statements += statements
        self.entities += len(parsed.entities)
        self.skipped.update(parsed.skipped)
        self.kept.update(parsed.kept)
        self.incomplete.update(parsed.incomplete)

    def reject(self, rejects: Sequence[Reject], /) -> None:
        """Counts rejects, and keeps the first of all."""
        self.rejected += len(rejects)
        self.first_rejects.extend(rejects[: max(0, SHOWN_REJECTS - len(self.first_rejects))])

    def nothing_loaded(self, source: str, rejects_path: Path, /) -> str:
        """Returns why nothing of a source can be loaded."""
        said = [f"{number} {reason}" for reason, number in sorted(self.skipped.items())]
        if self.rejected:
            first = self.first_rejects[0]
            said.append(
                f"{self.rejected} rejected, all in {rejects_path}; the first at "
                f"{first.place}: {first.reason}"
            )
        return f"{source} holds nothing that can be loaded" + (
            f" ({'; '.join(said)})" if said else ""
        )

    def to_json(self) -> dict[str, Any]:
        """Returns it for a checkpoint."""
        return {
            "statements": self.statements,
            "entities": self.entities,
            "rejected": self.rejected,
            "first_rejects": [reject.to_json() for reject in self.first_rejects],
            "skipped": dict(self.skipped),
            "kept": dict(self.kept),
            "formats": dict(self.formats),
            "incomplete": dict(self.incomplete),
            "forms": sorted(self.forms),
            "repeated": self.repeated,
        }

    @classmethod
    def from_json(cls, payload: Mapping[str, Any], /) -> Tally:
        """Returns what ``to_json`` gave."""
        return cls(
            payload["statements"],
            payload["entities"],
            payload["rejected"],
            [Reject(**reject) for reject in payload["first_rejects"]],
            Counter(payload["skipped"]),
            Counter(payload.get("kept", {})),
            Counter(payload["formats"]),
            Counter(payload.get("incomplete", {})),
            set(payload.get("forms", ())),
            int(payload.get("repeated", 0)),
        )
