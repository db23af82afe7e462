"""The trained scorer of triples: gradients, folding, files, figures (O10, O11)."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from error_texts import raises
from graph_builder import build_graph

from benchmarks.scorer import Triples, relation_thresholds, threshold
from graph_service.errors import DeadlineError, InputError, StoreCorruptError
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.limits import Deadline
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer import factorisation, trained
from graph_service.views.scorer import training as scorer_training
from graph_service.views.scorer.counting import CountScorer, least_likely
from graph_service.views.scorer.factorisation import (
    _PRIOR,
    Factors,
    Objective,
    Trainer,
    Training,
    _to_gradient,
)
from graph_service.views.scorer.file import decode_scorer, encode_scorer
from graph_service.views.scorer.trained import Learned, TrainedScorer
from graph_service.views.scorer.training import train
from graph_service.views.scorer.trial import (
    LEAST_EDGES,
    Trial,
    auc,
    judge_counts,
    make_trial,
    quality_of,
)

Learnt = tuple[KnowledgeGraph, scorer_training.TrainedResult]

SMALL = (
    Training(dimension=12, epochs=30, penalty=0.02),
    Training(dimension=12, epochs=30, penalty=0.01, objective=Objective.BINARY),
)


def towns(people: int = 60, random_seed: int = 0) -> KnowledgeGraph:
    """People of two lands: each lives in towns of their own land and speaks its language."""
    random = np.random.Generator(np.random.PCG64(random_seed))
    rows = []
    for person in range(people):
        land = person % 2
        rows += [
            (f"p{person}", "lives in", f"t{land}{town}")
            for town in random.permutation(6)[:3].tolist()
        ]
        rows += [(f"p{person}", "speaks", f"l{land}"), (f"p{person}", "citizen of", f"c{land}")]
    rows += [(f"t{land}{town}", "in", f"c{land}") for land in range(2) for town in range(6)]
    return build_graph(rows)


@pytest.fixture(scope="module")
def learnt() -> Learnt:
    graph = towns()
    return graph, train(graph, index=PairIndex.build(graph), text=None, trainings=SMALL)


def scorer_of(graph: KnowledgeGraph, learned: Learned) -> TrainedScorer:
    return TrainedScorer.of(graph, learned, fingerprint="f" * 16, index=PairIndex.build(graph))


@pytest.mark.parametrize("objective", list(Objective))
def test_the_gradient_is_that_of_the_loss(objective: Objective) -> None:
    """By differences, in double precision; a query with two tails, one with one."""
    random = np.random.Generator(np.random.PCG64(1))
    scores = random.standard_normal((2, 5))
    rows, tails = np.array([0, 0, 1]), np.array([1, 3, 0])
    weight = np.array([2.0, 1.0]) / 3

    def loss(of: np.ndarray) -> float:
        if objective is Objective.RANKING:
            logs = of - np.log(np.exp(of).sum(axis=1, keepdims=True))
            return float(-logs[rows, tails].sum() / 3)
        odds = of + float(_PRIOR)
        truth = np.zeros_like(of)
        truth[rows, tails] = 1.0
        return float((np.log1p(np.exp(odds)) - truth * odds).sum() / 3)

    found = scores.astype(np.float32)
    _to_gradient(found, rows, tails, weight.astype(np.float32), objective)
    for place in np.ndindex(scores.shape):
        step = np.zeros_like(scores)
        step[place] = 1e-5
        slope = (loss(scores + step) - loss(scores - step)) / 2e-5
        assert found[place] == pytest.approx(slope, abs=1e-5)


def test_one_step_goes_down_the_whole_loss() -> None:
    """All of the gradient, penalty and relations included: against differences of the loss."""
    how = Training(dimension=3, dropout=0.0, penalty=0.3, rate=0.1)
    head, rel, tail = (np.array(x, dtype=np.int32) for x in ([0, 0, 2], [0, 0, 1], [1, 2, 3]))

    def begun() -> Trainer:
        random = np.random.Generator(np.random.PCG64(3))
        return Trainer(4, 2, training=how, random=random)

    both = [(0, 0, 1), (0, 0, 2), (2, 1, 3), (1, 2, 0), (2, 2, 0), (3, 3, 2)]

    def loss(entity: np.ndarray, relation: np.ndarray) -> float:
        e, r = entity[:, :3] + 1j * entity[:, 3:], relation[:, :3] + 1j * relation[:, 3:]
        total = 0.0
        for h, w, t in both:
            every = (e[h] * r[w] * np.conj(e)).real.sum(axis=1)
            total -= every[t] - np.log(np.exp(every).sum())
            those = range(2) if w < 2 else range(2, 4)
            pairs = [(e[h] * r[k] * np.conj(e[t])).real.sum() for k in those]
            total -= pairs[w - those[0]] - np.log(np.exp(pairs).sum())
            total += how.penalty / 3 * sum((np.abs(x) ** 3).sum() for x in (e[h], r[w], e[t]))
        return total / len(both)

    trainer = begun()
    before = trainer.factors()
    trainer.run(head, rel, tail, epochs=1, deadline=Deadline.none())
    squares = [part.astype(np.float64) for part in trainer._squares]
    for which, size in enumerate(squares[:2]):
        for place in np.ndindex(size.shape):
            values = [before.entity.astype(np.float64), before.relation.astype(np.float64)]
            ends = []
            for step in (1e-5, -1e-5):
                moved = [part.copy() for part in values]
                moved[which][place] += step
                ends.append(loss(*moved))
            slope = (ends[0] - ends[1]) / 2e-5
            # Adagrad's first step keeps the square of the gradient.
            assert np.sqrt(size[place]) == pytest.approx(abs(slope), abs=2e-3)


def test_what_it_learns_is_worth_more_than_counts_o11(learnt: Learnt) -> None:
    graph, result = learnt
    quality = result.quality
    assert quality.auc_relation > 0.95
    assert quality.auc_tail > 0.9
    assert quality.accuracy > 0.75
    assert quality.calibration_error < 0.2
    scorer = scorer_of(graph, result.learned)

    def score(*triple: str) -> float:
        head, tail = (graph.find_node(id_) for id_ in (triple[0], triple[2]))
        relation = graph.find_relation(triple[1])
        columns = (np.array([x], dtype=np.int32) for x in (head, relation, tail))
        return float(scorer.score(*columns)[0])

    assert score("p0", "speaks", "l0") > 0.8 > 0.3 > score("p0", "speaks", "l1")
    assert score("p0", "citizen of", "c0") > 0.8 > 0.3 > score("p0", "in", "c1")


def test_training_again_gives_the_same_bytes(learnt: Learnt) -> None:
    graph, result = learnt
    again = train(graph, index=PairIndex.build(graph), text=None, trainings=SMALL)
    assert encode_scorer(again.learned) == encode_scorer(result.learned)
    other = train(graph, index=PairIndex.build(graph), text=None, trainings=SMALL, random_seed=1)
    assert encode_scorer(other.learned) != encode_scorer(result.learned)


@pytest.mark.parametrize("table", [True, False])
def test_scores_are_what_the_formula_says(
    learnt: Learnt, table: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One triple at a time, by the definition; relations of a pair alike, and in threads."""
    graph, result = learnt
    monkeypatch.setattr(trained, "_A_THREAD", 70)
    monkeypatch.setattr(trained, "_ROWS", 16)
    if not table:
        monkeypatch.setattr(trained, "_MAX_TABLE", 0)
    learned, scorer = result.learned, scorer_of(graph, result.learned)
    counts = CountScorer.build(graph)
    found = scorer.score(graph.head[:], graph.rel[:], graph.tail)
    w = learned.weights
    for edge in range(0, graph.edge_count, 7):
        h, r, t = (x[edge : edge + 1] for x in (graph.head, graph.rel, graph.tail))
        odds = (learned.entity[h] * learned.relation[r] * np.conj(learned.entity[t])).real.sum()
        lift_head, lift_tail = counts.lifts(h, r, t)
        odds += w[0] * np.log(lift_head[0]) + w[1] * np.log(lift_tail[0])
        odds += w[2] * np.log1p(counts.relation_counts[r[0]]) + w[3]
        assert found[edge] == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-5)
    relations = np.array([0, 2, 3], dtype=np.int32)
    grid = scorer.score_relations(graph.head[:9], graph.tail[:9], relations)
    for column, relation in enumerate(relations.tolist()):
        rel = np.full(9, relation, dtype=np.int32)
        alone = scorer.score(graph.head[:9], rel, graph.tail[:9])
        np.testing.assert_allclose(grid[:, column], alone, atol=1e-6)
    assert len(scorer.score(graph.head[:0], graph.rel[:0], graph.tail[:0])) == 0


def test_folding_keeps_the_weighted_sum_of_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.Generator(np.random.PCG64(5))
    monkeypatch.setattr(scorer_training, "SHARE_RETAINED", 1.0)
    sets = [
        Factors(*(random.standard_normal((n, 8)).astype(np.float32) for n in (6, 4)))
        for _ in range(2)
    ]
    weights = np.array([0.5, 2.0, 1.5, 0.0, 0.1, 0.2, 0.3, 0.4])
    learned = scorer_training._fold(sets, weights, 2)
    head, rel, tail = (np.array(x, dtype=np.int32) for x in ([0, 3], [1, 0], [5, 2]))
    expected = sum(
        weights[2 * place] * scorer_training._scores(factors, head, rel, tail)
        + weights[2 * place + 1] * scorer_training._scores(factors, tail, rel + np.int32(2), head)
        for place, factors in enumerate(sets)
    )
    found = (learned.entity[head] * learned.relation[rel] * np.conj(learned.entity[tail])).real
    np.testing.assert_allclose(found.sum(axis=1), expected, rtol=1e-4)
    assert learned.weights.tolist() == [0.1, 0.2, 0.3, 0.4]


def test_a_sample_of_entities_trains_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a graph past ``MAX_COMPARED``."""
    monkeypatch.setattr("graph_service.views.scorer.factorisation.MAX_COMPARED", 10)
    graph = towns()
    how = tuple(replace(one, sampled=20) for one in SMALL)
    result = train(graph, index=PairIndex.build(graph), text=None, trainings=how)
    assert result.quality.auc_relation > 0.9


def test_text_tells_of_entities_that_training_never_met() -> None:
    """A town in no triple, with the text of the other towns of its land."""
    graph = towns()
    text = np.zeros((graph.entity_count, 4), dtype=np.float16)
    for node in range(graph.entity_count):
        id_ = graph.node_ids[node]
        land = int(id_[1]) if id_[0] in "tlc" else int(id_[1:]) % 2
        text[node] = [land == 0, land == 1, id_[0] == "p", id_[0] == "t"]
    stranger = np.concatenate([text, [[0, 1, 0, 1]]]).astype(np.float16)
    trainer = Trainer(
        graph.entity_count + 1,
        graph.relation_count,
        text=stranger,
        training=SMALL[0],
        random=np.random.Generator(np.random.PCG64(0)),
    )
    trainer.run(graph.head[:], graph.rel[:], graph.tail, epochs=60, deadline=Deadline.none())
    factors = trainer.factors()
    lives = graph.find_relation("lives in")
    people = np.array([graph.find_node(f"p{n}") for n in range(20)], dtype=np.int32)
    town = np.full(20, graph.entity_count, dtype=np.int32)
    scores = scorer_training._scores(factors, people, np.full(20, lives), town)
    assert scores[1::2].min() > scores[::2].max(), "people of its land, and no others"


def test_wrong_triples_are_wrong(learnt: Learnt) -> None:
    graph, _ = learnt
    index = PairIndex.build(graph)
    trial = make_trial(graph, index, np.random.Generator(np.random.PCG64(0)))
    said = set(zip(graph.head[:].tolist(), graph.rel[:].tolist(), graph.tail.tolist(), strict=True))
    held = set(zip(trial.head.tolist(), trial.rel[0].tolist(), trial.tail[0].tolist(), strict=True))
    kept = {
        (int(graph.head[e]), int(graph.rel[e]), int(graph.tail[e])) for e in trial.edges.tolist()
    }
    assert held <= said
    assert len(trial.edges) + len(trial.head) == graph.edge_count
    assert not held & kept
    for row in range(1, 4):
        wrong = set(
            zip(trial.head.tolist(), trial.rel[row].tolist(), trial.tail[row].tolist(), strict=True)
        )
        assert len(wrong & said) <= 1, "only where sixteen draws found nothing else"
    assert (trial.rel[2:] == trial.rel[0]).all()
    tails = {(r, t) for _, r, t in said}
    assert {
        (r, t) for r, t in zip(trial.rel[3].tolist(), trial.tail[3].tolist(), strict=True)
    } <= tails


def test_figures_by_hand() -> None:
    """Two edges; each wrong one weighs a third.

    At 0.5: 0.9 and 0.4 of the edges, so 1 of 2; of the wrong ones 0.2 0.6 | 0.1 0.3 | 0.5 0.2
    right are 1 + 2 + 1.5 = 4.5 of 6: (1 + 4.5 / 3) / (2 + 6 / 3) = 2.5 / 4.
    """
    graph = build_graph([("a", "r", "b"), ("c", "r", "d")])
    trial = Trial(
        np.zeros(0, dtype=np.int64),
        graph.head[:],
        np.stack([graph.rel[:]] * 4),
        np.stack([graph.tail] * 4),
    )
    quality = quality_of(trial, np.array([[0.9, 0.4], [0.2, 0.6], [0.1, 0.3], [0.5, 0.2]]))
    assert quality.accuracy == pytest.approx(2.5 / 4)
    assert quality.auc_relation == pytest.approx(3 / 4)
    assert quality.auc_tail == 1.0
    assert quality.auc_like_tail == pytest.approx((2 + 1) / 4)
    # Scores less truth by tenths: -.1 and -.6, and a third of .4 (twice .2), .6, .1, .3 and .5.
    assert quality.calibration_error == pytest.approx((0.1 + 0.6 + 1.9 / 3) / 4)
    sure = quality_of(trial, np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]))
    assert sure.calibration_error == pytest.approx((2 / 3) / 4)
    assert auc(np.array([1.0, 0.5]), np.array([0.5, 0.0])) == pytest.approx(3.5 / 4)


def test_a_small_graph_is_refused_and_has_no_figures() -> None:
    graph = build_graph([("a", "r", "b"), ("b", "s", "c")])
    index = PairIndex.build(graph)
    assert judge_counts(graph, index) is None
    with pytest.raises(InputError, match=f"at least {LEAST_EDGES} statements.*has 2 and 2"):
        train(graph, index=index, text=None)
    whole = towns()
    index = PairIndex.build(whole)
    with pytest.raises(DeadlineError):
        train(whole, index=index, text=None, deadline=Deadline.after(-1.0))


def test_a_file_gives_the_scorer_back_and_runs_nothing(learnt: Learnt) -> None:
    graph, result = learnt
    sizes = {"entities": graph.entity_count, "relations": graph.relation_count}
    data = encode_scorer(result.learned)
    back = decode_scorer(data, **sizes)
    np.testing.assert_allclose(back.entity, result.learned.entity, rtol=2e-3, atol=1e-3)
    assert (back.weights == result.learned.weights).all()
    assert encode_scorer(back) == data
    for bad in (b"", data[: len(data) // 2], b"PK\x03\x04 no archive"):
        with raises(StoreCorruptError):
            decode_scorer(bad, **sizes)
    with pytest.raises(StoreCorruptError, match="expected vectors of"):
        decode_scorer(data, entities=graph.entity_count + 1, relations=graph.relation_count)
    evil = io.BytesIO()
    np.savez(
        evil, format=np.array([1]), entity=np.array([Ran()], dtype=object),
        relation=np.zeros(1), weights=np.zeros(4), allow_pickle=True,
    )  # fmt: skip
    with pytest.raises(StoreCorruptError):
        decode_scorer(evil.getvalue(), **sizes)
    assert not Ran.happened


class Ran:
    """Notes when it is read back."""

    happened = False

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return note, ()


def note() -> None:
    Ran.happened = True


def test_thresholds_by_hand() -> None:
    """The best cut of 4 right, 3 wrong, 2 right, 1 wrong lies above 3 (or 1: the higher is taken)."""
    scores = np.array([4.0, 3.0, 2.0, 1.0])
    truth = np.array([True, False, True, False])
    assert threshold(scores, truth) == 3.5
    assert threshold(scores, np.zeros(4, dtype=bool)) == np.inf
    assert threshold(scores, np.ones(4, dtype=bool)) == -np.inf
    assert threshold(np.array([1.0, 1.0]), np.array([True, False])) in (np.inf, -np.inf)
    ends = np.arange(40, dtype=np.int32)
    right = Triples(ends, (ends % 2).astype(np.int32), ends, 0)
    # Relation 1's scores are 10 higher: one threshold a relation tells all, one for all does not.
    good = (1.0 + 10 * (ends % 2)).astype(np.float64)
    bad = (10.0 * (ends % 2)).astype(np.float64)
    assert relation_thresholds(right, right, good, bad) == 1.0


def test_training_tells_the_number_of_passes_done() -> None:
    graph = towns(people=6)
    trainer = Trainer(
        graph.entity_count,
        graph.relation_count,
        training=SMALL[0],
        random=np.random.Generator(np.random.PCG64(0)),
    )
    told: list[int] = []
    columns = (graph.head[:], graph.rel[:], graph.tail)
    trainer.run(*columns, epochs=3, deadline=Deadline.none(), progress=told.append)
    assert told == [1, 2, 3]


def test_vectors_without_weight_are_left_out() -> None:
    factors = Factors(np.ones((6, 8), dtype=np.float32), np.ones((4, 8), dtype=np.float32))
    learned = scorer_training._fold([factors], np.array([0.0, 0.0, 0.1, 0.2, 0.3, 0.4]), 2)
    assert learned.entity.shape == (6, 0)
    assert learned.relation.shape == (2, 0)
    assert learned.weights.tolist() == [0.1, 0.2, 0.3, 0.4]


def test_no_triple_is_certain_however_often_its_ends_meet() -> None:
    """A score is below 1, also where the odds are more than a float can tell from certainty."""
    graph = towns()
    counts = CountScorer.build(graph)
    certain = replace(
        counts, head_shares=counts.head_shares * 1e-12, tail_shares=counts.tail_shares * 1e-12
    )
    found = certain.score(graph.head[:], graph.rel[:], graph.tail)
    assert found.max() == 1.0 - 2.0**-53
    assert (
        certain.score_relations(graph.head[:], graph.tail, np.arange(3, dtype=np.int32)).max() < 1.0
    )


@pytest.mark.parametrize("cells", [1, 7, 1_000_000])
def test_the_least_likely_relation_of_each_pair(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By looking at each; of equals the smaller number, in however many rounds."""
    monkeypatch.setattr("graph_service.views.scorer.counting.CHUNK_CELLS", cells)
    graph = towns(people=8)
    scorer = CountScorer.build(graph)
    relations = np.arange(graph.relation_count, dtype=np.int32)
    found = least_likely(scorer, graph.head[:], graph.tail, relations, own=graph.rel[:])
    assert found.dtype == np.int32
    scores = scorer.score_relations(graph.head[:], graph.tail, relations)
    ties = 0
    for row, own, chosen in zip(scores, graph.rel[:].tolist(), found.tolist(), strict=True):
        others = [(float(score), rel) for rel, score in enumerate(row) if rel != own]
        assert chosen == min(others)[1]
        ties += len({score for score, _ in others}) < len(others)
    assert ties
    with pytest.raises(DeadlineError, match="least likely"):
        least_likely(
            scorer,
            graph.head[:],
            graph.tail,
            relations,
            own=graph.rel[:],
            deadline=Deadline.after(0),
        )


def test_rows_of_one_place_are_added_in_the_order_in_which_they_come() -> None:
    """A sum of floats depends on its order: another one would train another scorer."""
    random = np.random.Generator(np.random.PCG64(4))
    places = random.integers(0, 5, 4_000)
    rows = (random.standard_normal((4_000, 3)) * 10.0 ** random.integers(-6, 7, (4_000, 1))).astype(
        np.float32
    )
    into = np.ones((6, 3), dtype=np.float32)
    factorisation._add_rows(into, places, rows)
    expected = np.ones((6, 3), dtype=np.float32)
    for place in range(5):
        own = rows[places == place]
        expected[place] += np.add.reduceat(own, [0], axis=0)[0]
    assert np.array_equal(into, expected)
