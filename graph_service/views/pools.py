"""Pools that something new is chosen from, for many edges at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from graph_service.model.graph import Int32, Int64


@dataclass(frozen=True, slots=True, eq=False)
class Pools:
    """Members of some pools: those of pool ``p`` are ``members[indptr[p]:indptr[p + 1]]``.

    Attributes:
        indptr: int64, length pools + 1.
        members: int32, ascending within a pool.
    """

    indptr: Int64
    members: Int32

    @classmethod
    def of(cls, pool: Int64, members: Int32, /, *, count: int, most: int) -> Pools:
        """Returns the pools of some pairs of pool and member, each pair once.

        Args:
            pool: Number of a pool, int64.
            members: A member of it each, int32.
            count: How many pools there are.
            most: More than any member's number.
        """
        packed = np.unique(pool * max(1, most) + members)
        pools, distinct = np.divmod(packed, max(1, most))
        indptr = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(pools, minlength=count), out=indptr[1:])
        return cls(indptr, distinct.astype(np.int32))

    def sizes(self, pools: Int64, /) -> Int64:
        """Returns how many members some pools have, int64."""
        sizes: Int64 = self.indptr[pools + 1] - self.indptr[pools]
        return sizes
