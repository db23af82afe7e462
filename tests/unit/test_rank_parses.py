"""AMR parses in the trained ranker: read from files, encoded, learnt from (L5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
import pytest
from error_texts import raises
from word_vectors import WordVectors

from graph_service.errors import InputError
from graph_service.model.ranking import SignedRelation
from graph_service.rank.file import decode_ranker, encode_ranker, fingerprint_of
from graph_service.rank.graph_encoder import GraphEncoder
from graph_service.rank.parses import Parse, batch_of, label_vocabulary
from graph_service.rank.trained import RankerWeights, TrainedRanker
from queries.rank.measure import candidates_of, measure_ranking
from queries.rank.network_training import begin_encoder
from queries.rank.training import Example, data_hash, train_ranker

ENCODER = WordVectors()
WROTE, BY = SignedRelation("P50", "author"), SignedRelation("P50", "author", reverse=True)
NODES = ("write-01", ":ARG0", "amr-unknown", ":ARG1", "name")


def parse(*, asks_agent: bool) -> Parse:
    """Who wrote it, or what was written: the same nodes, joined otherwise."""
    agent, patient = (2, 4) if asks_agent else (4, 2)
    return Parse(NODES, ((0, 1), (1, agent), (0, 3), (3, patient)))


def made(count: int, *, start: int = 0, parsed: bool = True) -> list[Example]:
    """A made task: the words are the same for both relations, and the parse alone tells them apart."""
    return [
        Example(
            f"tell name{start + i}",
            relation,
            parse=parse(asks_agent=relation is WROTE) if parsed else None,
        )
        for i in range(count)
        for relation in (WROTE, BY)
    ]


def ranker(weights: RankerWeights, asked: Sequence[Example]) -> list[str]:
    """The relation that comes first for each question, by its own parse."""
    found = []
    for each in asked:
        parses = {} if each.parse is None else {each.question: each.parse}
        ranked = TrainedRanker(weights, ENCODER, parses=parses).rank(each.question, [WROTE, BY])
        found.append(ranked[0].relation.key)
    return found


@pytest.fixture(scope="module")
def weights() -> RankerWeights:
    return train_ranker(made(60), ENCODER)


def test_what_stands_in_the_parse_alone_is_learnt_l5(weights: RankerWeights) -> None:
    """Both parses have the same labels: only who is joined to which role tells them apart."""
    held_out = made(20, start=500)
    right = [a == b.relation.key for a, b in zip(ranker(weights, held_out), held_out, strict=True)]
    assert sum(right) == 40
    # Without parses the questions of both relations are one and the same.
    bare = train_ranker(made(60, parsed=False), ENCODER)
    guessed = ranker(bare, made(20, start=500, parsed=False))
    assert sum(a == b.relation.key for a, b in zip(guessed, held_out, strict=True)) == 20
    assert weights.notes["parses"] == 120
    # One that was trained with parses ranks a question without one too.
    assert len(TrainedRanker(weights, ENCODER).rank("tell name1", [WROTE, BY])) == 2


def test_without_parses_the_ranker_is_what_it_was_byte_for_byte_l5() -> None:
    examples = [
        Example(f"{words} name{i}", relation)
        for i in range(12)
        for relation, words in ((WROTE, "who wrote"), (BY, "what wrote"))
    ]
    weights = train_ranker(examples, ENCODER)
    assert weights.graphs is None
    assert "parses" not in weights.notes
    encoded = encode_ranker(weights)
    assert b"graph." not in encoded
    # Parses that are given to it are left unread.
    plain = TrainedRanker(weights, ENCODER).rank("who wrote name1", [WROTE, BY])
    given = {"who wrote name1": parse(asks_agent=True)}
    assert (
        TrainedRanker(weights, ENCODER, parses=given).rank("who wrote name1", [WROTE, BY]) == plain
    )
    assert data_hash(examples) == data_hash([replace(one, id="7") for one in examples])


def test_a_ranker_with_parses_is_written_and_read_again_l5(weights: RankerWeights) -> None:
    again = decode_ranker(encode_ranker(weights))
    assert again.graphs is not None
    assert weights.graphs is not None
    assert again.graphs.labels == weights.graphs.labels == tuple(sorted(NODES))
    assert encode_ranker(again) == encode_ranker(weights)
    assert fingerprint_of(again) == fingerprint_of(weights)
    assert ranker(again, made(3)) == ranker(weights, made(3))
    assert data_hash(made(1)) != data_hash(made(1, parsed=False))
    torn = replace(weights, graphs=replace(weights.graphs, labels=("a",)))
    with raises(InputError):
        decode_ranker(encode_ranker(torn))


def test_the_gradients_are_those_of_differences_l5() -> None:
    """Each weight is moved by 1e-6; the loss is a random projection of what joins the layer."""
    random = np.random.default_rng(2)
    parses = [parse(asks_agent=True), None, Parse(("a", "b"), ((0, 1),)), Parse(("c",), ())]
    labels = label_vocabulary([one for one in parses if one is not None], least=1)
    encoder = begin_encoder(5, len(labels), random)
    small = {each.name: getattr(encoder, each.name) for each in fields(GraphEncoder)}
    for name in ("weight", "own"):
        small[name] = small[name][..., :6, :6].copy()
    for name in ("label", "left", "right", "query", "start"):
        small[name] = small[name][..., :6].copy()
    small["join"] = small["join"][:6, :4].copy()
    encoder = GraphEncoder(**small)
    questions, back = random.standard_normal((4, 5)), random.standard_normal((4, 4))
    batch = batch_of(parses, labels)
    found = encoder.gradients(questions, batch, encoder.forward(questions, batch), back)
    assert set(found) == set(small)
    for name, weight in small.items():
        for place in list(np.ndindex(weight.shape))[:: max(1, weight.size // 12)]:
            kept = weight[place]
            values = []
            for step in (1e-6, -1e-6):
                weight[place] = kept + step
                values.append(float((encoder.joined(questions, batch) * back).sum()))
            weight[place] = kept
            assert found[name][place] == pytest.approx(
                (values[0] - values[1]) / 2e-6, rel=1e-4, abs=1e-6
            ), (name, place)
    # A question without a parse takes nothing from one.
    assert not encoder.joined(questions, batch)[1].any()


def test_the_order_of_nodes_and_the_fill_of_a_batch_change_nothing_l5() -> None:
    random = np.random.default_rng(4)
    one = parse(asks_agent=True)
    labels = label_vocabulary([one], least=1)
    encoder = begin_encoder(5, len(labels), random)
    questions = random.standard_normal((1, 5))
    alone = encoder.joined(questions, batch_of([one], labels))
    turned = Parse(one.labels[::-1], tuple((4 - a, 4 - b) for a, b in one.edges))
    assert encoder.joined(questions, batch_of([turned], labels)) == pytest.approx(alone, abs=1e-12)
    long = Parse(("x",) * 30, tuple((i, i + 1) for i in range(29)))
    both = encoder.joined(np.repeat(questions, 2, axis=0), batch_of([one, long], labels))
    assert both[0] == pytest.approx(alone[0], abs=1e-12)
    huge = Parse(("x",) * 500, ((0, 499),))
    assert batch_of([huge], labels).nodes.shape == (1, 200)


def test_measures_read_the_parse_of_each_question_l5(weights: RankerWeights) -> None:
    asked = [replace(one, question=f"{one.question} {one.relation.key}") for one in made(5)]
    parses = {one.question: one.parse for one in asked if one.parse is not None}
    report = measure_ranking(
        TrainedRanker(weights, ENCODER, parses=parses), asked, candidates_of(asked), ks=(1,)
    )
    assert report.recall[1].value == 1.0
