"""How often sets of readings hold the right answer, on the base graph and on perturbed views.

    python -m benchmarks.answer_sets ../shared/data --view edge-deletion:0.3:1

The questions are people's, over Wikidata, whose ids ``sample_ids.txt`` lists: none of them
calibrated the sets.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.commands.families import open_graph
from benchmarks.families import (
    WIKIDATA_FAMILIES,
    FamilyQuestion,
    GraphFile,
    choose,
    read_family,
)
from graph_service.model.request import RetrieveRequest, ViewRef
from graph_service.model.result import AnswerSet, Strategy
from graph_service.model.view_reference import parse_view
from graph_service.retrieve.learned.confidence import shipped_confidence
from graph_service.service import Service
from queries.datasets.wikidata_questions import FOLDER, read_labels

COVERAGES = (0.8, 0.9)
_PRESET = "default-6"


@dataclass(frozen=True, slots=True)
class SetFigures:
    """What sets of one coverage come to over some questions.

    Attributes:
        questions: Asked, whose answers are not computed.
        held: Share of them whose set holds the right answer.
        readings, answers: Of a set in the median.
    """

    questions: int
    held: float
    readings: float
    answers: float


def holds(answer_set: AnswerSet, question: FamilyQuestion, /) -> bool:
    """Returns whether a right answer is listed."""
    listed = (value for reading in answer_set.readings for value in reading.values)
    return any(value in question.answers for value in listed)


def figures(sets: Sequence[tuple[AnswerSet, FamilyQuestion]], /) -> SetFigures:
    """Returns the figures of some sets."""
    if not sets:
        return SetFigures(0, math.nan, math.nan, math.nan)
    return SetFigures(
        len(sets),
        float(np.mean([holds(each, question) for each, question in sets])),
        float(np.median([len(each.readings) for each, _ in sets])),
        float(np.median([sum(row.count for row in each.readings) for each, _ in sets])),
    )


def within(answer_set: AnswerSet, coverage: float, /) -> AnswerSet:
    """Returns the set of a smaller coverage: its readings are the first ones of the larger set."""
    most = shipped_confidence().gap(coverage)
    readings = (each for each in answer_set.readings if -each.gap <= most)
    return replace(answer_set, coverage=coverage, readings=tuple(readings))


def sets_of(
    service: Service, graph: str, questions: Sequence[FamilyQuestion], view: ViewRef | None, /
) -> Iterator[tuple[AnswerSet, FamilyQuestion]]:
    """Yields the sets of the largest coverage, but where the answer is computed or nothing is
    linked.
    """
    for question in questions:
        request = RetrieveRequest(
            question.text,
            Strategy.PATHS,
            graph=graph,
            view=view,
            preset=_PRESET,
            limit=1,
            coverage=max(COVERAGES),
        )
        answer_set = service.retrieve(request).answer_set
        if answer_set is not None:
            yield answer_set, question


def held_out(data: Path, most: int, /) -> tuple[GraphFile, list[FamilyQuestion]]:
    """Returns the people's graph, and their questions that calibrated nothing and whose entities
    have labels.
    """
    named = read_labels(data / FOLDER, "en").keys()
    questions: list[FamilyQuestion] = []
    graph: GraphFile | None = None
    for family in WIKIDATA_FAMILIES:
        for question_set in read_family(family, data):
            graph = question_set.graph
            questions += [
                each
                for each in question_set.questions
                if each.in_sample and set(each.topics) <= named
            ]
    assert graph is not None
    return graph, choose(questions, sample=most, random_seed=0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row for the base and for each view; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="the folder of the data")
    parser.add_argument("--view", action="append", default=[], help="METHOD:LEVEL:SEED, repeated")
    parser.add_argument("--most", type=int, default=280, help="questions")
    parser.add_argument("--stores", type=Path, help="a folder that keeps the loaded graph")
    chosen = parser.parse_args(arguments)
    graph, questions = held_out(chosen.data, chosen.most)
    views = [("base", None), *((text, parse_view(text)) for text in chosen.view)]
    with (
        tempfile.TemporaryDirectory() as made,
        open_graph(chosen.stores or Path(made), graph, None) as service,
    ):
        print("| view | coverage | n | held | readings | answers |\n|---|---|---|---|---|---|")
        for name, view in views:
            sets = list(sets_of(service, graph.name, questions, view))
            for coverage in COVERAGES:
                row = figures([(within(each, coverage), question) for each, question in sets])
                print(
                    f"| {name} | {coverage} | {row.questions} | {row.held:.3f} | "
                    f"{row.readings:.0f} | {row.answers:.0f} |",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
