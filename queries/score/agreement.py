"""Agreement of ratings: Cohen's kappa and correlations, with bootstrap intervals (K8, O14, T6).

Ratings come in pairs, one a case; a pair with a missing side is unscored. Every function gives a
``Score``: a value, or the reason why there is none, with the number of cases beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import TypedDict, Unpack

import numpy as np

from graph_service.errors import InputError
from queries.score.metric import Float64, Score
from queries.score.report import Part, Report, Section
from queries.score.resample import (
    Statistic,
    auroc_rows,
    bootstrap_score,
    codes,
    correlation_rows,
    kappa_rows,
    rank_rows,
    tau_b_rows,
)

Rating = float | int | str | bool
NO_PAIR = "no case has both ratings"
CONSTANT = "a rater gives every case the same value"


class Resampling(TypedDict, total=False):
    """How the bootstrap interval of a score is drawn.

    Attributes:
        clusters: What each case belongs to: whole clusters are drawn; None draws cases.
    """

    clusters: Sequence[Hashable] | None


class KappaWeights(StrEnum):
    """What a disagreement of two ratings costs: 1, their distance, or its square."""

    NONE = "none"
    LINEAR = "linear"
    QUADRATIC = "quadratic"


def cohen_kappa(
    first: Sequence[Rating | None],
    second: Sequence[Rating | None],
    /,
    *,
    weights: KappaWeights = KappaWeights.NONE,
    **resampling: Unpack[Resampling],
) -> Score:
    """Returns Cohen's kappa of two raters (O14: quadratic for 1 to 5, none for binary).

    Weights go by the ratings' distance as numbers, so that a value of the scale that nobody gave
    changes nothing. None where both raters always give one and the same value.

    Args:
        first: One rater's ratings, case by case; None for a missing one.
        second: The other's, in the same order.
        weights: Other than ``NONE`` they need numbers.
        resampling: See ``Resampling``.

    >>> score = cohen_kappa([1, 1, 0, 0], [1, 0, 0, 0])  # agreement 3/4, by chance 1/2
    >>> score.value, score.n
    (0.5, 4)
    """
    pairs = _paired(first, second, **resampling)
    distinct, value_codes = codes([*pairs.first, *pairs.second])
    if weights is KappaWeights.NONE:
        costs: Float64 = 1.0 - np.eye(len(distinct))
    else:
        values = _numbers(distinct)
        apart = np.abs(values[:, None] - values[None, :])
        costs = apart if weights is KappaWeights.LINEAR else apart**2
    half = len(pairs.first)
    return pairs.score(
        lambda resampled: kappa_rows(value_codes[:half], value_codes[half:], costs, resampled),
        undefined="both raters give every case one and the same value",
    )


def pearson(
    first: Sequence[float | None],
    second: Sequence[float | None],
    /,
    **resampling: Unpack[Resampling],
) -> Score:
    """Returns Pearson's correlation; None where a side is constant.

    >>> round(pearson([1, 2, 3], [1, 2, 4]).value, 4)
    0.982
    """
    pairs = _paired(first, second, **resampling)
    x, y = _numbers(pairs.first), _numbers(pairs.second)
    return pairs.score(lambda resampled: correlation_rows(x, y, resampled))


def spearman(
    first: Sequence[float | None],
    second: Sequence[float | None],
    /,
    **resampling: Unpack[Resampling],
) -> Score:
    """Returns Spearman's rank correlation, equal values at their mean rank; None as ``pearson``.

    >>> spearman([1, 2, 3], [10, 20, 400]).value
    1.0
    """
    pairs = _paired(first, second, **resampling)
    x, y = codes(_numbers(pairs.first).tolist()), codes(_numbers(pairs.second).tolist())
    return pairs.score(
        lambda resampled: correlation_rows(
            rank_rows(x[1], len(x[0]), resampled), rank_rows(y[1], len(y[0]), resampled), resampled
        ),
    )


def kendall_tau_b(
    first: Sequence[float | None],
    second: Sequence[float | None],
    /,
    **resampling: Unpack[Resampling],
) -> Score:
    """Returns Kendall's tau-b, which allows for equal values; None as ``pearson``.

    Of 3 pairs 2 are concordant and 1 is tied on one side: 2 / sqrt(3 * 2).

    >>> round(kendall_tau_b([1, 2, 3], [1, 2, 2]).value, 4)
    0.8165
    """
    pairs = _paired(first, second, **resampling)
    x, y = codes(_numbers(pairs.first).tolist())[1], codes(_numbers(pairs.second).tolist())[1]
    return pairs.score(lambda resampled: tau_b_rows(x, y, resampled))


def equal_share(
    first: Sequence[Rating | None],
    second: Sequence[Rating | None],
    /,
    **resampling: Unpack[Resampling],
) -> Score:
    """Returns the share of cases that both raters give the same value.

    >>> equal_share(["yes", "no"], ["yes", "yes"]).value
    0.5
    """
    pairs = _paired(first, second, **resampling)
    same = np.asarray(
        [a == b for a, b in zip(pairs.first, pairs.second, strict=True)], dtype=np.float64
    )
    return pairs.score(lambda resampled: resampled @ same / resampled.sum(axis=1))


def auroc(
    labels: Sequence[bool | None],
    scores: Sequence[float | None],
    /,
    *,
    failed: int = 0,
    **resampling: Unpack[Resampling],
) -> Score:
    """Returns the area under the ROC curve of scores against yes-or-no labels.

    Args:
        labels: Whether each case is positive.
        scores: Higher means more likely positive; None for a case without one.
        failed: Cases that failed, and so are not among the scores.
        resampling: See ``Resampling``.

    >>> auroc([True, True, False, False], [0.9, 0.4, 0.4, 0.1]).value  # 3.5 of 4 pairs
    0.875
    """
    pairs = _paired(labels, scores, **resampling)
    positive = np.asarray([bool(label) for label in pairs.first], dtype=np.int64)
    distinct, score_codes = codes(_numbers(pairs.second).tolist())
    return pairs.score(
        lambda resampled: auroc_rows(positive, score_codes, len(distinct), resampled),
        failed=failed,
        empty="no case has a label and a score",
        undefined="all cases are positive, or none is",
    )


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The ratings of the cases that have both, with what each case belongs to.

    Attributes:
        unscored: Cases that lack a rating.
    """

    first: list[Rating]
    second: list[Rating]
    clusters: list[Hashable] | None
    unscored: int

    def score(
        self,
        statistic: Statistic,
        /,
        *,
        failed: int = 0,
        empty: str = NO_PAIR,
        undefined: str = CONSTANT,
    ) -> Score:
        """Returns a statistic of the pairs with its bootstrap interval."""
        return bootstrap_score(
            statistic,
            len(self.first),
            clusters=self.clusters,
            failed=failed,
            unscored=self.unscored,
            empty=empty,
            undefined=undefined,
        )


def _paired(
    first: Sequence[Rating | None],
    second: Sequence[Rating | None],
    /,
    *,
    clusters: Sequence[Hashable] | None = None,
) -> _Pairs:
    if len(first) != len(second) or (clusters is not None and len(clusters) != len(first)):
        sizes = [len(first), len(second), *([] if clusters is None else [len(clusters)])]
        raise InputError(f"one rating of each a case was expected; there are {sizes} of them")
    left: list[Rating] = []
    right: list[Rating] = []
    pair_clusters: list[Hashable] = []
    for i, (a, b) in enumerate(zip(first, second, strict=True)):
        if a is None or b is None:
            continue
        left.append(a)
        right.append(b)
        if clusters is not None:
            pair_clusters.append(clusters[i])
    unscored = len(first) - len(left)
    return _Pairs(left, right, None if clusters is None else pair_clusters, unscored)


def _numbers(values: Sequence[object]) -> Float64:
    for value in values:
        if not isinstance(value, int | float) or not np.isfinite(value):
            raise InputError(f"a finite number was expected as a rating; {value!r} came")
    return np.asarray(values, dtype=np.float64)


MEASURES: Mapping[str, Callable[..., Score]] = {
    "equal": equal_share,
    "kappa": cohen_kappa,
    "kappa-linear": lambda a, b, /, **options: cohen_kappa(
        a, b, weights=KappaWeights.LINEAR, **options
    ),
    "kappa-quadratic": lambda a, b, /, **options: cohen_kappa(
        a, b, weights=KappaWeights.QUADRATIC, **options
    ),
    "pearson": pearson,
    "spearman": spearman,
    "tau-b": kendall_tau_b,
}


@dataclass(frozen=True, slots=True)
class RatedCase:
    """One case as several raters see it.

    Attributes:
        ratings: By rater: people and judge models alike; a rater may be missing.
        group: What the case belongs to (a claim, an answer); empty for itself.
    """

    id: str
    ratings: Mapping[str, Rating]
    group: str = ""


@dataclass(frozen=True, slots=True)
class RaterPair:
    """Agreement of two raters over the cases that every rater rated."""

    first: str
    second: str
    scores: Mapping[str, Score]

    def section(self) -> Section:
        """Returns the scores for people, under the names of the two."""
        return Section(f"{self.first} and {self.second}", (self.scores,))


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Agreement over the cases of one group."""

    cases: int
    pairs: tuple[RaterPair, ...]


@dataclass(frozen=True, slots=True)
class AgreementReport(Report):
    """Agreement of every two raters on one fixed set of cases (K8, O14).

    Attributes:
        raters: Their names, sorted.
        cases: Cases that all of them rated; the others are unscored.
        pairs: Every two raters, in the order of their names, over all cases; intervals draw
            whole groups.
        clusters: How many groups there are to draw; a case without one is a group of its own.
        groups: The same of each group alone, by its name, where that was asked for; intervals
            draw cases.
    """

    raters: tuple[str, ...]
    cases: int
    unscored: int
    pairs: tuple[RaterPair, ...]
    clusters: int
    groups: Mapping[str, GroupAgreement]

    def parts(self) -> Iterator[Part]:
        """Yields what was rated, and the scores of each pair, over all cases and by group."""
        yield f"{self.cases} cases rated by {', '.join(self.raters)}"
        if self.unscored:
            yield f"{self.unscored} cases that not all of them rated, in no score"
        if self.clusters < self.cases:
            yield f"intervals of all cases draw whole groups, of which there are {self.clusters}"
        yield from (pair.section() for pair in self.pairs)
        for name, group in self.groups.items():
            yield Section(
                f"group {name}: {group.cases} cases", tuple(pair.section() for pair in group.pairs)
            )


def default_measures(cases: Sequence[RatedCase], /) -> tuple[str, ...]:
    """Returns the measures that suit the ratings.

    Texts and two values: share of equal and kappa without weights. Numbers of a scale: kappa with
    quadratic weights and the correlations too.
    """
    values = {value for case in cases for value in case.ratings.values()}
    if any(isinstance(value, str) for value in values) or len(values) <= 2:
        return ("equal", "kappa")
    return ("equal", "kappa", "kappa-quadratic", "pearson", "spearman", "tau-b")


def agreement(
    cases: Sequence[RatedCase],
    /,
    *,
    measures: Sequence[str] = (),
    by_group: bool = False,
) -> AgreementReport:
    """Returns the agreement of every two raters, all on the cases that every rater rated.

    Args:
        cases: With the ratings of two or more raters.
        measures: Names of ``MEASURES``; by default those that suit the ratings.
        by_group: Whether each group's own agreement is wanted beside that of all cases.

    Raises:
        InputError: There are fewer than two raters, or there is no such measure.

    >>> rows = [RatedCase("1", {"a": 1, "b": 1}), RatedCase("2", {"a": 0, "b": 1})]
    >>> agreement(rows).pairs[0].scores["equal"].value
    0.5
    """
    raters = sorted({name for case in cases for name in case.ratings})
    if len(raters) < 2:
        raise InputError(
            f"agreement needs two raters; there are {len(raters)} ({', '.join(raters) or 'none'})",
            argument="ratings",
        )
    chosen = tuple(measures) or default_measures(cases)
    for name in chosen:
        if name not in MEASURES:
            raise InputError(
                f"unknown measure {name!r}; there are {', '.join(MEASURES)}", argument="measure"
            )
    rated = [case for case in cases if len(case.ratings) == len(raters)]
    # A case is one cluster of its own unless it says what it belongs to.
    clusters = [case.group and f"group {case.group}" or f"case {case.id}" for case in rated]

    def pairs_over(part: Sequence[RatedCase], names: Sequence[str]) -> tuple[RaterPair, ...]:
        pairs = []
        for first, second in combinations(raters, 2):
            left = [case.ratings[first] for case in part]
            right = [case.ratings[second] for case in part]
            scores = {name: MEASURES[name](left, right, clusters=names) for name in chosen}
            pairs.append(RaterPair(first, second, scores))
        return tuple(pairs)

    groups: dict[str, list[RatedCase]] = {}
    if by_group:
        for case in rated:
            groups.setdefault(case.group, []).append(case)
    return AgreementReport(
        tuple(raters),
        len(rated),
        len(cases) - len(rated),
        pairs_over(rated, clusters),
        len(set(clusters)),
        {
            name: GroupAgreement(len(part), pairs_over(part, [case.id for case in part]))
            for name, part in sorted(groups.items())
        },
    )
