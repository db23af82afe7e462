"""Connected components of numbered nodes."""

from __future__ import annotations

import numpy as np

from graph_service.model.graph_arrays import Int64
from graph_service.model.limits import Deadline


def components(left: Int64, right: Int64, count: int, /, *, deadline: Deadline, what: str) -> Int64:
    """Returns for each node the smallest node that it is connected with, int64 [count].

    Args:
        left: One end of each link, int64.
        right: The other end, int64.
        count: Number of nodes.
        deadline: When to give up.
        what: What the deadline's error says was under way.

    Raises:
        DeadlineError: The deadline passed.

    >>> left, right = np.array([3, 1]), np.array([1, 4])
    >>> components(left, right, 5, deadline=Deadline.none(), what="linking").tolist()
    [0, 1, 2, 1, 1]
    """
    label = np.arange(count)
    while True:
        deadline.check(what)
        least = np.minimum(label[left], label[right])
        after = label.copy()
        np.minimum.at(after, label[left], least)
        np.minimum.at(after, label[right], least)
        after = after[after]
        if np.array_equal(after, label):
            return label
        label = after
