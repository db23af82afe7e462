"""``python -m benchmarks scorer``: the triple scorer on published triples, beside counts.

CoDEx-S (Safavi and Koutra 2020): its validation edges beside the hard negatives published with
them, by a threshold a relation learnt on one half and tried on the other; and beside the same
edges with a random other relation or any other tail. ConceptNet as split by Li et al. (2016):
one threshold from the first development file, tried on the second. Nothing of either is seen in
training. The scorer's settings (size, penalty, dropout, epochs) were chosen while looking at figures
on these files, so theirs are no blind ones.
"""

from __future__ import annotations

import csv
import lzma
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.codex import Load, read_rows
from graph_service.artifacts.scorers import StoredScorer
from graph_service.errors import InputError
from graph_service.model.graph import Bool, Float64, Int32, KnowledgeGraph
from graph_service.service import Service
from graph_service.views.pairs import PairIndex
from graph_service.views.scorer.counting import CountScorer, TripleScorer
from graph_service.views.scorer.trial import auc

SPLITS = 5
TIMED = 1_000_000
_TURNS = 3

Progress = Callable[[str, float], None]

CODEX = ("s-train.tsv", "s-valid.tsv", "s-valid-negatives.tsv")
CONCEPTNET = ("malaviya_train_old.txt.xz", "dev1.txt", "dev2.txt")


@dataclass(frozen=True, slots=True)
class ScorerFigure:
    """One figure of the trained scorer and of counts, beside its bar."""

    name: str
    trained: float
    counts: float | None
    bar: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class ScorerReport:
    """What ``python -m benchmarks scorer`` found.

    Attributes:
        codex, conceptnet: The scorers that were trained; None where the data is not there.
        figures: In order.
    """

    codex: StoredScorer | None
    conceptnet: StoredScorer | None
    figures: tuple[ScorerFigure, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Triples:
    """Triples in numbers of a graph; those that it has no numbers for are left out and counted."""

    head: Int32
    rel: Int32
    tail: Int32
    unknown: int

    @classmethod
    def of(cls, graph: KnowledgeGraph, rows: list[tuple[str, str, str]], /) -> Triples:
        """Returns rows of ids in a graph's numbers."""
        found = [
            (graph.find_node(h), graph.find_relation(r), graph.find_node(t)) for h, r, t in rows
        ]
        known = [row for row in found if None not in row]
        columns = np.array(known, dtype=np.int32).reshape(-1, 3)
        return cls(columns[:, 0], columns[:, 1], columns[:, 2], len(rows) - len(known))

    def score(self, scorer: TripleScorer, /) -> Float64:
        """Returns their scores."""
        return scorer.score(self.head, self.rel, self.tail)


def measure_scorer(
    data: Path,
    folder: Path,
    service: Service,
    /,
    *,
    load: Load,
    text: bool = True,
    progress: Progress,
    on_figures: Callable[[Sequence[ScorerFigure]], None] = lambda _: None,
) -> ScorerReport:
    """Trains on the published graphs there are and returns the figures.

    Args:
        data: Folder that holds ``codex/`` or ``conceptnet_li2016/``.
        folder: A temporary one, for tables.
        service: Over a temporary store.
        load: Loads a table into a store.
        text: Whether ConceptNet's scorer uses the words.
        progress: Called with the stage, named by its set, and the share of the stage that is done.
        on_figures: Called with the figures of each set once they are measured.

    Raises:
        InputError: The folder has neither.
    """
    codex, conceptnet = data / "codex", data / "conceptnet_li2016"
    figures: list[ScorerFigure] = []
    trained: list[StoredScorer | None] = []
    parts = ((codex, CODEX, _codex), (conceptnet, CONCEPTNET, _conceptnet))
    for place, names, measured in parts:
        if not all((place / name).is_file() for name in names):
            trained.append(None)
            continue
        named = partial(_named, progress, place.name)
        stored, measured_figures = measured(place, folder, service, load, text, named)
        trained.append(stored)
        figures += measured_figures
        on_figures(measured_figures)
    if not figures:
        raise InputError(
            f"expected codex/ or conceptnet_li2016/ in {data}, which has neither",
            argument="data",
            hint="Name the folder that holds them: --data FOLDER",
        )
    return ScorerReport(trained[0], trained[1], tuple(figures))


def _named(progress: Progress, name: str, stage: str, share: float) -> None:
    progress(f"{name}: {stage}", share)


def _codex(
    place: Path, _folder: Path, service: Service, load: Load, text: bool, progress: Progress
) -> tuple[StoredScorer, list[ScorerFigure]]:
    train, valid, negatives = (place / name for name in CODEX)
    progress("loading", 0.0)
    load(train, service.store, "codex-s", None)
    stored = service.scorers.train(graph="codex-s", text=text, progress=progress)
    progress("measuring", 0.0)
    graph, scorer, counts = _opened(service, "codex-s", stored)
    right = Triples.of(graph, read_rows(valid))
    wrong = Triples.of(graph, read_rows(negatives))
    figures = [ScorerFigure("codex-s: training, s", stored.seconds, None, 600.0, "at most")]
    scores = [
        relation_thresholds(right, wrong, right.score(one), wrong.score(one))
        for one in (scorer, counts)
    ]
    figures.append(ScorerFigure("codex-s: hard negatives, accuracy", scores[0], scores[1], 0.843))
    more = scores[0] - scores[1]
    figures.append(ScorerFigure("codex-s: the same, over counts", more, None, 0.03))
    for name, changed in _changed(graph, right).items():
        rates = [auc(right.score(one), changed.score(one)) for one in (scorer, counts)]
        figures.append(ScorerFigure(f"codex-s: {name}, AUC", rates[0], rates[1], 0.95))
    return stored, [*figures, *_speed(graph, scorer, counts)]


def _conceptnet(
    place: Path, folder: Path, service: Service, load: Load, text: bool, progress: Progress
) -> tuple[StoredScorer, list[ScorerFigure]]:
    rows = _conceptnet_rows(place / CONCEPTNET[0])
    first, second = (_judged(place / name) for name in CONCEPTNET[1:])
    table, labels = folder / "conceptnet.tsv", folder / "conceptnet-labels.tsv"
    table.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    # A label gives a phrase a number that no training triple has; its words are all it has.
    phrases = {id_ for judged in (first, second) for h, _, t in judged for id_ in (h, t)}
    labels.write_text("".join(f"{id_}\t{id_}\n" for id_ in sorted(phrases)), encoding="utf-8")
    progress("loading", 0.0)
    load(table, service.store, "conceptnet", labels)
    stored = service.scorers.train(graph="conceptnet", text=text, progress=progress)
    progress("measuring", 0.0)
    graph, scorer, counts = _opened(service, "conceptnet", stored)
    sides = [
        (Triples.of(graph, list(judged)), np.array(list(judged.values()), dtype=np.bool_))
        for judged in (first, second)
    ]
    accuracies = []
    for one in (scorer, counts):
        (fit, truth), (test, test_truth) = sides
        bound = threshold(fit.score(one), truth)
        accuracies.append(float(np.mean((test.score(one) >= bound) == test_truth)))
    return stored, [
        ScorerFigure("conceptnet: training, s", stored.seconds, None, 600.0, "at most"),
        ScorerFigure("conceptnet: dev2, accuracy", accuracies[0], accuracies[1], 0.90),
    ]


def _conceptnet_rows(path: Path) -> list[tuple[str, str, str]]:
    """Returns head, relation and tail of each line of the training file."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            # Relation, head, tail; Li's own files have the tail before the head.
            return [(h, r, t) for r, h, t in (line.rstrip("\n").split("\t")[:3] for line in file)]
    except (lzma.LZMAError, EOFError, ValueError) as error:
        raise InputError(
            f"{path} is damaged: expected an .xz of lines with three columns ({error})",
            argument="data",
        ) from error


def _opened(
    service: Service, name: str, stored: StoredScorer
) -> tuple[KnowledgeGraph, TripleScorer, TripleScorer]:
    graph, scorer = service.scorers.open(stored.name, graph=name)
    return graph, scorer, CountScorer.build(graph, index=PairIndex.build(graph))


def _judged(path: Path) -> dict[tuple[str, str, str], bool]:
    """Triples of one of Li's files and whether each is right."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(head, rel, tail): truth == "1" for rel, tail, head, truth in rows}


def _changed(graph: KnowledgeGraph, right: Triples) -> dict[str, Triples]:
    """The same edges with a random other relation, and rewired; none of them is an edge."""
    random = np.random.Generator(np.random.PCG64(0))
    index = PairIndex.build(graph)
    taken = np.concatenate(
        [
            index.pack(graph.head[:], graph.rel[:], graph.tail),
            index.pack(right.head, right.rel, right.tail),
        ]
    )
    found = {}
    for name in ("random other relation", "rewired tail"):
        rel, tail = right.rel.copy(), right.tail.copy()
        left = np.arange(len(rel))
        while len(left):
            if name == "rewired tail":
                tail[left] = random.choice(index.linked, len(left))
            else:
                rel[left] = random.choice(index.relations, len(left))
            left = left[np.isin(index.pack(right.head[left], rel[left], tail[left]), taken)]
        found[name] = Triples(right.head, rel, tail, 0)
    return found


def _speed(graph: KnowledgeGraph, scorer: TripleScorer, counts: TripleScorer) -> list[ScorerFigure]:
    random = np.random.Generator(np.random.PCG64(0))
    head, tail = (random.integers(0, graph.entity_count, TIMED).astype(np.int32) for _ in range(2))
    rel = random.integers(0, graph.relation_count, TIMED).astype(np.int32)
    rates = []
    for one in (scorer, counts):
        took = []
        for _ in range(_TURNS):
            began = time.perf_counter()
            one.score(head, rel, tail)
            took.append(time.perf_counter() - began)
        rates.append(TIMED / min(took) / 1e6)
    return [ScorerFigure("codex-s: million triples scored a second", rates[0], rates[1], 1.0)]


def threshold(scores: Float64, truth: Bool, /) -> float:
    """Returns the score from which on to call triples right, for the best accuracy.

    It lies half way between two scores; of several that are as good, the highest.
    """
    order = np.argsort(-scores, kind="stable")
    ordered = scores[order]
    gain = np.concatenate([[0], np.cumsum(np.where(truth[order], 1, -1))])
    apart = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    place = int(np.argmax(np.where(apart, gain, gain.min() - 1)))
    if place == 0:
        return float("inf")
    if place == len(ordered):
        return float("-inf")
    return float((ordered[place - 1] + ordered[place]) / 2)


def relation_thresholds(right: Triples, wrong: Triples, good: Float64, bad: Float64, /) -> float:
    """Returns the accuracy by a threshold a relation, mean of five splits in halves.

    A relation that the first half lacks takes the threshold of all.
    """
    scores = np.concatenate([good, bad])
    rel = np.concatenate([right.rel, wrong.rel])
    truth = np.concatenate([np.ones(len(good), dtype=np.bool_), np.zeros(len(bad), dtype=np.bool_)])
    accuracies = []
    for seed in range(SPLITS):
        random = np.random.Generator(np.random.PCG64(seed))
        first = np.zeros(len(scores), dtype=np.bool_)
        for begin, count in ((0, len(good)), (len(good), len(bad))):
            first[begin + random.permutation(count)[: count // 2]] = True
        every = threshold(scores[first], truth[first])
        hits = 0
        for relation in np.unique(rel[~first]).tolist():
            mine = rel == relation
            fit = mine & first
            bound = threshold(scores[fit], truth[fit]) if fit.any() else every
            test = mine & ~first
            hits += int(np.count_nonzero((scores[test] >= bound) == truth[test]))
        accuracies.append(hits / np.count_nonzero(~first))
    return float(np.mean(accuracies))
