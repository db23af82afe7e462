"""A view as a store keeps and lists it: what was drawn, how far it is from its base, its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum

from graph_service.model.view_spec import ViewSpec

NAMES_CHANGED = "names-changed"
"""What a report calls entities that have other names."""


@dataclass(frozen=True, slots=True)
class ViewReport:
    """What making a view came to.

    Attributes:
        scope_edges: Edges that could be changed; of names the entities.
        level_asked, level_reached: Shares of ``scope_edges``; None where there is no scope.
        counts: Edges ``removed``, ``relation-changed``, ``value-changed`` and ``added``;
            entities ``names-changed``.
        unavoidable: Changes that repeat a triple because no other choice existed.
        notes: In words, why a level was not reached.
    """

    scope_edges: int
    level_asked: float | None
    level_reached: float | None
    counts: dict[str, int]
    unavoidable: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ViewCounts:
    """How many statements a view changes, and of how many entities it changes the names."""

    removed: int = 0
    relation_changed: int = 0
    value_changed: int = 0
    added: int = 0
    head_changed: int = 0
    rank_changed: int = 0
    names_changed: int = 0

    @classmethod
    def of(cls, counts: Mapping[str, int], /) -> ViewCounts | None:
        """Returns the counts of a ``ViewReport``; None before there are any."""
        if not counts:
            return None
        return cls(**{field_.name: counts.get(_kind(field_.name), 0) for field_ in fields(cls)})

    def by_kind(self) -> dict[str, int]:
        """Returns them as a ``ViewReport`` has them: the first four, and what else is not 0."""
        return {
            _kind(name): count
            for name, count in asdict(self).items()
            if count or name in ("removed", "relation_changed", "value_changed", "added")
        }


def _kind(name: str) -> str:
    return name.replace("_", "-")


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a view has gone from its base (O11); all three are 0 to 1, higher is closer.

    Attributes:
        ats: Mean plausibility of the view's edges.
        ats_base: The same of the base's own edges: what no change at all would give.
        ats_edges: How many edges ``ats`` is the mean of.
        unscored: Edges left out of it, because the base lacks their entity or relation.
        scorer: Name of the scorer.
        scorer_accuracy: Share of held-out edges, and of as many made wrong, that the scorer
            tells right; None where the base has too few edges to hold any out.
        scorer_calibration_error: Mean distance there between its score and the share of right ones.
        sc2d: Likeness of the clustering coefficients.
        sd2: Likeness of the degrees.
    """

    ats: float
    ats_base: float
    ats_edges: int
    unscored: int
    scorer: str
    sc2d: float
    sd2: float
    scorer_accuracy: float | None = None
    scorer_calibration_error: float | None = None


class ViewState(StrEnum):
    """How far the making of a stored view has come."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class StoredView:
    """A view as the store keeps it.

    Attributes:
        edges: ``edges`` fingerprint of the base it was made for.
        state: Only a view that is ``done`` can be asked.
        progress: Share of the work done, 0 to 1.
        stale: Whether the base has changed since.
        deviation: How far it is from its base; None until it is done.
        error: Why it failed.
        reused: Of the answer to a creation: whether the view was there already. It then has the
            name and note that it was given first.
    """

    id: str
    name: str | None
    graph: str
    edges: str
    spec: ViewSpec
    report: ViewReport
    note: str
    created_at: str
    state: ViewState = ViewState.DONE
    progress: float = 1.0
    stale: bool = False
    deviation: Deviation | None = None
    error: str = ""
    reused: bool = field(default=False, compare=False)
