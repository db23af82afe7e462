"""Figures of a data set, beside those of others: rows of a name and a value for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph_service.text.fold import words


@dataclass(frozen=True, slots=True)
class Column:
    """The figures of one data set.

    Attributes:
        name: Of the data set.
        values: By the name of the figure; a figure that a set has not is left out.
    """

    name: str
    values: Mapping[str, float | int]


@dataclass(frozen=True, slots=True)
class Description:
    """Figures of data sets side by side, and what was refused while one was built.

    Attributes:
        columns: The data set, then those beside it.
        notes: What a reader should know.
    """

    columns: tuple[Column, ...]
    notes: tuple[str, ...] = field(default=())

    def rows(self) -> list[list[str]]:
        """Returns the figures as a table for people; the first row is its head."""
        names = list(dict.fromkeys(name for column in self.columns for name in column.values))
        head = ["", *(column.name for column in self.columns)]
        return [
            head,
            *([name, *(_shown(c.values.get(name)) for c in self.columns)] for name in names),
        ]


def _shown(value: float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}"


def mean(values: Iterable[float], /) -> float:
    """Returns the mean of some numbers; 0 of none.

    >>> mean([1, 2]), mean([])
    (1.5, 0.0)
    """
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0


def mean_words(texts: Sequence[str], /) -> float:
    """Returns the mean number of words of texts."""
    return mean(len(words(text)) for text in texts)
