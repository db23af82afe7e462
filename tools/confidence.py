"""Trains the confidence of first answers that ships, and says how well it does on other families.

    make train-confidence DATA=../shared/data

Asked are questions that the networks did not learn from: as they are, again with the relations of
their last step left out of the graph, and those whose entity the graph cannot name. What the first
answer's confidence would be made of is written down, and whether the answer is right.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
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
from benchmarks.family_scorers import MOST_OF_A_SET
from benchmarks.judging import end_of
from graph_service.embed.protocol import Embedder
from graph_service.model.graph import Float64
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.retrieve.learned.confidence import AnswerConfidence, encode_confidence
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.retrieve.learned.reading import with_reading
from graph_service.service import Service
from queries.datasets.wikidata_questions import FOLDER, read_labels
from queries.training.confidence import train_confidence

OTHER_FAMILIES = ("pathquestion", "metaqa", "worldcup")
LEAST_COVERAGE, MOST_COVERAGE = 0.5, 0.99
WEIGHTS = {"as it is": 2.0, "withheld": 0.7, "not named": 0.4}
"""How much a question counts, by what was done to it: about three in four can be answered."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a first answer's confidence is made of, and whether the answer is right.

    Attributes:
        gap: How far below the best score the first reading is that lists a right answer; infinity
            where none does, None where the answer is computed.
    """

    family: str
    how: str
    inputs: Float64
    is_right: bool
    gap: float | None


@dataclass(frozen=True, slots=True)
class _Recorder(AnswerConfidence):
    """Keeps the inputs of the last answer; never sure."""

    last: list[Float64] = field(default_factory=list)

    def probability(self, inputs: Float64, /) -> float:
        """Keeps the inputs."""
        self.last.append(inputs)
        return 0.0


class _RecordingRanker:
    """Ranks as what ships does, and keeps what confidence is made of."""

    name = "recorder of confidence"

    def __init__(self, embedder: Embedder) -> None:
        self._ranker = with_reading(NetworkRanker(shipped_scorer()), embedder)
        self.calibration = _Recorder((), 0.0)

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns the best candidates and their scores."""
        return self._ranker.rank(reader, most)


def questions_to_ask(data: Path, most: int, /) -> Iterator[tuple[GraphFile, FamilyQuestion, str]]:
    """Yields questions that the networks that ship did not learn from, and what is done to each.

    Args:
        data: The folder of the data.
        most: Questions of a set, and half as many of each other kind.
    """
    named = read_labels(data / FOLDER, "en").keys()
    for family in (*WIKIDATA_FAMILIES, *OTHER_FAMILIES):
        for questions in read_family(family, data):
            learned = choose(questions.questions, sample=MOST_OF_A_SET, random_seed=0)
            seen = {each.id for each in learned} if questions.unseen != "worldcup" else set()
            unseen = [each for each in questions.questions if each.id not in seen]
            whole = [
                each
                for each in unseen
                if family not in WIKIDATA_FAMILIES or named >= set(each.topics)
            ]
            of_set = choose(whole, sample=most, random_seed=1)
            for question in of_set:
                yield questions.graph, question, "as it is"
            for question in of_set[: most // 2]:
                yield questions.graph, question, "withheld"
            if family in WIKIDATA_FAMILIES:
                unnamed = [each for each in unseen if named.isdisjoint(each.topics)]
                for question in choose(unnamed, sample=most // 2, random_seed=1):
                    yield questions.graph, question, "not named"


def ask(service: Service, graph: str, question: FamilyQuestion, how: str, /) -> Answered | None:
    """Returns what one question gives; None where nothing is ranked."""
    ranker = _RecordingRanker(service.vectors.embedder)
    left_out = {chain.steps[-1][0] for chain in question.chains if chain.steps}
    with service.ranking_by(ranker):
        result = service.retrieve(
            RetrieveRequest(
                question.text,
                Strategy.PATHS,
                graph=graph,
                preset="default-6",
                limit=1,
                coverage=MOST_COVERAGE,
                exclude_relation_ids=tuple(sorted(left_out)) if how == "withheld" else (),
            )
        )
    assert isinstance(result, PathsResult)
    inputs = ranker.calibration.last
    if not inputs or not result.items:
        return None
    is_right = end_of(result.items[0]) in question.answers
    gap = gap_of_right(result, question.answers)
    return Answered(question.family, how, inputs[-1], is_right, gap)


def gap_of_right(result: PathsResult, answers: Container[str], /) -> float | None:
    """Returns how far below the best the first reading is that lists a right answer.

    Infinity where none does; None where the result has no answer set.
    """
    if result.answer_set is None:
        return None
    for reading in result.answer_set.readings:
        if any(value in answers for value in reading.values):
            return abs(reading.gap)
    return math.inf


def record(data: Path, folder: Path, most: int, /) -> list[Answered]:
    """Returns what all questions give.

    Args:
        data: The folder of the data.
        folder: Where the graphs are loaded.
        most: Questions of a set.
    """
    by_graph: dict[GraphFile, list[tuple[FamilyQuestion, str]]] = defaultdict(list)
    for graph, question, how in questions_to_ask(data, most):
        by_graph[graph].append((question, how))
    found: list[Answered] = []
    for graph, rows in by_graph.items():
        with open_graph(folder, graph, None) as service:
            for number, (question, how) in enumerate(rows, start=1):
                if (answered := ask(service, graph.name, question, how)) is not None:
                    found.append(answered)
                if number % 100 == 0:
                    print(f"{graph.name}: {number:,} of {len(rows):,}", flush=True)
    return found


def conformal_gaps(gaps: Sequence[float], /) -> dict[float, float]:
    """Returns the least gap within which the right answer is, by share of exchangeable questions.

    By split conformal prediction: of n gaps in order the one of rank (n + 1) times the share,
    rounded up. Shares that none or an infinite gap would reach are left out.
    """
    ordered = sorted(gaps)
    reached = {}
    for percent in range(round(100 * LEAST_COVERAGE), round(100 * MOST_COVERAGE) + 1):
        rank = math.ceil((len(ordered) + 1) * percent / 100)
        if rank <= len(ordered) and math.isfinite(ordered[rank - 1]):
            reached[percent / 100] = ordered[rank - 1]
    return reached


def answerable_gaps(answered: Sequence[Answered], /) -> dict[str, list[float]]:
    """Returns the gaps of the questions as they are whose answers are not computed, by family."""
    gaps: dict[str, list[float]] = defaultdict(list)
    for each in answered:
        if each.how == "as it is" and each.gap is not None:
            gaps[each.family].append(each.gap)
    return gaps


def gaps_of_families(answered: Sequence[Answered], /) -> dict[float, float]:
    """Returns the gaps that hold each share in every family: the largest of theirs."""
    reached = [conformal_gaps(gaps) for gaps in answerable_gaps(answered).values()]
    shares = set.intersection(*(set(each) for each in reached))
    return {share: max(each[share] for each in reached) for share in sorted(shares)}


def train(answered: Sequence[Answered], /, *, without: str = "") -> AnswerConfidence:
    """Returns the confidence of some answers, a family left out."""
    rows = [each for each in answered if each.family != without]
    return train_confidence(
        np.array([each.inputs for each in rows]),
        np.array([each.is_right for each in rows]),
        np.array([WEIGHTS[each.how] for each in rows]),
        notes={"questions": len(rows), "command": "make train-confidence"},
        gaps=gaps_of_families(rows),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains, prints figures of each family left out, and writes; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="the folder of the data")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--most", type=int, default=150, help="questions of a set")
    parser.add_argument("--keep", type=Path, help="a folder that keeps the loaded graphs")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as made:
        answered = record(chosen.data, chosen.keep or Path(made), chosen.most)
    for family in sorted({each.family for each in answered}):
        weights = train(answered, without=family)
        own = [each for each in answered if each.family == family]
        sure = [each for each in own if weights.probability(each.inputs) >= 0.6]
        right = np.mean([each.is_right for each in sure]) if sure else np.nan
        print(
            f"{family}: {len(own)} answers, {len(sure)} of at least .6, {right:.3f} of these right"
        )
        own_gaps = answerable_gaps(own)[family]
        for share in (0.8, 0.9):
            held = np.mean([gap <= weights.gap(share) for gap in own_gaps])
            print(f"  sets for {share}: gap {weights.gap(share):.2f}, right in {held:.3f}")
    chosen.out.write_text(encode_confidence(train(answered)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
