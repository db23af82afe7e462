"""Trains the confidence of first answers that ships, and says how well it does on other families.

    make train-confidence DATA=../shared/data

Asked are questions that the networks did not learn from (``tools/confidence_questions.py``). What
the first answer's confidence would be made of is written down, and whether the answer is right. With
``--record`` a file keeps that, and what it has is not asked again.

The logit is scaled by people's questions, which are harder than those of chains and tables that are
most of what trains. Each third of them is judged by weights that the other two thirds trained, as
Platt does it. The file says which rows these are.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.families import FAMILIES, WIKIDATA_FAMILIES
from graph_service.embed.protocol import Embedder
from graph_service.model.graph import Float64
from graph_service.model.identity import key64
from graph_service.model.request import RetrieveRequest
from graph_service.model.result import PathsResult, Strategy
from graph_service.retrieve.learned.confidence import (
    INPUT_NAMES,
    AnswerConfidence,
    encode_confidence,
    shipped_confidence,
)
from graph_service.retrieve.learned.network import shipped_scorer
from graph_service.retrieve.learned.question_reader import Finalists, QuestionReader
from graph_service.retrieve.learned.rankers import NetworkRanker
from graph_service.retrieve.learned.reading import with_reading
from graph_service.retrieve.preset import LEARNED
from graph_service.service import Service
from queries.training.confidence import Scale, fit_scale, logits, scaled, train_confidence
from queries.training.set_calibration import MOST_COVERAGE, conformal_gaps, gap_of_right
from tools.confidence_questions import TrainingQuestion, questions_by_service

WEIGHTS = {"as it is": 2.0, "withheld": 0.7, "not named": 0.4}
"""How much a question counts, by what was done to it: about three in four can be answered."""
UNANSWERABLE = 0.2
"""How much of the weight questions have that the graph cannot answer, where the logit is scaled."""
FOLDS = 3
"""Parts of people's questions that are judged by weights of the other parts (Platt 1999)."""
_BOUNDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a first answer's confidence is made of, and whether the answer is right.

    Attributes:
        family: Of the question.
        how: What was done to it, a key of ``WEIGHTS``.
        text: Of the question.
        inputs: ``INPUT_NAMES``; None of an answer that has no confidence by weights: to a question
            about a class, or to one that may be misread in a way that is never sure.
        gap: How far below the best score the first reading is that lists a right answer; infinity
            where none does, None where the answer is computed.
    """

    family: str
    how: str
    text: str
    inputs: Float64 | None
    is_right: bool
    gap: float | None

    @property
    def fold(self) -> int | None:
        """Which part of people's questions it is in, with all that was done to a question; None of
        another family's.
        """
        is_peoples = self.family in WIKIDATA_FAMILIES
        return key64(f"fold\t{self.text}") % FOLDS if is_peoples else None


class Judged(NamedTuple):
    """An answer, and its unscaled logit by weights that it did not train."""

    answered: Answered
    logit: float


@dataclass(frozen=True, slots=True)
class _Recorder(AnswerConfidence):
    """Keeps the inputs of the last answer; always sure."""

    last: list[Float64] = field(default_factory=list)

    def probability(self, inputs: Float64, /) -> float:
        """Keeps the inputs."""
        self.last.append(inputs)
        return 1.0


class _RecordingRanker:
    """Ranks as what ships does, and keeps what confidence is made of."""

    name = "recorder of confidence"

    def __init__(self, embedder: Embedder) -> None:
        self._ranker = with_reading(NetworkRanker(shipped_scorer()), embedder)
        self.calibration = _Recorder((), 0.0)

    def rank(self, reader: QuestionReader, most: int, /) -> tuple[Finalists, Float64]:
        """Returns the best candidates and their scores."""
        return self._ranker.rank(reader, most)


def ask(service: Service, question: TrainingQuestion, /) -> Answered | None:
    """Returns what one question gives; None where nothing is ranked."""
    ranker = _RecordingRanker(service.vectors.embedder)
    with service.ranking_by(ranker):
        result = service.retrieve(
            RetrieveRequest(
                question.text,
                Strategy.PATHS,
                graph=question.graph,
                preset="default-6",
                coverage=MOST_COVERAGE,
                exclude_relation_ids=question.left_out,
            )
        )
    assert isinstance(result, PathsResult)
    inputs = ranker.calibration.last
    if not inputs or not result.items:
        return None
    return Answered(
        question.family,
        question.how,
        question.text,
        inputs[-1] if result.confidence == 1.0 else None,
        question.is_right(result),
        gap_of_right(result, question.answers),
    )


def record(data: Path, folder: Path, most: int, records: Path | None, /) -> Iterator[Answered]:
    """Yields what all questions give.

    Args:
        data: The folder of the data.
        folder: Where the graphs are loaded.
        most: Questions of a set.
        records: File of what was asked before, which is added to.
    """
    known = dict(_read_records(records)) if records is not None and records.exists() else {}
    with ExitStack() as stack:
        out = None
        if records is not None:
            out = stack.enter_context(records.open("a", encoding="utf-8"))
        for open_service, questions in questions_by_service(data, folder, most):
            new = [each for each in questions if each.key not in known]
            earlier = (known.get(question.key) for question in questions)
            yield from (answered for answered in earlier if answered is not None)
            if not new:
                continue
            with open_service() as service:
                for number, question in enumerate(new, start=1):
                    answered = ask(service, question)
                    if out is not None:
                        out.write(json.dumps([question.key, _plain(answered)]) + "\n")
                        out.flush()
                    if answered is not None:
                        yield answered
                    if number % 100 == 0:
                        print(f"{question.graph}: {number:,} of {len(new):,}", flush=True)


def _plain(answered: Answered | None) -> object:
    if answered is None:
        return None
    inputs = None if answered.inputs is None else answered.inputs.tolist()
    return [answered.family, answered.how, inputs, answered.is_right, answered.gap]


def _read_records(path: Path) -> Iterator[tuple[str, Answered | None]]:
    for line in path.read_text("utf-8").splitlines():
        key, plain = json.loads(line)
        if plain is None:
            yield key, None
            continue
        family, how, inputs, is_right, gap = plain
        numbers = None if inputs is None else np.array(inputs)
        yield key, Answered(family, how, key.split("\t")[-1], numbers, is_right, gap)


def answerable_gaps(answered: Sequence[Answered], /) -> dict[str, list[float]]:
    """Returns the gaps of the questions as they are whose answers are not computed, by family."""
    gaps: dict[str, list[float]] = defaultdict(list)
    for each in answered:
        if each.how == "as it is" and each.gap is not None:
            gaps[each.family].append(each.gap)
    return gaps


def gaps_of_families(answered: Sequence[Answered], /) -> dict[float, float]:
    """Returns the gaps that hold each share in every family of published questions: the largest of
    theirs.
    """
    gaps = answerable_gaps(answered)
    reached = [conformal_gaps(gaps[family]) for family in FAMILIES if family in gaps]
    shares = set.intersection(*(set(each) for each in reached))
    return {share: max(each[share] for each in reached) for share in sorted(shares)}


def train(
    answered: Sequence[Answered], /, *, without: str = "", only: Collection[str] = ()
) -> AnswerConfidence:
    """Returns the confidence of some answers: weights of most, scaled by the others.

    Args:
        answered: The answers.
        without: A family that is left out.
        only: Inputs whose weights are trained, by all answers; all else stays as it ships, which
            is scaled. Empty to train all.
    """
    rows = [each for each in answered if each.family != without]
    if only:
        start = shipped_confidence()
        notes = {**start.notes, "later": {**_notes(rows), "only": sorted(only)}}
        return train_confidence(
            *_arrays(rows), notes=notes, gaps=start.gaps, start=start, only=only
        )
    judged = judge_by_folds(rows)
    scale = scale_of(judged)
    notes = {**_notes(rows), "scaled": _scale_notes(scale, judged)}
    unscaled = train_confidence(*_arrays(rows), notes=notes, gaps=gaps_of_families(rows))
    return scaled(unscaled, scale)


def judge_by_folds(answered: Sequence[Answered], /) -> list[Judged]:
    """Returns people's answers that have inputs, judged by weights that their fold did not train."""
    judged: list[Judged] = []
    for fold in range(FOLDS):
        weights = train_confidence(*_arrays([each for each in answered if each.fold != fold]))
        own = [each for each in answered if each.fold == fold and each.inputs is not None]
        judged.extend(map(Judged, own, logits(weights, _arrays(own)[0]).tolist()))
    return judged


def scale_of(judged: Sequence[Judged], /) -> Scale:
    """Returns the scale of people's answers, ``UNANSWERABLE`` of which the graph cannot give.

    Raises:
        ValueError: No answer is of a question that the graph can answer, or none of another.
    """
    is_answerable = [each.answered.how == "as it is" for each in judged]
    counts = Counter(is_answerable)
    if len(counts) < 2:
        raise ValueError(
            "the scale takes people's questions with and without an answer in the graph"
        )
    shares = {True: 1.0 - UNANSWERABLE, False: UNANSWERABLE}
    return fit_scale(
        np.array([each.logit for each in judged]),
        np.array([each.answered.is_right for each in judged]),
        np.array([len(judged) * shares[each] / counts[each] for each in is_answerable]),
    )


def _arrays(answered: Sequence[Answered]) -> tuple[Float64, NDArray[np.bool_], Float64]:
    """Returns the inputs, whether the answer is right and the weight of what has inputs."""
    rows = [(each, each.inputs) for each in answered if each.inputs is not None]
    return (
        np.array([inputs for _, inputs in rows]).reshape(-1, len(INPUT_NAMES)),
        np.array([each.is_right for each, _ in rows], dtype=bool),
        np.array([WEIGHTS[each.how] for each, _ in rows]),
    )


def _notes(answered: Sequence[Answered]) -> dict[str, object]:
    return {"questions": len(answered), "command": "make train-confidence"}


def _scale_notes(scale: Scale, judged: Sequence[Judged]) -> dict[str, object]:
    counts = Counter(f"{each.answered.family}, {each.answered.how}" for each in judged)
    return {
        "factor": round(scale.factor, 4),
        "shift": round(scale.shift, 4),
        "questions": len(judged),
        "rows": dict(sorted(counts.items())),
        "by": f"people's questions, {FOLDS} folds by a hash of the text",
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Trains, prints figures of each family left out, and writes; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("data", type=Path, help="the folder of the data")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--most", type=int, default=150, help="questions of a set")
    parser.add_argument("--keep", type=Path, help="a folder that keeps the loaded graphs")
    parser.add_argument("--record", type=Path, help="a file that keeps what questions gave")
    parser.add_argument("--only", nargs="+", default=(), choices=INPUT_NAMES, metavar="INPUT",
                        help="train these inputs' weights and keep all others that ship")  # fmt: skip
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as made:
        answered = list(record(chosen.data, chosen.keep or Path(made), chosen.most, chosen.record))
    _print_families(answered, chosen.only)
    if not chosen.only:
        _print_scale(answered)
    chosen.out.write_text(encode_confidence(train(answered, only=chosen.only)), encoding="utf-8")
    return 0


def _print_families(answered: Sequence[Answered], only: Collection[str]) -> None:
    for family in sorted({each.family for each in answered}):
        weights = train(answered, without=family, only=only)
        own = [each for each in answered if each.family == family]
        print(f"{family}: {_figures(weights, own)}")
        own_gaps = answerable_gaps(own)[family]
        for share in (0.8, 0.9):
            held = np.mean([gap <= weights.gap(share) for gap in own_gaps]) if own_gaps else np.nan
            print(f"  sets for {share}: gap {weights.gap(share):.2f}, right in {held:.3f}")
    doubted = [each.is_right for each in answered if each.inputs is None]
    print(f"without weights: {len(doubted)} answers, {sum(doubted)} right")


def _figures(weights: AnswerConfidence, answered: Sequence[Answered]) -> str:
    inputs, right, _ = _arrays(answered)
    probability = expit(logits(weights, inputs))
    return f"{len(answered)} answers, {_sure_figures(probability, right, LEARNED.min_confidence)}"


def _sure_figures(probability: Float64, right: NDArray[np.bool_], least: float) -> str:
    """Returns in words how many answers are sure, how many of these are right, and what is said."""
    is_sure = probability >= least
    if not is_sure.any():
        return f"none of at least {least}"
    return (
        f"{is_sure.sum()} of at least {least}, {right[is_sure].mean():.3f} of these right, "
        f"which says {probability[is_sure].mean():.3f}"
    )


def _print_scale(answered: Sequence[Answered]) -> None:
    """Prints the scale of all answers, and what people's are by bound, as their fold judges them."""
    judged = judge_by_folds(answered)
    scale = scale_of(judged)
    print(f"scale: the logit times {scale.factor:.3f}, plus {scale.shift:.3f}")
    for how in WEIGHTS:
        own = [each for each in judged if each.answered.how == how]
        unscaled = np.array([each.logit for each in own])
        right = np.array([each.answered.is_right for each in own], dtype=bool)
        total = sum(each.fold is not None and each.how == how for each in answered)
        print(f"{total} of people's questions, {how}:")
        print(f"  before: {_sure_figures(expit(unscaled), right, LEARNED.min_confidence)}")
        probability = expit(scale.factor * unscaled + scale.shift)
        for least in _BOUNDS:
            print(f"  {_sure_figures(probability, right, least)}")


if __name__ == "__main__":
    raise SystemExit(main())
