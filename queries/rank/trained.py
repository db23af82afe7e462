"""The trained ranker: prototypes for any relation, corrected for those that it knows (L5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graph_service.errors import InputError
from graph_service.model.identity import digest
from queries.rank.network import Network, train_network
from queries.rank.prototypes import Discriminants, Prototypes
from queries.rank.ranker import (
    Bool,
    Float32,
    Float64,
    RankedRelation,
    SignedRelation,
    TextEncoder,
    in_order,
)
from queries.rank.words import Vocabulary

NETWORK_LIKENESS = 8
"""Power of the cosine by which corrections are taken over, in one direction alone."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question, its relation, and the text of its entity where it is known."""

    question: str
    relation: SignedRelation
    entity: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class RelationSide:
    """All that a score takes from the relations.

    Attributes:
        discriminants: Of the prototypes.
        taken_over: How much of each trained relation's correction, [relations, trained].
    """

    discriminants: Discriminants
    taken_over: Float64


@dataclass(frozen=True, slots=True, eq=False)
class RankerWeights:
    """All that was learned.

    Attributes:
        embedder: Name of the embedder whose vectors it reads; no other will do.
        data: Hash of the examples, 32 hexadecimal digits.
        relations: Signed ids of the trained relations, in order of number; for people alone.
        notes: How it was trained: examples, random seed, seconds.
    """

    prototypes: Prototypes
    network: Network
    vocabulary: Vocabulary
    embedder: str
    data: str
    relations: tuple[str, ...]
    notes: Mapping[str, Any] = field(default_factory=dict)

    def side_of(self, relations: Sequence[SignedRelation], encoder: TextEncoder, /) -> RelationSide:
        """Returns what questions are scored by, for these relations."""
        texts = encoder.encode([relation.text for relation in relations])
        reverse = np.array([relation.reverse for relation in relations], dtype=np.bool_)
        return RelationSide(
            self.prototypes.discriminants(texts, reverse),
            _taken_over(self.prototypes, texts, reverse),
        )

    def scores(
        self,
        questions: Sequence[tuple[str, str]],
        side: RelationSide,
        encoder: TextEncoder,
        /,
    ) -> Float64:
        """Returns scores by ``(question, entity's text)``, [questions, relations]."""
        asked = encoder.encode([question for question, _ in questions])
        corrections = self.network.corrections(asked, self.vocabulary.numbers(questions))
        scores: Float64 = side.discriminants.score(asked)
        scores += corrections.astype(np.float64) @ side.taken_over.T
        return scores


class TrainedRanker:
    """Ranks by what was trained.

    Args:
        weights: From ``train_ranker`` or a file.
        encoder: The embedder that it was trained with.

    Raises:
        InputError: The embedder is another one.
    """

    def __init__(self, weights: RankerWeights, encoder: TextEncoder, /) -> None:
        if weights.embedder != encoder.name:
            raise InputError(
                f"the ranker was trained on vectors of {weights.embedder}; the embedder is "
                f"{encoder.name}",
                argument="ranker",
                hint="Set GRAPH_SERVICE_EMBEDDER to that one, or train the ranker anew.",
            )
        self._weights = weights
        self._encoder = encoder
        self._side: tuple[tuple[SignedRelation, ...], RelationSide] | None = None
        self.name = f"trained {weights.data[:8]} on {weights.embedder}"

    def rank(
        self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
    ) -> tuple[RankedRelation, ...]:
        """Returns all relations by their scores; differences are those of log-likelihoods."""
        if not relations:
            return ()
        asked = tuple(relations)
        held = self._side
        # Questions about one entity, and measurements, rank the same relations again.
        if held is None or held[0] != asked:
            held = (asked, self._weights.side_of(asked, self._encoder))
            self._side = held
        scores = self._weights.scores([(question, entity)], held[1], self._encoder)
        return in_order(relations, scores[0])


def _taken_over(
    prototypes: Prototypes,
    texts: Float32,
    reverse: Bool,
) -> Float64:
    cosines = np.maximum(texts.astype(np.float64) @ prototypes.texts.T.astype(np.float64), 0.0)
    same = reverse[:, None] == prototypes.reverse[None]
    taken: Float64 = np.where(same, cosines**NETWORK_LIKENESS, 0.0)
    return taken


def data_hash(examples: Sequence[Example], /) -> str:
    """Returns 32 hexadecimal digits of all examples, in any order."""
    rows = sorted(
        "\x1f".join((each.question, each.entity, each.relation.key, each.relation.words))
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
    asked = [(each.question, each.entity) for each in examples]
    relation = np.array([number[each.relation.key] for each in examples], dtype=np.int64)
    reverse = np.array([relations[key].reverse for key in keys], dtype=np.bool_)
    distinct = list(dict.fromkeys(each.question for each in examples))
    place = {text: i for i, text in enumerate(distinct)}
    vectors = encoder.encode(distinct)[[place[text] for text, _ in asked]]
    texts = encoder.encode([relations[key].text for key in keys])
    prototypes = Prototypes.fit(vectors, relation, texts, reverse)
    vocabulary = Vocabulary.of(asked)
    network = train_network(
        vectors,
        vocabulary.numbers(asked),
        relation,
        prototypes.discriminants(texts, reverse).score(vectors),
        _taken_over(prototypes, texts, reverse),
        term_count=len(vocabulary.terms),
        random=np.random.default_rng(random_seed),
    )
    return RankerWeights(
        prototypes,
        network,
        vocabulary,
        encoder.name,
        data_hash(examples),
        tuple(keys),
        {"examples": len(examples), "random_seed": random_seed},
    )
