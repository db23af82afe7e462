"""Which entity leads to which, and what lies around some of them.

Pairs of 64-bit keys go to a temporary file that is read twice a hop, so that memory holds the
entities that were reached, 8 bytes each, and no more of a source.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

import numpy as np
import numpy.typing as npt

from graph_service.model.identity import key64

Keys = npt.NDArray[np.int64]

_CHUNK_EDGES = 1 << 20


class KeySet:
    """A set of 64-bit keys as a sorted array, 8 bytes each."""

    def __init__(self, keys: Keys, /) -> None:
        self.keys = np.unique(keys)

    @classmethod
    def of(cls, ids: Sequence[str], /) -> KeySet:
        """Returns the keys of ids."""
        return cls(np.array([key64(id_) for id_ in ids], dtype=np.int64))

    def holds(self, keys: Keys, /) -> npt.NDArray[np.bool_]:
        """Returns which of some keys are in it."""
        if not len(self.keys):
            return np.zeros(len(keys), dtype=np.bool_)
        indexes = np.searchsorted(self.keys, keys)
        indexes[indexes == len(self.keys)] = 0
        is_member: npt.NDArray[np.bool_] = self.keys[indexes] == keys
        return is_member

    def holds_id(self, id_: str, /) -> bool:
        """Returns whether an id's key is in it."""
        return bool(self.holds(np.array([key64(id_)], dtype=np.int64))[0])

    def __len__(self) -> int:
        return len(self.keys)


class Edges:
    """Pairs of head and tail in a temporary file, which is made when there are some."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def add(self, pairs: Sequence[tuple[int, int]], /) -> None:
        """Appends pairs of the keys of a head and a tail."""
        if not pairs:
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="graph-service-edges-")  # noqa: SIM115
        self._file.write(np.array(pairs, dtype=np.int64).tobytes())

    def chunks(self, heads: KeySet | None, /) -> Iterator[tuple[Keys, Keys]]:
        """Yields heads and tails, in the order they came; of some heads alone, if given."""
        if self._file is None:
            return
        self._file.seek(0)
        while data := self._file.read(16 * _CHUNK_EDGES):
            pairs = np.frombuffer(data, dtype=np.int64).reshape(-1, 2)
            head, tail = pairs[:, 0], pairs[:, 1]
            if heads is not None:
                selected = heads.holds(head)
                head, tail = head[selected], tail[selected]
            yield head, tail

    def close(self) -> None:
        """Closes the file, which is gone then."""
        if self._file is not None:
            self._file.close()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies around some entities.

    Attributes:
        inner: Entities fewer than all hops away: their statements are loaded.
        reached: These and the other ends of their statements: their names are.
        hubs: Inner entities none of whose incoming statements are taken.
    """

    inner: KeySet
    reached: KeySet
    hubs: KeySet


def walk(
    edges: Edges,
    start_entities: KeySet,
    *,
    heads: KeySet | None,
    hops: int,
    direction: str,
    limit: int,
) -> Surroundings:
    """Returns what lies up to ``hops`` steps around entities.

    Args:
        edges: Which entity leads to which, parallel statements each.
        start_entities: Where the walk begins; none of them is a hub.
        heads: Entities whose statements are there at all; None for all.
        hops: Steps.
        direction: ``out``, ``in`` or ``both``.
        limit: Incoming statements above which an entity is a hub.
    """
    inner, frontier = KeySet(np.zeros(0, np.int64)), start_entities
    hubs = KeySet(np.zeros(0, np.int64))
    for _ in range(hops):
        if not len(frontier):
            break
        incoming = np.zeros(len(frontier), dtype=np.int64)
        if direction != "out":
            for _head, tail in edges.chunks(heads):
                into = frontier.holds(tail)
                np.add.at(incoming, np.searchsorted(frontier.keys, tail[into]), 1)
        new_hubs = KeySet(frontier.keys[(incoming > limit) & ~start_entities.holds(frontier.keys)])
        reached: list[Keys] = []
        for head, tail in edges.chunks(heads):
            if direction != "in":
                reached.append(np.unique(tail[frontier.holds(head)]))
            if direction != "out":
                into = frontier.holds(tail) & ~new_hubs.holds(tail)
                reached.append(np.unique(head[into]))
        inner = KeySet(np.concatenate([inner.keys, frontier.keys]))
        hubs = KeySet(np.concatenate([hubs.keys, new_hubs.keys]))
        others = KeySet(np.concatenate([np.zeros(0, np.int64), *reached]))
        frontier = KeySet(others.keys[~inner.holds(others.keys)])
    return Surroundings(inner, KeySet(np.concatenate([inner.keys, frontier.keys])), hubs)
