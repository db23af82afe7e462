"""Training of a relation ranker on questions whose relation is known (L5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graph_service.errors import InputError
from graph_service.model.identity import digest
from graph_service.model.ranking import (
    Bool,
    Float32,
    Int64,
    SignedRelation,
    TextEncoder,
    encode_queries,
)
from graph_service.rank.parses import Parse, batch_of, label_vocabulary
from graph_service.rank.prototypes import Prototypes
from graph_service.rank.trained import GraphReader, RankerWeights, taken_over
from graph_service.rank.words import Vocabulary
from queries.rank.network_training import begin_encoder, train_network

SCATTER = 0.5
"""Share of the mean scatter that is added in every direction."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its relation, and the text of its entity where it is known.

    Attributes:
        id: Its own, or the number of its line; parses are given by it.
        parse: Its AMR parse, where one is given.
    """

    question: str
    relation: SignedRelation
    entity: str = ""
    id: str = ""
    parse: Parse | None = None


def data_hash(examples: Sequence[Example], /) -> str:
    """Returns 32 hexadecimal digits of all examples, in any order."""
    rows = sorted(
        "\x1f".join((each.question, each.entity, each.relation.key, each.relation.words))
        + ("" if each.parse is None else f"\x1f{each.parse.text}")
        for each in examples
    )
    return digest(tuple(rows), person=b"ranker").hex()


def train_ranker(
    examples: Sequence[Example], encoder: TextEncoder, /, *, random_seed: int = 0
) -> RankerWeights:
    """Returns a ranker trained on questions with their relations.

    Args:
        examples: Two relations at least.
        encoder: The embedder; each distinct text is asked of it once.
        random_seed: Of the network's beginning and order.

    Raises:
        InputError: There is nothing to tell apart.
    """
    relations = {each.relation.key: each.relation for each in examples}
    keys = sorted(relations)
    if len(keys) < 2:
        raise InputError(
            f"questions for two relations at least are needed to train; there are {len(keys)}",
            argument="file",
        )
    number = {key: i for i, key in enumerate(keys)}
    inputs = [(each.question, each.entity) for each in examples]
    relation = np.array([number[each.relation.key] for each in examples], dtype=np.int64)
    reverse = np.array([relations[key].reverse for key in keys], dtype=np.bool_)
    distinct = list(dict.fromkeys(each.question for each in examples))
    rows_by_text = {text: i for i, text in enumerate(distinct)}
    vectors = encode_queries(encoder, distinct)[[rows_by_text[text] for text, _ in inputs]]
    texts = encoder.encode([relations[key].text for key in keys])
    prototypes = fit_prototypes(vectors, relation, texts, reverse)
    vocabulary = Vocabulary.of(inputs)
    parses = [each.parse for each in examples]
    graphs = _begun(parses, vectors.shape[1], random_seed)
    network = train_network(
        vectors,
        vocabulary.numbers(inputs),
        relation,
        prototypes.discriminants(texts, reverse).score(vectors),
        taken_over(prototypes, texts, reverse),
        term_count=len(vocabulary.terms),
        random=np.random.default_rng(random_seed),
        graphs=None if graphs is None else (graphs.encoder, batch_of(parses, graphs.labels)),
    )
    notes = {"examples": len(examples), "random_seed": random_seed}
    if graphs is not None:
        notes["parses"] = sum(parse is not None for parse in parses)
    return RankerWeights(
        prototypes,
        network,
        vocabulary,
        encoder.name,
        data_hash(examples),
        tuple(keys),
        notes,
        graphs,
    )


def _begun(parses: Sequence[Parse | None], d: int, random_seed: int) -> GraphReader | None:
    """What reads parses, before training; None where there is none.

    It draws from a generator of its own, so that a ranker without parses stays what it was.
    """
    there = [parse for parse in parses if parse is not None]
    if not there:
        return None
    labels = label_vocabulary(there)
    random = np.random.default_rng([abs(random_seed), 1])
    return GraphReader(labels, begin_encoder(d, len(labels), random))


def fit_prototypes(
    questions: Float32,
    relation: Int64,
    texts: Float32,
    reverse: Bool,
    /,
) -> Prototypes:
    """Returns the prototypes of questions with their relations.

    Args:
        questions: Vectors, float32 [questions, d].
        relation: Number of each question's relation in ``texts``; each occurs.
        texts: Vectors of the relations' texts, float32 [n, d].
        reverse: Direction of each, bool [n].
    """
    exact = questions.astype(np.float64)
    counts = np.bincount(relation, minlength=len(texts))
    sums = np.zeros((len(texts), exact.shape[1]))
    np.add.at(sums, relation, exact)
    own = sums / counts[:, None]
    scatter = exact - own[relation]
    covariance = scatter.T @ scatter / len(exact)
    size = max(float(np.trace(covariance)) / len(covariance), 1e-9)
    precision = size * np.linalg.inv(covariance + SCATTER * size * np.eye(len(covariance)))
    centre = texts.astype(np.float64).mean(axis=0)
    centre_mean = own.mean(axis=0)
    means = np.stack(
        [own[reverse == side].mean(axis=0) if (reverse == side).any() else centre_mean
         for side in (False, True)]
    )  # fmt: skip
    prototypes = Prototypes(
        texts,
        reverse,
        centre.astype(np.float32),
        means.astype(np.float32),
        np.zeros_like(texts),
        precision.astype(np.float32),
    )
    # A mean of few questions is known less well: it may be missed by more.
    kernel = prototypes.similarity(texts, reverse) + np.diag(1.0 / counts)
    residuals = np.linalg.solve(kernel, own - prototypes.predicted(texts, reverse))
    return Prototypes(
        prototypes.texts,
        prototypes.reverse,
        prototypes.centre,
        prototypes.means,
        residuals.astype(np.float32),
        prototypes.precision,
    )
