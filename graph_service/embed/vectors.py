"""Vectors as frozen data: computed once a (model, text), kept in a file, the same ever after.

MiniLM gives a text the same bits wherever it is computed. Other embedders differ in the last bits
by batch, thread count and machine; what was computed first is therefore kept, and every process
that shares the file reads that one. Where two compute the same text at once, the one that writes
first is right and the other takes its vector over.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from graph_service.byte_budget import ByteBudget, ByteCache
from graph_service.embed.protocol import Connected, Embedder, Float32, Recomputed, trained_name
from graph_service.embed.vector_file import VectorFile
from graph_service.errors import (
    DeadlineError,
    InputError,
    StoreCorruptError,
)
from graph_service.model.graph import Bool
from graph_service.model.identity import digest
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.model.ranking import QueryEncoder

_TEXTS_A_STEP = 128
_WAIT_S = 0.05
"""How often a thread that waits for another's vectors looks whether its own time is over."""
_MEMORY_BYTES = 96 * 2**20
_ROW_BYTES = 200
"""What a vector in memory holds beside its numbers and its text."""


@dataclass(frozen=True, slots=True, eq=False)
class PartVectors:
    """Vectors of some texts, of which not all may have been computed.

    Attributes:
        vectors: float32 [n, d]; zeros where there is none.
        known: Whether there is one, bool [n].
        cut: What was left out and why, if anything was.
    """

    vectors: Float32
    known: Bool
    cut: Cut | None = None


class Vectors:
    """An embedder with its file: what is called for the vectors of texts. Thread-safe.

    Looked up in memory, then in the file; only what neither has is computed, each distinct text
    once.

    Attributes:
        embedder: Computes what is missing.
        file: Where it is kept; None keeps it in memory alone.
        queries: The same for questions; itself, where the embedder reads them as any text.
    """

    def __init__(
        self,
        embedder: Embedder,
        file: VectorFile | None = None,
        /,
        *,
        memory: ByteBudget | None = None,
    ) -> None:
        """Makes the pair; ``memory`` bounds what is held in memory, with other caches."""
        self.embedder = embedder
        self.file = file
        self._name = _file_name(embedder)
        budget = memory or ByteBudget(_MEMORY_BYTES)
        self._memory: ByteCache[str, bytes] = ByteCache(budget, f"vectors of {embedder.name}")
        self._computing: dict[str, threading.Event] = {}
        self._computing_lock = threading.Lock()
        self.queries: Vectors = self
        if isinstance(embedder, QueryEncoder):
            self.queries = Vectors(_OfQueries(embedder), file, memory=budget)

    @property
    def trained_name(self) -> str:
        """The name of the model whose trained weights read these vectors."""
        return trained_name(self.embedder)

    def encode(
        self,
        texts: Sequence[str],
        /,
        *,
        deadline: Deadline | None = None,
        transient: Container[str] = (),
    ) -> Float32:
        """Returns one unit vector a text, float32 [len(texts), dimension].

        Args:
            texts: Any number.
            deadline: When to stop.
            transient: Texts that pass, such as questions: the file keeps the last of them alone.

        Raises:
            DeadlineError: The time ran out; what was computed is kept, so that asking again gets
                further.
            InputError: A text holds a lone surrogate.
        """
        part = self.encode_some(texts, deadline=deadline, transient=transient)
        if part.cut is not None and deadline is not None:
            if deadline.stop is not None and deadline.stop.requested:
                deadline.check("embedding texts")
            raise DeadlineError(
                f"the time allowed ran out while embedding texts: {part.cut.kept:,} of "
                f"{part.cut.total:,} have a vector, which is kept",
                hint="Ask again, which gets further, or raise the time limit "
                "(GRAPH_SERVICE_READ_TIMEOUT_S).",
            )
        return part.vectors

    def encode_some(
        self,
        texts: Sequence[str],
        /,
        *,
        max_new: int | None = None,
        deadline: Deadline | None = None,
        transient: Container[str] = (),
    ) -> PartVectors:
        """Returns the vectors of as many texts as the limits allow, the first ones first.

        Args:
            texts: Most important first: they are computed in this order.
            max_new: How many distinct texts may be computed.
            deadline: When to stop; at least one step of 128 texts is computed unless it is past.
            transient: Texts that the file keeps among the last alone.
        """
        distinct = list(dict.fromkeys(texts))
        vectors, missing = self._look_up(distinct)
        batch = missing if max_new is None else missing[: max(0, max_new)]
        done = 0
        while done < len(batch) and not (deadline is not None and deadline.passed()):
            step = batch[done : done + _TEXTS_A_STEP]
            computed = self._compute_once([distinct[i] for i in step], transient, deadline)
            if computed is None:
                break
            vectors[step] = computed
            done += len(step)
        known = np.ones(len(distinct), dtype=np.bool_)
        known[missing[done:]] = False
        cut = None
        if done < len(missing):
            late = done < len(batch)
            cut = Cut(
                what="embedded",
                reason=CutReason.DEADLINE if late else CutReason.WORK_BUDGET,
                limit=float(done if late or max_new is None else max_new),
                kept=len(distinct) - (len(missing) - done),
                total=len(distinct),
            )
        if len(distinct) == len(texts):
            return PartVectors(vectors, known, cut)
        index_of = {text: i for i, text in enumerate(distinct)}
        rows = np.fromiter((index_of[text] for text in texts), dtype=np.int64, count=len(texts))
        return PartVectors(vectors[rows], known[rows], cut)

    def known(self, texts: Sequence[str], /) -> Bool:
        """Returns for each text whether its vector is there without computing, bool [n]."""
        distinct = list(dict.fromkeys(texts))
        _, missing = self._look_up(distinct)
        absent = {distinct[i] for i in missing}
        return np.fromiter((text not in absent for text in texts), np.bool_, count=len(texts))

    def close(self) -> None:
        """Closes the file, and the connections of an embedder that has any."""
        if isinstance(self.embedder, Connected):
            self.embedder.close()
        if self.file is not None:
            self.file.close()

    def __enter__(self) -> Self:
        """Returns the vectors, whose file closes at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the file at the end of a block."""
        self.close()

    def _look_up(self, texts: list[str]) -> tuple[Float32, list[int]]:
        """Returns vectors, and the numbers of the texts that have none, ascending."""
        vectors = np.zeros((len(texts), self.embedder.dimension), dtype=np.float32)
        held = self._memory.get_all(texts)
        missing = [index for index, row in enumerate(held) if row is None]
        rows = np.frombuffer(b"".join(filter(None, held)), dtype="<f4")
        if not missing:
            return rows.reshape(vectors.shape).copy(), missing
        here = np.ones(len(texts), dtype=np.bool_)
        here[missing] = False
        vectors[here] = rows.reshape(-1, self.embedder.dimension)
        if not missing or self.file is None:
            return vectors, missing
        keys = [self._key(texts[i]) for i in missing]
        there = self.file.read(keys)
        if not there:
            return vectors, missing
        absent: list[int] = []
        stored: list[int] = []
        for index, key in zip(missing, keys, strict=True):
            vector = there.get(key)
            if vector is None:
                absent.append(index)
                continue
            if len(vector) != self.embedder.dimension:
                raise StoreCorruptError(
                    f"{self.file.path} has a vector of {len(vector)} numbers for "
                    f"{self.embedder.name}, whose vectors have {self.embedder.dimension}",
                    hint="Remove the file; its vectors are computed again.",
                )
            vectors[index] = vector
            stored.append(index)
        self._hold([texts[i] for i in stored], vectors[stored])
        return vectors, absent

    def _compute_once(
        self, texts: list[str], transient: Container[str], deadline: Deadline | None
    ) -> Float32 | None:
        """Returns the vectors of distinct texts, of which no other thread computes any meanwhile.

        What another thread computes already is waited for. None if the time is over by then.
        """
        ended = threading.Event()
        with self._computing_lock:
            others = {text: self._computing[text] for text in texts if text in self._computing}
            own = [text for text in texts if text not in others]
            self._computing.update(dict.fromkeys(own, ended))
        try:
            # Another thread may have ended between this one's look-up and its turn.
            missing = [
                text
                for text, row in zip(own, self._memory.get_all(own), strict=True)
                if row is None
            ]
            vectors = self._compute(missing, transient) if missing else None
        finally:
            with self._computing_lock:
                for text in own:
                    del self._computing[text]
            ended.set()
        if vectors is not None and len(missing) == len(texts):
            return vectors
        for event in others.values():
            while not event.wait(_WAIT_S):
                if deadline is not None and deadline.passed():
                    return None
        table, absent = self._look_up(texts)
        if absent:
            # The other thread failed, or memory has let go of them.
            again = self._compute_once([texts[i] for i in absent], transient, deadline)
            if again is None:
                return None
            table[absent] = again
        return table

    def _compute(self, texts: list[str], transient: Container[str]) -> Float32:
        vectors = self.embedder.encode(texts)
        if self.file is not None:
            pass_by = [text in transient for text in texts]
            for part in (True, False):
                indexes = [index for index, passes in enumerate(pass_by) if passes is part]
                if indexes:
                    keys = [self._key(texts[index]) for index in indexes]
                    vectors[indexes] = self.file.add(keys, vectors[indexes], transient=part)
        return self._hold(texts, vectors)

    def _hold(self, texts: list[str], vectors: Float32) -> Float32:
        """Keeps vectors of distinct texts in memory, and returns those that hold.

        Where another thread was first its vector holds, so that one process has one vector a text
        even when no file settles it.
        """
        if not texts:
            return vectors
        rows = np.ascontiguousarray(vectors, dtype="<f4")
        held = self._memory.put_all(
            [
                (text, row.tobytes(), row.nbytes + sys.getsizeof(text) + _ROW_BYTES)
                for text, row in zip(texts, rows, strict=True)
            ]
        )
        return np.frombuffer(b"".join(held), dtype="<f4").reshape(rows.shape)

    def _key(self, text: str) -> bytes:
        try:
            return digest((self._name, text), person=b"vector")
        except UnicodeEncodeError as error:
            raise InputError(f"a text to embed holds a lone surrogate: {text[:80]!r}") from error


class _OfQueries:
    """An embedder as it reads questions: its vectors of them have keys of their own."""

    def __init__(self, embedder: Embedder) -> None:
        assert isinstance(embedder, QueryEncoder)
        self._embedder = embedder
        self.name = f"{_file_name(embedder)} of queries"
        self.encode = embedder.encode_queries

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def count_tokens(self, text: str, /) -> int:
        return self._embedder.count_tokens(text)


def _file_name(embedder: Embedder) -> str:
    """Returns the name under which an embedder's vectors are kept."""
    if isinstance(embedder, Recomputed):
        return f"{embedder.name}/{embedder.arithmetic}"
    return embedder.name


def open_vectors(
    embedder: Embedder,
    path: Path | str | None = None,
    /,
    *,
    memory: ByteBudget | None = None,
) -> Vectors:
    """Returns an embedder with the file that keeps its vectors (in memory alone without one).

    Args:
        embedder: Computes what is missing.
        path: The file.
        memory: What caches in memory share.

    Raises:
        StoreError: The file is damaged, newer, or locked.
    """
    return Vectors(embedder, VectorFile(path) if path is not None else None, memory=memory)
