"""``python -m benchmarks linking``: which entities linking finds, for questions whose are known.

End to end from the question's text, on graphs in a store, as retrieval links them. The figures:

* found: of the entities whose name stands in the question, those that a mention's first candidate
  is; by names of the entity alone, so for namesakes it says whether the right one is taken (K2).
* precision: of the links that count (to a person, for questions about persons), those meant.
* retrieval accuracy: of all entities meant, named or not, those linked, whose graph is then
  retrieved (K2; the paper's is .759).
* silent: of names whose entity the graph lacks, those in whose words nothing was linked.

Beside each: what a random choice among a mention's candidates would reach, and an interval of
95 % by a bootstrap over questions (over names, where the set is about namesakes).
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeVar

import numpy as np

from benchmarks.linking_sets import LinkingQuestion, LinkingSet, NamedGraph
from graph_service.link import LINKING_RULES, Mention, link
from graph_service.model.graph import KnowledgeGraph
from graph_service.model.graph_info import GraphInfo
from graph_service.quality.bootstrap import bootstrap_interval
from graph_service.store.protocol import Batch, Store
from graph_service.text.fold import normalise_name

T = TypeVar("T")
_BATCH = 5_000
_EVERY_CANDIDATE = replace(LINKING_RULES, max_alternatives=100_000)


@dataclass(frozen=True, slots=True)
class LinkScore:
    """One figure of a question set.

    Attributes:
        name: ``found``, ``precision``, ``retrieval accuracy`` or ``silent``.
        value: Share of the cases; None where there are none.
        low, high: Interval of 95 %.
        random: What a random choice among the candidates of each mention would reach; None where
            there is nothing to choose.
        cases: How many were judged.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    random: float | None
    cases: int


@dataclass(frozen=True, slots=True)
class LinkMiss:
    """A question of which something meant was not linked, or something else was."""

    question: str
    meant: tuple[str, ...]
    linked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LinkingReport:
    """What one set gave.

    Attributes:
        name: Of the set.
        questions: Questions asked; ``kept_out`` those of the source that were not.
        unlinked: Questions of which nothing was linked.
        candidates: Mean number of candidates of a mention.
        several: Share of the mentions that have more than one candidate.
        scores: The figures.
        median_ms, p95_ms: A question, the graph's indexes warm.
        cpu_median_ms, cpu_p95_ms: The same without the time that others had the processor.
        misses: The first questions that went wrong.
    """

    name: str
    questions: int
    kept_out: int
    unlinked: int
    candidates: float
    several: float
    scores: tuple[LinkScore, ...]
    median_ms: float
    p95_ms: float
    cpu_median_ms: float
    cpu_p95_ms: float
    misses: tuple[LinkMiss, ...] = ()


def load_named(store: Store, named: NamedGraph, /) -> GraphInfo:
    """Loads a graph of names into a store and publishes it."""
    with store.begin_load(
        named.name.replace(" ", "-"), replace=True, owner="bench", source="bench linking"
    ) as session:
        for entities in _batches(named.entities(), _BATCH):
            session.write(Batch(entities=entities))
        for statements in _batches(named.statements(), _BATCH):
            session.write(Batch(statements=statements))
        session.finish()
        return session.publish()


def _batches(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    remaining = iter(items)
    while batch := tuple(islice(remaining, size)):
        yield batch


def measure_linking(
    graph: KnowledgeGraph,
    questions: LinkingSet,
    /,
    *,
    sample: int | None = None,
    random_seed: int = 0,
    misses: int = 5,
) -> LinkingReport:
    """Returns what linking finds on one set.

    Args:
        graph: That the set is asked on.
        questions: The set.
        sample: How many questions, evenly spread; None for all.
        random_seed: Of the bootstrap.
        misses: How many wrong ones are listed.
    """
    asked = list(questions.questions)
    if sample is not None and sample < len(asked):
        asked = [asked[len(asked) * i // sample] for i in range(sample)]
    tally = _Tally(graph, questions.judged)
    # Indexes are made when first asked for: by a name that is none, and in both manners of writing.
    for warming in ("Who met Xqzwvk Qzxwvkj in there?", "who met xqzwvk qzxwvkj"):
        link(warming, graph)
    for question in asked:
        tally.add(question)
    return LinkingReport(
        name=questions.name,
        questions=len(asked),
        kept_out=questions.kept_out,
        unlinked=tally.unlinked,
        candidates=float(np.mean(tally.candidates)) if tally.candidates else 0.0,
        several=float(np.mean(np.array(tally.candidates) > 1)) if tally.candidates else 0.0,
        scores=tuple(_score(name, rows, random_seed) for name, rows in tally.rows.items() if rows),
        median_ms=float(np.median(tally.times_ms)) if tally.times_ms else 0.0,
        p95_ms=float(np.percentile(tally.times_ms, 95)) if tally.times_ms else 0.0,
        cpu_median_ms=float(np.median(tally.cpu_ms)) if tally.cpu_ms else 0.0,
        cpu_p95_ms=float(np.percentile(tally.cpu_ms, 95)) if tally.cpu_ms else 0.0,
        misses=tuple(tally.misses[:misses]),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    own: float
    random: float | None
    group: str


class _Tally:
    """Judges questions one after the other."""

    def __init__(self, graph: KnowledgeGraph, judged: frozenset[str] | None) -> None:
        self._graph = graph
        self._judged = judged
        self.rows: dict[str, list[_Row]] = {
            "found": [],
            "precision": [],
            "retrieval accuracy": [],
            "silent": [],
        }
        self.times_ms: list[float] = []
        self.cpu_ms: list[float] = []
        self.candidates: list[int] = []
        self.unlinked = 0
        self.misses: list[LinkMiss] = []

    def add(self, question: LinkingQuestion, /) -> None:
        started, busy = time.perf_counter(), time.thread_time()
        mentions = link(question.text, self._graph)
        self.cpu_ms.append(1000 * (time.thread_time() - busy))
        self.times_ms.append(1000 * (time.perf_counter() - started))
        # Once more with every candidate, for what a random choice would reach.
        if any(len(mention.candidates) > 1 for mention in mentions):
            mentions = link(question.text, self._graph, rules=_EVERY_CANDIDATE)
        self.unlinked += not mentions
        offered = [
            [self._graph.node_ids[candidate.node] for candidate in mention.candidates]
            for mention in mentions
        ]
        self.candidates.extend(map(len, offered))
        first = {ids[0] for ids in offered}
        meant = {gold.id for gold in question.gold}
        wrong = False
        for gold in question.gold:
            chance = max((1 / len(ids) for ids in offered if gold.id in ids), default=0.0)
            row = _Row(float(gold.id in first), chance, question.group)
            self.rows["retrieval accuracy"].append(row)
            if gold.name:
                self.rows["found"].append(row)
                wrong |= not row.own
        for ids in offered:
            if self._judged is None or ids[0] in self._judged:
                share = sum(id_ in meant for id_ in ids) / len(ids)
                right = ids[0] in meant
                self.rows["precision"].append(_Row(float(right), share, question.group))
                wrong |= not right
        for name in question.absent:
            silent = not any(_overlaps(mention, name, question.text) for mention in mentions)
            self.rows["silent"].append(_Row(float(silent), None, question.group))
            wrong |= not silent
        if wrong:
            self.misses.append(
                LinkMiss(
                    question.text,
                    tuple(f"{gold.name or '-'} ({gold.id})" for gold in question.gold)
                    or question.absent,
                    tuple(
                        f"{mention.text} ({ids[0]})"
                        for mention, ids in zip(mentions, offered, strict=True)
                    ),
                )
            )


def _overlaps(mention: Mention, name: str, text: str) -> bool:
    """Returns whether a mention shares words with a name, wherever in the text that stands."""
    words = f" {normalise_name(name)} "
    own = normalise_name(mention.text)
    around = normalise_name(text[max(0, mention.start - len(name)) : mention.end + len(name)])
    return words in f" {around} " and any(f" {word} " in words for word in own.split())


def _score(name: str, rows: Sequence[_Row], random_seed: int) -> LinkScore:
    values = np.array([row.own for row in rows])
    low, high = bootstrap_interval(values, [row.group for row in rows], random_seed=random_seed)
    chances = [row.random for row in rows if row.random is not None]
    return LinkScore(
        name=name,
        value=float(values.mean()),
        low=low,
        high=high,
        random=float(np.mean(chances)) if chances else None,
        cases=len(rows),
    )


def table_rows(reports: Iterable[LinkingReport], /) -> list[list[str]]:
    """Returns the figures as rows for a person, the head first."""
    rows = [["set", "figure", "value", "95 % interval", "random", "cases"]]
    for report in reports:
        rows.extend(
            [
                report.name if number == 0 else "",
                score.name,
                _number(score.value),
                f"{_number(score.low)} - {_number(score.high)}",
                _number(score.random),
                f"{score.cases:,}",
            ]
            for number, score in enumerate(report.scores)
        )
    return rows


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
