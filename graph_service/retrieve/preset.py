"""Presets: the numbers that decide what a question retrieves, in one frozen value a family.

``okgqa-2`` does as OKGQA's code does (rows O3 to O7), ``ltgen-1`` as LTGen's three steps (L4);
``default-6`` is ours. Each is of a type of its own, which has only the parameters that its rules
use. A changed rule or number gets a new version in the name, so that a result names what made it,
and every parameter stands in the result's provenance.

These numbers stand elsewhere, each with its reason beside it:

* ``LinkingRules`` (``graph_service.link.rules``): the linker's, the same for every preset, in the
  provenance too.
* Digits that scores are rounded to (``similarity.SIMILARITY_DIGITS``): they make results the same
  on every machine, and belong to the arithmetic, not to a preset.
* Work of the tree's search (``EXACT_WORK``, ``BOUND_WORK``, ``PROOF_WORK`` and the rounds in
  ``tree.search``): it bounds cost. A subgraph's ``gap`` says how far from the optimum that can be.
* ``equal_entities.MOST_MEMBERS``: it bounds the entities that are one node.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Annotated, Any, TypeAlias, get_type_hints

from graph_service.errors import InputError
from graph_service.model.result import Strategy

MAX_HOPS = 4
MAX_LIMIT = 1000
MAX_EDGES = 1_000_000


@dataclass(frozen=True, slots=True)
class Integer:
    """A parameter that is a whole number from ``least`` to ``most``."""

    least: int
    most: int

    def require(self, name: str, value: Any, /) -> None:
        """Raises ``InputError`` where a value is no such number."""
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        if not is_integer or not self.least <= value <= self.most:
            raise InputError(
                f"{name} must be a whole number from {self.least} to {self.most}, got {value!r}",
                argument=name,
            )


@dataclass(frozen=True, slots=True)
class Real:
    """A parameter that is a number from ``least`` to ``most``."""

    least: float
    most: float

    def require(self, name: str, value: Any, /) -> None:
        """Raises ``InputError`` where a value is no such number."""
        real = isinstance(value, int | float) and not isinstance(value, bool)
        if not real or not self.least <= value <= self.most:
            raise InputError(
                f"{name} must be a number from {self.least:g} to {self.most:g}, got {value!r}",
                argument=name,
            )


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter that names something."""

    def require(self, name: str, value: Any, /) -> None:
        """Raises ``InputError`` where a value is no name."""
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{name} must be a name, got {value!r}", argument=name)


Bounds: TypeAlias = Integer | Real | Name
_Share: TypeAlias = Annotated[float, Real(0.0, 1.0)]
_Cosine: TypeAlias = Annotated[float, Real(0.0, 2.0)]
_Count: TypeAlias = Annotated[int, Integer(1, 10_000)]
_Letters: TypeAlias = Annotated[int, Integer(1, 100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preset:
    """What all presets have: the mentions linked, the region, and how much is returned.

    Attributes:
        name: Name and version.
        max_mentions: Mentions of the question that are linked at most, the surest.
        hops: Steps from the question's entities that the region reaches (K).
        hub_degree: Nodes of a higher base degree are reached and not walked through; None: all.
        max_edges: Most edges of the region before PageRank.
        max_wedges: A region's clustering is left out where counting triangles would compare more
            pairs of edges; None: it never is.
        max_embedded: Most texts of the region (sequences, where these are ranked) that are embedded
            for one question.
        limit: Items returned at most: triples, paths, edges of the subgraph (n).
    """

    name: str
    max_mentions: Annotated[int, Integer(1, 1000)]
    hops: Annotated[int, Integer(1, MAX_HOPS)]
    hub_degree: Annotated[int | None, Integer(1, 2**31 - 1)]
    max_edges: Annotated[int, Integer(1, MAX_EDGES)]
    max_wedges: Annotated[int | None, Integer(1, 2**31 - 1)]
    max_embedded: Annotated[int, Integer(1, 100_000)]
    limit: Annotated[int, Integer(1, MAX_LIMIT)]

    def parameters(self) -> dict[str, Any]:
        """Returns the parameters by name, JSON-ready, the preset's own name left out."""
        own = (field.name for field in fields(self) if field.name != "name")
        return {name: getattr(self, name) for name in own}

    def require(self, strategy: Strategy, /) -> None:
        """Raises ``InputError`` where the preset has no such strategy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedPreset(Preset):
    """What presets have that order the region's nodes by PageRank and join statements.

    Attributes:
        damping, tolerance, max_iterations: PageRank's.
        max_path_length: Most edges of a path.
        edge_cost: What an edge costs in a path or tree, in units of prize.
    """

    damping: Annotated[float, Real(0.0, 0.999)]
    tolerance: Annotated[float, Real(1e-15, 1.0)]
    max_iterations: Annotated[int, Integer(1, 10_000)]
    max_path_length: Annotated[int, Integer(1, 8)]
    edge_cost: Annotated[float, Real(0.0, 1e6)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PrizePreset(RankedPreset):
    """Nodes and edges have prizes by the rank of their labels' likeness (O3 to O7).

    PageRank walks along edges, from head to tail.

    Attributes:
        min_mass: Nodes of less PageRank are dropped.
        top_nodes, top_edges: How many nodes and edges carry a prize (k).
        taken_paths: Paths taken off the queue, if ``limit`` asks for no more.
    """

    min_mass: _Share
    top_nodes: Annotated[int, Integer(0, 10_000)]
    top_edges: Annotated[int, Integer(0, 10_000)]
    taken_paths: Annotated[int, Integer(1, MAX_LIMIT)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedPreset(RankedPreset):
    """Relation sequences from all entities that the question may name, ranked by what was learned.

    PageRank walks edges both ways, and only where the region has more than ``max_nodes`` nodes.
    ``max_mentions`` bounds the entities that walks begin at.

    Attributes:
        hub_damping: A step of PageRank to a node of degree d weighs ``d ** -hub_damping``.
        max_nodes: Most nodes that PageRank keeps, by rank.
        hop_cost, inverse_cost: Taken off a sequence's similarity for each step after the first,
            and for each step walked from tail to head.
        unsupported_step_cost: Taken off for each unit of similarity by which the sequence without
            some of its steps is more like the question, beyond ``unsupported_step_margin``.
        extra_hop_cost: Taken off for each step of a sequence beyond the words that the question
            has to ask for steps with: those that are neither names nor function words.
        min_relevance: Score of a sequence under which it is not held to bear on the question.
        kind_similarity: Cosine from which on a word of the question names a kind of entity, which
            then stands in the words of the sequences that reach it.
        synonym_similarity: Cosine from which on a relation's name means the kind itself.
        kind_heads: Heads of a relation that tell their kind, those of the smallest keys.
        kind_letters: Letters that a word needs to name a kind.
        work_budget: Most walks enumerated.
        max_refined: Sequences that the final networks score; no other is returned.
        walks_per_item, min_walks: Walks looked for, for each item asked and in all at least:
            several may hold the same statements.
        max_tied: Walks of one score go by how many of the question's words are in the names of their
            triples, if there are no more of these; else by key.
        candidates_per_length: Sequences of two steps and of three that are looked at, the most
            promising.
        unlinked_doubt: Taken off the promise of sequences of an entity that linking alone would
            not choose, in units of cosine.
        rank_doubt: Taken off for each entity of the same name that linking would choose before.
        score_scale: Difference of learned scores over which a path's score falls by a factor e.
        least_score: Score of the best path at least, however little it is like the question.
        prior_weight: What the prior of relations weighs beside the learned score.
        read_weight: What the cross-encoder weighs beside the learned score; 0 to read nothing.
        read_floor: Its lowest score: below, it knows no such question, and the networks decide.
        max_read: Candidates that the cross-encoder reads beside the question, the best.
        read_gap: How far below the best learned score they may be.
        min_confidence: Probability that the first answer is right from which on the status is OK;
            0 to go by ``min_relevance`` alone.
        strict: 1 where no answer is computed of a question that says what nothing accounts for, and
            comparisons of two are read; 0 to compute it all the same.
    """

    hub_damping: Annotated[float, Real(0.0, 2.0)]
    max_nodes: Annotated[int, Integer(1, MAX_EDGES)]
    hop_cost: _Share
    inverse_cost: _Share
    unsupported_step_cost: Annotated[float, Real(0.0, 100.0)]
    unsupported_step_margin: _Cosine
    extra_hop_cost: _Share
    min_relevance: Annotated[float, Real(-1.0, 1.0)]
    kind_similarity: _Cosine
    synonym_similarity: _Cosine
    kind_heads: _Count
    kind_letters: _Letters
    work_budget: Annotated[int, Integer(1, 100_000_000)]
    max_refined: _Count
    walks_per_item: _Count
    min_walks: _Count
    max_tied: _Count
    candidates_per_length: _Count
    unlinked_doubt: _Share
    rank_doubt: _Share
    score_scale: Annotated[float, Real(0.01, 1000.0)]
    least_score: _Share
    prior_weight: Annotated[float, Real(0.0, 100.0)]
    read_weight: Annotated[float, Real(0.0, 100.0)]
    read_floor: Annotated[float, Real(-100.0, 100.0)]
    max_read: Annotated[int, Integer(1, 1000)]
    read_gap: Annotated[float, Real(0.0, 1000.0)]
    min_confidence: _Share
    strict: Annotated[int, Integer(0, 1)]

    def path_score(self, relevance: float, gap: float, /) -> float:
        """Returns the score of a sequence's paths, of the best one's relevance and of how much its
        own learned score differs from that one's.
        """
        return max(relevance, self.least_score) * math.exp(gap / self.score_scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationPreset(Preset):
    """The relations of each of the question's entities are ranked: LTGen's three steps (L4).

    ``hops`` is 1.

    Attributes:
        min_link_score: Entities that were linked with a lower score are left out; those that the
            caller gave never are.
        max_entities: Linked entities at most, the surest.
        relations_per_entity: Signed relations kept of each entity.
        triples_per_relation: Statements kept of each entity and signed relation, drawn by a
            keyed hash.
        draw_seed: Random seed of that draw.
        ranker: Who ranks: ``embedding``, or the name of a trained ranker of the store.
    """

    min_link_score: _Share
    max_entities: Annotated[int, Integer(1, 100)]
    relations_per_entity: Annotated[int, Integer(1, 1000)]
    triples_per_relation: Annotated[int, Integer(1, 1000)]
    draw_seed: Annotated[int, Integer(-(2**63), 2**63 - 1)]
    ranker: Annotated[str, Name()]

    def require(self, strategy: Strategy, /) -> None:
        """Raises ``InputError`` for a subgraph."""
        if strategy is Strategy.SUBGRAPH:
            raise InputError(
                f"preset {self.name} keeps statements around each of the question's entities, which "
                "need not be connected: it has no subgraph",
                argument="strategy",
                hint="Ask for triplets or paths, or for another preset.",
            )


AnyPreset: TypeAlias = PrizePreset | LearnedPreset | RelationPreset
"""A preset of any family."""
OKGQA = PrizePreset(
    name="okgqa-2",
    max_mentions=5,
    hops=2,
    hub_degree=None,
    max_edges=200_000,
    max_wedges=None,
    max_embedded=5000,
    limit=10,
    damping=0.85,
    tolerance=1e-6,
    max_iterations=100,
    min_mass=1e-5,
    top_nodes=10,
    top_edges=10,
    max_path_length=5,
    edge_cost=1.0,
    taken_paths=5,
)
LEARNED = LearnedPreset(
    name="default-6",
    max_mentions=14,
    hops=3,
    hub_degree=2000,
    max_edges=20_000,
    max_wedges=50_000,
    max_embedded=300,
    limit=10,
    damping=0.85,
    tolerance=1e-6,
    max_iterations=100,
    hub_damping=0.5,
    max_nodes=10_000,
    max_path_length=3,
    edge_cost=0.1,
    hop_cost=0.02,
    inverse_cost=0.05,
    unsupported_step_cost=3.0,
    unsupported_step_margin=0.1,
    extra_hop_cost=0.05,
    min_relevance=0.33,
    kind_similarity=0.6,
    synonym_similarity=0.75,
    kind_heads=32,
    kind_letters=3,
    work_budget=40_000,
    candidates_per_length=60,
    max_refined=40,
    unlinked_doubt=0.03,
    rank_doubt=0.02,
    score_scale=4.0,
    least_score=0.15,
    prior_weight=0.3,
    read_weight=0.8,
    read_floor=-6.0,
    max_read=8,
    read_gap=5.0,
    min_confidence=0.55,
    strict=1,
    walks_per_item=4,
    min_walks=40,
    max_tied=64,
)
LTGEN = RelationPreset(
    name="ltgen-1",
    max_mentions=100,
    hops=1,
    hub_degree=None,
    max_edges=200_000,
    max_wedges=50_000,
    max_embedded=5000,
    limit=MAX_LIMIT,
    min_link_score=0.35,
    max_entities=5,
    relations_per_entity=5,
    triples_per_relation=10,
    draw_seed=0,
    ranker="embedding",
)
PRESETS: dict[str, AnyPreset] = {
    "default": LEARNED,
    "default-6": LEARNED,
    "okgqa": OKGQA,
    "okgqa-2": OKGQA,
    "ltgen": LTGEN,
    "ltgen-1": LTGEN,
}
_RETIRED = {"default-4": LEARNED.name, "default-5": LEARNED.name}
"""Presets that are gone, and what takes the place of each."""
_LIMITS = {OKGQA.name: {Strategy.PATHS: OKGQA.taken_paths, Strategy.SUBGRAPH: MAX_LIMIT}}
"""Where the caller gives no limit, and another number of triplets is usual than of the others."""


def _bounds_of(family: type[Preset]) -> dict[str, Bounds]:
    hints = get_type_hints(family, include_extras=True)
    return {each.name: hints[each.name].__metadata__[0] for each in fields(family)[1:]}


BOUNDS = {type(each): _bounds_of(type(each)) for each in (LEARNED, OKGQA, LTGEN)}
"""The bounds of each parameter of each family; its name, the first field, has none."""


def find_preset(name: str, /) -> AnyPreset:
    """Returns the preset of a name; raises ``InputError`` where there is none, or no longer."""
    key = name.strip().lower()
    if key in PRESETS:
        return PRESETS[key]
    if key in _RETIRED:
        successor = _RETIRED[key]
        raise InputError(
            f"preset {key} was removed; write {successor} instead",
            argument="preset",
            hint=f"{successor} answers more questions, and ranks by similarity alone where no "
            "trained weights fit. graph-service 0.1 still has the old one.",
        )
    near = get_close_matches(key, PRESETS, n=1)
    raise InputError(
        f"unknown preset {name!r}; expected one of {', '.join(PRESETS)}",
        argument="preset",
        hint=f"Did you mean {near[0]}?" if near else None,
    )


def resolve_preset(
    name: str, /, *, strategy: Strategy | None = None, **overrides: Any
) -> AnyPreset:
    """Returns a preset with some of its parameters changed.

    Args:
        name: ``default``, ``okgqa``, ``ltgen``, or one of them with its version.
        strategy: Whose usual limit holds where none is given; None for that of triplets.
        overrides: Parameters by name; those that are None stay as the preset has them.

    Raises:
        InputError: The preset or a parameter is not known, the preset lacks a parameter, or a
            value is out of its bounds.

    >>> resolve_preset("okgqa", limit=3).limit
    3
    >>> resolve_preset("okgqa", strategy=Strategy.PATHS).limit
    5
    """
    preset = find_preset(name)
    overridden = {key: value for key, value in overrides.items() if value is not None}
    usual = _LIMITS.get(preset.name, {})
    if strategy in usual:
        overridden.setdefault("limit", usual[strategy])
    for key, value in overridden.items():
        _bounds(preset, key).require(key, value)
    if isinstance(preset, RelationPreset) and overridden.get("hops", 1) != 1:
        raise InputError(
            f"preset {preset.name} takes one step from the question's entities, "
            f"got {overridden['hops']} hops",
            argument="hops",
        )
    resolved = replace(preset, **overridden)
    if isinstance(resolved, PrizePreset) and resolved.top_nodes == resolved.top_edges == 0:
        raise InputError(
            "top_nodes and top_edges are both 0: nothing would have a prize", argument="top_nodes"
        )
    return resolved


def _bounds(preset: AnyPreset, key: str) -> Bounds:
    """Returns the bounds of a preset's parameter; raises ``InputError`` where it has none such."""
    bounds = BOUNDS[type(preset)].get(key)
    if bounds is not None:
        return bounds
    others = [other.name for other in (LEARNED, OKGQA, LTGEN) if key in BOUNDS[type(other)]]
    if others:
        raise InputError(
            f"preset {preset.name} has no {key}; {' and '.join(others)} "
            f"{'has' if len(others) == 1 else 'have'}",
            argument=key,
        )
    known = ", ".join(dict.fromkeys(name for of_family in BOUNDS.values() for name in of_family))
    raise InputError(f"unknown parameter {key!r}; expected one of {known}", argument=key)
