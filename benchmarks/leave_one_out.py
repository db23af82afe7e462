"""``python -m benchmarks families``: every family judged without what was trained on it.

Each family's questions are retrieved under a preset whose scorer was trained on the other
families. The mean over the families is the figure that decides. Intervals are of 95 %, by a
bootstrap over gold relations or chains: what asks for the same stands or falls together.

Judgements are kept as they are made, so that a run that was stopped goes on where it was.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.families import FamilyQuestion, GraphFile, QuestionSet, choose
from benchmarks.judging import Cause, FamilyJudge, Judgement
from benchmarks.kept_judgements import JUDGEMENTS, KeptJudgements, code_hash, file_hash
from benchmarks.reliability import ReliabilityBin, reliability
from graph_service.quality.bootstrap import bootstrap_means
from graph_service.retrieve.preset import PRESETS
from graph_service.service import Service

OpenGraph = Callable[[GraphFile, Path | None], AbstractContextManager[Service]]
"""Opens a service over a graph, with the scorer of a file; None for what the preset has."""
ScorerWithout = Callable[[str], Path | None]
"""Returns the scorer that was trained without a family; None for what the preset has."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over questions, or over families, with its interval of 95 %."""

    value: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class GroupReport:
    """How some questions fared.

    Attributes:
        name: Of the group: a family, a set, a shape, a template.
        family: Which it is of.
        figures: By name, see ``benchmarks.judging``.
        causes: How many went wrong, by cause.
        statuses: How many retrievals ended in each status.
        median_ms, p95_ms: Of the calls for paths, vectors as they come.
    """

    name: str
    family: str
    questions: int
    figures: Mapping[str, Figure]
    causes: Mapping[str, int]
    statuses: Mapping[str, int]
    median_ms: float
    p95_ms: float


@dataclass(frozen=True, slots=True)
class FamilyMiss:
    """A question that went wrong, and why."""

    family: str
    id: str
    question: str
    cause: str
    linked: tuple[str, ...]
    gold: str
    got: str


@dataclass(frozen=True, slots=True)
class LeaveOneOutReport:
    """What one run found.

    Attributes:
        preset: Its name with its version.
        given: Whether the topics were given.
        code: Hash of the code that retrieved and judged.
        scorers: Hash of the scorer that did not see a family; empty for what the preset has.
        read: Questions of each set, of which a sample was judged.
        mean: The figures' means over the families.
        families, sets, shapes, templates: The groups.
        samples: The questions on which a set's figures are given, as far as they were judged.
        misses: The first of each family.
        reliability: Answers by their confidence, and how many of them are right.
    """

    preset: str
    given: bool
    code: str
    scorers: Mapping[str, str]
    read: Mapping[str, int]
    mean: Mapping[str, Figure]
    families: tuple[GroupReport, ...]
    sets: tuple[GroupReport, ...]
    shapes: tuple[GroupReport, ...]
    templates: tuple[GroupReport, ...]
    samples: tuple[GroupReport, ...]
    misses: tuple[FamilyMiss, ...] = ()
    reliability: tuple[ReliabilityBin, ...] = ()


@dataclass(slots=True)
class _Judged:
    questions: list[FamilyQuestion] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)


def measure_families(
    sets: Iterable[QuestionSet],
    /,
    *,
    open_graph: OpenGraph,
    scorer_without: ScorerWithout = lambda _: None,
    preset: str = "default",
    given: bool = False,
    sample: int | None = None,
    published: bool = False,
    random_seed: int = 0,
    keep: Path | None = None,
    misses: int = 20,
    progress: Callable[[str, int, int], None] | None = None,
) -> LeaveOneOutReport:
    """Returns how retrieval fares on each family, scored by what did not see it.

    Args:
        sets: The families' sets.
        open_graph: Opens a service over a graph.
        scorer_without: Trains or finds the scorer that did not see a family.
        preset: Under which retrieval runs.
        given: Whether the questions' entities are given.
        sample: How many questions of each set; None for all.
        published: Only the questions on which a set's figures are given, where it has such.
        random_seed: Of the sample and the bootstrap.
        keep: A folder that keeps judgements between runs.
        misses: How many of each family are listed.
        progress: Called with a set's name, how many of its questions are done, and of how many.
    """
    code, name = code_hash(), PRESETS[preset].name if preset in PRESETS else preset
    judged: dict[str, _Judged] = {}
    scorers: dict[str, str] = {}
    read: dict[str, int] = {}
    paths: dict[str, Path | None] = {}
    for questions in sets:
        unseen = questions.unseen
        if unseen not in paths:
            paths[unseen] = scorer_without(unseen) if unseen else None
            scorers[unseen] = file_hash(paths[unseen])
        key = "\t".join((name, code, scorers[unseen], "given" if given else "linked"))
        kept = KeptJudgements(keep / JUDGEMENTS if keep else None, key)
        chosen = choose(
            questions.questions, sample=sample, random_seed=random_seed, published=published
        )
        missing = [one for one in chosen if kept.find(one.id) is None]
        if missing:
            with open_graph(questions.graph, paths[unseen]) as service, kept.writing() as write:
                judge = FamilyJudge(service, questions.graph.name, preset=preset, given=given)
                for number, question in enumerate(missing, start=len(chosen) - len(missing) + 1):
                    write(judge.judge(question))
                    if progress:
                        progress(questions.name, number, len(chosen))
        rows = judged.setdefault(questions.name, _Judged())
        rows.questions.extend(chosen)
        rows.judgements.extend(one for one in map(kept.find, _ids(chosen)) if one is not None)
        read[questions.name] = len(questions.questions)
    everything = [
        (question, judgement)
        for rows in judged.values()
        for question, judgement in zip(rows.questions, rows.judgements, strict=True)
    ]
    reports = _groups(everything, lambda question: question.family, random_seed)
    return LeaveOneOutReport(
        preset=name,
        given=given,
        code=code,
        scorers=scorers,
        read=read,
        mean=_mean_of_families(everything, random_seed),
        families=reports,
        sets=_groups(everything, lambda question: question.set, random_seed),
        shapes=_groups(everything, lambda question: question.shape, random_seed),
        templates=_groups(everything, lambda question: question.template, random_seed),
        samples=_samples(everything, random_seed),
        misses=tuple(_misses(everything, misses)),
        reliability=reliability(_sure_answers(judgement for _, judgement in everything)),
    )


def _sure_answers(judgements: Iterable[Judgement]) -> Iterator[tuple[float, bool]]:
    """Yields the confidence of each answer that has one, and whether it is right."""
    for judgement in judgements:
        figures = judgement.figures
        is_right = figures.get("right first", figures.get("Hits@1"))
        if is_right is not None and "confidence" in figures:
            yield figures["confidence"], bool(is_right)


def _ids(questions: Iterable[FamilyQuestion]) -> list[str]:
    return [question.id for question in questions]


_Pair = tuple[FamilyQuestion, Judgement]


def _groups(
    pairs: Sequence[_Pair], name_of: Callable[[FamilyQuestion], str], random_seed: int
) -> tuple[GroupReport, ...]:
    """Returns a report of each group of each family, in order of first appearance."""
    found: dict[tuple[str, str], list[_Pair]] = defaultdict(list)
    for question, judgement in pairs:
        if name := name_of(question):
            found[question.family, name].append((question, judgement))
    return tuple(
        _report(name, family, group, random_seed) for (family, name), group in found.items()
    )


def _samples(pairs: Sequence[_Pair], random_seed: int) -> tuple[GroupReport, ...]:
    """Returns reports of the questions on which figures are given: all together, and by family."""
    sampled = [pair for pair in pairs if pair[0].in_sample]
    if not sampled:
        return ()
    whole = _report("sample_ids", "", sampled, random_seed)
    return (whole, *_groups(sampled, lambda question: question.family, random_seed))


def _report(name: str, family: str, pairs: Sequence[_Pair], random_seed: int) -> GroupReport:
    figures = {}
    for figure, (values, groups) in _values(pairs).items():
        means = bootstrap_means(values, groups, random_seed=random_seed)
        low, high = np.percentile(means, (2.5, 97.5)).tolist()
        figures[figure] = Figure(float(values.mean()), low, high, len(values))
    times = [judgement.ms for _, judgement in pairs]
    causes = Counter(judgement.cause for _, judgement in pairs if judgement.cause)
    return GroupReport(
        name=name,
        family=family,
        questions=len(pairs),
        figures=figures,
        causes={cause.value: causes[cause.value] for cause in Cause if causes[cause.value]},
        statuses=dict(sorted(Counter(judgement.status for _, judgement in pairs).items())),
        median_ms=float(np.median(times)),
        p95_ms=float(np.percentile(times, 95)),
    )


def _values(
    pairs: Sequence[_Pair],
) -> dict[str, tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], list[str]]]:
    names = dict.fromkeys(name for _, judgement in pairs for name in judgement.figures)
    found = {}
    for name in names:
        rows = [(q.group, j.figures[name]) for q, j in pairs if name in j.figures]
        found[name] = (np.array([value for _, value in rows]), [group for group, _ in rows])
    return found


def _mean_of_families(pairs: Sequence[_Pair], random_seed: int) -> dict[str, Figure]:
    """Returns the mean of the families' means; each family's questions are drawn apart."""
    families: dict[str, list[_Pair]] = defaultdict(list)
    for question, judgement in pairs:
        families[question.family].append((question, judgement))
    means: dict[str, list[tuple[float, np.ndarray[tuple[int, ...], np.dtype[np.float64]], int]]]
    means = defaultdict(list)
    for number, group in enumerate(families.values()):
        for name, (values, groups) in _values(group).items():
            drawn = bootstrap_means(values, groups, random_seed=random_seed + 1000 * number)
            means[name].append((float(values.mean()), drawn, len(values)))
    found = {}
    for name, rows in means.items():
        drawn = np.mean([draws for _, draws, _ in rows], axis=0)
        low, high = np.percentile(drawn, (2.5, 97.5)).tolist()
        value = float(np.mean([mean for mean, _, _ in rows]))
        found[name] = Figure(value, low, high, sum(count for _, _, count in rows))
    return found


def _misses(pairs: Sequence[_Pair], most: int) -> Iterator[FamilyMiss]:
    shown: Counter[str] = Counter()
    for question, judgement in pairs:
        if judgement.cause and shown[question.family] < most:
            shown[question.family] += 1
            yield FamilyMiss(
                question.family,
                question.id,
                question.text,
                judgement.cause,
                judgement.linked,
                judgement.gold,
                judgement.got,
            )


def table_rows(reports: Iterable[GroupReport], /) -> list[list[str]]:
    """Returns the figures of some groups as rows for a person, the head first."""
    reports = list(reports)
    names = list(dict.fromkeys(name for report in reports for name in report.figures))
    rows = [["family", "group", "questions", *names]]
    for report in reports:
        cells = [_cell(report.figures.get(name)) for name in names]
        rows.append([report.family, report.name, f"{report.questions:,}", *cells])
    return rows


def cause_rows(reports: Iterable[GroupReport], /) -> list[list[str]]:
    """Returns the causes of some groups, as shares of the questions, the head first."""
    reports = list(reports)
    causes = [cause.value for cause in Cause if any(cause.value in r.causes for r in reports)]
    rows = [["family", *causes]]
    for report in reports:
        shares = [report.causes.get(cause, 0) / report.questions for cause in causes]
        rows.append([report.name, *(f"{share:.3f}" if share else "-" for share in shares)])
    return rows


def mean_row(report: LeaveOneOutReport, /) -> list[list[str]]:
    """Returns the means over the families as rows for a person, the head first."""
    return [
        ["", "", "families", *report.mean],
        ["mean", "", str(len(report.families)), *map(_cell, report.mean.values())],
    ]


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    return f"{figure.value:.3f} ({figure.low:.2f}-{figure.high:.2f})"
