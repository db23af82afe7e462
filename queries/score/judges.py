"""Judges held against a few labels of people: calibrated estimates, and what makes a judge doubtful.

A judge that errs has a biased mean, whatever its interval. Prediction-powered inference (Angelopoulos
and others, Science 2023; its weight as in PPI++, 2023) takes the judge's mean over all cases, and adds
its mean error on the few that people labelled. If these were drawn at random, the interval holds the
truth as often as it says.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from graph_service.errors import InputError
from queries.experiment.distributions import t_quantile
from queries.score.agreement import RatedCase, Rating, cohen_kappa, equal_share, spearman
from queries.score.metric import Float64, Score
from queries.score.report import Part, Report, Section, Table

PEOPLE, PANEL = "people", "panel"
FEWEST_LABELS = 10
NO_LABELS = "people labelled no case that this judge judged"
TOO_FEW = f"people labelled fewer than {FEWEST_LABELS} of the cases that this judge judged"
ALL_LABELLED = "people labelled every case: their mean needs no judge"
NO_TEXTS = "the texts were not given (--texts)"
LONG = 0.3
"""Correlation with the length of a text from which a judge is named as one that favours it."""


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A mean that a judge gives, and what people's labels make of it.

    Attributes:
        plain: The judge's own mean, with the interval that takes it as the truth.
        people: The mean of the labels alone.
        estimate: The prediction-powered mean; ``n`` is the number of labels.
        error: Mean of judge minus people on the labelled cases, with its interval.
        weight: How much of the judge's values is used, 0 to 1: 0 is people alone.
    """

    plain: Score
    people: Score
    estimate: Score
    error: Score
    weight: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """What is known of one judge.

    Attributes:
        name: The rater.
        model: The judge's model; empty where it is not known.
        calibrated: Its mean, with people's labels where there are any.
        length: Spearman's correlation of its values with the words of the texts.
        length_of_people: The same of people's labels.
        warnings: What makes it doubtful.
    """

    name: str
    model: str
    calibrated: Calibrated
    length: Score
    length_of_people: Score
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retest:
    """One judge asked twice: the share of equal values, and kappa."""

    first: str
    second: str
    equal: Score
    kappa: Score


@dataclass(frozen=True, slots=True)
class JudgesReport(Report):
    """Judges over one set of cases.

    Attributes:
        cases: How many there are, and how many people labelled.
        judges: One a rater, the panel last where there are several.
        retests: Of raters of one model.
    """

    cases: int
    labelled: int
    judges: tuple[JudgeFigures, ...]
    retests: tuple[Retest, ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)

    def judge(self, name: str, /) -> JudgeFigures:
        """Returns the figures of a rater; raises ``InputError`` naming those there are."""
        for figures in self.judges:
            if figures.name == name:
                return figures
        raise InputError(
            f"unknown judge {name!r}; there are {', '.join(each.name for each in self.judges)}"
        )

    def parts(self) -> Iterator[Part]:
        """Yields what was judged, a table of all judges, warnings and retests."""
        yield f"{self.cases} cases, {self.labelled} of them labelled by people"
        yield from self.notes
        head = ["judge", "its own mean", "calibrated", "error", "weight", "length, Spearman"]
        rows = [
            [
                each.name,
                each.calibrated.plain.text(),
                each.calibrated.estimate.text(),
                each.calibrated.error.text(),
                "-" if each.calibrated.weight is None else f"{each.calibrated.weight:.2f}",
                each.length.text(),
            ]
            for each in self.judges
        ]
        yield Table([head, *rows])
        for each in self.judges:
            yield from (f"warning, {each.name}: {warning}" for warning in each.warnings)
        for retest in self.retests:
            yield Section(
                f"test and retest, {retest.first} and {retest.second}",
                ({"equal": retest.equal, "kappa": retest.kappa},),
            )


def calibrate_mean(
    judged: Sequence[float | None],
    labels: Sequence[float | None],
    /,
    *,
    clusters: Sequence[Hashable] | None = None,
) -> Calibrated:
    """Returns the mean of a judge's values, as it is and corrected by people's labels.

    Args:
        judged: The judge's value of each case; None where it has none, and the case is in nothing.
        labels: People's value of each case, on the same scale; None where they gave none. The
            labelled cases must have been drawn at random.
        clusters: What each case belongs to, such as the text of a fact; None for itself.

    Three of ten cases are labelled. The judge has .8 over all of them:

    >>> judged = [1.0, 1.0, 1.0, 1.0, 0.0] * 8
    >>> labels = [1.0, 1.0, 0.0, 1.0, 0.0] * 3 + [None] * 25
    >>> calibrated = calibrate_mean(judged, labels)
    >>> round(calibrated.plain.value, 2), round(calibrated.error.value, 2)
    (0.8, 0.2)
    >>> round(calibrated.estimate.value, 2)
    0.6
    """
    own = list(range(len(judged))) if clusters is None else list(clusters)
    cases = [
        (value, label, cluster)
        for value, label, cluster in zip(judged, labels, own, strict=True)
        if value is not None
    ]
    values = np.asarray([value for value, _, _ in cases], dtype=np.float64)
    groups = [cluster for _, _, cluster in cases]
    plain = _mean(values, groups, "the judge has no value")
    is_labelled = np.asarray([label is not None for _, label, _ in cases], dtype=np.bool_)
    count = int(is_labelled.sum())
    if not count:
        none = Score(None, 0, reason=NO_LABELS)
        return Calibrated(plain, none, none, none)
    people_values = np.asarray(
        [label for _, label, _ in cases if label is not None], dtype=np.float64
    )
    on_labelled, rest = values[is_labelled], values[~is_labelled]
    labelled_groups = [group for group, known in zip(groups, is_labelled, strict=True) if known]
    rest_groups = [group for group, known in zip(groups, is_labelled, strict=True) if not known]
    people = _mean(people_values, labelled_groups, NO_LABELS)
    error = _mean(on_labelled - people_values, labelled_groups, NO_LABELS, is_difference=True)
    if count < FEWEST_LABELS:
        return Calibrated(plain, people, Score(None, count, reason=TOO_FEW), error)
    if not len(rest):
        return Calibrated(plain, people, Score(None, count, reason=ALL_LABELLED), error)
    weight = _weight(on_labelled, people_values, rest)
    residuals = people_values - weight * on_labelled
    value = float(weight * rest.mean() + residuals.mean())
    variance, degrees = _variance(residuals, labelled_groups)
    of_rest, rest_degrees = _variance(weight * rest, rest_groups)
    scale = _scale(np.concatenate([values, people_values]))
    if not variance:
        # All labels are as the judge says: as many may still be wrong as none of n allows.
        unseen = 1 - 0.025 ** (1 / len(set(labelled_groups)))
        half = math.hypot(_quantile(0.0, 1.0, of_rest, rest_degrees) * math.sqrt(of_rest),
                          (scale[1] - scale[0]) * unseen)  # fmt: skip
        low, high = max(value - half, scale[0]), min(value + half, scale[1])
    else:
        quantile = _quantile(variance, degrees, of_rest, rest_degrees)
        low, high = _interval(value, variance, of_rest, quantile, len(people_values), scale)
    return Calibrated(plain, people, Score(value, count, low=low, high=high), error, weight)


def _weight(on_labelled: Float64, labels: Float64, rest: Float64) -> float:
    """PPI++'s weight of the judge, which makes the interval shortest; within 0 and 1."""
    variance = float(np.concatenate([on_labelled, rest]).var(ddof=1))
    if not variance:
        return 0.0
    shared = float(((on_labelled - on_labelled.mean()) * (labels - labels.mean())).sum())
    covariance = shared / (len(labels) - 1)
    return min(max(covariance / (variance * (1 + len(labels) / len(rest))), 0.0), 1.0)


def _variance(values: Float64, groups: Sequence[Hashable]) -> tuple[float, float]:
    """Variance of a mean whose cases come in groups, and its degrees of freedom."""
    sums: dict[Hashable, float] = {}
    for value, group in zip(values - values.mean(), groups, strict=True):
        sums[group] = sums.get(group, 0.0) + float(value)
    count = len(sums)
    if count < 2:
        return 0.0, 1.0
    squares = sum(total * total for total in sums.values())
    variance = squares / len(values) ** 2 * count / (count - 1)
    return (0.0 if variance < 1e-18 else variance), count - 1.0


def _quantile(first: float, degrees: float, second: float, second_degrees: float) -> float:
    """Student's t of 95 % for a sum of two variances, with Welch's degrees of freedom."""
    total = first + second
    if not total:
        return 0.0
    return t_quantile(total**2 / (first**2 / degrees + second**2 / second_degrees), 0.05)


def _scale(values: Float64) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _interval(
    value: float,
    variance: float,
    fixed: float,
    quantile: float,
    count: int,
    scale: tuple[float, float],
) -> tuple[float, float]:
    """The interval of a mean on a scale with ends, as Wilson's of a share.

    Args:
        value: The mean.
        variance: Its variance, which grows and shrinks with the true mean as that of a share does.
        fixed: Variance that does not.
        quantile: Student's t.
        count: Cases, which say how near the mean can be to an end of the scale.
        scale: Least and greatest value.
    """
    width = scale[1] - scale[0]
    if not width:
        return value, value
    share = (value - scale[0]) / width
    within = min(max(share, 0.5 / count), 1 - 0.5 / count)
    k = quantile**2 * variance / width**2 / (within * (1 - within))
    middle, last = 2 * share + k, share**2 - quantile**2 * fixed / width**2
    root = math.sqrt(max(middle**2 - 4 * (1 + k) * last, 0.0))
    bounds = ((middle - root) / (2 * (1 + k)), (middle + root) / (2 * (1 + k)))
    return (scale[0] + width * max(bounds[0], 0.0), scale[0] + width * min(bounds[1], 1.0))


def _mean(
    values: Float64, groups: Sequence[Hashable], empty: str, *, is_difference: bool = False
) -> Score:
    if not len(values):
        return Score(None, 0, reason=empty)
    mean = float(values.mean())
    variance, degrees = _variance(values, groups)
    quantile = _quantile(variance, degrees, 0.0, 1.0)
    if is_difference:
        half = quantile * math.sqrt(variance)
        return Score(mean, len(values), low=mean - half, high=mean + half)
    low, high = _interval(mean, variance, 0.0, quantile, len(values), _scale(values))
    return Score(mean, len(values), low=low, high=high)


def judges_report(
    cases: Sequence[RatedCase],
    /,
    *,
    models: Mapping[str, str] | None = None,
    lengths: Mapping[str, int] | None = None,
    generators: Sequence[str] = (),
) -> JudgesReport:
    """Returns what is known of the judges of some cases.

    Args:
        cases: What each judge, and ``people``, say of each case. Ratings are numbers, or yes and no.
        models: The model of each rater, where it is known.
        lengths: Words of the text of each case, by its group.
        generators: Models that wrote the texts.

    Raises:
        InputError: A rating is no number, or nobody but people rated.

    A judge says yes in .8 of 40 cases; where people labelled, it does so .2 too often:

    >>> said = [True, True, True, True, False] * 8
    >>> labels = [True, True, False, True, False] * 3
    >>> cases = [RatedCase(str(i), {"a": each}) for i, each in enumerate(said)]
    >>> for case, label in zip(cases, labels):
    ...     case.ratings["people"] = label
    >>> figures = judges_report(cases).judge("a").calibrated
    >>> round(figures.plain.value, 2), round(figures.estimate.value, 2)
    (0.8, 0.6)
    """
    names = sorted({name for case in cases for name in case.ratings} - {PEOPLE})
    if not names:
        raise InputError("no judge rated a case", argument="file")
    labels = [_number(case, case.ratings.get(PEOPLE)) for case in cases]
    clusters = [case.group or case.id for case in cases]
    columns = {name: [_number(case, case.ratings.get(name)) for case in cases] for name in names}
    known_models = models or {}
    if len({known_models.get(name, name) for name in names}) > 1:
        columns[PANEL] = [_panel(columns, names, index) for index in range(len(cases))]
    words = [None if lengths is None else _length(case, lengths) for case in cases]
    figures = [
        _figures(name, known_models.get(name, ""), column, labels, clusters, words, generators)
        for name, column in columns.items()
    ]
    retests = [
        Retest(
            first,
            second,
            equal_share(columns[first], columns[second], clusters=clusters),
            cohen_kappa(columns[first], columns[second], clusters=clusters),
        )
        for first, second in combinations(names, 2)
        if known_models.get(first) and known_models[first] == known_models.get(second)
    ]
    labelled = sum(label is not None for label in labels)
    notes = (
        ("calibrated: prediction-powered, 95 %; right if the labelled cases were drawn at random",)
        if labelled
        else ("people labelled nothing: what a judge says is not calibrated",)
    )
    return JudgesReport(len(cases), labelled, tuple(figures), tuple(retests), notes)


def _figures(
    name: str,
    model: str,
    column: Sequence[float | None],
    labels: Sequence[float | None],
    clusters: Sequence[Hashable],
    words: Sequence[int | None],
    generators: Sequence[str],
) -> JudgeFigures:
    calibrated = calibrate_mean(column, labels, clusters=clusters)
    has_lengths = any(count is not None for count in words)
    unknown = Score(None, 0, reason=NO_TEXTS)
    length = spearman(column, words, clusters=clusters) if has_lengths else unknown
    of_people = spearman(labels, words, clusters=clusters) if has_lengths else unknown
    warnings: list[str] = []
    if model and model in generators:
        warnings.append(f"{model} judges texts that it wrote itself; models favour their own texts")
    error = calibrated.error
    if error.low is not None and error.high is not None and not error.low <= 0 <= error.high:
        direction = "more" if (error.value or 0) > 0 else "less"
        warnings.append(
            f"it says {abs(error.value or 0):.3f} {direction} than people on what they labelled"
        )
    beyond = abs(length.value or 0) - abs(of_people.value or 0)
    is_clear = length.low is not None and length.high is not None and length.low * length.high > 0
    if beyond >= LONG and is_clear:
        of_labels = "not known" if of_people.value is None else f"{of_people.value:.2f}"
        warnings.append(
            f"its values go with the length of the text ({length.value:.2f}; people's {of_labels})"
        )
    return JudgeFigures(name, model, calibrated, length, of_people, tuple(warnings))


def _number(case: RatedCase, rating: Rating | None) -> float | None:
    if rating is None:
        return None
    if isinstance(rating, str):
        raise InputError(
            f"case {case.id!r}: a number, or true and false, was expected as a rating; "
            f"{rating!r} came",
            argument="file",
        )
    return float(rating)


def _panel(
    columns: Mapping[str, Sequence[float | None]], names: Sequence[str], index: int
) -> float | None:
    """The mean of the judges; None where one of them has no value."""
    values = [columns[name][index] for name in names]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def _length(case: RatedCase, lengths: Mapping[str, int]) -> int | None:
    known = lengths.get(case.group)
    return lengths.get(case.id) if known is None else known
