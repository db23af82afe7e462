"""Vectors for one retrieval within its time: what there is no time for is left out and told.

The first question on a large graph needs the vectors of many texts that nobody asked for before. A
part of the time is kept for ranking, so that such a call returns what is known so far. The vectors
that it computed are kept, and the next call gets further.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from graph_service.embed import Vectors
from graph_service.model.limits import Cut, CutReason, Deadline
from graph_service.retrieve.engine import question_texts
from graph_service.service.graph_slice import LinkedQuestion

RESERVED = 0.25
"""Share of the time left that is kept for what comes after embedding."""
FEW = 32
"""So many new texts are computed in the reserved time too: a question, as asked of each entity that it
may name, and its words."""


class TimedEncoder:
    """Texts to vectors until the time for that is over; then zeros, which are counted.

    Args:
        deadline: Of the whole retrieval.
        transient: Texts that the file of vectors keeps for a while alone.
    """

    def __init__(self, deadline: Deadline, /, *, transient: Container[str]) -> None:
        self._deadline = deadline
        self._early = earlier(deadline)
        self._transient = transient
        self._requested: set[tuple[str, str]] = set()
        self._missing: set[tuple[str, str]] = set()

    def encode(self, vectors: Vectors, texts: Sequence[str], /) -> npt.NDArray[np.float32]:
        """Returns the vectors of some texts, float32 [len(texts), d], zeros for lack of time.

        Raises:
            DeadlineError: There was no time left for a few texts either, or nobody waits any more.
        """
        name = vectors.embedder.name
        self._requested.update((name, text) for text in texts)
        part = vectors.encode_some(texts, deadline=self._early, transient=self._transient)
        if part.cut is None:
            return part.vectors
        missing = {text for text, known in zip(texts, part.known, strict=True) if not known}
        stopped = self._deadline.stop is not None and self._deadline.stop.requested
        if stopped or len(missing) <= FEW:
            return vectors.encode(texts, deadline=self._deadline, transient=self._transient)
        self._missing.update((name, text) for text in missing)
        return part.vectors

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """What was left out, if anything was."""
        if not self._missing:
            return ()
        embedded = len(self._requested) - len(self._missing)
        return (
            Cut("embedded", CutReason.DEADLINE, float(embedded), embedded, len(self._requested)),
        )


def earlier(deadline: Deadline, /) -> Deadline:
    """Returns the moment at which embedding ends, so that there is time to rank."""
    if deadline.at is None:
        return deadline
    return replace(deadline, at=deadline.at - RESERVED * deadline.left())


def embed_questions(
    vectors: Vectors, questions: Sequence[LinkedQuestion], /, *, deadline: Deadline
) -> None:
    """Computes the vectors that some linked questions will need, in one batch."""
    needed = [
        question_texts(
            question.request.question,
            question.source.linking.named_spans,
            question.source.preset,
            has_vector=question.request.question_vector is not None,
        )
        for question in questions
        if len(question.source.linking.start_entities)
    ]
    of_questions = dict.fromkeys(text for each in needed for text in each.questions)
    texts = dict.fromkeys(text for each in needed for text in each.words)
    if vectors.queries is vectors:
        of_questions, texts = {}, of_questions | texts
    # A text without time here is embedded again, or reported as cut, by its own question.
    early = earlier(deadline)
    if of_questions:
        vectors.queries.encode_some(list(of_questions), deadline=early, transient=of_questions)
    if texts:
        vectors.encode_some(list(texts), deadline=early, transient=texts)
