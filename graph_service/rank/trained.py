"""The trained ranker: prototypes for any relation, corrected for those that it knows (L5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graph_service.byte_budget import held_bytes
from graph_service.errors import InputError
from graph_service.model.ranking import (
    Bool,
    Float32,
    Float64,
    RankedRelation,
    SignedRelation,
    TextEncoder,
    encode_queries,
    in_order,
)
from graph_service.rank.graph_encoder import GraphEncoder
from graph_service.rank.neural_head import Network, length
from graph_service.rank.parses import Parse, batch_of
from graph_service.rank.prototypes import Discriminants, Prototypes
from graph_service.rank.words import Vocabulary

NETWORK_SIMILARITY_POWER = 8
"""Power of the cosine by which corrections are taken over, in one direction alone."""
_MAX_ROWS = 10_000
_ROW_BYTES = 600
"""What a row holds beside its numbers: its text, and three arrays' headers."""
"""Relations of which is kept what scores take from them: some 40 MB."""
_Row = tuple[Float64, np.float64, Float64]


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
class GraphReader:
    """What a trained ranker reads AMR parses with: the labels that count, and the encoder."""

    labels: tuple[str, ...]
    encoder: GraphEncoder

    def joined(self, questions: Float32, parses: Sequence[Parse | None], /) -> Float64:
        """Returns what parses give the hidden layer, [questions, w].

        Args:
            questions: Vectors of the questions, [questions, d].
            parses: One a question, or None.
        """
        scaled = (questions * length(questions)).astype(np.float64)
        return self.encoder.joined(scaled, batch_of(parses, self.labels))


@dataclass(frozen=True, slots=True, eq=False)
class RankerWeights:
    """All that was learned.

    Attributes:
        embedder: Name of the embedder whose vectors it reads; no other will do.
        data: Hash of the examples, 32 hexadecimal digits.
        relations: Signed ids of the trained relations, in order of number; for people alone.
        notes: How it was trained: examples, random seed, seconds.
        graphs: What reads AMR parses; None where it was trained without any.
    """

    prototypes: Prototypes
    network: Network
    vocabulary: Vocabulary
    embedder: str
    data: str
    relations: tuple[str, ...]
    notes: Mapping[str, Any] = field(default_factory=dict)
    graphs: GraphReader | None = None

    def side_of(self, relations: Sequence[SignedRelation], encoder: TextEncoder, /) -> RelationSide:
        """Returns what questions are scored by, for these relations."""
        texts = encoder.encode([relation.text for relation in relations])
        reverse = np.array([relation.reverse for relation in relations], dtype=np.bool_)
        return RelationSide(
            self.prototypes.discriminants(texts, reverse),
            taken_over(self.prototypes, texts, reverse),
        )

    def scores(
        self,
        questions: Sequence[tuple[str, str]],
        side: RelationSide,
        encoder: TextEncoder,
        /,
        *,
        parses: Sequence[Parse | None] = (),
    ) -> Float64:
        """Returns scores by ``(question, entity's text)``, [questions, relations].

        A parse of each question may be given; a ranker trained without parses leaves them unread.
        """
        encoded = encode_queries(encoder, [question for question, _ in questions])
        joined = None
        if self.graphs is not None and any(parse is not None for parse in parses):
            joined = self.graphs.joined(encoded, parses)
        corrections = self.network.corrections(
            encoded, self.vocabulary.numbers(questions), joined=joined
        )
        scores: Float64 = side.discriminants.score(encoded)
        scores += corrections @ side.taken_over.T
        return scores


class RelationSides:
    """What scores take from relations, made once a relation and kept. Thread-safe.

    Args:
        weights: Of one ranker; the vectors must always be of its embedder.
    """

    def __init__(self, weights: RankerWeights, /) -> None:
        self.weights = weights
        self._rows: dict[str, _Row] = {}
        self._own_bytes = held_bytes(weights)

    def held_bytes(self) -> int:
        """Returns the bytes of the weights, and of what was made of relations so far."""
        rows = self._rows
        a_row = next((first.nbytes + last.nbytes for first, _, last in rows.values()), 0)
        return self._own_bytes + len(rows) * (a_row + _ROW_BYTES)

    def of(self, relations: Sequence[SignedRelation], encoder: TextEncoder, /) -> RelationSide:
        """Returns what questions are scored by, for these relations: one at least."""
        rows = self._rows
        new = {each.text: each for each in relations if each.text not in rows}
        if new:
            made = self.weights.side_of(list(new.values()), encoder)
            discriminants = made.discriminants
            columns = (discriminants.weights, discriminants.offsets, made.taken_over)
            # Another thread may have made the same: they are equal, so either will do.
            rows = {**rows, **dict(zip(new, zip(*columns, strict=True), strict=True))}
            self._rows = rows if len(rows) <= _MAX_ROWS else {}
        weights, offsets, taken = zip(*(rows[each.text] for each in relations), strict=True)
        return RelationSide(Discriminants(np.stack(weights), np.stack(offsets)), np.stack(taken))


class TrainedRanker:
    """Ranks by what was trained.

    Args:
        weights: From ``queries.rank.training`` or a file.
        encoder: The embedder that it was trained with.
        sides: Of these weights, where other rankers by them share what they make.
        parses: AMR parses by question, read where the ranker was trained with some.

    Raises:
        InputError: The embedder is another one.
    """

    def __init__(
        self,
        weights: RankerWeights,
        encoder: TextEncoder,
        /,
        *,
        sides: RelationSides | None = None,
        parses: Mapping[str, Parse] | None = None,
    ) -> None:
        if weights.embedder != encoder.name:
            raise InputError(
                f"the ranker was trained on vectors of {weights.embedder}; the embedder is "
                f"{encoder.name}",
                argument="ranker",
                hint="Set GRAPH_SERVICE_EMBEDDER to that one, or train the ranker anew.",
            )
        self._weights = weights
        self._encoder = encoder
        self._sides = sides or RelationSides(weights)
        self._parses = parses or {}
        self.name = f"trained {weights.data[:8]} on {weights.embedder}"
        if self._parses:
            self.name += ", with AMR parses"

    def rank(
        self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
    ) -> tuple[RankedRelation, ...]:
        """Returns all relations by their scores; differences are those of log-likelihoods."""
        if not relations:
            return ()
        side = self._sides.of(relations, self._encoder)
        parses = (self._parses.get(question),)
        scores = self._weights.scores([(question, entity)], side, self._encoder, parses=parses)
        return in_order(relations, scores[0])


def taken_over(
    prototypes: Prototypes,
    texts: Float32,
    reverse: Bool,
    /,
) -> Float64:
    """Returns how much relations take over of each trained one's correction, [texts, trained].

    Args:
        prototypes: Of the trained relations.
        texts: Vectors of the relations' texts, float32 [texts, d].
        reverse: Direction of each, bool [texts].
    """
    cosines = np.maximum(texts.astype(np.float64) @ prototypes.texts.T.astype(np.float64), 0.0)
    same = reverse[:, None] == prototypes.reverse[None]
    taken: Float64 = np.where(same, cosines**NETWORK_SIMILARITY_POWER, 0.0)
    return taken
