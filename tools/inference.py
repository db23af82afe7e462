"""Simulates how often intervals of experiments hold the truth, and how often their tests err.

    make simulate-statistics SETS=2000

Each row makes sets of answers whose true mean is known, or whose true difference is 0. Exits with 1
if intervals hold the mean in less than .925 or more than .985 of the sets, or if p is under .05 in
more than .07 of the sets without a difference.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from queries.experiment.statistics import ALPHA, Paired, estimate, paired
from queries.score.metric import Float64

SETS = 2_000
COVERAGE = (0.925, 0.985)
MOST_ERRORS = 0.07
RANDOM_SEED = 38
_LOG_ODDS = float(np.log(0.7 / 0.3))
_QUESTION_SD = 1.5
_ANY = (-1e3, 1e3)

Random = np.random.Generator


@dataclass(frozen=True, slots=True)
class Row:
    """What some sets of one kind gave.

    Attributes:
        coverage: Share of the intervals that hold the truth; ``width`` is their mean width.
        errors: Share of the sets with p < .05 though there is no difference; None for a mean.
        stars: Share of those that also have enough random seeds for a star.
        bounds: That the coverage must be within; None if it need not.
    """

    name: str
    coverage: float
    width: float
    errors: float | None = None
    stars: float | None = None
    bounds: tuple[float, float] | None = None

    @property
    def is_good(self) -> bool:
        """Whether coverage and errors are within their bounds."""
        is_covered = self.bounds is None or self.bounds[0] <= self.coverage <= self.bounds[1]
        return is_covered and (self.errors is None or self.errors <= MOST_ERRORS)

    def text(self) -> str:
        """Returns the row as Markdown."""
        shares = [self.coverage, self.width, self.errors, self.stars]
        cells = ["" if share is None else f"{share:.3f}" for share in shares]
        return f"| {' | '.join([self.name, *cells, 'yes' if self.is_good else 'NO'])} |"


def hits(rng: Random, /, *, p: float, n: int, seeds: int) -> Float64:
    """Returns independent hits, float64 [n, seeds]."""
    return (rng.random((n, seeds)) < p).astype(np.float64)


def mixed(rng: Random, /, *, n: int, seeds: int, seed_sd: float) -> Float64:
    """Returns hits whose log-odds have an effect of the question and one of the random seed."""
    effects = rng.normal(0, _QUESTION_SD, (n, 1)) + rng.normal(0, seed_sd, (1, seeds))
    return (rng.random((n, seeds)) < 1 / (1 + np.exp(-_LOG_ODDS - effects))).astype(np.float64)


def mixed_mean(seed_sd: float, /) -> float:
    """Returns the mean of ``mixed`` over all questions and random seeds, by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    sd = (_QUESTION_SD**2 + seed_sd**2) ** 0.5
    return float((weights / (1 + np.exp(-_LOG_ODDS - sd * nodes))).sum() / weights.sum())


def two_views(
    rng: Random, /, *, n: int, seeds: int, seed_sd: float, is_shared: bool = True
) -> Paired:
    """Returns the difference of two views that are alike, each with effects of its own seeds."""
    questions = rng.normal(0, 1, (n, 1))
    first, second = (
        questions + rng.normal(0, seed_sd, (1, seeds)) + rng.normal(0, 1, (n, seeds))
        for _ in range(2)
    )
    return paired(first, second, are_seeds_shared=is_shared, bounds=_ANY)


def view_and_base(rng: Random, /, *, n: int, seeds: int, seed_sd: float) -> Paired:
    """Returns the difference of a view without effect on the mean to the base."""
    base = rng.normal(0, 1, (n, 1))
    view = base + rng.normal(0, seed_sd, (1, seeds)) + rng.normal(0, 1, (n, seeds))
    return paired(view, base, bounds=_ANY)


def sampled(rng: Random, /, *, n: int, seeds: int) -> Paired:
    """Returns the difference to the base of a view without effect: a model is sampled anew."""
    p = rng.beta(2, 1, (n, 1))
    view, base = (rng.random((n, columns)) < p for columns in (seeds, 1))
    return paired(view.astype(np.float64), base.astype(np.float64))


def mean_row(
    name: str,
    make: Callable[[Random], Float64],
    truth: float,
    /,
    *,
    sets: int,
    bounds: tuple[float, float] = COVERAGE,
) -> Row:
    """Returns how often the interval of a mean holds the truth."""
    rng = np.random.default_rng(RANDOM_SEED)
    estimates = [estimate(make(rng)) for _ in range(sets)]
    ends = np.asarray([(each.low, each.high) for each in estimates], dtype=np.float64)
    covered = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    return Row(name, float(covered.mean()), float(np.ptp(ends, axis=1).mean()), bounds=bounds)


def difference_row(name: str, make: Callable[[Random], Paired], /, *, sets: int) -> Row:
    """Returns how often a difference of 0 is in its interval, has p < .05, or has a star."""
    rng = np.random.default_rng(RANDOM_SEED)
    pairs = [make(rng) for _ in range(sets)]
    ends = np.asarray([(each.difference.low, each.difference.high) for each in pairs], dtype=float)
    errors = np.asarray([each.p is not None and each.p < ALPHA for each in pairs])
    firm = np.asarray([each.is_firm for each in pairs])
    return Row(
        name,
        float(((ends[:, 0] <= 0) & (ends[:, 1] >= 0)).mean()),
        float(np.ptp(ends, axis=1).mean()),
        float(errors.mean()),
        float((errors & firm).mean()),
    )


def mean_rows(sets: int, /) -> Iterator[Row]:
    """Yields the rows of means."""
    for p, n, seeds in ((0.7, 100, 3), (0.9, 100, 3), (0.9, 50, 1), (0.9, 100, 1)):
        name = f"independent hits {p}, {n} questions, {seeds} seeds"
        yield mean_row(name, partial(hits, p=p, n=n, seeds=seeds), p, sets=sets)
    # So few misses that the coverage of any interval steps over .95.
    for seeds in (1, 3):
        name = f"independent hits 0.99, 50 questions, {seeds} seeds"
        make = partial(hits, p=0.99, n=50, seeds=seeds)
        yield mean_row(name, make, 0.99, sets=sets, bounds=(0.9, 1.0))
    for n, seeds, sd in (
        (100, 3, 0.0),
        (100, 3, 0.5),
        (300, 3, 0.5),
        (100, 5, 0.5),
        (300, 10, 0.5),
    ):
        name = f"mixed hits, {n} questions, {seeds} seeds of sd {sd}"
        make = partial(mixed, n=n, seeds=seeds, seed_sd=sd)
        yield mean_row(name, make, mixed_mean(sd), sets=sets)


def difference_rows(sets: int, /) -> Iterator[Row]:
    """Yields the rows of differences that are truly 0."""
    shared = [(100, 3, 0.0), (100, 3, 0.1), (100, 3, 0.2), (100, 3, 0.3), (300, 3, 0.1)]
    shared += [(300, 3, 0.2), (100, 5, 0.2)]
    for n, seeds, sd in shared:
        name = f"two views, {n} questions, {seeds} seeds of sd {sd}"
        make = partial(two_views, n=n, seeds=seeds, seed_sd=sd)
        yield difference_row(name, make, sets=sets)
    for n, seeds, sd in ((100, 3, 0.2), (100, 5, 0.2), (100, 5, 0.0)):
        name = f"two views, {n} questions, {seeds} other seeds each, sd {sd}"
        make = partial(two_views, n=n, seeds=seeds, seed_sd=sd, is_shared=False)
        yield difference_row(name, make, sets=sets)
    for n, seeds, sd in ((100, 3, 0.0), (100, 3, 0.1), (100, 3, 0.2), (300, 3, 0.2)):
        name = f"view and base, {n} questions, {seeds} seeds of sd {sd}"
        make = partial(view_and_base, n=n, seeds=seeds, seed_sd=sd)
        yield difference_row(name, make, sets=sets)
    for n in (50, 100):
        name = f"sampled hits on view and base, {n} questions, 3 seeds"
        yield difference_row(name, partial(sampled, n=n, seeds=3), sets=sets)


def main() -> int:
    """Prints the table; returns 1 if a row is out of bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=SETS, help="of each row")
    sets = parser.parse_args().sets
    print("| sets | coverage | width | p < .05 | stars | within bounds |")
    print("|---|---|---|---|---|---|")
    is_good = True
    for rows in (mean_rows(sets), difference_rows(sets)):
        for row in rows:
            print(row.text(), flush=True)
            is_good = is_good and row.is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
