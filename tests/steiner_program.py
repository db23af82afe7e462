"""The prize-collecting Steiner tree problem as integer programs, solved by scipy's HiGHS.

An oracle that shares nothing with ``graph_service.retrieve``. Programs over arcs from a root, one
arc into each node that is in; a part that does not hang on the root is forbidden by a cut once a
program's solution has it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def best_worth(source: Ints, target: Ints, prizes: Floats, costs: Floats) -> float:
    """Returns the most that prizes less costs of a connected subgraph come to.

    Args:
        source: One end of each edge, int64 [m]; loops are left out.
        target: The other end, int64 [m].
        prizes: Of the nodes, at least 0, float64 [n].
        costs: Of the edges, above 0, float64 [m].
    """
    plain = source != target
    tails = np.concatenate((source[plain], target[plain]))
    heads = np.concatenate((target[plain], source[plain]))
    costs = np.concatenate((costs[plain], costs[plain]))
    n, arcs = len(prizes), len(tails)
    if not prizes.any():
        return 0.0
    # Variables: whether a node is in, whether it is the root, whether an arc is.
    worth = np.concatenate((-prizes, np.zeros(n), costs))
    rows: list[tuple[Floats, float, float]] = []

    def row(least: float, most: float) -> Floats:
        rows.append((np.zeros(2 * n + arcs), least, most))
        return rows[-1][0]

    row(1, 1)[n : 2 * n] = 1
    upper = np.ones(2 * n + arcs)
    upper[n : 2 * n][prizes <= 0] = 0
    for v in range(n):
        into = row(0, 0)
        into[2 * n :][heads == v] = 1
        into[v], into[n + v] = -1, 1
        if prizes[v] <= 0:
            # A node without a prize is no leaf.
            through = row(-np.inf, 0)
            through[2 * n :][heads == v] += 1
            through[2 * n :][tails == v] -= 1
    # The root is the first prized node that is in.
    prized = np.flatnonzero(prizes > 0)
    for place, v in enumerate(prized.tolist()):
        for u in prized[:place].tolist():
            first = row(-np.inf, 1)
            first[u], first[n + v] = 1, 1
    for arc in range(arcs // 2):
        for end in (tails[arc], heads[arc]):
            once = row(-np.inf, 0)
            once[2 * n + arc], once[2 * n + arc + arcs // 2], once[end] = 1, 1, -1
    while True:
        found = optimize.milp(
            worth,
            constraints=optimize.LinearConstraint(
                sparse.csr_array(np.array([line for line, _, _ in rows])),
                [least for _, least, _ in rows],
                [most for _, _, most in rows],
            ),
            integrality=np.ones(2 * n + arcs),
            bounds=optimize.Bounds(np.zeros(2 * n + arcs), upper),
            options={"mip_rel_gap": 0.0},
        )
        assert found.success
        chosen = found.x > 0.5
        cut = False
        for part in _parts(np.flatnonzero(chosen[:n]), tails, heads, chosen[2 * n :]):
            if not chosen[n : 2 * n][part].any():
                inside = np.zeros(n, dtype=bool)
                inside[part] = True
                for v in part:
                    line = row(0, np.inf)
                    line[2 * n :][inside[heads] & ~inside[tails]] = 1
                    line[n : 2 * n][part] = 1
                    line[v] -= 1
                cut = True
        if not cut:
            return float(-found.fun)


def _parts(nodes: Ints, tails: Ints, heads: Ints, chosen: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Returns the connected parts of some nodes under the chosen arcs."""
    near: dict[int, list[int]] = {int(v): [] for v in nodes}
    for u, v in zip(tails[chosen].tolist(), heads[chosen].tolist(), strict=True):
        near[u].append(v)
        near[v].append(u)
    parts: list[list[int]] = []
    seen: set[int] = set()
    for start in near:
        if start in seen:
            continue
        part = [start]
        seen.add(start)
        for v in part:
            new = [u for u in dict.fromkeys(near[v]) if u not in seen]
            seen.update(new)
            part.extend(new)
        parts.append(part)
    return parts
