"""Training of the scorer: it finds a planted signal, families weigh alike, walks are real."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from demo_graph import request
from error_texts import raises

from graph_service import Service
from graph_service.errors import InputError
from graph_service.model.graph import Float64
from graph_service.model.limits import Deadline
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.features import FINAL_NAMES, NAMES
from graph_service.retrieve.learned.network import encode_candidate_scorer, shipped_scorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from queries.training.examples import (
    MOST_FINALISTS,
    AnsweredQuestion,
    Example,
    ExampleRecorder,
    hash_of,
)
from queries.training.networks import TrainingOptions, _shares, train_final, train_scorer
from queries.training.walks import make_walk_questions

SMALL = TrainingOptions(networks=2, epochs=900.0, width=4, decay=0.01)


def planted(count: int, *, family: str, seed: int, column: str = "near_first") -> list[Example]:
    """Questions of eight candidates; one column is greater by three where a candidate is right."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(count):
        inputs = draw.normal(size=(8, len(FINAL_NAMES))).astype(np.float32)
        right = np.zeros(8, dtype=bool)
        right[number % 8] = True
        inputs[number % 8, NAMES.index(column)] += 3.0
        found.append(
            Example(
                family, str(number), False, inputs[:, : len(NAMES)], right, np.arange(8), inputs
            )
        )
    return found


def test_training_finds_what_tells_right_from_wrong() -> None:
    scorer = train_scorer(planted(250, family="a", seed=0), embedder="m", data="d", options=SMALL)
    unseen = planted(100, family="b", seed=1)
    for networks, part in ((scorer.first, "described"), (scorer.final, "inputs")):
        hits = [
            each.right[int(networks.score(getattr(each, part).astype(float)).argmax())]
            for each in unseen
        ]
        assert np.mean(hits) > 0.8


def test_training_repeats_bit_for_bit() -> None:
    options = TrainingOptions(networks=1, epochs=2.0, width=3)
    examples = planted(40, family="a", seed=2)
    one, two = (
        encode_candidate_scorer(train_scorer(examples, embedder="m", data="d", options=options))
        for _ in range(2)
    )
    assert one == two


def test_two_random_seeds_share_no_network() -> None:
    examples = planted(20, family="a", seed=2)
    trained = [
        train_final(
            examples, options=TrainingOptions(networks=2, epochs=1.0, width=3, random_seed=seed)
        )
        for seed in (0, 1)
    ]
    assert len({inner.tobytes() for networks in trained for inner in networks.inner}) == 4


def test_families_weigh_alike_but_for_weights() -> None:
    share = _shares(["a"] * 9 + ["b"], {})
    assert share[-1] == pytest.approx(0.5)
    assert _shares(["a"] * 9 + ["b"], {"b": 3.0})[-1] == pytest.approx(0.75)
    assert share.sum() == pytest.approx(1.0)


def test_questions_that_teach_nothing_are_refused() -> None:
    with raises(InputError):
        train_scorer([], embedder="m", data="d", options=SMALL)


def test_walk_questions_are_walks_of_the_graph(demo_service: Service) -> None:
    info = demo_service.graph()
    graph = demo_service.arrays(info)
    labels = Labels(graph, None, ("en",), Deadline.none())
    counts = {1: 5, 2: 5, 3: 3}

    def made(seed: int) -> list[AnsweredQuestion]:
        return make_walk_questions(
            graph,
            labels,
            demo_service.relation_aliases(info, ("en",)),
            name="demo",
            family="walks",
            counts=counts,
            random_seed=seed,
        )

    questions = made(1)
    assert questions == made(1)
    assert hash_of(questions) == hash_of(reversed(questions)) != hash_of(made(2))
    assert [each.family for each in questions] == ["walks1"] * 5 + ["walks2"] * 5 + ["walks3"] * 3
    heads, tails = graph.node_ids.take(graph.head[:]), graph.node_ids.take(graph.tail)
    relations = graph.relation_ids.take(graph.rel[:])
    steps: dict[tuple[str, str, bool], set[str]] = {}
    for head, relation, tail in zip(heads, relations, tails, strict=True):
        steps.setdefault((head, relation, False), set()).add(tail)
        steps.setdefault((tail, relation, True), set()).add(head)
    for question in questions:
        ((start, chain),) = question.chains
        assert question.start_ids == (start,)
        node = graph.find_node(start)
        assert node is not None
        assert labels.nodes(np.array([node]))[0].lower() in question.text.lower()
        ends = {start}
        for relation, back in chain:
            ends = set().union(*(steps.get((end, relation, back), set()) for end in ends))
        assert ends
        assert len(chain) == int(question.family[-1])


def test_walks_turn_at_their_first_steps_alone(demo_service: Service) -> None:
    info = demo_service.graph()
    graph = demo_service.arrays(info)
    questions = make_walk_questions(
        graph,
        Labels(graph, None, ("en",), Deadline.none()),
        demo_service.relation_aliases(info, ("en",)),
        name="demo",
        family="walks",
        counts={3: 150},
    )
    first = again = 0
    for question in questions:
        ((_, chain),) = question.chains
        turns = [left[0] == right[0] and left[1] != right[1] for left, right in pairwise(chain)]
        assert turns[0] or not any(turns)
        first += turns[0]
        # Who acts with whom X acts with: the same step once more.
        again += all(turns)
    assert first >= 15
    assert again


def test_a_question_becomes_an_example_with_its_right_candidate(demo_service: Service) -> None:
    maria, spouse, mother = "Q230654", "P26", "P25"
    text = "Who is the mother of Maria Shriver's husband?"
    question = AnsweredQuestion(
        text, "demo", "demo", (maria,), ((maria, ((spouse, False), (mother, False))),)
    )
    went_on: list[tuple[int, int]] = []

    class Watched(ExampleRecorder):
        def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
            finalists, scores = super().rank(reader, most)
            walks = reader.candidates.walks
            assert len(finalists.numbers) == len(scores) == 1
            fewest = walks[self.examples[-1].finalists].min()
            went_on.append((int(walks[finalists.numbers[0]]), int(fewest)))
            return finalists, scores

    recorder = Watched()
    with demo_service.ranking_by(recorder):
        for given in (True, False):
            recorder.record(demo_service, question, by_ids=given)
    # No time goes into the texts of walks that nobody reads.
    assert len(went_on) == 2
    assert all(walks == fewest for walks, fewest in went_on)
    by_given, linked = recorder.examples
    assert (by_given.by_ids, linked.by_ids) == (True, False)
    for example in (by_given, linked):
        assert example.right.sum() == 1
        assert example.right[example.finalists].sum() == 1
        assert example.inputs.shape == (len(example.finalists), len(FINAL_NAMES))
        assert np.isfinite(example.inputs).all()
        row = example.described[int(example.right.argmax())]
        assert row[NAMES.index("two_steps")] == 1.0
        assert row[NAMES.index("given")] == float(example.by_ids)
    # Networks that are given choose the candidates, as they do in use.
    chosen = ExampleRecorder(first=shipped_scorer().first)
    with demo_service.ranking_by(chosen):
        chosen.record(demo_service, question, by_ids=False)
    (example,) = chosen.examples
    scores = shipped_scorer().first.score(example.described.astype(np.float64))
    best = np.argsort(-scores)[:MOST_FINALISTS]
    assert {*best.tolist()} <= {*example.finalists.tolist()}
    assert not {*best.tolist()} <= {*linked.finalists.tolist()}
    # Before and after, the shipped ranker answers.
    assert demo_service.retrieve(request(preset="default-6")).items
