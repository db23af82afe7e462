"""The seam of relation rankers: a question and one of its entities, and relations, best first.

A relation is signed: ``P50`` leads from the entity to values, ``-P50`` from values back to it. A
ranker is given relations as texts and keeps no list of classes, so that it ranks relations it never
saw. Implementations: by embedding and trained (``graph_service.rank``), and by a language model
(``queries.rank.prompted``). The trained one takes AMR parses by question, where there are any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from graph_service.errors import InputError
from graph_service.text.fold import name_of_id, relation_words

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


class TextEncoder(Protocol):
    """Turns texts into unit vectors; every embedder of the service is one."""

    @property
    def name(self) -> str:
        """The name and the revision of the model."""

    def encode(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), d]."""


@runtime_checkable
class QueryEncoder(Protocol):
    """An encoder that reads a question in another way than the texts it is compared with."""

    def encode_queries(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a question, float32 [len(texts), d]."""


def encode_queries(encoder: TextEncoder, texts: Sequence[str], /) -> Float32:
    """Returns the vectors of questions; most encoders read them as any text."""
    if isinstance(encoder, QueryEncoder):
        return encoder.encode_queries(texts)
    return encoder.encode(texts)


@dataclass(frozen=True, slots=True)
class Encoding:
    """Functions as a ``TextEncoder``: mostly of an embedder that keeps what it computed.

    Attributes:
        name: Model and revision.
        encode: Texts to unit vectors.
        of_queries: Questions to unit vectors; None where ``encode`` does.
    """

    name: str
    encode: Callable[[Sequence[str]], Float32]
    of_queries: Callable[[Sequence[str]], Float32] | None = None

    def encode_queries(self, texts: Sequence[str], /) -> Float32:
        """Returns one unit vector a question."""
        return (self.of_queries or self.encode)(texts)


@dataclass(frozen=True, slots=True)
class SignedRelation:
    """A relation in one of its directions.

    Attributes:
        id: The relation's id, without a sign.
        label: Its name; may be empty where none is known.
        reverse: Whether it leads from values to the entity.

    >>> SignedRelation("P50", "author", reverse=True).key
    '-P50'
    >>> SignedRelation("P50", "author").text, SignedRelation("P50", "author", reverse=True).text
    ('what is its author?', 'what has this as its author?')
    """

    id: str
    label: str = ""
    reverse: bool = False

    @property
    def key(self) -> str:
        """The id, with ``-`` before it where it is reversed."""
        return f"-{self.id}" if self.reverse else self.id

    @property
    def words(self) -> str:
        """Its name as words; the last part of the id where there is no name."""
        return relation_words(self.label) or name_of_id(self.id) or self.id

    @property
    def text(self) -> str:
        """The text that stands for it: the question that it answers, direction included."""
        opening = "what has this as its" if self.reverse else "what is its"
        return f"{opening} {self.words}?"


@dataclass(frozen=True, slots=True)
class RankedRelation:
    """A relation with its score; None where the ranker gives an order alone."""

    relation: SignedRelation
    score: float | None


class RelationRanker(Protocol):
    """Orders relations by how likely they answer a question about an entity."""

    @property
    def name(self) -> str:
        """What ranks, with its version; written down with what it ranked."""

    def rank(
        self, question: str, relations: Sequence[SignedRelation], /, *, entity: str = ""
    ) -> tuple[RankedRelation, ...]:
        """Returns all relations, best first.

        Args:
            question: The question, or a whole conversation.
            relations: Distinct; in any order.
            entity: The text of the entity whose relations they are, where it is known.
        """


def in_order(relations: Sequence[SignedRelation], scores: Float64, /) -> tuple[RankedRelation, ...]:
    """Returns relations by score, rounded to 1e-5; ties by id, forward first."""
    rounded = np.round(scores, 5) + 0.0
    order = sorted(
        range(len(relations)),
        key=lambda i: (-rounded[i], relations[i].id, relations[i].reverse),
    )
    return tuple(RankedRelation(relations[i], float(rounded[i])) for i in order)


def parse_signed(key: str, labels: dict[str, str], /) -> SignedRelation:
    """Returns the relation of a signed id; raises ``InputError`` for an empty one.

    >>> parse_signed("-P50", {"P50": "author"}).text
    'what has this as its author?'
    """
    id_ = key.removeprefix("-")
    if not id_:
        raise InputError(f"a signed relation such as P50 or -P50 was expected; {key!r} came")
    return SignedRelation(id_, labels.get(id_, ""), key.startswith("-"))
