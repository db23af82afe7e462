"""Retrievers as their papers publish them, in numpy: no one of them needs a language model.

What a paper leaves open is settled here and marked (ours). The same is said on the page that
compares them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.retrievers.protocol import (
    Float64,
    Int64,
    Question,
    Retrieved,
    StatementRetriever,
    Surroundings,
    tie_break,
)
from graph_service.model.identity import key64
from graph_service.retrieve.tree.solver import load_pcst_fast
from graph_service.text.fold import index_tokens

Embed = Callable[[Sequence[str]], Float64]
"""Unit vectors of texts, float64 [texts, dimensions]."""


@dataclass(frozen=True, slots=True)
class Bm25:
    """BM25 (Robertson and Zaragoza 2009) over statements as sentences; k1 = 1.2, b = .75."""

    name: str = "BM25"
    k1: float = 1.2
    b: float = 0.75

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the statements that share most words with the question."""
        count = len(around.statement_ids)
        documents = [Counter(index_tokens(around.sentence(index))) for index in range(count)]
        scores = self.scores(index_tokens(question.text), documents)
        return Retrieved(around.ranked(around.order(scores), budget))

    def scores(self, words: Sequence[str], documents: Sequence[Counter[str]], /) -> Float64:
        """Returns the score of each document, float64 [documents]."""
        lengths = np.array([document.total() for document in documents], dtype=np.float64)
        mean = float(lengths.mean()) if len(lengths) else 0.0
        scores = np.zeros(len(documents))
        for word in dict.fromkeys(words):
            counts = np.array([document[word] for document in documents], dtype=np.float64)
            holding = int(np.count_nonzero(counts))
            if not holding:
                continue
            weight = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            scores += (
                weight
                * counts
                * (self.k1 + 1)
                / (counts + self.k1 * (1 - self.b + self.b * lengths / mean))
            )
        return scores


@dataclass(frozen=True, slots=True)
class Dense:
    """Cosine of MiniLM's vectors of the question and of each statement as a sentence."""

    embed: Embed
    name: str = "dense"

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the statements nearest the question."""
        sentences = [around.sentence(index) for index in range(len(around.statement_ids))]
        scores = _cosines(self.embed, question.text, sentences)
        return Retrieved(around.ranked(around.order(scores), budget))


@dataclass(frozen=True, slots=True)
class OverWholeGraph:
    """A retriever that ranks all statements of the graph, not only those around the entities."""

    retriever: StatementRetriever

    @property
    def name(self) -> str:
        """In tables."""
        return f"{self.retriever.name}, whole graph"

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the statements that the retriever ranks first of all."""
        everything = around if around.whole_graph is None else around.whole_graph()
        return self.retriever.retrieve(question, everything, budget)


@dataclass(frozen=True, slots=True)
class PageRank:
    """Personalised PageRank from the question's entities, damping .85, both directions.

    A statement counts by the product of the mass of its ends (ours).
    """

    name: str = "personalised PageRank"
    damping: float = 0.85
    rounds: int = 60

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the statements between the entities of most mass."""
        del question
        mass = self.mass(around)
        scores = mass[around.head] * mass[around.tail]
        return Retrieved(around.ranked(_by_size(around, scores), budget))

    def mass(self, around: Surroundings, /) -> Float64:
        """Returns the mass of each node, float64 [nodes]."""
        count = len(around.nodes)
        restart = np.zeros(count)
        restart[around.topics] = 1 / max(1, len(around.topics))
        degree = np.bincount(around.head, minlength=count) + np.bincount(
            around.tail, minlength=count
        )
        mass = restart.copy()
        for _ in range(self.rounds):
            share = mass / np.maximum(degree, 1)
            moved = np.bincount(around.tail, share[around.head], minlength=count)
            moved += np.bincount(around.head, share[around.tail], minlength=count)
            lost = mass[degree == 0].sum()
            mass = (1 - self.damping) * restart + self.damping * (moved + lost * restart)
        return mass


@dataclass(frozen=True, slots=True)
class Walks:
    """Walk and retrieve (arXiv 2505.16849): walks as texts, the ten nearest the question.

    Random walks of up to three steps from each entity of the question, 60 each, drawn by a keyed
    hash, in the words of their statements (ours).
    """

    embed: Embed
    name: str = "walk and retrieve"
    walks: int = 60
    steps: int = 3
    nearest: int = 10

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the statements of the walks nearest the question, walk by walk."""
        walks = self.draw(around, question.id)
        texts = [". ".join(around.sentence(index) for index in walk) for walk in walks]
        scores = _cosines(self.embed, question.text, texts)
        best = sorted(range(len(walks)), key=lambda i: (-round(float(scores[i]), 9), i))
        order = [index for i in best[: self.nearest] for index in walks[i]]
        return Retrieved(around.ranked(order, budget))

    def draw(self, around: Surroundings, key: str, /) -> list[tuple[int, ...]]:
        """Returns distinct walks as statements, in the order in which they were drawn."""
        touching: dict[int, list[int]] = defaultdict(list)
        for index, (head, tail) in enumerate(
            zip(around.head.tolist(), around.tail.tolist(), strict=True)
        ):
            touching[head].append(index)
            if tail != head:
                touching[tail].append(index)
        walks: dict[tuple[int, ...], None] = {}
        for topic in around.topics.tolist():
            for turn in range(self.walks):
                node, walk, visited = topic, [], {topic}
                for step in range(self.steps):
                    choices = [
                        index
                        for index in touching[node]
                        if _other(around, index, node) not in visited
                    ]
                    if not choices:
                        break
                    draw = key64(f"{key}\t{around.nodes[topic]}\t{turn}\t{step}") % len(choices)
                    walk.append(choices[draw])
                    node = _other(around, choices[draw], node)
                    visited.add(node)
                if walk:
                    walks[tuple(walk)] = None
        return list(walks)


@dataclass(frozen=True, slots=True)
class GRetriever:
    """The subgraph of G-Retriever (He et al., NeurIPS 2024), as its setting for WebQSP has it.

    The three nodes and five edges nearest the question get prizes 3 to 1 and 5 to 1. Edges cost .5;
    one whose prize is larger becomes a node of its own. One tree by pcst_fast, unrooted, pruning
    ``gw``. Its statements are ranked by prize, then by cosine (ours: it does not rank them).
    """

    embed: Embed
    name: str = "G-Retriever's PCST"
    best_nodes: int = 3
    best_edges: int = 5
    cost: float = 0.5

    def retrieve(self, question: Question, around: Surroundings, budget: int, /) -> Retrieved:
        """Returns the statements of the tree."""
        count = len(around.statement_ids)
        if not count:
            return Retrieved(())
        texts = [around.relations[code] for code in around.relation.tolist()]
        edge_scores = _cosines(self.embed, question.text, texts)
        node_scores = _cosines(self.embed, question.text, around.node_names)
        node_prizes = _prizes(node_scores, self.best_nodes, around.nodes)
        ties = [tie_break(id_) for id_ in around.statement_ids]
        edge_prizes = _prizes(edge_scores, self.best_edges, ties)
        chosen = self.tree(around.head, around.tail, node_prizes, edge_prizes)
        order = sorted(
            chosen,
            key=lambda i: (
                -edge_prizes[i],
                -round(float(edge_scores[i]), 9),
                ties[i],
            ),
        )
        return Retrieved(around.ranked(order, budget))

    def tree(
        self, head: Int64, tail: Int64, node_prizes: Float64, edge_prizes: Float64, /
    ) -> list[int]:
        """Returns the edges of the tree, and those between its nodes that became nodes."""
        solve, _ = load_pcst_fast()
        assert solve is not None, "pcst_fast is needed: it is a part of the test environment"
        nodes = len(node_prizes)
        prizes = list(node_prizes)
        ends: list[tuple[int, int]] = []
        costs: list[float] = []
        owners: list[int] = []
        for index, (first, second, prize) in enumerate(
            zip(head.tolist(), tail.tolist(), edge_prizes.tolist(), strict=True)
        ):
            if prize <= self.cost:
                ends.append((first, second))
                costs.append(self.cost - prize)
                owners.append(index)
            else:
                virtual = len(prizes)
                prizes.append(prize - self.cost)
                ends += [(first, virtual), (virtual, second)]
                costs += [0.0, 0.0]
                owners += [index, index]
        vertices, edges = solve(
            np.array(ends, dtype=np.int64).reshape(-1, 2),
            np.array(prizes),
            np.array(costs),
            -1,
            1,
            "gw",
            0,
        )
        virtual_edges = {owners[i] for i, end in enumerate(ends) if max(end) >= nodes}
        in_tree = {owners[int(edge)] for edge in edges}
        reached = {int(vertex) for vertex in vertices}
        # A node that stands for an edge is that edge, as G-Retriever reads the solution.
        whole = {
            owner
            for owner, end in zip(owners, ends, strict=True)
            if owner in virtual_edges and max(end) in reached
        }
        return sorted((in_tree - virtual_edges) | whole)


def _prizes(scores: Float64, best: int, ties: Sequence[str]) -> Float64:
    """Prizes of the best, ``best`` to 1; of equal ones by ``ties``."""
    order = sorted(range(len(scores)), key=lambda i: (-round(float(scores[i]), 9), ties[i]))
    prizes = np.zeros(len(scores))
    for place, index in enumerate(order[:best]):
        prizes[index] = best - place
    return prizes


def _by_size(around: Surroundings, scores: Float64) -> list[int]:
    """By falling score, where scores are too small to be rounded to decimals."""
    return sorted(
        range(len(scores)),
        key=lambda i: (-float(f"{scores[i]:.9e}"), tie_break(around.statement_ids[i])),
    )


def _other(around: Surroundings, index: int, node: int) -> int:
    head = int(around.head[index])
    return int(around.tail[index]) if head == node else head


def _cosines(embed: Embed, question: str, texts: Sequence[str]) -> Float64:
    if not texts:
        return np.zeros(0)
    distinct = list(dict.fromkeys(texts))
    vectors = embed([question, *distinct])
    scores = dict(zip(distinct, (vectors[1:] @ vectors[0]).tolist(), strict=True))
    return np.array([scores[text] for text in texts])
