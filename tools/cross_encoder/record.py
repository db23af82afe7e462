"""Writes down what the product's own candidates say, as questions for ``make train-scorer``.

    python -m tools.cross_encoder.record DATA --out FILE

Asked are published questions of open licences and questions made of walks, each with its entities
named by the caller and linked. Candidates stand in the order of the networks, so that the wrong
ones are hard.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from tqdm import tqdm

from benchmarks.commands.families import open_graph
from benchmarks.families import FAMILIES, WIKIDATA_FAMILIES, GraphFile, choose, read_family
from benchmarks.family_scorers import (
    MOST_OF_A_SET,
    WALKS,
    WalkSet,
    answered,
    walk_questions,
    walk_sets,
)
from graph_service.model.graph import Float64
from graph_service.model.limits import Deadline
from graph_service.quality.chains import twin_of
from graph_service.retrieve.labels import Labels
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.service import Service
from graph_service.text.fold import name_of_id
from queries.datasets.demo_set import demo_slice
from queries.datasets.wikidata_questions import FOLDER, read_labels
from queries.training.examples import (
    AnsweredQuestion,
    request_of,
    right_candidates,
    with_fewest_walks,
)
from queries.wordings import Wordings

from .orders import FAMILY as ORDERS
from .orders import order_questions

_MOST_RIGHT = 3
_ORDERS = 31_000
_RELATIONS = 260
"""Of the graph, the most frequent, that questions of orders are made of."""
_ENTITY_STRIDE = 11
_SEEDS = (0, 11, 31)
"""Random seeds of the walks: the networks learned from those of the first, not from the others."""


class LineRecorder:
    """Stands in for a ranker, and keeps the lines of the best candidates of the last question."""

    name = "recorder of lines"

    def __init__(self) -> None:
        self._ranker = NetworkRanker(shipped_scorer())
        self._question: AnsweredQuestion | None = None
        self.candidates: list[tuple[str, bool, float | None]] = []

    def ask(self, service: Service, question: AnsweredQuestion, /, *, given: bool) -> None:
        """Asks a question; ``candidates`` are its lines, best first."""
        self._question, self.candidates = question, []
        service.retrieve(request_of(question, by_ids=given))

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Writes the candidates down, and goes on with one of them."""
        assert self._question is not None, "questions are asked by ask"
        finalists, score = self._ranker.rank(reader, most)
        right = right_candidates(reader, self._question, same=twin_of)
        order = np.lexsort((finalists.numbers, -score))
        best = finalists.numbers[order]
        missed = np.setdiff1d(np.flatnonzero(right), best)[:_MOST_RIGHT]
        numbers = np.concatenate((best, missed))
        scores = [*np.round(score[order], 4).tolist(), *[None] * len(missed)]
        self.candidates = list(
            zip(reader.lines(numbers), right[numbers].tolist(), scores, strict=True)
        )
        return with_fewest_walks(reader, finalists), np.zeros(1)


def record(
    data: Path, folder: Path, families: Collection[str], /, *, most: int
) -> Iterator[dict[str, Any]]:
    """Yields the rows of the file.

    Args:
        data: The folder of the published questions.
        folder: Where the graphs' stores are, or are made.
        families: Of ``FAMILIES``, and ``walks`` and ``orders``.
        most: Questions of a set that is made by patterns; of walks a like share.
    """
    named = read_labels(data / FOLDER, "en").keys()
    for family in families:
        if family == WALKS:
            yield from _record_walks(data, folder, most / MOST_OF_A_SET)
            continue
        if family == ORDERS:
            yield from _make_orders(data, folder, round(_ORDERS * most / MOST_OF_A_SET))
            continue
        for questions in read_family(family, data):
            of_people = family in WIKIDATA_FAMILIES
            with open_graph(folder, questions.graph, None) as service:
                for question in tqdm(
                    choose(questions.questions, sample=None if of_people else most, random_seed=0),
                    desc=questions.name,
                ):
                    is_named = not of_people or named >= set(question.topics)
                    rows = _rows(service, answered(question, questions.graph.name), linked=is_named)
                    for row in rows:
                        yield {**row, "fam": family, "set": questions.name, "id": question.id}


def _record_walks(data: Path, folder: Path, share: float) -> Iterator[dict[str, Any]]:
    people = next(read_family(WIKIDATA_FAMILIES[0], data)).graph
    for walks, random_seed in product([*walk_sets(data, people), *_small_graphs(data)], _SEEDS):
        counts = {steps: round(share * count) for steps, count in walks.counts.items()}
        with open_graph(folder, walks.graph, None) as service:
            made = walk_questions(service, replace(walks, counts=counts), random_seed)
            for question in tqdm(made, desc=walks.name):
                for row in _rows(service, question, linked=True):
                    yield {**row, "fam": walks.family or walks.name, "set": question.family}


def _make_orders(data: Path, folder: Path, count: int) -> Iterator[dict[str, Any]]:
    people = next(read_family(WIKIDATA_FAMILIES[0], data)).graph
    with open_graph(folder, people, None) as service:
        info = service.graph(people.name)
        graph = service.arrays(info)
        of_relations = np.bincount(graph.rel[: graph.edge_count], minlength=graph.relation_count)
        common = np.sort(np.argsort(-of_relations, kind="stable")[:_RELATIONS])
        labels = Labels(graph, None, ("en",), Deadline.none())
        ids, texts = graph.relation_ids.take(common), labels.relations(common)
        names = labels.nodes(np.arange(0, graph.entity_count, _ENTITY_STRIDE))
        wordings = Wordings(
            Random(ORDERS), ids, texts, service.relation_aliases(info, ("en",))(ids)
        )
        yield from order_questions(
            wordings,
            texts,
            [name for name in names if name_of_id(name)],
            count=count,
            random_seed=1,
        )


def _small_graphs(data: Path) -> list[WalkSet]:
    """Returns graphs that are like users' own: a table of things, and a few people."""
    northwind = GraphFile("northwind", data / "northwind", kind="things")
    demo = GraphFile("demo", demo_slice(), kind="wikibase")
    counts = {1: 150, 2: 250, 3: 250}
    return [WalkSet(f"{WALKS}-{graph.name}", graph, counts) for graph in (northwind, demo)]


def _rows(
    service: Service, question: AnsweredQuestion, /, *, linked: bool
) -> Iterator[dict[str, Any]]:
    graph = service.arrays(service.graph(question.graph))
    known = all(graph.find_node(id_) is not None for id_ in question.start_ids)
    recorder = LineRecorder()
    with service.ranking_by(recorder):
        for given in (True, False):
            if (known if given else linked) and question.start_ids:
                recorder.ask(service, question, given=given)
                if recorder.candidates:
                    yield {"q": question.text, "given": given, "c": recorder.candidates}


def main() -> int:
    """Writes the file."""
    parser = argparse.ArgumentParser(prog="tools.cross_encoder.record", description=__doc__)
    parser.add_argument("data", type=Path, help="folder of the published questions")
    parser.add_argument("--out", type=Path, required=True, help="file of JSON lines")
    parser.add_argument(
        "--only", nargs="+", default=[*FAMILIES, WALKS, ORDERS], help="families, walks, orders"
    )
    parser.add_argument("--most", type=int, default=MOST_OF_A_SET, help="questions of a made set")
    parser.add_argument("--stores", type=Path, required=True, help="folder of the graphs' stores")
    arguments = parser.parse_args()
    arguments.stores.mkdir(parents=True, exist_ok=True)
    with arguments.out.open("w", encoding="utf-8") as file:
        for row in record(arguments.data, arguments.stores, arguments.only, most=arguments.most):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
