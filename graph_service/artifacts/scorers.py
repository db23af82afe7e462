"""Trained scorers in a store: trained on a graph, kept with what they are worth, opened."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from graph_service.math_threads import one_math_thread
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.serialise import from_plain, to_plain
from graph_service.store.decoding import decodes
from graph_service.store.protocol import Record, Records
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer.file import decode_scorer, encode_scorer, fingerprint_of
from graph_service.views.scorer.trained import PREFIX, TRAINED, TrainedScorer
from graph_service.views.scorer.training import train
from graph_service.views.scorer.trial import ScorerQuality

KIND = "scorer"


@dataclass(frozen=True, slots=True, eq=False)
class EntityTexts:
    """Vectors of entities' texts.

    Attributes:
        vectors: Of each entity node, zero where it has no text: float16 [E, k].
        described: How many entities have text.
        embedder: What made them.
    """

    vectors: npt.NDArray[np.float16]
    described: int
    embedder: str


@dataclass(frozen=True, slots=True)
class StoredScorer:
    """A trained scorer as the store keeps it.

    Attributes:
        fingerprint: Of what was learnt and of ``edges``; with ``trained:`` before it its name.
        graph: Name of the graph.
        edges: ``edges`` fingerprint of the graph that it was trained on.
        quality: What it is worth on held-out edges.
        counts: What counts are worth on the same.
        random_seed: What was drawn followed from it.
        embedder: What made the vectors of texts; empty where none were used.
        described: How many entities had text.
        seconds: How long training took.
        created_at: ISO 8601, UTC.
        stale: Whether the graph has changed since.
    """

    fingerprint: str
    graph: str
    edges: str
    quality: ScorerQuality
    counts: ScorerQuality
    random_seed: int
    embedder: str
    described: int
    seconds: float
    created_at: str
    stale: bool = False

    @property
    def name(self) -> str:
        """What a view's specification calls it."""
        return f"{PREFIX}{self.fingerprint}"


class ScorerStore:
    """Trains scorers and keeps them as records of a store.

    Args:
        records: The store's records.
    """

    def __init__(self, records: Records, /) -> None:
        self._records = records

    def train(
        self,
        graph: KnowledgeGraph,
        /,
        *,
        texts: EntityTexts | None = None,
        random_seed: int = 0,
        deadline: Deadline | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> StoredScorer:
        """Trains a scorer on a graph and stores it.

        Args:
            graph: A base graph.
            texts: Vectors of its entities' texts, where they have any.
            random_seed: What is drawn follows from it.
            deadline: When to give up; nothing is stored then.
            progress: Told the share of the work done.

        Raises:
            InputError: The graph has too few edges or relations.
        """
        began = time.monotonic()
        with one_math_thread():
            result = train(
                graph,
                index=PairIndex.build(graph),
                text=None if texts is None else texts.vectors,
                random_seed=random_seed,
                deadline=deadline,
                progress=progress,
            )
        data = encode_scorer(result.learned)
        edges = graph.fingerprints.edges
        stored = StoredScorer(
            fingerprint=fingerprint_of(data, edges),
            graph=graph.name,
            edges=edges,
            quality=result.quality,
            counts=result.counts,
            random_seed=random_seed,
            embedder="" if texts is None else texts.embedder,
            described=0 if texts is None else texts.described,
            seconds=round(time.monotonic() - began, 3),
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        )
        key = _key(graph.name, stored.fingerprint)
        self._records.save_record(Record(KIND, key, graph.name, to_plain(stored), data))
        return stored

    def list(self, graph: str, /, *, edges: str) -> list[StoredScorer]:
        """Returns the scorers of a graph, oldest first.

        Args:
            graph: Name of the graph.
            edges: Its ``edges`` fingerprint now, from which ``stale`` is told.
        """
        records = self._records.list_records(KIND, graph=graph)
        scorers = [_stored(record, edges) for record in records]
        return sorted(scorers, key=lambda scorer: (scorer.created_at, scorer.fingerprint))

    def newest(self, graph: str, /, *, edges: str) -> StoredScorer | None:
        """Returns the scorer that was trained last on the graph as it is, or None."""
        fresh = [scorer for scorer in self.list(graph, edges=edges) if not scorer.stale]
        return fresh[-1] if fresh else None

    def get(self, graph: str, name: str, /, *, edges: str) -> StoredScorer:
        """Returns a scorer by fingerprint or name; ``trained`` is the newest.

        Raises:
            InputError: There is none, or the graph has changed since it was trained.
        """
        if name == TRAINED:
            scorer = self.newest(graph, edges=edges)
        else:
            record = self._records.get_record(KIND, _key(graph, name.removeprefix(PREFIX)))
            scorer = None if record is None else _stored(record, edges)
        if scorer is None:
            raise InputError(
                f"graph {graph!r}, as it is, has no scorer {name!r}",
                argument="scorer",
                hint=f"Train one: graph-service scorer train --graph {graph}. Or ask for "
                "'counts', which needs no training.",
            )
        return scorer

    def open(self, graph: KnowledgeGraph, name: str, /, *, index: PairIndex) -> TrainedScorer:
        """Returns a scorer, ready to score.

        Args:
            graph: The base that it was trained on.
            name: Its name.
            index: Which entities the base joins.

        Raises:
            InputError: There is none, or it was trained on other edges.
            StoreCorruptError: What is stored is damaged.
        """
        stored = self.get(graph.name, name, edges=graph.fingerprints.edges)
        if stored.stale:
            raise InputError(
                f"scorer {stored.name} was trained on edges {stored.edges[:12]}, and graph "
                f"{graph.name!r} now has {graph.fingerprints.edges[:12]}",
                argument="scorer",
                hint=f"Train one anew: graph-service scorer train --graph {graph.name}",
            )
        record = self._records.get_record(KIND, _key(graph.name, stored.fingerprint))
        learned = decode_scorer(
            b"" if record is None else record.data,
            entities=graph.entity_count,
            relations=graph.relation_count,
        )
        return TrainedScorer.of(graph, learned, fingerprint=stored.fingerprint, index=index)

    def delete(self, graph: str, name: str, /, *, edges: str) -> str:
        """Deletes a scorer and returns its name; raises ``InputError`` if there is none."""
        stored = self.get(graph, name, edges=edges)
        self._records.delete_record(KIND, _key(graph, stored.fingerprint))
        return stored.name


def _key(graph: str, fingerprint: str) -> str:
    return f"{graph}/{fingerprint}"


@decodes("a scorer")
def _stored(record: Record, edges: str) -> StoredScorer:
    fields: dict[str, Any] = {**record.json, "stale": record.json["edges"] != edges}
    return from_plain(StoredScorer, fields)
