"""The specification of a perturbed view: what is to change, how, and how much of it (O10, K6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Any

import orjson

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.values import (
    EntityValue,
    Iri,
    MonolingualText,
    Quantity,
    StringValue,
    Time,
    Value,
    decode_value,
    encode_value,
)
from graph_service.options import camel_case, check_bounds, option, options_of

VIEW_ALGORITHM = 1
"""Version of the drawing rules; part of every view's identity."""
MAX_NAMED_IN_API = 10_000
"""Statements or changes that one specification names. Those of a file may be more."""


class Method(StrEnum):
    """How a view changes its base (OKGQA section 3.3; KaLMA section 5.4)."""

    RELATION_SWAPPING = "relation-swapping"
    RELATION_REPLACEMENT = "relation-replacement"
    EDGE_REWIRING = "edge-rewiring"
    EDGE_DELETION = "edge-deletion"
    PATH_DELETION = "path-deletion"
    CONTRADICTION = "contradiction"
    INSERTION = "insertion"
    TYPE_PRESERVING = "type-preserving"
    INVERSION = "inversion"
    RULE_DELETION = "rule-deletion"
    STALE = "stale"
    NAMES = "names"
    WITHHOLDING = "withholding"
    CUSTOM = "custom"


METHOD_ALIASES = {
    "rs": Method.RELATION_SWAPPING,
    "rr": Method.RELATION_REPLACEMENT,
    "er": Method.EDGE_REWIRING,
    "ed": Method.EDGE_DELETION,
}


@dataclass(frozen=True, slots=True)
class Takes:
    """What a method takes of a specification.

    Attributes:
        parameters: The fields of ``ViewSpec`` that are this method's own.
        needed: Those of them that must be given.
        is_drawn: Whether a random seed draws the changes, a level or a count says how many.
        has_scope: Whether a scope may narrow it.
    """

    parameters: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    is_random: bool = True
    has_scope: bool = True


TAKES: Mapping[Method, Takes] = {
    Method.RELATION_REPLACEMENT: Takes(("scorer", "replacement", "nth")),
    Method.PATH_DELETION: Takes(
        ("entity_ids", "answer_ids", "control", "control_by"),
        ("entity_ids", "answer_ids"),
        has_scope=False,
    ),
    Method.CONTRADICTION: Takes(("cardinality",)),
    Method.INSERTION: Takes(("entity_ids", "answer_ids", "target_ids")),
    Method.RULE_DELETION: Takes(("rule_atoms", "rule_support", "rule_confidence")),
    Method.NAMES: Takes(("naming",)),
    Method.WITHHOLDING: Takes(("statement_ids",), ("statement_ids",), is_random=False),
    Method.CUSTOM: Takes(("changes",), ("changes",), is_random=False),
}
"""What each method takes; drawn within a scope and without parameters where it is not named."""

_ALWAYS_WRITTEN = frozenset(("scorer",))
_UNORDERED = frozenset(("entity_ids", "answer_ids"))
_IGNORED_ELSEWHERE = frozenset(("scorer",))
"""Given to all methods of a sweep, of which one takes it."""


class Sampling(StrEnum):
    """``EXACT`` draws without replacement; ``OKGQA`` with, as that paper's code does."""

    EXACT = "exact"
    OKGQA = "okgqa"


class Replacement(StrEnum):
    """Which relation takes another's place: an unlikely one, or one of the same signature."""

    ARGMIN = "argmin"
    PLAUSIBLE = "plausible"


class Naming(StrEnum):
    """What becomes of the names of an entity."""

    SLIPS = "slips"
    SWAPPED = "swapped"
    NAMESAKES = "namesakes"
    GONE = "gone"


class Cardinality(StrEnum):
    """Of which relations a false value is put beside the true one.

    ``FUNCTIONAL``: those that have one value for 95 % of their heads, so that it contradicts;
    ``SEVERAL``: the others, beside whose values it is one more; ``ANY``: all.
    """

    FUNCTIONAL = "functional"
    SEVERAL = "several-valued"
    ANY = "any"


class ControlMatch(StrEnum):
    """What a control has in common with the statement of a path that it stands for.

    ``DISTANCE``: steps from the question's entities, and the relation where any such statement is
    left; ``RELATION``: both in any case; ``NUMBER``: neither, they are as many.
    """

    DISTANCE = "distance"
    RELATION = "relation"
    NUMBER = "number"


_AS_RECORDED: Mapping[str, Any] = {
    "control_by": ControlMatch.NUMBER,
    "cardinality": Cardinality.ANY,
}
"""What a recorded specification means that lacks a parameter whose default is another since. So the
views of earlier versions stay what they are, by their ids too.
"""


class ChangeKind(StrEnum):
    """How a statement of a view differs from its base statement."""

    UNCHANGED = "unchanged"
    RELATION_CHANGED = "relation-changed"
    VALUE_CHANGED = "value-changed"
    ADDED = "added"
    HEAD_CHANGED = "head-changed"
    RANK_CHANGED = "rank-changed"


class ChangeCode(IntEnum):
    """``ChangeKind`` as stored in arrays."""

    UNCHANGED = 0
    RELATION_CHANGED = 1
    VALUE_CHANGED = 2
    ADDED = 3
    HEAD_CHANGED = 4
    RANK_CHANGED = 5


CHANGE_KINDS: tuple[ChangeKind, ...] = tuple(ChangeKind)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which edges a view may change; all entity-valued ones where everything is empty.

    On the command line ``--statement`` is the specification's own, and only an inline view has a
    question: ``METHOD:LEVEL:SEED:question``.
    """

    statement_ids: tuple[str, ...] = option(
        (),
        help="change this statement only",
        of_command_line=False,
        most_in_api=MAX_NAMED_IN_API,
    )
    relation_ids: tuple[str, ...] = option(
        (), help="change statements of this relation only", metavar="ID", most_in_api=1000
    )
    around_entity_ids: tuple[str, ...] = option(
        (), help="change what lies around this entity only", metavar="ID", most_in_api=1000
    )
    hops: int = option(2, help="steps around such an entity", least=0)
    of_question: bool = option(
        False,
        help="change what lies around the entities of the question that is asked only",
        of_command_line=False,
    )
    pruned: bool = option(
        False,
        help="change only what PageRank keeps of that, as OKGQA-P does, as if the rest were not "
        "there",
    )


class LiteralType(Enum):
    """Type of a literal given in a change."""

    STRING = "string"
    MONOLINGUAL_TEXT = "monolingualtext"
    QUANTITY = "quantity"
    TIME = "time"
    URL = "url"


@dataclass(frozen=True, slots=True)
class LiteralChange:
    """The literal of a change, where it is of a type that a request can set."""

    type: LiteralType
    content: str
    language_code: str | None = None
    unit_id: str | None = None
    precision: int | None = None


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

    @property
    def item_id(self) -> str | None:
        """The id of the value, where that is an entity."""
        return self.value.id if isinstance(self.value, EntityValue) else None

    @property
    def literal(self) -> LiteralChange | None:
        """The value, where it is a literal that a request can set; a file can hold all others."""
        value = self.value
        match value:
            case StringValue(text=text) if value == StringValue(text):
                return LiteralChange(LiteralType.STRING, text)
            case MonolingualText(text=text, language=language):
                return LiteralChange(LiteralType.MONOLINGUAL_TEXT, text, language_code=language)
            case Quantity(amount=amount, unit=unit) if value == Quantity(amount, unit):
                return LiteralChange(LiteralType.QUANTITY, amount, unit_id=unit)
            case Time(time=time, precision=precision) if value == Time(time, precision):
                return LiteralChange(LiteralType.TIME, time, precision=precision)
            case Iri(iri=iri):
                return LiteralChange(LiteralType.URL, iri)
            case _:
                return None


@dataclass(frozen=True, slots=True)
class ViewSpec:
    """What a view is asked to be; together with the base's ``edges`` fingerprint its identity.

    ``docs/reference/options.md`` lists the options. Either a level or a count is given, and neither with
    changes; a count of withholding says how many of ``statement_ids`` go.
    """

    method: Method = option(
        help="relation-swapping (rs), relation-replacement (rr), edge-rewiring (er), "
        "edge-deletion (ed), path-deletion, contradiction, insertion, type-preserving, "
        "inversion, rule-deletion, stale, names, withholding or custom",
        metavar="M",
    )
    level: float | None = option(
        None, help="share of the edges (names: entities) in scope that change", least=0, most=1
    )
    count: int | None = option(None, help="number of edges (names: entities) that change", least=0)
    random_seed: int = option(
        0, help="random seed by which edges are drawn", least=0, most=2**63 - 1
    )
    sampling: Sampling = option(
        Sampling.EXACT, help="draw without replacement, or with, as OKGQA's code does"
    )
    scope: Scope = option(Scope(), help="what the view may change", of_command_line=False)
    statement_ids: tuple[str, ...] = option(
        (),
        help="withholding: the statements, in the order they go",
        metavar="ID",
        most_in_api=MAX_NAMED_IN_API,
    )
    changes: tuple[Change, ...] = option(
        (),
        help="custom: your own changes",
        of_command_line=False,
        most_in_api=MAX_NAMED_IN_API,
    )
    scorer: str = option(
        "counts",
        help="by which replacement finds a relation least likely: counts, trained (the newest), "
        "or the name of a trained scorer",
        metavar="NAME",
    )
    replacement: Replacement = option(
        Replacement.ARGMIN,
        help="relation-replacement: the least likely relation (argmin), or one that joins "
        "entities of the same types (plausible)",
    )
    nth: int = option(
        1, help="relation-replacement: the n-th least likely relation", least=1, most=1000
    )
    entity_ids: tuple[str, ...] = option(
        (),
        help="path-deletion, insertion: an entity that the question names",
        metavar="ID",
        most=100,
    )
    answer_ids: tuple[str, ...] = option(
        (),
        help="path-deletion, insertion: an entity that answers the question",
        metavar="ID",
        most=1000,
    )
    target_ids: tuple[str, ...] = option(
        (),
        help="an entity that an inserted chain leads to, in this order; drawn where none is given",
        metavar="ID",
        most=1000,
    )
    control: bool = option(
        False,
        help="path-deletion: delete statements on no path that match those on the paths",
    )
    control_by: ControlMatch = option(
        ControlMatch.DISTANCE,
        help="path-deletion: what a control has in common with its statement on a path",
    )
    cardinality: Cardinality = option(
        Cardinality.FUNCTIONAL,
        help="contradiction: beside values of relations that have one value for 95 of 100 heads "
        "(functional), of the others (several-valued), or of all (any)",
    )
    rule_atoms: int = option(
        2, help="rule-deletion: statements of a rule's body, at most", least=1, most=2
    )
    rule_support: int = option(
        10, help="rule-deletion: pairs that have a rule's body and head, at least", least=1
    )
    rule_confidence: float = option(
        0.5, help="rule-deletion: PCA confidence of a rule, at least", least=0, most=1
    )
    naming: Naming = option(
        Naming.SLIPS,
        help="what names give an entity: a slip in each name (slips), the names of another of "
        "its type (swapped) or of its name (namesakes), or none (gone)",
    )
    algorithm: int = VIEW_ALGORITHM

    @property
    def takes(self) -> Takes:
        """Which parameters the specification's method takes."""
        return TAKES.get(self.method, Takes())

    def validate(self) -> None:
        """Raises ``InputError`` where the fields contradict each other."""
        self._check_parameters()
        if self.method is Method.CUSTOM:
            self._check_custom()
        elif self.method is Method.WITHHOLDING:
            self._check_withholding()
        else:
            self._check_random()

    def _check_parameters(self) -> None:
        """Checks that the method takes each parameter given, and has each that it needs."""
        takes = self.takes
        for name in PARAMETERS:
            value = getattr(self, name)
            default = options_of(ViewSpec)[name].default
            if value != default and name not in takes.parameters and name not in _IGNORED_ELSEWHERE:
                raise InputError(
                    f"{self.method.value} takes no {name}"
                    + " but a scope of statements" * (name == "statement_ids"),
                    argument=name,
                )
            if value == default and name in takes.needed:
                raise InputError(f"{self.method.value} needs {name}", argument=name)

    def _check_custom(self) -> None:
        if self.level is not None or self.count is not None:
            raise InputError("a custom view takes no level or count", argument="level")
        if self.scope != Scope():
            raise InputError(
                "a custom view names its statements and takes no scope", argument="scope"
            )

    def _check_withholding(self) -> None:
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

    def _check_random(self) -> None:
        if self.scope != Scope() and not self.takes.has_scope:
            raise InputError(
                f"{self.method.value} finds its statements itself and takes no scope",
                argument="scope",
            )
        if self.sampling is not Sampling.EXACT and self.method not in _FIRST_METHODS:
            raise InputError(f"{self.method.value} draws without replacement", argument="sampling")
        if self.replacement is Replacement.PLAUSIBLE and (
            self.sampling is not Sampling.EXACT or self.nth != 1
        ):
            raise InputError(
                "a plausible replacement is drawn without replacement and has no nth",
                argument="replacement",
            )
        if self.method is Method.INSERTION:
            self._check_insertion()
        if self.control_by is not ControlMatch.DISTANCE and not self.control:
            raise InputError("control_by is of a control; give control", argument="control_by")
        if self.method is Method.NAMES and (self.scope.of_question or self.scope.pruned):
            raise InputError(
                "names are changed before a question is linked, so that its own entities are not "
                "known; give around_entity_ids without pruning",
                argument="scope",
            )
        if (self.level is None) == (self.count is None):
            raise InputError("give either a level or a count", argument="level")
        check_bounds(self)
        check_bounds(self.scope)
        if self.scope.pruned:
            self._check_pruned()

    def _check_pruned(self) -> None:
        if not (self.scope.around_entity_ids or self.scope.of_question):
            raise InputError(
                "a pruned scope is what PageRank keeps around entities; give around_entity_ids",
                argument="scope.around_entity_ids",
            )
        if self.scorer != "counts" and "scorer" in self.takes.parameters:
            raise InputError(
                "a pruned scope is a graph of its own, which scorer counts alone knows",
                argument="scorer",
            )

    def _check_insertion(self) -> None:
        if bool(self.entity_ids) != bool(self.answer_ids) or (
            self.target_ids and not self.answer_ids
        ):
            raise InputError(
                "insertion of chains needs entity_ids and answer_ids; without both it adds "
                "random statements",
                argument="answer_ids" if self.entity_ids else "entity_ids",
            )
        if self.entity_ids and self.level is not None:
            raise InputError("insertion of chains takes a count, not a level", argument="level")
        if self.entity_ids and self.scope != Scope():
            raise InputError(
                "insertion of chains follows the question's paths and takes no scope",
                argument="scope",
            )

    @property
    def json(self) -> str:
        """The specification as ``to_json`` returns it."""
        return self.to_json()

    def to_json(self) -> str:
        """Returns the specification as canonical JSON; defaults are left out."""
        payload: dict[str, Any] = {"method": self.method.value, "algorithm": self.algorithm}
        if self.level is not None:
            payload["level"] = float(self.level)
        if self.count is not None:
            payload["count"] = self.count
        if self.takes.is_random:
            payload["randomSeed"] = self.random_seed
            payload["sampling"] = self.sampling.value
        for name in self.takes.parameters:
            value = getattr(self, name)
            if self._is_written(name, value):
                payload[camel_case(name)] = _plain(name, value)
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
            if self.scope.pruned:
                scope["pruned"] = True
            payload["scope"] = scope
        return orjson.dumps(payload, option=orjson.OPT_SORT_KEYS).decode()

    def _is_written(self, name: str, value: Any) -> bool:
        if name == "control_by" and not self.control:
            return False
        if name in _AS_RECORDED:
            return bool(value != _AS_RECORDED[name])
        return bool(value != options_of(ViewSpec)[name].default) or name in _ALWAYS_WRITTEN

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
                    pruned=scope.get("pruned", False),
                ),
                **_parameters(payload),
                algorithm=payload.get("algorithm", VIEW_ALGORITHM),
            )
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise InputError(f"not a view specification: {error}", argument="spec") from error
        spec.validate()
        return spec

    def identity(self, edges_fingerprint: str, /) -> str:
        """Returns the view's id: 32 hexadecimal digits of base fingerprint and specification."""
        return digest((edges_fingerprint, self.to_json()), person=b"view").hex()


PARAMETERS = tuple(
    name
    for name in options_of(ViewSpec)
    if name not in ("method", "level", "count", "random_seed", "sampling", "scope")
)
"""The fields that are some methods' own."""

_FIRST_METHODS = frozenset(METHOD_ALIASES.values())


def _plain(name: str, value: Any) -> Any:
    """Returns a parameter as JSON has it."""
    if name == "changes":
        return [_change_fields(change) for change in value]
    if name in _UNORDERED:
        return sorted(set(value))
    return list(value) if isinstance(value, tuple) else value


def _parameters(payload: dict[str, Any]) -> dict[str, Any]:
    """Returns the parameters of a specification's JSON, by their names."""
    parameters: dict[str, Any] = {}
    takes = TAKES.get(Method(payload["method"]), Takes())
    for name in PARAMETERS:
        each = options_of(ViewSpec)[name]
        value = payload.get(camel_case(name))
        if value is None:
            if name in _AS_RECORDED and name in takes.parameters and _is_of(name, payload):
                parameters[name] = _AS_RECORDED[name]
            continue
        kind: Any = str if issubclass(each.kind, StrEnum) else each.kind
        if kind is float and isinstance(value, int):
            value = float(value)
        expected: Any = list if each.is_list else kind
        if not isinstance(value, expected):
            raise TypeError(f"{camel_case(name)} is {value!r}")
        if issubclass(each.kind, StrEnum):
            parameters[name] = each.kind(value)
        elif name == "changes":
            parameters[name] = tuple(_change_of(item) for item in value)
        else:
            parameters[name] = tuple(str(item) for item in value) if each.is_list else value
    return parameters


def _is_of(name: str, payload: Mapping[str, Any]) -> bool:
    """Whether a recorded specification has what a parameter is about."""
    return name != "control_by" or bool(payload.get("control"))


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
