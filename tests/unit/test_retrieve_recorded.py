"""Retrieval from random graphs, and the trees found in them, as recorded (O3 to O7, Determinism).

The same question, graph and preset give the same result on every machine and in every release: a
changed rule or number takes a new version in the preset's name. The golden cases show whole results
on real data; these are many more, of every parameter, each as a digest. To record anew:
``PYTHONPATH=tests/unit:tests:. python tests/unit/test_retrieve_recorded.py >
tests/golden/retrieval/recorded.json``.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from graph_builder import build_graph, node_of
from retrieve_samples import asking_of, region_of, toy_encode

from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.model.overlay import Overlay
from graph_service.model.ranking import Encoding
from graph_service.model.region import Region
from graph_service.model.result import Strategy
from graph_service.model.statement import Rank
from graph_service.model.values import Quantity, StringValue, Time, Value
from graph_service.model.view_spec import Method, ViewSpec
from graph_service.rank import EmbeddingRanker
from graph_service.retrieve.context import Selection
from graph_service.retrieve.engine import ResolvedRequest, run
from graph_service.retrieve.preset import BOUNDS, resolve_preset
from graph_service.retrieve.prizes.paths import best_first_paths
from graph_service.retrieve.prizes.subgraph import best_subgraph
from graph_service.retrieve.region.pagerank import personalised_pagerank
from graph_service.retrieve.tree.bound import bound_of
from graph_service.retrieve.tree.reduction import reduce_problem
from graph_service.retrieve.tree.solver import solve
from graph_service.views.delta import make_delta
from graph_service.views.overlay import lay

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "retrieval" / "recorded.json"
VECTORS: dict[str, npt.NDArray[np.float32]] = {}
RELATIONS = {
    "P1": ("spouse", "p", "p"),
    "P2": ("mother", "p", "p"),
    "P3": ("father", "p", "p"),
    "P4": ("place of birth", "p", "c"),
    "P5": ("country of citizenship", "p", "n"),
    "P6": ("film director", "f", "p"),
    "P7": ("cast member", "f", "p"),
    "P8": ("film genre", "f", "g"),
    "P9": ("capital", "n", "c"),
    "P10": ("located in country", "c", "n"),
    "P11": ("twin city", "c", "c"),
    "P12": ("occupation", "p", "o"),
    "P13": ("country of origin", "f", "n"),
    "unlabelled_relation_here": ("", "p", "f"),
}
SIZES = {"p": 70, "c": 14, "n": 4, "f": 40, "g": 5, "o": 6}
KINDS = {"p": "Person", "c": "City", "n": "Country", "f": "Film", "g": "Genre", "o": "Job"}


def encode(texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """The toy vectors, each text's made once."""
    new = [text for text in dict.fromkeys(texts) if text not in VECTORS]
    VECTORS.update(zip(new, toy_encode(new), strict=True))
    return np.array([VECTORS[text] for text in texts], dtype=np.float32).reshape(-1, 128)


RANKER = EmbeddingRanker(Encoding("toy", encode))


NAMES = {
    f"{kind}{one}": f"{KINDS[kind]} {chr(65 + one % 26)}{one // 26}"
    for kind, size in SIZES.items()
    for one in range(size)
} | {"lonely": "lonely"}


class Looked(Deadline):
    """A deadline that never comes and counts how often each stage looks at it."""

    looks: Counter[str] = Counter()

    def check(self, what: str, /) -> None:
        self.looks[what] += 1


@cache
def world() -> KnowledgeGraph:
    """People, cities, films; hubs, parallel statements, loops, literals, ranks, missing labels."""
    draw = random.Random(5)
    triples: list[tuple[str, str, str | Value]] = []
    for relation, (_, head, tail) in RELATIONS.items():
        for _ in range(SIZES[head] * 3 // 4 + 5):
            one, other = draw.randrange(SIZES[head]), int(SIZES[tail] * draw.random() ** 2)
            triples.append((f"{head}{one}", relation, f"{tail}{other}"))
    for one in range(0, SIZES["p"], 3):
        triples.append((f"p{one}", "P20", Time(f"19{10 + one}-03-0{1 + one % 9}T00:00:00Z", 11)))
        triples.append((f"p{one}", "P21", Quantity(f"1.{50 + one}", "m1")))
        triples.append((f"p{one}", "P22", StringValue(f"Nickname {one % 10}")))
    triples += triples[:25]
    labels = {id_: label for id_, (label, _, _) in RELATIONS.items() if label}
    labels |= {"P20": "date of birth", "P21": "height", "P22": "nickname", "m1": "metre"}
    for kind, size in SIZES.items():
        for one in range(size):
            if one % 11 != 10:
                labels[f"{kind}{one}"] = f"{KINDS[kind]} {chr(65 + one % 26)}{one // 26}"
    ranks = {at: (Rank.DEPRECATED, Rank.PREFERRED)[at % 2] for at in range(0, len(triples), 19)}
    return build_graph(triples, labels=labels, ranks=ranks, extra_entities=["m1", "lonely"])


@cache
def view() -> Overlay:
    graph = world()
    spec = ViewSpec(Method.EDGE_REWIRING, level=0.4, random_seed=2)
    return lay(graph, make_delta(graph, spec)[0], view_id="v")


@dataclass(frozen=True)
class Asked:
    """A question with its entities, and what is other than usual."""

    question: str
    start_entities: tuple[str, ...]
    preset: str = "default"
    parameters: dict[str, Any] = field(default_factory=dict)
    viewed: bool = False
    min_score: float | None = None
    prove: bool = False


PRESETS = ("default", "okgqa", "ltgen")
QUESTIONS = (
    ("Who is the mother of the spouse of Person A0?", ("p0",)),
    ("Which films did the father of Person B0 act in?", ("p1",)),
    ("In what country is the place of birth of Person C1?", ("p28",)),
    ("What connects Person D0 and Film E0?", ("p3", "f4")),
    ("What other films by the director of Film A1 are there?", ("f26",)),
    ("What is the height of Person G0 and Person J0?", ("p6", "p9")),
    ("Tell me about Country A0", ("n0",)),
    ("What is the blood type of Person K0?", ("p10",)),
    ("And lonely?", ("lonely",)),
    ("Which actors are in films by the director of Film A1 beside X0?", ("f26",)),
)
PARAMETERS: tuple[tuple[str, dict[str, Any]], ...] = (
    *(("default", {name: value}) for name, value in (
        ("hops", 1), ("hops", 4), ("hub_degree", 6), ("max_edges", 60), ("max_nodes", 25),
        ("hub_damping", 0.0), ("damping", 0.5), ("edge_cost", 0.4), ("max_path_length", 2), ("limit", 2),
        ("hop_cost", 0.2), ("inverse_cost", 0.3), ("unsupported_step_cost", 0.0),
        ("unsupported_step_margin", 0.0), ("extra_hop_cost", 0.3),
        ("kind_similarity", 0.2), ("min_relevance", 0.9), ("candidates_per_length", 3),
        ("min_relevance", -1.0), ("work_budget", 40), ("work_budget", 400),
    )),
    *(("okgqa", {name: value}) for name, value in (
        ("top_nodes", 3), ("top_edges", 0), ("edge_cost", 0.2), ("max_path_length", 2),
        ("limit", 3), ("taken_paths", 9), ("max_embedded", 20), ("hops", 3), ("max_edges", 80),
        ("tolerance", 1e-2), ("max_iterations", 3),
    )),
    *(("ltgen", {name: value}) for name, value in (
        ("triples_per_relation", 1), ("relations_per_entity", 2), ("draw_seed", 5),
        ("max_entities", 1), ("limit", 4), ("hub_degree", 3),
    )),
)  # fmt: skip


def asked() -> Iterator[Asked]:
    for question, start_entities in QUESTIONS:
        for preset in PRESETS:
            yield Asked(question, start_entities, preset)
            yield Asked(question, start_entities, preset, viewed=True)
        yield Asked(question, start_entities, min_score=0.35)
        yield Asked(question, start_entities, "okgqa", min_score=9.0)
        yield Asked(question, start_entities, "okgqa", {"edge_cost": 0.3}, prove=True)
    for preset, parameters in PARAMETERS:
        for question, start_entities in (QUESTIONS[0], QUESTIONS[3]):
            yield Asked(question, start_entities, preset, parameters)


def strategies(one: Asked) -> Sequence[Strategy]:
    return [each for each in Strategy if one.preset != "ltgen" or each is not Strategy.SUBGRAPH]


def retrieved(one: Asked, strategy: Strategy, deadline: Deadline | None = None) -> Selection:
    graph = world()
    names = {node_of(graph, seed): NAMES[seed] for seed in one.start_entities}
    return run(
        ResolvedRequest(
            strategy=strategy,
            question=one.question,
            graph=graph,
            start_entities=np.array(list(names), dtype=np.int32),
            preset=resolve_preset(one.preset, strategy=strategy, **one.parameters),
            encode=encode,
            overlay=view() if one.viewed else None,
            min_score=one.min_score,
            prove=one.prove,
            ranker=RANKER,
            asking=asking_of(one.question, names),
            deadline=deadline or Deadline.none(),
        )
    )


def plain(value: Any) -> Any:
    """Figures that last bits may change are rounded; the rest is told as it is."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    return round(value, 6) + 0.0 if isinstance(value, float) else value


def digest_of(value: Any) -> str:
    return hashlib.blake2b(json.dumps(plain(value)).encode(), digest_size=6).hexdigest()


def by_key(found: dict[str, Any]) -> dict[str, Any]:
    """Names each edge by its place in order of the statements' keys; a view's edges come after."""
    graph = world()
    places = graph.key_ranks(np.arange(graph.edge_count)).tolist()

    def of(edge: int) -> int:
        return int(places[edge]) if edge < len(places) else edge

    for triple in found["triples"]:
        triple["edge"] = of(triple["edge"])
    for part in (*found["paths"], *filter(None, [found["answer"]])):
        part["edges"] = [of(edge) for edge in part["edges"]]
    stands_for = found["stands_for"].items()
    found["stands_for"] = {of(kept): [*map(of, others)] for kept, others in stands_for}
    return found


def told(selection: Selection) -> str:
    found = by_key(asdict(selection))
    del found["timings_ms"]
    if not found["used_starts"]:
        # What linking alone decided says nothing of it.
        del found["used_starts"]
    # Nor of constraints, the query, confidence and answer sets, which one preset reads.
    for part in (found, *found["triples"], *found["paths"]):
        names = ("constraints", "answer", "met", "read", "confidence", "unstated", "answer_set")
        for name in names:
            if not part.get(name, True):
                del part[name]
    return digest_of(found)


def name_of(one: Asked) -> str:
    more = [f"{key}={value}" for key, value in one.parameters.items()]
    more += ["view"] * one.viewed + ["prove"] * one.prove
    more += [f"min_score={one.min_score}"] * (one.min_score is not None)
    return " ".join([one.preset, *more, "|", one.question])


def results(preset: str) -> dict[str, list[str]]:
    return {
        name_of(one): [told(retrieved(one, strategy)) for strategy in strategies(one)]
        for one in asked()
        if one.preset == preset
    }


def looks() -> dict[str, dict[str, int]]:
    """How often the stages of each preset look at the deadline, over all strategies."""
    found = {}
    for preset in PRESETS:
        Looked.looks = Counter()
        for question, start_entities in QUESTIONS[:6]:
            one = Asked(question, start_entities, preset, viewed=True, prove=True)
            for strategy in strategies(one):
                retrieved(one, strategy, Looked())
        found[preset] = dict(Looked.looks)
    return found


def random_region(seed: int, n: int, m: int) -> tuple[Region, Any, Any, float]:
    draw = np.random.Generator(np.random.PCG64(seed))
    region = region_of(n, draw.integers(0, n, (m, 2)).tolist(), start_entities=(0, 2))
    prizes = draw.integers(1, 11, n) * (draw.random(n) < 0.4)
    edge_prizes = draw.integers(1, 4, m) * (draw.random(m) < 0.2)
    if seed % 2:
        return region, prizes * draw.random(n), edge_prizes.astype(np.float64), 3.0 - seed % 3 / 2
    return region, prizes.astype(np.float64), edge_prizes.astype(np.float64), 3.0 - seed % 3 / 2


def searched(seed: int) -> dict[str, str]:
    """Trees, bounds, paths and masses of one random graph, with little work and with much."""
    n, m = ((12, 20), (40, 80), (60, 90), (25, 70), (150, 260))[seed % 5]
    region, prizes, edge_prizes, cost = random_region(seed, n, m)
    found: dict[str, Any] = {}
    head, tail = region.head.astype(np.int64), region.tail.astype(np.int64)
    costs = np.full(m, cost)
    Looked.looks = Counter()
    for work in (0, 3_000, 30_000, 300_000):
        for exact in (0, 4_000_000):
            tree = solve(
                head, tail, prizes=prizes, costs=costs, exact_work=exact, bound_work=work,
                deadline=Looked(),
            )  # fmt: skip
            found[f"tree {work} {exact}"] = asdict(tree)
    small, _ = reduce_problem(head, tail, prizes, costs)
    top = int(np.argmax(small.prizes))
    start = (np.array([top]), np.zeros(0, dtype=np.int64), float(small.prizes[top]))
    for work in (1_000, 10_000, 100_000, 400_000):
        found[f"bound {work}"] = bound_of(small, start, work=work, deadline=Looked())
    for limit in (None, 1, 4, 20):
        tree_of = best_subgraph(
            region, node_prizes=prizes, edge_prizes=edge_prizes, edge_cost=cost, limit=limit,
            exact_work=20_000, use_pcst_fast=False, deadline=Looked(),
        )  # fmt: skip
        found[f"subgraph {limit}"] = asdict(tree_of)
    for length, count in ((1, 4), (3, 12), (5, 40)):
        found[f"paths {length}"] = asdict(
            best_first_paths(
                region, np.arange(0, n, 4), node_prizes=prizes, edge_prizes=edge_prizes,
                edge_cost=cost, max_length=length, count=count, deadline=Looked(),
            )
        )  # fmt: skip
    for walk in ("along", "both"):
        for most in (2, 50):
            rank = personalised_pagerank(
                region.head, region.tail, node_count=n, start_entities=region.start_entities, walk=walk,
                max_iterations=most, degrees=region.degrees, hub_damping=0.5, deadline=Looked(),
            )  # fmt: skip
            found[f"mass {walk} {most}"] = asdict(rank)
    words = {name: digest_of(value) for name, value in found.items()}
    return words | {"looks": json.dumps(dict(Looked.looks))}


def same_but_for_looks(now: dict[str, str], before: dict[str, str]) -> None:
    """Each stage looks at the deadline at least as often as recorded."""
    counted = json.loads(now.pop("looks"))
    for stage, count in json.loads(before.pop("looks")).items():
        assert counted.get(stage, 0) >= count, stage
    assert now == before


@pytest.mark.parametrize("preset", PRESETS)
def test_results_are_those_that_were_recorded(preset: str) -> None:
    assert results(preset) == json.loads(GOLDEN.read_text())["results"][preset]


# A value that changes what is found, and what else has to hold for the parameter to play a part.
DECIDES: dict[str, dict[str, tuple[float, dict[str, Any]]]] = {
    "default": {
        **{name: (value, {}) for name, value in (
            ("hops", 1), ("hub_degree", 6), ("max_edges", 60), ("max_wedges", 1),
            ("max_embedded", 12), ("limit", 2), ("max_path_length", 1), ("edge_cost", 0.4),
            ("max_nodes", 25), ("hop_cost", 0.2), ("inverse_cost", 0.3),
            ("unsupported_step_cost", 0.0), ("unsupported_step_margin", 0.0),
            ("extra_hop_cost", 0.3), ("min_relevance", 0.9),
            ("kind_similarity", 1.5), ("synonym_similarity", 0.1), ("kind_heads", 1),
            ("kind_letters", 8), ("work_budget", 40), ("max_refined", 1), ("walks_per_item", 50),
            ("max_tied", 1), ("candidates_per_length", 3), ("score_scale", 1.0),
            ("least_score", 0.9),
        )},
        **{name: (value, {"max_nodes": 25}) for name, value in (
            ("damping", 0.2), ("tolerance", 1.0), ("max_iterations", 1), ("hub_damping", 2.0),
        )},
        "min_walks": (1, {"limit": 2}),
    },
    "okgqa": {name: (value, {}) for name, value in (
        ("hops", 1), ("hub_degree", 3), ("max_edges", 60), ("max_wedges", 1),
        ("max_embedded", 20), ("limit", 2), ("max_path_length", 1), ("edge_cost", 0.2),
        ("damping", 0.2), ("tolerance", 0.1), ("max_iterations", 1), ("min_mass", 0.01),
        ("top_nodes", 3), ("top_edges", 2), ("taken_paths", 9),
    )},
    "ltgen": {name: (value, {}) for name, value in (
        ("max_edges", 5), ("max_wedges", 1), ("max_embedded", 2), ("limit", 2),
        ("relations_per_entity", 1), ("triples_per_relation", 1),
    )} | {"draw_seed": (5, {"triples_per_relation": 1})},
}  # fmt: skip
ELSEWHERE = {
    "max_mentions", "min_link_score", "max_entities", "ranker", "unlinked_doubt", "rank_doubt",
    "prior_weight", "read_weight", "read_floor", "max_read", "read_gap", "min_confidence",
    "strict",
}  # fmt: skip
"""Parameters of what comes before a retrieval from given entities (linking, and who ranks), and of
what was learned or is computed: ``tests/unit/test_learned_reading.py``, ``test_answer_confidence.py``
and ``test_constraints_strict.py``."""


@pytest.mark.parametrize("preset", PRESETS)
def test_every_parameter_of_a_preset_changes_a_result(preset: str) -> None:
    rows = DECIDES[preset]
    # One step from given entities is all that ``ltgen`` takes: no hub is walked through.
    idle = {"hops", "hub_degree"} if preset == "ltgen" else set()
    assert rows.keys() == BOUNDS[type(resolve_preset(preset))].keys() - ELSEWHERE - idle
    for name, (value, others) in rows.items():
        assert any(
            told(retrieved(Asked(question, start, preset, others), strategy))
            != told(retrieved(Asked(question, start, preset, {**others, name: value}), strategy))
            for question, start in QUESTIONS
            for strategy in (Strategy.PATHS, Strategy.SUBGRAPH)[: 1 if preset == "ltgen" else 2]
        ), name


def test_every_stage_looks_at_the_deadline() -> None:
    now = looks()
    for preset, stages in json.loads(GOLDEN.read_text())["looks"].items():
        for stage, count in stages.items():
            assert now[preset].get(stage, 0) >= count, (preset, stage)


@pytest.mark.parametrize("seed", range(10))
def test_searches_find_what_was_recorded(seed: int) -> None:
    same_but_for_looks(searched(seed), json.loads(GOLDEN.read_text())["searched"][seed])


if __name__ == "__main__":
    record = {
        "results": {preset: results(preset) for preset in PRESETS},
        "looks": looks(),
        "searched": [searched(seed) for seed in range(10)],
    }
    print(json.dumps(record, indent=1))
