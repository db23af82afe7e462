"""Presets: every number that retrieval depends on, in one frozen value.

``okgqa-2`` does as OKGQA's code does (rows O3 to O7), ``ltgen-1`` as LTGen's three steps (L4); the
``default`` ones are ours. A changed rule or number gets a new version in the name, so that a result
names what made it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from graph_service.errors import InputError
from graph_service.model.result import Strategy

MAX_HOPS = 4
MAX_LIMIT = 1000
MAX_EDGES = 1_000_000


@dataclass(frozen=True, slots=True)
class RelationRules:
    """What ``scoring`` by ``relations`` keeps: LTGen's three steps (L4).

    Attributes:
        min_link_score: Entities that were linked with a lower score are left out; those that the
            caller gave never are.
        max_entities: Linked entities at most, the surest.
        relations_per_entity: Signed relations kept of each entity.
        triples_per_relation: Statements kept of each entity and signed relation, drawn by a
            keyed hash.
        random_seed: Of that draw.
        ranker: Who ranks: ``embedding``, or the name of a trained ranker of the store.
    """

    min_link_score: float = 0.35
    max_entities: int = 5
    relations_per_entity: int = 5
    triples_per_relation: int = 10
    random_seed: int = 0
    ranker: str = "embedding"


@dataclass(frozen=True, slots=True)
class Preset:
    """All parameters of one retrieval, resolved.

    Attributes:
        name: Name and version.
        scoring: ``prizes`` ranks nodes and edges by label (O4); ``sequences`` ranks whole
            relation sequences from the question's entities; ``relations`` ranks the relations of
            each of them.
        hops: Steps from the question's entities that the region reaches (K).
        hub_degree: Nodes of a higher base degree are reached and not walked through; None: all.
        max_edges: Most edges of the region before PageRank.
        walk: PageRank's way along edges: ``along`` (head to tail) or ``both``.
        hub_damping: With ``both``: a step to a node of degree d weighs ``d ** -hub_damping``.
        damping, tolerance, max_iterations: PageRank's.
        min_mass: Nodes of less PageRank are dropped.
        max_nodes: Most nodes that PageRank keeps, by rank; None: no cap.
        top_nodes, top_edges: How many nodes and edges carry a prize (k); for ``sequences`` the
            latter counts relation sequences.
        edge_cost: What an edge costs in a path or tree, in units of prize.
        max_path_length: Most edges of a path.
        limit: Items returned at most: triples, paths, edges of the subgraph (n).
        taken_paths: For ``prizes``: paths taken off the queue, if ``limit`` asks for no more.
        max_embedded: Most distinct texts of the region that are embedded for one question.
        hop_cost, inverse_cost: Taken off a sequence's similarity for each step after the first,
            and for each step walked from tail to head.
        unsupported_step_cost: Taken off for each unit of similarity by which the sequence without some
            of its steps is more like the question, beyond ``unsupported_step_margin``.
        extra_hop_cost: Taken off for each step of a sequence beyond the words that the question has to
            ask for steps with: those that are neither names nor function words.
        collapse_round_trips: Whether a step and the same back are read as ``other film with the same
            director``, or one after the other.
        kind_similarity: Cosine from which on a word of the question names a kind of entity, which
            then stands in the words of the sequences that reach it; None: kinds are left out.
        shared_bonus: Added where a path meets a second one of the question's entities.
        min_relevance: Score of a sequence under which it is not held to bear on the question.
        nearest: Whether a question on which no sequence bears gets the statements nearest to it,
            marked as of low confidence, or none.
        work_budget: Most walks enumerated.
        relations: What is kept where ``scoring`` is ``relations``; None else.
    """

    name: str
    scoring: str
    hops: int
    hub_degree: int | None
    max_edges: int
    walk: str
    hub_damping: float
    damping: float
    tolerance: float
    max_iterations: int
    min_mass: float
    max_nodes: int | None
    top_nodes: int
    top_edges: int
    edge_cost: float
    max_path_length: int
    limit: int
    taken_paths: int
    max_embedded: int
    hop_cost: float
    inverse_cost: float
    unsupported_step_cost: float
    unsupported_step_margin: float
    extra_hop_cost: float
    collapse_round_trips: bool
    kind_similarity: float | None
    shared_bonus: float
    min_relevance: float
    nearest: bool
    work_budget: int
    relations: RelationRules | None = None

    def parameters(self) -> dict[str, Any]:
        """Returns the parameters by name, JSON-ready, the name left out."""
        plain = asdict(self)
        rules = plain.pop("relations")
        del plain["name"]
        if rules is None:
            return plain
        return {**{key: plain[key] for key in _WITH_RELATIONS}, **rules}

    def require(self, strategy: Strategy, /) -> None:
        """Raises ``InputError`` where the preset has no such strategy."""
        if self.relations is not None and strategy is Strategy.SUBGRAPH:
            raise InputError(
                f"preset {self.name} keeps statements around each of the question's entities, which "
                "need not be connected: it has no subgraph",
                argument="strategy",
                hint="Ask for triplets or paths, or for another preset.",
            )


_OKGQA = Preset(
    name="okgqa-2",
    scoring="prizes",
    hops=2,
    hub_degree=None,
    max_edges=200_000,
    walk="along",
    hub_damping=0.0,
    damping=0.85,
    tolerance=1e-6,
    max_iterations=100,
    min_mass=1e-5,
    max_nodes=None,
    top_nodes=10,
    top_edges=10,
    edge_cost=1.0,
    max_path_length=5,
    limit=10,
    taken_paths=5,
    max_embedded=5000,
    hop_cost=0.0,
    inverse_cost=0.0,
    unsupported_step_cost=0.0,
    unsupported_step_margin=0.0,
    extra_hop_cost=0.0,
    collapse_round_trips=False,
    kind_similarity=None,
    shared_bonus=0.0,
    min_relevance=-1.0,
    nearest=False,
    work_budget=20_000,
)
_DEFAULT = replace(
    _OKGQA,
    name="default-1",
    scoring="sequences",
    hub_degree=2000,
    max_edges=20_000,
    walk="both",
    hub_damping=0.5,
    min_mass=0.0,
    max_nodes=10_000,
    top_nodes=0,
    edge_cost=0.1,
    max_path_length=3,
    taken_paths=0,
    max_embedded=300,
    hop_cost=0.02,
    inverse_cost=0.05,
    unsupported_step_cost=3.0,
    unsupported_step_margin=0.1,
    shared_bonus=0.1,
    min_relevance=0.33,
    work_budget=200_000,
)
_DEFAULT_3 = replace(
    _DEFAULT,
    name="default-3",
    hops=3,
    kind_similarity=0.6,
    nearest=True,
    work_budget=60_000,
)
_DEFAULT_4 = replace(
    _DEFAULT_3,
    name="default-4",
    extra_hop_cost=0.05,
    collapse_round_trips=True,
)
_LTGEN = replace(
    _OKGQA,
    name="ltgen-1",
    scoring="relations",
    hops=1,
    min_mass=0.0,
    limit=MAX_LIMIT,
    relations=RelationRules(),
)
_WITH_RELATIONS = ("scoring", "hops", "hub_degree", "max_edges", "max_embedded", "limit")
"""The other parameters that matter where relations are ranked."""
_LIMITS = {_OKGQA.name: {Strategy.PATHS: _OKGQA.taken_paths, Strategy.SUBGRAPH: MAX_LIMIT}}
"""Where the caller gives no limit, and another number of triplets is usual than of the others."""
PRESETS = {
    "default": _DEFAULT_4,
    "default-1": _DEFAULT,
    "default-3": _DEFAULT_3,
    "default-4": _DEFAULT_4,
    "okgqa": _OKGQA,
    "okgqa-2": _OKGQA,
    "ltgen": _LTGEN,
    "ltgen-1": _LTGEN,
}
_WHOLE: dict[str, tuple[int, int]] = {
    "hops": (1, MAX_HOPS),
    "hub_degree": (1, 2**31 - 1),
    "max_edges": (1, MAX_EDGES),
    "max_iterations": (1, 10_000),
    "max_nodes": (1, MAX_EDGES),
    "top_nodes": (0, 10_000),
    "top_edges": (0, 10_000),
    "max_path_length": (1, 8),
    "limit": (1, MAX_LIMIT),
    "taken_paths": (1, MAX_LIMIT),
    "max_embedded": (1, 100_000),
    "work_budget": (1, 100_000_000),
    "max_entities": (1, 100),
    "relations_per_entity": (1, 1000),
    "triples_per_relation": (1, 1000),
    "random_seed": (-(2**63), 2**63 - 1),
}
_REAL: dict[str, tuple[float, float]] = {
    "hub_damping": (0.0, 2.0),
    "damping": (0.0, 0.999),
    "tolerance": (1e-15, 1.0),
    "min_mass": (0.0, 1.0),
    "edge_cost": (0.0, 1e6),
    "hop_cost": (0.0, 1.0),
    "inverse_cost": (0.0, 1.0),
    "unsupported_step_cost": (0.0, 100.0),
    "unsupported_step_margin": (0.0, 2.0),
    "extra_hop_cost": (0.0, 1.0),
    "kind_similarity": (0.0, 2.0),
    "shared_bonus": (0.0, 1.0),
    "min_relevance": (-1.0, 1.0),
    "min_link_score": (0.0, 1.0),
}
_WORDS: dict[str, tuple[str, ...]] = {
    "walk": ("along", "both"),
    "scoring": ("prizes", "sequences"),
}
_FLAGS = ("nearest", "collapse_round_trips")
_NAMES = ("ranker",)
_RULES = tuple(each.name for each in fields(RelationRules))


def resolve_preset(name: str, /, *, strategy: Strategy | None = None, **overrides: Any) -> Preset:
    """Returns a preset with some of its parameters changed.

    Args:
        name: ``default``, ``okgqa``, ``ltgen``, or one of them with its version.
        strategy: Whose usual limit holds where none is given; None for that of triplets.
        overrides: Parameters by name; those that are None stay as the preset has them.

    Raises:
        InputError: The preset or a parameter is not known, or a value is out of its bounds.

    >>> resolve_preset("okgqa", limit=3).limit
    3
    >>> resolve_preset("okgqa", strategy=Strategy.PATHS).limit
    5
    """
    preset = PRESETS.get(name.strip().lower())
    if preset is None:
        raise InputError(
            f"unknown preset {name!r}; expected one of {', '.join(PRESETS)}", argument="preset"
        )
    given = {key: value for key, value in overrides.items() if value is not None}
    usual = _LIMITS.get(preset.name, {})
    if strategy in usual:
        given.setdefault("limit", usual[strategy])
    for key, value in given.items():
        _check(key, value)
    if preset.scoring == "prizes" and given.get("top_nodes", 1) == given.get("top_edges", 1) == 0:
        raise InputError(
            "top_nodes and top_edges are both 0: nothing would have a prize", argument="top_nodes"
        )
    if preset.scoring == "sequences" and given.get("top_edges") == 0:
        raise InputError("top_edges must be at least 1, got 0", argument="top_edges")
    rules = {key: given.pop(key) for key in _RULES if key in given}
    if preset.relations is not None:
        if "scoring" in given:
            raise InputError(f"preset {preset.name} ranks relations alone", argument="scoring")
        if given.get("hops", 1) != 1:
            raise InputError(
                f"preset {preset.name} takes one step from the question's entities, "
                f"got {given['hops']} hops",
                argument="hops",
            )
        given["relations"] = replace(preset.relations, **rules)
    elif rules:
        raise InputError(
            f"{', '.join(rules)}: preset {preset.name} ranks no relations; preset ltgen does",
            argument=next(iter(rules)),
        )
    return replace(preset, **given)


def _check(key: str, value: Any) -> None:
    if key in _WHOLE:
        least, most = _WHOLE[key]
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InputError(
                f"{key} must be a whole number from {least} to {most}, got {value!r}", argument=key
            )
    elif key in _REAL:
        low, high = _REAL[key]
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise InputError(
                f"{key} must be a number from {low:g} to {high:g}, got {value!r}", argument=key
            )
    elif key in _WORDS:
        if value not in _WORDS[key]:
            raise InputError(
                f"{key} must be one of {', '.join(_WORDS[key])}, got {value!r}", argument=key
            )
    elif key in _FLAGS:
        if not isinstance(value, bool):
            raise InputError(f"{key} must be true or false, got {value!r}", argument=key)
    elif key in _NAMES:
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{key} must be a name, got {value!r}", argument=key)
    else:
        known = ", ".join([*_WHOLE, *_REAL, *_WORDS, *_FLAGS, *_NAMES])
        raise InputError(f"unknown parameter {key!r}; expected one of {known}", argument=key)
