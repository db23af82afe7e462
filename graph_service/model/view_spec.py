"""The specification of a perturbed view: what is to change, how, and how much of it (O10, K6)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.values import Value, decode_value, encode_value
from graph_service.options import check_bounds, option

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

    On the command line ``--statement`` is the specification's own, and only an inline view has a
    question: ``METHOD:LEVEL:SEED:question``.
    """

    statement_ids: tuple[str, ...] = option(
        (), help="change this statement only", of_command_line=False
    )
    relation_ids: tuple[str, ...] = option(
        (), help="change statements of this relation only", metavar="ID"
    )
    around_entity_ids: tuple[str, ...] = option(
        (), help="change what lies around this entity only", metavar="ID"
    )
    hops: int = option(2, help="steps around such an entity", least=0)
    of_question: bool = option(
        False,
        help="change what lies around the entities of the question that is asked only",
        of_command_line=False,
    )


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

    ``docs/options.md`` lists the options. Either a level or a count is given, and neither with
    changes; a count of withholding says how many of ``statement_ids`` go.
    """

    method: Method = option(
        help="relation-swapping (rs), relation-replacement (rr), edge-rewiring (er), "
        "edge-deletion (ed), withholding or custom",
        metavar="M",
    )
    level: float | None = option(
        None, help="share of the edges in scope that change", least=0, most=1
    )
    count: int | None = option(None, help="number of edges that change", least=0)
    random_seed: int = option(
        0, help="random seed by which edges are drawn", least=0, most=2**63 - 1
    )
    sampling: Sampling = option(
        Sampling.EXACT, help="draw without replacement, or with, as OKGQA's code does"
    )
    scope: Scope = option(Scope(), help="what the view may change", of_command_line=False)
    statement_ids: tuple[str, ...] = option(
        (), help="withholding: the statements, in the order they go", metavar="ID"
    )
    changes: tuple[Change, ...] = option((), help="custom: your own changes", of_command_line=False)
    scorer: str = option(
        "counts",
        help="by which replacement finds a relation least likely: counts, trained (the newest), "
        "or the name of a trained scorer",
        metavar="NAME",
    )
    algorithm: int = VIEW_ALGORITHM

    def validate(self) -> None:
        """Raises ``InputError`` where the fields contradict each other."""
        if self.method is Method.CUSTOM:
            self._check_custom()
            return
        if self.changes:
            raise InputError(f"{self.method.value} takes no changes", argument="changes")
        if self.method is Method.WITHHOLDING:
            self._check_withholding()
        else:
            self._check_drawn()

    def _check_custom(self) -> None:
        if not self.changes:
            raise InputError("a custom view needs at least one change", argument="changes")
        if self.level is not None or self.count is not None:
            raise InputError("a custom view takes no level or count", argument="level")
        if self.scope != Scope():
            raise InputError(
                "a custom view names its statements and takes no scope", argument="scope"
            )

    def _check_withholding(self) -> None:
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

    def _check_drawn(self) -> None:
        if self.statement_ids:
            raise InputError(
                f"{self.method.value} takes its statements in scope", argument="statement_ids"
            )
        if (self.level is None) == (self.count is None):
            raise InputError("give either a level or a count", argument="level")
        check_bounds(self)
        check_bounds(self.scope)

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
            if self.scope.around_entity_ids:
                scope["aroundIds"] = sorted(set(self.scope.around_entity_ids))
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
                    around_entity_ids=tuple(scope.get("aroundIds", ())),
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
