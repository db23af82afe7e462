"""The loop of a retriever in an environment of its own: JSON lines in, JSON lines out.

Standard library and numpy alone: the environment has the retriever's packages and none of ours.
A line in is a request or vectors that were asked for. A line out asks for vectors of texts, or
gives the statements in order.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Request:
    """A question and the statements around its entities.

    Attributes:
        question: The text.
        budget: How many statements are asked for.
        head, tail: Of each statement, numbers of ``nodes``.
        relation: Of each statement, a number of ``relations``.
        nodes, relations: Names.
        sentences: Each statement as text.
        topics: Numbers of the nodes that the question names.
    """

    question: str
    budget: int
    head: Sequence[int]
    relation: Sequence[int]
    tail: Sequence[int]
    nodes: Sequence[str]
    relations: Sequence[str]
    sentences: Sequence[str]
    topics: Sequence[int]


Embed = Callable[[Sequence[str]], Any]
"""Unit vectors of texts, float32 [texts, dimensions]: MiniLM's, which the leaderboard computes."""


def serve(rank: Callable[[Request, Embed], Sequence[int]], /) -> None:
    """Answers requests until there are no more.

    Args:
        rank: Gives the numbers of statements, the best first.
    """
    # What a package prints must not stand among the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())

    def write(row: dict[str, Any]) -> None:
        answers.write(json.dumps(row) + "\n")
        answers.flush()

    def embed(texts: Sequence[str]) -> Any:
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        write({"embed": list(texts)})
        row = json.loads(sys.stdin.readline())
        data = np.frombuffer(base64.b64decode(row["vectors"]), dtype=np.float32)
        return data.reshape(len(texts), -1).copy()

    for line in sys.stdin:
        try:
            order = rank(Request(**json.loads(line)), embed)
            write({"order": [int(index) for index in order]})
        except Exception as error:
            write({"error": f"{type(error).__name__}: {error}"})
            raise
