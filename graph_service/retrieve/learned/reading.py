"""Ranking by a model that reads the question beside each of the best candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np

from graph_service.embed.cross_encoder import (
    CrossEncoder,
    CrossWeights,
    decode_cross_weights,
)
from graph_service.embed.multilingual import MultilingualEmbedder
from graph_service.embed.protocol import Embedder
from graph_service.embed.transformer import TransformerEmbedder
from graph_service.model.graph import Float64, Int64
from graph_service.retrieve.learned.confidence import AnswerConfidence
from graph_service.retrieve.learned.network import SCORE_DIGITS
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import NetworkRanker

_WEIGHTS = "cross_encoder.npz"
_BELOW_FLOOR = 0.4
"""What the scores of the cross-encoder count for below its floor: of a question like none that it
knows it still tells lines apart, and less surely.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ReadingRanker:
    """Ranks as the networks do, and adds what a cross-encoder scores the lines of the best.

    Attributes:
        networks: Orders all candidates.
        encoder: Reads the question beside the lines of at most ``preset.max_read`` of them, whose
            scores are within ``preset.read_gap`` of the best.
        is_foreign: Tells of a question less the name in it that the cross-encoder does not read its
            language; None where the embedder reads English alone.
    """

    networks: NetworkRanker
    encoder: CrossEncoder
    is_foreign: Callable[[str], bool] | None = None

    @property
    def calibration(self) -> AnswerConfidence:
        """The weights that tell how probably the first answer is right."""
        return self.networks.calibration

    @property
    def name(self) -> str:
        """The networks' name, and the hash of what the cross-encoder was trained on."""
        return f"{self.networks.name}, read by {self.encoder.data[:8]}"

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns the best candidates and their scores.

        What is not read stands as if it were read as the worst of those that are. Where none of
        those near the best fits, the next are read too.
        """
        finalists, score = self.networks.rank(reader, most)
        preset = reader.preset
        if not preset.read_weight:
            return finalists, score
        if self.is_foreign is not None and self.is_foreign(reader.unnamed_question):
            # Unread, it is as sure as if it had been read and nothing fitted.
            return replace(finalists, read_scores=np.full(len(score), preset.read_floor)), score
        best = np.lexsort((finalists.numbers, -score))[: preset.max_read]
        is_near = score[best] >= score[best[0]] - preset.read_gap
        gain = np.full(len(score), np.nan)
        self._read(reader, finalists, best[is_near], gain)
        if np.nanmax(gain) < preset.read_floor:
            self._read(reader, finalists, best[~is_near], gain)
        gain[np.isnan(gain)] = np.nanmin(gain)
        reader.note_stage("reading")
        known = np.maximum(gain, preset.read_floor)
        total = score + preset.read_weight * (known + _BELOW_FLOOR * (gain - known))
        return replace(finalists, read_scores=known), np.round(total, SCORE_DIGITS)

    def _read(
        self, reader: QuestionReader, finalists: Finalists, rows: Int64, gain: Float64, /
    ) -> None:
        """Writes what the cross-encoder scores some of the finalists to their rows."""
        if len(rows):
            gain[rows] = self.encoder.scores(reader.question, reader.lines(finalists.numbers[rows]))


def with_reading(networks: NetworkRanker, embedder: Embedder, /) -> NetworkRanker | ReadingRanker:
    """Returns networks with the cross-encoder that ships, or alone where it fits another embedder."""
    encoder = cross_encoder_of(embedder)
    if encoder is None:
        return networks
    if isinstance(embedder, MultilingualEmbedder):
        return ReadingRanker(networks, encoder, is_foreign=embedder.is_foreign)
    return ReadingRanker(networks, encoder)


def cross_encoder_of(embedder: Embedder, /) -> CrossEncoder | None:
    """Returns the cross-encoder that ships on an embedder's layers; None where it fits another."""
    weights = shipped_cross_weights()
    if isinstance(embedder, MultilingualEmbedder):
        embedder = embedder.english
    if not isinstance(embedder, TransformerEmbedder) or embedder.name != weights.embedder:
        return None
    return embedder.derived(_on_layers)


def _on_layers(embedder: TransformerEmbedder) -> CrossEncoder:
    return CrossEncoder(embedder, shipped_cross_weights())


@cache
def shipped_cross_weights() -> CrossWeights:
    """Returns the weights of the cross-encoder that come with the package."""
    return decode_cross_weights(files(__package__).joinpath(_WEIGHTS).read_bytes())
