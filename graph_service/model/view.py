"""What a perturbed view is: a specification, and the delta that it makes of a base graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from graph_service.errors import InputError
from graph_service.model.graph import Bool, Int32, Int64, Uint8
from graph_service.model.identity import digest
from graph_service.model.values import Value, decode_value, encode_value

VIEW_ALGORITHM = 1
"""Version of the drawing rules; part of every view's identity."""


class Method(StrEnum):
    """How a view changes its base (OKGQA section 3.3; KaLMA section 5.4)."""

    RELATION_SWAPPING = "relation-swapping"
    RELATION_REPLACEMENT = "relation-replacement"
    EDGE_REWIRING = "edge-rewiring"
    EDGE_DELETION = "edge-deletion"
    WITHHOLDING = "withholding"
    CUSTOM = "custom"


METHOD_ALIASES = {
    "rs": Method.RELATION_SWAPPING,
    "rr": Method.RELATION_REPLACEMENT,
    "er": Method.EDGE_REWIRING,
    "ed": Method.EDGE_DELETION,
}


class Sampling(StrEnum):
    """``EXACT`` draws without replacement; ``OKGQA`` with, as that paper's code does."""

    EXACT = "exact"
    OKGQA = "okgqa"


class ChangeKind(StrEnum):
    """How a statement of a view differs from its base statement."""

    UNCHANGED = "unchanged"
    RELATION_CHANGED = "relation-changed"
    VALUE_CHANGED = "value-changed"
    ADDED = "added"


class ChangeCode(IntEnum):
    """``ChangeKind`` as stored in arrays."""

    UNCHANGED = 0
    RELATION_CHANGED = 1
    VALUE_CHANGED = 2
    ADDED = 3


CHANGE_KINDS: tuple[ChangeKind, ...] = tuple(ChangeKind)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which edges a view may change; all entity-valued ones where everything is empty.

    Attributes:
        statement_ids: Only these.
        relation_ids: Only edges of these relations.
        around_ids: Only edges of the region within ``hops`` of these entities.
        of_question: Only edges of the region of the question being asked (inline views).
    """

    statement_ids: tuple[str, ...] = ()
    relation_ids: tuple[str, ...] = ()
    around_ids: tuple[str, ...] = ()
    hops: int = 2
    of_question: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a person's own: ``remove`` a statement, replace its relation or value,
    or (without ``statement_id``) add a statement.
    """

    statement_id: str | None = None
    remove: bool = False
    head: str | None = None
    relation: str | None = None
    value: Value | None = None


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """What a view is asked to be; together with the base's ``edges`` fingerprint its identity.

    Attributes:
        level: Share of the edges in scope to change, 0 to 1; None with ``count`` or changes.
        count: Number of edges to change; for withholding, how many of ``statement_ids``.
        random_seed: 0 to 2**63 - 1.
        statement_ids: For withholding: the statements, in the order they go.
        changes: For ``CUSTOM``.
        scorer: Name of the triple scorer (replacement): ``counts``, or ``trained:`` and the
            fingerprint of one.
    """

    method: Method
    level: float | None = None
    count: int | None = None
    random_seed: int = 0
    sampling: Sampling = Sampling.EXACT
    scope: Scope = Scope()
    statement_ids: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    scorer: str = "counts"
    algorithm: int = VIEW_ALGORITHM

    def validate(self) -> None:
        """Raises ``InputError`` where the fields contradict each other."""
        if self.method is Method.CUSTOM:
            if not self.changes:
                raise InputError("a custom view needs at least one change", argument="changes")
            if self.level is not None or self.count is not None:
                raise InputError("a custom view takes no level or count", argument="level")
            if self.scope != Scope():
                raise InputError(
                    "a custom view names its statements and takes no scope", argument="scope"
                )
            return
        if self.changes:
            raise InputError(f"{self.method.value} takes no changes", argument="changes")
        if self.method is Method.WITHHOLDING:
            if not self.statement_ids:
                raise InputError("withholding needs statement ids", argument="statement_ids")
            if self.level is not None:
                raise InputError("withholding takes a count, not a level", argument="level")
            if self.scope != Scope():
                raise InputError(
                    "withholding names its statements and takes no scope", argument="scope"
                )
            if self.count is not None and not 0 <= self.count <= len(self.statement_ids):
                raise InputError(
                    f"count must be 0 to {len(self.statement_ids)}, got {self.count}",
                    argument="count",
                )
            return
        if self.statement_ids:
            raise InputError(
                f"{self.method.value} takes its statements in scope", argument="statement_ids"
            )
        if (self.level is None) == (self.count is None):
            raise InputError("give either a level or a count", argument="level")
        if self.level is not None and not 0.0 <= self.level <= 1.0:
            raise InputError(f"level must be 0 to 1, got {self.level}", argument="level")
        if self.count is not None and self.count < 0:
            raise InputError(f"count must be at least 0, got {self.count}", argument="count")
        if not 0 <= self.random_seed < 2**63:
            raise InputError(
                f"random seed must be 0 to 2**63 - 1, got {self.random_seed}",
                argument="random_seed",
            )
        if self.scope.hops < 0:
            raise InputError("hops must be at least 0", argument="hops")

    def to_json(self) -> str:
        """Returns the specification as canonical JSON; defaults are left out."""
        payload: dict[str, Any] = {"method": self.method.value, "algorithm": self.algorithm}
        if self.level is not None:
            payload["level"] = float(self.level)
        if self.count is not None:
            payload["count"] = self.count
        if self.method not in (Method.CUSTOM, Method.WITHHOLDING):
            payload["randomSeed"] = self.random_seed
            payload["sampling"] = self.sampling.value
        if self.method is Method.RELATION_REPLACEMENT:
            payload["scorer"] = self.scorer
        if self.scope != Scope():
            scope: dict[str, Any] = {}
            if self.scope.statement_ids:
                scope["statementIds"] = sorted(set(self.scope.statement_ids))
            if self.scope.relation_ids:
                scope["relationIds"] = sorted(set(self.scope.relation_ids))
            if self.scope.around_ids:
                scope["aroundIds"] = sorted(set(self.scope.around_ids))
                scope["hops"] = self.scope.hops
            if self.scope.of_question:
                scope["ofQuestion"] = True
                scope["hops"] = self.scope.hops
            payload["scope"] = scope
        if self.statement_ids:
            payload["statementIds"] = list(self.statement_ids)
        if self.changes:
            payload["changes"] = [_change_fields(change) for change in self.changes]
        return orjson.dumps(payload, option=orjson.OPT_SORT_KEYS).decode()

    @classmethod
    def from_json(cls, encoded: str | bytes, /) -> ViewSpec:
        """Returns the specification of ``to_json``; raises ``InputError`` for anything else."""
        try:
            payload = orjson.loads(encoded)
            scope = payload.get("scope", {})
            spec = cls(
                method=Method(payload["method"]),
                level=payload.get("level"),
                count=payload.get("count"),
                random_seed=payload.get("randomSeed", 0),
                sampling=Sampling(payload.get("sampling", "exact")),
                scope=Scope(
                    statement_ids=tuple(scope.get("statementIds", ())),
                    relation_ids=tuple(scope.get("relationIds", ())),
                    around_ids=tuple(scope.get("aroundIds", ())),
                    hops=scope.get("hops", 2),
                    of_question=scope.get("ofQuestion", False),
                ),
                statement_ids=tuple(payload.get("statementIds", ())),
                changes=tuple(_change_of(item) for item in payload.get("changes", ())),
                scorer=payload.get("scorer", "counts"),
                algorithm=payload.get("algorithm", VIEW_ALGORITHM),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"not a view specification: {error}", argument="spec") from error
        spec.validate()
        return spec

    def identity(self, edges_fingerprint: str, /) -> str:
        """Returns the view's id: 32 hexadecimal digits of base fingerprint and specification."""
        return digest((edges_fingerprint, self.to_json()), person=b"view").hex()


def _change_fields(change: Change) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    if change.statement_id is not None:
        fields["statementId"] = change.statement_id
    if change.remove:
        fields["remove"] = True
    if change.head is not None:
        fields["head"] = change.head
    if change.relation is not None:
        fields["relation"] = change.relation
    if change.value is not None:
        fields["value"] = orjson.loads(encode_value(change.value))
    return fields


def _change_of(fields: dict[str, Any]) -> Change:
    value = fields.get("value")
    return Change(
        statement_id=fields.get("statementId"),
        remove=bool(fields.get("remove", False)),
        head=fields.get("head"),
        relation=fields.get("relation"),
        value=None if value is None else decode_value(orjson.dumps(value)),
    )


@dataclass(frozen=True, slots=True)
class ViewReport:
    """What making a view came to.

    Attributes:
        scope_edges: Edges that could be changed.
        level_asked, level_reached: Shares of ``scope_edges``; None where there is no scope.
        counts: Edges ``removed``, ``relation-changed``, ``value-changed`` and ``added``.
        unavoidable: Changes that repeat a triple because no other choice existed.
        notes: In words, why a level was not reached.
    """

    scope_edges: int
    level_asked: float | None
    level_reached: float | None
    counts: dict[str, int]
    unavoidable: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ViewDelta:
    """The difference between a view and its base, in base numbers.

    Nodes from ``KnowledgeGraph.node_count`` on and relations from ``relation_count`` on are the
    new ones of a person's own changes, in order of ``new_nodes`` and ``new_relations``.

    Attributes:
        removed: Edges that are gone, int32, ascending.
        replaced: Edges that are changed, int32, ascending; their heads stay.
        replaced_rel, replaced_tail: What they are now, int32.
        added_head, added_rel, added_tail: Statements that the base does not have, int32.
        new_nodes: Encoded values (``["e", id]`` for entities) of nodes the base lacks.
        new_relations: Ids of relations the base lacks.
    """

    removed: Int32
    replaced: Int32
    replaced_rel: Int32
    replaced_tail: Int32
    added_head: Int32
    added_rel: Int32
    added_tail: Int32
    new_nodes: tuple[str, ...] = ()
    new_relations: tuple[str, ...] = ()

    @property
    def changed_count(self) -> int:
        """Number of edges removed, replaced or added."""
        return len(self.removed) + len(self.replaced) + len(self.added_head)


def empty_delta() -> ViewDelta:
    """Returns the delta that changes nothing."""
    none = np.zeros(0, dtype=np.int32)
    return ViewDelta(none, none, none, none, none, none, none)


VIEW_ID_PREFIX = "view:"
"""Begins every statement id that a view made; no statement of a loaded graph has it."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewStatementIds(Sequence[str]):
    """Ids of the statements that a view made, written out one by one when asked for.

    An id is ``view:`` and 32 hexadecimal digits, the first 16 of them the statement's key.

    Attributes:
        keys: Keys, int64 [X], ascending.
        checks: The second half of each id, uint64 [X].
    """

    keys: Int64
    checks: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, index: int, /) -> str:  # type: ignore[override]
        key = int(self.keys[index]) & (2**64 - 1)
        return f"{VIEW_ID_PREFIX}{key:016x}{int(self.checks[index]):016x}"

    def find(self, statement_id: str, /) -> int | None:
        """Returns the place of an id, or None."""
        digits = statement_id.removeprefix(VIEW_ID_PREFIX)
        if len(digits) != 32 or len(statement_id) != len(VIEW_ID_PREFIX) + 32:
            return None
        try:
            key = int.from_bytes(bytes.fromhex(digits[:16]), "big", signed=True)
        except ValueError:
            return None
        place = int(np.searchsorted(self.keys, key))
        return place if place < len(self) and self[place] == statement_id else None


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Overlay:
    """A view laid over its base: base edges that no longer hold, and extra edges instead.

    Extra edge ``j`` has edge number ``base.edge_count + j``; extras are in order of their keys.

    Attributes:
        view_id: Identity of the view.
        base_edge_count: Edges of the base.
        gone: Base edges removed or replaced, bool [M].
        head, rel, tail: Extra edges, int32 [X].
        rank: Their rank codes (those of their base statement; normal if added), uint8 [X].
        keys: Their 64-bit keys, a vectorised hash of base statement and new content rather than
            ``key64`` of the id (hundreds of thousands are made at once), int64 [X], ascending.
        statement_ids: Their ids, made of the same: one change has one id in every view.
        base_edge: Base edge of each, or -1 if added, int32 [X].
        kinds: ``ChangeCode``, uint8 [X].
        new_nodes, new_relations: As in the delta.
    """

    view_id: str
    base_edge_count: int
    gone: Bool
    head: Int32
    rel: Int32
    tail: Int32
    rank: Uint8
    keys: Int64
    statement_ids: Sequence[str]
    base_edge: Int32
    kinds: Uint8
    new_nodes: tuple[str, ...] = ()
    new_relations: tuple[str, ...] = ()


def parse_method(name: str, /) -> Method:
    """Returns the method of a name (``relation-swapping``) or its short form (``rs``)."""
    key = name.strip().lower().replace("_", "-")
    if key in METHOD_ALIASES:
        return METHOD_ALIASES[key]
    try:
        return Method(key)
    except ValueError:
        known = ", ".join([*(method.value for method in Method), *METHOD_ALIASES])
        raise InputError(
            f"unknown method {name!r}; expected one of {known}", argument="method"
        ) from None


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
