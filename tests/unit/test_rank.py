"""Relation rankers: order, words, prompts, training, files, and measures (L4, L5)."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_texts import raises
from hand_chat import HandChat, script
from word_vectors import LENGTH, WordVectors

from graph_service.errors import InputError
from graph_service.model.ranking import Encoding, SignedRelation, in_order
from graph_service.rank import trained as trained_module
from graph_service.rank.embedding import EmbeddingRanker
from graph_service.rank.file import read_ranker, write_ranker
from graph_service.rank.neural_head import Network
from graph_service.rank.prototypes import OPPOSITE, PULL, SCALE, SIMILARITY_POWER
from graph_service.rank.trained import RankerWeights, RelationSides, TrainedRanker
from graph_service.rank.words import NAME, Vocabulary
from queries.datasets.simple_questions import ids_in, read_labels, read_relation_questions
from queries.llm import ReplyError
from queries.rank import network_training
from queries.rank.measure import (
    candidates_of,
    measure_held_out,
    measure_ranking,
    split_relations,
)
from queries.rank.prompted import PromptedRanker, read_numbers
from queries.rank.training import SCATTER, Example, data_hash, fit_prototypes, train_ranker

AUTHOR, PLACE = SignedRelation("P50", "author"), SignedRelation("P19", "place of birth")
AUTHOR_OF = SignedRelation("P50", "author", reverse=True)
ENCODER = WordVectors()
ASKED = {
    SignedRelation("P50", "author"): "who is the author of {}",
    SignedRelation("P50", "author", reverse=True): "which work has {} as author",
    SignedRelation("P57", "director"): "who is the director of {}",
    SignedRelation("P57", "director", reverse=True): "which work has {} as director",
    SignedRelation("P19", "birthplace"): "what is the birthplace of {}",
    SignedRelation("P19", "birthplace", reverse=True): "who has {} as birthplace",
    SignedRelation("P136", "genre"): "what genre is {}",
    SignedRelation("P136", "genre", reverse=True): "name a work with genre {}",
}


def examples(count: int, *, start: int = 0) -> list[Example]:
    return [
        Example(pattern.format(f"name{start + i} thing{start + i}"), relation)
        for i in range(count)
        for relation, pattern in ASKED.items()
    ]


@pytest.fixture(scope="module")
def weights() -> RankerWeights:
    return train_ranker(examples(40), ENCODER)


def test_ties_go_by_id_forward_first() -> None:
    ranked = in_order((AUTHOR_OF, AUTHOR, PLACE), np.array([1.0, 1.0000001, 1.0]))
    assert [item.relation.key for item in ranked] == ["P19", "P50", "-P50"]


def test_embedding_is_the_cosine_with_the_relations_text_l5() -> None:
    ranked = EmbeddingRanker(ENCODER).rank("who is its author", [PLACE, AUTHOR_OF, AUTHOR])
    assert ranked[0].relation is AUTHOR
    one, other = ENCODER.encode(["who is its author", AUTHOR.text]).astype(float)
    assert ranked[0].score == round(float(one @ other), 5)
    assert EmbeddingRanker(ENCODER).rank("x", []) == ()


def test_an_entitys_words_and_rare_words_become_one_mark() -> None:
    texts = [(f"who wrote number{i} of dune", "Dune") for i in range(5)]
    vocabulary = Vocabulary.of(texts, least=5)
    assert vocabulary.words == {"who", "wrote", "of"}
    assert f"wrote {NAME}" in vocabulary.terms
    assert f"of {NAME}" in vocabulary.terms
    assert "dune" not in vocabulary.terms
    # Without the entity's text its word is one of the question's own.
    assert "dune" in Vocabulary.of([(text, "") for text, _ in texts], least=5).words
    table = vocabulary.numbers([("who wrote", ""), ("", "")])
    assert set(table[1].tolist()) <= {len(vocabulary.terms)}
    assert Vocabulary.read(vocabulary.to_json()) == vocabulary


def test_prototypes_are_the_formulas_by_hand_l5() -> None:
    random = np.random.default_rng(3)
    questions = random.standard_normal((40, 6)).astype(np.float32)
    relation = np.arange(40, dtype=np.int64) % 4
    texts = ENCODER.encode(["a b", "a c", "d e", "d f"])[:, :6].copy()
    texts /= np.linalg.norm(texts, axis=1, keepdims=True)
    reverse = np.array([False, False, True, False])
    fitted = fit_prototypes(questions, relation, texts, reverse)
    exact = questions.astype(np.float64)
    own = np.stack([exact[relation == i].mean(axis=0) for i in range(4)])
    side = np.stack([own[[0, 1, 3]].mean(axis=0), own[2]])
    base = np.stack(
        [side[int(reverse[i])] + PULL * (texts[i] - texts.mean(axis=0)) for i in range(4)]
    )
    kernel = np.array(
        [
            [
                max(float(texts[i] @ texts[j]), 0) ** SIMILARITY_POWER
                * (1 if reverse[i] == reverse[j] else OPPOSITE)
                for j in range(4)
            ]
            for i in range(4)
        ]
    )
    residuals = np.linalg.solve(kernel + np.eye(4) / 10, own - base)
    foretold = base + kernel @ residuals
    np.testing.assert_allclose(fitted.predicted(texts, reverse), foretold, atol=1e-4)
    scatter = np.mean(
        [np.outer(q - own[r], q - own[r]) for q, r in zip(exact, relation, strict=True)], axis=0
    )
    size = np.trace(scatter) / 6
    precision = size * np.linalg.inv(scatter + SCATTER * size * np.eye(6))
    question = questions[0].astype(float)
    wanted = [SCALE * (question @ precision @ m - m @ precision @ m / 2) for m in foretold]
    score = fitted.discriminants(texts, reverse).score(questions[:1])[0]
    np.testing.assert_allclose(score, wanted, rtol=1e-3, atol=1e-2)


def test_the_networks_gradient_is_the_slope_of_its_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_training, "DROPPED", 0.0)
    monkeypatch.setattr(network_training, "WORDS_DROPPED", 0.0)
    random = np.random.default_rng(5)
    network = network_training.begin_network(4, 6, 3, random)
    filled = {
        each.name: random.standard_normal(getattr(network, each.name).shape).astype(np.float64) / 3
        for each in fields(Network)
    }
    filled["word"][6] = 0
    network = Network(**filled)
    # In double precision, which the differences need.
    inputs: Any = random.standard_normal((5, 4))
    terms = np.array([[0, 1, 6], [2, 6, 6], [0, 3, 4], [6, 6, 6], [5, 1, 2]], dtype=np.int32)
    relation = np.array([0, 1, 2, 0, 1])
    offsets: Any = random.standard_normal((5, 3))
    shared: Any = np.array([[1, 0.3, 0], [0.3, 1, 0.1], [0, 0.1, 1]])

    def loss(at: Network) -> float:
        hidden = np.maximum(inputs @ at.vector + at.bias + at.from_words(terms), 0)
        scores = (hidden @ at.out + inputs @ at.direct + at.level) @ shared.T + offsets
        scores = scores - scores.max(axis=1, keepdims=True)
        chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        return float(-np.log(chances[np.arange(5), relation]).mean())

    gradients = network_training._gradients(
        network, inputs, terms, relation, offsets, shared, np.random.default_rng(0), None
    )
    for each in fields(Network):
        weight = getattr(network, each.name)
        for place in [tuple(random.integers(0, size) for size in weight.shape) for _ in range(6)]:
            if each.name == "word" and place[0] == 6:
                continue
            kept = weight[place]
            weight[place] = kept + 1e-5
            above = loss(network)
            weight[place] = kept - 1e-5
            below = loss(network)
            weight[place] = kept
            slope = (above - below) / 2e-5
            assert gradients[each.name][place] == pytest.approx(slope, rel=1e-2, abs=1e-5)
    assert not gradients["word"][6].any()


def test_a_trained_ranker_tells_relations_and_directions_apart_l5(weights: RankerWeights) -> None:
    ranker = TrainedRanker(weights, ENCODER)
    report = measure_ranking(ranker, examples(5, start=500), candidates_of(examples(1)), ks=(1,))
    assert report.recall[1].value == 1.0
    assert report.recall[1].n == 40
    assert report.candidates == 8


def test_relations_that_were_never_seen_are_ranked_l5(weights: RankerWeights) -> None:
    ranker = TrainedRanker(weights, ENCODER)
    new = SignedRelation("P86", "composer")
    ranked = ranker.rank("who is the composer of name900", [*ASKED, new])
    assert new.key in {item.relation.key for item in ranked[:2]}
    # The same relations in another order, and again after others, give the same.
    assert ranker.rank("who is the composer of name900", [new, *ASKED]) == ranked
    assert ranker.rank("who", [new])[0].relation == new
    assert ranker.rank("who is the composer of name900", [*ASKED, new]) == ranked


def test_what_relations_give_is_made_once_and_shared(
    weights: RankerWeights, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded: list[str] = []

    def encode(texts: Sequence[str]) -> np.ndarray[Any, Any]:
        embedded.extend(texts)
        return ENCODER.encode(texts)

    encoder = Encoding(ENCODER.name, encode)
    question, relations = (
        "who is the composer of name900",
        [*ASKED, SignedRelation("P86", "composer")],
    )
    expected = TrainedRanker(weights, ENCODER).rank(question, relations)
    sides = RelationSides(weights)
    first = TrainedRanker(weights, encoder, sides=sides).rank(question, relations[:4])
    assert [item.score for item in first] == [
        item.score for item in expected if item.relation in relations[:4]
    ]
    for _ in range(2):
        assert TrainedRanker(weights, encoder, sides=sides).rank(question, relations) == expected
    assert sorted(text for text in embedded if text != question) == sorted(
        relation.text for relation in relations
    )
    # Past the bound everything is made anew, and is the same.
    monkeypatch.setattr(trained_module, "_MAX_ROWS", 2)
    assert TrainedRanker(weights, encoder).rank(question, relations) == expected


def test_training_again_gives_the_same_and_the_hash_is_of_the_data(weights: RankerWeights) -> None:
    again = train_ranker(examples(40), ENCODER)
    assert again.data == weights.data == data_hash(list(reversed(examples(40))))
    assert data_hash(examples(39)) != weights.data
    side = weights.side_of(list(ASKED), ENCODER)
    asked = [("who is the author of name3", "")]
    np.testing.assert_allclose(
        again.scores(asked, again.side_of(list(ASKED), ENCODER), ENCODER),
        weights.scores(asked, side, ENCODER),
        atol=1e-4,
    )


def test_one_relation_is_nothing_to_train_on() -> None:
    with raises(InputError):
        train_ranker([Example("who wrote it", AUTHOR)], ENCODER)


def test_a_rankers_file_holds_all_of_it_and_runs_no_code(
    weights: RankerWeights, tmp_path: Path
) -> None:
    path = tmp_path / "ranker.npz"
    write_ranker(path, weights)
    assert [item.name for item in tmp_path.iterdir()] == ["ranker.npz"]
    found = read_ranker(path)
    assert (found.data, found.embedder, found.relations) == (
        weights.data,
        weights.embedder,
        weights.relations,
    )
    question, relations = "who is the author of name77", list(ASKED)
    assert TrainedRanker(found, ENCODER).rank(question, relations) == TrainedRanker(
        weights, ENCODER
    ).rank(question, relations)
    with raises(InputError):
        TrainedRanker(found, WordVectors("words-2"))


def test_a_file_that_is_no_ranker_or_is_damaged_is_refused(
    weights: RankerWeights, tmp_path: Path
) -> None:
    path = tmp_path / "ranker.npz"
    with raises(InputError):
        read_ranker(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    with raises(InputError):
        read_ranker(path)
    np.savez(path, meta=np.array([print], dtype=object))
    with raises(InputError):
        read_ranker(path)
    np.savez(path, other=np.zeros(3))
    with raises(InputError):
        read_ranker(path)
    write_ranker(path, weights)
    with np.load(path) as opened:
        arrays = {name: opened[name] for name in opened.files}
    np.savez(path, **{**arrays, "network.level": arrays["network.level"] + 1})
    with raises(InputError):
        read_ranker(path)
    write_ranker(path, weights)
    path.write_bytes(path.read_bytes()[:-2000])
    with raises(InputError):
        read_ranker(path)
    with pytest.raises(InputError, match="can't write"):
        write_ranker(tmp_path / "none" / "ranker.npz", weights)


def test_relations_are_kept_out_in_both_directions_and_measured_l5() -> None:
    assert sorted(sum(split_relations(["P1", "P2", "P2", "P3"], 2), [])) == ["P1", "P2", "P3"]
    report = measure_held_out(
        examples(20), examples(3, start=700), ENCODER, EmbeddingRanker(ENCODER), folds=2, ks=(1, 4)
    )
    assert [len(fold.relations) for fold in report.folds] == [2, 2]
    assert {id_ for fold in report.folds for id_ in fold.relations} == {"P50", "P57", "P19", "P136"}
    for fold in report.folds:
        assert fold.unseen.recall[1].n == fold.seen.recall[1].n == 12
        assert fold.unseen.candidates == 8
    mean = report.mean("unseen", 4)
    values = [fold.unseen.recall[4].value for fold in report.folds]
    assert mean == pytest.approx(sum(v for v in values if v is not None) / 2)
    assert (report.mean("seen", 1) or 0) > 0.9
    assert "relations kept out" in "\n".join(report.lines())


def test_a_model_ranks_by_numbers_and_the_others_follow_l5() -> None:
    model = HandChat(script("2\n3. author"))
    ranked = PromptedRanker(model).rank("Who?", [AUTHOR_OF, PLACE, AUTHOR], entity="Dune\nII")
    # Listed by id, forward first: 1 P19, 2 P50, 3 -P50.
    assert [item.relation.key for item in ranked] == ["P50", "-P50", "P19"]
    assert {item.score for item in ranked} == {None}
    assert "Entity: Dune II\n" in model.asked[0].whole
    assert "3. author (the entity is the value)" in model.asked[0].whole
    assert PromptedRanker(model).rank("Who?", [AUTHOR])[0].relation == AUTHOR
    assert len(model.asked) == 1


def test_a_reply_without_numbers_is_asked_again_once_then_fails() -> None:
    model = HandChat(script("the author", "9", "1"))
    with raises(ReplyError):
        PromptedRanker(model).rank("Who?", [AUTHOR, PLACE])
    assert len(model.asked) == 2
    model = HandChat(script("the author", "1"))
    assert PromptedRanker(model).rank("Who?", [AUTHOR, PLACE])[0].relation == PLACE


@pytest.mark.parametrize(
    ("reply", "found"),
    [("3\n1", (3, 1)), ("[2], [1]", (2, 1)), ("- 1. x\n\n1\n7", (1,)), ("**2** author", (2,))],
)
def test_numbers_are_read_in_the_forms_that_models_use(reply: str, found: tuple[int, ...]) -> None:
    assert read_numbers(reply, 3) == found


def test_simple_questions_are_read_with_their_labels_l5(tmp_path: Path) -> None:
    path = tmp_path / "valid.txt"
    path.write_text("Q1\tP19\tQ2\twhere was ann born\nQ3\tR50\tQ4\twhat did bo write \n\n")
    labels = tmp_path / "labels.tsv"
    labels.write_text("P19\tplace of birth\nQ1\tAnn\nQ9\tnobody\n")
    assert ids_in(path) == {"Q1", "P19", "Q3", "P50"}
    named = read_labels([labels], ids_in(path))
    assert named == {"P19": "place of birth", "Q1": "Ann"}
    first, second = read_relation_questions(path, labels=named)
    assert (first.relation, first.entity) == (PLACE, "Ann")
    assert second == Example("what did bo write", SignedRelation("P50", "", reverse=True), id="2")
    assert second.relation.words == "P50"


def test_own_lines_are_read_and_bad_ones_named(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text('{"question": "who wrote it", "relation": "-P50", "label": "author"}\n')
    assert read_relation_questions(path) == (Example("who wrote it", AUTHOR_OF, id="1"),)
    for text, wanted in (
        ('{"question": "x", "relation": "-"}\n', "signed relation"),
        ('{"question": "x"}\n', "own.jsonl, line 1, field relation"),
        ("Q1\tX19\tQ2\twhere\n", "own.jsonl, line 1: entity, P"),
        ("Q1\tP19\tQ2\n", "own.jsonl, line 1: entity, P"),
        ("", "holds no question"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=wanted):
            read_relation_questions(path)
    path.write_bytes(b"Q1\tP19\tQ2\t\xff\n")
    with raises(InputError):
        read_relation_questions(path)
    path.write_text("P19 place\n")
    with raises(InputError):
        read_labels([path], {"P19"})


def test_the_encoder_of_the_tests_has_unit_vectors() -> None:
    vectors = ENCODER.encode(["a b", "c"])
    assert vectors.shape == (2, LENGTH)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert replace(AUTHOR, reverse=True) == AUTHOR_OF
