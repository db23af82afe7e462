"""What a store says of a graph: its counts, fingerprints and unfinished load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graph_service.model.identity import Fingerprints


@dataclass(frozen=True, slots=True)
class GraphCounts:
    """Sizes of a published graph.

    Attributes:
        entities: Those of statements, and those that a source describes. A relation that has
            names alone (``Batch.names_only``) is found, and not counted.
        literals: Statements whose value is no entity.
        names: Ids that have names alone and no statement. They are no entities: nothing finds
            them until a later load brings a statement.
    """

    entities: int
    statements: int
    relations: int
    literals: int
    names: int = 0


@dataclass(frozen=True, slots=True)
class UnfinishedLoad:
    """A load that has not been published: under way, or left by a process that died."""

    edition: str
    owner: str
    source: str
    started_at: str
    statements: int
    lease_expires_at: str


@dataclass(frozen=True, slots=True)
class GraphInfo:
    """A published graph.

    Attributes:
        edition: ``name@number``.
        source: What it was loaded from, as the loader names it.
        published_at: ISO 8601, UTC.
        options: The loader's options, JSON-ready.
        tool_version: Version of this package that wrote it.
        report: The load's report, JSON-ready.
    """

    name: str
    edition: str
    counts: GraphCounts
    fingerprints: Fingerprints
    source: str
    published_at: str
    options: Mapping[str, Any]
    tool_version: str
    report: Mapping[str, Any]
    unfinished: UnfinishedLoad | None = None
