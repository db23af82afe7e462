"""Passages beside a graph: the protocol of their store, and the one ranking by words.

Passages belong to a graph by its name, not to an edition: a newer edition keeps them, and the
graph takes them along when it is deleted. What one load of one source brings is a *set*. Readers
see published sets alone; a set of a source that is loaded again takes the place of the earlier
one at the moment it is published.

The engines only say which passages hold a word (FTS5, Neo4j's full-text index, both over the
output of our own tokeniser), and in how many a word stands. Which comes first is settled here, by
BM25, so that both stores find the same passages in the same order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from graph_service.errors import InputError, KeyCollisionError
from graph_service.model.identity import check_text, digest, key64
from graph_service.model.limits import Deadline
from graph_service.model.passage import Passage
from graph_service.store.search import MAX_TOKEN_CHARACTERS
from graph_service.text.fold import index_tokens

MATCH_LIMIT = 5_000
"""Most passages that are ranked by words for one query."""

MAX_BATCH_PASSAGES = 5_000
# BM25's two constants, as usual for passages of one length.
_K1, _B = 0.9, 0.4
_DIGITS = 5


@dataclass(frozen=True, slots=True)
class PassageSet:
    """What one load of one source brought.

    Attributes:
        number: Of the set; never used twice in a store.
        published: Whether readers see it; else it is being loaded, or was left by a load that
            died.
        passages, words: How many; ``words`` counts the tokens that are searched.
        linked: Passages that have an entity.
        fingerprint: Of passages and entities, in whatever order they came; "" until published.
        options: What the loader was told.
        report: What the loader said at the end.
        owner: Who loads it.
        started_at, published_at: ISO 8601, UTC; ``published_at`` is "" until then.
    """

    number: int
    graph: str
    source: str
    published: bool
    passages: int
    words: int
    linked: int
    fingerprint: str
    options: Mapping[str, Any]
    report: Mapping[str, Any]
    owner: str
    started_at: str
    published_at: str


class PassageSession(Protocol):
    """One load of passages under way; a context manager.

    Leaving the block keeps what is in and lets the same ``begin`` go on with it.
    """

    @property
    def number(self) -> int:
        """The number of the set being written."""

    @property
    def checkpoint(self) -> Mapping[str, Any] | None:
        """What the last ``write`` was given, where this load resumes another."""

    def write(self, passages: Sequence[Passage], /, *, checkpoint: Mapping[str, Any]) -> None:
        """Writes at most 5,000 passages and the checkpoint in one transaction; renews the lease.

        A passage that the set has already is left alone, so that writing again is harmless.

        Raises:
            InputError: Text that no store can hold.
            KeyCollisionError: Two passages have one key.
            LoadInProgressError: Another load has taken this one over.
        """

    def publish(self, *, report: Mapping[str, Any] | None = None) -> PassageSet:
        """Makes the set visible, in place of an earlier one of the same source."""

    def abort(self) -> None:
        """Deletes the unfinished set of passages."""

    def __enter__(self) -> Self:
        """Returns the session, whose lease ends with the block."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        """Gives the lease back, so that the load can be resumed."""


@dataclass(frozen=True, slots=True)
class PassageAddress:
    """Where a passage lies: its set and its key, ``key64`` of its id."""

    number: int
    key: int


@dataclass(frozen=True, slots=True)
class PassageMatch:
    """A passage that holds a word of a query; ``words`` are its tokens, joined by spaces."""

    address: PassageAddress
    words: str


@dataclass(frozen=True, slots=True)
class WordMatches:
    """The passages that hold words of a query.

    Attributes:
        passages, words: Of all the sets searched.
        frequencies: In how many passages each word of the query stands; none is left out.
        matches: In order of key.
        complete: Whether these are all passages with a word of the query.
    """

    passages: int
    words: int
    frequencies: Mapping[str, int]
    matches: tuple[PassageMatch, ...]
    complete: bool


class Passages(Protocol):
    """The passages of a store's graphs."""

    def begin(
        self,
        graph: str,
        /,
        *,
        source: str,
        options: Mapping[str, Any],
        owner: str,
        lease_s: float = 60.0,
    ) -> PassageSession:
        """Begins a set, or goes on with the one that was left with the same source and options.

        Raises:
            LoadInProgressError: Another owner is loading this source.
        """

    def sets(self, *, graph: str | None = None) -> list[PassageSet]:
        """Returns the sets, unpublished ones too, in order of their numbers."""

    def scan(self, number: int, /) -> Iterator[list[Passage]]:
        """Yields the passages of a set in chunks, in order of key."""

    def match(
        self, sets: Sequence[PassageSet], terms: Sequence[str], /, *, deadline: Deadline
    ) -> WordMatches:
        """Returns the passages of some published sets that hold words of a query."""

    def read(self, addresses: Sequence[PassageAddress], /) -> dict[PassageAddress, Passage]:
        """Returns passages by their address; those that are gone are absent."""

    def delete(self, graph: str, /, *, source: str | None = None) -> int:
        """Deletes the sets of a graph, or of one source; returns how many passages went.

        Raises:
            LoadInProgressError: One of them is being loaded.
        """


def passage_words(passage: Passage, /) -> list[str]:
    """Returns the tokens under which a passage is found, repeats included: title, then text."""
    return [
        token[:MAX_TOKEN_CHARACTERS]
        for token in (*index_tokens(passage.title), *index_tokens(passage.text))
    ]


def embedded_text(passage: Passage, /) -> str:
    """Returns the text whose vector stands for a passage."""
    return f"{passage.title}. {passage.text}" if passage.title else passage.text


def passage_hash(passage: Passage, /) -> bytes:
    """Returns the 16 bytes that a passage adds to the fingerprint of its set."""
    return digest((passage.id, passage.entity or ""), person=b"passage-set")


def check_passages(passages: Sequence[Passage], /) -> dict[int, Passage]:
    """Returns a batch by key, each passage once.

    Raises:
        InputError: The batch is too large, or holds text that no store can hold.
        KeyCollisionError: Two of them have one key.
    """
    if len(passages) > MAX_BATCH_PASSAGES:
        raise InputError(f"a batch has at most {MAX_BATCH_PASSAGES} passages, got {len(passages)}")
    by_key: dict[int, Passage] = {}
    for passage in passages:
        for text in (passage.title, passage.source, passage.text, passage.entity or ""):
            check_text(text, what="a passage")
        known = by_key.setdefault(key64(passage.id), passage)
        if known.id != passage.id:
            raise passage_collision(known.id, passage.id)
    return by_key


def passage_collision(known: str, new: str, /) -> KeyCollisionError:
    """Returns the error for two passages of one key."""
    return KeyCollisionError(f"passages {known} and {new} have the same 64-bit key")


def choose_terms(frequencies: Mapping[str, int], /) -> tuple[list[str], bool]:
    """Returns the words by which candidates are looked for, and whether these are all.

    The rarest first, as long as they stand in at most 5,000 passages together: a word that is
    nearly everywhere says little, and still counts for the passages that the others find.
    """
    present = sorted((count, term) for term, count in frequencies.items() if count)
    chosen: list[str] = []
    total = 0
    for count, term in present:
        if chosen and total + count > MATCH_LIMIT:
            break
        chosen.append(term)
        total += count
    return chosen, len(chosen) == len(present) and total <= MATCH_LIMIT


def find_matches(
    sets: Sequence[PassageSet],
    terms: Sequence[str],
    /,
    *,
    count: Callable[[str], int],
    find: Callable[[Sequence[str], int], Sequence[PassageMatch]],
) -> WordMatches:
    """Returns the matches of a query from an engine's two primitives.

    Args:
        sets: The sets searched.
        terms: Tokens of the query.
        count: Gives the number of passages that hold a token.
        find: Gives the passages that hold one of some tokens, those of the smallest keys, at
            most as many as asked for, in order of key and set.
    """
    frequencies = {term: count(term) for term in terms}
    chosen, complete = choose_terms(frequencies)
    return WordMatches(
        passages=sum(passage_set.passages for passage_set in sets),
        words=sum(passage_set.words for passage_set in sets),
        frequencies=frequencies,
        matches=tuple(find(chosen, MATCH_LIMIT)) if chosen else (),
        complete=complete,
    )


def word_scores(matches: WordMatches, /) -> dict[PassageAddress, float]:
    """Returns for each match its BM25 as a share of the most that any passage could have.

    0 to 1, rounded to 1e-5. The share makes scores of different queries comparable: 1 would be a
    passage of nothing but the query's words.

    >>> from graph_service.store.passages import PassageAddress, PassageMatch, WordMatches
    >>> address = PassageAddress(1, 7)
    >>> found = WordMatches(2, 6, {"rome": 1}, (PassageMatch(address, "rome is old"),), True)
    >>> word_scores(found)[address]
    0.52632
    """
    total = matches.passages
    weights = {
        term: math.log(1.0 + (total - count + 0.5) / (count + 0.5))
        for term, count in matches.frequencies.items()
    }
    most = sum(weights.values()) * (_K1 + 1.0)
    if most <= 0.0:
        return {}
    mean = matches.words / max(1, total) or 1.0
    scores: dict[PassageAddress, float] = {}
    for match in matches.matches:
        counts = Counter(match.words.split())
        damping = _K1 * (1.0 - _B + _B * counts.total() / mean)
        score = math.fsum(
            weight * counts[term] * (_K1 + 1.0) / (counts[term] + damping)
            for term, weight in weights.items()
            if term in counts
        )
        scores[match.address] = round(score / most, _DIGITS)
    return scores
