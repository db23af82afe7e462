"""Passages: short pieces of text beside a graph, and what a search for them returns (L6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from graph_service.model.identity import digest
from graph_service.model.limits import Cut

MAX_PASSAGE_WORDS = 100
"""Words of a passage at most, as LTGen has them."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document.

    Attributes:
        id: 32 hexadecimal digits, made of title, source and text: the same piece has the same id
            in every store.
        title: Title of its document; "" for none.
        source: Where the document is from: a URL or the name of a file.
        text: Words with one space between them.
        entity: Id of the entity that the document is about; None where none was found.
    """

    id: str
    title: str
    source: str
    text: str
    entity: str | None = None


def make_passage(
    text: str, /, *, title: str = "", source: str = "", entity: str | None = None
) -> Passage:
    """Returns a passage with the id of its content.

    >>> make_passage("Rome is old.", title="Rome").id == make_passage("Rome is old.").id
    False
    """
    id_ = digest((title, source, text), person=b"passage").hex()
    return Passage(id_, title, source, text, entity)


class PassageRanking(StrEnum):
    """By what passages are found."""

    WORDS = "words"
    VECTORS = "vectors"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage that was found.

    Attributes:
        score: What it is ranked by, 0 to 1 (a cosine may be below).
        word_score: Its BM25 as a share of the most that a passage could have; None where words
            were not asked for.
        vector_score: Cosine with the query; None where vectors were not asked for, or it has none.
        entity_label: Label of its entity.
    """

    passage: Passage
    score: float
    word_score: float | None = None
    vector_score: float | None = None
    entity_label: str | None = None


@dataclass(frozen=True, slots=True)
class PassagesResult:
    """Passages for a query, best first, and where they came from (S8).

    Attributes:
        id: Hash of the query, its parameters, the passages searched and the items found.
        items: At most ``k``.
        searched: How many passages there were.
        fingerprint: Of all the passages searched, in whatever order they were loaded.
        truncated: What a limit left out.
        embedder: Model of the vectors; None where words alone were asked for.
        timings_ms: Milliseconds a stage; not part of ``id``.
    """

    id: str
    query: str
    graph: str
    by: PassageRanking
    k: int
    min_score: float | None
    items: tuple[ScoredPassage, ...]
    searched: int
    fingerprint: str
    embedder: str | None
    version: str
    truncated: tuple[Cut, ...] = ()
    timings_ms: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ClientPassageSet:
    """What one load of one source brought; ``published_at`` is None until readers see it."""

    source: str
    published: bool
    passages: int
    words: int
    linked: int
    fingerprint: str
    options: Mapping[str, Any]
    report: Mapping[str, Any]
    started_at: str
    published_at: str | None
