"""Passages of a graph: found by words, by vectors or by both; linked to the graph's entities."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from urllib.parse import quote

import numpy as np
import orjson

from graph_service import __version__
from graph_service.byte_budget import ByteBudget, ByteCache, held_bytes
from graph_service.embed import Vectors
from graph_service.embed.cosines import cosine
from graph_service.embed.protocol import Float32
from graph_service.errors import InputError
from graph_service.link import link_title
from graph_service.model.graph import Bool, Int64, KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.model.identity import key64
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.passage import PassageRanking, PassagesResult, ScoredPassage
from graph_service.model.request import check_languages
from graph_service.observation import note_stages
from graph_service.service.graphs import Graphs
from graph_service.service.triples import entity_name
from graph_service.store.passages import (
    MATCH_LIMIT,
    PassageAddress,
    PassageSet,
    embedded_text,
    word_scores,
)
from graph_service.store.protocol import Store
from graph_service.store.search import query_terms

_DIGITS = 5


@dataclass(frozen=True, slots=True, eq=False)
class _SetVectors:
    """A set's vectors: keys int64 [n] ascending, vectors float32 [n, d], whether there is one."""

    keys: Int64
    vectors: Float32
    known: Bool


@dataclass(frozen=True, slots=True)
class EmbeddingProgress:
    """How many passages have a vector, of how many."""

    done: int
    total: int


class PassageSearch:
    """Searches the passages of a store. Safe to use from several threads."""

    def __init__(
        self, store: Store, /, *, vectors: Callable[[], Vectors], memory: ByteBudget
    ) -> None:
        self._store = store
        self._vectors = vectors
        self._cache: ByteCache[tuple[int, str], _SetVectors] = ByteCache(memory, "passages")
        self._reading = Lock()

    def search(
        self,
        info: GraphInfo,
        query: str,
        /,
        *,
        by: PassageRanking,
        k: int,
        min_score: float | None,
        languages: Sequence[str],
        deadline: Deadline,
    ) -> PassagesResult:
        """Returns the best passages of a graph; see ``Service.passages``."""
        timings: dict[str, float] = {}
        began = time.perf_counter()

        def stage(name: str) -> None:
            nonlocal began
            now = time.perf_counter()
            timings[name] = round((now - began) * 1000, 3)
            began = now

        sets = [
            passage_set
            for passage_set in self._store.passages.sets(graph=info.name)
            if passage_set.published
        ]
        stage("open")
        cuts: list[Cut] = []
        words: dict[PassageAddress, float] | None = None
        cosines: dict[PassageAddress, float] | None = None
        if by is not PassageRanking.VECTORS:
            words = self._by_words(sets, query, deadline, cuts)
            stage("words")
        if by is not PassageRanking.WORDS:
            # Of the passages that words found, each needs its cosine; of the others, the best do.
            cosines = self._by_vectors(sets, query, k, list(words or ()), deadline, cuts)
            stage("vectors")
        ranked = _ranked(words, cosines)
        if min_score is not None:
            ranked = [entry for entry in ranked if entry[1] >= min_score]
        chosen: dict[int, tuple[PassageAddress, float]] = {}
        for address, score in ranked:
            # One source may repeat another: the same passage is given once.
            if len(chosen) == k:
                break
            chosen.setdefault(address.key, (address, score))
        texts = self._store.passages.read([address for address, _ in chosen.values()])
        labels = self._labels(
            info,
            sorted({passage_set.entity for passage_set in texts.values() if passage_set.entity}),
            languages,
        )
        items = tuple(
            ScoredPassage(
                passage=texts[address],
                score=score,
                word_score=None if words is None else words.get(address, 0.0),
                vector_score=None if cosines is None else cosines.get(address),
                entity_label=labels.get(texts[address].entity or ""),
            )
            for address, score in chosen.values()
            if address in texts
        )
        stage("read")
        note_stages(timings)
        embedder = None if by is PassageRanking.WORDS else self._vectors().embedder.name
        fingerprint = joint_fingerprint(sets)
        content = [query, info.name, by.value, k, min_score, list(languages), fingerprint, embedder]
        hits = [[item.passage.id, item.passage.entity, item.score] for item in items]
        return PassagesResult(
            id=blake2b(orjson.dumps([*content, hits]), digest_size=16).hexdigest(),
            query=query,
            graph=info.name,
            by=by,
            k=k,
            min_score=min_score,
            items=items,
            searched=sum(passage_set.passages for passage_set in sets),
            fingerprint=fingerprint,
            embedder=embedder,
            version=__version__,
            truncated=tuple(cuts),
            timings_ms=timings,
        )

    def embed(
        self, name: str, /, *, progress: Callable[[EmbeddingProgress], None] | None = None
    ) -> int:
        """Computes the vectors that a graph's passages lack; returns how many passages have one.

        What is computed is kept as it comes, so that a call broken off loses nothing.
        """
        sets = [
            passage_set
            for passage_set in self._store.passages.sets(graph=name)
            if passage_set.published
        ]
        total = sum(passage_set.passages for passage_set in sets)
        done = 0
        for passage_set in sets:
            for chunk in self._store.passages.scan(passage_set.number):
                # In portions, so that progress is seen: a passage takes some 10 to 30 ms.
                for start in range(0, len(chunk), 128):
                    part = chunk[start : start + 128]
                    self._vectors().encode([embedded_text(item) for item in part])
                    done += len(part)
                    if progress is not None:
                        progress(EmbeddingProgress(done, total))
        return done

    def _by_words(
        self, sets: Sequence[PassageSet], query: str, deadline: Deadline, cuts: list[Cut]
    ) -> dict[PassageAddress, float]:
        terms = query_terms(query)
        if not terms or not sets:
            return {}
        matches = self._store.passages.match(sets, terms, deadline=deadline)
        if not matches.complete:
            cuts.append(
                Cut("passages", CutReason.WORK_BUDGET, float(MATCH_LIMIT), len(matches.matches))
            )
        return word_scores(matches)

    def _by_vectors(
        self,
        sets: Sequence[PassageSet],
        query: str,
        k: int,
        positions: Sequence[PassageAddress],
        deadline: Deadline,
        cuts: list[Cut],
    ) -> dict[PassageAddress, float]:
        """Returns the cosines of the best passages and of those that are wanted anyway."""
        vectors = self._vectors().queries
        vector = vectors.encode([query], deadline=deadline, transient=(query,))[0]
        cosines: dict[PassageAddress, float] = {}
        known = total = 0
        for passage_set in sets:
            held = self._set_vectors(passage_set, deadline)
            known += int(held.known.sum())
            total += len(held.keys)
            scores = cosine(held.vectors, vector)
            scores[~held.known] = -np.inf
            # As many as all sets together can give, for one set may repeat another.
            best = np.lexsort((held.keys, -scores))[: k * len(sets)]
            keys = np.array(
                [address.key for address in positions if address.number == passage_set.number]
            )
            rows = np.searchsorted(held.keys, keys) if len(keys) else np.array([], dtype=int)
            for address in {*best.tolist(), *rows.tolist()}:
                if address < len(held.keys) and held.known[address]:
                    cosines[PassageAddress(passage_set.number, int(held.keys[address]))] = float(
                        scores[address]
                    )
        if known < total:
            cuts.append(Cut("embedded", CutReason.DEADLINE, float(known), known, total))
        return cosines

    def _set_vectors(self, passage_set: PassageSet, deadline: Deadline) -> _SetVectors:
        vectors = self._vectors()
        key = (passage_set.number, passage_set.fingerprint)
        held = self._cache.get(key)
        if held is not None:
            return held
        # One at a time: two that compute the same vectors would only hinder each other.
        with self._reading:
            held = self._cache.get(key)
            if held is None:
                held = self._read_vectors(passage_set.number, vectors, deadline)
                if held.known.all():
                    self._cache.put(key, held, held_bytes(held))
        return held

    def _read_vectors(self, number: int, vectors: Vectors, deadline: Deadline) -> _SetVectors:
        keys, parts, known = [], [], []
        for chunk in self._store.passages.scan(number):
            some = vectors.encode_some([embedded_text(item) for item in chunk], deadline=deadline)
            keys.append(np.array([key64(item.id) for item in chunk], dtype=np.int64))
            parts.append(some.vectors)
            known.append(some.known)
        empty = np.zeros((0, vectors.embedder.dimension), dtype=np.float32)
        return _SetVectors(
            np.concatenate([np.zeros(0, dtype=np.int64), *keys]),
            np.concatenate([empty, *parts]),
            np.concatenate([np.zeros(0, dtype=np.bool_), *known]),
        )

    def _labels(
        self, info: GraphInfo, ids: Sequence[str], languages: Sequence[str]
    ) -> dict[str, str]:
        entities = self._store.entities(info.edition, ids).entities if ids else {}
        labels: dict[str, str] = {}
        for id_, entity in entities.items():
            order = [*languages, "mul", "en", *sorted(entity.labels)]
            label = next((entity.labels[code] for code in order if code in entity.labels), None)
            labels[id_] = label or entity_name(id_)
        return labels


def _ranked(
    words: dict[PassageAddress, float] | None, cosines: dict[PassageAddress, float] | None
) -> list[tuple[PassageAddress, float]]:
    """Returns addresses with their scores, best first; ties by key, then by the older set.

    By both, the score is the mean of the share of words and the cosine, the latter at least 0.
    """
    if words is None:
        scores = dict(cosines or {})
    elif cosines is None:
        scores = words
    else:
        scores = {
            address: round(
                (words.get(address, 0.0) + max(0.0, cosines.get(address, 0.0))) / 2, _DIGITS
            )
            for address in {*words, *cosines}
        }
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0].key, pair[0].number))


def joint_fingerprint(sets: Sequence[PassageSet], /) -> str:
    """Returns one fingerprint of several sets, in whatever order they were loaded."""
    sums = [0, 0, 0]
    for passage_set in sets:
        for part in range(3):
            sums[part] += int(passage_set.fingerprint[16 * part : 16 * part + 16], 16)
    return "".join(f"{total % 2**64:016x}" for total in sums)


class TitleLinker:
    """Finds the entity that a document is about (``loaders.passages.load.DocumentLinker``).

    A title is first the name of an article: of an entity that DBpedia's resource or English
    Wikipedia's page of that name is, or is the same as. Then it is a name among others
    (``link.link_title``).
    """

    def __init__(self, store: Store, info: GraphInfo, graph: KnowledgeGraph, /) -> None:
        self._store = store
        self._info = info
        self._graph = graph

    def by_id(self, id_: str, /) -> str | None:
        """Returns the entity of an id, redirects followed; None if the graph lacks it."""
        entities = self._store.entities(self._info.edition, [id_]).entities
        return entities[id_].id if id_ in entities else None

    def titled(self, title: str, context: str, /) -> str | None:
        """Returns the entity that a title names, or None."""
        article = title.replace(" ", "_")
        ids = [
            f"http://dbpedia.org/resource/{article}",
            f"https://en.wikipedia.org/wiki/{article}",
            f"https://en.wikipedia.org/wiki/{quote(article, safe='/:(),')}",
        ]
        entities = self._store.entities(self._info.edition, list(dict.fromkeys(ids))).entities
        for id_ in ids:
            if id_ in entities:
                return entities[id_].id
        node = link_title(title, self._graph, context=context)
        return None if node is None else self._graph.node_ids[node]


def check_query(query: str, /, *, k: int, most: int, min_score: float | None) -> None:
    """Raises ``InputError`` for an empty query, or a number out of range."""
    if not query.strip():
        raise InputError("the search is empty; give a few words", argument="query")
    if not 1 <= k <= most:
        raise InputError(f"k must be 1 to {most}, got {k}", argument="k")
    if min_score is not None and not -1.0 <= min_score <= 1.0:
        raise InputError(f"min_score must be -1 to 1, got {min_score}", argument="min_score")


class Passages:
    """The passages beside a service's graphs."""

    def __init__(self, graphs: Graphs, search: PassageSearch, /) -> None:
        self._graphs = graphs
        self._search = search

    def search(
        self,
        query: str,
        /,
        *,
        graph: str | None = None,
        k: int = 10,
        by: PassageRanking = PassageRanking.BOTH,
        min_score: float | None = None,
        languages: Sequence[str] = ("en",),
    ) -> PassagesResult:
        """Returns the passages of a graph that answer a query best (L6); views leave them alone.

        Args:
            query: Words or a question.
            graph: Its name.
            k: Passages at most.
            by: ``words`` ranks by BM25, as a share of the most a passage could have; ``vectors``
                by the cosine with the embedder's vectors; ``both`` by the mean of the two.
            min_score: Passages below it are left out.
            languages: Languages of the entities' labels.

        Raises:
            InputError: An argument is at fault.
            DeadlineError: The read's time limit ran out. Vectors that were computed are kept.
        """
        check_query(query, k=k, most=self._graphs.settings.max_items, min_score=min_score)
        check_languages(languages)
        return self._search.search(
            self._graphs.find(graph),
            query,
            by=by,
            k=k,
            min_score=min_score,
            languages=tuple(languages),
            deadline=self._graphs.deadline(),
        )

    def sets(self, *, graph: str | None = None) -> list[PassageSet]:
        """Returns what was loaded as passages of a graph, unfinished loads too."""
        return self._graphs.store.passages.sets(graph=self._graphs.find(graph).name)

    def delete(self, *, graph: str | None = None, source: str | None = None) -> int:
        """Deletes a graph's passages, or those of one source; returns how many."""
        return self._graphs.store.passages.delete(self._graphs.find(graph).name, source=source)

    def embed(
        self,
        *,
        graph: str | None = None,
        progress: Callable[[EmbeddingProgress], None] | None = None,
    ) -> int:
        """Computes the vectors that a graph's passages lack; returns how many have one then."""
        return self._search.embed(self._graphs.find(graph).name, progress=progress)

    def linker(self, *, graph: str | None = None) -> TitleLinker:
        """Returns what finds the entity that a document is about."""
        base = self._graphs.open(graph)
        return TitleLinker(self._graphs.store, base.info, base.arrays)
