"""Trained relation rankers in a store: added from a file, listed, and opened by name (L4, L5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from graph_service.byte_budget import ByteBudget, ByteCache
from graph_service.errors import InputError, StoreCorruptError
from graph_service.model.ranking import RelationRanker, TextEncoder
from graph_service.model.serialise import from_plain, to_plain
from graph_service.rank import (
    EmbeddingRanker,
    RankerWeights,
    RelationSides,
    TrainedRanker,
    decode_ranker,
    encode_ranker,
    fingerprint_of,
)
from graph_service.store.protocol import Record, Records

KIND = "ranker"
EMBEDDING = "embedding"
TRAINED = "trained"
PREFIX = f"{TRAINED}:"


@dataclass(frozen=True, slots=True)
class StoredRanker:
    """A trained ranker as the store keeps it; it belongs to no graph.

    Attributes:
        fingerprint: Of what was learnt; with ``trained:`` before it its name.
        data: Hash of the examples it was trained on.
        embedder: Whose vectors it reads.
        relations: Signed relations that it was trained on.
        notes: How it was trained.
        created_at: When it was added: ISO 8601, UTC.
    """

    fingerprint: str
    data: str
    embedder: str
    relations: int
    created_at: str
    notes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What a request calls it."""
        return f"{PREFIX}{self.fingerprint}"


class RankerStore:
    """Keeps trained rankers as records of a store. Thread-safe.

    Args:
        records: The store's records.
        memory: What the caches share.
    """

    def __init__(self, records: Records, /, *, memory: ByteBudget | None = None) -> None:
        self._records = records
        self._sides: ByteCache[str, RelationSides] = ByteCache(memory or ByteBudget(), "rankers")

    def add(self, weights: RankerWeights, /) -> StoredRanker:
        """Stores a ranker; one that is there already is the newest again."""
        stored = StoredRanker(
            fingerprint=fingerprint_of(weights),
            data=weights.data,
            embedder=weights.embedder,
            relations=len(weights.relations),
            created_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
            notes=dict(weights.notes),
        )
        data = encode_ranker(weights)
        self._records.save_record(Record(KIND, stored.fingerprint, "", to_plain(stored), data))
        return stored

    def list(self) -> list[StoredRanker]:
        """Returns the rankers, oldest first."""
        rankers = [
            from_plain(StoredRanker, dict(record.json))
            for record in self._records.list_records(KIND)
        ]
        return sorted(rankers, key=lambda ranker: (ranker.created_at, ranker.fingerprint))

    def get(self, name: str, /) -> StoredRanker:
        """Returns a ranker by name or fingerprint; ``trained`` is the newest.

        Raises:
            InputError: There is none.
        """
        fingerprint = name.removeprefix(PREFIX)
        matches = [
            ranker for ranker in self.list() if name == TRAINED or ranker.fingerprint == fingerprint
        ]
        if not matches:
            raise InputError(
                f"the store has no relation ranker {name!r}; it is 'embedding', which needs no "
                "training, 'trained', or a name that rank list shows",
                argument="ranker",
                hint="Train one (graph-service rank train) and add it: graph-service rank add FILE",
            )
        return matches[-1]

    def resolve(self, name: str, /) -> str:
        """Returns the name that stands for one ranker for ever; raises as ``get``."""
        return EMBEDDING if name == EMBEDDING else self.get(name).name

    def open(self, name: str, encoder: TextEncoder, /) -> RelationRanker:
        """Returns a ranker by name, ready to rank.

        Args:
            name: ``embedding``, or a trained one's.
            encoder: Gives the vectors of texts.

        Raises:
            InputError: There is none of that name, or it reads another embedder's vectors.
            StoreCorruptError: What is stored is damaged.
        """
        if name == EMBEDDING:
            return EmbeddingRanker(encoder)
        sides = self._read(self.get(name))
        return TrainedRanker(sides.weights, encoder, sides=sides)

    def check(self, name: str, /) -> None:
        """Reads a ranker; raises ``StoreCorruptError`` where it is damaged."""
        self._read(self.get(name))

    def delete(self, name: str, /) -> str:
        """Deletes a ranker and returns its name; raises ``InputError`` if there is none."""
        stored = self.get(name)
        self._records.delete_record(KIND, stored.fingerprint)
        return stored.name

    def _read(self, stored: StoredRanker) -> RelationSides:
        held = self._sides.get(stored.fingerprint)
        if held is not None:
            # It has kept what it made of the relations that it ranked since.
            self._sides.charge(stored.fingerprint, held.held_bytes())
            return held
        record = self._records.get_record(KIND, stored.fingerprint)
        try:
            sides = RelationSides(decode_ranker(b"" if record is None else record.data))
        except InputError as error:
            raise StoreCorruptError(
                f"relation ranker {stored.name} is damaged: {error.message}",
                hint="Delete it (graph-service rank delete) and add it anew.",
            ) from error
        return self._sides.put(stored.fingerprint, sides, sides.held_bytes())
