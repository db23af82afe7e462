"""Simulates how often calibrated means of judges hold the truth, beside the judge's own interval.

    make simulate-judges SETS=2000

Each row makes sets of cases that people and a judge call right or wrong, or rate from 1 to 5; people
label a few of them, drawn at random. Exits with 1 if the calibrated interval holds the true mean in
less than .925 or more than .985 of the sets.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from queries.score.judges import calibrate_mean

SETS = 2_000
COVERAGE = (0.925, 0.985)
RANDOM_SEED = 38
CASES = 500


@dataclass(frozen=True, slots=True)
class Condition:
    """A judge, and how many cases people label.

    Attributes:
        right: Share of the cases that are right in truth.
        hits: Share of the right ones that the judge calls right.
        false_alarms: Share of the others that it calls right.
        labels: Cases that people label.
        facts: Facts of a text, which share half of their truth; 1 for cases on their own.
    """

    name: str
    right: float
    hits: float
    false_alarms: float
    labels: int
    facts: int = 1


CONDITIONS = (
    Condition("errs little", 0.6, 0.95, 0.1, 60),
    Condition("says right too often", 0.79, 0.99, 0.85, 60),
    Condition("errs both ways", 0.6, 0.85, 0.3, 60),
    Condition("errs both ways, 30 labels", 0.6, 0.85, 0.3, 30),
    Condition("errs both ways, 200 labels", 0.6, 0.85, 0.3, 200),
    Condition("guesses", 0.5, 0.5, 0.5, 60),
    Condition("errs both ways, facts of texts", 0.6, 0.85, 0.3, 120, facts=5),
)


@dataclass(frozen=True, slots=True)
class Row:
    """What some sets of one condition gave: coverage and mean width of three intervals."""

    name: str
    plain: float
    people: float
    calibrated: float
    people_width: float
    width: float

    @property
    def is_good(self) -> bool:
        """Whether the calibrated interval covers as it should."""
        return COVERAGE[0] <= self.calibrated <= COVERAGE[1]

    def text(self) -> str:
        """Returns the row as Markdown."""
        figures = (self.plain, self.people, self.calibrated, self.people_width, self.width)
        return "| " + " | ".join([self.name, *(f"{each:.3f}" for each in figures)]) + " |"


def simulate(condition: Condition, random: np.random.Generator, sets: int, /) -> Row:
    """Returns how often each interval holds the true share."""
    held = np.zeros((sets, 3))
    widths = np.zeros((sets, 2))
    texts = CASES // condition.facts
    for index in range(sets):
        # A text's facts share their truth with probability 1/2 each.
        of_text = random.random(texts) < condition.right
        own = random.random((texts, condition.facts)) < condition.right
        shares = random.random((texts, condition.facts)) < (0.5 if condition.facts > 1 else 0.0)
        truth = np.where(shares, of_text[:, None], own).ravel()
        chance = np.where(truth, condition.hits, condition.false_alarms)
        judged = (random.random(len(truth)) < chance).astype(np.float64)
        clusters = np.repeat(np.arange(texts), condition.facts)
        drawn_texts = random.permutation(texts)[: condition.labels // condition.facts]
        is_labelled = np.isin(clusters, drawn_texts)
        labels = [
            float(value) if known else None for value, known in zip(truth, is_labelled, strict=True)
        ]
        calibrated = calibrate_mean(judged.tolist(), labels, clusters=clusters.tolist())
        for column, score in enumerate((calibrated.plain, calibrated.people, calibrated.estimate)):
            assert score.low is not None
            assert score.high is not None
            held[index, column] = score.low <= condition.right <= score.high
            if column:
                widths[index, column - 1] = score.high - score.low
    return Row(condition.name, *held.mean(axis=0), *widths.mean(axis=0))


def rows(sets: int, /, *, random_seed: int = RANDOM_SEED) -> Iterator[Row]:
    """Yields a row a condition."""
    for index, condition in enumerate(CONDITIONS):
        yield simulate(condition, np.random.default_rng([random_seed, index]), sets)


def main() -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=SETS)
    options = parser.parse_args()
    print("| judge | its own interval | people alone | calibrated | width, people | width |")
    print("|---|---|---|---|---|---|")
    is_good = True
    for row in rows(options.sets):
        print(row.text(), flush=True)
        is_good &= row.is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
