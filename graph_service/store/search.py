"""Search by name: what both engines index, and the one ranking of what they find.

An engine only finds *candidates*: entities whose indexed text has every token of the query.
Whether a single name has them all, and which entity comes first, is settled here, so that the
file and Neo4j give the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph_service.errors import InputError
from graph_service.model.entity_names import entity_names
from graph_service.model.identity import key64
from graph_service.model.result import SearchHit
from graph_service.model.statement import Entity, EntityKind
from graph_service.text.fold import (
    index_tokens,
    is_unspaced,
    normalise_name,
    query_tokens,
)

CANDIDATE_LIMIT = 2_000
"""Most candidates that an engine hands over for one query, those of the smallest keys first.

Entities named exactly like the query are asked for separately, so a common word never hides them.
"""

MAX_TOKEN_CHARACTERS = 200
"""Longer tokens are cut when indexed: Lucene splits at 255 characters, FTS5 at 32 KiB."""

MAX_QUERY_CHARACTERS = 1_000

MIN_PREFIX_CHARACTERS = 2
"""An engine looks for no shorter beginning of a word: too many words of a large graph have it."""

EXACT_SCORE = 0.9
"""Score of an alias that is the query; a label has 1, all that only hold it less."""

_EXACT_MARK = "xname"


def exact_term(name: str, /) -> str:
    """Returns the one indexed token that stands for a whole normalised name.

    >>> exact_term("Saint-Étienne") == exact_term("saint  etienne")
    True
    """
    return _term_of_key(key64(normalise_name(name)))


def _term_of_key(name_key: int) -> str:
    return f"{_EXACT_MARK}{name_key & (2**64 - 1):016x}"


@dataclass(frozen=True, slots=True)
class IndexedNames:
    """What is indexed of an entity's names.

    Attributes:
        text: For an engine: tokens joined by spaces, each once, of all languages, labels and
            aliases, and one ``exact_term`` for each name; "" for no name.
        keys: For ``NameIndex``: ``(key64 of the normalised name, is alias)`` for each name; none
            for properties.
        longest: The most words of a name in ``keys``; 0 for none.
    """

    text: str
    keys: list[tuple[int, bool]]
    longest: int


_NAMELESS = IndexedNames("", [], 0)


def indexed_names(entity: Entity, /) -> IndexedNames:
    """Returns what is indexed of an entity's names; nothing of a redirect."""
    names = entity_names(entity)
    if not names:
        return _NAMELESS
    tokens: dict[str, None] = {}
    keys: list[tuple[int, bool]] = []
    longest = 0
    for _, name, is_alias in names:
        name_tokens = index_tokens(name)
        if not name_tokens:
            continue
        normal = normalise_name(name)
        key = key64(normal)
        for token in name_tokens:
            tokens[token[:MAX_TOKEN_CHARACTERS]] = None
        tokens[_term_of_key(key)] = None
        keys.append((key, is_alias))
        longest = max(longest, normal.count(" ") + 1)
    text = " ".join(tokens)
    if entity.kind is EntityKind.PROPERTY:
        return IndexedNames(text, [], 0)
    return IndexedNames(text, keys, longest)


def name_keys(entity: Entity, /) -> tuple[list[tuple[int, bool]], int]:
    """Returns ``keys`` and ``longest`` of ``indexed_names``, for where the text is not needed."""
    if entity.kind is EntityKind.PROPERTY:
        return [], 0
    keys: list[tuple[int, bool]] = []
    longest = 0
    for _, name, is_alias in entity_names(entity):
        normal = normalise_name(name)
        if normal:
            keys.append((key64(normal), is_alias))
            longest = max(longest, normal.count(" ") + 1)
    return keys, longest


def query_terms(query: str, /) -> list[str]:
    """Returns the tokens that a candidate's indexed text must all have; none finds nothing.

    Raises:
        InputError: The query has over 1,000 characters.
    """
    if len(query) > MAX_QUERY_CHARACTERS:
        raise InputError(
            f"a search takes at most {MAX_QUERY_CHARACTERS} characters, got {len(query)}",
            argument="query",
        )
    return list(dict.fromkeys(token[:MAX_TOKEN_CHARACTERS] for token in query_tokens(query)))


@dataclass(frozen=True, slots=True)
class TokenQuery:
    """What the indexed text of a candidate must have.

    Attributes:
        tokens: All of these.
        begins: And one token that begins so; "" for no further token.
    """

    tokens: tuple[str, ...]
    begins: str = ""


def token_queries(query: str, /, *, prefix: bool) -> list[TokenQuery]:
    """Returns what candidates of a query may have: any of these makes one.

    Each is asked for by itself, so that words that many names have, and the many words that begin
    as the last one does, hide no entity that is named exactly like the query.

    Args:
        query: What the person typed.
        prefix: Whether its last word may be the beginning of one.

    Raises:
        InputError: The query has over 1,000 characters.
    """
    terms = query_terms(query)
    if not terms:
        return []
    queries = [TokenQuery((exact_term(query),)), TokenQuery(tuple(terms))]
    begun = begun_word(query) if prefix else ""
    if begun:
        others = tuple(term for term in terms if term != begun)
        # A single letter narrows what the other words find, and is no work for an engine.
        queries.append(TokenQuery(others, begun if len(begun) >= MIN_PREFIX_CHARACTERS else ""))
    return queries


def are_enough(named: Sequence[Entity], query: str, /, *, limit: int) -> bool:
    """Returns whether nothing but some entities is looked at, for they have the query as a name.

    What only holds its words comes after them (``rank_hits``). In a large graph that is a
    thousand entities of a common word, whose names take most of a search's time.

    Args:
        named: Candidates of the first of ``token_queries``, fewer than ``CANDIDATE_LIMIT``.
        query: What the person typed.
        limit: Most hits.
    """
    hits = rank_hits(named, query, limit=limit) if 1 <= limit <= len(named) else []
    return len(hits) == limit > 0 and all(hit.score >= EXACT_SCORE for hit in hits)


def begun_word(query: str, /) -> str:
    """Returns the last word of a query, where it may be the beginning of one; "" where not.

    No beginning is a single letter without other words, and a word in a script without spaces:
    each of its characters is indexed by itself. The tokens that stand for whole names begin like
    some words, and are so many that such a word is looked for as it is.

    >>> begun_word("Alfred Hitchc"), begun_word("new y"), begun_word("y"), begun_word("xn")
    ('hitchc', 'y', '', '')
    """
    tokens = index_tokens(query)
    last = tokens[-1] if tokens else ""
    if (
        not last
        or is_unspaced(last)
        or len(last) > MAX_TOKEN_CHARACTERS
        or (len(last) < MIN_PREFIX_CHARACTERS and not set(tokens) - {last})
        or (len(last) > 1 and (_EXACT_MARK.startswith(last) or last.startswith(_EXACT_MARK)))
    ):
        return ""
    return last


def rank_hits(
    entities: Iterable[Entity],
    query: str,
    /,
    *,
    languages: Sequence[str] = (),
    limit: int = 10,
    prefix: bool = False,
) -> list[SearchHit]:
    """Returns the entities that have a name with every token of the query, best first.

    Order: a name equal to the query once both are normalised; a label before an alias; fewer
    tokens beyond the query's; an earlier language (those asked for, then ``mul``, ``en`` and the
    others by tag); the id. Of an entity's names the best one counts.

    Args:
        entities: Candidates, in any order; repeats are ignored.
        query: What the person typed.
        languages: Languages in order of preference; they rank and leave nothing out.
        limit: Most hits, at least 1.
        prefix: Whether the last word may be the beginning of one. The word of a name that it
            begins counts as the query's.

    Returns:
        Hits with a score that falls with the first three criteria: 1 and 0.9 for a label and an
        alias equal to the query; 0.5 to 0.8 and 0.1 to 0.4 for a label and an alias that hold it.
    """
    if limit < 1:
        raise InputError(f"limit must be at least 1, got {limit}", argument="limit")
    required = set(query_tokens(query))
    if not required:
        return []
    begun = begun_word(query) if prefix else ""
    required.discard(begun)
    indexed = set(index_tokens(query))
    exact_name = normalise_name(query)
    ranks = {tag: rank for rank, tag in enumerate(dict.fromkeys([*languages, "mul", "en"]))}
    ranked: dict[str, tuple[tuple[object, ...], SearchHit]] = {}
    for entity in entities:
        if entity.id in ranked:
            continue
        best: tuple[tuple[bool, bool, int, int, str, str], float] | None = None
        for language, name, is_alias in entity_names(entity):
            tokens = set(index_tokens(name))
            if not required <= tokens:
                continue
            if begun and not any(token.startswith(begun) for token in tokens - required):
                continue
            extra = len(tokens - indexed) - (begun != "" and begun not in tokens)
            inexact = normalise_name(name) != exact_name
            rank = ranks.get(language, len(ranks))
            order = (inexact, is_alias, extra, rank, language, name)
            if best is None or order < best[0]:
                share = len(indexed) / (len(indexed) + extra)
                score = (
                    (0.1 if is_alias else 0.5) + 0.3 * share
                    if inexact
                    else (EXACT_SCORE if is_alias else 1.0)
                )
                best = (order, score)
        if best is not None:
            (inexact, is_alias, extra, rank, language, name), score = best
            hit = SearchHit(entity, name, language, is_alias, score)
            order_of_hit = (inexact, is_alias, extra, rank, language, entity.id)
            ranked[entity.id] = (order_of_hit, hit)
    return [hit for _, hit in sorted(ranked.values(), key=lambda pair: pair[0])][:limit]
