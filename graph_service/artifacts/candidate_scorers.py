"""Scorers of relation sequences that were trained on a graph, kept beside it in the store (B7).

A graph has at most one. Preset ``default-6`` ranks by it on that graph and on its views.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from graph_service.byte_budget import ByteBudget, ByteCache
from graph_service.errors import InputError, StoreCorruptError
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import digest
from graph_service.model.serialise import from_plain, to_plain
from graph_service.retrieve.learned.network import (
    CandidateScorer,
    decode_candidate_scorer,
    encode_candidate_scorer,
)
from graph_service.store.protocol import Record, Records

KIND = "sequence-scorer"


@dataclass(frozen=True, slots=True)
class StoredCandidateScorer:
    """A scorer of relation sequences as the store keeps it.

    Attributes:
        graph: The graph that it was trained on.
        edges: ``edges`` fingerprint of that graph when it was trained.
        data: Hash of the questions that it was trained on, 32 hexadecimal digits.
        fingerprint: Of the weights, 32 hexadecimal digits.
        embedder: Whose vectors it reads.
        notes: How it was trained, and what it reached on the questions kept aside.
        created_at: ISO 8601, UTC.
        stale: Whether the graph has changed since.
    """

    graph: str
    edges: str
    data: str
    fingerprint: str
    embedder: str
    created_at: str
    notes: Mapping[str, Any] = field(default_factory=dict)
    stale: bool = False


class CandidateScorerStore:
    """Keeps trained scorers as records of a store, one a graph. Thread-safe.

    Args:
        records: The store's records.
        memory: What the caches share.
    """

    def __init__(self, records: Records, /, *, memory: ByteBudget | None = None) -> None:
        self._records = records
        self._opened: ByteCache[str, CandidateScorer] = ByteCache(
            memory or ByteBudget(), "sequence scorers"
        )

    def save(self, info: GraphInfo, scorer: CandidateScorer, /) -> StoredCandidateScorer:
        """Stores the scorer of a graph in place of the one that is there."""
        data = encode_candidate_scorer(scorer)
        stored = StoredCandidateScorer(
            graph=info.name,
            edges=info.fingerprints.edges,
            data=scorer.data,
            fingerprint=_fingerprint(data),
            embedder=scorer.embedder,
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            notes=dict(scorer.notes),
        )
        self._records.save_record(Record(KIND, info.name, info.name, to_plain(stored), data))
        return stored

    def list(self, *, graph: str | None = None) -> list[StoredCandidateScorer]:
        """Returns the scorers of all graphs, or of one, in order of the graphs' names."""
        records = self._records.list_records(KIND, graph=graph)
        return [from_plain(StoredCandidateScorer, dict(record.json)) for record in records]

    def find(self, info: GraphInfo, /) -> StoredCandidateScorer | None:
        """Returns the scorer of a graph, if it has one."""
        scorers = self.list(graph=info.name)
        if not scorers:
            return None
        return replace(scorers[0], stale=scorers[0].edges != info.fingerprints.edges)

    def open(self, graph: str, /, *, embedder: str) -> CandidateScorer | None:
        """Returns the weights of a graph's scorer; None where the graph has none.

        Args:
            graph: Its name.
            embedder: Name of the embedder whose vectors the weights are to read.

        Raises:
            InputError: They were trained on another embedder's vectors.
            StoreCorruptError: They are damaged, or of another version of this package.
        """
        scorers = self.list(graph=graph)
        if not scorers:
            return None
        (stored,) = scorers
        if stored.embedder != embedder:
            raise InputError(
                f"what preset default-6 learned on graph {graph!r} reads vectors of "
                f"{stored.embedder}; the embedder is {embedder}",
                argument="preset",
                hint=f"Take that embedder, or graph-service retriever delete --graph {graph}",
            )
        held = self._opened.get(stored.fingerprint)
        if held is not None:
            return held
        record = self._records.get_record(KIND, graph)
        data = b"" if record is None else record.data
        try:
            scorer = decode_candidate_scorer(data)
        except InputError as error:
            raise StoreCorruptError(
                f"what preset default-6 learned on graph {graph!r} can't be read: {error.message}",
                hint=f"Train it anew (graph-service retriever train --graph {graph}), or delete it "
                f"(graph-service retriever delete --graph {graph}).",
            ) from error
        # It may have been replaced since it was listed.
        fingerprint = _fingerprint(data)
        return self._opened.put(fingerprint, scorer, 4 * len(data))

    def delete(self, graph: str, /) -> None:
        """Deletes the scorer of a graph; raises ``InputError`` where there is none."""
        if not self._records.delete_record(KIND, graph):
            raise InputError(
                f"graph {graph!r} has no trained retriever",
                argument="graph",
                hint="graph-service retriever list shows those that there are.",
            )


def _fingerprint(data: bytes) -> str:
    return digest((data.hex(),), person=b"scorer").hex()
